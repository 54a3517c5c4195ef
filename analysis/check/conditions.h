/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ptds check` fails on: conditions on findings, verdicts of the run, and differences from a baseline.
 */
#ifndef PTDS_ANALYSIS_CHECK_CONDITIONS_H
#define PTDS_ANALYSIS_CHECK_CONDITIONS_H

#include "analysis/base/table.h"
#include "analysis/findings/rule.h"
#include "analysis/report/many/fold.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CHECK_ERROR_SIZE = 1024 };

/* Differences from the baseline that are no findings. */
enum difference {
    MORE_CALLS, /* "more-calls" */
    SLOWER,     /* "slower" */
    GPU_SLOWER, /* "gpu-slower": work of the default stream runs longer on the GPU */
    GPU_IDLER,  /* "gpu-idle": the GPU has nothing to run for a larger share of its time */
    DIFFERENCES
};

extern const char *const difference_names[DIFFERENCES];

/* What a check fails on (--fail-on), and what it never fails on (--ignore). */
struct conditions {
    TABLE_OF(const struct rule *) rules;
    TABLE_OF(const struct rule *) ignored;
    bool any, cost, verdict[VERDICTS], by_severity, differences[DIFFERENCES], ignored_differences[DIFFERENCES];
    enum severity severity; /* if by_severity: from this one on */
    uint64_t cost_above;    /* ns, of one finding over all processes of a run */
};

/* Adds the words of a comma list to what fails: rule ids, "any", "error", "warning", "note", "cost>DURATION",
 * "verdict=NAME", and names of differences. False with a message in `error` (CHECK_ERROR_SIZE). */
bool conditions_add(struct conditions *conditions, const char *list, char *error);

/* Adds rule ids and names of differences of a comma list to what never fails. False with a message in `error`. */
bool conditions_ignore(struct conditions *conditions, const char *list, char *error);

/* Whether some condition is about verdicts of orders. */
bool conditions_want_verdicts(const struct conditions *conditions);

/* A finding as conditions see it; ns: its cost in one run. */
struct candidate {
    const char *rule;
    enum severity severity;
    bool shown, has_ns;
    uint64_t ns;
};

/* The finding of `runs` runs, with its share of one run. */
struct candidate conditions_candidate(const struct folded *folded, size_t runs);

/* Whether the finding fails. */
bool conditions_meet(const struct conditions *conditions, const struct candidate *candidate);

/* Whether the finding fails whatever it costs; and whether it fails by its cost alone. */
bool conditions_meet_without_cost(const struct conditions *conditions, const struct candidate *candidate);

bool conditions_over_cost(const struct conditions *conditions, const struct candidate *candidate);

/* Whether findings of the rule never fail. */
bool conditions_ignored(const struct conditions *conditions, const char *rule);

/* Whether a difference of this kind fails. */
bool conditions_want(const struct conditions *conditions, enum difference difference);

void conditions_free(struct conditions *conditions);

#ifdef __cplusplus
}
#endif
#endif
