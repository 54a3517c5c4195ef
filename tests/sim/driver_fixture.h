// SPDX-License-Identifier: Apache-2.0
//
// For tests linked to the simulated driver as a program is: the primary context of device 0, the kernels of
// tests/conformance/kernels.ptx.h, and what most of these tests do with them.
#ifndef PTDS_TESTS_SIM_DRIVER_FIXTURE_H
#define PTDS_TESTS_SIM_DRIVER_FIXTURE_H

#include <vector>

#include "gtest/gtest.h"
#include "interpose/api/cuda_abi.h"
#include "tests/conformance/kernels.ptx.h"
#include "tests/sim/sim_test_api.h"

class Driver : public testing::Test
{
protected:
    void SetUp() override
    {
        ASSERT_EQ(CUDA_SUCCESS, cuInit(0));
        ASSERT_EQ(CUDA_SUCCESS, cuDevicePrimaryCtxRetain(&ctx_, 0));
        ASSERT_EQ(CUDA_SUCCESS, cuCtxSetCurrent(ctx_));
        ASSERT_EQ(CUDA_SUCCESS, cuModuleLoadData(&module_, ptds_test_ptx));
    }
    void TearDown() override
    {
        EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(module_));
        EXPECT_EQ(CUDA_SUCCESS, cuDevicePrimaryCtxRelease_v2(0));
    }
    CUfunction Kernel(const char *name)
    {
        CUfunction f = nullptr;
        EXPECT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&f, module_, name)) << name;
        return f;
    }
    CUresult Launch(CUfunction f, CUstream s, std::vector<void *> parameters)
    {
        return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, parameters.data(), nullptr);
    }
    // A kernel that runs until Open(the word); the host sees the word.
    uint32_t *Gate(CUstream s)
    {
        uint32_t *word = nullptr;
        EXPECT_EQ(CUDA_SUCCESS, cuMemHostAlloc(reinterpret_cast<void **>(&word), 64, 0));
        EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("gate"), s, {&word}));
        return word;
    }
    void Open(uint32_t *word)
    {
        __atomic_store_n(word, 1, __ATOMIC_RELEASE);
    }
    CUdeviceptr Words(uint32_t n, uint32_t value)
    {
        CUdeviceptr p = 0;
        EXPECT_EQ(CUDA_SUCCESS, cuMemAlloc_v2(&p, n * sizeof(uint32_t)));
        EXPECT_EQ(CUDA_SUCCESS, cuMemsetD32_v2(p, value, n));
        return p;
    }
    uint32_t Read(CUdeviceptr p)
    {
        uint32_t word = 0;
        EXPECT_EQ(CUDA_SUCCESS, cuMemcpyDtoH_v2(&word, p, sizeof word));
        return word;
    }
    CUcontext ctx_ = nullptr;
    CUmodule module_ = nullptr;
};

#endif
