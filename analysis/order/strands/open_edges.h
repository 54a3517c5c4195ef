/* SPDX-License-Identifier: Apache-2.0
 *
 * The edges that are not settled yet (struct open_edge). An edge is settled when its last reference is dropped.
 */
#ifndef PTDS_ANALYSIS_ORDER_STRANDS_OPEN_EDGES_H
#define PTDS_ANALYSIS_ORDER_STRANDS_OPEN_EDGES_H

#include "analysis/base/hints.h"
#include "analysis/order/engine/engine.h"

/* An edge to the call at hand, which has a reference to it until open_edges_end_call. NO_EDGE without memory: the order is
 * then known, and no edge stands for it. */
uint32_t open_edges_new(struct verdicts *v, const struct context *context, enum edge_kind kind,
                        const struct edge_end *from);
/* The edge orders this operation and the call at hand, or (`cover`) the call's return: notes whether the run's policy took
 * that order away. */
void open_edges_bring(struct verdicts *v, uint32_t edge, const struct milestone *from, const struct cover *cover);
/* Hands the edge to the sink. */
void open_edges_settle(struct verdicts *v, uint32_t edge);
/* The edge begins or ends at this strand, of whose stream the kind may be unknown. Accepts NO_EDGE. */
static INLINE void open_edges_of_strand(struct verdicts *v, uint32_t edge, const struct strand *strand)
{
    if (strand->sure || edge == NO_EDGE)
        return;
    v->edges.items[edge].unsure = true;
    v->unsure_edges = true;
}
/* Whether the edge's verdict is a doubt that no other doubt changes, or better. */
static INLINE bool open_edges_is_doubted(const struct open_edge *open)
{
    const struct edge *edge = &open->edge;
    return edge->verdict != VERDICT_NOT_NEEDED && edge->reason != REASON_HOST &&
           (!open->given_up || edge->loss != LOSS_NONE);
}
/* One reference more, one less. Accept NO_EDGE. */
static INLINE void open_edges_keep(struct verdicts *v, uint32_t edge)
{
    if (edge != NO_EDGE)
        v->edges.items[edge].refs++;
}
static INLINE void open_edges_drop(struct verdicts *v, uint32_t edge)
{
    if (edge != NO_EDGE && --v->edges.items[edge].refs == 0)
        open_edges_settle(v, edge);
}
/* The call at hand is over. `raced`: it conflicts with an operation that nothing orders. */
void open_edges_end_call(struct verdicts *v, bool raced);
void open_edges_settle_all(struct verdicts *v);
void open_edges_free(struct verdicts *v);

#endif
