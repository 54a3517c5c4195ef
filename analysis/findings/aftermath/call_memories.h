/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocations that a call uses, for waits that are watched (aftermath.h).
 */
#ifndef PTDS_ANALYSIS_FINDINGS_AFTERMATH_CALL_MEMORIES_H
#define PTDS_ANALYSIS_FINDINGS_AFTERMATH_CALL_MEMORIES_H

#include "analysis/order/arguments/named_range.h"
#include "analysis/order/verdict.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The memories that a call uses. */
struct call_memories {
    bool found; /* false: not looked up yet; a launch, which frees nothing, is looked up when it matters */
    bool all;
    unsigned count;
    uint64_t some; /* bit_of each base */
    uint64_t base[NAMED_RANGE_MOST];
};

/* Looks up the memories of a call. `complete`: every allocation of the run is known (verdict_memory_is_complete). */
void call_memories_find(struct call_memories *use, struct verdicts *verdicts, const struct call_view *view, bool complete);
/* Whether the call uses one of the `count` memories that begin at `base`. */
bool call_memories_has(const struct call_memories *use, const uint64_t *base, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
