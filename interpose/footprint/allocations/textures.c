/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface objects by handle. Called by the wrappers that make and destroy them, and by launches for words that
 * may be handles. What an object was made of and nobody has seen makes the kernel that gets it touch everything.
 */
#include "interpose/footprint/allocations/textures.h"

#include "interpose/footprint/allocations/mappings.h"
#include "interpose/footprint/memories/array_handles.h"
#include "interpose/footprint/memories/lookup.h"
#include "interpose/footprint/memories/reservations.h"
#include "interpose/footprint/memories/touch_memory.h"
#include "interpose/state/map.h"

/* [0] textures, [1] surfaces: handle -> the memory's uid << 1 | 1, and in the second map the memory. */
static struct map uids[2], memories[2];
enum { UNKNOWN = 1 }; /* in the place of a uid: the memory was not seen being made */

static struct memory *at_address(struct call *C, uint64_t address)
{
    struct memory *memory = lookup_range(C->thread, address).memory;
    return memory ? reservations_lasting(memory, address) : NULL;
}

static struct memory *made_of(struct call *C, const CUDA_RESOURCE_DESC *resource)
{
    switch (resource->resType) {
    case CU_RESOURCE_TYPE_ARRAY: return array_handles_get((uint64_t)resource->res.array.hArray);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: return array_handles_get((uint64_t)resource->res.mipmap.hMipmappedArray);
    case CU_RESOURCE_TYPE_LINEAR: return at_address(C, resource->res.linear.devPtr);
    case CU_RESOURCE_TYPE_PITCH2D: return at_address(C, resource->res.pitch2D.devPtr);
    default: return NULL;
    }
}

void textures_made(struct call *C, const CUtexObject *object, const CUDA_RESOURCE_DESC *resource, int surface)
{
    if (!C->footprint || C->result != CUDA_SUCCESS || !object || !resource)
        return;
    struct memory *memory = made_of(C, resource);
    if (memory)
        map_set(&memories[surface], *object, (uint64_t)memory);
    else
        map_remove(&memories[surface], *object);
    map_set(&uids[surface], *object, memory ? (uint64_t)memory->uid << 1 | 1 : UNKNOWN);
}

/* 0: there is no such object. *memory NULL: the object's memory is not known, or gone. */
static int look_up(uint64_t word, int surface, struct memory **memory)
{
    uint64_t uid = map_get(&uids[surface], word);
    *memory = uid ? (struct memory *)map_get(&memories[surface], word) : NULL;
    if (*memory && (*memory)->uid != (uint32_t)(uid >> 1))
        *memory = NULL;
    return uid != 0;
}

/* The handle may be another object's at once, so the work that may use this object has to be done. */
void textures_gone(struct call *C, CUtexObject object, int surface)
{
    struct memory *memory;
    if (!C->footprint)
        return;
    if (look_up(object, surface, &memory) && memory)
        touch_memory_whole(&C->touched, memory, 1);
    else
        touch_memory_opaque(&C->touched, OPAQUE_TEXTURE);
    mappings_leave(C);
    C->word[0] = map_remove(&uids[surface], object);
    C->word[1] = map_remove(&memories[surface], object);
}

/* Where the driver refused, the object is there again, unless another one has its handle by now. */
void textures_left(struct call *C, CUtexObject object, int surface)
{
    if (!C->footprint || C->result == CUDA_SUCCESS || !C->word[0])
        return;
    if (map_get_or_set(&uids[surface], object, C->word[0]) == C->word[0] && C->word[1])
        map_set(&memories[surface], object, C->word[1]);
}

int textures_touch(struct touched *touched, uint64_t word, int writes)
{
    int found = 0;
    for (int surface = 0; surface < 2; surface++) {
        struct memory *memory;
        if (!look_up(word, surface, &memory))
            continue;
        found |= surface || !writes;
        if (memory)
            touch_memory_whole(touched, memory, surface && writes);
        else
            touch_memory_opaque(touched, OPAQUE_TEXTURE);
    }
    return found;
}

void textures_after_fork(void)
{
    for (int surface = 0; surface < 2; surface++) {
        map_reset(&uids[surface]);
        map_reset(&memories[surface]);
    }
}
