/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and sentences that all writers of a report share. Called by report_text.c, summary.c and the JSON writer; must not
 * decide anything, only say it. All texts from the trace were cleaned when it was read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/views/words.h"

#include "analysis/findings/caller.h"
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

const char *report_stream_kind(uint32_t kind)
{
    return kind < STREAM_KINDS ? report_stream_kinds[kind] : report_stream_kinds[PTDS_STREAM_UNKNOWN];
}

const char *report_policy(const struct report *report)
{
    const char *policy = definitions_setting(&report->trace.defs, "policy");
    return policy != NULL ? policy : "unknown";
}

bool report_names_trusted(const struct report *report)
{
    const char *trust = definitions_setting(&report->trace.defs, "PTDS_TRUST");
    return trust != NULL && strcmp(trust, "names") == 0;
}

const char *report_trust(const struct report *report)
{
    return report_names_trusted(report) ? ", names trusted" : "";
}

struct small_text report_host_time(const struct report *report)
{
    struct small_text none = {"none"}, unknown = {"unknown"};
    if (report->totals.costed != 0)
        return text_ns(report->totals.host_ns);
    return report->findings.count == 0 && trace_has_time(&report->trace) ? none : unknown;
}

const char *report_gpu_time(const struct report_totals *totals)
{
    return totals->gpu_timed == 0 ? "GPU time is not recorded" : "GPU time is not counted";
}

struct line report_gpu_busy(const struct report_totals *totals)
{
    struct line line = {0};
    if (totals->gpu_span_ns == 0)
        line_add(&line, "%s", report_gpu_time(totals));
    else
        line_add(&line, "GPU%s busy %s%s of %s", totals->gpus > 1 ? "s" : "",
                 totals->gpu_timed < totals->gpu_operations ? "at least " : "",
                 totals->gpu_busy_ns < totals->gpu_span_ns / 100
                     ? text_ns(totals->gpu_busy_ns).text /* "at least under 1 %" says nothing */
                     : text_share(totals->gpu_busy_ns, totals->gpu_span_ns).text,
                 text_ns(totals->gpu_span_ns).text);
    return line;
}

struct line report_gpu_times(const struct report_totals *totals)
{
    struct line line = {0};
    if (totals->gpu_timed == 0)
        line_add(&line, "%s", report_gpu_time(totals));
    else
        line_add(&line, "GPU times of %s of %s operations are recorded", text_count(totals->gpu_timed).text,
                 text_count(totals->gpu_operations).text);
    return line;
}

struct small_text report_times(uint64_t calls)
{
    struct small_text out = {""};
    if (calls != 0)
        snprintf(out.text, sizeof out.text, "%.30sx", text_count(calls).text);
    return out;
}

const char *report_api(const struct report *report, const struct finding *finding)
{
    return finding->has_api ? definitions_api_name(&report->trace.defs, finding->api) : "";
}

const char *report_access(enum access access)
{
    return access == ACCESS_WRITE ? "writes" : access == ACCESS_READ ? "reads" : "uses";
}

struct line report_accessor(const struct report *report, const struct edge_end *end, enum access access, int columns)
{
    struct line line = {0}, kernel = {0};
    char text[300];
    if (end->object != 0) {
        report_id(report, FINDING_KERNELS, end->object, text, sizeof text);
        kernel = text_function(text);
    }
    line_add(&line, "%.*s", columns, end->object != 0 ? kernel.text : definitions_api_name(&report->trace.defs, end->api));
    if (access != ACCESS_NONE)
        line_add(&line, " %s", report_access(access));
    return line;
}

bool report_has_address(const struct edge_pair *pair)
{
    return pair->address != 0 && pair->address >> 48 == 0;
}

struct line report_memory(const struct edge_pair *pair)
{
    struct line line = {0};
    if (report_has_address(pair))
        line_add(&line, "0x%" PRIx64, pair->address);
    else if (pair->allocation != 0)
        line_add(&line, "memory #%u", pair->allocation);
    else
        line_add(&line, "unseen memory");
    return line;
}

void report_frame(const struct report *report, struct site_namer *namer, uint64_t pc, char *out, size_t room)
{
    const struct object_def *object = definitions_object_at(&report->trace.defs, pc);
    char symbol[240];
    bool named = site_name(namer, &report->trace.defs, pc, symbol, sizeof symbol);
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

bool report_site(const struct report *report, struct site_namer *namer, uint32_t stack, char *out, size_t room)
{
    const struct stack_def *frames = stack != 0 ? definitions_stack(&report->trace.defs, stack) : NULL;
    if (frames == NULL || frames->count == 0)
        return false;
    report_frame(report, namer, frames->pc[caller_frame(&report->trace.defs, namer, frames)], out, room);
    return true;
}

static void stream_name(const struct report *report, uint32_t uid, char *out, size_t room)
{
    const struct stream_def *stream = definitions_stream(&report->trace.defs, uid);
    if (stream == NULL)
        snprintf(out, room, "#%u", uid);
    else if (stream->kind == PTDS_STREAM_LEGACY)
        snprintf(out, room, "legacy");
    else if (stream->kind == PTDS_STREAM_PER_THREAD)
        snprintf(out, room, "#%u (per-thread, thread %u)", uid, stream->thread);
    else
        snprintf(out, room, "#%u (%s)", uid, report_stream_kind(stream->kind));
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

void report_id(const struct report *report, enum finding_set set, uint32_t id, char *out, size_t room)
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

static void add_to_banner(struct line *line, const struct finding *finding, const char *what)
{
    if (finding->rule->banner && finding->severity != SEVERITY_NOTE && (line->used == 0 || !strstr(line->text, what)))
        line_add(line, "%s%.60s", line->used == 0 ? "all of this run is changed by " : ", ", what);
}

/* Settings come first: they change every call, and the line may be cut. */
struct line report_banner(const struct report *report)
{
    struct line line = {0};
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.items[i]->text != NULL)
            add_to_banner(&line, report->findings.items[i], report->findings.items[i]->text);
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.items[i]->text == NULL)
            add_to_banner(&line, report->findings.items[i], report_api(report, report->findings.items[i]));
    return line;
}

struct gaps {
    void (*each)(void *data, const char *line);
    void *data;
    unsigned lines;
};

__attribute__((format(printf, 3, 4))) static void gap(struct gaps *gaps, uint64_t count, const char *format, ...)
{
    char text[256];
    if (count == 0)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    gaps->each(gaps->data, text);
    gaps->lines++;
}

static void record_gaps(const struct report *report, struct gaps *gaps)
{
    const struct trace *trace = &report->trace;
    uint64_t lost = trace_not_kept(trace), threads = trace_uncounted(trace);
    gap(gaps, lost, "%s had no room (PTDS_TRACE_LIMIT)", text_plural(lost, "record").text);
    gap(gaps, report->left_out, "no time for %s (PTDS_REPORT_BUDGET)", text_count(report->left_out).text);
    gap(gaps, trace->header.recycled, "%s of old detail overwritten (PTDS_TRACE_LIMIT)",
        text_plural(trace->header.recycled, "chunk").text);
    gap(gaps, trace->lost_chunks, "%s beyond the end of the trace", text_plural(trace->lost_chunks, "chunk").text);
    gap(gaps, trace->damaged, "%s; what follows in the same chunk is lost",
        text_plural(trace->damaged, "damaged place").text);
    gap(gaps, trace->unknown_records, "%s of kinds unknown to this version",
        text_plural(trace->unknown_records, "record").text);
    gap(gaps, report->refused, "%s beyond the first %d of a rule", text_plural(report->refused, "call site").text,
        FINDING_LIMIT);
    gap(gaps, report->out_of_memory, "there was not enough memory for all of the trace");
    gap(gaps, threads, "the calls of %s are not counted: there was no room", text_plural(threads, "thread").text);
    gap(gaps, !report->has_counts, "the trace holds no exact counts; numbers are of the recorded calls");
    gap(gaps, !trace->header.clean_end,
        "the process did not end through exit, or still runs: the last records may be missing");
}

const char *report_touch_everything(unsigned why)
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

/* How many operations, and why: the reason of most, and of how many others there are. */
static struct line touching_all(const struct report_totals *totals)
{
    struct line line = {0};
    uint64_t all = 0;
    unsigned reasons = 0, most = PTDS_OPAQUE_NO + 1;
    for (unsigned why = PTDS_OPAQUE_NO + 1; why < PTDS_OPAQUE_REASONS; why++) {
        all += totals->touch_all[why];
        reasons += totals->touch_all[why] != 0;
        most = totals->touch_all[why] > totals->touch_all[most] ? why : most;
    }
    if (all == 0)
        return line;
    line_add(&line, "%s may touch any memory: %s", text_plural(all, "operation").text, report_touch_everything(most));
    if (reasons > 1)
        line_add(&line, " (%s) and %s", text_count(totals->touch_all[most]).text,
                 text_plural(reasons - 1, "more reason").text);
    return line;
}

unsigned report_gaps(const struct report *report, void (*each)(void *data, const char *line), void *data)
{
    const struct report_totals *totals = &report->totals;
    struct gaps gaps = {.each = each, .data = data};
    record_gaps(report, &gaps);
    gap(&gaps, report_names_trusted(report),
        "kernels with unread code are guessed by their names, which is unsafe (PTDS_TRUST)");
    gap(&gaps, !trace_has_time(&report->trace), "no host times: the trace's clock cannot be converted");
    gap(&gaps, totals->untimed_waits, "%s that may have waited %s not timed",
        text_plural(totals->untimed_waits, "call").text, totals->untimed_waits == 1 ? "was" : "were");
    gap(&gaps, totals->unknown_streams, "%s on streams whose creation was not seen",
        text_plural(totals->unknown_streams, "operation").text);
    gap(&gaps, totals->unplaced, "%s on streams beyond the first %d alive at a time",
        text_plural(totals->unplaced, "call").text, MODEL_MOST_STREAMS);
    gap(&gaps, totals->unknown_generations, "%s for %s that the trace does not hold",
        text_plural(totals->unknown_generations, "wait").text,
        totals->unknown_generations == 1 ? "a recording of an event" : "event recordings");
    gap(&gaps, report->edges.totals.unplaced, "%s on streams too many to say what depends on their order",
        text_plural(report->edges.totals.unplaced, "call").text);
    struct line python = python_words(report);
    gap(&gaps, python.used, "%s", python.text);
    struct line all = touching_all(totals);
    if (all.used != 0)
        gap(&gaps, 1, "%s", all.text);
    else
        gap(&gaps, totals->opaque, "%s with memory use unknown (opaque)", text_plural(totals->opaque, "operation").text);
    return gaps.lines;
}

enum { PAST_ROOM = 800, PAST_NAME = 500 };

static void past_words(const struct bypass_def *bypass, char *out)
{
    static const char *const ways[] = {
        [PTDS_BYPASS_DRIVER_COPY] = "a second copy of the driver",
        [PTDS_BYPASS_OTHER_HOOK] = "another dlsym hook",
        [PTDS_BYPASS_EXPORT_TABLE] = "cuGetExportTable",
        [PTDS_BYPASS_NAMESPACE] =
            "the driver of a dlmopen namespace, where nothing is remapped or recorded; ptds run --audit "
            "says who uses it",
        [PTDS_BYPASS_NAMESPACE_USER] = "uses the driver of a dlmopen namespace, where nothing is remapped or recorded",
        [PTDS_BYPASS_DEEPBIND] =
            "opened by name with RTLD_DEEPBIND, calls the driver past the shim; ptds run --audit reaches it",
        [PTDS_BYPASS_DEEPBIND_LOOKUP] = "opened by name with RTLD_DEEPBIND, may look the driver up past the shim; ptds run "
                                        "--audit reaches it",
        [PTDS_BYPASS_FUNCTIONS] = "stands in front of the driver, and is called as without the shim",
    };
    const char *way = bypass->what < sizeof ways / sizeof ways[0] ? ways[bypass->what] : NULL;
    char functions[40] = "";
    if (bypass->functions != 0)
        snprintf(functions, sizeof functions, " (%u of its functions)", (unsigned)bypass->functions);
    snprintf(out, PAST_ROOM, "%.*s: %s%s", PAST_NAME, bypass->text != NULL ? bypass->text : "?", way != NULL ? way : "",
             functions);
}

unsigned report_past(const struct report *report, void (*each)(void *data, const char *line), void *data)
{
    const struct definitions *defs = &report->trace.defs;
    unsigned lines = (unsigned)defs->untabled.count;
    char text[PAST_ROOM];
    for (size_t i = 0; i < defs->untabled.count && each != NULL; i++) {
        const struct untabled_def *one = &defs->untabled.items[i];
        const char *name = one->text != NULL ? one->text : "?";
        if (one->handed == PTDS_HANDED_FORWARDER)
            snprintf(text, sizeof text,
                     "%.*s is not known to the shim; its calls (%u) came after all work, and all later work "
                     "after them",
                     PAST_NAME, name, (unsigned)one->calls);
        else
            snprintf(text, sizeof text, "%.*s is not known to the shim; the program was given the %s function", PAST_NAME,
                     name, one->handed == PTDS_HANDED_TWIN ? "per-thread" : "legacy");
        each(data, text);
    }
    for (size_t i = 0; i < defs->bypasses.count; i++) {
        const struct bypass_def *bypass = &defs->bypasses.items[i];
        lines += each != NULL || bypass->what != PTDS_BYPASS_FUNCTIONS;
        past_words(bypass, text);
        if (each != NULL)
            each(data, text);
    }
    return lines;
}
