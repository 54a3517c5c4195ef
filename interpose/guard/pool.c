/* SPDX-License-Identifier: Apache-2.0
 *
 * The streams and events that the guard keeps ready in each context. Called when a context becomes current, and by the
 * guard. Two threads may make the streams of one context at once: then the later ones go again.
 */
#include "interpose/guard/pool.h"

#include <errno.h>
#include <string.h>

#include "interpose/base/diag.h"
#include "interpose/base/memory.h"
#include "interpose/driver/driver.h"
#include "interpose/guard/claims.h"
#include "interpose/guard/guard.h"
#include "interpose/record/record.h"
#include "interpose/state/capture.h"

enum { EVENTS_READY = 32 };

static uint32_t domains_taken; /* bits */

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
        return memory_keep(sizeof *pool);
    pool->count = pool->legacy = 0;
    pool->events = 0;
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

/* ---- events ---- */

CUevent rails_event(struct context *context)
{
    struct pool *pool = context->pool;
    CUevent event = NULL;
    if (!pool) /* the context is gone */
        return NULL;
    lock_take(&pool->events_lock);
    if (pool->events)
        event = pool->event[--pool->events];
    lock_drop(&pool->events_lock);
    if (!event && (!REAL(cuEventCreate) || REAL(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS))
        return NULL;
    return event;
}

void rails_event_back(struct context *context, CUevent event)
{
    struct pool *pool = context->pool;
    if (!pool)
        return;
    lock_take(&pool->events_lock);
    int kept = pool->events < POOL_EVENTS;
    if (kept)
        pool->event[pool->events++] = event;
    lock_drop(&pool->events_lock);
}

static void make_events(struct context *context)
{
    CUevent event = NULL;
    for (int i = 0; i < EVENTS_READY; i++) {
        if (!REAL(cuEventCreate) || REAL(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
            return;
        rails_event_back(context, event);
    }
}

/* ---- lanes ---- */

static int make_stream(CUstream *stream, unsigned flags, int has_priority, int priority)
{
    CUresult result =
        has_priority ? REAL(cuStreamCreateWithPriority)(stream, flags, priority) : REAL(cuStreamCreate)(stream, flags);
    return result == CUDA_SUCCESS;
}

/* Locked. 0: another thread has made enough of them. */
static int add_lane(struct context *context, CUstream stream, uint32_t uid, unsigned wanted)
{
    struct pool *pool = context->pool;
    if (pool->count >= wanted)
        return 0;
    int lane = rails_open(LANE_DEFAULT, context, stream, uid, 0);
    if (lane < 0)
        return 0;
    pool->lanes[pool->count++] = (uint16_t)lane;
    return 1;
}

/* A stream that does not wait for the legacy stream by itself comes after what is there already. */
static void follow_legacy(struct context *context, CUstream stream)
{
    CUevent event = rails_event(context);
    if (event && REAL(cuEventRecord)(event, CU_STREAM_LEGACY) == CUDA_SUCCESS)
        REAL(cuStreamWaitEvent)(stream, event, 0);
    if (event)
        rails_event_back(context, event);
}

unsigned guard_make_lanes(struct context *context, unsigned count, unsigned flags, int has_priority, int priority)
{
    struct pool *pool = pool_of(context);
    if (!pool || pool->count >= count || capture_any() || !REAL(cuStreamCreate) || !REAL(cuEventRecord) ||
        !REAL(cuStreamWaitEvent) || !REAL(cuStreamSynchronize))
        return pool ? pool->count : 0;
    int saved = errno;
    if (!pool->count && !pool->events)
        make_events(context);
    while (pool->count < count) {
        CUstream stream = NULL;
        if (!make_stream(&stream, flags, has_priority, priority))
            break;
        if (flags & CU_STREAM_NON_BLOCKING)
            follow_legacy(context, stream);
        uint32_t uid = objects_own_stream(context, stream, (flags & CU_STREAM_NON_BLOCKING) != 0, priority);
        lock_take(&guard_state.lock);
        int added = add_lane(context, stream, uid, count);
        lock_drop(&guard_state.lock);
        if (!added) {
            REAL(cuStreamDestroy_v2)(stream);
            break;
        }
    }
    errno = saved;
    return pool->count;
}

int guard_has_lanes(const struct context *context)
{
    return context->pool && context->pool->count;
}

int pool_legacy_lane(struct context *context)
{
    struct pool *pool = context->pool;
    if (!pool->legacy) {
        int lane = rails_open(LANE_DEFAULT, context, CU_STREAM_LEGACY, context->legacy_uid, 1);
        if (pool->legacy && lane >= 0) /* the lock was given up: another thread was faster */
            rails_close_unmarked((unsigned)lane);
        else if (lane >= 0)
            pool->legacy = (uint16_t)(lane + 1);
    }
    return pool->legacy - 1;
}

/* One that an ended thread gave back may have work pending still, which the next thread has nothing to do with: of those
 * with as few users, the one whose work is oldest. */
static int is_better(uint16_t lane, uint16_t than)
{
    if (rails[lane].users != rails[than].users)
        return rails[lane].users < rails[than].users;
    return guard_state.order.lanes[lane]->last < guard_state.order.lanes[than]->last;
}

static uint16_t least_used(const struct pool *pool, const struct thread_context *here)
{
    uint16_t best = UINT16_MAX;
    for (unsigned i = 0; i < pool->count; i++) {
        uint16_t lane = pool->lanes[i];
        int mine = 0;
        for (unsigned k = 0; k < here->lane_count; k++)
            mine |= here->lanes[k] == lane;
        if (!mine && (best == UINT16_MAX || is_better(lane, best)))
            best = lane;
    }
    return best;
}

unsigned pool_lanes_of(struct thread_context *here, unsigned spread)
{
    const struct pool *pool = here->context->pool;
    if (__builtin_expect(here->lane_count >= spread, 1))
        return here->lane_count;
    lock_take(&guard_state.lock);
    while (here->lane_count < spread && here->lane_count < pool->count) {
        uint16_t lane = least_used(pool, here);
        if (lane == UINT16_MAX)
            break;
        rails_use(lane, 1);
        here->lanes[here->lane_count++] = lane;
    }
    lock_drop(&guard_state.lock);
    return here->lane_count;
}

enum { MANY_CONFLICTS = 32 };

static void move_to(struct thread_context *here, uint16_t lane)
{
    rails_use(here->lanes[0], -1);
    rails_use(lane, 1);
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
        if (rails[lane].users && guard_state.order.lanes[lane]->domain == domain && lane < lowest)
            lowest = lane;
    }
    return lowest;
}

void pool_gather(struct thread_context *here, const struct order_plan *plan)
{
    if (here->home_lane && ++here->away >= POOL_AWAY_AT_MOST) {
        move_to(here, (uint16_t)(here->home_lane - 1));
        here->home_lane = 0;
    }
    if (!plan->count) {
        here->conflicts -= here->conflicts != 0;
        return;
    }
    uint16_t lane = lowest_waited(plan, here->context->domain - 1), mine = here->lanes[0];
    here->conflicts = (uint16_t)(here->conflicts + (lane != UINT16_MAX ? 2 : 0));
    if (here->conflicts < MANY_CONFLICTS || lane >= mine) /* with a higher one, that thread comes here */
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
            rails_use(here->lanes[i], -1);
        if (here->own_lane)
            rails_close_unmarked(here->own_lane - 1u);
    }
    here->lane_count = here->own_lane = here->home_lane = 0;
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
    order_catch_up(&guard_state.order, NULL);
    order_all_done(&guard_state.order, domain, guard_state.order.now);
    for (unsigned i = 0; i < guard_state.order.high; i++) {
        if (guard_state.order.lanes[i]->open && guard_state.order.lanes[i]->domain == domain) {
            memset(rails[i].mark, 0, sizeof rails[i].mark); /* events of the context */
            rails_close_unmarked(i);
        }
    }
    domains_taken &= ~(1u << domain);
    retired_add(&gone, &pool->retired);
    lock_drop(&guard_state.lock);
}

void guard_memory_gone(struct memory *memory)
{
    lock_take(&guard_state.lock);
    order_memory_gone(&guard_state.order, memory);
    lock_drop(&guard_state.lock);
}

void pool_after_fork(void)
{
    domains_taken = 0;
    retired_forget(&gone);
}

void guard_each_lane(struct context *context, void (*each)(CUstream lane, void *data), void *data)
{
    const struct pool *pool = context->pool;
    for (unsigned i = 0; pool && i < pool->count; i++)
        each(rails[pool->lanes[i]].handle, data);
}
