/* SPDX-License-Identifier: Apache-2.0
 *
 * What the engine knows of allocations, for rules and findings. Must change no verdict.
 */
#include "analysis/order/verdict_memory.h"

#include "analysis/order/memory/live_memories.h"

bool verdict_memory_at(struct verdicts *v, uint64_t address, struct verdict_memory *out)
{
    const struct memory *found = v != NULL ? live_memories_part(v, address) : NULL;
    if (found != NULL)
        *out = (struct verdict_memory){found->base, found->kind};
    return found != NULL;
}

void verdict_memory_watch(struct verdicts *v, uint64_t base, unsigned group)
{
    struct memory *part = v != NULL ? live_memories_part(v, base) : NULL;
    if (part == NULL)
        return;
    struct memory *both[] = {part, live_memories_whole(v, part)};
    v->watched_bases |= bit_of(base);
    for (unsigned i = 0; i < 2; i++) {
        both[i]->classes |= UINT32_C(1) << (TOUCHES_BITS_OF_CLASSES + group % VERDICT_GROUPS);
        if (TABLE_ADD(&v->watched)) /* without memory it stays watched, and launches are reported to use it more often than
                                       need be */
            *TABLE_LAST(&v->watched) = (uint32_t)(both[i] - v->memories.items);
    }
}

void verdict_memory_unwatch_all(struct verdicts *v)
{
    while (v != NULL && v->watched.count != 0)
        v->memories.items[v->watched.items[--v->watched.count]].classes &= ~TOUCHES_WATCHED;
    if (v != NULL)
        v->watched_bases = 0;
}

uint32_t verdict_memory_watched(const struct verdicts *v)
{
    return v != NULL ? v->watched_used : UINT32_MAX;
}

bool verdict_memory_is_complete(const struct verdicts *v)
{
    return v != NULL && !v->limited && !v->unsure;
}
