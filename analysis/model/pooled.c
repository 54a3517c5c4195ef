/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream-ordered memory: to free it waits for nothing, whichever function does (cuMemFree, too), so which memory is of that
 * kind is kept for as long as it lives. Called by model.c. Nothing is kept of a trace without such a free.
 */
#include "analysis/model/pooled.h"

#include "analysis/base/id_map.h"
#include "analysis/model/model.h"

static bool frees_memory(const struct trace *trace)
{
    return (trace->ops >> PTDS_OP_FREE & 1) != 0;
}

/* Those whose allocation is not in the trace any more. */
void pooled_begin(struct model *model)
{
    const struct definitions *defs = &model->trace->defs;
    for (size_t i = 0; frees_memory(model->trace) && i < defs->memories.count; i++)
        if (defs->memories.items[i].kind == PTDS_MEMORY_POOL)
            id_map_put(&model->pooled, defs->memories.items[i].uid, 0);
}

void pooled_classify_free(const struct model *model, struct call_view *view)
{
    uint32_t ignored, memory = view->call->r.object;
    if (memory == 0 || !id_map_get(&model->pooled, memory, &ignored))
        return;
    view->scope = WAIT_NONE;
    view->completes = false;
}

void pooled_note_more(struct model *model, const struct call *call)
{
    unsigned op = call->r.op;
    if (call->r.object == 0 || !frees_memory(model->trace))
        return;
    if (op == PTDS_OP_FREE || op == PTDS_OP_FREE_ASYNC)
        id_map_remove(&model->pooled, call->r.object);
    else if (op == PTDS_OP_ALLOC_ASYNC || call_word(call, 2) == PTDS_MEMORY_POOL)
        id_map_put(&model->pooled, call->r.object, 0);
}
