/* SPDX-License-Identifier: Apache-2.0
 *
 * What the default stream costs a run. Called once the pass of a report is over.
 */

#include "analysis/report/default_cost.h"

#include "analysis/report/outcome.h"
#include "analysis/report/report.h"

const char *const default_cost_names[DEFAULT_COSTS] = {"up-to",          "unused", "one-thread-one-stream",
                                                       "no-call-waited", "needed", "no-times"};

static uint64_t orders(const struct report *report, enum verdict verdict)
{
    const uint64_t(*counts)[VERDICTS] = report->edges.counts;
    return counts[EDGE_FAN_IN][verdict] + counts[EDGE_FAN_OUT][verdict] + counts[EDGE_FIFO][verdict];
}

static bool is_alone(const struct report *report)
{
    return report->trace.threads == 1 && report->totals.program_streams == 1;
}

struct default_stream default_cost_of(const struct report *report)
{
    uint64_t most = gain_most(&report->gain);
    struct default_stream out = {.most_ns = most < report->totals.run_ns ? most : report->totals.run_ns};
    bool waited_for = report->gain.waits != 0; /* though nothing was put on it */
    if (outcome_knows_nothing(report))
        out.cost = DEFAULT_UNKNOWN;
    else if (report->totals.default_stream == 0 && !waited_for)
        out.cost = DEFAULT_UNUSED;
    else if (!trace_has_time(&report->trace))
        out.cost = DEFAULT_UNKNOWN;
    else if (is_alone(report) && !waited_for)
        out.cost = DEFAULT_ALONE;
    else if (out.most_ns == 0)
        out.cost = DEFAULT_NO_WAIT;
    else if (report->edges.analysed && orders(report, VERDICT_NEEDED) != 0 &&
             orders(report, VERDICT_NOT_NEEDED) + orders(report, VERDICT_MAYBE_NEEDED) == 0)
        out.cost = DEFAULT_NEEDED;
    if (out.cost != DEFAULT_UP_TO)
        out.most_ns = 0;
    out.or_more = report->gain.among_threads && (out.cost == DEFAULT_UP_TO || out.cost == DEFAULT_NO_WAIT);
    return out;
}
