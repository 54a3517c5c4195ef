/* SPDX-License-Identifier: Apache-2.0
 *
 * Where single implicit edges come from in this build. Called by `ptds report --format html` and by `ptds export`. Must
 * give the edges that the report's own counts are of, never others.
 */
#include "analysis/edge_feed.h"

#include "analysis/verdict/verdict.h"
#include "analysis/walk.h"

static void take(struct walker *walker, struct model *model, const struct call_view *view)
{
    (void)model;
    verdicts_take(walker->data, view, walker->gap);
}

static int run(struct edge_feed *feed, const struct report *report, struct edge_sink *sink)
{
    struct verdict_totals totals;
    struct verdicts *verdicts = verdicts_begin(&report->trace, sink);
    struct walker walker = {.call = take, .data = verdicts};
    (void)feed;
    if (verdicts == NULL)
        return -1;
    int status = report_walk(report, &walker);
    verdicts_end(verdicts, &totals);
    return status;
}

struct edge_feed *edge_feed_of_build(void)
{
    static struct edge_feed feed = {.run = run};
    return &feed;
}
