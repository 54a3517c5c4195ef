/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of the accesses remembered of a piece of memory (remembered.c) a new one may conflict with. Called for what
 * places.c cannot answer; what is known already must not be looked at again. Of a stream's accesses only the last of each
 * kind and place is remembered: whoever comes after that one comes after the others.
 *
 * Nobody sees how far a kernel reaches from its pointers. Such an open-ended access and any other of one memory are a
 * doubt, never more, wherever they start; that a lane has had the doubt is noted, and then only what is newer is looked at.
 * Knowledge only grows, so what is ordered stays ordered; what is not, or by the host alone, is looked at again when the
 * lane has learnt of the other one.
 */
#include "analysis/base/hints.h"
#include "analysis/order/blame.h"

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

/* Has the lane learnt of one of those that are worth another look? */
static bool learnt_of(const struct verdicts *v, const struct lane *lane, const struct user *user, uint64_t since)
{
    if (lane->grown_at <= since && lanes_at(v, HOST_LANE)->grown_at <= since)
        return false;
    for (uint64_t open = user->open; open != 0; open &= open - 1)
        for (uint32_t about = (uint32_t)__builtin_ctzll(open); about < v->lanes.count; about += 64)
            if (lanes_grown(v, lane, about) > since)
                return true;
    return false;
}

/* The first of the remembered accesses that have not been examined yet. */
static uint32_t first_new(struct memory *memory, uint64_t since)
{
    uint32_t fresh = 0;
    for (uint32_t at = memory->newest; at != 0 && accesses_at(memory, at)->op > since;) {
        fresh = at;
        at = accesses_at(memory, at)->earlier;
    }
    return fresh;
}

static enum outcome worse(enum outcome a, enum outcome b)
{
    return a > b ? a : b;
}

static bool nothing_new(const struct verdicts *v, const struct memory *memory, const struct user *user, uint32_t lane,
                        bool any)
{
    uint64_t since = user->upto[any];
    return (memory->lane == lane ? memory->other : memory->last) <= since &&
           (user->open == 0 || !learnt_of(v, lanes_at(v, lane), user, since));
}

/* Those that are worth another look, and so what is remembered of places of this memory. */
static void note_open(struct verdicts *v, struct memory *memory, struct user *user, uint32_t lane)
{
    if (user->open == 0) {
        memory->turn = ++v->turns;
        user->turn = 0;
    }
    user->open |= UINT64_C(1) << lane % 64;
}

static void note_told(struct memory *memory, bool something)
{
    memory->told = something ? TOLD : memory->told != 0 ? memory->told - 1 : 0;
}

/* What an operation's lane knows of another one. */
struct other {
    uint32_t lane;
    uint64_t explicitly, full, own; /* own: without what only the host knows */
    bool examined; /* an access, of this lane or one before it, was looked into: it may have changed more than a count */
};

static INLINE void know_other(const struct verdicts *v, const struct blame *by, uint32_t about, struct other *other)
{
    const struct lane *lane = lanes_at(v, by->lane), *host = lanes_at(v, HOST_LANE);
    other->lane = about;
    other->explicitly = lanes_explicit(lane, host, about);
    other->own = lanes_own(v, lane, about);
    other->full = larger(other->own, lanes_own(v, host, about));
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
    other->examined = true;
    return conflicts_examine(v, by, memory, old, touch);
}

/* Those that have not been examined yet, where all of them are noted in places. */
static enum outcome look_at_noted(struct verdicts *v, const struct blame *by, struct memory *memory,
                                  const struct touch *touch, struct user *user, uint64_t since)
{
    enum outcome worst = OUTCOME_APART;
    struct other other = {.lane = NO_LANE};
    struct noted noted[WAITING_MOST * ACCESS_UNKNOWN];
    unsigned count = places_newer(v, memory, by->lane, since, noted);
    for (unsigned i = 0; i < count; i++) {
        struct remembered old = places_as_remembered(v, memory, &noted[i]);
        enum outcome outcome = look_at(v, by, memory, &old, touch, &other, true);
        if (outcome >= OUTCOME_HELD_BY_HOST)
            note_open(v, memory, user, old.lane);
        worst = worse(worst, outcome);
    }
    note_told(memory, other.examined || worst >= OUTCOME_HELD_BY_HOST);
    return worst;
}

/* Those of some other lanes (a bit for each, modulo 64) that have not been examined yet. */
static enum outcome look_at_all(struct verdicts *v, const struct blame *by, struct memory *memory,
                                const struct touch *touch, struct user *user, uint64_t since, uint64_t lanes)
{
    enum outcome worst = OUTCOME_APART;
    struct other other = {.lane = NO_LANE};
    places_write_back(v, memory);
    if (memory->live > 16)
        accesses_clean(v, memory);
    for (uint32_t at = first_new(memory, since); at != 0; at = accesses_at(memory, at)->later) {
        struct remembered *old = accesses_at(memory, at);
        if (old->lane == by->lane || !(lanes >> old->lane % 64 & 1))
            continue;
        enum outcome outcome = look_at(v, by, memory, old, touch, &other, true);
        if (outcome >= OUTCOME_HELD_BY_HOST)
            note_open(v, memory, user, old->lane);
        worst = worse(worst, outcome);
    }
    note_told(memory, other.examined || worst >= OUTCOME_HELD_BY_HOST);
    return worst;
}

/* The first access after operation `since` of one of these lanes that conflicts with such an access. */
static bool first_of(struct verdicts *v, struct memory *memory, enum access access, uint64_t since, uint64_t lanes,
                     struct remembered *first)
{
    bool any = access != ACCESS_READ, found = places_first(v, memory, lanes, any, since, first);
    for (uint32_t at = first_new(memory, since); at != 0; at = accesses_at(memory, at)->later) {
        const struct remembered *old = accesses_at(memory, at);
        if (found && old->op > first->op)
            break;
        if ((lanes >> old->lane % 64 & 1) && (any || old->touch.access != ACCESS_READ) && !places_supersede(v, old, at)) {
            *first = *old;
            return true;
        }
    }
    return found;
}

/* One by one, for mostly one is enough: it is blamed on the edge by which the lane has learnt of them all. */
enum { LOOKS_MOST = 4 };

static enum outcome look_at_new(struct verdicts *v, const struct blame *by, struct memory *memory,
                                const struct touch *touch, struct user *user, uint64_t since)
{
    enum outcome worst = OUTCOME_APART;
    bool noted = memory->newest == 0 || accesses_at(memory, memory->newest)->op <= since;
    if (!users_are_asked(memory, v->few))
        return noted ? look_at_noted(v, by, memory, touch, user, since)
                     : look_at_all(v, by, memory, touch, user, since, UINT64_MAX);
    struct question question = users_in_question(v, by, memory, touch->access, since);
    if (question.lanes != 0)
        memory->told = TOLD;
    for (unsigned looks = 0; question.lanes != 0; looks++) {
        struct remembered first;
        since = question.since;
        struct other other = {.lane = NO_LANE};
        if (!question.held || looks == LOOKS_MOST)
            return worse(worst, look_at_all(v, by, memory, touch, user, since, question.lanes));
        if (!first_of(v, memory, touch->access, since, question.lanes & ~(UINT64_C(1) << by->lane % 64), &first))
            break;
        worst = worse(worst, look_at(v, by, memory, &first, touch, &other, true));
        since = first.op;
        question = users_in_question(v, by, memory, touch->access, since);
    }
    return worst;
}

/* What is superfluous of the lane's own, its place knows (places.c). */
enum outcome accesses_open(struct verdicts *v, const struct blame *by, struct memory *memory, struct user *user,
                           const struct touch *touch)
{
    bool any = touch->access != ACCESS_READ;
    enum outcome worst = OUTCOME_APART;
    if (!nothing_new(v, memory, user, by->lane, any)) {
        if (user->open != 0 && learnt_of(v, lanes_at(v, by->lane), user, user->upto[any]))
            user->upto[0] = user->upto[1] = user->open = 0;
        worst = look_at_new(v, by, memory, touch, user, user->upto[any]);
    }
    user->upto[0] = v->now;
    user->upto[1] = any ? v->now : user->upto[1];
    return user->open != 0 ? worse(worst, OUTCOME_HELD_BY_HOST) : worst;
}

/* What a free waits for, and copies from pinned memory that may overtake, tell more than a doubt. */
static bool doubts_settle(const struct verdicts *v, const struct blame *by, const struct memory *memory)
{
    bool overtakes =
        v->kept != NULL && v->kept->overtakes && v->end->op == PTDS_OP_COPY && memories_are_only(memory, TOUCHES_HOST);
    return by->cover == NULL && !overtakes;
}

/* Every access that is remembered, oldest first. Returns the worst that was found of open-ended ones. */
static enum outcome touch_all(struct verdicts *v, const struct blame *by, struct memory *memory, const struct touch *touch,
                              uint64_t since, uint64_t in_question)
{
    struct other other = {.lane = NO_LANE};
    enum outcome worst = OUTCOME_APART;
    places_write_back(v, memory);
    if (memory->live > 16)
        accesses_clean(v, memory);
    for (uint32_t at = memory->oldest, next; at != 0; at = next) {
        struct remembered *old = accesses_at(memory, at);
        next = old->later;
        if (old->lane == by->lane) {
            if (covers(memory, touch, &old->touch))
                accesses_forget(memory, old);
        } else if (old->touch.extent != EXTENT_FROM) {
            look_at(v, by, memory, old, touch, &other, false);
        } else if (old->op > since && (in_question >> old->lane % 64 & 1)) {
            worst = worse(worst, look_at(v, by, memory, old, touch, &other, true));
        }
    }
    return worst;
}

/* The same where doubts are not enough. */
static void touch_unsettled(struct verdicts *v, const struct blame *by, struct memory *memory, const struct touch *touch)
{
    places_write_back(v, memory);
    if (memory->live > 16)
        accesses_clean(v, memory);
    for (uint32_t at = memory->oldest, next; at != 0; at = next) {
        struct remembered *old = accesses_at(memory, at);
        next = old->later;
        if (old->lane != by->lane && blame_explicit(v, by, old->lane) < old->op)
            conflicts_examine(v, by, memory, old, touch);
        else if (old->lane == by->lane && covers(memory, touch, &old->touch))
            accesses_forget(memory, old);
    }
}

/* Those that are not open-ended alone: they are in a bucket of their own, the newest first. */
static void touch_exact(struct verdicts *v, const struct blame *by, struct memory *memory, const struct touch *touch)
{
    uint16_t exact[ACCESSES_MOST];
    unsigned count = 0;
    struct other other = {.lane = NO_LANE};
    for (uint16_t at = memory->bucket[0]; at != 0; at = accesses_at(memory, at)->chained)
        exact[count++] = at;
    while (count-- > 0) {
        struct remembered *old = accesses_at(memory, exact[count]);
        if (old->lane != by->lane)
            look_at(v, by, memory, old, touch, &other, false);
        else if (covers(memory, touch, &old->touch))
            accesses_forget(memory, old);
    }
}

/* Looks at what is remembered of the memory, and drops of it what the new access of the same lane makes superfluous. */
void accesses_touch(struct verdicts *v, const struct blame *by, struct memory *memory, const struct touch *touch)
{
    bool any = touch->access != ACCESS_READ, whole = touch->lo <= memory->base && touch->hi >= memory->end;
    if (memory->lane != by->lane)
        users_leave(v, memory);
    if (!doubts_settle(v, by, memory)) {
        touch_unsettled(v, by, memory, touch);
        return;
    }
    struct user *user = users_of(v, memory, by->lane, lanes_at(v, by->lane)->born);
    uint64_t since = user->open == 0 ? larger(user->upto[any], user->open_upto[any]) : 0;
    uint64_t in_question = users_in_question(v, by, memory, touch->access, since).lanes;
    enum outcome worst = OUTCOME_APART;
    if (in_question != 0 || whole)
        worst = touch_all(v, by, memory, touch, since, in_question);
    else
        touch_exact(v, by, memory, touch);
    if (worst < OUTCOME_HELD_BY_HOST) {
        user->open_upto[0] = v->now;
        user->open_upto[1] = any ? v->now : user->open_upto[1];
    }
}
