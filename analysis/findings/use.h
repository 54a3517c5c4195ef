/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocations that a call uses, for waits that are watched (aftermath.h).
 */
#ifndef PTDS_ANALYSIS_FINDINGS_USE_H
#define PTDS_ANALYSIS_FINDINGS_USE_H

#include "analysis/order/arguments/named_range.h"
#include "analysis/order/verdict.h"
#include "analysis/order/verdict_memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a call uses, as far as watches need to know. */
struct use {
    bool found; /* no: of a launch, which frees nothing, it is found when it matters */
    bool all;
    unsigned count;
    uint64_t some; /* bit_of each base */
    uint64_t base[NAMED_RANGE_MOST];
};

/* `complete`: every allocation is known (verdict_memory_is_complete). */
void use_find(struct use *use, struct verdicts *verdicts, const struct call_view *view, bool complete);
/* Whether the call uses one of these. */
bool use_has(const struct use *use, const uint64_t *base, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
