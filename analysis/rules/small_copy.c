/* SPDX-License-Identifier: Apache-2.0
 *
 * small-copy: a small copy from pinned memory that another stream may still be writing, with nothing but the legacy
 * stream's implicit order between the two. Measured: the driver reads the source when the call is made, if the copy's own
 * stream is idle. So the program is wrong today, without any remap. Run by report/pass/pass_over_calls.c; what the verdict
 * engine found is only passed on.
 */
#include "analysis/findings/rule.h"

enum { CERTAIN, BUSY, PERHAPS, UNMEASURED };
static const char *const details[] = {
    "the source was still to be written",
    "the source was still to be written, unless work on the copy's own stream held it up",
    "the source may have been still to be written: how much of it, or whether at all, cannot be seen",
    "the source was still to be written, unless the driver reads copies of this size later: between 24 and 32 KiB nobody measured",
};

static void on_call(struct rule_run *run, const struct call_view *view)
{
    const struct edge_pair *pair = view->overtaken;
    if (pair == NULL)
        return;
    bool sure = pair->definite && !(view->call->r.flags & PTDS_CALL_IMPLICIT);
    bool busy = model_is_pending(run->model, view->target);
    bool certain = sure && !busy && !pair->unmeasured;
    unsigned detail = !pair->definite ? PERHAPS : busy ? BUSY : pair->unmeasured ? UNMEASURED : CERTAIN;
    struct finding *finding = finding_at(&run->findings, run->rule, view, detail);
    finding_severity(finding, certain ? SEVERITY_ERROR : SEVERITY_WARNING);
    finding_doubt(finding, certain ? DOUBT_WRONG : DOUBT_MAY);
    finding_pair(finding, pair);
    finding_add(finding, FINDING_THREADS, pair->first.thread);
    finding_add(finding, FINDING_STREAMS, pair->first.stream);
    if (pair->first.object != 0)
        finding_add(finding, FINDING_KERNELS, pair->first.object);
    finding_cost_unknown(finding);
}

static const struct rule rule = {
    .id = "small-copy",
    .class_ = "R2",
    .removed_by = REMOVED_NEVER,
    .title = "a copy overtakes what writes its source",
    .sentence =
        "The driver reads the source of a copy of some kilobytes when the call is made; the default stream's implicit "
        "order does not keep it from that.",
    .advice = "Record an event after what writes the source and let the copy's stream wait for it, or use one stream.",
    .bad = "1@0 alloc-host m=H ptr=0x30000 bytes=4096\n"
           "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
           "1@1 copy s=B1 src=A dst=H to=pinned bytes=64\n"
           "1@2 copy s=L src=H from=pinned dst=A bytes=64\n",
    .good = "1@0 alloc-host m=H ptr=0x30000 bytes=4096\n"
            "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
            "1@1 copy s=N1 src=A dst=H to=pinned bytes=64\n"
            "1@2 record s=N1 e=E\n"
            "1@3 wait s=N2 e=E\n"
            "1@4 copy s=N2 src=H from=pinned dst=A bytes=64\n",
    .severity = SEVERITY_ERROR,
    .details = details,
    .ops = RULE_OP(PTDS_OP_COPY),
    .cases = CASE_OVERTAKEN,
    .on_call = on_call,
};
PTDS_RULE(rule);
