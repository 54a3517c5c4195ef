/* SPDX-License-Identifier: Apache-2.0
 *
 * What legacy order promises to whom by default-stream work, events and the host's waits, and what the host knows to be
 * done. One caller at a time, as in order.h.
 */
#ifndef PTDS_PROMISES_H
#define PTDS_PROMISES_H

#include "interpose/guard/decide/order.h"

/* A default lane of the domain has a new operation: what blocking lanes were promised is promised to default work. */
void promises_default_work(struct order *o, unsigned domain);

/* After order_add of a copy between devices: all later default-stream work of all contexts comes after it. */
void promises_everywhere(struct order *o, unsigned lane);

/* Fills in what really comes before the lane's next operation besides its own work, as far as it is kept. */
void promises_ordered(const struct order *o, const struct lane *lane, struct lane_limits *ordered);

/* ---- events ---- */

/* After order_add of the record itself (work 1): fills in what the event carries. */
void promises_event_recorded(struct order *o, unsigned lane, struct recorded *event);

/* After order_add of the wait itself (work 1): the lane is promised what the event carries. */
void promises_event_awaited(struct order *o, unsigned lane, const struct recorded *event);

/* The driver has made the wait, and for this record: what follows on the lane really comes after the event. */
void promises_event_followed(struct order *o, unsigned lane, const struct recorded *event);

/* The event is done. */
void promises_event_done(struct order *o, const struct recorded *event);

/* All that is issued from now on comes after the event. */
void promises_event_known(struct order *o, const struct recorded *event);

/* Adds to `promise` what a host that waits for the event has waited for, in legacy's terms. */
void promises_of_event(const struct recorded *event, struct promise *promise);

/* Gives the event's own memory back. */
void promises_recorded_drop(struct recorded *event);

/* ---- the host ---- */

/* After order_add with work 0 (`next`: as there): fills in what the host will have waited for when the lane is done, in
 * legacy's terms. Legacy's wait is longer than ours, so all that is issued afterwards is promised what legacy waited for:
 * promises_host_knows says so. The caller owns the promise until promises_drop. */
void promises_host_waits(struct order *o, unsigned lane, int next, struct promise *promise);
void promises_host_knows(struct order *o, const struct promise *promise);
void promises_drop(struct promise *promise);

/* The host knows now that the lane's operations up to `until` are done; with them what they really came after: a copy of
 * the lane's `ordered` from when the host began to wait. */
void promises_done(struct order *o, unsigned lane, moment until);
void promises_done_with(struct order *o, unsigned lane, moment until, const moment ordered[ORDER_LANES]);

/* All operations of the domain up to the moment are done (a wait for the device). */
void promises_all_done(struct order *o, unsigned domain, moment until);

#endif
