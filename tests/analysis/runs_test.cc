// SPDX-License-Identifier: Apache-2.0
//
// Which traces are processes of one run, and which are its repetitions: by when they ran, and whether a run has such a one.
#include "analysis/compare/history_of_traces.h"
#include "analysis/compare/runs.h"
#include "tests/analysis/exported.h"

namespace ptds
{
namespace
{

struct Process {
    uint64_t begin_ms, end_ms;
    const char *program = "app";
    int32_t rank = -1;
};

/* Without `begin_ms` of its own: of a trace that does not say when. */
const uint64_t UNKNOWN = UINT64_MAX;

std::string TraceOf(const Process &process, unsigned number)
{
    TraceBuilder builder;
    snprintf(builder.header.program, sizeof builder.header.program, "/opt/%s", process.program);
    builder.header.rank = process.rank;
    builder.header.pid = 100 + number; /* traces are put in order by it */
    uint64_t ns = process.begin_ms != UNKNOWN ? (process.end_ms - process.begin_ms) * 1000000 : 1000000;
    if (process.begin_ms != UNKNOWN) {
        builder.Clock(0, 1000000, 1000000000000 + process.begin_ms * 1000000);
        builder.Clock(1000, 1001000, 1000000000000 + process.begin_ms * 1000000 + 1000);
    }
    CallSpec call;
    builder.Call(call);
    call.enter = ns;
    builder.Call(call);
    return builder.Bytes();
}

/* The run of each, "0 0 1", and how many there are. */
std::string RunsOf(const std::vector<Process> &processes)
{
    std::vector<std::string> traces;
    for (unsigned i = 0; i < processes.size(); i++)
        traces.push_back(TraceOf(processes[i], i));
    Opened opened(traces);
    std::vector<size_t> run(processes.size() + 1, 99);
    size_t count = runs_of(&opened.traces, run.data());
    std::string said;
    std::vector<size_t> of(processes.size());
    for (size_t i = 0; i < opened.traces.list.count; i++)
        of[opened.traces.list.items[i]->report.trace.header.pid - 100] = run[i];
    for (size_t one : of)
        said += std::to_string(one) + " ";
    return said + "of " + std::to_string(count);
}

TEST(Runs, OfNoneAndOfOne)
{
    EXPECT_EQ("of 0", RunsOf({}));
    EXPECT_EQ("0 of 1", RunsOf({{10, 20}}));
    EXPECT_EQ("0 of 1", RunsOf({{UNKNOWN, 0}}));
}

TEST(Runs, WhatRanAtTheSameTimeIsOne)
{
    EXPECT_EQ("0 0 of 1", RunsOf({{10, 20}, {10, 20}}));
    EXPECT_EQ("0 0 0 of 1", RunsOf({{10, 20}, {15, 30}, {25, 40}})) << "one after the other overlaps";
    EXPECT_EQ("0 0 0 of 1", RunsOf({{10, 100}, {20, 30}, {50, 60}})) << "within the first";
    EXPECT_EQ("0 0 of 1", RunsOf({{10, 20}, {20, 30}})) << "not later";
}

TEST(Runs, WhatCameLaterIsARepetition)
{
    EXPECT_EQ("0 1 of 2", RunsOf({{10, 20}, {21, 30}}));
    EXPECT_EQ("1 0 of 2", RunsOf({{21, 30}, {10, 20}})) << "by time";
    EXPECT_EQ("0 1 2 of 3", RunsOf({{10, 20}, {30, 40}, {50, 60}}));
    EXPECT_EQ("0 0 1 1 of 2", RunsOf({{10, 20}, {12, 25}, {30, 40}, {35, 50}}));
}

TEST(Runs, LaterButOfAnotherKindIsPartOfTheRun)
{
    EXPECT_EQ("0 0 of 1", RunsOf({{10, 20, "app", 0}, {30, 40, "app", 1}})) << "another rank";
    EXPECT_EQ("0 1 of 2", RunsOf({{10, 20, "app", 1}, {30, 40, "app", 1}}));
    EXPECT_EQ("0 0 of 1", RunsOf({{10, 20, "one"}, {30, 40, "two"}})) << "another program";
    EXPECT_EQ("0 0 1 1 of 2", RunsOf({{10, 20, "one"}, {30, 40, "two"}, {50, 60, "one"}, {70, 80, "two"}}));
    EXPECT_EQ("0 0 1 2 of 3", RunsOf({{10, 20, "one"}, {30, 40, "two"}, {50, 60, "two"}, {70, 80, "two"}}))
        << "of the run at hand, not of the one before it";
}

TEST(Runs, WhoDoesNotSayWhenIsWithAllTheOthers)
{
    EXPECT_EQ("0 0 of 1", RunsOf({{UNKNOWN, 0}, {UNKNOWN, 0}}));
    EXPECT_EQ("0 0 0 of 1", RunsOf({{10, 20}, {UNKNOWN, 0}, {30, 40}}));
}

std::string FactsOf(const std::vector<std::string> &traces)
{
    Opened opened(traces);
    history history = {};
    std::string said;
    EXPECT_TRUE(history_of_traces(&history, &opened.traces, opened.namer));
    for (size_t i = 0; i < history.runs.count; i++) {
        const run_facts &run = history.runs.items[i];
        said += std::string(i != 0 ? "; " : "") + run.program + " " + run.policy + " [" + run.recorded + "] " +
                std::to_string(run.processes) + " " + std::to_string(run.calls) + " " +
                std::to_string(run.run_ns / 1000000) + "ms" + (run.has_gpu ? " gpu" : "");
    }
    history_free(&history);
    return said;
}

/* It is named for all its programs, took as long as the longest of its processes, and was recorded when the first of them
 * that says so was. */
TEST(Runs, WhatIsSaidOfOne)
{
    auto facts = [](const std::vector<Process> &processes) {
        std::vector<std::string> traces;
        for (unsigned i = 0; i < processes.size(); i++)
            traces.push_back(TraceOf(processes[i], i));
        return FactsOf(traces);
    };
    EXPECT_EQ("app unknown [1970-01-01 00:16:41] 1 2 3000ms", facts({{1000, 4000}}));
    EXPECT_EQ("app unknown [] 1 2 1ms", facts({{UNKNOWN, 0}})) << "nobody knows when";
    EXPECT_EQ("one+two unknown [1970-01-01 00:16:41] 2 4 6000ms", facts({{1000, 4000, "one"}, {2000, 8000, "two"}}));
    EXPECT_EQ("one+two unknown [1970-01-01 00:16:42] 2 4 6000ms", facts({{2000, 8000, "one"}, {1000, 4000, "two"}}));
    EXPECT_EQ("app unknown [1970-01-01 00:16:42] 2 4 6000ms", facts({{UNKNOWN, 0}, {2000, 8000}}))
        << "of those that say when";
    EXPECT_EQ("a unknown [1970-01-01 00:16:41] 1 2 1000ms; a unknown [1970-01-01 00:16:51] 1 2 2000ms",
              facts({{1000, 2000, "a"}, {11000, 13000, "a"}}));
    EXPECT_EQ("bab+ab+ba+b+a unknown [1970-01-01 00:16:40] 8 16 9000ms", facts({{0, 9000, "bab"},
                                                                                {1, 9001, "ab"},
                                                                                {2, 9002, "ba"},
                                                                                {3, 9003, "b"},
                                                                                {4, 9004, "bab"},
                                                                                {5, 9005, "ba"},
                                                                                {6, 9006, "a"},
                                                                                {7, 9007, "ab"}}))
        << "each once, and a part of a name is none";
    EXPECT_EQ("prog guarded+none+observe [] 4 4 0ms",
              FactsOf({BuildTrace("setting policy=guarded\npid 1\n1@0 launch s=L k=a\n"),
                       BuildTrace("setting policy=none\npid 2\n1@0 launch s=L k=a\n"),
                       BuildTrace("setting policy=guarded\npid 3\n1@0 launch s=L k=a\n"),
                       BuildTrace("setting policy=observe\npid 4\n1@0 launch s=L k=a\n")}));
}

/* What is added up can be compared where hardly an operation lacks its time on the GPU. */
TEST(Runs, HaveGpuTimesWhereNearlyAllOperationsHave)
{
    auto timed = [](unsigned count) {
        std::string calls, ran;
        for (unsigned i = 0; i < 20; i++)
            calls += "1@" + std::to_string(i) + " launch s=L k=a\n";
        for (unsigned i = 0; i < count; i++)
            ran += "device-run 1@" + std::to_string(i) + " " + std::to_string(100 + i * 10) + "+10\n";
        return BuildTrace(calls + "1@30+2000 sync s=L\n" + ran);
    };
    EXPECT_EQ("prog unknown [] 1 21 0ms gpu", FactsOf({timed(20)}));
    EXPECT_EQ("prog unknown [] 1 21 0ms gpu", FactsOf({timed(19)}));
    EXPECT_EQ("prog unknown [] 1 21 0ms", FactsOf({timed(18)}));
    EXPECT_EQ("prog unknown [] 1 21 0ms", FactsOf({timed(0)}));
}

} // namespace
} // namespace ptds
