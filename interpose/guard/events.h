/* SPDX-License-Identifier: Apache-2.0
 *
 * What the program's events carry. Only for the guard's own files.
 */
#ifndef PTDS_EVENTS_H
#define PTDS_EVENTS_H

#include "interpose/guard/order.h"
#include "interpose/state/call.h"

struct guard_event {
    struct recorded recorded, before; /* before: what it carries if the driver refuses the newest record */
    uint8_t timed;                    /* it measures */
    uint8_t foreign;                  /* other processes record it or wait for it */
    uint8_t elsewhere; /* last recorded by a call that is no operation of a lane: a graph's launch, a context's event */
    uint8_t elsewhere_before;
    uint8_t graphs_record; /* launches of graphs record it */
    uint8_t graphs_await;  /* wait for it: it is in a list of these */
    uint32_t unseen;       /* guard_unseen() when it was recorded last */
    uint16_t lane;         /* of the newest call that records it or waits for it */
    uint32_t ticket;       /* and its turn there */
    struct guard_event *next, *next_awaited;
};

/* Calls of which nothing is known, begun and ended. */
extern uint32_t guard_unseen_calls;
static inline uint32_t guard_unseen(void)
{
    return __atomic_load_n(&guard_unseen_calls, __ATOMIC_RELAXED);
}

/* Another process or a call that is no operation of a lane may have recorded it since it was recorded here. */
static inline int guard_event_is_unsure(const struct guard_event *event)
{
    return event->foreign || event->elsewhere || event->graphs_record || event->unseen != guard_unseen();
}

/* The event's entry; NULL: it was made past the shim and never recorded under it. */
struct guard_event *guard_event_find(CUevent event);

/* The same, made on first sight. NULL without memory. */
struct guard_event *guard_event_make(CUevent event);

/* opened: made by another process. */
void guard_event_created(CUevent event, unsigned flags, int opened);

/* Locked: a graph that waits for nobody knows which events is about to be launched on the lane. It is promised what the
 * events that graphs wait for carry. */
void guard_events_awaited_by_graph(unsigned lane);

/* A context's streams all wait for the event from now on. */
void guard_event_awaited_by_all(CUevent event);

/* About to be destroyed: nobody finds it from here on, since its handle may be another's before the call is back. The
 * second: it is gone, or the driver has refused. */
struct guard_event *guard_event_leaves(CUevent event);
void guard_event_left(CUevent event, struct guard_event *entry, int gone);

/* Locked: a record is registered, which fills in what the event carries. */
void guard_event_recording(struct guard_event *entry);

/* The driver refused the record that was registered at that moment: the event carries what it did before. In the record's
 * turn: nobody has waited for the event behind it yet. */
void guard_event_refused(CUevent event, moment at);

/* The driver has made the lane's wait, which was registered for the record of that moment. In its turn. */
void guard_event_followed(const struct guard_event *entry, moment at, unsigned lane);

/* All that it stands for is done. */
void guard_event_unrecorded(CUevent event);
void guard_events_after_fork(void);

#endif
