/* SPDX-License-Identifier: Apache-2.0
 *
 * Which call a thread's first operation was made by: told only where nothing else can be meant.
 */
#include <gtest/gtest.h>
#include <thread>

extern "C" {
#include "interpose/cupti/first.h"
}

namespace ptds
{
namespace
{

constexpr uint32_t KERNEL = 1, COPY = 2;

/* As a thread of the program. */
template <class Does> void on_a_thread(Does does)
{
    std::thread(does).join();
}

void operation(uint32_t thread, uint64_t ticket, uint64_t began, uint64_t ended, uint32_t work = KERNEL)
{
    if (!first_open())
        return;
    first_begins(thread, ticket, work, began);
    if (first_open())
        first_ends(ended);
}

uint64_t within(uint32_t thread, uint64_t start, uint64_t end)
{
    uint32_t work = 0;
    return first_within(thread, start, end, &work);
}

TEST(First, IsToldByTheCallAroundIt)
{
    on_a_thread([] {
        EXPECT_TRUE(first_open());
        operation(1, 11, 100, 200, COPY);
    });
    uint32_t work = 0;
    EXPECT_EQ(first_within(1, 90, 210, &work), 11u);
    EXPECT_EQ(work, COPY);
    EXPECT_EQ(within(1, 100, 200), 11u);
    EXPECT_EQ(within(1, 101, 210), 0u) << "began within";
    EXPECT_EQ(within(1, 90, 199), 0u) << "ended before";
    EXPECT_EQ(within(2, 90, 210), 0u) << "another thread's";
}

TEST(First, HasNothingBesideIt)
{
    on_a_thread([] {
        operation(3, 31, 100, 200);
        EXPECT_EQ(within(3, 90, 400), 31u) << "no other yet";
        operation(3, 32, 300, 350);
        EXPECT_FALSE(first_open());
        operation(3, 33, 500, 550);
    });
    EXPECT_EQ(within(3, 90, 400), 0u) << "a second one in the same call";
    EXPECT_EQ(within(3, 90, 300), 0u);
    EXPECT_EQ(within(3, 90, 299), 31u);
    EXPECT_EQ(within(3, 290, 360), 0u) << "only the first is asked about";
}

TEST(First, HasNothingUnrecordedBesideItOrBefore)
{
    on_a_thread([] {
        operation(4, 41, 100, 200);
        first_ends(300);
        EXPECT_FALSE(first_open());
    });
    EXPECT_EQ(within(4, 90, 310), 0u);
    EXPECT_EQ(within(4, 90, 250), 41u);
    on_a_thread([] {
        first_ends(100);
        EXPECT_FALSE(first_open());
        operation(5, 51, 150, 200);
    });
    EXPECT_EQ(within(5, 90, 210), 0u);
}

TEST(First, OfThreadsWithOneNameIsOfNobody)
{
    for (uint64_t ticket : {61, 62})
        on_a_thread([=] { operation(6, ticket, 100 * ticket, 100 * ticket + 50); });
    EXPECT_EQ(within(6, 6090, 6160), 61u);
    EXPECT_EQ(within(6, 6190, 6260), 62u);
    EXPECT_EQ(within(6, 6090, 6260), 0u);
}

TEST(First, NeedsAClockAndOneKindOfWork)
{
    on_a_thread([] {
        operation(7, 71, 0, 200);
        EXPECT_FALSE(first_open());
    });
    on_a_thread([] {
        operation(7, 72, 100, 0);
        EXPECT_FALSE(first_open());
    });
    on_a_thread([] {
        operation(7, 73, 100, 200, 0);
        EXPECT_FALSE(first_open());
    });
    on_a_thread([] {
        first_begins(7, 74, KERNEL, 100);
        EXPECT_EQ(within(7, 0, 1000), 0u) << "under way";
        first_ends(200);
        EXPECT_EQ(within(7, 0, 1000), 74u);
    });
}

/* The last of the tests: there is no room after it. */
TEST(First, HasRoomForSoManyThreads)
{
    for (uint64_t i = 1; i <= 5000; i++)
        on_a_thread([=] { operation(8, 1000 + i, 10 * i, 10 * i + 5); });
    EXPECT_EQ(within(8, 10, 15), 1001u);
    EXPECT_EQ(within(8, 40000, 40005), 5000u);
    EXPECT_EQ(within(8, 50000, 50005), 0u);
}

} // namespace
} // namespace ptds
