// SPDX-License-Identifier: Apache-2.0
//
// Memories of all kinds that a program can have. Called by runner_acts.c.

#include <stdlib.h>
#include <string.h>

#include "tests/oracle/runner.h"

enum { CHUNK = 2 << 20, PAGE = 4096 };

static int is(const char *kind, const char *other)
{
    return strcmp(kind, other) == 0;
}

static void pinned(struct memory *memory, size_t bytes, unsigned flags)
{
    void *host;
    CU(cuMemHostAlloc(&host, bytes, flags));
    CU(cuMemHostGetDevicePointer(&memory->device, host, 0));
    memory->host = host;
}

static void registered(struct memory *memory, size_t bytes)
{
    void *host = NULL;
    if (posix_memalign(&host, PAGE, (bytes + PAGE - 1) / PAGE * PAGE) != 0)
        runner_stop("no memory for", memory->name);
    CU(cuMemHostRegister(host, bytes, CU_MEMHOSTREGISTER_DEVICEMAP));
    CU(cuMemHostGetDevicePointer(&memory->device, host, 0));
    memory->host = host;
}

// Half of it at the end of one chunk, half at the beginning of the next.
static void two_chunks(struct memory *memory, size_t bytes)
{
    CUmemGenericAllocationHandle chunk;
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr range;
    CU(cuMemAddressReserve(&range, 2 * CHUNK, 0, 0, 0));
    for (unsigned i = 0; i < 2; i++) {
        CU(cuMemCreate(&chunk, CHUNK, &properties, 0));
        CU(cuMemMap(range + i * CHUNK, CHUNK, 0, chunk, 0));
        CU(cuMemRelease(chunk));
    }
    CU(cuMemSetAccess(range, 2 * CHUNK, &access, 1));
    memory->device = range + CHUNK - bytes / 2;
}

void memory_make(struct memory *memory, const char *kind)
{
    size_t bytes = memory->words * 4;
    strcpy(memory->kind, kind);
    if (is(kind, "device")) {
        CU(cuMemAlloc(&memory->device, bytes));
    } else if (is(kind, "managed")) {
        CU(cuMemAllocManaged(&memory->device, bytes, CU_MEM_ATTACH_GLOBAL));
        memory->host = (uint32_t *)(uintptr_t)memory->device;
    } else if (is(kind, "chunks")) {
        two_chunks(memory, bytes);
    } else if (is(kind, "registered")) {
        registered(memory, bytes);
    } else {
        pinned(memory, bytes, is(kind, "mapped") ? CU_MEMHOSTALLOC_DEVICEMAP : 0);
    }
}

void memory_free(struct memory *memory)
{
    if (is(memory->kind, "device") || is(memory->kind, "managed"))
        CU(cuMemFree(memory->device));
    else if (is(memory->kind, "pinned") || is(memory->kind, "mapped"))
        CU(cuMemFreeHost(memory->host));
    else
        runner_stop("is not freed", memory->name);
    memory->name[0] = 0;
}
