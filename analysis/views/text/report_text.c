/* SPDX-License-Identifier: Apache-2.0
 *
 * The full text report. Also written by the shim at exit (PTDS_REPORT=path): libc only. Everything the report holds,
 * findings ranked by what they would save, and at the end what could not be analysed: missing data is named, never shown as
 * zero.
 */
#include <string.h>

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/findings/identity.h"
#include "analysis/report/outcome.h"
#include "analysis/trace/frames.h"
#include "analysis/views/gap_words.h"
#include "analysis/views/number_words.h"
#include "analysis/views/removal_words.h"
#include "analysis/views/opening.h"
#include "analysis/views/residual_words.h"
#include "analysis/views/text/edges_text.h"
#include "analysis/views/verdict_words.h"
#include "analysis/views/text/report_text.h"

enum { STACK_FRAMES_SHOWN = 12 };

static void put_meta(const struct report *report, struct text_sink *sink)
{
    const struct ptds_trace_header *header = &report->trace.header;
    const struct definitions *defs = &report->trace.defs;
    sink_printf(sink, "libptds report\n");
    sink_printf(sink, "  program   %s (pid %u on %s", header->program, header->pid, header->host);
    if (header->rank >= 0)
        sink_printf(sink, ", rank %d of %d", header->rank, header->ranks);
    sink_printf(sink, ")\n  trace     %s, version %u, written by libptds %s\n", report->trace.source.name, header->version,
                header->shim);
    sink_printf(sink, "  run time  %s\n", report->totals.run_ns != 0 ? text_ns(report->totals.run_ns).text : "unknown");
    for (size_t i = 0; i < defs->settings.count; i++)
        if (defs->settings.items[i].text != NULL)
            sink_printf(sink, "  %s   %s\n", defs->settings.items[i].kind == PTDS_SETTING_PROCESS ? "process" : "setting",
                        defs->settings.items[i].text);
}

static void put_totals(const struct report *report, struct text_sink *sink)
{
    const struct report_totals *totals = &report->totals;
    uint64_t verdicts[VERDICTS];
    unsigned kinds = 0;
    sink_printf(sink, "\nWhat was looked at\n");
    sink_printf(sink, "  driver calls         %s%s, %s failed\n", text_count(totals->calls).text,
                report->has_counts ? "" : " (recorded ones only)", text_count(totals->failed).text);
    sink_printf(sink, "  recorded in detail   %s\n", text_count(totals->recorded).text);
    sink_printf(sink, "  threads              %u\n", report->trace.threads);
    sink_printf(sink, "  streams             ");
    for (uint32_t kind = 0; kind <= PTDS_STREAM_SHIM_NON_BLOCKING; kind++)
        if (totals->streams[kind] != 0)
            sink_printf(sink, "%s %s %s", kinds++ != 0 ? "," : "", text_count(totals->streams[kind]).text,
                        report_words_stream_name(kind));
    sink_printf(sink, "\n  default stream       %s, %s moved\n", text_plural(totals->default_stream, "operation").text,
                text_count(totals->remapped).text);
    for (unsigned i = 0; i < KEPT_REASONS; i++)
        if (totals->kept[i] != 0)
            sink_printf(sink, "                       %s kept: %s\n", text_count(totals->kept[i]).text,
                        report_kept_names[i]);
    if (totals->failed_default != 0)
        sink_printf(sink, "                       %s failed and went nowhere\n", text_count(totals->failed_default).text);
    if (totals->threads_ns != 0)
        sink_printf(sink, "  threads' time        %s\n", text_ns(totals->threads_ns).text);
    sink_printf(sink, "  blocked in calls     %s; %s\n",
                !outcome_knows_blocked(report) ? "unknown"
                : totals->blocked_ns != 0      ? text_ns(totals->blocked_ns).text
                                               : "none",
                report_words_gpu_time(totals));
    if (totals->gpu_timed != 0)
        sink_printf(sink, "                       %s; the others' are unknown\n", report_words_gpu_times(totals).text);
    if (totals->gpu_span_ns != 0)
        sink_printf(sink, "  on the GPU           %s since its first operation\n", report_words_gpu_busy(totals).text);
    sink_printf(sink, "  implicit orders      %s%s\n", verdict_words_line(verdict_words_all(report, verdicts)).text,
                opening_lost(report).text);
}

struct busiest {
    uint64_t calls, failed, remapped, ticks;
    size_t index;
};

static int by_calls(const void *a, const void *b)
{
    const struct busiest *one = a, *two = b;
    return one->calls != two->calls ? (one->calls > two->calls ? -1 : 1) : one->index < two->index ? -1 : 1;
}

static void put_counts(const struct report *report, struct text_sink *sink)
{
    const struct trace *trace = &report->trace;
    if (!report->has_counts)
        return;
    struct busiest *rows = calloc(trace->counts.count, sizeof *rows);
    if (rows == NULL)
        return;
    for (size_t i = 0; i < trace->counts.count; i++) {
        const struct ptds_count *count = &trace->counts.items[i];
        rows[i] = (struct busiest){count->calls, count->failed, count->remapped, count->ticks, i};
    }
    qsort(rows, trace->counts.count, sizeof *rows, by_calls);
    sink_printf(sink, "\nDriver calls (exact)\n  %12s %10s %12s %10s  name\n", "calls", "failed", "moved", "inside");
    for (size_t i = 0; i < trace->counts.count && rows[i].calls != 0; i++) {
        const struct api_def *api = definitions_api(&trace->defs, (uint32_t)(rows[i].index / 2));
        struct small_text inside = {"-"};
        if (rows[i].ticks != 0 && trace_has_time(trace))
            inside = text_ns(trace_ns(trace, rows[i].ticks));
        sink_printf(sink, "  %12s %10s %12s %10s  %s%s\n", text_count(rows[i].calls).text, text_count(rows[i].failed).text,
                    text_count(rows[i].remapped).text, inside.text, api != NULL && api->text != NULL ? api->text : "?",
                    rows[i].index % 2 != 0 ? " (per-thread twin)" : "");
    }
    free(rows);
}

/* Template instances have names of many lines: what tells them apart comes first, the JSON report has all of it. */
enum { NAME_COLUMNS = 100 };

static struct line name_of(const struct report *report, enum finding_set set, uint32_t id)
{
    struct line name = {0};
    char text[300];
    report_words_id(report, set, id, text, sizeof text);
    line_add(&name, "%s", text);
    line_fit(&name, NAME_COLUMNS);
    return name;
}

/* Whether no id before it reads the same: a kernel has one handle a module and library copy. */
static bool first_of_name(const struct report *report, const struct finding_ids *ids, enum finding_set set, uint32_t at,
                          const struct line *name)
{
    for (uint32_t i = 0; i < at; i++)
        if (strcmp(name_of(report, set, ids->id[i]).text, name->text) == 0)
            return false;
    return true;
}

static void put_set(const struct report *report, const struct finding *finding, enum finding_set set,
                    struct text_sink *sink)
{
    const struct finding_ids *ids = &finding->sets[set];
    if (ids->count == 0)
        return;
    sink_printf(sink, "    %-22s", number_words_key(finding_set_names[set]).text);
    for (uint32_t i = 0; i < ids->count; i++) {
        struct line name = name_of(report, set, ids->id[i]);
        if (first_of_name(report, ids, set, i, &name))
            sink_printf(sink, "%s%s", i != 0 ? ", " : "", name.text);
    }
    sink_printf(sink, "%s\n", ids->more ? ", and more" : "");
}

void report_text_stack(const struct report *report, struct site_namer *namer, const struct finding *finding, unsigned most,
                       struct text_sink *sink)
{
    const struct stack_def *stack = finding->stack != 0 ? definitions_stack(&report->trace.defs, finding->stack) : NULL;
    char text[400];
    if (stack == NULL || stack->count == 0) {
        if (finding->has_api)
            sink_printf(sink, "    %-22snot recorded\n", "call site");
        return;
    }
    for (uint32_t n = 0, i = 0, next; (next = frames_nth_shown(stack, n, most)) < stack->count; n++, i = next + 1) {
        report_words_frame(report, namer, stack->pc[next], text, sizeof text);
        if (next != i)
            sink_printf(sink, "    %-22s...\n", "");
        sink_printf(sink, "    %-22s%s\n", n == 0 ? "call site" : "", text);
    }
}

static void put_cost(const struct finding *finding, struct text_sink *sink)
{
    sink_printf(sink, "    %-22s", "saves at most");
    if (finding->known == 0)
        sink_printf(sink, "unknown");
    else
        sink_printf(sink, "%s in %s%s", text_ns(finding->host_ns).text, text_plural(finding->known, "call").text,
                    finding->known > finding->count ? ", those that were held up among them" : "");
    if (finding->known != 0 && finding->unknown != 0)
        sink_printf(sink, "; unknown for %s", text_count(finding->unknown).text);
    sink_printf(sink, "\n");
}

/* What a rule is about, and what to do, is said once, at its costliest finding. */
static bool first_of_rule(const struct report *report, size_t rank)
{
    for (size_t i = 0; i < rank; i++)
        if (finding_says_alike(report->findings.items[i], report->findings.items[rank]))
            return false;
    return true;
}

/* The findings of a sequence name each other. */
static void put_sequence(const struct report *report, const struct finding *finding, struct text_sink *sink)
{
    if (finding->sequence == 0)
        return;
    sink_printf(sink, "    %-22s%s in all; removing one wait exposes the next:", "sequence",
                text_ns(report->sequences.items[finding->sequence - 1].host_ns).text);
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.items[i]->sequence == finding->sequence)
            sink_printf(sink, " #%zu", i + 1);
    sink_printf(sink, "\n");
}

void report_text_orders(const struct report *report, const struct finding *finding, struct text_sink *sink)
{
    if (!finding->has_api)
        return; /* no call, so no order that ends at it */
    sink_printf(sink, "    %-22s%s\n", "implicit orders here",
                verdict_words_line(verdict_words_of_finding(report, finding)).text);
    const char *needed = verdict_words_needed(report, finding);
    if (needed != NULL)
        sink_printf(sink, "    %s%s\n", verdict_words_is_wrong(finding) ? "!! " : "", needed);
}

static void put_pair(const struct report *report, const struct finding *finding, struct text_sink *sink)
{
    struct line first, second;
    if (opening_pair(report, outcome_pair(report, finding), &first, &second))
        sink_printf(sink, "    %-22s%s\n    %-22s%s\n", "the pair", first.text, "", second.text);
}

static void put_numbers(const struct finding *finding, struct text_sink *sink)
{
    for (size_t i = 0; i < FINDING_NUMBERS && finding->numbers[i].key != NULL; i++)
        if (finding->numbers[i].value != 0)
            sink_printf(sink, "    %-22s%s\n", number_words_key(finding->numbers[i].key).text,
                        number_words_value(&finding->numbers[i]).text);
}

static void put_finding(const struct report *report, struct site_namer *namer, size_t rank, bool advice,
                        struct text_sink *sink)
{
    const struct finding *finding = report->findings.items[rank];
    const struct rule *rule = finding->rule;
    sink_printf(sink, "\n#%zu %s: %s\n", rank + 1, rule->id, rule->title);
    sink_printf(sink, "    %-22s%s, class %s\n", "severity", severity_names[finding->severity], rule->class_);
    if (rule->details != NULL)
        sink_printf(sink, "    %-22s%s\n", "case", rule->details[finding->detail]);
    if (finding->text != NULL)
        sink_printf(sink, "    %-22s%s\n", "object", finding->text);
    if (finding->fold != FOLD_SHOWN)
        sink_printf(sink, "    %-22s%s\n", "folded", fold_words[finding->fold]);
    if (finding->has_api)
        sink_printf(sink, "    %-22s%s%s, %s time%s\n", "call", report_words_api(report, finding),
                    finding->twin ? " (per-thread twin)" : "", text_count(finding->count).text,
                    finding->count == 1 ? "" : "s");
    put_cost(finding, sink);
    sink_printf(sink, "    %-22s%s\n", "by policy", removal_words_finding(report, finding).text);
    report_text_orders(report, finding, sink);
    put_pair(report, finding, sink);
    put_sequence(report, finding, sink);
    report_text_stack(report, namer, finding, STACK_FRAMES_SHOWN, sink);
    for (unsigned set = 0; set < FINDING_SETS; set++)
        if (set != FINDING_CONTEXTS)
            put_set(report, finding, (enum finding_set)set, sink);
    put_numbers(finding, sink);
    sink_printf(sink, "    %-22s%s\n", "id", identity_of(&report->trace, finding).text);
    if (advice)
        sink_printf(sink, "    %s\n    Advice: %s\n", finding_sentence(finding), finding_advice(finding));
}

static void put_findings(const struct report *report, struct site_namer *namer, struct text_sink *sink)
{
    if (report->findings.count == 0 && !outcome_of(report).complete) {
        sink_printf(sink, "\n%s\n", opening_nothing_found(report).text);
        return;
    }
    if (report->findings.count == 0) {
        sink_printf(sink, "\nNo findings. Rules run:");
        for (size_t i = 0; i < report->rules; i++)
            if (report->runs[i].rule != NULL)
                sink_printf(sink, " %s", report->runs[i].rule->id);
        sink_printf(sink, "\n");
        return;
    }
    sink_printf(sink, "\nFindings, by what they would save\n");
    size_t shown = rank_shown(report);
    if (shown != 0 && shown < report->findings.count)
        sink_printf(sink, "  those after #%zu are not worth a line each: below %s, or nothing to gain\n", shown,
                    opening_floor(report).text);
    else if (shown == 0)
        sink_printf(sink, "  none is worth a line of its own: below %s, or nothing to gain\n", opening_floor(report).text);
    for (size_t i = 0; i < report->findings.count; i++)
        put_finding(report, namer, i, first_of_rule(report, i), sink);
}

void report_text_finding(const struct report *report, struct site_namer *namer, size_t rank, struct text_sink *sink)
{
    put_finding(report, namer, rank, true, sink);
}

static void put_gap(void *data, const char *line)
{
    sink_printf(data, "  %s\n", line);
}

void report_text_gaps(const struct report *report, struct text_sink *sink)
{
    const struct trace *trace = &report->trace;
    sink_printf(sink, "\nWhat could not be analysed\n");
    bool past = gap_words_past(report, NULL, NULL) != 0;
    if (gap_words(report, put_gap, sink) == 0)
        sink_printf(sink, "  %sthe records are complete (%s)\n",
                    past ? "of what the shim saw, " : "nothing: ", report_words_gpu_times(&report->totals).text);
    for (size_t i = 0; i < trace->damages.count; i++)
        sink_printf(sink, "  offset %" PRIu64 ": %s\n", trace->damages.items[i].offset, trace->damages.items[i].text);
    gap_words_past(report, put_gap, sink);
}

/* What changes everything that follows, before anything else. */
static void put_banners(const struct report *report, struct text_sink *sink)
{
    for (size_t i = 0; i < report->findings.count; i++) {
        const struct finding *finding = report->findings.items[i];
        if (!finding->rule->banner)
            continue;
        sink_printf(sink, "!! %s: %s%s%s\n", finding->rule->id,
                    finding->rule->details != NULL ? finding->rule->details[finding->detail] : finding->rule->title,
                    finding->text != NULL ? ": " : "", finding->text != NULL ? finding->text : "");
    }
}

/* What a person wants to know before any table. */
static void put_residual(const struct report *report, struct site_namer *namer, struct text_sink *sink)
{
    enum residual_kind kinds[RESIDUAL_KINDS];
    unsigned count = residual_words_ranked(report, kinds);
    if (count != 0)
        sink_printf(sink, "%s\n", RESIDUAL_TITLE);
    for (unsigned i = 0; i < count; i++)
        sink_printf(sink, "  %s\n      %s\n", residual_words_line(report, kinds[i]).text,
                    residual_words_place(report, namer, kinds[i]).text);
}

static void put_opening(const struct report *report, struct site_namer *namer, struct text_sink *sink)
{
    struct line first, second, startup = opening_startup(report), incomplete = opening_incomplete(report);
    struct line past = opening_past(report);
    sink_printf(sink, "\n%s%s%s%s%s\n", incomplete.text, incomplete.used != 0 ? "\n" : "", past.text,
                past.used != 0 ? "\n" : "", opening_outcome(report).text);
    if (opening_pair(report, outcome_of(report).pair, &first, &second))
        sink_printf(sink, "  %s\n  %s\n", first.text, second.text);
    sink_printf(sink, "%s\n", opening_default_stream(report).text);
    if (report->what_if.used != 0)
        sink_printf(sink, "%s\n", report->what_if.text);
    sink_printf(sink, "%s\n", opening_blocked(report).text);
    put_residual(report, namer, sink);
    if (startup.used != 0)
        sink_printf(sink, "%s\n", startup.text);
}

void report_text(const struct report *report, struct site_namer *namer, struct text_sink *sink)
{
    put_banners(report, sink);
    put_meta(report, sink);
    put_opening(report, namer, sink);
    put_totals(report, sink);
    put_findings(report, namer, sink);
    edges_text(report, namer, sink);
    put_counts(report, sink);
    report_text_gaps(report, sink);
}
