/* SPDX-License-Identifier: Apache-2.0
 *
 * Spans of numbers that may be addresses: a quick test that most words fail.
 */
#ifndef PTDS_ADDRESS_SPAN_H
#define PTDS_ADDRESS_SPAN_H

#include <stdint.h>

/* The numbers low, low + 1, ...: so many as `numbers` says. */
struct address_span {
    uint64_t low, numbers;
};
static inline int address_span_has(struct address_span span, uint64_t number)
{
    return number - span.low < span.numbers;
}

/* From *low up to *high, which another thread may be widening. */
static inline struct address_span address_span_of(const uint64_t *low, const uint64_t *high)
{
    uint64_t from = __atomic_load_n(low, __ATOMIC_RELAXED), to = __atomic_load_n(high, __ATOMIC_RELAXED);
    return (struct address_span){from, to > from ? to - from : 0};
}

/* Addresses lie in two places far from each other: pools and large reservations below 1 TiB (0x302000000, measured), the
 * rest near the program's own. A number between the two is no address: two small numbers side by side, for one. */
enum { ADDRESS_SPANS = 2 };
struct address_spans {
    struct address_span at[ADDRESS_SPANS];
};
static inline unsigned address_spans_which(uint64_t address)
{
    return address >> 40 != 0;
}
static inline int address_spans_have(struct address_spans spans, uint64_t number)
{
    return address_span_has(spans.at[0], number) || address_span_has(spans.at[1], number);
}

#endif
