/* SPDX-License-Identifier: Apache-2.0
 *
 * Appending a record to the calling thread's own chunk. Called by the recorder's units only, by the thread that owns the
 * chunk. Must not lock or allocate; a full chunk is the only slow way out. Between reserve and commit nothing else may be
 * appended.
 */
#ifndef PTDS_APPEND_H
#define PTDS_APPEND_H

#include "interpose/state/thread.h"
#include "interpose/trace/format.h"

/* Another chunk for the thread; 0: there is none left, which is counted as a record lost. */
int append_next_chunk(struct thread *thread);

/* The thread is about to wait, and so has time to take its next chunk, which costs as much as some hundred records. 1: a
 * chunk was taken, so some time has passed. */
int append_chunk_ahead(struct thread *thread);

/* A thread without a chunk has no bytes left in it either. */
static inline int append_has_room(const struct thread *thread, size_t size)
{
    return (size_t)(thread->chunk_end - thread->chunk_at) >= size;
}

/* A record with its header filled in. Requires room for it. */
static inline void *append_here(struct thread *thread, enum ptds_record_kind kind, size_t size)
{
    struct ptds_record *record = (struct ptds_record *)thread->chunk_at;
    thread->chunk_at += size;
    /* A line that some record after this one fills is on its way by then: 3 to 4 ns a record less (measured). Harmless past
     * the chunk's end. */
    __builtin_prefetch(thread->chunk_at + 512, 1);
    *record = (struct ptds_record){(uint16_t)kind, (uint16_t)size, 0};
    return record;
}

/* The same, in another chunk if need be; NULL when there is none left. */
static inline void *append_reserve(struct thread *thread, enum ptds_record_kind kind, size_t size)
{
    if (__builtin_expect(!append_has_room(thread, size), 0) && !append_next_chunk(thread))
        return NULL;
    return append_here(thread, kind, size);
}

static inline void append_commit(struct thread *thread)
{
    __atomic_store_n(&thread->chunk->committed, (uint64_t)(thread->chunk_at - (uint8_t *)(thread->chunk + 1)),
                     __ATOMIC_RELEASE);
}

#endif
