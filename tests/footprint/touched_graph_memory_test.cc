/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that a graph allocates: it is there again with each launch, whoever has freed it before.
 */
#include "tests/footprint/touched.h"
#include "tests/kit/kernels.ptx.h"

namespace
{

class GraphMemory : public Touched
{
protected:
    void SetUp() override
    {
        CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        fill = kernel(kit_ptx, KIT_FILL);
        launch(fill, device("a"), 0u, 0u); /* kernels are learnt outside of captures */
    }
    void TearDown() override
    {
        cuCtxSynchronize();
        EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
        EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
        Touched::TearDown();
    }
    /* It is known before and after it was freed outside of the graph, in both ways. */
    void comes_back(CUdeviceptr memory)
    {
        CUgraphExec exec;
        name("memory", memory);
        CU(cuGraphInstantiate(&exec, graph, 0));
        for (int i = 0; i < 3; i++) {
            TOUCHES(cuGraphLaunch(exec, nullptr), "w memory");
            EXPECT_EQ(launch(fill, memory, 0u, 0u), "w memory");
            if (i % 2) {
                CU(cuMemFree(memory));
            } else {
                TOUCHES(cuMemFreeAsync(memory, nullptr), "w memory");
            }
            CU(cuCtxSynchronize());
        }
        CU(cuGraphExecDestroy(exec));
    }
    CUstream stream = nullptr;
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUfunction fill = nullptr;
};

TEST_F(GraphMemory, OfANode)
{
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {};
    alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    alloc.bytesize = 4096;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &alloc));
    comes_back(alloc.dptr);
}

TEST_F(GraphMemory, OfANodeOfAnyKind)
{
    CUgraphNodeParams params = {};
    params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    params.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.alloc.bytesize = 4096;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    comes_back(params.alloc.dptr);
}

TEST_F(GraphMemory, OfACapturedCall)
{
    CUdeviceptr memory;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemAllocAsync(&memory, 4096, stream));
    CU(cuStreamEndCapture(stream, &graph));
    comes_back(memory);
}

TEST_F(GraphMemory, OfACapturedCallOfAPool)
{
    CUdeviceptr memory;
    CUmemoryPool pool;
    CU(cuDeviceGetDefaultMemPool(&pool, 0));
    CU(cuStreamBeginCapture(CU_STREAM_PER_THREAD, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuMemAllocFromPoolAsync(&memory, 4096, pool, CU_STREAM_PER_THREAD));
    CU(cuStreamEndCapture(CU_STREAM_PER_THREAD, &graph));
    watch_find(memory)->host = 0; /* during a capture nobody can be asked whose the pool's memory is */
    comes_back(memory);
}

/* What is allocated beside a capture is freed like any other. */
TEST_F(GraphMemory, OthersBesideACapture)
{
    CUdeviceptr memory;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuMemAllocAsync(&memory, 4096, nullptr));
    CU(cuStreamEndCapture(stream, &graph));
    name("memory", memory);
    CU(cuMemFreeAsync(memory, nullptr));
    EXPECT_EQ(watch_find(memory), nullptr);
}

} // namespace
