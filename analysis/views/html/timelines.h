/* SPDX-License-Identifier: Apache-2.0
 *
 * The timelines of several traces, collected while these are read one after another.
 */
#ifndef PTDS_ANALYSIS_VIEWS_HTML_TIMELINES_H
#define PTDS_ANALYSIS_VIEWS_HTML_TIMELINES_H

#include "analysis/report/edges/edge_feed.h"
#include "analysis/views/html/timeline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The timelines of several traces, collected while these are read one after another (timelines.c). */
struct timelines {
    struct report_watch watch; /* first; `progress` is the caller's */
    struct edge_feed *edges;   /* where the page has single edges from; NULL: it draws none */
    TABLE_OF(struct timeline_of) list;
    uint32_t most; /* operations, of each trace */
};

struct timeline_of {
    const struct report *report;
    struct timeline *timeline;
};

/* traces: how many will come, as far as known: together they have the operations that one would have. */
void timelines_begin(struct timelines *timelines, size_t traces);

/* After all traces were read; NULL: no operation of the report was seen, or there was no memory. */
void timelines_decide(struct timelines *timelines);

const struct timeline *timelines_of(const struct timelines *timelines, const struct report *report);

void timelines_end(struct timelines *timelines);

#ifdef __cplusplus
}
#endif
#endif
