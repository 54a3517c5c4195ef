/* SPDX-License-Identifier: Apache-2.0
 *
 * The copies of hostblock.c whose names do not tell whether the host waits: host memory on both sides or by a device
 * address, large ones, none at all, memory with SYNC_MEMOPS, graphs. "B" in busy-stream cases: the stream is the gate's
 * own.
 */
#include "tests/conformance/hostblock.h"

#define CALL(name, expression) \
    static CUresult name(void *unused) \
    { \
        (void)unused; \
        return expression; \
    }
#define ADDRESS(pointer) ((CUdeviceptr)(uintptr_t)(pointer))

/* ---- large ---- */

CALL(htod_large_busy, cuMemcpyHtoDAsync_v2(scene.large, scene.large_pageable, scene.size, scene.busy))
CALL(htod_large_0, cuMemcpyHtoDAsync_v2(scene.large, scene.large_pageable, scene.size, NULL))

/* ---- page-locked memory as if it were the device's ---- */

static CUresult rows_to_pinned(size_t width, size_t height)
{
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = scene.device,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = ADDRESS(scene.pinned),
                                .WidthInBytes = width,
                                .Height = height};
    return cuMemcpy2D_v2(&copy);
}

CALL(dtod_to_pinned, cuMemcpyDtoD_v2(ADDRESS(scene.pinned), scene.device, 16))
CALL(dtod_from_pinned, cuMemcpyDtoD_v2(scene.device, ADDRESS(scene.pinned), 16))
CALL(any_to_pinned, cuMemcpy(ADDRESS(scene.pinned), scene.device, 16))
CALL(any_from_pinned, cuMemcpy(scene.device, ADDRESS(scene.pinned), 16))
CALL(peer_to_pinned, cuMemcpyPeer(ADDRESS(scene.pinned), conf.ctx, scene.device, conf.ctx, 16))
CALL(rows_to_pinned_16, rows_to_pinned(16, 1))
CALL(dtod_async_to_pinned_0, cuMemcpyDtoDAsync_v2(ADDRESS(scene.pinned), scene.device, 16, NULL))
CALL(dtod_async_to_pinned_busy, cuMemcpyDtoDAsync_v2(ADDRESS(scene.pinned), scene.device, 16, scene.busy))
CALL(dtod_to_managed, cuMemcpyDtoD_v2(scene.managed, scene.device, 16))
CALL(dtod_from_managed, cuMemcpyDtoD_v2(scene.device, scene.managed, 16))
CALL(memset_managed, cuMemsetD8_v2(scene.managed, 1, 16))

/* ---- from host memory to host memory ---- */

static char another[4096];
CALL(pageable_pageable, cuMemcpy(ADDRESS(another), ADDRESS(scene.pageable), 64))
CALL(pageable_pageable_0, cuMemcpyAsync(ADDRESS(another), ADDRESS(scene.pageable), 64, NULL))
CALL(pageable_pageable_busy, cuMemcpyAsync(ADDRESS(another), ADDRESS(scene.pageable), 64, scene.busy))
CALL(pinned_pageable_busy, cuMemcpyAsync(ADDRESS(scene.pinned), ADDRESS(scene.pageable), 64, scene.busy))
CALL(pageable_pinned_busy, cuMemcpyAsync(ADDRESS(scene.pageable), ADDRESS(scene.pinned), 64, scene.busy))
CALL(pinned_pinned_busy, cuMemcpyAsync(ADDRESS(scene.pinned), ADDRESS(scene.pinned2), 64, scene.busy))
CALL(pinned_pinned_htod, cuMemcpyHtoDAsync_v2(ADDRESS(scene.pinned), scene.pinned2, 64, scene.busy))
CALL(pinned_pinned_dtod, cuMemcpyDtoDAsync_v2(ADDRESS(scene.pinned), ADDRESS(scene.pinned2), 64, scene.busy))

/* ---- nothing ---- */

CALL(no_htod, cuMemcpyHtoD_v2(scene.device, scene.pageable, 0))
CALL(no_dtoh_pageable, cuMemcpyDtoH_v2(scene.pageable, scene.device, 0))
CALL(no_dtoh_pinned, cuMemcpyDtoH_v2(scene.pinned, scene.device, 0))
CALL(no_dtoh_async, cuMemcpyDtoHAsync_v2(scene.pageable, scene.device, 0, scene.busy))
CALL(no_any, cuMemcpy(ADDRESS(scene.pageable), scene.device, 0))
CALL(no_memset, cuMemsetD8_v2(ADDRESS(scene.pinned), 1, 0))
CALL(no_width, rows_to_pinned(0, 1))
CALL(no_height, rows_to_pinned(16, 0))

/* ---- memory and contexts with SYNC_MEMOPS ---- */

static void mark_memory(void)
{
    unsigned int on = 1;
    MUST(cuMemAlloc_v2(&scene.made, MIB));
    MUST(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, scene.made));
}

static void free_memory(void)
{
    MUST(cuMemFree_v2(scene.made));
}

static void mark_context(void)
{
    unsigned int flags;
    MUST(cuCtxGetFlags(&flags));
    MUST(cuCtxSetFlags(flags | CU_CTX_SYNC_MEMOPS));
}

static void unmark_context(void)
{
    unsigned int flags;
    MUST(cuCtxGetFlags(&flags));
    MUST(cuCtxSetFlags(flags & ~(unsigned int)CU_CTX_SYNC_MEMOPS));
}

CALL(memset_made, cuMemsetD8_v2(scene.made, 1, scene.size))
CALL(memset_made_async, cuMemsetD8Async(scene.made, 1, scene.size, scene.busy))
CALL(dtod_to_made, cuMemcpyDtoD_v2(scene.made, scene.device, 16))
CALL(dtod_from_made, cuMemcpyDtoD_v2(scene.device, scene.made, 16))
CALL(dtod_async_to_made, cuMemcpyDtoDAsync_v2(scene.made, scene.device, 16, scene.busy))
CALL(memset_device, cuMemsetD8_v2(scene.device, 1, 16))
CALL(dtod, cuMemcpyDtoD_v2(scene.device, scene.device2, 16))

/* ---- graphs ---- */

static void do_graph(void *to, CUmemorytype to_type, const void *from, CUmemorytype from_type)
{
    CUgraphNode node;
    const CUDA_MEMCPY3D copy = {.srcMemoryType = from_type,
                                .srcHost = from,
                                .srcDevice = ADDRESS(from),
                                .dstMemoryType = to_type,
                                .dstHost = to,
                                .dstDevice = ADDRESS(to),
                                .WidthInBytes = 64,
                                .Height = 1,
                                .Depth = 1};
    MUST(cuGraphCreate(&scene.graph, 0));
    MUST(cuGraphAddMemcpyNode(&node, scene.graph, NULL, 0, &copy, conf.ctx));
    MUST(cuGraphInstantiateWithFlags(&scene.exec, scene.graph, 0));
    MUST(cuGraphLaunch(scene.exec, conf.nonblocking2)); /* the first launch may load what it needs */
    MUST(cuCtxSynchronize());
}

static void graph_to_pageable(void)
{
    do_graph(scene.pageable, CU_MEMORYTYPE_HOST, (void *)(uintptr_t)scene.device, CU_MEMORYTYPE_DEVICE);
}

static void graph_from_pageable(void)
{
    do_graph((void *)(uintptr_t)scene.device, CU_MEMORYTYPE_DEVICE, scene.pageable, CU_MEMORYTYPE_HOST);
}

static void graph_to_pinned(void)
{
    do_graph(scene.pinned, CU_MEMORYTYPE_HOST, (void *)(uintptr_t)scene.device, CU_MEMORYTYPE_DEVICE);
}

static void graph_of_host(void)
{
    do_graph(scene.pinned, CU_MEMORYTYPE_HOST, scene.pageable, CU_MEMORYTYPE_HOST);
}

static void graph_of_pinned(void)
{
    do_graph(scene.pinned, CU_MEMORYTYPE_HOST, scene.pinned2, CU_MEMORYTYPE_HOST);
}

static void graph_gone(void)
{
    MUST(cuGraphExecDestroy(scene.exec));
    MUST(cuGraphDestroy(scene.graph));
}

CALL(graph_busy, cuGraphLaunch(scene.exec, scene.busy))
CALL(graph_0, cuGraphLaunch(scene.exec, NULL))

const struct block_case host_cases[] = {
    {"cuMemcpyHtoDAsync,pageable,64MiB,busy-stream", NULL, htod_large_busy, NULL, 64 * MIB},
    {"cuMemcpyHtoDAsync,pageable,64MiB,0", NULL, htod_large_0, NULL, 64 * MIB},
    {"? cuMemcpyHtoDAsync,pageable,2MiB,busy-stream", NULL, htod_large_busy, NULL, 2 * MIB},
    {"? cuMemcpyHtoDAsync,pageable,16MiB,busy-stream", NULL, htod_large_busy, NULL, 16 * MIB},
    {"cuMemcpyDtoD,pinned<-device", NULL, dtod_to_pinned, NULL, 0},
    {"cuMemcpyDtoD,device<-pinned", NULL, dtod_from_pinned, NULL, 0},
    {"cuMemcpy,pinned<-device", NULL, any_to_pinned, NULL, 0},
    {"cuMemcpy,device<-pinned", NULL, any_from_pinned, NULL, 0},
    {"cuMemcpyPeer,pinned<-device", NULL, peer_to_pinned, NULL, 0},
    {"cuMemcpy2D,pinned<-device", NULL, rows_to_pinned_16, NULL, 0},
    {"cuMemcpyDtoDAsync,pinned<-device,0", NULL, dtod_async_to_pinned_0, NULL, 0},
    {"cuMemcpyDtoDAsync,pinned<-device,busy-stream", NULL, dtod_async_to_pinned_busy, NULL, 0},
    {"? cuMemcpyDtoD,managed<-device", NULL, dtod_to_managed, NULL, 0},
    {"? cuMemcpyDtoD,device<-managed", NULL, dtod_from_managed, NULL, 0},
    {"? cuMemsetD8,managed", NULL, memset_managed, NULL, 0},
    {"cuMemcpy,pageable<-pageable", NULL, pageable_pageable, NULL, 0},
    {"cuMemcpyAsync,pageable<-pageable,0", NULL, pageable_pageable_0, NULL, 0},
    {"cuMemcpyAsync,pageable<-pageable,busy-stream", NULL, pageable_pageable_busy, NULL, 0},
    {"cuMemcpyAsync,pinned<-pageable,busy-stream", NULL, pinned_pageable_busy, NULL, 0},
    {"cuMemcpyAsync,pageable<-pinned,busy-stream", NULL, pageable_pinned_busy, NULL, 0},
    {"cuMemcpyAsync,pinned<-pinned,busy-stream", NULL, pinned_pinned_busy, NULL, 0},
    {"? cuMemcpyHtoDAsync,pinned<-pinned,busy-stream", NULL, pinned_pinned_htod, NULL, 0},
    {"? cuMemcpyDtoDAsync,pinned<-pinned,busy-stream", NULL, pinned_pinned_dtod, NULL, 0},
    {"cuMemcpyHtoD,0B", NULL, no_htod, NULL, 0},
    {"cuMemcpyDtoH,pageable,0B", NULL, no_dtoh_pageable, NULL, 0},
    {"cuMemcpyDtoH,pinned,0B", NULL, no_dtoh_pinned, NULL, 0},
    {"cuMemcpyDtoHAsync,pageable,0B,busy-stream", NULL, no_dtoh_async, NULL, 0},
    {"cuMemcpy,0B", NULL, no_any, NULL, 0},
    {"cuMemsetD8,pinned,0B", NULL, no_memset, NULL, 0},
    {"cuMemcpy2D,width0", NULL, no_width, NULL, 0},
    {"cuMemcpy2D,height0", NULL, no_height, NULL, 0},
    {"cuMemsetD8,SYNC_MEMOPS,16B", mark_memory, memset_made, free_memory, 16},
    {"cuMemsetD8,SYNC_MEMOPS,1MiB", mark_memory, memset_made, free_memory, MIB},
    {"cuMemcpyDtoD,SYNC_MEMOPS<-device", mark_memory, dtod_to_made, free_memory, 0},
    {"cuMemcpyDtoD,device<-SYNC_MEMOPS", mark_memory, dtod_from_made, free_memory, 0},
    {"cuMemsetD8Async,SYNC_MEMOPS,busy-stream", mark_memory, memset_made_async, free_memory, 16},
    {"cuMemcpyDtoDAsync,SYNC_MEMOPS<-device,busy-stream", mark_memory, dtod_async_to_made, free_memory, 0},
    {"? cuMemsetD8,device,context-SYNC_MEMOPS", mark_context, memset_device, unmark_context, 0},
    {"? cuMemcpyDtoD,context-SYNC_MEMOPS", mark_context, dtod, unmark_context, 0},
    {"cuGraphLaunch,pageable<-device,busy-stream", graph_to_pageable, graph_busy, graph_gone, 0},
    {"cuGraphLaunch,pageable<-device,0", graph_to_pageable, graph_0, graph_gone, 0},
    {"cuGraphLaunch,device<-pageable,busy-stream", graph_from_pageable, graph_busy, graph_gone, 0},
    {"? cuGraphLaunch,pinned<-device,busy-stream", graph_to_pinned, graph_busy, graph_gone, 0},
    {"? cuGraphLaunch,pinned<-pageable,busy-stream", graph_of_host, graph_busy, graph_gone, 0},
    {"? cuGraphLaunch,pinned<-pinned,busy-stream", graph_of_pinned, graph_busy, graph_gone, 0},
    {NULL, NULL, NULL, NULL, 0},
};
