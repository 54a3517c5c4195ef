/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocations that a call uses, for waits that are watched (aftermath.h).
 */
#ifndef PTDS_ANALYSIS_FINDINGS_AFTERMATH_CALL_MEMORIES_H
#define PTDS_ANALYSIS_FINDINGS_AFTERMATH_CALL_MEMORIES_H

#include "analysis/order/touch.h"
#include "analysis/order/verdict.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a call uses, as far as watches need to know. */
struct use {
    bool found; /* no: of a launch, which frees nothing, it is found when it matters */
    bool all;
    unsigned count;
    uint64_t some; /* bit_of each base */
    uint64_t base[TOUCH_MOST];
};

/* `complete`: every allocation is known (verdicts_memory_complete). */
void call_memories_find(struct use *use, struct verdicts *verdicts, const struct call_view *view, bool complete);
/* Whether the call uses one of these. */
bool call_memories_has(const struct use *use, const uint64_t *base, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
