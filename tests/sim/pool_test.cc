// SPDX-License-Identifier: Apache-2.0
//
// Stream-ordered memory: on all streams, when an address may come back, and that nobody's bytes change before their time.
#include <thread>

#include "tests/sim/driver_fixture.h"

namespace
{

class Pools : public Driver
{
protected:
    void SetUp() override
    {
        Driver::SetUp();
        ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&blocking_, 0));
        ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&apart_, CU_STREAM_NON_BLOCKING));
        ASSERT_EQ(CUDA_SUCCESS, cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING));
    }
    void TearDown() override
    {
        for (CUstream s : {blocking_, apart_})
            EXPECT_EQ(CUDA_SUCCESS, cuStreamDestroy_v2(s));
        EXPECT_EQ(CUDA_SUCCESS, cuEventDestroy_v2(event_));
        Driver::TearDown();
    }
    CUdeviceptr Alloc(CUstream s, size_t size = 4096)
    {
        CUdeviceptr p = 0;
        EXPECT_EQ(CUDA_SUCCESS, cuMemAllocAsync(&p, size, s));
        return p;
    }
    void Free(CUdeviceptr p, CUstream s)
    {
        EXPECT_EQ(CUDA_SUCCESS, cuMemFreeAsync(p, s));
    }
    CUstream blocking_ = nullptr, apart_ = nullptr;
    CUevent event_ = nullptr;
};

TEST_F(Pools, OnEveryStream)
{
    size_t before = 0, after = 0, total = 0;
    CUmemoryPool pool;
    EXPECT_EQ(CUDA_SUCCESS, cuDeviceGetDefaultMemPool(&pool, 0));
    EXPECT_EQ(CUDA_SUCCESS, cuMemGetInfo_v2(&before, &total));
    for (CUstream s : {CUstream(nullptr), CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, blocking_, apart_}) {
        uint32_t n = 16, value = 6, got[16] = {};
        CUdeviceptr p = Alloc(s), q = 0;
        EXPECT_EQ(CUDA_SUCCESS, cuMemAllocFromPoolAsync(&q, 64, pool, s));
        EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("fill"), s, {&p, &value, &n}));
        EXPECT_EQ(CUDA_SUCCESS, cuMemcpyDtoDAsync_v2(q, p, 64, s));
        EXPECT_EQ(CUDA_SUCCESS, cuMemcpyDtoHAsync_v2(got, q, 64, s));
        Free(p, s), Free(q, s);
        EXPECT_EQ(CUDA_SUCCESS, cuStreamSynchronize(s));
        EXPECT_EQ(6u, got[15]);
        EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(p, s));
    }
    EXPECT_EQ(CUDA_SUCCESS, cuMemGetInfo_v2(&after, &total));
    EXPECT_EQ(before, after);
}

/* It keeps its address, whoever frees it. */
TEST_F(Pools, OfAGraph)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node, freed;
    CUdeviceptr captured = 0, address = 0;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {}, got = {};
    alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    alloc.bytesize = 4096;
    EXPECT_EQ(CUDA_SUCCESS, cuStreamBeginCapture_v2(apart_, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT_EQ(CUDA_SUCCESS, cuMemAllocAsync(&captured, 4096, apart_));
    Free(captured, apart_);
    EXPECT_EQ(CUDA_SUCCESS, cuStreamEndCapture(apart_, &graph));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &alloc));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphMemAllocNodeGetParams(node, &got));
    EXPECT_EQ(alloc.dptr, got.dptr);
    EXPECT_EQ(4096u, got.bytesize);
    CUgraphNodeType type;
    EXPECT_EQ(CUDA_SUCCESS, cuGraphNodeGetType(node, &type));
    EXPECT_EQ(CU_GRAPH_NODE_TYPE_MEM_ALLOC, type);
    EXPECT_EQ(CUDA_SUCCESS, cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (unsigned i = 0; i < 2; i++) {
        EXPECT_EQ(CUDA_SUCCESS, cuGraphLaunch(exec, apart_));
        EXPECT_EQ(CUDA_SUCCESS, cuMemsetD32Async(alloc.dptr, i, 4, apart_));
        Free(alloc.dptr, apart_);
        EXPECT_EQ(CUDA_SUCCESS, cuStreamSynchronize(apart_));
        EXPECT_NE(alloc.dptr, Alloc(apart_));
    }
    alloc.poolProps.location.id = 99;
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &alloc));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphAddMemFreeNode(&freed, graph, nullptr, 0, captured));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphMemFreeNodeGetParams(freed, &address));
    EXPECT_EQ(captured, address);
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&freed, graph, nullptr, 0, Alloc(apart_)));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphExecDestroy(exec));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphDestroy(graph));
}

TEST_F(Pools, AnAddressComesBackOnlyInOrder)
{
    CUdeviceptr p = Alloc(apart_), q;
    uint32_t *gate = Gate(apart_);
    Free(p, apart_);
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(p, apart_));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(p));
    q = Alloc(blocking_); /* ordered with nothing of apart_ */
    EXPECT_NE(p, q);
    EXPECT_NE(p, Alloc(apart_, 100000)); /* another size */
    EXPECT_EQ(CUDA_SUCCESS, cuEventRecord(event_, apart_));
    EXPECT_EQ(CUDA_SUCCESS, cuStreamWaitEvent(blocking_, event_, 0));
    EXPECT_EQ(p, Alloc(blocking_, 4000)); /* now it is, by an event */
    EXPECT_NE(p, Alloc(blocking_));       /* once */
    Free(p, blocking_);
    EXPECT_EQ(p, Alloc(blocking_)); /* its own stream, by nothing else */
    Free(p, blocking_);
    EXPECT_EQ(p, Alloc(nullptr)); /* and legacy comes after blocking streams */
    EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(apart_));
    Open(gate);
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    EXPECT_EQ(CUDA_SUCCESS, cuMemsetD8_v2(p, 0, 4096)); /* the three frees that have run were of earlier owners */
    EXPECT_EQ(CUDA_SUCCESS, cuMemFreeHost(gate));
}

TEST_F(Pools, TwoThreadsOwnStreamsAreNotInOrder)
{
    CUdeviceptr p = Alloc(CU_STREAM_PER_THREAD);
    uint32_t *gate = Gate(CU_STREAM_PER_THREAD);
    Free(p, CU_STREAM_PER_THREAD);
    std::thread([&] {
        EXPECT_EQ(CUDA_SUCCESS, cuCtxSetCurrent(ctx_));
        EXPECT_NE(p, Alloc(CU_STREAM_PER_THREAD));
    }).join();
    EXPECT_EQ(p, Alloc(CU_STREAM_PER_THREAD));
    Open(gate);
    EXPECT_EQ(CUDA_SUCCESS, cuMemFreeHost(gate));
}

TEST_F(Pools, ReusedBytesAreTheOldOnesForWhoCameBefore)
{
    uint32_t old_word = 0, new_word = 0, one = 1, two = 2, n = 1;
    CUdeviceptr p = Alloc(apart_);
    EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("fill"), apart_, {&p, &one, &n}));
    uint32_t *gate = Gate(apart_);
    uint32_t *seen;
    ASSERT_EQ(CUDA_SUCCESS, cuMemHostAlloc(reinterpret_cast<void **>(&seen), 8, 0));
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyDtoHAsync_v2(&seen[0], p, 4, apart_));
    Free(p, apart_);
    CUdeviceptr q = Alloc(apart_);
    EXPECT_EQ(p, q);
    EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("fill"), apart_, {&q, &two, &n}));
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyDtoHAsync_v2(&seen[1], q, 4, apart_));
    Open(gate);
    EXPECT_EQ(CUDA_SUCCESS, cuStreamSynchronize(apart_));
    old_word = seen[0], new_word = seen[1];
    EXPECT_EQ(1u, old_word);
    EXPECT_EQ(2u, new_word);
    EXPECT_EQ(CUDA_SUCCESS, cuMemFreeHost(seen));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFreeHost(gate));
}

TEST_F(Pools, PoolsAreApart)
{
    CUmemoryPool pool;
    CUmemPoolProps props = {};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1};
    ASSERT_EQ(CUDA_SUCCESS, cuMemPoolCreate(&pool, &props));
    CUdeviceptr p = 0;
    int device = -1;
    uint32_t *gate = Gate(apart_);
    EXPECT_EQ(CUDA_SUCCESS, cuMemAllocFromPoolAsync(&p, 4096, pool, apart_));
    EXPECT_EQ(CUDA_SUCCESS, cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
    EXPECT_EQ(1, device);
    Free(p, apart_);
    EXPECT_NE(p, Alloc(apart_));
    Open(gate);
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    EXPECT_EQ(CUDA_SUCCESS, cuMemPoolDestroy(pool));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFreeHost(gate));
}

cuuint64_t Reserved(CUmemoryPool pool)
{
    cuuint64_t bytes = 99;
    EXPECT_EQ(CUDA_SUCCESS, cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &bytes));
    return bytes;
}

size_t Available()
{
    size_t bytes = 0, total;
    EXPECT_EQ(CUDA_SUCCESS, cuMemGetInfo_v2(&bytes, &total));
    return bytes;
}

/* What is freed stays in its pool up to the threshold, until a trim or the next allocation there. */
TEST_F(Pools, HoldWhatTheirThresholdSays)
{
    CUmemPoolProps about = {};
    CUmemoryPool pool;
    cuuint64_t threshold = 99;
    about.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    ASSERT_EQ(CUDA_SUCCESS, cuMemPoolCreate(&pool, &about));
    const auto alloc = [&](size_t bytes) {
        CUdeviceptr p = 0;
        EXPECT_EQ(CUDA_SUCCESS, cuMemAllocFromPoolAsync(&p, bytes, pool, blocking_));
        return p;
    };
    const size_t before = Available();
    EXPECT_EQ(CUDA_SUCCESS, cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    EXPECT_EQ(0u, threshold);
    CUdeviceptr p = alloc(4096);
    EXPECT_EQ(4096u, Reserved(pool));
    uint32_t *gate = Gate(blocking_);
    Free(p, blocking_);
    EXPECT_EQ(4096u, Reserved(pool)) << "its free has not run";
    EXPECT_EQ(before - 4096, Available());
    Open(gate);
    EXPECT_EQ(CUDA_SUCCESS, cuStreamSynchronize(blocking_));
    EXPECT_EQ(0u, Reserved(pool));
    EXPECT_EQ(before, Available());
    EXPECT_EQ(CUDA_SUCCESS, cuMemFreeHost(gate));
    threshold = 8192;
    EXPECT_EQ(CUDA_SUCCESS, cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    for (CUdeviceptr at : {alloc(4096), alloc(4096), alloc(512)})
        Free(at, blocking_);
    EXPECT_EQ(CUDA_SUCCESS, cuStreamSynchronize(blocking_));
    EXPECT_EQ(8192u, Reserved(pool));
    EXPECT_EQ(before - 8192, Available());
    p = alloc(512);
    EXPECT_EQ(8192u, Reserved(pool)) << "of what was there";
    EXPECT_EQ(CUDA_SUCCESS, cuMemPoolTrimTo(pool, 2048));
    EXPECT_EQ(2048u, Reserved(pool));
    EXPECT_EQ(CUDA_SUCCESS, cuMemPoolTrimTo(pool, 0));
    EXPECT_EQ(512u, Reserved(pool)) << "in use";
    Free(p, blocking_);
    EXPECT_EQ(CUDA_SUCCESS, cuStreamSynchronize(blocking_));
    EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &threshold));
    EXPECT_EQ(CUDA_SUCCESS, cuMemPoolDestroy(pool));
    EXPECT_EQ(before, Available());
}

cuuint64_t OfGraphs(CUgraphMem_attribute attribute)
{
    cuuint64_t bytes = 99;
    EXPECT_EQ(CUDA_SUCCESS, cuDeviceGetGraphMemAttribute(0, attribute, &bytes));
    return bytes;
}

TEST_F(Pools, ATrimTakesWhatNoGraphUses)
{
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr p = 0;
    EXPECT_EQ(CUDA_SUCCESS, cuDeviceGraphMemTrim(0)); /* what other tests left */
    const size_t before = Available();
    EXPECT_EQ(CUDA_SUCCESS, cuStreamBeginCapture_v2(apart_, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT_EQ(CUDA_SUCCESS, cuMemAllocAsync(&p, 4096, apart_));
    Free(p, apart_);
    EXPECT_EQ(CUDA_SUCCESS, cuStreamEndCapture(apart_, &graph));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphInstantiateWithFlags(&exec, graph, 0));
    EXPECT_EQ(4096u, OfGraphs(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
    for (int i = 0; i < 2; i++) {
        uint32_t *gate = Gate(apart_);
        EXPECT_EQ(CUDA_SUCCESS, cuGraphLaunch(exec, apart_));
        EXPECT_EQ(4096u, OfGraphs(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT));
        EXPECT_EQ(CUDA_SUCCESS, cuDeviceGraphMemTrim(0));
        EXPECT_EQ(4096u, OfGraphs(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
        EXPECT_EQ(before - 4096, Available());
        Open(gate);
        EXPECT_EQ(CUDA_SUCCESS, cuStreamSynchronize(apart_));
        EXPECT_EQ(4096u, OfGraphs(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT));
        EXPECT_EQ(4096u, OfGraphs(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
        EXPECT_EQ(CUDA_SUCCESS, cuDeviceGraphMemTrim(0));
        EXPECT_EQ(0u, OfGraphs(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
        EXPECT_EQ(before, Available());
        EXPECT_EQ(CUDA_SUCCESS, cuMemFreeHost(gate));
    }
    EXPECT_EQ(CUDA_ERROR_INVALID_DEVICE, cuDeviceGraphMemTrim(99));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphExecDestroy(exec));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphDestroy(graph));
}

} // namespace
