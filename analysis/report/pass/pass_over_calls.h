/* SPDX-License-Identifier: Apache-2.0
 *
 * The one pass of a report over all calls: model, verdicts, rules. For report.c.
 */
#ifndef PTDS_ANALYSIS_REPORT_PASS_PASS_OVER_CALLS_H
#define PTDS_ANALYSIS_REPORT_PASS_PASS_OVER_CALLS_H

#include "analysis/report/walk_calls.h"
#include "analysis/trace/merge.h"

/* Fills in totals, edges and findings, not yet ranked. `watch` and `walker` may be NULL. 0; -1 with a message in
 * `error` (TRACE_ERROR_SIZE): the trace has no such part as was selected. */
int pass_over_calls(struct report *report, struct merge *merge, struct report_watch *watch, struct walker *walker,
                    char *error);

#endif
