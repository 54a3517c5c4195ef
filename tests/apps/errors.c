// SPDX-License-Identifier: Apache-2.0
//
// errors: calls on the default stream that fail, with work pending before them and work after them, twice in a row, and
// with no context current. Prints each result code and whether what follows is still in order; all of it must be the same
// with and without the shim under PTDS_POLICY=none, observe, guarded and stream. Run by scripts/gpu and the policy tests.

#include <stdio.h>
#include <string.h>

#include "app.h"

enum { WORDS = 64, BYTES = WORDS * 4, GATE_MS = 5 };

struct scene {
    struct app app;
    struct gate gate;
    CUdeviceptr words, other;
    uint32_t *pinned, pageable[WORDS];
    CUstream stream; /* blocking */
    CUevent fresh;   /* never recorded */
    int right;
};

static CUresult dtoh(struct scene *s)
{
    return cuMemcpyDtoH(s->pageable, 0, BYTES);
}
static CUresult htod(struct scene *s)
{
    return cuMemcpyHtoD(0, s->pageable, BYTES);
}
static CUresult dtod(struct scene *s)
{
    return cuMemcpyDtoD(0, s->words, BYTES);
}
static CUresult dtoh_async(struct scene *s)
{
    return cuMemcpyDtoHAsync(s->pinned, 0, BYTES, NULL);
}
static CUresult dtod_async(struct scene *s)
{
    return cuMemcpyDtoDAsync(s->words, 0, BYTES, CU_STREAM_LEGACY);
}
static CUresult rows(struct scene *s)
{
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = s->words;
    copy.dstDevice = s->other;
    copy.srcPitch = copy.dstPitch = 8; /* less than a row */
    copy.WidthInBytes = 16;
    copy.Height = 2;
    return cuMemcpy2D(&copy);
}
static CUresult set(struct scene *s)
{
    (void)s;
    return cuMemsetD32(0, 1, WORDS);
}
static CUresult set_between(struct scene *s)
{
    return cuMemsetD32Async(s->words + 1, 1, 4, NULL);
}
static CUresult launch_nothing(struct scene *s)
{
    uint32_t count = WORDS;
    void *params[] = {&s->words, &count};
    return cuLaunchKernel(s->app.add_one, 0, 1, 1, 64, 1, 1, 0, NULL, params, NULL);
}
static CUresult record_none(struct scene *s)
{
    (void)s;
    return cuEventRecord(NULL, NULL);
}
static CUresult wait_none(struct scene *s)
{
    (void)s;
    return cuStreamWaitEvent(NULL, NULL, 0);
}
static CUresult wait_fresh(struct scene *s)
{
    return cuStreamWaitEvent(NULL, s->fresh, 0);
}
static CUresult elapsed_fresh(struct scene *s)
{
    float ms;
    return cuEventElapsedTime(&ms, s->fresh, s->fresh);
}
static CUresult no_function(struct scene *s)
{
    (void)s;
    return cuLaunchHostFunc(NULL, NULL, NULL);
}
static CUresult capture(struct scene *s)
{
    (void)s;
    return cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL);
}
static CUresult graph(struct scene *s)
{
    (void)s;
    return cuGraphLaunch(NULL, NULL);
}
static CUresult alloc_nothing(struct scene *s)
{
    CUdeviceptr none;
    (void)s;
    return cuMemAllocAsync(&none, 0, NULL);
}

static const struct {
    const char *name;
    CUresult (*call)(struct scene *s);
} fails[] = {
    {"dtoh", dtoh},
    {"htod", htod},
    {"dtod", dtod},
    {"dtoh-async", dtoh_async},
    {"dtod-async-legacy", dtod_async},
    {"rows", rows},
    {"memset", set},
    {"memset-between", set_between},
    {"launch-nothing", launch_nothing},
    {"record-none", record_none},
    {"wait-none", wait_none},
    {"wait-fresh", wait_fresh},
    {"elapsed-fresh", elapsed_fresh},
    {"no-function", no_function},
    {"capture", capture},
    {"graph", graph},
    {"alloc-nothing", alloc_nothing},
};
enum { FAILS = sizeof fails / sizeof fails[0] };

static int are(const uint32_t *words, uint32_t value)
{
    for (int i = 0; i < WORDS; i++)
        if (words[i] != value)
            return 0;
    return 1;
}

/* A blocking stream's work is held back; the call fails behind it; the default stream then reads what that work writes. */
static void behind_work(struct scene *s, unsigned i)
{
    gate_shut(&s->app, &s->gate, s->stream);
    CU(cuMemsetD32Async(s->words, i + 1, WORDS, s->stream));
    CUresult first = fails[i].call(s), busy = cuStreamQuery(NULL), second = fails[i].call(s);
    CU(cuMemcpyDtoDAsync(s->other, s->words, BYTES, NULL));
    CU(cuMemcpyDtoHAsync(s->pinned, s->other, BYTES, NULL));
    CUresult waited = cuStreamSynchronize(NULL), idle = cuStreamQuery(NULL);
    int in_order = are(s->pinned, i + 1);
    gate_join(&s->gate);
    int fair = busy == CUDA_SUCCESS || busy == CUDA_ERROR_NOT_READY; /* whether the gate is still shut is chance */
    printf("%s: %d %d, query %s, waited %d, idle %d, context %d: %s\n", fails[i].name, first, second,
           fair ? "fine" : "WRONG", waited, idle, cuCtxSynchronize(), in_order ? "in order" : "NOT IN ORDER");
    s->right &= in_order;
}

/* And the other way: the default stream's work is held back, and another thread's stream comes after it. */
static void before_work(struct scene *s, unsigned i)
{
    gate_shut(&s->app, &s->gate, NULL);
    CU(cuMemsetD32Async(s->words, i + 100, WORDS, NULL));
    CUresult result = fails[i].call(s);
    CU(cuMemcpyDtoHAsync(s->pinned, s->words, BYTES, s->stream));
    CUresult waited = cuStreamSynchronize(s->stream);
    int in_order = are(s->pinned, i + 100);
    gate_join(&s->gate);
    printf("%s, then a stream: %d, waited %d: %s\n", fails[i].name, result, waited, in_order ? "in order" : "NOT IN ORDER");
    s->right &= in_order;
}

static void without_a_context(struct scene *s)
{
    CU(cuCtxSetCurrent(NULL));
    for (unsigned i = 0; i < FAILS; i++)
        printf("%s without a context: %d\n", fails[i].name, fails[i].call(s));
    printf("query %d, synchronize %d\n", cuStreamQuery(NULL), cuStreamSynchronize(NULL));
    app_thread(&s->app);
}

int main(void)
{
    struct scene s = {.right = 1};
    uint64_t digest = APP_DIGEST;
    app_start(&s.app);
    CU(cuMemAlloc(&s.words, BYTES));
    CU(cuMemAlloc(&s.other, BYTES));
    CU(cuMemAllocHost((void **)&s.pinned, BYTES));
    CU(cuStreamCreate(&s.stream, CU_STREAM_DEFAULT));
    CU(cuEventCreate(&s.fresh, CU_EVENT_DEFAULT));
    gate_make(&s.gate, GATE_MS);
    for (unsigned i = 0; i < FAILS; i++) {
        behind_work(&s, i);
        before_work(&s, i);
        digest = app_digest(digest, s.pinned, BYTES);
    }
    without_a_context(&s);
    for (unsigned i = 0; i < FAILS; i += 5)
        behind_work(&s, i);
    return app_finish(s.right, digest, 0);
}
