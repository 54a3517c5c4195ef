/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the streams of a context's pool, and says how many are wanted. Called by policies; each function keeps errno.
 */
#ifndef PTDS_POOL_STREAMS_H
#define PTDS_POOL_STREAMS_H

#include "interpose/state/call.h"

/* `count` streams of the context that stand for its default stream, made where there are none yet; the context is current.
 * Returns how many there are. */
unsigned pool_streams_make(struct context *context, unsigned count, unsigned flags, int has_priority, int priority);

/* How many to make now: one, until a second thread comes or one thread's work spreads over several, for each costs some
 * memory of the device. */
unsigned pool_streams_wanted(const struct thread *thread, struct context *context, unsigned spread);

/* 0: the thread has had no default-stream work in the context. */
int pool_streams_thread_has(struct thread *thread, struct context *context);

/* 0: none yet, for example because a capture was open when the context became current. */
int pool_streams_are_made(const struct context *context);

/* The program's SetAttribute on the default stream: on the lanes, too, also on those that are made later. */
void pool_streams_each(struct context *context, void (*each)(CUstream lane, void *data), void *data);

#endif
