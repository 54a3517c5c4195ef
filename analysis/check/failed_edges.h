/* SPDX-License-Identifier: Apache-2.0
 *
 * The implicit orders of a trace whose verdict is among those that a check fails on.
 */
#ifndef PTDS_ANALYSIS_CHECK_FAILED_EDGES_H
#define PTDS_ANALYSIS_CHECK_FAILED_EDGES_H

#include "analysis/check/conditions.h"
#include "analysis/base/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Implicit orders between the same two call sites, with a verdict that fails. */
struct failed_edge {
    const struct edge *edge; /* one of them, the report's */
    enum verdict verdict;
    size_t process;
    uint64_t count;
};

struct failed_edges {
    TABLE_OF(struct failed_edge) breaks;
    uint64_t ungrouped; /* edges whose places the report does not tell apart */
    size_t unjudged;    /* processes whose edges were not analysed */
};

/* Takes the failing orders of one process; `process` is its position among the traces. False without memory. */
bool failed_edges_look(struct failed_edges *check, const struct conditions *conditions, const struct report *report,
                       size_t process);

void failed_edges_free(struct failed_edges *check);

#ifdef __cplusplus
}
#endif
#endif
