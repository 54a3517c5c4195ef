/* SPDX-License-Identifier: Apache-2.0
 *
 * What the guard does around the real call of every row, for the wrappers. Each function keeps errno and does nothing while
 * guard_on is 0.
 */
#ifndef PTDS_AROUND_CALL_H
#define PTDS_AROUND_CALL_H

#include "interpose/guard/carry_out/kinds.h"
#include "interpose/guard/guard.h"

/* Before the real call, and after it. */
void around_call_enter(struct call *C);
void around_call_leave(struct call *C);
static inline void around_call_entering(struct call *C)
{
    if (guard_on && C->guarded.kind != GUARD_WORK)
        around_call_enter(C);
}
static inline void around_call_leaving(struct call *C)
{
    if (guard_on && (C->guarded.kind != GUARD_NOTHING || C->guarded.begun))
        around_call_leave(C);
}

/* After the book-keeping of the call: what it has made counts as touched. */
void around_call_learn(struct call *C);
static inline void around_call_late(struct call *C)
{
    int is_plain = C->guarded.kind == GUARD_WORK && !C->guarded.waits && C->op != PTDS_OP_ALLOC_ASYNC;
    if (guard_on && !is_plain)
        around_call_learn(C);
}

#endif
