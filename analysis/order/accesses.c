/* SPDX-License-Identifier: Apache-2.0
 *
 * The accesses remembered of a piece of memory, and which of them a new one may conflict with. Called for what places.c
 * cannot answer; what is known already must not be looked at again. Of a stream's accesses only the last of each kind and
 * place is remembered: whoever comes after that one comes after the others.
 *
 * Nobody sees how far a kernel reaches from its pointers. Such an open-ended access and any other of one memory are a
 * doubt, never more, wherever they start; that a lane has had the doubt is noted, and then only what is newer is looked at.
 * Knowledge only grows, so what is ordered stays ordered; what is not, or by the host alone, is looked at again when the
 * lane has learnt of the other one.
 */
#include "analysis/order/engine.h"

#include <stdlib.h>

/* Whoever conflicts with the old access conflicts as surely with the new one. A kernel may reach all of the memory. */
static INLINE bool covers(const struct memory *memory, const struct touch *new, const struct touch *old)
{
    if (accesses_strength(new->access) < accesses_strength(old->access))
        return false;
    if (new->extent != EXTENT_EXACT)
        return new->extent == old->extent &&new->lo == old->lo &&new->hi == old->hi;
    if (old->extent == EXTENT_FROM)
        return new->lo <= memory->base &&new->hi >= memory->end;
    return new->lo <= old->lo &&new->hi >= old->hi;
}

static uint16_t bucket_of(uint32_t lane, const struct touch *touch)
{
    uint64_t mixed = (touch->lo ^ (uint64_t)lane << 40) * UINT64_C(0x9e3779b97f4a7c15);
    return touch->extent == EXTENT_FROM ? (uint16_t)(1 + (mixed >> 32) % (BUCKETS - 1)) : 0;
}

static void leave_bucket(struct memory *memory, uint16_t position)
{
    const struct remembered *old = accesses_at(memory, position);
    uint16_t *link = &memory->bucket[old->home];
    while (*link != position)
        link = &accesses_at(memory, *link)->chained;
    *link = old->chained;
}

static void leave_order(struct memory *memory, const struct remembered *old)
{
    *(old->earlier != 0 ? &accesses_at(memory, old->earlier)->later : &memory->oldest) = old->later;
    *(old->later != 0 ? &accesses_at(memory, old->later)->earlier : &memory->newest) = old->earlier;
}

/* Its place is free afterwards; `chained` of what was before it in its bucket goes on behind it. */
void accesses_forget(struct memory *memory, struct remembered *old)
{
    uint16_t position = (uint16_t)(old - memory->list.items + 1);
    leave_bucket(memory, position);
    leave_order(memory, old);
    old->lane = NO_LANE;
    old->chained = memory->free;
    memory->free = position;
    memory->live--;
}

static void be_newest(struct memory *memory, struct remembered *access, uint16_t position)
{
    access->earlier = memory->newest;
    access->later = 0;
    *(memory->newest != 0 ? &accesses_at(memory, memory->newest)->later : &memory->oldest) = position;
    memory->newest = position;
}

void accesses_again(struct memory *memory, struct remembered *access, uint16_t position, uint64_t op,
                    const struct edge_end *end)
{
    access->op = op;
    access->end = *end;
    if (memory->newest == position)
        return;
    leave_order(memory, access);
    be_newest(memory, access, position);
}

/* Drops what everybody comes after anyway. */
ASIDE void accesses_clean(struct verdicts *v, struct memory *memory)
{
    const struct vclock *done = &lanes_at(v, HOST_LANE)->expl;
    if (memory->cleaned >= v->learnt)
        return;
    memory->cleaned = v->now;
    for (uint32_t at = memory->oldest, next; at != 0; at = next) {
        struct remembered *old = accesses_at(memory, at);
        next = old->later;
        if (vclock_get(done, old->lane) >= old->op)
            accesses_forget(memory, old);
    }
}

static bool give_room(struct memory *memory)
{
    uint32_t room = memory->examined_room != 0 ? memory->examined_room * 2 : EXAMINED_LEAST;
    struct examined *grown = room <= EXAMINED_MOST ? calloc(room, sizeof *grown) : NULL;
    if (grown == NULL)
        return false;
    for (uint32_t i = 0; i < memory->examined_room; i++)
        if (memory->examined[i].born != 0)
            grown[memory->examined[i].lane % room] = memory->examined[i];
    free(memory->examined);
    memory->examined = grown;
    memory->examined_room = room;
    return true;
}

/* Lanes whose places meet get more room, as long as there is any: who is forgotten has to look at everything again. */
RARE struct examined *accesses_examined_more(struct verdicts *v, struct memory *memory, uint32_t lane)
{
    struct examined *found = memory->examined != NULL ? &memory->examined[lane % memory->examined_room] : NULL;
    while ((found == NULL || found->born != 0) && give_room(memory))
        found = &memory->examined[lane % memory->examined_room];
    if (found == NULL)
        found = &v->unexamined;
    *found = (struct examined){.born = lanes_at(v, lane)->born, .lane = lane};
    return found;
}

/* Has the lane learnt of one of those that are worth another look? */
static bool learnt_of(const struct verdicts *v, const struct lane *lane, const struct examined *examined, uint64_t since)
{
    const struct lane *host = lanes_at(v, HOST_LANE);
    for (uint64_t open = examined->open; open != 0; open &= open - 1)
        for (uint32_t about = (uint32_t)__builtin_ctzll(open); about < v->lanes.count; about += 64)
            if (larger(vclock_get(&lane->grown, about), vclock_get(&host->grown, about)) > since)
                return true;
    return false;
}

/* The first of the remembered accesses that have not been examined yet. */
static uint32_t first_new(const struct verdicts *v, const struct lane *lane, struct memory *memory,
                          struct examined *examined, bool any)
{
    uint32_t fresh = 0;
    if (examined->open != 0 && learnt_of(v, lane, examined, examined->upto[any])) {
        examined->upto[0] = examined->upto[1] = 0;
        examined->open = 0;
    }
    for (uint32_t at = memory->newest; at != 0 && accesses_at(memory, at)->op > examined->upto[any];) {
        fresh = at;
        at = accesses_at(memory, at)->earlier;
    }
    return fresh;
}

static enum outcome worse(enum outcome a, enum outcome b)
{
    return a > b ? a : b;
}

/* Drops what the lane did there before, up to some operation, and the new access makes superfluous. */
static INLINE void replace(const struct blame *by, struct memory *memory, uint64_t upto, const struct touch *touch,
                           const struct remembered *keep)
{
    for (uint32_t at = memory->bucket[bucket_of(by->lane, touch)], next; at != 0; at = next) {
        struct remembered *old = accesses_at(memory, at);
        next = old->chained;
        if (old->lane == by->lane && old != keep && old->op <= upto && covers(memory, touch, &old->touch))
            accesses_forget(memory, old);
    }
}

static bool nothing_new(const struct verdicts *v, const struct memory *memory, const struct examined *examined,
                        uint32_t lane, bool any)
{
    uint64_t since = examined->upto[any];
    return (memory->lane == lane ? memory->other : memory->last) <= since &&
           (examined->open == 0 || !learnt_of(v, lanes_at(v, lane), examined, since));
}

/* Those that are worth another look, and so what is remembered of places of this memory. */
static void note_open(struct verdicts *v, struct memory *memory, struct examined *examined, uint32_t lane)
{
    if (examined->open == 0)
        memory->turn = ++v->turns;
    examined->open |= UINT64_C(1) << lane % 64;
}

/* What an operation's lane knows of another one. */
struct other {
    uint32_t lane;
    uint64_t explicitly, full, own; /* own: without what only the host knows */
};

static INLINE void know_other(const struct verdicts *v, const struct blame *by, uint32_t about, struct other *other)
{
    const struct lane *lane = lanes_at(v, by->lane), *host = lanes_at(v, HOST_LANE);
    other->lane = about;
    other->explicitly = lanes_explicit(lane, host, about);
    other->own = vclock_get(&lane->full, about);
    other->full = larger(other->own, vclock_get(&host->full, about));
}

/* As conflicts_examine of an open-ended access and one of another lane, where that changes nothing but a count: most were
 * doubted before. OUTCOME_UNSETTLED where it may change something. */
enum { OUTCOME_UNSETTLED = OUTCOME_RACE + 1 };

static INLINE unsigned outcome_of_doubted(struct verdicts *v, const struct blame *by, const struct remembered *old,
                                          const struct other *other)
{
    if (other->full < old->op) {
        if (!blame_all_settled(v, by, other->lane))
            return OUTCOME_UNSETTLED;
        v->totals.possible_races++;
        return OUTCOME_RACE;
    }
    const struct lane *lane = lanes_at(v, by->lane);
    if (!blame_doubted(lane, other->lane, old->op, other->own) && !blame_came_doubted(v, lane, other->lane, old->op))
        return OUTCOME_UNSETTLED;
    return other->own >= old->op ? OUTCOME_HELD : OUTCOME_HELD_BY_HOST;
}

/* `doubt`: at least one of the two is open-ended. */
static INLINE enum outcome look_at(struct verdicts *v, const struct blame *by, struct memory *memory,
                                   struct remembered *old, const struct touch *touch, struct other *other, bool doubt)
{
    if (old->lane != other->lane)
        know_other(v, by, old->lane, other);
    if (other->explicitly >= old->op || (old->touch.access == ACCESS_READ && touch->access == ACCESS_READ))
        return OUTCOME_APART;
    bool shortcut = doubt && v->conflicts == NULL;
    unsigned outcome = shortcut ? outcome_of_doubted(v, by, old, other) : (unsigned)OUTCOME_UNSETTLED;
    if (outcome != OUTCOME_UNSETTLED)
        return (enum outcome)outcome;
    other->lane = NO_LANE;
    return conflicts_examine(v, by, memory, old, touch);
}

/* The lane's own first, then what is new. Where nothing is, the place knows what of its own is superfluous (places.c). */
enum outcome accesses_open(struct verdicts *v, const struct blame *by, struct memory *memory, const struct touch *touch,
                           const struct remembered *keep)
{
    struct examined *examined = accesses_examined(v, memory, by->lane, lanes_at(v, by->lane)->born);
    bool any = touch->access != ACCESS_READ;
    if (nothing_new(v, memory, examined, by->lane, any)) {
        examined->upto[0] = v->now;
        examined->upto[1] = any ? v->now : examined->upto[1];
        return examined->open != 0 ? OUTCOME_HELD_BY_HOST : OUTCOME_APART;
    }
    if (memory->live > 16)
        accesses_clean(v, memory);
    uint32_t fresh = first_new(v, lanes_at(v, by->lane), memory, examined, any);
    enum outcome worst = OUTCOME_APART;
    struct other other = {.lane = NO_LANE};
    replace(by, memory, examined->upto[any], touch, keep);
    for (uint32_t at = fresh, next; at != 0; at = next) {
        struct remembered *old = accesses_at(memory, at);
        next = old->later;
        if (old->lane == by->lane) {
            if (old != keep && covers(memory, touch, &old->touch))
                accesses_forget(memory, old);
            continue;
        }
        enum outcome outcome = look_at(v, by, memory, old, touch, &other, true);
        if (outcome >= OUTCOME_HELD_BY_HOST)
            note_open(v, memory, examined, old->lane);
        worst = worse(worst, outcome);
    }
    examined->upto[0] = v->now;
    examined->upto[1] = any ? v->now : examined->upto[1];
    return examined->open != 0 ? worse(worst, OUTCOME_HELD_BY_HOST) : worst;
}

/* What a free waits for, and copies from pinned memory that may overtake, tell more than a doubt. */
static bool doubts_settle(const struct verdicts *v, const struct blame *by, const struct memory *memory)
{
    bool overtakes = v->kept != NULL && v->kept->overtakes && v->end->op == PTDS_OP_COPY && memory->classes == TOUCHES_HOST;
    return by->cover == NULL && !overtakes;
}

/* Looks at what is remembered of the memory, and drops of it what the new access of the same lane makes superfluous. */
void accesses_touch(struct verdicts *v, const struct blame *by, struct memory *memory, const struct touch *touch)
{
    places_write_back(v, memory);
    if (memory->live > 16)
        accesses_clean(v, memory);
    struct other other = {.lane = NO_LANE};
    bool settle = doubts_settle(v, by, memory);
    for (uint32_t at = memory->oldest, next; at != 0; at = next) {
        struct remembered *old = accesses_at(memory, at);
        next = old->later;
        if (old->lane != by->lane && !settle) {
            if (blame_explicit(v, by, old->lane) < old->op)
                conflicts_examine(v, by, memory, old, touch);
        } else if (old->lane != by->lane) {
            look_at(v, by, memory, old, touch, &other, touch->extent == EXTENT_FROM || old->touch.extent == EXTENT_FROM);
        } else if (covers(memory, touch, &old->touch)) {
            accesses_forget(memory, old);
        }
    }
}

/* Position 0: no memory. */
static uint16_t new_place(struct memory *memory)
{
    uint16_t position = memory->free;
    if (position != 0)
        memory->free = accesses_at(memory, position)->chained;
    else if (TABLE_ADD(&memory->list))
        position = (uint16_t)memory->list.count;
    return position;
}

void accesses_newest(struct verdicts *v, struct memory *memory, uint32_t lane)
{
    if (memory->lane != lane) {
        memory->other = memory->last;
        memory->turn = ++v->turns;
        memory->tried = 0;
    }
    memory->lane = lane;
    memory->last = v->now;
}

void accesses_find(struct memory *memory, uint32_t lane, uint64_t address, uint16_t positions[ACCESS_UNKNOWN])
{
    struct touch touch = {.lo = address, .extent = EXTENT_FROM};
    for (uint16_t at = memory->bucket[bucket_of(lane, &touch)]; at != 0; at = accesses_at(memory, at)->chained) {
        const struct remembered *old = accesses_at(memory, at);
        if (old->lane == lane && old->touch.lo == address)
            positions[old->touch.access - 1] = at;
    }
}

/* After accesses_touch or accesses_open with the same access. */
uint16_t accesses_remember(struct verdicts *v, uint32_t lane, struct memory *memory, const struct touch *touch, uint64_t op,
                           const struct edge_end *end)
{
    if (memory->live >= ACCESSES_MOST)
        accesses_clean(v, memory);
    if (memory->live >= ACCESSES_MOST) {
        struct remembered *oldest = accesses_at(memory, memory->oldest);
        blame_forgotten(v, oldest->lane, oldest->op);
        accesses_forget(memory, oldest);
    }
    uint16_t at = new_place(memory), bucket = bucket_of(lane, touch);
    if (at == 0) {
        v->limited = true;
        return 0;
    }
    *accesses_at(memory, at) = (struct remembered){.touch = *touch, .op = op, .lane = lane, .home = bucket, .end = *end};
    be_newest(memory, accesses_at(memory, at), at);
    accesses_at(memory, at)->chained = memory->bucket[bucket];
    memory->bucket[bucket] = at;
    memory->live++;
    return at;
}
