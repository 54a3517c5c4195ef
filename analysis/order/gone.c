/* SPDX-License-Identifier: Apache-2.0
 *
 * What gone.h says. Takes memory by the given-up calls, up to a limit, and by the pairs of streams that wait for each
 * other.
 */
#include "analysis/order/gone.h"

#include <stdlib.h>

static uint64_t call_key(uint64_t enter, uint32_t thread)
{
    return enter ^ (uint64_t)thread << 48;
}

void gone_call(struct gone *gone, const struct call *call)
{
    if (gone->calls.used >= GONE_CALLS_MOST || !id_map_put(&gone->calls, call_key(call->r.enter, call->thread), 0))
        gone->incomplete = true;
}

static uint64_t kept_key(uint32_t waits, uint32_t behind)
{
    return (uint64_t)waits << 32 | behind;
}

static struct gone_kept *kept_of(struct gone *gone, uint64_t key)
{
    uint32_t at;
    if (id_map_get(&gone->kept_by, key, &at))
        return &gone->kept.items[at];
    if (!TABLE_ADD(&gone->kept))
        return NULL;
    return id_map_put(&gone->kept_by, key, (uint32_t)gone->kept.count - 1) ? TABLE_LAST(&gone->kept) : NULL;
}

void gone_edges(struct gone *gone, const struct call *call)
{
    for (uint32_t i = 0; i < call->edges && i < CALL_EDGES; i++) {
        const struct ptds_rec_EDGE *edge = &call->edge[i];
        struct gone_kept *kept = kept_of(gone, kept_key(edge->waits, edge->behind));
        if (kept == NULL)
            continue;
        uint32_t at = kept->count++ % GONE_KEPT;
        kept->enter[at] = call->r.enter;
        kept->until[at] = edge->until;
    }
}

/* The stream that the work was sent to. */
static uint32_t target_of(const struct gone *gone, const struct edge_end *end)
{
    const struct gone_target *target = &gone->targets[end->thread % GONE_TARGETS];
    return target->thread == end->thread && target->asked == end->stream ? target->target : end->stream;
}

static bool waited(const struct gone *gone, uint32_t waits, uint32_t behind, const struct edge_pair *pair)
{
    uint32_t at;
    if (!id_map_get(&gone->kept_by, kept_key(waits, behind), &at))
        return false;
    const struct gone_kept *kept = &gone->kept.items[at];
    for (uint32_t i = 0; i < kept->count && i < GONE_KEPT; i++)
        if (kept->enter[i] <= pair->second.ticks && kept->until[i] > pair->first.ticks)
            return true;
    return false;
}

bool gone_pair(const struct gone *gone, const struct edge_pair *pair)
{
    if (gone->kept.count == 0)
        return true;
    uint32_t waits = target_of(gone, &pair->second), behind = target_of(gone, &pair->first);
    return !waited(gone, waits, behind, pair) && !waited(gone, waits, pair->first.stream, pair);
}

bool gone_edge(const struct gone *gone, const struct edge *edge)
{
    uint32_t ignored;
    return edge->verdict == VERDICT_LOAD_BEARING &&
           (gone->incomplete || id_map_get(&gone->calls, call_key(edge->to.ticks, edge->to.thread), &ignored)) &&
           gone_pair(gone, &edge->pair);
}

void gone_free(struct gone *gone)
{
    id_map_free(&gone->calls);
    id_map_free(&gone->kept_by);
    free(gone->kept.items);
    *gone = (struct gone){0};
}
