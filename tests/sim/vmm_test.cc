// SPDX-License-Identifier: Apache-2.0
//
// Virtual memory management: several chunks in one range, one chunk in several places, what is refused.
#include <unistd.h>

#include "tests/sim/driver_fixture.h"

namespace
{

constexpr size_t kChunk = 2u << 20;

class Mapped : public Driver
{
protected:
    CUmemGenericAllocationHandle Create(size_t size = kChunk)
    {
        CUmemGenericAllocationHandle handle = 0;
        EXPECT_EQ(CUDA_SUCCESS, cuMemCreate(&handle, size, &prop_, 0));
        return handle;
    }
    CUdeviceptr Reserve(size_t size)
    {
        CUdeviceptr p = 0;
        EXPECT_EQ(CUDA_SUCCESS, cuMemAddressReserve(&p, size, 0, 0, 0));
        return p;
    }
    CUresult Allow(CUdeviceptr p, size_t size, CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
    {
        CUmemAccessDesc desc = {prop_.location, flags};
        return cuMemSetAccess(p, size, &desc, 1);
    }
    void SetUp() override
    {
        Driver::SetUp();
        prop_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        prop_.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
        prop_.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    }
    CUmemAllocationProp prop_ = {};
};

TEST_F(Mapped, TwoChunksInARangeAreOneMemory)
{
    size_t granularity = 0, size = 0, before = 0, after = 0, total = 0;
    CUdeviceptr base = 0, range = Reserve(3 * kChunk);
    EXPECT_EQ(CUDA_SUCCESS, cuMemGetInfo_v2(&before, &total));
    EXPECT_EQ(CUDA_SUCCESS, cuMemGetAllocationGranularity(&granularity, &prop_, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    EXPECT_EQ(kChunk, granularity);
    CUmemGenericAllocationHandle a = Create(), b = Create();
    EXPECT_EQ(CUDA_SUCCESS, cuMemMap(range, kChunk, 0, a, 0));
    EXPECT_EQ(CUDA_SUCCESS, cuMemMap(range + kChunk, kChunk, 0, b, 0));
    EXPECT_EQ(CUDA_SUCCESS, Allow(range, 2 * kChunk));
    for (CUmemGenericAllocationHandle h : {a, b})
        EXPECT_EQ(CUDA_SUCCESS, cuMemRelease(h)); /* the mappings keep them */
    uint32_t n = 1024, value = 3;
    CUdeviceptr middle = range + kChunk - n / 2 * 4;
    EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("fill"), nullptr, {&middle, &value, &n}));
    EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("add_one"), nullptr, {&middle, &n}));
    std::vector<uint32_t> got(n);
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyDtoH_v2(got.data(), middle, n * 4));
    for (uint32_t w : got)
        ASSERT_EQ(4u, w);
    EXPECT_EQ(CUDA_SUCCESS, cuMemGetAddressRange_v2(&base, &size, range + kChunk + 5));
    EXPECT_EQ(range + kChunk, base);
    EXPECT_EQ(kChunk, size);
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
              cuMemcpyDtoH_v2(got.data(), range + 2 * kChunk - 4, 8)); /* the third is not there */
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(range));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(range, kChunk / 2));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range, 3 * kChunk));
    EXPECT_EQ(CUDA_SUCCESS, cuMemUnmap(range, 2 * kChunk));
    EXPECT_EQ(CUDA_SUCCESS, cuMemGetInfo_v2(&after, &total));
    EXPECT_EQ(before, after); /* and nothing else */
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD8_v2(range, 0, 1));
    EXPECT_EQ(CUDA_SUCCESS, cuMemAddressFree(range, 3 * kChunk));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(range, 3 * kChunk));
}

TEST_F(Mapped, OneChunkInTwoPlacesIsTheSameBytes)
{
    CUdeviceptr here = Reserve(kChunk), there = Reserve(2 * kChunk);
    CUmemGenericAllocationHandle handle = Create(), again;
    EXPECT_EQ(CUDA_SUCCESS, cuMemMap(here, kChunk, 0, handle, 0));
    EXPECT_EQ(CUDA_SUCCESS, cuMemMap(there + kChunk, kChunk, 0, handle, 0));
    EXPECT_EQ(CUDA_SUCCESS, Allow(here, kChunk));
    EXPECT_EQ(CUDA_SUCCESS, Allow(there + kChunk, kChunk));
    EXPECT_EQ(CUDA_SUCCESS, cuMemsetD32_v2(here + 64, 77, 1));
    EXPECT_EQ(77u, Read(there + kChunk + 64));
    EXPECT_EQ(CUDA_SUCCESS, cuMemRetainAllocationHandle(&again, reinterpret_cast<void *>(there + kChunk + 9)));
    EXPECT_EQ(handle, again);
    EXPECT_EQ(CUDA_SUCCESS, cuMemUnmap(here, kChunk));
    EXPECT_EQ(77u, Read(there + kChunk + 64));
    EXPECT_EQ(CUDA_SUCCESS, cuMemUnmap(there + kChunk, kChunk));
    EXPECT_EQ(CUDA_SUCCESS, cuMemRelease(handle));
    EXPECT_EQ(CUDA_SUCCESS, cuMemRelease(again)); /* twice had, twice given back */
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemRelease(handle));
    EXPECT_EQ(CUDA_SUCCESS, cuMemAddressFree(here, kChunk));
    EXPECT_EQ(CUDA_SUCCESS, cuMemAddressFree(there, 2 * kChunk));
}

TEST_F(Mapped, NobodyMayUseItBeforeItIsAllowed)
{
    CUdeviceptr range = Reserve(kChunk);
    CUmemGenericAllocationHandle handle = Create();
    unsigned long long flags = 9;
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, Allow(range, kChunk));
    EXPECT_EQ(CUDA_SUCCESS, cuMemMap(range, kChunk, 0, handle, 0));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemMap(range, kChunk, 0, handle, 0));
    EXPECT_EQ(CUDA_SUCCESS, cuMemGetAccess(&flags, &prop_.location, range));
    EXPECT_EQ(0u, flags);
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD8_v2(range, 0, 1));
    EXPECT_EQ(CUDA_SUCCESS, Allow(range, kChunk));
    EXPECT_EQ(CUDA_SUCCESS, cuMemGetAccess(&flags, &prop_.location, range));
    EXPECT_EQ(static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_READWRITE), flags);
    EXPECT_EQ(CUDA_SUCCESS, cuMemsetD8_v2(range, 0, 1));
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    EXPECT_EQ(CUDA_SUCCESS, Allow(range, kChunk, CU_MEM_ACCESS_FLAGS_PROT_NONE));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD8_v2(range, 0, 1));
    EXPECT_EQ(CUDA_SUCCESS, cuMemUnmap(range, kChunk));
    EXPECT_EQ(CUDA_SUCCESS, cuMemRelease(handle));
    EXPECT_EQ(CUDA_SUCCESS, cuMemAddressFree(range, kChunk));
    CUdeviceptr p;
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&p, kChunk + 1, 0, 0, 0));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, 4096, &prop_, 0));
}

TEST_F(Mapped, PhysicalMemoryCountsAndGoes)
{
    size_t before = 0, between = 0, after = 0, total = 0;
    EXPECT_EQ(CUDA_SUCCESS, cuMemGetInfo_v2(&before, &total));
    CUmemGenericAllocationHandle handle = Create(4 * kChunk), more = 0;
    EXPECT_EQ(CUDA_SUCCESS, cuMemGetInfo_v2(&between, &total));
    EXPECT_EQ(before, between + 4 * kChunk);
    EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&more, before, &prop_, 0));
    EXPECT_EQ(CUDA_SUCCESS, cuMemRelease(handle));
    EXPECT_EQ(CUDA_SUCCESS, cuMemGetInfo_v2(&after, &total));
    EXPECT_EQ(before, after);
}

TEST_F(Mapped, ADescriptorIsTheSameMemory)
{
    int fd = -1;
    CUdeviceptr range = Reserve(2 * kChunk);
    CUmemGenericAllocationHandle handle = Create(), imported;
    ASSERT_EQ(CUDA_SUCCESS, cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    ASSERT_EQ(CUDA_SUCCESS, cuMemImportFromShareableHandle(&imported, reinterpret_cast<void *>(static_cast<intptr_t>(fd)),
                                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    EXPECT_EQ(0, close(fd));
    EXPECT_EQ(CUDA_SUCCESS, cuMemMap(range, kChunk, 0, handle, 0));
    EXPECT_EQ(CUDA_SUCCESS, cuMemMap(range + kChunk, kChunk, 0, imported, 0));
    EXPECT_EQ(CUDA_SUCCESS, Allow(range, 2 * kChunk));
    EXPECT_EQ(CUDA_SUCCESS, cuMemsetD32_v2(range + 4, 5, 1));
    EXPECT_EQ(5u, Read(range + kChunk + 4));
    EXPECT_EQ(CUDA_SUCCESS, cuMemUnmap(range, 2 * kChunk));
    for (CUmemGenericAllocationHandle h : {handle, imported})
        EXPECT_EQ(CUDA_SUCCESS, cuMemRelease(h));
    EXPECT_EQ(CUDA_SUCCESS, cuMemAddressFree(range, 2 * kChunk));
}

} // namespace
