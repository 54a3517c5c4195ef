/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the two times into a mapped file, which outlives a process that is killed or leaves by _exit. Called by the
 * watching wrappers (doors/watch_moments.c). Must not lock or allocate, but once in a process; where there is no file the
 * times are lost, and nothing else.
 */
#include "interpose/record/moments.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "interpose/base/clock.h"
#include "interpose/env/env.h"
#include "interpose/env/env_value.h"
#include "interpose/record/file/path.h"

#define NAMES_MOST 16u
#define PATH_MOST 2048u

/* A record has its own times, and takes stacks from where the wrapper was called; so does a list of objects. */
int moments_wanted(void)
{
    static uint32_t known; /* 1 no, 2 yes */
    uint32_t now = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (__builtin_expect(now == 0, 0)) {
        const struct env *env = env_get();
        const char *folder = env_value(MOMENTS_VARIABLE);
        now = folder && folder[0] == '/' && !env->disable && !env->recording && !env->exclude && !env->include ? 2 : 1;
        __atomic_store_n(&known, now, __ATOMIC_RELAXED);
    }
    return now == 2;
}

static struct moments nowhere;
static struct moments *moments; /* set once, by the thread that begins first */
static uint32_t begun;
static __thread uint32_t own_place __attribute__((tls_model("initial-exec"))); /* plus one */

/* PID, PID.2 and so on: a process may have been another program before. */
static int open_some(void)
{
    char path[PATH_MOST];
    const char *folder = env_value(MOMENTS_VARIABLE);
    size_t used = folder ? strnlen(folder, sizeof path) : sizeof path;
    if (used + 64 > sizeof path)
        return -1;
    memcpy(path, folder, used);
    path[used++] = '/';
    used += path_decimal((uint64_t)getpid(), path + used);
    for (unsigned try = 2; try <= NAMES_MOST; try++) {
        int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (file >= 0 || errno != EEXIST)
            return file;
        path_append_number(path, used, sizeof path, try);
    }
    return -1;
}

/* Written, not cut to its size: the mapping of a hole on a full disk is a SIGBUS in the program. */
static struct moments *map_some(void)
{
    struct moments empty = {.magic = MOMENTS_MAGIC};
    int file = open_some();
    if (file < 0)
        return &nowhere;
    void *at = MAP_FAILED;
    if (write(file, &empty, sizeof empty) == (ssize_t)sizeof empty)
        at = mmap(NULL, sizeof empty, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return at != MAP_FAILED ? at : &nowhere;
}

/* As in doors/lifecycle.c, which policy none has no use for. */
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object);

/* The file is the parent's, whose mapping is shared. Not unmapped: a signal handler may have forked in moments_end. */
static void after_fork(void)
{
    moments = NULL;
    begun = 0;
}

static void watch_forks(void)
{
    static uint32_t watched; /* by the parent for its children, too */
    if (!watched)
        __register_atfork(NULL, NULL, after_fork, NULL);
    watched = 1;
}

static __attribute__((cold, noinline)) void begin_first(void)
{
    int saved = errno;
    uint64_t now = clock_nanoseconds(CLOCK_MONOTONIC);
    if (!__atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL)) {
        watch_forks();
        struct moments *made = map_some();
        made->first = now;
        __atomic_store_n(&moments, made, __ATOMIC_RELEASE);
    }
    errno = saved;
}

void moments_begin(void)
{
    if (__builtin_expect(!__atomic_load_n(&moments, __ATOMIC_ACQUIRE), 0))
        begin_first();
}

void moments_end(void)
{
    static uint32_t places;
    struct moments *here = __atomic_load_n(&moments, __ATOMIC_ACQUIRE);
    if (!here)
        return;
    if (__builtin_expect(own_place == 0, 0))
        own_place = __atomic_fetch_add(&places, 1, __ATOMIC_RELAXED) % MOMENTS_PLACES + 1;
    __atomic_store_n(&here->place[own_place - 1].last, clock_nanoseconds(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
}
