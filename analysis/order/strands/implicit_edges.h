/* SPDX-License-Identifier: Apache-2.0
 *
 * What an operation comes after by implicit order, as edges.
 */
#ifndef PTDS_ANALYSIS_ORDER_STRANDS_IMPLICIT_EDGES_H
#define PTDS_ANALYSIS_ORDER_STRANDS_IMPLICIT_EDGES_H

#include "analysis/order/engine/engine.h"

/* The call at hand is about to be put on the strand: makes the edges to it, and the strand learns over them. */
void implicit_edges_join(struct verdicts *v, uint32_t strand);

#endif
