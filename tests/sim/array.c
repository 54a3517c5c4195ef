/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA arrays: bytes in device memory, row after row. Called by programs and by the copies. Destroying one waits for
 * everything in the context. Mipmaps are not simulated; textures and surfaces are in texture.c.
 */
#include <stdlib.h>

#include "tests/sim/sim.h"

static size_t element_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
    }
}

CUresult impl_cuArray3DCreate_v2(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    struct context *ctx;
    if (!pHandle || !d || !d->Width)
        return CUDA_ERROR_INVALID_VALUE;
    size_t element = element_bytes(d->Format) * d->NumChannels;
    if (!element || d->Flags & ~(unsigned int)CUDA_ARRAY3D_SURFACE_LDST)
        return CUDA_ERROR_NOT_SUPPORTED;
    struct array_object *a = calloc(1, sizeof *a);
    if (!a)
        abort();
    *a = (struct array_object){
        d->Width, d->Height ? d->Height : 1, d->Depth ? d->Depth : 1, element, d->Format, d->NumChannels, d->Flags, 0};
    sim_lock();
    CUresult result = context_need(&ctx);
    if (result == CUDA_SUCCESS)
        result = capture_unsafe();
    if (result == CUDA_SUCCESS)
        result = memory_allocate(ctx, MEMORY_ARRAY, a->width * element * a->height * a->depth, 0, &a->bytes);
    if (result == CUDA_SUCCESS) {
        handle_add(a, HANDLE_ARRAY);
        *pHandle = (CUarray)a;
    } else {
        free(a);
    }
    sim_unlock();
    return result;
}

CUresult impl_cuArrayCreate_v2(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *d)
{
    if (!d)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_ARRAY3D_DESCRIPTOR all = {d->Width, d->Height, 0, d->Format, d->NumChannels, 0};
    return impl_cuArray3DCreate_v2(pHandle, &all);
}

CUresult impl_cuArrayDestroy(CUarray hArray)
{
    struct array_object *a = (struct array_object *)hArray;
    struct context *ctx;
    sim_lock();
    CUresult result = context_need(&ctx);
    if (result == CUDA_SUCCESS && !handle_is(a, HANDLE_ARRAY))
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS)
        result = capture_unsafe();
    if (result == CUDA_SUCCESS) {
        handle_remove(a);
        context_synchronize(memory_context(a->bytes));
        memory_free(a->bytes);
        free(a);
    }
    sim_unlock();
    return result;
}

CUresult impl_cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *d, CUarray hArray)
{
    sim_lock();
    bool live = d && handle_is(hArray, HANDLE_ARRAY);
    if (live) {
        const struct array_object *a = (struct array_object *)hArray;
        *d = (CUDA_ARRAY3D_DESCRIPTOR){a->width, a->height, a->depth, a->format, a->channels, a->flags};
    }
    sim_unlock();
    return live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult impl_cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *d, CUarray hArray)
{
    CUDA_ARRAY3D_DESCRIPTOR all;
    CUresult result = d ? impl_cuArray3DGetDescriptor_v2(&all, hArray) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *d = (CUDA_ARRAY_DESCRIPTOR){all.Width, all.Height, all.Format, all.NumChannels};
    return result;
}
