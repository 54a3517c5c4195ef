/* SPDX-License-Identifier: Apache-2.0
 *
 * The slow halves of the lock and of words that threads wait for: a short spin, then the kernel. Called from everywhere.
 * Must keep errno.
 */
#include "interpose/base/gate.h"
#include "interpose/base/lock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPINS = 200, TURN_SPINS = 1500, GATE_SPINS = 20 }; /* a launch of somebody else takes a few microseconds */

/* Measured with threads whose launches all conflict (H100, two and eight of them). */
enum { GATE_LOOKS = 40, GATE_SLEEP_NS = 500000 };

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* At most so long: whoever changes a word may miss a waiter that has just come. */
enum { SLEEP_NS = 100000, A_SECOND = 1000000000 / SLEEP_NS, A_MILLISECOND_NS = 1000000 };

static void sleep_at_most(uint32_t *word, uint32_t value, long ns)
{
    const struct timespec most = {0, ns};
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &most, NULL, 0);
    errno = saved;
}

static void sleep_while(uint32_t *word, uint32_t value)
{
    sleep_at_most(word, value, SLEEP_NS);
}

static void wake(uint32_t *word, int threads)
{
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
    errno = saved;
}

void lock_take_slowly(struct lock *lock)
{
    for (int i = 0; i < SPINS; i++) {
        uint32_t free_word = 0;
        if (__atomic_load_n(&lock->held, __ATOMIC_RELAXED) == 0 &&
            __atomic_compare_exchange_n(&lock->held, &free_word, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return;
        pause_briefly();
    }
    while (__atomic_exchange_n(&lock->held, 2, __ATOMIC_ACQUIRE) != 0)
        sleep_while(&lock->held, 2);
}

int lock_comes_free(struct lock *lock)
{
    for (int i = 0; i < A_SECOND; i++) {
        if (__atomic_exchange_n(&lock->held, 2, __ATOMIC_ACQUIRE) == 0) {
            lock_drop(lock);
            return 1;
        }
        sleep_while(&lock->held, 2);
    }
    return 0;
}

void lock_wake(struct lock *lock)
{
    wake(&lock->held, 1);
}

void word_await(uint32_t *word, uint32_t wanted, uint32_t *waiting)
{
    uint32_t seen;
    for (int i = 0; i < TURN_SPINS; i++) {
        if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == wanted)
            return;
        pause_briefly();
    }
    __atomic_add_fetch(waiting, 1, __ATOMIC_SEQ_CST);
    while ((seen = __atomic_load_n(word, __ATOMIC_SEQ_CST)) != wanted)
        sleep_while(word, seen);
    __atomic_sub_fetch(waiting, 1, __ATOMIC_SEQ_CST);
}

void word_await_past(uint32_t *word, uint32_t least, uint32_t *waiting)
{
    uint32_t seen;
    for (int i = 0; i < TURN_SPINS; i++) {
        if ((int32_t)(__atomic_load_n(word, __ATOMIC_ACQUIRE) - least) > 0)
            return;
        pause_briefly();
    }
    __atomic_add_fetch(waiting, 1, __ATOMIC_SEQ_CST);
    while ((int32_t)((seen = __atomic_load_n(word, __ATOMIC_SEQ_CST)) - least) <= 0)
        sleep_while(word, seen);
    __atomic_sub_fetch(waiting, 1, __ATOMIC_SEQ_CST);
}

int word_leaves(uint32_t *word, uint32_t value, unsigned milliseconds)
{
    for (unsigned i = 0; i < milliseconds && __atomic_load_n(word, __ATOMIC_ACQUIRE) == value; i++)
        sleep_at_most(word, value, A_MILLISECOND_NS);
    return __atomic_load_n(word, __ATOMIC_ACQUIRE) != value;
}

void word_wake(uint32_t *word)
{
    wake(word, INT_MAX);
}

/* ---- gates ---- */

static int try_gate(uint32_t *gate, uint32_t how)
{
    uint32_t open = 0;
    return __atomic_load_n(gate, __ATOMIC_RELAXED) == 0 &&
           __atomic_compare_exchange_n(gate, &open, how, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* For a thread that was woken: while it looks now and then, whoever has the gate need not wake anybody, which costs as much
 * as a launch. It says that others may sleep still only when it has the gate, or sleeps again. */
static int look_for_gate(uint32_t *gate, uint32_t how)
{
    for (int i = 0; i < GATE_LOOKS; i++) {
        for (int k = 0; k < GATE_SPINS; k++)
            pause_briefly();
        if (try_gate(gate, how))
            return 1;
    }
    return 0;
}

/* Hardly spins: who holds it shall keep it for some calls, see gate.h. */
void gate_take_slowly(uint32_t *gate, uint32_t how)
{
    for (int i = 0; i < GATE_SPINS; i++) {
        if (try_gate(gate, how))
            return;
        pause_briefly();
    }
    while (!try_gate(gate, how | GATE_WAITED)) {
        uint32_t seen = __atomic_load_n(gate, __ATOMIC_RELAXED);
        if (!(seen & GATE_HELD) ||
            (!(seen & GATE_WAITED) &&
             !__atomic_compare_exchange_n(gate, &seen, seen | GATE_WAITED, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)))
            continue;
        sleep_at_most(gate, seen | GATE_WAITED, GATE_SLEEP_NS);
        if (look_for_gate(gate, how | GATE_WAITED))
            return;
    }
}

void gate_wake(uint32_t *gate)
{
    wake(gate, 1);
}

void gate_await_quick_slowly(uint32_t *gate)
{
    for (int i = 0; gate_is_quick(gate); i++) {
        uint32_t seen = __atomic_load_n(gate, __ATOMIC_RELAXED);
        if (i < TURN_SPINS)
            pause_briefly();
        else if (seen & GATE_QUICK)
            sleep_while(gate, seen);
    }
}
