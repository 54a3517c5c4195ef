/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes operations that are forgotten for lack of room, and limits the edges that brought them. Called where lists are full
 * (remembered.c, milestones.c), and before arrivals are dropped. An edge of which an operation was forgotten must never be
 * called "not needed".
 */
#include "analysis/order/strands/forgotten.h"

#include "analysis/order/strands/arrivals.h"
#include "analysis/order/strands/fan_ins.h"
#include "analysis/order/strands/groups.h"

enum { FORGOTTEN_MOST = 64 }; /* noted of a strand */

bool forgotten_is_limited(const struct strand *about, size_t *next, uint64_t at, uint64_t op)
{
    while (*next != 0 && about->forgotten.items[*next - 1].at >= at)
        --*next;
    return *next != about->forgotten.count && about->forgotten.items[*next].op <= op;
}

/* Lists about strands that are not open are empty. */
void forgotten_limit(struct verdicts *v, struct arrival_list *list, uint32_t about)
{
    if (list->count == 0 || strands_at(v, about)->forgotten.count == 0)
        return;
    const struct arrival *items = arrivals_items(list);
    size_t next = strands_at(v, about)->forgotten.count;
    for (uint32_t k = list->count; k-- > 0;)
        if (forgotten_is_limited(strands_at(v, about), &next, items[k].at, items[k].op) && items[k].edge != NO_EDGE)
            v->edges.items[items[k].edge].limited = true;
}

void forgotten_limit_all(struct verdicts *v, uint32_t about)
{
    if (strands_at(v, about)->forgotten.count == 0)
        return;
    for (uint32_t i = 0; i < v->strands.count; i++) {
        if (about < strands_at(v, i)->arrivals_room)
            forgotten_limit(v, &strands_at(v, i)->arrivals[about], about);
        fan_ins_limit(v, strands_at(v, i), about);
    }
    groups_limit_all(v, about);
    strands_at(v, about)->forgotten.count = 0;
    v->forgetful--;
}

void forgotten_add(struct verdicts *v, uint32_t about, uint64_t op)
{
    struct strand *subject = strands_at(v, about);
    size_t count = subject->forgotten.count;
    strands_drop(v, subject, op);
    v->totals.dropped++;
    v->forgetful += count == 0;
    while (count != 0 && subject->forgotten.items[count - 1].op >= op)
        count--;
    subject->forgotten.count = count;
    if (count != 0 && TABLE_LAST(&subject->forgotten)->at == v->now)
        return;
    if (TABLE_ADD(&subject->forgotten))
        *TABLE_LAST(&subject->forgotten) = (struct forgotten_op){.at = v->now, .op = op};
    else
        v->limited = true;
    if (subject->forgotten.count > FORGOTTEN_MOST)
        forgotten_limit_all(v, about);
}
