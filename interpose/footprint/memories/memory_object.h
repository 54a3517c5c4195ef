/* SPDX-License-Identifier: Apache-2.0
 *
 * Memories as objects: made, held, dropped. What owns a memory holds it: each of its ranges (addresses.h), a handle, a
 * reservation. A memory that nothing holds any more is gone; the object serves for another memory later, with another uid.
 */
#ifndef PTDS_MEMORY_OBJECT_H
#define PTDS_MEMORY_OBJECT_H

#include <stddef.h>

#include "interpose/state/touched.h"
#include "interpose/trace/format.h"

struct pointer_table;

/* Bits of memory.host besides 1, which says that the host can touch the memory while work is pending. */
enum memory_host {
    MEMORY_SHARED = 2,      /* its bytes may be mapped elsewhere in this process as another memory, past the shim's sight */
    MEMORY_RESERVED = 4,    /* part of a reservation of addresses */
    MEMORY_RESERVATION = 8, /* a reservation itself */
    MEMORY_HOSTS = 16,      /* physical memory or a pool's that lies with the host, managed or not: as if page-locked */
    MEMORY_SYNCHRONOUS = 32, /* SYNC_MEMOPS: synchronous copies and memsets of it wait */
    MEMORY_UNASKED = 64      /* a module's variables, some of which may be managed: the driver could not be asked so far */
};

/* What a reservation is as soon as a chunk of it is: the host's, or shared. */
enum { MEMORY_OTHERS = 1 | MEMORY_SHARED };

/* The memory, and what is remembered with it. */
struct memory_object {
    struct memory memory;
    uint32_t held;
    uint8_t of_graph;            /* its allocation is a node: freed outside of the graph, it is back with the next launch */
    uint64_t known_since;        /* pointer_tables.c: how much work had been there that may put pointers anywhere */
    struct pointer_table *table; /* of the pointers that lie in it; NULL none */
    struct memory *reservation;  /* in which it was last mapped, held; NULL none */
    struct memory_object *next_free;
};
static inline struct pointer_table **memory_object_table(struct memory *memory)
{
    return &((struct memory_object *)memory)->table;
}
static inline uint8_t *memory_object_of_graph(struct memory *memory)
{
    return &((struct memory_object *)memory)->of_graph;
}

/* The memory of the reservation that it was last mapped in; NULL none. */
static inline struct memory *memory_object_reservation(struct memory *memory)
{
    return __atomic_load_n(&((struct memory_object *)memory)->reservation, __ATOMIC_ACQUIRE);
}

/* The memory with which the pointers are kept that lie in this one: its reservation, since a pointer to one chunk of it may
 * reach those in another chunk; else the memory itself. */
static inline struct memory *memory_object_table_owner(struct memory *memory)
{
    struct memory *reservation = memory_object_reservation(memory);
    return __builtin_expect(reservation != NULL, 0) ? reservation : memory;
}

/* A new memory without ranges. kind: enum ptds_memory_kind; base: its first byte, or its handle; bytes: 0 not known. The
 * caller holds it. NULL: there is no memory to remember it. */
struct memory *memory_object_new(uint32_t kind, uint64_t base, uint64_t bytes);

/* One more that holds it; one less. With the last one the memory is gone. memory_object_drop takes NULL, too. Both for any
 * thread; no lock may be held that memory_object_gone takes. */
void memory_object_hold(struct memory *memory);
void memory_object_drop(struct memory *memory);

/* Of a memory that its handle holds: whether ranges do, too. */
static inline int memory_object_is_mapped(const struct memory *memory)
{
    return __atomic_load_n(&((const struct memory_object *)memory)->held, __ATOMIC_RELAXED) > 1;
}

/* Whether the memory is the host's own, by any address: the host stores there without a call. */
int memory_object_is_hosts(const struct memory *memory);

/* Called when a memory is gone, without a lock, before the object serves for another one. The guard's; NULL none. */
extern void (*memory_object_gone)(struct memory *memory);

/* Gives back the table of a memory that is gone. Set by pointer_tables.c before the first memory has a table. */
extern void (*memory_object_table_gone)(struct pointer_table *table);

/* In a forked child: the lock is free. */
void memory_object_after_fork(void);

#endif
