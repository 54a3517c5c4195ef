/* SPDX-License-Identifier: Apache-2.0
 *
 * legacy-shared-by-threads: a thread's work queues up behind another thread's on the one legacy stream. Run by the pass
 * where a stream goes from one thread to another.
 */
#include "analysis/findings/rule.h"

static void on_call(struct rule_run *run, const struct call_view *view)
{
    if (!view->legacy || !view->work || !model_is_pending(run->model, view->target))
        return;
    const struct model_stream *stream = &run->model->streams.items[view->target];
    if (stream->last_thread == view->call->thread)
        return;
    struct finding *finding = finding_at(&run->findings, run->rule, view, 0);
    finding_add(finding, FINDING_THREADS, stream->last_thread);
    if (stream->last_object != 0)
        finding_add(finding, FINDING_WAITS_FOR_KERNELS, stream->last_object);
    finding_cost_unknown(finding);
    gain_joins(run->gain, run->model, view->target, true);
}

static const struct rule rule = {
    .id = "legacy-shared-by-threads",
    .class_ = "H2",
    .removed_by = REMOVED_WITH_TURN,
    .severity = SEVERITY_WARNING,
    .title = "threads queue behind each other on the default stream",
    .sentence =
        "The legacy default stream is one queue for all threads of the process: their work runs one after the other.",
    .advice = "Give each thread a stream, or run under a policy that moves its work (guarded; for calls that name 0x1 with "
              "PTDS_EXPLICIT_LEGACY=remap).",
    .bad = "1@0 launch s=L k=a\n"
           "2@10 launch s=L k=b\n",
    .good = "1@0 launch s=L k=a\n"
            "1@10 launch s=L k=a\n"
            "1@20+900 sync s=L\n"
            "2@1000 launch s=L k=b\n"
            "2@1010 launch s=L k=b\n",
    .ops = RULE_SUBMITS,
    .cases = CASE_HANDED,
    .on_call = on_call,
};
PTDS_RULE(rule);
