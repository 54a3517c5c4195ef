/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream-ordered memory: whether a free of it waits.
 */
#ifndef PTDS_ANALYSIS_MODEL_POOLED_H
#define PTDS_ANALYSIS_MODEL_POOLED_H

#include "analysis/model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Before the first call: takes the memories whose allocation is not in the trace. Then for a free: fills in whether it
 * waits. Then for an allocation or a free that has left: notes what there is now. */
void pooled_begin(struct model *model);

void pooled_classify_free(const struct model *model, struct call_view *view);

void pooled_note_more(struct model *model, const struct call *call);

static inline void pooled_note(struct model *model, const struct call *call)
{
    static const uint64_t ops = UINT64_C(1) << PTDS_OP_ALLOC | UINT64_C(1) << PTDS_OP_ALLOC_ASYNC |
                                UINT64_C(1) << PTDS_OP_FREE | UINT64_C(1) << PTDS_OP_FREE_ASYNC;
    if (call->r.op < 64 && (ops >> call->r.op & 1))
        pooled_note_more(model, call);
}

#ifdef __cplusplus
}
#endif
#endif
