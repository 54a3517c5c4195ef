/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that several processes or interfaces have: exported, imported, opened by an IPC handle, external, multicast.
 * api.def's columns; they do nothing unless C->footprint is set. All run after the call but shared_memory_closing.
 */
#ifndef PTDS_SHARED_MEMORY_H
#define PTDS_SHARED_MEMORY_H

#include "interpose/state/call.h"

/* Memory of this process that others get: by its handle, or the memories under these addresses. */
void shared_memory_exported_handle(struct call *C, uint64_t handle);
void shared_memory_exported(struct call *C, uint64_t base, uint64_t bytes);

/* The program has set SYNC_MEMOPS to *value, since something reads the memory past the driver: as good as exported. */
void shared_memory_synchronous(struct call *C, const void *value, uint64_t base);

/* *handle is physical memory that another process may have exported, or this one. */
void shared_memory_imported(struct call *C, const void *handle);

/* Multicast: `memory` is bound to the object, or with NULL the memory behind the handle. */
void shared_memory_bound(struct call *C, CUmemGenericAllocationHandle object, struct memory *memory, uint64_t handle);

/* Memory of another process is open at *pointer, perhaps once more. */
void shared_memory_opened(struct call *C, const CUdeviceptr *pointer);

/* Before and after the call that closes it once. */
void shared_memory_closing(struct call *C, CUdeviceptr base);
void shared_memory_closed(struct call *C, CUdeviceptr base);

/* External memory, as a buffer at *pointer or as an array. */
void shared_memory_external_buffer(struct call *C, const CUdeviceptr *pointer, CUexternalMemory external,
                                   const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *about);
void shared_memory_external_array(struct call *C, const CUmipmappedArray *array, CUexternalMemory external);

/* In a forked child: nothing is open. */
void shared_memory_after_fork(void);

#endif
