/* SPDX-License-Identifier: Apache-2.0
 *
 * Who waits for whom, as `ptds watch` says it.
 */
#ifndef PTDS_ANALYSIS_CMD_WATCH_WATCH_REPORT_H
#define PTDS_ANALYSIS_CMD_WATCH_WATCH_REPORT_H

#include <stdbool.h>

#include "analysis/cmd/watch/live.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One look at a trace, for the report: ages are told where ns_a_tick is not 0. */
struct watch_view {
    const struct trace_source *source;
    const struct flights *flights;
    uint64_t after_ns; /* calls in flight for less are told in a line, not explained */
    uint64_t now;      /* ticks */
    double ns_a_tick;
    bool ended;     /* the process is no more: all of them are explained */
    bool elsewhere; /* ... or cannot be seen from here */
};

/* Who waits for whom, on stderr. */
void watch_report(const struct watch_view *view);

#ifdef __cplusplus
}
#endif
#endif
