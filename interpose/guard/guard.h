/* SPDX-License-Identifier: Apache-2.0
 *
 * The guard: keeps legacy order where data asks for it, among streams that the driver lets run side by side. A policy says
 * which stream stands for the default stream; the guard does the rest. Called by policies (which lane) and by the wrappers
 * (before and after the real call). Every function keeps errno and does nothing while guard_on is 0.
 */
#ifndef PTDS_GUARD_H
#define PTDS_GUARD_H

#include "interpose/guard/carry_out/issue.h"
#include "interpose/state/call.h"

/* Default-stream work: on which of the thread's lanes, at most `spread` of them (0: as the thread
 * chooses by itself). Sets C->target and C->way and makes the
 * waits. 0: the work has to stay on the legacy stream, with the reason in its flags. */
int guard_default_work(struct call *C, int implicit, unsigned spread);

/* The same on a stream of the program's own that stands for the default stream (ptds.h). */
int guard_default_work_on(struct call *C, int implicit, struct stream *stream);

/* Work that stays on the real legacy stream; on C->stream, which the program made; on the thread's 0x2. */
void guard_legacy_work(struct call *C);
void guard_stream_work(struct call *C);
void guard_per_thread_work(struct call *C);

/* After a synchronous form that went as an asynchronous one: waits as the original would have. */
void guard_finish_implicit(struct call *C);

/* After a call for which there was no lane. */
void guard_finish_alone(struct call *C);

/* The host waits for all work of the call's context. 0: it could not. */
int guard_all_is_done(const struct call *C);

#endif
