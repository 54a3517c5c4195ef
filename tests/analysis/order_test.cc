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

} // namespace
} // namespace ptds
