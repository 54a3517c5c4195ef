/* SPDX-License-Identifier: Apache-2.0
 *
 * What a context can be asked and told: device, flags, limits, cache preference; cuCtxSynchronize. Called by programs only.
 */
#include <unistd.h>

#include "tests/sim/sim.h"

/* Enter with the lock and the current context, or leave the function with 201. */
#define WITH_CONTEXT(ctx) \
    struct context *ctx; \
    sim_lock(); \
    if (context_need(&ctx) != CUDA_SUCCESS) { \
        sim_unlock(); \
        return CUDA_ERROR_INVALID_CONTEXT; \
    }

CUresult impl_cuCtxGetDevice(CUdevice *device)
{
    WITH_CONTEXT(ctx)
    if (device)
        *device = ctx->device;
    sim_unlock();
    return device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl_cuCtxGetDevice_v2(CUdevice *device, CUcontext handle)
{
    if (!handle)
        return impl_cuCtxGetDevice(device);
    CUresult result = CUDA_ERROR_INVALID_CONTEXT;
    sim_lock();
    if (device && handle_is(handle, HANDLE_CONTEXT)) {
        *device = ((struct context *)handle)->device;
        result = CUDA_SUCCESS;
    }
    sim_unlock();
    return result;
}

CUresult impl_cuCtxGetFlags(unsigned int *flags)
{
    WITH_CONTEXT(ctx)
    if (flags)
        *flags = ctx->flags;
    sim_unlock();
    return flags ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl_cuCtxSetFlags(unsigned int flags)
{
    WITH_CONTEXT(ctx)
    ctx->flags = flags;
    sim_unlock();
    return CUDA_SUCCESS;
}

CUresult impl_cuCtxGetId(CUcontext handle, unsigned long long *ctxId)
{
    CUresult result = CUDA_ERROR_INVALID_CONTEXT;
    sim_lock();
    const struct context *ctx = handle ? (struct context *)handle : context_current();
    if (!ctxId) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else if (handle_is(ctx, HANDLE_CONTEXT)) {
        *ctxId = ctx->id;
        result = CUDA_SUCCESS;
    }
    sim_unlock();
    return result;
}

CUresult impl_cuCtxGetApiVersion(CUcontext handle, unsigned int *version)
{
    sim_lock();
    bool live = handle_is(handle ? (struct context *)handle : context_current(), HANDLE_CONTEXT);
    sim_unlock();
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;
    return live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult impl_cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    WITH_CONTEXT(ctx)
    (void)ctx;
    sim_unlock();
    if (leastPriority)
        *leastPriority = 0;
    if (greatestPriority)
        *greatestPriority = -5;
    return CUDA_SUCCESS;
}

CUresult impl_cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
    WITH_CONTEXT(ctx)
    bool good = pvalue && limit < COUNT_OF(ctx->limits) && limit < CU_LIMIT_MAX;
    if (good)
        *pvalue = ctx->limits[limit];
    sim_unlock();
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Only the stack size waits for the work there is. */
CUresult impl_cuCtxSetLimit(CUlimit limit, size_t value)
{
    WITH_CONTEXT(ctx)
    CUresult result = limit < CU_LIMIT_MAX ? CUDA_SUCCESS : CUDA_ERROR_UNSUPPORTED_LIMIT;
    if (result == CUDA_SUCCESS && limit == CU_LIMIT_STACK_SIZE) {
        result = capture_unsafe();
        if (result == CUDA_SUCCESS)
            context_synchronize(ctx);
    }
    if (result == CUDA_SUCCESS)
        ctx->limits[limit] = value;
    sim_unlock();
    return result;
}

CUresult impl_cuCtxGetCacheConfig(CUfunc_cache *pconfig)
{
    WITH_CONTEXT(ctx)
    if (pconfig)
        *pconfig = ctx->cache_config;
    sim_unlock();
    return pconfig ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl_cuCtxSetCacheConfig(CUfunc_cache config)
{
    WITH_CONTEXT(ctx)
    ctx->cache_config = config;
    sim_unlock();
    return CUDA_SUCCESS;
}

/* Locked. What cuCtxSynchronize does; under SIM_THREAD_END it may never come back. */
static void synchronize(struct context *ctx)
{
    while (ctx->hangs) {
        sim_unlock();
        pause();
        sim_lock();
    }
    context_synchronize(ctx);
}

CUresult impl_cuCtxSynchronize(void)
{
    WITH_CONTEXT(ctx)
    CUresult result = capture_any(ctx);
    if (result == CUDA_SUCCESS)
        synchronize(ctx);
    sim_unlock();
    return result;
}

CUresult impl_cuCtxSynchronize_v2(CUcontext handle)
{
    if (!handle)
        return impl_cuCtxSynchronize();
    CUresult result = CUDA_ERROR_INVALID_CONTEXT;
    sim_lock();
    if (handle_is(handle, HANDLE_CONTEXT))
        result = capture_any((struct context *)handle);
    if (result == CUDA_SUCCESS)
        synchronize((struct context *)handle);
    sim_unlock();
    return result;
}
