/* SPDX-License-Identifier: Apache-2.0
 *
 * All calls once, in merged order, through the model, the verdict engine and every rule. Called by report.c. A call costs
 * nothing at the rules that it does not concern; must come to an end on any input.
 */
#include "analysis/report_pass.h"

#include <stdlib.h>

#include "analysis/device_times.h"

enum { PROGRESS_CALLS = 1 << 16 };

struct pass {
    struct report *report;
    struct report_watch *watch;
    struct selected selected;
    struct model model;
    struct verdicts *verdicts; /* NULL without memory */
    struct aftermath aftermath;
    struct device_times device;
};

static void begin_rules(struct pass *pass)
{
    struct report *report = pass->report;
    const struct rule *rules[RULES_MOST];
    report->rules = rules_all(rules);
    for (size_t i = 0; i < report->rules; i++) {
        struct rule_run *run = &report->runs[i];
        *run = (struct rule_run){
            .rule = rules[i], .model = &pass->model, .trace = &report->trace, .aftermath = &pass->aftermath};
        run->findings.selected = &pass->selected;
        if (rules[i]->state != 0)
            run->state = calloc(1, rules[i]->state);
        if (rules[i]->state != 0 && run->state == NULL) {
            report->out_of_memory = true;
            run->rule = NULL;
        }
    }
}

/* So that a call costs nothing at the rules that it does not concern. */
static void sort_rules(struct report *report)
{
    for (size_t i = 0; i < report->rules; i++) {
        const struct rule *rule = report->runs[i].rule;
        uint64_t bit = UINT64_C(1) << i;
        if (rule == NULL || rule->on_call == NULL)
            continue;
        for (unsigned op = 0; op < 64; op++)
            report->wanting[op] |= rule->ops == RULE_ALL || (rule->ops & RULE_OP(op)) ? bit : 0;
        report->wanting_all |= rule->ops == RULE_ALL ? bit : 0;
        for (unsigned at = 0; at < CASES; at++)
            report->by_case[at] |= rule->cases & 1u << at ? bit : 0;
        report->runs[i].awake = rule->cases == 0;
        report->awake |= rule->cases == 0 ? bit : 0;
    }
}

static unsigned cases_of(const struct model *model, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    bool captures = call->op == PTDS_OP_CAPTURE_BEGIN || call->op == PTDS_OP_CAPTURE_END ||
                    (call->flags & (PTDS_CALL_CAPTURE_OPEN | PTDS_CALL_KEPT_CAPTURE));
    return (call->flags & (PTDS_CALL_LEGACY | PTDS_CALL_TWIN) ? CASE_DEFAULT : 0) | (view->legacy ? CASE_LEGACY : 0) |
           (call->flags & PTDS_CALL_REMAPPED ? CASE_REMAPPED : 0) | (view->work ? 0 : CASE_NO_WORK) |
           (view->work && !model_is_pending(model, view->target) ? CASE_FIRST : 0) |
           (model_is_blocking(view->target_kind) ? CASE_BLOCKING : 0) |
           (view->asked_kind == PTDS_STREAM_PER_THREAD ? CASE_PER_THREAD : 0) |
           (call->op == PTDS_OP_HOST_FUNCTION ? CASE_HOST_FUNCTION : 0) |
           (!view->succeeded || captures ? CASE_CAPTURE : 0) | (view->unordered != NULL ? CASE_CONFLICT : 0);
}

/* The rules that may have something to say about the call. */
static uint64_t concerned(const struct report *report, const struct model *model, const struct call_view *view)
{
    unsigned op = view->call->r.op;
    uint64_t rules = report->awake;
    for (unsigned cases = cases_of(model, view); cases != 0; cases &= cases - 1)
        rules |= report->by_case[__builtin_ctz(cases)];
    return rules & (op < 64 ? report->wanting[op] : report->wanting_all);
}

/* The rule's turn; the costlier of the finding so far and of the one that the call went to. */
static struct finding *run_rule(struct rule_run *run, void (*turn)(struct rule_run *run, const struct call_view *view),
                                const struct call_view *view, struct finding *costliest)
{
    run->findings.flagged = NULL;
    turn(run, view);
    struct finding *flagged = run->findings.flagged_call == view->call ? run->findings.flagged : NULL;
    return flagged != NULL && (costliest == NULL || flagged->host_ns > costliest->host_ns) ? flagged : costliest;
}

/* Returns the finding that the call went to, the costliest of several. */
static struct finding *run_rules(struct report *report, const struct model *model, const struct call_view *view)
{
    struct finding *costliest = NULL;
    for (uint64_t rules = concerned(report, model, view); rules != 0; rules &= rules - 1) {
        struct rule_run *run = &report->runs[__builtin_ctzll(rules)];
        costliest = run_rule(run, run->rule->on_call, view, costliest);
        report->awake = run->awake ? report->awake | (rules & -rules) : report->awake & ~(rules & -rules);
    }
    for (size_t i = 0; view->held_by != NULL && i < report->rules; i++)
        if (report->runs[i].rule != NULL && report->runs[i].rule->on_held != NULL)
            costliest = run_rule(&report->runs[i], report->runs[i].rule->on_held, view, costliest);
    if (costliest != NULL && costliest->serial == 0)
        costliest->serial = ++report->serials;
    return costliest;
}

static void judged(void *data, const struct judged *wait)
{
    struct report *report = data;
    for (size_t i = 0; i < report->rules; i++)
        if (report->runs[i].rule != NULL && report->runs[i].rule->on_judged != NULL)
            report->runs[i].rule->on_judged(&report->runs[i], wait);
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

/* What a GPU does: of these the shim takes times. */
static bool is_gpu_work(const struct call_view *view)
{
    unsigned op = view->call->r.op;
    return view->work && (op == PTDS_OP_LAUNCH || op == PTDS_OP_GRAPH_LAUNCH || op == PTDS_OP_COPY || op == PTDS_OP_MEMSET);
}

static void count_call(struct report *report, const struct call_view *view)
{
    struct report_totals *totals = &report->totals;
    uint32_t flags = view->call->r.flags;
    totals->recorded++;
    totals->gpu_operations += is_gpu_work(view);
    totals->gpu_timed += is_gpu_work(view) && view->ran != NULL;
    totals->opaque += view->work && is_opaque(report, view);
    totals->unknown_streams += view->work && view->target_kind == PTDS_STREAM_UNKNOWN;
    bool work = view->call->r.op >= PTDS_OP_LAUNCH && view->call->r.op <= PTDS_OP_OPAQUE; /* and events: no queries */
    bool operation = view->submits || (work && !view->succeeded && view->target != MODEL_NO_SLOT);
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

/* Every rule sees every call; only those that the report is about count. */
static void take_call(struct pass *pass, struct call_view *view, bool gap)
{
    struct report *report = pass->report;
    aftermath_look(&pass->aftermath, view);
    if (pass->verdicts != NULL)
        view->unordered = verdicts_take(pass->verdicts, view, gap);
    struct finding *finding = run_rules(report, &pass->model, view);
    aftermath_call(&pass->aftermath, view);
    if (!selected_has(&pass->selected, view->call))
        return;
    uint32_t serial = finding != NULL ? finding->serial : 0;
    view->ran = device_times_of(&pass->device, view->call);
    count_call(report, view);
    report->selected_last = view->call->r.enter;
    sequence_call(&report->search, &report->trace, view, serial);
    if (pass->watch != NULL && pass->watch->call != NULL)
        pass->watch->call(pass->watch, report, view, serial);
}

static void run_calls(struct pass *pass, struct merge *merge)
{
    struct report *report = pass->report;
    const struct report_watch *watch = pass->watch;
    const struct call *call;
    struct call_view view;
    for (uint64_t done = 0; (call = merge_next(merge)) != NULL; done++) {
        if (done % PROGRESS_CALLS == 0 && watch != NULL && watch->progress != NULL)
            watch->progress(pass->watch, done, report->trace.calls);
        if (!model_enter(&pass->model, call, &view)) {
            report->out_of_memory = true;
            continue;
        }
        take_call(pass, &view, merge_in_gap(merge));
        model_leave(&pass->model, &view);
    }
}

static void begin(struct pass *pass)
{
    struct report *report = pass->report;
    model_begin(&pass->model, &report->trace, false);
    report->edges.selected = &pass->selected;
    pass->verdicts = verdicts_begin(&report->trace, &report->edges.sink);
    report->edges.analysed = pass->verdicts != NULL;
    device_times_begin(&pass->device, &report->trace);
    report->out_of_memory |= pass->verdicts == NULL || pass->device.out_of_memory;
    aftermath_begin(&pass->aftermath, &pass->model, pass->verdicts, judged, report);
    begin_rules(pass);
    sort_rules(report);
}

/* What is gone matters as far as a result needs it. */
static enum severity order_gone_severity(const struct finding *finding)
{
    if (finding->verdicts[VERDICT_LOAD_BEARING] != 0)
        return SEVERITY_ERROR;
    return finding->verdicts[VERDICT_FALSE] != 0 && finding->verdicts[VERDICT_UNKNOWN] == 0 ? SEVERITY_NOTE
                                                                                            : SEVERITY_WARNING;
}

static void end_rule(struct report *report, struct rule_run *run)
{
    run->aftermath = NULL;
    if (run->rule != NULL && run->rule->end != NULL)
        run->rule->end(run);
    run->model = NULL;
    run->findings.selected = NULL;
    report->refused += run->findings.refused;
    for (size_t i = 0; i < run->findings.list.count; i++) {
        struct finding *finding = run->findings.list.items[i];
        edge_table_judge(&report->edges, finding);
        if (run->rule->order_gone)
            finding_severity(finding, order_gone_severity(finding));
        if (TABLE_ADD(&report->findings))
            *TABLE_LAST(&report->findings) = finding;
        else
            report->out_of_memory = true;
    }
}

static void end(struct pass *pass)
{
    struct report *report = pass->report;
    aftermath_end(&pass->aftermath);
    verdicts_end(pass->verdicts, &report->edges.totals);
    edge_table_finish(&report->edges);
    for (size_t i = 0; i < report->rules; i++)
        end_rule(report, &report->runs[i]);
    report->totals.untimed_waits = pass->model.untimed_waits;
    report->totals.unplaced = pass->model.unplaced;
    report->totals.unknown_generations = pass->model.order[ORDER_REAL].unknown_generations;
    model_end(&pass->model);
    device_times_end(&pass->device);
}

int report_pass(struct report *report, struct merge *merge, struct report_watch *watch, char *error)
{
    struct pass pass = {.report = report, .watch = watch};
    int status = selected_begin(&pass.selected, &report->selection, &report->trace, report->start, error);
    if (status == 0) {
        begin(&pass);
        run_calls(&pass, merge);
        end(&pass);
    }
    selected_end(&pass.selected);
    return status;
}
