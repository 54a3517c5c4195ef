/* SPDX-License-Identifier: Apache-2.0
 *
 * Implicit edges that fail a check by their verdict. Fed by whatever judges edges, for cmd/check.c.
 */
#include <stdlib.h>

#include "analysis/check/check.h"

static bool same_end(const struct edge_end *one, const struct edge_end *two)
{
    return one->stack == two->stack && one->api == two->api;
}

static void take(struct edge_sink *sink, const struct edge *edge)
{
    struct edges_check *check = (struct edges_check *)sink;
    if (edge->verdict >= VERDICTS || !check->conditions->verdict[edge->verdict])
        return;
    for (size_t i = check->breaks.count; i-- > 0 && check->breaks.items[i].process == check->process;) {
        struct edge_break *one = &check->breaks.items[i];
        if (one->edge.kind == edge->kind && one->edge.verdict == edge->verdict && same_end(&one->edge.from, &edge->from) &&
            same_end(&one->edge.to, &edge->to)) {
            one->count++;
            return;
        }
    }
    if (check->breaks.count >= FINDING_LIMIT || !TABLE_ADD(&check->breaks)) {
        check->out_of_memory = true;
        return;
    }
    *TABLE_LAST(&check->breaks) = (struct edge_break){.edge = *edge, .process = check->process, .count = 1};
}

void edges_begin(struct edges_check *check, const struct conditions *conditions)
{
    *check = (struct edges_check){.sink = {.edge = take}, .conditions = conditions};
}

void edges_free(struct edges_check *check)
{
    free(check->breaks.items);
    *check = (struct edges_check){0};
}
