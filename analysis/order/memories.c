/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocations alive, by uid and by address. Called for every pointer of every launch: the last ones found are looked at
 * first. An address range is reused by later allocations, so what was done to an earlier one is forgotten with it. Memory 0
 * stands for whatever lies in no known allocation.
 */
#include "analysis/order/engine.h"

#include <stdlib.h>
#include <string.h>

#define NEAR(v, address) (&(v)->near[((address) >> 8) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - NEAR_BITS)])

static bool holds(const struct memory *memory, uint64_t address)
{
    return memory->turn != 0 && address - memory->base < memory->end - memory->base;
}

/* How many allocations start at or before the address. */
static size_t up_to(const struct verdicts *v, uint64_t address)
{
    size_t low = 0, high = v->by_base.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (v->memories.items[v->by_base.items[middle]].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct memory *memories_at(struct verdicts *v, uint64_t address)
{
    uint32_t *near = NEAR(v, address);
    if (*near != 0 && *near < v->memories.count && holds(&v->memories.items[*near], address))
        return &v->memories.items[*near];
    size_t at = up_to(v, address);
    if (at == 0 || !holds(&v->memories.items[v->by_base.items[at - 1]], address))
        return NULL;
    *near = v->by_base.items[at - 1];
    return &v->memories.items[*near];
}

bool verdicts_memory(struct verdicts *v, uint64_t address, struct verdict_memory *out)
{
    const struct memory *found = v != NULL ? memories_at(v, address) : NULL;
    if (found != NULL)
        *out = (struct verdict_memory){found->base, found->kind};
    return found != NULL;
}

bool verdicts_memory_complete(const struct verdicts *v)
{
    return v != NULL && !v->limited;
}

struct memory *memories_elsewhere(struct verdicts *v)
{
    return &v->memories.items[0];
}

struct memory *memories_of(struct verdicts *v, uint32_t uid, uint64_t address)
{
    uint32_t at;
    if (uid != 0 && id_map_get(&v->memory_by_uid, uid, &at))
        return &v->memories.items[at];
    struct memory *found = memories_at(v, address);
    return found != NULL && found->base == address && (uid == 0 || found->uid == 0) ? found : NULL;
}

void memories_remove(struct verdicts *v, struct memory *memory)
{
    uint32_t at = (uint32_t)(memory - v->memories.items);
    size_t place = up_to(v, memory->base);
    if (place != 0 && v->by_base.items[place - 1] == at) {
        memmove(&v->by_base.items[place - 1], &v->by_base.items[place], (v->by_base.count - place) * sizeof(uint32_t));
        v->by_base.count--;
    }
    if (memory->uid != 0)
        id_map_remove(&v->memory_by_uid, memory->uid);
    places_drop(v, memory);
    free(memory->list.items);
    *memory = (struct memory){0};
    if (TABLE_ADD(&v->free_memories))
        *TABLE_LAST(&v->free_memories) = at;
}

/* Whatever the trace still shows in that range is gone: its free was not seen. */
static void make_way(struct verdicts *v, uint64_t base, uint64_t end)
{
    for (size_t at; (at = up_to(v, end - 1)) != 0;) {
        struct memory *last = &v->memories.items[v->by_base.items[at - 1]];
        if (last->end <= base)
            return;
        memories_remove(v, last);
    }
}

static unsigned classes_of(uint64_t kind)
{
    switch (kind) {
    case PTDS_MEMORY_PAGEABLE:
    case PTDS_MEMORY_PINNED:
    case PTDS_MEMORY_REGISTERED: return TOUCHES_HOST;
    case PTDS_MEMORY_MANAGED: return TOUCHES_HOST | TOUCHES_DEVICE;
    case PTDS_MEMORY_GLOBAL: return TOUCHES_GLOBAL;
    default: return TOUCHES_DEVICE;
    }
}

static uint32_t new_place(struct verdicts *v)
{
    if (v->free_memories.count != 0)
        return v->free_memories.items[--v->free_memories.count];
    return v->memories.count < MEMORIES_MOST && TABLE_ADD(&v->memories) ? (uint32_t)v->memories.count - 1 : 0;
}

struct memory *memories_add(struct verdicts *v, const struct call *call)
{
    uint64_t base = call_word(call, 0), bytes = call_word(call, 1), kind = call_word(call, 2);
    if (base == 0 || bytes == 0 || base + bytes < base || kind == PTDS_MEMORY_ARRAY)
        return NULL;
    make_way(v, base, base + bytes);
    uint32_t at = TABLE_ADD(&v->by_base) ? new_place(v) : 0;
    if (at == 0) {
        v->limited = true;
        return NULL;
    }
    struct memory *made = &v->memories.items[at];
    *made = (struct memory){.base = base,
                            .end = base + bytes,
                            .uid = call->r.object,
                            .context = call->r.context,
                            .kind = (uint32_t)kind,
                            .classes = classes_of(kind),
                            .turn = ++v->turns};
    v->by_base.count--;
    size_t place = up_to(v, base);
    memmove(&v->by_base.items[place + 1], &v->by_base.items[place], (v->by_base.count - place) * sizeof(uint32_t));
    v->by_base.items[place] = at;
    v->by_base.count++;
    memories_elsewhere(v)->turn = ++v->turns; /* what was seen at an address out of nowhere may be in here */
    v->globals_seen |= kind == PTDS_MEMORY_GLOBAL;
    if (made->uid != 0 && !id_map_put(&v->memory_by_uid, made->uid, at))
        made->uid = 0;
    return made;
}

void memories_free(struct verdicts *v)
{
    for (size_t i = 0; i < v->memories.count; i++)
        free(v->memories.items[i].list.items);
    free(v->memories.items);
    free(v->free_memories.items);
    free(v->by_base.items);
    id_map_free(&v->memory_by_uid);
}
