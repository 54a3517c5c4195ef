/* SPDX-License-Identifier: Apache-2.0
 *
 * api.def's columns for executable graphs: what their nodes touch, all together.
 */
#ifndef PTDS_GRAPHS_H
#define PTDS_GRAPHS_H

#include "interpose/state/call.h"

void objects_graph_exec(struct call *C, const CUgraphExec *exec, CUgraph graph, uint64_t flags);
void objects_graph_gone(struct call *C, CUgraphExec exec);
void fp_graph(struct call *C, CUgraphExec exec);

/* A node that allocates: its memory has an address from here on. */
void graphs_added_memory(struct call *C, const CUDA_MEM_ALLOC_NODE_PARAMS *params);
void graphs_added_node(struct call *C, const CUgraphNodeParams *params);

/* Before a node becomes one that records the event or waits for it: a launch does so from then on, whichever graph it is
 * in. */
void graphs_record_event(CUevent event);
void graphs_await_event(CUevent event);
void graphs_about_events(const CUgraphNodeParams *params);

/* The executable graph has been changed: it touches this, too. */
void graphs_updated(struct call *C, CUgraphExec exec, CUgraph graph);
void graphs_set_kernel(struct call *C, CUgraphExec exec, CUfunction function, CUkernel kernel, void **params, void **extra);
void graphs_set_copy(struct call *C, CUgraphExec exec, const CUDA_MEMCPY3D *copy);
void graphs_set_memset(struct call *C, CUgraphExec exec, const CUDA_MEMSET_NODE_PARAMS *params);
void graphs_set_node(struct call *C, CUgraphExec exec, const CUgraphNodeParams *params);

void graphs_after_fork(void);

#endif
