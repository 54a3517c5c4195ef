/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's streams, and the shim's own, each with a uid that is never used again. A look-up takes no lock where the
 * thread has seen the handle just before.
 */
#ifndef PTDS_STREAMS_H
#define PTDS_STREAMS_H

#include "interpose/state/contexts.h"
#include "interpose/state/promise.h"

/* As with contexts: LEAVES: the driver is asked to destroy the stream, and may refuse. */
enum { STREAM_LEAVES = 1, STREAM_GONE };

struct stream {
    CUstream handle;
    uint32_t uid;
    uint32_t kind;      /* enum ptds_stream_kind */
    uint32_t gone;      /* 0: it lives */
    uint32_t capturing; /* the capture that it takes part in; 0 none */
    uint32_t taken; /* a capture is about to take it in, or has: only work for which the program named it may touch it */
    struct stream *next_captured;
    struct context *minded_in;    /* where the capture counts as one on a blocking stream; NULL: nowhere */
    uint32_t lane;                /* the guard's, + 1; 0 none */
    struct promise_kept promised; /* while it has none */
    struct context *context;
    struct stream *next; /* in its hash chain */
    struct retired retired;
};

/* The entry of a created stream; made on first sight, with the kind that the driver says, or unknown inside a capture.
 * Never called with 0, 0x1 or 0x2. NULL: the driver says that it is no stream, or memory lacks. */
struct stream *streams_get(struct thread *thread, CUstream handle);

/* The context's streams that the program has made, as far as they are known, up to `most` at a time, from *next on, which
 * is 0 first. 0: there are no more. A stream may be going at this moment: the caller must know how to tell. */
unsigned streams_of(const struct context *context, unsigned *next, struct stream *found[], unsigned most);

/* The book-keeping of api.def's columns: after a stream is created, before and after a stream is destroyed. */
void streams_created(struct call *C, const CUstream *stream, unsigned flags, int priority);
void streams_leaving(struct call *C, CUstream stream);
void streams_left(struct call *C, CUstream stream);

/* Registers a stream of the shim's own, so that reports can name it. Returns its uid; 0 without memory. */
uint32_t streams_own(struct context *context, CUstream handle, int non_blocking, int priority);

/* All streams of the context are gone with it, whether or not the program destroyed them. */
void streams_go_with(const struct context *context);

void streams_after_fork(void);

#endif
