/* SPDX-License-Identifier: Apache-2.0
 *
 * What graphs touch by pointers that lie in memory: asked at each launch, as a kernel's own launch asks.
 */
#include "tests/conformance/tables.ptx.h"
#include "tests/conformance/variables.ptx.h"
#include "tests/footprint/touched.h"
#include "tests/kit/kernels.ptx.h"
#include "tests/sim/sim_test_api.h"

#include <dlfcn.h>

namespace
{

class Graphs : public Touched
{
protected:
    void SetUp() override
    {
        CU(cuCtxGetCurrent(&context));
        CU(cuGraphCreate(&graph, 0));
    }
    void TearDown() override
    {
        cuCtxSynchronize();
        EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
        EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
        Touched::TearDown();
    }
    template <class... Arguments> void add(CUfunction function, Arguments... arguments)
    {
        void *params[] = {&arguments..., nullptr};
        CUDA_KERNEL_NODE_PARAMS run = {};
        run.func = function, run.gridDimX = run.gridDimY = run.gridDimZ = 1;
        run.blockDimX = run.blockDimY = run.blockDimZ = 1;
        run.kernelParams = params;
        EXPECT_EQ(cuGraphAddKernelNode(&node, graph, nullptr, 0, &run), CUDA_SUCCESS);
    }
    void instantiate()
    {
        EXPECT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
    }
    std::string launched()
    {
        last = {};
        EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
        return text();
    }
    /* All of the table, of 4096 bytes, by a copy that is looked through, or not. */
    static void fill(CUdeviceptr table, CUdeviceptr first, bool seen = true)
    {
        static CUdeviceptr words[512];
        words[0] = first;
        if (seen) {
            CU(cuMemcpyHtoD(table, words, sizeof words));
            return;
        }
        CUDA_MEMCPY2D rows = {};
        rows.srcMemoryType = CU_MEMORYTYPE_HOST, rows.srcHost = words, rows.srcPitch = 64;
        rows.dstMemoryType = CU_MEMORYTYPE_DEVICE, rows.dstDevice = table, rows.dstPitch = 128;
        rows.WidthInBytes = 64, rows.Height = 32;
        CU(cuMemcpy2D(&rows));
    }
    CUcontext context = nullptr;
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    CUgraphNode node = nullptr;
};

TEST_F(Graphs, WhoseTablesAreFilledLater)
{
    CUdeviceptr table = device("table"), b = device("b"), a = device("a");
    add(kernel(ptds_tables_ptx, PTDS_GATHER), b, table, 0u, 0u);
    instantiate();
    EXPECT_EQ(launched(), "w b r table");
    fill(table, a, false);
    EXPECT_EQ(launched(), "!POINTERS");
    fill(table, a);
    EXPECT_EQ(launched(), "w b r table r a");
    CU(cuStreamWriteValue64(nullptr, table + 8, a, 0));
    EXPECT_EQ(launched(), "!POINTERS");
    fill(table, a);
    EXPECT_EQ(launched(), "w b r table r a");
    fill(b, a, false);
    EXPECT_EQ(launched(), "w b r table r a") << "no pointers are followed that lie there";
}

/* Where a name tells nothing, what copies brought counts. */
TEST_F(Graphs, WithPlainNamesWhoseTablesAreFilledLater)
{
    CUdeviceptr table = device("table"), b = device("b"), a = device("a");
    add(kernel(ptds_tables_ptx, "gather"), b, table, 0u, 0u);
    instantiate();
    EXPECT_EQ(launched(), "w b r table");
    fill(table, a);
    EXPECT_EQ(launched(), "w b r table r a");
    fill(table, a, false);
    EXPECT_EQ(launched(), "!POINTERS");
}

/* The order in which nodes are listed is not the one in which they run. */
TEST_F(Graphs, WhoseOwnCopiesFillTheirTables)
{
    CUdeviceptr table = device("table"), b = device("b"), from = device("from");
    add(kernel(ptds_tables_ptx, PTDS_GATHER), b, table, 0u, 0u);
    CUDA_MEMCPY3D copy = {};
    copy.dstMemoryType = copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = table, copy.srcDevice = from, copy.WidthInBytes = 64, copy.Height = copy.Depth = 1;
    CU(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context));
    fill(table, 0);
    fill(from, 0);
    instantiate();
    EXPECT_EQ(launched(), "!POINTERS");
    fill(table, 0);
    EXPECT_EQ(launched(), "!POINTERS") << "each time";
}

TEST_F(Graphs, WhoseNodesAreOthersByNow)
{
    CUdeviceptr table = device("table"), other = device("other"), b = device("b"), a = device("a");
    CUfunction gather = kernel(ptds_tables_ptx, PTDS_GATHER);
    unsigned n = 0;
    void *params[] = {&b, &other, &n, &n};
    CUDA_KERNEL_NODE_PARAMS run = {};
    run.func = gather, run.gridDimX = run.gridDimY = run.gridDimZ = run.blockDimX = run.blockDimY = run.blockDimZ = 1;
    run.kernelParams = params;
    add(gather, b, table, 0u, 0u);
    instantiate();
    CU(cuGraphExecKernelNodeSetParams(exec, node, &run));
    EXPECT_EQ(launched(), "w b r table r other");
    fill(other, a, false);
    EXPECT_EQ(launched(), "!POINTERS");
}

/* Its module's kernels leave pointers for each other there. */
TEST_F(Graphs, WithVariablesThatAreFilledLater)
{
    CUdeviceptr b = device("b"), kept;
    size_t size;
    CUfunction get = kernel(module_of("get", "wd", ".visible .global .align 8 .u64 ptds_kept;\n",
                                      "ld.global.u64 %rd1, [ptds_kept];\nld.global.u32 %r1, [%rd1];\n"),
                            "get");
    CU(cuModuleGetGlobal(&kept, &size, modules.back(), "ptds_kept"));
    name("kept", kept);
    add(get, b, 0u);
    instantiate();
    EXPECT_EQ(launched(), "w b r kept");
    CU(cuStreamWriteValue64(nullptr, kept, b, 0));
    EXPECT_EQ(launched(), "!POINTERS");
}

/* That is learnt when the program asks for one: the host may store pointers there. */
TEST_F(Graphs, WithVariablesThatTurnOutToBeManaged)
{
    CUdeviceptr variable;
    size_t size;
    CUfunction get = kernel(module_of("get", "", ".visible .global .align 8 .u64 ptds_kept;\n",
                                      "ld.global.u64 %rd1, [ptds_kept];\nld.global.u32 %r1, [%rd1];\n"),
                            "get");
    CU(cuModuleGetGlobal(&variable, &size, modules.back(), "ptds_kept"));
    name("variable", variable);
    add(get);
    instantiate();
    EXPECT_EQ(launched(), "r variable");
    watch_find(variable)->host = 1;
    EXPECT_EQ(launched(), "!POINTERS");
    watch_find(variable)->host = 0;
    EXPECT_EQ(launched(), "!POINTERS") << "whoever touches everything may have left some there";
}

void CUDA_CB nothing(void *)
{
}

/* Of a graph that may touch everything it is not known which pointers its kernels leave where they write. */
TEST_F(Graphs, ThatMayTouchEverythingLeavePointers)
{
    CUdeviceptr table = device("table"), b = device("b"), a = device("a");
    CUfunction copy = kernel(kit_ptx, KIT_COPY), gather = kernel(ptds_tables_ptx, "gather");
    CUDA_HOST_NODE_PARAMS host = {nothing, nullptr};
    fill(table, a);
    add(copy, table, b, 0u);
    CU(cuGraphAddHostNode(&node, graph, nullptr, 0, &host));
    instantiate();
    EXPECT_EQ(launch(gather, b, table, 0u, 0u), "w b r table r a");
    EXPECT_EQ(launched(), "!HOST_FUNCTION");
    EXPECT_EQ(launch(gather, b, table, 0u, 0u), "!POINTERS");
}

/* What is captured must be learnt without a question to the driver while that goes on: the code is read when the graph is
 * made, and pointers are looked for when it is launched. */
TEST_F(Graphs, WhoseKernelsAreFirstMetInACapture)
{
    CUdeviceptr table = device("table"), b = device("b"), a = device("a");
    CUfunction gather = kernel(ptds_tables_ptx, "gather"), copy = kernel(kit_ptx, KIT_COPY);
    CUstream stream;
    unsigned n = 0;
    void *gathers[] = {&b, &table, &n, &n}, *copies[] = {&a, &b, &n};
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    fill(table, a);
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuLaunchKernel(gather, 1, 1, 1, 1, 1, 1, 0, stream, gathers, nullptr));
    CU(cuLaunchKernel(copy, 1, 1, 1, 1, 1, 1, 0, stream, copies, nullptr));
    CU(cuStreamEndCapture(stream, &graph));
    instantiate();
    EXPECT_EQ(launched(), "w b r table w a") << "its entries were not forgotten by the capture";
    CUdeviceptr other = device("other");
    fill(table, other);
    EXPECT_EQ(launched(), "w b r table w a r other");
    EXPECT_EQ(launch(gather, b, table, 0u, 0u), "w b r table r other") << "and by itself";
    CU(cuStreamDestroy(stream));
}

/* A kernel that is first launched beside a capture is not known until that has ended, and is from then on. Until then it
 * may have left pointers anywhere. */
TEST_F(Graphs, BesideWhoseCaptureAKernelIsFirstMet)
{
    CUdeviceptr table = device("table"), a = device("a"), b = device("b");
    CUfunction copy = kernel(kit_ptx, KIT_COPY), gather = kernel(ptds_tables_ptx, "gather");
    CUstream stream;
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
    fill(table, a);
    EXPECT_EQ(launch(gather, b, table, 0u, 0u), "w b r table r a");
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_EQ(launch(copy, a, b, 0u), "!PARAMETERS");
    CU(cuStreamEndCapture(stream, &graph));
    instantiate();
    EXPECT_EQ(launch(copy, a, b, 0u), "w a r b");
    EXPECT_EQ(launch(gather, b, table, 0u, 0u), "!POINTERS");
    CU(cuStreamDestroy(stream));
}

} // namespace
