/* SPDX-License-Identifier: Apache-2.0
 *
 * What reports need of the implicit edges: exact counts, counts by the call site that waits, and single edges to draw. Fed
 * through its sink while a trace is analysed; a report without one says "not analysed". Bounded: beyond EDGES_KEPT single
 * edges are counted and no longer kept, false ones given up first.
 */
#ifndef PTDS_ANALYSIS_EDGE_LIST_H
#define PTDS_ANALYSIS_EDGE_LIST_H

#include "analysis/edge.h"
#include "analysis/table.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { EDGES_KEPT = 100000, EDGE_SITES = 16384 };

/* The edges that end at one call site. */
struct edge_site {
    uint64_t verdicts[VERDICTS];
};

struct edge_list {
    struct edge_sink sink; /* first */
    uint64_t total;
    uint64_t by_verdict[VERDICTS], by_kind[EDGE_KINDS], by_reason[VERDICT_REASONS];
    TABLE_OF(struct edge) kept;
    uint64_t dropped;  /* counted above, not in `kept` */
    size_t next_false; /* where to look for a false one to give up */
    TABLE_OF(struct edge_site) sites;
    struct id_map site_at;
    uint64_t unsited; /* edges of sites beyond EDGE_SITES */
};

void edge_list_begin(struct edge_list *list);

/* The verdicts of the edges that end at calls of this entry point and stack; false if there are none. */
bool edge_list_site(const struct edge_list *list, uint32_t stack, uint32_t api, bool twin, uint64_t verdicts[VERDICTS]);

void edge_list_end(struct edge_list *list);

#ifdef __cplusplus
}
#endif
#endif
