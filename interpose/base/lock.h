/* SPDX-License-Identifier: Apache-2.0
 *
 * A lock for cold paths: a word, no library. Held for a few hundred instructions at most, never across a driver call.
 */
#ifndef PTDS_LOCK_H
#define PTDS_LOCK_H

#include <sched.h>
#include <stdint.h>

struct lock {
    uint32_t held;
};

static inline void lock_take(struct lock *lock)
{
    for (int spins = 0; __atomic_exchange_n(&lock->held, 1, __ATOMIC_ACQUIRE); spins++) {
        if (spins > 100)
            sched_yield();
    }
}

static inline void lock_drop(struct lock *lock)
{
    __atomic_store_n(&lock->held, 0, __ATOMIC_RELEASE);
}

#endif
