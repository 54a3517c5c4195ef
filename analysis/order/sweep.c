/* SPDX-License-Identifier: Apache-2.0
 *
 * Forgets milestones, arrivals and fan-ins that no later conflict can ask for, and so settles edges. Called by verdict.c
 * when the number of open edges has doubled and there are many for each strand: a sweep looks at what every strand knows of
 * every other, and the calls in between share that cost.
 *
 * An operation is live if it is remembered, as an access of a memory or as a milestone, and the host does not know it by
 * explicit order: a later call may conflict with it.
 *
 * The invariant, before and after a sweep: of each live operation that a strand (or the host) knows, the first arrival or
 * fan-in that brought it there is remembered. That is enough, for find_edges.c begins at a live operation and takes the
 * first arrival at each strand on the way back. So
 *   - a milestone may go if it is not the last of its list, and no strand, event or wait in flight knows it as the last
 * one: whatever comes after it comes after a later milestone, too;
 *   - an arrival may go if it is the first of no live operation, which means: no live operation lies after the entry before
 * it in the list, and up to its own operation.
 *
 * Example. Strand 2 learnt of strand 1 three times, up to operations 4, 9 and 12. Live operations of strand 1 are 3 and 7.
 *
 *     list of arrivals    up to 4     up to 9     up to 12
 *     first of            3           7           nothing      -> the third goes
 *
 * Then the host waits for operation 5. Operation 3 is not live any more, so the next sweep drops the first entry, too. Its
 * edge is settled if no other arrival came over the edge.
 *
 * Where even that leaves more than OPEN_MOST edges, all is forgotten, and each edge may be needed. Must never leave an edge
 * "not needed" that an operation came over which is live, or was forgotten.
 */
#include "analysis/order/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"
#include "analysis/order/memory/access_cache.h"
#include "analysis/order/memory/remembered.h"
#include "analysis/order/strands/arrivals.h"
#include "analysis/order/strands/fan_ins.h"
#include "analysis/order/strands/forgotten.h"
#include "analysis/order/strands/groups.h"
#include "analysis/order/strands/milestones.h"
#include "analysis/order/strands/open_edges.h"
#include "analysis/order/strands/strands.h"

/* A sweep looks at so many open edges a strand, or more. */
enum { EDGES_A_STRAND = 8 };
_Static_assert(EDGES_A_STRAND <= OPEN_MOST / STRANDS_MOST, "sweeping comes before giving up");

struct numbers {
    uint64_t *items;
    size_t count, room;
};

/* Of a strand; of a group `ops` alone. */
struct swept {
    uint64_t least, most; /* knowledge of its operations least <= op < most decides which milestones go */
    uint64_t asked;       /* the last such knowledge that was looked into; mostly the next one is the same */
    struct numbers ops;   /* remembered operations, rising */
    size_t next;          /* the first live one among them */
    uint64_t first;       /* that one; UINT64_MAX: none */
};

struct sweeping {
    struct swept *strand, *group;
    size_t strands, groups;
    bool failed;
};

static int by_value(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;
    return one < two ? -1 : one > two;
}

static void sort(struct numbers *numbers)
{
    if (numbers->count != 0)
        qsort(numbers->items, numbers->count, sizeof *numbers->items, by_value);
}

static void push(struct sweeping *s, struct numbers *numbers, uint64_t value)
{
    if (numbers->count != 0 && TABLE_LAST(numbers)[0] == value)
        return;
    if (TABLE_ADD(numbers))
        *TABLE_LAST(numbers) = value;
    else
        s->failed = true;
}

/* How many of the numbers are not larger than `most`. */
static size_t up_to(const struct numbers *numbers, uint64_t most)
{
    size_t low = 0, high = numbers->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (numbers->items[middle] <= most)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void collect_accesses(struct verdicts *v, struct sweeping *s)
{
    access_cache_write_all_back(v);
    for (size_t i = 0; i < v->memories.count; i++) {
        struct memory *memory = &v->memories.items[i];
        if (memory->stint == 0)
            continue;
        remembered_clean(v, memory);
        for (uint32_t at = memory->oldest; at != 0; at = remembered_at(memory, at)->later)
            push(s, &s->strand[remembered_at(memory, at)->strand].ops, remembered_at(memory, at)->op);
    }
}

/* Somebody knows operations up to this one, and so this milestone as the last. */
static void know_milestone(const struct milestones *milestones, uint64_t op)
{
    struct milestone *last = milestones_last(milestones, op);
    if (last != NULL)
        last->last_known = true;
}

/* A strand, an event or a wait knows operations of strand `about` up to this one. */
static void know(struct verdicts *v, const struct sweeping *s, uint32_t about, uint64_t op)
{
    struct strand *strand = strands_at(v, about);
    struct swept *swept = &s->strand[about];
    if (op < swept->least || op >= swept->most || op == swept->asked)
        return;
    swept->asked = op;
    for (unsigned k = 0; k < CLASSES; k++) {
        know_milestone(&strand->access[k], op);
        know_milestone(&strand->opaque[k], op);
    }
}

static void know_clock(struct verdicts *v, const struct sweeping *s, const struct vclock *clock)
{
    for (uint32_t about = 1; about < clock->room && about < s->strands; about++)
        know(v, s, about, clock->at[about]);
}

/* The numbers are knowledge as in know_milestone, all at once. The last milestone stays anyway. */
static void know_milestones_by(struct milestones *milestones, const struct numbers *upto)
{
    for (size_t i = 0; i + 1 < milestones->count; i++) {
        size_t first = up_to(upto, milestones->items[i].op - 1);
        if (first < upto->count && upto->items[first] < milestones->items[i + 1].op)
            milestones->items[i].last_known = true;
    }
}

static void know_numbers(struct strand *strand, const struct swept *swept, const struct numbers *upto)
{
    for (unsigned k = 0; k < CLASSES && swept->least < swept->most; k++) {
        know_milestones_by(&strand->access[k], upto);
        know_milestones_by(&strand->opaque[k], upto);
    }
}

/* A strand, an event or a wait knows all of a group up to this operation: of each strand of the group up to that number. */
static void know_groups(struct sweeping *s, uint32_t group, uint64_t upto)
{
    if (upto != 0 && group < s->groups)
        push(s, &s->group[group].ops, upto);
}

static void collect_groups(struct verdicts *v, struct sweeping *s)
{
    for (size_t i = 0; i < v->strands.count; i++)
        for (size_t k = 0; k < v->strands.items[i].groups.count; k++)
            know_groups(s, v->strands.items[i].groups.items[k].group, v->strands.items[i].groups.items[k].upto);
    for (size_t i = 0; i < v->events.count; i++)
        for (size_t k = 0; v->events.items[i].used && k < v->events.items[i].groups.count; k++)
            know_groups(s, v->events.items[i].groups.items[k].group, v->events.items[i].groups.items[k].upto);
    for (size_t i = 0; i < v->covers.count; i++)
        for (size_t k = 0; k < v->covers.items[i].groups.count; k++)
            know_groups(s, v->covers.items[i].groups.items[k].group, v->covers.items[i].groups.items[k].arrival.op);
    for (uint32_t group = 0; group < s->groups; group++) {
        struct numbers *upto = &s->group[group].ops;
        const struct strand_list *strands = groups_strands(v, group);
        sort(upto);
        for (size_t i = 0; i < strands->count; i++)
            know_numbers(strands_at(v, strands->items[i]), &s->strand[strands->items[i]], upto);
        upto->count = 0;
    }
}

/* Whatever a strand can still learn is what a strand, an event or a wait knows now, or newer than every milestone. */
static void collect_knowledge(struct verdicts *v, const struct sweeping *s)
{
    for (size_t i = 0; i < v->strands.count; i++)
        know_clock(v, s, &v->strands.items[i].full);
    for (size_t i = 0; i < v->events.count; i++) {
        const struct strand_event *event = &v->events.items[i];
        if (!event->used)
            continue;
        know_clock(v, s, &event->full);
        know(v, s, event->strand, event->op);
    }
    for (size_t i = 0; i < v->covers.count; i++)
        for (uint32_t about = 1; about < v->covers.items[i].room && about < s->strands; about++)
            know(v, s, about, v->covers.items[i].full[about].op);
}

/* The milestones to decide on: live, and not the last of the list. Sets the range of knowledge that decides. */
static void ask_for_milestones(struct swept *swept, struct milestones *milestones, uint64_t done)
{
    size_t first = milestones->count;
    while (first != 0 && milestones->items[first - 1].op > done)
        milestones->items[--first].last_known = false;
    if (milestones->count - first < 2)
        return;
    swept->least = milestones->items[first].op < swept->least ? milestones->items[first].op : swept->least;
    swept->most = larger(swept->most, TABLE_LAST(milestones)->op);
}

/* Drops the milestones that are not live, or not last_known. The next milestone stands for a live one that goes. */
static void sweep_milestones(struct verdicts *v, struct sweeping *s, uint32_t about, struct milestones *milestones)
{
    uint64_t done = vclock_get(&strands_at(v, HOST_STRAND)->expl, about);
    size_t kept = 0;
    for (size_t i = 0; i < milestones->count; i++) {
        bool last = i + 1 == milestones->count;
        if (milestones->items[i].op > done && !last && !milestones->items[i].last_known) {
            milestones->items[i + 1].before = larger(milestones->items[i + 1].before, milestones->items[i].op);
            strands_at(v, about)->lost_milestone = larger(strands_at(v, about)->lost_milestone, milestones->items[i].op);
        }
        if (milestones->items[i].op <= done || (!last && !milestones->items[i].last_known))
            continue;
        push(s, &s->strand[about].ops, milestones->items[i].op);
        milestones->items[kept++] = milestones->items[i];
    }
    milestones->count = kept;
}

static void sweep_all_milestones(struct verdicts *v, struct sweeping *s)
{
    for (uint32_t i = 1; i < s->strands; i++) {
        uint64_t done = vclock_get(&strands_at(v, HOST_STRAND)->expl, i);
        s->strand[i].least = UINT64_MAX;
        for (unsigned k = 0; k < CLASSES; k++) {
            ask_for_milestones(&s->strand[i], &strands_at(v, i)->access[k], done);
            ask_for_milestones(&s->strand[i], &strands_at(v, i)->opaque[k], done);
        }
    }
    collect_knowledge(v, s);
    collect_groups(v, s);
    for (uint32_t i = 1; i < s->strands; i++) {
        struct numbers *ops = &s->strand[i].ops;
        for (unsigned k = 0; k < CLASSES; k++) {
            sweep_milestones(v, s, i, &strands_at(v, i)->access[k]);
            sweep_milestones(v, s, i, &strands_at(v, i)->opaque[k]);
        }
        sort(ops);
        s->strand[i].next = up_to(ops, vclock_get(&strands_at(v, HOST_STRAND)->expl, i));
        s->strand[i].first = s->strand[i].next < ops->count ? ops->items[s->strand[i].next] : UINT64_MAX;
    }
}

/* Keeps the entries that are the first of a live operation. Entries and operations rise, so each is looked at once. */
static void sweep_list(struct verdicts *v, struct arrival_list *list, const struct swept *swept)
{
    const struct numbers *ops = &swept->ops;
    struct arrival *items = arrivals_items(list);
    uint32_t kept = 0;
    size_t next = swept->next;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct arrival *known = &items[i];
        uint64_t op = known->op;
        if (next >= ops->count || ops->items[next] > op) {
            open_edges_drop(v, known->edge);
            continue;
        }
        if (kept != i)
            items[kept] = *known;
        kept++;
        while (next < ops->count && ops->items[next] <= op)
            next++;
    }
    arrivals_keep_first(list, kept);
}

static void sweep_lists(struct verdicts *v, const struct sweeping *s)
{
    for (size_t i = 0; i < v->strands.count; i++) {
        struct strand *strand = &v->strands.items[i];
        size_t left = strand->arrivals_count;
        for (uint32_t about = 0; left != 0 && about < s->strands; about++) {
            struct arrival_list *list = &strand->arrivals[about];
            left -= list->count;
            if (list->count == 0 || (list->count == 1 && arrivals_items(list)->op >= s->strand[about].first))
                continue;
            strand->arrivals_count -= list->count;
            sweep_list(v, list, &s->strand[about]);
            strand->arrivals_count += list->count;
        }
    }
}

static void sweep_groups(struct verdicts *v, struct sweeping *s)
{
    for (uint32_t i = 1; i < s->strands; i++) {
        const struct numbers *ops = &s->strand[i].ops;
        uint32_t group = strands_at(v, i)->group;
        for (size_t k = s->strand[i].next; group != NO_GROUP && k < ops->count; k++)
            push(s, &s->group[group].ops, ops->items[k]);
    }
    for (uint32_t group = 0; group < s->groups; group++)
        sort(&s->group[group].ops);
    for (size_t i = 0; i < v->strands.count && !s->failed; i++)
        for (size_t k = 0; k < v->strands.items[i].groups.count; k++) {
            struct group_knowledge *of = &v->strands.items[i].groups.items[k];
            if (of->arrivals.count != 0)
                sweep_list(v, &of->arrivals, &s->group[of->group]);
        }
}

/* Whether the fan-in is the first of a live operation. */
static bool fan_in_is_needed(const void *data, const struct fan_in *fan_in)
{
    const struct swept *swept = &((const struct sweeping *)data)->strand[fan_in->from];
    if (fan_in->after < swept->first)
        return fan_in->upto >= swept->first;
    size_t next = up_to(&swept->ops, fan_in->after);
    return next < swept->ops.count && swept->ops.items[next] <= fan_in->upto;
}

static bool is_never_needed(const void *data, const struct fan_in *fan_in)
{
    (void)data;
    (void)fan_in;
    return false;
}

/* Forgets all arrivals. Every edge is limited, and what comes later is, of operations up to now. */
static void give_up(struct verdicts *v)
{
    for (size_t i = 0; i < v->edges.count; i++)
        v->edges.items[i].limited = true;
    for (uint32_t i = 1; i < v->strands.count; i++)
        strands_drop(v, strands_at(v, i), v->now);
    for (size_t i = 0; i < v->strands.count; i++) {
        struct strand *strand = &v->strands.items[i];
        for (uint32_t about = 0; strand->arrivals_count != 0 && about < strand->arrivals_room; about++) {
            strand->arrivals_count -= strand->arrivals[about].count;
            for (uint32_t k = 0; k < strand->arrivals[about].count; k++)
                open_edges_drop(v, arrivals_items(&strand->arrivals[about])[k].edge);
            arrivals_keep_first(&strand->arrivals[about], 0);
        }
        for (size_t g = 0; g < strand->groups.count; g++) {
            struct arrival_list *list = &strand->groups.items[g].arrivals;
            for (uint32_t k = 0; k < list->count; k++)
                open_edges_drop(v, arrivals_items(list)[k].edge);
            arrivals_keep_first(list, 0);
        }
    }
    fan_ins_sweep(v, is_never_needed, NULL);
    for (uint32_t i = 0; i < v->strands.count; i++)
        strands_at(v, i)->forgotten.count = 0;
    v->forgetful = 0;
    v->forgotten = v->now;
    v->totals.dropped++;
}

void sweep(struct verdicts *v)
{
    struct sweeping s = {.strand = heap_zeroed(v->strands.count, sizeof *s.strand), .strands = v->strands.count};
    s.groups = v->contexts.count * GROUPS_A_CONTEXT;
    s.group = s.groups != 0 ? heap_zeroed(s.groups, sizeof *s.group) : NULL;
    if (s.strand != NULL && s.group != NULL) {
        collect_accesses(v,
                         &s); /* writes the access cache back, which may forget accesses: so before forgotten_limit_all */
        for (uint32_t i = 0; v->forgetful != 0 && i < v->strands.count; i++)
            forgotten_limit_all(v, i);
        sweep_all_milestones(v, &s);
        if (!s.failed)
            sweep_lists(v, &s);
        if (!s.failed)
            sweep_groups(v, &s);
        if (!s.failed)
            fan_ins_sweep(v, fan_in_is_needed, &s);
    }
    if (v->open > OPEN_MOST)
        give_up(v);
    for (size_t i = 0; s.strand != NULL && i < s.strands; i++)
        free(s.strand[i].ops.items);
    for (size_t i = 0; s.group != NULL && i < s.groups; i++)
        free(s.group[i].ops.items);
    free(s.group);
    free(s.strand);
    v->sweep_at = v->sweep_least == 0 ? 0 : larger(larger(v->sweep_least, v->open * 2), s.strands * EDGES_A_STRAND);
}
