/* SPDX-License-Identifier: Apache-2.0
 *
 * What the guard keeps ready for each context: streams that stand for the default stream, and events. Lanes are made
 * before the threads that want them have work, for a context's 36th stream is not made while kernels run (measured,
 * docs/queues.md), and no more than the device has queues for (queues.h). Only for the guard's own files.
 */
#ifndef PTDS_POOL_H
#define PTDS_POOL_H

#include "interpose/base/lock.h"
#include "interpose/guard/decide/order.h"
#include "interpose/guard/decide/queue_share.h"
#include "interpose/state/call.h"

enum { POOL_LANES = 32, POOL_EVENTS = 1024 };

/* A stream that is ready; it gets a lane when a thread needs one. */
struct pooled {
    CUstream handle;
    uint32_t uid;
    uint16_t lane; /* + 1; 0 none yet */
};

struct pool {
    uint16_t attributes;    /* 1: the program has set some on the default stream, and so on these */
    uint16_t count, opened; /* streams, and those that have a lane */
    struct pooled at[POOL_LANES];
    uint8_t apart;         /* the streams are non-blocking: the legacy stream does not know of them */
    uint16_t legacy;       /* the real legacy stream's lane + 1; 0 none yet */
    uint32_t first_thread; /* the uid of the first one that came; 0 none yet */
    uint32_t changes; /* counts what makes threads choose their lanes anew. Changed under the guard's lock, read anywhere */
    struct queue_share crowd;
    struct lock events_lock;
    uint32_t events;
    CUevent event[POOL_EVENTS]; /* nobody's at the moment */
    struct retired retired;
};

/* The context's, made on first sight; NULL without memory, or where there are too many contexts. */
struct pool *pool_of(struct context *context);

/* Locked: the lane of the context's real legacy stream. -1: none. */
int pool_legacy_lane(struct context *context);

/* The lanes of the thread's default-stream work, up to `spread` of them: the least used. Returns how many there are. */
unsigned pool_lanes_of(struct thread_context *here, unsigned spread);

/* Locked: threads choose their lanes anew. */
void pool_changed(struct pool *pool);

/* Locked: a lane that is not the pool's has come, or one has gone. Work moves to fewer lanes where the device has no queues
 * for so many. */
void pool_crowd(struct context *context, int more);

/* Locked: all work of the context is done, so that lanes may be more again. */
void pool_anew(struct context *context);

/* Locked: the thread has registered work with these waits. Threads whose work keeps conflicting gather on one lane, where
 * order costs nothing, and look now and then whether it is still so. */
void pool_gather(struct thread_context *here, const struct order_plan *plan);

/* Work without conflicts that is not registered counts there, too. 0: it is time to move back. */
enum { POOL_AWAY_AT_MOST = 4096 };
static inline int pool_stays(struct thread_context *here)
{
    if (here->home_lane && ++here->away >= POOL_AWAY_AT_MOST)
        return 0;
    here->conflicts = (uint16_t)(here->conflicts - (here->conflicts != 0));
    return 1;
}

/* The thread ends, or its state is for another one: its lanes are free for others, its work on them still pending. */
void pool_thread_gone(struct thread_context *here);

void pool_after_fork(void);

/* The context is gone, and all that it had. */
void pool_context_gone(struct context *context);

#endif
