/* SPDX-License-Identifier: Apache-2.0
 *
 * The lists of a strand's milestones. Called once or twice an operation (touches.c, opaque_strands.c), and by all files
 * that ask for an operation that touches memory. Must not grow beyond MILESTONES_MOST: the older half is forgotten, and
 * noted as such.
 */
#include "analysis/order/strands/milestones.h"

#include <string.h>

#include "analysis/order/strands/forgotten.h"

/* Mostly it is the last of the list. */
struct milestone *milestones_last(const struct milestones *milestones, uint64_t op)
{
    size_t low = 0, high = milestones->count;
    if (high != 0 && milestones->items[high - 1].op <= op)
        return &milestones->items[high - 1];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (milestones->items[middle].op <= op)
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 ? &milestones->items[low - 1] : NULL;
}

void milestones_add(struct verdicts *v, uint32_t at, struct milestones *milestones)
{
    uint64_t done = vclock_get(&strands_at(v, HOST_STRAND)->expl, at);
    if (milestones->count != 0 && TABLE_LAST(milestones)->op <= done)
        milestones->count = 0;
    if (milestones->count >= MILESTONES_MOST) {
        uint64_t dropped = milestones->items[MILESTONES_MOST / 2 - 1].op;
        forgotten_add(v, at, dropped);
        strands_at(v, at)->lost_milestone = larger(strands_at(v, at)->lost_milestone, dropped);
        milestones->count = MILESTONES_MOST / 2;
        memmove(milestones->items, milestones->items + MILESTONES_MOST / 2, milestones->count * sizeof *milestones->items);
        milestones->items[0].before = larger(milestones->items[0].before, dropped);
    }
    if (TABLE_ADD(milestones))
        *TABLE_LAST(milestones) = (struct milestone){.op = v->now};
    else
        v->limited = true;
    v->contexts.items[strands_at(v, at)->context].host_used |= milestones == &strands_at(v, at)->access[1];
}
