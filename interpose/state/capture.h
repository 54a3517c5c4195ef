/* SPDX-License-Identifier: Apache-2.0
 *
 * Which captures are open and which streams take part: from the program's own calls, since asking the driver may invalidate
 * a capture.
 */
#ifndef PTDS_CAPTURE_H
#define PTDS_CAPTURE_H

#include "interpose/state/call.h"

extern uint32_t captures_open; /* in the whole process */

/* 1 while any capture of the process is open. The one test that hot paths make. */
static inline int capture_any(void)
{
    return __builtin_expect(__atomic_load_n(&captures_open, __ATOMIC_RELAXED) != 0, 0);
}

/* 1 while a blocking or per-thread stream of the context is capturing: legacy work there must stay legacy, so that the
 * program keeps its CUDA_ERROR_STREAM_CAPTURE_IMPLICIT. */
static inline int capture_blocks_legacy(const struct context *context)
{
    return capture_any() && __atomic_load_n(&context->blocking_captures, __ATOMIC_RELAXED) != 0;
}

/* Around cuStreamBeginCapture*, before and after the call, and after cuStreamEndCapture. */
void capture_beginning(struct call *C, CUstream stream);
void capture_began(struct call *C, CUstream stream);
void capture_ended(struct call *C, CUstream stream);

/* Streams join a capture by waiting for an event that was recorded in it. After the record and after the wait; stream is
 * the one that the call went to. CU_EVENT_RECORD_EXTERNAL and CU_EVENT_WAIT_EXTERNAL among the flags: where the stream is
 * capturing, the graph records or waits at each launch, and no stream joins a capture. */
void capture_learn_record(struct call *C, CUevent event, CUstream stream, unsigned flags);
void capture_learn_wait(struct call *C, CUevent event, CUstream stream, unsigned flags);
static inline void capture_event_recorded(struct call *C, CUevent event, CUstream stream, unsigned flags)
{
    if (capture_any() && C->result == CUDA_SUCCESS)
        capture_learn_record(C, event, stream, flags);
}
static inline void capture_event_awaited(struct call *C, CUevent event, CUstream stream, unsigned flags)
{
    if (capture_any() && C->result == CUDA_SUCCESS)
        capture_learn_wait(C, event, stream, flags);
}

/* Around cuEventDestroy. From before the call on no stream joins a capture by the event, since its handle may be another
 * event's before the call is back. Where the driver refuses, the event is what it was. */
uint64_t capture_forget_event(CUevent event);
void capture_remember_event(CUevent event, uint64_t serial);
static inline void capture_event_gone(struct call *C, CUevent event)
{
    C->word[1] = capture_any() ? capture_forget_event(event) : 0;
}
static inline void capture_event_left(const struct call *C, CUevent event)
{
    if (capture_any() && C->result != CUDA_SUCCESS)
        capture_remember_event(event, C->word[1]);
}

/* A stream or a context has gone, and with it the captures that began on it. The stream's entry serves no other stream yet.
 * A context of NULL is fine. */
void capture_stream_gone(struct stream *stream);
void capture_context_gone(const struct context *context);

/* 1 if the calling thread's 0x2 in the current context takes part in an open capture. */
int capture_has_per_thread(struct thread *thread);

/* 1 if the work that the call puts on the stream `named` becomes a node of an open capture; also before the call has its
 * route. */
int capture_takes(const struct call *C, CUstream named);

/* 1 if the event was last recorded in an open capture: a stream that waits for the event joins that capture. */
int capture_has_event(CUevent event);

void capture_after_fork(void);

#endif
