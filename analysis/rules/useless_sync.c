/* SPDX-License-Identifier: Apache-2.0
 *
 * useless-sync: an explicit wait that changes nothing: the thread had waited for all of it before, or the results were used
 * by nothing before the stream was waited for again (aftermath.h). Run by report.c for explicit waits. A trace with gaps
 * may lack the work that was waited for, so there nothing is said. A wait may still be meant: to keep the queue short, or
 * to read the host's clock.
 */
#include "analysis/findings/rule.h"

enum { NOTHING_NEW, NOT_USED };

static const char *const details[] = {
    "nothing new: the thread had already waited for all of it",
    "nothing used the results before the stream was waited for again",
};

static bool has_gaps(const struct trace *trace)
{
    return trace->lost != 0 || trace->header.recycled != 0 || trace->header.refused != 0 || trace->damaged != 0 ||
           trace->lost_chunks != 0;
}

/* What the call covers, and what of it is work that its thread has not waited for. *any: it covers work at all. */
static bool covers_new(struct model *model, const struct call_view *view, bool *any)
{
    struct order *order = &model->order[ORDER_REAL];
    const struct ptds_rec_CALL *call = &view->call->r;
    const struct vclock none = {0};
    const struct vclock *known = view->thread < order->hosts.count ? &order->hosts.items[view->thread].clock : &none;
    const struct vclock *event = order_event_clock(order, call->object, call->generation);
    struct vclock covered = {0};
    if (view->scope == WAIT_STREAM)
        order_cover_stream(order, view->target, &covered);
    else if (view->scope == WAIT_CONTEXT)
        order_cover_context(order, view->context, &covered);
    else if (view->scope == WAIT_EVENT && event != NULL)
        vclock_join(&covered, event);
    bool found = false;
    for (uint32_t slot = 0; slot < model->streams.count && !found; slot++) {
        uint64_t work = model->streams.items[slot].last_work, upto = vclock_get(&covered, slot);
        *any |= upto != 0 && work != 0;
        found = (work < upto ? work : upto) > vclock_get(known, slot);
    }
    vclock_free(&covered);
    return found;
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    bool any = false;
    if (view->waits.count != 0 || !view->completes || has_gaps(run->trace) || run->model->unplaced != 0)
        return;
    if (covers_new(run->model, view, &any) || !any || aftermath_watches(run->aftermath, view->call->thread, view->target))
        return;
    struct finding *finding = finding_at(&run->findings, run->rule, view, NOTHING_NEW);
    if (view->timed)
        finding_cost(finding, view->ns);
    else
        finding_cost_unknown(finding);
}

static void on_judged(struct rule_run *run, const struct judged *judged)
{
    if (judged->all != 1 || judged->stream[0].need != NOT_NEEDED || has_gaps(run->trace))
        return;
    struct finding *finding = finding_at(&run->findings, run->rule, judged->view, NOT_USED);
    finding_add_judged(finding, judged, NOT_NEEDED);
    finding_cost_of(finding, judged->view);
}

static const struct rule rule = {
    .id = "useless-sync",
    .class_ = "H6",
    .severity = SEVERITY_NOTE,
    .title = "a wait that changes nothing",
    .sentence =
        "The host waited for work that it had waited for before, or whose results nothing that the trace shows used "
        "before the next wait.",
    .advice = "Leave the wait out, unless it keeps the queue short or a host clock is read after it.",
    .details = details,
    .bad = "1@0 launch s=N1 k=a\n"
           "1@10+900 sync s=N1\n"
           "1@1000+3 sync s=N1\n",
    .good = "1@0+5 alloc ptr=0x10000 bytes=4096\n"
            "1@10+3 sync s=N1\n"
            "1@20 launch s=N1 k=a args=0x10000\n"
            "2@30+900 sync s=N1\n"
            "1@1000+3 sync s=N1\n"
            "1@2000 launch s=N1 k=a args=0x10000\n"
            "1@2010 copy s=N1 from=device to=pinned src=0x10000 ptr=0x7f0000000000 bytes=4096\n"
            "1@2020+900 sync s=N1\n"
            "1@3000 launch s=N1 k=a args=0x10000\n"
            "1@3010+900 sync s=N1\n"
            "1@4000+5 free ptr=0x10000\n"
            "1@4010 launch s=N1 k=a\n"
            "1@4020+900 sync s=N1\n",
    .ops = RULE_OP(PTDS_OP_STREAM_SYNC) | RULE_OP(PTDS_OP_EVENT_SYNC) | RULE_OP(PTDS_OP_CTX_SYNC),
    .on_call = on_call,
    .on_judged = on_judged,
};
PTDS_RULE(rule);
