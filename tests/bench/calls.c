/* SPDX-License-Identifier: Apache-2.0
 *
 * calls [threads 1] [batches 200] [warm-up batches 20]: nanoseconds of host time for single driver
 * calls, by three doors: the ELF link, cuGetProcAddress, dlsym. One line each: `name door threads
 * median p10 p90`, over batches of calls by all threads. Knows nothing of libptds; scripts/bench
 * runs it without and with the shim, in turn, and compares.
 */
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void must(CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS)
        return;
    printf("# WRONG %s -> %d\n", call, (int)result);
    fflush(stdout);
    _Exit(1);
}
#define CU(call) must((call), #call)

/* The functions that are timed, with the names that cuda.h gives them here. */
#define TIMED(F) \
    F(cuLaunchKernel) \
    F(cuStreamQuery) \
    F(cuEventRecord) F(cuEventQuery) F(cuCtxGetCurrent) F(cuMemcpyHtoDAsync) F(cuMemsetD8Async) F(cuPointerGetAttribute)

#define STRING(x) #x
#define SYMBOL(x) STRING(x) /* cuMemcpyHtoDAsync -> "cuMemcpyHtoDAsync_v2" */
#define POINTER(f) __typeof__(&f) f##_p;

struct door {
    const char *name;
    TIMED(POINTER)
};

struct bench {
    struct door doors[3];
    CUcontext context;
    CUfunction empty;
    unsigned threads, batches, warm_up;
};

/* What a thread needs of its own, so that threads meet in the driver only. */
struct lane {
    const struct door *door;
    CUfunction empty;
    CUstream own;
    CUevent event;
    CUdeviceptr words;
    void *pinned;
};

static const char ptx[] = ".version 6.3\n.target sm_50\n.address_size 64\n.visible .entry empty()\n{\n    ret;\n}\n";

/* ---- the calls ---- */

static CUresult launch(const struct lane *l)
{
    return l->door->cuLaunchKernel_p(l->empty, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static CUresult launch_own(const struct lane *l)
{
    return l->door->cuLaunchKernel_p(l->empty, 1, 1, 1, 1, 1, 1, 0, l->own, NULL, NULL);
}

static CUresult query(const struct lane *l)
{
    l->door->cuStreamQuery_p(NULL);
    return CUDA_SUCCESS;
}

static CUresult record(const struct lane *l)
{
    return l->door->cuEventRecord_p(l->event, NULL);
}

static CUresult event_query(const struct lane *l)
{
    l->door->cuEventQuery_p(l->event);
    return CUDA_SUCCESS;
}

static CUresult get_current(const struct lane *l)
{
    CUcontext context;
    return l->door->cuCtxGetCurrent_p(&context);
}

static CUresult pointer_type(const struct lane *l)
{
    unsigned type;
    return l->door->cuPointerGetAttribute_p(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, l->words);
}

static CUresult copy(const struct lane *l)
{
    return l->door->cuMemcpyHtoDAsync_p(l->words, l->pinned, 64, NULL);
}

static CUresult set(const struct lane *l)
{
    return l->door->cuMemsetD8Async_p(l->words, 1, 64, NULL);
}

static const struct call {
    const char *name;
    CUresult (*run)(const struct lane *l);
    unsigned batch; /* below the depth of a stream's queue, so that the host never waits for the GPU
                       within one */
} calls[] = {
    {"launch", launch, 200},
    {"launch-own-stream", launch_own, 200},
    {"memcpy-htod-async", copy, 200},
    {"memset-async", set, 200},
    {"event-record", record, 500},
    {"event-query", event_query, 2000},
    {"stream-query", query, 2000},
    {"pointer-attribute", pointer_type, 2000},
    {"ctx-get-current", get_current, 10000},
};

/* ---- the doors ---- */

static void *by_address(const char *name)
{
    void *function = NULL;
    CU(cuGetProcAddress(name, &function, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, NULL));
    return function;
}

static void *by_dlsym(const char *symbol)
{
    static void *library;
    if (!library)
        library = dlopen("libcuda.so.1", RTLD_NOW);
    return library ? dlsym(library, symbol) : NULL;
}

static void open_doors(struct bench *b)
{
    b->doors[0].name = "elf";
    b->doors[1].name = "cuGetProcAddress";
    b->doors[2].name = "dlsym";
/* #f is the API's name, SYMBOL(f) the exported one. */
#define OPEN(f) \
    b->doors[0].f##_p = f; \
    *(void **)&b->doors[1].f##_p = by_address(#f); \
    *(void **)&b->doors[2].f##_p = by_dlsym(SYMBOL(f)); \
    if (!b->doors[1].f##_p || !b->doors[2].f##_p) \
        must(CUDA_ERROR_NOT_FOUND, #f);
    TIMED(OPEN)
}

/* ---- measuring ---- */

struct worker {
    const struct bench *bench;
    const struct door *door;
    const struct call *call;
    pthread_barrier_t *start;
    double *ns; /* one a batch */
    pthread_t thread;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct lane make_lane(const struct worker *w)
{
    struct lane l = {.door = w->door, .empty = w->bench->empty};
    CU(cuCtxSetCurrent(w->bench->context));
    CU(cuStreamCreate(&l.own, CU_STREAM_NON_BLOCKING));
    CU(cuEventCreate(&l.event, CU_EVENT_DISABLE_TIMING));
    CU(cuMemAlloc(&l.words, 4096));
    CU(cuMemHostAlloc(&l.pinned, 4096, 0));
    return l;
}

static void drop_lane(struct lane *l)
{
    CU(cuStreamDestroy(l->own));
    CU(cuEventDestroy(l->event));
    CU(cuMemFree(l->words));
    CU(cuMemFreeHost(l->pinned));
}

static void *work(void *argument)
{
    struct worker *w = argument;
    struct lane l = make_lane(w);
    for (unsigned batch = 0; batch < w->bench->warm_up + w->bench->batches; batch++) {
        CU(cuCtxSynchronize());
        pthread_barrier_wait(w->start);
        uint64_t began = now_ns();
        for (unsigned i = 0; i < w->call->batch; i++)
            CU(w->call->run(&l));
        uint64_t ended = now_ns();
        pthread_barrier_wait(w->start);
        if (batch >= w->bench->warm_up)
            w->ns[batch - w->bench->warm_up] = (double)(ended - began) / w->call->batch;
    }
    CU(cuCtxSynchronize());
    drop_lane(&l);
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const struct bench *b, const struct door *door, const struct call *call)
{
    pthread_barrier_t start;
    size_t samples = (size_t)b->threads * b->batches;
    struct worker *workers = calloc(b->threads, sizeof *workers);
    double *ns = calloc(samples, sizeof *ns);
    pthread_barrier_init(&start, NULL, b->threads);
    for (unsigned i = 0; i < b->threads; i++) {
        workers[i] = (struct worker){b, door, call, &start, ns + (size_t)i * b->batches, 0};
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (unsigned i = 0; i < b->threads; i++)
        pthread_join(workers[i].thread, NULL);
    qsort(ns, samples, sizeof *ns, by_size);
    printf("%s %s %u %.1f %.1f %.1f\n", call->name, door->name, b->threads, ns[samples / 2], ns[samples / 10],
           ns[samples * 9 / 10]);
    fflush(stdout);
    pthread_barrier_destroy(&start);
    free(workers);
    free(ns);
}

static unsigned number(int argc, char **argv, int i, unsigned fallback)
{
    return i < argc ? (unsigned)strtoul(argv[i], NULL, 10) : fallback;
}

int main(int argc, char **argv)
{
    static struct bench b;
    CUmodule module;
    b.threads = number(argc, argv, 1, 1);
    b.batches = number(argc, argv, 2, 200);
    b.warm_up = number(argc, argv, 3, 20);
    CU(cuInit(0));
    CU(cuDevicePrimaryCtxRetain(&b.context, 0));
    CU(cuCtxSetCurrent(b.context));
    CU(cuModuleLoadData(&module, ptx));
    CU(cuModuleGetFunction(&b.empty, module, "empty"));
    open_doors(&b);
    for (unsigned d = 0; d < 3; d++)
        for (unsigned c = 0; c < sizeof calls / sizeof calls[0]; c++)
            measure(&b, &b.doors[d], &calls[c]);
    return 0;
}
