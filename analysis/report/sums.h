/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings added up: by rule, and by cause those that are told in one line each. Made once, with the report or with the
 * folds of several; every view prints these sums and adds up nothing.
 */
#ifndef PTDS_ANALYSIS_REPORT_SUMS_H
#define PTDS_ANALYSIS_REPORT_SUMS_H

#include "analysis/base/table.h"
#include "analysis/findings/rule.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sum {
    size_t findings;
    uint64_t calls, host_ns, known; /* known: calls whose cost is known; 0: host_ns says nothing */
};

/* All findings of a rule. */
struct rule_sum {
    const struct rule *rule;
    struct sum all, shown, errors;     /* shown: worth a line; errors: of these */
    const struct finding *top, *error; /* of the shown ones, the first, and the first error; NULL none */
};

/* Findings of one cause that are told together. */
struct cause {
    const char *name; /* the rule's id, or a library's */
    bool library;
    unsigned folds; /* a bit for each enum fold that is a reason */
    bool small;     /* it is only named */
    struct sum sum;
};

struct sums {
    TABLE_OF(struct rule_sum) rules; /* the costliest first */
    TABLE_OF(struct cause) causes;   /* likewise */
    size_t above; /* so many have a line: they reach the floor, or `much` where each finding of theirs does
                   * not. They are the first ones; the others are small */
    bool out_of_memory;
};

/* The name of the line that a folded finding is told in: the id of its rule, or the name of the library that it is
 * inside of. */
const char *sums_cause_of(const struct definitions *defs, const struct finding *finding);

/* Adds a finding and its `sum`; shown: worth a line of its own. In order of rank. */
void sums_add(struct sums *sums, const struct definitions *defs, const struct finding *finding, bool shown, struct sum sum);
/* Sorts the sums. After the last finding. floor: ns that a finding has to save, much: so many small ones together. */
void sums_finish(struct sums *sums, uint64_t floor, uint64_t much);
void sums_free(struct sums *sums);

#ifdef __cplusplus
}
#endif
#endif
