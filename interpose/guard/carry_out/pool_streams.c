/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the streams of a context's pool: how many, and when. Called when a context becomes current, and by policies. Two
 * threads may make the streams of one context at once: then the later ones go again. Must not hold the guard's lock across
 * a driver call.
 */
#include "interpose/guard/carry_out/pool_streams.h"

#include <errno.h>

#include "interpose/base/lock.h"
#include "interpose/driver/driver.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/carry_out/spare_events.h"
#include "interpose/guard/decide/queue_share.h"
#include "interpose/record/device/device_times.h"
#include "interpose/state/capture.h"
#include "interpose/state/streams.h"

static int make_stream(CUstream *stream, unsigned flags, int has_priority, int priority)
{
    CUresult result =
        has_priority ? REAL(cuStreamCreateWithPriority)(stream, flags, priority) : REAL(cuStreamCreate)(stream, flags);
    return result == CUDA_SUCCESS;
}

/* Locked. 0: another thread has made enough of them. */
static int add_stream(struct pool *pool, CUstream stream, uint32_t uid, unsigned wanted)
{
    if (pool->count >= wanted)
        return 0;
    if (pool->opened) /* threads that share a lane need no longer do so */
        pool_changed(pool);
    pool->at[pool->count++] = (struct pooled){.handle = stream, .uid = uid};
    return 1;
}

/* A stream that does not wait for the legacy stream by itself comes after what is there already. */
static void follow_legacy(struct context *context, CUstream stream)
{
    CUevent event = spare_events_take(context);
    if (event && REAL(cuEventRecord)(event, CU_STREAM_LEGACY) == CUDA_SUCCESS)
        REAL(cuStreamWaitEvent)(stream, event, 0);
    if (event)
        spare_events_give_back(context, event);
}

unsigned pool_streams_make(struct context *context, unsigned count, unsigned flags, int has_priority, int priority)
{
    struct pool *pool = pool_of(context);
    if (!pool || pool->count >= count || context->lanes_refused || capture_any() || !REAL(cuStreamCreate) ||
        !REAL(cuEventRecord) || !REAL(cuStreamWaitEvent) || !REAL(cuStreamSynchronize))
        return pool ? pool->count : 0;
    int saved = errno;
    if (!pool->count && !pool->events)
        spare_events_make(context);
    while (pool->count < count) {
        CUstream stream = NULL;
        if (!make_stream(&stream, flags, has_priority, priority)) {
            context->lanes_refused = pool->count != 0;
            break;
        }
        if (flags & CU_STREAM_NON_BLOCKING)
            follow_legacy(context, stream);
        pool->apart |= (flags & CU_STREAM_NON_BLOCKING) != 0;
        if (pool->attributes)
            ASK(REAL(cuStreamCopyAttributes)(stream, pool->at[0].handle));
        uint32_t uid = streams_own(context, stream, (flags & CU_STREAM_NON_BLOCKING) != 0, priority);
        lock_take(&guard_state.lock);
        int added = add_stream(pool, stream, uid, count);
        lock_drop(&guard_state.lock);
        if (!added) {
            REAL(cuStreamDestroy_v2)(stream);
            break;
        }
    }
    if (pool->count)
        device_times_ready(context);
    errno = saved;
    return pool->count;
}

/* So many may have work, as things are. */
static unsigned most_lanes(const struct pool *pool)
{
    unsigned lanes = __atomic_load_n(&pool->crowd.lanes, __ATOMIC_RELAXED), most = lanes ? lanes : queue_share_most_lanes();
    return most < POOL_LANES ? most : POOL_LANES;
}

unsigned pool_streams_wanted(const struct thread *thread, struct context *context, unsigned spread)
{
    struct pool *pool = pool_of(context);
    uint32_t first = 0;
    if (!pool)
        return 1;
    if (__atomic_compare_exchange_n(&pool->first_thread, &first, thread->uid, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        first = thread->uid;
    return spread > 1 || first != thread->uid ? most_lanes(pool) : 1;
}

int pool_streams_are_made(const struct context *context)
{
    return context->pool && context->pool->count;
}

int pool_streams_thread_has(struct thread *thread, struct context *context)
{
    const struct thread_context *here = thread_in(thread, context);
    return here && here->lane_count;
}

void pool_streams_each(struct context *context, void (*each)(CUstream lane, void *data), void *data)
{
    struct pool *pool = context->pool;
    if (pool)
        pool->attributes = 1;
    for (unsigned i = 0; pool && i < pool->count; i++)
        each(pool->at[i].handle, data);
}
