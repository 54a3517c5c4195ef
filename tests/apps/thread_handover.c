// SPDX-License-Identifier: Apache-2.0
//
// thread_handover [gate ms 30]: thread A puts a gate and a kernel on a stream and, without waiting
// for them, hands over to thread B, which reads what the kernel writes with work of its own. Legacy
// order makes that right whichever way they hand over; where nothing stands for it, B's work runs
// before the gate opens, every time. Right without a shim and under PTDS_POLICY=ordered, wrong under
// plain per-thread streams. Run by scripts/gpu and the policy tests.

#include <semaphore.h>
#include <stdio.h>

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

static void turn(struct handover *h, unsigned step)
{
    __atomic_store_n(&h->step, step, __ATOMIC_RELEASE);
}

static void await_turn(struct handover *h, unsigned step)
{
    while (__atomic_load_n(&h->step, __ATOMIC_ACQUIRE) < step)
        app_sleep_ms(1);
}

static void write_words(struct handover *h)
{
    CU(gate_launch(&h->app, &h->gate, h->from));
    CU(app_add_one(&h->app, h->from, h->words, WORDS));
}

static void read_words(struct handover *h)
{
    CU(cuMemcpyDtoDAsync(h->seen, h->words, BYTES, h->to));
}

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
static void wake_a(struct handover *h)
{
    await_turn(h, 1);
    app_sleep_ms(2);
    write_words(h);
    pthread_mutex_lock(&h->box->lock);
    h->box->full = 1;
    pthread_cond_signal(&h->box->told);
    pthread_mutex_unlock(&h->box->lock);
}

static void wake_b(struct handover *h)
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

static void start_sleeper(struct handover *h)
{
    pthread_mutex_init(&h->slept.lock, NULL);
    pthread_cond_init(&h->slept.told, NULL);
    pthread_create(&h->sleeper, NULL, sleeper_b, h);
    await_turn(h, 1);
    app_sleep_ms(2);
}

static void sleeper_a(struct handover *h)
{
    write_words(h);
    pthread_mutex_lock(&h->slept.lock);
    h->slept.full = 1;
    pthread_cond_signal(&h->slept.told);
    pthread_mutex_unlock(&h->slept.lock);
    pthread_join(h->sleeper, NULL);
}

// B only locks: nobody ever waited for this box.
static void complete_a(struct handover *h)
{
    write_words(h);
    fill(h->box);
    pthread_cond_broadcast(&h->box->told);
    turn(h, 1);
}

static void complete_b(struct handover *h)
{
    await_turn(h, 1);
    if (look(h->box))
        read_words(h);
}

// A's second item: B has waited for the box before, and this time finds it full.
static void queue_b(struct handover *h)
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

static void queue_a(struct handover *h)
{
    await_turn(h, 1);
    write_words(h);
    fill(h->box);
    turn(h, 2);
}

// B looks between A's unlock and A's broadcast; its work comes after that.
static void early_a(struct handover *h)
{
    write_words(h);
    fill(h->box);
    turn(h, 1);
    await_turn(h, 2);
    pthread_cond_broadcast(&h->box->told);
    turn(h, 3);
}

static void early_b(struct handover *h)
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
static void outer_a(struct handover *h)
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

static void outer_b(struct handover *h)
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

typedef void part(struct handover *h);

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
