/* SPDX-License-Identifier: Apache-2.0
 *
 * The gate where it is waited for: who sleeps is woken, and whoever takes the gate after a sleep says that others may sleep
 * still. Without that nothing goes wrong, but threads sleep for half a millisecond at a time.
 */
#include <gtest/gtest.h>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

extern "C" {
#include "interpose/base/gate.h"
}

namespace
{

using Clock = std::chrono::steady_clock;

uint32_t seen(uint32_t *gate)
{
    return __atomic_load_n(gate, __ATOMIC_SEQ_CST);
}

/* Whether the word has the flag within two seconds. */
bool gets(uint32_t *gate, uint32_t flag)
{
    for (const auto until = Clock::now() + std::chrono::seconds(2); Clock::now() < until;) {
        if (seen(gate) & flag)
            return true;
        std::this_thread::yield();
    }
    return false;
}

/* The holder's word, as it was in somebody's hand who had to wait for the gate. */
uint32_t word_of_who_waited(uint32_t how)
{
    uint32_t gate = 0, word = 0;
    gate_take(&gate, GATE_HELD);
    std::thread waiter([&] {
        gate_take(&gate, how);
        word = seen(&gate);
        gate_drop(&gate, 0);
    });
    EXPECT_TRUE(gets(&gate, GATE_WAITED)) << "who waits says so";
    gate_drop(&gate, 0);
    waiter.join();
    EXPECT_EQ(0u, gate);
    return word;
}

TEST(GateWaits, WhoHasWaitedWakesTheNext)
{
    for (int i = 0; i < 200 && !HasFailure(); i++) {
        ASSERT_EQ(uint32_t{GATE_HELD | GATE_WAITED}, word_of_who_waited(GATE_HELD));
        ASSERT_EQ(uint32_t{GATE_HELD | GATE_QUICK | GATE_WAITED}, word_of_who_waited(GATE_HELD | GATE_QUICK));
    }
}

/* This thread is the sleeper, who does not look again by itself as gate.h's do. */
void wakes_sleeper(int alone)
{
    uint32_t gate = GATE_HELD | GATE_WAITED;
    std::thread holder([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        gate_drop(&gate, alone);
    });
    const struct timespec most = {5, 0};
    errno = 0;
    const long woken = syscall(SYS_futex, &gate, FUTEX_WAIT_PRIVATE, GATE_HELD | GATE_WAITED, &most, nullptr, 0);
    EXPECT_FALSE(woken != 0 && errno == ETIMEDOUT) << "alone " << alone;
    holder.join();
    EXPECT_EQ(0u, gate);
}

TEST(GateWaits, WhoeverDropsItWakesASleeper)
{
    wakes_sleeper(0);
    wakes_sleeper(1);
}

/* A word that says only that somebody waits would never be free again. */
TEST(GateWaits, NobodyIsWaitedForWhereNobodyHoldsIt)
{
    enum { kThreads = 4 };
    static uint32_t gate;
    std::atomic<int> stop{0};
    std::atomic<long> takes{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; t++)
        threads.emplace_back([&] {
            while (!stop.load(std::memory_order_relaxed)) {
                gate_take(&gate, GATE_HELD);
                takes.fetch_add(1, std::memory_order_relaxed);
                gate_drop(&gate, 0);
            }
        });
    int wrong = 0;
    for (const auto until = Clock::now() + std::chrono::seconds(1); Clock::now() < until && !wrong;)
        wrong = seen(&gate) == GATE_WAITED;
    stop = 1;
    if (wrong)
        __atomic_store_n(&gate, 0, __ATOMIC_SEQ_CST); /* so that the test ends */
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(0, wrong);
    EXPECT_GT(takes.load(), 1000);
}

} // namespace
