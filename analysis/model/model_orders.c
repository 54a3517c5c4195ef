/* SPDX-License-Identifier: Apache-2.0
 *
 * What calls mean to the orders: edges of the shim, what a wait has covered when it returns, the same calls under another
 * policy. Called by model.c for calls that do more than submit, and by files that ask what a call comes after. What streams
 * do to each other by implicit order is not said here but in implicit_order.h.
 */
#include "analysis/model/model_orders.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"
#include "analysis/base/hints.h"
#include "analysis/base/id_map.h"
#include "analysis/model/model_slots.h"

uint32_t model_orders_replay(struct model *model, unsigned policy)
{
    if (!TABLE_ADD(&model->replays))
        return UINT32_MAX;
    struct replay *replay = TABLE_LAST(&model->replays);
    replay->order.policy = policy;
    replay->order.places = &model->events;
    replay->as_run = policy == ORDER_AS_RUN_EXPLICIT;
    return (uint32_t)model->replays.count - 1;
}

/* The uid of the thread's per-thread stream; 0: the trace has none. */
static uint32_t per_thread_stream(const struct model *model, const struct call_view *view)
{
    for (size_t i = 0; i < model->trace->defs.streams.count; i++) {
        const struct stream_def *def = &model->trace->defs.streams.items[i];
        if (def->kind == PTDS_STREAM_PER_THREAD && def->thread == view->call->thread &&
            def->context == model->contexts.items[view->context].uid)
            return def->uid;
    }
    return 0;
}

/* The stream that the call names, or where it names none the one that it was sent to. */
static uint32_t named_slot(const struct call_view *view)
{
    return view->asked != MODEL_NO_SLOT ? view->asked : view->target;
}

struct order_call model_orders_call_of(const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    return (struct order_call){
        .act = view->submits ? ORDER_SUBMITS : ORDER_WAITS,
        .named = implicit_order_role(view->asked != MODEL_NO_SLOT ? view->asked_kind : view->target_kind),
        .sent = implicit_order_role(view->target_kind),
        .explicitly = (call->flags & PTDS_CALL_EXPLICIT) != 0,
        .stays = (call->flags & PTDS_CALL_KEPT) != 0,
    };
}

static struct ordered ordered_under(unsigned policy, const struct call_view *view)
{
    struct order_call of = model_orders_call_of(view);
    return implicit_order_under(policy, &of);
}

/* A stream that only this policy has: beside the uid of the one that it stands for, whose it is. */
static uint64_t key_at(const struct model *model, enum order_place place, const struct call_view *view)
{
    uint64_t named = model->streams.items[named_slot(view)].uid, own = named | ((uint64_t)view->thread + 1) << 32;
    uint32_t per_thread = place == ORDER_AT_PER_THREAD ? per_thread_stream(model, view) : 0;
    switch (place) {
    case ORDER_AT_NAMED: return named;
    case ORDER_AT_SENT: return view->target != MODEL_NO_SLOT ? model->streams.items[view->target].uid : named;
    case ORDER_AT_PER_THREAD: return per_thread != 0 ? per_thread : own;
    case ORDER_AT_OWN: return own;
    case ORDER_AT_SHARED: return named | (uint64_t)UINT32_MAX << 32;
    }
    return named;
}

/* A stream's slot is the same under all policies, but it need not be used under all. */
static bool is_open(const struct order *order, uint32_t slot)
{
    return slot < order->streams.count && order->streams.items[slot].open;
}

uint32_t model_orders_replay_slot(const struct model *model, uint32_t replay, const struct call_view *view)
{
    const struct order *order = &model->replays.items[replay].order;
    uint32_t slot;
    if (named_slot(view) == MODEL_NO_SLOT)
        return MODEL_NO_SLOT;
    uint64_t key = key_at(model, ordered_under(order->policy, view).place, view);
    return id_map_get(&model->slot_by_uid, key, &slot) && is_open(order, slot) ? slot : MODEL_NO_SLOT;
}

uint32_t model_orders_open_slot(struct model *model, uint32_t replay, const struct call_view *view)
{
    struct order *order = &model->replays.items[replay].order;
    uint32_t slot = model_orders_replay_slot(model, replay, view);
    if (slot != MODEL_NO_SLOT || named_slot(view) == MODEL_NO_SLOT)
        return slot;
    const struct model_stream *named = &model->streams.items[named_slot(view)];
    struct ordered ordered = ordered_under(order->policy, view);
    uint64_t key = key_at(model, ordered.place, view);
    if (id_map_get(&model->slot_by_uid, key, &slot))
        return order_open(order, slot, named->context, ordered.role) ? slot : MODEL_NO_SLOT;
    if (key <= UINT32_MAX)
        return model_slots_open(model, &view->call->r, (uint32_t)key);
    struct model_stream stream = {.key = key, .uid = named->uid, .context = named->context, .ended = UINT64_MAX};
    return model_slots_open_in(model, &stream, order, ordered.role, view->call->r.enter);
}

/* The slot that the call is on, or about, in one of the orders. */
static uint32_t slot_in(const struct model *model, const struct order *order, const struct call_view *view)
{
    if (order == &model->real)
        return view->target;
    return model_orders_replay_slot(model, (uint32_t)((const struct replay *)order - model->replays.items), view);
}

void model_orders_before(const struct model *model, const struct order *order, const struct call_view *view,
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

/* Whether the call returns before its own operation is done: as a twin, which another policy may make of it. */
static bool is_own_only(const struct order *order, const struct call_view *view)
{
    return view->own_only || (view->staged && ordered_under(order->policy, view).place == ORDER_AT_PER_THREAD);
}

void model_orders_cover(const struct model *model, const struct order *order, const struct call_view *view,
                        struct vclock *out)
{
    uint32_t slot = slot_in(model, order, view);
    switch (view->scope) {
    case WAIT_STREAM:
        if (slot == MODEL_NO_SLOT)
            break;
        if (!view->submits || is_own_only(order, view)) { /* no operation of its own, or one that need not be done */
            order_cover_stream(order, slot, ORDER_WAITS, out);
            break;
        }
        model_orders_before(model, order, view, out);
        vclock_raise(out, slot, view->number);
        break;
    case WAIT_CONTEXT: order_cover_context(order, view->context, out); break;
    case WAIT_EVENT: order_cover_event(order, view->call->r.object, view->call->r.generation, out); break;
    case WAIT_NONE: break;
    }
}

bool model_orders_wait_unasked(const struct call_view *view)
{
    struct order_call call = {.act = ORDER_WAITS, .sent = implicit_order_role(view->target_kind)};
    return view->scope == WAIT_CONTEXT ||
           (view->scope == WAIT_STREAM && implicit_order_under(ORDER_AS_RUN, &call).after != 0);
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
    uint32_t waits = model_slots_use(model, &call->r, edge->waits), behind = model_slots_use(model, &call->r, edge->behind);
    uint64_t upto = edge->until != 0 ? entered_before(model, edge->until) : model->op;
    if (waits == MODEL_NO_SLOT || behind == MODEL_NO_SLOT)
        return;
    order_wait_stream(order, waits, behind, upto);
}

/* What the shim made streams wait for, for the sake of this call: where the work really is, and nowhere else. What policy
 * strict added is left out: the program has no such order, which is what the report is about. */
static void join_edges(struct model *model, struct order *order, const struct call *call)
{
    for (uint32_t i = 0; i < call->edges && i < CALL_EDGES; i++)
        if (call->edge[i].why != PTDS_EDGE_UNPROMISED)
            join_edge(model, order, call, &call->edge[i]);
    if (call->edges > CALL_EDGES)
        order_doubt_all(order);
}

void model_orders_enter(struct model *model, const struct call *call)
{
    if (model->entered != NULL)
        model->entered[model->op % MODEL_ENTERED] = call->r.enter;
    if (call->edges != 0)
        join_edges(model, &model->real, call);
    for (size_t i = 0; call->edges != 0 && i < model->replays.count; i++)
        if (model->replays.items[i].as_run)
            join_edges(model, &model->replays.items[i].order, call);
}

const struct vclock *model_orders_covered(struct model *model, const struct call_view *view)
{
    if (model->covered_by == view->number)
        return &model->covered;
    vclock_clear(&model->covered);
    model_orders_cover(model, &model->real, view, &model->covered);
    model->covered_by = view->number;
    return &model->covered;
}

/* Of the run itself it may have been worked out already. */
static struct vclock take_covered(struct model *model, const struct order *order, const struct call_view *view)
{
    struct vclock covered = {0};
    if (order == &model->real && model->covered_by == view->number) {
        covered = model->covered;
        model->covered = (struct vclock){0};
        model->covered_by = 0;
    } else {
        model_orders_cover(model, order, view, &covered);
    }
    return covered;
}

/* What is complete when the call has returned. */
static struct vclock learn_in(struct model *model, struct order *order, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    struct vclock covered = take_covered(model, order, view);
    if (view->scope == WAIT_EVENT && order_event_clock(order, call->object, call->generation) == NULL)
        order_doubt_event(order, call->object, call->generation);
    order_host_knows(order, view->thread, &covered);
    return covered;
}

static void learn_what_ran(struct order *order, const struct call_view *view, const struct vclock *ran,
                           struct vclock *covered)
{
    vclock_join(covered, ran);
    order_host_knows(order, view->thread, ran);
}

static RARE void learn_in_replays(struct model *model, const struct call_view *view, struct completion *wait)
{
    wait->replayed = heap_zeroed(model->replays.count, sizeof *wait->replayed);
    wait->replays = wait->replayed != NULL ? model->replays.count : 0;
    for (uint32_t i = 0; i < model->replays.count; i++) {
        if (view->submits)
            model_orders_open_slot(model, i, view);
        struct replay *replay = &model->replays.items[i];
        if (view->by_shim && !replay->as_run)
            continue;
        struct vclock covered = learn_in(model, &replay->order, view);
        if (replay->as_run) /* what the host has waited for is done, whatever put it behind other work */
            learn_what_ran(&replay->order, view, &wait->clock, &covered);
        if (i < wait->replays)
            wait->replayed[i] = covered;
        else
            vclock_free(&covered);
    }
}

void model_orders_learn(struct model *model, const struct call_view *view)
{
    struct completion wait = {.ticks = model_returned_at(view->call), .number = view->number};
    wait.clock = learn_in(model, &model->real, view);
    /* A staged copy is as good as done when its call returns: nobody waits for it, so it is not pending. But no order says
     * that it has landed. */
    if (view->own_only) {
        wait.settled = view->number;
        wait.slot = view->target;
    }
    if (model->replays.count != 0)
        learn_in_replays(model, view, &wait);
    if (!completion_add(&model->completions, &wait) && model->follower != NULL)
        model->follower->forgotten(model->follower, view->number);
}

/* Before call `next` is entered. */
static void tell(struct model *model, const struct completion *wait, uint64_t next)
{
    vclock_join(&model->landed, &wait->clock);
    for (size_t i = 0; i < wait->replays; i++)
        vclock_join(&model->replays.items[i].done, &wait->replayed[i]);
    if (model->follower != NULL)
        model->follower->returned(model->follower, wait->number, next);
}

/* The next wait's clock may have its room. */
static void keep_room(struct model *model, struct completion *wait)
{
    if (model->covered.room != 0)
        return;
    model->covered = wait->clock;
    wait->clock = (struct vclock){0};
}

void model_orders_return(struct model *model, uint64_t now)
{
    struct completion wait;
    while (completion_take(&model->completions, now, &wait)) {
        vclock_join(&model->done, &wait.clock);
        if (wait.settled != 0)
            vclock_raise(&model->done, wait.slot, wait.settled);
        tell(model, &wait, model->op);
        keep_room(model, &wait);
        completion_free(&wait);
        model->done_at = model->op;
    }
}

void model_orders_unfollow(struct model *model)
{
    struct completion wait;
    size_t taken = 0;
    for (; completion_take(&model->completions, UINT64_MAX, &wait); taken++)
        tell(model, &wait, model->op + 1);
    completion_untake(&model->completions, taken);
    model->follower = NULL;
}

void model_orders_forget_event(struct model *model, uint32_t event)
{
    order_forget_event(&model->real, event);
    for (size_t i = 0; i < model->replays.count; i++)
        order_forget_event(&model->replays.items[i].order, event);
    order_event_drop(&model->events, event);
    id_map_remove(&model->events.outside, event);
}

/* Of cuEventCreate. */
enum { EVENT_INTERPROCESS = 4 };

static bool made_here(const struct call_view *view)
{
    return view->api != NULL && view->api->text != NULL && strcmp(view->api->text, "cuEventCreate") == 0;
}

void model_orders_note_event(struct model *model, const struct call_view *view)
{
    if (!made_here(view) || (call_word(view->call, 0) & EVENT_INTERPROCESS) != 0)
        id_map_put(&model->events.outside, view->call->r.object, 0);
}

void model_orders_end(struct model *model)
{
    order_free(&model->real);
    for (size_t i = 0; i < model->replays.count; i++) {
        order_free(&model->replays.items[i].order);
        vclock_free(&model->replays.items[i].done);
    }
    free(model->replays.items);
    order_events_free(&model->events);
}
