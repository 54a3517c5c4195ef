/* SPDX-License-Identifier: Apache-2.0
 *
 * Which pools have memory of the host's: what lies there, and managed memory. Called by the wrappers. Must not ask the
 * driver anything while a capture is open.
 */
#include "interpose/footprint/allocations/pools.h"

#include "interpose/driver/driver.h"
#include "interpose/footprint/allocations/allocations.h"
#include "interpose/footprint/allocations/physical.h"
#include "interpose/footprint/memories/lookup.h"
#include "interpose/state/capture.h"
#include "interpose/state/map.h"

enum pool_memory { POOL_UNKNOWN, POOL_DEVICES, POOL_HOSTS };

static struct map pools; /* CUmemoryPool -> enum pool_memory */

void pools_made(struct call *C, const CUmemoryPool *pool, const CUmemPoolProps *about)
{
    if (!C->footprint || C->result != CUDA_SUCCESS || !pool || !about)
        return;
    int hosts = about->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || physical_at_host(&about->location);
    map_set(&pools, (uint64_t)*pool, hosts ? POOL_HOSTS : POOL_DEVICES);
}

/* Where the call fails, the driver is asked about the pool, as about any that was not seen being made. */
void pools_going(struct call *C, CUmemoryPool pool)
{
    if (C->footprint)
        map_remove(&pools, (uint64_t)pool);
}

/* Of a pool that was not seen being made, the driver is asked by an address of its memory. Where the driver does not say,
 * the memory may be the host's. */
static enum pool_memory ask(CUdeviceptr address)
{
    unsigned type = 0, managed = 0;
    if (capture_any() || !driver.cuPointerGetAttribute ||
        ASK(driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address)) != CUDA_SUCCESS ||
        ASK(driver.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address)) != CUDA_SUCCESS)
        return POOL_UNKNOWN;
    return type == CU_MEMORYTYPE_DEVICE && !managed ? POOL_DEVICES : POOL_HOSTS;
}

static int is_hosts(CUmemoryPool pool, CUdeviceptr address)
{
    enum pool_memory known = (enum pool_memory)map_get(&pools, (uint64_t)pool);
    if (known == POOL_UNKNOWN && (known = ask(address)) != POOL_UNKNOWN)
        map_set(&pools, (uint64_t)pool, known);
    return known != POOL_DEVICES;
}

void pools_allocated(struct call *C, const CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool)
{
    allocations_made(C, PTDS_MEMORY_POOL, pointer, sizeof *pointer, bytes);
    if (!C->footprint || C->result != CUDA_SUCCESS || !pointer || !is_hosts(pool, *pointer))
        return;
    struct memory *memory = lookup_range(C->thread, *pointer).memory;
    if (memory)
        memory->host |= MEMORY_HOSTS | 1;
}

void pools_after_fork(void)
{
    map_reset(&pools);
}
