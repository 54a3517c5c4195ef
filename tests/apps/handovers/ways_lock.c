// SPDX-License-Identifier: Apache-2.0
//
// Ways of POSIX locks alone: the taker looks under the lock until the giver has been there. No condition, no semaphore.
// Called by the runner (table.c).

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/apps/handovers/handovers.h"

static pthread_mutex_t lock;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;

// ---- mutexes of all kinds ----

static void begin_mutex(int type, int protocol, int robust, int process)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutexattr_setpshared(&attributes, process);
    pthread_mutex_init(&lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

#define MUTEX(name, type, protocol, robust, process) \
    static void begin_##name(struct handover *h) \
    { \
        (void)h; \
        begin_mutex(type, protocol, robust, process); \
    }

MUTEX(plain, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_PRIVATE)
MUTEX(recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_PRIVATE)
MUTEX(checking, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_PRIVATE)
MUTEX(adaptive, PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_PRIVATE)
MUTEX(inheriting, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_PRIVATE)
MUTEX(shared, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED, PTHREAD_PROCESS_SHARED)

// Who gets the lock of a thread that has ended, the kernel says; an emulator of programs may not.
static void begin_robust(struct handover *h)
{
    void *list;
    size_t size;
    if (syscall(SYS_get_robust_list, 0, &list, &size) != 0)
        h->no = "no robust mutexes";
    else
        begin_mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST, PTHREAD_PROCESS_PRIVATE);
}

static void end_mutex(struct handover *h)
{
    (void)h;
    pthread_mutex_destroy(&lock);
}

static void lock_a(struct handover *h)
{
    give(h);
    pthread_mutex_lock(&lock);
    h->told = 1;
    pthread_mutex_unlock(&lock);
}

static void lock_around_a(struct handover *h)
{
    pthread_mutex_lock(&lock);
    give(h);
    h->told = 1;
    pthread_mutex_unlock(&lock);
}

static void lock_twice_a(struct handover *h)
{
    pthread_mutex_lock(&lock);
    lock_around_a(h);
    pthread_mutex_unlock(&lock);
}

// Ends with the lock held: whoever locks next is told of that.
static void lock_and_die_a(struct handover *h)
{
    pthread_mutex_lock(&lock);
    give(h);
    h->told = 1;
}

static int trylock(void)
{
    return pthread_mutex_trylock(&lock);
}

static int timedlock(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    return pthread_mutex_timedlock(&lock, &until);
}

static int clocklock(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 10;
    return pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &until);
}

static int plainlock(void)
{
    return pthread_mutex_lock(&lock);
}

// Looks under the lock until it was told.
static void look(struct handover *h, int (*locked)(void))
{
    for (int told = 0; !told; short_nap()) {
        int status = locked();
        if (status == EOWNERDEAD)
            pthread_mutex_consistent(&lock);
        else if (status != 0)
            continue;
        told = h->told;
        pthread_mutex_unlock(&lock);
    }
    take(h);
}

static void lock_b(struct handover *h)
{
    look(h, plainlock);
}

static void trylock_b(struct handover *h)
{
    look(h, trylock);
}

static void timedlock_b(struct handover *h)
{
    look(h, timedlock);
}

static void clocklock_b(struct handover *h)
{
    look(h, clocklock);
}

// ---- read-write locks ----

static void write_a(struct handover *h)
{
    pthread_rwlock_wrlock(&shared);
    give(h);
    h->told = 1;
    pthread_rwlock_unlock(&shared);
}

static void read_b(struct handover *h)
{
    for (int told = 0; !told; short_nap()) {
        pthread_rwlock_rdlock(&shared);
        told = h->told;
        pthread_rwlock_unlock(&shared);
    }
    take(h);
}

static void tryread_b(struct handover *h)
{
    for (int told = 0; !told; short_nap()) {
        if (pthread_rwlock_tryrdlock(&shared) != 0)
            continue;
        told = h->told;
        pthread_rwlock_unlock(&shared);
    }
    take(h);
}

// The giver only reads; the taker's write lock waits until it has done so.
static void read_a(struct handover *h)
{
    pthread_rwlock_rdlock(&shared);
    tell(&h->step);
    give(h);
    pthread_rwlock_unlock(&shared);
}

static void write_b(struct handover *h)
{
    await(&h->step);
    pthread_rwlock_wrlock(&shared);
    take(h);
    pthread_rwlock_unlock(&shared);
}

static void timedwrite_b(struct handover *h)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    await(&h->step);
    if (pthread_rwlock_timedwrlock(&shared, &until) != 0)
        return;
    take(h);
    pthread_rwlock_unlock(&shared);
}

// ---- spin locks ----

static void begin_spin(struct handover *h)
{
    (void)h;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
}

static void spin_a(struct handover *h)
{
    give(h);
    pthread_spin_lock(&spin);
    h->told = 1;
    pthread_spin_unlock(&spin);
}

static void spin_b(struct handover *h)
{
    for (int told = 0; !told; short_nap()) {
        pthread_spin_lock(&spin);
        told = h->told;
        pthread_spin_unlock(&spin);
    }
    take(h);
}

static void spin_try_b(struct handover *h)
{
    for (int told = 0; !told; short_nap()) {
        if (pthread_spin_trylock(&spin) != 0)
            continue;
        told = h->told;
        pthread_spin_unlock(&spin);
    }
    take(h);
}

const struct way ways_lock[] = {
    {"mutex", {lock_a, lock_b}, begin_plain, end_mutex},
    {"mutex-around", {lock_around_a, lock_b}, begin_plain, end_mutex},
    {"mutex_trylock", {lock_a, trylock_b}, begin_plain, end_mutex},
    {"mutex_timedlock", {lock_around_a, timedlock_b}, begin_plain, end_mutex},
    {"mutex_clocklock", {lock_around_a, clocklock_b}, begin_plain, end_mutex},
    {"mutex-recursive", {lock_twice_a, lock_b}, begin_recursive, end_mutex},
    {"mutex-errorcheck", {lock_a, lock_b}, begin_checking, end_mutex},
    {"mutex-adaptive", {lock_a, lock_b}, begin_adaptive, end_mutex},
    {"mutex-inherit", {lock_around_a, lock_b}, begin_inheriting, end_mutex},
    {"mutex-owner-died", {lock_and_die_a, lock_b}, begin_robust, end_mutex},
    {"mutex-pshared", {lock_a, lock_b}, begin_shared, end_mutex},
    {"rwlock-read-after-write", {write_a, read_b}, NULL, NULL},
    {"rwlock_tryrdlock", {write_a, tryread_b}, NULL, NULL},
    {"rwlock-write-after-read", {read_a, write_b}, NULL, NULL},
    {"rwlock_timedwrlock", {read_a, timedwrite_b}, NULL, NULL},
    {"spin_lock", {spin_a, spin_b}, begin_spin, NULL},
    {"spin_trylock", {spin_a, spin_try_b}, begin_spin, NULL},
    {0},
};
