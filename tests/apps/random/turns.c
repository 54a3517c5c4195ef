// SPDX-License-Identifier: Apache-2.0
//
// The threads of a random program. Whose turn it is stands in one atomic word; nothing else passes between them. A thread
// that ends starts the one that takes its place. Called by random_turns.c.

#include <execinfo.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "act.h"

enum { YIELDS = 30, NAP_NS = 10000 };
#define NOBODYS UINT_MAX

static pthread_t threads[THREADS_MOST];
static unsigned started;

struct place {
    unsigned seat, step;
};
static struct place places[THREADS_MOST];

static void *sit(void *argument);

static void start(unsigned seat, unsigned step)
{
    struct place *place = &places[started];
    *place = (struct place){seat, step};
    pthread_create(&threads[started++], NULL, sit, place);
}

static void await(unsigned turn)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    for (unsigned i = 0; atomic_load_explicit(&world.turn, memory_order_acquire) != turn; i++)
        if (i < YIELDS)
            sched_yield();
        else
            nanosleep(&nap, NULL);
}

// 1 where the thread is to end.
static int take_turn(const struct step *step)
{
    for (unsigned i = 0; i < step->count; i++) {
        struct op *op = &world.plan->ops[step->first + i];
        atomic_store_explicit(&world.current, step->first + i, memory_order_relaxed);
        if (op->kind == THREAD_END)
            return 1;
        act(op);
    }
    return 0;
}

static void *sit(void *argument)
{
    const struct place *place = argument;
    const struct plan *p = world.plan;
    int end = 0;
    app_thread(&world.app);
    for (unsigned i = place->step; i + 1 < p->step_count && !end; i++) {
        if (p->steps[i].seat != place->seat)
            continue;
        await(i);
        end = take_turn(&p->steps[i]);
        if (end)
            start(place->seat, i + 1);
        atomic_store_explicit(&world.turn, i + 1, memory_order_release);
    }
    return NULL;
}

void turns_run(void)
{
    const struct plan *p = world.plan;
    atomic_store(&world.turn, NOBODYS);
    started = 0;
    for (unsigned seat = 0; seat < p->seats; seat++)
        start(seat, 0);
    atomic_store(&world.turn, 0); /* a thread that ends starts another one itself: not while threads are started here */
    await(p->step_count - 1);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    take_turn(&p->steps[p->step_count - 1]);
}

static void say_where(int signal)
{
    static const char begin[] = "a thread is in:\n";
    void *at[24];
    int deep = backtrace(at, sizeof at / sizeof at[0]);
    (void)signal;
    if (write(STDOUT_FILENO, begin, sizeof begin - 1) > 0)
        backtrace_symbols_fd(at, deep, STDOUT_FILENO);
}

void turns_say_where(void)
{
    const struct timespec while_it_speaks = {.tv_nsec = 50000000};
    const struct sigaction action = {.sa_handler = say_where, .sa_flags = SA_RESTART};
    sigaction(SIGUSR2, &action, NULL);
    for (unsigned i = 0; i < started; i++) {
        pthread_kill(threads[i], SIGUSR2);
        nanosleep(&while_it_speaks, NULL);
    }
}
