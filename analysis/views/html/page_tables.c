/* SPDX-License-Identifier: Apache-2.0
 *
 * Names for the numbers in the columns. Called by report_html.c and columns.c. Names may be cut, but stay valid UTF-8.
 */
#include "analysis/views/html/page_tables.h"

#include <stdlib.h>

#include "analysis/base/id_map.h"
#include "analysis/views/html/region_marks.h"
#include "analysis/views/html/page_names.h"
#include "analysis/views/json/value.h"

/* Whole nanoseconds if the stretch is short enough for 32 bits. */
static double unit(const struct report *report, const struct timeline *timeline)
{
    uint64_t count = timeline_count(timeline), longest = 0;
    if (count == 0)
        return 1;
    for (uint64_t i = 0; i < count; i++) {
        const struct timeline_op *op = timeline_at(timeline, i);
        uint64_t ran = op->ran_after_ns != TIMELINE_NOT_RAN ? op->ran_after_ns + op->ran_ns : 0;
        longest = op->ns > longest ? op->ns : longest;
        longest = ran > longest ? ran : longest;
    }
    uint64_t stretch = timeline_at(timeline, count - 1)->enter - timeline_at(timeline, 0)->enter;
    double ns = (double)trace_ns(&report->trace, stretch) + (double)longest;
    return ns < 4e9 ? 1 : ns / 4e9;
}

void page_tables_begin(struct tables *tables, const struct report *report, const struct timeline *timeline)
{
    *tables = (struct tables){.unit_ns = unit(report, timeline), .pairs = json_array()};
    tables->first = timeline_count(timeline) != 0 ? timeline_at(timeline, 0)->enter : 0;
    for (size_t i = 0; i <= report->serials && TABLE_ADD(&tables->rank); i++)
        *TABLE_LAST(&tables->rank) = 0;
    for (size_t i = 0; i < report->findings.count && i + 1 < NAMES_MOST; i++)
        if (report->findings.items[i]->serial < tables->rank.count && report->findings.items[i]->serial != 0)
            tables->rank.items[report->findings.items[i]->serial] = (uint32_t)i + 1;
}

void page_tables_end(struct tables *tables)
{
    page_names_free(&tables->threads);
    page_names_free(&tables->streams);
    page_names_free(&tables->apis);
    page_names_free(&tables->kernels);
    page_names_free(&tables->stacks);
    page_names_free(&tables->regions);
    region_marks_free(&tables->marks);
    free(tables->rank.items);
    free(tables->runs.items);
    json_decref(tables->pairs);
}

static json_t *ids(const struct names *names, const struct report *report, enum finding_set set)
{
    json_t *out = json_array();
    char text[400];
    for (size_t i = 0; i < names->uids.count; i++) {
        report_words_id(report, set, names->uids.items[i], text, sizeof text);
        json_array_append_new(out,
                              json_pack("{s:I, s:o}", "id", (json_int_t)names->uids.items[i], "name", value_text(text)));
    }
    return out;
}

static json_t *threads(const struct names *names, const struct report *report)
{
    json_t *out = ids(names, report, FINDING_THREADS);
    char text[100];
    for (size_t i = 0; i < names->uids.count; i++) {
        report_words_thread(report, names->uids.items[i], text, sizeof text);
        json_object_set_new(json_array_get(out, i), "label", value_text(text));
    }
    return out;
}

static json_t *streams(const struct names *names, const struct report *report)
{
    json_t *out = ids(names, report, FINDING_STREAMS);
    for (size_t i = 0; i < names->uids.count; i++) {
        const struct stream_def *stream = definitions_stream(&report->trace.defs, names->uids.items[i]);
        json_object_set_new(json_array_get(out, i), "kind",
                            json_string(report_words_stream_kind(stream != NULL ? stream->kind : PTDS_STREAM_UNKNOWN)));
    }
    return out;
}

static json_t *apis(const struct names *names, const struct report *report)
{
    json_t *out = json_array();
    for (size_t i = 0; i < names->uids.count; i++) {
        json_array_append_new(out, value_text(definitions_api_name(&report->trace.defs, names->uids.items[i] - 1)));
    }
    return out;
}

static json_t *sites(const struct names *names, const struct report *report, struct site_namer *namer)
{
    json_t *out = json_array();
    char text[400];
    for (size_t i = 0; i < names->uids.count; i++)
        json_array_append_new(
            out, value_text(report_words_site(report, namer, names->uids.items[i], text, sizeof text) ? text : NULL));
    return out;
}

static json_t *regions(const struct names *names, const struct report *report)
{
    json_t *out = json_array();
    for (size_t i = 0; i < names->uids.count; i++) {
        const char *name = definitions_string(&report->trace.defs, names->uids.items[i]);
        json_array_append_new(out, value_text(name != NULL && name[0] != 0 ? name : "(unnamed region)"));
    }
    return out;
}

/* Since the start of the run; null where the clock cannot be converted. */
static json_t *since_start(const struct report *report, uint64_t ticks)
{
    if (!trace_has_time(&report->trace))
        return json_null();
    return json_integer((json_int_t)(ticks > report->start ? trace_ns(&report->trace, ticks - report->start) : 0));
}

json_t *page_tables_json(const struct tables *tables, const struct report *report, const struct timeline *timeline,
                         struct site_namer *namer)
{
    uint64_t count = timeline_count(timeline);
    json_t *out = json_object();
    json_object_set_new(out, "operations", json_integer((json_int_t)count));
    json_object_set_new(out, "operations_seen", json_integer((json_int_t)timeline->seen));
    json_object_set_new(out, "runs", json_integer((json_int_t)tables->runs.count));
    json_object_set_new(out, "out_of_memory", json_boolean(timeline->out_of_memory));
    json_object_set_new(out, "has_time", json_boolean(trace_has_time(&report->trace)));
    json_object_set_new(out, "unit_ns", json_real(tables->unit_ns));
    json_object_set_new(out, "start_ns", since_start(report, tables->first));
    json_object_set_new(out, "threads", threads(&tables->threads, report));
    json_object_set_new(out, "streams", streams(&tables->streams, report));
    json_object_set_new(out, "apis", apis(&tables->apis, report));
    json_object_set_new(out, "kernels", ids(&tables->kernels, report, FINDING_KERNELS));
    json_object_set_new(out, "sites", sites(&tables->stacks, report, namer));
    json_object_set_new(out, "regions", json_integer((json_int_t)tables->marks.kept.count));
    json_object_set_new(out, "regions_left_out", json_integer((json_int_t)tables->marks.dropped));
    json_object_set_new(out, "region_names", regions(&tables->regions, report));
    json_object_set_new(out, "pairs", json_incref(tables->pairs));
    return out;
}
