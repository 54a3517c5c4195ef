/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder: what is remembered of a process. Records of calls go into chunks of the calling thread's own, append-only;
 * definitions (names, streams, stacks) go into chunks that all threads share, under a lock, since they are rare (file/).
 * Every function does nothing while recording is off, keeps errno, and reports no error: what can't be kept is counted in
 * the trace's header. Uids are those of state/.
 */
#ifndef PTDS_RECORDER_H
#define PTDS_RECORDER_H

#include "interpose/state/call.h"

enum { RECORDER_NOT_STARTED, RECORDER_RUNS, RECORDER_REFUSED };
extern uint32_t recorder_running; /* one of these; set by start.c */

/* The process that is recorded. The trace's header may say something else: other processes can change that. */
extern uint32_t recorder_pid;

static inline int recorder_on(void)
{
    return __atomic_load_n(&recorder_running, __ATOMIC_ACQUIRE) == RECORDER_RUNS;
}

/* Hears of the program's contexts, streams and threads from now on. Before the first wrapper goes on. */
void recorder_listen(void);

/* Called once when recording has begun, and once before it ends. NULL: no caller. Set before the first wrapper goes on. */
extern void (*recorder_started)(void);
extern void (*recorder_ending)(void);

/* Writes the chunks to disk where they lie in a file (ptds_flush). */
void recorder_flush(void);

/* Empties what a thread's state remembers of stacks, for the next thread that gets the state. */
void recorder_forget_caches(struct thread *thread);

/* One finished call: its record, and the thread's exact counts. The hot path. */
void recorder_call(struct call *C);

/* The shim made stream `waits` wait for stream `behind` (uids): for its work of calls that began before `until` (ticks). */
void recorder_edge(struct call *C, uint32_t waits, uint32_t behind, uint64_t until, enum ptds_edge_why why);

/* Definitions; `stack` is the id of the creating call's, 0: none. */
void recorder_context(const struct context *context, enum ptds_life state);
void recorder_stream(uint32_t uid, CUstream handle, const struct context *context, uint32_t kind, enum ptds_life state,
                     int priority, uint32_t stack);

/* `layout` has an entry for each of `params` parameters, offset << 16 | size in bytes; params UINT32_MAX: not known.
 * `variables`: as in the record. `name` NULL: not known. */
void recorder_kernel(uint64_t handle, uint32_t uid, uint32_t params, const uint32_t *layout, uint32_t variables,
                     const char *name);

/* `handed`: enum ptds_handed. */
void recorder_untabled(const char *name, int handed, int cuda_version, uint32_t calls);
void recorder_bypass(enum ptds_bypass what, const char *object, uint32_t functions);
void recorder_process(enum ptds_process what, uint32_t pid);

/* In the parent of a fork. Waits for no lock: a signal handler may fork, whatever it has interrupted. */
void recorder_fork(void);

/* The id of the call's stack, taken now; 0: recording is off. */
uint32_t recorder_stack(struct call *C);

/* In a forked child: the trace is the parent's, and nothing in it is touched. */
void recorder_after_fork(void);

#endif
