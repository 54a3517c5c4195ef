/* SPDX-License-Identifier: Apache-2.0
 *
 * The launches' doors (doors/quick.c): which launches they send the short way, and what the driver then gets.
 */
#include "tests/guard/launcher.h"

#include <cstring>

extern "C" {
#include "interpose/doors/doors.h"
#include "interpose/footprint/memories.h"
}

namespace
{

/* What the driver got, or the wrapper in its place. */
struct Got {
    int driver, wrapper;
    CUstream stream;
    unsigned shape[7];
    void **params, **extra;
    uint32_t gate;
} g_got;

void shape_of(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared)
{
    const unsigned shape[7] = {gx, gy, gz, bx, by, bz, shared};
    memcpy(g_got.shape, shape, sizeof shape);
}

CUresult driver_launch(CUfunction, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                       unsigned shared, CUstream stream, void **params, void **extra)
{
    g_got.driver++;
    g_got.stream = stream;
    g_got.params = params;
    g_got.extra = extra;
    g_got.gate = rails[thread_self->last_context->lanes[0]].gate;
    shape_of(gx, gy, gz, bx, by, bz, shared);
    return CUDA_ERROR_NOT_READY; /* one that nobody makes up */
}

CUresult driver_launch_ex(const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
    return driver_launch(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ,
                         c->sharedMemBytes, c->hStream, params, extra);
}

CUresult wrapper_launch(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream stream,
                        void **, void **extra)
{
    g_got.wrapper++;
    g_got.stream = stream;
    g_got.extra = extra;
    return CUDA_SUCCESS;
}

CUresult wrapper_launch_ex(const CUlaunchConfig *config, CUfunction, void **, void **extra)
{
    g_got.wrapper++;
    g_got.stream = config ? config->hStream : nullptr;
    g_got.extra = extra;
    return CUDA_SUCCESS;
}

class Launches : public Short
{
protected:
    void SetUp() override
    {
        Short::SetUp();
        driver_real[API_cuLaunchKernel][0] = reinterpret_cast<void *>(driver_launch);
        driver_real[API_cuLaunchKernelEx][0] = reinterpret_cast<void *>(driver_launch_ex);
        door_go[API_cuLaunchKernel][0] = reinterpret_cast<void *>(wrapper_launch);
        door_go[API_cuLaunchKernelEx][0] = reinterpret_cast<void *>(wrapper_launch_ex);
        quick_launches(0);
        g_got = {};
    }
    static CUresult launch(CUstream stream, void **extra)
    {
        const auto door = reinterpret_cast<__typeof__(&driver_launch)>(door_go[API_cuLaunchKernel][0]);
        return door(kFunction, 1, 2, 3, 4, 5, 6, 7, stream, nullptr, extra);
    }
    static CUresult launch_ex(const CUlaunchConfig *config, void **extra)
    {
        const auto door = reinterpret_cast<__typeof__(&driver_launch_ex)>(door_go[API_cuLaunchKernelEx][0]);
        return door(config, kFunction, nullptr, extra);
    }
    static CUlaunchConfig config()
    {
        CUlaunchConfig config = {};
        config.gridDimX = 1, config.gridDimY = 2, config.gridDimZ = 3;
        config.blockDimX = 4, config.blockDimY = 5, config.blockDimZ = 6;
        config.sharedMemBytes = 7;
        return config;
    }
    void went_to_lane() const
    {
        EXPECT_EQ(1, g_got.driver);
        EXPECT_EQ(0, g_got.wrapper);
        EXPECT_EQ(rails[a_->lane()].handle, g_got.stream);
        for (unsigned i = 0; i < 7; i++)
            EXPECT_EQ(i + 1, g_got.shape[i]);
        g_got = {};
    }
    static void went_long()
    {
        EXPECT_EQ(0, g_got.driver);
        EXPECT_EQ(1, g_got.wrapper);
        g_got = {};
    }
};

TEST_F(Launches, OnTheDefaultStreamGoToTheLane)
{
    EXPECT_EQ(CUDA_ERROR_NOT_READY, launch(nullptr, nullptr));
    went_to_lane();
    const CUlaunchConfig plain = config();
    EXPECT_EQ(CUDA_ERROR_NOT_READY, launch_ex(&plain, nullptr));
    EXPECT_EQ(nullptr, plain.hStream) << "the program's";
    went_to_lane();
}

TEST_F(Launches, OnAnyOtherStreamDoNot)
{
    for (CUstream stream : {CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUstream(0x100)}) {
        EXPECT_EQ(CUDA_SUCCESS, launch(stream, nullptr));
        EXPECT_EQ(stream, g_got.stream);
        went_long();
        CUlaunchConfig on = config();
        on.hStream = stream;
        EXPECT_EQ(CUDA_SUCCESS, launch_ex(&on, nullptr));
        EXPECT_EQ(stream, g_got.stream);
        went_long();
    }
}

/* Attributes may ask for an event, for another order, or for what nobody knows yet. */
TEST_F(Launches, WithAnythingUnusualDoNot)
{
    void *extra[] = {CU_LAUNCH_PARAM_END};
    launch(nullptr, extra);
    EXPECT_EQ(extra, g_got.extra);
    went_long();
    CUlaunchConfig unusual = config();
    launch_ex(&unusual, extra);
    EXPECT_EQ(extra, g_got.extra);
    went_long();
    CUlaunchAttribute attribute = {};
    unusual.attrs = &attribute;
    unusual.numAttrs = 1;
    launch_ex(&unusual, nullptr);
    went_long();
    launch_ex(nullptr, nullptr);
    went_long();
    kernel_.plain = 0;
    const CUlaunchConfig plain = config();
    launch(nullptr, nullptr);
    went_long();
    launch_ex(&plain, nullptr);
    went_long();
    kernel_.plain = 1;
}

TEST_F(Launches, HaveTheGateUntilTheDriverHasThem)
{
    static struct memory_object variables = {make_memory(88), 1, 0, 0, 0, nullptr, nullptr, nullptr};
    const CUlaunchConfig plain = config();
    warm(a_.get(), &variables.memory);
    module_.memory = &variables.memory;
    module_.writes = 1;
    for (int ex = 0; ex < 2; ex++) {
        ex ? launch_ex(&plain, nullptr) : launch(nullptr, nullptr);
        EXPECT_EQ(uint32_t{GATE_HELD | GATE_QUICK}, g_got.gate);
        went_to_lane();
        EXPECT_EQ(0u, rails[a_->lane()].gate);
        EXPECT_EQ(0u, a_->thread.held);
    }
    module_.memory = nullptr;
}

} // namespace
