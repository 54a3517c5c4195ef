// SPDX-License-Identifier: Apache-2.0
//
// That leaks are noticed at all: tests of the analysis, and the command as tests run it, are linked with leaks.c.
#include "tests/support/leaks.h"

#include <gtest/gtest.h>

#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

TEST(LeaksTest, AreSeen)
{
    if (!leaks_are_seen())
        GTEST_SKIP() << "no process can be stopped by ptrace here, so no test sees a leak";
    std::string program = data_file("tests/support/leaking");
    EXPECT_EQ(0, run({{program}}).exit);
    Outcome leaking = run({{program, "leak"}});
    EXPECT_NE(0, leaking.exit);
    EXPECT_NE(std::string::npos, leaking.err.find("detected memory leaks")) << leaking;
}

} // namespace
} // namespace ptds
