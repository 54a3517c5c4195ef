// SPDX-License-Identifier: Apache-2.0
//
// Ways of POSIX threads that are about threads themselves, their waits for each other and what runs once: creation, end,
// conditions, barriers, pthread_once, a third thread in between. Called by the runner (table.c).

#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include "tests/apps/handovers/handovers.h"

// ---- creation and end ----

static void create(struct handover *h)
{
    give(h);
    pthread_create(&h->worker, NULL, take_in_thread, h);
    pthread_join(h->worker, NULL);
}

static void join(struct handover *h)
{
    pthread_create(&h->worker, NULL, give_in_thread, h);
    pthread_join(h->worker, NULL);
    take(h);
}

static void *give_and_exit(void *handover)
{
    give(handover);
    pthread_exit(NULL);
}

static void exit_join(struct handover *h)
{
    pthread_create(&h->worker, NULL, give_and_exit, h);
    pthread_join(h->worker, NULL);
    take(h);
}

static void tryjoin(struct handover *h)
{
    pthread_create(&h->worker, NULL, give_in_thread, h);
    while (pthread_tryjoin_np(h->worker, NULL) != 0)
        short_nap();
    take(h);
}

static void timedjoin(struct handover *h)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    pthread_create(&h->worker, NULL, give_in_thread, h);
    pthread_timedjoin_np(h->worker, NULL, &until);
    take(h);
}

static void *give_and_sleep(void *handover)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    give(handover);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    for (;;)
        pause();
    return NULL;
}

static void cancel_join(struct handover *h)
{
    pthread_create(&h->worker, NULL, give_and_sleep, h);
    pthread_cancel(h->worker);
    pthread_join(h->worker, NULL);
    take(h);
}

static void give_in_cleanup(void *handover)
{
    give(handover);
}

static void *sleep_with_cleanup(void *handover)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cleanup_push(give_in_cleanup, handover);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return NULL;
}

static void cleanup_join(struct handover *h)
{
    pthread_create(&h->worker, NULL, sleep_with_cleanup, h);
    pthread_cancel(h->worker);
    pthread_join(h->worker, NULL);
    take(h);
}

// ---- what runs at a thread's end ----

static pthread_key_t giving_key, telling_key;
static pthread_once_t keys_made = PTHREAD_ONCE_INIT;

static void give_late(void *handover)
{
    give(handover);
}

static void tell_late(void *handover)
{
    struct handover *h = handover;
    __atomic_store_n(&h->told, 1, __ATOMIC_RELEASE);
}

static void make_keys(void)
{
    pthread_key_create(&giving_key, give_late);
    pthread_key_create(&telling_key, tell_late);
}

static void begin_keys(struct handover *h)
{
    (void)h;
    pthread_once(&keys_made, make_keys);
}

static void *leave_giving(void *handover)
{
    pthread_setspecific(giving_key, handover);
    return NULL;
}

static void destructor_join(struct handover *h)
{
    pthread_create(&h->worker, NULL, leave_giving, h);
    pthread_join(h->worker, NULL);
    take(h);
}

static void *give_and_leave_telling(void *handover)
{
    give(handover);
    pthread_setspecific(telling_key, handover);
    return NULL;
}

static void detached_end(struct handover *h)
{
    pthread_create(&h->worker, NULL, give_and_leave_telling, h);
    pthread_detach(h->worker);
    while (!__atomic_load_n(&h->told, __ATOMIC_ACQUIRE))
        short_nap();
    take(h);
}

// ---- conditions ----

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER, steady;

static void begin_steady(struct handover *h)
{
    (void)h;
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&steady, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void end_steady(struct handover *h)
{
    (void)h;
    pthread_cond_destroy(&steady);
}

// Gives when the taker sleeps, most of the time.
static void give_told(struct handover *h)
{
    app_sleep_ms(1);
    give(h);
    pthread_mutex_lock(&lock);
    h->told = 1;
}

static void signal_a(struct handover *h)
{
    give_told(h);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&lock);
}

static void signal_unlocked_a(struct handover *h)
{
    give_told(h);
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&condition);
}

static void broadcast_a(struct handover *h)
{
    give_told(h);
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&lock);
}

static void steady_a(struct handover *h)
{
    give_told(h);
    pthread_cond_signal(&steady);
    pthread_mutex_unlock(&lock);
}

static struct timespec seconds_on(clockid_t clock)
{
    struct timespec until;
    clock_gettime(clock, &until);
    until.tv_sec += 10;
    return until;
}

static void wait_b(struct handover *h)
{
    pthread_mutex_lock(&lock);
    while (!h->told)
        pthread_cond_wait(&condition, &lock);
    pthread_mutex_unlock(&lock);
    take(h);
}

static void timedwait_b(struct handover *h)
{
    struct timespec until = seconds_on(CLOCK_REALTIME);
    pthread_mutex_lock(&lock);
    while (!h->told)
        pthread_cond_timedwait(&condition, &lock, &until);
    pthread_mutex_unlock(&lock);
    take(h);
}

static void steady_b(struct handover *h)
{
    struct timespec until = seconds_on(CLOCK_MONOTONIC);
    pthread_mutex_lock(&lock);
    while (!h->told)
        pthread_cond_timedwait(&steady, &lock, &until);
    pthread_mutex_unlock(&lock);
    take(h);
}

static void clockwait_b(struct handover *h)
{
    struct timespec until = seconds_on(CLOCK_MONOTONIC);
    pthread_mutex_lock(&lock);
    while (!h->told)
        pthread_cond_clockwait(&condition, &lock, CLOCK_MONOTONIC, &until);
    pthread_mutex_unlock(&lock);
    take(h);
}

// Nobody ever sleeps: the wait is over before it begins.
static void told_early_b(struct handover *h)
{
    app_sleep_ms(3);
    wait_b(h);
}

// ---- barriers and once ----

static pthread_barrier_t both;

static void begin_barrier(struct handover *h)
{
    (void)h;
    pthread_barrier_init(&both, NULL, 2);
}

static void end_barrier(struct handover *h)
{
    (void)h;
    pthread_barrier_destroy(&both);
}

static void barrier_a(struct handover *h)
{
    give(h);
    pthread_barrier_wait(&both);
}

static void barrier_b(struct handover *h)
{
    pthread_barrier_wait(&both);
    take(h);
}

static pthread_once_t once;
static struct handover *once_for;

static void begin_once(struct handover *h)
{
    once = (pthread_once_t)PTHREAD_ONCE_INIT;
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
    pthread_once(&once, give_once);
}

static void once_b(struct handover *h)
{
    await(&h->step); // else it would be the one
    pthread_once(&once, give_once);
    take(h);
}

// ---- threads in between that make no CUDA call ----

static sem_t first, second, third;

static void begin_chain(struct handover *h)
{
    (void)h;
    sem_init(&first, 0, 0);
    sem_init(&second, 0, 0);
    sem_init(&third, 0, 0);
}

static void chain_a(struct handover *h)
{
    give(h);
    sem_post(&first);
}

static void chain_c(struct handover *h)
{
    (void)h;
    sem_wait(&first);
    sem_post(&second);
}

static void chain_b(struct handover *h)
{
    sem_wait(&second);
    take(h);
}

static void chain_d(struct handover *h)
{
    sem_wait(&second);
    pthread_mutex_lock(&lock);
    h->told = 1;
    pthread_mutex_unlock(&lock);
    sem_post(&third);
}

static void long_chain_b(struct handover *h)
{
    sem_wait(&third);
    take(h);
}

const struct way ways_pthread[] = {
    {"pthread_create", {create}, NULL, NULL},
    {"pthread_join", {join}, NULL, NULL},
    {"pthread_exit", {exit_join}, NULL, NULL},
    {"pthread_tryjoin", {tryjoin}, NULL, NULL},
    {"pthread_timedjoin", {timedjoin}, NULL, NULL},
    {"cancel", {cancel_join}, NULL, NULL},
    {"cleanup-handler", {cleanup_join}, NULL, NULL},
    {"key-destructor", {destructor_join}, begin_keys, NULL},
    {"detached-end", {detached_end}, begin_keys, NULL},
    {"cond_signal", {signal_a, wait_b}, NULL, NULL},
    {"cond_signal-unlocked", {signal_unlocked_a, wait_b}, NULL, NULL},
    {"cond_broadcast", {broadcast_a, wait_b}, NULL, NULL},
    {"cond_timedwait", {signal_a, timedwait_b}, NULL, NULL},
    {"cond_timedwait-monotonic", {steady_a, steady_b}, begin_steady, end_steady},
    {"cond_clockwait", {signal_a, clockwait_b}, NULL, NULL},
    {"cond-told-early", {signal_a, told_early_b}, NULL, NULL},
    {"barrier", {barrier_a, barrier_b}, begin_barrier, end_barrier},
    {"pthread_once", {once_a, once_b}, begin_once, NULL},
    {"third-thread", {chain_a, chain_b, chain_c}, begin_chain, NULL},
    {"third-and-fourth", {chain_a, long_chain_b, chain_c, chain_d}, begin_chain, NULL},
    {0},
};
