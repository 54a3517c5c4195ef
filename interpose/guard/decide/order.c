/* SPDX-License-Identifier: Apache-2.0
 *
 * Which waits an operation needs. Called by the guard under its lock, and by tests alone. Must not know the driver, lock,
 * or call malloc; its work is by lanes and by the memories of the operation, never by the length of the run.
 */
#include "interpose/guard/decide/order.h"

#include <string.h>

#include "interpose/guard/decide/lane_limits.h"
#include "interpose/guard/decide/ledger.h"
#include "interpose/guard/decide/order_lane.h"
#include "interpose/guard/decide/promises.h"
#include "interpose/guard/decide/repeat_rights.h"

/* What the default lanes were promised of lanes that legacy order does not order with them. */
static moment joined_until(const struct order *o, unsigned domain, unsigned other)
{
    moment until = lane_limits_until(&o->domains[domain].joined, other);
    for (unsigned i = 0; o->domains[domain].changed && i < o->high; i++) {
        const struct lane *lane = o->lanes[i];
        if (lane->open && lane->domain == domain && lane->kind == LANE_BLOCKING)
            until = moment_later(until, lane_limits_until(&lane->promise.limits, other));
    }
    return until;
}

static moment reached(const struct order *o, const struct lane *lane, unsigned other)
{
    switch (lane->kind) {
    case LANE_DEFAULT: return joined_until(o, lane->domain, other);
    case LANE_BLOCKING:
        return moment_later(lane_limits_until(&lane->promise.limits, other),
                            lane_limits_until(&o->domains[lane->domain].joined_at_last, other));
    default: return lane_limits_until(&lane->promise.limits, other);
    }
}

/* Operations of the lane's own domain before this moment, by the kind of the other lane. UINT64_MAX: all. */
static moment before(const struct order *o, const struct lane *lane, enum lane_kind other)
{
    if (other == LANE_NON_BLOCKING)
        return 0;
    if (lane->kind == LANE_DEFAULT || (lane->kind == LANE_BLOCKING && other == LANE_DEFAULT))
        return UINT64_MAX;
    if (other == LANE_DEFAULT)
        return lane->promise.defaults;
    if (lane->kind == LANE_BLOCKING)
        return moment_later(lane->promise.blocking, o->domains[lane->domain].last_default);
    return lane->promise.blocking;
}

/* To the newest operation of a blocking lane, not to the next: what a host that waits for it has waited for. */
static moment promised_to_newest(const struct order *o, unsigned lane, unsigned other)
{
    const struct lane *mine = o->lanes[lane], *others = o->lanes[other];
    moment limits =
        moment_later(lane_limits_until(&mine->promise.limits, other), lane_limits_until(&mine->joined_then, other));
    if (lane == other || mine->domain != others->domain || others->kind == LANE_NON_BLOCKING)
        return lane == other ? UINT64_MAX : limits;
    if (others->kind == LANE_DEFAULT)
        return moment_later(mine->last ? mine->last - 1 : 0, limits);
    moment limit = moment_later(mine->default_then, mine->promise.blocking);
    return moment_later(limit ? limit - 1 : 0, limits);
}

/* What the lane that asks comes after; `work` 0: the host waits for it. */
static moment promised_for(const struct order *o, const struct order_op *op, unsigned other)
{
    int waits = !op->work && !op->next && o->lanes[op->lane]->kind == LANE_BLOCKING;
    return waits ? promised_to_newest(o, op->lane, other) : order_promised(o, op->lane, other);
}

moment order_known_until(const struct order *o, unsigned other)
{
    const struct lane *lane = o->lanes[other];
    const struct order_domain *domain = &o->domains[lane->domain];
    moment limit = lane->kind == LANE_DEFAULT    ? domain->known_defaults
                   : lane->kind == LANE_BLOCKING ? domain->known_blocking
                                                 : 0;
    return moment_later(limit ? limit - 1 : 0, lane_limits_until(&o->known, other));
}

moment order_promised(const struct order *o, unsigned lane, unsigned other)
{
    const struct lane *mine = o->lanes[lane], *others = o->lanes[other];
    if (lane == other)
        return UINT64_MAX;
    moment limit = mine->domain == others->domain ? before(o, mine, (enum lane_kind)others->kind) : 0;
    if (limit == UINT64_MAX)
        return limit;
    return moment_later(moment_later(limit ? limit - 1 : 0, order_known_until(o, other)), reached(o, mine, other));
}

/* ---- what an operation needs ---- */

void order_need(struct order *o, unsigned other, moment until)
{
    if (until <= o->lanes[other]->completed)
        return;
    if (!o->need[other])
        o->needing[o->needs++] = (uint16_t)other;
    o->need[other] = moment_later(o->need[other], until);
}

static void need(struct order *o, unsigned lane, unsigned other, moment until)
{
    if (until > o->lanes[lane]->ordered[other])
        order_need(o, other, until);
}

/* All of the other lane's promised work up to `until`, where any of it from `first` on is promised. */
static void need_promised(struct order *o, const struct order_op *op, unsigned other, moment first, moment until)
{
    if (other == op->lane || until <= o->lanes[other]->completed)
        return;
    moment promised = promised_for(o, op, other);
    if (promised >= first)
        need(o, op->lane, other, moment_earlier(until, promised));
}

static void need_joined(struct order *o, const struct order_op *op, int all)
{
    for (unsigned i = 0; i < o->high; i++) {
        const struct lane *lane = o->lanes[i];
        if (lane->open && (all ? lane->last : lane->host) > lane->completed)
            need_promised(o, op, i, all ? lane->first : lane->host_first, all ? lane->last : lane->host);
    }
}

static void need_opaque(struct order *o, const struct order_op *op)
{
    for (unsigned i = 0; i < o->high; i++) {
        if (o->lanes[i]->open && o->lanes[i]->opaque)
            need_promised(o, op, i, o->lanes[i]->opaque_first, o->lanes[i]->opaque);
    }
}

/* A conflict that neither legacy nor the program orders, under strict. */
static void need_unpromised(struct order *o, unsigned lane, unsigned other, moment until)
{
    if (until <= o->lanes[lane]->ordered[other] || until <= o->lanes[other]->completed)
        return;
    order_need(o, other, until);
    o->unpromised[other / 64] |= UINT64_C(1) << other % 64;
}

/* Launches look at parts of a memory while other lanes have work there that would be in the way with all of it, and for
 * some time afterwards. */
enum { PARTS_LAUNCHES = 64 };
static void note_parts(const struct order *o, unsigned lane, const struct access *access)
{
    const struct access whole = {access->memory, 0, UINT64_MAX, access->writes};
    const struct ledger *ledger = access->memory->ledger;
    uint8_t parts = access->memory->parts;
    moment first;
    if (parts && access->end != UINT64_MAX)
        parts--;
    for (unsigned i = 0; ledger && i < ledger->count; i++) {
        const struct ledger_entry *entry = &ledger->at[i];
        if (entry->lane != lane && ledger_conflict(entry, &whole, o->lanes[entry->lane]->completed, &first))
            parts = PARTS_LAUNCHES;
    }
    if (parts != access->memory->parts)
        __atomic_store_n(&access->memory->parts, parts, __ATOMIC_RELAXED);
}

static void need_memory(struct order *o, unsigned lane, const struct access *access)
{
    const struct ledger *ledger = access->memory->ledger;
    for (unsigned i = 0; ledger && i < ledger->count; i++) {
        const struct ledger_entry *entry = &ledger->at[i];
        moment completed = o->lanes[entry->lane]->completed, first;
        moment newest = entry->lane == lane ? 0 : ledger_conflict(entry, access, completed, &first);
        if (!newest)
            continue;
        moment promised = order_promised(o, lane, entry->lane);
        if (promised >= moment_later(first, o->lanes[entry->lane]->first))
            need(o, lane, entry->lane, moment_earlier(newest, promised));
        if (__builtin_expect(o->strict && promised < newest, 0))
            need_unpromised(o, lane, entry->lane, newest);
    }
}

static void need_all(struct order *o, const struct order_op *op)
{
    for (unsigned i = 0; i < o->high; i++) {
        if (i != op->lane && o->lanes[i]->open)
            need(o, op->lane, i, o->lanes[i]->last);
    }
}

static void collect_needs(struct order *o, const struct order_op *op)
{
    const struct touched *touched = op->touched;
    for (unsigned i = 0; i < op->fully_count; i++) {
        if (op->fully[i] != op->lane)
            need(o, op->lane, op->fully[i], o->lanes[op->fully[i]]->last);
    }
    if (op->join == JOIN_CONTEXTS)
        need_all(o, op);
    int opaque = touched && touched->opaque, all = op->join == JOIN_ALL || opaque;
    if (all)
        need_joined(o, op, 1);
    for (unsigned i = 0; touched && !opaque && (!all || o->strict) && i < touched->count; i++)
        need_memory(o, op->lane, &touched->at[i]);
    for (unsigned i = 0; touched && !opaque && op->work && i < touched->count; i++)
        note_parts(o, op->lane, &touched->at[i]);
    if (all)
        return;
    if (op->join == JOIN_HOST)
        need_joined(o, op, 0);
    for (unsigned i = 0; o->crowded && i < o->high; i++)
        need_promised(o, op, i, o->lanes[i]->first, moment_earlier(o->crowded, o->lanes[i]->last));
    if (touched && o->opaque_lanes)
        need_opaque(o, op);
}

/* ---- the waits ---- */

/* All the lane's operations up to here come before the mark. */
static moment covered(const struct lane *lane, int mark)
{
    return lane->marks[mark].next ? lane->marks[mark].next - 1 : lane->last;
}

/* The earliest mark that covers `until`, and nothing after `most`. -1: none. */
static int mark_for(const struct lane *lane, moment until, moment most)
{
    int best = -1;
    for (int i = 0; i < ORDER_MARKS; i++) {
        moment at = lane->marks[i].at;
        if (at && at <= most && covered(lane, i) >= until && (best < 0 || at < lane->marks[best].at))
            best = i;
    }
    return best;
}

static uint32_t take_unpromised(struct order *o, unsigned other)
{
    uint64_t bit = UINT64_C(1) << other % 64, was = o->unpromised[other / 64];
    o->unpromised[other / 64] = was & ~bit;
    return (was & bit) != 0;
}

struct order_wait order_wait_until(struct order *o, unsigned other, moment until, moment promised)
{
    const struct lane *others = o->lanes[other];
    if (others->last <= promised && !others->gone && !others->eager && !others->waits)
        return (struct order_wait){(uint16_t)other, ORDER_NEWEST, 0, others->last};
    int mark = mark_for(others, until, promised);
    if (mark < 0 && others->last > promised)
        o->too_wide++;
    if (mark < 0)
        mark = mark_for(others, until, UINT64_MAX);
    if (mark < 0)
        return (struct order_wait){(uint16_t)other, ORDER_NEWEST, 0, others->last};
    return (struct order_wait){(uint16_t)other, (int16_t)mark, 0, covered(others, mark)};
}

static void make_wait(struct order *o, unsigned lane, struct order_wait wait)
{
    struct lane *mine = o->lanes[lane];
    const struct lane *others = o->lanes[wait.lane];
    mine->ordered[wait.lane] = moment_later(mine->ordered[wait.lane], wait.until);
    if (wait.mark == ORDER_NEWEST) {
        for (unsigned i = 0; i < o->high; i++)
            mine->ordered[i] = moment_later(mine->ordered[i], others->ordered[i]);
        return;
    }
    const struct lane_limits *ordered = &others->marks[wait.mark].ordered;
    for (unsigned i = 0; i < ordered->count; i++)
        mine->ordered[ordered->at[i].lane] = moment_later(mine->ordered[ordered->at[i].lane], ordered->at[i].until);
}

/* The newest need goes first: it may come after the others itself. */
static void plan_waits(struct order *o, const struct order_op *op, struct order_plan *plan)
{
    unsigned lane = op->lane;
    while (o->needs) {
        unsigned newest = 0;
        for (unsigned i = 1; i < o->needs; i++) {
            if (o->need[o->needing[i]] > o->need[o->needing[newest]])
                newest = i;
        }
        unsigned other = o->needing[newest];
        moment until = o->need[other];
        o->need[other] = 0;
        o->needing[newest] = o->needing[--o->needs];
        uint32_t unpromised = take_unpromised(o, other);
        if (until <= o->lanes[lane]->ordered[other])
            continue;
        moment promised = unpromised || op->join == JOIN_CONTEXTS ? UINT64_MAX : promised_for(o, op, other);
        struct order_wait wait = order_wait_until(o, other, until, promised);
        wait.unpromised = unpromised;
        make_wait(o, lane, wait);
        plan->waits[plan->count++] = wait;
    }
}

/* ---- the operation itself ---- */

static void note_touched(struct order *o, const struct order_op *op, struct lane *lane)
{
    const struct touched *touched = op->touched;
    if (!touched)
        return;
    if (touched->opaque) {
        o->opaque_lanes += !lane->opaque;
        order_lane_note(&lane->opaque_first, &lane->opaque, lane, o->now);
        order_lane_note(&lane->host_first, &lane->host, lane, o->now);
        return;
    }
    int host = touched->host;
    for (unsigned i = 0; i < touched->count; i++) {
        host |= touched->at[i].memory->host & 1; /* others may have got it since the call was looked at */
        if (!ledger_note(o, &touched->at[i], op->lane, o->now))
            order_lane_crowded(o);
    }
    if (host)
        order_lane_note(&lane->host_first, &lane->host, lane, o->now);
}

void order_add(struct order *o, const struct order_op *op, struct order_plan *plan)
{
    struct lane *lane = o->lanes[op->lane];
    plan->at = 0;
    plan->count = 0;
    plan->mark_first = plan->mark_after = -1;
    if (op->work)
        plan->mark_first = order_lane_mark_first(o, op->lane);
    collect_needs(o, op);
    if (!op->work && o->needs)
        plan->mark_first = order_lane_mark_wait(o, op->lane);
    plan_waits(o, op, plan);
    if (!op->work)
        return;
    order_lane_begin(o, lane);
    plan->at = lane->last;
    note_touched(o, op, lane);
    if (lane->kind == LANE_DEFAULT)
        promises_default_work(o, lane->domain);
    else if (lane->kind == LANE_BLOCKING)
        o->domains[lane->domain].last_blocking = o->now;
    order_lane_remember(o, lane);
    plan->mark_after = order_lane_mark_after(o, op->lane);
    if (lane->kind == LANE_DEFAULT && !lane->eager && op->touched)
        repeat_rights_make(o, lane, op->touched);
}

void order_touch(struct order *o, unsigned lane, const struct touched *touched)
{
    struct order_op op = {.lane = (uint16_t)lane, .touched = touched};
    note_touched(o, &op, o->lanes[lane]);
}

void order_memory_gone(struct order *o, struct memory *memory)
{
    repeat_rights_catch_up(o, NULL);
    repeat_rights_forget(o, memory);
    if (memory->ledger)
        ledger_drop(memory->ledger);
    memory->ledger = NULL;
}

void order_reset(struct order *o)
{
    uint8_t strict = o->strict; /* the policy stays */
    memset(o, 0, sizeof *o);
    o->strict = strict;
}
