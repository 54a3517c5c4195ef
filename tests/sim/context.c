/* SPDX-License-Identifier: Apache-2.0
 *
 * cuInit, contexts, and what belongs to a thread: its stack of current contexts and its per-thread streams. Every other
 * file asks here for the current context. Must never wait when a thread ends: its work goes on without it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

static __thread struct thread self;
static pthread_key_t thread_end;
static pthread_once_t thread_once = PTHREAD_ONCE_INIT;
static uint64_t next_thread = 1, next_context = 1;
static bool initialised, forked;
static struct context *primary[MAX_DEVICES];
static unsigned int primary_flags[MAX_DEVICES];

static void thread_ended(void *unused)
{
    (void)unused;
    sim_lock();
    for (struct stream *s = self.own_streams, *next; s; s = next) {
        next = s->next_own;
        if (s->ctx && s->used_pool && op_busy(s->tail) && knob_thread_end_hangs())
            s->ctx->hangs = true;
        stream_retire(s);
    }
    self.own_streams = NULL;
    self.registered = false;
    sim_unlock();
}

static void in_child(void)
{
    forked = __atomic_load_n(&initialised, __ATOMIC_RELAXED);
    self.own_streams = NULL;
    engine_after_fork();
}

static void thread_setup(void)
{
    pthread_key_create(&thread_end, thread_ended);
    pthread_atfork(NULL, NULL, in_child);
}

struct thread *thread_self(void)
{
    if (!self.registered) {
        pthread_once(&thread_once, thread_setup);
        if (!self.id)
            self.id = __atomic_fetch_add(&next_thread, 1, __ATOMIC_RELAXED);
        self.registered = true;
        pthread_setspecific(thread_end, &self);
    }
    return &self;
}

bool sim_initialised(void)
{
    return __atomic_load_n(&initialised, __ATOMIC_ACQUIRE) && !forked;
}
int device_count(void)
{
    return knob_devices();
}

CUresult impl_cuInit(unsigned int Flags)
{
    if (Flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (forked)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!device_count())
        return CUDA_ERROR_NO_DEVICE;
    __atomic_store_n(&initialised, true, __ATOMIC_RELEASE);
    return CUDA_SUCCESS;
}

struct context *context_current(void)
{
    const struct thread *t = thread_self();
    return t->depth ? t->stack[t->depth - 1] : NULL;
}

CUresult context_need(struct context **ctx)
{
    *ctx = context_current();
    return handle_is(*ctx, HANDLE_CONTEXT) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

void context_synchronize(struct context *ctx)
{
    size_t count = 0, capacity = 0;
    for (struct stream *s = ctx->busy; s; s = s->next_busy)
        capacity++;
    struct op **held = calloc(capacity + 1, sizeof *held);
    if (!held)
        abort();
    for (struct stream *s = ctx->busy; s; s = s->next_busy)
        if (op_busy(s->tail))
            held[count++] = op_hold(s->tail);
    for (size_t i = 0; i < count; i++) {
        op_wait(held[i]);
        op_release(held[i]);
    }
    free(held);
}

static void context_begin(struct context *ctx, int device, unsigned int flags)
{
    ctx->device = device;
    ctx->flags = flags;
    ctx->hangs = false;
    ctx->id = next_context++;
    ctx->limits[CU_LIMIT_STACK_SIZE] = 1024;
    ctx->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 7 << 20;
    ctx->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20;
    ctx->legacy = stream_new(ctx, STREAM_LEGACY, 0);
    handle_add(ctx, HANDLE_CONTEXT);
}

static struct context *context_new(void)
{
    struct context *ctx = calloc(1, sizeof *ctx);
    if (!ctx)
        abort();
    return ctx;
}

/* Locked. Its streams and its memory are gone afterwards. */
static void context_end(struct context *ctx)
{
    context_synchronize(ctx);
    handle_remove(ctx);
    memory_free_context(ctx);
    streams_free(ctx);
    op_release(ctx->awaited);
    ctx->awaited = NULL;
}

static void destroy(struct context *ctx)
{
    struct thread *t = thread_self();
    context_end(ctx);
    if (t->depth && t->stack[t->depth - 1] == ctx)
        t->depth--;
    free(ctx);
}

static CUresult create(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    struct thread *t = thread_self();
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    if (dev < 0 || dev >= device_count())
        return CUDA_ERROR_INVALID_DEVICE;
    if (t->depth == CONTEXT_STACK)
        return CUDA_ERROR_OUT_OF_MEMORY;
    sim_lock();
    struct context *ctx = context_new();
    context_begin(ctx, dev, flags);
    t->stack[t->depth++] = ctx;
    sim_unlock();
    *pctx = (CUcontext)ctx;
    return CUDA_SUCCESS;
}

CUresult impl_cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    return create(pctx, flags, dev);
}
CUresult impl_cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
    return create(pctx, flags, dev);
}

CUresult impl_cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *params, int count, unsigned int flags, CUdevice dev)
{
    return params || count ? CUDA_ERROR_NOT_SUPPORTED : create(pctx, flags, dev);
}

CUresult impl_cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *params, unsigned int flags, CUdevice dev)
{
    return params && (params->numExecAffinityParams || params->cigParams) ? CUDA_ERROR_NOT_SUPPORTED
                                                                          : create(pctx, flags, dev);
}

CUresult impl_cuCtxDestroy_v2(CUcontext handle)
{
    struct context *ctx = (struct context *)handle;
    CUresult result = CUDA_ERROR_INVALID_CONTEXT;
    sim_lock();
    if (handle_is(ctx, HANDLE_CONTEXT) && !ctx->primary) {
        destroy(ctx);
        result = CUDA_SUCCESS;
    }
    sim_unlock();
    return result;
}

CUresult impl_cuCtxDestroy(CUcontext ctx)
{
    return impl_cuCtxDestroy_v2(ctx);
}

CUresult impl_cuCtxAttach(CUcontext *pctx, unsigned int flags)
{
    struct context *ctx;
    if (!pctx || flags)
        return CUDA_ERROR_INVALID_VALUE;
    sim_lock();
    CUresult result = context_need(&ctx);
    if (result == CUDA_SUCCESS) {
        ctx->retained++;
        *pctx = (CUcontext)ctx;
    }
    sim_unlock();
    return result;
}

CUresult impl_cuCtxDetach(CUcontext handle)
{
    struct context *ctx = (struct context *)handle;
    CUresult result = CUDA_ERROR_INVALID_CONTEXT;
    sim_lock();
    if (handle_is(ctx, HANDLE_CONTEXT) && !ctx->primary && ctx == context_current()) {
        if (ctx->retained)
            ctx->retained--;
        else
            destroy(ctx);
        result = CUDA_SUCCESS;
    }
    sim_unlock();
    return result;
}

static CUresult with_live(CUcontext ctx)
{
    sim_lock();
    bool live = handle_is(ctx, HANDLE_CONTEXT);
    sim_unlock();
    return live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult impl_cuCtxPushCurrent_v2(CUcontext ctx)
{
    struct thread *t = thread_self();
    CUresult result = with_live(ctx);
    if (result == CUDA_SUCCESS && t->depth == CONTEXT_STACK)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        t->stack[t->depth++] = (struct context *)ctx;
    return result;
}

CUresult impl_cuCtxPopCurrent_v2(CUcontext *pctx)
{
    struct thread *t = thread_self();
    if (!t->depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    t->depth--;
    if (pctx)
        *pctx = (CUcontext)t->stack[t->depth];
    return CUDA_SUCCESS;
}

CUresult impl_cuCtxPushCurrent(CUcontext ctx)
{
    return impl_cuCtxPushCurrent_v2(ctx);
}
CUresult impl_cuCtxPopCurrent(CUcontext *pctx)
{
    return impl_cuCtxPopCurrent_v2(pctx);
}

CUresult impl_cuCtxSetCurrent(CUcontext ctx)
{
    struct thread *t = thread_self();
    if (!ctx) {
        t->depth -= t->depth != 0;
        return CUDA_SUCCESS;
    }
    CUresult result = with_live(ctx);
    if (result == CUDA_SUCCESS) {
        t->depth += t->depth == 0;
        t->stack[t->depth - 1] = (struct context *)ctx;
    }
    return result;
}

CUresult impl_cuCtxGetCurrent(CUcontext *pctx)
{
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    *pctx = (CUcontext)context_current();
    return CUDA_SUCCESS;
}

CUresult impl_cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
    if (!pctx)
        return CUDA_ERROR_INVALID_VALUE;
    if (dev < 0 || dev >= device_count())
        return CUDA_ERROR_INVALID_DEVICE;
    sim_lock();
    if (!primary[dev])
        primary[dev] = context_new();
    primary[dev]->primary = true;
    if (primary[dev]->retained++ == 0)
        context_begin(primary[dev], dev, primary_flags[dev]);
    *pctx = (CUcontext)primary[dev];
    sim_unlock();
    return CUDA_SUCCESS;
}

/* The object stays, so that a context retained again has the handle it had. */
static bool active(CUdevice dev)
{
    return primary[dev] && primary[dev]->retained;
}

static CUresult leave_primary(CUdevice dev, bool all)
{
    CUresult result = CUDA_SUCCESS;
    if (dev < 0 || dev >= device_count())
        return CUDA_ERROR_INVALID_DEVICE;
    sim_lock();
    struct context *ctx = primary[dev];
    if (!active(dev)) {
        result = all ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    } else if (all || --ctx->retained == 0) {
        ctx->retained = 0;
        context_end(ctx);
    }
    sim_unlock();
    return result;
}

CUresult impl_cuDevicePrimaryCtxRelease(CUdevice dev)
{
    return leave_primary(dev, false);
}
CUresult impl_cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
    return leave_primary(dev, false);
}
CUresult impl_cuDevicePrimaryCtxReset(CUdevice dev)
{
    return leave_primary(dev, true);
}
CUresult impl_cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
    return leave_primary(dev, true);
}

CUresult impl_cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
    if (dev < 0 || dev >= device_count())
        return CUDA_ERROR_INVALID_DEVICE;
    sim_lock();
    primary_flags[dev] = flags;
    if (active(dev))
        primary[dev]->flags = flags;
    sim_unlock();
    return CUDA_SUCCESS;
}

CUresult impl_cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags)
{
    return impl_cuDevicePrimaryCtxSetFlags_v2(dev, flags);
}

CUresult impl_cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *is_active)
{
    if (!flags || !is_active)
        return CUDA_ERROR_INVALID_VALUE;
    if (dev < 0 || dev >= device_count())
        return CUDA_ERROR_INVALID_DEVICE;
    sim_lock();
    *flags = primary_flags[dev];
    *is_active = active(dev);
    sim_unlock();
    return CUDA_SUCCESS;
}
