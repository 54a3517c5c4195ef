/* SPDX-License-Identifier: Apache-2.0
 *
 * What a lane gets to know of the others, and over which edge: its clock rises, and how that came is noted. Called by
 * joins.c and waits.c, several times for each implicit edge. Nothing may be noted of what everybody comes after anyway.
 */
#include "analysis/base/hints.h"
#include "analysis/order/blame.h"

#include <stdlib.h>
#include <string.h>

static INLINE bool is_group(const struct lane *one, const struct lane *two)
{
    return one->context == two->context && one->after != 0 && two->after != 0;
}

bool lanes_group(const struct verdicts *v, uint32_t a, uint32_t b)
{
    return is_group(lanes_at(v, a), lanes_at(v, b));
}

/* Drops what everybody comes after anyway; the list is not empty. */
static void trim(struct verdicts *v, struct lane *lane, struct known_list *list, uint32_t about, uint64_t done)
{
    struct known *items = known_items(list);
    uint32_t dead = 0;
    if (items[0].op > done)
        return;
    blame_limit(v, list, about);
    while (dead < list->count && items[dead].op <= done)
        edges_drop(v, items[dead++].edge);
    list->count -= dead;
    lane->brought_count -= dead;
    memmove(items, items + dead, list->count * sizeof *items);
}

enum { MANY_LEAST = 8 };

bool lanes_give_room(struct known_list *list)
{
    struct known *items = list->room > 1 ? list->many : NULL;
    size_t room = list->room > 1 ? list->room : 0;
    if (list->room == 0) {
        list->room = 1;
        return true;
    }
    struct known *grown = table_grow(items, &room, room != 0 ? room + 1 : MANY_LEAST, sizeof *grown);
    if (grown == NULL)
        return false;
    if (list->room == 1)
        grown[0] = list->one;
    list->many = grown;
    list->room = (uint32_t)room;
    return true;
}

void lanes_forget(struct known_list *list, uint32_t kept)
{
    list->count = kept;
    if (list->room != MANY_LEAST || kept > 1)
        return;
    struct known *items = list->many;
    list->room = kept;
    list->one = items[0];
    free(items);
}

static struct known_list *list_of(struct lane *lane, uint32_t about)
{
    void *grown = table_grow(lane->brought, &lane->brought_room, (size_t)about + 1, sizeof *lane->brought);
    if (grown == NULL)
        return NULL;
    lane->brought = grown;
    return &lane->brought[about];
}

/* Where to note how the lane learnt of this operation of lane `about`. NULL: nobody will ask, or there is no memory. */
static INLINE struct known *arrival_of(struct verdicts *v, struct lane *lane, uint32_t about, uint64_t op, uint64_t done)
{
    if (op <= done)
        return NULL;
    struct known_list *list = list_of(lane, about);
    if (list != NULL && list->count == list->room && list->room > 1)
        trim(v, lane, list, about, done);
    if (list == NULL || (list->count == list->room && !lanes_give_room(list))) {
        v->limited = true;
        return NULL;
    }
    lane->brought_count++;
    return &known_items(list)[list->count++];
}

/* ... and that it came over the edge. */
static INLINE void come_over(struct verdicts *v, uint32_t edge, const struct lane *subject, uint64_t before, uint64_t done)
{
    if (edge == NO_EDGE)
        return;
    struct open_edge *open = &v->edges.items[edge];
    open->refs++;
    before = larger(before, larger(done, subject->born - 1));
    open->limited |= before < subject->dropped;
    open->lost |= before < v->lost_at;
}

/* False: no memory. */
static INLINE bool raise_clocks(struct verdicts *v, struct lane *lane, uint32_t about, uint64_t op)
{
    if (!vclock_raise(&lane->full, about, op) || !vclock_raise(&lane->grown, about, v->now)) {
        v->limited = true;
        return false;
    }
    lane->grown_at = v->now;
    return true;
}

bool lanes_learn(struct verdicts *v, uint32_t at, uint32_t about, const struct known *known)
{
    struct lane *lane = lanes_at(v, at);
    const struct lane *subject = lanes_at(v, about), *host = lanes_at(v, HOST_LANE);
    uint64_t before = lanes_full(v, lane, about), done = vclock_get(&host->expl, about);
    if (at == about || known->op <= before || !raise_clocks(v, lane, about, known->op))
        return false;
    struct known *arrival = arrival_of(v, lane, about, known->op, done);
    if (arrival != NULL) {
        *arrival = *known;
        come_over(v, known->edge, subject, before, done);
    }
    if (at != HOST_LANE && !is_group(lane, subject))
        lane->foreign_at = v->now;
    return true;
}

/* Everything that lane `from` knows, by its last operation. */
void lanes_take_over(struct verdicts *v, uint32_t at, uint32_t from, uint32_t edge, bool foreign_only)
{
    const struct lane *source = lanes_at(v, from);
    size_t room = source->full.room < v->lanes.count ? source->full.room : v->lanes.count;
    for (uint32_t about = 1; about < room; about++) {
        uint64_t op = source->full.at[about];
        if (op == 0 || about == at || (foreign_only && lanes_group(v, at, about)))
            continue;
        lanes_learn(v, at, about, &(struct known){.op = op, .via = source->last, .at = v->now, .from = from, .edge = edge});
    }
    groups_take_over(v, at, from, edge, foreign_only);
}
