/* SPDX-License-Identifier: Apache-2.0
 *
 * Examines a new access against those that are remembered of its memory.
 */
#ifndef PTDS_ANALYSIS_ORDER_MEMORY_ACCESS_CHECK_H
#define PTDS_ANALYSIS_ORDER_MEMORY_ACCESS_CHECK_H

#include "analysis/order/strands/find_edges.h"

/* An access with a known end, by `by->strand` (with `by->cover`: by the host, after that wait). Drops accesses of the same
 * strand that it makes superfluous. */
void access_check_range(struct verdicts *v, const struct edge_query *by, struct memory *memory, const struct touch *touch);
/* An open-ended access; `use`: the strand's, of this memory. Returns the worst outcome. APART or HELD: the others' accesses
 * so far need no second examination, whatever the strand learns later, for the first arrival of each stays the first. */
enum outcome access_check_open_ended(struct verdicts *v, const struct edge_query *by, struct memory *memory,
                                     struct strand_use *use, const struct touch *touch);

#endif
