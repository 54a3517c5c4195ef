/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects what a check found. Called by cmd/verbs/verb_check.c. What fails is decided here, once, for all that write it.
 */
#include "analysis/check/results.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/line.h"
#include "analysis/check/conditions.h"
#include "analysis/compare/change_words.h"

const char *const state_names[STATES] = {"found", "new", "grown"};

struct check_item *results_add(struct check_results *results, const char *what)
{
    if (!TABLE_ADD(&results->items)) {
        results->out_of_memory = true;
        return NULL;
    }
    struct check_item *item = TABLE_LAST(&results->items);
    *item = (struct check_item){.fails = true};
    snprintf(item->what, sizeof item->what, "%s", what);
    return item;
}

void results_incomplete(struct check_results *results, const char *line)
{
    char *copy = text_copy(line, strlen(line)); /* it may hold a file's name */
    if (copy == NULL || !TABLE_ADD(&results->incomplete)) {
        free(copy);
        results->out_of_memory = true;
        return;
    }
    *TABLE_LAST(&results->incomplete) = copy;
}

void results_note(struct check_results *results, const char *format, ...)
{
    size_t used = strlen(results->note);
    char text[sizeof results->note];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    snprintf(results->note + used, sizeof results->note - used, "%s%s", used != 0 ? " " : "", text);
}

size_t results_failures(const struct check_results *results)
{
    size_t failures = 0;
    for (size_t i = 0; i < results->items.count; i++)
        failures += results->items.items[i].fails;
    return failures;
}

static size_t count_what(const struct check_results *results, const char *what)
{
    size_t count = 0;
    for (size_t i = 0; i < results->items.count; i++)
        count += results->items.items[i].fails && strcmp(results->items.items[i].what, what) == 0;
    return count;
}

bool results_inconclusive(const struct check_results *results)
{
    return results->unreadable || (results->incomplete.count != 0 && !results->allows_incomplete);
}

struct line results_sum(const struct check_results *results)
{
    struct line line = {.used = 0};
    size_t findings = results->failed[STATE_THERE] + results->failed[STATE_NEW] + results->failed[STATE_GROWN];
    size_t more = count_what(results, difference_names[MORE_CALLS]), slower = count_what(results, difference_names[SLOWER]);
    line_add(&line, "%zu of %zu findings fail", findings, results->findings);
    if (results->has_baseline)
        line_add(&line, " (%zu new, %zu grown, against %s)", results->failed[STATE_NEW], results->failed[STATE_GROWN],
                 text_plural(results->baseline_runs, "run").text);
    if (more != 0)
        line_add(&line, ", more calls at %s", text_plural(more, "call site").text);
    if (slower != 0)
        line_add(&line, ", slower at %s", text_plural(slower, "call site").text);
    for (unsigned i = GPU_SLOWER; i <= GPU_IDLER; i++)
        if (count_what(results, difference_names[i]) != 0)
            line_add(&line, ", %s", difference_names[i]);
    if (results->wants_regions)
        line_add(&line, ", %s block%s in regions", text_plural(results->regions, "place").text,
                 results->regions == 1 ? "s" : "");
    if (results->wants_orders)
        line_add(&line, ", %s fail%s", text_plural(results->orders, "implicit order").text,
                 results->orders == 1 ? "s" : "");
    if (results->has_baseline && results->held_back != 0)
        line_add(&line, "; %s pass%s because the baseline has %s", text_plural(results->held_back, "finding").text,
                 results->held_back == 1 ? "es" : "", results->held_back == 1 ? "it" : "them");
    line_add(&line, "; %zu process%s", results->processes, results->processes == 1 ? "" : "es");
    if (results->runs > 1)
        line_add(&line, " in %zu runs", results->runs);
    line_add(&line, "%s", results->incomplete.count != 0 ? ", incomplete" : "");
    return line;
}

static void put_words(struct check_item *item, const struct comparison *comparison, const struct changed *changed)
{
    const struct row *row = changed_row(changed);
    struct line time = change_words_time(comparison, changed);
    char what[400];
    change_words_row(row, what, sizeof what);
    snprintf(item->text, sizeof item->text, "%s%s%s%s%s", what, what[0] != 0 ? ": " : "",
             change_words_calls(comparison, changed).text, time.used != 0 ? "; " : "", time.text);
    snprintf(item->site, sizeof item->site, "%s", row->site != NULL ? row->site : "");
    snprintf(item->id, sizeof item->id, "%s", row->id);
    item->severity = row->key.kind == ROW_FINDING ? row->key.severity : SEVERITY_WARNING;
}

/* Says of a finding that the baseline lacks in how many runs it is, or why it does not fail. */
static void put_runs(struct check_item *item, const struct comparison *comparison, const struct changed *changed)
{
    size_t runs = comparison->sides[AFTER].runs.count, in = changed->calls[AFTER].in;
    if (in < runs)
        snprintf(item->more, sizeof item->more, "%sin %zu of %zu runs%s", item->fails ? "" : "not proven: ", in, runs,
                 item->fails ? "" : ", so it may be chance");
    else if (!item->fails)
        snprintf(
            item->more, sizeof item->more,
            "not proven: its calls are as many as in the baseline, so it may be chance; check %d runs or more against a "
            "baseline of as many",
            COMPARE_RUNS_FOR_SPREAD);
}

static void add_finding(struct check_results *results, const struct comparison *comparison, const struct changed *changed,
                        bool fails)
{
    struct check_item *item = results_add(results, changed_row(changed)->key.rule);
    if (item == NULL)
        return;
    put_words(item, comparison, changed);
    item->fails = fails;
    item->state = changed->calls[BEFORE].in == 0 ? STATE_NEW : STATE_GROWN;
    results->failed[item->state] += fails;
    if (item->state == STATE_NEW)
        put_runs(item, comparison, changed);
}

/* Whether the finding is surely new, or has surely grown, so that it fails. */
static bool has_grown(const struct conditions *conditions, const struct changed *changed)
{
    if (changed->change == CHANGE_SLOWER)
        return changed->sure && conditions_want(conditions, SLOWER);
    return (changed->change == CHANGE_NEW || changed->change == CHANGE_MORE) && changed->sure;
}

static void look_at_finding(struct check_results *results, const struct conditions *conditions,
                            const struct comparison *comparison, const struct changed *changed)
{
    const struct row *row = changed->row[AFTER];
    if (row == NULL)
        return;
    struct candidate candidate = {.rule = row->key.rule, .severity = row->key.severity, .shown = changed->shown};
    candidate.has_ns = changed->ns[AFTER].known != 0;
    candidate.ns = (uint64_t)changed->ns[AFTER].median;
    bool meets = conditions_meet_without_cost(conditions, &candidate);
    bool over = conditions_over_cost(conditions, &candidate);
    bool kept = changed->ns[BEFORE].most <= (double)conditions->cost_above; /* the limit, in the baseline */
    results->findings++;
    if ((over && kept) || (meets && has_grown(conditions, changed)))
        add_finding(results, comparison, changed, true);
    else if (meets && changed->calls[BEFORE].in == 0)
        add_finding(results, comparison, changed, false);
    else if (meets || over)
        results->held_back++;
}

/* Calls of a new function may replace calls of other functions, and add to them. */
static bool may_be_more(const struct changed *changed)
{
    return changed->change == CHANGE_NEW && !changed->sure && changed->all[AFTER].least > changed->all[BEFORE].most;
}

static void look_at_calls(struct check_results *results, const struct conditions *conditions,
                          const struct comparison *comparison, const struct changed *changed)
{
    bool more = changed->change == CHANGE_NEW || changed->change == CHANGE_MORE, maybe = may_be_more(changed);
    enum difference difference = more ? MORE_CALLS : SLOWER;
    if (!(more || changed->change == CHANGE_SLOWER) || !conditions_want(conditions, difference) ||
        !(changed->sure || maybe))
        return;
    struct check_item *item = results_add(results, difference_names[difference]);
    if (item == NULL)
        return;
    put_words(item, comparison, changed);
    item->fails = !maybe;
    item->state = changed->change == CHANGE_NEW ? STATE_NEW : STATE_GROWN;
    if (difference == SLOWER)
        snprintf(item->more, sizeof item->more, "%s", change_words_per_call(changed).text);
    if (maybe)
        snprintf(item->more, sizeof item->more, "not proven: most may be calls that other functions made before; %.200s",
                 change_words_all_calls(comparison, changed).text);
}

/* What the GPU did, where both sides have its times. */
static void look_at_gpu(struct check_results *results, const struct conditions *conditions,
                        const struct comparison *comparison)
{
    static const enum difference differences[GPU_MEASURES] = {[GPU_DEFAULT_STREAM] = GPU_SLOWER, [GPU_IDLE] = GPU_IDLER};
    char text[200];
    for (unsigned i = 0; i < GPU_MEASURES; i++) {
        if (!conditions_want(conditions, differences[i]))
            continue;
        snprintf(text, sizeof text,
                 "--fail-on %s needs 3 runs or more with GPU times (PTDS_DEVICE_TIMES), here and in the baseline",
                 difference_names[differences[i]]);
        if (!comparison_has_gpu_spread(comparison))
            results_incomplete(results, text);
        struct check_item *item = comparison->gpu_worse[i] ? results_add(results, difference_names[differences[i]]) : NULL;
        if (item == NULL)
            continue;
        item->severity = SEVERITY_WARNING;
        item->state = STATE_GROWN;
        snprintf(item->text, sizeof item->text, "%s", change_words_gpu(comparison, (enum gpu_measure)i).text);
    }
    if (comparison_has_gpu(comparison, BEFORE) != comparison_has_gpu(comparison, AFTER))
        results_note(results, "%s no GPU times (PTDS_DEVICE_TIMES): what the GPU did is not compared.",
                     comparison_has_gpu(comparison, BEFORE) ? "The baseline has GPU times, these traces have"
                                                            : "These traces have GPU times, the baseline has");
}

void results_compare(struct check_results *results, const struct conditions *conditions,
                     const struct comparison *comparison)
{
    results->has_baseline = true;
    results->baseline_runs = comparison->sides[BEFORE].runs.count;
    for (size_t i = 0; i < comparison->list.count; i++) {
        const struct changed *changed = &comparison->list.items[i];
        if (changed_row(changed)->key.kind == ROW_FINDING)
            look_at_finding(results, conditions, comparison, changed);
    }
    for (size_t i = 0; i < comparison->list.count; i++)
        if (changed_row(&comparison->list.items[i])->key.kind == ROW_CALLS)
            look_at_calls(results, conditions, comparison, &comparison->list.items[i]);
    look_at_gpu(results, conditions, comparison);
    if (conditions_want(conditions, SLOWER) && !comparison_has_spread(comparison))
        results_incomplete(results, "--fail-on slower needs 3 runs or more, here and in the baseline");
    results->out_of_memory |= comparison->out_of_memory;
}

void results_free(struct check_results *results)
{
    for (size_t i = 0; i < results->incomplete.count; i++)
        free(results->incomplete.items[i]);
    free(results->incomplete.items);
    free(results->items.items);
    *results = (struct check_results){.runs = 0};
}
