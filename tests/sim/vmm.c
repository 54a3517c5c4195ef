/* SPDX-License-Identifier: Apache-2.0
 *
 * Virtual memory management: ranges of addresses (cuMemAddressReserve), physical memory (cuMemCreate) and the one mapped
 * into the other. Called by programs. None of these calls waits for work, as with a driver: what still runs in a range that
 * is unmapped faults. Physical memory is a file in memory, so that mapping it twice shows the same bytes twice.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/sim/sim.h"

#define GRANULARITY (2u << 20)

struct physical {
    CUmemAllocationProp prop;
    size_t size;
    int fd;
    unsigned int handles, mappings; /* gone when both are 0 */
};

static bool granular(uint64_t n)
{
    return n && n % GRANULARITY == 0;
}

/* ---- addresses ---- */

CUresult impl_cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                                  unsigned long long flags)
{
    (void)addr; /* a wish */
    if (!ptr || !granular(size) || (alignment & (alignment - 1)) || flags)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    struct view *v = view_take(size, alignment > GRANULARITY ? alignment : GRANULARITY);
    sim_unlock();
    if (!v)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *ptr = v->base;
    return CUDA_SUCCESS;
}

/* Locked. The reserved range that holds all of this, or NULL. */
static struct view *range_of(uint64_t address, size_t size)
{
    struct view *v = view_of(address);
    return v && v->taken && size <= v->size - (address - v->base) ? v : NULL;
}

/* Locked. Is anything mapped there? */
static bool holds_some(uint64_t address, size_t size)
{
    for (uint64_t at = address; at < address + size; at += GRANULARITY)
        if (memory_find(at))
            return true;
    return false;
}

/* Locked. Whole mappings, one behind the other, and nothing else? */
static bool whole_mappings(uint64_t address, size_t size)
{
    uint64_t at = address;
    while (at < address + size) {
        const struct allocation *a = memory_find(at);
        if (!a || a->kind != MEMORY_MAPPED || a->base != at)
            return false;
        at += a->size;
    }
    return size && at == address + size;
}

CUresult impl_cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
    sim_lock();
    struct view *v = range_of(ptr, size);
    bool good = v && v->base == ptr && v->size == size && !holds_some(ptr, size);
    if (good)
        view_leave(v);
    sim_unlock();
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- physical memory ---- */

/* Locked. Takes the file over. */
static struct physical *physical_new(int fd, size_t size, const CUmemAllocationProp *prop)
{
    struct physical *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    *p = (struct physical){*prop, size, fd, 1, 0};
    handle_add(p, HANDLE_PHYSICAL);
    return p;
}

static void release(struct physical *p)
{
    if (!p->handles)
        handle_remove(p);
    if (p->handles || p->mappings)
        return;
    memory_account(p->prop.location.id, 0, p->size);
    close(p->fd);
    free(p);
}

/* The host's own has its account with the device of that number, and the host cannot touch it. */
static CUresult check_prop(const CUmemAllocationProp *prop)
{
    if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (prop->location.type < CU_MEM_LOCATION_TYPE_DEVICE || prop->location.type > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT ||
        prop->requestedHandleTypes > CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_NOT_SUPPORTED;
    return prop->location.id >= 0 && prop->location.id < device_count() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult impl_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                          unsigned long long flags)
{
    CUresult result = handle && granular(size) && !flags ? check_prop(prop) : CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    int fd = memfd_create("sim-physical-memory", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
        abort();
    sim_lock();
    if (memory_account(prop->location.id, size, 0)) {
        *handle = (CUmemGenericAllocationHandle)(uintptr_t)physical_new(fd, size, prop);
    } else {
        close(fd);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_unlock();
    return result;
}

static struct physical *physical_of(CUmemGenericAllocationHandle handle)
{
    struct physical *p = (struct physical *)(uintptr_t)handle;
    return handle_is(p, HANDLE_PHYSICAL) ? p : NULL;
}

CUresult impl_cuMemRelease(CUmemGenericAllocationHandle handle)
{
    sim_lock();
    struct physical *p = physical_of(handle);
    if (p) {
        p->handles--;
        release(p);
    }
    sim_unlock();
    return p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
    sim_lock();
    const struct allocation *a = memory_find((uintptr_t)addr);
    bool good = handle && a && a->kind == MEMORY_MAPPED;
    if (good) {
        if (!a->physical->handles++)
            handle_add(a->physical, HANDLE_PHYSICAL);
        *handle = (CUmemGenericAllocationHandle)(uintptr_t)a->physical;
    }
    sim_unlock();
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl_cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle)
{
    sim_lock();
    const struct physical *p = prop ? physical_of(handle) : NULL;
    if (p)
        *prop = p->prop;
    sim_unlock();
    return p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl_cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                            CUmemAllocationGranularity_flags option)
{
    CUresult result =
        granularity && option <= CU_MEM_ALLOC_GRANULARITY_RECOMMENDED ? check_prop(prop) : CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *granularity = GRANULARITY;
    return result;
}

/* ---- another process's, by a file descriptor ---- */

CUresult impl_cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                           CUmemAllocationHandleType handleType, unsigned long long flags)
{
    if (!shareableHandle || flags || handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    const struct physical *p = physical_of(handle);
    bool good = p && p->prop.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (good)
        *(int *)shareableHandle = fcntl(p->fd, F_DUPFD_CLOEXEC, 0);
    sim_unlock();
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                             CUmemAllocationHandleType shHandleType)
{
    struct context *ctx;
    struct stat file;
    if (!handle || shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || fstat((int)(intptr_t)osHandle, &file) != 0 ||
        !granular((uint64_t)file.st_size))
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = context_need(&ctx);
    if (result == CUDA_SUCCESS && !memory_account(ctx->device, (size_t)file.st_size, 0))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS) {
        const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                          .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                          .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = ctx->device}};
        int fd = fcntl((int)(intptr_t)osHandle, F_DUPFD_CLOEXEC, 0);
        *handle = (CUmemGenericAllocationHandle)(uintptr_t)physical_new(fd, (size_t)file.st_size, &prop);
    }
    sim_unlock();
    return result;
}

/* ---- one mapped into the other ---- */

CUresult impl_cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                       unsigned long long flags)
{
    if (!granular(size) || ptr % GRANULARITY || offset || flags) /* a driver takes no offset either */
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    struct physical *p = physical_of(handle);
    struct view *v = range_of(ptr, size);
    if (p && v && size <= p->size && !holds_some(ptr, size)) {
        if (!view_map(v, (size_t)(ptr - v->base), size, p->fd, 0, PROT_NONE))
            abort();
        memory_insert((struct allocation){
            .base = ptr, .size = size, .kind = MEMORY_MAPPED, .device = p->prop.location.id, .physical = p});
        p->mappings++;
        result = CUDA_SUCCESS;
    }
    sim_unlock();
    return result;
}

CUresult impl_cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    sim_lock();
    bool good = whole_mappings(ptr, size);
    for (uint64_t at = ptr; good && at < ptr + size;) {
        const struct allocation a = *memory_find(at);
        view_unmap(view_of(at), (size_t)(at - view_of(at)->base), a.size);
        memory_remove(at);
        a.physical->mappings--;
        release(a.physical);
        at += a.size;
    }
    sim_unlock();
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Locked. The simulator's own side has the most that any device may do. */
static void protect(const struct allocation *a)
{
    unsigned int most = 0;
    for (int i = 0; i < MAX_DEVICES; i++)
        most |= a->allowed[i];
    int protection = most == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? PROT_READ | PROT_WRITE : most ? PROT_READ : PROT_NONE;
    if (mprotect(memory_bytes(a->base), a->size, protection) != 0)
        abort();
}

static bool device_place(const CUmemLocation *location)
{
    return location->type == CU_MEM_LOCATION_TYPE_DEVICE && location->id >= 0 && location->id < device_count();
}

static bool host_place(const CUmemLocation *location)
{
    return location->type >= CU_MEM_LOCATION_TYPE_HOST && location->type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

CUresult impl_cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
    bool good = desc && count;
    for (size_t i = 0; good && i < count; i++)
        good = (device_place(&desc[i].location) || host_place(&desc[i].location)) && desc[i].flags != 2 &&
               desc[i].flags <= CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    sim_lock();
    good = good && whole_mappings(ptr, size);
    for (uint64_t at = ptr; good && at < ptr + size;) {
        struct allocation *a = memory_find(at);
        for (size_t i = 0; i < count; i++)
            if (device_place(&desc[i].location)) /* the host never touches it here */
                a->allowed[desc[i].location.id] = desc[i].flags;
        protect(a);
        at += a->size;
    }
    sim_unlock();
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult impl_cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr)
{
    if (!flags || !location || !device_place(location))
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    const struct allocation *a = memory_find(ptr);
    bool good = a && a->kind == MEMORY_MAPPED;
    if (good)
        *flags = a->allowed[location->id];
    sim_unlock();
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
