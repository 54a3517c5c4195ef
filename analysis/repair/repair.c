/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass: the verdict engine tells each conflict that legacy order keeps in order and explicit order does not. Some of
 * those that the policy does not keep in order either become waits. Called by the command and by tests. Must not decide
 * which stream orders which: that is model/implicit_order.h.
 *
 * Which conflicts become waits. Calls are taken in order, so the order before a call is complete when the call is taken. Of
 * the operations that the call conflicts with, the newest is taken first. If the call does not come after that operation,
 * the call gets a wait for it, and so comes after all that the operation comes after. No conflict taken later could imply
 * the wait: an order that implies it ends before the call, so its conflicts were taken before. So no two waits make up a
 * third, all waits together make all the orders, and no other set of waits between conflicting operations does.
 *
 * Two sets of past clocks (past_clocks.h) are kept: with the needed waits alone, and with all waits. A needed wait is one
 * that the other needed waits do not imply.
 */
#include "analysis/repair/repair.h"

#include <stdlib.h>

#include "analysis/repair/past_clocks.h"
#include "analysis/repair/repair_places.h"
#include "analysis/report/walk_calls.h"

enum { WITH_NEEDED, WITH_ALL, ORDERS }; /* which waits an order has */

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
    struct past_clocks past[ORDERS];
    TABLE_OF(struct taken) calls;                /* by number */
    TABLE_OF(struct verdict_conflict) conflicts; /* of one call, at one moment (enum conflict_at) */
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

/* The newest first operation first. */
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

/* The second operation of the conflicts comes after `before[i]` in order i. Adds the waits for conflicts of this verdict
 * that order `which` lacks, and what the waits bring to `before`: a needed wait is in both orders. */
static void add_waits_of(struct repairing *r, unsigned which, enum verdict verdict, struct vclock before[ORDERS])
{
    for (size_t i = 0; i < r->conflicts.count; i++) {
        const struct verdict_conflict *conflict = &r->conflicts.items[i];
        const struct taken *first = call_of(r, conflict->first);
        if (conflict->verdict != verdict || first == NULL || first->slot == MODEL_NO_SLOT ||
            call_of(r, conflict->second) == NULL)
            continue;
        if (vclock_get(&r->past[which].done, first->slot) >= conflict->first ||
            vclock_get(&before[which], first->slot) >= conflict->first)
            continue;
        for (unsigned k = which; k < ORDERS; k++)
            r->failed |= !past_clocks_of(&r->past[k], first->slot, conflict->first, &before[k]);
        add_wait(r, conflict);
    }
}

static void add_waits(struct repairing *r, struct vclock before[ORDERS])
{
    if (r->conflicts.count > 1)
        qsort(r->conflicts.items, r->conflicts.count, sizeof *r->conflicts.items, by_first);
    add_waits_of(r, WITH_NEEDED, VERDICT_NEEDED, before);
    add_waits_of(r, WITH_ALL, VERDICT_MAYBE_NEEDED, before);
    r->conflicts.count = 0;
}

/* Conflicts whose second side is the host: after a wait that has returned, or (`view`) in the call at hand. */
static void add_host_waits(struct repairing *r, uint64_t ticks, const struct call_view *view)
{
    struct vclock before[ORDERS] = {{0}, {0}};
    for (unsigned i = 0; i < ORDERS; i++) {
        past_clocks_until(&r->past[i], ticks);
        if (view != NULL)
            past_clocks_cover(&r->past[i], r->model, view, &before[i]);
    }
    add_waits(r, before);
    for (unsigned i = 0; i < ORDERS; i++) {
        r->failed |= !vclock_join(&r->past[i].done, &before[i]);
        vclock_free(&before[i]);
    }
}

static void take_conflict(struct conflict_sink *sink, const struct verdict_conflict *conflict)
{
    struct repairing *r = (struct repairing *)sink;
    const struct verdict_conflict *last = r->conflicts.count != 0 ? TABLE_LAST(&r->conflicts) : NULL;
    /* Conflicts after a wait that has returned are told first; the call's own conflicts follow. */
    if (last != NULL && last->at == CONFLICT_AFTER_WAIT && (last->at != conflict->at || last->second != conflict->second))
        add_host_waits(r, last->ticks, NULL);
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
        past_clocks_before(&r->past[i], r->model, view, &before[i]);
    add_waits(r, before);
    for (unsigned i = 0; i < ORDERS; i++) {
        past_clocks_submit(&r->past[i], r->model, slot, view->number, &before[i]);
        vclock_free(&before[i]);
    }
}

static void take_call(struct walker *walker, struct model *model, const struct call_view *view)
{
    struct repairing *r = walker->data;
    uint32_t slot = MODEL_NO_SLOT;
    r->model = model;
    for (unsigned i = 0; i < ORDERS; i++)
        slot = past_clocks_slot(&r->past[i], model, view); /* a stream's slot is the same in all orders */
    note_call(r, view, slot);
    if (view->call->r.op == PTDS_OP_ALLOC || view->call->r.op == PTDS_OP_ALLOC_ASYNC) {
        struct edge_end call = verdicts_end_of(view);
        repair_places_made(&r->places, view->call->r.object, &call);
    }
    verdicts_take(r->verdicts, view, walker->gap);
    if (r->conflicts.count != 0 && TABLE_LAST(&r->conflicts)->at == CONFLICT_AFTER_WAIT)
        add_host_waits(r, TABLE_LAST(&r->conflicts)->ticks, NULL);
    for (unsigned i = 0; i < ORDERS; i++)
        past_clocks_until(&r->past[i], view->call->r.enter);
    if (r->conflicts.count != 0 && TABLE_LAST(&r->conflicts)->at == CONFLICT_ON_HOST)
        add_host_waits(r, view->call->r.enter, view);
    if (slot != MODEL_NO_SLOT)
        submit(r, view, slot);
    r->conflicts.count = 0; /* left are those of operations on streams beyond what the model follows */
    for (unsigned i = 0; i < ORDERS; i++)
        past_clocks_wait(&r->past[i], model, view);
}

static bool begin(struct walker *walker, struct model *model)
{
    struct repairing *r = walker->data;
    r->model = model;
    model->keeps_slots = true; /* what was on a stream may be pending under the policy when it is long done in the run */
    for (unsigned i = 0; i < ORDERS; i++)
        if (!past_clocks_begin(&r->past[i], model, r->policy))
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
        add_host_waits(r, TABLE_LAST(&r->conflicts)->ticks, NULL);
    r->out->partly |= totals.dropped != 0 || totals.unplaced != 0 || r->model == NULL || r->model->unplaced != 0;
}

int repair_of(struct repair *repair, const struct report *report, unsigned policy)
{
    struct repairing r = {
        .sink = {.conflict = take_conflict}, .edges = {.edge = ignore_edge}, .out = repair, .policy = policy};
    struct walker walker = {.begin = begin, .end = end, .call = take_call, .data = &r};
    *repair =
        (struct repair){.partly = trace_has_gaps(&report->trace), .strict = implicit_order_is_strict(&report->trace.defs)};
    int status = walk_calls(report, &walker);
    for (uint64_t i = 0; i < r.calls.count; i++)
        repair_places_count(&r.places, &r.calls.items[i].end);
    repair_places_end(&r.places, repair);
    for (unsigned i = 0; i < ORDERS; i++) {
        repair->wide |= r.past[i].thinned;
        past_clocks_end(&r.past[i]);
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
