/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of (lane, moment) pairs. One caller at a time, as in order.h.
 */
#ifndef PTDS_REACH_H
#define PTDS_REACH_H

#include "interpose/guard/order.h"

/* Up to where the lane is covered; 0: not at all. */
moment reach_until(const struct reach *reach, unsigned lane);

/* At least up to `until`. Without memory every lane is covered up to there: a wait too many, where a pair that is lost
 * would be a wait that is missing. So what is known to be done is read pair by pair, never by reach_until. */
void reach_raise(struct reach *reach, unsigned lane, moment until);

/* All that `from` has, too. */
void reach_join(struct reach *reach, const struct reach *from);

/* What `from` has, and nothing else. */
void reach_copy(struct reach *reach, const struct reach *from);

/* Nothing of what is known to be done. */
void reach_prune(struct reach *reach, const struct order *o);

/* Empties it and gives its memory back. */
void reach_drop(struct reach *reach);

#endif
