/* SPDX-License-Identifier: Apache-2.0
 *
 * Looks at a running process through its trace file and /proc. Called by `ptds watch` a few times a second. The file is
 * untrusted and being written to: every offset is compared with what is there.
 */
#include "analysis/cmd/watch/live.h"

#include "analysis/trace/header.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* As the writer's order asks: enter, the rest, enter again. */
static bool read_now(const struct ptds_now *at, struct ptds_now *now)
{
    for (int tries = 0; tries < 100; tries++) {
        uint64_t enter = __atomic_load_n(&at->enter, __ATOMIC_ACQUIRE);
        if (enter == 0)
            return false;
        memcpy(now, at, sizeof *now);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&at->enter, __ATOMIC_RELAXED) == enter) {
            now->enter = enter;
            return true;
        }
    }
    return false; /* it makes one call after the other, so it hangs in none */
}

static bool look_at(struct flights *flights, const void *bytes, size_t readable)
{
    struct ptds_chunk chunk;
    struct ptds_now now;
    if (readable < sizeof chunk)
        return true;
    memcpy(&chunk, bytes, sizeof chunk);
    if (chunk.magic != PTDS_CHUNK_MAGIC || chunk.kind != PTDS_CHUNK_COUNTS || chunk.now < sizeof chunk ||
        chunk.now % 8 != 0 || chunk.now > readable || readable - chunk.now < sizeof now)
        return true;
    flights->recorded = true;
    const void *at = (const char *)bytes + chunk.now;
    if (!read_now(at, &now))
        return true;
    if (!TABLE_ADD(&flights->list))
        return false;
    *TABLE_LAST(&flights->list) = (struct in_flight){.thread = chunk.thread, .now = now};
    return true;
}

bool live_read(struct flights *flights, const struct trace_source *source)
{
    flights->list.count = 0;
    flights->recorded = false;
    for (uint64_t i = 0; i < source->chunks; i++) {
        size_t readable = 0;
        const void *bytes = source->chunk(source, i, &readable);
        if (bytes != NULL && !look_at(flights, bytes, readable))
            return false;
    }
    return true;
}

void live_free(struct flights *flights)
{
    free(flights->list.items);
    *flights = (struct flights){0};
}

/* Field 22 of /proc/PID/stat; 0 if there is no such process, or only its remains. */
static uint64_t born(uint32_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    const char *field = strrchr(text, ')'); /* the end of field 2, which may hold anything */
    if (field == NULL || field[1] == 0 || field[2] == 'Z' || field[2] == 'X')
        return 0;
    for (int i = 2; field != NULL && i < 22; i++)
        field = strchr(field + 1, ' ');
    return field != NULL ? strtoull(field, NULL, 10) : 0;
}

bool live_process(const struct ptds_trace_header *header)
{
    uint64_t now = header->pid != 0 ? born(header->pid) : 0;
    return now != 0 && (header->born == 0 || header->born == now);
}

static uint64_t monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t live_ticks(uint32_t clock)
{
#if defined(__x86_64__)
    if (clock == PTDS_CLOCK_TSC)
        return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    if (clock == PTDS_CLOCK_CNTVCT) {
        uint64_t ticks;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
#endif
    return clock == PTDS_CLOCK_MONOTONIC ? monotonic() : 0;
}

double live_ns_a_tick(uint32_t clock)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    if (clock == PTDS_CLOCK_MONOTONIC)
        return 1;
    uint64_t ticks = live_ticks(clock), ns = monotonic();
    nanosleep(&pause, NULL);
    uint64_t passed = live_ticks(clock) - ticks;
    return passed != 0 ? (double)(monotonic() - ns) / (double)passed : 0;
}

void live_note(struct trace_source *source)
{
    const struct ptds_trace_header *header = source->header;
    if (source->header_bytes < sizeof *header || header->clean_end || !header_is_of_this_host(header) ||
        !live_process(header))
        return;
    source->ns_a_tick = live_ns_a_tick(header->clock);
    source->now = live_ticks(header->clock);
}

static bool is_trace_of(const char *path, pid_t pid)
{
    struct ptds_trace_header header;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return false;
    ssize_t size = pread(file, &header, sizeof header, 0);
    close(file);
    return size == (ssize_t)sizeof header && memcmp(header.magic, PTDS_TRACE_MAGIC, sizeof header.magic) == 0 &&
           header.pid == (uint32_t)pid;
}

bool live_trace_of(pid_t pid, char *path)
{
    char maps[64], line[PATH_MAX + 256], seen[PATH_MAX] = "";
    bool found = false;
    snprintf(maps, sizeof maps, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(maps, "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        char *at = strchr(line, '/');
        size_t size = at != NULL ? strcspn(at, "\n") : 0;
        if (size == 0 || size >= PATH_MAX || strstr(line, " rw-s ") == NULL)
            continue;
        at[size] = 0;
        if (strcmp(at, seen) == 0)
            continue;
        memcpy(seen, at, size + 1);
        found = is_trace_of(seen, pid);
    }
    if (file != NULL)
        fclose(file);
    if (found)
        strcpy(path, seen);
    return found;
}
