/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocations that are alive, by address and by uid. Pointers to a memory are valid until the next one is added.
 */
#ifndef PTDS_ANALYSIS_ORDER_MEMORY_LIVE_MEMORIES_H
#define PTDS_ANALYSIS_ORDER_MEMORY_LIVE_MEMORIES_H

#include "analysis/order/engine/engine.h"

/* Made-up addresses, above those of programs: an array's is its handle, a memory of which only the uid is known has its
 * uid. */
#define ARRAYS ((uint64_t)1 << 62)
#define UNNAMED ((uint64_t)1 << 61)

/* By an address inside. _part: the allocation itself; _at: the memory that has its accesses. NULL: none is known. */
struct memory *live_memories_part(struct verdicts *v, uint64_t address);
struct memory *live_memories_at(struct verdicts *v, uint64_t address);
struct memory *live_memories_whole(struct verdicts *v, struct memory *part); /* accepts NULL */
/* Of an address in no memory, by a kernel's pointer: the memory that ends there or begins soon after it. */
struct memory *live_memories_near(struct verdicts *v, uint64_t address);
/* Where the first memory beyond the address begins; UINT64_MAX: there is none. */
uint64_t live_memories_next(const struct verdicts *v, uint64_t address);
/* The memory that stands for every address in no known memory. */
struct memory *live_memories_elsewhere(struct verdicts *v);
/* An address of the memory with this uid, which is added if the trace does not have its allocation. */
uint64_t live_memories_named(struct verdicts *v, uint32_t uid);
/* The memory with this uid (0: not known), or that begins at this address. NULL: none. */
struct memory *live_memories_of(struct verdicts *v, uint32_t uid, uint64_t address);

/* The call allocates memory. NULL: it names none, or there is no room. */
struct memory *live_memories_add(struct verdicts *v, const struct call *call);
/* Adds the memories that were there by `ticks` and of which the allocation is not in the trace. Returns when the next one
 * is due, UINT64_MAX: never. */
uint64_t live_memories_defined(struct verdicts *v, uint64_t ticks);
void live_memories_remove(struct verdicts *v, struct memory *memory);
void live_memories_free(struct verdicts *v);

/* Whether the memory is of this class alone. */
static inline bool live_memories_are_only(const struct memory *memory, uint32_t class)
{
    return (memory->classes & ~TOUCHES_WATCHED) == class;
}

#endif
