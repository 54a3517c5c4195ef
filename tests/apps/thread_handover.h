/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of thread_handover share: A's work, B's work, and how they take turns without handing over.
 * The parts are in thread_handover.c, those with conditions and mutexes in thread_handover_boxes.c.
 */
#ifndef APPS_THREAD_HANDOVER_H
#define APPS_THREAD_HANDOVER_H

#include <pthread.h>
#include <semaphore.h>

#include "app.h"

enum { WORDS = 1024, BYTES = WORDS * 4, OLD = 1, NEW = 2 };

// A queue or a future: a lock, a condition, and whether there is something.
struct box {
    pthread_mutex_t lock;
    pthread_cond_t told;
    int full;
};

struct handover {
    struct app app;
    struct gate gate;
    CUdeviceptr words, seen;
    CUstream blocking[2], nonblocking;
    CUstream from, to; // A's and B's
    struct box *box;
    pthread_mutex_t outer;
    struct box slept; // waited for since before the program called CUDA
    pthread_t sleeper;
    sem_t first, second;
    pthread_barrier_t both;
    pthread_t worker;
    pthread_key_t late;
    unsigned step; // by plain stores: tells the threads' turns and hands over nothing
};

static inline void turn(struct handover *h, unsigned step)
{
    __atomic_store_n(&h->step, step, __ATOMIC_RELEASE);
}

static inline void await_turn(struct handover *h, unsigned step)
{
    while (__atomic_load_n(&h->step, __ATOMIC_ACQUIRE) < step)
        app_sleep_ms(1);
}

static inline void write_words(struct handover *h)
{
    CU(gate_launch(&h->app, &h->gate, h->from));
    CU(app_add_one(&h->app, h->from, h->words, WORDS));
}

static inline void read_words(struct handover *h)
{
    CU(cuMemcpyDtoDAsync(h->seen, h->words, BYTES, h->to));
}

typedef void part(struct handover *h);

part wake_a, wake_b;         // B sleeps on the condition
part sleeper_a;              // B has slept on it since before the driver was there
part queue_a, queue_b;       // B finds the box full
part complete_a, complete_b; // nobody ever waits
part early_a, early_b;       // nobody waits, and B looks before A tells
part outer_a, outer_b;       // under another lock

// Starts B of sleeper_a; before cuInit.
void start_sleeper(struct handover *h);

#endif
