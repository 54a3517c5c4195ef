/* SPDX-License-Identifier: Apache-2.0
 *
 * What a host that has waited was promised and did not wait for: work that only the device can see. Its results keep their
 * order without the host; but where the host takes memory away, shows it to others, or asks whether work is done, it has to
 * be done. Called by the guard under its lock. Must not know the driver, lock, or call malloc.
 *
 * order_owe_* note what is owed, order_owed says how to wait for it; both in one step.
 */
#include "interpose/guard/order.h"

#include "interpose/guard/lanes.h"
#include "interpose/guard/ledger.h"

static moment larger(moment a, moment b)
{
    return a > b ? a : b;
}

static moment smaller(moment a, moment b)
{
    return a < b ? a : b;
}

static void owe(struct order *o, unsigned lane, moment until)
{
    if (until <= o->lanes[lane]->completed)
        return;
    if (!o->need[lane])
        o->needing[o->needs++] = (uint16_t)lane;
    o->need[lane] = larger(o->need[lane], until);
}

/* As far as it was promised, where any of it from `first` on was. */
static void owe_promised(struct order *o, unsigned lane, moment first, moment until)
{
    moment promised = order_known_until(o, lane);
    if (promised >= larger(first, o->lanes[lane]->first))
        owe(o, lane, smaller(until, promised));
}

int order_is_owed_until(const struct order *o, unsigned lane, moment until)
{
    return until > o->lanes[lane]->completed && until <= order_known_until(o, lane);
}

void order_owe_memory(struct order *o, const struct access *access, int pending)
{
    const struct ledger *ledger = access->memory->ledger;
    for (unsigned i = 0; ledger && i < ledger->count; i++) {
        const struct ledger_entry *entry = &ledger->at[i];
        moment first, newest = ledger_conflict(entry, access, o->lanes[entry->lane]->completed, &first);
        if (newest && pending)
            owe(o, entry->lane, newest);
        else if (newest)
            owe_promised(o, entry->lane, first, newest);
    }
    for (unsigned i = 0; (o->opaque_lanes || o->crowded) && i < o->high; i++) {
        const struct lane *lane = o->lanes[i];
        if (lane->open && lane->opaque)
            owe_promised(o, i, lane->opaque_first, lane->opaque);
        if (lane->open && o->crowded)
            owe_promised(o, i, lane->first, smaller(o->crowded, lane->last));
    }
}

void order_owe_all(struct order *o)
{
    for (unsigned i = 0; i < o->high; i++) {
        if (o->lanes[i]->open)
            owe_promised(o, i, o->lanes[i]->first, o->lanes[i]->last);
    }
}

/* Where any of them has newer work, legacy's answer is that they are busy, too. */
void order_owe_lanes(struct order *o, const uint16_t *lanes, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct lane *lane = o->lanes[lanes[i]];
        if (lane->last > larger(lane->completed, order_known_until(o, lanes[i])))
            return;
    }
    for (unsigned i = 0; i < count; i++)
        owe(o, lanes[i], o->lanes[lanes[i]]->last);
}

void order_owed(struct order *o, struct order_plan *plan)
{
    plan->at = 0;
    plan->count = 0;
    plan->mark_first = plan->mark_after = -1;
    while (o->needs) {
        unsigned lane = o->needing[--o->needs];
        moment until = o->need[lane];
        o->need[lane] = 0;
        plan->waits[plan->count++] = order_wait_until(o, lane, until, larger(until, order_known_until(o, lane)));
    }
}

void order_memory_shown(struct order *o, struct memory *memory)
{
    const struct access all = {memory, 0, UINT64_MAX, 1};
    for (unsigned i = 0; memory->ledger && i < memory->ledger->count; i++) {
        const struct ledger_entry *entry = &memory->ledger->at[i];
        struct lane *lane = o->lanes[entry->lane];
        moment first, newest = ledger_conflict(entry, &all, lane->completed, &first);
        if (!newest)
            continue;
        first = larger(first, lane->first);
        lane->host_first = lane->host > lane->completed ? smaller(lane->host_first, first) : first;
        lane->host = larger(lane->host, newest);
    }
}
