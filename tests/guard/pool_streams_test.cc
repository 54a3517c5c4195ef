/* SPDX-License-Identifier: Apache-2.0
 *
 * The streams and events that the guard makes for a context ahead of need: how they are asked for, what is said of them,
 * and what comes of a driver that refuses.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string>
#include <vector>

extern "C" {
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/lane_streams.h"
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/carry_out/pool_streams.h"
#include "interpose/state/capture.h"
#include "interpose/state/hooks.h"
}

#include "tests/guard/caller.h"

namespace
{

std::vector<std::string> g_said; /* what the driver was asked, and what was said of streams */
int g_left;                      /* streams that the driver still makes */
std::function<void()> g_meanwhile;

std::string named(const void *handle)
{
    return std::to_string(reinterpret_cast<uintptr_t>(handle));
}

CUresult made(CUstream *stream, const std::string &how)
{
    if (g_left-- <= 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (g_meanwhile) {
        std::function<void()> meanwhile;
        meanwhile.swap(g_meanwhile);
        meanwhile();
    }
    make_stream(stream, 0);
    g_said.push_back(how);
    errno = EIO;
    return CUDA_SUCCESS;
}
CUresult create(CUstream *stream, unsigned flags)
{
    return made(stream, "create " + std::to_string(flags));
}
CUresult create_with_priority(CUstream *stream, unsigned flags, int priority)
{
    return made(stream, "create " + std::to_string(flags) + " priority " + std::to_string(priority));
}
CUresult destroy(CUstream)
{
    g_said.push_back("destroy");
    return CUDA_SUCCESS;
}
CUresult recorder_on(CUevent, CUstream stream)
{
    g_said.push_back("record on " + named(stream));
    return CUDA_SUCCESS;
}
CUresult refuse_to_record(CUevent, CUstream)
{
    return CUDA_ERROR_INVALID_HANDLE;
}
CUresult wait(CUstream, CUevent, unsigned flags)
{
    g_said.push_back("wait " + std::to_string(flags));
    return CUDA_SUCCESS;
}
void seen(struct call *, uint32_t, CUstream, const struct context *, uint32_t kind, enum ptds_life life, int priority)
{
    g_said.push_back("stream " + std::to_string(kind) + " " + std::to_string(life) + " priority " +
                     std::to_string(priority));
}

class PoolStreams : public testing::Test
{
protected:
    using Said = std::vector<std::string>;
    void SetUp() override
    {
        install_driver();
        driver_real[API_cuStreamCreate][0] = reinterpret_cast<void *>(create);
        driver_real[API_cuStreamCreateWithPriority][0] = reinterpret_cast<void *>(create_with_priority);
        driver_real[API_cuStreamDestroy_v2][0] = reinterpret_cast<void *>(destroy);
        driver_real[API_cuEventRecord][0] = reinterpret_cast<void *>(recorder_on);
        driver_real[API_cuStreamWaitEvent][0] = reinterpret_cast<void *>(wait);
        state_hooks.stream_seen = seen;
        g_left = 100;
        context_ = fresh();
        pool_of(context_);
        g_said.clear();
    }
    void TearDown() override
    {
        state_hooks = {};
        for (struct context *context : contexts_)
            pool_context_gone(context);
        install_driver();
    }
    struct context *fresh()
    {
        static uintptr_t handle = 0x200000;
        g_current = CUcontext(handle += 0x100);
        contexts_.push_back(contexts_get(g_current));
        return contexts_.back();
    }
    std::vector<struct context *> contexts_;
    struct context *context_ = nullptr;
};

TEST_F(PoolStreams, AreMadeOnce)
{
    EXPECT_FALSE(pool_streams_are_made(context_));
    errno = ENOTTY;
    EXPECT_EQ(2u, pool_streams_make(context_, 2, CU_STREAM_DEFAULT, 0, 0));
    EXPECT_EQ(ENOTTY, errno);
    EXPECT_TRUE(pool_streams_are_made(context_));
    EXPECT_EQ((Said{"create 0", "stream 5 2 priority 0", "create 0", "stream 5 2 priority 0"}), g_said);
    const uint32_t events = context_->pool->events;
    EXPECT_EQ(32u, events);
    g_said.clear();
    EXPECT_EQ(2u, pool_streams_make(context_, 2, CU_STREAM_DEFAULT, 0, 0));
    EXPECT_EQ(Said{}, g_said);
    EXPECT_EQ(3u, pool_streams_make(context_, 3, CU_STREAM_DEFAULT, 0, 0));
    EXPECT_EQ(2u, g_said.size());
    EXPECT_EQ(events, context_->pool->events) << "which are made with the first";
}

/* What was set on the default stream before is set on those that come later. */
TEST_F(PoolStreams, WithAttributes)
{
    driver_real[API_cuStreamCopyAttributes][0] = reinterpret_cast<void *>(+[](CUstream to, CUstream from) {
        g_said.push_back("as " + named(from) + ": " + named(to));
        errno = EIO;
        return CUDA_SUCCESS;
    });
    ASSERT_EQ(2u, pool_streams_make(context_, 2, CU_STREAM_DEFAULT, 0, 0));
    EXPECT_EQ(4u, g_said.size());
    pool_streams_each(
        context_, [](CUstream, void *) {}, nullptr);
    g_said.clear();
    errno = ENOTTY;
    EXPECT_EQ(3u, pool_streams_make(context_, 3, CU_STREAM_DEFAULT, 0, 0));
    EXPECT_EQ(ENOTTY, errno);
    EXPECT_EQ((Said{"create 0", "as " + named(context_->pool->at[0].handle) + ": " + named(context_->pool->at[2].handle),
                    "stream 5 2 priority 0"}),
              g_said);
}

TEST_F(PoolStreams, WithAPriority)
{
    EXPECT_EQ(1u, pool_streams_make(context_, 1, CU_STREAM_DEFAULT, 1, -3));
    EXPECT_EQ((Said{"create 0 priority -3", "stream 5 2 priority -3"}), g_said);
}

/* Such a stream does not wait for the legacy stream by itself: it comes after what is there already. */
TEST_F(PoolStreams, ThatDoNotBlock)
{
    EXPECT_EQ(1u, pool_streams_make(context_, 1, CU_STREAM_NON_BLOCKING, 0, 0));
    EXPECT_EQ((Said{"create 1", "record on 1", "wait 0", "stream 6 2 priority 0"}), g_said);
    const uint32_t events = context_->pool->events;
    driver_real[API_cuEventRecord][0] = reinterpret_cast<void *>(refuse_to_record);
    g_said.clear();
    EXPECT_EQ(2u, pool_streams_make(context_, 2, CU_STREAM_NON_BLOCKING, 0, 0));
    EXPECT_EQ((Said{"create 1", "stream 6 2 priority 0"}), g_said);
    EXPECT_EQ(events, context_->pool->events) << "each is given back";
}

TEST_F(PoolStreams, OfADriverThatRefuses)
{
    g_left = 2;
    EXPECT_EQ(2u, pool_streams_make(context_, 5, CU_STREAM_DEFAULT, 0, 0));
    g_left = 1;
    EXPECT_EQ(2u, pool_streams_make(context_, 5, CU_STREAM_DEFAULT, 0, 0));
    EXPECT_EQ(1, g_left) << "it is not asked again";
    g_left = 0;
    struct context *other = fresh();
    EXPECT_EQ(0u, pool_streams_make(other, 5, CU_STREAM_DEFAULT, 0, 0));
    EXPECT_FALSE(pool_streams_are_made(other));
    g_left = 5;
    EXPECT_EQ(5u, pool_streams_make(other, 5, CU_STREAM_DEFAULT, 0, 0)) << "it may not have been ready";
}

TEST_F(PoolStreams, NotWhileACaptureIsOpen)
{
    captures_open = 1;
    EXPECT_EQ(0u, pool_streams_make(context_, 2, CU_STREAM_DEFAULT, 0, 0));
    captures_open = 0;
    EXPECT_EQ(1u, pool_streams_make(context_, 1, CU_STREAM_DEFAULT, 0, 0));
    captures_open = 1;
    EXPECT_EQ(1u, pool_streams_make(context_, 2, CU_STREAM_DEFAULT, 0, 0));
    captures_open = 0;
}

TEST_F(PoolStreams, NotOfADriverThatLacksAFunction)
{
    for (uint16_t api : {uint16_t{API_cuStreamCreate}, uint16_t{API_cuEventRecord}, uint16_t{API_cuStreamWaitEvent},
                         uint16_t{API_cuStreamSynchronize}}) {
        void *before = driver_real[api][0];
        driver_real[api][0] = nullptr;
        EXPECT_EQ(0u, pool_streams_make(context_, 2, CU_STREAM_DEFAULT, 0, 0)) << api_rows[api].symbol;
        driver_real[api][0] = before;
    }
    EXPECT_EQ(Said{}, g_said);
}

/* Two threads make them: what is too much goes again. */
TEST_F(PoolStreams, ThatAnotherThreadMakesMeanwhile)
{
    g_meanwhile = [this] { EXPECT_EQ(2u, pool_streams_make(context_, 2, CU_STREAM_DEFAULT, 0, 0)); };
    EXPECT_EQ(2u, pool_streams_make(context_, 2, CU_STREAM_DEFAULT, 0, 0));
    EXPECT_EQ(1, std::count(g_said.begin(), g_said.end(), "destroy"));
    EXPECT_EQ(3, std::count(g_said.begin(), g_said.end(), "create 0"));
}

TEST_F(PoolStreams, Each)
{
    auto collect = [](CUstream stream, void *to) { static_cast<Said *>(to)->push_back(named(stream)); };
    Said found, expected;
    pool_streams_each(fresh(), collect, &found);
    EXPECT_EQ(Said{}, found);
    ASSERT_EQ(3u, pool_streams_make(context_, 3, CU_STREAM_DEFAULT, 0, 0));
    for (const struct pooled &one : {context_->pool->at[0], context_->pool->at[1], context_->pool->at[2]})
        expected.push_back(named(one.handle));
    pool_streams_each(context_, collect, &found);
    EXPECT_EQ(expected, found);
}

/* ---- contexts ---- */

/* A context's place is the next one's once it is gone. */
TEST_F(PoolStreams, ForAsManyContextsAsThereArePlaces)
{
    struct context none = {};
    EXPECT_EQ(nullptr, pool_of(&none)) << "no context";
    EXPECT_EQ(1u, context_->domain);
    for (uint32_t i = 2; i <= 32; i++) {
        EXPECT_NE(nullptr, pool_of(fresh())) << i;
        EXPECT_EQ(i, contexts_.back()->domain);
    }
    struct context *late = fresh();
    EXPECT_EQ(nullptr, pool_of(late));
    EXPECT_EQ(0u, pool_streams_make(late, 2, CU_STREAM_DEFAULT, 0, 0));
    EXPECT_FALSE(pool_streams_are_made(late));
    ASSERT_EQ(2u, pool_streams_make(contexts_[4], 2, CU_STREAM_DEFAULT, 0, 0));
    EXPECT_GT(contexts_[4]->pool->events, 0u);
    pool_context_gone(contexts_[4]);
    EXPECT_EQ(nullptr, contexts_[4]->pool);
    EXPECT_NE(nullptr, pool_of(late));
    EXPECT_EQ(5u, late->domain);
    EXPECT_EQ(0u, late->pool->count + late->pool->events + late->pool->opened + late->pool->legacy);
}

TEST_F(PoolStreams, TheLegacyStreamsLaneIsOne)
{
    context_->legacy_uid = 77;
    lock_take(&guard_state.lock);
    const int lane = pool_legacy_lane(context_), again = pool_legacy_lane(context_);
    lock_drop(&guard_state.lock);
    ASSERT_GE(lane, 0);
    EXPECT_EQ(lane, again);
    EXPECT_EQ(CU_STREAM_LEGACY, issue_lanes[lane].handle);
    EXPECT_EQ(77u, issue_lanes[lane].uid);
    EXPECT_EQ(context_, issue_lanes[lane].context);
    EXPECT_TRUE(guard_state.order.lanes[lane]->open);
    pool_context_gone(context_);
    EXPECT_FALSE(guard_state.order.lanes[lane]->open);
}

/* A thread that ends leaves its lanes to others, once. */
TEST_F(PoolStreams, OfThreadsThatEnd)
{
    ASSERT_EQ(2u, pool_streams_make(context_, 2, CU_STREAM_DEFAULT, 0, 0));
    Caller caller(context_);
    EXPECT_EQ(2u, pool_lanes_of(&caller.here, 5)) << "as many as there are";
    EXPECT_EQ(2u, context_->pool->opened);
    const unsigned first = caller.here.lanes[0], second = caller.here.lanes[1];
    EXPECT_NE(first, second);
    EXPECT_EQ(1u, issue_users(first));
    EXPECT_EQ(1u, issue_users(second));
    EXPECT_EQ(2u, pool_lanes_of(&caller.here, 2));
    caller.here.home_lane = 1;
    pool_thread_gone(&caller.here);
    EXPECT_EQ(0u, issue_users(first) + issue_users(second));
    EXPECT_EQ(0u, caller.here.lane_count + caller.here.own_lane + caller.here.home_lane);
    pool_thread_gone(&caller.here);
    EXPECT_EQ(0u, issue_users(first));
    EXPECT_EQ(1u, pool_lanes_of(&caller.here, 1));
    caller.here.context_uid++; /* another context has its place by now */
    pool_thread_gone(&caller.here);
    EXPECT_EQ(1u, issue_users(caller.here.lanes[0]));
}

/* The lane of the thread's own 0x2 is closed with it. */
TEST_F(PoolStreams, OfThreadsThatHaveAStreamOfTheirOwn)
{
    Caller caller(context_);
    lock_take(&guard_state.lock);
    const int lane = lane_streams_open(LANE_BLOCKING, context_, CU_STREAM_PER_THREAD, 5, 1);
    lock_drop(&guard_state.lock);
    ASSERT_GE(lane, 0);
    caller.here.own_lane = uint16_t(lane + 1);
    pool_thread_gone(&caller.here);
    EXPECT_EQ(0u, caller.here.own_lane);
    EXPECT_TRUE(!guard_state.order.lanes[lane]->open || guard_state.order.lanes[lane]->gone);
}

} // namespace
