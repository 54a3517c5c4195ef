/* SPDX-License-Identifier: Apache-2.0
 *
 * What copies, memsets and lists of them touch, and what the record says of them, by calls that the test makes up: the
 * words, the kinds of both sides, whether the host waits.
 */
#include <gtest/gtest.h>

#include <climits>

#include <functional>
#include <map>
#include <string>
#include <vector>

extern "C" {
#include "interpose/driver/driver.h"
#include "interpose/footprint/memories/addresses.h"
#include "interpose/footprint/memories/array_handles.h"
#include "interpose/footprint/memories/lookup.h"
#include "interpose/footprint/memories/memory_object.h"
#include "interpose/footprint/operations/after_copy.h"
#include "interpose/footprint/operations/batches.h"
#include "interpose/footprint/operations/blocks_host.h"
#include "interpose/footprint/operations/copies.h"
#include "interpose/footprint/pointers/pointer_tables.h"
#include "interpose/state/capture.h"
}

namespace
{

CUresult g_answer;
unsigned g_type;

CUresult pointer_attribute(void *value, CUpointer_attribute attribute, CUdeviceptr)
{
    EXPECT_EQ(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, attribute);
    *static_cast<unsigned *>(value) = g_type;
    return g_answer;
}

/* A letter for each memory, 0x1000 bytes at 0x10000, 0x20000 and so on; `d` and `e` lie side by side. */
constexpr uint64_t a = 0x10000, p = 0x20000, m = 0x30000, d = 0x40000, e = 0x41000, nowhere = 0x90000, array = 0x777;

class Copies : public testing::Test
{
protected:
    void SetUp() override
    {
        g_answer = CUDA_ERROR_INVALID_VALUE;
        driver.cuPointerGetAttribute = pointer_attribute;
        add("a", PTDS_MEMORY_DEVICE, a);
        add("p", PTDS_MEMORY_PINNED, p);
        add("m", PTDS_MEMORY_MANAGED, m);
        add("d", PTDS_MEMORY_MAPPED, d);
        add("e", PTDS_MEMORY_MAPPED, e);
        of_array = memory_object_new(PTDS_MEMORY_ARRAY, array, 1);
        names[of_array] = "array";
        array_handles_set(array, of_array);
        call.footprint = 1;
    }
    void TearDown() override
    {
        for (uint64_t base : {a, p, m, d, e})
            memory_object_drop(addresses_unmap(base));
        memory_object_drop(of_array);
        array_handles_after_fork();
    }
    void add(const std::string &name, enum ptds_memory_kind kind, uint64_t base)
    {
        struct memory *made = memory_object_new(kind, base, 0x1000);
        addresses_map(made, base, 0x1000, base);
        memory_object_drop(made);
        names[made] = name;
    }
    /* "w a[0,16) r p": what it touches; "!" everything; then the record's words, and the kinds of the sides. */
    std::string said(const std::function<void()> &does)
    {
        call.touched = {};
        call.words = call.op = call.kinds = 0;
        call.flags = 0;
        does();
        std::string line;
        for (unsigned i = 0; i < call.touched.count; i++) {
            const struct access &at = call.touched.at[i];
            line += (at.writes ? "w " : "r ") + names[at.memory];
            if (at.end != UINT64_MAX)
                line +=
                    "[" + std::to_string(at.begin - at.memory->base) + "," + std::to_string(at.end - at.memory->base) + ")";
            line += " ";
        }
        line += call.touched.opaque ? "! " : "";
        line += call.flags & PTDS_CALL_OPAQUE ? "unnamed " : "";
        line += ":";
        char hex[32];
        for (unsigned i = 0; i < call.words; i++) {
            snprintf(hex, sizeof hex, " %llx", static_cast<unsigned long long>(call.word[i]));
            line += hex;
        }
        snprintf(hex, sizeof hex, " %u<%u", call.kinds & 15u, call.kinds >> 4u);
        return line + hex + (blocks_host(&call) ? " waits" : "");
    }
    std::string copy(enum copies_sides sides, uint64_t to, uint64_t from, uint64_t bytes)
    {
        return said([&] { copies_1d(&call, sides, to, from, bytes); });
    }
    std::map<const struct memory *, std::string> names;
    struct memory *of_array = nullptr;
    struct call call = {};
};

/* Copies wait for the host's memory on either side, memsets for their own; managed memory may be the host's. */
TEST_F(Copies, ThatTheHostWaitsFor)
{
    const bool waits[PTDS_MEMORY_EXTERNAL + 1] = {true, true, true, true, false, false, true};
    for (unsigned to = 0; to <= PTDS_MEMORY_EXTERNAL; to++) {
        for (unsigned from = 0; from <= PTDS_MEMORY_EXTERNAL; from++) {
            call.kinds = uint8_t(to | from << 4);
            call.op = PTDS_OP_COPY;
            EXPECT_EQ(waits[to] || waits[from], blocks_host(&call) != 0) << to << "<" << from;
            call.op = PTDS_OP_MEMSET;
            EXPECT_EQ(waits[to], blocks_host(&call) != 0) << to;
            call.op = PTDS_OP_LAUNCH;
            EXPECT_TRUE(blocks_host(&call));
        }
    }
}

/* By what the function's name says of its sides. */
TEST_F(Copies, BothSides)
{
    EXPECT_EQ("w a[16,80) : 10010 90000 40 1 40 40 4<1 waits", copy(COPIES_HTOD, a + 16, nowhere, 64));
    EXPECT_EQ("w a[16,80) r p[0,64) : 10010 20000 40 1 40 40 4<2 waits", copy(COPIES_HTOD, a + 16, p, 64));
    EXPECT_EQ("r a[16,80) : 90000 10010 40 1 40 40 1<4 waits", copy(COPIES_DTOH, nowhere, a + 16, 64));
    EXPECT_EQ("w m[0,8) r a[8,16) : 30000 10008 8 1 8 8 6<4 waits", copy(COPIES_DTOH, m, a + 8, 8));
    EXPECT_EQ("w a[0,8) r m[0,8) : 10000 30000 8 1 8 8 4<4 waits", copy(COPIES_DTOD, a, m, 8)) << "the host's all the same";
    EXPECT_EQ("w p[0,8) r a[0,8) : 20000 10000 8 1 8 8 4<4 waits", copy(COPIES_DTOD, p, a, 8));
    EXPECT_EQ("w a[0,8) r p[0,8) : 10000 20000 8 1 8 8 4<4 waits", copy(COPIES_DTOD, a, p, 8));
    EXPECT_EQ("w d[0,8) r a[0,8) : 40000 10000 8 1 8 8 8<4 waits", copy(COPIES_DTOH, d, a, 8)) << "its name says it";
    EXPECT_EQ("w a[0,8) r d[0,8) : 10000 40000 8 1 8 8 4<8 waits", copy(COPIES_HTOD, a, d, 8));
    EXPECT_EQ("w a[0,8) r a[8,16) : 10000 10008 8 1 8 8 4<4", copy(COPIES_DTOD, a, a + 8, 8));
    EXPECT_EQ("w a[0,8) r d[0,8) : 10000 40000 8 1 8 8 4<8", copy(COPIES_ANY, a, d, 8));
    EXPECT_EQ("w array r a[8,16) : 777 10008 8 1 8 8 7<4", copy(COPIES_DTOA, array, a + 8, 8));
    EXPECT_EQ("w a[8,16) r array : 10008 777 8 1 8 8 4<7", copy(COPIES_ATOD, a + 8, array, 8));
    EXPECT_EQ("w array : 777 90000 8 1 8 8 7<1 waits", copy(COPIES_HTOA, array, nowhere, 8));
    EXPECT_EQ("r array : 90000 777 8 1 8 8 1<7 waits", copy(COPIES_ATOH, nowhere, array, 8));
    EXPECT_EQ("w array : 777 777 8 1 8 8 7<7", copy(COPIES_ATOA, array, array, 8));
    EXPECT_EQ(": 10000 20000 0 1 0 0 4<2", copy(COPIES_HTOD, a, p, 0)) << "nothing";
    EXPECT_EQ("r a[0,8) ! : 90000 10000 8 1 8 8 4<4", copy(COPIES_DTOD, nowhere, a, 8))
        << "device memory that nobody has seen";
    call.footprint = 0;
    EXPECT_EQ(": 0<0 waits", copy(COPIES_DTOD, a, d, 8));
}

/* Within host memory, by whatever name. */
TEST_F(Copies, ThatTheDriverMakesSynchronous)
{
    const auto settles = [&](enum copies_sides sides, uint64_t to, uint64_t from, uint64_t bytes = 8) {
        copy(sides, to, from, bytes);
        return blocks_host_always(&call) != 0;
    };
    EXPECT_TRUE(settles(COPIES_ANY, p, p + 8));
    EXPECT_TRUE(settles(COPIES_DTOD, p, p + 8));
    EXPECT_TRUE(settles(COPIES_HTOD, p, nowhere));
    EXPECT_TRUE(settles(COPIES_DTOH, nowhere, a));
    EXPECT_FALSE(settles(COPIES_DTOH, nowhere, a, 0));
    EXPECT_FALSE(settles(COPIES_DTOD, p, a));
    EXPECT_FALSE(settles(COPIES_DTOD, a, p));
    EXPECT_FALSE(settles(COPIES_HTOD, a, nowhere, 1 << 20));
    EXPECT_TRUE(settles(COPIES_HTOA, array, nowhere, (1 << 20) + 1));
    said([&] { copies_memset(&call, p, 0, 1, 0, 8, 1); });
    EXPECT_FALSE(blocks_host_always(&call));
}

unsigned g_flags;
CUresult context_flags(unsigned *flags)
{
    *flags = g_flags;
    return g_flags == UINT_MAX ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

/* Where some context may have been told to wait, the driver knows which. */
TEST_F(Copies, InContextsThatWait)
{
    const auto waits = [&] {
        return said([&] { copies_memset(&call, a, 0, 1, 0, 8, 1); }).find("waits") != std::string::npos;
    };
    driver.cuCtxGetFlags = context_flags;
    g_flags = CU_CTX_SYNC_MEMOPS | CU_CTX_MAP_HOST;
    blocks_host_context_flags(CU_CTX_MAP_HOST);
    EXPECT_FALSE(waits()) << "nobody has";
    blocks_host_context_flags(CU_CTX_SYNC_MEMOPS);
    EXPECT_TRUE(waits());
    g_flags = CU_CTX_MAP_HOST;
    EXPECT_FALSE(waits());
    g_flags = UINT_MAX;
    EXPECT_TRUE(waits()) << "it does not say";
    driver.cuCtxGetFlags = nullptr;
    EXPECT_TRUE(waits());
    driver.cuCtxGetFlags = context_flags;
    g_flags = 0;
}

/* The driver is asked what it is, unless a capture is open. */
TEST_F(Copies, WhatBelongsToNoMemory)
{
    EXPECT_EQ("w a[0,8) : 10000 90000 8 1 8 8 4<1 waits", copy(COPIES_ANY, a, nowhere, 8)) << "plain host memory";
    g_answer = CUDA_SUCCESS, g_type = CU_MEMORYTYPE_DEVICE;
    EXPECT_EQ("w a[0,8) ! : 10000 90000 8 1 8 8 4<4", copy(COPIES_ANY, a, nowhere, 8));
    g_type = CU_MEMORYTYPE_HOST;
    EXPECT_EQ("w a[0,8) ! : 10000 90000 8 1 8 8 4<2 waits", copy(COPIES_ANY, a, nowhere, 8));
    EXPECT_EQ("w a[0,8) : 10000 90000 8 1 8 8 4<1 waits", copy(COPIES_HTOD, a, nowhere, 8)) << "its name says it";
    captures_open = 1;
    EXPECT_EQ("w a[0,8) ! : 10000 90000 8 1 8 8 4<0 waits", copy(COPIES_ANY, a, nowhere, 8));
    captures_open = 0;
    driver.cuPointerGetAttribute = nullptr;
    EXPECT_EQ("w a[0,8) ! : 10000 90000 8 1 8 8 4<0 waits", copy(COPIES_ANY, a, nowhere, 8));
}

TEST_F(Copies, ThroughSeveralMemories)
{
    EXPECT_EQ("w d[0,4096) r a[0,4096) : 40000 10000 1000 1 1000 1000 4<4", copy(COPIES_DTOD, d, a, 0x1000));
    EXPECT_EQ("w d[4088,4096) w e[0,8) r a[0,16) : 40ff8 10000 10 1 10 10 4<4", copy(COPIES_DTOD, d + 0xff8, a, 16));
    EXPECT_EQ("r e[4088,4096) ! : 90000 41ff8 10 1 10 10 1<4 waits", copy(COPIES_DTOH, nowhere, e + 0xff8, 16))
        << "behind it there is nothing";
}

/* Rows of a plane and planes of a solid, from the first byte to the last. */
TEST_F(Copies, Rows)
{
    CUDA_MEMCPY2D flat = {};
    flat.dstMemoryType = flat.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    flat.dstDevice = a, flat.dstXInBytes = 4, flat.dstY = 2, flat.dstPitch = 0x100;
    flat.srcDevice = d, flat.srcXInBytes = 8, flat.srcY = 1, flat.srcPitch = 0x40;
    flat.WidthInBytes = 16, flat.Height = 3;
    const auto two = [&] { return said([&] { copies_2d(&call, &flat); }); };
    EXPECT_EQ("w a[516,1044) r d[72,216) : 10204 40048 10 3 100 40 4<4", two());
    flat.dstPitch = 0;
    EXPECT_EQ("w a[44,100) r d[72,216) : 1002c 40048 10 3 14 40 4<4", two()) << "tight";
    flat.srcMemoryType = CU_MEMORYTYPE_HOST, flat.srcHost = reinterpret_cast<void *>(p);
    EXPECT_EQ("w a[44,100) r p[72,216) : 1002c 20048 10 3 14 40 4<2 waits", two());
    flat.srcMemoryType = CU_MEMORYTYPE_ARRAY, flat.srcArray = CUarray(array);
    EXPECT_EQ("w a[44,100) r array : 1002c 777 10 3 14 40 4<7", two());
    flat.srcMemoryType = CU_MEMORYTYPE_UNIFIED, flat.srcDevice = m;
    EXPECT_EQ("w a[44,100) r m[72,216) : 1002c 30048 10 3 14 40 4<6 waits", two());
    flat.Height = 0;
    EXPECT_EQ(": 1002c 30048 10 0 14 40 4<6", two());
    flat.Height = 3, flat.WidthInBytes = 0;
    EXPECT_EQ("", two().substr(0, two().find(':')));
    EXPECT_EQ(": 0<0 waits", said([&] { copies_2d(&call, nullptr); }));
    CUDA_MEMCPY3D solid = {};
    solid.dstMemoryType = solid.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    solid.dstDevice = a, solid.dstPitch = 16, solid.dstHeight = 4, solid.dstZ = 1;
    solid.srcDevice = d, solid.srcPitch = 32, solid.srcHeight = 2, solid.srcZ = 2;
    solid.WidthInBytes = 16, solid.Height = 2, solid.Depth = 3;
    const auto three = [&] { return said([&] { copies_3d(&call, &solid); }); };
    EXPECT_EQ("w a[64,224) r d[128,304) : 10040 40080 10 6 10 20 a0 0 4<4", three()) << "its rows are apart";
    solid.srcHeight = 3;
    EXPECT_EQ("w a[64,224) r d[192,432) : 10040 400c0 10 6 10 20 a0 f0 4<4", three());
    solid.dstHeight = 0;
    EXPECT_EQ("w a[32,128) r d[192,432) : 10020 400c0 10 6 10 20 0 f0 4<4", three());
    solid.srcHeight = 2;
    EXPECT_EQ("w a[32,128) r d[128,304) : 10020 40080 10 6 10 20 4<4", three());
    solid.srcHeight = 3, solid.Depth = 1;
    EXPECT_EQ("w a[32,64) r d[192,240) : 10020 400c0 10 2 10 20 4<4", three()) << "one plane";
    solid.Depth = 0;
    EXPECT_EQ(": 10020 400c0 10 0 10 20 4<4", three());
    CUDA_MEMCPY3D_PEER peer = {};
    peer.dstMemoryType = peer.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    peer.dstDevice = a, peer.srcDevice = e;
    peer.WidthInBytes = 16, peer.Height = 2, peer.Depth = 2;
    EXPECT_EQ("w a[0,64) r e[0,64) : 10000 41000 10 4 10 10 4<4", said([&] { copies_3d_peer(&call, &peer); }));
    EXPECT_EQ(": 0<0 waits", said([&] { copies_3d_peer(&call, nullptr); }));
}

TEST_F(Copies, Memsets)
{
    const auto set = [&](uint64_t at, uint64_t pitch, unsigned element, uint64_t width, uint64_t height) {
        return said([&] { copies_memset(&call, at, pitch, element, 7, width, height); });
    };
    EXPECT_EQ("w a[16,48) : 10010 20 1 0 4<0", set(a + 16, 0, 4, 8, 1));
    EXPECT_EQ("w a[0,528) : 10000 10 3 100 4<0", set(a, 0x100, 2, 8, 3));
    EXPECT_EQ("w p[0,8) : 20000 8 1 0 2<0 waits", set(p, 0, 1, 8, 1));
    EXPECT_EQ("w m[0,8) : 30000 8 1 0 6<0 waits", set(m, 0, 1, 8, 1));
    EXPECT_EQ(": 10000 8 0 10 4<0", set(a, 16, 1, 8, 0));
    EXPECT_EQ(": 10000 0 1 10 4<0", set(a, 16, 1, 0, 1));
    call.footprint = 0;
    EXPECT_EQ(": 0<0 waits", set(a, 0, 4, 8, 1));
}

/* ---- lists ---- */

TEST_F(Copies, Lists)
{
    const CUdeviceptr to[] = {a, d + 8, nowhere}, from[] = {p + 16, e, m};
    const size_t sizes[] = {32, 8, 4};
    const auto batch = [&](size_t count) { return said([&] { batches_copy(&call, to, from, sizes, count); }); };
    EXPECT_EQ("unnamed : 0<0 waits", batch(0));
    EXPECT_EQ(unsigned{PTDS_OP_OPAQUE}, call.op);
    EXPECT_EQ("w a[0,32) r p[16,48) : 10000 20010 20 1 20 20 4<2 waits", batch(1));
    EXPECT_EQ("w a[0,32) r p[16,48) w d[8,16) r e[0,8) unnamed : 0<0 waits", batch(2));
    EXPECT_EQ("w a[0,32) r p[16,48) w d[8,16) r e[0,8) r m[0,4) unnamed : 0<0 waits", batch(3)) << "one of the host's own";
    for (int lacks : {0, 1, 2})
        EXPECT_EQ("! unnamed : 0<0 waits", said([&] {
                      batches_copy(&call, lacks == 0 ? nullptr : to, lacks == 1 ? nullptr : from,
                                   lacks == 2 ? nullptr : sizes, 2);
                  }))
            << lacks;
    call.footprint = 0;
    EXPECT_EQ(": 0<0 waits", batch(2));
}

TEST_F(Copies, ListsOfRanges)
{
    const CUdeviceptr at[] = {m + 8, a, nowhere};
    const size_t sizes[] = {16, 32, 8};
    const auto ranges = [&](size_t count, int writes) {
        return said([&] { batches_ranges(&call, at, sizes, count, writes); });
    };
    EXPECT_EQ("r m[8,24) : 30008 10 0<0 waits", ranges(1, 0));
    EXPECT_EQ("w m[8,24) unnamed : 0<0 waits", ranges(1, 1));
    EXPECT_EQ("r m[8,24) r a[0,32) unnamed : 0<0 waits", ranges(2, 0));
    EXPECT_EQ("w m[8,24) w a[0,32) ! unnamed : 0<0 waits", ranges(3, 1));
    EXPECT_EQ("! unnamed : 0<0 waits", said([&] { batches_ranges(&call, nullptr, sizes, 2, 0); }));
    EXPECT_EQ("! unnamed : 0<0 waits", said([&] { batches_ranges(&call, at, nullptr, 2, 0); }));
}

/* Elements are an array's, of 16 bytes at most, where one is on a side. */
TEST_F(Copies, ListsOfSolids)
{
    CUDA_MEMCPY3D_BATCH_OP ops[2] = {};
    for (CUDA_MEMCPY3D_BATCH_OP &op : ops) {
        op.dst.type = op.src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
        op.dst.op.ptr.ptr = a + 16, op.src.op.ptr.ptr = d;
        op.src.op.ptr.rowLength = 8, op.src.op.ptr.layerHeight = 4;
        op.extent.width = 4, op.extent.height = 3, op.extent.depth = 2;
    }
    const auto list = [&](size_t count) { return said([&] { batches_copy_3d(&call, ops, count); }); };
    EXPECT_EQ("w a[16,40) r d[0,52) unnamed : 0<0 waits", list(1));
    ops[1].dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY;
    ops[1].dst.op.array.array = CUarray(array);
    ops[1].src.op.ptr.ptr = e + 0x100;
    EXPECT_EQ("w a[16,40) r d[0,52) w array r e[256,1088) unnamed : 0<0 waits", list(2)) << "16 times as many bytes";
    ops[1].src.op.ptr.ptr = e + 0xf00;
    EXPECT_EQ("w a[16,40) r d[0,52) w array r e[3840,4096) unnamed : 0<0 waits", list(2)) << "as far as there are any";
    ops[1].src.op.ptr.ptr = e + 0x1000 - 52;
    EXPECT_EQ("w a[16,40) r d[0,52) w array r e[4044,4096) unnamed : 0<0 waits", list(2));
    ops[1].src.op.ptr.ptr++;
    EXPECT_EQ("w a[16,40) r d[0,52) w array r e[4045,4096) ! unnamed : 0<0 waits", list(2))
        << "it is longer, whatever it is";
    ops[0].extent.depth = 0;
    EXPECT_EQ("unnamed : 0<0 waits", list(1));
    EXPECT_EQ("! unnamed : 0<0 waits", said([&] { batches_copy_3d(&call, nullptr, 1); }));
}

TEST_F(Copies, Decompressions)
{
    CUmemDecompressParams params[2] = {};
    params[0].dst = reinterpret_cast<void *>(a + 0x800), params[0].src = reinterpret_cast<void *>(d + 8);
    params[0].srcNumBytes = 100;
    params[1].dst = reinterpret_cast<void *>(nowhere), params[1].src = reinterpret_cast<void *>(e);
    params[1].srcNumBytes = 8;
    const auto list = [&](size_t count) { return said([&] { batches_decompress(&call, params, count); }); };
    EXPECT_EQ("w a[2048,4096) r d[8,108) unnamed : 0<0 waits", list(1)) << "up to the memory's end";
    params[0].dstActBytes = reinterpret_cast<cuuint32_t *>(p + 4);
    EXPECT_EQ("w a[2048,4096) r d[8,108) w p[4,8) unnamed : 0<0 waits", list(1));
    EXPECT_EQ("w a[2048,4096) r d[8,108) w p[4,8) r e[0,8) ! unnamed : 0<0 waits", list(2));
}

/* Unknown memory counts as the host's: waiting is always right. */
TEST_F(Copies, WhereTheHostWaits)
{
    const auto waits = [&](uint8_t op, unsigned to, unsigned from) {
        call.op = op;
        call.kinds = uint8_t(to | from << 4);
        return blocks_host(&call) != 0;
    };
    for (unsigned kind = 0; kind < 12; kind++) {
        const bool hosts = kind <= 3 || kind == 6;
        EXPECT_EQ(hosts, waits(PTDS_OP_COPY, kind, 4)) << kind;
        EXPECT_EQ(hosts, waits(PTDS_OP_COPY, 4, kind)) << kind;
        EXPECT_EQ(hosts, waits(PTDS_OP_MEMSET, kind, 0)) << kind;
        EXPECT_TRUE(waits(PTDS_OP_LAUNCH, kind, kind)) << kind;
    }
}

/* Nothing of the host's lies at the address that the device has for it. */
TEST_F(Copies, FromHostMemoryByItsDeviceAddress)
{
    static const uint64_t words[] = {0, m};
    const auto host = reinterpret_cast<uint64_t>(words);
    constexpr uint64_t for_device = 0xa0000;
    struct memory *registered = memory_object_new(PTDS_MEMORY_REGISTERED, host, sizeof words);
    addresses_map(registered, host, sizeof words, host);
    addresses_map(registered, for_device, sizeof words, host);
    struct memory *to = lookup_range(nullptr, a).memory;
    struct pointees found = {};
    for (const uint16_t api : {API_cuMemcpyAsync, API_cuMemcpy}) {
        pointer_tables_empty(to);
        call.touched = {};
        call.api = api;
        call.result = CUDA_SUCCESS;
        copies_1d(&call, COPIES_ANY, a, for_device, sizeof words);
        after_copy(&call);
        EXPECT_EQ(api == API_cuMemcpyAsync, pointer_tables_incomplete(to, 0) != 0) << "the host may change them still";
        pointer_tables_read(to, &found);
        ASSERT_EQ(api == API_cuMemcpy ? 1u : 0u, found.count);
    }
    EXPECT_EQ(lookup_range(nullptr, m).memory, found.at[0]);
    addresses_unmap_memory(registered);
    memory_object_drop(registered);
}

/* The memory may be another array's, too, or have an address. */
TEST_F(Copies, ToArraysThatMemoryIsMappedIn)
{
    struct memory *mipmap = memory_object_new(PTDS_MEMORY_ARRAY, 0x888, 1);
    names[mipmap] = "mipmap";
    array_handles_set(0x888, mipmap);
    CUarrayMapInfo list[3] = {};
    list[0].resourceType = CU_RESOURCE_TYPE_ARRAY, list[0].resource.array = CUarray(array);
    list[1].resourceType = CU_RESOURCE_TYPE_ARRAY, list[1].resource.array = CUarray(0x999);
    list[2].resourceType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, list[2].resource.mipmap = CUmipmappedArray(0x888);
    EXPECT_EQ("! unnamed : 0<0 waits", said([&] { batches_map_arrays(&call, list, 2); }));
    EXPECT_EQ("w array ! : 777 90000 8 1 8 8 7<1 waits", copy(COPIES_HTOA, array, nowhere, 8));
    EXPECT_EQ(0, mipmap->host);
    EXPECT_EQ("! unnamed : 0<0 waits", said([&] { batches_map_arrays(&call, list, 3); }));
    EXPECT_EQ(MEMORY_SHARED, mipmap->host);
    EXPECT_EQ("! unnamed : 0<0 waits", said([&] { batches_map_arrays(&call, nullptr, 3); }));
    memory_object_drop(mipmap);
}

} // namespace
