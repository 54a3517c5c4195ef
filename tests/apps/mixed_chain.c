// SPDX-License-Identifier: Apache-2.0
//
// Sections of mixed_streams: order that reaches through the default stream from one blocking stream
// to another, streams that come and go, and captures beside default-stream work.

#include "mixed.h"

static void x_default_y(struct mixed *m)
{
    mixed_pending(m, m->x);
    mixed_add(m, NULL);
    mixed_add(m, m->y);
}

// Work on 0 that touches nothing of the others still stands between them.
static void x_memset_y(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuMemsetD32(m->b, 9, WORDS));
    mixed_add(m, m->y);
}

static void x_set_async_y(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuMemsetD32Async(m->b, 9, WORDS, NULL));
    mixed_add(m, m->y);
}

static void x_record_y(struct mixed *m)
{
    mixed_pending(m, m->x);
    CU(cuEventRecord(m->event, NULL));
    mixed_add(m, m->y);
}

static void default_x_default(struct mixed *m)
{
    mixed_pending(m, NULL);
    mixed_add(m, m->x);
    mixed_add(m, NULL);
    CU(cuMemcpyDtoH(m->host, m->a, BYTES));
}

static void two_busy(struct mixed *m)
{
    mixed_pending(m, m->x);
    gate_shut(&m->app, &m->gates[1], m->y);
    CU(cuMemsetD32Async(m->b, 6, WORDS, m->y));
    CU(cuMemcpyDtoH(m->host, m->b, BYTES));
    CU(cuMemcpyDtoHAsync(m->pinned, m->a, BYTES, NULL));
}

static void one_to_two(struct mixed *m)
{
    mixed_pending(m, NULL);
    CU(cuMemcpyDtoDAsync(m->b, m->a, BYTES, m->x));
    CU(cuMemcpyDtoHAsync(m->pinned, m->a, BYTES, m->y));
}

static void in_turn(struct mixed *m)
{
    gate_shut(&m->app, &m->gates[0], m->x);
    for (int i = 0; i < 20; i++) {
        mixed_add(m, m->x);
        CU(cuMemcpyDtoDAsync(m->b, m->a, BYTES, NULL));
        CU(app_add_one(&m->app, m->y, m->b, WORDS));
        CU(cuMemcpyDtoDAsync(m->a, m->b, BYTES, NULL));
    }
}

static void made_late(struct mixed *m)
{
    CUstream late;
    mixed_pending(m, NULL);
    CU(cuStreamCreate(&late, CU_STREAM_DEFAULT));
    mixed_add(m, late);
    CU(cuCtxSynchronize());
    CU(cuStreamDestroy(late));
}

static void destroyed_early(struct mixed *m)
{
    CUstream early;
    CU(cuStreamCreate(&early, CU_STREAM_DEFAULT));
    mixed_pending(m, early);
    CU(cuStreamDestroy(early));
    mixed_add(m, NULL);
}

static void replay(CUstream captured, CUstream launched)
{
    CUgraph graph;
    CUgraphExec exec;
    CU(cuStreamEndCapture(captured, &graph));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, launched));
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

// What the stream was owed before its capture is owed to the graph it launches.
static void captured_then_launched(struct mixed *m)
{
    mixed_pending(m, NULL);
    CU(cuStreamBeginCapture(m->x, CU_STREAM_CAPTURE_MODE_RELAXED));
    mixed_add(m, m->x);
    replay(m->x, m->x);
}

static void captured_then_used(struct mixed *m)
{
    CUgraph graph;
    mixed_pending(m, NULL);
    CU(cuStreamBeginCapture(m->x, CU_STREAM_CAPTURE_MODE_RELAXED));
    mixed_add(m, m->x);
    CU(cuStreamEndCapture(m->x, &graph));
    CU(cuGraphDestroy(graph));
    mixed_add(m, m->x);
}

// And what it owes from before its capture.
static void busy_then_captured(struct mixed *m)
{
    CUgraph graph;
    mixed_pending(m, m->x);
    CU(cuStreamBeginCapture(m->x, CU_STREAM_CAPTURE_MODE_RELAXED));
    mixed_add(m, m->x);
    CU(cuStreamEndCapture(m->x, &graph));
    CU(cuGraphDestroy(graph));
    mixed_add(m, NULL);
}

// A non-blocking stream captures meanwhile: the work on 0 runs uncaptured and in order.
static void beside_capture(struct mixed *m, CUstreamCaptureMode mode)
{
    mixed_pending(m, m->x);
    CU(cuStreamBeginCapture(m->free, mode));
    mixed_add(m, NULL);
    CU(app_add_one(&m->app, m->free, m->b, WORDS));
    mixed_add(m, m->y);
    replay(m->free, m->free);
}

static void beside_relaxed(struct mixed *m)
{
    beside_capture(m, CU_STREAM_CAPTURE_MODE_RELAXED);
}

static void beside_thread_local(struct mixed *m)
{
    beside_capture(m, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}

static void beside_global(struct mixed *m)
{
    beside_capture(m, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static void graphs_in_turn(struct mixed *m)
{
    gate_arm(&m->gates[0]);
    CU(cuGraphLaunch(m->slow_graph, m->x));
    CU(cuGraphLaunch(m->add_graph, NULL));
    CU(cuMemcpyDtoDAsync(m->b, m->a, BYTES, m->y));
    CU(cuMemcpyDtoH(m->host, m->b, BYTES));
}

const struct section mixed_chain[] = {
    {"chain-x-default-y", x_default_y, {.a = 7}, 0},
    {"chain-x-memset-y", x_memset_y, {.a = 6, .b = 9}, 0},
    {"chain-x-memset-async-y", x_set_async_y, {.a = 6, .b = 9}, 0},
    {"chain-x-record-y", x_record_y, {0}, 1},
    {"chain-default-x-default", default_x_default, {.a = 7, .host = 7}, 0},
    {"chain-two-busy", two_busy, {.a = 5, .b = 6, .host = 6, .pinned = 5}, 0},
    {"chain-one-to-two", one_to_two, {.a = 5, .b = 5, .pinned = 5}, 0},
    {"chain-in-turn", in_turn, {.a = START_A + 40, .b = START_A + 40}, 0},
    {"chain-made-late", made_late, {.a = 6}, 0},
    {"chain-destroyed-early", destroyed_early, {0}, 1},
    {"chain-captured-then-launched", captured_then_launched, {.a = 6}, 0},
    {"chain-captured-then-used", captured_then_used, {.a = 6}, 0},
    {"chain-busy-then-captured", busy_then_captured, {.a = 6}, 0},
    {"chain-beside-relaxed-capture", beside_relaxed, {.a = 7, .b = START_B + 1}, 0},
    {"chain-beside-thread-local-capture", beside_thread_local, {.a = 7, .b = START_B + 1}, 0},
    {"chain-beside-global-capture", beside_global, {.a = 7, .b = START_B + 1}, 0},
    {"chain-graphs-in-turn", graphs_in_turn, {.a = 6, .b = 6, .host = 6}, 0},
    {NULL, NULL, {0}, 0},
};
