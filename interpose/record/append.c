/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread's next chunk. Called by the recorder's units when the thread's chunk is full, or when the thread is about to
 * wait anyway. Must not call malloc; the store's lock is taken and given back here.
 */
#include "interpose/record/append.h"

#include "interpose/record/file/define.h"
#include "interpose/record/file/rescue.h"
#include "interpose/record/file/store.h"

static int lose_record(struct thread *thread)
{
    thread->lost++;
    store_refused();
    return 0;
}

int append_next_chunk(struct thread *thread)
{
    if (!thread->chunk && store_is_out())
        return lose_record(thread);
    store_chunk_full(thread->chunk);
    define_clocks_if_due();
    thread->chunk = thread->ahead ? thread->ahead : rescue_chunk(PTDS_CHUNK_CALLS, thread->uid);
    thread->ahead = NULL;
    thread->chunk_at = thread->chunk ? (uint8_t *)(thread->chunk + 1) : NULL;
    thread->chunk_end = thread->chunk ? (uint8_t *)thread->chunk + PTDS_CHUNK_SIZE : NULL;
    if (!thread->chunk)
        return lose_record(thread);
    thread->chunk->lost = thread->lost;
    thread->chunk->ordinal = ++thread->chunks;
    thread->chunk->holds = thread->allocates;
    thread->allocates = 0;
    return 1;
}

/* Not for threads that hardly record. */
#define WORTH_ANOTHER (PTDS_CHUNK_SIZE / 4)

int append_chunk_ahead(struct thread *thread)
{
    if (thread->ahead || !thread->chunk || thread->chunk_at - (uint8_t *)thread->chunk < WORTH_ANOTHER)
        return 0;
    thread->ahead = store_chunk_ahead(thread->uid);
    return thread->ahead != NULL;
}
