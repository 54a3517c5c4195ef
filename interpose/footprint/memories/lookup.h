/* SPDX-License-Identifier: Apache-2.0
 *
 * From an address to its memory: without a lock, in logarithmic time, and at once where the thread found it last.
 */
#ifndef PTDS_LOOKUP_H
#define PTDS_LOOKUP_H

#include <stddef.h>

#include "interpose/footprint/memories/addresses.h"
#include "interpose/state/thread.h"

/* The range where the address lies; its memory is NULL where there is none. thread: the calling one, whose cache remembers
 * the answer; NULL: without a cache. */
struct memory_range lookup_range(struct thread *thread, uint64_t address);

/* The thread's last finds: those of small ranges by fine steps of the address, those of large ones by coarse steps, since
 * programs point all over them; and once more by the word of a kernel's parameters that held the address. */
enum { LOOKUP_CACHE = 64, LOOKUP_WORDS = 16, LOOKUP_LARGE = 64 << 10 };
struct found_entry {
    struct range_entry *entry;
    uint32_t generation;
};
struct memory_cache {
    struct found_entry small[LOOKUP_CACHE], large[LOOKUP_CACHE], at_word[LOOKUP_WORDS];
};
static inline uint32_t lookup_small(uint64_t address)
{
    return (uint32_t)((address >> 8) * 0x9e3779b97f4a7c15u >> 58);
}
static inline uint32_t lookup_large(uint64_t address)
{
    return (uint32_t)((address >> 20) * 0x9e3779b97f4a7c15u >> 58);
}

/* Whether another memory begins or ends so near that the address may mean that one. The first address of a memory means
 * this memory alone. */
static inline int lookup_is_near(unsigned near, uint64_t address, uint64_t begin, uint64_t end)
{
    return address != begin && ((near & NEAR_BEFORE && address - begin <= ADDRESSES_NEAR) ||
                                (near & NEAR_BEHIND && end - address <= ADDRESSES_NEAR));
}

/* The entry's memory if the address lies in it, the entry is of this generation, and no other memory may be meant; else
 * NULL. */
static inline struct memory *lookup_in_range(const struct range_entry *entry, uint32_t generation, uint64_t address)
{
    if (!entry || __atomic_load_n(&entry->generation, __ATOMIC_ACQUIRE) != generation)
        return NULL;
    uint64_t begin = __atomic_load_n(&entry->range.begin, __ATOMIC_RELAXED);
    uint64_t end = __atomic_load_n(&entry->range.end, __ATOMIC_RELAXED);
    uint32_t near = __atomic_load_n(&entry->near, __ATOMIC_RELAXED);
    struct memory *memory = __atomic_load_n(&entry->range.memory, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (address - begin >= end - begin || __atomic_load_n(&entry->generation, __ATOMIC_RELAXED) != generation)
        return NULL;
    return __builtin_expect(near && lookup_is_near(near, address, begin, end), 0) ? NULL : memory;
}

/* The one memory that the address means, for launches; NULL: several or none, lookup_around tells. word: the number of the
 * eight-byte word among the parameters that holds the address; any number is right, the same one is fast. */
struct memory *lookup_memory_anew(struct thread *thread, uint64_t address, size_t word);
static inline struct memory *lookup_memory(struct thread *thread, uint64_t address, size_t word)
{
    const struct memory_cache *cache = thread->memories;
    if (__builtin_expect(cache != NULL, 1)) {
        const struct found_entry *found = &cache->at_word[word % LOOKUP_WORDS];
        struct memory *memory = lookup_in_range(found->entry, found->generation, address);
        if (__builtin_expect(memory != NULL, 1))
            return memory;
    }
    return lookup_memory_anew(thread, address, word);
}

/* All memories that the address may mean: the one where it lies, or the reservation; and, unless the address is a memory's
 * first, each that begins or ends within ADDRESSES_NEAR. Fills in `found`, which has room for `most`, at least 1. How many
 * there are; more than `most`: there are more. */
unsigned lookup_around(struct thread *thread, uint64_t address, struct memory **found, unsigned most);

/* The last range that begins at or before the address; its memory is NULL where there is none. */
struct memory_range lookup_last_at(uint64_t address);

#endif
