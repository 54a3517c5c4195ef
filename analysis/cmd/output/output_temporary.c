/* SPDX-License-Identifier: Apache-2.0
 *
 * The file that a result is written to before it takes its name. Called by output_file.c. There is one at a time, and it
 * must never stay behind: what ends the process by exit or by a signal that can be caught takes it away.
 */
#include "analysis/cmd/output/output_temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/cmd/output/output_file.h"

static char temporary[PATH_MAX + 16]; /* "" none */
static pid_t owner;

/* What a person, a shell, a batch system or a closed pipe ends a command with. */
static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGALRM};

void output_temporary_remove(void)
{
    if (temporary[0] != 0 && owner == getpid())
        unlink(temporary);
    temporary[0] = 0;
}

void output_temporary_forget(void)
{
    temporary[0] = 0;
}

static void ending(int signal_number)
{
    int saved = errno;
    output_temporary_remove();
    signal(signal_number, SIG_DFL);
    raise(signal_number); /* when this handler has returned */
    errno = saved;
}

static void listen_to_endings(void)
{
    static bool listening;
    struct sigaction action = {.sa_handler = ending}, before;
    if (listening)
        return;
    listening = true;
    atexit(output_temporary_remove);
    signal(SIGXFSZ, SIG_IGN); /* a write past the limit fails, and is said */
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (sigaction(endings[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(endings[i], &action, NULL);
}

/* No signal between the file and the note of its name. */
static int make(char *name)
{
    sigset_t all, before;
    sigfillset(&all);
    listen_to_endings();
    sigprocmask(SIG_BLOCK, &all, &before);
    int fd = mkostemp(name, O_CLOEXEC), saved = errno;
    if (fd >= 0) {
        owner = getpid();
        strcpy(temporary, name);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = saved;
    return fd;
}

int output_temporary_make(char *name, const char *path)
{
    const char *slash = strrchr(path, '/');
    int folder = slash != NULL ? (int)(slash - path) + 1 : 0;
    snprintf(name, PATH_MAX + 16, "%.*s.ptds-XXXXXX", folder, path);
    return make(name);
}

int output_temporary_make_elsewhere(char *name)
{
    const char *folder = getenv("TMPDIR");
    snprintf(name, PATH_MAX + 16, "%.*s/.ptds-XXXXXX", PATH_MAX - 1, folder != NULL && folder[0] == '/' ? folder : "/tmp");
    return make(name);
}
