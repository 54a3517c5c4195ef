/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that others have, too. Called by the wrappers, on cold paths. Must not ask the driver anything while a capture is
 * open.
 */
#include "interpose/footprint/allocations/shared_memory.h"

#include "interpose/footprint/allocations/allocations.h"
#include "interpose/footprint/allocations/driver_range.h"
#include "interpose/footprint/allocations/mappings.h"
#include "interpose/footprint/allocations/physical.h"
#include "interpose/footprint/allocations/repeat_count.h"
#include "interpose/footprint/memories/array_handles.h"
#include "interpose/footprint/memories/lookup.h"
#include "interpose/footprint/memories/reservations.h"
#include "interpose/state/call_words.h"

static struct map opened; /* address of another process's memory -> how often it was opened beside the first time */
static uint32_t exports;  /* memory of this process was handed out: what is imported may be its own */

static int learns(const struct call *C)
{
    return C->footprint && C->result == CUDA_SUCCESS;
}

/* Other processes can touch the memory from here on; the host tells them by its own means when they may. */
static void exported(struct call *C, struct memory *memory)
{
    __atomic_store_n(&exports, 1, __ATOMIC_RELAXED);
    if (memory)
        mappings_show(C, memory);
}

void shared_memory_exported_handle(struct call *C, uint64_t handle)
{
    if (learns(C))
        exported(C, physical_memory(handle, PTDS_MEMORY_MAPPED, 0, 0));
}

void shared_memory_exported(struct call *C, uint64_t base, uint64_t bytes)
{
    struct memory_range range = {NULL, 0, 0, 0};
    if (!learns(C))
        return;
    do {
        range = lookup_range(C->thread, base);
        exported(C, range.memory);
    } while (range.memory && range.end - base < bytes && (bytes -= range.end - base, base = range.end, 1));
}

/* Programs give an int or a bool: the first byte tells. */
void shared_memory_synchronous(struct call *C, const void *value, uint64_t base)
{
    struct memory *memory = learns(C) ? lookup_range(C->thread, base).memory : NULL;
    shared_memory_exported(C, base, 0);
    if (memory && value && *(const uint8_t *)value)
        memory->host |= MEMORY_SYNCHRONOUS;
    else if (memory)
        memory->host &= (uint8_t)~MEMORY_SYNCHRONOUS;
}

static void may_be_ours(struct memory *memory)
{
    if (memory && __atomic_load_n(&exports, __ATOMIC_RELAXED))
        reservations_mark(memory, MEMORY_SHARED);
}

void shared_memory_imported(struct call *C, const void *handle)
{
    if (learns(C) && handle && __atomic_load_n(&exports, __ATOMIC_RELAXED))
        may_be_ours(physical_memory(*(const uint64_t *)handle, PTDS_MEMORY_MAPPED, 0, 0));
}

/* The object's bytes are those of the memory that is bound to it. */
void shared_memory_bound(struct call *C, CUmemGenericAllocationHandle object, struct memory *memory, uint64_t handle)
{
    struct memory *all = learns(C) ? physical_memory((uint64_t)object, PTDS_MEMORY_MAPPED, 0, 0) : NULL;
    if (!memory && all)
        memory = physical_memory(handle, PTDS_MEMORY_MAPPED, 0, 0);
    if (all)
        reservations_mark(all, MEMORY_SHARED);
    if (all && memory)
        reservations_mark(memory, MEMORY_SHARED);
}

/* Whether memory that was opened before is open once more. If the driver gives other bounds, the earlier memory went
 * without a call. */
static int is_open(const struct memory_range *range, int known, uint64_t base, uint64_t bytes)
{
    return range->memory && range->memory->kind == PTDS_MEMORY_IPC &&
           (!known || (range->begin == base && range->end - range->begin == bytes));
}

void shared_memory_opened(struct call *C, const CUdeviceptr *pointer)
{
    if (!learns(C) || !pointer)
        return;
    uint64_t base = *pointer, bytes = 0, given = base;
    int known = driver_range_ask(&base, &bytes);
    struct memory_range range = lookup_range(C->thread, given);
    if (is_open(&range, known, base, bytes)) {
        repeat_count_up(&opened, given);
        allocations_record(C, PTDS_MEMORY_IPC, range.begin, range.end - range.begin, range.memory->uid);
        return;
    }
    map_remove(&opened, given);
    addresses_unmap_all(given, 1); /* whatever other memory was there has gone */
    struct memory *memory = known ? memory_object_new(PTDS_MEMORY_IPC, base, bytes) : NULL;
    allocations_record(C, PTDS_MEMORY_IPC, base, bytes, memory ? memory->uid : 0);
    may_be_ours(memory);
    addresses_map(memory, base, bytes, base);
    memory_object_drop(memory);
}

/* A word behind those that allocations_freeing uses: the memory stays open, since it was opened more than once. */
enum { CLOSED = 4 };

void shared_memory_closing(struct call *C, CUdeviceptr base)
{
    if (!C->footprint)
        return;
    int last = !repeat_count_down(&opened, base);
    struct memory_range range = lookup_range(C->thread, base);
    if (last)
        allocations_freeing(C, PTDS_OP_FREE, range.memory ? range.begin : base);
    C->object = range.memory ? range.memory->uid : 0;
    call_words_object(C, PTDS_OP_FREE, base);
    C->word[CLOSED] = (uint64_t)!last;
}

void shared_memory_closed(struct call *C, CUdeviceptr base)
{
    if (C->footprint && C->result != CUDA_SUCCESS && C->word[CLOSED])
        repeat_count_up(&opened, base);
    allocations_freed(C);
}

void shared_memory_external_buffer(struct call *C, const CUdeviceptr *pointer, CUexternalMemory external,
                                   const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *about)
{
    if (learns(C) && pointer && about)
        mappings_add(C, PTDS_MEMORY_EXTERNAL, (uint64_t)external, *pointer, about->size, about->offset);
    if (learns(C) && pointer)
        may_be_ours(lookup_range(C->thread, *pointer).memory);
}

void shared_memory_external_array(struct call *C, const CUmipmappedArray *array, CUexternalMemory external)
{
    struct memory *memory = learns(C) && array ? physical_memory((uint64_t)external, PTDS_MEMORY_EXTERNAL, 0, 0) : NULL;
    if (!memory)
        return;
    memory_object_hold(memory); /* for the array's handle, which is destroyed apart from the external memory's */
    array_handles_set((uint64_t)*array, memory);
}

void shared_memory_after_fork(void)
{
    map_reset(&opened);
}
