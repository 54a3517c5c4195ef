/* SPDX-License-Identifier: Apache-2.0
 *
 * Which implicit edges an order goes over. The way is followed backwards: how did the knowledge of the first operation
 * arrive where the second one is, and how did it arrive there, until its own lane is reached. The first arrival counts, and
 * an edge whose start comes before the second operation by explicit order anyway is not blamed: so the edges blamed, alone,
 * hold the order. Called for conflicting pairs that explicit order does not hold, and only for those.
 */
#include "analysis/verdict/engine.h"

enum { STEPS_MOST = 256 };

uint64_t blame_explicit(const struct verdicts *v, const struct blame *what, uint32_t about)
{
    const struct lane *host = lanes_at(v, HOST_LANE);
    return what->cover != NULL ? vclock_get(&host->expl, about) : lanes_explicit(lanes_at(v, what->lane), host, about);
}

uint64_t blame_full(const struct verdicts *v, const struct blame *what, uint32_t about)
{
    const struct lane *host = lanes_at(v, HOST_LANE);
    if (what->cover == NULL)
        return lanes_full(lanes_at(v, what->lane), host, about);
    return larger(vclock_get(&host->full, about), about < what->cover->room ? what->cover->full[about].op : 0);
}

/* The first arrival of `op` of lane `about`, not later than call `latest`. */
static const struct known *arrival(const struct lane *lane, uint32_t about, uint64_t op, uint64_t latest)
{
    if (about >= lane->brought_room)
        return NULL;
    const struct known_list *list = &lane->brought[about];
    uint32_t low = 0, high = list->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (list->items[middle].op < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && list->items[low].at <= latest ? &list->items[low] : NULL;
}

static const struct known *first_step(const struct verdicts *v, const struct blame *what, uint32_t about, uint64_t op)
{
    const struct known *found = NULL;
    if (what->cover == NULL)
        found = arrival(lanes_at(v, what->lane), about, op, v->now);
    if (found == NULL)
        found = arrival(lanes_at(v, HOST_LANE), about, op, v->now);
    if (found == NULL && what->cover != NULL && about < what->cover->room && what->cover->full[about].op >= op)
        found = &what->cover->full[about];
    return found;
}

/* A conflict makes it load-bearing for good; else the first doubt stays. */
static void mark(struct verdicts *v, const struct known *step, const struct blame *what)
{
    struct edge *edge = &v->edges.items[step->edge].edge;
    if (edge->verdict == VERDICT_LOAD_BEARING || (edge->verdict == VERDICT_UNKNOWN && what->verdict == VERDICT_UNKNOWN))
        return;
    edge->verdict = what->verdict;
    edge->reason = what->verdict == VERDICT_UNKNOWN ? what->reason : REASON_NONE;
    if (what->pair == NULL)
        return;
    edge->pair = *what->pair;
    /* An edge from all legacy work at once: name the thread that it is needed for. */
    const struct lane *source = lanes_at(v, step->from);
    if (edge->kind != EDGE_FAN_IN && edge->pair.first.thread != edge->from.thread &&
        source->stream == edge->pair.first.stream && source->role == ORDER_ROLE_LEGACY &&
        (uint32_t)(source->key >> 32) == edge->pair.first.thread + 1)
        edge->from = edge->pair.first;
}

/* `op` of lane `about` comes before the call at hand in full order, not in the explicit one. */
void blame(struct verdicts *v, const struct blame *what, uint32_t about, uint64_t op)
{
    const struct known *step = first_step(v, what, about, op);
    for (unsigned steps = 0; step != NULL && steps < STEPS_MOST; steps++) {
        if (step->edge != NO_EDGE && blame_explicit(v, what, step->from) < step->via)
            mark(v, step, what);
        if (step->from == about)
            return;
        uint64_t via = step->via;
        const struct lane *from = lanes_at(v, step->from);
        step = arrival(from, about, op, via);
        if (step == NULL)
            step = arrival(lanes_at(v, HOST_LANE), about, op, via);
    }
    if (!what->partly && op > v->forgotten)
        v->limited = true;
}

/* An operation that touches memory is remembered no longer: whatever it came over can no longer be called false. */
void blame_forgotten(struct verdicts *v, uint32_t about, uint64_t op)
{
    struct lane *subject = lanes_at(v, about);
    subject->dropped = larger(subject->dropped, op);
    v->totals.dropped++;
    for (uint32_t i = 0; i < v->lanes.count; i++) {
        const struct lane *lane = lanes_at(v, i);
        if (about >= lane->brought_room)
            continue;
        for (uint32_t k = lane->brought[about].count; k-- > 0 && lane->brought[about].items[k].op >= op;)
            if (lane->brought[about].items[k].edge != NO_EDGE)
                v->edges.items[lane->brought[about].items[k].edge].limited = true;
    }
}
