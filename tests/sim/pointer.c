/* SPDX-License-Identifier: Apache-2.0
 *
 * What an address is: cuPointerGetAttribute and its relatives; the one attribute that can be set. Called by programs. An
 * address that the driver does not know is pageable host memory and answers INVALID_VALUE, as measured.
 */
#include "tests/sim/sim.h"

static CUresult bool_out(void *data, bool value)
{
    *(int *)data = value;
    return CUDA_SUCCESS;
}

static CUresult attribute_of(const struct allocation *a, CUpointer_attribute attribute, CUdeviceptr ptr, void *data)
{
    bool device = memory_on_device(a->kind);
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)data = (CUcontext)a->ctx; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(CUmemorytype *)data = device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *(CUdeviceptr *)data = ptr; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (device && a->kind != MEMORY_MANAGED)
            return CUDA_ERROR_INVALID_VALUE;
        *(void **)data = (void *)(uintptr_t)ptr;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: *(const void **)data = a->pool; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: *(unsigned long long *)data = a->id; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return bool_out(data, a->kind == MEMORY_MANAGED);
    case CU_POINTER_ATTRIBUTE_MAPPED: return bool_out(data, true);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)data = a->device; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *(CUdeviceptr *)data = a->base; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *(size_t *)data = a->size; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: return bool_out(data, a->kind == MEMORY_DEVICE);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return bool_out(data, a->waits);
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult impl_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    const struct allocation *a = memory_find(ptr);
    if (data && a)
        result = attribute_of(a, attribute, ptr, data);
    sim_unlock();
    return result;
}

CUresult impl_cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    struct allocation *a = memory_find(ptr);
    if (value && a && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) {
        a->waits = *(const unsigned int *)value != 0;
        result = CUDA_SUCCESS;
    }
    sim_unlock();
    return result;
}

/* What is unknown is zero here, and the call succeeds. */
CUresult impl_cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes, void **data,
                                     CUdeviceptr ptr)
{
    if (!attributes || !data)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    const struct allocation *a = memory_find(ptr);
    for (unsigned int i = 0; i < numAttributes; i++) {
        if (a && attribute_of(a, attributes[i], ptr, data[i]) == CUDA_SUCCESS)
            continue;
        switch (attributes[i]) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        case CU_POINTER_ATTRIBUTE_MAPPED: *(int *)data[i] = 0; break;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)data[i] = -2; break;
        default: *(void **)data[i] = NULL; break;
        }
    }
    sim_unlock();
    return CUDA_SUCCESS;
}

CUresult impl_cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
    sim_lock();
    const struct allocation *a = memory_find(dptr);
    bool found = a != NULL;
    if (found && pbase)
        *pbase = a->base;
    if (found && psize)
        *psize = a->size;
    sim_unlock();
    return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult impl_cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
    if (!pdptr || Flags)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    bool known = memory_page_locked(memory_kind_of((uintptr_t)p));
    sim_unlock();
    *pdptr = (CUdeviceptr)(uintptr_t)p;
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl_cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
    sim_lock();
    const struct allocation *a = memory_find((uintptr_t)p);
    bool known = pFlags && a && memory_page_locked(a->kind);
    if (known)
        *pFlags = a->flags | CU_MEMHOSTALLOC_DEVICEMAP;
    sim_unlock();
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
