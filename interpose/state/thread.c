/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes, keeps and retires the per-thread state. Called by every wrapper through thread_get(). A thread's end runs as a
 * pthread key destructor: it must not call the driver (undefined below main's end) and must not touch what other threads
 * may still read.
 */
#include "interpose/state/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/base/lock.h"
#include "interpose/base/pages.h"
#include "interpose/base/specific.h"
#include "interpose/env/env.h"
#include "interpose/state/contexts.h"
#include "interpose/state/hooks.h"
#include "interpose/state/uids.h"

__thread struct thread *thread_self __attribute__((tls_model("initial-exec")));
uint32_t thread_fork_generation;

static struct thread *all;
static struct thread *ended; /* their states are used again */
static uint32_t uids;
static struct lock retired_lock;
static struct thread_context *retired; /* of ended threads, used again */

struct thread *thread_all(void)
{
    return __atomic_load_n(&all, __ATOMIC_ACQUIRE);
}

static void retire_contexts(struct thread *thread)
{
    lock_take(&retired_lock);
    while (thread->contexts) {
        struct thread_context *entry = thread->contexts;
        thread->contexts = entry->next;
        entry->next = retired;
        retired = entry;
    }
    lock_drop(&retired_lock);
    thread->last_context = NULL;
}

static void end(void *data)
{
    struct thread *thread = data;
    int saved = errno;
    if (thread->fork_generation == thread_fork_generation) {
        STATE_TELL(thread_ends, thread);
        STATE_TELL(thread_ended, thread);
        retire_contexts(thread);
        STATE_TELL(thread_over, thread);
        if (thread_self == thread)
            thread_self = NULL;
        lock_take(&retired_lock);
        thread->ended = 1;
        thread->next_ended = ended;
        ended = thread;
        lock_drop(&retired_lock);
    }
    errno = saved;
}

/* Where there is no libpthread, no thread ends but with the process. */
static void watch_end(struct thread *thread)
{
    static pthread_key_t key;
    static uint32_t state; /* 0 none, 1 being made, 2 made, 3 refused */
    uint32_t none = 0;
    if (!specific_there())
        return;
    if (__atomic_compare_exchange_n(&state, &none, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        __atomic_store_n(&state, specific_make(&key, end) == 0 ? 2 : 3, __ATOMIC_RELEASE);
    while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == 1)
        ;
    if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == 2)
        specific_set(key, thread);
}

/* Clears all but what is kept for the state's next thread, and the list's link, which is never written again, since other
 * threads go through the list meanwhile without a lock. */
static void empty(struct thread *thread)
{
    struct thread kept = *thread;
    memset(thread, 0, offsetof(struct thread, next_all));
    memset(&thread->next_ended, 0, sizeof *thread - offsetof(struct thread, next_ended));
    thread->stacks = kept.stacks;
    thread->python = kept.python;
    thread->kernels = kept.kernels;
    thread->memories = kept.memories;
    thread->early = kept.early;
}

_Static_assert(offsetof(struct thread, next_ended) == offsetof(struct thread, next_all) + sizeof(struct thread *),
               "the link alone is left out");

/* An ended thread's state, its caches emptied; a process that starts a thread a request would leak them all. */
static struct thread *take_ended(void)
{
    lock_take(&retired_lock);
    struct thread *thread = ended;
    if (thread)
        ended = thread->next_ended;
    lock_drop(&retired_lock);
    if (thread)
        empty(thread);
    return thread;
}

static struct thread *make_state(void)
{
    struct thread *thread = pages_keep(sizeof *thread), *head = thread_all();
    if (!thread)
        return NULL;
    do
        thread->next_all = head;
    while (!__atomic_compare_exchange_n(&all, &head, thread, 1, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE));
    return thread;
}

uint32_t thread_tid(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

static struct thread *make(uint32_t drivers)
{
    int saved = errno;
    struct thread *thread = take_ended();
    if (!thread)
        thread = make_state();
    if (thread) {
        thread->uid = __atomic_add_fetch(&uids, 1, __ATOMIC_RELAXED);
        thread->tid =
            env_get()->recording ? thread_tid() : 0; /* not where nothing is recorded: a sandbox may forbid the call */
        thread->drivers = drivers;
        thread->fork_generation = thread_fork_generation;
        thread_self = thread;
        watch_end(thread);
        STATE_TELL(thread_began, thread);
    }
    errno = saved;
    return thread;
}

struct thread *thread_make(void)
{
    return make(0);
}

struct thread *thread_get_as_drivers(void)
{
    struct thread *self = thread_self;
    return self && self->fork_generation == thread_fork_generation ? self : make(1);
}

/* 1: the entry's context is gone. An entry with a pool of device_times.c stays: the pool's events may still be in use. */
static int is_stale(const struct thread_context *entry)
{
    return (entry->context->uid != entry->context_uid || entry->context->gone == CONTEXT_GONE) && !entry->device_pool;
}

/* An ended thread's entry for the context, used again; or one of a context that is gone, emptied. */
static struct thread_context *take_retired(const struct context *context)
{
    struct thread_context *found = NULL;
    lock_take(&retired_lock);
    for (struct thread_context **link = &retired; *link; link = &(*link)->next) {
        int stale = is_stale(*link);
        if (stale || ((*link)->context == context && (*link)->context_uid == context->uid)) {
            found = *link;
            *link = found->next;
            if (stale)
                *found = (struct thread_context){0};
            break;
        }
    }
    lock_drop(&retired_lock);
    return found;
}

/* The thread's entries of contexts that are gone. */
static void retire_stale(struct thread *thread)
{
    for (struct thread_context **link = &thread->contexts; *link;) {
        struct thread_context *entry = *link;
        if (!is_stale(entry)) {
            link = &entry->next;
            continue;
        }
        *link = entry->next;
        lock_take(&retired_lock);
        entry->next = retired;
        retired = entry;
        lock_drop(&retired_lock);
    }
    thread->last_context = NULL;
}

static struct thread_context *make_entry(struct context *context)
{
    struct thread_context *entry = take_retired(context);
    if (!entry)
        entry = pages_keep(sizeof *entry);
    if (!entry)
        return NULL;
    entry->context = context;
    entry->context_uid = context->uid;
    entry->per_thread_uid = uids_next(OBJECT_STREAM);
    return entry;
}

struct thread_context *thread_in_slow(struct thread *thread, struct context *context)
{
    struct thread_context *entry = thread->contexts;
    while (entry && (entry->context != context || entry->context_uid != context->uid))
        entry = entry->next;
    if (!entry) {
        retire_stale(thread);
        entry = make_entry(context);
        if (!entry)
            return NULL;
        entry->next = thread->contexts;
        thread->contexts = entry;
        STATE_TELL(stream_seen, NULL, entry->per_thread_uid, CU_STREAM_PER_THREAD, context, PTDS_STREAM_PER_THREAD,
                   PTDS_LIFE_SEEN, 0);
    }
    thread->last_context = entry;
    return entry;
}

void thread_after_fork(void)
{
    thread_fork_generation++;
    all = NULL;
    retired = NULL;
    ended = NULL;
    retired_lock.held = 0;
    thread_self = NULL;
}
