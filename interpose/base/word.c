/* SPDX-License-Identifier: Apache-2.0
 *
 * Waits for a word to change: a short spin, then the kernel. Called by locks, gates, turns, and by threads that wait for a
 * start. Must keep errno.
 */
#include "interpose/base/word.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { A_MILLISECOND_NS = 1000000 };

void word_sleep(uint32_t *word, uint32_t value, long ns)
{
    const struct timespec most = {0, ns};
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &most, NULL, 0);
    errno = saved;
}

static void wake(uint32_t *word, int threads)
{
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
    errno = saved;
}

void word_wake_one(uint32_t *word)
{
    wake(word, 1);
}

void word_await(uint32_t *word, uint32_t wanted, uint32_t *waiting)
{
    uint32_t seen;
    for (int i = 0; i < WORD_SPINS; i++) {
        if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == wanted)
            return;
        word_pause();
    }
    __atomic_add_fetch(waiting, 1, __ATOMIC_SEQ_CST);
    while ((seen = __atomic_load_n(word, __ATOMIC_SEQ_CST)) != wanted)
        word_sleep(word, seen, WORD_SLEEP_NS);
    __atomic_sub_fetch(waiting, 1, __ATOMIC_SEQ_CST);
}

void word_await_past(uint32_t *word, uint32_t least, uint32_t *waiting)
{
    uint32_t seen;
    for (int i = 0; i < WORD_SPINS; i++) {
        if ((int32_t)(__atomic_load_n(word, __ATOMIC_ACQUIRE) - least) > 0)
            return;
        word_pause();
    }
    __atomic_add_fetch(waiting, 1, __ATOMIC_SEQ_CST);
    while ((int32_t)((seen = __atomic_load_n(word, __ATOMIC_SEQ_CST)) - least) <= 0)
        word_sleep(word, seen, WORD_SLEEP_NS);
    __atomic_sub_fetch(waiting, 1, __ATOMIC_SEQ_CST);
}

int word_leaves(uint32_t *word, uint32_t value, unsigned milliseconds)
{
    for (unsigned i = 0; i < milliseconds && __atomic_load_n(word, __ATOMIC_ACQUIRE) == value; i++)
        word_sleep(word, value, A_MILLISECOND_NS);
    return __atomic_load_n(word, __ATOMIC_ACQUIRE) != value;
}

void word_wake(uint32_t *word)
{
    wake(word, INT_MAX);
}
