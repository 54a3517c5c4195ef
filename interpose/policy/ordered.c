/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy ordered, the default: per-thread streams that keep each thread's own legacy order.
 *
 * In one thread, legacy order is: default-stream work waits for the blocking streams, and they wait for it. Here the
 * thread's 0x2 stands for the default stream, and the two waits are made with events, only when the thread changes sides:
 *   - default-stream work first waits for every blocking stream that this thread has put work on since the last time;
 *   - work on a blocking stream first waits for the default-stream work that this thread has issued since that stream last
 *     waited.
 * What an event cannot order (inside a capture, before the events could be made, a stream that another thread destroyed)
 * stays on the real legacy stream, which waits for everything and for which everything waits. So a missing edge is never
 * the outcome of not being able to make one.
 *
 * The synchronous forms are complete on return, so that a hand-over to another thread by the host stays right.
 *
 * Costs nothing but compares while a thread stays on one side; a change costs a record and a wait, 230 ns together
 * (measured). Must make no driver call of its own while a capture is open, except for waits on streams that take no part.
 */
#include "interpose/base/memory.h"
#include "interpose/doors/driver.h"
#include "interpose/policy/policy.h"
#include "interpose/state/capture.h"

#include <errno.h>
#include <string.h>

/* Getters and capture queries tell about a stream and order nothing. */
static const uint8_t orders_nothing[API_COUNT] = {
    [API_cuStreamGetAttribute] = 1,
    [API_cuStreamSetAttribute] = 1,
    [API_cuStreamCopyAttributes] = 1,
    [API_cuStreamGetCtx] = 1,
    [API_cuStreamGetCtx_v2] = 1,
    [API_cuStreamGetDevice] = 1,
    [API_cuStreamGetFlags] = 1,
    [API_cuStreamGetId] = 1,
    [API_cuStreamGetPriority] = 1,
    [API_cuStreamIsCapturing] = 1,
    [API_cuStreamGetCaptureInfo] = 1,
    [API_cuStreamGetCaptureInfo_v2] = 1,
    [API_cuStreamGetCaptureInfo_v3] = 1,
    [API_cuStreamUpdateCaptureDependencies] = 1,
    [API_cuStreamUpdateCaptureDependencies_v2] = 1,
    [API_cuStreamBeginCapture] = 1,
    [API_cuStreamBeginCapture_v2] = 1,
    [API_cuStreamBeginCaptureToGraph] = 1,
    [API_cuStreamEndCapture] = 1,
    [API_cuGraphInstantiateWithParams] = 1,
};

/* Asking or waiting is no work. On a created stream it does not even mind the default stream: while the legacy stream is
 * busy, an idle blocking stream answers SUCCESS to a query and a synchronize at once (measured, driver 580), whereas an
 * event recorded there stays pending. */
static int is_work(uint16_t api)
{
    return api != API_cuStreamSynchronize && api != API_cuStreamQuery;
}

/* The per-thread stream is the current context's, so an edge in another context needs that one current for a moment. */
static int enter_context(const struct context *context)
{
    CUcontext now = NULL;
    if (driver.cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == context->handle)
        return 0;
    return REAL(cuCtxPushCurrent_v2) && REAL(cuCtxPushCurrent_v2)(context->handle) == CUDA_SUCCESS ? 1 : -1;
}

static void leave_context(int entered)
{
    CUcontext popped;
    if (entered == 1)
        REAL(cuCtxPopCurrent_v2)(&popped);
}

/* The thread's two events here; made once, never inside a capture. */
static int have_events(struct thread_context *here)
{
    if (__builtin_expect(here->events_made, 1))
        return 1;
    if (here->events_refused || capture_any() || !REAL(cuEventCreate) || !REAL(cuEventRecord) || !REAL(cuStreamWaitEvent) ||
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

/* `waiting` does not go on before what `on` holds now. The call is the shim's own, so base entries and explicit handles. */
static int edge(CUevent event, CUstream on, CUstream waiting)
{
    return REAL(cuEventRecord)(event, on) == CUDA_SUCCESS && REAL(cuStreamWaitEvent)(waiting, event, 0) == CUDA_SUCCESS;
}

static int alive(const struct used_stream *used)
{
    const struct stream *stream = used->stream;
    return !stream->gone && stream->uid == used->uid && !(stream->context && stream->context->gone);
}

/* The default stream waits for every stream used since it last did. 0 if one of them can't be waited for by an event. */
static int join_used(struct call *C, struct thread_context *here)
{
    int complete = 1, saved = errno;
    for (uint32_t i = 0; i < here->used_count && here->dirty_count; i++) {
        struct used_stream *used = &here->used[i];
        if (!used->dirty)
            continue;
        used->dirty = 0;
        here->dirty_count--;
        if (!alive(used) || !edge(here->other_event, used->stream->handle, CU_STREAM_PER_THREAD))
            complete = 0;
        C->flags |= PTDS_CALL_SHIM_EDGE;
    }
    errno = saved;
    return complete;
}

static void legacy(struct call *C, int implicit)
{
    struct thread_context *here = thread_in(C->thread, C->context);
    /* The wait after a synchronous form would invalidate a capture that this thread has open (measured: 901). */
    if (implicit && capture_any()) {
        C->flags |= PTDS_CALL_KEPT_CAPTURE;
        return;
    }
    if (!here || (implicit && !driver_real[C->api][1]) || !have_events(here)) {
        C->flags |= PTDS_CALL_KEPT_NO_WAY;
        return;
    }
    if (!orders_nothing[C->api]) {
        if (here->dirty_count && capture_any()) {
            C->flags |= PTDS_CALL_KEPT_CAPTURE;
            return;
        }
        if (here->dirty_count && !join_used(C, here)) {
            C->flags |= PTDS_CALL_KEPT_NO_WAY;
            return;
        }
        if (is_work(C->api))
            here->default_dirty = 1;
    }
    C->target = CU_STREAM_PER_THREAD;
    C->target_uid = here->per_thread_uid;
    if (implicit)
        C->way = CALL_AS_TWIN;
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

/* The thread's entry for a stream, found in the place where it was last, or among the others; NULL without memory. */
static struct used_stream *entry_for(struct thread_context *here, struct stream *stream)
{
    uint32_t last = here->used_last;
    if (__builtin_expect(
            last < here->used_count && here->used[last].stream == stream && here->used[last].uid == stream->uid, 1))
        return &here->used[last];
    uint32_t place = here->used_count;
    for (uint32_t i = 0; i < here->used_count; i++) {
        if (here->used[i].stream == stream && here->used[i].uid == stream->uid) {
            here->used_last = i;
            return &here->used[i];
        }
        if (!here->used[i].dirty && !alive(&here->used[i]))
            place = i;
    }
    if (place == here->used_count) {
        if (place == here->used_capacity && !grow_used(here))
            return NULL;
        here->used_count++;
    }
    here->used[place] = (struct used_stream){.stream = stream, .uid = stream->uid};
    here->used_last = place;
    return &here->used[place];
}

/* The stream waits for the thread's default-stream work that it has not waited for yet. */
static void follow_default(struct call *C, struct thread_context *here, struct used_stream *used)
{
    int saved = errno, entered = enter_context(here->context);
    if (entered < 0)
        return;
    if (here->default_dirty && REAL(cuEventRecord)(here->default_event, CU_STREAM_PER_THREAD) == CUDA_SUCCESS) {
        here->default_dirty = 0;
        here->default_generation++;
    }
    if (used->waited_for != here->default_generation &&
        REAL(cuStreamWaitEvent)(used->stream->handle, here->default_event, 0) == CUDA_SUCCESS)
        used->waited_for = here->default_generation;
    C->flags |= PTDS_CALL_SHIM_EDGE;
    leave_context(entered);
    errno = saved;
}

static void created(struct call *C)
{
    struct thread_context *here = C->context ? thread_in(C->thread, C->context) : NULL;
    /* A capturing stream runs nothing now. What it owes stays owed, and its graph's launches pass here again. */
    if (!here || orders_nothing[C->api] || !is_work(C->api) || C->stream->capturing)
        return;
    struct used_stream *used = entry_for(here, C->stream);
    if (!used)
        return;
    if (here->default_dirty || used->waited_for != here->default_generation)
        follow_default(C, here, used);
    if (!used->dirty) {
        used->dirty = 1;
        here->dirty_count++;
    }
}

/* Before a capture: everything owed among this thread's streams is put in, since afterwards it can't be. Before a stream
 * goes: the default stream waits for what it still holds, as it would have for the stream. */
static void settle(struct call *C, struct stream *leaving)
{
    struct context *context = leaving ? leaving->context : objects_context_now(C->thread);
    struct thread_context *here = context ? thread_in(C->thread, context) : NULL;
    if (!here || !here->events_made || capture_any() || (!here->dirty_count && !here->default_dirty))
        return;
    int saved = errno, entered = enter_context(context);
    if (entered < 0)
        return;
    join_used(C, here);
    if (here->default_dirty && REAL(cuEventRecord)(here->default_event, CU_STREAM_PER_THREAD) == CUDA_SUCCESS) {
        here->default_dirty = 0;
        here->default_generation++;
    }
    for (uint32_t i = 0; !leaving && i < here->used_count; i++) {
        struct used_stream *used = &here->used[i];
        if (alive(used) && used->waited_for != here->default_generation &&
            REAL(cuStreamWaitEvent)(used->stream->handle, here->default_event, 0) == CUDA_SUCCESS)
            used->waited_for = here->default_generation;
    }
    leave_context(entered);
    errno = saved;
}

/* The copies to the host are complete on return by themselves (measured for the _ptds entries too). */
static void after_implicit(struct call *C)
{
    if (C->api == API_cuMemcpyDtoH_v2 || C->api == API_cuMemcpyAtoH_v2)
        return;
    REAL(cuStreamSynchronize)(CU_STREAM_PER_THREAD);
    C->flags |= PTDS_CALL_SHIM_WAIT;
}

const struct policy policy_ordered = {
    .name = "ordered",
    .sentence = "per-thread streams that keep each thread's own legacy order, by events where it changes streams",
    .gives_up = "order between different threads' unsynchronised default-stream work",
    .remaps = 1,
    .legacy = legacy,
    .created = created,
    .after_implicit = after_implicit,
    .settle = settle,
    .sees_all_work = 1,
};
