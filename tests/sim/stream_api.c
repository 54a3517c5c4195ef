/* SPDX-License-Identifier: Apache-2.0
 *
 * cuStream...: creation, queries, host waits. Called by programs; captures are in capture_api.c, value operations in
 * value.c. What these say about handles 0, 0x1 and 0x2 is measured, not guessed.
 */
#include "tests/sim/sim.h"

CUresult impl_cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
    struct context *ctx;
    if (!phStream || flags > CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = context_need(&ctx);
    if (result == CUDA_SUCCESS) {
        int clamped = priority > 0 ? 0 : priority < -5 ? -5 : priority;
        struct stream *s = stream_new(ctx, flags & CU_STREAM_NON_BLOCKING ? STREAM_NON_BLOCKING : STREAM_BLOCKING, clamped);
        handle_add(s, HANDLE_STREAM);
        *phStream = (CUstream)s;
    }
    sim_unlock();
    return result;
}

CUresult impl_cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
    return impl_cuStreamCreateWithPriority(phStream, Flags, 0);
}

/* Returns at once; what is on the stream still runs. */
CUresult impl_cuStreamDestroy_v2(CUstream hStream)
{
    CUresult result = CUDA_ERROR_INVALID_HANDLE;
    sim_lock();
    if ((uintptr_t)hStream > 2 && handle_is(hStream, HANDLE_STREAM)) {
        stream_retire((struct stream *)hStream);
        result = CUDA_SUCCESS;
    }
    sim_unlock();
    return result;
}

CUresult impl_cuStreamDestroy(CUstream hStream)
{
    return impl_cuStreamDestroy_v2(hStream);
}

/* The queries: find the stream under the lock, read one thing. Some of them a capture does not survive. */
static CUresult harmless(struct stream *s)
{
    (void)s;
    return CUDA_SUCCESS;
}

#define QUERY(hStream, allowed, good, statement) \
    struct stream *s; \
    sim_lock(); \
    CUresult result = stream_find(hStream, &s); \
    if (result == CUDA_SUCCESS) \
        result = allowed(s); \
    if (result == CUDA_SUCCESS && !(good)) \
        result = CUDA_ERROR_INVALID_VALUE; \
    if (result == CUDA_SUCCESS) { \
        statement; \
    } \
    sim_unlock(); \
    return result;

CUresult impl_cuStreamGetId(CUstream hStream,
                            unsigned long long *streamId){QUERY(hStream, capture_observe, streamId, *streamId = s->id)}

CUresult impl_cuStreamGetFlags(CUstream hStream, unsigned int *flags){
    QUERY(hStream, capture_observe, flags,
          *flags = s->kind == STREAM_NON_BLOCKING ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT)}

CUresult
    impl_cuStreamGetPriority(CUstream hStream, int *priority){QUERY(hStream, harmless, priority, *priority = s->priority)}

CUresult impl_cuStreamGetCtx(CUstream hStream, CUcontext *pctx){QUERY(hStream, harmless, pctx, *pctx = (CUcontext)s->ctx)}

CUresult impl_cuStreamGetCtx_v2(CUstream hStream, CUcontext *pCtx, CUgreenCtx *pGreenCtx){
    QUERY(hStream, harmless, pCtx &&pGreenCtx, (*pCtx = (CUcontext)s->ctx, *pGreenCtx = NULL))}

CUresult impl_cuStreamGetDevice(CUstream hStream, CUdevice *device)
{
    QUERY(hStream, capture_observe, device, *device = s->ctx->device)
}

/* Locked: what a host wait or a look at a stream's progress has to ask first. */
static CUresult may_observe(struct stream *s)
{
    CUresult result = capture_observe(s);
    return result == CUDA_SUCCESS ? capture_unsafe() : result;
}

CUresult impl_cuStreamQuery(CUstream hStream)
{
    struct stream *s;
    sim_lock();
    CUresult result = stream_find(hStream, &s);
    if (result == CUDA_SUCCESS)
        result = may_observe(s);
    if (result == CUDA_SUCCESS && stream_busy(s))
        result = CUDA_ERROR_NOT_READY;
    sim_unlock();
    return result;
}

CUresult impl_cuStreamSynchronize(CUstream hStream)
{
    struct stream *s;
    sim_lock();
    CUresult result = stream_find(hStream, &s);
    if (result == CUDA_SUCCESS)
        result = may_observe(s);
    if (result == CUDA_SUCCESS)
        stream_synchronize(s);
    sim_unlock();
    return result;
}

CUresult impl_cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue *value)
{
    bool known = attr == CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW || attr == CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY ||
                 attr == CU_STREAM_ATTRIBUTE_PRIORITY;
    QUERY(hStream, harmless, known && value, {
        if (attr == CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW)
            value->accessPolicyWindow = s->policy_window;
        else if (attr == CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY)
            value->syncPolicy = s->sync_policy;
        else
            value->priority = s->priority;
    })
}

CUresult impl_cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue *param)
{
    bool known = attr == CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW || attr == CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY;
    QUERY(hStream, harmless, known && param, {
        if (attr == CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW)
            s->policy_window = param->accessPolicyWindow;
        else
            s->sync_policy = param->syncPolicy;
    })
}

CUresult impl_cuStreamCopyAttributes(CUstream dstStream, CUstream srcStream)
{
    struct stream *from, *to;
    sim_lock();
    CUresult result = stream_find(dstStream, &to);
    if (result == CUDA_SUCCESS)
        result = stream_find(srcStream, &from);
    if (result == CUDA_SUCCESS) {
        to->policy_window = from->policy_window;
        to->sync_policy = from->sync_policy;
    }
    sim_unlock();
    return result;
}

/* Managed memory is host memory here, so attaching it is only its place in the stream. */
CUresult impl_cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags)
{
    struct stream *s;
    struct work nothing = {.kind = WORK_NONE};
    (void)length;
    sim_lock();
    CUresult result = stream_find(hStream, &s);
    if (result == CUDA_SUCCESS && flags == CU_MEM_ATTACH_SINGLE && s->kind == STREAM_LEGACY)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && memory_kind_of(dptr) != MEMORY_MANAGED)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = stream_push(s, &nothing, NULL);
    sim_unlock();
    return result;
}

static void call_back(struct work *w, CUstream stream, CUhostFn fn, CUstreamCallback callback, void *data)
{
    *w = (struct work){.kind = WORK_HOST, .host = {fn, callback, stream, data}};
}

CUresult impl_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
    struct stream *s;
    struct work w;
    if (!fn)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = stream_find(hStream, &s);
    if (result == CUDA_SUCCESS) {
        call_back(&w, hStream, fn, NULL, userData);
        result = stream_push(s, &w, NULL);
    }
    sim_unlock();
    return result;
}

CUresult impl_cuLaunchHostFunc_v2(CUstream hStream, CUhostFn fn, void *userData, unsigned int syncMode)
{
    enum { BLOCKING, SPINS }; /* how the driver's own thread waits, which changes nothing here */
    return syncMode <= SPINS ? impl_cuLaunchHostFunc(hStream, fn, userData) : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl_cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData, unsigned int flags)
{
    struct stream *s;
    struct work w;
    if (!callback || flags)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = stream_find(hStream, &s);
    if (result == CUDA_SUCCESS)
        result = capture_forbid(s);
    if (result == CUDA_SUCCESS) {
        call_back(&w, hStream, NULL, callback, userData);
        result = stream_push(s, &w, NULL);
    }
    sim_unlock();
    return result;
}
