/* SPDX-License-Identifier: Apache-2.0
 *
 * What all forms of `ptds diff` say alike.
 */
#include <string.h>

#include "analysis/compare/words.h"
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

struct line diff_answer(const struct diff *diff)
{
    const struct comparison *comparison = diff->comparison;
    struct line line = {.used = 0};
    bool spread = comparison_has_spread(comparison);
    if (add_up(comparison->sure) == 0) {
        line_add(&line, "nothing changed ");
        if (spread)
            line_add(&line, "beyond the spread (");
        else
            line_add(&line, "by more than %.0f %% (", comparison->tolerance.growth * 100);
    }
    for (unsigned i = 0; i < CHANGES; i++)
        if (comparison->sure[i] != 0)
            line_add(&line, "%s%zu %s", line.used != 0 ? ", " : "", comparison->sure[i], change_names[i]);
    if (add_up(comparison->sure) != 0)
        line_add(&line, " (");
    add_runs(&line, comparison);
    line_add(&line, "%s)", spread ? "" : "; below 3 their spread is not known");
    return line;
}

struct line diff_side(const struct diff *diff, int side)
{
    const struct history *history = &diff->comparison->sides[side];
    const struct level *run = &diff->comparison->run_ns[side];
    struct line line = {.used = 0};
    line_add(&line, "%s", runs_words(history).text);
    if (history->runs.count != 0)
        line_add(&line, " of %.80s, policy %.40s", TABLE_LAST(&history->runs)->program, TABLE_LAST(&history->runs)->policy);
    if (run->known == 0)
        return line;
    line_add(&line, ": %s", text_ns((uint64_t)run->median).text);
    if (run->least != run->most)
        line_add(&line, " (%s to %s)", text_ns((uint64_t)run->least).text, text_ns((uint64_t)run->most).text);
    struct small_text share = changed_share(diff->comparison->run_ns[BEFORE].median, run->median);
    if (side == AFTER && share.text[0] != 0)
        line_add(&line, ", %s", share.text);
    return line;
}

struct line diff_chance(const struct diff *diff)
{
    size_t count = add_up(diff->comparison->unsure);
    struct line line = {.used = 0};
    line.text[0] = 0;
    if (count != 0 && !diff->all)
        line_add(&line, "%s may be chance, or calls that moved: there are as many as before (--all shows them)",
                 text_plural(count, "more difference").text);
    return line;
}

struct line diff_names(const struct diff *diff)
{
    const bool *nameless = diff->comparison->nameless;
    struct line line = {.used = 0};
    line.text[0] = 0;
    if (nameless[BEFORE] || nameless[AFTER])
        line_add(&line,
                 "%s has functions without names (rebuilt since, or stripped): these are compared by call and kernel",
                 nameless[BEFORE] && nameless[AFTER] ? "each"
                 : nameless[BEFORE]                  ? "before"
                                                     : "after");
    return line;
}
