/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON for several traces. Called by `ptds report`. "findings" are as in the report on one trace, with sums over processes
 * and two more keys, so that whatever reads one form can read the other.
 */
#include "analysis/views/json/many_json.h"

#include "analysis/views/json/parts.h"
#include "analysis/symbols/symbols.h"

static json_t *number(uint64_t value)
{
    return json_integer(value <= INT64_MAX ? (json_int_t)value : INT64_MAX);
}

static json_t *number_or_null(bool known, uint64_t value)
{
    return known ? number(value) : json_null();
}

static void add_reason(void *data, const char *line)
{
    json_array_append_new(data, json_string(line));
}

static json_t *process(const struct traced *traced)
{
    const struct report *report = &traced->report;
    json_t *out = report_json_meta(report), *reasons = json_array();
    traced_incomplete(traced, add_reason, reasons);
    json_object_set_new(out, "start_unix_ns",
                        number_or_null(traced->has_realtime, traced_realtime(traced, traced->first_ticks)));
    json_object_set_new(out, "calls", number(report->totals.calls));
    json_object_set_new(out, "default_stream", number(report->totals.default_stream));
    json_object_set_new(out, "remapped", number(report->totals.remapped));
    json_object_set_new(out, "findings", number(report->findings.count));
    json_object_set_new(out, "host_ns_lost", number_or_null(report->totals.costed != 0, report->totals.host_ns));
    json_object_set_new(out, "blocked_ns", number_or_null(trace_has_time(&report->trace), report->totals.blocked_ns));
    json_object_set_new(out, "threads_ns", number_or_null(trace_has_time(&report->trace), report->totals.threads_ns));
    json_object_set_new(out, "outcome", json_string(doubt_names[report_outcome(report).doubt]));
    json_object_set_new(out, "incomplete", reasons);
    json_object_set_new(out, "completeness", report_json_completeness(report));
    return out;
}

static json_t *shares(const struct folded *folded)
{
    json_t *out = json_array();
    for (size_t i = 0; i < folded->shares.count; i++) {
        const struct share *share = &folded->shares.items[i];
        json_t *one = json_object();
        json_object_set_new(one, "process", number(share->process));
        json_object_set_new(one, "count", number(share->count));
        json_object_set_new(one, "host_ns", number_or_null(share->known != 0, share->host_ns));
        json_object_set_new(one, "host_unknown_calls", number(share->unknown));
        json_array_append_new(out, one);
    }
    return out;
}

static json_t *spread(const struct folded *folded)
{
    struct spread spread = folded_spread(folded);
    json_t *out = json_object();
    json_object_set_new(out, "known_processes", number(spread.processes));
    json_object_set_new(out, "min", number_or_null(spread.processes != 0, spread.least));
    json_object_set_new(out, "median", number_or_null(spread.processes != 0, spread.median));
    json_object_set_new(out, "max", number_or_null(spread.processes != 0, spread.most));
    json_object_set_new(out, "max_process", number_or_null(spread.processes != 0, spread.most_process));
    return out;
}

static json_t *finding(const struct traces *traces, struct site_namer *namer, const struct folded *folded)
{
    const struct report *report = &traces->list.items[folded->process]->report;
    symbols_of(namer, &report->trace);
    json_t *out = report_json_finding(report, namer, folded->finding), *cost = json_object();
    json_object_set_new(cost, "host_ns", number_or_null(folded->known != 0, folded->host_ns));
    json_object_set_new(cost, "host_known_calls", number(folded->known));
    json_object_set_new(cost, "host_unknown_calls", number(folded->unknown));
    json_object_set_new(cost, "gpu_ns", json_null());
    json_object_set_new(out, "count", number(folded->count));
    json_object_set_new(out, "cost", cost);
    json_object_set_new(out, "folded", folded->shown ? json_null() : json_string(fold_names[folded->finding->fold]));
    json_object_set_new(out, "sequence", json_null()); /* its process's own report has them */
    /* Values, call site and names are of the process that it cost most. */
    json_object_set_new(out, "values_of_process", number(folded->process));
    json_object_set_new(out, "processes", shares(folded));
    json_object_set_new(out, "host_ns_by_process", spread(folded));
    return out;
}

json_t *many_json_document(const struct traces *traces, const struct folds *folds, struct site_namer *namer)
{
    json_t *out = json_object(), *processes = json_array(), *findings = json_array(), *totals = json_object();
    for (size_t i = 0; i < traces->list.count; i++)
        json_array_append_new(processes, process(traces->list.items[i]));
    for (size_t i = 0; i < folds->list.count; i++)
        json_array_append_new(findings, finding(traces, namer, &folds->list.items[i]));
    json_object_set_new(totals, "processes", number(traces->list.count));
    json_object_set_new(totals, "unreadable_traces", number(traces->unreadable));
    json_object_set_new(totals, "host_ns_lost", number_or_null(folds->known != 0, folds->host_ns));
    struct report_totals gpu = traces_gpu_totals(traces);
    json_object_set_new(totals, "gpu_operations", number(gpu.gpu_operations));
    json_object_set_new(totals, "gpu_timed", number(gpu.gpu_timed));
    json_object_set_new(totals, "gpu_times", json_string(report_gpu_times(&gpu).text));
    json_object_set_new(out, "ptds_report_version", json_integer(1));
    json_object_set_new(out, "processes", processes);
    json_object_set_new(out, "totals", totals);
    json_object_set_new(out, "findings", findings);
    return out;
}

int many_json(const struct traces *traces, const struct folds *folds, struct site_namer *namer, struct text_sink *sink)
{
    return report_json_write(many_json_document(traces, folds, namer), sink);
}
