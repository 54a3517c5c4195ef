/* SPDX-License-Identifier: Apache-2.0
 *
 * The test for slow allocations. Called by rules/blocking_alloc.c and rules/blocking_pin.c for each allocation; must not
 * say that a call waited where all that is known is that it took long.
 */
#include "analysis/rules/alloc.h"

#include "analysis/model/cost.h"

enum { LONG_NS = 10000000, MOST_QUICK_NS = 200000, SLACK_NS = 100000 };

const char *const alloc_cases[] = {"took long while work was pending", "took long with nothing pending",
                                   "held up calls of other threads"};

void alloc_check(struct rule_run *run, const struct call_view *view)
{
    struct pending pending;
    if (!run->startup->over || view->held_by != NULL) /* start-up's, or charged to the call that held it */
        return;
    if (!view->timed || !view->succeeded || view->ns < SLACK_NS)
        return;
    uint64_t fitting = MOST_QUICK_NS + cost_alloc_ns(view->call);
    model_pending(run->model, view->context, ORDER_OF_ALL, MODEL_NO_SLOT, &pending);
    bool slow = pending.count != 0 && (view->ns - SLACK_NS) / 2 > fitting;
    if (!slow && view->ns < LONG_NS)
        return;
    enum alloc_case found = pending.count != 0 ? ALLOC_BUSY : ALLOC_IDLE;
    struct finding *finding = finding_at(&run->findings, run->rule, view, found);
    if (found == ALLOC_IDLE)
        finding_severity(finding, SEVERITY_NOTE);
    finding_add_pending(finding, run->model, &pending);
    finding_most(finding, "largest_bytes", call_word(view->call, 1));
    finding_count(finding, "bytes", call_word(view->call, 1));
    finding_most(finding, "longest_call_ns", view->ns);
    finding_cost(finding, view->ns > MOST_QUICK_NS ? view->ns - MOST_QUICK_NS : 0);
}
