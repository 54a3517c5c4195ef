/* SPDX-License-Identifier: Apache-2.0
 *
 * A report as one page of HTML: no network, no other files. What it says is the JSON report (report_json.h),
 * which is in the page; what it draws is a timeline's operations and single edges, packed in columns.
 */
#ifndef PTDS_ANALYSIS_VIEWS_HTML_REPORT_HTML_H
#define PTDS_ANALYSIS_VIEWS_HTML_REPORT_HTML_H

#include "analysis/base/sink.h"
#include "analysis/repair/merge_traces.h"
#include "analysis/report/edges/edge_list.h"
#include "analysis/views/html/timeline.h"
#include "analysis/report/many/fold.h"
#include "analysis/views/html/timelines.h"
#include "analysis/views/report_words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `timeline` watched the report being built and has decided; `edges` are those to draw. namer may be NULL. 0, or -1 without
 * memory: then what was written is no page. */
int report_html(const struct report *report, const struct timeline *timeline, const struct edge_list *edges,
                struct site_namer *namer, struct text_sink *sink);

/* With a table of the waits that per-thread needs; repair may be NULL. */
int report_html_repaired(const struct report *report, const struct timeline *timeline, const struct edge_list *edges,
                         const struct repair *repair, struct site_namer *namer, struct text_sink *sink);

/* The same of several processes; `timelines` watched them being read and have decided. NULL: a page without a timeline. */
int report_html_many(const struct traces *traces, const struct folds *folds, const struct timelines *timelines,
                     struct site_namer *namer, struct text_sink *sink);
int report_html_many_repaired(const struct traces *traces, const struct folds *folds, const struct timelines *timelines,
                              const struct repairs *repairs, struct site_namer *namer, struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
