/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams, contexts and threads of a model: ids become slots and positions, and slots whose stream is gone serve others.
 * Called by model.c. Ids are the trace's and untrusted: never used as indices.
 */
#include "analysis/model/model.h"

#include <string.h>

static bool position(struct id_map *map, uint32_t id, uint32_t next, uint32_t *at)
{
    if (id_map_get(map, id, at))
        return true;
    *at = next;
    return id_map_put(map, id, next);
}

bool model_context_position(struct model *model, uint32_t uid, uint32_t *at)
{
    if (!position(&model->context_by_uid, uid, (uint32_t)model->contexts.count, at))
        return false;
    if (*at < model->contexts.count)
        return true;
    if (!TABLE_ADD(&model->contexts)) {
        id_map_remove(&model->context_by_uid, uid);
        return false;
    }
    TABLE_LAST(&model->contexts)->uid = uid;
    return true;
}

bool model_thread_position(struct model *model, uint32_t uid, uint32_t *at)
{
    if (!position(&model->thread_by_uid, uid, (uint32_t)model->threads.count, at))
        return false;
    if (*at < model->threads.count)
        return true;
    if (!TABLE_ADD(&model->threads)) {
        id_map_remove(&model->thread_by_uid, uid);
        return false;
    }
    *TABLE_LAST(&model->threads) = uid;
    return true;
}

/* The first slot whose stream is gone, and done too unless `pending` ones will do. */
static uint32_t gone_slot(const struct model *model, uint64_t now, bool pending)
{
    for (uint32_t slot = 0; slot < model->streams.count; slot++) {
        const struct model_stream *stream = &model->streams.items[slot];
        if (!stream->open || (stream->ended < now && (pending || !model_is_pending(model, slot))))
            return slot;
    }
    return MODEL_NO_SLOT;
}

static void close_slot(struct model *model, uint32_t slot)
{
    struct model_stream *stream = &model->streams.items[slot];
    if (!stream->open)
        return;
    order_close(&model->real, slot);
    for (size_t i = 0; i < model->replays.count; i++)
        order_close(&model->replays.items[i].order, slot);
    id_map_remove(&model->slot_by_uid, stream->key);
    memset(model->alike, UINT8_MAX, sizeof model->alike);
    stream->open = false;
}

/* One that nobody needs any more, so that memory goes with the streams alive; else a new one. */
static uint32_t free_slot(struct model *model, uint64_t now)
{
    bool full = model->streams.count >= MODEL_MOST_STREAMS;
    uint32_t slot = gone_slot(model, now, full);
    if (slot != MODEL_NO_SLOT) {
        close_slot(model, slot);
        return slot;
    }
    return !full && TABLE_ADD(&model->streams) ? (uint32_t)model->streams.count - 1 : MODEL_NO_SLOT;
}

static void drop_busy(struct model_context *context, uint32_t slot)
{
    for (size_t i = 0; i < context->busy.count; i++)
        if (context->busy.items[i] == slot)
            context->busy.items[i] = context->busy.items[--context->busy.count];
}

/* In all orders; or in `only`, of a stream that is in no other. */
static bool open_in_orders(struct model *model, struct order *only, uint32_t slot, uint32_t context, enum order_role role)
{
    if (only != NULL)
        return order_open(only, slot, context, role);
    bool opened = order_open(&model->real, slot, context, role);
    for (size_t i = 0; i < model->replays.count; i++)
        opened &= order_open(&model->replays.items[i].order, slot, context, role);
    return opened;
}

/* `stream` says what it is: key, uid, kind, context, ended. */
static uint32_t open_slot(struct model *model, const struct model_stream *opened, struct order *only, enum order_role role,
                          uint64_t now)
{
    uint32_t slot = free_slot(model, now);
    if (slot == MODEL_NO_SLOT)
        return MODEL_NO_SLOT;
    struct model_stream *stream = &model->streams.items[slot];
    if (stream->busy)
        drop_busy(&model->contexts.items[stream->context], slot);
    *stream = *opened;
    stream->open =
        id_map_put(&model->slot_by_uid, stream->key, slot) && open_in_orders(model, only, slot, stream->context, role);
    if (!stream->open)
        id_map_remove(&model->slot_by_uid, stream->key);
    return stream->open ? slot : MODEL_NO_SLOT;
}

uint32_t model_slot(const struct model *model, uint32_t uid)
{
    uint32_t slot;
    return id_map_get(&model->slot_by_uid, uid, &slot) ? slot : MODEL_NO_SLOT;
}

uint32_t model_open_slot(struct model *model, const struct ptds_rec_CALL *call, uint32_t uid)
{
    const struct stream_def *def = definitions_stream(&model->trace->defs, uid);
    struct model_stream stream = {.key = uid, .uid = uid, .ended = UINT64_MAX};
    uint32_t slot = MODEL_NO_SLOT;
    if (def != NULL) {
        stream.kind = def->kind;
        stream.ended = def->ended;
    }
    if (model_context_position(model, def != NULL && def->context != 0 ? def->context : call->context, &stream.context))
        slot = open_slot(model, &stream, NULL, order_role_of(stream.kind), call->enter);
    model->unplaced += slot == MODEL_NO_SLOT;
    return slot;
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

static struct ordered ordered_under(const struct model *model, unsigned policy, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    uint32_t kept = PTDS_CALL_KEPT_CAPTURE | PTDS_CALL_KEPT_REFUSED | PTDS_CALL_KEPT_EXCLUDED | PTDS_CALL_KEPT_NO_WAY;
    struct order_call of = {
        .act = view->submits ? ORDER_SUBMITS : ORDER_WAITS,
        .named = order_role_of(model->streams.items[named_slot(view)].kind),
        .sent = order_role_of(view->target_kind),
        .explicitly = (call->flags & PTDS_CALL_EXPLICIT) != 0,
        .stays = (call->flags & kept) != 0,
    };
    return order_under(policy, &of);
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

uint32_t model_replay_slot(const struct model *model, uint32_t replay, const struct call_view *view)
{
    const struct order *order = &model->replays.items[replay].order;
    uint32_t slot;
    if (named_slot(view) == MODEL_NO_SLOT)
        return MODEL_NO_SLOT;
    uint64_t key = key_at(model, ordered_under(model, order->policy, view).place, view);
    return id_map_get(&model->slot_by_uid, key, &slot) && is_open(order, slot) ? slot : MODEL_NO_SLOT;
}

uint32_t model_open_replay_slot(struct model *model, uint32_t replay, const struct call_view *view)
{
    struct order *order = &model->replays.items[replay].order;
    uint32_t slot = model_replay_slot(model, replay, view);
    if (slot != MODEL_NO_SLOT || named_slot(view) == MODEL_NO_SLOT)
        return slot;
    const struct model_stream *named = &model->streams.items[named_slot(view)];
    struct ordered ordered = ordered_under(model, order->policy, view);
    uint64_t key = key_at(model, ordered.place, view);
    if (id_map_get(&model->slot_by_uid, key, &slot))
        return order_open(order, slot, named->context, ordered.role) ? slot : MODEL_NO_SLOT;
    if (key <= UINT32_MAX)
        return model_open_slot(model, &view->call->r, (uint32_t)key);
    struct model_stream stream = {.key = key, .uid = named->uid, .context = named->context, .ended = UINT64_MAX};
    return open_slot(model, &stream, order, ordered.role, view->call->r.enter);
}
