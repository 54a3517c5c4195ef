/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory by handle. Called by the wrappers, on cold paths. Must not call the driver.
 */
#include "interpose/footprint/allocations/physical.h"

#include "interpose/footprint/allocations/repeat_count.h"
#include "interpose/footprint/memories/lookup.h"

static struct map physical; /* CUmemGenericAllocationHandle, CUexternalMemory -> struct memory *, held */
static struct map retained; /* handle -> how often it must be released beside the last time */

static int learns(const struct call *C)
{
    return C->footprint && C->result == CUDA_SUCCESS;
}

struct memory *physical_memory(uint64_t handle, enum ptds_memory_kind kind, uint64_t base, uint64_t bytes)
{
    struct memory *memory = (struct memory *)map_get(&physical, handle);
    if (memory)
        return memory;
    memory = memory_object_new(kind, base, bytes);
    struct memory *agreed = memory ? (struct memory *)map_get_or_set(&physical, handle, (uint64_t)memory) : NULL;
    if (memory && agreed != memory)
        memory_object_drop(memory);
    return agreed;
}

void physical_created(struct call *C, const CUmemGenericAllocationHandle *handle, size_t bytes,
                      const CUmemAllocationProp *about)
{
    struct memory *memory = NULL;
    if (learns(C) && handle && about && physical_at_host(&about->location))
        memory = physical_memory((uint64_t)*handle, PTDS_MEMORY_MAPPED, 0, bytes);
    if (memory)
        memory->host |= MEMORY_HOSTS | 1;
}

void physical_releasing(struct call *C, uint64_t handle)
{
    if (!C->footprint)
        return;
    C->word[0] = (uint64_t)repeat_count_down(&retained, handle);
    if (!C->word[0])
        C->leaving = (struct memory *)map_remove(&physical, handle);
}

void physical_released(struct call *C, uint64_t handle)
{
    if (C->result == CUDA_SUCCESS)
        memory_object_drop(C->leaving);
    else if (C->leaving)
        map_set(&physical, handle, (uint64_t)C->leaving);
    else if (C->footprint && C->word[0])
        repeat_count_up(&retained, handle);
}

/* A handle that was released before stands for the mapped memory again, as a new handle would. */
void physical_retained(struct call *C, const CUmemGenericAllocationHandle *handle, uint64_t address)
{
    if (!learns(C) || !handle)
        return;
    struct memory *memory = map_get(&physical, *handle) ? NULL : lookup_range(C->thread, address).memory;
    if (memory)
        memory_object_hold(memory);
    if (memory && map_get_or_set(&physical, *handle, (uint64_t)memory) == (uint64_t)memory)
        return;
    repeat_count_up(&retained, *handle);
    memory_object_drop(memory);
}

void physical_after_fork(void)
{
    map_reset(&physical);
    map_reset(&retained);
}
