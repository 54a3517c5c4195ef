/* SPDX-License-Identifier: Apache-2.0
 *
 * What the run's policy did with an order that legacy order gives: kept it, or took it away.
 */
#ifndef PTDS_ANALYSIS_ORDER_STRANDS_ORDER_LOSS_H
#define PTDS_ANALYSIS_ORDER_STRANDS_ORDER_LOSS_H

#include "analysis/order/engine/engine.h"

/* Sets v->loss; NULL if the policy keeps every order. False without memory. End with order_loss_end either way. */
bool order_loss_begin(struct verdicts *v, struct model *model);
void order_loss_end(struct verdicts *v);

/* The second side of an order. */
enum order_loss_at {
    LOSS_AT_CALL,   /* the operation that the call at hand submits */
    LOSS_AT_RETURN, /* the return of the call at hand, if it completes anything */
    LOSS_BY_NOW     /* what the host may do now that a wait has returned, knowing of that wait and of earlier ones */
};
/* Whether the run had no order between operation `op`, which is `first`, and the second side. LOSS_POSSIBLE: that is not
 * known. _look_up: where the policy takes orders away. */
enum edge_loss order_loss_look_up(const struct verdicts *v, const struct edge_end *first, uint64_t op,
                                  enum order_loss_at at);
static inline enum edge_loss order_loss_of(const struct verdicts *v, const struct edge_end *first, uint64_t op,
                                           enum order_loss_at at)
{
    return v->loss != NULL && v->loss->takes ? order_loss_look_up(v, first, op, at) : LOSS_NONE;
}
/* Whether nothing but implicit order, not even one stream, puts the call at hand behind operation `op`. Only where
 * v->loss->overtakes. */
enum edge_loss order_loss_unasked(const struct verdicts *v, const struct edge_end *first, uint64_t op);

#endif
