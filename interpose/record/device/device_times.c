/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples how long operations take on the device. Called by the wrappers around the real call, only where
 * PTDS_DEVICE_TIMES=sampled. Never touches more than one operation in a hundred of a thread's, fewer where operations are
 * so short that the events would cost more than 1 % of the device's time; never inside a capture, on a green context, or
 * for the synchronous forms, whose return already waits. Must never wait for the device: a sample that has not ended is
 * asked about again at a later call, and given up where none comes.
 */
#include "interpose/record/device/device_times.h"

#include <errno.h>

#include "interpose/base/clock.h"
#include "interpose/base/floats.h"
#include "interpose/base/pages.h"
#include "interpose/driver/driver.h"
#include "interpose/env/env.h"
#include "interpose/record/append.h"
#include "interpose/record/device/device_cupti.h"
#include "interpose/record/file/define.h"
#include "interpose/state/capture.h"
#include "interpose/state/contexts.h"

#define PAIRS 8u               /* samples that a thread may have under way in a context */
#define AT_LEAST 100u          /* operations of which at most one is touched */
#define AT_MOST 100000u        /* never fewer than one of so many */
#define PAIR_NS 3300u          /* device time that a pair of events takes (measured on an H200) */
#define COLLECT_EVERY 16u      /* calls between questions whether a sample has ended */
#define BASE_NS 2000000000u    /* elapsed times are floats: after so long a new base, for their precision */
#define BASE_PATIENCE_NS 50000 /* the host looks that long for the end of an event on an idle stream */

struct device_sample {
    CUevent start, end;
    uint64_t enter;
    uint32_t thread; /* uid: the pool may have gone to another thread since */
};

/* The samples of a thread in a context; after the thread's end they are the next thread's there. */
struct device_pool {
    struct device_sample pair[PAIRS];
    uint32_t made, first, pending; /* a ring: `pending` from `first` on are under way */
    uint32_t refused;              /* the driver said no once: no more here */
    uint32_t countdown, calls, every;
    uint64_t random;
};

/* A context's event whose moment the host knows within bounds. */
struct device_base {
    CUevent event;
    CUstream stream;
    uint32_t id;   /* of the last DEVICE_BASE record; 0: no base yet */
    uint32_t busy; /* one thread at a time uses it; others come back later */
    uint32_t refused;
    uint64_t made_ns;
};

uint32_t device_times_on;
static uint32_t base_ids;

static void start_sampling(void)
{
    int can = REAL(cuEventCreate) && REAL(cuEventRecord) && REAL(cuEventQuery) && REAL(cuStreamCreate) &&
              REAL(cuEventElapsedTime);
    if (can)
        __atomic_store_n(&device_times_on, ENV_DEVICE_TIMES_SAMPLED, __ATOMIC_RELEASE);
}

void device_times_start(void)
{
    enum env_device_times wish = env_get()->device_times;
    if (wish == ENV_DEVICE_TIMES_CUPTI && device_cupti_start())
        __atomic_store_n(&device_times_on, wish, __ATOMIC_RELEASE);
    if (wish == ENV_DEVICE_TIMES_SAMPLED)
        start_sampling();
}

void device_times_after_fork(void)
{
    device_times_on = 0;
}

/* ---- the base ---- */

static int make_base(struct device_base *base)
{
    if (base->event)
        return 1;
    base->refused = REAL(cuStreamCreate)(&base->stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
                    REAL(cuEventCreate)(&base->event, CU_EVENT_DEFAULT) != CUDA_SUCCESS;
    return !base->refused;
}

/* Marks a moment on the device and reads the host's clock on both sides of it. The stream has nothing else on it. */
static void place_base(struct device_base *base, const struct context *context)
{
    struct ptds_rec_DEVICE_BASE record = {.context = context->uid, .source = PTDS_DEVICE_EVENTS};
    uint64_t began = clock_nanoseconds(CLOCK_MONOTONIC), now;
    base->id = 0;
    record.earliest = clock_ticks();
    if (REAL(cuEventRecord)(base->event, base->stream) != CUDA_SUCCESS) {
        base->refused = 1;
        return;
    }
    CUresult result;
    do {
        result = REAL(cuEventQuery)(base->event);
        now = clock_nanoseconds(CLOCK_MONOTONIC);
    } while (result == CUDA_ERROR_NOT_READY && now - began < BASE_PATIENCE_NS);
    record.latest = clock_ticks();
    if (result != CUDA_SUCCESS)
        return; /* a busy device; the next sample tries again */
    record.id = __atomic_add_fetch(&base_ids, 1, __ATOMIC_RELAXED);
    if (define(PTDS_REC_DEVICE_BASE, &record, sizeof record, NULL, 0))
        base->id = record.id;
    base->made_ns = now;
}

static struct device_base *base_of(struct context *context)
{
    struct device_base *base = __atomic_load_n(&context->device_base, __ATOMIC_ACQUIRE), *none = NULL;
    if (base)
        return base;
    base = pages_keep(sizeof *base);
    if (base && !__atomic_compare_exchange_n(&context->device_base, &none, base, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        base = none;
    return base;
}

/* The context's base, for this thread alone until release_base; NULL: another thread has it, or the driver gives none. */
static struct device_base *take_base(struct context *context)
{
    struct device_base *base = base_of(context);
    if (!base || base->refused || __atomic_exchange_n(&base->busy, 1, __ATOMIC_ACQUIRE))
        return NULL;
    if (make_base(base) && (!base->id || clock_nanoseconds(CLOCK_MONOTONIC) - base->made_ns > BASE_NS))
        place_base(base, context);
    if (base->id)
        return base;
    __atomic_store_n(&base->busy, 0, __ATOMIC_RELEASE);
    return NULL;
}

static void release_base(struct device_base *base)
{
    __atomic_store_n(&base->busy, 0, __ATOMIC_RELEASE);
}

void device_times_ready(struct context *context)
{
    struct device_base *base = device_times_on == ENV_DEVICE_TIMES_SAMPLED ? base_of(context) : NULL;
    if (!base || base->refused || __atomic_exchange_n(&base->busy, 1, __ATOMIC_ACQUIRE))
        return;
    make_base(base);
    release_base(base);
}

/* ---- collecting ---- */

static int after_base(const struct device_base *base, CUevent event, int64_t *ns)
{
    float ms = 0;
    const struct floats floats = floats_hold();
    int known = REAL(cuEventElapsedTime)(&ms, base->event, event) == CUDA_SUCCESS;
    *ns = (int64_t)((double)ms * 1e6);
    floats_back(&floats);
    return known;
}

/* One in so many that the events' own device time stays below 1 %, by how long the work takes. */
static void adapt(struct device_pool *pool, int64_t ns)
{
    uint64_t every = 100u * PAIR_NS / (uint64_t)(ns > 10 ? ns : 10);
    every = every < AT_LEAST ? AT_LEAST : every > AT_MOST ? AT_MOST : every;
    pool->every = (uint32_t)((pool->every * UINT64_C(7) + every) / 8);
    if (pool->every < AT_LEAST)
        pool->every = AT_LEAST;
}

static void write_sample(struct thread *thread, const struct device_base *base, struct device_pool *pool,
                         const struct device_sample *sample)
{
    int64_t start = 0, end = 0;
    if (!after_base(base, sample->start, &start) || !after_base(base, sample->end, &end))
        return;
    adapt(pool, end - start);
    struct ptds_rec_DEVICE_TIME *record = append_reserve(thread, PTDS_REC_DEVICE_TIME, sizeof *record);
    if (!record)
        return;
    record->enter = sample->enter;
    record->start = (uint64_t)start;
    record->end = (uint64_t)end;
    record->thread = sample->thread;
    record->base = base->id;
    append_commit(thread);
}

static void collect(struct thread *thread, struct context *context, struct device_pool *pool)
{
    struct device_sample *oldest = &pool->pair[pool->first];
    CUresult result = REAL(cuEventQuery)(oldest->end);
    if (result == CUDA_ERROR_NOT_READY)
        return;
    struct device_base *base = result == CUDA_SUCCESS ? take_base(context) : NULL;
    if (result == CUDA_SUCCESS && !base && !context->device_base->refused)
        return; /* later */
    if (base) {
        write_sample(thread, base, pool, oldest);
        release_base(base);
    }
    pool->first = (pool->first + 1) % PAIRS;
    pool->pending--;
}

/* ---- sampling ---- */

static int is_device_work(const struct call *C)
{
    return C->op == PTDS_OP_LAUNCH || C->op == PTDS_OP_COPY || C->op == PTDS_OP_MEMSET || C->op == PTDS_OP_GRAPH_LAUNCH;
}

/* Between `every` and twice that, so that a loop's same call is not always the one. */
static uint32_t next_countdown(struct device_pool *pool)
{
    pool->random = pool->random * 6364136223846793005u + 1442695040888963407u;
    return pool->every + (uint32_t)((pool->random >> 33) % pool->every);
}

static struct device_pool *pool_of(struct thread *thread, struct context *context)
{
    struct thread_context *here = thread_in(thread, context);
    if (!here)
        return NULL;
    if (!here->device_pool && (here->device_pool = pages_keep(sizeof *here->device_pool))) {
        here->device_pool->every = AT_LEAST;
        here->device_pool->random = thread->uid;
        here->device_pool->countdown = next_countdown(here->device_pool);
    }
    return here->device_pool;
}

static struct device_sample *free_pair(struct device_pool *pool)
{
    if (pool->pending == PAIRS || pool->refused)
        return NULL;
    struct device_sample *sample = &pool->pair[(pool->first + pool->pending) % PAIRS];
    if (!sample->end) {
        pool->refused = REAL(cuEventCreate)(&sample->start, CU_EVENT_DEFAULT) != CUDA_SUCCESS ||
                        REAL(cuEventCreate)(&sample->end, CU_EVENT_DEFAULT) != CUDA_SUCCESS;
    }
    return pool->refused ? NULL : sample;
}

static void begin_sample(struct call *C, struct device_pool *pool)
{
    struct device_sample *sample = free_pair(pool);
    pool->countdown = next_countdown(pool);
    if (!sample || REAL(cuEventRecord)(sample->start, C->target) != CUDA_SUCCESS)
        return;
    sample->enter = C->enter;
    sample->thread = C->thread->uid;
    C->sample = sample;
    C->sample_pool = pool;
}

/* The thread's current context, if its work may be looked at. */
static struct context *sampled_context(const struct call *C)
{
    struct context *now = capture_any() ? NULL : contexts_now(C->thread);
    return now && now->handle && now->kind != PTDS_CONTEXT_GREEN ? now : NULL;
}

void device_times_before(struct call *C)
{
    if (device_times_on == ENV_DEVICE_TIMES_CUPTI) {
        device_cupti_before(C);
        return;
    }
    if (!C->enter)
        return;
    struct context *context = sampled_context(C);
    struct device_pool *pool = context ? pool_of(C->thread, context) : NULL;
    if (!pool)
        return;
    int saved = errno;
    if (pool->pending && ++pool->calls % COLLECT_EVERY == 0)
        collect(C->thread, context, pool);
    if (is_device_work(C) && !(C->flags & (PTDS_CALL_IMPLICIT | PTDS_CALL_CAPTURING)) && C->target_uid &&
        C->context == context && --pool->countdown == 0)
        begin_sample(C, pool);
    errno = saved;
}

void device_times_after(struct call *C)
{
    if (device_times_on == ENV_DEVICE_TIMES_CUPTI) {
        device_cupti_after(C);
        return;
    }
    int saved = errno;
    if (C->result == CUDA_SUCCESS && REAL(cuEventRecord)(C->sample->end, C->target) == CUDA_SUCCESS)
        C->sample_pool->pending++;
    C->sample = NULL;
    errno = saved;
}
