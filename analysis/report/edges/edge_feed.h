/* SPDX-License-Identifier: Apache-2.0
 *
 * Implicit edges one by one, for whoever draws them or writes them down. Reports count them (edges.h) while they are
 * built; this is the same edges once more, so that nobody has to keep them all.
 */
#ifndef PTDS_ANALYSIS_REPORT_EDGES_EDGE_FEED_H
#define PTDS_ANALYSIS_REPORT_EDGES_EDGE_FEED_H

#include "analysis/report/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Passes each edge of a report's trace to the sink. 0, or -1 if not all of them could be had. */
struct edge_feed {
    int (*run)(struct edge_feed *feed, const struct report *report, struct edge_sink *sink);
    void *data;
};

/* The edge feed of this build; NULL if the build judges no edges: reports must then say that there are no verdicts. */
struct edge_feed *edge_feed_of_build(void);

#ifdef __cplusplus
}
#endif
#endif
