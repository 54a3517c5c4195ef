/* SPDX-License-Identifier: Apache-2.0
 *
 * Two operations and one memory, or an operation that may touch any memory: do they conflict, and what orders them?
 */
#ifndef PTDS_ANALYSIS_ORDER_MEMORY_CONFLICTS_H
#define PTDS_ANALYSIS_ORDER_MEMORY_CONFLICTS_H

#include "analysis/order/strands/find_edges.h"
#include "analysis/order/strands/opaque_strands.h"

/* The access `second`, by `by->strand` (with `by->cover`: by the host, after that wait), against an earlier one of another
 * strand that explicit order does not put before it. Finds the edges that order the two, or notes the race. */
enum outcome conflicts_examine(struct verdicts *v, const struct edge_query *by, const struct memory *memory,
                               const struct remembered *first, const struct touch *second);
/* The wait has returned, and the host has learnt of strand `about`: it may use memory that the strand's work used. */
void conflicts_host(struct verdicts *v, uint32_t about, const struct cover *cover);
/* The strand's operation is an event of which the time may be asked for. */
void conflicts_timed(struct verdicts *v, uint32_t strand);
/* The strand's operation, which touches memory of the classes `touches` and may touch all memory of `opaque`, against the
 * milestones of all other strands. */
void conflicts_meet(struct verdicts *v, uint32_t strand, unsigned touches, unsigned opaque);

/* Whether the strand has met the others by fewer classes so far. */
static inline bool conflicts_met_less(const struct strand *strand, unsigned touches, unsigned opaque)
{
    return ((touches & ~(unsigned)strand->met) | (opaque & ~(unsigned)strand->met_opaque)) != 0;
}
/* As conflicts_meet, and the operation is noted as opaque by `opaque`, if that is not 0. Before milestones_note. Does
 * nothing where the strand has learnt nothing since it last met the others by these classes, which is mostly so. */
static inline void conflicts_opaque(struct verdicts *v, uint32_t at, unsigned touches, unsigned opaque)
{
    const struct strand *strand = strands_at(v, at);
    if (strand->met_at == 0 || strand->grown_at > strand->met_at || strands_at(v, HOST_STRAND)->grown_at > strand->met_at ||
        conflicts_met_less(strand, touches, opaque))
        conflicts_meet(v, at, touches, opaque);
    if (opaque != 0)
        opaque_strands_add(v, at, opaque);
}

#endif
