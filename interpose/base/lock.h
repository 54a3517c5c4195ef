/* SPDX-License-Identifier: Apache-2.0
 *
 * A lock of one word, which sleeps in the kernel where it is held for long: no library, and no thread of higher priority
 * spins while the holder waits for its turn. Never held across a driver call.
 */
#ifndef PTDS_LOCK_H
#define PTDS_LOCK_H

#include <stdint.h>

struct lock {
    uint32_t held; /* 0 free, 1 held, 2 held and waited for */
};

void lock_take_slowly(struct lock *lock);
void lock_wake(struct lock *lock);

static inline void lock_take(struct lock *lock)
{
    uint32_t free_word = 0;
    if (!__atomic_compare_exchange_n(&lock->held, &free_word, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        lock_take_slowly(lock);
}

/* 0: it is held, maybe by this very thread, which a signal has interrupted. */
static inline int lock_try(struct lock *lock)
{
    uint32_t free_word = 0;
    return __atomic_compare_exchange_n(&lock->held, &free_word, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* A plain store: a thread that begins to wait at this very moment may be missed, and looks again by itself after a while.
 */
static inline void lock_drop(struct lock *lock)
{
    uint32_t held = __atomic_load_n(&lock->held, __ATOMIC_RELAXED);
    __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
    if (__builtin_expect(held == 2, 0))
        lock_wake(lock);
}

/* 1 if the lock is free, or another thread gives it back within about a second. At the end of a process the holder may be
 * this very thread, in a signal handler that came in between: then 0. */
int lock_comes_free(struct lock *lock);

#endif
