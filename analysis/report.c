/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds a report: one pass of all calls through the model and every rule, then the ranking. Called by the command, by the
 * shim's exit summary and by tests. Must not print, and must come to an end on any input.
 */
#include "analysis/report.h"

#include <stdlib.h>

static void begin_rules(struct report *report, struct model *model)
{
    const struct rule *rules[RULES_MOST];
    report->rules = rules_all(rules);
    for (size_t i = 0; i < report->rules; i++) {
        struct rule_run *run = &report->runs[i];
        *run = (struct rule_run){.rule = rules[i], .model = model, .trace = &report->trace};
        if (rules[i]->state != 0)
            run->state = calloc(1, rules[i]->state);
        if (rules[i]->state != 0 && run->state == NULL) {
            report->out_of_memory = true;
            run->rule = NULL;
        }
    }
}

static enum kept_reason kept_reason(uint32_t flags)
{
    return flags & PTDS_CALL_KEPT_CAPTURE    ? KEPT_CAPTURE
           : flags & PTDS_CALL_KEPT_REFUSED  ? KEPT_REFUSED
           : flags & PTDS_CALL_KEPT_EXCLUDED ? KEPT_EXCLUDED
           : flags & PTDS_CALL_KEPT_NO_WAY   ? KEPT_NO_WAY
           : flags & PTDS_CALL_EXPLICIT      ? KEPT_EXPLICIT
                                             : KEPT_UNSAID;
}

static bool is_opaque(const struct report *report, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    if (call->op == PTDS_OP_LAUNCH) {
        const struct kernel_def *kernel = definitions_kernel(&report->trace.defs, call->object);
        if (kernel == NULL || kernel->params == UINT32_MAX)
            return true;
    }
    return (call->flags & PTDS_CALL_OPAQUE) || call->op == PTDS_OP_OPAQUE;
}

static void count_call(struct report *report, const struct call_view *view)
{
    struct report_totals *totals = &report->totals;
    uint32_t flags = view->call->r.flags;
    totals->recorded++;
    totals->opaque += view->work && is_opaque(report, view);
    totals->unknown_streams += view->work && view->target_kind == PTDS_STREAM_UNKNOWN;
    bool operation = view->submits || (!view->succeeded && (flags & PTDS_CALL_LEGACY) && view->target != MODEL_NO_SLOT);
    if (!operation || !(flags & PTDS_CALL_LEGACY))
        return;
    totals->default_stream++;
    if (!view->succeeded)
        totals->failed_default++;
    else if (flags & PTDS_CALL_REMAPPED)
        totals->remapped++;
    else
        totals->kept[kept_reason(flags)]++;
}

/* Every rule sees every call; only selected ones count. Returns the finding that the call went to, the costliest of
 * several.
 */
static struct finding *run_rules(struct report *report, const struct call_view *view, bool selected)
{
    struct finding *costliest = NULL;
    for (size_t i = 0; i < report->rules; i++) {
        struct rule_run *run = &report->runs[i];
        if (run->rule == NULL)
            continue;
        run->findings.muted = !selected;
        run->findings.flagged = NULL;
        run->rule->on_call(run, view);
        struct finding *flagged = run->findings.flagged;
        if (flagged != NULL && (costliest == NULL || flagged->host_ns > costliest->host_ns))
            costliest = flagged;
    }
    if (costliest != NULL && costliest->serial == 0)
        costliest->serial = ++report->serials;
    return costliest;
}

static void take_call(struct report *report, struct report_watch *watch, const struct call_view *view, bool selected)
{
    struct finding *finding = run_rules(report, view, selected);
    uint32_t serial = finding != NULL ? finding->serial : 0;
    if (!selected)
        return;
    count_call(report, view);
    report->selected_last = view->call->r.enter;
    sequence_call(&report->search, &report->trace, view, serial);
    if (watch != NULL && watch->call != NULL)
        watch->call(watch, report, view, serial);
}

enum { PROGRESS_CALLS = 1 << 16 };

static void run_calls(struct report *report, struct model *model, struct merge *merge, const struct selected *selected,
                      struct report_watch *watch)
{
    const struct call *call;
    struct call_view view;
    for (uint64_t done = 0; (call = merge_next(merge)) != NULL; done++) {
        if (done % PROGRESS_CALLS == 0 && watch != NULL && watch->progress != NULL)
            watch->progress(watch, done, report->trace.calls);
        if (!model_enter(model, call, &view)) {
            report->out_of_memory = true;
            continue;
        }
        take_call(report, watch, &view, selected_has(selected, &report->trace, call));
        model_leave(model, &view);
    }
    edge_table_finish(&report->edges);
}

static void end_rules(struct report *report)
{
    for (size_t i = 0; i < report->rules; i++) {
        struct rule_run *run = &report->runs[i];
        run->findings.muted = false;
        if (run->rule != NULL && run->rule->end != NULL)
            run->rule->end(run);
        run->model = NULL;
        report->refused += run->findings.refused;
        for (size_t j = 0; j < run->findings.list.count; j++) {
            edge_table_judge(&report->edges, run->findings.list.items[j]);
            if (TABLE_ADD(&report->findings))
                *TABLE_LAST(&report->findings) = run->findings.list.items[j];
            else
                report->out_of_memory = true;
        }
    }
}

/* By host time lost; findings whose cost nobody knows come before those known to cost nothing, then by number of calls. */
static int by_cost(const void *a, const void *b)
{
    const struct finding *one = *(struct finding *const *)a, *two = *(struct finding *const *)b;
    if (one->host_ns != two->host_ns)
        return one->host_ns > two->host_ns ? -1 : 1;
    bool one_unknown = one->unknown != 0, two_unknown = two->unknown != 0;
    if (one_unknown != two_unknown)
        return one_unknown ? -1 : 1;
    if (one->count != two->count)
        return one->count > two->count ? -1 : 1;
    return one->first != two->first ? (one->first < two->first ? -1 : 1) : 0;
}

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
        if (__builtin_add_overflow(totals->host_ns, report->findings.items[i]->host_ns, &totals->host_ns))
            totals->host_ns = UINT64_MAX;
    }
}

static uint64_t first_enter(const struct merge *merge)
{
    return merge->count != 0 ? merge->cursors[merge->heap[0]].call.r.enter : UINT64_MAX;
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

static int build(struct report *report, struct merge *merge, struct report_watch *watch, char *error)
{
    struct selected selected;
    struct model model;
    find_run_time(report, merge);
    if (selected_begin(&selected, &report->selection, &report->trace, report->start, error) != 0) {
        selected_end(&selected);
        return -1;
    }
    model_begin(&model, &report->trace, false);
    begin_rules(report, &model);
    run_calls(report, &model, merge, &selected, watch);
    end_rules(report);
    report->totals.untimed_waits = model.untimed_waits;
    report->totals.unplaced = model.unplaced;
    report->totals.unknown_generations = model.order[ORDER_REAL].unknown_generations;
    model_end(&model);
    selected_end(&selected);
    return 0;
}

int report_build_watched(struct report *report, const struct trace_source *source, const struct selection *selection,
                         struct report_watch *watch, char *error)
{
    *report = (struct report){.selection = selection != NULL ? *selection : (struct selection){0}};
    edge_table_begin(&report->edges);
    if (trace_read(&report->trace, source, error) != 0)
        return -1;
    struct merge merge;
    report->out_of_memory |= merge_begin(&merge, &report->trace) != 0;
    int status = build(report, &merge, watch, error);
    merge_end(&merge);
    if (status != 0)
        return status;
    if (report->findings.count != 0)
        qsort(report->findings.items, report->findings.count, sizeof *report->findings.items, by_cost);
    report_find_sequences(report);
    count_exactly(report);
    report->out_of_memory |= report->trace.out_of_memory;
    return 0;
}

int report_build(struct report *report, const struct trace_source *source, char *error)
{
    return report_build_watched(report, source, NULL, NULL, error);
}

void report_end(struct report *report)
{
    for (size_t i = 0; i < report->rules; i++) {
        findings_free(&report->runs[i].findings);
        free(report->runs[i].state);
    }
    free(report->findings.items);
    free(report->sequences.items);
    edge_table_free(&report->edges);
    sequence_search_free(&report->search);
    trace_close(&report->trace);
    *report = (struct report){0};
}
