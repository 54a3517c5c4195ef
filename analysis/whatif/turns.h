/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns in the driver: of each call a part is done while no other thread's call is at that. For replay.c.
 */
#ifndef PTDS_ANALYSIS_WHATIF_TURNS_H
#define PTDS_ANALYSIS_WHATIF_TURNS_H

#include "analysis/whatif/replay.h"

/* Time in pieces, and how much of each is taken. Calls come in the order in which they were recorded, not in that of the
 * replay, so one may take what an earlier one left free. */
struct turns {
    TABLE_OF(struct piece {
        uint32_t taken; /* ns */
        uint32_t next;  /* the next piece that may have some left, as far as is known */
    })
    pieces;
    uint32_t piece_ns;
};

/* Of a run that takes about so long. */
void turns_begin(struct turns *turns, uint64_t run_ns);

/* A call that takes `ns` from `now` on, of which `alone` in turn with others; returns when it is done. Waiting for others
 * is PART_DRIVER. */
struct moment turns_take(struct turns *turns, struct moment now, uint64_t ns, uint64_t alone);
void turns_end(struct turns *turns);

#endif
