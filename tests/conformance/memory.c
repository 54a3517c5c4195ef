/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory holds what was put there: copies of all shapes, memsets of all widths, kernels, stream order. Compares every byte,
 * those around the target included.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/conf.h"

enum { BYTES = 64 * 1024 };
static unsigned char *model, *got;
static CUdeviceptr device, device2;

static void restart(void)
{
    for (int i = 0; i < BYTES; i++)
        model[i] = (unsigned char)(i * 31 + (i >> 8));
    MUST(cuMemcpyHtoD_v2(device, model, BYTES));
}

static void check(const char *name)
{
    memset(got, 0xee, BYTES);
    MUST(cuMemcpyDtoH_v2(got, device, BYTES));
    conf_say_bool("memory", name, memcmp(got, model, BYTES) == 0);
    restart();
}

static void linear(void)
{
    restart();
    check("HtoD-DtoH");
    MUST(cuMemcpyDtoD_v2(device2, device, BYTES));
    MUST(cuMemsetD8_v2(device, 0, BYTES));
    MUST(cuMemcpyDtoD_v2(device, device2, BYTES));
    check("DtoD");
    memset(model + 1000, 0x5a, 333);
    MUST(cuMemcpyHtoD_v2(device + 1000, model + 1000, 333));
    check("HtoD-part");
    memset(model + 77, 0x11, 100);
    MUST(cuMemcpy(device + 77, (CUdeviceptr)(uintptr_t)(model + 77), 100));
    check("cuMemcpy-HtoD");
}

/* A pageable source may be changed as soon as the asynchronous call is back. */
static void staged(void)
{
    unsigned char source[4096];
    memset(source, 0x77, sizeof source);
    uint32_t *gate = conf_gate(conf.blocking, false);
    MUST(cuMemcpyHtoDAsync_v2(device + 512, source, sizeof source, conf.blocking));
    memset(source, 0, sizeof source);
    conf_open(gate);
    MUST(cuStreamSynchronize(conf.blocking));
    memset(model + 512, 0x77, sizeof source);
    check("HtoDAsync-pageable-is-staged");
}

static void put(size_t at, unsigned int value, size_t element, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(model + at + i * element, &value, element);
}

static void memsets(void)
{
    put(101, 0xab, 1, 1001);
    MUST(cuMemsetD8_v2(device + 101, 0xab, 1001));
    check("D8");
    put(102, 0xbeef, 2, 777);
    MUST(cuMemsetD16_v2(device + 102, 0xbeef, 777));
    check("D16");
    put(104, 0xdeadbeef, 4, 555);
    MUST(cuMemsetD32_v2(device + 104, 0xdeadbeef, 555));
    check("D32");
    for (size_t y = 0; y < 7; y++) {
        put(512 + y * 256, 0x0c, 1, 33);
        put(8192 + y * 256, 0xc0de, 2, 33);
        put(16384 + y * 256, 0x01020304, 4, 33);
    }
    MUST(cuMemsetD2D8_v2(device + 512, 256, 0x0c, 33, 7));
    MUST(cuMemsetD2D16_v2(device + 8192, 256, 0xc0de, 33, 7));
    MUST(cuMemsetD2D32_v2(device + 16384, 256, 0x01020304, 33, 7));
    check("D2D8-D2D16-D2D32");
    put(0, 0x42, 1, 10);
    put(4096, 0x4243, 2, 10);
    put(8192, 0x42434445, 4, 10);
    MUST(cuMemsetD8Async(device, 0x42, 10, conf.blocking));
    MUST(cuMemsetD16Async(device + 4096, 0x4243, 10, conf.blocking));
    MUST(cuMemsetD32Async(device + 8192, 0x42434445, 10, conf.blocking));
    check("D8Async-D16Async-D32Async");
}

static void rectangles(void)
{
    unsigned char block[10 * 20 * 3];
    memset(block, 0x99, sizeof block);
    CUDA_MEMCPY2D flat = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = block,
                          .srcPitch = 20,
                          .srcXInBytes = 2,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = device,
                          .dstPitch = 512,
                          .dstXInBytes = 5,
                          .dstY = 3,
                          .WidthInBytes = 15,
                          .Height = 9};
    MUST(cuMemcpy2D_v2(&flat));
    for (int y = 0; y < 9; y++)
        memset(model + (3 + y) * 512 + 5, 0x99, 15);
    check("2D-HtoD");
    CUDA_MEMCPY3D deep = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = block,
                          .srcPitch = 20,
                          .srcHeight = 10,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = device,
                          .dstPitch = 256,
                          .dstHeight = 32,
                          .dstXInBytes = 8,
                          .dstY = 2,
                          .dstZ = 1,
                          .WidthInBytes = 20,
                          .Height = 10,
                          .Depth = 3};
    MUST(cuMemcpy3D_v2(&deep));
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 10; y++)
            memset(model + ((1 + z) * 32 + 2 + y) * 256 + 8, 0x99, 20);
    check("3D-HtoD");
}

static void arrays(void)
{
    const CUDA_ARRAY_DESCRIPTOR d = {64, 16, CU_AD_FORMAT_UNSIGNED_INT8, 1};
    CUarray array;
    MUST(cuArrayCreate_v2(&array, &d));
    CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                        .srcDevice = device,
                        .srcPitch = 512,
                        .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                        .dstArray = array,
                        .WidthInBytes = 64,
                        .Height = 16};
    CUDA_MEMCPY2D out = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                         .srcArray = array,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = device,
                         .dstPitch = 512,
                         .dstXInBytes = 128,
                         .WidthInBytes = 64,
                         .Height = 16};
    MUST(cuMemcpy2D_v2(&in));
    MUST(cuMemcpy2D_v2(&out));
    for (int y = 0; y < 16; y++)
        memcpy(model + y * 512 + 128, model + y * 512, 64);
    check("2D-array");
    MUST(cuMemcpyHtoA_v2(array, 0, model + 3, 40));
    MUST(cuMemcpyAtoD_v2(device + 4096, array, 0, 40));
    memcpy(model + 4096, model + 3, 40);
    check("HtoA-AtoD");
    MUST(cuCtxSynchronize());
    MUST(cuArrayDestroy(array));
}

static void kernels(void)
{
    uint32_t value = 7, n = 1000;
    void *fill[] = {&device, &value, &n}, *add_one[] = {&device, &n};
    CUstream streams[] = {NULL, CU_STREAM_PER_THREAD, conf.blocking, conf.nonblocking};
    static const char *const names[] = {"kernels-0", "kernels-0x2", "kernels-blocking", "kernels-nonblocking"};
    for (int s = 0; s < 4; s++) {
        MUST(cuCtxSynchronize());
        MUST(cuLaunchKernel(conf.fill, 2, 1, 1, 64, 1, 1, 0, streams[s], fill, NULL));
        for (int i = 0; i < 10; i++)
            MUST(cuLaunchKernel(conf.add_one, 2, 1, 1, 64, 1, 1, 0, streams[s], add_one, NULL));
        MUST(cuStreamSynchronize(streams[s]));
        put(0, 17, 4, n);
        check(names[s]);
    }
}

/* Captured, then launched three times behind each other. */
static void graph(void)
{
    uint32_t value = 1, n = 100;
    void *fill[] = {&device, &value, &n}, *add_one[] = {&device, &n};
    CUgraph g;
    CUgraphExec exec;
    CUevent fork, join;
    MUST(cuCtxSynchronize());
    MUST(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    MUST(cuLaunchKernel(conf.fill, 1, 1, 1, 32, 1, 1, 0, conf.nonblocking, fill, NULL));
    MUST(cuStreamBeginCapture_v2(conf.nonblocking, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuLaunchKernel(conf.add_one, 1, 1, 1, 32, 1, 1, 0, conf.nonblocking, add_one, NULL));
    MUST(cuEventRecord(fork, conf.nonblocking));
    MUST(cuStreamWaitEvent(conf.nonblocking2, fork, 0));
    MUST(cuMemsetD8Async(device + 4096, 0x31, 64, conf.nonblocking2));
    MUST(cuEventRecord(join, conf.nonblocking2));
    MUST(cuStreamWaitEvent(conf.nonblocking, join, 0));
    MUST(cuMemcpyDtoDAsync_v2(device + 8192, device + 4096, 64, conf.nonblocking));
    MUST(cuStreamEndCapture(conf.nonblocking, &g));
    MUST(cuGraphInstantiateWithFlags(&exec, g, 0));
    for (int i = 0; i < 3; i++)
        MUST(cuGraphLaunch(exec, conf.nonblocking));
    MUST(cuStreamSynchronize(conf.nonblocking));
    put(0, 4, 4, n);
    memset(model + 4096, 0x31, 64);
    memset(model + 8192, 0x31, 64);
    check("graph");
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(g));
    MUST(cuEventDestroy_v2(fork));
    MUST(cuEventDestroy_v2(join));
}

int main(void)
{
    conf_begin();
    model = malloc(BYTES);
    got = malloc(BYTES);
    if (!model || !got)
        return 2;
    MUST(cuMemAlloc_v2(&device, BYTES));
    MUST(cuMemAlloc_v2(&device2, BYTES));
    linear();
    staged();
    memsets();
    rectangles();
    arrays();
    kernels();
    graph();
    MUST(cuMemFree_v2(device));
    MUST(cuMemFree_v2(device2));
    free(model);
    free(got);
    return conf_end();
}
