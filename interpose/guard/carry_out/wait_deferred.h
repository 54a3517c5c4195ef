/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes deferred waits where they are due (decide/deferred_waits.h). Called without the guard's lock and outside of any
 * turn of the call's, but for the functions that say so. Each keeps errno.
 */
#ifndef PTDS_WAIT_DEFERRED_H
#define PTDS_WAIT_DEFERRED_H

#include "interpose/guard/carry_out/program_event.h"
#include "interpose/guard/decide/order.h"
#include "interpose/state/call.h"

/* ---- for the wrappers: what api.def's column `told` asks for ---- */

/* The host waits for all work that it was promised to be done. 1: there was such work. The second is for where memory
 * lacked: 1 says that it is worth while to make the call once more. */
int wait_deferred_all(const struct call *C);
int wait_deferred_where_lacking(struct call *C);

/* The program is about to take away what C touches, or access to it: the host waits for what uses it still. Like the next,
 * only where the row says so. */
void wait_deferred_memory_leaves(struct call *C);

/* The host, or others, can touch the memory from now on; before the call is back. */
void wait_deferred_memory_shown(struct call *C, struct memory *memory);

/* ---- for the guard's own files ---- */

/* Waits that are due, decided under the lock and made without it. */
struct due_waits {
    struct order_plan plan;
    uint32_t tickets[ORDER_LANES];
};

/* Requires the lock. Takes what deferred_waits_of_* have noted. */
void wait_deferred_decide(struct due_waits *due);

/* Without the lock: the host waits. */
void wait_deferred_make(const struct call *C, const struct due_waits *due);

/* Requires the lock. 1: the host was promised all that the newest record of the event stands for, and it is not known to be
 * done. */
int wait_deferred_is_owed(const struct program_event *event);

/* The host asks about the event, or measures from it: it waits for the event where it was promised to be done. */
void wait_deferred_event(struct call *C, CUevent event);

#endif
