/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds watch`: looks at a trace while its program runs, and says who waits for whom when a call does not return. A program
 * that hangs can't be asked and writes no report; its trace file says which calls its threads are in. No thread, signal or
 * breakpoint touches the program.
 */
#include "analysis/cmd/watch/watch.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/base/duration.h"
#include "analysis/cmd/exit_status.h"
#include "analysis/cmd/watch/watch_report.h"
#include "analysis/trace/header.h"

enum { LONGEST_PAUSE_MS = 200, LEAST_NS = 1000000 };

bool watch_duration(const char *text, uint64_t *ns)
{
    return duration_read(text, ns) && *ns >= LEAST_NS;
}

struct watcher {
    uint64_t after_ns;
    double ns_a_tick;
    struct flights flights;
    uint64_t told; /* which overdue calls the last report was about; 0 none */
    bool found;    /* any */
    bool warned;
    bool cut;       /* the file ends before what was written to it */
    bool blind;     /* for want of memory */
    bool elsewhere; /* its process is another machine's, or container's, and may live there */
};

uint64_t watch_age(const struct watch_view *view, const struct ptds_now *now)
{
    double ns = view->now > now->enter ? (double)(view->now - now->enter) * view->ns_a_tick : 0;
    return ns < 1e18 ? (uint64_t)ns : (uint64_t)1e18;
}

/* Changes when a call becomes overdue or an overdue one returns. */
static uint64_t overdue(const struct watch_view *view)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < view->flights->list.count; i++) {
        const struct in_flight *flight = &view->flights->list.items[i];
        if (view->ended || watch_age(view, &flight->now) >= view->after_ns)
            sum += (flight->now.enter ^ (uint64_t)flight->thread << 40) * 0x9e3779b97f4a7c15u | 1;
    }
    return sum;
}

static void look(struct watcher *watcher, const struct trace_source *source, bool ended)
{
    const struct ptds_trace_header *header = source->header;
    struct watch_view view = {.source = source, .flights = &watcher->flights, .after_ns = watcher->after_ns};
    if (watcher->ns_a_tick == 0 && !ended)
        watcher->ns_a_tick = live_ns_a_tick(header->clock);
    if (!live_read(&watcher->flights, source)) {
        fprintf(stderr, "ptds watch: no memory\n");
        watcher->blind = true;
        return;
    }
    if (source->chunks != 0 && !watcher->flights.recorded && !watcher->warned && watcher->flights.list.count == 0 &&
        ended) {
        fprintf(stderr, "ptds watch: %s does not say which calls are in flight\n", source->name);
        watcher->warned = true;
    }
    view.now = live_ticks(header->clock);
    view.ns_a_tick = watcher->ns_a_tick;
    view.ended = ended;
    view.elsewhere = watcher->elsewhere;
    uint64_t now_overdue = ended && header->clean_end == 1 ? 0 : overdue(&view);
    if (now_overdue != 0 && (now_overdue != watcher->told || ended)) {
        watch_report(&view);
        watcher->found = true;
    } else if (now_overdue == 0 && watcher->told != 0 && !ended) {
        fprintf(stderr, "ptds: watch: every call in flight that was too long has returned\n");
    }
    watcher->told = now_overdue;
}

/* Until the process ends, but not for long. */
static void pause_watching(pid_t pid, uint64_t after_ns)
{
    int ms = after_ns / 4000000 < LONGEST_PAUSE_MS ? (int)(after_ns / 4000000) + 1 : LONGEST_PAUSE_MS;
    struct pollfd end = {.fd = -1, .events = POLLIN};
#ifdef SYS_pidfd_open
    end.fd = (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
#endif
    poll(&end, 1, ms);
    if (end.fd >= 0)
        close(end.fd);
}

/* The program makes its file larger before it says that it did, and never smaller. */
static bool was_cut(const struct trace_source *source)
{
    const struct ptds_trace_header *header = source->header;
    uint64_t chunks = __atomic_load_n(&header->chunks, __ATOMIC_ACQUIRE);
    uint64_t least = (uint64_t)header->header_size + sizeof(struct ptds_chunk), size;
    struct stat status;
    if (chunks == 0 || header->chunk_size == 0 || stat(source->file, &status) != 0)
        return false;
    size = (uint64_t)status.st_size;
    return size < least || (size - least) / header->chunk_size < chunks - 1;
}

/* One look; whether the process was alive before it. -1: unreadable, with a message in `error`. */
static int look_at_file(struct watcher *watcher, const char *path, pid_t *pid, char *error)
{
    struct trace_source source;
    if (trace_source_open(&source, path, error) != 0)
        return -1;
    const struct ptds_trace_header *header = source.header;
    if (memcmp(header->magic, PTDS_TRACE_MAGIC, sizeof header->magic) != 0) {
        snprintf(error, TRACE_ERROR_SIZE, "%s: offset 0: this is no libptds trace; nothing could be read", path);
        trace_source_close(&source);
        return -1;
    }
    bool alive = live_process(header);
    watcher->elsewhere = !alive && !header->clean_end && !header_is_of_this_host(header);
    *pid = (pid_t)header->pid;
    watcher->cut |= was_cut(&source);
    if (watcher->cut && alive) { /* nothing new comes */
        snprintf(error, TRACE_ERROR_SIZE, "%s: the file was cut while it was written; what hangs cannot be seen", path);
        trace_source_close(&source);
        return -1;
    }
    if (!alive) { /* what it wrote between the look and its end */
        trace_source_close(&source);
        if (trace_source_open(&source, path, error) != 0)
            return -1;
    }
    if (watcher->cut)
        fprintf(stderr, "ptds watch: %s: the file was cut; calls may be missing\n", path);
    look(watcher, &source, !alive);
    trace_source_close(&source);
    return alive;
}

static int finish(struct watcher *watcher)
{
    live_free(&watcher->flights);
    bool unknown = watcher->cut || watcher->blind || watcher->elsewhere;
    return watcher->found ? EXIT_FINDINGS : unknown ? EXIT_UNREADABLE : EXIT_CLEAN;
}

/* Who names a trace whose program has long ended is not left with no word. */
static void say_nothing_hangs(const struct watcher *watcher, const char *path)
{
    if (watcher->elsewhere)
        fprintf(stderr,
                "ptds watch: %s: written on another machine or in a container: whether its program runs on is seen "
                "there alone\n",
                path);
    else if (!watcher->found && !watcher->cut && !watcher->blind && !watcher->warned)
        fprintf(stderr, "ptds watch: %s: its program has ended; every call that may block had returned\n", path);
}

/* Whether a program has begun to write there: the file comes with its first CUDA call, which may take long. */
static bool is_there(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_size != 0 || !S_ISREG(status.st_mode) : errno != ENOENT;
}

/* A folder that is not there is a name that was mistyped. */
static bool has_folder(const char *path)
{
    char folder[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    struct stat status;
    if (slash != NULL)
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return stat(folder, &status) == 0;
}

static void wait_for_file(const char *path)
{
    if (is_there(path) || !has_folder(path))
        return;
    fprintf(stderr, "ptds watch: %s: not there yet; waiting for the program's first CUDA call\n", path);
    while (!is_there(path))
        poll(NULL, 0, LONGEST_PAUSE_MS);
}

int watch_trace(const char *path, uint64_t after_ns)
{
    struct watcher watcher = {.after_ns = after_ns};
    char error[TRACE_ERROR_SIZE];
    pid_t pid = 0;
    bool ran = false;
    int alive;
    wait_for_file(path);
    while ((alive = look_at_file(&watcher, path, &pid, error)) > 0) {
        ran = true;
        pause_watching(pid, after_ns);
    }
    if (alive == 0 && !ran)
        say_nothing_hangs(&watcher, path);
    if (alive < 0) {
        fprintf(stderr, "ptds watch: %s\n", error);
        live_free(&watcher.flights);
        return EXIT_UNREADABLE;
    }
    return finish(&watcher);
}

static bool is_running(pid_t pid)
{
    struct ptds_trace_header only_pid = {.pid = (uint32_t)pid};
    return live_process(&only_pid);
}

void watch_wait_for_end(pid_t pid)
{
    while (is_running(pid))
        pause_watching(pid, UINT64_MAX);
}

int watch_process(pid_t pid, uint64_t after_ns)
{
    struct watcher watcher = {.after_ns = after_ns};
    char path[PATH_MAX] = "", now[PATH_MAX], error[TRACE_ERROR_SIZE];
    while (is_running(pid)) {
        /* After an exec it is another file. */
        if (live_trace_of(pid, now))
            memcpy(path, now, sizeof path);
        pid_t its_own = pid;
        int alive = path[0] != 0 ? look_at_file(&watcher, path, &its_own, error) : 1;
        if (watcher.cut && alive != 0)
            fprintf(stderr, "ptds: watch: %s\n", error);
        if (watcher.cut || alive == 0)
            return finish(&watcher);
        pause_watching(pid, after_ns);
    }
    if (path[0] != 0)
        look_at_file(&watcher, path, &pid, error);
    return finish(&watcher);
}
