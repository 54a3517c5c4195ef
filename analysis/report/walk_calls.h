/* SPDX-License-Identifier: Apache-2.0
 *
 * All calls of a report's trace, through the model, for whoever shows them one by one: once more, or while the report is
 * made (report_make).
 */
#ifndef PTDS_ANALYSIS_REPORT_WALK_CALLS_H
#define PTDS_ANALYSIS_REPORT_WALK_CALLS_H

#include "analysis/report/report.h"

#ifdef __cplusplus
extern "C" {
#endif

struct walker {
    /* Before the first call, and after the last one. Both may be NULL, and are where a report is made on the way
     * (report_make). `begin`: false without memory. */
    bool (*begin)(struct walker *walker, struct model *model);
    void (*end)(struct walker *walker);
    /* At the entry of the call, then at its return. `after` may be NULL. */
    void (*call)(struct walker *walker, struct model *model, const struct call_view *view);
    void (*after)(struct walker *walker, struct model *model, const struct call_view *view);
    struct edge_sink *edges; /* report_make: gets each implicit edge, too; else unused. NULL: no edges are wanted */
    void *data;
    bool gap; /* for the call at hand: records are missing before it or before a later one (merge_in_gap) */
};

/* Walks over all calls. 0; -1 without memory for all of them. */
int walk_calls(const struct report *report, struct walker *walker);

#ifdef __cplusplus
}
#endif
#endif
