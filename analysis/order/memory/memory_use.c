/* SPDX-License-Identifier: Apache-2.0
 *
 * The strands that use a memory: when each did last, how much of the others' accesses its own have been examined against,
 * and whether the others' accesses can still change anything. Called by access_check.c and access_cache.c, so that
 * accesses are examined, and cache entries written back, only where one may matter. Must never say that nothing changes
 * where examining each access would change a verdict or a count.
 */
#include "analysis/order/memory/memory_use.h"

#include <stdlib.h>

#include "analysis/base/heap.h"
#include "analysis/base/hints.h"

static bool give_room(struct memory *memory)
{
    uint32_t room = memory->uses_room != 0 ? memory->uses_room * 2 : USES_LEAST;
    struct strand_use *grown = room <= USES_MOST ? heap_zeroed(room, sizeof *grown) : NULL;
    if (grown == NULL)
        return false;
    memory->used = 0;
    for (uint32_t i = 0; i < memory->uses_room; i++) {
        uint32_t at = memory->uses[i].strand % room;
        if (memory->uses[i].born == 0)
            continue;
        grown[at] = memory->uses[i];
        memory->used |= UINT64_C(1) << at;
    }
    free(memory->uses);
    memory->uses = grown;
    memory->uses_room = room;
    return true;
}

/* Strands that meet at one place get more room, up to USES_MOST. Beyond that the older use is lost, and the memory is
 * crowded: every access of it is examined from then on. */
RARE struct strand_use *memory_use_more(struct verdicts *v, struct memory *memory, uint32_t strand)
{
    struct strand_use *found = memory->uses != NULL ? &memory->uses[strand % memory->uses_room] : NULL;
    while ((found == NULL || found->born != 0) && give_room(memory))
        found = &memory->uses[strand % memory->uses_room];
    memory->crowded |= found == NULL || (found->born != 0 && found->strand != strand);
    if (found != NULL)
        memory->used |= UINT64_C(1) << (found - memory->uses);
    else
        found = &v->no_use;
    *found = (struct strand_use){.born = strands_at(v, strand)->born, .strand = strand};
    return found;
}

void memory_use_leave(struct verdicts *v, struct memory *memory)
{
    if (memory->last == 0)
        return;
    struct strand_use *use = memory_use_of(v, memory, memory->strand, strands_at(v, memory->strand)->born);
    use->newest[0] = memory->last;
    use->newest[1] = larger(use->newest[1], memory->changed);
    use->stint = memory->stint;
}

void memory_use_go_on(const struct verdicts *v, struct memory *memory, const struct strand_use *use)
{
    if (use->stint == 0 || use->stint == memory->stint || use->open != 0 || use->upto[1] != v->now)
        return;
    memory->stint = use->stint;
    memory->clear = 0;
    memory->tried = 0;
}

void memory_use_begin_anew(struct verdicts *v, struct memory *memory)
{
    memory->stint = ++v->stints;
    for (uint64_t left = memory->used; left != 0; left &= left - 1)
        memory->uses[__builtin_ctzll(left)].stint = 0;
}

void memory_use_newest(struct verdicts *v, struct memory *memory, uint32_t strand, enum access access)
{
    if (memory->strand != strand) {
        memory->other = memory->last;
        memory->stint = ++v->stints;
        memory->tried = 0;
        memory->changed = 0;
    }
    memory->strand = strand;
    memory->last = v->now;
    memory->changed = access != ACCESS_READ ? v->now : memory->changed;
}

static inline uint64_t past_way(const struct way *way, uint64_t after)
{
    return way->own && way->after <= after ? larger(way->upto, after) : after;
}

/* find_edges_came_doubted of each operation after < op <= upto. */
static bool came_doubted(const struct verdicts *v, const struct strand *strand, uint32_t about, uint64_t after,
                         uint64_t upto)
{
    struct arrival_list *list = find_edges_list(v, strand, about);
    if (list == NULL)
        return fan_ins_came_doubted(v, strand, about, after, upto);
    const struct arrival *oldest = arrivals_items(list), *known = oldest + list->count - 1;
    if (upto > known->op)
        return false;
    for (unsigned steps = 0; steps < LATELY; steps++, known--) {
        bool first = known == oldest, brings = first || known[-1].op < upto;
        if (brings && !find_edges_is_direct(v, known, about))
            return false;
        if (first || known[-1].op <= after)
            return true;
    }
    return false;
}

/* The strand learnt of operations after < op <= upto by implicit order: up to which of them the edges are found already. */
static uint64_t doubted_upto(const struct verdicts *v, const struct edge_query *by, uint32_t about, uint64_t after,
                             uint64_t upto)
{
    const struct strand *strand = strands_at(v, by->strand);
    if (knowledge_own(v, strand, about) < upto)
        return after;
    if (about < strand->settled_room) {
        const struct settled_ways *settled_ways = &strand->settled_ways[about];
        after = past_way(&settled_ways->doubted, past_way(&settled_ways->proven, after));
    }
    return after >= upto || came_doubted(v, strand, about, after, upto) ? upto : after;
}

struct question memory_use_in_question(const struct verdicts *v, const struct edge_query *by, const struct memory *memory,
                                       enum access access, uint64_t since)
{
    const struct strand *strand = strands_at(v, by->strand), *host = strands_at(v, HOST_STRAND);
    struct question question = {.held = true};
    if (memory->crowded)
        return (struct question){.strands = UINT64_MAX};
    for (uint64_t left = memory->used; left != 0; left &= left - 1) {
        const struct strand_use *other = &memory->uses[__builtin_ctzll(left)];
        uint64_t newest = other->newest[access == ACCESS_READ], done;
        if (newest <= since || other->strand == by->strand)
            continue;
        done = larger(since, knowledge_explicit(strand, host, other->strand));
        question.doubted |= done < newest;
        if (done < newest && v->conflicts == NULL) /* a conflict sink wants these, too */
            done = doubted_upto(v, by, other->strand, done, newest);
        if (done >= newest)
            continue;
        question.since = question.strands == 0 || done < question.since ? done : question.since;
        question.strands |= UINT64_C(1) << other->strand % 64;
        question.held &= knowledge_own(v, strand, other->strand) >= newest;
    }
    return question;
}

struct strand_use *memory_use_take_up(struct verdicts *v, uint32_t strand, struct memory *memory)
{
    struct edge_query by = {.strand = strand};
    struct question question = {.strands = 0};
    memory_use_leave(v, memory); /* first, for it may move them */
    struct strand_use *use = memory_use_of(v, memory, strand, strands_at(v, strand)->born);
    if (use->stint == 0 || use->open != 0)
        return NULL;
    if (memory->last > use->upto[1])
        question = memory_use_in_question(v, &by, memory, ACCESS_UNKNOWN, use->upto[1]);
    if (question.strands != 0)
        return NULL;
    use->upto[0] = use->upto[1] = v->now;
    memory->other = memory->last;
    memory->strand = strand;
    memory->changed = 0;
    memory->stint = use->stint;
    memory->clear = 0;
    memory->tried = question.doubted ? v->now : 0;
    return use;
}

bool memory_use_is_behind(const struct verdicts *v, uint32_t at, const struct memory *memory, uint64_t since)
{
    const struct strand *strand = strands_at(v, at), *host = strands_at(v, HOST_STRAND);
    bool behind = !memory->crowded;
    for (uint64_t left = memory->used; left != 0 && behind; left &= left - 1) {
        const struct strand_use *other = &memory->uses[__builtin_ctzll(left)];
        behind = other->strand == at || other->newest[0] <= since ||
                 other->newest[0] <= knowledge_explicit(strand, host, other->strand);
    }
    return behind;
}
