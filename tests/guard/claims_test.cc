/* SPDX-License-Identifier: Apache-2.0
 *
 * Claims that are taken away while their lane's thread uses them, and gates that many want. Without a driver.
 */
#include <gtest/gtest.h>

#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

extern "C" {
#include "interpose/base/gate.h"
#include "interpose/base/lock.h"
#include "interpose/guard/decide/ledger.h"
#include "interpose/guard/decide/order.h"
#include "interpose/guard/decide/order_lane.h"
#include "interpose/guard/decide/promises.h"
#include "interpose/guard/decide/repeat_rights.h"
}

#include "tests/guard/memory.h"

namespace
{

using Clock = std::chrono::steady_clock;

/* ---- claims that are taken away ---- */

/* An order of its own, with some default lanes; each has a thread that works on its memory alone. */
struct Lanes {
    enum { kLanes = 3 };
    struct order o = {};
    struct lock lock = {};
    struct order_plan plan;
    struct Of {
        alignas(64) uint32_t gate;
        struct memory memory;
        struct touched touched;
        std::atomic<long> issued;
        moment registered; /* locked */
    } of[kLanes + 1];      /* the last one's lane takes the claims away */

    Lanes()
    {
        for (unsigned i = 0; i <= kLanes; i++) {
            of[i].gate = 0;
            of[i].memory = make_memory(i + 1);
            of[i].touched = {};
            of[i].touched.count = 1;
            of[i].touched.at[0] = {&of[i].memory, 0, UINT64_MAX, 1};
            of[i].issued = 0;
            of[i].registered = 0;
            EXPECT_EQ(int(i), order_lane_open(&o, LANE_DEFAULT, 0, 0));
        }
    }
    moment newest(unsigned i) const
    {
        const struct ledger *ledger = of[i].memory.ledger;
        for (unsigned e = 0; ledger && e < ledger->count; e++)
            if (ledger->at[e].lane == i)
                return ledger->at[e].write.newest;
        return 0;
    }
    void add(unsigned lane, unsigned memory)
    {
        struct order_op op = {};
        op.lane = uint16_t(lane);
        op.work = 1;
        op.touched = &of[memory].touched;
        repeat_rights_catch_up(&o, &op);
        order_add(&o, &op, &plan);
    }
    bool quickly(unsigned i)
    {
        gate_take(&of[i].gate, GATE_HELD | GATE_QUICK);
        const int again = repeat_rights_use(&o, i, &of[i].touched);
        if (again)
            of[i].issued.fetch_add(1, std::memory_order_relaxed);
        gate_drop(&of[i].gate, 1);
        return again;
    }
    void slowly(unsigned i)
    {
        gate_take(&of[i].gate, GATE_HELD);
        lock_take(&lock);
        add(i, i);
        of[i].registered = newest(i);
        lock_drop(&lock);
        gate_drop(&of[i].gate, 1);
    }
};

/* What the lane's thread did quickly is in the ledger, and nothing comes while the lock is held. */
const char *take_away(Lanes *l, unsigned i, long *seen)
{
    const char *wrong = nullptr;
    struct order_op op = {};
    op.lane = Lanes::kLanes;
    op.work = 1;
    op.touched = &l->of[i].touched;
    lock_take(&l->lock);
    repeat_rights_catch_up(&l->o, &op);
    gate_await_quick(&l->of[i].gate);
    const long issued = l->of[i].issued.load(std::memory_order_relaxed);
    if (issued != *seen && l->newest(i) <= l->of[i].registered)
        wrong = "an operation went quickly and was never registered";
    order_add(&l->o, &op, &l->plan);
    if (l->of[i].issued.load(std::memory_order_relaxed) != issued)
        wrong = "an operation went quickly on a claim that had ended";
    *seen = issued;
    lock_drop(&l->lock);
    return wrong;
}

TEST(Claims, WhoTakesOneAwayFindsAllThatWasDoneByIt)
{
    static Lanes l;
    std::atomic<int> stop{0};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < Lanes::kLanes; i++)
        threads.emplace_back([i, &stop] {
            while (!stop.load(std::memory_order_relaxed))
                if (!l.quickly(i))
                    l.slowly(i);
        });
    const char *wrong = nullptr;
    long seen[Lanes::kLanes] = {}, rounds = 0;
    for (const auto until = Clock::now() + std::chrono::milliseconds(2000); !wrong && Clock::now() < until;) {
        for (int i = 0; i < 300 && !wrong; i++, rounds++)
            wrong = take_away(&l, unsigned(rounds % Lanes::kLanes), &seen[rounds % Lanes::kLanes]);
        if (rounds % 3000 == 0)
            sched_yield();
    }
    stop = 1;
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(nullptr, wrong) << wrong << " after " << rounds << " rounds";
    for (unsigned i = 0; i < Lanes::kLanes; i++)
        EXPECT_GT(seen[i], 100);
}

/* What a host begins to wait for is a boundary where somebody may be promised no more than that: what came between would
 * be on the lane before its mark. */
TEST(Claims, NothingGoesQuicklyOnceAHostsWaitIsBeingRegistered)
{
    static Lanes l;
    struct order_op op = {};
    op.lane = Lanes::kLanes;
    op.waits = 1;
    l.slowly(0);
    l.slowly(0);
    repeat_rights_catch_up(&l.o, &op);
    EXPECT_TRUE(l.quickly(0)) << "everybody is promised everything";
    ASSERT_LE(0, order_lane_open(&l.o, LANE_NON_BLOCKING, 0, 0));
    EXPECT_FALSE(l.quickly(0));
    l.slowly(0);
    l.slowly(0);
    EXPECT_TRUE(l.quickly(0));
    repeat_rights_catch_up(&l.o, &op);
    EXPECT_FALSE(l.quickly(0));
}

/* Nor after it, not even on the lane of an operation that the host waits for. */
TEST(Claims, AfterAHostsWaitTheNextOperationIsRegistered)
{
    static Lanes l;
    const struct touched nothing = {};
    struct order_op op = {};
    struct promise promise = {};
    op.work = op.waits = op.next = 1;
    op.touched = &l.of[0].touched;
    ASSERT_LE(0, order_lane_open(&l.o, LANE_NON_BLOCKING, 0, 0));
    l.slowly(0);
    EXPECT_TRUE(repeat_rights_use(&l.o, 0, &nothing));
    repeat_rights_catch_up(&l.o, &op);
    order_add(&l.o, &op, &l.plan);
    promises_host_waits(&l.o, 0, 1, &promise);
    EXPECT_FALSE(repeat_rights_use(&l.o, 0, &nothing));
    promises_drop(&promise);
}

TEST(Claims, NonBlockingStreamsAreNotForgottenHoweverManyThereWere)
{
    static struct order o;
    for (int i = 0; i < 65536; i++) {
        const int lane = order_lane_open(&o, LANE_NON_BLOCKING, 0, 0);
        ASSERT_EQ(0, lane);
        order_lane_close(&o, lane);
        ASSERT_EQ(1, order_lane_reclaim(&o, lane));
    }
    EXPECT_TRUE(o.free_running);
}

/* ---- claims beside each other ---- */

/* Four threads share a lane, each with memories that it allocated together. */
struct Shared {
    enum { kThreads = 4, kMemories = 4, kAll = kThreads * kMemories };
    struct order o = {};
    struct order_plan plan;
    struct memory memory[kAll];
    struct touched touched[kAll];

    Shared()
    {
        EXPECT_EQ(0, order_lane_open(&o, LANE_DEFAULT, 0, 0));
        EXPECT_EQ(1, order_lane_open(&o, LANE_DEFAULT, 0, 0));
        for (unsigned i = 0; i < kAll; i++) {
            memory[i] = make_memory(64 + i / kMemories * 64 +
                                    i % kMemories); /* threads' numbers meet in every table, from its first place on */
            touched[i] = {};
            touched[i].count = 1;
            touched[i].at[0] = {&memory[i], 0, UINT64_MAX, 1};
        }
    }
    const struct order_plan &add(unsigned lane, unsigned i)
    {
        struct order_op op = {};
        op.lane = uint16_t(lane);
        op.work = 1;
        op.touched = &touched[i];
        repeat_rights_catch_up(&o, &op);
        order_add(&o, &op, &plan);
        return plan;
    }
};

TEST(Claims, ThreadsThatShareALaneKeepTheirsBesideEachOther)
{
    static Shared s;
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < Shared::kAll; i++)
            s.add(0, i);
    for (unsigned i = 0; i < Shared::kAll; i++)
        EXPECT_TRUE(repeat_rights_use(&s.o, 0, &s.touched[i])) << i;
}

TEST(Claims, WhateverPlaceOneHasItsUseIsFoundByOthers)
{
    static Shared s;
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < Shared::kAll; i++)
            s.add(0, i);
    for (unsigned i = 0; i < Shared::kAll; i++) {
        const moment before = s.o.now;
        ASSERT_TRUE(repeat_rights_use(&s.o, 0, &s.touched[i])) << i;
        const struct order_plan &plan = s.add(1, i);
        ASSERT_EQ(1, plan.count) << i;
        EXPECT_EQ(0, plan.waits[0].lane);
        EXPECT_GT(plan.waits[0].until, before) << "memory " << i << ": the quick operation was not seen";
        EXPECT_FALSE(repeat_rights_use(&s.o, 0, &s.touched[i])) << i;
    }
}

/* More than a row has room for: the newest of them hold, and nothing but time is lost. */
TEST(Claims, WhereARowIsFullTheNewestHold)
{
    static struct order o;
    static struct order_plan plan;
    static struct memory memory[RIGHTS_ROW * 2];
    static struct touched touched[RIGHTS_ROW * 2];
    ASSERT_EQ(0, order_lane_open(&o, LANE_DEFAULT, 0, 0));
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < RIGHTS_ROW * 2; i++) {
            if (round == 0)
                memory[i] = make_memory(7 + 64 * i);
            touched[i].count = 1;
            touched[i].at[0] = {&memory[i], 0, UINT64_MAX, 1};
            struct order_op op = {};
            op.work = 1;
            op.touched = &touched[i];
            repeat_rights_catch_up(&o, &op);
            order_add(&o, &op, &plan);
            EXPECT_TRUE(round == 0 && i == 0 ? true : repeat_rights_use(&o, 0, &touched[i])) << round << ' ' << i;
        }
    unsigned held = 0;
    for (unsigned i = 0; i < RIGHTS_ROW * 2; i++)
        held += unsigned(repeat_rights_use(&o, 0, &touched[i]));
    EXPECT_EQ(unsigned(RIGHTS_ROW), held);
}

/* ---- the gate ---- */

void crowd(int alone)
{
    static uint32_t gate;
    static long plain; /* no atomic: the gate is all that keeps it */
    plain = 0;
    enum { kThreads = 8, kTakes = 100000 };
    std::atomic<int> inside{0}, wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; t++)
        threads.emplace_back([&, t] {
            for (int i = 0; i < kTakes; i++) {
                gate_take(&gate, GATE_HELD | ((i + t) % 3 ? GATE_QUICK : 0));
                wrong += inside.fetch_add(1, std::memory_order_relaxed) != 0;
                plain++;
                if (i % 1000 == 0)
                    sched_yield(); /* the others fall asleep */
                inside.fetch_sub(1, std::memory_order_relaxed);
                gate_drop(&gate, alone);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(0, wrong.load());
    EXPECT_EQ(long(kThreads) * kTakes, plain);
    EXPECT_EQ(0u, gate);
}

TEST(Gate, LetsOneInAndNobodySleepsForEver)
{
    crowd(0);
}

TEST(Gate, TheSameWhereItsHolderThinksItIsAlone)
{
    crowd(1);
}

} // namespace
