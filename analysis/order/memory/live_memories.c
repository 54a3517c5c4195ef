/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocations alive, by uid and by address. Called for every pointer of every launch: the memories found lately are
 * tried first. An address range is reused by later allocations, so the accesses of an earlier one go with it. Memory 0
 * stands for every address in no known allocation.
 */
#include "analysis/order/memory/live_memories.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/id_map.h"
#include "analysis/order/memory/access_cache.h"
#include "analysis/order/memory/memory_use.h"

#define NEAR(v, address) (&(v)->near[((address) >> 8) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - NEAR_BITS)])

static bool holds(const struct memory *memory, uint64_t address)
{
    return memory->stint != 0 && address - memory->base < memory->end - memory->base;
}

struct memory *live_memories_part(struct verdicts *v, uint64_t address)
{
    uint32_t *near = NEAR(v, address);
    if (*near != 0 && *near < v->memories.count && holds(&v->memories.items[*near], address))
        return &v->memories.items[*near];
    struct sorted_entry last;
    if (!sorted_up_to(&v->by_base, address, &last) || !holds(&v->memories.items[last.value], address))
        return NULL;
    *near = last.value;
    return &v->memories.items[*near];
}

struct memory *live_memories_whole(struct verdicts *v, struct memory *part)
{
    return part != NULL && part->of != 0 ? &v->memories.items[part->of] : part;
}

struct memory *live_memories_at(struct verdicts *v, uint64_t address)
{
    return live_memories_whole(v, live_memories_part(v, address));
}

uint64_t live_memories_next(const struct verdicts *v, uint64_t address)
{
    struct sorted_entry next;
    return sorted_above(&v->by_base, address, &next) ? next.key : UINT64_MAX;
}

/* As far before the beginning of a memory as the recorder looks for pointers to it. */
enum { BEFORE = 4096 };

struct memory *live_memories_near(struct verdicts *v, uint64_t address)
{
    struct memory *found = address != 0 ? live_memories_at(v, address - 1) : NULL;
    uint64_t next = live_memories_next(v, address);
    if (found == NULL && next < UNNAMED && next - address <= BEFORE)
        found = live_memories_at(v, next);
    return found == NULL && v->unsure ? live_memories_elsewhere(v) : found;
}

struct memory *live_memories_elsewhere(struct verdicts *v)
{
    return &v->memories.items[0];
}

struct memory *live_memories_of(struct verdicts *v, uint32_t uid, uint64_t address)
{
    uint32_t at;
    if (uid != 0 && id_map_get(&v->memory_by_uid, uid, &at))
        return &v->memories.items[at];
    struct memory *found = live_memories_part(v, address);
    return found != NULL && found->base == address && (uid == 0 || found->uid == 0) ? found : NULL;
}

/* Small arrays stay for the next memory at this place: programs allocate and free by turns. */
enum { SMALL_LIST = 16 };

static void begin_anew(struct memory *memory, const struct memory *as)
{
    struct waiting waiting = memory->waiting;
    struct remembered *list = memory->list.items;
    size_t room = memory->list.room;
    struct strand_use *uses = memory->uses;
    uint32_t uses_room = memory->uses_room;
    *memory = *as;
    if (waiting.room <= SMALL_LIST)
        memory->waiting = waiting;
    else
        free(waiting.many);
    if (room <= SMALL_LIST) {
        memory->list.items = list;
        memory->list.room = room;
    } else {
        free(list);
    }
    if (uses_room > USES_LEAST) {
        free(uses);
    } else if (uses != NULL) {
        memset(uses, 0, uses_room * sizeof *uses);
        memory->uses = uses;
        memory->uses_room = uses_room;
    }
}

void live_memories_remove(struct verdicts *v, struct memory *memory)
{
    uint32_t at = (uint32_t)(memory - v->memories.items);
    if (memory->base >= UNNAMED && memory->base < ARRAYS)
        return; /* other memories may be parts of it */
    if (memory->of != 0)
        memory_use_begin_anew(v, live_memories_whole(v, memory)); /* its addresses may be another part's from now on */
    sorted_remove(&v->by_base, memory->base);
    if (memory->uid != 0)
        id_map_remove(&v->memory_by_uid, memory->uid);
    access_cache_drop(v, memory);
    begin_anew(memory, &(struct memory){0});
    if (TABLE_ADD(&v->free_memories))
        *TABLE_LAST(&v->free_memories) = at;
}

/* Removes memories in this range: the trace does not have their frees. */
static void make_way(struct verdicts *v, uint64_t base, uint64_t end)
{
    for (struct sorted_entry last; sorted_up_to(&v->by_base, end - 1, &last);) {
        if (v->memories.items[last.value].end <= base)
            return;
        live_memories_remove(v, &v->memories.items[last.value]);
    }
}

static unsigned classes_of(uint64_t kind)
{
    switch (kind) {
    case PTDS_MEMORY_PAGEABLE:
    case PTDS_MEMORY_PINNED:
    case PTDS_MEMORY_REGISTERED: return TOUCHES_HOST;
    case PTDS_MEMORY_IPC:
    case PTDS_MEMORY_EXTERNAL:
    case PTDS_MEMORY_MANAGED: return TOUCHES_ALL;
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

/* NULL: more than are followed. */
static struct memory *insert(struct verdicts *v, const struct memory *memory)
{
    uint32_t at = new_place(v);
    if (at == 0 || !sorted_put(&v->by_base, memory->base, at)) {
        v->limited = true;
        return NULL;
    }
    struct memory *made = &v->memories.items[at];
    begin_anew(made, memory);
    made->stint = ++v->stints;
    if (v->watched_bases & bit_of(made->base)) { /* an earlier memory at this base was watched, maybe */
        made->classes |= TOUCHES_WATCHED;
        if (TABLE_ADD(&v->watched))
            *TABLE_LAST(&v->watched) = at;
    }
    memory_use_begin_anew(v, live_memories_elsewhere(v)); /* accesses to unknown memory may have been to this one */
    if (made->uid != 0 && !id_map_put(&v->memory_by_uid, made->uid, at))
        made->uid = 0;
    return made;
}

/* The memory of which only the uid is known, added if need be. Returns its place. */
static uint32_t unnamed(struct verdicts *v, uint32_t uid)
{
    uint64_t base = UNNAMED | uid;
    const struct memory *found = live_memories_part(v, base);
    if (found == NULL)
        found = insert(v, &(struct memory){.base = base, .end = base + 1, .uid = uid, .classes = TOUCHES_DEVICE});
    return found != NULL ? (uint32_t)(found - v->memories.items) : 0;
}

uint64_t live_memories_named(struct verdicts *v, uint32_t uid)
{
    uint32_t at;
    if (uid == 0 || !id_map_get(&v->memory_by_uid, uid, &at))
        at = unnamed(v, uid);
    return v->memories.items[at].base;
}

/* The place of the memory that it is a part of; 0: none. Mapped chunks of which the trace does not name the reservation
 * may be parts of one. */
static uint32_t part_of(struct verdicts *v, const struct memory_def *def, bool told)
{
    return def->part_of != 0 || (def->kind == PTDS_MEMORY_MAPPED && !told) ? unnamed(v, def->part_of) : 0;
}

/* The same bytes are another memory, too. Returns the memory, which may have moved. */
static struct memory *share(struct verdicts *v, struct memory *memory, uint32_t other)
{
    uint32_t place = (uint32_t)(memory - v->memories.items), at;
    live_memories_whole(v, memory)->classes |= TOUCHES_SHARED;
    if (!id_map_get(&v->memory_by_uid, other, &at))
        at = unnamed(v, other);
    live_memories_whole(v, &v->memories.items[at])->classes |= TOUCHES_SHARED;
    return &v->memories.items[place];
}

/* Another process's memory that is opened once more; NULL: it was not open. */
static struct memory *opened_again(struct verdicts *v, const struct memory_def *def)
{
    struct memory *found = live_memories_part(v, def->address);
    if (def->bytes == 0) {
        v->unsure = true; /* the trace does not tell its size */
        return NULL;
    }
    if (found == NULL || found->kind != PTDS_MEMORY_IPC || found->uid != def->uid)
        return NULL;
    found->opened++;
    return found;
}

/* `told`: the definition says what the memory is a part of, if it is. */
static struct memory *add(struct verdicts *v, const struct memory_def *def, bool told)
{
    uint64_t base = def->address, bytes = def->bytes;
    struct memory *made = def->kind == PTDS_MEMORY_IPC ? opened_again(v, def) : NULL;
    if (def->kind == PTDS_MEMORY_ARRAY) {
        base |= ARRAYS;
        bytes = 1;
    }
    if (made != NULL || base == 0 || bytes == 0 || base + bytes < base)
        return made;
    if (base + bytes > UNNAMED && def->kind != PTDS_MEMORY_ARRAY) {
        v->unsure = true; /* no program's address: memories with made-up addresses stand there */
        return NULL;
    }
    make_way(v, base, base + bytes);
    struct memory memory = {.base = base,
                            .end = base + bytes,
                            .uid = def->uid,
                            .context = def->context,
                            .kind = def->kind,
                            .classes = classes_of(def->kind)};
    memory.of = part_of(v, def, told);
    if (memory.of != 0)
        v->memories.items[memory.of].classes |= memory.classes & ~(unsigned)TOUCHES_GLOBAL;
    v->globals_seen |= def->kind == PTDS_MEMORY_GLOBAL && memory.of == 0;
    made = insert(v, &memory);
    return made != NULL && def->same_as != 0 ? share(v, made, def->same_as) : made;
}

struct memory *live_memories_add(struct verdicts *v, const struct call *call)
{
    struct memory_def def = {.address = call_word(call, 0),
                             .bytes = call_word(call, 1),
                             .uid = call->r.object,
                             .kind = (uint32_t)call_word(call, 2),
                             .part_of = (uint32_t)call_word(call, 3),
                             .same_as = (uint32_t)call_word(call, 4),
                             .context = call->r.context};
    return add(v, &def, call->words > 3);
}

uint64_t live_memories_defined(struct verdicts *v, uint64_t ticks)
{
    const struct definitions *defs = &v->trace->defs;
    while (v->defined < defs->memories.count && defs->memories.items[v->defined].ticks <= ticks)
        add(v, &defs->memories.items[v->defined++], true);
    return v->defined < defs->memories.count ? defs->memories.items[v->defined].ticks : UINT64_MAX;
}

void live_memories_free(struct verdicts *v)
{
    for (size_t i = 0; i < v->memories.count; i++) {
        free(v->memories.items[i].list.items);
        free(v->memories.items[i].uses);
        if (v->memories.items[i].waiting.room > WAITING_FEW)
            free(v->memories.items[i].waiting.many);
    }
    free(v->memories.items);
    free(v->watched.items);
    free(v->free_memories.items);
    sorted_free(&v->by_base);
    id_map_free(&v->memory_by_uid);
}
