/* SPDX-License-Identifier: Apache-2.0
 *
 * Filling in what a call touches.
 */
#ifndef PTDS_TOUCH_H
#define PTDS_TOUCH_H

#include "interpose/footprint/memories.h"

/* Beside 1 in memory.host, and seldom there. */
enum memory_host {
    MEMORY_SHARED = 2,      /* its bytes may be mapped elsewhere in this process as another memory, past the shim's sight */
    MEMORY_RESERVED = 4,    /* part of a reservation of addresses */
    MEMORY_RESERVATION = 8, /* a reservation itself */
    MEMORY_HOSTS = 16,      /* physical memory or a pool's that lies with the host, managed or not: as if page-locked */
    MEMORY_SYNCHRONOUS = 32, /* SYNC_MEMOPS: synchronous copies and memsets of it wait */
    MEMORY_UNASKED = 64      /* a module's variables, some of which may be managed: nobody could be asked */
};

/* What a reservation is as soon as a chunk of it is: the host's, or shared. */
enum { MEMORY_OTHERS = 1 | MEMORY_SHARED };

/* Memory at that place is the host's. */
static inline int touch_at_host(const CUmemLocation *place)
{
    return place->type == CU_MEM_LOCATION_TYPE_HOST || place->type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
           place->type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

/* The first reason stays: it is the one to be told. */
static inline void touch_opaque(struct touched *touched, enum opaque_reason why)
{
    if (!touched->opaque)
        touched->opaque = (uint8_t)why;
}

static inline void touch_append(struct touched *touched, struct memory *memory, uint64_t begin, uint64_t end, int writes)
{
    if (touched->count == TOUCHED_MOST) {
        touch_opaque(touched, OPAQUE_MANY);
        return;
    }
    if (__builtin_expect(memory->host & MEMORY_SHARED, 0))
        touch_opaque(touched, OPAQUE_OTHER);
    touched->host |= memory->host & 1;
    touched->at[touched->count++] = (struct access){memory, begin, end, (uint32_t)writes};
}

/* The bytes from begin up to end. */
static inline void touch(struct touched *touched, struct memory *memory, uint64_t begin, uint64_t end, int writes)
{
    touch_append(touched, memory, begin, end, writes);
}

/* All of this memory alone. One that is named twice is one access. */
static inline void touch_alone(struct touched *touched, struct memory *memory, int writes)
{
    for (unsigned i = 0; i < touched->count; i++) {
        struct access *access = &touched->at[i];
        if (access->memory == memory && access->end == UINT64_MAX) {
            access->writes |= (uint32_t)writes;
            return;
        }
    }
    touch_append(touched, memory, 0, UINT64_MAX, writes);
}

/* The reservation that the memory is part of, besides it. */
void touch_reservation(struct touched *touched, struct memory *memory, int writes);

/* All of it, and of what a pointer into it may reach. */
static inline void touch_whole(struct touched *touched, struct memory *memory, int writes)
{
    touch_alone(touched, memory, writes);
    if (__builtin_expect(memory->host & MEMORY_RESERVED, 0))
        touch_reservation(touched, memory, writes);
}

/* An array, whole, by its handle. One that nobody has seen being made makes the call opaque. */
void touch_handle(struct touched *touched, uint64_t handle, int writes);

#endif
