/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts the page together: page.html with the style, the scripts and the data in the places that it names. Called by the
 * command and by tests. Whatever a trace's names say must stay data: JSON goes in with every "<" escaped.
 */
#include "analysis/views/html/report_html.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/id_map.h"
#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/report/many/traced.h"
#include "analysis/views/html/page_tables.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/views/html/columns.h"
#include "analysis/views/json/report_json.h"
#include "analysis/views/json/value.h"
#include "analysis/views/opening.h"
#include "analysis/views/repair/repair_words.h"

/* Made from the files of this folder by a genrule: page_html, page_css, page_js, and their sizes. */
#include "analysis/views/html/page.inc"
#include "analysis/views/html/page_names.h"
#include "analysis/views/html/shared.h"
#include "analysis/views/html/timelines.h"
#include "analysis/views/opening_many.h"

static int escape(const char *text, size_t size, void *data)
{
    struct text_sink *sink = data;
    size_t from = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '<')
            continue;
        sink->write(sink, text + from, i - from);
        sink->write(sink, "\\u003c", 6);
        from = i + 1;
    }
    sink->write(sink, text + from, size - from);
    return 0;
}

static int put_json(json_t *value, struct text_sink *sink)
{
    int status = value != NULL ? json_dump_callback(value, escape, sink, JSON_COMPACT) : -1;
    json_decref(value);
    return status;
}

struct page {
    const struct traces *traces; /* NULL: the report is on one */
    const struct folds *folds;
    const struct timelines *timelines; /* of several; may be NULL */
    const struct report *report;
    const struct timeline *timeline;
    const struct edge_list *edges;
    const struct repair *repair;   /* of one; NULL: not asked for */
    const struct repairs *repairs; /* of several; likewise */
    struct site_namer *namer;
    struct text_sink *sink;
    struct id_map folded; /* where in `folds`, by id */
    json_t *parts;        /* what the columns of each trace are */
    int status;
};

static void put_bytes(struct page *page, const unsigned char *bytes, size_t size)
{
    page->sink->write(page->sink, (const char *)bytes, size);
}

static void put_style(struct page *page)
{
    put_bytes(page, page_css, sizeof page_css);
}

static void put_script(struct page *page)
{
    put_bytes(page, page_js, sizeof page_js);
}

static void put_report(struct page *page)
{
    json_t *report = page->traces != NULL ? report_json_many_document(page->traces, page->folds, page->repairs, page->namer)
                                          : report_json_document(page->report, page->repair, page->namer);
    page->status |= put_json(report, page->sink);
}

/* One trace's columns, a line; what they are is kept for put_tables. traced: NULL if the report is on one. */
static void put_part(struct page *page, struct tables *tables, const struct report *report, const struct timeline *timeline,
                     const struct edge_list *edges, const struct traced *traced)
{
    int64_t drawn = columns_write(tables, report, timeline, edges, page->sink);
    page->sink->write(page->sink, "\n", 1);
    page->status |= drawn < 0 ? -1 : 0;
    json_t *part = page_tables_json(tables, report, timeline, page->namer);
    json_object_set_new(part, "edges", json_integer(drawn > 0 ? drawn : 0));
    json_object_set_new(part, "edges_left_out", json_integer((json_int_t)edges->dropped));
    if (traced != NULL) {
        bool timed = trace_has_time(&report->trace);
        uint64_t first = traced_time(traced, traces_origin(page->traces), tables->first);
        json_object_set_new(part, "start_ns", timed ? json_integer((json_int_t)first) : json_null());
        json_object_set_new(part, "comparable", json_boolean(traced->has_realtime));
    }
    page->status |= json_array_append_new(page->parts, part);
}

static uint64_t key_of(struct finding_id id)
{
    return strtoull(id.text, NULL, 16);
}

/* Operations name findings by their numbers in the page's list, which is of all processes. */
static void number_findings(struct page *page, struct tables *tables, const struct report *report)
{
    for (size_t i = 0; i < tables->rank.count; i++)
        tables->rank.items[i] = 0;
    for (size_t i = 0; i < report->findings.count; i++) {
        const struct finding *finding = report->findings.items[i];
        uint32_t at;
        if (finding->serial < tables->rank.count && finding->serial != 0 &&
            id_map_get(&page->folded, key_of(identity_of(&report->trace, finding)), &at) && at + 1 < NAMES_MOST)
            tables->rank.items[finding->serial] = at + 1;
    }
}

static void put_process(struct page *page, const struct traced *traced)
{
    static const struct timeline none;
    const struct report *report = &traced->report;
    const struct timeline *timeline = timelines_of(page->timelines, report);
    struct edge_feed *feed = page->timelines->edges;
    struct edge_list edges;
    struct tables tables;
    symbolizer_of(page->namer, &report->trace);
    edge_list_begin(&edges);
    if (feed != NULL && timeline != NULL && feed->run(feed, report, &edges.sink) != 0)
        page->status = -1;
    timeline = timeline != NULL ? timeline : &none;
    page_tables_begin(&tables, report, timeline);
    number_findings(page, &tables, report);
    put_part(page, &tables, report, timeline, &edges, traced);
    page_tables_end(&tables);
    edge_list_end(&edges);
}

static void put_columns(struct page *page)
{
    struct tables tables;
    for (size_t i = 0; page->timelines != NULL && i < page->traces->list.count; i++)
        put_process(page, page->traces->list.items[i]);
    if (page->traces != NULL)
        return;
    page_tables_begin(&tables, page->report, page->timeline);
    put_part(page, &tables, page->report, page->timeline, page->edges, NULL);
    page_tables_end(&tables);
}

/* What all views begin with, below the verdict. */
static json_t *opening_lines(const struct page *page)
{
    json_t *out = json_array();
    struct line lines[6] = {{.used = 0}};
    if (page->traces != NULL) {
        lines[0] = opening_many_default_streams(page->traces, &page->folds->runs);
        lines[1] = opening_many_blocked(page->traces, &page->folds->runs);
        lines[2] = opening_many_startup(&page->folds->runs);
    } else {
        lines[0] = opening_incomplete(page->report);
        lines[1] = opening_past(page->report);
        lines[2] = opening_default_stream(page->report);
        lines[3] = page->report->what_if;
        lines[4] = opening_blocked(page->report);
        lines[5] = opening_startup(page->report);
    }
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (lines[i].used != 0)
            json_array_append_new(out, value_text(lines[i].text));
    return out;
}

/* How many findings are worth a line. */
static size_t findings_shown(const struct folds *folds)
{
    size_t shown = 0;
    for (size_t i = 0; i < folds->list.count; i++)
        shown += folds->list.items[i].shown;
    return shown;
}

static void put_tables(struct page *page)
{
    json_t *tables = json_object();
    shared_words(tables);
    json_object_set(tables, "parts", page->parts);
    json_object_set_new(tables, "columns", columns_json());
    json_object_set_new(tables, "opening", opening_lines(page));
    json_object_set_new(tables, "repair_title", json_string(REPAIR_TITLE));
    json_object_set_new(tables, "nothing_found",
                        value_text(page->traces != NULL ? opening_many_nothing_found(page->traces, &page->folds->runs).text
                                                        : opening_nothing_found(page->report).text));
    if (page->traces == NULL)
        json_object_set_new(tables, "lost", json_string(opening_lost(page->report).text));
    else
        json_object_set_new(tables, "findings_shown", json_integer((json_int_t)findings_shown(page->folds)));
    json_object_set_new(tables, "findings",
                        page->traces != NULL ? shared_findings_of_many(page->traces, page->folds, page->namer)
                                             : shared_findings(page->report, page->namer));
    page->status |= put_json(tables, page->sink);
}

/* The places in page.html; columns come before the tables that name their numbers. */
static const struct place {
    const char *mark;
    void (*put)(struct page *page);
} places[] = {
    {"@STYLE@", put_style},   {"@REPORT@", put_report}, {"@COLUMNS@", put_columns},
    {"@TABLES@", put_tables}, {"@SCRIPT@", put_script},
};

static int put_page(struct page *page)
{
    page->parts = json_array();
    const unsigned char *from = page_html, *end = page_html + sizeof page_html;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const unsigned char *at = memmem(from, (size_t)(end - from), places[i].mark, strlen(places[i].mark));
        if (at == NULL) {
            page->status = -1; /* page.html lost a place; a test sees to it that this cannot happen */
            break;
        }
        put_bytes(page, from, (size_t)(at - from));
        places[i].put(page);
        from = at + strlen(places[i].mark);
    }
    put_bytes(page, from, (size_t)(end - from));
    json_decref(page->parts);
    return page->status;
}

int report_html(const struct report *report, const struct timeline *timeline, const struct edge_list *edges,
                struct site_namer *namer, struct text_sink *sink)
{
    return report_html_repaired(report, timeline, edges, NULL, namer, sink);
}

int report_html_repaired(const struct report *report, const struct timeline *timeline, const struct edge_list *edges,
                         const struct repair *repair, struct site_namer *namer, struct text_sink *sink)
{
    struct page page = {
        .report = report, .timeline = timeline, .edges = edges, .repair = repair, .namer = namer, .sink = sink};
    return put_page(&page);
}

int report_html_many(const struct traces *traces, const struct folds *folds, const struct timelines *timelines,
                     struct site_namer *namer, struct text_sink *sink)
{
    return report_html_many_repaired(traces, folds, timelines, NULL, namer, sink);
}

int report_html_many_repaired(const struct traces *traces, const struct folds *folds, const struct timelines *timelines,
                              const struct repairs *repairs, struct site_namer *namer, struct text_sink *sink)
{
    struct page page = {
        .traces = traces, .folds = folds, .timelines = timelines, .repairs = repairs, .namer = namer, .sink = sink};
    for (size_t i = 0; i < folds->list.count; i++)
        id_map_put(&page.folded, key_of(folds->list.items[i].id), (uint32_t)i);
    int status = put_page(&page);
    id_map_free(&page.folded);
    return status;
}
