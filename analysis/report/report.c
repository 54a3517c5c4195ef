/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds a report: one pass over all calls (pass_over_calls.c), then the ranking. Called by the command, by the shim's exit
 * summary and by tests. Must not print, and must come to an end on any input.
 */
#include "analysis/report/report.h"

#include <stdlib.h>

#include "analysis/base/add.h"
#include "analysis/base/heap.h"
#include "analysis/report/floor.h"
#include "analysis/report/outcome.h"
#include "analysis/report/pass/pass_over_calls.h"
#include "analysis/trace/merge.h"

static void count_exactly(struct report *report)
{
    struct report_totals *totals = &report->totals;
    report->has_counts = report->trace.counts.count != 0;
    totals->calls = report->has_counts ? 0 : totals->recorded;
    for (size_t i = 0; i < report->trace.counts.count; i++) {
        totals->calls += report->trace.counts.items[i].calls;
        totals->failed += report->trace.counts.items[i].failed;
    }
    for (size_t i = 0; i < report->trace.defs.streams.count; i++) {
        uint32_t kind = report->trace.defs.streams.items[i].kind;
        totals->streams[kind <= PTDS_STREAM_SHIM_NON_BLOCKING ? kind : PTDS_STREAM_UNKNOWN]++;
    }
    for (size_t i = 0; i < report->findings.count; i++) {
        totals->costed += report->findings.items[i]->known;
        totals->host_ns = add_capped(totals->host_ns, report->findings.items[i]->host_ns);
    }
}

/* The trace's own counts of default-stream operations hold where records were dropped, too; why an operation was kept is
 * known of the recorded ones only. They are the whole trace's, and say nothing of a part of it. */
static void count_defaults_exactly(struct report *report)
{
    struct report_totals *totals = &report->totals;
    const struct ptds_default_count *exact = &report->trace.defaults;
    uint64_t kept = 0, gone = exact->kept + exact->failed;
    if (!report->trace.has_defaults || gone > exact->legacy || !selection_is_all(&report->selection))
        return;
    for (size_t i = 0; i < KEPT_REASONS; i++)
        kept += totals->kept[i];
    if (kept > exact->kept)
        return; /* the program went on meanwhile, or the counts are damaged */
    totals->default_stream = exact->legacy;
    totals->failed_default = exact->failed;
    totals->remapped = exact->legacy - gone;
    totals->kept[KEPT_DROPPED] = exact->kept - kept;
}

/* Where work was moved the threads' own streams are the shim's doing, too. */
static void count_programs_streams(struct report *report)
{
    struct report_totals *totals = &report->totals;
    for (uint32_t kind = 0; kind < PTDS_STREAM_SHIM_BLOCKING; kind++)
        if (kind != PTDS_STREAM_PER_THREAD || totals->remapped == 0)
            totals->program_streams += totals->streams[kind];
}

size_t report_cover(const struct report *report, unsigned percent)
{
    uint64_t wanted = report->totals.host_ns / 100 * percent, seen = 0;
    for (size_t i = 0; i < report->findings.count && report->totals.host_ns != 0; i++) {
        if (__builtin_add_overflow(seen, report->findings.items[i]->host_ns, &seen) || seen >= wanted)
            return i + 1;
    }
    return 0;
}

static uint64_t first_enter(const struct merge *merge)
{
    return merge->count != 0 ? merge->heap[0].enter : UINT64_MAX;
}

/* From the first clock reading (or call) to the last of either. */
static void find_run_time(struct report *report, const struct merge *merge)
{
    const struct trace *trace = &report->trace;
    uint64_t last = trace->last_ticks, first = first_enter(merge);
    if (trace->defs.clocks.count == 2) {
        first = trace->defs.clocks.items[0].ticks < first ? trace->defs.clocks.items[0].ticks : first;
        last = trace->defs.clocks.items[1].ticks > last ? trace->defs.clocks.items[1].ticks : last;
    }
    report->start = first;
    if (last > first)
        report->totals.run_ns = trace_ns(trace, last - first);
}

int report_read(struct report *report, const struct trace_source *source, char *error)
{
    *report = (struct report){.refusals = heap_refusals()};
    edge_table_begin(&report->edges);
    return trace_read(&report->trace, source, error);
}

static void tell_watch(void *told, uint32_t thread, uint64_t enter)
{
    const struct report *report = told;
    report->watch->default_wait(report->watch, report, thread, enter);
}

/* watch: NULL ends it. */
static void set_watch(struct report *report, struct report_watch *watch)
{
    report->watch = watch;
    report->gain.told = report;
    report->gain.tell = watch != NULL && watch->default_wait != NULL ? tell_watch : NULL;
}

int report_make(struct report *report, const struct selection *selection, struct report_watch *watch, struct walker *walker,
                char *error)
{
    struct merge merge;
    report->selection = selection != NULL ? *selection : (struct selection){0};
    report->out_of_memory |= merge_begin(&merge, &report->trace) != 0;
    find_run_time(report, &merge);
    set_watch(report, watch);
    int status = pass_over_calls(report, &merge, watch, walker, error);
    set_watch(report, NULL);
    merge_end(&merge);
    if (status != 0)
        return status;
    count_exactly(report);
    count_defaults_exactly(report);
    count_programs_streams(report);
    for (size_t i = 0; i < KEPT_REASONS; i++)
        report->totals.kept_all += report->totals.kept[i];
    rank_findings(report, FLOOR_DEFAULT);
    report->out_of_memory |= report->trace.out_of_memory || heap_refusals() != report->refusals;
    report->edges.analysed &= report->totals.recorded != 0 || outcome_of(report).complete;
    report->made = true;
    return 0;
}

int report_build_watched(struct report *report, const struct trace_source *source, const struct selection *selection,
                         struct report_watch *watch, char *error)
{
    int status = report_read(report, source, error);
    return status == 0 ? report_make(report, selection, watch, NULL, error) : status;
}

int report_build(struct report *report, const struct trace_source *source, char *error)
{
    return report_build_watched(report, source, NULL, NULL, error);
}

void report_end(struct report *report)
{
    for (size_t i = 0; i < report->rules; i++) {
        finding_free_all(&report->runs[i].findings);
        free(report->runs[i].state);
    }
    free(report->findings.items);
    free(report->sequences.items);
    free(report->entries.items);
    sums_free(&report->sums);
    edge_table_free(&report->edges);
    gain_free(&report->gain);
    sequence_search_free(&report->search);
    trace_close(&report->trace);
    *report = (struct report){0};
}
