/* SPDX-License-Identifier: Apache-2.0
 *
 * A call's turn on a lane: registered, with all waits made, until the driver has it. Only for the guard's own files.
 */
#ifndef PTDS_TURN_H
#define PTDS_TURN_H

#include "interpose/base/gate.h"
#include "interpose/footprint/footprint.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/decide/repeat_rights.h"
#include "interpose/state/call.h"

/* The thread will not come back from the call that had the turn: it was cancelled in there. Others go on. */
void turn_abandon(struct thread *thread);

/* Without the lock: 1 if the call is work that the thread's lane has done before (repeat_rights.h): it needs no turn.
 * turn_end follows all the same. */
int turn_again(struct call *C, struct thread_context *here);

/* Some asynchronous copies wait for their stream inside the driver, and so do graphs that have such (measured). */
static inline int turn_settles(const struct call *C)
{
    return (C->op == PTDS_OP_COPY || C->op == PTDS_OP_GRAPH_LAUNCH) && footprint_settles(C);
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
    return !thread->held && issue_no_turns(lane) && repeat_rights_are_ready(&guard_state.order, lane) && pool_stays(here);
}

/* What thread->held says, for turn_abandon, as long as the call itself may never return. */
enum { HELD_TURN = 1, HELD_GATE = 2 };

static inline void turn_gone_again(struct thread *thread, unsigned lane, int gate)
{
    if (!gate || !thread->held) /* not held: a call that a tool made inside of this one has given it up */
        return;
    thread->held = 0;
    gate_drop(&issue_lanes[lane].gate, issue_users(lane) == 1);
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
    return repeat_rights_use(&guard_state.order, lane, &nothing) && issue_no_turns(lane);
}

/* Takes the gate of a pool's lane for the call. */
void turn_take_gate(struct call *C, unsigned lane);

/* The call has its turn: thread->held says so from here on. */
void turn_hold(struct call *C);

/* The driver has the call: its turn is over, and its gate is given back. Nothing where there is none. */
void turn_end(struct call *C);

/* The call at hand gives up its turn and gate: another call, made inside of it, may make the host wait. Calls no driver. */
void turn_give_up(struct thread *thread);

#endif
