/* SPDX-License-Identifier: Apache-2.0
 *
 * The device's hardware queues: how many lanes there may be beside the program's streams, and that threads move together
 * where these leave no queues for so many.
 */
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <vector>

extern "C" {
#include "interpose/guard/around_call.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/lane_streams.h"
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/carry_out/pool_streams.h"
#include "interpose/guard/decide/queue_share.h"
}

#include "tests/guard/caller.h"

namespace
{

class Queues : public testing::Test
{
protected:
    void SetUp() override
    {
        install_driver();
        chosen("8");
    }
    void TearDown() override
    {
        for (struct context *context : contexts_)
            pool_context_gone(context);
        chosen(nullptr);
    }
    static void chosen(const char *value)
    {
        if (value)
            setenv("CUDA_DEVICE_MAX_CONNECTIONS", value, 1);
        else
            unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
        queue_share_limit();
    }
    struct context *fresh(unsigned streams)
    {
        static uintptr_t handle = 0x300000;
        g_current = CUcontext(handle += 0x100);
        struct context *context = contexts_get(g_current);
        EXPECT_EQ(streams, pool_streams_make(context, streams, 0, 0, 0));
        contexts_.push_back(context);
        return context;
    }
    /* The program has one more stream that works. */
    static int others(struct context *context, enum lane_kind kind = LANE_NON_BLOCKING)
    {
        static uintptr_t handle = 0x500000;
        handle += 0x100;
        lock_take(&guard_state.lock);
        int lane = lane_streams_open(kind, context, CUstream(handle), uint32_t(handle), 0);
        lock_drop(&guard_state.lock);
        return lane;
    }
    static void close(int lane)
    {
        lock_take(&guard_state.lock);
        lane_streams_close_unmarked(unsigned(lane));
        lock_drop(&guard_state.lock);
    }
    Caller *user(struct context *context)
    {
        users_.emplace_back(new Caller(context));
        pool_lanes_of(&users_.back()->here, 1);
        return users_.back().get();
    }
    std::set<unsigned> lanes()
    {
        std::set<unsigned> found;
        for (auto &one : users_) {
            EXPECT_EQ(1u, pool_lanes_of(&one->here, 1));
            found.insert(one->lane());
        }
        return found;
    }
    std::vector<struct context *> contexts_;
    std::vector<std::unique_ptr<Caller>> users_;
};

TEST_F(Queues, HalfOfThemAtMost)
{
    for (const auto &[value, lanes] : std::vector<std::pair<const char *, unsigned>>{{nullptr, 4},
                                                                                     {"", 4},
                                                                                     {"no", 4},
                                                                                     {"0", 4},
                                                                                     {"1", 1},
                                                                                     {"2", 1},
                                                                                     {"3", 1},
                                                                                     {"4", 2},
                                                                                     {"8", 4},
                                                                                     {"32", 16},
                                                                                     {"33", 16}}) {
        chosen(value);
        EXPECT_EQ(lanes, queue_share_most_lanes()) << value;
    }
}

/* One queue stays free, and one for each of the program's streams. */
TEST_F(Queues, OneForEachStreamOfTheProgram)
{
    struct queue_share crowd = {};
    const unsigned lanes[] = {4, 4, 4, 4, 3, 2, 1, 1, 1};
    for (unsigned expected : lanes) {
        queue_share_crowd(&crowd, crowd.others || crowd.lanes ? 1 : 0);
        EXPECT_EQ(expected, crowd.lanes) << crowd.others;
    }
    EXPECT_EQ(8u, crowd.others);
    for (int i = 0; i < 6; i++)
        EXPECT_EQ(0, queue_share_crowd(&crowd, -1));
    EXPECT_EQ(1u, crowd.lanes) << "not before all is done";
    EXPECT_EQ(1, queue_share_anew(&crowd));
    EXPECT_EQ(4u, crowd.lanes);
    EXPECT_EQ(0, queue_share_anew(&crowd));
}

TEST_F(Queues, ThreadsMoveTogether)
{
    struct context *context = fresh(4);
    std::vector<int> opened = {others(context)}; /* which is when the limit is known */
    for (int i = 0; i < 8; i++)
        user(context);
    EXPECT_EQ(4u, lanes().size());
    const size_t expected[] = {4, 4, 4, 3, 2, 1, 1};
    for (size_t i = 1; i < 7; i++) {
        opened.push_back(others(context, i % 2 ? LANE_BLOCKING : LANE_NON_BLOCKING));
        EXPECT_EQ(expected[i], lanes().size()) << i;
    }
    const std::set<unsigned> before = lanes();
    for (int lane : opened)
        close(lane);
    EXPECT_EQ(before, lanes());
    lock_take(&guard_state.lock);
    pool_anew(context);
    lock_drop(&guard_state.lock);
    EXPECT_EQ(4u, lanes().size());
}

/* After a wait for all of the context's work. */
TEST_F(Queues, TheProgramsWaitForAllGivesThemBack)
{
    struct context *context = fresh(4);
    Caller *one = user(context), *two = user(context);
    std::vector<int> opened;
    for (int i = 0; i < 7; i++)
        opened.push_back(others(context));
    EXPECT_EQ(1u, lanes().size());
    for (int lane : opened)
        close(lane);
    one->fill(API_cuCtxSynchronize, PTDS_OP_CTX_SYNC, nullptr);
    around_call_enter(&one->call);
    one->call.result = CUDA_SUCCESS;
    around_call_learn(&one->call);
    EXPECT_EQ(2u, lanes().size());
    EXPECT_NE(one->lane(), two->lane());
}

/* A thread with a lane for itself stays there. */
TEST_F(Queues, WhoIsAloneStays)
{
    struct context *context = fresh(4);
    Caller *one = user(context);
    const unsigned before = one->lane();
    for (int i = 0; i < 7; i++)
        others(context);
    EXPECT_EQ((std::set<unsigned>{before}), lanes());
}

/* What goes the short way learns of it, too. */
TEST_F(Queues, ThreadsOnTheShortWayMove)
{
    static struct memory memory = make_memory(501), other = make_memory(502);
    struct context *context = fresh(2);
    Caller *one = user(context), *two = user(context);
    for (int i = 0; i < 4; i++) {
        one->launch(&memory);
        two->launch(&other);
    }
    ASSERT_NE(one->lane(), two->lane());
    ASSERT_EQ(1, two->begin(&other));
    two->end();
    for (int i = 0; i < 7; i++)
        others(context, LANE_BLOCKING);
    two->launch(&other);
    one->launch(&memory);
    EXPECT_EQ(one->lane(), two->lane());
}

/* The real legacy stream takes a queue, too, where work stays on it; so does 0x2. */
TEST_F(Queues, LegacyAndPerThreadStreamsCount)
{
    struct context *context = fresh(4);
    lock_take(&guard_state.lock);
    ASSERT_GE(pool_legacy_lane(context), 0);
    ASSERT_GE(lane_streams_open(LANE_BLOCKING, context, CU_STREAM_PER_THREAD, 7, 1), 0);
    lock_drop(&guard_state.lock);
    EXPECT_EQ(2u, context->pool->crowd.others);
}

/* Who conflicts with work on a lane that is given up does not go there. */
TEST_F(Queues, NobodyGathersOnALaneThatIsGivenUp)
{
    static struct order_plan plan;
    struct context *context = fresh(4);
    Caller *low = user(context), *high = user(context);
    ASSERT_LT(low->lane(), high->lane());
    std::swap(context->pool->at[0], context->pool->at[3]);
    for (int i = 0; i < 4; i++)
        others(context); /* three are left */
    const unsigned before = high->lane();
    plan.count = 1;
    plan.waits[0].lane = uint16_t(low->lane());
    for (int i = 0; i < 30; i++) {
        lock_take(&guard_state.lock);
        pool_gather(&high->here, &plan);
        lock_drop(&guard_state.lock);
    }
    EXPECT_EQ(before, high->lane());
}

/* Lanes that come later are for those who share one. */
TEST_F(Queues, NewLanesAreTaken)
{
    struct context *context = fresh(1);
    Caller *one = user(context), *two = user(context);
    EXPECT_EQ(one->lane(), two->lane());
    EXPECT_EQ(2u, pool_streams_make(context, 2, 0, 0, 0));
    EXPECT_EQ(2u, lanes().size());
}

TEST_F(Queues, SpreadNoWiderThanThat)
{
    struct context *context = fresh(4);
    for (int i = 0; i < 5; i++)
        others(context);
    users_.emplace_back(new Caller(context));
    EXPECT_EQ(2u, pool_lanes_of(&users_.back()->here, 8));
    others(context);
    EXPECT_EQ(1u, pool_lanes_of(&users_.back()->here, 8));
}

TEST_F(Queues, ASecondThreadMakesThem)
{
    struct context *context = fresh(0);
    Caller one(context), two(context);
    one.thread.uid = 11;
    two.thread.uid = 12;
    EXPECT_EQ(1u, pool_streams_wanted(&one.thread, context, 1));
    EXPECT_EQ(1u, pool_streams_wanted(&one.thread, context, 1));
    EXPECT_EQ(4u, pool_streams_wanted(&one.thread, context, 2)) << "its work spreads";
    EXPECT_EQ(4u, pool_streams_wanted(&two.thread, context, 1));
    for (int i = 0; i < 5; i++)
        others(context);
    EXPECT_EQ(2u, pool_streams_wanted(&two.thread, context, 1)) << "as many as may have work";
    EXPECT_EQ(1u, pool_streams_wanted(&one.thread, context, 1));
}

} // namespace
