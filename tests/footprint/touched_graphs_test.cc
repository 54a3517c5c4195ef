/* SPDX-License-Identifier: Apache-2.0
 *
 * What graphs, and what gates touch.
 */
#include "tests/conformance/tables.ptx.h"
#include "tests/footprint/touched.h"
#include "tests/kit/kernels.ptx.h"

namespace
{

TEST_F(Touched, GraphsAllTheirNodes)
{
    CUdeviceptr a = device("a"), b = device("b"), c = device("c"), d = device("d");
    CUfunction copy = kernel(kit_ptx, KIT_COPY);
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    unsigned n = 0;
    void *params[] = {&a, &b, &n};
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    launch(copy, a, b, 0u); /* kernels are learnt outside of captures */
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuLaunchKernel(copy, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
    CU(cuMemcpyDtoDAsync(c, b, 64, stream));
    CU(cuMemsetD8Async(d, 0, 64, stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a r b w c w d");
    /* A node changed: what it touched before counts, too. */
    CUDA_KERNEL_NODE_PARAMS changed = {};
    CUgraphNode nodes[3];
    size_t count = 3;
    CU(cuGraphGetNodes(graph, nodes, &count));
    for (CUgraphNode node : nodes) {
        CUgraphNodeType type;
        CU(cuGraphNodeGetType(node, &type));
        if (type != CU_GRAPH_NODE_TYPE_KERNEL)
            continue;
        CU(cuGraphKernelNodeGetParams(node, &changed));
        void *swapped[] = {&b, &a, &n};
        changed.kernelParams = swapped;
        CU(cuGraphExecKernelNodeSetParams(exec, node, &changed));
    }
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a w b w c w d");
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuStreamDestroy(stream));
}

/* The driver names a library's kernel in a graph by its function in the context, which nobody was given, and by the
 * CUkernel, whose library is known. */
TEST_F(Touched, GraphsKernelsOfALibrary)
{
    CUdeviceptr a = device("a"), b = device("b");
    CUlibrary library;
    CUkernel copy;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    unsigned n = 0;
    void *params[] = {&a, &b, &n};
    CU(cuLibraryLoadData(&library, kit_ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
    CU(cuLibraryGetKernel(&copy, library, KIT_COPY));
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuLaunchKernel(reinterpret_cast<CUfunction>(copy), 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a r b");
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuStreamDestroy(stream));
    CU(cuLibraryUnload(library));
}

/* What a graph copies from the host is not looked at: there may be pointers where it goes. */
TEST_F(Touched, GraphsThatCopyPointersIn)
{
    static CUdeviceptr words[512];
    CUdeviceptr a = device("a"), b = device("b"), table = device("table");
    CUfunction gather = kernel(ptds_tables_ptx, PTDS_GATHER);
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    words[0] = a;
    CU(cuMemcpyHtoD(table, words, sizeof words)); /* all of it is known now */
    EXPECT_EQ(launch(gather, b, table, 0u, 0u), "w b r table r a");
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuMemcpyHtoDAsync(table, words, sizeof words, stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    EXPECT_EQ(launch(gather, b, table, 0u, 0u), "!POINTERS");
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuStreamDestroy(stream));
}

/* Who launches one that copies to plain host memory waits inside the driver. */
TEST_F(Touched, GraphsThatTheHostWaitsFor)
{
    CUdeviceptr a = device("a");
    static char plain[64];
    void *pinned;
    CUgraph graph, outer;
    CUgraphExec exec;
    CUgraphNode node;
    CUcontext context;
    CUDA_MEMCPY3D copy = {};
    CU(cuCtxGetCurrent(&context));
    CU(cuMemAllocHost(&pinned, 4096));
    copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.srcMemoryType = CU_MEMORYTYPE_DEVICE, copy.srcDevice = a;
    copy.WidthInBytes = 64, copy.Height = copy.Depth = 1;
    for (void *to : {static_cast<void *>(plain), pinned}) {
        copy.dstHost = to;
        CU(cuGraphCreate(&graph, 0));
        CU(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context));
        CU(cuGraphCreate(&outer, 0));
        CU(cuGraphAddChildGraphNode(&node, outer, nullptr, 0, graph));
        CU(cuGraphInstantiate(&exec, outer, 0));
        CU(cuGraphLaunch(exec, nullptr));
        EXPECT_EQ(watch_settles, to == plain);
        CU(cuCtxSynchronize());
        CU(cuGraphExecDestroy(exec));
        CU(cuGraphDestroy(outer));
        CU(cuGraphDestroy(graph));
    }
    CU(cuMemFreeHost(pinned));
}

/* One that a kernel of the graph writes, or what it reaches by a pointer there; not what a copy writes. */
TEST_F(Touched, GraphsWhoseKernelsTellTheHost)
{
    CUdeviceptr a = device("a"), b = device("b"), c = device("c"), table = device("table"), pinned;
    CUfunction copy = kernel(kit_ptx, KIT_COPY), gather = kernel(ptds_tables_ptx, PTDS_GATHER),
               scatter = kernel(ptds_tables_ptx, PTDS_SCATTER);
    std::vector<CUdeviceptr> words(512, a);
    unsigned n = 0;
    void *host;
    CU(cuMemAllocHost(&host, 4096));
    CU(cuMemHostGetDevicePointer(&pinned, host, 0));
    CUstream stream;
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    launch(copy, a, b, 0u);
    launch(gather, a, c, 0u, 0u);
    launch(scatter, c, 0u, 0u, 0u);
    const auto tells = [&](CUfunction function, CUdeviceptr to, CUdeviceptr from, CUdeviceptr copied_to) {
        CUgraph graph;
        CUgraphExec exec;
        void *params[] = {&to, &from, &n, &n};
        EXPECT_EQ(CUDA_SUCCESS, cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        EXPECT_EQ(CUDA_SUCCESS, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
        EXPECT_EQ(CUDA_SUCCESS, cuMemcpyDtoDAsync(copied_to, c, 64, stream));
        EXPECT_EQ(CUDA_SUCCESS, cuStreamEndCapture(stream, &graph));
        EXPECT_EQ(CUDA_SUCCESS, cuGraphInstantiate(&exec, graph, 0));
        EXPECT_EQ(CUDA_SUCCESS, cuMemcpyHtoD(table, words.data(), 4096)); /* all of it is known at the launch */
        EXPECT_EQ(CUDA_SUCCESS, cuGraphLaunch(exec, nullptr));
        const bool told = watch_tells;
        EXPECT_FALSE(watch_settles);
        EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
        EXPECT_EQ(CUDA_SUCCESS, cuGraphExecDestroy(exec));
        EXPECT_EQ(CUDA_SUCCESS, cuGraphDestroy(graph));
        return told;
    };
    EXPECT_TRUE(tells(copy, pinned, b, a));
    EXPECT_FALSE(tells(copy, a, b, pinned)) << "a copy";
    EXPECT_FALSE(tells(copy, a, pinned, b)) << "it reads there";
    EXPECT_FALSE(tells(gather, b, table, c));
    EXPECT_FALSE(tells(scatter, table, 0, c));
    words.assign(512, pinned);
    EXPECT_FALSE(tells(gather, b, table, c)) << "it reads there";
    EXPECT_TRUE(tells(scatter, table, 0, c));
    CU(cuStreamDestroy(stream));
    CU(cuMemFreeHost(host));
}

/* A graph that copies brings other pointers each time it is launched, into what it copies to and nothing else. */
TEST_F(Touched, GraphsThatCopyPointersAtEachLaunch)
{
    CUdeviceptr table = device("table"), from = device("from"), other = device("other"), a = device("a"), b = device("b");
    CUfunction gather = kernel(ptds_tables_ptx, "gather");
    std::vector<CUdeviceptr> words(512, a);
    CUcontext context;
    CU(cuCtxGetCurrent(&context));
    for (const bool first : {true, false}) {
        CUDA_MEMCPY3D copy = {};
        copy.dstMemoryType = copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.dstDevice = table, copy.srcDevice = from, copy.WidthInBytes = 64, copy.Height = copy.Depth = 1;
        CUDA_MEMSET_NODE_PARAMS memset = {};
        memset.dst = other, memset.elementSize = 4, memset.width = 4, memset.height = 1;
        CUgraph graph;
        CUgraphExec exec;
        CUgraphNode node;
        CU(cuGraphCreate(&graph, 0));
        if (!first) {
            CU(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &memset, context));
        }
        CU(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context));
        CU(cuGraphInstantiate(&exec, graph, 0));
        for (CUdeviceptr one : {table, from, other})
            CU(cuMemcpyHtoD(one, words.data(), 4096)); /* all of it is known now */
        EXPECT_EQ(launch(gather, b, table, 0u, 0u), "w b r table r a");
        TOUCHES(cuGraphLaunch(exec, nullptr), first ? "w table r from" : "w other w table r from");
        EXPECT_EQ(launch(gather, b, from, 0u, 0u), "w b r from r a");
        EXPECT_EQ(launch(gather, b, other, 0u, 0u), first ? "w b r other r a" : "!POINTERS");
        CU(cuMemcpyHtoD(from, words.data(), 4096));
        EXPECT_EQ(launch(gather, b, from, 0u, 0u), "w b r from r a");
        EXPECT_EQ(launch(gather, b, table, 0u, 0u), "!POINTERS");
        CU(cuCtxSynchronize());
        CU(cuGraphExecDestroy(exec));
        CU(cuGraphDestroy(graph));
    }
}

void CUDA_CB nothing(void *)
{
}

TEST_F(Touched, GraphsWithOtherNodes)
{
    CUgraph graph, outer;
    CUgraphExec exec;
    CUgraphNode node;
    CUdeviceptr a = device("a");
    CUDA_HOST_NODE_PARAMS host = {nothing, nullptr};
    CUDA_MEMSET_NODE_PARAMS memset = {};
    CUcontext context;
    CU(cuCtxGetCurrent(&context));
    CU(cuGraphCreate(&graph, 0));
    memset.dst = a, memset.elementSize = 4, memset.width = 4, memset.height = 1;
    CU(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &memset, context));
    CU(cuGraphCreate(&outer, 0));
    CU(cuGraphAddChildGraphNode(&node, outer, nullptr, 0, graph));
    CU(cuGraphInstantiate(&exec, outer, 0));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a");
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphAddHostNode(&node, graph, nullptr, 0, &host));
    CU(cuGraphInstantiate(&exec, graph, 0));
    TOUCHES(cuGraphLaunch(exec, nullptr), "!HOST_FUNCTION");
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(outer));
}

/* A graph that nobody sees through may have put pointers anywhere; one whose nodes are known has not, nor has one that
 * waits for the host. */
TEST_F(Touched, GraphsThatMayHaveLeftPointers)
{
    CUdeviceptr bodies = device("bodies"), a = device("a");
    CUfunction read = that_does("tw");
    CUDA_MEMSET_NODE_PARAMS memset = {};
    CUDA_HOST_NODE_PARAMS host = {nothing, nullptr};
    CUgraph graph;
    CUgraphExec known, unknown;
    CUgraphNode node;
    CUcontext context;
    CU(cuCtxGetCurrent(&context));
    CU(cuGraphCreate(&graph, 0));
    memset.dst = a, memset.elementSize = 4, memset.width = 4, memset.height = 1;
    CU(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &memset, context));
    CU(cuGraphInstantiate(&known, graph, 0));
    CU(cuGraphAddHostNode(&node, graph, nullptr, 0, &host));
    CU(cuGraphInstantiate(&unknown, graph, 0));
    auto fresh = [&] {
        EXPECT_EQ(cuMemsetD8(bodies, 0, 4096), CUDA_SUCCESS);
        EXPECT_EQ(launch(read, bodies, a), "r bodies w a");
    };
    fresh();
    TOUCHES(cuGraphLaunch(known, nullptr), "w a");
    EXPECT_EQ(launch(read, bodies, a), "r bodies w a");
    TOUCHES(cuGraphLaunch(unknown, nullptr), "!HOST_FUNCTION");
    EXPECT_EQ(launch(read, bodies, a), "r bodies w a");
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(known));
    CU(cuGraphExecDestroy(unknown));
    last = {};
    cuGraphLaunch(known, nullptr); /* one that was made past the shim, for all it knows */
    EXPECT_EQ(text(), "!GRAPH");
    EXPECT_EQ(launch(read, bodies, a), "!POINTERS");
    CU(cuGraphDestroy(graph));
}

/* So deep; what lies deeper is not looked at, and may be anything. */
TEST_F(Touched, GraphsWithinGraphs)
{
    CUdeviceptr a = device("a");
    CUDA_MEMSET_NODE_PARAMS memset = {};
    CUgraph graph;
    CUgraphNode node;
    CUcontext context;
    CU(cuCtxGetCurrent(&context));
    CU(cuGraphCreate(&graph, 0));
    memset.dst = a, memset.elementSize = 4, memset.width = 4, memset.height = 1;
    CU(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &memset, context));
    for (int depth = 0; depth <= 17; depth++) {
        CUgraphExec exec;
        CUgraph outer;
        CU(cuGraphInstantiate(&exec, graph, 0));
        TOUCHES(cuGraphLaunch(exec, nullptr), depth <= 16 ? "w a" : "!GRAPH");
        CU(cuCtxSynchronize());
        CU(cuGraphExecDestroy(exec));
        CU(cuGraphCreate(&outer, 0));
        CU(cuGraphAddChildGraphNode(&node, outer, nullptr, 0, graph));
        CU(cuGraphDestroy(graph));
        graph = outer;
    }
    CU(cuGraphDestroy(graph));
}

/* Nodes that the simulated driver has not: an empty one answers for each. */
TEST_F(Touched, GraphsThatAllocateOrGate)
{
    CUdeviceptr a = device("a");
    const struct {
        CUgraphNodeType type;
        CUdeviceptr address;
        const char *touches;
    } nodes[] = {
        {CU_GRAPH_NODE_TYPE_EMPTY, 0, ""},
        {CU_GRAPH_NODE_TYPE_MEM_ALLOC, a, "w a"},
        {CU_GRAPH_NODE_TYPE_MEM_FREE, a, "w a"},
        {CU_GRAPH_NODE_TYPE_MEM_FREE, 8, "!GRAPH"},
        {CU_GRAPH_NODE_TYPE_EVENT_RECORD, 0, "!EVENT"},
        {CU_GRAPH_NODE_TYPE_WAIT_EVENT, 0, "!EVENT"},
        {CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, 0, "!SEMAPHORE"},
        {CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, 0, "!WAITS_FOR_VALUE"},
        {CU_GRAPH_NODE_TYPE_CONDITIONAL, 0, "!GRAPH"},
    };
    for (const auto &like : nodes) {
        CUgraph graph;
        CUgraphExec exec;
        CUgraphNode node;
        CU(cuGraphCreate(&graph, 0));
        CU(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
        watch_node(like.type, like.address);
        CU(cuGraphInstantiate(&exec, graph, 0));
        watch_node(CU_GRAPH_NODE_TYPE_EMPTY, 0);
        TOUCHES(cuGraphLaunch(exec, nullptr), like.touches);
        CU(cuCtxSynchronize());
        CU(cuGraphExecDestroy(exec));
        CU(cuGraphDestroy(graph));
    }
}

/* A call does with plain host memory what it does before it is back; a graph whenever it runs. */
TEST_F(Touched, GraphsWithPlainHostMemory)
{
    static char own[64];
    CUdeviceptr a = device("a");
    CUstream stream;
    CUcontext context;
    CU(cuCtxGetCurrent(&context));
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    for (const char *way : {"out", "in", "captured"}) {
        CUDA_MEMCPY3D copy = {};
        CUgraph graph;
        CUgraphExec exec;
        CUgraphNode node;
        copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.srcDevice = copy.dstDevice = a, copy.WidthInBytes = 64, copy.Height = copy.Depth = 1;
        if (*way == 'o')
            copy.dstMemoryType = CU_MEMORYTYPE_HOST, copy.dstHost = own;
        else
            copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = own;
        if (*way == 'c') {
            CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
            CU(cuMemcpyDtoHAsync(own, a, 64, stream));
            CU(cuStreamEndCapture(stream, &graph));
        } else {
            CU(cuGraphCreate(&graph, 0));
            CU(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context));
        }
        CU(cuGraphInstantiate(&exec, graph, 0));
        TOUCHES(cuGraphLaunch(exec, nullptr), "!OTHER");
        CU(cuCtxSynchronize());
        CU(cuGraphExecDestroy(exec));
        CU(cuGraphDestroy(graph));
    }
    CU(cuStreamDestroy(stream));
}

/* One call for nodes of every kind. */
TEST_F(Touched, NodesSetByTheirParameters)
{
    CUdeviceptr a = device("a"), b = device("b"), c = device("c");
    CUfunction copy = kernel(kit_ptx, KIT_COPY);
    CUcontext context;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode run_node, set;
    CUDA_MEMSET_NODE_PARAMS memset = {};
    unsigned n = 0;
    void *params[] = {&b, &c, &n};
    launch(copy, a, b, 0u);
    CU(cuCtxGetCurrent(&context));
    CU(cuGraphCreate(&graph, 0));
    memset.dst = a, memset.elementSize = 4, memset.width = 4, memset.height = 1;
    CU(cuGraphAddMemsetNode(&set, graph, nullptr, 0, &memset, context));
    CUDA_KERNEL_NODE_PARAMS run = {};
    run.func = copy, run.gridDimX = run.gridDimY = run.gridDimZ = run.blockDimX = run.blockDimY = run.blockDimZ = 1;
    run.kernelParams = params;
    CU(cuGraphAddKernelNode(&run_node, graph, nullptr, 0, &run));
    CU(cuGraphInstantiate(&exec, graph, 0));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a w b r c");
    CUgraphNodeParams to = {};
    to.type = CU_GRAPH_NODE_TYPE_MEMSET;
    to.memset.dst = c, to.memset.elementSize = 4, to.memset.width = 4, to.memset.height = 1, to.memset.ctx = context;
    CU(cuGraphExecNodeSetParams(exec, set, &to));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a w b w c");
    to = {};
    to.type = CU_GRAPH_NODE_TYPE_KERNEL;
    to.kernel.func = copy, to.kernel.gridDimX = to.kernel.gridDimY = to.kernel.gridDimZ = 1;
    to.kernel.blockDimX = to.kernel.blockDimY = to.kernel.blockDimZ = 1;
    void *swapped[] = {&c, &b, &n};
    to.kernel.kernelParams = swapped;
    CU(cuGraphExecNodeSetParams(exec, run_node, &to));
    EXPECT_NE(cuGraphExecNodeSetParams(exec, set, &to), CUDA_SUCCESS) << "it is no kernel's";
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a w b w c");
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* What an executable graph's nodes were before counts, too; what was refused does not. */
TEST_F(Touched, ExecutableGraphsThatChange)
{
    CUdeviceptr a = device("a"), b = device("b"), c = device("c"), d = device("d"), e = device("e"), f = device("f"),
                g = device("g"), h = device("h");
    CUcontext context;
    CUgraph graph, other, child, sibling;
    CUgraphExec exec;
    CUgraphNode set, copied, within, unused;
    CUgraphExecUpdateResultInfo info;
    CU(cuCtxGetCurrent(&context));
    const auto memset_of = [](CUdeviceptr to) {
        CUDA_MEMSET_NODE_PARAMS memset = {};
        memset.dst = to, memset.elementSize = 4, memset.width = 4, memset.height = 1;
        return memset;
    };
    const auto copy_of = [](CUdeviceptr to, CUdeviceptr from) {
        CUDA_MEMCPY3D copy = {};
        copy.dstMemoryType = copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.dstDevice = to, copy.srcDevice = from, copy.WidthInBytes = 64, copy.Height = copy.Depth = 1;
        return copy;
    };
    CUDA_MEMSET_NODE_PARAMS memset = memset_of(a);
    CUDA_MEMCPY3D copy = copy_of(b, a);
    for (CUgraph *one : {&child, &sibling}) {
        CU(cuGraphCreate(one, 0));
        CU(cuGraphAddMemsetNode(&unused, *one, nullptr, 0, &memset, context));
        memset = memset_of(g);
    }
    memset = memset_of(a);
    for (CUgraph *one : {&graph, &other}) {
        CU(cuGraphCreate(one, 0));
        CU(cuGraphAddMemsetNode(one == &graph ? &set : &unused, *one, nullptr, 0, &memset, context));
        CU(cuGraphAddMemcpyNode(one == &graph ? &copied : &unused, *one, nullptr, 0, &copy, context));
        CU(cuGraphAddChildGraphNode(one == &graph ? &within : &unused, *one, nullptr, 0, child));
        memset = memset_of(f);
    }
    CU(cuGraphInstantiate(&exec, graph, 0));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a w b");
    memset = memset_of(c);
    CU(cuGraphExecMemsetNodeSetParams(exec, set, &memset, context));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a w b w c");
    copy = copy_of(d, e);
    CU(cuGraphExecMemcpyNodeSetParams(exec, copied, &copy, context));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a w b w c w d r e");
    CU(cuGraphExecUpdate(exec, other, &info));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a w b w c w d r e w f");
    memset = memset_of(h);
    CU(cuGraphAddMemsetNode(&unused, other, nullptr, 0, &memset, context));
    EXPECT_NE(cuGraphExecUpdate(exec, other, &info), CUDA_SUCCESS);
    EXPECT_NE(cuGraphExecMemsetNodeSetParams(exec, copied, &memset, context), CUDA_SUCCESS);
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a w b w c w d r e w f");
    CU(cuGraphExecChildGraphNodeSetParams(exec, within, sibling));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a w b w c w d r e w f w g");
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    for (CUgraph one : {graph, other, child, sibling})
        CU(cuGraphDestroy(one));
}

/* Only kernels follow the pointers that lie in what they get; a graph serves again for others. */
TEST_F(Touched, GraphsWithoutKernelsFollowNoPointers)
{
    CUdeviceptr table = device("table"), to = device("to"), a = device("a"), c = device("c");
    CUfunction gather = kernel(ptds_tables_ptx, "gather");
    CUcontext context;
    CUgraph graph, other;
    CUgraphExec exec;
    CUgraphNode node;
    unsigned n = 0;
    CU(cuCtxGetCurrent(&context));
    CU(cuMemcpyHtoD(table, &a, 8));
    EXPECT_EQ(launch(gather, c, table, 0u, 0u), "w c r table r a");
    void *params[] = {&c, &table, &n, &n};
    CUDA_KERNEL_NODE_PARAMS run = {};
    run.func = gather, run.gridDimX = run.gridDimY = run.gridDimZ = run.blockDimX = run.blockDimY = run.blockDimZ = 1;
    run.kernelParams = params;
    CUDA_MEMCPY3D copy = {};
    copy.dstMemoryType = copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = to, copy.srcDevice = table, copy.WidthInBytes = 8, copy.Height = copy.Depth = 1;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddKernelNode(&node, graph, nullptr, 0, &run));
    CU(cuGraphCreate(&other, 0));
    CU(cuGraphAddMemcpyNode(&node, other, nullptr, 0, &copy, context));
    CU(cuGraphInstantiate(&exec, graph, 0));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w c r table r a");
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphInstantiate(&exec, other, 0));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w to r table");
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(other));
}

/* Another memory lies where a graph's was. */
TEST_F(Touched, AGraphWhoseMemoryIsGone)
{
    CUdeviceptr a = device("a"), b = device("b"), gone;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node, other;
    CUDA_MEMSET_NODE_PARAMS memset = {};
    CUcontext context;
    CU(cuCtxGetCurrent(&context));
    CU(cuMemAlloc(&gone, 4096));
    CU(cuGraphCreate(&graph, 0));
    memset.dst = gone, memset.elementSize = 4, memset.width = 4, memset.height = 1;
    CU(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &memset, context));
    memset.dst = a;
    CU(cuGraphAddMemsetNode(&other, graph, nullptr, 0, &memset, context));
    CU(cuGraphInstantiate(&exec, graph, 0));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w ? w a");
    CU(cuCtxSynchronize());
    CU(cuMemFree(gone));
    CUdeviceptr again = device("again");
    ASSERT_EQ(again, gone);
    TOUCHES(cuGraphLaunch(exec, nullptr), "!GRAPH");
    memset.dst = b;
    CU(cuGraphExecMemsetNodeSetParams(exec, other, &memset, context));
    TOUCHES(cuGraphLaunch(exec, nullptr), "!GRAPH"); /* the node that has changed is another one */
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

TEST_F(Touched, WorkThatHoldsUpAStreamIsOpaqueByItsReason)
{
    CUdeviceptr a = device("a");
    TOUCHES(cuLaunchHostFunc(nullptr, nothing, nullptr), "!HOST_FUNCTION");
    TOUCHES(cuStreamWriteValue32(nullptr, a, 1, 0), "!WAITS_FOR_VALUE");
    TOUCHES(cuStreamWaitValue32(nullptr, a, 1, CU_STREAM_WAIT_VALUE_GEQ), "!WAITS_FOR_VALUE");
}

/* Whoever waits for them is taken in. */
TEST_F(Touched, EventsThatACapturedLaunchRecords)
{
    CUstream stream, outside;
    CUgraph graph;
    CUevent events[2];
    CUfunction fill = kernel(kit_ptx, KIT_FILL);
    CUdeviceptr a = device("a");
    unsigned n = 0;
    void *params[] = {&a, &n, &n};
    CUlaunchAttribute attributes[2] = {};
    CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, nullptr, attributes, 2};
    for (CUevent &event : events)
        CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
    attributes[0].value.programmaticEvent = {events[0], 0, 1};
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
    attributes[1].value.launchCompletionEvent = {events[1], 0};
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU(cuStreamCreate(&outside, CU_STREAM_NON_BLOCKING));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    config.hStream = stream;
    CU(cuLaunchKernelEx(&config, fill, params, nullptr));
    EXPECT_TRUE(watch_is_captured(events[0]));
    EXPECT_TRUE(watch_is_captured(events[1]));
    config.hStream = outside, config.numAttrs = 1;
    CU(cuLaunchKernelEx(&config, fill, params, nullptr));
    EXPECT_FALSE(watch_is_captured(events[0])) << "recorded anew";
    EXPECT_TRUE(watch_is_captured(events[1]));
    EXPECT_EQ(cuLaunchKernelEx(nullptr, fill, params, nullptr), CUDA_ERROR_INVALID_VALUE);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuCtxSynchronize());
    CU(cuGraphDestroy(graph));
    for (CUevent event : events)
        CU(cuEventDestroy(event));
    CU(cuStreamDestroy(stream));
    CU(cuStreamDestroy(outside));
}

/* The last test: from then on kernels may launch what nobody saw. */
TEST_F(Touched, GraphsThatTheDeviceLaunches)
{
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr a = device("a"), b = device("b");
    CUfunction copy = kernel(kit_ptx, KIT_COPY);
    EXPECT_EQ(launch(copy, a, b, 0u), "w a r b");
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    EXPECT_EQ(launch(copy, a, b, 0u), "!GRAPH");
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

} // namespace
