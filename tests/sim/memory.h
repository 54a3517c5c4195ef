/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of sim.h about memory: allocations, ranges of addresses, arrays, texture and surface objects. Included by sim.h.
 */
#ifndef PTDS_TESTS_SIM_MEMORY_H
#define PTDS_TESTS_SIM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/impl.h"

#define MAX_DEVICES 8

struct context;
struct op;
struct physical;

/* ---- memory (memory.c) ---- */

enum memory_kind {
    MEMORY_PAGEABLE,
    MEMORY_DEVICE,
    MEMORY_POOL,
    MEMORY_MODULE, /* variables of a module */
    MEMORY_ARRAY,
    MEMORY_MAPPED, /* physical memory mapped into a reserved range */
    MEMORY_IPC,    /* another process's */
    MEMORY_PINNED,
    MEMORY_REGISTERED,
    MEMORY_MANAGED,
};

struct allocation {
    uint64_t base;
    size_t size;
    enum memory_kind kind;
    int device;
    unsigned int flags;
    bool waits;    /* SYNC_MEMOPS */
    bool of_graph; /* allocated by a node: a free leaves its address to the graph */
    bool trimmed;  /* and holds no memory until the next launch */
    unsigned uses; /* launches whose allocation was not freed yet */
    uint64_t id;
    struct context *ctx;
    struct op *freed_by; /* cuMemFreeAsync, on its way; held */
    const void *pool;
    struct physical *physical;              /* MEMORY_MAPPED: what is mapped */
    CUmemAccess_flags allowed[MAX_DEVICES]; /* and who may use it */
};

CUresult memory_allocate(struct context *ctx, enum memory_kind kind, size_t size, unsigned int flags, uint64_t *base);
CUresult memory_allocate_on(int device, struct context *ctx, enum memory_kind kind, size_t size, unsigned int flags,
                            uint64_t *base);
CUresult memory_register(struct context *ctx, void *p, size_t size, unsigned int flags);
struct allocation *memory_insert(struct allocation a);   /* locked; good until the next change, as memory_find's */
void memory_remove(uint64_t base);                       /* locked; of the table only */
struct allocation *memory_find(uint64_t address);        /* the allocation that holds it, or NULL; locked */
bool memory_is(uint64_t address, enum memory_kind kind); /* locked; the start of such an allocation that is not freed */
struct context *memory_context(uint64_t base);           /* locked; whose it is, NULL no such allocation */
void memory_free(uint64_t base);                         /* locked */
void memory_free_context(struct context *ctx);
size_t memory_count(void); /* locked, as the next three */
struct allocation *memory_at(size_t i);
void memory_renew(struct allocation *a, size_t size); /* freed, and handed out again */
size_t memory_rounded(size_t size);
enum memory_kind memory_kind_of(uint64_t address);    /* locked */
bool memory_waits(uint64_t address);                  /* locked; SYNC_MEMOPS */
CUresult memory_check(uint64_t address, size_t size); /* locked; 1 if a device range is not all allocated */
void *memory_bytes(uint64_t address);                 /* where the simulator reaches these bytes */
bool memory_window(uint64_t address, uint64_t *base, size_t *size, char **bytes); /* of a device; it stays where it is */
bool memory_account(int device, size_t more, size_t less);                        /* locked; false: there is not so much */
int memory_file(const struct allocation *a, size_t *offset); /* locked; the file that device memory lies in */
void memory_usage(int device, size_t *free_bytes, size_t *total);
static inline bool memory_on_device(enum memory_kind k)
{
    return (k >= MEMORY_DEVICE && k <= MEMORY_IPC) || k == MEMORY_MANAGED;
}
static inline bool memory_in_window(enum memory_kind k)
{
    return k >= MEMORY_DEVICE && k <= MEMORY_ARRAY;
}
static inline bool memory_page_locked(enum memory_kind k)
{
    return k == MEMORY_PINNED || k == MEMORY_REGISTERED;
}

/* ---- ranges of addresses with nothing of their own behind them (view.c) ---- */

struct view {
    uint64_t base; /* what the program sees, and cannot touch */
    size_t size;
    char *bytes; /* where the simulator reaches what is mapped there */
    bool taken;
    struct view *next;
};

struct view *view_take(size_t size, size_t align); /* locked; NULL: no addresses */
void view_leave(struct view *v);                   /* locked; nothing is mapped there any more */
struct view *view_of(uint64_t address);            /* NULL: in none that is or was */
bool view_map(struct view *v, size_t at, size_t size, int fd, size_t offset, int protection);
void view_unmap(struct view *v, size_t at, size_t size);

struct array_object {
    size_t width, height, depth, element; /* element: bytes of one */
    CUarray_format format;
    unsigned int channels, flags;
    uint64_t bytes;
};

/* ---- texture and surface objects (texture.c) ---- */

enum object_kind { OBJECT_TEXTURE = 1, OBJECT_SURFACE };

/* Unlocked; false: not such an object. array: the handle of the array that it is of, or 0. */
bool object_memory(uint64_t handle, enum object_kind kind, uint64_t *address, size_t *bytes, uint64_t *array);

#endif
