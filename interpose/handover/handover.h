/* SPDX-License-Identifier: Apache-2.0
 *
 * What threads hand over to each other by pthread means, for a policy that keeps order between such threads. The policy
 * says what work is (struct policy, hand_over), this folder carries it from thread to thread; see carry.c.
 */
#ifndef PTDS_HANDOVER_H
#define PTDS_HANDOVER_H

#include <stdint.h>

#include "interpose/handover/clock.h"
#include "interpose/handover/objects.h"
#include "interpose/state/thread.h"

/* Every thread's own, also of those that never call CUDA: what came before belongs to what they pass on. In static storage,
 * because it is needed inside malloc's own locks. */
struct handover_self {
    uint32_t news;     /* bumped when `known` learns from others */
    uint32_t seen;     /* conversions looked at so far */
    uintptr_t mutex;   /* the last one locked or unlocked */
    uintptr_t held[8]; /* locked now, the innermost last; the outermost are forgotten first */
    uint32_t held_count;
    uint32_t busy;      /* inside this folder or a wrapper: what the driver and its tools lock there is no hand-over */
    uint32_t forks;     /* thread_fork_generation that the rest belongs to */
    uint64_t locked[8]; /* which mutexes were locked, by hash, that belonged to no condition then */
    struct clocks known;
};
extern __thread struct handover_self handover_self __attribute__((tls_model("initial-exec")));

/* 1 once a thread may have work to hand over. */
extern uint32_t handover_on;
void handover_start(void);

/* 1 if this thread has taken over something since `news` was its count. One test for the hot path. */
static inline int handover_pending(uint32_t news)
{
    return __builtin_expect(
        (handover_self.news ^ news) | (handover_self.seen ^ __atomic_load_n(&objects_converted, __ATOMIC_RELAXED)), 0);
}

/* Everything that this thread has taken over until now. For the policy, inside a wrapper. */
const struct clocks *handover_known(void);

/* The thread itself has put more into its lane. */
void handover_note(int kind, int lane, uint64_t count);

/* The events of the table in functions.def, by what they mean here; all keep errno. */
void handover_give(const void *object);
void handover_take(const void *object);
void handover_locked(const void *mutex);
void handover_unlocking(const void *mutex);
void handover_signalling(const void *condition);
void handover_waiting(const void *mutex);
void handover_woken(const void *condition, const void *mutex);
void handover_ending(void);

/* The same at a thread's very end, where the driver must not be called any more. */
void handover_ended(struct thread *thread);

/* For pthread_create: what the new thread is to do and what its creator knew. */
struct handover_start {
    void *(*routine)(void *);
    void *argument;
    struct clocks known;
    struct handover_start *next;
};
struct handover_start *handover_start_make(void *(*routine)(void *), void *argument); /* NULL without memory */
void handover_start_drop(struct handover_start *start);
void handover_copy(struct clocks *known);
void handover_begin(const struct clocks *known);

/* 0 if calls from this address hand over nothing: the driver, the shim, and, where `python_counts` is 0, Python. */
int handover_counts(const void *caller, int python_counts);

void handover_after_fork(void);
void handover_starts_after_fork(void);

#endif
