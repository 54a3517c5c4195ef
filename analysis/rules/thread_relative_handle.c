/* SPDX-License-Identifier: Apache-2.0
 *
 * thread-relative-handle: 0x2 names another stream in every thread. A thread that waits for its own, on which it has
 * nothing, and then uses memory that another thread's per-thread stream is still busy with, has waited for the wrong one.
 * Run by the pass for submissions, waits and frees. Flags only where both name the same memory, the work is not known to be
 * done, nothing orders the two, and they do not both only read it: a warning and a "may", since neither shows whether the
 * wait was for the other's sake, nor what the threads tell each other without CUDA.
 */
#include <stdlib.h>

#include "analysis/findings/rule.h"
#include "analysis/base/heap.h"
#include "analysis/order/arguments/named_range.h"
#include "analysis/model/model_orders.h"

enum { TOUCHES = 16, WAITERS = 32 };

static const char *const details[] = {
    "waited for its own per-thread stream, which had no work, and not for another thread's"};

/* What was put on a per-thread stream last. */
struct recent {
    uint32_t uid, count, next;
    struct {
        struct named_range touch;
        uint64_t op;
    } kept[TOUCHES];
};

/* A thread that has waited for nothing. */
struct waiter {
    uint32_t thread; /* uid; 0 free */
    uint32_t context;
    struct ptds_rec_CALL call;
};

struct state {
    TABLE_OF(struct recent) streams; /* by slot */
    struct waiter *waiters;          /* WAITERS */
    uint32_t waiting;
};

static void remember(struct state *state, const struct rule_run *run, const struct call_view *view)
{
    struct named_range touch[NAMED_RANGE_MOST];
    bool all;
    struct recent *recent = TABLE_AT(&state->streams, view->target);
    if (recent == NULL)
        return;
    uint32_t uid = run->model->streams.items[view->target].uid;
    if (recent->uid != uid)
        *recent = (struct recent){.uid = uid};
    unsigned count = named_range_of(view->call, touch, &all);
    for (unsigned i = 0; i < count; i++) {
        recent->kept[recent->next].touch = touch[i];
        recent->kept[recent->next].op = view->number;
        recent->next = (recent->next + 1) % TOUCHES;
        recent->count += recent->count < TOUCHES;
    }
}

static struct waiter *waiter_of(struct state *state, uint32_t thread)
{
    for (uint32_t i = 0; i < state->waiting; i++)
        if (state->waiters[i].thread == thread)
            return &state->waiters[i];
    return NULL;
}

static void forget(struct state *state, struct waiter *waiter)
{
    if (waiter != NULL)
        *waiter = state->waiters[--state->waiting];
}

/* A wait that had something to wait for shows that the thread knows what it does; one for its own idle stream does not. */
static void waited(struct state *state, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    forget(state, waiter_of(state, view->call->thread));
    bool own = call->op == PTDS_OP_STREAM_SYNC || call->op == PTDS_OP_STREAM_QUERY;
    if (!own || view->asked_kind != PTDS_STREAM_PER_THREAD || view->asked != view->target || view->waits.count != 0)
        return;
    if (state->waiters == NULL)
        state->waiters = heap_zeroed(WAITERS, sizeof *state->waiters);
    if (state->waiters != NULL && state->waiting < WAITERS)
        state->waiters[state->waiting++] =
            (struct waiter){.thread = view->call->thread, .context = view->context, .call = *call};
}

/* The pending operation on another thread's per-thread stream that uses the same memory and that nothing orders before
 * this call; MODEL_NO_SLOT if there is none. */
static uint32_t conflict(const struct state *state, struct model *model, const struct call_view *view)
{
    struct named_range touch[NAMED_RANGE_MOST];
    bool all;
    unsigned count = named_range_of(view->call, touch, &all);
    uint32_t found = MODEL_NO_SLOT;
    struct vclock before = {0};
    model_orders_before(model, &model->real, view, &before);
    for (uint32_t slot = 0; found == MODEL_NO_SLOT && slot < state->streams.count && slot < model->streams.count; slot++) {
        const struct recent *recent = &state->streams.items[slot];
        if (slot == view->target || recent->uid != model->streams.items[slot].uid || !model_is_pending(model, slot))
            continue;
        for (uint32_t i = 0; i < recent->count * count; i++) {
            uint64_t op = recent->kept[i / count].op;
            bool ordered = op <= vclock_get(&model->done, slot) || op <= vclock_get(&before, slot);
            const struct named_range *first = &recent->kept[i / count].touch, *second = &touch[i % count];
            if (!ordered && !(first->reads && second->reads) && named_range_meets(*first, *second))
                found = slot;
        }
    }
    vclock_free(&before);
    return found;
}

static void flag(struct rule_run *run, const struct waiter *waiter, const struct call_view *view, uint32_t slot)
{
    const struct model_stream *stream = &run->model->streams.items[slot];
    struct call call = {.thread = waiter->thread, .r = waiter->call};
    struct call_view wait = {.call = &call};
    struct finding *finding = finding_at(&run->findings, run->rule, &wait, 0);
    finding_doubt(finding, DOUBT_MAY);
    finding_add(finding, FINDING_WAITS_FOR, stream->uid);
    finding_add(finding, FINDING_THREADS, stream->last_thread);
    if (stream->last_object != 0)
        finding_add(finding, FINDING_WAITS_FOR_KERNELS, stream->last_object);
    finding_most(finding, "after_ns", trace_ns(run->trace, view->call->r.enter - waiter->call.enter));
    finding_cost_unknown(finding);
}

static void look(struct rule_run *run, const struct call_view *view)
{
    struct state *state = run->state;
    if (!view->submits) {
        if (view->completes)
            waited(state, view);
        return;
    }
    if (state->waiting != 0 && !view->legacy) {
        struct waiter *waiter = waiter_of(state, view->call->thread);
        uint32_t slot =
            waiter != NULL && waiter->context == view->context ? conflict(state, run->model, view) : MODEL_NO_SLOT;
        if (slot != MODEL_NO_SLOT) {
            flag(run, waiter, view, slot);
            forget(state, waiter);
        }
    }
    if (view->work && view->asked_kind == PTDS_STREAM_PER_THREAD && view->target == view->asked)
        remember(state, run, view);
}

/* Awake while a thread has waited for nothing: any operation may then be the one that uses what it should have waited for.
 */
static void on_call(struct rule_run *run, const struct call_view *view)
{
    const struct state *state = run->state;
    look(run, view);
    run->awake = state->waiting != 0;
}

static void end(struct rule_run *run)
{
    struct state *state = run->state;
    free(state->streams.items);
    free(state->waiters);
}

static const struct rule rule = {
    .id = "thread-relative-handle",
    .class_ = "R7",
    .removed_by = REMOVED_NEVER,
    .severity = SEVERITY_WARNING,
    .title = "waited for the wrong thread's stream",
    .sentence = "CU_STREAM_PER_THREAD names another stream in each thread; stored by one thread and used by another, it is "
                "not the stream that the work is on.",
    .advice = "Hand an event or a stream of its own from thread to thread, never the handle 0x2.",
    .details = details,
    .bad = "1@0 launch s=P1 k=producer args=0x10000\n"
           "2@10+3 sync s=P2\n"
           "2@20+30 copy s=P2 from=device to=pinned src=0x10000 ptr=0x7f0000000000 bytes=64\n",
    .good = "1@0 launch s=P1 k=producer args=0x10000\n"
            "2@5 launch s=P2 k=other args=0x20000\n"
            "2@10+300 sync s=P2\n"
            "1@400+300 sync s=P1\n"
            "2@1000+30 copy s=P2 from=device to=pinned src=0x10000 ptr=0x7f0000000000 bytes=64\n"
            "2@1100+30 sync s=P2\n",
    .ops = RULE_SUBMITS | RULE_OP(PTDS_OP_STREAM_SYNC) | RULE_OP(PTDS_OP_STREAM_QUERY) | RULE_OP(PTDS_OP_EVENT_SYNC) |
           RULE_OP(PTDS_OP_CTX_SYNC),
    .state = sizeof(struct state),
    .cases = CASE_NO_WORK | CASE_PER_THREAD,
    .on_call = on_call,
    .end = end,
};
PTDS_RULE(rule);
