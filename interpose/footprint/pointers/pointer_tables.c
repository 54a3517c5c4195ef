/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of pointers. Filled after copies that succeeded, read by launches: without a lock, and once more where a change
 * came in between. A table is of bounded size; what does not fit may point at anything. Must never know more than lies
 * there: where bytes come unseen at the time at which they are read, the memory's pointers are incomplete from then on,
 * until all of it is filled anew.
 */
#include "interpose/footprint/pointers/pointer_tables.h"

#include "interpose/base/lock.h"
#include "interpose/footprint/memories/managed_variables.h"
#include "interpose/footprint/memories/unlocked.h"
#include "interpose/footprint/pointers/pointer_entries.h"

uint32_t pointer_tables_followed;

static struct pointer_table *free_tables;
static struct lock lock;           /* for all tables: copies of pointers are rare */
static uint64_t unknown_works = 1; /* grows with work that may have put pointers anywhere */

static struct pointer_table *known_table(struct memory *memory)
{
    return __atomic_load_n(memory_object_table(memory), __ATOMIC_ACQUIRE);
}

static void give_back(struct pointer_table *table)
{
    lock_take(&lock);
    table->next_free = free_tables;
    free_tables = table;
    lock_drop(&lock);
}

static struct pointer_table *table_of(struct memory *memory, int make)
{
    if (known_table(memory) || !make)
        return known_table(memory);
    struct pointer_table *made = free_tables;
    if (made)
        free_tables = made->next_free;
    else
        made = pages_keep(sizeof *made);
    if (made) {
        STORE(made->count, 0);
        STORE(made->any_end, 0);
        STORE(memory_object_table_gone, give_back); /* before the first memory has a table */
        __atomic_store_n(memory_object_table(memory), made, __ATOMIC_RELEASE);
    }
    return made;
}

static uint64_t *since(struct memory *memory)
{
    return &((struct memory_object *)memory)->known_since;
}

uint64_t pointer_tables_unknown_works(void)
{
    return __atomic_load_n(&unknown_works, __ATOMIC_ACQUIRE);
}

/* Whether bytes come there without a call: the host stores there, other processes do, or its bytes are perhaps another
 * memory's, too. */
static int others_store_there(struct memory *memory)
{
    if (memory->kind == PTDS_MEMORY_GLOBAL && memory->host)
        return managed_variables_are_hosts(memory);
    return memory_object_is_hosts(memory) || memory->host & MEMORY_OTHERS;
}

int pointer_tables_incomplete(struct memory *memory, int constants)
{
    struct memory *where = memory_object_table_owner(memory);
    if (others_store_there(memory) || (where != memory && others_store_there(where)))
        return 1;
    uint8_t unknown = LOAD(where->unknown), how = (uint8_t)(constants ? UNKNOWN_SOME : UNKNOWN_SOME | UNKNOWN_BY_KERNELS);
    return unknown & how || LOAD(*since(where)) != pointer_tables_unknown_works();
}

void pointer_tables_read(struct memory *memory, struct pointees *pointees)
{
    const struct pointer_table *table = known_table(memory_object_table_owner(memory));
    pointees->count = 0;
    pointees->why = OPAQUE_NO;
    for (int tries = 0; table && !pointer_entries_read(table, pointees); tries++) {
        if (tries == 64) {
            pointees->why = OPAQUE_POINTERS;
            return;
        }
    }
}

void pointer_tables_empty_since(struct memory *memory, uint64_t works)
{
    STORE(*since(memory), works);
    STORE(memory->unknown, 0);
}

void pointer_tables_empty(struct memory *memory)
{
    pointer_tables_empty_since(memory, pointer_tables_unknown_works());
}

void pointer_tables_unknown_work(void)
{
    __atomic_add_fetch(&unknown_works, 1, __ATOMIC_RELEASE);
}

void pointer_tables_filled_unseen(struct memory *memory)
{
    pointer_tables_stored(memory);
}

int pointer_tables_is_all(const struct memory *memory, uint64_t begin, uint64_t end)
{
    uint64_t bytes = LOAD(memory->bytes);
    return bytes > 1 && begin <= LOAD(memory->base) && end >= LOAD(memory->base) + bytes;
}

int pointer_tables_is_lost(struct memory *memory, int all)
{
    return memory_object_is_hosts(memory) || (!all && pointer_tables_incomplete(memory, 1));
}

int pointer_tables_has(struct memory *memory)
{
    return known_table(memory) != NULL;
}

int pointer_tables_replace(struct memory *memory, uint64_t begin, uint64_t end, int make,
                           void (*add)(struct pointer_table *table, uint32_t fresh, const void *data), const void *data)
{
    lock_take(&lock);
    struct pointer_table *table = table_of(memory, make);
    if (table) {
        pointer_entries_begin(table);
        pointer_entries_clear(table, begin, end);
        if (add)
            add(table, table->count, data);
        pointer_entries_end(table);
    }
    lock_drop(&lock);
    return table != NULL;
}

void pointer_tables_cleared(struct memory *memory, uint64_t begin, uint64_t end)
{
    uint64_t works = pointer_tables_unknown_works(); /* what comes meanwhile is not seen */
    int all = pointer_tables_is_all(memory, begin, end);
    if (pointer_tables_is_lost(memory, all))
        return;
    if (known_table(memory))
        pointer_tables_replace(memory, begin, end, 0, NULL, NULL);
    if (all)
        pointer_tables_empty_since(memory, works);
}

/* ---- bytes of another memory ---- */

/* 0: there is no memory to keep it. */
static int copy_table(struct memory *to, uint64_t to_begin, struct memory *from, uint64_t from_begin, uint64_t size,
                      int flat)
{
    lock_take(&lock);
    const struct pointer_table *source = table_of(from, 0);
    struct pointer_table *table = table_of(to, source != NULL);
    if (table) {
        struct pointer_table copied;
        copied.count = 0, copied.any_end = 0;
        if (source)
            copied = *source; /* source and table may be the same */
        pointer_entries_begin(table);
        if (flat)
            pointer_entries_clear(table, to_begin, to_begin + size);
        pointer_entries_spread(table, to_begin, &copied, from_begin, size, flat);
        pointer_entries_end(table);
    }
    lock_drop(&lock);
    return table || !source;
}

void pointer_tables_copied(struct memory *to, uint64_t to_begin, struct memory *from, uint64_t from_begin, uint64_t size,
                           int flat)
{
    uint64_t works = pointer_tables_unknown_works(); /* what comes meanwhile is not seen */
    int all = flat && pointer_tables_is_all(to, to_begin, to_begin + size);
    int cuts = flat && !all && (to_begin | from_begin | size) % 8 != 0;
    if (cuts || from->kind == PTDS_MEMORY_ARRAY || pointer_tables_incomplete(from, 0) || pointer_tables_is_lost(to, all) ||
        !copy_table(to, to_begin, from, from_begin, size, flat))
        pointer_tables_filled_unseen(to);
    else if (all)
        pointer_tables_empty_since(to, works);
}

/* ---- kernels ---- */

/* `variables` were written by name alone: the constant ones among them are as they were. */
static void written(struct memory *memory, const struct memory *variables)
{
    if (memory != variables)
        pointer_tables_stored(memory);
    else if (!LOAD(memory->unknown))
        STORE(memory->unknown, UNKNOWN_BY_KERNELS);
}

void pointer_tables_written(const struct touched *touched, const struct memory *variables)
{
    if (touched->opaque)
        pointer_tables_unknown_work();
    for (unsigned i = 0; i < touched->count; i++) {
        if (touched->at[i].writes)
            written(touched->at[i].memory, variables);
    }
}

void pointer_tables_filled_by(const struct touched *touched)
{
    for (unsigned i = 0; i < touched->count; i++) {
        if (touched->at[i].writes)
            pointer_tables_stored(touched->at[i].memory);
    }
}

void pointer_tables_after_fork(void)
{
    lock.held = 0;
}
