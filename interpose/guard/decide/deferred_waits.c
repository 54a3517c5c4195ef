/* SPDX-License-Identifier: Apache-2.0
 *
 * Deferred waits. A host that waits for the default stream was promised all work that legacy orders before the wait; the
 * guard makes it wait for what the host can see, and defers the wait for work that only the device can see. The results
 * keep their order without the host. Where the host frees that memory, shows it to others, or asks whether work is done,
 * the wait is due. Called by the guard under its lock. Must not know the driver, lock, or call malloc.
 */
#include "interpose/guard/decide/deferred_waits.h"

#include "interpose/guard/decide/ledger.h"
#include "interpose/guard/decide/order.h"

/* As far as it was promised, where any of it from `first` on was. */
static void need_promised(struct order *o, unsigned lane, moment first, moment until)
{
    moment promised = order_known_until(o, lane);
    if (promised >= moment_later(first, o->lanes[lane]->first))
        order_need(o, lane, moment_earlier(until, promised));
}

int deferred_waits_has(const struct order *o, unsigned lane, moment until)
{
    return until > o->lanes[lane]->completed && until <= order_known_until(o, lane);
}

void deferred_waits_of_memory(struct order *o, const struct access *access, int pending)
{
    const struct ledger *ledger = access->memory->ledger;
    for (unsigned i = 0; ledger && i < ledger->count; i++) {
        const struct ledger_entry *entry = &ledger->at[i];
        moment first, newest = ledger_conflict(entry, access, o->lanes[entry->lane]->completed, &first);
        if (newest && pending)
            order_need(o, entry->lane, newest);
        else if (newest)
            need_promised(o, entry->lane, first, newest);
    }
    for (unsigned i = 0; (o->opaque_lanes || o->crowded) && i < o->high; i++) {
        const struct lane *lane = o->lanes[i];
        if (lane->open && lane->opaque)
            need_promised(o, i, lane->opaque_first, lane->opaque);
        if (lane->open && o->crowded)
            need_promised(o, i, lane->first, moment_earlier(o->crowded, lane->last));
    }
}

void deferred_waits_of_all(struct order *o)
{
    for (unsigned i = 0; i < o->high; i++) {
        if (o->lanes[i]->open)
            need_promised(o, i, o->lanes[i]->first, o->lanes[i]->last);
    }
}

/* Where any of them has newer work, legacy's answer is that they are busy, too. */
void deferred_waits_of_lanes(struct order *o, const uint16_t *lanes, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct lane *lane = o->lanes[lanes[i]];
        if (lane->last > moment_later(lane->completed, order_known_until(o, lanes[i])))
            return;
    }
    for (unsigned i = 0; i < count; i++)
        order_need(o, lanes[i], o->lanes[lanes[i]]->last);
}

void deferred_waits_plan(struct order *o, struct order_plan *plan)
{
    plan->at = 0;
    plan->count = 0;
    plan->mark_first = plan->mark_after = -1;
    while (o->needs) {
        unsigned lane = o->needing[--o->needs];
        moment until = o->need[lane];
        o->need[lane] = 0;
        plan->waits[plan->count++] = order_wait_until(o, lane, until, moment_later(until, order_known_until(o, lane)));
    }
}

void deferred_waits_memory_shown(struct order *o, struct memory *memory)
{
    const struct access all = {memory, 0, UINT64_MAX, 1};
    for (unsigned i = 0; memory->ledger && i < memory->ledger->count; i++) {
        const struct ledger_entry *entry = &memory->ledger->at[i];
        struct lane *lane = o->lanes[entry->lane];
        moment first, newest = ledger_conflict(entry, &all, lane->completed, &first);
        if (!newest)
            continue;
        first = moment_later(first, lane->first);
        lane->host_first = lane->host > lane->completed ? moment_earlier(lane->host_first, first) : first;
        lane->host = moment_later(lane->host, newest);
    }
}
