/* SPDX-License-Identifier: Apache-2.0
 *
 * What the host knows. A wait tells something only from the moment it returned, so what it covers is kept until the model
 * says so: one wait at a time, for what one tells the host must not be taken for what the next one does. What a wait covers
 * by explicit order is what its name asks for, or what it waits for under every policy (a free); what it covers beyond that
 * (a wait for the legacy stream that waits for other streams) is an implicit edge of kind host.
 */
#include "analysis/order/knowledge.h"

#include <stdlib.h>

static bool cover_learn(struct verdicts *v, struct cover *cover, uint32_t about, const struct known *known)
{
    void *grown = table_grow(cover->full, &cover->room, (size_t)about + 1, sizeof *cover->full);
    if (grown == NULL) {
        v->limited = true;
        return false;
    }
    cover->full = grown;
    if (known->op <= waits_covered(v, cover, about) || known->op <= lanes_own(v, lanes_at(v, HOST_LANE), about))
        return false;
    edges_drop(v, cover->full[about].op != 0 ? cover->full[about].edge : NO_EDGE);
    cover->full[about] = *known;
    edges_keep(v, known->edge);
    return true;
}

/* Up to which operation the wait covers all of the group. */
static uint64_t covered_of(const struct cover *cover, uint32_t group)
{
    size_t at = cover->groups.count;
    while (at != 0 && cover->groups.items[at - 1].group != group)
        at--;
    return at != 0 ? cover->groups.items[at - 1].known.op : 0;
}

uint64_t waits_covered(const struct verdicts *v, const struct cover *cover, uint32_t about)
{
    const struct lane *lane = lanes_at(v, about);
    uint64_t upto = lane->group != NO_GROUP ? lanes_upto(lane, covered_of(cover, lane->group)) : 0;
    return larger(upto, about < cover->room ? cover->full[about].op : 0);
}

static void cover_group(struct verdicts *v, struct cover *cover, uint32_t group, const struct known *known)
{
    const struct of_group *by_all = groups_find(lanes_at(v, HOST_LANE), group);
    if (known->op <= covered_of(cover, group) || (by_all != NULL && known->op <= by_all->upto))
        return;
    if (!TABLE_ADD(&cover->groups)) {
        v->limited = true;
        return;
    }
    *TABLE_LAST(&cover->groups) = (struct covered_group){group, *known};
    edges_keep(v, known->edge);
}

/* Up to operation `op` of the lane; not what it knows of others. */
static bool cover_lane(struct verdicts *v, struct cover *cover, uint32_t at, uint64_t op, uint32_t edge)
{
    return op != 0 && cover_learn(v, cover, at, &(struct known){.op = op, .via = op, .from = at, .edge = edge});
}

static void cover_clock(struct verdicts *v, struct cover *cover, const struct vclock *full, uint32_t from, uint64_t via,
                        uint32_t edge)
{
    for (uint32_t about = 1; about < full->room && about < v->lanes.count; about++)
        if (full->at[about] != 0)
            cover_learn(v, cover, about, &(struct known){.op = full->at[about], .via = via, .from = from, .edge = edge});
}

/* All that the lane knows of others. */
static void cover_known(struct verdicts *v, struct cover *cover, uint32_t at, uint32_t edge)
{
    const struct lane *lane = lanes_at(v, at);
    cover_clock(v, cover, &lane->full, at, lane->last, edge);
    for (size_t i = 0; i < lane->groups.count; i++)
        cover_group(v, cover, lane->groups.items[i].group,
                    &(struct known){.op = lane->groups.items[i].upto, .via = lane->last, .from = at, .edge = edge});
}

/* `own`: the call's own operation is done, too, whatever the policy. */
static void cover_explicitly(struct verdicts *v, struct cover *cover, uint32_t at, bool own)
{
    struct lane *lane = lanes_at(v, at);
    if (lane->last == 0)
        return;
    if (!vclock_join(&cover->expl, &lane->expl) ||
        !vclock_raise(&cover->expl, at, own || lane->last < v->now ? lane->last : v->now - 1))
        v->limited = true;
    cover_lane(v, cover, at, lane->last, NO_EDGE);
    cover_known(v, cover, at, NO_EDGE);
    lane->snapped = v->now;
}

static bool uncovered(const struct verdicts *v, const struct cover *cover, uint32_t at)
{
    uint64_t known = larger(lanes_own(v, lanes_at(v, HOST_LANE), at), waits_covered(v, cover, at));
    return lanes_at(v, at)->last > known;
}

/* The lanes of the list that are not covered yet, as one edge from the one that worked last. */
static void cover_implicitly(struct verdicts *v, struct cover *cover, const struct context *context, const uint32_t *lanes,
                             size_t count)
{
    uint32_t newest = NO_LANE, edge;
    for (size_t i = 0; i < count; i++)
        if (uncovered(v, cover, lanes[i]) && (newest == NO_LANE || lanes_at(v, lanes[i])->last > lanes_at(v, newest)->last))
            newest = lanes[i];
    if (newest == NO_LANE)
        return;
    edge = edges_new(v, context, EDGE_HOST, lanes_end(v, &lanes_at(v, newest)->newest));
    edges_of_lane(v, edge, lanes_at(v, newest));
    for (size_t i = 0; i < count; i++)
        if (cover_lane(v, cover, lanes[i], lanes_at(v, lanes[i])->last, edge))
            edges_bring(v, edge, &lanes_at(v, lanes[i])->newest, cover);
    for (size_t i = 0; i < count; i++) {
        cover_known(v, cover, lanes[i], edge);
        lanes_at(v, lanes[i])->snapped = v->now;
    }
}

/* By name, or because memory is freed, unpinned: that no policy changes. */
static void cover_context(struct verdicts *v, struct cover *cover, uint32_t uid)
{
    uint32_t at = lanes_context(v, uid);
    if (at == NO_LANE)
        return;
    const struct context *context = &v->contexts.items[at];
    cover->context = at;
    for (size_t i = 0; i < context->all.count; i++)
        cover_explicitly(v, cover, context->all.items[i], true);
}

/* A wait for a stream: its own work by name (of the legacy stream: the thread's); what legacy order adds is implicit. */
static void cover_stream(struct verdicts *v, struct cover *cover, const struct call_view *view, uint32_t lane)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    const struct stream_def *def = definitions_stream(&v->trace->defs, call->stream != 0 ? call->stream : call->target);
    if (lane != NO_LANE)
        cover_explicitly(v, cover, lane, v->conflicts == NULL || !view->staged);
    if (view->submits || def == NULL)
        return; /* an operation's own joins have covered them */
    struct order_call wait = {.act = ORDER_WAITS, .named = implicit_order_role(def->kind)};
    unsigned after = implicit_order_under(ORDER_LEGACY, &wait).after;
    if (after == 0)
        return;
    uint32_t at = lanes_context(v, def->context != 0 ? def->context : call->context);
    if (at == NO_LANE)
        return;
    const struct context *context = &v->contexts.items[at];
    if (after & ORDER_OF(ORDER_ROLE_LEGACY))
        cover_implicitly(v, cover, context, context->legacy.items, context->legacy.count);
    for (size_t i = 0; (after & ORDER_OF(ORDER_ROLE_BLOCKING)) && i < context->blocking.count; i++)
        cover_implicitly(v, cover, context, &context->blocking.items[i], 1);
}

static void cover_event(struct verdicts *v, struct cover *cover, const struct ptds_rec_CALL *call)
{
    const struct event *event = events_find(v, call->object, call->generation);
    if (event == NULL) {
        v->unseen_order = events_are_unseen(v, call->object, call->generation) ? v->now : v->unseen_order;
        return;
    }
    if (!vclock_join(&cover->expl, &event->expl) || !vclock_raise(&cover->expl, event->lane, event->op))
        v->limited = true;
    cover_lane(v, cover, event->lane, event->op, NO_EDGE);
    cover_clock(v, cover, &event->full, event->lane, event->op, NO_EDGE);
    for (size_t i = 0; i < event->groups.count; i++)
        cover_group(
            v, cover, event->groups.items[i].group,
            &(struct known){.op = event->groups.items[i].upto, .via = event->op, .from = event->lane, .edge = NO_EDGE});
}

static bool tells_nothing(const struct cover *cover)
{
    bool nothing = cover->context == NO_LANE && cover->expl.room == 0 && cover->groups.count == 0;
    for (size_t i = 0; i < cover->room && nothing; i++)
        nothing = cover->full[i].op == 0;
    return nothing;
}

/* Fills an empty cover with what the call has waited for when it returns; false: it tells nothing. */
bool waits_cover(struct verdicts *v, const struct call_view *view, uint32_t lane, struct cover *cover)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    *cover = (struct cover){.ticks = model_returned_at(view->call), .end = *v->end, .began = v->now, .context = NO_LANE};
    if (view->scope == WAIT_NONE || view->by_shim)
        return false;
    if (!view->completes) {
        v->unsure_wait = v->now;
        if (view->scope == WAIT_STREAM && (call->flags & PTDS_CALL_IMPLICIT) && view->succeeded)
            v->unseen_order = v->now;
        return false;
    }
    switch (view->scope) {
    case WAIT_STREAM: cover_stream(v, cover, view, lane); break;
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
            edges_drop(v, cover->full[i].edge);
    for (size_t i = 0; i < cover->groups.count; i++)
        edges_drop(v, cover->groups.items[i].known.edge);
    free(cover->full);
    free(cover->groups.items);
    vclock_free(&cover->expl);
    *cover = (struct cover){0};
}

/* Of a group the host has learnt what was done after operation `before`, up to `upto`: each lane that did anything. */
static void tell_of_group(struct verdicts *v, const struct cover *cover, uint32_t group, uint64_t before, uint64_t upto)
{
    const struct lane *host = lanes_at(v, HOST_LANE);
    const struct lane_list *lanes = groups_lanes(v, group);
    for (size_t i = 0; i < lanes->count; i++) {
        uint32_t about = lanes->items[i];
        uint64_t knew = larger(vclock_get(&host->full, about), lanes_upto(lanes_at(v, about), before));
        if (lanes_upto(lanes_at(v, about), upto) > knew)
            conflicts_host(v, about, cover);
    }
}

static void apply_groups(struct verdicts *v, const struct cover *cover)
{
    const struct lane *host = lanes_at(v, HOST_LANE);
    for (size_t i = 0; i < cover->groups.count; i++) {
        struct known known = cover->groups.items[i].known;
        uint32_t group = cover->groups.items[i].group;
        const struct of_group *of = groups_find(host, group);
        uint64_t before = of != NULL ? of->upto : 0;
        known.at = v->now;
        if (groups_learn(v, HOST_LANE, group, &known) && v->contexts.items[group / GROUPS_A_CONTEXT].host_used)
            tell_of_group(v, cover, group, before, known.op);
    }
}

/* What the host has learnt, it may act on: read memory that it can reach and the work wrote, or write what the work read.
 */
static void apply(struct verdicts *v, struct cover *cover)
{
    struct lane *host = lanes_at(v, HOST_LANE);
    if (!vclock_join(&host->expl, &cover->expl))
        v->limited = true;
    v->learnt = v->now;
    if (cover->context != NO_LANE)
        v->contexts.items[cover->context].clean = cover->began;
    for (uint32_t about = 1; about < cover->room && about < v->lanes.count; about++) {
        struct known known = cover->full[about];
        known.at = v->now;
        if (known.op != 0 && lanes_learn(v, HOST_LANE, about, &known))
            conflicts_host(v, about, cover);
    }
    apply_groups(v, cover);
    drop_cover(v, cover);
}

/* Takes the cover over. */
void waits_start(struct verdicts *v, struct cover *cover)
{
    if (tells_nothing(cover)) {
        drop_cover(v, cover);
    } else if (!TABLE_ADD(&v->covers)) {
        v->unseen_order = v->now; /* an order that was there is forgotten */
        drop_cover(v, cover);
    } else {
        *TABLE_LAST(&v->covers) = *cover;
    }
}

/* False: there is none, for the wait tells nothing. */
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
    v->unseen_order = v->now; /* an order that was there */
    drop_cover(v, &cover);
}

void waits_follow(struct verdicts *v)
{
    v->follower = (struct wait_follower){.returned = returned, .forgotten = forgotten};
    model_follow(v->model, &v->follower);
}

void waits_free(struct verdicts *v)
{
    for (size_t i = 0; i < v->covers.count; i++)
        drop_cover(v, &v->covers.items[i]);
    free(v->covers.items);
    v->covers.count = 0;
}
