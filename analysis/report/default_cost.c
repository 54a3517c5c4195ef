/* SPDX-License-Identifier: Apache-2.0
 *
 * What the default stream costs a run. Called once the pass of a report is over.
 */

#include "analysis/report/default_cost.h"

#include "analysis/report/outcome.h"
#include "analysis/report/report.h"

const char *const default_cost_names[DEFAULT_COSTS] = {
    "up-to", "unused", "one-thread-one-stream", "no-call-waited", "needed", "no-faster", "no-times"};

static uint64_t orders(const struct report *report, enum verdict verdict)
{
    const uint64_t(*counts)[VERDICTS] = report->edges.counts;
    return counts[EDGE_FAN_IN][verdict] + counts[EDGE_FAN_OUT][verdict] + counts[EDGE_FIFO][verdict];
}

static bool is_alone(const struct report *report)
{
    return report->trace.threads == 1 && report->totals.program_streams == 1;
}

static enum default_cost cost_of(const struct report *report, uint64_t most_ns)
{
    bool waited_for = report->gain.waits != 0; /* though nothing was put on it */
    if (outcome_knows_nothing(report))
        return DEFAULT_UNKNOWN;
    if (report->totals.default_stream == 0 && !waited_for)
        return DEFAULT_UNUSED;
    if (!trace_has_time(&report->trace))
        return DEFAULT_UNKNOWN;
    if (is_alone(report) && !waited_for)
        return DEFAULT_ALONE;
    if (report->replay.known && report->replay.no_faster)
        return DEFAULT_NO_FASTER;
    if (report->replay.known && report->replay.least_ns != 0)
        return DEFAULT_UP_TO; /* launches may have waited, too, of which no call tells */
    if (most_ns == 0)
        return DEFAULT_NO_WAIT;
    /* An order that results need may still hold back work that shares nothing: what is before one call of the pair, or
     * behind the other. */
    bool needed = report->edges.analysed && orders(report, VERDICT_NEEDED) != 0 &&
                  orders(report, VERDICT_NEEDED) == report->edges.direct &&
                  orders(report, VERDICT_NOT_NEEDED) + orders(report, VERDICT_MAYBE_NEEDED) == 0;
    return needed ? DEFAULT_NEEDED : DEFAULT_UP_TO;
}

/* The smaller of two bounds. Where launches may have waited the calls' waits are none. */
static void bound(struct default_stream *out, const struct default_replay *replay)
{
    bool smaller = out->most_ns == 0 || out->or_more || replay->most_ns < out->most_ns;
    out->most_ns = smaller ? replay->most_ns : out->most_ns;
    out->least_ns = replay->least_ns < out->most_ns ? replay->least_ns : out->most_ns;
    out->by_replay = true;
    out->or_more = false;
}

struct default_stream default_cost_of(const struct report *report)
{
    uint64_t most = gain_most(&report->gain);
    struct default_stream out = {.most_ns = most < report->totals.run_ns ? most : report->totals.run_ns};
    out.cost = cost_of(report, out.most_ns);
    out.or_more = report->gain.among_threads && (out.cost == DEFAULT_UP_TO || out.cost == DEFAULT_NO_WAIT);
    if (out.cost != DEFAULT_UP_TO)
        out.most_ns = 0;
    else if (report->replay.known)
        bound(&out, &report->replay);
    return out;
}
