/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps single edges to draw. Called once for each edge of a trace, so it must stay cheap and bounded.
 */
#include "analysis/report/edges/edge_list.h"

#include <stdlib.h>

/* A place for an edge that says more than one that is not needed. NULL: there is none of these left. */
static struct edge *give_up_one(struct edge_list *list)
{
    while (list->next_given_up < list->kept.count)
        if (list->kept.items[list->next_given_up++].verdict == VERDICT_NOT_NEEDED)
            return &list->kept.items[list->next_given_up - 1];
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
    if (edge->verdict != VERDICT_NOT_NEEDED)
        place = give_up_one(list);
    if (place != NULL)
        *place = *edge;
}

static void take(struct edge_sink *sink, const struct edge *edge)
{
    struct edge_list *list = (struct edge_list *)sink;
    if (edge->kind >= EDGE_KINDS || edge->verdict >= VERDICTS || edge->reason >= VERDICT_REASONS)
        return;
    keep(list, edge);
}

void edge_list_begin(struct edge_list *list)
{
    *list = (struct edge_list){.sink = {.edge = take}};
}

void edge_list_end(struct edge_list *list)
{
    free(list->kept.items);
    *list = (struct edge_list){0};
}
