/* SPDX-License-Identifier: Apache-2.0
 *
 * What a new operation comes after: by implicit order, as edges, and by the events that its stream was told to wait for.
 * Called once an operation; looks at other lanes only if they did something since this one's last (but for a few more).
 * Whom it comes after says model/under.h. A fan-in is an edge for each blocking stream that has something new; a fan-out
 * and a FIFO edge are one for all legacy work that is new.
 */
#include "analysis/base/hints.h"
#include "analysis/order/knowledge.h"

#include <stdlib.h>

static INLINE bool is_new(const struct verdicts *v, uint32_t at, uint32_t about)
{
    return about != at && lanes_at(v, about)->last > lanes_full(v, lanes_at(v, at), about);
}

static bool has_new_legacy(const struct verdicts *v, const struct context *context, uint32_t at, uint64_t since)
{
    const struct lane *lane;
    for (uint32_t other = context->legacy.newest; other != NO_LANE; other = lane->older) {
        lane = lanes_at(v, other);
        if (lane->last != 0 && lane->last <= since)
            return false;
        if (lane->last != 0 && is_new(v, at, other))
            return true;
    }
    return false;
}

/* What the policy did with the order to each of them. */
static RARE void bring_each(struct verdicts *v, const struct context *context, uint32_t at, uint32_t edge, uint64_t since)
{
    struct recent recent;
    lanes_recent(v, &context->legacy, since, &recent);
    for (size_t i = 0; i < recent.count; i++)
        if (is_new(v, at, recent.items[i]))
            edges_bring(v, edge, &lanes_at(v, recent.items[i])->newest, NULL);
}

/* All legacy work that is new to the lane, which has joined all up to operation `since`, as one edge. */
static uint32_t join_queue(struct verdicts *v, uint32_t at, enum edge_kind kind, uint64_t since)
{
    const struct lane *lane = lanes_at(v, at);
    struct context *context = &v->contexts.items[lane->context];
    const struct lane *queue = lanes_at(v, context->queue);
    if (!has_new_legacy(v, context, at, since))
        return NO_EDGE;
    uint32_t edge = edges_new(v, context, kind, lanes_end(v, &queue->newest));
    edges_of_lane(v, edge, lane);
    if (v->kept != NULL && v->kept->takes)
        bring_each(v, context, at, edge, since);
    groups_learn(v, at, queue->group, &(struct known){.op = queue->last, .at = v->now, .from = NO_LANE, .edge = edge});
    context->learnt[GROUP_LEGACY] = v->now;
    return edge;
}

static uint32_t join_stream(struct verdicts *v, const struct context *context, uint32_t at, uint32_t other)
{
    const struct lane *subject = lanes_at(v, other);
    uint64_t known = lanes_own(v, lanes_at(v, at), other), by_all = lanes_own(v, lanes_at(v, HOST_LANE), other);
    if (subject->last <= larger(known, by_all))
        return NO_EDGE;
    uint32_t edge = edges_new(v, context, EDGE_FAN_IN, lanes_end(v, &subject->newest));
    edges_of_lane(v, edge, subject);
    if (v->kept != NULL)
        edges_bring(v, edge, &subject->newest, NULL);
    fans_add(v, edge, at, other, known, larger(known, by_all));
    return edge;
}

static void join_streams(struct verdicts *v, struct context *context, uint32_t at, uint64_t before)
{
    struct recent recent;
    lanes_recent(v, &context->blocking, before, &recent);
    for (size_t i = 0; i < recent.count; i++) {
        uint32_t other = recent.items[i], edge = join_stream(v, context, at, other);
        if (lanes_at(v, other)->foreign_at > before)
            lanes_take_over(v, at, other, edge, true);
    }
    groups_learn_by_fans(v, at);
    context->learnt[GROUP_BLOCKING] = v->now;
}

static ASIDE void join_legacy(struct verdicts *v, uint32_t at)
{
    struct context *context = &v->contexts.items[lanes_at(v, at)->context];
    uint64_t before = lanes_at(v, at)->last;
    uint32_t queue = context->queue, fifo = NO_EDGE;
    bool behind = queue != NO_LANE && queue != at && lanes_at(v, queue)->last > before;
    if (behind)
        fifo = join_queue(v, at, EDGE_FIFO, before);
    if (context->blocking_at > before)
        join_streams(v, context, at, before);
    if (behind && lanes_at(v, queue)->foreign_at > before)
        lanes_take_over(v, at, queue, fifo, true);
}

/* Behind the last legacy operation lie all blocking streams' operations before it, too. */
static ASIDE void join_blocking(struct verdicts *v, uint32_t at)
{
    struct lane *lane = lanes_at(v, at);
    uint32_t queue = v->contexts.items[lane->context].queue, edge = join_queue(v, at, EDGE_FAN_OUT, lane->joined);
    const struct lane *source = lanes_at(v, queue);
    groups_learn(v, at, lane->group,
                 &(struct known){.op = source->last, .via = source->last, .at = v->now, .from = queue, .edge = edge});
    if (source->foreign_at > lane->last)
        lanes_take_over(v, at, queue, edge, true);
    lane->joined = source->last;
}

/* The legacy stream's lanes come after blocking streams, and those after its lanes only. */
void joins_implicit(struct verdicts *v, uint32_t at)
{
    struct lane *lane = lanes_at(v, at);
    struct context *context = &v->contexts.items[lane->context];
    uint64_t queued = context->queue != NO_LANE ? lanes_at(v, context->queue)->last : 0;
    if (lane->after & ORDER_OF(ORDER_ROLE_BLOCKING)) {
        lane->snapped = larger(lane->snapped, context->learnt[GROUP_LEGACY]);
        if (context->blocking_at > lane->last || queued > lane->last) {
            join_legacy(v, at);
            lane->before = lane->last;
        }
        lanes_be_newest(v, &context->legacy, at);
        context->queue = at;
    } else if (lane->after & ORDER_OF(ORDER_ROLE_LEGACY)) {
        lane->snapped = larger(lane->snapped, context->learnt[GROUP_BLOCKING]);
        if (context->queue != NO_LANE && queued >= lane->last) {
            join_blocking(v, at);
            lane->before = lane->last;
        }
        lanes_be_newest(v, &context->blocking, at);
        context->blocking_at = v->now;
    }
}

static struct event *event_of(const struct verdicts *v, uint32_t uid)
{
    uint32_t place = order_event_place(&v->model->events, uid);
    return place < v->events.count ? &v->events.items[place] : NULL;
}

const struct event *events_find(const struct verdicts *v, uint32_t uid, uint32_t generation)
{
    const struct event *event = generation != 0 ? event_of(v, uid) : NULL;
    bool is_there = event != NULL && event->generation == generation;
    return is_there && !order_event_is_outside(&v->model->events, uid) ? event : NULL;
}

bool events_are_unseen(const struct verdicts *v, uint32_t uid, uint32_t generation)
{
    return generation != 0 || order_event_is_outside(&v->model->events, uid);
}

static struct event *event_for(struct verdicts *v, uint32_t uid)
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

static bool copy_groups(struct event *event, const struct lane *lane)
{
    event->groups.count = 0;
    for (size_t i = 0; i < lane->groups.count; i++) {
        if (!TABLE_ADD(&event->groups))
            return false;
        *TABLE_LAST(&event->groups) = (struct group_upto){lane->groups.items[i].group, lane->groups.items[i].upto};
    }
    return true;
}

/* After the record itself was put on the lane. Without room a later wait finds no such recording, and says so. */
void events_record(struct verdicts *v, const struct ptds_rec_CALL *call, uint32_t lane)
{
    struct event *event = event_for(v, call->object);
    if (event == NULL)
        return;
    event->lane = lane;
    event->generation = call->generation;
    event->op = v->now;
    if (!vclock_copy(&event->expl, &lanes_at(v, lane)->expl) || !vclock_copy(&event->full, &lanes_at(v, lane)->full) ||
        !copy_groups(event, lanes_at(v, lane)))
        v->limited = true;
    lanes_at(v, lane)->snapped = v->now;
}

void events_wait(struct verdicts *v, const struct event *event, uint32_t at)
{
    struct vclock *expl = &lanes_at(v, at)->expl;
    struct known known = {.op = event->op, .via = event->op, .at = v->now, .from = event->lane, .edge = NO_EDGE};
    if (event->lane == at)
        return;
    if (!vclock_join(expl, &event->expl) || !vclock_raise(expl, event->lane, event->op))
        v->limited = true;
    lanes_learn(v, at, event->lane, &known);
    for (uint32_t about = 1; about < event->full.room && about < v->lanes.count; about++) {
        known.op = event->full.at[about];
        if (known.op != 0)
            lanes_learn(v, at, about, &known);
    }
    for (size_t i = 0; i < event->groups.count; i++) {
        known.op = event->groups.items[i].upto;
        groups_learn(v, at, event->groups.items[i].group, &known);
    }
}

/* Its place is the model's to give to another, when the call leaves. */
void events_forget(struct verdicts *v, uint32_t uid)
{
    struct event *event = event_of(v, uid);
    if (event == NULL)
        return;
    event->used = false;
    event->generation = 0;
}

void events_free(struct verdicts *v)
{
    for (size_t i = 0; i < v->events.count; i++) {
        vclock_free(&v->events.items[i].expl);
        vclock_free(&v->events.items[i].full);
        free(v->events.items[i].groups.items);
    }
    free(v->events.items);
}
