/* SPDX-License-Identifier: Apache-2.0
 *
 * The memories by address: sorted blocks of ranges under a sorted directory. Changed under a lock by the wrappers of
 * allocating and freeing calls; read on the hottest path without one. What a reader may still look at is never unmapped:
 * ranges, memories and blocks are used again for their like, an outgrown directory stays. Must not call the driver.
 */
#include "interpose/footprint/memories.h"

#include "interpose/base/lock.h"
#include "interpose/base/memory.h"
#include "interpose/footprint/tables.h"
#include "interpose/state/objects.h"
#include "interpose/state/thread.h"

#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

uint64_t memories_low = UINT64_MAX, memories_high;
void (*memories_gone)(struct memory *memory);

#define BLOCK 64u
struct block {
    uint32_t count;
    uint64_t first[BLOCK];
    struct range *range[BLOCK];
    struct block *next_free;
};

struct directory {
    uint32_t capacity, count;
    struct directory_entry {
        uint64_t first;
        struct block *block;
    } at[];
};

static struct directory *directory;
static uint32_t changes; /* odd: the ranges are changing */
static uint32_t range_count;
static struct lock lock;
static struct range *free_ranges;
static struct block *free_blocks;
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

/* The last block that starts at or before the address; 0 where none does, too. */
static uint32_t block_of(const struct directory *in, uint64_t address)
{
    uint32_t low = 0, high = LOAD(in->count);
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (LOAD(in->at[middle].first) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : 0;
}

/* The number of ranges in the block that start at or before the address. */
static uint32_t ranges_up_to(const struct block *block, uint64_t address)
{
    uint32_t low = 0, high = LOAD(block->count);
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (LOAD(block->first[middle]) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The last range that starts at or before the address. */
static struct range *range_before(uint64_t address)
{
    const struct directory *in = __atomic_load_n(&directory, __ATOMIC_ACQUIRE);
    if (!in || LOAD(in->count) == 0)
        return NULL;
    const struct block *block = LOAD(in->at[block_of(in, address)].block);
    uint32_t at = ranges_up_to(block, address);
    return at ? LOAD(block->range[at - 1]) : NULL;
}

static struct range *find_range(uint64_t address)
{
    for (int tries = 0; tries < 64; tries++) {
        uint32_t before = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
        struct range *range = before % 2 == 0 ? range_before(address) : NULL;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (before % 2 == 0 && LOAD(changes) == before)
            return range;
    }
    lock_take(&lock); /* whoever changes them was interrupted */
    struct range *range = range_before(address);
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
        thread->memories = memory_keep(sizeof *thread->memories);
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

/* Smaller ones may lie in between: from the last to the first. */
struct memory *memories_after(uint64_t address, uint64_t within)
{
    struct memory *found = NULL;
    for (uint64_t last = address + within; last > address;) {
        struct place place = {NULL, 0, 0, 0};
        struct range *range = find_range(last);
        uint32_t generation = range ? __atomic_load_n(&range->generation, __ATOMIC_ACQUIRE) : 1;
        uint64_t begin = generation % 2 ? 0 : LOAD(range->place.begin);
        if (begin <= address || !read_range(range, generation, begin, &place))
            break;
        found = place.memory;
        last = begin - 1;
    }
    return found;
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

/* Takes from a list of free ones, or new memory. */
#define TAKE(list) \
    __extension__({ \
        __typeof__(list) taken = list; \
        if (taken) \
            list = taken->next_free; \
        else \
            taken = memory_keep(sizeof *taken); \
        taken; \
    })
#define GIVE(list, item) \
    do { \
        (item)->next_free = list; \
        list = item; \
    } while (0)

/* Room for another block at the directory's place `at`. */
static int widen_directory(uint32_t at)
{
    struct directory *old = directory;
    uint32_t count = old ? old->count : 0;
    if (!old || count == old->capacity) {
        uint32_t capacity = old ? old->capacity * 2 : 255;
        struct directory *larger = memory_pages(sizeof *larger + capacity * sizeof larger->at[0]);
        if (!larger)
            return 0;
        larger->capacity = capacity;
        for (uint32_t i = 0; i < count; i++)
            larger->at[i] = old->at[i];
        larger->count = count;
        __atomic_store_n(&directory, larger, __ATOMIC_RELEASE);
    }
    for (uint32_t i = count; i > at; i--) {
        STORE(directory->at[i].first, directory->at[i - 1].first);
        STORE(directory->at[i].block, directory->at[i - 1].block);
    }
    STORE(directory->count, count + 1);
    return 1;
}

static int add_block(uint32_t at, struct block *block, uint64_t first)
{
    if (!widen_directory(at)) {
        GIVE(free_blocks, block);
        return 0;
    }
    STORE(directory->at[at].first, first);
    STORE(directory->at[at].block, block);
    return 1;
}

static void set_slot(struct block *block, uint32_t at, uint64_t first, struct range *range)
{
    STORE(block->first[at], first);
    STORE(block->range[at], range);
}

/* The block's upper half becomes a block of its own. */
static int split(uint32_t at)
{
    struct block *low = directory->at[at].block, *high = TAKE(free_blocks);
    if (!high)
        return 0;
    uint32_t half = BLOCK / 2;
    for (uint32_t i = half; i < BLOCK; i++)
        set_slot(high, i - half, low->first[i], low->range[i]);
    STORE(high->count, BLOCK - half);
    if (!add_block(at + 1, high, low->first[half]))
        return 0;
    STORE(low->count, half);
    return 1;
}

static int insert(uint64_t first, struct range *range)
{
    if (!directory || directory->count == 0) {
        struct block *only = TAKE(free_blocks);
        if (!only)
            return 0;
        STORE(only->count, 0);
        if (!add_block(0, only, first))
            return 0;
    }
    uint32_t at = block_of(directory, first);
    if (directory->at[at].block->count == BLOCK) {
        if (!split(at))
            return 0;
        at = block_of(directory, first);
    }
    struct block *block = directory->at[at].block;
    uint32_t to = ranges_up_to(block, first);
    for (uint32_t i = block->count; i > to; i--)
        set_slot(block, i, block->first[i - 1], block->range[i - 1]);
    set_slot(block, to, first, range);
    STORE(block->count, block->count + 1);
    if (to == 0)
        STORE(directory->at[at].first, first);
    return 1;
}

/* The range that starts exactly here leaves the blocks. */
static void take_out(uint64_t first)
{
    uint32_t at = block_of(directory, first);
    struct block *block = directory->at[at].block;
    uint32_t from = ranges_up_to(block, first) - 1;
    for (uint32_t i = from + 1; i < block->count; i++)
        set_slot(block, i - 1, block->first[i], block->range[i]);
    STORE(block->count, block->count - 1);
    if (block->count) {
        STORE(directory->at[at].first, block->first[0]);
        return;
    }
    for (uint32_t i = at + 1; i < directory->count; i++) {
        STORE(directory->at[i - 1].first, directory->at[i].first);
        STORE(directory->at[i - 1].block, directory->at[i].block);
    }
    STORE(directory->count, directory->count - 1);
    GIVE(free_blocks, block);
}

/* Nobody finds it any more; its memory. */
static struct memory *remove_range(struct range *range)
{
    struct memory *memory = range->place.memory;
    begin_change();
    take_out(range->place.begin);
    end_change();
    STORE(range->generation, range->generation + 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    GIVE(free_ranges, range);
    STORE(range_count, range_count - 1);
    return memory;
}

/* The last range that has a byte in [begin, end). */
static struct range *overlapping(uint64_t begin, uint64_t end)
{
    struct range *range = end > begin ? range_before(end - 1) : NULL;
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

static struct range *range_of(const struct memory *memory)
{
    for (uint32_t at = 0; directory && at < directory->count; at++) {
        const struct block *block = directory->at[at].block;
        for (uint32_t i = 0; i < block->count; i++) {
            if (block->range[i]->place.memory == memory)
                return block->range[i];
        }
    }
    return NULL;
}

void memories_unmap_memory(struct memory *memory)
{
    while (__atomic_load_n(&((struct memory_object *)memory)->held, __ATOMIC_ACQUIRE) > 1) {
        lock_take(&lock);
        struct range *range = range_of(memory);
        if (range)
            remove_range(range);
        lock_drop(&lock);
        if (!range)
            return;
        memories_drop(memory);
    }
}

static void widen_span(uint64_t base, uint64_t end)
{
    uint64_t low = base > MEMORIES_BEFORE ? base - MEMORIES_BEFORE : 0;
    if (low < memories_low)
        STORE(memories_low, low);
    if (end >= memories_high)
        STORE(memories_high, end + 1);
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
    begin_change();
    int added = insert(base, range);
    end_change();
    if (!added) {
        GIVE(free_ranges, range);
        return 0;
    }
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
    struct range *range = range_before(base);
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
    object->unseen = 0;
    STORE(memory->base, base);
    STORE(memory->bytes, bytes);
    STORE(memory->kind, (uint8_t)kind);
    STORE(memory->host, (uint8_t)is_hosts(kind));
    STORE(memory->uid, objects_uid(OBJECT_MEMORY));
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

/* A change that another thread had begun may have left the blocks half made: then nothing is known any more. */
void memories_after_fork(void)
{
    lock.held = 0;
    if (changes % 2 == 0)
        return;
    directory = NULL;
    range_count = 0;
    changes++;
}
