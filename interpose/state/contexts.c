/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts by handle. Called by the wrappers of creating and destroying calls and by the policies for every call with a
 * stream. Must not ask the driver anything while a capture is open.
 */
#include "interpose/state/contexts.h"

#include "interpose/base/lock.h"
#include "interpose/base/pages.h"
#include "interpose/driver/driver.h"
#include "interpose/state/call.h"
#include "interpose/state/capture.h"
#include "interpose/state/hooks.h"
#include "interpose/state/objects.h"
#include "interpose/state/streams.h"
#include "interpose/state/uids.h"

/* A list, read without a lock; programs have a handful. One that is gone leaves it. */
static struct context *contexts;
static struct lock contexts_lock;
static struct retirees gone = {.kept = 32};

static uint32_t how_gone(const struct context *context)
{
    return __atomic_load_n(&context->gone, __ATOMIC_ACQUIRE);
}

/* The newest entry of the handle: an older one, whose destruction is under way, may be gone already. */
static struct context *find_context(CUcontext handle)
{
    struct context *context = __atomic_load_n(&contexts, __ATOMIC_ACQUIRE);
    while (context && (context->handle != handle || how_gone(context) == CONTEXT_GONE))
        context = context->next;
    return context;
}

/* A call gives out the handle for a context of this kind: 1 if that is another context than the entry's. A created context
 * is new each time; primary and green ones are given out again and again. */
static int is_anothers(const struct context *entry, uint32_t kind)
{
    switch (kind) {
    case PTDS_CONTEXT_CREATED: return 1;
    case PTDS_CONTEXT_PRIMARY: return entry->kind == PTDS_CONTEXT_CREATED || entry->kind == PTDS_CONTEXT_GREEN;
    case PTDS_CONTEXT_GREEN: return entry->kind == PTDS_CONTEXT_CREATED || entry->kind == PTDS_CONTEXT_PRIMARY;
    default: return 0;
    }
}

/* The entry of the context that a call gives out, of this kind; NULL: there is none yet. */
static struct context *find_given(CUcontext handle, uint32_t kind)
{
    struct context *context = find_context(handle);
    return context && is_anothers(context, kind) ? NULL : context;
}

/* The device of a context that is current here; a question to no stream, but none is asked during a capture. */
static int32_t device_of(CUcontext handle)
{
    CUcontext now = NULL;
    CUdevice device = -1;
    if (capture_any() || !driver.cuCtxGetCurrent || !driver.cuCtxGetDevice ||
        driver.cuCtxGetCurrent(&now) != CUDA_SUCCESS || now != handle ||
        ASK(driver.cuCtxGetDevice(&device)) != CUDA_SUCCESS)
        return -1;
    return device;
}

/* Under the lock. */
static struct context *take_entry(void)
{
    struct context *context = retired_take(&gone, offsetof(struct context, retired));
    return context ? context : pages_keep(sizeof *context);
}

static void bury_context(struct context *context)
{
    lock_take(&contexts_lock);
    struct context **link = &contexts;
    while (*link && *link != context)
        link = &(*link)->next;
    if (*link) {
        __atomic_store_n(link, context->next, __ATOMIC_RELEASE);
        retired_add(&gone, &context->retired);
    }
    lock_drop(&contexts_lock);
}

static int become(struct context *context, uint32_t from, uint32_t to)
{
    return context && __atomic_compare_exchange_n(&context->gone, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* The context is gone for certain, and its streams and captures with it. */
static void forget_context(struct context *context)
{
    if (!context)
        return;
    capture_context_gone(context);
    STATE_TELL(context_seen, context, PTDS_LIFE_GONE);
    __atomic_store_n(&context->gone, CONTEXT_GONE, __ATOMIC_RELEASE);
    streams_go_with(context);
    bury_context(context);
}

/* The context ended, and no call that the shim saw has destroyed it. If such a call is under way, that call forgets it. */
static void forget_ended(struct context *context)
{
    if (!become(context, 0, CONTEXT_LEAVES))
        return;
    objects_functions_going();
    STATE_TELL(context_ended, context);
    forget_context(context);
}

static struct context *make_context(CUcontext handle, uint32_t kind, int32_t device)
{
    if (device < 0 && !find_given(handle, kind))
        device = device_of(handle);
    struct context *context = find_context(handle);
    if (context && is_anothers(context, kind))
        forget_ended(context);
    lock_take(&contexts_lock);
    context = find_given(handle, kind);
    int fresh = !context && (context = take_entry());
    if (fresh) {
        *context = (struct context){.handle = handle, .kind = kind, .device = device, .next = contexts, .users = 1};
        context->uid = uids_next(OBJECT_CONTEXT);
        context->legacy_uid = uids_next(OBJECT_STREAM);
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

struct context *contexts_get(CUcontext handle)
{
    struct context *context = handle ? find_context(handle) : NULL;
    return context || !handle ? context : make_context(handle, PTDS_CONTEXT_UNKNOWN, -1);
}

/* Where no context is current, the driver refuses work, whatever stream it names; the refusal is left to the driver. */
struct context contexts_none = {.kind = PTDS_CONTEXT_UNKNOWN, .device = -1};

struct context *contexts_now(struct thread *thread)
{
    CUcontext handle = NULL;
    if (__builtin_expect(!driver.cuCtxGetCurrent || driver.cuCtxGetCurrent(&handle) != CUDA_SUCCESS || !handle, 0))
        return &contexts_none;
    const struct thread_context *last = thread->last_context;
    if (__builtin_expect(last && last->context->handle == handle && !last->context->gone, 1))
        return last->context;
    return contexts_get(handle);
}

void contexts_each(void (*each)(struct context *, void *), void *argument)
{
    for (struct context *context = __atomic_load_n(&contexts, __ATOMIC_ACQUIRE); context; context = context->next) {
        if (how_gone(context) != CONTEXT_GONE)
            each(context, argument);
    }
}

/* The context is current here and no capture is open: what a policy wants to make early. */
static void offer_context(struct call *C, struct context *context)
{
    if (context && state_hooks.context_current && !capture_any())
        state_hooks.context_current(C, context);
}

void contexts_coming(struct call *C)
{
    C->word[0] = uids_last(OBJECT_CONTEXT);
}

/* A callback, or another thread, may have seen the new context already. */
static int came_with(const struct call *C, CUcontext handle)
{
    const struct context *context = find_context(handle);
    return context && !how_gone(context) && context->uid > C->word[0];
}

void contexts_created(struct call *C, const CUcontext *handle)
{
    if (C->result != CUDA_SUCCESS || !handle || !*handle)
        return;
    C->op = PTDS_OP_CTX_CREATE;
    C->context = came_with(C, *handle) ? find_context(*handle) : make_context(*handle, PTDS_CONTEXT_CREATED, -1);
    if (C->context)
        C->context->kind = PTDS_CONTEXT_CREATED;
    offer_context(C, C->context);
}

void contexts_attached(struct call *C, const CUcontext *handle)
{
    if (C->result != CUDA_SUCCESS || !handle || !*handle)
        return;
    C->op = PTDS_OP_CTX_CREATE;
    C->context = contexts_get(*handle);
    if (C->context)
        __atomic_add_fetch(&C->context->users, 1, __ATOMIC_RELAXED);
    offer_context(C, C->context);
}

void contexts_green(struct call *C, const CUcontext *handle, CUgreenCtx green)
{
    if (C->result != CUDA_SUCCESS || !handle || !*handle)
        return;
    C->context = make_context(*handle, PTDS_CONTEXT_GREEN, -1);
    if (!C->context)
        return;
    C->context->kind = PTDS_CONTEXT_GREEN;
    C->context->green = green;
}

void contexts_current(struct call *C, CUcontext handle)
{
    if (C->result != CUDA_SUCCESS || !handle)
        return;
    C->context = contexts_get(handle);
    offer_context(C, C->context);
}

/* Before the call, since afterwards the handle may be another context's at once. */
void contexts_leaving(struct call *C, CUcontext handle)
{
    C->context = handle ? find_context(handle) : NULL;
    objects_functions_going();
    become(C->context, 0, CONTEXT_LEAVES);
}

/* Whatever the call did, it is not recorded as the end of a context. */
static void stay(struct call *C)
{
    C->op = PTDS_OP_NONE;
    become(C->context, CONTEXT_LEAVES, 0);
}

/* After the call: did the context go? */
void contexts_left(struct call *C)
{
    if (C->result == CUDA_SUCCESS && C->context)
        forget_context(C->context);
    else
        stay(C);
}

void contexts_waited(struct call *C, CUcontext handle)
{
    if (C->result == CUDA_SUCCESS && handle)
        C->context = contexts_get(handle);
}

/* The last of the calls that attached to a context ends it when it detaches, as a destroy does. How many there are is known
 * only of a context whose creation was seen. */
void contexts_detaching(struct call *C, CUcontext handle)
{
    struct context *context = handle ? find_context(handle) : NULL;
    C->context = context;
    if (context && context->kind == PTDS_CONTEXT_CREATED && __atomic_sub_fetch(&context->users, 1, __ATOMIC_ACQ_REL) == 0)
        contexts_leaving(C, handle);
    else
        C->op = PTDS_OP_NONE; /* it lives, and what is in it */
}

void contexts_detached(struct call *C)
{
    struct context *context = C->context;
    if (!context || context->kind != PTDS_CONTEXT_CREATED)
        return;
    if (C->result != CUDA_SUCCESS)
        __atomic_add_fetch(&context->users, 1, __ATOMIC_ACQ_REL);
    if (how_gone(context) == CONTEXT_LEAVES)
        contexts_left(C);
}

/* The context that the program got for a green one goes with it. */
void contexts_green_leaving(struct call *C, CUgreenCtx green)
{
    struct context *context = __atomic_load_n(&contexts, __ATOMIC_ACQUIRE);
    while (context && (context->kind != PTDS_CONTEXT_GREEN || context->green != green || how_gone(context)))
        context = context->next;
    C->context = green ? context : NULL;
    objects_functions_going();
    become(C->context, 0, CONTEXT_LEAVES);
}

/* Memory that was allocated in it is the device's, and stays: the record names no context. */
void contexts_green_left(struct call *C)
{
    struct context *context = C->context;
    C->context = NULL;
    if (context && C->result == CUDA_SUCCESS) {
        STATE_TELL(context_ended, context);
        forget_context(context);
    } else {
        become(context, CONTEXT_LEAVES, 0);
    }
}

void contexts_primary_retained(struct call *C, const CUcontext *handle, CUdevice device)
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
    if (context->kind == PTDS_CONTEXT_PRIMARY && context->device == wanted->device && !wanted->found) /* the newest */
        wanted->found = context;
}

void contexts_primary_leaving(struct call *C, CUdevice device)
{
    struct primary wanted = {device, NULL};
    contexts_each(is_primary_of, &wanted);
    C->context = wanted.found;
    become(C->context, 0, CONTEXT_LEAVES); /* so the driver is not asked about what is in it meanwhile */
}

static void primary_ended(struct context *context)
{
    objects_functions_going();
    forget_context(context);
}

/* A release only ends the context with the last reference; then its handle may come back for a new one. */
void contexts_primary_left(struct call *C, CUdevice device)
{
    unsigned flags = 0;
    int active = 1;
    if (C->result == CUDA_SUCCESS && C->context && driver.cuDevicePrimaryCtxGetState &&
        ASK(driver.cuDevicePrimaryCtxGetState(device, &flags, &active)) == CUDA_SUCCESS && !active)
        primary_ended(C->context);
    else
        stay(C);
}

/* A reset ends what the context held, however many references to it there still are. */
void contexts_primary_reset(struct call *C)
{
    if (C->result == CUDA_SUCCESS && C->context)
        primary_ended(C->context);
    else
        stay(C);
}

void contexts_after_fork(void)
{
    contexts_lock.held = 0;
    contexts = NULL;
    retired_forget(&gone);
    streams_after_fork();
}
