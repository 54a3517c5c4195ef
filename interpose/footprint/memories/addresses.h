/* SPDX-License-Identifier: Apache-2.0
 *
 * Which memory lies at which addresses. An address belongs to one memory at most; a memory may have several ranges (one
 * physical chunk mapped twice, registered host memory and its device address). Changes take the addresses' lock; lookup.h
 * finds without one.
 */
#ifndef PTDS_ADDRESSES_H
#define PTDS_ADDRESSES_H

#include "interpose/footprint/memories/address_span.h"
#include "interpose/footprint/memories/memory_object.h"

/* A range, copied out: it may be gone by now, and the memory may serve for another one. */
struct memory_range {
    struct memory *memory; /* NULL: there is no range */
    uint64_t begin, end;
    uint64_t shift; /* added to an address gives the memory's own address, the same for all its ranges */
};

/* Arithmetic on a pointer may leave its memory by so many bytes: arrays that count from one, ends that are counted down
 * from. A pointer means the memory where it points to, and each that begins or ends so near. */
enum { ADDRESSES_NEAR = 64 << 10 };

/* Another range ends, or begins, that near. */
enum range_near { NEAR_BEFORE = 1, NEAR_BEHIND = 2 };

/* A range as it is kept; the entry serves for other ranges later. What is read of it holds if `generation` is the same
 * before and after. */
struct range_entry {
    uint32_t generation; /* odd: it is no range's at the moment */
    uint32_t near;       /* enum range_near; grows as long as the range is there */
    struct memory_range range;
    struct range_entry *next_free;
};

/* From ADDRESSES_NEAR before the lowest address that was ever added to as much behind the highest. */
extern uint64_t addresses_low[ADDRESS_SPANS], addresses_high[ADDRESS_SPANS];
static inline struct address_spans addresses_spans(void)
{
    return (struct address_spans){
        {address_span_of(&addresses_low[0], &addresses_high[0]), address_span_of(&addresses_low[1], &addresses_high[1])}};
}

/* Addresses from `begin` up to `end` may be pointers, though no memory is mapped there yet. Takes the lock. */
void addresses_widen(uint64_t begin, uint64_t end);

/* Maps the memory at [base, base + bytes); what lay there before is gone (its end was not seen). own: the memory's own
 * address of the first byte. The range holds the memory. 0: nothing is mapped: memory is NULL, bytes is 0, or there is no
 * memory to remember it. Takes the lock; calls memory_object_drop without it. */
int addresses_map(struct memory *memory, uint64_t base, uint64_t bytes, uint64_t own);

/* Unmaps the range that starts at `base`. Returns its memory, and the range's hold on it becomes the caller's; NULL: no
 * range starts there. Takes the lock. */
struct memory *addresses_unmap(uint64_t base);

/* Unmaps each range with a byte in [base, base + bytes), and drops their memories. Takes the lock; drops without it. */
void addresses_unmap_all(uint64_t base, uint64_t bytes);

/* Unmaps the same ranges into a list, which the caller owns until it puts them back or gives them back. Takes the lock. */
struct range_entry *addresses_take_out(uint64_t base, uint64_t bytes);
void addresses_put_back(struct range_entry *taken);
void addresses_give_back(struct range_entry *taken);

/* Unmaps each range of the memory, which the caller holds. Looks at each range that there is, unless the memory has none.
 * Takes the lock; drops without it. */
void addresses_unmap_memory(struct memory *memory);

/* The last range of the memory that begins at or before the address. Walks over ranges. Takes the lock. */
struct memory_range addresses_last_of(const struct memory *memory, uint64_t address);

/* The entry of the last range that begins at or before the address; NULL none. Takes the lock only where 64 tries met
 * changes. The entry's content holds as struct range_entry says. */
struct range_entry *addresses_entry(uint64_t address);

/* How many ranges there are. */
uint32_t addresses_count(void);

/* In a forked child: locks are free, and no memory has been touched yet. */
void addresses_after_fork(void);

#endif
