/* SPDX-License-Identifier: Apache-2.0
 *
 * The report of a selection: whose calls, when, what they cost, and the findings in full. Called by the command only.
 * Numbers are of the selection's recorded calls; where something of the whole run is said, it is said so.
 */
#include "analysis/views/text/report_details.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/base/sink.h"
#include "analysis/report/outcome.h"
#include "analysis/views/opening.h"
#include "analysis/views/text/report_screen.h"
#include "analysis/views/text/report_text.h"

static void take(struct report_watch *watch, const struct report *report, const struct call_view *view, uint32_t serial)
{
    struct call_stats *stats = (struct call_stats *)watch;
    const struct ptds_rec_CALL *call = &view->call->r;
    size_t at = (size_t)call->api * 2 + ((call->flags & PTDS_CALL_TWIN) != 0);
    (void)report;
    (void)serial;
    struct entry_calls *entry = TABLE_AT(&stats->entries, at);
    if (entry == NULL) {
        stats->out_of_memory = true;
        return;
    }
    entry->calls++;
    entry->failed += !view->succeeded;
    entry->timed += view->timed;
    entry->ns += view->ns;
    entry->lost_ns += view_blocked_ns(view);
}

void report_details_begin(struct call_stats *stats)
{
    *stats = (struct call_stats){.watch = {.call = take}};
}

void report_details_end(struct call_stats *stats)
{
    free(stats->entries.items);
    *stats = (struct call_stats){0};
}

static void put_selection(const struct report *report, struct text_sink *sink)
{
    const struct selection *selection = &report->selection;
    char text[300];
    sink_printf(sink, "Selected:");
    if (selection->thread != NULL)
        sink_printf(sink, " thread %s;", selection->thread);
    if (selection->stream != 0) {
        report_words_id(report, FINDING_STREAMS, selection->stream, text, sizeof text);
        sink_printf(sink, " %s;", text);
    }
    if (selection->has_from)
        sink_printf(sink, " from %s;", text_ns(selection->from_ns).text);
    if (selection->has_to)
        sink_printf(sink, " to %s;", text_ns(selection->to_ns).text);
    sink_printf(sink, " %s of %s recorded calls, run time %s\n", text_count(report->totals.recorded).text,
                text_count(report->trace.calls).text,
                report->totals.run_ns != 0 ? text_ns(report->totals.run_ns).text : "unknown");
    sink_printf(sink, "%s\n", opening_blocked(report).text);
}

struct row {
    struct entry_calls calls;
    size_t index;
};

static int by_time(const void *a, const void *b)
{
    const struct row *one = a, *two = b;
    if (one->calls.lost_ns != two->calls.lost_ns)
        return one->calls.lost_ns > two->calls.lost_ns ? -1 : 1;
    if (one->calls.calls != two->calls.calls)
        return one->calls.calls > two->calls.calls ? -1 : 1;
    return one->index < two->index ? -1 : 1;
}

static void put_calls(const struct report *report, const struct call_stats *stats, struct text_sink *sink)
{
    struct row *rows = stats->entries.count != 0 ? calloc(stats->entries.count, sizeof *rows) : NULL;
    if (rows == NULL || stats->out_of_memory) {
        sink_printf(sink, "%s", stats->entries.count != 0 ? "\nNo memory for the table of calls\n" : "");
        free(rows);
        return;
    }
    for (size_t i = 0; i < stats->entries.count; i++)
        rows[i] = (struct row){stats->entries.items[i], i};
    qsort(rows, stats->entries.count, sizeof *rows, by_time);
    sink_printf(sink, "\nDriver calls of the selection\n  %12s %10s %10s %10s  name\n", "calls", "failed", "inside",
                "waiting");
    for (size_t i = 0; i < stats->entries.count && rows[i].calls.calls != 0; i++) {
        const struct entry_calls *calls = &rows[i].calls;
        const struct api_def *api = definitions_api(&report->trace.defs, (uint32_t)(rows[i].index / 2));
        bool timed = calls->timed != 0;
        sink_printf(sink, "  %12s %10s %10s %10s  %s%s\n", text_count(calls->calls).text, text_count(calls->failed).text,
                    timed ? text_ns(calls->ns).text : "-", timed ? text_ns(calls->lost_ns).text : "-",
                    api != NULL && api->text != NULL ? api->text : "?", rows[i].index % 2 != 0 ? " (per-thread twin)" : "");
    }
    free(rows);
}

void report_details(const struct report *report, const struct call_stats *stats, struct site_namer *namer, size_t most,
                    struct text_sink *sink)
{
    put_selection(report, sink);
    put_calls(report, stats, sink);
    size_t count = report->findings.count, shown = count < most ? count : most;
    uint64_t covered = 0;
    for (size_t i = 0; i < shown; i++)
        covered += report->findings.items[i]->host_ns;
    if (count == 0)
        sink_printf(sink, "\n%s\n",
                    outcome_of(report).complete ? "No findings in the selection."
                                                : "No findings in what was recorded of the selection.");
    else
        sink_printf(sink, "\nFindings of the selection, by what they would save\n");
    for (size_t i = 0; i < shown; i++)
        report_text_finding(report, namer, i, sink);
    if (shown < count)
        sink_printf(sink, "\n%s, which would save up to %s: --all\n", text_plural(count - shown, "more finding").text,
                    text_ns(report->totals.host_ns - covered).text);
    report_text_gaps(report, sink);
}
