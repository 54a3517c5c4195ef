/* SPDX-License-Identifier: Apache-2.0
 *
 * Which memories there are: what allocating, mapping and freeing calls say of them. Called by the wrappers, from api.def's
 * before and after columns. Must not ask the driver anything while a capture is open.
 */
#include "interpose/footprint/footprint.h"
#include "interpose/footprint/mappings.h"
#include "interpose/footprint/pools.h"
#include "interpose/footprint/tables.h"
#include "interpose/record/file/rescue.h"
#include "interpose/state/capture.h"
#include "interpose/state/contexts.h"
#include "interpose/state/map.h"

#include <string.h>

static struct map handles; /* CUarray, CUmipmappedArray -> struct memory * */
static struct map buffers; /* OpenGL's that are mapped -> address */

/* The 2000-era functions have 32-bit pointers. */
static uint64_t load(const void *at, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, at, size < sizeof value ? size : sizeof value);
    return value;
}

struct memory *allocations_by_handle(uint64_t handle)
{
    return (struct memory *)map_get(&handles, handle);
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

void footprint_record_alloc(struct call *C, enum ptds_memory_kind kind, uint64_t base, uint64_t bytes, uint32_t uid)
{
    rescue_allocates(C->thread);
    C->object = uid;
    C->word[0] = base;
    C->word[1] = bytes;
    C->word[2] = kind;
    fp_words(C, kind == PTDS_MEMORY_POOL ? PTDS_OP_ALLOC_ASYNC : PTDS_OP_ALLOC, 3);
}

void footprint_record_part(struct call *C, uint32_t of, uint32_t same)
{
    C->word[3] = of;
    C->word[4] = same;
    C->words = 5;
}

/* A free waits for the context whose memory it is (tests/conformance/hostblock_contexts.c). */
static void keep_context(struct call *C, struct memory *memory)
{
    struct context *context = contexts_now(C->thread);
    if (!context || !context->handle)
        return;
    memory->context = context;
    memory->context_uid = context->uid;
}

static void be_in_its_context(struct call *C, const struct memory *memory)
{
    if (memory->context_uid && memory->context->uid == memory->context_uid)
        C->context = memory->context;
}

static struct memory *added(struct call *C, enum ptds_memory_kind kind, uint64_t base, uint64_t bytes)
{
    struct memory *memory = new_memory(kind, base, bytes);
    if (memory)
        keep_context(C, memory);
    footprint_record_alloc(C, kind, base, bytes, memory ? memory->uid : 0);
    if (memory && (kind == PTDS_MEMORY_DEVICE || kind == PTDS_MEMORY_POOL))
        tables_made(memory);
    if (memory)
        touch_whole(&C->touched, memory, 1);
    return memory;
}

/* Of a stream that nobody saw being made nobody knows whether it is capturing. */
static int may_be_captured(const struct call *C)
{
    return C->flags & PTDS_CALL_CAPTURING ||
           (C->flags & PTDS_CALL_CAPTURE_OPEN && !(C->flags & PTDS_CALL_LEGACY) && !C->stream);
}

static void alloc(struct call *C, enum ptds_memory_kind kind, uint64_t base, uint64_t bytes, int in_graph)
{
    struct memory *memory = added(C, kind, base, bytes);
    if (memory && in_graph)
        *memories_of_graph(memory) = 1;
}

void objects_alloc(struct call *C, enum ptds_memory_kind kind, const void *pointer, size_t pointer_size, uint64_t bytes)
{
    if (C->footprint && C->result == CUDA_SUCCESS && pointer)
        alloc(C, kind, load(pointer, pointer_size), bytes, kind == PTDS_MEMORY_POOL && may_be_captured(C));
}

void objects_alloc_node(struct call *C, uint64_t base, uint64_t bytes)
{
    if (C->footprint && C->result == CUDA_SUCCESS)
        alloc(C, PTDS_MEMORY_POOL, base, bytes, 1);
}

static int is_lent(struct call *C, enum ptds_memory_kind kind, uint64_t base, uint64_t bytes)
{
    if (kind == PTDS_MEMORY_ARRAY)
        return allocations_by_handle(base) != NULL;
    const struct place place = memories_find(C->thread, base);
    return place.memory && place.memory->kind == kind && place.begin == base && place.end - base == bytes;
}

void objects_lent(struct call *C, enum ptds_memory_kind kind, const void *pointer, size_t pointer_size, uint64_t bytes)
{
    if (!C->footprint || C->result != CUDA_SUCCESS || !pointer)
        return;
    uint64_t base = load(pointer, pointer_size);
    if (kind != PTDS_MEMORY_ARRAY && !bytes)
        mappings_ask_range(&base, &bytes);
    if (!is_lent(C, kind, base, bytes))
        added(C, kind, base, bytes);
}

/* An EGL frame's planes are arrays, or lie anywhere in memory whose length nobody tells. */
void objects_lent_frame(struct call *C, const void *given)
{
    const struct ptds_egl_frame *frame = given;
    for (unsigned i = 0; C->result == CUDA_SUCCESS && frame && i < frame->planes && i < PTDS_EGL_PLANES; i++)
        objects_lent(C, frame->type == PTDS_EGL_PITCH ? PTDS_MEMORY_EXTERNAL : PTDS_MEMORY_ARRAY, &frame->plane[i],
                     sizeof frame->plane[i], 0);
}

static uint64_t key_of(unsigned buffer)
{
    return buffer | UINT64_C(1) << 32;
}

void objects_gl_mapped(struct call *C, unsigned buffer, const void *pointer, size_t pointer_size, uint64_t bytes)
{
    objects_lent(C, PTDS_MEMORY_EXTERNAL, pointer, pointer_size, bytes);
    if (C->op == PTDS_OP_ALLOC)
        C->op = PTDS_OP_ALLOC_ASYNC; /* it is its stream's work, too */
    if (C->footprint && C->result == CUDA_SUCCESS && pointer)
        map_set(&buffers, key_of(buffer), load(pointer, pointer_size));
}

void objects_alloc_pitch(struct call *C, const void *pointer, size_t pointer_size, const void *pitch, size_t pitch_size,
                         uint64_t height)
{
    if (C->footprint && C->result == CUDA_SUCCESS && pointer && pitch)
        added(C, PTDS_MEMORY_DEVICE, load(pointer, pointer_size), load(pitch, pitch_size) * height);
}

/* For put_back. */
static void keep_place(struct call *C, const struct place *place)
{
    C->word[1] = place->begin;
    C->word[2] = place->end - place->begin;
    C->word[3] = place->begin + place->shift;
}

static void stays(struct call *C, enum ptds_op op, uint64_t base, const struct memory *memory)
{
    C->object = memory ? memory->uid : 0;
    fp_object(C, op, base);
}

/* Nobody finds it from here on, since the address may be another's before the call is back. A graph keeps the address, and
 * the memory is there again when it is launched. */
void fp_free(struct call *C, enum ptds_op op, uint64_t base)
{
    if (!C->footprint)
        return;
    const struct place place = memories_find(C->thread, base);
    if (op != PTDS_OP_ARRAY_DESTROY && place.memory && place.begin == base && *memories_of_graph(place.memory)) {
        stays(C, op, base, place.memory);
        touch_whole(&C->touched, place.memory, 1);
        return;
    }
    C->leaving = op == PTDS_OP_ARRAY_DESTROY ? (struct memory *)map_remove(&handles, base) : memories_unmap(base);
    C->object = C->leaving ? C->leaving->uid : 0;
    fp_object(C, op, base);
    keep_place(C, &place);
    if (!C->leaving)
        return;
    touch_whole(&C->touched, C->leaving, 1);
    if (op != PTDS_OP_FREE_ASYNC)
        be_in_its_context(C, C->leaving);
}

/* In a capture it is a node, which the graph touches: the memory lives until that runs. Nobody tells when that is; whoever
 * gets its address then says so. */
void fp_free_async(struct call *C, uint64_t base, CUstream stream)
{
    if (!C->footprint)
        return;
    if (!capture_takes(C, stream)) {
        fp_free(C, PTDS_OP_FREE_ASYNC, base);
        return;
    }
    stays(C, PTDS_OP_FREE_ASYNC, base, memories_find(C->thread, base).memory);
}

/* Where it was: perhaps at another one of its addresses. */
static void put_back(const struct call *C, struct memory *memory)
{
    if (C->op == PTDS_OP_ARRAY_DESTROY) {
        map_set(&handles, C->word[0], (uint64_t)memory);
        return;
    }
    memories_map(memory, C->word[1], C->word[2], C->word[3]);
    memories_drop(memory);
}

/* Host memory goes with the device address that it had beside its own. */
void objects_freed(struct call *C)
{
    struct memory *memory = C->leaving;
    if (!memory)
        return;
    if (C->result != CUDA_SUCCESS) {
        put_back(C, memory);
        return;
    }
    if (memory->kind == PTDS_MEMORY_PINNED || memory->kind == PTDS_MEMORY_REGISTERED)
        memories_unmap_memory(memory);
    memories_drop(memory);
}

void objects_gl_unmapping(struct call *C, unsigned buffer)
{
    const uint64_t base = C->footprint ? map_remove(&buffers, key_of(buffer)) : 0;
    const struct place place = memories_find(C->thread, base);
    if (!base || !place.memory || place.memory->kind != PTDS_MEMORY_EXTERNAL)
        return;
    C->leaving = memories_unmap(base);
    keep_place(C, &place);
}

void objects_gl_unmapped(struct call *C, unsigned buffer)
{
    if (C->leaving && C->result != CUDA_SUCCESS)
        map_set(&buffers, key_of(buffer), C->word[1]);
    objects_freed(C);
}

void objects_device_pointer(struct call *C, const void *pointer, size_t pointer_size, const void *host)
{
    if (!C->footprint || C->result != CUDA_SUCCESS || !pointer)
        return;
    uint64_t device = load(pointer, pointer_size), address = (uint64_t)host;
    struct place place = memories_find(C->thread, address);
    if (place.memory && device && device != address && memories_find(C->thread, device).memory != place.memory)
        memories_map(place.memory, device - (address - place.begin), place.end - place.begin, place.begin + place.shift);
}

void touch_handle(struct touched *touched, uint64_t handle, int writes)
{
    struct memory *memory = (struct memory *)map_get(&handles, handle);
    if (memory)
        touch_whole(touched, memory, writes);
    else
        touch_opaque(touched, OPAQUE_OTHER);
}

/* To a stream, or to the host. A length of 0 means all of the allocation, and is what programs give. */
static void touch_attached(struct call *C, uint64_t base, uint64_t bytes)
{
    struct memory *memory = bytes ? NULL : memories_find(C->thread, base).memory;
    if (memory)
        touch_whole(&C->touched, memory, 1);
    else
        fp_touch_bytes(C, base, bytes ? bytes : 1, 1);
}

void fp_range(struct call *C, enum ptds_op op, uint64_t base, uint64_t bytes)
{
    C->word[0] = base;
    C->word[1] = bytes;
    fp_words(C, op, 2);
    if (!C->footprint)
        return;
    if (op == PTDS_OP_PREFETCH)
        fp_touch_bytes(C, base, bytes, 0);
    else if (op == PTDS_OP_ATTACH)
        touch_attached(C, base, bytes);
    else
        touch_opaque(&C->touched, OPAQUE_WAITS_FOR_VALUE);
    if (op == PTDS_OP_WRITE_VALUE)
        fp_written(C, base);
}

void allocations_set_handle(uint64_t handle, struct memory *memory)
{
    map_set(&handles, handle, (uint64_t)memory);
}

/* An array that is part of another, a mipmap's level or a plane, or of imported memory. */
void objects_array_of(struct call *C, const void *part, const void *whole)
{
    struct memory *memory =
        C->footprint && C->result == CUDA_SUCCESS && part ? allocations_by_handle((uint64_t)whole) : NULL;
    if (memory)
        map_set(&handles, load(part, sizeof(void *)), (uint64_t)memory);
}

/* A module's variable and a second mapping of the same bytes have uids of their own, and share a memory's. */
int allocations_is_there(const struct ptds_rec_MEMORY *record)
{
    struct place place = {NULL, 0, 0, 0};
    if (record->kind == PTDS_MEMORY_ARRAY)
        place = (struct place){allocations_by_handle(record->address), record->address, 0, 0};
    else
        place = memories_find(NULL, record->address);
    uint32_t uid = place.memory && place.begin == record->address ? place.memory->uid : 0;
    return uid && (uid == record->uid || uid == record->part_of || uid == record->same_as);
}

void allocations_after_fork(void)
{
    map_reset(&handles);
    map_reset(&buffers);
    pools_after_fork();
}
