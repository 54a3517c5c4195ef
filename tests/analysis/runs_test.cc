// SPDX-License-Identifier: Apache-2.0
//
// Which traces are processes of one run, and which are its repetitions: by when they ran, and whether a run has such a one.
#include "analysis/compare/observe.h"
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

} // namespace
} // namespace ptds
