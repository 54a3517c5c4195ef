/* SPDX-License-Identifier: Apache-2.0
 *
 * What a strand learns of single strands: its clock rises, and the arrival is noted with its edge. Called by
 * implicit_edges.c, strand_events.c and wait_covers.c, several times for each implicit edge. Must note no arrival of
 * operations that every later call comes after.
 */
#include "analysis/order/strands/arrivals.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/hints.h"
#include "analysis/order/strands/forgotten.h"
#include "analysis/order/strands/groups.h"
#include "analysis/order/strands/knowledge.h"
#include "analysis/order/strands/open_edges.h"

static INLINE bool is_group(const struct strand *one, const struct strand *two)
{
    return one->context == two->context && one->after != 0 && two->after != 0;
}

static bool is_group_of(const struct verdicts *v, uint32_t a, uint32_t b)
{
    return is_group(strands_at(v, a), strands_at(v, b));
}

/* Drops the arrivals of operations that every later call comes after (up to `done`); the list is not empty. */
static void trim(struct verdicts *v, struct strand *strand, struct arrival_list *list, uint32_t about, uint64_t done)
{
    struct arrival *items = arrivals_items(list);
    uint32_t dead = 0;
    if (items[0].op > done)
        return;
    forgotten_limit(v, list, about);
    while (dead < list->count && items[dead].op <= done)
        open_edges_drop(v, items[dead++].edge);
    list->count -= dead;
    strand->arrivals_count -= dead;
    memmove(items, items + dead, list->count * sizeof *items);
}

enum { MANY_LEAST = 8 };

bool arrivals_give_room(struct arrival_list *list)
{
    struct arrival *items = list->room > 1 ? list->many : NULL;
    size_t room = list->room > 1 ? list->room : 0;
    if (list->room == 0) {
        list->room = 1;
        return true;
    }
    struct arrival *grown = table_grow(items, &room, room != 0 ? room + 1 : MANY_LEAST, sizeof *grown);
    if (grown == NULL)
        return false;
    if (list->room == 1)
        grown[0] = list->one;
    list->many = grown;
    list->room = (uint32_t)room;
    return true;
}

void arrivals_keep_first(struct arrival_list *list, uint32_t kept)
{
    list->count = kept;
    if (list->room != MANY_LEAST || kept > 1)
        return;
    struct arrival *items = list->many;
    list->room = kept;
    list->one = items[0];
    free(items);
}

static struct arrival_list *list_of(struct strand *strand, uint32_t about)
{
    void *grown = table_grow(strand->arrivals, &strand->arrivals_room, (size_t)about + 1, sizeof *strand->arrivals);
    if (grown == NULL)
        return NULL;
    strand->arrivals = grown;
    return &strand->arrivals[about];
}

/* Where to note the arrival of this operation of strand `about`. NULL: no conflict can ask for it (every later call
 * comes after operations up to `done`), or there is no memory. */
static INLINE struct arrival *arrival_of(struct verdicts *v, struct strand *strand, uint32_t about, uint64_t op,
                                         uint64_t done)
{
    if (op <= done)
        return NULL;
    struct arrival_list *list = list_of(strand, about);
    if (list != NULL && list->count == list->room && list->room > 1)
        trim(v, strand, list, about, done);
    if (list == NULL || (list->count == list->room && !arrivals_give_room(list))) {
        v->limited = true;
        return NULL;
    }
    strand->arrivals_count++;
    return &arrivals_items(list)[list->count++];
}

/* The arrival came over the edge: one reference more. `before`: up to which operation the strand, or the host, knew. */
static INLINE void come_over(struct verdicts *v, uint32_t edge, const struct strand *subject, uint64_t before,
                             uint64_t done)
{
    if (edge == NO_EDGE)
        return;
    struct open_edge *open = &v->edges.items[edge];
    open->refs++;
    before = larger(before, larger(done, subject->born - 1));
    open->limited |= before < subject->dropped;
    open->lost |= before < v->lost_at;
}

/* False without memory. */
static INLINE bool raise_clocks(struct verdicts *v, struct strand *strand, uint32_t about, uint64_t op)
{
    if (!vclock_raise(&strand->full, about, op) || !vclock_raise(&strand->grown, about, v->now)) {
        v->limited = true;
        return false;
    }
    strand->grown_at = v->now;
    return true;
}

bool arrivals_learn(struct verdicts *v, uint32_t at, uint32_t about, const struct arrival *known)
{
    struct strand *strand = strands_at(v, at);
    const struct strand *subject = strands_at(v, about), *host = strands_at(v, HOST_STRAND);
    uint64_t before = knowledge_full(v, strand, about), done = vclock_get(&host->expl, about);
    if (at == about || known->op <= before || !raise_clocks(v, strand, about, known->op))
        return false;
    struct arrival *arrival = arrival_of(v, strand, about, known->op, done);
    if (arrival != NULL) {
        *arrival = *known;
        come_over(v, known->edge, subject, before, done);
    }
    if (at != HOST_STRAND && !is_group(strand, subject))
        strand->foreign_at = v->now;
    return true;
}

/* By its last operation. */
void arrivals_take_over(struct verdicts *v, uint32_t at, uint32_t from, uint32_t edge, bool foreign_only)
{
    const struct strand *source = strands_at(v, from);
    size_t room = source->full.room < v->strands.count ? source->full.room : v->strands.count;
    for (uint32_t about = 1; about < room; about++) {
        uint64_t op = source->full.at[about];
        if (op == 0 || about == at || (foreign_only && is_group_of(v, at, about)))
            continue;
        arrivals_learn(v, at, about,
                       &(struct arrival){.op = op, .via = source->last, .at = v->now, .from = from, .edge = edge});
    }
    groups_take_over(v, at, from, edge, foreign_only);
}
