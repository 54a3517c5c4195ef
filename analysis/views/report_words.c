/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and sentences that all writers of a report share. Called by report_text.c, report_summary.c and the JSON writer;
 * must not decide anything, only say it. All texts from the trace were cleaned when it was read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/views/report_words.h"

#include "analysis/base/line.h"
#include "analysis/findings/caller.h"
#include "analysis/trace/frames.h"
#include "analysis/views/gap_words.h"
#include "analysis/views/python_words.h"

const char *const report_kept_names[KEPT_REASONS] = {
    "by the policy",  "a capture was open", "the function refuses the default stream",
    "excluded",       "no other way",       "explicit CU_STREAM_LEGACY",
    "record dropped",
};

const char *const report_stream_kinds[STREAM_KINDS] = {"unknown",      "legacy",        "per-thread",       "blocking",
                                                       "non-blocking", "shim-blocking", "shim-non-blocking"};

const char *const fold_words[FOLDS] = {
    [FOLD_SHOWN] = "",
    [FOLD_FLOOR] = "below the floor",
    [FOLD_NO_COST] = "a note without a known cost",
    [FOLD_ONCE] = "happened once",
    [FOLD_NO_GAIN] = "the default stream costs too little",
    [FOLD_NEEDED] = "results need the order",
    [FOLD_SAME] = "as above",
    [FOLD_TIMED] = "results may need the order",
    [FOLD_LIBRARY] = "inside a library, which you cannot change",
};

const char *report_words_stream_name(uint32_t kind)
{
    return kind == PTDS_STREAM_SHIM_BLOCKING       ? "for moved work"
           : kind == PTDS_STREAM_SHIM_NON_BLOCKING ? "for moved work (non-blocking)"
                                                   : report_words_stream_kind(kind);
}

const char *report_words_stream_kind(uint32_t kind)
{
    return kind < STREAM_KINDS ? report_stream_kinds[kind] : report_stream_kinds[PTDS_STREAM_UNKNOWN];
}

const char *report_words_policy(const struct report *report)
{
    const char *policy = definitions_setting(&report->trace.defs, "policy");
    return policy != NULL ? policy : "unknown";
}

bool report_words_names_trusted(const struct report *report)
{
    const char *trust = definitions_setting(&report->trace.defs, "PTDS_TRUST");
    return trust != NULL && strcmp(trust, "names") == 0;
}

const char *report_words_trust(const struct report *report)
{
    return report_words_names_trusted(report) ? ", names trusted" : "";
}

struct small_text report_words_host_time(const struct report *report)
{
    struct small_text none = {"none"}, unknown = {"unknown"};
    if (report->totals.costed != 0)
        return text_ns(report->totals.host_ns);
    return report->findings.count == 0 && trace_has_time(&report->trace) ? none : unknown;
}

const char *report_words_gpu_time(const struct report_totals *totals)
{
    return totals->gpu_timed == 0 ? "GPU time is not recorded" : "GPU time is not counted";
}

struct line report_words_gpu_busy(const struct report_totals *totals)
{
    struct line line = {0};
    if (totals->gpu_span_ns == 0)
        line_add(&line, "%s", report_words_gpu_time(totals));
    else
        line_add(&line, "GPU%s busy %s%s of %s", totals->gpus > 1 ? "s" : "",
                 totals->gpu_timed < totals->gpu_operations ? "at least " : "",
                 totals->gpu_busy_ns < totals->gpu_span_ns / 100
                     ? text_ns(totals->gpu_busy_ns).text /* "at least under 1 %" says nothing */
                     : text_share(totals->gpu_busy_ns, totals->gpu_span_ns).text,
                 text_ns(totals->gpu_span_ns).text);
    return line;
}

struct line report_words_gpu_times(const struct report_totals *totals)
{
    struct line line = {0};
    if (totals->gpu_timed == 0)
        line_add(&line, "%s", report_words_gpu_time(totals));
    else
        line_add(&line, "GPU times of %s of %s operations are recorded", text_count(totals->gpu_timed).text,
                 text_count(totals->gpu_operations).text);
    return line;
}

struct small_text report_words_times(uint64_t calls)
{
    struct small_text out = {""};
    if (calls != 0)
        snprintf(out.text, sizeof out.text, "%.30sx", text_count(calls).text);
    return out;
}

const char *report_words_api(const struct report *report, const struct finding *finding)
{
    return finding->has_api ? definitions_api_name(&report->trace.defs, finding->api) : "";
}

const char *report_words_access(enum access access)
{
    return access == ACCESS_WRITE ? "writes" : access == ACCESS_READ ? "reads" : "uses";
}

struct line report_words_accessor(const struct report *report, const struct edge_end *end, enum access access, int columns)
{
    struct line line = {0}, kernel = {0};
    char text[300];
    if (end->object != 0) {
        report_words_id(report, FINDING_KERNELS, end->object, text, sizeof text);
        kernel = text_function(text);
    }
    line_add(&line, "%.*s", columns, end->object != 0 ? kernel.text : definitions_api_name(&report->trace.defs, end->api));
    if (access != ACCESS_NONE)
        line_add(&line, " %s", report_words_access(access));
    return line;
}

bool report_words_has_address(const struct edge_pair *pair)
{
    return pair->address != 0 && pair->address >> 48 == 0;
}

struct line report_words_memory(const struct edge_pair *pair)
{
    struct line line = {0};
    if (report_words_has_address(pair))
        line_add(&line, "0x%" PRIx64, pair->address);
    else if (pair->allocation != 0)
        line_add(&line, "memory #%u", pair->allocation);
    else
        line_add(&line, "unseen memory");
    return line;
}

void report_words_frame(const struct report *report, struct site_namer *namer, uint64_t pc, char *out, size_t room)
{
    const struct object_def *object = frames_object_at(&report->trace.defs, pc);
    char symbol[240];
    bool named = namer_name(namer, &report->trace.defs, pc, symbol, sizeof symbol);
    if (object == NULL) {
        if (named && definitions_source(&report->trace.defs, pc) != NULL)
            snprintf(out, room, "%s", symbol);
        else if (named)
            snprintf(out, room, "0x%" PRIx64 " %s", pc, symbol);
        else
            snprintf(out, room, "0x%" PRIx64, pc);
        return;
    }
    const char *path = object->text != NULL ? text_base(object->text) : "?";
    if (named)
        snprintf(out, room, "%.80s+0x%" PRIx64 " %s", path, pc - object->bias, symbol);
    else
        snprintf(out, room, "%.80s+0x%" PRIx64, path, pc - object->bias);
}

bool report_words_site(const struct report *report, struct site_namer *namer, uint32_t stack, char *out, size_t room)
{
    const struct stack_def *frames = stack != 0 ? definitions_stack(&report->trace.defs, stack) : NULL;
    if (frames == NULL || frames->count == 0)
        return false;
    report_words_frame(report, namer, frames->pc[caller_frame(&report->trace.defs, namer, frames)], out, room);
    return true;
}

static void stream_name(const struct report *report, uint32_t uid, char *out, size_t room)
{
    const struct stream_def *stream = definitions_stream(&report->trace.defs, uid);
    if (stream == NULL)
        snprintf(out, room, "stream %u", uid);
    else if (stream->kind == PTDS_STREAM_LEGACY)
        snprintf(out, room, "legacy stream");
    else if (stream->kind == PTDS_STREAM_PER_THREAD)
        snprintf(out, room, "stream %u (per-thread, of thread %u)", uid, stream->thread);
    else if (stream->kind == PTDS_STREAM_SHIM_BLOCKING || stream->kind == PTDS_STREAM_SHIM_NON_BLOCKING)
        snprintf(out, room, "moved stream %u", uid);
    else
        snprintf(out, room, "stream %u (%s)", uid, report_words_stream_kind(stream->kind));
}

static void kernel_name(const struct report *report, uint32_t uid, char *out, size_t room)
{
    const struct kernel_def *kernel = definitions_kernel(&report->trace.defs, uid);
    const char *name = kernel != NULL ? definitions_string(&report->trace.defs, kernel->name) : NULL;
    if (name == NULL || name[0] == 0)
        snprintf(out, room, "kernel #%u", uid);
    else if (strlen(name) > 1000)
        snprintf(out, room, "%s", name);
    else
        text_demangle(out, room, name);
}

/* Threads that nobody named have the program's name, at most 15 bytes of it, which tells nothing. */
static bool has_own_name(const struct report *report, const struct thread_def *thread)
{
    enum { NAME_BYTES = 15 };
    const char *text = thread->text;
    return text != NULL && text[0] != 0 && strncmp(text, text_base(report->trace.header.program), NAME_BYTES) != 0;
}

void report_words_id(const struct report *report, enum finding_set set, uint32_t id, char *out, size_t room)
{
    bool is_thread = set == FINDING_THREADS || set == FINDING_HELD;
    const struct thread_def *thread = is_thread ? definitions_thread(&report->trace.defs, id) : NULL;
    if (set == FINDING_STREAMS || set == FINDING_WAITS_FOR)
        stream_name(report, id, out, room);
    else if (set == FINDING_KERNELS || set == FINDING_WAITS_FOR_KERNELS)
        kernel_name(report, id, out, room);
    else if (thread != NULL && has_own_name(report, thread))
        snprintf(out, room, "%u (%s)", id, thread->text);
    else
        snprintf(out, room, "%u", id);
}

void report_words_thread(const struct report *report, uint32_t uid, char *out, size_t room)
{
    const struct thread_def *thread = definitions_thread(&report->trace.defs, uid);
    const char *program = text_base(report->trace.header.program);
    const char *name = thread != NULL && has_own_name(report, thread) ? thread->text : program[0] != 0 ? program : "thread";
    snprintf(out, room, "%.*s %u", room > 16 ? (int)room - 16 : 0, name, uid);
}

static void add_to_banner(struct line *line, const struct finding *finding, const char *what)
{
    if (finding->rule->banner && finding->severity != SEVERITY_NOTE && (line->used == 0 || !strstr(line->text, what)))
        line_add(line, "%s%.60s", line->used == 0 ? "all of this run is changed by " : ", ", what);
}

/* Settings come first: they change every call, and the line may be cut. */
struct line report_words_banner(const struct report *report)
{
    struct line line = {0};
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.items[i]->text != NULL)
            add_to_banner(&line, report->findings.items[i], report->findings.items[i]->text);
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.items[i]->text == NULL)
            add_to_banner(&line, report->findings.items[i], report_words_api(report, report->findings.items[i]));
    return line;
}

const char *report_words_touch_everything(unsigned why)
{
    static const char *const words[PTDS_OPAQUE_REASONS] = {
        [PTDS_OPAQUE_NO] = "",
        [PTDS_OPAQUE_HOST_FUNCTION] = "host function",
        [PTDS_OPAQUE_WAITS_FOR_VALUE] = "wait for a value",
        [PTDS_OPAQUE_SEMAPHORE] = "external semaphore",
        [PTDS_OPAQUE_GRAPH] = "graph with unseen nodes",
        [PTDS_OPAQUE_PARAMETERS] = "kernel with unknown parameters",
        [PTDS_OPAQUE_POINTERS] = "unseen pointers in device memory",
        [PTDS_OPAQUE_TEXTURE] = "unseen texture or surface",
        [PTDS_OPAQUE_MANY] = "more memories than are kept",
        [PTDS_OPAQUE_OTHER] = "call that does not name its memory",
        [PTDS_OPAQUE_EVENT] = "graph with events",
        [PTDS_OPAQUE_CODE] = "kernel with unread code",
        [PTDS_OPAQUE_BASE] = "pointer to unknown memory",
        [PTDS_OPAQUE_HEAP] = "kernel with device heap",
    };
    return words[why];
}
