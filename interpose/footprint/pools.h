/* SPDX-License-Identifier: Apache-2.0
 *
 * api.def's columns for pools of stream-ordered memory.
 */
#ifndef PTDS_POOLS_H
#define PTDS_POOLS_H

#include "interpose/state/call.h"

void pools_made(struct call *C, const CUmemoryPool *pool, const CUmemPoolProps *about);
/* Before the call: afterwards the handle may be another's at once. */
void fp_pool_goes(struct call *C, CUmemoryPool pool);
void pools_allocated(struct call *C, const CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool);

void pools_after_fork(void);

#endif
