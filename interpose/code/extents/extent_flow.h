/* SPDX-License-Identifier: Apache-2.0
 *
 * Which number each register has at each place of a kernel, as a node, and which comparisons are known to hold there.
 */
#ifndef PTDS_CODE_EXTENT_FLOW_H
#define PTDS_CODE_EXTENT_FLOW_H

#include "interpose/code/extents/extent_nodes.h"
#include "interpose/code/form.h"
#include "interpose/code/solve.h"

/* A way from one block to another. guard: taken where that predicate holds, as in struct guarded; 0: always, or nobody
 * knows when. */
struct flow_edge {
    uint32_t from, to, guard;
    uint64_t holds; /* comparisons that hold on it, a bit each */
};

/* Memory that an instruction accesses. */
struct flow_access {
    node_id address;
    uint32_t bytes;
    uint64_t holds;
};

enum { FLOW_COMPARISONS = 64 };
struct extent_flow {
    const struct form *form;
    struct arena *arena;
    struct nodes nodes;
    const struct block *block; /* the solver's */
    uint32_t blocks, slots;    /* slots: registers, then predicates */
    uint8_t *bits;             /* of each register; 0: nothing is known of what is written to it */
    node_id **out;             /* of each block: of each slot where it ends; NULL: not reached */
    uint64_t **is_phi;         /* of each block: a bit for each slot that has several numbers there */
    uint64_t *out_holds;
    struct flow_edge *edge;
    uint32_t edges;
    node_id comparison[FLOW_COMPARISONS];
    uint32_t comparisons;
    struct flow_access *access; /* of each step that accesses memory by an address that has a meaning; bytes 0: not */
    node_id *now;               /* while a block is gone through */
    uint64_t holds;
};

/* Goes through the kernel. 0: it is too large, calls functions, or there is no memory. */
int extent_flow(struct extent_flow *flow, const struct solver *solver);

#endif
