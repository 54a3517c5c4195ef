/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the edges to an operation that comes after others by implicit order (model/implicit_order.h). Called once an
 * operation; looks only at strands that did something since the operation's own strand last did, and at a few more. A
 * fan-in is an edge for each blocking stream that has something new; a fan-out and a FIFO edge are one edge for all
 * legacy work that is new.
 */
#include "analysis/order/strands/implicit_edges.h"

#include <stdlib.h>

#include "analysis/base/hints.h"
#include "analysis/order/strands/arrivals.h"
#include "analysis/order/strands/fan_ins.h"
#include "analysis/order/strands/groups.h"
#include "analysis/order/strands/knowledge.h"
#include "analysis/order/strands/open_edges.h"

static INLINE bool is_new(const struct verdicts *v, uint32_t at, uint32_t about)
{
    return about != at && strands_at(v, about)->last > knowledge_full(v, strands_at(v, at), about);
}

static bool has_new_legacy(const struct verdicts *v, const struct context *context, uint32_t at, uint64_t since)
{
    const struct strand *strand;
    for (uint32_t other = context->legacy.newest; other != NO_STRAND; other = strand->older) {
        strand = strands_at(v, other);
        if (strand->last != 0 && strand->last <= since)
            return false;
        if (strand->last != 0 && is_new(v, at, other))
            return true;
    }
    return false;
}

/* Notes what the policy did with the order behind each legacy strand that is new. */
static RARE void bring_each(struct verdicts *v, const struct context *context, uint32_t at, uint32_t edge, uint64_t since)
{
    struct recent recent;
    strands_recent(v, &context->legacy, since, &recent);
    for (size_t i = 0; i < recent.count; i++)
        if (is_new(v, at, recent.items[i]))
            open_edges_bring(v, edge, &strands_at(v, recent.items[i])->newest, NULL);
}

/* One edge for all legacy work that is new to the strand, which has joined legacy work up to operation `since`. */
static uint32_t join_queue(struct verdicts *v, uint32_t at, enum edge_kind kind, uint64_t since)
{
    const struct strand *strand = strands_at(v, at);
    struct context *context = &v->contexts.items[strand->context];
    const struct strand *queue = strands_at(v, context->queue);
    if (!has_new_legacy(v, context, at, since))
        return NO_EDGE;
    uint32_t edge = open_edges_new(v, context, kind, strands_end_of(v, &queue->newest));
    open_edges_of_strand(v, edge, strand);
    if (v->loss != NULL && v->loss->takes)
        bring_each(v, context, at, edge, since);
    groups_learn(v, at, queue->group, &(struct arrival){.op = queue->last, .at = v->now, .from = NO_STRAND, .edge = edge});
    context->learnt[GROUP_LEGACY] = v->now;
    return edge;
}

static uint32_t join_stream(struct verdicts *v, const struct context *context, uint32_t at, uint32_t other)
{
    const struct strand *subject = strands_at(v, other);
    uint64_t known = knowledge_own(v, strands_at(v, at), other),
             by_all = knowledge_own(v, strands_at(v, HOST_STRAND), other);
    if (subject->last <= larger(known, by_all))
        return NO_EDGE;
    uint32_t edge = open_edges_new(v, context, EDGE_FAN_IN, strands_end_of(v, &subject->newest));
    open_edges_of_strand(v, edge, subject);
    if (v->loss != NULL)
        open_edges_bring(v, edge, &subject->newest, NULL);
    fan_ins_add(v, edge, at, other, known, larger(known, by_all));
    return edge;
}

static void join_streams(struct verdicts *v, struct context *context, uint32_t at, uint64_t before)
{
    struct recent recent;
    strands_recent(v, &context->blocking, before, &recent);
    for (size_t i = 0; i < recent.count; i++) {
        uint32_t other = recent.items[i], edge = join_stream(v, context, at, other);
        if (strands_at(v, other)->foreign_at > before)
            arrivals_take_over(v, at, other, edge, true);
    }
    groups_learn_by_fan_ins(v, at);
    context->learnt[GROUP_BLOCKING] = v->now;
}

static ASIDE void join_legacy(struct verdicts *v, uint32_t at)
{
    struct context *context = &v->contexts.items[strands_at(v, at)->context];
    uint64_t before = strands_at(v, at)->last;
    uint32_t queue = context->queue, fifo = NO_EDGE;
    bool behind = queue != NO_STRAND && queue != at && strands_at(v, queue)->last > before;
    if (behind)
        fifo = join_queue(v, at, EDGE_FIFO, before);
    if (context->blocking_at > before)
        join_streams(v, context, at, before);
    if (behind && strands_at(v, queue)->foreign_at > before)
        arrivals_take_over(v, at, queue, fifo, true);
}

/* A blocking strand comes after the last legacy operation, and so after all blocking strands' operations before that. */
static ASIDE void join_blocking(struct verdicts *v, uint32_t at)
{
    struct strand *strand = strands_at(v, at);
    uint32_t queue = v->contexts.items[strand->context].queue, edge = join_queue(v, at, EDGE_FAN_OUT, strand->joined);
    const struct strand *source = strands_at(v, queue);
    groups_learn(v, at, strand->group,
                 &(struct arrival){.op = source->last, .via = source->last, .at = v->now, .from = queue, .edge = edge});
    if (source->foreign_at > strand->last)
        arrivals_take_over(v, at, queue, edge, true);
    strand->joined = source->last;
}

/* Legacy strands come after blocking and legacy ones, blocking strands after legacy ones only. */
void implicit_edges_join(struct verdicts *v, uint32_t at)
{
    struct strand *strand = strands_at(v, at);
    struct context *context = &v->contexts.items[strand->context];
    uint64_t queued = context->queue != NO_STRAND ? strands_at(v, context->queue)->last : 0;
    if (strand->after & ORDER_OF(ORDER_ROLE_BLOCKING)) {
        strand->snapped = larger(strand->snapped, context->learnt[GROUP_LEGACY]);
        if (context->blocking_at > strand->last || queued > strand->last) {
            join_legacy(v, at);
            strand->before = strand->last;
        }
        strands_be_newest(v, &context->legacy, at);
        context->queue = at;
    } else if (strand->after & ORDER_OF(ORDER_ROLE_LEGACY)) {
        strand->snapped = larger(strand->snapped, context->learnt[GROUP_BLOCKING]);
        if (context->queue != NO_STRAND && queued >= strand->last) {
            join_blocking(v, at);
            strand->before = strand->last;
        }
        strands_be_newest(v, &context->blocking, at);
        context->blocking_at = v->now;
    }
}
