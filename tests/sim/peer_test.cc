// SPDX-License-Identifier: Apache-2.0
//
// Copies between two devices: their bytes, and which other work they are ordered with.
#include "tests/sim/driver_fixture.h"

namespace
{

class Peers : public Driver
{
protected:
    void SetUp() override
    {
        Driver::SetUp();
        here_ = Words(4, 1);
        ASSERT_EQ(CUDA_SUCCESS, cuCtxCreate_v2(&other_, 0, 1));
        ASSERT_EQ(CUDA_SUCCESS, cuModuleLoadData(&there_module_, ptds_test_ptx));
        ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&there_blocking_, 0));
        there_ = Words(4, 1);
        EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
        EXPECT_EQ(CUDA_SUCCESS, cuMemHostAlloc(reinterpret_cast<void **>(&gate_), 64, CU_MEMHOSTALLOC_PORTABLE));
        EXPECT_EQ(CUDA_SUCCESS, cuCtxSetCurrent(ctx_));
        EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    }
    void TearDown() override
    {
        EXPECT_EQ(CUDA_SUCCESS, cuCtxDestroy_v2(other_));
        EXPECT_EQ(CUDA_SUCCESS, cuCtxSetCurrent(ctx_));
        EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(here_));
        Driver::TearDown();
    }
    // On a blocking stream of the other device, behind a gate: all its words become 2.
    void FillThereLater()
    {
        CUfunction gate = nullptr;
        EXPECT_EQ(CUDA_SUCCESS, cuCtxSetCurrent(other_));
        EXPECT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&gate, there_module_, "gate"));
        EXPECT_EQ(CUDA_SUCCESS, Launch(gate, there_blocking_, {&gate_}));
        EXPECT_EQ(CUDA_SUCCESS, cuMemsetD32Async(there_, 2, 4, there_blocking_));
        EXPECT_EQ(CUDA_SUCCESS, cuCtxSetCurrent(ctx_));
    }
    CUcontext other_ = nullptr;
    CUmodule there_module_ = nullptr;
    CUstream there_blocking_ = nullptr;
    CUdeviceptr here_ = 0, there_ = 0;
    uint32_t *gate_ = nullptr;
};

TEST_F(Peers, ASynchronousOneComesAfterBothContextsWork)
{
    FillThereLater();
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyPeer(here_, ctx_, there_, other_, 16));
    EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(nullptr)); /* the host does not wait */
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSetCurrent(other_));
    EXPECT_EQ(CUDA_SUCCESS, cuMemsetD32Async(there_, 3, 4, there_blocking_)); /* and this after the copy */
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSetCurrent(ctx_));
    Open(gate_);
    EXPECT_EQ(2u, Read(here_ + 12));
}

TEST_F(Peers, LaterWorkThereComesAfterIt)
{
    uint32_t *gate = Gate(nullptr); /* holds the copy back, here */
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyPeer(here_, ctx_, there_, other_, 16));
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSetCurrent(other_));
    EXPECT_EQ(CUDA_SUCCESS, cuMemsetD32Async(there_, 3, 4, there_blocking_));
    EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(there_blocking_));
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSetCurrent(ctx_));
    Open(gate);
    EXPECT_EQ(1u, Read(here_));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFreeHost(gate));
}

TEST_F(Peers, AnAsynchronousOneIsWorkOfItsStreamOnly)
{
    FillThereLater();
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyPeerAsync(here_, ctx_, there_, other_, 16, nullptr));
    EXPECT_EQ(1u, Read(here_)); /* would never end if it waited */
    Open(gate_);
}

TEST_F(Peers, InThreeDimensions)
{
    CUDA_MEMCPY3D_PEER p = {};
    p.srcMemoryType = p.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    p.srcDevice = there_, p.dstDevice = here_, p.srcContext = other_, p.dstContext = ctx_;
    p.srcPitch = p.dstPitch = 8, p.srcXInBytes = 4, p.WidthInBytes = 4, p.Height = 2, p.Depth = 1;
    FillThereLater();
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpy3DPeer(&p));
    Open(gate_);
    EXPECT_EQ(2u, Read(here_));
    EXPECT_EQ(1u, Read(here_ + 4));
    EXPECT_EQ(2u, Read(here_ + 8));
    EXPECT_EQ(CUDA_SUCCESS, cuMemsetD32_v2(here_, 9, 4));
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpy3DPeerAsync(&p, nullptr));
    EXPECT_EQ(2u, Read(here_ + 8));
    EXPECT_EQ(9u, Read(here_ + 12));
    p.srcContext = nullptr;
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuMemcpy3DPeerAsync(&p, nullptr));
}

} // namespace
