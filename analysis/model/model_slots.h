/* SPDX-License-Identifier: Apache-2.0
 *
 * Where streams, contexts and threads lie in the tables of the model.
 */
#ifndef PTDS_ANALYSIS_MODEL_MODEL_SLOTS_H
#define PTDS_ANALYSIS_MODEL_MODEL_SLOTS_H

#include "analysis/base/id_map.h"
#include "analysis/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

uint32_t model_slots_find(const struct model *model, uint32_t stream_uid); /* MODEL_NO_SLOT: the stream was never used */

/* Opens a slot for a stream that has none. MODEL_NO_SLOT without memory, or beyond MODEL_MOST_STREAMS. */
uint32_t model_slots_open(struct model *model, const struct ptds_rec_CALL *call, uint32_t uid);

/* Opens a slot as `opened` says (key, uid, kind, context, ended); in all orders, or in `only`, for a stream that is in
 * no other. */
uint32_t model_slots_open_in(struct model *model, const struct model_stream *opened, struct order *only,
                             enum order_role role, uint64_t now);

/* Adds the stream to the list of busy streams of its context; leaves it out without memory. */
void model_slots_be_busy(struct model_context *context, struct model_stream *stream, uint32_t slot);
/* Takes the stream out of the list of busy streams of its context: the last one of the list takes its place `at`. */
void model_slots_drop_busy(struct model_context *context, struct model_stream *stream, size_t at);

/* The slot of a stream, opened if this is its first use. */
static inline uint32_t model_slots_use(struct model *model, const struct ptds_rec_CALL *call, uint32_t uid)
{
    uint32_t slot;
    if (uid == 0)
        return MODEL_NO_SLOT;
    return id_map_get(&model->slot_by_uid, uid, &slot) ? slot : model_slots_open(model, call, uid);
}

bool model_slots_context(struct model *model, uint32_t uid, uint32_t *at);

bool model_slots_thread(struct model *model, uint32_t uid, uint32_t *at);

#ifdef __cplusplus
}
#endif
#endif
