/* SPDX-License-Identifier: Apache-2.0
 *
 * Single decisions of the guard that programs meet too seldom for the random tests: where the first lane is not the default
 * stream's, where a lane's marks are all in use, and where there is no memory left. Without a driver.
 */
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

extern "C" {
#include "interpose/base/pages.h"
#include "interpose/guard/decide/order_choose.h"
#include "interpose/guard/decide/order_lane.h"
#include "interpose/guard/decide/promises.h"
#include "interpose/guard/decide/repeat_rights.h"
}

#include "tests/guard/memory.h"

namespace
{

/* An order of its own, and what its last operation waits for. */
class Decisions : public testing::Test
{
protected:
    struct order o_ = {};
    struct order_plan plan_ = {};

    unsigned open(enum lane_kind kind, int eager = 0)
    {
        return unsigned(order_lane_open(&o_, kind, 0, eager));
    }
    void add(unsigned lane, struct memory *memory = nullptr, uint64_t begin = 0, uint64_t end = UINT64_MAX,
             uint32_t writes = 1)
    {
        struct touched touched = {};
        touched.count = memory != nullptr;
        touched.at[0] = {memory, begin, end, writes};
        struct order_op op = {};
        op.lane = uint16_t(lane);
        op.work = 1;
        op.touched = &touched;
        repeat_rights_catch_up(&o_, &op);
        order_add(&o_, &op, &plan_);
    }
    bool waits_for_one(unsigned lane) const
    {
        return plan_.count == 1 && plan_.waits[0].lane == lane;
    }
};

/* A blocking stream waited for an event of a non-blocking one, and the default stream comes after the blocking one. */
TEST_F(Decisions, WhateverLaneABlockingStreamHas)
{
    for (unsigned before = 0; before < 2; before++) {
        o_ = {};
        struct memory memory = make_memory(1 + before);
        struct recorded event = {};
        if (before)
            open(LANE_BLOCKING);
        const unsigned blocking = open(LANE_BLOCKING), legacy = open(LANE_DEFAULT), apart = open(LANE_NON_BLOCKING);
        ASSERT_EQ(blocking, before);
        add(apart, &memory);
        add(apart);
        promises_event_recorded(&o_, apart, &event);
        add(blocking);
        promises_event_awaited(&o_, blocking, &event);
        promises_event_followed(&o_, blocking, &event);
        add(legacy, &memory);
        EXPECT_TRUE(waits_for_one(apart)) << plan_.count << " waits";
        promises_recorded_drop(&event);
    }
}

/* Each stands for what a default operation came after; where all do, the one is given up that the fewest wait for. */
TEST_F(Decisions, TheOldestMarkIsRecordedAnew)
{
    const unsigned own = open(LANE_BLOCKING, 1), legacy = open(LANE_DEFAULT);
    add(legacy);
    for (int i = 0; i < 3 * ORDER_MARKS; i++) {
        add(own);
        ASSERT_EQ(plan_.mark_after, i % ORDER_MARKS) << i;
        add(legacy);
    }
}

/* What touches nothing goes where the thread was last, what touches no lane's memory where least was lately, what comes
 * after a lane's last operation to that lane; wherever among the thread's lanes that one stands. */
TEST_F(Decisions, WhichOfAThreadsLanes)
{
    for (unsigned count = 1; count <= 4; count++)
        for (unsigned which = 0; which < count; which++)
            for (bool first : {true, false}) { /* the lane is used before all others, or after */
                o_ = {};
                struct memory own = make_memory(1), free = make_memory(2);
                struct touched touched = {};
                struct order_op op = {};
                std::vector<uint16_t> lanes;
                for (unsigned i = 0; i < count; i++)
                    lanes.push_back(uint16_t(open(LANE_DEFAULT)));
                auto choice = [&](struct memory *memory) {
                    touched.count = memory != nullptr;
                    touched.at[0] = {memory, 0, UINT64_MAX, 1};
                    op = {};
                    op.work = 1;
                    op.touched = &touched;
                    return order_choose(&o_, &op, lanes.data(), count);
                };
                EXPECT_EQ(choice(&free), lanes[0]) << "none was used";
                EXPECT_EQ(choice(nullptr), lanes[0]) << "none was used";
                if (first)
                    add(lanes[which], &own);
                for (unsigned i = 1; i < count; i++)
                    add(lanes[(which + i) % count]);
                if (!first)
                    add(lanes[which], &own);
                const std::string where = std::to_string(which) + " of " + std::to_string(count);
                EXPECT_EQ(choice(&own), lanes[which]) << where << ", whose last operation it comes after";
                EXPECT_EQ(choice(nullptr), lanes[first ? (which + count - 1) % count : which]) << where << ", the newest";
                EXPECT_EQ(choice(&free), lanes[first ? which : (which + 1) % count]) << where << ", the longest idle";
                touched.opaque = 1;
                EXPECT_EQ(choice(&free), lanes[first ? (which + count - 1) % count : which]) << where << ", of all";
                touched.opaque = 0;
                add(lanes[which]);
                EXPECT_EQ(choice(&own), lanes[(which + 1) % count]) << where << ", which has gone on since";
            }
}

/* Two lanes with a half each: the second one waits once for what came before anybody looked at parts, and not for the
 * other half. A part that overlaps waits. */
TEST_F(Decisions, HalvesOfAMemoryGoSideBySide)
{
    struct memory memory = make_memory(1);
    const unsigned one = open(LANE_DEFAULT), other = open(LANE_DEFAULT);
    for (int i = 0; i < 3; i++)
        add(one, &memory);
    EXPECT_EQ(0, memory.parts) << "nobody else is there";
    add(other, &memory);
    EXPECT_TRUE(waits_for_one(one));
    EXPECT_EQ(64, memory.parts);
    add(one, &memory, 0, 100);
    EXPECT_TRUE(waits_for_one(other)) << "that was all of it";
    for (int i = 0; i < 100; i++) {
        add(other, &memory, 100, 200);
        ASSERT_EQ(0, plan_.count) << i;
        add(one, &memory, 0, 100);
        ASSERT_EQ(0, plan_.count) << i;
        ASSERT_EQ(64, memory.parts);
    }
    add(one, &memory, 50, 101);
    EXPECT_TRUE(waits_for_one(other)) << "one byte of the other half";
    add(other, &memory, 100, 200, 0);
    EXPECT_TRUE(waits_for_one(one)) << "a read comes after that, too";
}

/* Where a lane is alone again, it soon does without parts, and gets its repeat rights back. */
TEST_F(Decisions, PartsAreLookedAtForAWhile)
{
    struct memory memory = make_memory(1);
    const unsigned one = open(LANE_DEFAULT), other = open(LANE_DEFAULT);
    add(one, &memory);
    add(other, &memory);
    promises_done(&o_, one, o_.now);
    promises_done(&o_, other, o_.now);
    for (int left = 63; left >= 0; left--) {
        add(one, &memory, 0, 100);
        ASSERT_EQ(left, memory.parts);
    }
    add(one, &memory, 0, 100);
    EXPECT_EQ(0, memory.parts);
    add(one, &memory);
    add(one, &memory);
    struct touched touched = {};
    touched.count = 1;
    touched.at[0] = {&memory, 0, UINT64_MAX, 1};
    EXPECT_EQ(1, repeat_rights_use(&o_, uint16_t(one), &touched));
}

/* Reads are in nobody's way. */
TEST_F(Decisions, WhatAllReadIsNotLookedAtInParts)
{
    struct memory memory = make_memory(1);
    const unsigned one = open(LANE_DEFAULT), other = open(LANE_DEFAULT);
    for (int i = 0; i < 3; i++) {
        add(one, &memory, 0, UINT64_MAX, 0);
        add(other, &memory, 0, UINT64_MAX, 0);
    }
    EXPECT_EQ(0, memory.parts);
}

/* A program that waits after each kernel stays on one stream, wherever that is among the thread's lanes. */
TEST_F(Decisions, WorkStaysWhereTheThreadWasIfAllItsWorkIsDone)
{
    struct memory own = make_memory(1), other = make_memory(2);
    const uint16_t lanes[] = {uint16_t(open(LANE_DEFAULT)), uint16_t(open(LANE_DEFAULT)), uint16_t(open(LANE_DEFAULT))};
    struct touched touched = {};
    touched.count = 1;
    touched.at[0] = {&other, 0, UINT64_MAX, 1};
    struct order_op op = {};
    op.work = 1;
    op.touched = &touched;
    add(lanes[0], &own);
    EXPECT_EQ(lanes[1], order_choose(&o_, &op, lanes, 3)) << "beside work that is not done";
    add(lanes[1], &other);
    promises_done(&o_, lanes[0], o_.now);
    EXPECT_EQ(lanes[1], order_choose(&o_, &op, lanes, 3)) << "after what it conflicts with";
    touched.at[0].memory = &own;
    EXPECT_EQ(lanes[2], order_choose(&o_, &op, lanes, 3)) << "beside the work on lane 1, which is not done";
    promises_done(&o_, lanes[1], o_.now);
    EXPECT_EQ(lanes[1], order_choose(&o_, &op, lanes, 3)) << "all is done: where the newest was";
}

/* 0: the second operation waits for the first, of which nothing could be noted. */
int where_no_memory_is_left(struct order *o, const struct order_plan *plan, const std::function<void()> &first,
                            const std::function<void()> &second)
{
    const struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_AS, &none) != 0 || pages_map(PAGES_SMALLEST))
        return 3;
    while (pages_keep(16))
        ;
    first();
    if (!o->crowded)
        return 1;
    second();
    return plan->count == 1 && plan->waits[0].lane == 0 ? 0 : 2;
}

TEST_F(Decisions, WithoutMemoryAllConflicts)
{
    struct memory memory = make_memory(3);
    const unsigned one = open(LANE_DEFAULT), two = open(LANE_DEFAULT);
    const pid_t child = fork();
    if (child == 0)
        _exit(where_no_memory_is_left(
            &o_, &plan_, [&] { add(one, &memory); }, [&] { add(two, &memory); }));
    int status = -1;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status) << "exit status 1: it does not know that it ran out of memory; 2: no wait; 3: there is no limit";
}

} // namespace
