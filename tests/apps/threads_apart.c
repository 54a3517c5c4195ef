// SPDX-License-Identifier: Apache-2.0
//
// threads_apart [limit ms 2000]: two threads whose work shares no memory. A's kernel spins for the
// limit; B's work is done before that is over if the two are independent, and else only afterwards.
// No event is asked for that: after B has waited for the default stream, A's is done, too, by legacy
// order. The host can touch no memory that the kernels use: what it may have to wait for is B's work
// alone. The legacy default stream fails the first; PTDS_POLICY=guarded and
// per-thread must pass all. Run by scripts/gpu and the policy tests.

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "app.h"

enum { WORDS = 1024, ROUNDS = 100 };

struct apart {
    struct app app;
    uint64_t spin_ns;
    double until_ms; // before that A's kernel cannot be done
    CUdeviceptr words[2];
    CUstream blocking[2], from, to;
    pthread_mutex_t allocator;
    sem_t posted;
    unsigned step;
    int was_apart;
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

static void spin(struct apart *a)
{
    a->until_ms = app_now_ms() + (double)a->spin_ns / 1e6;
    CU(app_spin(&a->app, a->from, a->spin_ns));
}

static void finish(struct apart *a)
{
    CU(cuStreamSynchronize(a->to));
    a->was_apart = app_now_ms() < a->until_ms;
}

static void allocator_a(struct apart *a)
{
    spin(a);
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
    spin(a);
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
    a->spin_ns = ms * 1000000ull;
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
        ms += app_threads(&a.app, 2, body, &run);
        CU(cuCtxSynchronize());
        printf("%s %s\n", ways[i].name, a.was_apart ? "apart" : "held-up");
        held_up += !a.was_apart;
    }
    return app_finish(held_up == 0, APP_DIGEST, ms);
}
