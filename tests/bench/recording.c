/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that make many calls, to record a long trace of: recording WORKLOAD [CALLS 1000000] [THREADS 8]. Their records
 * are what the recorder writes, unlike those of made_up_program.c; their calls come in the order and the shares in which
 * training and inference loops make them. For scripts/bench analysis (README.md); knows nothing of libptds.
 *   train    one thread: a caching allocator's blocks, launches on the default stream, copies and events on a second one
 *   pool     THREADS threads that each launch on the default stream and on a stream of their own
 *   crowd    THREADS threads that each launch on the default stream and on eight blocking streams of their own, in turns
 *   async    stream-ordered allocations: each launch makes its result's and frees the one before
 *   events   an event recorded behind each launch, waited for by the next one, which is on another stream
 *   graphs   train, and now and then a graph is launched
 *   tables   train, and now and then a kernel that follows a table of pointers
 *   live     30,000 allocations alive at once, one freed and one made for every few launches
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/lane.h"

enum {
    BLOCKS = 48,
    WEIGHTS = 8,
    BLOCK = 64 << 10,
    TENSORS = 8,
    STEP_CALLS = 200,
    SYNC_EVERY = 1024,
    STREAMS = 4,
    LIVE = 30000,
    CROWD_STREAMS = 8,
    CROWD_BLOCKS = 4
};

/* Kernels that touch one word of each memory. */
#define U64(name) ".param .u64 " name
#define ENTRY(name, parameters, body) \
    ".visible .entry " name "(" parameters ")\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<6>;\n" body " ret;\n}\n"
#define PTX_OF(number, name) "ld.param.u64 %rd" number ", [" name "];\n"
#define STORE(number) "st.global.u32 [%rd" number "], %r1;\n"
#define LOAD(number) "ld.global.u32 %r1, [%rd" number "];\n"
static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n" ENTRY("empty", "", "")
    ENTRY("four_pointers", U64("a") ", " U64("b") ", " U64("c") ", " U64("d"),
          PTX_OF("1", "a") PTX_OF("2", "b") PTX_OF("3", "c") PTX_OF("4", "d") "mov.u32 %r1, 0;\n" STORE("1") STORE("2")
              STORE("3") STORE("4")) ENTRY("_Z4copyPjPKjj", U64("dst") ", " U64("src") ", .param .u32 n",
                                           PTX_OF("1", "dst") PTX_OF("2", "src") LOAD("2") STORE("1"))
        ENTRY("saxpy", U64("y") ", " U64("x") ", .param .f32 a, .param .u32 n",
              PTX_OF("1", "y") PTX_OF("2", "x") LOAD("2") LOAD("1") STORE("1"))
            ENTRY("_Z6gatherPjPPKjjj", U64("out") ", " U64("table") ", .param .u32 count, .param .u32 m",
                  PTX_OF("1", "out") PTX_OF("2", "table") "ld.global.u64 %rd3, [%rd2];\n" LOAD("3") STORE("1"));

struct program {
    CUcontext context;
    CUfunction four, copy, saxpy, gather;
    CUdeviceptr block[BLOCKS], weight[WEIGHTS], table;
    void *pinned;
    unsigned calls, threads;
};

static CUdeviceptr tensor(const struct program *p, unsigned i)
{
    return p->block[i / TENSORS % BLOCKS] + i % TENSORS * (BLOCK / TENSORS);
}

static void launch(CUfunction kernel, CUstream stream, void **parameters)
{
    CU(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

/* Blocks that nobody writes. */
static CUdeviceptr weight_of(const struct program *p, unsigned i)
{
    return p->weight[i / TENSORS % WEIGHTS] + i % TENSORS * (BLOCK / TENSORS);
}

/* Like the kernels of a network's layers: what the one wrote, the next one reads, and weights. */
static void layer(const struct program *p, CUstream stream, unsigned i)
{
    CUdeviceptr to = tensor(p, i), from = tensor(p, i - 1), weight = weight_of(p, i % 97 * 3),
                bias = weight_of(p, i % 31 * 5);
    unsigned one = 1;
    float a = 0;
    if (i % 3 == 0)
        launch(p->four, stream, (void *[]){&to, &from, &weight, &bias});
    else if (i % 3 == 1)
        launch(p->copy, stream, (void *[]){&to, &from, &one});
    else
        launch(p->saxpy, stream, (void *[]){&to, &weight, &a, &one});
}

static void step_of_table(const struct program *p, unsigned i)
{
    CUdeviceptr to = tensor(p, i), table = p->table;
    unsigned count = 1, one = 1;
    launch(p->gather, NULL, (void *[]){&to, &table, &count, &one});
}

static CUgraphExec make_graph(const struct program *p)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (unsigned i = 0; i < 20; i++)
        layer(p, stream, i);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

enum { PLAIN, GRAPHS, TABLES };

static void train(const struct program *p, int also)
{
    CUstream loading;
    CUevent loaded;
    CUgraphExec graph = also == GRAPHS ? make_graph(p) : NULL;
    CU(cuStreamCreate(&loading, CU_STREAM_NON_BLOCKING));
    CU(cuEventCreate(&loaded, CU_EVENT_DISABLE_TIMING));
    for (unsigned i = 1; i < p->calls; i++) {
        layer(p, NULL, i);
        if (i % STEP_CALLS == 0) {
            CU(cuMemcpyHtoDAsync(tensor(p, i), p->pinned, 64, loading));
            CU(cuEventRecord(loaded, loading));
            CU(cuStreamWaitEvent(NULL, loaded, 0));
            CU(cuMemsetD8Async(tensor(p, i + 1), 0, 64, NULL));
        }
        if (i % STEP_CALLS == 100 && also == GRAPHS)
            CU(cuGraphLaunch(graph, loading));
        if (i % STEP_CALLS == 100 && also == TABLES)
            step_of_table(p, i);
        if (i % STEP_CALLS == STEP_CALLS - 1)
            CU(cuMemcpyDtoH((char *)p->pinned + 128, tensor(p, i), 4));
    }
}

static void *pool_thread(void *data)
{
    static unsigned numbers;
    const struct program *p = data;
    unsigned mine = __atomic_fetch_add(&numbers, 1, __ATOMIC_RELAXED) * 48;
    CUstream own;
    CU(cuCtxSetCurrent(p->context));
    CU(cuStreamCreate(&own, mine % 96 == 0 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < p->calls / p->threads; i++) {
        layer(p, i / 20 % 2 == 0 ? NULL : own, mine + i % 47 + 1);
        if (i % 500 == 0)
            CU(cuStreamSynchronize(own));
        if (i % SYNC_EVERY == 0)
            CU(cuStreamSynchronize(NULL));
    }
    return NULL;
}

/* As on a machine with a processor for each thread, they take turns by calls. Each has memory of its own. */
static void *crowd_thread(void *data)
{
    struct program own = *(const struct program *)data, *p = &own;
    CUstream streams[CROWD_STREAMS + 1] = {NULL};
    CU(cuCtxSetCurrent(p->context));
    for (unsigned i = 0; i < BLOCKS; i++)
        if (i < CROWD_BLOCKS)
            CU(cuMemAlloc(&p->block[i], BLOCK));
        else
            p->block[i] = p->block[i % CROWD_BLOCKS];
    for (unsigned i = 1; i <= CROWD_STREAMS; i++)
        CU(cuStreamCreate(&streams[i], CU_STREAM_DEFAULT));
    for (unsigned i = 1; i <= p->calls / p->threads; i++) {
        layer(p, streams[i % (CROWD_STREAMS + 1)], i + 1);
        if (i % SYNC_EVERY == 0)
            CU(cuStreamSynchronize(NULL));
        sched_yield();
    }
    return NULL;
}

static void in_threads(struct program *p, void *(*run)(void *))
{
    pthread_t thread[256];
    p->threads = p->threads < 256 ? p->threads : 256;
    for (unsigned i = 0; i < p->threads; i++)
        pthread_create(&thread[i], NULL, run, p);
    for (unsigned i = 0; i < p->threads; i++)
        pthread_join(thread[i], NULL);
}

static void async(const struct program *p)
{
    CUdeviceptr held[64] = {0}, weight;
    CUstream stream;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < p->calls / 3; i++) {
        CUdeviceptr *slot = &held[i % 64], from = held[(i + 63) % 64];
        CUstream on = i % 500 < 400 ? NULL : stream;
        if (*slot != 0)
            CU(cuMemFreeAsync(*slot, on));
        CU(cuMemAllocAsync(slot, 4096, on));
        weight = tensor(p, i);
        launch(p->four, on, (void *[]){slot, from != 0 ? &from : slot, &weight, &weight});
        if (i % 250 == 0)
            CU(cuStreamSynchronize(NULL));
    }
}

static void events(const struct program *p)
{
    CUstream stream[STREAMS];
    CUevent event[64];
    for (unsigned i = 0; i < STREAMS; i++)
        CU(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < 64; i++)
        CU(cuEventCreate(&event[i], i % 2 ? CU_EVENT_DISABLE_TIMING : CU_EVENT_DEFAULT));
    for (unsigned i = 0; i < p->calls / 3; i++) {
        CUstream on = i % 8 == 7 ? NULL : stream[i % STREAMS];
        CU(cuStreamWaitEvent(on, event[i % 64], 0));
        layer(p, on, i + 1);
        CU(cuEventRecord(event[(i + 1) % 64], on));
        if (i % SYNC_EVERY == 0)
            CU(cuEventSynchronize(event[(i + 1) % 64]));
    }
}

static void live(const struct program *p)
{
    static CUdeviceptr made[LIVE];
    for (unsigned i = 0; i < LIVE; i++)
        CU(cuMemAlloc(&made[i], 256));
    for (unsigned i = 0; i < p->calls; i++) {
        unsigned at = i / 8 * 31u, near = at + i * 37u % 256;
        CUdeviceptr to = made[near % LIVE], from = made[(near + 5) % LIVE];
        launch(p->four, NULL, (void *[]){&to, &from, &to, &from});
        if (i % 8 == 0) {
            CU(cuMemFree(made[at % LIVE]));
            CU(cuMemAlloc(&made[at % LIVE], 256));
        }
    }
}

static void start(struct program *p)
{
    CUmodule module;
    CU(cuInit(0));
    CU(cuDevicePrimaryCtxRetain(&p->context, 0));
    CU(cuCtxSetCurrent(p->context));
    CU(cuModuleLoadData(&module, ptx));
    CU(cuModuleGetFunction(&p->four, module, "four_pointers"));
    CU(cuModuleGetFunction(&p->copy, module, "_Z4copyPjPKjj"));
    CU(cuModuleGetFunction(&p->saxpy, module, "saxpy"));
    CU(cuModuleGetFunction(&p->gather, module, "_Z6gatherPjPPKjjj"));
    for (unsigned i = 0; i < BLOCKS; i++)
        CU(cuMemAlloc(&p->block[i], BLOCK));
    for (unsigned i = 0; i < WEIGHTS; i++)
        CU(cuMemAlloc(&p->weight[i], BLOCK));
    CU(cuMemAlloc(&p->table, 4096));
    CU(cuMemcpyHtoD(p->table, &p->block[0], sizeof p->block[0]));
    CU(cuMemHostAlloc(&p->pinned, 4096, 0));
}

int main(int argc, char **argv)
{
    static struct program p;
    const char *what = argc > 1 ? argv[1] : "";
    p.calls = number(argc, argv, 2, 1000000);
    p.threads = number(argc, argv, 3, 8);
    start(&p);
    if (strcmp(what, "train") == 0)
        train(&p, PLAIN);
    else if (strcmp(what, "graphs") == 0)
        train(&p, GRAPHS);
    else if (strcmp(what, "tables") == 0)
        train(&p, TABLES);
    else if (strcmp(what, "pool") == 0)
        in_threads(&p, pool_thread);
    else if (strcmp(what, "crowd") == 0)
        in_threads(&p, crowd_thread);
    else if (strcmp(what, "async") == 0)
        async(&p);
    else if (strcmp(what, "events") == 0)
        events(&p);
    else if (strcmp(what, "live") == 0)
        live(&p);
    else
        return 2;
    CU(cuCtxSynchronize());
    return 0;
}
