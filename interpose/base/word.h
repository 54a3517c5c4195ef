/* SPDX-License-Identifier: Apache-2.0
 *
 * A word that threads wait for. Waiters sleep in the kernel, and look again by themselves after a while: a change may miss
 * a waiter that comes at that very moment, since a fence to prevent that would cost the changing thread more than all else.
 */
#ifndef PTDS_WORD_H
#define PTDS_WORD_H

#include <stdint.h>

enum { WORD_SPINS = 1500 };      /* before a waiter sleeps: another thread's launch takes a few microseconds */
enum { WORD_SLEEP_NS = 100000 }; /* until it looks again */

/* Between two looks of a spin. */
static inline void word_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Sleeps while the word is `value`, at most so long. Returns early as it likes. */
void word_sleep(uint32_t *word, uint32_t value, long ns);

/* Waits until the word is `wanted`. `waiting` counts the waiters, for word_set. */
void word_await(uint32_t *word, uint32_t wanted, uint32_t *waiting);

/* The same until the word, which only grows, is beyond `least`. */
void word_await_past(uint32_t *word, uint32_t least, uint32_t *waiting);

/* 1 once the word is another than `value`; 0: it was that for so many milliseconds. The changing thread calls word_wake. */
int word_leaves(uint32_t *word, uint32_t value, unsigned milliseconds);

/* After the word has changed: wakes all threads that sleep, or one. */
void word_wake(uint32_t *word);
void word_wake_one(uint32_t *word);

/* Changes the word, and wakes the waiters that have announced themselves. */
static inline void word_set(uint32_t *word, uint32_t value, const uint32_t *waiting)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    if (__builtin_expect(__atomic_load_n(waiting, __ATOMIC_RELAXED) != 0, 0))
        word_wake(word);
}

#endif
