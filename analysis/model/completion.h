/* SPDX-License-Identifier: Apache-2.0
 *
 * What will be known to be complete once calls in flight have returned: an agenda (base/agenda.h).
 */
#ifndef PTDS_ANALYSIS_MODEL_COMPLETION_H
#define PTDS_ANALYSIS_MODEL_COMPLETION_H

#include "analysis/base/clock.h"
#include "analysis/base/table.h"

#ifdef __cplusplus
extern "C" {
#endif

struct completion {
    uint64_t ticks;
    struct vclock clock;
};

struct completions {
    struct completion *items;
    size_t count, room;
};

/* From `ticks` on, all of `clock` is complete. Takes the clock over and leaves it empty; without room nothing is learnt.
 */
void completions_add(struct completions *completions, uint64_t ticks, struct vclock *clock);

/* Joins into `done` what is complete by `now`. Whether there was anything. */
bool completions_until(struct completions *completions, uint64_t now, struct vclock *done);

void completions_free(struct completions *completions);

#ifdef __cplusplus
}
#endif
#endif
