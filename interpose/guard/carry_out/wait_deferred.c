/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes deferred waits where they are due: the host waits for work that legacy's waits would have covered, before a call by
 * which it could tell that the work is pending (api.def, column `told`). Called by the wrappers, also through hooks, by
 * register.c and around_call.c. Must keep errno, hold no lock over a driver call, and no turn while the host waits.
 */
#include "interpose/guard/carry_out/wait_deferred.h"

#include <errno.h>

#include "interpose/base/cancel.h"
#include "interpose/base/diag.h"
#include "interpose/base/gate.h"
#include "interpose/base/lock.h"
#include "interpose/driver/driver.h"
#include "interpose/footprint/memories/memory_object.h"
#include "interpose/guard/carry_out/host_waits.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/program_event.h"
#include "interpose/guard/carry_out/spare_events.h"
#include "interpose/guard/carry_out/turn.h"
#include "interpose/guard/decide/deferred_waits.h"
#include "interpose/guard/decide/order.h"
#include "interpose/guard/decide/promises.h"
#include "interpose/guard/decide/repeat_rights.h"
#include "interpose/record/recorder.h"
#include "interpose/record/threads.h"
#include "interpose/state/capture.h"

/* Nobody but its thread can record on a 0x2. The legacy stream comes after all blocking streams: an event there stands for
 * that one, too. */
static CUstream recorded_on(const struct thread *thread, unsigned lane)
{
    if (!guard_state.order.lanes[lane]->eager)
        return issue_lanes[lane].handle;
    for (const struct thread_context *here = thread->contexts; here; here = here->next) {
        if (here->own_lane == lane + 1)
            return CU_STREAM_PER_THREAD;
    }
    return CU_STREAM_LEGACY;
}

/* Nothing is to be recorded there: its stream is destroyed, or a capture has it. */
static int is_out_of_reach(struct thread *thread, unsigned lane, CUstream on)
{
    const struct stream *stream = issue_lanes[lane].stream;
    if (guard_state.order.lanes[lane]->gone || (stream && stream->capturing))
        return 1;
    return (on == CU_STREAM_LEGACY && capture_blocks_legacy(issue_lanes[lane].context)) ||
           (on == CU_STREAM_PER_THREAD && capture_has_per_thread(thread));
}

/* What the host waits for: an event, or where there is none the stream. */
struct awaited {
    CUevent event;
    CUstream stream;
    struct context *context;
};

/* In the lane's turn, which is over then. */
static struct awaited record_newest(struct thread *thread, unsigned lane, uint32_t ticket)
{
    issue_await_turn(lane, ticket);
    gate_await_quick(&issue_lanes[lane].gate);
    struct awaited awaited = {NULL, recorded_on(thread, lane), issue_lanes[lane].context};
    int entered = issue_enter_context(awaited.context);
    if (is_out_of_reach(thread, lane, awaited.stream))
        awaited.context = NULL;
    else if (entered >= 0)
        awaited.event = spare_events_take(awaited.context);
    if (awaited.event && REAL(cuEventRecord)(awaited.event, awaited.stream) != CUDA_SUCCESS) {
        spare_events_give_back(awaited.context, awaited.event);
        awaited.event = NULL;
    }
    issue_served(lane, ticket);
    issue_leave_context(entered);
    return awaited;
}

static struct awaited find_mark(struct thread *thread, const struct order_wait *wait, uint32_t marked_by)
{
    issue_await_over(wait->lane, marked_by);
    CUstream stream = recorded_on(thread, wait->lane);
    struct awaited awaited = {issue_lanes[wait->lane].mark[wait->mark], stream, issue_lanes[wait->lane].context};
    if (!awaited.event && is_out_of_reach(thread, wait->lane, stream))
        awaited.context = NULL;
    return awaited;
}

/* Where the process ends, programs free what they have when the driver is gone already, and all work with it. */
static int is_over(CUresult result)
{
    return result == CUDA_SUCCESS || result == CUDA_ERROR_DEINITIALIZED || result == CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/* 1: it is done. */
static int host_waits(const struct awaited *awaited)
{
    if (!awaited->context)
        return 0;
    int entered = issue_enter_context(awaited->context);
    CUresult result = awaited->event ? host_waits_for_event(awaited->event) : host_waits_for_stream(awaited->stream);
    issue_leave_context(entered);
    return is_over(result);
}

static void wait_done(const struct order_wait *wait, const struct awaited *awaited)
{
    int is_done = host_waits(awaited);
    if (!is_done)
        diag_once(DIAG_ERROR, "the host could not wait for work that legacy order has done by now: results may be wrong");
    if (wait->mark == ORDER_NEWEST && awaited->event)
        spare_events_give_back(awaited->context, awaited->event);
    lock_take(&guard_state.lock);
    if (wait->mark != ORDER_NEWEST)
        __atomic_sub_fetch(&guard_state.order.lanes[wait->lane]->marks[wait->mark].pins, 1, __ATOMIC_RELEASE);
    if (is_done)
        promises_done(&guard_state.order, wait->lane, wait->until);
    lock_drop(&guard_state.lock);
}

void wait_deferred_decide(struct due_waits *due)
{
    deferred_waits_plan(&guard_state.order, &due->plan);
    if (due->plan.count)
        issue_plan_tickets(&due->plan, due->tickets);
}

/* All turns are over before the host waits for anything. */
static __attribute__((noinline)) void make_waits(const struct call *C, const struct due_waits *due)
{
    const struct order_plan *plan = &due->plan;
    struct thread *thread = C->thread;
    struct awaited awaited[ORDER_LANES];
    int saved = errno, cancel = cancel_off();
    turn_give_up(thread);
    threads_call_waits(C);
    for (unsigned i = 0; i < plan->count; i++) {
        const struct order_wait *wait = &plan->waits[i];
        awaited[i] = wait->mark == ORDER_NEWEST ? record_newest(thread, wait->lane, due->tickets[i])
                                                : find_mark(thread, wait, due->tickets[i]);
    }
    for (unsigned i = 0; i < plan->count; i++)
        wait_done(&plan->waits[i], &awaited[i]);
    cancel_back(cancel);
    errno = saved;
}

void wait_deferred_make(const struct call *C, const struct due_waits *due)
{
    if (due->plan.count)
        make_waits(C, due);
}

/* ---- all ---- */

int wait_deferred_all(const struct call *C)
{
    struct due_waits due;
    lock_take(&guard_state.lock);
    repeat_rights_catch_up(&guard_state.order, NULL);
    deferred_waits_of_all(&guard_state.order);
    const int is_due = guard_state.order.needs != 0;
    wait_deferred_decide(&due);
    lock_drop(&guard_state.lock);
    wait_deferred_make(C, &due);
    return is_due;
}

int wait_deferred_where_lacking(struct call *C)
{
    C->guarded.again = 0; /* its first time is over */
    return guard_on && wait_deferred_all(C);
}

/* ---- memory ---- */

static int is_due_by_memory(const struct call *C)
{
    return api_rows[C->api].told == TOLD_SETTLE_MEMORY;
}

/* What is unmapped nobody may use still, promised or not. A reservation is touched by whoever touches a part of it. */
void wait_deferred_memory_leaves(struct call *C)
{
    struct due_waits due;
    if (!is_due_by_memory(C))
        return;
    lock_take(&guard_state.lock);
    repeat_rights_catch_up(&guard_state.order, NULL);
    if (C->touched.opaque)
        deferred_waits_of_all(&guard_state.order);
    for (unsigned i = 0; i < C->touched.count; i++) {
        const struct access *access = &C->touched.at[i];
        int pending = C->op == PTDS_OP_UNMAP && !(access->memory->host & MEMORY_RESERVATION);
        deferred_waits_of_memory(&guard_state.order, access, pending);
    }
    wait_deferred_decide(&due);
    lock_drop(&guard_state.lock);
    wait_deferred_make(C, &due);
}

/* Work that goes the short way does not look at whose the memory is: it may not any more. */
void wait_deferred_memory_shown(struct call *C, struct memory *memory)
{
    const struct access all = {memory, 0, UINT64_MAX, 1};
    struct due_waits due;
    lock_take(&guard_state.lock);
    repeat_rights_forget(&guard_state.order, memory);
    repeat_rights_catch_up(&guard_state.order, NULL);
    deferred_waits_memory_shown(&guard_state.order, memory);
    if (is_due_by_memory(C))
        deferred_waits_of_memory(&guard_state.order, &all, 0);
    wait_deferred_decide(&due);
    lock_drop(&guard_state.lock);
    wait_deferred_make(C, &due);
}

/* ---- events ---- */

int wait_deferred_is_owed(const struct program_event *event)
{
    const struct recorded *newest = &event->recorded;
    return newest->at && deferred_waits_has(&guard_state.order, newest->lane, newest->at);
}

static void wait_for_program(CUevent event)
{
    int saved = errno, cancel = cancel_off();
    host_waits_for_event(event);
    cancel_back(cancel);
    errno = saved;
}

/* Where somebody else may have recorded it since, what is waited for is the lane's work, if that is all promised. */
void wait_deferred_event(struct call *C, CUevent event)
{
    struct due_waits due = {.plan.count = 0};
    if (!event)
        return;
    lock_take(&guard_state.lock);
    const struct program_event *entry = program_event_find(event);
    const int is_due = entry && wait_deferred_is_owed(entry), is_unsure = is_due && program_event_is_unsure(entry);
    if (is_unsure) {
        deferred_waits_of_lanes(&guard_state.order, &entry->recorded.lane, 1);
        wait_deferred_decide(&due);
    }
    lock_drop(&guard_state.lock);
    if (!is_due)
        return;
    wait_deferred_make(C, &due);
    if (is_unsure)
        return;
    turn_give_up(C->thread);
    wait_for_program(event);
}
