/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory behind a handle: physical allocations (cuMemCreate), imported ones, external memory. The handle holds the memory
 * until it is released; each place where it is mapped (mappings.h) holds it, too. api.def's columns; they do nothing unless
 * C->footprint is set.
 */
#ifndef PTDS_PHYSICAL_H
#define PTDS_PHYSICAL_H

#include "interpose/state/call.h"

/* The memory behind a handle, made when it is first asked for; the handle holds it. base, bytes: its own addresses, which
 * are those of its first mapping. NULL: there is no memory to remember it. */
struct memory *physical_memory(uint64_t handle, enum ptds_memory_kind kind, uint64_t base, uint64_t bytes);

/* Whether memory at that place is the host's. */
static inline int physical_at_host(const CUmemLocation *place)
{
    return place->type == CU_MEM_LOCATION_TYPE_HOST || place->type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
           place->type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

/* After the call: *handle is new physical memory. */
void physical_created(struct call *C, const CUmemGenericAllocationHandle *handle, size_t bytes,
                      const CUmemAllocationProp *about);

/* Before and after the call that releases a physical allocation's or an external memory's handle. */
void physical_releasing(struct call *C, uint64_t handle);
void physical_released(struct call *C, uint64_t handle);

/* After the call: *handle is a handle, perhaps once more, of what is mapped at the address. */
void physical_retained(struct call *C, const CUmemGenericAllocationHandle *handle, uint64_t address);

/* In a forked child: no handle is known. */
void physical_after_fork(void);

#endif
