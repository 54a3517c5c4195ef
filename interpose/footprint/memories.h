/* SPDX-License-Identifier: Apache-2.0
 *
 * The memories of the process, found by address. An address range belongs to one memory; a memory may have several ranges
 * (one physical chunk mapped twice, registered host memory and its device address). Found without a lock and in
 * logarithmic time; threads remember what they found last.
 */
#ifndef PTDS_MEMORIES_H
#define PTDS_MEMORIES_H

#include "interpose/footprint/span.h"
#include "interpose/state/touched.h"
#include "interpose/state/thread.h"

struct table;

/* The memory, and what is remembered with it. */
struct memory_object {
    struct memory memory;
    uint32_t held;
    uint8_t of_graph;           /* its allocation is a node: freed outside of the graph, it is back with the next launch */
    uint64_t known_since;       /* tables.c: how much work had been there that may put pointers anywhere */
    struct table *table;        /* of the pointers that lie in it; NULL none */
    struct memory *reservation; /* that it was last mapped in, held; NULL none */
    struct memory_object *next_free;
};
static inline struct table **memories_table(struct memory *memory)
{
    return &((struct memory_object *)memory)->table;
}
static inline uint8_t *memories_of_graph(struct memory *memory)
{
    return &((struct memory_object *)memory)->of_graph;
}

/* The memory of the reservation that it was last mapped in; NULL none. */
static inline struct memory *memories_reservation(struct memory *memory)
{
    return __atomic_load_n(&((struct memory_object *)memory)->reservation, __ATOMIC_ACQUIRE);
}

/* Where pointers that lie in it are kept: a pointer to one chunk of a reservation may reach those in another one. */
static inline struct memory *memories_for_table(struct memory *memory)
{
    struct memory *reservation = memories_reservation(memory);
    return __builtin_expect(reservation != NULL, 0) ? reservation : memory;
}

/* A range, copied out: it may be gone by now, its memory serves for something else then. */
struct place {
    struct memory *memory; /* NULL: none */
    uint64_t begin, end;
    uint64_t shift; /* added to an address gives the memory's own, the same for all its ranges */
};

/* Where the address lies. thread NULL: without its cache. */
struct place memories_find(struct thread *thread, uint64_t address);

/* Arithmetic on a pointer may leave its memory by so much: arrays that count from one, ends that are counted down from. Who
 * has a pointer to a place means what lies there, and what begins or ends so near to it. */
enum { MEMORIES_NEAR = 64 << 10 };

/* Another range ends, or begins, that near. */
enum range_near { NEAR_BEFORE = 1, NEAR_BEHIND = 2 };

/* A range as it is kept, used again for others: what is read of it holds if its generation is the same afterwards. */
struct range {
    uint32_t generation; /* odd: nobody's */
    uint32_t near;       /* enum range_near; grows as long as the range is there */
    struct place place;
    struct range *next_free;
};

/* The thread's last finds: those of small ranges by fine steps of the address, those of large ones by coarse steps, since
 * programs point all over them; and once more by the place of the word among a kernel's parameters. */
enum { MEMORY_CACHE = 64, MEMORY_PLACES = 16, MEMORY_LARGE = 64 << 10 };
struct found_range {
    struct range *range;
    uint32_t generation;
};
struct memory_cache {
    struct found_range small[MEMORY_CACHE], large[MEMORY_CACHE], at_place[MEMORY_PLACES];
};
static inline uint32_t memories_small(uint64_t address)
{
    return (uint32_t)((address >> 8) * 0x9e3779b97f4a7c15u >> 58);
}
static inline uint32_t memories_large(uint64_t address)
{
    return (uint32_t)((address >> 20) * 0x9e3779b97f4a7c15u >> 58);
}

/* Who hands over the beginning of a memory means that one; any other address may mean what lies beside it, too. */
static inline int memories_is_near(unsigned near, uint64_t address, uint64_t begin, uint64_t end)
{
    return address != begin && ((near & NEAR_BEFORE && address - begin <= MEMORIES_NEAR) ||
                                (near & NEAR_BEHIND && end - address <= MEMORIES_NEAR));
}

/* The range's memory if the address lies in it, it is of this generation, and nothing else may be meant. */
static inline struct memory *memories_in_range(const struct range *range, uint32_t generation, uint64_t address)
{
    if (!range || __atomic_load_n(&range->generation, __ATOMIC_ACQUIRE) != generation)
        return NULL;
    uint64_t begin = __atomic_load_n(&range->place.begin, __ATOMIC_RELAXED);
    uint64_t end = __atomic_load_n(&range->place.end, __ATOMIC_RELAXED);
    uint32_t near = __atomic_load_n(&range->near, __ATOMIC_RELAXED);
    struct memory *memory = __atomic_load_n(&range->place.memory, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (address - begin >= end - begin || __atomic_load_n(&range->generation, __ATOMIC_RELAXED) != generation)
        return NULL;
    return __builtin_expect(near && memories_is_near(near, address, begin, end), 0) ? NULL : memory;
}

/* The one memory that the address means, for launches; NULL: ask memories_around. place: of the word among the parameters,
 * any number. */
struct memory *memories_memory_anew(struct thread *thread, uint64_t address, size_t place);
static inline struct memory *memories_memory(struct thread *thread, uint64_t address, size_t place)
{
    const struct memory_cache *cache = thread->memories;
    if (__builtin_expect(cache != NULL, 1)) {
        const struct found_range *found = &cache->at_place[place % MEMORY_PLACES];
        struct memory *memory = memories_in_range(found->range, found->generation, address);
        if (__builtin_expect(memory != NULL, 1))
            return memory;
    }
    return memories_memory_anew(thread, address, place);
}

/* All memories that the address may mean: the one where it lies, or the reservation; and, but for the beginning of a
 * memory, all that begins and ends near it. Returns how many there are, more than `most`, which is at least 1, if there are
 * more. */
unsigned memories_around(struct thread *thread, uint64_t address, struct memory **found, unsigned most);

/* From MEMORIES_NEAR before the lowest address that was ever added to as much behind the highest. */
extern uint64_t memories_low[SPANS], memories_high[SPANS];
static inline struct spans memories_spans(void)
{
    return (struct spans){{span_of(&memories_low[0], &memories_high[0]), span_of(&memories_low[1], &memories_high[1])}};
}

/* Addresses in there may be pointers, though no memory is mapped there yet. */
void memories_widen(uint64_t begin, uint64_t end);

/* A new memory without ranges; NULL without memory to remember it. Held once: memories_drop gives it back. */
struct memory *memories_new(uint32_t kind, uint64_t base, uint64_t bytes);

/* A range of the memory; what lay there before is gone (its end was not seen). Each range holds the memory once. own: the
 * memory's own address of the first byte. */
int memories_map(struct memory *memory, uint64_t base, uint64_t bytes, uint64_t own);

/* Nobody finds the range that starts here any more. Its memory, still held for it; NULL there is none. */
struct memory *memories_unmap(uint64_t base);

/* The same for every range in [base, base + bytes), given back at once. */
void memories_unmap_all(uint64_t base, uint64_t bytes);

/* The same, and all of them in a list, to be put back or given back. */
struct range *memories_take_out(uint64_t base, uint64_t bytes);
void memories_put_back(struct range *taken);
void memories_give_back(struct range *taken);

/* The same for every range of the memory. Walks all there are; done at once where it has none. */
void memories_unmap_memory(struct memory *memory);

/* Of a memory that its handle holds: whether ranges do, too. */
static inline int memories_is_mapped(const struct memory *memory)
{
    return __atomic_load_n(&((const struct memory_object *)memory)->held, __ATOMIC_RELAXED) > 1;
}

void memories_hold(struct memory *memory);
void memories_drop(struct memory *memory);

/* Who wants to know that a memory is gone: the guard. Called without a lock, before it serves for another one. */
extern void (*memories_gone)(struct memory *memory);

/* The last range that begins at or before the address; without a memory: there is none. */
struct place memories_last_at(uint64_t address);

/* The last range of the memory that begins at or before the address; without a memory: there is none. Walks them. */
struct place memories_last_of(const struct memory *memory, uint64_t address);

/* How many ranges there are. */
uint32_t memories_count(void);

void memories_after_fork(void);

#endif
