/* SPDX-License-Identifier: Apache-2.0
 *
 * How long the report at exit looks at calls: by a clock that is a millisecond further at each look, so that a number of
 * calls stands for the time on any machine. It looks once in 16 calls.
 */
#include <gtest/gtest.h>

#include <ctime>

#include "tests/analysis/support.h"

namespace
{

struct {
    bool moves;
    long long wall_ms = 1000, cpu_us, cpu_us_a_look;
} pretended;

} // namespace

/* Instead of the C library's; only the report's looks at it are while it moves. */
extern "C" int clock_gettime(clockid_t clock, struct timespec *time) noexcept
{
    if (clock == CLOCK_THREAD_CPUTIME_ID) {
        *time = {pretended.cpu_us / 1000000, pretended.cpu_us % 1000000 * 1000};
        return 0;
    }
    long long ms = pretended.wall_ms;
    pretended.wall_ms += pretended.moves;
    pretended.cpu_us += pretended.cpu_us_a_look;
    *time = {ms / 1000, ms % 1000 * 1000000};
    return 0;
}

namespace ptds
{
namespace
{

constexpr unsigned all = 20000;

/* What the summary says of a program of so many calls, the last of which ends at the end of the run. */
std::string summary(unsigned run_ms, uint64_t budget_ns, long long cpu_us_a_look = 1000)
{
    std::string text;
    for (unsigned i = 1; i < all; i++)
        text += "1@1 launch s=L k=a\n";
    MemoryTrace trace(BuildTrace(text + "1@" + std::to_string(run_ms * 1000) + "+1 sync s=L\n"));
    TextOf out;
    pretended.moves = true;
    pretended.cpu_us_a_look = cpu_us_a_look;
    EXPECT_EQ(0, at_exit_summary(trace.source(), budget_ns, &out));
    pretended.moves = false;
    return out.text;
}

std::string no_time_for(unsigned calls)
{
    return std::string("no time for ") + text_count(calls).text + " (PTDS_REPORT_BUDGET)";
}

#define EXPECT_LOOKED_AT(calls, summary) \
    do { \
        std::string said = summary; \
        EXPECT_NE(said.find(no_time_for(all - (calls))), std::string::npos) << said; \
    } while (0)

TEST(AtExit, LooksForATenthOfTheRun)
{
    EXPECT_LOOKED_AT(8000, summary(5000, 0));
    EXPECT_LOOKED_AT(12800, summary(8000, 0));
}

TEST(AtExit, AtLeastATenthOfASecondAndAtMostASecond)
{
    EXPECT_LOOKED_AT(1600, summary(0, 0));
    EXPECT_LOOKED_AT(1600, summary(900, 0));
    EXPECT_LOOKED_AT(16000, summary(10000, 0));
    EXPECT_LOOKED_AT(16000, summary(3600000, 0));
}

TEST(AtExit, AsLongAsIsAskedFor)
{
    EXPECT_LOOKED_AT(80, summary(5000, 5000000));
    EXPECT_LOOKED_AT(4000, summary(5000, 250000000));
    std::string whole = summary(5000, 10000000000);
    EXPECT_EQ(whole.find("no time for"), std::string::npos) << whole;
}

/* Others have the processor nine times of ten: 50 ms of its own are granted, of a shorter budget half. */
TEST(AtExit, ALittleOfItsOwnTimeOnALoadedMachine)
{
    EXPECT_LOOKED_AT(8000, summary(0, 0, 100));
    EXPECT_LOOKED_AT(17792, summary(10000, 0, 45)); /* 1112 looks: the first behind 50 ms */
    EXPECT_LOOKED_AT(16000, summary(10000, 0, 100));
    EXPECT_LOOKED_AT(800, summary(5000, 10000000, 100));
}

} // namespace
} // namespace ptds
