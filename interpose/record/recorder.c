/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes CALL records and exact counts. record_call() runs after every recorded call: it must not lock, allocate or format
 * there; a new chunk, a new stack, a new name and a context seen for the first time are its only slow ways out.
 */
#include "interpose/record/record.h"

#include <string.h>

#include "interpose/base/clock.h"
#include "interpose/record/append.h"
#include "interpose/record/definitions.h"
#include "interpose/record/devicetimes.h"
#include "interpose/record/log.h"
#include "interpose/record/rescue.h"
#include "interpose/record/stacks.h"
#include "interpose/record/store.h"
#include "interpose/state/capture.h"
#include "interpose/state/hooks.h"

static void stream_seen(struct call *C, uint32_t uid, CUstream handle, const struct context *context, uint32_t kind,
                        enum ptds_life life, int priority)
{
    record_stream(uid, handle, context, kind, life, priority, C ? record_stack(C) : 0);
}

void record_listen(void)
{
    state_hooks.context_seen = record_context;
    state_hooks.stream_seen = stream_seen;
    state_hooks.thread_began = record_thread_started;
    state_hooks.thread_ended = record_thread_ended;
}

void record_forget_caches(struct thread *thread)
{
    stacks_forget(thread);
}

static int lose_record(struct thread *thread)
{
    thread->lost++;
    store_refused();
    return 0;
}

int append_next_chunk(struct thread *thread)
{
    if (!thread->chunk && store_is_out())
        return lose_record(thread);
    store_chunk_full(thread->chunk);
    define_clocks_if_due();
    thread->chunk = thread->ahead ? thread->ahead : rescue_chunk(PTDS_CHUNK_CALLS, thread->uid);
    thread->ahead = NULL;
    thread->chunk_at = thread->chunk ? (uint8_t *)(thread->chunk + 1) : NULL;
    thread->chunk_end = thread->chunk ? (uint8_t *)thread->chunk + PTDS_CHUNK_SIZE : NULL;
    if (!thread->chunk)
        return lose_record(thread);
    thread->chunk->lost = thread->lost;
    thread->chunk->ordinal = ++thread->chunks;
    thread->chunk->holds = thread->allocates;
    thread->allocates = 0;
    return 1;
}

/* Not for threads that hardly record. */
#define WORTH_ANOTHER (PTDS_CHUNK_SIZE / 4)

int append_chunk_ahead(struct thread *thread)
{
    if (thread->ahead || !thread->chunk || thread->chunk_at - (uint8_t *)thread->chunk < WORTH_ANOTHER)
        return 0;
    thread->ahead = store_chunk_ahead(thread->uid);
    return thread->ahead != NULL;
}

/* Work, event records and waits: what a default stream has of operations. */
static inline int is_operation(const struct call *C)
{
    return C->op >= PTDS_OP_LAUNCH && C->op <= PTDS_OP_OPAQUE;
}

static inline void count(const struct call *C, int failed)
{
    size_t at = C->api * 2u + C->twin;
    struct ptds_count *count = &C->thread->counts[at];
    int remapped = (C->flags & PTDS_CALL_REMAPPED) != 0;
    count->calls++;
    if (remapped)
        count->remapped++;
    if (failed)
        count->failed += C->result != CUDA_ERROR_NOT_READY;
    if (C->flags & PTDS_CALL_LEGACY && is_operation(C)) {
        struct ptds_default_count *on_default = C->thread->defaults;
        on_default->legacy++;
        if (failed)
            on_default->failed++;
        else if (!remapped)
            on_default->kept++;
    }
}

/* A call that took this long has blocked, or is worth a stack all the same. */
#define WORTH_TICKS 60000u

/* The trace's numbers are the shim's own. */
#define X(name, words) _Static_assert((int)PTDS_OPAQUE_##name == (int)OPAQUE_##name, "a reason has one number");
OPAQUE_REASONS(X)
#undef X

static inline void copy_words(struct ptds_rec_CALL *record, const struct call *C, unsigned words)
{
    unsigned i = words & 1;
    if (i)
        record->word[0] = C->word[0];
    for (; i < words; i += 2)
        memcpy(&record->word[i], &C->word[i], 2 * sizeof record->word[0]);
}

static inline size_t record_size(const struct call *C)
{
    return sizeof(struct ptds_rec_CALL) + C->words * sizeof C->word[0];
}

static inline void write_record(struct ptds_rec_CALL *record, const struct call *C, uint64_t leave, uint32_t stack)
{
    record->enter = C->enter;
    record->leave = leave;
    record->api = C->api;
    record->result = (uint16_t)C->result;
    record->flags =
        C->flags | (uint32_t)C->touched.opaque << PTDS_CALL_WHY_SHIFT | (C->touched.host ? PTDS_CALL_HOST_MEMORY : 0);
    record->op = C->op;
    record->kinds = C->kinds;
    record->streams = C->edges;
    record->context = C->context ? C->context->uid : 0;
    record->stream = C->stream_uid;
    record->target = C->target_uid;
    record->stack = stack;
    record->object = C->object;
    record->generation = C->generation;
    record->region = C->thread->region;
    copy_words(record, C, C->words);
    append_commit(C->thread);
}

/* A call with two readings of the clock may have blocked, and then its stack is worth having. */
static __attribute__((noinline)) void record_any(struct call *C)
{
    struct thread *thread = C->thread;
    uint64_t leave = C->flags & PTDS_CALL_TIMED ? clock_ticks() : 0, ticks = leave ? leave - C->enter : 0;
    if (!C->context)
        C->context = objects_context_now(thread);
    if (capture_any())
        C->flags |= PTDS_CALL_CAPTURE_OPEN;
    if (leave && thread->now)
        __atomic_store_n(&thread->now->enter, 0, __ATOMIC_RELEASE);
    if (!thread->counts)
        record_thread_started(thread);
    if (thread->counts) {
        count(C, C->result != CUDA_SUCCESS);
        thread->counts[C->api * 2u + C->twin].ticks += ticks;
    }
    uint32_t stack = C->stack && ticks <= WORTH_TICKS ? C->stack : stacks_id(C, ticks > WORTH_TICKS);
    struct ptds_rec_CALL *record = append_reserve(thread, PTDS_REC_CALL, record_size(C));
    if (record)
        write_record(record, C, leave, stack);
    if (log_on())
        log_call(C, ticks, stack);
}

/* Most calls: nothing that the record needs is missing, and no function is called, so no register is saved for one. */
void record_call(struct call *C)
{
    const struct thread *thread = C->thread;
    if (__builtin_expect(!record_on(), 0))
        return;
    if (__builtin_expect(C->flags & PTDS_CALL_TIMED || C->result != CUDA_SUCCESS || !C->context || !thread->counts ||
                             capture_any() || log_on(),
                         0)) {
        record_any(C);
        return;
    }
    uint32_t stack = stacks_usual(thread, C->caller, C->frame);
    if (__builtin_expect(!stack || !append_has_room(thread, record_size(C)), 0)) {
        record_any(C);
        return;
    }
    count(C, 0);
    write_record(append_here(C->thread, PTDS_REC_CALL, record_size(C)), C, 0, stack);
}

void record_edge(struct call *C, uint32_t waits, uint32_t behind, uint64_t until)
{
    C->flags |= PTDS_CALL_SHIM_EDGE;
    if (!C->enter || !record_on())
        return;
    struct ptds_rec_EDGE *record = append_reserve(C->thread, PTDS_REC_EDGE, sizeof *record);
    if (!record)
        return;
    record->waits = waits;
    record->behind = behind;
    record->until = until;
    append_commit(C->thread);
    C->edges += C->edges < UINT16_MAX;
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
    if (state != PTDS_LIFE_GONE)
        record_device(context->device);
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

void record_kernel(uint64_t handle, uint32_t uid, uint32_t params, const uint32_t *layout, uint32_t variables,
                   const char *name)
{
    if (!record_on())
        return;
    struct ptds_rec_KERNEL record = {.handle = handle, .uid = uid, .params = params, .variables = variables};
    record.name = name ? define_string(PTDS_ROLE_KERNEL, name) : 0;
    define(PTDS_REC_KERNEL, &record, sizeof record, layout, params == UINT32_MAX ? 0 : params * sizeof layout[0]);
    log_kernel(uid, name);
}

void record_untabled(const char *name, int handed, int cuda_version, uint32_t calls)
{
    struct ptds_rec_UNTABLED record = {.handed = (uint32_t)handed, .version = (uint32_t)cuda_version, .calls = calls};
    if (record_on())
        define(PTDS_REC_UNTABLED, &record, sizeof record, name, strlen(name));
}

void record_bypass(enum ptds_bypass what, const char *object, uint32_t functions)
{
    struct ptds_rec_BYPASS record = {.what = what, .functions = functions};
    if (record_on())
        define(PTDS_REC_BYPASS, &record, sizeof record, object, strlen(object));
}

void record_process(enum ptds_process what, uint32_t pid)
{
    struct ptds_rec_PROCESS record = {.ticks = clock_ticks(), .what = what, .pid = pid};
    if (record_on())
        define(PTDS_REC_PROCESS, &record, sizeof record, NULL, 0);
}

/* The child's pid is not known to libc's fork handlers; its own trace names its parent. */
void record_fork(void)
{
    if (record_on())
        define_fork();
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
    device_times_after_fork();
    record_threads_after_fork();
    record_devices_after_fork();
    record_start_after_fork();
}
