/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of addresses for what is mapped later: reserved virtual memory (vmm.c) and other processes' memory (ipc.c). Each
 * has two sides: one that the program names and that faults when the host touches it, and one where the simulator reaches
 * the bytes. A range is never given back to the system, only taken again, so that view_of needs no lock.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/sim/sim.h"

static struct view *views;

struct view *view_of(uint64_t address)
{
    struct view *v = __atomic_load_n(&views, __ATOMIC_ACQUIRE);
    while (v && address - v->base >= v->size)
        v = v->next;
    return v;
}

/* Addresses only. */
static char *reserve(size_t size, size_t align)
{
    char *p = mmap(NULL, size + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    char *start = (char *)(((uintptr_t)p + align - 1) / align * align);
    if (start > p)
        munmap(p, (size_t)(start - p));
    munmap(start + size, (size_t)(p + align - start));
    return start;
}

struct view *view_take(size_t size, size_t align)
{
    for (struct view *v = views; v; v = v->next)
        if (!v->taken && v->size == size && v->base % align == 0) {
            v->taken = true;
            return v;
        }
    struct view *v = calloc(1, sizeof *v);
    char *base = reserve(size, align), *bytes = reserve(size, 4096);
    if (!v || !base || !bytes) {
        free(v);
        return NULL;
    }
    *v = (struct view){(uint64_t)(uintptr_t)base, size, bytes, true, views};
    __atomic_store_n(&views, v, __ATOMIC_RELEASE);
    return v;
}

void view_leave(struct view *v)
{
    view_unmap(v, 0, v->size);
    v->taken = false;
}

bool view_map(struct view *v, size_t at, size_t size, int fd, size_t offset, int protection)
{
    return mmap(v->bytes + at, size, protection, MAP_SHARED | MAP_FIXED, fd, (off_t)offset) != MAP_FAILED;
}

void view_unmap(struct view *v, size_t at, size_t size)
{
    if (mmap(v->bytes + at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        abort();
}
