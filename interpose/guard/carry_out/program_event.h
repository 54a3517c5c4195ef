/* SPDX-License-Identifier: Apache-2.0
 *
 * What the program's events carry. Only for the guard's own files.
 */
#ifndef PTDS_PROGRAM_EVENT_H
#define PTDS_PROGRAM_EVENT_H

#include "interpose/guard/decide/order.h"
#include "interpose/state/call.h"

struct program_event {
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
    struct program_event *next, *next_awaited;
};

/* Calls of which nothing is known, begun and ended. */
extern uint32_t guard_unseen_calls;
static inline uint32_t guard_unseen(void)
{
    return __atomic_load_n(&guard_unseen_calls, __ATOMIC_RELAXED);
}

/* Another process or a call that is no operation of a lane may have recorded it since it was recorded here. */
static inline int program_event_is_unsure(const struct program_event *event)
{
    return event->foreign || event->elsewhere || event->graphs_record || event->unseen != guard_unseen();
}

/* The event's entry; NULL: it was made past the shim and never recorded under it. */
struct program_event *program_event_find(CUevent event);

/* The same, made on first sight. NULL without memory. */
struct program_event *program_event_make(CUevent event);

/* opened: made by another process. */
void program_event_created(CUevent event, unsigned flags, int opened);

/* Locked: a graph that waits for nobody knows which events is about to be launched on the lane. It is promised what the
 * events that graphs wait for carry. */
void program_event_awaited_by_graph(unsigned lane);

/* A context's streams all wait for the event from now on. */
void program_event_awaited_by_all(CUevent event);

/* About to be destroyed: nobody finds it from here on, since its handle may be another's before the call is back. The
 * second: it is gone, or the driver has refused. */
struct program_event *program_event_leaves(CUevent event);
void program_event_left(CUevent event, struct program_event *entry, int gone);

/* Locked: a record is registered, which fills in what the event carries. */
void program_event_recording(struct program_event *entry);

/* The driver refused the record that was registered at that moment: the event carries what it did before. In the record's
 * turn: nobody has waited for the event behind it yet. */
void program_event_refused(CUevent event, moment at);

/* The driver has made the lane's wait, which was registered for the record of that moment. In its turn. */
void program_event_followed(const struct program_event *entry, moment at, unsigned lane);

/* Launches of some graph record the event from now on; `waits`: wait for it. */
void program_event_in_graph(CUevent event, int waits);

/* A call that is no operation of a lane, or known for recording another event, records it. */
void program_event_recorded_elsewhere(CUevent event);

/* All that it stands for is done. */
void program_event_unrecorded(CUevent event);
void program_event_after_fork(void);

#endif
