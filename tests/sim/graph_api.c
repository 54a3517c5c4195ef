/* SPDX-License-Identifier: Apache-2.0
 *
 * cuGraph...: building a graph by hand (empty, host, kernel, memset and linear copy nodes), asking it, instantiating and
 * launching it. Called by programs. Other node kinds and the updates of parameters are not simulated.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/launch.h"
#include "tests/sim/sim.h"

CUresult impl_cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
    if (!phGraph || flags)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    *phGraph = (CUgraph)graph_new();
    sim_unlock();
    return CUDA_SUCCESS;
}

CUresult impl_cuGraphDestroy(CUgraph hGraph)
{
    sim_lock();
    bool live = handle_is(hGraph, HANDLE_GRAPH);
    if (live)
        graph_free((struct graph *)hGraph);
    sim_unlock();
    return live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl_cuGraphClone(CUgraph *phGraphClone, CUgraph originalGraph)
{
    sim_lock();
    bool live = phGraphClone && handle_is(originalGraph, HANDLE_GRAPH);
    if (live)
        *phGraphClone = (CUgraph)graph_clone((struct graph *)originalGraph);
    sim_unlock();
    return live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Takes the work over. */
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

CUresult impl_cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                 size_t numDependencies, const CUDA_HOST_NODE_PARAMS *nodeParams)
{
    if (!nodeParams || !nodeParams->fn)
        return CUDA_ERROR_INVALID_VALUE;
    struct work w = {.kind = WORK_HOST, .host = {nodeParams->fn, NULL, NULL, nodeParams->userData}};
    sim_lock();
    CUresult result = add(phGraphNode, hGraph, dependencies, numDependencies, &w);
    sim_unlock();
    return result;
}

CUresult impl_cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                      size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS *p)
{
    struct work w;
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    const struct kernel_work shape = {
        NULL, {p->gridDimX, p->gridDimY, p->gridDimZ}, {p->blockDimX, p->blockDimY, p->blockDimZ}, p->sharedMemBytes};
    sim_lock();
    CUresult result = launch_work(p->func ? p->func : (CUfunction)p->kern, &shape, p->kernelParams, p->extra, &w);
    if (result == CUDA_SUCCESS)
        result = add(phGraphNode, hGraph, dependencies, numDependencies, &w);
    sim_unlock();
    return result;
}

CUresult impl_cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                   size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx)
{
    (void)ctx;
    if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
        return CUDA_ERROR_INVALID_VALUE;
    struct work w = {.kind = WORK_FILL,
                     .fill = {memory_bytes(p->dst), p->pitch, p->width, p->height, p->value, p->elementSize}};
    sim_lock();
    CUresult result = add(phGraphNode, hGraph, dependencies, numDependencies, &w);
    sim_unlock();
    return result;
}

/* ---- questions ---- */

static CUresult list(const struct node_set *set, CUgraphNode *out, size_t *count)
{
    if (out) {
        size_t room = *count;
        for (size_t i = 0; i < room; i++)
            out[i] = i < set->count ? (CUgraphNode)set->nodes[i] : NULL;
        *count = room < set->count ? room : set->count;
    } else {
        *count = set->count;
    }
    return CUDA_SUCCESS;
}

CUresult impl_cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    if (numNodes && handle_is(hGraph, HANDLE_GRAPH))
        result = list(&((struct graph *)hGraph)->nodes, nodes, numNodes);
    sim_unlock();
    return result;
}

CUresult impl_cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode *rootNodes, size_t *numRootNodes)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    struct node_set roots = {NULL, 0, 0};
    sim_lock();
    if (numRootNodes && handle_is(hGraph, HANDLE_GRAPH)) {
        const struct node_set *all = &((struct graph *)hGraph)->nodes;
        for (size_t i = 0; i < all->count; i++)
            if (!all->nodes[i]->deps.count)
                node_set_add(&roots, all->nodes[i]);
        result = list(&roots, rootNodes, numRootNodes);
        node_set_clear(&roots);
    }
    sim_unlock();
    return result;
}

CUresult impl_cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode *dependencies, size_t *numDependencies)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    if (numDependencies && handle_is(hNode, HANDLE_NODE))
        result = list(&((struct node *)hNode)->deps, dependencies, numDependencies);
    sim_unlock();
    return result;
}

CUresult impl_cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    if (type && handle_is(hNode, HANDLE_NODE)) {
        *type = work_node_type(&((struct node *)hNode)->work);
        result = CUDA_SUCCESS;
    }
    sim_unlock();
    return result;
}

/* ---- instantiate and launch ---- */

CUresult impl_cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    if (phGraphExec && handle_is(hGraph, HANDLE_GRAPH)) {
        struct graph_exec *exec = calloc(1, sizeof *exec);
        if (!exec)
            abort();
        exec->graph = graph_clone((struct graph *)hGraph);
        exec->flags = flags;
        handle_add(exec, HANDLE_EXEC);
        *phGraphExec = (CUgraphExec)exec;
        result = CUDA_SUCCESS;
    }
    sim_unlock();
    return result;
}

CUresult impl_cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
                                    size_t bufferSize)
{
    if (phErrorNode)
        *phErrorNode = NULL;
    if (logBuffer && bufferSize)
        *logBuffer = 0;
    return impl_cuGraphInstantiateWithFlags(phGraphExec, hGraph, 0);
}

CUresult impl_cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,
                                 size_t bufferSize)
{
    return impl_cuGraphInstantiate_v2(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

CUresult impl_cuGraphInstantiateWithParams(CUgraphExec *phGraphExec, CUgraph hGraph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    if (!instantiateParams)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = impl_cuGraphInstantiateWithFlags(phGraphExec, hGraph, instantiateParams->flags);
    if (result == CUDA_SUCCESS && (instantiateParams->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD))
        result = impl_cuGraphUpload(*phGraphExec, instantiateParams->hUploadStream);
    instantiateParams->hErrNode_out = NULL;
    instantiateParams->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}

/* A launch that is under way holds all that it needs. */
CUresult impl_cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    struct graph_exec *exec = (struct graph_exec *)hGraphExec;
    sim_lock();
    bool live = handle_is(exec, HANDLE_EXEC);
    if (live) {
        handle_remove(exec);
        graph_free(exec->graph);
        op_release(exec->last);
        free(exec);
    }
    sim_unlock();
    return live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl_cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t *flags)
{
    sim_lock();
    bool good = flags && handle_is(hGraphExec, HANDLE_EXEC);
    if (good)
        *flags = ((struct graph_exec *)hGraphExec)->flags;
    sim_unlock();
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl_cuGraphLaunch(CUgraphExec hGraph, CUstream hStream)
{
    struct stream *s;
    sim_lock();
    CUresult result = handle_is(hGraph, HANDLE_EXEC) ? stream_find(hStream, &s) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = graph_exec_launch((struct graph_exec *)hGraph, s);
    sim_unlock();
    return result;
}

/* Nothing to upload: only its place in the stream. */
CUresult impl_cuGraphUpload(CUgraphExec hGraph, CUstream hStream)
{
    struct stream *s;
    struct work nothing = {.kind = WORK_NONE};
    sim_lock();
    CUresult result = handle_is(hGraph, HANDLE_EXEC) ? stream_find(hStream, &s) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = stream_push(s, &nothing, NULL);
    sim_unlock();
    return result;
}
