/* SPDX-License-Identifier: Apache-2.0
 *
 * The implicit edges of a report: counted by kind, verdict and reason, and added up by the two places in the program that
 * they order. Filled by report.c while the calls go by; read by the writers.
 */
#ifndef PTDS_ANALYSIS_REPORT_EDGES_EDGE_TABLE_H
#define PTDS_ANALYSIS_REPORT_EDGES_EDGE_TABLE_H

#include "analysis/base/id_map.h"
#include "analysis/order/engine/edge.h"
#include "analysis/findings/finding.h"
#include "analysis/base/table.h"
#include "analysis/order/verdict.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { EDGE_GROUPS_MOST = 4096, EDGE_SITES_MOST = 16384, EDGES_NEAR = 32 };

/* Edges of one kind between the same two call sites. */
struct edge_group {
    uint64_t counts[VERDICTS];
    struct edge example; /* one that is gone and was needed, else a needed one, else one maybe needed; kind, from and to are
                            its own */
};

struct edge_table {
    struct edge_sink sink;           /* for verdicts_begin; the table must not move while it is in use */
    const struct selected *selected; /* an edge counts if the end that waits is of this part; NULL: all do */
    uint64_t counts[EDGE_KINDS][VERDICTS];
    uint64_t reasons[VERDICT_REASONS];
    uint64_t lost[LOSS_DEFINITE + 1];   /* by enum edge_loss */
    uint64_t direct;                    /* of the needed orders between operations: edge->direct */
    TABLE_OF(struct edge_group) groups; /* after edge_table_finish most telling first: needed, then by count */
    uint64_t ungrouped;                 /* edges counted above but in no group: more than EDGE_GROUPS_MOST, or no memory */
    struct edge_site {
        uint64_t counts[VERDICTS], timed, given_up, may_be_given_up;
    } * sites;
    size_t site_count, site_room;
    struct id_map group_by_key, site_by_key;
    /* Found lately, for edges come in crowds that are alike: positions + 1; 0: none. */
    uint32_t near_group[EDGES_NEAR];
    struct edge_near_site {
        uint64_t key;
        uint32_t at;
    } near_site[EDGES_NEAR];
    struct verdict_totals totals;
    bool analysed; /* false: nobody judged edges, and nothing above says anything */
};

void edge_table_begin(struct edge_table *table);
void edge_table_finish(struct edge_table *table);
void edge_table_free(struct edge_table *table);
/* Whether the report is about the edge; before edge_table_finish. */
bool edge_table_counts(const struct edge_table *table, const struct edge *edge);
/* How many implicit orders, of all kinds, have the verdict. */
uint64_t edge_table_count(const struct edge_table *table, enum verdict verdict);

/* Gives the finding the verdicts of the implicit orders that end at its call site, or that come from it as a fan-out. */
void edge_table_judge(const struct edge_table *table, struct finding *finding);

#ifdef __cplusplus
}
#endif
#endif
