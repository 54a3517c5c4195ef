/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts and keeps edges for reports. Called once for each edge of a trace, so it must stay cheap and bounded.
 */
#include "analysis/edge_list.h"

#include <stdlib.h>
#include <string.h>

static uint64_t site_key(uint32_t stack, uint32_t api, bool twin)
{
    return stack | (uint64_t)(api & 0xffff) << 32 | (uint64_t)twin << 48;
}

static void count_site(struct edge_list *list, const struct edge *edge)
{
    uint64_t key = site_key(edge->to.stack, edge->to.api, edge->to.twin != 0);
    uint32_t at;
    if (!id_map_get(&list->site_at, key, &at)) {
        at = (uint32_t)list->sites.count;
        if (at >= EDGE_SITES || !TABLE_ADD(&list->sites)) {
            list->unsited++;
            return;
        }
        *TABLE_LAST(&list->sites) = (struct edge_site){{0}};
        if (!id_map_put(&list->site_at, key, at)) {
            list->sites.count--;
            list->unsited++;
            return;
        }
    }
    list->sites.items[at].verdicts[edge->verdict]++;
}

/* A place for an edge that says more than a false one does. NULL: there is no false one left. */
static struct edge *give_up_a_false_one(struct edge_list *list)
{
    while (list->next_false < list->kept.count)
        if (list->kept.items[list->next_false++].verdict == VERDICT_FALSE)
            return &list->kept.items[list->next_false - 1];
    return NULL;
}

static void keep(struct edge_list *list, const struct edge *edge)
{
    struct edge *place = NULL;
    if (list->kept.count < EDGES_KEPT && TABLE_ADD(&list->kept)) {
        *TABLE_LAST(&list->kept) = *edge;
        return;
    }
    list->dropped++;
    if (edge->verdict != VERDICT_FALSE)
        place = give_up_a_false_one(list);
    if (place != NULL)
        *place = *edge;
}

static void take(struct edge_sink *sink, const struct edge *edge)
{
    struct edge_list *list = (struct edge_list *)sink;
    if (edge->kind >= EDGE_KINDS || edge->verdict >= VERDICTS || edge->reason >= VERDICT_REASONS)
        return;
    list->total++;
    list->by_verdict[edge->verdict]++;
    list->by_kind[edge->kind]++;
    if (edge->verdict == VERDICT_UNKNOWN)
        list->by_reason[edge->reason]++;
    count_site(list, edge);
    keep(list, edge);
}

void edge_list_begin(struct edge_list *list)
{
    *list = (struct edge_list){.sink = {.edge = take}};
}

bool edge_list_site(const struct edge_list *list, uint32_t stack, uint32_t api, bool twin, uint64_t verdicts[VERDICTS])
{
    uint32_t at;
    if (!id_map_get(&list->site_at, site_key(stack, api, twin), &at))
        return false;
    memcpy(verdicts, list->sites.items[at].verdicts, sizeof list->sites.items[at].verdicts);
    return true;
}

void edge_list_end(struct edge_list *list)
{
    free(list->kept.items);
    free(list->sites.items);
    id_map_free(&list->site_at);
    *list = (struct edge_list){0};
}
