/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: the last operation that they were recorded behind. A wait takes the record as it is at the call; a later record
 * does not change it. Called by programs.
 */
#include <stdlib.h>

#include "tests/sim/sim.h"

CUresult impl_cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
    struct context *ctx;
    unsigned int known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if (!phEvent || (Flags & ~known) || ((Flags & CU_EVENT_INTERPROCESS) && !(Flags & CU_EVENT_DISABLE_TIMING)))
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = context_need(&ctx);
    if (result == CUDA_SUCCESS) {
        struct event *e = calloc(1, sizeof *e);
        if (!e)
            abort();
        e->flags = Flags;
        handle_add(e, HANDLE_EVENT);
        *phEvent = (CUevent)e;
    }
    sim_unlock();
    return result;
}

CUresult impl_cuEventDestroy_v2(CUevent hEvent)
{
    struct event *e = (struct event *)hEvent;
    CUresult result = CUDA_ERROR_INVALID_HANDLE;
    sim_lock();
    if (handle_is(e, HANDLE_EVENT)) {
        handle_remove(e);
        op_release(e->op);
        node_set_clear(&e->capture_deps);
        free(e);
        result = CUDA_SUCCESS;
    }
    sim_unlock();
    return result;
}

CUresult impl_cuEventDestroy(CUevent hEvent)
{
    return impl_cuEventDestroy_v2(hEvent);
}

/* Locked. */
static CUresult find_both(CUevent hEvent, CUstream hStream, struct event **e, struct stream **s)
{
    if (!handle_is(hEvent, HANDLE_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    *e = (struct event *)hEvent;
    return stream_find(hStream, s);
}

void event_record_behind(struct event *e, struct op *held)
{
    op_release(e->op);
    e->op = held;
    e->generation++;
    e->capture_id = 0;
    node_set_clear(&e->capture_deps);
}

static CUresult record(struct event *e, struct stream *s)
{
    struct work nothing = {.kind = WORK_NONE};
    struct op *op;
    if (s->capture)
        return capture_record(s, e);
    CUresult result = stream_push(s, &nothing, &op);
    if (result != CUDA_SUCCESS)
        return result;
    event_record_behind(e, op);
    return CUDA_SUCCESS;
}

CUresult impl_cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
    struct event *e;
    struct stream *s;
    if (flags & ~(unsigned int)CU_EVENT_RECORD_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = find_both(hEvent, hStream, &e, &s);
    if (result == CUDA_SUCCESS && s->capture && flags)
        result = capture_add(s, &(struct work){.kind = WORK_RECORD, .event = e});
    else if (result == CUDA_SUCCESS)
        result = record(e, s);
    sim_unlock();
    return result;
}

CUresult impl_cuEventRecord(CUevent hEvent, CUstream hStream)
{
    return impl_cuEventRecordWithFlags(hEvent, hStream, 0);
}

CUresult impl_cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
    struct event *e;
    struct stream *s;
    struct work nothing = {.kind = WORK_NONE};
    if (Flags & ~(unsigned int)CU_EVENT_WAIT_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = find_both(hEvent, hStream, &e, &s);
    if (result == CUDA_SUCCESS && s->kind == STREAM_LEGACY)
        result = capture_legacy_use(s->ctx);
    if (result == CUDA_SUCCESS && s->capture && Flags)
        result = capture_add(s, &(struct work){.kind = WORK_AWAIT, .event = e});
    else if (result == CUDA_SUCCESS && (s->capture || e->capture_id))
        result = capture_wait(s, e);
    else if (result == CUDA_SUCCESS) {
        struct op *op = op_new(&nothing);
        stream_order_after(s, op);
        op_after(op, e->op);
        queue_behind(s, op);
        stream_append(s, op);
        op_submit(op);
    }
    sim_unlock();
    return result;
}

/* Locked. */
static CUresult find_context_and(CUcontext hCtx, CUevent hEvent)
{
    if (!handle_is(hCtx, HANDLE_CONTEXT))
        return CUDA_ERROR_INVALID_CONTEXT;
    return handle_is(hEvent, HANDLE_EVENT) ? capture_any((struct context *)hCtx) : CUDA_ERROR_INVALID_HANDLE;
}

/* Behind all that any stream of the context has. */
CUresult impl_cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent)
{
    struct work nothing = {.kind = WORK_NONE};
    sim_lock();
    CUresult result = find_context_and(hCtx, hEvent);
    if (result == CUDA_SUCCESS) {
        struct op *op = op_new(&nothing);
        for (struct stream *s = ((struct context *)hCtx)->busy; s; s = s->next_busy)
            op_after(op, s->tail);
        event_record_behind((struct event *)hEvent, op_hold(op));
        op_submit(op);
    }
    sim_unlock();
    return result;
}

CUresult impl_cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent)
{
    struct work nothing = {.kind = WORK_NONE};
    sim_lock();
    CUresult result = find_context_and(hCtx, hEvent);
    if (result == CUDA_SUCCESS) {
        struct context *ctx = (struct context *)hCtx;
        struct op *op = op_new(&nothing);
        op_after(op, ctx->awaited);
        op_after(op, ((struct event *)hEvent)->op);
        op_release(ctx->awaited);
        ctx->awaited = op_hold(op);
        op_submit(op);
    }
    sim_unlock();
    return result;
}

/* Locked: an event that is in a capture cannot be looked at, and looking at others is "unsafe" during one. */
static CUresult may_observe(const struct event *e)
{
    if (!handle_is(e, HANDLE_EVENT))
        return CUDA_ERROR_INVALID_HANDLE;
    return e->capture_id ? capture_observe_event(e) : capture_unsafe();
}

CUresult impl_cuEventQuery(CUevent hEvent)
{
    const struct event *e = (struct event *)hEvent;
    sim_lock();
    CUresult result = may_observe(e);
    if (result == CUDA_SUCCESS && op_busy(e->op))
        result = CUDA_ERROR_NOT_READY;
    sim_unlock();
    return result;
}

CUresult impl_cuEventSynchronize(CUevent hEvent)
{
    const struct event *e = (struct event *)hEvent;
    sim_lock();
    CUresult result = may_observe(e);
    if (result == CUDA_SUCCESS && e->op)
        op_wait(e->op);
    sim_unlock();
    return result;
}

CUresult impl_cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    const struct event *a = (struct event *)hStart, *b = (struct event *)hEnd;
    CUresult result = CUDA_SUCCESS;
    if (!pMilliseconds)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    if (!handle_is(a, HANDLE_EVENT) || !handle_is(b, HANDLE_EVENT) || !a->op || !b->op ||
        ((a->flags | b->flags) & CU_EVENT_DISABLE_TIMING))
        result = CUDA_ERROR_INVALID_HANDLE;
    else if (!a->op->done || !b->op->done)
        result = CUDA_ERROR_NOT_READY;
    else
        *pMilliseconds = (float)((double)(int64_t)(b->op->finished_ns - a->op->finished_ns) / 1e6);
    sim_unlock();
    return result;
}

CUresult impl_cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
    return impl_cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd);
}
