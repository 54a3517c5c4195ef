/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocations that a call uses, for waits that are watched (aftermath.h).
 */
#ifndef PTDS_ANALYSIS_FINDINGS_USE_H
#define PTDS_ANALYSIS_FINDINGS_USE_H

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
    uint64_t some; /* a bit for each base */
    uint64_t base[TOUCH_MOST];
};

/* The base's bit in `some`. */
static inline uint64_t use_bit(uint64_t base)
{
    return UINT64_C(1) << (base * 0x9e3779b97f4a7c15u >> 58);
}

/* `complete`: every allocation is known (verdicts_memory_complete). */
void use_find(struct use *use, struct verdicts *verdicts, const struct call_view *view, bool complete);
/* Whether the call uses one of these. */
bool use_has(const struct use *use, const uint64_t *base, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
