// SPDX-License-Identifier: Apache-2.0
//
// The Perfetto export, taken apart by a reader of its own and by protoc: tracks, slices, flows, counters, edges, and what
// it says of itself.
#include "tests/analysis/exported.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "tests/analysis/perfetto_trace.h"
#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

const char text[] = "tsc\n"
                    "setting policy=guarded\n"
                    "1@0 launch s=L to=P1 k=_Z4spinPf site=a\n"
                    "1@5 launch s=B1 k=other\n"
                    "1@10+5000 copy s=L target=P1 implicit from=device to=pageable bytes=4096 site=b\n"
                    "2@20+3 launch s=N1 k=third result=1\n"
                    "1@6000+10 sync s=B1\n";

TEST(Perfetto, OneTrackAHostThreadAndAStreamOfEachSide)
{
    Opened opened({BuildTrace(text)});
    Trace trace(TakeFile(opened.Export("perfetto")));
    std::set<std::string> names;
    for (const auto &track : trace.tracks)
        names.insert(track.second);
    for (const char *name :
         {"prog 1", "prog 2", "legacy stream", "stream 3 (blocking)", "sent to stream 2 (per-thread, of thread 1)",
          "sent to stream 3 (blocking)", "streams with pending work, context 1", "notes"})
        EXPECT_EQ(1u, names.count(name)) << name;
    EXPECT_EQ(0u, names.count("sent to legacy")) << "nothing was sent there";
}

TEST(Perfetto, CallsAreSlicesOnlyWhereTheyWereTimed)
{
    Opened opened({BuildTrace(text)});
    Trace trace(TakeFile(opened.Export("perfetto")));
    auto copy = trace.Named("cuMemcpyDtoH_v2");
    ASSERT_EQ(1u, copy.size());
    EXPECT_EQ(static_cast<uint64_t>(SLICE_BEGIN), copy[0]->type);
    EXPECT_EQ("blocked", copy[0]->category);
    EXPECT_EQ("legacy stream", copy[0]->arguments.at("stream"));
    EXPECT_EQ("stream 2 (per-thread, of thread 1)", copy[0]->arguments.at("target"));
    EXPECT_EQ("4096", copy[0]->arguments.at("bytes"));
    EXPECT_EQ("0", copy[0]->arguments.at("result"));
    EXPECT_EQ("prog+0x20", copy[0]->arguments.at("site").substr(0, 9));
    EXPECT_EQ(5000000 - 20000 - 512, std::stol(copy[0]->arguments.at("lost_ns"))) << "less a quick call, and 4 KiB copied";
    auto launches = trace.Named("cuLaunchKernel");
    ASSERT_EQ(3u, launches.size());
    EXPECT_EQ(static_cast<uint64_t>(INSTANT), launches[0]->type);
    EXPECT_EQ("not recorded", launches[0]->arguments.at("duration"));
    EXPECT_EQ("spin(float*)", launches[0]->arguments.at("kernel"));
    EXPECT_EQ("1", launches[2]->arguments.at("result")) << "a failed call";
    std::vector<uint64_t> ends;
    for (const Event *event : trace.On("prog 1")) {
        if (event->type == SLICE_END)
            ends.push_back(event->time);
    }
    std::vector<uint64_t> expected = {copy[0]->time + 5000000, trace.Named("cuStreamSynchronize")[0]->time + 10000};
    EXPECT_EQ(expected, ends);
}

/* What it is and of what, said for each: names are written once and looked up by their kind and number. */
TEST(Perfetto, WorkIsNamedForWhatItIsOf)
{
    Opened opened({BuildTrace("1@0 launch s=N1 k=a\n1@1 launch s=N1 k=b\n1@2 launch s=N1 k=a\n"
                              "1@10 record s=N1 e=A\n1@11 record s=N1 e=B\n1@12 wait s=N1 e=A\n1@13 wait s=N1 e=B\n"
                              "1@14 wait s=N1 e=A\n1@20 copy s=N1 from=device to=pageable bytes=4\n"
                              "1@21 copy s=N1 from=pageable to=device bytes=4\n1@22 memset s=N1 bytes=4\n"
                              "1@23 host-function s=N1\n1@24 graph-launch s=N1\n1@25 memset s=N1 bytes=8\n"
                              "1@26 write-value s=N1\n1@27 wait-value s=N1\n")});
    Trace trace(TakeFile(opened.Export("perfetto")));
    std::string seen;
    for (const Event *event : trace.On("sent to stream 1 (non-blocking)"))
        seen += event->name + "|";
    EXPECT_EQ("a|b|a|record event 1|record event 2|wait for event 1|wait for event 2|wait for event 1|"
              "memcpy device to pageable|memcpy pageable to device|memset|host function|graph 0|memset|"
              "cuStreamWriteValue32_v2|cuStreamWaitValue32_v2|",
              seen);
}

TEST(Perfetto, WorkIsASliceWhereItsDeviceTimeIsKnown)
{
    Opened opened({BuildTrace("1@0 launch s=N1 k=a\n1@10 launch s=N1 k=b\ndevice-run 1@10 30+400\n")});
    Trace trace(TakeFile(opened.Export("perfetto")));
    uint64_t start = trace.Named("cuLaunchKernel")[0]->time;
    std::vector<std::pair<uint64_t, uint64_t>> seen,
        expected = {{INSTANT, start}, {SLICE_BEGIN, start + 30000}, {SLICE_END, start + 430000}};
    for (const Event *event : trace.On("sent to stream 1 (non-blocking)"))
        seen.emplace_back(event->type, event->time);
    EXPECT_EQ(expected, seen);
}

/* Its flow would go back in time. */
TEST(Perfetto, NoWorkBeginsBeforeItsCall)
{
    for (const auto &[began, ended, from, to] : {std::array<uint64_t, 4>{1001, 1005, 1, 5},
                                                 {1000, 1005, 0, 5},
                                                 {999, 1005, 0, 5},
                                                 {900, 950, 0, 0},
                                                 {999, 1001, 0, 1}}) {
        TraceBuilder builder;
        builder.Clock(0, 5000000, 5000000);
        builder.Clock(1000000000, 1005000000, 1005000000);
        builder.Stream(1, PTDS_STREAM_NON_BLOCKING);
        CallSpec call;
        call.enter = 1000;
        call.op = PTDS_OP_LAUNCH;
        call.stream = 1;
        builder.Call(call);
        builder.DeviceRun(1, 1000, began, ended);
        Opened opened({builder.Bytes()});
        Trace trace(TakeFile(opened.Export("perfetto")));
        uint64_t start = trace.On("stream 1 (non-blocking)").at(0)->time;
        auto work = trace.On("sent to stream 1 (non-blocking)");
        ASSERT_EQ(2u, work.size());
        EXPECT_EQ(from, work[0]->time - start) << began;
        EXPECT_EQ(to, work[1]->time - start) << ended;
    }
}

TEST(Perfetto, SlicesNestAndEndOnTheirTrack)
{
    Opened opened({BuildTrace(text)});
    Trace trace(TakeFile(opened.Export("perfetto")));
    std::map<uint64_t, int> open;
    for (const Event &event : trace.events) {
        open[event.track] += event.type == SLICE_BEGIN ? 1 : event.type == SLICE_END ? -1 : 0;
        EXPECT_GE(open[event.track], 0);
    }
    for (const auto &track : open)
        EXPECT_EQ(0, track.second);
}

TEST(Perfetto, FlowsLeadFromTheCallToItsWork)
{
    Opened opened({BuildTrace(text)});
    Trace trace(TakeFile(opened.Export("perfetto")));
    std::map<uint64_t, std::vector<const Event *>> flows;
    for (const Event &event : trace.events)
        for (uint64_t flow : event.flows)
            flows[flow].push_back(&event);
    for (const Event &event : trace.events)
        for (uint64_t flow : event.last_flows)
            flows[flow].push_back(&event);
    EXPECT_EQ(3u, flows.size()) << "two launches and the copy; a failed launch and a synchronisation put no work anywhere";
    for (const auto &flow : flows) {
        ASSERT_EQ(3u, flow.second.size());
        EXPECT_EQ("prog 1", trace.tracks.at(flow.second[0]->track));
        EXPECT_NE(std::string::npos, trace.tracks.at(flow.second[1]->track).find("stream"));
        EXPECT_EQ("sent to", trace.tracks.at(flow.second[2]->track).substr(0, 7));
        EXPECT_EQ(1u, flow.second[2]->last_flows.size());
        for (unsigned i : {1, 2})
            EXPECT_EQ("1", flow.second[i]->arguments.at("thread"));
        EXPECT_EQ(flow.second[0]->time, flow.second[2]->time) << "work is shown where it was submitted";
        EXPECT_EQ(static_cast<uint64_t>(INSTANT), flow.second[2]->type);
    }
    EXPECT_EQ(2u, trace.Named("spin(float*)").size());
    EXPECT_EQ(2u, trace.Named("memcpy device to pageable").size());
}

TEST(Perfetto, CountsStreamsWithPendingWork)
{
    Opened opened({BuildTrace(text)});
    Trace trace(TakeFile(opened.Export("perfetto")));
    std::vector<int64_t> values;
    for (const Event *event : trace.On("streams with pending work, context 1"))
        values.push_back(event->counter);
    ASSERT_GE(values.size(), 3u);
    EXPECT_EQ(1, values[0]);
    EXPECT_EQ(2, values[1]);
}

TEST(Perfetto, EdgesAreFlowsWithTheVerdictAsCategory)
{
    Opened opened({BuildTrace(text)});
    OneEdge feed;
    Trace trace(TakeFile(opened.Export("perfetto", &feed)));
    auto from = trace.Named("fan-in, waited for: needed"), to = trace.Named("fan-in, waits: needed");
    ASSERT_EQ(1u, from.size());
    ASSERT_EQ(1u, to.size());
    EXPECT_EQ("needed", from[0]->category);
    EXPECT_EQ("stream 3 (blocking)", trace.tracks.at(from[0]->track));
    EXPECT_EQ("legacy stream", trace.tracks.at(to[0]->track));
    ASSERT_EQ(1u, from[0]->flows.size());
    EXPECT_EQ(from[0]->flows, to[0]->last_flows);
    EXPECT_EQ("4096", to[0]->arguments.at("size"));
    auto host = trace.Named("host, waits: maybe needed");
    ASSERT_EQ(1u, host.size());
    EXPECT_EQ("prog 1", trace.tracks.at(host[0]->track)) << "the host waits: its thread's track";
    EXPECT_NE("", host[0]->arguments.at("reason"));
    for (const Event *note : trace.On("notes"))
        EXPECT_EQ(std::string::npos, note->name.find("no verdicts"));
}

/* A slice as a viewer would find it: an end closes what was begun last on its track. */
struct Slice {
    std::string track, inside; /* the names around it, outermost first */
    uint64_t from, to;         /* UINT64_MAX: never ended */
};

std::map<std::string, Slice> SlicesOf(const Trace &trace)
{
    std::vector<const Event *> ordered;
    for (const Event &event : trace.events)
        if (event.type == SLICE_BEGIN || event.type == SLICE_END)
            ordered.push_back(&event);
    std::stable_sort(ordered.begin(), ordered.end(), [](const Event *a, const Event *b) { return a->time < b->time; });
    std::map<std::string, Slice> slices;
    std::map<uint64_t, std::vector<std::string>> open;
    for (const Event *event : ordered) {
        std::vector<std::string> &stack = open[event->track];
        if (event->type == SLICE_END) {
            EXPECT_FALSE(stack.empty()) << "an end of nothing";
            if (stack.empty())
                continue;
            slices.at(stack.back()).to = event->time;
            stack.pop_back();
            continue;
        }
        std::string inside;
        for (const std::string &name : stack)
            inside += name + ">";
        EXPECT_TRUE(slices.insert({event->name, {trace.tracks.at(event->track), inside, event->time, UINT64_MAX}}).second);
        stack.push_back(event->name);
    }
    return slices;
}

TEST(Perfetto, RegionsAreSlicesAroundTheirCalls)
{
    Opened opened(
        {BuildTrace("1@0 launch s=N1 k=a\n1@10 region outer\n1@20+5 sync s=N1\n1@30 region inner\n1@30+10 ctx-sync\n"
                    "1@40 region-end\n1@50 region-end\n1@60 region-end\n2@5 region alone\n1@70+10 event-sync e=E\n"
                    "1@75 region during\n1@90 region-end\n")});
    Trace trace(TakeFile(opened.Export("perfetto")));
    uint64_t start = trace.Named("cuLaunchKernel")[0]->time;
    auto slices = SlicesOf(trace);
    auto check = [&](const char *name, const char *track, const char *inside, uint64_t from, uint64_t to) {
        ASSERT_EQ(1u, slices.count(name)) << name;
        EXPECT_EQ(track, slices.at(name).track) << name;
        EXPECT_EQ(inside, slices.at(name).inside) << name;
        EXPECT_EQ(start + from * 1000, slices.at(name).from) << name;
        EXPECT_EQ(to == UINT64_MAX ? to : start + to * 1000, slices.at(name).to) << name;
    };
    check("outer", "prog 1", "", 10, 50);
    check("cuStreamSynchronize", "prog 1", "outer>", 20, 25);
    check("inner", "prog 1", "outer>", 30, 40);
    check("cuCtxSynchronize", "prog 1", "outer>inner>", 30, 40);
    check("alone", "prog 2", "", 5, UINT64_MAX);
    check("cuEventSynchronize", "prog 1", "", 70, 80);
    check("during", "prog 1", "", 80, 90);
    EXPECT_EQ("region", trace.Named("outer")[0]->category);
}

TEST(Perfetto, DomainsHaveTracksOfTheirOwnBelowTheThread)
{
    Opened opened({BuildTrace("1@0 launch s=N1 k=a\n1@10 region one domain=NCCL\n1@20 region two domain=other\n"
                              "1@25 region three\n1@30 region-end domain=NCCL\n1@40 region-end domain=other\n"
                              "1@50 region-end\n1@60 region four domain=NCCL\n")});
    Trace trace(TakeFile(opened.Export("perfetto")));
    auto slices = SlicesOf(trace);
    EXPECT_EQ("regions of NCCL", slices.at("one").track);
    EXPECT_EQ("regions of other", slices.at("two").track);
    EXPECT_EQ("prog 1", slices.at("three").track);
    EXPECT_EQ("regions of NCCL", slices.at("four").track);
    EXPECT_EQ("", slices.at("four").inside);
    EXPECT_EQ(20000u, slices.at("one").to - slices.at("one").from);
    EXPECT_EQ(20000u, slices.at("two").to - slices.at("two").from);
    EXPECT_EQ(25000u, slices.at("three").to - slices.at("three").from);
    EXPECT_EQ(UINT64_MAX, slices.at("four").to);
    EXPECT_EQ("prog 1", trace.tracks.at(trace.parents.at(trace.Named("one")[0]->track)));
}

TEST(Perfetto, RangesOfTheProcessMayOverlap)
{
    auto process = [](uint32_t pid) {
        TraceBuilder builder;
        builder.header.pid = pid;
        builder.Clock(0, 1000000, 7000000000);
        builder.Clock(1000000000, 1001000000, 8000000000);
        for (uint32_t i = 1; i <= 4; i++)
            builder.String(i, std::to_string(pid) + " range " + std::to_string(i), PTDS_ROLE_REGION);
        builder.Region(1, 10000, 1, 0, 71);
        builder.Region(1, 20000, 2, 0, UINT64_MAX); /* whatever the tool that gives them numbers gives */
        builder.Region(2, 30000, 0, 0, 71);
        builder.Region(2, 35000, 0, 0, 70); /* whose beginning is lost */
        builder.Region(1, 40000, 0, 0, UINT64_MAX);
        builder.Region(1, 50000, 3, 0, 73);
        return builder.Bytes();
    };
    Opened opened({process(1000), process(2000)});
    Trace trace(TakeFile(opened.Export("perfetto")));
    auto slices = SlicesOf(trace);
    EXPECT_EQ(6u, slices.size());
    for (const char *pid : {"1000 range ", "2000 range "}) {
        const Slice &one = slices.at(pid + std::string("1")), &two = slices.at(pid + std::string("2")),
                    &three = slices.at(pid + std::string("3"));
        EXPECT_EQ("ranges", one.track);
        EXPECT_EQ(20000u, one.to - one.from);
        EXPECT_EQ("", two.inside) << "on a track of its own";
        EXPECT_EQ(20000u, two.to - two.from);
        EXPECT_EQ("", three.inside);
        EXPECT_EQ(UINT64_MAX, three.to);
    }
    std::set<uint64_t> tracks;
    for (const Event *event : trace.On("ranges"))
        tracks.insert(event->track);
    EXPECT_EQ(4u, tracks.size()) << "two a process: the third range has the first one's";
}

TEST(Perfetto, RangesThatNobodyEndsAreBounded)
{
    TraceBuilder builder;
    builder.String(1, "forgotten", PTDS_ROLE_REGION);
    for (uint64_t i = 1; i <= 300; i++)
        builder.Region(1, i * 1000, 1, 0, i);
    Opened opened({builder.Bytes()});
    Trace trace(TakeFile(opened.Export("perfetto")));
    std::map<uint64_t, int> types;
    for (const Event *event : trace.Named("forgotten"))
        types[event->type]++;
    EXPECT_EQ(256, types[SLICE_BEGIN]);
    EXPECT_EQ(44, types[INSTANT]);
}

TEST(Perfetto, SaysWhatItDoesNotKnow)
{
    Opened opened({WithHeader(BuildTrace(text), [](ptds_trace_header *header) { header->clean_end = 0; })});
    Trace trace(TakeFile(opened.Export("perfetto")));
    std::string notes;
    for (const Event *note : trace.On("notes"))
        notes += note->name + "\n";
    for (const char *part :
         {"GPU time is not recorded: work is", "no verdicts", "did not end through exit", "time 0 is 1970-"})
        EXPECT_NE(std::string::npos, notes.find(part)) << notes;
}

TEST(Perfetto, ProcessesSideBySideOnOneClock)
{
    auto process = [](uint64_t realtime) {
        TraceBuilder builder;
        builder.Clock(0, 1000000, realtime);
        builder.Clock(1000000000, 1001000000, realtime + 1000000000);
        builder.Stream(1, PTDS_STREAM_LEGACY);
        builder.Api(1, "cuLaunchKernel");
        builder.Thread(1, "main");
        CallSpec call;
        call.enter = 500;
        call.op = PTDS_OP_LAUNCH;
        call.stream = 1;
        builder.Call(call);
        return builder;
    };
    TraceBuilder one = process(7000000000), two = process(7000002000);
    one.header.rank = 1;
    two.header.rank = 0;
    two.header.pid = 4243;
    TraceBuilder three = process(7000001000); /* of the same process number as the first */
    strcpy(three.header.host, "node2");
    Opened opened({one.Bytes(), two.Bytes(), three.Bytes()});
    Trace trace(TakeFile(opened.Export("perfetto")));
    auto launches = trace.Named("cuLaunchKernel");
    ASSERT_EQ(3u, launches.size());
    EXPECT_EQ(2500u, launches[0]->time) << "rank 0, which began 2 us later";
    EXPECT_EQ(500u, launches[1]->time);
    EXPECT_EQ(1500u, launches[2]->time);
    std::map<uint64_t, int> pids;
    for (const auto &pid : trace.pids)
        pids[pid.second]++;
    EXPECT_EQ(1, pids[4242]) << "a viewer would merge two processes of one number";
    EXPECT_EQ(1, pids[4243]);
    std::set<std::pair<uint64_t, uint64_t>> known;
    for (const auto &[name, threads] : trace.threads)
        known.insert(threads.begin(), threads.end());
    EXPECT_EQ((std::set<std::pair<uint64_t, uint64_t>>{{4242, 4243}, {4243, 4243}}), known)
        << "the third process's thread has no number of its own";
}

TEST(Perfetto, ProtocKnowsEveryField)
{
    if (access("/usr/bin/protoc", X_OK) != 0)
        GTEST_SKIP() << "protoc is not installed (Debian: protobuf-compiler)";
    Opened opened({BuildTrace(text)});
    OneEdge feed;
    std::string plain;
    for (const std::string &block : PerfettoBlocks(TakeFile(opened.Export("perfetto", &feed))))
        plain += block;
    std::string path = WriteTemporary(plain);
    Outcome ran =
        run({{"/bin/sh", "-c",
              "/usr/bin/protoc --proto_path=tests/analysis --decode=Trace tests/analysis/perfetto.proto <" + path}});
    unlink(path.c_str());
    ASSERT_EQ(0, ran.exit) << ran.err;
    size_t events = 0;
    for (const std::string &line : lines_of(ran.out)) {
        size_t first = line.find_first_not_of(' ');
        ASSERT_FALSE(first != std::string::npos && isdigit(line[first])) << "a field that Perfetto does not have: " << line;
        events += line.find("track_event {") != std::string::npos;
    }
    EXPECT_GT(events, 20u);
}

} // namespace
} // namespace ptds
