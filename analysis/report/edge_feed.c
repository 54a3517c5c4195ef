/* SPDX-License-Identifier: Apache-2.0
 *
 * Where single implicit edges come from in this build. Called by `ptds report --format html` and by `ptds export`. Must
 * give the edges that the report's own counts are of, never others.
 */
#include "analysis/report/edge_feed.h"

#include "analysis/order/verdict.h"
#include "analysis/report/walk.h"

static void take(struct walker *walker, struct model *model, const struct call_view *view)
{
    (void)model;
    verdicts_take(walker->data, view, walker->gap);
}

/* The part of the trace that the report counted edges of: edges.c has the same question. */
struct filter {
    struct edge_sink sink; /* first */
    struct edge_sink *out;
    struct selected selected;
};

static void pass_on(struct edge_sink *sink, const struct edge *edge)
{
    struct filter *filter = (struct filter *)(void *)sink;
    if (selected_has_at(&filter->selected, edge->to.thread, edge->to.stream, edge->to.ticks))
        filter->out->edge(filter->out, edge);
}

static int run(struct edge_feed *feed, const struct report *report, struct edge_sink *sink)
{
    char error[TRACE_ERROR_SIZE];
    struct filter filter = {.sink = {.edge = pass_on}, .out = sink};
    int status = selected_begin(&filter.selected, &report->selection, &report->trace, report->start, error);
    struct verdicts *verdicts = status == 0 ? verdicts_begin(&report->trace, &filter.sink) : NULL;
    struct walker walker = {.call = take, .data = verdicts};
    (void)feed;
    status = verdicts != NULL ? report_walk(report, &walker) : -1;
    verdicts_end(verdicts, NULL);
    selected_end(&filter.selected);
    return status;
}

struct edge_feed *edge_feed_of_build(void)
{
    static struct edge_feed feed = {.run = run};
    return &feed;
}
