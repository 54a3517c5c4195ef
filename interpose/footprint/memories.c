/* SPDX-License-Identifier: Apache-2.0
 *
 * The memories and their ranges. Changed under a lock by the wrappers of allocating and freeing calls; read on the hottest
 * path without one. What a reader may still look at is never unmapped: ranges and memories are used again for their like.
 * Must not call the driver.
 */
#include "interpose/footprint/memories.h"

#include "interpose/base/lock.h"
#include "interpose/base/pages.h"
#include "interpose/footprint/ranges.h"
#include "interpose/footprint/tables.h"
#include "interpose/state/thread.h"
#include "interpose/state/uids.h"

uint64_t memories_low[SPANS] = {UINT64_MAX, UINT64_MAX}, memories_high[SPANS];
void (*memories_gone)(struct memory *memory);

static uint32_t changes; /* odd: the ranges are changing */
static uint32_t range_count;
static struct lock lock;
static struct range *free_ranges;
static struct memory_object *free_objects;

/* 1 if the range is of this generation and contains the address. */
static inline int read_range(const struct range *range, uint32_t generation, uint64_t address, struct place *place)
{
    if (__atomic_load_n(&range->generation, __ATOMIC_ACQUIRE) != generation)
        return 0;
    place->begin = LOAD(range->place.begin);
    place->end = LOAD(range->place.end);
    place->shift = LOAD(range->place.shift);
    place->memory = LOAD(range->place.memory);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return address >= place->begin && address < place->end && LOAD(range->generation) == generation;
}

static struct range *find_range(uint64_t address)
{
    for (int tries = 0; tries < 64; tries++) {
        uint32_t before = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
        struct range *range = before % 2 == 0 ? ranges_before(address) : NULL;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (before % 2 == 0 && LOAD(changes) == before)
            return range;
    }
    lock_take(&lock); /* whoever changes them was interrupted */
    struct range *range = ranges_before(address);
    lock_drop(&lock);
    return range;
}

static __attribute__((noinline)) struct place find_slow(struct thread *thread, uint64_t address)
{
    struct place place = {NULL, 0, 0, 0};
    struct range *range = find_range(address);
    uint32_t generation = range ? __atomic_load_n(&range->generation, __ATOMIC_ACQUIRE) : 1;
    if (generation % 2 || !read_range(range, generation, address, &place))
        return (struct place){NULL, 0, 0, 0};
    if (thread && !thread->memories)
        thread->memories = pages_keep(sizeof *thread->memories);
    struct memory_cache *cache = thread ? thread->memories : NULL;
    if (cache && place.end - place.begin >= MEMORY_LARGE) {
        cache->large[memories_large(address)].range = range;
        cache->large[memories_large(address)].generation = generation;
    } else if (cache) {
        cache->small[memories_small(address)].range = range;
        cache->small[memories_small(address)].generation = generation;
    }
    return place;
}

struct place memories_find(struct thread *thread, uint64_t address)
{
    struct memory_cache *cache = thread ? thread->memories : NULL;
    struct place place;
    if (__builtin_expect(cache != NULL, 1)) {
        uint32_t large = memories_large(address), small = memories_small(address);
        if (cache->large[large].range &&
            read_range(cache->large[large].range, cache->large[large].generation, address, &place))
            return place;
        if (cache->small[small].range &&
            read_range(cache->small[small].range, cache->small[small].generation, address, &place))
            return place;
    }
    return find_slow(thread, address);
}

static struct memory *among_last(struct memory_cache *cache, uint64_t address, size_t place)
{
    const struct found_range *found = &cache->large[memories_large(address)];
    struct memory *memory = memories_in_range(found->range, found->generation, address);
    if (!memory) {
        found = &cache->small[memories_small(address)];
        memory = memories_in_range(found->range, found->generation, address);
    }
    if (memory)
        cache->at_place[place % MEMORY_PLACES] = *found;
    return memory;
}

struct memory *memories_memory_anew(struct thread *thread, uint64_t address, size_t place)
{
    struct memory_cache *cache = thread->memories;
    if (!cache) { /* made with the first find */
        memories_find(thread, address);
        cache = thread->memories;
    }
    if (!cache)
        return NULL;
    struct memory *memory = among_last(cache, address, place);
    if (!memory && memories_find(thread, address).memory) /* which puts it there, unless it means more than one */
        memory = among_last(cache, address, place);
    return memory;
}

/* One that goes at this moment is looked for once more. */
struct place memories_last_at(uint64_t address)
{
    struct place place = {NULL, 0, 0, 0};
    for (int tries = 0; tries < 64; tries++) {
        struct range *range = find_range(address);
        uint32_t generation = range ? __atomic_load_n(&range->generation, __ATOMIC_ACQUIRE) : 0;
        if (!range || (generation % 2 == 0 && read_range(range, generation, LOAD(range->place.begin), &place)))
            return place;
        place.memory = NULL;
    }
    return place;
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

/* Nobody finds it any more. */
static void take_out(struct range *range)
{
    begin_change();
    ranges_take_out(range->place.begin);
    end_change();
    STORE(range->generation, range->generation + 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    STORE(range_count, range_count - 1);
}

/* Nor does it serve any more; its memory. */
static struct memory *remove_range(struct range *range)
{
    struct memory *memory = range->place.memory;
    take_out(range);
    GIVE(free_ranges, range);
    return memory;
}

/* The last range that has a byte in [begin, end). */
static struct range *overlapping(uint64_t begin, uint64_t end)
{
    struct range *range = end > begin ? ranges_before(end - 1) : NULL;
    return range && range->place.end > begin ? range : NULL;
}

void memories_unmap_all(uint64_t base, uint64_t bytes)
{
    for (;;) {
        lock_take(&lock);
        struct range *range = overlapping(base, base + bytes);
        struct memory *memory = range ? remove_range(range) : NULL;
        lock_drop(&lock);
        if (!range)
            return;
        memories_drop(memory);
    }
}

struct range *memories_take_out(uint64_t base, uint64_t bytes)
{
    struct range *taken = NULL, *range;
    lock_take(&lock);
    while ((range = overlapping(base, base + bytes))) {
        take_out(range);
        GIVE(taken, range);
    }
    lock_drop(&lock);
    return taken;
}

void memories_give_back(struct range *taken)
{
    while (taken) {
        struct range *range = taken;
        struct memory *memory = range->place.memory;
        taken = range->next_free;
        lock_take(&lock);
        GIVE(free_ranges, range);
        lock_drop(&lock);
        memories_drop(memory);
    }
}

void memories_put_back(struct range *taken)
{
    for (const struct range *range = taken; range; range = range->next_free)
        memories_map(range->place.memory, range->place.begin, range->place.end - range->place.begin,
                     range->place.begin + range->place.shift);
    memories_give_back(taken);
}

void memories_unmap_memory(struct memory *memory)
{
    while (__atomic_load_n(&((struct memory_object *)memory)->held, __ATOMIC_ACQUIRE) > 1) {
        lock_take(&lock);
        struct range *range = ranges_of(memory);
        if (range)
            remove_range(range);
        lock_drop(&lock);
        if (!range)
            return;
        memories_drop(memory);
    }
}

struct place memories_last_of(const struct memory *memory, uint64_t address)
{
    lock_take(&lock);
    const struct range *range = ranges_before(address);
    while (range && range->place.memory != memory)
        range = range->place.begin ? ranges_before(range->place.begin - 1) : NULL;
    struct place place = range ? range->place : (struct place){NULL, 0, 0, 0};
    lock_drop(&lock);
    return place;
}

static void widen_span(uint64_t base, uint64_t end)
{
    uint64_t low = base > MEMORIES_NEAR ? base - MEMORIES_NEAR : 0;
    uint64_t high = end < UINT64_MAX - MEMORIES_NEAR ? end + MEMORIES_NEAR + 1 : UINT64_MAX;
    unsigned i = spans_which(base);
    if (low < memories_low[i])
        STORE(memories_low[i], low);
    if (high > memories_high[i])
        STORE(memories_high[i], high);
}

void memories_widen(uint64_t begin, uint64_t end)
{
    lock_take(&lock);
    widen_span(begin, end);
    lock_drop(&lock);
}

/* Says so of the ones that lie near each other. */
static void note_near(struct range *range)
{
    struct range *before = range->place.begin ? ranges_before(range->place.begin - 1) : NULL;
    uint64_t last = range->place.end < UINT64_MAX - MEMORIES_NEAR ? range->place.end + MEMORIES_NEAR : UINT64_MAX;
    if (before && range->place.begin - before->place.end <= MEMORIES_NEAR) {
        STORE(before->near, before->near | NEAR_BEHIND);
        STORE(range->near, range->near | NEAR_BEFORE);
    }
    for (struct range *behind = ranges_before(last); behind && behind != range;
         behind = ranges_before(behind->place.begin - 1)) {
        STORE(behind->near, behind->near | NEAR_BEFORE);
        STORE(range->near, range->near | NEAR_BEHIND);
    }
}

static int add_range(struct memory *memory, uint64_t base, uint64_t bytes, uint64_t own)
{
    struct range *range = TAKE(free_ranges);
    if (!range)
        return 0;
    if (range->generation % 2 == 0)
        STORE(range->generation, range->generation + 1);
    STORE(range->place.memory, memory);
    STORE(range->place.begin, base);
    STORE(range->place.end, base + bytes);
    STORE(range->place.shift, own - base);
    STORE(range->near, 0);
    begin_change();
    int added = ranges_insert(base, range);
    end_change();
    if (!added) {
        GIVE(free_ranges, range);
        return 0;
    }
    note_near(range);
    __atomic_store_n(&range->generation, range->generation + 1, __ATOMIC_RELEASE);
    STORE(range_count, range_count + 1);
    widen_span(base, base + bytes);
    return 1;
}

int memories_map(struct memory *memory, uint64_t base, uint64_t bytes, uint64_t own)
{
    if (!memory || base + bytes <= base)
        return 0;
    memories_unmap_all(base, bytes);
    memories_hold(memory);
    lock_take(&lock);
    int added = !overlapping(base, base + bytes) && add_range(memory, base, bytes, own);
    lock_drop(&lock);
    if (!added)
        memories_drop(memory);
    return added;
}

struct memory *memories_unmap(uint64_t base)
{
    lock_take(&lock);
    struct range *range = ranges_before(base);
    struct memory *memory = range && range->place.begin == base ? remove_range(range) : NULL;
    lock_drop(&lock);
    return memory;
}

/* Other processes and interfaces count as the host: the program tells them by its own means that work is done. */
static int is_hosts(uint32_t kind)
{
    return kind == PTDS_MEMORY_PINNED || kind == PTDS_MEMORY_REGISTERED || kind == PTDS_MEMORY_MANAGED ||
           kind == PTDS_MEMORY_IPC || kind == PTDS_MEMORY_EXTERNAL;
}

struct memory *memories_new(uint32_t kind, uint64_t base, uint64_t bytes)
{
    lock_take(&lock);
    struct memory_object *object = TAKE(free_objects);
    lock_drop(&lock);
    if (!object)
        return NULL;
    struct memory *memory = &object->memory;
    object->held = 1;
    object->of_graph = 0;
    object->known_since = 0;
    STORE(memory->unknown, UNKNOWN_SOME);
    STORE(memory->base, base);
    STORE(memory->bytes, bytes);
    STORE(memory->kind, (uint8_t)kind);
    STORE(memory->host, (uint8_t)is_hosts(kind));
    STORE(memory->uid, uids_next(OBJECT_MEMORY));
    memory->context_uid = 0;
    return memory;
}

void memories_hold(struct memory *memory)
{
    __atomic_add_fetch(&((struct memory_object *)memory)->held, 1, __ATOMIC_RELAXED);
}

void memories_drop(struct memory *memory)
{
    struct memory_object *object = (struct memory_object *)memory;
    if (!memory || __atomic_sub_fetch(&object->held, 1, __ATOMIC_ACQ_REL))
        return;
    if (memories_gone)
        memories_gone(memory);
    STORE(memory->uid, 0);
    if (object->table)
        tables_give_back(object->table);
    STORE(object->table, NULL);
    memories_drop(object->reservation);
    STORE(object->reservation, NULL);
    lock_take(&lock);
    GIVE(free_objects, object);
    lock_drop(&lock);
}

uint32_t memories_count(void)
{
    return LOAD(range_count);
}

/* In the child nobody has touched any of them: what is noted names lanes of the parent's. */
static void forget_who_touched(void)
{
    struct range *range = ranges_before(UINT64_MAX);
    while (range) {
        struct memory *memory = range->place.memory, *reservation = memories_reservation(memory);
        if (memory->ledger)
            memory->ledger = NULL;
        if (reservation && reservation->ledger)
            reservation->ledger = NULL;
        range = range->place.begin ? ranges_before(range->place.begin - 1) : NULL;
    }
}

/* A change that another thread had begun may have left the blocks half made: then nothing is known any more. */
void memories_after_fork(void)
{
    lock.held = 0;
    if (changes % 2 == 0) {
        forget_who_touched();
        return;
    }
    ranges_forget();
    range_count = 0;
    changes++;
}
