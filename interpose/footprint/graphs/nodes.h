/* SPDX-License-Identifier: Apache-2.0
 *
 * What the nodes of a graph touch, all together. For graphs.c.
 */
#ifndef PTDS_NODES_H
#define PTDS_NODES_H

#include "interpose/footprint/pointers/follow.h"
#include "interpose/state/call.h"

struct nodes {
    uint32_t kernels; /* some are kernels */
    uint32_t unseen;  /* some may put pointers into any memory */
    uint32_t to_host; /* a copy is to plain host memory: the host waits inside the driver when it launches the graph */
    struct touched touched;
    struct follow_list follows;        /* what kernels reach through it, each launch has to ask anew */
    uint64_t by_kernels;               /* a bit for each of touched.at: a kernel may write there */
    uint32_t memory_uid[TOUCHED_MOST]; /* of each of touched.at; the memory has another one by now: it is gone */
};

static inline void nodes_clear(struct nodes *nodes)
{
    nodes->kernels = nodes->unseen = nodes->to_host = 0;
    nodes->by_kernels = 0;
    follow_clear(&nodes->follows);
    nodes->touched.count = 0;
    nodes->touched.opaque = nodes->touched.host = 0;
}

/* Each adds what that touches: all of a graph, or one node with these parameters. C: the call that instantiates or changes
 * the graph. nodes_add asks the driver, unless a capture is open: then the graph is opaque. */
void nodes_add(struct call *C, struct nodes *nodes, CUgraph graph);
void nodes_add_kernel(struct call *C, struct nodes *nodes, CUfunction function, void **params, void **extra);
void nodes_add_copy(struct call *C, struct nodes *nodes, const CUDA_MEMCPY3D *copy);
void nodes_add_memset(struct call *C, struct nodes *nodes, const CUDA_MEMSET_NODE_PARAMS *params);
void nodes_add_params(struct call *C, struct nodes *nodes, const CUgraphNodeParams *params);

#endif
