/* SPDX-License-Identifier: Apache-2.0
 *
 * A call's turn on a lane: registered, with all waits made, until the driver has it. Only for the guard's own files.
 */
#ifndef PTDS_TURN_H
#define PTDS_TURN_H

#include "interpose/footprint/operations/blocks_host.h"
#include "interpose/guard/claims.h"
#include "interpose/guard/pool.h"
#include "interpose/guard/rails.h"
#include "interpose/state/call.h"

/* Where a call goes: a lane of the pool, the lane of a stream that the program made, of the context's legacy stream, or of
 * the thread's 0x2. Looked up and used in one step, since lanes change hands. */
struct where {
    enum {
        ON_LANE,
        ON_STREAM,
        ON_STREAM_AS_DEFAULT,
        ON_STREAM_UNNAMED,
        ON_LEGACY,
        ON_OWN
    } on; /* UNNAMED: not by the program */
    unsigned lane;
    struct stream *stream;
    struct context *context;
    struct thread_context *here;
    int gathers;           /* the thread may move to the lane of those that it conflicts with */
    const uint16_t *fully; /* lanes that it comes after wholly */
    unsigned fully_count;
};

/* The thread will not come back from the call that had the turn: it was cancelled in there. Others go on. */
void turn_abandon(struct thread *thread);

/* Registers the call and makes its waits; it has its turn then. C->guarded says what kind it is, and whether the host
 * waits. Returns the lane; negative: nothing was done, since there is no lane, or the program did not name the stream and
 * is about to destroy it or to capture on it. */
enum { TURN_NO_LANE = -1, TURN_NO_STREAM = -2 };
int turn_begin(struct call *C, const struct where *where);

/* Without the lock: 1 if the call is work that the thread's lane has done before (claims.h): it needs no turn. turn_end
 * follows all the same. */
int turn_again(struct call *C, struct thread_context *here);

/* Some asynchronous copies wait for their stream inside the driver, and so do graphs that have such (measured). */
static inline int turn_settles(const struct call *C)
{
    return (C->op == PTDS_OP_COPY || C->op == PTDS_OP_GRAPH_LAUNCH) && blocks_host_always(C);
}

/* Plain work: nothing but what it touches decides what it comes after. */
static inline int turn_is_plain(const struct call *C)
{
    if (C->touched.opaque || C->touched.host || C->event)
        return 0;
    return C->op == PTDS_OP_LAUNCH || C->op == PTDS_OP_MEMSET || (C->op == PTDS_OP_COPY && !turn_settles(C));
}

/* Its parts, for who has no call. 0: it is no use to ask. */
static inline int turn_may_go_again(const struct thread *thread, struct thread_context *here)
{
    unsigned lane = here->lanes[0];
    return !thread->held && rails_no_turns(lane) && order_is_ready(&guard_state.order, lane) && pool_stays(here);
}

/* What thread->held says, for turn_abandon, as long as the call itself may never return. */
enum { HELD_TURN = 1, HELD_GATE = 2 };

static inline void turn_gone_again(struct thread *thread, unsigned lane, int gate)
{
    if (!gate || !thread->held) /* not held: a call that a tool made inside of this one has given it up */
        return;
    thread->held = 0;
    gate_drop(&rails[lane].gate, rails_users(lane) == 1);
}

/* For turn_goes_again. */
int turn_goes_gated(struct thread *thread, unsigned lane, const struct touched *touched);

/* 1: plain work that touches this may go to the lane; turn_gone_again follows, with gate 1 if it touches anything. Where a
 * turn is given out, it comes first. */
static inline __attribute__((always_inline)) int turn_goes_again(struct thread *thread, unsigned lane,
                                                                 const struct touched *touched)
{
    static const struct touched nothing = {};
    if (touched->count)
        return turn_goes_gated(thread, lane, touched);
    return order_again(&guard_state.order, lane, &nothing) && rails_no_turns(lane);
}

/* The driver has the call. Nothing where there is no turn. */
void turn_end(struct call *C);

/* The host waits for what is on the stream, as it does inside the driver for some calls, which must not do so in their
 * turn.
 */
void turn_settle(struct call *C, const struct where *where);

/* The host has waited for what C->guarded says, or has not (the call failed). */
void turn_done(struct call *C, CUresult result);

/* The guard has no part in this call. */
void turn_none(struct call *C);

#endif
