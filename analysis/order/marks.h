/* SPDX-License-Identifier: Apache-2.0
 *
 * Marks a lane's operation as one that touches memory of some classes. For touches.c and conflicts.c, once an operation: of
 * a run that nobody looked into only the last is kept, so the usual case changes one mark a class.
 */
#ifndef PTDS_ANALYSIS_ORDER_MARKS_H
#define PTDS_ANALYSIS_ORDER_MARKS_H

#include "analysis/order/engine.h"

static inline void conflicts_mark_one(struct verdicts *v, uint32_t at, uint64_t snapped, struct marks *marks)
{
    if (marks->count == 0 || TABLE_LAST(marks)->op <= snapped) {
        conflicts_new_mark(v, at, marks);
        return;
    }
    TABLE_LAST(marks)->before = TABLE_LAST(marks)->op;
    TABLE_LAST(marks)->op = v->now;
}
/* The lane's operation touches memory of these classes. */
static inline void conflicts_mark(struct verdicts *v, uint32_t at, struct marks marks[CLASSES], unsigned touched)
{
    uint64_t snapped = lanes_at(v, at)->snapped;
    if (touched & TOUCHES_DEVICE)
        conflicts_mark_one(v, at, snapped, &marks[0]);
    if (touched & TOUCHES_HOST)
        conflicts_mark_one(v, at, snapped, &marks[1]);
    if (touched & TOUCHES_GLOBAL)
        conflicts_mark_one(v, at, snapped, &marks[2]);
    if (touched & TOUCHES_TIME)
        conflicts_mark_one(v, at, snapped, &marks[3]);
}

/* Whether the lane has not met the others by as much yet. */
static inline bool conflicts_met_less(const struct lane *lane, unsigned touches, unsigned opaque)
{
    return ((touches & ~(unsigned)lane->met) | (opaque & ~(unsigned)lane->met_opaque)) != 0;
}
/* An operation that touches memory of these classes, and memory of those that nobody names, or did so after one that did;
 * before it is marked as such. Mostly the lane has learnt nothing since it met the others like that. */
static inline void conflicts_opaque(struct verdicts *v, uint32_t at, unsigned touches, unsigned opaque)
{
    const struct lane *lane = lanes_at(v, at);
    if (lane->met_at == 0 || lane->grown_at > lane->met_at || lanes_at(v, HOST_LANE)->grown_at > lane->met_at ||
        conflicts_met_less(lane, touches, opaque))
        conflicts_meet(v, at, touches, opaque);
    if (opaque != 0)
        conflicts_be_opaque(v, at, opaque);
}

#endif
