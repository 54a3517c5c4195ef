/* SPDX-License-Identifier: Apache-2.0
 *
 * The edges of policy ordered: events between one thread's default stream and the created streams that it uses. Called by
 * the policy's other files before work that has something to wait for. Must not be called where the thread's 0x2 takes part
 * in a capture, and keeps out of streams that do.
 */
#include "interpose/base/memory.h"
#include "interpose/doors/driver.h"
#include "interpose/policy/ordered.h"
#include "interpose/record/record.h"
#include "interpose/state/capture.h"

#include <errno.h>
#include <string.h>

int ordered_enter(const struct context *context)
{
    CUcontext now = NULL;
    if (driver.cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == context->handle)
        return 0;
    return REAL(cuCtxPushCurrent_v2) && REAL(cuCtxPushCurrent_v2)(context->handle) == CUDA_SUCCESS ? 1 : -1;
}

void ordered_leave(int entered)
{
    CUcontext popped;
    if (entered == 1)
        REAL(cuCtxPopCurrent_v2)(&popped);
}

/* The thread's two events here, made when it first changes sides: the driver makes a new one wait for the kernels that run
 * (measured: 10 ms and more), which a thread that never changes sides need not pay. Allowed inside a capture (measured). */
int ordered_events(struct thread_context *here)
{
    if (__builtin_expect(here->events_made, 1))
        return 1;
    if (here->events_refused || !REAL(cuEventCreate) || !REAL(cuEventRecord) || !REAL(cuStreamWaitEvent) ||
        !REAL(cuStreamSynchronize))
        return 0;
    CUevent first = NULL, second = NULL;
    int saved = errno;
    if (REAL(cuEventCreate)(&first, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS ||
        REAL(cuEventCreate)(&second, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
        here->events_refused = 1;
    } else {
        here->other_event = second;
        here->default_event = first;
        here->events_made = 1;
    }
    errno = saved;
    return (int)here->events_made;
}

int ordered_edge(CUevent event, CUstream on, CUstream waiting)
{
    return REAL(cuEventRecord)(event, on) == CUDA_SUCCESS && REAL(cuStreamWaitEvent)(waiting, event, 0) == CUDA_SUCCESS;
}

int ordered_alive(const struct used_stream *used)
{
    const struct stream *stream = used->stream;
    return !stream->gone && stream->uid == used->uid && !(stream->context && stream->context->gone);
}

int ordered_join_one(struct call *C, struct thread_context *here, struct used_stream *used)
{
    int joined = 0;
    if (ordered_alive(used) && ordered_events(here) && objects_stream_pin(used->stream, used->uid)) {
        joined = ordered_edge(here->other_event, used->stream->handle, CU_STREAM_PER_THREAD);
        objects_stream_unpin(used->stream);
    }
    if (joined && C)
        record_edge(C, here->per_thread_uid, used->uid, C->enter);
    used->dirty = 0;
    here->dirty_count--;
    here->default_dirty |= OWED_JOINED;
    return joined;
}

int ordered_join(struct call *C, struct thread_context *here)
{
    int saved = errno, able = ordered_events(here);
    for (uint32_t i = 0; able && i < here->used_count && here->dirty_count; i++) {
        struct used_stream *used = &here->used[i];
        if (!used->dirty || used->stream->capturing)
            continue;
        if (!ordered_join_one(C, here, used))
            here->unjoined = 1;
    }
    errno = saved;
    return able && !here->unjoined;
}

void ordered_mark(struct thread_context *here)
{
    if (!(here->default_dirty & OWED_STREAMS))
        return;
    if (!ordered_events(here)) {
        if (!capture_any() && REAL(cuStreamSynchronize)(CU_STREAM_PER_THREAD) == CUDA_SUCCESS)
            here->default_dirty = 0;
    } else if (REAL(cuEventRecord)(here->default_event, CU_STREAM_PER_THREAD) == CUDA_SUCCESS) {
        here->default_dirty &= ~(uint32_t)OWED_STREAMS;
        here->default_generation++;
    }
}

static int grow_used(struct thread_context *here)
{
    uint32_t capacity = here->used_capacity ? here->used_capacity * 2 : 16;
    struct used_stream *larger = memory_keep(capacity * sizeof *larger);
    if (!larger)
        return 0;
    if (here->used_count)
        memcpy(larger, here->used, here->used_count * sizeof *larger);
    here->used = larger;
    here->used_capacity = capacity;
    return 1;
}

/* Where the stream's entry is or has to go: the place of a destroyed one, or the end. */
static uint32_t place_of(const struct thread_context *here, const struct stream *stream)
{
    uint32_t place = here->used_count;
    for (uint32_t i = 0; i < here->used_count; i++) {
        if (ordered_is_entry(&here->used[i], stream))
            return i;
        if (!here->used[i].dirty && !ordered_alive(&here->used[i]))
            place = i;
    }
    return place;
}

struct used_stream *ordered_entry_slow(struct thread_context *here, struct stream *stream)
{
    uint32_t place = place_of(here, stream);
    if (place == here->used_capacity && !grow_used(here))
        return NULL;
    /* Past the end lies what an ended thread knew of its streams, this one's among them perhaps. */
    if (place == here->used_count || !ordered_is_entry(&here->used[place], stream))
        here->used[place] = (struct used_stream){.stream = stream, .uid = stream->uid};
    if (place == here->used_count)
        here->used_count++;
    here->used_hint[stream->uid % USED_HINTS] = (uint16_t)place;
    return &here->used[place];
}
