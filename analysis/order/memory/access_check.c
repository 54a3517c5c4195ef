/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of the remembered accesses of a memory a new one may conflict with. Called for accesses that the cache does not
 * answer (access_cache.c); what has been examined must not be examined again. Of a strand's accesses only the last of
 * each kind and address is remembered: what comes after that one comes after the others.
 *
 * How far a kernel reaches from its pointers cannot be seen. So an open-ended access and any other access of the memory
 * are a doubt, never more, wherever they start. That a strand has had the doubt is noted (struct strand_use), and then
 * only newer accesses are examined. Knowledge only grows, so what is ordered stays ordered. An access that is not
 * ordered, or by the host alone, is examined again when the strand has learnt of the other one.
 */
#include "analysis/order/memory/access_check.h"

#include "analysis/base/hints.h"
#include "analysis/order/memory/access_cache.h"
#include "analysis/order/memory/conflicts.h"
#include "analysis/order/memory/live_memories.h"
#include "analysis/order/memory/memory_use.h"
#include "analysis/order/memory/remembered.h"

/* Whether an access that conflicts with the old one conflicts as surely with the new one. A kernel may reach all of the
 * memory. */
static INLINE bool covers(const struct memory *memory, const struct touch *new, const struct touch *old)
{
    if (remembered_strength(new->access) < remembered_strength(old->access))
        return false;
    if (new->extent != EXTENT_EXACT)
        return new->extent == old->extent &&new->lo == old->lo &&new->hi == old->hi;
    if (old->extent == EXTENT_FROM)
        return new->lo <= memory->base &&new->hi >= memory->end;
    return new->lo <= old->lo &&new->hi >= old->hi;
}

/* Whether the strand has learnt of a strand with an open access (use->open) since. */
static bool learnt_of(const struct verdicts *v, const struct strand *strand, const struct strand_use *use, uint64_t since)
{
    if (strand->grown_at <= since && strands_at(v, HOST_STRAND)->grown_at <= since)
        return false;
    for (uint64_t open = use->open; open != 0; open &= open - 1)
        for (uint32_t about = (uint32_t)__builtin_ctzll(open); about < v->strands.count; about += 64)
            if (knowledge_grown(v, strand, about) > since)
                return true;
    return false;
}

/* The first of the remembered accesses after operation `since`. */
static uint32_t first_new(struct memory *memory, uint64_t since)
{
    uint32_t fresh = 0;
    for (uint32_t at = memory->newest; at != 0 && remembered_at(memory, at)->op > since;) {
        fresh = at;
        at = remembered_at(memory, at)->earlier;
    }
    return fresh;
}

static enum outcome worse(enum outcome a, enum outcome b)
{
    return a > b ? a : b;
}

static bool nothing_new(const struct verdicts *v, const struct memory *memory, const struct strand_use *use,
                        uint32_t strand, bool any)
{
    uint64_t since = use->upto[any];
    return (memory->strand == strand ? memory->other : memory->last) <= since &&
           (use->open == 0 || !learnt_of(v, strands_at(v, strand), use, since));
}

/* The access of `strand` is to be examined again; cache entries of this stint are out of date. */
static void note_open(struct verdicts *v, struct memory *memory, struct strand_use *use, uint32_t strand)
{
    if (use->open == 0) {
        memory->stint = ++v->stints;
        use->stint = 0;
    }
    use->open |= UINT64_C(1) << strand % 64;
}

static void note_told(struct memory *memory, bool something)
{
    memory->told = something ? TOLD : memory->told != 0 ? memory->told - 1 : 0;
}

/* What the strand of the new access knows of another strand. */
struct other {
    uint32_t strand;
    uint64_t explicitly, full, own; /* own: without what only the host knows */
    bool examined; /* an access, of this strand or one before it, was looked into: it may have changed more than a count */
};

static INLINE void know_other(const struct verdicts *v, const struct edge_query *by, uint32_t about, struct other *other)
{
    const struct strand *strand = strands_at(v, by->strand), *host = strands_at(v, HOST_STRAND);
    other->strand = about;
    other->explicitly = knowledge_explicit(strand, host, about);
    other->own = knowledge_own(v, strand, about);
    other->full = larger(other->own, knowledge_own(v, host, about));
}

/* As conflicts_examine of two accesses of which one is open-ended, where that changes nothing but a count: the edges of
 * most have been found before. OUTCOME_UNSETTLED where it may change something. */
enum { OUTCOME_UNSETTLED = OUTCOME_RACE + 1 };

static INLINE unsigned outcome_of_doubted(struct verdicts *v, const struct edge_query *by, const struct remembered *old,
                                          const struct other *other)
{
    if (other->full < old->op) {
        if (!find_edges_all_are_settled(v, by, other->strand))
            return OUTCOME_UNSETTLED;
        v->totals.possible_races++;
        return OUTCOME_RACE;
    }
    const struct strand *strand = strands_at(v, by->strand);
    if (!find_edges_are_doubted(strand, other->strand, old->op, other->own) &&
        !find_edges_came_doubted(v, strand, other->strand, old->op))
        return OUTCOME_UNSETTLED;
    return other->own >= old->op ? OUTCOME_HELD : OUTCOME_HELD_BY_HOST;
}

/* `doubt`: at least one of the two is open-ended. */
static INLINE enum outcome look_at(struct verdicts *v, const struct edge_query *by, struct memory *memory,
                                   struct remembered *old, const struct touch *touch, struct other *other, bool doubt)
{
    if (old->strand != other->strand)
        know_other(v, by, old->strand, other);
    if (other->explicitly >= old->op || (old->touch.access == ACCESS_READ && touch->access == ACCESS_READ))
        return OUTCOME_APART;
    bool shortcut = doubt && v->conflicts == NULL;
    unsigned outcome = shortcut ? outcome_of_doubted(v, by, old, other) : (unsigned)OUTCOME_UNSETTLED;
    if (outcome != OUTCOME_UNSETTLED)
        return (enum outcome)outcome;
    other->strand = NO_STRAND;
    other->examined = true;
    return conflicts_examine(v, by, memory, old, touch);
}

/* Examines the accesses after operation `since`, where all of them are in the cache. */
static enum outcome look_at_noted(struct verdicts *v, const struct edge_query *by, struct memory *memory,
                                  const struct touch *touch, struct strand_use *use, uint64_t since)
{
    enum outcome worst = OUTCOME_APART;
    struct other other = {.strand = NO_STRAND};
    struct noted noted[WAITING_MOST * ACCESS_UNKNOWN];
    unsigned count = access_cache_newer(v, memory, by->strand, since, noted);
    for (unsigned i = 0; i < count; i++) {
        struct remembered old = access_cache_as_remembered(v, memory, &noted[i]);
        enum outcome outcome = look_at(v, by, memory, &old, touch, &other, true);
        if (outcome >= OUTCOME_HELD_BY_HOST)
            note_open(v, memory, use, old.strand);
        worst = worse(worst, outcome);
    }
    note_told(memory, other.examined || worst >= OUTCOME_HELD_BY_HOST);
    return worst;
}

/* Examines the accesses after operation `since` of some other strands (a bit for each, modulo 64). */
static enum outcome look_at_all(struct verdicts *v, const struct edge_query *by, struct memory *memory,
                                const struct touch *touch, struct strand_use *use, uint64_t since, uint64_t strands)
{
    enum outcome worst = OUTCOME_APART;
    struct other other = {.strand = NO_STRAND};
    access_cache_write_back(v, memory);
    if (memory->live > 16)
        remembered_clean(v, memory);
    for (uint32_t at = first_new(memory, since); at != 0; at = remembered_at(memory, at)->later) {
        struct remembered *old = remembered_at(memory, at);
        if (old->strand == by->strand || !(strands >> old->strand % 64 & 1))
            continue;
        enum outcome outcome = look_at(v, by, memory, old, touch, &other, true);
        if (outcome >= OUTCOME_HELD_BY_HOST)
            note_open(v, memory, use, old->strand);
        worst = worse(worst, outcome);
    }
    note_told(memory, other.examined || worst >= OUTCOME_HELD_BY_HOST);
    return worst;
}

/* The first access after operation `since` of one of these strands that may conflict with an access of this kind. */
static bool first_of(struct verdicts *v, struct memory *memory, enum access access, uint64_t since, uint64_t strands,
                     struct remembered *first)
{
    bool any = access != ACCESS_READ, found = access_cache_first(v, memory, strands, any, since, first);
    for (uint32_t at = first_new(memory, since); at != 0; at = remembered_at(memory, at)->later) {
        const struct remembered *old = remembered_at(memory, at);
        if (found && old->op > first->op)
            break;
        if ((strands >> old->strand % 64 & 1) && (any || old->touch.access != ACCESS_READ) &&
            !access_cache_supersedes(v, old, at)) {
            *first = *old;
            return true;
        }
    }
    return found;
}

/* Examines accesses one by one, for mostly one is enough: it finds the edge over which the strand has learnt of them
 * all. */
enum { LOOKS_MOST = 4 };

static enum outcome look_at_new(struct verdicts *v, const struct edge_query *by, struct memory *memory,
                                const struct touch *touch, struct strand_use *use, uint64_t since)
{
    enum outcome worst = OUTCOME_APART;
    bool noted = memory->newest == 0 || remembered_at(memory, memory->newest)->op <= since;
    if (!memory_use_is_asked(memory, v->few))
        return noted ? look_at_noted(v, by, memory, touch, use, since)
                     : look_at_all(v, by, memory, touch, use, since, UINT64_MAX);
    struct question question = memory_use_in_question(v, by, memory, touch->access, since);
    if (question.strands != 0)
        memory->told = TOLD;
    for (unsigned looks = 0; question.strands != 0; looks++) {
        struct remembered first;
        since = question.since;
        struct other other = {.strand = NO_STRAND};
        if (!question.held || looks == LOOKS_MOST)
            return worse(worst, look_at_all(v, by, memory, touch, use, since, question.strands));
        if (!first_of(v, memory, touch->access, since, question.strands & ~(UINT64_C(1) << by->strand % 64), &first))
            break;
        worst = worse(worst, look_at(v, by, memory, &first, touch, &other, true));
        since = first.op;
        question = memory_use_in_question(v, by, memory, touch->access, since);
    }
    return worst;
}

/* The strand's own accesses that become superfluous are noted in the cache. */
enum outcome access_check_open_ended(struct verdicts *v, const struct edge_query *by, struct memory *memory,
                                     struct strand_use *use, const struct touch *touch)
{
    bool any = touch->access != ACCESS_READ;
    enum outcome worst = OUTCOME_APART;
    if (!nothing_new(v, memory, use, by->strand, any)) {
        if (use->open != 0 && learnt_of(v, strands_at(v, by->strand), use, use->upto[any]))
            use->upto[0] = use->upto[1] = use->open = 0;
        worst = look_at_new(v, by, memory, touch, use, use->upto[any]);
    }
    use->upto[0] = v->now;
    use->upto[1] = any ? v->now : use->upto[1];
    return use->open != 0 ? worse(worst, OUTCOME_HELD_BY_HOST) : worst;
}

/* Whether a doubt about open-ended accesses is all that can be found. A free after a wait, and a copy from pinned memory
 * that may overtake, can find more. */
static bool doubts_settle(const struct verdicts *v, const struct edge_query *by, const struct memory *memory)
{
    bool overtakes =
        v->loss != NULL && v->loss->overtakes && v->end->op == PTDS_OP_COPY && live_memories_are_only(memory, TOUCHES_HOST);
    return by->cover == NULL && !overtakes;
}

/* Examines every remembered access, the oldest first. Returns the worst outcome with open-ended ones. */
static enum outcome touch_all(struct verdicts *v, const struct edge_query *by, struct memory *memory,
                              const struct touch *touch, uint64_t since, uint64_t in_question)
{
    struct other other = {.strand = NO_STRAND};
    enum outcome worst = OUTCOME_APART;
    access_cache_write_back(v, memory);
    if (memory->live > 16)
        remembered_clean(v, memory);
    for (uint32_t at = memory->oldest, next; at != 0; at = next) {
        struct remembered *old = remembered_at(memory, at);
        next = old->later;
        if (old->strand == by->strand) {
            if (covers(memory, touch, &old->touch))
                remembered_forget(memory, old);
        } else if (old->touch.extent != EXTENT_FROM) {
            look_at(v, by, memory, old, touch, &other, false);
        } else if (old->op > since && (in_question >> old->strand % 64 & 1)) {
            worst = worse(worst, look_at(v, by, memory, old, touch, &other, true));
        }
    }
    return worst;
}

/* The same where !doubts_settle. */
static void touch_unsettled(struct verdicts *v, const struct edge_query *by, struct memory *memory,
                            const struct touch *touch)
{
    access_cache_write_back(v, memory);
    if (memory->live > 16)
        remembered_clean(v, memory);
    for (uint32_t at = memory->oldest, next; at != 0; at = next) {
        struct remembered *old = remembered_at(memory, at);
        next = old->later;
        if (old->strand != by->strand && find_edges_explicit(v, by, old->strand) < old->op)
            conflicts_examine(v, by, memory, old, touch);
        else if (old->strand == by->strand && covers(memory, touch, &old->touch))
            remembered_forget(memory, old);
    }
}

/* Examines the accesses that are not open-ended: bucket 0, the newest first. */
static void touch_exact(struct verdicts *v, const struct edge_query *by, struct memory *memory, const struct touch *touch)
{
    uint16_t exact[ACCESSES_MOST];
    unsigned count = 0;
    struct other other = {.strand = NO_STRAND};
    for (uint16_t at = memory->bucket[0]; at != 0; at = remembered_at(memory, at)->chained)
        exact[count++] = at;
    while (count-- > 0) {
        struct remembered *old = remembered_at(memory, exact[count]);
        if (old->strand != by->strand)
            look_at(v, by, memory, old, touch, &other, false);
        else if (covers(memory, touch, &old->touch))
            remembered_forget(memory, old);
    }
}

/* Drops accesses of the same strand on the way. */
void access_check_range(struct verdicts *v, const struct edge_query *by, struct memory *memory, const struct touch *touch)
{
    bool any = touch->access != ACCESS_READ, whole = touch->lo <= memory->base && touch->hi >= memory->end;
    if (memory->strand != by->strand)
        memory_use_leave(v, memory);
    if (!doubts_settle(v, by, memory)) {
        touch_unsettled(v, by, memory, touch);
        return;
    }
    struct strand_use *use = memory_use_of(v, memory, by->strand, strands_at(v, by->strand)->born);
    uint64_t since = use->open == 0 ? larger(use->upto[any], use->open_upto[any]) : 0;
    uint64_t in_question = memory_use_in_question(v, by, memory, touch->access, since).strands;
    enum outcome worst = OUTCOME_APART;
    if (in_question != 0 || whole)
        worst = touch_all(v, by, memory, touch, since, in_question);
    else
        touch_exact(v, by, memory, touch);
    if (worst < OUTCOME_HELD_BY_HOST) {
        use->open_upto[0] = v->now;
        use->open_upto[1] = any ? v->now : use->open_upto[1];
    }
}
