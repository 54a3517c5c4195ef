/* SPDX-License-Identifier: Apache-2.0
 *
 * What the program's events carry. Only for the guard's own files.
 */
#ifndef PTDS_EVENTS_H
#define PTDS_EVENTS_H

#include "interpose/guard/order.h"
#include "interpose/state/call.h"

struct guard_event {
    struct recorded recorded;
    uint8_t timed;     /* it measures */
    uint8_t foreign;   /* other processes record it or wait for it */
    uint8_t elsewhere; /* last recorded by a call that is no operation of a lane: a graph's launch, a context's event */
    struct guard_event *next;
};

/* The event's entry; NULL: it was made past the shim and never recorded under it. */
struct guard_event *guard_event_find(CUevent event);

/* The same, made on first sight. NULL without memory. */
struct guard_event *guard_event_make(CUevent event);

/* opened: made by another process. */
void guard_event_created(CUevent event, unsigned flags, int opened);
void guard_event_recorded_elsewhere(CUevent event);
void guard_event_gone(CUevent event);

/* The record failed: what the event carries is not known any more. */
void guard_event_unrecorded(CUevent event);
void guard_events_after_fork(void);

#endif
