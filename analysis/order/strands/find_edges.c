/* SPDX-License-Identifier: Apache-2.0
 *
 * Which implicit edges an order goes over. The way is followed backwards: how did the knowledge of the first operation
 * arrive at the strand of the second one, how did it arrive at the strand from which it came there, and so on, until the
 * first operation's own strand is reached. At each strand the first arrival counts. An edge whose start comes before the
 * second operation by explicit order is not on the way. So the edges that are found hold the order by themselves.
 *
 * Called for conflicting pairs that implicit order alone orders. Must come to an end whatever the trace says
 * (STEPS_MOST).
 */
#include "analysis/order/strands/find_edges.h"

#include "analysis/order/strands/milestones.h"

enum { STEPS_MOST = 256 };

/* The first entry that brings the operation; the list's count: none. */
static uint32_t first_of(struct arrival_list *list, struct traced *traced)
{
    const struct arrival *items = arrivals_items(list);
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

static const struct arrival *own_arrival(const struct strand *strand, uint32_t about, struct traced *traced,
                                         uint64_t latest)
{
    if (about >= strand->arrivals_room)
        return NULL;
    struct arrival_list *list = &strand->arrivals[about];
    uint32_t at = first_of(list, traced);
    return at != list->count && arrivals_items(list)[at].at <= latest ? &arrivals_items(list)[at] : NULL;
}

/* Whether the strand noted by call `latest` how it learnt of the operation. */
static bool has_noted(const struct verdicts *v, uint32_t at, uint32_t about, uint64_t op, uint64_t latest)
{
    const struct strand *strand = strands_at(v, at);
    struct group_knowledge *of = groups_find(strand, strands_at(v, about)->group);
    struct traced traced = {.op = op};
    struct arrival ignored;
    if (own_arrival(strand, about, &traced, latest) != NULL || fan_ins_arrival(v, strand, about, &traced, latest, &ignored))
        return true;
    if (of == NULL)
        return false;
    uint32_t first = first_of(&of->arrivals, &traced);
    return first != of->arrivals.count && arrivals_items(&of->arrivals)[first].at <= latest;
}

/* Whether an arrival about a group brought the operation: not if the host knew of it before, nor if the legacy strand
 * from which it came had not learnt of it. */
static bool brings(const struct verdicts *v, const struct strand *strand, uint32_t about, const struct arrival *known,
                   uint64_t op)
{
    const struct strand *subject = strands_at(v, about);
    if (strand != strands_at(v, HOST_STRAND) &&
        has_noted(v, HOST_STRAND, about, knowledge_upto(subject, known->op), known->at))
        return false;
    if (known->from == NO_STRAND || strands_at(v, known->from)->role != ORDER_ROLE_LEGACY ||
        subject->role == ORDER_ROLE_LEGACY || subject->context != strands_at(v, known->from)->context)
        return true;
    return has_noted(v, known->from, about, op, known->via);
}

static const struct arrival *arrival_of_group(const struct verdicts *v, const struct strand *strand, uint32_t about,
                                              struct traced *traced, uint64_t latest)
{
    struct group_knowledge *of = groups_find(strand, strands_at(v, about)->group);
    if (of == NULL)
        return NULL;
    struct arrival_list *list = &of->arrivals;
    for (uint32_t at = first_of(list, traced); at != list->count && arrivals_items(list)[at].at <= latest; at++)
        if (brings(v, strand, about, &arrivals_items(list)[at], traced->op))
            return &arrivals_items(list)[at];
    return NULL;
}

/* The first arrival of `op` of strand `about`, not later than call `latest`; false: there is none. */
static bool arrival(const struct verdicts *v, uint32_t at, uint32_t about, struct traced *traced, uint64_t latest,
                    struct arrival *out)
{
    const struct strand *strand = strands_at(v, at);
    const struct arrival *own = own_arrival(strand, about, traced, latest),
                         *all = arrival_of_group(v, strand, about, traced, latest);
    bool fanned = fan_ins_arrival(v, strand, about, traced, latest, out);
    if (own != NULL && (!fanned || own->at <= out->at))
        *out = *own;
    else if (!fanned)
        out->at = UINT64_MAX;
    if (all != NULL && all->at < out->at)
        *out = *all;
    return own != NULL || all != NULL || fanned;
}

/* How the wait at hand covers the operation. */
static bool covered(const struct cover *cover, uint32_t about, uint32_t group, uint64_t op, struct arrival *out)
{
    bool found = about < cover->room && cover->full[about].op >= op;
    if (found)
        *out = cover->full[about];
    for (size_t i = 0; !found && i < cover->groups.count; i++) {
        *out = cover->groups.items[i].arrival;
        found = cover->groups.items[i].group == group && out->op >= op;
    }
    return found;
}

static bool first_step(const struct verdicts *v, const struct edge_query *what, uint32_t about, struct traced *traced,
                       struct arrival *out)
{
    if (what->cover == NULL && arrival(v, what->strand, about, traced, v->now, out))
        return true;
    return arrival(v, HOST_STRAND, about, traced, v->now, out) ||
           (what->cover != NULL && covered(what->cover, about, strands_at(v, about)->group, traced->op, out));
}

/* The strand from which the arrival came. */
static uint32_t origin(const struct arrival *step, uint32_t about)
{
    return step->from != NO_STRAND ? step->from : about;
}

static struct settled_ways *settled_of(struct strand *strand, uint32_t about)
{
    void *grown = table_grow(strand->settled_ways, &strand->settled_room, (size_t)about + 1, sizeof *strand->settled_ways);
    if (grown == NULL)
        return NULL;
    strand->settled_ways = grown;
    return &strand->settled_ways[about];
}

bool find_edges_is_settled(const struct verdicts *v, const struct edge_query *what, uint32_t about, uint64_t op)
{
    const struct strand *strand = strands_at(v, what->strand);
    if (what->cover != NULL || about >= strand->settled_room)
        return false;
    uint64_t own = knowledge_own(v, strand, about);
    return what->verdict == VERDICT_MAYBE_NEEDED ? find_edges_are_doubted(strand, about, op, own)
                                                 : find_edges_came_that_way(&strand->settled_ways[about].proven, op, own);
}

static void note_settled(struct verdicts *v, const struct edge_query *what, uint32_t about, const struct traced *traced)
{
    struct strand *strand = strands_at(v, what->strand);
    struct settled_ways *settled_ways = what->cover == NULL ? settled_of(strand, about) : NULL;
    struct way way = {traced->after, traced->upto, knowledge_own(v, strand, about) >= traced->op};
    if (settled_ways != NULL)
        *(what->verdict == VERDICT_MAYBE_NEEDED ? &settled_ways->doubted : &settled_ways->proven) = way;
}

static bool is_call(const struct edge_end *one, const struct edge_end *other)
{
    return one->ticks == other->ticks && one->thread == other->thread;
}

static void set_pair(struct verdicts *v, struct edge *edge, uint32_t from, const struct edge_query *what)
{
    if (what->pair != NULL)
        edge->pair = *what->pair;
    else
        conflict_pair_describe(v, what->accesses, &edge->pair);
    edge->direct = is_call(&edge->pair.first, &edge->from) && is_call(&edge->pair.second, &edge->to);
    /* An edge from all legacy work: its end is the work of the thread that the pair names. */
    const struct strand *source = strands_at(v, from);
    if (edge->kind != EDGE_FAN_IN && edge->pair.first.thread != edge->from.thread &&
        source->stream == edge->pair.first.stream && source->role == ORDER_ROLE_LEGACY &&
        ((uint32_t)(source->key >> 32) - 1) % STRAND_KEPT == edge->pair.first.thread)
        edge->from = edge->pair.first;
}

static bool both_write(const struct edge_query *what)
{
    const struct access_pair *accesses = what->accesses;
    if (what->pair != NULL || accesses == NULL)
        return what->pair != NULL && what->pair->both_write;
    return what->strand != HOST_STRAND && accesses->first->touch.access == ACCESS_WRITE &&
           accesses->second->access == ACCESS_WRITE;
}

/* How sure the loss of the order is that the edge gives the pair: no surer than the loss of the edge, of the pair, and
 * than the conflict. Two writes in the other order prove nothing: the bytes may be the same, or nothing may read them. */
static enum edge_loss loss_of(const struct open_edge *open, const struct edge_query *what)
{
    enum edge_loss most = what->verdict == VERDICT_NEEDED && !both_write(what) ? LOSS_DEFINITE : LOSS_POSSIBLE,
                   loss = open->given_up < what->given_up ? open->given_up : what->given_up;
    return loss < most ? loss : most;
}

/* Sets the edge's verdict. A proven conflict makes the edge needed for good. Of doubts the first stays, but a doubt about
 * memory replaces one about the host, and a doubt about a lost order replaces others. Returns whether another query like
 * this one could change nothing. */
static bool set_verdict(struct verdicts *v, uint32_t at, uint32_t from, const struct edge_query *what)
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
    if ((what->pair != NULL || what->accesses != NULL) &&
        (first || proves || better || (loss > edge->loss && (!doubt || edge->verdict == VERDICT_MAYBE_NEEDED))))
        set_pair(v, edge, from, what);
    edge->loss = loss > edge->loss ? loss : edge->loss;
    open->shown = edge->verdict == VERDICT_NEEDED && edge->loss == open->given_up;
    return open->shown || (doubt && edge->reason != REASON_HOST && (!open->given_up || edge->loss != LOSS_NONE));
}

/* The arrival before this one, on the way back. */
static bool next_step(const struct verdicts *v, struct arrival *step, uint32_t about, struct traced *traced)
{
    uint64_t via = step->via;
    return arrival(v, step->from, about, traced, via, step) || arrival(v, HOST_STRAND, about, traced, via, step);
}

bool find_edges_is_unsure(const struct verdicts *v, const struct edge_query *what, uint32_t about, uint64_t op)
{
    struct traced traced = {.op = op, .upto = UINT64_MAX};
    struct arrival step;
    bool found = v->unsure_edges && first_step(v, what, about, &traced, &step);
    for (unsigned steps = 0; found && steps < STEPS_MOST; steps++) {
        if (step.edge != NO_EDGE && v->edges.items[step.edge].unsure)
            return true;
        found = origin(&step, about) != about && next_step(v, &step, about, &traced);
    }
    return false;
}

void find_edges(struct verdicts *v, const struct edge_query *what, uint32_t about, uint64_t op)
{
    bool settled = true;
    v->totals.traced++;
    struct traced traced = {.op = op, .upto = UINT64_MAX};
    struct arrival step;
    bool found = first_step(v, what, about, &traced, &step);
    for (unsigned steps = 0; found && steps < STEPS_MOST; steps++) {
        uint32_t from = origin(&step, about);
        if (step.edge != NO_EDGE && (step.from == NO_STRAND || find_edges_explicit(v, what, from) < step.via))
            settled &= set_verdict(v, step.edge, from, what);
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

static void find_once(struct verdicts *v, const struct edge_query *what, uint32_t about, uint64_t op)
{
    if (!find_edges_is_settled(v, what, about, op))
        find_edges(v, what, about, op);
}

/* As find_edges_all, of arrivals about the group of strand `about`: for the last operation of each that touched memory,
 * or may have. */
static void find_by_groups(struct verdicts *v, const struct edge_query *what, uint32_t at, uint32_t about,
                           uint64_t explicitly)
{
    const struct strand *strand = strands_at(v, at), *subject = strands_at(v, about);
    struct group_knowledge *of = groups_find(strand, subject->group);
    struct arrival_list *list = of != NULL ? &of->arrivals : NULL;
    const struct arrival *items = list != NULL ? arrivals_items(list) : NULL;
    for (uint32_t i = list != NULL ? list->count : 0; i-- > 0 && items[i].op > explicitly;) {
        uint64_t after = larger(i != 0 ? items[i - 1].op : 0, explicitly);
        uint64_t op = groups_milestone(subject, after, items[i].op);
        if (op == 0 && after < subject->lost_milestone)
            op = after + 1;
        if (op != 0)
            find_once(v, what, about, op);
    }
}

static void find_by_strands(struct verdicts *v, const struct edge_query *what, uint32_t at, uint32_t about,
                            uint64_t explicitly)
{
    const struct strand *strand = strands_at(v, at);
    struct arrival_list *list = about < strand->arrivals_room ? &strand->arrivals[about] : NULL;
    const struct arrival *items = list != NULL ? arrivals_items(list) : NULL;
    for (uint32_t i = list != NULL ? list->count : 0; i-- > 0 && items[i].op > explicitly;)
        find_once(v, what, about, items[i].op);
    for (uint32_t fan_in = fan_ins_newest(strand, about); fan_in != 0; fan_in = v->fan_ins.items[fan_in - 1].older)
        if (v->fan_ins.items[fan_in - 1].upto > explicitly)
            find_once(v, what, about, v->fan_ins.items[fan_in - 1].upto);
}

void find_edges_all(struct verdicts *v, const struct edge_query *by, uint32_t about)
{
    struct edge_query what = *by;
    const uint32_t strands[] = {HOST_STRAND, by->strand};
    uint64_t explicitly = find_edges_explicit(v, by, about);
    what.partly = true;
    for (unsigned k = 0; k < (by->strand == HOST_STRAND ? 1 : 2); k++) {
        find_by_strands(v, &what, strands[k], about, explicitly);
        find_by_groups(v, &what, strands[k], about, explicitly);
    }
    if (by->cover != NULL && knowledge_covered(v, by->cover, about) > explicitly)
        find_edges(v, &what, about, knowledge_covered(v, by->cover, about));
    struct settled_ways *settled_ways = by->cover == NULL ? settled_of(strands_at(v, by->strand), about) : NULL;
    if (settled_ways != NULL)
        settled_ways->older = v->now;
}
