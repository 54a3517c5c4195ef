/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers a call on its lane: finds the lane, asks decide/ what has to come before the call, and has issue.c carry that
 * out. Called by guard.c and everywhere.c. Must keep errno. The lock is taken and given up in one function, over no driver
 * call; no turn is held over a call that blocks the host, since another call may have to come in between for it to end.
 */
#include "interpose/guard/carry_out/register.h"

#include <errno.h>
#include <string.h>

#include "interpose/driver/driver.h"
#include "interpose/guard/carry_out/host_waits.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/kinds.h"
#include "interpose/guard/carry_out/lane_streams.h"
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/carry_out/program_event.h"
#include "interpose/guard/carry_out/turn.h"
#include "interpose/guard/carry_out/wait_deferred.h"
#include "interpose/guard/decide/deferred_waits.h"
#include "interpose/guard/decide/order.h"
#include "interpose/guard/decide/promises.h"
#include "interpose/guard/decide/repeat_rights.h"
#include "interpose/record/recorder.h"
#include "interpose/record/threads.h"

void register_none(struct call *C)
{
    C->guarded.kind = GUARD_NOTHING;
    C->guarded.waits = 0;
}

/* ---- what is registered ---- */

/* A kernel that writes memory which the host can touch may tell the host by it that all before is done. So may one in a
 * graph. */
static int may_tell_host(const struct call *C)
{
    if (C->guarded.kind != GUARD_WORK || !C->touched.host)
        return 0;
    return api_rows[C->api].class_ == PTDS_CLASS_LAUNCH ||
           (C->op == PTDS_OP_GRAPH_LAUNCH && C->host_sides & CALL_KERNEL_TO_HOST);
}

/* A kernel that may begin before what comes before it on its stream is done: nor is what its event stands for. */
static int begins_early(const struct call *C)
{
    return C->op == PTDS_OP_LAUNCH && (C->word[2] >> 48 & PTDS_LAUNCH_PROGRAMMATIC) != 0;
}

/* What a call on a lane has to follow besides what touches its memory. */
static enum order_join join_of(const struct call *C, unsigned lane, const struct program_event *event)
{
    if (C->api == API_cuMemcpyPeer || C->api == API_cuMemcpy3DPeer)
        return JOIN_CONTEXTS;
    if (guard_state.order.lanes[lane]->kind == LANE_NON_BLOCKING)
        return JOIN_NOTHING;
    if (C->guarded.kind == GUARD_RECORD)
        return event && (event->timed || event->foreign) ? JOIN_ALL : JOIN_HOST;
    if (C->guarded.kind == GUARD_WORK && C->event) /* a launch that records an event */
        return JOIN_ALL;
    return C->guarded.kind == GUARD_SYNC || C->guarded.kind == GUARD_QUERY || C->guarded.waits || may_tell_host(C)
               ? JOIN_HOST
               : JOIN_NOTHING;
}

static struct program_event *event_of(const struct call *C)
{
    if (C->guarded.kind == GUARD_AWAIT)
        return program_event_find(C->event);
    return C->event && (C->guarded.kind == GUARD_RECORD || C->guarded.kind == GUARD_WORK) ? program_event_make(C->event)
                                                                                          : NULL;
}

/* Where somebody else may have recorded it since, the promise is all. */
static void register_await(struct call *C, struct program_event *event)
{
    C->guarded.awaited = event && !program_event_is_unsure(event) ? event : NULL;
    C->guarded.until = event ? event->recorded.at : 0;
    if (event)
        promises_event_awaited(&guard_state.order, C->guarded.lane, &event->recorded);
}

/* What comes with the registered operation, still in the same step. */
static void register_more(struct call *C, const struct order_op *op, struct program_event *event)
{
    struct guarded *guarded = &C->guarded;
    const struct lane *lane = guard_state.order.lanes[op->lane];
    if (event && op->work && guarded->kind != GUARD_AWAIT) {
        program_event_recording(event);
        promises_event_recorded(&guard_state.order, op->lane, &event->recorded);
        event->recorded.ticket = issue_lanes[op->lane].tickets; /* the next one */
        event->recorded.early = guarded->kind == GUARD_WORK;
        event->elsewhere |= guarded->kind == GUARD_WORK && begins_early(C);
    }
    if (op->join == JOIN_CONTEXTS)
        promises_everywhere(&guard_state.order, op->lane);
    guarded->until = lane->last;
    if (guarded->kind == GUARD_AWAIT)
        register_await(C, event);
    if (!guarded->waits)
        return;
    memset(guarded->ordered, 0, sizeof guarded->ordered);
    memcpy(guarded->ordered, lane->ordered, guard_state.order.high * sizeof guarded->ordered[0]);
    promises_host_waits(&guard_state.order, op->lane, op->next, &guarded->promise);
}

/* The driver hears of what is done with an event, too, in the order in which it was registered: else the newest record here
 * would be another one than the driver's, and a wait for it would count as more than it is. */
struct earlier_turn {
    unsigned lane;
    uint32_t ticket;
    int is_on_its_way;
};

static struct earlier_turn follow(struct program_event *event, unsigned lane, uint32_t ticket)
{
    struct earlier_turn before = {lane, 0, 0};
    if (!event)
        return before;
    before = (struct earlier_turn){event->lane, event->ticket, 0};
    before.is_on_its_way = event->lane != lane && issue_is_on_its_way(event->lane, event->ticket);
    event->lane = (uint16_t)lane;
    event->ticket = ticket;
    return before;
}

/* What register_begin decides under the lock, and carries out without it. */
struct decided {
    struct order_plan plan;
    uint32_t tickets[ORDER_LANES]; /* of the plan's waits */
    struct earlier_turn before;    /* with the same event, on another lane */
};

/* Requires the lock. Registers the call on the lane, gives it its turn, and fills in what has to come before it. */
static void decide(struct call *C, unsigned lane, int work, const struct where *where, struct decided *decided)
{
    struct guarded *guarded = &C->guarded;
    struct program_event *event = event_of(C);
    struct order_plan *plan = &decided->plan;
    guarded->lane = (uint16_t)lane;
    if (guarded->kind == GUARD_AWAIT && (!event || program_event_is_unsure(event)))
        C->touched.opaque = OPAQUE_SEMAPHORE; /* who recorded it, and after what, is not known */
    struct order_op op = {.lane = (uint16_t)lane,
                          .join = (uint8_t)join_of(C, lane, event),
                          .work = (uint8_t)work,
                          .next = guarded->kind == GUARD_WORK,
                          .waits = guarded->waits,
                          .touched = guarded->kind == GUARD_WORK || C->touched.opaque ? &C->touched : NULL,
                          .fully = where->fully,
                          .fully_count = (uint16_t)where->fully_count};
    repeat_rights_catch_up(&guard_state.order, &op);
    if (C->op == PTDS_OP_GRAPH_LAUNCH && C->touched.opaque)
        program_event_awaited_by_graph(lane);
    order_add(&guard_state.order, &op, plan);
    register_more(C, &op, event);
    if (where->gathers && (plan->count || where->here->conflicts || where->here->home_lane))
        pool_gather(where->here, plan);
    guarded->ticket = issue_ticket(lane);
    decided->before = follow(event, lane, guarded->ticket);
    guarded->mark_after = plan->mark_after;
    if (plan->mark_first >= 0)
        issue_lanes[lane].marked_by[plan->mark_first] = guarded->ticket;
    if (plan->mark_after >= 0)
        issue_lanes[lane].marked_by[plan->mark_after] = guarded->ticket;
    if (plan->count)
        issue_plan_tickets(plan, decided->tickets);
}

/* Without the lock. Returns in the call's turn, with all its waits made. */
static void carry_out(struct call *C, const struct decided *decided)
{
    struct guarded *guarded = &C->guarded;
    const struct order_plan *plan = &decided->plan;
    guarded->turn = 1;
    if (__builtin_expect(decided->before.is_on_its_way, 0))
        issue_await_over(decided->before.lane, decided->before.ticket);
    if (plan->count || plan->mark_first >= 0)
        issue_waits(C, guarded->lane, guarded->ticket, plan, decided->tickets);
    else
        issue_await_turn(guarded->lane, guarded->ticket);
    turn_hold(C);
}

static void pass_gate(struct call *C, const struct where *where)
{
    if (where->on == ON_LANE)
        turn_take_gate(C, where->lane);
}

static int stays(const struct stream *stream, const struct context *context)
{
    return stream->context == context && !__atomic_load_n(&stream->gone, __ATOMIC_SEQ_CST) &&
           !__atomic_load_n(&stream->taken, __ATOMIC_SEQ_CST) && !stream->capturing;
}

/* Locked. Who destroys the stream or captures on it says so first, and looks afterwards whether there is a lane with turns
 * to wait for. So one of the two sees the other. */
static int find_unnamed(const struct where *where)
{
    int had = lane_streams_has(where->stream);
    if (!stays(where->stream, where->context))
        return REGISTER_NO_STREAM;
    int lane = lane_streams_lane_of(where->stream, where->context);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (lane < 0 || stays(where->stream, where->context))
        return lane;
    if (had < 0)
        lane_streams_close_unmarked((unsigned)lane);
    return REGISTER_NO_STREAM;
}

/* Locked. */
static int find(const struct where *where)
{
    int lane = -1;
    switch (where->on) {
    case ON_LANE: return (int)where->lane;
    case ON_LEGACY: return pool_legacy_lane(where->context);
    case ON_STREAM: return lane_streams_lane_of(where->stream, where->context);
    case ON_STREAM_UNNAMED: return find_unnamed(where);
    case ON_STREAM_AS_DEFAULT:
        lane = lane_streams_lane_of(where->stream, where->context);
        if (lane >= 0)
            guard_state.order.lanes[lane]->kind = LANE_DEFAULT;
        return lane;
    case ON_OWN:
        if (!where->here->own_lane)
            where->here->own_lane = (uint16_t)(lane_streams_open(LANE_BLOCKING, where->context, CU_STREAM_PER_THREAD,
                                                                 where->here->per_thread_uid, 1) +
                                               1);
        return where->here->own_lane - 1;
    default: return -1;
    }
}

/* It asks about the default stream, which is busy as long as any blocking stream is. */
static int asks_for_all(const struct where *where)
{
    return where->on == ON_LEGACY || where->on == ON_LANE || where->on == ON_STREAM_AS_DEFAULT;
}

/* The lanes of which the call asks whether they are done: one, or all that the default stream stands for. Locked. */
static unsigned asked_for(const struct where *where, unsigned lane, uint16_t lanes[])
{
    const struct order *o = &guard_state.order;
    unsigned count = 0;
    for (unsigned i = 0; asks_for_all(where) && i < o->high; i++) {
        if (o->lanes[i]->open && o->lanes[i]->domain == o->lanes[lane]->domain && o->lanes[i]->kind != LANE_NON_BLOCKING)
            lanes[count++] = (uint16_t)i;
    }
    if (!count)
        lanes[count++] = (uint16_t)lane;
    return count;
}

/* Whether it is worth while to look. Locked. */
static inline int may_be_owed(const struct where *where, unsigned lane)
{
    return asks_for_all(where) || deferred_waits_has(&guard_state.order, lane, guard_state.order.lanes[lane]->last);
}

/* The host asks whether work is done that it was promised to be done, so it waits for that first. Requires the lock, gives
 * it up while the host waits, and holds it again when it returns the call's lane, which may be another one then. */
static __attribute__((noinline)) int wait_for_asked(struct call *C, const struct where *where, unsigned lane)
{
    uint16_t lanes[ORDER_LANES];
    struct due_waits due;
    repeat_rights_catch_up(&guard_state.order, NULL);
    deferred_waits_of_lanes(&guard_state.order, lanes, asked_for(where, lane, lanes));
    if (!guard_state.order.needs)
        return (int)lane;
    wait_deferred_decide(&due);
    lock_drop(&guard_state.lock);
    turn_end(C); /* no gate is held while the host waits */
    wait_deferred_make(C, &due);
    pass_gate(C, where);
    lock_take(&guard_state.lock);
    return find(where);
}

int register_begin(struct call *C, const struct where *where)
{
    struct decided decided;
    turn_end(C); /* a call on several streams: the driver hears of all at once */
    if (__builtin_expect(C->thread->held != 0, 0))
        turn_abandon(C->thread);
    if (C->guarded.kind == GUARD_WORK && turn_settles(C))
        register_and_wait(C, where);
    pass_gate(C, where);
    lock_take(&guard_state.lock);
    int lane = find(where);
    if (lane >= 0 && api_rows[C->api].told == TOLD_SETTLE_ASKED && may_be_owed(where, (unsigned)lane))
        lane = wait_for_asked(C, where, (unsigned)lane);
    if (lane >= 0)
        decide(C, (unsigned)lane, C->guarded.kind != GUARD_SYNC && C->guarded.kind != GUARD_QUERY, where, &decided);
    lock_drop(&guard_state.lock);
    if (lane >= 0)
        carry_out(C, &decided);
    return lane;
}

void register_and_wait(struct call *C, const struct where *where)
{
    struct decided decided;
    int saved = errno;
    uint8_t waits = C->guarded.waits;
    pass_gate(C, where);
    lock_take(&guard_state.lock);
    int lane = find(where);
    if (lane >= 0) {
        C->guarded.waits = 1;
        decide(C, (unsigned)lane, 0, where, &decided);
    }
    lock_drop(&guard_state.lock);
    if (lane >= 0)
        carry_out(C, &decided);
    CUstream handle = lane >= 0 ? issue_lanes[lane].handle : NULL;
    turn_end(C);
    if (lane < 0)
        return;
    threads_call_waits(C);
    register_done(C, host_waits_for_stream_as_program(handle));
    C->guarded.waits = waits;
    C->guarded.settled = 1;
    errno = saved;
}

void register_done(struct call *C, CUresult result)
{
    struct guarded *guarded = &C->guarded;
    lock_take(&guard_state.lock);
    if (result == CUDA_SUCCESS) {
        promises_host_knows(&guard_state.order, &guarded->promise);
        promises_done_with(&guard_state.order, guarded->lane, guarded->until, guarded->ordered);
    }
    promises_drop(&guarded->promise);
    lock_drop(&guard_state.lock);
    guarded->waits = 0;
}
