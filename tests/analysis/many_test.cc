// SPDX-License-Identifier: Apache-2.0
//
// Several processes as one: ids of findings that last, folding, spread over ranks, clocks, order, and what is said of
// traces that cannot be read.
#include "tests/analysis/exported.h"

#include <fstream>
#include <set>
#include <jansson.h>

#include "analysis/report/many/traced.h"
#include "analysis/report/outcome.h"
#include "analysis/views/file_word.h"
#include "analysis/views/text/many_text.h"
#include "analysis/views/html/report_html.h"
#include "analysis/views/html/timelines.h"
#include "analysis/views/json/report_json.h"
#include "analysis/views/opening.h"
#include "analysis/views/text/many_screen.h"
#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

struct Rank {
    int32_t rank = 0;
    uint64_t load = 0x555500000000; /* where the program is mapped */
    uint64_t offset = 0x1234;       /* of the call in it */
    uint64_t lost_us = 1000;
    unsigned calls = 1;
    std::string build_id = "12345678901234567890";
    std::string api = "cuMemcpyDtoH_v2";
    uint64_t realtime = 5000000000;
    std::string host = "node1";
    bool other_ids = false; /* uids and numbers of the trace differ */
};

/* A rank that waited in synchronous copies behind work of its own. */
std::string TraceOf(const Rank &rank)
{
    TraceBuilder builder;
    uint32_t more = rank.other_ids ? 7 : 0;
    builder.header.rank = rank.rank;
    builder.header.ranks = 4;
    builder.header.pid = 4000 + static_cast<uint32_t>(rank.rank);
    strcpy(builder.header.host, rank.host.c_str());
    builder.Clock(0, 1000000, rank.realtime);
    builder.Clock(1000000000, 1001000000, rank.realtime + 1000000000);
    builder.Api(1 + more, rank.api);
    builder.Api(2 + more, "cuLaunchKernel");
    builder.Object(1, "/opt/app/prog", rank.load, rank.load + 0x100000, rank.build_id);
    builder.Stack(3 + more, {rank.load + rank.offset, rank.load + 0x2000});
    builder.Stream(1 + more, PTDS_STREAM_LEGACY);
    CallSpec call;
    call.enter = 1000;
    call.stream = 1 + more;
    call.flags = PTDS_CALL_LEGACY;
    auto launch = [&] {
        call.op = PTDS_OP_LAUNCH;
        call.api = 2 + more;
        call.leave = 0;
        call.flags = PTDS_CALL_LEGACY;
        call.words.clear();
        call.stack = 0;
        builder.Call(call);
    };
    for (unsigned i = 0; i < rank.calls; i++) {
        launch();
        call.enter += 1000 + rank.lost_us * 1000;
        call.op = PTDS_OP_COPY;
        call.api = 1 + more;
        call.kinds = PTDS_MEMORY_PAGEABLE | PTDS_MEMORY_DEVICE << 4;
        call.words = {0x1000, 0x2000, 4, 1, 0, 0};
        call.flags = PTDS_CALL_LEGACY | PTDS_CALL_IMPLICIT | PTDS_CALL_TIMED;
        call.stack = 3 + more;
        call.leave = call.enter + rank.lost_us * 1000;
        builder.Call(call);
        call.enter = call.leave + 1000;
    }
    /* More work, and time for it: none of the copies was for a last result. */
    launch();
    call.op = PTDS_OP_STREAM_SYNC;
    call.api = 3 + more;
    call.enter += rank.lost_us * 1000 + 1000;
    builder.Call(call);
    return builder.Bytes();
}

std::string IdOf(const Rank &rank)
{
    Opened opened({TraceOf(rank)});
    EXPECT_EQ(1u, opened.folds.list.count);
    return opened.folds.list.count != 0 ? opened.folds.list.items[0].id.text : "none";
}

TEST(Identity, LastsOverAddressesNumbersAndTimes)
{
    Rank rank, moved;
    moved.load = 0x7f1200000000;
    moved.other_ids = true;
    moved.lost_us = 5000;
    moved.calls = 9;
    moved.rank = 3;
    EXPECT_EQ(IdOf(rank), IdOf(moved));
    EXPECT_EQ("7a0454db0d0eec41", IdOf(rank)) << "users keep ids in files: this one must never change";
}

TEST(Identity, DiffersByPlaceFunctionAndBuild)
{
    Rank rank, place, function, build;
    place.offset++;
    function.api = "cuMemcpyDtoD_v2";
    build.build_id[0] ^= 1;
    std::set<std::string> ids = {IdOf(rank), IdOf(place), IdOf(function), IdOf(build)};
    EXPECT_EQ(4u, ids.size());
}

TEST(Many, AnErrorInOneProcessIsAnErrorAndComesFirst)
{
    auto trace = [](const char *second) {
        return BuildTrace("1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                          "1@1 alloc m=B ptr=0x20000 bytes=4096\n"
                          "1@2 memset s=L target=P1 bytes=64 dst=A\n"
                          "2@3 copy s=L target=P2 bytes=64 site=second src=" +
                          std::string(second) +
                          "\n1@10+9000 copy s=L implicit from=device to=pageable bytes=64\n"
                          "1@9100 launch s=N9 k=next\n1@20000+3 sync s=N9\n");
    };
    Opened opened({trace("B"), trace("A"), trace("B")});
    ASSERT_LT(1u, opened.folds.list.count);
    const struct finding *first = opened.folds.list.items[0].finding;
    EXPECT_STREQ("order-given-up", first->rule->id);
    EXPECT_EQ(SEVERITY_ERROR, first->severity);
    EXPECT_EQ(3u, opened.folds.list.items[0].shares.count);
}

TEST(Many, FoldsFindingsOverRanks)
{
    std::vector<std::string> all;
    for (int32_t i = 3; i >= 0; i--) {
        Rank rank;
        rank.rank = i;
        rank.lost_us = 1000 * static_cast<uint64_t>(i + 1);
        rank.calls = static_cast<unsigned>(i) + 1;
        rank.load += static_cast<uint64_t>(i) << 24;
        all.push_back(TraceOf(rank));
    }
    Rank other;
    other.rank = 1;
    other.host = "node0";
    other.offset = 0x4444;
    all.push_back(TraceOf(other));
    Opened opened(all);
    ASSERT_EQ(5u, opened.traces.list.count);
    EXPECT_STREQ("node0", opened.traces.list.items[0]->report.trace.header.host) << "by host, then rank";
    for (size_t i = 1; i < 5; i++)
        EXPECT_EQ(static_cast<int32_t>(i) - 1, opened.traces.list.items[i]->report.trace.header.rank);
    ASSERT_EQ(2u, opened.folds.list.count);
    const folded &first = opened.folds.list.items[0];
    EXPECT_EQ(10u, first.count);
    EXPECT_EQ(4u, first.shares.count);
    EXPECT_EQ(4u, first.process) << "the one that it costs most stands for it";
    spread spread = fold_spread(&first);
    EXPECT_EQ(4u, spread.processes);
    EXPECT_EQ(4u, spread.most_process);
    EXPECT_EQ(980000u, spread.least) << "each of its calls, less the 20 us that a quick one may take";
    EXPECT_EQ(3 * 2980000u, spread.median) << "1, 4, 9, 16 ms: the upper of the middle two";
    EXPECT_EQ(4 * 3980000u, spread.most);
    EXPECT_EQ(980000u + 2 * 1980000u + 3 * 2980000u + 4 * 3980000u, first.host_ns);
    EXPECT_EQ(1u, opened.folds.list.items[1].shares.count);
}

TEST(Many, TextSaysWhoAndHowUnevenly)
{
    Rank zero, one;
    one.rank = 1;
    one.lost_us = 7000;
    one.realtime += 2500000;
    Opened opened({TraceOf(zero), TraceOf(one)});
    TextOf out;
    many_text(&opened.traces, &opened.folds, opened.namer, &out);
    for (const char *part :
         {"report on 2 processes", "the first one begun at 1970-01-01 00:00:05 UTC", "+2.5 ms", "node1 rank 1 pid 4001",
          "max 7.0 ms (node1 rank 1 pid 4001)", "2 of 2:", "warning, class H3", "[7a0454db0d0eec41]", "prog+0x1234"})
        EXPECT_NE(std::string::npos, out.text.find(part)) << part << "\n" << out.text;
}

/* Two memsets and nothing that is missing. */
std::string Complete(bool timed)
{
    TraceBuilder builder;
    builder.Api(1, "cuMemsetD8Async");
    builder.Stream(1, PTDS_STREAM_NON_BLOCKING);
    builder.Clock(0, 1000000, 5000000000);
    CallSpec call;
    call.op = PTDS_OP_MEMSET;
    call.kinds = PTDS_MEMORY_DEVICE;
    call.stream = 1;
    call.words = {0x1000, 16, 1, 0};
    builder.Call(call);
    call.enter = 1000;
    builder.Call(call);
    if (timed)
        builder.DeviceRun(1, 1000, 2000, 3000);
    builder.Count(1, 1, false, ptds_count{2, 0, 0, 0});
    return builder.Bytes();
}

TEST(Many, GpuTimesAddUpOverProcesses)
{
    auto text = [](const std::vector<std::string> &traces) {
        Opened opened(traces);
        TextOf out;
        many_text(&opened.traces, &opened.folds, opened.namer, &out);
        return out.text;
    };
    std::string with = text({Complete(true), Complete(false)}), without = text({Complete(false), Complete(false)});
    for (const char *part :
         {"in all    unknown (GPU time is not counted)\n", "complete (GPU times of 1 of 4 operations are recorded)\n"})
        EXPECT_NE(std::string::npos, with.find(part)) << with;
    for (const char *part : {"in all    unknown (GPU time is not recorded)\n", "complete (GPU time is not recorded)\n"})
        EXPECT_NE(std::string::npos, without.find(part)) << without;
}

TEST(Many, JsonHasProcessesAndShares)
{
    Rank zero, one;
    one.rank = 1;
    one.lost_us = 7000;
    Opened opened({TraceOf(zero), WithHeader(TraceOf(one), [](ptds_trace_header *header) { header->clean_end = 0; })});
    TextOf out;
    ASSERT_EQ(0, report_json_many(&opened.traces, &opened.folds, opened.namer, &out));
    json_t *root = json_loads(out.text.c_str(), 0, nullptr);
    ASSERT_NE(nullptr, root);
    json_t *processes = json_object_get(root, "processes");
    ASSERT_EQ(2u, json_array_size(processes));
    json_t *second = json_array_get(processes, 1);
    json_t *completeness = json_object_get(second, "completeness");
    EXPECT_EQ(3, json_integer_value(json_object_get(completeness, "gpu_operations")));
    EXPECT_EQ(0, json_integer_value(json_object_get(completeness, "gpu_timed")));
    EXPECT_EQ(1, json_integer_value(json_object_get(second, "rank")));
    EXPECT_EQ(5000000000, json_integer_value(json_object_get(second, "start_unix_ns")));
    EXPECT_EQ(0u, json_array_size(json_object_get(json_array_get(processes, 0), "incomplete")));
    EXPECT_EQ(1u, json_array_size(json_object_get(second, "incomplete")));
    json_t *finding = json_array_get(json_object_get(root, "findings"), 0);
    EXPECT_STREQ("7a0454db0d0eec41", json_string_value(json_object_get(finding, "id")));
    EXPECT_EQ(2, json_integer_value(json_object_get(finding, "count")));
    EXPECT_EQ(2u, json_array_size(json_object_get(finding, "processes")));
    json_t *by = json_object_get(finding, "host_ns_by_process");
    EXPECT_EQ(1, json_integer_value(json_object_get(by, "max_process")));
    EXPECT_LT(json_integer_value(json_object_get(by, "min")), json_integer_value(json_object_get(by, "max")));
    json_decref(root);
}

/* A list that a just-in-time compiler left, and a process of this host that ended just now. */
class Compiled
{
public:
    Compiled(int rank, const std::string &function) : path_("/tmp/perf-" + std::to_string(Pid(rank)) + ".map")
    {
        std::ofstream(path_) << "7f0000001000 100 py::" << function << ":/app/model.py\n";
        Rank of;
        of.rank = rank;
        of.offset = 0x7f0000001080 - of.load;
        of.realtime = static_cast<uint64_t>(time(nullptr)) * 1000000000;
        bytes = TraceOf(of);
        auto *header = reinterpret_cast<ptds_trace_header *>(&bytes[0]);
        header->pid = Pid(rank);
        gethostname(header->host, sizeof header->host - 1);
    }
    ~Compiled()
    {
        unlink(path_.c_str());
    }
    std::string bytes;

private:
    static uint32_t Pid(int rank) /* above every process number that the kernel gives out */
    {
        return 5000000 + static_cast<uint32_t>(getpid()) * 2 + static_cast<uint32_t>(rank);
    }
    std::string path_;
};

/* The same address is another function in each. */
TEST(Many, ThePageNamesPlacesByTheProcessThatTheyAreOf)
{
    Compiled first(0, "first_step"), second(1, "second_step");
    Opened opened({first.bytes, second.bytes});
    struct timelines timelines;
    TextOf page;
    timelines_begin(&timelines, 2);
    timelines_decide(&timelines);
    ASSERT_EQ(0, report_html_many(&opened.traces, &opened.folds, &timelines, opened.namer, &page));
    timelines_end(&timelines);
    ASSERT_LT(0u, opened.folds.list.count);
    for (size_t i = 0; i < opened.folds.list.count; i++) {
        bool of_first = opened.folds.list.items[i].process == 0;
        std::string shown =
            std::string("\"site\":\"0x7f0000001080 ") + (of_first ? "first" : "second") + "_step (model.py)";
        EXPECT_NE(std::string::npos, page.text.find(shown)) << shown;
    }
}

/* Where single orders are not to be had, whoever asked for the page hears of it. */
TEST(Many, APageWithoutItsOrdersFails)
{
    for (int status : {0, -1}) {
        int asked[] = {0, status};
        edge_feed feed = {[](edge_feed *own, const struct report *, edge_sink *) {
                              int *told = static_cast<int *>(own->data);
                              told[0]++;
                              return told[0] == 2 ? told[1] : 0; /* of the second trace alone */
                          },
                          asked};
        struct timelines timelines;
        TextOf page;
        timelines_begin(&timelines, 3);
        timelines.edges = &feed;
        Opened opened(
            {BuildTrace("1@0 launch s=L k=a\n"), BuildTrace("1@0 launch s=L k=b\n"), BuildTrace("1@0 launch s=L k=c\n")},
            &timelines.watch);
        timelines_decide(&timelines);
        EXPECT_EQ(status != 0, report_html_many(&opened.traces, &opened.folds, &timelines, opened.namer, &page) != 0);
        EXPECT_EQ(3, asked[0]);
        EXPECT_NE(std::string::npos, page.text.find("</html>"));
        timelines_end(&timelines);
    }
}

TEST(Many, UnknownCostIsNotZero)
{
    Opened opened({BuildTrace("1@0 launch s=B1 k=a\n1@10 launch s=L k=b\n")});
    ASSERT_EQ(1u, opened.folds.list.count);
    EXPECT_EQ(0u, fold_spread(&opened.folds.list.items[0]).processes);
    TextOf out;
    many_text(&opened.traces, &opened.folds, opened.namer, &out);
    EXPECT_NE(std::string::npos, out.text.find("unknown in all")) << out.text;
    EXPECT_NE(std::string::npos, out.text.find("\n\nProcesses\n")) << "when the first one began nobody knows: " << out.text;
}

/* Of several that are wrong it is the first, which the line above names, whichever finding is listed first. */
TEST(Many, TheNextCommandIsAboutTheFirstRunThatIsWrong)
{
    auto wrong = [](unsigned pid, unsigned times) {
        std::string text =
            "pid " + std::to_string(pid) + "\nsetting policy=per-thread\n1@0 alloc m=A ptr=0x10000 bytes=4096\n";
        for (unsigned i = 0; i < times; i++)
            text += "1@" + std::to_string(10 + 100 * i) + " memset s=L target=P1 dst=A bytes=64 site=a\n2@" +
                    std::to_string(20 + 100 * i) + " copy s=L target=P2 src=A dst=0x900000 bytes=64 site=p" +
                    std::to_string(pid) + "@prog" + std::to_string(pid) + "\n";
        return BuildTrace(text);
    };
    Opened opened({BuildTrace("pid 1\n1@0 launch s=L k=a\n"), wrong(2, 1), wrong(3, 4)});
    ASSERT_EQ(3u, opened.traces.list.count);
    EXPECT_EQ(2u, opened.folds.list.items[0].process) << "its finding is of more calls";
    TextOf screen;
    many_screen(&opened.traces, &opened.folds, opened.namer, 40, &screen);
    const traced *first = opened.traces.list.items[1];
    EXPECT_EQ(DOUBT_WRONG, outcome_of(&first->report).doubt);
    EXPECT_NE(std::string::npos, screen.text.find("WRONG: prog (pid 2)")) << screen.text;
    EXPECT_NE(std::string::npos, screen.text.find(std::string("Next: ptds report") + file_word(&first->report).text + ","))
        << screen.text;
}

TEST(Many, AFolderGivesItsTraces)
{
    Folder folder;
    std::ofstream(folder / "b.ptds") << TraceOf(Rank());
    std::ofstream(folder / "no-suffix") << TraceOf(Rank());
    std::ofstream(folder / "broken.ptds") << "no trace";
    std::ofstream(folder / "notes.txt") << "not meant";
    struct traces traces = {};
    std::string told;
    traces.trouble = [](void *data, const char *line) { *static_cast<std::string *>(data) += std::string(line) + "\n"; };
    traces.data = &told;
    ASSERT_TRUE(traces_add(&traces, folder.path().c_str()));
    EXPECT_EQ(2u, traces.list.count);
    EXPECT_EQ(1u, traces.unreadable);
    EXPECT_NE(std::string::npos, told.find("broken.ptds: offset 0")) << told;
    EXPECT_NE(std::string::npos, told.find("1 other file passed over")) << told;
    traces_free(&traces);
}

/* However the folder was named, a trace in it has one name, which the next command has. */
TEST(Many, AFolderNamedWithASlashGivesPlainNames)
{
    Folder folder;
    std::ofstream(folder / "a.ptds") << TraceOf(Rank());
    for (const char *end : {"", "/", "///"}) {
        struct traces traces = {};
        ASSERT_TRUE(traces_add(&traces, (folder.path() + end).c_str()));
        ASSERT_EQ(1u, traces.list.count);
        EXPECT_EQ(folder / "a.ptds", traces.list.items[0]->path);
        traces_free(&traces);
    }
}

TEST(Many, TimesThatAreAlikeAreSaidOnce)
{
    auto head = [](const std::vector<std::string> &traces) {
        Opened opened(traces);
        TextOf out;
        many_screen(&opened.traces, &opened.folds, opened.namer, 40, &out);
        return lines_of(out.text)[0];
    };
    std::string one = BuildTrace("tsc\n1@0 none\n"), other = BuildTrace("1@0 none\n1@7000 none\n");
    EXPECT_EQ("1 process, ran 1.00 s", head({one}));
    EXPECT_EQ("2 processes, ran 1.00 s each", head({one, one}));
    EXPECT_EQ("2 processes, ran 7.0 ms to 1.00 s each", head({one, other}));
}

TEST(Many, AFolderWithoutTracesIsAnError)
{
    Folder folder;
    struct traces traces = {};
    ASSERT_TRUE(traces_add(&traces, folder.path().c_str()));
    EXPECT_EQ(1u, traces.unreadable);
    traces_free(&traces);
}

TEST(Clocks, InterpolateBetweenTheirReadings)
{
    TraceBuilder builder;
    builder.header.clock = PTDS_CLOCK_TSC;
    builder.Clock(3000, 0, 1000000000);
    builder.Clock(6003000, 2000000, 1002000200); /* 100 ppm off meanwhile: set by the network */
    Opened opened({builder.Bytes()});
    const traced *traced = opened.traces.list.items[0];
    EXPECT_EQ(1000000000u, traced_realtime(traced, 3000));
    EXPECT_NEAR(1001000100.0, static_cast<double>(traced_realtime(traced, 3003000)), 1);
    EXPECT_EQ(999999000u, traced_realtime(traced, 0)) << "before the first reading, too";
    EXPECT_EQ(0u, traced_time(traced, traces_origin(&opened.traces), 0)) << "never before the origin";
}

TEST(Incomplete, EveryReasonIsNamed)
{
    auto reasons = [](const std::string &bytes) {
        Opened opened({bytes});
        std::string lines;
        traced_incomplete(
            opened.traces.list.items[0],
            [](void *data, const char *line) { *static_cast<std::string *>(data) += std::string(line) + "\n"; }, &lines);
        return lines;
    };
    std::string whole = TraceOf(Rank());
    EXPECT_EQ("", reasons(whole));
    EXPECT_EQ("the process did not end through exit\n",
              reasons(WithHeader(whole, [](ptds_trace_header *header) { header->clean_end = 0; })));
    EXPECT_EQ("3 records were not kept\n",
              reasons(WithHeader(whole, [](ptds_trace_header *header) { header->refused = 3; })));
    EXPECT_EQ("5 chunks of the oldest detail were overwritten\n",
              reasons(WithHeader(whole, [](ptds_trace_header *header) { header->recycled = 5; })));
    EXPECT_EQ("2 chunks lie beyond the end of the trace\n",
              reasons(WithHeader(whole, [](ptds_trace_header *header) { header->chunks += 2; })));
    EXPECT_EQ(
        "1 record was not kept\n1 chunk of the oldest detail was overwritten\n1 chunk lies beyond the end of the trace\n",
        reasons(WithHeader(whole, [](ptds_trace_header *header) {
            header->refused = header->recycled = 1;
            header->chunks++;
        })));
    std::string later;
    Opened opened({whole});
    struct report *report = &opened.traces.list.items[0]->report;
    report->left_out = 1;
    report->refused = 1;
    report->totals.unplaced = 1;
    report->out_of_memory = true;
    EXPECT_EQ(4u, traced_incomplete(
                      opened.traces.list.items[0],
                      [](void *data, const char *line) { *static_cast<std::string *>(data) += std::string(line) + "\n"; },
                      &later));
    EXPECT_EQ("there was no time to look at all calls\nthere were more call sites than are followed\n"
              "there were more streams than are followed\nthere was not enough memory for all of it\n",
              later);
    std::string damaged = whole;
    damaged[1024] ^= 1; /* the first chunk's magic */
    EXPECT_NE(std::string::npos, reasons(damaged).find("damaged in 1 place, the first at offset 1024"));
}

} // namespace
} // namespace ptds
