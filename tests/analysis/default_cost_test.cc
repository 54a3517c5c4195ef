// SPDX-License-Identifier: Apache-2.0
//
// What does the default stream cost a run, and is that said as what it is: a bound, a replay's, or nothing known?
#include <gtest/gtest.h>

#include <sstream>

#include "analysis/report/default_cost.h"
#include "analysis/views/json/whatif_json.h"
#include "analysis/views/opening.h"
#include "tests/analysis/whatif_run.h"

namespace ptds
{
namespace
{

struct default_stream CostOf(const std::string &text)
{
    Built report(BuildTrace("setting policy=observe\n" + text));
    return default_cost_of(report.get());
}

/* The kernel on the first stream and the one on the second could run side by side: the event's record alone, or the wait
 * for an event, keeps them apart. Whatever the last wait is for. */
TEST(EventsOnTheDefaultStream, CostWhatTheyHoldBack)
{
    const std::string first = "1@0 launch s=B1 k=a\n", then = "1@20 launch s=B2 k=b\n", end = "1@60200 none\n",
                      record = "1@10 record s=L e=E\n", wait = "1@5 record s=B1 e=E\n1@10 wait s=L e=E\n",
                      of_non_blocking = "1@4 launch s=N1 k=a\n1@5 record s=N1 e=E\n1@10 wait s=L e=E\n";
    for (const std::string &between : {record, wait, of_non_blocking})
        for (const std::string last : {"sync s=B2", "ctx-sync"}) {
            struct default_stream cost = CostOf(first + between + then + "1@30+60000 " + last + "\n" + end);
            EXPECT_EQ(DEFAULT_UP_TO, cost.cost) << between << last;
            EXPECT_NEAR(60e6, static_cast<double>(cost.most_ns), 1e5) << between << last;
        }
    struct default_stream second = CostOf(first + record + then + "1@30+30000 sync s=B1\n1@30100+30000 sync s=B2\n" + end);
    EXPECT_NEAR(30e6, static_cast<double>(second.most_ns), 1e5) << "the first one's own time stays";
    struct default_stream early = CostOf(first + record + then + "1@30+60000 sync s=B2\n1@60100+30 sync s=B1\n" + end);
    EXPECT_NEAR(60e6, static_cast<double>(early.most_ns), 1e5);
}

/* Nothing but the event is on the default stream, and the host or another stream waits for the event. */
TEST(EventsOnTheDefaultStream, CostWhoeverWaitsForThem)
{
    const std::string begin = "1@0 launch s=B1 k=a\n1@10 record s=L e=E\n", end = "1@60200 none\n";
    struct default_stream host =
        CostOf(begin + "1@30+30000 event-sync e=E\n1@30100 launch s=N2 k=b\n1@30200 sync s=N2\n" + end);
    EXPECT_NEAR(30e6, static_cast<double>(host.most_ns), 1e5);
    for (const std::string stream : {"N2", "B2"}) {
        const std::string waits = "1@15 wait s=" + stream + " e=E\n";
        struct default_stream work =
            CostOf(begin + waits + "1@20 launch s=" + stream + " k=b\n1@30+60000 sync s=" + stream + "\n" + end);
        EXPECT_NEAR(60e6, static_cast<double>(work.most_ns), 1e5) << stream;
        struct default_stream alone = CostOf(begin + waits + "1@30+30000 sync s=" + stream + "\n" + end);
        EXPECT_NEAR(30e6, static_cast<double>(alone.most_ns), 1e5) << stream;
    }
}

/* The event comes after what the program waits for anyway, or after what it waits for by events of its own. */
TEST(EventsOnTheDefaultStream, CostNothingWhereNobodyIsHeldBack)
{
    const std::string first = "1@0 launch s=B1 k=a\n", end = "1@60200 none\n";
    EXPECT_EQ(DEFAULT_NO_WAIT, CostOf(first +
                                      "1@10 record s=L e=E\n1@30+30000 sync s=B1\n1@30100 launch s=B2 k=b\n"
                                      "1@30110+30000 sync s=B2\n" +
                                      end)
                                   .cost);
    EXPECT_EQ(DEFAULT_NO_WAIT,
              CostOf(first + "1@10 record s=L e=E\n1@20 launch s=N2 k=b\n1@30+30000 sync s=N2\n" + end).cost);
    EXPECT_EQ(DEFAULT_NO_WAIT, CostOf(first +
                                      "1@5 record s=B1 e=E\n1@6 wait s=B2 e=E\n1@10 record s=L e=F\n"
                                      "1@20 launch s=B2 k=b\n1@30+60000 sync s=B2\n" +
                                      end)
                                   .cost);
}

/* What is said of a run, with the times on the GPU that its text holds. */
std::string SaidOf(const std::string &text)
{
    const MemoryTrace trace(BuildTrace("setting policy=observe\n" + text));
    std::unique_ptr<struct report> report(new struct report);
    char message[TRACE_ERROR_SIZE] = "";
    EXPECT_EQ(0, report_build(report.get(), trace.source(), message)) << message;
    whatif_text_opening(report.get());
    std::string said = opening_default_stream(report.get()).text;
    report_end(report.get());
    return said;
}

/* A kernel on a blocking stream, then one on the default stream, and a wait for that; both with times. */
std::string OneAfterTheOther(unsigned first, unsigned second)
{
    const std::string one = std::to_string(first), two = std::to_string(second), both = std::to_string(first + second);
    return "1@0 launch s=B1 k=a blocks=1\ndevice-run 1@0 5+" + one + "\n1@10 launch s=L k=b blocks=1\ndevice-run 1@10 " +
           one + "+" + two + "\n1@20+" + both + " sync s=L\n1@" + std::to_string(first + second + 100) + " none\n";
}

std::string WithoutTimes(const std::string &text)
{
    std::string kept;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (line.compare(0, 10, "device-run") != 0)
            kept += line + "\n";
    return kept;
}

/* 126 ms of 127 were waited, and 1 ms is what there is to gain. */
TEST(TheGain, IsUnknownWithoutTimesOnTheGpu)
{
    EXPECT_EQ("Default stream: threads waited up to 127.0 ms (100 %); gain unknown",
              SaidOf(WithoutTimes(OneAfterTheOther(1000, 126000))));
    EXPECT_EQ("Default stream: nothing to gain: replayed under each policy it is no faster",
              SaidOf(OneAfterTheOther(1000, 126000)));
    EXPECT_EQ("Default stream: it costs 27.0 ms to 32.9 ms of 90.1 ms (36 %), by a replay",
              SaidOf(OneAfterTheOther(30000, 60000)));
}

/* Of two bounds the smaller; and what a replay is sure of stands, whatever calls waited. */
TEST(TheGain, IsNoMoreThanThreadsWaited)
{
    const MemoryTrace trace(BuildTrace("setting policy=observe\n" + WithoutTimes(OneAfterTheOther(30000, 60000))));
    std::unique_ptr<struct report> report(new struct report);
    char message[TRACE_ERROR_SIZE] = "";
    ASSERT_EQ(0, report_build(report.get(), trace.source(), message)) << message;
    auto with = [&](struct default_replay replay) {
        report->replay = replay;
        struct default_stream found = default_cost_of(report.get());
        return std::vector<uint64_t>{found.cost, found.least_ns, found.most_ns, found.by_replay, found.or_more};
    };
    EXPECT_EQ((std::vector<uint64_t>{DEFAULT_UP_TO, 0, 89980000, 0, 0}), with({}));
    EXPECT_EQ((std::vector<uint64_t>{DEFAULT_UP_TO, 0, 89980000, 1, 0}), with({true, false, 0, 200000000}));
    EXPECT_EQ((std::vector<uint64_t>{DEFAULT_UP_TO, 89980000, 89980000, 1, 0}), with({true, false, 100000000, 200000000}));
    EXPECT_EQ((std::vector<uint64_t>{DEFAULT_UP_TO, 1, 2, 1, 0}), with({true, false, 1, 2}));
    EXPECT_EQ((std::vector<uint64_t>{DEFAULT_NO_FASTER, 0, 0, 0, 0}), with({true, true, 0, 2}));
    report->gain.among_threads = true;
    EXPECT_EQ((std::vector<uint64_t>{DEFAULT_UP_TO, 3, 200000000, 1, 0}), with({true, false, 3, 200000000}));
    report_end(report.get());
}

/* Threads' launches may have waited in the driver: by how much nobody knows without a replay. */
TEST(TheGain, OfThreadsThatMeetHasNoBoundButAReplays)
{
    const std::string run = "1@0 launch s=L k=a blocks=1\ndevice-run 1@0 5+30000\n2@10 launch s=L k=b blocks=1\n"
                            "device-run 2@10 30010+30000\n1@20+30000 sync s=L\n2@20+60000 sync s=L\n2@60100 none\n";
    EXPECT_EQ("Default stream: threads waited 60.0 ms (100 %) or more; gain unknown", SaidOf(WithoutTimes(run)));
    EXPECT_EQ("Default stream: it costs 28.5 ms to 31.4 ms of 60.1 ms (52 %), by a replay", SaidOf(run));
}

/* A guess of a replay does not say otherwise than the report. */
TEST(TheGain, OfAReplayIsNothingWhereTheReportKnowsIt)
{
    const WhatIf alone("1@0 launch s=L k=a\n1@10+900 sync s=L\n");
    EXPECT_EQ("What if default-stream work ran elsewhere? Nothing to gain: one thread, one stream\n", alone.said);
    const WhatIf unused("1@0 launch s=N1 k=a\n1@5 launch s=N2 k=a\n1@10+900 sync s=N1\n1@1000+10 sync s=N2\n");
    EXPECT_EQ("What if default-stream work ran elsewhere? Nothing to gain: the default stream is not used\n", unused.said);
    const WhatIf no_wait("1@0 launch s=B1 k=a\n1@10 record s=L e=E\n1@30+30000 sync s=B1\n1@30100 launch s=B2 k=b\n"
                         "1@30110+30000 sync s=B2\n1@60200 none\n");
    EXPECT_EQ(
        "What if default-stream work ran elsewhere? Nothing to gain: no call waited longer because of the default stream\n",
        no_wait.said);
    const WhatIf held(WithoutTimes(OneAfterTheOther(30000, 60000)));
    EXPECT_EQ(std::string::npos, held.said.find("othing to gain")) << held.said;
    TextOf json, other;
    EXPECT_EQ(0, whatif_json(&alone.found, &json));
    EXPECT_NE(std::string::npos, json.text.find("\"nothing_to_gain\": \"one-thread-one-stream\"")) << json.text;
    EXPECT_EQ(0, whatif_json(&held.found, &other));
    EXPECT_NE(std::string::npos, other.text.find("\"nothing_to_gain\": null")) << other.text;
}

} // namespace
} // namespace ptds
