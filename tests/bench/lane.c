/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls that are measured and what they need: lane.h. Called by the programs of this folder, never while they measure,
 * but for the calls themselves: those must do nothing besides.
 */
#define _GNU_SOURCE
#include "tests/bench/lane.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void must(CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS)
        return;
    printf("# WRONG %s -> %d\n", call, (int)result);
    fflush(stdout);
    _Exit(1);
}

/* ---- the calls ---- */

static CUresult launch_on(const struct lane *l, CUstream stream)
{
    return l->door->cuLaunchKernel_p(l->empty, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

static CUresult launch(const struct lane *l)
{
    return launch_on(l, NULL);
}

static CUresult launch_own(const struct lane *l)
{
    return launch_on(l, l->own);
}

/* Its four pointers lead to four allocations of the thread's own. */
static CUresult launch_four_on(const struct lane *l, CUstream stream)
{
    CUdeviceptr at[LANE_BUFFERS];
    void *params[LANE_BUFFERS];
    for (int i = 0; i < LANE_BUFFERS; i++) {
        at[i] = l->others[i];
        params[i] = &at[i];
    }
    return l->door->cuLaunchKernel_p(l->four, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

static CUresult launch_four(const struct lane *l)
{
    return launch_four_on(l, NULL);
}

static CUresult launch_four_own(const struct lane *l)
{
    return launch_four_on(l, l->own);
}

/* Each of the two calls changes from the default stream to a blocking one or back. */
static CUresult change(const struct lane *l)
{
    CUresult first = launch_on(l, NULL);
    return first == CUDA_SUCCESS ? launch_on(l, l->blocking) : first;
}

static CUresult follow(const struct lane *l, CUstream first, CUstream second)
{
    CUresult result = launch_on(l, first);
    if (result == CUDA_SUCCESS)
        result = l->door->cuEventRecord_p(l->event, first);
    return result == CUDA_SUCCESS ? l->door->cuStreamWaitEvent_p(second, l->event, 0) : result;
}

/* The same on two streams of the program's, which orders them itself: what a change costs whoever makes it. */
static CUresult change_by_hand(const struct lane *l)
{
    CUresult first = follow(l, l->own, l->blocking);
    return first == CUDA_SUCCESS ? follow(l, l->blocking, l->own) : first;
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

static CUresult copy_within(const struct lane *l)
{
    return l->door->cuMemcpyDtoDAsync_p(l->others[0], l->words, 64, NULL);
}

static CUresult device_attribute(const struct lane *l)
{
    int value;
    return l->door->cuDeviceGetAttribute_p(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0);
}

static CUresult set(const struct lane *l)
{
    return l->door->cuMemsetD8Async_p(l->words, 1, 64, NULL);
}

const struct call calls[] = {
    {"launch", launch, 1, 200, 1},
    {"launch-own-stream", launch_own, 1, 200, 1},
    {"launch-four", launch_four, 1, 200, 1},
    {"launch-four-own", launch_four_own, 1, 200, 1},
    {"transition", change, 2, 100, 1},
    {"transition-by-hand", change_by_hand, 2, 100, 1},
    {"memcpy-htod-async", copy, 1, 200, 1},
    {"memcpy-dtod-async", copy_within, 1, 200, 1},
    {"memset-async", set, 1, 200, 1},
    {"event-record", record, 1, 500, 1},
    {"event-query", event_query, 1, 2000, 0},
    {"stream-query", query, 1, 2000, 0},
    {"pointer-attribute", pointer_type, 1, 2000, 0},
    {"ctx-get-current", get_current, 1, 10000, 0},
    {"device-attribute", device_attribute, 1, 10000, 0},
};
const unsigned call_count = sizeof calls / sizeof calls[0];

int in_list(const char *list, const char *name)
{
    size_t length = strlen(name);
    if (!list || strcmp(list, "all") == 0)
        return 1;
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length) {
        if ((at == list || at[-1] == ',') && (at[length] == ',' || !at[length]))
            return 1;
    }
    return 0;
}

const struct call *find_call(const char *name)
{
    for (unsigned i = 0; i < call_count; i++) {
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    }
    printf("# WRONG no call %s\n", name);
    exit(1);
}

/* ---- the doors ---- */

#define STRING(x) #x
#define SYMBOL(x) STRING(x) /* cuMemcpyHtoDAsync -> "cuMemcpyHtoDAsync_v2" */

/* As a program of CUDA 13.0 asks, whichever headers these are: a driver refuses versions that are newer than itself. */
enum { ASKED_VERSION = 13000 };

static void *by_address(const char *name)
{
    void *function = NULL;
    CU(cuGetProcAddress(name, &function, ASKED_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, NULL));
    return function;
}

static void *by_dlsym(const char *symbol)
{
    static void *library;
    if (!library)
        library = dlopen("libcuda.so.1", RTLD_NOW);
    return library ? dlsym(library, symbol) : NULL;
}

static void open_doors(struct door *doors)
{
    doors[0].name = "elf";
    doors[1].name = "cuGetProcAddress";
    doors[2].name = "dlsym";
/* #f is the API's name, SYMBOL(f) the exported one. */
#define OPEN(f) \
    doors[0].f##_p = f; \
    *(void **)&doors[1].f##_p = by_address(#f); \
    *(void **)&doors[2].f##_p = by_dlsym(SYMBOL(f)); \
    if (!doors[1].f##_p || !doors[2].f##_p) \
        must(CUDA_ERROR_NOT_FOUND, #f);
    TIMED(OPEN)
}

void make_setting(struct setting *setting)
{
    static const char ptx[] = ".version 6.3\n.target sm_50\n.address_size 64\n.visible .entry empty()\n{\n    ret;\n}\n"
                              ".visible .entry four_pointers(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)\n"
                              "{\n    .reg .b64 %rd<5>;\n"
                              "    ld.param.u64 %rd1, [a];\n    ld.param.u64 %rd2, [b];\n"
                              "    ld.param.u64 %rd3, [c];\n    ld.param.u64 %rd4, [d];\n"
                              "    st.global.u32 [%rd1], 0;\n    st.global.u32 [%rd2], 0;\n"
                              "    st.global.u32 [%rd3], 0;\n    st.global.u32 [%rd4], 0;\n    ret;\n}\n";
    CUmodule module;
    CU(cuInit(0));
    CU(cuDevicePrimaryCtxRetain(&setting->context, 0));
    CU(cuCtxSetCurrent(setting->context));
    CU(cuModuleLoadData(&module, ptx));
    CU(cuModuleGetFunction(&setting->empty, module, "empty"));
    CU(cuModuleGetFunction(&setting->four, module, "four_pointers"));
    open_doors(setting->doors);
}

struct lane make_lane(const struct setting *setting, const struct door *door)
{
    struct lane l = {.door = door, .empty = setting->empty, .four = setting->four};
    CU(cuCtxSetCurrent(setting->context));
    CU(cuStreamCreate(&l.own, CU_STREAM_NON_BLOCKING));
    CU(cuStreamCreate(&l.blocking, CU_STREAM_DEFAULT));
    CU(cuEventCreate(&l.event, CU_EVENT_DISABLE_TIMING));
    CU(cuMemAlloc(&l.words, 4096));
    for (int i = 0; i < LANE_BUFFERS; i++)
        CU(cuMemAlloc(&l.others[i], 4096));
    CU(cuMemHostAlloc(&l.pinned, 4096, 0));
    return l;
}

void drop_lane(struct lane *l)
{
    CU(cuStreamDestroy(l->own));
    CU(cuStreamDestroy(l->blocking));
    CU(cuEventDestroy(l->event));
    CU(cuMemFree(l->words));
    for (int i = 0; i < LANE_BUFFERS; i++)
        CU(cuMemFree(l->others[i]));
    CU(cuMemFreeHost(l->pinned));
}

/* ---- numbers ---- */

uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

unsigned number(int argc, char **argv, int i, unsigned fallback)
{
    return i < argc ? (unsigned)strtoul(argv[i], NULL, 10) : fallback;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double percentile(double *values, unsigned count, unsigned share)
{
    qsort(values, count, sizeof *values, by_size);
    return values[(size_t)count * share / 100];
}
