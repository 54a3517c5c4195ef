/* SPDX-License-Identifier: Apache-2.0
 *
 * See entries.h. Called by tables.c alone. What changes a table does so under its lock; what reads one reads it while it
 * changes, and never past its end.
 */
#include "interpose/footprint/entries.h"

#include "interpose/footprint/known.h"

void entries_begin(struct table *table)
{
    STORE(table->changes, table->changes + 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

void entries_end(struct table *table)
{
    __atomic_store_n(&table->changes, table->changes + 1, __ATOMIC_RELEASE);
}

static void set_entry(struct table *table, uint32_t at, struct pointed to)
{
    STORE(table->at[at].begin, to.begin);
    STORE(table->at[at].end, to.end);
    STORE(table->at[at].memory, to.memory);
    STORE(table->at[at].uid, to.uid);
    STORE(table->at[at].writes, to.writes);
}

void entries_clear(struct table *table, uint64_t begin, uint64_t end)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        struct pointed one = table->at[i];
        if ((one.begin >= begin && one.end <= end) || LOAD(one.memory->uid) != one.uid)
            continue;
        set_entry(table, kept++, one);
    }
    STORE(table->count, kept);
    if (table->full_begin >= begin && table->full_end <= end)
        STORE(table->full_end, 0);
}

/* Beside what there was no room for before. */
static void add_full(struct table *table, uint64_t begin, uint64_t end)
{
    STORE(table->full_begin, table->full_end && table->full_begin < begin ? table->full_begin : begin);
    STORE(table->full_end, table->full_end > end ? table->full_end : end);
}

void entries_add(struct table *table, uint32_t fresh, struct pointed one)
{
    if (!one.memory) {
        add_full(table, one.begin, one.end);
        return;
    }
    for (uint32_t i = fresh; i < table->count; i++) {
        const struct pointed *same = &table->at[i];
        if (same->memory == one.memory && same->uid == one.uid) {
            STORE(table->at[i].begin, one.begin < same->begin ? one.begin : same->begin);
            STORE(table->at[i].end, one.end > same->end ? one.end : same->end);
            STORE(table->at[i].writes, one.writes | same->writes);
            return;
        }
    }
    if (table->count == TOUCHED_MOST)
        entries_clear(table, UINT64_MAX, 0); /* those of memories that are gone */
    if (table->count < TOUCHED_MOST) {
        set_entry(table, table->count, one);
        STORE(table->count, table->count + 1);
        return;
    }
    add_full(table, one.begin, one.end);
}

void entries_spread(struct table *table, uint64_t to, const struct table *from, uint64_t begin, uint64_t size, int flat)
{
    uint32_t fresh = table->count;
    for (uint32_t i = 0; i < from->count; i++) {
        struct pointed one = from->at[i];
        if (flat && (one.begin >= begin + size || one.end <= begin))
            continue;
        one.begin = flat && one.begin > begin ? one.begin - begin + to : to;
        one.end = flat && one.end < begin + size ? one.end - begin + to : to + size;
        entries_add(table, fresh, one);
    }
    if (from->full_end > begin && (!flat || from->full_begin < begin + size))
        add_full(table, to, to + size);
}

int entries_follow(struct touched *touched, const struct table *table)
{
    uint32_t before = __atomic_load_n(&table->changes, __ATOMIC_ACQUIRE);
    uint32_t count = LOAD(table->count);
    if (LOAD(table->full_end))
        touch_opaque(touched, OPAQUE_MANY);
    for (uint32_t i = 0; i < count && i < TOUCHED_MOST; i++) {
        struct memory *memory = LOAD(table->at[i].memory);
        if (memory && LOAD(memory->uid) == LOAD(table->at[i].uid))
            touch_whole(touched, memory, (int)LOAD(table->at[i].writes));
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return before % 2 == 0 && LOAD(table->changes) == before;
}

int entries_have(const struct table *table, const struct pointed *one)
{
    uint32_t count = LOAD(table->count);
    for (uint32_t i = 0; i < count && i < TOUCHED_MOST; i++) {
        if (LOAD(table->at[i].memory) == one->memory && LOAD(table->at[i].uid) == one->uid && LOAD(table->at[i].writes) &&
            LOAD(table->at[i].begin) <= one->begin && LOAD(table->at[i].end) >= one->end)
            return 1;
    }
    return 0;
}
