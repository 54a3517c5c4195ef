/* SPDX-License-Identifier: Apache-2.0
 *
 * What lanes and contexts do to the promises when work comes, apart from the waits. Only for order.c and
 * what goes with it.
 */
#ifndef PTDS_LANES_H
#define PTDS_LANES_H

#include "interpose/guard/order.h"

/* The lane's next operation begins. */
void lanes_begin(struct order *o, struct lane *lane);

/* Before an operation: the mark that stands for what was promised of the lane since its newest; -1 none is due. */
int16_t lanes_mark_first(struct order *o, unsigned number);

/* Before the lane waits for the host's sake: its mark, so that others can wait for its work alone; -1 it has one. */
int16_t lanes_mark_wait(struct order *o, unsigned number);

/* After an operation of a lane on which nobody but its owner can record: its mark; -1 none. */
int16_t lanes_mark_after(struct order *o, unsigned number);

/* One more operation of a kind: the oldest that is not done, and the newest. */
void lanes_note(moment *first, moment *newest, const struct lane *lane, moment now);

/* After an operation: what default-stream work a host has waited for that waits for this one. */
void lanes_remember(struct order *o, struct lane *lane);

/* What really comes before the lane's next operation besides its own work, as far as it is kept. */
void promises_real(const struct order *o, const struct lane *lane, struct reach *real);

/* Memory ran out: all work until now conflicts with all that follows. */
void lanes_crowded(struct order *o);

/* What to wait for so that the other lane's work up to `until` is done, and nothing that was not promised. */
struct order_wait order_wait_until(struct order *o, unsigned other, moment until, moment promised);

/* A default lane of the domain has a new operation. */
void lanes_default_work(struct order *o, unsigned domain);

#endif
