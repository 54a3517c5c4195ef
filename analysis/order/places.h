/* SPDX-License-Identifier: Apache-2.0
 *
 * A cache of accesses, for speed alone. Nine of ten pointers of a launch are where the same lane used them before. So a
 * lane's last accesses from an address on are noted in a place, and written to what is remembered of the memory
 * (remembered.c) only when somebody has to see all of that: not when another lane uses the memory (users.c), so several
 * lanes' places may wait at once. For touches.c.
 *
 * A place notes at most one access of each kind: read, unknown, write, from weak to strong. A new access makes those of its
 * own and of weaker kinds superfluous. Say a lane reads and then writes: whoever conflicts with the read conflicts with the
 * write as well, and whoever comes after the write comes after the read. So the read need not be remembered any more. It
 * may stand in the memory's list from an earlier writing back; that is why a place notes which kinds were made superfluous:
 * they are forgotten there when the place is written back.
 */
#ifndef PTDS_ANALYSIS_ORDER_PLACES_H
#define PTDS_ANALYSIS_ORDER_PLACES_H

#include "analysis/order/engine.h"

/* What a lane did from an address on. Arrays are by kind of access (enum access, less one); sets of kinds have a bit
 * 1 << enum access. A place is as long as a line of the processor's cache: finding it is much of what a pointer costs. */
struct place {
    uint64_t address;
    uint32_t lane;   /* serial */
    uint32_t memory; /* where it is among all, in bytes */
    uint64_t turn;   /* the memory's, when conflicts with others were last looked for */
    uint64_t seen;   /* the call at which that was; later than all calls if no new order can change the answer */
    uint32_t order[ACCESS_UNKNOWN]; /* of each kind in `noted`: which access it was (places_order) */
    uint16_t at[ACCESS_UNKNOWN];    /* where the memory remembers the last one that was written back; 0: nowhere */
    uint16_t noted;                 /* low bits: kinds to be written back; PLACE_REPLACED bits higher: kinds that were */
                                    /* made superfluous since the last time. A kind can be in both: read, written, read. */
                                    /* Not 0: the place is in the memory's list of those that wait to be written back */
    uint8_t kinds;                  /* for which conflicts were looked for and no race was found */
    uint8_t sure;                   /* ... if no new order can change that, else none */
    uint8_t latest;                 /* the access noted last: `noted` has all that another one would add. 0: none waits */
    uint32_t by;                    /* the lane's position */
};
#define PLACE_REPLACED 8

/* Who touches, looked up once an operation. */
struct toucher {
    uint32_t lane, serial;
    uint64_t salt; /* the serial's part of a place's hash */
};

static inline struct toucher places_toucher(const struct verdicts *v, uint32_t lane)
{
    const struct lane *by = lanes_at(v, lane);
    return (struct toucher){.lane = lane, .serial = by->serial, .salt = (uint64_t)by->serial << 40};
}

static inline struct place *places_at(struct verdicts *v, const struct toucher *by, uint64_t address)
{
    return &v->places[(address ^ by->salt) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PLACE_BITS)];
}

/* An access of the call at hand: what is noted is written back before the calls' `ends` begin anew. */
static inline uint32_t places_order(const struct verdicts *v, uint32_t access)
{
    return (uint32_t)(v->now % ENDS) << TOUCHES_BITS | access;
}

/* By enum access: the weaker kinds, which such an access makes superfluous. Its own kind it simply takes the place of. */
enum { WEAKER_THAN_UNKNOWN = 1 << ACCESS_READ, WEAKER_THAN_WRITE = 1 << ACCESS_READ | 1 << ACCESS_UNKNOWN };
static const uint16_t places_weaker[] = {
    [ACCESS_READ] = 0, [ACCESS_WRITE] = WEAKER_THAN_WRITE, [ACCESS_UNKNOWN] = WEAKER_THAN_UNKNOWN};
/* So of `noted`: which bits stay, and which are added. */
static const struct {
    uint16_t keeps, adds;
} places_bits[] = {
    [ACCESS_READ] = {UINT16_MAX, 1 << ACCESS_READ},
    [ACCESS_WRITE] = {(uint16_t)~WEAKER_THAN_WRITE, 1 << ACCESS_WRITE | WEAKER_THAN_WRITE << PLACE_REPLACED},
    [ACCESS_UNKNOWN] = {(uint16_t)~WEAKER_THAN_UNKNOWN, 1 << ACCESS_UNKNOWN | WEAKER_THAN_UNKNOWN << PLACE_REPLACED}};

static inline struct memory *places_memory(const struct verdicts *v, const struct place *place)
{
    return (struct memory *)((char *)v->memories.items + place->memory);
}

void places_enlist(struct verdicts *v, const struct place *place, struct memory *memory);

/* Another kind than the last one, or the first one that waits. */
static inline void places_note_other(struct verdicts *v, struct place *place, struct memory *memory, enum access access)
{
    if (place->noted == 0)
        places_enlist(v, place, memory);
    place->noted = (uint16_t)((place->noted & places_bits[access].keeps) | places_bits[access].adds);
    place->latest = (uint8_t)access;
}

/* The access at hand, to be remembered. */
static inline void places_note(struct verdicts *v, uint32_t order, struct place *place, struct memory *memory,
                               enum access access)
{
    uint64_t now = v->now;
    if (place->latest != access)
        places_note_other(v, place, memory, access);
    place->order[access - 1] = order;
    memory->last = now;
    memory->changed = access != ACCESS_READ ? now : memory->changed;
}

/* When the lane, or the host, last learnt anything. */
static inline uint64_t places_grown(const struct verdicts *v, const struct toucher *by)
{
    return larger(lanes_at(v, by->lane)->grown_at, lanes_at(v, HOST_LANE)->grown_at);
}

struct memory *places_look(struct verdicts *v, const struct toucher *by, uint32_t order, uint64_t address,
                           enum access access);
struct memory *places_look_in(struct verdicts *v, const struct toucher *by, uint32_t order, struct memory *memory,
                              uint64_t address, enum access access);

/* The memory; NULL: the address is in none that is known, and nothing happened. The usual case is the short one: the lane
 * did the same there before, nobody else has used the memory since, and so nothing is to be looked into. */
static inline struct memory *places_touch(struct verdicts *v, const struct toucher *by, uint32_t order, uint64_t address,
                                          enum access access)
{
    struct place *place = places_at(v, by, address);
    struct memory *memory = places_memory(v, place);
    bool known = place->address == address && place->lane == by->serial && place->turn == memory->turn &&
                 ((place->sure & 1u << access) || ((place->kinds & 1u << access) && places_grown(v, by) <= place->seen));
    if (__builtin_expect(!known, 0))
        return places_look(v, by, order, address, access);
    places_note(v, order, place, memory, access);
    return memory;
}

#endif
