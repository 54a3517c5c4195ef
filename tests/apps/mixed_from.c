// SPDX-License-Identifier: Apache-2.0
//
// Sections of mixed_streams: the default stream is busy (gate, then a = 5), and a blocking stream
// works on the same bytes.

#include "mixed.h"

static void kernel(struct mixed *m)
{
    mixed_pending(m, NULL);
    mixed_add(m, m->x);
}

static void dtoh_async(struct mixed *m)
{
    mixed_pending(m, NULL);
    CU(cuMemcpyDtoHAsync(m->pinned, m->a, BYTES, m->x));
    CU(cuStreamSynchronize(m->x));
}

static void dtoh_pageable(struct mixed *m)
{
    mixed_pending(m, NULL);
    CU(cuMemcpyDtoHAsync(m->host, m->a, BYTES, m->x));
    CU(cuStreamSynchronize(m->x));
}

static void htod_async(struct mixed *m)
{
    mixed_pending(m, NULL);
    CU(cuMemcpyHtoDAsync(m->a, m->pinned, BYTES, m->x));
}

static void set_async(struct mixed *m)
{
    mixed_pending(m, NULL);
    CU(cuMemsetD32Async(m->a, 9, WORDS, m->x));
}

static void query(struct mixed *m)
{
    mixed_pending(m, NULL);
    mixed_add(m, m->x);
    app_sleep_ms(5);
    m->note = (int)cuStreamQuery(m->x);
}

static void event_synchronise(struct mixed *m)
{
    mixed_pending(m, NULL);
    mixed_add(m, m->x);
    CU(cuEventRecord(m->event, m->x));
    CU(cuEventSynchronize(m->event));
    mixed_snapshot(m);
}

static void synchronise(struct mixed *m)
{
    mixed_pending(m, NULL);
    mixed_add(m, m->x);
    CU(cuStreamSynchronize(m->x));
    mixed_snapshot(m);
}

static void graph(struct mixed *m)
{
    mixed_pending(m, NULL);
    CU(cuGraphLaunch(m->add_graph, m->x));
}

static void graph_before(struct mixed *m)
{
    gate_arm(&m->gates[0]);
    CU(cuGraphLaunch(m->slow_graph, NULL));
    mixed_add(m, m->x);
}

static void host_function(struct mixed *m)
{
    gate_shut(&m->app, &m->gates[0], NULL);
    CU(cuMemcpyDtoHAsync(m->pinned, m->a, BYTES, NULL));
    CU(cuLaunchHostFunc(m->x, mixed_note_pinned, m));
}

static void host_function_before(struct mixed *m)
{
    gate_shut(&m->app, &m->gates[0], NULL);
    CU(cuLaunchHostFunc(NULL, mixed_note_pinned, m));
    CU(cuMemcpyDtoHAsync(m->pinned, m->a, BYTES, m->x));
}

// The public sample that plain per-thread streams break: a memset on 0, then a kernel on a blocking
// stream.
static void set_sync(struct mixed *m)
{
    gate_shut(&m->app, &m->gates[0], NULL);
    CU(cuMemsetD32(m->a, 5, WORDS));
    mixed_add(m, m->x);
}

static void set_2d_sync(struct mixed *m)
{
    gate_shut(&m->app, &m->gates[0], NULL);
    CU(cuMemsetD2D32(m->a, ARRAY_PITCH, 5, ARRAY_PITCH / 4, ARRAY_HEIGHT));
    mixed_add(m, m->x);
}

static void dtod_sync(struct mixed *m)
{
    gate_shut(&m->app, &m->gates[0], NULL);
    CU(cuMemcpyDtoD(m->a, m->b, BYTES));
    mixed_add(m, m->x);
}

static void htod_sync(struct mixed *m)
{
    gate_shut(&m->app, &m->gates[0], NULL);
    CU(cuMemcpyHtoD(m->a, m->host, BYTES));
    mixed_add(m, m->x);
}

// Staged: the copy may return before the bytes have arrived.
static void htod_pageable_async(struct mixed *m)
{
    gate_shut(&m->app, &m->gates[0], NULL);
    CU(cuMemcpyHtoDAsync(m->a, m->host, BYTES, NULL));
    mixed_add(m, m->x);
}

static void array_write(struct mixed *m)
{
    CUDA_MEMCPY2D copy = mixed_copy_array(m, 1);
    copy.srcHost = m->pinned;
    gate_shut(&m->app, &m->gates[0], NULL);
    CU(cuMemcpy2DAsync(&copy, NULL));
    copy = mixed_copy_array(m, 0);
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = m->a;
    CU(cuMemcpy2DAsync(&copy, m->x));
}

static void waited_event(struct mixed *m)
{
    mixed_pending(m, m->free);
    CU(cuEventRecord(m->event, m->free));
    CU(cuStreamWaitEvent(NULL, m->event, 0));
    mixed_add(m, NULL);
    mixed_add(m, m->x);
}

static void recorded_event(struct mixed *m)
{
    mixed_pending(m, NULL);
    CU(cuEventRecord(m->event, NULL));
    CU(cuStreamWaitEvent(m->free, m->event, 0));
    mixed_add(m, m->free);
}

static void pool_memory(struct mixed *m)
{
    CUdeviceptr p;
    CU(cuMemAllocAsync(&p, BYTES, NULL));
    gate_shut(&m->app, &m->gates[0], NULL);
    CU(cuMemsetD32Async(p, 5, WORDS, NULL));
    CU(cuMemcpyDtoDAsync(m->a, p, BYTES, m->x));
    CU(cuMemFreeAsync(p, NULL));
}

static void write_value(struct mixed *m)
{
    mixed_pending(m, NULL);
    m->note = (int)cuStreamWriteValue32(m->x, m->a, 11, CU_STREAM_WRITE_VALUE_DEFAULT);
}

static void priority_stream(struct mixed *m)
{
    CUstream high;
    CU(cuStreamCreateWithPriority(&high, CU_STREAM_DEFAULT, -1));
    mixed_pending(m, NULL);
    mixed_add(m, high);
    CU(cuStreamDestroy(high));
}

const struct section mixed_from[] = {
    {"from-kernel", kernel, {.a = 6}, 0},
    {"from-dtoh-async", dtoh_async, {.a = 5, .pinned = 5}, 0},
    {"from-dtoh-pageable", dtoh_pageable, {.a = 5, .host = 5}, 0},
    {"from-htod-async", htod_async, {.a = START_PINNED}, 0},
    {"from-memset-async", set_async, {.a = 9}, 0},
    {"from-query", query, {.a = 6, .note = CUDA_ERROR_NOT_READY}, 0},
    {"from-event-synchronise", event_synchronise, {.a = 6, .pinned = 6}, 0},
    {"from-synchronise", synchronise, {.a = 6, .pinned = 6}, 0},
    {"from-graph", graph, {.a = 6}, 0},
    {"from-graph-before", graph_before, {.a = 6}, 0},
    {"from-host-function", host_function, {.pinned = START_A, .note = START_A}, 0},
    {"from-host-function-before", host_function_before, {.pinned = START_A, .note = START_PINNED}, 0},
    {"from-memset", set_sync, {.a = 6}, 0},
    {"from-memset-2d", set_2d_sync, {.a = 6}, 0},
    {"from-dtod", dtod_sync, {.a = START_B + 1}, 0},
    {"from-htod", htod_sync, {.a = START_HOST + 1}, 0},
    {"from-htod-pageable-async", htod_pageable_async, {.a = START_HOST + 1}, 0},
    {"from-array-write", array_write, {.a = START_PINNED, .array = START_PINNED}, 0},
    {"from-waited-event", waited_event, {.a = 7}, 0},
    {"from-recorded-event", recorded_event, {.a = 6}, 0},
    {"from-pool-memory", pool_memory, {.a = 5}, 0},
    {"from-write-value", write_value, {.a = 11}, 0},
    {"from-priority-stream", priority_stream, {.a = 6}, 0},
    {NULL, NULL, {0}, 0},
};
