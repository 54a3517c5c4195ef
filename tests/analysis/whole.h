/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace through everything that reads one: reader, model, rules, reports, the page, exports, checks. For fuzzing.
 */
#ifndef PTDS_TESTS_ANALYSIS_WHOLE_H
#define PTDS_TESTS_ANALYSIS_WHOLE_H

#include <stdexcept>
#include <string>

#include "analysis/check/conditions.h"
#include "analysis/check/region_limits.h"
#include "analysis/compare/baseline.h"
#include "analysis/compare/history_of_traces.h"
#include "analysis/report/many/traced.h"
#include "analysis/views/export/export_formats.h"
#include "analysis/views/repair/repair_words.h"
#include "analysis/views/export/export_job.h"
#include "analysis/views/html/report_html.h"
#include "analysis/views/html/timelines.h"
#include "analysis/views/text/many_text.h"
#include "analysis/views/json/report_json.h"
#include "analysis/views/json/whatif_json.h"
#include "analysis/views/repair/repair_text.h"
#include "analysis/views/text/report_details.h"
#include "analysis/views/text/report_screen.h"
#include "analysis/views/text/report_summary.h"
#include "analysis/views/text/whatif_text.h"
#include "tests/analysis/compared.h"
#include "tests/analysis/support.h"

namespace ptds
{

struct Whole {
    bool readable = false;
    std::string trouble;   /* why it is not */
    std::string text;      /* the report */
    uint64_t recorded = 0; /* calls looked at */
    uint64_t damaged = 0;  /* places */
    uint64_t lost_chunks = 0;
    std::vector<std::string> ids; /* of the findings */
};

/* A namer that names nothing: paths in a damaged trace are not for opening. */
inline site_namer NoNames()
{
    site_namer namer = {};
    namer.name = [](site_namer *, const object_def *, uint64_t, char *, size_t) { return false; };
    namer.places = [](site_namer *, const object_def *, uint64_t, site_place *, size_t) -> size_t { return 0; };
    namer.trouble = [](site_namer *, const object_def *) -> const char * { return nullptr; };
    return namer;
}

inline int OneEdgeEach(edge_feed *, const struct report *report, edge_sink *sink)
{
    edge edge = {};
    edge.from.ticks = report->trace.last_ticks;
    edge.from.stream = edge.to.thread = 0xfffffffe;
    edge.from.object = edge.from.stack = 77;
    edge.from.op = PTDS_OP_LAUNCH;
    sink->edge(sink, &edge);
    return 0;
}

/* All forms of export. SQLite is slow and gets its own say. */
inline void ExportAll(const struct traces *traces, const struct folds *folds, site_namer *namer, bool sqlite,
                      const char *scratch)
{
    edge_feed feed = {OneEdgeEach, nullptr};
    for (size_t i = 0; i < export_formats_count; i++) {
        const export_format &format = export_formats[i];
        if (format.needs_path && !sqlite)
            continue;
        export_job job = {};
        job.traces = traces;
        job.folds = folds;
        job.namer = namer;
        job.edges = &feed;
        job.path = scratch;
        if (format.needs_path)
            unlink(scratch);
        job.out = format.needs_path ? nullptr : fopen("/dev/null", "w");
        if (format.write(&job) != 0)
            throw std::runtime_error(std::string(format.name) + ": " + job.error);
        if (job.out != nullptr)
            fclose(job.out);
    }
}

/* The second half of its calls, as the terminal and the page show them. */
inline void ShowPart(const struct trace_source *source, site_namer *namer)
{
    char error[TRACE_ERROR_SIZE];
    struct timeline timeline;
    struct call_stats stats;
    struct edge_list edges;
    std::unique_ptr<struct report> report(new struct report);
    struct selection selection = {};
    TextOf out;
    edge_list_begin(&edges);
    timeline_begin(&timeline, 80);
    if (report_build_watched(report.get(), source, nullptr, &timeline.watch, error) == 0) {
        timeline_decide(&timeline);
        OneEdgeEach(nullptr, report.get(), &edges.sink);
        report_screen(report.get(), namer, SCREEN_LEAST_ROWS, &out);
        if (report_html(report.get(), &timeline, &edges, namer, &out) != 0)
            throw std::runtime_error("the page could not be written");
        selection.has_from = trace_has_time(&report->trace);
        selection.from_ns = report->totals.run_ns / 2;
    }
    report_end(report.get());
    timeline_end(&timeline);
    edge_list_end(&edges);
    report_details_begin(&stats);
    if (report_build_watched(report.get(), source, &selection, &stats.watch, error) == 0)
        report_details(report.get(), &stats, namer, SIZE_MAX, &out);
    report_end(report.get());
    report_details_end(&stats);
}

inline void RepairAll(const struct report *report, site_namer *namer)
{
    struct repair repair;
    TextOf out;
    if (repair_of(&repair, report, ORDER_PER_THREAD) != 0)
        throw std::runtime_error("there is no repair");
    repair_text(report, &repair, namer, SIZE_MAX, &out);
    if (report_json_repaired(report, &repair, namer, &out) != 0)
        throw std::runtime_error("the repair could not be written");
    repair_end(&repair);
}

/* Replays it, even where nothing would be predicted of it. */
inline void ReplayAll(const struct trace_source *source)
{
    const struct latencies none = {};
    struct assumptions assumptions = {};
    assumptions.gpu_threads = 16384;
    assumptions.follows = assumptions.host_promises = assumptions.spreads = true;
    assumptions.passes_over = true;
    assumptions.queues = 2;
    assumptions.locked_percent = assumptions.queued_percent = assumptions.joined_percent = 50;
    char error[TRACE_ERROR_SIZE];
    std::unique_ptr<struct report> report(new struct report);
    struct recorded recorded;
    TextOf out;
    recorded_begin(&recorded);
    if (report_build_watched(report.get(), source, nullptr, &recorded.watch, error) == 0) {
        const struct whatif found = whatif_of(report.get(), &recorded);
        whatif_text(&found, &out);
        if (whatif_json(&found, &out) != 0)
            throw std::runtime_error("what-if could not be written");
        struct moment replayed;
        for (unsigned policy = ORDER_AS_RUN; policy < ORDER_POLICIES; policy++)
            replay_run(&recorded, policy, &none, &assumptions, &replayed); /* of some event it may not know the place */
    }
    report_end(report.get());
    recorded_end(&recorded);
}

inline void CheckAll(const struct traces *traces)
{
    char error[CHECK_ERROR_SIZE];
    region_limits regions = {};
    region_limits_add(&regions, "step", error);
    for (size_t i = 0; i < traces->list.count; i++) {
        region_limits_look(&regions, traces->list.items[i], i);
        traced_incomplete(traces->list.items[i], nullptr, nullptr);
    }
    region_limits_free(&regions);
}

/* As a baseline, there and back, compared with itself and with nothing, in all forms. */
inline void CompareAll(const struct traces *traces, site_namer *namer, const char *scratch)
{
    char error[COMPARE_ERROR_SIZE];
    history now = {}, none = {}, again = {};
    if (!history_of_traces(&now, traces, namer))
        throw std::runtime_error("the runs could not be read");
    FILE *file = fopen(scratch, "w");
    bool written = baseline_write(&now, file);
    if (fclose(file) != 0 || !written || !baseline_read(&again, scratch, error))
        throw std::runtime_error(std::string("the baseline does not come back: ") + error);
    if (Compared(again, now))
        throw std::runtime_error("a run differs from itself");
    Compared(none, now);
    history_free(&now);
    history_free(&again);
}

/* What is made of a trace beside its report. */
enum WholeParts { PART_FORMS = 1, PART_PAGES = 2, PART_EXPORTS = 4, PART_REPAIR = 8, PART_REPLAY = 16, PARTS = 5 };

inline void ShowForms(const struct traces *traces, const struct folds *folds, site_namer *namer)
{
    const struct report *report = &traces->list.items[0]->report;
    TextOf json, many, summary;
    report_summary(report, namer, &summary);
    if (report_json(report, namer, &json) != 0)
        throw std::runtime_error("the JSON report could not be written");
    many_text(traces, folds, namer, &many);
    struct repairs repairs;
    if (merge_traces_repairs(&repairs, traces, ORDER_PER_THREAD) != 0)
        throw std::runtime_error("there is no repair of several");
    repair_text_many(&repairs, traces, namer, SIZE_MAX, &many);
    if (report_json_many_repaired(traces, folds, &repairs, namer, &json) != 0)
        throw std::runtime_error("the repair of several could not be written");
    merge_traces_end(&repairs);
    CheckAll(traces);
}

inline Whole ReadWhole(const char *path, bool sqlite, const char *scratch, unsigned parts = (1 << PARTS) - 1)
{
    Whole whole;
    site_namer namer = NoNames();
    struct traces traces = {};
    struct folds folds;
    traces.trouble = [](void *data, const char *line) { *static_cast<std::string *>(data) += line; };
    traces.data = &whole.trouble;
    edge_feed feed = {OneEdgeEach, nullptr};
    struct timelines timelines;
    timelines_begin(&timelines, 1000); /* small ones */
    timelines.edges = &feed;
    if (parts & PART_PAGES)
        traces.watch = &timelines.watch;
    traces_add(&traces, path);
    timelines_decide(&timelines);
    traces_order(&traces);
    fold_make(&folds, &traces);
    whole.readable = traces.list.count == 1;
    if (whole.readable) {
        const struct report *report = &traces.list.items[0]->report;
        TextOf text, page;
        report_text(report, &namer, &text);
        if (parts & PART_FORMS)
            ShowForms(&traces, &folds, &namer);
        if ((parts & PART_PAGES) && report_html_many(&traces, &folds, &timelines, &namer, &page) != 0)
            throw std::runtime_error("the page of several could not be written");
        whole.text = text.text;
        whole.recorded = report->totals.recorded;
        whole.damaged = report->trace.damaged;
        whole.lost_chunks = report->trace.lost_chunks;
        for (size_t i = 0; i < folds.list.count; i++)
            whole.ids.push_back(folds.list.items[i].id.text);
        if (parts & PART_EXPORTS)
            ExportAll(&traces, &folds, &namer, sqlite, scratch);
        if (sqlite)
            CompareAll(&traces, &namer, scratch);
        if (parts & PART_REPAIR)
            RepairAll(report, &namer);
        if (parts & PART_REPLAY)
            ReplayAll(&traces.list.items[0]->source);
        if (parts & PART_PAGES)
            ShowPart(&traces.list.items[0]->source, &namer);
    }
    timelines_end(&timelines);
    fold_free(&folds);
    traces_free(&traces);
    return whole;
}

} // namespace ptds

#endif
