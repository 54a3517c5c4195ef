/* SPDX-License-Identifier: Apache-2.0
 *
 * The launches' doors (doors/quick_launches.c), where nothing is recorded and where launches are: which launches they send
 * the short way, and what the driver then gets.
 */
#include "tests/guard/launcher.h"

#include <cstring>
#include <vector>

extern "C" {
#include "interpose/doors/quick_launches.h"
#include "interpose/doors/wrappers.h"
#include "interpose/base/gate.h"
#include "interpose/footprint/memories.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/record/quick_record.h"
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

CUresult g_result = CUDA_SUCCESS;
struct kernel *g_kernel = nullptr; /* another thread learns meanwhile that it may touch anything */

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
    g_got.gate = issue_lanes[thread_self->last_context->lanes[0]].gate;
    shape_of(gx, gy, gz, bx, by, bz, shared);
    if (g_kernel)
        g_kernel->plain = 0;
    return g_result;
}

CUresult driver_launch_ex(const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
    return driver_launch(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ,
                         c->sharedMemBytes, c->hStream, params, extra);
}

/* Jumped to, so this is the program's call. Where launches are recorded, only calls from places that the thread knows go
 * the short way. */
void knows(const void *caller, const void *const *frame)
{
    if (thread_self->stacks)
        *stacks_entry(thread_self, caller, frame) = {caller, frame, 7, 0, 0, {}, 0};
}

CUresult wrapper_launch(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream stream,
                        void **, void **extra)
{
    knows(__builtin_return_address(0), CALL_FRAME());
    g_got.wrapper++;
    g_got.stream = stream;
    g_got.extra = extra;
    return CUDA_ERROR_NOT_READY;
}

CUresult wrapper_launch_ex(const CUlaunchConfig *config, CUfunction, void **, void **extra)
{
    knows(__builtin_return_address(0), CALL_FRAME());
    g_got.wrapper++;
    g_got.stream = config ? config->hStream : nullptr;
    g_got.extra = extra;
    return CUDA_ERROR_NOT_READY;
}

class Launches : public Short, public testing::WithParamInterface<int>
{
protected:
    void SetUp() override
    {
        Short::SetUp();
        driver_real[API_cuLaunchKernel][0] = reinterpret_cast<void *>(driver_launch);
        driver_real[API_cuLaunchKernelEx][0] = reinterpret_cast<void *>(driver_launch_ex);
        wrappers_go[API_cuLaunchKernel][0] = reinterpret_cast<void *>(wrapper_launch);
        wrappers_go[API_cuLaunchKernelEx][0] = reinterpret_cast<void *>(wrapper_launch_ex);
        quick_launches(GetParam());
        if (GetParam())
            record();
        g_got = {};
    }
    void TearDown() override
    {
        recorder_running = 0;
        Short::TearDown();
    }
    void record()
    {
        if (wrappers_go[API_cuLaunchKernel][0] == reinterpret_cast<void *>(wrapper_launch))
            GTEST_SKIP() << "with a sanitizer recorded launches all go the long way";
        struct thread *thread = &a_->thread;
        thread->chunk = reinterpret_cast<struct ptds_chunk *>(chunk_.data());
        thread->chunk_at = reinterpret_cast<uint8_t *>(thread->chunk + 1);
        thread->chunk_end = reinterpret_cast<uint8_t *>(chunk_.data() + chunk_.size());
        thread->counts = counts_.data();
        thread->defaults = &defaults_;
        thread->stacks = stacks_.data();
        recorder_running = 1;
    }
    /* Twice from one place, which is known the second time. */
    static __attribute__((noinline)) CUresult launch(CUstream stream, void **extra, int times = 2)
    {
        const auto door = reinterpret_cast<__typeof__(&driver_launch)>(wrappers_go[API_cuLaunchKernel][0]);
        CUresult result = CUDA_SUCCESS;
        for (volatile int i = 0; i < times; i = i + 1) {
            g_got = {};
            result = door(kFunction, 1, 2, 3, 4, 5, 6, 7, stream, nullptr, extra);
        }
        return result;
    }
    static __attribute__((noinline)) CUresult launch_ex(const CUlaunchConfig *config, void **extra, int times = 2)
    {
        const auto door = reinterpret_cast<__typeof__(&driver_launch_ex)>(wrappers_go[API_cuLaunchKernelEx][0]);
        CUresult result = CUDA_SUCCESS;
        for (volatile int i = 0; i < times; i = i + 1) {
            g_got = {};
            result = door(config, kFunction, nullptr, extra);
        }
        return result;
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
        EXPECT_EQ(issue_lanes[a_->lane()].handle, g_got.stream);
        for (unsigned i = 0; i < 7; i++)
            EXPECT_EQ(i + 1, g_got.shape[i]);
        EXPECT_EQ(GetParam() != 0, a_->thread.chunk && a_->thread.chunk->committed);
    }
    static void went_long()
    {
        EXPECT_EQ(0, g_got.driver);
        EXPECT_EQ(1, g_got.wrapper);
    }
    std::vector<uint64_t> chunk_ = std::vector<uint64_t>(PTDS_CHUNK_SIZE / 8);
    std::vector<struct ptds_count> counts_{API_COUNT * 2};
    struct ptds_default_count defaults_ = {};
    std::vector<struct stack_entry> stacks_{STACKS_PLACES};
};

TEST_P(Launches, OnTheDefaultStreamGoToTheLane)
{
    EXPECT_EQ(CUDA_SUCCESS, launch(nullptr, nullptr));
    went_to_lane();
    const CUlaunchConfig plain = config();
    EXPECT_EQ(CUDA_SUCCESS, launch_ex(&plain, nullptr));
    EXPECT_EQ(nullptr, plain.hStream) << "the program's";
    went_to_lane();
}

TEST_P(Launches, OnAnyOtherStreamDoNot)
{
    for (CUstream stream : {CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, CUstream(0x100)}) {
        EXPECT_EQ(CUDA_ERROR_NOT_READY, launch(stream, nullptr));
        EXPECT_EQ(stream, g_got.stream);
        went_long();
        CUlaunchConfig on = config();
        on.hStream = stream;
        EXPECT_EQ(CUDA_ERROR_NOT_READY, launch_ex(&on, nullptr));
        EXPECT_EQ(stream, g_got.stream);
        went_long();
    }
}

/* Attributes may ask for an event, for another order, or for what nobody knows yet. */
TEST_P(Launches, WithAnythingUnusualDoNot)
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

TEST_P(Launches, HaveTheGateUntilTheDriverHasThem)
{
    static struct memory_object variables = {make_memory(88), 1, 0, 0, nullptr, nullptr, nullptr};
    const CUlaunchConfig plain = config();
    warm(a_.get(), &variables.memory);
    module_.memory = &variables.memory;
    kernel_.variables = CODE_WRITE;
    for (int ex = 0; ex < 2; ex++) {
        ex ? launch_ex(&plain, nullptr) : launch(nullptr, nullptr);
        EXPECT_EQ(uint32_t{GATE_HELD | GATE_QUICK}, g_got.gate);
        went_to_lane();
        EXPECT_EQ(0u, issue_lanes[a_->lane()].gate);
        EXPECT_EQ(0u, a_->thread.held);
    }
    module_.memory = nullptr;
    kernel_.variables = 0;
}

/* What the driver refuses is written down all the same, from what is known of the kernel by then. */
TEST_P(Launches, ThatFailSayWhatIsStillKnown)
{
    const CUlaunchConfig plain = config();
    const auto flags = [&] {
        const uint8_t *record = a_->thread.chunk_at - sizeof(struct ptds_rec_CALL) - 3 * sizeof(uint64_t); /* its shape */
        return reinterpret_cast<const struct ptds_rec_CALL *>(record)->flags & PTDS_CALL_OPAQUE;
    };
    for (int i = 0; i < 4; i++) {
        i % 2 ? launch_ex(&plain, nullptr) : launch(nullptr, nullptr);
        g_result = CUDA_ERROR_LAUNCH_FAILED;
        g_kernel = i / 2 ? &kernel_ : nullptr;
        EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, i % 2 ? launch_ex(&plain, nullptr, 1) : launch(nullptr, nullptr, 1)) << i;
        g_result = CUDA_SUCCESS;
        g_kernel = nullptr;
        kernel_.plain = 1;
        EXPECT_EQ(1, g_got.driver);
        EXPECT_EQ(i / 2 && GetParam() ? PTDS_CALL_OPAQUE : 0, GetParam() ? flags() : 0) << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Recorded, Launches, testing::Values(0, 1));

} // namespace
