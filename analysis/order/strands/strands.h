/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of strands: opening, closing, lists by role.
 */
#ifndef PTDS_ANALYSIS_ORDER_STRANDS_STRANDS_H
#define PTDS_ANALYSIS_ORDER_STRANDS_STRANDS_H

#include "analysis/order/engine/engine.h"

static inline struct strand *strands_at(const struct verdicts *v, uint32_t strand)
{
    return &v->strands.items[strand];
}

/* The strand that the call is on or about. NO_STRAND: it names no stream, or the strand is not open. */
uint32_t strands_of_call(const struct verdicts *v, const struct call *call);
/* Opens the strand of a call that has none, at the place of a closed strand, or (NO_STRAND) at a new place. NO_STRAND: the
 * call names no stream, or there is no room. */
uint32_t strands_open(struct verdicts *v, const struct call *call, uint32_t closed);
/* Before a strand is opened at `ticks`: a strand to be closed first, because it is over and its place is wanted. NO_STRAND:
 * none. All accesses must be written back (access_cache.h) before strands_close. */
uint32_t strands_to_close(const struct verdicts *v, uint64_t ticks);
void strands_close(struct verdicts *v, uint32_t strand);
void strands_free(struct verdicts *v);

/* The context's position; NO_STRAND: it is not known, or there is no memory. */
uint32_t strands_context(struct verdicts *v, uint32_t uid);
/* The strand is the first in the list's chain by last operation. */
void strands_be_newest(struct verdicts *v, struct strand_list *list, uint32_t strand);
/* The strands of the list that did something after operation `since`, by rank, and perhaps some more. */
enum { RECENT_MOST = 64 };
struct recent {
    const uint32_t *items;
    size_t count;
    uint32_t few[RECENT_MOST];
};
void strands_recent(const struct verdicts *v, const struct strand_list *list, uint64_t since, struct recent *out);

/* The operation as an end of an edge. Valid until the next call is taken. */
const struct edge_end *strands_end_of(const struct verdicts *v, const struct milestone *milestone);
/* Before the verdicts' `ends` begin anew: copies those that milestones need longer. */
void strands_keep_ends(struct verdicts *v);

/* An access of the strand, up to this operation, was forgotten for lack of room. */
static inline void strands_drop(struct verdicts *v, struct strand *strand, uint64_t op)
{
    strand->dropped = larger(strand->dropped, op);
    if (strand->group == NO_GROUP)
        return;
    uint64_t *all = &v->contexts.items[strand->context].dropped[strand->group % GROUPS_A_CONTEXT];
    *all = larger(*all, op);
}

#endif
