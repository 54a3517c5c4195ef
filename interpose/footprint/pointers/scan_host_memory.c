/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks through bytes that the host copies into a memory for words that may be pointers. Called after copies that
 * succeeded, while the bytes are there still. Must never miss a pointer: what can't be told makes the memory's pointers
 * incomplete.
 */
#include "interpose/footprint/pointers/scan_host_memory.h"

#include <string.h>

#include "interpose/footprint/memories/lookup.h"
#include "interpose/footprint/memories/pageable.h"
#include "interpose/footprint/memories/reservations.h"
#include "interpose/footprint/memories/unlocked.h"
#include "interpose/footprint/pointers/pointer_entries.h"
#include "interpose/footprint/pointers/scan.h"

/* A wider span: memory that kernels allocate lies among the rest, and no call told of it. */
enum { WIDER = 36 };
static struct address_span wider(unsigned which)
{
    struct address_span span = addresses_spans().at[which];
    if (!which || !span.numbers)
        return span;
    uint64_t low = span.low >> WIDER << WIDER, high = ((span.low + span.numbers - 1) >> WIDER) + 1;
    low = low >> 40 ? low : UINT64_C(1) << 40;
    return (struct address_span){low, (high << WIDER) - low};
}

/* The bytes that come into a memory. */
struct filling {
    struct thread *thread;
    uint64_t begin;
    const uint8_t *bytes;
    size_t size;
};

/* Where an entry goes: the table, and the first of the entries that this copy brings. */
struct target {
    struct pointer_table *table;
    uint32_t fresh;
};

static void note_one(const struct filling *f, const struct target *to, size_t at, struct memory *memory)
{
    struct pointer_entry one = {f->begin + at, f->begin + at + sizeof(uint64_t), memory, memory ? LOAD(memory->uid) : 0, 0};
    pointer_entries_add(to->table, to->fresh, one);
}

/* The word points into no memory: to the end of one, or before the beginning of another. */
static void note_outside(const struct filling *f, const struct target *to, size_t at, uint64_t word)
{
    struct pointer_entry one = {f->begin + at, f->begin + at + sizeof(uint64_t), NULL, 0, word};
    pointer_entries_add(to->table, to->fresh, one);
}

/* A word that means no memory may point at anything, if it lies where a kernel can load it as a pointer (at a multiple of
 * 4). */
static void note_word(const struct filling *f, const struct target *to, size_t at, uint64_t word)
{
    struct memory *found[TOUCHED_MOST];
    if (!word)
        return;
    unsigned count = lookup_around(f->thread, word, found, TOUCHED_MOST);
    if (count && !lookup_range(f->thread, word).memory)
        note_outside(f, to, at, word);
    else if (!count && (f->begin + at) % 4 == 0)
        note_one(f, to, at, NULL);
    else
        for (unsigned i = 0; i < count; i++)
            note_one(f, to, at, reservations_lasting(found[i], word));
}

static void note_words(const struct filling *f, const struct target *to)
{
    struct scan scan;
    for (unsigned i = 0; i < ADDRESS_SPANS; i++) {
        for (scan_begin(&scan, wider(i), f->bytes, f->size); scan.at != SIZE_MAX; scan_on(&scan))
            note_word(f, to, scan.at, scan_word(&scan));
    }
}

static int has_words(const uint8_t *bytes, size_t size)
{
    struct scan scan;
    for (unsigned i = 0; i < ADDRESS_SPANS; i++) {
        scan_begin(&scan, wider(i), bytes, size);
        if (scan.at != SIZE_MAX)
            return 1;
    }
    return 0;
}

static int are_zeros(const uint8_t *bytes, size_t size)
{
    uint8_t any = 0;
    for (size_t i = 0; i < size; i++)
        any |= bytes[i];
    return !any;
}

/* Whether the four bytes may be the upper half of an address. */
static int is_upper_half(const uint8_t *bytes)
{
    uint32_t half;
    memcpy(&half, bytes, sizeof half);
    for (unsigned i = 0; half && i < ADDRESS_SPANS; i++) {
        struct address_span span = wider(i);
        if (span.numbers && half >= span.low >> 32 && half <= (span.low + span.numbers - 1) >> 32)
            return 1;
    }
    return 0;
}

/* Whether the bytes at an edge may make a pointer together with bytes that lay there before: the halves of a pointer may
 * come one by one. */
static int makes_words(struct thread *thread, uint64_t begin, const uint8_t *bytes, size_t size)
{
    const struct memory_range range = lookup_range(thread, begin);
    uint64_t end = begin + size, edge = size < 8 ? size : 8;
    int first = begin == range.begin, last = end == range.end;
    if ((begin % 8 && !first) || (end % 8 && !last))
        return !are_zeros(bytes, edge) || !are_zeros(bytes + size - edge, edge);
    return !first && size >= 4 && is_upper_half(bytes);
}

static void add_words(struct pointer_table *table, uint32_t fresh, const void *filling)
{
    note_words(filling, &(struct target){table, fresh});
}

/* 0: there is no memory to keep it. */
static int note_filled(const struct filling *f, struct memory *memory)
{
    int some = has_words(f->bytes, f->size);
    if (!some && !pointer_tables_has(memory))
        return 1;
    return pointer_tables_replace(memory, f->begin, f->begin + f->size, some, add_words, f) || !some;
}

void scan_host_memory(struct thread *thread, struct memory *memory, uint64_t begin, const uint8_t *bytes, size_t size)
{
    uint64_t works = pointer_tables_unknown_works(); /* what comes meanwhile is not seen */
    int all = pointer_tables_is_all(memory, begin, begin + size);
    struct filling filling = {thread, begin, bytes, size};
    if (pointer_tables_is_lost(memory, all) || !note_filled(&filling, memory) || makes_words(thread, begin, bytes, size) ||
        (pageable_is_read() && pageable_among(thread, bytes, -begin % 8, size)))
        pointer_tables_filled_unseen(memory);
    else if (all)
        pointer_tables_empty_since(memory, works);
}
