/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations, what they wait for, and the threads that run them. Called by streams, events, graphs and copies. An
 * operation runs when all that it waits for is done; two that do not wait for each other really overlap, whatever they do,
 * because a thread is added whenever work is ready and no thread is free. Must never hold the lock while work runs.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "tests/sim/sim.h"

#include "tests/sim/sim_test_api.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_ready = PTHREAD_COND_INITIALIZER;
static pthread_cond_t op_finished = PTHREAD_COND_INITIALIZER;

struct queue {
    struct op *first, **last;
    size_t count;
};
static struct queue runnable = {NULL, &runnable.first, 0};   /* wait for a thread */
static struct queue resolving = {NULL, &resolving.first, 0}; /* ready, not looked at yet */
static size_t idle_threads, unfinished, settling;

/* A thread is not cancelled while it has the lock or waits for work: what it was about would stay half done. */
static __thread int cancel_state;

void sim_lock(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&lock);
    cancel_state = before;
}

void sim_unlock(void)
{
    int before = cancel_state;
    pthread_mutex_unlock(&lock);
    pthread_setcancelstate(before, NULL);
}

uint64_t sim_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* In a child process: no thread of the parent lives on, and nothing that they held is held. */
void engine_after_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&work_ready, NULL);
    pthread_cond_init(&op_finished, NULL);
    runnable = (struct queue){NULL, &runnable.first, 0};
    resolving = (struct queue){NULL, &resolving.first, 0};
    idle_threads = unfinished = settling = 0;
    queues_after_fork();
}

static void queue_add(struct queue *q, struct op *op)
{
    op->next = NULL;
    *q->last = op;
    q->last = &op->next;
    q->count++;
}

static struct op *queue_take(struct queue *q)
{
    struct op *op = q->first;
    if (!op)
        return NULL;
    q->first = op->next;
    if (!q->first)
        q->last = &q->first;
    q->count--;
    return op;
}

struct op *op_new(struct work *w)
{
    struct op *op = calloc(1, sizeof *op);
    if (!op)
        abort();
    op->work = *w;
    *w = (struct work){.kind = WORK_NONE};
    op->references = 1; /* until it is done */
    op->pending = 1;    /* until it is submitted */
    return op;
}

struct op *op_hold(struct op *op)
{
    if (op)
        op->references++;
    return op;
}

void op_release(struct op *op)
{
    if (!op || --op->references)
        return;
    work_clear(&op->work);
    free(op->dependents);
    free(op);
}

void op_after(struct op *op, struct op *earlier)
{
    if (!op_busy(earlier) || earlier == op)
        return;
    if (earlier->dependent_count == earlier->dependent_capacity) {
        earlier->dependent_capacity = earlier->dependent_capacity ? earlier->dependent_capacity * 2 : 4;
        earlier->dependents = realloc(earlier->dependents, earlier->dependent_capacity * sizeof *earlier->dependents);
        if (!earlier->dependents)
            abort();
    }
    earlier->dependents[earlier->dependent_count++] = op;
    op->pending++;
}

/* Everything that waits for `earlier`, and what waits for that. */
bool op_comes_after(const struct op *op, struct op *earlier)
{
    static uint64_t visit;
    size_t count = 1, capacity = 64;
    struct op **todo = malloc(capacity * sizeof *todo);
    visit++;
    if (!todo)
        abort();
    for (todo[0] = earlier; count && todo[count - 1] != op;) {
        const struct op *at = todo[--count];
        for (size_t i = 0; i < at->dependent_count; i++) {
            if (at->dependents[i]->visited == visit)
                continue;
            at->dependents[i]->visited = visit;
            if (count == capacity && !(todo = realloc(todo, (capacity *= 2) * sizeof *todo)))
                abort();
            todo[count++] = at->dependents[i];
        }
    }
    free(todo);
    return count != 0;
}

static void finish(struct op *op)
{
    op->done = true;
    unfinished--;
    op->finished_ns = sim_now_ns();
    for (size_t i = 0; i < op->dependent_count; i++)
        if (--op->dependents[i]->pending == 0)
            queue_add(&resolving, op->dependents[i]);
    op->dependent_count = 0;
    if (op->waiters || settling)
        pthread_cond_broadcast(&op_finished);
    if (op->stream)
        stream_op_done(op);
    op_release(op);
}

static void resolve(void);

static void *run_operations(void *unused)
{
    (void)unused;
    sim_lock();
    for (;;) {
        struct op *op = queue_take(&runnable);
        if (!op) {
            idle_threads++;
            pthread_cond_wait(&work_ready, &lock);
            idle_threads--;
            continue;
        }
        sim_unlock();
        work_run(&op->work);
        sim_lock();
        finish(op);
        resolve();
    }
    return NULL;
}

static void start_thread(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 512 * 1024);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, &attributes, run_operations, NULL) != 0 && !idle_threads)
        abort();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* What stands behind it in its hardware queue may begin. */
static void begin(struct op *op)
{
    struct op *follower = op->follower;
    op->begun = true;
    op->follower = NULL;
    if (follower && --follower->pending == 0)
        queue_add(&resolving, follower);
    op_release(follower);
}

/* Locked. Markers are done on the spot; the rest goes to a thread. A loop, since chains of markers can be long. */
static void resolve(void)
{
    for (struct op *op = queue_take(&resolving); op; op = queue_take(&resolving)) {
        begin(op);
        if (op->work.kind == WORK_NONE) {
            finish(op);
            continue;
        }
        queue_add(&runnable, op);
        if (runnable.count > idle_threads)
            start_thread();
        else
            pthread_cond_signal(&work_ready);
    }
}

void op_submit(struct op *op)
{
    unfinished++;
    if (--op->pending == 0) {
        queue_add(&resolving, op);
        resolve();
    }
}

void op_wait(struct op *op)
{
    if (!op_busy(op))
        return;
    op_hold(op)->waiters++;
    while (!op->done)
        pthread_cond_wait(&op_finished, &lock);
    op->waiters--;
    op_release(op);
}

SIM_EXPORT void sim_settle(void)
{
    sim_lock();
    settling++;
    while (unfinished)
        pthread_cond_wait(&op_finished, &lock);
    settling--;
    sim_unlock();
}
