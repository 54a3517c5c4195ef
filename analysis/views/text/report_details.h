/* SPDX-License-Identifier: Apache-2.0
 *
 * A report on a part of a trace: its calls, then its findings.
 */
#ifndef PTDS_ANALYSIS_VIEWS_TEXT_REPORT_DETAILS_H
#define PTDS_ANALYSIS_VIEWS_TEXT_REPORT_DETAILS_H

#include "analysis/base/sink.h"
#include "analysis/base/table.h"
#include "analysis/report/report.h"
#include "analysis/symbols/namer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The calls that a report is about, added up by entry point. */
struct entry_calls {
    uint64_t calls, failed, timed, ns, lost_ns;
};

struct call_stats {
    struct report_watch watch;            /* first; `progress` is the caller's */
    TABLE_OF(struct entry_calls) entries; /* api * 2 + twin */
    bool out_of_memory;
};

void report_details_begin(struct call_stats *stats);

void report_details_end(struct call_stats *stats);

/* A report of a selection: its calls, then its findings, at most `most` of them in full. */
void report_details(const struct report *report, const struct call_stats *stats, struct site_namer *namer, size_t most,
                    struct text_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
