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
    uint32_t byte;               /* of each word, this byte and the next one are compared */
    uint64_t value[2], known[2]; /* for these two bytes, repeated eight times: the value, and which of its bits all numbers
                                    of the span have in common */
};

static inline uint64_t scan_load(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* Chooses the bytes to compare: the lowest byte in which the span's numbers have a bit in common may have few of these, the
 * next one has all eight. */
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

/* Of the eight places from this one on, those whose words may lie in the span, bit 7 of a byte for each. Some of these
 * words may not lie in it. */
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

/* Skips places whose words do not lie in the span, sixteen at a time. Stops before the end. */
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
