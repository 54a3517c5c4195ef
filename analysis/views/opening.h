/* SPDX-License-Identifier: Apache-2.0
 *
 * What every report says first, as lines of text: whether the run was right, what the default stream costs, how long
 * threads were blocked, the start-up, the findings that are told in one line a cause, what to do next.
 */
#ifndef PTDS_ANALYSIS_VIEWS_OPENING_H
#define PTDS_ANALYSIS_VIEWS_OPENING_H

#include "analysis/views/words.h"

#ifdef __cplusplus
extern "C" {
#endif

struct line opening_outcome(const struct report *report); /* "Right: ...", "May be wrong: ...", "WRONG: ..." */
/* The two operations that show it; false: there are none to name. */
bool opening_pair(const struct report *report, const struct edge_pair *pair, struct line *first, struct line *second);
struct line opening_default_stream(const struct report *report);
struct line opening_blocked(const struct report *report);
struct line opening_startup(const struct report *report); /* before the first kernel; empty: nothing */
/* The rank from 1 of a finding. */
size_t opening_number(const struct report *report, const struct finding *finding);

/* The line that a folded finding is told in: its rule's id, or the library's name. */
const char *opening_cause_name(const struct report *report, const struct finding *finding);

/* Findings of one cause that are told together. */
struct cause {
    const char *name; /* the rule's id, or a library's */
    bool library;
    enum fold fold;
    size_t findings;
    uint64_t calls, host_ns, known;
};
enum { CAUSES_MOST = 64 };
/* Of all that are folded, the costliest first; how many. Beyond CAUSES_MOST the last one holds the rest. */
size_t opening_causes(const struct report *report, struct cause causes[CAUSES_MOST]);
struct line opening_cause(const struct cause *cause);   /* "useless-sync: 13.6 us in 4 calls at 2 places" */
struct line opening_floor(const struct report *report); /* "10.6 ms (1 % of the run)" */

/* The one command that comes next; `file`: how the trace is to be named. */
struct line opening_next(const struct report *report, const char *file);

#ifdef __cplusplus
}
#endif
#endif
