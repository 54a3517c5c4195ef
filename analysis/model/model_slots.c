/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams, contexts and threads of a model: ids become slots and positions, and slots whose stream is gone serve others.
 * Called by model.c. Ids are the trace's and untrusted: never used as indices.
 */
#include "analysis/model/model_slots.h"

#include "analysis/base/hints.h"
#include "analysis/base/id_map.h"
#include "analysis/model/model.h"

#include <string.h>

static bool position(struct id_map *map, uint32_t id, uint32_t next, uint32_t *at)
{
    if (id_map_get(map, id, at))
        return true;
    *at = next;
    return id_map_put(map, id, next);
}

bool model_slots_context(struct model *model, uint32_t uid, uint32_t *at)
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

bool model_slots_thread(struct model *model, uint32_t uid, uint32_t *at)
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
    model->era++;
    stream->open = false;
}

/* One that nobody needs any more, so that memory goes with the streams alive; else a new one. */
static uint32_t free_slot(struct model *model, uint64_t now)
{
    bool full = model->streams.count >= MODEL_MOST_STREAMS;
    uint32_t slot = model->keeps_slots && !full ? MODEL_NO_SLOT : gone_slot(model, now, full);
    if (slot != MODEL_NO_SLOT) {
        close_slot(model, slot);
        return slot;
    }
    return !full && TABLE_ADD(&model->streams) ? (uint32_t)model->streams.count - 1 : MODEL_NO_SLOT;
}

void model_slots_drop_busy(struct model_context *context, struct model_stream *stream, size_t at)
{
    stream->busy = false;
    context->busy_of[implicit_order_role(stream->kind)]--;
    context->busy.items[at] = context->busy.items[--context->busy.count];
    memset(context->none_before, 0, sizeof context->none_before);
}

static void drop_busy(struct model_context *context, struct model_stream *stream, uint32_t slot)
{
    size_t at = 0;
    while (at < context->busy.count && context->busy.items[at] != slot)
        at++;
    if (at < context->busy.count)
        model_slots_drop_busy(context, stream, at);
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

uint32_t model_slots_open_in(struct model *model, const struct model_stream *opened, struct order *only,
                             enum order_role role, uint64_t now)
{
    uint32_t slot = free_slot(model, now);
    if (slot == MODEL_NO_SLOT)
        return MODEL_NO_SLOT;
    struct model_stream *stream = &model->streams.items[slot];
    if (stream->busy)
        drop_busy(&model->contexts.items[stream->context], stream, slot);
    *stream = *opened;
    stream->open =
        id_map_put(&model->slot_by_uid, stream->key, slot) && open_in_orders(model, only, slot, stream->context, role);
    if (!stream->open)
        id_map_remove(&model->slot_by_uid, stream->key);
    return stream->open ? slot : MODEL_NO_SLOT;
}

uint32_t model_slots_find(const struct model *model, uint32_t uid)
{
    uint32_t slot;
    return id_map_get(&model->slot_by_uid, uid, &slot) ? slot : MODEL_NO_SLOT;
}

uint32_t model_slots_open(struct model *model, const struct ptds_rec_CALL *call, uint32_t uid)
{
    const struct stream_def *def = definitions_stream(&model->trace->defs, uid);
    struct model_stream stream = {.key = uid, .uid = uid, .ended = UINT64_MAX};
    uint32_t slot = MODEL_NO_SLOT;
    if (def != NULL) {
        stream.kind = def->kind;
        stream.ended = def->ended;
    }
    if (model_slots_context(model, def != NULL && def->context != 0 ? def->context : call->context, &stream.context))
        slot = model_slots_open_in(model, &stream, NULL, implicit_order_role(stream.kind), call->enter);
    model->unplaced += slot == MODEL_NO_SLOT;
    return slot;
}

RARE void model_slots_be_busy(struct model_context *context, struct model_stream *stream, uint32_t slot)
{
    if (!TABLE_ADD(&context->busy))
        return;
    *TABLE_LAST(&context->busy) = slot;
    context->busy_of[implicit_order_role(stream->kind)]++;
    stream->busy = true;
}
