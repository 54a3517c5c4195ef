/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of graphics interfaces. Called by the wrappers, on cold paths. Must not ask the driver anything while a capture is
 * open.
 */
#include "interpose/footprint/allocations/lent.h"

#include "interpose/footprint/allocations/allocations.h"
#include "interpose/footprint/allocations/driver_range.h"
#include "interpose/footprint/memories/array_handles.h"
#include "interpose/footprint/memories/lookup.h"
#include "interpose/state/map.h"

static struct map buffers; /* OpenGL's buffers that are mapped -> address */

static int is_lent(struct call *C, enum ptds_memory_kind kind, uint64_t base, uint64_t bytes)
{
    if (kind == PTDS_MEMORY_ARRAY)
        return array_handles_get(base) != NULL;
    const struct memory_range range = lookup_range(C->thread, base);
    return range.memory && range.memory->kind == kind && range.begin == base && range.end - base == bytes;
}

void lent_mapped(struct call *C, enum ptds_memory_kind kind, const void *pointer, size_t pointer_size, uint64_t bytes)
{
    if (!C->footprint || C->result != CUDA_SUCCESS || !pointer)
        return;
    uint64_t base = allocations_value(pointer, pointer_size);
    if (kind != PTDS_MEMORY_ARRAY && !bytes)
        driver_range_ask(&base, &bytes);
    if (!is_lent(C, kind, base, bytes))
        allocations_add(C, kind, base, bytes);
}

/* An EGL frame's planes are arrays, or lie anywhere in memory whose length is not told. */
void lent_frame(struct call *C, const void *given)
{
    const struct ptds_egl_frame *frame = given;
    for (unsigned i = 0; C->result == CUDA_SUCCESS && frame && i < frame->planes && i < PTDS_EGL_PLANES; i++)
        lent_mapped(C, frame->type == PTDS_EGL_PITCH ? PTDS_MEMORY_EXTERNAL : PTDS_MEMORY_ARRAY, &frame->plane[i],
                    sizeof frame->plane[i], 0);
}

static uint64_t key_of(unsigned buffer)
{
    return buffer | UINT64_C(1) << 32;
}

void lent_gl_mapped(struct call *C, unsigned buffer, const void *pointer, size_t pointer_size, uint64_t bytes)
{
    lent_mapped(C, PTDS_MEMORY_EXTERNAL, pointer, pointer_size, bytes);
    if (C->op == PTDS_OP_ALLOC)
        C->op = PTDS_OP_ALLOC_ASYNC; /* the mapping is its stream's work, too */
    if (C->footprint && C->result == CUDA_SUCCESS && pointer)
        map_set(&buffers, key_of(buffer), allocations_value(pointer, pointer_size));
}

void lent_gl_unmapping(struct call *C, unsigned buffer)
{
    const uint64_t base = C->footprint ? map_remove(&buffers, key_of(buffer)) : 0;
    const struct memory_range range = lookup_range(C->thread, base);
    if (!base || !range.memory || range.memory->kind != PTDS_MEMORY_EXTERNAL)
        return;
    C->leaving = addresses_unmap(base);
    allocations_keep_range(C, &range);
}

void lent_gl_unmapped(struct call *C, unsigned buffer)
{
    if (C->leaving && C->result != CUDA_SUCCESS)
        map_set(&buffers, key_of(buffer), C->word[1]);
    allocations_freed(C);
}

void lent_after_fork(void)
{
    map_reset(&buffers);
}
