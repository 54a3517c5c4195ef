// SPDX-License-Identifier: Apache-2.0
//
// Buffers, streams, graphs and small steps that the sections of mixed_streams are made of
// (mixed.h).

#include "mixed.h"

#include <stdlib.h>
#include <string.h>

void mixed_fill(uint32_t *words, uint32_t value)
{
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = value;
}

void mixed_add(struct mixed *m, CUstream stream)
{
    CU(app_add_one(&m->app, stream, m->a, WORDS));
}

void mixed_pending(struct mixed *m, CUstream stream)
{
    gate_shut(&m->app, &m->gates[0], stream);
    CU(cuMemsetD32Async(m->a, 5, WORDS, stream));
}

void mixed_snapshot(struct mixed *m)
{
    CU(cuMemcpyDtoHAsync(m->pinned, m->a, BYTES, m->free));
    CU(cuStreamSynchronize(m->free));
}

void mixed_note_pinned(void *argument)
{
    struct mixed *m = argument;
    m->note = (int)m->pinned[0];
}

CUDA_MEMCPY2D mixed_copy_2d(CUdeviceptr to, CUdeviceptr from)
{
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.dstDevice = to;
    copy.srcPitch = copy.dstPitch = copy.WidthInBytes = ARRAY_PITCH;
    copy.Height = ARRAY_HEIGHT;
    return copy;
}

CUDA_MEMCPY3D mixed_copy_3d(CUdeviceptr to, CUdeviceptr from)
{
    CUDA_MEMCPY3D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.dstDevice = to;
    copy.srcPitch = copy.dstPitch = copy.WidthInBytes = ARRAY_PITCH;
    copy.srcHeight = copy.dstHeight = copy.Height = ARRAY_HEIGHT;
    copy.Depth = 1;
    return copy;
}

CUDA_MEMCPY2D mixed_copy_array(struct mixed *m, int to_array)
{
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    copy.WidthInBytes = ARRAY_PITCH;
    copy.Height = ARRAY_HEIGHT;
    if (to_array) {
        copy.srcMemoryType = CU_MEMORYTYPE_HOST;
        copy.srcHost = m->host;
        copy.srcPitch = ARRAY_PITCH;
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = m->array;
    } else {
        copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.srcArray = m->array;
        copy.dstMemoryType = CU_MEMORYTYPE_HOST;
        copy.dstHost = m->host;
        copy.dstPitch = ARRAY_PITCH;
    }
    return copy;
}

// Begins a capture on a stream of its own; end_graph makes the executable graph.
static CUstream begin_graph(void)
{
    CUstream stream;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    return stream;
}

static CUgraphExec end_graph(CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphDestroy(graph));
    CU(cuStreamDestroy(stream));
    return exec;
}

static void make_graphs(struct mixed *m)
{
    CUstream stream = begin_graph();
    mixed_add(m, stream);
    m->add_graph = end_graph(stream);
    stream = begin_graph();
    CU(gate_launch(&m->app, &m->gates[0], stream));
    CU(cuMemsetD32Async(m->a, 5, WORDS, stream));
    m->slow_graph = end_graph(stream);
}

static void make_buffers(struct mixed *m)
{
    void *pinned;
    CU(cuMemAlloc(&m->a, BYTES));
    CU(cuMemAlloc(&m->b, BYTES));
    CU(cuMemHostAlloc(&pinned, BYTES, CU_MEMHOSTALLOC_DEVICEMAP));
    CU(cuMemHostGetDevicePointer(&m->pinned_address, pinned, 0));
    m->pinned = pinned;
    m->host = malloc(BYTES);
    CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = ARRAY_PITCH / 4, .Height = ARRAY_HEIGHT, .Format = CU_AD_FORMAT_UNSIGNED_INT32, .NumChannels = 1};
    CU(cuArrayCreate(&m->array, &shape));
}

void mixed_setup(struct mixed *m, unsigned gate_ms)
{
    app_start(&m->app);
    CU(cuStreamCreate(&m->x, CU_STREAM_DEFAULT));
    CU(cuStreamCreate(&m->y, CU_STREAM_DEFAULT));
    CU(cuStreamCreate(&m->free, CU_STREAM_NON_BLOCKING));
    CU(cuEventCreate(&m->event, CU_EVENT_DISABLE_TIMING));
    for (unsigned i = 0; i < GATES; i++)
        gate_make(&m->gates[i], gate_ms + i * gate_ms / 2);
    make_buffers(m);
    make_graphs(m);
}

void mixed_reset(struct mixed *m)
{
    mixed_fill(m->host, START_ARRAY);
    CUDA_MEMCPY2D copy = mixed_copy_array(m, 1);
    CU(cuMemcpy2D(&copy));
    CU(cuMemsetD32(m->a, START_A, WORDS));
    CU(cuMemsetD32(m->b, START_B, WORDS));
    CU(cuCtxSynchronize());
    mixed_fill(m->pinned, START_PINNED);
    mixed_fill(m->host, START_HOST);
    m->note = 0;
}
