/* SPDX-License-Identifier: Apache-2.0
 *
 * The slow halves of the lock: a short spin, then the kernel. Called from everywhere. Must keep errno.
 */
#include "interpose/base/lock.h"

#include "interpose/base/word.h"

enum { SPINS = 200, LOOKS_A_SECOND = 1000000000 / WORD_SLEEP_NS };

void lock_take_slowly(struct lock *lock)
{
    for (int i = 0; i < SPINS; i++) {
        uint32_t free_word = 0;
        if (__atomic_load_n(&lock->held, __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(&lock->held, &free_word, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return;
        word_pause();
    }
    while (__atomic_exchange_n(&lock->held, 2, __ATOMIC_ACQUIRE) != 0)
        word_sleep(&lock->held, 2, WORD_SLEEP_NS);
}

int lock_comes_free(struct lock *lock)
{
    for (int i = 0; i < LOOKS_A_SECOND; i++) {
        if (__atomic_exchange_n(&lock->held, 2, __ATOMIC_ACQUIRE) == 0) {
            lock_drop(lock);
            return 1;
        }
        word_sleep(&lock->held, 2, WORD_SLEEP_NS);
    }
    return 0;
}

void lock_wake(struct lock *lock)
{
    word_wake_one(&lock->held);
}
