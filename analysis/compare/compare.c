/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares two histories. Called by `ptds check` and `ptds diff`. Decides what changed; what that means is their business.
 */
#include "analysis/compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/compare/level.h"
#include "analysis/compare/placeless.h"
#include "analysis/compare/significance.h"
#include "analysis/report/floor.h"

const char *const change_names[CHANGES] = {"new", "more", "slower", "gone", "less", "faster", "same"};

enum { TIME_LEAST_NS = 1000000, IDLE_LEAST = 50000000 };

static void take_row(struct history *to, const struct row *from, bool placeless)
{
    struct row_key key = from->key;
    if (placeless)
        key.place = "";
    struct row *row = history_row(to, &key);
    if (row == NULL)
        return;
    history_row_join(row, from);
    for (size_t i = 0; i < from->by_run.count; i++) {
        struct amount *amount = history_amount(to, row, i);
        if (amount == NULL)
            return;
        amount->count += from->by_run.items[i].count;
        amount->ns += from->by_run.items[i].ns;
        amount->has_ns |= from->by_run.items[i].has_ns;
        amount->shown |= from->by_run.items[i].shown;
    }
}

static void take_side(struct history *to, const struct history *from, const bool *placeless)
{
    for (size_t i = 0; i < from->runs.count; i++)
        if (!history_begin_run(to, &from->runs.items[i]))
            return;
    for (size_t i = 0; i < from->rows.count; i++)
        take_row(to, &from->rows.items[i], placeless[i]);
    history_sort(to);
}

static void take_sides(struct comparison *comparison, const struct history *const all[SIDES])
{
    struct placeless placeless;
    if (placeless_find(&placeless, all))
        for (int side = 0; side < SIDES; side++)
            take_side(&comparison->sides[side], all[side], placeless.rows[side]);
    else
        comparison->out_of_memory = true;
    for (int side = 0; side < SIDES; side++)
        comparison->nameless[side] = placeless.nameless[side];
    placeless_free(&placeless);
}

static bool same_processes(const struct history *sides)
{
    uint64_t first = sides[BEFORE].runs.count != 0 ? sides[BEFORE].runs.items[0].processes : 1;
    for (int side = 0; side < SIDES; side++)
        for (size_t i = 0; i < sides[side].runs.count; i++)
            if (sides[side].runs.items[i].processes != first)
                return false;
    return true;
}

static bool is_shown(const struct row *row)
{
    for (size_t i = 0; row != NULL && i < row->by_run.count; i++)
        if (row->by_run.items[i].shown)
            return true;
    return false;
}

static bool mostly_in(const struct history *history, const struct level *level)
{
    return level->in * 2 > history->runs.count;
}

static double least_time(const struct comparison *comparison)
{
    double run = comparison->run_ns[BEFORE].median;
    double floor = run > 0 ? (double)floor_ns(comparison->tolerance.floor, (uint64_t)run) : 0;
    return floor > TIME_LEAST_NS ? floor : TIME_LEAST_NS;
}

/* Whether what no run had before is new: what most runs have now, and an error in any, since it may be rare and is wrong.
 */
static bool is_new(const struct comparison *comparison, const struct changed *changed)
{
    const struct row_key *key = &changed_row(changed)->key;
    const struct level *calls = &changed->calls[AFTER];
    bool error = key->kind == ROW_FINDING && key->severity == SEVERITY_ERROR;
    return mostly_in(&comparison->sides[AFTER], calls) || (error && calls->in != 0);
}

static enum change change_of(const struct comparison *comparison, const struct changed *changed)
{
    const struct level *calls = changed->calls, *ns = changed->ns;
    double growth = comparison->tolerance.growth;
    bool asks = changed_row(changed)->asks, times = ns[BEFORE].known != 0 && ns[AFTER].known != 0;
    if (calls[BEFORE].in == 0)
        return is_new(comparison, changed) ? CHANGE_NEW : CHANGE_NONE;
    if (calls[AFTER].in == 0)
        return mostly_in(&comparison->sides[BEFORE], &calls[BEFORE]) ? CHANGE_GONE : CHANGE_NONE;
    double gained = level_counts_gained(&calls[BEFORE], &calls[AFTER]);
    double lost = level_counts_lost(&calls[BEFORE], &calls[AFTER]);
    if (!asks && significance_is_beyond(comparison, gained, calls[BEFORE].most * growth))
        return CHANGE_MORE;
    if (!asks && significance_is_beyond(comparison, lost, calls[AFTER].median * growth))
        return CHANGE_LESS;
    if (times && level_times_above(&ns[BEFORE], &ns[AFTER], growth, least_time(comparison)))
        return CHANGE_SLOWER;
    if (times && level_times_above(&ns[AFTER], &ns[BEFORE], growth, least_time(comparison)))
        return CHANGE_FASTER;
    return CHANGE_NONE;
}

/* How often it ran the calls say. What is new, or gone, ran for no time on the other side. */
static enum change gpu_change_of(const struct comparison *comparison, const struct changed *changed)
{
    const struct level *calls = changed->calls, *ns = changed->ns;
    double growth = comparison->tolerance.growth, least = least_time(comparison);
    if (ns[BEFORE].known == 0 || ns[AFTER].known == 0)
        return CHANGE_NONE;
    if (level_times_above(&ns[BEFORE], &ns[AFTER], growth, least))
        return calls[BEFORE].in == 0 ? CHANGE_NEW : CHANGE_SLOWER;
    if (level_times_above(&ns[AFTER], &ns[BEFORE], growth, least))
        return calls[AFTER].in == 0 ? CHANGE_GONE : CHANGE_FASTER;
    return CHANGE_NONE;
}

static void take_levels(const struct comparison *comparison, struct changed *changed, int side)
{
    const struct history *history = &comparison->sides[side];
    const struct row *row = changed->row[side];
    bool gpu = changed_row(changed)->key.kind == ROW_GPU, each = comparison->per_process;
    changed->calls[side] = gpu ? level_of_gpu_row(history, row, each, false) : level_of_calls(history, row, each);
    changed->ns[side] = gpu ? level_of_gpu_row(history, row, each, true) : level_of_ns(history, row, each);
}

static void add_changed(struct comparison *comparison, const struct row *before, const struct row *after)
{
    struct changed changed = {.row = {before, after}};
    for (int side = 0; side < SIDES; side++)
        take_levels(comparison, &changed, side);
    bool gpu = changed_row(&changed)->key.kind == ROW_GPU;
    changed.change = gpu ? gpu_change_of(comparison, &changed) : change_of(comparison, &changed);
    changed.shown = is_shown(changed.change == CHANGE_GONE || changed.change == CHANGE_LESS ? before : after);
    if (TABLE_ADD(&comparison->list))
        *TABLE_LAST(&comparison->list) = changed;
    else
        comparison->out_of_memory = true;
}

/* Findings, calls, the GPU. */
static int place_of(enum row_kind kind)
{
    return kind == ROW_FINDING ? -1 : (int)kind;
}

/* What is sure first, findings before calls, what came before what went, the most first. */
static int by_weight(const void *one, const void *two)
{
    const struct changed *a = one, *b = two;
    const struct row_key *first = &changed_row(a)->key, *second = &changed_row(b)->key;
    double more = a->calls[AFTER].median + a->calls[BEFORE].median,
           other = b->calls[AFTER].median + b->calls[BEFORE].median;
    if (a->sure != b->sure)
        return a->sure ? -1 : 1;
    if (first->kind != second->kind)
        return place_of(first->kind) - place_of(second->kind);
    if (a->change != b->change)
        return (int)a->change - (int)b->change;
    if (first->severity != second->severity)
        return (int)second->severity - (int)first->severity;
    if (more != other)
        return more > other ? -1 : 1;
    return history_key_order(first, second);
}

/* Idle shares differ by some hundredths whatever the program does. */
static void compare_gpu(struct comparison *comparison)
{
    const double least[GPU_MEASURES] = {[GPU_DEFAULT_STREAM] = least_time(comparison), [GPU_IDLE] = IDLE_LEAST};
    for (unsigned i = 0; i < GPU_MEASURES; i++) {
        struct level *sides = comparison->gpu[i];
        for (int side = 0; side < SIDES; side++)
            sides[side] = level_of_gpu(&comparison->sides[side], (enum gpu_measure)i, comparison->per_process);
        comparison->gpu_worse[i] = level_times_above(&sides[BEFORE], &sides[AFTER], comparison->tolerance.growth, least[i]);
        comparison->gpu_better[i] =
            level_times_above(&sides[AFTER], &sides[BEFORE], comparison->tolerance.growth, least[i]);
    }
    for (unsigned i = 0; i < GPU_MEASURES; i++) {
        comparison->gpu_worse[i] &= comparison_has_gpu_spread(comparison);
        comparison->gpu_better[i] &= comparison_has_gpu_spread(comparison);
    }
}

void compare(struct comparison *comparison, const struct history *before, const struct history *after,
             struct tolerance tolerance)
{
    const struct history *all[SIDES] = {before, after};
    *comparison = (struct comparison){.tolerance = tolerance};
    take_sides(comparison, all);
    comparison->per_process = !same_processes(comparison->sides);
    for (int side = 0; side < SIDES; side++) {
        comparison->run_ns[side] = level_of_runs(&comparison->sides[side]);
        comparison->out_of_memory |= comparison->sides[side].out_of_memory;
    }
    compare_gpu(comparison);
    for (size_t i = 0; i < comparison->sides[AFTER].rows.count; i++) {
        const struct row *row = &comparison->sides[AFTER].rows.items[i];
        add_changed(comparison, history_find(&comparison->sides[BEFORE], &row->key), row);
    }
    for (size_t i = 0; i < comparison->sides[BEFORE].rows.count; i++) {
        const struct row *row = &comparison->sides[BEFORE].rows.items[i];
        if (history_find(&comparison->sides[AFTER], &row->key) == NULL)
            add_changed(comparison, row, NULL);
    }
    significance_decide(comparison);
    if (comparison->list.count != 0)
        qsort(comparison->list.items, comparison->list.count, sizeof *comparison->list.items, by_weight);
}

void compare_free(struct comparison *comparison)
{
    history_free(&comparison->sides[BEFORE]);
    history_free(&comparison->sides[AFTER]);
    free(comparison->list.items);
    *comparison = (struct comparison){.out_of_memory = false};
}
