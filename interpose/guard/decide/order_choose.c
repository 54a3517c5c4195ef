/* SPDX-License-Identifier: Apache-2.0
 *
 * On which of a thread's lanes an operation goes: behind what it needs, else beside it. Called by the guard under its lock,
 * and by tests alone. Must change nothing.
 */
#include "interpose/guard/decide/order_choose.h"

#include "interpose/guard/decide/ledger.h"

/* The lane of the newest work that the operation has to come after; -1: there is none that is not done. */
static int newest_needed(const struct order *o, const struct touched *touched, unsigned asking, moment *at)
{
    int found = -1;
    *at = 0;
    for (unsigned i = 0; touched && i < touched->count; i++) {
        const struct ledger *ledger = touched->at[i].memory->ledger;
        for (unsigned e = 0; ledger && e < ledger->count; e++) {
            unsigned lane = ledger->at[e].lane;
            moment first;
            moment newest = ledger_conflict(&ledger->at[e], &touched->at[i], o->lanes[lane]->completed, &first);
            if (newest > *at && order_promised(o, asking, lane) >= newest) {
                *at = newest;
                found = (int)lane;
            }
        }
    }
    return found;
}

static unsigned longest_idle(const struct order *o, const uint16_t *lanes, unsigned count)
{
    unsigned idle = lanes[0];
    for (unsigned i = 1; i < count; i++) {
        if (o->lanes[lanes[i]]->last < o->lanes[idle]->last)
            idle = lanes[i];
    }
    return idle;
}

static unsigned newest_used(const struct order *o, const uint16_t *lanes, unsigned count)
{
    unsigned newest = lanes[0];
    for (unsigned i = 1; i < count; i++) {
        if (o->lanes[lanes[i]]->last > o->lanes[newest]->last)
            newest = lanes[i];
    }
    return newest;
}

static int are_done(const struct order *o, const uint16_t *lanes, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (o->lanes[lanes[i]]->last > o->lanes[lanes[i]]->completed)
            return 0;
    }
    return 1;
}

int order_choose_is_apart(const struct order *o, const struct order_op *op)
{
    moment at;
    const struct lane *lane = o->lanes[op->lane];
    if (!op->touched || op->touched->opaque || !op->touched->count || lane->last <= lane->completed)
        return 0;
    newest_needed(o, op->touched, op->lane, &at);
    return at < lane->last;
}

/* Another stream than the last one costs the device time. So work stays there that touches nothing or everything, which is
 * no chain, and work that has nothing to run beside: in a program that waits after each kernel this is all of it. */
unsigned order_choose(const struct order *o, const struct order_op *op, const uint16_t *lanes, unsigned count)
{
    moment at;
    if (count == 1)
        return lanes[0];
    if (op->join == JOIN_ALL || !op->touched || op->touched->opaque || !op->touched->count || are_done(o, lanes, count))
        return newest_used(o, lanes, count);
    int needed = newest_needed(o, op->touched, lanes[0], &at);
    for (unsigned i = 0; needed >= 0 && i < count; i++) {
        if (lanes[i] == needed && o->lanes[needed]->last == at)
            return lanes[i];
    }
    return longest_idle(o, lanes, count);
}
