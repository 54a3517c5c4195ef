// SPDX-License-Identifier: Apache-2.0
//
// The nodes of graphs: what their getters say, what changing them does and does not change, child graphs, updates.
#include <cstring>

#include "tests/sim/driver_fixture.h"

namespace
{

class Graphs : public Driver
{
protected:
    CUgraphNode AddOne(CUgraph graph, CUdeviceptr p, std::vector<CUgraphNode> after = {})
    {
        CUgraphNode node = nullptr;
        CUDA_KERNEL_NODE_PARAMS k = AddOneParams(p);
        EXPECT_EQ(CUDA_SUCCESS, cuGraphAddKernelNode_v2(&node, graph, after.data(), after.size(), &k));
        return node;
    }
    CUDA_KERNEL_NODE_PARAMS AddOneParams(CUdeviceptr p)
    {
        pointer_ = p;
        CUDA_KERNEL_NODE_PARAMS k = {};
        k.func = Kernel("add_one");
        k.gridDimX = k.gridDimY = k.gridDimZ = k.blockDimX = k.blockDimY = k.blockDimZ = 1;
        k.kernelParams = parameters_;
        return k;
    }
    CUgraphExec Instantiate(CUgraph graph)
    {
        CUgraphExec exec = nullptr;
        EXPECT_EQ(CUDA_SUCCESS, cuGraphInstantiateWithFlags(&exec, graph, 0));
        return exec;
    }
    CUdeviceptr pointer_ = 0;
    uint32_t one_ = 1;
    void *parameters_[2] = {&pointer_, &one_};
};

TEST_F(Graphs, KernelNodesSayWhatTheyLaunch)
{
    CUgraph graph;
    CUdeviceptr p = Words(1, 0);
    ASSERT_EQ(CUDA_SUCCESS, cuGraphCreate(&graph, 0));
    CUgraphNode node = AddOne(graph, p);
    CUDA_KERNEL_NODE_PARAMS v2;
    CUDA_KERNEL_NODE_PARAMS_v1 v1;
    ASSERT_EQ(CUDA_SUCCESS, cuGraphKernelNodeGetParams(node, &v1));
    EXPECT_EQ(p, *static_cast<CUdeviceptr *>(v1.kernelParams[0]));
    ASSERT_EQ(CUDA_SUCCESS, cuGraphKernelNodeGetParams_v2(node, &v2));
    EXPECT_EQ(Kernel("add_one"), v2.func);
    EXPECT_EQ(nullptr, v2.kern);
    EXPECT_EQ(p, *static_cast<CUdeviceptr *>(v2.kernelParams[0]));
    EXPECT_EQ(1u, *static_cast<uint32_t *>(v2.kernelParams[1]));
    CUDA_MEMCPY3D copy;
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphMemcpyNodeGetParams(node, &copy));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphDestroy(graph));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeGetParams_v2(node, &v2));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(p));
}

TEST_F(Graphs, ACapturedCUkernelStaysOne)
{
    CUlibrary library;
    CUkernel kernel;
    CUstream s;
    CUgraph graph;
    CUgraphNode node;
    size_t one = 1;
    CUDA_KERNEL_NODE_PARAMS p;
    ASSERT_EQ(CUDA_SUCCESS, cuLibraryLoadData(&library, ptds_test_ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
    ASSERT_EQ(CUDA_SUCCESS, cuLibraryGetKernel(&kernel, library, "empty"));
    ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    ASSERT_EQ(CUDA_SUCCESS, cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT_EQ(CUDA_SUCCESS, Launch(reinterpret_cast<CUfunction>(kernel), s, {}));
    ASSERT_EQ(CUDA_SUCCESS, cuStreamEndCapture(s, &graph));
    ASSERT_EQ(CUDA_SUCCESS, cuGraphGetNodes(graph, &node, &one));
    ASSERT_EQ(CUDA_SUCCESS, cuGraphKernelNodeGetParams_v2(node, &p));
    CUfunction function;
    EXPECT_EQ(CUDA_SUCCESS, cuKernelGetFunction(&function, kernel));
    EXPECT_EQ(kernel, p.kern);
    EXPECT_EQ(function, p.func);
    EXPECT_EQ(CUDA_SUCCESS, cuGraphDestroy(graph));
    EXPECT_EQ(CUDA_SUCCESS, cuLibraryUnload(library));
    EXPECT_EQ(CUDA_SUCCESS, cuStreamDestroy_v2(s));
}

TEST_F(Graphs, CopiesMemsetsAndHostFunctionsSayWhatTheyDo)
{
    CUgraph graph;
    CUstream s;
    CUdeviceptr p = Words(16, 0);
    char host[64] = {};
    ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    ASSERT_EQ(CUDA_SUCCESS, cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT_EQ(CUDA_SUCCESS, cuMemsetD16Async(p, 7, 3, s));
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyDtoHAsync_v2(host, p + 4, 20, s));
    EXPECT_EQ(CUDA_SUCCESS, cuLaunchHostFunc(
                                s, [](void *) {}, host));
    ASSERT_EQ(CUDA_SUCCESS, cuStreamEndCapture(s, &graph));
    CUgraphNode nodes[3];
    size_t count = 3;
    ASSERT_EQ(CUDA_SUCCESS, cuGraphGetNodes(graph, nodes, &count));
    ASSERT_EQ(3u, count);
    CUDA_MEMSET_NODE_PARAMS set;
    CUDA_MEMCPY3D copy;
    CUDA_HOST_NODE_PARAMS function;
    ASSERT_EQ(CUDA_SUCCESS, cuGraphMemsetNodeGetParams(nodes[0], &set));
    EXPECT_EQ(p, set.dst);
    EXPECT_EQ(2u, set.elementSize);
    EXPECT_EQ(3u, set.width);
    ASSERT_EQ(CUDA_SUCCESS, cuGraphMemcpyNodeGetParams(nodes[1], &copy));
    EXPECT_EQ(CU_MEMORYTYPE_DEVICE, copy.srcMemoryType);
    EXPECT_EQ(p + 4, copy.srcDevice);
    EXPECT_EQ(CU_MEMORYTYPE_HOST, copy.dstMemoryType);
    EXPECT_EQ(host, copy.dstHost);
    EXPECT_EQ(20u, copy.WidthInBytes);
    ASSERT_EQ(CUDA_SUCCESS, cuGraphHostNodeGetParams(nodes[2], &function));
    EXPECT_EQ(host, function.userData);
    CUgraphNode from[2], to[2], dependent;
    size_t edges = 2, dependents = 1;
    ASSERT_EQ(CUDA_SUCCESS, cuGraphGetEdges(graph, from, to, &edges));
    EXPECT_EQ(2u, edges);
    EXPECT_EQ(nodes[1], to[0]);
    ASSERT_EQ(CUDA_SUCCESS, cuGraphNodeGetDependentNodes(nodes[1], &dependent, &dependents));
    EXPECT_EQ(nodes[2], dependent);
    EXPECT_EQ(CUDA_SUCCESS, cuGraphDestroy(graph));
    EXPECT_EQ(CUDA_SUCCESS, cuStreamDestroy_v2(s));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(p));
}

// 2 x 3 words out of a plane of 4 x 4.
TEST_F(Graphs, CopyNodesByHand)
{
    CUgraph graph;
    CUgraphNode node;
    CUdeviceptr plane = Words(16, 0);
    uint32_t words[16], got[6] = {};
    for (uint32_t i = 0; i < 16; i++)
        words[i] = i;
    ASSERT_EQ(CUDA_SUCCESS, cuMemcpyHtoD_v2(plane, words, sizeof words));
    CUDA_MEMCPY3D p = {}, told;
    p.srcMemoryType = CU_MEMORYTYPE_DEVICE, p.srcDevice = plane, p.srcPitch = 16, p.srcXInBytes = 4, p.srcY = 1;
    p.dstMemoryType = CU_MEMORYTYPE_HOST, p.dstHost = got, p.dstPitch = 8;
    p.WidthInBytes = 8, p.Height = 3, p.Depth = 1;
    ASSERT_EQ(CUDA_SUCCESS, cuGraphCreate(&graph, 0));
    ASSERT_EQ(CUDA_SUCCESS, cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &p, ctx_));
    ASSERT_EQ(CUDA_SUCCESS, cuGraphMemcpyNodeGetParams(node, &told));
    EXPECT_EQ(0, memcmp(&p, &told, sizeof p));
    CUgraphExec exec = Instantiate(graph);
    EXPECT_EQ(CUDA_SUCCESS, cuGraphLaunch(exec, nullptr));
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    EXPECT_EQ(5u, got[0]);
    EXPECT_EQ(14u, got[5]);
    p.srcY = 0;
    EXPECT_EQ(CUDA_SUCCESS, cuGraphExecMemcpyNodeSetParams(exec, node, &p, ctx_));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphLaunch(exec, nullptr));
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    EXPECT_EQ(1u, got[0]);
    p.Height = 99;
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphMemcpyNodeSetParams(node, &p));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphExecDestroy(exec));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphDestroy(graph));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(plane));
}

TEST_F(Graphs, AChangeMeetsOnlyWhatItNames)
{
    CUgraph graph;
    CUdeviceptr a = Words(1, 0), b = Words(1, 0), c = Words(1, 0);
    ASSERT_EQ(CUDA_SUCCESS, cuGraphCreate(&graph, 0));
    CUgraphNode node = AddOne(graph, a);
    CUgraphExec before = Instantiate(graph);
    CUDA_KERNEL_NODE_PARAMS k = AddOneParams(b);
    ASSERT_EQ(CUDA_SUCCESS, cuGraphKernelNodeSetParams_v2(node, &k));
    CUgraphExec after = Instantiate(graph);
    EXPECT_EQ(CUDA_SUCCESS, cuGraphLaunch(before, nullptr));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphLaunch(after, nullptr));
    k = AddOneParams(c);
    EXPECT_EQ(CUDA_SUCCESS, cuGraphExecKernelNodeSetParams_v2(before, node, &k));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphLaunch(before, nullptr));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphLaunch(before, nullptr));
    EXPECT_EQ(1u, Read(a));
    EXPECT_EQ(1u, Read(b));
    EXPECT_EQ(2u, Read(c));
    for (CUgraphExec exec : {before, after})
        EXPECT_EQ(CUDA_SUCCESS, cuGraphExecDestroy(exec));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphExecKernelNodeSetParams_v2(before, node, &k));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphDestroy(graph));
    for (CUdeviceptr p : {a, b, c})
        EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(p));
}

TEST_F(Graphs, ChildGraphsRunInTheirPlace)
{
    CUgraph child, graph, held;
    CUgraphNode first, inside, last;
    CUdeviceptr p = Words(2, 0);
    ASSERT_EQ(CUDA_SUCCESS, cuGraphCreate(&child, 0));
    AddOne(child, p, {AddOne(child, p)});
    ASSERT_EQ(CUDA_SUCCESS, cuGraphCreate(&graph, 0));
    CUDA_MEMSET_NODE_PARAMS set = {p, 0, 40, 4, 1, 1};
    ASSERT_EQ(CUDA_SUCCESS, cuGraphAddMemsetNode(&first, graph, nullptr, 0, &set, ctx_));
    ASSERT_EQ(CUDA_SUCCESS, cuGraphAddChildGraphNode(&inside, graph, &first, 1, child));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphDestroy(child)); /* the node has a copy */
    CUDA_MEMCPY3D copy = {};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = p, copy.dstDevice = p + 4, copy.WidthInBytes = 4, copy.Height = copy.Depth = 1;
    ASSERT_EQ(CUDA_SUCCESS, cuGraphAddMemcpyNode(&last, graph, &inside, 1, &copy, ctx_));
    CUgraphNodeType type;
    EXPECT_EQ(CUDA_SUCCESS, cuGraphNodeGetType(inside, &type));
    EXPECT_EQ(CU_GRAPH_NODE_TYPE_GRAPH, type);
    ASSERT_EQ(CUDA_SUCCESS, cuGraphChildGraphNodeGetGraph(inside, &held));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(held));
    CUgraphNode nodes[2];
    size_t count = 2;
    EXPECT_EQ(CUDA_SUCCESS, cuGraphGetNodes(held, nodes, &count));
    CUgraphExec exec = Instantiate(graph);
    EXPECT_EQ(CUDA_SUCCESS, cuGraphLaunch(exec, nullptr));
    EXPECT_EQ(42u, Read(p + 4));
    CUDA_KERNEL_NODE_PARAMS k = AddOneParams(p + 4); /* a node of the child, in the executable graph */
    EXPECT_EQ(CUDA_SUCCESS, cuGraphExecKernelNodeSetParams_v2(exec, nodes[1], &k));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphLaunch(exec, nullptr));
    EXPECT_EQ(41u, Read(p + 4));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphExecDestroy(exec));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphDestroy(graph));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(p));
}

TEST_F(Graphs, NoCaptureSurvivesALaunch)
{
    CUgraph graph, captured;
    CUstream s;
    CUdeviceptr p = Words(1, 0);
    ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    ASSERT_EQ(CUDA_SUCCESS, cuGraphCreate(&graph, 0));
    AddOne(graph, p);
    CUgraphExec exec = Instantiate(graph);
    ASSERT_EQ(CUDA_SUCCESS, cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuGraphLaunch(exec, s));
    EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(s, &captured));
    EXPECT_EQ(CUDA_SUCCESS, cuStreamSynchronize(s));
    EXPECT_EQ(0u, Read(p));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphExecDestroy(exec));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphDestroy(graph));
    EXPECT_EQ(CUDA_SUCCESS, cuStreamDestroy_v2(s));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(p));
}

TEST_F(Graphs, UpdateTakesTheSameShapeOnly)
{
    CUgraph graph, same, other, clone;
    CUdeviceptr p = Words(1, 0), q = Words(1, 0);
    for (CUgraph *g : {&graph, &same, &other})
        ASSERT_EQ(CUDA_SUCCESS, cuGraphCreate(g, 0));
    CUgraphNode root = AddOne(graph, p), found;
    AddOne(graph, p, {root});
    AddOne(same, q, {AddOne(same, q)});
    AddOne(other, q), AddOne(other, q);
    CUgraphExec exec = Instantiate(graph);
    CUgraphExecUpdateResultInfo info;
    EXPECT_EQ(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate_v2(exec, other, &info));
    EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, info.result);
    EXPECT_NE(nullptr, info.errorNode);
    EXPECT_EQ(CUDA_SUCCESS, cuGraphExecUpdate_v2(exec, same, &info));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphLaunch(exec, nullptr));
    EXPECT_EQ(0u, Read(p));
    EXPECT_EQ(2u, Read(q));
    CUDA_KERNEL_NODE_PARAMS k = AddOneParams(p); /* the program's own node still names its place */
    EXPECT_EQ(CUDA_SUCCESS, cuGraphExecKernelNodeSetParams_v2(exec, root, &k));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphLaunch(exec, nullptr));
    EXPECT_EQ(1u, Read(p));
    EXPECT_EQ(3u, Read(q));
    ASSERT_EQ(CUDA_SUCCESS, cuGraphClone(&clone, graph));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphNodeFindInClone(&found, root, clone));
    EXPECT_NE(root, found);
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphNodeFindInClone(&found, root, same));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphExecDestroy(exec));
    for (CUgraph g : {graph, same, other, clone})
        EXPECT_EQ(CUDA_SUCCESS, cuGraphDestroy(g));
    for (CUdeviceptr d : {p, q})
        EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(d));
}

TEST_F(Graphs, NodesOfAnyKindInOneCall)
{
    CUgraph graph;
    CUgraphNode node;
    CUdeviceptr p = Words(1, 0);
    ASSERT_EQ(CUDA_SUCCESS, cuGraphCreate(&graph, 0));
    CUgraphNodeParams any = {};
    any.type = CU_GRAPH_NODE_TYPE_MEMSET;
    any.memset = {p, 0, 9, 4, 1, 1, ctx_};
    ASSERT_EQ(CUDA_SUCCESS, cuGraphAddNode_v2(&node, graph, nullptr, nullptr, 0, &any));
    CUgraphExec exec = Instantiate(graph);
    any.memset.value = 10;
    EXPECT_EQ(CUDA_SUCCESS, cuGraphExecNodeSetParams(exec, node, &any));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphLaunch(exec, nullptr));
    EXPECT_EQ(10u, Read(p));
    any.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddNode_v2(&node, graph, nullptr, nullptr, 0, &any));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphExecDestroy(exec));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphDestroy(graph));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(p));
}

} // namespace
