/* SPDX-License-Identifier: Apache-2.0
 *
 * Which file the trace goes to. Called when recording starts and each time that the store grows. File space is reserved
 * before it is mapped, since writing to a mapped hole on a full disk is a SIGBUS in the program. Must not follow a symbolic
 * link, cut a file that another process may have mapped, or write to a file that is not this process's own trace.
 */
#include "interpose/record/file/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interpose/base/diag.h"
#include "interpose/base/output.h"
#include "interpose/record/file/path.h"
#include "interpose/record/run_processes.h"
#include "interpose/trace/format.h"

#define NAMES_MOST 100u
#define PATH_MOST 2048u
#define NAME_TRIES 8 /* files of other processes come and go at the same name */

/* Opening a FIFO or a terminal that way neither waits nor becomes anything to this process. */
#define CAREFULLY (O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

static struct {
    int is_open;
    int made;    /* by us; else it was there, and empty */
    int crowded; /* the process has as many descriptors as it may have */
    int lock; /* holds the lock, nothing else: the program may close any descriptor and get its number for a file of its own
               */
    dev_t device;
    ino_t inode;
    char path[PATH_MOST]; /* absolute */
} file;

const char *trace_file_path(void)
{
    return file.is_open ? file.path : NULL;
}

/* ---- what lies at a path ---- */

enum verdict { OURS, TAKEN, FINISHED, UNFIT };

/* 1: the trace is this very process's, from before it called exec, or another process's of the same `ptds run`. */
static int is_kept(const struct ptds_trace_header *header)
{
    return (header->run != 0 && header->run == run_processes_id()) ||
           (header->pid == (uint32_t)getpid() && header->born == path_process_born());
}

/* Why a file that was there can't be written to; NULL: it can, or it is a trace. */
static const char *unfit(const struct stat *status, int is_trace)
{
    if (!S_ISREG(status->st_mode))
        return "is no regular file";
    if (status->st_uid != geteuid())
        return "belongs to another user";
    if (status->st_size != 0 && !is_trace)
        return "is there and is no trace, so it is not overwritten";
    return NULL;
}

/* Another live process may be writing to such a file (a child started with the same environment): its lock says so. Where
 * there are no locks, only PATH itself is thought to be another's. */
static int is_taken(int descriptor, int is_path)
{
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        return 0;
    return errno == EWOULDBLOCK || is_path;
}

static enum verdict look_at(int descriptor, int is_path, uint32_t *pid, const char **why)
{
    struct ptds_trace_header header = {.pid = 0};
    struct stat status;
    int taken = is_taken(descriptor, is_path); /* first: its writer may be done by the time that the header is read */
    int is_trace = pread(descriptor, &header, sizeof header, 0) == (ssize_t)sizeof header &&
                   memcmp(header.magic, PTDS_TRACE_MAGIC, sizeof header.magic) == 0;
    *why = fstat(descriptor, &status) != 0
               ? strerror(errno)
               : unfit(&status, is_trace || taken); /* one that is being begun has no header yet */
    if (*why)
        return UNFIT;
    if (taken || (is_trace && is_kept(&header)))
        return TAKEN;
    *pid = header.pid;
    return is_trace ? FINISHED : OURS;
}

/* 1: the descriptor's file is still the file at the path. Another process may have moved it away and begun its own there.
 */
static int is_at_path(int descriptor)
{
    struct stat status, there;
    return fstat(descriptor, &status) == 0 && lstat(file.path, &there) == 0 && status.st_dev == there.st_dev &&
           status.st_ino == there.st_ino;
}

/* A finished trace of another run goes out of the way. Under `ptds run`, which was told to write this file, it is removed.
 * A program that merely finds PTDS_TRACE set may be the second of two that a script runs: the first one's trace is kept,
 * under another name. */
static int move_away(uint32_t pid)
{
    char to[PATH_MOST];
    size_t named = strlen(file.path);
    if (run_processes_id() != 0)
        return unlink(file.path) == 0;
    if (named + 64 > sizeof to)
        return 0;
    memcpy(to, file.path, named + 1);
    path_append_number(to, named, sizeof to, pid);
    named = strlen(to);
    for (unsigned try = 2; link(file.path, to) != 0; try++) {
        if (errno != EEXIST || try > NAMES_MOST)
            return 0;
        path_append_number(to, named, sizeof to, try);
    }
    if (unlink(file.path) != 0)
        return 0;
    diag_once(DIAG_ERROR, "PTDS_TRACE: ", file.path, " was a trace of another run, which is ", to, " now");
    return 1;
}

/* ---- opening ---- */

/* Out of the way at once: where the program has closed 2, what another thread writes there would come into the trace, its
 * own or one that is only looked at. */
static int open_path(int flags)
{
    int descriptor = open(file.path, flags, 0600);
    return descriptor < 0 ? descriptor : output_out_of_the_way(descriptor);
}

/* -1: this name is not to be had, and *why may say that no other is to be tried. */
static int open_name(int is_path, const char **why)
{
    uint32_t pid = 0;
    for (int tries = 0; tries < NAME_TRIES; tries++) {
        int made = open_path(CAREFULLY | O_CREAT | O_EXCL);
        if (made >= 0) {
            file.made = 1;
            if (!is_taken(made, 0))
                return made;
            close(made); /* by a process that saw it in this very moment */
            return -1;
        }
        int there = errno == EEXIST ? open_path(CAREFULLY) : -1;
        if (there < 0 && errno == ENOENT && tries < NAME_TRIES - 1)
            continue;
        *why = there >= 0 ? NULL : errno == ELOOP ? "is a symbolic link, which is not followed" : strerror(errno);
        if (there < 0)
            return -1;
        enum verdict verdict = look_at(there, is_path, &pid, why);
        if ((verdict == OURS || verdict == FINISHED) && !is_at_path(there)) {
            close(there);
            continue;
        }
        if (verdict == OURS)
            return there;
        if (verdict == FINISHED && !move_away(pid))
            verdict = TAKEN;
        close(there);
        if (verdict != FINISHED)
            return -1;
    }
    return -1;
}

/* PATH, PATH.PID, PATH.PID.2 and so on. */
static int open_some(const char **why)
{
    size_t named = 0;
    for (unsigned try = 0; try < NAMES_MOST; try++) {
        if (try == 1) {
            path_append_pid(file.path, sizeof file.path);
            named = strlen(file.path);
        } else if (try > 1) {
            path_append_number(file.path, named, sizeof file.path, try);
        }
        file.made = 0;
        int descriptor = open_name(try == 0, why);
        if (descriptor >= 0 || *why)
            return descriptor;
    }
    *why = strerror(EEXIST);
    return -1;
}

/* The program may change its directory. */
static void make_absolute(const char *pattern)
{
    char expanded[1024];
    path_expand(pattern, expanded, sizeof expanded);
    file.path[0] = '\0';
    if (expanded[0] != '/' && getcwd(file.path, sizeof file.path - sizeof expanded - 1))
        strcat(file.path, "/");
    strcat(file.path, expanded);
}

int trace_file_open(const char *pattern)
{
    const char *why = NULL;
    struct stat status;
    make_absolute(pattern);
    file.lock = open_some(&why);
    if (file.lock < 0 || fstat(file.lock, &status) != 0) {
        diag_once(DIAG_ERROR, "PTDS_TRACE: cannot write ", file.path, ": ", why ? why : strerror(errno),
                  "; recording in memory only");
        return 0;
    }
    file.device = status.st_dev;
    file.inode = status.st_ino;
    file.is_open = 1;
    return 1;
}

void trace_file_give_up(void)
{
    diag_once(DIAG_ERROR, file.crowded ? "PTDS_TRACE: no descriptor is left for " : "PTDS_TRACE: no space for ", file.path,
              "; recording in memory only");
    if (file.made)
        unlink(file.path);
    else if (ftruncate(file.lock, 0) != 0)
        errno = 0; /* it was empty, and what is in it now is zeros */
    close(file.lock);
    file.is_open = 0;
}

/* ---- growing ---- */

/* Past this the kernel does not refuse but kills (SIGXFSZ). */
static int may_reach(off_t end)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || (uint64_t)end <= limit.rlim_cur;
}

/* Makes the file's bytes [offset, offset + size) real; 0 if the disk refuses. */
static int reserve(int descriptor, off_t offset, size_t size)
{
    if (!may_reach(offset + (off_t)size))
        return 0;
    int error;
    do
        error = posix_fallocate(descriptor, offset, (off_t)size);
    while (error == EINTR);
    static const char zeros[4096];
    if (error != EOPNOTSUPP && error != EINVAL)
        return error == 0;
    for (size_t at = 0; at < size; at += sizeof zeros) {
        if (pwrite(descriptor, zeros, sizeof zeros, offset + (off_t)at) != (ssize_t)sizeof zeros)
            return 0;
    }
    return 1;
}

static int is_it(const struct stat *status)
{
    return status->st_dev == file.device && status->st_ino == file.inode;
}

/* Whether the descriptor is of the trace; else it is closed. */
static int is_of_it(int descriptor, struct stat *status)
{
    if (descriptor >= 0 && fstat(descriptor, status) == 0 && is_it(status))
        return 1;
    int saved = errno;
    if (descriptor >= 0)
        close(descriptor);
    errno = saved;
    return 0;
}

/* A descriptor of its own, since the program may close the one that has the lock at any time, or have done so: then the
 * file is opened anew. -1: it is gone, or another file has its name now. */
static int open_again(struct stat *status)
{
    if (lstat(file.path, status) != 0)
        return -1;
    errno = ENOENT;
    if (!is_it(status))
        return -1;
    /* A file of the program's is not touched: to close a second descriptor of it would take its record locks away. */
    int descriptor = fstat(file.lock, status) == 0 && is_it(status) ? output_again(file.lock) : -1;
    if (is_of_it(descriptor, status))
        return descriptor;
    descriptor = open_path(CAREFULLY);
    return is_of_it(descriptor, status) ? descriptor : -1;
}

void *trace_file_map(off_t offset, size_t size)
{
    struct stat status;
    int descriptor = open_again(&status);
    file.crowded = descriptor < 0 && errno == EMFILE;
    if (descriptor < 0)
        return NULL;
    void *pages = MAP_FAILED;
    if (status.st_size >= offset && reserve(descriptor, offset, size))
        pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, offset);
    close(descriptor);
    return pages == MAP_FAILED ? NULL : pages;
}

int trace_file_is_truncated(off_t size)
{
    struct stat status;
    return file.is_open && lstat(file.path, &status) == 0 && is_it(&status) && status.st_size < size;
}

/* The lock is the parent's, and goes with it. */
void trace_file_after_fork(void)
{
    struct stat status;
    int saved = errno;
    if (file.is_open && fstat(file.lock, &status) == 0 && is_it(&status))
        close(file.lock);
    errno = saved;
    memset(&file, 0, sizeof file);
}
