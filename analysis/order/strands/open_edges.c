/* SPDX-License-Identifier: Apache-2.0
 *
 * The implicit edges that are open. The call that waits makes an edge; arrivals and fan-ins over it refer to it; an edge
 * to which none refers any more is settled and handed to the sink, at the latest at the end of the trace. Must settle an
 * edge as "not needed" only if nothing spoke against it until then.
 */
#include "analysis/order/strands/open_edges.h"

#include <stdlib.h>

#include "analysis/base/hints.h"
#include "analysis/order/strands/order_loss.h"
#include "analysis/order/strands/strands.h"

static uint32_t place(struct verdicts *v)
{
    if (v->free_edges.count != 0)
        return v->free_edges.items[--v->free_edges.count];
    return TABLE_ADD(&v->edges) ? (uint32_t)v->edges.count - 1 : NO_EDGE;
}

/* At the place of a settled edge, if there is one. */
uint32_t open_edges_new(struct verdicts *v, const struct context *context, enum edge_kind kind, const struct edge_end *from)
{
    uint32_t at = place(v);
    if (at == NO_EDGE || !TABLE_ADD(&v->fresh)) {
        v->limited = true;
        return NO_EDGE;
    }
    *TABLE_LAST(&v->fresh) = at;
    struct open_edge *made = &v->edges.items[at];
    made->edge.kind = kind;
    made->edge.verdict = VERDICT_NOT_NEEDED;
    made->edge.reason = REASON_NONE;
    made->edge.loss = LOSS_NONE;
    made->edge.from = *from;
    made->edge.to = *v->end;
    made->edge.pair = (struct edge_pair){0};
    made->edge.direct = false;
    made->refs = 1;
    made->made = v->now;
    made->limited = made->raced = made->shown = made->unsure = false;
    made->given_up = LOSS_NONE;
    made->lost = context->clean < v->lost_at; /* the edge may stand for work of which the record is missing */
    v->open++;
    return at;
}

void open_edges_bring(struct verdicts *v, uint32_t edge, const struct milestone *from, const struct cover *cover)
{
    enum order_loss_at at = cover != NULL ? LOSS_AT_RETURN : LOSS_AT_CALL;
    if (v->loss == NULL || edge == NO_EDGE)
        return;
    enum edge_loss given_up = order_loss_of(v, strands_end_of(v, from), from->op, at);
    struct open_edge *open = &v->edges.items[edge];
    if (given_up == LOSS_NONE)
        return;
    open->given_up = given_up > open->given_up ? given_up : open->given_up;
    if (!v->gives_up)
        v->given_up = *strands_end_of(v, from);
    v->gives_up = true;
}

static void doubt(struct edge *edge, enum verdict_reason reason)
{
    edge->verdict = VERDICT_MAYBE_NEEDED;
    edge->reason = reason;
}

ASIDE void open_edges_settle(struct verdicts *v, uint32_t at)
{
    struct open_edge *open = &v->edges.items[at];
    if (open->edge.verdict == VERDICT_NOT_NEEDED) {
        if (open->raced)
            doubt(&open->edge, REASON_RACE);
        else if (open->lost || v->all_lost || open->made <= v->lost_at || v->unsure_edges)
            doubt(&open->edge, REASON_LOST);
        else if (open->limited || v->limited)
            doubt(&open->edge, REASON_LIMIT);
    }
    if (open->given_up && open->edge.verdict == VERDICT_MAYBE_NEEDED && open->edge.loss == LOSS_NONE &&
        (open->edge.reason == REASON_LOST || open->edge.reason == REASON_LIMIT))
        open->edge.loss = LOSS_POSSIBLE;
    open->refs = 0;
    v->open--;
    v->sink->edge(v->sink, &open->edge);
    if (TABLE_ADD(&v->free_edges))
        *TABLE_LAST(&v->free_edges) = at;
}

/* Drops the call's own references. */
void open_edges_end_call(struct verdicts *v, bool raced)
{
    for (size_t i = 0; i < v->fresh.count; i++) {
        v->edges.items[v->fresh.items[i]].raced |= raced;
        open_edges_drop(v, v->fresh.items[i]);
    }
    v->fresh.count = 0;
}

void open_edges_settle_all(struct verdicts *v)
{
    for (uint32_t i = 0; i < v->edges.count; i++)
        if (v->edges.items[i].refs != 0)
            open_edges_settle(v, i);
}

void open_edges_free(struct verdicts *v)
{
    free(v->edges.items);
    free(v->fan_ins.items);
    free(v->free_edges.items);
    free(v->fresh.items);
}
