/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of numbers that a damaged trace may have made up.
 */
#ifndef PTDS_ANALYSIS_BASE_ADD_H
#define PTDS_ANALYSIS_BASE_ADD_H

#include <stdint.h>

/* UINT64_MAX where the sum is too large. */
static inline uint64_t add_capped(uint64_t one, uint64_t two)
{
    uint64_t sum;
    return __builtin_add_overflow(one, two, &sum) ? UINT64_MAX : sum;
}

#endif
