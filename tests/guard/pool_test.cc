/* SPDX-License-Identifier: Apache-2.0
 *
 * Which lane a thread's default-stream work goes to: one of its own while there are some, shared where there are none, and
 * that of the threads that it keeps conflicting with.
 */
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

extern "C" {
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/carry_out/pool_streams.h"
}

#include "tests/guard/caller.h"

namespace
{

class Pool : public testing::Test
{
protected:
    void SetUp() override
    {
        install_driver();
    }
    void TearDown() override
    {
        for (struct context *context : contexts_)
            pool_context_gone(context);
    }
    /* A new context, which is the current one now. */
    struct context *fresh(unsigned streams)
    {
        static uintptr_t handle = 0x100000;
        g_current = CUcontext(handle += 0x100);
        struct context *context = contexts_get(g_current);
        EXPECT_EQ(streams, pool_streams_make(context, streams, 0, 0, 0));
        contexts_.push_back(context);
        return context;
    }
    /* A thread that has come to the context. 0 lanes: its work would stay on the legacy stream. */
    Caller *user(struct context *context)
    {
        users_.emplace_back(new Caller(context));
        EXPECT_EQ(1u, pool_lanes_of(&users_.back()->here, 1));
        return users_.back().get();
    }
    /* How many lanes so many threads share. */
    size_t lanes_of(struct context *context, int threads)
    {
        std::set<unsigned> lanes;
        for (int i = 0; i < threads; i++)
            lanes.insert(user(context)->lane());
        return lanes.size();
    }
    std::vector<struct context *> contexts_;
    std::vector<std::unique_ptr<Caller>> users_;
};

/* ---- who conflicts gathers ---- */

class Gather : public Pool
{
protected:
    void SetUp() override
    {
        Pool::SetUp();
        context_ = fresh(4);
        for (Caller *&one : at_)
            one = user(context_);
        ASSERT_LT(at_[0]->lane(), at_[1]->lane());
        ASSERT_LT(at_[1]->lane(), at_[2]->lane());
    }
    /* The thread registers work so many times, and every time it waits for the lane; -1: for nothing. */
    static void conflicts(Caller *caller, int lane, int times)
    {
        static struct order_plan plan;
        plan.count = lane >= 0;
        plan.waits[0].lane = uint16_t(lane);
        lock_take(&guard_state.lock);
        for (int i = 0; i < times; i++)
            pool_gather(&caller->here, &plan);
        lock_drop(&guard_state.lock);
    }
    static void moves(Caller *caller, unsigned to)
    {
        conflicts(caller, int(to), kFew);
        ASSERT_NE(to, caller->lane());
        conflicts(caller, int(to), 1);
        ASSERT_EQ(to, caller->lane());
    }
    static constexpr int kFew = 5;
    struct context *context_ = nullptr;
    Caller *at_[3] = {};
};

/* An attempt to go the quick way counts as a call without conflicts until it turns out to be one. */
TEST_F(Gather, AfterADozenCallsThatConflict)
{
    static struct memory memory = make_memory(101);
    const unsigned before = at_[1]->lane();
    int calls = 0;
    for (; calls < 12 && at_[1]->lane() == before; calls++) {
        at_[0]->launch(&memory);
        at_[1]->launch(&memory);
    }
    EXPECT_GT(calls, kFew);
    EXPECT_EQ(at_[0]->lane(), at_[1]->lane());
    EXPECT_EQ(2u, issue_users(at_[0]->lane()));
    EXPECT_EQ(0u, issue_users(before));
    EXPECT_EQ(before + 1u, at_[1]->here.home_lane);
}

TEST_F(Gather, NotWhereConflictsAreFarBetween)
{
    conflicts(at_[1], int(at_[0]->lane()), kFew);
    conflicts(at_[1], -1, 100);
    moves(at_[1], at_[0]->lane());
    EXPECT_EQ(0u, at_[1]->here.conflicts);
}

TEST_F(Gather, OnTheLowestLaneWhichStaysWhereItIs)
{
    const unsigned highest = at_[2]->lane();
    conflicts(at_[0], int(highest), 100);
    EXPECT_NE(highest, at_[0]->lane());
    EXPECT_EQ(0u, at_[0]->here.home_lane);
    moves(at_[2], at_[1]->lane());
    moves(at_[2], at_[0]->lane());
    EXPECT_EQ(highest + 1u, at_[2]->here.home_lane) << "the first";
}

TEST_F(Gather, NotWithStreamsOfTheProgramNorWithOtherContexts)
{
    pool_thread_gone(&at_[0]->here);
    conflicts(at_[2], int(at_[0]->here.lanes[0]), 100);
    EXPECT_EQ(0u, at_[2]->here.conflicts) << "the lane is no thread's";
    Caller *other = user(fresh(1)), *later = user(fresh(1));
    ASSERT_LT(other->lane(), later->lane());
    conflicts(later, int(other->lane()), 100);
    EXPECT_EQ(0u, later->here.conflicts);
    EXPECT_NE(other->lane(), later->lane());
}

TEST_F(Gather, NowAndThenTheyPart)
{
    const unsigned home = at_[1]->lane(), with = at_[0]->lane();
    for (int times = 0; times < 2; times++) {
        moves(at_[1], with);
        conflicts(at_[1], -1, POOL_AWAY_AT_MOST - 1);
        EXPECT_EQ(with, at_[1]->lane());
        conflicts(at_[1], -1, 1);
        EXPECT_EQ(home, at_[1]->lane());
        EXPECT_EQ(0u, at_[1]->here.home_lane);
        EXPECT_EQ(1u, issue_users(with));
        EXPECT_EQ(1u, issue_users(home));
    }
}

/* Calls that nobody registers count as well. */
TEST_F(Gather, WhatIsNotRegisteredCountsToo)
{
    struct thread_context *here = &at_[1]->here;
    conflicts(at_[1], int(at_[0]->lane()), kFew);
    for (int i = 0; i < 100; i++)
        EXPECT_EQ(1, pool_stays(here));
    moves(at_[1], at_[0]->lane());
    for (int i = 1; i < POOL_AWAY_AT_MOST; i++)
        ASSERT_EQ(1, pool_stays(here)) << i;
    EXPECT_EQ(0, pool_stays(here));
}

TEST_F(Gather, NotToALaneThatServesSomebodyElseByNow)
{
    const unsigned home = at_[1]->lane(), with = at_[0]->lane();
    moves(at_[1], with);
    struct context *before = issue_lanes[home].context;
    issue_lanes[home].context = fresh(1);
    conflicts(at_[1], -1, POOL_AWAY_AT_MOST);
    EXPECT_EQ(with, at_[1]->lane());
    EXPECT_EQ(0u, at_[1]->here.home_lane);
    issue_lanes[home].context = before;
}

/* ---- lanes for all ---- */

constexpr int kOfOne = POOL_LANES, kContexts = 6; /* which have all lanes between them */

TEST_F(Pool, ThreadsShareTheLeastUsedOfTheirContext)
{
    struct context *context = fresh(2);
    Caller *a = user(context), *b = user(context), *c = user(context), *d = user(context);
    EXPECT_NE(a->lane(), b->lane());
    EXPECT_NE(c->lane(), d->lane());
    EXPECT_EQ(2u, issue_users(a->lane()));
}

/* What an ended thread left may be pending. */
TEST_F(Pool, OfThoseThatNobodyHasTheOneWhoseWorkIsOldest)
{
    static struct memory one = make_memory(111), other = make_memory(112);
    struct context *context = fresh(2);
    Caller *a = user(context), *b = user(context);
    b->launch(&one);
    a->launch(&other);
    pool_thread_gone(&a->here);
    pool_thread_gone(&b->here);
    EXPECT_EQ(b->here.lanes[0], user(context)->lane());
    EXPECT_EQ(a->here.lanes[0], user(context)->lane());
}

TEST_F(Pool, NoContextHasMoreThanItsShare)
{
    for (int i = 0; i < kContexts; i++)
        fresh(kOfOne);
    EXPECT_EQ(size_t{192 / (kContexts + 1)}, lanes_of(fresh(kOfOne), kOfOne));
}

TEST_F(Pool, LanesOfContextsThatAreGoneAreThereForOthers)
{
    for (int times = 0; times < 7; times++) { /* more contexts than there are at once */
        for (int i = 0; i < kContexts; i++)
            EXPECT_EQ(size_t{kOfOne}, lanes_of(fresh(kOfOne), kOfOne)) << times << ": " << i;
        TearDown();
        contexts_.clear();
    }
}

TEST_F(Pool, WhereNoneIsLeftThoseThatNobodyNeedsServeOthers)
{
    static struct memory memory = make_memory(121);
    for (int i = 0; i < kContexts; i++)
        EXPECT_EQ(size_t{kOfOne}, lanes_of(fresh(kOfOne), kOfOne));
    struct context *first = contexts_[0], *late = fresh(kOfOne);
    Caller *a = user(late), *b = user(late);
    EXPECT_EQ(a->lane(), b->lane()) << "one in any case, and no more";
    EXPECT_EQ(late, issue_lanes[a->lane()].context);

    g_current = first->handle;
    users_[0]->launch(&memory);
    const unsigned pending = users_[0]->lane(), awaited = users_[1]->lane();
    guard_state.order.lanes[awaited]->marks[0].pins = 1;
    for (int i = 0; i < 5; i++)
        pool_thread_gone(&users_[i]->here);
    g_current = late->handle;
    EXPECT_NE(a->lane(), user(late)->lane());
    EXPECT_EQ(kOfOne - 3, first->pool->opened);
    EXPECT_EQ(2, late->pool->opened);
    guard_state.order.lanes[awaited]->marks[0].pins = 0;
    for (unsigned lane : {pending, awaited}) { /* its work is not done; somebody is about to wait for its mark */
        EXPECT_EQ(first, issue_lanes[lane].context);
        EXPECT_TRUE(guard_state.order.lanes[lane]->open && !guard_state.order.lanes[lane]->gone);
    }
    for (int i = 5; i < kOfOne * kContexts; i++)
        EXPECT_EQ(users_[i]->here.context, issue_lanes[users_[i]->lane()].context) << i << " has a lane still";
    for (int i = 0; i < 5; i++)
        EXPECT_EQ(first, issue_lanes[user(first)->lane()].context);
}

} // namespace
