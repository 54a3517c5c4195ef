// SPDX-License-Identifier: Apache-2.0
//
// What the conformance programs do not show of the simulated driver: what it refuses, graphs in full, overlap, kernels of a
// test's own, contexts. Linked to the simulator as a program is.
#include <pthread.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/sim/driver_fixture.h"

namespace
{

TEST_F(Driver, WhatIsNotSimulatedSaysSo)
{
    CUtexref texture;
    EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuTexRefCreate(&texture));
    CUmipmappedArray mipmaps;
    CUDA_ARRAY3D_DESCRIPTOR shape = {};
    EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuMipmappedArrayCreate(&mipmaps, &shape, 1));
}

TEST_F(Driver, AnUnknownKernelIsRefused)
{
    CUmodule other;
    CUfunction f;
    ASSERT_EQ(CUDA_SUCCESS,
              cuModuleLoadData(&other,
                               ".version 7.0\n.target sm_52\n.visible .entry mystery(.param .u64 p,\n .param .align 16 "
                               ".b8 s[24], // a comment, with a comma\n .param .f32 x)\n{ mystery.u32 %r1; ret; }"));
    ASSERT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&f, other, "mystery"));
    size_t offset = 0, size = 0;
    EXPECT_EQ(CUDA_SUCCESS, cuFuncGetParamInfo(f, 1, &offset, &size));
    EXPECT_EQ(16u, offset);
    EXPECT_EQ(24u, size);
    EXPECT_EQ(CUDA_SUCCESS, cuFuncGetParamInfo(f, 2, &offset, &size));
    EXPECT_EQ(40u, offset);
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuFuncGetParamInfo(f, 3, &offset, &size));
    uint64_t zeros[4] = {};
    EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, Launch(f, nullptr, {zeros, zeros, zeros}));
    EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&f, other, "absent"));
    EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(other));
}

TEST_F(Driver, ABinaryImageHasTheBuiltInKernels)
{
    static const unsigned char elf[64] = {0x7f, 'E', 'L', 'F'};
    CUmodule other;
    CUfunction f;
    ASSERT_EQ(CUDA_SUCCESS, cuModuleLoadData(&other, elf));
    EXPECT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&f, other, "saxpy"));
    EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&f, other, "mystery"));
    EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(other));
}

TEST_F(Driver, TheKitsKernelsCompute)
{
    CUdeviceptr a, b, c;
    uint32_t n = 100, two = 2, three = 3, words[100];
    for (CUdeviceptr *p : {&a, &b, &c})
        ASSERT_EQ(CUDA_SUCCESS, cuMemAlloc_v2(p, sizeof words));
    EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("fill"), nullptr, {&a, &two, &n}));
    EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("fill"), nullptr, {&b, &three, &n}));
    EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("add"), nullptr, {&c, &a, &b, &n}));
    EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("copy"), nullptr, {&a, &c, &n}));
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyDtoH_v2(words, a, sizeof words));
    for (uint32_t w : words)
        ASSERT_EQ(5u, w);
    float x[100], y[100], factor = 0.5f;
    for (int i = 0; i < 100; i++)
        x[i] = static_cast<float>(i), y[i] = 1;
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyHtoD_v2(a, x, sizeof x));
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyHtoD_v2(b, y, sizeof y));
    EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("saxpy"), nullptr, {&b, &a, &factor, &n}));
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyDtoH_v2(y, b, sizeof y));
    for (int i = 0; i < 100; i++)
        ASSERT_EQ(0.5f * static_cast<float>(i) + 1, y[i]);
    for (CUdeviceptr p : {a, b, c})
        EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(p));
}

std::atomic<int> custom_runs{0};

TEST_F(Driver, KernelsOfATestsOwn)
{
    sim_define_kernel("custom", "pd", [](const unsigned char *parameters) {
        uint64_t p;
        uint32_t value;
        memcpy(&p, parameters, 8);
        memcpy(&value, parameters + 8, 4);
        memcpy(sim_bytes(p), &value, 4);
        custom_runs++;
    });
    CUmodule other;
    CUfunction f;
    ASSERT_EQ(CUDA_SUCCESS,
              cuModuleLoadData(&other, ".version 7.0\n.visible .entry custom(.param .u64 a, .param .u32 b) { ret; }"));
    ASSERT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&f, other, "custom"));
    CUdeviceptr p;
    uint32_t value = 42, got = 0;
    ASSERT_EQ(CUDA_SUCCESS, cuMemAlloc_v2(&p, 4));
    EXPECT_EQ(CUDA_SUCCESS, Launch(f, nullptr, {&p, &value}));
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyDtoH_v2(&got, p, 4));
    EXPECT_EQ(42u, got);
    EXPECT_EQ(1, custom_runs.load());
    EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(p));
    EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(other));
}

// All gates are open only when the last kernel runs: without real overlap this never ends.
TEST_F(Driver, SixtyFourStreamsOverlap)
{
    constexpr int kStreams = 64;
    uint32_t *flags;
    ASSERT_EQ(CUDA_SUCCESS, cuMemHostAlloc(reinterpret_cast<void **>(&flags), 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    std::vector<CUstream> streams(kStreams);
    uint32_t one = 1;
    for (int i = 0; i < kStreams; i++) {
        ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        uint32_t *mine = &flags[i], *next = &flags[i + 1];
        ASSERT_EQ(CUDA_SUCCESS, Launch(Kernel("gate"), streams[i], {&next}));
        ASSERT_EQ(CUDA_SUCCESS, Launch(Kernel("mark"), streams[i], {&mine, &one}));
    }
    uint32_t *last = &flags[kStreams];
    ASSERT_EQ(CUDA_SUCCESS, Launch(Kernel("mark"), nullptr, {&last, &one}));
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    for (CUstream s : streams)
        EXPECT_EQ(CUDA_SUCCESS, cuStreamDestroy_v2(s));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFreeHost(flags));
}

void Count(void *counter)
{
    ++*static_cast<std::atomic<int> *>(counter);
}

TEST_F(Driver, CaptureToGraphAndLaunch)
{
    CUstream s, fork;
    CUevent forked, joined;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr p;
    std::atomic<int> host_calls{0};
    uint32_t n = 8, zero = 0, words[8];
    ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&fork, CU_STREAM_NON_BLOCKING));
    ASSERT_EQ(CUDA_SUCCESS, cuEventCreate(&forked, CU_EVENT_DISABLE_TIMING));
    ASSERT_EQ(CUDA_SUCCESS, cuEventCreate(&joined, CU_EVENT_DISABLE_TIMING));
    ASSERT_EQ(CUDA_SUCCESS, cuMemAlloc_v2(&p, sizeof words));
    EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("fill"), s, {&p, &zero, &n}));
    ASSERT_EQ(CUDA_SUCCESS, cuStreamSynchronize(s)); // the first launch of the graph is on another stream
    ASSERT_EQ(CUDA_SUCCESS, cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("add_one"), s, {&p, &n}));
    EXPECT_EQ(CUDA_SUCCESS, cuEventRecord(forked, s));
    EXPECT_EQ(CUDA_SUCCESS, cuStreamWaitEvent(fork, forked, 0));
    EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("add_one"), fork, {&p, &n}));
    EXPECT_EQ(CUDA_SUCCESS, cuEventRecord(joined, fork));
    EXPECT_EQ(CUDA_SUCCESS, cuStreamWaitEvent(s, joined, 0));
    EXPECT_EQ(CUDA_SUCCESS, cuLaunchHostFunc(s, Count, &host_calls));
    CUstreamCaptureStatus status;
    cuuint64_t id = 0;
    size_t dependencies = 0;
    const CUgraphNode *nodes;
    EXPECT_EQ(CUDA_SUCCESS, cuStreamGetCaptureInfo_v2(s, &status, &id, &graph, &nodes, &dependencies));
    EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_ACTIVE, status);
    EXPECT_EQ(1u, dependencies);
    ASSERT_EQ(CUDA_SUCCESS, cuStreamEndCapture(s, &graph));
    EXPECT_EQ(0, host_calls.load());
    size_t count = 0, roots = 0;
    EXPECT_EQ(CUDA_SUCCESS, cuGraphGetNodes(graph, nullptr, &count));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphGetRootNodes(graph, nullptr, &roots));
    EXPECT_EQ(3u, count);
    EXPECT_EQ(1u, roots);
    ASSERT_EQ(CUDA_SUCCESS, cuGraphInstantiateWithFlags(&exec, graph, 0));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphDestroy(graph));
    for (int i = 0; i < 5; i++)
        EXPECT_EQ(CUDA_SUCCESS, cuGraphLaunch(exec, i % 2 ? s : fork));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphExecDestroy(exec));
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyDtoH_v2(words, p, sizeof words));
    for (uint32_t w : words)
        EXPECT_EQ(10u, w);
    EXPECT_EQ(5, host_calls.load());
    EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(p));
}

TEST_F(Driver, HostFunctionsMayNotCallTheDriver)
{
    CUresult inside = CUDA_SUCCESS;
    EXPECT_EQ(CUDA_SUCCESS, cuLaunchHostFunc(
                                nullptr, [](void *out) { *static_cast<CUresult *>(out) = cuCtxSynchronize(); }, &inside));
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    EXPECT_EQ(CUDA_ERROR_NOT_PERMITTED, inside);
}

TEST_F(Driver, StaleHandlesAndAddressesAreRefused)
{
    CUstream s;
    CUevent e;
    CUdeviceptr p;
    char byte;
    ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&s, 0));
    ASSERT_EQ(CUDA_SUCCESS, cuEventCreate(&e, 0));
    ASSERT_EQ(CUDA_SUCCESS, cuMemAlloc_v2(&p, 100));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(&byte, p + 512 * 1024, 1));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD8_v2(p, 0, 101));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(p + 1));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(p));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(p));
    EXPECT_EQ(CUDA_SUCCESS, cuStreamDestroy_v2(s));
    EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(s));
    EXPECT_EQ(CUDA_SUCCESS, cuEventDestroy_v2(e));
    EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(e, nullptr));
}

TEST_F(Driver, PointersSayWhatMemoryTheyAreOf)
{
    CUdeviceptr device, managed;
    void *pinned;
    char pageable;
    CUmemorytype type;
    ASSERT_EQ(CUDA_SUCCESS, cuMemAlloc_v2(&device, 100));
    ASSERT_EQ(CUDA_SUCCESS, cuMemAllocManaged(&managed, 100, CU_MEM_ATTACH_GLOBAL));
    ASSERT_EQ(CUDA_SUCCESS, cuMemHostAlloc(&pinned, 100, 0));
    EXPECT_EQ(CUDA_SUCCESS, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device + 99));
    EXPECT_EQ(CU_MEMORYTYPE_DEVICE, type);
    EXPECT_EQ(CUDA_SUCCESS, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)pinned));
    EXPECT_EQ(CU_MEMORYTYPE_HOST, type);
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
              cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&pageable));
    int is_managed = 0;
    EXPECT_EQ(CUDA_SUCCESS, cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
    EXPECT_EQ(1, is_managed);
    reinterpret_cast<char *>(managed)[7] = 'm'; /* the host may touch it; device memory faults */
    EXPECT_DEATH(*reinterpret_cast<volatile char *>(device) = 1, "");
    EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(device));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(managed));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFreeHost(pinned));
}

TEST_F(Driver, ContextsStackAndDevicesAreApart)
{
    CUcontext created, current, popped;
    CUdevice device;
    CUdeviceptr here, there;
    ASSERT_EQ(CUDA_SUCCESS, cuMemAlloc_v2(&here, 64));
    ASSERT_EQ(CUDA_SUCCESS, cuCtxCreate_v2(&created, 0, 1));
    EXPECT_EQ(CUDA_SUCCESS, cuCtxGetDevice(&device));
    EXPECT_EQ(1, device);
    ASSERT_EQ(CUDA_SUCCESS, cuMemAlloc_v2(&there, 64));
    EXPECT_EQ(CUDA_SUCCESS, cuMemsetD8_v2(there, 9, 64));
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyPeer(here, ctx_, there, created, 64));
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    EXPECT_EQ(CUDA_SUCCESS, cuCtxPopCurrent_v2(&popped));
    EXPECT_EQ(created, popped);
    EXPECT_EQ(CUDA_SUCCESS, cuCtxGetCurrent(&current));
    EXPECT_EQ(ctx_, current);
    unsigned char got = 0;
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyDtoH_v2(&got, here + 63, 1));
    EXPECT_EQ(9, got);
    EXPECT_EQ(CUDA_SUCCESS, cuCtxDestroy_v2(created));
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(created));
    ASSERT_EQ(CUDA_SUCCESS, cuCtxCreate_v2(&created, 0, 0));
    CUcontext attached = nullptr, now = nullptr;
    EXPECT_EQ(CUDA_SUCCESS, cuCtxAttach(&attached, 0));
    EXPECT_EQ(created, attached);
    EXPECT_EQ(CUDA_SUCCESS, cuCtxDetach(created));
    EXPECT_EQ(CUDA_SUCCESS, cuCtxGetCurrent(&now));
    EXPECT_EQ(created, now) << "whoever created it has it still";
    EXPECT_EQ(CUDA_SUCCESS, cuCtxDetach(created));
    EXPECT_EQ(CUDA_SUCCESS, cuCtxGetCurrent(&now));
    EXPECT_NE(created, now);
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent_v2(created));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(here));
}

TEST_F(Driver, StreamsWriteAndAwaitValues)
{
    uint32_t *word;
    ASSERT_EQ(CUDA_SUCCESS, cuMemHostAlloc(reinterpret_cast<void **>(&word), 8, 0));
    CUstream a, b;
    ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    EXPECT_EQ(CUDA_SUCCESS, cuStreamWaitValue32_v2(a, (CUdeviceptr)word, 7, CU_STREAM_WAIT_VALUE_EQ));
    EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(a));
    EXPECT_EQ(CUDA_SUCCESS, cuStreamWriteValue32(b, (CUdeviceptr)word, 7, 0));
    EXPECT_EQ(CUDA_SUCCESS, cuStreamSynchronize(a));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFreeHost(word));
}

// Under a thread sanitizer: many threads, their own streams and the shared one.
TEST_F(Driver, ManyThreadsUseOneContext)
{
    CUdeviceptr p;
    uint32_t n = 1, zero = 0, got = 0;
    ASSERT_EQ(CUDA_SUCCESS, cuMemAlloc_v2(&p, 4));
    EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("fill"), nullptr, {&p, &zero, &n}));
    CUfunction add_one = Kernel("add_one");
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++)
        threads.emplace_back([&] {
            CUdeviceptr mine;
            uint32_t one = 1;
            cuCtxSetCurrent(ctx_);
            EXPECT_EQ(CUDA_SUCCESS, cuMemAlloc_v2(&mine, 4));
            for (int i = 0; i < 50; i++) {
                EXPECT_EQ(CUDA_SUCCESS, Launch(add_one, nullptr, {&p, &one})); /* the legacy stream orders all of these */
                EXPECT_EQ(CUDA_SUCCESS, Launch(add_one, CU_STREAM_PER_THREAD, {&mine, &one}));
            }
            EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(mine));
        });
    for (auto &t : threads)
        t.join();
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyDtoH_v2(&got, p, 4));
    EXPECT_EQ(400u, got);
    EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(p));
}

} // namespace
