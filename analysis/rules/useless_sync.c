/* SPDX-License-Identifier: Apache-2.0
 *
 * useless-sync: an explicit wait that looks unneeded: the thread had waited for all of it before, or the results were used
 * by nothing before the stream was waited for again (aftermath.h). Run by the pass for explicit waits and for copies. A
 * trace with gaps may lack the work that was waited for, so there nothing is said. Nor of a wait that took long though
 * nothing that the trace shows was left (it did wait, for what a policy or the driver put there), of one before a time
 * between events is read, of one behind a copy of pageable memory, and of one at the end of a batch or outside of a loop:
 * the host may read its clock there, which no trace shows. The cost is what leaving the wait out would save (saving.h),
 * without the host's work right behind the wait, which may be what it is for: it is unknown where that work is most of it,
 * and where nothing else is left, there is no finding.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"

#include "analysis/findings/rule.h"
#include "analysis/model/model_orders.h"

enum { NOTHING_NEW, NOT_USED };
enum { WAITERS = 32, LONG_NS = 20000, LEAST_TIMES = 8 };
#define HOST_BEHIND "host_behind_ns"

static const char *const details[] = {
    "nothing new: the thread had already waited for all of it",
    "nothing used the results before the stream was waited for again",
};

/* What the call covers, and what of it is work that its thread has not waited for. *any: it covers work at all. */
static bool covers_new(struct model *model, const struct call_view *view, bool *any)
{
    struct vclock covered = {0}, known = {0};
    bool found = false;
    model_orders_cover(model, &model->real, view, &covered);
    order_cover_host(&model->real, view->thread, &known);
    for (uint32_t slot = 0; slot < model->streams.count && !found; slot++) {
        uint64_t work = model->streams.items[slot].last_work, upto = vclock_get(&covered, slot);
        *any |= upto != 0 && work != 0;
        found = (work < upto ? work : upto) > vclock_get(&known, slot);
    }
    vclock_free(&covered);
    vclock_free(&known);
    return found;
}

/* A wait that had nothing new, held back until its thread's next wait: a time that is read then relies on it. */
struct waiter {
    bool timed;
    uint64_t ns;
    struct call call;
};

struct state {
    struct waiter *waiters; /* WAITERS */
    uint32_t waiting;
    TABLE_OF(uint32_t) staged; /* by thread: the stream (uid) of its last copy that the driver may stage, 0 none */
};

static void flag(struct rule_run *run, const struct waiter *waiter)
{
    struct call_view view = {.call = &waiter->call};
    struct finding *finding = finding_at(&run->findings, run->rule, &view, NOTHING_NEW);
    if (waiter->timed)
        finding_cost(finding, waiter->ns);
    else
        finding_cost_unknown(finding);
}

static void hold_back(struct state *state, const struct call_view *view)
{
    if (state->waiters == NULL)
        state->waiters = heap_zeroed(WAITERS, sizeof *state->waiters);
    if (state->waiters == NULL || state->waiting == WAITERS)
        return;
    struct waiter *waiter = &state->waiters[state->waiting++];
    *waiter = (struct waiter){.call = *view->call, .timed = view->timed, .ns = view->ns};
    waiter->call.words = 0;
}

/* What the thread's next wait says of the one that is held back. */
static void settle(struct rule_run *run, struct state *state, const struct call_view *view)
{
    for (uint32_t i = 0; i < state->waiting; i++) {
        if (state->waiters[i].call.thread != view->call->thread)
            continue;
        if (view->call->r.op != PTDS_OP_EVENT_ELAPSED)
            flag(run, &state->waiters[i]);
        state->waiters[i--] = state->waiters[--state->waiting];
    }
}

static bool had_nothing(struct rule_run *run, const struct call_view *view)
{
    bool any = false;
    if (view->waits.count != 0 || !view->completes || view->held_by != NULL || (view->timed && view->ns > LONG_NS))
        return false;
    if (startup_has(run->startup, view->call) || view->call->edges != 0 || trace_has_gaps(run->trace) ||
        run->model->unplaced != 0)
        return false;
    return !covers_new(run->model, view, &any) && any &&
           !aftermath_watches(run->aftermath, view->call->thread, view->target);
}

static uint32_t stream_of(const struct call_view *view)
{
    return view->call->r.target != 0 ? view->call->r.target : view->call->r.stream;
}

/* An asynchronous copy of pageable memory is followed by a wait because it is asynchronous by its name: that the driver
 * returns only when it is done is no promise to rely on. */
static bool is_staged(const struct call_view *view)
{
    unsigned to = view->call->r.kinds & 15, from = view->call->r.kinds >> 4;
    return (to == PTDS_MEMORY_PAGEABLE || from == PTDS_MEMORY_PAGEABLE) && !(view->call->r.flags & PTDS_CALL_IMPLICIT);
}

static void note_copy(struct state *state, const struct call_view *view)
{
    uint32_t *staged = TABLE_AT(&state->staged, view->thread);
    if (staged != NULL)
        *staged = is_staged(view) ? stream_of(view) : *staged;
}

/* Whether the wait is for such a copy; the next one is not. */
static bool is_behind_copy(struct state *state, const struct call_view *view)
{
    uint32_t *staged = view->thread < state->staged.count ? &state->staged.items[view->thread] : NULL;
    if (staged == NULL || *staged == 0)
        return false;
    bool behind = view->call->r.op != PTDS_OP_STREAM_SYNC || *staged == stream_of(view);
    *staged = behind ? 0 : *staged;
    return behind;
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    struct state *state = run->state;
    if (view->call->r.op == PTDS_OP_COPY) {
        note_copy(state, view);
        return;
    }
    if (view->call->r.op != PTDS_OP_EVENT_ELAPSED && is_behind_copy(state, view))
        return;
    if (state->waiting != 0)
        settle(run, state, view);
    if (view->call->r.op != PTDS_OP_EVENT_ELAPSED && had_nothing(run, view))
        hold_back(state, view);
}

static void on_judged(struct rule_run *run, const struct judged *judged)
{
    if (judged->all != 1 || judged->stream[0].need != NOT_NEEDED || trace_has_gaps(run->trace))
        return;
    if (judged->batch || judged->apart_ns == 0 || startup_has(run->startup, judged->view->call))
        return;
    struct finding *finding = finding_at(&run->findings, run->rule, judged->view, NOT_USED);
    finding_add_judged(finding, judged, NOT_NEEDED);
    finding_cost(finding, judged->apart_ns);
    finding_count(finding, HOST_BEHIND, judged->saved_ns - judged->apart_ns);
}

/* Where the host's work right behind the waits is most of what they save, nobody knows what they save. */
static void doubt_cost(struct finding *finding)
{
    for (uint32_t i = 0; i < FINDING_NUMBERS && finding->numbers[i].key != NULL; i++) {
        if (strcmp(finding->numbers[i].key, HOST_BEHIND) != 0 || finding->numbers[i].value <= finding->host_ns)
            continue;
        finding->unknown += finding->known;
        finding->known = finding->host_ns = 0;
    }
}

/* A wait that comes a few times may end what a clock measures. */
static bool is_loop(const struct finding *finding)
{
    return finding->detail == NOTHING_NEW || finding->count >= LEAST_TIMES;
}

static void end(struct rule_run *run)
{
    struct state *state = run->state;
    for (uint32_t i = 0; i < state->waiting; i++)
        flag(run, &state->waiters[i]);
    free(state->waiters);
    free(state->staged.items);
    finding_keep_only(&run->findings, is_loop);
    for (size_t i = 0; i < run->findings.list.count; i++)
        doubt_cost(run->findings.list.items[i]);
}

static const struct rule rule = {
    .id = "useless-sync",
    .class_ = "H6",
    .removed_by = REMOVED_WITH_PART,
    .severity = SEVERITY_NOTE,
    .at_call = true,
    .title = "a wait that looks unneeded",
    .sentence =
        "The host waited for work that it had waited for before, or whose results nothing that the trace shows used "
        "before the next wait.",
    .advice = "Leave the wait out, unless a host clock is read near it or it keeps the queue short.",
    .state = sizeof(struct state),
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
    .ops = RULE_OP(PTDS_OP_STREAM_SYNC) | RULE_OP(PTDS_OP_EVENT_SYNC) | RULE_OP(PTDS_OP_CTX_SYNC) |
           RULE_OP(PTDS_OP_EVENT_ELAPSED) | RULE_OP(PTDS_OP_COPY),
    .on_call = on_call,
    .on_judged = on_judged,
    .end = end,
};
PTDS_RULE(rule);
