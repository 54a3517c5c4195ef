/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs that can be launched, and what their nodes touch, all together. api.def's columns; they do nothing unless
 * C->footprint is set.
 */
#ifndef PTDS_GRAPHS_H
#define PTDS_GRAPHS_H

#include "interpose/state/call.h"

/* After the call: *exec is the graph, instantiated with these flags. */
void graphs_instantiated(struct call *C, const CUgraphExec *exec, CUgraph graph, uint64_t flags);

/* Before the call that destroys it. */
void graphs_gone(struct call *C, CUgraphExec exec);

/* Before the call that launches it. */
void graphs_launch(struct call *C, CUgraphExec exec);

/* After the call: a node was added; the memory of one that allocates has an address from here on. */
void graphs_added_memory(struct call *C, const CUDA_MEM_ALLOC_NODE_PARAMS *params);
void graphs_added_node(struct call *C, const CUgraphNodeParams *params);

/* Before a node becomes one that records the event or waits for it: a launch does so from then on, whichever graph it is
 * in. They tell the guard, whether or not C->footprint is set. */
void graphs_record_event(CUevent event);
void graphs_await_event(CUevent event);
void graphs_about_events(const CUgraphNodeParams *params);

/* After the call that changed the executable graph: it touches this, too. */
void graphs_updated(struct call *C, CUgraphExec exec, CUgraph graph);
void graphs_set_kernel(struct call *C, CUgraphExec exec, CUfunction function, CUkernel kernel, void **params, void **extra);
void graphs_set_copy(struct call *C, CUgraphExec exec, const CUDA_MEMCPY3D *copy);
void graphs_set_memset(struct call *C, CUgraphExec exec, const CUDA_MEMSET_NODE_PARAMS *params);
void graphs_set_node(struct call *C, CUgraphExec exec, const CUgraphNodeParams *params);

/* In a forked child: no graph is known. */
void graphs_after_fork(void);

#endif
