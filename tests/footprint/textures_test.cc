/* SPDX-License-Identifier: Apache-2.0
 *
 * What a word of a kernel's parameters that is a texture's or a surface's handle stands for; and what a launch's attributes
 * say. Calls that the test makes up.
 */
#include <gtest/gtest.h>

#include <functional>
#include <string>

extern "C" {
#include "interpose/driver/driver.h"
#include "interpose/footprint/allocations/reserve.h"
#include "interpose/footprint/allocations/textures.h"
#include "interpose/footprint/launches/launches.h"
#include "interpose/footprint/memories/addresses.h"
#include "interpose/footprint/memories/array_handles.h"
#include "interpose/footprint/memories/memory_object.h"
#include "interpose/footprint/pointers/pointer_tables.h"
#include "interpose/footprint/pointers/scan_host_memory.h"
#include "interpose/state/hooks.h"
}

namespace
{

class Textures : public testing::Test
{
protected:
    Textures()
    {
        call.footprint = 1;
    }
    ~Textures() override
    {
        textures_after_fork();
    }
    struct memory *memory_at(uint64_t base)
    {
        struct memory *made = memory_object_new(PTDS_MEMORY_DEVICE, base, 4096);
        addresses_map(made, base, 4096, base);
        memory_object_drop(made);
        return made;
    }
    static CUDA_RESOURCE_DESC linear(uint64_t at)
    {
        CUDA_RESOURCE_DESC resource = {};
        resource.resType = CU_RESOURCE_TYPE_LINEAR;
        resource.res.linear.devPtr = at;
        return resource;
    }
    void made(CUtexObject handle, const CUDA_RESOURCE_DESC &resource, int surface = 0)
    {
        textures_made(&call, &handle, &resource, surface);
    }
    std::string touched(uint64_t word, bool writes = true)
    {
        struct touched all = {}, read = {};
        found = textures_touch(&all, word, writes) != 0;
        EXPECT_EQ(textures_touch(&read, word, 0) != 0, found || all.count + all.opaque != 0);
        std::string text = all.opaque == OPAQUE_TEXTURE ? "?" : all.opaque ? "!" : "";
        for (unsigned i = 0; i < all.count; i++)
            text += (all.at[i].writes ? "w" : "r") + std::to_string(all.at[i].memory->base);
        return text;
    }
    /* What a word points to that lies in memory. */
    static std::string pointed(uint64_t word)
    {
        static const uint64_t at = uint64_t{1} << 50;
        const uint64_t words[] = {0, word};
        struct memory *memory = memory_object_new(PTDS_MEMORY_DEVICE, at, sizeof words);
        struct pointees all = {};
        pointer_tables_empty(memory);
        addresses_map(memory, at, sizeof words, at);
        scan_host_memory(nullptr, memory, at, reinterpret_cast<const uint8_t *>(words), sizeof words);
        pointer_tables_read(memory, &all);
        std::string text = all.why ? "?" : "";
        for (unsigned i = 0; i < all.count; i++)
            text += (text.empty() ? "" : " ") + std::to_string(all.at[i]->base);
        memory_object_drop(addresses_unmap(at));
        memory_object_drop(memory);
        return text;
    }
    bool found = false;
    struct call call = {};
};

TEST_F(Textures, OfEachKindOfMemory)
{
    memory_at(10000), memory_at(20000);
    struct memory *array = memory_object_new(PTDS_MEMORY_ARRAY, 30000, 1),
                  *mipmap = memory_object_new(PTDS_MEMORY_ARRAY, 40000, 1);
    array_handles_set(0x3000, array);
    array_handles_set(0x4000, mipmap);
    CUDA_RESOURCE_DESC pitched = {}, of_array = {}, of_mipmap = {}, other = {};
    pitched.resType = CU_RESOURCE_TYPE_PITCH2D, pitched.res.pitch2D.devPtr = 20016;
    of_array.resType = CU_RESOURCE_TYPE_ARRAY, of_array.res.array.hArray = CUarray(0x3000);
    of_mipmap.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, of_mipmap.res.mipmap.hMipmappedArray = CUmipmappedArray(0x4000);
    other.resType = CUresourcetype(77), other.res.linear.devPtr = 10000;
    made(101, linear(10016));
    made(102, pitched);
    made(103, of_array);
    made(104, of_mipmap);
    made(105, other);
    made(106, linear(99999));
    EXPECT_EQ("r10000", touched(101));
    EXPECT_EQ("r20000", touched(102));
    EXPECT_EQ("r30000", touched(103));
    EXPECT_EQ("r40000", touched(104));
    EXPECT_EQ("?", touched(105)) << "of nobody knows what";
    EXPECT_EQ("?", touched(106)) << "of memory that nobody has seen";
    EXPECT_EQ("", touched(107)) << "no such handle";
    for (uint64_t base : {10000, 20000})
        memory_object_drop(addresses_unmap(base));
    EXPECT_EQ("?", touched(101)) << "it has gone";
    memory_object_drop(array), memory_object_drop(mipmap);
}

/* Of what is mapped there by the time that it is read: of the reservation. */
TEST_F(Textures, OfAddressesInAReservation)
{
    const CUdeviceptr reserved = 0x70000;
    reserve_made(&call, &reserved, 0x10000);
    struct memory *chunk = memory_object_new(PTDS_MEMORY_MAPPED, 0x71000, 0x1000);
    reserve_mapped(chunk, 0x71000, 0x1000);
    addresses_map(chunk, 0x71000, 0x1000, 0x71000);
    made(101, linear(0x71010));
    EXPECT_EQ(std::to_string(reserved), pointed(0x71000));
    memory_object_drop(addresses_unmap(0x71000));
    memory_object_drop(chunk);
    EXPECT_EQ("r" + std::to_string(reserved), touched(101));
    EXPECT_EQ(std::to_string(reserved), pointed(0x71010));
    EXPECT_EQ(std::to_string(reserved), pointed(0x80000)) << "its end";
    memory_at(0x6f000);
    EXPECT_EQ(std::to_string(reserved) + " " + std::to_string(0x6f000), pointed(0x70000)) << "the end of another, too";
    memory_object_drop(addresses_unmap(0x6f000));
    reserve_freeing(&call, reserved);
    reserve_freed(&call);
    call.leaving = nullptr;
    EXPECT_EQ("?", touched(101));
    EXPECT_EQ("?", pointed(0x71010)) << "a number like an address of what is not there";
}

TEST_F(Textures, AndSurfacesMayShareAHandle)
{
    memory_at(10000), memory_at(20000);
    made(201, linear(10000));
    EXPECT_EQ("r10000", touched(201));
    EXPECT_FALSE(found) << "nobody writes a texture";
    EXPECT_EQ("r10000", touched(201, false));
    EXPECT_TRUE(found);
    made(201, linear(20000), 1);
    EXPECT_EQ("r10000w20000", touched(201));
    EXPECT_TRUE(found);
    EXPECT_EQ("r10000r20000", touched(201, false));
    textures_gone(&call, 201, 0);
    EXPECT_EQ("w20000", touched(201));
    EXPECT_EQ("r20000", touched(201, false));
    made(201, linear(10000), 1);
    EXPECT_EQ("w10000", touched(201)) << "made anew";
    made(201, linear(99999), 1);
    EXPECT_EQ("?", touched(201));
    textures_gone(&call, 201, 1);
    EXPECT_EQ("", touched(201));
    EXPECT_FALSE(found);
    for (uint64_t base : {10000, 20000})
        memory_object_drop(addresses_unmap(base));
}

TEST_F(Textures, NothingIsLearntOfWhatFailed)
{
    memory_at(10000);
    const CUtexObject handle = 301;
    const CUDA_RESOURCE_DESC resource = linear(10000);
    textures_made(&call, nullptr, &resource, 0);
    textures_made(&call, &handle, nullptr, 0);
    call.result = CUDA_ERROR_INVALID_VALUE;
    made(301, resource);
    call.result = CUDA_SUCCESS;
    call.footprint = 0;
    made(301, resource);
    EXPECT_EQ("", touched(301));
    call.footprint = 1;
    made(301, resource);
    call.footprint = 0;
    textures_gone(&call, 301, 0);
    EXPECT_EQ("r10000", touched(301));
    memory_object_drop(addresses_unmap(10000));
}

/* The driver refused to destroy it. */
TEST_F(Textures, ThatAreNotDestroyedAfterAll)
{
    memory_at(10000);
    memory_at(20000);
    for (const int surface : {0, 1}) {
        const std::string is = surface ? "w" : "r";
        const auto refuse = [&](CUtexObject handle, const std::function<void()> &meanwhile = nullptr) {
            textures_gone(&call, handle, surface);
            EXPECT_EQ("", touched(handle));
            if (meanwhile)
                meanwhile();
            call.result = CUDA_ERROR_UNKNOWN;
            textures_left(&call, handle, surface);
            call.result = CUDA_SUCCESS;
        };
        made(501, linear(10000), surface);
        made(502, linear(99999), surface);
        refuse(501);
        EXPECT_EQ(is + "10000", touched(501));
        refuse(502);
        EXPECT_EQ("?", touched(502)) << "of what nobody has seen";
        refuse(503);
        EXPECT_EQ("", touched(503)) << "there never was one";
        refuse(501, [&] { made(501, linear(20000), surface); });
        EXPECT_EQ(is + "20000", touched(501)) << "another one";
        refuse(501, [&] { made(501, linear(99999), surface); });
        EXPECT_EQ("?", touched(501)) << "another one";
        textures_gone(&call, 501, surface);
        textures_left(&call, 501, surface);
        EXPECT_EQ("", touched(501));
        textures_gone(&call, 502, surface);
    }
    for (uint64_t base : {10000, 20000})
        memory_object_drop(addresses_unmap(base));
}

TEST_F(Textures, AreUnknownToAChild)
{
    memory_at(10000);
    made(401, linear(10000));
    made(402, linear(10000), 1);
    textures_after_fork();
    EXPECT_EQ("", touched(401));
    EXPECT_EQ("", touched(402));
    memory_object_drop(addresses_unmap(10000));
}

/* ---- attributes of launches ---- */

class Attributes : public testing::Test
{
protected:
    Attributes()
    {
        call.footprint = 1;
        call.thread = &thread;
    }
    void launch(std::vector<CUlaunchAttribute> attributes, bool named = true)
    {
        CUlaunchConfig config = {};
        config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
        config.attrs = named ? attributes.data() : nullptr, config.numAttrs = unsigned(attributes.size());
        call.event = nullptr;
        call.words = 0;
        launches_kernel_ex(&call, &config, CUfunction(0x1230), nullptr, nullptr);
    }
    uint64_t flags() const
    {
        return call.word[2] >> 48;
    }
    static CUlaunchAttribute of(CUlaunchAttributeID id, CUevent event = nullptr)
    {
        CUlaunchAttribute attribute = {};
        attribute.id = id;
        if (id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
            attribute.value.programmaticEvent.event = event;
        if (id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            attribute.value.launchCompletionEvent.event = event;
        return attribute;
    }
    struct call call = {};
    struct thread thread = {};
    const CUevent one = CUevent(0x100), two = CUevent(0x200);
};

TEST_F(Attributes, AreTold)
{
    launch({});
    EXPECT_EQ(0u, flags());
    EXPECT_EQ(nullptr, call.event);
    launch({of(CU_LAUNCH_ATTRIBUTE_COOPERATIVE)});
    EXPECT_EQ(uint64_t{PTDS_LAUNCH_COOPERATIVE}, flags());
    launch({of(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)});
    EXPECT_EQ(uint64_t{PTDS_LAUNCH_PROGRAMMATIC}, flags());
    launch({of(CU_LAUNCH_ATTRIBUTE_PRIORITY), of(CU_LAUNCH_ATTRIBUTE_COOPERATIVE)});
    EXPECT_EQ(uint64_t{PTDS_LAUNCH_OTHER | PTDS_LAUNCH_COOPERATIVE}, flags());
    launch({of(CU_LAUNCH_ATTRIBUTE_COOPERATIVE)}, false);
    EXPECT_EQ(0u, flags()) << "there are none";
}

TEST_F(Attributes, TheEventThatTheLaunchRecords)
{
    launch({of(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, one)});
    EXPECT_EQ(one, call.event);
    EXPECT_EQ(uint64_t{PTDS_LAUNCH_OTHER}, flags());
    launch({of(CU_LAUNCH_ATTRIBUTE_PRIORITY), of(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, two)});
    EXPECT_EQ(two, call.event);
    launch({of(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, one)}, false);
    EXPECT_EQ(nullptr, call.event);
}

TEST_F(Attributes, OfTwoEventsTheSecondIsNoOlderOne)
{
    static std::vector<CUevent> told;
    state_hooks.event_elsewhere = [](CUevent event) { told.push_back(event); };
    told.clear();
    launch({of(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, one), of(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, one)});
    EXPECT_EQ(one, call.event);
    EXPECT_TRUE(told.empty()) << "it is the same";
    launch({of(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT), of(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, one),
            of(CU_LAUNCH_ATTRIBUTE_COOPERATIVE), of(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, two)});
    EXPECT_EQ(one, call.event);
    EXPECT_EQ(std::vector<CUevent>{two}, told);
    state_hooks.event_elsewhere = nullptr;
}

TEST_F(Attributes, NothingWhereNobodyWantsToKnow)
{
    call.footprint = 0;
    launch({of(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, one)});
    EXPECT_EQ(nullptr, call.event);
    EXPECT_EQ(0u, call.word[2]);
    call.footprint = 1;
    launches_kernel_ex(&call, nullptr, CUfunction(0x1230), nullptr, nullptr);
    EXPECT_EQ(nullptr, call.event);
}

} // namespace
