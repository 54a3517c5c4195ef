/* SPDX-License-Identifier: Apache-2.0
 *
 * What strands knew when they recorded events. Called for records and waits, and by the files that ask what a wait for an
 * event is behind. Must take a recording that the trace does not have for unknown, never for none.
 */
#include "analysis/order/strands/strand_events.h"

#include <stdlib.h>

#include "analysis/order/strands/arrivals.h"
#include "analysis/order/strands/groups.h"
#include "analysis/order/strands/strands.h"

static struct strand_event *event_of(const struct verdicts *v, uint32_t uid)
{
    uint32_t place = order_event_place(&v->model->events, uid);
    return place < v->events.count ? &v->events.items[place] : NULL;
}

const struct strand_event *strand_events_find(const struct verdicts *v, uint32_t uid, uint32_t generation)
{
    const struct strand_event *event = generation != 0 ? event_of(v, uid) : NULL;
    bool is_there = event != NULL && event->generation == generation;
    return is_there && !order_event_is_outside(&v->model->events, uid) ? event : NULL;
}

bool strand_events_are_unseen(const struct verdicts *v, uint32_t uid, uint32_t generation)
{
    return generation != 0 || order_event_is_outside(&v->model->events, uid);
}

static struct strand_event *event_for(struct verdicts *v, uint32_t uid)
{
    uint32_t place = order_event_make(&v->model->events, uid);
    void *grown = place < EVENTS_MOST
                      ? table_grow(v->events.items, &v->events.room, (size_t)place + 1, sizeof *v->events.items)
                      : NULL;
    if (grown == NULL)
        return NULL;
    v->events.items = grown;
    if (v->events.count <= place)
        v->events.count = (size_t)place + 1;
    v->events.items[place].used = true;
    return &v->events.items[place];
}

static bool copy_groups(struct strand_event *event, const struct strand *strand)
{
    event->groups.count = 0;
    for (size_t i = 0; i < strand->groups.count; i++) {
        if (!TABLE_ADD(&event->groups))
            return false;
        *TABLE_LAST(&event->groups) = (struct group_upto){strand->groups.items[i].group, strand->groups.items[i].upto};
    }
    return true;
}

/* Without room a later wait finds no such recording. */
void strand_events_record(struct verdicts *v, const struct ptds_rec_CALL *call, uint32_t strand)
{
    struct strand_event *event = event_for(v, call->object);
    if (event == NULL)
        return;
    event->strand = strand;
    event->generation = call->generation;
    event->op = v->now;
    if (!vclock_copy(&event->expl, &strands_at(v, strand)->expl) ||
        !vclock_copy(&event->full, &strands_at(v, strand)->full) || !copy_groups(event, strands_at(v, strand)))
        v->limited = true;
    strands_at(v, strand)->snapped = v->now;
}

void strand_events_wait(struct verdicts *v, const struct strand_event *event, uint32_t at)
{
    struct vclock *expl = &strands_at(v, at)->expl;
    struct arrival known = {.op = event->op, .via = event->op, .at = v->now, .from = event->strand, .edge = NO_EDGE};
    if (event->strand == at)
        return;
    if (!vclock_join(expl, &event->expl) || !vclock_raise(expl, event->strand, event->op))
        v->limited = true;
    arrivals_learn(v, at, event->strand, &known);
    for (uint32_t about = 1; about < event->full.room && about < v->strands.count; about++) {
        known.op = event->full.at[about];
        if (known.op != 0)
            arrivals_learn(v, at, about, &known);
    }
    for (size_t i = 0; i < event->groups.count; i++) {
        known.op = event->groups.items[i].upto;
        groups_learn(v, at, event->groups.items[i].group, &known);
    }
}

/* The model gives the place to another event when the call leaves. */
void strand_events_forget(struct verdicts *v, uint32_t uid)
{
    struct strand_event *event = event_of(v, uid);
    if (event == NULL)
        return;
    event->used = false;
    event->generation = 0;
}

void strand_events_free(struct verdicts *v)
{
    for (size_t i = 0; i < v->events.count; i++) {
        vclock_free(&v->events.items[i].expl);
        vclock_free(&v->events.items[i].full);
        free(v->events.items[i].groups.items);
    }
    free(v->events.items);
}
