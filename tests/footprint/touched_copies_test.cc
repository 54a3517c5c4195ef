/* SPDX-License-Identifier: Apache-2.0
 *
 * What copies, memsets and what else has its ranges in its arguments touch.
 */
#include "tests/conformance/tables.ptx.h"
#include "tests/footprint/touched.h"

namespace
{

TEST_F(Touched, CopiesTheirBytes)
{
    CUdeviceptr a = device("a"), b = device("b");
    char host[256] = {};
    TOUCHES(cuMemcpyHtoD(a + 16, host, 64), "w a[16,80)");
    TOUCHES(cuMemcpyDtoH(host, a + 8, 100), "r a[8,108)");
    TOUCHES(cuMemcpyDtoDAsync(b, a + 32, 32, nullptr), "w b[0,32) r a[32,64)");
    TOUCHES(cuMemcpyDtoD(a, a + 32, 32), "w a[0,32) r a[32,64)");
    TOUCHES(cuMemcpy(a, b + 1, 7), "w a[0,7) r b[1,8)");
    TOUCHES(cuMemcpyAsync(a, reinterpret_cast<CUdeviceptr>(host), 9, nullptr), "w a[0,9)");
    EXPECT_EQ(last.host, 0);
    TOUCHES(cuMemcpyHtoD(a, host, 0), "");
}

TEST_F(Touched, HostMemoryThatTheDriverKnows)
{
    CUdeviceptr a = device("a"), managed;
    void *pinned;
    CU(cuMemAllocHost(&pinned, 4096));
    name("pinned", reinterpret_cast<CUdeviceptr>(pinned));
    TOUCHES(cuMemcpyHtoDAsync(a, static_cast<char *>(pinned) + 8, 16, nullptr), "w a[0,16) r pinned[8,24)");
    EXPECT_EQ(last.host, 1);
    CU(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    name("managed", managed);
    TOUCHES(cuMemcpyDtoDAsync(a, managed, 16, nullptr), "w a[0,16) r managed[0,16)");
    EXPECT_EQ(last.host, 1);
    static char own[8192];
    CU(cuMemHostRegister(own, sizeof own, 0));
    name("registered", reinterpret_cast<CUdeviceptr>(own));
    TOUCHES(cuMemcpyDtoHAsync(own + 100, a, 16, nullptr), "w registered[100,116) r a[0,16)");
    CU(cuMemHostUnregister(own));
    TOUCHES(cuMemcpyDtoH(own + 100, a, 16), "r a[0,16)");
    CU(cuMemFreeHost(pinned));
    CU(cuMemFree(managed));
}

/* By its device address it is the host's all the same; and what the program has asked for. */
TEST_F(Touched, WhatSynchronousFormsWaitFor)
{
    CUdeviceptr a = device("a"), b = device("b");
    void *pinned;
    unsigned on = 1, off = 0;
    CU(cuMemAllocHost(&pinned, 4096));
    const CUdeviceptr p = reinterpret_cast<CUdeviceptr>(pinned);
    const auto waits = [](CUresult result) { return result == CUDA_SUCCESS && watch_blocks; };
    EXPECT_FALSE(waits(cuMemcpyDtoD(a, b, 16)));
    EXPECT_TRUE(waits(cuMemcpyDtoD(p, b, 16)));
    EXPECT_TRUE(waits(cuMemcpyDtoD(a, p, 16)));
    EXPECT_FALSE(waits(cuMemsetD8(p, 0, 0)));
    CU(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a));
    EXPECT_TRUE(waits(cuMemsetD8(a, 0, 16)));
    EXPECT_TRUE(waits(cuMemcpyDtoD(a, b, 16)));
    EXPECT_TRUE(waits(cuMemcpyDtoD(b, a, 16)));
    CU(cuMemcpyDtoDAsync(a, b, 16, nullptr));
    EXPECT_EQ(watch_settles, 0);
    CU(cuPointerSetAttribute(&off, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a));
    EXPECT_FALSE(waits(cuMemsetD8(a, 0, 16)));
    CU(cuCtxSetFlags(CU_CTX_SYNC_MEMOPS));
    EXPECT_TRUE(waits(cuMemsetD8(b, 0, 16)));
    CU(cuCtxSetFlags(0));
    EXPECT_FALSE(waits(cuMemsetD8(b, 0, 16)));
    CU(cuMemFreeHost(pinned));
}

TEST_F(Touched, RowsFromTheFirstByteToTheLast)
{
    CUdeviceptr a = device("a", 1 << 16), b = device("b", 1 << 16);
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = a, copy.srcPitch = 512, copy.srcXInBytes = 16, copy.srcY = 2;
    copy.dstDevice = b, copy.dstPitch = 256;
    copy.WidthInBytes = 100, copy.Height = 3;
    TOUCHES(cuMemcpy2DAsync(&copy, nullptr), "w b[0,612) r a[1040,2164)");
    CUDA_MEMCPY3D solid = {};
    solid.srcMemoryType = solid.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    solid.srcDevice = a, solid.srcPitch = 64, solid.srcHeight = 8, solid.srcZ = 1;
    solid.dstDevice = b, solid.dstPitch = 32, solid.dstHeight = 4;
    solid.WidthInBytes = 32, solid.Height = 4, solid.Depth = 2;
    TOUCHES(cuMemcpy3DAsync(&solid, nullptr), "w b[0,256) r a[512,1248)");
    solid.srcPitch = solid.srcHeight = 0; /* tight */
    TOUCHES(cuMemcpy3DAsync(&solid, nullptr), "w b[0,256) r a[128,384)");
}

TEST_F(Touched, MemsetsWriteTheirRange)
{
    CUdeviceptr a = device("a");
    TOUCHES(cuMemsetD8(a + 1, 0, 7), "w a[1,8)");
    TOUCHES(cuMemsetD16Async(a, 0, 8, nullptr), "w a[0,16)");
    TOUCHES(cuMemsetD32Async(a + 64, 0, 4, nullptr), "w a[64,80)");
    TOUCHES(cuMemsetD2D32Async(a, 512, 0, 4, 3, nullptr), "w a[0,1040)");
}

TEST_F(Touched, ArraysAreTouchedAsWholes)
{
    CUDA_ARRAY_DESCRIPTOR about = {};
    about.Width = 64, about.Format = CU_AD_FORMAT_UNSIGNED_INT32, about.NumChannels = 1;
    CUarray array;
    CUdeviceptr a = device("a");
    CU(cuArrayCreate(&array, &about));
    last = {};
    CU(cuMemcpyDtoA(array, 16, a, 64));
    ASSERT_EQ(last.count, 2u);
    names[last.at[0].memory] = "array";
    EXPECT_EQ(text(), "w array r a[0,64)");
    TOUCHES(cuMemcpyAtoD(a, array, 0, 8), "w a[0,8) r array");
    CU(cuArrayDestroy(array));
}

/* Lists, on a stream that takes them; the simulated driver has most of them not. */
TEST_F(Touched, BatchesTouchWhatEachCopyTouches)
{
    CUdeviceptr a = device("a"), b = device("b"), c = device("c"), managed;
    CUstream stream;
    char own[64];
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CU(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    name("managed", managed);
    auto touches = [&](CUresult, const char *expected) {
        EXPECT_EQ(text(), expected);
        last = {};
    };
    last = {};
    CUdeviceptr at[2] = {managed + 8, a}, from[2] = {b, c};
    size_t sizes[2] = {16, 32};
    CUmemLocation location = {};
    size_t index = 0;
    touches(cuMemPrefetchBatchAsync(at, sizes, 2, &location, &index, 1, 0, stream), "r managed[8,24) r a[0,32)");
    touches(cuMemPrefetchBatchAsync(at, sizes, 1, &location, &index, 1, 0, stream), "r managed[8,24)");
    touches(cuMemDiscardBatchAsync(at, sizes, 1, 0, stream), "w managed[8,24)");
    touches(cuMemDiscardAndPrefetchBatchAsync(at, sizes, 2, &location, &index, 1, 0, stream), "w managed[8,24) w a[0,32)");
    touches(cuMemPrefetchBatchAsync(at, nullptr, 1, &location, &index, 1, 0, stream), "!OTHER");
    CUmemcpyAttributes attributes = {};
    touches(cuMemcpyBatchAsync(at, from, sizes, 2, &attributes, &index, 1, stream),
            "w managed[8,24) r b[0,16) w a[0,32) r c[0,32)");
    from[0] = reinterpret_cast<CUdeviceptr>(own);
    touches(cuMemcpyBatchAsync(at, from, sizes, 1, &attributes, &index, 1, stream), "w managed[8,24)");
    touches(cuMemcpyWithAttributesAsync(at[1], from[1], 32, &attributes, stream), "w a[0,32) r c[0,32)");
    CUDA_MEMCPY3D_BATCH_OP ops[2] = {};
    ops[0].dst.type = ops[0].src.type = ops[1].dst.type = ops[1].src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    ops[0].dst.op.ptr.ptr = a, ops[0].dst.op.ptr.rowLength = 64, ops[0].dst.op.ptr.layerHeight = 4;
    ops[0].src.op.ptr.ptr = b + 8;
    ops[0].extent = {16, 2, 2};
    ops[1].dst.op.ptr.ptr = c, ops[1].src.op.ptr.ptr = reinterpret_cast<CUdeviceptr>(own), ops[1].extent = {8, 1, 1};
    touches(cuMemcpy3DBatchAsync(2, ops, 0, stream), "w a[0,336) r b[8,72) w c[0,8)");
    touches(cuMemcpy3DWithAttributesAsync(ops, 0, stream), "w a[0,336) r b[8,72)");
    CUDA_ARRAY_DESCRIPTOR about = {};
    about.Width = 64, about.Format = CU_AD_FORMAT_UNSIGNED_INT32, about.NumChannels = 1;
    CUarray array;
    CU(cuArrayCreate(&array, &about));
    ops[0].dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY, ops[0].dst.op.array.array = array;
    ops[0].src.op.ptr.ptr = b + 4000, ops[0].extent = {4, 2, 1};
    last = {};
    CUresult unsupported = cuMemcpy3DBatchAsync(1, ops, 0, stream);
    ASSERT_EQ(last.count, 2u);
    names[last.at[0].memory] = "array";
    touches(unsupported, "w array r b[4000,4096)");
    ops[0].src.op.ptr.ptr = b;
    touches(cuMemcpy3DBatchAsync(1, ops, 0, stream), "w array r b[0,128)");
    CU(cuArrayDestroy(array));
    touches(cuMemcpy3DBatchAsync(1, ops, 0, stream), "!OTHER");
    CUmemDecompressParams unpack = {};
    unpack.src = reinterpret_cast<void *>(a), unpack.srcNumBytes = 100;
    unpack.dst = reinterpret_cast<void *>(b + 16), unpack.dstActBytes = reinterpret_cast<cuuint32_t *>(c);
    touches(cuMemBatchDecompressAsync(&unpack, 1, 0, nullptr, stream), "w b[16,4096) r a[0,100) w c[0,4)");
    CU(cuMemFree(managed));
    CU(cuStreamDestroy(stream));
}

/* Lists that touch more than is kept of a call, or what nobody knows: into all of it pointers may come. */
TEST_F(Touched, LongBatchesMayHideAPointerInAnyOfTheirCopies)
{
    CUfunction gather = kernel(ptds_tables_ptx, PTDS_GATHER);
    CUdeviceptr a = device("a"), c = device("c"), unseen = device("unseen"), table = device("table"),
                packed = device("packed");
    CUdeviceptr word = a;
    CUstream stream;
    CUmemcpyAttributes attributes = {};
    size_t index = 0;
    std::vector<CUdeviceptr> to, from;
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    for (CUdeviceptr one : {table, unseen, packed}) /* from the first one on launches look for pointers */
        launch(gather, c, one, 0u, 0u);
    for (int i = 0; i < 70; i++)
        to.push_back(device("t" + std::to_string(i)));
    to.push_back(table);
    from.assign(to.size(), reinterpret_cast<CUdeviceptr>(&word));
    std::vector<size_t> sizes(to.size(), 8);
    EXPECT_EQ(launch(gather, c, table, 0u, 0u), "w c r table");
    last = {};
    cuMemcpyBatchAsync(to.data(), from.data(), sizes.data(), to.size(), &attributes, &index, 1, stream);
    EXPECT_EQ(text(), "!MANY");
    EXPECT_EQ(launch(gather, c, table, 0u, 0u), "!POINTERS");
    CUDA_MEMCPY3D_BATCH_OP ops[2] = {};
    ops[0].dst.type = ops[0].src.type = CU_MEMCPY_OPERAND_TYPE_ARRAY; /* one that is not known */
    ops[1].dst.type = ops[1].src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    ops[1].dst.op.ptr.ptr = unseen, ops[1].src.op.ptr.ptr = from[0], ops[0].extent = ops[1].extent = {8, 1, 1};
    CU(cuMemsetD8(unseen, 0, 4096));
    EXPECT_EQ(launch(gather, c, unseen, 0u, 0u), "w c r unseen");
    last = {};
    cuMemcpy3DBatchAsync(2, ops, 0, stream);
    EXPECT_EQ(text(), "!OTHER");
    EXPECT_EQ(launch(gather, c, unseen, 0u, 0u), "!POINTERS");
    CUmemDecompressParams unpack[2] = {};
    unpack[0].dst = &word, unpack[0].src = &word;
    unpack[1].src = unpack[0].src, unpack[1].dst = reinterpret_cast<void *>(packed);
    CU(cuMemsetD8(packed, 0, 4096));
    EXPECT_EQ(launch(gather, c, packed, 0u, 0u), "w c r packed");
    last = {};
    cuMemBatchDecompressAsync(unpack, 2, 0, nullptr, stream);
    EXPECT_EQ(text(), "!OTHER");
    EXPECT_EQ(launch(gather, c, packed, 0u, 0u), "!POINTERS");
    CU(cuCtxSynchronize());
    CU(cuStreamDestroy(stream));
}

/* To a stream, or to the host: of managed memory all, which a length of 0 means, too. */
TEST_F(Touched, AttachedMemory)
{
    CUdeviceptr managed;
    CU(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    name("managed", managed);
    TOUCHES(cuStreamAttachMemAsync(nullptr, managed, 4096, CU_MEM_ATTACH_GLOBAL), "w managed[0,4096)");
    TOUCHES(cuStreamAttachMemAsync(nullptr, managed, 0, CU_MEM_ATTACH_HOST), "w managed");
    EXPECT_EQ(last.host, 1);
    CU(cuMemFree(managed));
    last = {};
    cuStreamAttachMemAsync(nullptr, managed, 0, CU_MEM_ATTACH_HOST); /* gone: whatever lies there */
    EXPECT_EQ(text(), "!OTHER");
}

} // namespace
