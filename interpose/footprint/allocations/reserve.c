/* SPDX-License-Identifier: Apache-2.0
 *
 * A reservation is a memory besides those of the chunks that are mapped in it: kernels touch it as a whole, copies their
 * addresses in it. Called by the wrappers, on cold paths. Must not call the driver.
 */
#include "interpose/footprint/allocations/reserve.h"

#include "interpose/footprint/memories/addresses.h"
#include "interpose/footprint/memories/reservations.h"
#include "interpose/footprint/pointers/pointer_tables.h"

void reserve_made(struct call *C, const CUdeviceptr *base, size_t bytes)
{
    if (!C->footprint || C->result != CUDA_SUCCESS || !base)
        return;
    struct memory *memory = memory_object_new(PTDS_MEMORY_MAPPED, *base, bytes);
    if (!memory)
        return;
    memory->host |= MEMORY_RESERVATION;
    pointer_tables_empty(memory);
    addresses_widen(*base, *base + bytes);
    reservations_add(memory);
}

void reserve_freeing(struct call *C, CUdeviceptr base)
{
    if (C->footprint)
        C->leaving = reservations_remove(base);
}

void reserve_freed(struct call *C)
{
    if (C->leaving && C->result == CUDA_SUCCESS)
        memory_object_drop(C->leaving);
    else if (C->leaving)
        reservations_add(C->leaving);
}

/* Physical memory that is mapped in two reservations at once joins what both reach: their chunks are not told apart from
 * then on (MEMORY_SHARED). */
void reserve_mapped(struct memory *memory, uint64_t base, uint64_t bytes)
{
    struct memory **slot = &((struct memory_object *)memory)->reservation, *before;
    struct memory *now = reservations_hold_at(base);
    if (!now)
        return;
    before = __atomic_exchange_n(slot, now, __ATOMIC_ACQ_REL);
    if (before && before != now) {
        pointer_tables_copied(now, base, before, before->base, bytes, 0);
        if (memory_object_is_mapped(memory))
            before->host |= MEMORY_SHARED, now->host |= MEMORY_SHARED;
    }
    memory->host |= MEMORY_RESERVED;
    now->host |= memory->host & MEMORY_OTHERS;
    memory_object_drop(before);
}
