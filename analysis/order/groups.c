/* SPDX-License-Identifier: Apache-2.0
 *
 * What a lane knows of a whole group. Who comes after legacy work comes after all of it, and after all that the context's
 * blocking streams did before it: so what a lane knows of either is one number, and not one for each lane. Called by
 * joins.c, waits.c and blame.c. Nothing here may take time by the number of lanes but where records are missing, accesses
 * were forgotten, or a list of how knowledge came has grown long.
 */
#include "analysis/order/blame.h"

#include <stdlib.h>

#include "analysis/base/heap.h"
#include "analysis/base/hints.h"

enum { TRIMMED_FROM = 32 }; /* entries */

const struct lane_list *groups_lanes(const struct verdicts *v, uint32_t group)
{
    const struct context *context = &v->contexts.items[group / GROUPS_A_CONTEXT];
    return group % GROUPS_A_CONTEXT == GROUP_LEGACY ? &context->legacy : &context->blocking;
}

ASIDE struct of_group *groups_search(const struct lane *lane, uint32_t group)
{
    size_t low = 0, high = lane->groups.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (lane->groups.items[middle].group == group)
            return &lane->groups.items[middle];
        if (lane->groups.items[middle].group < group)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* ... made if there is none; NULL without memory. */
static struct of_group *of_group(struct lane *lane, uint32_t group)
{
    struct of_group *found = groups_find(lane, group);
    if (found != NULL || !TABLE_ADD(&lane->groups))
        return found;
    size_t at = lane->groups.count - 1;
    for (; at != 0 && lane->groups.items[at - 1].group > group; at--)
        lane->groups.items[at] = lane->groups.items[at - 1];
    lane->groups.items[at] = (struct of_group){.group = group};
    return &lane->groups.items[at];
}

uint64_t groups_news(const struct verdicts *v, const struct lane *lane, struct of_group *of, uint32_t about, uint64_t since)
{
    const struct lane *subject = lanes_at(v, about), *host = lanes_at(v, HOST_LANE);
    uint64_t last = lanes_upto(subject, of->upto);
    bool otherwise = last <= vclock_get(&lane->full, about) || (lane != host && last <= lanes_own(v, host, about));
    if (otherwise || last == 0)
        return since;
    const struct known *items = known_items(&of->brought);
    uint32_t at = of->brought.count, fan = fans_newest(lane, about);
    uint64_t grown = of->grown;
    bool noted = false;
    for (; at != 0 && items[at - 1].op >= last; noted = true)
        grown = items[--at].at;
    for (; fan != 0 && v->fans.items[fan - 1].upto >= last; fan = v->fans.items[fan - 1].older, noted = true)
        grown = v->fans.items[fan - 1].at < grown ? v->fans.items[fan - 1].at : grown;
    if (!noted && last <= of->before && v->forgotten == 0)
        return since; /* it was swept away, so nothing of that operation is remembered */
    return larger(since, grown);
}

/* The legacy lane's operation comes after all that blocking streams did: over edges of their own (fans.c). */
void groups_learn_by_fans(struct verdicts *v, uint32_t at)
{
    struct lane *lane = lanes_at(v, at);
    struct of_group *of = of_group(lane, lane->context * GROUPS_A_CONTEXT + GROUP_BLOCKING);
    if (of == NULL) {
        v->limited = true;
        return;
    }
    of->before = of->upto;
    of->upto = v->now;
    of->grown = lane->grown_at = v->now;
}

/* Which entries bring something that not everybody comes after: of a lane that may have done anything from one number to
 * another. */
static void find_needed(const struct verdicts *v, const struct known_list *list, const struct known *items, uint32_t group,
                        bool *needed)
{
    const struct lane_list *lanes = groups_lanes(v, group);
    const struct lane *host = lanes_at(v, HOST_LANE);
    for (size_t i = 0; i < lanes->count; i++) {
        uint64_t done = vclock_get(&host->expl, lanes->items[i]), last = lanes_at(v, lanes->items[i])->last;
        for (uint32_t k = list->count; k-- > 0 && items[k].op > done;)
            needed[k] |= last > done && last > (k != 0 ? items[k - 1].op : 0);
    }
}

static void trim(struct verdicts *v, const struct lane *lane, struct known_list *list, uint32_t group)
{
    struct known *items = known_items(list);
    bool *needed = heap_zeroed(list->count, sizeof *needed);
    uint32_t kept = 0;
    if (needed == NULL)
        return;
    find_needed(v, list, items, group, needed);
    groups_limit(v, lane, list, group);
    for (uint32_t k = 0; k < list->count; k++) {
        if (needed[k])
            items[kept++] = items[k];
        else
            edges_drop(v, items[k].edge);
    }
    list->count = kept;
    free(needed);
}

static bool has_room(struct verdicts *v, const struct lane *lane, struct known_list *list, uint32_t group)
{
    if (list->count < list->room)
        return true;
    if (list->room >= TRIMMED_FROM)
        trim(v, lane, list, group);
    return list->count < list->room - list->room / 4 || lanes_give_room(list);
}

/* The edge brings what the lanes did up to operation `upto`: of some of it nobody can say any more with what it is in
 * conflict. */
static ASIDE void limit_by_lanes(const struct verdicts *v, struct open_edge *open, const struct lane *lane, uint32_t group,
                                 uint64_t upto)
{
    const struct lane_list *lanes = groups_lanes(v, group);
    const struct lane *host = lanes_at(v, HOST_LANE);
    for (size_t i = 0; i < lanes->count; i++) {
        const struct lane *subject = lanes_at(v, lanes->items[i]);
        uint64_t done = vclock_get(&host->expl, lanes->items[i]), last = lanes_upto(subject, upto),
                 known = lanes_full(v, lane, lanes->items[i]);
        if (subject == lane || last <= known || last <= done)
            continue;
        known = larger(known, larger(done, subject->born - 1));
        open->limited |= known < subject->dropped;
        open->lost |= known < v->lost_at;
    }
}

/* Before the lane's own number rises. */
static void come_over(struct verdicts *v, uint32_t edge, const struct lane *lane, uint32_t group, uint64_t before,
                      uint64_t upto)
{
    struct open_edge *open = &v->edges.items[edge];
    open->refs++;
    if (before < v->lost_at || before < v->contexts.items[group / GROUPS_A_CONTEXT].dropped[group % GROUPS_A_CONTEXT])
        limit_by_lanes(v, open, lane, group, upto);
}

bool groups_learn(struct verdicts *v, uint32_t at, uint32_t group, const struct known *known)
{
    struct lane *lane = lanes_at(v, at);
    struct of_group *of = of_group(lane, group);
    if (of != NULL && known->op <= of->upto)
        return false;
    if (of == NULL || !has_room(v, lane, &of->brought, group)) {
        v->limited = true;
        return false;
    }
    if (known->edge != NO_EDGE)
        come_over(v, known->edge, lane, group, of->upto, known->op);
    known_items(&of->brought)[of->brought.count++] = *known;
    of->before = of->upto;
    of->upto = known->op;
    of->grown = lane->grown_at = v->now;
    return true;
}

void groups_take_over(struct verdicts *v, uint32_t at, uint32_t from, uint32_t edge, bool foreign_only)
{
    const struct lane *lane = lanes_at(v, at), *source = lanes_at(v, from);
    for (size_t i = 0; i < source->groups.count; i++) {
        const struct of_group *of = &source->groups.items[i];
        bool own = lane->after != 0 && lane->context == of->group / GROUPS_A_CONTEXT;
        struct known known = {.op = of->upto, .via = source->last, .at = v->now, .from = from, .edge = edge};
        if (!(foreign_only && own))
            groups_learn(v, at, of->group, &known);
    }
}

/* The lane's last operation of which it is remembered that it touched memory, after < op <= upto; 0 none. */
uint64_t groups_marked(const struct lane *lane, uint64_t after, uint64_t upto)
{
    uint64_t found = 0;
    for (unsigned k = 0; k < 2 * CLASSES; k++) {
        const struct mark *mark = marks_last(k < CLASSES ? &lane->access[k] : &lane->opaque[k - CLASSES], upto);
        if (mark != NULL && mark->op > after)
            found = larger(found, mark->op);
    }
    return found;
}

static void limit_by(struct verdicts *v, const struct lane *lane, struct known_list *list, const struct lane *subject)
{
    const struct known *items = known_items(list);
    size_t next = subject->forgotten.count;
    for (uint32_t k = lane != subject ? list->count : 0; k-- > 0;) {
        bool brings = items[k].edge != NO_EDGE && (k == 0 || items[k - 1].op < subject->dropped);
        if (blame_is_limited(subject, &next, items[k].at, items[k].op) && brings)
            v->edges.items[items[k].edge].limited = true;
    }
}

void groups_limit(struct verdicts *v, const struct lane *lane, struct known_list *list, uint32_t group)
{
    if (v->forgetful == 0 || list->count == 0)
        return;
    const struct lane_list *lanes = groups_lanes(v, group);
    for (size_t i = 0; i < lanes->count; i++)
        if (lanes_at(v, lanes->items[i])->forgotten.count != 0)
            limit_by(v, lane, list, lanes_at(v, lanes->items[i]));
}

void groups_limit_all(struct verdicts *v, uint32_t about)
{
    const struct lane *subject = lanes_at(v, about);
    for (uint32_t i = 0; i < v->lanes.count; i++) {
        struct of_group *of = groups_find(lanes_at(v, i), subject->group);
        if (of != NULL)
            limit_by(v, lanes_at(v, i), &of->brought, subject);
    }
}

bool groups_remember(const struct verdicts *v, const struct lane *lane)
{
    const struct lane *host = lanes_at(v, HOST_LANE);
    for (size_t k = 0; k < lane->groups.count; k++) {
        const struct of_group *of = &lane->groups.items[k];
        const struct lane_list *lanes = groups_lanes(v, of->group);
        for (size_t i = 0; of->brought.count != 0 && i < lanes->count; i++)
            if (lanes_upto(lanes_at(v, lanes->items[i]), of->upto) > vclock_get(&host->expl, lanes->items[i]))
                return true;
    }
    return false;
}

void groups_free(struct verdicts *v, struct lane *lane)
{
    for (size_t k = 0; k < lane->groups.count; k++) {
        struct known_list *list = &lane->groups.items[k].brought;
        groups_limit(v, lane, list, lane->groups.items[k].group);
        for (uint32_t i = 0; i < list->count; i++)
            edges_drop(v, known_items(list)[i].edge);
        if (list->room > 1)
            free(list->many);
    }
    free(lane->groups.items);
}
