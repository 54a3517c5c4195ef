/* SPDX-License-Identifier: Apache-2.0
 *
 * Which calls a capture does not survive: each call while a stream captures, from the thread that began it and from
 * another, with the call's code and EndCapture's. Expected: what this program printed on an H200, and for executable graphs
 * on an H100, with driver 580.159.04.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/conf.h"
#include "tests/conformance/kernels.ptx.h"

static CUdeviceptr buffer, spare;
static char *pinned, *pageable;
static void *host_spare;
static CUevent event, captured_event;
static CUmodule module;
static CUstream capturing, made;
static CUstreamCaptureStatus status;

static CUresult launch(CUstream s)
{
    return cuLaunchKernel(conf.empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL);
}

#define ACTS(ACT) \
    ACT(launch_0, launch(NULL)) \
    ACT(launch_0x2, launch(CU_STREAM_PER_THREAD)) \
    ACT(launch_blocking2, launch(conf.blocking2)) \
    ACT(cuMemcpyHtoD, cuMemcpyHtoD_v2(buffer, pageable, 4)) \
    ACT(cuMemcpyHtoD_pinned, cuMemcpyHtoD_v2(buffer, pinned, 4)) \
    ACT(cuMemcpyDtoH, cuMemcpyDtoH_v2(pageable, buffer, 4)) \
    ACT(cuMemcpyDtoD, cuMemcpyDtoD_v2(buffer, buffer + 32, 4)) \
    ACT(cuMemcpyHtoD_ptds, cuMemcpyHtoD_v2_ptds(buffer, pageable, 4)) \
    ACT(cuMemsetD8, cuMemsetD8_v2(buffer, 0, 4)) \
    ACT(cuMemsetD8_ptds, cuMemsetD8_v2_ptds(buffer, 0, 4)) \
    ACT(cuMemcpyDtoHAsync_pageable_blocking2, cuMemcpyDtoHAsync_v2(pageable, buffer, 4, conf.blocking2)) \
    ACT(cuMemcpyHtoDAsync_pageable_capturing, cuMemcpyHtoDAsync_v2(buffer, pageable, 4, capturing)) \
    ACT(cuMemcpyDtoHAsync_pageable_capturing, cuMemcpyDtoHAsync_v2(pageable, buffer, 4, capturing)) \
    ACT(cuStreamSynchronize_0, cuStreamSynchronize(NULL)) \
    ACT(cuStreamSynchronize_0x2, cuStreamSynchronize(CU_STREAM_PER_THREAD)) \
    ACT(cuStreamSynchronize_blocking2, cuStreamSynchronize(conf.blocking2)) \
    ACT(cuStreamSynchronize_capturing, cuStreamSynchronize(capturing)) \
    ACT(cuStreamQuery_0, cuStreamQuery(NULL)) \
    ACT(cuStreamQuery_blocking2, cuStreamQuery(conf.blocking2)) \
    ACT(cuStreamQuery_capturing, cuStreamQuery(capturing)) \
    ACT(cuStreamIsCapturing_0, cuStreamIsCapturing(NULL, &status)) \
    ACT(cuStreamGetCaptureInfo_0, cuStreamGetCaptureInfo(NULL, &status, NULL)) \
    ACT(cuEventQuery, cuEventQuery(event)) \
    ACT(cuEventSynchronize, cuEventSynchronize(event)) \
    ACT(cuEventRecord_0, cuEventRecord(event, NULL)) \
    ACT(cuEventRecord_blocking2, cuEventRecord(event, conf.blocking2)) \
    ACT(cuStreamWaitEvent_0, cuStreamWaitEvent(NULL, event, 0)) \
    ACT(cuStreamWaitEvent_blocking2, cuStreamWaitEvent(conf.blocking2, event, 0)) \
    ACT(cuStreamWaitEvent_capturing_outside, cuStreamWaitEvent(capturing, event, 0)) \
    ACT(cuEventQuery_captured, (cuEventRecord(captured_event, capturing), cuEventQuery(captured_event))) \
    ACT(cuEventSynchronize_captured, (cuEventRecord(captured_event, capturing), cuEventSynchronize(captured_event))) \
    ACT(cuEventCreate_Destroy, (cuEventCreate(&event2, 2), cuEventDestroy_v2(event2))) \
    ACT(cuStreamCreate, cuStreamCreate(&made, 0)) \
    ACT(cuStreamCreate_Destroy, (cuStreamCreate(&made, 0), cuStreamDestroy_v2(made))) \
    ACT(cuStreamGetId_0, cuStreamGetId(NULL, &number)) \
    ACT(cuStreamGetId_0x2, cuStreamGetId(CU_STREAM_PER_THREAD, &number)) \
    ACT(cuStreamGetId_capturing, cuStreamGetId(capturing, &number)) \
    ACT(cuStreamGetFlags_0, cuStreamGetFlags(NULL, &word)) \
    ACT(cuStreamGetFlags_blocking2, cuStreamGetFlags(conf.blocking2, &word)) \
    ACT(cuStreamGetFlags_capturing, cuStreamGetFlags(capturing, &word)) \
    ACT(cuStreamGetPriority_capturing, cuStreamGetPriority(capturing, (int *)&word)) \
    ACT(cuStreamGetCtx_capturing, cuStreamGetCtx(capturing, &context)) \
    ACT(cuCtxGetCurrent, cuCtxGetCurrent(&context)) \
    ACT(cuCtxSynchronize, cuCtxSynchronize()) \
    ACT(cuCtxSetLimit_STACK_SIZE, cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1536)) \
    ACT(cuPointerGetAttribute, cuPointerGetAttribute(&word, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, buffer)) \
    ACT(cuMemGetInfo, cuMemGetInfo_v2(&size, &size2)) \
    ACT(cuMemAlloc, cuMemAlloc_v2(&spare, 1024)) \
    ACT(cuMemFree, cuMemFree_v2(spare)) \
    ACT(cuMemHostAlloc, cuMemHostAlloc(&host_spare, 4096, 0)) \
    ACT(cuMemFreeHost, cuMemFreeHost(host_spare)) \
    ACT(cuMemAllocAsync_0, cuMemAllocAsync(&spare, 1024, NULL)) \
    ACT(cuMemAllocAsync_blocking2, cuMemAllocAsync(&spare, 1024, conf.blocking2)) \
    ACT(cuModuleLoadData, cuModuleLoadData(&module, ptds_test_ptx)) \
    ACT(cuModuleUnload, cuModuleUnload(module)) \
    ACT(cuModuleGetFunction, cuModuleGetFunction(&function, conf.module, "fill")) \
    ACT(cuFuncGetParamInfo, cuFuncGetParamInfo(conf.fill, 0, &size, &size2)) \
    ACT(cuLaunchHostFunc_0, cuLaunchHostFunc(NULL, nothing, NULL)) \
    ACT(cuStreamAddCallback_capturing, cuStreamAddCallback(capturing, callback, NULL, 0)) \
    ACT(cuMemcpyBatchAsync_capturing, batch()) \
    ACT(cuGraphLaunch_capturing, cuGraphLaunch(executable, capturing)) \
    ACT(cuGraphLaunch_0, cuGraphLaunch(executable, NULL)) \
    ACT(cuGraphLaunch_0x2, cuGraphLaunch(executable, CU_STREAM_PER_THREAD)) \
    ACT(cuGraphLaunch_blocking2, cuGraphLaunch(executable, conf.blocking2)) \
    ACT(cuGraphUpload_capturing, cuGraphUpload(executable, capturing)) \
    ACT(cuGraphUpload_0, cuGraphUpload(executable, NULL)) \
    ACT(cuGraphInstantiate, \
        (code = cuGraphInstantiateWithFlags(&made_exec, made_graph, 0), code ? code : cuGraphExecDestroy(made_exec))) \
    ACT(cuGraphExecUpdate, cuGraphExecUpdate_v2(executable, made_graph, &(CUgraphExecUpdateResultInfo){0})) \
    ACT(cuStreamBeginCapture_0, cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_RELAXED))

static CUevent event2;
static unsigned long long number;
static unsigned int word;
static size_t size, size2;
static CUcontext context;
static CUfunction function;
static CUgraph made_graph;                /* one empty kernel */
static CUgraphExec executable, made_exec; /* of it; executable is there all the time */
static CUresult code;
static void nothing(void *unused)
{
    (void)unused;
}
static void CUDA_CB callback(CUstream s, CUresult r, void *unused)
{
    (void)s, (void)r, (void)unused;
}

static CUresult batch(void)
{
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    size_t bytes = 4, first = 0, failed;
    CUdeviceptr dst = buffer, src = buffer + 32;
    return cuMemcpyBatchAsync(&dst, &src, &bytes, 1, &attributes, &first, 1, &failed, capturing);
}

#define DEFINE(name, expression) \
    static CUresult act_##name(void) \
    { \
        return expression; \
    }
ACTS(DEFINE)

static const struct act {
    const char *name;
    CUresult (*run)(void);
} acts[] = {
#define LINE(name, expression) {#name, act_##name},
    ACTS(LINE)};

/* Each act that uses something up finds it made anew. */
static void prepare(void)
{
    MUST(cuMemAlloc_v2(&spare, 1024));
    MUST(cuMemHostAlloc(&host_spare, 4096, 0));
    MUST(cuModuleLoadData(&module, ptds_test_ptx));
    MUST(cuEventRecord(event, conf.nonblocking2));
    MUST(cuCtxSynchronize());
}

struct task {
    const struct act *act;
    CUresult code;
};

static void run(void *argument)
{
    struct task *t = argument;
    t->code = t->act->run();
}

static void one(const char *stream_name, CUstream s, CUstreamCaptureMode mode, const char *mode_name, const struct act *act,
                bool other_thread)
{
    struct task t = {act, CUDA_SUCCESS};
    CUgraph graph = NULL;
    char name[128], codes[32];
    prepare();
    capturing = s;
    MUST(cuStreamBeginCapture_v2(s, mode));
    if (other_thread)
        conf_elsewhere(run, &t);
    else
        run(&t);
    CUresult end = cuStreamEndCapture(s, &graph);
    if (graph)
        MUST(cuGraphDestroy(graph));
    MUST(cuCtxSynchronize());
    snprintf(name, sizeof name, "%s%s,during,%s,%s,code,end", act->name, other_thread ? "@thread2" : "", stream_name,
             mode_name);
    snprintf(codes, sizeof codes, "%d %d", t.code, end);
    conf_say("capture", name, codes);
}

/* Codes of EndCapture itself. */
static CUresult end_code;
static void end_there(void *stream)
{
    CUgraph graph = NULL;
    end_code = cuStreamEndCapture(*(CUstream *)stream, &graph);
}

static void ends(void)
{
    CUgraph graph = NULL;
    MUST(cuStreamBeginCapture_v2(conf.nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL));
    conf_elsewhere(end_there, &conf.nonblocking);
    conf_say_code("capture", "end@thread2", end_code);
    conf_say_code("capture", "end-after-end@thread2", cuStreamEndCapture(conf.nonblocking, &graph));
    MUST(cuStreamBeginCapture_v2(conf.nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuEventRecord(event, conf.nonblocking));
    MUST(cuStreamWaitEvent(conf.nonblocking2, event, 0));
    MUST(launch(conf.nonblocking2));
    conf_say_code("capture", "end-unjoined", cuStreamEndCapture(conf.nonblocking, &graph));
    conf_say_code("capture", "end-without-begin", cuStreamEndCapture(conf.nonblocking, &graph));
    conf_say_code("capture", "wait-event-of-ended-capture", cuStreamWaitEvent(conf.blocking2, event, 0));
    conf_say_code("capture", "query-event-of-ended-capture", cuEventQuery(event));
}

static void make_graph(void)
{
    CUDA_KERNEL_NODE_PARAMS k = {.func = conf.empty, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1};
    CUgraphNode node;
    k.blockDimX = k.blockDimY = k.blockDimZ = 1;
    MUST(cuGraphCreate(&made_graph, 0));
    MUST(cuGraphAddKernelNode_v2(&node, made_graph, NULL, 0, &k));
    MUST(cuGraphInstantiateWithFlags(&executable, made_graph, 0));
}

int main(void)
{
    conf_begin();
    make_graph();
    MUST(cuMemAlloc_v2(&buffer, 64));
    MUST(cuMemHostAlloc((void **)&pinned, 64, 0));
    pageable = calloc(1, 64);
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&captured_event, CU_EVENT_DISABLE_TIMING));
    for (size_t a = 0; a < sizeof acts / sizeof acts[0]; a++) {
        one("nonblocking", conf.nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL, "GLOBAL", &acts[a], false);
        one("nonblocking", conf.nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL, "GLOBAL", &acts[a], true);
        one("nonblocking", conf.nonblocking, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, "THREAD_LOCAL", &acts[a], true);
        one("nonblocking", conf.nonblocking, CU_STREAM_CAPTURE_MODE_RELAXED, "RELAXED", &acts[a], false);
        one("blocking", conf.blocking, CU_STREAM_CAPTURE_MODE_RELAXED, "RELAXED", &acts[a], false);
    }
    ends();
    return conf_end();
}
