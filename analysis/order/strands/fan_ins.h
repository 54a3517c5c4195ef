/* SPDX-License-Identifier: Apache-2.0
 *
 * The open fan-ins (struct fan_in).
 */
#ifndef PTDS_ANALYSIS_ORDER_STRANDS_FAN_INS_H
#define PTDS_ANALYSIS_ORDER_STRANDS_FAN_INS_H

#include "analysis/order/engine/engine.h"

/* An operation that is traced back, and the operations after < op <= upto that would take the same way. */
struct traced {
    uint64_t op, after, upto;
};

/* The call at hand, on legacy strand `to`, learns over the edge of the last operation of blocking strand `from`. `to` knew
 * of it up to operation `after`; `to` or the host up to `known`. */
void fan_ins_add(struct verdicts *v, uint32_t edge, uint32_t to, uint32_t from, uint64_t after, uint64_t known);
/* The newest fan-in from `from` to the strand: its place plus one; 0 none. */
uint32_t fan_ins_newest(const struct strand *strand, uint32_t from);
/* The first fan-in, not later than call `latest`, that brought the strand operation traced->op of strand `about`. Narrows
 * `traced`. False: none. */
bool fan_ins_arrival(const struct verdicts *v, const struct strand *strand, uint32_t about, struct traced *traced,
                     uint64_t latest, struct arrival *out);
/* Whether each operation after < op <= upto of strand `about` came over fan-ins that no doubt changes any more. */
bool fan_ins_came_doubted(const struct verdicts *v, const struct strand *strand, uint32_t about, uint64_t after,
                          uint64_t upto);
/* As forgotten_limit (forgotten.h), of the fan-ins from strand `about`. */
void fan_ins_limit(struct verdicts *v, const struct strand *strand, uint32_t about);
/* Drops the fan-ins of which `is_asked` says no. */
typedef bool fan_ins_is_asked(const void *data, const struct fan_in *fan_in);
void fan_ins_sweep(struct verdicts *v, fan_ins_is_asked *is_asked, const void *data);
/* Whether a fan-in brought the strand an operation that not every later call comes after. */
bool fan_ins_remember(const struct verdicts *v, const struct strand *strand);
void fan_ins_free(struct verdicts *v, struct strand *strand);

#endif
