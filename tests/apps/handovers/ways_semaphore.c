// SPDX-License-Identifier: Apache-2.0
//
// Ways of POSIX semaphores, named and unnamed, and the textbook bounded buffer with two producers, whose consumer may take
// one producer's post and the other's item. Called by the runner (table.c).

#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "tests/apps/handovers/handovers.h"

static sem_t unnamed;
static sem_t *semaphore = &unnamed;

static void begin_unnamed(struct handover *h)
{
    (void)h;
    sem_init(&unnamed, 0, 0);
    semaphore = &unnamed;
}

static void begin_named(struct handover *h)
{
    char name[64];
    snprintf(name, sizeof name, "/handover.%d", (int)getpid());
    semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
    if (semaphore == SEM_FAILED)
        h->no = "no named semaphores";
    else
        sem_unlink(name);
}

static void end_named(struct handover *h)
{
    (void)h;
    sem_close(semaphore);
}

static void post_a(struct handover *h)
{
    give(h);
    sem_post(semaphore);
}

static void wait_b(struct handover *h)
{
    while (sem_wait(semaphore) != 0)
        ;
    take(h);
}

static void trywait_b(struct handover *h)
{
    while (sem_trywait(semaphore) != 0)
        short_nap();
    take(h);
}

static void timedwait_b(struct handover *h)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    while (sem_timedwait(semaphore, &until) != 0)
        ;
    take(h);
}

static void clockwait_b(struct handover *h)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 10;
    while (sem_clockwait(semaphore, CLOCK_MONOTONIC, &until) != 0)
        ;
    take(h);
}

static void getvalue_b(struct handover *h)
{
    for (int value = 0; value <= 0; short_nap())
        sem_getvalue(semaphore, &value);
    take(h);
}

// ---- the bounded buffer ----

enum { PLACES = 4, EMPTY_ITEMS = 3, EMPTY = 1, FULL = 2 };

static struct {
    sem_t free, used;
    pthread_mutex_t lock;
    int items[PLACES];
    unsigned in, out;
} buffer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void begin_buffer(struct handover *h)
{
    (void)h;
    sem_init(&buffer.free, 0, PLACES);
    sem_init(&buffer.used, 0, 0);
    buffer.in = buffer.out = 0;
}

static void put(int item)
{
    sem_wait(&buffer.free);
    pthread_mutex_lock(&buffer.lock);
    buffer.items[buffer.in++ % PLACES] = item;
    pthread_mutex_unlock(&buffer.lock);
    sem_post(&buffer.used);
}

static int get(void)
{
    sem_wait(&buffer.used);
    pthread_mutex_lock(&buffer.lock);
    int item = buffer.items[buffer.out++ % PLACES];
    pthread_mutex_unlock(&buffer.lock);
    sem_post(&buffer.free);
    return item;
}

static void produce_a(struct handover *h)
{
    give(h);
    put(FULL);
}

static void produce_c(struct handover *h)
{
    (void)h;
    for (int i = 0; i < EMPTY_ITEMS; i++)
        put(EMPTY);
}

static void consume_b(struct handover *h)
{
    int got = 0;
    for (int i = 0; i <= EMPTY_ITEMS; i++)
        if (!got && get() == FULL) {
            take(h);
            got = 1;
        }
}

// The other producer is between its item and its post when the giver's post comes: what wakes the consumer is the giver's,
// what it gets first is not; what wakes it next is not the giver's, what it gets is.
static void half_put_c(struct handover *h)
{
    sem_wait(&buffer.free);
    pthread_mutex_lock(&buffer.lock);
    buffer.items[buffer.in++ % PLACES] = EMPTY;
    pthread_mutex_unlock(&buffer.lock);
    tell(&h->step);
    app_sleep_ms(2);
    sem_post(&buffer.used);
}

static void late_produce_a(struct handover *h)
{
    await(&h->step);
    produce_a(h);
}

const struct way ways_semaphore[] = {
    {"sem_wait", {post_a, wait_b}, begin_unnamed, NULL},
    {"sem_trywait", {post_a, trywait_b}, begin_unnamed, NULL},
    {"sem_timedwait", {post_a, timedwait_b}, begin_unnamed, NULL},
    {"sem_clockwait", {post_a, clockwait_b}, begin_unnamed, NULL},
    {"sem_getvalue", {post_a, getvalue_b}, begin_unnamed, NULL},
    {"sem_open", {post_a, wait_b}, begin_named, end_named},
    {"bounded-buffer", {produce_a, consume_b, produce_c}, begin_buffer, NULL},
    {"bounded-buffer-crossed", {late_produce_a, consume_b, half_put_c}, begin_buffer, NULL},
    {0},
};
