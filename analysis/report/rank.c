/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides what rank.h says. Called once a report's pass is over; must hide nothing that puts results in doubt.
 */
#include "analysis/report/rank.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/add.h"
#include "analysis/base/duration.h"
#include "analysis/findings/library.h"
#include "analysis/report/default_cost.h"
#include "analysis/report/floor.h"
#include "analysis/report/report.h"
#include "analysis/report/report_sequences.h"

/* What happens once is set-up, as at the start, unless it takes this share, in percent, of the time from the first GPU work
 * on. */
enum { ONCE_PERCENT = 5 };

static uint64_t gpu_part(const struct report *report)
{
    return report->totals.gpu_part_ns != 0 ? report->totals.gpu_part_ns : report->totals.run_ns;
}

uint64_t rank_floor_ns(const struct report *report)
{
    return floor_ns(report->floor, gpu_part(report));
}

static uint64_t much(const struct report *report)
{
    return gpu_part(report) / 100 * ONCE_PERCENT;
}

static bool is_once(const struct finding *finding)
{
    return finding->rule->set_up && finding->count == 1;
}

/* A call of the default stream that the policy left where it was; not what the shim could not see. */
static bool tells_what_stayed(const struct finding *finding)
{
    return finding->rule->stayed && finding->has_api;
}

bool rank_rule_is_of_default_stream(const struct rule *rule)
{
    return strcmp(rule->class_, "H1") == 0 || strcmp(rule->class_, "H2") == 0 || strcmp(rule->class_, "H7") == 0;
}

bool rank_is_of_default_stream(const struct finding *finding)
{
    return tells_what_stayed(finding) || rank_rule_is_of_default_stream(finding->rule);
}

/* All orders that end at the finding's site are needed, by data or by a time that the program takes. */
static bool is_needed(const struct finding *finding)
{
    return finding->verdicts[VERDICT_NEEDED] + finding->timed != 0 && finding->verdicts[VERDICT_NOT_NEEDED] == 0 &&
           finding->verdicts[VERDICT_MAYBE_NEEDED] == finding->timed;
}

static bool is_in_library(const struct report *report, const struct finding *finding)
{
    return finding->rule->at_call && library_of(&report->trace.defs, finding->stack) != NULL;
}

/* Of a finding whose cost nobody knows. */
static enum fold fold_of_unknown(const struct report *report, const struct finding *finding, uint64_t floor)
{
    if (finding->doubt != DOUBT_NONE)
        return FOLD_SHOWN;
    if (is_in_library(report, finding))
        return FOLD_LIBRARY;
    if (finding->severity == SEVERITY_NOTE)
        return FOLD_NO_COST;
    if (!rank_is_of_default_stream(finding) || !trace_has_time(&report->trace))
        return FOLD_SHOWN;
    if (is_needed(finding))
        return finding->timed != 0 ? FOLD_TIMED : FOLD_NEEDED;
    struct default_stream whole = default_cost_of(report);
    return whole.cost != DEFAULT_UP_TO || whole.most_ns < floor ? FOLD_NO_GAIN : FOLD_SHOWN;
}

static enum fold fold_of(const struct report *report, const struct finding *finding, uint64_t floor)
{
    if (finding->severity == SEVERITY_ERROR || finding->rule->banner)
        return FOLD_SHOWN;
    if (floor == 0)
        return FOLD_SHOWN;
    if (finding->known == 0)
        return fold_of_unknown(report, finding, floor);
    if (finding->host_ns < floor && finding->doubt == DOUBT_NONE)
        return FOLD_FLOOR;
    if (is_in_library(report, finding))
        return FOLD_LIBRARY;
    return is_once(finding) && finding->host_ns < much(report) ? FOLD_ONCE : FOLD_SHOWN;
}

static bool is_same_step(const struct finding *one, const struct finding *two)
{
    return one->rule == two->rule && one->has_api == two->has_api && one->api == two->api && one->twin == two->twin &&
           one->detail == two->detail;
}

/* A call that is made once at each of many places is no set-up where all of them together take much of the run. */
static void unfold_many_once(struct report *report)
{
    struct finding *const *all = report->findings.items;
    for (size_t i = 0; i < report->findings.count; i++) {
        uint64_t sum = 0;
        for (size_t j = 0; all[i]->fold == FOLD_ONCE && j < report->findings.count; j++)
            if (is_once(all[j]) && is_same_step(all[i], all[j]))
                sum = add_capped(sum, all[j]->host_ns);
        if (sum >= much(report) && all[i]->fold == FOLD_ONCE)
            all[i]->fold = FOLD_SHOWN;
    }
}

int rank_place(const struct finding *finding)
{
    return finding->fold != FOLD_SHOWN           ? PLACE_FOLDED
           : finding->doubt == DOUBT_WRONG       ? PLACE_WRONG
           : finding->severity == SEVERITY_ERROR ? PLACE_ERROR
           : finding->doubt != DOUBT_NONE        ? PLACE_DOUBT
                                                 : PLACE_COST;
}

static int by_weight(const void *a, const void *b)
{
    const struct finding *one = *(struct finding *const *)a, *two = *(struct finding *const *)b;
    if (rank_place(one) != rank_place(two))
        return rank_place(one) - rank_place(two);
    int first = finding_weigh((struct finding_weight){one->severity, one->weight_ns, one->unknown, one->count},
                              (struct finding_weight){two->severity, two->weight_ns, two->unknown, two->count});
    return first != 0 ? first : one->first != two->first ? (one->first < two->first ? -1 : 1) : 0;
}

/* What it would save, at most: of what the default stream does to a run, nobody knows one finding's share. */
static uint64_t weight(const struct finding *finding, const struct default_stream *whole)
{
    bool of_whole = finding->known == 0 && finding->fold == FOLD_SHOWN && rank_is_of_default_stream(finding);
    return of_whole && whole->most_ns > finding->host_ns ? whole->most_ns : finding->host_ns;
}

static void sort(struct report *report)
{
    if (report->findings.count != 0)
        qsort(report->findings.items, report->findings.count, sizeof *report->findings.items, by_weight);
}

/* What a rule says of the default stream it says once, at the place that weighs most: all places go by one change. Where
 * a policy moved work, that change is the one that what it left behind asks for, one for each reason to leave it. */
static bool fold_same(struct report *report)
{
    const struct rule *told[RULES_MOST];
    size_t count = 0;
    bool any = false, stayed = false;
    for (size_t i = 0; i < report->findings.count; i++)
        stayed |= report->findings.items[i]->fold == FOLD_SHOWN && tells_what_stayed(report->findings.items[i]);
    for (size_t i = 0; i < report->findings.count; i++) {
        struct finding *finding = report->findings.items[i];
        bool again = stayed;
        if (tells_what_stayed(finding) || rank_place(finding) != PLACE_COST || finding->known != 0 ||
            !rank_is_of_default_stream(finding))
            continue;
        for (size_t j = 0; j < count; j++)
            again |= told[j] == finding->rule;
        if (again)
            finding->fold = FOLD_SAME;
        else if (count < RULES_MOST)
            told[count++] = finding->rule;
        any |= again;
    }
    return any;
}

static void add_up(struct report *report)
{
    sums_free(&report->sums);
    for (size_t i = 0; i < report->findings.count; i++) {
        const struct finding *finding = report->findings.items[i];
        sums_add(&report->sums, &report->trace.defs, finding, finding->fold == FOLD_SHOWN,
                 (struct sum){1, finding->count, finding->host_ns, finding->known});
    }
    sums_finish(&report->sums, rank_floor_ns(report), much(report));
    report->out_of_memory |= report->sums.out_of_memory;
}

void rank_findings(struct report *report, struct floor floor)
{
    report->floor = floor;
    uint64_t ns = rank_floor_ns(report);
    struct default_stream whole = default_cost_of(report);
    for (size_t i = 0; i < report->findings.count; i++) {
        struct finding *finding = report->findings.items[i];
        finding->fold = fold_of(report, finding, ns);
        finding->weight_ns = weight(finding, &whole);
    }
    unfold_many_once(report);
    sort(report);
    if (fold_same(report))
        sort(report);
    report_sequences(report);
    report_entries(report);
    add_up(report);
}

size_t rank_shown(const struct report *report)
{
    size_t shown = 0;
    while (shown < report->findings.count && report->findings.items[shown]->fold == FOLD_SHOWN)
        shown++;
    return shown;
}
