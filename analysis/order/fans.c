/* SPDX-License-Identifier: Apache-2.0
 *
 * The open fan-ins: which legacy lane learnt by which edge of which blocking one. A legacy operation behind a thousand
 * streams makes a thousand of them, so each is one row, in a chain with those of the same two lanes, the newest first.
 * Called by joins.c, blame.c and sweep.c. Nothing here may take time by the number of lanes but to forget.
 */
#include "analysis/order/blame.h"

#include <stdlib.h>

static struct fan *fan_at(const struct verdicts *v, uint32_t edge)
{
    return &v->fans.items[edge];
}

static bool room_for(struct verdicts *v, struct lane *lane, uint32_t from, uint32_t edge)
{
    void *chains = table_grow(lane->fans, &lane->fans_room, (size_t)from + 1, sizeof *lane->fans);
    if (chains != NULL)
        lane->fans = chains;
    while (edge != NO_EDGE && v->fans.count <= edge && TABLE_ADD(&v->fans))
        TABLE_LAST(&v->fans)->to = HOST_LANE;
    return chains != NULL && edge < v->fans.count;
}

/* What the legacy lane's call at hand learnt of a blocking one, of which it knew up to operation `after`, and it or
 * everybody up to `known`. */
void fans_add(struct verdicts *v, uint32_t edge, uint32_t to, uint32_t from, uint64_t after, uint64_t known)
{
    struct lane *lane = lanes_at(v, to);
    if (!room_for(v, lane, from, edge)) {
        v->limited = true;
        return;
    }
    uint32_t older = lane->fans[from];
    *fan_at(v, edge) =
        (struct fan){.after = after, .upto = lanes_at(v, from)->last, .at = v->now, .from = from, .to = to, .older = older};
    if (older != 0)
        fan_at(v, older - 1)->newer = edge + 1;
    lane->fans[from] = edge + 1;
    lane->fans_count++;
    struct open_edge *open = &v->edges.items[edge];
    known = larger(known, lanes_at(v, from)->born - 1);
    open->limited |= known < lanes_at(v, from)->dropped;
    open->lost |= known < v->lost_at;
    open->refs++;
}

uint32_t fans_newest(const struct lane *lane, uint32_t from)
{
    return from < lane->fans_room ? lane->fans[from] : 0;
}

bool fans_arrival(const struct verdicts *v, const struct lane *lane, uint32_t about, struct traced *traced, uint64_t latest,
                  struct known *out)
{
    uint32_t at = fans_newest(lane, about), found = 0;
    for (; at != 0 && fan_at(v, at - 1)->upto >= traced->op; at = fan_at(v, at - 1)->older)
        found = at;
    if (at != 0)
        traced->after = larger(traced->after, fan_at(v, at - 1)->upto);
    if (found == 0)
        return false;
    const struct fan *fan = fan_at(v, found - 1);
    traced->upto = fan->upto < traced->upto ? fan->upto : traced->upto;
    *out = (struct known){.op = fan->upto, .via = fan->upto, .at = fan->at, .from = about, .edge = found - 1};
    return fan->at <= latest;
}

bool fans_came_doubted(const struct verdicts *v, const struct lane *lane, uint32_t about, uint64_t after, uint64_t upto)
{
    uint32_t at = fans_newest(lane, about);
    if (at == 0 || upto > fan_at(v, at - 1)->upto)
        return false;
    for (unsigned steps = 0; steps < LATELY; steps++) {
        const struct fan *fan = fan_at(v, at - 1), *older = fan->older != 0 ? fan_at(v, fan->older - 1) : NULL;
        bool brings = older == NULL || older->upto < upto;
        if (brings && !blame_is_doubted(&v->edges.items[at - 1]))
            return false;
        if (older == NULL || older->upto <= after)
            return true;
        at = fan->older;
    }
    return false;
}

static void unlink_fan(struct verdicts *v, const struct fan *fan)
{
    struct lane *lane = lanes_at(v, fan->to);
    *(fan->newer != 0 ? &fan_at(v, fan->newer - 1)->older : &lane->fans[fan->from]) = fan->older;
    if (fan->older != 0)
        fan_at(v, fan->older - 1)->newer = fan->newer;
    lane->fans_count--;
}

static void drop(struct verdicts *v, uint32_t edge)
{
    unlink_fan(v, fan_at(v, edge));
    fan_at(v, edge)->to = HOST_LANE;
    edges_drop(v, edge);
}

/* As blame_limit, of what came from this lane. */
void fans_limit(struct verdicts *v, const struct lane *lane, uint32_t about)
{
    size_t next = lanes_at(v, about)->forgotten.count;
    for (uint32_t at = next != 0 ? fans_newest(lane, about) : 0; at != 0; at = fan_at(v, at - 1)->older)
        if (blame_is_limited(lanes_at(v, about), &next, fan_at(v, at - 1)->at, fan_at(v, at - 1)->upto))
            v->edges.items[at - 1].limited = true;
}

void fans_sweep(struct verdicts *v, fan_is_asked *is_asked, const void *data)
{
    for (uint32_t edge = 0; edge < v->fans.count; edge++)
        if (fan_at(v, edge)->to != HOST_LANE && !is_asked(data, fan_at(v, edge)))
            drop(v, edge);
}

bool fans_remember(const struct verdicts *v, const struct lane *lane)
{
    const struct lane *host = lanes_at(v, HOST_LANE);
    for (uint32_t from = 0; lane->fans_count != 0 && from < lane->fans_room; from++)
        if (lane->fans[from] != 0 && fan_at(v, lane->fans[from] - 1)->upto > vclock_get(&host->expl, from))
            return true;
    return false;
}

void fans_free(struct verdicts *v, struct lane *lane)
{
    for (uint32_t from = 0; from < lane->fans_room; from++) {
        uint32_t at = lane->fans[from];
        if (at == 0)
            continue;
        fans_limit(v, lane, from);
        while (fan_at(v, at - 1)->older != 0)
            at = fan_at(v, at - 1)->older;
        for (uint32_t newer; at != 0; at = newer) {
            newer = fan_at(v, at - 1)->newer;
            drop(v, at - 1);
        }
    }
    free(lane->fans);
}
