/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace that is cut, or whose disk fails, while it is read: its pages are gone, and reading on is SIGBUS. Listened to
 * from main, for every verb. One line says it and the command ends, since what comes after would not fit what was read
 * before. Must end nothing else: any other SIGBUS does what it would have done.
 */
#include "analysis/cmd/truncated_trace.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/cmd/exit_status.h"
#include "analysis/cmd/output/output_file.h"
#include "analysis/cmd/output/output_temporary.h"

static const char *verb;

/* For certain: it ends before what was to be read. */
static bool was_cut(const char *path, uint64_t offset)
{
    struct stat status;
    return stat(path, &status) == 0 && (uint64_t)status.st_size <= offset;
}

/* The line of progress, if there is one, makes way. */
static void say(const char *path, uint64_t offset)
{
    char line[PATH_MAX + 160];
    int size = snprintf(line, sizeof line, "%sptds %s: %s: offset %llu: %s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "",
                        verb, path, (unsigned long long)offset,
                        was_cut(path, offset) ? "the file was cut while it was read"
                                              : "not to be read any more: the disk fails, or the file was replaced");
    if (size <= 0 || write(STDERR_FILENO, line, (size_t)size) < 0)
        return; /* nobody is there to be told */
}

static void on_bus_error(int number, siginfo_t *info, void *unused)
{
    uint64_t offset = 0;
    const char *path = info->si_code == BUS_ADRERR ? trace_source_at(info->si_addr, &offset) : NULL;
    (void)unused;
    if (path != NULL) {
        say(path, offset);
        output_temporary_remove();
        _exit(EXIT_UNREADABLE);
    }
    signal(number, SIG_DFL);
    if (info->si_code <= 0)
        raise(number); /* when this handler has returned; else the same access does it again */
}

void truncated_trace_listen(const char *of)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO}, before;
    verb = of;
    if (sigaction(SIGBUS, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(SIGBUS, &action, NULL);
}
