// SPDX-License-Identifier: Apache-2.0
//
// threads_apart [limit ms 2000]: two threads that do not hand over work to each other. A's kernel
// waits at a gate; B's work is done when the gate still is shut if the two are independent, and
// else only after the limit has opened it. No times are compared. The legacy default stream fails
// the first; PTDS_POLICY=ordered and per-thread must pass all. Run by scripts/gpu and the
// policy tests.

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "app.h"

enum { WORDS = 1024, ROUNDS = 100 };

struct apart {
    struct app app;
    struct gate gate;
    CUdeviceptr words[2];
    CUstream blocking[2], from, to;
    pthread_mutex_t allocator;
    sem_t posted;
    unsigned step;
    int was_shut;
};

static void work_on(struct apart *a, int index, CUstream stream)
{
    CU(app_add_one(&a->app, stream, a->words[index], WORDS));
}

// What an allocator's lock sees: everybody, between their launches.
static void allocate(struct apart *a)
{
    pthread_mutex_lock(&a->allocator);
    pthread_mutex_unlock(&a->allocator);
}

static void await_step(struct apart *a)
{
    while (!__atomic_load_n(&a->step, __ATOMIC_ACQUIRE))
        app_sleep_ms(1);
}

static void finish(struct apart *a)
{
    CU(cuStreamSynchronize(a->to));
    a->was_shut = __atomic_load_n(a->gate.flag, __ATOMIC_ACQUIRE) == 0;
    __atomic_store_n(a->gate.flag, 1, __ATOMIC_RELEASE);
}

static void allocator_a(struct apart *a)
{
    CU(gate_launch(&a->app, &a->gate, a->from));
    for (int i = 0; i < ROUNDS; i++) {
        allocate(a);
        work_on(a, 0, a->from);
    }
    __atomic_store_n(&a->step, 1, __ATOMIC_RELEASE);
}

static void allocator_b(struct apart *a)
{
    await_step(a);
    for (int i = 0; i < ROUNDS; i++) {
        allocate(a);
        work_on(a, 1, a->to);
    }
    finish(a);
}

// Each thread on a blocking stream of its own: no default-stream work, so no order, handed over or not.
static void streams_a(struct apart *a)
{
    CU(gate_launch(&a->app, &a->gate, a->from));
    sem_post(&a->posted);
}

static void streams_b(struct apart *a)
{
    sem_wait(&a->posted);
    work_on(a, 1, a->to);
    finish(a);
}

static const struct way {
    const char *name;
    void (*parts[2])(struct apart *a);
    int own_streams;
} ways[] = {
    {"allocator", {allocator_a, allocator_b}, 0},
    {"own-streams", {streams_a, streams_b}, 1},
};

struct run {
    struct apart *a;
    const struct way *way;
};

static void body(unsigned index, void *shared)
{
    struct run *run = shared;
    run->way->parts[index](run->a);
}

static void setup(struct apart *a, unsigned ms)
{
    app_start(&a->app);
    gate_make(&a->gate, ms);
    for (int i = 0; i < 2; i++) {
        CU(cuMemAlloc(&a->words[i], WORDS * sizeof(uint32_t)));
        CU(cuStreamCreate(&a->blocking[i], CU_STREAM_DEFAULT));
    }
    pthread_mutex_init(&a->allocator, NULL);
    sem_init(&a->posted, 0, 0);
}

int main(int argc, char **argv)
{
    static struct apart a;
    int held_up = 0;
    double ms = 0;
    setup(&a, app_number(argc, argv, 1, 2000));
    for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct run run = {&a, &ways[i]};
        CU(cuCtxSynchronize());
        a.from = ways[i].own_streams ? a.blocking[0] : NULL;
        a.to = ways[i].own_streams ? a.blocking[1] : NULL;
        a.step = 0;
        gate_arm(&a.gate);
        ms += app_threads(&a.app, 2, body, &run);
        gate_join(&a.gate);
        printf("%s %s\n", ways[i].name, a.was_shut ? "apart" : "held-up");
        held_up += !a.was_shut;
    }
    return app_finish(held_up == 0, APP_DIGEST, ms);
}
