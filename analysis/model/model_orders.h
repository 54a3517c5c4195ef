/* SPDX-License-Identifier: Apache-2.0
 *
 * What a call means to the orders (order.h): the run's own (model->real), and replays of the same calls under other
 * policies.
 */
#ifndef PTDS_ANALYSIS_MODEL_MODEL_ORDERS_H
#define PTDS_ANALYSIS_MODEL_MODEL_ORDERS_H

#include "analysis/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Before the first call: follow the calls under this policy (enum order_policy), too. A policy that promises order
 * (implicit_order.h) is followed as far as it keeps order without being asked. The replay's number, UINT32_MAX without
 * memory. */
uint32_t model_orders_replay(struct model *model, unsigned policy);
/* The slot of the stream that the call is on or about under a replay's policy; MODEL_NO_SLOT: none. Of a call that has
 * left. */
uint32_t model_orders_replay_slot(const struct model *model, uint32_t replay, const struct call_view *view);
/* The same, between enter and leave; opened if this is its first use. */
uint32_t model_orders_open_slot(struct model *model, uint32_t replay, const struct call_view *view);

/* Between enter and leave. Join into `out`: what the operation that the call submits comes after, itself not included; what
 * is complete when the call, which `completes`, has returned. */
void model_orders_before(const struct model *model, const struct order *order, const struct call_view *view,
                         struct vclock *out);
void model_orders_cover(const struct model *model, const struct order *order, const struct call_view *view,
                        struct vclock *out);
/* model_orders_cover in the run's own order, worked out once a call. Valid until the call has left. */
const struct vclock *model_orders_covered(struct model *model, const struct call_view *view);

/* What implicit order depends on, of a call that names a stream or was sent to one. */
struct order_call model_orders_call_of(const struct call_view *view);
/* Whether the call waits for streams that it does not name. */
bool model_orders_wait_unasked(const struct call_view *view);

/* Before the first call, and once at most. */
static inline void model_orders_follow(struct model *model, struct wait_follower *follower)
{
    model->follower = follower;
}
/* After the last call: the program went on without calls, so the follower is told of all waits in flight. For the model
 * they still are. */
void model_orders_unfollow(struct model *model);

/* For model.c. _enter: a call with edges of the shim's, or in a trace that has some. _learn: a call that completes leaves.
 * _return: waits that have returned by `now` (ticks) are complete. */
void model_orders_enter(struct model *model, const struct call *call);
void model_orders_learn(struct model *model, const struct call_view *view);
void model_orders_return(struct model *model, uint64_t now);
/* The call made the event: notes whether another process may record it. The event was destroyed. */
void model_orders_note_event(struct model *model, const struct call_view *view);
void model_orders_forget_event(struct model *model, uint32_t event);
void model_orders_end(struct model *model);

#ifdef __cplusplus
}
#endif
#endif
