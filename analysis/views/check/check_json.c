/* SPDX-License-Identifier: Apache-2.0
 *
 * A check for machines.
 */
#include <jansson.h>

#include "analysis/base/sink.h"
#include "analysis/views/check/check_views.h"
#include "analysis/views/json/value.h"

static json_t *item_json(const struct check_item *item)
{
    json_t *out = json_object();
    json_object_set_new(out, "fails", json_boolean(item->fails));
    json_object_set_new(out, "what", value_text(item->what));
    json_object_set_new(out, "id", item->id[0] != 0 ? value_text(item->id) : json_null());
    json_object_set_new(out, "severity", json_string(severity_names[item->severity]));
    json_object_set_new(out, "state", json_string(state_names[item->state]));
    json_object_set_new(out, "text", value_text(item->text));
    json_object_set_new(out, "site", item->site[0] != 0 ? value_text(item->site) : json_null());
    json_object_set_new(out, "more", item->more[0] != 0 ? value_text(item->more) : json_null());
    return out;
}

int check_json(const struct check_results *results, struct text_sink *sink)
{
    json_t *out = json_object(), *items = json_array();
    for (size_t i = 0; i < results->items.count; i++)
        json_array_append_new(items, item_json(&results->items.items[i]));
    json_object_set_new(out, "ptds_check_version", json_integer(1));
    json_object_set_new(out, "passes", json_boolean(!results_inconclusive(results) && results_failures(results) == 0));
    json_object_set_new(out, "summary", value_text(results_sum(results).text));
    json_object_set_new(out, "findings", value_number(results->findings));
    json_object_set_new(out, "failures", value_number(results_failures(results)));
    json_object_set_new(out, "in_baseline", results->has_baseline ? value_number(results->held_back) : json_null());
    json_object_set_new(out, "runs", value_number(results->runs));
    json_object_set_new(out, "processes", value_number(results->processes));
    json_object_set_new(out, "baseline_runs", results->has_baseline ? value_number(results->baseline_runs) : json_null());
    json_object_set_new(out, "incomplete",
                        value_texts((const char *const *)results->incomplete.items, results->incomplete.count));
    json_object_set_new(out, "items", items);
    return value_write(out, sink);
}
