/* SPDX-License-Identifier: Apache-2.0
 *
 * blocking-free: freeing, unpinning or destroying memory while the context had work pending, and waiting for all of it. Run
 * by the pass for every call. Programs may rely on that wait; the rule does not say that they do not. The frees at the end
 * of a thread's work are none: nothing comes after that they keep.
 */
#include "analysis/findings/rule.h"

static void on_call(struct rule_run *run, const struct call_view *view)
{
    if (view->waits.count == 0 || (view->timed && !view->blocked))
        return;
    struct finding *finding = finding_at(&run->findings, run->rule, view, 0);
    finding_add_pending(finding, run->model, &view->waits);
    finding_most(finding, "streams_at_once", view->waits.count);
    saving_watch(run->savings, SAVE_BESIDE_OR_UNKNOWN, finding, view);
}

static void end(struct rule_run *run)
{
    finding_keep_only(&run->findings, finding_has_cost);
}

static const struct rule rule = {
    .id = "blocking-free",
    .class_ = "H5",
    .removed_by = REMOVED_STAYS,
    .severity = SEVERITY_WARNING,
    .set_up = true,
    .at_call = true,
    .title = "freeing memory waited for the whole context",
    .sentence =
        "cuMemFree, cuMemFreeHost, cuMemHostUnregister and cuArrayDestroy return only when no stream has work left.",
    .advice = "Reuse buffers; free device memory with cuMemFreeAsync; where order needs the wait, make it explicit.",
    .bad = "1@0 launch s=N1 k=long\n"
           "1@10+5000 free ptr=0x1000\n"
           "1@5100 launch s=N1 k=next\n"
           "1@10000+900 sync s=N1\n",
    .good = "1@0 launch s=N1 k=long\n"
            "1@10+900 sync s=N1\n"
            "1@1000+15 free ptr=0x1000\n"
            "1@2000 launch s=N1 k=long\n"
            "1@2010+2 free ptr=0\n"
            "1@2020+900 sync s=N1\n"
            "1@3000 launch s=N1 k=last\n"
            "1@3010+5000 free ptr=0x2000\n",
    .ops =
        RULE_OP(PTDS_OP_FREE) | RULE_OP(PTDS_OP_FREE_HOST) | RULE_OP(PTDS_OP_UNREGISTER) | RULE_OP(PTDS_OP_ARRAY_DESTROY),
    .on_call = on_call,
    .end = end,
};
PTDS_RULE(rule);
