/* SPDX-License-Identifier: Apache-2.0
 *
 * sync-copy: a copy or memset of the synchronous forms that kept its thread waiting, though it had more to give to the GPU.
 * Run by the pass for every call. A call that was quick, had nothing to wait for, or waited for a last result is no
 * finding; the cost is what the thread could have done meanwhile (saving.h).
 */
#include "analysis/findings/rule.h"

static void on_call(struct rule_run *run, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    if (!(call->flags & PTDS_CALL_IMPLICIT) || view->waits.count == 0 || (view->timed && !view->blocked))
        return;
    if (behind_others_only(run->model, view))
        return;
    struct finding *finding = finding_at(&run->findings, run->rule, view, 0);
    bool others = view->waits.count > 1 || view->waits.slot[0] != view->target;
    finding_add_pending(finding, run->model, &view->waits);
    finding_count(finding, "behind_other_streams", others);
    finding_most(finding, "largest_bytes", call->op == PTDS_OP_COPY ? call_word(view->call, 2) : call_word(view->call, 1));
    saving_watch(run->savings, SAVE_UNTIL_NEXT_WAIT, finding, view);
}

static void end(struct rule_run *run)
{
    finding_keep_only(&run->findings, finding_has_cost);
}

static const struct rule rule = {
    .id = "sync-copy",
    .class_ = "H3",
    .removed_by = REMOVED_WITH_WAIT,
    .severity = SEVERITY_WARNING,
    .at_call = true,
    .title = "a synchronous copy kept its thread waiting",
    .sentence = "Copies to and from the host without a stream argument, and memsets of host memory, return only when the "
                "work before them is done.",
    .advice = "Use the Async form with pinned memory on a stream, and wait where the data is needed.",
    .bad = "1@0 launch s=L k=long\n"
           "1@10+5000 copy s=L implicit from=device to=pageable bytes=4\n"
           "1@5100 launch s=L k=next\n"
           "1@6000+900 sync s=L\n",
    .good = "1@0 launch s=L k=long\n"
            "1@5+900 sync s=L\n"
            "1@1000+12 copy s=L implicit from=device to=pageable bytes=4\n"
            "1@2000 launch s=L k=long\n"
            "1@2010+4 copy s=L implicit from=device to=device bytes=4096\n"
            "1@2020+3 memset s=L implicit to=device bytes=4096\n"
            "1@3000 launch s=L k=last\n"
            "1@3010+5000 copy s=L implicit from=device to=pageable bytes=4\n",
    .ops = RULE_OP(PTDS_OP_COPY) | RULE_OP(PTDS_OP_MEMSET),
    .on_call = on_call,
    .end = end,
};
PTDS_RULE(rule);
