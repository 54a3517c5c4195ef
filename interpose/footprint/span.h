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

/* Addresses lie in two places far from each other: pools and large reservations below 1 TiB (0x302000000, measured), the
 * rest near the program's own. What lies between them is none: two small numbers side by side, for one. */
enum { SPANS = 2 };
struct spans {
    struct span at[SPANS];
};
static inline unsigned spans_which(uint64_t address)
{
    return address >> 40 != 0;
}
static inline int spans_have(struct spans spans, uint64_t number)
{
    return span_has(spans.at[0], number) || span_has(spans.at[1], number);
}

#endif
