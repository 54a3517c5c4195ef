/* SPDX-License-Identifier: Apache-2.0
 *
 * What a strand knows of a whole group: one number (struct group_knowledge).
 */
#ifndef PTDS_ANALYSIS_ORDER_STRANDS_GROUPS_H
#define PTDS_ANALYSIS_ORDER_STRANDS_GROUPS_H

#include "analysis/base/hints.h"
#include "analysis/order/engine/engine.h"

const struct strand_list *groups_strands(const struct verdicts *v, uint32_t group);

/* What the strand knows of the group; NULL: nothing. A strand mostly knows of the two groups of its own context. */
struct group_knowledge *groups_search(const struct strand *strand, uint32_t group);
static INLINE struct group_knowledge *groups_find(const struct strand *strand, uint32_t group)
{
    struct group_knowledge *items = strand->groups.items;
    if (strand->groups.count == 0 || group == NO_GROUP)
        return NULL;
    if (items[0].group == group)
        return items;
    return strand->groups.count != 1 ? groups_search(strand, group) : NULL;
}
/* The call at which the strand learnt of strand `about` by its knowledge `of` the group, if that is after `since`; else
 * `since`. */
uint64_t groups_news(const struct verdicts *v, const struct strand *strand, struct group_knowledge *of, uint32_t about,
                     uint64_t since);

/* The strand learns of all of a group up to arrival->op. False: it knew that much, or there is no memory. */
bool groups_learn(struct verdicts *v, uint32_t strand, uint32_t group, const struct arrival *arrival);
/* The call at hand, on a legacy strand, comes after all that blocking streams of the context did, over fan-ins. */
void groups_learn_by_fan_ins(struct verdicts *v, uint32_t strand);
/* The strand learns what strand `from` knows of groups. `foreign_only`: of other contexts' groups alone. */
void groups_take_over(struct verdicts *v, uint32_t strand, uint32_t from, uint32_t edge, bool foreign_only);
/* The strand's last milestone with after < op <= upto; 0 none. */
uint64_t groups_milestone(const struct strand *strand, uint64_t after, uint64_t upto);

/* As forgotten_limit, forgotten_limit_all (forgotten.h), of arrivals about groups. */
void groups_limit(struct verdicts *v, const struct strand *strand, struct arrival_list *list, uint32_t group);
void groups_limit_all(struct verdicts *v, uint32_t about);
/* Whether an arrival about a group brought the strand an operation that not every later call comes after. */
bool groups_remember(const struct verdicts *v, const struct strand *strand);
void groups_free(struct verdicts *v, struct strand *strand);

#endif
