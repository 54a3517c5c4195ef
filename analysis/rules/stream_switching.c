/* SPDX-License-Identifier: Apache-2.0
 *
 * stream-switching: work that hops between streams by events, though the streams never run at the same time. Run by
 * the pass for every submission. Each wait is asked: had the event anything left to wait for, and was anything pending that
 * the waiting stream would not come after? Where nearly all waits leave no room for overlap, the events cost host and GPU
 * time and can gain none. No device times, so no cost: what it says is structure.
 */
#include "analysis/findings/rule.h"

enum { EMPTY, SERIAL, LEAST_WAITS = 100, LEAST_PER_1000 = 100, MOST_PERCENT_USEFUL = 10 };
enum { FEW_WAITS = 16, FEW_PER_1000 = 250, SHARE_PERCENT = 50 }; /* of fewer waits, where they are most of what is done */

static const char *const details[] = {"what the event stands for was known to be done before the wait",
                                      "after the wait the stream comes after everything pending: nothing can overlap"};

struct state {
    uint64_t waits, useful;
    uint64_t first_work, first, last; /* ticks: of the first event operation, the first wait and the last */
    bool any;                         /* there was one */
};

/* Everything pending, but for the waiting stream itself, comes before what follows the wait: by the event, or anyway. */
static bool leaves_no_overlap(struct model *model, const struct call_view *view, const struct vclock *event, bool *empty)
{
    struct pending pending;
    model_pending(model, view->context, ORDER_OF_ALL, view->target, &pending);
    *empty = true;
    bool serial = pending.count <= PENDING_KEPT;
    for (uint32_t i = 0; i < pending.count && i < PENDING_KEPT; i++) {
        uint32_t slot = pending.slot[i];
        uint64_t work = model->streams.items[slot].last_work;
        *empty &= vclock_get(event, slot) <= vclock_get(&model->done, slot);
        serial &= vclock_get(event, slot) >= work || order_before(&model->real, slot, work, view->target);
    }
    return serial;
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    struct state *state = run->state;
    const struct ptds_rec_CALL *call = &view->call->r;
    state->first_work = state->any ? state->first_work : call->enter;
    state->any = true;
    if (call->op != PTDS_OP_EVENT_WAIT || !view->submits)
        return;
    const struct vclock *event = order_event_clock(&run->model->real, call->object, call->generation);
    if (event == NULL)
        return; /* never recorded, or not in the trace: event-misuse, or not known */
    bool empty, serial = leaves_no_overlap(run->model, view, event, &empty);
    state->first = state->waits == 0 ? call->enter : state->first;
    state->last = call->enter;
    state->waits++;
    state->useful += !serial && !empty;
    if (serial || empty)
        finding_cost_unknown(finding_at(&run->findings, run->rule, view, empty ? EMPTY : SERIAL));
}

/* Whether the streams take turns for most of the time from the first event operation on: then a few waits are enough. */
static bool is_most_of_run(const struct rule_run *run, const struct state *state, uint64_t per_1000)
{
    uint64_t all = run->trace->last_ticks - state->first_work;
    return state->waits >= FEW_WAITS && per_1000 >= FEW_PER_1000 && state->useful == 0 &&
           run->trace->last_ticks > state->first_work && (state->last - state->first) / SHARE_PERCENT >= all / 100;
}

static void end(struct rule_run *run)
{
    const struct state *state = run->state;
    uint64_t works = run->model->works, per_1000 = works != 0 ? state->waits * 1000 / works : 0;
    bool often = state->waits >= LEAST_WAITS && per_1000 >= LEAST_PER_1000, most = is_most_of_run(run, state, per_1000);
    if ((!often && !most) || state->useful * 100 > state->waits * MOST_PERCENT_USEFUL) {
        finding_drop_all(&run->findings);
        return;
    }
    for (size_t i = 0; i < run->findings.list.count; i++) {
        finding_most(run->findings.list.items[i], "waits_per_1000", per_1000);
        if (most) /* its cost is not known, but it is the run's own */
            finding_severity(run->findings.list.items[i], SEVERITY_WARNING);
    }
}

#define TEN(x) x x x x x x x x x x
#define HOP \
    "1@10 launch s=N1 k=a\n1@10 record s=N1 e=A\n1@10 wait s=N2 e=A\n1@10 launch s=N2 k=b\n" \
    "1@10 record s=N2 e=B\n1@10 wait s=N1 e=B\n"
#define PIPELINE \
    "1@10 launch s=N1 k=a\n1@10 launch s=N3 k=c\n1@10 record s=N1 e=A\n1@10 wait s=N2 e=A\n1@10 launch s=N2 k=b\n"

static const struct rule rule = {
    .id = "stream-switching",
    .class_ = "H16",
    .removed_by = REMOVED_NEVER,
    .severity = SEVERITY_NOTE,
    .at_call = true,
    .title = "streams take turns by events and never overlap",
    .sentence = "Each change of streams costs an event record and a wait; where the streams run strictly one after the "
                "other, one stream would do the same without.",
    .advice = "Put the chain on one stream, or issue independent work to the other streams before they are made to wait.",
    .details = details,
    .bad = TEN(TEN(HOP)),
    .good = TEN(TEN(PIPELINE)),
    .ops = RULE_SUBMITS,
    .state = sizeof(struct state),
    .cases = CASE_NO_WORK,
    .on_call = on_call,
    .end = end,
};
PTDS_RULE(rule);
