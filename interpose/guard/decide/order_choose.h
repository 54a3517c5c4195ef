/* SPDX-License-Identifier: Apache-2.0
 *
 * The choice of a lane, where a thread has several. One caller at a time, as in order.h.
 */
#ifndef PTDS_ORDER_CHOOSE_H
#define PTDS_ORDER_CHOOSE_H

#include "interpose/guard/decide/order.h"

/* The best lane for the operation among several of one thread. */
unsigned order_choose(const struct order *o, const struct order_op *op, const uint16_t *lanes, unsigned count);

/* 1: the lane has work under way that the operation need not come after. */
int order_choose_is_apart(const struct order *o, const struct order_op *op);

#endif
