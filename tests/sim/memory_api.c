/* SPDX-License-Identifier: Apache-2.0
 *
 * cuMemAlloc to cuMemFree, host and managed memory, pools, cuMemGetInfo. Called by programs. Allocating never waits;
 * cuMemFree, cuMemFreeHost and cuMemHostUnregister wait for everything in the context, whatever stream it is on.
 */
#include <stdlib.h>

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
        context_synchronize(ctx);
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

/* ---- stream-ordered: one pool a device, plus pools that programs create ---- */

struct pool {
    int device;
};

static struct pool *default_pools[MAX_DEVICES];

static struct pool *default_pool(int device)
{
    if (!default_pools[device]) {
        default_pools[device] = calloc(1, sizeof(struct pool));
        if (!default_pools[device])
            abort();
        default_pools[device]->device = device;
        handle_add(default_pools[device], HANDLE_POOL);
    }
    return default_pools[device];
}

/* The memory is there at once: a later use in any stream order that the program makes finds it. */
CUresult impl_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    struct stream *s;
    struct work nothing = {.kind = WORK_NONE};
    uint64_t base;
    if (!dptr)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = stream_find(hStream, &s);
    if (result == CUDA_SUCCESS && s->capture)
        result = CUDA_ERROR_NOT_SUPPORTED; /* an allocation node: not simulated */
    if (result == CUDA_SUCCESS && s->kind == STREAM_LEGACY)
        result = capture_legacy_use(s->ctx);
    if (result == CUDA_SUCCESS)
        result = capture_unsafe();
    if (result == CUDA_SUCCESS)
        result = stream_push(s, &nothing, NULL);
    if (result == CUDA_SUCCESS)
        result = memory_allocate(s->ctx, MEMORY_POOL, bytesize, 0, &base);
    if (result == CUDA_SUCCESS)
        *dptr = base;
    sim_unlock();
    return result;
}

CUresult impl_cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    sim_lock();
    bool live = handle_is(pool, HANDLE_POOL);
    sim_unlock();
    return live ? impl_cuMemAllocAsync(dptr, bytesize, hStream) : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    struct stream *s;
    struct work w = {.kind = WORK_FREE, .free_address = dptr};
    sim_lock();
    CUresult result = stream_find(hStream, &s);
    if (result == CUDA_SUCCESS && !memory_is(dptr, MEMORY_POOL) && !memory_is(dptr, MEMORY_DEVICE))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = stream_push(s, &w, NULL);
    sim_unlock();
    return result;
}

CUresult impl_cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
    if (!pool_out)
        return CUDA_ERROR_INVALID_VALUE;
    if (dev < 0 || dev >= device_count())
        return CUDA_ERROR_INVALID_DEVICE;
    sim_lock();
    *pool_out = (CUmemoryPool)default_pool(dev);
    sim_unlock();
    return CUDA_SUCCESS;
}

CUresult impl_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
    return impl_cuDeviceGetDefaultMemPool(pool, dev);
}

CUresult impl_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
    if (!pool || !poolProps || poolProps->location.id < 0 || poolProps->location.id >= device_count())
        return CUDA_ERROR_INVALID_VALUE;
    struct pool *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->device = poolProps->location.id;
    sim_lock();
    handle_add(p, HANDLE_POOL);
    sim_unlock();
    *pool = (CUmemoryPool)p;
    return CUDA_SUCCESS;
}

CUresult impl_cuMemPoolDestroy(CUmemoryPool pool)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    if (handle_is(pool, HANDLE_POOL) && (struct pool *)pool != default_pools[((struct pool *)pool)->device]) {
        handle_remove(pool);
        free(pool);
        result = CUDA_SUCCESS;
    }
    sim_unlock();
    return result;
}

CUresult impl_cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    (void)minBytesToKeep; /* freed memory never stays in a pool here */
    sim_lock();
    bool live = handle_is(pool, HANDLE_POOL);
    sim_unlock();
    return live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
