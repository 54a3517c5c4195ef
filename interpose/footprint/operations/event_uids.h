/* SPDX-License-Identifier: Apache-2.0
 *
 * Events for the record: their uids, and how often they were recorded. api.def's columns; but for C->event they do nothing
 * unless C->footprint is set.
 */
#ifndef PTDS_EVENT_UIDS_H
#define PTDS_EVENT_UIDS_H

#include "interpose/state/call.h"

/* After the call: *event is new. */
void event_uids_created(struct call *C, const CUevent *event, unsigned flags);

/* Before a call about the event: fills in C->event, and which recording the call is about. op: an event's. */
void event_uids_used(struct call *C, enum ptds_op op, CUevent event);

/* Before the call that asks for the time between two events. */
void event_uids_elapsed(struct call *C, CUevent start, CUevent end);

/* Launches of a graph record the event from now on: a call about it may get another recording than the last one seen. */
void event_uids_in_graph(CUevent event);

/* Before the call that destroys the event, and after it, where the driver refused. */
void event_uids_gone(struct call *C, CUevent event);
void event_uids_left(const struct call *C, CUevent event);

/* In a forked child: no event is known. */
void event_uids_after_fork(void);

#endif
