// SPDX-License-Identifier: Apache-2.0
//
// SIM_SMALL_COPIES=overtake: a small copy from pinned memory is read during the call unless its own stream has work. The
// program starts itself again with the variable, which the library reads when it is loaded.
#include <unistd.h>

#include <cstdlib>

#include "tests/sim/driver_fixture.h"

namespace
{

constexpr size_t kSmall = 24576, kLarge = 32768;

class SmallCopies : public Driver
{
protected:
    void SetUp() override
    {
        Driver::SetUp();
        ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&blocking_, 0));
        ASSERT_EQ(CUDA_SUCCESS, cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING));
        ASSERT_EQ(CUDA_SUCCESS, cuMemHostAlloc(reinterpret_cast<void **>(&source_), kLarge, 0));
        dst_ = Words(kLarge / 4, 0);
    }
    void TearDown() override
    {
        EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(dst_));
        EXPECT_EQ(CUDA_SUCCESS, cuMemFreeHost(source_));
        EXPECT_EQ(CUDA_SUCCESS, cuEventDestroy_v2(event_));
        EXPECT_EQ(CUDA_SUCCESS, cuStreamDestroy_v2(blocking_));
        Driver::TearDown();
    }
    // 1 is there; a kernel on `first` makes it 2 when the gate opens; then the copy on `second`. What did it read?
    uint32_t Copied(CUstream first, CUstream second, size_t size, bool by_event = false)
    {
        uint32_t two = 2;
        EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
        source_[0] = 1;
        uint32_t *gate = Gate(first);
        EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("mark"), first, {&source_, &two}));
        if (by_event) {
            EXPECT_EQ(CUDA_SUCCESS, cuEventRecord(event_, first));
            EXPECT_EQ(CUDA_SUCCESS, cuStreamWaitEvent(second, event_, 0));
        }
        EXPECT_EQ(CUDA_SUCCESS, cuMemcpyHtoDAsync_v2(dst_, source_, size, second));
        EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(second)); /* the copy itself is in its place */
        Open(gate);
        EXPECT_EQ(CUDA_SUCCESS, cuMemFreeHost(gate));
        return Read(dst_);
    }
    CUstream blocking_ = nullptr;
    CUevent event_ = nullptr;
    uint32_t *source_ = nullptr;
    CUdeviceptr dst_ = 0;
};

TEST_F(SmallCopies, OvertakeImplicitOrderOnly)
{
    const CUstream own = CU_STREAM_PER_THREAD, legacy = nullptr;
    const CUstream pairs[][2] = {{legacy, blocking_}, {legacy, own}, {blocking_, legacy}, {own, legacy}};
    for (const auto &p : pairs) {
        EXPECT_EQ(1u, Copied(p[0], p[1], 4));
        EXPECT_EQ(1u, Copied(p[0], p[1], kSmall));
        EXPECT_EQ(2u, Copied(p[0], p[1], kLarge));
        EXPECT_EQ(2u, Copied(p[0], p[1], 4, true));
        EXPECT_EQ(2u, Copied(p[0], p[0], 4));
    }
}

TEST_F(SmallCopies, FromPageableMemoryNothingChanges)
{
    uint32_t *gate = Gate(nullptr), word = 5;
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyHtoDAsync_v2(dst_, &word, 4, blocking_));
    Open(gate);
    EXPECT_EQ(5u, Read(dst_));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFreeHost(gate));
}

} // namespace

int main(int argc, char **argv)
{
    if (!getenv("SIM_SMALL_COPIES")) {
        setenv("SIM_SMALL_COPIES", "overtake", 1);
        execv("/proc/self/exe", argv);
        return 127;
    }
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
