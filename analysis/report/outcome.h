/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a run's results are right, and how sure that is. Decided in one place, so that all views say the same.
 */
#ifndef PTDS_ANALYSIS_REPORT_OUTCOME_H
#define PTDS_ANALYSIS_REPORT_OUTCOME_H

#include "analysis/findings/finding.h"

#ifdef __cplusplus
extern "C" {
#endif

struct report;

/* Why a verdict is of less than the run: not all was looked at; records are missing; calls may have gone past the shim;
 * streams could not be followed. Of several the first.
 *
 * How sure it is that the run's results are right; the finding that says otherwise, and a pair of operations that shows it
 * (NULL: none). */
enum lack { LACK_NONE, LACK_LOOK, LACK_RECORDS, LACK_PAST, LACK_STREAMS, LACKS };

struct outcome {
    const struct finding *stuck; /* a call that had not returned when the trace ended, and for long; of several the first.
                                    NULL: none */
    bool may_be_stuck;           /* for how long is not known: the process may have been killed in an ordinary wait */
    enum doubt doubt;
    const struct finding *finding;
    const struct edge_pair *pair;
    enum lack lack;
    uint64_t possible; /* conflicts that put nothing in doubt, but may be some (unordered-conflict); none where doubt says
                          more */
    uint64_t by_host;  /* calls that put nothing in doubt, but that only the host's own reads and writes make right or wrong */
    bool ordered;      /* policy strict ordered these: they put nothing in doubt */
    bool complete;     /* nothing is known to be lacking */
    uint64_t seen, calls; /* calls that were looked at, of how many; calls 0: nobody knows how many there were */
    bool little;          /* ... less than half: that nothing was found there says little of the run */
};

struct outcome outcome_of(const struct report *report);

/* The name of the first library or function with which calls may have gone past the shim; NULL: none is known. Owned
 * by the report. */
const char *outcome_first_past(const struct report *report);

/* Whether no driver call was made, or none was recorded: nothing can be said of the run. */
bool outcome_has_no_calls(const struct report *report);

/* The two operations that show what the finding says; NULL: none can be named. Owned by the report. */
const struct edge_pair *outcome_pair(const struct report *report, const struct finding *finding);

/* Whether no call was recorded though there may have been some: nothing can be said of the run. */
bool outcome_knows_nothing(const struct report *report);

/* Whether it is known how long threads lived; and how long calls were blocked, perhaps not at all. */
bool outcome_knows_times(const struct report *report);

bool outcome_knows_blocked(const struct report *report);

/* The index of the outcome in doubt_names: DOUBTS ("unknown") where nothing can be said of the run; of a run without a
 * doubt of its results "stuck" or "maybe-stuck", if a call did not return. */
unsigned outcome_verdict(const struct report *report);

#ifdef __cplusplus
}
#endif
#endif
