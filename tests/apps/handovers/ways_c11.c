// SPDX-License-Identifier: Apache-2.0
//
// Ways of C11's threads.h. Called by the runner (table.c).

#include <threads.h>
#include <time.h>

#include "tests/apps/handovers/handovers.h"

static mtx_t lock;
static cnd_t condition;
static tss_t late;
static once_flag once;
static struct handover *once_for;

static int take_in(void *handover)
{
    take(handover);
    return 0;
}

static int give_in(void *handover)
{
    give(handover);
    return 0;
}

static int give_and_exit(void *handover)
{
    give(handover);
    thrd_exit(0);
}

static void run(struct handover *h, thrd_start_t start)
{
    thrd_t thread;
    thrd_create(&thread, start, h);
    thrd_join(thread, NULL);
}

static void create(struct handover *h)
{
    give(h);
    run(h, take_in);
}

static void join(struct handover *h)
{
    run(h, give_in);
    take(h);
}

static void exit_join(struct handover *h)
{
    run(h, give_and_exit);
    take(h);
}

static void give_late(void *handover)
{
    give(handover);
}

static int leave_giving(void *handover)
{
    tss_set(late, handover);
    return 0;
}

static void begin_tss(struct handover *h)
{
    if (tss_create(&late, give_late) != thrd_success)
        h->no = "no key";
}

static void end_tss(struct handover *h)
{
    (void)h;
    tss_delete(late);
}

static void destructor_join(struct handover *h)
{
    run(h, leave_giving);
    take(h);
}

// ---- mtx, cnd, call_once ----

static void begin_lock(struct handover *h)
{
    (void)h;
    mtx_init(&lock, mtx_timed);
    cnd_init(&condition);
}

static void begin_recursive(struct handover *h)
{
    (void)h;
    mtx_init(&lock, mtx_plain | mtx_recursive);
    cnd_init(&condition);
}

static void end_lock(struct handover *h)
{
    (void)h;
    mtx_destroy(&lock);
    cnd_destroy(&condition);
}

static void lock_a(struct handover *h)
{
    give(h);
    mtx_lock(&lock);
    h->told = 1;
    mtx_unlock(&lock);
}

static struct timespec seconds_on(void)
{
    struct timespec until;
    timespec_get(&until, TIME_UTC);
    until.tv_sec += 10;
    return until;
}

static int plainlock(void)
{
    return mtx_lock(&lock);
}

static int trylock(void)
{
    return mtx_trylock(&lock);
}

static int timedlock(void)
{
    struct timespec until = seconds_on();
    return mtx_timedlock(&lock, &until);
}

static void look(struct handover *h, int (*locked)(void))
{
    for (int told = 0; !told; short_nap()) {
        if (locked() != thrd_success)
            continue;
        told = h->told;
        mtx_unlock(&lock);
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

static void signal_a(struct handover *h)
{
    app_sleep_ms(1);
    lock_a(h);
    cnd_signal(&condition);
}

static void broadcast_a(struct handover *h)
{
    app_sleep_ms(1);
    lock_a(h);
    cnd_broadcast(&condition);
}

static void wait_b(struct handover *h)
{
    mtx_lock(&lock);
    while (!h->told)
        cnd_wait(&condition, &lock);
    mtx_unlock(&lock);
    take(h);
}

static void timedwait_b(struct handover *h)
{
    struct timespec until = seconds_on();
    mtx_lock(&lock);
    while (!h->told)
        cnd_timedwait(&condition, &lock, &until);
    mtx_unlock(&lock);
    take(h);
}

static void begin_once(struct handover *h)
{
    once = (once_flag)ONCE_FLAG_INIT;
    once_for = h;
}

static void give_once(void)
{
    tell(&once_for->step);
    give(once_for);
}

static void once_a(struct handover *h)
{
    (void)h;
    call_once(&once, give_once);
}

static void once_b(struct handover *h)
{
    await(&h->step); // else it would be the one
    call_once(&once, give_once);
    take(h);
}

const struct way ways_c11[] = {
    {"thrd_create", {create}, NULL, NULL},
    {"thrd_join", {join}, NULL, NULL},
    {"thrd_exit", {exit_join}, NULL, NULL},
    {"tss-destructor", {destructor_join}, begin_tss, end_tss},
    {"mtx_lock", {lock_a, lock_b}, begin_lock, end_lock},
    {"mtx-recursive", {lock_a, lock_b}, begin_recursive, end_lock},
    {"mtx_trylock", {lock_a, trylock_b}, begin_lock, end_lock},
    {"mtx_timedlock", {lock_a, timedlock_b}, begin_lock, end_lock},
    {"cnd_signal", {signal_a, wait_b}, begin_lock, end_lock},
    {"cnd_broadcast", {broadcast_a, wait_b}, begin_lock, end_lock},
    {"cnd_timedwait", {signal_a, timedwait_b}, begin_lock, end_lock},
    {"call_once", {once_a, once_b}, begin_once, NULL},
    {0},
};
