/* SPDX-License-Identifier: Apache-2.0
 *
 * legacy-barrier: the legacy stream's implicit order with blocking and per-thread streams, each time it adds an edge that
 * nothing else had put there. Run by the pass where a call joins something new. Whether the program needs that edge is not
 * for this rule to say.
 */
#include "analysis/findings/rule.h"
#include "analysis/model/model_orders.h"

enum { FAN_IN, FAN_OUT, SYNC };

static const char *const details[] = {
    "work on the legacy stream waits for other streams",
    "work on other streams waits for the legacy stream",
    "waiting for the legacy stream waits for other streams, too",
};

static const char *const remedies[PER_DETAIL(details)] = {
    [SYNC] = "Wait for the stream that the work is on instead, or run under guarded (for calls that name 0x1 with "
             "PTDS_EXPLICIT_LEGACY=remap).",
};

/* The streams with work pending that the call comes after by implicit order alone: not those which its stream, or the event
 * that it waits for, came after anyway. Looks at the kept ones only, so the count is "at least". */
static void implicit_only(struct model *model, const struct call_view *view, unsigned roles, struct pending *pending)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    const struct order *order = &model->real;
    const struct vclock *event =
        call->op == PTDS_OP_EVENT_WAIT ? order_event_clock(order, call->object, call->generation) : NULL;
    struct pending all;
    model_pending(model, view->context, roles, MODEL_NO_SLOT, &all);
    pending->count = 0;
    for (uint32_t i = 0; i < all.count && i < PENDING_KEPT; i++) {
        uint64_t work = model->streams.items[all.slot[i]].last_work;
        bool written = order_before(order, all.slot[i], work, view->target);
        if (!written && (event == NULL || vclock_get(event, all.slot[i]) < work))
            pending->slot[pending->count++] = all.slot[i];
    }
}

/* The same of a stream that is not the legacy one, where the legacy stream has no work pending, but an event's record or a
 * wait for an event: the streams with work pending that those came after, and that the call comes after over them. */
static void over_events(const struct model *model, const struct call_view *view, struct pending *pending)
{
    const struct order *order = &model->real;
    const struct order_context *context = &order->contexts.items[order->streams.items[view->target].context];
    pending->count = 0;
    for (uint32_t slot = 0; context->legacy != 0 && slot < model->streams.count && pending->count < PENDING_KEPT; slot++) {
        uint64_t work = model->streams.items[slot].last_work;
        if (slot != view->target && model_is_pending(model, slot) && order_before(order, slot, work, context->legacy - 1) &&
            !order_before(order, slot, work, view->target))
            pending->slot[pending->count++] = slot;
    }
}

static void flag(struct rule_run *run, const struct call_view *view, uint32_t detail, const struct pending *pending)
{
    struct finding *finding = finding_at(&run->findings, run->rule, view, detail);
    finding_add_pending(finding, run->model, pending);
    finding_most(finding, "streams_at_once", pending->count);
    bool others = false;
    for (uint32_t i = 0; i < pending->count && i < PENDING_KEPT; i++)
        others |= run->model->streams.items[pending->slot[i]].last_thread != view->call->thread;
    if (behind_others_only(run->model, view)) /* its own work its thread will wait for some time anyway */
        saving_watch(run->savings, others ? SAVE_ALL_IF_MORE : SAVE_UNTIL_NEXT_WAIT, finding, view);
    else
        finding_cost_unknown(finding);
    gain_joins(run->gain, run->model, view->target, others);
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    struct pending pending;
    if (view->target == MODEL_NO_SLOT)
        return;
    if (!view->submits || !model_joins(run->model, view->target))
        return;
    const struct order_stream *stream = &run->model->real.streams.items[view->target];
    implicit_only(run->model, view, stream->joins & ~ORDER_OF(stream->role), &pending);
    if (pending.count == 0 && !view->legacy)
        over_events(run->model, view, &pending);
    if (pending.count != 0)
        flag(run, view, view->legacy ? FAN_IN : FAN_OUT, &pending);
}

/* All that the wait waited for is work of its own thread: on one stream, or needed. A wait for that stream would take as
 * long. */
static bool is_own_result(const struct judged *judged)
{
    bool needed = judged->all == judged->count;
    for (uint32_t i = 0; i < judged->count; i++) {
        needed &= judged->stream[i].need == NEEDED;
        if (judged->stream[i].thread != judged->view->call->thread)
            return false;
    }
    return needed || judged->all == 1;
}

/* A wait for the legacy stream, which had nothing of its own. Where a stream was shown not to be needed the call is
 * over-wide-sync's. */
static void on_judged(struct rule_run *run, const struct judged *judged)
{
    const struct ptds_rec_CALL *call = &judged->view->call->r;
    uint32_t legacy = call->target != 0 ? call->target : call->stream;
    if (call->op != PTDS_OP_STREAM_SYNC || !model_orders_wait_unasked(judged->view))
        return;
    if (is_own_result(judged))
        return;
    for (uint32_t i = 0; i < judged->count; i++)
        if (judged->stream[i].uid == legacy || (judged->wide && judged->stream[i].need == NOT_NEEDED))
            return;
    struct finding *finding = finding_at(&run->findings, run->rule, judged->view, SYNC);
    finding_add_judged(finding, judged, NEED_OPEN);
    finding_most(finding, "streams_at_once", judged->all);
    finding_cost_of(finding, judged->view);
    gain_waits(run->gain, run->model, judged->view);
}

static const struct rule rule = {
    .id = "legacy-barrier",
    .class_ = "H1",
    .removed_by = REMOVED_WITH_BARRIER,
    .severity = SEVERITY_WARNING,
    .title = "the default stream is a barrier between streams",
    .sentence = "Work on the legacy default stream waits for all blocking streams of its context, and they wait for it.",
    .advice =
        "Give the work a stream of its own, or run under a policy that moves it (guarded; for calls that name 0x1 with "
        "PTDS_EXPLICIT_LEGACY=remap).",
    .details = details,
    .remedies = remedies,
    .bad = "1@0 launch s=B1 k=long\n"
           "1@10 launch s=L k=short\n"
           "1@20 launch s=B2 k=other\n",
    .good = "1@0 launch s=N1 k=long\n"
            "1@10 launch s=L k=short\n"
            "1@20 launch s=N1 k=long\n"
            "1@30+900 sync s=L\n"
            "1@1000 launch s=L k=short\n"
            "1@1010+900 sync s=L\n"
            "1@2000 launch s=B1 k=long\n"
            "1@2010+900 sync s=B1\n"
            "1@3000 launch s=L k=short\n",
    .ops = RULE_SUBMITS,
    .cases = CASE_JOINS,
    .on_call = on_call,
    .on_judged = on_judged,
};
PTDS_RULE(rule);
