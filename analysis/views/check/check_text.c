/* SPDX-License-Identifier: Apache-2.0
 *
 * A check's lines on stdout. Tools cut them at blanks: a failure begins with FAIL, its rule and its id.
 */
#include "analysis/base/sink.h"
#include "analysis/views/check/check_views.h"

static void put_item(const struct check_item *item, bool has_baseline, struct text_sink *sink)
{
    sink_printf(sink, "%s %s", item->fails ? "FAIL" : "maybe", item->what);
    if (item->id[0] != 0)
        sink_printf(sink, " [%s]", item->id);
    if (has_baseline && item->state != STATE_THERE)
        sink_printf(sink, " %s", state_names[item->state]);
    /* Of a region and of an order the text begins with its name. */
    bool named = item->id[0] == 0 && item->state == STATE_THERE;
    sink_printf(sink, "%s %s", named ? "" : ":", item->text);
    if (item->site[0] != 0)
        sink_printf(sink, "%s at %s", has_baseline ? "," : "", item->site);
    if (item->more[0] != 0)
        sink_printf(sink, ", %s", item->more);
    sink_printf(sink, "\n");
}

int check_text(const struct check_results *results, struct text_sink *sink)
{
    for (size_t i = 0; i < results->items.count; i++)
        if (results->items.items[i].fails)
            put_item(&results->items.items[i], results->has_baseline, sink);
    for (size_t i = 0; i < results->items.count; i++)
        if (!results->items.items[i].fails)
            put_item(&results->items.items[i], results->has_baseline, sink);
    sink_printf(sink, "%s\n", results_sum(results).text);
    return 0;
}
