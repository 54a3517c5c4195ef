/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of policy ordered share: one thread's own order (ordered.c), order between threads (ordered_threads.c),
 * and the edges that both are made of (ordered_edges.c). Only for these three.
 */
#ifndef PTDS_ORDERED_H
#define PTDS_ORDERED_H

#include "interpose/state/call.h"

/* Makes the context current for a moment where it is not: the per-thread stream is the current context's. -1: can't. */
int ordered_enter(const struct context *context);
void ordered_leave(int entered);

/* 1 if the thread has its two events here. */
int ordered_events(struct thread_context *here);

/* `waiting` does not go on before what `on` holds now. The call is the shim's own, so base entries and explicit handles. */
int ordered_edge(CUevent event, CUstream on, CUstream waiting);

/* The default stream waits for one used stream. 0 if no event can do that: the stream is gone, by another thread's hand. */
int ordered_join_one(struct call *C, struct thread_context *here, struct used_stream *used);

/* The default stream waits for every stream used since it last did; a capturing one has nothing to wait for yet. 0 if one
 * of them can't be waited for by an event: then only the legacy stream can take the next default-stream work. C is NULL
 * where no call of the program's is the reason, and its record can't tell. */
int ordered_join(struct call *C, struct thread_context *here);

/* default_event stands for the default-stream work so far. Without events the host waits for that work instead. */
void ordered_mark(struct thread_context *here);

static inline int ordered_is_entry(const struct used_stream *used, const struct stream *stream)
{
    return used->stream == stream && used->uid == stream->uid;
}

/* The thread's entry for a stream; NULL without memory. */
struct used_stream *ordered_entry_slow(struct thread_context *here, struct stream *stream);

static inline struct used_stream *ordered_entry(struct thread_context *here, struct stream *stream)
{
    uint16_t hint = here->used_hint[stream->uid % USED_HINTS];
    if (__builtin_expect(hint < here->used_count && ordered_is_entry(&here->used[hint], stream), 1))
        return &here->used[hint];
    return ordered_entry_slow(here, stream);
}

/* The entry's stream is still the one that was entered. */
int ordered_alive(const struct used_stream *used);

/* Order between threads. The default stream waits for the work of these kinds that other threads have handed over; 0: no
 * event can do that, and it stays owed. `kinds`: 1 default-stream work only, HANDED_KINDS all. */
int ordered_take(struct call *C, struct thread_context *here, int kinds);

/* struct policy, hand_over and after_fork. */
void ordered_hand_over(struct thread *thread, int may_call);
void ordered_after_fork(void);

#endif
