// SPDX-License-Identifier: Apache-2.0
//
// Cases of promises about events that graphs record and wait for, whether they were captured or built, that a context
// records and waits for. Called by the runner (promises.c).

#include "tests/apps/handovers/promises.h"

static void record_on_default(struct promise *p)
{
    CU(cuEventRecord(p->first, NULL));
}

static void wait_and_read_on_default(struct promise *p)
{
    CU(cuStreamWaitEvent(NULL, p->first, 0));
    copy(p, NULL, p->seen, p->words, WORDS);
}

static void launch_graph(CUgraph graph, CUstream stream)
{
    CUgraphExec exec;
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
}

static int is_added(struct promise *p)
{
    return device_are(p->seen, NEW + 1, WORDS);
}

// ---- an event that a graph has recorded since: it stands for nothing of what it was recorded behind before ----

static int recorded_anew(struct promise *p, CUgraph graph)
{
    slow_add(p, NULL);
    CU(cuEventRecord(p->first, NULL));
    launch_graph(graph, p->n);
    elsewhere(p, wait_and_read_on_default);
    return is_added(p);
}

static CUgraph with_record(CUevent event)
{
    CUgraph graph;
    CUgraphNode node;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    return graph;
}

static int record_node(struct promise *p)
{
    return recorded_anew(p, with_record(p->first));
}

static int record_node_set(struct promise *p)
{
    CUgraph graph;
    CUgraphNode node;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddEventRecordNode(&node, graph, NULL, 0, p->second));
    CU(cuGraphEventRecordNodeSetEvent(node, p->first));
    return recorded_anew(p, graph);
}

static int record_node_of_any_kind(struct promise *p)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .eventRecord = {.event = p->first}};
    CUgraph graph;
    CUgraphNode node;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddNode_v2(&node, graph, NULL, NULL, 0, &params));
    return recorded_anew(p, graph);
}

static int record_captured(struct promise *p)
{
    CUgraph graph;
    CU(cuStreamBeginCapture(p->n, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuEventRecordWithFlags(p->first, p->n, CU_EVENT_RECORD_EXTERNAL));
    CU(cuStreamEndCapture(p->n, &graph));
    return recorded_anew(p, graph);
}

static int record_changed(struct promise *p)
{
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddEventRecordNode(&node, graph, NULL, 0, p->second));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphExecEventRecordNodeSetEvent(exec, node, p->first));
    slow_add(p, NULL);
    CU(cuEventRecord(p->first, NULL));
    CU(cuGraphLaunch(exec, p->n));
    elsewhere(p, wait_and_read_on_default);
    return is_added(p);
}

// The host waits for the graph alone.
static int record_awaited_by_host(struct promise *p)
{
    CUgraph graph = with_record(p->first);
    slow_add(p, NULL);
    CU(cuEventRecord(p->first, NULL));
    launch_graph(graph, p->n);
    CU(cuEventSynchronize(p->first));
    elsewhere(p, wait_and_read_on_default);
    return is_added(p);
}

// ---- a graph that waits for an event: what runs behind it comes after all that the event promises ----

static int graph_awaits(struct promise *p, CUgraph graph)
{
    slow_add(p, NULL);
    elsewhere(p, record_on_default);
    launch_graph(graph, p->n);
    copy(p, p->n, p->seen, p->words, WORDS);
    return is_added(p);
}

static CUgraph with_wait(CUevent event, CUgraphNode *node)
{
    CUgraph graph;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddEventWaitNode(node, graph, NULL, 0, event));
    return graph;
}

static int wait_node(struct promise *p)
{
    CUgraphNode node;
    return graph_awaits(p, with_wait(p->first, &node));
}

static int wait_node_set(struct promise *p)
{
    CUgraphNode node;
    CUgraph graph = with_wait(p->second, &node);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .eventWait = {.event = p->first}};
    CU(cuGraphNodeSetParams(node, &params));
    return graph_awaits(p, graph);
}

static int wait_captured(struct promise *p)
{
    CUgraph graph;
    CU(cuStreamBeginCapture(p->n, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuStreamWaitEvent(p->n, p->first, CU_EVENT_WAIT_EXTERNAL));
    CU(cuStreamEndCapture(p->n, &graph));
    return graph_awaits(p, graph);
}

// The read is a node of the graph itself.
static int wait_node_and_read(struct promise *p)
{
    CUgraphNode first, second;
    CUgraph graph = with_wait(p->first, &first);
    CUdeviceptr to = p->seen, from = p->words;
    uint32_t count = WORDS;
    void *arguments[] = {&to, &from, &count};
    const CUDA_KERNEL_NODE_PARAMS kernel = {.func = p->copy,
                                            .gridDimX = 1,
                                            .gridDimY = 1,
                                            .gridDimZ = 1,
                                            .blockDimX = WORDS,
                                            .blockDimY = 1,
                                            .blockDimZ = 1,
                                            .kernelParams = arguments};
    CU(cuGraphAddKernelNode_v2(&second, graph, &first, 1, &kernel));
    slow_add(p, NULL);
    elsewhere(p, record_on_default);
    launch_graph(graph, p->n);
    return is_added(p);
}

// ---- an event that is recorded while a capture that records it, too, is open: who waits for it joins nothing ----

static int wait_beside_capture(struct promise *p)
{
    CUgraph graph;
    slow_add(p, NULL);
    elsewhere(p, record_on_default);
    CU(cuStreamBeginCapture(p->n, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuEventRecordWithFlags(p->first, p->n, CU_EVENT_RECORD_EXTERNAL));
    CU(cuStreamWaitEvent(p->m, p->first, 0));
    copy(p, p->m, p->seen, p->words, WORDS);
    CU(cuStreamEndCapture(p->n, &graph));
    return is_added(p);
}

// ---- an event with the handle of one that is gone, which a capture had recorded: who waits for it joins nothing, either
// ----

static void add_on_default(struct promise *p)
{
    slow_add(p, NULL);
}

// Destroys it among others, and makes events until one has its handle.
static CUevent in_place_of(CUevent gone)
{
    enum { OTHERS = 16, TRIES = 64 };
    CUevent others[OTHERS], made = NULL;
    for (int i = 0; i < OTHERS; i++)
        CU(cuEventCreate(&others[i], CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < OTHERS; i++)
        CU(cuEventDestroy(others[i]));
    CU(cuEventDestroy(gone));
    for (int i = 0; i < TRIES && made != gone; i++)
        CU(cuEventCreate(&made, CU_EVENT_DISABLE_TIMING));
    return made;
}

static int handle_of_captured(struct promise *p)
{
    CUgraph graph;
    CU(cuStreamBeginCapture(p->n, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuEventRecord(p->first, p->n));
    CUevent now = in_place_of(p->first);
    if (now != p->first)
        p->no = "handles of events are not given out again at once";
    elsewhere(p, add_on_default);
    CU(cuStreamWaitEvent(p->a, now, 0)); // it was never recorded
    copy(p, p->a, p->seen, p->words, WORDS);
    CU(cuStreamEndCapture(p->n, &graph));
    return is_added(p);
}

// ---- contexts ----

static int context_can(struct promise *p, CUresult result)
{
    if (result == CUDA_SUCCESS)
        return 1;
    p->no = "contexts record and await no events here";
    return 0;
}

static int context_waits(struct promise *p)
{
    slow_add(p, NULL);
    elsewhere(p, record_on_default);
    if (!context_can(p, cuCtxWaitEvent(p->app.context, p->first)))
        return 0;
    copy(p, p->n, p->seen, p->words, WORDS);
    return is_added(p);
}

static int context_records(struct promise *p)
{
    slow_add(p, NULL);
    if (!context_can(p, cuCtxRecordEvent(p->app.context, p->first)))
        return 0;
    CU(cuStreamWaitEvent(p->n, p->first, 0));
    copy(p, p->n, p->seen, p->words, WORDS);
    return is_added(p);
}

const struct named_case cases_events[] = {
    {"graph-records-node", record_node, 0},
    {"graph-records-node-set", record_node_set, 0},
    {"graph-records-node-of-any-kind", record_node_of_any_kind, 0},
    {"graph-records-captured", record_captured, 0},
    {"graph-records-changed", record_changed, 0},
    {"graph-records-for-host", record_awaited_by_host, 0},
    {"graph-waits-node", wait_node, 0},
    {"graph-waits-node-set", wait_node_set, 0},
    {"graph-waits-captured", wait_captured, 0},
    {"graph-waits-and-reads", wait_node_and_read, 0},
    {"wait-beside-capture", wait_beside_capture, 0},
    {"wait-for-handle-of-captured", handle_of_captured, 0},
    {"context-waits", context_waits, 0},
    {"context-records", context_records, 0},
    {0},
};
