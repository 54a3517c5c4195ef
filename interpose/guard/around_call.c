/* SPDX-License-Identifier: Apache-2.0
 *
 * What the guard does before and after the real call of every row: a turn ends, a host's wait has told something, an event
 * or a context comes or goes. Called by the wrappers. Must keep errno.
 */
#include "interpose/guard/around_call.h"

#include <errno.h>
#include <string.h>

#include "interpose/base/cancel.h"
#include "interpose/base/lock.h"
#include "interpose/driver/driver.h"
#include "interpose/footprint/operations/blocks_host.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/kinds.h"
#include "interpose/guard/carry_out/lanes_auto.h"
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/carry_out/program_event.h"
#include "interpose/guard/carry_out/register.h"
#include "interpose/guard/carry_out/turn.h"
#include "interpose/guard/carry_out/wait_deferred.h"
#include "interpose/guard/decide/order.h"
#include "interpose/guard/decide/promises.h"
#include "interpose/guard/decide/repeat_rights.h"
#include "interpose/guard/guard.h"
#include "interpose/guard/object_changes.h"
#include "interpose/state/capture.h"
#include "interpose/state/contexts.h"

/* ---- around every call ---- */

/* What is on its way into the driver at this moment is not waited for. */
static void all_begun(struct call *C)
{
    struct context *context = contexts_now(C->thread);
    if (C->api != API_cuCtxSynchronize || !context->pool)
        return;
    memset(C->guarded.ordered, 0, sizeof C->guarded.ordered);
    lock_take(&guard_state.lock);
    repeat_rights_catch_up(&guard_state.order, NULL);
    for (unsigned i = 0; i < guard_state.order.high; i++) {
        if (guard_state.order.lanes[i]->open && guard_state.order.lanes[i]->domain == context->domain - 1 &&
            issue_is_idle(i))
            C->guarded.ordered[i] = guard_state.order.lanes[i]->last;
    }
    lock_drop(&guard_state.lock);
    C->guarded.begun = 1;
}

static void all_done(struct call *C)
{
    lock_take(&guard_state.lock);
    for (unsigned i = 0; i < guard_state.order.high; i++)
        promises_done(&guard_state.order, i, C->guarded.ordered[i]);
    pool_anew(contexts_now(C->thread));
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
    const struct program_event *event = program_event_find(C->event);
    const struct recorded *newest = event ? &event->recorded : NULL;
    if (newest && newest->at) {
        int on_its_way = issue_is_on_its_way(newest->lane, newest->ticket);
        guarded->promise = (struct promise){0};
        promises_of_event(newest, &guarded->promise);
        if (on_its_way)
            promises_of_event(&event->before, &guarded->promise);
        guarded->until = on_its_way || program_event_is_unsure(event) ? 0 : newest->at;
        guarded->begun = 1;
        is_owed = api_rows[C->api].told == TOLD_SETTLE_ASKED && wait_deferred_is_owed(event);
    }
    lock_drop(&guard_state.lock);
    if (is_owed)
        wait_deferred_event(C, C->event);
    if (C->op == PTDS_OP_EVENT_ELAPSED)
        wait_deferred_event(C, (CUevent)C->word[0]); /* where it measures from */
}

static void event_done(struct call *C)
{
    struct guarded *guarded = &C->guarded;
    int is_done = C->result == CUDA_SUCCESS;
    if (!is_done && !guarded->promise.limits.capacity)
        return; /* somebody asks again and again */
    lock_take(&guard_state.lock);
    if (is_done)
        promises_host_knows(&guard_state.order, &guarded->promise);
    const struct program_event *event = is_done ? program_event_find(C->event) : NULL;
    if (event && event->recorded.at == guarded->until && !program_event_is_unsure(event))
        promises_event_done(&guard_state.order, &event->recorded);
    promises_drop(&guarded->promise);
    lock_drop(&guard_state.lock);
}

void around_call_enter(struct call *C)
{
    if (C->op == PTDS_OP_EVENT_DESTROY)
        C->guarded.leaving = C->event ? program_event_leaves(C->event) : NULL;
    else if (C->op == PTDS_OP_STREAM_DESTROY && C->stream)
        object_changes_capture_takes(C->stream);
    else if (C->op == PTDS_OP_CTX_SYNC)
        all_begun(C);
    else if (C->op == PTDS_OP_CTX_EVENT_RECORD && C->event)
        program_event_recorded_elsewhere(C->event); /* others may wait for it before the call is back */
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
    promises_done(&guard_state.order, C->guarded.lane, C->guarded.until);
    lock_drop(&guard_state.lock);
}

/* What the driver has said of an event, before another call's turn may rely on it. */
static void event_answered(const struct call *C)
{
    const struct guarded *guarded = &C->guarded;
    int records = C->event && (guarded->kind == GUARD_RECORD || guarded->kind == GUARD_WORK);
    if (records && C->result != CUDA_SUCCESS)
        program_event_refused(C->event, guarded->until);
    int waits = guarded->kind == GUARD_AWAIT && guarded->awaited && C->result == CUDA_SUCCESS;
    if (waits && C->thread->held) /* else the lane may be another stream's by now */
        program_event_followed(guarded->awaited, guarded->until, guarded->lane);
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
        register_done(C, C->result);
    if (C->guarded.settled && C->result == CUDA_SUCCESS && blocks_host_is_done(C))
        copied(C);
}

void around_call_leave(struct call *C)
{
    if (C->guarded.again) /* nothing but its gate */
        turn_end(C);
    else
        leave_turn(C);
}

static void stream_made(const struct call *C)
{
    if (C->word[0] & CU_STREAM_NON_BLOCKING)
        repeat_rights_free_running(&guard_state.order);
}

static void made_memory(struct call *C)
{
    lock_take(&guard_state.lock);
    order_touch(&guard_state.order, C->guarded.lane, &C->touched);
    lock_drop(&guard_state.lock);
}

void around_call_learn(struct call *C)
{
    if (C->guarded.alone)
        guard_finish_alone(C);
    if (C->guarded.waits) /* an implicit form, and its wait */
        register_done(C, C->result);
    if (C->op == PTDS_OP_EVENT_DESTROY)
        program_event_left(C->event, C->guarded.leaving, C->result == CUDA_SUCCESS);
    if (C->guarded.begun && asks_for_event(C))
        event_done(C);
    if (C->result != CUDA_SUCCESS)
        return;
    switch (C->op) {
    case PTDS_OP_EVENT_CREATE:
        program_event_created((CUevent)C->word[1], (unsigned)C->word[0], C->api == API_cuIpcOpenEventHandle);
        break;
    case PTDS_OP_CTX_EVENT_WAIT: program_event_awaited_by_all(C->event); break;
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
    lanes_auto_waited(C);
}
