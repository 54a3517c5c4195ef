/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides which changes are sure. Called by compare.c, once all changes are known: a function's calls are held against all
 * functions' together, a finding against its calls. Whatever may be chance must not be sure, since sure changes fail
 * builds.
 */
#include "analysis/compare/significance.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/compare/level.h"
#include "analysis/rules/registry.h"

enum { FEW_CALLS = 2 };

/* The least number of calls that counts: one more in one run may be a second try. */
static double least_calls(const struct comparison *comparison)
{
    return comparison->sides[BEFORE].runs.count < COMPARE_RUNS_FOR_SPREAD ? FEW_CALLS : 1;
}

bool significance_is_beyond(const struct comparison *comparison, double difference, double share)
{
    return difference >= least_calls(comparison) && difference >= share;
}

static bool is_up(enum change change)
{
    return change == CHANGE_NEW || change == CHANGE_MORE;
}

static bool is_down(enum change change)
{
    return change == CHANGE_GONE || change == CHANGE_LESS;
}

/* A function that is new, or gone, proves nothing where another one makes its calls: it has another name now. So all
 * functions together must call more often. Not by a share of all these calls, which a new function may be few of, but of
 * those that it may have taken over: what it calls beyond what all gained. How often a program asks varies: there it is of
 * all. */
static bool is_added_or_removed(const struct comparison *comparison, const struct changed *changed)
{
    const struct level *all = changed->all, *calls = changed->calls;
    bool up = changed->change == CHANGE_NEW;
    double differ = up ? level_counts_gained(&all[BEFORE], &all[AFTER]) : level_counts_lost(&all[BEFORE], &all[AFTER]);
    double moved = calls[up ? AFTER : BEFORE].median - differ;
    if (changed_row(changed)->asks)
        moved = up ? all[BEFORE].most : all[AFTER].median;
    return all[up ? BEFORE : AFTER].in == 0 ||
           significance_is_beyond(comparison, differ, moved * comparison->tolerance.growth);
}

static bool is_sure_call(const struct comparison *comparison, const struct changed *changed)
{
    if (changed->change == CHANGE_MORE || changed->change == CHANGE_LESS)
        return true;
    if (changed->change == CHANGE_NEW || changed->change == CHANGE_GONE)
        return is_added_or_removed(comparison, changed);
    return comparison_has_spread(comparison);
}

/* Calls that became more, or fewer, for sure: by driver function and place. */
struct at {
    const char *api, *place;
};
struct changes {
    TABLE_OF(struct at) up;
    TABLE_OF(struct at) down;
};

static int by_place(const void *one, const void *two)
{
    const struct at *a = one, *b = two;
    int order = strcmp(a->api, b->api);
    return order != 0 ? order : strcmp(a->place, b->place);
}

static int by_api(const void *one, const void *two)
{
    return strcmp(((const struct at *)one)->api, ((const struct at *)two)->api);
}

/* Whether calls of that driver function changed at that place, or where either's place is not known. */
static bool has_changed(const struct at *list, size_t count, struct at at)
{
    const struct at somewhere = {at.api, ""};
    if (count == 0)
        return false;
    if (at.place[0] == 0)
        return bsearch(&at, list, count, sizeof *list, by_api) != NULL;
    return bsearch(&at, list, count, sizeof *list, by_place) != NULL ||
           bsearch(&somewhere, list, count, sizeof *list, by_place) != NULL;
}

/* Whether the calls that the finding is about became more, or fewer, for sure. */
static bool calls_changed(const struct changes *changes, const struct changed *finding)
{
    const struct at at = {changed_row(finding)->key.api, changed_row(finding)->key.place};
    return (is_up(finding->change) && has_changed(changes->up.items, changes->up.count, at)) ||
           (is_down(finding->change) && has_changed(changes->down.items, changes->down.count, at));
}

static bool add_change(struct changes *changes, const struct changed *changed)
{
    const struct at at = {changed_row(changed)->key.api, changed_row(changed)->key.place};
    if (is_up(changed->change) && TABLE_ADD(&changes->up))
        *TABLE_LAST(&changes->up) = at;
    else if (is_down(changed->change) && TABLE_ADD(&changes->down))
        *TABLE_LAST(&changes->down) = at;
    else
        return !is_up(changed->change) && !is_down(changed->change);
    return true;
}

static bool take_changes(struct changes *changes, const struct comparison *comparison)
{
    bool whole = true;
    for (size_t i = 0; i < comparison->list.count && whole; i++) {
        const struct changed *changed = &comparison->list.items[i];
        if (changed_row(changed)->key.kind == ROW_CALLS && changed->sure)
            whole = add_change(changes, changed);
    }
    if (changes->up.count != 0)
        qsort(changes->up.items, changes->up.count, sizeof *changes->up.items, by_place);
    if (changes->down.count != 0)
        qsort(changes->down.items, changes->down.count, sizeof *changes->down.items, by_place);
    return whole;
}

/* Whether it says what the default stream does to others, which depends on what two threads had on their way at once. */
static bool is_of_default_stream(const struct row *row)
{
    const struct rule *rule = registry_find(row->key.rule);
    return rule != NULL && rank_rule_is_of_default_stream(rule);
}

/* A finding that comes or goes while its calls stay: they waited for something else, or longer, as it may be in any run.
 * It is sure where it is no matter of time: an error, what no call stands for, what has no time to it but for the default
 * stream's, what is in all runs of one side and in none of the other. */
static bool is_sure_finding(const struct comparison *comparison, const struct changes *changes,
                            const struct changed *changed)
{
    const struct row *row = changed_row(changed);
    int side = changed->change == CHANGE_GONE ? BEFORE : AFTER;
    bool in_all = changed->calls[side].in == comparison->sides[side].runs.count;
    if (changed->change == CHANGE_SLOWER || changed->change == CHANGE_FASTER)
        return comparison_has_spread(comparison);
    if (calls_changed(changes, changed))
        return true;
    if (changed->change == CHANGE_MORE || changed->change == CHANGE_LESS)
        return false;
    return row->key.severity == SEVERITY_ERROR || row->key.api[0] == 0 ||
           (changed->shown && changed->ns[side].known == 0 && !is_of_default_stream(row)) ||
           (in_all && comparison_has_spread(comparison));
}

static bool is_sure_gpu(const struct changed *changed)
{
    return changed->ns[BEFORE].known >= COMPARE_RUNS_FOR_SPREAD && changed->ns[AFTER].known >= COMPARE_RUNS_FOR_SPREAD;
}

static bool is_sure(const struct comparison *comparison, const struct changes *changes, const struct changed *changed)
{
    switch (changed_row(changed)->key.kind) {
    case ROW_CALLS: return is_sure_call(comparison, changed);
    case ROW_FINDING: return is_sure_finding(comparison, changes, changed);
    default: return is_sure_gpu(changed);
    }
}

/* `last`: the one that was asked about last; the list is in order, so it often is of the same driver function. */
static void take_all(const struct comparison *comparison, struct changed *changed, const struct changed **last)
{
    const struct row_key *key = &changed_row(changed)->key, *known = *last != NULL ? &changed_row(*last)->key : NULL;
    bool same = known != NULL && strcmp(known->api, key->api) == 0 && strcmp(known->kernel, key->kernel) == 0;
    for (int side = 0; side < SIDES; side++)
        changed->all[side] =
            same ? (*last)->all[side] : level_of_group(&comparison->sides[side], key, comparison->per_process);
    *last = changed;
}

static void settle(struct comparison *comparison, const struct changes *changes, enum row_kind kind)
{
    const struct changed *last = NULL;
    for (size_t i = 0; i < comparison->list.count; i++) {
        struct changed *changed = &comparison->list.items[i];
        if (changed_row(changed)->key.kind != kind || changed->change == CHANGE_NONE)
            continue;
        if (kind == ROW_CALLS && (changed->change == CHANGE_NEW || changed->change == CHANGE_GONE))
            take_all(comparison, changed, &last);
        changed->sure = is_sure(comparison, changes, changed);
        (changed->sure ? comparison->sure : comparison->unsure)[changed->change]++;
    }
}

void significance_decide(struct comparison *comparison)
{
    struct changes changes = {{NULL, 0, 0}, {NULL, 0, 0}};
    settle(comparison, &changes, ROW_CALLS);
    comparison->out_of_memory |= !take_changes(&changes, comparison);
    settle(comparison, &changes, ROW_FINDING);
    settle(comparison, &changes, ROW_GPU);
    free(changes.up.items);
    free(changes.down.items);
}
