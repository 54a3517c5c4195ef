/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares two histories. Called by `ptds check` and `ptds diff`. Decides what changed; what that means is their business.
 */
#include "analysis/compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/compare/level.h"

const char *const change_names[CHANGES] = {"new", "more", "slower", "gone", "less", "faster", "same"};

enum { TIME_LEAST_NS = 1000000, FEW_CALLS = 2, IDLE_LEAST = 50000000 };

static const struct row *find(const struct history *history, const struct row_key *key)
{
    size_t low = 0, high = history->rows.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = row_key_order(&history->rows.items[middle].key, key);
        if (order == 0)
            return &history->rows.items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool is_of_group(const struct row_key *one, const struct row_key *two)
{
    return one->kind == two->kind && one->severity == two->severity && strcmp(one->rule, two->rule) == 0 &&
           strcmp(one->api, two->api) == 0 && strcmp(one->kernel, two->kernel) == 0 && strcmp(one->text, two->text) == 0;
}

/* Whether it is not known where its calls come from. */
static bool is_unplaced(const struct row *row)
{
    return row->key.api[0] != 0 && row->key.place[0] == 0;
}

/* Whether some place of the group has a name on this side, and is not on the other. */
static bool has_named(const struct history *side, const struct history *other, const struct row_key *key)
{
    for (size_t i = 0; i < side->rows.count; i++) {
        const struct row *row = &side->rows.items[i];
        if (!is_unplaced(row) && !row->unnamed && is_of_group(&row->key, key) && find(other, &row->key) == NULL)
            return true;
    }
    return false;
}

/* Whether the places of all that is alike but for them cannot be compared: some are not known (the runtime called, and how
 * many of these have a whole stack is a matter of chance), or have names on one side only (the program was rebuilt since).
 */
static bool has_no_places(struct comparison *comparison, const struct history *all[SIDES], const struct row_key *key)
{
    bool none = false;
    for (int side = 0; side < SIDES; side++) {
        const struct history *other = all[side == BEFORE ? AFTER : BEFORE];
        for (size_t i = 0; i < all[side]->rows.count; i++) {
            const struct row *row = &all[side]->rows.items[i];
            if (!(is_unplaced(row) || row->unnamed) || !is_of_group(&row->key, key))
                continue;
            bool nameless = row->unnamed && find(other, &row->key) == NULL && has_named(other, all[side], key);
            comparison->nameless[side] |= nameless && row->key.kind == ROW_CALLS;
            none |= is_unplaced(row) || nameless;
        }
    }
    return none;
}

static void take_row(struct comparison *comparison, int side, const struct history *all[SIDES], const struct row *from)
{
    struct history *to = &comparison->sides[side];
    struct row_key key = from->key;
    if (has_no_places(comparison, all, &key))
        key.place = "";
    struct row *row = history_row(to, &key);
    if (row == NULL)
        return;
    row_join(row, from);
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

static void take_side(struct comparison *comparison, int side, const struct history *all[SIDES])
{
    struct history *to = &comparison->sides[side];
    for (size_t i = 0; i < all[side]->runs.count; i++)
        if (!history_begin_run(to, &all[side]->runs.items[i]))
            return;
    for (size_t i = 0; i < all[side]->rows.count; i++)
        take_row(comparison, side, all, &all[side]->rows.items[i]);
    history_sort(to);
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

/* The least number of calls that counts: one more in one run may be a second try. */
static double least_calls(const struct comparison *comparison)
{
    return comparison->sides[BEFORE].runs.count < COMPARE_RUNS_FOR_SPREAD ? FEW_CALLS : 1;
}

static double least_time(const struct comparison *comparison)
{
    double run = comparison->run_ns[BEFORE].median;
    double floor = run > 0 ? (double)floor_ns(comparison->tolerance.floor, (uint64_t)run) : 0;
    return floor > TIME_LEAST_NS ? floor : TIME_LEAST_NS;
}

static enum change change_of(const struct comparison *comparison, const struct changed *changed)
{
    const struct level *calls = changed->calls, *ns = changed->ns;
    double growth = comparison->tolerance.growth;
    bool asks = changed_row(changed)->asks, times = ns[BEFORE].known != 0 && ns[AFTER].known != 0;
    if (calls[BEFORE].in == 0)
        return mostly_in(&comparison->sides[AFTER], &calls[AFTER]) ? CHANGE_NEW : CHANGE_NONE;
    if (calls[AFTER].in == 0)
        return mostly_in(&comparison->sides[BEFORE], &calls[BEFORE]) ? CHANGE_GONE : CHANGE_NONE;
    if (!asks && level_counts_above(&calls[BEFORE], &calls[AFTER], growth, least_calls(comparison)))
        return CHANGE_MORE;
    if (!asks && level_counts_above(&calls[AFTER], &calls[BEFORE], growth, least_calls(comparison)))
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

static bool is_up(enum change change)
{
    return change == CHANGE_NEW || change == CHANGE_MORE;
}

static bool is_down(enum change change)
{
    return change == CHANGE_GONE || change == CHANGE_LESS;
}

/* A function that is new, or gone, proves nothing where another one makes its calls: it has another name now. */
static bool is_sure_call(const struct comparison *comparison, const struct changed *changed)
{
    const struct row_key *key = &changed_row(changed)->key;
    struct level group[SIDES];
    if (changed->change == CHANGE_MORE || changed->change == CHANGE_LESS)
        return true;
    if (changed->change != CHANGE_NEW && changed->change != CHANGE_GONE)
        return comparison_has_spread(comparison);
    for (int side = 0; side < SIDES; side++)
        group[side] = level_of_group(&comparison->sides[side], key, comparison->per_process);
    bool up = changed->change == CHANGE_NEW;
    return level_counts_above(&group[up ? BEFORE : AFTER], &group[up ? AFTER : BEFORE], comparison->tolerance.growth,
                              least_calls(comparison)) ||
           group[up ? BEFORE : AFTER].in == 0;
}

/* Whether the calls that the finding is about became more, or fewer, for sure. */
static bool calls_changed(const struct comparison *comparison, const struct changed *finding)
{
    const struct row_key *key = &changed_row(finding)->key;
    for (size_t i = 0; i < comparison->list.count; i++) {
        const struct changed *one = &comparison->list.items[i];
        const struct row_key *calls = &changed_row(one)->key;
        if (calls->kind != ROW_CALLS || !one->sure || strcmp(calls->api, key->api) != 0 ||
            (calls->place[0] != 0 && key->place[0] != 0 && strcmp(calls->place, key->place) != 0))
            continue;
        if ((is_up(finding->change) && is_up(one->change)) || (is_down(finding->change) && is_down(one->change)))
            return true;
    }
    return false;
}

/* A finding that comes or goes while its calls stay: they waited for something else, or longer, as it may be in any run.
 * It is sure where it is no matter of time: an error, what no call stands for, what has no time to it, what is in all runs
 * of one side and in none of the other. */
static bool is_sure_finding(const struct comparison *comparison, const struct changed *changed)
{
    const struct row *row = changed_row(changed);
    int side = changed->change == CHANGE_GONE ? BEFORE : AFTER;
    bool in_all = changed->calls[side].in == comparison->sides[side].runs.count;
    if (changed->change == CHANGE_SLOWER || changed->change == CHANGE_FASTER)
        return comparison_has_spread(comparison);
    if (calls_changed(comparison, changed))
        return true;
    if (changed->change == CHANGE_MORE || changed->change == CHANGE_LESS)
        return false;
    return row->key.severity == SEVERITY_ERROR || row->key.api[0] == 0 ||
           (changed->shown && changed->ns[side].known == 0) || (in_all && comparison_has_spread(comparison));
}

static bool is_sure_gpu(const struct changed *changed)
{
    return changed->ns[BEFORE].known >= COMPARE_RUNS_FOR_SPREAD && changed->ns[AFTER].known >= COMPARE_RUNS_FOR_SPREAD;
}

static bool is_sure(const struct comparison *comparison, const struct changed *changed)
{
    switch (changed_row(changed)->key.kind) {
    case ROW_CALLS: return is_sure_call(comparison, changed);
    case ROW_FINDING: return is_sure_finding(comparison, changed);
    default: return is_sure_gpu(changed);
    }
}

static void settle(struct comparison *comparison, enum row_kind kind)
{
    for (size_t i = 0; i < comparison->list.count; i++) {
        struct changed *changed = &comparison->list.items[i];
        if (changed_row(changed)->key.kind != kind || changed->change == CHANGE_NONE)
            continue;
        changed->sure = is_sure(comparison, changed);
        (changed->sure ? comparison->sure : comparison->unsure)[changed->change]++;
    }
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
    return row_key_order(first, second);
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
    take_side(comparison, BEFORE, all);
    take_side(comparison, AFTER, all);
    comparison->per_process = !same_processes(comparison->sides);
    for (int side = 0; side < SIDES; side++) {
        comparison->run_ns[side] = level_of_runs(&comparison->sides[side]);
        comparison->out_of_memory |= comparison->sides[side].out_of_memory;
    }
    compare_gpu(comparison);
    for (size_t i = 0; i < comparison->sides[AFTER].rows.count; i++) {
        const struct row *row = &comparison->sides[AFTER].rows.items[i];
        add_changed(comparison, find(&comparison->sides[BEFORE], &row->key), row);
    }
    for (size_t i = 0; i < comparison->sides[BEFORE].rows.count; i++) {
        const struct row *row = &comparison->sides[BEFORE].rows.items[i];
        if (find(&comparison->sides[AFTER], &row->key) == NULL)
            add_changed(comparison, row, NULL);
    }
    settle(comparison, ROW_CALLS);
    settle(comparison, ROW_FINDING);
    settle(comparison, ROW_GPU);
    if (comparison->list.count != 0)
        qsort(comparison->list.items, comparison->list.count, sizeof *comparison->list.items, by_weight);
}

void comparison_free(struct comparison *comparison)
{
    history_free(&comparison->sides[BEFORE]);
    history_free(&comparison->sides[AFTER]);
    free(comparison->list.items);
    *comparison = (struct comparison){.out_of_memory = false};
}
