/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy ordered, the default: per-thread streams that keep each thread's own legacy order. Called by policy.c for every
 * call with a stream. The order of what threads hand over to each other is in ordered_threads.c.
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
 * Costs nothing but compares while a thread stays on one side; a change costs a record and a wait, some
 * 350 ns together (measured). Must make no driver call of its own while a capture is open, except for waits on streams that
 * take no part.
 */
#include "interpose/base/diag.h"
#include "interpose/doors/driver.h"
#include "interpose/handover/handover.h"
#include "interpose/policy/ordered.h"
#include "interpose/policy/policy.h"
#include "interpose/record/record.h"
#include "interpose/state/capture.h"

#include <errno.h>

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

/* Copies between devices are in order with all three devices' work (cuda_runtime_api.h), and events of one context do not
 * reach the default streams of the others: this thread's work there is waited for by the host. A function of its own, so
 * that other calls save no registers for it. */
static __attribute__((noinline)) void finish_elsewhere(struct call *C, const struct thread_context *here)
{
    int saved = errno;
    for (struct thread_context *there = C->thread->contexts; there; there = there->next) {
        int entered = there == here || there->context->gone ? -1 : ordered_enter(there->context);
        if (entered < 0)
            continue;
        if (there->dirty_count)
            ordered_join(C, there);
        REAL(cuStreamSynchronize)(CU_STREAM_PER_THREAD);
        ordered_leave(entered);
    }
    errno = saved;
}

/* Orders the default stream after what it has to wait for. 0: it can't be; the reason is in the call's flags. */
static int order_default(struct call *C, struct thread_context *here)
{
    if (handover_pending(here->news[HANDED_JOINED]) && !ordered_take(C, here, HANDED_KINDS)) {
        C->flags |= PTDS_CALL_KEPT_NO_WAY;
        return 0;
    }
    if (here->dirty_count && capture_any()) {
        C->flags |= PTDS_CALL_KEPT_CAPTURE;
        return 0;
    }
    if ((here->dirty_count || here->unjoined) && !ordered_join(C, here)) {
        /* On the legacy stream this work is in order, and with it all that follows; a query is no such work. */
        here->unjoined = !is_work(C->api);
        C->flags |= PTDS_CALL_KEPT_NO_WAY;
        return 0;
    }
    if (is_work(C->api))
        here->default_dirty = OWED_STREAMS | OWED_THREADS; /* what was joined goes before it */
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
        if (C->api == API_cuMemcpyPeer || C->api == API_cuMemcpy3DPeer)
            finish_elsewhere(C, here);
    }
}

/* The program's own work on 0x2 is about to follow on the same stream: what created streams must wait for ends here. */
static void per_thread(struct call *C)
{
    struct thread_context *here = C->context ? thread_in(C->thread, C->context) : NULL;
    if (!here || orders_nothing[C->api] || capture_has_per_thread(C->thread))
        return;
    int saved = errno;
    if (handover_pending(here->news[HANDED_DEFAULT]))
        ordered_take(C, here, HANDED_DEFAULT + 1);
    ordered_mark(here);
    if (is_work(C->api))
        here->default_dirty |= OWED_JOINED;
    errno = saved;
}

static void wait_for_default(struct call *C, struct thread_context *here, struct used_stream *used)
{
    if (REAL(cuStreamWaitEvent)(used->stream->handle, here->default_event, 0) != CUDA_SUCCESS)
        return;
    used->waited_for = here->default_generation;
    record_edge(C, used->uid, here->per_thread_uid, C->enter);
}

/* The stream waits for the thread's default-stream work that it has not waited for yet. Where that fails it stays owed and
 * is tried again; a driver that refuses an event has given up on the context. A capturing 0x2 must not be recorded from:
 * that would draw the stream into the capture. Nothing new can be on it then, see settle. */
static void follow_default(struct call *C, struct thread_context *here, struct used_stream *used)
{
    int saved = errno, entered = ordered_enter(here->context);
    if (entered >= 0) {
        if (!capture_has_per_thread(C->thread))
            ordered_mark(here);
        if (used->waited_for != here->default_generation)
            wait_for_default(C, here, used);
        ordered_leave(entered);
    }
    if (entered < 0 || (here->default_dirty & OWED_STREAMS) || used->waited_for != here->default_generation)
        diag_once(DIAG_ERROR, "the driver refused an event that orders a stream after the default stream");
    errno = saved;
}

static void created(struct call *C)
{
    struct thread_context *here = C->context ? thread_in(C->thread, C->context) : NULL;
    /* A capturing stream runs nothing now. What it owes stays owed, and its graph's launches pass here again. */
    if (!here || orders_nothing[C->api] || !is_work(C->api) || C->stream->capturing)
        return;
    struct used_stream *used = ordered_entry(here, C->stream);
    if (!used)
        return;
    if (handover_pending(here->news[HANDED_DEFAULT]))
        ordered_take(C, here, HANDED_DEFAULT + 1);
    if ((here->default_dirty & OWED_STREAMS) || used->waited_for != here->default_generation)
        follow_default(C, here, used);
    if (!used->dirty) {
        used->dirty = 1;
        here->dirty_count++;
    }
}

/* Before a capture: everything owed among this thread's streams is put in, since afterwards it can't be. */
static void settle_all(struct call *C, struct thread_context *here)
{
    ordered_join(C, here);
    ordered_mark(here);
    for (uint32_t i = 0; i < here->used_count; i++) {
        struct used_stream *used = &here->used[i];
        if (used->waited_for == here->default_generation || used->stream->capturing || !ordered_alive(used) ||
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
        if (used->dirty && ordered_is_entry(used, leaving) && !leaving->capturing) {
            if (!ordered_join_one(C, here, used))
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
    if (!here->events_made && (leaving || !(here->default_dirty & OWED_STREAMS)))
        return;
    int saved = errno, entered = ordered_enter(context);
    if (entered >= 0) {
        if (leaving)
            settle_one(C, here, leaving);
        else
            settle_all(C, here);
        ordered_leave(entered);
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
        here->default_dirty = 0; /* nothing is left on it that anybody would have to wait for */
    else if (result != CUDA_SUCCESS && reports_earlier_errors(C))
        C->result = result;
}

const struct policy policy_ordered = {
    .name = "ordered",
    .sentence =
        "per-thread streams that keep, by events, each thread's own legacy order and that of what threads hand over",
    .gives_up = "order between threads that hand over by no pthread means: atomics, futexes, pipes, a mutex alone",
    .remaps = 1,
    .legacy = legacy,
    .created = created,
    .per_thread = per_thread,
    .after_implicit = after_implicit,
    .settle = settle,
    .hand_over = ordered_hand_over,
    .after_fork = ordered_after_fork,
    .sees_all_work = 1,
};
