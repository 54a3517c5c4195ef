/* SPDX-License-Identifier: Apache-2.0
 *
 * Which memories there are: what allocating, mapping and freeing calls say of them. Called by the wrappers, from api.def's
 * before and after columns. Must not ask the driver anything while a capture is open.
 */
#include "interpose/footprint/footprint.h"
#include "interpose/footprint/touch.h"
#include "interpose/state/map.h"

#include <string.h>

static struct map handles; /* CUarray, CUmipmappedArray -> struct memory * */

/* The 2000-era functions have 32-bit pointers. */
static uint64_t load(const void *at, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, at, size < sizeof value ? size : sizeof value);
    return value;
}

static struct memory *new_memory(enum ptds_memory_kind kind, uint64_t base, uint64_t bytes)
{
    struct memory *memory = memories_new(kind, base, bytes);
    if (!memory)
        return NULL;
    if (kind == PTDS_MEMORY_ARRAY) {
        map_set(&handles, base, (uint64_t)memory);
        return memory;
    }
    memories_map(memory, base, bytes, base);
    memories_drop(memory); /* its range holds it */
    return memory;
}

static void added(struct call *C, enum ptds_memory_kind kind, uint64_t base, uint64_t bytes)
{
    struct memory *memory = new_memory(kind, base, bytes);
    C->object = memory ? memory->uid : 0;
    C->word[0] = base;
    C->word[1] = bytes;
    C->word[2] = kind;
    fp_words(C, kind == PTDS_MEMORY_POOL ? PTDS_OP_ALLOC_ASYNC : PTDS_OP_ALLOC, 3);
    if (memory)
        touch_whole(&C->touched, memory, 1);
}

void objects_alloc(struct call *C, enum ptds_memory_kind kind, const void *pointer, size_t pointer_size, uint64_t bytes)
{
    if (C->footprint && C->result == CUDA_SUCCESS && pointer)
        added(C, kind, load(pointer, pointer_size), bytes);
}

void objects_alloc_pitch(struct call *C, const void *pointer, size_t pointer_size, const void *pitch, size_t pitch_size,
                         uint64_t height)
{
    if (C->footprint && C->result == CUDA_SUCCESS && pointer && pitch)
        added(C, PTDS_MEMORY_DEVICE, load(pointer, pointer_size), load(pitch, pitch_size) * height);
}

/* A module's variable; asked for again, it keeps its uid. */
void objects_global(struct call *C, const void *pointer, size_t pointer_size, const void *bytes, size_t bytes_size)
{
    if (!C->footprint || C->result != CUDA_SUCCESS || !pointer || !bytes)
        return;
    uint64_t base = load(pointer, pointer_size);
    if (!memories_find(C->thread, base).memory)
        added(C, PTDS_MEMORY_GLOBAL, base, load(bytes, bytes_size));
}

/* Nobody finds it from here on, since the address may be another's before the call is back. */
void fp_free(struct call *C, enum ptds_op op, uint64_t base)
{
    if (!C->footprint)
        return;
    C->leaving = op == PTDS_OP_ARRAY_DESTROY ? (struct memory *)map_remove(&handles, base) : memories_unmap(base);
    C->object = C->leaving ? C->leaving->uid : 0;
    fp_object(C, op, base);
    if (C->leaving)
        touch_whole(&C->touched, C->leaving, 1);
}

static void put_back(struct memory *memory)
{
    if (memory->kind == PTDS_MEMORY_ARRAY)
        map_set(&handles, memory->base, (uint64_t)memory);
    else if (memories_map(memory, memory->base, memory->bytes, memory->base))
        memories_drop(memory);
}

void objects_freed(struct call *C)
{
    if (!C->leaving)
        return;
    if (C->result == CUDA_SUCCESS)
        memories_drop(C->leaving);
    else
        put_back(C->leaving);
}

void touch_handle(struct touched *touched, uint64_t handle, int writes)
{
    struct memory *memory = (struct memory *)map_get(&handles, handle);
    if (memory)
        touch_whole(touched, memory, writes);
    else
        touch_opaque(touched, OPAQUE_OTHER);
}

void fp_range(struct call *C, enum ptds_op op, uint64_t base, uint64_t bytes)
{
    C->word[0] = base;
    C->word[1] = bytes;
    fp_words(C, op, 2);
    if (!C->footprint)
        return;
    if (op == PTDS_OP_PREFETCH || op == PTDS_OP_ATTACH)
        fp_touch_bytes(C, base, bytes, op == PTDS_OP_ATTACH);
    else
        touch_opaque(&C->touched, OPAQUE_WAITS_FOR_VALUE);
}

void allocations_after_fork(void)
{
    map_reset(&handles);
}
