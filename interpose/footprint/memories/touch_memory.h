/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds memories to what a call touches. `touched` is the calling thread's; no function here takes a lock. Where there is no
 * room for one more memory, the call touches everything (OPAQUE_MANY).
 */
#ifndef PTDS_TOUCH_MEMORY_H
#define PTDS_TOUCH_MEMORY_H

#include "interpose/footprint/memories/memory_object.h"

/* The call may touch anything, for this reason. The first reason stays: it is the one that reports tell. */
static inline void touch_memory_opaque(struct touched *touched, enum opaque_reason why)
{
    if (!touched->opaque)
        touched->opaque = (uint8_t)why;
}

/* The bytes [begin, end) of the memory, as its own addresses. */
static inline void touch_memory(struct touched *touched, struct memory *memory, uint64_t begin, uint64_t end, int writes)
{
    if (touched->count == TOUCHED_MOST) {
        touch_memory_opaque(touched, OPAQUE_MANY);
        return;
    }
    if (__builtin_expect(memory->host & MEMORY_SHARED, 0))
        touch_memory_opaque(touched, OPAQUE_OTHER);
    touched->host |= memory->host & 1;
    touched->at[touched->count++] = (struct access){memory, begin, end, (uint32_t)writes};
}

/* All of this memory alone. A memory that is named twice is one access. */
static inline void touch_memory_alone(struct touched *touched, struct memory *memory, int writes)
{
    for (unsigned i = 0; i < touched->count; i++) {
        struct access *access = &touched->at[i];
        if (access->memory == memory && access->end == UINT64_MAX) {
            access->writes |= (uint32_t)writes;
            return;
        }
    }
    touch_memory(touched, memory, 0, UINT64_MAX, writes);
}

/* The reservation that the memory is part of, if any. */
void touch_memory_reservation(struct touched *touched, struct memory *memory, int writes);

/* All of the memory, and of what a pointer into it may reach: its reservation. */
static inline void touch_memory_whole(struct touched *touched, struct memory *memory, int writes)
{
    touch_memory_alone(touched, memory, writes);
    if (__builtin_expect(memory->host & MEMORY_RESERVED, 0))
        touch_memory_reservation(touched, memory, writes);
}

/* enum opaque_reason. Not 0: each kernel's launch may touch anything from now on: kernels may launch graphs, or change
 * their nodes, and what those touch is not seen; or kernels have pointers into memory whose end is not known. */
extern uint32_t touch_memory_kernels_opaque;
void touch_memory_kernels_are_opaque(enum opaque_reason why);

#endif
