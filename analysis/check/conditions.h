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

/* What is no finding but a difference from the baseline. */
enum difference {
    MORE_CALLS, /* "more-calls" */
    SLOWER,     /* "slower" */
    GPU_SLOWER, /* "gpu-slower": work of the default stream runs longer on the GPU */
    GPU_IDLER,  /* "gpu-idle": the GPU has nothing to run for a larger share of its time */
    DIFFERENCES
};

extern const char *const difference_names[DIFFERENCES];

/* What fails, and what does not whatever else is said. */
struct conditions {
    TABLE_OF(const struct rule *) rules;
    TABLE_OF(const struct rule *) ignored;
    bool any, cost, verdict[VERDICTS], by_severity, differences[DIFFERENCES], ignored_differences[DIFFERENCES];
    enum severity severity; /* if by_severity: from this one on */
    uint64_t cost_above;    /* ns, of one finding over all processes of a run */
};

/* Adds a comma list: rule ids, "any", "error", "warning", "note", "cost>DURATION", "verdict=NAME", and names of
 * differences. False with a message. */
bool conditions_add(struct conditions *conditions, const char *list, char *error);

/* Adds a comma list of rule ids and differences to what does not fail. */
bool conditions_ignore(struct conditions *conditions, const char *list, char *error);

bool conditions_want_verdicts(const struct conditions *conditions);

/* A finding, as a condition sees it. ns: in a run. */
struct candidate {
    const char *rule;
    enum severity severity;
    bool shown, has_ns;
    uint64_t ns;
};

/* Of a finding of so many runs: its share of one. */
struct candidate conditions_candidate(const struct folded *folded, size_t runs);

bool conditions_meet(const struct conditions *conditions, const struct candidate *candidate);

/* The same but for the cost: whether it fails however much it costs; and the cost alone. */
bool conditions_meet_without_cost(const struct conditions *conditions, const struct candidate *candidate);

bool conditions_over_cost(const struct conditions *conditions, const struct candidate *candidate);

bool conditions_ignored(const struct conditions *conditions, const char *rule);

/* Whether this difference fails. */
bool conditions_want(const struct conditions *conditions, enum difference difference);

void conditions_free(struct conditions *conditions);

#ifdef __cplusplus
}
#endif
#endif
