/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams by handle. Called by the wrappers of creating and destroying calls and by the policies for every call with a
 * stream. Must not ask the driver anything while a capture is open.
 */
#include "interpose/state/streams.h"

#include <string.h>

#include "interpose/base/lock.h"
#include "interpose/base/pages.h"
#include "interpose/driver/driver.h"
#include "interpose/state/call.h"
#include "interpose/state/capture.h"
#include "interpose/state/contexts.h"
#include "interpose/state/hooks.h"
#include "interpose/state/uids.h"

/* Hash chains, read without a lock. An entry whose stream is gone leaves its chain. */
#define BUCKETS 4096u
static struct stream *buckets[BUCKETS];
static struct lock streams_lock;
static struct retirees gone = {.kept = 1024};

static struct stream **bucket_of(CUstream handle)
{
    return &buckets[((uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15u >> 52];
}

/* Atomic: another thread may just be making a new stream of an entry that this thread remembers. */
static CUstream handle_of(const struct stream *stream)
{
    return __atomic_load_n(&stream->handle, __ATOMIC_RELAXED);
}

static struct stream *find_stream(CUstream handle)
{
    struct stream *stream = __atomic_load_n(bucket_of(handle), __ATOMIC_ACQUIRE);
    while (stream && handle_of(stream) != handle)
        stream = stream->next;
    return stream;
}

/* Under the lock. */
static struct stream *take_entry(void)
{
    struct stream *stream = retired_take(&gone, offsetof(struct stream, retired));
    return stream ? stream : pages_keep(sizeof *stream);
}

/* Under the lock. The stream that the link leads to leaves its chain. */
static void take_out(struct stream **link)
{
    struct stream *stream = *link;
    __atomic_store_n(link, stream->next, __ATOMIC_RELEASE);
    retired_add(&gone, &stream->retired);
}

/* Under the lock. */
static void bury(struct stream *stream)
{
    struct stream **link = bucket_of(stream->handle);
    while (*link && *link != stream)
        link = &(*link)->next;
    if (*link)
        take_out(link);
}

void streams_go_with(const struct context *context)
{
    lock_take(&streams_lock);
    for (unsigned i = 0; i < BUCKETS; i++) {
        for (struct stream **link = &buckets[i]; *link;) {
            if ((*link)->context == context) {
                capture_stream_gone(*link);
                __atomic_store_n(&(*link)->gone, STREAM_GONE, __ATOMIC_RELEASE);
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
    if (!stream && (stream = take_entry())) {
        __atomic_store_n(&stream->handle, handle, __ATOMIC_RELAXED);
        stream->next = *bucket_of(handle);
        __atomic_store_n(&stream->gone, STREAM_GONE, __ATOMIC_RELAXED);
        __atomic_store_n(bucket_of(handle), stream, __ATOMIC_RELEASE);
    }
    if (stream) {
        capture_stream_gone(stream); /* the stream that had the handle before */
        stream->uid = uids_next(OBJECT_STREAM);
        stream->kind = kind;
        stream->context = context;
        stream->lane = stream->taken = 0;
        stream->promised = (struct promise_kept){0};
        __atomic_store_n(&stream->gone, 0, __ATOMIC_RELEASE);
    }
    lock_drop(&streams_lock);
    return stream;
}

static int is_programs(const struct stream *stream, const struct context *context)
{
    return stream->context == context && stream->kind != PTDS_STREAM_SHIM_BLOCKING &&
           stream->kind != PTDS_STREAM_SHIM_NON_BLOCKING;
}

unsigned streams_of(const struct context *context, unsigned *next, struct stream *found[], unsigned most)
{
    unsigned count = 0;
    lock_take(&streams_lock);
    for (; *next < BUCKETS && count < most; ++*next) {
        const unsigned before = count;
        struct stream *stream = buckets[*next];
        for (; stream && count < most; stream = stream->next) {
            if (is_programs(stream, context))
                found[count++] = stream;
        }
        if (stream && before) { /* once more, with all of the chain */
            count = before;
            break;
        }
    }
    lock_drop(&streams_lock);
    return count;
}

/* A stream that was made past the shim. Its flags are asked for, except inside a capture, which the question would
 * invalidate; until then it counts as unknown, and is asked about again. NO_STREAM: the driver says that it is none. */
enum { NO_STREAM = UINT32_MAX };
static uint32_t ask_kind(CUstream handle)
{
    unsigned flags = 0;
    if (capture_any() || !driver.cuStreamGetFlags)
        return PTDS_STREAM_UNKNOWN;
    CUresult answer = ASK(driver.cuStreamGetFlags(handle, &flags));
    if (answer != CUDA_SUCCESS)
        return answer == CUDA_ERROR_INVALID_HANDLE ? NO_STREAM : PTDS_STREAM_UNKNOWN;
    return flags & CU_STREAM_NON_BLOCKING ? PTDS_STREAM_NON_BLOCKING : PTDS_STREAM_BLOCKING;
}

/* A stream whose destruction is under way lives until the driver has agreed. */
static int is_alive(const struct stream *stream)
{
    return __atomic_load_n(&stream->gone, __ATOMIC_ACQUIRE) != STREAM_GONE &&
           !(stream->context && stream->context->gone == CONTEXT_GONE);
}

static struct stream *first_sight(struct thread *thread, CUstream handle, struct stream *known)
{
    if (known && is_alive(known)) {
        uint32_t kind = known->kind == PTDS_STREAM_UNKNOWN ? ask_kind(handle) : NO_STREAM;
        if (kind != NO_STREAM)
            known->kind = kind;
        if (known->context == &contexts_none)
            known->context = contexts_now(thread);
        return known;
    }
    uint32_t kind = ask_kind(handle);
    struct stream *stream = kind == NO_STREAM ? NULL : make_stream(handle, contexts_now(thread), kind);
    if (stream)
        STATE_TELL(stream_seen, NULL, stream->uid, handle, stream->context, kind, PTDS_LIFE_SEEN, 0);
    return stream;
}

/* 1: all that can be known of the stream is known. */
static int is_settled(const struct stream *stream)
{
    return is_alive(stream) && stream->kind != PTDS_STREAM_UNKNOWN && stream->context != &contexts_none;
}

struct stream *streams_get(struct thread *thread, CUstream handle)
{
    struct stream *last = thread->last_stream;
    if (__builtin_expect(last && handle_of(last) == handle && is_settled(last), 1))
        return last;
    struct stream *stream = find_stream(handle);
    if (!stream || !is_settled(stream))
        stream = first_sight(thread, handle, stream);
    thread->last_stream = stream;
    return stream;
}

void streams_created(struct call *C, const CUstream *handle, unsigned flags, int priority)
{
    if (C->result != CUDA_SUCCESS || !handle)
        return;
    uint32_t kind = flags & CU_STREAM_NON_BLOCKING ? PTDS_STREAM_NON_BLOCKING : PTDS_STREAM_BLOCKING;
    C->context = contexts_now(C->thread);
    struct stream *stream = make_stream(*handle, C->context, kind);
    if (!stream)
        return;
    C->op = PTDS_OP_STREAM_CREATE;
    C->stream_uid = C->target_uid = stream->uid;
    C->word[0] = flags;
    C->words = 1;
    STATE_TELL(stream_seen, C, stream->uid, *handle, C->context, kind, PTDS_LIFE_CREATED, priority);
}

void streams_leaving(struct call *C, CUstream handle)
{
    if (handle == NULL || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD)
        return;
    struct stream *stream = streams_get(C->thread, handle);
    if (!stream)
        return;
    C->context = stream->context;
    C->stream = stream;
    C->stream_uid = C->target_uid = stream->uid;
    C->word[1] = stream->kind;
    if (state_hooks.stream_leaves)
        state_hooks.stream_leaves(handle);
    __atomic_store_n(&stream->gone, STREAM_LEAVES, __ATOMIC_SEQ_CST);
}

/* The entry may be that of a new stream with the same handle by now. */
void streams_left(struct call *C, CUstream handle)
{
    struct stream *stream = C->stream;
    if (!stream)
        return;
    if (C->result == CUDA_SUCCESS)
        STATE_TELL(stream_seen, NULL, C->stream_uid, handle, C->context, (uint32_t)C->word[1], PTDS_LIFE_GONE, 0);
    lock_take(&streams_lock);
    int same = stream->uid == C->stream_uid;
    if (same)
        __atomic_store_n(&stream->gone, C->result == CUDA_SUCCESS ? STREAM_GONE : 0, __ATOMIC_RELEASE);
    if (same && C->result == CUDA_SUCCESS) {
        capture_stream_gone(stream);
        bury(stream);
    }
    lock_drop(&streams_lock);
}

uint32_t streams_own(struct context *context, CUstream handle, int non_blocking, int priority)
{
    uint32_t kind = non_blocking ? PTDS_STREAM_SHIM_NON_BLOCKING : PTDS_STREAM_SHIM_BLOCKING;
    struct stream *stream = make_stream(handle, context, kind);
    if (!stream)
        return 0;
    STATE_TELL(stream_seen, NULL, stream->uid, handle, context, kind, PTDS_LIFE_CREATED, priority);
    return stream->uid;
}

void streams_after_fork(void)
{
    streams_lock.held = 0;
    memset(buckets, 0, sizeof buckets);
    retired_forget(&gone);
}
