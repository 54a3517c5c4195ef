/* SPDX-License-Identifier: Apache-2.0
 *
 * Hands each implicit order on. Called by the verdict engine during a pass; rules get those that the report is about. Must
 * cost little: there is one for nearly every call of some programs.
 */
#include "analysis/report/pass/give_edges.h"

static void give_edge(struct edge_sink *sink, const struct edge *edge)
{
    struct give_edges *give = (struct give_edges *)(void *)sink; /* its first member */
    struct report *report = give->report;
    report->edges.sink.edge(&report->edges.sink, edge);
    for (uint64_t rules = edge_table_counts(&report->edges, edge) ? report->of_edges : 0; rules != 0; rules &= rules - 1) {
        struct rule_run *run = &report->runs[__builtin_ctzll(rules)];
        run->rule->on_edge(run, edge);
    }
    if (give->other != NULL)
        give->other->edge(give->other, edge);
}

struct edge_sink *give_edges_begin(struct give_edges *give, struct report *report, struct edge_sink *other)
{
    *give = (struct give_edges){.sink = {.edge = give_edge}, .report = report, .other = other};
    return &give->sink;
}
