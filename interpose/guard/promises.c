/* SPDX-License-Identifier: Apache-2.0
 *
 * What default-stream work, events and the host's waits promise, and what the host knows to be done. Called by the guard
 * under its lock and by order.c. Must not know the driver, lock, or call malloc.
 */
#include "interpose/guard/claims.h"
#include "interpose/guard/lanes.h"

#include <string.h>

#include "interpose/guard/reach.h"

/* So much of what an event or a mark really comes after is kept; the rest costs a wait that was not needed. */
enum { REAL_KEPT = 16 };

static void raise(moment *to, moment least)
{
    if (*to < least)
        *to = least;
}

void promises_real(const struct order *o, const struct lane *lane, struct reach *real)
{
    real->count = 0;
    for (unsigned i = 0; i < o->high && real->count < REAL_KEPT; i++) {
        if (lane->real[i] > o->lanes[i]->completed)
            reach_raise(real, i, lane->real[i]);
    }
}

/* The default lanes come after what the blocking ones were promised. */
static void join_blocking(const struct order *o, unsigned domain, struct reach *reach)
{
    for (unsigned i = 0; o->domains[domain].changed && i < o->high; i++) {
        if (o->lanes[i]->open && o->lanes[i]->domain == domain && o->lanes[i]->kind == LANE_BLOCKING)
            reach_join(reach, &o->lanes[i]->promise.reach);
    }
}

void lanes_default_work(struct order *o, unsigned number)
{
    struct order_domain *domain = &o->domains[number];
    domain->last_default = o->now;
    join_blocking(o, number, &domain->joined);
    if (domain->changed || domain->fresh) {
        reach_prune(&domain->joined, o);
        domain->joined_version++;
        reach_copy(&domain->joined_at_last, &domain->joined);
    }
    domain->changed = domain->fresh = 0;
}

void order_event_recorded(struct order *o, unsigned number, struct recorded *event)
{
    struct lane *lane = o->lanes[number];
    struct order_domain *domain = &o->domains[lane->domain];
    order_recorded_drop(event);
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
    reach_join(&event->promise.reach, lane->kind == LANE_DEFAULT ? &domain->joined : &lane->promise.reach);
    if (lane->kind == LANE_BLOCKING)
        reach_join(&event->promise.reach, &domain->joined_at_last);
    promises_real(o, lane, &event->real);
}

void order_recorded_drop(struct recorded *event)
{
    reach_drop(&event->promise.reach);
    reach_drop(&event->real);
    *event = (struct recorded){0};
}

void order_everywhere(struct order *o, unsigned number)
{
    const struct lane *lane = o->lanes[number];
    for (unsigned i = 0; i < ORDER_DOMAINS; i++) {
        if (i == lane->domain || !o->domains[i].last_default)
            continue;
        reach_raise(&o->domains[i].joined, number, lane->last);
        o->domains[i].fresh = 1;
        lanes_default_work(o, i);
    }
}

/* In another context's terms: lane by lane. */
static void take_foreign(struct order *o, struct reach *reach, const struct promise *promise)
{
    for (unsigned i = 0; i < o->high; i++) {
        const struct lane *lane = o->lanes[i];
        if (!lane->open || lane->domain != promise->domain || lane->kind == LANE_NON_BLOCKING)
            continue;
        moment limit = lane->kind == LANE_DEFAULT ? promise->defaults : promise->blocking;
        if (limit && lane->completed < limit - 1)
            reach_raise(reach, i, limit - 1 < lane->last ? limit - 1 : lane->last);
    }
}

void order_event_awaited(struct order *o, unsigned number, const struct recorded *event)
{
    struct lane *lane = o->lanes[number];
    struct order_domain *domain = &o->domains[lane->domain];
    struct reach *reach = lane->kind == LANE_DEFAULT ? &domain->joined : &lane->promise.reach;
    if (!event->at)
        return;
    reach_prune(reach, o);
    if (event->lane != number)
        reach_raise(reach, event->lane, event->at - event->early);
    reach_join(reach, &event->promise.reach);
    if (event->promise.domain != lane->domain) {
        take_foreign(o, reach, &event->promise);
    } else if (lane->kind != LANE_DEFAULT) {
        raise(&lane->promise.defaults, event->promise.defaults);
        raise(&lane->promise.blocking, event->promise.blocking);
    }
    if (lane->kind == LANE_BLOCKING)
        domain->changed = 1;
    if (lane->kind == LANE_DEFAULT) { /* the wait itself is default-stream work, which blocking streams come after */
        domain->fresh = 1;
        lanes_default_work(o, lane->domain);
    }
}

void order_event_followed(struct order *o, unsigned number, const struct recorded *event)
{
    struct lane *lane = o->lanes[number];
    if (!event->at)
        return;
    raise(&lane->real[event->lane], event->at - event->early);
    for (unsigned i = 0; i < event->real.count; i++)
        raise(&lane->real[event->real.at[i].lane], event->real.at[i].until);
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

void order_waits(struct order *o, unsigned number, int next, struct promise *promise)
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
        if (claims_need_marks(o))
            claims_end(o); /* who has work there has to mark it, also whoever waits for its own */
    }
    reach_join(&promise->reach, lane->kind == LANE_DEFAULT ? &domain->joined : &lane->promise.reach);
    if (lane->kind == LANE_DEFAULT)
        join_blocking(o, lane->domain, &promise->reach);
    else if (lane->kind == LANE_BLOCKING)
        reach_join(&promise->reach, next ? &domain->joined_at_last : &lane->joined_then);
}

void order_known(struct order *o, const struct promise *promise)
{
    struct order_domain *domain = &o->domains[promise->domain];
    raise(&domain->known_defaults, promise->defaults);
    raise(&domain->known_blocking, promise->blocking);
    reach_prune(&o->known, o);
    reach_join(&o->known, &promise->reach);
    if (promise->reach.count || promise->reach.all || o->domains_used > 1)
        claims_end(o);
}

void order_promise_drop(struct promise *promise)
{
    reach_drop(&promise->reach);
}

void order_done(struct order *o, unsigned lane, moment until)
{
    done(o, o->lanes[lane], until);
}

void order_done_with(struct order *o, unsigned lane, moment until, const moment real[ORDER_LANES])
{
    order_done(o, lane, until);
    for (unsigned i = 0; i < o->high; i++) {
        if (real[i])
            order_done(o, i, real[i]);
    }
}

void order_event_promises(const struct recorded *event, struct promise *promise)
{
    if (!event->at)
        return;
    promise->domain = event->promise.domain;
    raise(&promise->defaults, event->promise.defaults);
    raise(&promise->blocking, event->promise.blocking);
    reach_join(&promise->reach, &event->promise.reach);
}

void order_event_known(struct order *o, const struct recorded *event)
{
    struct promise promise = {0};
    if (!event->at)
        return;
    order_event_promises(event, &promise);
    reach_raise(&promise.reach, event->lane, event->at - event->early);
    order_known(o, &promise);
    order_promise_drop(&promise);
}

void order_event_done(struct order *o, const struct recorded *event)
{
    if (!event->at)
        return;
    order_known(o, &event->promise);
    order_done(o, event->lane, event->at - event->early);
    for (unsigned i = 0; i < event->real.count; i++)
        order_done(o, event->real.at[i].lane, event->real.at[i].until);
}

void order_all_done(struct order *o, unsigned domain, moment until)
{
    for (unsigned i = 0; i < o->high; i++) {
        if (o->lanes[i]->open && o->lanes[i]->domain == domain)
            order_done(o, i, until);
    }
}

void order_reset(struct order *o)
{
    memset(o, 0, sizeof *o);
}
