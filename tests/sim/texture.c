/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface objects over linear memory and arrays. Called by programs, and by the kernels that read through one,
 * without the lock: what an object stands for is written before the object is live. Handles are small numbers, used again
 * once they are free. Filters, address modes and mipmaps are not simulated: a kernel gets the words as they lie.
 */
#include "tests/sim/sim.h"

enum { OBJECTS = 4096, TEXTURE_ALIGNMENT = 512, PITCH_ALIGNMENT = 32 };

struct object {
    enum object_kind kind; /* 0: free */
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view;
    bool viewed;
    uint64_t address;
    size_t bytes;
};

static struct object objects[OBJECTS]; /* the handle is the index; 0 is none */

bool object_memory(uint64_t handle, enum object_kind kind, uint64_t *address, size_t *bytes, uint64_t *array)
{
    const struct object *o = handle < OBJECTS ? &objects[handle] : NULL;
    if (!o || __atomic_load_n(&o->kind, __ATOMIC_ACQUIRE) != kind)
        return false;
    *address = o->address;
    *bytes = o->bytes;
    *array = o->resource.resType == CU_RESOURCE_TYPE_ARRAY ? (uint64_t)(uintptr_t)o->resource.res.array.hArray : 0;
    return true;
}

/* Locked. */
static CUresult of_array(CUarray array, struct object *o)
{
    const struct array_object *a = (struct array_object *)array;
    if (!handle_is(a, HANDLE_ARRAY))
        return CUDA_ERROR_INVALID_VALUE;
    o->address = a->bytes;
    o->bytes = a->width * a->element * a->height * a->depth;
    return CUDA_SUCCESS;
}

static CUresult of_address(CUdeviceptr address, size_t bytes, struct object *o)
{
    if (!bytes || address % TEXTURE_ALIGNMENT || memory_kind_of(address) == MEMORY_PAGEABLE)
        return CUDA_ERROR_INVALID_VALUE;
    o->address = address;
    o->bytes = bytes;
    return memory_check(address, bytes);
}

/* Locked. */
static CUresult resolve(const CUDA_RESOURCE_DESC *d, struct object *o)
{
    switch (d->resType) {
    case CU_RESOURCE_TYPE_ARRAY: return of_array(d->res.array.hArray, o);
    case CU_RESOURCE_TYPE_LINEAR: return of_address(d->res.linear.devPtr, d->res.linear.sizeInBytes, o);
    case CU_RESOURCE_TYPE_PITCH2D:
        if (d->res.pitch2D.pitchInBytes % PITCH_ALIGNMENT)
            return CUDA_ERROR_INVALID_VALUE;
        return of_address(d->res.pitch2D.devPtr, d->res.pitch2D.pitchInBytes * d->res.pitch2D.height, o);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

/* Locked. */
static CUresult publish(const struct object *o, enum object_kind kind, unsigned long long *handle)
{
    for (unsigned long long i = 1; i < OBJECTS; i++)
        if (!objects[i].kind) {
            objects[i] = *o;
            __atomic_store_n(&objects[i].kind, kind, __ATOMIC_RELEASE);
            *handle = i;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult impl_cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                                const CUDA_TEXTURE_DESC *pTexDesc, const CUDA_RESOURCE_VIEW_DESC *pResViewDesc)
{
    struct context *ctx;
    struct object o = {0};
    if (!pTexObject || !pResDesc || !pTexDesc || (pResViewDesc && pResDesc->resType != CU_RESOURCE_TYPE_ARRAY))
        return CUDA_ERROR_INVALID_VALUE;
    o.resource = *pResDesc;
    o.texture = *pTexDesc;
    o.viewed = pResViewDesc != NULL;
    if (o.viewed)
        o.view = *pResViewDesc;
    sim_lock();
    CUresult result = context_need(&ctx);
    if (result == CUDA_SUCCESS)
        result = resolve(pResDesc, &o);
    if (result == CUDA_SUCCESS)
        result = publish(&o, OBJECT_TEXTURE, pTexObject);
    sim_unlock();
    return result;
}

CUresult impl_cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc)
{
    struct context *ctx;
    struct object o = {0};
    if (!pSurfObject || !pResDesc || pResDesc->resType != CU_RESOURCE_TYPE_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    o.resource = *pResDesc;
    sim_lock();
    CUresult result = context_need(&ctx);
    if (result == CUDA_SUCCESS)
        result = of_array(pResDesc->res.array.hArray, &o);
    if (result == CUDA_SUCCESS && !(((struct array_object *)pResDesc->res.array.hArray)->flags & CUDA_ARRAY3D_SURFACE_LDST))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = publish(&o, OBJECT_SURFACE, pSurfObject);
    sim_unlock();
    return result;
}

/* Locked. */
static struct object *find(unsigned long long handle, enum object_kind kind)
{
    return handle < OBJECTS && objects[handle].kind == kind ? &objects[handle] : NULL;
}

static CUresult destroy(unsigned long long handle, enum object_kind kind)
{
    sim_lock();
    struct object *o = find(handle, kind);
    if (o)
        __atomic_store_n(&o->kind, 0, __ATOMIC_RELEASE);
    sim_unlock();
    return o ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl_cuTexObjectDestroy(CUtexObject texObject)
{
    return destroy(texObject, OBJECT_TEXTURE);
}
CUresult impl_cuSurfObjectDestroy(CUsurfObject surfObject)
{
    return destroy(surfObject, OBJECT_SURFACE);
}

#define GET(name, handle_type, kind, type, good, member) \
    CUresult name(type *out, handle_type handle) \
    { \
        sim_lock(); \
        const struct object *o = out ? find(handle, kind) : NULL; \
        bool found = o && (good); \
        if (found) \
            *out = o->member; \
        sim_unlock(); \
        return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; \
    }

GET(impl_cuTexObjectGetResourceDesc, CUtexObject, OBJECT_TEXTURE, CUDA_RESOURCE_DESC, true, resource)
GET(impl_cuTexObjectGetTextureDesc, CUtexObject, OBJECT_TEXTURE, CUDA_TEXTURE_DESC, true, texture)
GET(impl_cuTexObjectGetResourceViewDesc, CUtexObject, OBJECT_TEXTURE, CUDA_RESOURCE_VIEW_DESC, o->viewed, view)
GET(impl_cuSurfObjectGetResourceDesc, CUsurfObject, OBJECT_SURFACE, CUDA_RESOURCE_DESC, true, resource)
