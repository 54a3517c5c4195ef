/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the shim's own words. Called from anywhere in the shim, also under the loader lock, at exit, and in a process that
 * is out of memory or descriptors. Must not write into a file of the program's, let a signal reach the program, stop or
 * hang it, hold open what the program has closed, allocate, or change errno.
 *
 * The kernel is asked directly: a thread may be cancelled in write(2), and a sanitizer's own asks where the bytes come
 * from.
 */
#include "interpose/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* As the kernel's own calls take a set of signals. */
#define SIGNAL(number) (UINT64_C(1) << ((number)-1))

/* A reader that has gone, a file that may not grow, a terminal that stops who writes from the background. */
#define RAISED (SIGNAL(SIGPIPE) | SIGNAL(SIGXFSZ) | SIGNAL(SIGTTOU))

enum { HIGH = 900, PIECE = 4096 /* what a pipe takes at once when it takes anything */ };

/* File and device; 0 if the descriptor is closed. */
static int identify(int file, struct output *out)
{
    struct stat stat;
    if (syscall(SYS_fstat, file, &stat) != 0)
        return 0;
    out->device = stat.st_dev;
    out->inode = stat.st_ino;
    return 1;
}

static int is_still(const struct output *output, int file)
{
    struct output now;
    return file >= 0 && identify(file, &now) && now.device == output->device && now.inode == output->inode;
}

static struct output error_output = {.file = -1};
static uint32_t noted;

/* Before the program's own code, or with the first message, where an earlier constructor has one. No descriptor is kept
 * open: the reader of a pipe waits until every descriptor that can write to it is closed. */
__attribute__((constructor)) static void note_stderr(void)
{
    int saved = errno;
    if (__atomic_exchange_n(&noted, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    error_output.file = identify(STDERR_FILENO, &error_output) ? STDERR_FILENO : -1;
    errno = saved;
}

const struct output *output_stderr(void)
{
    note_stderr();
    return &error_output;
}

static int copy(int file, int least)
{
    return (int)syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, least);
}

int output_again(int file)
{
    int high = copy(file, HIGH);
    return high >= 0 ? high : copy(file, STDERR_FILENO + 1);
}

int output_out_of_the_way(int file)
{
    int other = file > STDERR_FILENO ? copy(file, HIGH) : output_again(file);
    if (other < 0)
        return file;
    syscall(SYS_close, file);
    return other;
}

int output_open(struct output *output, const char *path, int flags)
{
    int file =
        (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags, 0644);
    output->file = file < 0 ? -1 : output_out_of_the_way(file);
    return file >= 0 && identify(output->file, output);
}

/* Whether it takes a piece now, or within a second. */
static int has_room(int file)
{
    static uint32_t gave_up;
    struct pollfd end = {.fd = file, .events = POLLOUT};
    struct timespec most = {.tv_sec = !__atomic_load_n(&gave_up, __ATOMIC_RELAXED)};
    long ready;
    do /* the kernel leaves in `most` what is left of it */
        ready = syscall(SYS_ppoll, &end, 1, &most, NULL, 0);
    while (ready < 0 && errno == EINTR);
    if (ready == 0)
        __atomic_store_n(&gave_up, 1, __ATOMIC_RELAXED);
    return ready == 1 && end.revents == POLLOUT;
}

/* What writing raised was meant for this thread alone, and is still waiting for it. */
static void take_back(uint64_t signals)
{
    const struct timespec now = {0};
    while (syscall(SYS_rt_sigtimedwait, &signals, NULL, &now, sizeof signals) < 0 && errno == EINTR)
        ;
}

/* Signals that wait already were not raised by the shim. */
static uint64_t waiting_signals(uint64_t blocked)
{
    uint64_t waiting = 0;
    if (blocked & RAISED)
        syscall(SYS_rt_sigpending, &waiting, sizeof waiting);
    return waiting;
}

static int write_piece(int file, const char *text, size_t size, uint64_t not_ours)
{
    while (size) {
        if (!has_room(file))
            return 0;
        ssize_t done = syscall(SYS_write, file, text, size);
        if (done < 0 && errno != EINTR && errno != EAGAIN) {
            uint64_t raised = errno == EPIPE ? SIGNAL(SIGPIPE) : errno == EFBIG ? SIGNAL(SIGXFSZ) : 0;
            if (raised & ~not_ours)
                take_back(raised);
            return 0;
        }
        text += done < 0 ? 0 : done;
        size -= done < 0 ? 0 : (size_t)done;
    }
    return 1;
}

static int write_all(int file, const char *text, size_t size)
{
    uint64_t block = RAISED, before = 0;
    int written = 1;
    if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, &block, &before, sizeof before) != 0)
        return 0;
    uint64_t not_ours = waiting_signals(before);
    for (size_t at = 0; at < size && written; at += PIECE)
        written = write_piece(file, text + at, size - at < PIECE ? size - at : PIECE, not_ours);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    return written;
}

/* The copy of the descriptor is looked at and written to, so other threads may close the original meanwhile; where there is
 * no descriptor left for a copy, the original has to do. */
int output_write(const struct output *output, const char *text, size_t size)
{
    if (output->file < 0)
        return 0;
    int saved = errno, written = 0;
    int own = copy(output->file, HIGH);
    int file = own < 0 && errno != EBADF ? output->file : own;
    if (is_still(output, file))
        written = write_all(file, text, size);
    if (own >= 0)
        syscall(SYS_close, own);
    errno = saved;
    return written;
}

int output_is_there(const struct output *output)
{
    int saved = errno, there = is_still(output, output->file);
    errno = saved;
    return there;
}

void output_close(struct output *output)
{
    int saved = errno;
    if (is_still(output, output->file))
        syscall(SYS_close, output->file);
    output->file = -1;
    errno = saved;
}
