/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass: the verdict engine tells each conflict that legacy order holds and explicit order does not; of those that the
 * policy does not hold either, some become waits. Called by the command and by tests. Must not know who orders whom: that
 * is model/under.h.
 *
 * Which ones. Calls are taken in order, so all that comes before a call is known when it is taken. Of the operations that
 * it conflicts with, the newest is looked at first: if the call does not come after it anyway, it gets a wait for it, and
 * so comes after all that this one came after. Nothing later in the row, nor in the trace, could have implied that wait,
 * for whatever comes before the call comes earlier in the trace. So each wait is an order that no two others make up, all
 * waits together make all the orders, and there is no other set of waits between conflicting operations that does.
 *
 * Two orders are kept: with the needed waits alone, and with all. A needed wait is one that the needed ones do not imply.
 */
#include "analysis/repair/repair.h"

#include <stdlib.h>

#include "analysis/repair/known.h"
#include "analysis/repair/places.h"
#include "analysis/report/walk_calls.h"

enum { WITH_NEEDED, WITH_ALL, ORDERS }; /* which waits are in it */

/* A call that has been taken. */
struct taken {
    struct edge_end end;
    uint32_t slot; /* under the policy; MODEL_NO_SLOT: it is on no stream */
};

struct repairing {
    struct conflict_sink sink; /* first */
    struct edge_sink edges;
    struct repair *out;
    struct repair_places places;
    unsigned policy;
    struct verdicts *verdicts;
    struct model *model;
    struct known_order order[ORDERS];
    TABLE_OF(struct taken) calls;                /* by number */
    TABLE_OF(struct verdict_conflict) conflicts; /* of one call and one way, not settled yet */
    bool failed;
};

static void ignore_edge(struct edge_sink *sink, const struct edge *edge)
{
    struct repairing *r = (struct repairing *)((char *)sink - offsetof(struct repairing, edges));
    r->out->partly |=
        edge->verdict == VERDICT_MAYBE_NEEDED && (edge->reason == REASON_LOST || edge->reason == REASON_LIMIT);
}

static const struct taken *call_of(const struct repairing *r, uint64_t number)
{
    return number < r->calls.count ? &r->calls.items[number] : NULL;
}

/* The newest first. */
static int by_first(const void *a, const void *b)
{
    const struct verdict_conflict *one = a, *two = b;
    if (one->first != two->first)
        return one->first < two->first ? 1 : -1;
    return (int)(one->verdict == VERDICT_MAYBE_NEEDED) - (int)(two->verdict == VERDICT_MAYBE_NEEDED);
}

static void add_wait(struct repairing *r, const struct verdict_conflict *conflict)
{
    struct repair *out = r->out;
    const struct taken *first = call_of(r, conflict->first), *second = call_of(r, conflict->second);
    *(conflict->verdict == VERDICT_NEEDED ? &out->needed : &out->maybe_needed) += 1;
    out->unplaced += !repair_places_add(&r->places, out, conflict, &first->end, &second->end);
    if (out->waits.count >= REPAIR_WAITS_MOST || !TABLE_ADD(&out->waits))
        return;
    *TABLE_LAST(&out->waits) =
        (struct repair_wait){conflict->first, conflict->second, conflict->at, conflict->verdict, conflict->reason};
}

/* The conflicts' second comes after `before`, in either order. Adds the waits of this verdict that it lacks in this order,
 * and what they bring to `before`: all orders from this one on have them. */
static void settle_verdict(struct repairing *r, unsigned which, enum verdict verdict, struct vclock before[ORDERS])
{
    for (size_t i = 0; i < r->conflicts.count; i++) {
        const struct verdict_conflict *conflict = &r->conflicts.items[i];
        const struct taken *first = call_of(r, conflict->first);
        if (conflict->verdict != verdict || first == NULL || first->slot == MODEL_NO_SLOT ||
            call_of(r, conflict->second) == NULL)
            continue;
        if (vclock_get(&r->order[which].done, first->slot) >= conflict->first ||
            vclock_get(&before[which], first->slot) >= conflict->first)
            continue;
        for (unsigned k = which; k < ORDERS; k++)
            r->failed |= !known_behind(&r->order[k], first->slot, conflict->first, &before[k]);
        add_wait(r, conflict);
    }
}

static void settle(struct repairing *r, struct vclock before[ORDERS])
{
    if (r->conflicts.count > 1)
        qsort(r->conflicts.items, r->conflicts.count, sizeof *r->conflicts.items, by_first);
    settle_verdict(r, WITH_NEEDED, VERDICT_NEEDED, before);
    settle_verdict(r, WITH_ALL, VERDICT_MAYBE_NEEDED, before);
    r->conflicts.count = 0;
}

/* Those with the host: when a wait has returned, or in the call at hand. */
static void settle_host(struct repairing *r, uint64_t ticks, const struct call_view *view)
{
    struct vclock before[ORDERS] = {{0}, {0}};
    for (unsigned i = 0; i < ORDERS; i++) {
        known_until(&r->order[i], ticks);
        if (view != NULL)
            known_cover(&r->order[i], r->model, view, &before[i]);
    }
    settle(r, before);
    for (unsigned i = 0; i < ORDERS; i++) {
        r->failed |= !vclock_join(&r->order[i].done, &before[i]);
        vclock_free(&before[i]);
    }
}

static void take_conflict(struct conflict_sink *sink, const struct verdict_conflict *conflict)
{
    struct repairing *r = (struct repairing *)sink;
    const struct verdict_conflict *last = r->conflicts.count != 0 ? TABLE_LAST(&r->conflicts) : NULL;
    /* Only waits that have returned are told of before a call's own conflicts. */
    if (last != NULL && last->at == CONFLICT_AFTER_WAIT && (last->at != conflict->at || last->second != conflict->second))
        settle_host(r, last->ticks, NULL);
    if (TABLE_ADD(&r->conflicts))
        *TABLE_LAST(&r->conflicts) = *conflict;
    else
        r->failed = true;
}

static void note_call(struct repairing *r, const struct call_view *view, uint32_t slot)
{
    while (r->calls.count <= view->number) {
        if (!TABLE_ADD(&r->calls)) {
            r->failed = true;
            return;
        }
        TABLE_LAST(&r->calls)->slot = MODEL_NO_SLOT;
    }
    r->calls.items[view->number] = (struct taken){verdicts_end_of(view), slot};
}

static void submit(struct repairing *r, const struct call_view *view, uint32_t slot)
{
    struct vclock before[ORDERS] = {{0}, {0}};
    for (unsigned i = 0; i < ORDERS; i++)
        known_before(&r->order[i], r->model, view, &before[i]);
    settle(r, before);
    for (unsigned i = 0; i < ORDERS; i++) {
        known_submit(&r->order[i], r->model, slot, view->number, &before[i]);
        vclock_free(&before[i]);
    }
}

static void take_call(struct walker *walker, struct model *model, const struct call_view *view)
{
    struct repairing *r = walker->data;
    uint32_t slot = MODEL_NO_SLOT;
    r->model = model;
    for (unsigned i = 0; i < ORDERS; i++)
        slot = known_slot(&r->order[i], model, view); /* a stream's slot is the same in all orders */
    note_call(r, view, slot);
    if (view->call->r.op == PTDS_OP_ALLOC || view->call->r.op == PTDS_OP_ALLOC_ASYNC) {
        struct edge_end call = verdicts_end_of(view);
        repair_places_made(&r->places, view->call->r.object, &call);
    }
    verdicts_take(r->verdicts, view, walker->gap);
    if (r->conflicts.count != 0 && TABLE_LAST(&r->conflicts)->at == CONFLICT_AFTER_WAIT)
        settle_host(r, TABLE_LAST(&r->conflicts)->ticks, NULL);
    for (unsigned i = 0; i < ORDERS; i++)
        known_until(&r->order[i], view->call->r.enter);
    if (r->conflicts.count != 0 && TABLE_LAST(&r->conflicts)->at == CONFLICT_ON_HOST)
        settle_host(r, view->call->r.enter, view);
    if (slot != MODEL_NO_SLOT)
        submit(r, view, slot);
    r->conflicts.count = 0; /* of operations on streams beyond what is followed */
    for (unsigned i = 0; i < ORDERS; i++)
        known_wait(&r->order[i], model, view);
}

static bool begin(struct walker *walker, struct model *model)
{
    struct repairing *r = walker->data;
    r->model = model;
    model->keeps_slots = true; /* what was on a stream may be pending under the policy when it is long done in the run */
    for (unsigned i = 0; i < ORDERS; i++)
        if (!known_begin(&r->order[i], model, r->policy))
            return false;
    r->verdicts = verdicts_begin(model, &r->edges);
    if (r->verdicts == NULL)
        return false;
    verdicts_tell_conflicts(r->verdicts, &r->sink);
    return true;
}

/* Waits that have not returned when the trace ends may still be told of. */
static void end(struct walker *walker)
{
    struct repairing *r = walker->data;
    struct verdict_totals totals = {0};
    verdicts_end(r->verdicts, &totals);
    if (r->conflicts.count != 0)
        settle_host(r, TABLE_LAST(&r->conflicts)->ticks, NULL);
    r->out->partly |= totals.dropped != 0 || totals.unplaced != 0 || r->model == NULL || r->model->unplaced != 0;
}

int repair_of(struct repair *repair, const struct report *report, unsigned policy)
{
    struct repairing r = {
        .sink = {.conflict = take_conflict}, .edges = {.edge = ignore_edge}, .out = repair, .policy = policy};
    struct walker walker = {.begin = begin, .end = end, .call = take_call, .data = &r};
    *repair = (struct repair){.partly = trace_has_gaps(&report->trace)};
    int status = walk_calls(report, &walker);
    for (uint64_t i = 0; i < r.calls.count; i++)
        repair_places_count(&r.places, &r.calls.items[i].end);
    repair_places_end(&r.places, repair);
    for (unsigned i = 0; i < ORDERS; i++) {
        repair->wide |= r.order[i].thinned;
        known_end(&r.order[i]);
    }
    free(r.calls.items);
    free(r.conflicts.items);
    return r.failed ? -1 : status;
}

void repair_end(struct repair *repair)
{
    free(repair->waits.items);
    free(repair->places.items);
    *repair = (struct repair){0};
}
