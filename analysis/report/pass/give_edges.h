/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the implicit orders of a pass go: to the report's table, to the rules, and to whoever else asked.
 */
#ifndef PTDS_ANALYSIS_REPORT_PASS_GIVE_EDGES_H
#define PTDS_ANALYSIS_REPORT_PASS_GIVE_EDGES_H

#include "analysis/report/report.h"

#ifdef __cplusplus
extern "C" {
#endif

struct give_edges {
    struct edge_sink sink; /* first */
    struct report *report;
    struct edge_sink *other;
};

/* The sink for verdicts_begin, which is `give` and must not move until verdicts_end. The report's rules may begin later.
 * other: gets all edges, too; NULL: nobody. */
struct edge_sink *give_edges_begin(struct give_edges *give, struct report *report, struct edge_sink *other);

#ifdef __cplusplus
}
#endif
#endif
