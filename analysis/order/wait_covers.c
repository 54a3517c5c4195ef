/* SPDX-License-Identifier: Apache-2.0
 *
 * What the host knows by its waits. A wait tells something only from the moment at which it returned, so its cover is
 * kept until the model says that it has. One wait at a time: what one tells the host must not be taken for what the next
 * one does. By explicit order a wait covers what its name asks for, and what it waits for under every policy (a free).
 * What it covers beyond that (a wait for the legacy stream waits for other streams) is an implicit edge of kind host.
 * Called by verdict.c for every call.
 */
#include "analysis/order/wait_covers.h"

#include <stdlib.h>

#include "analysis/model/model_orders.h"
#include "analysis/order/memory/conflicts.h"
#include "analysis/order/strands/arrivals.h"
#include "analysis/order/strands/groups.h"
#include "analysis/order/strands/knowledge.h"
#include "analysis/order/strands/open_edges.h"
#include "analysis/order/strands/strand_events.h"

static bool cover_learn(struct verdicts *v, struct cover *cover, uint32_t about, const struct arrival *known)
{
    void *grown = table_grow(cover->full, &cover->room, (size_t)about + 1, sizeof *cover->full);
    if (grown == NULL) {
        v->limited = true;
        return false;
    }
    cover->full = grown;
    if (known->op <= knowledge_covered(v, cover, about) || known->op <= knowledge_own(v, strands_at(v, HOST_STRAND), about))
        return false;
    open_edges_drop(v, cover->full[about].op != 0 ? cover->full[about].edge : NO_EDGE);
    cover->full[about] = *known;
    open_edges_keep(v, known->edge);
    return true;
}

static void cover_group(struct verdicts *v, struct cover *cover, uint32_t group, const struct arrival *known)
{
    const struct group_knowledge *by_all = groups_find(strands_at(v, HOST_STRAND), group);
    if (known->op <= knowledge_covered_group(cover, group) || (by_all != NULL && known->op <= by_all->upto))
        return;
    if (!TABLE_ADD(&cover->groups)) {
        v->limited = true;
        return;
    }
    *TABLE_LAST(&cover->groups) = (struct covered_group){group, *known};
    open_edges_keep(v, known->edge);
}

/* The wait covers the strand up to operation `op`; not what the strand knows of others. */
static bool cover_strand(struct verdicts *v, struct cover *cover, uint32_t at, uint64_t op, uint32_t edge)
{
    return op != 0 && cover_learn(v, cover, at, &(struct arrival){.op = op, .via = op, .from = at, .edge = edge});
}

static void cover_clock(struct verdicts *v, struct cover *cover, const struct vclock *full, uint32_t from, uint64_t via,
                        uint32_t edge)
{
    for (uint32_t about = 1; about < full->room && about < v->strands.count; about++)
        if (full->at[about] != 0)
            cover_learn(v, cover, about, &(struct arrival){.op = full->at[about], .via = via, .from = from, .edge = edge});
}

/* The wait covers what the strand knows of others. */
static void cover_known(struct verdicts *v, struct cover *cover, uint32_t at, uint32_t edge)
{
    const struct strand *strand = strands_at(v, at);
    cover_clock(v, cover, &strand->full, at, strand->last, edge);
    for (size_t i = 0; i < strand->groups.count; i++)
        cover_group(v, cover, strand->groups.items[i].group,
                    &(struct arrival){.op = strand->groups.items[i].upto, .via = strand->last, .from = at, .edge = edge});
}

/* The wait covers the strand by explicit order. `own`: with the call's own operation. */
static void cover_explicitly(struct verdicts *v, struct cover *cover, uint32_t at, bool own)
{
    struct strand *strand = strands_at(v, at);
    if (strand->last == 0)
        return;
    if (!vclock_join(&cover->expl, &strand->expl) ||
        !vclock_raise(&cover->expl, at, own || strand->last < v->now ? strand->last : v->now - 1))
        v->limited = true;
    cover_strand(v, cover, at, strand->last, NO_EDGE);
    cover_known(v, cover, at, NO_EDGE);
    strand->snapped = v->now;
}

static bool uncovered(const struct verdicts *v, const struct cover *cover, uint32_t at)
{
    uint64_t known = larger(knowledge_own(v, strands_at(v, HOST_STRAND), at), knowledge_covered(v, cover, at));
    return strands_at(v, at)->last > known;
}

/* The strands of the list that are not covered yet, as one edge from the one that worked last. */
static void cover_implicitly(struct verdicts *v, struct cover *cover, const struct context *context,
                             const uint32_t *strands, size_t count)
{
    uint32_t newest = NO_STRAND, edge;
    for (size_t i = 0; i < count; i++)
        if (uncovered(v, cover, strands[i]) &&
            (newest == NO_STRAND || strands_at(v, strands[i])->last > strands_at(v, newest)->last))
            newest = strands[i];
    if (newest == NO_STRAND)
        return;
    edge = open_edges_new(v, context, EDGE_HOST, strands_end_of(v, &strands_at(v, newest)->newest));
    open_edges_of_strand(v, edge, strands_at(v, newest));
    for (size_t i = 0; i < count; i++)
        if (cover_strand(v, cover, strands[i], strands_at(v, strands[i])->last, edge))
            open_edges_bring(v, edge, &strands_at(v, strands[i])->newest, cover);
    for (size_t i = 0; i < count; i++) {
        cover_known(v, cover, strands[i], edge);
        strands_at(v, strands[i])->snapped = v->now;
    }
}

/* By name, or because memory is freed or unpinned, which waits under every policy. */
static void cover_context(struct verdicts *v, struct cover *cover, uint32_t uid)
{
    uint32_t at = strands_context(v, uid);
    if (at == NO_STRAND)
        return;
    const struct context *context = &v->contexts.items[at];
    cover->context = at;
    for (size_t i = 0; i < context->all.count; i++)
        cover_explicitly(v, cover, context->all.items[i], true);
}

/* A wait for a stream: its own work by name (of the legacy stream: the thread's); what legacy order adds is implicit. */
static void cover_stream(struct verdicts *v, struct cover *cover, const struct call_view *view, uint32_t strand)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    const struct stream_def *def = definitions_stream(&v->trace->defs, call->stream != 0 ? call->stream : call->target);
    if (strand != NO_STRAND)
        cover_explicitly(v, cover, strand, v->conflicts == NULL || !view->staged);
    if (view->submits || def == NULL)
        return; /* the call's operation has joined them, so its strand knows them */
    struct order_call wait = {.act = ORDER_WAITS, .named = implicit_order_role(def->kind)};
    unsigned after = implicit_order_under(ORDER_LEGACY, &wait).after;
    if (after == 0)
        return;
    uint32_t at = strands_context(v, def->context != 0 ? def->context : call->context);
    if (at == NO_STRAND)
        return;
    const struct context *context = &v->contexts.items[at];
    if (after & ORDER_OF(ORDER_ROLE_LEGACY))
        cover_implicitly(v, cover, context, context->legacy.items, context->legacy.count);
    for (size_t i = 0; (after & ORDER_OF(ORDER_ROLE_BLOCKING)) && i < context->blocking.count; i++)
        cover_implicitly(v, cover, context, &context->blocking.items[i], 1);
}

static void cover_event(struct verdicts *v, struct cover *cover, const struct ptds_rec_CALL *call)
{
    const struct strand_event *event = strand_events_find(v, call->object, call->generation);
    if (event == NULL) {
        v->unseen_order = strand_events_are_unseen(v, call->object, call->generation) ? v->now : v->unseen_order;
        return;
    }
    if (!vclock_join(&cover->expl, &event->expl) || !vclock_raise(&cover->expl, event->strand, event->op))
        v->limited = true;
    cover_strand(v, cover, event->strand, event->op, NO_EDGE);
    cover_clock(v, cover, &event->full, event->strand, event->op, NO_EDGE);
    for (size_t i = 0; i < event->groups.count; i++)
        cover_group(
            v, cover, event->groups.items[i].group,
            &(struct arrival){.op = event->groups.items[i].upto, .via = event->op, .from = event->strand, .edge = NO_EDGE});
}

static bool tells_nothing(const struct cover *cover)
{
    bool nothing = cover->context == NO_STRAND && cover->expl.room == 0 && cover->groups.count == 0;
    for (size_t i = 0; i < cover->room && nothing; i++)
        nothing = cover->full[i].op == 0;
    return nothing;
}

/* What the call's scope covers. */
bool wait_covers_of(struct verdicts *v, const struct call_view *view, uint32_t strand, struct cover *cover)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    *cover = (struct cover){.ticks = model_returned_at(view->call), .end = *v->end, .began = v->now, .context = NO_STRAND};
    if (view->scope == WAIT_NONE || view->by_shim)
        return false;
    if (!view->completes) {
        v->unsure_wait = v->now;
        if (view->scope == WAIT_STREAM && (call->flags & PTDS_CALL_IMPLICIT) && view->succeeded)
            v->unseen_order = v->now;
        return false;
    }
    switch (view->scope) {
    case WAIT_STREAM: cover_stream(v, cover, view, strand); break;
    case WAIT_EVENT: cover_event(v, cover, call); break;
    case WAIT_CONTEXT: cover_context(v, cover, call->context); break;
    case WAIT_NONE: break;
    }
    return true;
}

static void drop_cover(struct verdicts *v, struct cover *cover)
{
    for (size_t i = 0; i < cover->room; i++)
        if (cover->full[i].op != 0)
            open_edges_drop(v, cover->full[i].edge);
    for (size_t i = 0; i < cover->groups.count; i++)
        open_edges_drop(v, cover->groups.items[i].arrival.edge);
    free(cover->full);
    free(cover->groups.items);
    vclock_free(&cover->expl);
    *cover = (struct cover){0};
}

/* The host has learnt of the group's operations after `before` up to `upto`: conflicts_host of each strand that has
 * some. */
static void tell_of_group(struct verdicts *v, const struct cover *cover, uint32_t group, uint64_t before, uint64_t upto)
{
    const struct strand *host = strands_at(v, HOST_STRAND);
    const struct strand_list *strands = groups_strands(v, group);
    for (size_t i = 0; i < strands->count; i++) {
        uint32_t about = strands->items[i];
        uint64_t knew = larger(vclock_get(&host->full, about), knowledge_upto(strands_at(v, about), before));
        if (knowledge_upto(strands_at(v, about), upto) > knew)
            conflicts_host(v, about, cover);
    }
}

static void apply_groups(struct verdicts *v, const struct cover *cover)
{
    const struct strand *host = strands_at(v, HOST_STRAND);
    for (size_t i = 0; i < cover->groups.count; i++) {
        struct arrival known = cover->groups.items[i].arrival;
        uint32_t group = cover->groups.items[i].group;
        const struct group_knowledge *of = groups_find(host, group);
        uint64_t before = of != NULL ? of->upto : 0;
        known.at = v->now;
        if (groups_learn(v, HOST_STRAND, group, &known) && v->contexts.items[group / GROUPS_A_CONTEXT].host_used)
            tell_of_group(v, cover, group, before, known.op);
    }
}

/* The wait has returned: the host learns what it covers. From now on it may read memory that the work wrote, or write
 * what the work read. */
static void apply(struct verdicts *v, struct cover *cover)
{
    struct strand *host = strands_at(v, HOST_STRAND);
    if (!vclock_join(&host->expl, &cover->expl))
        v->limited = true;
    v->learnt = v->now;
    if (cover->context != NO_STRAND)
        v->contexts.items[cover->context].clean = cover->began;
    for (uint32_t about = 1; about < cover->room && about < v->strands.count; about++) {
        struct arrival known = cover->full[about];
        known.at = v->now;
        if (known.op != 0 && arrivals_learn(v, HOST_STRAND, about, &known))
            conflicts_host(v, about, cover);
    }
    apply_groups(v, cover);
    drop_cover(v, cover);
}

/* A cover that tells nothing is not kept. */
void wait_covers_start(struct verdicts *v, struct cover *cover)
{
    if (tells_nothing(cover)) {
        drop_cover(v, cover);
    } else if (!TABLE_ADD(&v->covers)) {
        v->unseen_order = v->now; /* the order of this wait is forgotten */
        drop_cover(v, cover);
    } else {
        *TABLE_LAST(&v->covers) = *cover;
    }
}

/* False: the wait tells nothing. */
static bool take_cover(struct verdicts *v, uint64_t began, struct cover *out)
{
    size_t at = v->covers.count;
    while (at != 0 && v->covers.items[at - 1].began != began)
        at--;
    if (at == 0)
        return false;
    *out = v->covers.items[at - 1];
    v->covers.items[at - 1] = *TABLE_LAST(&v->covers);
    v->covers.count--;
    return true;
}

static void returned(struct wait_follower *follower, uint64_t number, uint64_t next)
{
    struct verdicts *v = (struct verdicts *)(void *)follower;
    struct cover cover;
    v->now = next + v->shift;
    if (take_cover(v, number + v->shift, &cover))
        apply(v, &cover);
}

static void forgotten(struct wait_follower *follower, uint64_t number)
{
    struct verdicts *v = (struct verdicts *)(void *)follower;
    struct cover cover;
    if (!take_cover(v, number + v->shift, &cover))
        return;
    v->unseen_order = v->now; /* the order of this wait is forgotten */
    drop_cover(v, &cover);
}

void wait_covers_follow(struct verdicts *v)
{
    v->follower = (struct wait_follower){.returned = returned, .forgotten = forgotten};
    model_orders_follow(v->model, &v->follower);
}

void wait_covers_free(struct verdicts *v)
{
    for (size_t i = 0; i < v->covers.count; i++)
        drop_cover(v, &v->covers.items[i]);
    free(v->covers.items);
    v->covers.count = 0;
}
