/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills the results of `ptds check` from the traces. Called by verb_check.c. It never passes on what it could not see.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/check/conditions.h"
#include "analysis/check/failed_edges.h"
#include "analysis/check/region_limits.h"
#include "analysis/cmd/verbs/check_look.h"
#include "analysis/cmd/exit_status.h"
#include "analysis/compare/baseline.h"
#include "analysis/compare/history_of_traces.h"
#include "analysis/compare/runs.h"
#include "analysis/report/many/traced.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/views/report_words.h"
#include "analysis/views/verdict_words.h"

static void put_site(const struct check *check, size_t process, uint32_t stack, char *out, size_t room)
{
    const struct report *report = &check->traces.list.items[process]->report;
    symbolizer_of(check->namer, &report->trace);
    if (!report_words_site(report, check->namer, stack, out, room))
        snprintf(out, room, "an unrecorded call site");
}

static void add_folded(struct check *check, const struct folded *folded)
{
    const struct finding *finding = folded->finding;
    const struct report *report = &check->traces.list.items[folded->process]->report;
    struct check_item *item = results_add(&check->results, finding->rule->id);
    size_t processes = folded->shares.count, used;
    if (item == NULL)
        return;
    item->severity = finding->severity;
    snprintf(item->id, sizeof item->id, "%s", folded->id.text);
    used = (size_t)snprintf(item->text, sizeof item->text, "%s in %s",
                            folded->known != 0 ? text_ns(folded->host_ns).text : "unknown time",
                            text_plural(folded->count, "call").text);
    if (check->traces.list.count > 1)
        used += (size_t)snprintf(item->text + used, sizeof item->text - used, " of %zu process%s", processes,
                                 processes == 1 ? "" : "es");
    if (finding->has_api) {
        snprintf(item->text + used, sizeof item->text - used, ", %.140s", report_words_api(report, finding));
        put_site(check, folded->process, finding->stack, item->site, sizeof item->site);
    }
    snprintf(item->more, sizeof item->more, "%s%s%.200s",
             finding->rule->details != NULL ? finding->rule->details[finding->detail] : "",
             finding->rule->details != NULL && finding->text != NULL ? ", " : "",
             finding->text != NULL ? finding->text : "");
    check->results.failed[STATE_THERE]++;
}

/* Without a baseline whatever meets a condition fails. */
static void look_at_findings(struct check *check)
{
    check->results.findings = check->folds.list.count;
    for (size_t i = 0; i < check->folds.list.count; i++) {
        const struct folded *folded = &check->folds.list.items[i];
        struct candidate candidate = conditions_candidate(folded, check->results.runs);
        if (conditions_meet(&check->conditions, &candidate))
            add_folded(check, folded);
    }
}

static void add_breaks(struct check *check)
{
    char who[160];
    for (size_t i = 0; i < check->regions.breaks.count; i++) {
        const struct region_break *one = &check->regions.breaks.items[i];
        const struct traced *traced = check->traces.list.items[one->process];
        struct check_item *item = results_add(&check->results, "region");
        if (item == NULL)
            return;
        traced_name(traced, who, sizeof who);
        item->severity = SEVERITY_WARNING;
        snprintf(item->text, sizeof item->text, "%.100s blocked: %.140s waited %.40s, %s in all, %s at most",
                 check->regions.rules.items[one->rule].name, definitions_api_name(&traced->report.trace.defs, one->api),
                 text_plural(one->count, "time").text, text_ns(one->all_ns).text, text_ns(one->most_ns).text);
        put_site(check, one->process, one->stack, item->site, sizeof item->site);
        snprintf(item->more, sizeof item->more, "%s", who);
    }
    check->results.regions = check->regions.breaks.count;
}

static void add_orders(struct check *check)
{
    char to[300];
    for (size_t i = 0; i < check->edges.breaks.count; i++) {
        const struct failed_edge *one = &check->edges.breaks.items[i];
        struct check_item *item = results_add(&check->results, "implicit-order");
        if (item == NULL)
            return;
        item->severity = SEVERITY_WARNING;
        snprintf(item->text, sizeof item->text, "%s, %s, %.40s", edge_kind_names[one->edge->kind],
                 verdict_words[one->verdict], text_plural(one->count, "time").text);
        put_site(check, one->process, one->edge->from.stack, item->site, sizeof item->site);
        put_site(check, one->process, one->edge->to.stack, to, sizeof to);
        snprintf(item->more, sizeof item->more, "before %.280s", to);
    }
    check->results.orders = check->edges.breaks.count;
}

struct reason {
    struct check_results *results;
    const char *path;
};

static void add_reason(void *data, const char *line)
{
    const struct reason *reason = data;
    char text[600];
    snprintf(text, sizeof text, "%.350s: incomplete: %s", reason->path, line);
    results_incomplete(reason->results, text);
}

static void look_for_gaps(struct check *check)
{
    char text[300];
    for (size_t i = 0; i < check->regions.rules.count; i++) {
        const struct region_limit *rule = &check->regions.rules.items[i];
        snprintf(text, sizeof text, "no region \"%.200s\" in any trace", rule->name);
        if (rule->seen == 0)
            results_incomplete(&check->results, text);
        snprintf(text, sizeof text, "%.40s in region \"%.200s\" may have waited and %s not timed",
                 text_plural(rule->unsure, "call").text, rule->name, rule->unsure == 1 ? "was" : "were");
        if (rule->unsure != 0)
            results_incomplete(&check->results, text);
    }
    if (check->edges.unjudged != 0)
        results_incomplete(&check->results, "implicit orders were not analysed, so they have no verdicts");
    snprintf(text, sizeof text, "%.60s %s between call sites beyond the first %d pairs",
             text_plural(check->edges.ungrouped, "implicit order").text, check->edges.ungrouped == 1 ? "is" : "are",
             EDGE_GROUPS_MOST);
    if (check->edges.ungrouped != 0)
        results_incomplete(&check->results, text);
}

static bool look_at_processes(struct check *check)
{
    for (size_t i = 0; i < check->traces.list.count; i++) {
        struct traced *traced = check->traces.list.items[i];
        struct reason reason = {&check->results, traced->path};
        traced_incomplete(traced, add_reason, &reason);
        if (!region_limits_look(&check->regions, traced, i) ||
            (conditions_want_verdicts(&check->conditions) &&
             !failed_edges_look(&check->edges, &check->conditions, &traced->report, i)))
            return false;
    }
    return true;
}

/* A baseline of something else proves nothing; that its runs were under another policy is well. */
static void look_at_programs(struct check *check)
{
    const struct run_facts *then = TABLE_LAST(&check->baseline.runs), *now = TABLE_LAST(&check->now.runs);
    char text[400];
    if (strcmp(then->program, now->program) != 0) {
        snprintf(text, sizeof text, "the baseline is of %.150s, and this is %.150s", then->program, now->program);
        results_incomplete(&check->results, text);
    } else if (strcmp(then->policy, now->policy) != 0) {
        results_note(&check->results, "The baseline is of policy %.60s, this is %.60s.", then->policy, now->policy);
    }
}

static void look_at_baseline(struct check *check)
{
    struct comparison comparison;
    compare(&comparison, &check->baseline, &check->now, check->tolerance);
    results_compare(&check->results, &check->conditions, &comparison);
    look_at_programs(check);
    compare_free(&comparison);
}

static size_t count_runs(const struct check *check)
{
    size_t *run = calloc(check->traces.list.count + 1, sizeof *run);
    size_t runs = run != NULL ? runs_of(&check->traces, run) : 1;
    free(run);
    return runs;
}

int check_look(struct check *check, const char *name)
{
    check->results.processes = check->traces.list.count;
    check->results.wants_regions = check->regions.rules.count != 0;
    check->results.wants_orders = conditions_want_verdicts(&check->conditions);
    fold_make(&check->folds, &check->traces);
    bool whole = look_at_processes(check) && !check->folds.out_of_memory;
    check->results.runs = count_runs(check);
    if (whole && check->baseline_path != NULL)
        whole = history_of_traces(&check->now, &check->traces, check->namer);
    if (whole && check->baseline_path != NULL && !check->update && check->now.runs.count != 0)
        look_at_baseline(check);
    else if (whole)
        look_at_findings(check);
    add_breaks(check);
    add_orders(check);
    look_for_gaps(check);
    if (whole && !check->results.out_of_memory)
        return EXIT_CLEAN;
    fprintf(stderr, "%s: no memory for all of it\n", name);
    return EXIT_UNREADABLE;
}
