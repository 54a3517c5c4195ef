// SPDX-License-Identifier: Apache-2.0
//
// `ptds check` against earlier runs: what is sure, and what may be chance, or the same under another name.
#include "tests/analysis/checked.h"

namespace ptds
{
namespace
{

/* They are few of all calls of that driver function, and news all the same. */
TEST(Judged, ANewFunctionFailsHoweverManyCallsOthersMake)
{
    Baselines runs;
    auto with = [&](const std::string &json, const Work &run) {
        return runs.Check({runs.Recorded(run), "--baseline", json});
    };
    Work more = {100, 10, 40, "other@lib"}, split = {60, 10, 40, "other@lib"}, renamed = {0, 10, 100, "other@lib"};
    for (const std::string &json : {runs.Of({{100, 10}, {100, 10}, {100, 10}}), runs.Of({{100, 10}})}) {
        Outcome ran = with(json, more);
        EXPECT_EQ(1, ran.exit) << ran;
        EXPECT_NE(std::string::npos, ran.out.find("FAIL more-calls new: cuMemcpyDtoH_v2 in lib: 40 calls a run")) << ran;
        ran = with(json, split);
        EXPECT_EQ(0, ran.exit) << ran;
        EXPECT_EQ(std::string::npos, ran.out.find("more-calls")) << ran;
        ran = with(json, renamed);
        EXPECT_EQ(0, ran.exit) << ran;
        EXPECT_EQ(std::string::npos, ran.out.find("more-calls")) << ran;
        ran = with(json, {0, 10, 110, "other@lib"});
        EXPECT_EQ(0, ran.exit) << "as with its old name: " << ran;
        EXPECT_NE(std::string::npos, ran.out.find("not proven: most may be calls that other functions made before; all "
                                                  "functions together make 110 a run, was 100\n"))
            << ran;
        EXPECT_EQ(1, with(json, {0, 10, 160, "other@lib"}).exit) << "by more than half";
    }
}

/* Runs of an accepted change are no spread of those before it. */
TEST(Judged, MoreIsBeyondWhatWasAccepted)
{
    Baselines runs;
    auto status = [&](const std::string &json, const Work &run) {
        return runs.Check({runs.Recorded(run), "--baseline", json}).exit;
    };
    auto with = [](int calls) { return Work{4, 10, calls, "other@lib"}; };
    std::string json = runs.Of({{4, 10}, {4, 10}, {4, 10}, {4, 10}, {4, 10}, with(100)});
    EXPECT_EQ(0, status(json, with(100)));
    EXPECT_EQ(0, status(json, with(101)));
    EXPECT_EQ(0, status(json, with(149))) << "less than half as much again";
    EXPECT_EQ(1, status(json, with(160)));
    std::string often = runs.Of({with(10), with(10), with(100), with(100), with(100)});
    EXPECT_EQ(0, status(often, with(101)));
    EXPECT_EQ(1, status(often, with(160))) << "though the runs differ by 90";
    std::string once = runs.Of({with(10)});
    EXPECT_EQ(
        0, runs.Check({runs.Recorded(with(30)), runs.Recorded(with(10)), runs.Recorded(with(30)), "--baseline", once}).exit)
        << "one run is as before";
    EXPECT_EQ(
        0, runs.Check({runs.Recorded(with(11)), runs.Recorded(with(20)), runs.Recorded(with(40)), "--baseline", once}).exit)
        << "they differ by more than they are above it";
    EXPECT_EQ(
        1,
        runs.Check({runs.Recorded(with(30)), runs.Recorded(with(31)), runs.Recorded(with(32)), "--baseline", once}).exit);
}

/* A race shows itself in some runs. */
TEST(Judged, AnErrorThatTheBaselineHasNotFailsInOneRunOfThree)
{
    Baselines runs;
    const std::string calls = "tsc\n1@0 capture-begin s=N1\n1@10 launch s=N1 k=a capturing capture-open\n",
                      end = "1@30 capture-end s=N1\n";
    std::string well = calls + end + "1@40 launch s=L k=b\n", bad = calls + "1@20 launch s=L k=b capture-open\n" + end;
    std::string json = runs.OfCalls({well, well, well});
    Outcome ran = runs.Check({runs.RecordedCalls(well), runs.RecordedCalls(bad), runs.RecordedCalls(well), "--baseline",
                              json, "--fail-on", "any"});
    EXPECT_EQ(1, ran.exit) << ran;
    EXPECT_EQ(0u, ran.out.find("FAIL capture-conflict [")) << ran;
    EXPECT_NE(std::string::npos, ran.out.find(", in 1 of 3 runs\n")) << ran;
    EXPECT_EQ(0, runs.Check({runs.RecordedCalls(well), "--baseline", json}).exit);
    EXPECT_EQ(0, runs.Check({runs.RecordedCalls(bad), "--baseline", runs.OfCalls({well, bad, well})}).exit) << "it has it";
}

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
