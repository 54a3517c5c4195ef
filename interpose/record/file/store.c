/* SPDX-License-Identifier: Apache-2.0
 *
 * Chunks: handed out, taken back, backed by a file or not. Called when a thread's chunk is full, some hundred records
 * apart. Must not allocate with malloc, and must not say anything twice.
 */
#include "interpose/record/file/store.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "interpose/base/cancel.h"
#include "interpose/base/clock.h"
#include "interpose/base/diag.h"
#include "interpose/base/lock.h"
#include "interpose/base/pages.h"
#include "interpose/record/file/chunk_pages.h"
#include "interpose/record/file/trace_file.h"
#include "interpose/record/file/truncated_file.h"

#define EXTENT_SIZE ((size_t)PTDS_CHUNK_SIZE * PTDS_EXTENT_CHUNKS)
#define EXTENTS_MAX 65536u
#define PART_SIZE ((size_t)64 << 10) /* of a mapping, replaced at once: whole pages on every machine */
#define DEFINITIONS_ALONE 8u         /* of the last chunks at most so many are not for calls */

enum state { STATE_FRESH, STATE_ACTIVE, STATE_FULL, STATE_FREE };

/* Every new chunk writes here: in cache lines of its own, since what lies beside it may be what every call reads. */
static struct __attribute__((aligned(64))) {
    struct lock lock;
    int full;      /* the disk has refused once: the chunks there are go round */
    uint32_t used; /* 1: no chunk is left that was never handed out */
    uint32_t out;  /* 1: nor a chunk that could be had again: until a thread is done with one, none is looked for */
    struct ptds_trace_header *header;
    uint8_t **extents;
    uint8_t *states; /* enum state a chunk */
    uint64_t chunks_max, handed, cursor, sequence;
    uint64_t free, old, counts; /* chunks given back, full ones of calls, ones with counts */
    uint32_t extent_count;
} store;

struct ptds_trace_header *store_header(void)
{
    return store.header;
}

const char *store_path(void)
{
    return trace_file_path();
}

static off_t end_of_file(void)
{
    return (off_t)(PTDS_HEADER_SIZE + store.extent_count * EXTENT_SIZE);
}

int store_is_torn(void)
{
    return truncated_file_seen() || trace_file_is_truncated(end_of_file());
}

static uint8_t *part_in(void *pages, size_t size, const void *address)
{
    size_t offset = (size_t)((const uint8_t *)address - (uint8_t *)pages);
    return (const uint8_t *)address >= (uint8_t *)pages && offset < size ? (uint8_t *)pages + offset / PART_SIZE * PART_SIZE
                                                                         : NULL;
}

/* In a signal handler. */
static void *part_of(const void *address, size_t *size)
{
    uint8_t *part = part_in(store.header, PTDS_HEADER_SIZE, address);
    uint32_t count = __atomic_load_n(&store.extent_count, __ATOMIC_ACQUIRE);
    for (uint32_t e = 0; e < count && !part; e++)
        part = part_in(store.extents[e], EXTENT_SIZE, address);
    *size = PART_SIZE;
    return part;
}

static int grow(void)
{
    uint8_t *extent = trace_file_path() ? trace_file_map(end_of_file(), EXTENT_SIZE) : pages_map(EXTENT_SIZE);
    if (!extent) {
        store.full = 1;
        return 0;
    }
    store.extents[store.extent_count] = extent;
    __atomic_store_n(&store.extent_count, store.extent_count + 1, __ATOMIC_RELEASE);
    return 1;
}

/* A header and a first extent, or nothing: without them not even counts are kept. */
static int begin_in_file(const char *path)
{
    if (!trace_file_open(path))
        return 0;
    store.header = trace_file_map(0, PTDS_HEADER_SIZE);
    if (store.header && grow()) {
        truncated_file_watch(part_of);
        return 1;
    }
    if (store.header)
        pages_unmap(store.header, PTDS_HEADER_SIZE);
    trace_file_give_up();
    store.full = 0;
    return 0;
}

static int begin_in_memory(void)
{
    store.header = pages_map(PTDS_HEADER_SIZE);
    return store.header && grow();
}

static int make_tables(uint64_t limit)
{
    uint64_t chunks = limit / PTDS_CHUNK_SIZE / PTDS_EXTENT_CHUNKS * PTDS_EXTENT_CHUNKS;
    if (chunks > (uint64_t)EXTENTS_MAX * PTDS_EXTENT_CHUNKS)
        chunks = (uint64_t)EXTENTS_MAX * PTDS_EXTENT_CHUNKS;
    store.chunks_max = chunks < PTDS_EXTENT_CHUNKS ? PTDS_EXTENT_CHUNKS : chunks;
    store.extents = pages_map(store.chunks_max / PTDS_EXTENT_CHUNKS * sizeof *store.extents);
    store.states = pages_map(store.chunks_max);
    return store.extents && store.states;
}

int store_open(const char *path, uint64_t limit, uint64_t memory_limit)
{
    int saved = errno;
    int in_file = path && make_tables(limit) && begin_in_file(path);
    int there = in_file || (make_tables(memory_limit) && begin_in_memory());
    if (there)
        store.header->limit = in_file ? limit : memory_limit;
    errno = saved;
    return there;
}

static struct ptds_chunk *chunk_at(uint64_t i)
{
    return (struct ptds_chunk *)(store.extents[i / PTDS_EXTENT_CHUNKS] + i % PTDS_EXTENT_CHUNKS * PTDS_CHUNK_SIZE);
}

const struct ptds_chunk *store_chunk_at(uint64_t i)
{
    return i < __atomic_load_n(&store.handed, __ATOMIC_ACQUIRE) ? chunk_at(i) : NULL;
}

/* The oldest chunk that no thread writes to any more: they are handed out in rings, so the next full one is it. */
static struct ptds_chunk *take_back(uint64_t *index)
{
    for (uint64_t step = 0; store.old && step < store.handed; step++) {
        uint64_t i = (store.cursor + step) % store.handed;
        if (store.states[i] == STATE_FULL && chunk_at(i)->kind == PTDS_CHUNK_CALLS) {
            store.cursor = i + 1;
            store.old--;
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

static uint64_t most_chunks(void)
{
    return store.full ? (uint64_t)store.extent_count * PTDS_EXTENT_CHUNKS : store.chunks_max;
}

/* Live threads could hold every chunk, and then there would be no room for the names that their calls refer to. */
static int is_for_definitions(void)
{
    uint64_t alone = store.chunks_max / 16;
    return store.handed + (alone < DEFINITIONS_ALONE ? alone : DEFINITIONS_ALONE) >= most_chunks();
}

/* Counts are worth less than the calls themselves where there is little room: those of further threads lie in memory. */
static int has_enough(enum ptds_chunk_kind kind)
{
    return kind == PTDS_CHUNK_COUNTS && store.counts >= most_chunks() / 4;
}

static struct ptds_chunk *next_chunk(enum ptds_chunk_kind kind, uint64_t *index)
{
    if (has_enough(kind))
        return NULL;
    if (store.free)
        return reuse(index);
    if (!has_fresh() || (kind != PTDS_CHUNK_DEFINITIONS && is_for_definitions()))
        return take_back(index);
    *index = store.handed;
    return chunk_at(store.handed);
}

/* forget.c may look at the chunk meanwhile: it goes by the kind, which is written last. */
static void begin_chunk(struct ptds_chunk *chunk, enum ptds_chunk_kind kind, uint32_t thread)
{
    __atomic_store_n(&chunk->kind, PTDS_CHUNK_FREE, __ATOMIC_RELAXED);
    chunk->magic = PTDS_CHUNK_MAGIC;
    __atomic_store_n(&chunk->thread, thread, __ATOMIC_RELAXED);
    chunk->holds = chunk->now = chunk->defaults = 0;
    __atomic_store_n(&chunk->sequence, ++store.sequence, __ATOMIC_RELAXED);
    chunk->lost = 0;
    chunk->ordinal = chunk->reserved = 0;
    __atomic_store_n(&chunk->kind, kind, __ATOMIC_RELEASE);
}

/* Under the lock. */
static void hand_out(struct ptds_chunk *chunk, uint64_t index, enum ptds_chunk_kind kind, uint32_t thread)
{
    int fresh = index == store.handed;
    __atomic_store_n(&chunk->committed, 0, __ATOMIC_RELEASE);
    begin_chunk(chunk, kind, thread);
    store.states[index] = STATE_ACTIVE;
    store.counts += kind == PTDS_CHUNK_COUNTS;
    if (fresh) {
        __atomic_store_n(&store.handed, index + 1, __ATOMIC_RELEASE);
        store.header->chunks = index + 1;
    }
}

static void say_that_there_is_no_more(int got_one)
{
    diag_once(DIAG_ERROR,
              trace_file_path() ? "no space for more of the trace, or its file is gone; "
                                : "no space for more of the record; ",
              got_one ? "the oldest detail goes first, counts stay exact" : "detail is dropped, counts stay");
}

/* Opens files and grows them under the lock, where no thread may be cancelled. */
struct ptds_chunk *store_chunk(enum ptds_chunk_kind kind, uint32_t thread, size_t *old)
{
    *old = 0;
    if (!store.header)
        return NULL; /* the child of a fork in a signal handler goes on with what its parent was at */
    int fresh = 0, cancel = cancel_off();
    int saved = errno;
    uint64_t index = 0;
    lock_take(&store.lock);
    struct ptds_chunk *chunk = next_chunk(kind, &index);
    if (chunk) {
        if (store.states[index] == STATE_FULL && chunk->holds)
            *old = chunk->committed;
        fresh = index == store.handed;
        hand_out(chunk, index, kind, thread);
        if (!fresh && !*old && kind == PTDS_CHUNK_COUNTS)
            chunk_pages_clear(chunk);
    } else if (kind == PTDS_CHUNK_CALLS) {
        __atomic_store_n(&store.out, 1, __ATOMIC_RELAXED);
    }
    lock_drop(&store.lock);
    if (fresh && kind == PTDS_CHUNK_CALLS)
        chunk_pages_populate(chunk);
    if (kind != PTDS_CHUNK_COUNTS && (!chunk || store.full))
        say_that_there_is_no_more(chunk != NULL);
    cancel_back(cancel);
    errno = saved;
    return chunk;
}

int store_is_out(void)
{
    return __atomic_load_n(&store.out, __ATOMIC_RELAXED) != 0;
}

void store_refused(void)
{
    if (store.header)
        __atomic_add_fetch(&store.header->refused, 1, __ATOMIC_RELAXED);
}

struct ptds_chunk *store_chunk_ahead(uint32_t thread)
{
    if (__atomic_load_n(&store.used, __ATOMIC_RELAXED))
        return NULL;
    struct ptds_chunk *chunk = NULL;
    int cancel = cancel_off();
    int saved = errno;
    lock_take(&store.lock);
    if (!store.free && has_fresh() && !is_for_definitions()) {
        chunk = chunk_at(store.handed);
        hand_out(chunk, store.handed, PTDS_CHUNK_CALLS, thread);
    } else if (is_for_definitions()) {
        __atomic_store_n(&store.used, 1, __ATOMIC_RELAXED);
    }
    lock_drop(&store.lock);
    if (chunk)
        chunk_pages_populate(chunk);
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

void store_chunk_last(struct ptds_chunk *chunk)
{
    if (!chunk)
        return;
    chunk_pages_let_go((const uint8_t *)(chunk + 1) + chunk->committed, chunk);
    store_chunk_full(chunk);
}

void store_chunk_full(struct ptds_chunk *chunk)
{
    if (!chunk)
        return;
    lock_take(&store.lock);
    set_state(chunk, STATE_FULL);
    store.old++;
    __atomic_store_n(&store.out, 0, __ATOMIC_RELAXED);
    lock_drop(&store.lock);
}

void store_chunk_back(struct ptds_chunk *chunk)
{
    lock_take(&store.lock);
    store.counts -= chunk->kind == PTDS_CHUNK_COUNTS;
    __atomic_store_n(&chunk->kind, PTDS_CHUNK_FREE, __ATOMIC_RELEASE);
    chunk_pages_let_go(chunk + 1, chunk);
    set_state(chunk, STATE_FREE);
    store.free++;
    __atomic_store_n(&store.out, 0, __ATOMIC_RELAXED);
    lock_drop(&store.lock);
}

int store_can_go_on(void)
{
    return lock_comes_free(&store.lock);
}

void store_flush(void)
{
    int saved = errno;
    if (trace_file_path()) {
        msync(store.header, PTDS_HEADER_SIZE, MS_ASYNC);
        for (uint32_t e = 0; e < store.extent_count; e++)
            msync(store.extents[e], EXTENT_SIZE, MS_ASYNC);
    }
    errno = saved;
}

void store_after_fork(void)
{
    memset(&store, 0, sizeof store);
    trace_file_after_fork();
    truncated_file_after_fork();
}
