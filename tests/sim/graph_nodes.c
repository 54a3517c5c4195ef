/* SPDX-License-Identifier: Apache-2.0
 *
 * The nodes of graphs: adding them by hand, reading their parameters and changing them in a graph or in an executable one.
 * Called by programs. Each kind has one function that makes work of its parameters; the four calls of a kind go through it.
 * A launch that is under way never sees a change: it has copies of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/launch.h"
#include "tests/sim/sim.h"

/* ---- work of parameters; locked ---- */

static CUresult of_kernel(const CUDA_KERNEL_NODE_PARAMS *p, struct work *w)
{
    const struct kernel_work shape = {
        NULL, {p->gridDimX, p->gridDimY, p->gridDimZ}, {p->blockDimX, p->blockDimY, p->blockDimZ}, p->sharedMemBytes, NULL,
        NULL};
    return launch_work(p->func ? p->func : (CUfunction)p->kern, &shape, p->kernelParams, p->extra, w);
}

static CUresult of_kernel_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *p, struct work *w)
{
    const CUDA_KERNEL_NODE_PARAMS all = {p->func,         p->gridDimX,  p->gridDimY,  p->gridDimZ,
                                         p->blockDimX,    p->blockDimY, p->blockDimZ, p->sharedMemBytes,
                                         p->kernelParams, p->extra,     NULL,         NULL};
    return of_kernel(&all, w);
}

static CUresult of_memcpy(const CUDA_MEMCPY3D *p, struct work *w)
{
    *w = (struct work){.kind = WORK_COPY};
    return copy_describe(p, &w->copy);
}

static CUresult of_memset(const CUDA_MEMSET_NODE_PARAMS *p, struct work *w)
{
    size_t pitch = p->height > 1 ? p->pitch : p->width * p->elementSize;
    if ((p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) || !p->width || !p->height ||
        pitch < p->width * p->elementSize)
        return CUDA_ERROR_INVALID_VALUE;
    *w = (struct work){.kind = WORK_FILL,
                       .fill = {memory_bytes(p->dst), p->pitch, p->width, p->height, p->value, p->elementSize, p->dst}};
    return memory_check(p->dst, (p->height - 1) * pitch + p->width * p->elementSize);
}

static CUresult of_host(const CUDA_HOST_NODE_PARAMS *p, struct work *w)
{
    if (!p->fn)
        return CUDA_ERROR_INVALID_VALUE;
    *w = (struct work){.kind = WORK_HOST, .host = {p->fn, NULL, NULL, p->userData}};
    return CUDA_SUCCESS;
}

static CUresult of_child(CUgraph graph, struct work *w)
{
    if (!handle_is(graph, HANDLE_GRAPH))
        return CUDA_ERROR_INVALID_VALUE;
    *w = (struct work){.kind = WORK_CHILD, .child = graph_clone((struct graph *)graph)};
    w->child->embedded = true;
    return CUDA_SUCCESS;
}

static CUresult of_event(CUevent event, enum work_kind kind, struct work *w)
{
    *w = (struct work){.kind = kind, .event = (struct event *)event};
    return handle_is(event, HANDLE_EVENT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult of_record(CUevent event, struct work *w)
{
    return of_event(event, WORK_RECORD, w);
}

static CUresult of_await(CUevent event, struct work *w)
{
    return of_event(event, WORK_AWAIT, w);
}

/* ---- parameters of work; locked ---- */

/* The array points into the node, as the driver's does; good until the node changes or goes. */
static void to_kernel(struct node *node, CUDA_KERNEL_NODE_PARAMS *p)
{
    const struct kernel_work *k = &node->work.kernel;
    const struct function *f = k->function;
    free(node->parameters);
    node->parameters = calloc(f->parameter_count + 1, sizeof *node->parameters);
    if (!node->parameters)
        abort();
    for (size_t i = 0; i < f->parameter_count; i++)
        node->parameters[i] = (char *)node->work.blob + f->parameters[i].offset;
    /* Of one that was launched by a CUkernel, both: the context's function too (measured). */
    *p = (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)f,
                                   .kern = k->kernel,
                                   .ctx = (CUcontext)f->module->ctx,
                                   .gridDimX = k->grid[0],
                                   .gridDimY = k->grid[1],
                                   .gridDimZ = k->grid[2],
                                   .blockDimX = k->block[0],
                                   .blockDimY = k->block[1],
                                   .blockDimZ = k->block[2],
                                   .sharedMemBytes = k->shared,
                                   .kernelParams = node->parameters};
}

static void to_kernel_v1(struct node *node, CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS all;
    to_kernel(node, &all);
    *p = (CUDA_KERNEL_NODE_PARAMS_v1){(CUfunction)node->work.kernel.function,
                                      all.gridDimX,
                                      all.gridDimY,
                                      all.gridDimZ,
                                      all.blockDimX,
                                      all.blockDimY,
                                      all.blockDimZ,
                                      all.sharedMemBytes,
                                      all.kernelParams,
                                      NULL};
}

#define FROM_SIDE(p, side, s) \
    do { \
        (p)->side##MemoryType = (s)->type; \
        (p)->side##XInBytes = (s)->x, (p)->side##Y = (s)->y, (p)->side##Z = (s)->z; \
        (p)->side##Pitch = (s)->pitch, (p)->side##Height = (s)->height; \
        if ((s)->type == CU_MEMORYTYPE_ARRAY) \
            (p)->side##Array = (s)->array; \
        else if ((s)->type == CU_MEMORYTYPE_HOST) \
            (p)->side##Host = (void *)(uintptr_t)(s)->address; \
        else \
            (p)->side##Device = (s)->address; \
    } while (0)

static void to_memcpy(struct node *node, CUDA_MEMCPY3D *p)
{
    const struct copy *c = &node->work.copy;
    *p = (CUDA_MEMCPY3D){.WidthInBytes = c->width, .Height = c->height, .Depth = c->depth};
    FROM_SIDE(p, src, &c->from);
    FROM_SIDE(p, dst, &c->to);
}

static void to_memset(struct node *node, CUDA_MEMSET_NODE_PARAMS *p)
{
    const struct fill *f = &node->work.fill;
    *p = (CUDA_MEMSET_NODE_PARAMS){f->at, f->pitch, f->value, f->element, f->width, f->height};
}

static void to_alloc(struct node *node, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    const struct allocation *a = memory_find(node->work.free.address);
    *p = (CUDA_MEM_ALLOC_NODE_PARAMS){.bytesize = a->size, .dptr = a->base};
    p->poolProps.location = (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = a->device};
}

static void to_free(struct node *node, CUdeviceptr *p)
{
    *p = node->work.free.address;
}

static void to_host(struct node *node, CUDA_HOST_NODE_PARAMS *p)
{
    *p = (CUDA_HOST_NODE_PARAMS){node->work.host.function, node->work.host.data};
}

/* ---- into a graph, and in place of what a node has ---- */

/* Locked. Takes the work over. */
static CUresult add(CUgraphNode *out, CUgraph hGraph, const CUgraphNode *dependencies, size_t count, struct work *w)
{
    struct node_set deps = {NULL, 0, 0};
    CUresult result = out && handle_is(hGraph, HANDLE_GRAPH) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; result == CUDA_SUCCESS && i < count; i++)
        if (handle_is(dependencies[i], HANDLE_NODE))
            node_set_add(&deps, (struct node *)dependencies[i]);
        else
            result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *out = (CUgraphNode)graph_add((struct graph *)hGraph, w, &deps);
    work_clear(w);
    node_set_clear(&deps);
    return result;
}

CUresult impl_cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                  size_t numDependencies)
{
    struct work w = {.kind = WORK_NONE};
    sim_lock();
    CUresult result = add(phGraphNode, hGraph, dependencies, numDependencies, &w);
    sim_unlock();
    return result;
}

/* Locked. A handle's node if its work is of that kind. */
static struct node *node_of(CUgraphNode hNode, enum work_kind kind)
{
    struct node *node = handle_is(hNode, HANDLE_NODE) ? (struct node *)hNode : NULL;
    return node && node->work.kind == kind ? node : NULL;
}

/* Locked. In an executable graph: the copy of the program's node. */
static struct node *exec_node_of(CUgraphExec hExec, CUgraphNode hNode, enum work_kind kind)
{
    struct node *node = handle_is(hExec, HANDLE_EXEC) ? node_of(hNode, kind) : NULL;
    return node ? graph_copy_of(((struct graph_exec *)hExec)->graph, node) : NULL;
}

/* Locked. Takes the work over; a CUresult of its making that is not 0 goes through. */
static CUresult replace(struct node *node, struct work *w, CUresult result)
{
    if (result != CUDA_SUCCESS)
        return result;
    free(node->parameters);
    node->parameters = NULL;
    work_clear(&node->work);
    node->work = *w;
    return CUDA_SUCCESS;
}

#define ADD(type, suffix, of, params, ...) \
    CUresult impl_cuGraphAdd##type##Node##suffix(CUgraphNode *out, CUgraph graph, const CUgraphNode *deps, size_t count, \
                                                 params __VA_ARGS__) \
    { \
        struct work w; \
        if (!p) \
            return CUDA_ERROR_INVALID_VALUE; \
        sim_lock(); \
        CUresult result = of(p, &w); \
        if (result == CUDA_SUCCESS) \
            result = add(out, graph, deps, count, &w); \
        sim_unlock(); \
        return result; \
    }

#define GET(type, suffix, kind, to, params) \
    CUresult impl_cuGraph##type##NodeGetParams##suffix(CUgraphNode hNode, params *p) \
    { \
        sim_lock(); \
        struct node *node = p ? node_of(hNode, kind) : NULL; \
        if (node) \
            to(node, p); \
        sim_unlock(); \
        return node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; \
    }

#define SET_IN(name, find, of, ...) \
    CUresult name(__VA_ARGS__) \
    { \
        struct work w; \
        sim_lock(); \
        struct node *node = p ? find : NULL; \
        CUresult result = node ? replace(node, &w, of(p, &w)) : CUDA_ERROR_INVALID_VALUE; \
        sim_unlock(); \
        return result; \
    }

#define SET(type, suffix, kind, of, params, ...) \
    SET_IN(impl_cuGraph##type##NodeSetParams##suffix, node_of(hNode, kind), of, CUgraphNode hNode, params) \
    SET_IN(impl_cuGraphExec##type##NodeSetParams##suffix, exec_node_of(hExec, hNode, kind), of, CUgraphExec hExec, \
           CUgraphNode hNode, params __VA_ARGS__)

#define ANY_CONTEXT , CUcontext ctx __attribute__((unused))

ADD(Kernel, , of_kernel_v1, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
ADD(Kernel, _v2, of_kernel, const CUDA_KERNEL_NODE_PARAMS *p)
ADD(Memcpy, , of_memcpy, const CUDA_MEMCPY3D *p ANY_CONTEXT)
ADD(Memset, , of_memset, const CUDA_MEMSET_NODE_PARAMS *p ANY_CONTEXT)
ADD(Host, , of_host, const CUDA_HOST_NODE_PARAMS *p)
ADD(MemAlloc, , pool_alloc_node, CUDA_MEM_ALLOC_NODE_PARAMS *p)
ADD(MemFree, , pool_free_node, CUdeviceptr p)

GET(Kernel, , WORK_KERNEL, to_kernel_v1, CUDA_KERNEL_NODE_PARAMS_v1)
GET(Kernel, _v2, WORK_KERNEL, to_kernel, CUDA_KERNEL_NODE_PARAMS)
GET(Memcpy, , WORK_COPY, to_memcpy, CUDA_MEMCPY3D)
GET(Memset, , WORK_FILL, to_memset, CUDA_MEMSET_NODE_PARAMS)
GET(Host, , WORK_HOST, to_host, CUDA_HOST_NODE_PARAMS)
GET(MemAlloc, , WORK_ALLOC, to_alloc, CUDA_MEM_ALLOC_NODE_PARAMS)
GET(MemFree, , WORK_FREE, to_free, CUdeviceptr)

SET(Kernel, , WORK_KERNEL, of_kernel_v1, const CUDA_KERNEL_NODE_PARAMS_v1 *p)
SET(Kernel, _v2, WORK_KERNEL, of_kernel, const CUDA_KERNEL_NODE_PARAMS *p)
SET(Memcpy, , WORK_COPY, of_memcpy, const CUDA_MEMCPY3D *p, ANY_CONTEXT)
SET(Memset, , WORK_FILL, of_memset, const CUDA_MEMSET_NODE_PARAMS *p, ANY_CONTEXT)
SET(Host, , WORK_HOST, of_host, const CUDA_HOST_NODE_PARAMS *p)

/* ---- child graphs: the parameter is the graph ---- */

CUresult impl_cuGraphAddChildGraphNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                       size_t numDependencies, CUgraph childGraph)
{
    struct work w;
    sim_lock();
    CUresult result = of_child(childGraph, &w);
    if (result == CUDA_SUCCESS)
        result = add(phGraphNode, hGraph, dependencies, numDependencies, &w);
    sim_unlock();
    return result;
}

CUresult impl_cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph *phGraph)
{
    sim_lock();
    struct node *node = phGraph ? node_of(hNode, WORK_CHILD) : NULL;
    if (node)
        *phGraph = (CUgraph)node->work.child;
    sim_unlock();
    return node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SET_IN(impl_cuGraphExecChildGraphNodeSetParams, exec_node_of(hExec, hNode, WORK_CHILD), of_child, CUgraphExec hExec,
       CUgraphNode hNode, CUgraph p)

/* ---- events: the parameter is the event ---- */

#define EVENT_NODE(type, kind, of) \
    ADD(type, , of, CUevent p) \
    CUresult impl_cuGraph##type##NodeGetEvent(CUgraphNode hNode, CUevent *event_out) \
    { \
        sim_lock(); \
        struct node *node = event_out ? node_of(hNode, kind) : NULL; \
        if (node) \
            *event_out = (CUevent)node->work.event; \
        sim_unlock(); \
        return node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; \
    } \
    SET_IN(impl_cuGraph##type##NodeSetEvent, node_of(hNode, kind), of, CUgraphNode hNode, CUevent p) \
    SET_IN(impl_cuGraphExec##type##NodeSetEvent, exec_node_of(hExec, hNode, kind), of, CUgraphExec hExec, \
           CUgraphNode hNode, CUevent p)

EVENT_NODE(EventRecord, WORK_RECORD, of_record)
EVENT_NODE(EventWait, WORK_AWAIT, of_await)

/* ---- the calls for any kind ---- */

static CUresult of_any_alloc(CUgraphNodeParams *p, struct work *w)
{
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {.poolProps = p->alloc.poolProps, .bytesize = p->alloc.bytesize};
    CUresult result = pool_alloc_node(&alloc, w);
    p->alloc.dptr = alloc.dptr;
    return result;
}

static CUresult of_any(CUgraphNodeParams *p, struct work *w)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMSET_NODE_PARAMS memset_params;
    CUDA_HOST_NODE_PARAMS host;
    _Static_assert(sizeof kernel == sizeof p->kernel, "the same members");
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: memcpy(&kernel, &p->kernel, sizeof kernel); return of_kernel(&kernel, w);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return of_memcpy(&p->memcpy.copyParams, w);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        memcpy(&memset_params, &p->memset, sizeof memset_params);
        return of_memset(&memset_params, w);
    case CU_GRAPH_NODE_TYPE_HOST: host = (CUDA_HOST_NODE_PARAMS){p->host.fn, p->host.userData}; return of_host(&host, w);
    case CU_GRAPH_NODE_TYPE_GRAPH: return of_child(p->graph.graph, w);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return of_record(p->eventRecord.event, w);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return of_await(p->eventWait.event, w);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return of_any_alloc(p, w);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return pool_free_node(p->free.dptr, w);
    case CU_GRAPH_NODE_TYPE_EMPTY: *w = (struct work){.kind = WORK_NONE}; return CUDA_SUCCESS;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

ADD(, , of_any, CUgraphNodeParams *p)

CUresult impl_cuGraphAddNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                CUgraphNodeParams *nodeParams)
{
    for (size_t i = 0; dependencyData && i < numDependencies; i++)
        if (dependencyData[i].type != CU_GRAPH_DEPENDENCY_TYPE_DEFAULT)
            return CUDA_ERROR_NOT_SUPPORTED;
    return impl_cuGraphAddNode(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}

/* Locked: the kind that such parameters must meet in a node. */
static enum work_kind kind_of(const CUgraphNodeParams *p)
{
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return WORK_KERNEL;
    case CU_GRAPH_NODE_TYPE_MEMCPY: return WORK_COPY;
    case CU_GRAPH_NODE_TYPE_MEMSET: return WORK_FILL;
    case CU_GRAPH_NODE_TYPE_HOST: return WORK_HOST;
    case CU_GRAPH_NODE_TYPE_GRAPH: return WORK_CHILD;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return WORK_RECORD;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return WORK_AWAIT;
    default: return WORK_NONE;
    }
}

SET_IN(impl_cuGraphNodeSetParams, node_of(hNode, kind_of(p)), of_any, CUgraphNode hNode, CUgraphNodeParams *p)
SET_IN(impl_cuGraphExecNodeSetParams, exec_node_of(hExec, hNode, kind_of(p)), of_any, CUgraphExec hExec, CUgraphNode hNode,
       CUgraphNodeParams *p)
