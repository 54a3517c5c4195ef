// SPDX-License-Identifier: Apache-2.0
//
// What a random program runs with: streams, events, memories, flags. Made once, put back for each seed. Called by
// random_turns.c.

#include <string.h>

#include "act.h"

enum { BYTES = MEM_WORDS * 4 };

static void find_kernels(void)
{
    CU(cuModuleGetFunction(&world.fill, world.app.module, "fill"));
    CU(cuModuleGetFunction(&world.copy, world.app.module, "copy"));
    CU(cuModuleGetFunction(&world.add, world.app.module, "add"));
    CU(cuModuleGetFunction(&world.spin_add, world.app.module, "spin_add"));
    CU(cuModuleGetFunction(&world.empty, world.app.module, "empty"));
}

static void host_memory(size_t bytes, unsigned flags, uint32_t **at, CUdeviceptr *from_device)
{
    void *address;
    CU(cuMemHostAlloc(&address, bytes, flags));
    CU(cuMemHostGetDevicePointer(from_device, address, 0));
    *at = address;
}

void act_start(void)
{
    app_start(&world.app);
    find_kernels();
    for (unsigned mem = 0; mem < POOLED; mem++)
        CU(cuMemAlloc(&world.memory[mem], BYTES));
    for (unsigned mem = PINNED; mem < MEMS; mem++)
        host_memory(BYTES, mem < MAPPED ? 0 : CU_MEMHOSTALLOC_DEVICEMAP, &world.host[mem], &world.memory[mem]);
    host_memory(FLAGS_MOST * 4, CU_MEMHOSTALLOC_DEVICEMAP, &world.flags, &world.device_flags);
    for (unsigned s = LEFT; s < STREAMS_FIXED; s++)
        CU(cuStreamCreate(&world.streams[s], s < FREE ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    for (unsigned e = 0; e < EVENTS; e++) // some with timing, some without
        CU(cuEventCreate(&world.events[e], e % 2 ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING));
}

// Each kernel once, so that none is loaded while a stream waits for the host.
static void warm_up(void)
{
    static int warm;
    struct range to = {.mem = 0, .parts = 1, .words = 1}, from = {.mem = 1, .parts = 1, .words = 1};
    for (unsigned kind = KERNEL_FILL; !warm && kind <= EVENT_RECORD_BY_KERNEL; kind++) {
        struct op op = {.kind = (uint8_t)kind, .to = to, .from = from, .other = from};
        if (kind <= DEVICE_TO_DEVICE_SYNC || kind == EVENT_RECORD_BY_KERNEL)
            act(&op);
    }
    warm = 1;
    CU(cuCtxSynchronize());
}

void act_begin(void)
{
    warm_up();
    for (unsigned mem = 0; mem < MEMS; mem++)
        if (mem < POOLED)
            CU(cuMemcpyHtoD(world.memory[mem], world.plan->first[mem], BYTES));
        else if (mem >= PINNED)
            memcpy(world.host[mem], world.plan->first[mem], BYTES);
    memset(world.flags, 0, FLAGS_MOST * 4);
    CU(cuCtxSynchronize());
}

void act_end(void)
{
    for (unsigned i = 0; i < GRAPHS; i++)
        if (world.graphs[i])
            CU(cuGraphExecDestroy(world.graphs[i]));
    memset(world.graphs, 0, sizeof world.graphs);
}
