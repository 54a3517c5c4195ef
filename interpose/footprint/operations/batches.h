/* SPDX-License-Identifier: Apache-2.0
 *
 * The footprints of calls that bring a list of copies, ranges or arrays. api.def's column `before`; they do nothing unless
 * C->footprint is set. A list has `count` elements, and need not be readable: then the driver refuses the call.
 */
#ifndef PTDS_BATCHES_H
#define PTDS_BATCHES_H

#include "interpose/state/call.h"

void batches_copy(struct call *C, const CUdeviceptr *destinations, const CUdeviceptr *sources, const size_t *sizes,
                  size_t count);
void batches_copy_3d(struct call *C, const CUDA_MEMCPY3D_BATCH_OP *ops, size_t count);

/* Prefetches (writes 0), and discards, after which the content of the ranges is not known (writes 1). */
void batches_ranges(struct call *C, const CUdeviceptr *addresses, const size_t *sizes, size_t count, int writes);

/* Physical memory becomes part of arrays. */
void batches_map_arrays(struct call *C, const CUarrayMapInfo *list, size_t count);

void batches_decompress(struct call *C, const CUmemDecompressParams *params, size_t count);

#endif
