// SPDX-License-Identifier: Apache-2.0
//
// thread_handover [gate ms 30]: thread A puts a gate and a kernel on a stream and, without waiting
// for them, hands over to thread B, which reads what the kernel writes with work of its own. Legacy
// order makes that right whichever way they hand over; where nothing stands for it, B's work runs
// before the gate opens, every time. Right without a shim and under PTDS_POLICY=guarded, wrong under
// plain per-thread streams. Run by scripts/gpu and the policy tests.

#include <stdio.h>

#include "thread_handover.h"

static void semaphore_a(struct handover *h)
{
    write_words(h);
    sem_post(&h->first);
}

static void semaphore_b(struct handover *h)
{
    sem_wait(&h->first);
    read_words(h);
}

static void trywait_b(struct handover *h)
{
    while (sem_trywait(&h->first) != 0)
        app_sleep_ms(1);
    read_words(h);
}

static void *read_in_thread(void *argument)
{
    struct handover *h = argument;
    app_thread(&h->app);
    read_words(h);
    return NULL;
}

static void create_a(struct handover *h)
{
    write_words(h);
    pthread_create(&h->worker, NULL, read_in_thread, h);
    turn(h, 1);
}

static void create_b(struct handover *h)
{
    await_turn(h, 1);
    pthread_join(h->worker, NULL);
}

static void *write_in_thread(void *argument)
{
    struct handover *h = argument;
    app_thread(&h->app);
    write_words(h);
    return NULL;
}

static void *write_and_exit(void *argument)
{
    write_in_thread(argument);
    pthread_exit(NULL);
}

static void join_b(struct handover *h)
{
    pthread_create(&h->worker, NULL, write_in_thread, h);
    pthread_join(h->worker, NULL);
    read_words(h);
}

static void exit_b(struct handover *h)
{
    pthread_create(&h->worker, NULL, write_and_exit, h);
    pthread_join(h->worker, NULL);
    read_words(h);
}

// A's last work comes from a destructor at the thread's very end, where the driver may have ended its
// part of the thread already: then no context is current (measured, driver 580).
static void write_late(void *argument)
{
    struct handover *h = argument;
    app_thread(&h->app);
    write_words(h);
}

static void *leave_late_work(void *argument)
{
    struct handover *h = argument;
    app_thread(&h->app);
    pthread_setspecific(h->late, h);
    return NULL;
}

static void late_b(struct handover *h)
{
    pthread_create(&h->worker, NULL, leave_late_work, h);
    pthread_join(h->worker, NULL);
    read_words(h);
}

static void barrier_a(struct handover *h)
{
    write_words(h);
    pthread_barrier_wait(&h->both);
}

static void barrier_b(struct handover *h)
{
    pthread_barrier_wait(&h->both);
    read_words(h);
}

// A to C to B; C calls no CUDA.
static void chain_c(struct handover *h)
{
    sem_wait(&h->first);
    sem_post(&h->second);
}

static void chain_b(struct handover *h)
{
    sem_wait(&h->second);
    read_words(h);
}

// The thread that hands over is gone when the other takes over.
static void *post_in_thread(void *argument)
{
    write_in_thread(argument);
    sem_post(&((struct handover *)argument)->first);
    return NULL;
}

static void ended_a(struct handover *h)
{
    pthread_create(&h->worker, NULL, post_in_thread, h);
    pthread_join(h->worker, NULL);
    turn(h, 1);
}

static void ended_b(struct handover *h)
{
    await_turn(h, 1);
    semaphore_b(h);
}

// A's own capture, on a stream that the default stream does not mind, is open while it hands over.
static void capture_a(struct handover *h)
{
    CUgraph graph;
    CU(cuStreamBeginCapture(h->nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL));
    semaphore_a(h);
    await_turn(h, 1);
    CU(cuStreamEndCapture(h->nonblocking, &graph));
    CU(cuGraphDestroy(graph));
}

static void capture_b(struct handover *h)
{
    semaphore_b(h);
    turn(h, 1);
}

static const struct way {
    const char *name;
    part *parts[3];
    int from, to; // 0: the default stream, else one of blocking[]
} ways[] = {
    {"condition", {wake_a, wake_b}, 0, 0},
    {"queue-found-full", {queue_a, queue_b}, 0, 0},
    {"future-complete", {complete_a, complete_b}, 0, 0},
    {"future-told-late", {early_a, early_b}, 0, 0},
    {"held-while-told", {outer_a, outer_b}, 0, 0},
    {"semaphore", {semaphore_a, semaphore_b}, 0, 0},
    {"semaphore-try", {semaphore_a, trywait_b}, 0, 0},
    {"create", {create_a, create_b}, 0, 0},
    {"join", {join_b}, 0, 0},
    {"exit-and-join", {exit_b}, 0, 0},
    {"barrier", {barrier_a, barrier_b}, 0, 0},
    {"chain", {semaphore_a, chain_b, chain_c}, 0, 0},
    {"ended", {ended_a, ended_b}, 0, 0},
    {"capture-open", {capture_a, capture_b}, 0, 0},
    {"from-blocking", {semaphore_a, semaphore_b}, 1, 0},
    {"to-blocking", {semaphore_a, semaphore_b}, 0, 2},
    {"join-from-blocking", {join_b}, 1, 0},
    {"chain-to-blocking", {semaphore_a, chain_b, chain_c}, 0, 2},
    // Last: what a thread leaves at its very end makes those after it wait for everything, and nothing shows any more.
    {"late-work-and-join", {late_b}, 0, 0},
    {"late-join-to-blocking", {late_b}, 0, 2},
    {"waited-since-start", {sleeper_a}, 0, 0},
};

// Every way has a box that nobody has used before.
static struct box boxes[sizeof ways / sizeof ways[0]];

struct run {
    struct handover *h;
    const struct way *way;
};

static void body(unsigned index, void *shared)
{
    struct run *run = shared;
    run->way->parts[index](run->h);
}

static void setup(struct handover *h, unsigned ms)
{
    app_start(&h->app);
    gate_make(&h->gate, ms);
    CU(cuMemAlloc(&h->words, BYTES));
    CU(cuMemAlloc(&h->seen, BYTES));
    for (int i = 0; i < 2; i++)
        CU(cuStreamCreate(&h->blocking[i], CU_STREAM_DEFAULT));
    CU(cuStreamCreate(&h->nonblocking, CU_STREAM_NON_BLOCKING));
    pthread_mutex_init(&h->outer, NULL);
    sem_init(&h->first, 0, 0);
    sem_init(&h->second, 0, 0);
    pthread_barrier_init(&h->both, NULL, 2);
    pthread_key_create(&h->late, write_late);
}

static unsigned count_parts(const struct way *way)
{
    unsigned count = 0;
    while (count < 3 && way->parts[count])
        count++;
    return count;
}

// The last word that B read. The gate is armed before the threads start, so that its opener has no
// part in what they do.
static uint32_t try_way(struct handover *h, const struct way *way, double *ms)
{
    struct run run = {h, way};
    uint32_t seen;
    CU(cuMemsetD32(h->words, OLD, WORDS));
    CU(cuMemsetD32(h->seen, 0, WORDS));
    CU(cuCtxSynchronize());
    h->from = way->from ? h->blocking[way->from - 1] : NULL;
    h->to = way->to ? h->blocking[way->to - 1] : NULL;
    h->box = &boxes[way - ways];
    pthread_mutex_init(&h->box->lock, NULL);
    pthread_cond_init(&h->box->told, NULL);
    turn(h, 0);
    gate_arm(&h->gate);
    *ms += app_threads(&h->app, count_parts(way), body, &run);
    gate_join(&h->gate);
    CU(cuCtxSynchronize());
    CU(cuMemcpyDtoH(&seen, h->seen + BYTES - sizeof seen, sizeof seen));
    return seen;
}

int main(int argc, char **argv)
{
    static struct handover h;
    int wrong = 0;
    uint64_t digest = APP_DIGEST;
    double ms = 0;
    start_sleeper(&h);
    setup(&h, app_number(argc, argv, 1, 30));
    for (unsigned i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        uint32_t seen = try_way(&h, &ways[i], &ms);
        printf("%s %s\n", ways[i].name, seen == NEW ? "right" : "stale");
        wrong += seen != NEW;
        digest = app_digest(digest, &seen, sizeof seen);
    }
    return app_finish(wrong == 0, digest, ms);
}
