/* SPDX-License-Identifier: Apache-2.0
 *
 * cuIpc...MemHandle: device memory of another process of the same user. A handle names the file that the memory lies in, by
 * the process that has it, and that process must be alive when it is opened. Called by programs. Closing waits for the
 * context as a free does; nobody measured that. Events between processes are not simulated.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/sim/sim.h"

#define PAGE 4096u

/* What the 64 bytes hold. */
struct handle {
    char magic[8];
    int32_t process, file, device, unused; /* no gap: handles are compared */
    uint64_t inode, offset, size, id;
};
_Static_assert(sizeof(struct handle) <= sizeof(CUipcMemHandle), "it must fit");
static const char magic[8] = "simipc1";

/* Opened here; a handle that is opened twice is one mapping. */
struct opened {
    struct handle handle;
    struct view *view;
    uint64_t base;
    unsigned int count;
    struct opened *next;
};
static struct opened *opened;

CUresult impl_cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
    struct handle h = {.process = getpid()};
    struct stat file;
    sim_lock();
    const struct allocation *a = memory_find(dptr);
    bool good = pHandle && a && a->kind == MEMORY_DEVICE;
    if (good) {
        size_t offset;
        memcpy(h.magic, magic, sizeof h.magic);
        h.file = memory_file(a, &offset);
        h.device = a->device;
        h.offset = offset;
        h.size = a->size;
        h.id = a->id;
        if (fstat(h.file, &file) != 0)
            abort();
        h.inode = file.st_ino;
    }
    sim_unlock();
    if (!good)
        return CUDA_ERROR_INVALID_VALUE;
    memset(pHandle, 0, sizeof *pHandle);
    memcpy(pHandle, &h, sizeof h);
    return CUDA_SUCCESS;
}

/* The file itself, or -1 if that process or that file is gone. */
static int open_file(const struct handle *h)
{
    char path[64];
    struct stat file;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)h->process, (int)h->file);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &file) != 0 || file.st_ino != h->inode)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Locked. Whole pages, with what lies beside it in the file. */
static CUresult map(struct context *ctx, const struct handle *h, CUdeviceptr *base)
{
    size_t before = h->offset % PAGE, size = (before + h->size + PAGE - 1) / PAGE * PAGE;
    struct opened *o = calloc(1, sizeof *o);
    struct view *v = view_take(size, 2u << 20);
    int fd = open_file(h);
    if (!o || !v)
        abort();
    if (fd < 0 || !view_map(v, 0, size, fd, h->offset - before, PROT_READ | PROT_WRITE)) {
        if (fd >= 0)
            close(fd);
        view_leave(v);
        free(o);
        return CUDA_ERROR_INVALID_HANDLE;
    }
    close(fd);
    *o = (struct opened){*h, v, v->base + before, 1, opened};
    opened = o;
    memory_insert(
        (struct allocation){.base = o->base, .size = h->size, .kind = MEMORY_IPC, .device = h->device, .ctx = ctx});
    *base = o->base;
    return CUDA_SUCCESS;
}

/* Locked. Those whose context is gone are gone, too. */
static void drop_stale(void)
{
    for (struct opened **link = &opened, *o; (o = *link);) {
        if (memory_is(o->base, MEMORY_IPC)) {
            link = &o->next;
            continue;
        }
        view_leave(o->view);
        *link = o->next;
        free(o);
    }
}

CUresult impl_cuIpcOpenMemHandle_v2(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    struct context *ctx;
    struct handle h;
    memcpy(&h, &handle, sizeof h);
    if (!pdptr || Flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return CUDA_ERROR_INVALID_VALUE;
    if (memcmp(h.magic, magic, sizeof magic) != 0)
        return CUDA_ERROR_INVALID_HANDLE;
    sim_lock();
    CUresult result = context_need(&ctx);
    if (result == CUDA_SUCCESS && h.process == getpid())
        result = CUDA_ERROR_INVALID_CONTEXT; /* not for the one who has it */
    drop_stale();
    struct opened *o = opened;
    while (o && memcmp(&o->handle, &h, sizeof h) != 0)
        o = o->next;
    if (result == CUDA_SUCCESS && o) {
        o->count++;
        *pdptr = o->base;
    } else if (result == CUDA_SUCCESS) {
        result = map(ctx, &h, pdptr);
    }
    sim_unlock();
    return result;
}

CUresult impl_cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    return impl_cuIpcOpenMemHandle_v2(pdptr, handle, Flags);
}

CUresult impl_cuIpcCloseMemHandle(CUdeviceptr dptr)
{
    struct context *ctx;
    sim_lock();
    CUresult result = context_need(&ctx);
    struct opened *o = opened;
    while (o && o->base != dptr)
        o = o->next;
    if (result == CUDA_SUCCESS && (!o || !memory_is(dptr, MEMORY_IPC)))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && --o->count == 0) {
        context_synchronize(ctx);
        memory_free(dptr);
        drop_stale();
    }
    sim_unlock();
    return result;
}
