/* SPDX-License-Identifier: Apache-2.0
 *
 * capture-conflict: calls that do not go with a capture that is open. Either they fail, and take the capture with them, or
 * they run outside the graph, which then replays without them and with stale data. Run by the pass for every call: any call
 * may fail with a capture error. Which thread began the capture decides how certain it is that the work was meant for the
 * graph.
 */
#include "analysis/findings/rule.h"

enum { FAILED, FAILED_OTHER, INVALIDATED, OUTSIDE, OUTSIDE_OTHER };
enum { CAPTURE_ERROR_FIRST = 900, CAPTURE_ERROR_LAST = 908, CAPTURES = 16 };

static const char *const details[] = {
    "failed with a capture error, in the thread that was capturing",
    "failed with a capture error, in another thread than the capturing one",
    "the capture came to nothing: a call before it had broken it",
    "ran outside the capture that its thread had open: the graph lacks it",
    "ran outside a capture that another thread had open",
};

struct state {
    struct open {
        uint32_t stream, thread; /* uids; stream 0: free */
    } open[CAPTURES];
    uint32_t count;
};

static void began(struct state *state, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    if (view->succeeded && call->stream != 0 && state->count < CAPTURES)
        state->open[state->count++] = (struct open){call->stream, view->call->thread};
}

static void ended(struct state *state, uint32_t stream)
{
    for (uint32_t i = 0; i < state->count; i++)
        if (state->open[i].stream == stream)
            state->open[i--] = state->open[--state->count];
}

static bool captures(const struct state *state, uint32_t thread)
{
    for (uint32_t i = 0; i < state->count; i++)
        if (state->open[i].thread == thread)
            return true;
    return false;
}

static void flag(struct rule_run *run, const struct call_view *view, uint32_t detail)
{
    const struct state *state = run->state;
    struct finding *finding = finding_at(&run->findings, run->rule, view, detail);
    for (uint32_t i = 0; i < state->count; i++) {
        finding_add(finding, FINDING_THREADS, state->open[i].thread);
        finding_add(finding, FINDING_STREAMS, state->open[i].stream);
    }
    finding_doubt(finding, DOUBT_MAY);
    if (detail == OUTSIDE_OTHER)
        finding_severity(finding, SEVERITY_WARNING);
    if (!view->succeeded)
        finding_most(finding, "result", view->call->r.result);
    finding_cost_unknown(finding);
}

static bool is_outside(const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    bool open = (call->flags & (PTDS_CALL_CAPTURE_OPEN | PTDS_CALL_KEPT_CAPTURE)) != 0;
    bool stream_work = call->op != PTDS_OP_NONE && (view->submits || (call->flags & PTDS_CALL_KEPT_CAPTURE));
    return open && (call->flags & PTDS_CALL_LEGACY) && !(call->flags & PTDS_CALL_CAPTURING) && stream_work;
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    struct state *state = run->state;
    if (call->result >= CAPTURE_ERROR_FIRST && call->result <= CAPTURE_ERROR_LAST)
        flag(run, view,
             call->op == PTDS_OP_CAPTURE_END                             ? INVALIDATED
             : state->count != 0 && !captures(state, view->call->thread) ? FAILED_OTHER
                                                                         : FAILED);
    else if (is_outside(view))
        flag(run, view, state->count != 0 && !captures(state, view->call->thread) ? OUTSIDE_OTHER : OUTSIDE);
    if (call->op == PTDS_OP_CAPTURE_BEGIN)
        began(state, view);
    else if (call->op == PTDS_OP_CAPTURE_END)
        ended(state, call->stream);
}

static const struct rule rule = {
    .id = "capture-conflict",
    .class_ = "H12",
    .removed_by = REMOVED_NEVER,
    .severity = SEVERITY_ERROR,
    .title = "work in the way of an open stream capture",
    .sentence =
        "While a stream is being captured, legacy default-stream work breaks the capture or is left out of the graph.",
    .advice = "Put the work on the capturing stream, or finish the capture first. For other threads' work: "
              "CU_STREAM_CAPTURE_MODE_THREAD_LOCAL.",
    .details = details,
    .bad = "1@0 capture-begin s=N1\n"
           "1@10 launch s=N1 k=a capturing capture-open\n"
           "1@20 launch s=L k=forgotten capture-open\n"
           "1@30 capture-end s=N1\n",
    .good = "1@0 capture-begin s=N1\n"
            "1@10 launch s=N1 k=a capturing capture-open\n"
            "2@15 launch s=N2 k=b capture-open\n"
            "1@20 capture-end s=N1\n"
            "1@30 launch s=L k=after\n",
    .state = sizeof(struct state),
    .ops = RULE_ALL,
    .cases = CASE_CAPTURE,
    .on_call = on_call,
};
PTDS_RULE(rule);
