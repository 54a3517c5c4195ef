/* SPDX-License-Identifier: Apache-2.0
 *
 * pageable-async-copy: an asynchronous copy from or to pageable memory, which the driver must stage: towards the host it is
 * not asynchronous at all. Run by the pass for every call. Where it kept nobody, or the thread waits for the result next
 * anyway, nothing would change; else the cost is what the call took (saving.h). From the host it is a finding without cost,
 * too: the source is read when the call is made, whatever the stream waits for.
 */
#include "analysis/findings/rule.h"

static void on_call(struct rule_run *run, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    bool to = (call->kinds & 15) == PTDS_MEMORY_PAGEABLE, from = call->kinds >> 4 == PTDS_MEMORY_PAGEABLE;
    bool quick = view->timed && !view->blocked;
    if ((call->flags & PTDS_CALL_IMPLICIT) || !view->work || (!to && !from) || (to && quick))
        return;
    struct finding *finding = finding_at(&run->findings, run->rule, view, to ? 0 : 1);
    finding_add_pending(finding, run->model, &view->waits);
    finding_most(finding, "largest_bytes", call_word(view->call, 2));
    if (quick) /* its source was read when the call was made, which another stream's work may not wait for */
        finding_cost(finding, 0);
    else
        saving_watch(run->savings, SAVE_BESIDE, finding, view);
}

static void end(struct rule_run *run)
{
    finding_keep_only(&run->findings, finding_has_cost);
}

static const char *const details[] = {"to pageable memory: returns when the copy is done",
                                      "from pageable memory: read when the call is made, not in stream order"};

static const struct rule rule = {
    .id = "pageable-async-copy",
    .class_ = "H4",
    .removed_by = REMOVED_WITH_PART,
    .severity = SEVERITY_WARNING,
    .at_call = true,
    .title = "an asynchronous copy of pageable memory",
    .sentence = "Copies of memory that is not pinned are staged: to the host they block, from the host they read at once.",
    .advice = "Pin the memory (cudaHostAlloc, cudaHostRegister), or use the synchronous form if that is what is meant.",
    .details = details,
    .bad = "1@0 launch s=N1 k=long\n"
           "1@10+136000 copy s=N1 from=device to=pageable bytes=4\n"
           "1@136100 launch s=N1 k=next\n"
           "1@273000+900 sync s=N1\n",
    .good = "1@0 launch s=N1 k=long\n"
            "1@10+8 copy s=N1 from=device to=pinned bytes=4\n"
            "1@20+8 copy s=N1 from=registered to=device bytes=4\n"
            "1@30+900 sync s=N1\n"
            "1@1000 launch s=N1 k=long\n"
            "1@1010+5000 copy s=N1 from=device to=pageable bytes=4\n" /* ... and waits for it: a result */
            "1@6020+30 sync s=N1\n"
            "1@6060 launch s=N1 k=next\n",
    .ops = RULE_OP(PTDS_OP_COPY),
    .on_call = on_call,
    .end = end,
};
PTDS_RULE(rule);
