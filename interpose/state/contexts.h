/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's contexts, each with a uid that is never used again, since the driver uses handles again. Contexts are
 * learnt when they are created: to ask the driver at first sight would invalidate a capture (measured).
 */
#ifndef PTDS_CONTEXTS_H
#define PTDS_CONTEXTS_H

#include <stdint.h>

#include "interpose/api/cuda_abi.h"
#include "interpose/base/retired.h"
#include "interpose/trace/format.h"

struct call;
struct device_base;
struct pool;
struct thread;

/* LEAVES: the driver is asked to destroy the context, and may refuse; until then the context is what it was. */
enum { CONTEXT_LEAVES = 1, CONTEXT_GONE };

struct context {
    CUcontext handle;
    uint32_t uid;
    uint32_t kind; /* enum ptds_context_kind */
    int32_t device;
    uint32_t gone;              /* 0: it lives */
    uint32_t legacy_uid;        /* of its legacy stream */
    uint32_t blocking_captures; /* open captures on blocking and per-thread streams */
    uint32_t users;             /* of a created one: its creator, and each call that attached to it */
    uint32_t lanes_refused; /* the driver made some streams for the default stream's work, and no more: don't ask again */
    uint32_t domain;        /* the guard's number for it, + 1; 0 none yet */
    CUgreenCtx green;       /* which it stands for; NULL none */
    struct pool *pool;      /* the guard's; NULL none yet */
    struct device_base *device_base;
    struct context *next;
    struct retired retired;
};

/* The current context of the calling thread; contexts_none: there is none. NULL without memory to remember it. */
struct context *contexts_now(struct thread *thread);

/* Where no context is current. */
extern struct context contexts_none;

/* The context of a handle, remembered on first sight. NULL without memory. */
struct context *contexts_get(CUcontext handle);

/* Calls each() for every context that is alive. */
void contexts_each(void (*each)(struct context *, void *), void *argument);

/* The book-keeping of api.def's before and after columns. Those that run after the call look at C->result. */
void contexts_coming(struct call *C); /* before a context is created */
void contexts_created(struct call *C, const CUcontext *context);
void contexts_attached(struct call *C, const CUcontext *context);
void contexts_detaching(struct call *C, CUcontext context);
void contexts_detached(struct call *C);
void contexts_current(struct call *C, CUcontext context);
void contexts_leaving(struct call *C, CUcontext context); /* before the call that destroys it */
void contexts_left(struct call *C);                       /* after it */
void contexts_waited(struct call *C, CUcontext context);  /* the host has waited for all of this context */
void contexts_green(struct call *C, const CUcontext *context, CUgreenCtx green);
void contexts_green_leaving(struct call *C, CUgreenCtx green);
void contexts_green_left(struct call *C);
void contexts_primary_retained(struct call *C, const CUcontext *context, CUdevice device);
void contexts_primary_leaving(struct call *C, CUdevice device);
void contexts_primary_left(struct call *C, CUdevice device);
void contexts_primary_reset(struct call *C);

/* In a forked child: contexts and streams are the parent's. */
void contexts_after_fork(void);

#endif
