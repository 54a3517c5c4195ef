/* SPDX-License-Identifier: Apache-2.0
 *
 * What the shim keeps for each host thread that calls CUDA. Owned by that thread; other threads read it only where said.
 */
#ifndef PTDS_THREAD_H
#define PTDS_THREAD_H

#include <stdint.h>

#include "interpose/api/api.h"
#include "interpose/state/streams.h"
#include "interpose/trace/format.h"

struct device_pool;
struct lanes_choice;

enum { THREAD_REGIONS = 16 };

/* The thread in one context. */
struct thread_context {
    struct context *context;
    uint32_t context_uid;
    uint32_t per_thread_uid; /* uid of this thread's 0x2 here */
    uint16_t own_lane;       /* the guard's, of this thread's 0x2, + 1; 0 none */
    uint16_t lane_count;     /* the guard's lanes for its default-stream work */
    uint16_t measured;       /* its work goes the long way: PTDS_LANES=auto looks at it */
    uint16_t lanes[32];
    uint16_t home_lane; /* where the thread's work was before it moved to the lane of those that it conflicts with, + 1 */
    uint16_t away;      /* operations since */
    uint16_t conflicts; /* grows with waits for other threads, shrinks without */
    uint32_t changes;   /* the pool's, when the lanes were chosen */
    struct device_pool *device_pool; /* of record/device/device_times.c */
    struct thread_context *next;
};

struct stack_entry;
struct python_thread;
struct kernel_entry;
struct memory_cache;
struct early_region;

struct thread {
    uint32_t uid;
    uint32_t tid; /* 0 where nothing is recorded */
    uint32_t fork_generation;
    uint32_t ended;
    uint32_t unwinding;      /* inside backtrace() */
    struct thread *next_all; /* every state that was ever made */
    struct thread *next_ended;
    struct thread_context *contexts;
    struct thread_context *last_context;
    struct stream *last_stream;
    uint32_t last_stream_uid;
    uint32_t inside;                 /* a call is on its way through another library's function: its row + 1; 0 none */
    uint32_t missed;                 /* the guard's: the call at hand can't go the short way, so that is not tried again */
    uint64_t held;                   /* the guard's turn and gate, from before a call until it is over; 0 none */
    struct lanes_choice *choice;     /* of PTDS_LANES=auto; NULL none */
    struct thread_context *choosing; /* where it chooses; NULL nowhere yet */
    CUstream own_target;             /* ptds.h: the thread's stream for policy stream; NULL none */
    /* recording; see interpose/record */
    struct ptds_count *counts;           /* API_COUNT * 2 */
    struct ptds_default_count *defaults; /* one, of all rows */
    struct ptds_now *now;
    uint32_t counts_in_chunk;
    uint32_t region; /* the innermost one; 0 none */
    uint8_t *chunk_at, *chunk_end;
    struct ptds_chunk *chunk;
    uint32_t allocates; /* the next chunk may hold an allocation's record */
    uint64_t lost, chunks;
    uint32_t regions[THREAD_REGIONS], region_domains[THREAD_REGIONS];
    uint32_t region_depth;
    uint32_t early_depth; /* regions begun before recording was */
    struct early_region *early;
    uint32_t named;   /* the program gave the name, through NVTX */
    uint32_t drivers; /* a thread of the driver's, seen running a host function */
    char name[64];
    struct stack_entry *stacks;
    struct python_thread *python; /* NULL: no function of Python's was seen on the way to a call */
    struct kernel_entry *kernels;
    struct memory_cache *memories;      /* found last */
    struct ptds_chunk *ahead;           /* recording: the next chunk; NULL not had yet */
    const void *stack_low, *stack_high; /* its own; NULL not known */
    uint32_t stack_asked;
};

/* The calling thread's state; made on first use. NULL without memory: then calls pass through. */
struct thread *thread_make(void);

/* The same, on a thread of the driver's own, which the new state notes; a state that is there already stays as it is. */
struct thread *thread_get_as_drivers(void);

/* The kernel's id of the calling thread. */
uint32_t thread_tid(void);

extern __thread struct thread *thread_self __attribute__((tls_model("initial-exec")));

/* Bumped in a forked child; a thread state of another generation is not used. */
extern uint32_t thread_fork_generation;

static inline struct thread *thread_get(void)
{
    struct thread *self = thread_self;
    return __builtin_expect(self && self->fork_generation == thread_fork_generation, 1) ? self : thread_make();
}

/* The thread's entry for a context; NULL without memory. */
struct thread_context *thread_in_slow(struct thread *thread, struct context *context);

static inline struct thread_context *thread_in(struct thread *thread, struct context *context)
{
    struct thread_context *last = thread->last_context;
    if (__builtin_expect(last && last->context == context && last->context_uid == context->uid, 1))
        return last;
    return thread_in_slow(thread, context);
}

/* Every thread seen so far, newest first; the list only grows. */
struct thread *thread_all(void);

/* In a forked child. */
void thread_after_fork(void);

#endif
