/* SPDX-License-Identifier: Apache-2.0
 *
 * The streams that the guard keeps ready in each context (pool_streams.c makes them), and whose lanes they are. Called by
 * the guard, mostly under its lock. Must not ask the driver anything.
 */
#include "interpose/guard/carry_out/pool.h"

#include <string.h>

#include "interpose/base/diag.h"
#include "interpose/base/pages.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/lane_streams.h"
#include "interpose/guard/decide/order.h"
#include "interpose/guard/decide/promises.h"
#include "interpose/guard/decide/queue_share.h"
#include "interpose/guard/decide/repeat_rights.h"

/* Lanes are for the program's streams, too: so many at most for all contexts' default-stream work, one for each in any
 * case. */
enum { LANES_OF_ALL = 192 };

static uint32_t domains_taken; /* bits */
static unsigned lanes_taken;   /* by the streams of all pools */

static int take_domain(void)
{
    for (int i = 0; i < ORDER_DOMAINS; i++) {
        if (!(domains_taken & 1u << i)) {
            domains_taken |= 1u << i;
            guard_state.order.domains[i] = (struct order_domain){0};
            return i;
        }
    }
    return -1;
}

static struct retirees gone = {.kept = 8}; /* of contexts that are gone */

/* Locked. */
static struct pool *take_pool(void)
{
    struct pool *pool = retired_take(&gone, offsetof(struct pool, retired));
    if (!pool)
        return pages_keep(sizeof *pool);
    pool->count = pool->opened = pool->legacy = pool->attributes = pool->apart = 0;
    pool->events = pool->first_thread = 0;
    pool->crowd = (struct queue_share){0};
    return pool;
}

struct pool *pool_of(struct context *context)
{
    struct pool *pool = __atomic_load_n(&context->pool, __ATOMIC_ACQUIRE);
    if (__builtin_expect(pool != NULL, 1) || !context->handle)
        return pool;
    lock_take(&guard_state.lock);
    int domain = context->pool ? -1 : take_domain();
    if (domain >= 0 && (pool = take_pool())) {
        context->domain = (uint32_t)domain + 1;
        __atomic_store_n(&context->pool, pool, __ATOMIC_RELEASE);
    }
    pool = context->pool;
    lock_drop(&guard_state.lock);
    if (!pool)
        diag_once(DIAG_ERROR,
                  "more than 32 contexts at once: default-stream work of the others stays on the legacy stream");
    return pool;
}

void pool_changed(struct pool *pool)
{
    __atomic_store_n(&pool->changes, pool->changes + 1, __ATOMIC_RELEASE);
    repeat_rights_end(&guard_state.order); /* nobody goes the short way past it */
}

int pool_legacy_lane(struct context *context)
{
    struct pool *pool = context->pool;
    if (!pool->legacy) {
        int lane = lane_streams_open(LANE_DEFAULT, context, CU_STREAM_LEGACY, context->legacy_uid, 1);
        if (pool->legacy && lane >= 0) /* the lock was given up: another thread was faster */
            lane_streams_close_unmarked((unsigned)lane);
        else if (lane >= 0)
            pool->legacy = (uint16_t)(lane + 1);
    }
    return pool->legacy - 1;
}

/* ---- how many lanes; all locked ---- */

/* The first so many of the pool's streams may be worked on. */
static inline unsigned usable(const struct pool *pool)
{
    unsigned lanes = __atomic_load_n(&pool->crowd.lanes, __ATOMIC_RELAXED);
    return lanes && lanes < pool->count ? lanes : pool->count;
}

void pool_crowd(struct context *context, int more)
{
    struct pool *pool = context->pool;
    if (pool && queue_share_crowd(&pool->crowd, more))
        pool_changed(pool);
}

void pool_anew(struct context *context)
{
    if (context->pool && queue_share_anew(&context->pool->crowd))
        pool_changed(context->pool);
}

static int is_usable(const struct pool *pool, const struct pooled *stream)
{
    return stream && stream < pool->at + usable(pool);
}

/* ---- lanes for threads; all locked ---- */

static uint32_t users_of(const struct pooled *stream)
{
    return stream->lane ? issue_lanes[stream->lane - 1].users : 0;
}

static moment last_of(const struct pooled *stream)
{
    return stream->lane ? guard_state.order.lanes[stream->lane - 1]->last : 0;
}

/* One that an ended thread gave back may have work pending still, which the next thread has nothing to do with: of those
 * with as few users, the one whose work is oldest. */
static int is_better(const struct pooled *stream, const struct pooled *than)
{
    if (users_of(stream) != users_of(than))
        return users_of(stream) < users_of(than);
    return last_of(stream) < last_of(than);
}

static int has_lane(const struct thread_context *here, const struct pooled *stream)
{
    for (unsigned k = 0; stream->lane && k < here->lane_count; k++) {
        if (here->lanes[k] == stream->lane - 1)
            return 1;
    }
    return 0;
}

/* `may_open`: also one that has no lane yet. */
static struct pooled *least_used(struct pool *pool, const struct thread_context *here, int may_open)
{
    struct pooled *best = NULL;
    for (unsigned i = 0; i < usable(pool); i++) {
        struct pooled *stream = &pool->at[i];
        if ((may_open || stream->lane) && !has_lane(here, stream) && (!best || is_better(stream, best)))
            best = stream;
    }
    return best;
}

/* The lane is the context's, and no other stream's by now. */
static struct pooled *pooled_on(const struct context *context, unsigned lane)
{
    struct pool *pool = context && issue_lanes[lane].context == context ? context->pool : NULL;
    for (unsigned i = 0; pool && i < pool->count; i++) {
        if (pool->at[i].lane == lane + 1)
            return &pool->at[i];
    }
    return NULL;
}

/* Nobody has it, and its work is done. */
static struct pooled *unused_on(unsigned number)
{
    const struct lane *lane = guard_state.order.lanes[number];
    if (!lane->open || issue_lanes[number].users || lane->last > lane->completed || !issue_is_idle(number))
        return NULL;
    return pooled_on(issue_lanes[number].context, number);
}

/* They serve other contexts. */
static void take_back(void)
{
    repeat_rights_catch_up(&guard_state.order, NULL);
    for (unsigned i = 0; i < guard_state.order.high; i++) {
        struct lane *lane = guard_state.order.lanes[i];
        struct pooled *stream = unused_on(i);
        if (!stream)
            continue;
        lane_streams_close_unmarked(i);
        lane->gone = 0;
        if (lane->open) /* at this moment somebody waits for a mark of it */
            continue;
        stream->lane = 0;
        issue_lanes[i].context->pool->opened--;
        lanes_taken--;
    }
}

static int may_open(const struct pool *pool)
{
    unsigned contexts = (unsigned)__builtin_popcount(domains_taken);
    if (pool->opened < POOL_LANES && lanes_taken >= LANES_OF_ALL)
        take_back();
    return !pool->opened || (lanes_taken < LANES_OF_ALL && pool->opened < LANES_OF_ALL / contexts);
}

/* The lock may have been given up meanwhile. */
static int open_lane(struct context *context, struct pooled *stream)
{
    if (stream->lane)
        return 1;
    int lane = lane_streams_open(LANE_DEFAULT, context, stream->handle, stream->uid, 0);
    if (lane < 0 || stream->lane) {
        if (lane >= 0)
            lane_streams_close_unmarked((unsigned)lane);
        return stream->lane != 0;
    }
    stream->lane = (uint16_t)(lane + 1);
    context->pool->opened++;
    lanes_taken++;
    return 1;
}

/* The thread keeps the lanes that it may work on and has for itself. */
static void choose_anew(struct thread_context *here, const struct pool *pool)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < here->lane_count; i++) {
        unsigned lane = here->lanes[i];
        if (issue_users(lane) == 1 && is_usable(pool, pooled_on(here->context, lane)))
            here->lanes[kept++] = (uint16_t)lane;
        else
            issue_use(lane, -1);
    }
    here->lane_count = (uint16_t)kept;
    here->home_lane = here->conflicts = here->away = 0;
    here->changes = pool->changes;
}

unsigned pool_lanes_of(struct thread_context *here, unsigned spread)
{
    struct pool *pool = here->context->pool;
    uint32_t changes = __atomic_load_n(&pool->changes, __ATOMIC_ACQUIRE);
    if (__builtin_expect((here->lane_count >= spread || here->lane_count >= usable(pool)) && here->changes == changes, 1))
        return here->lane_count;
    lock_take(&guard_state.lock);
    if (here->changes != pool->changes)
        choose_anew(here, pool);
    while (here->lane_count < spread && here->lane_count < usable(pool)) {
        struct pooled *stream = least_used(pool, here, 1);
        if (stream && !stream->lane && !may_open(pool))
            stream = least_used(pool, here, 0);
        if (!stream || !open_lane(here->context, stream) || has_lane(here, stream))
            break;
        issue_use(stream->lane - 1u, 1);
        here->lanes[here->lane_count++] = (uint16_t)(stream->lane - 1);
    }
    lock_drop(&guard_state.lock);
    return here->lane_count;
}

enum { MANY_CONFLICTS = 12 };

static void move_to(struct thread_context *here, uint16_t lane)
{
    issue_use(here->lanes[0], -1);
    issue_use(lane, 1);
    here->lanes[0] = lane;
    here->conflicts = 0;
    here->away = 0;
}

/* The lowest of the lanes for default-stream work among those that are waited for; UINT16_MAX: none. */
static uint16_t lowest_waited(const struct order_plan *plan, unsigned domain)
{
    uint16_t lowest = UINT16_MAX;
    for (unsigned i = 0; i < plan->count; i++) {
        uint16_t lane = plan->waits[i].lane;
        if (issue_lanes[lane].users && guard_state.order.lanes[lane]->domain == domain && lane < lowest)
            lowest = lane;
    }
    return lowest;
}

void pool_gather(struct thread_context *here, const struct order_plan *plan)
{
    if (here->home_lane && ++here->away >= POOL_AWAY_AT_MOST) {
        if (pooled_on(here->context, here->home_lane - 1u))
            move_to(here, (uint16_t)(here->home_lane - 1));
        here->home_lane = 0;
    }
    if (!plan->count) {
        here->conflicts -= here->conflicts != 0;
        return;
    }
    uint16_t lane = lowest_waited(plan, here->context->domain - 1), mine = here->lanes[0];
    here->conflicts = (uint16_t)(here->conflicts + (lane != UINT16_MAX ? 2 : 0));
    if (here->conflicts < MANY_CONFLICTS || lane >= mine ||
        !is_usable(here->context->pool, pooled_on(here->context, lane))) /* with a higher one, that thread comes here */
        return;
    move_to(here, lane);
    if (!here->home_lane)
        here->home_lane = (uint16_t)(mine + 1);
}

void pool_thread_gone(struct thread_context *here)
{
    if (!here->lane_count && !here->own_lane)
        return;
    lock_take(&guard_state.lock);
    if (here->context->pool && here->context->uid == here->context_uid) { /* else its lanes went with it */
        for (unsigned i = 0; i < here->lane_count; i++)
            issue_use(here->lanes[i], -1);
        if (here->own_lane)
            lane_streams_close_unmarked(here->own_lane - 1u);
    }
    here->lane_count = here->own_lane = here->home_lane = here->measured = 0;
    lock_drop(&guard_state.lock);
}

void pool_context_gone(struct context *context)
{
    struct pool *pool = context->pool;
    if (!pool)
        return;
    unsigned domain = context->domain - 1;
    lock_take(&guard_state.lock);
    context->pool = NULL;
    repeat_rights_catch_up(&guard_state.order, NULL);
    promises_all_done(&guard_state.order, domain, guard_state.order.now);
    for (unsigned i = 0; i < guard_state.order.high; i++) {
        if (guard_state.order.lanes[i]->open && guard_state.order.lanes[i]->domain == domain) {
            memset(issue_lanes[i].mark, 0, sizeof issue_lanes[i].mark); /* events of the context */
            lane_streams_close_unmarked(i);
        }
    }
    domains_taken &= ~(1u << domain);
    lanes_taken -= pool->opened;
    retired_add(&gone, &pool->retired);
    lock_drop(&guard_state.lock);
}

void pool_after_fork(void)
{
    domains_taken = 0;
    lanes_taken = 0;
    retired_forget(&gone);
}
