/* SPDX-License-Identifier: Apache-2.0
 *
 * The live hazard log. Called by the recorder, and before calls that may block, only while PTDS_LOG is on. Formats into a
 * buffer on the stack and writes with one write(2); must not allocate or call the driver. What it says is what it knows:
 * the last work that other streams were seen to get since they were last waited for. Whether that is still running it
 * cannot tell, and says "may".
 */
#include "interpose/record/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "interpose/base/clock.h"
#include "interpose/base/diag.h"
#include "interpose/base/elf.h"
#include "interpose/base/loaded.h"
#include "interpose/base/lock.h"
#include "interpose/base/output.h"
#include "interpose/env/env.h"
#include "interpose/record/file/path.h"
#include "interpose/state/map.h"

int log_file = -1;
static struct output output = {.file = -1};
static struct output parents = {.file = -1}; /* what the process wrote to that this one was forked from */

#define SHOWN 3u           /* lines a site gets */
#define BLOCKED_NS 100000u /* a call of at least this long counts as having blocked */

static struct clock_reading start;
static struct map sites; /* a kind of line and the call site -> times */
enum kind { BLOCKED, GOES_IN, LEGACY };
static uint64_t suppressed;

/* The last work seen on the streams that had any, newest overwriting oldest: enough to name a culprit. */
#define RECENT 64u
static struct lock recent_lock;
static struct work {
    uint32_t stream, context, thread, kernel;
    uint16_t api;
    uint8_t stream_kind; /* 0 default, else enum ptds_stream_kind */
    uint8_t busy;        /* not known to be waited for since */
} recent[RECENT];
static uint32_t recent_next;

/* Kernel names by uid, cut; a uid past the table has none. */
#define NAMES 4096u
static char *names[NAMES];
static char name_text[256u << 10];
static uint32_t name_used;

void log_kernel(uint32_t uid, const char *name)
{
    if (!log_on() || !name || uid >= NAMES)
        return;
    size_t size = strnlen(name, 120) + 1;
    uint32_t at = __atomic_fetch_add(&name_used, (uint32_t)size, __ATOMIC_RELAXED);
    if (at + size > sizeof name_text)
        return;
    memcpy(name_text + at, name, size - 1);
    __atomic_store_n(&names[uid], name_text + at, __ATOMIC_RELEASE);
}

static const char *kernel_name(uint32_t uid)
{
    const char *name = uid && uid < NAMES ? __atomic_load_n(&names[uid], __ATOMIC_ACQUIRE) : NULL;
    return name ? name : "";
}

/* Cuts what an earlier run has left in the file. Where another process is writing to the file, which its lock tells, this
 * one adds to it. Without locks no other process is assumed. */
static void take_file(void)
{
    int is_parents = parents.file >= 0 && parents.device == output.device && parents.inode == output.inode;
    int is_taken = flock(output.file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!is_parents && !is_taken && ftruncate(output.file, 0) != 0)
        errno = 0; /* no file that has a size */
    (void)flock(output.file, LOCK_SH | LOCK_NB);
}

void log_start(void)
{
    const struct env_output_to *to = &env_get()->log;
    char path[1024];
    start = clock_read();
    if (to->kind == ENV_OUTPUT_STDERR) {
        output = *output_stderr();
    } else if (to->kind == ENV_OUTPUT_FILE) {
        path_expand(to->path, path, sizeof path);
        if (output_open(&output, path, O_APPEND))
            take_file();
        else
            diag_once(DIAG_ERROR, "PTDS_LOG: cannot write ", path, ": ", strerror(errno), "; the log is off");
    }
    log_file = output.file;
}

/* What a program calls its kernels and files could end the line and begin one of ours, or move a terminal's cursor: all but
 * plain characters are shown as \xNN. */
static size_t escape(char *out, size_t room, const char *text, size_t size)
{
    static const char digits[] = "0123456789abcdef";
    size_t used = 0;
    for (size_t i = 0; i < size && used + 4 <= room; i++) {
        uint8_t byte = (uint8_t)text[i];
        if (byte >= ' ' && byte < 0x7f) {
            out[used++] = text[i];
            continue;
        }
        memcpy(out + used, "\\x", 2);
        out[used + 2] = digits[byte >> 4];
        out[used + 3] = digits[byte & 15];
        used += 4;
    }
    return used;
}

__attribute__((format(printf, 2, 3))) static void say(const struct thread *thread, const char *format, ...)
{
    char text[768], line[sizeof text * 2];
    uint64_t ns = clock_nanoseconds(CLOCK_MONOTONIC) - start.monotonic;
    int used =
        snprintf(text, sizeof text, "ptds: +%llu.%06llu s thread %u (tid %u): ", (unsigned long long)(ns / 1000000000u),
                 (unsigned long long)(ns / 1000u % 1000000u), thread ? thread->uid : 0, thread ? thread->tid : 0);
    va_list values;
    va_start(values, format);
    int more = vsnprintf(text + used, sizeof text - (size_t)used, format, values);
    va_end(values);
    if (more > 0)
        used += more < (int)sizeof text - used ? more : (int)sizeof text - used - 1;
    size_t size = escape(line, sizeof line - 1, text, (size_t)used);
    line[size++] = '\n';
    output_write(&output, line, size);
}

/* "libfoo.so+0x41a0", the place that called. */
static void site(const struct call *C, char *out, size_t size)
{
    struct elf_object object;
    const char *file = "?";
    uintptr_t offset = (uintptr_t)C->caller;
    if (loaded_containing(C->caller, &object)) {
        const char *slash = strrchr(object.path, '/');
        file = *object.path ? (slash ? slash + 1 : object.path) : "program";
        offset -= object.bias;
    }
    snprintf(out, size, "%s+0x%zx", file, (size_t)offset);
}

/* How often this site has had this kind of line, this one included. */
static uint64_t seen(uint64_t key)
{
    uint64_t times = map_add(&sites, key, 1);
    if (times)
        return times;
    map_set(&sites, key, 1);
    return 1;
}

static int show(const struct call *C, enum kind kind)
{
    if (seen((uint64_t)C->caller * 4 + kind) <= SHOWN)
        return 1;
    __atomic_add_fetch(&suppressed, 1, __ATOMIC_RELAXED);
    return 0;
}

static const char *stream_words(const struct work *work, char *out, size_t size)
{
    if (work->stream_kind == 0)
        snprintf(out, size, "a default stream");
    else
        snprintf(out, size, "%s stream #%u", work->stream_kind == PTDS_STREAM_NON_BLOCKING ? "non-blocking" : "blocking",
                 work->stream);
    return out;
}

/* Work that the call may wait for: on another stream of its context, not waited for since. The legacy stream and calls for
 * the whole context mind every stream but, the former, non-blocking ones. */
static int culprit(const struct call *C, int whole_context, struct work *out)
{
    int found = 0;
    uint32_t context = C->context ? C->context->uid : 0;
    lock_take(&recent_lock);
    for (uint32_t i = 0; i < RECENT && !found; i++) {
        const struct work *work = &recent[(recent_next - 1 - i) % RECENT];
        if (!work->busy || (context && work->context != context))
            continue;
        if (!whole_context && (work->stream == C->target_uid || work->stream_kind == PTDS_STREAM_NON_BLOCKING))
            continue;
        *out = *work;
        found = 1;
    }
    lock_drop(&recent_lock);
    return found;
}

static void describe(const struct work *work, char *out, size_t size)
{
    char stream[64];
    const char *name = kernel_name(work->kernel);
    snprintf(out, size, "%s%s on %s from thread %u", *name ? "kernel " : api_rows[work->api].symbol, name,
             stream_words(work, stream, sizeof stream), work->thread);
}

static int waits_for_context(uint8_t op)
{
    switch (op) {
    case PTDS_OP_CTX_SYNC:
    case PTDS_OP_FREE:
    case PTDS_OP_FREE_HOST:
    case PTDS_OP_UNREGISTER:
    case PTDS_OP_ARRAY_DESTROY:
    case PTDS_OP_MODULE_LOAD:
    case PTDS_OP_MODULE_UNLOAD:
    case PTDS_OP_CTX_LIMIT: return 1;
    default: return 0;
    }
}

static int is_stream_work(const struct call *C)
{
    return (C->op >= PTDS_OP_LAUNCH && C->op <= PTDS_OP_OPAQUE) && C->target_uid != 0;
}

static void remember_work(const struct call *C)
{
    struct work work = {.stream = C->target_uid, .context = C->context ? C->context->uid : 0, .thread = C->thread->uid};
    work.kernel = C->op == PTDS_OP_LAUNCH ? C->object : 0;
    work.api = C->api;
    work.stream_kind = C->stream ? (uint8_t)C->stream->kind : 0;
    work.busy = 1;
    lock_take(&recent_lock);
    recent[recent_next++ % RECENT] = work;
    lock_drop(&recent_lock);
}

static void forget_work(const struct call *C)
{
    int all = waits_for_context(C->op);
    lock_take(&recent_lock);
    for (uint32_t i = 0; i < RECENT; i++) {
        int legacy = (C->flags & PTDS_CALL_LEGACY) && !(C->flags & PTDS_CALL_REMAPPED) &&
                     recent[i].stream_kind != PTDS_STREAM_NON_BLOCKING;
        if (recent[i].stream == C->target_uid || legacy || (all && C->context && recent[i].context == C->context->uid))
            recent[i].busy = 0;
    }
    lock_drop(&recent_lock);
}

void log_entering(struct call *C)
{
    char what[256], where[256];
    struct work work;
    int whole = waits_for_context(C->op);
    if (!whole && !(C->flags & PTDS_CALL_LEGACY) && C->op != PTDS_OP_STREAM_SYNC)
        return;
    if (!culprit(C, whole || C->op == PTDS_OP_STREAM_SYNC, &work) || !show(C, GOES_IN))
        return;
    describe(&work, what, sizeof what);
    site(C, where, sizeof where);
    say(C->thread, "%s goes in at %s; it may wait for %s", api_rows[C->api].symbol, where, what);
}

static uint64_t to_ns(uint64_t ticks)
{
    struct clock_reading now = clock_read();
    uint64_t ns = now.monotonic - start.monotonic, all = now.ticks - start.ticks;
    return clock_source == PTDS_CLOCK_MONOTONIC || all == 0 ? ticks : (uint64_t)((unsigned __int128)ticks * ns / all);
}

static void size_words(const struct call *C, char *out, size_t size)
{
    out[0] = '\0';
    if (C->op == PTDS_OP_COPY)
        snprintf(out, size, " of %llu bytes", (unsigned long long)(C->word[2] * C->word[3]));
    else if (C->op == PTDS_OP_MEMSET)
        snprintf(out, size, " of %llu bytes", (unsigned long long)(C->word[1] * C->word[2]));
}

static void log_blocked(const struct call *C, uint64_t ns)
{
    char where[256], bytes[64], what[256] = "nothing that the shim has seen";
    struct work work;
    if (!show(C, BLOCKED))
        return;
    if (culprit(C, 1, &work))
        describe(&work, what, sizeof what);
    site(C, where, sizeof where);
    size_words(C, bytes, sizeof bytes);
    const char *target = C->flags & PTDS_CALL_REMAPPED ? "its new stream"
                         : C->flags & PTDS_CALL_LEGACY ? "the legacy stream"
                                                       : "its stream";
    if (waits_for_context(C->op))
        target = "the whole context";
    uint64_t us = (ns + 500) / 1000;
    say(C->thread, "%s%s blocked the host for %llu.%03u ms at %s, on %s; last seen pending: %s", api_rows[C->api].symbol,
        bytes, (unsigned long long)(us / 1000), (unsigned)(us % 1000), where, target, what);
}

static void log_barrier(const struct call *C)
{
    char where[256], what[256];
    struct work work;
    if (!culprit(C, 0, &work) || !show(C, LEGACY))
        return;
    describe(&work, what, sizeof what);
    site(C, where, sizeof where);
    const char *name = C->op == PTDS_OP_LAUNCH ? kernel_name(C->object) : "";
    say(C->thread, "%s%s%s at %s is on the legacy stream and may wait for %s", api_rows[C->api].symbol, *name ? " " : "",
        name, where, what);
}

void log_call(const struct call *C, uint64_t ticks, uint32_t stack)
{
    (void)stack;
    uint64_t ns = ticks ? to_ns(ticks) : 0;
    if (ns >= BLOCKED_NS && C->op != PTDS_OP_NONE && C->op != PTDS_OP_CTX_CREATE)
        log_blocked(C, ns);
    else if ((C->flags & PTDS_CALL_LEGACY) && !(C->flags & PTDS_CALL_REMAPPED) && is_stream_work(C))
        log_barrier(C);
    if (C->result != CUDA_SUCCESS)
        return;
    if (is_stream_work(C))
        remember_work(C);
    if ((C->op == PTDS_OP_STREAM_SYNC || C->op == PTDS_OP_STREAM_QUERY || waits_for_context(C->op)))
        forget_work(C);
}

void log_finish(void)
{
    if (log_on() && suppressed)
        say(thread_self, "%llu further lines of sites already shown", (unsigned long long)suppressed);
}

void log_after_fork(void)
{
    recent_lock.held = 0;
    memset(recent, 0, sizeof recent);
    map_reset(&sites);
    suppressed = 0;
    if (log_file > STDERR_FILENO) {
        parents = output;
        output_close(&output);
    }
    log_file = output.file = -1;
}
