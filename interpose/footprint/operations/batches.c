/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that bring a list of copies, ranges or arrays. Called by the wrappers before the call. The record has no words for
 * a list, so it says that it names no memory; what is touched is exact all the same. Must not read more of a list than the
 * program says that there is, nor what is not there: the driver may refuse the call without a look at it.
 */
#include "interpose/footprint/operations/batches.h"

#include "interpose/base/program_array.h"
#include "interpose/footprint/memories/array_handles.h"
#include "interpose/footprint/memories/side.h"
#include "interpose/footprint/memories/touch_memory.h"
#include "interpose/footprint/operations/copies.h"
#include "interpose/footprint/operations/range_calls.h"
#include "interpose/footprint/pointers/pointer_tables.h"
#include "interpose/state/call_words.h"

/* Begins the footprint of a list of operations. 0: it is not wanted, or the list can't be read: then the driver is going to
 * refuse the call, or what it does is not known. */
static int begin_list(struct call *C, int there)
{
    if (!C->footprint)
        return 0;
    call_words_opaque(C, there ? OPAQUE_NO : OPAQUE_OTHER);
    if (!there)
        pointer_tables_unknown_work();
    return there;
}

/* Once the call is opaque, its list is looked at only for this: unknown pointers come to the destinations. */
static void fill_unseen(struct call *C, uint64_t destination)
{
    struct memory *memory = lookup_range(C->thread, destination).memory;
    if (memory)
        pointer_tables_filled_unseen(memory_object_table_owner(memory));
}

/* One copy is recorded in full. */
void batches_copy(struct call *C, const CUdeviceptr *destinations, const CUdeviceptr *sources, const size_t *sizes,
                  size_t count)
{
    if (!begin_list(C, program_array_is_readable(destinations, sizeof *destinations, count) &&
                           program_array_is_readable(sources, sizeof *sources, count) &&
                           program_array_is_readable(sizes, sizeof *sizes, count)))
        return;
    if (count == 1) {
        C->flags &= ~(unsigned)PTDS_CALL_OPAQUE;
        copies_1d(C, COPIES_ANY, destinations[0], sources[0], sizes[0]);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (!C->touched.opaque) {
            side_touch_either(C, destinations[i], sizes[i], 1);
            side_touch_either(C, sources[i], sizes[i], 0);
        }
        if (C->touched.opaque)
            fill_unseen(C, destinations[i]);
    }
}

/* In copies with an array, extents count the array's elements, of 16 bytes at most; in others, bytes. */
enum { LARGEST_ELEMENT = 16 };

/* Rows and layers without a length of their own follow each other tightly. */
static uint64_t bytes_of(const CUmemcpy3DOperand *operand, const CUextent3D *extent)
{
    uint64_t row = operand->op.ptr.rowLength ? operand->op.ptr.rowLength : extent->width;
    uint64_t rows = operand->op.ptr.layerHeight ? operand->op.ptr.layerHeight : extent->height;
    if (!extent->width || !extent->height || !extent->depth)
        return 0;
    return ((extent->depth - 1) * rows + extent->height - 1) * row + extent->width;
}

/* The size of an array's elements is not known here: the side may be as large as its memory goes. */
static void touch_operand(struct call *C, const CUmemcpy3DOperand *operand, const CUextent3D *extent, int with_array,
                          int writes)
{
    if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        array_handles_touch(&C->touched, (uint64_t)operand->op.array.array, writes);
        return;
    }
    uint64_t bytes = bytes_of(operand, extent);
    if (with_array) {
        struct memory_range range = lookup_range(C->thread, operand->op.ptr.ptr);
        uint64_t left = range.memory ? range.end - operand->op.ptr.ptr : bytes;
        bytes = bytes * LARGEST_ELEMENT < left ? bytes * LARGEST_ELEMENT : bytes > left ? bytes : left;
    }
    side_touch_either(C, operand->op.ptr.ptr, bytes, writes);
}

static void fill_operand_unseen(struct call *C, const CUmemcpy3DOperand *operand)
{
    if (operand->type != CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        fill_unseen(C, operand->op.ptr.ptr);
        return;
    }
    struct memory *memory = array_handles_get((uint64_t)operand->op.array.array);
    if (memory)
        pointer_tables_filled_unseen(memory);
}

static void touch_op(struct call *C, const CUDA_MEMCPY3D_BATCH_OP *op)
{
    int with_array = op->dst.type == CU_MEMCPY_OPERAND_TYPE_ARRAY || op->src.type == CU_MEMCPY_OPERAND_TYPE_ARRAY;
    touch_operand(C, &op->dst, &op->extent, with_array, 1);
    touch_operand(C, &op->src, &op->extent, with_array, 0);
}

void batches_copy_3d(struct call *C, const CUDA_MEMCPY3D_BATCH_OP *ops, size_t count)
{
    if (!begin_list(C, program_array_is_readable(ops, sizeof *ops, count)))
        return;
    for (size_t i = 0; i < count; i++) {
        if (!C->touched.opaque)
            touch_op(C, &ops[i]);
        if (C->touched.opaque)
            fill_operand_unseen(C, &ops[i].dst);
    }
}

/* A single prefetch is recorded in full. */
void batches_ranges(struct call *C, const CUdeviceptr *addresses, const size_t *sizes, size_t count, int writes)
{
    if (!begin_list(C, program_array_is_readable(addresses, sizeof *addresses, count) &&
                           program_array_is_readable(sizes, sizeof *sizes, count)))
        return;
    if (count == 1 && !writes) {
        C->flags &= ~(unsigned)PTDS_CALL_OPAQUE;
        range_calls_range(C, PTDS_OP_PREFETCH, addresses[0], sizes[0]);
        return;
    }
    for (size_t i = 0; i < count && !C->touched.opaque; i++)
        side_touch_bytes(C, addresses[i], sizes[i], writes);
}

/* How many bytes come out depends on the data: up to the end of the destination's memory. */
static void touch_unpacked(struct call *C, uint64_t address)
{
    struct memory_range range = lookup_range(C->thread, address);
    if (range.memory &&
        !(range.memory->host & MEMORY_RESERVED)) /* in a reservation, the output may go on in the next chunk */
        side_touch_bytes(C, address, range.end - address, 1);
    else
        touch_memory_opaque(&C->touched, OPAQUE_OTHER);
}

static void touch_params(struct call *C, const CUmemDecompressParams *params)
{
    touch_unpacked(C, (uint64_t)params->dst);
    side_touch_bytes(C, (uint64_t)params->src, params->srcNumBytes, 0);
    if (params->dstActBytes)
        side_touch_bytes(C, (uint64_t)params->dstActBytes, sizeof *params->dstActBytes, 1);
}

void batches_decompress(struct call *C, const CUmemDecompressParams *params, size_t count)
{
    if (!begin_list(C, program_array_is_readable(params, sizeof *params, count)))
        return;
    for (size_t i = 0; i < count; i++) {
        if (!C->touched.opaque)
            touch_params(C, &params[i]);
        if (C->touched.opaque)
            fill_unseen(C, (uint64_t)params[i].dst);
    }
}

/* The same physical memory may become part of two arrays, or of an array while it is mapped at an address. The arrays'
 * handles do not tell, so they count as shared. */
void batches_map_arrays(struct call *C, const CUarrayMapInfo *list, size_t count)
{
    int there = C->footprint && program_array_is_readable(list, sizeof *list, count);
    for (size_t i = 0; there && i < count; i++) {
        int whole = list[i].resourceType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        struct memory *memory =
            array_handles_get(whole ? (uint64_t)list[i].resource.mipmap : (uint64_t)list[i].resource.array);
        if (memory)
            memory->host |= MEMORY_SHARED;
    }
    call_words_opaque(C, OPAQUE_OTHER);
}
