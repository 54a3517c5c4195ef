/* SPDX-License-Identifier: Apache-2.0
 *
 * Changes the ranges of memories. Called by the wrappers of calls that allocate, map and free, and by lookup.c. What a
 * reader without the lock may still look at is never unmapped: entries serve again as entries. Must not call the driver.
 */
#include "interpose/footprint/memories/addresses.h"

#include "interpose/base/lock.h"
#include "interpose/footprint/memories/range_index.h"
#include "interpose/footprint/memories/unlocked.h"

uint64_t addresses_low[ADDRESS_SPANS] = {UINT64_MAX, UINT64_MAX}, addresses_high[ADDRESS_SPANS];

static uint32_t changes; /* odd: the ranges are changing */
static uint32_t range_count;
static struct lock lock;
static struct range_entry *free_entries;

struct range_entry *addresses_entry(uint64_t address)
{
    for (int tries = 0; tries < 64; tries++) {
        uint32_t before = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
        struct range_entry *entry = before % 2 == 0 ? range_index_before(address) : NULL;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (before % 2 == 0 && LOAD(changes) == before)
            return entry;
    }
    lock_take(&lock); /* the thread that makes the change was interrupted in it */
    struct range_entry *entry = range_index_before(address);
    lock_drop(&lock);
    return entry;
}

static void begin_change(void)
{
    STORE(changes, changes + 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_change(void)
{
    __atomic_store_n(&changes, changes + 1, __ATOMIC_RELEASE);
}

/* The range is no longer found. */
static void take_out(struct range_entry *entry)
{
    begin_change();
    range_index_take_out(entry->range.begin);
    end_change();
    STORE(entry->generation, entry->generation + 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    STORE(range_count, range_count - 1);
}

/* The range is no longer found, and its entry is free. Returns its memory; the range's hold on it becomes the caller's. */
static struct memory *remove_range(struct range_entry *entry)
{
    struct memory *memory = entry->range.memory;
    take_out(entry);
    GIVE(free_entries, entry);
    return memory;
}

/* The last range that has a byte in [begin, end). */
static struct range_entry *overlapping(uint64_t begin, uint64_t end)
{
    struct range_entry *entry = end > begin ? range_index_before(end - 1) : NULL;
    return entry && entry->range.end > begin ? entry : NULL;
}

void addresses_unmap_all(uint64_t base, uint64_t bytes)
{
    for (;;) {
        lock_take(&lock);
        struct range_entry *entry = overlapping(base, base + bytes);
        struct memory *memory = entry ? remove_range(entry) : NULL;
        lock_drop(&lock);
        if (!entry)
            return;
        memory_object_drop(memory);
    }
}

struct range_entry *addresses_take_out(uint64_t base, uint64_t bytes)
{
    struct range_entry *taken = NULL, *entry;
    lock_take(&lock);
    while ((entry = overlapping(base, base + bytes))) {
        take_out(entry);
        GIVE(taken, entry);
    }
    lock_drop(&lock);
    return taken;
}

void addresses_give_back(struct range_entry *taken)
{
    while (taken) {
        struct range_entry *entry = taken;
        struct memory *memory = entry->range.memory;
        taken = entry->next_free;
        lock_take(&lock);
        GIVE(free_entries, entry);
        lock_drop(&lock);
        memory_object_drop(memory);
    }
}

void addresses_put_back(struct range_entry *taken)
{
    for (const struct range_entry *entry = taken; entry; entry = entry->next_free)
        addresses_map(entry->range.memory, entry->range.begin, entry->range.end - entry->range.begin,
                      entry->range.begin + entry->range.shift);
    addresses_give_back(taken);
}

void addresses_unmap_memory(struct memory *memory)
{
    while (__atomic_load_n(&((struct memory_object *)memory)->held, __ATOMIC_ACQUIRE) > 1) {
        lock_take(&lock);
        struct range_entry *entry = range_index_of(memory);
        if (entry)
            remove_range(entry);
        lock_drop(&lock);
        if (!entry)
            return;
        memory_object_drop(memory);
    }
}

struct memory_range addresses_last_of(const struct memory *memory, uint64_t address)
{
    lock_take(&lock);
    const struct range_entry *entry = range_index_before(address);
    while (entry && entry->range.memory != memory)
        entry = entry->range.begin ? range_index_before(entry->range.begin - 1) : NULL;
    struct memory_range range = entry ? entry->range : (struct memory_range){NULL, 0, 0, 0};
    lock_drop(&lock);
    return range;
}

static void widen_span(uint64_t base, uint64_t end)
{
    uint64_t low = base > ADDRESSES_NEAR ? base - ADDRESSES_NEAR : 0;
    uint64_t high = end < UINT64_MAX - ADDRESSES_NEAR ? end + ADDRESSES_NEAR + 1 : UINT64_MAX;
    unsigned i = address_spans_which(base);
    if (low < addresses_low[i])
        STORE(addresses_low[i], low);
    if (high > addresses_high[i])
        STORE(addresses_high[i], high);
}

void addresses_widen(uint64_t begin, uint64_t end)
{
    lock_take(&lock);
    widen_span(begin, end);
    lock_drop(&lock);
}

/* Notes for the range and its neighbours whether they lie near each other. */
static void note_near(struct range_entry *entry)
{
    struct range_entry *before = entry->range.begin ? range_index_before(entry->range.begin - 1) : NULL;
    uint64_t last = entry->range.end < UINT64_MAX - ADDRESSES_NEAR ? entry->range.end + ADDRESSES_NEAR : UINT64_MAX;
    if (before && entry->range.begin - before->range.end <= ADDRESSES_NEAR) {
        STORE(before->near, before->near | NEAR_BEHIND);
        STORE(entry->near, entry->near | NEAR_BEFORE);
    }
    for (struct range_entry *behind = range_index_before(last); behind && behind != entry;
         behind = range_index_before(behind->range.begin - 1)) {
        STORE(behind->near, behind->near | NEAR_BEFORE);
        STORE(entry->near, entry->near | NEAR_BEHIND);
    }
}

static int add_range(struct memory *memory, uint64_t base, uint64_t bytes, uint64_t own)
{
    struct range_entry *entry = TAKE(free_entries);
    if (!entry)
        return 0;
    if (entry->generation % 2 == 0)
        STORE(entry->generation, entry->generation + 1);
    STORE(entry->range.memory, memory);
    STORE(entry->range.begin, base);
    STORE(entry->range.end, base + bytes);
    STORE(entry->range.shift, own - base);
    STORE(entry->near, 0);
    begin_change();
    int added = range_index_insert(base, entry);
    end_change();
    if (!added) {
        GIVE(free_entries, entry);
        return 0;
    }
    note_near(entry);
    __atomic_store_n(&entry->generation, entry->generation + 1, __ATOMIC_RELEASE);
    STORE(range_count, range_count + 1);
    widen_span(base, base + bytes);
    return 1;
}

int addresses_map(struct memory *memory, uint64_t base, uint64_t bytes, uint64_t own)
{
    if (!memory || base + bytes <= base)
        return 0;
    addresses_unmap_all(base, bytes);
    memory_object_hold(memory);
    lock_take(&lock);
    int added = !overlapping(base, base + bytes) && add_range(memory, base, bytes, own);
    lock_drop(&lock);
    if (!added)
        memory_object_drop(memory);
    return added;
}

struct memory *addresses_unmap(uint64_t base)
{
    lock_take(&lock);
    struct range_entry *entry = range_index_before(base);
    struct memory *memory = entry && entry->range.begin == base ? remove_range(entry) : NULL;
    lock_drop(&lock);
    return memory;
}

uint32_t addresses_count(void)
{
    return LOAD(range_count);
}

/* In the child no operation has touched any memory: what the ledgers name are lanes of the parent's. */
static void forget_who_touched(void)
{
    struct range_entry *entry = range_index_before(UINT64_MAX);
    while (entry) {
        struct memory *memory = entry->range.memory, *reservation = memory_object_reservation(memory);
        if (memory->ledger)
            memory->ledger = NULL;
        if (reservation && reservation->ledger)
            reservation->ledger = NULL;
        entry = entry->range.begin ? range_index_before(entry->range.begin - 1) : NULL;
    }
}

/* A change that another thread had begun may have left the index half made: then all ranges are forgotten. */
void addresses_after_fork(void)
{
    lock.held = 0;
    memory_object_after_fork();
    if (changes % 2 == 0) {
        forget_who_touched();
        return;
    }
    range_index_forget();
    range_count = 0;
    changes++;
}
