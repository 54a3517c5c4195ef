/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes: opened, closed, marked. Called by the guard under its lock and by order.c. Must not know the driver, lock, or call
 * malloc.
 */
#include "interpose/guard/decide/order_lane.h"

#include "interpose/base/pages.h"
#include "interpose/guard/decide/lane_limits.h"
#include "interpose/guard/decide/order.h"
#include "interpose/guard/decide/promises.h"
#include "interpose/guard/decide/repeat_rights.h"

/* ---- opened and closed ---- */

int order_lane_open(struct order *o, enum lane_kind kind, unsigned domain, int eager)
{
    unsigned i = 0;
    while (i < o->high && o->lanes[i]->open)
        i++;
    if (i == ORDER_LANES || domain >= ORDER_DOMAINS || (!o->lanes[i] && !(o->lanes[i] = pages_keep(sizeof(struct lane)))))
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
    if (kind == LANE_NON_BLOCKING || domain > 0)
        repeat_rights_free_running(o);
    return (int)i;
}

int order_lane_reclaim(struct order *o, unsigned number)
{
    struct lane *lane = o->lanes[number];
    if (!lane->open || !lane->gone || lane->last > lane->completed)
        return 0;
    for (int i = 0; i < ORDER_MARKS; i++) {
        if (__atomic_load_n(&lane->marks[i].pins, __ATOMIC_ACQUIRE))
            return 0;
    }
    for (int i = 0; i < ORDER_MARKS; i++)
        lane_limits_drop(&lane->marks[i].ordered);
    lane_limits_drop(&lane->promise.limits);
    lane_limits_drop(&lane->joined_then);
    o->opaque_lanes -= lane->opaque != 0;
    *lane = (struct lane){.completed = o->now};
    return 1;
}

static int is_pending(const struct order *o, unsigned number, moment until)
{
    const struct lane *lane = o->lanes[number];
    return lane->open && lane->last > lane->completed && until >= lane->first;
}

/* Pair by pair: hardly any lane has more than a few of them, and lanes are many. */
static int is_owed_by(const struct order *o, unsigned number, const struct lane_limits *limits)
{
    for (unsigned i = 0; i < limits->count; i++) {
        if (limits->at[i].lane != number && is_pending(o, limits->at[i].lane, limits->at[i].until))
            return 1;
    }
    for (unsigned i = 0; limits->all && i < o->high; i++) {
        if (i != number && is_pending(o, i, limits->all))
            return 1;
    }
    return 0;
}

int order_lane_is_owed(const struct order *o, unsigned number)
{
    const struct lane *lane = o->lanes[number];
    return is_owed_by(o, number, &lane->promise.limits) || is_owed_by(o, number, &lane->joined_then);
}

struct promise_kept order_lane_kept(const struct order *o, unsigned number)
{
    const struct lane *lane = o->lanes[number];
    return (struct promise_kept){lane->last, lane->default_then, lane->promise.defaults, lane->promise.blocking};
}

void order_lane_resumes(struct order *o, unsigned number, const struct promise_kept *kept)
{
    struct lane *lane = o->lanes[number];
    lane->last = kept->last;
    lane->default_then = kept->default_then;
    lane->promise.defaults = kept->defaults;
    lane->promise.blocking = kept->blocking;
}

void order_lane_crowded(struct order *o)
{
    o->crowded = o->now;
    repeat_rights_end(o);
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
    return repeat_rights_need_marks(o) && ((domain->last_event > at && domain->event_lane != number) ||
                                           domain->last_sync > at || domain->last_blocking > at);
}

/* The one to record anew: free, or done, or the newest where it is no boundary any more, or the oldest. -1: all are being
 * waited for. */
static int place_for(const struct order *o, unsigned number, struct lane *lane)
{
    const struct mark *newest = newest_mark(lane);
    int place = -1;
    if (newest->at && !__atomic_load_n(&newest->pins, __ATOMIC_ACQUIRE) && !is_boundary(o, lane, number, newest->at))
        return (int)(newest - lane->marks);
    for (int i = 0; i < ORDER_MARKS; i++) {
        const struct mark *mark = &lane->marks[i];
        if (__atomic_load_n(&mark->pins, __ATOMIC_ACQUIRE))
            continue;
        if (mark->at <= lane->completed)
            return i;
        if (place < 0 || mark->at < lane->marks[place].at)
            place = i;
    }
    return place;
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
    promises_ordered(o, lane, &lane->marks[place].ordered);
    return (int16_t)place;
}

void order_lane_begin(struct order *o, struct lane *lane)
{
    struct mark *newest = newest_mark(lane);
    if (lane->last <= lane->completed)
        lane->first = o->now + 1;
    lane->last = ++o->now;
    lane->waits = 0;
    if (newest->at && !newest->next)
        newest->next = lane->last;
}

void order_lane_note(moment *first, moment *newest, const struct lane *lane, moment now)
{
    if (*newest <= lane->completed)
        *first = now;
    *newest = now;
}

void order_lane_remember(struct order *o, struct lane *lane)
{
    const struct order_domain *domain = &o->domains[lane->domain];
    lane->default_then = domain->last_default;
    if (lane->kind != LANE_BLOCKING || lane->joined_version == domain->joined_version)
        return;
    lane->joined_version = domain->joined_version;
    lane_limits_copy(&lane->joined_then, &domain->joined_at_last);
}

static int is_marked(const struct lane *lane)
{
    return lane->last <= lane->completed || lane->last <= lane->marks[lane->newest].at;
}

int16_t order_lane_mark_first(struct order *o, unsigned number)
{
    struct lane *lane = o->lanes[number];
    if (is_marked(lane) || !is_boundary(o, lane, number, lane->last))
        return -1;
    return mark(o, number);
}

int16_t order_lane_mark_wait(struct order *o, unsigned number)
{
    struct lane *lane = o->lanes[number];
    if (lane->eager)
        return -1;
    lane->waits = 1;
    return is_marked(lane) ? -1 : mark(o, number);
}

int16_t order_lane_mark_after(struct order *o, unsigned number)
{
    const struct lane *lane = o->lanes[number];
    if (!lane->eager || (lane->kind == LANE_BLOCKING && !o->domains[lane->domain].last_default))
        return -1;
    return mark(o, number);
}

int order_lane_is_marked(const struct order *o, unsigned number)
{
    return is_marked(o->lanes[number]);
}

int order_lane_close(struct order *o, unsigned number)
{
    struct lane *lane = o->lanes[number];
    int first = lane->gone || is_marked(lane) ? -1 : mark(o, number);
    lane->gone = 1;
    return first;
}
