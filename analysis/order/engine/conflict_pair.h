/* SPDX-License-Identifier: Apache-2.0
 *
 * Two accesses of a memory: whether they conflict, and how reports show them.
 */
#ifndef PTDS_ANALYSIS_ORDER_ENGINE_CONFLICT_PAIR_H
#define PTDS_ANALYSIS_ORDER_ENGINE_CONFLICT_PAIR_H

#include "analysis/order/engine/engine.h"

struct access_pair {
    const struct memory *memory;
    const struct remembered *first;
    const struct touch *second; /* by the call at hand */
};

/* Needed: both ranges are known, they overlap, and one access surely writes (copies, memsets, frees). Maybe needed: so it
 * may be; *reason says what is not known. Not needed: no conflict. */
enum verdict conflict_pair_judge(const struct touch *a, const struct touch *b, enum verdict_reason *reason);
void conflict_pair_describe(const struct verdicts *v, const struct access_pair *accesses, struct edge_pair *pair);

#endif
