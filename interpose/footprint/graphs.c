/* SPDX-License-Identifier: Apache-2.0
 *
 * Executable graphs: the union of what their nodes touch, from the graph that they were instantiated from. Called by the
 * wrappers. Asks the driver about nodes (nodes.c) when a graph is instantiated or updated, never while a capture is open.
 */
#include "interpose/footprint/graphs.h"

#include "interpose/base/lock.h"
#include "interpose/footprint/given.h"

#include "interpose/base/pages.h"
#include "interpose/footprint/kernels.h"
#include "interpose/footprint/nodes.h"
#include "interpose/footprint/tables.h"
#include "interpose/footprint/touch.h"
#include "interpose/state/hooks.h"
#include "interpose/state/map.h"
#include "interpose/state/uids.h"

struct graph {
    uint32_t uid;
    struct nodes nodes;
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
        graph = pages_keep(sizeof *graph);
    if (graph) {
        graph->uid = uids_next(OBJECT_GRAPH);
        nodes_clear(&graph->nodes);
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

void objects_graph_exec(struct call *C, const CUgraphExec *exec, CUgraph nodes, uint64_t flags)
{
    if (!C->footprint || C->result != CUDA_SUCCESS || !exec)
        return;
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        kernels_are_opaque(OPAQUE_GRAPH);
    struct graph *graph = new_graph();
    free_graph((struct graph *)map_remove(&graphs, (uint64_t)*exec));
    if (graph) {
        nodes_add(C, &graph->nodes, nodes);
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
        objects_alloc_node(C, params->dptr, params->bytesize);
}

void graphs_added_node(struct call *C, const CUgraphNodeParams *params)
{
    if (params && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        objects_alloc_node(C, params->alloc.dptr, params->alloc.bytesize);
}

void graphs_record_event(CUevent event)
{
    if (event)
        STATE_TELL(graph_event, event, 0);
}

void graphs_await_event(CUevent event)
{
    if (event)
        STATE_TELL(graph_event, event, 1);
}

void graphs_about_events(const CUgraphNodeParams *params)
{
    int there = given_may_be(params);
    if (there && params->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
        graphs_record_event(params->eventRecord.event);
    else if (there && params->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
        graphs_await_event(params->eventWait.event);
}

static struct nodes *changed(const struct call *C, CUgraphExec exec)
{
    struct graph *graph = C->footprint && C->result == CUDA_SUCCESS ? find(exec) : NULL;
    return graph ? &graph->nodes : NULL;
}

void graphs_updated(struct call *C, CUgraphExec exec, CUgraph graph)
{
    struct nodes *nodes = changed(C, exec);
    if (nodes)
        nodes_add(C, nodes, graph);
}

void graphs_set_kernel(struct call *C, CUgraphExec exec, CUfunction function, CUkernel kernel, void **params, void **extra)
{
    struct nodes *nodes = changed(C, exec);
    if (nodes)
        nodes_add_kernel(C, nodes, function ? function : (CUfunction)kernel, params, extra);
}

void graphs_set_copy(struct call *C, CUgraphExec exec, const CUDA_MEMCPY3D *copy)
{
    struct nodes *nodes = changed(C, exec);
    if (nodes && copy)
        nodes_add_copy(C, nodes, copy);
}

void graphs_set_memset(struct call *C, CUgraphExec exec, const CUDA_MEMSET_NODE_PARAMS *params)
{
    struct nodes *nodes = changed(C, exec);
    if (nodes && params)
        nodes_add_memset(C, nodes, params);
}

void graphs_set_node(struct call *C, CUgraphExec exec, const CUgraphNodeParams *params)
{
    struct nodes *nodes = changed(C, exec);
    if (nodes && params)
        nodes_add_params(C, nodes, params);
}

/* What kernels reach besides, by pointers that lie in memory now. */
static void expand(struct call *C, const struct nodes *nodes)
{
    const struct memory *by_name = NULL; /* which node writes what, nobody knows any more */
    unsigned known = C->touched.count;
    if (C->touched.opaque || !(nodes->follows.count | nodes->follows.many))
        return;
    follow_all(&C->touched, &nodes->follows, &by_name);
    for (unsigned i = known; i < C->touched.count; i++) {
        if (C->touched.at[i].writes && C->touched.at[i].memory->host & 1)
            C->host_sides |= CALL_KERNEL_TO_HOST;
    }
}

static void touch_nodes(struct call *C, const struct nodes *nodes)
{
    if (nodes->touched.opaque)
        touch_opaque(&C->touched, (enum opaque_reason)nodes->touched.opaque);
    for (unsigned i = 0; i < nodes->touched.count; i++) {
        const struct access *access = &nodes->touched.at[i];
        int is_there = access->memory->uid == nodes->memory_uid[i];
        if (!is_there)
            touch_opaque(&C->touched, OPAQUE_GRAPH); /* another memory may lie at its addresses by now */
        else if (!C->touched.opaque)
            touch_whole(&C->touched, access->memory, (int)access->writes);
        if (nodes->by_kernels & UINT64_C(1) << i && access->memory->host & 1)
            C->host_sides |= CALL_KERNEL_TO_HOST;
    }
}

/* What all nodes write, and what is written through memory, may hold any pointers from here on. In a graph that gates
 * nobody has followed any. */
static void leave_pointers(struct call *C, const struct nodes *nodes)
{
    int followed = !C->touched.opaque || (C->touched.opaque == nodes->touched.opaque && !nodes->follows.count);
    if (nodes->unseen || !followed)
        tables_unknown_work();
    tables_filled_by(&nodes->touched);
    tables_filled_by(&C->touched);
}

static void touch_graph(struct call *C, CUgraphExec exec)
{
    const struct graph *graph = find(exec);
    C->object = graph ? graph->uid : 0;
    C->host_sides = graph && graph->nodes.to_host ? CALL_TO_HOST : 0;
    fp_words(C, PTDS_OP_GRAPH_LAUNCH, 0);
    if (!graph) {
        touch_opaque(&C->touched, OPAQUE_GRAPH);
        tables_unknown_work();
        return;
    }
    const struct nodes *nodes = &graph->nodes;
    uint32_t opaque = __atomic_load_n(&kernels_opaque, __ATOMIC_RELAXED);
    touch_nodes(C, nodes);
    if (opaque && nodes->kernels)
        touch_opaque(&C->touched, (enum opaque_reason)opaque);
    expand(C, nodes);
    leave_pointers(C, nodes);
    for (unsigned i = 0; C->enter && i < C->touched.count; i++)
        fp_reaches(C, C->touched.at[i].memory->uid, C->touched.at[i].writes != 0);
}

void fp_graph(struct call *C, CUgraphExec exec)
{
    if (!C->footprint)
        return;
    touch_graph(C, exec);
    fp_claim(C);
}

void graphs_after_fork(void)
{
    lock.held = 0;
    map_reset(&graphs);
}
