/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of hand-over objects on its own: what is given is taken, whatever else comes and goes, and by many threads.
 */
#include <atomic>
#include <gtest/gtest.h>
#include <set>
#include <thread>
#include <vector>

extern "C" {
#include "interpose/handover/objects.h"
}

namespace ptds
{
namespace
{

clocks one(int kind, int lane, uint64_t count)
{
    clocks made = {};
    clocks_set(&made, kind, lane, count);
    return made;
}

uintptr_t object(int number)
{
    return 0x7f0000000000u + 40u * (uintptr_t)number;
}

TEST(Clocks, MergeKeepsTheNewerOfEachLane)
{
    clocks into = one(HANDED_DEFAULT, 3, 7), from = one(HANDED_DEFAULT, 3, 9);
    clocks_set(&into, HANDED_JOINED, 63, 5);
    EXPECT_EQ(clocks_merge(&into, &from), 1);
    EXPECT_EQ(clocks_merge(&into, &from), 0);
    from = one(HANDED_DEFAULT, 3, 8);
    EXPECT_EQ(clocks_merge(&into, &from), 0);
    EXPECT_TRUE(clocks_know(&into, HANDED_DEFAULT, 3, 9));
    EXPECT_FALSE(clocks_know(&into, HANDED_DEFAULT, 3, 10));
    EXPECT_TRUE(clocks_know(&into, HANDED_JOINED, 63, 5));
    EXPECT_FALSE(clocks_know(&into, HANDED_JOINED, 3, 1));
}

/* Thirty-two bits are some hours of hand-overs. */
TEST(Clocks, CountsPastThirtyTwoBitsAreNewer)
{
    const uint64_t past = 0x100000002u;
    clocks into = one(HANDED_DEFAULT, 0, 0xfffffff0u), from = one(HANDED_DEFAULT, 0, past), old = one(HANDED_DEFAULT, 0, 5);
    EXPECT_EQ(clocks_merge(&into, &from), 1);
    EXPECT_EQ(clocks_merge(&into, &old), 0);
    EXPECT_EQ(into.count[HANDED_DEFAULT][0], past);
}

TEST(Objects, AreLeftAloneUntilTheyAreInserted)
{
    clocks known = one(HANDED_DEFAULT, 1, 1), taken = {};
    handover_objects_after_fork();
    objects_give(object(1), &known);
    EXPECT_FALSE(objects_known(object(1)));
    EXPECT_FALSE(objects_take(object(1), &taken));
    EXPECT_TRUE(objects_insert(object(1), &known));
    EXPECT_FALSE(objects_insert(object(1), &known));
    EXPECT_FALSE(objects_take(object(2), &taken));
    EXPECT_TRUE(objects_take(object(1), &taken));
    EXPECT_TRUE(clocks_know(&taken, HANDED_DEFAULT, 1, 1));
}

TEST(Objects, LoseNothingWhereTheTableIsFull)
{
    enum { MANY = 40000 };
    handover_objects_after_fork();
    for (int i = 0; i < MANY; i++) {
        clocks known = one(HANDED_DEFAULT, i % LANES, (uint32_t)i / LANES + 1);
        objects_insert(object(i), &known);
    }
    for (int i = 0; i < MANY; i++) {
        clocks taken = {};
        objects_take(object(i), &taken);
        ASSERT_TRUE(clocks_know(&taken, HANDED_DEFAULT, i % LANES, (uint32_t)i / LANES + 1)) << i;
    }
}

TEST(Objects, InUseStayInAFullTable)
{
    clocks known = one(HANDED_DEFAULT, 1, 1), more = one(HANDED_JOINED, 2, 1), taken = {};
    handover_objects_after_fork();
    objects_insert(object(0), &known);
    for (int i = 1; i < 40000; i++) {
        objects_insert(object(i), &known);
        objects_give(object(0), &known);
    }
    objects_give(object(0), &more);
    objects_take(object(0), &taken);
    EXPECT_TRUE(clocks_know(&taken, HANDED_JOINED, 2, 1));
}

std::set<uintptr_t> locked;

int was_locked(uintptr_t mutex)
{
    return (int)locked.count(mutex);
}

/* Fewer and more than the table keeps in order. */
TEST(Objects, ConvertedMutexesAreLookedAtAgain)
{
    for (int count : {3, 200}) {
        SCOPED_TRACE(count);
        handover_objects_after_fork();
        uint32_t seen = objects_converted;
        for (int i = 0; i < count; i++) {
            clocks known = one(HANDED_DEFAULT, i % LANES, 1);
            objects_insert(object(i), &known);
            objects_convert(object(i));
        }
        clocks taken = {};
        locked = {object(1)};
        EXPECT_TRUE(objects_take_converted(&seen, was_locked, &taken));
        EXPECT_EQ(taken.have[HANDED_DEFAULT], 2u);
        EXPECT_EQ(seen, (uint32_t)count);
        EXPECT_FALSE(objects_take_converted(&seen, was_locked, &taken));
    }
}

/* What a thread gives before it says so is there for who hears it, while others use the same places. */
TEST(Objects, ManyThreads)
{
    enum { THREADS = 4, ROUNDS = 2000 };
    static std::atomic<int> said[THREADS];
    std::atomic<int> missed{0};
    std::vector<std::thread> threads;
    handover_objects_after_fork();
    for (int t = 0; t < THREADS; t++) {
        threads.emplace_back([t, &missed] {
            for (int round = 1; round <= ROUNDS; round++) {
                clocks known = one(HANDED_DEFAULT, t, (uint32_t)round), taken = {};
                objects_insert(object(t), &known);
                objects_insert(object(100 + round * THREADS + t), &known);
                said[t] = round;
                int other = (t + 1) % THREADS, heard = said[other];
                objects_take(object(other), &taken);
                missed += heard && !clocks_know(&taken, HANDED_DEFAULT, other, (uint32_t)heard);
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(missed, 0);
}

} // namespace
} // namespace ptds
