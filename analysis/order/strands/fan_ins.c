/* SPDX-License-Identifier: Apache-2.0
 *
 * The open fan-ins: over which edge a legacy strand learnt of a blocking one. A legacy operation behind a thousand
 * streams makes a thousand of them, so each is one row, in a chain with those of the same two strands, the newest first.
 * Called by implicit_edges.c, find_edges.c and sweep.c. Nothing here but sweeping and closing may take time by the number
 * of strands.
 */
#include "analysis/order/strands/fan_ins.h"

#include <stdlib.h>

#include "analysis/order/strands/arrivals.h"
#include "analysis/order/strands/forgotten.h"
#include "analysis/order/strands/open_edges.h"
#include "analysis/order/strands/strands.h"

static struct fan_in *fan_at(const struct verdicts *v, uint32_t edge)
{
    return &v->fan_ins.items[edge];
}

static bool room_for(struct verdicts *v, struct strand *strand, uint32_t from, uint32_t edge)
{
    void *chains = table_grow(strand->fan_ins, &strand->fan_ins_room, (size_t)from + 1, sizeof *strand->fan_ins);
    if (chains != NULL)
        strand->fan_ins = chains;
    while (edge != NO_EDGE && v->fan_ins.count <= edge && TABLE_ADD(&v->fan_ins))
        TABLE_LAST(&v->fan_ins)->to = HOST_STRAND;
    return chains != NULL && edge < v->fan_ins.count;
}

/* Has a reference to the edge. */
void fan_ins_add(struct verdicts *v, uint32_t edge, uint32_t to, uint32_t from, uint64_t after, uint64_t known)
{
    struct strand *strand = strands_at(v, to);
    if (!room_for(v, strand, from, edge)) {
        v->limited = true;
        return;
    }
    uint32_t older = strand->fan_ins[from];
    *fan_at(v, edge) = (struct fan_in){
        .after = after, .upto = strands_at(v, from)->last, .at = v->now, .from = from, .to = to, .older = older};
    if (older != 0)
        fan_at(v, older - 1)->newer = edge + 1;
    strand->fan_ins[from] = edge + 1;
    strand->fan_ins_count++;
    struct open_edge *open = &v->edges.items[edge];
    known = larger(known, strands_at(v, from)->born - 1);
    open->limited |= known < strands_at(v, from)->dropped;
    open->lost |= known < v->lost_at;
    open->refs++;
}

uint32_t fan_ins_newest(const struct strand *strand, uint32_t from)
{
    return from < strand->fan_ins_room ? strand->fan_ins[from] : 0;
}

bool fan_ins_arrival(const struct verdicts *v, const struct strand *strand, uint32_t about, struct traced *traced,
                     uint64_t latest, struct arrival *out)
{
    uint32_t at = fan_ins_newest(strand, about), found = 0;
    for (; at != 0 && fan_at(v, at - 1)->upto >= traced->op; at = fan_at(v, at - 1)->older)
        found = at;
    if (at != 0)
        traced->after = larger(traced->after, fan_at(v, at - 1)->upto);
    if (found == 0)
        return false;
    const struct fan_in *fan_in = fan_at(v, found - 1);
    traced->upto = fan_in->upto < traced->upto ? fan_in->upto : traced->upto;
    *out = (struct arrival){.op = fan_in->upto, .via = fan_in->upto, .at = fan_in->at, .from = about, .edge = found - 1};
    return fan_in->at <= latest;
}

bool fan_ins_came_doubted(const struct verdicts *v, const struct strand *strand, uint32_t about, uint64_t after,
                          uint64_t upto)
{
    uint32_t at = fan_ins_newest(strand, about);
    if (at == 0 || upto > fan_at(v, at - 1)->upto)
        return false;
    for (unsigned steps = 0; steps < LATELY; steps++) {
        const struct fan_in *fan_in = fan_at(v, at - 1), *older = fan_in->older != 0 ? fan_at(v, fan_in->older - 1) : NULL;
        bool brings = older == NULL || older->upto < upto;
        if (brings && !open_edges_is_doubted(&v->edges.items[at - 1]))
            return false;
        if (older == NULL || older->upto <= after)
            return true;
        at = fan_in->older;
    }
    return false;
}

static void unlink_fan(struct verdicts *v, const struct fan_in *fan_in)
{
    struct strand *strand = strands_at(v, fan_in->to);
    *(fan_in->newer != 0 ? &fan_at(v, fan_in->newer - 1)->older : &strand->fan_ins[fan_in->from]) = fan_in->older;
    if (fan_in->older != 0)
        fan_at(v, fan_in->older - 1)->newer = fan_in->newer;
    strand->fan_ins_count--;
}

static void drop(struct verdicts *v, uint32_t edge)
{
    unlink_fan(v, fan_at(v, edge));
    fan_at(v, edge)->to = HOST_STRAND;
    open_edges_drop(v, edge);
}

/* The newest first, as forgotten_is_limited asks for. */
void fan_ins_limit(struct verdicts *v, const struct strand *strand, uint32_t about)
{
    size_t next = strands_at(v, about)->forgotten.count;
    for (uint32_t at = next != 0 ? fan_ins_newest(strand, about) : 0; at != 0; at = fan_at(v, at - 1)->older)
        if (forgotten_is_limited(strands_at(v, about), &next, fan_at(v, at - 1)->at, fan_at(v, at - 1)->upto))
            v->edges.items[at - 1].limited = true;
}

void fan_ins_sweep(struct verdicts *v, fan_ins_is_asked *is_asked, const void *data)
{
    for (uint32_t edge = 0; edge < v->fan_ins.count; edge++)
        if (fan_at(v, edge)->to != HOST_STRAND && !is_asked(data, fan_at(v, edge)))
            drop(v, edge);
}

bool fan_ins_remember(const struct verdicts *v, const struct strand *strand)
{
    const struct strand *host = strands_at(v, HOST_STRAND);
    for (uint32_t from = 0; strand->fan_ins_count != 0 && from < strand->fan_ins_room; from++)
        if (strand->fan_ins[from] != 0 && fan_at(v, strand->fan_ins[from] - 1)->upto > vclock_get(&host->expl, from))
            return true;
    return false;
}

void fan_ins_free(struct verdicts *v, struct strand *strand)
{
    for (uint32_t from = 0; from < strand->fan_ins_room; from++) {
        uint32_t at = strand->fan_ins[from];
        if (at == 0)
            continue;
        fan_ins_limit(v, strand, from);
        while (fan_at(v, at - 1)->older != 0)
            at = fan_at(v, at - 1)->older;
        for (uint32_t newer; at != 0; at = newer) {
            newer = fan_at(v, at - 1)->newer;
            drop(v, at - 1);
        }
    }
    free(strand->fan_ins);
}
