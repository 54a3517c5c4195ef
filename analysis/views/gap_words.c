/* SPDX-License-Identifier: Apache-2.0
 *
 * What could not be analysed, a line a reason. Called by every view. Also runs in the traced process at its exit.
 */
#include "analysis/views/gap_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/line.h"
#include "analysis/findings/caller.h"
#include "analysis/trace/frames.h"
#include "analysis/views/python_words.h"
#include "analysis/views/report_words.h"

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
    line_add(&line, "%s may touch any memory: %s", text_plural(all, "operation").text, report_words_touch_everything(most));
    if (reasons > 1)
        line_add(&line, " (%s) and %s", text_count(totals->touch_all[most]).text,
                 text_plural(reasons - 1, "more reason").text);
    return line;
}

unsigned gap_words(const struct report *report, void (*each)(void *data, const char *line), void *data)
{
    const struct report_totals *totals = &report->totals;
    struct gaps gaps = {.each = each, .data = data};
    record_gaps(report, &gaps);
    gap(&gaps, report_words_names_trusted(report),
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
        [PTDS_BYPASS_NAMESPACE] = "the driver of a dlmopen namespace, where nothing is moved or recorded; ptds run --audit "
                                  "says who uses it",
        [PTDS_BYPASS_NAMESPACE_USER] = "uses the driver of a dlmopen namespace, where nothing is moved or recorded",
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

unsigned gap_words_past(const struct report *report, void (*each)(void *data, const char *line), void *data)
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
