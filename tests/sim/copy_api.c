/* SPDX-License-Identifier: Apache-2.0
 *
 * The linear copies between addresses: one line each over copy_linear. Called by programs. A function that names its
 * direction refuses an address of the other kind.
 */
#include "tests/sim/sim.h"

enum side { ANY, HOST, DEVICE };

/* Pinned and managed memory has an address that both sides can name. */
static bool is_side(uint64_t address, enum side side)
{
    enum memory_kind kind = memory_kind_of(address);
    return side == ANY || (side == HOST ? !memory_on_device(kind) || kind == MEMORY_MANAGED : kind != MEMORY_PAGEABLE);
}

static CUresult copy(CUstream s, uint64_t dst, enum side to, uint64_t src, enum side from, size_t size, enum copy_mode mode)
{
    struct context *ctx;
    sim_lock();
    CUresult result = context_need(&ctx);
    if (result == CUDA_SUCCESS && size && (!dst || !src || !is_side(dst, to) || !is_side(src, from)))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = copy_linear(s, dst, src, size, mode);
    sim_unlock();
    return result;
}

CUresult impl_cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return copy(NULL, dst, ANY, src, ANY, ByteCount, COPY_SYNC);
}

CUresult impl_cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    return copy(hStream, dst, ANY, src, ANY, ByteCount, COPY_ASYNC);
}

CUresult impl_cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount)
{
    return copy(NULL, dstDevice, DEVICE, (uintptr_t)srcHost, HOST, ByteCount, COPY_SYNC);
}

CUresult impl_cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream)
{
    return copy(hStream, dstDevice, DEVICE, (uintptr_t)srcHost, HOST, ByteCount, COPY_ASYNC);
}

CUresult impl_cuMemcpyDtoH_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    return copy(NULL, (uintptr_t)dstHost, HOST, srcDevice, DEVICE, ByteCount, COPY_SYNC);
}

CUresult impl_cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    return copy(hStream, (uintptr_t)dstHost, HOST, srcDevice, DEVICE, ByteCount, COPY_ASYNC);
}

CUresult impl_cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
    return copy(NULL, dstDevice, DEVICE, srcDevice, DEVICE, ByteCount, COPY_SYNC);
}

CUresult impl_cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    return copy(hStream, dstDevice, DEVICE, srcDevice, DEVICE, ByteCount, COPY_ASYNC);
}

/* Batches refuse the legacy stream and captures; attributes are hints and change nothing here. */
static CUresult batch(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, CUstream hStream, size_t *failed)
{
    struct stream *s;
    if (!dsts || !srcs || !sizes || !count)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = stream_find(hStream, &s);
    if (result == CUDA_SUCCESS && s->kind == STREAM_LEGACY)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && s->capture)
        result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; /* and the capture goes on */
    for (size_t i = 0; result == CUDA_SUCCESS && i < count; i++) {
        result = copy_linear(hStream, dsts[i], srcs[i], sizes[i], COPY_ASYNC);
        if (result != CUDA_SUCCESS && failed)
            *failed = i;
    }
    sim_unlock();
    return result;
}

CUresult impl_cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                 CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, size_t *failIdx,
                                 CUstream hStream)
{
    if (failIdx)
        *failIdx = SIZE_MAX;
    if (!attrs || !attrsIdxs || !numAttrs)
        return CUDA_ERROR_INVALID_VALUE;
    return batch(dsts, srcs, sizes, count, hStream, failIdx);
}

CUresult impl_cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                    CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, CUstream hStream)
{
    if (!attrs || !attrsIdxs || !numAttrs)
        return CUDA_ERROR_INVALID_VALUE;
    return batch(dsts, srcs, sizes, count, hStream, NULL);
}

/* One range with what a batch says of each. Whether the legacy stream is refused was never measured; the header, which says
 * so of batches, does not. */
CUresult impl_cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUmemcpyAttributes *attr,
                                          CUstream hStream)
{
    return attr ? copy(hStream, dst, ANY, src, ANY, size, COPY_ASYNC) : CUDA_ERROR_INVALID_VALUE;
}

/* Memory here has no place to move to. */
CUresult impl_cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream)
{
    struct stream *s;
    struct work nothing = {.kind = WORK_NONE};
    if (dstDevice != CU_DEVICE_CPU && (dstDevice < 0 || dstDevice >= device_count()))
        return CUDA_ERROR_INVALID_DEVICE;
    sim_lock();
    CUresult result = stream_find(hStream, &s);
    if (result == CUDA_SUCCESS && (!count || memory_kind_of(devPtr) != MEMORY_MANAGED))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = stream_push(s, &nothing, NULL);
    sim_unlock();
    return result;
}

CUresult impl_cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                                    CUstream hStream)
{
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    int device = location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : CU_DEVICE_CPU;
    return impl_cuMemPrefetchAsync(devPtr, count, device, hStream);
}
