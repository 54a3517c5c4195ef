/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds diff` at a terminal: the answer, what was compared, then a line a change.
 */
#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/compare/change_words.h"
#include "analysis/views/compare/diff_views.h"
#include "analysis/views/compare/diff_words.h"

static const char *time_word(enum row_kind kind)
{
    return kind == ROW_FINDING ? "saves " : kind == ROW_CALLS ? "blocked " : "";
}

static void put_gpu(const struct diff *diff, struct text_sink *sink)
{
    for (unsigned i = 0; i < GPU_MEASURES; i++)
        if (diff_words_gpu(diff, (enum gpu_measure)i).used != 0)
            sink_printf(sink, "  %-7s %s\n", i == 0 ? "GPU" : "", diff_words_gpu(diff, (enum gpu_measure)i).text);
    if (diff_words_gpu_missing(diff).used != 0)
        sink_printf(sink, "  %s\n", diff_words_gpu_missing(diff).text);
}

static void put_change(const struct diff *diff, const struct changed *changed, struct text_sink *sink)
{
    const struct row *row = changed_row(changed);
    struct line time = change_words_time(diff->comparison, changed), call = change_words_per_call(changed);
    struct small_text share = change_words_share(changed->calls[BEFORE].median, changed->calls[AFTER].median);
    char what[400];
    change_words_row(row, what, sizeof what);
    sink_printf(sink, "  %-7s%s ", change_names[changed->change], changed->sure ? "" : "?");
    if (row->key.kind == ROW_FINDING)
        sink_printf(sink, "%s %s [%s]%s", severity_names[row->key.severity], row->key.rule, row->id,
                    what[0] != 0 ? ", " : "");
    sink_printf(sink, "%s\n", what);
    sink_printf(sink, "           %s%s%s\n", change_words_calls(diff->comparison, changed).text,
                share.text[0] != 0 ? ", " : "", share.text);
    if (time.used != 0)
        sink_printf(sink, "           %s%s\n", time_word(row->key.kind), time.text);
    if (call.used != 0 && (changed->change == CHANGE_SLOWER || changed->change == CHANGE_FASTER))
        sink_printf(sink, "           %s\n", call.text);
    if (row->site != NULL && row->site[0] != 0)
        sink_printf(sink, "           at %s\n", row->site);
}

static void put_kind(const struct diff *diff, enum row_kind kind, const char *title, struct text_sink *sink)
{
    bool any = false;
    for (size_t i = 0; i < diff->comparison->list.count; i++) {
        const struct changed *changed = &diff->comparison->list.items[i];
        if (changed_row(changed)->key.kind != kind || !diff_shows(diff, changed))
            continue;
        if (!any)
            sink_printf(sink, "\n%s\n", title);
        any = true;
        put_change(diff, changed, sink);
    }
}

int diff_text(const struct diff *diff, struct text_sink *sink)
{
    struct line chance = diff_words_chance(diff);
    if (diff_words_time(diff).used != 0)
        sink_printf(sink, "%s\n", diff_words_time(diff).text);
    sink_printf(sink, "%s\n", diff_words_answer(diff).text);
    sink_printf(sink, "  before  %s, %s\n", diff->name[BEFORE], diff_words_side(diff, BEFORE).text);
    sink_printf(sink, "  after   %s, %s\n", diff->name[AFTER], diff_words_side(diff, AFTER).text);
    put_gpu(diff, sink);
    if (diff_words_names(diff).used != 0)
        sink_printf(sink, "  %s\n", diff_words_names(diff).text);
    if (diff->comparison->per_process)
        sink_printf(sink, "  The runs have not the same number of processes: all numbers are a process's.\n");
    put_kind(diff, ROW_FINDING, "Findings", sink);
    put_kind(diff, ROW_CALLS, "Calls", sink);
    put_kind(diff, ROW_GPU, "On the GPU", sink);
    if (chance.used != 0)
        sink_printf(sink, "\n%s\n", chance.text);
    return 0;
}
