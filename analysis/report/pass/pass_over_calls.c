/* SPDX-License-Identifier: Apache-2.0
 *
 * All calls once, in merged order, through the model, the verdict engine and every rule. Called by report.c. A call costs
 * nothing at the rules that it does not concern; must come to an end on any input.
 */
#include "analysis/report/pass/pass_over_calls.h"

#include <stdlib.h>

#include "analysis/base/add.h"
#include "analysis/base/heap.h"
#include "analysis/base/hints.h"
#include "analysis/report/pass/busy.h"
#include "analysis/report/pass/give_edges.h"
#include "analysis/report/pass/lives.h"
#include "analysis/trace/device_runs.h"
#include "analysis/report/pass/shapes.h"
#include "analysis/trace/merge.h"

enum { PROGRESS_CALLS = 1 << 16, TIME_CALLS = 16 };

struct pass {
    struct report *report;
    struct walker *walker; /* NULL: none */
    struct give_edges edges;
    struct shapes shapes;
    struct report_watch *watch;
    struct selected selected;
    struct model model;
    struct verdicts *verdicts; /* NULL without memory */
    struct aftermath aftermath;
    struct busy busy;
    struct savings savings;
    struct removed_policies removed_by;
    struct lives lives;
    uint64_t first_work; /* ticks of the first call that put work on a GPU; UINT64_MAX: none so far */
    bool counts_all;     /* every call is asked for, and nobody wants to see each of them */
};

static void begin_rules(struct pass *pass)
{
    struct report *report = pass->report;
    const struct rule *rules[RULES_MOST];
    report->rules = registry_all(rules);
    for (size_t i = 0; i < report->rules; i++) {
        struct rule_run *run = &report->runs[i];
        *run = (struct rule_run){.rule = rules[i],
                                 .model = &pass->model,
                                 .trace = &report->trace,
                                 .aftermath = &pass->aftermath,
                                 .savings = &pass->savings,
                                 .startup = &report->startup,
                                 .gain = &report->gain,
                                 .removed_by = &pass->removed_by};
        run->findings.selected = &pass->selected;
        if (rules[i]->state != 0)
            run->state = heap_zeroed(1, rules[i]->state);
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
        if (rule != NULL && rule->on_edge != NULL)
            report->of_edges |= bit;
        if (rule == NULL || rule->on_call == NULL || (rule->applies != NULL && !rule->applies(&report->trace)))
            continue;
        for (unsigned op = 0; op < 64; op++)
            report->wanting[op] |= rule->ops == RULE_ALL || (rule->ops & RULE_OP(op)) ? bit : 0;
        report->wanting_all |= rule->ops == RULE_ALL ? bit : 0;
        for (unsigned at = 0; at < CASES; at++)
            report->by_case[at] |= rule->cases & 1u << at ? bit : 0;
        report->runs[i].awake = rule->cases == 0;
        report->awake |= rule->cases == 0 ? bit : 0;
        report->rest |= rule->rest ? bit : 0;
    }
}

static inline uint64_t of_case(const struct report *report, enum rule_case one)
{
    return report->by_case[__builtin_ctz(one)];
}

/* The rules that may have something to say about the call. */
static INLINE uint64_t concerned(const struct pass *pass, const struct shape *shape, const struct call_view *view)
{
    const struct report *report = pass->report;
    unsigned op = view->call->r.op;
    uint64_t rules = shape->rules | report->awake;
    if (view->work && !model_is_pending(&pass->model, view->target))
        rules |= of_case(report, CASE_FIRST);
    if (view->work && pass->model.streams.items[view->target].last_thread != view->call->thread)
        rules |= of_case(report, CASE_HANDED);
    if (view->submits && model_joins(&pass->model, view->target))
        rules |= of_case(report, CASE_JOINS);
    if (view->unordered != NULL)
        rules |= of_case(report, CASE_CONFLICT);
    if (view->overtaken != NULL)
        rules |= of_case(report, CASE_OVERTAKEN);
    if (view->given_up != NULL)
        rules |= of_case(report, CASE_GIVEN_UP);
    return rules & (op < 64 ? report->wanting[op] : report->wanting_all);
}

/* Which of two findings a call is shown with: the costlier, and one whose cost is counted rather than unknown. */
static bool is_costlier(const struct finding *one, const struct finding *other)
{
    return one->host_ns != other->host_ns ? one->host_ns > other->host_ns : one->unknown == 0 && other->unknown != 0;
}

/* By which policies what the rule found in this call would go. Most findings have both answers soon, or need none. */
static void note_removed(struct rule_run *run, struct finding *flagged, const struct call_view *view)
{
    enum removed_by by = run->rule->removed_by;
    if (by < REMOVED_WITH_WAIT || by > REMOVED_WITH_MOVE)
        return;
    struct removed_set removed_by = removed_by_policy_of_call(by, run->removed_by, run->model, view);
    removed_by_policy_note(flagged, &removed_by);
}

/* The rule's turn; the costlier of the finding so far and of the one that the call went to. */
static INLINE struct finding *run_rule(struct rule_run *run,
                                       void (*turn)(struct rule_run *run, const struct call_view *view),
                                       const struct call_view *view, struct finding *costliest)
{
    run->findings.flagged = NULL;
    turn(run, view);
    struct finding *flagged = run->findings.flagged_call == view->call ? run->findings.flagged : NULL;
    if (flagged != NULL && turn == run->rule->on_call)
        note_removed(run, flagged, view);
    return flagged != NULL && (costliest == NULL || is_costlier(flagged, costliest)) ? flagged : costliest;
}

/* Calls whose time no other rule took: a finding of unknown cost says nothing of it. */
static struct finding *run_rest(struct report *report, uint64_t rules, const struct call_view *view,
                                struct finding *costliest)
{
    for (; rules != 0; rules &= rules - 1) {
        struct rule_run *run = &report->runs[__builtin_ctzll(rules)];
        costliest = run_rule(run, run->rule->on_call, view, costliest);
    }
    return costliest;
}

/* Returns the finding that the call went to, the costliest of several. */
static INLINE struct finding *run_rules(struct pass *pass, const struct shape *shape, const struct call_view *view)
{
    struct report *report = pass->report;
    struct finding *costliest = NULL;
    uint64_t concerns = concerned(pass, shape, view);
    for (uint64_t rules = concerns & ~report->rest; rules != 0; rules &= rules - 1) {
        struct rule_run *run = &report->runs[__builtin_ctzll(rules)];
        costliest = run_rule(run, run->rule->on_call, view, costliest);
        uint64_t bit = rules & -rules;
        report->awake = run->awake ? report->awake | bit : report->awake & ~bit;
    }
    for (size_t i = 0; view->held_by != NULL && i < report->rules; i++)
        if (report->runs[i].rule != NULL && report->runs[i].rule->on_held != NULL)
            costliest = run_rule(&report->runs[i], report->runs[i].rule->on_held, view, costliest);
    if ((concerns & report->rest) != 0 && (costliest == NULL || costliest->unknown != 0))
        costliest = run_rest(report, concerns & report->rest, view, costliest);
    if (costliest != NULL && costliest->serial == 0)
        costliest->serial = ++report->serials;
    return costliest;
}

static void judged(void *data, const struct judged *wait)
{
    struct report *report = data;
    for (size_t i = 0; i < report->rules; i++) {
        struct rule_run *run = &report->runs[i];
        if (run->rule == NULL || run->rule->on_judged == NULL)
            continue;
        run->findings.flagged = NULL;
        run->rule->on_judged(run, wait);
        removed_by_policy_note(run->findings.flagged, &wait->removed_by);
    }
}

static RARE void count_gpu(struct pass *pass, const struct call_view *view)
{
    const struct trace *trace = &pass->report->trace;
    uint64_t after, ns, enter = trace_ns(trace, view->call->r.enter - pass->report->start);
    pass->report->totals.gpu_timed++;
    device_runs_times(trace, view->ran, &after, &ns);
    struct busy_run run = {.begin = add_capped(enter, after), .device = view->ran->device};
    run.end = add_capped(run.begin, ns);
    if (view->call->r.flags & PTDS_CALL_LEGACY)
        pass->report->totals.gpu_default_ns = add_capped(pass->report->totals.gpu_default_ns, ns);
    if (!busy_add(&pass->busy, run))
        pass->report->out_of_memory = true;
}

/* From a GPU's first operation to its last, or to the last call. */
static void end_busy(struct pass *pass)
{
    struct report_totals *totals = &pass->report->totals;
    uint64_t last = lives_last(&pass->lives, pass->report->start);
    busy_finish(&pass->busy, trace_ns(&pass->report->trace, last - pass->report->start));
    if (!trace_has_time(&pass->report->trace))
        return;
    if (last > pass->first_work)
        totals->gpu_part_ns = trace_ns(&pass->report->trace, last - pass->first_work);
    totals->gpu_busy_ns = pass->busy.busy_ns;
    totals->gpu_span_ns = pass->busy.span_ns;
    totals->gpus = pass->busy.devices;
}

static ASIDE void take_found(struct call_view *view, const struct verdicts_found *found)
{
    view->unordered = found->unordered;
    view->given_up = found->given_up;
    view->overtaken = found->overtaken;
}

static INLINE void count_call(struct pass *pass, struct shape *shape, const struct call_view *view)
{
    struct report *report = pass->report;
    lives_look(&pass->lives, &report->totals, view);
    if (pass->first_work == UINT64_MAX && view->work)
        pass->first_work = view->call->r.enter;
    shape->count++;
    if (shape->of_kernel)
        report->totals.opaque += definitions_kernel_hides(&report->trace.defs, view->call->r.object);
    if (shape->gpu_work && view->ran != NULL)
        count_gpu(pass, view);
    report->selected_last = view->call->r.enter;
}

/* Whether a call that is `again`, and that the verdicts found nothing wrong with, concerns nobody else: no rule wanted the
 * last one, nobody watches what it does, and all calls count. */
static INLINE bool is_quiet(const struct pass *pass, const struct shape *shape, const struct call_view *view)
{
    const struct report *report = pass->report;
    return ((shape->rules | report->awake) & report->wanting[PTDS_OP_LAUNCH]) == 0 && report->gain.open == 0 &&
           !saving_is_open(&pass->savings, view->call->thread, true) && aftermath_is_told_nothing(&pass->aftermath, view) &&
           pass->counts_all;
}

/* Whether the verdicts found anything wrong with the call. */
static INLINE bool judge_call(struct pass *pass, struct call_view *view, bool gap)
{
    const struct verdicts_found *found = pass->verdicts != NULL ? verdicts_take(pass->verdicts, view, gap) : NULL;
    if (found != NULL)
        take_found(view, found);
    return found != NULL;
}

/* Rules and whatever else looks for findings, after the verdicts. What a wait was for comes last: the watch has the call.
 */
static INLINE void find(struct pass *pass, struct shape *shape, const struct call_view *view)
{
    struct report *report = pass->report;
    startup_look(&report->startup, view);
    saving_look_if_open(&pass->savings, view);
    struct finding *finding = run_rules(pass, shape, view);
    aftermath_call(&pass->aftermath, view);
    if (selection_has(&pass->selected, view->call)) {
        uint32_t serial = finding != NULL ? finding->serial : 0;
        count_call(pass, shape, view);
        sequence_call(&report->search, &report->trace, view, serial);
        if (pass->watch != NULL && pass->watch->call != NULL)
            pass->watch->call(pass->watch, report, view, serial);
    }
    gain_look(&report->gain, &pass->model, view);
    if (view->blocked)
        gain_blocked(&report->gain, &pass->model, view);
}

/* Every rule sees every call that may concern it; only those that the report is about count. */
static INLINE void take_call(struct pass *pass, struct call_view *view, bool gap)
{
    struct shape *shape = shapes_of(&pass->shapes, pass->report, view);
    aftermath_look(&pass->aftermath, view);
    bool found = judge_call(pass, view, gap);
    if (view->again && !found && is_quiet(pass, shape, view)) {
        tracks_note(&pass->aftermath.tracks, &pass->model, view);
        count_call(pass, shape, view);
    } else {
        find(pass, shape, view);
    }
}

static ASIDE void walk_in(struct pass *pass, const struct call_view *view, bool gap)
{
    pass->walker->gap = gap;
    pass->walker->call(pass->walker, &pass->model, view);
}

static ASIDE void walk_out(struct pass *pass, const struct call_view *view)
{
    if (pass->walker->after != NULL)
        pass->walker->after(pass->walker, &pass->model, view);
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
        if (done % TIME_CALLS == 0 && watch != NULL && watch->go_on != NULL && !watch->go_on(pass->watch)) {
            report->left_out = report->trace.calls - done;
            return;
        }
        if (!model_enter(&pass->model, call, &view)) {
            report->out_of_memory = true;
            continue;
        }
        take_call(pass, &view, merge_in_gap(merge));
        if (pass->walker != NULL)
            walk_in(pass, &view, merge_in_gap(merge));
        model_leave(&pass->model, &view);
        if (pass->walker != NULL)
            walk_out(pass, &view);
    }
}

static void begin(struct pass *pass)
{
    struct report *report = pass->report;
    model_begin(&pass->model, &report->trace);
    report->edges.selected = &pass->selected;
    pass->savings.model = &pass->model;
    struct edge_sink *other = pass->walker != NULL ? pass->walker->edges : NULL;
    pass->verdicts = verdicts_begin(&pass->model, give_edges_begin(&pass->edges, report, other));
    report->edges.analysed = pass->verdicts != NULL;
    report->out_of_memory |= pass->verdicts == NULL || pass->model.device.out_of_memory;
    pass->removed_by = removed_by_policy_prepare(&report->trace.defs);
    pass->counts_all = pass->selected.asked == NULL && (pass->watch == NULL || pass->watch->call == NULL);
    aftermath_begin(&pass->aftermath, &pass->model, pass->verdicts, &pass->removed_by, judged, report);
    begin_rules(pass);
    sort_rules(report);
}

static void end_rule(struct report *report, struct rule_run *run)
{
    run->aftermath = NULL;
    run->savings = NULL;
    run->removed_by = NULL;
    if (run->rule != NULL && run->rule->end != NULL)
        run->rule->end(run);
    run->model = NULL;
    run->findings.selected = NULL;
    report->refused += run->findings.refused;
    for (size_t i = 0; i < run->findings.list.count; i++) {
        struct finding *finding = run->findings.list.items[i];
        edge_table_judge(&report->edges, finding);
        if (run->rule->order_given_up)
            finding_given_up(finding);
        if (run->rule->may_lose_order)
            finding_may_lose_order(finding);
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
    saving_end(&pass->savings);
    verdicts_end(pass->verdicts, &report->edges.totals);
    edge_table_finish(&report->edges);
    for (size_t i = 0; i < report->rules; i++)
        end_rule(report, &report->runs[i]);
    shapes_end(&pass->shapes, report);
    end_busy(pass);
    lives_end(&pass->lives, report);
    report->totals.untimed_waits = pass->model.untimed_waits;
    report->totals.unplaced = pass->model.unplaced;
    report->totals.unknown_generations = pass->model.real.unknown_generations;
    model_end(&pass->model);
}

int pass_over_calls(struct report *report, struct merge *merge, struct report_watch *watch, struct walker *walker,
                    char *error)
{
    struct pass pass = {.report = report, .watch = watch, .walker = walker, .first_work = UINT64_MAX};
    int status = selection_begin(&pass.selected, &report->selection, &report->trace, report->start, error);
    if (status == 0) {
        begin(&pass);
        run_calls(&pass, merge);
        end(&pass);
    }
    selection_end(&pass.selected);
    return status;
}
