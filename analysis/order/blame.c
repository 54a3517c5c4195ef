/* SPDX-License-Identifier: Apache-2.0
 *
 * Which implicit edges an order goes over. The way is followed backwards: how did the knowledge of the first operation
 * arrive where the second one is, and how did it arrive there, until its own lane is reached. The first arrival counts, and
 * an edge whose start comes before the second operation by explicit order anyway is not blamed: so the edges blamed, alone,
 * hold the order. Called for conflicting pairs that explicit order does not hold, and only for those.
 */
#include "analysis/order/blame.h"

enum { STEPS_MOST = 256, FORGOTTEN_MOST = 64 };

/* The first entry that brings the operation; the list's count: none. */
static uint32_t first_of(struct known_list *list, struct traced *traced)
{
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
    if (low != list->count)
        traced->upto = items[low].op < traced->upto ? items[low].op : traced->upto;
    return low;
}

static const struct known *own_arrival(const struct lane *lane, uint32_t about, struct traced *traced, uint64_t latest)
{
    if (about >= lane->brought_room)
        return NULL;
    struct known_list *list = &lane->brought[about];
    uint32_t at = first_of(list, traced);
    return at != list->count && known_items(list)[at].at <= latest ? &known_items(list)[at] : NULL;
}

/* Whether the lane noted by call `latest` how it learnt of the operation. */
static bool has_noted(const struct verdicts *v, uint32_t at, uint32_t about, uint64_t op, uint64_t latest)
{
    const struct lane *lane = lanes_at(v, at);
    struct of_group *of = groups_find(lane, lanes_at(v, about)->group);
    struct traced traced = {.op = op};
    struct known ignored;
    if (own_arrival(lane, about, &traced, latest) != NULL || fans_arrival(v, lane, about, &traced, latest, &ignored))
        return true;
    if (of == NULL)
        return false;
    uint32_t first = first_of(&of->brought, &traced);
    return first != of->brought.count && known_items(&of->brought)[first].at <= latest;
}

/* Whether an entry about all of a group brought the operation: not if everybody knew of it, nor if the legacy lane from
 * which it came had not learnt of it itself. */
static bool brings(const struct verdicts *v, const struct lane *lane, uint32_t about, const struct known *known,
                   uint64_t op)
{
    const struct lane *subject = lanes_at(v, about);
    if (lane != lanes_at(v, HOST_LANE) && has_noted(v, HOST_LANE, about, lanes_upto(subject, known->op), known->at))
        return false;
    if (known->from == NO_LANE || lanes_at(v, known->from)->role != ORDER_ROLE_LEGACY ||
        subject->role == ORDER_ROLE_LEGACY || subject->context != lanes_at(v, known->from)->context)
        return true;
    return has_noted(v, known->from, about, op, known->via);
}

static const struct known *arrival_of_group(const struct verdicts *v, const struct lane *lane, uint32_t about,
                                            struct traced *traced, uint64_t latest)
{
    struct of_group *of = groups_find(lane, lanes_at(v, about)->group);
    if (of == NULL)
        return NULL;
    struct known_list *list = &of->brought;
    for (uint32_t at = first_of(list, traced); at != list->count && known_items(list)[at].at <= latest; at++)
        if (brings(v, lane, about, &known_items(list)[at], traced->op))
            return &known_items(list)[at];
    return NULL;
}

/* The first arrival of `op` of lane `about`, not later than call `latest`; false: there is none. */
static bool arrival(const struct verdicts *v, uint32_t at, uint32_t about, struct traced *traced, uint64_t latest,
                    struct known *out)
{
    const struct lane *lane = lanes_at(v, at);
    const struct known *own = own_arrival(lane, about, traced, latest),
                       *all = arrival_of_group(v, lane, about, traced, latest);
    bool fanned = fans_arrival(v, lane, about, traced, latest, out);
    if (own != NULL && (!fanned || own->at <= out->at))
        *out = *own;
    else if (!fanned)
        out->at = UINT64_MAX;
    if (all != NULL && all->at < out->at)
        *out = *all;
    return own != NULL || all != NULL || fanned;
}

/* How the wait at hand covers the operation. */
static bool covered(const struct cover *cover, uint32_t about, uint32_t group, uint64_t op, struct known *out)
{
    bool found = about < cover->room && cover->full[about].op >= op;
    if (found)
        *out = cover->full[about];
    for (size_t i = 0; !found && i < cover->groups.count; i++) {
        *out = cover->groups.items[i].known;
        found = cover->groups.items[i].group == group && out->op >= op;
    }
    return found;
}

static bool first_step(const struct verdicts *v, const struct blame *what, uint32_t about, struct traced *traced,
                       struct known *out)
{
    if (what->cover == NULL && arrival(v, what->lane, about, traced, v->now, out))
        return true;
    return arrival(v, HOST_LANE, about, traced, v->now, out) ||
           (what->cover != NULL && covered(what->cover, about, lanes_at(v, about)->group, traced->op, out));
}

/* Whose knowledge the step took over. */
static uint32_t origin(const struct known *step, uint32_t about)
{
    return step->from != NO_LANE ? step->from : about;
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
    uint64_t own = lanes_own(v, lane, about);
    return what->verdict == VERDICT_MAYBE_NEEDED ? blame_doubted(lane, about, op, own)
                                                 : blame_came_that_way(&lane->blamed[about].proven, op, own);
}

static void note_settled(struct verdicts *v, const struct blame *what, uint32_t about, const struct traced *traced)
{
    struct lane *lane = lanes_at(v, what->lane);
    struct blamed *blamed = what->cover == NULL ? blamed_of(lane, about) : NULL;
    struct way way = {traced->after, traced->upto, lanes_own(v, lane, about) >= traced->op};
    if (blamed != NULL)
        *(what->verdict == VERDICT_MAYBE_NEEDED ? &blamed->doubted : &blamed->proven) = way;
}

static void set_pair(struct verdicts *v, struct edge *edge, uint32_t from, const struct blame *what)
{
    if (what->pair != NULL)
        edge->pair = *what->pair;
    else
        conflicts_describe(v, what->meeting, &edge->pair);
    /* An edge from all legacy work at once: name the thread that it is needed for. */
    const struct lane *source = lanes_at(v, from);
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
static bool mark(struct verdicts *v, uint32_t at, uint32_t from, const struct blame *what)
{
    struct open_edge *open = &v->edges.items[at];
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
        set_pair(v, edge, from, what);
    edge->loss = loss > edge->loss ? loss : edge->loss;
    open->shown = edge->verdict == VERDICT_NEEDED && edge->loss == open->given_up;
    return open->shown || (doubt && edge->reason != REASON_HOST && (!open->given_up || edge->loss != LOSS_NONE));
}

/* How the lane came to know that from which this step took it. */
static bool next_step(const struct verdicts *v, struct known *step, uint32_t about, struct traced *traced)
{
    uint64_t via = step->via;
    return arrival(v, step->from, about, traced, via, step) || arrival(v, HOST_LANE, about, traced, via, step);
}

bool blame_is_unsure(const struct verdicts *v, const struct blame *what, uint32_t about, uint64_t op)
{
    struct traced traced = {.op = op, .upto = UINT64_MAX};
    struct known step;
    bool found = v->unsure_edges && first_step(v, what, about, &traced, &step);
    for (unsigned steps = 0; found && steps < STEPS_MOST; steps++) {
        if (step.edge != NO_EDGE && v->edges.items[step.edge].unsure)
            return true;
        found = origin(&step, about) != about && next_step(v, &step, about, &traced);
    }
    return false;
}

void blame(struct verdicts *v, const struct blame *what, uint32_t about, uint64_t op)
{
    bool settled = true;
    v->totals.blamed++;
    struct traced traced = {.op = op, .upto = UINT64_MAX};
    struct known step;
    bool found = first_step(v, what, about, &traced, &step);
    for (unsigned steps = 0; found && steps < STEPS_MOST; steps++) {
        uint32_t from = origin(&step, about);
        if (step.edge != NO_EDGE && (step.from == NO_LANE || blame_explicit(v, what, from) < step.via))
            settled &= mark(v, step.edge, from, what);
        if (from == about) {
            if (settled)
                note_settled(v, what, about, &traced);
            return;
        }
        found = next_step(v, &step, about, &traced);
    }
    if (!what->partly && op > v->forgotten)
        v->limited = true;
}

static void blame_once(struct verdicts *v, const struct blame *what, uint32_t about, uint64_t op)
{
    if (!blame_settled(v, what, about, op))
        blame(v, what, about, op);
}

/* Of what came with all of a group, that where the lane touched memory, or may have. */
static void blame_groups(struct verdicts *v, const struct blame *what, uint32_t at, uint32_t about, uint64_t explicitly)
{
    const struct lane *lane = lanes_at(v, at), *subject = lanes_at(v, about);
    struct of_group *of = groups_find(lane, subject->group);
    struct known_list *list = of != NULL ? &of->brought : NULL;
    const struct known *items = list != NULL ? known_items(list) : NULL;
    for (uint32_t i = list != NULL ? list->count : 0; i-- > 0 && items[i].op > explicitly;) {
        uint64_t after = larger(i != 0 ? items[i - 1].op : 0, explicitly);
        uint64_t op = groups_marked(subject, after, items[i].op);
        if (op == 0 && after < subject->unmarked)
            op = after + 1;
        if (op != 0)
            blame_once(v, what, about, op);
    }
}

static void blame_own(struct verdicts *v, const struct blame *what, uint32_t at, uint32_t about, uint64_t explicitly)
{
    const struct lane *lane = lanes_at(v, at);
    struct known_list *list = about < lane->brought_room ? &lane->brought[about] : NULL;
    const struct known *items = list != NULL ? known_items(list) : NULL;
    for (uint32_t i = list != NULL ? list->count : 0; i-- > 0 && items[i].op > explicitly;)
        blame_once(v, what, about, items[i].op);
    for (uint32_t fan = fans_newest(lane, about); fan != 0; fan = v->fans.items[fan - 1].older)
        if (v->fans.items[fan - 1].upto > explicitly)
            blame_once(v, what, about, v->fans.items[fan - 1].upto);
}

void blame_all(struct verdicts *v, const struct blame *by, uint32_t about)
{
    struct blame what = *by;
    const uint32_t lanes[] = {HOST_LANE, by->lane};
    uint64_t explicitly = blame_explicit(v, by, about);
    what.partly = true;
    for (unsigned k = 0; k < (by->lane == HOST_LANE ? 1 : 2); k++) {
        blame_own(v, &what, lanes[k], about, explicitly);
        blame_groups(v, &what, lanes[k], about, explicitly);
    }
    if (by->cover != NULL && waits_covered(v, by->cover, about) > explicitly)
        blame(v, &what, about, waits_covered(v, by->cover, about));
    struct blamed *blamed = by->cover == NULL ? blamed_of(lanes_at(v, by->lane), about) : NULL;
    if (blamed != NULL)
        blamed->older = v->now;
}

bool blame_is_limited(const struct lane *subject, size_t *next, uint64_t at, uint64_t op)
{
    while (*next != 0 && subject->forgotten.items[*next - 1].at >= at)
        --*next;
    return *next != subject->forgotten.count && subject->forgotten.items[*next].op <= op;
}

/* There are lists about lanes that are not there: empty ones. */
void blame_limit(struct verdicts *v, struct known_list *list, uint32_t about)
{
    if (list->count == 0 || lanes_at(v, about)->forgotten.count == 0)
        return;
    const struct known *items = known_items(list);
    size_t next = lanes_at(v, about)->forgotten.count;
    for (uint32_t k = list->count; k-- > 0;)
        if (blame_is_limited(lanes_at(v, about), &next, items[k].at, items[k].op) && items[k].edge != NO_EDGE)
            v->edges.items[items[k].edge].limited = true;
}

void blame_limit_all(struct verdicts *v, uint32_t about)
{
    if (lanes_at(v, about)->forgotten.count == 0)
        return;
    for (uint32_t i = 0; i < v->lanes.count; i++) {
        if (about < lanes_at(v, i)->brought_room)
            blame_limit(v, &lanes_at(v, i)->brought[about], about);
        fans_limit(v, lanes_at(v, i), about);
    }
    groups_limit_all(v, about);
    lanes_at(v, about)->forgotten.count = 0;
    v->forgetful--;
}

/* An operation that touches memory is remembered no longer: whatever it came over can no longer be called "not needed".
 * Who has learnt of it, there is seldom time to look up each time. */
void blame_forgotten(struct verdicts *v, uint32_t about, uint64_t op)
{
    struct lane *subject = lanes_at(v, about);
    size_t count = subject->forgotten.count;
    lanes_drop(v, subject, op);
    v->totals.dropped++;
    v->forgetful += count == 0;
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
