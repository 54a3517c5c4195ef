/* SPDX-License-Identifier: Apache-2.0
 *
 * What the folders above want to hear of the program's objects. Set before the first wrapper goes on; each may be NULL.
 */
#ifndef PTDS_HOOKS_H
#define PTDS_HOOKS_H

#include <stdint.h>

#include "interpose/api/cuda_abi.h"
#include "interpose/trace/format.h"

struct call;
struct context;
struct memory;
struct stream;
struct thread;

struct state_hooks {
    /* A context has become current outside any capture: time to make streams. */
    void (*context_current)(struct call *C, struct context *context);
    /* A context has ended, and no call that was seen has destroyed it. */
    void (*context_ended)(struct context *context);
    /* The program is about to destroy a stream. */
    void (*stream_leaves)(CUstream stream);
    /* A capture is about to take the stream in. */
    void (*stream_captures)(struct stream *stream);
    /* Launches of some graph record the event from now on; `waits`: they wait for it. */
    void (*graph_event)(CUevent event, int waits);
    /* A call is about to record the event that is known for recording another one. */
    void (*event_elsewhere)(CUevent event);
    /* Memory is about to be unmapped, or not to be accessible any more: what C touches. */
    void (*memory_leaves)(struct call *C);
    /* The host, or others, can touch the memory from now on. */
    void (*memory_shown)(struct call *C, struct memory *memory);
    /* The thread ends; no driver calls. */
    void (*thread_ends)(struct thread *thread);
    /* For the record: contexts and streams come and go; C is the call that made the stream, NULL: no call. A thread begins,
     * a thread has ended, its state may serve another thread. */
    void (*context_seen)(const struct context *context, enum ptds_life life);
    void (*stream_seen)(struct call *C, uint32_t uid, CUstream handle, const struct context *context, uint32_t kind,
                        enum ptds_life life, int priority);
    void (*thread_began)(struct thread *thread);
    void (*thread_ended)(struct thread *thread);
    void (*thread_over)(struct thread *thread);
};
extern struct state_hooks state_hooks;

#define STATE_TELL(hook, ...) \
    do { \
        if (state_hooks.hook) \
            state_hooks.hook(__VA_ARGS__); \
    } while (0)

#endif
