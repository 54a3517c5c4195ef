/* SPDX-License-Identifier: Apache-2.0
 *
 * A program for the simulated driver that launches kernels, which the recorder writes down; argv[1] says how.
 *
 *     launches        kernels with pointers at several places of their parameters, also by a buffer
 *     ends            kernels with pointers into two memories, and to the end of one that no other pointer names
 *     again N         N times the same launch on the default stream, then N times by a configuration; says how many failed
 *     depths N        N launches from one place, each by another way
 *     beside-a-capture N   N times the same launch, the middle third while another stream is captured
 *     rounds N        N rounds of 100 kernels, a wait after each; 0: the kernels alone
 *     thread-rounds N the same by a thread that ends
 */
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/interpose/simulated.h"

namespace
{

void launch(CUfunction function, CUstream stream, std::vector<void *> params)
{
    CU(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, params.data(), nullptr));
}

int launches()
{
    CUdeviceptr memory;
    uint32_t count = 4;
    CU(cuMemAlloc(&memory, 4096));
    CUdeviceptr c = memory, a = memory + 1024, b = memory + 2048;
    printf("memory %llx\n", static_cast<unsigned long long>(memory));
    CU(cuMemsetD8(memory, 0, 4096));
    launch(kernel("add"), nullptr, {&c, &a, &b, &count});
    /* The same by a buffer: three pointers and a count, as the kernel's parameters lie. */
    struct {
        CUdeviceptr c, a, b;
        uint32_t count;
    } buffer = {memory, memory + 1024, memory + 2048, 4};
    size_t size = sizeof buffer;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    CU(cuLaunchKernel(kernel("add"), 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
    CU(cuCtxSynchronize());
    return 0;
}

/* No element is touched, so a pointer may lead anywhere. */
void launch_add(CUdeviceptr c, CUdeviceptr a, CUdeviceptr b)
{
    uint32_t count = 0;
    launch(kernel("add"), nullptr, {&c, &a, &b, &count});
}

int ends()
{
    enum { BYTES = 100 }; /* so that no other memory begins where one ends */
    CUdeviceptr one, other;
    CU(cuMemAlloc(&one, BYTES));
    CU(cuMemAlloc(&other, BYTES));
    launch_add(one, other, one);
    launch_add(one, one + BYTES, other + 8);
    launch_add(one, one, other + BYTES);
    CU(cuCtxSynchronize());
    return 0;
}

/* Each from one place. */
int again(int count)
{
    CUdeviceptr c, a, b;
    uint32_t none = 0;
    int failed = 0;
    CU(cuMemAlloc(&c, 64));
    CU(cuMemAlloc(&a, 64));
    CU(cuMemAlloc(&b, 64));
    void *params[] = {&c, &a, &b, &none};
    CUfunction add = kernel("add");
    for (int i = 0; i < count; i++)
        failed += cuLaunchKernel(add, 2, 3, 4, 5, 6, 7, 0, nullptr, params, nullptr) != CUDA_SUCCESS;
    CUlaunchConfig config = {};
    config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    for (int i = 0; i < count; i++)
        failed += cuLaunchKernelEx(&config, add, params, nullptr) != CUDA_SUCCESS;
    CU(cuCtxSynchronize());
    printf("failed %d\n", failed);
    return 0;
}

/* From one place, by so many calls. */
__attribute__((noinline)) void launch_below(CUfunction function, int depth)
{
    if (depth > 0)
        launch_below(function, depth - 1);
    else
        launch(function, nullptr, {});
    __asm__ volatile(""); /* no jump */
}

int depths(int count)
{
    CUfunction empty = kernel("empty");
    for (int depth = 0; depth < count; depth++)
        launch_below(empty, depth);
    CU(cuCtxSynchronize());
    return 0;
}

/* A launch and a new event a turn, all from one place; beside those of the middle third another stream is captured. */
int beside_a_capture(int count)
{
    CUstream stream, captured;
    CUgraph graph;
    CUfunction empty = kernel("empty");
    CUevent event;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU(cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < count; i++) {
        if (i == count / 3)
            CU(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        if (i == 2 * count / 3)
            CU(cuStreamEndCapture(captured, &graph));
        launch(empty, stream, {});
        CU(cuEventCreate(&event, 0)); /* no work, and on no stream */
        CU(cuEventDestroy(event));
    }
    CU(cuCtxSynchronize());
    return 0;
}

int rounds(int count)
{
    CUdeviceptr memory;
    CU(cuMemAlloc(&memory, 4096));
    for (int round = 0; round == 0 || round < count; round++) {
        for (int i = 0; i < 100; i++)
            launch_add(memory, memory, memory);
        if (count > 0)
            CU(cuStreamSynchronize(nullptr));
    }
    return 0;
}

int thread_rounds(int count)
{
    CUcontext context;
    CU(cuCtxGetCurrent(&context));
    std::thread([&] {
        CU(cuCtxSetCurrent(context));
        rounds(count);
    }).join();
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    std::string mode = argc > 1 ? argv[1] : "";
    int count = argc > 2 ? atoi(argv[2]) : 0;
    start();
    if (mode == "launches")
        return launches();
    if (mode == "ends")
        return ends();
    if (mode == "again")
        return again(count);
    if (mode == "depths")
        return depths(count);
    if (mode == "beside-a-capture")
        return beside_a_capture(count);
    if (mode == "rounds")
        return rounds(count);
    if (mode == "thread-rounds")
        return thread_rounds(count);
    return 2;
}
