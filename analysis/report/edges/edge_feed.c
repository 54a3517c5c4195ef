/* SPDX-License-Identifier: Apache-2.0
 *
 * Where single implicit edges come from in this build. Called by `ptds report --format html` and by `ptds export`. Must
 * give the edges that the report's own counts are of, never others.
 */
#include "analysis/report/edges/edge_feed.h"

#include "analysis/order/verdict.h"
#include "analysis/report/walk_calls.h"

/* The part of the trace that the report counted edges of: edge_table.c has the same question. */
struct filter {
    struct edge_sink sink; /* first */
    struct edge_sink *out;
    struct selected selected;
};

static void pass_on(struct edge_sink *sink, const struct edge *edge)
{
    struct filter *filter = (struct filter *)(void *)sink;
    if (selection_has_at(&filter->selected, edge->to.thread, edge->to.stream, edge->to.ticks))
        filter->out->edge(filter->out, edge);
}

struct judging {
    struct filter filter;
    struct verdicts *verdicts;
};

static bool begin(struct walker *walker, struct model *model)
{
    struct judging *judging = walker->data;
    judging->verdicts = verdicts_begin(model, &judging->filter.sink);
    return judging->verdicts != NULL;
}

static void take(struct walker *walker, struct model *model, const struct call_view *view)
{
    const struct judging *judging = walker->data;
    (void)model;
    verdicts_take(judging->verdicts, view, walker->gap);
}

static void end(struct walker *walker)
{
    const struct judging *judging = walker->data;
    verdicts_end(judging->verdicts, NULL);
}

static int run(struct edge_feed *feed, const struct report *report, struct edge_sink *sink)
{
    char error[TRACE_ERROR_SIZE];
    struct judging judging = {.filter = {.sink = {.edge = pass_on}, .out = sink}};
    struct selected *selected = &judging.filter.selected;
    struct walker walker = {.begin = begin, .end = end, .call = take, .data = &judging};
    (void)feed;
    int status = selection_begin(selected, &report->selection, &report->trace, report->start, error);
    status = status == 0 ? walk_calls(report, &walker) : -1;
    selection_end(selected);
    return status;
}

struct edge_feed *edge_feed_of_build(void)
{
    static struct edge_feed feed = {.run = run};
    return &feed;
}
