/* SPDX-License-Identifier: Apache-2.0
 *
 * When a device has room for an operation: copies one at a time in each direction, kernels side by side as long as their
 * threads fit. For replay.c.
 */
#ifndef PTDS_ANALYSIS_WHATIF_ENGINES_H
#define PTDS_ANALYSIS_WHATIF_ENGINES_H

#include "analysis/whatif/replay.h"

/* Operations of each engine that may still matter to one that begins; of more than that, those that end first are
 * forgotten. They are taken in the order of their calls, so one may begin before another that was taken sooner. */
enum { ENGINE_KEPT = 128 };

struct engine_queue {
    struct running {
        uint64_t begin, end, threads;
    } running[ENGINE_KEPT];
    unsigned count;
};

struct engines {
    struct engine_queue queues[ENGINES];
};

/* The first moment from `ready` on at which the device has room for the step; the time until then is PART_FULL. */
struct moment engines_room(const struct engines *engines, const struct step *step, struct moment ready,
                           uint64_t most_threads);
/* The operation of the step begins at `begin`, in ns. */
void engines_take(struct engines *engines, const struct step *step, uint64_t begin, uint64_t most_threads);

#endif
