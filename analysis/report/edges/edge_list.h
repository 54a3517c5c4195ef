/* SPDX-License-Identifier: Apache-2.0
 *
 * Single implicit edges to draw, fed through its sink by an edge feed. Bounded: beyond EDGES_KEPT they are counted and no
 * longer kept, those not needed given up first.
 */
#ifndef PTDS_ANALYSIS_REPORT_EDGES_EDGE_LIST_H
#define PTDS_ANALYSIS_REPORT_EDGES_EDGE_LIST_H

#include "analysis/order/engine/edge.h"
#include "analysis/base/table.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { EDGES_KEPT = 100000 };

struct edge_list {
    struct edge_sink sink; /* first */
    TABLE_OF(struct edge) kept;
    uint64_t dropped;     /* came and are not in `kept` */
    size_t next_given_up; /* where to look for one that is not needed, to give up */
};

void edge_list_begin(struct edge_list *list);

void edge_list_end(struct edge_list *list);

#ifdef __cplusplus
}
#endif
#endif
