/* SPDX-License-Identifier: Apache-2.0
 *
 * unordered-conflict: two operations touch the same memory, one writes it, and nothing orders them, the default stream's
 * implicit order included: a race today, under any policy. Run by the pass for every call. What the verdict engine found is
 * only passed on: an error only where both ranges are known, and one of the two reads; else a warning or a note.
 */
#include "analysis/findings/rule.h"
#include "analysis/model/implicit_order.h"

/* What threads tell each other without CUDA is not in a trace, so between threads a conflict is a question. So it is where
 * a kernel takes part: which bytes of the allocation it reaches cannot be seen, and streams often work on parts of one. */
enum { ONE_THREAD, ACROSS_THREADS, POSSIBLE, ONE_KERNEL, BY_HOST_MEMORY, ORDERED, BOTH_WRITE };
static const char *const details[] = {
    "both from one thread",
    "from two threads: an order that no CUDA call shows would make it right",
    "possible: how much of the memory a kernel uses, or whether it writes it, is not known",
    "possible, as the same kernel on several streams: programs give each a part of the memory, or what it only reads",
    "the host could see in its memory that the first was done: an order that no CUDA call shows would make it right",
    "policy strict ordered both in this run; under another policy nothing does",
    "both write: wrong only if they leave different bytes, and something reads these",
};

static const char *const sentences[PER_DETAIL(details)] = {
    [POSSIBLE] =
        "Both use the same memory, one may write what the other uses, and neither streams, events nor the host order "
        "them.",
    [ONE_KERNEL] =
        "The kernel uses the same memory on several streams, which nothing orders: right where each only reads, or "
        "has a part of its own.",
    [ORDERED] =
        "Both use the same memory, one may write what the other uses, and neither streams, events nor the host order "
        "them in the program.",
};

static void on_call(struct rule_run *run, const struct call_view *view)
{
    static const enum severity severities[] = {SEVERITY_ERROR,   SEVERITY_WARNING, SEVERITY_NOTE,   SEVERITY_NOTE,
                                               SEVERITY_WARNING, SEVERITY_WARNING, SEVERITY_WARNING};
    static const enum doubt doubts[] = {DOUBT_WRONG, DOUBT_MAY, DOUBT_MAY, DOUBT_NONE, DOUBT_MAY, DOUBT_NONE, DOUBT_MAY};
    const struct edge_pair *pair = view->unordered;
    if (pair == NULL)
        return;
    bool same = pair->first.object != 0 && pair->first.object == pair->second.object;
    uint32_t detail = implicit_order_is_strict(&run->trace->defs) ? ORDERED
                      : same                                      ? ONE_KERNEL
                      : !pair->definite                           ? POSSIBLE
                      : pair->first.thread != view->call->thread  ? ACROSS_THREADS
                      : pair->both_write                          ? BOTH_WRITE
                      : pair->host_may_know                       ? BY_HOST_MEMORY
                                                                  : ONE_THREAD;
    struct finding *finding = finding_at(&run->findings, run->rule, view, detail);
    finding_severity(finding, severities[detail]);
    finding_doubt(finding, doubts[detail]);
    finding_add(finding, FINDING_THREADS, pair->first.thread);
    finding_add(finding, FINDING_STREAMS, pair->first.stream);
    finding_pair(finding, pair);
    if (pair->first.object != 0)
        finding_add(finding, FINDING_KERNELS, pair->first.object);
    finding_cost_unknown(finding);
}

static const struct rule rule = {
    .id = "unordered-conflict",
    .class_ = "R5",
    .removed_by = REMOVED_NEVER,
    .title = "nothing orders two uses of one memory",
    .sentence = "Both touch the same memory, one of them writes it, and neither streams, events nor the host order them.",
    .advice = "Record an event after the first and wait for it before the second.",
    .bad = "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
           "1@1+3 copy s=N1 from=pinned src=0x7f0000000000 dst=A bytes=64\n"
           "1@9+9 copy s=L implicit src=A to=pageable bytes=64\n"
           "1@20 launch s=N1 k=_Z5writePf args=A\n"
           "1@21 launch s=N2 k=_Z5writePf args=A\n",
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
    .conflict = true,
    .sentences = sentences,
    .details = details,
    .ops = RULE_SUBMITS | RULE_OP(PTDS_OP_FREE) | RULE_OP(PTDS_OP_FREE_HOST) | RULE_OP(PTDS_OP_UNREGISTER),
    .cases = CASE_CONFLICT,
    .on_call = on_call,
};
PTDS_RULE(rule);
