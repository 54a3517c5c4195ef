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
#include "interpose/state/contexts.h"
#include "interpose/state/hooks.h"
#include "interpose/state/map.h"
#include "interpose/state/streams.h"

#define CAPTURES 64
#define THREADS 64

/* A stream that takes part in a capture. 0x2 is another stream in every thread. */
struct member {
    uint32_t thread; /* uid for 0x2, else 0 */
    struct context *context;
    int blocking;
    struct stream *stream; /* NULL for 0x2 */
};

/* Created streams in the capture are chained through their entries, so there may be any number of them. */
static struct capture {
    uint32_t open, serial;
    struct member origin;
    struct stream *streams;
    uint32_t thread_count;
    struct member thread[THREADS]; /* their 0x2 */
} captures[CAPTURES];

uint32_t captures_open;
static struct lock lock;
static uint32_t serials;
static struct map events; /* recorded in a capture: CUevent -> its serial */

static int is_legacy(const struct call *C, CUstream handle)
{
    return handle == CU_STREAM_LEGACY || (handle == NULL && !C->twin);
}

static struct member describe(const struct call *C, CUstream handle)
{
    if (handle == NULL || handle == CU_STREAM_PER_THREAD)
        return (struct member){C->thread->uid, contexts_now(C->thread), 1, NULL};
    struct stream *stream = streams_get(C->thread, handle);
    /* An unknown stream is taken for a blocking one. */
    int blocking = !stream || (stream->kind != PTDS_STREAM_NON_BLOCKING && stream->kind != PTDS_STREAM_SHIM_NON_BLOCKING);
    return (struct member){0, stream ? stream->context : contexts_now(C->thread), blocking, stream};
}

static struct capture *with_thread(uint32_t thread)
{
    for (int i = 0; i < CAPTURES; i++) {
        for (uint32_t k = 0; captures[i].open && k < captures[i].thread_count; k++) {
            if (captures[i].thread[k].thread == thread)
                return &captures[i];
        }
    }
    return NULL;
}

/* The open capture that the member takes part in. */
static struct capture *with_member(const struct member *member)
{
    if (member->thread)
        return with_thread(member->thread);
    for (int i = 0; member->stream && member->stream->capturing && i < CAPTURES; i++) {
        if (captures[i].open && captures[i].serial == member->stream->capturing)
            return &captures[i];
    }
    return NULL;
}

#define ONE_LESS UINT32_MAX

/* `more` blocking captures in the context, ONE_LESS for one less; NULL: in no context. */
static void count(struct context *context, uint32_t more)
{
    if (context)
        __atomic_add_fetch(&context->blocking_captures, more, __ATOMIC_RELAXED);
}

/* The context in which the member counts as a capture on a blocking stream; NULL: in none. */
static struct context *minded_in(const struct member *member)
{
    return member->blocking ? member->context : NULL;
}

static void join(struct capture *capture, const struct member *member)
{
    if (with_member(member) == capture)
        return;
    if (member->stream) {
        member->stream->next_captured = capture->streams;
        capture->streams = member->stream;
        member->stream->minded_in = minded_in(member);
        __atomic_store_n(&member->stream->capturing, capture->serial, __ATOMIC_RELAXED);
    } else if (capture->thread_count < THREADS) {
        capture->thread[capture->thread_count++] = *member;
    } else {
        diag_once(DIAG_ERROR, "more than 64 threads' 0x2 in one capture: later ones are taken for idle");
        return;
    }
    count(minded_in(member), 1);
}

void capture_beginning(struct call *C, CUstream stream)
{
    if (!is_legacy(C, stream) && state_hooks.stream_captures)
        state_hooks.stream_captures(describe(C, stream).stream);
}

void capture_began(struct call *C, CUstream stream)
{
    if (is_legacy(C, stream))
        return;
    struct member origin = describe(C, stream);
    if (C->result != CUDA_SUCCESS) {
        if (origin.stream && !origin.stream->capturing)
            __atomic_store_n(&origin.stream->taken, 0, __ATOMIC_RELEASE);
        return;
    }
    int i = 0;
    lock_take(&lock);
    while (i < CAPTURES && captures[i].open)
        i++;
    if (i < CAPTURES) {
        captures[i] = (struct capture){.open = 1, .serial = ++serials, .origin = origin};
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
    for (struct stream *stream = capture->streams; stream; stream = stream->next_captured) {
        if (stream->capturing != capture->serial)
            continue;
        __atomic_store_n(&stream->capturing, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&stream->taken, 0, __ATOMIC_RELEASE);
        count(stream->minded_in, ONE_LESS);
    }
    for (uint32_t i = 0; i < capture->thread_count; i++)
        count(minded_in(&capture->thread[i]), ONE_LESS);
    capture->open = 0;
    if (__atomic_sub_fetch(&captures_open, 1, __ATOMIC_RELAXED) == 0)
        map_clear(&events);
}

/* The stream's entry may serve another stream at once. */
static void unlink_stream(struct capture *capture, const struct stream *stream)
{
    struct stream **link = &capture->streams;
    while (*link && *link != stream)
        link = &(*link)->next_captured;
    if (*link)
        *link = stream->next_captured;
}

void capture_stream_gone(struct stream *stream)
{
    if (!__atomic_load_n(&stream->capturing, __ATOMIC_RELAXED))
        return;
    lock_take(&lock);
    for (int i = 0; i < CAPTURES; i++) {
        if (captures[i].open && captures[i].serial == stream->capturing && captures[i].origin.stream != stream) {
            unlink_stream(&captures[i], stream);
            count(stream->minded_in, ONE_LESS);
        }
        if (captures[i].open && captures[i].origin.stream == stream)
            close_capture(&captures[i]);
    }
    __atomic_store_n(&stream->capturing, 0, __ATOMIC_RELAXED);
    lock_drop(&lock);
}

void capture_context_gone(const struct context *context)
{
    if (!context || !capture_any())
        return;
    lock_take(&lock);
    for (int i = 0; i < CAPTURES; i++) {
        if (captures[i].open && captures[i].origin.context == context)
            close_capture(&captures[i]);
    }
    lock_drop(&lock);
}

int capture_has_per_thread(struct thread *thread)
{
    if (!capture_any())
        return 0;
    lock_take(&lock);
    int found = with_thread(thread->uid) != NULL;
    lock_drop(&lock);
    return found;
}

int capture_takes(const struct call *C, CUstream named)
{
    if (!capture_any() || named == CU_STREAM_LEGACY || (!named && !C->twin))
        return 0;
    if (!named || named == CU_STREAM_PER_THREAD)
        return capture_has_per_thread(C->thread);
    const struct stream *stream = streams_get(C->thread, named);
    return stream && stream->capturing;
}

int capture_has_event(CUevent event)
{
    return capture_any() && map_get(&events, (uint64_t)event) != 0;
}

/* EndCapture ends a capture also where it reports an error, but not from the wrong thread: the stream itself tells. */
static int still_capturing(CUstream handle)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!REAL(cuStreamIsCapturing) || ASK(REAL(cuStreamIsCapturing)(handle, &status)) != CUDA_SUCCESS)
        return 0;
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void capture_ended(struct call *C, CUstream stream)
{
    if (!capture_any() || is_legacy(C, stream))
        return;
    struct member origin = describe(C, stream);
    if (C->result != CUDA_SUCCESS && still_capturing(stream ? stream : CU_STREAM_PER_THREAD))
        return;
    lock_take(&lock);
    struct capture *capture = with_member(&origin);
    if (capture)
        close_capture(capture);
    lock_drop(&lock);
}

/* The capture that the stream takes part in; 0: none. */
static uint32_t serial_of(struct call *C, CUstream stream)
{
    if (is_legacy(C, stream))
        return 0;
    struct member member = describe(C, stream);
    lock_take(&lock);
    const struct capture *capture = with_member(&member);
    uint32_t serial = capture ? capture->serial : 0;
    lock_drop(&lock);
    return serial;
}

void capture_learn_record(struct call *C, CUevent event, CUstream stream, unsigned flags)
{
    uint32_t serial = serial_of(C, stream);
    if (serial && flags & CU_EVENT_RECORD_EXTERNAL)
        STATE_TELL(graph_event, event, 0);
    else if (serial)
        map_set(&events, (uint64_t)event, serial);
    else
        map_remove(&events, (uint64_t)event); /* recorded anew, outside */
}

void capture_learn_wait(struct call *C, CUevent event, CUstream stream, unsigned flags)
{
    if (flags & CU_EVENT_WAIT_EXTERNAL && serial_of(C, stream)) {
        STATE_TELL(graph_event, event, 1);
        return;
    }
    uint64_t serial = map_get(&events, (uint64_t)event);
    if (is_legacy(C, stream) || !serial)
        return;
    struct member member = describe(C, stream);
    lock_take(&lock);
    for (int i = 0; i < CAPTURES; i++) {
        if (captures[i].open && captures[i].serial == serial)
            join(&captures[i], &member);
    }
    lock_drop(&lock);
}

uint64_t capture_forget_event(CUevent event)
{
    return map_remove(&events, (uint64_t)event);
}

void capture_remember_event(CUevent event, uint64_t serial)
{
    if (serial)
        map_get_or_set(&events, (uint64_t)event, serial);
}

void capture_after_fork(void)
{
    memset(captures, 0, sizeof captures);
    captures_open = 0;
    map_reset(&events);
    lock.held = 0;
}
