/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses that the cache does not answer, and the way back from the cache to the memory's list. Called by touches.c, and
 * by files that need all of a memory's list. Must find nothing else than examining every single access would.
 */
#include "analysis/order/memory/access_cache.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"
#include "analysis/base/hints.h"
#include "analysis/order/memory/access_check.h"
#include "analysis/order/memory/live_memories.h"
#include "analysis/order/memory/memory_use.h"
#include "analysis/order/memory/remembered.h"

enum { LINE = 64, PLACES = 1 << CACHE_BITS };
_Static_assert(sizeof(struct cache_entry) == LINE, "a line");
_Static_assert(PLACES - 1 <= UINT16_MAX && MEMORIES_MOST <= UINT32_MAX / sizeof(struct memory), "where they are is noted");

/* Zeroed by the system page by page, as they are used: a short trace uses few. */
bool access_cache_begin(struct verdicts *v)
{
    v->cache_room = heap_zeroed(PLACES + 1, LINE);
    v->cache = (struct cache_entry *)(((uintptr_t)v->cache_room + LINE - 1) / LINE * LINE);
    return v->cache_room != NULL;
}

void access_cache_free(struct verdicts *v)
{
    free(v->cache_room);
}

/* The access that the entry wrote back last, if it is still in the memory's list; else NULL. */
static INLINE struct remembered *written_back(const struct cache_entry *entry, struct memory *memory, enum access access)
{
    uint32_t position = entry->at[access - 1];
    if (position == 0 || position > memory->list.count)
        return NULL;
    struct remembered *found = remembered_at(memory, position);
    bool same = found->strand == entry->by && found->touch.lo == entry->address && found->touch.access == access &&
                found->touch.extent == EXTENT_FROM;
    return same ? found : NULL;
}

static RARE bool more_room(struct waiting *waiting)
{
    size_t room = waiting->room != 0 ? waiting->room * 2u : WAITING_FEW;
    uint16_t *grown = room > WAITING_FEW && room <= WAITING_MOST ? heap_bytes(room * sizeof *grown) : NULL;
    if (grown == NULL && room != WAITING_FEW)
        return false;
    if (grown != NULL) {
        memcpy(grown, access_cache_waiting(waiting), waiting->count * sizeof *grown);
        if (waiting->room > WAITING_FEW)
            free(waiting->many);
        waiting->many = grown;
    }
    waiting->room = (uint16_t)room;
    return true;
}

ASIDE void access_cache_enlist(struct verdicts *v, const struct cache_entry *entry, struct memory *memory)
{
    struct waiting *waiting = &memory->waiting;
    size_t at = (size_t)(entry - v->cache);
    if (waiting->count == waiting->room && !more_room(waiting))
        access_cache_write_back(v, memory);
    access_cache_waiting(waiting)[waiting->count++] = (uint16_t)at;
    v->cache_waiting[at / 64] |= UINT64_C(1) << at % 64;
}

static void forget(const struct cache_entry *entry, struct memory *memory, unsigned kinds)
{
    for (; kinds != 0; kinds &= kinds - 1) {
        struct remembered *old = written_back(entry, memory, (enum access)__builtin_ctz(kinds));
        if (old != NULL)
            remembered_forget(memory, old);
    }
}

/* Adds what is noted of the entry, not before `least`, among others by time. */
static INLINE unsigned collect(struct noted *noted, unsigned count, struct cache_entry *entry, uint32_t least)
{
    for (unsigned left = entry->noted & ((1u << ENTRY_REPLACED) - 1); left != 0; left &= left - 1) {
        enum access access = (enum access)__builtin_ctz(left);
        struct noted one = {entry, entry->order[access - 1], access};
        unsigned at = count;
        if (one.order < least)
            continue;
        for (; at != 0 && noted[at - 1].order > one.order; at--)
            noted[at] = noted[at - 1];
        noted[at] = one;
        count++;
    }
    return count;
}

/* The first order that is later than operation `since`. */
static uint32_t order_after(const struct verdicts *v, uint64_t since)
{
    return since >= v->ends_from ? (uint32_t)(since - v->ends_from + 1) << TOUCHES_BITS : 0;
}

unsigned access_cache_newer(struct verdicts *v, struct memory *memory, uint32_t strand, uint64_t since, struct noted *out)
{
    const uint16_t *waiting = access_cache_waiting(&memory->waiting);
    uint32_t least = order_after(v, since);
    unsigned count = 0;
    for (unsigned i = 0; i < memory->waiting.count; i++)
        if (v->cache[waiting[i]].by != strand)
            count = collect(out, count, &v->cache[waiting[i]], least);
    return count;
}

static uint64_t op_of(const struct verdicts *v, const struct noted *noted)
{
    return v->ends_from + (noted->order >> TOUCHES_BITS);
}

struct remembered access_cache_as_remembered(const struct verdicts *v, const struct memory *memory,
                                             const struct noted *noted)
{
    return (struct remembered){.touch = {noted->entry->address, memory->end, noted->access, EXTENT_FROM},
                               .op = op_of(v, noted),
                               .strand = noted->entry->by,
                               .end = v->ends[noted->order >> TOUCHES_BITS]};
}

static void write_back(struct verdicts *v, struct memory *memory, const struct noted *noted)
{
    struct cache_entry *entry = noted->entry;
    const struct edge_end *end = &v->ends[noted->order >> TOUCHES_BITS];
    uint64_t op = op_of(v, noted);
    uint16_t *at = &entry->at[noted->access - 1];
    struct remembered *old = written_back(entry, memory, noted->access);
    struct touch touch = {entry->address, memory->end, noted->access, EXTENT_FROM};
    if (old != NULL)
        remembered_renew(memory, old, *at, op, end);
    else
        *at = remembered_add(v, entry->by, memory, &touch, op, end);
}

void access_cache_write_back(struct verdicts *v, struct memory *memory)
{
    struct noted noted[WAITING_MOST * ACCESS_UNKNOWN];
    const uint16_t *waiting = access_cache_waiting(&memory->waiting);
    unsigned count = 0;
    for (unsigned i = 0; i < memory->waiting.count; i++) {
        struct cache_entry *entry = &v->cache[waiting[i]];
        forget(entry, memory, (unsigned)(entry->noted >> ENTRY_REPLACED & ~entry->noted));
        count = collect(noted, count, entry, 0);
        entry->noted = entry->latest = 0;
    }
    memory->waiting.count = 0;
    for (unsigned i = 0; i < count; i++)
        write_back(v, memory, &noted[i]);
}

bool access_cache_supersedes(struct verdicts *v, const struct remembered *old, uint32_t position)
{
    struct toucher by = access_cache_toucher(v, old->strand);
    const struct cache_entry *entry = access_cache_at(v, &by, old->touch.lo);
    return old->touch.extent == EXTENT_FROM && entry->at[old->touch.access - 1] == position && entry->strand == by.serial &&
           entry->address == old->touch.lo && ((entry->noted >> ENTRY_REPLACED | entry->noted) & 1u << old->touch.access);
}

bool access_cache_first(const struct verdicts *v, struct memory *memory, uint64_t strands, bool any, uint64_t since,
                        struct remembered *out)
{
    const unsigned kinds =
        any ? 1 << ACCESS_READ | 1 << ACCESS_UNKNOWN | 1 << ACCESS_WRITE : 1 << ACCESS_UNKNOWN | 1 << ACCESS_WRITE;
    uint32_t least = order_after(v, since),
             soonest = UINT32_MAX - least; /* beyond `least`: what is before that is further away still */
    struct noted first = {.entry = NULL};
    const uint16_t *waiting = access_cache_waiting(&memory->waiting);
    for (unsigned i = memory->waiting.count; i-- > 0;) {
        struct cache_entry *entry = &v->cache[waiting[i]];
        for (unsigned left = strands >> entry->by % 64 & 1 ? entry->noted & kinds : 0; left != 0; left &= left - 1) {
            enum access access = (enum access)__builtin_ctz(left);
            uint32_t order = entry->order[access - 1];
            if (order - least < soonest) {
                soonest = order - least;
                first = (struct noted){entry, order, access};
            }
        }
    }
    if (first.entry == NULL)
        return false;
    *out = access_cache_as_remembered(v, memory, &first);
    return true;
}

void access_cache_write_all_back(struct verdicts *v)
{
    for (size_t i = 0; i < PLACES / 64; i++) {
        for (uint64_t left = v->cache_waiting[i]; left != 0; left &= left - 1) {
            const struct cache_entry *entry = &v->cache[i * 64 + (size_t)__builtin_ctzll(left)];
            if (entry->noted != 0) /* else it was written back with others of its memory */
                access_cache_write_back(v, access_cache_memory(v, entry));
        }
        v->cache_waiting[i] = 0;
    }
}

void access_cache_drop(struct verdicts *v, struct memory *memory)
{
    const uint16_t *waiting = access_cache_waiting(&memory->waiting);
    while (memory->waiting.count != 0) {
        struct cache_entry *entry = &v->cache[waiting[--memory->waiting.count]];
        entry->noted = entry->latest = 0;
    }
}

/* The entry held another address, or another strand. The memory may remember accesses from this address from before. */
static void begin(struct verdicts *v, struct cache_entry *entry, const struct toucher *by, struct memory *memory,
                  uint64_t address)
{
    if (entry->noted != 0)
        access_cache_write_back(v, access_cache_memory(v, entry));
    *entry = (struct cache_entry){.address = address,
                                  .strand = by->serial,
                                  .by = by->strand,
                                  .memory = (uint32_t)((char *)memory - (char *)v->memories.items),
                                  .seen = UINT64_MAX};
    remembered_find(memory, by->strand, address, entry->at);
}

/* Whether all others' accesses come before the strand's by explicit order: then none need be examined in this stint. */
static INLINE bool is_clear(struct verdicts *v, const struct toucher *by, struct memory *memory, struct strand_use *use)
{
    if (memory->clear == memory->stint)
        return true;
    if (memory->tried != 0 && memory->tried >= v->learnt)
        return false;
    memory->tried = v->now;
    if (!memory_use_is_behind(v, by->strand, memory, use->clear))
        return false;
    use->clear = v->now;
    memory->clear = memory->stint;
    return true;
}

/* The kinds that need no examination once this one was examined: what conflicts with them conflicts with it as surely. */
static unsigned as_strong(enum access access)
{
    return access_cache_weaker[access] | 1u << access;
}

/* Whether the strand's last such access was examined against all others, with nothing open. */
static INLINE bool has_looked(struct verdicts *v, const struct toucher *by, struct memory *memory, struct strand_use *use,
                              enum access access)
{
    bool any = access != ACCESS_READ;
    if (use->open != 0 || (memory->strand == by->strand ? memory->other : memory->last) > use->upto[any])
        return false;
    use->upto[0] = v->now;
    use->upto[1] = any ? v->now : use->upto[1];
    return true;
}

static INLINE enum outcome look_into(struct verdicts *v, const struct toucher *by, struct cache_entry *entry,
                                     struct memory *memory, struct strand_use *use, enum access access)
{
    if (has_looked(v, by, memory, use, access))
        return OUTCOME_APART;
    struct touch touch = {entry->address, memory->end, access, EXTENT_FROM};
    struct edge_query by_strand = {.strand = by->strand};
    return access_check_open_ended(v, &by_strand, memory, use, &touch);
}

/* Conflicts were looked for, for these kinds of accesses, at call `seen`. */
static INLINE void add_kinds(const struct verdicts *v, const struct toucher *by, struct cache_entry *entry,
                             const struct memory *memory, unsigned kinds, uint64_t seen)
{
    if (entry->stint != memory->stint || access_cache_grown(v, by) > entry->seen) {
        entry->stint = memory->stint;
        entry->seen = UINT64_MAX;
        entry->kinds = 0;
    }
    entry->seen = entry->seen < seen ? entry->seen : seen;
    entry->kinds |= (uint8_t)kinds;
    entry->sure = entry->seen == UINT64_MAX ? entry->kinds : 0;
}

struct memory *access_cache_look_in(struct verdicts *v, const struct toucher *by, uint32_t order, struct memory *memory,
                                    uint64_t address, enum access access)
{
    struct cache_entry *entry = access_cache_at(v, by, address);
    if (memory->strand != by->strand)
        memory_use_leave(v, memory);
    if (entry->address != address || entry->strand != by->serial || access_cache_memory(v, entry) != memory)
        begin(v, entry, by, memory, address);
    struct strand_use *use = memory_use_of(v, memory, by->strand, strands_at(v, by->strand)->born);
    enum outcome worst = OUTCOME_APART;
    bool clear = memory->strand == by->strand && is_clear(v, by, memory, use);
    if (!clear)
        worst = look_into(v, by, entry, memory, use, access);
    memory_use_newest(v, memory, by->strand, access);
    if (worst < OUTCOME_HELD_BY_HOST && access != ACCESS_READ)
        memory_use_go_on(v, memory, use);
    clear = clear || is_clear(v, by, memory, use);
    add_kinds(v, by, entry, memory,
              clear                   ? UINT8_MAX
              : worst != OUTCOME_RACE ? as_strong(access)
                                      : 0,
              worst < OUTCOME_HELD_BY_HOST ? UINT64_MAX : v->now);
    access_cache_note(v, order, entry, memory, access);
    return memory;
}

/* Whether nothing need be examined: the strand uses the memory now and has examined such an access in this stint, at
 * another address; or what others did since its last stint changes nothing. Finds what access_cache_look_in would, at less
 * cost. */
static INLINE bool has_looked_elsewhere(struct verdicts *v, const struct toucher *by, struct memory *memory,
                                        enum access access)
{
    if (memory->strand == by->strand) {
        bool clear = memory->clear == memory->stint;
        if (clear || memory->tried < v->learnt || memory->tried == 0)
            return clear;
        return has_looked(v, by, memory, memory_use_of(v, memory, by->strand, strands_at(v, by->strand)->born), access);
    }
    struct strand_use *use = memory_use_is_asked(memory, v->few) ? memory_use_take_up(v, by->strand, memory) : NULL;
    if (use != NULL)
        is_clear(v, by, memory, use);
    return use != NULL;
}

struct memory *access_cache_look(struct verdicts *v, const struct toucher *by, uint32_t order, uint64_t address,
                                 enum access access)
{
    struct cache_entry *entry = access_cache_at(v, by, address);
    struct memory *memory = access_cache_memory(v, entry);
    bool same = entry->address == address && entry->strand == by->serial && memory->of == 0 &&
                address - memory->base < memory->end - memory->base;
    /* The strand was here before: in an earlier stint, or with a weaker access, or it has learnt something since. */
    if (same && has_looked_elsewhere(v, by, memory, access)) {
        add_kinds(v, by, entry, memory, memory->clear == memory->stint ? UINT8_MAX : as_strong(access), UINT64_MAX);
        access_cache_note(v, order, entry, memory, access);
        return memory;
    }
    if (!same)
        memory = live_memories_at(v, address);
    if (memory == NULL)
        memory = live_memories_near(v, address);
    return memory != NULL ? access_cache_look_in(v, by, order, memory, address, access) : NULL;
}
