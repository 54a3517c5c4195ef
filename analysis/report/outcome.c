/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the run's results are right, as far as the trace shows. Called by whoever writes a report; must hide nothing
 * that puts results in doubt.
 */

#include "analysis/report/outcome.h"

#include "analysis/base/text.h"
#include "analysis/model/implicit_order.h"
#include "analysis/report/report.h"

/* An order at the finding's site that this run's policy took away, by its example: a proven one where the finding says
 * wrong. Of any other doubt the orders there, which are kept, show nothing. */
static const struct edge_pair *pair_at(const struct report *report, const struct finding *finding)
{
    enum edge_loss least = finding->doubt == DOUBT_WRONG ? LOSS_DEFINITE : LOSS_POSSIBLE;
    bool about_order = finding->rule->order_given_up || finding->rule->may_lose_order;
    for (size_t i = 0; about_order && finding->has_api && i < report->edges.groups.count; i++) {
        const struct edge *example = &report->edges.groups.items[i].example;
        bool here = example->to.stack == finding->stack && example->to.api == finding->api;
        if (here && example->loss >= least && example->pair.first.ticks != 0)
            return &example->pair;
    }
    return NULL;
}

const struct edge_pair *outcome_pair(const struct report *report, const struct finding *finding)
{
    return finding->has_pair ? &finding->pair : finding->doubt != DOUBT_NONE ? pair_at(report, finding) : NULL;
}

const char *outcome_first_past(const struct report *report)
{
    const struct definitions *defs = &report->trace.defs;
    size_t i = 0;
    while (i < defs->bypasses.count && defs->bypasses.items[i].what == PTDS_BYPASS_FUNCTIONS)
        i++; /* what these let through comes through the shim */
    if (i == defs->bypasses.count && defs->untabled.count == 0)
        return NULL;
    const char *name = i < defs->bypasses.count ? defs->bypasses.items[i].text : defs->untabled.items[0].text;
    return name != NULL ? text_base(name) : "?";
}

bool outcome_has_no_calls(const struct report *report)
{
    return report->trace.calls == 0 && (!report->has_counts || report->totals.calls == 0);
}

static enum lack lack_of(const struct report *report)
{
    const struct report_totals *totals = &report->totals;
    if (report->left_out != 0)
        return LACK_LOOK;
    if (trace_has_gaps(&report->trace) || outcome_has_no_calls(report))
        return LACK_RECORDS;
    if (report->out_of_memory)
        return LACK_LOOK;
    if (outcome_first_past(report) != NULL)
        return LACK_PAST;
    return totals->unplaced != 0 || totals->unknown_streams != 0 || report->edges.totals.unplaced != 0 ? LACK_STREAMS
                                                                                                       : LACK_NONE;
}

struct outcome outcome_of(const struct report *report)
{
    struct outcome outcome = {.lack = lack_of(report)};
    bool records = outcome.lack != LACK_LOOK && outcome.lack != LACK_RECORDS;
    outcome.complete = outcome.lack == LACK_NONE;
    outcome.ordered = implicit_order_is_strict(&report->trace.defs);
    outcome.seen = report->trace.calls - report->left_out;
    outcome.calls = report->has_counts ? report->totals.calls : records ? outcome.seen : 0;
    if (report->left_out != 0 && outcome.calls < report->trace.calls)
        outcome.calls = report->trace.calls;
    outcome.little = !records && (outcome.seen == 0 || outcome.seen < outcome.calls - outcome.calls / 2);
    for (size_t i = 0; i < report->findings.count; i++) {
        const struct finding *finding = report->findings.items[i];
        bool stuck = finding->stuck && finding->severity == SEVERITY_ERROR;
        if (finding->stuck && (outcome.stuck == NULL || (stuck && outcome.may_be_stuck))) {
            outcome.stuck = finding;
            outcome.may_be_stuck = !stuck;
        }
        if (finding->doubt == DOUBT_NONE && finding->rule->conflict)
            outcome.possible += finding->count;
        if (finding->rule->by_host)
            outcome.by_host += finding->count;
        if (finding->doubt <= outcome.doubt)
            continue;
        outcome.doubt = finding->doubt;
        outcome.finding = finding;
        outcome.pair = outcome_pair(report, finding);
    }
    return outcome;
}

bool outcome_knows_nothing(const struct report *report)
{
    return report->totals.recorded == 0 && lack_of(report) != LACK_NONE;
}

bool outcome_knows_times(const struct report *report)
{
    return trace_has_time(&report->trace) && !outcome_knows_nothing(report);
}

bool outcome_knows_blocked(const struct report *report)
{
    return outcome_knows_times(report) && (report->totals.blocked_ns != 0 || report->totals.untimed_waits == 0);
}

unsigned outcome_verdict(const struct report *report)
{
    struct outcome outcome = outcome_of(report);
    if (outcome_knows_nothing(report))
        return DOUBTS;
    if (outcome.doubt != DOUBT_NONE || outcome.stuck == NULL)
        return outcome.doubt;
    return outcome.may_be_stuck ? DOUBTS + 2 : DOUBTS + 1;
}
