/* SPDX-License-Identifier: Apache-2.0
 *
 * What default-stream work, events and the host's waits promise, and what the host knows to be done. Called by the guard
 * under its lock and by order.c. Must not know the driver, lock, or call malloc.
 */
#include "interpose/guard/decide/promises.h"

#include "interpose/guard/decide/lane_limits.h"
#include "interpose/guard/decide/order.h"
#include "interpose/guard/decide/repeat_rights.h"

/* So much of what an event or a mark really comes after is kept; the rest costs a wait that was not needed. */
enum { ORDERED_KEPT = 16 };

static void raise(moment *to, moment least)
{
    if (*to < least)
        *to = least;
}

void promises_ordered(const struct order *o, const struct lane *lane, struct lane_limits *ordered)
{
    ordered->count = 0;
    for (unsigned i = 0; i < o->high && ordered->count < ORDERED_KEPT; i++) {
        if (lane->ordered[i] > o->lanes[i]->completed)
            lane_limits_raise(ordered, i, lane->ordered[i]);
    }
}

/* The default lanes come after what the blocking ones were promised. */
static void join_blocking(const struct order *o, unsigned domain, struct lane_limits *limits)
{
    for (unsigned i = 0; o->domains[domain].changed && i < o->high; i++) {
        if (o->lanes[i]->open && o->lanes[i]->domain == domain && o->lanes[i]->kind == LANE_BLOCKING)
            lane_limits_join(limits, &o->lanes[i]->promise.limits);
    }
}

void promises_default_work(struct order *o, unsigned number)
{
    struct order_domain *domain = &o->domains[number];
    domain->last_default = o->now;
    join_blocking(o, number, &domain->joined);
    if (domain->changed || domain->fresh) {
        lane_limits_prune(&domain->joined, o);
        domain->joined_version++;
        lane_limits_copy(&domain->joined_at_last, &domain->joined);
    }
    domain->changed = domain->fresh = 0;
}

void promises_event_recorded(struct order *o, unsigned number, struct recorded *event)
{
    struct lane *lane = o->lanes[number];
    struct order_domain *domain = &o->domains[lane->domain];
    promises_recorded_drop(event);
    event->lane = (uint16_t)number;
    event->at = lane->recorded = lane->last;
    event->promise.domain = lane->domain;
    if (lane->kind == LANE_NON_BLOCKING) {
        event->promise.defaults = lane->promise.defaults;
        event->promise.blocking = lane->promise.blocking;
    } else {
        event->promise.defaults = event->at;
        event->promise.blocking = lane->kind == LANE_DEFAULT ? event->at : lane->promise.blocking;
        if (lane->kind == LANE_BLOCKING)
            raise(&event->promise.blocking, domain->last_default);
        domain->last_event = event->at;
        domain->event_lane = (uint16_t)number;
    }
    lane_limits_join(&event->promise.limits, lane->kind == LANE_DEFAULT ? &domain->joined : &lane->promise.limits);
    if (lane->kind == LANE_BLOCKING)
        lane_limits_join(&event->promise.limits, &domain->joined_at_last);
    promises_ordered(o, lane, &event->ordered);
}

void promises_recorded_drop(struct recorded *event)
{
    lane_limits_drop(&event->promise.limits);
    lane_limits_drop(&event->ordered);
    *event = (struct recorded){0};
}

void promises_everywhere(struct order *o, unsigned number)
{
    const struct lane *lane = o->lanes[number];
    for (unsigned i = 0; i < ORDER_DOMAINS; i++) {
        if (i == lane->domain || !o->domains[i].last_default)
            continue;
        lane_limits_raise(&o->domains[i].joined, number, lane->last);
        o->domains[i].fresh = 1;
        promises_default_work(o, i);
    }
}

/* In another context's terms: lane by lane. */
static void take_foreign(struct order *o, struct lane_limits *limits, const struct promise *promise)
{
    for (unsigned i = 0; i < o->high; i++) {
        const struct lane *lane = o->lanes[i];
        if (!lane->open || lane->domain != promise->domain || lane->kind == LANE_NON_BLOCKING)
            continue;
        moment limit = lane->kind == LANE_DEFAULT ? promise->defaults : promise->blocking;
        if (limit && lane->completed < limit - 1)
            lane_limits_raise(limits, i, limit - 1 < lane->last ? limit - 1 : lane->last);
    }
}

void promises_event_awaited(struct order *o, unsigned number, const struct recorded *event)
{
    struct lane *lane = o->lanes[number];
    struct order_domain *domain = &o->domains[lane->domain];
    struct lane_limits *limits = lane->kind == LANE_DEFAULT ? &domain->joined : &lane->promise.limits;
    if (!event->at)
        return;
    lane_limits_prune(limits, o);
    if (event->lane != number)
        lane_limits_raise(limits, event->lane, event->at - event->early);
    lane_limits_join(limits, &event->promise.limits);
    if (event->promise.domain != lane->domain) {
        take_foreign(o, limits, &event->promise);
    } else if (lane->kind != LANE_DEFAULT) {
        raise(&lane->promise.defaults, event->promise.defaults);
        raise(&lane->promise.blocking, event->promise.blocking);
    }
    if (lane->kind == LANE_BLOCKING)
        domain->changed = 1;
    if (lane->kind == LANE_DEFAULT) { /* the wait itself is default-stream work, which blocking streams come after */
        domain->fresh = 1;
        promises_default_work(o, lane->domain);
    }
}

void promises_event_followed(struct order *o, unsigned number, const struct recorded *event)
{
    struct lane *lane = o->lanes[number];
    if (!event->at)
        return;
    raise(&lane->ordered[event->lane], event->at - event->early);
    for (unsigned i = 0; i < event->ordered.count; i++)
        raise(&lane->ordered[event->ordered.at[i].lane], event->ordered.at[i].until);
}

/* ---- what the host knows ---- */

/* The oldest operations that are not done, as far as marks tell where the next one is. */
static void forget_done(struct lane *lane)
{
    for (int i = 0; i < ORDER_MARKS; i++) {
        if (lane->marks[i].at && lane->marks[i].at <= lane->completed && lane->marks[i].next > lane->completed)
            raise(&lane->first, lane->marks[i].next);
    }
    raise(&lane->host_first, lane->first);
    raise(&lane->opaque_first, lane->first);
}

static void done(struct order *o, struct lane *lane, moment until)
{
    if (until <= lane->completed)
        return;
    lane->completed = until;
    forget_done(lane);
    if (lane->opaque && lane->opaque <= lane->completed) {
        lane->opaque = 0;
        o->opaque_lanes--;
    }
}

void promises_host_waits(struct order *o, unsigned number, int next, struct promise *promise)
{
    const struct lane *lane = o->lanes[number];
    struct order_domain *domain = &o->domains[lane->domain];
    *promise = (struct promise){.domain = lane->domain};
    if (lane->kind == LANE_NON_BLOCKING) {
        promise->defaults = lane->promise.defaults;
        promise->blocking = lane->promise.blocking;
    } else {
        promise->defaults = lane->kind == LANE_DEFAULT || next ? o->now + 1 : lane->last;
        promise->blocking = lane->kind == LANE_DEFAULT ? o->now + 1 : next ? domain->last_default : lane->default_then;
        raise(&promise->blocking, lane->promise.blocking);
        domain->last_sync = o->now + 1;
        if (repeat_rights_need_marks(o))
            repeat_rights_end(o); /* who has work there has to mark it, also whoever waits for its own */
    }
    lane_limits_join(&promise->limits, lane->kind == LANE_DEFAULT ? &domain->joined : &lane->promise.limits);
    if (lane->kind == LANE_DEFAULT)
        join_blocking(o, lane->domain, &promise->limits);
    else if (lane->kind == LANE_BLOCKING)
        lane_limits_join(&promise->limits, next ? &domain->joined_at_last : &lane->joined_then);
}

void promises_host_knows(struct order *o, const struct promise *promise)
{
    struct order_domain *domain = &o->domains[promise->domain];
    raise(&domain->known_defaults, promise->defaults);
    raise(&domain->known_blocking, promise->blocking);
    lane_limits_prune(&o->known, o);
    lane_limits_join(&o->known, &promise->limits);
    if (promise->limits.count || promise->limits.all || o->domains_used > 1)
        repeat_rights_end(o);
}

void promises_drop(struct promise *promise)
{
    lane_limits_drop(&promise->limits);
}

void promises_done(struct order *o, unsigned lane, moment until)
{
    done(o, o->lanes[lane], until);
}

void promises_done_with(struct order *o, unsigned lane, moment until, const moment ordered[ORDER_LANES])
{
    promises_done(o, lane, until);
    for (unsigned i = 0; i < o->high; i++) {
        if (ordered[i])
            promises_done(o, i, ordered[i]);
    }
}

void promises_of_event(const struct recorded *event, struct promise *promise)
{
    if (!event->at)
        return;
    promise->domain = event->promise.domain;
    raise(&promise->defaults, event->promise.defaults);
    raise(&promise->blocking, event->promise.blocking);
    lane_limits_join(&promise->limits, &event->promise.limits);
}

void promises_event_known(struct order *o, const struct recorded *event)
{
    struct promise promise = {0};
    if (!event->at)
        return;
    promises_of_event(event, &promise);
    lane_limits_raise(&promise.limits, event->lane, event->at - event->early);
    promises_host_knows(o, &promise);
    promises_drop(&promise);
}

void promises_event_done(struct order *o, const struct recorded *event)
{
    if (!event->at)
        return;
    promises_host_knows(o, &event->promise);
    promises_done(o, event->lane, event->at - event->early);
    for (unsigned i = 0; i < event->ordered.count; i++)
        promises_done(o, event->ordered.at[i].lane, event->ordered.at[i].until);
}

void promises_all_done(struct order *o, unsigned domain, moment until)
{
    for (unsigned i = 0; i < o->high; i++) {
        if (o->lanes[i]->open && o->lanes[i]->domain == domain)
            promises_done(o, i, until);
    }
}
