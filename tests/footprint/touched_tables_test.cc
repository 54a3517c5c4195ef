/* SPDX-License-Identifier: Apache-2.0
 *
 * When it is known which pointers lie in memory, and when no longer: each way in which bytes come there.
 */
#include <dlfcn.h>

#include <cstring>
#include <functional>
#include <vector>

#include "tests/footprint/touched.h"

namespace
{

/* A table of 4096 bytes, all of it filled with `a` and zeros: then something comes. */
class Tables : public Touched
{
protected:
    void SetUp() override
    {
        table = device("table"), a = device("a"), b = device("b"), zeros = device("zeros"), from = device("from");
        reads = that_does("t"), stores = that_does("w"), loads = that_does("r"), through = that_does("T");
        CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
        CU(cuMemAllocHost(&pinned, 4096));
        CU(cuMemsetD8(zeros, 0, 4096));
        CU(cuMemsetD8(from, 0, 4096));
        words[0] = a;
        fill();
    }
    void TearDown() override
    {
        cuCtxSynchronize();
        EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
        EXPECT_EQ(cuMemFreeHost(pinned), CUDA_SUCCESS);
        Touched::TearDown();
    }
    void fill()
    {
        EXPECT_EQ(cuMemsetD8(zeros, 0, 4096), CUDA_SUCCESS); /* what touched everything may have left some there */
        EXPECT_EQ(cuMemcpyHtoD(table, words, sizeof words), CUDA_SUCCESS);
        EXPECT_EQ(launch(reads, table), "r table r a") << "all of it is known";
    }
    std::string after(const std::function<CUresult()> &comes)
    {
        fill();
        EXPECT_EQ(comes(), CUDA_SUCCESS);
        return launch(reads, table);
    }
    CUDA_MEMCPY2D rows(bool from_host) const
    {
        CUDA_MEMCPY2D rows = {};
        rows.srcMemoryType = from_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
        rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        rows.srcHost = words, rows.srcDevice = from, rows.dstDevice = table;
        rows.srcPitch = 64, rows.dstPitch = 128, rows.WidthInBytes = 32, rows.Height = 4;
        return rows;
    }
    CUdeviceptr table = 0, a = 0, b = 0, zeros = 0, from = 0, words[512] = {};
    CUfunction reads = nullptr, stores = nullptr, loads = nullptr, through = nullptr;
    CUstream stream = nullptr;
    void *pinned = nullptr;
};

const char known[] = "r table r a", hides[] = "!POINTERS";

TEST_F(Tables, FilledFromPlainHostMemory)
{
    EXPECT_EQ(after([&] { return cuMemcpyHtoD(table + 8, &b, 8); }), "r table r a r b");
    EXPECT_EQ(after([&] { return cuMemcpyHtoDAsync(table + 8, &b, 8, stream); }), "r table r a r b")
        << "the driver has read it";
    EXPECT_EQ(after([&] { return cuMemcpyHtoD(table, &b, 8); }), "r table r b");
    EXPECT_EQ(after([&] { return cuMemcpy(table, reinterpret_cast<CUdeviceptr>(&b), 8); }), "r table r b");
    std::vector<CUdeviceptr> large((2 << 20) / 8);
    CUdeviceptr wide = device("wide", 2 << 20);
    EXPECT_EQ(launch(stores, wide), "w wide");
    EXPECT_EQ(launch(reads, wide), hides);
    large.back() = b;
    CU(cuMemcpyHtoD(wide, large.data(), 2 << 20));
    EXPECT_EQ(launch(reads, wide), "r wide r b") << "of any size";
}

/* What lies in page-locked memory may be other by the time that the copy comes to it. */
TEST_F(Tables, FilledFromPageLockedMemory)
{
    alignas(4096) static CUdeviceptr registered[512];
    CUdeviceptr managed;
    CU(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    CU(cuMemHostRegister(registered, 4096, 0));
    memcpy(pinned, words, sizeof words);
    memcpy(registered, words, sizeof words);
    for (const void *host : {static_cast<const void *>(pinned), static_cast<const void *>(registered)}) {
        EXPECT_EQ(after([&] { return cuMemcpyHtoD(table, host, 4096); }), known) << "it is done when the call is back";
        EXPECT_EQ(after([&] { return cuMemcpyHtoDAsync(table, host, 4096, stream); }), hides);
        EXPECT_EQ(after([&] { return cuMemcpyAsync(table, reinterpret_cast<CUdeviceptr>(host), 8, stream); }), hides);
    }
    EXPECT_EQ(after([&] { return cuMemcpyDtoD(table, managed, 8); }), hides);
    EXPECT_EQ(after([&] { return cuMemcpyHtoD(table, reinterpret_cast<void *>(managed), 8); }), hides);
    CU(cuCtxSynchronize());
    CU(cuMemHostUnregister(registered));
    CU(cuMemFree(managed));
}

/* The two halves of a pointer come one by one, or with what lies there make one. */
TEST_F(Tables, FilledInPieces)
{
    const auto *bytes = reinterpret_cast<const unsigned char *>(&b);
    const CUdeviceptr pair[] = {b << 32, b >> 32};
    EXPECT_EQ(after([&] { return cuMemcpyHtoD(table + 8, bytes, 4); }), hides);
    EXPECT_EQ(after([&] { return cuMemcpyHtoD(table + 12, bytes + 4, 4); }), hides);
    EXPECT_EQ(after([&] { return cuMemcpyHtoD(table + 64, "\1", 1); }), hides);
    EXPECT_EQ(after([&] { return cuMemcpyHtoD(table + 12, &pair[0], 8); }), hides) << "at no multiple of eight";
    EXPECT_EQ(after([&] { return cuMemcpyHtoD(table + 64, &pair[1], 8); }), hides) << "the upper half of one";
    EXPECT_EQ(after([&] { return cuMemcpyHtoD(table + 12, "\0\0\0", 4); }), known) << "zeros";
    EXPECT_EQ(after([&] { return cuMemcpyDtoD(table + 12, zeros, 4); }), hides);
    EXPECT_EQ(after([&] { return cuMemcpyDtoD(table + 8, zeros, 8); }), known);
    EXPECT_EQ(after([&] { return cuMemcpyHtoD(table + 4092, "\1\2\3", 4); }), hides);
    /* Where the memory ends there is nothing else. */
    CUdeviceptr odd = device("odd", 12);
    const unsigned three[] = {1, 2, 3};
    CU(cuMemcpyHtoD(odd, three, 12));
    EXPECT_EQ(launch(reads, odd), "r odd");
}

TEST_F(Tables, FilledByRowsAndArrays)
{
    CUDA_MEMCPY2D host = rows(true), device = rows(false);
    CUDA_MEMCPY3D volume = {};
    volume.srcMemoryType = CU_MEMORYTYPE_HOST, volume.srcHost = words, volume.srcPitch = 64, volume.srcHeight = 2;
    volume.dstMemoryType = CU_MEMORYTYPE_DEVICE, volume.dstDevice = table, volume.dstPitch = 64, volume.dstHeight = 2;
    volume.WidthInBytes = 64, volume.Height = 2, volume.Depth = 2;
    EXPECT_EQ(after([&] { return cuMemcpy2D(&host); }), hides);
    EXPECT_EQ(after([&] { return cuMemcpy3D(&volume); }), hides);
    CU(cuMemsetD8(from, 0, 4096));
    EXPECT_EQ(after([&] { return cuMemcpy2D(&device); }), known) << "from what is known";
    launch(stores, from);
    EXPECT_EQ(after([&] { return cuMemcpy2D(&device); }), hides);
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR about = {64, 1, CU_AD_FORMAT_UNSIGNED_INT32, 2};
    CU(cuArrayCreate(&array, &about));
    EXPECT_EQ(after([&] { return cuMemcpyAtoD(table, array, 0, 64); }), hides);
    CU(cuCtxSynchronize());
    CU(cuArrayDestroy(array));
}

TEST_F(Tables, FilledFromOtherMemory)
{
    CUcontext context;
    CU(cuCtxGetCurrent(&context));
    CU(cuMemcpyHtoD(from, &b, 8));
    EXPECT_EQ(after([&] { return cuMemcpyDtoD(table + 8, from, 8); }), "r table r a r b");
    EXPECT_EQ(after([&] { return cuMemcpyDtoDAsync(table, from, 4096, stream); }), "r table r b");
    EXPECT_EQ(after([&] { return cuMemcpyPeer(table, context, from, context, 8); }), "r table r b");
    EXPECT_EQ(launch(stores, table), "w table");
    CU(cuMemcpyDtoD(table, from, 4096));
    EXPECT_EQ(launch(reads, table), "r table r b") << "all of it";
    EXPECT_EQ(launch(stores, table), "w table");
    CU(cuMemcpyDtoD(table, from, 4088));
    EXPECT_EQ(launch(reads, table), hides);
    CU(cuMemsetD8(from, 0, 4096));
    EXPECT_EQ(launch(stores, from), "w from");
    EXPECT_EQ(after([&] { return cuMemcpyDtoD(table + 64, from + 64, 8); }), hides);
}

TEST_F(Tables, FilledWithValues)
{
    EXPECT_EQ(after([&] { return cuMemsetD8(table, 0, 4096); }), "r table");
    EXPECT_EQ(after([&] { return cuMemsetD32(table + 64, 0, 1); }), known);
    EXPECT_EQ(after([&] { return cuMemsetD8(table + 64, 1, 1); }), hides);
    EXPECT_EQ(after([&] { return cuMemsetD32(table + 64, unsigned(b), 1); }), hides);
    EXPECT_EQ(after([&] { return cuMemsetD2D32(table, 64, unsigned(b), 1, 8); }), hides);
    EXPECT_EQ(after([&] { return cuMemsetD2D32(table, 64, 0, 1, 8); }), known);
    EXPECT_EQ(after([&] { return cuStreamWriteValue64(stream, table + 8, b, 0); }), hides);
    EXPECT_EQ(after([&] { return cuStreamWriteValue32(stream, table + 8, unsigned(b), 0); }), hides);
    EXPECT_EQ(after([&] { return cuStreamWriteValue64(stream, zeros, b, 0); }), known) << "elsewhere";
    CUstreamBatchMemOpParams values[2] = {};
    values[0].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32, values[0].waitValue.address = table;
    values[0].waitValue.flags = CU_STREAM_WAIT_VALUE_NOR; /* true of any address */
    values[1].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
    for (CUdeviceptr to : {zeros, table}) {
        values[1].writeValue.address = to;
        EXPECT_EQ(after([&] { return cuStreamBatchMemOp(stream, 2, values, 0), CUDA_SUCCESS; }),
                  to == zeros ? known : hides);
    }
}

TEST_F(Tables, FilledByBatches)
{
    CUmemcpyAttributes attributes = {};
    size_t index = 0, size = 8;
    CUdeviceptr to = table + 8, source = reinterpret_cast<CUdeviceptr>(&b);
    EXPECT_EQ(
        after([&] { return cuMemcpyBatchAsync(&to, &source, &size, 1, &attributes, &index, 1, stream), CUDA_SUCCESS; }),
        hides)
        << "it may say that the source is read when the copy runs";
    EXPECT_EQ(after([&] { return cuMemcpyWithAttributesAsync(to, source, size, &attributes, stream), CUDA_SUCCESS; }),
              hides);
}

TEST_F(Tables, FilledByKernels)
{
    EXPECT_EQ(after([&] { return launch(loads, table), CUDA_SUCCESS; }), known);
    EXPECT_EQ(after([&] { return launch(stores, b), CUDA_SUCCESS; }), known) << "elsewhere";
    EXPECT_EQ(after([&] { return launch(stores, table), CUDA_SUCCESS; }), hides);
    fill();
    CU(cuMemsetD8(from, 0, 4096));
    CU(cuMemcpyHtoD(from, &table, 8));
    EXPECT_EQ(launch(through, from), "r from w table") << "through memory";
    EXPECT_EQ(launch(reads, table), hides);
    fill();
    CU(cuMemcpyHtoD(zeros, words, 8));
    launch(stores, table);
    launch(stores, table);
    EXPECT_TRUE(short_way);
    EXPECT_EQ(launch(reads, table), hides) << "by the short way";
}

void CUDA_CB no_work(void *)
{
}

/* What may touch everything may have put pointers anywhere; what gates brings no bytes. */
TEST_F(Tables, AfterWorkThatNobodySeesThrough)
{
    EXPECT_EQ(after([&] { return cuLaunchHostFunc(stream, no_work, nullptr); }), known);
    EXPECT_EQ(after([&] { return launch(stores, CUdeviceptr{1} << 40), CUDA_SUCCESS; }), hides);
    EXPECT_EQ(after([&] { /* memory that nobody has seen being made */
                          const auto unseen = reinterpret_cast<decltype(&cuMemAlloc)>(
                              dlsym(dlopen("libcuda.so.1", RTLD_LAZY), "cuMemAlloc_v2"));
                          CUdeviceptr unknown;
                          EXPECT_EQ(unseen(&unknown, 4096), CUDA_SUCCESS);
                          EXPECT_EQ(cuMemcpyHtoD(unknown, &b, 8), CUDA_SUCCESS);
                          return cuMemFree(unknown);
              }),
              hides);
    EXPECT_EQ(after([&] {
                  cuGraphLaunch(reinterpret_cast<CUgraphExec>(8), nullptr);
                  return CUDA_SUCCESS;
              }),
              hides);
    EXPECT_EQ(after([&] {
                  cuLaunchGridAsync(loads, 1, 1, nullptr);
                  return CUDA_SUCCESS;
              }),
              hides)
        << "its parameters are given by calls of their own";
    CU(cuMemcpyHtoD(table, words, 8));
    EXPECT_EQ(launch(reads, table), hides) << "a part of it";
}

/* While another stream captures nobody knows whether the copy runs. */
TEST_F(Tables, FilledDuringACapture)
{
    CUgraph graph;
    fill();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_EQ(cuMemcpyHtoDAsync(table + 8, &b, 8, CU_STREAM_PER_THREAD), CUDA_SUCCESS);
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphDestroy(graph));
    EXPECT_EQ(launch(reads, table), hides);
}

/* What is only captured has not run, and perhaps never will: the pointers that lie there stay. */
TEST_F(Tables, WhatIsCapturedChangesNoPointers)
{
    CUgraph graph;
    for (CUstream on : {stream, CU_STREAM_PER_THREAD}) {
        for (const char *what : {"memset", "copy", "rows"}) {
            CUDA_MEMCPY2D some = rows(false);
            fill();
            CU(cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_RELAXED));
            CU(*what == 'm'   ? cuMemsetD8Async(table, 0, 4096, on)
               : *what == 'c' ? cuMemcpyDtoDAsync(table, zeros, 4096, on)
                              : cuMemcpy2DAsync(&some, on));
            CU(cuStreamEndCapture(on, &graph));
            CU(cuGraphDestroy(graph));
            EXPECT_EQ(launch(reads, table), known) << what;
        }
    }
    fill();
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuMemsetD8Async(table, 0, 4096, CU_STREAM_PER_THREAD)); /* which runs, beside the capture */
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphDestroy(graph));
    EXPECT_EQ(launch(reads, table), "r table");
}

/* Nor does what is instantiated: at each launch it is another matter. */
TEST_F(Tables, GraphsChangeThemWhenTheyAreLaunched)
{
    static char nothing_there[4096];
    CUcontext context;
    CUDA_HOST_NODE_PARAMS host = {no_work, nullptr};
    CU(cuCtxGetCurrent(&context));
    for (const bool from_host : {false, true})
        for (const bool waits : {false, true}) {
            CUDA_MEMCPY3D copy = {};
            CUgraph graph;
            CUgraphExec exec;
            CUgraphNode node;
            copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
            copy.srcDevice = zeros, copy.dstDevice = table, copy.WidthInBytes = 4096, copy.Height = copy.Depth = 1;
            if (from_host)
                copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = nothing_there;
            CU(cuGraphCreate(&graph, 0));
            if (waits) {
                CU(cuGraphAddHostNode(&node, graph, nullptr, 0, &host));
            }
            CU(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context));
            fill();
            CU(cuGraphInstantiate(&exec, graph, 0));
            EXPECT_EQ(launch(reads, table), known);
            for (int i = 0; i < 2; i++) {
                fill();
                CU(cuGraphLaunch(exec, stream));
                EXPECT_EQ(launch(reads, table), hides) << from_host << waits;
            }
            CU(cuCtxSynchronize());
            CU(cuGraphExecDestroy(exec));
            CU(cuGraphDestroy(graph));
        }
}

} // namespace
