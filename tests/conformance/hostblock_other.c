/* SPDX-License-Identifier: Apache-2.0
 *
 * The other calls of hostblock.c: waits, events, streams, launches, modules, settings, graphs.
 */
#include "tests/conformance/hostblock.h"
#include "tests/conformance/kernels.ptx.h"

#define CALL(name, expression) \
    static CUresult name(void *unused) \
    { \
        (void)unused; \
        return expression; \
    }
#define DO(name, expression) \
    static void name(void) \
    { \
        MUST(expression); \
    }

CALL(module_load, cuModuleLoadData(&scene.module, ptds_test_ptx))
DO(do_module_load, cuModuleLoadData(&scene.module, ptds_test_ptx))
CALL(module_unload, cuModuleUnload(scene.module))
DO(do_module_unload, cuModuleUnload(scene.module))

static CUresult stack_limit(void *unused)
{
    static size_t size = 1024;
    (void)unused;
    size = size == 1024 ? 2048 : 1024; /* a change, so that there is something to wait for */
    return cuCtxSetLimit(CU_LIMIT_STACK_SIZE, size);
}

CALL(ctx_synchronize, cuCtxSynchronize())
CALL(sync_0, cuStreamSynchronize(NULL))
CALL(sync_0x1, cuStreamSynchronize(CU_STREAM_LEGACY))
CALL(sync_0x2, cuStreamSynchronize(CU_STREAM_PER_THREAD))
CALL(sync_ptsz, cuStreamSynchronize_ptsz(NULL))

DO(do_event_create, cuEventCreate(&scene.event, CU_EVENT_DISABLE_TIMING))
DO(do_event_destroy, cuEventDestroy_v2(scene.event))
CALL(event_create, cuEventCreate(&scene.event, CU_EVENT_DISABLE_TIMING))
CALL(event_destroy, cuEventDestroy_v2(scene.event))
CALL(event_record_0, cuEventRecord(scene.event, NULL))
CALL(event_record_busy, cuEventRecord(scene.event, scene.busy))

static CUresult event_sync_0(void *unused)
{
    (void)unused;
    CUresult result = cuEventRecord(scene.event, NULL);
    return result == CUDA_SUCCESS ? cuEventSynchronize(scene.event) : result;
}

/* An event behind the gate, and another stream that is told to wait for it. */
static CUresult wait_event(void *unused)
{
    (void)unused;
    CUresult result = cuEventRecord(scene.event, scene.busy);
    return result == CUDA_SUCCESS ? cuStreamWaitEvent(conf.blocking2, scene.event, 0) : result;
}

DO(do_stream_create, cuStreamCreate(&scene.other, CU_STREAM_DEFAULT))
DO(do_stream_destroy, cuStreamDestroy_v2(scene.other))
CALL(stream_create, cuStreamCreate(&scene.other, CU_STREAM_DEFAULT))
CALL(stream_destroy, cuStreamDestroy_v2(scene.other))

static CUresult launch(CUstream s)
{
    return cuLaunchKernel(conf.empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL);
}
CALL(launch_0, launch(NULL))
CALL(launch_busy, launch(scene.busy))

static void nothing(void *unused)
{
    (void)unused;
}
CALL(host_function, cuLaunchHostFunc(scene.busy, nothing, NULL))

CALL(func_attribute, cuFuncSetAttribute(conf.empty, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024))
CALL(cache_config, cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE))

static CUresult limit_as_it_is(CUlimit limit)
{
    size_t value;
    CUresult result = cuCtxGetLimit(&value, limit);
    return result == CUDA_SUCCESS ? cuCtxSetLimit(limit, value) : result;
}
CALL(heap_limit, limit_as_it_is(CU_LIMIT_MALLOC_HEAP_SIZE))
CALL(printf_limit, limit_as_it_is(CU_LIMIT_PRINTF_FIFO_SIZE))

/* Calls that took long in recorded runs, as a program makes them: none of them waits for the device. */
static CUresult printf_limit_changes(void *unused)
{
    static size_t size = 2 << 20;
    (void)unused;
    size = size == 2 << 20 ? 4 << 20 : 2 << 20;
    return cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, size);
}

static CUresult func_attribute_changes(void *unused)
{
    static int bytes = 49152;
    (void)unused;
    bytes = bytes == 49152 ? 65536 : 49152;
    return cuFuncSetAttribute(conf.empty, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
}

static CUresult pool_trim(void *unused)
{
    CUmemoryPool pool;
    (void)unused;
    CUresult result = cuDeviceGetDefaultMemPool(&pool, 0);
    return result == CUDA_SUCCESS ? cuMemPoolTrimTo(pool, 0) : result;
}

CALL(stream_create_priority, cuStreamCreateWithPriority(&scene.other, CU_STREAM_NON_BLOCKING, -1))

static void do_used_stream(void)
{
    do_stream_create();
    MUST(launch(scene.other));
}

static CUresult occupancy(void *unused)
{
    int blocks;
    (void)unused;
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, conf.empty, 128, 0);
}

static void do_graph(void)
{
    MUST(cuStreamBeginCapture_v2(conf.nonblocking2, CU_STREAM_CAPTURE_MODE_RELAXED));
    MUST(launch(conf.nonblocking2));
    MUST(cuStreamEndCapture(conf.nonblocking2, &scene.graph));
}

static void do_exec(void)
{
    do_graph();
    MUST(cuGraphInstantiateWithFlags(&scene.exec, scene.graph, 0));
    MUST(cuGraphLaunch(scene.exec, conf.nonblocking2)); /* the first launch may load what it needs */
    MUST(cuCtxSynchronize());
}

static void graph_gone(void)
{
    MUST(cuGraphExecDestroy(scene.exec));
    MUST(cuGraphDestroy(scene.graph));
}

CALL(graph_instantiate, cuGraphInstantiateWithFlags(&scene.exec, scene.graph, 0))
CALL(graph_upload, cuGraphUpload(scene.exec, scene.busy))
CALL(graph_launch_busy, cuGraphLaunch(scene.exec, scene.busy))
CALL(graph_launch_0, cuGraphLaunch(scene.exec, NULL))

const struct block_case other_cases[] = {
    {"cuModuleLoadData", NULL, module_load, do_module_unload, 0},
    {"cuModuleUnload", do_module_load, module_unload, NULL, 0},
    {"cuCtxSetLimit,STACK_SIZE", NULL, stack_limit, NULL, 0},
    {"cuCtxSynchronize", NULL, ctx_synchronize, NULL, 0},
    {"cuStreamSynchronize,0", NULL, sync_0, NULL, 0},
    {"cuStreamSynchronize,0x1", NULL, sync_0x1, NULL, 0},
    {"cuEventRecord,0+cuEventSynchronize", do_event_create, event_sync_0, do_event_destroy, 0},
    {"cuStreamSynchronize,0x2", NULL, sync_0x2, NULL, 0},
    {"cuStreamSynchronize,0@ptsz", NULL, sync_ptsz, NULL, 0},
    {"cuEventCreate", NULL, event_create, do_event_destroy, 0},
    {"cuEventDestroy", do_event_create, event_destroy, NULL, 0},
    {"cuEventRecord,0", do_event_create, event_record_0, do_event_destroy, 0},
    {"cuEventRecord,busy-stream", do_event_create, event_record_busy, do_event_destroy, 0},
    {"cuStreamWaitEvent", do_event_create, wait_event, do_event_destroy, 0},
    {"cuStreamCreate", NULL, stream_create, do_stream_destroy, 0},
    {"cuStreamDestroy,another", do_stream_create, stream_destroy, NULL, 0},
    {"cuLaunchKernel,0", NULL, launch_0, NULL, 0},
    {"cuLaunchKernel,busy-stream", NULL, launch_busy, NULL, 0},
    {"cuLaunchHostFunc,busy-stream", NULL, host_function, NULL, 0},
    {"cuFuncSetAttribute", NULL, func_attribute, NULL, 0},
    {"cuCtxSetCacheConfig", NULL, cache_config, NULL, 0},
    {"cuCtxSetLimit,MALLOC_HEAP_SIZE", NULL, heap_limit, NULL, 0},
    {"cuCtxSetLimit,PRINTF_FIFO_SIZE", NULL, printf_limit, NULL, 0},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessor", NULL, occupancy, NULL, 0},
    {"cuGraphInstantiate", do_graph, graph_instantiate, graph_gone, 0},
    {"cuGraphUpload,busy-stream", do_exec, graph_upload, graph_gone, 0},
    {"cuGraphLaunch,busy-stream", do_exec, graph_launch_busy, graph_gone, 0},
    {"cuGraphLaunch,0", do_exec, graph_launch_0, graph_gone, 0},
    {"cuFuncSetAttribute,changed", NULL, func_attribute_changes, NULL, 0},
    {"cuStreamCreateWithPriority", NULL, stream_create_priority, do_stream_destroy, 0},
    {"cuStreamDestroy,used", do_used_stream, stream_destroy, NULL, 0},
    {"cuMemPoolTrimTo", NULL, pool_trim, NULL, 0},
    {"cuCtxSetLimit,PRINTF_FIFO_SIZE,changed", NULL, printf_limit_changes, NULL, 0},
    {NULL, NULL, NULL, NULL, 0},
};
