/* SPDX-License-Identifier: Apache-2.0
 *
 * Text for several traces. Called by `ptds report`. Says of each finding which processes it is in and how unevenly it costs
 * them; the details of one process are that process's own report.
 */
#include "analysis/views/text/many_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/report/many/traced.h"
#include "analysis/report/outcome.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/views/gap_words.h"
#include "analysis/views/removal_words.h"
#include "analysis/views/opening.h"
#include "analysis/views/opening_many.h"
#include "analysis/views/text/report_text.h"
#include "analysis/views/verdict_words.h"

enum { FRAMES_SHOWN = 12, NAMES_SHOWN = 8 };

static struct small_text time_lost(bool known, uint64_t ns)
{
    struct small_text unknown = {"unknown"};
    return known ? text_ns(ns) : unknown;
}

static void put_start(const struct traced *traced, uint64_t origin, struct text_sink *sink)
{
    char text[40] = "unknown";
    if (traced->has_realtime)
        snprintf(text, sizeof text, "+%s", text_ns(traced_time(traced, origin, traced->first_ticks)).text);
    sink_printf(sink, " %12s", text);
}

static void put_processes(const struct traces *traces, struct text_sink *sink)
{
    uint64_t origin = traces_origin(traces);
    char name[160], when[60] = "";
    time_t seconds = (time_t)(origin / 1000000000u);
    struct tm utc;
    if (origin != 0 && gmtime_r(&seconds, &utc) != NULL)
        strftime(when, sizeof when, ", the first one begun at %Y-%m-%d %H:%M:%S UTC", &utc);
    sink_printf(sink, "Processes%s\n", when);
    sink_printf(sink, "  %3s %12s %12s %12s %9s %12s  %-12s  process\n", "", "begun", "run time", "calls", "findings",
                "would save", "verdict");
    for (size_t i = 0; i < traces->list.count; i++) {
        const struct traced *traced = traces->list.items[i];
        const struct report *report = &traced->report;
        traced_name(traced, name, sizeof name);
        sink_printf(sink, "  %3zu", i);
        put_start(traced, origin, sink);
        sink_printf(sink, " %12s %12s %9zu %12s  %-12s  %s, %s, policy %s%s\n",
                    time_lost(report->totals.run_ns != 0, report->totals.run_ns).text,
                    text_count(report->totals.calls).text, report->findings.count, report_words_host_time(report).text,
                    verdict_words_outcome(outcome_of(report)), name, text_base(report->trace.header.program),
                    report_words_policy(report), report_words_trust(report));
        struct line banner = report_words_banner(report);
        if (banner.used != 0)
            sink_printf(sink, "      !! %s\n", banner.text);
    }
}

static void put_shares(const struct traces *traces, const struct folded *folded, struct text_sink *sink)
{
    struct spread spread = fold_spread(folded);
    char name[160];
    sink_printf(sink, "    %-22s%s in all", "saves at most", time_lost(folded->known != 0, folded->host_ns).text);
    if (folded->known != 0 && folded->unknown != 0)
        sink_printf(sink, "; unknown for %s", text_plural(folded->unknown, "call").text);
    if (spread.processes != 0) {
        traced_name(traces->list.items[spread.most_process], name, sizeof name);
        sink_printf(sink, "\n    %-22smin %s, median %s, max %s (%s)", "by process", text_ns(spread.least).text,
                    text_ns(spread.median).text, text_ns(spread.most).text, name);
    }
    sink_printf(sink, "\n    %-22s%zu of %zu:", "processes", folded->shares.count, traces->list.count);
    for (size_t i = 0; i < folded->shares.count && i < NAMES_SHOWN; i++) {
        const struct share *share = &folded->shares.items[i];
        sink_printf(sink, "%s %zu (%s, %s)", i != 0 ? "," : "", share->process, text_plural(share->count, "time").text,
                    time_lost(share->known != 0, share->host_ns).text);
    }
    sink_printf(sink, "%s\n", folded->shares.count > NAMES_SHOWN ? ", and more" : "");
}

static void put_finding(const struct traces *traces, const struct folds *folds, size_t rank, struct site_namer *namer,
                        struct text_sink *sink)
{
    const struct folded *folded = &folds->list.items[rank];
    const struct finding *finding = folded->finding;
    const struct report *report = &traces->list.items[folded->process]->report;
    struct line one, two;
    bool first = true;
    for (size_t i = 0; i < rank; i++)
        first &= !finding_says_alike(folds->list.items[i].finding, finding);
    sink_printf(sink, "\n#%zu %s: %s [%s]\n", rank + 1, finding->rule->id, finding->rule->title, folded->id.text);
    sink_printf(sink, "    %-22s%s, class %s\n", "severity", severity_names[finding->severity], finding->rule->class_);
    if (finding->rule->details != NULL)
        sink_printf(sink, "    %-22s%s\n", "case", finding->rule->details[finding->detail]);
    if (finding->text != NULL)
        sink_printf(sink, "    %-22s%s\n", "object", finding->text);
    if (finding->has_api)
        sink_printf(sink, "    %-22s%s%s, %s time%s\n", "call", report_words_api(report, finding),
                    finding->twin ? " (per-thread twin)" : "", text_count(folded->count).text,
                    folded->count == 1 ? "" : "s");
    put_shares(traces, folded, sink);
    sink_printf(sink, "    %-22s%s\n", "by policy", removal_words_finding(report, finding).text);
    report_text_orders(report, finding, sink);
    if (opening_pair(report, outcome_pair(report, finding), &one, &two))
        sink_printf(sink, "    %-22s%s\n    %-22s%s\n", "the pair", one.text, "", two.text);
    symbolizer_of(namer, &report->trace);
    report_text_stack(report, namer, finding, FRAMES_SHOWN, sink);
    if (first)
        sink_printf(sink, "    %s\n    Advice: %s\n", finding_sentence(finding), finding_advice(finding));
}

struct gaps {
    struct text_sink *sink;
    size_t process;
};

static void put_gap(void *data, const char *line)
{
    struct gaps *gaps = data;
    sink_printf(gaps->sink, "  process %zu: %s\n", gaps->process, line);
}

static void put_gaps(const struct traces *traces, const struct report_totals *gpu, struct text_sink *sink)
{
    unsigned lines = traces->unreadable;
    sink_printf(sink, "\nWhat could not be analysed\n");
    if (traces->unreadable != 0)
        sink_printf(sink, "  %s could not be read\n", text_plural(traces->unreadable, "trace").text);
    for (size_t i = 0; i < traces->list.count; i++) {
        const struct trace *trace = &traces->list.items[i]->report.trace;
        struct gaps gaps = {sink, i};
        lines += gap_words(&traces->list.items[i]->report, put_gap, &gaps);
        lines += gap_words_past(&traces->list.items[i]->report, put_gap, &gaps);
        for (size_t j = 0; j < trace->damages.count; j++)
            sink_printf(sink, "  process %zu: offset %" PRIu64 ": %s\n", i, trace->damages.items[j].offset,
                        trace->damages.items[j].text);
    }
    if (lines == 0)
        sink_printf(sink, "  nothing: the records are complete (%s)\n", report_words_gpu_times(gpu).text);
}

void many_text(const struct traces *traces, const struct folds *folds, struct site_namer *namer, struct text_sink *sink)
{
    struct report_totals gpu = traces_gpu_totals(traces);
    sink_printf(sink, "libptds report on %zu processes\n\n", traces->list.count);
    put_processes(traces, sink);
    sink_printf(sink, "\n%s\n", opening_outcomes(&folds->runs).text);
    sink_printf(sink, "Findings save at most, in all    %s (%s)\n", time_lost(folds->known != 0, folds->host_ns).text,
                report_words_gpu_time(&gpu));
    if (folds->list.count == 0)
        sink_printf(sink, "\n%s.\n", opening_many_nothing_found(traces, &folds->runs).text);
    else
        sink_printf(sink, "\nFindings, by what they would save in all processes\n");
    for (size_t i = 0; i < folds->list.count; i++)
        put_finding(traces, folds, i, namer, sink);
    put_gaps(traces, &gpu, sink);
}
