/* SPDX-License-Identifier: Apache-2.0
 *
 * api.def's columns for memory that is mapped, shared with other processes, or imported.
 */
#ifndef PTDS_MAPPINGS_H
#define PTDS_MAPPINGS_H

#include "interpose/state/call.h"

/* Physical memory that lies with the host, or that the host may touch: it is the host's. */
void mappings_created(struct call *C, const CUmemGenericAllocationHandle *handle, size_t bytes,
                      const CUmemAllocationProp *about);
void mappings_allowed(struct call *C, uint64_t base, uint64_t bytes, const CUmemAccessDesc *list, size_t count);

/* Before the call: access may be taken away. */
void fp_access(struct call *C, uint64_t base, uint64_t bytes, const CUmemAccessDesc *list, size_t count);

/* The host, or others, can touch the memory from now on, and what it is a part of. */
void mappings_show(struct call *C, struct memory *memory);

/* What C touches is about to go: that is told, and is no work of the call's. */
void mappings_leave(struct call *C);

void mappings_mapped(struct call *C, CUdeviceptr base, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle);
void fp_unmap(struct call *C, CUdeviceptr base, size_t bytes);
void mappings_unmapped(struct call *C);

/* A physical allocation's or an external memory's handle. */
void fp_release(struct call *C, uint64_t handle);
void mappings_released(struct call *C, uint64_t handle);
/* By an address where it is mapped. */
void mappings_retained(struct call *C, const CUmemGenericAllocationHandle *handle, uint64_t address);

/* Memory of this process that others get: by its handle, or the memories under these addresses. */
void mappings_exported_handle(struct call *C, uint64_t handle);
void mappings_exported(struct call *C, uint64_t base, uint64_t bytes);
/* SYNC_MEMOPS, for who reads the memory past the driver: it is as good as exported. */
void mappings_synchronous(struct call *C, const void *value, uint64_t base);
void mappings_imported(struct call *C, const void *handle);
/* memory NULL: that behind the handle. */
void mappings_bound(struct call *C, CUmemGenericAllocationHandle object, struct memory *memory, uint64_t handle);

/* The allocation that the address lies in, by the driver. 0: it does not say; then kernels may touch anything from here on,
 * since their pointers into it cannot be told. */
int mappings_ask_range(uint64_t *base, uint64_t *bytes);

void mappings_opened(struct call *C, const CUdeviceptr *pointer);
void fp_close(struct call *C, CUdeviceptr base);
void mappings_closed(struct call *C, CUdeviceptr base);

void mappings_external_buffer(struct call *C, const CUdeviceptr *pointer, CUexternalMemory external,
                              const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *about);
void mappings_external_array(struct call *C, const CUmipmappedArray *array, CUexternalMemory external);

void mappings_after_fork(void);

#endif
