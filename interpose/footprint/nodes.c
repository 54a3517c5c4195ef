/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks the nodes of a graph and adds up what they touch. Called by graphs.c when a graph is instantiated or updated. Must
 * not ask the driver anything while a capture is open. What gates (host functions, waits for a value, events and
 * semaphores) is opaque, with the reason that the same call on a stream has.
 */
#include "interpose/footprint/nodes.h"

#include <string.h>

#include "interpose/base/pages.h"
#include "interpose/driver/driver.h"
#include "interpose/footprint/kernels.h"
#include "interpose/footprint/touch.h"
#include "interpose/state/capture.h"

/* A call that nobody makes, to put the answers of footprint's other files into. */
static void begin_node(struct call *node, const struct call *C)
{
    node->thread = C->thread;
    node->footprint = 1;
    node->enter = 0;
    node->flags = PTDS_CALL_CAPTURING;
    node->op = node->words = node->kinds = node->host_sides = 0;
    node->result = CUDA_SUCCESS;
    node->touched.count = 0;
    node->touched.opaque = node->touched.host = 0;
}

/* What gates brings no bytes; of all else that may touch everything nobody knows what it brings. */
static int is_gate(enum opaque_reason why)
{
    return why == OPAQUE_NO || why == OPAQUE_HOST_FUNCTION || why == OPAQUE_SEMAPHORE || why == OPAQUE_EVENT;
}

static void add_opaque(struct nodes *nodes, enum opaque_reason why)
{
    touch_opaque(&nodes->touched, why);
    nodes->unseen |= !is_gate(why);
}

/* Whole memories: which bytes of them makes no difference where several nodes come together. One that is gone stays so,
 * whatever has its place by now. */
static void join(struct nodes *nodes, const struct touched *touched)
{
    unsigned known = nodes->touched.count;
    if (touched->opaque)
        add_opaque(nodes, (enum opaque_reason)touched->opaque);
    for (unsigned i = 0; i < touched->count; i++)
        touch_whole(&nodes->touched, touched->at[i].memory, (int)touched->at[i].writes);
    nodes->unseen |= !is_gate((enum opaque_reason)nodes->touched.opaque); /* there are more than there is room for */
    for (unsigned i = known; i < nodes->touched.count; i++)
        nodes->memory_uid[i] = nodes->touched.at[i].memory->uid;
}

/* Which of the memories of all nodes this one writes: bits. */
static uint64_t written(const struct nodes *nodes, const struct touched *by)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < nodes->touched.count; i++) {
        for (unsigned k = 0; k < by->count; k++) {
            if (by->at[k].writes && by->at[k].memory == nodes->touched.at[i].memory)
                bits |= UINT64_C(1) << i;
        }
    }
    return bits;
}

/* A call reads and writes plain host memory itself; a graph does so when it runs, and the host and other graphs may come to
 * the same bytes meanwhile. No memory stands for them. */
static void touch_plain_host(struct call *node)
{
    if ((node->kinds & 15) == PTDS_MEMORY_PAGEABLE || node->kinds >> 4 == PTDS_MEMORY_PAGEABLE)
        touch_opaque(&node->touched, OPAQUE_OTHER);
}

void nodes_add_kernel(struct call *C, struct nodes *nodes, CUfunction function, void **params, void **extra)
{
    struct call node;
    struct follows follows;
    begin_node(&node, C);
    kernels_touch_node(&node, kernels_find(C->thread, function), params, extra, &follows);
    join(nodes, &node.touched);
    for (unsigned i = 0; i < follows.count; i++)
        follow_add(&nodes->follows, follows.at[i]);
    nodes->follows.many |= follows.many;
    nodes->kernels = 1;
    nodes->by_kernels |= written(nodes, &node.touched);
}

void nodes_add_copy(struct call *C, struct nodes *nodes, const CUDA_MEMCPY3D *copy)
{
    struct call node;
    begin_node(&node, C);
    fp_copy_3d(&node, copy);
    touch_plain_host(&node);
    nodes->to_host |= (node.kinds & 15) == PTDS_MEMORY_PAGEABLE;
    join(nodes, &node.touched);
}

void nodes_add_memset(struct call *C, struct nodes *nodes, const CUDA_MEMSET_NODE_PARAMS *params)
{
    struct call node;
    begin_node(&node, C);
    fp_memset(&node, params->dst, params->pitch, params->elementSize, params->value, params->width, params->height);
    touch_plain_host(&node);
    join(nodes, &node.touched);
}

/* Memory that begins or ceases to exist where the graph runs. Where it lies is known as long as the node is there. */
static void add_memory(struct call *C, struct nodes *nodes, CUdeviceptr address)
{
    struct call node;
    struct memory *memory = memories_find(C->thread, address).memory;
    begin_node(&node, C);
    if (memory)
        touch_whole(&node.touched, memory, 1);
    else
        touch_opaque(&node.touched, OPAQUE_GRAPH);
    join(nodes, &node.touched);
}

/* Why a node of that type may touch everything. */
static enum opaque_reason reason_of(CUgraphNodeType type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_HOST: return OPAQUE_HOST_FUNCTION;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return OPAQUE_WAITS_FOR_VALUE;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return OPAQUE_EVENT;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: return OPAQUE_SEMAPHORE;
    default: return OPAQUE_GRAPH;
    }
}

static int walk(struct call *C, struct nodes *nodes, CUgraph graph, unsigned depth);

/* The kinds of nodes whose parameters the driver tells; 0: it does not. */
static int add_kernel_node(struct call *C, struct nodes *nodes, CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    if (driver.cuGraphKernelNodeGetParams_v2(node, &kernel) != CUDA_SUCCESS)
        return 0;
    /* Of one from a library both are there (measured), and only of the CUkernel it is known whose it is. */
    nodes_add_kernel(C, nodes, kernel.kern ? (CUfunction)kernel.kern : kernel.func, kernel.kernelParams, kernel.extra);
    return 1;
}

static int add_copy_node(struct call *C, struct nodes *nodes, CUgraphNode node)
{
    CUDA_MEMCPY3D copy;
    if (driver.cuGraphMemcpyNodeGetParams(node, &copy) != CUDA_SUCCESS)
        return 0;
    nodes_add_copy(C, nodes, &copy);
    return 1;
}

static int add_memset_node(struct call *C, struct nodes *nodes, CUgraphNode node)
{
    CUDA_MEMSET_NODE_PARAMS memset;
    if (driver.cuGraphMemsetNodeGetParams(node, &memset) != CUDA_SUCCESS)
        return 0;
    nodes_add_memset(C, nodes, &memset);
    return 1;
}

static int add_alloc_node(struct call *C, struct nodes *nodes, CUgraphNode node)
{
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    if (!driver.cuGraphMemAllocNodeGetParams || driver.cuGraphMemAllocNodeGetParams(node, &alloc) != CUDA_SUCCESS)
        return 0;
    add_memory(C, nodes, alloc.dptr);
    return 1;
}

static int add_free_node(struct call *C, struct nodes *nodes, CUgraphNode node)
{
    CUdeviceptr address;
    if (!driver.cuGraphMemFreeNodeGetParams || driver.cuGraphMemFreeNodeGetParams(node, &address) != CUDA_SUCCESS)
        return 0;
    add_memory(C, nodes, address);
    return 1;
}

static int add_child_node(struct call *C, struct nodes *nodes, CUgraphNode node, unsigned depth)
{
    CUgraph child;
    return driver.cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS && walk(C, nodes, child, depth + 1);
}

/* 0: it could not be seen. */
static int add_node(struct call *C, struct nodes *nodes, CUgraphNode node, unsigned depth)
{
    CUgraphNodeType type;
    if (driver.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS)
        return 0;
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return add_kernel_node(C, nodes, node);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return add_copy_node(C, nodes, node);
    case CU_GRAPH_NODE_TYPE_MEMSET: return add_memset_node(C, nodes, node);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return add_alloc_node(C, nodes, node);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return add_free_node(C, nodes, node);
    case CU_GRAPH_NODE_TYPE_GRAPH: return add_child_node(C, nodes, node, depth);
    case CU_GRAPH_NODE_TYPE_EMPTY: return 1;
    default: add_opaque(nodes, reason_of(type)); return 1;
    }
}

static int can_ask(void)
{
    return !capture_any() && driver.cuGraphGetNodes && driver.cuGraphNodeGetType && driver.cuGraphKernelNodeGetParams_v2 &&
           driver.cuGraphMemcpyNodeGetParams && driver.cuGraphMemsetNodeGetParams && driver.cuGraphChildGraphNodeGetGraph;
}

static int walk(struct call *C, struct nodes *nodes, CUgraph graph, unsigned depth)
{
    size_t count = 0;
    if (depth > 16 || driver.cuGraphGetNodes(graph, NULL, &count) != CUDA_SUCCESS)
        return 0;
    if (!count)
        return 1;
    size_t size = count * sizeof(CUgraphNode);
    CUgraphNode *node = pages_map(size);
    int seen = node && driver.cuGraphGetNodes(graph, node, &count) == CUDA_SUCCESS;
    for (size_t i = 0; seen && i < count; i++) /* also of an opaque one it is known where it copies to */
        seen = add_node(C, nodes, node[i], depth);
    if (node)
        pages_unmap(node, size);
    return seen;
}

void nodes_add(struct call *C, struct nodes *nodes, CUgraph graph)
{
    int saved = errno; /* the driver is asked, of each node */
    if (!can_ask() || !walk(C, nodes, graph, 0))
        add_opaque(nodes, OPAQUE_GRAPH);
    errno = saved;
}

/* What an executable graph's node is from now on. */
void nodes_add_params(struct call *C, struct nodes *nodes, const CUgraphNodeParams *params)
{
    const CUDA_KERNEL_NODE_PARAMS_v3 *kernel = &params->kernel;
    const CUDA_MEMSET_NODE_PARAMS_v2 *set = &params->memset;
    const CUDA_MEMSET_NODE_PARAMS memset = {set->dst, set->pitch, set->value, set->elementSize, set->width, set->height};
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        nodes_add_kernel(C, nodes, kernel->func ? kernel->func : (CUfunction)kernel->kern, kernel->kernelParams,
                         kernel->extra);
        break;
    case CU_GRAPH_NODE_TYPE_MEMCPY: nodes_add_copy(C, nodes, &params->memcpy.copyParams); break;
    case CU_GRAPH_NODE_TYPE_MEMSET: nodes_add_memset(C, nodes, &memset); break;
    case CU_GRAPH_NODE_TYPE_GRAPH: nodes_add(C, nodes, params->graph.graph); break;
    case CU_GRAPH_NODE_TYPE_EMPTY: break;
    default: add_opaque(nodes, reason_of(params->type)); break;
    }
}
