/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy ordered, the default: per-thread streams that keep each thread's own legacy order.
 *
 * In one thread, legacy order is: default-stream work waits for the blocking streams, and they wait for it. Here the
 * thread's 0x2 stands for the default stream, and the two waits are made with events, only when the thread changes sides:
 *   - default-stream work first waits for every blocking stream that this thread has put work on since the last time;
 *   - work on a blocking stream first waits for the default-stream work that this thread has issued since that stream last
 *     waited.
 * Default-stream work that an event cannot order (inside a capture, where the driver refuses events, after a stream that
 * another thread destroyed) stays on the real legacy stream, which waits for everything and for which everything waits.
 *
 * The synchronous forms are complete on return, so that a hand-over to another thread by the host stays right.
 *
 * Costs nothing but compares while a thread stays on one side; a change costs a record and a wait, 230 ns together
 * (measured). Must make no driver call of its own while a capture is open, except for waits on streams that take no part.
 */
#include "interpose/base/diag.h"
#include "interpose/base/memory.h"
#include "interpose/doors/driver.h"
#include "interpose/policy/policy.h"
#include "interpose/record/record.h"
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

/* The thread's two events here, made when it first changes sides: the driver makes a new one wait for the kernels that run
 * (measured: 10 ms and more), which a thread that never changes sides need not pay. Allowed inside a capture (measured). */
static int have_events(struct thread_context *here)
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

/* The default stream waits for one used stream. 0 if no event can do that: the stream is gone, by another thread's hand. */
static int join_one(struct call *C, struct thread_context *here, struct used_stream *used)
{
    int joined = 0;
    if (alive(used) && have_events(here) && objects_stream_pin(used->stream, used->uid)) {
        joined = edge(here->other_event, used->stream->handle, CU_STREAM_PER_THREAD);
        objects_stream_unpin(used->stream);
    }
    if (joined)
        record_edge(C, here->per_thread_uid, used->uid);
    used->dirty = 0;
    here->dirty_count--;
    return joined;
}

/* The default stream waits for every stream used since it last did; a capturing one has nothing to wait for yet. 0 if one
 * of them can't be waited for by an event: then only the legacy stream can take the next default-stream work. */
static int join_used(struct call *C, struct thread_context *here)
{
    int saved = errno, able = have_events(here);
    for (uint32_t i = 0; able && i < here->used_count && here->dirty_count; i++) {
        struct used_stream *used = &here->used[i];
        if (!used->dirty || used->stream->capturing)
            continue;
        if (!join_one(C, here, used))
            here->unjoined = 1;
    }
    errno = saved;
    return able && !here->unjoined;
}

/* Copies between devices are in order with all three devices' work (cuda_runtime_api.h), and events of one context do not
 * reach the default streams of the others: this thread's work there is waited for by the host. */
static void finish_elsewhere(struct call *C, const struct thread_context *here)
{
    if (C->api != API_cuMemcpyPeer && C->api != API_cuMemcpy3DPeer)
        return;
    int saved = errno;
    for (struct thread_context *there = C->thread->contexts; there; there = there->next) {
        int entered = there == here || there->context->gone ? -1 : enter_context(there->context);
        if (entered < 0)
            continue;
        if (there->dirty_count)
            join_used(C, there);
        REAL(cuStreamSynchronize)(CU_STREAM_PER_THREAD);
        leave_context(entered);
    }
    errno = saved;
}

/* Orders the default stream after what it has to wait for. 0: it can't be; the reason is in the call's flags. */
static int order_default(struct call *C, struct thread_context *here)
{
    if (here->dirty_count && capture_any()) {
        C->flags |= PTDS_CALL_KEPT_CAPTURE;
        return 0;
    }
    if ((here->dirty_count || here->unjoined) && !join_used(C, here)) {
        /* On the legacy stream this work is in order, and with it all that follows; a query is no such work. */
        here->unjoined = !is_work(C->api);
        C->flags |= PTDS_CALL_KEPT_NO_WAY;
        return 0;
    }
    if (is_work(C->api))
        here->default_dirty = 1;
    return 1;
}

static void legacy(struct call *C, int implicit)
{
    struct thread_context *here = thread_in(C->thread, C->context);
    /* The wait after a synchronous form would invalidate a capture that this thread has open (measured: 901). */
    if (implicit && capture_any()) {
        C->flags |= PTDS_CALL_KEPT_CAPTURE;
        return;
    }
    if (!here || (implicit && !driver_real[C->api][1]) || here->events_refused) {
        C->flags |= PTDS_CALL_KEPT_NO_WAY;
        return;
    }
    if (!orders_nothing[C->api] && !order_default(C, here))
        return;
    C->target = CU_STREAM_PER_THREAD;
    C->target_uid = here->per_thread_uid;
    if (implicit) {
        C->way = CALL_AS_TWIN;
        finish_elsewhere(C, here);
    }
}

/* default_event stands for the default-stream work so far. Without events the host waits for that work instead. */
static void mark_default(struct thread_context *here)
{
    if (!here->default_dirty)
        return;
    if (!have_events(here)) {
        here->default_dirty = capture_any() || REAL(cuStreamSynchronize)(CU_STREAM_PER_THREAD) != CUDA_SUCCESS;
    } else if (REAL(cuEventRecord)(here->default_event, CU_STREAM_PER_THREAD) == CUDA_SUCCESS) {
        here->default_dirty = 0;
        here->default_generation++;
    }
}

/* The program's own work on 0x2 is about to follow on the same stream: what created streams must wait for ends here. */
static void per_thread(struct call *C)
{
    struct thread_context *here = C->context ? thread_in(C->thread, C->context) : NULL;
    if (!here || !here->default_dirty || orders_nothing[C->api] || capture_has_per_thread(C->thread))
        return;
    int saved = errno;
    mark_default(here);
    errno = saved;
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

static int is_entry_of(const struct used_stream *used, const struct stream *stream)
{
    return used->stream == stream && used->uid == stream->uid;
}

/* Where the stream's entry is or has to go: the place of a destroyed one, or the end. */
static uint32_t place_of(const struct thread_context *here, const struct stream *stream)
{
    uint32_t place = here->used_count;
    for (uint32_t i = 0; i < here->used_count; i++) {
        if (is_entry_of(&here->used[i], stream))
            return i;
        if (!here->used[i].dirty && !alive(&here->used[i]))
            place = i;
    }
    return place;
}

/* The thread's entry for a stream; NULL without memory. */
static struct used_stream *entry_for(struct thread_context *here, struct stream *stream)
{
    uint16_t *hint = &here->used_hint[stream->uid % USED_HINTS];
    if (__builtin_expect(*hint < here->used_count && is_entry_of(&here->used[*hint], stream), 1))
        return &here->used[*hint];
    uint32_t place = place_of(here, stream);
    if (place == here->used_capacity && !grow_used(here))
        return NULL;
    if (place == here->used_count)
        here->used_count++;
    if (!is_entry_of(&here->used[place], stream))
        here->used[place] = (struct used_stream){.stream = stream, .uid = stream->uid};
    *hint = (uint16_t)place;
    return &here->used[place];
}

static void wait_for_default(struct call *C, struct thread_context *here, struct used_stream *used)
{
    if (REAL(cuStreamWaitEvent)(used->stream->handle, here->default_event, 0) != CUDA_SUCCESS)
        return;
    used->waited_for = here->default_generation;
    record_edge(C, used->uid, here->per_thread_uid);
}

/* The stream waits for the thread's default-stream work that it has not waited for yet. Where that fails it stays owed and
 * is tried again; a driver that refuses an event has given up on the context. A capturing 0x2 must not be recorded from:
 * that would draw the stream into the capture. Nothing new can be on it then, see settle. */
static void follow_default(struct call *C, struct thread_context *here, struct used_stream *used)
{
    int saved = errno, entered = enter_context(here->context);
    if (entered >= 0) {
        if (!capture_has_per_thread(C->thread))
            mark_default(here);
        if (used->waited_for != here->default_generation)
            wait_for_default(C, here, used);
        leave_context(entered);
    }
    if (entered < 0 || here->default_dirty || used->waited_for != here->default_generation)
        diag_once(DIAG_ERROR, "the driver refused an event that orders a stream after the default stream");
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

/* Before a capture: everything owed among this thread's streams is put in, since afterwards it can't be. */
static void settle_all(struct call *C, struct thread_context *here)
{
    join_used(C, here);
    mark_default(here);
    for (uint32_t i = 0; i < here->used_count; i++) {
        struct used_stream *used = &here->used[i];
        if (used->waited_for == here->default_generation || used->stream->capturing || !alive(used) ||
            !objects_stream_pin(used->stream, used->uid))
            continue;
        wait_for_default(C, here, used);
        objects_stream_unpin(used->stream);
    }
}

/* Before a stream goes: the default stream waits for what it still holds. */
static void settle_one(struct call *C, struct thread_context *here, struct stream *leaving)
{
    for (uint32_t i = 0; i < here->used_count; i++) {
        struct used_stream *used = &here->used[i];
        if (used->dirty && is_entry_of(used, leaving) && !leaving->capturing) {
            if (!join_one(C, here, used))
                here->unjoined = 1;
        }
    }
}

static void settle(struct call *C, struct stream *leaving)
{
    struct context *context = leaving ? leaving->context : objects_context_now(C->thread);
    struct thread_context *here = context ? thread_in(C->thread, context) : NULL;
    if (!here || (!here->dirty_count && !here->default_dirty) || capture_has_per_thread(C->thread))
        return;
    /* A thread that has not changed sides yet has nothing that could not also stay on the legacy stream later. */
    if (!here->events_made && (leaving || !here->default_dirty))
        return;
    int saved = errno, entered = enter_context(context);
    if (entered >= 0) {
        if (leaving)
            settle_one(C, here, leaving);
        else
            settle_all(C, here);
        leave_context(entered);
    }
    errno = saved;
}

/* Forms that only touch the device promised no wait, and so no error of earlier work either. */
static int reports_earlier_errors(const struct call *C)
{
    return C->op != PTDS_OP_MEMSET && api_rows[C->api].class_ == PTDS_CLASS_COPY && C->api != API_cuMemcpyDtoD_v2 &&
           C->api != API_cuMemcpyDtoA_v2 && C->api != API_cuMemcpyAtoD_v2 && C->api != API_cuMemcpyAtoA_v2 &&
           C->api != API_cuMemcpyPeer && C->api != API_cuMemcpy3DPeer;
}

/* The copies to the host are complete on return by themselves (measured for the _ptds entries too). */
static void after_implicit(struct call *C)
{
    if (C->api == API_cuMemcpyDtoH_v2 || C->api == API_cuMemcpyAtoH_v2)
        return;
    CUresult result = REAL(cuStreamSynchronize)(CU_STREAM_PER_THREAD);
    C->flags |= PTDS_CALL_SHIM_WAIT;
    struct thread_context *here = thread_in(C->thread, C->context);
    if (result == CUDA_SUCCESS && here)
        here->default_dirty = 0; /* nothing is left on it that a stream would have to wait for */
    else if (result != CUDA_SUCCESS && reports_earlier_errors(C))
        C->result = result;
}

const struct policy policy_ordered = {
    .name = "ordered",
    .sentence = "per-thread streams that keep each thread's own legacy order, by events where it changes streams",
    .gives_up = "order between different threads' unsynchronised default-stream work",
    .remaps = 1,
    .legacy = legacy,
    .created = created,
    .per_thread = per_thread,
    .after_implicit = after_implicit,
    .settle = settle,
    .sees_all_work = 1,
};
