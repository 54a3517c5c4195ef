/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that allocating and freeing calls make and end. Called by the wrappers, from api.def's before and after columns.
 * Must not ask the driver anything while a capture is open.
 */
#include "interpose/footprint/allocations/allocations.h"

#include <string.h>

#include "interpose/footprint/memories/array_handles.h"
#include "interpose/footprint/memories/lookup.h"
#include "interpose/footprint/memories/touch_memory.h"
#include "interpose/footprint/pointers/pointer_tables.h"
#include "interpose/record/recorder.h"
#include "interpose/state/call_words.h"
#include "interpose/state/capture.h"
#include "interpose/record/file/rescue.h"

/* CUDA 2.0's functions have 32-bit pointers. */
uint64_t allocations_value(const void *at, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, at, size < sizeof value ? size : sizeof value);
    return value;
}

static struct memory *new_memory(enum ptds_memory_kind kind, uint64_t base, uint64_t bytes)
{
    struct memory *memory = memory_object_new(kind, base, bytes);
    if (!memory)
        return NULL;
    if (kind == PTDS_MEMORY_ARRAY) {
        array_handles_set(base, memory);
        return memory;
    }
    addresses_map(memory, base, bytes, base);
    memory_object_drop(memory); /* the range holds the memory */
    return memory;
}

void allocations_record(struct call *C, enum ptds_memory_kind kind, uint64_t base, uint64_t bytes, uint32_t uid)
{
    rescue_allocates(C->thread);
    C->object = uid;
    C->word[0] = base;
    C->word[1] = bytes;
    C->word[2] = kind;
    call_words_set(C, kind == PTDS_MEMORY_POOL ? PTDS_OP_ALLOC_ASYNC : PTDS_OP_ALLOC, 3);
}

void allocations_record_part(struct call *C, uint32_t of, uint32_t same)
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

struct memory *allocations_add(struct call *C, enum ptds_memory_kind kind, uint64_t base, uint64_t bytes)
{
    struct memory *memory = new_memory(kind, base, bytes);
    if (memory)
        keep_context(C, memory);
    allocations_record(C, kind, base, bytes, memory ? memory->uid : 0);
    if (memory && (kind == PTDS_MEMORY_DEVICE || kind == PTDS_MEMORY_POOL))
        pointer_tables_empty(memory);
    if (memory)
        touch_memory_whole(&C->touched, memory, 1);
    return memory;
}

/* Whether a stream is capturing whose creation was not seen, is not known. */
static int may_be_captured(const struct call *C)
{
    return C->flags & PTDS_CALL_CAPTURING ||
           (C->flags & PTDS_CALL_CAPTURE_OPEN && !(C->flags & PTDS_CALL_LEGACY) && !C->stream);
}

static void alloc(struct call *C, enum ptds_memory_kind kind, uint64_t base, uint64_t bytes, int in_graph)
{
    struct memory *memory = allocations_add(C, kind, base, bytes);
    if (memory && in_graph)
        *memory_object_of_graph(memory) = 1;
}

void allocations_made(struct call *C, enum ptds_memory_kind kind, const void *pointer, size_t pointer_size, uint64_t bytes)
{
    if (C->footprint && C->result == CUDA_SUCCESS && pointer)
        alloc(C, kind, allocations_value(pointer, pointer_size), bytes, kind == PTDS_MEMORY_POOL && may_be_captured(C));
}

void allocations_node_made(struct call *C, uint64_t base, uint64_t bytes)
{
    if (C->footprint && C->result == CUDA_SUCCESS)
        alloc(C, PTDS_MEMORY_POOL, base, bytes, 1);
}

void allocations_pitch_made(struct call *C, const void *pointer, size_t pointer_size, const void *pitch, size_t pitch_size,
                            uint64_t height)
{
    if (C->footprint && C->result == CUDA_SUCCESS && pointer && pitch)
        allocations_add(C, PTDS_MEMORY_DEVICE, allocations_value(pointer, pointer_size),
                        allocations_value(pitch, pitch_size) * height);
}

void allocations_keep_range(struct call *C, const struct memory_range *range)
{
    C->word[1] = range->begin;
    C->word[2] = range->end - range->begin;
    C->word[3] = range->begin + range->shift;
}

static void stays(struct call *C, enum ptds_op op, uint64_t base, const struct memory *memory)
{
    C->object = memory ? memory->uid : 0;
    call_words_object(C, op, base);
}

/* The memory is not found from here on, since its address may be another memory's before the call is back. But memory that
 * a graph's node allocates stays: the graph keeps the address, and the memory is there again when the graph is launched. */
void allocations_freeing(struct call *C, enum ptds_op op, uint64_t base)
{
    if (!C->footprint)
        return;
    const struct memory_range range = lookup_range(C->thread, base);
    if (op != PTDS_OP_ARRAY_DESTROY && range.memory && range.begin == base && *memory_object_of_graph(range.memory)) {
        stays(C, op, base, range.memory);
        touch_memory_whole(&C->touched, range.memory, 1);
        return;
    }
    C->leaving = op == PTDS_OP_ARRAY_DESTROY ? array_handles_remove(base) : addresses_unmap(base);
    C->object = C->leaving ? C->leaving->uid : 0;
    call_words_object(C, op, base);
    allocations_keep_range(C, &range);
    if (!C->leaving)
        return;
    touch_memory_whole(&C->touched, C->leaving, 1);
    if (op != PTDS_OP_FREE_ASYNC)
        be_in_its_context(C, C->leaving);
}

/* In a capture the free becomes a node, and the memory lives until a launch of the graph runs the node. No call tells when
 * that is; the next call that is given the memory's address tells. */
void allocations_freeing_async(struct call *C, uint64_t base, CUstream stream)
{
    if (!C->footprint)
        return;
    if (!capture_takes(C, stream)) {
        allocations_freeing(C, PTDS_OP_FREE_ASYNC, base);
        return;
    }
    stays(C, PTDS_OP_FREE_ASYNC, base, lookup_range(C->thread, base).memory);
}

/* Where the memory was: perhaps at another one of its addresses. */
static void put_back(const struct call *C, struct memory *memory)
{
    if (C->op == PTDS_OP_ARRAY_DESTROY) {
        array_handles_set(C->word[0], memory);
        return;
    }
    addresses_map(memory, C->word[1], C->word[2], C->word[3]);
    memory_object_drop(memory);
}

/* Host memory goes together with the device address that it had beside its own. */
void allocations_freed(struct call *C)
{
    struct memory *memory = C->leaving;
    if (!memory)
        return;
    if (C->result != CUDA_SUCCESS) {
        put_back(C, memory);
        return;
    }
    if (memory->kind == PTDS_MEMORY_PINNED || memory->kind == PTDS_MEMORY_REGISTERED)
        addresses_unmap_memory(memory);
    memory_object_drop(memory);
}

void allocations_device_pointer(struct call *C, const void *pointer, size_t pointer_size, const void *host)
{
    if (!C->footprint || C->result != CUDA_SUCCESS || !pointer)
        return;
    uint64_t device = allocations_value(pointer, pointer_size), address = (uint64_t)host;
    struct memory_range range = lookup_range(C->thread, address);
    if (range.memory && device && device != address && lookup_range(C->thread, device).memory != range.memory)
        addresses_map(range.memory, device - (address - range.begin), range.end - range.begin, range.begin + range.shift);
}

/* A module's variable and a second mapping of the same bytes have uids of their own in the record, and share one memory
 * here. */
int allocations_is_there(const struct ptds_rec_MEMORY *record)
{
    struct memory_range range = {NULL, 0, 0, 0};
    if (record->kind == PTDS_MEMORY_ARRAY)
        range = (struct memory_range){array_handles_get(record->address), record->address, 0, 0};
    else
        range = lookup_range(NULL, record->address);
    uint32_t uid = range.memory && range.begin == record->address ? range.memory->uid : 0;
    return uid && (uid == record->uid || uid == record->part_of || uid == record->same_as);
}
