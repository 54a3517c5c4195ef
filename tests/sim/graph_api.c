/* SPDX-License-Identifier: Apache-2.0
 *
 * cuGraph...: making graphs, asking them, instantiating, updating and launching them. Called by programs. Nodes and their
 * parameters are in graph_nodes.c.
 */
#include <stdlib.h>
#include <string.h>

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
    bool live = handle_is(hGraph, HANDLE_GRAPH) && !((struct graph *)hGraph)->embedded;
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

CUresult impl_cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode *dependentNodes, size_t *numDependentNodes)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    struct node_set found = {NULL, 0, 0};
    sim_lock();
    if (numDependentNodes && handle_is(hNode, HANDLE_NODE)) {
        const struct node_set *all = &((struct node *)hNode)->graph->nodes;
        for (size_t i = 0; i < all->count; i++)
            for (size_t d = 0; d < all->nodes[i]->deps.count; d++)
                if (all->nodes[i]->deps.nodes[d] == (struct node *)hNode)
                    node_set_add(&found, all->nodes[i]);
        result = list(&found, dependentNodes, numDependentNodes);
        node_set_clear(&found);
    }
    sim_unlock();
    return result;
}

CUresult impl_cuGraphGetEdges(CUgraph hGraph, CUgraphNode *from, CUgraphNode *to, size_t *numEdges)
{
    size_t count = 0;
    sim_lock();
    bool good = numEdges && !from == !to && handle_is(hGraph, HANDLE_GRAPH);
    const struct node_set *all = good ? &((struct graph *)hGraph)->nodes : NULL;
    for (size_t i = 0; good && i < all->count; i++)
        for (size_t d = 0; d < all->nodes[i]->deps.count; d++, count++)
            if (from && count < *numEdges) {
                from[count] = (CUgraphNode)all->nodes[i]->deps.nodes[d];
                to[count] = (CUgraphNode)all->nodes[i];
            }
    if (good && (!from || count < *numEdges))
        *numEdges = count;
    sim_unlock();
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl_cuGraphNodeFindInClone(CUgraphNode *phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph)
{
    struct node *found = NULL;
    sim_lock();
    if (phNode && handle_is(hOriginalNode, HANDLE_NODE) && handle_is(hClonedGraph, HANDLE_GRAPH))
        found = graph_copy_of((struct graph *)hClonedGraph, (struct node *)hOriginalNode);
    if (found)
        *phNode = (CUgraphNode)found;
    sim_unlock();
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- instantiate and launch ---- */

CUresult impl_cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    if (phGraphExec && handle_is(hGraph, HANDLE_GRAPH))
        result = capture_unsafe();
    if (result == CUDA_SUCCESS) {
        struct graph_exec *exec = calloc(1, sizeof *exec);
        if (!exec)
            abort();
        exec->graph = graph_clone((struct graph *)hGraph);
        exec->flags = flags;
        handle_add(exec, HANDLE_EXEC);
        *phGraphExec = (CUgraphExec)exec;
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

/* Nothing to upload: only its place in the stream, which must not capture (measured). */
CUresult impl_cuGraphUpload(CUgraphExec hGraph, CUstream hStream)
{
    struct stream *s;
    struct work nothing = {.kind = WORK_NONE};
    sim_lock();
    CUresult result = handle_is(hGraph, HANDLE_EXEC) ? stream_find(hStream, &s) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = capture_forbid(s);
    if (result == CUDA_SUCCESS)
        result = stream_push(s, &nothing, NULL);
    sim_unlock();
    return result;
}

/* ---- update: another graph of the same shape takes the place of an executable one's parameters ---- */

static bool same_place(const struct node *a, const struct node *b)
{
    bool same = a->deps.count == b->deps.count;
    for (size_t d = 0; same && d < a->deps.count; d++)
        same = a->deps.nodes[d]->index == b->deps.nodes[d]->index;
    return same;
}

static CUgraphExecUpdateResult compare(const struct graph *old, const struct graph *new, struct node **at)
{
    *at = NULL;
    if (old->nodes.count != new->nodes.count)
        return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < new->nodes.count; i++) {
        const struct node *a = old->nodes.nodes[i], *b = *at = new->nodes.nodes[i];
        if (!same_place(a, b))
            return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        if (a->work.kind != b->work.kind)
            return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        struct node *inside;
        CUgraphExecUpdateResult result =
            a->work.kind == WORK_CHILD ? compare(a->work.child, b->work.child, &inside) : CU_GRAPH_EXEC_UPDATE_SUCCESS;
        if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
            return result;
    }
    *at = NULL;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

/* Which of the program's nodes an executable graph's node stands for does not change. */
static void take_over(struct graph *into, const struct graph *from)
{
    for (size_t i = 0; i < from->nodes.count; i++) {
        struct node *node = into->nodes.nodes[i];
        if (node->work.kind == WORK_CHILD) {
            take_over(node->work.child, from->nodes.nodes[i]->work.child);
            continue;
        }
        work_clear(&node->work);
        node->work = work_clone(&from->nodes.nodes[i]->work);
    }
}

CUresult impl_cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo *resultInfo)
{
    struct node *at = NULL;
    CUgraphExecUpdateResult outcome = CU_GRAPH_EXEC_UPDATE_ERROR;
    sim_lock();
    bool live = handle_is(hGraphExec, HANDLE_EXEC) && handle_is(hGraph, HANDLE_GRAPH);
    if (live)
        outcome = compare(((struct graph_exec *)hGraphExec)->graph, (struct graph *)hGraph, &at);
    if (outcome == CU_GRAPH_EXEC_UPDATE_SUCCESS)
        take_over(((struct graph_exec *)hGraphExec)->graph, (struct graph *)hGraph);
    sim_unlock();
    if (resultInfo)
        *resultInfo = (CUgraphExecUpdateResultInfo){.result = outcome, .errorNode = (CUgraphNode)at};
    if (!live)
        return CUDA_ERROR_INVALID_VALUE;
    return outcome == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult impl_cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,
                                CUgraphExecUpdateResult *updateResult_out)
{
    CUgraphExecUpdateResultInfo info;
    CUresult result = impl_cuGraphExecUpdate_v2(hGraphExec, hGraph, &info);
    if (hErrorNode_out)
        *hErrorNode_out = info.errorNode;
    if (updateResult_out)
        *updateResult_out = info.result;
    return result;
}

/* CUDA 13.4: kernel nodes may name a context, which they bring themselves here. */
CUresult impl_cuGraphAddNode_v3(CUgraphNode *phGraphNode, CUgraph hGraph, const CUgraphNode *dependencies,
                                const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                CUgraphNodeParams *nodeParams)
{
    return impl_cuGraphAddNode_v2(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams);
}

CUresult impl_cuGraphNodeSetParams_v2(CUgraphNode hNode, CUgraphNodeParams *nodeParams)
{
    return impl_cuGraphNodeSetParams(hNode, nodeParams);
}
