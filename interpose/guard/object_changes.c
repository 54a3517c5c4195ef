/* SPDX-License-Identifier: Apache-2.0
 *
 * What the guard learns from changes of the program's objects: a capture takes a stream in, a stream, a memory, a context
 * or a thread ends, the process forks. Called through state/hooks.h and by around_call.c. Must keep errno.
 */
#include "interpose/guard/object_changes.h"

#include <errno.h>
#include <string.h>

#include "interpose/base/cancel.h"
#include "interpose/guard/carry_out/host_waits.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/lane_streams.h"
#include "interpose/guard/carry_out/lanes_auto.h"
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/carry_out/program_event.h"
#include "interpose/guard/carry_out/turn.h"
#include "interpose/guard/decide/order.h"
#include "interpose/guard/decide/order_lane.h"
#include "interpose/guard/decide/promises.h"
#include "interpose/guard/guard.h"

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
        if (marks >> i & 1 && !issue_lanes[lane].mark[i])
            return 0;
    }
    return 1;
}

void object_changes_capture_takes(struct stream *stream)
{
    if (!guard_on || !stream)
        return;
    __atomic_store_n(&stream->taken, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&stream->lane, __ATOMIC_SEQ_CST))
        return;
    int saved = errno, cancel;
    lock_take(&guard_state.lock);
    int lane = lane_streams_has(stream);
    if (lane < 0) {
        lock_drop(&guard_state.lock);
        return;
    }
    const struct lane *of = guard_state.order.lanes[lane];
    int was_gone = of->gone, mark = order_lane_close(&guard_state.order, (unsigned)lane), is_done = 0;
    const unsigned marks = was_gone ? 0 : marks_of(of);
    const int unmarked = !was_gone && !order_lane_is_marked(&guard_state.order, (unsigned)lane);
    const moment last = of->last;
    uint32_t ticket = issue_ticket((unsigned)lane);
    if (mark >= 0)
        issue_lanes[lane].marked_by[mark] = ticket;
    lock_drop(&guard_state.lock);
    cancel = cancel_off();
    issue_await_turn((unsigned)lane, ticket);
    if (mark >= 0)
        issue_record_mark((unsigned)lane, mark);
    if (unmarked || !has_marks((unsigned)lane, marks)) /* nobody can wait for the stream afterwards */
        is_done = host_waits_for_stream(stream->handle) == CUDA_SUCCESS;
    issue_served((unsigned)lane, ticket);
    cancel_back(cancel);
    if (is_done) {
        lock_take(&guard_state.lock);
        promises_done(&guard_state.order, (unsigned)lane, last);
        lock_drop(&guard_state.lock);
    }
    errno = saved;
}

/* ---- ends ---- */

void object_changes_memory_gone(struct memory *memory)
{
    lock_take(&guard_state.lock);
    order_memory_gone(&guard_state.order, memory);
    lock_drop(&guard_state.lock);
}

void object_changes_context_ended(struct context *context)
{
    pool_context_gone(context);
}

void object_changes_thread_ends(struct thread *thread)
{
    turn_give_up(thread);
    for (struct thread_context *here = thread->contexts; here; here = here->next)
        pool_thread_gone(here);
    lanes_auto_thread_ends(thread);
}

void object_changes_after_fork(void)
{
    guard_state.lock.held = 0;
    memset(issue_lanes, 0, sizeof issue_lanes);
    order_reset(&guard_state.order);
    program_event_after_fork();
    pool_after_fork();
}
