/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps the list of open captures. Called only from capture calls and, while one is open, from event records and waits.
 * Makes one driver call, cuStreamIsCapturing after an EndCapture, which the header names as safe; never any other.
 */
#include "interpose/state/capture.h"

#include <string.h>

#include "interpose/base/diag.h"
#include "interpose/base/lock.h"
#include "interpose/driver/driver.h"
#include "interpose/policy/policy.h"

#define CAPTURES 64
#define MEMBERS 64
#define EVENTS 256

/* A stream as a thing of its own: 0x2 is another one in every thread. */
struct member {
    CUstream handle;
    uint32_t thread; /* uid for 0x2, else 0 */
    struct context *context;
    int blocking;
    struct stream *stream;
};

static struct capture {
    uint32_t open;
    uint32_t member_count, event_count; /* member 0 began it */
    struct member member[MEMBERS];
    CUevent event[EVENTS];
} captures[CAPTURES];

uint32_t captures_open;
static struct lock lock;

static int is_legacy(const struct call *C, CUstream handle)
{
    return handle == CU_STREAM_LEGACY || (handle == NULL && !C->twin);
}

static struct member describe(const struct call *C, CUstream handle)
{
    if (handle == NULL || handle == CU_STREAM_PER_THREAD)
        return (struct member){CU_STREAM_PER_THREAD, C->thread->uid, objects_context_now(C->thread), 1, NULL};
    struct stream *stream = objects_stream(C->thread, handle);
    /* Of an unknown stream assume that legacy work minds it. */
    int blocking = !stream || (stream->kind != PTDS_STREAM_NON_BLOCKING && stream->kind != PTDS_STREAM_SHIM_NON_BLOCKING);
    return (struct member){handle, 0, stream ? stream->context : objects_context_now(C->thread), blocking, stream};
}

static int same(const struct member *a, const struct member *b)
{
    return a->handle == b->handle && a->thread == b->thread;
}

static int has_member(const struct capture *capture, const struct member *member)
{
    for (uint32_t i = 0; i < capture->member_count; i++) {
        if (same(&capture->member[i], member))
            return 1;
    }
    return 0;
}

static void count(const struct member *member, int step)
{
    if (member->stream)
        __atomic_store_n(&member->stream->capturing, step > 0, __ATOMIC_RELAXED);
    if (member->blocking && member->context)
        __atomic_add_fetch(&member->context->blocking_captures, step > 0 ? 1u : UINT32_MAX, __ATOMIC_RELAXED);
}

static void join(struct capture *capture, const struct member *member)
{
    if (has_member(capture, member))
        return;
    if (capture->member_count == MEMBERS) {
        diag_once(DIAG_ERROR, "more than 64 streams in one capture: later ones are taken for idle");
        return;
    }
    capture->member[capture->member_count++] = *member;
    count(member, 1);
}

static struct capture *with_member(const struct member *member)
{
    for (int i = 0; i < CAPTURES; i++) {
        if (captures[i].open && has_member(&captures[i], member))
            return &captures[i];
    }
    return NULL;
}

void capture_beginning(struct call *C, CUstream stream)
{
    if (!is_legacy(C, stream))
        policy_settle(C);
}

void capture_began(struct call *C, CUstream stream)
{
    if (C->result != CUDA_SUCCESS || is_legacy(C, stream))
        return;
    struct member origin = describe(C, stream);
    int i = 0;
    lock_take(&lock);
    while (i < CAPTURES && captures[i].open)
        i++;
    if (i < CAPTURES) {
        captures[i].open = 1;
        captures[i].member_count = captures[i].event_count = 0;
        join(&captures[i], &origin);
        __atomic_add_fetch(&captures_open, 1, __ATOMIC_RELAXED);
    }
    lock_drop(&lock);
    if (i == CAPTURES)
        diag_once(DIAG_ERROR, "more than 64 captures open at once: later ones are not minded");
}

/* Under the lock. */
static void close_capture(struct capture *capture)
{
    for (uint32_t i = 0; i < capture->member_count; i++)
        count(&capture->member[i], -1);
    capture->open = 0;
    __atomic_sub_fetch(&captures_open, 1, __ATOMIC_RELAXED);
}

void capture_stream_gone(const struct stream *stream)
{
    if (!capture_any())
        return;
    lock_take(&lock);
    for (int i = 0; i < CAPTURES; i++) {
        if (captures[i].open && captures[i].member[0].stream == stream)
            close_capture(&captures[i]);
    }
    lock_drop(&lock);
}

void capture_context_gone(const struct context *context)
{
    if (!context || !capture_any())
        return;
    lock_take(&lock);
    for (int i = 0; i < CAPTURES; i++) {
        if (captures[i].open && captures[i].member[0].context == context)
            close_capture(&captures[i]);
    }
    lock_drop(&lock);
}

int capture_has_per_thread(struct thread *thread)
{
    if (!capture_any())
        return 0;
    struct member member = {CU_STREAM_PER_THREAD, thread->uid, NULL, 1, NULL};
    lock_take(&lock);
    int found = with_member(&member) != NULL;
    lock_drop(&lock);
    return found;
}

/* EndCapture ends a capture also where it reports an error, but not from the wrong thread: the stream itself tells. */
static int still_capturing(CUstream handle)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!REAL(cuStreamIsCapturing) || REAL(cuStreamIsCapturing)(handle, &status) != CUDA_SUCCESS)
        return 0;
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void capture_ended(struct call *C, CUstream stream)
{
    if (!capture_any() || is_legacy(C, stream))
        return;
    struct member origin = describe(C, stream);
    if (C->result != CUDA_SUCCESS && still_capturing(origin.handle))
        return;
    lock_take(&lock);
    struct capture *capture = with_member(&origin);
    if (capture)
        close_capture(capture);
    lock_drop(&lock);
}

void capture_learn_record(struct call *C, CUevent event, CUstream stream)
{
    if (is_legacy(C, stream))
        return;
    struct member member = describe(C, stream);
    lock_take(&lock);
    struct capture *capture = with_member(&member);
    if (capture && capture->event_count < EVENTS)
        capture->event[capture->event_count++] = event;
    lock_drop(&lock);
}

void capture_learn_wait(struct call *C, CUevent event, CUstream stream)
{
    if (is_legacy(C, stream))
        return;
    struct member member = describe(C, stream);
    lock_take(&lock);
    for (int i = 0; i < CAPTURES; i++) {
        for (uint32_t e = 0; captures[i].open && e < captures[i].event_count; e++) {
            if (captures[i].event[e] == event) {
                join(&captures[i], &member);
                break;
            }
        }
    }
    lock_drop(&lock);
}

void capture_after_fork(void)
{
    memset(captures, 0, sizeof captures);
    captures_open = 0;
    lock.held = 0;
}
