/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes: opened, closed, marked; what their events carry, and what the host knows of them. Called by the guard under its
 * lock and by order.c. Must not know the driver, lock, or call malloc.
 */
#include "interpose/guard/lanes.h"

#include <string.h>

#include "interpose/base/memory.h"
#include "interpose/guard/reach.h"

/* So much of what an event or a mark really comes after is kept; the rest costs a wait that was not needed. */
enum { REAL_KEPT = 16 };

static void raise(moment *to, moment least)
{
    if (*to < least)
        *to = least;
}

/* ---- opened and closed ---- */

int order_lane_open(struct order *o, enum lane_kind kind, unsigned domain, int eager)
{
    unsigned i = 0;
    while (i < o->high && o->lanes[i]->open)
        i++;
    if (i == ORDER_LANES || domain >= ORDER_DOMAINS || (!o->lanes[i] && !(o->lanes[i] = memory_keep(sizeof(struct lane)))))
        return -1;
    struct lane *lane = o->lanes[i];
    *lane = (struct lane){.kind = (uint8_t)kind,
                          .open = 1,
                          .eager = (uint8_t)eager,
                          .domain = (uint16_t)domain,
                          .completed = o->now,
                          .promise.domain = (uint16_t)domain};
    o->high += i == o->high;
    if (o->domains_used <= domain)
        o->domains_used = (uint16_t)(domain + 1);
    o->free_running += kind == LANE_NON_BLOCKING || domain > 0;
    return (int)i;
}

int order_reclaim(struct order *o, unsigned number)
{
    struct lane *lane = o->lanes[number];
    if (!lane->open || !lane->gone || lane->last > lane->completed)
        return 0;
    for (int i = 0; i < ORDER_MARKS; i++) {
        if (lane->marks[i].pins)
            return 0;
    }
    for (int i = 0; i < ORDER_MARKS; i++)
        reach_drop(&lane->marks[i].real);
    reach_drop(&lane->promise.reach);
    reach_drop(&lane->joined_then);
    o->opaque_lanes -= lane->opaque != 0;
    *lane = (struct lane){.completed = o->now};
    return 1;
}

/* ---- marks ---- */

static struct mark *newest_mark(struct lane *lane)
{
    return &lane->marks[lane->newest];
}

/* Whether somebody may have been promised the lane's work up to `at` and no more. */
static int is_boundary(const struct order *o, const struct lane *lane, unsigned number, moment at)
{
    const struct order_domain *domain = &o->domains[lane->domain];
    if (lane->recorded && lane->recorded >= at && (lane->kind == LANE_NON_BLOCKING || o->domains_used > 1))
        return 1; /* what it carries goes on where the event itself is not waited for */
    if (lane->kind == LANE_NON_BLOCKING)
        return 0;
    if (lane->kind == LANE_BLOCKING)
        return domain->last_default > at || domain->last_sync > at;
    if (domain->last_blocking > at && lane->host > lane->completed)
        return 1; /* a host may wait for the blocking one */
    return (o->free_running || o->domains_used > 1) && ((domain->last_event > at && domain->event_lane != number) ||
                                                        domain->last_sync > at || domain->last_blocking > at);
}

/* The one to record anew: free, or done, or the newest where it is no boundary any more, or the oldest. -1: all are being
 * waited for. */
static int place_for(const struct order *o, unsigned number, struct lane *lane)
{
    const struct mark *newest = newest_mark(lane);
    int place = -1;
    if (newest->at && !newest->pins && !is_boundary(o, lane, number, newest->at))
        return (int)(newest - lane->marks);
    for (int i = 0; i < ORDER_MARKS; i++) {
        const struct mark *mark = &lane->marks[i];
        if (mark->pins)
            continue;
        if (mark->at <= lane->completed)
            return i;
        if (place < 0 || mark->at < lane->marks[place].at)
            place = i;
    }
    return place;
}

static void keep_real(const struct order *o, const struct lane *lane, struct reach *real)
{
    real->count = 0;
    for (unsigned i = 0; i < o->high && real->count < REAL_KEPT; i++) {
        if (lane->real[i] > o->lanes[i]->completed)
            reach_raise(real, i, lane->real[i]);
    }
}

static int16_t mark(const struct order *o, unsigned number)
{
    struct lane *lane = o->lanes[number];
    int place = place_for(o, number, lane);
    if (place < 0)
        return -1;
    lane->newest = (uint8_t)place;
    lane->marks[place].at = lane->last;
    lane->marks[place].next = 0;
    keep_real(o, lane, &lane->marks[place].real);
    return (int16_t)place;
}

void lanes_begin(struct order *o, struct lane *lane)
{
    struct mark *newest = newest_mark(lane);
    if (lane->last <= lane->completed)
        lane->first = o->now + 1;
    lane->last = ++o->now;
    lane->waits = 0;
    if (newest->at && !newest->next)
        newest->next = lane->last;
}

void lanes_note(moment *first, moment *newest, const struct lane *lane, moment now)
{
    if (*newest <= lane->completed)
        *first = now;
    *newest = now;
}

void lanes_remember(struct order *o, struct lane *lane)
{
    const struct order_domain *domain = &o->domains[lane->domain];
    lane->default_then = domain->last_default;
    if (lane->kind != LANE_BLOCKING || lane->joined_version == domain->joined_version)
        return;
    lane->joined_version = domain->joined_version;
    lane->joined_then.count = 0;
    reach_join(&lane->joined_then, &domain->joined_at_last);
}

static int is_marked(struct lane *lane)
{
    return lane->last <= lane->completed || lane->last <= newest_mark(lane)->at;
}

int16_t lanes_mark_first(struct order *o, unsigned number)
{
    struct lane *lane = o->lanes[number];
    if (is_marked(lane) || !is_boundary(o, lane, number, lane->last))
        return -1;
    return mark(o, number);
}

int16_t lanes_mark_wait(struct order *o, unsigned number)
{
    struct lane *lane = o->lanes[number];
    if (lane->eager)
        return -1;
    lane->waits = 1;
    return is_marked(lane) ? -1 : mark(o, number);
}

int16_t lanes_mark_after(struct order *o, unsigned number)
{
    const struct lane *lane = o->lanes[number];
    if (!lane->eager || (lane->kind == LANE_BLOCKING && !o->domains[lane->domain].last_default))
        return -1;
    return mark(o, number);
}

void order_lane_close(struct order *o, unsigned number, struct order_plan *plan)
{
    struct lane *lane = o->lanes[number];
    plan->at = 0;
    plan->count = 0;
    plan->mark_after = -1;
    plan->mark_first = lane->gone || is_marked(lane) ? -1 : mark(o, number);
    lane->gone = 1;
}

/* ---- promises ---- */

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
        domain->joined_at_last.count = 0;
        reach_join(&domain->joined_at_last, &domain->joined);
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
    keep_real(o, lane, &event->real);
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
        reach_raise(reach, event->lane, event->at);
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
    raise(&lane->real[event->lane], event->at);
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

void order_event_done(struct order *o, const struct recorded *event)
{
    if (!event->at)
        return;
    order_known(o, &event->promise);
    order_done(o, event->lane, event->at);
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
