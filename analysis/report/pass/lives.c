/* SPDX-License-Identifier: Apache-2.0
 *
 * The threads' lives (lives.h). Called by pass_over_calls.c.
 */
#include "analysis/report/pass/lives.h"

#include <stdlib.h>

#include "analysis/base/hints.h"

ASIDE void lives_be_born(struct lives *lives, const struct call_view *view)
{
    uint64_t now = view->call->r.enter;
    while (lives->list.count <= view->thread && TABLE_ADD(&lives->list))
        *TABLE_LAST(&lives->list) = (struct life){.born = false}; /* of a selection threads come in any order */
    if (view->thread < lives->list.count)
        lives->list.items[view->thread] = (struct life){true, now, now};
}

uint64_t lives_last(const struct lives *lives, uint64_t last)
{
    for (size_t i = 0; i < lives->list.count; i++)
        last = lives->list.items[i].last > last ? lives->list.items[i].last : last;
    return last;
}

/* Calls of a thread follow each other, so they were not blocked for longer than it lived, unless the trace is damaged. */
void lives_end(struct lives *lives, struct report *report)
{
    struct report_totals *totals = &report->totals;
    for (size_t i = 0; i < lives->list.count; i++) {
        const struct life *life = &lives->list.items[i];
        totals->threads_ns += life->last > life->first ? trace_ns(&report->trace, life->last - life->first) : 0;
    }
    if (totals->blocked_ns > totals->threads_ns)
        totals->blocked_ns = totals->threads_ns;
    free(lives->list.items);
}
