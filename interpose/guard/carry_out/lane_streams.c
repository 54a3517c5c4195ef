/* SPDX-License-Identifier: Apache-2.0
 *
 * Which lane carries which stream: lanes are opened when a stream has its first work, and change hands when their work is
 * done. Called by register.c, pool.c and object_changes.c under the lock; it is given up only while the driver is asked
 * whether a lane's work is done. Must keep errno, and ask the driver nothing while a capture is open.
 */
#include "interpose/guard/carry_out/lane_streams.h"

#include <errno.h>

#include "interpose/base/cancel.h"
#include "interpose/driver/driver.h"
#include "interpose/guard/carry_out/host_waits.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/carry_out/spare_events.h"
#include "interpose/guard/decide/order.h"
#include "interpose/guard/decide/order_lane.h"
#include "interpose/guard/decide/promises.h"
#include "interpose/guard/decide/repeat_rights.h"
#include "interpose/state/capture.h"

static void begin_lane(unsigned lane, struct context *context, CUstream handle, uint32_t uid)
{
    struct issue_lane *issuing = &issue_lanes[lane];
    issuing->handle = handle;
    issuing->context = context;
    issuing->stream = NULL;
    issuing->uid = uid;
    issuing->beside = 0;
    __atomic_store_n(&issuing->users, 0, __ATOMIC_RELAXED);
}

/* Locked. */
static void count_beside(unsigned lane, int more)
{
    issue_lanes[lane].beside = more > 0;
    pool_crowd(issue_lanes[lane].context, more);
}

/* The lane's marks are nobody's now. */
static void forget_marks(unsigned lane)
{
    for (int i = 0; i < ORDER_MARKS; i++) {
        if (issue_lanes[lane].mark[i] && !issue_lanes[lane].context->gone)
            spare_events_give_back(issue_lanes[lane].context, issue_lanes[lane].mark[i]);
        issue_lanes[lane].mark[i] = NULL;
    }
}

/* The lane's stream, if it may work again: then it gets another lane. */
static struct stream *living(unsigned lane)
{
    struct stream *stream = issue_lanes[lane].stream;
    if (!stream || lane_streams_has(stream) != (int)lane || __atomic_load_n(&stream->gone, __ATOMIC_ACQUIRE) == STREAM_GONE)
        return NULL;
    return stream;
}

static int reclaim(unsigned lane)
{
    struct stream *stream = living(lane);
    struct promise_kept kept = order_lane_kept(&guard_state.order, lane);
    if (!issue_is_idle(lane) || (stream && order_lane_is_owed(&guard_state.order, lane)) ||
        !order_lane_reclaim(&guard_state.order, lane))
        return 0;
    forget_marks(lane);
    issue_lanes[lane].stream = NULL;
    if (issue_lanes[lane].beside)
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
    CUevent event = issue_lanes[lane].mark[newest];
    if (at < gone->last || !event || !issue_is_idle(lane))
        return;
    __atomic_add_fetch(&gone->marks[newest].pins, 1, __ATOMIC_RELAXED);
    lock_drop(&guard_state.lock);
    int done = host_waits_is_done(NULL, event);
    lock_take(&guard_state.lock);
    __atomic_sub_fetch(&gone->marks[newest].pins, 1, __ATOMIC_RELEASE);
    if (done)
        promises_done(&guard_state.order, lane, at);
}

/* A lane of a stream that lives and is idle can serve another one meanwhile. One of the shim's own stays its own, but its
 * work may be what another one still has to come after. */
static void ask_idle(unsigned lane)
{
    struct lane *asked = guard_state.order.lanes[lane];
    CUstream handle = issue_lanes[lane].handle;
    moment at = asked->last;
    if (asked->eager || !issue_is_idle(lane) || (!issue_lanes[lane].stream && at <= asked->completed))
        return;
    uint32_t uid = issue_lanes[lane].uid, ticket = issue_ticket(lane); /* whoever destroys the stream waits for its turn */
    lock_drop(&guard_state.lock);
    issue_await_turn(lane, ticket);
    int done = host_waits_is_done(handle, NULL);
    issue_served(lane, ticket);
    lock_take(&guard_state.lock);
    if (!done || issue_lanes[lane].uid != uid || asked->last != at || !asked->open || !issue_is_idle(lane))
        return;
    promises_done(&guard_state.order, lane, at);
    if (living(lane) && !order_lane_is_owed(&guard_state.order, lane))
        asked->gone = 1; /* it may be so by now: somebody has destroyed the stream meanwhile */
}

/* A question about a stream that captures, or may be about to go with its context, would be an error. */
static int may_ask(unsigned lane)
{
    return !capture_any() && !issue_lanes[lane].context->gone;
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
        CUstream handle =
            issue_lanes[lane].stream && !guard_state.order.lanes[lane]->gone ? issue_lanes[lane].handle : NULL;
        if (!handle || !may_ask(lane) || !issue_is_idle(lane))
            continue;
        uint32_t uid = issue_lanes[lane].uid, ticket = issue_ticket(lane);
        lock_drop(&guard_state.lock);
        issue_await_turn(lane, ticket);
        int is_done = host_waits_for_stream(handle) == CUDA_SUCCESS;
        issue_served(lane, ticket);
        lock_take(&guard_state.lock);
        if (!is_done || issue_lanes[lane].uid != uid || guard_state.order.lanes[lane]->last != at ||
            !issue_lanes[lane].stream)
            continue;
        promises_done(&guard_state.order, lane, at);
        guard_state.order.lanes[lane]->gone = 1;
        if (reclaim(lane))
            return 1;
    }
    return 0;
}

int lane_streams_open(enum lane_kind kind, struct context *context, CUstream handle, uint32_t uid, int eager)
{
    int saved = errno, cancel = cancel_off();
    find_free(2); /* gone streams are forgotten as new ones come */
    int lane = order_lane_open(&guard_state.order, kind, context->domain - 1, eager);
    if (lane < 0 && (find_free(ORDER_LANES) || force_free()))
        lane = order_lane_open(&guard_state.order, kind, context->domain - 1, eager);
    if (lane >= 0) {
        begin_lane((unsigned)lane, context, handle, uid);
        if (kind != LANE_DEFAULT || eager)
            count_beside((unsigned)lane, 1);
    }
    cancel_back(cancel);
    errno = saved;
    return lane;
}

int lane_streams_has(const struct stream *stream)
{
    int lane = (int)stream->lane - 1;
    return lane >= 0 && issue_lanes[lane].stream == stream && issue_lanes[lane].uid == stream->uid ? lane : -1;
}

static enum lane_kind kind_of(const struct stream *stream)
{
    int free_running = stream->kind == PTDS_STREAM_NON_BLOCKING || stream->kind == PTDS_STREAM_SHIM_NON_BLOCKING;
    return free_running ? LANE_NON_BLOCKING : LANE_BLOCKING;
}

int lane_streams_lane_of(struct stream *stream, struct context *context)
{
    int lane = lane_streams_has(stream);
    if (lane >= 0) {
        guard_state.order.lanes[lane]->gone = 0; /* a capture is over */
        return lane;
    }
    lane = lane_streams_open(kind_of(stream), context, stream->handle, stream->uid, 0);
    int others = lane_streams_has(stream); /* the lock was given up: another thread may have been faster */
    if (others >= 0 && lane >= 0)
        lane_streams_close_unmarked((unsigned)lane);
    if (others >= 0 || lane < 0)
        return others;
    order_lane_resumes(&guard_state.order, (unsigned)lane, &stream->promised);
    issue_lanes[lane].stream = stream;
    stream->lane = (uint32_t)lane + 1;
    return lane;
}

void lane_streams_close_unmarked(unsigned lane)
{
    guard_state.order.lanes[lane]->gone = 1;
    issue_lanes[lane].stream = NULL;
    reclaim(lane);
}
