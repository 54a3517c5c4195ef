/* SPDX-License-Identifier: Apache-2.0
 *
 * blocking-module-load: loading or unloading code, or resizing the device stack, while work was pending, which waits for
 * the context (and holds its lock meanwhile). Run by the pass for every call after the first kernel. Loading takes long by
 * itself: without times on the GPU the cost is what it may be at most, and no part of the time that threads were blocked.
 */
#include "analysis/findings/rule.h"

static void on_call(struct rule_run *run, const struct call_view *view)
{
    if (!run->startup->over || view->waits.count == 0 || (view->timed && !view->blocked && view->at_most_ns == 0))
        return;
    struct finding *finding = finding_at(&run->findings, run->rule, view, 0);
    finding_add_pending(finding, run->model, &view->waits);
    if (view->at_most_ns != 0)
        finding_cost(finding, view->at_most_ns);
    else
        finding_cost_of(finding, view);
}

static const struct rule rule = {
    .id = "blocking-module-load",
    .class_ = "H8",
    .removed_by = REMOVED_STAYS,
    .severity = SEVERITY_WARNING,
    .set_up = true,
    .title = "loading code waited for the whole context",
    .sentence = "Loading or unloading a module, or resizing the device stack, waits for all work of the context.",
    .advice = "Load, and set limits, before the work starts: warm each kernel up once, or set CUDA_MODULE_LOADING=EAGER.",
    .bad = "1@0 launch s=N1 k=long\n"
           "1@10+9000 module-load\n",
    .good = "1@0 copy s=N1 from=pinned to=device bytes=4\n"
            "1@10+3000 module-load\n"
            "1@3100 launch s=N1 k=long\n"
            "1@3200+40 module-load\n"
            "1@3300+900 sync s=N1\n",
    .ops = RULE_OP(PTDS_OP_MODULE_LOAD) | RULE_OP(PTDS_OP_MODULE_UNLOAD) | RULE_OP(PTDS_OP_FUNCTION_LOAD) |
           RULE_OP(PTDS_OP_CTX_LIMIT),
    .on_call = on_call,
};
PTDS_RULE(rule);
