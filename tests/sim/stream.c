/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: which one a handle means, and who waits for whom. The rule that everything rests on is in stream_order_after:
 * work on the legacy stream waits for all blocking streams of its context, per-thread ones included, and theirs for it.
 * Called by everything that puts work on a stream. All functions here are called with the lock held.
 */
#include <stdlib.h>

#include "tests/sim/sim.h"

static uint64_t next_id = 1;

struct stream *stream_new(struct context *ctx, enum stream_kind kind, int priority)
{
    struct stream *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->ctx = ctx;
    s->kind = kind;
    s->priority = priority;
    s->id = next_id++;
    s->next = ctx->streams;
    s->link = &ctx->streams;
    if (s->next)
        s->next->link = &s->next;
    ctx->streams = s;
    return s;
}

/* The tail, if it still runs, knows its stream no more. */
static void drop_tail(struct stream *s)
{
    if (s->tail)
        s->tail->stream = NULL;
    op_release(s->tail);
}

static void stream_free(struct stream *s)
{
    drop_tail(s);
    node_set_clear(&s->capture_deps);
    free(s);
}

static void leave_busy(struct stream *s)
{
    if (!s->link_busy)
        return;
    *s->link_busy = s->next_busy;
    if (s->next_busy)
        s->next_busy->link_busy = s->link_busy;
    s->link_busy = NULL;
}

/* Dead and idle: it goes. */
static void bury(struct stream *s)
{
    leave_busy(s);
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    stream_free(s);
}

void stream_retire(struct stream *s)
{
    capture_forget(s);
    s->dead = true;
    handle_remove(s);
    if (!s->ctx)
        stream_free(s);
    else if (!op_busy(s->tail))
        bury(s);
}

void stream_op_done(struct op *op)
{
    struct stream *s = op->stream;
    leave_busy(s);
    if (s->dead)
        bury(s);
}

/* The context is going. A live per-thread stream stays in its thread's list, without a context, until the thread ends. */
void streams_free(struct context *ctx)
{
    for (struct stream *s = ctx->streams, *next; s; s = next) {
        next = s->next;
        capture_forget(s);
        handle_remove(s);
        s->link_busy = NULL;
        if (s->kind == STREAM_PER_THREAD && !s->dead)
            s->ctx = NULL;
        else
            stream_free(s);
    }
    ctx->streams = ctx->busy = NULL;
}

static struct stream *per_thread(struct context *ctx)
{
    struct thread *t = thread_self();
    for (struct stream *s = t->own_streams; s; s = s->next_own)
        if (s->ctx == ctx)
            return s;
    struct stream *s = stream_new(ctx, STREAM_PER_THREAD, 0);
    s->next_own = t->own_streams;
    t->own_streams = s;
    return s;
}

CUresult stream_find(CUstream handle, struct stream **out)
{
    struct context *ctx;
    uintptr_t value = (uintptr_t)handle;
    if (value > 2) {
        if (!handle_is(handle, HANDLE_STREAM))
            return CUDA_ERROR_INVALID_HANDLE;
        *out = (struct stream *)handle;
        return CUDA_SUCCESS;
    }
    CUresult result = context_need(&ctx);
    if (result != CUDA_SUCCESS)
        return result;
    bool own = value == 2 || (value == 0 && thread_self()->twin);
    *out = own ? per_thread(ctx) : ctx->legacy;
    return CUDA_SUCCESS;
}

CUstream stream_handle(struct stream *s)
{
    return s->kind == STREAM_LEGACY ? CU_STREAM_LEGACY : s->kind == STREAM_PER_THREAD ? CU_STREAM_PER_THREAD : (CUstream)s;
}

static bool ordered_with_legacy(const struct stream *s)
{
    return s->kind != STREAM_NON_BLOCKING;
}

/* op is to run on s: after what s has, and after what s implicitly waits for. */
void stream_order_after(struct stream *s, struct op *op)
{
    op_after(op, s->tail);
    op_after(op, s->ctx->awaited);
    if (s->kind == STREAM_LEGACY) {
        for (struct stream *other = s->ctx->busy; other; other = other->next_busy)
            if (ordered_with_legacy(other))
                op_after(op, other->tail);
    } else if (ordered_with_legacy(s)) {
        op_after(op, s->ctx->legacy->tail);
    }
}

void stream_append(struct stream *s, struct op *op)
{
    drop_tail(s);
    s->tail = op_hold(op);
    op->stream = s;
    if (s->link_busy)
        return;
    s->next_busy = s->ctx->busy;
    s->link_busy = &s->ctx->busy;
    if (s->next_busy)
        s->next_busy->link_busy = &s->next_busy;
    s->ctx->busy = s;
}

CUresult stream_push(struct stream *s, struct work *w, struct op **held)
{
    CUresult result = s->kind == STREAM_LEGACY ? capture_legacy_use(s->ctx) : CUDA_SUCCESS;
    if (held)
        *held = NULL;
    module_load_over();
    if (result == CUDA_SUCCESS && s->capture)
        return capture_add(s, w);
    if (result != CUDA_SUCCESS) {
        work_clear(w);
        return result;
    }
    struct op *op = op_new(w);
    stream_order_after(s, op);
    queue_behind(s, op);
    stream_append(s, op);
    if (held)
        *held = op_hold(op);
    op_submit(op);
    return CUDA_SUCCESS;
}

/* Not for a stream that captures: there is nothing to wait for. */
CUresult stream_push_done(struct stream *s, struct work *w)
{
    struct op *op;
    CUresult result = stream_push(s, w, &op);
    if (op)
        op_wait(op);
    op_release(op);
    return result;
}

/* The legacy stream is as busy as the blocking streams are. */
bool stream_busy(struct stream *s)
{
    if (s->kind != STREAM_LEGACY)
        return op_busy(s->tail);
    for (const struct stream *other = s->ctx->busy; other; other = other->next_busy)
        if (ordered_with_legacy(other) && op_busy(other->tail))
            return true;
    return false;
}

void stream_synchronize(struct stream *s)
{
    struct work nothing = {.kind = WORK_NONE};
    struct op *op;
    if (s->kind == STREAM_LEGACY) { /* a marker that is not on the stream: it makes nobody wait but us */
        op = op_hold(op_new(&nothing));
        stream_order_after(s, op);
        op_submit(op);
    } else {
        op = op_hold(s->tail);
    }
    if (op)
        op_wait(op);
    op_release(op);
}
