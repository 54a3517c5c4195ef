/* SPDX-License-Identifier: Apache-2.0
 *
 * When it is known which pointers lie in memory that was filled, and when no longer.
 */
#include "tests/conformance/tables.ptx.h"
#include "tests/footprint/touched.h"

namespace
{

const char reading[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                       ".visible .entry _Z4readPK4BodyPf(.param .u64 b, .param .u64 p)\n{\n ret;\n}\n";

/* A table of the host's pointers is not known any more after work that may have added others. */
TEST_F(Touched, TablesThatOthersMayHaveFilled)
{
    static CUdeviceptr words[512];
    CUdeviceptr table = device("table"), copied = device("copied"), a = device("a"), b = device("b"), c = device("c"),
                raw = device("raw"), flag = device("flag");
    CUfunction typed = kernel(ptds_tables_ptx, PTDS_GATHER), plain = kernel(ptds_tables_ptx, "gather");
    CUfunction read = kernel(reading, "_Z4readPK4BodyPf");
    const CUdeviceptr pair[] = {a, b};
    words[0] = a;
    auto gather = [&](CUdeviceptr from) { return launch(typed, c, from, 0u, 0u); };
    auto unknown = [&] { /* what it touches, nobody knows */
                         last = {};
                         cuGraphLaunch(reinterpret_cast<CUgraphExec>(8), nullptr);
                         EXPECT_EQ(text(), "!GRAPH");
    };
    CU(cuMemcpyHtoD(table, words, 8));
    EXPECT_EQ(gather(table), "w c w table w a");
    CU(cuStreamWriteValue64(nullptr, flag, b, 0));
    EXPECT_EQ(gather(table), "w c w table w a") << "it was written elsewhere";
    CU(cuStreamWriteValue64(nullptr, table + 8, b, 0));
    EXPECT_EQ(gather(table), "!POINTERS");
    CU(cuMemcpyHtoD(table, words, 8));
    EXPECT_EQ(gather(table), "!POINTERS") << "the rest is there all the same";
    CUstreamBatchMemOpParams values[2] = {};
    values[0].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32, values[0].waitValue.address = table;
    values[0].waitValue.flags = CU_STREAM_WAIT_VALUE_NOR; /* true of any address */
    values[1].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    CU(cuMemcpyHtoD(table, words, sizeof words));
    for (CUdeviceptr to : {flag, table}) {
        values[1].writeValue.address = to;
        cuStreamBatchMemOp(nullptr, 2, values, 0);
        EXPECT_EQ(gather(table), to == flag ? "w c w table w a" : "!POINTERS");
    }
    CU(cuMemcpyHtoD(table, words, sizeof words));
    EXPECT_EQ(gather(table), "w c w table w a");
    unknown();
    EXPECT_EQ(gather(table), "!POINTERS");
    CU(cuMemcpyHtoD(table, words, sizeof words));
    EXPECT_EQ(gather(table), "w c w table w a");
    cuLaunchGridAsync(typed, 1, 1, nullptr);
    EXPECT_EQ(gather(table), "!POINTERS") << "its parameters are given by calls of their own";
    CU(cuMemcpyHtoD(table, words, sizeof words));
    CU(cuMemcpyHtoD(raw, pair, 16));
    EXPECT_EQ(launch(plain, c, raw, 0u, 0u), "w c w raw w a w b");
    unknown();
    EXPECT_EQ(launch(plain, c, raw, 0u, 0u), "w c w raw w a w b") << "of plain names nothing else was ever known";
    auto look = [&](CUdeviceptr from) { return launch(read, from, c); };
    CU(cuMemcpyHtoD(copied, pair, 16));
    EXPECT_EQ(look(copied), "r copied w c w a w b");
    unknown();
    EXPECT_EQ(look(copied), "!POINTERS");
    CU(cuMemcpyHtoD(copied, words, 8));
    EXPECT_EQ(look(copied), "!POINTERS") << "a part of it";
    CU(cuMemcpyHtoD(copied, pair, 16));
    EXPECT_EQ(look(copied), "r copied w c w a w b") << "all the pointers that were there have come anew";
    CU(cuMemcpyDtoD(copied + 16, table, 8));
    EXPECT_EQ(look(copied), "!POINTERS") << "from a table that is not known";
    CU(cuMemcpyHtoD(table, words, sizeof words));
    CU(cuMemcpyDtoD(copied, table, 24));
    EXPECT_EQ(look(copied), "r copied w c w a");
}

/* What is only captured has not run, and perhaps never will: the pointers that lie there stay. */
TEST_F(Touched, WhatIsCapturedChangesNoPointers)
{
    static CUdeviceptr words[512];
    CUdeviceptr table = device("table"), a = device("a"), c = device("c"), zeros = device("zeros");
    CUfunction plain = kernel(ptds_tables_ptx, "gather"), typed = kernel(ptds_tables_ptx, PTDS_GATHER);
    CUstream created;
    CUgraph graph;
    CU(cuStreamCreate(&created, CU_STREAM_DEFAULT));
    CU(cuMemsetD8(zeros, 0, 4096));
    words[0] = a;
    auto fresh = [&] {
        EXPECT_EQ(cuMemcpyHtoD(table, words, sizeof words), CUDA_SUCCESS);
        EXPECT_EQ(launch(plain, c, table, 0u, 0u), "w c w table w a");
        EXPECT_EQ(launch(typed, c, table, 0u, 0u), "w c w table w a");
    };
    for (CUstream stream : {created, CU_STREAM_PER_THREAD}) {
        for (const char *what : {"memset", "copy", "rows"}) {
            CUDA_MEMCPY2D rows = {};
            rows.srcMemoryType = rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
            rows.srcDevice = zeros, rows.dstDevice = table, rows.srcPitch = rows.dstPitch = 64;
            rows.WidthInBytes = 32, rows.Height = 4;
            fresh();
            CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
            if (*what == 'm')
                CU(cuMemsetD8Async(table, 0, 4096, stream));
            else if (*what == 'c')
                CU(cuMemcpyDtoDAsync(table, zeros, 4096, stream));
            else
                CU(cuMemcpy2DAsync(&rows, stream));
            CU(cuStreamEndCapture(stream, &graph));
            CU(cuGraphDestroy(graph));
            EXPECT_EQ(launch(plain, c, table, 0u, 0u), "w c w table w a") << what;
            EXPECT_EQ(launch(typed, c, table, 0u, 0u), "w c w table w a") << what;
        }
    }
    fresh();
    CU(cuStreamBeginCapture(created, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuMemsetD8Async(table, 0, 4096, CU_STREAM_PER_THREAD)); /* which runs, beside the capture */
    CU(cuStreamEndCapture(created, &graph));
    CU(cuGraphDestroy(graph));
    EXPECT_EQ(launch(plain, c, table, 0u, 0u), "w c w table");
    CU(cuCtxSynchronize());
    CU(cuStreamDestroy(created));
}

/* Nor does what is instantiated: that the copies of a graph bring, nobody knows before it is launched. */
TEST_F(Touched, GraphsThatAreNeverLaunched)
{
    static CUdeviceptr words[512];
    static char nothing_there[4096];
    CUdeviceptr table = device("table"), a = device("a"), c = device("c"), zeros = device("zeros");
    CUfunction plain = kernel(ptds_tables_ptx, "gather"), typed = kernel(ptds_tables_ptx, PTDS_GATHER);
    CUcontext context;
    CU(cuCtxGetCurrent(&context));
    CU(cuMemsetD8(zeros, 0, 4096));
    words[0] = a;
    for (const bool from_host : {false, true}) {
        CUDA_MEMCPY3D copy = {};
        CUgraph graph;
        CUgraphExec exec;
        CUgraphNode node;
        copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.srcDevice = zeros, copy.dstDevice = table, copy.WidthInBytes = 4096, copy.Height = copy.Depth = 1;
        if (from_host)
            copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = nothing_there;
        CU(cuMemcpyHtoD(table, words, sizeof words));
        EXPECT_EQ(launch(typed, c, table, 0u, 0u), "w c w table w a");
        CU(cuGraphCreate(&graph, 0));
        CU(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context));
        CU(cuGraphInstantiate(&exec, graph, 0));
        EXPECT_EQ(launch(plain, c, table, 0u, 0u), "!POINTERS") << from_host;
        EXPECT_EQ(launch(typed, c, table, 0u, 0u), "!POINTERS") << from_host;
        CU(cuCtxSynchronize());
        CU(cuGraphExecDestroy(exec));
        CU(cuGraphDestroy(graph));
    }
}

void CUDA_CB no_work(void *)
{
}

/* Whatever else it does that nobody sees: plain names do not tell of pointers, copies do. */
TEST_F(Touched, OpaqueGraphsThatCopyPointers)
{
    static CUdeviceptr words[512];
    CUdeviceptr a = device("a"), c = device("c"), table = device("table"), from = device("from");
    CUfunction gather = kernel(ptds_tables_ptx, "gather");
    CUDA_MEMCPY3D copy = {};
    CUDA_HOST_NODE_PARAMS host = {no_work, nullptr};
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    CUcontext context;
    CU(cuCtxGetCurrent(&context));
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from, copy.dstDevice = table, copy.WidthInBytes = 64, copy.Height = copy.Depth = 1;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddHostNode(&node, graph, nullptr, 0, &host));
    CU(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context));
    CU(cuGraphInstantiate(&exec, graph, 0));
    words[0] = a;
    CU(cuMemcpyHtoD(table, words, sizeof words));
    EXPECT_EQ(launch(gather, c, table, 0u, 0u), "w c w table w a");
    TOUCHES(cuGraphLaunch(exec, nullptr), "!HOST_FUNCTION");
    EXPECT_EQ(launch(gather, c, table, 0u, 0u), "!POINTERS");
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

} // namespace
