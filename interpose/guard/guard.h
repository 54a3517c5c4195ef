/* SPDX-License-Identifier: Apache-2.0
 *
 * The guard: keeps legacy order where data asks for it, among streams that the driver lets run side by side. A policy says
 * which stream stands for the default stream; the guard does the rest. Called by policies (which lane) and by the wrappers
 * (before and after the real call). Every function keeps errno and does nothing while guard_on is 0.
 */
#ifndef PTDS_GUARD_H
#define PTDS_GUARD_H

#include "interpose/guard/kinds.h"
#include "interpose/state/call.h"

/* Set once, before the first wrapper goes on, by a policy that wants the guard. */
extern uint32_t guard_on;

/* `count` streams of the context that stand for its default stream, made where there are none yet; the context is current.
 * Returns how many there are. */
unsigned guard_make_lanes(struct context *context, unsigned count, unsigned flags, int has_priority, int priority);

/* How many to make now: one, until a second thread comes or one thread's work spreads over several, for each costs some
 * memory of the device. */
unsigned guard_lanes_wanted(const struct thread *thread, struct context *context, unsigned spread);

/* 0: the thread has had no default-stream work in the context. */
int guard_has_lane(struct thread *thread, struct context *context);

/* 0: none yet, for example because a capture was open when the context became current. */
int guard_has_lanes(const struct context *context);

/* Default-stream work: on which of the thread's lanes, at most `spread` of them. Sets C->target and C->way and makes the
 * waits. 0: the work has to stay on the legacy stream, with the reason in its flags. */
int guard_default_work(struct call *C, int implicit, unsigned spread);

/* The same on a stream of the program's own that stands for the default stream (ptds.h). */
int guard_default_work_on(struct call *C, int implicit, struct stream *stream);

/* Work that stays on the real legacy stream; on C->stream, which the program made; on the thread's 0x2. */
void guard_legacy_work(struct call *C);
void guard_stream_work(struct call *C);
void guard_per_thread_work(struct call *C);

/* Around the real call of every row. */
void guard_enter(struct call *C);
void guard_leave(struct call *C);
static inline void guard_entering(struct call *C)
{
    if (guard_on && C->guarded.kind != GUARD_WORK)
        guard_enter(C);
}
static inline void guard_leaving(struct call *C)
{
    if (guard_on && (C->guarded.kind != GUARD_NOTHING || C->guarded.begun))
        guard_leave(C);
}

/* What api.def's column `told` asks for: the host waits for all that it was promised to be done. Outside of any turn of the
 * call's. The second, where memory lacked: 1 if there was such work, so it is worth while to make the call once more. */
void guard_settle_all(struct call *C);
int guard_settle_lacking(struct call *C);

/* After a synchronous form that went as an asynchronous one: waits as the original would have. */
void guard_finish_implicit(struct call *C);

/* After a call for which there was no lane. */
void guard_finish_alone(struct call *C);

/* The host waits for all work of the call's context. 0: it could not. */
int guard_all_is_done(const struct call *C);

/* Before a call of which nothing is known, and after it: it comes after all work of the current context that legacy order
 * promises to any of its streams, and all that is promised those streams' work comes after it. Nothing of C counts but the
 * thread. */
void guard_everywhere(struct call *C);

/* After the book-keeping of the call: what it has made counts as touched. */
void guard_learn(struct call *C);
static inline void guard_late(struct call *C)
{
    int is_plain = C->guarded.kind == GUARD_WORK && !C->guarded.waits && C->op != PTDS_OP_ALLOC_ASYNC;
    if (guard_on && !is_plain)
        guard_learn(C);
}

/* The program's SetAttribute on the default stream: on the lanes, too, also on those that are made later. */
void guard_each_lane(struct context *context, void (*each)(CUstream lane, void *data), void *data);

/* A capture is about to take the stream in, or the stream is about to go: what is on it is marked, and nobody records on it
 * any more. */
void guard_capture_takes(struct stream *stream);

/* The context has ended past the shim. */
void guard_context_ended(struct context *context);

/* Launches of some graph record the event from now on; waits: wait for it. */
void guard_event_in_graph(CUevent event, int waits);

/* A call that is no operation of a lane, or known for recording another event, records it. */
void guard_event_recorded_elsewhere(CUevent event);

/* The program is about to take away what C touches, or access to it: the host waits for what uses it still. Like the next,
 * only where the row says so. */
void guard_memory_leaves(struct call *C);

/* The host, or others, can touch the memory from now on; before the call is back. */
void guard_memory_shown(struct call *C, struct memory *memory);

/* The memory object is about to serve for another memory: nobody has touched that. */
void guard_memory_gone(struct memory *memory);

/* The call at hand gives up its turn and gate: another one, made inside of it, may make the host wait. Calls no driver. */
void guard_holds_none(struct thread *thread);

/* The thread ends, its work still pending. Calls no driver. */
void guard_thread_ends(struct thread *thread);

/* In a forked child. */
void guard_after_fork(void);

#endif
