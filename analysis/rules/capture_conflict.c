/* SPDX-License-Identifier: Apache-2.0
 *
 * capture-conflict: default-stream work while a stream was being captured. It either fails, and takes the capture with it,
 * or runs outside the graph, which then replays without it. Run by report.c for every call.
 */
#include "analysis/rule.h"

enum { FAILED, OUTSIDE, CAPTURE_ERROR_FIRST = 900, CAPTURE_ERROR_LAST = 908 };

static const char *const details[] = {"failed with a capture error", "ran outside the capture that was open"};

static bool is_stream_work(const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    return call->op != PTDS_OP_NONE && (view->submits || (call->flags & PTDS_CALL_KEPT_CAPTURE));
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    bool failed = call->result >= CAPTURE_ERROR_FIRST && call->result <= CAPTURE_ERROR_LAST;
    bool open = (call->flags & (PTDS_CALL_CAPTURE_OPEN | PTDS_CALL_KEPT_CAPTURE)) != 0;
    bool outside = (call->flags & PTDS_CALL_LEGACY) && open && !(call->flags & PTDS_CALL_CAPTURING) && is_stream_work(view);
    if (!failed && !outside)
        return;
    struct finding *finding = finding_at(&run->findings, run->rule, view, failed ? FAILED : OUTSIDE);
    if (failed)
        finding_most(finding, "result", call->result);
    finding_cost_unknown(finding);
}

static const struct rule rule = {
    .id = "capture-conflict",
    .class_ = "H12",
    .severity = SEVERITY_ERROR,
    .title = "default-stream work during a stream capture",
    .sentence =
        "While a stream is being captured, legacy default-stream work breaks the capture or is left out of the graph.",
    .advice = "Put the work on the capturing stream, or finish the capture first.",
    .details = details,
    .bad = "1@0 capture-begin s=N1\n"
           "1@10 launch s=N1 k=a capturing capture-open\n"
           "1@20 launch s=L k=forgotten capture-open\n"
           "1@30 capture-end s=N1\n",
    .good = "1@0 capture-begin s=N1\n"
            "1@10 launch s=N1 k=a capturing capture-open\n"
            "1@20 capture-end s=N1\n"
            "1@30 launch s=L k=after\n",
    .ops = RULE_ALL,
    .on_call = on_call,
};
PTDS_RULE(rule);
