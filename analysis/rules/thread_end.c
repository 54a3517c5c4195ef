/* SPDX-License-Identifier: Apache-2.0
 *
 * thread-end: a thread ended with work pending on its per-thread stream, on which it had allocated or freed stream-ordered
 * memory. Measured: the process's next wait for the whole context never returns. Run by report/pass/pass_over_calls.c for
 * those allocations and frees, and from then on for every call until the thread is gone.
 */
#include <stdlib.h>

#include "analysis/findings/rule.h"

/* A per-thread stream with stream-ordered memory; the thread's last such call. */
struct user {
    uint64_t ended; /* ticks: its thread */
    uint32_t slot, uid, thread;
    struct ptds_rec_CALL call;
};

struct state {
    TABLE_OF(struct user) users;
    uint64_t next; /* the first of them to go */
};

static uint64_t gone_at(const struct rule_run *run, uint32_t thread)
{
    const struct definitions *defs = &run->trace->defs;
    const struct thread_def *def = definitions_thread(defs, thread);
    uint64_t gone = def != NULL ? def->ended : UINT64_MAX;
    for (size_t i = 0; i < defs->processes.count; i++)
        if (defs->processes.items[i].what == PTDS_PROCESS_EXIT && defs->processes.items[i].ticks <= gone)
            return UINT64_MAX; /* with the process */
    return gone;
}

static void use(struct rule_run *run, const struct call_view *view)
{
    struct state *state = run->state;
    uint32_t uid = run->model->streams.items[view->target].uid;
    size_t at = 0;
    while (at < state->users.count && state->users.items[at].uid != uid)
        at++;
    uint64_t gone = gone_at(run, view->call->thread);
    if (gone == UINT64_MAX || (at == state->users.count && !TABLE_ADD(&state->users)))
        return;
    state->users.items[at] = (struct user){gone, view->target, uid, view->call->thread, view->call->r};
    state->next = state->next == 0 || gone < state->next ? gone : state->next;
}

static void flag(struct rule_run *run, const struct user *user)
{
    struct call call = {.thread = user->thread, .r = user->call};
    struct call_view view = {.call = &call};
    struct finding *finding = finding_at(&run->findings, run->rule, &view, 0);
    finding_add(finding, FINDING_THREADS, user->thread);
    finding_add(finding, FINDING_WAITS_FOR, user->uid);
    finding_cost_unknown(finding);
}

/* Work on the stream, or what an event that it waits for stands for. */
static bool is_pending(const struct model *model, uint32_t slot)
{
    const struct vclock *clock = &model->real.streams.items[slot].clock;
    bool pending = model_is_pending(model, slot);
    for (uint32_t i = 0; i < clock->room && !pending; i++)
        pending = clock->at[i] > vclock_get(&model->done, i) && model_is_pending(model, i);
    return pending;
}

/* Those that are gone by now. */
static void look(struct rule_run *run, uint64_t now)
{
    struct state *state = run->state;
    const struct model *model = run->model;
    state->next = 0;
    for (size_t i = 0; i < state->users.count;) {
        const struct user *user = &state->users.items[i];
        if (user->ended > now) {
            state->next = state->next == 0 || user->ended < state->next ? user->ended : state->next;
            i++;
            continue;
        }
        bool there = user->slot < model->streams.count && model->streams.items[user->slot].uid == user->uid;
        if (there && is_pending(model, user->slot))
            flag(run, user);
        state->users.items[i] = *TABLE_LAST(&state->users);
        state->users.count--;
    }
}

static void on_call(struct rule_run *run, const struct call_view *view)
{
    struct state *state = run->state;
    bool pool = view->call->r.op == PTDS_OP_ALLOC_ASYNC || view->call->r.op == PTDS_OP_FREE_ASYNC;
    if (state->next != 0 && state->next <= view->call->r.enter)
        look(run, view->call->r.enter);
    if (pool && view->work && view->target_kind == PTDS_STREAM_PER_THREAD)
        use(run, view);
    run->awake = state->next != 0;
}

static void end(struct rule_run *run)
{
    struct state *state = run->state;
    look(run, UINT64_MAX - 1);
    free(state->users.items);
}

static const struct rule rule = {
    .id = "thread-end",
    .class_ = "H14",
    .removed_by = REMOVED_WITH_REMAP,
    .severity = SEVERITY_WARNING,
    .title = "a thread ended with stream-ordered memory pending on its per-thread stream",
    .sentence =
        "The driver destroys the thread's own stream with it; with allocations or frees pending there, the next wait "
        "for the whole context may never return.",
    .advice =
        "Wait for the stream before the thread ends, or use a stream of your own for cuMemAllocAsync and cuMemFreeAsync.",
    .bad = "2@10 alloc-async s=P2 ptr=0x10000 bytes=64\n"
           "2@20 launch s=P2 k=a\n"
           "thread-end 2@30\n"
           "1@40 none\n",
    .good = "2@10 alloc-async s=P2 ptr=0x10000 bytes=64\n"
            "2@20 launch s=P2 k=a\n"
            "2@30+9 sync s=P2\n"
            "thread-end 2@50\n"
            "3@60 alloc-async s=B1 ptr=0x20000 bytes=64\n"
            "thread-end 3@70\n"
            "1@90 none\n",
    .state = sizeof(struct state),
    .ops = RULE_ALL,
    .cases = CASE_POOL,
    .on_call = on_call,
    .end = end,
};
PTDS_RULE(rule);
