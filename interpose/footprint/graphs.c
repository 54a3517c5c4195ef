/* SPDX-License-Identifier: Apache-2.0
 *
 * Executable graphs: the union of what their nodes touch, from the graph that they were instantiated from. Called by the
 * wrappers. A node that is no kernel, copy, memset or child graph makes the whole opaque. Asks the driver about nodes when
 * a graph is instantiated or updated, never while a capture is open.
 */
#include "interpose/footprint/graphs.h"

#include "interpose/base/memory.h"
#include "interpose/driver/driver.h"
#include "interpose/footprint/kernels.h"
#include "interpose/footprint/tables.h"
#include "interpose/state/capture.h"
#include "interpose/state/map.h"

struct graph {
    uint32_t uid;
    uint32_t kernels; /* it has some: they follow pointers that lie in what they touch */
    struct touched touched;
    uint32_t memory_uid[TOUCHED_MOST]; /* another one by now: that memory is gone */
    struct graph *next_free;
};

static struct map graphs; /* CUgraphExec -> struct graph * */
static struct graph *free_graphs;
static struct lock lock;

static struct graph *new_graph(void)
{
    lock_take(&lock);
    struct graph *graph = free_graphs;
    if (graph)
        free_graphs = graph->next_free;
    lock_drop(&lock);
    if (!graph)
        graph = memory_keep(sizeof *graph);
    if (graph) {
        graph->uid = objects_uid(OBJECT_GRAPH);
        graph->kernels = 0;
        graph->touched.count = 0;
        graph->touched.opaque = graph->touched.host = 0;
    }
    return graph;
}

static void free_graph(struct graph *graph)
{
    if (!graph)
        return;
    lock_take(&lock);
    graph->next_free = free_graphs;
    free_graphs = graph;
    lock_drop(&lock);
}

static struct graph *find(CUgraphExec exec)
{
    return (struct graph *)map_get(&graphs, (uint64_t)exec);
}

/* A call that nobody makes, to put the answers of footprint's other files into. */
static void begin_node(struct call *node, const struct call *C)
{
    node->thread = C->thread;
    node->footprint = 1;
    node->enter = 0;
    node->flags = PTDS_CALL_CAPTURING;
    node->op = node->words = node->kinds = 0;
    node->result = CUDA_SUCCESS;
    node->touched.count = 0;
    node->touched.opaque = node->touched.host = 0;
}

/* Whole memories: which bytes of them makes no difference where several nodes come together. */
static void join(struct graph *graph, const struct touched *touched)
{
    if (touched->opaque)
        touch_opaque(&graph->touched, OPAQUE_GRAPH);
    for (unsigned i = 0; i < touched->count; i++)
        touch_whole(&graph->touched, touched->at[i].memory, (int)touched->at[i].writes);
    for (unsigned i = 0; i < graph->touched.count; i++)
        graph->memory_uid[i] = graph->touched.at[i].memory->uid;
}

static void add_kernel(struct call *C, struct graph *graph, CUfunction function, void **params, void **extra)
{
    struct call node;
    begin_node(&node, C);
    kernels_touch(&node, kernels_find(C->thread, function), params, extra);
    graph->kernels = 1;
    join(graph, &node.touched);
}

/* Which pointers a launch will bring is not known now. */
static void add_copy(struct call *C, struct graph *graph, const CUDA_MEMCPY3D *copy)
{
    struct call node;
    begin_node(&node, C);
    fp_copy_3d(&node, copy);
    for (unsigned i = 0; i < node.touched.count; i++) {
        if (node.touched.at[i].writes)
            tables_filled_unseen(node.touched.at[i].memory);
    }
    fp_copied(&node);
    join(graph, &node.touched);
}

static void add_memset(struct call *C, struct graph *graph, const CUDA_MEMSET_NODE_PARAMS *params)
{
    struct call node;
    begin_node(&node, C);
    fp_memset(&node, params->dst, params->pitch, params->elementSize, params->value, params->width, params->height);
    join(graph, &node.touched);
}

static int walk(struct call *C, struct graph *graph, CUgraph nodes, unsigned depth);

/* 0: it could not be seen. */
static int add_node(struct call *C, struct graph *graph, CUgraphNode node, unsigned depth)
{
    CUgraphNodeType type;
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS memset;
    CUgraph child;
    if (driver.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS)
        return 0;
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        if (driver.cuGraphKernelNodeGetParams_v2(node, &kernel) != CUDA_SUCCESS)
            return 0;
        add_kernel(C, graph, kernel.func ? kernel.func : (CUfunction)kernel.kern, kernel.kernelParams, kernel.extra);
        return 1;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        if (driver.cuGraphMemcpyNodeGetParams(node, &copy) != CUDA_SUCCESS)
            return 0;
        add_copy(C, graph, &copy);
        return 1;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        if (driver.cuGraphMemsetNodeGetParams(node, &memset) != CUDA_SUCCESS)
            return 0;
        add_memset(C, graph, &memset);
        return 1;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return driver.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS && walk(C, graph, child, depth + 1);
    case CU_GRAPH_NODE_TYPE_EMPTY: return 1;
    default: return 0;
    }
}

static int can_ask(void)
{
    return !capture_any() && driver.cuGraphGetNodes && driver.cuGraphNodeGetType && driver.cuGraphKernelNodeGetParams_v2 &&
           driver.cuGraphMemcpyNodeGetParams && driver.cuGraphMemsetNodeGetParams && driver.cuGraphChildGraphNodeGetGraph;
}

static int walk(struct call *C, struct graph *graph, CUgraph nodes, unsigned depth)
{
    size_t count = 0;
    if (depth > 16 || driver.cuGraphGetNodes(nodes, NULL, &count) != CUDA_SUCCESS)
        return 0;
    if (!count)
        return 1;
    size_t size = count * sizeof(CUgraphNode);
    CUgraphNode *node = memory_pages(size);
    int seen = node && driver.cuGraphGetNodes(nodes, node, &count) == CUDA_SUCCESS;
    for (size_t i = 0; seen && i < count && !graph->touched.opaque; i++)
        seen = add_node(C, graph, node[i], depth);
    if (node)
        memory_pages_free(node, size);
    return seen;
}

static void add_graph(struct call *C, struct graph *graph, CUgraph nodes)
{
    if (!can_ask() || !walk(C, graph, nodes, 0))
        touch_opaque(&graph->touched, OPAQUE_GRAPH);
}

void objects_graph_exec(struct call *C, const CUgraphExec *exec, CUgraph nodes, uint64_t flags)
{
    if (!C->footprint || C->result != CUDA_SUCCESS || !exec)
        return;
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        kernels_may_launch_graphs();
    struct graph *graph = new_graph();
    free_graph((struct graph *)map_remove(&graphs, (uint64_t)*exec));
    if (graph) {
        add_graph(C, graph, nodes);
        map_set(&graphs, (uint64_t)*exec, (uint64_t)graph);
    }
    C->object = graph ? graph->uid : 0;
    fp_words(C, PTDS_OP_GRAPH_INSTANTIATE, 0);
}

/* Before the call: afterwards the handle may be another's at once. */
void objects_graph_gone(struct call *C, CUgraphExec exec)
{
    if (C->footprint)
        free_graph((struct graph *)map_remove(&graphs, (uint64_t)exec));
}

void graphs_added_memory(struct call *C, const CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    if (params)
        objects_alloc(C, PTDS_MEMORY_POOL, &params->dptr, sizeof params->dptr, params->bytesize);
}

void graphs_added_node(struct call *C, const CUgraphNodeParams *params)
{
    if (params && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        objects_alloc(C, PTDS_MEMORY_POOL, &params->alloc.dptr, sizeof params->alloc.dptr, params->alloc.bytesize);
}

static struct graph *changed(const struct call *C, CUgraphExec exec)
{
    return C->footprint && C->result == CUDA_SUCCESS ? find(exec) : NULL;
}

void graphs_updated(struct call *C, CUgraphExec exec, CUgraph nodes)
{
    struct graph *graph = changed(C, exec);
    if (graph)
        add_graph(C, graph, nodes);
}

void graphs_set_kernel(struct call *C, CUgraphExec exec, CUfunction function, CUkernel kernel, void **params, void **extra)
{
    struct graph *graph = changed(C, exec);
    if (graph)
        add_kernel(C, graph, function ? function : (CUfunction)kernel, params, extra);
}

void graphs_set_copy(struct call *C, CUgraphExec exec, const CUDA_MEMCPY3D *copy)
{
    struct graph *graph = changed(C, exec);
    if (graph && copy)
        add_copy(C, graph, copy);
}

void graphs_set_memset(struct call *C, CUgraphExec exec, const CUDA_MEMSET_NODE_PARAMS *params)
{
    struct graph *graph = changed(C, exec);
    if (graph && params)
        add_memset(C, graph, params);
}

void graphs_set_other(struct call *C, CUgraphExec exec)
{
    struct graph *graph = changed(C, exec);
    if (graph)
        touch_opaque(&graph->touched, OPAQUE_GRAPH);
}

void fp_graph(struct call *C, CUgraphExec exec)
{
    if (!C->footprint)
        return;
    const struct graph *graph = find(exec);
    C->object = graph ? graph->uid : 0;
    C->flags |= PTDS_CALL_OPAQUE; /* the record's words name nothing */
    fp_words(C, PTDS_OP_GRAPH_LAUNCH, 0);
    if (!graph || graph->touched.opaque) {
        touch_opaque(&C->touched, OPAQUE_GRAPH);
        return;
    }
    for (unsigned i = 0; i < graph->touched.count; i++) {
        const struct access *access = &graph->touched.at[i];
        if (access->memory->uid == graph->memory_uid[i])
            touch_whole(&C->touched, access->memory, (int)access->writes);
        else
            touch_opaque(&C->touched, OPAQUE_GRAPH); /* another memory may lie at its addresses by now */
    }
    if (!graph->kernels)
        return;
    if (__atomic_load_n(&kernels_launch_graphs, __ATOMIC_RELAXED))
        touch_opaque(&C->touched, OPAQUE_GRAPH);
    if (tables_expand(&C->touched))
        tables_written(&C->touched);
}

void graphs_after_fork(void)
{
    lock.held = 0;
    map_reset(&graphs);
}
