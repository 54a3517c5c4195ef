/* SPDX-License-Identifier: Apache-2.0
 *
 * Which implicit edges an order goes over (blame.c), and whether asking would change anything: that is found out first, and
 * in line. For the files of the verdict engine that find conflicts.
 */
#ifndef PTDS_ANALYSIS_ORDER_BLAME_H
#define PTDS_ANALYSIS_ORDER_BLAME_H

#include "analysis/base/hints.h"
#include "analysis/order/knowledge.h"

/* Two accesses of a memory. */
struct blame_meeting {
    const struct memory *memory;
    const struct remembered *first;
    const struct touch *second;
};

/* An order to be blamed. `cover`: of the host wait at hand, NULL for an operation of `lane` */
struct blame {
    uint32_t lane;
    const struct cover *cover;
    enum verdict verdict;
    enum verdict_reason reason;
    const struct edge_pair *pair; /* may be NULL; or, to be described when it is asked for: */
    const struct blame_meeting *meeting;
    enum edge_loss given_up; /* whether nothing holds the pair any more */
    bool partly;             /* of a way that may be remembered in part only */
};
static inline uint64_t blame_explicit(const struct verdicts *v, const struct blame *what, uint32_t about)
{
    const struct lane *host = lanes_at(v, HOST_LANE);
    return what->cover != NULL ? larger(vclock_get(&host->expl, about), vclock_get(&what->cover->expl, about))
                               : lanes_explicit(lanes_at(v, what->lane), host, about);
}
static inline uint64_t blame_full(const struct verdicts *v, const struct blame *what, uint32_t about)
{
    if (what->cover == NULL)
        return lanes_full(v, lanes_at(v, what->lane), about);
    return larger(lanes_own(v, lanes_at(v, HOST_LANE), about), waits_covered(v, what->cover, about));
}
/* `op` of lane `about` comes before the call at hand in full order, not in the explicit one; and it is not settled. */
void blame(struct verdicts *v, const struct blame *what, uint32_t about, uint64_t op);
/* Whether that is so only if a stream of unknown kind takes part in implicit order. */
bool blame_is_unsure(const struct verdicts *v, const struct blame *what, uint32_t about, uint64_t op);
/* Whether a doubt about an operation of lane `about` changes nothing, because it was blamed before. `own`: what the lane
 * knows of the other one. */
static INLINE bool blame_came_that_way(const struct way *way, uint64_t op, uint64_t own)
{
    return op > way->after && op <= way->upto && (way->own || own < op);
}
static INLINE bool blame_doubted(const struct lane *lane, uint32_t about, uint64_t op, uint64_t own)
{
    return about < lane->blamed_room && (blame_came_that_way(&lane->blamed[about].doubted, op, own) ||
                                         blame_came_that_way(&lane->blamed[about].proven, op, own));
}
/* The same of an edge: no doubt changes it any more. */
static INLINE bool blame_is_doubted(const struct open_edge *open)
{
    const struct edge *edge = &open->edge;
    return edge->verdict != VERDICT_NOT_NEEDED && edge->reason != REASON_HOST &&
           (!open->given_up || edge->loss != LOSS_NONE);
}
/* And of an operation that the lane learnt of lately, from that operation's own lane: so over one edge, or none. */
enum { LATELY = 16 };
/* Where the lane noted how it learnt of another one: of that alone, or of its group, where it learnt in no other way. NULL:
 * nowhere, or by fan-ins. */
static INLINE struct known_list *blame_list(const struct verdicts *v, const struct lane *lane, uint32_t about)
{
    struct of_group *of = groups_find(lane, lanes_at(v, about)->group);
    bool alone = about < lane->brought_room && lane->brought[about].count != 0;
    if (fans_newest(lane, about) != 0)
        return NULL;
    if (alone)
        return &lane->brought[about];
    return of != NULL && of->brought.count != 0 ? &of->brought : NULL;
}
static INLINE bool blame_is_direct(const struct verdicts *v, const struct known *known, uint32_t about)
{
    return known->edge != NO_EDGE && (known->from == about || known->from == NO_LANE) &&
           blame_is_doubted(&v->edges.items[known->edge]);
}
static INLINE bool blame_came_doubted(const struct verdicts *v, const struct lane *lane, uint32_t about, uint64_t op)
{
    struct known_list *list = blame_list(v, lane, about);
    if (list == NULL)
        return fans_newest(lane, about) != 0 && fans_came_doubted(v, lane, about, op - 1, op);
    const struct known *oldest = known_items(list), *known = oldest + list->count - 1;
    const struct known *first = known - oldest < LATELY ? oldest : known - LATELY;
    if (op > known->op)
        return false;
    while (known > first && known[-1].op >= op)
        known--;
    return (known > first || known == oldest) && blame_is_direct(v, known, about);
}
/* Whether that changes nothing, because it was blamed before. */
bool blame_settled(const struct verdicts *v, const struct blame *what, uint32_t about, uint64_t op);
/* All edges that brought knowledge of the lane which explicit order does not hold. */
void blame_all(struct verdicts *v, const struct blame *what, uint32_t about);
/* Whether that changes nothing, because the lane has learnt nothing of the other one since. */
static INLINE bool blame_all_settled(const struct verdicts *v, const struct blame *what, uint32_t about)
{
    const struct lane *lane = lanes_at(v, what->lane);
    uint64_t older = what->cover == NULL && about < lane->blamed_room ? lane->blamed[about].older : 0;
    return older != 0 && older >= lanes_grown(v, lane, about);
}
void blame_forgotten(struct verdicts *v, uint32_t about, uint64_t op);
/* Whether what was forgotten of a lane since call `at` limits the edge that brought its operation `op` then. Asked of the
 * newest edge first: of what was forgotten since, the first is the oldest. *next: forgotten.count at first. */
bool blame_is_limited(const struct lane *subject, size_t *next, uint64_t at, uint64_t op);
/* Before anything is dropped from a list about this lane: what was forgotten of the lane limits the list's edges. */
void blame_limit(struct verdicts *v, struct known_list *list, uint32_t about);
/* All lists about the lane. */
void blame_limit_all(struct verdicts *v, uint32_t about);

#endif
