/* SPDX-License-Identifier: Apache-2.0
 *
 * What every report says first, as lines of text: whether the run was right, what the default stream costs, how long
 * threads were blocked, the start-up, the findings that are told in one line a cause.
 */
#ifndef PTDS_ANALYSIS_VIEWS_OPENING_H
#define PTDS_ANALYSIS_VIEWS_OPENING_H

#include "analysis/base/line.h"
#include "analysis/report/many/fold.h"
#include "analysis/views/report_words.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { OPENING_COLUMNS = 80 }; /* of a line, where there is a choice */

/* "1400 of 1504 calls were not recorded", to be said before anything else; empty: all were. */
struct line opening_incomplete(const struct report *report);
/* "Calls may have gone past the shim (libfoo.so and 1 more)", likewise; empty: nothing is known of any. */
struct line opening_past(const struct report *report);
struct line
opening_outcome(const struct report *report); /* "Right: ...", "May be wrong: ...", "WRONG: ...", "Looked at 3 % ..." */
/* Whether that is Right without any limit. */
bool opening_is_plainly_right(const struct report *report);
/* The two operations that show the outcome, as lines; false: none can be named. */
bool opening_pair(const struct report *report, const struct edge_pair *pair, struct line *first, struct line *second);
struct line opening_outcomes(
    const struct runs *runs); /* of several: "Right: 98; May be wrong: 1; WRONG: 1" and what was hardly looked at */
/* What the policy did with the implicit orders: "; guarded keeps them", "; gone: 33 needed"; empty: it moved nothing. */
struct line opening_lost(const struct report *report);
struct line opening_default_stream(const struct report *report);
struct line opening_blocked(const struct report *report);
struct line opening_startup(const struct report *report); /* before the first kernel; empty: nothing */
/* The rank from 1 of a finding. */
size_t opening_number(const struct report *report, const struct finding *finding);

/* The one line of a cause: "useless-sync: 13.6 us in 4 calls, 2 call sites, below the floor". */
struct line opening_cause(const struct cause *cause);
/* The advice about the costliest cause, where the cause takes much of the time of the threads though none of its
 * findings does; else empty. */
struct line opening_advice(const struct report *report);
/* Adds the names of causes from number `from` on: as many as fit into `columns`, then how many more there are. */
void opening_cause_names(struct line *line, size_t columns, const struct sums *sums, size_t from);
struct line opening_floor(const struct report *report); /* "10.6 ms (1 % of the run)" */

struct line opening_nothing_found(const struct report *report); /* "No findings: 29 rules looked at 54 calls" */

#ifdef __cplusplus
}
#endif
#endif
