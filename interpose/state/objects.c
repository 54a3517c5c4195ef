/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts and streams by handle. Called by the wrappers of creating and destroying calls and by the policies for every
 * call with a stream. Must not ask the driver anything while a capture is open.
 */
#include "interpose/state/objects.h"

#include <string.h>

#include "interpose/base/lock.h"
#include "interpose/base/memory.h"
#include "interpose/driver/driver.h"
#include "interpose/state/call.h"
#include "interpose/state/capture.h"
#include "interpose/state/hooks.h"

struct state_hooks state_hooks;

static uint32_t uids[OBJECT_KINDS];

uint32_t objects_uid(enum object_kind kind)
{
    return __atomic_add_fetch(&uids[kind], 1, __ATOMIC_RELAXED);
}

/* Contexts: a list, read without a lock; programs have a handful. One that is gone leaves it and waits until some others
 * have gone after it, so that whoever was just looking at it still finds his way; then it serves for another context. Its
 * uid tells them apart. */
static struct context *contexts;
static struct lock contexts_lock;
#define DEAD_CONTEXTS_KEPT 32u
static struct context *dead_contexts, **dead_contexts_end = &dead_contexts;
static uint32_t dead_contexts_count;

static struct context *find_context(CUcontext handle)
{
    struct context *context = __atomic_load_n(&contexts, __ATOMIC_ACQUIRE);
    while (context && (context->handle != handle || __atomic_load_n(&context->gone, __ATOMIC_ACQUIRE)))
        context = context->next;
    return context;
}

/* The device of a context that is current here; a question to no stream, but none is asked during a capture. */
static int32_t device_of(CUcontext handle)
{
    CUcontext now = NULL;
    CUdevice device = -1;
    if (capture_any() || !driver.cuCtxGetCurrent || !driver.cuCtxGetDevice ||
        driver.cuCtxGetCurrent(&now) != CUDA_SUCCESS || now != handle || driver.cuCtxGetDevice(&device) != CUDA_SUCCESS)
        return -1;
    return device;
}

/* Under the lock. */
static struct context *take_dead_context(void)
{
    struct context *context = dead_contexts;
    if (dead_contexts_count <= DEAD_CONTEXTS_KEPT)
        return memory_keep(sizeof *context);
    dead_contexts = context->next_dead; /* never the last one */
    dead_contexts_count--;
    return context;
}

static void bury_context(struct context *context)
{
    lock_take(&contexts_lock);
    struct context **link = &contexts;
    while (*link && *link != context)
        link = &(*link)->next;
    if (*link) {
        __atomic_store_n(link, context->next, __ATOMIC_RELEASE);
        context->next_dead = NULL;
        *dead_contexts_end = context;
        dead_contexts_end = &context->next_dead;
        dead_contexts_count++;
    }
    lock_drop(&contexts_lock);
}

static struct context *make_context(CUcontext handle, uint32_t kind, int32_t device)
{
    if (device < 0 && !find_context(handle))
        device = device_of(handle);
    lock_take(&contexts_lock);
    struct context *context = find_context(handle);
    int fresh = !context && (context = take_dead_context());
    if (fresh) {
        *context = (struct context){.handle = handle, .kind = kind, .device = device, .next = contexts};
        context->uid = objects_uid(OBJECT_CONTEXT);
        context->legacy_uid = objects_uid(OBJECT_STREAM);
        __atomic_store_n(&contexts, context, __ATOMIC_RELEASE);
    }
    lock_drop(&contexts_lock);
    if (fresh) {
        STATE_TELL(context_seen, context, kind == PTDS_CONTEXT_UNKNOWN ? PTDS_LIFE_SEEN : PTDS_LIFE_CREATED);
        STATE_TELL(stream_seen, NULL, context->legacy_uid, CU_STREAM_LEGACY, context, PTDS_STREAM_LEGACY, PTDS_LIFE_SEEN,
                   0);
    }
    return context;
}

struct context *objects_context(CUcontext handle)
{
    struct context *context = handle ? find_context(handle) : NULL;
    return context || !handle ? context : make_context(handle, PTDS_CONTEXT_UNKNOWN, -1);
}

/* Where no context is current. The driver refuses work then, whatever stream it names; so that is left to the driver. */
static struct context no_context = {.kind = PTDS_CONTEXT_UNKNOWN, .device = -1};

struct context *objects_context_now(struct thread *thread)
{
    CUcontext handle = NULL;
    if (__builtin_expect(!driver.cuCtxGetCurrent || driver.cuCtxGetCurrent(&handle) != CUDA_SUCCESS || !handle, 0))
        return &no_context;
    const struct thread_context *last = thread->last_context;
    if (__builtin_expect(last && last->context->handle == handle && !last->context->gone, 1))
        return last->context;
    return objects_context(handle);
}

void objects_each_context(void (*each)(struct context *, void *), void *argument)
{
    for (struct context *context = __atomic_load_n(&contexts, __ATOMIC_ACQUIRE); context; context = context->next) {
        if (!context->gone)
            each(context, argument);
    }
}

static void forget_context(struct context *context)
{
    if (!context)
        return;
    STATE_TELL(context_seen, context, PTDS_LIFE_GONE);
    __atomic_store_n(&context->gone, 1, __ATOMIC_RELEASE);
}

/* Streams: hash chains, read without a lock. An entry whose stream is gone leaves its chain and waits in a queue until many
 * others have gone after it, so that whoever was just passing it still finds his way; then it serves for another stream.
 * Its uid tells them apart. */
#define BUCKETS 4096u
static struct stream *buckets[BUCKETS];
static struct lock streams_lock;
#define DEAD_KEPT 1024u
static struct stream *dead_first, *dead_last;
static uint32_t dead_count;

static struct stream **bucket_of(CUstream handle)
{
    return &buckets[((uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15u >> 52];
}

static struct stream *find_stream(CUstream handle)
{
    struct stream *stream = __atomic_load_n(bucket_of(handle), __ATOMIC_ACQUIRE);
    while (stream && stream->handle != handle)
        stream = stream->next;
    return stream;
}

/* Under the lock. */
static struct stream *take_dead(void)
{
    struct stream *stream = dead_count > DEAD_KEPT ? dead_first : NULL;
    if (!stream)
        return memory_keep(sizeof *stream);
    dead_first = stream->next_dead;
    dead_count--;
    return stream;
}

/* Under the lock. The stream that the link leads to leaves its chain. */
static void take_out(struct stream **link)
{
    struct stream *stream = *link;
    __atomic_store_n(link, stream->next, __ATOMIC_RELEASE);
    stream->next_dead = NULL;
    *(dead_count++ ? &dead_last->next_dead : &dead_first) = stream;
    dead_last = stream;
}

static void bury(struct stream *stream)
{
    struct stream **link = bucket_of(stream->handle);
    lock_take(&streams_lock);
    while (*link && *link != stream)
        link = &(*link)->next;
    if (*link)
        take_out(link);
    lock_drop(&streams_lock);
}

/* Streams go with their context, also where nobody destroyed them. */
static void bury_all_of(const struct context *context)
{
    lock_take(&streams_lock);
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct stream **link = &buckets[i]; *link;) {
            if ((*link)->context == context) {
                __atomic_store_n(&(*link)->gone, 1, __ATOMIC_RELEASE);
                take_out(link);
            } else {
                link = &(*link)->next;
            }
        }
    }
    lock_drop(&streams_lock);
}

static struct stream *make_stream(CUstream handle, struct context *context, uint32_t kind)
{
    lock_take(&streams_lock);
    struct stream *stream = find_stream(handle);
    if (!stream && (stream = take_dead())) {
        stream->handle = handle;
        stream->next = *bucket_of(handle);
        stream->gone = 1;
        __atomic_store_n(bucket_of(handle), stream, __ATOMIC_RELEASE);
    }
    if (stream) {
        stream->uid = objects_uid(OBJECT_STREAM);
        stream->kind = kind;
        stream->context = context;
        stream->capturing = 0;
        stream->lane = 0;
        __atomic_store_n(&stream->gone, 0, __ATOMIC_RELEASE);
    }
    lock_drop(&streams_lock);
    return stream;
}

/* A stream that was made past the shim. Its flags are asked for, except inside a capture, which the question would
 * invalidate; until then it counts as unknown, and is asked about again. */
static uint32_t ask_kind(CUstream handle)
{
    unsigned flags = 0;
    if (capture_any() || !driver.cuStreamGetFlags || driver.cuStreamGetFlags(handle, &flags) != CUDA_SUCCESS)
        return PTDS_STREAM_UNKNOWN;
    return flags & CU_STREAM_NON_BLOCKING ? PTDS_STREAM_NON_BLOCKING : PTDS_STREAM_BLOCKING;
}

static int is_alive(const struct stream *stream)
{
    return !stream->gone && !(stream->context && stream->context->gone);
}

static struct stream *first_sight(struct thread *thread, CUstream handle, struct stream *known)
{
    if (known && is_alive(known)) {
        if (known->kind == PTDS_STREAM_UNKNOWN)
            known->kind = ask_kind(handle);
        if (known->context == &no_context)
            known->context = objects_context_now(thread);
        return known;
    }
    uint32_t kind = ask_kind(handle);
    struct stream *stream = make_stream(handle, objects_context_now(thread), kind);
    if (stream)
        STATE_TELL(stream_seen, NULL, stream->uid, handle, stream->context, kind, PTDS_LIFE_SEEN, 0);
    return stream;
}

/* Everything is known that can be. */
static int is_settled(const struct stream *stream)
{
    return is_alive(stream) && stream->kind != PTDS_STREAM_UNKNOWN && stream->context != &no_context;
}

struct stream *objects_stream(struct thread *thread, CUstream handle)
{
    struct stream *last = thread->last_stream;
    if (__builtin_expect(last && last->handle == handle && is_settled(last), 1))
        return last;
    struct stream *stream = find_stream(handle);
    if (!stream || !is_settled(stream))
        stream = first_sight(thread, handle, stream);
    thread->last_stream = stream;
    return stream;
}

void objects_stream_created(struct call *C, const CUstream *handle, unsigned flags, int priority)
{
    if (C->result != CUDA_SUCCESS || !handle)
        return;
    uint32_t kind = flags & CU_STREAM_NON_BLOCKING ? PTDS_STREAM_NON_BLOCKING : PTDS_STREAM_BLOCKING;
    C->context = objects_context_now(C->thread);
    struct stream *stream = make_stream(*handle, C->context, kind);
    if (!stream)
        return;
    C->op = PTDS_OP_STREAM_CREATE;
    C->stream_uid = C->target_uid = stream->uid;
    C->word[0] = flags;
    C->words = 1;
    STATE_TELL(stream_seen, C, stream->uid, *handle, C->context, kind, PTDS_LIFE_CREATED, priority);
}

void objects_stream_gone(struct call *C, CUstream handle)
{
    if (handle == NULL || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
        return;
    struct stream *stream = objects_stream(C->thread, handle);
    if (!stream)
        return;
    C->context = stream->context;
    C->stream = stream;
    C->stream_uid = C->target_uid = stream->uid;
    if (state_hooks.stream_leaves)
        state_hooks.stream_leaves(handle);
    STATE_TELL(stream_seen, NULL, stream->uid, handle, stream->context, stream->kind, PTDS_LIFE_GONE, 0);
    __atomic_store_n(&stream->gone, 1, __ATOMIC_SEQ_CST);
    capture_stream_gone(stream);
    bury(stream);
}

uint32_t objects_own_stream(struct context *context, CUstream handle, int non_blocking, int priority)
{
    uint32_t kind = non_blocking ? PTDS_STREAM_SHIM_NON_BLOCKING : PTDS_STREAM_SHIM_BLOCKING;
    struct stream *stream = make_stream(handle, context, kind);
    if (!stream)
        return 0;
    STATE_TELL(stream_seen, NULL, stream->uid, handle, context, kind, PTDS_LIFE_CREATED, priority);
    return stream->uid;
}

/* The context is current here and no capture is open: what a policy wants to make early. */
static void offer_context(struct call *C, struct context *context)
{
    if (context && state_hooks.context_current && !capture_any())
        state_hooks.context_current(C, context);
}

void objects_context_created(struct call *C, const CUcontext *handle)
{
    if (C->result != CUDA_SUCCESS || !handle || !*handle)
        return;
    C->op = PTDS_OP_CTX_CREATE;
    C->context = make_context(*handle, PTDS_CONTEXT_CREATED, -1);
    offer_context(C, C->context);
}

void objects_context_green(struct call *C, const CUcontext *handle)
{
    if (C->result != CUDA_SUCCESS || !handle || !*handle)
        return;
    C->context = make_context(*handle, PTDS_CONTEXT_GREEN, -1);
    if (C->context)
        C->context->kind = PTDS_CONTEXT_GREEN;
}

void objects_context_current(struct call *C, CUcontext handle)
{
    if (C->result != CUDA_SUCCESS || !handle)
        return;
    C->context = objects_context(handle);
    offer_context(C, C->context);
}

/* Before the call, since afterwards the handle may be another context's at once. */
void objects_context_gone(struct call *C, CUcontext handle)
{
    C->context = handle ? find_context(handle) : NULL;
    objects_functions_going();
    capture_context_gone(C->context);
    forget_context(C->context);
}

static void bury_with_streams(struct context *context)
{
    if (!context || !context->gone)
        return;
    bury_all_of(context);
    bury_context(context);
}

/* After it: whether it did go. */
void objects_context_kept(struct call *C)
{
    if (C->result != CUDA_SUCCESS && C->context)
        __atomic_store_n(&C->context->gone, 0, __ATOMIC_RELEASE);
    else
        bury_with_streams(C->context);
}

void objects_primary_retained(struct call *C, const CUcontext *handle, CUdevice device)
{
    if (C->result != CUDA_SUCCESS || !handle || !*handle)
        return;
    C->op = PTDS_OP_CTX_CREATE;
    C->context = make_context(*handle, PTDS_CONTEXT_PRIMARY, device);
    if (C->context && C->context->kind == PTDS_CONTEXT_UNKNOWN)
        C->context->kind = PTDS_CONTEXT_PRIMARY;
    if (C->context)
        C->context->device = device;
}

struct primary {
    CUdevice device;
    struct context *found;
};

static void is_primary_of(struct context *context, void *data)
{
    struct primary *wanted = data;
    if (context->kind == PTDS_CONTEXT_PRIMARY && context->device == wanted->device)
        wanted->found = context;
}

void objects_primary_leaving(struct call *C, CUdevice device)
{
    struct primary wanted = {device, NULL};
    objects_each_context(is_primary_of, &wanted);
    C->context = wanted.found;
}

static void primary_ended(struct context *context)
{
    objects_functions_going();
    capture_context_gone(context);
    forget_context(context);
    bury_with_streams(context);
}

/* A release only ends the context with the last reference; then its handle may come back for a new one. */
void objects_primary_left(struct call *C, CUdevice device)
{
    unsigned flags = 0;
    int active = 1;
    if (C->result == CUDA_SUCCESS && C->context && driver.cuDevicePrimaryCtxGetState &&
        driver.cuDevicePrimaryCtxGetState(device, &flags, &active) == CUDA_SUCCESS && !active)
        primary_ended(C->context);
}

/* A reset ends what the context held, whoever still refers to it. */
void objects_primary_reset(struct call *C)
{
    if (C->result == CUDA_SUCCESS)
        primary_ended(C->context);
}

void objects_after_fork(void)
{
    contexts_lock.held = streams_lock.held = 0;
    contexts = dead_contexts = NULL;
    dead_contexts_end = &dead_contexts;
    dead_contexts_count = 0;
    memset(buckets, 0, sizeof buckets);
    dead_first = dead_last = NULL;
    dead_count = 0;
}
