// SPDX-License-Identifier: Apache-2.0
//
// A thread that chooses its lanes by itself: when it measures, when it spreads, and when it leaves that alone.
#include <gtest/gtest.h>
#include <unistd.h>

extern "C" {
#include "interpose/env/env.h"
#include "interpose/guard/carry_out/lanes_auto.h"
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/decide/lanes_choice.h"
}

#include "tests/guard/caller.h"

namespace
{

class LanesAuto : public testing::Test
{
protected:
    void SetUp() override
    {
        static uintptr_t handle = 0x900000;
        install_driver();
        g_current = CUcontext(handle += 0x100);
        context_ = contexts_get(g_current);
        ASSERT_EQ(1u, pool_streams_make(context_, 1, 0, 0, 0));
    }
    void TearDown() override
    {
        pool_context_gone(context_);
    }
    static unsigned launch(Caller *caller, struct memory *memory, uint64_t attributes = 0)
    {
        caller->fill(API_cuLaunchKernel, PTDS_OP_LAUNCH, memory);
        caller->call.word[2] = attributes << 48;
        EXPECT_EQ(1, guard_default_work(&caller->call, 0, 0));
        unsigned lane = caller->call.guarded.lane;
        opaque_ = caller->call.touched.opaque;
        caller->end();
        return lane;
    }
    /* The host waits for all, for most of the round's time. */
    static void wait(Caller *caller)
    {
        usleep(2000);
        caller->fill(API_cuCtxSynchronize, PTDS_OP_CTX_SYNC, nullptr);
        caller->call.guarded.kind = 0;
        caller->call.result = CUDA_SUCCESS;
        around_call_enter(&caller->call);
        around_call_learn(&caller->call);
    }
    void round(Caller *caller)
    {
        launch(caller, &m_);
        launch(caller, &n_);
        wait(caller);
    }
    struct context *context_ = nullptr;
    struct memory m_ = make_memory(1), n_ = make_memory(2);
    static inline unsigned opaque_;
};

TEST_F(LanesAuto, SpreadsAfterTwoRoundsInWhichWorkWasApart)
{
    Caller one(context_);
    launch(&one, &m_);
    EXPECT_EQ(1, one.here.measured);
    EXPECT_EQ(launch(&one, &m_), launch(&one, &n_)) << "one lane at first";
    wait(&one);
    round(&one);
    round(&one);
    ASSERT_EQ(LANES_MANY, one.thread.choice->mode);
    EXPECT_NE(launch(&one, &m_), launch(&one, &n_));
    EXPECT_LT(1u, one.here.lane_count);
    EXPECT_EQ(0u, opaque_);
}

TEST_F(LanesAuto, ACooperativeKernelRunsAlone)
{
    Caller one(context_);
    launch(&one, &m_, PTDS_LAUNCH_COOPERATIVE);
    EXPECT_EQ(0u, opaque_) << "on one lane it does anyway";
    wait(&one);
    round(&one);
    round(&one);
    ASSERT_EQ(LANES_MANY, one.thread.choice->mode);
    launch(&one, &m_);
    launch(&one, &n_, PTDS_LAUNCH_COOPERATIVE);
    EXPECT_NE(0u, opaque_);
}

TEST_F(LanesAuto, OtherThreadsAreReasonEnoughToRest)
{
    Caller one(context_), two(context_);
    launch(&one, &m_);
    launch(&two, &n_);
    EXPECT_EQ(0, two.here.measured);
    EXPECT_EQ(LANES_REST, two.thread.choice->mode);
    launch(&one, &m_);
    EXPECT_EQ(0, one.here.measured) << "it looks again in the same round";
}

TEST_F(LanesAuto, AThreadChoosesInOneContextUntilThatIsGone)
{
    Caller one(context_);
    launch(&one, &m_);
    struct context *other = contexts_get(CUcontext(0xabc000));
    ASSERT_EQ(1u, pool_streams_make(other, 1, 0, 0, 0));
    Caller there(other);
    there.thread.choosing = &one.here;
    there.thread.choice = one.thread.choice;
    launch(&there, &n_);
    EXPECT_EQ(0, there.here.measured);
    one.here.context_uid++; /* as if the context's place were another one's */
    launch(&there, &n_);
    EXPECT_EQ(1, there.here.measured);
    EXPECT_EQ(&there.here, there.thread.choosing);
    lanes_auto_thread_ends(&there.thread);
    EXPECT_EQ(nullptr, there.thread.choosing);
    pool_context_gone(other);
}

} // namespace
