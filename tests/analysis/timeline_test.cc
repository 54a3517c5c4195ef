// SPDX-License-Identifier: Apache-2.0
//
// Which of a trace's calls the page shows where it cannot show all of them, and how it names more than it has numbers for.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/analysis/shown.h"
#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

/* Two calls for each of these: a launch, and a wait for it of so many microseconds. `odd`: and a launch. */
std::string Waits(const std::vector<unsigned> &waits, bool odd = false)
{
    std::string calls;
    for (size_t i = 0; i < waits.size(); i++) {
        calls += "1@" + std::to_string(i * 1000) + " launch s=N1 k=a\n";
        calls += "1@" + std::to_string(i * 1000 + 1) + "+" + std::to_string(waits[i]) + " sync s=N1\n";
    }
    return BuildTrace(calls + (odd ? "1@" + std::to_string(waits.size() * 1000) + " launch s=N1 k=a\n" : ""));
}

/* Of a page that shows 16 calls: the milliseconds of the first and the last one, and how many of how many. */
std::string Stretch(const std::string &bytes)
{
    char error[TRACE_ERROR_SIZE] = "";
    std::unique_ptr<struct report> report(new struct report);
    struct timeline timeline;
    MemoryTrace trace(bytes);
    timeline_begin(&timeline, 16);
    EXPECT_EQ(0, report_build_watched(report.get(), trace.source(), nullptr, &timeline.watch, error)) << error;
    timeline_decide(&timeline);
    uint64_t count = timeline_count(&timeline);
    std::string said = "none";
    if (count != 0)
        said = std::to_string(timeline_at(&timeline, 0)->enter / 1000000) + " to " +
               std::to_string(timeline_at(&timeline, count - 1)->enter / 1000000);
    said += ", " + std::to_string(count) + " of " + std::to_string(timeline.seen);
    timeline_end(&timeline);
    report_end(report.get());
    return said;
}

TEST(Timeline, ShowsAllThatThereIsRoomFor)
{
    EXPECT_EQ("none, 0 of 0", Stretch(BuildTrace("pid 1\n")));
    EXPECT_EQ("0 to 0, 2 of 2", Stretch(Waits({500})));
    EXPECT_EQ("0 to 2, 5 of 5", Stretch(Waits({500, 500}, true)));
    EXPECT_EQ("0 to 7, 16 of 16", Stretch(Waits({5, 5, 5, 5, 5, 5, 5, 5})));
}

TEST(Timeline, ShowsTheCostliestStretch)
{
    EXPECT_EQ("0 to 7, 16 of 17", Stretch(Waits({500, 5, 5, 5, 5, 5, 5, 5}, true))) << "the last one costs nothing";
    EXPECT_EQ("1 to 8, 16 of 18", Stretch(Waits({5, 5, 5, 5, 5, 5, 5, 5, 500})));
    EXPECT_EQ("0 to 7, 16 of 18", Stretch(Waits({5, 5, 5, 5, 5, 5, 5, 5, 5}))) << "the first of those that are alike";
    EXPECT_EQ("5 to 12, 16 of 40", Stretch(Waits({5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 500, 5, 5, 5, 5, 5, 5, 5})))
        << "as soon as it has the costly call";
    EXPECT_EQ("9 to 16, 16 of 40", Stretch(Waits({5, 5, 5, 300, 5, 5, 5, 5, 5, 5, 300, 5, 5, 5, 5, 5, 500, 5, 5, 5})))
        << "two that cost more together than one";
    EXPECT_EQ("12 to 19, 16 of 40", Stretch(Waits({5, 5, 5, 300, 5, 5, 5, 5, 5, 5, 300, 5, 5, 5, 5, 5, 5, 5, 5, 700})))
        << "the end of the run";
    EXPECT_EQ("12 to 19, 16 of 41",
              Stretch(Waits({5, 5, 5, 300, 5, 5, 5, 5, 5, 5, 300, 5, 5, 5, 5, 5, 5, 5, 5, 700}, true)));
}

/* Of each call that waited: when it was entered, in microseconds, with "!" where the default stream was the reason. */
std::string Waits(const std::string &bytes)
{
    char error[TRACE_ERROR_SIZE] = "";
    std::unique_ptr<struct report> report(new struct report);
    struct timeline timeline;
    MemoryTrace trace(bytes);
    timeline_begin(&timeline, TIMELINE_MOST);
    EXPECT_EQ(0, report_build_watched(report.get(), trace.source(), nullptr, &timeline.watch, error)) << error;
    timeline_decide(&timeline);
    std::string said;
    for (uint64_t i = 0; i < timeline_count(&timeline); i++) {
        const timeline_op *op = timeline_at(&timeline, i);
        if (op->lost_ns != 0 || (op->flags & TIMELINE_BEHIND) != 0)
            said += (said.empty() ? "" : " ") + std::to_string(op->enter / 1000) + (op->flags & TIMELINE_BEHIND ? "!" : "");
    }
    bool any = said.find('!') != std::string::npos;
    EXPECT_EQ(gain_most(&report->gain) != 0, any) << "what the report says the default stream costs";
    timeline_end(&timeline);
    report_end(report.get());
    return said;
}

TEST(Timeline, WaitsBecauseOfTheDefaultStreamAreMarked)
{
    EXPECT_EQ("10", Waits(BuildTrace("1@0 launch s=L k=a\n1@10+2000 sync s=L\n"))) << "its own work";
    EXPECT_EQ("20! 30!", Waits(BuildTrace("1@0 launch s=L k=a\n2@1 launch s=L k=b\n"
                                          "1@20+4000 sync s=L\n2@30+4000 sync s=L\n")))
        << "two threads on one stream";
    EXPECT_EQ("20 30", Waits(BuildTrace("setting policy=guarded\n1@0 launch s=L to=S1 k=a\n2@1 launch s=L to=S2 k=b\n"
                                        "1@20+4000 sync s=L to=S1\n2@30+4000 sync s=L to=S2\n")))
        << "moved, each waits for its own";
    EXPECT_EQ("20", Waits(BuildTrace("1@0 launch s=B1 k=a\n1@20+4000 sync s=L\n1@5000 launch s=B1 k=a\n")))
        << "a wait for the thread's own result, by way of the default stream";
    EXPECT_EQ("20! 4100",
              Waits(BuildTrace("1@0 launch s=B1 k=a\n1@20+2000 copy s=L implicit from=device to=pageable bytes=4\n"
                               "1@2100 launch s=B1 k=a\n1@4100+100 sync s=B1\n")))
        << "only the call itself came behind, and work was possible meanwhile: known at the next wait";
}

/* Names have two bytes in a column; the last number stands for all names beyond those. */
TEST(Timeline, NamesThatHaveNoNumberAreOthers)
{
    TraceBuilder builder;
    CallSpec call;
    std::string stacks = "op stack:";
    for (unsigned i = 1; i <= 65540; i++) {
        call.enter = call.leave = i;
        call.stack = i;
        builder.Call(call);
        stacks += " " + std::to_string(std::min(i, 65535u));
    }
    call.stack = 17;
    builder.Call(call);
    stacks += " 17";

    char error[TRACE_ERROR_SIZE] = "";
    std::unique_ptr<struct report> report(new struct report);
    struct timeline timeline;
    struct edge_list edges = {};
    MemoryTrace trace(builder.Bytes());
    TextOf out;
    timeline_begin(&timeline, TIMELINE_MOST);
    ASSERT_EQ(0, report_build_watched(report.get(), trace.source(), nullptr, &timeline.watch, error)) << error;
    timeline_decide(&timeline);
    EXPECT_EQ(0, report_html(report.get(), &timeline, &edges, nullptr, &out));
    timeline_end(&timeline);
    report_end(report.get());
    std::vector<std::string> lines = lines_of(PageText(out.text));
    EXPECT_EQ(1, std::count(lines.begin(), lines.end(), stacks));
}

} // namespace
} // namespace ptds
