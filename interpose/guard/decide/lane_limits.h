/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of (lane, moment) pairs. One caller at a time, as in order.h.
 */
#ifndef PTDS_LANE_LIMITS_H
#define PTDS_LANE_LIMITS_H

#include "interpose/guard/decide/order.h"

/* Up to where the lane is covered; 0: not at all. */
moment lane_limits_until(const struct lane_limits *limits, unsigned lane);

/* At least up to `until`. Without memory every lane is covered up to there: a wait too many, where a pair that is lost
 * would be a wait that is missing. So what is known to be done is read pair by pair, never by lane_limits_until. */
void lane_limits_raise(struct lane_limits *limits, unsigned lane, moment until);

/* All that `from` has, too. */
void lane_limits_join(struct lane_limits *limits, const struct lane_limits *from);

/* What `from` has, and nothing else. */
void lane_limits_copy(struct lane_limits *limits, const struct lane_limits *from);

/* Nothing of what is known to be done. */
void lane_limits_prune(struct lane_limits *limits, const struct order *o);

/* Empties it and gives its memory back. */
void lane_limits_drop(struct lane_limits *limits);

#endif
