/* SPDX-License-Identifier: Apache-2.0
 *
 * order-given-up: the legacy stream put the call behind earlier work, and under this run's policy nothing does any more:
 * between threads' default-stream work, between that and blocking streams, or for the host. Run by report/pass.c for calls
 * of which order/strands/order_loss.c says so. Whether anybody needed the order say the verdicts on the edges at the call
 * site.
 */
#include "analysis/findings/rule.h"

enum { ACROSS_THREADS, WITHIN_ONE, FOR_THE_HOST };
static const char *const details[] = {
    "between two threads",
    "between the default stream and a blocking stream of one thread",
    "for the host, whose wait for the default stream covered it",
};

static void on_call(struct rule_run *run, const struct call_view *view)
{
    const struct edge_end *before = view->given_up;
    if (before == NULL)
        return;
    unsigned detail = !view->submits ? FOR_THE_HOST : before->thread != view->call->thread ? ACROSS_THREADS : WITHIN_ONE;
    struct finding *finding = finding_at(&run->findings, run->rule, view, detail);
    finding_add(finding, FINDING_THREADS, before->thread);
    if (detail != ACROSS_THREADS)
        finding_add(finding, FINDING_STREAMS, before->stream);
    finding_cost_unknown(finding);
}

static const struct rule rule = {
    .id = "order-given-up",
    .class_ = "R1",
    .removed_by = REMOVED_WITH_PROMISE,
    .severity = SEVERITY_WARNING,
    .order_given_up = true,
    .title = "order that the legacy stream kept is gone",
    .sentence =
        "Earlier work was not known to be finished when this call was made; the legacy stream would have run them in "
        "turn.",
    .advice = "Use PTDS_POLICY=guarded, which keeps the order, or the events that ptds report --repair names; where it is "
              "\"not needed\", nothing is wrong.",
    .details = details,
    .bad = "1@0 launch s=L to=P1 k=a\n"
           "2@10 launch s=L to=P2 k=b\n",
    .good = "1@0 launch s=L to=P1 k=a\n"
            "1@10+900 sync s=L to=P1\n"
            "2@1000 launch s=L to=P2 k=b\n"
            "1@1010 launch s=L to=P1 k=c behind=P2\n",
    .ops = RULE_SUBMITS | RULE_OP(PTDS_OP_STREAM_SYNC) | RULE_OP(PTDS_OP_STREAM_QUERY),
    .cases = CASE_GIVEN_UP,
    .on_call = on_call,
};
PTDS_RULE(rule);
