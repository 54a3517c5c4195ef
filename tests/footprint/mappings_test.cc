/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that has a life apart from its addresses, as its calls come: mapped twice, released, opened, handed out, bound.
 */
#include <gtest/gtest.h>

extern "C" {
#include "interpose/driver/driver.h"
#include "interpose/footprint/allocations/lent.h"
#include "interpose/footprint/allocations/mappings.h"
#include "interpose/footprint/allocations/physical.h"
#include "interpose/footprint/allocations/shared_memory.h"
#include "interpose/footprint/memories/addresses.h"
#include "interpose/footprint/memories/array_handles.h"
#include "interpose/footprint/memories/lookup.h"
#include "interpose/footprint/memories/memory_object.h"
#include "interpose/footprint/memories/touch_memory.h"
#include "interpose/state/call_words.h"
#include "interpose/state/capture.h"
}

namespace
{

constexpr uint64_t kBase = uint64_t{5} << 40, kOther = uint64_t{6} << 40;

uint64_t g_begin, g_size; /* of what the driver says an address lies in; 0: it refuses */

CUresult address_range(CUdeviceptr *begin, size_t *size, CUdeviceptr)
{
    *begin = g_begin;
    *size = g_size;
    return g_begin != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

class Mappings : public testing::Test
{
protected:
    void SetUp() override
    {
        driver.cuMemGetAddressRange_v2 = address_range;
        g_begin = g_size = 0;
    }
    void TearDown() override
    {
        driver.cuMemGetAddressRange_v2 = nullptr;
        addresses_unmap_all(kBase, uint64_t{1} << 36);
        addresses_unmap_all(kOther, uint64_t{1} << 36);
        physical_after_fork();
        shared_memory_after_fork();
    }
    struct call call(CUresult result = CUDA_SUCCESS)
    {
        struct call made = {};
        made.thread = &thread_;
        made.footprint = 1;
        made.result = result;
        return made;
    }
    struct call map(uint64_t handle, uint64_t base, uint64_t bytes = 0x1000, uint64_t offset = 0)
    {
        struct call made = call();
        mappings_mapped(&made, base, bytes, offset, handle);
        return made;
    }
    void release(uint64_t handle, CUresult result = CUDA_SUCCESS)
    {
        struct call made = call();
        physical_releasing(&made, handle);
        made.result = result;
        physical_released(&made, handle);
    }
    void retain(CUmemGenericAllocationHandle handle, CUresult result = CUDA_SUCCESS, uint64_t address = 0)
    {
        struct call made = call(result);
        physical_retained(&made, &handle, address);
    }
    struct call open(CUdeviceptr pointer)
    {
        struct call made = call();
        shared_memory_opened(&made, &pointer);
        return made;
    }
    struct call close(CUdeviceptr pointer, CUresult result = CUDA_SUCCESS)
    {
        struct call made = call();
        shared_memory_closing(&made, pointer);
        made.result = result;
        shared_memory_closed(&made, pointer);
        return made;
    }
    static struct memory *at(uint64_t address)
    {
        return lookup_range(nullptr, address).memory;
    }
    /* Whether the handle still stands for the memory: it is mapped anew, elsewhere. */
    bool stands_for(uint64_t handle, const struct memory *memory)
    {
        map(handle, kOther);
        const bool same = at(kOther) == memory;
        addresses_unmap_all(kOther, 0x1000);
        return same;
    }
    struct thread thread_ = {};
};

/* ---- mapped ---- */

TEST_F(Mappings, AMemoryAtTwoPlaces)
{
    struct call first = map(7, kBase, 0x2000);
    struct memory *memory = at(kBase);
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->uid, first.object);
    EXPECT_EQ(PTDS_OP_ALLOC, first.op);
    EXPECT_EQ(5u, first.words);
    EXPECT_EQ(kBase, first.word[0]);
    EXPECT_EQ(0x2000u, first.word[1]);
    EXPECT_EQ(8u, first.word[2]);
    EXPECT_EQ(0u, first.word[3]);
    EXPECT_EQ(0u, first.word[4]);
    EXPECT_EQ(PTDS_MEMORY_MAPPED, memory->kind);
    struct call second = map(7, kOther, 0x800, 0x1000);
    EXPECT_EQ(memory, at(kOther));
    EXPECT_NE(memory->uid, second.object);
    EXPECT_NE(0u, second.object);
    EXPECT_EQ(memory->uid, second.word[4]);
    struct memory_range range = lookup_range(nullptr, kOther + 0x10);
    EXPECT_EQ(kBase + 0x1010, kOther + 0x10 + range.shift);
    map(8, kOther + 0x10000);
    EXPECT_NE(memory, at(kOther + 0x10000));
}

/* The first mapping may be of a part: its beginning is where offset 0 would be. */
TEST_F(Mappings, FirstAPart)
{
    map(7, kBase + 0x1000, 0x1000, 0x1000);
    EXPECT_EQ(kBase, at(kBase + 0x1000)->base);
    EXPECT_EQ(0u, lookup_range(nullptr, kBase + 0x1000).shift);
}

TEST_F(Mappings, NothingIsLearntOfWhatFailed)
{
    struct call failed = call(CUDA_ERROR_INVALID_VALUE), unwanted = call();
    unwanted.footprint = 0;
    for (struct call *one : {&failed, &unwanted}) {
        const CUdeviceptr pointer = kBase;
        CUDA_EXTERNAL_MEMORY_BUFFER_DESC about = {};
        about.size = 0x1000;
        mappings_mapped(one, kBase, 0x1000, 0, 7);
        shared_memory_opened(one, &pointer);
        shared_memory_external_buffer(one, &pointer, CUexternalMemory(0x70), &about);
        EXPECT_EQ(nullptr, at(kBase));
        EXPECT_EQ(0u, one->object);
        EXPECT_EQ(0u, one->words);
    }
    unwanted.object = 5;
    map(7, kBase);
    mappings_unmapping(&unwanted, kBase, 0x1000);
    mappings_unmapped(&unwanted);
    shared_memory_closing(&unwanted, kBase);
    physical_releasing(&unwanted, 7);
    EXPECT_EQ(5u, unwanted.object);
    EXPECT_NE(nullptr, at(kBase));
    EXPECT_TRUE(stands_for(7, at(kBase)));
}

TEST_F(Mappings, AreUnmapped)
{
    map(7, kBase);
    map(8, kBase + 0x1000);
    map(9, kBase + 0x2000);
    map(10, kBase - 0x10000);
    const uint32_t uid = at(kBase)->uid;
    struct call made = call();
    mappings_unmapping(&made, kBase, 0x2000);
    mappings_unmapped(&made);
    EXPECT_EQ(PTDS_OP_UNMAP, made.op);
    EXPECT_EQ(uid, made.object);
    EXPECT_EQ(1u, made.words);
    EXPECT_EQ(kBase, made.word[0]);
    EXPECT_EQ(nullptr, at(kBase));
    EXPECT_EQ(nullptr, at(kBase + 0x1000));
    EXPECT_NE(nullptr, at(kBase + 0x2000));
    EXPECT_NE(nullptr, at(kBase - 0x10000));
    addresses_unmap_all(kBase - 0x10000, 0x1000);
    mappings_unmapping(&made, kBase, 0x1000);
    mappings_unmapped(&made);
    EXPECT_EQ(0u, made.object) << "nobody knows it";
}

TEST_F(Mappings, AreReleased)
{
    map(7, kBase);
    struct memory *memory = at(kBase);
    release(7, CUDA_ERROR_INVALID_VALUE);
    EXPECT_TRUE(stands_for(7, memory)) << "it was refused";
    release(7);
    EXPECT_EQ(memory, at(kBase)) << "its mapping holds it";
    EXPECT_FALSE(stands_for(7, memory));
}

TEST_F(Mappings, AreReleasedAsOftenAsTheyAreRetained)
{
    map(7, kBase);
    struct memory *memory = at(kBase);
    retain(7);
    retain(7);
    retain(8);
    retain(7, CUDA_ERROR_INVALID_VALUE);
    struct call made = call();
    physical_retained(&made, nullptr, kBase);
    for (int times = 0; times < 2; times++) {
        release(7, CUDA_ERROR_INVALID_VALUE);
        release(7);
        EXPECT_TRUE(stands_for(7, memory)) << times;
    }
    release(7);
    EXPECT_FALSE(stands_for(7, memory));
}

/* Asked for by the address, after its last release: the memory that is mapped there, until it is released again. */
TEST_F(Mappings, AreRetainedAfterTheirRelease)
{
    map(7, kBase, 0x2000);
    struct memory *memory = at(kBase);
    release(7);
    retain(7, CUDA_SUCCESS, kBase + 0x1010);
    map(7, kOther);
    EXPECT_EQ(memory, at(kOther));
    retain(7, CUDA_SUCCESS, kOther);
    release(7);
    EXPECT_TRUE(stands_for(7, memory));
    release(7);
    EXPECT_FALSE(stands_for(7, memory));
    EXPECT_EQ(memory, at(kBase));
}

/* ---- another process's ---- */

TEST_F(Mappings, OpenedByAHandle)
{
    g_begin = kBase, g_size = 0x4000;
    struct call made = open(kBase + 0x1000);
    struct memory *memory = at(kBase);
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory, at(kBase + 0x3fff));
    EXPECT_EQ(nullptr, at(kBase + 0x4000));
    EXPECT_EQ(PTDS_MEMORY_IPC, memory->kind);
    EXPECT_EQ(PTDS_OP_ALLOC, made.op);
    EXPECT_EQ(memory->uid, made.object);
    EXPECT_EQ(kBase, made.word[0]);
    EXPECT_EQ(0x4000u, made.word[1]);
    EXPECT_EQ(9u, made.word[2]);
}

/* None of which a pointer's end would be told: kernels may touch anything from then on. */
TEST_F(Mappings, OpenedWhereTheDriverDoesNotSayHowFarItGoes)
{
    const auto opens_unknown = [this](uint64_t base) {
        touch_memory_kernels_opaque = 0;
        map(7, base);
        struct call made = open(base);
        EXPECT_EQ(nullptr, at(base)) << "what was there has gone";
        EXPECT_EQ(0u, made.object);
        EXPECT_EQ(0u, made.word[1]);
        EXPECT_EQ(9u, made.word[2]);
        EXPECT_EQ(OPAQUE_OTHER, touch_memory_kernels_opaque);
    };
    opens_unknown(kBase);
    g_begin = kBase + 0x10000, g_size = 0;
    opens_unknown(kBase + 0x10010);
    g_size = 0x1000;
    captures_open = 1; /* it must not be asked then */
    opens_unknown(kBase + 0x20000);
    captures_open = 0;
    driver.cuMemGetAddressRange_v2 = nullptr;
    opens_unknown(kBase + 0x30000);
    touch_memory_kernels_opaque = 0;
}

CUstreamCaptureMode g_mode;

CUresult exchange_mode(CUstreamCaptureMode *mode)
{
    std::swap(*mode, g_mode);
    return CUDA_SUCCESS;
}

CUresult relaxed_range(CUdeviceptr *begin, size_t *size, CUdeviceptr address)
{
    return g_mode == CU_STREAM_CAPTURE_MODE_RELAXED ? address_range(begin, size, address)
                                                    : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/* The thread says that it knows. */
TEST_F(Mappings, OpenedBesideACapture)
{
    driver.cuMemGetAddressRange_v2 = relaxed_range;
    driver_real[API_cuThreadExchangeStreamCaptureMode][0] = reinterpret_cast<void *>(exchange_mode);
    g_begin = kBase, g_size = 0x4000;
    for (const uint32_t captures : {1, 0}) {
        g_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
        captures_open = captures;
        open(kBase);
        captures_open = 0;
        EXPECT_EQ(CU_STREAM_CAPTURE_MODE_GLOBAL, g_mode) << "as it was";
        ASSERT_NE(nullptr, at(kBase));
        EXPECT_EQ(at(kBase), at(kBase + 0x3fff));
        addresses_unmap_all(kBase, 1);
    }
    EXPECT_EQ(0u, touch_memory_kernels_opaque);
    driver_real[API_cuThreadExchangeStreamCaptureMode][0] = nullptr;
}

/* The one that was open there went with its context, and had another length. */
TEST_F(Mappings, OpenedWhereOneWasThatWentWithoutACall)
{
    g_begin = kBase, g_size = 0x1000;
    open(kBase);
    open(kBase);
    const uint32_t uid = at(kBase)->uid;
    g_size = 0x4000;
    open(kBase);
    ASSERT_NE(nullptr, at(kBase + 0x3fff));
    EXPECT_NE(uid, at(kBase + 0x3fff)->uid);
    g_begin = 0;
    EXPECT_EQ(at(kBase)->uid, open(kBase).object) << "the driver does not say that it is another one";
    touch_memory_kernels_opaque = 0;
    close(kBase);
    EXPECT_NE(nullptr, at(kBase));
    close(kBase);
    EXPECT_EQ(nullptr, at(kBase)) << "as often as it was opened itself";
}

/* One memory, as long as one of them is open. */
TEST_F(Mappings, OpenedTwice)
{
    g_begin = kBase, g_size = 0x4000;
    open(kBase);
    struct memory *memory = at(kBase);
    const uint32_t uid = memory->uid;
    struct call again = open(kBase);
    EXPECT_EQ(memory, at(kBase));
    EXPECT_EQ(uid, again.object);
    EXPECT_EQ(kBase, again.word[0]);
    EXPECT_EQ(0x4000u, again.word[1]);
    open(kBase);
    for (int times = 0; times < 2; times++) {
        struct call closed = close(kBase);
        EXPECT_EQ(PTDS_OP_FREE, closed.op);
        EXPECT_EQ(uid, closed.object);
        EXPECT_EQ(kBase, closed.word[0]);
        EXPECT_EQ(nullptr, closed.leaving);
        EXPECT_EQ(memory, at(kBase)) << times;
    }
    close(kBase, CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(memory, at(kBase)) << "it was refused";
    open(kBase);
    close(kBase, CUDA_ERROR_INVALID_VALUE);
    close(kBase);
    EXPECT_EQ(memory, at(kBase)) << "one of both was refused";
    struct call last = close(kBase);
    EXPECT_EQ(memory, last.leaving);
    EXPECT_EQ(nullptr, at(kBase));
    EXPECT_EQ(0u, close(kBase).object);
}

/* ---- other interfaces' ---- */

/* Asked for again, it is the same; a longer range is another. */
TEST_F(Mappings, LentOnceMore)
{
    const auto lend = [this](enum ptds_memory_kind kind, uint64_t value, uint64_t bytes) {
        struct call made = call();
        lent_mapped(&made, kind, &value, sizeof value, bytes);
        return made;
    };
    EXPECT_EQ(PTDS_OP_ALLOC, lend(PTDS_MEMORY_EXTERNAL, kBase, 0x1000).op);
    const uint32_t uid = at(kBase)->uid;
    EXPECT_EQ(PTDS_OP_NONE, lend(PTDS_MEMORY_EXTERNAL, kBase, 0x1000).op);
    EXPECT_EQ(uid, at(kBase)->uid);
    for (const uint64_t bytes : {0x2000, 0x1000}) {
        const uint32_t before = at(kBase)->uid;
        EXPECT_EQ(PTDS_OP_ALLOC, lend(PTDS_MEMORY_EXTERNAL, kBase, bytes).op);
        EXPECT_NE(before, at(kBase)->uid);
    }
    lend(PTDS_MEMORY_EXTERNAL, kBase + 0x800, 0x800);
    EXPECT_EQ(kBase + 0x800, at(kBase + 0x800)->base);
    lend(PTDS_MEMORY_ARRAY, 0x5550, 0);
    struct memory *array = array_handles_get(0x5550);
    ASSERT_NE(nullptr, array);
    EXPECT_EQ(PTDS_OP_NONE, lend(PTDS_MEMORY_ARRAY, 0x5550, 0).op);
    EXPECT_EQ(array, array_handles_get(0x5550));
    /* Its length was not asked for. */
    g_begin = kOther, g_size = 0x4000;
    lend(PTDS_MEMORY_EXTERNAL, kOther, 0);
    EXPECT_NE(nullptr, at(kOther + 0x3fff));
    EXPECT_EQ(0u, touch_memory_kernels_opaque);
    g_begin = 0;
    lend(PTDS_MEMORY_EXTERNAL, kOther + 0x8000, 0);
    EXPECT_EQ(OPAQUE_OTHER, touch_memory_kernels_opaque);
    touch_memory_kernels_opaque = 0;
    struct call failed = call(CUDA_ERROR_INVALID_VALUE);
    lent_mapped(&failed, PTDS_MEMORY_ARRAY, &kBase, sizeof kBase, 0);
    EXPECT_EQ(nullptr, array_handles_get(kBase));
    array_handles_after_fork();
    memory_object_drop(array);
}

/* The op stays that of its stream's work. */
TEST_F(Mappings, BuffersOfOpenGL)
{
    const auto map_buffer = [this](unsigned buffer, uint64_t address, uint64_t bytes, CUresult result = CUDA_SUCCESS) {
        struct call made = call(result);
        call_words_opaque(&made, OPAQUE_OTHER);
        lent_gl_mapped(&made, buffer, &address, sizeof address, bytes);
        return made;
    };
    const auto unmap_buffer = [this](unsigned buffer, CUresult result = CUDA_SUCCESS) {
        struct call made = call(result);
        lent_gl_unmapping(&made, buffer);
        lent_gl_unmapped(&made, buffer);
    };
    EXPECT_EQ(PTDS_OP_OPAQUE, map_buffer(1, kBase, 0x1000, CUDA_ERROR_INVALID_VALUE).op);
    EXPECT_EQ(nullptr, at(kBase));
    struct call made = map_buffer(1, kBase, 0x1000);
    EXPECT_EQ(PTDS_OP_ALLOC_ASYNC, made.op);
    EXPECT_TRUE(made.flags & PTDS_CALL_OPAQUE);
    EXPECT_EQ(uint64_t{PTDS_MEMORY_EXTERNAL}, made.word[2]);
    ASSERT_NE(nullptr, at(kBase + 0xfff));
    EXPECT_EQ(PTDS_MEMORY_EXTERNAL, at(kBase)->kind);
    const uint32_t uid = at(kBase)->uid;
    map_buffer(2, kOther, 0x2000);
    EXPECT_EQ(PTDS_OP_OPAQUE, map_buffer(1, kBase, 0x1000).op) << "where it was";
    unmap_buffer(3);
    unmap_buffer(1, CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(uid, at(kBase)->uid);
    unmap_buffer(1);
    EXPECT_EQ(nullptr, at(kBase));
    EXPECT_NE(nullptr, at(kOther + 0x1fff));
    unmap_buffer(1);
    unmap_buffer(2);
    EXPECT_EQ(nullptr, at(kOther));
    lent_after_fork();
}

TEST_F(Mappings, PlanesOfEglFrames)
{
    struct ptds_egl_frame frame = {};
    const auto lend = [&](CUresult result = CUDA_SUCCESS) {
        struct call made = call(result);
        lent_frame(&made, &frame);
    };
    frame.plane[0] = reinterpret_cast<void *>(kBase + 0x400);
    frame.plane[1] = reinterpret_cast<void *>(kBase + 0x800);
    frame.planes = 2;
    frame.type = PTDS_EGL_PITCH;
    g_begin = kBase, g_size = 0x4000;
    lend(CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(nullptr, at(kBase));
    lend();
    ASSERT_NE(nullptr, at(kBase));
    EXPECT_EQ(at(kBase), at(kBase + 0x3fff));
    EXPECT_EQ(0u, touch_memory_kernels_opaque);
    g_begin = 0;
    lend();
    EXPECT_EQ(OPAQUE_OTHER, touch_memory_kernels_opaque) << "nobody knows how long they are";
    touch_memory_kernels_opaque = 0;
    frame.type = 0;
    frame.planes = 1000;
    for (uint64_t i = 0; i < 3; i++)
        frame.plane[i] = reinterpret_cast<void *>(0x6660 + i);
    lend();
    for (uint64_t i = 0; i < 3; i++) {
        struct memory *array = array_handles_get(0x6660 + i);
        ASSERT_NE(nullptr, array);
        memory_object_drop(array);
    }
    array_handles_after_fork();
    struct call none = call();
    lent_frame(&none, nullptr);
}

TEST_F(Mappings, BuffersOfExternalMemory)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC about = {};
    about.size = 0x1000;
    about.offset = 0x400;
    CUdeviceptr pointer = kBase;
    struct call made = call();
    shared_memory_external_buffer(&made, &pointer, CUexternalMemory(0x70), &about);
    struct memory *memory = at(kBase);
    ASSERT_TRUE(memory);
    EXPECT_EQ(PTDS_MEMORY_EXTERNAL, memory->kind);
    EXPECT_EQ(10u, made.word[2]);
    EXPECT_EQ(kBase - 0x400, memory->base);
    EXPECT_EQ(nullptr, at(kBase + 0x1000));
    pointer = kOther;
    about.offset = 0;
    shared_memory_external_buffer(&made, &pointer, CUexternalMemory(0x70), &about);
    EXPECT_EQ(memory, at(kOther));
    pointer = kOther + 0x10000;
    shared_memory_external_buffer(&made, &pointer, CUexternalMemory(0x70), nullptr);
    shared_memory_external_buffer(&made, nullptr, CUexternalMemory(0x70), &about);
    EXPECT_EQ(nullptr, at(kOther + 0x10000));
}

TEST_F(Mappings, BoundToAMulticastObject)
{
    map(7, kBase);
    map(20, kBase + 0x10000); /* the object's own mapping */
    struct memory *part = at(kBase), *all = at(kBase + 0x10000);
    const uint8_t before = part->host;
    struct call failed = call(CUDA_ERROR_INVALID_VALUE), made = call();
    shared_memory_bound(&failed, 20, nullptr, 7);
    EXPECT_EQ(before, all->host);
    shared_memory_bound(&made, 20, nullptr, 7);
    EXPECT_EQ(before | MEMORY_SHARED, part->host);
    EXPECT_EQ(before | MEMORY_SHARED, all->host);
    map(8, kBase + 0x20000);
    struct memory *given = at(kBase + 0x20000);
    shared_memory_bound(&made, 20, given, 0);
    EXPECT_EQ(before | MEMORY_SHARED, given->host);
}

/* ---- handed out: the last, since from then on what comes in may be this process's own ---- */

TEST_F(Mappings, WhatOthersGet)
{
    for (unsigned i = 0; i < 4; i++)
        map(30 + i, kBase + i * 0x1000);
    const uint64_t imported = 99;
    struct call made = call(), failed = call(CUDA_ERROR_INVALID_VALUE);
    shared_memory_imported(&made, &imported);
    map(99, kOther);
    EXPECT_EQ(0, at(kOther)->host) << "nothing was handed out yet";
    shared_memory_exported(&failed, kBase, 0x1000);
    shared_memory_exported_handle(&failed, 30);
    EXPECT_EQ(0, at(kBase)->host);
    shared_memory_exported(&made, kBase + 0x1800, 0x1000);
    EXPECT_EQ(0, at(kBase)->host);
    EXPECT_EQ(1, at(kBase + 0x1000)->host);
    EXPECT_EQ(1, at(kBase + 0x2000)->host);
    EXPECT_EQ(0, at(kBase + 0x3000)->host);
    shared_memory_exported_handle(&made, 30);
    EXPECT_EQ(1, at(kBase)->host);
    shared_memory_imported(&failed, &imported);
    EXPECT_EQ(0, at(kOther)->host);
    shared_memory_imported(&made, nullptr);
    shared_memory_imported(&made, &imported);
    EXPECT_EQ(MEMORY_SHARED, at(kOther)->host);
    g_begin = kOther + 0x10000, g_size = 0x1000;
    open(kOther + 0x10000);
    EXPECT_EQ(MEMORY_SHARED, at(kOther + 0x10000)->host & MEMORY_SHARED);
}

TEST_F(Mappings, JustWhatOthersGet)
{
    for (unsigned i = 0; i < 3; i++)
        map(30 + i, kBase + i * 0x1000);
    struct call made = call();
    shared_memory_exported(&made, kBase, 0x1000);
    EXPECT_EQ(0, at(kBase + 0x1000)->host);
    shared_memory_exported(&made, kBase, 0x1001);
    EXPECT_EQ(1, at(kBase + 0x1000)->host);
    EXPECT_EQ(0, at(kBase + 0x2000)->host);
    const uint64_t imported = 32;
    shared_memory_imported(&made, &imported);
    shared_memory_exported_handle(&made, 32);
    EXPECT_EQ(1 | MEMORY_SHARED, at(kBase + 0x2000)->host) << "both";
}

/* The driver refused: each range is where it was, also of memory that only its mapping held, and of one that is mapped
 * twice. */
TEST_F(Mappings, ThatAreNotUnmappedAfterAll)
{
    const auto unmap = [this](uint64_t base, uint64_t bytes, CUresult result) {
        struct call made = call();
        mappings_unmapping(&made, base, bytes);
        EXPECT_EQ(nullptr, lookup_range(&thread_, base).memory);
        EXPECT_EQ(1u, made.words) << "the rest is not for the record";
        made.result = result;
        mappings_unmapped(&made);
    };
    map(7, kBase);
    map(8, kBase + 0x1000, 0x1000, 0x100);
    map(7, kOther);
    const struct memory *one = lookup_range(&thread_, kBase).memory, *two = lookup_range(&thread_, kBase + 0x1000).memory;
    ASSERT_NE(one, two);
    release(8);
    unmap(kBase, 0x2000, CUDA_ERROR_INVALID_VALUE);
    const struct memory_range first = lookup_range(&thread_, kBase + 0xfff),
                              second = lookup_range(&thread_, kBase + 0x1000);
    EXPECT_EQ(one, first.memory);
    EXPECT_EQ(kBase, first.begin);
    EXPECT_EQ(two, second.memory);
    EXPECT_EQ(kBase + 0x1000, second.begin);
    EXPECT_EQ(kBase + 0x2000, second.end);
    EXPECT_EQ(two->base + 0x100, second.begin + second.shift);
    unmap(kOther, 0x1000, CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(one, lookup_range(&thread_, kOther).memory);
    EXPECT_EQ(kBase, kOther + lookup_range(&thread_, kOther).shift);
    const uint32_t uid = two->uid;
    unmap(kBase, 0x2000, CUDA_SUCCESS);
    EXPECT_NE(uid, two->uid) << "nobody holds it";
    EXPECT_EQ(one, lookup_range(&thread_, kOther).memory);
}

/* Any number of ranges, whatever lies between them. */
TEST_F(Mappings, OfManyThatAreNotUnmappedAll)
{
    const auto is_at = [](uint64_t i) { return lookup_range(nullptr, kBase + i * 0x1000).memory != nullptr; };
    for (uint64_t i = 1; i < 42; i += 1 + i % 2)
        map(20 + i, kBase + i * 0x1000);
    const uint32_t count = addresses_count();
    struct call made = call();
    mappings_unmapping(&made, kBase, 0x28800);
    EXPECT_EQ(0u, made.object);
    for (uint64_t i = 0; i < 41; i++)
        EXPECT_FALSE(is_at(i)) << i;
    made.result = CUDA_ERROR_INVALID_VALUE;
    mappings_unmapped(&made);
    for (uint64_t i = 1; i < 42; i += 1 + i % 2)
        EXPECT_TRUE(is_at(i)) << i;
    EXPECT_EQ(count, addresses_count());
    const struct memory *one = at(kBase + 0x1000);
    EXPECT_EQ(one, lookup_range(nullptr, kBase + 0x1fff).memory);
    /* Unmapped, and mapped anew before that is known. */
    made = call();
    mappings_unmapping(&made, kBase, 0x28800);
    map(90, kBase + 0x1000);
    const struct memory *other = at(kBase + 0x1000);
    mappings_unmapped(&made);
    EXPECT_EQ(other, at(kBase + 0x1000));
    EXPECT_FALSE(is_at(2) || is_at(39));
    EXPECT_TRUE(is_at(41));
    made = call();
    made.footprint = 0;
    made.word[1] = 5;
    mappings_unmapped(&made);
}

} // namespace
