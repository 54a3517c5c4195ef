/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays by handle. Called by the wrappers of calls that make, copy and destroy arrays. Must not call the driver.
 */
#include "interpose/footprint/memories/array_handles.h"

#include <string.h>

#include "interpose/footprint/memories/touch_memory.h"
#include "interpose/state/map.h"

static struct map handles; /* CUarray, CUmipmappedArray -> struct memory * */

void array_handles_set(uint64_t handle, struct memory *memory)
{
    map_set(&handles, handle, (uint64_t)memory);
}

struct memory *array_handles_get(uint64_t handle)
{
    return (struct memory *)map_get(&handles, handle);
}

struct memory *array_handles_remove(uint64_t handle)
{
    return (struct memory *)map_remove(&handles, handle);
}

void array_handles_touch(struct touched *touched, uint64_t handle, int writes)
{
    struct memory *memory = array_handles_get(handle);
    if (memory)
        touch_memory_whole(touched, memory, writes);
    else
        touch_memory_opaque(touched, OPAQUE_OTHER);
}

void array_handles_part_of(struct call *C, const void *part, const void *whole)
{
    struct memory *memory = C->footprint && C->result == CUDA_SUCCESS && part ? array_handles_get((uint64_t)whole) : NULL;
    uint64_t handle;
    if (!memory)
        return;
    memcpy(&handle, part, sizeof handle);
    array_handles_set(handle, memory);
}

void array_handles_after_fork(void)
{
    map_reset(&handles);
}
