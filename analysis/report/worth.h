/* SPDX-License-Identifier: Apache-2.0
 *
 * What a report says first: whether the run was right, what the default stream costs, and which findings are worth a
 * reader's time. For the report and its writers; decided once, so that all of them say the same.
 */
#ifndef PTDS_ANALYSIS_REPORT_WORTH_H
#define PTDS_ANALYSIS_REPORT_WORTH_H

#include "analysis/findings/rule.h"

#ifdef __cplusplus
extern "C" {
#endif

struct report;

/* Findings that save less than both are told in one line a cause. */
struct floor {
    double percent; /* of the run */
    uint64_t ns;
};
#define FLOOR_DEFAULT ((struct floor){1.0, 100000})

/* "2%", "250us", "2%,1ms", "0" (all findings). False: something else. */
bool floor_parse(const char *text, struct floor *floor);
uint64_t floor_ns(struct floor floor, uint64_t run_ns);

/* Sets finding->fold of all findings, and brings them into their order: those worth a line first, errors before all. */
void report_weigh(struct report *report, struct floor floor);
/* It is about the default stream's order, whose cost is the run's as a whole (report_default_stream). */
bool finding_is_of_default_stream(const struct finding *finding);
bool rule_is_of_default_stream(const struct rule *rule); /* all that it finds is, whatever the policy */
/* Where it stands: what is wrong first, then other errors, what puts results in doubt, what costs time, what is folded. */
enum finding_places { PLACE_WRONG, PLACE_ERROR, PLACE_DOUBT, PLACE_COST, PLACE_FOLDED };
int finding_place(const struct finding *finding);
size_t report_shown(const struct report *report); /* how many are not folded: the first ones */

/* Why a verdict is of less than the run: not all was looked at; records are missing; calls may have gone past the shim;
 * streams could not be followed. Of several the first.
 *
 * How sure it is that the run's results are right; the finding that says otherwise, and a pair of operations that shows it
 * (NULL: none). */
enum lack { LACK_NONE, LACK_LOOK, LACK_RECORDS, LACK_PAST, LACK_STREAMS, LACKS };
struct outcome {
    enum doubt doubt;
    const struct finding *finding;
    const struct edge_pair *pair;
    enum lack lack;
    uint64_t possible; /* conflicts that put nothing in doubt, but may be some (unordered-conflict); none where doubt says
                          more */
    bool complete;     /* nothing is known to be lacking */
    uint64_t seen, calls; /* calls that were looked at, of how many; calls 0: nobody knows how many there were */
    bool little;          /* ... less than half: that nothing was found there says little of the run */
};
struct outcome report_outcome(const struct report *report);
/* Of what calls may have gone past the shim with, the first one's name; NULL: nothing is known of any. */
const char *report_first_past(const struct report *report);
/* Nobody made a driver call, or nobody recorded one: of such a run there is nothing to say. */
bool report_has_no_calls(const struct report *report);
/* The two operations that show what a finding says; NULL: none can be named. */
const struct edge_pair *report_pair(const struct report *report, const struct finding *finding);

/* What another place for the default stream's work could save: from nothing to most_ns of the run, or why nothing. */
enum default_cost {
    DEFAULT_UP_TO,
    DEFAULT_UNUSED,  /* nothing was put on it, and nothing waited for others' work because of it */
    DEFAULT_ALONE,   /* one thread, one stream */
    DEFAULT_NO_WAIT, /* no call waited longer because of it */
    DEFAULT_NEEDED,  /* what waited because of it had to */
    DEFAULT_UNKNOWN, /* no times, or no calls in the record */
    DEFAULT_COSTS
};
struct default_stream {
    enum default_cost cost;
    uint64_t most_ns;
    bool or_more; /* several threads share it: what launches waited, which are not timed, comes on top */
};
struct default_stream report_default_stream(const struct report *report);

/* No call was recorded, though there were some, as far as anybody knows: nothing can be said of the run. */
bool report_knows_nothing(const struct report *report);
/* Whether it is known how long threads lived; and how long calls were blocked, perhaps not at all. */
bool report_knows_times(const struct report *report);
bool report_knows_blocked(const struct report *report);
/* The outcome's place in doubt_names: DOUBTS, "unknown", where nothing can be said of the run. */
unsigned report_verdict(const struct report *report);
extern const char *const default_cost_names[DEFAULT_COSTS]; /* of JSON */

#ifdef __cplusplus
}
#endif
#endif
