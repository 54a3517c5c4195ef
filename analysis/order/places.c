/* SPDX-License-Identifier: Apache-2.0
 *
 * What a lane does at an address for the first time, or for the first time since others used that memory; and the way back
 * from the cache (places.h) to what is remembered of the memory. Called by touches.c, and by whoever must see all of a
 * memory. Must find nothing else than looking into every single access would.
 */
#include "analysis/order/blame.h"
#include "analysis/order/places.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"
#include "analysis/base/hints.h"

enum { LINE = 64, PLACES = 1 << PLACE_BITS };
_Static_assert(sizeof(struct place) == LINE, "a line");
_Static_assert(PLACES - 1 <= UINT16_MAX && MEMORIES_MOST <= UINT32_MAX / sizeof(struct memory), "where they are is noted");

/* Zeroed by the system page by page, as they are used: a short trace uses few. */
bool places_begin(struct verdicts *v)
{
    v->place_room = heap_zeroed(PLACES + 1, LINE);
    v->places = (struct place *)(((uintptr_t)v->place_room + LINE - 1) / LINE * LINE);
    return v->place_room != NULL;
}

void places_free(struct verdicts *v)
{
    free(v->place_room);
}

/* Where it is remembered, if it still is. */
static INLINE struct remembered *remembered_at(const struct place *place, struct memory *memory, enum access access)
{
    uint32_t position = place->at[access - 1];
    if (position == 0 || position > memory->list.count)
        return NULL;
    struct remembered *found = accesses_at(memory, position);
    bool same = found->lane == place->by && found->touch.lo == place->address && found->touch.access == access &&
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
        memcpy(grown, waiting_items(waiting), waiting->count * sizeof *grown);
        if (waiting->room > WAITING_FEW)
            free(waiting->many);
        waiting->many = grown;
    }
    waiting->room = (uint16_t)room;
    return true;
}

ASIDE void places_enlist(struct verdicts *v, const struct place *place, struct memory *memory)
{
    struct waiting *waiting = &memory->waiting;
    size_t at = (size_t)(place - v->places);
    if (waiting->count == waiting->room && !more_room(waiting))
        places_write_back(v, memory);
    waiting_items(waiting)[waiting->count++] = (uint16_t)at;
    v->places_waiting[at / 64] |= UINT64_C(1) << at % 64;
}

static void forget(const struct place *place, struct memory *memory, unsigned kinds)
{
    for (; kinds != 0; kinds &= kinds - 1) {
        struct remembered *old = remembered_at(place, memory, (enum access)__builtin_ctz(kinds));
        if (old != NULL)
            accesses_forget(memory, old);
    }
}

/* What is noted of a place, not before `least`, among others by time. */
static INLINE unsigned collect(struct noted *noted, unsigned count, struct place *place, uint32_t least)
{
    for (unsigned left = place->noted & ((1u << PLACE_REPLACED) - 1); left != 0; left &= left - 1) {
        enum access access = (enum access)__builtin_ctz(left);
        struct noted one = {place, place->order[access - 1], access};
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

unsigned places_newer(struct verdicts *v, struct memory *memory, uint32_t lane, uint64_t since, struct noted *out)
{
    const uint16_t *waiting = waiting_items(&memory->waiting);
    uint32_t least = order_after(v, since);
    unsigned count = 0;
    for (unsigned i = 0; i < memory->waiting.count; i++)
        if (v->places[waiting[i]].by != lane)
            count = collect(out, count, &v->places[waiting[i]], least);
    return count;
}

static uint64_t op_of(const struct verdicts *v, const struct noted *noted)
{
    return v->ends_from + (noted->order >> TOUCHES_BITS);
}

struct remembered places_as_remembered(const struct verdicts *v, const struct memory *memory, const struct noted *noted)
{
    return (struct remembered){.touch = {noted->place->address, memory->end, noted->access, EXTENT_FROM},
                               .op = op_of(v, noted),
                               .lane = noted->place->by,
                               .end = v->ends[noted->order >> TOUCHES_BITS]};
}

static void write_back(struct verdicts *v, struct memory *memory, const struct noted *noted)
{
    struct place *place = noted->place;
    const struct edge_end *end = &v->ends[noted->order >> TOUCHES_BITS];
    uint64_t op = op_of(v, noted);
    uint16_t *at = &place->at[noted->access - 1];
    struct remembered *old = remembered_at(place, memory, noted->access);
    struct touch touch = {place->address, memory->end, noted->access, EXTENT_FROM};
    if (old != NULL)
        accesses_again(memory, old, *at, op, end);
    else
        *at = accesses_remember(v, place->by, memory, &touch, op, end);
}

void places_write_back(struct verdicts *v, struct memory *memory)
{
    struct noted noted[WAITING_MOST * ACCESS_UNKNOWN];
    const uint16_t *waiting = waiting_items(&memory->waiting);
    unsigned count = 0;
    for (unsigned i = 0; i < memory->waiting.count; i++) {
        struct place *place = &v->places[waiting[i]];
        forget(place, memory, (unsigned)(place->noted >> PLACE_REPLACED & ~place->noted));
        count = collect(noted, count, place, 0);
        place->noted = place->latest = 0;
    }
    memory->waiting.count = 0;
    for (unsigned i = 0; i < count; i++)
        write_back(v, memory, &noted[i]);
}

bool places_supersede(struct verdicts *v, const struct remembered *old, uint32_t position)
{
    struct toucher by = places_toucher(v, old->lane);
    const struct place *place = places_at(v, &by, old->touch.lo);
    return old->touch.extent == EXTENT_FROM && place->at[old->touch.access - 1] == position && place->lane == by.serial &&
           place->address == old->touch.lo && ((place->noted >> PLACE_REPLACED | place->noted) & 1u << old->touch.access);
}

bool places_first(const struct verdicts *v, struct memory *memory, uint64_t lanes, bool any, uint64_t since,
                  struct remembered *out)
{
    const unsigned kinds =
        any ? 1 << ACCESS_READ | 1 << ACCESS_UNKNOWN | 1 << ACCESS_WRITE : 1 << ACCESS_UNKNOWN | 1 << ACCESS_WRITE;
    uint32_t least = order_after(v, since),
             soonest = UINT32_MAX - least; /* beyond `least`: what is before that is further away still */
    struct noted first = {.place = NULL};
    const uint16_t *waiting = waiting_items(&memory->waiting);
    for (unsigned i = memory->waiting.count; i-- > 0;) {
        struct place *place = &v->places[waiting[i]];
        for (unsigned left = lanes >> place->by % 64 & 1 ? place->noted & kinds : 0; left != 0; left &= left - 1) {
            enum access access = (enum access)__builtin_ctz(left);
            uint32_t order = place->order[access - 1];
            if (order - least < soonest) {
                soonest = order - least;
                first = (struct noted){place, order, access};
            }
        }
    }
    if (first.place == NULL)
        return false;
    *out = places_as_remembered(v, memory, &first);
    return true;
}

void places_write_all_back(struct verdicts *v)
{
    for (size_t i = 0; i < PLACES / 64; i++) {
        for (uint64_t left = v->places_waiting[i]; left != 0; left &= left - 1) {
            const struct place *place = &v->places[i * 64 + (size_t)__builtin_ctzll(left)];
            if (place->noted != 0) /* else it was written back with others of its memory */
                places_write_back(v, places_memory(v, place));
        }
        v->places_waiting[i] = 0;
    }
}

void places_drop(struct verdicts *v, struct memory *memory)
{
    const uint16_t *waiting = waiting_items(&memory->waiting);
    while (memory->waiting.count != 0) {
        struct place *place = &v->places[waiting[--memory->waiting.count]];
        place->noted = place->latest = 0;
    }
}

/* Another address was there, of this lane or another. What is remembered of the new one may be from before that. */
static void begin(struct verdicts *v, struct place *place, const struct toucher *by, struct memory *memory,
                  uint64_t address)
{
    if (place->noted != 0)
        places_write_back(v, places_memory(v, place));
    *place = (struct place){.address = address,
                            .lane = by->serial,
                            .by = by->lane,
                            .memory = (uint32_t)((char *)memory - (char *)v->memories.items),
                            .seen = UINT64_MAX};
    accesses_find(memory, by->lane, address, place->at);
}

/* Whether whatever others did to the memory comes before the lane's operations by explicit order, and so needs no look as
 * long as they do not come back. */
static INLINE bool is_clear(struct verdicts *v, const struct toucher *by, struct memory *memory, struct user *user)
{
    if (memory->clear == memory->turn)
        return true;
    if (memory->tried != 0 && memory->tried >= v->learnt)
        return false;
    memory->tried = v->now;
    if (!users_are_behind(v, by->lane, memory, user->clear))
        return false;
    user->clear = v->now;
    memory->clear = memory->turn;
    return true;
}

/* Whatever stands against a weaker access stands against this one, and as surely. */
static unsigned as_strong(enum access access)
{
    return places_weaker[access] | 1u << access;
}

/* Whether all was examined by the lane's last such access, and nothing met that another look could find otherwise. */
static INLINE bool has_looked(struct verdicts *v, const struct toucher *by, struct memory *memory, struct user *user,
                              enum access access)
{
    bool any = access != ACCESS_READ;
    if (user->open != 0 || (memory->lane == by->lane ? memory->other : memory->last) > user->upto[any])
        return false;
    user->upto[0] = v->now;
    user->upto[1] = any ? v->now : user->upto[1];
    return true;
}

static INLINE enum outcome look_into(struct verdicts *v, const struct toucher *by, struct place *place,
                                     struct memory *memory, struct user *user, enum access access)
{
    if (has_looked(v, by, memory, user, access))
        return OUTCOME_APART;
    struct touch touch = {place->address, memory->end, access, EXTENT_FROM};
    struct blame blame = {.lane = by->lane};
    return accesses_open(v, &blame, memory, user, &touch);
}

/* Conflicts were looked for, for these kinds of accesses, at call `seen`. */
static INLINE void add_kinds(const struct verdicts *v, const struct toucher *by, struct place *place,
                             const struct memory *memory, unsigned kinds, uint64_t seen)
{
    if (place->turn != memory->turn || places_grown(v, by) > place->seen) {
        place->turn = memory->turn;
        place->seen = UINT64_MAX;
        place->kinds = 0;
    }
    place->seen = place->seen < seen ? place->seen : seen;
    place->kinds |= (uint8_t)kinds;
    place->sure = place->seen == UINT64_MAX ? place->kinds : 0;
}

struct memory *places_look_in(struct verdicts *v, const struct toucher *by, uint32_t order, struct memory *memory,
                              uint64_t address, enum access access)
{
    struct place *place = places_at(v, by, address);
    if (memory->lane != by->lane)
        users_leave(v, memory);
    if (place->address != address || place->lane != by->serial || places_memory(v, place) != memory)
        begin(v, place, by, memory, address);
    struct user *user = users_of(v, memory, by->lane, lanes_at(v, by->lane)->born);
    enum outcome worst = OUTCOME_APART;
    bool clear = memory->lane == by->lane && is_clear(v, by, memory, user);
    if (!clear)
        worst = look_into(v, by, place, memory, user, access);
    users_newest(v, memory, by->lane, access);
    if (worst < OUTCOME_HELD_BY_HOST && access != ACCESS_READ)
        users_go_on(v, memory, user);
    clear = clear || is_clear(v, by, memory, user);
    add_kinds(v, by, place, memory,
              clear                   ? UINT8_MAX
              : worst != OUTCOME_RACE ? as_strong(access)
                                      : 0,
              worst < OUTCOME_HELD_BY_HOST ? UINT64_MAX : v->now);
    places_note(v, order, place, memory, access);
    return memory;
}

/* Whether nothing is to be looked into: as the lane uses the memory now and has looked into it in this turn, if elsewhere,
 * or as what others did to it since the lane's last turn tells it nothing. What places_look_in would find, at less cost. */
static INLINE bool has_looked_elsewhere(struct verdicts *v, const struct toucher *by, struct memory *memory,
                                        enum access access)
{
    if (memory->lane == by->lane) {
        bool clear = memory->clear == memory->turn;
        if (clear || memory->tried < v->learnt || memory->tried == 0)
            return clear;
        return has_looked(v, by, memory, users_of(v, memory, by->lane, lanes_at(v, by->lane)->born), access);
    }
    struct user *user = users_are_asked(memory, v->few) ? users_take_up(v, by->lane, memory) : NULL;
    if (user != NULL)
        is_clear(v, by, memory, user);
    return user != NULL;
}

struct memory *places_look(struct verdicts *v, const struct toucher *by, uint32_t order, uint64_t address,
                           enum access access)
{
    struct place *place = places_at(v, by, address);
    struct memory *memory = places_memory(v, place);
    bool same = place->address == address && place->lane == by->serial && memory->of == 0 &&
                address - memory->base < memory->end - memory->base;
    /* The lane was here before: in an earlier turn, or with a weaker access, or it has learnt something since. */
    if (same && has_looked_elsewhere(v, by, memory, access)) {
        add_kinds(v, by, place, memory, memory->clear == memory->turn ? UINT8_MAX : as_strong(access), UINT64_MAX);
        places_note(v, order, place, memory, access);
        return memory;
    }
    if (!same)
        memory = memories_at(v, address);
    if (memory == NULL)
        memory = memories_near(v, address);
    return memory != NULL ? places_look_in(v, by, order, memory, address, access) : NULL;
}
