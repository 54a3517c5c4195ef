/* SPDX-License-Identifier: Apache-2.0
 *
 * Which implicit edges an order goes over, and what a conflict says of them. Whether asking would change anything is found
 * out first, and in line.
 */
#ifndef PTDS_ANALYSIS_ORDER_STRANDS_FIND_EDGES_H
#define PTDS_ANALYSIS_ORDER_STRANDS_FIND_EDGES_H

#include "analysis/base/hints.h"
#include "analysis/order/engine/conflict_pair.h"
#include "analysis/order/strands/arrivals.h"
#include "analysis/order/strands/fan_ins.h"
#include "analysis/order/strands/knowledge.h"
#include "analysis/order/strands/open_edges.h"

/* The second side of an order, and what the order is needed for. The first side, operation `op` of strand `about`, is an
 * argument of its own. */
struct edge_query {
    uint32_t strand;           /* the second side: the call at hand, on this strand; */
    const struct cover *cover; /* ... if not NULL the host, after this wait */
    enum verdict verdict;      /* of the conflict: needed or maybe needed */
    enum verdict_reason reason;
    const struct edge_pair *pair;       /* the conflict; NULL: to be described from `accesses`, or there is none */
    const struct access_pair *accesses; /* NULL: none */
    enum edge_loss given_up;            /* whether the run had no order between the two sides */
    bool partly;                        /* the way back may be forgotten in part; else that is a limit */
};

/* Up to which operation of strand `about` the second side comes after it: by explicit order, by any order. */
static inline uint64_t find_edges_explicit(const struct verdicts *v, const struct edge_query *what, uint32_t about)
{
    const struct strand *host = strands_at(v, HOST_STRAND);
    return what->cover != NULL ? larger(vclock_get(&host->expl, about), vclock_get(&what->cover->expl, about))
                               : knowledge_explicit(strands_at(v, what->strand), host, about);
}
static inline uint64_t find_edges_full(const struct verdicts *v, const struct edge_query *what, uint32_t about)
{
    if (what->cover == NULL)
        return knowledge_full(v, strands_at(v, what->strand), about);
    return larger(knowledge_own(v, strands_at(v, HOST_STRAND), about), knowledge_covered(v, what->cover, about));
}

/* Any order, but not explicit order, puts the second side behind the first: sets the verdict of each edge on the way. */
void find_edges(struct verdicts *v, const struct edge_query *what, uint32_t about, uint64_t op);
/* The same for every edge that brought the second side knowledge of strand `about` beyond explicit order. */
void find_edges_all(struct verdicts *v, const struct edge_query *what, uint32_t about);
/* Whether an edge on the way is of a stream of unknown kind, so that there may be no order. */
bool find_edges_is_unsure(const struct verdicts *v, const struct edge_query *what, uint32_t about, uint64_t op);

/* Whether find_edges, find_edges_all would change nothing, because the edges were found before. */
bool find_edges_is_settled(const struct verdicts *v, const struct edge_query *what, uint32_t about, uint64_t op);
static INLINE bool find_edges_all_are_settled(const struct verdicts *v, const struct edge_query *what, uint32_t about)
{
    const struct strand *strand = strands_at(v, what->strand);
    uint64_t older = what->cover == NULL && about < strand->settled_room ? strand->settled_ways[about].older : 0;
    return older != 0 && older >= knowledge_grown(v, strand, about);
}
/* `own`: up to which operation the strand itself knows the other one. */
static INLINE bool find_edges_came_that_way(const struct way *way, uint64_t op, uint64_t own)
{
    return op > way->after && op <= way->upto && (way->own || own < op);
}
/* As find_edges_is_settled, where the conflict is a doubt. */
static INLINE bool find_edges_are_doubted(const struct strand *strand, uint32_t about, uint64_t op, uint64_t own)
{
    return about < strand->settled_room && (find_edges_came_that_way(&strand->settled_ways[about].doubted, op, own) ||
                                            find_edges_came_that_way(&strand->settled_ways[about].proven, op, own));
}

/* Where the strand noted how it learnt of another one: of that one alone, or of its group, if it learnt in no other way.
 * NULL: nowhere, or by fan-ins. */
static INLINE struct arrival_list *find_edges_list(const struct verdicts *v, const struct strand *strand, uint32_t about)
{
    struct group_knowledge *of = groups_find(strand, strands_at(v, about)->group);
    bool alone = about < strand->arrivals_room && strand->arrivals[about].count != 0;
    if (fan_ins_newest(strand, about) != 0)
        return NULL;
    if (alone)
        return &strand->arrivals[about];
    return of != NULL && of->arrivals.count != 0 ? &of->arrivals : NULL;
}
/* Whether the arrival came from strand `about` itself, over an edge that no doubt changes any more. */
static INLINE bool find_edges_is_direct(const struct verdicts *v, const struct arrival *arrival, uint32_t about)
{
    return arrival->edge != NO_EDGE && (arrival->from == about || arrival->from == NO_STRAND) &&
           open_edges_is_doubted(&v->edges.items[arrival->edge]);
}
/* Whether operation `op` arrived lately, and so. */
static INLINE bool find_edges_came_doubted(const struct verdicts *v, const struct strand *strand, uint32_t about,
                                           uint64_t op)
{
    struct arrival_list *list = find_edges_list(v, strand, about);
    if (list == NULL)
        return fan_ins_newest(strand, about) != 0 && fan_ins_came_doubted(v, strand, about, op - 1, op);
    const struct arrival *oldest = arrivals_items(list), *arrival = oldest + list->count - 1;
    const struct arrival *first = arrival - oldest < LATELY ? oldest : arrival - LATELY;
    if (op > arrival->op)
        return false;
    while (arrival > first && arrival[-1].op >= op)
        arrival--;
    return (arrival > first || arrival == oldest) && find_edges_is_direct(v, arrival, about);
}

#endif
