/* SPDX-License-Identifier: Apache-2.0
 *
 * What a lane needs to issue its operations: its stream, the turns in which the driver hears of them, its marks' events.
 * Only for the guard's own files. The lock guards the order and all that is written here of tickets and pools; it is never
 * held over a driver call.
 */
#ifndef PTDS_ISSUE_H
#define PTDS_ISSUE_H

#include "interpose/base/gate.h"
#include "interpose/base/lock.h"
#include "interpose/base/word.h"
#include "interpose/guard/decide/order.h"
#include "interpose/state/call.h"

struct issue_lane {
    uint32_t gate; /* of lanes for default-stream work: gate.h */
    CUstream handle;
    struct context *context;
    struct stream *stream; /* the program's; NULL for the shim's own, 0x2 and the legacy stream */
    uint32_t uid;          /* the stream's */
    uint32_t tickets;      /* given out; whoever has one is the only one to call the driver for the lane in its turn */
    uint32_t serving, waiting;
    uint32_t beside; /* 1: not the pool's, so it is the program's own share of the device's queues */
    uint32_t users;  /* threads that have it for their default-stream work: issue_users */
    CUevent mark[ORDER_MARKS];
    uint32_t marked_by[ORDER_MARKS]; /* the ticket in whose turn the mark was recorded */
} __attribute__((aligned(64)));

/* 1: a policy wants the guard. Set once, before the first wrapper goes on. */
extern uint32_t guard_on;

/* The lock, and in lines of its own what it guards: who waits for the one must not slow down who writes the other. */
extern struct guard_state {
    struct lock lock __attribute__((aligned(64)));
    struct order order __attribute__((aligned(64)));
} guard_state __attribute__((aligned(64)));
extern struct issue_lane issue_lanes[ORDER_LANES];

/* Unlocked: makes the planned waits in the operation's turn, which stays open until issue_served. `own`: its ticket. */
void issue_waits(struct call *C, unsigned lane, uint32_t own, const struct order_plan *plan, const uint32_t tickets[]);

/* Locked: a ticket for the lane; and tickets for all lanes that the plan wants events recorded on. Those are there for all
 * to see before gate_await_quick looks: a quick call shows itself first and looks for tickets afterwards. A ticket for the
 * lane's own operation needs no such care, its gate is held. */
static inline uint32_t issue_ticket(unsigned lane)
{
    uint32_t ticket = issue_lanes[lane].tickets;
    __atomic_store_n(&issue_lanes[lane].tickets, ticket + 1, __ATOMIC_RELEASE);
    return ticket;
}
void issue_plan_tickets(const struct order_plan *plan, uint32_t tickets[]);

/* Nobody has a ticket. Without the lock: nobody had one a moment ago. */
static inline int issue_no_turns(unsigned lane)
{
    return __atomic_load_n(&issue_lanes[lane].tickets, __ATOMIC_SEQ_CST) ==
           __atomic_load_n(&issue_lanes[lane].serving, __ATOMIC_ACQUIRE);
}

/* Locked: the turn with this ticket is not over. Old tickets may come again after 2^32 others. */
static inline int issue_is_on_its_way(unsigned lane, uint32_t ticket)
{
    uint32_t serving = __atomic_load_n(&issue_lanes[lane].serving, __ATOMIC_ACQUIRE);
    return ticket - serving < issue_lanes[lane].tickets - serving;
}

/* Changed under the lock, read anywhere. */
static inline uint32_t issue_users(unsigned lane)
{
    return __atomic_load_n(&issue_lanes[lane].users, __ATOMIC_RELAXED);
}
static inline void issue_use(unsigned lane, int more)
{
    __atomic_store_n(&issue_lanes[lane].users, issue_lanes[lane].users + (uint32_t)more, __ATOMIC_RELAXED);
}

/* Locked: the driver has all of the lane's operations. */
int issue_is_idle(unsigned lane);

/* Returns in the turn. Unlocked. */
static inline void issue_await_turn(unsigned lane, uint32_t ticket)
{
    if (__builtin_expect(__atomic_load_n(&issue_lanes[lane].serving, __ATOMIC_ACQUIRE) != ticket, 0))
        word_await(&issue_lanes[lane].serving, ticket, &issue_lanes[lane].waiting);
}

/* Returns when the turn with this ticket is over. Unlocked. */
static inline void issue_await_over(unsigned lane, uint32_t ticket)
{
    if (__builtin_expect((int32_t)(__atomic_load_n(&issue_lanes[lane].serving, __ATOMIC_ACQUIRE) - ticket) <= 0, 0))
        word_await_past(&issue_lanes[lane].serving, ticket, &issue_lanes[lane].waiting);
}

/* The turn is over. */
static inline void issue_served(unsigned lane, uint32_t ticket)
{
    word_set(&issue_lanes[lane].serving, ticket + 1, &issue_lanes[lane].waiting);
}

/* In the lane's turn, where nobody may be cancelled: 0 if the driver refuses. The second: it can't be recorded. */
int issue_record_mark(unsigned lane, int mark);
void issue_no_mark(unsigned lane, int mark);

/* The stream on which an event stands for the lane's work. Only its thread can record on a 0x2; the legacy stream comes
 * after all blocking streams, so an event there stands for the 0x2, too. */
CUstream issue_recorded_on(unsigned lane);

/* Makes the context current for a moment where it is not. -1: can't. */
int issue_enter_context(const struct context *context);
void issue_leave_context(int entered);

#endif
