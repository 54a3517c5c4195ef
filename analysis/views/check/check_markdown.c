/* SPDX-License-Identifier: Apache-2.0
 *
 * A check as a comment of a pull request, or a job's summary: the answer, then a table.
 */
#include "analysis/base/sink.h"
#include "analysis/views/check/check_views.h"
#include "analysis/views/markdown.h"

static void put_item(const struct check_item *item, bool has_baseline, struct text_sink *sink)
{
    sink_printf(sink, "| %s | ", item->fails ? "**fails**" : "not proven");
    markdown_code(sink, item->what);
    sink_printf(sink, " | %s | ", has_baseline ? state_names[item->state] : severity_names[item->severity]);
    markdown_text(sink, item->text);
    if (item->more[0] != 0) {
        sink_printf(sink, "; ");
        markdown_text(sink, item->more);
    }
    sink_printf(sink, " | ");
    markdown_code(sink, item->site);
    sink_printf(sink, " |\n");
}

int check_markdown(const struct check_results *results, struct text_sink *sink)
{
    size_t failures = results_failures(results);
    sink_printf(sink, "### ptds check: %s\n\n",
                results_inconclusive(results)    ? "incomplete"
                : failures != 0                  ? "fails"
                : results->incomplete.count != 0 ? "passes (incomplete)"
                                                 : "passes");
    markdown_text(sink, results_sum(results).text);
    sink_printf(sink, "\n");
    if (results->note[0] != 0) {
        sink_printf(sink, "\n");
        markdown_text(sink, results->note);
        sink_printf(sink, "\n");
    }
    for (size_t i = 0; i < results->incomplete.count; i++) {
        sink_printf(sink, "%s- incomplete: ", i == 0 ? "\n" : "");
        markdown_text(sink, results->incomplete.items[i]);
        sink_printf(sink, "\n");
    }
    if (results->items.count == 0)
        return 0;
    sink_printf(sink, "\n| | what | %s | how much | where |\n|---|---|---|---|---|\n",
                results->has_baseline ? "state" : "severity");
    for (int fails = 1; fails >= 0; fails--)
        for (size_t i = 0; i < results->items.count; i++)
            if (results->items.items[i].fails == (fails != 0))
                put_item(&results->items.items[i], results->has_baseline, sink);
    return 0;
}
