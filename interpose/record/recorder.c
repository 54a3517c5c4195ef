/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes CALL records and exact counts. record_call() runs after every recorded call: it must not lock, allocate or format
 * there; a new chunk, a new stack and a new name are its only slow ways out.
 */
#include "interpose/record/record.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "interpose/base/clock.h"
#include "interpose/base/diag.h"
#include "interpose/base/lock.h"
#include "interpose/base/memory.h"
#include "interpose/doors/doors.h"
#include "interpose/doors/driver.h"
#include "interpose/env/env.h"
#include "interpose/record/definitions.h"
#include "interpose/record/log.h"
#include "interpose/record/path.h"
#include "interpose/record/stacks.h"
#include "interpose/record/store.h"
#include "interpose/version.h"

uint32_t record_running;

#define CHUNK_ROOM (PTDS_CHUNK_SIZE - sizeof(struct ptds_chunk))
_Static_assert(API_COUNT * 2 * sizeof(struct ptds_count) <= CHUNK_ROOM, "a COUNTS chunk holds every row");

/* The text of records.def, so that a trace tells its own layout. */
static const char schema[] =
#define u64 "u64"
#define REC(NAME, id, doc, fields) #NAME " " #id " " fields "\n"
#define F(type, name, doc) #name ":" #type " "
#define TAIL(type, name, doc) #name ":" #type "..."
#include "interpose/trace/records.def"
#undef u64
    ;

static void fill_header(struct ptds_trace_header *header)
{
    memcpy(header->magic, PTDS_TRACE_MAGIC, sizeof header->magic);
    header->version = PTDS_TRACE_VERSION;
    header->header_size = PTDS_HEADER_SIZE;
    header->chunk_size = PTDS_CHUNK_SIZE;
    header->call_size = sizeof(struct ptds_rec_CALL);
    header->pid = (uint32_t)getpid();
    header->parent_pid = (uint32_t)getppid();
    header->rank = path_rank();
    header->ranks = path_ranks();
    header->clock = clock_source;
    header->limit = env_get()->trace_limit;
    header->born = path_process_born();
    gethostname(header->host, sizeof header->host - 1);
    if (readlink("/proc/self/exe", header->program, sizeof header->program - 1) < 0)
        header->program[0] = '\0';
    memcpy(header->shim, PTDS_VERSION, sizeof PTDS_VERSION);
    header->schema_offset = 4096;
    header->schema_size = sizeof schema - 1;
    memcpy((char *)header + header->schema_offset, schema, sizeof schema - 1);
}

static uint32_t starting; /* set once, by whoever starts */

void record_start(void)
{
    int saved = errno;
    if (!env_get()->recording || __atomic_load_n(&record_running, __ATOMIC_ACQUIRE) != 0)
        return;
    if (__atomic_exchange_n(&starting, 1, __ATOMIC_ACQ_REL)) {
        while (__atomic_load_n(&record_running, __ATOMIC_ACQUIRE) == 0)
            ;
        return;
    }
    clock_start();
    stacks_warm_up();
    if (store_open(env_get()->trace, env_get()->trace_limit)) {
        fill_header(store_header());
        define_clocks();
        define_preamble();
        log_start();
        __atomic_store_n(&record_running, 1, __ATOMIC_RELEASE);
        door_report_discovered();
    } else {
        diag_once(DIAG_ERROR, "no memory to record in");
        __atomic_store_n(&record_running, 2, __ATOMIC_RELEASE);
    }
    errno = saved;
}

static struct lock ended_lock;
static struct ptds_count *ended_counts;

static struct ptds_chunk *count_chunk(struct ptds_count *counts)
{
    return (struct ptds_chunk *)((uint8_t *)counts - sizeof(struct ptds_chunk));
}

static void define_thread(const struct thread *thread, enum ptds_life state)
{
    char name[17] = "";
    struct ptds_rec_THREAD record = {.ticks = clock_ticks(), .id = thread->uid, .tid = thread->tid, .state = state};
    if (thread == thread_self)
        prctl(PR_GET_NAME, name);
    define(PTDS_REC_THREAD, &record, sizeof record, name, strlen(name));
}

void record_forget_caches(struct thread *thread)
{
    stacks_forget(thread);
    footprint_kernels_forget_cache(thread);
}

/* By the thread itself alone: a thread that was there before recording began comes here with its first recorded call. */
void record_thread_started(struct thread *thread)
{
    if (!record_on())
        return;
    struct ptds_chunk *chunk = store_chunk(PTDS_CHUNK_COUNTS, thread->uid);
    if (chunk) {
        chunk->committed = API_COUNT * 2 * sizeof(struct ptds_count);
        thread->counts = (struct ptds_count *)(chunk + 1);
        thread->counts_in_chunk = 1;
    } else {
        thread->counts = memory_keep(API_COUNT * 2 * sizeof(struct ptds_count));
    }
    define_thread(thread, PTDS_LIFE_SEEN);
}

/* The counts of ended threads are one chunk's, so that a program which starts a thread a request does not run out of them.
 */
static void fold_counts(struct thread *thread)
{
    lock_take(&ended_lock);
    if (!ended_counts) {
        ended_counts = thread->counts;
        count_chunk(ended_counts)->thread = 0;
    } else {
        const uint64_t *from = (const uint64_t *)thread->counts;
        uint64_t *to = (uint64_t *)ended_counts;
        for (size_t i = 0; i < API_COUNT * 2 * sizeof(struct ptds_count) / sizeof *to; i++)
            to[i] += from[i];
        store_chunk_back(count_chunk(thread->counts));
    }
    lock_drop(&ended_lock);
}

void record_thread_ended(struct thread *thread)
{
    if (!record_on())
        return;
    define_thread(thread, PTDS_LIFE_GONE);
    store_chunk_full(thread->chunk);
    thread->chunk = NULL;
    thread->chunk_at = thread->chunk_end = NULL;
    if (thread->counts && thread->counts_in_chunk)
        fold_counts(thread);
    thread->counts = NULL;
}

static void next_chunk(struct thread *thread)
{
    store_chunk_full(thread->chunk);
    thread->chunk = store_chunk(PTDS_CHUNK_CALLS, thread->uid);
    thread->chunk_at = thread->chunk ? (uint8_t *)(thread->chunk + 1) : NULL;
    thread->chunk_end = thread->chunk ? (uint8_t *)thread->chunk + PTDS_CHUNK_SIZE : NULL;
    if (thread->chunk)
        thread->chunk->lost = thread->lost;
}

static inline void *reserve(struct thread *thread, enum ptds_record_kind kind, size_t size)
{
    if (__builtin_expect((size_t)(thread->chunk_end - thread->chunk_at) < size, 0))
        next_chunk(thread);
    if (__builtin_expect(!thread->chunk, 0)) {
        thread->lost++;
        return NULL;
    }
    struct ptds_record *record = (struct ptds_record *)thread->chunk_at;
    *record = (struct ptds_record){(uint16_t)kind, (uint16_t)size, 0};
    thread->chunk_at += size;
    return record;
}

static inline void commit(struct thread *thread)
{
    __atomic_store_n(&thread->chunk->committed, (uint64_t)(thread->chunk_at - (uint8_t *)(thread->chunk + 1)),
                     __ATOMIC_RELEASE);
}

static inline void count(const struct call *C, uint64_t ticks)
{
    struct ptds_count *count = &C->thread->counts[C->api * 2 + C->twin];
    count->calls++;
    count->failed += C->result != CUDA_SUCCESS && C->result != CUDA_ERROR_NOT_READY;
    count->remapped += (C->flags & PTDS_CALL_REMAPPED) != 0;
    count->ticks += ticks;
}

/* A call that took this long has blocked, or is worth a stack all the same. */
#define WORTH_TICKS 60000u

#define REGIONS (sizeof((struct thread *)0)->regions / sizeof(uint32_t))

static inline uint32_t innermost_region(const struct thread *thread)
{
    uint32_t depth = thread->region_depth < REGIONS ? thread->region_depth : REGIONS;
    return depth ? thread->regions[depth - 1] : 0;
}

void record_call(struct call *C)
{
    struct thread *thread = C->thread;
    uint64_t leave = C->flags & PTDS_CALL_TIMED ? clock_ticks() : 0;
    uint64_t ticks = leave ? leave - C->enter : 0;
    if (__builtin_expect(!thread->counts, 0))
        record_thread_started(thread);
    if (thread->counts)
        count(C, ticks);
    uint32_t stack = stacks_id(C, ticks > WORTH_TICKS);
    struct ptds_rec_CALL *record = reserve(thread, PTDS_REC_CALL, sizeof *record + C->words * sizeof C->word[0]);
    if (__builtin_expect(record != NULL, 1)) {
        record->enter = C->enter;
        record->leave = leave;
        record->api = C->api;
        record->result = (uint16_t)C->result;
        record->flags = C->flags;
        record->op = C->op;
        record->kinds = C->kinds;
        record->streams = 0;
        record->context = C->context ? C->context->uid : 0;
        record->stream = C->stream_uid;
        record->target = C->target_uid;
        record->stack = stack;
        record->object = C->object;
        record->generation = C->generation;
        record->region = innermost_region(thread);
        for (unsigned i = 0; i < C->words; i++)
            record->word[i] = C->word[i];
        commit(thread);
    }
    if (__builtin_expect(log_on(), 0))
        log_call(C, ticks, stack);
}

uint32_t record_stack(struct call *C)
{
    return record_on() ? stacks_id(C, 1) : 0;
}

void record_context(const struct context *context, enum ptds_life state)
{
    if (!record_on())
        return;
    struct ptds_rec_CONTEXT record = {.ticks = clock_ticks(), .handle = (uint64_t)context->handle, .uid = context->uid};
    record.device = context->device;
    record.state = state;
    record.kind = context->kind;
    define(PTDS_REC_CONTEXT, &record, sizeof record, NULL, 0);
}

void record_stream(uint32_t uid, CUstream handle, const struct context *context, uint32_t kind, enum ptds_life state,
                   int priority, uint32_t stack)
{
    if (!record_on())
        return;
    struct ptds_rec_STREAM record = {.ticks = clock_ticks(), .handle = (uint64_t)handle, .uid = uid, .kind = kind};
    record.context = context ? context->uid : 0;
    record.state = state;
    record.priority = priority;
    record.thread = thread_self ? thread_self->uid : 0;
    record.stack = stack;
    define(PTDS_REC_STREAM, &record, sizeof record, NULL, 0);
}

void record_kernel(const struct kernel *kernel, const char *name)
{
    if (!record_on())
        return;
    struct ptds_rec_KERNEL record = {.handle = kernel->handle, .uid = kernel->uid, .params = kernel->params};
    record.name = name ? define_string(PTDS_ROLE_KERNEL, name) : 0;
    size_t layout = kernel->params == UINT32_MAX ? 0 : kernel->params * sizeof kernel->layout[0];
    define(PTDS_REC_KERNEL, &record, sizeof record, kernel->layout, layout);
    log_kernel(kernel->uid, name);
}

void record_untabled(const char *name, int handed_twin, int cuda_version)
{
    struct ptds_rec_UNTABLED record = {.handed = (uint32_t)handed_twin, .version = (uint32_t)cuda_version};
    if (record_on())
        define(PTDS_REC_UNTABLED, &record, sizeof record, name, strlen(name));
}

void record_bypass(enum ptds_bypass what, const char *object)
{
    struct ptds_rec_BYPASS record = {.what = what};
    if (record_on())
        define(PTDS_REC_BYPASS, &record, sizeof record, object, strlen(object));
}

void record_process(enum ptds_process what, uint32_t pid)
{
    struct ptds_rec_PROCESS record = {.ticks = clock_ticks(), .what = what, .pid = pid};
    if (record_on())
        define(PTDS_REC_PROCESS, &record, sizeof record, NULL, 0);
}

static void region(struct thread *thread, uint32_t name)
{
    struct ptds_rec_REGION *record = reserve(thread, PTDS_REC_REGION, sizeof *record);
    if (!record)
        return;
    record->ticks = clock_ticks();
    record->name = name;
    record->unused = 0;
    commit(thread);
}

void record_region_push(struct thread *thread, const char *name)
{
    if (!record_on())
        return;
    uint32_t id = define_string(PTDS_ROLE_REGION, name);
    if (thread->region_depth < REGIONS)
        thread->regions[thread->region_depth] = id;
    thread->region_depth++;
    region(thread, id);
}

void record_region_pop(struct thread *thread)
{
    if (!record_on() || !thread->region_depth)
        return;
    thread->region_depth--;
    region(thread, 0);
}

void record_flush(void)
{
    if (record_on())
        store_flush();
}

void record_after_fork(void)
{
    store_after_fork();
    define_after_fork();
    stacks_after_fork();
    log_after_fork();
    ended_lock.held = 0;
    ended_counts = NULL;
    starting = 0;
    record_running = 0;
}
