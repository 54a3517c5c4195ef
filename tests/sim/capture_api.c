/* SPDX-License-Identifier: Apache-2.0
 *
 * cuStreamBeginCapture to cuStreamEndCapture and the questions about captures. Called by programs.
 */
#include "tests/sim/capture.h"
#include "tests/sim/sim.h"

static CUresult begin(CUstream hStream, CUstreamCaptureMode mode, struct graph *graph, const struct node_set *deps)
{
    struct stream *s;
    CUresult result = stream_find(hStream, &s);
    if (result != CUDA_SUCCESS)
        return result;
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (s->kind == STREAM_LEGACY) {
        result = capture_legacy_use(s->ctx);
        return result == CUDA_SUCCESS ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : result;
    }
    if (s->capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    capture_open(s, mode, graph);
    if (deps)
        node_set_copy(&s->capture_deps, deps);
    return CUDA_SUCCESS;
}

CUresult impl_cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode)
{
    sim_lock();
    CUresult result = begin(hStream, mode, NULL, NULL);
    sim_unlock();
    return result;
}

CUresult impl_cuStreamBeginCapture(CUstream hStream)
{
    return impl_cuStreamBeginCapture_v2(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult impl_cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph, const CUgraphNode *dependencies,
                                          const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                          CUstreamCaptureMode mode)
{
    struct node_set deps = {NULL, 0, 0};
    CUresult result = CUDA_SUCCESS;
    if (dependencyData)
        return CUDA_ERROR_NOT_SUPPORTED;
    sim_lock();
    if (!handle_is(hGraph, HANDLE_GRAPH))
        result = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; result == CUDA_SUCCESS && i < numDependencies; i++)
        if (handle_is(dependencies[i], HANDLE_NODE))
            node_set_add(&deps, (struct node *)dependencies[i]);
        else
            result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = begin(hStream, mode, (struct graph *)hGraph, &deps);
    node_set_clear(&deps);
    sim_unlock();
    return result;
}

static CUresult verdict(const struct stream *s, const struct capture *c)
{
    if (c->mode != CU_STREAM_CAPTURE_MODE_RELAXED && c->thread != thread_self()->id)
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    if (c->origin != s)
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    if (c->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    return capture_joined(c) ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

/* Locked. Whatever the code, the capture is over, but for 903: its origin can still end it, with 901. */
static CUresult end(struct stream *s, CUgraph *phGraph)
{
    struct capture *c = s->capture;
    if (!c)
        return CUDA_ERROR_ILLEGAL_STATE;
    CUresult result = verdict(s, c);
    if (result == CUDA_ERROR_STREAM_CAPTURE_UNMATCHED) {
        c->invalid = true;
        return result;
    }
    bool borrowed = c->borrowed_graph;
    struct graph *graph = capture_close(c);
    if (result == CUDA_SUCCESS)
        *phGraph = (CUgraph)graph;
    else if (!borrowed)
        graph_free(graph);
    return result;
}

CUresult impl_cuStreamEndCapture(CUstream hStream, CUgraph *phGraph)
{
    struct stream *s;
    if (!phGraph)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = stream_find(hStream, &s);
    if (result == CUDA_SUCCESS) {
        *phGraph = NULL;
        result = end(s, phGraph);
    }
    sim_unlock();
    return result;
}

CUresult impl_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    struct thread *t = thread_self();
    if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode before = t->capture_mode;
    t->capture_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

/* What the four queries share. Asking the legacy stream while a blocking one captures answers 906 and harms nothing. */
static CUresult query(CUstream hStream, CUstreamCaptureStatus *status, cuuint64_t *id, struct stream **s)
{
    CUresult result = stream_find(hStream, s);
    if (result == CUDA_SUCCESS && !status)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && (*s)->kind == STREAM_LEGACY)
        result = capture_legacy_query((*s)->ctx);
    if (result != CUDA_SUCCESS)
        return result;
    const struct capture *c = (*s)->capture;
    *status = !c           ? CU_STREAM_CAPTURE_STATUS_NONE
              : c->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                           : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (id && c)
        *id = c->id;
    return CUDA_SUCCESS;
}

CUresult impl_cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus)
{
    struct stream *s;
    sim_lock();
    CUresult result = query(hStream, captureStatus, NULL, &s);
    sim_unlock();
    return result;
}

CUresult impl_cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out)
{
    struct stream *s;
    sim_lock();
    CUresult result = query(hStream, captureStatus_out, id_out, &s);
    sim_unlock();
    return result;
}

CUresult impl_cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                        CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                        size_t *numDependencies_out)
{
    struct stream *s;
    sim_lock();
    CUresult result = query(hStream, captureStatus_out, id_out, &s);
    if (result == CUDA_SUCCESS && *captureStatus_out == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        if (graph_out)
            *graph_out = (CUgraph)s->capture->graph;
        if (dependencies_out)
            *dependencies_out = (const CUgraphNode *)s->capture_deps.nodes;
        if (numDependencies_out)
            *numDependencies_out = s->capture_deps.count;
    }
    sim_unlock();
    return result;
}

CUresult impl_cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                        CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                        const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    if (edgeData_out)
        *edgeData_out = NULL; /* all edges are plain ones */
    return impl_cuStreamGetCaptureInfo_v2(hStream, captureStatus_out, id_out, graph_out, dependencies_out,
                                          numDependencies_out);
}

CUresult impl_cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode *dependencies, size_t numDependencies,
                                                unsigned int flags)
{
    struct stream *s;
    sim_lock();
    CUresult result = stream_find(hStream, &s);
    if (result == CUDA_SUCCESS && !s->capture)
        result = CUDA_ERROR_ILLEGAL_STATE;
    else if (result == CUDA_SUCCESS && s->capture->invalid)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    for (size_t i = 0; result == CUDA_SUCCESS && i < numDependencies; i++)
        if (!handle_is(dependencies[i], HANDLE_NODE))
            result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
            node_set_clear(&s->capture_deps);
        for (size_t i = 0; i < numDependencies; i++)
            node_set_add(&s->capture_deps, (struct node *)dependencies[i]);
    }
    sim_unlock();
    return result;
}

CUresult impl_cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode *dependencies,
                                                   const CUgraphEdgeData *dependencyData, size_t numDependencies,
                                                   unsigned int flags)
{
    if (dependencyData)
        return CUDA_ERROR_NOT_SUPPORTED;
    return impl_cuStreamUpdateCaptureDependencies(hStream, dependencies, numDependencies, flags);
}
