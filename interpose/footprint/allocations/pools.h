/* SPDX-License-Identifier: Apache-2.0
 *
 * Pools of stream-ordered memory: whether their memory is the host's. api.def's columns; they do nothing unless
 * C->footprint is set.
 */
#ifndef PTDS_POOLS_H
#define PTDS_POOLS_H

#include "interpose/state/call.h"

/* After the call: *pool is a new pool. */
void pools_made(struct call *C, const CUmemoryPool *pool, const CUmemPoolProps *about);

/* Before the call that destroys the pool: afterwards the handle may be another's at once. */
void pools_going(struct call *C, CUmemoryPool pool);

/* After the call: `bytes` bytes of the pool begin to exist at *pointer. May ask the driver about the pool, never while a
 * capture is open. */
void pools_allocated(struct call *C, const CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool);

/* In a forked child: no pool is known. */
void pools_after_fork(void);

#endif
