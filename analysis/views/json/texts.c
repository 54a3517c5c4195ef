/* SPDX-License-Identifier: Apache-2.0
 *
 * See texts.h. Called by report_json.c as report.def says. Says nothing of its own: the words are the other views'.
 */
#include "analysis/views/json/texts.h"

#include "analysis/base/line.h"
#include "analysis/report/many/traced.h"
#include "analysis/views/gap_words.h"
#include "analysis/views/json/value.h"
#include "analysis/views/opening.h"
#include "analysis/views/repair/repair_words.h"

static void add_line(void *list, const char *line)
{
    json_array_append_new(list, value_text(line));
}

json_t *texts_of_pair(const struct report *report, const struct edge_pair *pair)
{
    struct line first, second;
    json_t *out = json_array();
    if (!opening_pair(report, pair, &first, &second))
        return out;
    json_array_append_new(out, value_text(first.text));
    json_array_append_new(out, value_text(second.text));
    return out;
}

json_t *texts_of_place(const struct report *report, struct site_namer *namer, const struct repair_place *place)
{
    json_t *out = json_array();
    repair_words(report, namer, place, add_line, out);
    return out;
}

json_t *texts_of_repair(const struct repair *repair)
{
    json_t *out = json_array();
    repair_words_notes(repair, add_line, out);
    return out;
}

json_t *texts_of_settings(const struct definitions *defs)
{
    json_t *out = json_array();
    for (size_t i = 0; i < defs->settings.count; i++)
        if (defs->settings.items[i].text != NULL)
            json_array_append_new(out, value_text(defs->settings.items[i].text));
    return out;
}

json_t *texts_of_gaps(const struct report *report)
{
    json_t *out = json_array();
    gap_words(report, add_line, out);
    return out;
}

json_t *texts_of_past(const struct report *report)
{
    json_t *out = json_array();
    gap_words_past(report, add_line, out);
    return out;
}

json_t *texts_of_incomplete(const struct traced *traced)
{
    json_t *out = json_array();
    traced_incomplete(traced, add_line, out);
    return out;
}

json_t *texts_of_rules(const struct report *report)
{
    json_t *out = json_array();
    for (size_t i = 0; i < report->rules; i++)
        if (report->runs[i].rule != NULL)
            json_array_append_new(out, json_string(report->runs[i].rule->id));
    return out;
}
