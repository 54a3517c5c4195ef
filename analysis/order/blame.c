/* SPDX-License-Identifier: Apache-2.0
 *
 * Which implicit edges an order goes over. The way is followed backwards: how did the knowledge of the first operation
 * arrive where the second one is, and how did it arrive there, until its own lane is reached. The first arrival counts, and
 * an edge whose start comes before the second operation by explicit order anyway is not blamed: so the edges blamed, alone,
 * hold the order. Called for conflicting pairs that explicit order does not hold, and only for those.
 */
#include "analysis/order/engine.h"

enum { STEPS_MOST = 256, FORGOTTEN_MOST = 64 };

/* An operation, and those that would take the same way as it: after < op <= upto. */
struct traced {
    uint64_t op, after, upto;
};

/* The first arrival of `op` of lane `about`, not later than call `latest`. */
static const struct known *arrival(const struct lane *lane, uint32_t about, struct traced *traced, uint64_t latest)
{
    if (about >= lane->brought_room)
        return NULL;
    struct known_list *list = &lane->brought[about];
    const struct known *items = known_items(list);
    uint32_t low = 0, high = list->count;
    if (high > 1 && items[high - 2].op < traced->op) /* mostly it is the last, or newer */
        low = high - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (items[middle].op < traced->op)
            low = middle + 1;
        else
            high = middle;
    }
    if (low != 0)
        traced->after = larger(traced->after, items[low - 1].op);
    if (low == list->count)
        return NULL;
    traced->upto = items[low].op < traced->upto ? items[low].op : traced->upto;
    return items[low].at <= latest ? &items[low] : NULL;
}

static const struct known *first_step(const struct verdicts *v, const struct blame *what, uint32_t about,
                                      struct traced *traced)
{
    const struct known *found = NULL;
    if (what->cover == NULL)
        found = arrival(lanes_at(v, what->lane), about, traced, v->now);
    if (found == NULL)
        found = arrival(lanes_at(v, HOST_LANE), about, traced, v->now);
    if (found == NULL && what->cover != NULL && about < what->cover->room && what->cover->full[about].op >= traced->op)
        found = &what->cover->full[about];
    return found;
}

static struct blamed *blamed_of(struct lane *lane, uint32_t about)
{
    void *grown = table_grow(lane->blamed, &lane->blamed_room, (size_t)about + 1, sizeof *lane->blamed);
    if (grown == NULL)
        return NULL;
    lane->blamed = grown;
    return &lane->blamed[about];
}

bool blame_settled(const struct verdicts *v, const struct blame *what, uint32_t about, uint64_t op)
{
    const struct lane *lane = lanes_at(v, what->lane);
    if (what->cover != NULL || about >= lane->blamed_room)
        return false;
    uint64_t own = vclock_get(&lane->full, about);
    return what->verdict == VERDICT_MAYBE_NEEDED ? blame_doubted(lane, about, op, own)
                                                 : blame_came_that_way(&lane->blamed[about].proven, op, own);
}

static void note_settled(struct verdicts *v, const struct blame *what, uint32_t about, const struct traced *traced)
{
    struct lane *lane = lanes_at(v, what->lane);
    struct blamed *blamed = what->cover == NULL ? blamed_of(lane, about) : NULL;
    struct way way = {traced->after, traced->upto, vclock_get(&lane->full, about) >= traced->op};
    if (blamed != NULL)
        *(what->verdict == VERDICT_MAYBE_NEEDED ? &blamed->doubted : &blamed->proven) = way;
}

static void set_pair(struct verdicts *v, struct edge *edge, const struct known *step, const struct blame *what)
{
    if (what->pair != NULL)
        edge->pair = *what->pair;
    else
        conflicts_describe(v, what->meeting, &edge->pair);
    /* An edge from all legacy work at once: name the thread that it is needed for. */
    const struct lane *source = lanes_at(v, step->from);
    if (edge->kind != EDGE_FAN_IN && edge->pair.first.thread != edge->from.thread &&
        source->stream == edge->pair.first.stream && source->role == ORDER_ROLE_LEGACY &&
        ((uint32_t)(source->key >> 32) - 1) % LANE_KEPT == edge->pair.first.thread)
        edge->from = edge->pair.first;
}

/* What was lost with the edge, if the pair is. Under a policy that takes orders away, a pair that is kept tells nothing
 * about one that is not. */
static enum edge_loss loss_of(const struct open_edge *open, const struct blame *what)
{
    enum edge_loss most = what->verdict == VERDICT_NEEDED ? LOSS_DEFINITE : LOSS_POSSIBLE,
                   loss = open->given_up < what->given_up ? open->given_up : what->given_up;
    return loss < most ? loss : most;
}

/* A conflict makes it needed for good; else the first doubt stays, but that two operations use the same memory tells
 * more than what the host may do, and those that were lost come first. Whether
 * another like it could change nothing. */
static bool mark(struct verdicts *v, const struct known *step, const struct blame *what)
{
    struct open_edge *open = &v->edges.items[step->edge];
    struct edge *edge = &open->edge;
    bool doubt = what->verdict == VERDICT_MAYBE_NEEDED, first = edge->verdict == VERDICT_NOT_NEEDED;
    bool better =
        doubt && edge->verdict == VERDICT_MAYBE_NEEDED && edge->reason == REASON_HOST && what->reason != REASON_HOST;
    enum edge_loss loss = loss_of(open, what);
    if (open->shown || (doubt && !first && !better && loss <= edge->loss))
        return open->shown || ((!open->given_up || edge->loss != LOSS_NONE) && edge->reason != REASON_HOST);
    bool proves = !doubt && edge->verdict != VERDICT_NEEDED;
    if (first || proves || better) {
        edge->verdict = what->verdict;
        edge->reason = doubt ? what->reason : REASON_NONE;
    }
    if ((what->pair != NULL || what->meeting != NULL) &&
        (first || proves || better || (loss > edge->loss && (!doubt || edge->verdict == VERDICT_MAYBE_NEEDED))))
        set_pair(v, edge, step, what);
    edge->loss = loss > edge->loss ? loss : edge->loss;
    open->shown = edge->verdict == VERDICT_NEEDED && edge->loss == open->given_up;
    return open->shown || (doubt && edge->reason != REASON_HOST && (!open->given_up || edge->loss != LOSS_NONE));
}

/* How the lane came to know that from which this step took it. */
static const struct known *next_step(const struct verdicts *v, const struct known *step, uint32_t about,
                                     struct traced *traced)
{
    uint64_t via = step->via;
    const struct known *found = arrival(lanes_at(v, step->from), about, traced, via);
    return found != NULL ? found : arrival(lanes_at(v, HOST_LANE), about, traced, via);
}

bool blame_is_unsure(const struct verdicts *v, const struct blame *what, uint32_t about, uint64_t op)
{
    struct traced traced = {.op = op, .upto = UINT64_MAX};
    const struct known *step = v->unsure_edges ? first_step(v, what, about, &traced) : NULL;
    for (unsigned steps = 0; step != NULL && steps < STEPS_MOST; steps++) {
        if (step->edge != NO_EDGE && v->edges.items[step->edge].unsure)
            return true;
        step = step->from != about ? next_step(v, step, about, &traced) : NULL;
    }
    return false;
}

void blame(struct verdicts *v, const struct blame *what, uint32_t about, uint64_t op)
{
    bool settled = true;
    v->totals.blamed++;
    struct traced traced = {.op = op, .upto = UINT64_MAX};
    const struct known *step = first_step(v, what, about, &traced);
    for (unsigned steps = 0; step != NULL && steps < STEPS_MOST; steps++) {
        if (step->edge != NO_EDGE && blame_explicit(v, what, step->from) < step->via)
            settled &= mark(v, step, what);
        if (step->from == about) {
            if (settled)
                note_settled(v, what, about, &traced);
            return;
        }
        step = next_step(v, step, about, &traced);
    }
    if (!what->partly && op > v->forgotten)
        v->limited = true;
}

void blame_all(struct verdicts *v, const struct blame *by, uint32_t about)
{
    struct blame what = *by;
    const uint32_t lanes[] = {HOST_LANE, by->lane};
    uint64_t explicitly = blame_explicit(v, by, about);
    what.partly = true;
    for (unsigned k = 0; k < (by->lane == HOST_LANE ? 1 : 2); k++) {
        const struct lane *lane = lanes_at(v, lanes[k]);
        if (about >= lane->brought_room)
            continue;
        struct known_list *list = &lane->brought[about];
        const struct known *items = known_items(list);
        for (uint32_t i = list->count; i-- > 0 && items[i].op > explicitly;)
            if (!blame_settled(v, &what, about, items[i].op))
                blame(v, &what, about, items[i].op);
    }
    if (by->cover != NULL && about < by->cover->room && by->cover->full[about].op > explicitly)
        blame(v, &what, about, by->cover->full[about].op);
    struct blamed *blamed = by->cover == NULL ? blamed_of(lanes_at(v, by->lane), about) : NULL;
    if (blamed != NULL)
        blamed->older = v->now;
}

/* From the newest on: of what was forgotten when an entry was there already, the first is the oldest. There are lists about
 * lanes that are not there: empty ones. */
void blame_limit(struct verdicts *v, struct known_list *list, uint32_t about)
{
    if (list->count == 0)
        return;
    const struct lane *subject = lanes_at(v, about);
    size_t count = subject->forgotten.count, next = count;
    for (uint32_t k = list->count; count != 0 && k-- > 0;) {
        const struct known *known = &known_items(list)[k];
        while (next != 0 && subject->forgotten.items[next - 1].at >= known->at)
            next--;
        if (next == count)
            continue;
        if (subject->forgotten.items[next].op > known->op) {
            if (next == 0)
                break;
        } else if (known->edge != NO_EDGE) {
            v->edges.items[known->edge].limited = true;
        }
    }
}

void blame_limit_all(struct verdicts *v, uint32_t about)
{
    for (uint32_t i = 0; i < v->lanes.count && lanes_at(v, about)->forgotten.count != 0; i++)
        if (about < lanes_at(v, i)->brought_room)
            blame_limit(v, &lanes_at(v, i)->brought[about], about);
    lanes_at(v, about)->forgotten.count = 0;
}

/* An operation that touches memory is remembered no longer: whatever it came over can no longer be called "not needed".
 * Who has learnt of it, there is seldom time to look up each time. */
void blame_forgotten(struct verdicts *v, uint32_t about, uint64_t op)
{
    struct lane *subject = lanes_at(v, about);
    size_t count = subject->forgotten.count;
    subject->dropped = larger(subject->dropped, op);
    v->totals.dropped++;
    while (count != 0 && subject->forgotten.items[count - 1].op >= op)
        count--;
    subject->forgotten.count = count;
    if (count != 0 && TABLE_LAST(&subject->forgotten)->at == v->now)
        return;
    if (TABLE_ADD(&subject->forgotten))
        *TABLE_LAST(&subject->forgotten) = (struct forgotten){.at = v->now, .op = op};
    else
        v->limited = true;
    if (subject->forgotten.count > FORGOTTEN_MOST)
        blame_limit_all(v, about);
}
