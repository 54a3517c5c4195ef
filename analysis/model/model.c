/* SPDX-License-Identifier: Apache-2.0
 *
 * Feeds the calls to the orders and keeps what is pending. Called by the report builder and by tests, one call at a time in
 * merged order. A synchronisation tells something only from the moment it returned, so its knowledge waits in a heap until
 * a call is entered later than that. Ids are the trace's and untrusted: they are mapped to slots, never used as indices.
 */
#include "analysis/model/model.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void model_begin(struct model *model, const struct trace *trace)
{
    *model = (struct model){.trace = trace, .real = {.policy = ORDER_AS_RUN}};
    memset(model->alike, UINT8_MAX, sizeof model->alike);
    if (trace->flags & PTDS_CALL_SHIM_EDGE)
        model->entered = calloc(MODEL_ENTERED, sizeof *model->entered);
    model_cost_begin(model);
}

uint32_t model_replay(struct model *model, unsigned policy)
{
    if (!TABLE_ADD(&model->replays))
        return UINT32_MAX;
    TABLE_LAST(&model->replays)->order.policy = policy;
    return (uint32_t)model->replays.count - 1;
}

/* The slot of a stream, opened if this is its first use. */
static inline uint32_t use_slot(struct model *model, const struct ptds_rec_CALL *call, uint32_t uid)
{
    uint32_t slot;
    if (uid == 0)
        return MODEL_NO_SLOT;
    return id_map_get(&model->slot_by_uid, uid, &slot) ? slot : model_open_slot(model, call, uid);
}

/* `counts` is a number: nobody can guess it, least of all the processor. What stands beyond the count means nothing. */
static inline void add_pending(struct pending *pending, uint32_t slot, bool counts)
{
    if (pending->count < PENDING_KEPT)
        pending->slot[pending->count] = slot;
    pending->count += counts;
}

void model_pending(struct model *model, uint32_t context, unsigned roles, uint32_t except, struct pending *out)
{
    *out = (struct pending){0};
    if (context >= model->contexts.count)
        return;
    struct model_context *in = &model->contexts.items[context];
    for (size_t i = 0; i < in->busy.count;) {
        uint32_t slot = in->busy.items[i];
        struct model_stream *stream = &model->streams.items[slot];
        if (!model_is_pending(model, slot)) {
            stream->busy = false;
            in->busy.items[i] = in->busy.items[--in->busy.count];
            continue;
        }
        add_pending(out, slot, (slot != except) & ((ORDER_OF(order_role_of(stream->kind)) & roles) != 0));
        i++;
    }
}

/* Of the streams that may be busy, those which `clock` comes after. */
static void pending_behind(struct model *model, uint32_t context, const struct vclock *clock, struct pending *out)
{
    struct model_context *in = &model->contexts.items[context];
    *out = (struct pending){0};
    for (size_t i = 0; i < in->busy.count; i++) {
        uint32_t slot = in->busy.items[i];
        add_pending(out, slot, model_is_pending(model, slot) && vclock_get(clock, slot) > vclock_get(&model->done, slot));
    }
}

/* The slot that the call is on, or about, in one of the orders. */
static uint32_t slot_in(const struct model *model, const struct order *order, const struct call_view *view)
{
    if (order == &model->real)
        return view->target;
    return model_replay_slot(model, (uint32_t)((const struct replay *)order - model->replays.items), view);
}

void model_comes_after(const struct model *model, const struct order *order, const struct call_view *view,
                       struct vclock *out)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    uint32_t slot = slot_in(model, order, view);
    if (slot == MODEL_NO_SLOT)
        return;
    order_cover_stream(order, slot, ORDER_SUBMITS, out);
    order_cover_host(order, view->thread, out);
    if (call->op == PTDS_OP_EVENT_WAIT)
        order_cover_event(order, call->object, call->generation, out);
}

void model_cover(const struct model *model, const struct order *order, const struct call_view *view, struct vclock *out)
{
    uint32_t slot = slot_in(model, order, view);
    switch (view->scope) {
    case WAIT_STREAM:
        if (slot == MODEL_NO_SLOT)
            break;
        if (!view->submits || view->own_only) { /* no operation of its own, or one that need not be done */
            order_cover_stream(order, slot, ORDER_WAITS, out);
            break;
        }
        model_comes_after(model, order, view, out);
        vclock_raise(out, slot, view->number);
        break;
    case WAIT_CONTEXT: order_cover_context(order, view->context, out); break;
    case WAIT_EVENT: order_cover_event(order, view->call->r.object, view->call->r.generation, out); break;
    case WAIT_NONE: break;
    }
}

static RARE void find_waits(struct model *model, struct call_view *view)
{
    struct vclock covered = {0};
    if (view->scope == WAIT_CONTEXT) {
        model_pending(model, view->context, ORDER_OF_ALL, MODEL_NO_SLOT, &view->waits);
        return;
    }
    model_cover(model, &model->real, view, &covered);
    pending_behind(model, view->context, &covered, &view->waits);
    vclock_free(&covered);
}

/* Whose call it is, and where. */
static bool place_call(struct model *model, const struct call *call, struct call_view *view)
{
    return model_thread_position(model, call->thread, &view->thread) &&
           model_context_position(model, call->r.context, &view->context);
}

/* Every field but the slots of `waits`, of which there are none; in two pieces that need no loop. */
static inline void begin_view(const struct model *model, struct call_view *view, const struct call *call)
{
    memset(view, 0, offsetof(struct call_view, waits));
    memset(&view->timed, 0, sizeof *view - offsetof(struct call_view, timed));
    view->waits.count = 0;
    view->call = call;
    view->number = model->op;
}

static bool look_at_call(struct model *model, const struct call *call, struct call_view *view)
{
    begin_view(model, view, call);
    uint32_t target = call->r.target != 0 || (call->r.flags & PTDS_CALL_REMAPPED) ? call->r.target : call->r.stream;
    if (!place_call(model, call, view))
        return false;
    view->api = definitions_api(&model->trace->defs, call->r.api);
    view->asked = use_slot(model, &call->r, call->r.stream);
    bool same = target == call->r.stream && view->asked != MODEL_NO_SLOT;
    view->target = same ? view->asked : use_slot(model, &call->r, target);
    if (view->asked != MODEL_NO_SLOT)
        view->asked_kind = model->streams.items[view->asked].kind;
    if (view->target != MODEL_NO_SLOT) {
        view->target_kind = model->streams.items[view->target].kind;
        view->context = model->streams.items[view->target].context;
    }
    model_classify(view);
    if (view->scope != WAIT_NONE)
        find_waits(model, view);
    if (view->scope != WAIT_NONE || (call->r.flags & PTDS_CALL_TIMED))
        model_cost(model, view);
    return true;
}

/* Most calls are launches without a time, of which nothing but this is looked at. */
static inline bool may_be_alike(const struct ptds_rec_CALL *call)
{
    return call->op == PTDS_OP_LAUNCH && call->result == 0 && !(call->flags & PTDS_CALL_TIMED);
}

_Static_assert(offsetof(struct ptds_rec_CALL, flags) == offsetof(struct ptds_rec_CALL, api) + 4 &&
                   offsetof(struct ptds_rec_CALL, context) == offsetof(struct ptds_rec_CALL, op) + 4 &&
                   offsetof(struct ptds_rec_CALL, target) == offsetof(struct ptds_rec_CALL, stream) + 4,
               "eight bytes that are read as one");

static inline struct alike_key key_of(const struct call *call)
{
    struct alike_key key = {.thread = call->thread};
    const unsigned char *record = (const unsigned char *)&call->r;
    memcpy(&key.how, record + offsetof(struct ptds_rec_CALL, api), sizeof key.how);
    memcpy(&key.what_where, record + offsetof(struct ptds_rec_CALL, op), sizeof key.what_where);
    memcpy(&key.on_which, record + offsetof(struct ptds_rec_CALL, stream), sizeof key.on_which);
    return key;
}

static inline struct model_alike *alike_of(struct model *model, const struct alike_key *key)
{
    uint64_t mixed = (key->thread << 32 ^ key->on_which ^ key->how) * UINT64_C(0x9e3779b97f4a7c15);
    return &model->alike[mixed >> (64 - MODEL_ALIKE_BITS)];
}

static inline void view_alike(const struct model *model, struct call_view *view, const struct model_alike *alike,
                              const struct call *call)
{
    const struct call_view *from = &alike->view;
    memcpy(view, from, offsetof(struct call_view, waits));
    memcpy(&view->timed, &from->timed, sizeof *view - offsetof(struct call_view, timed));
    view->waits.count = 0;
    view->call = call;
    view->number = model->op;
}

/* A call of its own, or the first of those that will be like it. */
static ASIDE bool look_at_new(struct model *model, const struct call *call, struct call_view *view)
{
    if (!look_at_call(model, call, view))
        return false;
    if (!may_be_alike(&call->r) || !view->submits || view->scope != WAIT_NONE || view->asked == MODEL_NO_SLOT ||
        view->target == MODEL_NO_SLOT)
        return true;
    struct alike_key key = key_of(call);
    struct model_alike *alike = alike_of(model, &key);
    view->alike = ++model->alikes;
    alike->key = key;
    alike->view = *view;
    return true;
}

static inline bool look_at(struct model *model, const struct call *call, struct call_view *view)
{
    struct alike_key key = key_of(call);
    const struct model_alike *alike = alike_of(model, &key);
    if (((alike->key.thread ^ key.thread) | (alike->key.how ^ key.how) | (alike->key.what_where ^ key.what_where) |
         (alike->key.on_which ^ key.on_which)) != 0)
        return look_at_new(model, call, view);
    view_alike(model, view, alike, call);
    return true;
}

/* The number of the last call that was entered before a moment; of one too long ago, the oldest one known: rather too many
 * calls than too few. */
static uint64_t entered_before(const struct model *model, uint64_t ticks)
{
    uint64_t low = model->op > MODEL_ENTERED ? model->op - MODEL_ENTERED + 1 : 1, high = model->op;
    if (model->entered == NULL)
        return model->op;
    while (low < high) {
        uint64_t middle = (low + high + 1) / 2;
        if (model->entered[middle % MODEL_ENTERED] < ticks)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void join_edge(struct model *model, struct order *order, const struct call *call, const struct ptds_rec_EDGE *edge)
{
    uint32_t waits = use_slot(model, &call->r, edge->waits), behind = use_slot(model, &call->r, edge->behind);
    uint64_t upto = edge->until != 0 ? entered_before(model, edge->until) : model->op;
    if (waits == MODEL_NO_SLOT || behind == MODEL_NO_SLOT)
        return;
    order_wait_stream(order, waits, behind, upto);
}

/* What the shim made streams wait for, for the sake of this call: where the work really is, and nowhere else. */
static RARE void join_edges(struct model *model, struct order *order, const struct call *call)
{
    for (uint32_t i = 0; i < call->edges && i < CALL_EDGES; i++)
        join_edge(model, order, call, &call->edge[i]);
    if (call->edges > CALL_EDGES)
        order_doubt_all(order);
}

bool model_enter(struct model *model, const struct call *call, struct call_view *view)
{
    model->op++;
    if (model->entered != NULL)
        model->entered[model->op % MODEL_ENTERED] = call->r.enter;
    if (model->completions.count != 0)
        completions_until(&model->completions, call->r.enter, &model->done);
    for (size_t i = 0; i < model->replays.count; i++)
        completions_until(&model->replays.items[i].completions, call->r.enter, &model->replays.items[i].done);
    if (call->edges != 0) {
        join_edges(model, &model->real, call);
        for (size_t i = 0; i < model->replays.count; i++)
            if (model->replays.items[i].order.policy == ORDER_AS_RUN_EXPLICIT)
                join_edges(model, &model->replays.items[i].order, call);
    }
    bool known = look_at(model, call, view);
    if (known && model->holds.count != 0)
        hold_enter(model, view);
    return known;
}

static RARE void be_busy(struct model_context *context, struct model_stream *stream, uint32_t slot)
{
    if (!TABLE_ADD(&context->busy))
        return;
    *TABLE_LAST(&context->busy) = slot;
    stream->busy = true;
}

static INLINE void note_work(struct model *model, const struct call_view *view)
{
    struct model_stream *stream = &model->streams.items[view->target];
    struct model_context *context = &model->contexts.items[stream->context];
    model->works++;
    stream->last_work = view->number;
    stream->last_thread = view->call->thread;
    stream->last_stack = view->call->r.stack;
    stream->last_object = view->call->r.op == PTDS_OP_LAUNCH ? view->call->r.object : 0;
    context->legacy_work += stream->kind == PTDS_STREAM_LEGACY;
    if (!stream->busy)
        be_busy(context, stream, view->target);
}

static RARE void submit_event(struct order *order, uint32_t slot, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    if (call->op == PTDS_OP_EVENT_WAIT)
        order_wait(order, slot, call->object, call->generation);
    order_submit(order, slot, view->thread, view->number);
    if (call->op == PTDS_OP_EVENT_RECORD)
        order_record(order, call->object, call->generation, slot);
}

static inline void submit_to(struct order *order, uint32_t slot, const struct call_view *view)
{
    if (view->work)
        order_submit(order, slot, view->thread, view->number);
    else
        submit_event(order, slot, view);
}

static RARE void submit_to_replays(struct model *model, const struct call_view *view)
{
    for (uint32_t i = 0; i < model->replays.count; i++) {
        uint32_t slot = model_open_replay_slot(model, i, view);
        if (slot != MODEL_NO_SLOT)
            submit_to(&model->replays.items[i].order, slot, view);
    }
}

static INLINE void submit(struct model *model, const struct call_view *view)
{
    submit_to(&model->real, view->target, view);
    if (model->replays.count != 0)
        submit_to_replays(model, view);
    if (view->work)
        note_work(model, view);
}

static uint64_t returned_at(const struct ptds_rec_CALL *call)
{
    return (call->flags & PTDS_CALL_TIMED) && call->leave >= call->enter ? call->leave : call->enter;
}

static void learn_in(struct model *model, struct order *order, struct completions *completions,
                     const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    struct vclock covered = {0};
    if (view->scope == WAIT_EVENT && call->generation != 0 &&
        order_event_clock(order, call->object, call->generation) == NULL)
        order->unknown_generations++;
    model_cover(model, order, view, &covered);
    order_host_knows(order, view->thread, &covered);
    completions_add(completions, returned_at(call), &covered);
}

static RARE void learn(struct model *model, const struct call_view *view)
{
    learn_in(model, &model->real, &model->completions, view);
    for (uint32_t i = 0; i < model->replays.count; i++) {
        if (view->submits)
            model_open_replay_slot(model, i, view);
        learn_in(model, &model->replays.items[i].order, &model->replays.items[i].completions, view);
    }
}

/* A staged copy is as good as done when its call returns: nobody waits for it, so it is not pending. But no order says that
 * it has landed. */
static RARE void settle_own(struct model *model, const struct call_view *view)
{
    struct vclock own = {0};
    vclock_raise(&own, view->target, view->number);
    completions_add(&model->completions, returned_at(&view->call->r), &own);
}

static RARE void forget_event(struct model *model, uint32_t event)
{
    order_forget_event(&model->real, event);
    for (size_t i = 0; i < model->replays.count; i++)
        order_forget_event(&model->replays.items[i].order, event);
}

static ASIDE void leave_call(struct model *model, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    if (view->completes)
        learn(model, view);
    if (view->submits)
        submit(model, view);
    if (view->completes && view->own_only)
        settle_own(model, view);
    if (view->timed)
        hold_leave(model, view);
    if (call->op == PTDS_OP_EVENT_DESTROY && view->succeeded)
        forget_event(model, call->object);
}

void model_leave(struct model *model, const struct call_view *view)
{
    if (view->alike != 0)
        submit(model, view); /* it waits for nothing and is not timed */
    else
        leave_call(model, view);
}

void model_end(struct model *model)
{
    order_free(&model->real);
    for (size_t i = 0; i < model->replays.count; i++) {
        order_free(&model->replays.items[i].order);
        vclock_free(&model->replays.items[i].done);
        completions_free(&model->replays.items[i].completions);
    }
    free(model->replays.items);
    free(model->entered);
    for (size_t i = 0; i < model->contexts.count; i++)
        free(model->contexts.items[i].busy.items);
    completions_free(&model->completions);
    free(model->holds.kept);
    free(model->contexts.items);
    free(model->streams.items);
    free(model->threads.items);
    free(model->quick.items);
    free(model->idle.items);
    id_map_free(&model->slot_by_uid);
    id_map_free(&model->context_by_uid);
    id_map_free(&model->thread_by_uid);
    vclock_free(&model->done);
    *model = (struct model){0};
}
