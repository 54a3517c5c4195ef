/* SPDX-License-Identifier: Apache-2.0
 *
 * unordered-conflict: two operations touch the same memory, one writes it, and nothing orders them, the default stream's
 * implicit order included: a race today, under any policy. Run by report.c for every call. What the verdict engine found is
 * only passed on.
 */
#include "analysis/findings/rule.h"

/* What threads tell each other without CUDA is not in a trace, so between threads a conflict is a question. */
enum { ONE_THREAD, ACROSS_THREADS };
static const char *const details[] = {
    "both from one thread",
    "from two threads: an order that no CUDA call shows would make it right",
};

static void on_call(struct rule_run *run, const struct call_view *view)
{
    const struct edge_pair *pair = view->unordered;
    if (pair == NULL)
        return;
    bool across = pair->first.thread != view->call->thread;
    struct finding *finding = finding_at(&run->findings, run->rule, view, across ? ACROSS_THREADS : ONE_THREAD);
    finding_severity(finding, across ? SEVERITY_WARNING : SEVERITY_ERROR);
    finding_add(finding, FINDING_THREADS, pair->first.thread);
    finding_add(finding, FINDING_STREAMS, pair->first.stream);
    if (pair->first.object != 0)
        finding_add(finding, FINDING_KERNELS, pair->first.object);
    finding_cost_unknown(finding);
}

static const struct rule rule = {
    .id = "unordered-conflict",
    .class_ = "R5",
    .title = "two operations on the same memory that nothing orders",
    .sentence = "Both touch the same memory, one of them writes it, and neither streams, events nor the host order them.",
    .advice = "Record an event after the first and wait for it before the second.",
    .bad = "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
           "1@1 launch s=N1 k=_Z5writePf args=A\n"
           "1@2+9 copy s=L implicit src=A to=pageable bytes=64\n",
    .good = "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
            "1@1 launch s=N1 k=_Z5writePf args=A\n"
            "1@2 record s=N1 e=E\n"
            "1@3 wait s=L e=E\n"
            "1@4+1 copy s=L implicit src=A to=pageable bytes=64\n"
            /* What a host function told the program no call shows. */
            "1@10 launch s=N1 k=_Z5writePf args=A\n"
            "1@11 host-function s=N1\n"
            "1@30+1 copy s=L implicit src=A to=pageable bytes=64\n",
    .severity = SEVERITY_ERROR,
    .details = details,
    .ops = RULE_SUBMITS | RULE_OP(PTDS_OP_FREE) | RULE_OP(PTDS_OP_FREE_HOST) | RULE_OP(PTDS_OP_UNREGISTER),
    .cases = CASE_CONFLICT,
    .on_call = on_call,
};
PTDS_RULE(rule);
