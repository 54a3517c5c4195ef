/* SPDX-License-Identifier: Apache-2.0
 *
 * Saves standard input. Called by the verb before the first run, with the signals waited for (child.h).
 */
#include "analysis/probe/runs/standard_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/probe/runs/child.h"

enum { LOOK_MS = 200, SILENT_LOOKS = 5 };

/* More to read, or the end. False: a signal came, which is asked before each read: input may never pause, nor end. */
static bool wait_for_more(void (*waiting)(void), unsigned *looks)
{
    struct pollfd file = {.fd = STDIN_FILENO, .events = POLLIN};
    while (!child_interrupted()) {
        if (poll(&file, 1, LOOK_MS) != 0)
            return true;
        if (++*looks == SILENT_LOOKS && waiting != NULL)
            waiting();
    }
    errno = EINTR;
    return false;
}

static bool save(int to, void (*waiting)(void))
{
    char piece[1 << 16];
    unsigned looks = 0;
    for (;;) {
        if (!wait_for_more(waiting, &looks))
            return false;
        ssize_t size = read(STDIN_FILENO, piece, sizeof piece);
        if (size == 0)
            return true;
        if (size < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        for (ssize_t done = 0, put; done < size; done += put)
            if ((put = write(to, piece + done, (size_t)(size - done))) < 0)
                return false;
    }
}

bool standard_input_take(const struct folder *folder, void (*waiting)(void), struct path *out)
{
    struct stat status;
    if (fstat(STDIN_FILENO, &status) != 0 || S_ISCHR(status.st_mode) || S_ISDIR(status.st_mode)) {
        *out = (struct path){"/dev/null"};
        return true;
    }
    *out = folder_file(folder, "stdin");
    int to = open(out->text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0)
        return false;
    bool sound = save(to, waiting);
    int why = errno;
    if (close(to) != 0 && sound) {
        why = errno;
        sound = false;
    }
    errno = why;
    return sound;
}
