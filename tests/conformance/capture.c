/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream capture and the default streams: where a capture may begin, what breaks it, with which codes. What other calls do
 * during one is in captureacts.c.
 */
#include <stdio.h>

#include "tests/conformance/conf.h"

static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                            CU_STREAM_CAPTURE_MODE_RELAXED};
static const char *const mode_names[] = {"GLOBAL", "THREAD_LOCAL", "RELAXED"};

static void unmeasured(void)
{
    fputs("? ", stdout);
}

static CUresult launch_empty(CUstream s)
{
    return cuLaunchKernel(conf.empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL);
}

static CUresult end_capture(CUstream s)
{
    CUgraph graph = NULL;
    CUresult result = cuStreamEndCapture(s, &graph);
    if (graph)
        MUST(cuGraphDestroy(graph));
    return result;
}

/* ---- where one may begin ---- */

static void begin(const char *stream_name, CUstream s, bool twin)
{
    for (int m = 0; m < 3; m++) {
        char name[64];
        CUresult result = twin ? cuStreamBeginCapture_v2_ptsz(s, modes[m]) : cuStreamBeginCapture_v2(s, modes[m]);
        snprintf(name, sizeof name, "begin,%s,%s", stream_name, mode_names[m]);
        conf_say_code("capture", name, result);
        if (result == CUDA_SUCCESS)
            MUST(end_capture(twin && !s ? CU_STREAM_PER_THREAD : s));
    }
}

/* ---- an act of somebody's during one ---- */

static CUdeviceptr buffer;
static CUresult act_code;

static void launch_legacy(void)
{
    act_code = launch_empty(NULL);
}
static void launch_explicit(void)
{
    act_code = launch_empty(CU_STREAM_LEGACY);
}
static void allocate(void)
{
    CUdeviceptr p = 0;
    act_code = cuMemAlloc_v2(&p, 1024);
    if (act_code == CUDA_SUCCESS)
        MUST(cuMemFree_v2(p));
}

struct act {
    const char *name;
    void (*run)(void);
};

/* Begin on s, act, end; one line for the act's code and one for the end's. */
static void during(const char *stream_name, CUstream s, int mode, struct act act)
{
    char name[96];
    MUST(cuStreamBeginCapture_v2(s, modes[mode]));
    act.run();
    CUresult during_code = act_code, end_code = end_capture(s);
    for (int line = 0; line < 2; line++) {
        snprintf(name, sizeof name, "%s,during,%s,%s%s", act.name, stream_name, mode_names[mode], line ? ",end" : "");
        conf_say_code("capture", name, line ? end_code : during_code);
    }
    MUST(cuCtxSynchronize());
}

static const struct act legacy_launch = {"launch-0", launch_legacy}, explicit_launch = {"launch-0x1", launch_explicit},
                        allocation = {"cuMemAlloc", allocate};

static void measured_acts(void)
{
    during("blocking", conf.blocking, 2, legacy_launch);
    during("blocking", conf.blocking, 2, explicit_launch);
    during("0x2", CU_STREAM_PER_THREAD, 2, legacy_launch);
    during("0x2", CU_STREAM_PER_THREAD, 2, explicit_launch);
    during("nonblocking", conf.nonblocking, 0, legacy_launch);
    during("nonblocking", conf.nonblocking, 0, allocation);
}

/* While a non-blocking stream captures, legacy work runs and is not in the graph. */
static void legacy_runs_uncaptured(void)
{
    uint32_t *word = conf_word();
    CUgraph graph;
    size_t nodes = 99;
    MUST(cuStreamBeginCapture_v2(conf.nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL));
    conf_mark(word, NULL, false);
    bool ran = conf_reached(word);
    MUST(cuStreamEndCapture(conf.nonblocking, &graph));
    MUST(cuGraphGetNodes(graph, NULL, &nodes));
    MUST(cuGraphDestroy(graph));
    conf_say_bool("capture", "launch-0,during,nonblocking,GLOBAL,runs", ran);
    conf_say_bool("capture", "launch-0,during,nonblocking,GLOBAL,uncaptured", nodes == 0);
}

/* ---- calls that refuse the legacy stream ---- */

static CUresult batch(CUstream s, bool twin)
{
    static CUdeviceptr from;
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    size_t size = 64, first = 0, failed = 0;
    CUdeviceptr dst = buffer;
    if (!from)
        MUST(cuMemAlloc_v2(&from, 64));
    return twin ? cuMemcpyBatchAsync_ptsz(&dst, &from, &size, 1, &attributes, &first, 1, &failed, s)
                : cuMemcpyBatchAsync(&dst, &from, &size, 1, &attributes, &first, 1, &failed, s);
}

static void refusals(void)
{
    conf_say_code("capture", "cuMemcpyBatchAsync,0", batch(NULL, false));
    conf_say_code("capture", "cuMemcpyBatchAsync,0x1", batch(CU_STREAM_LEGACY, false));
    conf_say_code("capture", "cuMemcpyBatchAsync,0x2", batch(CU_STREAM_PER_THREAD, false));
    unmeasured();
    conf_say_code("capture", "cuMemcpyBatchAsync,0@ptsz", batch(NULL, true));
    conf_say_code("capture", "cuStreamAttachMemAsync,SINGLE,0",
                  cuStreamAttachMemAsync(NULL, buffer, 0, CU_MEM_ATTACH_SINGLE));
    MUST(cuCtxSynchronize());
}

int main(void)
{
    conf_begin();
    MUST(cuMemAlloc_v2(&buffer, 64));
    begin("0", NULL, false);
    begin("0x1", CU_STREAM_LEGACY, false);
    begin("0x1@ptsz", CU_STREAM_LEGACY, true);
    begin("0x2", CU_STREAM_PER_THREAD, false);
    begin("0@ptsz", NULL, true);
    measured_acts();
    legacy_runs_uncaptured();
    refusals();
    return conf_end();
}
