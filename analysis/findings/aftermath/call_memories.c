/* SPDX-License-Identifier: Apache-2.0
 *
 * What a call uses (call_memories.h). Called by aftermath.c while a wait is watched, for calls that may tell something of
 * it.
 */
#include "analysis/findings/aftermath/call_memories.h"

#include "analysis/order/verdict_memory.h"

void call_memories_find(struct call_memories *use, struct verdicts *verdicts, const struct call_view *view, bool complete)
{
    struct named_range touch[NAMED_RANGE_MOST];
    unsigned op = view->call->r.op, count = 0;
    bool frees = op == PTDS_OP_FREE || op == PTDS_OP_FREE_HOST || op == PTDS_OP_UNREGISTER;
    use->found = true;
    use->count = 0;
    use->some = 0;
    use->all = true;
    if (view->work || frees)
        count = named_range_of(view->call, touch, &use->all);
    for (unsigned i = 0; i < count; i++) {
        struct verdict_memory memory;
        if (verdict_memory_at(verdicts, touch[i].address, &memory)) {
            use->some |= bit_of(memory.base);
            use->base[use->count++] = memory.base;
        } else {
            use->all &= complete;
        }
    }
}

bool call_memories_has(const struct call_memories *use, const uint64_t *base, uint32_t count)
{
    for (unsigned i = 0; i < use->count; i++)
        for (uint32_t j = 0; j < count; j++)
            if (use->base[i] == base[j])
                return true;
    return false;
}
