/* SPDX-License-Identifier: Apache-2.0
 *
 * Up to which operation a strand knows another one. Files that ask must ask here: no single clock says it all. `about` is
 * the strand that is known, or not.
 */
#ifndef PTDS_ANALYSIS_ORDER_STRANDS_KNOWLEDGE_H
#define PTDS_ANALYSIS_ORDER_STRANDS_KNOWLEDGE_H

#include "analysis/base/hints.h"
#include "analysis/order/strands/groups.h"
#include "analysis/order/strands/strands.h"

/* By explicit order: what the strand or the host knows. */
static INLINE uint64_t knowledge_explicit(const struct strand *strand, const struct strand *host, uint32_t about)
{
    return larger(vclock_get(&strand->expl, about), vclock_get(&host->expl, about));
}
/* The strand's own last operation up to `upto`; where that is forgotten, `upto` itself. */
static INLINE uint64_t knowledge_upto(const struct strand *strand, uint64_t upto)
{
    return strand->last <= upto ? strand->last : strand->before <= upto ? strand->before : upto;
}
/* By any order: what the strand knows; what the strand or the host knows. */
static INLINE uint64_t knowledge_own(const struct verdicts *v, const struct strand *strand, uint32_t about)
{
    const struct strand *subject = strands_at(v, about);
    uint64_t own = vclock_get(&strand->full, about);
    const struct group_knowledge *of = groups_find(strand, subject->group);
    return of != NULL && of->upto > own ? larger(own, knowledge_upto(subject, of->upto)) : own;
}
static INLINE uint64_t knowledge_full(const struct verdicts *v, const struct strand *strand, uint32_t about)
{
    return larger(knowledge_own(v, strand, about), knowledge_own(v, strands_at(v, HOST_STRAND), about));
}
/* By any order: the call at which the strand or the host last learnt. */
static INLINE uint64_t knowledge_grown(const struct verdicts *v, const struct strand *strand, uint32_t about)
{
    const struct strand *host = strands_at(v, HOST_STRAND);
    uint64_t at = larger(vclock_get(&strand->grown, about), vclock_get(&host->grown, about));
    uint32_t group = strands_at(v, about)->group;
    struct group_knowledge *own = groups_find(strand, group), *all = groups_find(host, group);
    if (own != NULL && own->grown > at)
        at = groups_news(v, strand, own, about, at);
    if (all != NULL && all->grown > at)
        at = groups_news(v, host, all, about, at);
    return at;
}
/* By any order: what a host wait covers; of a group. */
static inline uint64_t knowledge_covered_group(const struct cover *cover, uint32_t group)
{
    size_t at = cover->groups.count;
    while (at != 0 && cover->groups.items[at - 1].group != group)
        at--;
    return at != 0 ? cover->groups.items[at - 1].arrival.op : 0;
}
static inline uint64_t knowledge_covered(const struct verdicts *v, const struct cover *cover, uint32_t about)
{
    const struct strand *strand = strands_at(v, about);
    uint64_t upto = strand->group != NO_GROUP ? knowledge_upto(strand, knowledge_covered_group(cover, strand->group)) : 0;
    return larger(upto, about < cover->room ? cover->full[about].op : 0);
}

#endif
