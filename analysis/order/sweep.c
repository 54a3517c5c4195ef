/* SPDX-License-Identifier: Apache-2.0
 *
 * Forgets how knowledge arrived where nobody can ask any more, and so settles edges: an edge is kept only for operations
 * that came over it first and are still remembered. Run when the number of open edges has doubled, and there are many for
 * each lane, whose knowledge of all others it looks at: so its cost is shared by the calls between. Where even that is not
 * enough, all is forgotten and the edges may be needed.
 */
#include "analysis/order/engine.h"

#include <stdlib.h>
#include <string.h>

enum { EDGES_A_LANE = 8 }; /* at most OPEN_MOST / LANES_MOST */
_Static_assert(EDGES_A_LANE <= OPEN_MOST / LANES_MOST, "sweeping comes before giving up");

struct numbers {
    uint64_t *items;
    size_t count, room;
};

struct sweeping {
    struct numbers *ops; /* remembered operations, by lane */
    size_t lanes;
    bool failed;
};

static int by_value(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;
    return one < two ? -1 : one > two;
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

/* Is there one in from < x <= to? */
static bool any_between(const struct numbers *numbers, uint64_t from, uint64_t to)
{
    size_t next = up_to(numbers, from);
    return next < numbers->count && numbers->items[next] <= to;
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
            push(s, &s->ops[accesses_at(memory, at)->lane], accesses_at(memory, at)->op);
    }
}

/* All that anybody knows of the lane: what somebody can still learn is one of these, or newer than all. */
static void collect_knowledge(struct verdicts *v, struct sweeping *s, uint32_t about, struct numbers *out)
{
    out->count = 0;
    for (size_t i = 0; i < v->lanes.count; i++)
        push(s, out, vclock_get(&v->lanes.items[i].full, about));
    for (size_t i = 0; i < v->events.count; i++) {
        if (!v->events.items[i].used)
            continue;
        push(s, out, vclock_get(&v->events.items[i].full, about));
        if (v->events.items[i].lane == about)
            push(s, out, v->events.items[i].op);
    }
    for (size_t i = 0; i < v->covers.count; i++)
        if (about < v->covers.items[i].room)
            push(s, out, v->covers.items[i].full[about].op);
    if (out->count != 0)
        qsort(out->items, out->count, sizeof *out->items, by_value);
}

/* Of the marks, those which would be the last that somebody knows. */
static void sweep_marks(struct verdicts *v, struct sweeping *s, uint32_t about, struct marks *marks,
                        const struct numbers *knowledge)
{
    uint64_t done = vclock_get(&lanes_at(v, HOST_LANE)->expl, about);
    size_t kept = 0;
    for (size_t i = 0; i < marks->count; i++) {
        uint64_t op = marks->items[i].op;
        bool last = i + 1 == marks->count;
        if (op <= done || (!last && !any_between(knowledge, op - 1, marks->items[i + 1].op - 1)))
            continue;
        push(s, &s->ops[about], op);
        marks->items[kept++] = marks->items[i];
    }
    marks->count = kept;
}

/* Both rise, so the numbers are gone through once. */
static void sweep_list(struct verdicts *v, struct known_list *list, const struct numbers *ops, uint64_t done)
{
    uint64_t before = done;
    uint32_t kept = 0;
    size_t next = list->count != 0 ? up_to(ops, done) : 0;
    for (uint32_t i = 0; i < list->count; i++) {
        struct known known = list->items[i];
        if (next < ops->count && known.op > before && ops->items[next] <= known.op)
            list->items[kept++] = known;
        else
            edges_drop(v, known.edge);
        before = larger(before, known.op);
        while (next < ops->count && ops->items[next] <= before)
            next++;
    }
    list->count = kept;
    list->limited = 0;
}

static void sweep_lists(struct verdicts *v, const struct sweeping *s)
{
    for (size_t i = 0; i < v->lanes.count; i++) {
        struct lane *lane = &v->lanes.items[i];
        for (uint32_t about = 0; about < lane->brought_room && about < s->lanes; about++)
            sweep_list(v, &lane->brought[about], &s->ops[about], vclock_get(&lanes_at(v, HOST_LANE)->expl, about));
    }
}

/* All edges' ways are forgotten. */
static void give_up(struct verdicts *v)
{
    for (size_t i = 0; i < v->edges.count; i++)
        v->edges.items[i].limited = true;
    for (uint32_t i = 1; i < v->lanes.count; i++)
        lanes_at(v, i)->dropped = larger(lanes_at(v, i)->dropped, v->now);
    for (size_t i = 0; i < v->lanes.count; i++) {
        struct lane *lane = &v->lanes.items[i];
        for (uint32_t about = 0; about < lane->brought_room; about++) {
            for (uint32_t k = 0; k < lane->brought[about].count; k++)
                edges_drop(v, lane->brought[about].items[k].edge);
            lane->brought[about].count = lane->brought[about].limited = 0;
        }
    }
    v->forgotten = v->now;
    v->totals.dropped++;
}

void sweep(struct verdicts *v)
{
    struct sweeping s = {.ops = calloc(v->lanes.count, sizeof *s.ops), .lanes = v->lanes.count};
    struct numbers knowledge = {0};
    if (s.ops != NULL) {
        collect_accesses(v, &s);
        for (uint32_t i = 1; i < s.lanes; i++) {
            collect_knowledge(v, &s, i, &knowledge);
            for (unsigned k = 0; k < CLASSES; k++) {
                sweep_marks(v, &s, i, &lanes_at(v, i)->access[k], &knowledge);
                sweep_marks(v, &s, i, &lanes_at(v, i)->opaque[k], &knowledge);
            }
            if (s.ops[i].count != 0)
                qsort(s.ops[i].items, s.ops[i].count, sizeof *s.ops[i].items, by_value);
        }
        if (!s.failed)
            sweep_lists(v, &s);
    }
    if (v->open > OPEN_MOST)
        give_up(v);
    for (size_t i = 0; s.ops != NULL && i < s.lanes; i++)
        free(s.ops[i].items);
    free(s.ops);
    free(knowledge.items);
    v->sweep_at = v->sweep_least == 0 ? 0 : larger(v->sweep_least, larger(v->open * 2, v->lanes.count * EDGES_A_LANE));
}
