/* SPDX-License-Identifier: Apache-2.0
 *
 * The quick way through the guard while other threads are at work: what the gate keeps apart, and what whoever takes a
 * claim away must see.
 */
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

extern "C" {
#include "interpose/guard/around_call.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/carry_out/turn.h"
#include "interpose/guard/decide/order_lane.h"
#include "interpose/guard/decide/repeat_rights.h"
#include "interpose/guard/guard.h"
#include "interpose/guard/object_changes.h"
}

#include "tests/guard/caller.h"

namespace
{

using Clock = std::chrono::steady_clock;

/* ---- a quick call on its way ---- */

/* Whether what the function does ends within so many milliseconds. */
bool ends_within(const std::atomic<bool> &done, int milliseconds)
{
    const auto until = Clock::now() + std::chrono::milliseconds(milliseconds);
    while (!done && Clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return done;
}

TEST_F(Quick, WhoHasToComeAfterAQuickCallRecordsBehindIt)
{
    static struct memory memory = make_memory(1), other = make_memory(2);
    Caller a(context_), b(context_);
    warm(&a, &memory);
    b.launch(&other);
    ASSERT_NE(a.lane(), b.lane());
    ASSERT_EQ(1, a.begin(&memory));
    g_recorded_on = nullptr;
    std::atomic<bool> done{false};
    std::thread conflicting([&] {
        b.launch(&memory);
        done = true;
    });
    EXPECT_FALSE(ends_within(done, 50)) << "the event was recorded before the driver had the quick call";
    EXPECT_EQ(nullptr, g_recorded_on.load());
    a.end();
    conflicting.join();
    EXPECT_EQ(issue_lanes[a.lane()].handle, g_recorded_on.load());
    EXPECT_EQ(0, a.begin(&memory)) << "the memory is the other lane's now";
    a.end();
}

TEST_F(Quick, WhatIsOnItsWayIsNotDoneWhenTheHostHasWaitedForAll)
{
    static struct memory memory = make_memory(3);
    Caller a(context_), b(context_);
    warm(&a, &memory);
    ASSERT_EQ(1, a.begin(&memory));
    b.fill(API_cuCtxSynchronize, PTDS_OP_CTX_SYNC, nullptr);
    around_call_enter(&b.call);
    EXPECT_EQ(1, b.call.guarded.begun);
    EXPECT_EQ(0u, b.call.guarded.ordered[a.lane()]);
    a.end();
    around_call_enter(&b.call);
    EXPECT_NE(0u, b.call.guarded.ordered[a.lane()]);
}

/* ---- a call inside of a call ---- */

/* A tool that the driver calls back makes a call of its own, on the same thread: it must not wait for the one around it,
 * and both leave the lane as if it were theirs alone. */
TEST_F(Quick, ACallInsideOfACallDoesNotWaitForIt)
{
    static struct memory memory = make_memory(4), other = make_memory(5);
    Caller a(context_);
    for (int quick = 0; quick < 2; quick++) {
        if (quick)
            warm(&a, &memory);
        EXPECT_EQ(quick, a.begin(&memory));
        const struct call outer = a.call;
        a.launch(&other);
        a.launch(&other);
        a.call = outer;
        a.end();
        EXPECT_EQ(issue_lanes[a.lane()].tickets, issue_lanes[a.lane()].serving);
        EXPECT_EQ(0u, issue_lanes[a.lane()].gate);
        EXPECT_EQ(0u, a.thread.held);
        a.launch(&memory);
    }
}

/* ---- a call that never returns ---- */

/* Cancelled before it could record the mark that others would wait for: they wait for the lane itself. */
TEST_F(Quick, ACancelledCallLeavesNoMark)
{
    static struct memory memory = make_memory(7), other = make_memory(8);
    Caller a(context_), b(context_);
    b.launch(&other); /* so that there is default-stream work, and 0x2 is marked after each operation */
    for (bool returns : {true, false}) {
        a.fill(API_cuLaunchKernel, PTDS_OP_LAUNCH, &memory);
        guard_per_thread_work(&a.call);
        ASSERT_GE(a.call.guarded.mark_after, 0);
        if (returns)
            a.end();
    }
    const CUevent &mark = issue_lanes[a.call.guarded.lane].mark[a.call.guarded.mark_after];
    ASSERT_NE(nullptr, mark) << "what the operation before it recorded";
    turn_abandon(&a.thread);
    EXPECT_EQ(nullptr, mark);
    const int waits = g_host_waits;
    b.launch(&memory);
    EXPECT_EQ(waits + 1, g_host_waits);
}

/* ---- turns that are given out ---- */

TEST_F(Quick, ATurnThatIsGivenOutComesFirst)
{
    static struct memory memory = make_memory(4);
    Caller a(context_);
    warm(&a, &memory);
    uint32_t ticket = 0;
    std::thread([&] {
        lock_take(&guard_state.lock);
        ticket = issue_ticket(a.lane());
        lock_drop(&guard_state.lock);
    }).join();
    a.fill(API_cuLaunchKernel, PTDS_OP_LAUNCH, &memory);
    EXPECT_EQ(0, turn_again(&a.call, &a.here));
    EXPECT_EQ(0u, issue_lanes[a.lane()].gate) << "a refused call keeps no gate";
    turn_end(&a.call); /* nothing, unless that failed */
    issue_served(a.lane(), ticket);
    EXPECT_EQ(1, turn_again(&a.call, &a.here));
    turn_end(&a.call);
}

void pause_some(unsigned *seed)
{
    *seed = *seed * 1103515245 + 12345;
    for (unsigned i = *seed >> 16 & 63; i; i--)
        std::atomic_signal_fence(std::memory_order_seq_cst);
}

/* Whoever records an event has a ticket, and found no quick call on its way: none may come until the ticket is served. The
 * claims all hold, so nothing but ticket and gate keeps them apart. */
TEST_F(Quick, NoQuickCallComesBetweenATicketAndItsEvent)
{
    static struct memory memory = make_memory(5);
    Caller a(context_);
    warm(&a, &memory);
    const unsigned lane = a.lane();
    std::atomic<int> recording{0}, launching{0}, stop{0};
    std::atomic<long> both{0}, quick{0};
    std::thread launcher([&] {
        while (!stop.load(std::memory_order_relaxed)) {
            a.fill(API_cuLaunchKernel, PTDS_OP_LAUNCH, &memory);
            if (!turn_again(&a.call, &a.here))
                continue;
            quick.fetch_add(1, std::memory_order_relaxed);
            launching = 1;
            both += recording.load();
            launching = 0;
            turn_end(&a.call);
        }
    });
    struct order_plan plan = {};
    plan.count = 1;
    plan.waits[0] = {uint16_t(lane), ORDER_NEWEST, 0, 0};
    unsigned seed = 1;
    for (const auto until = Clock::now() + std::chrono::milliseconds(1500); Clock::now() < until;) {
        for (int i = 0; i < 100; i++) {
            uint32_t ticket;
            lock_take(&guard_state.lock);
            issue_plan_tickets(&plan, &ticket);
            lock_drop(&guard_state.lock);
            issue_await_turn(lane, ticket);
            gate_await_quick(&issue_lanes[lane].gate);
            recording = 1;
            both += launching.load();
            recording = 0;
            issue_served(lane, ticket);
            pause_some(&seed);
        }
    }
    stop = 1;
    launcher.join();
    EXPECT_EQ(0, both.load());
    EXPECT_GT(quick.load(), 100);
}

/* ---- after a fork ---- */

int nonzero_bytes(const void *at, size_t size)
{
    int count = 0;
    for (size_t i = 0; i < size; i++)
        count += static_cast<const unsigned char *>(at)[i] != 0;
    return count;
}

TEST_F(Quick, AForkedChildBeginsAnew)
{
    static struct memory memory = make_memory(6);
    Caller a(context_);
    warm(&a, &memory);
    ASSERT_EQ(1, a.begin(&memory)); /* the gate is held, the claim used, and the lock held as well */
    lock_take(&guard_state.lock);
    const pid_t child = fork();
    if (child == 0) {
        object_changes_after_fork();
        const bool clean =
            !nonzero_bytes(issue_lanes, sizeof issue_lanes) && !nonzero_bytes(&guard_state, sizeof guard_state);
        const int lane = order_lane_open(&guard_state.order, LANE_DEFAULT, 0, 0);
        const bool unclaimed = lane == 0 && !repeat_rights_are_ready(&guard_state.order, 0) &&
                               !repeat_rights_use(&guard_state.order, 0, &a.call.touched);
        _exit(clean ? unclaimed ? 0 : 2 : 1);
    }
    lock_drop(&guard_state.lock);
    a.end();
    int status = -1;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, WEXITSTATUS(status)) << "1: something is left; 2: a claim holds";
    EXPECT_TRUE(WIFEXITED(status));
}

} // namespace
