/* SPDX-License-Identifier: Apache-2.0
 *
 * A strand's milestones (struct milestone): its operations that touch memory of a class.
 */
#ifndef PTDS_ANALYSIS_ORDER_STRANDS_MILESTONES_H
#define PTDS_ANALYSIS_ORDER_STRANDS_MILESTONES_H

#include "analysis/order/strands/strands.h"

/* The call at hand, an operation of the strand, begins a milestone in this list of the strand's. */
void milestones_add(struct verdicts *v, uint32_t strand, struct milestones *milestones);
/* The last milestone up to this operation; NULL: none. */
struct milestone *milestones_last(const struct milestones *milestones, uint64_t op);

/* The same, or the last milestone moves on to the call at hand. `snapped`: the strand's. */
static inline void milestones_note_one(struct verdicts *v, uint32_t at, uint64_t snapped, struct milestones *milestones)
{
    if (milestones->count == 0 || TABLE_LAST(milestones)->op <= snapped) {
        milestones_add(v, at, milestones);
        return;
    }
    TABLE_LAST(milestones)->before = TABLE_LAST(milestones)->op;
    TABLE_LAST(milestones)->op = v->now;
}
/* The call at hand touches memory of these classes. */
static inline void milestones_note(struct verdicts *v, uint32_t at, struct milestones milestones[CLASSES], unsigned touched)
{
    uint64_t snapped = strands_at(v, at)->snapped;
    if (touched & TOUCHES_DEVICE)
        milestones_note_one(v, at, snapped, &milestones[0]);
    if (touched & TOUCHES_HOST)
        milestones_note_one(v, at, snapped, &milestones[1]);
    if (touched & TOUCHES_GLOBAL)
        milestones_note_one(v, at, snapped, &milestones[2]);
    if (touched & TOUCHES_TIME)
        milestones_note_one(v, at, snapped, &milestones[3]);
}

#endif
