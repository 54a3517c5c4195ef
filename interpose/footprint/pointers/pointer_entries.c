/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries of tables of pointers. Called by pointer_tables.c and scan_host_memory.c. What changes a table does so under
 * its lock; what reads one reads it while it changes, and never past its end. Must never lose a word that still lies there:
 * what can't be told points at anything.
 */
#include "interpose/footprint/pointers/pointer_entries.h"

#include "interpose/footprint/memories/lookup.h"
#include "interpose/footprint/memories/reservations.h"
#include "interpose/footprint/memories/unlocked.h"

void pointer_entries_begin(struct pointer_table *table)
{
    STORE(table->changes, table->changes + 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

void pointer_entries_end(struct pointer_table *table)
{
    __atomic_store_n(&table->changes, table->changes + 1, __ATOMIC_RELEASE);
}

static void set_entry(struct pointer_table *table, uint32_t at, struct pointer_entry to)
{
    STORE(table->at[at].begin, to.begin);
    STORE(table->at[at].end, to.end);
    STORE(table->at[at].memory, to.memory);
    STORE(table->at[at].uid, to.uid);
    STORE(table->at[at].word, to.word);
}

/* Widens the range of words that may point at anything. The first reason stays. */
static void add_any(struct pointer_table *table, uint64_t begin, uint64_t end, enum opaque_reason why)
{
    if (!table->any_end)
        STORE(table->why, (uint32_t)why);
    STORE(table->any_begin, table->any_end && table->any_begin < begin ? table->any_begin : begin);
    STORE(table->any_end, table->any_end > end ? table->any_end : end);
}

void pointer_entries_clear(struct pointer_table *table, uint64_t begin, uint64_t end)
{
    uint32_t kept = 0;
    if (table->any_begin >= begin && table->any_end <= end)
        STORE(table->any_end, 0);
    for (uint32_t i = 0; i < table->count; i++) {
        struct pointer_entry one = table->at[i];
        if (one.begin >= begin && one.end <= end)
            continue;
        if (!one.memory || LOAD(one.memory->uid) == one.uid)
            set_entry(table, kept++, one);
        else
            add_any(table, one.begin, one.end, OPAQUE_POINTERS);
    }
    STORE(table->count, kept);
}

void pointer_entries_add(struct pointer_table *table, uint32_t fresh, struct pointer_entry one)
{
    if (!one.memory && !one.word) {
        add_any(table, one.begin, one.end, OPAQUE_POINTERS);
        return;
    }
    for (uint32_t i = fresh; i < table->count; i++) {
        const struct pointer_entry *same = &table->at[i];
        if (same->memory == one.memory && same->uid == one.uid && same->word == one.word) {
            STORE(table->at[i].begin, one.begin < same->begin ? one.begin : same->begin);
            STORE(table->at[i].end, one.end > same->end ? one.end : same->end);
            return;
        }
    }
    if (table->count < TOUCHED_MOST) {
        set_entry(table, table->count, one);
        STORE(table->count, table->count + 1);
        return;
    }
    add_any(table, one.begin, one.end, OPAQUE_MANY);
}

void pointer_entries_spread(struct pointer_table *table, uint64_t to, const struct pointer_table *from, uint64_t begin,
                            uint64_t size, int flat)
{
    uint32_t fresh = table->count;
    for (uint32_t i = 0; i < from->count; i++) {
        struct pointer_entry one = from->at[i];
        if (flat && (one.begin >= begin + size || one.end <= begin))
            continue;
        one.begin = flat && one.begin > begin ? one.begin - begin + to : to;
        one.end = flat && one.end < begin + size ? one.end - begin + to : to + size;
        pointer_entries_add(table, fresh, one);
    }
    if (from->any_end && (!flat || (from->any_end > begin && from->any_begin < begin + size)))
        add_any(table, to, to + size, (enum opaque_reason)from->why);
}

static void add_pointee(struct pointees *pointees, struct memory *memory)
{
    if (pointees->count == TOUCHED_MOST)
        pointees->why = OPAQUE_MANY;
    else
        pointees->at[pointees->count++] = memory;
}

/* Adds the memories that are beside the address now. */
static void add_beside(struct pointees *pointees, uint64_t word)
{
    struct memory *found[TOUCHED_MOST];
    unsigned count = lookup_around(NULL, word, found, TOUCHED_MOST);
    if (!count || count > TOUCHED_MOST)
        pointees->why = OPAQUE_POINTERS;
    for (unsigned i = 0; i < count && count <= TOUCHED_MOST; i++)
        add_pointee(pointees, reservations_lasting(found[i], word));
}

int pointer_entries_read(const struct pointer_table *table, struct pointees *pointees)
{
    uint32_t before = __atomic_load_n(&table->changes, __ATOMIC_ACQUIRE);
    uint32_t count = LOAD(table->count);
    pointees->count = 0;
    pointees->why = LOAD(table->any_end) ? (enum opaque_reason)LOAD(table->why) : OPAQUE_NO;
    for (uint32_t i = 0; i < count && i < TOUCHED_MOST; i++) {
        struct memory *memory = LOAD(table->at[i].memory);
        uint64_t word = LOAD(table->at[i].word);
        if (!memory && word)
            add_beside(pointees, word);
        else if (!memory || LOAD(memory->uid) != LOAD(table->at[i].uid))
            pointees->why = OPAQUE_POINTERS; /* the memory that it pointed to is gone */
        else
            add_pointee(pointees, memory);
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return before % 2 == 0 && LOAD(table->changes) == before;
}
