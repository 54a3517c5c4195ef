/* SPDX-License-Identifier: Apache-2.0
 *
 * A rail is what carries a lane: its stream, the turns in which the driver hears of it, and its marks' events. Only for the
 * guard's own files. The lock guards the order and all that is written here of tickets and pools; it is never held across a
 * driver call.
 */
#ifndef PTDS_RAILS_H
#define PTDS_RAILS_H

#include "interpose/base/lock.h"
#include "interpose/base/word.h"
#include "interpose/guard/order.h"
#include "interpose/state/call.h"

struct rail {
    uint32_t gate; /* of lanes for default-stream work: gate.h */
    CUstream handle;
    struct context *context;
    struct stream *stream; /* the program's; NULL for the shim's own, 0x2 and the legacy stream */
    uint32_t uid;          /* the stream's */
    uint32_t tickets;      /* given out; whoever has one is the only one to call the driver for the lane in its turn */
    uint32_t serving, waiting;
    uint32_t beside; /* 1: not the pool's, so it is the program's own share of the device's queues */
    uint32_t users;  /* threads that have it for their default-stream work: rails_users */
    CUevent mark[ORDER_MARKS];
    uint32_t marked_by[ORDER_MARKS]; /* the ticket in whose turn the mark was recorded */
} __attribute__((aligned(64)));

/* The lock, and in lines of its own what it guards: who waits for the one must not slow down who writes the other. */
extern struct guard_state {
    struct lock lock __attribute__((aligned(64)));
    struct order order __attribute__((aligned(64)));
} guard_state __attribute__((aligned(64)));
extern struct rail rails[ORDER_LANES];

/* Locked: opens a lane; where all are taken it looks for one whose work is done, and gives the lock up for that. -1: none.
 */
int rails_open(enum lane_kind kind, struct context *context, CUstream handle, uint32_t uid, int eager);

/* Locked: the lane of a stream that the program made, opened where it has none; the second: -1 where it has none. */
int rails_of_stream(struct stream *stream, struct context *context);
int rails_has_stream(const struct stream *stream);

/* Locked. */
void rails_close_unmarked(unsigned lane);

/* Unlocked: makes the planned waits in the operation's turn, which stays open until rails_served. `own`: its ticket. */
void rails_carry_out(struct call *C, unsigned lane, uint32_t own, const struct order_plan *plan, const uint32_t tickets[]);

/* Locked: a ticket for the lane; and tickets for all lanes that the plan wants events recorded on. Those are there for all
 * to see before gate_await_quick looks: a quick call shows itself first and looks for tickets afterwards. A ticket for the
 * lane's own operation needs no such care, its gate is held. */
static inline uint32_t rails_ticket(unsigned lane)
{
    uint32_t ticket = rails[lane].tickets;
    __atomic_store_n(&rails[lane].tickets, ticket + 1, __ATOMIC_RELEASE);
    return ticket;
}
void rails_tickets(const struct order_plan *plan, uint32_t tickets[]);

/* Nobody has a ticket. Without the lock: nobody had one a moment ago. */
static inline int rails_no_turns(unsigned lane)
{
    return __atomic_load_n(&rails[lane].tickets, __ATOMIC_SEQ_CST) ==
           __atomic_load_n(&rails[lane].serving, __ATOMIC_ACQUIRE);
}

/* Locked: the turn with this ticket is not over. Old tickets may come again after 2^32 others. */
static inline int rails_is_on_its_way(unsigned lane, uint32_t ticket)
{
    uint32_t serving = __atomic_load_n(&rails[lane].serving, __ATOMIC_ACQUIRE);
    return ticket - serving < rails[lane].tickets - serving;
}

/* Changed under the lock, read anywhere. */
static inline uint32_t rails_users(unsigned lane)
{
    return __atomic_load_n(&rails[lane].users, __ATOMIC_RELAXED);
}
static inline void rails_use(unsigned lane, int more)
{
    __atomic_store_n(&rails[lane].users, rails[lane].users + (uint32_t)more, __ATOMIC_RELAXED);
}

/* Locked: the driver has all of the lane's operations. */
int rails_is_idle(unsigned lane);

/* Returns in the turn. Unlocked. */
static inline void rails_await_turn(unsigned lane, uint32_t ticket)
{
    if (__builtin_expect(__atomic_load_n(&rails[lane].serving, __ATOMIC_ACQUIRE) != ticket, 0))
        word_await(&rails[lane].serving, ticket, &rails[lane].waiting);
}

/* Returns when the turn with this ticket is over. Unlocked. */
static inline void rails_await_over(unsigned lane, uint32_t ticket)
{
    if (__builtin_expect((int32_t)(__atomic_load_n(&rails[lane].serving, __ATOMIC_ACQUIRE) - ticket) <= 0, 0))
        word_await_past(&rails[lane].serving, ticket, &rails[lane].waiting);
}

/* The turn is over. */
static inline void rails_served(unsigned lane, uint32_t ticket)
{
    word_set(&rails[lane].serving, ticket + 1, &rails[lane].waiting);
}

/* In the lane's turn, where nobody may be cancelled: 0 if the driver refuses. The second: it can't be recorded. */
int rails_record_mark(unsigned lane, int mark);
void rails_no_mark(unsigned lane, int mark);

/* Waits for the stream, or for the event, with the host, also while a capture is open. */
CUresult rails_host_wait(CUstream stream);
CUresult rails_host_wait_event(CUevent event);

/* The same where the program's own call waits, too: what that does to a capture which begins meanwhile is the program's. */
CUresult rails_host_wait_of_program(CUstream stream);

/* Whether the stream, or where `event` is not NULL that, is done. Not while a capture is open; one may begin meanwhile. */
int rails_is_done(CUstream stream, CUevent event);

/* The same for all work of the context that has a lane, while a capture is open: a wait for the context would end it.
 * Unlocked. 0: some of it could not be waited for. */
int rails_host_wait_in_capture(const struct context *context);

/* An event without timing of the context, and back. NULL: the driver refuses. */
CUevent rails_event(struct context *context);
void rails_event_back(struct context *context, CUevent event);

/* Makes the context current for a moment where it is not. -1: can't. */
int rails_enter(const struct context *context);
void rails_leave(int entered);

#endif
