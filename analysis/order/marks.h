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

#endif
