/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers a call on its lane and carries out what that asks for. Called by guard.c. Must keep errno, hold no lock across
 * a driver call, and hold no turn across a call that blocks the host: somebody else may have to come in between, so that it
 * ends.
 */
#include "interpose/guard/turn.h"

#include <errno.h>
#include <string.h>

#include "interpose/base/cancel.h"
#include "interpose/base/gate.h"
#include "interpose/base/lock.h"
#include "interpose/driver/driver.h"
#include "interpose/guard/claims.h"
#include "interpose/guard/events.h"
#include "interpose/guard/guard.h"
#include "interpose/guard/kinds.h"
#include "interpose/guard/pool.h"
#include "interpose/guard/settle.h"
#include "interpose/record/threads.h"

void turn_none(struct call *C)
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
static enum order_join join_of(const struct call *C, unsigned lane, const struct guard_event *event)
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

static struct guard_event *event_of(const struct call *C)
{
    if (C->guarded.kind == GUARD_AWAIT)
        return guard_event_find(C->event);
    return C->event && (C->guarded.kind == GUARD_RECORD || C->guarded.kind == GUARD_WORK) ? guard_event_make(C->event)
                                                                                          : NULL;
}

/* Where somebody else may have recorded it since, the promise is all. */
static void register_await(struct call *C, struct guard_event *event)
{
    C->guarded.awaited = event && !guard_event_is_unsure(event) ? event : NULL;
    C->guarded.until = event ? event->recorded.at : 0;
    if (event)
        order_event_awaited(&guard_state.order, C->guarded.lane, &event->recorded);
}

/* What comes with the registered operation, still in the same step. */
static void register_more(struct call *C, const struct order_op *op, struct guard_event *event)
{
    struct guarded *guarded = &C->guarded;
    const struct lane *lane = guard_state.order.lanes[op->lane];
    if (event && op->work && guarded->kind != GUARD_AWAIT) {
        guard_event_recording(event);
        order_event_recorded(&guard_state.order, op->lane, &event->recorded);
        event->recorded.ticket = rails[op->lane].tickets; /* the next one */
        event->recorded.early = guarded->kind == GUARD_WORK;
        event->elsewhere |= guarded->kind == GUARD_WORK && begins_early(C);
    }
    if (op->join == JOIN_CONTEXTS)
        order_everywhere(&guard_state.order, op->lane);
    guarded->until = lane->last;
    if (guarded->kind == GUARD_AWAIT)
        register_await(C, event);
    if (!guarded->waits)
        return;
    memset(guarded->real, 0, sizeof guarded->real);
    memcpy(guarded->real, lane->real, guard_state.order.high * sizeof guarded->real[0]);
    order_waits(&guard_state.order, op->lane, op->next, &guarded->promise);
}

/* The driver hears of what is done with an event, too, in the order in which it was registered: else the newest record here
 * would be another one than the driver's, and a wait for it would count as more than it is. */
struct others_turn {
    unsigned lane;
    uint32_t ticket;
    int is_on_its_way;
};

static struct others_turn follow(struct guard_event *event, unsigned lane, uint32_t ticket)
{
    struct others_turn before = {lane, 0, 0};
    if (!event)
        return before;
    before = (struct others_turn){event->lane, event->ticket, 0};
    before.is_on_its_way = event->lane != lane && rails_is_on_its_way(event->lane, event->ticket);
    event->lane = (uint16_t)lane;
    event->ticket = ticket;
    return before;
}

static inline void hold(struct call *C)
{
    const struct guarded *guarded = &C->guarded;
    C->thread->held = HELD_TURN | guarded->gate * HELD_GATE | (unsigned)guarded->lane << 8 |
                      (unsigned)(guarded->mark_after + 1) << 24 | (uint64_t)guarded->ticket << 32;
}

/* Locked; gives the lock up. */
static void begin(struct call *C, unsigned lane, int work, const struct where *where)
{
    struct guarded *guarded = &C->guarded;
    struct guard_event *event = event_of(C);
    struct order_plan plan;
    uint32_t tickets[ORDER_LANES];
    guarded->lane = (uint16_t)lane;
    if (guarded->kind == GUARD_AWAIT && (!event || guard_event_is_unsure(event)))
        C->touched.opaque = OPAQUE_SEMAPHORE; /* who recorded it, and after what, is not known */
    struct order_op op = {.lane = (uint16_t)lane,
                          .join = (uint8_t)join_of(C, lane, event),
                          .work = (uint8_t)work,
                          .next = guarded->kind == GUARD_WORK,
                          .waits = guarded->waits,
                          .touched = guarded->kind == GUARD_WORK || C->touched.opaque ? &C->touched : NULL,
                          .fully = where->fully,
                          .fully_count = (uint16_t)where->fully_count};
    order_catch_up(&guard_state.order, &op);
    if (C->op == PTDS_OP_GRAPH_LAUNCH && C->touched.opaque)
        guard_events_awaited_by_graph(lane);
    order_add(&guard_state.order, &op, &plan);
    register_more(C, &op, event);
    if (where->gathers && (plan.count || where->here->conflicts || where->here->home_lane))
        pool_gather(where->here, &plan);
    guarded->ticket = rails_ticket(lane);
    const struct others_turn before = follow(event, lane, guarded->ticket);
    guarded->mark_after = plan.mark_after;
    if (plan.mark_first >= 0)
        rails[lane].marked_by[plan.mark_first] = guarded->ticket;
    if (plan.mark_after >= 0)
        rails[lane].marked_by[plan.mark_after] = guarded->ticket;
    if (plan.count)
        rails_tickets(&plan, tickets);
    lock_drop(&guard_state.lock);
    guarded->turn = 1;
    if (__builtin_expect(before.is_on_its_way, 0))
        rails_await_over(before.lane, before.ticket);
    if (plan.count || plan.mark_first >= 0)
        rails_carry_out(C, lane, guarded->ticket, &plan, tickets);
    else
        rails_await_turn(lane, guarded->ticket);
    hold(C);
}

/* ---- turns ---- */

static __attribute__((noinline)) void end_turn(struct guarded *guarded)
{
    guarded->turn = 0;
    if (guarded->mark_after >= 0) {
        int saved = errno, cancel = cancel_off();
        rails_record_mark(guarded->lane, guarded->mark_after);
        cancel_back(cancel);
        errno = saved;
    }
    rails_served(guarded->lane, guarded->ticket);
}

void turn_end(struct call *C)
{
    int gate = C->guarded.gate;
    if (!C->guarded.turn && !gate)
        return;
    C->guarded.gate = 0;
    if (!C->thread->held) { /* a call that a tool made inside of this one has given it up */
        C->guarded.turn = 0;
        return;
    }
    if (C->guarded.turn)
        end_turn(&C->guarded);
    C->thread->held = 0;
    if (gate)
        gate_drop(&rails[C->guarded.lane].gate, rails_users(C->guarded.lane) == 1);
}

/* No driver calls: the thread may be at its end. A mark that was to be recorded is none, so the host waits where somebody
 * relies on it. */
void turn_abandon(struct thread *thread)
{
    uint64_t held = thread->held;
    unsigned lane = (uint16_t)(held >> 8);
    int mark = (uint8_t)(held >> 24) - 1;
    thread->held = 0;
    if (held & HELD_TURN) {
        if (mark >= 0)
            rails_no_mark(lane, mark);
        rails_served(lane, (uint32_t)(held >> 32));
    }
    if (held & HELD_GATE)
        gate_drop(&rails[lane].gate, 0);
}

/* ---- through the gate ---- */

static void pass_gate(struct call *C, const struct where *where)
{
    if (where->on != ON_LANE)
        return;
    C->guarded.lane = (uint16_t)where->lane;
    gate_take(&rails[where->lane].gate, GATE_HELD);
    C->guarded.gate = 1;
    C->thread->held = HELD_GATE | where->lane << 8;
}

int turn_goes_gated(struct thread *thread, unsigned lane, const struct touched *touched)
{
    gate_take(&rails[lane].gate, GATE_HELD | GATE_QUICK);
    thread->held = HELD_GATE | lane << 8;
    if (order_again(&guard_state.order, lane, touched) && rails_no_turns(lane))
        return 1;
    turn_gone_again(thread, lane, 1);
    return 0;
}

int turn_again(struct call *C, struct thread_context *here)
{
    struct thread *thread = C->thread;
    unsigned lane = here->lanes[0];
    if (thread->missed) {
        thread->missed = 0;
        return 0;
    }
    if (!turn_is_plain(C) || !turn_may_go_again(thread, here) || !turn_goes_again(thread, lane, &C->touched))
        return 0;
    C->guarded.lane = (uint16_t)lane;
    C->guarded.gate = C->touched.count != 0;
    return C->guarded.again = 1;
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
    int had = rails_has_stream(where->stream);
    if (!stays(where->stream, where->context))
        return TURN_NO_STREAM;
    int lane = rails_of_stream(where->stream, where->context);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (lane < 0 || stays(where->stream, where->context))
        return lane;
    if (had < 0)
        rails_close_unmarked((unsigned)lane);
    return TURN_NO_STREAM;
}

/* Locked. */
static int find(const struct where *where)
{
    int lane = -1;
    switch (where->on) {
    case ON_LANE: return (int)where->lane;
    case ON_LEGACY: return pool_legacy_lane(where->context);
    case ON_STREAM: return rails_of_stream(where->stream, where->context);
    case ON_STREAM_UNNAMED: return find_unnamed(where);
    case ON_STREAM_AS_DEFAULT:
        lane = rails_of_stream(where->stream, where->context);
        if (lane >= 0)
            guard_state.order.lanes[lane]->kind = LANE_DEFAULT;
        return lane;
    case ON_OWN:
        if (!where->here->own_lane)
            where->here->own_lane =
                (uint16_t)(rails_open(LANE_BLOCKING, where->context, CU_STREAM_PER_THREAD, where->here->per_thread_uid, 1) +
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
    return asks_for_all(where) || order_is_owed_until(&guard_state.order, lane, guard_state.order.lanes[lane]->last);
}

/* What the host was promised to be done is so when it asks. Locked, before and after: the lane may be another one then. No
 * gate is held while the host waits. */
static __attribute__((noinline)) int settle_query(struct call *C, const struct where *where, unsigned lane)
{
    uint16_t lanes[ORDER_LANES];
    order_catch_up(&guard_state.order, NULL);
    order_owe_lanes(&guard_state.order, lanes, asked_for(where, lane, lanes));
    if (!guard_state.order.needs)
        return (int)lane;
    turn_end(C); /* its gate */
    settle(C);
    pass_gate(C, where);
    lock_take(&guard_state.lock);
    return find(where);
}

int turn_begin(struct call *C, const struct where *where)
{
    turn_end(C); /* a call on several streams: the driver hears of all at once */
    if (__builtin_expect(C->thread->held != 0, 0))
        turn_abandon(C->thread);
    if (C->guarded.kind == GUARD_WORK && turn_settles(C))
        turn_settle(C, where);
    pass_gate(C, where);
    lock_take(&guard_state.lock);
    int lane = find(where);
    if (lane >= 0 && api_rows[C->api].told == TOLD_SETTLE_ASKED && may_be_owed(where, (unsigned)lane))
        lane = settle_query(C, where, (unsigned)lane);
    if (lane >= 0)
        begin(C, (unsigned)lane, C->guarded.kind != GUARD_SYNC && C->guarded.kind != GUARD_QUERY, where);
    else
        lock_drop(&guard_state.lock);
    return lane;
}

void turn_settle(struct call *C, const struct where *where)
{
    int saved = errno;
    uint8_t waits = C->guarded.waits;
    pass_gate(C, where);
    lock_take(&guard_state.lock);
    int lane = find(where);
    if (lane < 0) {
        lock_drop(&guard_state.lock);
        turn_end(C);
        return;
    }
    C->guarded.waits = 1;
    begin(C, (unsigned)lane, 0, where);
    CUstream handle = rails[lane].handle;
    turn_end(C);
    threads_call_waits(C);
    turn_done(C, rails_host_wait_of_program(handle));
    C->guarded.waits = waits;
    C->guarded.settled = 1;
    errno = saved;
}

void turn_done(struct call *C, CUresult result)
{
    struct guarded *guarded = &C->guarded;
    lock_take(&guard_state.lock);
    if (result == CUDA_SUCCESS) {
        order_known(&guard_state.order, &guarded->promise);
        order_done_with(&guard_state.order, guarded->lane, guarded->until, guarded->real);
    }
    order_promise_drop(&guarded->promise);
    lock_drop(&guard_state.lock);
    guarded->waits = 0;
}
