/* SPDX-License-Identifier: Apache-2.0
 *
 * What the guard keeps of the program's events, and that whoever changes what an event was recorded for does so under the
 * guard's lock.
 */
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

extern "C" {
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/program_event.h"
#include "interpose/guard/guard.h"
#include "interpose/guard/object_changes.h"
}

#include "tests/guard/waits.h"

namespace
{

const CUevent one = reinterpret_cast<CUevent>(0x10), other = reinterpret_cast<CUevent>(0x20);

void guard_event_gone(CUevent event)
{
    program_event_left(event, program_event_leaves(event), 1);
}

class Events : public testing::Test
{
protected:
    void TearDown() override
    {
        guard_event_gone(one);
        guard_event_gone(other);
    }
};

void expect(CUevent event, int timed, int foreign, int elsewhere)
{
    const struct program_event *entry = program_event_find(event);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->timed, timed);
    EXPECT_EQ(entry->foreign, foreign);
    EXPECT_EQ(entry->elsewhere, elsewhere);
}

TEST_F(Events, AreWhatTheyWereMadeAs)
{
    EXPECT_EQ(program_event_find(one), nullptr);
    program_event_created(one, CU_EVENT_DISABLE_TIMING, 0);
    expect(one, 0, 0, 0);
    EXPECT_EQ(program_event_find(other), nullptr);
    program_event_created(other, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS, 0);
    expect(other, 0, 1, 0);
    guard_event_gone(one);
    EXPECT_EQ(program_event_find(one), nullptr);
    program_event_created(one, 0, 0);
    expect(one, 1, 0, 0);
    expect(other, 0, 1, 0);
    EXPECT_EQ(program_event_make(one), program_event_find(one));
}

TEST_F(Events, OfAnotherProcessAreForeign)
{
    program_event_created(one, CU_EVENT_DISABLE_TIMING, 1);
    expect(one, 0, 1, 0);
}

/* Destroyed past the shim, and the handle serves again: nothing of before holds. */
TEST_F(Events, OfAHandleThatServesAgain)
{
    program_event_created(one, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING, 0);
    program_event_recorded_elsewhere(one);
    expect(one, 0, 1, 1);
    program_event_created(one, 0, 0);
    expect(one, 1, 0, 0);
}

TEST_F(Events, ThatNobodySawBeingMadeMayMeasure)
{
    program_event_unrecorded(one);
    EXPECT_EQ(program_event_find(one), nullptr);
    program_event_recorded_elsewhere(one);
    expect(one, 1, 0, 1);
}

/* What is kept of one that is gone serves the next one, the newest first. */
TEST_F(Events, AreKeptInTheSameMemory)
{
    const CUevent third = reinterpret_cast<CUevent>(0x30);
    const struct program_event *places[3];
    for (const CUevent event : {one, other, third})
        program_event_created(event, 0, 0);
    places[0] = program_event_find(one), places[1] = program_event_find(other), places[2] = program_event_find(third);
    for (const CUevent event : {one, other, third})
        guard_event_gone(event);
    for (const CUevent event : {one, other, third})
        program_event_created(event, CU_EVENT_DISABLE_TIMING, 0);
    EXPECT_EQ(places[2], program_event_find(one));
    EXPECT_EQ(places[1], program_event_find(other));
    EXPECT_EQ(places[0], program_event_find(third));
    guard_event_gone(third);
}

/* The driver refused to destroy it: it is found again, unless there is another one with its handle by now. */
TEST_F(Events, ThatAreNotDestroyedAfterAll)
{
    program_event_created(one, CU_EVENT_DISABLE_TIMING, 1);
    struct program_event *entry = program_event_leaves(one);
    EXPECT_EQ(nullptr, program_event_find(one));
    program_event_left(one, entry, 0);
    EXPECT_EQ(entry, program_event_find(one));
    expect(one, 0, 1, 0);
    entry = program_event_leaves(one);
    program_event_created(one, 0, 0);
    program_event_left(one, entry, 0);
    expect(one, 1, 0, 0);
    program_event_created(other, 0, 0);
    EXPECT_EQ(entry, program_event_find(other)) << "whose memory serves again";
    EXPECT_EQ(nullptr, program_event_leaves(CUevent(0x30)));
    program_event_left(CUevent(0x30), nullptr, 0);
    EXPECT_EQ(nullptr, program_event_find(CUevent(0x30)));
}

TEST_F(Events, ChangeUnderTheLock)
{
    program_event_created(one, 0, 0);
    EXPECT_TRUE(waits([] { program_event_created(one, 0, 0); }));
    EXPECT_TRUE(waits([] { program_event_unrecorded(one); }));
    EXPECT_TRUE(waits([] { program_event_refused(one, 1); }));
    EXPECT_TRUE(waits([] { guard_event_gone(one); }));
    EXPECT_EQ(guard_state.lock.held, 0u) << "and each drops it";
}

/* What is kept serves one at a time, however many threads make and destroy theirs. */
TEST_F(Events, OfManyThreadsAreEachItsOwn)
{
    enum { kThreads = 4, kEach = 4, kRounds = 4000 };
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (uintptr_t t = 0; t < kThreads; t++) {
        threads.emplace_back([t, &wrong] {
            for (int round = 0; round < kRounds; round++) {
                struct program_event *entries[kEach];
                for (uintptr_t i = 0; i < kEach; i++) {
                    const CUevent event = reinterpret_cast<CUevent>(0x1000 * (t + 1) + 0x10 * i);
                    program_event_created(event, 0, 0);
                    entries[i] = program_event_find(event);
                    entries[i]->recorded.lane = uint16_t(t * kEach + i);
                }
                for (uintptr_t i = 0; i < kEach; i++) {
                    wrong += entries[i]->recorded.lane != t * kEach + i;
                    guard_event_gone(reinterpret_cast<CUevent>(0x1000 * (t + 1) + 0x10 * i));
                }
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(0, wrong);
}

TEST_F(Events, OfTheParentAreNoneOfAForkedChilds)
{
    program_event_created(one, 0, 0);
    program_event_after_fork();
    EXPECT_EQ(program_event_find(one), nullptr);
    program_event_created(one, CU_EVENT_DISABLE_TIMING, 0);
    expect(one, 0, 0, 0);
    object_changes_after_fork();
    EXPECT_EQ(program_event_find(one), nullptr);
}

} // namespace
