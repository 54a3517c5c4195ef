/* SPDX-License-Identifier: Apache-2.0
 *
 * What the guard does around the real call of every row: a turn ends, a host's wait has told something, an object comes or
 * goes. Called by the wrappers. Must keep errno.
 */
#include <errno.h>
#include <string.h>

#include "interpose/base/cancel.h"
#include "interpose/driver/driver.h"
#include "interpose/guard/claims.h"
#include "interpose/guard/events.h"
#include "interpose/guard/guard.h"
#include "interpose/guard/kinds.h"
#include "interpose/guard/pool.h"
#include "interpose/guard/settle.h"
#include "interpose/guard/turn.h"
#include "interpose/state/capture.h"

/* ---- captures ---- */

/* Locked: the lane's marks by which somebody may come to wait for it, a bit each. */
static unsigned marks_of(const struct lane *lane)
{
    unsigned marks = 0;
    for (unsigned i = 0; i < ORDER_MARKS; i++)
        marks |= (lane->marks[i].at > lane->completed) << i;
    return marks;
}

/* In the lane's turn: the driver has refused none of them. */
static int has_marks(unsigned lane, unsigned marks)
{
    for (unsigned i = 0; i < ORDER_MARKS; i++) {
        if (marks >> i & 1 && !rails[lane].mark[i])
            return 0;
    }
    return 1;
}

void guard_capture_takes(struct stream *stream)
{
    if (!guard_on || !stream)
        return;
    __atomic_store_n(&stream->taken, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&stream->lane, __ATOMIC_SEQ_CST))
        return;
    int saved = errno, cancel;
    lock_take(&guard_state.lock);
    int lane = rails_has_stream(stream);
    if (lane < 0) {
        lock_drop(&guard_state.lock);
        return;
    }
    const struct lane *of = guard_state.order.lanes[lane];
    int was_gone = of->gone, mark = order_lane_close(&guard_state.order, (unsigned)lane), is_done = 0;
    const unsigned marks = was_gone ? 0 : marks_of(of);
    const int unmarked = !was_gone && !order_is_marked(&guard_state.order, (unsigned)lane);
    const moment last = of->last;
    uint32_t ticket = rails_ticket((unsigned)lane);
    if (mark >= 0)
        rails[lane].marked_by[mark] = ticket;
    lock_drop(&guard_state.lock);
    cancel = cancel_off();
    rails_await_turn((unsigned)lane, ticket);
    if (mark >= 0)
        rails_record_mark((unsigned)lane, mark);
    if (unmarked || !has_marks((unsigned)lane, marks)) /* nobody can wait for the stream afterwards */
        is_done = rails_host_wait(stream->handle) == CUDA_SUCCESS;
    rails_served((unsigned)lane, ticket);
    cancel_back(cancel);
    if (is_done) {
        lock_take(&guard_state.lock);
        order_done(&guard_state.order, (unsigned)lane, last);
        lock_drop(&guard_state.lock);
    }
    errno = saved;
}

/* ---- around every call ---- */

/* What is on its way into the driver at this moment is not waited for. */
static void all_begun(struct call *C)
{
    struct context *context = objects_context_now(C->thread);
    if (C->api != API_cuCtxSynchronize || !context->pool)
        return;
    memset(C->guarded.real, 0, sizeof C->guarded.real);
    lock_take(&guard_state.lock);
    order_catch_up(&guard_state.order, NULL);
    for (unsigned i = 0; i < guard_state.order.high; i++) {
        if (guard_state.order.lanes[i]->open && guard_state.order.lanes[i]->domain == context->domain - 1 &&
            rails_is_idle(i))
            C->guarded.real[i] = guard_state.order.lanes[i]->last;
    }
    lock_drop(&guard_state.lock);
    C->guarded.begun = 1;
}

static void all_done(struct call *C)
{
    lock_take(&guard_state.lock);
    for (unsigned i = 0; i < guard_state.order.high; i++)
        order_done(&guard_state.order, i, C->guarded.real[i]);
    pool_anew(objects_context_now(C->thread));
    lock_drop(&guard_state.lock);
}

static int asks_for_event(const struct call *C)
{
    return C->op == PTDS_OP_EVENT_SYNC || C->op == PTDS_OP_EVENT_QUERY || C->op == PTDS_OP_EVENT_ELAPSED;
}

/* Another thread may be recording the event anew, or do so while this one waits for it: then legacy's promise holds still,
 * but which of the records the driver waited for is not known. */
static void event_begun(struct call *C)
{
    struct guarded *guarded = &C->guarded;
    int is_owed = 0;
    lock_take(&guard_state.lock);
    const struct guard_event *event = guard_event_find(C->event);
    const struct recorded *newest = event ? &event->recorded : NULL;
    if (newest && newest->at) {
        int on_its_way = rails_is_on_its_way(newest->lane, newest->ticket);
        guarded->promise = (struct promise){0};
        order_event_promises(newest, &guarded->promise);
        if (on_its_way)
            order_event_promises(&event->before, &guarded->promise);
        guarded->until = on_its_way || guard_event_is_unsure(event) ? 0 : newest->at;
        guarded->begun = 1;
        is_owed = api_rows[C->api].told == TOLD_SETTLE_ASKED && settle_is_owed(event);
    }
    lock_drop(&guard_state.lock);
    if (is_owed)
        settle_event(C, C->event);
    if (C->op == PTDS_OP_EVENT_ELAPSED)
        settle_event(C, (CUevent)C->word[0]); /* where it measures from */
}

static void event_done(struct call *C)
{
    struct guarded *guarded = &C->guarded;
    int is_done = C->result == CUDA_SUCCESS;
    if (!is_done && !guarded->promise.reach.capacity)
        return; /* somebody asks again and again */
    lock_take(&guard_state.lock);
    if (is_done)
        order_known(&guard_state.order, &guarded->promise);
    const struct guard_event *event = is_done ? guard_event_find(C->event) : NULL;
    if (event && event->recorded.at == guarded->until && !guard_event_is_unsure(event))
        order_event_done(&guard_state.order, &event->recorded);
    order_promise_drop(&guarded->promise);
    lock_drop(&guard_state.lock);
}

void guard_enter(struct call *C)
{
    if (C->op == PTDS_OP_EVENT_DESTROY)
        C->guarded.leaving = C->event ? guard_event_leaves(C->event) : NULL;
    else if (C->op == PTDS_OP_STREAM_DESTROY && C->stream)
        guard_capture_takes(C->stream);
    else if (C->op == PTDS_OP_CTX_SYNC)
        all_begun(C);
    else if (C->op == PTDS_OP_CTX_EVENT_RECORD && C->event)
        guard_event_recorded_elsewhere(C->event); /* others may wait for it before the call is back */
    else if (asks_for_event(C))
        event_begun(C);
    /* What the host waits for is no turn: others must be able to go on. */
    if (C->guarded.kind == GUARD_SYNC)
        turn_end(C);
}

/* It is done when the driver returns, since the host has waited in there. */
static void copied(const struct call *C)
{
    lock_take(&guard_state.lock);
    order_done(&guard_state.order, C->guarded.lane, C->guarded.until);
    lock_drop(&guard_state.lock);
}

/* What the driver has said of an event, before another call's turn may rely on it. */
static void event_answered(const struct call *C)
{
    const struct guarded *guarded = &C->guarded;
    int records = C->event && (guarded->kind == GUARD_RECORD || guarded->kind == GUARD_WORK);
    if (records && C->result != CUDA_SUCCESS)
        guard_event_refused(C->event, guarded->until);
    int waits = guarded->kind == GUARD_AWAIT && guarded->awaited && C->result == CUDA_SUCCESS;
    if (waits && C->thread->held) /* else the lane may be another stream's by now */
        guard_event_followed(guarded->awaited, guarded->until, guarded->lane);
}

/* The default stream was asked about on a stream that the legacy stream does not know of: now on that. */
static void ask_legacy_too(struct call *C)
{
    int is_moved = C->flags & PTDS_CALL_LEGACY && C->target_uid != C->stream_uid;
    if (C->guarded.kind == GUARD_QUERY && is_moved && C->result == CUDA_SUCCESS)
        C->result = ASK(REAL(cuStreamQuery)(CU_STREAM_LEGACY));
}

static __attribute__((noinline)) void leave_turn(struct call *C)
{
    ask_legacy_too(C);
    event_answered(C);
    turn_end(C);
    if (C->guarded.waits && C->way == CALL_AS_IS)
        turn_done(C, C->result);
    if (C->guarded.settled && C->result == CUDA_SUCCESS && blocks_host_is_done(C))
        copied(C);
}

void guard_leave(struct call *C)
{
    if (C->guarded.again) /* nothing but its gate */
        turn_end(C);
    else
        leave_turn(C);
}

static void stream_made(const struct call *C)
{
    if (C->word[0] & CU_STREAM_NON_BLOCKING)
        claims_free_running(&guard_state.order);
}

static void made_memory(struct call *C)
{
    lock_take(&guard_state.lock);
    order_touch(&guard_state.order, C->guarded.lane, &C->touched);
    lock_drop(&guard_state.lock);
}

void guard_learn(struct call *C)
{
    if (C->guarded.alone)
        guard_finish_alone(C);
    if (C->guarded.waits) /* an implicit form, and its wait */
        turn_done(C, C->result);
    if (C->op == PTDS_OP_EVENT_DESTROY)
        guard_event_left(C->event, C->guarded.leaving, C->result == CUDA_SUCCESS);
    if (C->guarded.begun && asks_for_event(C))
        event_done(C);
    if (C->result != CUDA_SUCCESS)
        return;
    switch (C->op) {
    case PTDS_OP_EVENT_CREATE:
        guard_event_created((CUevent)C->word[1], (unsigned)C->word[0], C->api == API_cuIpcOpenEventHandle);
        break;
    case PTDS_OP_CTX_EVENT_WAIT: guard_event_awaited_by_all(C->event); break;
    case PTDS_OP_STREAM_CREATE: stream_made(C); break;
    case PTDS_OP_CTX_SYNC:
        if (C->guarded.begun)
            all_done(C);
        break;
    case PTDS_OP_ALLOC_ASYNC:
        if (C->guarded.kind == GUARD_WORK)
            made_memory(C);
        break;
    case PTDS_OP_CTX_DESTROY:
        if (C->context && C->context->gone == CONTEXT_GONE)
            pool_context_gone(C->context);
        break;
    default: break;
    }
}

void guard_context_ended(struct context *context)
{
    pool_context_gone(context);
}

void guard_holds_none(struct thread *thread)
{
    if (thread->held)
        turn_abandon(thread);
}

void guard_thread_ends(struct thread *thread)
{
    guard_holds_none(thread);
    for (struct thread_context *here = thread->contexts; here; here = here->next)
        pool_thread_gone(here);
}

void guard_after_fork(void)
{
    guard_state.lock.held = 0;
    memset(rails, 0, sizeof rails);
    order_reset(&guard_state.order);
    guard_events_after_fork();
    pool_after_fork();
}
