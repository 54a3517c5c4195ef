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
    for (unsigned i = 0; i < ORDER_COUNT; i++)
        if (model_wants(model, i))
            order_close(&model->order[i], slot);
    id_map_remove(&model->slot_by_uid, stream->uid);
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

static uint32_t open_slot(struct model *model, uint32_t uid, uint32_t context_uid, uint64_t now)
{
    const struct stream_def *def = definitions_stream(&model->trace->defs, uid);
    uint32_t context, slot = free_slot(model, now);
    if (def != NULL && def->context != 0)
        context_uid = def->context;
    if (slot == MODEL_NO_SLOT || !model_context_position(model, context_uid, &context))
        return MODEL_NO_SLOT;
    struct model_stream *stream = &model->streams.items[slot];
    if (stream->busy)
        drop_busy(&model->contexts.items[stream->context], slot);
    *stream = (struct model_stream){.uid = uid,
                                    .kind = def != NULL ? def->kind : PTDS_STREAM_UNKNOWN,
                                    .context = context,
                                    .ended = def != NULL ? def->ended : UINT64_MAX};
    bool opened = id_map_put(&model->slot_by_uid, uid, slot);
    for (unsigned i = 0; i < ORDER_COUNT; i++)
        opened &= !model_wants(model, i) || order_open(&model->order[i], slot, context, model_role(stream->kind));
    stream->open = opened;
    if (!opened)
        id_map_remove(&model->slot_by_uid, uid);
    return opened ? slot : MODEL_NO_SLOT;
}

uint32_t model_slot(const struct model *model, uint32_t uid)
{
    uint32_t slot;
    return id_map_get(&model->slot_by_uid, uid, &slot) ? slot : MODEL_NO_SLOT;
}

uint32_t model_open_slot(struct model *model, const struct ptds_rec_CALL *call, uint32_t uid)
{
    uint32_t slot = open_slot(model, uid, call->context, call->enter);
    model->unplaced += slot == MODEL_NO_SLOT;
    return slot;
}
