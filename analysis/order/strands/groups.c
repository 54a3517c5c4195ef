/* SPDX-License-Identifier: Apache-2.0
 *
 * What a strand knows of a whole group. An operation that comes after legacy work comes after all of it, and after all
 * that the context's blocking streams did before it. So the knowledge of a group is one number, and not one for each
 * strand. What a single strand did is worked out when it is asked for: a strand notes its last operation before it last
 * joined others (`before`), which tells its last operation up to such a number.
 *
 * Called by implicit_edges.c, wait_covers.c, strand_events.c and find_edges.c. Nothing here may take time by the number
 * of strands, but where records are missing, accesses were forgotten, or a list of arrivals has grown long.
 */
#include "analysis/order/strands/groups.h"

#include <stdlib.h>

#include "analysis/base/heap.h"
#include "analysis/base/hints.h"
#include "analysis/order/strands/arrivals.h"
#include "analysis/order/strands/fan_ins.h"
#include "analysis/order/strands/forgotten.h"
#include "analysis/order/strands/knowledge.h"
#include "analysis/order/strands/milestones.h"
#include "analysis/order/strands/open_edges.h"

enum { TRIMMED_FROM = 32 }; /* entries */

const struct strand_list *groups_strands(const struct verdicts *v, uint32_t group)
{
    const struct context *context = &v->contexts.items[group / GROUPS_A_CONTEXT];
    return group % GROUPS_A_CONTEXT == GROUP_LEGACY ? &context->legacy : &context->blocking;
}

ASIDE struct group_knowledge *groups_search(const struct strand *strand, uint32_t group)
{
    size_t low = 0, high = strand->groups.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (strand->groups.items[middle].group == group)
            return &strand->groups.items[middle];
        if (strand->groups.items[middle].group < group)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* As groups_find, made if there is none. NULL without memory. */
static struct group_knowledge *group_knowledge(struct strand *strand, uint32_t group)
{
    struct group_knowledge *found = groups_find(strand, group);
    if (found != NULL || !TABLE_ADD(&strand->groups))
        return found;
    size_t at = strand->groups.count - 1;
    for (; at != 0 && strand->groups.items[at - 1].group > group; at--)
        strand->groups.items[at] = strand->groups.items[at - 1];
    strand->groups.items[at] = (struct group_knowledge){.group = group};
    return &strand->groups.items[at];
}

uint64_t groups_news(const struct verdicts *v, const struct strand *strand, struct group_knowledge *of, uint32_t about,
                     uint64_t since)
{
    const struct strand *subject = strands_at(v, about), *host = strands_at(v, HOST_STRAND);
    uint64_t last = knowledge_upto(subject, of->upto);
    bool otherwise = last <= vclock_get(&strand->full, about) || (strand != host && last <= knowledge_own(v, host, about));
    if (otherwise || last == 0)
        return since;
    const struct arrival *items = arrivals_items(&of->arrivals);
    uint32_t at = of->arrivals.count, fan_in = fan_ins_newest(strand, about);
    uint64_t grown = of->grown;
    bool noted = false;
    for (; at != 0 && items[at - 1].op >= last; noted = true)
        grown = items[--at].at;
    for (; fan_in != 0 && v->fan_ins.items[fan_in - 1].upto >= last;
         fan_in = v->fan_ins.items[fan_in - 1].older, noted = true)
        grown = v->fan_ins.items[fan_in - 1].at < grown ? v->fan_ins.items[fan_in - 1].at : grown;
    if (!noted && last <= of->before && v->forgotten == 0)
        return since; /* the arrival was swept away, so the operation is not remembered */
    return larger(since, grown);
}

/* The fan-ins themselves are noted one by one (fan_ins.c). */
void groups_learn_by_fan_ins(struct verdicts *v, uint32_t at)
{
    struct strand *strand = strands_at(v, at);
    struct group_knowledge *of = group_knowledge(strand, strand->context * GROUPS_A_CONTEXT + GROUP_BLOCKING);
    if (of == NULL) {
        v->limited = true;
        return;
    }
    of->before = of->upto;
    of->upto = v->now;
    of->grown = strand->grown_at = v->now;
}

/* Sets needed[k] where entry k may be the first to bring a strand's operation that not every later call comes after. A
 * strand may have done anything between two entries. */
static void find_needed(const struct verdicts *v, const struct arrival_list *list, const struct arrival *items,
                        uint32_t group, bool *needed)
{
    const struct strand_list *strands = groups_strands(v, group);
    const struct strand *host = strands_at(v, HOST_STRAND);
    for (size_t i = 0; i < strands->count; i++) {
        uint64_t done = vclock_get(&host->expl, strands->items[i]), last = strands_at(v, strands->items[i])->last;
        for (uint32_t k = list->count; k-- > 0 && items[k].op > done;)
            needed[k] |= last > done && last > (k != 0 ? items[k - 1].op : 0);
    }
}

static void trim(struct verdicts *v, const struct strand *strand, struct arrival_list *list, uint32_t group)
{
    struct arrival *items = arrivals_items(list);
    bool *needed = heap_zeroed(list->count, sizeof *needed);
    uint32_t kept = 0;
    if (needed == NULL)
        return;
    find_needed(v, list, items, group, needed);
    groups_limit(v, strand, list, group);
    for (uint32_t k = 0; k < list->count; k++) {
        if (needed[k])
            items[kept++] = items[k];
        else
            open_edges_drop(v, items[k].edge);
    }
    list->count = kept;
    free(needed);
}

static bool has_room(struct verdicts *v, const struct strand *strand, struct arrival_list *list, uint32_t group)
{
    if (list->count < list->room)
        return true;
    if (list->room >= TRIMMED_FROM)
        trim(v, strand, list, group);
    return list->count < list->room - list->room / 4 || arrivals_give_room(list);
}

/* The edge brings what the strands of the group did up to operation `upto`. Where accesses of it were forgotten, or
 * records are missing, the edge may be needed. */
static ASIDE void limit_by_strands(const struct verdicts *v, struct open_edge *open, const struct strand *strand,
                                   uint32_t group, uint64_t upto)
{
    const struct strand_list *strands = groups_strands(v, group);
    const struct strand *host = strands_at(v, HOST_STRAND);
    for (size_t i = 0; i < strands->count; i++) {
        const struct strand *subject = strands_at(v, strands->items[i]);
        uint64_t done = vclock_get(&host->expl, strands->items[i]), last = knowledge_upto(subject, upto),
                 known = knowledge_full(v, strand, strands->items[i]);
        if (subject == strand || last <= known || last <= done)
            continue;
        known = larger(known, larger(done, subject->born - 1));
        open->limited |= known < subject->dropped;
        open->lost |= known < v->lost_at;
    }
}

/* The arrival came over the edge: one reference more. Before the strand's own number rises from `before` to `upto`. */
static void come_over(struct verdicts *v, uint32_t edge, const struct strand *strand, uint32_t group, uint64_t before,
                      uint64_t upto)
{
    struct open_edge *open = &v->edges.items[edge];
    open->refs++;
    if (before < v->lost_at || before < v->contexts.items[group / GROUPS_A_CONTEXT].dropped[group % GROUPS_A_CONTEXT])
        limit_by_strands(v, open, strand, group, upto);
}

bool groups_learn(struct verdicts *v, uint32_t at, uint32_t group, const struct arrival *known)
{
    struct strand *strand = strands_at(v, at);
    struct group_knowledge *of = group_knowledge(strand, group);
    if (of != NULL && known->op <= of->upto)
        return false;
    if (of == NULL || !has_room(v, strand, &of->arrivals, group)) {
        v->limited = true;
        return false;
    }
    if (known->edge != NO_EDGE)
        come_over(v, known->edge, strand, group, of->upto, known->op);
    arrivals_items(&of->arrivals)[of->arrivals.count++] = *known;
    of->before = of->upto;
    of->upto = known->op;
    of->grown = strand->grown_at = v->now;
    return true;
}

void groups_take_over(struct verdicts *v, uint32_t at, uint32_t from, uint32_t edge, bool foreign_only)
{
    const struct strand *strand = strands_at(v, at), *source = strands_at(v, from);
    for (size_t i = 0; i < source->groups.count; i++) {
        const struct group_knowledge *of = &source->groups.items[i];
        bool own = strand->after != 0 && strand->context == of->group / GROUPS_A_CONTEXT;
        struct arrival known = {.op = of->upto, .via = source->last, .at = v->now, .from = from, .edge = edge};
        if (!(foreign_only && own))
            groups_learn(v, at, of->group, &known);
    }
}

/* Of any class. */
uint64_t groups_milestone(const struct strand *strand, uint64_t after, uint64_t upto)
{
    uint64_t found = 0;
    for (unsigned k = 0; k < 2 * CLASSES; k++) {
        const struct milestone *milestone =
            milestones_last(k < CLASSES ? &strand->access[k] : &strand->opaque[k - CLASSES], upto);
        if (milestone != NULL && milestone->op > after)
            found = larger(found, milestone->op);
    }
    return found;
}

static void limit_by(struct verdicts *v, const struct strand *strand, struct arrival_list *list,
                     const struct strand *subject)
{
    const struct arrival *items = arrivals_items(list);
    size_t next = subject->forgotten.count;
    for (uint32_t k = strand != subject ? list->count : 0; k-- > 0;) {
        bool brings = items[k].edge != NO_EDGE && (k == 0 || items[k - 1].op < subject->dropped);
        if (forgotten_is_limited(subject, &next, items[k].at, items[k].op) && brings)
            v->edges.items[items[k].edge].limited = true;
    }
}

void groups_limit(struct verdicts *v, const struct strand *strand, struct arrival_list *list, uint32_t group)
{
    if (v->forgetful == 0 || list->count == 0)
        return;
    const struct strand_list *strands = groups_strands(v, group);
    for (size_t i = 0; i < strands->count; i++)
        if (strands_at(v, strands->items[i])->forgotten.count != 0)
            limit_by(v, strand, list, strands_at(v, strands->items[i]));
}

void groups_limit_all(struct verdicts *v, uint32_t about)
{
    const struct strand *subject = strands_at(v, about);
    for (uint32_t i = 0; i < v->strands.count; i++) {
        struct group_knowledge *of = groups_find(strands_at(v, i), subject->group);
        if (of != NULL)
            limit_by(v, strands_at(v, i), &of->arrivals, subject);
    }
}

bool groups_remember(const struct verdicts *v, const struct strand *strand)
{
    const struct strand *host = strands_at(v, HOST_STRAND);
    for (size_t k = 0; k < strand->groups.count; k++) {
        const struct group_knowledge *of = &strand->groups.items[k];
        const struct strand_list *strands = groups_strands(v, of->group);
        for (size_t i = 0; of->arrivals.count != 0 && i < strands->count; i++)
            if (knowledge_upto(strands_at(v, strands->items[i]), of->upto) > vclock_get(&host->expl, strands->items[i]))
                return true;
    }
    return false;
}

void groups_free(struct verdicts *v, struct strand *strand)
{
    for (size_t k = 0; k < strand->groups.count; k++) {
        struct arrival_list *list = &strand->groups.items[k].arrivals;
        groups_limit(v, strand, list, strand->groups.items[k].group);
        for (uint32_t i = 0; i < list->count; i++)
            open_edges_drop(v, arrivals_items(list)[i].edge);
        if (list->room > 1)
            free(list->many);
    }
    free(strand->groups.items);
}
