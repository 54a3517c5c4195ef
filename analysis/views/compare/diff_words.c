/* SPDX-License-Identifier: Apache-2.0
 *
 * What all forms of `ptds diff` say alike.
 */
#include "analysis/views/compare/diff_words.h"

#include <stdio.h>
#include <string.h>

#include "analysis/base/line.h"
#include "analysis/compare/change_words.h"
#include "analysis/views/compare/diff_views.h"

static size_t add_up(const size_t counts[CHANGES])
{
    size_t sum = 0;
    for (unsigned i = 0; i < CHANGES; i++)
        sum += i != CHANGE_NONE ? counts[i] : 0;
    return sum;
}

static void add_runs(struct line *line, const struct comparison *comparison)
{
    size_t before = comparison->sides[BEFORE].runs.count, after = comparison->sides[AFTER].runs.count;
    if (before == after)
        line_add(line, "%s each", text_plural(before, "run").text);
    else
        line_add(line, "%s and %s", text_plural(before, "run").text, text_plural(after, "run").text);
}

enum change diff_words_gpu_change(const struct diff *diff, enum gpu_measure measure)
{
    const struct comparison *comparison = diff->comparison;
    bool times = measure == GPU_DEFAULT_STREAM;
    if (comparison->gpu_worse[measure])
        return times ? CHANGE_SLOWER : CHANGE_MORE;
    if (comparison->gpu_better[measure])
        return times ? CHANGE_FASTER : CHANGE_LESS;
    return CHANGE_NONE;
}

struct line diff_words_gpu(const struct diff *diff, enum gpu_measure measure)
{
    const struct comparison *comparison = diff->comparison;
    enum change change = diff_words_gpu_change(diff, measure);
    struct line line = {.used = 0};
    if (!comparison_has_gpu(comparison, BEFORE) || !comparison_has_gpu(comparison, AFTER))
        return line;
    line_add(&line, "%s", change_words_gpu(comparison, measure).text);
    if (change != CHANGE_NONE)
        line_add(&line, ": %s", change_names[change]);
    return line;
}

static bool has_rows(const struct history *history)
{
    for (size_t i = 0; i < history->runs.count; i++)
        if (history->runs.items[i].has_gpu_rows)
            return true;
    return false;
}

struct line diff_words_gpu_missing(const struct diff *diff)
{
    const struct comparison *comparison = diff->comparison;
    bool before = comparison_has_gpu(comparison, BEFORE), after = comparison_has_gpu(comparison, AFTER);
    struct line line = {.used = 0};
    if (before != after)
        line_add(&line, "%s has no times on the GPU (PTDS_DEVICE_TIMES): what the GPU did is not compared",
                 before ? "after" : "before");
    else if (has_rows(&comparison->sides[BEFORE]) != has_rows(&comparison->sides[AFTER]))
        line_add(&line, "%s is a baseline of an older version, without the GPU times of each kernel",
                 has_rows(&comparison->sides[BEFORE]) ? "after" : "before");
    return line;
}

static void add_gpu(const struct diff *diff, struct line *line)
{
    static const char *const words[GPU_MEASURES] = {"the default stream's work %s on the GPU", "the GPU idle %s"};
    for (unsigned i = 0; i < GPU_MEASURES; i++) {
        enum change change = diff_words_gpu_change(diff, (enum gpu_measure)i);
        char text[60];
        if (change == CHANGE_NONE)
            continue;
        snprintf(text, sizeof text, words[i], change_names[change]);
        line_add(line, "%s%s", line->used != 0 ? ", " : "", text);
    }
}

/* Each run of one side took longer than each of the other; of single runs nobody knows what they differ by. */
static bool lie_apart(const struct level *one, const struct level *two)
{
    return one->least > two->most || two->least > one->most;
}

struct line diff_words_time(const struct diff *diff)
{
    const struct level *before = &diff->comparison->run_ns[BEFORE], *after = &diff->comparison->run_ns[AFTER];
    struct line line = {.used = 0};
    if (before->known == 0 || after->known == 0 || before->median <= 0 || after->median <= 0)
        return line;
    double share = (after->median / before->median - 1) * 100;
    bool alike = share > -0.5 && share < 0.5;
    if (!alike && comparison_has_spread(diff->comparison) && !lie_apart(before, after))
        line_add(&line, "as long within the spread");
    else if (alike)
        line_add(&line, "as long");
    else if (share >= 100)
        line_add(&line, "%.1f times as long", share / 100 + 1);
    else
        line_add(&line, "%.0f %% %s", share < 0 ? -share : share, share < 0 ? "shorter" : "longer");
    line_add(&line, " (%s, was %s), ", text_ns((uint64_t)after->median).text, text_ns((uint64_t)before->median).text);
    add_runs(&line, diff->comparison);
    return line;
}

struct line diff_words_answer(const struct diff *diff)
{
    const struct comparison *comparison = diff->comparison;
    struct line line = {.used = 0};
    bool spread = comparison_has_spread(comparison);
    for (unsigned i = 0; i < CHANGES; i++)
        if (i != CHANGE_NONE && comparison->sure[i] != 0)
            line_add(&line, "%s%zu %s", line.used != 0 ? ", " : "", comparison->sure[i], change_names[i]);
    add_gpu(diff, &line);
    if (line.used == 0 && spread)
        line_add(&line, "no call or finding changed beyond the spread");
    else if (line.used == 0)
        line_add(&line, "no call or finding changed by more than %.0f %%", comparison->tolerance.growth * 100);
    line_add(&line, " (");
    add_runs(&line, comparison);
    line_add(&line, "%s)", spread ? "" : "; below 3 runs their spread is not known");
    return line;
}

struct line diff_words_side(const struct diff *diff, int side)
{
    const struct history *history = &diff->comparison->sides[side];
    const struct level *run = &diff->comparison->run_ns[side];
    struct line line = {.used = 0};
    line_add(&line, "%s", change_words_runs(history).text);
    if (history->runs.count != 0)
        line_add(&line, " of %.80s, policy %.40s", TABLE_LAST(&history->runs)->program, TABLE_LAST(&history->runs)->policy);
    if (run->known == 0)
        return line;
    line_add(&line, ": %s", text_ns((uint64_t)run->median).text);
    if (run->least != run->most)
        line_add(&line, " (%s to %s)", text_ns((uint64_t)run->least).text, text_ns((uint64_t)run->most).text);
    struct small_text share = change_words_share(diff->comparison->run_ns[BEFORE].median, run->median);
    if (side == AFTER && share.text[0] != 0)
        line_add(&line, ", %s", share.text);
    return line;
}

static bool is_as_many(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->list.count; i++) {
        const struct changed *changed = &comparison->list.items[i];
        bool moved = changed->change == CHANGE_NEW || changed->change == CHANGE_GONE;
        if (moved && !changed->sure && changed_row(changed)->key.kind == ROW_CALLS && !changed_as_many(changed))
            return false;
    }
    return true;
}

struct line diff_words_chance(const struct diff *diff)
{
    size_t count = add_up(diff->comparison->unsure);
    struct line line = {.used = 0};
    if (count != 0 && !diff->all)
        line_add(&line, "%s may be chance, or calls that moved%s (--all shows them)",
                 text_plural(count, "more difference").text,
                 is_as_many(diff->comparison) ? ": there are as many as before" : "");
    return line;
}

struct line diff_words_names(const struct diff *diff)
{
    const bool *nameless = diff->comparison->nameless;
    struct line line = {.used = 0};
    if (nameless[BEFORE] || nameless[AFTER])
        line_add(&line,
                 "%s has functions without names (rebuilt since, or stripped): these are compared by call and kernel",
                 nameless[BEFORE] && nameless[AFTER] ? "each"
                 : nameless[BEFORE]                  ? "before"
                                                     : "after");
    return line;
}
