// SPDX-License-Identifier: Apache-2.0
//
// capture: a stream captures while default-stream work is done beside it, by the same thread or
// another, in each mode. Prints the result codes, the captured graph's nodes and what ran
// uncaptured; all of it must be the same with and without the shim under PTDS_POLICY=none, observe,
// guarded and stream. Run by scripts/gpu and the policy tests.

#include <stdio.h>
#include <string.h>

#include "app.h"

enum { WORDS = 64, BYTES = WORDS * 4 };

struct scene {
    struct app app;
    CUdeviceptr words, other;
    uint32_t *pinned, pageable[WORDS];
    CUevent event;
    CUgraphExec graph;
    CUresult (*operation)(struct scene *s);
    CUresult result;
};

static CUresult launch(struct scene *s)
{
    return app_add_one(&s->app, NULL, s->words, WORDS);
}
static CUresult set(struct scene *s)
{
    return cuMemsetD32(s->words, 7, WORDS);
}
static CUresult set_async(struct scene *s)
{
    return cuMemsetD32Async(s->words, 8, WORDS, NULL);
}
static CUresult dtoh(struct scene *s)
{
    return cuMemcpyDtoH(s->pageable, s->words, BYTES);
}
static CUresult htod(struct scene *s)
{
    return cuMemcpyHtoD(s->words, s->pageable, BYTES);
}
static CUresult dtod(struct scene *s)
{
    return cuMemcpyDtoD(s->other, s->words, BYTES);
}
static CUresult dtoh_async(struct scene *s)
{
    return cuMemcpyDtoHAsync(s->pinned, s->words, BYTES, NULL);
}
static CUresult record(struct scene *s)
{
    return cuEventRecord(s->event, NULL);
}
static CUresult wait(struct scene *s)
{
    return cuStreamWaitEvent(NULL, s->event, 0);
}
static CUresult query(struct scene *s)
{
    (void)s;
    return cuStreamQuery(NULL);
}
static CUresult synchronise(struct scene *s)
{
    (void)s;
    return cuStreamSynchronize(NULL);
}
static CUresult graph_launch(struct scene *s)
{
    return cuGraphLaunch(s->graph, NULL);
}
static CUresult begin_default(struct scene *s)
{
    (void)s;
    return cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_RELAXED);
}

static void nothing(void *unused)
{
    (void)unused;
}
static CUresult host_function(struct scene *s)
{
    (void)s;
    return cuLaunchHostFunc(NULL, nothing, NULL);
}

static CUresult allocate(struct scene *s)
{
    CUdeviceptr p;
    CUresult result = cuMemAlloc(&p, BYTES);
    (void)s;
    if (result == CUDA_SUCCESS)
        cuMemFree(p);
    return result;
}

static CUresult context_synchronise(struct scene *s)
{
    (void)s;
    return cuCtxSynchronize();
}

static const struct operation {
    const char *name;
    CUresult (*run)(struct scene *s);
} operations[] = {
    {"launch", launch},
    {"memset", set},
    {"memset-async", set_async},
    {"dtoh", dtoh},
    {"htod", htod},
    {"dtod", dtod},
    {"dtoh-async", dtoh_async},
    {"record", record},
    {"wait", wait},
    {"query", query},
    {"synchronise", synchronise},
    {"host-function", host_function},
    {"graph-launch", graph_launch},
    {"begin-on-default", begin_default},
    {"allocate", allocate},
    {"context-synchronise", context_synchronise},
};

static const struct {
    const char *name;
    CUstreamCaptureMode mode;
} modes[] = {
    {"global", CU_STREAM_CAPTURE_MODE_GLOBAL},
    {"thread-local", CU_STREAM_CAPTURE_MODE_THREAD_LOCAL},
    {"relaxed", CU_STREAM_CAPTURE_MODE_RELAXED},
};

static void in_other_thread(unsigned index, void *shared)
{
    struct scene *s = shared;
    (void)index;
    s->result = s->operation(s);
}

static void run_operation(struct scene *s, const struct operation *operation, int other_thread)
{
    s->operation = operation->run;
    if (other_thread)
        app_threads(&s->app, 1, in_other_thread, s);
    else
        s->result = operation->run(s);
}

static void reset(struct scene *s)
{
    CU(cuMemsetD32(s->words, 1, WORDS));
    CU(cuMemsetD32(s->other, 2, WORDS));
    CU(cuEventRecord(s->event, NULL));
    CU(cuCtxSynchronize());
    memset(s->pageable, 0, sizeof s->pageable);
    memset(s->pinned, 0, BYTES);
}

// What ran uncaptured, read back when the capture is over.
static uint64_t effects(struct scene *s)
{
    uint32_t words[WORDS];
    uint64_t digest = app_digest(APP_DIGEST, s->pageable, sizeof s->pageable);
    CU(cuCtxSynchronize());
    digest = app_digest(digest, s->pinned, BYTES);
    CU(cuMemcpyDtoH(words, s->words, BYTES));
    digest = app_digest(digest, words, sizeof words);
    CU(cuMemcpyDtoH(words, s->other, BYTES));
    return app_digest(digest, words, sizeof words);
}

// Returns cuStreamEndCapture's code; nodes stays 0 where there is no graph.
static CUresult end_capture(CUstream stream, size_t *nodes)
{
    CUgraph graph = NULL;
    CUresult result = cuStreamEndCapture(stream, &graph);
    if (result == CUDA_SUCCESS && graph) {
        CU(cuGraphGetNodes(graph, NULL, nodes));
        CU(cuGraphDestroy(graph));
    }
    return result;
}

static uint64_t one_case(struct scene *s, const char *kind, CUstream stream, unsigned mode, unsigned op, int other_thread)
{
    char line[160];
    size_t nodes = 0;
    reset(s);
    CUresult begun = cuStreamBeginCapture(stream, modes[mode].mode);
    CUresult inside = app_add_one(&s->app, stream, s->other, WORDS);
    if (begun != CUDA_SUCCESS) // then it ran, and a query would be a race
        CU(cuCtxSynchronize());
    run_operation(s, &operations[op], other_thread);
    CUresult ended = begun == CUDA_SUCCESS ? end_capture(stream, &nodes) : CUDA_SUCCESS;
    int length = snprintf(line, sizeof line, "%s %s %s %s begin=%d inside=%d result=%d end=%d nodes=%zu %016llx", kind,
                          modes[mode].name, other_thread ? "other" : "same", operations[op].name, begun, inside, s->result,
                          ended, nodes, (unsigned long long)effects(s));
    puts(line);
    return app_digest(APP_DIGEST, line, (size_t)length);
}

static void setup(struct scene *s)
{
    void *pinned;
    CUstream stream;
    CUgraph graph;
    app_start(&s->app);
    CU(cuMemAlloc(&s->words, BYTES));
    CU(cuMemAlloc(&s->other, BYTES));
    CU(cuMemHostAlloc(&pinned, BYTES, 0));
    s->pinned = pinned;
    CU(cuEventCreate(&s->event, CU_EVENT_DISABLE_TIMING));
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(app_add_one(&s->app, stream, s->words, WORDS));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiateWithFlags(&s->graph, graph, 0));
    CU(cuGraphDestroy(graph));
    CU(cuStreamDestroy(stream));
}

int main(void)
{
    static struct scene s;
    CUstream blocking, free_running;
    uint64_t digest = APP_DIGEST;
    setup(&s);
    CU(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    CU(cuStreamCreate(&free_running, CU_STREAM_NON_BLOCKING));
    const struct {
        const char *name;
        CUstream stream;
    } streams[] = {
        {"blocking", blocking}, {"non-blocking", free_running}, {"per-thread", CU_STREAM_PER_THREAD}, {"default", NULL}};
    double began = app_now_ms();
    for (unsigned k = 0; k < 4; k++)
        for (unsigned mode = 0; mode < 3; mode++)
            for (unsigned op = 0; op < sizeof operations / sizeof operations[0]; op++)
                for (int other = 0; other < 2; other++) {
                    uint64_t part = one_case(&s, streams[k].name, streams[k].stream, mode, op, other);
                    digest = app_digest(digest, &part, sizeof part);
                }
    return app_finish(1, digest, app_now_ms() - began);
}
