/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorted blocks of ranges under a sorted directory. Called by memories.c. Read while it changes: blocks are used again for
 * their like, an outgrown directory stays. Must not call the driver.
 */
#include "interpose/footprint/ranges.h"

#include "interpose/base/pages.h"

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
static struct block *free_blocks;

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

struct range *ranges_before(uint64_t address)
{
    const struct directory *in = __atomic_load_n(&directory, __ATOMIC_ACQUIRE);
    if (!in || LOAD(in->count) == 0)
        return NULL;
    const struct block *block = LOAD(in->at[block_of(in, address)].block);
    uint32_t at = ranges_up_to(block, address);
    return at ? LOAD(block->range[at - 1]) : NULL;
}

/* Room for another block at the directory's place `at`. */
static int widen_directory(uint32_t at)
{
    struct directory *old = directory;
    uint32_t count = old ? old->count : 0;
    if (!old || count == old->capacity) {
        uint32_t capacity = old ? old->capacity * 2 : 255;
        struct directory *larger = pages_map(sizeof *larger + capacity * sizeof larger->at[0]);
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

int ranges_insert(uint64_t first, struct range *range)
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

void ranges_take_out(uint64_t first)
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

struct range *ranges_of(const struct memory *memory)
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

void ranges_forget(void)
{
    directory = NULL;
}
