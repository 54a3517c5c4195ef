/* SPDX-License-Identifier: Apache-2.0
 *
 * Which findings of a report are worth a line of their own, and in which order. Decided in one place, so that all views
 * say the same.
 */
#ifndef PTDS_ANALYSIS_REPORT_RANK_H
#define PTDS_ANALYSIS_REPORT_RANK_H

#include "analysis/findings/rule.h"
#include "analysis/report/floor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct report;

/* Fills in `fold` of all findings and sorts them: those worth a line first, errors before all. Then makes sequences,
 * entries and sums. */
void rank_findings(struct report *report, struct floor floor);
/* What the report's floor is in ns: its share is one of the time from the first GPU work on, since start-up, which may be
 * most of a run, is no measure of what a finding is worth. Of the whole run where nothing ran on a GPU. */
uint64_t rank_floor_ns(const struct report *report);
/* Whether the finding is about the order of the default stream, whose cost is that of the whole run (default_cost_of). */
bool rank_is_of_default_stream(const struct finding *finding);
bool rank_rule_is_of_default_stream(
    const struct rule *rule); /* whether every finding of the rule is, whatever the policy */
/* The group that a finding is listed in: what is wrong first, then other errors, what puts results in doubt, what
 * costs time, what is folded. */
enum rank_places { PLACE_WRONG, PLACE_ERROR, PLACE_DOUBT, PLACE_COST, PLACE_FOLDED };
int rank_place(const struct finding *finding);
size_t rank_shown(const struct report *report); /* how many findings are not folded: the first ones */

#ifdef __cplusplus
}
#endif
#endif
