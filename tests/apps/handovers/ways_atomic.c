// SPDX-License-Identifier: Apache-2.0
//
// Ways of plain atomics, with no library call at all, and of raw futexes. Called by the runner (table.c).

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/apps/handovers/handovers.h"

static atomic_int word;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static volatile int plain;
static int futex_word;

static void begin(struct handover *h)
{
    (void)h;
    atomic_store(&word, 0);
    atomic_flag_clear(&flag);
    plain = futex_word = 0;
}

static void release_a(struct handover *h)
{
    give(h);
    atomic_store_explicit(&word, 1, memory_order_release);
}

static void acquire_b(struct handover *h)
{
    while (!atomic_load_explicit(&word, memory_order_acquire))
        ;
    take(h);
}

static void sequential_a(struct handover *h)
{
    give(h);
    atomic_store(&word, 1);
}

static void sequential_b(struct handover *h)
{
    while (!atomic_load(&word))
        ;
    take(h);
}

static void add_a(struct handover *h)
{
    give(h);
    atomic_fetch_add_explicit(&word, 1, memory_order_acq_rel);
}

static void exchange_b(struct handover *h)
{
    while (!atomic_exchange(&word, 0))
        ;
    take(h);
}

static void compare_b(struct handover *h)
{
    for (int one = 1; !atomic_compare_exchange_weak(&word, &one, 2); one = 1)
        ;
    take(h);
}

static void fence_a(struct handover *h)
{
    give(h);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&word, 1, memory_order_relaxed);
}

static void fence_b(struct handover *h)
{
    while (!atomic_load_explicit(&word, memory_order_relaxed))
        ;
    atomic_thread_fence(memory_order_acquire);
    take(h);
}

static void spin_a(struct handover *h)
{
    give(h);
    while (atomic_flag_test_and_set_explicit(&flag, memory_order_acquire))
        ;
    h->told = 1;
    atomic_flag_clear_explicit(&flag, memory_order_release);
}

static void spin_b(struct handover *h)
{
    for (int told = 0; !told; short_nap()) { // or the giver would hardly get the lock
        while (atomic_flag_test_and_set_explicit(&flag, memory_order_acquire))
            ;
        told = h->told;
        atomic_flag_clear_explicit(&flag, memory_order_release);
    }
    take(h);
}

// As written before C11.
static void volatile_a(struct handover *h)
{
    give(h);
    __sync_synchronize();
    plain = 1;
}

static void volatile_b(struct handover *h)
{
    while (!plain)
        ;
    __sync_synchronize();
    take(h);
}

// Even: whole; a sequence lock's reader tries again while it is written.
static void sequence_a(struct handover *h)
{
    atomic_fetch_add(&word, 1);
    give(h);
    atomic_fetch_add(&word, 1);
}

static void sequence_b(struct handover *h)
{
    while (atomic_load(&word) != 2)
        ;
    take(h);
}

// ---- futexes ----

static long futex(int operation, int value, int bits)
{
    return syscall(SYS_futex, &futex_word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, bits);
}

static void futex_a(struct handover *h)
{
    app_sleep_ms(1); // so that the taker sleeps
    give(h);
    __atomic_store_n(&futex_word, 1, __ATOMIC_RELEASE);
    futex(FUTEX_WAKE, 1, 0);
}

static void futex_b(struct handover *h)
{
    while (!__atomic_load_n(&futex_word, __ATOMIC_ACQUIRE))
        futex(FUTEX_WAIT, 0, 0);
    take(h);
}

static void bitset_a(struct handover *h)
{
    app_sleep_ms(1);
    give(h);
    __atomic_store_n(&futex_word, 1, __ATOMIC_RELEASE);
    futex(FUTEX_WAKE_BITSET, 1, 4);
}

static void bitset_b(struct handover *h)
{
    while (!__atomic_load_n(&futex_word, __ATOMIC_ACQUIRE))
        futex(FUTEX_WAIT_BITSET, 0, 6);
    take(h);
}

const struct way ways_atomic[] = {
    {"atomic-release-acquire", {release_a, acquire_b}, begin, NULL},
    {"atomic-seq_cst", {sequential_a, sequential_b}, begin, NULL},
    {"atomic-fetch_add-exchange", {add_a, exchange_b}, begin, NULL},
    {"atomic-compare_exchange", {release_a, compare_b}, begin, NULL},
    {"atomic-fences", {fence_a, fence_b}, begin, NULL},
    {"atomic_flag", {spin_a, spin_b}, begin, NULL},
    {"volatile", {volatile_a, volatile_b}, begin, NULL},
    {"sequence-lock", {sequence_a, sequence_b}, begin, NULL},
    {"futex", {futex_a, futex_b}, begin, NULL},
    {"futex-bitset", {bitset_a, bitset_b}, begin, NULL},
    {0},
};
