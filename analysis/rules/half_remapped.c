/* SPDX-License-Identifier: Apache-2.0
 *
 * half-remapped: part of the default-stream work was moved and part was not. Per-thread and other blocking streams wait for
 * the legacy stream and it for them (measured), so order is kept and overlap lost; where work went to a non-blocking stream
 * the order is gone, unless the policy keeps it. Run by the pass for every call; decides at the end, when it is known
 * whether anything was moved at all. Calls that failed put no work anywhere and do not count.
 */
#include "analysis/findings/rule.h"
#include "analysis/trace/frames.h"

enum { CAPTURE, REFUSED, EXCLUDED, NO_WAY, EXPLICIT, UNSAID, UNTABLED, BYPASS, DEEPBIND };

static const char *const details[] = {
    "kept: a capture was open",
    "kept: the function refuses the default stream",
    "kept: excluded by PTDS_EXCLUDE or PTDS_INCLUDE, or a green context",
    "kept: the function has no other stream, or no order could be given",
    "kept: the program named CU_STREAM_LEGACY itself",
    "reached the legacy stream for no recorded reason",
    "a driver function that the shim does not know",
    "an object that reaches the driver past the shim",
    "a library opened with RTLD_DEEPBIND that calls the driver past the shim",
};

static const char *const remedies[PER_DETAIL(details)] = {
    [EXCLUDED] = "Take the object out of PTDS_EXCLUDE (or into PTDS_INCLUDE).",
    [EXPLICIT] = "Run with PTDS_EXPLICIT_LEGACY=remap: the object names the legacy stream wherever it uses a stream.",
    [DEEPBIND] = "Run it by ptds run --audit.",
};

struct state {
    bool remapped;
    bool unordered; /* ... to a stream that the legacy stream does not wait for, or of which that is not known */
};

static uint32_t reason(uint32_t flags)
{
    return flags & PTDS_CALL_KEPT_CAPTURE    ? CAPTURE
           : flags & PTDS_CALL_KEPT_REFUSED  ? REFUSED
           : flags & PTDS_CALL_KEPT_EXCLUDED ? EXCLUDED
           : flags & PTDS_CALL_KEPT_NO_WAY   ? NO_WAY
           : flags & PTDS_CALL_EXPLICIT      ? EXPLICIT
                                             : UNSAID;
}

/* The object that made the call; 0 not known. */
static uint32_t caller(const struct definitions *defs, uint32_t stack)
{
    const struct object_def *object = frames_calling_object(defs, stack);
    return object != NULL ? (uint32_t)(object - defs->objects.items) + 1 : 0;
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    struct state *state = run->state;
    bool stream_op = view->submits || (view->succeeded && call->op == PTDS_OP_STREAM_SYNC);
    if (!(call->flags & PTDS_CALL_LEGACY) || !stream_op)
        return;
    if (call->flags & PTDS_CALL_REMAPPED) {
        state->remapped = true;
        state->unordered |= implicit_order_role(view->target_kind) == ORDER_ROLE_NONE;
        return;
    }
    uint32_t why = reason(call->flags);
    /* An object that names the legacy stream does so wherever it uses streams (Thrust): that is one cause. */
    struct finding *finding =
        why == EXPLICIT ? finding_of_cause(&run->findings, run->rule, view, why, caller(&run->trace->defs, call->stack))
                        : finding_at(&run->findings, run->rule, view, why);
    finding_cost_unknown(finding);
    enum severity severity = view->submits ? SEVERITY_WARNING : SEVERITY_NOTE; /* a wait waits for what was moved */
    if (finding != NULL && (finding->count == 1 || severity > finding->severity))
        finding_severity(finding, severity);
}

static bool counted_remapped(const struct trace *trace)
{
    for (size_t i = 0; i < trace->counts.count; i++)
        if (trace->counts.items[i].remapped != 0)
            return true;
    return false;
}

static bool applies(const struct trace *trace)
{
    return (trace->flags & PTDS_CALL_REMAPPED) || counted_remapped(trace);
}

/* -1: its work waits for nothing here, as that of another driver in another namespace, or nobody knows of any. */
static int detail_of(uint32_t bypass)
{
    switch (bypass) {
    case PTDS_BYPASS_DRIVER_COPY:
    case PTDS_BYPASS_OTHER_HOOK: return BYPASS;
    case PTDS_BYPASS_DEEPBIND: return DEEPBIND;
    default: return -1;
    }
}

static void end(struct rule_run *run)
{
    const struct state *state = run->state;
    const struct definitions *defs = &run->trace->defs;
    if (!state->remapped && !counted_remapped(run->trace)) {
        finding_drop_all(&run->findings);
        return;
    }
    bool lost = state->unordered && !implicit_order_promised(defs);
    for (size_t i = 0; i < run->findings.list.count && lost; i++) {
        finding_severity(run->findings.list.items[i], SEVERITY_WARNING);
        finding_doubt(run->findings.list.items[i], DOUBT_MAY);
    }
    for (size_t i = 0; i < defs->untabled.count; i++)
        if (defs->untabled.items[i].handed == 0)
            finding_cost_unknown(finding_about(&run->findings, run->rule, UNTABLED, defs->untabled.items[i].text));
    for (size_t i = 0; i < defs->bypasses.count; i++) {
        int detail = detail_of(defs->bypasses.items[i].what);
        if (detail >= 0)
            finding_cost_unknown(finding_about(&run->findings, run->rule, (uint32_t)detail, defs->bypasses.items[i].text));
    }
}

static const struct rule rule = {
    .id = "half-remapped",
    .class_ = "R8",
    .removed_by = REMOVED_WITH_MOVE,
    .severity = SEVERITY_WARNING,
    .may_lose_order = true,
    .stayed = true,
    .title = "default-stream work that stayed behind",
    .sentence = "Default-stream work that stayed is a barrier for what was moved to blocking streams; with what was moved "
                "to a non-blocking one it has lost its order, unless the policy keeps it, and results may be wrong.",
    .advice =
        "Move all of it (see the reasons), or none: PTDS_POLICY=none, or PTDS_EXPLICIT_LEGACY=remap for explicit uses.",
    .details = details,
    .remedies = remedies,
    .bad = "1@0 launch s=L to=P1 k=a\n"
           "1@10 launch s=L k=b kept-excluded\n",
    .good = "1@0 launch s=L to=P1 k=a\n"
            "1@10 launch s=L to=P1 k=b\n"
            "1@20+40 sync s=L to=P1\n",
    .state = sizeof(struct state),
    .ops = RULE_SUBMITS | RULE_OP(PTDS_OP_STREAM_SYNC),
    .cases = CASE_DEFAULT,
    .applies = applies,
    .on_call = on_call,
    .end = end,
};
PTDS_RULE(rule);
