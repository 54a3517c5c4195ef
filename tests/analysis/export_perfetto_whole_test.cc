// SPDX-License-Identifier: Apache-2.0
//
// Perfetto exports as wholes: of recorded traces, their size, and read by Perfetto's own tools where those are.
#include "tests/analysis/exported.h"

#include "tests/analysis/perfetto_trace.h"
#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

/* Whatever the trace: what is open is closed on its own track, nothing ends before it began, and the ends of a flow come in
 * order, the last one once. */
void CheckWhole(const Trace &trace)
{
    struct Flow {
        uint64_t last_time = 0;
        int ends = 0, lasts = 0;
    };
    std::map<uint64_t, std::vector<uint64_t>> open;
    std::map<uint64_t, Flow> flows;
    auto pass = [&](uint64_t id, const Event &event, bool last) {
        Flow &flow = flows[id];
        EXPECT_EQ(0, flow.lasts) << "after its last end";
        EXPECT_GE(event.time, flow.last_time) << "a flow backwards";
        flow.last_time = event.time;
        flow.ends++;
        flow.lasts += last;
    };
    for (const Event &event : trace.events) {
        ASSERT_TRUE(event.type >= SLICE_BEGIN && event.type <= COUNTER);
        EXPECT_EQ(event.type == SLICE_END || event.type == COUNTER, event.name.empty());
        std::vector<uint64_t> &begun = open[event.track];
        if (event.type == SLICE_BEGIN) {
            begun.push_back(event.time);
        } else if (event.type == SLICE_END) {
            ASSERT_FALSE(begun.empty()) << "an end of nothing on " << trace.tracks.at(event.track);
            EXPECT_LE(begun.back(), event.time);
            begun.pop_back();
        }
        for (uint64_t flow : event.flows)
            pass(flow, event, false);
        for (uint64_t flow : event.last_flows)
            pass(flow, event, true);
    }
    for (const auto &track : open)
        EXPECT_TRUE(track.second.empty()) << "never ended on " << trace.tracks.at(track.first);
    for (const auto &flow : flows) {
        EXPECT_EQ(1, flow.second.lasts);
        EXPECT_GE(flow.second.ends, 2);
    }
}

std::string Recorded(const char *name)
{
    return read_file(data_file(std::string("tests/analysis/recorded/") + name + ".ptds"));
}

TEST(Perfetto, RecordedTracesAreWhole)
{
    for (const char *name : {"overlap", "mixed_threads", "mixed_streams", "stream_handover"}) {
        Opened opened({Recorded(name)}, nullptr, true);
        edge_feed *edges = edge_feed_of_build();
        Trace trace(TakeFile(opened.Export("perfetto", edges)));
        size_t calls = 0, drawn = 0;
        for (const Event &event : trace.events) {
            calls += event.category == "call" || event.category == "blocked";
            drawn += event.name.find(", waits: ") != std::string::npos;
        }
        EXPECT_EQ(opened.traces.list.items[0]->report.totals.recorded, calls) << name;
        EXPECT_GT(drawn, 0u) << name;
        CheckWhole(trace);
        Trace again(TakeFile(opened.Export("perfetto", edges))); /* now of a report that is made */
        auto said = [](const Trace &one) {
            std::multiset<std::string> events;
            for (const Event &event : one.events)
                events.insert(std::to_string(event.time) + one.tracks.at(event.track) + event.name + event.category +
                              std::to_string(event.type) + std::to_string(event.counter));
            return events;
        };
        EXPECT_TRUE(said(trace) == said(again)) << name << ": one pass and two";
    }
}

/* Names are given in one block and meant in all that follow. */
TEST(Perfetto, IsWrittenInCompressedBlocks)
{
    std::string calls = "tsc\n";
    for (int i = 0; i < 4000; i++)
        calls += std::to_string(1 + i % 3) + "@" + std::to_string(i * 10) + "+4 launch s=N" + std::to_string(i % 2) +
                 " k=a site=b\n";
    Opened opened({BuildTrace(calls)});
    std::string file = TakeFile(opened.Export("perfetto"));
    std::vector<std::string> blocks = PerfettoBlocks(file);
    size_t plain = 0;
    for (const std::string &block : blocks) {
        EXPECT_LT(block.size(), 300000u) << "readers hold one in memory";
        plain += block.size();
    }
    EXPECT_GE(blocks.size(), 3u);
    EXPECT_LT(file.size() * 4, plain);
    EXPECT_LT(plain, 4000u * 220) << "bytes of a launch: its call, its end, and two events on streams";
    Trace trace(file);
    EXPECT_EQ(4000u, trace.Named("cuLaunchKernel").size());
    CheckWhole(trace);
}

/* With Perfetto's own Python package. "" and no skip: it read the file. */
std::map<std::string, long> ReadByPerfetto(const char *how, const std::string &file, std::string *why)
{
    std::string path = WriteTemporary(file);
    std::map<std::string, std::string> environment;
    for (const char *name : {"HOME", "PYTHONPATH", "PTDS_TRACE_PROCESSOR"})
        if (getenv(name) != nullptr)
            environment[name] = getenv(name);
    Outcome ran = run({{"/usr/bin/python3", data_file("tests/analysis/trace_processor.py"), how, path}, environment});
    unlink(path.c_str());
    std::map<std::string, long> counts;
    std::vector<std::string> lines = lines_of(ran.out);
    *why = ran.exit == 77 && !lines.empty() ? lines.back() : "";
    EXPECT_TRUE(ran.exit == 0 || ran.exit == 77) << ran.err;
    for (const std::string &line : lines)
        if (ran.exit == 0)
            counts[line.substr(0, line.find(' '))] = std::stol(line.substr(line.find(' ')));
    return counts;
}

TEST(Perfetto, ThePublishedProtocolHasEveryField)
{
    Opened opened({Recorded("mixed_threads"), BuildTrace("1@0 region a\n1@1 launch s=L k=a\ndevice-run 1@1 2+3\n")});
    OneEdge feed;
    std::string why, file = TakeFile(opened.Export("perfetto", &feed));
    std::map<std::string, long> counts = ReadByPerfetto("protocol", file, &why);
    if (!why.empty())
        GTEST_SKIP() << why;
    Trace trace(file);
    EXPECT_EQ(static_cast<long>(trace.events.size()), counts["events"]);
    EXPECT_EQ(static_cast<long>(trace.tracks.size()), counts["tracks"]);
}

/* bazel test --test_env=PTDS_TRACE_PROCESSOR=/path/trace_processor_shell; the package: --test_env=PYTHONPATH=... */
TEST(Perfetto, TheTraceProcessorReadsIt)
{
    Opened opened({Recorded("mixed_threads")});
    std::string why, file = TakeFile(opened.Export("perfetto"));
    std::map<std::string, long> counts = ReadByPerfetto("processor", file, &why);
    if (!why.empty())
        GTEST_SKIP() << why;
    long slices = 0, counters = 0;
    Trace trace(file);
    for (const Event &event : trace.events) {
        slices += event.type == SLICE_BEGIN || event.type == INSTANT;
        counters += event.type == COUNTER;
    }
    EXPECT_EQ(slices, counts["slices"]);
    EXPECT_EQ(counters, counts["counters"]);
    EXPECT_GT(counts["flows"], 0);
}

} // namespace
} // namespace ptds
