/* SPDX-License-Identifier: Apache-2.0
 *
 * Two operations and one memory: do they conflict, and what orders them? Called for every pair of accesses that
 * access_check.c finds in question, and for opaque operations. What a pair can no longer change must be found out first,
 * at little cost.
 */
#include "analysis/order/memory/conflicts.h"

#include <string.h>

#include "analysis/base/hints.h"
#include "analysis/order/memory/live_memories.h"
#include "analysis/order/strands/order_loss.h"

/* Tells the conflict sink, whether the edges were found before or not. Operation `op` is the first side; the second is
 * the host after `wait`, or (NULL) the call at hand. */
static RARE void tell(struct verdicts *v, const struct edge_query *what, uint64_t op, const struct cover *wait)
{
    struct verdict_conflict told = {.first = op - v->shift,
                                    .second = (wait != NULL ? wait->began : v->now) - v->shift,
                                    .ticks = wait != NULL ? wait->ticks : 0,
                                    .at = wait != NULL                  ? CONFLICT_AFTER_WAIT
                                          : what->strand == HOST_STRAND ? CONFLICT_ON_HOST
                                                                        : CONFLICT_ON_STREAM,
                                    .verdict = what->verdict,
                                    .reason = what->reason};
    if (what->pair != NULL)
        told.pair = *what->pair;
    else
        conflict_pair_describe(v, what->accesses, &told.pair);
    v->conflicts->conflict(v->conflicts, &told);
}

/* Tells the sink what may be in order beside a race: of the first one's strand only the last access is remembered, and
 * an earlier one may conflict, too, and be in order. */
static RARE void tell_older(struct verdicts *v, const struct edge_query *by, const struct access_pair *race)
{
    uint64_t known = find_edges_full(v, by, race->first->strand);
    struct edge_query what = {
        .strand = by->strand, .verdict = VERDICT_MAYBE_NEEDED, .reason = REASON_RACE, .accesses = race, .cover = by->cover};
    if (known > find_edges_explicit(v, by, race->first->strand))
        tell(v, &what, known, NULL);
}

/* Tells the sink a race itself, as a conflict whose order somebody wants to have. */
static RARE void tell_race(struct verdicts *v, const struct edge_query *by, const struct access_pair *race, bool definite)
{
    struct edge_query what = {.strand = by->strand,
                              .verdict = definite ? VERDICT_NEEDED : VERDICT_MAYBE_NEEDED,
                              .reason = definite ? REASON_NONE : REASON_RACE,
                              .accesses = race,
                              .cover = by->cover};
    tell(v, &what, race->first->op, by->cover);
}

/* A wait for a value comes after the write of the value, which may happen at any time until the host knows that the wait
 * is over. Whether the second side of `by` comes after such a wait, and so after work by an order that the trace does
 * not show. */
static bool awaits_value(struct verdicts *v, const struct edge_query *by)
{
    bool awaits = false;
    for (uint32_t about = 1; about < v->value_waits.room; about++) {
        uint64_t *wait = &v->value_waits.at[about];
        if (*wait != 0 && *wait <= vclock_get(&strands_at(v, HOST_STRAND)->expl, about)) {
            v->unseen_order = larger(v->unseen_order, v->learnt - 1);
            *wait = 0;
        }
        awaits |= *wait != 0 && (by->strand == about || find_edges_full(v, by, about) >= *wait);
    }
    return awaits;
}

/* Whether calls between the operation and the call at hand are not all known: one of them may have put the two in order,
 * by an event or by a wait. */
static bool is_across_a_gap(const struct verdicts *v, uint64_t op)
{
    return v->all_lost || op <= v->lost_at || op <= v->unseen_order;
}

/* Whether a host function that comes after the first operation may have told the program that it was done. */
static bool host_was_told(const struct remembered *first, const struct vclock *host_functions)
{
    return first->op <= vclock_get(host_functions, first->strand);
}

/* Whether the first operation or one after it wrote memory that the host can read: the host may have looked there until it
 * changed. */
static bool host_may_know(const struct verdicts *v, const struct remembered *first)
{
    for (uint32_t at = 1; at < v->strands.count; at++) {
        const struct strand *strand = strands_at(v, at);
        if (at == first->strand ? strand->told_host >= first->op
                                : strand->told_host > first->op && knowledge_own(v, strand, first->strand) >= first->op)
            return true;
    }
    return false;
}

/* Whether results can be right all the same. */
static bool is_no_proof(const struct edge_pair *pair)
{
    return pair->host_may_know || pair->both_write;
}

/* Notes a race. Of a strand's accesses only the last is remembered. Where that one is unordered, an earlier one may be
 * in order by the edges that brought older knowledge of its strand: these edges may be needed. */
static void race(struct verdicts *v, const struct edge_query *by, const struct memory *memory,
                 const struct remembered *first, const struct touch *second)
{
    struct edge_pair pair;
    struct edge_query what = *by;
    bool behind = awaits_value(v, by) || awaits_value(v, &(struct edge_query){.strand = first->strand});
    bool seen = !behind && first->op > v->unsure_wait && !is_across_a_gap(v, first->op) &&
                !host_was_told(first, &v->told_by_any_order) && strands_at(v, first->strand)->sure &&
                (by->cover != NULL || strands_at(v, by->strand)->sure);
    bool definite = seen && by->verdict == VERDICT_NEEDED;
    v->totals.races += definite;
    v->totals.possible_races += !definite;
    if (v->conflicts != NULL)
        tell_older(v, by, &(struct access_pair){memory, first, second});
    if (v->tells_races)
        tell_race(v, by, &(struct access_pair){memory, first, second}, definite);
    if (!(definite && (!v->raced || is_no_proof(&v->race))) && find_edges_all_are_settled(v, by, first->strand))
        return;
    conflict_pair_describe(v, &(struct access_pair){memory, first, second}, &pair);
    pair.host_may_know = definite && host_may_know(v, first);
    what.pair = &pair;
    what.reason = by->verdict == VERDICT_NEEDED ? REASON_RACE : by->reason;
    what.verdict = VERDICT_MAYBE_NEEDED;
    find_edges_all(v, &what, first->strand);
    bool claims = seen && (definite ||
                           by->reason == REASON_ACCESS); /* different parts of an allocation may be used at the same time */
    bool surer = !v->raced ? definite || !v->may_race : is_no_proof(&v->race) && definite && !is_no_proof(&pair);
    if (claims && surer)
        v->race = pair;
    v->raced |= definite;
    v->may_race |= claims;
}

/* Only a stream of unknown kind puts the two in order; so there may be no order. */
static RARE void doubt_order(struct verdicts *v, struct edge_query *what, const struct memory *memory,
                             const struct remembered *first, const struct touch *second)
{
    what->verdict = VERDICT_MAYBE_NEEDED;
    what->reason = REASON_LOST;
    if (v->raced || v->may_race)
        return;
    conflict_pair_describe(v, &(struct access_pair){memory, first, second}, &v->race);
    v->race.definite = false;
    v->may_race = true;
}

/* The driver may read the source of a copy below this size when the call is made. Measured (tests/conformance/overtake.c;
 * H200, driver 580.159.04): it does with 24 KiB, not with 32 KiB; nobody has measured between the two. */
enum { SMALL_COPY = 32 << 10, MEASURED_SMALL = 24 << 10 };

static ASIDE void overtake(struct verdicts *v, const struct memory *memory, const struct remembered *first,
                           const struct touch *second)
{
    bool small = second->access == ACCESS_READ && second->extent == EXTENT_EXACT && second->hi - second->lo < SMALL_COPY;
    if (!small || first->touch.access == ACCESS_READ || (v->overtakes && v->overtaken.definite))
        return;
    enum edge_loss overtaken = order_loss_unasked(v, &first->end, first->op);
    if (overtaken == LOSS_NONE)
        return;
    conflict_pair_describe(v, &(struct access_pair){memory, first, second}, &v->overtaken);
    v->overtaken.definite &= overtaken == LOSS_DEFINITE && !is_across_a_gap(v, first->op);
    v->overtaken.unmeasured = second->hi - second->lo > MEASURED_SMALL;
    v->overtakes = true;
}

enum outcome conflicts_examine(struct verdicts *v, const struct edge_query *by, const struct memory *memory,
                               const struct remembered *first, const struct touch *second)
{
    struct edge_query what = *by;
    v->totals.examined++;
    what.verdict = conflict_pair_judge(&first->touch, second, &what.reason);
    if (what.verdict == VERDICT_NOT_NEEDED)
        return OUTCOME_APART;
    if (what.verdict == VERDICT_NEEDED &&
        (awaits_value(v, by) || is_across_a_gap(v, first->op) || host_was_told(first, &v->told))) {
        what.verdict = VERDICT_MAYBE_NEEDED;
        what.reason = REASON_LOST;
    }
    if (find_edges_full(v, by, first->strand) < first->op) {
        race(v, &what, memory, first, second);
        return OUTCOME_RACE;
    }
    if (what.verdict == VERDICT_NEEDED && find_edges_is_unsure(v, by, first->strand, first->op))
        doubt_order(v, &what, memory, first, second);
    if (v->loss != NULL && v->loss->overtakes && v->end->op == PTDS_OP_COPY &&
        live_memories_are_only(memory, TOUCHES_HOST) && by->cover == NULL)
        overtake(v, memory, first, second);
    what.accesses = &(struct access_pair){memory, first, second};
    if (v->conflicts != NULL)
        tell(v, &what, first->op, NULL);
    if (!find_edges_is_settled(v, &what, first->strand, first->op)) {
        what.given_up = order_loss_of(v, &first->end, first->op, by->cover != NULL ? LOSS_AT_RETURN : LOSS_AT_CALL);
        find_edges(v, &what, first->strand, first->op);
    }
    return knowledge_own(v, strands_at(v, by->strand), first->strand) >= first->op ? OUTCOME_HELD : OUTCOME_HELD_BY_HOST;
}

static void meet_milestones(struct verdicts *v, uint32_t strand, uint32_t about,
                            const struct milestones milestones[CLASSES], unsigned classes)
{
    struct edge_query what = {.strand = strand, .verdict = VERDICT_MAYBE_NEEDED, .reason = REASON_OPAQUE};
    uint64_t known = find_edges_full(v, &what, about), explicitly = find_edges_explicit(v, &what, about);
    if (known <= explicitly)
        return;
    for (unsigned i = 0; i < CLASSES; i++) {
        const struct milestone *milestone = classes & 1u << i ? milestones_last(&milestones[i], known) : NULL;
        if (milestone == NULL || milestone->op <= explicitly)
            continue;
        v->totals.examined++;
        bool settled = find_edges_is_settled(v, &what, about, milestone->op);
        if (settled && v->conflicts == NULL)
            continue;
        struct edge_pair pair = {.first = *strands_end_of(v, milestone),
                                 .second = *v->end,
                                 .first_access = ACCESS_UNKNOWN,
                                 .second_access = ACCESS_UNKNOWN};
        what.pair = &pair;
        what.reason = 1u << i == TOUCHES_TIME ? REASON_TIME : REASON_OPAQUE;
        what.given_up = order_loss_of(v, &pair.first, milestone->op, LOSS_AT_CALL);
        if (v->conflicts != NULL)
            tell(v, &what, milestone->op, NULL);
        if (!settled)
            find_edges(v, &what, about, milestone->op);
    }
}

/* Whether the strand has learnt of the other one since it last met it. Nothing else changes what meeting it finds: an
 * operation that is not known is not come after. */
static bool has_news(const struct verdicts *v, const struct strand *strand, uint32_t about, uint64_t since)
{
    return knowledge_grown(v, strand, about) > since;
}

/* `since`: the call at which the strand last met all others by these classes; 0: never. */
static void meet_other(struct verdicts *v, uint32_t at, uint32_t about, unsigned touches, unsigned opaque, uint64_t since)
{
    const struct strand *other = strands_at(v, about);
    if (about == at || !other->open || !has_news(v, strands_at(v, at), about, since))
        return;
    if (other->is_opaque)
        meet_milestones(v, at, about, other->opaque, touches);
    if (opaque != 0)
        meet_milestones(v, at, about, other->access, opaque);
}

static void meet_others(struct verdicts *v, uint32_t at, unsigned touches, unsigned opaque, uint64_t since)
{
    opaque_strands_drop_done(v);
    for (uint32_t about = 1; opaque != 0 && about < v->strands.count; about++)
        meet_other(v, at, about, touches, opaque, since);
    for (size_t i = 0; opaque == 0 && i < v->opaque_strands.count; i++)
        meet_other(v, at, v->opaque_strands.items[i], touches, 0, since);
}

/* Whether the operation's own call, which has not returned yet, waits for it. */
static bool waits_for_itself(const struct verdicts *v, uint32_t strand, uint64_t op)
{
    for (size_t i = 0; i < v->covers.count; i++)
        if (v->covers.items[i].began == op && vclock_get(&v->covers.items[i].expl, strand) >= op)
            return true;
    return false;
}

/* The strand's last operation since < op <= known on memory that the host can touch, without those that are waited for
 * in the call that submitted them: until that call returns, its thread can tell no other thread that the work was
 * submitted before the other one's wait, and then the work is done. NULL: none. */
static const struct milestone *last_to_tell(const struct verdicts *v, uint32_t about, uint64_t known, uint64_t since)
{
    const struct milestones *milestones = &strands_at(v, about)->access[1];
    const struct milestone *milestone = known > since ? milestones_last(milestones, known) : NULL;
    while (milestone != NULL && milestone->op > since && milestone->before <= since &&
           waits_for_itself(v, about, milestone->op))
        milestone = milestone != milestones->items ? milestone - 1 : NULL;
    return milestone != NULL && milestone->op > since ? milestone : NULL;
}

void conflicts_host(struct verdicts *v, uint32_t about, const struct cover *cover)
{
    struct edge_query what = {.strand = HOST_STRAND, .verdict = VERDICT_MAYBE_NEEDED, .reason = REASON_HOST};
    uint64_t known = find_edges_full(v, &what, about), explicitly = find_edges_explicit(v, &what, about);
    const struct milestone *milestone = last_to_tell(v, about, known, explicitly);
    if (milestone == NULL)
        return;
    struct edge_pair pair = {.first = *strands_end_of(v, milestone),
                             .second = cover->end,
                             .first_access = ACCESS_UNKNOWN,
                             .second_access = ACCESS_UNKNOWN};
    what.pair = &pair;
    what.given_up = order_loss_of(v, &pair.first, milestone->op, LOSS_BY_NOW);
    if (v->conflicts != NULL)
        tell(v, &what, milestone->op, cover);
    if (!find_edges_is_settled(v, &what, about, milestone->op))
        find_edges(v, &what, about, milestone->op);
}

static void note_met(const struct verdicts *v, struct strand *strand, unsigned touches, unsigned opaque)
{
    uint64_t grown = larger(strand->grown_at, strands_at(v, HOST_STRAND)->grown_at);
    bool same = strand->met_at != 0 && grown <= strand->met_at;
    strand->met = (uint8_t)(touches | (same ? strand->met : 0));
    strand->met_opaque = (uint8_t)(opaque | (same ? strand->met_opaque : 0));
    strand->met_at = v->now;
}

void conflicts_timed(struct verdicts *v, uint32_t at)
{
    conflicts_opaque(v, at, TOUCHES_TIME, TOUCHES_TIME);
    milestones_note(v, at, strands_at(v, at)->access, TOUCHES_TIME);
}

void conflicts_meet(struct verdicts *v, uint32_t at, unsigned touches, unsigned opaque)
{
    struct strand *strand = strands_at(v, at);
    meet_others(v, at, touches, opaque, conflicts_met_less(strand, touches, opaque) ? 0 : strand->met_at);
    note_met(v, strand, touches, opaque);
}
