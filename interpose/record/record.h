/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder: what is remembered of a process. Per-thread append-only buffers; definitions (names, streams, stacks) go
 * into chunks of their own under a lock, since they are rare. Every function is a no-op while recording is off, keeps
 * errno, and never fails towards the caller: what can't be kept is counted.
 */
#ifndef PTDS_RECORD_H
#define PTDS_RECORD_H

#include "interpose/state/call.h"

extern uint32_t record_running; /* 0 not started, 1 running, 2 refused */

/* The process that is recorded. Its trace may say something else: others can cut or change that. */
extern uint32_t record_pid;

static inline int record_on(void)
{
    return __atomic_load_n(&record_running, __ATOMIC_ACQUIRE) == 1;
}

/* Starts recording if the configuration wants it: on the first call that is more than a look-up or cuInit, so that a
 * process that only links CUDA leaves no file. */
void record_start(void);

/* Hears of the program's objects from now on. Before the first wrapper goes on. */
void record_listen(void);

/* Called once when recording has begun; NULL: nobody wants to know. Set before the first wrapper goes on. */
extern void (*record_started)(void);
/* The same before it ends. */
extern void (*record_ending)(void);

/* Whether the memory of an allocation is still there. For the footprint to set; any thread, takes no memory. */
extern int (*record_memory_is_there)(const struct ptds_rec_MEMORY *memory);

/* The call at hand is going to be recorded as an allocation. */
void record_allocates(struct thread *thread);

/* At exit: closes the trace and prints what PTDS_REPORT asks for. Once. */
void record_finish(void);

/* Writes buffers out where they are backed by a file (ptds_flush). */
void record_flush(void);

/* Empties what a thread state remembers of stacks and kernels, for its next thread. */
void record_forget_caches(struct thread *thread);

void record_thread_started(struct thread *thread);
void record_thread_ended(struct thread *thread);

/* The program's own name for a thread, from that thread or another. */
void record_thread_named(struct thread *thread, const char *name);

/* The counts of threads that have ended have a place of their own, before anything else takes it. */
void record_counts_start(void);
/* At exit: so do those of threads that there was no room for. */
void record_counts_finish(void);

/* 0 where that would wait for ever: see lock_comes_free. */
int record_counts_can_finish(void);

/* At exit: the names that threads have by now. */
void record_thread_names(void);

/* A recorded call that is timed, before anybody waits for anything. */
void record_begun(struct call *C);

/* Before the driver, or the shim, may wait for the sake of a timed call; once or more often. From here to record_call it
 * shows as the call that its thread is in. Of a call that is not timed, or not recorded, nothing shows. */
void record_waits(const struct call *C);

/* One finished call, and the thread's exact counts. */
void record_call(struct call *C);

/* The shim made a stream wait for another, by uids, and for its work of calls that began before `until` (ticks). */
void record_edge(struct call *C, uint32_t waits, uint32_t behind, uint64_t until);

void record_context(const struct context *context, enum ptds_life state);
/* Once a device; -1 unknown. */
void record_device(int device);
void record_stream(uint32_t uid, CUstream handle, const struct context *context, uint32_t kind, enum ptds_life state,
                   int priority, uint32_t stack);
struct kernel;
/* layout: of its parameters, offset << 16 | size each; params UINT32_MAX: unknown. */
/* variables: as in the record. */
void record_kernel(uint64_t handle, uint32_t uid, uint32_t params, const uint32_t *layout, uint32_t variables,
                   const char *name);
/* Beside it, once its code was read. */
struct code_facts;
void record_kernel_facts(uint32_t uid, const struct code_facts *facts);
/* handed: enum ptds_handed. */
void record_untabled(const char *name, int handed, int cuda_version, uint32_t calls);
void record_bypass(enum ptds_bypass what, const char *object, uint32_t functions);
void record_process(enum ptds_process what, uint32_t pid);
/* In the parent. Waits for nothing: a signal handler may fork, whatever it has interrupted. */
void record_fork(void);

/* Regions of a thread, and ranges of the process, which may end in another thread. domain: of NVTX; NULL the default one
 * and ptds.h. 0: nothing is recorded or going to be. */
int record_region_push(struct thread *thread, const char *name, const char *domain);
int record_region_pop(struct thread *thread, const char *domain);
uint64_t record_range_start(struct thread *thread, const char *name, const char *domain);
void record_range_end(struct thread *thread, uint64_t range);

/* The thread's recording begins: with the regions that it is in. */
void record_regions_started(struct thread *thread);

/* The id of the call's stack. */
uint32_t record_stack(struct call *C);

/* In a forked child: the parent's trace is the parent's. */
void record_after_fork(void);
void record_start_after_fork(void);
void record_threads_after_fork(void);
void record_devices_after_fork(void);

#endif
