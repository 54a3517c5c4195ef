// SPDX-License-Identifier: Apache-2.0
//
// `ptds check` against earlier runs: what is sure, and what may be chance, or the same under another name.
#include "tests/analysis/checked.h"

namespace ptds
{
namespace
{

/* Whether two streams had work at once is a matter of time. */
TEST(Judged, WhatTheDefaultStreamKeepsWaitingIsNotProvenByOneRun)
{
    Baselines runs;
    const std::string begin = "tsc\n1@0 launch s=B1 k=long\n",
                      end = "1@10 launch s=L k=a site=barrier\n1@20+300000 sync s=L\n1@500000 none\n";
    std::string apart = begin + "1@1+3 sync s=B1\n" + end, at_once = begin + end;
    std::string json = runs.OfCalls({apart, apart, apart});
    Outcome ran = runs.Check({runs.RecordedCalls(at_once), "--baseline", json});
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_NE(std::string::npos, ran.out.find("maybe legacy-barrier [")) << ran;
    ran = runs.Check(
        {runs.RecordedCalls(at_once), runs.RecordedCalls(at_once), runs.RecordedCalls(at_once), "--baseline", json});
    EXPECT_EQ(1, ran.exit) << ran;
    EXPECT_NE(std::string::npos, ran.out.find("FAIL legacy-barrier [")) << ran;
    ran =
        runs.Check({runs.RecordedCalls(begin + "1@5 launch s=L k=a site=barrier\n1@6 launch s=L k=a site=barrier\n" + end),
                    "--baseline", json});
    EXPECT_NE(std::string::npos, ran.out.find("FAIL legacy-barrier [")) << "more launches: " << ran;
}

} // namespace
} // namespace ptds
