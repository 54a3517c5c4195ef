/* SPDX-License-Identifier: Apache-2.0
 *
 * What a check found, in words, for all that write it: text, Markdown, JUnit, JSON.
 */
#ifndef PTDS_ANALYSIS_CHECK_RESULTS_H
#define PTDS_ANALYSIS_CHECK_RESULTS_H

#include "analysis/base/line.h"
#include "analysis/base/table.h"
#include "analysis/base/text.h"
#include "analysis/check/conditions.h"
#include "analysis/compare/compare.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why an item fails: it is there; against a baseline: it is new, or it has grown. */
enum state { STATE_THERE, STATE_NEW, STATE_GROWN, STATES };
extern const char *const state_names[STATES]; /* of STATE_THERE: "found" */

struct check_item {
    bool fails;    /* else it is told as what one run does not prove */
    char what[64]; /* a rule, a difference's name, "region", "implicit-order" */
    char id[17];   /* of a finding; empty: none */
    enum severity severity;
    enum state state;
    char text[1000]; /* "9.0 ms in 1 call, cuMemcpyDtoH_v2" */
    char site[400];  /* where; empty: not known */
    char more[300];  /* what else there is to say; or empty */
};

struct check_results {
    TABLE_OF(struct check_item) items;
    TABLE_OF(char *) incomplete; /* what is missing */
    bool allows_incomplete;      /* ... and that is no failure */
    bool unreadable;             /* no trace, or one that could not be read */
    size_t findings, processes, runs, baseline_runs;
    size_t failed[STATES], held_back; /* findings; held back: met a condition, but the baseline has them */
    size_t regions, orders;
    bool has_baseline, wants_regions, wants_orders, out_of_memory;
    const char *baseline; /* its path */
    char note[400];       /* what should be known of the baseline, or empty */
};

/* Appends an item that is empty but for `what`. NULL without memory. The results own it. */
struct check_item *results_add(struct check_results *results, const char *what);
/* Adds a line on what is missing; the text is copied. */
void results_incomplete(struct check_results *results, const char *line);
/* Adds a sentence to the note. */
void results_note(struct check_results *results, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* How many items fail. */
size_t results_failures(const struct check_results *results);
/* Whether the check has no answer, because something is missing that it needs. */
bool results_inconclusive(const struct check_results *results);
/* "1 of 2 findings fail (0 new, 1 grown, against 5 runs); 1 more passes because the baseline has it; 1 process" */
struct line results_sum(const struct check_results *results);
/* Adds the differences from the baseline that fail, and those that one run does not prove. */
void results_compare(struct check_results *results, const struct conditions *conditions,
                     const struct comparison *comparison);
void results_free(struct check_results *results);

#ifdef __cplusplus
}
#endif
#endif
