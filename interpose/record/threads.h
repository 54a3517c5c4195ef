/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread in the record: its beginning, end and names, its exact counts, and the call that it is in right now.
 */
#ifndef PTDS_THREADS_H
#define PTDS_THREADS_H

#include "interpose/state/call.h"

/* The thread's first recorded call, or its beginning while recording runs. By that thread alone. */
void threads_started(struct thread *thread);

/* Its end, by that thread. Adds its counts to those of all ended threads. */
void threads_ended(struct thread *thread);

/* The program's own name for a thread, from that thread or another one. */
void threads_named(struct thread *thread, const char *name);

/* At exit: the names that threads have by now. */
void threads_define_names(void);

/* A recorded call that is timed, before any thread waits for its sake: takes the call's stack where it is a new one. */
void threads_call_begun(struct call *C);

/* Before the driver, or the shim, may wait for the sake of a timed call; once or more often. From here to recorder_call it
 * shows as the call that its thread is in (struct ptds_now). Nothing for a call that is not timed, or not recorded. */
void threads_call_waits(const struct call *C);

/* At the start: takes the chunk for the counts of ended threads, before another use takes the room. */
void threads_counts_start(void);

/* At exit: adds the counts of threads that lie in memory, for which there was no chunk. */
void threads_counts_finish(void);

/* 0 where threads_counts_finish would wait for ever: see lock_comes_free. */
int threads_counts_can_finish(void);

void threads_after_fork(void);

#endif
