// SPDX-License-Identifier: Apache-2.0
//
// Sections of mixed_streams: a blocking stream is busy (gate, then a = 5), and the default stream
// works on the same bytes.

#include "mixed.h"

#include <string.h>

static void kernel(struct mixed *m)
{
    mixed_pending(m, m->x);
    mixed_add(m, NULL);
}

static void kernel_ex(struct mixed *m)
{
    uint32_t count = WORDS;
    void *params[] = {&m->a, &count};
    CUlaunchConfig config;
    memset(&config, 0, sizeof config);
    config.gridDimX = WORDS / 128;
    config.blockDimX = 128;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    mixed_pending(m, m->x);
    CU(cuLaunchKernelEx(&config, m->app.add_one, params, NULL));
}

static void dtoh(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuMemcpyDtoH(m->host, m->a, BYTES));
}

static void dtoh_async(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuMemcpyDtoHAsync(m->pinned, m->a, BYTES, NULL));
}

static void dtod(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuMemcpyDtoD(m->b, m->a, BYTES));
}

static void dtod_async(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuMemcpyDtoDAsync(m->b, m->a, BYTES, NULL));
}

static void any_copy(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuMemcpy(m->b, m->a, BYTES));
}

static void copy_2d(struct mixed *m)
{
    CUDA_MEMCPY2D copy = mixed_copy_2d(m->b, m->a);
    mixed_pending(m, m->x);
    CU(cuMemcpy2D(&copy));
}

static void copy_3d(struct mixed *m)
{
    CUDA_MEMCPY3D copy = mixed_copy_3d(m->b, m->a);
    mixed_pending(m, m->x);
    CU(cuMemcpy3D(&copy));
}

static void copy_3d_async(struct mixed *m)
{
    CUDA_MEMCPY3D copy = mixed_copy_3d(m->b, m->a);
    mixed_pending(m, m->x);
    CU(cuMemcpy3DAsync(&copy, NULL));
}

static void htod(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuMemcpyHtoD(m->a, m->host, BYTES));
}

static void htod_async(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuMemcpyHtoDAsync(m->a, m->pinned, BYTES, NULL));
}

static void set_d8(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuMemsetD8(m->a, 0, BYTES));
    CU(cuMemsetD32Async(m->a + BYTES / 2, 0, WORDS / 2, NULL));
    mixed_add(m, NULL);
}

static void set_d32(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuMemsetD32(m->a, 9, WORDS));
}

static void set_2d(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuMemsetD2D32(m->a, ARRAY_PITCH, 9, ARRAY_PITCH / 4, ARRAY_HEIGHT));
}

static void set_async(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuMemsetD32Async(m->a, 9, WORDS, NULL));
}

static void set_pinned(struct mixed *m)
{
    gate_shut(&m->app, &m->gates[0], m->x);
    CU(cuMemcpyDtoHAsync(m->pinned, m->a, BYTES, m->x));
    CU(cuMemsetD32(m->pinned_address, 9, WORDS));
}

// Fills the array's rows from the pinned words, row by row, on a stream.
static void array_from_pinned(struct mixed *m, CUstream stream)
{
    CUDA_MEMCPY2D copy = mixed_copy_array(m, 1);
    copy.srcHost = m->pinned;
    CU(cuMemcpy2DAsync(&copy, stream));
}

static void array_read(struct mixed *m)
{
    CUDA_MEMCPY2D copy = mixed_copy_array(m, 0);
    gate_shut(&m->app, &m->gates[0], m->x);
    array_from_pinned(m, m->x);
    CU(cuMemcpy2D(&copy));
}

static void array_write(struct mixed *m)
{
    CUDA_MEMCPY2D copy = mixed_copy_array(m, 1);
    gate_shut(&m->app, &m->gates[0], m->x);
    array_from_pinned(m, m->x);
    CU(cuMemcpy2DUnaligned(&copy));
}

static void event_synchronise(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuEventRecord(m->event, NULL));
    CU(cuEventSynchronize(m->event));
    mixed_snapshot(m);
}

static void event_wait(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuEventRecord(m->event, NULL));
    CU(cuStreamWaitEvent(m->free, m->event, 0));
    mixed_snapshot(m);
}

static void event_query(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuEventRecord(m->event, NULL));
    app_sleep_ms(5);
    m->note = (int)cuEventQuery(m->event);
}

static void synchronise(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuStreamSynchronize(NULL));
    mixed_snapshot(m);
}

static void query(struct mixed *m)
{
    mixed_pending(m, m->x);
    m->note = (int)cuStreamQuery(NULL);
}

static void query_until_done(struct mixed *m)
{
    mixed_pending(m, m->x);
    while (cuStreamQuery(NULL) == CUDA_ERROR_NOT_READY)
        app_sleep_ms(1);
    mixed_snapshot(m);
}

static void graph(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuGraphLaunch(m->add_graph, NULL));
}

static void graph_before(struct mixed *m)
{
    gate_arm(&m->gates[0]);
    CU(cuGraphLaunch(m->slow_graph, m->x));
    mixed_add(m, NULL);
}

static void host_function(struct mixed *m)
{
    gate_shut(&m->app, &m->gates[0], m->x);
    CU(cuMemcpyDtoHAsync(m->pinned, m->a, BYTES, m->x));
    CU(cuLaunchHostFunc(NULL, mixed_note_pinned, m));
}

static void host_function_before(struct mixed *m)
{
    gate_shut(&m->app, &m->gates[0], m->x);
    CU(cuLaunchHostFunc(m->x, mixed_note_pinned, m));
    CU(cuMemcpyDtoHAsync(m->pinned, m->a, BYTES, NULL));
}

static void write_value(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuMemsetD32Async(m->a, 6, WORDS, m->x));
    m->note = (int)cuStreamWriteValue32(NULL, m->a, 11, CU_STREAM_WRITE_VALUE_DEFAULT);
}

static void waited_event(struct mixed *m)
{
    mixed_pending(m, m->free);
    CU(cuEventRecord(m->event, m->free));
    CU(cuStreamWaitEvent(NULL, m->event, 0));
    mixed_add(m, NULL);
}

static void explicit_legacy(struct mixed *m)
{
    mixed_pending(m, m->x);
    mixed_add(m, CU_STREAM_LEGACY);
}

const struct section mixed_into[] = {
    {"into-kernel", kernel, {.a = 6}, 0},
    {"into-kernel-ex", kernel_ex, {.a = 6}, 0},
    {"into-dtoh", dtoh, {.a = 5, .host = 5}, 0},
    {"into-dtoh-async", dtoh_async, {.a = 5, .pinned = 5}, 0},
    {"into-dtod", dtod, {.a = 5, .b = 5}, 0},
    {"into-dtod-async", dtod_async, {.a = 5, .b = 5}, 0},
    {"into-any-copy", any_copy, {.a = 5, .b = 5}, 0},
    {"into-copy-2d", copy_2d, {.a = 5, .b = 5}, 0},
    {"into-copy-3d", copy_3d, {.a = 5, .b = 5}, 0},
    {"into-copy-3d-async", copy_3d_async, {.a = 5, .b = 5}, 0},
    {"into-htod", htod, {.a = START_HOST}, 0},
    {"into-htod-async", htod_async, {.a = START_PINNED}, 0},
    {"into-memset-d8", set_d8, {.a = 1}, 0},
    {"into-memset-d32", set_d32, {.a = 9}, 0},
    {"into-memset-2d", set_2d, {.a = 9}, 0},
    {"into-memset-async", set_async, {.a = 9}, 0},
    {"into-memset-pinned", set_pinned, {.pinned = 9}, 0},
    {"into-array-read", array_read, {.host = START_PINNED, .array = START_PINNED}, 0},
    {"into-array-write", array_write, {.array = START_HOST}, 0},
    {"into-event-synchronise", event_synchronise, {.a = 5, .pinned = 5}, 0},
    {"into-event-wait", event_wait, {.a = 5, .pinned = 5}, 0},
    {"into-event-query", event_query, {.a = 5, .note = CUDA_ERROR_NOT_READY}, 0},
    {"into-synchronise", synchronise, {.a = 5, .pinned = 5}, 0},
    {"into-query", query, {.a = 5, .note = CUDA_ERROR_NOT_READY}, 0},
    {"into-query-until-done", query_until_done, {.a = 5, .pinned = 5}, 0},
    {"into-graph", graph, {.a = 6}, 0},
    {"into-graph-before", graph_before, {.a = 6}, 0},
    {"into-host-function", host_function, {.pinned = START_A, .note = START_A}, 0},
    {"into-host-function-before", host_function_before, {.pinned = START_A, .note = START_PINNED}, 0},
    {"into-write-value", write_value, {.a = 11}, 0},
    {"into-waited-event", waited_event, {.a = 6}, 0},
    {"into-explicit-legacy", explicit_legacy, {.a = 6}, 0},
    {NULL, NULL, {0}, 0},
};
