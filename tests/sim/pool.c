/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream-ordered memory: one pool a device, plus pools that programs create. Called by programs; work.c runs the frees. An
 * address is handed out again when its free has run, or before that to a stream that comes after the free, as the driver
 * does it ("follow event dependencies"). Must never hand it out to a stream that does not.
 */
#include <stdlib.h>

#include "tests/sim/sim.h"

struct pool {
    int device;
    cuuint64_t threshold; /* so many bytes stay when they are freed */
    cuuint64_t kept;
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

/* ---- nodes of graphs: the address is the graph's from here on; locked ---- */

static CUresult graph_allocate(int device, struct context *ctx, size_t size, uint64_t *base)
{
    CUresult result = memory_allocate_on(device, ctx, MEMORY_POOL, size, 0, base);
    if (result == CUDA_SUCCESS)
        memory_find(*base)->of_graph = true;
    return result;
}

CUresult pool_alloc_node(CUDA_MEM_ALLOC_NODE_PARAMS *p, struct work *w)
{
    const CUmemLocation *at = &p->poolProps.location;
    uint64_t base = 0;
    if (at->type != CU_MEM_LOCATION_TYPE_DEVICE || at->id < 0 || at->id >= device_count())
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = graph_allocate(at->id, NULL, p->bytesize, &base);
    *w = (struct work){.kind = WORK_ALLOC, .free = {base, 0}};
    p->dptr = base;
    return result;
}

CUresult pool_free_node(CUdeviceptr p, struct work *w)
{
    const struct allocation *a = memory_find(p);
    *w = (struct work){.kind = WORK_FREE, .free = {p, a ? a->id : 0}};
    return a && a->of_graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- what stays in a pool; locked ---- */

bool pool_keeps(const void *of, size_t bytes)
{
    struct pool *pool = handle_is(of, HANDLE_POOL) ? (struct pool *)of : NULL;
    if (!pool || pool->kept + bytes > pool->threshold)
        return false;
    pool->kept += bytes;
    return true;
}

static void pool_trim(struct pool *pool, cuuint64_t keep)
{
    if (pool->kept <= keep)
        return;
    memory_account(pool->device, 0, pool->kept - keep);
    pool->kept = keep;
}

static cuuint64_t pool_reserved(const struct pool *pool)
{
    cuuint64_t bytes = pool->kept;
    for (size_t i = 0; i < memory_count(); i++)
        bytes += memory_at(i)->pool == pool ? memory_rounded(memory_at(i)->size) : 0;
    return bytes;
}

/* ---- allocations ---- */

/* Locked. Memory whose free is on its way and comes before op can be handed out again: op's stream uses it only afterwards.
 */
static bool reuse(struct op *op, const struct pool *pool, size_t size, uint64_t *base)
{
    for (size_t i = 0; i < memory_count(); i++) {
        struct allocation *a = memory_at(i);
        if (a->pool == pool && op_busy(a->freed_by) && memory_rounded(a->size) == memory_rounded(size) &&
            op_comes_after(op, a->freed_by)) {
            *base = a->base;
            memory_renew(a, size);
            return true;
        }
    }
    return false;
}

/* Locked. In a capture: the memory is the graph's. */
static CUresult allocate_node(struct stream *s, const struct pool *pool, size_t size, uint64_t *base)
{
    CUresult result = graph_allocate(pool->device, s->ctx, size, base);
    struct work w = {.kind = WORK_ALLOC, .free = {*base, 0}};
    return result == CUDA_SUCCESS ? capture_add(s, &w) : result;
}

/* Locked. pool NULL: the default one of the stream's device. */
static CUresult allocate(struct stream *s, const struct pool *pool, size_t size, uint64_t *base)
{
    struct work nothing = {.kind = WORK_NONE};
    struct op *op;
    if (!pool)
        pool = default_pool(s->ctx->device);
    CUresult result = size ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && s->capture)
        return allocate_node(s, pool, size, base);
    if (result == CUDA_SUCCESS && s->kind == STREAM_LEGACY)
        result = capture_legacy_use(s->ctx);
    if (result == CUDA_SUCCESS)
        result = capture_unsafe();
    if (result == CUDA_SUCCESS)
        result = stream_push(s, &nothing, &op);
    if (result != CUDA_SUCCESS)
        return result;
    s->used_pool = true;
    if (!reuse(op, pool, size, base)) {
        pool_trim((struct pool *)pool, pool->kept > memory_rounded(size) ? pool->kept - memory_rounded(size) : 0);
        result = memory_allocate_on(pool->device, s->ctx, MEMORY_POOL, size, 0, base);
        if (result == CUDA_SUCCESS)
            memory_find(*base)->pool = pool;
    }
    op_release(op);
    return result;
}

CUresult impl_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
    struct stream *s;
    uint64_t base;
    if (!dptr)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = stream_find(hStream, &s);
    if (result == CUDA_SUCCESS)
        result = allocate(s, NULL, bytesize, &base);
    sim_unlock();
    if (result == CUDA_SUCCESS)
        *dptr = base;
    return result;
}

CUresult impl_cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    struct stream *s;
    uint64_t base;
    sim_lock();
    CUresult result = dptr && handle_is(pool, HANDLE_POOL) ? stream_find(hStream, &s) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = allocate(s, (const struct pool *)pool, bytesize, &base);
    sim_unlock();
    if (result == CUDA_SUCCESS)
        *dptr = base;
    return result;
}

/* The memory goes when the free runs, unless somebody who comes after it has it by then (its id is another one). */
CUresult impl_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
    struct stream *s;
    struct op *op = NULL;
    sim_lock();
    CUresult result = stream_find(hStream, &s);
    struct allocation *a = memory_find(dptr);
    if (result == CUDA_SUCCESS && !memory_is(dptr, MEMORY_POOL) && !memory_is(dptr, MEMORY_DEVICE))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        struct work w = {.kind = WORK_FREE, .free = {dptr, a->id}};
        result = stream_push(s, &w, &op);
    }
    if (result == CUDA_SUCCESS)
        s->used_pool = true;
    if (op && (a = memory_find(dptr))) /* the push may have waited for a load */
        a->freed_by = op;
    sim_unlock();
    return result;
}

/* ---- pools ---- */

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
        pool_trim((struct pool *)pool, 0);
        handle_remove(pool);
        free(pool);
        result = CUDA_SUCCESS;
    }
    sim_unlock();
    return result;
}

CUresult impl_cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    sim_lock();
    bool live = handle_is(pool, HANDLE_POOL);
    cuuint64_t reserved = live ? pool_reserved((struct pool *)pool) : 0, kept = live ? ((struct pool *)pool)->kept : 0;
    if (live && reserved > minBytesToKeep)
        pool_trim((struct pool *)pool, kept > reserved - minBytesToKeep ? kept - (reserved - minBytesToKeep) : 0);
    sim_unlock();
    return live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult attribute(struct pool *pool, CUmemPool_attribute attr, cuuint64_t *value, bool sets)
{
    if (attr == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT && !sets)
        *value = pool_reserved(pool);
    else if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD && sets)
        pool->threshold = *value;
    else if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        *value = pool->threshold;
    else
        return CUDA_ERROR_NOT_SUPPORTED;
    return CUDA_SUCCESS;
}

static CUresult with_attribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value, bool sets)
{
    sim_lock();
    CUresult result = value && handle_is(pool, HANDLE_POOL) ? attribute((struct pool *)pool, attr, value, sets)
                                                            : CUDA_ERROR_INVALID_VALUE;
    sim_unlock();
    return result;
}

CUresult impl_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    return with_attribute(pool, attr, value, false);
}

CUresult impl_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
    return with_attribute(pool, attr, value, true);
}
