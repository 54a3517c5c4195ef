/* SPDX-License-Identifier: Apache-2.0
 *
 * For which copies and memsets the host waits. Asked before the call, when its footprint is known.
 */
#ifndef PTDS_BLOCKS_HOST_H
#define PTDS_BLOCKS_HOST_H

#include "interpose/state/call.h"

/* Whether the synchronous form of this copy or memset returns only when the work is done: copies with host memory on a
 * side, memsets of host memory, and where the program has asked for it (SYNC_MEMOPS). Unknown memory counts as host
 * memory: waiting is always right. May ask the driver for the context's flags. */
int blocks_host(const struct call *C);

/* Whether the driver makes the host wait for the stream in any form of the call: copies to plain host memory, also those of
 * a graph, copies within host memory, large ones from plain host memory. */
int blocks_host_always(const struct call *C);

/* Of a call for which blocks_host_always holds: whether its work is done when the call is back. */
int blocks_host_is_done(const struct call *C);

/* api.def's columns: a context has these flags, or is about to; and after the call that made a context with these flags. */
void blocks_host_context_flags(unsigned flags);
void blocks_host_context_made(struct call *C, unsigned flags);

#endif
