/* SPDX-License-Identifier: Apache-2.0
 *
 * The process's first unwinding, which loads a library: another thread may hold what that waits for, and goes on recording.
 */
#include "tests/record/recording.h"

#include <functional>
#include <thread>

extern "C" {
#include "interpose/record/recorder.h"
#include "interpose/record/start.h"
}

namespace
{

std::function<void()> g_loading; /* what others do while the unwinder is being loaded */

} // namespace

/* In the place of libc's. */
extern "C" __attribute__((visibility("default"))) int backtrace(void **, int)
{
    if (g_loading)
        g_loading();
    return 0;
}

namespace
{

class WarmUp : public Recording
{
protected:
    /* Of a call as one that may block, which is worth a stack. */
    uint32_t stack_of_one()
    {
        struct call call = made();
        return recorder_stack(&call);
    }
    void SetUp() override
    {
        g_loading = [this] {
            std::thread([this] {
                unwound_ = 0;
                g_loading = [this] { unwound_++; };
                const uint64_t before = clock_nanoseconds(CLOCK_MONOTONIC);
                start_recording();
                took_ = (clock_nanoseconds(CLOCK_MONOTONIC) - before) / 1000000;
                was_on_ = recorder_on();
                stack_ = stack_of_one();
            }).join();
        };
        thread_.uid = 7;
        Recording::SetUp();
    }
    int unwound_ = -1, was_on_ = 0;
    uint64_t took_ = 0;
    uint32_t stack_ = 0;
};

TEST_F(WarmUp, NobodyElseUnwindsUntilItIsOver)
{
    EXPECT_TRUE(was_on_) << "it waited some time, and then began itself";
    EXPECT_GE(took_, 90u);
    EXPECT_LT(took_, 5000u);
    EXPECT_EQ(1u, stack_);
    EXPECT_EQ(0, unwound_) << "which an old libc would let wait for ever";
    for (int i = 0; i < 300; i++)
        stack_of_one();
    EXPECT_GT(unwound_, 0);
    g_loading = nullptr;
}

} // namespace
