/* SPDX-License-Identifier: Apache-2.0
 *
 * What the shim knows about the program's contexts, streams, events, graphs and memory: kinds, and uids that are never
 * reused, since the driver reuses handles. Learnt when they are created, because asking the driver at first sight would
 * invalidate a capture (measured). Lookups take no lock where the thread has seen the handle just before.
 */
#ifndef PTDS_OBJECTS_H
#define PTDS_OBJECTS_H

#include <stdint.h>

#include "interpose/api/cuda_abi.h"
#include "interpose/base/retired.h"
#include "interpose/state/promise.h"
#include "interpose/trace/format.h"

struct call;
struct device_base;
struct pool;
struct thread;

/* The driver is asked to destroy it, and may refuse: it is the same still; and it has. */
enum { CONTEXT_LEAVES = 1, CONTEXT_GONE };

struct context {
    CUcontext handle;
    uint32_t uid;
    uint32_t kind; /* enum ptds_context_kind */
    int32_t device;
    uint32_t gone;              /* 0: it lives */
    uint32_t legacy_uid;        /* of its legacy stream */
    uint32_t blocking_captures; /* open captures on blocking and per-thread streams */
    uint32_t users;             /* of a created one: who created it, and who attached to it */
    uint32_t lanes_refused; /* the driver made some streams for the default stream's work, and no more: don't ask again */
    uint32_t domain;        /* the guard's number for it, + 1; 0 none yet */
    CUgreenCtx green;       /* which it stands for; NULL none */
    struct pool *pool;      /* the guard's; NULL none yet */
    struct device_base *device_base;
    struct context *next;
    struct retired retired;
};

/* As with contexts. */
enum { STREAM_LEAVES = 1, STREAM_GONE };

struct stream {
    CUstream handle;
    uint32_t uid;
    uint32_t kind;      /* enum ptds_stream_kind */
    uint32_t gone;      /* 0: it lives */
    uint32_t capturing; /* the capture that it takes part in; 0 none */
    uint32_t taken; /* a capture is about to take it in, or has: what its program did not name it for must not touch it */
    struct stream *next_captured;
    struct context *minded_in;    /* whose legacy work minds that, as it was counted; NULL none */
    uint32_t lane;                /* the guard's, + 1; 0 none */
    struct promise_kept promised; /* while it has none */
    struct context *context;
    struct stream *next; /* in its hash chain */
    struct retired retired;
};

/* The current context of the calling thread; one without a handle if there is none. NULL without memory to remember it. */
struct context *objects_context_now(struct thread *thread);

/* The context of a handle, remembered on first sight. */
struct context *objects_context(CUcontext handle);

/* Calls each() for every context that is alive. */
void objects_each_context(void (*each)(struct context *, void *), void *argument);

/* A created stream's entry; one made on first sight (kind as the driver says, or unknown inside a capture). Never called
 * with 0, 0x1 or 0x2. NULL only without memory. */
struct stream *objects_stream(struct thread *thread, CUstream handle);

/* The context's streams that the program has made, as far as they are known, up to `most` at a time, from *next on, which
 * is 0 first. 0: there are no more. They may be going at this moment: who looks must know how to tell. */
unsigned objects_streams_of(const struct context *context, unsigned *next, struct stream *found[], unsigned most);

/* A new uid, from 1. Streams, events, kernels, graphs, contexts and memory each count on their own. */
enum object_kind { OBJECT_CONTEXT, OBJECT_STREAM, OBJECT_EVENT, OBJECT_KERNEL, OBJECT_GRAPH, OBJECT_MEMORY, OBJECT_KINDS };
uint32_t objects_uid(enum object_kind kind);

/* The book-keeping of api.def's before and after columns. All look at C->result where they run after the call. */
void objects_stream_created(struct call *C, const CUstream *stream, unsigned flags, int priority);
void objects_stream_gone(struct call *C, CUstream stream);
void objects_stream_left(struct call *C, CUstream stream);
void objects_context_coming(struct call *C); /* before a context is created */
void objects_context_created(struct call *C, const CUcontext *context);
void objects_context_attached(struct call *C, const CUcontext *context);
void objects_context_detaching(struct call *C, CUcontext context);
void objects_context_detached(struct call *C);
void objects_context_green(struct call *C, const CUcontext *context, CUgreenCtx green);
void objects_green_leaving(struct call *C, CUgreenCtx green);
void objects_green_left(struct call *C);
void objects_context_current(struct call *C, CUcontext context);
void objects_context_gone(struct call *C, CUcontext context);
void objects_primary_retained(struct call *C, const CUcontext *context, CUdevice device);
void objects_primary_leaving(struct call *C, CUdevice device);
void objects_context_kept(struct call *C);
void objects_context_waited(struct call *C, CUcontext context); /* named by a wait for all of it */
void objects_primary_left(struct call *C, CUdevice device);
void objects_primary_reset(struct call *C);

/* Registers a stream of the shim's own, so that reports can name it. Returns its uid. */
uint32_t objects_own_stream(struct context *context, CUstream handle, int non_blocking, int priority);

/* In a forked child: forget what belonged to the parent. */
void objects_after_fork(void);

#endif
