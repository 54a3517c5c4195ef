/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory: what is allocated, of which kind, and where its bytes really are. Called by everything that touches memory.
 * Device memory is a window of addresses that the program cannot touch (a host access faults, as it would with a GPU); the
 * simulator reaches the same bytes through a second mapping. Locked, except for memory_bytes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/sim/sim.h"

#define WINDOW_BYTES (16ull << 30)
#define GRANULE 512u
#define CLASSES 36 /* powers of two */

struct window {
    uint64_t base; /* what the program sees */
    char *bytes;
    int fd;
    size_t used;
    uint64_t full_below[CLASSES]; /* no gap of 2^class bytes lies before this address */
};

static struct window windows[MAX_DEVICES];
static struct allocation **table; /* sorted by base */
static size_t table_count, table_capacity;
static uint64_t next_id = 1;

static struct window *window_open(int device)
{
    struct window *w = &windows[device];
    if (w->bytes)
        return w;
    w->fd = memfd_create("sim-device-memory", MFD_CLOEXEC);
    if (w->fd < 0 || ftruncate(w->fd, (off_t)WINDOW_BYTES) != 0)
        abort();
    char *bytes = mmap(NULL, WINDOW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, w->fd, 0);
    void *base = mmap(NULL, WINDOW_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED || base == MAP_FAILED)
        abort();
    w->base = (uint64_t)(uintptr_t)base;
    for (unsigned i = 0; i < CLASSES; i++)
        w->full_below[i] = w->base;
    __atomic_store_n(&w->bytes, bytes, __ATOMIC_RELEASE);
    return w;
}

void *memory_bytes(uint64_t address)
{
    for (int i = 0; i < MAX_DEVICES; i++) {
        char *bytes = __atomic_load_n(&windows[i].bytes, __ATOMIC_ACQUIRE);
        if (bytes && address - windows[i].base < WINDOW_BYTES)
            return bytes + (address - windows[i].base);
    }
    const struct view *v = view_of(address);
    return v ? v->bytes + (address - v->base) : (void *)(uintptr_t)address;
}

bool memory_window(uint64_t address, uint64_t *base, size_t *size, char **bytes)
{
    for (int i = 0; i < MAX_DEVICES; i++) {
        char *there = __atomic_load_n(&windows[i].bytes, __ATOMIC_ACQUIRE);
        if (!there || address - windows[i].base >= WINDOW_BYTES)
            continue;
        *base = windows[i].base;
        *size = WINDOW_BYTES;
        *bytes = there;
        return true;
    }
    return false;
}

static bool in_window(uint64_t address)
{
    return memory_bytes(address) != (void *)(uintptr_t)address;
}

/* ---- the table ---- */

/* Of the first entry whose base is above the address. */
static size_t above(uint64_t address)
{
    size_t low = 0, high = table_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table[middle]->base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct allocation *memory_find(uint64_t address)
{
    size_t i = above(address);
    return i && address - table[i - 1]->base < table[i - 1]->size ? table[i - 1] : NULL;
}

struct allocation *memory_insert(struct allocation a)
{
    struct allocation *kept = malloc(sizeof *kept);
    if (table_count == table_capacity) {
        table_capacity = table_capacity ? table_capacity * 2 : 256;
        table = realloc(table, table_capacity * sizeof(struct allocation *));
    }
    if (!table || !kept)
        abort();
    size_t i = above(a.base);
    memmove(&table[i + 1], &table[i], (table_count - i) * sizeof(struct allocation *));
    a.id = next_id++;
    *kept = a;
    table[i] = kept;
    table_count++;
    return kept;
}

void memory_remove(uint64_t base)
{
    size_t i = above(base);
    free(table[i - 1]);
    memmove(&table[i - 1], &table[i], (table_count - i) * sizeof(struct allocation *));
    table_count--;
}

size_t memory_rounded(size_t size)
{
    const size_t granule = knob_spacing() > GRANULE ? knob_spacing() : GRANULE;
    return (size + granule - 1) / granule * granule;
}

static unsigned class_of(size_t size)
{
    unsigned class = 63u - (unsigned)__builtin_clzll(size);
    return class < CLASSES ? class : CLASSES - 1;
}

/* First fit between what the window holds, from where a gap of such a class was found last or first may be. */
static bool place(struct window *w, size_t size, uint64_t *base)
{
    unsigned class = class_of(size);
    uint64_t at = w->full_below[class], first = 0;
    for (size_t i = above(at - 1); i < table_count && table[i]->base < w->base + WINDOW_BYTES; i++) {
        size_t gap = (size_t)(table[i]->base - at);
        if (gap >> class != 0 && !first)
            first = at;
        if (gap >= size)
            break;
        at = table[i]->base + memory_rounded(table[i]->size);
    }
    *base = at;
    if (at + size > w->base + WINDOW_BYTES)
        return false;
    w->full_below[class] = first ? first : at;
    for (class = class + 1; class < CLASSES; class ++)
        w->full_below[class] = w->full_below[class] > at ? w->full_below[class] : at;
    return true;
}

/* What was at the address goes: the gap there begins where the one before it ends. */
static void make_room(struct window *w, uint64_t base)
{
    size_t i = above(base);
    uint64_t from = w->base;
    if (i > 1 && table[i - 2]->base >= w->base)
        from = table[i - 2]->base + memory_rounded(table[i - 2]->size);
    for (unsigned class = 0; class < CLASSES; class ++)
        if (w->full_below[class] > from)
            w->full_below[class] = from;
}

size_t memory_count(void)
{
    return table_count;
}

struct allocation *memory_at(size_t i)
{
    return table[i];
}

void memory_renew(struct allocation *a, size_t size)
{
    op_release(a->freed_by);
    a->freed_by = NULL;
    a->size = size;
    a->id = next_id++;
}

CUresult memory_allocate(struct context *ctx, enum memory_kind kind, size_t size, unsigned int flags, uint64_t *base)
{
    return memory_allocate_on(ctx->device, ctx, kind, size, flags, base);
}

CUresult memory_allocate_on(int device, struct context *ctx, enum memory_kind kind, size_t size, unsigned int flags,
                            uint64_t *base)
{
    struct allocation a = {.size = size, .kind = kind, .device = device, .flags = flags, .ctx = ctx};
    if (!size)
        return CUDA_ERROR_INVALID_VALUE;
    if (memory_in_window(kind)) {
        struct window *w = window_open(device);
        if (size > WINDOW_BYTES || !place(w, memory_rounded(size), &a.base) ||
            !memory_account(a.device, memory_rounded(size), 0))
            return CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        void *p = mmap(NULL, size + knob_spacing(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
            return CUDA_ERROR_OUT_OF_MEMORY;
        a.base = (uint64_t)(uintptr_t)p;
    }
    memory_insert(a);
    *base = a.base;
    return CUDA_SUCCESS;
}

CUresult memory_register(struct context *ctx, void *p, size_t size, unsigned int flags)
{
    uint64_t base = (uint64_t)(uintptr_t)p;
    if (!p || !size)
        return CUDA_ERROR_INVALID_VALUE;
    size_t next = above(base);
    if (memory_find(base) || (next < table_count && table[next]->base < base + size))
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    memory_insert((struct allocation){
        .base = base, .size = size, .kind = MEMORY_REGISTERED, .device = ctx->device, .flags = flags, .ctx = ctx});
    return CUDA_SUCCESS;
}

bool memory_is(uint64_t address, enum memory_kind kind)
{
    const struct allocation *a = memory_find(address);
    return a && a->base == address && a->kind == kind && !a->freed_by;
}

struct context *memory_context(uint64_t base)
{
    const struct allocation *a = memory_find(base);
    return a ? a->ctx : NULL;
}

void memory_free(uint64_t base)
{
    size_t i = above(base);
    if (!i || table[i - 1]->base != base)
        return;
    struct allocation a = *table[i - 1];
    if (a.of_graph) {
        op_release(a.freed_by);
        table[i - 1]->freed_by = NULL;
        table[i - 1]->uses -= a.uses != 0;
        return;
    }
    if (memory_in_window(a.kind))
        make_room(&windows[a.device], base);
    memory_remove(base);
    op_release(a.freed_by);
    if (memory_in_window(a.kind)) {
        struct window *w = &windows[a.device];
        if (!a.trimmed && !pool_keeps(a.pool, memory_rounded(a.size)))
            memory_account(a.device, 0, memory_rounded(a.size));
        if (a.size >= 1 << 20) { /* whole pages of it go back; small ones are soon used again */
            uint64_t from = (a.base - w->base + 4095) & ~4095ull, to = (a.base - w->base + a.size) & ~4095ull;
            if (to > from)
                fallocate(w->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from));
        }
    } else if (a.kind != MEMORY_REGISTERED && a.kind != MEMORY_IPC) {
        munmap((void *)(uintptr_t)a.base, a.size);
    }
}

void memory_free_context(struct context *ctx)
{
    for (size_t i = table_count; i-- > 0;)
        if (table[i]->ctx == ctx) {
            table[i]->of_graph = false;
            memory_free(table[i]->base);
        }
}

enum memory_kind memory_kind_of(uint64_t address)
{
    const struct allocation *a = memory_find(address);
    return a ? a->kind : MEMORY_PAGEABLE;
}

bool memory_waits(uint64_t address)
{
    const struct allocation *a = memory_find(address);
    return a && a->waits;
}

/* Somebody may use it; which device a stream is of is not looked at. */
static bool allowed(const struct allocation *a)
{
    bool any = a->kind != MEMORY_MAPPED;
    for (int i = 0; i < MAX_DEVICES && !any; i++)
        any = a->allowed[i] != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return any;
}

CUresult memory_check(uint64_t address, size_t size)
{
    const struct allocation *a = memory_find(address);
    if (!a)
        return in_window(address) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    if (!allowed(a))
        return CUDA_ERROR_INVALID_VALUE;
    size_t here = a->size - (size_t)(address - a->base);
    if (a->kind == MEMORY_MAPPED && size > here) { /* several chunks in one range */
        const struct allocation *next = memory_find(a->base + a->size);
        return next && next->kind == MEMORY_MAPPED ? memory_check(next->base, size - here) : CUDA_ERROR_INVALID_VALUE;
    }
    return !memory_on_device(a->kind) || size <= here ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

bool memory_account(int device, size_t more, size_t less)
{
    struct window *w = &windows[device];
    if (w->used + more - less > WINDOW_BYTES)
        return false;
    w->used += more - less;
    return true;
}

int memory_file(const struct allocation *a, size_t *offset)
{
    *offset = (size_t)(a->base - windows[a->device].base);
    return windows[a->device].fd;
}

void memory_usage(int device, size_t *free_bytes, size_t *total)
{
    *total = WINDOW_BYTES;
    *free_bytes = WINDOW_BYTES - windows[device].used;
}
