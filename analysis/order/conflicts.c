/* SPDX-License-Identifier: Apache-2.0
 *
 * Two operations and one piece of memory: is it a conflict, and what orders it? Called for every pair of accesses that
 * accesses.c finds in question; what a pair can no longer change must be found out first and cheaply.
 */
#include "analysis/base/hints.h"
#include "analysis/order/blame.h"
#include "analysis/order/marks.h"

#include <string.h>

static bool overlap(const struct touch *a, const struct touch *b)
{
    return a->lo < b->hi && b->lo < a->hi;
}

/* Does what is known of both reach a byte in common? *may: whether they can at all. */
static bool meet(const struct touch *a, const struct touch *b, bool *may)
{
    const struct touch *open = a->extent == EXTENT_FROM ? a : b, *other = open == a ? b : a;
    *may = true;
    if (open->extent != EXTENT_FROM) {
        *may = overlap(a, b);
        return *may && a->extent == EXTENT_EXACT && b->extent == EXTENT_EXACT;
    }
    if (other->extent == EXTENT_FROM)
        return open->lo == other->lo;
    return other->extent == EXTENT_EXACT && open->lo >= other->lo && open->lo < other->hi;
}

/* Needed where both ranges are known, overlap, and one is surely written: copies, memsets, frees. How far a kernel
 * reaches from a pointer, and whether it uses it at all, nobody sees. REASON_NONE with "not needed": no conflict. */
static enum verdict judge(const struct touch *a, const struct touch *b, enum verdict_reason *reason)
{
    bool may, met;
    *reason = REASON_NONE;
    if (a->access == ACCESS_READ && b->access == ACCESS_READ)
        return VERDICT_NOT_NEEDED;
    met = meet(a, b, &may);
    if (!may)
        return VERDICT_NOT_NEEDED;
    *reason = !met ? REASON_EXTENT : REASON_ACCESS;
    return met && a->extent == EXTENT_EXACT && b->extent == EXTENT_EXACT &&
                   (a->access == ACCESS_WRITE || b->access == ACCESS_WRITE)
               ? VERDICT_NEEDED
               : VERDICT_MAYBE_NEEDED;
}

void conflicts_describe(const struct verdicts *v, const struct blame_meeting *meeting, struct edge_pair *pair)
{
    const struct remembered *first = meeting->first;
    const struct touch *touch = &first->touch, *second = meeting->second;
    uint64_t lo = larger(touch->lo, second->lo), hi = touch->hi < second->hi ? touch->hi : second->hi;
    enum verdict_reason reason;
    *pair = (struct edge_pair){.first = first->end,
                               .second = *v->end,
                               .first_access = touch->access,
                               .second_access = second->access,
                               .address = lo,
                               .allocation = meeting->memory->uid,
                               .definite = judge(touch, second, &reason) == VERDICT_NEEDED};
    bool exact = touch->extent != EXTENT_FROM && second->extent != EXTENT_FROM;
    if (touch->extent == EXTENT_FROM && second->extent != EXTENT_FROM)
        pair->address = touch->lo;
    if (touch->extent != EXTENT_FROM && second->extent == EXTENT_FROM)
        pair->address = second->lo;
    pair->size = exact && hi > lo ? hi - lo : 0;
}

/* For who wants to know each conflict, be it blamed already or not. Operation `op` of lane `about` is the first. `wait`:
 * that the second comes after; NULL: the call at hand is the second. */
static RARE void tell(struct verdicts *v, const struct blame *what, uint64_t op, const struct cover *wait)
{
    struct verdict_conflict told = {.first = op - v->shift,
                                    .second = (wait != NULL ? wait->began : v->now) - v->shift,
                                    .ticks = wait != NULL ? wait->ticks : 0,
                                    .at = wait != NULL              ? CONFLICT_AFTER_WAIT
                                          : what->lane == HOST_LANE ? CONFLICT_ON_HOST
                                                                    : CONFLICT_ON_STREAM,
                                    .verdict = what->verdict,
                                    .reason = what->reason};
    if (what->pair != NULL)
        told.pair = *what->pair;
    else
        conflicts_describe(v, what->meeting, &told.pair);
    v->conflicts->conflict(v->conflicts, &told);
}

/* Nothing orders the two. But of the first one's stream only the last access is remembered, and what came before that may
 * conflict, too, and be in order. */
static RARE void tell_older(struct verdicts *v, const struct blame *by, const struct blame_meeting *race)
{
    uint64_t known = blame_full(v, by, race->first->lane);
    struct blame what = {
        .lane = by->lane, .verdict = VERDICT_MAYBE_NEEDED, .reason = REASON_RACE, .meeting = race, .cover = by->cover};
    if (known > blame_explicit(v, by, race->first->lane))
        tell(v, &what, known, NULL);
}

/* A wait for a value comes after whoever writes it, and that may happen at any time until the host knows that the wait is
 * over. Whether this comes after such a wait, and so after work that nobody sees it to come after. */
static bool awaits_value(struct verdicts *v, const struct blame *by)
{
    bool awaits = false;
    for (uint32_t about = 1; about < v->value_waits.room; about++) {
        uint64_t *wait = &v->value_waits.at[about];
        if (*wait != 0 && *wait <= vclock_get(&lanes_at(v, HOST_LANE)->expl, about)) {
            v->unseen_order = larger(v->unseen_order, v->learnt - 1);
            *wait = 0;
        }
        awaits |= *wait != 0 && (by->lane == about || blame_full(v, by, about) >= *wait);
    }
    return awaits;
}

/* Whether what the program did between the operation and the call at hand is not all known: it may have put them in order,
 * by an event or by a wait. */
static bool is_across_a_gap(const struct verdicts *v, uint64_t op)
{
    return v->all_lost || op <= v->lost_at || op <= v->unseen_order;
}

/* Whether a host function may have told the program that the first one was done: one that comes after it in this order. */
static bool host_was_told(const struct remembered *first, const struct vclock *host_functions)
{
    return first->op <= vclock_get(host_functions, first->lane);
}

/* Whether the first one, or what came after it, wrote memory that the host can read, and look at until it has changed. What
 * the first one itself has written there, that is no such word. */
static bool host_may_know(const struct verdicts *v, const struct remembered *first)
{
    for (uint32_t at = 1; at < v->lanes.count; at++) {
        const struct lane *lane = lanes_at(v, at);
        if (at == first->lane ? lane->told_host > first->op - (first->touch.access == ACCESS_READ)
                              : lane->told_host > first->op && lanes_own(v, lane, first->lane) >= first->op)
            return true;
    }
    return false;
}

/* Of a stream's accesses only the last is remembered. Where that one is unordered, an earlier one may still have been held
 * by the edges that brought older knowledge of its lane: they are no longer "not needed". */
static void race(struct verdicts *v, const struct blame *by, const struct memory *memory, const struct remembered *first,
                 const struct touch *second)
{
    struct edge_pair pair;
    struct blame what = *by;
    bool behind = awaits_value(v, by) || awaits_value(v, &(struct blame){.lane = first->lane});
    bool seen = !behind && first->op > v->unsure_wait && !is_across_a_gap(v, first->op) &&
                !host_was_told(first, &v->told_by_any_order) && lanes_at(v, first->lane)->sure &&
                (by->cover != NULL || lanes_at(v, by->lane)->sure);
    bool definite = seen && by->verdict == VERDICT_NEEDED;
    v->totals.races += definite;
    v->totals.possible_races += !definite;
    if (v->conflicts != NULL)
        tell_older(v, by, &(struct blame_meeting){memory, first, second});
    if (!(definite && (!v->raced || v->race.host_may_know)) && blame_all_settled(v, by, first->lane))
        return;
    conflicts_describe(v, &(struct blame_meeting){memory, first, second}, &pair);
    pair.host_may_know = definite && host_may_know(v, first);
    what.pair = &pair;
    what.reason = by->verdict == VERDICT_NEEDED ? REASON_RACE : by->reason;
    what.verdict = VERDICT_MAYBE_NEEDED;
    blame_all(v, &what, first->lane);
    bool claims = seen && (definite || by->reason == REASON_ACCESS); /* parts of an allocation are used side by side */
    bool surer = !v->raced ? definite || !v->may_race : v->race.host_may_know && definite && !pair.host_may_know;
    if (claims && surer)
        v->race = pair;
    v->raced |= definite;
    v->may_race |= claims;
}

/* Only a stream of unknown kind puts the two in order, or nothing does. */
static RARE void doubt_order(struct verdicts *v, struct blame *what, const struct memory *memory,
                             const struct remembered *first, const struct touch *second)
{
    what->verdict = VERDICT_MAYBE_NEEDED;
    what->reason = REASON_LOST;
    if (v->raced || v->may_race)
        return;
    conflicts_describe(v, &(struct blame_meeting){memory, first, second}, &v->race);
    v->race.definite = false;
    v->may_race = true;
}

/* How large a copy's source is that the driver reads when the call is made: 8 KiB were seen to be, 64 KiB not. */
enum { SMALL_COPY = 64 << 10 };

static ASIDE void overtake(struct verdicts *v, const struct memory *memory, const struct remembered *first,
                           const struct touch *second)
{
    bool small = second->access == ACCESS_READ && second->extent == EXTENT_EXACT && second->hi - second->lo < SMALL_COPY;
    if (!small || first->touch.access == ACCESS_READ || (v->overtakes && v->overtaken.definite))
        return;
    enum edge_loss overtaken = kept_by_nothing_asked(v, &first->end, first->op);
    if (overtaken == LOSS_NONE)
        return;
    conflicts_describe(v, &(struct blame_meeting){memory, first, second}, &v->overtaken);
    v->overtaken.definite &= overtaken == LOSS_DEFINITE && !is_across_a_gap(v, first->op);
    v->overtakes = true;
}

enum outcome conflicts_examine(struct verdicts *v, const struct blame *by, const struct memory *memory,
                               const struct remembered *first, const struct touch *second)
{
    struct blame what = *by;
    v->totals.examined++;
    what.verdict = judge(&first->touch, second, &what.reason);
    if (what.verdict == VERDICT_NOT_NEEDED)
        return OUTCOME_APART;
    if (what.verdict == VERDICT_NEEDED &&
        (awaits_value(v, by) || is_across_a_gap(v, first->op) || host_was_told(first, &v->told))) {
        what.verdict = VERDICT_MAYBE_NEEDED;
        what.reason = REASON_LOST;
    }
    if (blame_full(v, by, first->lane) < first->op) {
        race(v, &what, memory, first, second);
        return OUTCOME_RACE;
    }
    if (what.verdict == VERDICT_NEEDED && blame_is_unsure(v, by, first->lane, first->op))
        doubt_order(v, &what, memory, first, second);
    if (v->kept != NULL && v->kept->overtakes && v->end->op == PTDS_OP_COPY && memories_are_only(memory, TOUCHES_HOST) &&
        by->cover == NULL)
        overtake(v, memory, first, second);
    what.meeting = &(struct blame_meeting){memory, first, second};
    if (v->conflicts != NULL)
        tell(v, &what, first->op, NULL);
    if (!blame_settled(v, &what, first->lane, first->op)) {
        what.given_up = kept_is_given_up(v, &first->end, first->op, by->cover != NULL ? KEPT_AT_RETURN : KEPT_AT_CALL);
        blame(v, &what, first->lane, first->op);
    }
    return lanes_own(v, lanes_at(v, by->lane), first->lane) >= first->op ? OUTCOME_HELD : OUTCOME_HELD_BY_HOST;
}

/* Mostly it is the last of all. */
const struct mark *marks_last(const struct marks *marks, uint64_t known)
{
    size_t low = 0, high = marks->count;
    if (high != 0 && marks->items[high - 1].op <= known)
        return &marks->items[high - 1];
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (marks->items[middle].op <= known)
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 ? &marks->items[low - 1] : NULL;
}

void conflicts_new_mark(struct verdicts *v, uint32_t at, struct marks *marks)
{
    uint64_t done = vclock_get(&lanes_at(v, HOST_LANE)->expl, at);
    if (marks->count != 0 && TABLE_LAST(marks)->op <= done)
        marks->count = 0;
    if (marks->count >= MARKS_MOST) {
        uint64_t dropped = marks->items[MARKS_MOST / 2 - 1].op;
        blame_forgotten(v, at, dropped);
        lanes_at(v, at)->unmarked = larger(lanes_at(v, at)->unmarked, dropped);
        marks->count = MARKS_MOST / 2;
        memmove(marks->items, marks->items + MARKS_MOST / 2, marks->count * sizeof *marks->items);
        marks->items[0].before = larger(marks->items[0].before, dropped);
    }
    if (TABLE_ADD(marks))
        *TABLE_LAST(marks) = (struct mark){.op = v->now};
    else
        v->limited = true;
    v->contexts.items[lanes_at(v, at)->context].host_used |= marks == &lanes_at(v, at)->access[1];
}

static void meet_marks(struct verdicts *v, uint32_t lane, uint32_t about, const struct marks marks[CLASSES],
                       unsigned classes)
{
    struct blame what = {.lane = lane, .verdict = VERDICT_MAYBE_NEEDED, .reason = REASON_OPAQUE};
    uint64_t known = blame_full(v, &what, about), explicitly = blame_explicit(v, &what, about);
    if (known <= explicitly)
        return;
    for (unsigned i = 0; i < CLASSES; i++) {
        const struct mark *mark = classes & 1u << i ? marks_last(&marks[i], known) : NULL;
        if (mark == NULL || mark->op <= explicitly)
            continue;
        v->totals.examined++;
        bool settled = blame_settled(v, &what, about, mark->op);
        if (settled && v->conflicts == NULL)
            continue;
        struct edge_pair pair = {.first = *lanes_end(v, mark),
                                 .second = *v->end,
                                 .first_access = ACCESS_UNKNOWN,
                                 .second_access = ACCESS_UNKNOWN};
        what.pair = &pair;
        what.reason = 1u << i == TOUCHES_TIME ? REASON_TIME : REASON_OPAQUE;
        what.given_up = kept_is_given_up(v, &pair.first, mark->op, KEPT_AT_CALL);
        if (v->conflicts != NULL)
            tell(v, &what, mark->op, NULL);
        if (!settled)
            blame(v, &what, about, mark->op);
    }
}

/* What the lane has learnt of another one since it last met it changes the answer, and nothing else does: what it did not
 * know of then, it does not come after. */
static bool has_news(const struct verdicts *v, const struct lane *lane, uint32_t about, uint64_t since)
{
    return lanes_grown(v, lane, about) > since;
}

/* `since`: the lane met all others then, by as much as now. */
static void meet_other(struct verdicts *v, uint32_t at, uint32_t about, unsigned touches, unsigned opaque, uint64_t since)
{
    const struct lane *other = lanes_at(v, about);
    if (about == at || !other->open || !has_news(v, lanes_at(v, at), about, since))
        return;
    if (other->is_opaque)
        meet_marks(v, at, about, other->opaque, touches);
    if (opaque != 0)
        meet_marks(v, at, about, other->access, opaque);
}

static void meet_others(struct verdicts *v, uint32_t at, unsigned touches, unsigned opaque, uint64_t since)
{
    conflicts_drop_done(v);
    for (uint32_t about = 1; opaque != 0 && about < v->lanes.count; about++)
        meet_other(v, at, about, touches, opaque, since);
    for (size_t i = 0; opaque == 0 && i < v->opaque_lanes.count; i++)
        meet_other(v, at, v->opaque_lanes.items[i], touches, 0, since);
}

/* Whether the operation's own call, which has not returned yet, waits for it. */
static bool waits_for_itself(const struct verdicts *v, uint32_t lane, uint64_t op)
{
    for (size_t i = 0; i < v->covers.count; i++)
        if (v->covers.items[i].began == op && vclock_get(&v->covers.items[i].expl, lane) >= op)
            return true;
    return false;
}

/* The lane's last operation up to `known` on memory that the host can touch, of which another thread may learn otherwise
 * than by its call's return: while a thread is in a call that waits for its own work, it can tell nobody that this work was
 * submitted before another thread's wait, and afterwards it is done. NULL: none after operation `since`. */
static const struct mark *last_to_tell(const struct verdicts *v, uint32_t about, uint64_t known, uint64_t since)
{
    const struct marks *marks = &lanes_at(v, about)->access[1];
    const struct mark *mark = known > since ? marks_last(marks, known) : NULL;
    while (mark != NULL && mark->op > since && mark->before <= since && waits_for_itself(v, about, mark->op))
        mark = mark != marks->items ? mark - 1 : NULL;
    return mark != NULL && mark->op > since ? mark : NULL;
}

void conflicts_host(struct verdicts *v, uint32_t about, const struct cover *cover)
{
    struct blame what = {.lane = HOST_LANE, .verdict = VERDICT_MAYBE_NEEDED, .reason = REASON_HOST};
    uint64_t known = blame_full(v, &what, about), explicitly = blame_explicit(v, &what, about);
    const struct mark *mark = last_to_tell(v, about, known, explicitly);
    if (mark == NULL)
        return;
    struct edge_pair pair = {.first = *lanes_end(v, mark),
                             .second = cover->end,
                             .first_access = ACCESS_UNKNOWN,
                             .second_access = ACCESS_UNKNOWN};
    what.pair = &pair;
    what.given_up = kept_is_given_up(v, &pair.first, mark->op, KEPT_BY_NOW);
    if (v->conflicts != NULL)
        tell(v, &what, mark->op, cover);
    if (!blame_settled(v, &what, about, mark->op))
        blame(v, &what, about, mark->op);
}

static void note_met(const struct verdicts *v, struct lane *lane, unsigned touches, unsigned opaque)
{
    uint64_t grown = larger(lane->grown_at, lanes_at(v, HOST_LANE)->grown_at);
    bool same = lane->met_at != 0 && grown <= lane->met_at;
    lane->met = (uint8_t)(touches | (same ? lane->met : 0));
    lane->met_opaque = (uint8_t)(opaque | (same ? lane->met_opaque : 0));
    lane->met_at = v->now;
}

void conflicts_timed(struct verdicts *v, uint32_t at)
{
    conflicts_opaque(v, at, TOUCHES_TIME, TOUCHES_TIME);
    conflicts_mark(v, at, lanes_at(v, at)->access, TOUCHES_TIME);
}

void conflicts_meet(struct verdicts *v, uint32_t at, unsigned touches, unsigned opaque)
{
    struct lane *lane = lanes_at(v, at);
    meet_others(v, at, touches, opaque, conflicts_met_less(lane, touches, opaque) ? 0 : lane->met_at);
    note_met(v, lane, touches, opaque);
}
