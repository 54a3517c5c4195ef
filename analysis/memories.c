/* SPDX-License-Identifier: Apache-2.0
 *
 * A sorted array of live allocations. Driven by aftermath.c with every call that allocates or frees; memory goes with the
 * live ones and is bounded. Addresses are untrusted: ranges that overlap replace each other.
 */
#include "analysis/memories.h"

#include <stdlib.h>
#include <string.h>

/* The first whose base is above the address. */
static size_t above(const struct memories *memories, uint64_t address)
{
    size_t low = 0, high = memories->live.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memories->live.items[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void remove_at(struct memories *memories, size_t at)
{
    struct memory *items = memories->live.items;
    memmove(items + at, items + at + 1, (--memories->live.count - at) * sizeof *items);
}

static void add(struct memories *memories, struct memory memory)
{
    size_t at = above(memories, memory.base);
    if (at > 0 && memories->live.items[at - 1].base == memory.base) {
        memories->live.items[at - 1] = memory;
        return;
    }
    if (memories->live.count >= MOST_MEMORIES || !TABLE_ADD(&memories->live)) {
        memories->more = true;
        return;
    }
    struct memory *items = memories->live.items;
    memmove(items + at + 1, items + at, (memories->live.count - 1 - at) * sizeof *items);
    items[at] = memory;
}

static void drop(struct memories *memories, uint64_t base)
{
    size_t at = above(memories, base);
    if (at > 0 && memories->live.items[at - 1].base == base)
        remove_at(memories, at - 1);
}

void memories_call(struct memories *memories, const struct call *call)
{
    if (call->r.result != 0)
        return;
    switch (call->r.op) {
    case PTDS_OP_ALLOC:
    case PTDS_OP_ALLOC_ASYNC:
        add(memories, (struct memory){call_word(call, 0), call_word(call, 1), (uint32_t)call_word(call, 2)});
        break;
    case PTDS_OP_FREE:
    case PTDS_OP_FREE_ASYNC:
    case PTDS_OP_FREE_HOST:
    case PTDS_OP_UNREGISTER: drop(memories, call_word(call, 0)); break;
    default: break;
    }
}

const struct memory *memories_at(const struct memories *memories, uint64_t address)
{
    size_t at = above(memories, address);
    const struct memory *found = at > 0 ? &memories->live.items[at - 1] : NULL;
    return found != NULL && (address - found->base < found->size || address == found->base) ? found : NULL;
}

void memories_free(struct memories *memories)
{
    free(memories->live.items);
    *memories = (struct memories){0};
}
