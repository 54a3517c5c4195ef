/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps single edges to draw. Called once for each edge of a trace, so it must stay cheap and bounded.
 */
#include "analysis/report/edge_list.h"

#include <stdlib.h>

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
