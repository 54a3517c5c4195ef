/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the numbers lie that may be addresses or handles: looked up once for all words that are asked about.
 */
#ifndef PTDS_SPAN_H
#define PTDS_SPAN_H

#include <stdint.h>

/* Numbers from `low` on, so many. */
struct span {
    uint64_t low, numbers;
};
static inline int span_has(struct span span, uint64_t number)
{
    return number - span.low < span.numbers;
}

static inline struct span span_of(const uint64_t *low, const uint64_t *high)
{
    uint64_t from = __atomic_load_n(low, __ATOMIC_RELAXED), to = __atomic_load_n(high, __ATOMIC_RELAXED);
    return (struct span){from, to > from ? to - from : 0};
}

#endif
