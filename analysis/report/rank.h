/* SPDX-License-Identifier: Apache-2.0
 *
 * What a report says first: whether the run was right, what the default stream costs, and which findings are worth a
 * reader's time. For the report and its writers; decided once, so that all of them say the same.
 */
#ifndef PTDS_ANALYSIS_REPORT_RANK_H
#define PTDS_ANALYSIS_REPORT_RANK_H

#include "analysis/findings/rule.h"
#include "analysis/report/floor.h"

#ifdef __cplusplus
extern "C" {
#endif

struct report;

/* Sets finding->fold of all findings, and brings them into their order: those worth a line first, errors before all. */
void rank_findings(struct report *report, struct floor floor);
/* It is about the default stream's order, whose cost is the run's as a whole (default_cost_of). */
bool rank_is_of_default_stream(const struct finding *finding);
bool rank_rule_is_of_default_stream(const struct rule *rule); /* all that it finds is, whatever the policy */
/* Where it stands: what is wrong first, then other errors, what puts results in doubt, what costs time, what is folded. */
enum rank_places { PLACE_WRONG, PLACE_ERROR, PLACE_DOUBT, PLACE_COST, PLACE_FOLDED };
int rank_place(const struct finding *finding);
size_t rank_shown(const struct report *report); /* how many are not folded: the first ones */

#ifdef __cplusplus
}
#endif
#endif
