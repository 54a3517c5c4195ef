/* SPDX-License-Identifier: Apache-2.0
 *
 * order-given-up: default-stream work of different threads was moved to streams of their own, so that what the legacy
 * stream ran one after the other is no longer ordered. Run by report.c for every call. Says that the order is gone, not
 * that anybody needed it: that the trace cannot tell.
 */
#include "analysis/findings/rule.h"

/* The last remapped work on each legacy stream; programs have a handful of contexts. */
enum { CONTEXTS = 8, FOLLOWERS = 8 };
struct state {
    struct last {
        uint32_t asked, target, thread; /* asked + 1, 0 free */
        struct follower {
            uint32_t stream; /* uid */
            uint64_t since;
        } followers[FOLLOWERS]; /* streams that waited for it since, or for one that did: the latest ones */
        uint32_t followed;      /* how often */
        uint64_t enter;
    } last[CONTEXTS];
};

static struct last *last_of(struct state *state, uint32_t asked)
{
    for (unsigned i = 0; i < CONTEXTS; i++) {
        if (state->last[i].asked == asked + 1 || state->last[i].asked == 0)
            return &state->last[i];
    }
    return &state->last[CONTEXTS - 1];
}

static uint32_t uid_of(const struct rule_run *run, uint32_t slot)
{
    return slot != MODEL_NO_SLOT ? run->model->streams.items[slot].uid : 0;
}

/* Whether what was put on the stream before `until` comes after the last work. */
static bool follows(const struct last *last, uint32_t stream, uint64_t until)
{
    for (uint32_t i = 0; i < last->followed && i < FOLLOWERS; i++)
        if (last->followers[i].stream == stream && last->followers[i].since <= until)
            return true;
    return false;
}

/* The shim has put an event in the order's place, before any work of the other thread's, on whatever stream. It stands for
 * what the first had put there by then, or for all of the legacy stream's context. */
static void note_edges(const struct rule_run *run, const struct call *call)
{
    struct state *state = run->state;
    for (uint32_t i = 0; i < call->edges && i < CALL_EDGES; i++) {
        const struct ptds_rec_EDGE *edge = &call->edge[i];
        for (unsigned at = 0; at < CONTEXTS && state->last[at].asked != 0; at++) {
            struct last *last = &state->last[at];
            bool direct = edge->behind == uid_of(run, last->target) || edge->behind == uid_of(run, last->asked - 1);
            if ((direct && last->enter < edge->until) || follows(last, edge->behind, edge->until))
                last->followers[last->followed++ % FOLLOWERS] = (struct follower){edge->waits, call->r.enter};
        }
    }
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    note_edges(run, view->call);
    if (!(call->flags & PTDS_CALL_LEGACY) || !(call->flags & PTDS_CALL_REMAPPED) || !view->work)
        return;
    if (definitions_keep_order(&run->trace->defs)) /* wherever data asks for it, which is not in the trace */
        return;
    struct last *last = last_of(run->state, view->asked);
    gone_sent(run->gone, view->call);
    bool same_place = last->asked != view->asked + 1 || last->target == view->target || last->thread == view->call->thread;
    if (!same_place && !follows(last, uid_of(run, view->target), UINT64_MAX) &&
        model_is_pending(run->model, last->target)) {
        struct finding *finding = finding_at(&run->findings, run->rule, view, 0);
        finding_add(finding, FINDING_THREADS, last->thread);
        gone_call(run->gone, view->call);
        finding_cost_unknown(finding);
    }
    *last =
        (struct last){.asked = view->asked + 1, .target = view->target, .thread = view->call->thread, .enter = call->enter};
}

static const struct rule rule = {
    .id = "order-given-up",
    .class_ = "R1",
    .severity = SEVERITY_WARNING,
    .order_gone = true,
    .title = "threads' default-stream work is no longer ordered with each other",
    .sentence =
        "Work of one thread was still unfinished when another's began; the legacy stream would have run them in turn.",
    .advice = "Right if the threads share no unfinished data, as false verdicts show; where a result needs the order, use "
              "PTDS_POLICY=guarded.",
    .bad = "1@0 launch s=L to=P1 k=a\n"
           "2@10 launch s=L to=P2 k=b\n",
    .good = "1@0 launch s=L to=P1 k=a\n"
            "1@10+900 sync s=L to=P1\n"
            "2@1000 launch s=L to=P2 k=b\n"
            "1@1010 launch s=L to=P1 k=c behind=P2\n",
    .state = sizeof(struct state),
    .ops = RULE_SUBMITS,
    .cases = CASE_REMAPPED | CASE_EDGE,
    .on_call = on_call,
};
PTDS_RULE(rule);
