/* SPDX-License-Identifier: Apache-2.0
 *
 * Which stream a program has set for policy stream, for the process and for single threads. Called by ptds.h's functions
 * and by policy_stream.c, by any thread. Must not lock.
 */
#include "interpose/policy/target.h"

#include "interpose/state/thread.h"

static CUstream process_target;
static uint32_t threads_have_targets; /* at some time a thread had one */

void target_set_process(CUstream stream)
{
    __atomic_store_n(&process_target, stream, __ATOMIC_RELEASE);
}

void target_set_thread(struct thread *thread, CUstream stream)
{
    __atomic_store_n(&threads_have_targets, 1, __ATOMIC_RELEASE);
    thread->own_target = stream;
}

CUstream target_of(const struct thread *thread)
{
    return thread->own_target ? thread->own_target : __atomic_load_n(&process_target, __ATOMIC_ACQUIRE);
}

void target_forget(CUstream stream)
{
    CUstream expected = stream;
    if (stream)
        __atomic_compare_exchange_n(&process_target, &expected, NULL, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    if (!__atomic_load_n(&threads_have_targets, __ATOMIC_ACQUIRE))
        return;
    for (struct thread *thread = thread_all(); thread; thread = thread->next_all) {
        expected = stream;
        __atomic_compare_exchange_n(&thread->own_target, &expected, NULL, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
}
