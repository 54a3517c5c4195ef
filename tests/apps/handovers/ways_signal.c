// SPDX-License-Identifier: Apache-2.0
//
// Ways of signals and timers. The taker's thread blocks the signal before it says who it is. Called by the runner
// (table.c).

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/apps/handovers/handovers.h"

static pthread_t taker;
static pid_t takers_number;
static volatile sig_atomic_t flagged;
static struct handover *timed;

static void set_flag(int number)
{
    (void)number;
    flagged = 1;
}

static void begin_handler(struct handover *h)
{
    (void)h;
    struct sigaction action = {.sa_handler = set_flag};
    sigaction(SIGUSR1, &action, NULL);
    flagged = 0;
}

static void end_handler(struct handover *h)
{
    (void)h;
    signal(SIGUSR1, SIG_DFL);
}

static sigset_t only(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    return set;
}

static sigset_t block(struct handover *h, int number)
{
    sigset_t set = only(number);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    taker = pthread_self();
    takers_number = (pid_t)syscall(SYS_gettid);
    __atomic_store_n(&h->step, 1, __ATOMIC_RELEASE);
    return set;
}

static void await_taker(struct handover *h)
{
    while (!__atomic_load_n(&h->step, __ATOMIC_ACQUIRE))
        short_nap();
}

static void kill_a(struct handover *h)
{
    await_taker(h);
    give(h);
    pthread_kill(taker, SIGUSR1);
}

static void queue_a(struct handover *h)
{
    union sigval value = {.sival_ptr = h};
    await_taker(h);
    give(h);
    pthread_sigqueue(taker, SIGRTMIN, value);
}

static void sigwait_b(struct handover *h)
{
    int number;
    sigset_t set = block(h, SIGUSR1);
    if (sigwait(&set, &number) == 0)
        take(h);
}

static void sigwaitinfo_b(struct handover *h)
{
    siginfo_t information;
    sigset_t set = block(h, SIGRTMIN);
    if (sigwaitinfo(&set, &information) == SIGRTMIN && information.si_value.sival_ptr == h)
        take(h);
}

static void sigtimedwait_b(struct handover *h)
{
    static const struct timespec at_once = {0, 0};
    sigset_t set = block(h, SIGRTMIN);
    while (sigtimedwait(&set, NULL, &at_once) < 0)
        short_nap();
    take(h);
}

static void signalfd_b(struct handover *h)
{
    struct signalfd_siginfo information;
    sigset_t set = block(h, SIGRTMIN);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    if (read(fd, &information, sizeof information) == sizeof information)
        take(h);
    close(fd);
}

static void sigsuspend_b(struct handover *h)
{
    sigset_t open;
    block(h, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, NULL, &open);
    sigdelset(&open, SIGUSR1);
    while (!flagged)
        sigsuspend(&open);
    take(h);
}

static void handler_b(struct handover *h)
{
    taker = pthread_self();
    __atomic_store_n(&h->step, 1, __ATOMIC_RELEASE);
    while (!flagged)
        short_nap();
    take(h);
}

// A thread that libc makes when the time has come is the taker.
static void take_on_timer(union sigval value)
{
    (void)value;
    take(timed);
    __atomic_store_n(&timed->step, 1, __ATOMIC_RELEASE);
}

static void timer(struct handover *h)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = take_on_timer};
    struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};
    timer_t id;
    timed = h;
    if (timer_create(CLOCK_MONOTONIC, &event, &id) != 0) {
        h->no = "no timers";
        return;
    }
    give(h);
    timer_settime(id, 0, &soon, NULL);
    await_taker(h);
    timer_delete(id);
}

// A timer's signal for the taker.
static timer_t signalling;

static void timer_a(struct handover *h)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
    struct itimerspec soon = {.it_value = {.tv_nsec = 1000000}};
    await_taker(h);
    event._sigev_un._tid = takers_number;
    if (timer_create(CLOCK_MONOTONIC, &event, &signalling) != 0) {
        h->no = "no timers";
        pthread_kill(taker, SIGRTMIN);
        return;
    }
    give(h);
    timer_settime(signalling, 0, &soon, NULL);
}

static void end_timer(struct handover *h)
{
    (void)h;
    timer_delete(signalling);
}

static void timer_b(struct handover *h)
{
    siginfo_t information;
    sigset_t set = block(h, SIGRTMIN);
    if (sigwaitinfo(&set, &information) == SIGRTMIN)
        take(h);
}

const struct way ways_signal[] = {
    {"sigwait", {kill_a, sigwait_b}, begin_handler, end_handler},
    {"sigwaitinfo", {queue_a, sigwaitinfo_b}, NULL, NULL},
    {"sigtimedwait", {queue_a, sigtimedwait_b}, NULL, NULL},
    {"signalfd", {queue_a, signalfd_b}, NULL, NULL},
    {"sigsuspend", {kill_a, sigsuspend_b}, begin_handler, end_handler},
    {"signal-handler", {kill_a, handler_b}, begin_handler, end_handler},
    {"timer-thread", {timer}, NULL, NULL},
    {"timer-signal", {timer_a, timer_b}, NULL, end_timer},
    {0},
};
