/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between contexts. Called by programs. The synchronous forms come after all work of both contexts' legacy streams,
 * and theirs after the copy: so the headers of the runtime library say of its functions; not measured. The asynchronous
 * ones are work of their stream and nothing more.
 */
#include "tests/sim/sim.h"

static CUresult contexts(CUcontext a, CUcontext b)
{
    sim_lock();
    bool live = handle_is(a, HANDLE_CONTEXT) && handle_is(b, HANDLE_CONTEXT);
    sim_unlock();
    return live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* Locked. What comes later on `then` waits for what legacy work of `ctx` would wait for. */
static void join(struct stream *then, struct stream *first)
{
    struct work nothing = {.kind = WORK_NONE};
    struct op *op = op_new(&nothing);
    stream_order_after(then, op);
    if (first->kind == STREAM_LEGACY)
        stream_order_after(first, op);
    else
        op_after(op, first->tail);
    stream_append(then, op);
    op_submit(op);
}

/* before: the copy is still to come, and comes after the other context's work; else that comes after the copy. */
static CUresult order_with(CUcontext other, bool before)
{
    struct context *ctx = (struct context *)other;
    struct stream *s;
    sim_lock();
    CUresult result = stream_find(NULL, &s);
    if (result == CUDA_SUCCESS && ctx != s->ctx) {
        result = capture_observe(s);
        if (result == CUDA_SUCCESS)
            result = capture_legacy_use(ctx);
        if (result == CUDA_SUCCESS)
            join(before ? s : ctx->legacy, before ? ctx->legacy : s);
    }
    sim_unlock();
    return result;
}

static CUresult order_with_both(CUcontext dst, CUcontext src, bool before)
{
    CUresult result = order_with(dst, before);
    return result == CUDA_SUCCESS && src != dst ? order_with(src, before) : result;
}

CUresult impl_cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                           size_t ByteCount)
{
    CUresult result = contexts(dstContext, srcContext);
    if (result == CUDA_SUCCESS)
        result = order_with_both(dstContext, srcContext, true);
    if (result == CUDA_SUCCESS)
        result = impl_cuMemcpyDtoD_v2(dstDevice, srcDevice, ByteCount);
    return result == CUDA_SUCCESS ? order_with_both(dstContext, srcContext, false) : result;
}

CUresult impl_cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                                size_t ByteCount, CUstream hStream)
{
    CUresult result = contexts(dstContext, srcContext);
    return result == CUDA_SUCCESS ? impl_cuMemcpyDtoDAsync_v2(dstDevice, srcDevice, ByteCount, hStream) : result;
}

CUresult impl_cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy)
{
    CUresult result = pCopy ? contexts(pCopy->dstContext, pCopy->srcContext) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = order_with_both(pCopy->dstContext, pCopy->srcContext, true);
    if (result == CUDA_SUCCESS)
        result = copy_3d_peer(pCopy, NULL, COPY_SYNC);
    return result == CUDA_SUCCESS ? order_with_both(pCopy->dstContext, pCopy->srcContext, false) : result;
}

CUresult impl_cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream)
{
    CUresult result = pCopy ? contexts(pCopy->dstContext, pCopy->srcContext) : CUDA_ERROR_INVALID_VALUE;
    return result == CUDA_SUCCESS ? copy_3d_peer(pCopy, hStream, COPY_ASYNC) : result;
}
