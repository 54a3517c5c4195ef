/* SPDX-License-Identifier: Apache-2.0
 *
 * Carries out what decide/ decided for one operation: records events, makes streams wait, and lets the driver hear of each
 * lane's operations in the order in which they were registered. Called by register.c, and for single marks by
 * object_changes.c. No lock is held over a driver call, and none of the calls touches a capture.
 *
 * Tickets of several lanes are taken in one step under the lock. So a thread that waits for its turn waits for a thread
 * that registered before it, and no circle of waiting threads can come about.
 */
#include "interpose/guard/carry_out/issue.h"

#include <errno.h>

#include "interpose/base/cancel.h"
#include "interpose/base/diag.h"
#include "interpose/driver/driver.h"
#include "interpose/guard/carry_out/host_waits.h"
#include "interpose/guard/carry_out/spare_events.h"
#include "interpose/guard/decide/order.h"
#include "interpose/guard/decide/repeat_rights.h"
#include "interpose/record/recorder.h"
#include "interpose/state/capture.h"

uint32_t guard_on;
struct guard_state guard_state;
struct issue_lane issue_lanes[ORDER_LANES];

int issue_enter_context(const struct context *context)
{
    CUcontext now = NULL;
    if (driver.cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == context->handle)
        return 0;
    return REAL(cuCtxPushCurrent_v2) && REAL(cuCtxPushCurrent_v2)(context->handle) == CUDA_SUCCESS ? 1 : -1;
}

void issue_leave_context(int entered)
{
    CUcontext popped;
    if (entered == 1)
        REAL(cuCtxPopCurrent_v2)(&popped);
}

/* ---- turns ---- */

static int is_recordable(unsigned lane)
{
    return !guard_state.order.lanes[lane]->eager;
}

void issue_plan_tickets(const struct order_plan *plan, uint32_t tickets[])
{
    for (unsigned i = 0; i < plan->count; i++) {
        const struct order_wait *wait = &plan->waits[i];
        if (wait->mark == ORDER_NEWEST) {
            tickets[i] = issue_lanes[wait->lane].tickets;
            __atomic_store_n(&issue_lanes[wait->lane].tickets, tickets[i] + 1, __ATOMIC_SEQ_CST);
        } else {
            __atomic_add_fetch(&guard_state.order.lanes[wait->lane]->marks[wait->mark].pins, 1, __ATOMIC_RELAXED);
            uint32_t ticket = issue_lanes[wait->lane].marked_by[wait->mark];
            if (!issue_is_on_its_way(wait->lane, ticket)) /* so many turns later it might look as if it were to come */
                ticket = __atomic_load_n(&issue_lanes[wait->lane].serving, __ATOMIC_RELAXED) - 1;
            tickets[i] = ticket;
        }
    }
}

int issue_is_idle(unsigned lane)
{
    return issue_no_turns(lane) && !gate_is_quick(&issue_lanes[lane].gate);
}

/* ---- waits ---- */

static void refused(void)
{
    diag_once(DIAG_ERROR, "the driver refused an event that keeps legacy order: results may be wrong");
}

void issue_no_mark(unsigned lane, int mark)
{
    if (issue_lanes[lane].mark[mark])
        spare_events_give_back(issue_lanes[lane].context, issue_lanes[lane].mark[mark]);
    issue_lanes[lane].mark[mark] = NULL;
}

int issue_record_mark(unsigned lane, int mark)
{
    struct issue_lane *issuing = &issue_lanes[lane];
    int entered = issue_enter_context(issuing->context);
    if (entered >= 0 && !issuing->mark[mark])
        issuing->mark[mark] = spare_events_take(issuing->context);
    int made =
        entered >= 0 && issuing->mark[mark] && REAL(cuEventRecord)(issuing->mark[mark], issuing->handle) == CUDA_SUCCESS;
    if (!made)
        issue_no_mark(lane, mark); /* who relies on it finds none, and the host waits */
    issue_leave_context(entered);
    return made;
}

/* A capture on a blocking stream would not survive a record on the legacy stream. */
CUstream issue_recorded_on(unsigned lane)
{
    return is_recordable(lane) ? issue_lanes[lane].handle : CU_STREAM_LEGACY;
}

/* Where the driver makes no event, the host waits: slow, and right. Each context has a legacy stream of its own. */
static void wait_by_host(unsigned lane)
{
    int entered = is_recordable(lane) ? 0 : issue_enter_context(issue_lanes[lane].context);
    if (entered < 0 || host_waits_for_stream(issue_recorded_on(lane)) != CUDA_SUCCESS)
        refused();
    issue_leave_context(entered);
}

/* The lane's context is current for no longer: a default stream that waits is the one of the caller's. */
static CUevent record_newest(unsigned lane, struct context *context, int *made)
{
    int entered = issue_enter_context(context);
    CUevent event = entered >= 0 ? spare_events_take(context) : NULL;
    *made = event && !(!is_recordable(lane) && capture_blocks_legacy(context)) &&
            REAL(cuEventRecord)(event, issue_recorded_on(lane)) == CUDA_SUCCESS;
    issue_leave_context(entered);
    return event;
}

static void wait_for_newest(CUstream waiting, unsigned lane, uint32_t ticket)
{
    struct context *context = issue_lanes[lane].context; /* the lane may be another stream's after its turn */
    int made;
    issue_await_turn(lane, ticket);
    gate_await_quick(&issue_lanes[lane].gate);
    CUevent event = record_newest(lane, context, &made);
    issue_served(lane, ticket);
    if (!made || REAL(cuStreamWaitEvent)(waiting, event, 0) != CUDA_SUCCESS)
        wait_by_host(lane);
    if (event)
        spare_events_give_back(context, event);
}

static void wait_for_mark(CUstream waiting, unsigned lane, int mark, uint32_t marked_by)
{
    issue_await_over(lane, marked_by);
    CUevent event = issue_lanes[lane].mark[mark];
    if (!event || REAL(cuStreamWaitEvent)(waiting, event, 0) != CUDA_SUCCESS)
        wait_by_host(lane);
    __atomic_sub_fetch(&guard_state.order.lanes[lane]->marks[mark].pins, 1, __ATOMIC_RELEASE);
}

void issue_waits(struct call *C, unsigned lane, uint32_t own, const struct order_plan *plan, const uint32_t tickets[])
{
    int saved = errno, cancel = cancel_off(); /* others wait for the turns that this takes */
    issue_await_turn(lane, own);
    if (plan->mark_first >= 0)
        issue_record_mark(lane, plan->mark_first);
    for (unsigned i = 0; i < plan->count; i++) {
        const struct order_wait *wait = &plan->waits[i];
        uint32_t behind = issue_lanes[wait->lane].uid; /* the lane may be another stream's afterwards */
        if (wait->mark == ORDER_NEWEST)
            wait_for_newest(issue_lanes[lane].handle, wait->lane, tickets[i]);
        else
            wait_for_mark(issue_lanes[lane].handle, wait->lane, wait->mark, tickets[i]);
        recorder_edge(C, issue_lanes[lane].uid, behind, C->enter,
                      wait->unpromised ? PTDS_EDGE_UNPROMISED : PTDS_EDGE_PROMISED);
    }
    cancel_back(cancel);
    errno = saved;
}
