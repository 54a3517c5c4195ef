/* SPDX-License-Identifier: Apache-2.0
 *
 * One driver call on its way through the shim: what the wrapper, the footprint, the policy and the recorder pass along.
 * Lives on the wrapper's stack.
 */
#ifndef PTDS_CALL_H
#define PTDS_CALL_H

#include <stdint.h>

#include "interpose/api/api.h"
#include "interpose/state/promise.h"
#include "interpose/state/streams.h"
#include "interpose/state/thread.h"
#include "interpose/state/touched.h"
#include "interpose/trace/format.h"

#define CALL_WORDS 40u

struct program_event;
struct module;

/* How a call whose stream is implicit reaches its target. */
enum call_way {
    CALL_AS_IS,   /* the function that was called */
    CALL_AS_TWIN, /* the per-thread twin */
    CALL_AS_ASYNC /* the asynchronous form on `target`, and the host wait that the original promised */
};

/* Which sides of a copy its function or struct names as host memory, whatever memory it really is. Of a graph's launch:
 * CALL_TO_HOST, a copy of the graph is to plain host memory; CALL_KERNEL_TO_HOST, a kernel of the graph may write memory
 * that the host can touch. */
enum call_host_sides { CALL_TO_HOST = 1, CALL_FROM_HOST = 2, CALL_KERNEL_TO_HOST = 4 };

/* Of the guard: the call's turn on its lane, from when it was registered until the driver has it. */
struct guarded {
    uint8_t kind;  /* enum guard_kind; 0: the guard has no part in it */
    uint8_t turn;  /* a turn is held */
    uint8_t gate;  /* the lane's gate is held */
    uint8_t again; /* plain work that the lane had done before: not registered */
    uint8_t settled, begun;
    uint8_t alone; /* no lane is left: the host waits before the call and after it */
    uint8_t waits; /* the host waits for the lane: `until` and what comes with it are known to be done then */
    int16_t mark_after;
    uint16_t lane;
    uint32_t ticket;
    struct program_event *leaving; /* a call that destroys an event: the event, which look-ups no longer find; else NULL */
    struct program_event
        *awaited; /* a stream's wait: the event, if its newest record is the one that `until` is of; else NULL */
    uint64_t until, ordered[PROMISE_LANES];
    struct promise promise; /* of a host's wait: what all operations after it are promised */
};

/* Where the return address of an exported function lies on the stack; where the processor keeps it in a register, where it
 * would lie. The same address in all functions to which the call is passed on by a jump. */
#if defined(__x86_64__)
#define CALL_FRAME() ((const void *const *)__builtin_frame_address(0) + 1)
#else
#define CALL_FRAME() ((const void *const *)__builtin_dwarf_cfa() - 1)
#endif

/* caller and frame, object and generation, op and kinds are written apart, read soon after, and so do not lie side by side:
 * compilers read neighbours in one go, and the processor then waits until both have left its store buffer (up to a
 * nanosecond and a half a recorded call, measured). */
struct call {
    uint16_t api;
    uint8_t twin;
    uint8_t way;    /* enum call_way; policies choose it */
    uint32_t flags; /* enum ptds_call_flags */
    CUresult result;
    uint32_t object;    /* of the footprint */
    const void *caller; /* the return address of the wrapper */
    void *real;         /* what it calls in the end: the driver's function, or another library's in front of it */
    struct thread *thread;
    const void *const *frame; /* CALL_FRAME() */
    struct context *context;  /* the work's; NULL unknown */
    struct stream *stream;    /* the created stream that the program named; NULL for the default ones and none */
    uint32_t stream_uid, target_uid;
    CUstream target;
    uint64_t enter;
    struct hostfunc *hostfunc;    /* of the calls that put one on a stream: its node, NULL none */
    struct device_sample *sample; /* device_times: events around this call; NULL none */
    struct device_pool *sample_pool;
    struct memory
        *leaving;          /* a call that frees memory: the memory, no longer found by address, held until after the call */
    struct module *module; /* of the calls that unload one, the same */
    uint16_t edges;        /* EDGE records made for it */
    uint8_t other;         /* `real` is another library's, of this very name: no other function may take its place */
    /* the footprint */
    uint8_t footprint; /* 1: the recorder or the policy wants the fields below */
    uint8_t op;        /* enum ptds_op */
    uint8_t words;
    uint8_t kinds;      /* destination | source << 4 */
    uint8_t followed;   /* it may touch memory past what the words point to: launches.c */
    uint8_t host_sides; /* enum call_host_sides; set with the kinds of a copy or memset, and by a graph's launch */
    uint32_t generation;
    uint32_t stack; /* of the recorder: the stack's id, where it was taken before the call; 0: not yet */
    CUevent event;  /* the event that the call is about; set with op */
    uint64_t word[CALL_WORDS];
    struct touched touched; /* of the footprint: what the operation reads and writes */
    struct guarded guarded;
};

#endif
