/* SPDX-License-Identifier: Apache-2.0
 *
 * A lane's life and its marks: opened, worked on, marked, closed, given back. One caller at a time, as in order.h.
 */
#ifndef PTDS_ORDER_LANE_H
#define PTDS_ORDER_LANE_H

#include "interpose/guard/decide/order.h"

/* Opens a lane in a domain (a context's number, counted by the caller from 0). `eager`: only the lane's owner can record an
 * event on its stream. Returns the lane's number; -1: all lanes are taken, or there is no memory. */
int order_lane_open(struct order *o, enum lane_kind kind, unsigned domain, int eager);

/* The lane's stream is about to be destroyed. Returns the mark that has to be recorded before; -1: none. The lane stays
 * until order_lane_reclaim finds its work done. */
int order_lane_close(struct order *o, unsigned lane);

/* Gives a closed lane back whose work is all known to be done. 1: it did. */
int order_lane_reclaim(struct order *o, unsigned lane);

/* 1: a mark stands for all of the lane's work, or the work is done. After order_lane_close 0 says that every mark was being
 * waited for, so that none could be recorded anew. */
int order_lane_is_marked(const struct order *o, unsigned lane);

/* 1: work of single lanes is pending that this lane alone was promised. */
int order_lane_is_owed(const struct order *o, unsigned lane);

/* The lane's stream lives, and gets another lane when it works again: what the one keeps for the other. */
struct promise_kept order_lane_kept(const struct order *o, unsigned lane);
void order_lane_resumes(struct order *o, unsigned lane, const struct promise_kept *kept);

/* The lane's next operation begins: it gets the next moment. */
void order_lane_begin(struct order *o, struct lane *lane);

/* Which mark is to be recorded, as a number; -1: none.
 * first: before an operation, to stand for what was promised of the lane since its newest mark.
 * wait: before the lane waits for the host's sake, so that others can wait for its work alone.
 * after: after an operation of an eager lane. */
int16_t order_lane_mark_first(struct order *o, unsigned number);
int16_t order_lane_mark_wait(struct order *o, unsigned number);
int16_t order_lane_mark_after(struct order *o, unsigned number);

/* One more operation of a kind: its oldest that is not done, and its newest. */
void order_lane_note(moment *first, moment *newest, const struct lane *lane, moment now);

/* After an operation: up to which default-stream work a host has waited that waits for this operation. */
void order_lane_remember(struct order *o, struct lane *lane);

/* Memory ran out: all work until now conflicts with all that follows. */
void order_lane_crowded(struct order *o);

#endif
