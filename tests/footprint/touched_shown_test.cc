/* SPDX-License-Identifier: Apache-2.0
 *
 * What the guard is told of memory that is about to be unmapped, and of memory that the host or others can touch from then
 * on.
 */
#include <unistd.h>

#include "tests/footprint/touched.h"

namespace
{

constexpr size_t chunk = 2 << 20;

class Shown : public Touched
{
protected:
    CUmemGenericAllocationHandle one_ = 0, two_ = 0;
    CUdeviceptr range_ = 0;

    /* Two chunks side by side. */
    void SetUp() override
    {
        CUmemAllocationProp about = {};
        about.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        about.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        about.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        CU(cuMemCreate(&one_, chunk, &about, 0));
        CU(cuMemCreate(&two_, chunk, &about, 0));
        CU(cuMemAddressReserve(&range_, 2 * chunk, 0, 0, 0));
        CU(cuMemMap(range_, chunk, 0, one_, 0));
        CU(cuMemMap(range_ + chunk, chunk, 0, two_, 0));
        allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
        name("one", range_);
        name("two", range_ + chunk);
        names[watch_reservation(range_)] = "all";
        watch_leaves = watch_shows = 0;
    }
    void TearDown() override
    {
        Touched::TearDown();
        cuMemUnmap(range_, 2 * chunk);
        CU(cuMemRelease(one_));
        CU(cuMemRelease(two_));
        CU(cuMemAddressFree(range_, 2 * chunk));
    }
    void allow(CUmemAccess_flags flags, CUmemLocationType where = CU_MEM_LOCATION_TYPE_DEVICE)
    {
        const CUmemAccessDesc access = {{.type = where, .id = 0}, flags};
        CU(cuMemSetAccess(range_, 2 * chunk, &access, 1));
    }
    std::string leaving()
    {
        if (watch_leaves == 0)
            return "nothing";
        EXPECT_EQ(1u, watch_leaves);
        watch_leaves = 0;
        last = watch_leaving;
        return text();
    }
    /* By their names, in the order in which it was told. */
    std::string shown()
    {
        std::string line;
        for (unsigned i = 0; i < watch_shows; i++)
            line += (i ? " " : "") + (names.count(watch_shown[i]) ? names[watch_shown[i]] : "?");
        watch_shows = 0;
        return line;
    }
};

TEST_F(Shown, WhatIsUnmapped)
{
    CU(cuMemUnmap(range_ + chunk, chunk));
    EXPECT_EQ("w two[0,2097152) w all[2097152,4194304)", leaving());
    EXPECT_EQ(nullptr, watch_find(range_ + chunk));
    EXPECT_NE(CUDA_SUCCESS, cuMemUnmap(range_ + chunk, chunk));
    EXPECT_EQ("!OTHER", leaving()) << "memory that nobody has seen being mapped";
    CU(cuMemMap(range_ + chunk, chunk, 0, two_, 0));
    CU(cuMemUnmap(range_, 2 * chunk));
    EXPECT_EQ("w one[0,2097152) w all[0,4194304) w two[0,2097152)", leaving());
    TOUCHES(cuMemsetD8Async(device("a"), 0, 8, nullptr), "w a[0,8)");
}

TEST_F(Shown, AccessThatIsTakenAway)
{
    allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    EXPECT_EQ("nothing", leaving());
    allow(CU_MEM_ACCESS_FLAGS_PROT_READ);
    EXPECT_EQ("r one[0,2097152) r all[0,4194304) r two[0,2097152)", leaving());
    allow(CU_MEM_ACCESS_FLAGS_PROT_NONE);
    EXPECT_EQ("w one[0,2097152) w all[0,4194304) w two[0,2097152)", leaving());
    const CUmemAccessDesc both[] = {{{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}, CU_MEM_ACCESS_FLAGS_PROT_NONE},
                                    {{.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 1}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
    CU(cuMemSetAccess(range_, chunk, both, 2));
    EXPECT_EQ("w one[0,2097152) w all[0,2097152)", leaving());
    EXPECT_NE(CUDA_SUCCESS, cuMemSetAccess(range_, chunk, nullptr, 1));
    EXPECT_EQ("nothing", leaving());
    allow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

TEST_F(Shown, WhatTheHostIsLetTo)
{
    allow(CU_MEM_ACCESS_FLAGS_PROT_NONE, CU_MEM_LOCATION_TYPE_HOST);
    EXPECT_EQ("", shown());
    allow(CU_MEM_ACCESS_FLAGS_PROT_READ, CU_MEM_LOCATION_TYPE_HOST);
    EXPECT_EQ("one all two all", shown());
    EXPECT_EQ(1, watch_find(range_)->host & watch_reservation(range_)->host & 1);
}

TEST_F(Shown, WhatOthersGet)
{
    CUdeviceptr a = device("a"), b = device("b");
    CUipcMemHandle handle;
    int descriptor = -1;
    unsigned synchronous = 1;
    EXPECT_EQ("", shown());
    CU(cuIpcGetMemHandle(&handle, a));
    EXPECT_EQ("a", shown());
    EXPECT_EQ(1, watch_find(a)->host & 1);
    CU(cuIpcGetMemHandle(&handle, a));
    EXPECT_EQ("a", shown()) << "another thread's call may not be over";
    CU(cuMemExportToShareableHandle(&descriptor, two_, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    close(descriptor);
    EXPECT_EQ("two all", shown());
    CU(cuPointerSetAttribute(&synchronous, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, b));
    EXPECT_EQ("b", shown());
    EXPECT_NE(CUDA_SUCCESS, cuIpcGetMemHandle(nullptr, b));
    EXPECT_EQ("", shown());
}

/* Other processes may store pointers there at any time, whatever copies brought. */
TEST_F(Shown, WhatIsShownMayHoldAnyPointers)
{
    CUdeviceptr table = device("table"), a = device("a"), b = device("b");
    CUipcMemHandle handle;
    CUfunction reads = that_does("t");
    CU(cuMemcpyHtoD(table, &a, 8));
    EXPECT_EQ(launch(reads, table), "r table r a");
    EXPECT_EQ(launch(reads, b), "r b");
    CU(cuIpcGetMemHandle(&handle, table));
    EXPECT_EQ("table", shown());
    EXPECT_EQ(launch(reads, table), "!POINTERS");
    CU(cuMemcpyHtoD(table, &a, 8));
    EXPECT_EQ(launch(reads, table), "!POINTERS");
    EXPECT_EQ(launch(reads, b), "!POINTERS") << "by what it reaches, anything may have been written";
    CU(cuCtxSynchronize());
}

} // namespace
