/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds memories by address, on the hottest path there is: what a thread found last is found at once. Called by whatever
 * looks at pointers. Must not call the driver, nor take a lock while no change is under way.
 */
#include "interpose/footprint/memories/lookup.h"

#include "interpose/footprint/memories/reservations.h"
#include "interpose/footprint/memories/unlocked.h"

/* Copies the range out. 1: the entry is of this generation, and its range contains the address. */
static inline int read_range(const struct range_entry *entry, uint32_t generation, uint64_t address,
                             struct memory_range *range)
{
    if (__atomic_load_n(&entry->generation, __ATOMIC_ACQUIRE) != generation)
        return 0;
    range->begin = LOAD(entry->range.begin);
    range->end = LOAD(entry->range.end);
    range->shift = LOAD(entry->range.shift);
    range->memory = LOAD(entry->range.memory);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return address >= range->begin && address < range->end && LOAD(entry->generation) == generation;
}

static __attribute__((noinline)) struct memory_range find_slow(struct thread *thread, uint64_t address)
{
    struct memory_range range = {NULL, 0, 0, 0};
    struct range_entry *entry = addresses_entry(address);
    uint32_t generation = entry ? __atomic_load_n(&entry->generation, __ATOMIC_ACQUIRE) : 1;
    if (generation % 2 || !read_range(entry, generation, address, &range))
        return (struct memory_range){NULL, 0, 0, 0};
    if (thread && !thread->memories)
        thread->memories = pages_keep(sizeof *thread->memories);
    struct memory_cache *cache = thread ? thread->memories : NULL;
    if (cache && range.end - range.begin >= LOOKUP_LARGE) {
        cache->large[lookup_large(address)].entry = entry;
        cache->large[lookup_large(address)].generation = generation;
    } else if (cache) {
        cache->small[lookup_small(address)].entry = entry;
        cache->small[lookup_small(address)].generation = generation;
    }
    return range;
}

struct memory_range lookup_range(struct thread *thread, uint64_t address)
{
    struct memory_cache *cache = thread ? thread->memories : NULL;
    struct memory_range range;
    if (__builtin_expect(cache != NULL, 1)) {
        uint32_t large = lookup_large(address), small = lookup_small(address);
        if (cache->large[large].entry &&
            read_range(cache->large[large].entry, cache->large[large].generation, address, &range))
            return range;
        if (cache->small[small].entry &&
            read_range(cache->small[small].entry, cache->small[small].generation, address, &range))
            return range;
    }
    return find_slow(thread, address);
}

static struct memory *among_last(struct memory_cache *cache, uint64_t address, size_t word)
{
    const struct found_entry *found = &cache->large[lookup_large(address)];
    struct memory *memory = lookup_in_range(found->entry, found->generation, address);
    if (!memory) {
        found = &cache->small[lookup_small(address)];
        memory = lookup_in_range(found->entry, found->generation, address);
    }
    if (memory)
        cache->at_word[word % LOOKUP_WORDS] = *found;
    return memory;
}

struct memory *lookup_memory_anew(struct thread *thread, uint64_t address, size_t word)
{
    struct memory_cache *cache = thread->memories;
    if (!cache) { /* made with the first find */
        lookup_range(thread, address);
        cache = thread->memories;
    }
    if (!cache)
        return NULL;
    struct memory *memory = among_last(cache, address, word);
    if (!memory && lookup_range(thread, address).memory) /* lookup_range puts it into the cache; it is not taken from there
                                                            where the address means more than one memory */
        memory = among_last(cache, address, word);
    return memory;
}

/* Where the range goes at this moment, the search is made once more. */
struct memory_range lookup_last_at(uint64_t address)
{
    struct memory_range range = {NULL, 0, 0, 0};
    for (int tries = 0; tries < 64; tries++) {
        struct range_entry *entry = addresses_entry(address);
        uint32_t generation = entry ? __atomic_load_n(&entry->generation, __ATOMIC_ACQUIRE) : 0;
        if (!entry || (generation % 2 == 0 && read_range(entry, generation, LOAD(entry->range.begin), &range)))
            return range;
        range.memory = NULL;
    }
    return range;
}

/* The memories near the address, but for the one where it lies: walks down from the last range that begins near enough to
 * the first that ends near enough. */
static unsigned beside(uint64_t address, const struct memory_range *in, struct memory **found, unsigned most)
{
    unsigned count = 0;
    uint64_t last = address + ADDRESSES_NEAR >= address ? address + ADDRESSES_NEAR : UINT64_MAX;
    for (;;) {
        struct memory_range range = lookup_last_at(last);
        if (!range.memory || (range.end < address && address - range.end > ADDRESSES_NEAR))
            break;
        if (!in->memory || range.begin != in->begin) {
            if (count == most)
                return most + 1;
            found[count++] = range.memory;
        }
        if (!range.begin)
            break;
        last = range.begin - 1;
    }
    return count;
}

unsigned lookup_around(struct thread *thread, uint64_t address, struct memory **found, unsigned most)
{
    struct memory_range range = lookup_range(thread, address);
    struct memory *in = range.memory ? range.memory : reservations_at(address);
    if (!in && address)
        in = reservations_at(address - 1);
    if (in)
        found[0] = in;
    unsigned count = in != NULL;
    if (range.memory && range.begin == address)
        return count;
    return count + beside(address, &range, found + count, most - count);
}
