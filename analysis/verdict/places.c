/* SPDX-License-Identifier: Apache-2.0
 *
 * The addresses that a lane uses from their first byte on, again and again. Called for every pointer of every launch, so
 * the usual case must be short: the lane did the same there before, nobody else has used the memory since, and so nothing
 * is to be looked into; only the access that is remembered becomes a later one. Must find nothing else than looking into it
 * would.
 */
#include "analysis/verdict/engine.h"

static inline struct place *place_of(struct verdicts *v, uint32_t serial, uint64_t address)
{
    uint64_t mixed = (address ^ (uint64_t)serial << 40) * UINT64_C(0x9e3779b97f4a7c15);
    return &v->places[mixed >> (64 - PLACE_BITS)];
}

/* When the lane, or the host, last learnt anything. */
static inline uint64_t grown_at(const struct verdicts *v, uint32_t lane)
{
    return larger(lanes_at(v, lane)->grown_at, lanes_at(v, HOST_LANE)->grown_at);
}

/* Where it is remembered, if it still is. */
static inline struct remembered *remembered_at(const struct place *place, struct memory *memory, uint32_t lane,
                                               enum access access)
{
    uint32_t position = place->at[access - 1];
    if (position == 0 || position > memory->list.count)
        return NULL;
    struct remembered *found = accesses_at(memory, position);
    bool same = found->lane == lane && found->touch.lo == place->address && found->touch.access == access &&
                found->touch.extent == EXTENT_FROM;
    return same ? found : NULL;
}

/* What a later access makes superfluous, as bits. */
static inline unsigned weaker_than(enum access access)
{
    return access == ACCESS_READ      ? 0
           : access == ACCESS_UNKNOWN ? 1u << ACCESS_READ
                                      : 1u << ACCESS_READ | 1u << ACCESS_UNKNOWN;
}

static void forget_weaker(struct place *place, struct memory *memory, uint32_t lane, unsigned weaker)
{
    for (enum access access = ACCESS_READ; access <= ACCESS_UNKNOWN; access++) {
        struct remembered *old = weaker & 1u << access ? remembered_at(place, memory, lane, access) : NULL;
        if (old != NULL)
            accesses_forget(memory, old);
    }
    place->live &= (uint8_t)~weaker;
}

static void remember(struct verdicts *v, struct place *place, struct memory *memory, uint32_t lane, enum access access)
{
    struct touch touch = {place->address, memory->end, access, EXTENT_FROM};
    place->at[access - 1] = accesses_remember(v, lane, memory, &touch);
    place->live |= (uint8_t)(1u << access);
}

static void again(struct verdicts *v, struct place *place, struct memory *memory, uint32_t lane, enum access access)
{
    if (place->live & weaker_than(access))
        forget_weaker(place, memory, lane, place->live & weaker_than(access));
    struct remembered *old =
        memory->lane == lane && (place->live & 1u << access) ? remembered_at(place, memory, lane, access) : NULL;
    if (old != NULL)
        accesses_again(v, memory, old, place->at[access - 1]);
    else
        remember(v, place, memory, lane, access);
}

static void look_into(struct verdicts *v, struct place *place, struct memory *memory, uint32_t lane, enum access access)
{
    struct touch touch = {place->address, memory->end, access, EXTENT_FROM};
    struct blame by = {.lane = lane};
    const struct remembered *keep = memory->lane == lane ? remembered_at(place, memory, lane, access) : NULL;
    enum outcome worst = accesses_open(v, &by, memory, &touch, keep);
    again(v, place, memory, lane, access);
    if (place->turn != memory->turn || grown_at(v, lane) > place->seen) {
        place->turn = memory->turn;
        place->seen = UINT64_MAX;
        place->kinds = 0;
    }
    uint64_t seen = worst == OUTCOME_APART ? UINT64_MAX : v->now;
    place->seen = place->seen < seen ? place->seen : seen;
    place->kinds |= (uint8_t)((worst != OUTCOME_RACE) << access);
}

struct memory *places_touch_in(struct verdicts *v, uint32_t lane, struct memory *memory, uint64_t address,
                               enum access access)
{
    uint32_t serial = lanes_at(v, lane)->serial, at = (uint32_t)(memory - v->memories.items);
    struct place *place = place_of(v, serial, address);
    if (place->address != address || place->lane != serial || place->memory != at)
        *place = (struct place){.address = address, .lane = serial, .memory = at};
    look_into(v, place, memory, lane, access);
    return memory;
}

struct memory *places_touch(struct verdicts *v, uint32_t lane, uint64_t address, enum access access)
{
    uint32_t serial = lanes_at(v, lane)->serial;
    struct place *place = place_of(v, serial, address);
    struct memory *memory = &v->memories.items[place->memory];
    bool known = place->address == address && place->lane == serial && place->turn == memory->turn &&
                 (place->kinds & 1u << access) && grown_at(v, lane) <= place->seen;
    if (known) {
        again(v, place, memory, lane, access);
        return memory;
    }
    memory = memories_at(v, address);
    return memory != NULL ? places_touch_in(v, lane, memory, address, access) : NULL;
}
