/* SPDX-License-Identifier: Apache-2.0
 *
 * The events that the guard keeps ready in each context, and takes back when it needs them no more. Called by the guard
 * where it records one, with or without its lock. No event of a context that is gone may come back.
 */
#include "interpose/guard/carry_out/spare_events.h"

#include "interpose/driver/driver.h"
#include "interpose/guard/carry_out/pool.h"

enum { EVENTS_READY = 32 };

CUevent spare_events_take(struct context *context)
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

void spare_events_give_back(struct context *context, CUevent event)
{
    struct pool *pool = context->pool;
    if (!pool)
        return;
    lock_take(&pool->events_lock);
    int kept = pool->events < POOL_EVENTS;
    if (kept)
        pool->event[pool->events++] = event;
    lock_drop(&pool->events_lock);
    if (!kept && REAL(cuEventDestroy_v2))
        REAL(cuEventDestroy_v2)(event);
}

void spare_events_make(struct context *context)
{
    CUevent event = NULL;
    for (int i = 0; i < EVENTS_READY; i++) {
        if (!REAL(cuEventCreate) || REAL(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
            return;
        spare_events_give_back(context, event);
    }
}
