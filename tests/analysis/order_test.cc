// SPDX-License-Identifier: Apache-2.0
//
// The order of analysis/model/order.h on its own: what a thread knows is behind the work that it submits from then on,
// whoever else submits to the same stream in between.
#include <gtest/gtest.h>

extern "C" {
#include "analysis/model/order.h"
}

namespace ptds
{
namespace
{

/* Slot 0: other work, of a stream that no implicit order reaches. */
struct Orders {
    Orders()
    {
        order.policy = ORDER_LEGACY;
        order.places = &events;
        EXPECT_TRUE(order_open(&order, OTHER, 0, ORDER_ROLE_NONE));
        EXPECT_TRUE(order_open(&order, SHARED, 0, ORDER_ROLE_NONE));
        EXPECT_TRUE(order_open(&order, SECOND, 0, ORDER_ROLE_NONE));
    }
    ~Orders()
    {
        order_free(&order);
        order_events_free(&events);
    }
    Orders(const Orders &) = delete;
    Orders &operator=(const Orders &) = delete;
    uint64_t Submit(uint32_t slot, uint32_t thread)
    {
        order_submit(&order, slot, thread, ++last);
        return last;
    }
    /* The thread has waited for the other work, up to this operation. */
    void Waited(uint32_t thread, uint64_t op)
    {
        vclock known = {};
        EXPECT_TRUE(vclock_raise(&known, OTHER, op));
        order_host_knows(&order, thread, &known);
        vclock_free(&known);
    }
    bool Behind(uint32_t slot, uint64_t op) const
    {
        return order_before(&order, OTHER, op, slot);
    }

    enum { OTHER, SHARED, SECOND };
    struct order_events events = {};
    struct order order = {};
    uint64_t last = 0;
};

TEST(Order, WhatAThreadWaitedForIsBehindItsWorkAlone)
{
    Orders of;
    uint64_t work = of.Submit(Orders::OTHER, 0);
    of.Waited(0, work);
    of.Submit(Orders::SHARED, 1);
    EXPECT_FALSE(of.Behind(Orders::SHARED, work)) << "thread 1 waited for nothing";
    of.Submit(Orders::SHARED, 0);
    EXPECT_TRUE(of.Behind(Orders::SHARED, work));
}

TEST(Order, EachWaitIsToldHoweverThreadsTakeTurns)
{
    Orders of;
    for (unsigned turn = 0; turn < 4; turn++) {
        uint64_t work = of.Submit(Orders::OTHER, 2), more = of.Submit(Orders::OTHER, 2);
        of.Waited(0, work);
        EXPECT_FALSE(of.Behind(Orders::SHARED, work));
        of.Submit(Orders::SHARED, 0);
        EXPECT_TRUE(of.Behind(Orders::SHARED, work));
        of.Submit(Orders::SHARED, 1);
        of.Waited(1, more);
        of.Submit(Orders::SHARED, 0);
        EXPECT_FALSE(of.Behind(Orders::SHARED, more));
        of.Submit(Orders::SHARED, 1);
        EXPECT_TRUE(of.Behind(Orders::SHARED, more));
    }
}

TEST(Order, AThreadTellsEachStream)
{
    for (uint32_t first : {Orders::SHARED, Orders::SECOND}) {
        Orders of;
        uint32_t then = first == Orders::SHARED ? Orders::SECOND : Orders::SHARED;
        uint64_t work = of.Submit(Orders::OTHER, 2);
        of.Waited(0, work);
        of.Submit(first, 0);
        of.Submit(first, 1);
        of.Submit(then, 1);
        EXPECT_FALSE(of.Behind(then, work));
        of.Submit(then, 0);
        EXPECT_TRUE(of.Behind(then, work));
    }
}

TEST(Order, AStreamInTheSlotOfAnotherWasToldNothing)
{
    Orders of;
    uint64_t work = of.Submit(Orders::OTHER, 2);
    of.Waited(0, work);
    of.Submit(Orders::SHARED, 0);
    order_close(&of.order, Orders::SHARED);
    ASSERT_TRUE(order_open(&of.order, Orders::SHARED, 0, ORDER_ROLE_NONE));
    EXPECT_FALSE(of.Behind(Orders::SHARED, work));
    of.Submit(Orders::SHARED, 1);
    EXPECT_FALSE(of.Behind(Orders::SHARED, work));
    of.Submit(Orders::SHARED, 0);
    EXPECT_TRUE(of.Behind(Orders::SHARED, work));
}

/* A legacy stream, and two that it waits for. */
struct LegacyOrders : Orders {
    LegacyOrders()
    {
        EXPECT_TRUE(order_open(&order, LEGACY, 0, ORDER_ROLE_LEGACY));
        EXPECT_TRUE(order_open(&order, BLOCKING, 0, ORDER_ROLE_BLOCKING));
        EXPECT_TRUE(order_open(&order, ANOTHER, 0, ORDER_ROLE_BLOCKING));
    }
    /* Other work, which the stream waits for by an event. */
    uint64_t WaitsForWork(uint32_t slot)
    {
        uint64_t work = Submit(OTHER, 2);
        order_record(&order, 7, ++generation, OTHER);
        order_wait(&order, slot, 7, generation);
        Submit(slot, 0);
        return work;
    }

    enum { LEGACY = SECOND + 1, BLOCKING, ANOTHER };
    uint32_t generation = 0;
};

TEST(Order, WhatTheLegacyStreamWaitedForIsBehindBlockingOnes)
{
    LegacyOrders of;
    of.Submit(LegacyOrders::LEGACY, 0);
    of.Submit(LegacyOrders::BLOCKING, 0);
    uint64_t work = 0;
    for (unsigned turn = 0; turn < 300; turn++) { /* more often than is remembered of what was new */
        work = of.WaitsForWork(LegacyOrders::LEGACY);
        EXPECT_TRUE(of.Behind(LegacyOrders::LEGACY, work));
        EXPECT_FALSE(of.Behind(LegacyOrders::BLOCKING, work));
        of.Submit(LegacyOrders::BLOCKING, 0);
        ASSERT_TRUE(of.Behind(LegacyOrders::BLOCKING, work)) << turn;
        of.Submit(Orders::SHARED, 0);
        ASSERT_FALSE(of.Behind(Orders::SHARED, work)) << turn;
    }
    EXPECT_FALSE(of.Behind(LegacyOrders::ANOTHER, 1));
    of.Submit(LegacyOrders::ANOTHER, 0);
    EXPECT_TRUE(of.Behind(LegacyOrders::ANOTHER, work)) << "all of it at once";
}

TEST(Order, WhatABlockingStreamWaitedForIsBehindTheLegacyOne)
{
    LegacyOrders of;
    uint64_t work = of.WaitsForWork(LegacyOrders::BLOCKING);
    EXPECT_FALSE(of.Behind(LegacyOrders::LEGACY, work));
    EXPECT_FALSE(of.Behind(LegacyOrders::ANOTHER, work));
    of.Submit(LegacyOrders::ANOTHER, 0);
    EXPECT_FALSE(of.Behind(LegacyOrders::ANOTHER, work)) << "blocking streams do not wait for each other";
    of.Submit(LegacyOrders::LEGACY, 0);
    EXPECT_TRUE(of.Behind(LegacyOrders::LEGACY, work));
    of.Submit(LegacyOrders::ANOTHER, 0);
    EXPECT_TRUE(of.Behind(LegacyOrders::ANOTHER, work));
}

TEST(Order, AStreamThatIsGoneIsWaitedForByNobody)
{
    LegacyOrders of;
    uint64_t work = of.WaitsForWork(LegacyOrders::BLOCKING);
    of.Submit(LegacyOrders::ANOTHER, 0);
    order_close(&of.order, LegacyOrders::BLOCKING);
    ASSERT_TRUE(order_open(&of.order, LegacyOrders::BLOCKING, 0, ORDER_ROLE_NONE));
    of.Submit(LegacyOrders::BLOCKING, 1);
    const uint64_t later = of.last;
    of.Submit(LegacyOrders::LEGACY, 0);
    EXPECT_FALSE(of.Behind(LegacyOrders::LEGACY, work));
    EXPECT_FALSE(order_before(&of.order, LegacyOrders::BLOCKING, later, LegacyOrders::LEGACY));
    EXPECT_TRUE(order_before(&of.order, LegacyOrders::ANOTHER, later - 1, LegacyOrders::LEGACY));
}

TEST(Order, AnEventThatIsForgottenOrdersNothing)
{
    LegacyOrders of;
    uint64_t work = of.Submit(Orders::OTHER, 2);
    order_record(&of.order, 7, 1, Orders::OTHER);
    order_wait(&of.order, Orders::SHARED, 7, 0);
    order_wait(&of.order, Orders::SHARED, 8, 0);
    EXPECT_EQ(0u, of.order.unknown_generations) << "was never recorded";
    order_wait(&of.order, Orders::SHARED, 7, 2);
    EXPECT_EQ(1u, of.order.unknown_generations) << "such a recording is not there";
    order_forget_event(&of.order, 7);
    order_forget_event(&of.order, 8);
    order_wait(&of.order, Orders::SHARED, 7, 1);
    EXPECT_EQ(2u, of.order.unknown_generations);
    EXPECT_FALSE(of.Behind(Orders::SHARED, work));
    vclock covered = {};
    order_cover_event(&of.order, 7, 1, &covered);
    EXPECT_EQ(0u, vclock_get(&covered, Orders::OTHER));
    order_record(&of.order, 7, 3, Orders::OTHER);
    order_cover_event(&of.order, 7, 3, &covered);
    EXPECT_EQ(work, vclock_get(&covered, Orders::OTHER));
    vclock_free(&covered);
}

} // namespace
} // namespace ptds
