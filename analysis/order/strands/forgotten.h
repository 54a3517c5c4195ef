/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that were forgotten for lack of room: the edges that brought them can no longer be called "not needed".
 * Looking the edges up each time would take long, so a strand first notes what was forgotten of it (struct forgotten_op),
 * and the edges are limited before an arrival is dropped or the strand is closed.
 */
#ifndef PTDS_ANALYSIS_ORDER_STRANDS_FORGOTTEN_H
#define PTDS_ANALYSIS_ORDER_STRANDS_FORGOTTEN_H

#include "analysis/order/strands/strands.h"

/* Operation `op` of strand `about`, which touches memory, is remembered no longer. */
void forgotten_add(struct verdicts *v, uint32_t about, uint64_t op);
/* Limits the edges of this list of arrivals about the strand that brought what was forgotten of it. */
void forgotten_limit(struct verdicts *v, struct arrival_list *list, uint32_t about);
/* ... of all arrivals about the strand; nothing is noted of it then. */
void forgotten_limit_all(struct verdicts *v, uint32_t about);
/* Whether what was forgotten of the strand limits an edge that brought its operation `op` at call `at`. To be asked of
 * edges from the newest on, with *next the count of `forgotten` at first. */
bool forgotten_is_limited(const struct strand *about, size_t *next, uint64_t at, uint64_t op);

#endif
