/* SPDX-License-Identifier: Apache-2.0
 *
 * The events that the guard keeps ready: each is in one pair of hands at a time, and what is too much goes back to the
 * driver.
 */
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

extern "C" {
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/carry_out/spare_events.h"
}

#include "tests/guard/caller.h"
#include "tests/guard/waits.h"

namespace
{

std::atomic<uintptr_t> g_made;
std::vector<CUevent> g_destroyed;
bool g_refuses;

CUresult make(CUevent *event, unsigned flags)
{
    EXPECT_EQ(unsigned{CU_EVENT_DISABLE_TIMING}, flags);
    if (g_refuses)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *event = CUevent(++g_made);
    return CUDA_SUCCESS;
}
CUresult destroy(CUevent event)
{
    g_destroyed.push_back(event);
    return CUDA_SUCCESS;
}

class SpareEvents : public testing::Test
{
protected:
    void SetUp() override
    {
        install_driver();
        driver_real[API_cuEventCreate][0] = reinterpret_cast<void *>(make);
        driver_real[API_cuEventDestroy_v2][0] = reinterpret_cast<void *>(destroy);
        g_made = 0;
        g_destroyed.clear();
        g_refuses = false;
        static uintptr_t handle = 0x400000;
        g_current = CUcontext(handle += 0x100);
        context_ = contexts_get(g_current);
        pool_of(context_);
    }
    void TearDown() override
    {
        pool_context_gone(context_);
        install_driver();
    }
    struct context *context_ = nullptr;
};

TEST_F(SpareEvents, TheFirstOnes)
{
    spare_events_make(context_);
    EXPECT_EQ(32u, g_made);
    EXPECT_EQ(32u, context_->pool->events);
    g_refuses = true;
    spare_events_make(context_);
    driver_real[API_cuEventCreate][0] = nullptr;
    spare_events_make(context_);
    EXPECT_EQ(32u, context_->pool->events);
}

TEST_F(SpareEvents, WhatComesBackIsTheNextOne)
{
    CUevent first = spare_events_take(context_), second = spare_events_take(context_);
    EXPECT_EQ(CUevent(1), first);
    EXPECT_EQ(CUevent(2), second);
    spare_events_give_back(context_, first);
    spare_events_give_back(context_, second);
    g_refuses = true;
    EXPECT_EQ(second, spare_events_take(context_));
    EXPECT_EQ(first, spare_events_take(context_));
    EXPECT_EQ(nullptr, spare_events_take(context_)) << "a driver that refuses";
    driver_real[API_cuEventCreate][0] = nullptr;
    EXPECT_EQ(nullptr, spare_events_take(context_)) << "a driver that lacks the function";
    EXPECT_TRUE(g_destroyed.empty());
}

TEST_F(SpareEvents, OfMoreThanAreKeptTheDriverGetsTheRest)
{
    std::vector<CUevent> taken;
    for (int i = 0; i < 1030; i++)
        taken.push_back(spare_events_take(context_));
    for (CUevent event : taken)
        spare_events_give_back(context_, event);
    EXPECT_EQ(1024u, context_->pool->events);
    EXPECT_EQ(std::vector<CUevent>(taken.end() - 6, taken.end()), g_destroyed);
    std::set<CUevent> again;
    for (int i = 0; i < 1024; i++)
        again.insert(spare_events_take(context_));
    EXPECT_EQ(std::set<CUevent>(taken.begin(), taken.end() - 6), again);
    EXPECT_EQ(1030u, g_made);
    driver_real[API_cuEventDestroy_v2][0] = nullptr;
    for (CUevent event : taken)
        spare_events_give_back(context_, event); /* and nothing, where the driver lacks the function */
    EXPECT_EQ(6u, g_destroyed.size());
}

TEST_F(SpareEvents, NoneOfAContextThatIsGone)
{
    CUevent event = spare_events_take(context_);
    pool_context_gone(context_);
    EXPECT_EQ(nullptr, spare_events_take(context_));
    spare_events_give_back(context_, event);
    EXPECT_EQ(1u, g_made);
    EXPECT_TRUE(g_destroyed.empty()) << "it went with its context";
}

TEST_F(SpareEvents, ComeAndGoUnderTheirLock)
{
    CUevent event = spare_events_take(context_);
    EXPECT_TRUE(waits([&] { spare_events_give_back(context_, event); }, &context_->pool->events_lock));
    EXPECT_TRUE(waits([&] { spare_events_take(context_); }, &context_->pool->events_lock));
}

/* Whoever holds one holds it alone. */
TEST_F(SpareEvents, ManyThreads)
{
    std::vector<std::atomic<int>> held(100000);
    std::atomic<int> twice{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&] {
            for (int i = 0; i < 50000; i++) {
                CUevent event = spare_events_take(context_);
                std::atomic<int> &holders = held[uintptr_t(event) % held.size()];
                twice += holders++ != 0;
                holders--;
                spare_events_give_back(context_, event);
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(0, twice);
    EXPECT_LE(g_made, 4u) << "at most one a thread is out";
    EXPECT_EQ(g_made, context_->pool->events);
}

} // namespace
