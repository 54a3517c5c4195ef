/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels, streams and threads of the measuring program (queues.h). Every kernel that waits ends by itself after some
 * seconds, so that nothing here hangs for ever.
 */
#include "queues.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                          ".visible .entry hold(.param .u64 flag, .param .u64 ns)\n{\n"
                          ".reg .pred %p<3>;\n.reg .b32 %r<2>;\n.reg .b64 %rd<6>;\n"
                          "ld.param.u64 %rd1, [flag];\ncvta.to.global.u64 %rd1, %rd1;\nld.param.u64 %rd2, [ns];\n"
                          "mov.u64 %rd3, %globaltimer;\n"
                          "AGAIN:\nld.volatile.global.u32 %r1, [%rd1];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra DONE;\n"
                          "mov.u64 %rd4, %globaltimer;\nsub.u64 %rd5, %rd4, %rd3;\nsetp.lt.u64 %p2, %rd5, %rd2;\n"
                          "@%p2 bra AGAIN;\nDONE:\nret;\n}\n"
                          ".visible .entry mark(.param .u64 word)\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n"
                          "ld.param.u64 %rd1, [word];\ncvta.to.global.u64 %rd1, %rd1;\nmov.u32 %r1, 1;\n"
                          "st.volatile.global.u32 [%rd1], %r1;\nmembar.sys;\nret;\n}\n";

CUcontext context;
struct tested streams[STREAMS];
unsigned stream_count;
volatile uint32_t *flag, *marks;

static CUfunction hold_kernel, mark_kernel;
static CUdeviceptr flag_address, marks_address, one;
static CUevent event;
static CUgraphExec graphs[STREAMS];
static struct caller *common;

void must(CUresult result, const char *call, int line)
{
    if (result == CUDA_SUCCESS)
        return;
    const char *name = NULL;
    cuGetErrorName(result, &name);
    printf(" FAILED %s:%d %s\n", call, line, name ? name : "?");
    fflush(stdout);
    _Exit(1);
}

double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

void sleep_ms(double ms)
{
    struct timespec left = {.tv_sec = (time_t)(ms / 1e3), .tv_nsec = (long)(ms * 1e6) % 1000000000};
    nanosleep(&left, NULL);
}

const char *option(int argc, char **argv, const char *name, const char *fallback)
{
    size_t size = strlen(name);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], name, size) == 0 && argv[i][size] == '=')
            return argv[i] + size + 1;
    }
    return fallback;
}

/* ---- callers ---- */

static void *serve(void *argument)
{
    struct caller *caller = argument;
    CU(cuCtxSetCurrent(context));
    for (int served = 0;; served++) {
        while (__atomic_load_n(&caller->asked, __ATOMIC_ACQUIRE) == served)
            sleep_ms(0.02);
        caller->body(caller->argument);
        __atomic_store_n(&caller->answered, served + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

struct caller *new_caller(void)
{
    struct caller *caller = calloc(1, sizeof *caller);
    pthread_create(&caller->thread, NULL, serve, caller);
    return caller;
}

static int is_free(const struct caller *caller)
{
    return __atomic_load_n(&caller->answered, __ATOMIC_ACQUIRE) == caller->asked;
}

static int await(const struct caller *caller, double ms)
{
    for (double until = now_ms() + ms; !is_free(caller);) {
        if (now_ms() > until)
            return 0;
        sleep_ms(0.01);
    }
    return 1;
}

int ask(struct caller *caller, void (*body)(void *), void *argument, double ms)
{
    if (!is_free(caller))
        return 0;
    caller->body = body;
    caller->argument = argument;
    __atomic_store_n(&caller->asked, caller->asked + 1, __ATOMIC_RELEASE);
    return await(caller, ms);
}

int ask_for(unsigned stream, void (*body)(void *))
{
    int in_time = ask(streams[stream].caller, body, &streams[stream], STUCK_MS);
    streams[stream].stuck |= !in_time;
    return in_time;
}

/* ---- what is done on streams ---- */

static unsigned index_of(const void *tested)
{
    return (unsigned)((const struct tested *)tested - streams);
}

void hold(void *tested)
{
    uint64_t ns = HOLD_MS * 1000000ull;
    void *parameters[] = {&flag_address, &ns};
    CU(cuLaunchKernel(hold_kernel, 1, 1, 1, 1, 1, 1, 0, ((struct tested *)tested)->stream, parameters, NULL));
}

void mark(void *tested)
{
    CUdeviceptr word = marks_address + 4 * index_of(tested);
    void *parameters[] = {&word};
    CU(cuLaunchKernel(mark_kernel, 1, 1, 1, 1, 1, 1, 0, ((struct tested *)tested)->stream, parameters, NULL));
}

void copy_mark(void *tested)
{
    CU(cuMemcpyDtoHAsync((void *)(marks + index_of(tested)), one, 4, ((struct tested *)tested)->stream));
}

void write_mark(void *tested)
{
    CU(cuStreamWriteValue32(((struct tested *)tested)->stream, marks_address + 4 * index_of(tested), 1, 0));
}

void graph_mark(void *tested)
{
    CU(cuGraphLaunch(graphs[index_of(tested)], ((struct tested *)tested)->stream));
}

void wait_value(void *tested)
{
    CU(cuStreamWaitValue32(((struct tested *)tested)->stream, flag_address, 1, CU_STREAM_WAIT_VALUE_GEQ));
}

static void host_function(void *data)
{
    (void)data;
    for (double until = now_ms() + HOLD_MS; !*flag && now_ms() < until;)
        sleep_ms(0.1);
}

void wait_host(void *tested)
{
    CU(cuLaunchHostFunc(((struct tested *)tested)->stream, host_function, NULL));
}

void record(void *tested)
{
    CU(cuEventRecord(event, ((struct tested *)tested)->stream));
}

void wait_event(void *tested)
{
    CU(cuStreamWaitEvent(((struct tested *)tested)->stream, event, 0));
}

static void finish(void *unused)
{
    (void)unused;
    CU(cuCtxSynchronize());
}

void release(void)
{
    *flag = 1;
    for (unsigned i = 0; i < stream_count; i++)
        await(streams[i].caller, 2 * HOLD_MS);
    ask(common, finish, NULL, 2 * HOLD_MS);
}

void rearm(void)
{
    *flag = 0;
    for (unsigned i = 0; i < STREAMS; i++)
        marks[i] = streams[i].stuck = 0;
}

/* ---- the beginning ---- */

static void make_graph(unsigned i)
{
    CUgraph graph;
    CUgraphNode node;
    CUdeviceptr word = marks_address + 4 * i;
    void *parameters[] = {&word};
    CUDA_KERNEL_NODE_PARAMS kernel = {.func = mark_kernel,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 1,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = parameters};
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
    CU(cuGraphInstantiate(&graphs[i], graph, 0));
}

static void *pinned(size_t size, CUdeviceptr *address)
{
    void *memory;
    CU(cuMemHostAlloc(&memory, size, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
    CU(cuMemHostGetDevicePointer(address, memory, 0));
    memset(memory, 0, size);
    return memory;
}

int wants_graphs;

void begin(void)
{
    CUdevice device;
    CUmodule module;
    CU(cuInit(0));
    CU(cuDeviceGet(&device, 0));
    CU(cuDevicePrimaryCtxRetain(&context, device));
    CU(cuCtxSetCurrent(context));
    CU(cuModuleLoadData(&module, ptx));
    CU(cuModuleGetFunction(&hold_kernel, module, "hold"));
    CU(cuModuleGetFunction(&mark_kernel, module, "mark"));
    flag = pinned(64, &flag_address);
    marks = pinned(STREAMS * 4, &marks_address);
    CU(cuMemAlloc(&one, 4));
    CU(cuMemsetD32(one, 1, 1));
    CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    struct tested legacy = {.kind = '0'}; /* loads the kernels */
    streams[0] = legacy;
    *flag = 1;
    hold(&streams[0]);
    mark(&streams[0]);
    CU(cuCtxSynchronize());
    common = new_caller();
    for (unsigned i = 0; wants_graphs && i < STREAMS; i++)
        make_graph(i);
    rearm();
}

void add_stream(char kind)
{
    struct tested *added = &streams[stream_count++];
    int lowest, highest;
    *added = (struct tested){.kind = kind, .caller = common};
    if (kind == 't')
        added->caller = new_caller();
    if (kind == 't')
        added->stream = CU_STREAM_PER_THREAD;
    if (kind == 'n' || kind == 'b')
        CU(cuStreamCreate(&added->stream, kind == 'n' ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
    if (kind != 'h' && kind != 'l')
        return;
    CU(cuCtxGetStreamPriorityRange(&lowest, &highest));
    CU(cuStreamCreateWithPriority(&added->stream, CU_STREAM_NON_BLOCKING, kind == 'h' ? highest : lowest - 1));
}

void add_streams(const char *spec)
{
    while (*spec) {
        char kind = *spec, *end;
        unsigned long count = strtoul(spec + 1, &end, 10);
        for (unsigned long i = 0; i < (count ? count : 1) && stream_count < STREAMS; i++)
            add_stream(kind);
        spec = *end == ',' ? end + 1 : end;
    }
}
