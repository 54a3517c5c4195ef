/* SPDX-License-Identifier: Apache-2.0
 *
 * How long the threads lived, and how much of that they were blocked. Filled by pass_over_calls.c, call by call.
 */
#ifndef PTDS_ANALYSIS_REPORT_PASS_LIVES_H
#define PTDS_ANALYSIS_REPORT_PASS_LIVES_H

#include "analysis/base/hints.h"
#include "analysis/report/report.h"

/* From a thread's first call to the end of its last, in ticks. */
struct life {
    bool born;
    uint64_t first, last;
};

struct lives {
    TABLE_OF(struct life) list; /* by thread */
};

/* Begins the life of a thread at its first call. */
void lives_be_born(struct lives *lives, const struct call_view *view);

/* Takes a call that the report is about. */
static INLINE void lives_look(struct lives *lives, struct report_totals *totals, const struct call_view *view)
{
    const struct ptds_rec_CALL *call = &view->call->r;
    if (view->thread >= lives->list.count || !lives->list.items[view->thread].born)
        lives_be_born(lives, view);
    if (view->thread < lives->list.count)
        lives->list.items[view->thread].last = view->timed ? call->leave : call->enter;
    if (view_is_blocked(view))
        totals->blocked_ns += view_blocked_ns(view);
}

/* When the last of the threads ended, in ticks, or `last` if that is later. */
uint64_t lives_last(const struct lives *lives, uint64_t last);
/* Adds the lives of the threads to the totals of the report, and frees them. */
void lives_end(struct lives *lives, struct report *report);

#endif
