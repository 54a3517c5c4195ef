/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes CALL records and exact counts. recorder_call() runs after every recorded call: it must not lock, allocate or
 * format there; a new chunk, a new stack, a new name and a context seen for the first time are its only slow ways out.
 */
#include "interpose/record/recorder.h"

#include <string.h>

#include "interpose/base/clock.h"
#include "interpose/record/append.h"
#include "interpose/record/device/device_facts.h"
#include "interpose/record/device/device_times.h"
#include "interpose/record/file/define.h"
#include "interpose/record/file/store.h"
#include "interpose/record/log.h"
#include "interpose/record/stacks/stacks.h"
#include "interpose/record/start.h"
#include "interpose/record/threads.h"
#include "interpose/state/capture.h"
#include "interpose/state/contexts.h"
#include "interpose/state/hooks.h"

uint32_t recorder_running, recorder_pid;
void (*recorder_started)(void);
void (*recorder_ending)(void);

static void stream_seen(struct call *C, uint32_t uid, CUstream handle, const struct context *context, uint32_t kind,
                        enum ptds_life life, int priority)
{
    recorder_stream(uid, handle, context, kind, life, priority, C ? recorder_stack(C) : 0);
}

void recorder_listen(void)
{
    state_hooks.context_seen = recorder_context;
    state_hooks.stream_seen = stream_seen;
    state_hooks.thread_began = threads_started;
    state_hooks.thread_ended = threads_ended;
}

void recorder_forget_caches(struct thread *thread)
{
    stacks_forget(thread);
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
        C->context = contexts_now(thread);
    if (capture_any())
        C->flags |= PTDS_CALL_CAPTURE_OPEN;
    if (leave && thread->now)
        __atomic_store_n(&thread->now->enter, 0, __ATOMIC_RELEASE);
    if (!thread->counts)
        threads_started(thread);
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
void recorder_call(struct call *C)
{
    const struct thread *thread = C->thread;
    if (__builtin_expect(!recorder_on(), 0))
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

void recorder_edge(struct call *C, uint32_t waits, uint32_t behind, uint64_t until, enum ptds_edge_why why)
{
    C->flags |= PTDS_CALL_SHIM_EDGE;
    if (!C->enter || !recorder_on())
        return;
    struct ptds_rec_EDGE *record = append_reserve(C->thread, PTDS_REC_EDGE, sizeof *record);
    if (!record)
        return;
    record->waits = waits;
    record->behind = behind;
    record->until = until;
    record->why = why;
    record->unused = 0;
    append_commit(C->thread);
    C->edges += C->edges < UINT16_MAX;
}

uint32_t recorder_stack(struct call *C)
{
    return recorder_on() ? stacks_id(C, 1) : 0;
}

void recorder_context(const struct context *context, enum ptds_life state)
{
    if (!recorder_on())
        return;
    struct ptds_rec_CONTEXT record = {.ticks = clock_ticks(), .handle = (uint64_t)context->handle, .uid = context->uid};
    record.device = context->device;
    record.state = state;
    record.kind = context->kind;
    define(PTDS_REC_CONTEXT, &record, sizeof record, NULL, 0);
    if (state != PTDS_LIFE_GONE)
        device_facts_record(context->device);
}

void recorder_stream(uint32_t uid, CUstream handle, const struct context *context, uint32_t kind, enum ptds_life state,
                     int priority, uint32_t stack)
{
    if (!recorder_on())
        return;
    struct ptds_rec_STREAM record = {.ticks = clock_ticks(), .handle = (uint64_t)handle, .uid = uid, .kind = kind};
    record.context = context ? context->uid : 0;
    record.state = state;
    record.priority = priority;
    record.thread = thread_self ? thread_self->uid : 0;
    record.stack = stack;
    define(PTDS_REC_STREAM, &record, sizeof record, NULL, 0);
}

void recorder_kernel(uint64_t handle, uint32_t uid, uint32_t params, const uint32_t *layout, uint32_t variables,
                     const char *name)
{
    if (!recorder_on())
        return;
    struct ptds_rec_KERNEL record = {.handle = handle, .uid = uid, .params = params, .variables = variables};
    record.name = name ? define_string(PTDS_ROLE_KERNEL, name) : 0;
    define(PTDS_REC_KERNEL, &record, sizeof record, layout, params == UINT32_MAX ? 0 : params * sizeof layout[0]);
    log_kernel(uid, name);
}

void recorder_untabled(const char *name, int handed, int cuda_version, uint32_t calls)
{
    struct ptds_rec_UNTABLED record = {.handed = (uint32_t)handed, .version = (uint32_t)cuda_version, .calls = calls};
    if (recorder_on())
        define(PTDS_REC_UNTABLED, &record, sizeof record, name, strlen(name));
}

void recorder_bypass(enum ptds_bypass what, const char *object, uint32_t functions)
{
    struct ptds_rec_BYPASS record = {.what = what, .functions = functions};
    if (recorder_on())
        define(PTDS_REC_BYPASS, &record, sizeof record, object, strlen(object));
}

void recorder_process(enum ptds_process what, uint32_t pid)
{
    struct ptds_rec_PROCESS record = {.ticks = clock_ticks(), .what = what, .pid = pid};
    if (recorder_on())
        define(PTDS_REC_PROCESS, &record, sizeof record, NULL, 0);
}

/* The child's pid is not known to libc's fork handlers; its own trace names its parent. */
void recorder_fork(void)
{
    if (recorder_on())
        define_fork();
}

void recorder_flush(void)
{
    if (recorder_on())
        store_flush();
}

void recorder_after_fork(void)
{
    store_after_fork();
    define_after_fork();
    stacks_after_fork();
    log_after_fork();
    device_times_after_fork();
    threads_after_fork();
    device_facts_after_fork();
    start_after_fork();
}
