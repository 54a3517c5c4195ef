/* SPDX-License-Identifier: Apache-2.0
 *
 * The small parts that the guard's decision is made of: arrays by size, sets of lanes, who touched which bytes of a memory.
 * Without a driver.
 */
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <vector>

extern "C" {
#include "interpose/base/pages.h"
#include "interpose/guard/decide/lane_limits.h"
#include "interpose/guard/decide/ledger.h"
#include "interpose/guard/decide/order.h"
#include "interpose/guard/decide/order_lane.h"
#include "interpose/guard/decide/promises.h"
#include "interpose/guard/decide/repeat_rights.h"
#include "interpose/guard/decide/small_arrays.h"
}

#include "tests/guard/memory.h"

namespace
{

/* ---- arrays ---- */

struct Array {
    void *at = nullptr;
    uint16_t capacity = 0;
    bool grow(struct arrays *arrays, uint16_t count)
    {
        void *larger = small_arrays_grow(arrays, at, count, &capacity);
        at = larger ? larger : at;
        return larger != nullptr;
    }
};

bool is_all(const Array &array, size_t element, int byte)
{
    const std::vector<char> expected(array.capacity * element, char(byte));
    return memcmp(array.at, expected.data(), expected.size()) == 0;
}

TEST(Arrays, GrowFourfoldAndKeepWhatIsInThem)
{
    static struct arrays arrays = {24, {}};
    Array one, other;
    for (const uint16_t capacity : {4, 16, 64, 256}) {
        ASSERT_TRUE(one.grow(&arrays, one.capacity));
        ASSERT_TRUE(other.grow(&arrays, other.capacity));
        EXPECT_EQ(capacity, one.capacity);
        EXPECT_EQ(capacity, other.capacity);
        if (capacity > 4) {
            EXPECT_EQ(0, memcmp(one.at, std::vector<char>(capacity / 4 * 24, 7).data(), capacity / 4 * 24));
        }
        memset(one.at, 7, capacity * 24);
        memset(other.at, 9, capacity * 24);
        EXPECT_TRUE(is_all(one, 24, 7)) << "each has room of its own";
    }
    EXPECT_FALSE(one.grow(&arrays, 256)) << "one for each lane is enough";
    EXPECT_TRUE(is_all(one, 24, 7));
    EXPECT_EQ(256, one.capacity);
}

TEST(Arrays, ServeAgainBySize)
{
    static struct arrays arrays = {16, {}};
    Array one, other, third;
    ASSERT_TRUE(one.grow(&arrays, 0));
    void *const smallest = one.at;
    ASSERT_TRUE(one.grow(&arrays, 4));
    EXPECT_NE(smallest, one.at);
    ASSERT_TRUE(other.grow(&arrays, 0));
    EXPECT_EQ(smallest, other.at) << "given back when the first grew";
    ASSERT_TRUE(third.grow(&arrays, 0));
    EXPECT_NE(smallest, third.at);
    void *const second = one.at;
    small_arrays_give_back(&arrays, one.at, one.capacity);
    ASSERT_TRUE(third.grow(&arrays, 4));
    EXPECT_EQ(second, third.at);
    EXPECT_EQ(16, third.capacity);
}

/* ---- sets of lanes ---- */

TEST(Reach, KnowsTheNewestOfEachLane)
{
    struct lane_limits limits = {}, from = {};
    EXPECT_EQ(0u, lane_limits_until(&limits, 3));
    lane_limits_raise(&limits, 3, 0);
    EXPECT_EQ(0, limits.count) << "nothing is no entry";
    lane_limits_raise(&limits, 3, 10);
    lane_limits_raise(&limits, 0, 7);
    lane_limits_raise(&limits, 3, 9);
    EXPECT_EQ(10u, lane_limits_until(&limits, 3)) << "it only grows";
    lane_limits_raise(&limits, 3, 11);
    EXPECT_EQ(11u, lane_limits_until(&limits, 3));
    EXPECT_EQ(2, limits.count);
    for (unsigned lane = 100; lane < 140; lane++)
        lane_limits_raise(&from, lane, lane * 2);
    lane_limits_raise(&from, 0, 8);
    lane_limits_raise(&from, 3, 1);
    lane_limits_join(&limits, &from);
    EXPECT_EQ(42, limits.count);
    EXPECT_EQ(8u, lane_limits_until(&limits, 0));
    EXPECT_EQ(11u, lane_limits_until(&limits, 3));
    for (unsigned lane = 100; lane < 140; lane++)
        EXPECT_EQ(lane * 2, lane_limits_until(&limits, lane)) << lane;
    lane_limits_drop(&limits);
    EXPECT_EQ(0, limits.count + limits.capacity);
    EXPECT_EQ(nullptr, limits.at);
    EXPECT_EQ(0u, lane_limits_until(&limits, 0));
    lane_limits_join(&limits, &from);
    EXPECT_EQ(200u, lane_limits_until(&limits, 100)) << "the first of them, too";
    lane_limits_drop(&limits);
    lane_limits_drop(&from);
    lane_limits_drop(&from);
}

/* What sets of earlier tests gave back; the largest first, since who grows gives a smaller one back. */
void take_unused_arrays()
{
    for (unsigned size : {65, 17, 5, 1}) {
        for (int i = 0; i < 8; i++) {
            struct lane_limits kept = {};
            for (unsigned lane = 0; lane < size; lane++)
                lane_limits_raise(&kept, lane, 1);
        }
    }
}

/* The number of the expectation that does not hold; 0: all do. */
int reach_where_no_memory_is_left()
{
    struct lane_limits limits = {}, from = {}, larger = {};
    for (unsigned lane = 0; lane < 4; lane++)
        lane_limits_raise(&limits, lane, 10 + lane);
    lane_limits_raise(&larger, 2, 50);
    take_unused_arrays();
    const struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_AS, &none) != 0 || pages_map(PAGES_SMALLEST))
        return 1;
    while (pages_keep(16))
        ;
    lane_limits_raise(&limits, 0, 11);
    if (lane_limits_until(&limits, 0) != 11 || lane_limits_until(&limits, 9) != 0)
        return 2; /* what has room is no more than itself */
    lane_limits_raise(&limits, 7, 12);
    lane_limits_raise(&limits, 8, 9);
    if (limits.count != 4 || lane_limits_until(&limits, 7) != 12 || lane_limits_until(&limits, 9) != 12 ||
        lane_limits_until(&limits, 0) != 12 || lane_limits_until(&limits, 3) != 13)
        return 3;
    lane_limits_join(&from, &limits); /* a set that has no array */
    if (from.count != 0 || lane_limits_until(&from, 3) != 13 || lane_limits_until(&from, 200) != 13)
        return 4;
    lane_limits_join(&larger, &from);
    if (lane_limits_until(&larger, 2) != 50 || lane_limits_until(&larger, 1) != 13)
        return 5;
    lane_limits_copy(&from, &larger);
    if (lane_limits_until(&from, 2) != 50 || lane_limits_until(&from, 1) != 50)
        return 6;
    struct lane_limits nothing = {};
    lane_limits_copy(&larger, &nothing);
    if (lane_limits_until(&larger, 2) != 0 || lane_limits_until(&larger, 1) != 0)
        return 7;
    lane_limits_drop(&limits);
    return lane_limits_until(&limits, 7) != 0 ? 8 : 0;
}

/* A wait too many, where one that is missing could give a wrong result. */
TEST(Reach, CoversEveryLaneWhereNoMemoryIsLeft)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(reach_where_no_memory_is_left());
    int status = -1;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(0, WEXITSTATUS(status)) << "1: there is no limit";
}

TEST(Reach, ForgetsWhatIsDone)
{
    static struct order o;
    struct lane_limits limits = {};
    for (int i = 0; i < 3; i++)
        ASSERT_EQ(i, order_lane_open(&o, LANE_DEFAULT, 0, 0));
    o.lanes[0]->completed = 5;
    o.lanes[1]->completed = 4;
    for (unsigned lane = 0; lane < 4; lane++)
        lane_limits_raise(&limits, lane, 5);
    lane_limits_prune(&limits, &o);
    EXPECT_EQ(0u, lane_limits_until(&limits, 0));
    EXPECT_EQ(5u, lane_limits_until(&limits, 1));
    EXPECT_EQ(5u, lane_limits_until(&limits, 2));
    EXPECT_EQ(0u, lane_limits_until(&limits, 3)) << "a lane that never was";
    EXPECT_EQ(2, limits.count);
    lane_limits_drop(&limits);
}

/* ---- who touched a memory ---- */

class Ledger : public testing::Test
{
protected:
    void SetUp() override
    {
        for (int i = 0; i < 20; i++)
            ASSERT_EQ(i, order_lane_open(&o_, LANE_DEFAULT, 0, 0));
    }
    void note(unsigned lane, uint32_t writes, moment now, uint64_t begin = 0, uint64_t end = UINT64_MAX)
    {
        const struct access access = {&memory_, begin, end, writes};
        ASSERT_EQ(1, ledger_note(&o_, &access, lane, now));
    }
    const struct ledger_entry *row(unsigned lane) const
    {
        for (unsigned i = 0; i < memory_.ledger->count; i++)
            if (memory_.ledger->at[i].lane == lane)
                return &memory_.ledger->at[i];
        return nullptr;
    }
    /* The newest conflict, and the oldest. */
    std::vector<moment> conflict(unsigned lane, uint32_t writes, uint64_t begin = 0, uint64_t end = UINT64_MAX,
                                 moment completed = 0)
    {
        const struct access access = {&memory_, begin, end, writes};
        moment first = 77;
        const moment newest = ledger_conflict(row(lane), &access, completed, &first);
        return {newest, first};
    }
    using Moments = std::vector<moment>;
    struct order o_ = {};
    struct memory memory_ = make_memory(1);
};

TEST_F(Ledger, ReadsConflictWithWritesAlone)
{
    note(0, 0, 1);
    note(0, 0, 3);
    EXPECT_EQ((Moments{0, UINT64_MAX}), conflict(0, 0));
    EXPECT_EQ((Moments{3, 1}), conflict(0, 1));
    note(0, 1, 5);
    EXPECT_EQ((Moments{5, 5}), conflict(0, 0));
    EXPECT_EQ((Moments{5, 1}), conflict(0, 1)) << "the newest of both, and the oldest";
    note(0, 0, 6);
    EXPECT_EQ((Moments{6, 1}), conflict(0, 1));
    EXPECT_EQ((Moments{5, 5}), conflict(0, 0));
}

TEST_F(Ledger, BytesBesideEachOtherDoNot)
{
    note(0, 1, 1, 100, 200);
    EXPECT_EQ((Moments{0, UINT64_MAX}), conflict(0, 1, 0, 100));
    EXPECT_EQ((Moments{1, 1}), conflict(0, 1, 0, 101));
    EXPECT_EQ((Moments{0, UINT64_MAX}), conflict(0, 1, 200, 300));
    EXPECT_EQ((Moments{1, 1}), conflict(0, 1, 199, 300));
    EXPECT_EQ((Moments{1, 1}), conflict(0, 0, 150, 151));
    note(0, 1, 2, 300, 400);
    EXPECT_EQ((Moments{2, 1}), conflict(0, 1, 250, 251)) << "what lies between counts as touched";
    note(0, 1, 3, 50, 60);
    EXPECT_EQ((Moments{3, 1}), conflict(0, 1, 50, 51));
    EXPECT_EQ((Moments{0, UINT64_MAX}), conflict(0, 1, 400, 500));
}

TEST_F(Ledger, PartsAfterAllOfIt)
{
    note(0, 1, 1);
    note(0, 1, 2);
    note(0, 1, 5, 100, 200);
    EXPECT_EQ((Moments{5, 1}), conflict(0, 1, 100, 200));
    EXPECT_EQ((Moments{2, 1}), conflict(0, 1, 300, 400)) << "what is newer lies elsewhere";
    EXPECT_EQ((Moments{0, UINT64_MAX}), conflict(0, 1, 300, 400, 2));
    note(0, 0, 6);
    note(0, 0, 7, 0, 10);
    EXPECT_EQ((Moments{6, 1}), conflict(0, 1, 300, 400)) << "reads, too";
    EXPECT_EQ((Moments{2, 1}), conflict(0, 0, 300, 400));
    note(0, 1, 8);
    EXPECT_EQ((Moments{8, 1}), conflict(0, 1, 300, 400)) << "all of it again";
    note(0, 1, 9, 100, 200);
    EXPECT_EQ((Moments{8, 1}), conflict(0, 1, 300, 400)) << "and the oldest of both times";
    EXPECT_EQ((Moments{9, 1}), conflict(0, 1, 150, 160));
    o_.lanes[0]->completed = 9;
    note(0, 1, 10, 100, 200);
    EXPECT_EQ((Moments{0, UINT64_MAX}), conflict(0, 1, 300, 400, 9));
}

TEST_F(Ledger, WhatIsDoneConflictsNoMore)
{
    note(0, 1, 4, 100, 200);
    EXPECT_EQ((Moments{4, 4}), conflict(0, 1, 0, UINT64_MAX, 3));
    EXPECT_EQ((Moments{0, UINT64_MAX}), conflict(0, 1, 0, UINT64_MAX, 4));
    o_.lanes[0]->completed = 4;
    note(0, 1, 6, 500, 600);
    EXPECT_EQ((Moments{6, 6}), conflict(0, 1, 500, 501, 4)) << "the oldest that is not done";
    EXPECT_EQ((Moments{0, UINT64_MAX}), conflict(0, 1, 100, 200, 4)) << "nor the bytes of before";
}

TEST_F(Ledger, RowsOfWhatIsDoneServeOtherLanes)
{
    for (unsigned lane = 0; lane < 16; lane++)
        note(lane, lane % 2, lane + 1);
    EXPECT_EQ(16, memory_.ledger->count);
    o_.lanes[3]->completed = 4;
    o_.lanes[6]->completed = 6; /* its operation was the seventh */
    note(16, 1, 20);
    EXPECT_EQ(16, memory_.ledger->count);
    EXPECT_EQ(nullptr, row(3));
    EXPECT_EQ((Moments{20, 20}), conflict(16, 0));
    EXPECT_EQ((Moments{0, UINT64_MAX}), conflict(16, 0, 0, UINT64_MAX, 20)) << "nothing of the other lane's is left";
    note(17, 1, 21);
    EXPECT_EQ(17, memory_.ledger->count);
    EXPECT_EQ((Moments{7, 7}), conflict(6, 1));
    struct ledger *const dropped = memory_.ledger;
    ledger_drop(dropped);
    memory_.ledger = nullptr;
    note(2, 0, 30);
    EXPECT_EQ(dropped, memory_.ledger) << "it serves again";
    EXPECT_EQ(1, memory_.ledger->count);
    EXPECT_EQ(nullptr, row(16));
    EXPECT_EQ((Moments{30, 30}), conflict(2, 1));
}

/* A lane may come to it without being registered as long as it has a claim. */
TEST_F(Ledger, ARowStaysWhereItsLaneHasAClaim)
{
    struct order_plan plan;
    for (const uint32_t writes : {0, 1}) {
        struct touched touched = {};
        const uint16_t lane = uint16_t(3 + writes);
        const struct order_op op = {lane, JOIN_NOTHING, 1, 0, 0, &touched, nullptr, 0};
        touched.count = 1;
        touched.at[0] = {&memory_, 0, UINT64_MAX, writes};
        for (int i = 0; i < 2; i++) {
            repeat_rights_catch_up(&o_, &op);
            order_add(&o_, &op, &plan);
        }
        ASSERT_EQ(1, repeat_rights_use(&o_, lane, &touched)) << writes;
        promises_done(&o_, lane, o_.now);
        note(8, 0, o_.now + 1);
        EXPECT_EQ(2, memory_.ledger->count) << writes;
        EXPECT_NE(nullptr, row(lane)) << writes;
        order_memory_gone(&o_, &memory_);
        EXPECT_EQ(0, repeat_rights_use(&o_, lane, &touched)) << writes;
    }
}

} // namespace
