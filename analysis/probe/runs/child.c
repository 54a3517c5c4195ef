/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts the program in a process group of its own and waits for it. Called by rounds.c, compare.c. Must leave no process
 * of a group that it ended, and must not change what a program sees but for LD_PRELOAD and the shim's variables.
 */
#include "analysis/probe/runs/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/probe/runs/environment.h"

static const uint64_t TICK_NS = 200000000, LOOK_NS = 20000000, GRACE_NS = 2000000000;

static struct {
    sigset_t before, waited;
    bool interrupted;
} signals;

/* All that would end the probe by themselves, and are sent by people, schedulers and limits. */
static const int ending_signals[] = {SIGINT,  SIGTERM, SIGHUP,    SIGQUIT, SIGUSR1, SIGUSR2,
                                     SIGALRM, SIGXCPU, SIGVTALRM, SIGPROF, SIGXFSZ, SIGPIPE};
enum { ENDING_SIGNALS = sizeof ending_signals / sizeof ending_signals[0] };

void child_signals_begin(void)
{
    /* Inherited as ignored, it would take the exit status away. */
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&signals.waited);
    sigaddset(&signals.waited, SIGCHLD);
    for (unsigned i = 0; i < ENDING_SIGNALS; i++)
        sigaddset(&signals.waited, ending_signals[i]);
    sigprocmask(SIG_BLOCK, &signals.waited, &signals.before);
    signals.interrupted = false;
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* whose parent has ended is a child of ours then, and its end is seen */
}

void child_signals_forget(void)
{
    const struct timespec none = {0};
    while (sigtimedwait(&signals.waited, NULL, &none) > 0)
        ;
    signals.interrupted = false;
}

/* What came has been obeyed. */
void child_signals_end(void)
{
    child_signals_forget();
    sigprocmask(SIG_SETMASK, &signals.before, NULL);
}

/* Waits for one of the signals. */
static void wait_for_signal(uint64_t ns)
{
    struct timespec limit = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    int got = sigtimedwait(&signals.waited, NULL, &limit);
    if (got > 0 && got != SIGCHLD)
        signals.interrupted = true;
}

bool child_interrupted(void)
{
    sigset_t pending;
    bool known = sigpending(&pending) == 0;
    for (unsigned i = 0; known && i < ENDING_SIGNALS; i++)
        signals.interrupted |= sigismember(&pending, ending_signals[i]) == 1;
    return signals.interrupted;
}

uint64_t child_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool put_file(int at, const char *path, int flags)
{
    int file = open(path, flags, 0600);
    if (file < 0)
        return false;
    if (file == at)
        return true;
    bool put = dup2(file, at) == at;
    close(file);
    return put;
}

/* The child's part; what fails is told through the pipe. */
static _Noreturn void become(const struct child *child, int tell)
{
    setpgid(0, 0);
    if (put_file(STDIN_FILENO, child->in, O_RDONLY) && put_file(STDOUT_FILENO, child->out, O_WRONLY | O_CREAT | O_TRUNC) &&
        put_file(STDERR_FILENO, child->err, O_WRONLY | O_CREAT | O_TRUNC) &&
        environment_set(child->library, child->policy, child->trace, child->moments) &&
        environment_set_auditor(child->library, child->auditor) && environment_set_lanes(child->lanes) &&
        environment_set_explicit(child->moves_explicit) && environment_set_seed(child->seed)) {
        sigprocmask(SIG_SETMASK, &signals.before, NULL);
        execvp(child->argv[0], child->argv);
    }
    int why = errno != 0 ? errno : ENOMEM;
    while (write(tell, &why, sizeof why) < 0 && errno == EINTR)
        ;
    _exit(127);
}

/* errno of a start that failed; 0: it runs. */
static int start(const struct child *child, pid_t *pid)
{
    int tell[2], why = 0;
    if (pipe2(tell, O_CLOEXEC) != 0)
        return errno;
    *pid = fork();
    if (*pid == 0)
        become(child, tell[1]);
    int forked = *pid < 0 ? errno : 0;
    close(tell[1]);
    if (*pid > 0) {
        setpgid(*pid, *pid); /* whoever comes first; it fails once the program runs */
        ssize_t size;
        while ((size = read(tell[0], &why, sizeof why)) < 0 && errno == EINTR)
            ;
        if (size != (ssize_t)sizeof why)
            why = 0;
        else
            waitpid(*pid, NULL, 0);
    }
    close(tell[0]);
    return forked != 0 ? forked : why;
}

/* Those that have ended are taken off. */
static bool group_lives(pid_t pid)
{
    while (waitpid(-pid, NULL, WNOHANG) > 0)
        ;
    return kill(-pid, 0) == 0;
}

/* The whole group: first asked, then killed. */
static void end_group(pid_t pid)
{
    uint64_t began = child_now();
    kill(-pid, SIGTERM);
    kill(-pid, SIGCONT);
    while (group_lives(pid) && child_now() - began < GRACE_NS)
        wait_for_signal(LOOK_NS);
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0); /* fails where it was waited for above */
}

/* Whether a process that an earlier program began is there; those that have ended are taken off. Not while one runs, whose
 * ending would be taken off, too. */
static bool has_others(void)
{
    pid_t got;
    while ((got = waitpid(-1, NULL, WNOHANG)) > 0)
        ;
    return got == 0;
}

/* After the program's end. Processes of its group, or daemons that have left it; where there was a daemon before, nobody
 * knows whose it is. */
static bool leaves_any(pid_t pid, bool had_others)
{
    bool others = has_others();
    return kill(-pid, 0) == 0 || (others && !had_others);
}

/* Gives what goes on in the background a while to end. True: it is left all the same, and the group is ended. */
static bool wait_for_rest(pid_t pid, bool had_others)
{
    uint64_t began = child_now();
    while (leaves_any(pid, had_others)) {
        if (child_now() - began > CHILD_REST_NS || child_interrupted()) {
            end_group(pid);
            return true;
        }
        wait_for_signal(LOOK_NS);
    }
    return false;
}

static struct ending ending_of(int status)
{
    if (WIFEXITED(status))
        return (struct ending){END_EXITED, WEXITSTATUS(status)};
    return (struct ending){END_SIGNALLED, WTERMSIG(status)};
}

static bool wants_terminal(int status)
{
    return WIFSTOPPED(status) && (WSTOPSIG(status) == SIGTTIN || WSTOPSIG(status) == SIGTTOU);
}

/* What goes on after the program's end is a part of it, as long as it is waited for. */
static struct ran ended(pid_t pid, int status, uint64_t began, bool had_others)
{
    bool leaves = wait_for_rest(pid, had_others);
    uint64_t passed = child_now() - began;
    if (leaves && child_interrupted())
        return (struct ran){{END_INTERRUPTED, 0}, passed, false};
    return (struct ran){ending_of(status), passed, leaves};
}

struct ran child_run(const struct child *child)
{
    pid_t pid = -1;
    bool had_others = has_others();
    uint64_t began = child_now(), passed = 0;
    int status = 0, failed = start(child, &pid);
    if (failed != 0)
        return (struct ran){.ending = {END_NOT_STARTED, failed}};
    for (;;) {
        pid_t got = waitpid(pid, &status, WNOHANG | WUNTRACED);
        passed = child_now() - began;
        enum end end = child_interrupted()                                ? END_INTERRUPTED
                       : child->limit_ns != 0 && passed > child->limit_ns ? END_TIMED_OUT
                       : got == pid && wants_terminal(status)             ? END_TERMINAL
                                                                          : END_NONE;
        if (got == pid && !WIFSTOPPED(status))
            return ended(pid, status, began, had_others);
        if (end != END_NONE) {
            end_group(pid);
            return (struct ran){{end, 0}, passed, false};
        }
        if (child->tick != NULL)
            child->tick(child->data, passed);
        uint64_t left = child->limit_ns != 0 ? child->limit_ns - passed : TICK_NS;
        wait_for_signal(left < TICK_NS ? left + 1 : TICK_NS);
    }
}
