/* SPDX-License-Identifier: Apache-2.0
 *
 * Two operations and one piece of memory: is it a conflict, and what orders it? Called for every access of every operation,
 * so what explicit order holds must be found out first and cheaply. Of a stream's accesses only the last of each kind and
 * place is remembered: whoever comes after that one comes after the others.
 */
#include "analysis/verdict/engine.h"

#include <string.h>

/* A read loses to anything, a write wins over anything: what a later access of the same place makes superfluous. */
static unsigned strength(enum access access)
{
    return access == ACCESS_WRITE ? 3 : access == ACCESS_UNKNOWN ? 2 : 1;
}

static bool overlap(const struct touch *a, const struct touch *b)
{
    return a->lo < b->hi && b->lo < a->hi;
}

/* Do both surely touch a byte in common? *may: whether they can at all. */
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

/* REASON_NONE with verdict false: no conflict. */
static enum verdict judge(const struct touch *a, const struct touch *b, enum verdict_reason *reason)
{
    bool may, sure;
    *reason = REASON_NONE;
    if (a->access == ACCESS_READ && b->access == ACCESS_READ)
        return VERDICT_FALSE;
    sure = meet(a, b, &may);
    if (!may)
        return VERDICT_FALSE;
    *reason = !sure ? REASON_EXTENT : REASON_ACCESS;
    return sure && (a->access == ACCESS_WRITE || b->access == ACCESS_WRITE) ? VERDICT_LOAD_BEARING : VERDICT_UNKNOWN;
}

static void describe(struct edge_pair *pair, const struct verdicts *v, const struct remembered *first,
                     const struct touch *second, const struct memory *memory)
{
    const struct touch *touch = &first->touch;
    uint64_t lo = larger(touch->lo, second->lo), hi = touch->hi < second->hi ? touch->hi : second->hi;
    *pair = (struct edge_pair){.first = first->end,
                               .second = v->end,
                               .first_access = touch->access,
                               .second_access = second->access,
                               .address = lo,
                               .allocation = memory->uid};
    bool exact = touch->extent != EXTENT_FROM || second->extent != EXTENT_FROM;
    if (touch->extent == EXTENT_FROM && second->extent != EXTENT_FROM)
        pair->address = touch->lo;
    if (touch->extent != EXTENT_FROM && second->extent == EXTENT_FROM)
        pair->address = second->lo;
    exact &= touch->extent != EXTENT_FROM && second->extent != EXTENT_FROM;
    pair->size = exact && hi > lo ? hi - lo : 0;
}

/* Of a stream's accesses only the last is remembered. Where that one is unordered, an earlier one may still have been held
 * by the edges that brought older knowledge of its lane: they are no longer false. */
static void doubt_older(struct verdicts *v, const struct blame *by, uint32_t about, uint64_t explicitly)
{
    struct blame what = *by;
    const uint32_t lanes[] = {HOST_LANE, by->lane};
    what.reason = by->verdict == VERDICT_LOAD_BEARING ? REASON_RACE : by->reason;
    what.verdict = VERDICT_UNKNOWN;
    what.partly = true;
    for (unsigned k = 0; k < (by->lane == HOST_LANE ? 1 : 2); k++) {
        const struct lane *lane = lanes_at(v, lanes[k]);
        if (about >= lane->brought_room)
            continue;
        const struct known_list *list = &lane->brought[about];
        for (uint32_t i = list->count; i-- > 0 && list->items[i].op > explicitly;)
            blame(v, &what, about, list->items[i].op);
    }
    if (by->cover != NULL && about < by->cover->room && by->cover->full[about].op > explicitly)
        blame(v, &what, about, by->cover->full[about].op);
}

static void race(struct verdicts *v, const struct blame *by, uint32_t about, uint64_t op, const struct edge_pair *pair)
{
    bool certain = by->verdict == VERDICT_LOAD_BEARING && op > v->soft && op > v->fog && lanes_at(v, about)->sure &&
                   (by->cover != NULL || lanes_at(v, by->lane)->sure);
    doubt_older(v, by, about, blame_explicit(v, by, about));
    v->totals.races += certain;
    v->totals.possible_races += !certain;
    if (certain && !v->raced) {
        v->race = *pair;
        v->raced = true;
    }
}

static void examine(struct verdicts *v, const struct blame *by, const struct memory *memory, const struct remembered *first,
                    const struct touch *second)
{
    struct edge_pair pair;
    struct blame what = *by;
    what.verdict = judge(&first->touch, second, &what.reason);
    if (what.verdict == VERDICT_FALSE)
        return;
    if (what.verdict == VERDICT_LOAD_BEARING && first->op <= v->fog) {
        what.verdict = VERDICT_UNKNOWN;
        what.reason = REASON_LOST;
    }
    describe(&pair, v, first, second, memory);
    what.pair = &pair;
    if (blame_full(v, by, first->lane) >= first->op)
        blame(v, &what, first->lane, first->op);
    else
        race(v, &what, first->lane, first->op, &pair);
}

/* Whoever conflicts with the old access conflicts as surely with the new one. A kernel may reach all of the memory. */
static bool covers(const struct memory *memory, const struct touch *new, const struct touch *old)
{
    if (strength(new->access) < strength(old->access))
        return false;
    if (new->extent != EXTENT_EXACT)
        return new->extent == old->extent &&new->lo == old->lo &&new->hi == old->hi;
    if (old->extent == EXTENT_FROM)
        return new->lo <= memory->base &&new->hi >= memory->end;
    return new->lo <= old->lo &&new->hi >= old->hi;
}

/* Looks at what is remembered of the memory, and drops of it what everybody comes after anyway and what the new access of
 * the same lane makes superfluous. */
void conflicts_touch(struct verdicts *v, const struct blame *by, struct memory *memory, const struct touch *touch)
{
    const struct lane *host = lanes_at(v, HOST_LANE), *lane = lanes_at(v, by->lane);
    struct remembered *list = memory->list.items;
    size_t kept = 0, count = memory->list.count;
    for (size_t i = 0; i < count; i++) {
        const struct remembered *old = &list[i];
        if (vclock_get(&host->expl, old->lane) >= old->op)
            continue;
        if (old->lane == by->lane) {
            if (covers(memory, touch, &old->touch))
                continue;
        } else if (by->cover != NULL || vclock_get(&lane->expl, old->lane) < old->op) {
            examine(v, by, memory, old, touch);
        }
        if (kept != i)
            list[kept] = *old;
        kept++;
    }
    memory->list.count = kept;
}

/* After conflicts_touch with the same access. */
void conflicts_remember(struct verdicts *v, uint32_t lane, struct memory *memory, const struct touch *touch)
{
    if (memory->list.count >= ACCESSES_MOST) {
        blame_forgotten(v, memory->list.items[0].lane, memory->list.items[0].op);
        memory->list.count--;
        memmove(memory->list.items, memory->list.items + 1, memory->list.count * sizeof *memory->list.items);
    }
    if (!TABLE_ADD(&memory->list)) {
        v->limited = true;
        return;
    }
    *TABLE_LAST(&memory->list) = (struct remembered){.touch = *touch, .op = v->now, .lane = lane, .end = v->end};
}

/* The last mark that comes before the call at hand by full order. */
static const struct mark *last_mark(const struct marks *marks, uint64_t known)
{
    for (size_t i = marks->count; i-- > 0;)
        if (marks->items[i].op <= known)
            return &marks->items[i];
    return NULL;
}

static void add_mark(struct verdicts *v, uint32_t at, struct marks *marks)
{
    const struct lane *lane = lanes_at(v, at);
    if (marks->count != 0 && TABLE_LAST(marks)->op > lane->snapped) {
        *TABLE_LAST(marks) = (struct mark){v->now, v->end};
        return;
    }
    uint64_t done = vclock_get(&lanes_at(v, HOST_LANE)->expl, at);
    if (marks->count != 0 && TABLE_LAST(marks)->op <= done)
        marks->count = 0;
    if (marks->count >= MARKS_MOST) {
        blame_forgotten(v, at, marks->items[MARKS_MOST / 2 - 1].op);
        marks->count = MARKS_MOST / 2;
        memmove(marks->items, marks->items + MARKS_MOST / 2, marks->count * sizeof *marks->items);
    }
    if (TABLE_ADD(marks))
        *TABLE_LAST(marks) = (struct mark){v->now, v->end};
    else
        v->limited = true;
}

static void meet_marks(struct verdicts *v, uint32_t lane, uint32_t about, const struct marks marks[CLASSES],
                       unsigned classes)
{
    struct blame what = {.lane = lane, .verdict = VERDICT_UNKNOWN, .reason = REASON_OPAQUE};
    uint64_t known = blame_full(v, &what, about), explicitly = blame_explicit(v, &what, about);
    if (known <= explicitly)
        return;
    for (unsigned i = 0; i < CLASSES; i++) {
        const struct mark *mark = classes & 1u << i ? last_mark(&marks[i], known) : NULL;
        if (mark == NULL || mark->op <= explicitly)
            continue;
        struct edge_pair pair = {
            .first = mark->end, .second = v->end, .first_access = ACCESS_UNKNOWN, .second_access = ACCESS_UNKNOWN};
        what.pair = &pair;
        blame(v, &what, about, mark->op);
    }
}

/* An operation that touches memory of these classes, and memory of those that nobody names. */
void conflicts_opaque(struct verdicts *v, uint32_t at, unsigned touches, unsigned opaque)
{
    touches |= opaque;
    bool met = v->opaque_at != 0 && touches != 0;
    for (uint32_t about = 1; (met || opaque != 0) && about < v->lanes.count; about++) {
        if (about == at || !lanes_at(v, about)->open)
            continue;
        if (met)
            meet_marks(v, at, about, lanes_at(v, about)->opaque, touches);
        if (opaque != 0)
            meet_marks(v, at, about, lanes_at(v, about)->access, opaque);
    }
    for (unsigned i = 0; i < CLASSES; i++) {
        if (touches & 1u << i)
            add_mark(v, at, &lanes_at(v, at)->access[i]);
        if (opaque & 1u << i)
            add_mark(v, at, &lanes_at(v, at)->opaque[i]);
    }
    if (opaque != 0)
        v->opaque_at = v->now;
}
