/* SPDX-License-Identifier: Apache-2.0
 *
 * What a run's processes know of each other. Called when a trace is opened, and at the exit of a process without CUDA:
 * there it must not hang, raise a signal, or write into a file that the program has opened in the place of stderr.
 */
#include "interpose/record/run_processes.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "interpose/base/diag.h"
#include "interpose/env/env.h"
#include "interpose/env/env_value.h"
#include "interpose/record/bypass.h"

uint64_t run_processes_id(void)
{
    const char *run = env_value(RUN_VARIABLE);
    return run ? strtoull(run, NULL, 10) : 0;
}

/* The process that `ptds run` became; then what its stderr was. */
static const char *stderr_of_this_run(void)
{
    const char *run = env_value(RUN_VARIABLE), *pid = run ? strchr(run, ':') : NULL;
    char *end = NULL;
    if (!pid || strtol(pid + 1, &end, 10) != (long)getpid() || *end != ':')
        return NULL;
    return end + 1;
}

/* 1: stderr is the file that it was at the start, it has a reader, and there is room. */
static int stderr_takes(const char *file)
{
    char now[4096];
    struct pollfd end = {.fd = STDERR_FILENO, .events = POLLOUT};
    ssize_t size = readlink("/proc/self/fd/2", now, sizeof now - 1);
    if (size <= 0)
        return 0;
    now[size] = '\0';
    return strcmp(now, file) == 0 && poll(&end, 1, 0) == 1 && end.revents == POLLOUT;
}

static int has_had_children(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_CHILDREN, &usage) == 0 && usage.ru_maxrss != 0;
}

void run_processes_say_nothing_seen(void)
{
    const char *file = stderr_of_this_run();
    if (!file)
        return;
    const struct env *env = env_get();
    if (env->disable || env->policy == ENV_POLICY_none || (env->report.kind == ENV_OUTPUT_OFF && !env->trace) ||
        !stderr_takes(file))
        return;
    const char *why =
        bypass_in_a_namespace() ? ": it uses a driver in a dlmopen namespace, which libptds leaves alone" : "";
    diag_line(DIAG_ERROR, "no CUDA call of this program was seen, so nothing was moved or recorded", why,
              has_had_children() ? " (of it alone: a process that it started speaks for itself)" : "", NULL);
}
