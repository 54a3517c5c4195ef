/* SPDX-License-Identifier: Apache-2.0
 *
 * Which host waits were deferred: legacy would have waited for this work, the guard did not, since only the device can see
 * it. One caller at a time, as in order.h.
 *
 * deferred_waits_of_* note the waits that are due, deferred_waits_plan says how to make them; both in one step.
 */
#ifndef PTDS_DEFERRED_WAITS_H
#define PTDS_DEFERRED_WAITS_H

#include "interpose/guard/decide/order.h"

/* Notes work on the memory as due. `pending`: all work that is there, promised to the host or not. */
void deferred_waits_of_memory(struct order *o, const struct access *access, int pending);

/* Notes all work as due that was promised to the host. */
void deferred_waits_of_all(struct order *o);

/* Notes all work of these lanes as due, unless one of them has work that was not promised: legacy's answer is "busy" then.
 */
void deferred_waits_of_lanes(struct order *o, const uint16_t *lanes, unsigned count);

/* Fills in the waits that were noted; they are the host's. */
void deferred_waits_plan(struct order *o, struct order_plan *plan);

/* 1: all of the lane's operations up to `until` were promised to the host, and are not known to be done. */
int deferred_waits_has(const struct order *o, unsigned lane, moment until);

/* The host, or others, can touch the memory from now on, so they wait for what is pending there. */
void deferred_waits_memory_shown(struct order *o, struct memory *memory);

#endif
