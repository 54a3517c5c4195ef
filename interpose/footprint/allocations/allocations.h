/* SPDX-License-Identifier: Apache-2.0
 *
 * What allocating and freeing calls say of memory. api.def's columns: what is called ..._made and ..._freed runs after the
 * call and looks at its result, ..._freeing before it. They do nothing unless C->footprint is set.
 */
#ifndef PTDS_ALLOCATIONS_H
#define PTDS_ALLOCATIONS_H

#include "interpose/footprint/memories/addresses.h"
#include "interpose/state/call.h"

/* Memory begins to exist. pointer: where the driver put its address, or an array's handle, of pointer_size bytes (4 in
 * CUDA 2.0's functions). bytes: its length; 0 for an array. */
void allocations_made(struct call *C, enum ptds_memory_kind kind, const void *pointer, size_t pointer_size, uint64_t bytes);

/* The same of rows whose pitch, in bytes, the driver put into *pitch. */
void allocations_pitch_made(struct call *C, const void *pointer, size_t pointer_size, const void *pitch, size_t pitch_size,
                            uint64_t height);

/* The same of a node of a graph that allocates. */
void allocations_node_made(struct call *C, uint64_t base, uint64_t bytes);

/* Memory ceases to exist: the memory at `base`, or the array of this handle. op: PTDS_OP_FREE, PTDS_OP_FREE_ASYNC or
 * PTDS_OP_ARRAY_DESTROY. C->leaving is the memory from here on, which the call holds. */
void allocations_freeing(struct call *C, enum ptds_op op, uint64_t base);

/* The same for cuMemFreeAsync; in a capture the memory stays. */
void allocations_freeing_async(struct call *C, uint64_t base, CUstream stream);

/* The memory is gone; or is there again, where the driver refused. */
void allocations_freed(struct call *C);

/* *pointer is the device address, perhaps another one, of the host memory at `host`. */
void allocations_device_pointer(struct call *C, const void *pointer, size_t pointer_size, const void *host);

/* ---- for the other files of this folder ---- */

/* The address or handle of `size` bytes that lies there. */
uint64_t allocations_value(const void *at, size_t size);

/* A new memory that C has made, touches, and records. NULL: there is no memory to remember it. */
struct memory *allocations_add(struct call *C, enum ptds_memory_kind kind, uint64_t base, uint64_t bytes);

/* Notes in C's words, unrecorded, where the leaving memory lay, for allocations_freed. */
void allocations_keep_range(struct call *C, const struct memory_range *range);

/* C's record says that this memory is there from now on. */
void allocations_record(struct call *C, enum ptds_memory_kind kind, uint64_t base, uint64_t bytes, uint32_t uid);

/* ... and besides: the uids of what it is a part of, and of what has the same bytes; 0 none. */
void allocations_record_part(struct call *C, uint32_t of, uint32_t same);

/* For the recorder: whether the memory of an allocation that was recorded is there still. Any thread, no lock. */
int allocations_is_there(const struct ptds_rec_MEMORY *memory);

#endif
