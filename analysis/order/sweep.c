/* SPDX-License-Identifier: Apache-2.0
 *
 * Forgets how knowledge arrived where nobody can ask any more, and so settles edges: an edge is kept only for operations
 * that came over it first and are still remembered. Run when the number of open edges has doubled, and there are many for
 * each lane, whose knowledge of all others it looks at: so its cost is shared by the calls between. Where even that is not
 * enough, all is forgotten and the edges may be needed.
 */
#include "analysis/order/blame.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/heap.h"

enum { EDGES_A_LANE = 8 }; /* at most OPEN_MOST / LANES_MOST */
_Static_assert(EDGES_A_LANE <= OPEN_MOST / LANES_MOST, "sweeping comes before giving up");

struct numbers {
    uint64_t *items;
    size_t count, room;
};

/* Of a lane. Whoever knows of its operation `asked` was there last; of those from `least` to before `most` it matters who
 * does, for its marks. */
struct swept {
    uint64_t least, most, asked;
    uint64_t first; /* remembered operation that not everybody comes after, and its place; UINT64_MAX: none */
    size_t next;
    struct numbers ops; /* remembered operations */
};

struct sweeping {
    struct swept *lane, *group;
    size_t lanes, groups;
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

/* How many are not larger. */
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
    places_write_all_back(v);
    for (size_t i = 0; i < v->memories.count; i++) {
        struct memory *memory = &v->memories.items[i];
        if (memory->turn == 0)
            continue;
        accesses_clean(v, memory);
        for (uint32_t at = memory->oldest; at != 0; at = accesses_at(memory, at)->later)
            push(s, &s->lane[accesses_at(memory, at)->lane].ops, accesses_at(memory, at)->op);
    }
}

/* The last one up to an operation is the last that whoever knows this operation knows of. */
static void know_mark(struct marks *marks, uint64_t op)
{
    size_t low = 0, high = marks->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (marks->items[middle].op <= op)
            low = middle + 1;
        else
            high = middle;
    }
    if (low != 0)
        marks->items[low - 1].last_known = true;
}

static void know(struct verdicts *v, const struct sweeping *s, uint32_t about, uint64_t op)
{
    struct lane *lane = lanes_at(v, about);
    struct swept *swept = &s->lane[about];
    if (op < swept->least || op >= swept->most || op == swept->asked)
        return;
    swept->asked = op;
    for (unsigned k = 0; k < CLASSES; k++) {
        know_mark(&lane->access[k], op);
        know_mark(&lane->opaque[k], op);
    }
}

static void know_clock(struct verdicts *v, const struct sweeping *s, const struct vclock *clock)
{
    for (uint32_t about = 1; about < clock->room && about < s->lanes; about++)
        know(v, s, about, clock->at[about]);
}

static void know_marks_by(struct marks *marks, const struct numbers *upto)
{
    for (size_t i = 0; i + 1 < marks->count; i++) {
        size_t first = up_to(upto, marks->items[i].op - 1);
        if (first < upto->count && upto->items[first] < marks->items[i + 1].op)
            marks->items[i].last_known = true;
    }
}

static void know_numbers(struct lane *lane, const struct swept *swept, const struct numbers *upto)
{
    for (unsigned k = 0; k < CLASSES && swept->least < swept->most; k++) {
        know_marks_by(&lane->access[k], upto);
        know_marks_by(&lane->opaque[k], upto);
    }
}

/* Who knows all of a group knows of its lanes' marks by one number. */
static void know_groups(struct sweeping *s, uint32_t group, uint64_t upto)
{
    if (upto != 0 && group < s->groups)
        push(s, &s->group[group].ops, upto);
}

static void collect_groups(struct verdicts *v, struct sweeping *s)
{
    for (size_t i = 0; i < v->lanes.count; i++)
        for (size_t k = 0; k < v->lanes.items[i].groups.count; k++)
            know_groups(s, v->lanes.items[i].groups.items[k].group, v->lanes.items[i].groups.items[k].upto);
    for (size_t i = 0; i < v->events.count; i++)
        for (size_t k = 0; v->events.items[i].used && k < v->events.items[i].groups.count; k++)
            know_groups(s, v->events.items[i].groups.items[k].group, v->events.items[i].groups.items[k].upto);
    for (size_t i = 0; i < v->covers.count; i++)
        for (size_t k = 0; k < v->covers.items[i].groups.count; k++)
            know_groups(s, v->covers.items[i].groups.items[k].group, v->covers.items[i].groups.items[k].known.op);
    for (uint32_t group = 0; group < s->groups; group++) {
        struct numbers *upto = &s->group[group].ops;
        const struct lane_list *lanes = groups_lanes(v, group);
        sort(upto);
        for (size_t i = 0; i < lanes->count; i++)
            know_numbers(lanes_at(v, lanes->items[i]), &s->lane[lanes->items[i]], upto);
        upto->count = 0;
    }
}

/* All that anybody knows: what somebody can still learn is one of these, or newer than all. */
static void collect_knowledge(struct verdicts *v, const struct sweeping *s)
{
    for (size_t i = 0; i < v->lanes.count; i++)
        know_clock(v, s, &v->lanes.items[i].full);
    for (size_t i = 0; i < v->events.count; i++) {
        const struct event *event = &v->events.items[i];
        if (!event->used)
            continue;
        know_clock(v, s, &event->full);
        know(v, s, event->lane, event->op);
    }
    for (size_t i = 0; i < v->covers.count; i++)
        for (uint32_t about = 1; about < v->covers.items[i].room && about < s->lanes; about++)
            know(v, s, about, v->covers.items[i].full[about].op);
}

/* All but the last stay only if somebody knows. */
static void ask_for_marks(struct swept *swept, struct marks *marks, uint64_t done)
{
    size_t first = marks->count;
    while (first != 0 && marks->items[first - 1].op > done)
        marks->items[--first].last_known = false;
    if (marks->count - first < 2)
        return;
    swept->least = marks->items[first].op < swept->least ? marks->items[first].op : swept->least;
    swept->most = larger(swept->most, TABLE_LAST(marks)->op);
}

/* Of the marks, those which would be the last that somebody knows. */
static void sweep_marks(struct verdicts *v, struct sweeping *s, uint32_t about, struct marks *marks)
{
    uint64_t done = vclock_get(&lanes_at(v, HOST_LANE)->expl, about);
    size_t kept = 0;
    for (size_t i = 0; i < marks->count; i++) {
        bool last = i + 1 == marks->count;
        if (marks->items[i].op > done && !last && !marks->items[i].last_known) {
            marks->items[i + 1].before = larger(marks->items[i + 1].before, marks->items[i].op);
            lanes_at(v, about)->unmarked = larger(lanes_at(v, about)->unmarked, marks->items[i].op);
        }
        if (marks->items[i].op <= done || (!last && !marks->items[i].last_known))
            continue;
        push(s, &s->lane[about].ops, marks->items[i].op);
        marks->items[kept++] = marks->items[i];
    }
    marks->count = kept;
}

static void sweep_all_marks(struct verdicts *v, struct sweeping *s)
{
    for (uint32_t i = 1; i < s->lanes; i++) {
        uint64_t done = vclock_get(&lanes_at(v, HOST_LANE)->expl, i);
        s->lane[i].least = UINT64_MAX;
        for (unsigned k = 0; k < CLASSES; k++) {
            ask_for_marks(&s->lane[i], &lanes_at(v, i)->access[k], done);
            ask_for_marks(&s->lane[i], &lanes_at(v, i)->opaque[k], done);
        }
    }
    collect_knowledge(v, s);
    collect_groups(v, s);
    for (uint32_t i = 1; i < s->lanes; i++) {
        struct numbers *ops = &s->lane[i].ops;
        for (unsigned k = 0; k < CLASSES; k++) {
            sweep_marks(v, s, i, &lanes_at(v, i)->access[k]);
            sweep_marks(v, s, i, &lanes_at(v, i)->opaque[k]);
        }
        sort(ops);
        s->lane[i].next = up_to(ops, vclock_get(&lanes_at(v, HOST_LANE)->expl, i));
        s->lane[i].first = s->lane[i].next < ops->count ? ops->items[s->lane[i].next] : UINT64_MAX;
    }
}

/* Both rise, so the numbers are gone through once. */
static void sweep_list(struct verdicts *v, struct known_list *list, const struct swept *swept)
{
    const struct numbers *ops = &swept->ops;
    struct known *items = known_items(list);
    uint32_t kept = 0;
    size_t next = swept->next;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct known *known = &items[i];
        uint64_t op = known->op;
        if (next >= ops->count || ops->items[next] > op) {
            edges_drop(v, known->edge);
            continue;
        }
        if (kept != i)
            items[kept] = *known;
        kept++;
        while (next < ops->count && ops->items[next] <= op)
            next++;
    }
    lanes_forget(list, kept);
}

static void sweep_lists(struct verdicts *v, const struct sweeping *s)
{
    for (size_t i = 0; i < v->lanes.count; i++) {
        struct lane *lane = &v->lanes.items[i];
        size_t left = lane->brought_count;
        for (uint32_t about = 0; left != 0 && about < s->lanes; about++) {
            struct known_list *list = &lane->brought[about];
            left -= list->count;
            if (list->count == 0 || (list->count == 1 && known_items(list)->op >= s->lane[about].first))
                continue;
            lane->brought_count -= list->count;
            sweep_list(v, list, &s->lane[about]);
            lane->brought_count += list->count;
        }
    }
}

static void sweep_groups(struct verdicts *v, struct sweeping *s)
{
    for (uint32_t i = 1; i < s->lanes; i++) {
        const struct numbers *ops = &s->lane[i].ops;
        uint32_t group = lanes_at(v, i)->group;
        for (size_t k = s->lane[i].next; group != NO_GROUP && k < ops->count; k++)
            push(s, &s->group[group].ops, ops->items[k]);
    }
    for (uint32_t group = 0; group < s->groups; group++)
        sort(&s->group[group].ops);
    for (size_t i = 0; i < v->lanes.count && !s->failed; i++)
        for (size_t k = 0; k < v->lanes.items[i].groups.count; k++) {
            struct of_group *of = &v->lanes.items[i].groups.items[k];
            if (of->brought.count != 0)
                sweep_list(v, &of->brought, &s->group[of->group]);
        }
}

static bool fan_is_needed(const void *data, const struct fan *fan)
{
    const struct swept *swept = &((const struct sweeping *)data)->lane[fan->from];
    if (fan->after < swept->first)
        return fan->upto >= swept->first;
    size_t next = up_to(&swept->ops, fan->after);
    return next < swept->ops.count && swept->ops.items[next] <= fan->upto;
}

static bool is_never_needed(const void *data, const struct fan *fan)
{
    (void)data;
    (void)fan;
    return false;
}

/* All edges' ways are forgotten. */
static void give_up(struct verdicts *v)
{
    for (size_t i = 0; i < v->edges.count; i++)
        v->edges.items[i].limited = true;
    for (uint32_t i = 1; i < v->lanes.count; i++)
        lanes_drop(v, lanes_at(v, i), v->now);
    for (size_t i = 0; i < v->lanes.count; i++) {
        struct lane *lane = &v->lanes.items[i];
        for (uint32_t about = 0; lane->brought_count != 0 && about < lane->brought_room; about++) {
            lane->brought_count -= lane->brought[about].count;
            for (uint32_t k = 0; k < lane->brought[about].count; k++)
                edges_drop(v, known_items(&lane->brought[about])[k].edge);
            lanes_forget(&lane->brought[about], 0);
        }
        for (size_t g = 0; g < lane->groups.count; g++) {
            struct known_list *list = &lane->groups.items[g].brought;
            for (uint32_t k = 0; k < list->count; k++)
                edges_drop(v, known_items(list)[k].edge);
            lanes_forget(list, 0);
        }
    }
    fans_sweep(v, is_never_needed, NULL);
    for (uint32_t i = 0; i < v->lanes.count; i++)
        lanes_at(v, i)->forgotten.count = 0;
    v->forgetful = 0;
    v->forgotten = v->now;
    v->totals.dropped++;
}

void sweep(struct verdicts *v)
{
    struct sweeping s = {.lane = heap_zeroed(v->lanes.count, sizeof *s.lane), .lanes = v->lanes.count};
    s.groups = v->contexts.count * GROUPS_A_CONTEXT;
    s.group = s.groups != 0 ? heap_zeroed(s.groups, sizeof *s.group) : NULL;
    if (s.lane != NULL && s.group != NULL) {
        collect_accesses(v, &s); /* too many are forgotten here */
        for (uint32_t i = 0; v->forgetful != 0 && i < v->lanes.count; i++)
            blame_limit_all(v, i);
        sweep_all_marks(v, &s);
        if (!s.failed)
            sweep_lists(v, &s);
        if (!s.failed)
            sweep_groups(v, &s);
        if (!s.failed)
            fans_sweep(v, fan_is_needed, &s);
    }
    if (v->open > OPEN_MOST)
        give_up(v);
    for (size_t i = 0; s.lane != NULL && i < s.lanes; i++)
        free(s.lane[i].ops.items);
    for (size_t i = 0; s.group != NULL && i < s.groups; i++)
        free(s.group[i].ops.items);
    free(s.group);
    free(s.lane);
    v->sweep_at = v->sweep_least == 0 ? 0 : larger(larger(v->sweep_least, v->open * 2), s.lanes * EDGES_A_LANE);
}
