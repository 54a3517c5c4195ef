/* SPDX-License-Identifier: Apache-2.0
 *
 * Carries work from the thread that hands over to the thread that takes over. Called by the functions of functions.def once
 * the policy has work to order; never calls the driver itself, the policy does, when it is asked to publish.
 *
 * A thread that gives first publishes what it has put on streams since it last did, then leaves all that it knows with the
 * object; a thread that takes knows that too from then on, and its next work waits for it. What it knows it passes on, so
 * that a thread in between need not work itself.
 *
 * A mutex hands over only if it belongs to a condition: it was waited for with one, or a thread signalled one and this was
 * the mutex that it last locked or unlocked, or held (what is signalled under a lock is what the lock guards: PyTorch's
 * backward pass guards results with a mutex that it holds while it queues work under another). Any other (an allocator's)
 * would put all threads in order. Since a fresh future's mutex only becomes one by the signal after its unlock, threads
 * remember the mutexes that they locked, and look at those that have become one meanwhile before their next work. What is
 * left is a taker whose work comes between the unlock and the signal.
 *
 * Must not allocate or block: locks of malloc and of the loader pass here.
 */
#include "interpose/handover/handover.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "interpose/policy/policy.h"

__thread struct handover_self handover_self __attribute__((tls_model("initial-exec")));
uint32_t handover_on;

void handover_start(void)
{
    if (!__atomic_load_n(&handover_on, __ATOMIC_RELAXED) && policy_current()->hand_over)
        __atomic_store_n(&handover_on, 1, __ATOMIC_RELEASE);
}

/* In a forked child all of it is the parent's. */
static void settle(struct handover_self *self)
{
    if (__builtin_expect(self->forks != thread_fork_generation, 0))
        *self = (struct handover_self){.forks = thread_fork_generation, .busy = self->busy};
}

/* Begins whatever is done here. 0: inside the driver or here already, by way of a tool's callback or a signal handler; the
 * driver's locks may be held then, and nobody hands over the program's work. */
static int enter(struct handover_self *self)
{
    if (self->busy)
        return 0;
    settle(self);
    self->busy = 1;
    return 1;
}

static uint64_t *word_of(uintptr_t mutex, uint64_t *bit)
{
    uint64_t hash = (uint64_t)mutex * 0x9e3779b97f4a7c15ull >> 55;
    *bit = 1ull << hash % 64;
    return &handover_self.locked[hash / 64];
}

static int was_locked(uintptr_t mutex)
{
    uint64_t bit, *word = word_of(mutex, &bit);
    return (*word & bit) != 0;
}

static void remember_lock(uintptr_t mutex)
{
    uint64_t bit, *word = word_of(mutex, &bit);
    *word |= bit;
}

static void hold(struct handover_self *self, uintptr_t mutex)
{
    const uint32_t room = sizeof self->held / sizeof self->held[0];
    if (self->held_count == room)
        memmove(self->held, self->held + 1, --self->held_count * sizeof self->held[0]);
    self->held[self->held_count++] = mutex;
}

static void let_go(struct handover_self *self, uintptr_t mutex)
{
    uint32_t at = self->held_count;
    while (at > 0 && self->held[at - 1] != mutex)
        at--;
    if (at > 0)
        memmove(&self->held[at - 1], &self->held[at], (self->held_count-- - at) * sizeof self->held[0]);
}

static void take_converted(struct handover_self *self)
{
    if (self->seen == __atomic_load_n(&objects_converted, __ATOMIC_RELAXED))
        return;
    self->news += (uint32_t)objects_take_converted(&self->seen, was_locked, &self->known);
    memset(self->locked, 0, sizeof self->locked);
}

static void take(struct handover_self *self, const void *object)
{
    self->news += (uint32_t)objects_take((uintptr_t)object, &self->known);
}

static void publish(int may_call)
{
    struct thread *thread = thread_self;
    if (thread && thread->fork_generation == thread_fork_generation)
        policy_current()->hand_over(thread, may_call);
    take_converted(&handover_self);
}

/* Puts the mutex into the table: a condition has to do with it. */
static void convert(struct handover_self *self, uintptr_t mutex)
{
    if (mutex && objects_insert(mutex, &self->known))
        objects_convert(mutex);
}

static void give(struct handover_self *self, const void *object)
{
    if (!clocks_empty(&self->known))
        objects_insert((uintptr_t)object, &self->known);
}

const struct clocks *handover_known(void)
{
    settle(&handover_self);
    take_converted(&handover_self);
    return &handover_self.known;
}

void handover_note(int kind, int lane, uint64_t count)
{
    clocks_set(&handover_self.known, kind, lane, count);
}

void handover_give(const void *object)
{
    struct handover_self *self = &handover_self;
    if (!enter(self))
        return;
    publish(1);
    give(self, object);
    self->busy = 0;
}

void handover_take(const void *object)
{
    struct handover_self *self = &handover_self;
    if (!enter(self))
        return;
    take(self, object);
    self->busy = 0;
}

void handover_locked(const void *mutex)
{
    struct handover_self *self = &handover_self;
    if (!enter(self))
        return;
    self->mutex = (uintptr_t)mutex;
    if (objects_known(self->mutex))
        take(self, mutex);
    remember_lock(self->mutex);
    hold(self, self->mutex);
    self->busy = 0;
}

void handover_unlocking(const void *mutex)
{
    struct handover_self *self = &handover_self;
    if (!enter(self))
        return;
    self->mutex = (uintptr_t)mutex;
    if (objects_known(self->mutex)) {
        publish(1);
        objects_give(self->mutex, &self->known);
    }
    let_go(self, self->mutex);
    self->busy = 0;
}

void handover_signalling(const void *condition)
{
    struct handover_self *self = &handover_self;
    if (!enter(self))
        return;
    publish(1);
    give(self, condition);
    convert(self, self->mutex);
    for (uint32_t i = 0; i < self->held_count; i++)
        convert(self, self->held[i]);
    self->busy = 0;
}

/* A wait is an unlock of the mutex too. */
void handover_waiting(const void *mutex)
{
    struct handover_self *self = &handover_self;
    if (!enter(self))
        return;
    publish(1);
    convert(self, (uintptr_t)mutex);
    self->busy = 0;
}

void handover_woken(const void *condition, const void *mutex)
{
    struct handover_self *self = &handover_self;
    if (!enter(self))
        return;
    self->mutex = (uintptr_t)mutex;
    take(self, condition);
    take(self, mutex);
    self->busy = 0;
}

static void *this_thread(void)
{
    return (void *)(uintptr_t)pthread_self();
}

void handover_ending(void)
{
    handover_give(this_thread());
}

void handover_ended(struct thread *thread)
{
    struct handover_self *self = &handover_self;
    if (!handover_on || thread != thread_self || !enter(self))
        return;
    publish(0);
    give(self, this_thread());
    self->busy = 0;
}

void handover_copy(struct clocks *known)
{
    struct handover_self *self = &handover_self;
    if (!enter(self))
        return;
    publish(1);
    *known = self->known;
    self->busy = 0;
}

void handover_begin(const struct clocks *known)
{
    struct handover_self *self = &handover_self;
    if (!enter(self))
        return;
    self->seen = __atomic_load_n(&objects_converted, __ATOMIC_RELAXED);
    self->news += (uint32_t)clocks_merge(&self->known, known);
    self->busy = 0;
}

void handover_after_fork(void)
{
    handover_on = 0;
    handover_objects_after_fork();
    handover_starts_after_fork();
}
