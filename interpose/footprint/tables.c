/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of pointers. Filled after copies that succeeded, read by launches: without a lock, and once more where somebody
 * changed the table meanwhile. A table is of bounded size; what does not fit makes whoever follows it touch everything.
 */
#include "interpose/footprint/tables.h"

#include <string.h>

#include "interpose/base/lock.h"
#include "interpose/base/memory.h"
#include "interpose/footprint/entries.h"
#include "interpose/footprint/known.h"
#include "interpose/footprint/pageable.h"

static struct table *free_tables;
static struct lock lock; /* for all tables: copies of pointers are rare */

static struct table *table_of(struct memory *memory, int make)
{
    struct table **table = memories_table(memory);
    if (known_table(memory) || !make)
        return known_table(memory);
    struct table *made = free_tables;
    if (made)
        free_tables = made->next_free;
    else
        made = memory_keep(sizeof *made);
    if (made) {
        STORE(made->count, 0);
        STORE(made->since, 0);
        STORE(made->full_end, 0);
        tables_begin();
        __atomic_store_n(table, made, __ATOMIC_RELEASE);
    }
    return made;
}

void tables_give_back(struct table *table)
{
    lock_take(&lock);
    table->next_free = free_tables;
    free_tables = table;
    lock_drop(&lock);
}

/* What is worse stays until all of it is known again. */
static void unseen(struct memory *memory, enum memory_unseen what)
{
    if (what > LOAD(*memories_unseen(memory)))
        STORE(*memories_unseen(memory), (uint8_t)what);
    known_no_more(memory);
    if (what == UNSEEN_PAGEABLE)
        tables_begin();
}

/* Nobody knows anything else of what lies in it. */
static void filled_all(struct memory *memory)
{
    STORE(*memories_unseen(memory), 0);
    if (!LOAD(((struct memory_object *)memory)->classes))
        return;
    known_set(memory);
}

/* The bytes [begin, end) come, and pointers among them. A program that brings all of a table anew has the whole table
 * known; what it leaves there has to have been known all the time. */
static void begin_fill(struct table *table, uint64_t begin, uint64_t end)
{
    entries_clear(table, begin, end);
    if (!table->count)
        STORE(table->since, known_now());
}

static int is_all(const struct memory *memory, uint64_t begin, uint64_t end)
{
    return begin <= memory->base && end >= memory->base + memory->bytes && memory->bytes > 1;
}

static void note_filled(struct thread *thread, struct memory *memory, uint64_t begin, const void *bytes, size_t size)
{
    struct pointed found = {0, 0, NULL, 0, 0};
    struct pointers pointers;
    pointers_begin(&pointers, bytes, size);
    size_t at = pointers_next(&pointers, thread, &found);
    int all = is_all(memory, begin, begin + size);
    if (at == SIZE_MAX && !known_table(memory)) {
        if (all)
            filled_all(memory);
        return;
    }
    lock_take(&lock);
    struct table *table = table_of(memory, at != SIZE_MAX);
    if (table) {
        entries_begin(table);
        begin_fill(table, begin, begin + size);
        uint32_t fresh = table->count;
        while (at != SIZE_MAX) {
            found.begin = begin + at;
            found.end = begin + at + sizeof(uint64_t);
            entries_add(table, fresh, found);
            at = pointers_next(&pointers, thread, &found);
        }
        entries_end(table);
    }
    lock_drop(&lock);
    if (all)
        filled_all(memory);
}

void tables_filled(struct thread *thread, struct memory *memory, uint64_t begin, const void *bytes, size_t size)
{
    note_filled(thread, memory, begin, bytes, size);
    if (pageable_is_read() && pageable_among(thread, bytes, -begin % 8, size))
        unseen(memory, UNSEEN_PAGEABLE);
}

void tables_filled_unseen(struct memory *memory)
{
    unseen(memory, UNSEEN_SOME);
}

static void cleared(struct memory *memory, uint64_t begin, uint64_t end)
{
    if (!known_table(memory))
        return;
    lock_take(&lock);
    struct table *table = table_of(memory, 0);
    if (table) {
        entries_begin(table);
        entries_clear(table, begin, end);
        entries_end(table);
    }
    lock_drop(&lock);
}

void tables_cleared(struct memory *memory, uint64_t begin, uint64_t end)
{
    cleared(memory, begin, end);
    if (is_all(memory, begin, end))
        filled_all(memory);
}

static void copy_table(struct memory *to, uint64_t to_begin, struct memory *from, uint64_t from_begin, uint64_t size,
                       int flat, int replaces)
{
    lock_take(&lock);
    const struct table *source = table_of(from, 0);
    struct table *table = source ? table_of(to, 1) : NULL;
    if (table) {
        struct table copied = *source; /* it may be the same */
        entries_begin(table);
        begin_fill(table, to_begin, replaces ? to_begin + size : to_begin);
        if (copied.count && copied.since != LOAD(known_unknown_works) && !known_all(from))
            STORE(table->since, 0);
        entries_spread(table, to_begin, &copied, from_begin, size, flat);
        entries_end(table);
    }
    lock_drop(&lock);
}

/* What is not known of the one is not known of the other, from now on. */
static void pass_on(struct memory *to, struct memory *from)
{
    if (LOAD(*memories_unseen(from)))
        unseen(to, LOAD(*memories_unseen(from)));
    if (!known_all(from))
        known_no_more(to);
}

void tables_copied(struct memory *to, uint64_t to_begin, struct memory *from, uint64_t from_begin, uint64_t size, int flat)
{
    pass_on(to, from);
    if (known_table(from))
        copy_table(to, to_begin, from, from_begin, size, flat, flat);
    else if (flat)
        cleared(to, to_begin, to_begin + size);
}

void tables_added(struct memory *to, uint64_t to_begin, struct memory *from, uint64_t from_begin, uint64_t size)
{
    if (known_table(from))
        copy_table(to, to_begin, from, from_begin, size, 1, 0);
}

void tables_captured(struct memory *to, uint64_t to_begin, struct memory *from, uint64_t from_begin, uint64_t size,
                     int flat)
{
    pass_on(to, from);
    if (known_table(from))
        copy_table(to, to_begin, from, from_begin, size, flat, 0);
}

static int has_pageable(struct memory *memory)
{
    return LOAD(*memories_unseen(memory)) == UNSEEN_PAGEABLE;
}

int tables_expand_some(struct touched *touched)
{
    int some = 0;
    for (unsigned i = 0; i < touched->count && !touched->opaque; i++) {
        const struct table *table = __atomic_load_n(memories_table(touched->at[i].memory), __ATOMIC_ACQUIRE);
        some |= table || known_some(touched->at[i].memory);
        if (has_pageable(touched->at[i].memory))
            touch_opaque(touched, OPAQUE_POINTERS);
        if (!table)
            continue;
        int tries = 64;
        while (!entries_follow(touched, table) && --tries)
            ;
        if (!tries)
            touch_opaque(touched, OPAQUE_POINTERS);
    }
    return some || touched->opaque;
}

int tables_among_some(const struct touched *touched)
{
    for (unsigned i = 0; i < touched->count; i++) {
        struct memory *memory = touched->at[i].memory;
        if (__atomic_load_n(memories_table(memory), __ATOMIC_ACQUIRE) || known_some(memory))
            return 1;
    }
    return 0;
}

static const struct table *filled(struct memory *memory)
{
    const struct table *table = __atomic_load_n(memories_table(memory), __ATOMIC_ACQUIRE);
    return table && LOAD(table->count) ? table : NULL;
}

/* The same where no work has come since that may have put others there. */
static int filled_known(struct memory *memory)
{
    const struct table *table = filled(memory);
    return table && LOAD(table->since) == LOAD(known_unknown_works);
}

/* Kernels may put pointers there from now on: they are noted in a table of its own. Without the lock once it has one. */
static int can_note(struct memory *memory)
{
    if (known_table(memory))
        return 1;
    lock_take(&lock);
    int can = table_of(memory, 1) != NULL;
    lock_drop(&lock);
    return can;
}

int tables_known(struct memory *memory, int heap)
{
    if (heap)
        known_no_more(memory);
    STORE(((struct memory_object *)memory)->classes, 1);
    if (LOAD(*memories_unseen(memory)) || tables_is_hosts(memory))
        return 0;
    return filled_known(memory) || (known_all(memory) && can_note(memory));
}

/* Others write there only by an address that they got from the program, as into any memory. */
int tables_known_variables(struct memory *memory)
{
    return known_some(memory) && !LOAD(*memories_unseen(memory)) && can_note(memory);
}

int tables_seen(struct memory *memory)
{
    return !filled(memory) || !LOAD(*memories_unseen(memory));
}

/* A pointer to `memory` anywhere in `to`. */
static struct pointed anywhere(const struct memory *to, struct memory *memory)
{
    uint64_t bytes = LOAD(to->bytes), base = bytes > 1 ? LOAD(to->base) : 0;
    return (struct pointed){base, bytes > 1 ? base + bytes : UINT64_MAX, memory, LOAD(memory->uid), 1};
}

static void add_anywhere(struct memory *to, struct pointed one)
{
    lock_take(&lock);
    struct table *table = table_of(to, 0);
    if (table) {
        entries_begin(table);
        entries_add(table, 0, one);
        entries_end(table);
    }
    lock_drop(&lock);
}

static void note_all(struct memory *memory, const struct touched *touched)
{
    for (unsigned i = 0; i < touched->count; i++) {
        struct pointed one = anywhere(memory, touched->at[i].memory);
        if (!entries_have(known_table(memory), &one))
            add_anywhere(memory, one);
    }
}

/* A kernel can make pointers only of those that it has. What it touches for other reasons than its pointers' sake (arrays,
 * its module's variables) is counted, too. Of memory that is nothing to do with pointers as far as its parameters say,
 * nothing is noted: launches of such kernels are the most there are. */
void tables_written(const struct touched *touched)
{
    if (touched->opaque)
        tables_unknown_work();
    for (unsigned i = 0; i < touched->count; i++) {
        struct memory *memory = touched->at[i].memory;
        if (!known_table(memory))
            known_no_more(memory);
        else if (!touched->at[i].writes ||
                 !(filled(memory) || known_all(memory) || LOAD(memory->kind) == PTDS_MEMORY_GLOBAL))
            continue;
        else if (touched->opaque)
            tables_filled_unseen(memory);
        else
            note_all(memory, touched);
    }
}

void tables_after_fork(void)
{
    lock.held = 0;
}
