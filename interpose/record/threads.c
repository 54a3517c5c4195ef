/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread's beginning, end and names in the record, its exact counts, and the call that it is in right now. Called by
 * thread.c, by every timed call as it begins and before the driver or the guard waits for its sake, and at exit. Must not
 * call the driver: a thread's end comes below main's.
 */
#include "interpose/record/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "interpose/base/clock.h"
#include "interpose/base/lock.h"
#include "interpose/base/pages.h"
#include "interpose/record/append.h"
#include "interpose/record/file/define.h"
#include "interpose/record/file/path.h"
#include "interpose/record/file/rescue.h"
#include "interpose/record/file/store.h"
#include "interpose/record/recorder.h"
#include "interpose/record/stacks/stacks.h"
#include "interpose/record/thread_regions.h"
#include "interpose/state/contexts.h"

/* What a COUNTS chunk holds, and where. */
#define ROWS (API_COUNT * 2)
#define COUNTS_AT sizeof(struct ptds_chunk)
#define NOW_AT (COUNTS_AT + ROWS * sizeof(struct ptds_count))
#define DEFAULTS_AT (NOW_AT + sizeof(struct ptds_now))
#define COUNTS_END (DEFAULTS_AT + sizeof(struct ptds_default_count))
_Static_assert(COUNTS_END <= PTDS_CHUNK_SIZE, "a COUNTS chunk holds every row");

/* The counts of threads that have ended, and at exit of those whose counts lie in memory. The chunk is taken first of all,
 * so that it is there. */
static struct lock all_lock;
static struct ptds_chunk *all_counts;
static int finished;

static void own_name(struct thread *thread)
{
    char name[17] = "";
    if (thread->named || thread != thread_self || prctl(PR_GET_NAME, name) != 0)
        return;
    memcpy(thread->name, name, sizeof name);
}

static void define_thread(struct thread *thread, enum ptds_life state)
{
    struct ptds_rec_THREAD record = {.ticks = clock_ticks(), .id = thread->uid, .tid = thread->tid, .state = state};
    own_name(thread);
    define(PTDS_REC_THREAD, &record, sizeof record, thread->name, strlen(thread->name));
}

static void lay_out(struct ptds_chunk *chunk)
{
    chunk->now = NOW_AT;
    chunk->defaults = DEFAULTS_AT;
    __atomic_store_n(&chunk->committed, ROWS * sizeof(struct ptds_count), __ATOMIC_RELEASE);
}

void threads_counts_start(void)
{
    size_t old;
    all_counts = store_chunk(PTDS_CHUNK_COUNTS, 0, &old);
    if (all_counts)
        lay_out(all_counts);
}

/* By the thread itself alone: a thread that was there before recording began comes here with its first recorded call. */
void threads_started(struct thread *thread)
{
    if (!recorder_on())
        return;
    struct ptds_chunk *chunk = rescue_chunk(PTDS_CHUNK_COUNTS, thread->uid);
    uint8_t *base = chunk ? (uint8_t *)chunk : pages_map(PTDS_CHUNK_SIZE);
    if (base) {
        thread->defaults = (struct ptds_default_count *)(base + DEFAULTS_AT);
        thread->now = (struct ptds_now *)(base + NOW_AT);
        thread->counts_in_chunk = chunk != NULL;
        __atomic_store_n(&thread->counts, (struct ptds_count *)(base + COUNTS_AT), __ATOMIC_RELEASE);
    }
    if (chunk)
        lay_out(chunk);
    else
        __atomic_add_fetch(&store_header()->uncounted, 1, __ATOMIC_RELAXED);
    define_thread(thread, thread->drivers ? PTDS_LIFE_DRIVERS : PTDS_LIFE_SEEN);
    thread_regions_started(thread);
}

/* Several threads may end at the same time. */
static void add_up(void *to, const void *from, size_t size)
{
    for (size_t i = 0; i < size / sizeof(uint64_t); i++) {
        if (((const uint64_t *)from)[i])
            __atomic_add_fetch(&((uint64_t *)to)[i], ((const uint64_t *)from)[i], __ATOMIC_RELAXED);
    }
}

static void add_to_all(const uint8_t *base, int in_chunk)
{
    if (!all_counts)
        return;
    add_up((uint8_t *)all_counts + COUNTS_AT, base + COUNTS_AT, NOW_AT - COUNTS_AT);
    add_up((uint8_t *)all_counts + DEFAULTS_AT, base + DEFAULTS_AT, COUNTS_END - DEFAULTS_AT);
    if (!in_chunk)
        __atomic_sub_fetch(&store_header()->uncounted, 1, __ATOMIC_RELAXED);
}

/* The counts of ended threads are one chunk's, so that a program which starts a thread a request does not run out of them.
 */
static void fold_counts(struct thread *thread)
{
    uint8_t *base = (uint8_t *)thread->counts - COUNTS_AT;
    int in_chunk = thread->counts_in_chunk != 0;
    lock_take(&all_lock);
    int added = finished && !in_chunk;
    thread->counts = NULL;
    thread->defaults = NULL;
    thread->now = NULL;
    lock_drop(&all_lock);
    if (!added)
        add_to_all(base, in_chunk);
    if (!in_chunk)
        pages_unmap(base, PTDS_CHUNK_SIZE);
    else if (all_counts)
        store_chunk_back((struct ptds_chunk *)base);
}

int threads_counts_can_finish(void)
{
    return lock_comes_free(&all_lock);
}

/* What threads in memory count from now on is not in the trace. */
void threads_counts_finish(void)
{
    lock_take(&all_lock);
    for (const struct thread *thread = thread_all(); thread && !finished; thread = thread->next_all) {
        const struct ptds_count *counts = __atomic_load_n(&thread->counts, __ATOMIC_ACQUIRE);
        if (thread->fork_generation == thread_fork_generation && counts && !thread->counts_in_chunk)
            add_to_all((const uint8_t *)counts - COUNTS_AT, 0);
    }
    finished = 1;
    lock_drop(&all_lock);
}

void threads_ended(struct thread *thread)
{
    if (!recorder_on())
        return;
    define_thread(thread, PTDS_LIFE_GONE);
    store_chunk_last(thread->chunk);
    if (thread->ahead)
        store_chunk_back(thread->ahead);
    thread->chunk = thread->ahead = NULL;
    thread->chunk_at = thread->chunk_end = NULL;
    if (thread->now)
        thread->now->enter = 0;
    if (thread->counts)
        fold_counts(thread);
}

static int waits(const struct call *C)
{
    const uint8_t is = api_rows[C->api].class_;
    return is == PTDS_CLASS_SYNC || is == PTDS_CLASS_STREAM;
}

/* A new stack is taken here rather than after the call, so that `ptds watch` can show where a call that does not return
 * came from. The time that the stack, or the next chunk, takes is not the call's, so the call's time begins after it. */
void threads_call_begun(struct call *C)
{
    struct thread *thread = C->thread;
    if (__builtin_expect(!thread->counts, 0))
        threads_started(thread);
    if (!thread->now)
        return;
    int late = waits(C) && append_chunk_ahead(thread);
    C->stack = stacks_known(C);
    if (__builtin_expect(!C->stack, 0)) {
        C->stack = stacks_id(C, 0);
        late = 1;
    }
    if (late)
        C->enter = clock_ticks();
}

void threads_call_waits(const struct call *C)
{
    struct ptds_now *now = C->thread->now;
    if (!now || !(C->flags & PTDS_CALL_TIMED) || !C->enter || !recorder_on())
        return;
    const struct context *context = C->context ? C->context : contexts_now(C->thread);
    __atomic_store_n(&now->enter, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    now->caller = (uint64_t)C->caller;
    now->api = C->api;
    now->twin = C->twin;
    now->flags = C->flags;
    now->context = context ? context->uid : 0;
    now->stream = C->stream_uid;
    now->target = C->target_uid;
    now->object = C->object;
    now->stack = C->stack;
    now->op = C->op;
    now->kinds = C->kinds;
    now->generation = C->generation;
    now->word = C->words ? C->word[0] : 0;
    __atomic_store_n(&now->enter, C->enter, __ATOMIC_RELEASE);
}

void threads_named(struct thread *thread, const char *name)
{
    size_t size = strnlen(name, sizeof thread->name - 1);
    memcpy(thread->name, name, size);
    thread->name[size] = '\0';
    thread->named = 1;
    if (recorder_on() && thread->counts)
        define_thread(thread, PTDS_LIFE_NAMED);
}

/* The name that the kernel has of another thread now; its length, 0 unknown. */
static size_t name_now(uint32_t tid, char name[17])
{
    char path[64] = "/proc/self/task/";
    size_t used = strlen(path);
    used += path_decimal(tid, path + used);
    memcpy(path + used, "/comm", 6);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? 0 : read(file, name, 16);
    if (file >= 0)
        close(file);
    while (size > 0 && name[size - 1] == '\n')
        size--;
    name[size > 0 ? size : 0] = '\0';
    return size > 0 ? (size_t)size : 0;
}

void threads_define_names(void)
{
    char name[17];
    int saved = errno;
    for (struct thread *thread = thread_all(); thread; thread = thread->next_all) {
        if (thread->fork_generation != thread_fork_generation || __atomic_load_n(&thread->ended, __ATOMIC_ACQUIRE) ||
            thread->named || !thread->counts || !name_now(thread->tid, name) || strcmp(name, thread->name) == 0)
            continue;
        struct ptds_rec_THREAD record = {.ticks = clock_ticks(), .id = thread->uid, .tid = thread->tid};
        record.state = PTDS_LIFE_NAMED;
        define(PTDS_REC_THREAD, &record, sizeof record, name, strlen(name));
    }
    errno = saved;
}

void threads_after_fork(void)
{
    all_lock.held = 0;
    all_counts = NULL;
    finished = 0;
}
