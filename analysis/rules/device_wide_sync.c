/* SPDX-License-Identifier: Apache-2.0
 *
 * device-wide-sync: waiting for the whole context while several streams had work pending. Run by the pass for such waits
 * once it is known what became of the results (aftermath.h): where some streams were shown not to be needed the wait is
 * over-wide-sync's; where all were needed, or nothing comes after, it is as it should be. With one busy stream a wait for
 * the context is as narrow as a wait for that stream, and no finding.
 */
#include "analysis/findings/rule.h"

static void on_judged(struct rule_run *run, const struct judged *judged)
{
    if (judged->view->call->r.op != PTDS_OP_CTX_SYNC || judged->all < 2)
        return;
    bool needed = judged->all == judged->count;
    for (uint32_t i = 0; i < judged->count; i++) {
        if (judged->stream[i].need == NOT_NEEDED)
            return;
        needed &= judged->stream[i].need == NEEDED;
    }
    if (needed || !judged->more || judged->saved_ns == 0)
        return;
    struct finding *finding = finding_at(&run->findings, run->rule, judged->view, 0);
    finding_add_judged(finding, judged, NEED_OPEN);
    finding_most(finding, "streams_at_once", judged->all);
    finding_cost(finding, judged->saved_ns);
}

/* Waits that are not timed are not judged: that they blocked is not known. */
static void on_call(struct rule_run *run, const struct call_view *view)
{
    if (view->timed || view->waits.count < 2)
        return;
    struct finding *finding = finding_at(&run->findings, run->rule, view, 0);
    finding_add_pending(finding, run->model, &view->waits);
    finding_most(finding, "streams_at_once", view->waits.count);
    finding_cost_unknown(finding);
}

static const struct rule rule = {
    .id = "device-wide-sync",
    .class_ = "H6",
    .removed_by = REMOVED_STAYS,
    .severity = SEVERITY_WARNING,
    .at_call = true,
    .title = "a wait for the whole device while several streams were busy",
    .sentence = "cuCtxSynchronize waits for every stream of the context, other threads' and libraries' included.",
    .advice = "Wait for the stream or the event whose result is needed.",
    .bad = "1@0 launch s=N1 k=a\n"
           "2@5 launch s=N2 k=b\n"
           "1@10+5000 ctx-sync\n"
           "1@5100 launch s=N1 k=next\n"
           "1@5900+900 sync s=N1\n",
    .good = "1@0 launch s=N1 k=a\n"
            "1@10+5000 ctx-sync\n"
            "1@6000 launch s=N1 k=a\n"
            "2@6005 launch s=N2 k=b\n"
            "1@6010+900 sync s=N1\n"
            "2@6011+900 sync s=N2\n"
            "1@8000 launch s=N1 k=a\n"
            "2@8005 launch s=N2 k=b\n"
            "1@8010+5000 ctx-sync\n",
    .ops = RULE_OP(PTDS_OP_CTX_SYNC),
    .on_call = on_call,
    .on_judged = on_judged,
};
PTDS_RULE(rule);
