/* SPDX-License-Identifier: Apache-2.0
 *
 * A call's turn and its lane's gate: taken, held, ended, abandoned. Called by register.c, guard.c and the short way
 * (repeat_launch.c). Must keep errno; must not take the lock.
 */
#include "interpose/guard/carry_out/turn.h"

#include <errno.h>

#include "interpose/base/cancel.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/decide/repeat_rights.h"

void turn_hold(struct call *C)
{
    const struct guarded *guarded = &C->guarded;
    C->thread->held = HELD_TURN | guarded->gate * HELD_GATE | (unsigned)guarded->lane << 8 |
                      (unsigned)(guarded->mark_after + 1) << 24 | (uint64_t)guarded->ticket << 32;
}

static __attribute__((noinline)) void end_turn(struct guarded *guarded)
{
    guarded->turn = 0;
    if (guarded->mark_after >= 0) {
        int saved = errno, cancel = cancel_off();
        issue_record_mark(guarded->lane, guarded->mark_after);
        cancel_back(cancel);
        errno = saved;
    }
    issue_served(guarded->lane, guarded->ticket);
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
        gate_drop(&issue_lanes[C->guarded.lane].gate, issue_users(C->guarded.lane) == 1);
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
            issue_no_mark(lane, mark);
        issue_served(lane, (uint32_t)(held >> 32));
    }
    if (held & HELD_GATE)
        gate_drop(&issue_lanes[lane].gate, 0);
}

void turn_give_up(struct thread *thread)
{
    if (thread->held)
        turn_abandon(thread);
}

/* ---- the gate ---- */

void turn_take_gate(struct call *C, unsigned lane)
{
    C->guarded.lane = (uint16_t)lane;
    gate_take(&issue_lanes[lane].gate, GATE_HELD);
    C->guarded.gate = 1;
    C->thread->held = HELD_GATE | lane << 8;
}

int turn_goes_gated(struct thread *thread, unsigned lane, const struct touched *touched)
{
    gate_take(&issue_lanes[lane].gate, GATE_HELD | GATE_QUICK);
    thread->held = HELD_GATE | lane << 8;
    if (repeat_rights_use(&guard_state.order, lane, touched) && issue_no_turns(lane))
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
