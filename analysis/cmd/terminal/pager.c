/* SPDX-License-Identifier: Apache-2.0
 *
 * The pager. Used by verbs that write long text; what a person quits early is no error.
 */
#include "analysis/cmd/terminal/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/cmd/terminal/colour.h"

static pid_t pager;

/* Whether a program of this name is on the PATH. */
static bool on_path(const char *name)
{
    const char *path = getenv("PATH");
    for (const char *at = path; at != NULL && *at != 0;) {
        size_t size = strcspn(at, ":");
        char file[4096];
        if (snprintf(file, sizeof file, "%.*s/%s", (int)size, at, name) < (int)sizeof file && access(file, X_OK) == 0)
            return true;
        at += size + (at[size] == ':');
    }
    return false;
}

static const char *pager_command(void)
{
    const char *asked = getenv("PAGER");
    if (asked != NULL)
        return asked[0] != 0 && strcmp(asked, "cat") != 0 ? asked : NULL;
    const char *kind = getenv("TERM"); /* less asks for a key first where the terminal can do nothing */
    return kind != NULL && strcmp(kind, "dumb") != 0 && on_path("less") ? "less -FRX" : NULL;
}

static void become_pager(const char *command, int in)
{
    dup2(in, STDIN_FILENO);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

bool pager_begin(void)
{
    const char *command = pager_command();
    int ends[2];
    if (pager != 0 || command == NULL || !isatty(STDOUT_FILENO) || pipe(ends) != 0)
        return pager != 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        become_pager(command, ends[0]);
    }
    close(ends[0]);
    if (child > 0) {
        if (getenv("PAGER") != NULL)
            colour_off(); /* who knows what it takes */
        pager = child;
        signal(SIGPIPE, SIG_IGN);
        dup2(ends[1], STDOUT_FILENO);
    }
    close(ends[1]);
    return child > 0;
}

bool pager_end(void)
{
    int status = 0;
    if (pager == 0)
        return true;
    if (fflush(stdout) != 0)
        clearerr(stdout); /* it was quit before the end */
    /* What else is written goes nowhere. */
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
        return false;
    close(nowhere);
    while (waitpid(pager, &status, 0) < 0 && errno == EINTR)
        continue;
    pager = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) < 126)
        return true;
    fprintf(stderr, "ptds report: the pager \"%s\" could not be run; set PAGER, or use --no-pager\n", getenv("PAGER"));
    return false;
}

unsigned pager_terminal_rows(void)
{
    struct winsize size;
    return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}
