/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers calls on lanes. Only for the guard's own files; called without its lock.
 */
#ifndef PTDS_REGISTER_H
#define PTDS_REGISTER_H

#include "interpose/state/call.h"

/* Where a call goes: a lane of the pool, the lane of a stream that the program made, of the context's legacy stream, or of
 * the thread's 0x2. Looked up and used in one step under the lock, since lanes change hands. */
struct where {
    enum {
        ON_LANE,
        ON_STREAM,
        ON_STREAM_AS_DEFAULT,
        ON_STREAM_UNNAMED, /* the program did not name the stream in this call */
        ON_LEGACY,
        ON_OWN
    } on;
    unsigned lane;
    struct stream *stream;
    struct context *context;
    struct thread_context *here;
    int gathers;           /* the thread may move to the lane of the threads with which its work conflicts */
    const uint16_t *fully; /* lanes after all of whose work the call comes */
    unsigned fully_count;
};

/* Registers the call and makes its waits; it has its turn then. C->guarded says of what kind the call is, and whether the
 * host waits. Returns the lane; negative: nothing was done, since there is no lane, or since the program did not name the
 * stream and is about to destroy it or to capture on it. */
enum { REGISTER_NO_LANE = -1, REGISTER_NO_STREAM = -2 };
int register_begin(struct call *C, const struct where *where);

/* The host waits for what is on the stream, as it does inside the driver for some calls: those must not wait in their turn.
 */
void register_and_wait(struct call *C, const struct where *where);

/* The host has waited for what C->guarded says, or has not (the call failed). */
void register_done(struct call *C, CUresult result);

/* The guard has no part in this call. */
void register_none(struct call *C);

#endif
