/* SPDX-License-Identifier: Apache-2.0
 *
 * What the folders above want to hear of the program's objects. Set before the first wrapper goes on; each may be NULL.
 */
#ifndef PTDS_HOOKS_H
#define PTDS_HOOKS_H

#include "interpose/api/cuda_abi.h"

struct call;
struct context;
struct stream;
struct thread;

struct state_hooks {
    /* A context has become current outside any capture: time to make streams. */
    void (*context_current)(struct call *C, struct context *context);
    /* The program is about to destroy a stream. */
    void (*stream_leaves)(CUstream stream);
    /* A capture is about to take the stream in. */
    void (*stream_captures)(struct stream *stream);
    /* The thread ends; no driver calls. */
    void (*thread_ends)(struct thread *thread);
};
extern struct state_hooks state_hooks;

#endif
