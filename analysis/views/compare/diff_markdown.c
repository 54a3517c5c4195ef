/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds diff` for a pull request.
 */
#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/compare/change_words.h"
#include "analysis/views/compare/diff_views.h"
#include "analysis/views/compare/diff_words.h"
#include "analysis/views/markdown.h"

static void put_change(const struct diff *diff, const struct changed *changed, struct text_sink *sink)
{
    const struct row *row = changed_row(changed);
    char what[400];
    change_words_row(row, what, sizeof what);
    sink_printf(sink, "| %s%s | ", change_names[changed->change], changed->sure ? "" : " (may be chance)");
    markdown_code(sink, row->key.kind == ROW_FINDING ? row->key.rule : "");
    sink_printf(sink, "%s", row->key.kind == ROW_FINDING ? "" : row->key.kind == ROW_CALLS ? "calls" : "GPU");
    sink_printf(sink, " | ");
    markdown_code(sink, what);
    sink_printf(sink, " | ");
    markdown_text(sink, change_words_calls(diff->comparison, changed).text);
    sink_printf(sink, " | ");
    markdown_text(sink, change_words_time(diff->comparison, changed).text);
    sink_printf(sink, " | ");
    markdown_code(sink, row->site != NULL ? row->site : "");
    sink_printf(sink, " |\n");
}

static void put_side(const struct diff *diff, int side, const char *word, struct text_sink *sink)
{
    sink_printf(sink, "- %s: ", word);
    markdown_code(sink, diff->name[side]);
    sink_printf(sink, ", ");
    markdown_text(sink, diff_words_side(diff, side).text);
    sink_printf(sink, "\n");
}

static void put_gpu(const struct diff *diff, struct text_sink *sink)
{
    for (unsigned i = 0; i < GPU_MEASURES; i++)
        if (diff_words_gpu(diff, (enum gpu_measure)i).used != 0)
            sink_printf(sink, "- %s\n", diff_words_gpu(diff, (enum gpu_measure)i).text);
    if (diff_words_gpu_missing(diff).used != 0)
        sink_printf(sink, "- %s\n", diff_words_gpu_missing(diff).text);
}

int diff_markdown(const struct diff *diff, struct text_sink *sink)
{
    struct line chance = diff_words_chance(diff);
    bool any = false;
    struct line time = diff_words_time(diff);
    sink_printf(sink, "### ptds diff: %s\n\n", time.used != 0 ? time.text : diff_words_answer(diff).text);
    if (time.used != 0)
        sink_printf(sink, "%s\n\n", diff_words_answer(diff).text);
    put_side(diff, BEFORE, "before", sink);
    put_side(diff, AFTER, "after", sink);
    put_gpu(diff, sink);
    if (diff_words_names(diff).used != 0)
        sink_printf(sink, "- %s\n", diff_words_names(diff).text);
    if (diff->comparison->per_process)
        sink_printf(sink, "- the runs have not the same number of processes: all numbers are a process's\n");
    for (size_t i = 0; i < diff->comparison->list.count; i++) {
        const struct changed *changed = &diff->comparison->list.items[i];
        if (!diff_shows(diff, changed))
            continue;
        if (!any)
            sink_printf(sink, "\n| change | finding | what | calls | time | where |\n|---|---|---|---|---|---|\n");
        any = true;
        put_change(diff, changed, sink);
    }
    if (chance.used != 0)
        sink_printf(sink, "\n%s\n", chance.text);
    return 0;
}
