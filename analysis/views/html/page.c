/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts the page together: page.html with the style, the scripts and the data in the places that it names. Called by the
 * command and by tests. Whatever a trace's names say must stay data: JSON goes in with every "<" escaped.
 */
#include <string.h>

#include "analysis/views/html/page.h"
#include "analysis/views/json/report_json.h"

/* Made from the files of this folder by a genrule: page_html, page_css, page_js, and their sizes. */
#include "analysis/views/html/page.inc"

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
    const struct report *report;
    const struct timeline *timeline;
    const struct edge_list *edges;
    struct site_namer *namer;
    struct text_sink *sink;
    struct tables tables;
    int64_t drawn; /* edges in the columns */
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
    json_t *report = page->traces != NULL ? many_json_document(page->traces, page->folds, page->namer)
                                          : report_json_document(page->report, page->namer);
    page->status |= put_json(report, page->sink);
}

static void put_columns(struct page *page)
{
    if (page->traces != NULL)
        return;
    page->drawn = columns_write(&page->tables, page->report, page->timeline, page->edges, page->sink);
    page->status |= page->drawn < 0 ? -1 : 0;
}

static void put_tables(struct page *page)
{
    if (page->traces != NULL) {
        json_t *few = json_pack("{s:i, s:o}", "operations", 0, "findings",
                                shared_findings_of_many(page->traces, page->folds, page->namer));
        shared_words(few);
        page->status |= put_json(few, page->sink);
        return;
    }
    json_t *tables = tables_json(&page->tables, page->report, page->timeline, page->namer);
    json_object_set_new(tables, "edges", json_integer(page->drawn > 0 ? page->drawn : 0));
    json_object_set_new(tables, "edges_left_out", json_integer((json_int_t)page->edges->dropped));
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
    return page->status;
}

int report_html(const struct report *report, const struct timeline *timeline, const struct edge_list *edges,
                struct site_namer *namer, struct text_sink *sink)
{
    struct page page = {.report = report, .timeline = timeline, .edges = edges, .namer = namer, .sink = sink};
    tables_begin(&page.tables, report, timeline);
    int status = put_page(&page);
    tables_end(&page.tables);
    return status;
}

int report_html_many(const struct traces *traces, const struct folds *folds, struct site_namer *namer,
                     struct text_sink *sink)
{
    struct page page = {.traces = traces, .folds = folds, .namer = namer, .sink = sink};
    return put_page(&page);
}
