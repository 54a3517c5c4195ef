// SPDX-License-Identifier: Apache-2.0
//
// random_order [first seed 1] [seeds 20]: random work by several threads, one at a time, each on the
// default stream, on one of two blocking ones, on one that is destroyed right away, or on a
// non-blocking one, handed over by semaphores, conditions, creation and joining. Where legacy order
// does not put a piece of work after the one before, an event does, so that one result is right.
// Every piece follows a kernel that takes a while: what does not wait for it is early. Right without a
// shim and under PTDS_POLICY=guarded. Run by scripts/gpu and the policy tests.

#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "app.h"

enum { WORDS = 256, BYTES = WORDS * 4, BUFFERS = 4, WORKERS = 2, ACTS = 30, MOST_ITEMS = 4, DELAY_NS = 150000 };

enum stream { DEFAULT, LEFT, RIGHT, FREE, STREAMS };

// Another thread for as long as the program runs; every second one is told by a condition.
struct worker {
    pthread_t thread;
    sem_t told, done;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int by_condition, wanted, ended;
    void (*act)(void);
};

static struct {
    struct app app;
    CUstream streams[STREAMS];
    CUevent event;
    CUdeviceptr buffers[BUFFERS];
    uint32_t expected[BUFFERS];
    uint64_t random;
    enum stream last;
    struct worker workers[WORKERS];
} r;

static unsigned any(unsigned below)
{
    r.random = r.random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(r.random >> 33) % below;
}

static int ordered_by_legacy(enum stream one, enum stream other)
{
    return one == other || (one == DEFAULT && other != FREE) || (other == DEFAULT && one != FREE);
}

// What is put on the stream now comes after all that was put anywhere.
static void move_to(enum stream next)
{
    if (!ordered_by_legacy(r.last, next)) {
        CU(cuEventRecord(r.event, r.streams[r.last]));
        CU(cuStreamWaitEvent(r.streams[next], r.event, 0));
    }
    r.last = next;
}

static void put_synchronous(unsigned to, unsigned from)
{
    move_to(DEFAULT);
    CU(app_spin(&r.app, NULL, DELAY_NS));
    if (any(2)) {
        CU(cuMemcpyDtoD(r.buffers[to], r.buffers[from], BYTES));
        r.expected[to] = r.expected[from];
    } else {
        CU(cuMemsetD32(r.buffers[to], from, WORDS));
        r.expected[to] = from;
    }
}

static void put_asynchronous(CUstream stream, unsigned to, unsigned from)
{
    unsigned kind = any(7);
    CU(app_spin(&r.app, stream, DELAY_NS));
    if (kind < 3) {
        CU(app_add_one(&r.app, stream, r.buffers[to], WORDS));
        r.expected[to]++;
    } else if (kind < 6) {
        CU(cuMemcpyDtoDAsync(r.buffers[to], r.buffers[from], BYTES, stream));
        r.expected[to] = r.expected[from];
    } else {
        CU(cuMemsetD32Async(r.buffers[to], from, WORDS, stream));
        r.expected[to] = from;
    }
}

// Between two pieces of default-stream work: a stream that goes while its work is pending.
static void put_on_passing(unsigned to, unsigned from)
{
    CUstream passing;
    move_to(DEFAULT);
    put_asynchronous(NULL, to, from);
    CU(cuStreamCreate(&passing, CU_STREAM_DEFAULT));
    put_asynchronous(passing, to, from);
    CU(cuStreamDestroy(passing));
    put_asynchronous(NULL, from, to);
}

static void put_item(void)
{
    unsigned to = any(BUFFERS), from = any(BUFFERS), kind = any(10);
    if (kind == 0) {
        put_synchronous(to, from);
    } else if (kind == 1) {
        put_on_passing(to, from);
    } else {
        move_to((enum stream)any(STREAMS));
        put_asynchronous(r.streams[r.last], to, from);
    }
}

static void act(void)
{
    for (unsigned left = 1 + any(MOST_ITEMS); left; left--)
        put_item();
}

static void *act_in_thread(void *unused)
{
    (void)unused;
    app_thread(&r.app);
    act();
    return NULL;
}

static void await(struct worker *w, int *flag)
{
    pthread_mutex_lock(&w->lock);
    while (!*flag)
        pthread_cond_wait(&w->changed, &w->lock);
    *flag = 0;
    pthread_mutex_unlock(&w->lock);
}

static void tell(struct worker *w, int *flag)
{
    pthread_mutex_lock(&w->lock);
    *flag = 1;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

// Ends when there is nothing to do.
static void *work(void *argument)
{
    struct worker *w = argument;
    app_thread(&r.app);
    for (;;) {
        if (w->by_condition)
            await(w, &w->wanted);
        else
            sem_wait(&w->told);
        if (!w->act)
            return NULL;
        w->act();
        if (w->by_condition)
            tell(w, &w->ended);
        else
            sem_post(&w->done);
    }
}

static void start_worker(struct worker *w, int by_condition)
{
    memset(w, 0, sizeof *w);
    w->by_condition = by_condition;
    sem_init(&w->told, 0, 0);
    sem_init(&w->done, 0, 0);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    pthread_create(&w->thread, NULL, work, w);
}

static void in_worker(struct worker *w, void (*what)(void))
{
    w->act = what;
    if (w->by_condition)
        tell(w, &w->wanted);
    else
        sem_post(&w->told);
    if (!what)
        pthread_join(w->thread, NULL);
    else if (w->by_condition)
        await(w, &w->ended);
    else
        sem_wait(&w->done);
}

static void anywhere(void)
{
    pthread_t thread;
    unsigned who = any(2 + WORKERS);
    if (who < WORKERS) {
        in_worker(&r.workers[who], act);
    } else if (who == WORKERS) {
        pthread_create(&thread, NULL, act_in_thread, NULL);
        pthread_join(thread, NULL);
    } else {
        act();
    }
}

// 1 if every buffer holds what it must.
static int one_seed(unsigned seed, uint64_t *digest)
{
    int right = 1;
    r.random = seed;
    r.last = DEFAULT;
    for (unsigned i = 0; i < BUFFERS; i++) {
        CU(cuMemsetD32(r.buffers[i], i, WORDS));
        r.expected[i] = i;
    }
    for (int i = 0; i < WORKERS; i++)
        start_worker(&r.workers[i], i % 2);
    for (unsigned i = 0; i < ACTS; i++)
        anywhere();
    for (int i = 0; i < WORKERS; i++)
        in_worker(&r.workers[i], NULL);
    CU(cuCtxSynchronize());
    for (unsigned i = 0; i < BUFFERS; i++) {
        uint32_t seen;
        CU(cuMemcpyDtoH(&seen, r.buffers[i] + BYTES - sizeof seen, sizeof seen));
        *digest = app_digest(*digest, &seen, sizeof seen);
        right &= seen == r.expected[i];
    }
    if (!right)
        printf("seed %u is wrong\n", seed);
    return right;
}

int main(int argc, char **argv)
{
    unsigned first = app_number(argc, argv, 1, 1), seeds = app_number(argc, argv, 2, 20);
    uint64_t digest = APP_DIGEST;
    int right = 1;
    app_start(&r.app);
    for (unsigned i = 0; i < BUFFERS; i++)
        CU(cuMemAlloc(&r.buffers[i], BYTES));
    CU(cuStreamCreate(&r.streams[LEFT], CU_STREAM_DEFAULT));
    CU(cuStreamCreate(&r.streams[RIGHT], CU_STREAM_DEFAULT));
    CU(cuStreamCreate(&r.streams[FREE], CU_STREAM_NON_BLOCKING));
    CU(cuEventCreate(&r.event, CU_EVENT_DISABLE_TIMING));
    double began = app_now_ms();
    for (unsigned seed = first; seed < first + seeds; seed++)
        right &= one_seed(seed, &digest);
    return app_finish(right, digest, app_now_ms() - began);
}
