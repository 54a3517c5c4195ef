/* SPDX-License-Identifier: Apache-2.0
 *
 * The host waits for work that legacy's waits would have covered: where it could tell by the call that it is pending, as
 * the table says of each (api.def, `told`). Called by the wrappers, also through hooks, by turn.c and around.c. Must keep
 * errno, hold no lock across a driver call, and no turn while the host waits.
 */
#include "interpose/guard/settle.h"

#include <errno.h>

#include "interpose/base/cancel.h"
#include "interpose/base/diag.h"
#include "interpose/driver/driver.h"
#include "interpose/footprint/memories/memory_object.h"
#include "interpose/guard/claims.h"
#include "interpose/guard/guard.h"
#include "interpose/guard/rails.h"
#include "interpose/guard/turn.h"
#include "interpose/record/record.h"
#include "interpose/state/capture.h"

/* Nobody but its thread can record on a 0x2. The legacy stream comes after all blocking streams: an event there stands for
 * that one, too. */
static CUstream recorded_on(const struct thread *thread, unsigned lane)
{
    if (!guard_state.order.lanes[lane]->eager)
        return rails[lane].handle;
    for (const struct thread_context *here = thread->contexts; here; here = here->next) {
        if (here->own_lane == lane + 1)
            return CU_STREAM_PER_THREAD;
    }
    return CU_STREAM_LEGACY;
}

/* Nothing is to be recorded there: its stream is destroyed, or a capture has it. */
static int is_out_of_reach(struct thread *thread, unsigned lane, CUstream on)
{
    const struct stream *stream = rails[lane].stream;
    if (guard_state.order.lanes[lane]->gone || (stream && stream->capturing))
        return 1;
    return (on == CU_STREAM_LEGACY && capture_blocks_legacy(rails[lane].context)) ||
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
    rails_await_turn(lane, ticket);
    gate_await_quick(&rails[lane].gate);
    struct awaited awaited = {NULL, recorded_on(thread, lane), rails[lane].context};
    int entered = rails_enter(awaited.context);
    if (is_out_of_reach(thread, lane, awaited.stream))
        awaited.context = NULL;
    else if (entered >= 0)
        awaited.event = rails_event(awaited.context);
    if (awaited.event && REAL(cuEventRecord)(awaited.event, awaited.stream) != CUDA_SUCCESS) {
        rails_event_back(awaited.context, awaited.event);
        awaited.event = NULL;
    }
    rails_served(lane, ticket);
    rails_leave(entered);
    return awaited;
}

static struct awaited find_mark(struct thread *thread, const struct order_wait *wait, uint32_t marked_by)
{
    rails_await_over(wait->lane, marked_by);
    CUstream stream = recorded_on(thread, wait->lane);
    struct awaited awaited = {rails[wait->lane].mark[wait->mark], stream, rails[wait->lane].context};
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
    int entered = rails_enter(awaited->context);
    CUresult result = awaited->event ? rails_host_wait_event(awaited->event) : rails_host_wait(awaited->stream);
    rails_leave(entered);
    return is_over(result);
}

static void wait_done(const struct order_wait *wait, const struct awaited *awaited)
{
    int is_done = host_waits(awaited);
    if (!is_done)
        diag_once(DIAG_ERROR, "the host could not wait for work that legacy order has done by now: results may be wrong");
    if (wait->mark == ORDER_NEWEST && awaited->event)
        rails_event_back(awaited->context, awaited->event);
    lock_take(&guard_state.lock);
    if (wait->mark != ORDER_NEWEST)
        __atomic_sub_fetch(&guard_state.order.lanes[wait->lane]->marks[wait->mark].pins, 1, __ATOMIC_RELEASE);
    if (is_done)
        order_done(&guard_state.order, wait->lane, wait->until);
    lock_drop(&guard_state.lock);
}

/* All turns are over before the host waits for anything. */
static __attribute__((noinline)) void carry_out(const struct call *C, const struct order_plan *plan)
{
    struct thread *thread = C->thread;
    uint32_t tickets[ORDER_LANES];
    struct awaited awaited[ORDER_LANES];
    int saved = errno, cancel = cancel_off();
    rails_tickets(plan, tickets);
    lock_drop(&guard_state.lock);
    guard_holds_none(thread);
    record_waits(C);
    for (unsigned i = 0; i < plan->count; i++) {
        const struct order_wait *wait = &plan->waits[i];
        awaited[i] = wait->mark == ORDER_NEWEST ? record_newest(thread, wait->lane, tickets[i])
                                                : find_mark(thread, wait, tickets[i]);
    }
    for (unsigned i = 0; i < plan->count; i++)
        wait_done(&plan->waits[i], &awaited[i]);
    cancel_back(cancel);
    errno = saved;
}

void settle(struct call *C)
{
    struct order_plan plan;
    order_owed(&guard_state.order, &plan);
    if (plan.count)
        carry_out(C, &plan);
    else
        lock_drop(&guard_state.lock);
}

/* ---- all ---- */

/* 0: there was nothing to wait for. */
static int settle_all(struct call *C)
{
    lock_take(&guard_state.lock);
    order_catch_up(&guard_state.order, NULL);
    order_owe_all(&guard_state.order);
    const int owes = guard_state.order.needs != 0;
    settle(C);
    return owes;
}

void guard_settle_all(struct call *C)
{
    settle_all(C);
}

int guard_settle_lacking(struct call *C)
{
    C->guarded.again = 0; /* its first time is over */
    return guard_on && settle_all(C);
}

/* ---- memory ---- */

static int settles_memory(const struct call *C)
{
    return api_rows[C->api].told == TOLD_SETTLE_MEMORY;
}

/* What is unmapped nobody may use still, promised or not. A reservation is touched by whoever touches a part of it. */
void guard_memory_leaves(struct call *C)
{
    if (!settles_memory(C))
        return;
    lock_take(&guard_state.lock);
    order_catch_up(&guard_state.order, NULL);
    if (C->touched.opaque)
        order_owe_all(&guard_state.order);
    for (unsigned i = 0; i < C->touched.count; i++) {
        const struct access *access = &C->touched.at[i];
        int pending = C->op == PTDS_OP_UNMAP && !(access->memory->host & MEMORY_RESERVATION);
        order_owe_memory(&guard_state.order, access, pending);
    }
    settle(C);
}

/* Work that goes the short way does not look at whose the memory is: it may not any more. */
void guard_memory_shown(struct call *C, struct memory *memory)
{
    const struct access all = {memory, 0, UINT64_MAX, 1};
    lock_take(&guard_state.lock);
    claims_forget(&guard_state.order, memory);
    order_catch_up(&guard_state.order, NULL);
    order_memory_shown(&guard_state.order, memory);
    if (settles_memory(C))
        order_owe_memory(&guard_state.order, &all, 0);
    settle(C);
}

/* ---- events ---- */

int settle_is_owed(const struct guard_event *event)
{
    const struct recorded *newest = &event->recorded;
    return newest->at && order_is_owed_until(&guard_state.order, newest->lane, newest->at);
}

static void wait_for_program(CUevent event)
{
    int saved = errno, cancel = cancel_off();
    rails_host_wait_event(event);
    cancel_back(cancel);
    errno = saved;
}

/* Where somebody else may have recorded it since, what is waited for is the lane's work, if that is all promised. */
void settle_event(struct call *C, CUevent event)
{
    if (!event)
        return;
    lock_take(&guard_state.lock);
    const struct guard_event *entry = guard_event_find(event);
    const int is_owed = entry && settle_is_owed(entry), is_unsure = is_owed && guard_event_is_unsure(entry);
    if (is_unsure) {
        order_owe_lanes(&guard_state.order, &entry->recorded.lane, 1);
        settle(C);
        return;
    }
    lock_drop(&guard_state.lock);
    if (!is_owed)
        return;
    guard_holds_none(C->thread);
    wait_for_program(event);
}
