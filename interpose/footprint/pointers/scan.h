/* SPDX-License-Identifier: Apache-2.0
 *
 * Which words of some bytes lie in a span, at every byte: structures may be packed. For parameters and for what copies
 * bring, so on the hottest path. Many places are looked at in one step: the numbers of a span have their high bytes in
 * common, and what has another byte there is none of them.
 */
#ifndef PTDS_SCAN_H
#define PTDS_SCAN_H

#include <stddef.h>
#include <string.h>

#include "interpose/footprint/memories/address_span.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "of a word in memory, the lowest byte comes first here"
#endif

struct scan {
    struct address_span span;
    const uint8_t *bytes;
    size_t size, at;             /* where the last word was found, SIZE_MAX: there are no more */
    uint32_t byte;               /* of the span's numbers, this one and the next are looked at */
    uint64_t value[2], known[2]; /* eight times each: what it is, and which of its bits the numbers have in common */
};

static inline uint64_t scan_load(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* The lowest byte in which they have a bit in common may have few of them, the next one has all. */
static inline void scan_know(struct scan *scan)
{
    const uint64_t each = UINT64_MAX / 255;
    uint64_t differing = scan->span.low ^ (scan->span.low + scan->span.numbers - 1);
    uint64_t common = differing ? ~(UINT64_MAX >> __builtin_clzll(differing)) : UINT64_MAX;
    uint32_t first = common ? (uint32_t)__builtin_ctzll(common) / 8 : 0;
    scan->byte = first < 6 ? first : 6;
    for (uint32_t i = 0; i < 2; i++) {
        scan->value[i] = (scan->span.low >> (scan->byte + i) * 8 & 255) * each;
        scan->known[i] = (common >> (scan->byte + i) * 8 & 255) * each;
    }
}

/* Eight places from this one on whose words may lie in the span: bit 7 of a byte each. Some may not. */
static inline uint64_t scan_eight(const struct scan *scan, size_t at)
{
    const uint64_t each = UINT64_MAX / 255;
    const uint8_t *first = scan->bytes + at + scan->byte;
    uint64_t differs =
        ((scan_load(first) ^ scan->value[0]) & scan->known[0]) | ((scan_load(first + 1) ^ scan->value[1]) & scan->known[1]);
    return (differs - each) & ~differs & each << 7;
}

typedef uint64_t scan_pair __attribute__((vector_size(16)));
typedef uint8_t scan_bytes __attribute__((vector_size(16)));
static inline scan_pair scan_load_pair(const uint8_t *bytes)
{
    scan_pair pair;
    memcpy(&pair, bytes, sizeof pair);
    return pair;
}

/* Beyond those, sixteen at a time, whose words do not lie in the span; not to the end. */
static inline size_t scan_skip(const struct scan *scan, size_t at)
{
    for (; at + 23 <= scan->size; at += 16) {
        const uint8_t *first = scan->bytes + at + scan->byte;
        scan_pair differs = ((scan_load_pair(first) ^ scan->value[0]) & scan->known[0]) |
                            ((scan_load_pair(first + 1) ^ scan->value[1]) & scan->known[1]);
        scan_pair alike = (scan_pair)((scan_bytes)differs == 0);
        if (alike[0] | alike[1])
            break;
    }
    return at;
}

static inline size_t scan_from(const struct scan *scan, size_t at)
{
    for (at = scan_skip(scan, at); at + 15 <= scan->size; at = scan_skip(scan, at + 8)) {
        for (uint64_t places = scan_eight(scan, at); places; places &= places - 1) {
            size_t place = at + (size_t)__builtin_ctzll(places) / 8;
            if (address_span_has(scan->span, scan_load(scan->bytes + place)))
                return place;
        }
    }
    for (; at + 8 <= scan->size; at++) {
        if (address_span_has(scan->span, scan_load(scan->bytes + at)))
            return at;
    }
    return SIZE_MAX;
}

/* From the first one on: for (scan_begin(&scan, ...); scan.at != SIZE_MAX; scan_on(&scan)). The bytes are the caller's, and
 * stay. */
static inline void scan_begin(struct scan *scan, struct address_span span, const uint8_t *bytes, size_t size)
{
    scan->at = SIZE_MAX;
    if (span.numbers) {
        scan->span = span;
        scan->bytes = bytes;
        scan->size = size;
        scan_know(scan);
        scan->at = scan_from(scan, 0);
    }
}

static inline void scan_on(struct scan *scan)
{
    scan->at = scan_from(scan, scan->at + 1);
}

static inline uint64_t scan_word(const struct scan *scan)
{
    return scan_load(scan->bytes + scan->at);
}

#endif
