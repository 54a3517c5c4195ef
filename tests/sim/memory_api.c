/* SPDX-License-Identifier: Apache-2.0
 *
 * cuMemAlloc to cuMemFree, host and managed memory, cuMemGetInfo. Called by programs. Allocating never waits;
 * cuMemFree, cuMemFreeHost and cuMemHostUnregister wait for everything in the memory's context, whichever is current.
 */
#include "tests/sim/sim.h"

static CUresult allocate(enum memory_kind kind, size_t size, unsigned int flags, uint64_t *base)
{
    struct context *ctx;
    sim_lock();
    CUresult result = context_need(&ctx);
    if (result == CUDA_SUCCESS)
        result = capture_unsafe();
    if (result == CUDA_SUCCESS)
        result = memory_allocate(ctx, kind, size, flags, base);
    sim_unlock();
    return result;
}

CUresult impl_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
    uint64_t base;
    CUresult result = dptr ? allocate(MEMORY_DEVICE, bytesize, 0, &base) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *dptr = base;
    return result;
}

CUresult impl_cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                                 unsigned int ElementSizeBytes)
{
    (void)ElementSizeBytes;
    if (!pPitch || !WidthInBytes || !Height)
        return CUDA_ERROR_INVALID_VALUE;
    size_t pitch = (WidthInBytes + 511) / 512 * 512;
    CUresult result = impl_cuMemAlloc_v2(dptr, pitch * Height);
    if (result == CUDA_SUCCESS)
        *pPitch = pitch;
    return result;
}

CUresult impl_cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
    uint64_t base;
    CUresult result = dptr && (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST)
                          ? allocate(MEMORY_MANAGED, bytesize, flags, &base)
                          : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *dptr = base;
    return result;
}

CUresult impl_cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
    uint64_t base;
    CUresult result = pp && Flags < 8 ? allocate(MEMORY_PINNED, bytesize, Flags, &base) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *pp = (void *)(uintptr_t)base;
    return result;
}

CUresult impl_cuMemAllocHost_v2(void **pp, size_t bytesize)
{
    return impl_cuMemHostAlloc(pp, bytesize, 0);
}

CUresult impl_cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
    struct context *ctx;
    sim_lock();
    CUresult result = context_need(&ctx);
    if (result == CUDA_SUCCESS)
        result = capture_unsafe();
    if (result == CUDA_SUCCESS)
        result = memory_register(ctx, p, bytesize, Flags);
    sim_unlock();
    return result;
}

CUresult impl_cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags)
{
    return impl_cuMemHostRegister_v2(p, bytesize, Flags);
}

/* Waits for all there is, then frees; `otherwise` if the address is not the start of such memory. */
static CUresult free_waiting(uint64_t base, enum memory_kind kind, enum memory_kind or_kind, CUresult otherwise)
{
    struct context *ctx;
    sim_lock();
    CUresult result = context_need(&ctx);
    if (result == CUDA_SUCCESS && !memory_is(base, kind) && !memory_is(base, or_kind))
        result = otherwise;
    if (result == CUDA_SUCCESS)
        result = capture_unsafe();
    if (result == CUDA_SUCCESS) {
        context_synchronize(memory_context(base));
        memory_free(base);
    }
    sim_unlock();
    return result;
}

CUresult impl_cuMemFree_v2(CUdeviceptr dptr)
{
    if (!dptr)
        return CUDA_SUCCESS;
    sim_lock();
    bool pooled = memory_is(dptr, MEMORY_POOL);
    if (pooled)
        memory_free(dptr); /* stream-ordered memory: no wait */
    sim_unlock();
    return pooled ? CUDA_SUCCESS : free_waiting(dptr, MEMORY_DEVICE, MEMORY_MANAGED, CUDA_ERROR_INVALID_VALUE);
}

CUresult impl_cuMemFreeHost(void *p)
{
    return free_waiting((uintptr_t)p, MEMORY_PINNED, MEMORY_PINNED, CUDA_ERROR_INVALID_VALUE);
}

CUresult impl_cuMemHostUnregister(void *p)
{
    return free_waiting((uintptr_t)p, MEMORY_REGISTERED, MEMORY_REGISTERED, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

CUresult impl_cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    struct context *ctx;
    if (!free_bytes || !total)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = context_need(&ctx);
    if (result == CUDA_SUCCESS)
        memory_usage(ctx->device, free_bytes, total);
    sim_unlock();
    return result;
}
