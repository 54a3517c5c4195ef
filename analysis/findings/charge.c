/* SPDX-License-Identifier: Apache-2.0
 *
 * Charges held time. Called by the rules in on_held, each for its own kind of hold; a hold is one finding's, and no call's
 * time is charged twice.
 */
#include "analysis/findings/charge.h"

void charge_held(struct rule_run *run, const struct call_view *view, uint32_t detail)
{
    struct hold *hold = view->held_by;
    if (hold->charged == NULL) {
        struct call_view holder = {.call = &hold->call};
        hold->charged = finding_at(&run->findings, run->rule, &holder, detail);
        finding_most(hold->charged, "longest_call_ns", hold->ns);
    }
    struct finding *finding = hold->charged;
    finding_flag(&run->findings, finding, view);
    finding_add(finding, FINDING_HELD, view->call->thread);
    finding_count(finding, "held_calls", 1);
    finding_most(finding, "longest_held_ns", view->held_ns);
    finding_cost(finding, view->held_ns);
}
