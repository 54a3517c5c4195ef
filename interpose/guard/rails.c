/* SPDX-License-Identifier: Apache-2.0
 *
 * Carries out what order.c decided: records events, makes streams wait, and sees to it that the driver hears of each lane's
 * operations in the order in which they were registered. Called by turn.c and around.c. All driver calls of the guard are
 * here, in host_waits.c, spare_events.c and pool.c; none under the lock, and none that touches a capture.
 *
 * Tickets of several lanes are taken in one step under the lock. So whoever waits for a turn waits for somebody who
 * registered before, and no circle can come of it.
 */
#include "interpose/guard/rails.h"

#include <errno.h>

#include "interpose/base/cancel.h"
#include "interpose/base/diag.h"
#include "interpose/base/gate.h"
#include "interpose/base/lock.h"
#include "interpose/driver/driver.h"
#include "interpose/guard/guard.h"
#include "interpose/guard/pool.h"
#include "interpose/record/recorder.h"
#include "interpose/state/capture.h"
#include "interpose/state/streams.h"

struct guard_state guard_state;
struct rail rails[ORDER_LANES];

int rails_enter(const struct context *context)
{
    CUcontext now = NULL;
    if (driver.cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == context->handle)
        return 0;
    return REAL(cuCtxPushCurrent_v2) && REAL(cuCtxPushCurrent_v2)(context->handle) == CUDA_SUCCESS ? 1 : -1;
}

void rails_leave(int entered)
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

void rails_tickets(const struct order_plan *plan, uint32_t tickets[])
{
    for (unsigned i = 0; i < plan->count; i++) {
        const struct order_wait *wait = &plan->waits[i];
        if (wait->mark == ORDER_NEWEST) {
            tickets[i] = rails[wait->lane].tickets;
            __atomic_store_n(&rails[wait->lane].tickets, tickets[i] + 1, __ATOMIC_SEQ_CST);
        } else {
            __atomic_add_fetch(&guard_state.order.lanes[wait->lane]->marks[wait->mark].pins, 1, __ATOMIC_RELAXED);
            uint32_t ticket = rails[wait->lane].marked_by[wait->mark];
            if (!rails_is_on_its_way(wait->lane, ticket)) /* so many turns later it might look as if it were to come */
                ticket = __atomic_load_n(&rails[wait->lane].serving, __ATOMIC_RELAXED) - 1;
            tickets[i] = ticket;
        }
    }
}

/* ---- waits ---- */

static void refused(void)
{
    diag_once(DIAG_ERROR, "the driver refused an event that keeps legacy order: results may be wrong");
}

void rails_no_mark(unsigned lane, int mark)
{
    if (rails[lane].mark[mark])
        rails_event_back(rails[lane].context, rails[lane].mark[mark]);
    rails[lane].mark[mark] = NULL;
}

int rails_record_mark(unsigned lane, int mark)
{
    struct rail *rail = &rails[lane];
    int entered = rails_enter(rail->context);
    if (entered >= 0 && !rail->mark[mark])
        rail->mark[mark] = rails_event(rail->context);
    int made = entered >= 0 && rail->mark[mark] && REAL(cuEventRecord)(rail->mark[mark], rail->handle) == CUDA_SUCCESS;
    if (!made)
        rails_no_mark(lane, mark); /* who relies on it finds none, and the host waits */
    rails_leave(entered);
    return made;
}

/* On a 0x2 nobody but its thread can record. The legacy stream comes after all blocking streams, so an event on it stands
 * for that one, too; a capture on a blocking stream would not survive that. */
static CUstream recorded_on(unsigned lane)
{
    return is_recordable(lane) ? rails[lane].handle : CU_STREAM_LEGACY;
}

/* Where the driver makes no event, the host waits: slow, and right. Each context has a legacy stream of its own. */
static void wait_by_host(unsigned lane)
{
    int entered = is_recordable(lane) ? 0 : rails_enter(rails[lane].context);
    if (entered < 0 || rails_host_wait(recorded_on(lane)) != CUDA_SUCCESS)
        refused();
    rails_leave(entered);
}

/* Of a stream that is destroyed, or captured now, the mark stands for what was on it before. */
static int waits_in_turn(unsigned lane, uint32_t ticket)
{
    const struct lane *of = guard_state.order.lanes[lane];
    const struct stream *stream = rails[lane].stream;
    rails_await_turn(lane, ticket);
    gate_await_quick(&rails[lane].gate);
    CUevent mark = rails[lane].mark[of->newest];
    CUresult result = CUDA_SUCCESS;
    if (!of->gone && !(stream && stream->capturing))
        result = rails_host_wait(recorded_on(lane));
    else if (mark)
        result = rails_host_wait_event(mark);
    rails_served(lane, ticket);
    return result == CUDA_SUCCESS;
}

int rails_host_wait_in_capture(const struct context *context)
{
    uint16_t lanes[ORDER_LANES];
    uint32_t tickets[ORDER_LANES];
    unsigned count = 0;
    int all = 1, cancel = cancel_off();
    lock_take(&guard_state.lock);
    for (unsigned lane = 0; lane < guard_state.order.high; lane++) {
        if (guard_state.order.lanes[lane] && guard_state.order.lanes[lane]->open && rails[lane].context == context) {
            lanes[count] = (uint16_t)lane;
            tickets[count++] = rails_ticket(lane);
        }
    }
    lock_drop(&guard_state.lock);
    for (unsigned i = 0; i < count; i++)
        all &= waits_in_turn(lanes[i], tickets[i]);
    cancel_back(cancel);
    return all;
}

/* The lane's context is current for no longer: a default stream that waits is the one of the caller's. */
static CUevent record_newest(unsigned lane, struct context *context, int *made)
{
    int entered = rails_enter(context);
    CUevent event = entered >= 0 ? rails_event(context) : NULL;
    *made = event && !(!is_recordable(lane) && capture_blocks_legacy(context)) &&
            REAL(cuEventRecord)(event, recorded_on(lane)) == CUDA_SUCCESS;
    rails_leave(entered);
    return event;
}

static void wait_for_newest(CUstream waiting, unsigned lane, uint32_t ticket)
{
    struct context *context = rails[lane].context; /* the lane may be another stream's after its turn */
    int made;
    rails_await_turn(lane, ticket);
    gate_await_quick(&rails[lane].gate);
    CUevent event = record_newest(lane, context, &made);
    rails_served(lane, ticket);
    if (!made || REAL(cuStreamWaitEvent)(waiting, event, 0) != CUDA_SUCCESS)
        wait_by_host(lane);
    if (event)
        rails_event_back(context, event);
}

static void wait_for_mark(CUstream waiting, unsigned lane, int mark, uint32_t marked_by)
{
    rails_await_over(lane, marked_by);
    CUevent event = rails[lane].mark[mark];
    if (!event || REAL(cuStreamWaitEvent)(waiting, event, 0) != CUDA_SUCCESS)
        wait_by_host(lane);
    __atomic_sub_fetch(&guard_state.order.lanes[lane]->marks[mark].pins, 1, __ATOMIC_RELEASE);
}

void rails_carry_out(struct call *C, unsigned lane, uint32_t own, const struct order_plan *plan, const uint32_t tickets[])
{
    int saved = errno, cancel = cancel_off(); /* others wait for the turns that this takes */
    rails_await_turn(lane, own);
    if (plan->mark_first >= 0)
        rails_record_mark(lane, plan->mark_first);
    for (unsigned i = 0; i < plan->count; i++) {
        const struct order_wait *wait = &plan->waits[i];
        uint32_t behind = rails[wait->lane].uid; /* the lane may be another stream's afterwards */
        if (wait->mark == ORDER_NEWEST)
            wait_for_newest(rails[lane].handle, wait->lane, tickets[i]);
        else
            wait_for_mark(rails[lane].handle, wait->lane, wait->mark, tickets[i]);
        recorder_edge(C, rails[lane].uid, behind, C->enter);
    }
    cancel_back(cancel);
    errno = saved;
}

/* ---- lanes ---- */

static void begin_rail(unsigned lane, struct context *context, CUstream handle, uint32_t uid)
{
    struct rail *rail = &rails[lane];
    rail->handle = handle;
    rail->context = context;
    rail->stream = NULL;
    rail->uid = uid;
    rail->beside = 0;
    __atomic_store_n(&rail->users, 0, __ATOMIC_RELAXED);
}

/* Locked. */
static void count_beside(unsigned lane, int more)
{
    rails[lane].beside = more > 0;
    pool_crowd(rails[lane].context, more);
}

/* The lane's marks are nobody's now. */
static void forget_marks(unsigned lane)
{
    for (int i = 0; i < ORDER_MARKS; i++) {
        if (rails[lane].mark[i] && !rails[lane].context->gone)
            rails_event_back(rails[lane].context, rails[lane].mark[i]);
        rails[lane].mark[i] = NULL;
    }
}

int rails_is_idle(unsigned lane)
{
    return rails_no_turns(lane) && !gate_is_quick(&rails[lane].gate);
}

/* The lane's stream, if it may work again: then it gets another lane. */
static struct stream *living(unsigned lane)
{
    struct stream *stream = rails[lane].stream;
    if (!stream || rails_has_stream(stream) != (int)lane || __atomic_load_n(&stream->gone, __ATOMIC_ACQUIRE) == STREAM_GONE)
        return NULL;
    return stream;
}

static int reclaim(unsigned lane)
{
    struct stream *stream = living(lane);
    struct promise_kept kept = order_lane_kept(&guard_state.order, lane);
    if (!rails_is_idle(lane) || (stream && order_is_owed(&guard_state.order, lane)) ||
        !order_reclaim(&guard_state.order, lane))
        return 0;
    forget_marks(lane);
    rails[lane].stream = NULL;
    if (rails[lane].beside)
        count_beside(lane, -1);
    if (stream) {
        stream->lane = 0;
        stream->promised = kept;
    }
    return 1;
}

/* The newest mark of a gone lane, if its event says that it is done: then all of the lane's work is. Unlocked for the
 * question; nobody else reclaims the lane while its mark is pinned. */
static void ask_gone(unsigned lane)
{
    struct lane *gone = guard_state.order.lanes[lane];
    int newest = gone->newest;
    moment at = gone->marks[newest].at;
    CUevent event = rails[lane].mark[newest];
    if (at < gone->last || !event || !rails_is_idle(lane))
        return;
    __atomic_add_fetch(&gone->marks[newest].pins, 1, __ATOMIC_RELAXED);
    lock_drop(&guard_state.lock);
    int done = rails_is_done(NULL, event);
    lock_take(&guard_state.lock);
    __atomic_sub_fetch(&gone->marks[newest].pins, 1, __ATOMIC_RELEASE);
    if (done)
        order_done(&guard_state.order, lane, at);
}

/* A lane of a stream that lives and is idle can serve another one meanwhile. One of the shim's own stays its own, but its
 * work may be what another one still has to come after. */
static void ask_idle(unsigned lane)
{
    struct lane *asked = guard_state.order.lanes[lane];
    CUstream handle = rails[lane].handle;
    moment at = asked->last;
    if (asked->eager || !rails_is_idle(lane) || (!rails[lane].stream && at <= asked->completed))
        return;
    uint32_t uid = rails[lane].uid, ticket = rails_ticket(lane); /* whoever destroys the stream waits for its turn */
    lock_drop(&guard_state.lock);
    rails_await_turn(lane, ticket);
    int done = rails_is_done(handle, NULL);
    rails_served(lane, ticket);
    lock_take(&guard_state.lock);
    if (!done || rails[lane].uid != uid || asked->last != at || !asked->open || !rails_is_idle(lane))
        return;
    order_done(&guard_state.order, lane, at);
    if (living(lane) && !order_is_owed(&guard_state.order, lane))
        asked->gone = 1; /* it may be so by now: somebody has destroyed the stream meanwhile */
}

/* A question about a stream that captures, or may be about to go with its context, would be an error. */
static int may_ask(unsigned lane)
{
    return !capture_any() && !rails[lane].context->gone;
}

/* Looks at some lanes in turn. 1: one was found whose work is done. */
static int find_free(unsigned most)
{
    static unsigned next[2]; /* all of them are come by, however many are looked at in between */
    for (unsigned i = 0; i < most; i++) {
        unsigned lane = next[most == ORDER_LANES]++ % ORDER_LANES;
        struct lane *candidate = guard_state.order.lanes[lane];
        if (lane >= guard_state.order.high || !candidate->open)
            continue;
        if (may_ask(lane) && candidate->last > candidate->completed && candidate->gone)
            ask_gone(lane);
        else if (may_ask(lane) && !candidate->gone && most == ORDER_LANES)
            ask_idle(lane);
        if (candidate->open && candidate->gone && reclaim(lane))
            return 1;
    }
    return 0;
}

/* All lanes have work pending, which no program is known to do: the host waits for one that lives. */
static int force_free(void)
{
    for (unsigned lane = 0; lane < guard_state.order.high; lane++) {
        moment at = guard_state.order.lanes[lane]->last;
        CUstream handle = rails[lane].stream && !guard_state.order.lanes[lane]->gone ? rails[lane].handle : NULL;
        if (!handle || !may_ask(lane) || !rails_is_idle(lane))
            continue;
        uint32_t uid = rails[lane].uid, ticket = rails_ticket(lane);
        lock_drop(&guard_state.lock);
        rails_await_turn(lane, ticket);
        int is_done = rails_host_wait(handle) == CUDA_SUCCESS;
        rails_served(lane, ticket);
        lock_take(&guard_state.lock);
        if (!is_done || rails[lane].uid != uid || guard_state.order.lanes[lane]->last != at || !rails[lane].stream)
            continue;
        order_done(&guard_state.order, lane, at);
        guard_state.order.lanes[lane]->gone = 1;
        if (reclaim(lane))
            return 1;
    }
    return 0;
}

int rails_open(enum lane_kind kind, struct context *context, CUstream handle, uint32_t uid, int eager)
{
    int saved = errno, cancel = cancel_off();
    find_free(2); /* gone streams are forgotten as new ones come */
    int lane = order_lane_open(&guard_state.order, kind, context->domain - 1, eager);
    if (lane < 0 && (find_free(ORDER_LANES) || force_free()))
        lane = order_lane_open(&guard_state.order, kind, context->domain - 1, eager);
    if (lane >= 0) {
        begin_rail((unsigned)lane, context, handle, uid);
        if (kind != LANE_DEFAULT || eager)
            count_beside((unsigned)lane, 1);
    }
    cancel_back(cancel);
    errno = saved;
    return lane;
}

int rails_has_stream(const struct stream *stream)
{
    int lane = (int)stream->lane - 1;
    return lane >= 0 && rails[lane].stream == stream && rails[lane].uid == stream->uid ? lane : -1;
}

static enum lane_kind kind_of(const struct stream *stream)
{
    int free_running = stream->kind == PTDS_STREAM_NON_BLOCKING || stream->kind == PTDS_STREAM_SHIM_NON_BLOCKING;
    return free_running ? LANE_NON_BLOCKING : LANE_BLOCKING;
}

int rails_of_stream(struct stream *stream, struct context *context)
{
    int lane = rails_has_stream(stream);
    if (lane >= 0) {
        guard_state.order.lanes[lane]->gone = 0; /* a capture is over */
        return lane;
    }
    lane = rails_open(kind_of(stream), context, stream->handle, stream->uid, 0);
    int others = rails_has_stream(stream); /* the lock was given up: another thread may have been faster */
    if (others >= 0 && lane >= 0)
        rails_close_unmarked((unsigned)lane);
    if (others >= 0 || lane < 0)
        return others;
    order_lane_resumes(&guard_state.order, (unsigned)lane, &stream->promised);
    rails[lane].stream = stream;
    stream->lane = (uint32_t)lane + 1;
    return lane;
}

void rails_close_unmarked(unsigned lane)
{
    guard_state.order.lanes[lane]->gone = 1;
    rails[lane].stream = NULL;
    reclaim(lane);
}
