/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ptds check` holds traces against: conditions on findings, an earlier report, regions that must not block.
 */
#ifndef PTDS_ANALYSIS_CHECK_CHECK_H
#define PTDS_ANALYSIS_CHECK_CHECK_H

#include "analysis/report/fold.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { CHECK_ERROR_SIZE = 512 };

/* What fails. */
struct conditions {
    TABLE_OF(const struct rule *) rules;
    bool any, cost, verdict[VERDICTS];
    uint64_t cost_above; /* ns, of one finding over all processes */
};

/* Adds a comma list: rule ids, "any", "cost>DURATION", "verdict=NAME". False with a message. */
bool conditions_add(struct conditions *conditions, const char *list, char *error);
bool conditions_want_verdicts(const struct conditions *conditions);
bool conditions_meet(const struct conditions *conditions, const struct folded *folded);
void conditions_free(struct conditions *conditions);

/* An earlier report of `ptds report --format json`. */
struct known_finding {
    char id[17], place[17]; /* place: empty if it had none */
    uint64_t count, host_ns;
    bool has_cost;
};

struct baseline {
    TABLE_OF(struct known_finding) findings;
};

enum baseline_says { BASELINE_NEW, BASELINE_GROWN, BASELINE_KNOWN };
extern const char *const baseline_words[3];

/* False with a message that names the file. */
bool baseline_read(struct baseline *baseline, const char *path, char *error);
/* Known by its id, or, after a rebuild, by the functions of its call site (place: may be empty). Grown: `percent` more host
 * time and at least a millisecond; without times, as many percent more calls. */
enum baseline_says baseline_ask(const struct baseline *baseline, const struct folded *folded, const char *place,
                                unsigned percent);
void baseline_free(struct baseline *baseline);

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
