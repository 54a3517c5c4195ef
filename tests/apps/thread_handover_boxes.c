// SPDX-License-Identifier: Apache-2.0
//
// The parts of thread_handover that hand over by a box: a lock, a condition, and whether there is something.

#include "thread_handover.h"

static void fill(struct box *box)
{
    pthread_mutex_lock(&box->lock);
    box->full = 1;
    pthread_mutex_unlock(&box->lock);
}

static int look(struct box *box)
{
    pthread_mutex_lock(&box->lock);
    int full = box->full;
    pthread_mutex_unlock(&box->lock);
    return full;
}

// B sleeps on the condition.
void wake_a(struct handover *h)
{
    await_turn(h, 1);
    app_sleep_ms(2);
    write_words(h);
    pthread_mutex_lock(&h->box->lock);
    h->box->full = 1;
    pthread_cond_signal(&h->box->told);
    pthread_mutex_unlock(&h->box->lock);
}

void wake_b(struct handover *h)
{
    pthread_mutex_lock(&h->box->lock);
    turn(h, 1);
    while (!h->box->full)
        pthread_cond_wait(&h->box->told, &h->box->lock);
    pthread_mutex_unlock(&h->box->lock);
    read_words(h);
}

// B has slept on the condition since before the driver was there.
static void *sleeper_b(void *argument)
{
    struct handover *h = argument;
    pthread_mutex_lock(&h->slept.lock);
    turn(h, 1);
    while (!h->slept.full)
        pthread_cond_wait(&h->slept.told, &h->slept.lock);
    pthread_mutex_unlock(&h->slept.lock);
    app_thread(&h->app);
    read_words(h);
    return NULL;
}

void start_sleeper(struct handover *h)
{
    pthread_mutex_init(&h->slept.lock, NULL);
    pthread_cond_init(&h->slept.told, NULL);
    pthread_create(&h->sleeper, NULL, sleeper_b, h);
    await_turn(h, 1);
    app_sleep_ms(2);
}

void sleeper_a(struct handover *h)
{
    write_words(h);
    pthread_mutex_lock(&h->slept.lock);
    h->slept.full = 1;
    pthread_cond_signal(&h->slept.told);
    pthread_mutex_unlock(&h->slept.lock);
    pthread_join(h->sleeper, NULL);
}

// B only locks: nobody ever waited for this box.
void complete_a(struct handover *h)
{
    write_words(h);
    fill(h->box);
    pthread_cond_broadcast(&h->box->told);
    turn(h, 1);
}

void complete_b(struct handover *h)
{
    await_turn(h, 1);
    if (look(h->box))
        read_words(h);
}

// A's second item: B has waited for the box before, and this time finds it full.
void queue_b(struct handover *h)
{
    struct timespec now = {0};
    pthread_mutex_lock(&h->box->lock);
    pthread_cond_timedwait(&h->box->told, &h->box->lock, &now);
    pthread_mutex_unlock(&h->box->lock);
    turn(h, 1);
    await_turn(h, 2);
    if (look(h->box))
        read_words(h);
}

void queue_a(struct handover *h)
{
    await_turn(h, 1);
    write_words(h);
    fill(h->box);
    turn(h, 2);
}

// B looks between A's unlock and A's broadcast; its work comes after that.
void early_a(struct handover *h)
{
    write_words(h);
    fill(h->box);
    turn(h, 1);
    await_turn(h, 2);
    pthread_cond_broadcast(&h->box->told);
    turn(h, 3);
}

void early_b(struct handover *h)
{
    await_turn(h, 1);
    int full = look(h->box);
    turn(h, 2);
    await_turn(h, 3);
    if (full)
        read_words(h);
}

// What a box under another lock is told about is guarded by that lock: A told another thread of an earlier item so, and B
// finds this one under the outer lock alone. B has worked before: nothing of earlier threads is left to wait for.
void outer_a(struct handover *h)
{
    await_turn(h, 1);
    pthread_mutex_lock(&h->outer);
    fill(h->box);
    pthread_cond_signal(&h->box->told);
    pthread_mutex_unlock(&h->outer);
    write_words(h);
    pthread_mutex_lock(&h->outer);
    pthread_mutex_unlock(&h->outer);
    turn(h, 2);
    await_turn(h, 3); // a thread's end hands over too
}

void outer_b(struct handover *h)
{
    read_words(h);
    CU(cuStreamSynchronize(h->to));
    turn(h, 1);
    await_turn(h, 2);
    pthread_mutex_lock(&h->outer);
    pthread_mutex_unlock(&h->outer);
    read_words(h);
    turn(h, 3);
}
