/* SPDX-License-Identifier: Apache-2.0
 *
 * Chunks: handed out, taken back, backed by a file or not. Called when a thread's chunk is full, some hundred records
 * apart. File space is reserved before it is mapped, since writing to a mapped hole on a full disk is a SIGBUS in the
 * program. Must not allocate with malloc, and must not say anything twice.
 */
#include "interpose/record/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "interpose/base/cancel.h"
#include "interpose/base/clock.h"
#include "interpose/base/diag.h"
#include "interpose/base/lock.h"
#include "interpose/base/memory.h"
#include "interpose/record/path.h"
#include "interpose/record/run.h"

#define EXTENT_SIZE ((size_t)PTDS_CHUNK_SIZE * PTDS_EXTENT_CHUNKS)
#define EXTENTS_MAX 65536u
#define NAMES_MOST 100u

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

enum state { STATE_FRESH, STATE_ACTIVE, STATE_FULL, STATE_FREE };

/* Every new chunk writes here: in cache lines of its own, since what lies beside it may be what every call reads. */
static struct __attribute__((aligned(64))) {
    struct lock lock;
    int in_file;
    int full;        /* the disk has refused once: the chunks there are go round */
    uint32_t used;   /* no chunk is left that nobody has written to */
    int lock_file;   /* holds the lock, nothing else: the program may close any descriptor and get its number for a file of
                        its own */
    char path[2048]; /* absolute */
    struct ptds_trace_header *header;
    uint8_t **extents;
    uint8_t *states;                                     /* enum state a chunk */
    uint64_t chunks_max, handed, cursor, sequence, free; /* free: chunks given back */
    uint32_t extent_count;
} store;

struct ptds_trace_header *store_header(void)
{
    return store.header;
}

const char *store_path(void)
{
    return store.in_file ? store.path : NULL;
}

/* Past this the kernel does not refuse but kills (SIGXFSZ). */
static int file_may_reach(off_t end)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || (uint64_t)end <= limit.rlim_cur;
}

/* Makes the file's bytes [offset, offset + size) real; 0 if the disk refuses. */
static int reserve(int file, off_t offset, size_t size)
{
    if (!file_may_reach(offset + (off_t)size))
        return 0;
    int error;
    do
        error = posix_fallocate(file, offset, (off_t)size);
    while (error == EINTR);
    static const char zeros[4096];
    if (error != EOPNOTSUPP && error != EINVAL)
        return error == 0;
    for (size_t at = 0; at < size; at += sizeof zeros) {
        if (pwrite(file, zeros, sizeof zeros, offset + (off_t)at) != (ssize_t)sizeof zeros)
            return 0;
    }
    return 1;
}

/* The file's bytes [offset, offset + size), real and mapped; opened anew each time, see lock_file. */
static void *map_file(off_t offset, size_t size)
{
    int file = open(store.path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return NULL;
    void *pages = MAP_FAILED;
    if (reserve(file, offset, size))
        pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, offset);
    close(file);
    return pages == MAP_FAILED ? NULL : pages;
}

/* A trace that must stay: of this very process, from before it called exec, or of another process of the same `ptds run`.
 */
static int is_kept(int file)
{
    struct ptds_trace_header header;
    if (pread(file, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        memcmp(header.magic, PTDS_TRACE_MAGIC, sizeof header.magic) != 0)
        return 0;
    return (header.run != 0 && header.run == run_id()) ||
           (header.pid == (uint32_t)getpid() && header.born == path_process_born());
}

/* Whether another one writes, or wrote, to this file. Where there are no locks, only PATH itself is thought to be
 * another's. */
static int is_taken(int file, int is_path)
{
    int locked = flock(file, LOCK_EX | LOCK_NB) == 0;
    return (!locked && (errno == EWOULDBLOCK || is_path)) || is_kept(file);
}

static int empty(int file)
{
    if (ftruncate(file, 0) == 0)
        return file;
    int saved = errno;
    close(file);
    errno = saved;
    return -1;
}

/* PATH, PATH.PID, PATH.PID.2 and so on. Another live process may be writing to such a file (a child started with the same
 * environment): its lock says so. */
static int open_file(void)
{
    size_t named = 0;
    for (unsigned try = 0; try < NAMES_MOST; try++) {
        if (try == 1) {
            path_append_pid(store.path, sizeof store.path);
            named = strlen(store.path);
        } else if (try > 1) {
            path_append_number(store.path, named, sizeof store.path, try);
        }
        int file = open(store.path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (file < 0)
            return -1;
        if (!is_taken(file, try == 0))
            return empty(file);
        close(file);
    }
    errno = EEXIST;
    return -1;
}

/* The program may change its directory. */
static void make_absolute(const char *pattern)
{
    char expanded[1024];
    path_expand(pattern, expanded, sizeof expanded);
    store.path[0] = '\0';
    if (expanded[0] != '/' && getcwd(store.path, sizeof store.path - sizeof expanded - 1))
        strcat(store.path, "/");
    strcat(store.path, expanded);
}

static void open_trace(const char *path)
{
    make_absolute(path);
    store.lock_file = open_file();
    if (store.lock_file < 0) {
        diag_once(DIAG_ERROR, "PTDS_TRACE: cannot write ", store.path, ": ", strerror(errno), "; recording in memory only");
        return;
    }
    store.header = map_file(0, PTDS_HEADER_SIZE);
    store.in_file = store.header != NULL;
    if (!store.in_file) {
        diag_once(DIAG_ERROR, "PTDS_TRACE: no space for ", store.path, "; recording in memory only");
        close(store.lock_file);
    }
}

int store_open(const char *path, uint64_t limit)
{
    int saved = errno;
    if (path)
        open_trace(path);
    if (!store.header)
        store.header = memory_pages(PTDS_HEADER_SIZE);
    uint64_t chunks = limit / PTDS_CHUNK_SIZE / PTDS_EXTENT_CHUNKS * PTDS_EXTENT_CHUNKS;
    if (chunks > (uint64_t)EXTENTS_MAX * PTDS_EXTENT_CHUNKS)
        chunks = (uint64_t)EXTENTS_MAX * PTDS_EXTENT_CHUNKS;
    store.chunks_max = chunks < PTDS_EXTENT_CHUNKS ? PTDS_EXTENT_CHUNKS : chunks;
    store.extents = memory_pages(store.chunks_max / PTDS_EXTENT_CHUNKS * sizeof *store.extents);
    store.states = memory_pages(store.chunks_max);
    errno = saved;
    return store.header && store.extents && store.states;
}

static struct ptds_chunk *chunk_at(uint64_t i)
{
    return (struct ptds_chunk *)(store.extents[i / PTDS_EXTENT_CHUNKS] + i % PTDS_EXTENT_CHUNKS * PTDS_CHUNK_SIZE);
}

const struct ptds_chunk *store_chunk_at(uint64_t i)
{
    return i < __atomic_load_n(&store.handed, __ATOMIC_ACQUIRE) ? chunk_at(i) : NULL;
}

static int grow(void)
{
    off_t offset = (off_t)(PTDS_HEADER_SIZE + store.extent_count * EXTENT_SIZE);
    uint8_t *extent = store.in_file ? map_file(offset, EXTENT_SIZE) : memory_pages(EXTENT_SIZE);
    if (!extent) {
        store.full = 1;
        return 0;
    }
    store.extents[store.extent_count++] = extent;
    return 1;
}

/* The oldest chunk that no thread writes to any more: they are handed out in rings, so the next full one is it. */
static struct ptds_chunk *take_back(uint64_t *index)
{
    for (uint64_t step = 0; step < store.handed; step++) {
        uint64_t i = (store.cursor + step) % store.handed;
        if (store.states[i] == STATE_FULL && chunk_at(i)->kind == PTDS_CHUNK_CALLS) {
            store.cursor = i + 1;
            store.header->recycled++;
            *index = i;
            return chunk_at(i);
        }
    }
    return NULL;
}

static struct ptds_chunk *reuse(uint64_t *index)
{
    for (uint64_t i = 0; i < store.handed; i++) {
        if (store.states[i] == STATE_FREE) {
            store.free--;
            *index = i;
            return chunk_at(i);
        }
    }
    return NULL;
}

static int has_fresh(void)
{
    int room = store.handed < (uint64_t)store.extent_count * PTDS_EXTENT_CHUNKS;
    if (!room && !store.full && store.handed < store.chunks_max)
        room = grow();
    if (!room)
        __atomic_store_n(&store.used, 1, __ATOMIC_RELAXED);
    return room;
}

static struct ptds_chunk *next_chunk(uint64_t *index)
{
    if (store.free)
        return reuse(index);
    if (!has_fresh())
        return take_back(index);
    *index = store.handed;
    return chunk_at(store.handed);
}

/* All pages of a new chunk at once: taken one by one by the records, their faults would cost a record more than it costs
 * itself. Outside the lock, or threads that record much would wait for each other's pages; a file's space is still reserved
 * in it. */
static void populate(struct ptds_chunk *chunk)
{
    uint8_t *rest = (uint8_t *)chunk + MEMORY_PAGE; /* the header's page is there */
    size_t size = PTDS_CHUNK_SIZE - MEMORY_PAGE;
    if (madvise(rest, size, MADV_POPULATE_WRITE) == 0 || errno != EINVAL)
        return;
    for (size_t at = 0; at < size; at += MEMORY_PAGE) /* Linux before 5.14, or larger pages */
        __atomic_store_n(rest + at, 0, __ATOMIC_RELAXED);
}

/* Whoever forgets definitions looks at chunks of other threads meanwhile: by their kind, which comes last. */
static void begin_chunk(struct ptds_chunk *chunk, enum ptds_chunk_kind kind, uint32_t thread)
{
    __atomic_store_n(&chunk->kind, PTDS_CHUNK_FREE, __ATOMIC_RELAXED);
    chunk->magic = PTDS_CHUNK_MAGIC;
    __atomic_store_n(&chunk->thread, thread, __ATOMIC_RELAXED);
    chunk->holds = chunk->now = chunk->defaults = 0;
    __atomic_store_n(&chunk->sequence, ++store.sequence, __ATOMIC_RELAXED);
    chunk->lost = 0;
    memset(chunk->reserved, 0, sizeof chunk->reserved);
    __atomic_store_n(&chunk->kind, kind, __ATOMIC_RELEASE);
}

/* Under the lock. */
static void hand_out(struct ptds_chunk *chunk, uint64_t index, enum ptds_chunk_kind kind, uint32_t thread)
{
    int fresh = index == store.handed;
    __atomic_store_n(&chunk->committed, 0, __ATOMIC_RELEASE);
    begin_chunk(chunk, kind, thread);
    store.states[index] = STATE_ACTIVE;
    if (fresh) {
        __atomic_store_n(&store.handed, index + 1, __ATOMIC_RELEASE);
        store.header->chunks = index + 1;
    }
}

/* Opens files and grows them under the lock, where nobody may be cancelled. */
struct ptds_chunk *store_chunk(enum ptds_chunk_kind kind, uint32_t thread, size_t *old)
{
    int fresh = 0, cancel = cancel_off();
    int saved = errno;
    uint64_t index = 0;
    lock_take(&store.lock);
    struct ptds_chunk *chunk = next_chunk(&index);
    *old = 0;
    if (chunk) {
        if (store.states[index] == STATE_FULL && chunk->holds)
            *old = chunk->committed;
        fresh = index == store.handed;
        hand_out(chunk, index, kind, thread);
    } else {
        store.header->refused++;
    }
    lock_drop(&store.lock);
    if (fresh && kind != PTDS_CHUNK_DEFINITIONS)
        populate(chunk);
    if (!chunk || store.full)
        diag_once(DIAG_ERROR, "no space for more of the trace; ",
                  chunk ? "the oldest detail goes first, counts stay exact" : "detail is dropped, counts stay");
    cancel_back(cancel);
    errno = saved;
    return chunk;
}

struct ptds_chunk *store_chunk_ahead(uint32_t thread)
{
    if (__atomic_load_n(&store.used, __ATOMIC_RELAXED))
        return NULL;
    struct ptds_chunk *chunk = NULL;
    int cancel = cancel_off();
    int saved = errno;
    lock_take(&store.lock);
    if (!store.free && has_fresh()) {
        chunk = chunk_at(store.handed);
        hand_out(chunk, store.handed, PTDS_CHUNK_CALLS, thread);
    }
    lock_drop(&store.lock);
    if (chunk)
        populate(chunk);
    cancel_back(cancel);
    errno = saved;
    return chunk;
}

static void set_state(const struct ptds_chunk *chunk, enum state state)
{
    for (uint32_t e = 0; e < store.extent_count; e++) {
        size_t offset = (size_t)((const uint8_t *)chunk - store.extents[e]);
        if ((const uint8_t *)chunk >= store.extents[e] && offset < EXTENT_SIZE) {
            store.states[e * PTDS_EXTENT_CHUNKS + offset / PTDS_CHUNK_SIZE] = (uint8_t)state;
            return;
        }
    }
}

void store_chunk_full(struct ptds_chunk *chunk)
{
    if (!chunk)
        return;
    lock_take(&store.lock);
    set_state(chunk, STATE_FULL);
    lock_drop(&store.lock);
}

void store_chunk_back(struct ptds_chunk *chunk)
{
    lock_take(&store.lock);
    __atomic_store_n(&chunk->kind, PTDS_CHUNK_FREE, __ATOMIC_RELEASE);
    set_state(chunk, STATE_FREE);
    store.free++;
    lock_drop(&store.lock);
}

int store_can_go_on(void)
{
    return lock_comes_free(&store.lock);
}

void store_flush(void)
{
    int saved = errno;
    if (store.in_file) {
        msync(store.header, PTDS_HEADER_SIZE, MS_ASYNC);
        for (uint32_t e = 0; e < store.extent_count; e++)
            msync(store.extents[e], EXTENT_SIZE, MS_ASYNC);
    }
    errno = saved;
}

void store_after_fork(void)
{
    memset(&store, 0, sizeof store);
}
