/* SPDX-License-Identifier: Apache-2.0
 *
 * Events, graphs and memory: their uids and, for events, how often they were recorded. Only the recorder asks, so nothing
 * is kept while it is off, except where memory lies, which policies ask too. Called from api.def's before and after
 * columns.
 */
#include "interpose/footprint/footprint.h"
#include "interpose/record/record.h"
#include "interpose/state/map.h"

#include <string.h>

static struct map events; /* CUevent -> uid << 32 | times recorded */
static struct map graphs; /* CUgraphExec -> uid */
static struct map memory; /* base -> uid */

void objects_event_created(struct call *C, const CUevent *event, unsigned flags)
{
    if (!C->footprint || C->result != CUDA_SUCCESS || !event)
        return;
    C->object = objects_uid(OBJECT_EVENT);
    map_set(&events, (uint64_t)*event, (uint64_t)C->object << 32);
    C->word[0] = flags;
    C->word[1] = (uint64_t)*event;
    fp_words(C, PTDS_OP_EVENT_CREATE, 2);
}

/* An event made past the shim gets its uid on first sight. */
static uint64_t event_state(CUevent event, uint64_t records)
{
    uint64_t state = map_add(&events, (uint64_t)event, records);
    if (!state) {
        state = (uint64_t)objects_uid(OBJECT_EVENT) << 32 | records;
        map_set(&events, (uint64_t)event, state);
    }
    return state;
}

void fp_event(struct call *C, enum ptds_op op, CUevent event)
{
    C->event = event;
    if (!C->footprint || !event)
        return;
    uint64_t state = event_state(event, op == PTDS_OP_EVENT_RECORD || op == PTDS_OP_CTX_EVENT_RECORD);
    C->object = (uint32_t)(state >> 32);
    C->generation = (uint32_t)state;
    fp_words(C, op, 0);
}

void objects_event_gone(struct call *C, CUevent event)
{
    if (C->footprint)
        map_remove(&events, (uint64_t)event);
}

void fp_host_function(struct call *C, void *function)
{
    if (!C->footprint)
        return;
    C->flags |= PTDS_CALL_OPAQUE;
    fp_object(C, PTDS_OP_HOST_FUNCTION, (uint64_t)function);
}

void objects_graph_exec(struct call *C, const CUgraphExec *graph)
{
    if (!C->footprint || C->result != CUDA_SUCCESS || !graph)
        return;
    C->object = objects_uid(OBJECT_GRAPH);
    map_set(&graphs, (uint64_t)*graph, C->object);
    fp_words(C, PTDS_OP_GRAPH_INSTANTIATE, 0);
}

void fp_graph(struct call *C, CUgraphExec graph)
{
    if (!C->footprint)
        return;
    C->object = (uint32_t)map_get(&graphs, (uint64_t)graph);
    C->flags |= PTDS_CALL_OPAQUE;
    fp_words(C, PTDS_OP_GRAPH_LAUNCH, 0);
}

/* The 2000-era functions have 32-bit pointers. */
static uint64_t load(const void *at, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, at, size < sizeof value ? size : sizeof value);
    return value;
}

static void added(struct call *C, enum ptds_memory_kind kind, uint64_t base, uint64_t bytes)
{
    if (kind != PTDS_MEMORY_ARRAY)
        footprint_memory_added(kind, base, bytes);
    C->object = objects_uid(OBJECT_MEMORY);
    map_set(&memory, base, C->object);
    C->word[0] = base;
    C->word[1] = bytes;
    C->word[2] = kind;
    fp_words(C, kind == PTDS_MEMORY_POOL ? PTDS_OP_ALLOC_ASYNC : PTDS_OP_ALLOC, 3);
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
    if (!map_get(&memory, base))
        added(C, PTDS_MEMORY_GLOBAL, base, load(bytes, bytes_size));
}

void fp_free(struct call *C, enum ptds_op op, uint64_t base)
{
    if (!C->footprint)
        return;
    footprint_memory_gone(base);
    C->object = (uint32_t)map_remove(&memory, base);
    fp_object(C, op, base);
}

void objects_functions_going(void)
{
    footprint_kernels_forget();
}

void objects_handles_after_fork(void)
{
    map_reset(&events);
    map_reset(&graphs);
    map_reset(&memory);
}
