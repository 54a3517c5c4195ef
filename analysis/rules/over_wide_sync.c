/* SPDX-License-Identifier: Apache-2.0
 *
 * over-wide-sync: a wait for several streams of which some were not needed. Run by the pass for each wait that blocked,
 * once it is known what became of the results (aftermath.h). The cost is what the call lost, less what it would have waited
 * for the streams that were needed: so much only times on the GPU can tell, and without them it is what the call lost
 * altogether.
 */
#include "analysis/findings/rule.h"

enum { CONTEXT, LEGACY };

static const char *const details[] = {
    "a wait for the whole context",
    "a wait for the legacy stream, which is one for other streams, too",
};

/* What a wait for the needed streams alone would have saved, at most. */
static void cost(struct finding *finding, const struct judged *judged)
{
    const struct call_view *view = judged->view;
    uint64_t needed_ns = 0;
    for (uint32_t i = 0; i < judged->count; i++)
        if (judged->stream[i].need == NEEDED && judged->stream[i].ran_ns > needed_ns)
            needed_ns = judged->stream[i].ran_ns;
    if (!view->timed)
        finding_cost_unknown(finding);
    else if (view->ns > needed_ns)
        finding_cost(finding, view->ns - needed_ns < view->lost_ns ? view->ns - needed_ns : view->lost_ns);
    else
        finding_cost(finding, 0);
}

static void on_judged(struct rule_run *run, const struct judged *judged)
{
    uint32_t count[NOT_NEEDED + 1] = {0};
    for (uint32_t i = 0; i < judged->count; i++)
        count[judged->stream[i].need]++;
    if (!judged->wide || count[NOT_NEEDED] == 0)
        return;
    uint32_t detail = judged->view->call->r.op == PTDS_OP_CTX_SYNC ? CONTEXT : LEGACY;
    struct finding *finding = finding_at(&run->findings, run->rule, judged->view, detail);
    finding_add_judged(finding, judged, NOT_NEEDED);
    finding_most(finding, "streams_at_once", judged->all);
    finding_count(finding, "streams_not_needed", count[NOT_NEEDED]);
    finding_count(finding, "streams_needed", count[NEEDED]);
    finding_count(finding, "streams_unknown", judged->all - count[NOT_NEEDED] - count[NEEDED]);
    cost(finding, judged);
    if (detail == LEGACY)
        gain_waits(run->gain, run->model, judged->view);
}

static const struct rule rule = {
    .id = "over-wide-sync",
    .class_ = "H6",
    .removed_by = REMOVED_WITH_WAIT,
    .severity = SEVERITY_WARNING,
    .at_call = true,
    .title = "a wait for more streams than were needed",
    .sentence = "The call waited for streams (waits_for) whose results nothing used before the program waited for those "
                "streams themselves.",
    .advice = "Wait for the stream whose result is used next: cuStreamSynchronize, or an event.",
    .details = details,
    .bad = "1@0+5 alloc ptr=0x10000 bytes=4096\n"
           "1@10+5 alloc ptr=0x20000 bytes=4096\n"
           "1@20 launch s=N1 k=mine args=0x10000\n"
           "2@25 launch s=N2 k=theirs args=0x20000\n"
           "1@30+5000 ctx-sync\n"
           "1@5100 launch s=N3 k=next args=0x10100\n"
           "1@5110+900 sync s=N3\n"
           "2@5200+3 sync s=N2\n",
    .good = "1@0+5 alloc ptr=0x10000 bytes=4096\n"
            "1@10+5 alloc ptr=0x20000 bytes=4096\n"
            "1@20 launch s=N1 k=mine args=0x10000\n"
            "2@25 launch s=N2 k=theirs args=0x20000\n"
            "1@30+5000 sync s=N1\n"
            "1@5100 launch s=N3 k=next args=0x10100\n"
            "1@5110+900 sync s=N3\n"
            "2@6200+300 sync s=N2\n",
    .on_judged = on_judged,
};
PTDS_RULE(rule);
