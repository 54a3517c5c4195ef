/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of pointers. Filled after copies that succeeded, read by launches: without a lock, and once more where somebody
 * changed the table meanwhile. A table is of bounded size; what does not fit makes whoever follows it touch everything.
 */
#include "interpose/footprint/tables.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "interpose/base/lock.h"
#include "interpose/base/memory.h"
#include "interpose/footprint/textures.h"

#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

/* Words in [begin, end) that point at a memory. */
struct pointed {
    uint64_t begin, end;
    struct memory *memory;
    uint32_t uid; /* the memory's; another one means that it is gone */
    uint32_t writes;
};

struct table {
    uint32_t changes; /* odd: it is changing */
    uint32_t count;
    uint64_t full_begin, full_end; /* where words lie that there was no room for; end 0 none */
    struct pointed at[TOUCHED_MOST];
    struct table *next_free;
};

uint32_t tables_some;

static struct table *free_tables;
static struct lock lock; /* for all tables: copies of pointers are rare */

static struct table *table_of(struct memory *memory, int make)
{
    struct table **table = memories_table(memory);
    if (*table || !make)
        return *table;
    struct table *made = free_tables;
    if (made)
        free_tables = made->next_free;
    else
        made = memory_keep(sizeof *made);
    if (made) {
        STORE(made->count, 0);
        STORE(made->full_end, 0);
        __atomic_store_n(&tables_some, 1, __ATOMIC_RELEASE);
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

static void begin_change(struct table *table)
{
    STORE(table->changes, table->changes + 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_change(struct table *table)
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

/* Entries that lie in there altogether go; and those of memories that are gone. */
static void clear(struct table *table, uint64_t begin, uint64_t end)
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

/* Words of one memory are one entry, from the first to the last, among those that this copy brought: from `fresh` on. */
static void add(struct table *table, uint32_t fresh, struct pointed one)
{
    for (uint32_t i = fresh; i < table->count; i++) {
        const struct pointed *same = &table->at[i];
        if (same->memory == one.memory && same->uid == one.uid) {
            STORE(table->at[i].begin, one.begin < same->begin ? one.begin : same->begin);
            STORE(table->at[i].end, one.end > same->end ? one.end : same->end);
            STORE(table->at[i].writes, one.writes | same->writes);
            return;
        }
    }
    if (table->count < TOUCHED_MOST) {
        set_entry(table, table->count, one);
        STORE(table->count, table->count + 1);
        return;
    }
    STORE(table->full_begin, table->full_end && table->full_begin < one.begin ? table->full_begin : one.begin);
    STORE(table->full_end, table->full_end > one.end ? table->full_end : one.end);
}

/* What a word points at; memory NULL: it is no pointer. */
static struct pointed look_at(struct thread *thread, const uint8_t *bytes)
{
    uint64_t word;
    struct pointed found = {0, 0, NULL, 0, 1};
    memcpy(&word, bytes, sizeof word);
    if (memories_in_span(word)) {
        found.memory = memories_find(thread, word).memory;
    } else if (textures_may_be(word)) {
        int writes = 0;
        found.memory = textures_memory(word, &writes);
        found.writes = (uint32_t)writes;
    }
    found.uid = found.memory ? LOAD(found.memory->uid) : 0;
    return found;
}

static size_t next_pointer(struct thread *thread, const uint8_t *bytes, size_t at, size_t size, struct pointed *found)
{
    for (; at + 8 <= size; at += 8) {
        *found = look_at(thread, bytes + at);
        if (found->memory)
            return at;
    }
    return SIZE_MAX;
}

/* Words lie where their own address, not the copy's, is a multiple of eight. */
void tables_filled(struct thread *thread, struct memory *memory, uint64_t begin, const void *bytes, size_t size)
{
    struct pointed found = {0, 0, NULL, 0, 0};
    size_t at = next_pointer(thread, bytes, -begin % 8, size, &found);
    if (at == SIZE_MAX && !LOAD(*memories_table(memory)))
        return;
    if (begin <= memory->base && begin + size >= memory->base + memory->bytes && memory->bytes > 1)
        STORE(*memories_unseen(memory), 0);
    lock_take(&lock);
    struct table *table = table_of(memory, at != SIZE_MAX);
    if (table) {
        begin_change(table);
        clear(table, begin, begin + size);
        uint32_t fresh = table->count;
        while (at != SIZE_MAX) {
            found.begin = begin + at;
            found.end = begin + at + 8;
            add(table, fresh, found);
            at = next_pointer(thread, bytes, at + 8, size, &found);
        }
        end_change(table);
    }
    lock_drop(&lock);
}

void tables_filled_unseen(struct memory *memory)
{
    *memories_unseen(memory) = 1;
}

void tables_cleared(struct memory *memory, uint64_t begin, uint64_t end)
{
    if (!LOAD(*memories_table(memory)))
        return;
    lock_take(&lock);
    struct table *table = table_of(memory, 0);
    if (table) {
        begin_change(table);
        clear(table, begin, end);
        end_change(table);
    }
    lock_drop(&lock);
}

/* Entries of `from` that lie in [begin, begin + size), moved to `to`. Where rows lie apart, each may be anywhere in it. */
static void spread(struct table *table, uint64_t to, const struct table *from, uint64_t begin, uint64_t size, int flat)
{
    uint32_t fresh = table->count;
    for (uint32_t i = 0; i < from->count; i++) {
        struct pointed one = from->at[i];
        if (flat && (one.begin >= begin + size || one.end <= begin))
            continue;
        one.begin = flat && one.begin > begin ? one.begin - begin + to : to;
        one.end = flat && one.end < begin + size ? one.end - begin + to : to + size;
        add(table, fresh, one);
    }
    if (from->full_end > begin && (!flat || from->full_begin < begin + size)) {
        STORE(table->full_begin, to);
        STORE(table->full_end, to + size);
    }
}

static void copy_table(struct memory *to, uint64_t to_begin, struct memory *from, uint64_t from_begin, uint64_t size,
                       int flat, int replaces)
{
    lock_take(&lock);
    const struct table *source = table_of(from, 0);
    struct table *table = source ? table_of(to, 1) : NULL;
    if (table) {
        struct table copied = *source; /* it may be the same */
        begin_change(table);
        if (replaces)
            clear(table, to_begin, to_begin + size);
        spread(table, to_begin, &copied, from_begin, size, flat);
        end_change(table);
    }
    lock_drop(&lock);
}

void tables_copied(struct memory *to, uint64_t to_begin, struct memory *from, uint64_t from_begin, uint64_t size, int flat)
{
    if (LOAD(*memories_unseen(from)))
        tables_filled_unseen(to);
    if (LOAD(*memories_table(from)))
        copy_table(to, to_begin, from, from_begin, size, flat, flat);
    else if (flat)
        tables_cleared(to, to_begin, to_begin + size);
}

void tables_added(struct memory *to, uint64_t to_begin, struct memory *from, uint64_t from_begin, uint64_t size)
{
    if (LOAD(*memories_table(from)))
        copy_table(to, to_begin, from, from_begin, size, 1, 0);
}

/* 0: it changed meanwhile. Nothing is lost by adding what was read: it was there. */
static int follow(struct touched *touched, const struct table *table)
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

int tables_expand_some(struct touched *touched)
{
    int some = 0;
    for (unsigned i = 0; i < touched->count && !touched->opaque; i++) {
        const struct table *table = __atomic_load_n(memories_table(touched->at[i].memory), __ATOMIC_ACQUIRE);
        if (!table)
            continue;
        some = 1;
        int tries = 64;
        while (!follow(touched, table) && --tries)
            ;
        if (!tries)
            touch_opaque(touched, OPAQUE_POINTERS);
    }
    return some || touched->opaque;
}

/* The host stores there, without a call. */
static int is_hosts(const struct memory *memory)
{
    return memory->kind == PTDS_MEMORY_MANAGED || memory->kind == PTDS_MEMORY_PINNED ||
           memory->kind == PTDS_MEMORY_REGISTERED || (memory->kind == PTDS_MEMORY_GLOBAL && memory->host & 1);
}

static const struct table *filled(struct memory *memory)
{
    const struct table *table = __atomic_load_n(memories_table(memory), __ATOMIC_ACQUIRE);
    return table && LOAD(table->count) ? table : NULL;
}

int tables_known(struct memory *memory)
{
    return filled(memory) && !LOAD(*memories_unseen(memory)) && !is_hosts(memory);
}

/* So much of the host's memory is looked through at a launch; more is opaque. */
enum { LOOK_AT_MOST = 4096 };

/* By way of the kernel, since another thread may be freeing the memory at this moment: then this fails, and nothing faults.
 */
static int read_hosts(uint64_t base, uint8_t *into, size_t bytes)
{
    struct iovec local = {into, bytes}, there = {(void *)base, bytes};
    int saved = errno;
    ssize_t got = process_vm_readv(getpid(), &local, 1, &there, 1, 0);
    errno = saved;
    return got == (ssize_t)bytes;
}

/* Managed memory is not read here: its pages would move to the host. */
int tables_look(struct thread *thread, struct touched *touched, struct memory *memory, int later)
{
    if (!is_hosts(memory))
        return !filled(memory) || !LOAD(*memories_unseen(memory));
    uint64_t base = LOAD(memory->base), bytes = LOAD(memory->bytes);
    uint8_t at[LOOK_AT_MOST];
    if (later || LOAD(*memories_unseen(memory)) || bytes > sizeof at || memory->kind == PTDS_MEMORY_MANAGED ||
        memory->kind == PTDS_MEMORY_GLOBAL || !read_hosts(base, at, bytes))
        return 0;
    struct pointed found = {0, 0, NULL, 0, 0};
    for (size_t next = next_pointer(thread, at, -base % 8, bytes, &found); next != SIZE_MAX;
         next = next_pointer(thread, at, next + 8, bytes, &found))
        touch_whole(touched, found.memory, (int)found.writes);
    return 1;
}

/* A pointer to `memory` anywhere in `to`. */
static struct pointed anywhere(const struct memory *to, struct memory *memory)
{
    uint64_t bytes = LOAD(to->bytes), base = bytes > 1 ? LOAD(to->base) : 0;
    return (struct pointed){base, bytes > 1 ? base + bytes : UINT64_MAX, memory, LOAD(memory->uid), 1};
}

static int has_entry(const struct table *table, const struct pointed *one)
{
    uint32_t count = LOAD(table->count);
    for (uint32_t i = 0; i < count && i < TOUCHED_MOST; i++) {
        if (LOAD(table->at[i].memory) == one->memory && LOAD(table->at[i].uid) == one->uid && LOAD(table->at[i].writes) &&
            LOAD(table->at[i].begin) <= one->begin && LOAD(table->at[i].end) >= one->end)
            return 1;
    }
    return 0;
}

static void add_anywhere(struct memory *to, struct pointed one)
{
    lock_take(&lock);
    struct table *table = table_of(to, 0);
    if (table) {
        begin_change(table);
        add(table, 0, one);
        end_change(table);
    }
    lock_drop(&lock);
}

/* A kernel can make pointers only of those that it has. What it touches for other reasons than its pointers' sake (arrays,
 * its module's variables) is counted, too. */
void tables_written(const struct touched *touched)
{
    for (unsigned i = 0; i < touched->count; i++) {
        struct memory *memory = touched->at[i].memory;
        const struct table *table = touched->at[i].writes ? filled(memory) : NULL;
        if (__builtin_expect(!table, 1))
            continue;
        if (touched->opaque)
            tables_filled_unseen(memory);
        for (unsigned k = 0; k < touched->count && !touched->opaque; k++) {
            struct pointed one = anywhere(memory, touched->at[k].memory);
            if (!has_entry(table, &one))
                add_anywhere(memory, one);
        }
    }
}

void tables_after_fork(void)
{
    lock.held = 0;
}
