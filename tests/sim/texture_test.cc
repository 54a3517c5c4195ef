// SPDX-License-Identifier: Apache-2.0
//
// Texture and surface objects: what they stand for, and kernels that read and write through them.
#include "tests/conformance/textures.ptx.h"
#include "tests/sim/driver_fixture.h"

namespace
{

class Textures : public Driver
{
protected:
    void SetUp() override
    {
        Driver::SetUp();
        ASSERT_EQ(CUDA_SUCCESS, cuModuleLoadData(&textures_, ptds_textures_ptx));
        ASSERT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&tex_copy_, textures_, "tex_copy"));
        ASSERT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&surf_add_, textures_, "surf_add"));
    }
    void TearDown() override
    {
        EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(textures_));
        Driver::TearDown();
    }
    CUDA_RESOURCE_DESC Linear(CUdeviceptr p, size_t bytes)
    {
        CUDA_RESOURCE_DESC d = {};
        d.resType = CU_RESOURCE_TYPE_LINEAR;
        d.res.linear = {p, CU_AD_FORMAT_UNSIGNED_INT32, 1, bytes};
        return d;
    }
    CUarray Array(size_t words, unsigned int flags)
    {
        CUarray a = nullptr;
        CUDA_ARRAY3D_DESCRIPTOR d = {};
        d.Width = words, d.Format = CU_AD_FORMAT_UNSIGNED_INT32, d.NumChannels = 1, d.Flags = flags;
        EXPECT_EQ(CUDA_SUCCESS, cuArray3DCreate_v2(&a, &d));
        return a;
    }
    CUDA_RESOURCE_DESC Of(CUarray a)
    {
        CUDA_RESOURCE_DESC d = {};
        d.resType = CU_RESOURCE_TYPE_ARRAY;
        d.res.array.hArray = a;
        return d;
    }
    CUmodule textures_ = nullptr;
    CUfunction tex_copy_ = nullptr, surf_add_ = nullptr;
    CUDA_TEXTURE_DESC how_ = {};
};

TEST_F(Textures, ATextureOfLinearMemoryReadsIt)
{
    CUtexObject texture = 0;
    CUDA_RESOURCE_DESC told;
    CUDA_TEXTURE_DESC how;
    CUDA_RESOURCE_VIEW_DESC view;
    uint32_t n = 9;
    CUdeviceptr words = Words(128, 0), dst = Words(16, 99);
    CUDA_RESOURCE_DESC d = Linear(words, 32);
    ASSERT_EQ(CUDA_SUCCESS, cuTexObjectCreate(&texture, &d, &how_, nullptr));
    EXPECT_EQ(CUDA_SUCCESS, cuTexObjectGetResourceDesc(&told, texture));
    EXPECT_EQ(words, told.res.linear.devPtr);
    EXPECT_EQ(32u, told.res.linear.sizeInBytes);
    EXPECT_EQ(CUDA_SUCCESS, cuTexObjectGetTextureDesc(&how, texture));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuTexObjectGetResourceViewDesc(&view, texture));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuSurfObjectGetResourceDesc(&told, texture));
    EXPECT_EQ(CUDA_SUCCESS, cuMemsetD32_v2(words, 6, 9));
    EXPECT_EQ(CUDA_SUCCESS, Launch(tex_copy_, nullptr, {&dst, &texture, &n}));
    EXPECT_EQ(6u, Read(dst));
    EXPECT_EQ(6u, Read(dst + 28));
    EXPECT_EQ(0u, Read(dst + 32)); /* outside of the texture */
    EXPECT_EQ(99u, Read(dst + 36));
    EXPECT_EQ(CUDA_SUCCESS, cuTexObjectDestroy(texture));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy(texture));
    d = Linear(words + 4, 32);
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &d, &how_, nullptr));
    d = Linear(words, 4096);
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &d, &how_, nullptr));
    for (CUdeviceptr p : {words, dst})
        EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(p));
}

TEST_F(Textures, AnArrayAsTextureAndSurface)
{
    CUtexObject texture = 0;
    CUsurfObject surface = 0;
    CUarray array = Array(4, CUDA_ARRAY3D_SURFACE_LDST), plain = Array(4, 0);
    CUDA_RESOURCE_DESC d = Of(array), told;
    uint32_t n = 4, three[4] = {3, 3, 3, 3}, got[4] = {};
    CUdeviceptr dst = Words(4, 0);
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyHtoA_v2(array, 0, three, sizeof three));
    ASSERT_EQ(CUDA_SUCCESS, cuTexObjectCreate(&texture, &d, &how_, nullptr));
    ASSERT_EQ(CUDA_SUCCESS, cuSurfObjectCreate(&surface, &d));
    EXPECT_NE(texture, surface);
    EXPECT_EQ(CUDA_SUCCESS, cuSurfObjectGetResourceDesc(&told, surface));
    EXPECT_EQ(array, told.res.array.hArray);
    EXPECT_EQ(CUDA_SUCCESS, Launch(surf_add_, nullptr, {&surface, &n}));
    EXPECT_EQ(CUDA_SUCCESS, Launch(tex_copy_, nullptr, {&dst, &texture, &n}));
    EXPECT_EQ(4u, Read(dst + 12));
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyAtoH_v2(got, array, 0, sizeof got));
    EXPECT_EQ(4u, got[3]);
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuSurfObjectDestroy(texture));
    EXPECT_EQ(CUDA_SUCCESS, cuSurfObjectDestroy(surface));
    EXPECT_EQ(CUDA_SUCCESS, cuTexObjectDestroy(texture));
    d = Of(plain);
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(&surface, &d)); /* not made for it */
    d = Linear(dst, 16);
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuSurfObjectCreate(&surface, &d));
    for (CUarray a : {array, plain})
        EXPECT_EQ(CUDA_SUCCESS, cuArrayDestroy(a));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(dst));
}

} // namespace
