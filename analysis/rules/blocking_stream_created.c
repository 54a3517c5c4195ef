/* SPDX-License-Identifier: Apache-2.0
 *
 * blocking-stream-created: a stream created with flag 0 in a context whose legacy stream really gets work, in a program
 * where such streams and that one did keep each other waiting. Run by the pass for every call. What it costs shows under
 * legacy-barrier.
 */
#include "analysis/findings/rule.h"

enum { NON_BLOCKING = 1 };

static void on_call(struct rule_run *run, const struct call_view *view)
{
    if (!view->succeeded || (call_word(view->call, 0) & NON_BLOCKING))
        return;
    finding_cost_unknown(finding_at(&run->findings, run->rule, view, 0));
}

static bool legacy_used(const struct model *model, const struct finding *finding)
{
    const struct finding_ids *contexts = &finding->sets[FINDING_CONTEXTS];
    for (size_t i = 0; i < model->contexts.count; i++)
        for (uint32_t j = 0; j < contexts->count; j++)
            if (model->contexts.items[i].uid == contexts->id[j] && model->contexts.items[i].legacy_work != 0)
                return true;
    return false;
}

static bool is_used(const struct finding *finding)
{
    return finding->count != 0;
}

static void end(struct rule_run *run)
{
    if (run->gain->joins == 0) { /* streams that are only captured, or never busy at the same time */
        finding_drop_all(&run->findings);
        return;
    }
    for (size_t i = 0; i < run->findings.list.count; i++)
        if (!legacy_used(run->model, run->findings.list.items[i]))
            run->findings.list.items[i]->count = 0;
    finding_keep_only(&run->findings, is_used);
}

static const struct rule rule = {
    .id = "blocking-stream-created",
    .class_ = "H7",
    .removed_by = REMOVED_WITH_OTHERS,
    .severity = SEVERITY_NOTE,
    .at_call = true,
    .title = "a stream that the default stream blocks",
    .sentence = "Streams created with flag 0 have implicit order with the legacy default stream, which this program uses.",
    .advice =
        "Create it with CU_STREAM_NON_BLOCKING (cudaStreamNonBlocking), after checking that nothing relies on the order.",
    .bad = "1@0+10 stream-create s=B1 flags=0\n"
           "1@20 launch s=L k=a\n"
           "1@30 launch s=B1 k=b\n",
    .good = "1@0+10 stream-create s=N1 flags=1\n"
            "1@20 launch s=L k=a\n"
            "1@30+10 stream-create s=B1 flags=0 ctx=2\n"
            "1@50 launch s=B1 k=a ctx=2\n"
            "1@60+10 stream-create s=B2 flags=0\n"
            "1@70+900 sync s=L\n"
            "1@1000 launch s=B2 k=a\n",
    .ops = RULE_OP(PTDS_OP_STREAM_CREATE),
    .on_call = on_call,
    .end = end,
};
PTDS_RULE(rule);
