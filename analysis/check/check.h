/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ptds check` holds traces against: conditions on findings, what earlier runs did (compare/), regions that must not
 * block; and what came of it.
 */
#ifndef PTDS_ANALYSIS_CHECK_CHECK_H
#define PTDS_ANALYSIS_CHECK_CHECK_H

#include "analysis/compare/compare.h"
#include "analysis/report/fold.h"

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
struct candidate candidate_of(const struct folded *folded, size_t runs);
bool conditions_meet(const struct conditions *conditions, const struct candidate *candidate);
/* The same but for the cost: whether it fails however much it costs; and the cost alone. */
bool conditions_meet_without_cost(const struct conditions *conditions, const struct candidate *candidate);
bool conditions_over_cost(const struct conditions *conditions, const struct candidate *candidate);
bool conditions_ignored(const struct conditions *conditions, const char *rule);
/* Whether this difference fails. */
bool conditions_want(const struct conditions *conditions, enum difference difference);
void conditions_free(struct conditions *conditions);

/* A region of the program (ptds.h) in which no call may lose more than `most` ns to waiting. */
struct region_rule {
    const char *name; /* owned by `text` */
    char *text;
    uint64_t most;
    size_t seen;     /* processes that have a region of this name */
    uint64_t unsure; /* calls in it that may have waited and were not timed */
};

/* Calls of one kind from one place that broke it. */
struct region_break {
    size_t rule, process;
    uint32_t stack, api;
    uint64_t count, most_ns, all_ns;
};

struct regions_check {
    TABLE_OF(struct region_rule) rules;
    TABLE_OF(struct region_break) breaks; /* by time, of each process */
};

/* "NAME" or "NAME:max DURATION". False with a message. */
bool regions_add(struct regions_check *check, const char *text, char *error);
/* Looks through all calls of one process. False without memory. */
bool regions_look(struct regions_check *check, const struct traced *traced, size_t process);
void regions_free(struct regions_check *check);

/* Edges between the same two places whose verdict is among the conditions'. */
struct edge_break {
    const struct edge *edge; /* one of them, the report's */
    enum verdict verdict;
    size_t process;
    uint64_t count;
};

struct edges_check {
    TABLE_OF(struct edge_break) breaks;
    uint64_t ungrouped; /* edges whose places the report does not tell apart */
    size_t unjudged;    /* processes whose edges were not analysed */
};

/* Looks through the edges of one process. False without memory. */
bool edges_look(struct edges_check *check, const struct conditions *conditions, const struct report *report,
                size_t process);
void edges_check_free(struct edges_check *check);

#ifdef __cplusplus
}
#endif
#endif
