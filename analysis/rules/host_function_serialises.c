/* SPDX-License-Identifier: Apache-2.0
 *
 * host-function-serialises: what a host function (cuLaunchHostFunc, cuStreamAddCallback) keeps waiting: the later work of
 * its own stream, and host functions of other streams, which the driver runs on the same thread. Run by the pass for every
 * submission. Where the trace says when host functions ran, short ones are no finding and others are said to have waited
 * only if they did; without that it is structure. What the GPU lost is not known either way.
 */
#include <stdlib.h>

#include "analysis/base/heap.h"
#include "analysis/base/id_map.h"

#include "analysis/findings/rule.h"
#include "analysis/trace/records.h"

enum { BEHIND, ONE_THREAD };
enum { SHORT_NS = 50000, MOST_RUNS = 1 << 20, MOST_WAITING = 64 };

static const char *const details[] = {
    "later work of its stream waits behind it",
    "host functions of other streams wait behind it: the driver runs them one after the other",
};

struct run {
    uint64_t begin, end, enter;
    uint32_t thread, tid;
};

/* A host function that may not have ended, with what is needed to name its call. */
struct waiting {
    uint32_t slot, uid;
    uint64_t op;
    bool ran, behind; /* ran: `run` is known; behind: already said */
    struct run run;
    struct finding *one_thread;
    uint32_t thread;
    struct ptds_rec_CALL *call; /* a copy, owned */
};

struct state {
    bool loaded;
    TABLE_OF(struct run) runs;
    struct id_map by_call;
    struct waiting waiting[MOST_WAITING];
    uint32_t count;
};

static uint64_t key_of(uint64_t enter, uint32_t thread)
{
    return (enter * 0x9e3779b97f4a7c15u ^ thread) & (UINT64_MAX >> 1);
}

static void take_run(void *data, uint32_t chunk_thread, uint16_t kind, const void *fixed)
{
    const struct ptds_rec_HOST_RUN *record = fixed;
    struct state *state = data;
    (void)chunk_thread;
    (void)kind;
    if (record->end < record->begin || state->runs.count >= MOST_RUNS || !TABLE_ADD(&state->runs))
        return;
    *TABLE_LAST(&state->runs) = (struct run){record->begin, record->end, record->enter, record->thread, record->tid};
    id_map_put(&state->by_call, key_of(record->enter, record->thread), (uint32_t)state->runs.count - 1);
}

static const struct run *run_of(struct state *state, const struct rule_run *rule_run, const struct call_view *view)
{
    uint32_t at;
    if (!state->loaded)
        records_each(rule_run->trace, 1u << PTDS_REC_HOST_RUN, take_run, state);
    state->loaded = true;
    if (!id_map_get(&state->by_call, key_of(view->call->r.enter, view->call->thread), &at))
        return NULL;
    const struct run *run = &state->runs.items[at];
    return run->enter == view->call->r.enter && run->thread == view->call->thread ? run : NULL;
}

/* Known to be done, by a synchronisation or by the record of when it ran; or its stream is gone. */
static void drop_done(struct state *state, const struct model *model, uint64_t now)
{
    for (uint32_t i = 0; i < state->count;) {
        struct waiting *one = &state->waiting[i];
        bool ended = one->ran && now >= one->run.end;
        if (!ended && one->op > vclock_get(&model->done, one->slot) && one->uid == model->streams.items[one->slot].uid) {
            i++;
            continue;
        }
        free(one->call);
        *one = state->waiting[--state->count];
    }
}

static struct finding *finding_of(struct rule_run *run, const struct waiting *one, uint32_t detail)
{
    struct call call = {.thread = one->thread, .r = *one->call};
    struct call_view view = {.call = &call};
    struct finding *finding = finding_at(&run->findings, run->rule, &view, detail);
    if (one->ran)
        finding_most(finding, "longest_run_ns", trace_ns(run->trace, one->run.end - one->run.begin));
    else
        finding_count(finding, "not_seen_to_run", 1);
    finding_cost_unknown(finding);
    return finding;
}

/* Whether a host function had to wait for another one: seen, or, where the trace does not say when they ran, assumed of
 * two that may have been pending at the same time. */
static bool waited_for(const struct waiting *one, const struct run *run)
{
    if (!one->ran || run == NULL)
        return true;
    return run->tid == one->run.tid && run->begin >= one->run.end && run->enter < one->run.end;
}

static void other_streams(struct rule_run *rule_run, struct state *state, const struct call_view *view,
                          const struct run *run)
{
    for (uint32_t i = 0; i < state->count; i++) {
        struct waiting *one = &state->waiting[i];
        if (one->slot == view->target || !waited_for(one, run))
            continue;
        if (one->one_thread == NULL)
            one->one_thread = finding_of(rule_run, one, ONE_THREAD);
        finding_add(one->one_thread, FINDING_HELD, view->call->thread);
        finding_add(one->one_thread, FINDING_STREAMS, rule_run->model->streams.items[view->target].uid);
        finding_count(one->one_thread, "held_host_functions", 1);
    }
}

static void own_stream(struct rule_run *run, struct state *state, const struct call_view *view)
{
    for (uint32_t i = 0; i < state->count; i++) {
        struct waiting *one = &state->waiting[i];
        if (one->slot == view->target && !one->behind) {
            one->behind = true;
            finding_of(run, one, BEHIND);
        }
    }
}

static void add(struct state *state, const struct rule_run *rule_run, const struct call_view *view, const struct run *run)
{
    bool is_short = run != NULL && trace_ns(rule_run->trace, run->end - run->begin) < SHORT_NS;
    struct ptds_rec_CALL *copy = is_short || state->count == MOST_WAITING ? NULL : heap_bytes(sizeof *copy);
    if (copy == NULL)
        return;
    *copy = view->call->r;
    state->waiting[state->count++] = (struct waiting){.slot = view->target,
                                                      .uid = rule_run->model->streams.items[view->target].uid,
                                                      .op = view->number,
                                                      .ran = run != NULL,
                                                      .run = run != NULL ? *run : (struct run){0},
                                                      .thread = view->call->thread,
                                                      .call = copy};
}

static void on_call(struct rule_run *rule_run, const struct call_view *view)
{
    struct state *state = rule_run->state;
    bool host_function = view->call->r.op == PTDS_OP_HOST_FUNCTION;
    if (!view->work || (state->count == 0 && !host_function))
        return;
    drop_done(state, rule_run->model, view->call->r.enter);
    own_stream(rule_run, state, view);
    rule_run->awake = state->count != 0;
    if (!host_function)
        return;
    const struct run *run = run_of(state, rule_run, view);
    other_streams(rule_run, state, view, run);
    add(state, rule_run, view, run);
    rule_run->awake = state->count != 0;
}

static void end(struct rule_run *run)
{
    struct state *state = run->state;
    for (uint32_t i = 0; i < state->count; i++)
        free(state->waiting[i].call);
    free(state->runs.items);
    id_map_free(&state->by_call);
}

static const struct rule rule = {
    .id = "host-function-serialises",
    .class_ = "H10",
    .removed_by = REMOVED_WITH_LEGACY,
    .severity = SEVERITY_NOTE,
    .at_call = true,
    .title = "GPU work waits for a host function",
    .sentence = "A stream goes on only when its host function has returned, and the driver runs host functions of all "
                "streams on one thread.",
    .advice = "Keep host functions short: let them signal a thread of your own; or use cuStreamWaitValue64, which holds no "
              "other stream up.",
    .details = details,
    .bad = "1@0 host-function s=N1\n"
           "1@10 launch s=N1 k=after\n"
           "1@20 host-function s=N2\n"
           "host-run 1@0 5+3000 s=N1\n"
           "host-run 1@20 3010+2 s=N2\n",
    .good = "1@0 host-function s=N1\n"
            "1@10 launch s=N1 k=after\n"
            "1@20 host-function s=N2\n"
            "host-run 1@0 5+20 s=N1\n"
            "host-run 1@20 30+4000 s=N2\n"
            "1@5000 launch s=N2 k=after\n"
            "1@6000+900 sync s=N1\n"
            "1@7000+900 sync s=N2\n"
            "1@9000 host-function s=N1\n",
    .ops = RULE_SUBMITS,
    .state = sizeof(struct state),
    .cases = CASE_HOST_FUNCTION,
    .on_call = on_call,
    .end = end,
};
PTDS_RULE(rule);
