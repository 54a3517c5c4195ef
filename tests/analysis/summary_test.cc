// SPDX-License-Identifier: Apache-2.0
//
// The summary: never more than its lines and columns, whatever the trace says; what it must name; that nothing missing
// looks like zero; and the full text beside it.
#include <gtest/gtest.h>

#include <sstream>

#include "analysis/views/gap_words.h"
#include "analysis/views/opening.h"
#include "analysis/report/residual.h"
#include "tests/analysis/support.h"
#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

void ExpectFits(const std::string &summary)
{
    auto lines = lines_of(summary);
    EXPECT_LE(lines.size(), 15u) << summary;
    for (const std::string &line : lines) {
        EXPECT_LE(line.size(), 100u) << line;
        EXPECT_EQ(0u, line.find("ptds: ")) << line;
    }
}

bool Has(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

TEST(Summary, FitsWhenEveryRuleHasFindingsAndEverythingIsMissing)
{
    std::string text = "untabled cuNew\nbypass /very/long/" + std::string(200, 'x') + "\n";
    unsigned start = 0;
    const rule *rules[RULES_MOST];
    for (size_t i = 0, count = registry_all(rules); i < count; i++, start += 1000000) {
        std::istringstream bad(rules[i]->bad);
        for (std::string line; std::getline(bad, line);) {
            size_t at = line.find('@');
            if (line[0] < '0' || line[0] > '9') {
                text += line + "\n";
                continue;
            }
            size_t end = line.find_first_of("+ ", at);
            unsigned time = static_cast<unsigned>(std::stoul(line.substr(at + 1, end - at - 1)));
            text += line.substr(0, at + 1) + std::to_string(start + time) + line.substr(end) + " site=s" +
                    std::to_string(start + time) + "\n";
        }
    }
    Built report(BuildTrace(text));
    EXPECT_GE(report->findings.count, 10u);
    ExpectFits(report.Summary());
    EXPECT_TRUE(Has(report.Summary(), " findings: ptds run --trace")) << report.Summary();
}

TEST(Summary, NamesWhatWasFoundAndWhere)
{
    Built report(BuildTrace("setting policy=observe\n"
                            "1@0 launch s=L k=_Z4spinPf site=a\n"
                            "1@10+5000 copy s=L implicit from=device to=pageable bytes=4 site=b\n" GOES_ON));
    std::string summary = report.Summary();
    ExpectFits(summary);
    for (const char *part :
         {"prog", "observe", "1 thread", "4 driver calls", "2 default-stream operations: 0 moved", "sync-copy", "1x",
          "5.0 ms", "cuMemcpyDtoH_v2", "prog+0x", "behind spin", "ptds run --policy observe --trace"})
        EXPECT_TRUE(Has(summary, part)) << part << "\n" << summary;
}

/* Behind the policy, in the first line of all that there is to read; and why that matters, with what is not analysed. */
TEST(Summary, SaysThatNamesAreTrusted)
{
    const std::string run = "1@0 launch s=L k=_Z4spinPf site=a\n" GOES_ON,
                      gap = "kernels with unread code are guessed by their names, which is unsafe (PTDS_TRUST)";
    Built code(BuildTrace("setting policy=guarded\nsetting PTDS_TRUST=code\n" + run));
    Built unsaid(BuildTrace("setting policy=guarded\n" + run));
    Built names(BuildTrace("setting policy=guarded\nsetting PTDS_TRUST=names\n" + run));
    for (const std::string &text : {code.Summary(), code.Text(), unsaid.Summary(), unsaid.Text()}) {
        EXPECT_FALSE(Has(text, "trusted")) << text;
        EXPECT_FALSE(Has(text, "guessed")) << text;
    }
    ExpectFits(names.Summary());
    const std::string summary = names.Summary();
    EXPECT_TRUE(Has(summary.substr(0, summary.find('\n')), ", policy guarded, names trusted: ran ")) << summary;
    EXPECT_TRUE(Has(names.Text(), gap)) << names.Text();
}

TEST(Summary, ErrorsComeFirst)
{
    const std::string
        slow = "1@0 launch s=B1 k=_Z4spinPf\n1@10+5000 copy s=L implicit from=device to=pageable bytes=4 site=b\n",
        alloc = "1@6000 alloc m=A ptr=4096 bytes=4096\n";
    Built right(BuildTrace(slow + GOES_ON));
    EXPECT_FALSE(Has(right.Summary(), "!!")) << right.Summary();
    Built wrong(BuildTrace(slow + alloc +
                           "1@6010 memset s=L target=P1 bytes=64 dst=A\n"
                           "2@6020 copy s=L target=P2 bytes=64 src=A site=c\n"
                           "1@12000+3 sync s=P1\n"));
    std::string summary = wrong.Summary();
    ExpectFits(summary);
    EXPECT_TRUE(Has(summary, "ptds: !! WRONG: #1 order-given-up, results need this order, and it is gone\n")) << summary;
    EXPECT_TRUE(Has(summary, "ptds: next to mend: order-given-up, 1 call, cuMemcpyDtoDAsync_v2 at prog+0x20")) << summary;
}

/* What happened, whether it is safe, what is next: and nothing that sounds as if the policy had gained nothing. */
TEST(Summary, OfARunThatMovedWork)
{
    const std::string policy = "setting policy=guarded\nsetting guard=1\n";
    const std::string work = "1@0 launch s=L to=N1 k=a\n2@5 launch s=L to=N2 k=b\n1@10+5000 sync s=L to=N1\n"
                             "2@11+5000 sync s=L to=N2\n1@9000 launch s=L to=N1 k=c\n1@9100+3 sync s=L to=N1\n";
    Built report(BuildTrace(policy + work));
    ASSERT_EQ(0, residual_find(const_cast<struct report *>(report.get())));
    std::string summary = report.Summary();
    EXPECT_TRUE(Has(summary, "policy guarded: ran 9.1 ms, 6 driver calls recorded\n"
                             "ptds: 3 default-stream operations moved, results safe (no order that a result needs was "
                             "missing)\nptds: threads wait only for their own work now; how much faster: ptds probe -- "
                             "prog ...\n"))
        << summary;
    for (const char *alarm : {"nothing to gain", "Blocked", "!!", "remapped"})
        EXPECT_FALSE(Has(summary, alarm)) << alarm << "\n" << summary;
    Built lanes(BuildTrace("setting PTDS_LANES=8\nsetting PTDS_EXPLICIT_LEGACY=a;b\nsetting policy=per-thread\n" + work));
    EXPECT_TRUE(Has(lanes.Summary(), "PTDS_LANES=8 ptds probe --policy per-thread -- prog ...\n")) << lanes.Summary();
    EXPECT_FALSE(Has(lanes.Summary(), "PTDS_EXPLICIT_LEGACY")) << "no value that a shell would split";
}

TEST(Summary, SaysOfWhichCallsThereIsNothing)
{
    Built built(BuildTrace("1@0 launch s=N1 k=a\n1@10+3 sync s=N1\n"));
    struct report report = *built.get();
    auto nothing = [&] { return std::string(opening_nothing_found(&report).text); };
    std::string rules = std::to_string(report.rules);
    EXPECT_EQ("No findings: " + rules + " rules looked at 2 recorded calls", nothing());
    report.left_out = 1;
    EXPECT_EQ("No findings in what was looked at: " + rules + " rules looked at 2 recorded calls", nothing());
    report.left_out = 0;
    report.trace.header.recycled = 1;
    EXPECT_EQ("No findings in what was recorded: " + rules + " rules looked at 2 recorded calls", nothing());
    report.totals.recorded = 1;
    EXPECT_EQ("No findings in what was recorded: " + rules + " rules looked at 1 recorded call", nothing());
}

TEST(Summary, SaysWhenThereIsNothing)
{
    Built report(BuildTrace("1@0 launch s=N1 k=a\n1@10+3 sync s=N1\n"));
    std::string summary = report.Summary();
    ExpectFits(summary);
    EXPECT_TRUE(Has(summary, "No findings: ")) << summary;
    EXPECT_TRUE(Has(summary, "nothing was put on the default stream")) << summary;
}

TEST(Summary, CountsAreTheExactOnesWhereThereAre)
{
    TraceBuilder builder;
    CallSpec call;
    builder.Call(call);
    builder.Count(1, 1, false, {1203311, 3, 7, 0});
    Built report(builder.Bytes());
    EXPECT_TRUE(Has(report.Summary(), "1 203 311 driver calls, 3 of them failed")) << report.Summary();
    builder.header.recycled = 1;
    Built recycled(builder.Bytes());
    EXPECT_TRUE(Has(recycled.Summary(), "1 203 310 of 1 203 311 calls were not recorded")) << recycled.Summary();
    EXPECT_TRUE(Has(report.Text(), "1 203 311")) << report.Text();
}

/* All calls are there, so nothing is said of missing ones. */
TEST(Summary, WhatIsNotAnalysedIsNamedThoughAllWasRecorded)
{
    TraceBuilder builder;
    CallSpec call;
    call.op = PTDS_OP_LAUNCH;
    call.stream = call.target = 7; /* made before the record began */
    builder.Call(call);
    builder.Count(1, call.api, false, {1, 0, 0, 0});
    builder.Clock(0, 0);
    Built report(builder.Bytes());
    EXPECT_TRUE(Has(report.Summary(), "\nptds: not analysed: 1 operation on streams whose creation was not seen"))
        << report.Summary();
}

/* Every gap that there may be, of one and of several; the most telling first. */
TEST(Summary, AllThatMayBeMissingIsNamed)
{
    auto gaps = [](uint64_t count) {
        Built built(BuildTrace("1@0 launch s=N1 k=a\n"));
        struct report report = *built.get();
        report.trace.header.refused = report.trace.header.recycled = report.trace.header.uncounted =
            static_cast<uint32_t>(count);
        report.trace.lost_chunks = report.trace.damaged = report.trace.unknown_records = count;
        report.left_out = report.refused = count;
        report.out_of_memory = true;
        report.trace.header.clean_end = 0;
        report.totals.untimed_waits = report.totals.unknown_streams = report.totals.unplaced = count;
        report.totals.unknown_generations = report.edges.totals.unplaced = report.totals.opaque = count;
        std::string lines;
        unsigned told = gap_words(
            &report, [](void *data, const char *line) { *static_cast<std::string *>(data) += std::string(line) + "\n"; },
            &lines);
        EXPECT_EQ(lines_of(lines).size(), told);
        return lines;
    };
    EXPECT_EQ("1 record had no room (PTDS_TRACE_LIMIT)\n"
              "no time for 1 (PTDS_REPORT_BUDGET)\n"
              "1 chunk of old detail overwritten (PTDS_TRACE_LIMIT)\n"
              "1 chunk beyond the end of the trace\n"
              "1 damaged place; what follows in the same chunk is lost\n"
              "1 record of kinds unknown to this version\n"
              "1 call site beyond the first 4096 of a rule\n"
              "there was not enough memory for all of the trace\n"
              "the calls of 1 thread are not counted: there was no room\n"
              "the trace holds no exact counts; numbers are of the recorded calls\n"
              "the process did not end through exit, or still runs: the last records may be missing\n"
              "1 call that may have waited was not timed\n"
              "1 operation on streams whose creation was not seen\n"
              "1 call on streams beyond the first 4096 alive at a time\n"
              "1 wait for a recording of an event that the trace does not hold\n"
              "1 call on streams too many to say what depends on their order\n"
              "1 operation with memory use unknown (opaque)\n",
              gaps(1));
    EXPECT_EQ("1 203 311 records had no room (PTDS_TRACE_LIMIT)\n"
              "no time for 1 203 311 (PTDS_REPORT_BUDGET)\n"
              "1 203 311 chunks of old detail overwritten (PTDS_TRACE_LIMIT)\n"
              "1 203 311 chunks beyond the end of the trace\n"
              "1 203 311 damaged places; what follows in the same chunk is lost\n"
              "1 203 311 records of kinds unknown to this version\n"
              "1 203 311 call sites beyond the first 4096 of a rule\n"
              "there was not enough memory for all of the trace\n"
              "the calls of 1 203 311 threads are not counted: there was no room\n"
              "the trace holds no exact counts; numbers are of the recorded calls\n"
              "the process did not end through exit, or still runs: the last records may be missing\n"
              "1 203 311 calls that may have waited were not timed\n"
              "1 203 311 operations on streams whose creation was not seen\n"
              "1 203 311 calls on streams beyond the first 4096 alive at a time\n"
              "1 203 311 waits for event recordings that the trace does not hold\n"
              "1 203 311 calls on streams too many to say what depends on their order\n"
              "1 203 311 operations with memory use unknown (opaque)\n",
              gaps(1203311));
}

/* What reaches the driver past the shim, by every way that there is. */
TEST(Text, WhatGoesPastTheShim)
{
    std::string trace = "untabled cuNew\n";
    for (unsigned what = 0; what < 9; what++)
        trace += "bypass " + std::to_string(what) + ":/opt/" + std::to_string(what) + ".so\n";
    Built built(BuildTrace(trace + "bypass /opt/" + std::string(700, 'x') + "\n1@0 launch s=N1 k=a\n"));
    struct report report = *built.get();
    report.trace.defs.bypasses.items[5].functions = 12;
    report.trace.defs.untabled.items[0].handed = 1;
    std::string lines;
    EXPECT_EQ(11u, gap_words_past(
                       &report,
                       [](void *data, const char *line) { *static_cast<std::string *>(data) += std::string(line) + "\n"; },
                       &lines));
    EXPECT_EQ(10u, gap_words_past(&report, nullptr, nullptr)) << "only counted: who is in front is not past it";
    report.trace.defs.untabled.items[0].handed = 2;
    report.trace.defs.untabled.items[0].calls = 17;
    std::string forwarded;
    gap_words_past(
        &report, [](void *data, const char *line) { *static_cast<std::string *>(data) += std::string(line) + "\n"; },
        &forwarded);
    EXPECT_EQ("cuNew is not known to the shim; its calls (17) came after all work, and all later work after them",
              forwarded.substr(0, forwarded.find('\n')));
    EXPECT_EQ(
        "cuNew is not known to the shim; the program was given the per-thread function\n"
        "/opt/0.so: \n"
        "/opt/1.so: a second copy of the driver\n"
        "/opt/2.so: another dlsym hook\n"
        "/opt/3.so: cuGetExportTable\n"
        "/opt/4.so: the driver of a dlmopen namespace, where nothing is moved or recorded; ptds run --audit says who "
        "uses it\n"
        "/opt/5.so: uses the driver of a dlmopen namespace, where nothing is moved or recorded (12 of its functions)\n"
        "/opt/6.so: opened by name with RTLD_DEEPBIND, calls the driver past the shim; ptds run --audit reaches it\n"
        "/opt/7.so: opened by name with RTLD_DEEPBIND, may look the driver up past the shim; ptds run --audit reaches "
        "it\n"
        "/opt/8.so: stands in front of the driver, and is called as without the shim\n"
        "/opt/" +
            std::string(495, 'x') + ": a second copy of the driver\n",
        lines);
}

TEST(Summary, MissingDataIsNamed)
{
    TraceBuilder builder;
    builder.header.clock = PTDS_CLOCK_TSC;
    builder.header.recycled = 4;
    builder.header.clean_end = 0;
    builder.Lost(1, 1234);
    Built report(builder.Bytes());
    EXPECT_TRUE(Has(report.Summary(), "run time unknown")) << report.Summary();
    EXPECT_TRUE(Has(report.Summary(), "Not everything was recorded: 1234 records had no room")) << report.Summary();
    EXPECT_TRUE(Has(report.Summary(), "Not known whether right: ")) << report.Summary();
    for (const char *claim : {"No findings", "nothing was put on the default stream", "Right", "Default stream", "Blocked"})
        EXPECT_FALSE(Has(report.Summary(), claim)) << claim << "\n" << report.Summary();
    for (const char *part : {"4 chunks", "no host times", "did not end through exit, or still runs"})
        EXPECT_TRUE(Has(report.Text(), part)) << part << "\n" << report.Text();
    ExpectFits(report.Summary());
}

/* Each reason with how many, the only one without. */
std::string ThatTouchAnything(const std::vector<unsigned> &reasons)
{
    TraceBuilder builder;
    CallSpec call;
    call.op = PTDS_OP_LAUNCH;
    call.stream = call.target = 1;
    builder.Stream(1, PTDS_STREAM_NON_BLOCKING);
    for (unsigned why : reasons) {
        call.enter += 10;
        call.flags = why << PTDS_CALL_WHY_SHIFT;
        builder.Call(call);
    }
    return Built(builder.Bytes()).Text();
}

TEST(Text, WhyOperationsMayTouchAnything)
{
    std::vector<unsigned> reasons(1000, PTDS_OPAQUE_POINTERS);
    std::string one = ThatTouchAnything(reasons);
    EXPECT_TRUE(Has(one, "1000 operations may touch any memory: unseen pointers in device memory\n")) << one;
    reasons.push_back(PTDS_OPAQUE_EVENT);
    std::string two = ThatTouchAnything(reasons);
    EXPECT_TRUE(
        Has(two, "1001 operations may touch any memory: unseen pointers in device memory (1000) and 1 more reason\n"))
        << two;
    std::string few = ThatTouchAnything({PTDS_OPAQUE_EVENT, PTDS_OPAQUE_GRAPH, PTDS_OPAQUE_POINTERS});
    EXPECT_TRUE(Has(few, "3 operations may touch any memory: graph with unseen nodes (1) and 2 more reasons\n"))
        << "the first of them that there is: " << few;
    std::string most = ThatTouchAnything({PTDS_OPAQUE_HOST_FUNCTION, PTDS_OPAQUE_EVENT, PTDS_OPAQUE_EVENT});
    EXPECT_TRUE(Has(most, "3 operations may touch any memory: graph with events (2) and 1 more reason\n")) << most;
}

/* The first calls are looked at; time is asked for again after some. */
TEST(Summary, WhatThereIsNoTimeForIsLeftOut)
{
    std::vector<CallSpec> calls(1000);
    TraceBuilder builder;
    for (size_t i = 0; i < calls.size(); i++) {
        calls[i].enter = 1000 + i;
        builder.Call(calls[i]);
    }
    builder.Count(1, 1, false, {calls.size(), 0, 0, 0});
    MemoryTrace trace(builder.Bytes());
    TextOf little, enough;
    EXPECT_EQ(0, at_exit_summary(trace.source(), 1, &little));
    EXPECT_TRUE(Has(little.text, "984 of 1000 calls were not looked at: no time for 984 (PTDS_REPORT_BUDGET)"))
        << little.text;
    EXPECT_EQ(0, at_exit_summary(trace.source(), UINT64_MAX / 2, &enough));
    EXPECT_FALSE(Has(enough.text, "not looked at")) << enough.text;
    TextOf usual;
    EXPECT_EQ(0, at_exit_summary(trace.source(), 0, &usual));
    EXPECT_EQ(enough.text, usual.text) << "a share of the run, and never too little for so few";
}

TEST(Summary, AnUnknownCostIsNoZero)
{
    Built report(BuildTrace("1@0 launch s=L to=P1 k=a\n1@10 launch s=L k=b kept-excluded\n"
                            "2@20 launch s=L k=c kept-excluded\n1@30+3000 sync s=L kept-excluded\n"
                            "2@40+7000 sync s=L kept-excluded\n2@10000 none\n"));
    Built observed(BuildTrace("setting policy=observe\n1@0 launch s=L k=a\n2@20 launch s=L k=c\n1@30+3000 sync s=L\n"
                              "2@40+7000 sync s=L\n2@10000 none\n"));
    EXPECT_TRUE(Has(observed.Summary(), "x   unknown cuLaunchKernel")) << observed.Summary();
    EXPECT_FALSE(Has(report.Summary(), "0 ns")) << report.Summary();
    EXPECT_FALSE(Has(report.Text(), "0 ns")) << report.Text();
}

/* One of four operations has a device time, one device time is of a call that is not there. */
const char sampled[] = "1@0 launch s=L k=a\n1@5 launch s=N1 k=b\n"
                       "1@10+5000 copy s=L implicit from=device to=pageable bytes=4\n1@5100 record s=L e=E\n"
                       "1@5200 launch s=N1 k=c\n1@11000+3 sync s=N1\n"
                       "device-run 1@5 30+400\ndevice-run 1@7 30+400\n";

TEST(Summary, WhatGpuTimesThereAreIsSaid)
{
    Built without(BuildTrace("1@0 launch s=L k=a\n1@10+5000 copy s=L implicit from=device to=pageable bytes=4\n" GOES_ON));
    EXPECT_EQ(3u, without->totals.gpu_operations);
    EXPECT_EQ(0u, without->totals.gpu_timed);
    EXPECT_TRUE(Has(without.Summary(), "; GPU time is not recorded\n")) << without.Summary();
    EXPECT_TRUE(Has(without.Text(), "ms; GPU time is not recorded\n")) << without.Text();
    EXPECT_FALSE(Has(without.Text(), "GPU times of"));
    Built with(BuildTrace(sampled));
    ExpectFits(with.Summary());
    EXPECT_EQ(4u, with->totals.gpu_operations) << "no event is one";
    EXPECT_EQ(1u, with->totals.gpu_timed);
    EXPECT_TRUE(Has(with.Summary(), "6 driver calls recorded, GPU times of 1 of 4 operations\n")) << with.Summary();
    EXPECT_TRUE(Has(with.Summary(), "; GPU busy at least 4 % of 11.0 ms\n")) << with.Summary();
    EXPECT_TRUE(Has(with.Text(), "ms; GPU time is not counted\n")) << with.Text();
    EXPECT_TRUE(Has(with.Text(), "GPU busy at least 4 % of 11.0 ms since its first operation\n")) << with.Text();
    EXPECT_TRUE(Has(with.Text(), "GPU times of 1 of 4 operations are recorded; the others' are unknown\n")) << with.Text();
    for (const std::string &text : {with.Summary(), with.Text()})
        EXPECT_FALSE(Has(text, "not recorded)")) << text;
}

TEST(Summary, TheShimsEntriesReportAnUnreadableTraceInOneLine)
{
    ptds_trace_header header = {};
    trace_source source = trace_source_memory(&header, sizeof header, nullptr, 0);
    TextOf out;
    EXPECT_EQ(-1, at_exit_summary(&source, 0, &out));
    EXPECT_EQ(1u, lines_of(out.text).size());
    EXPECT_TRUE(Has(out.text, "ptds: this process: offset 0: "));
    TextOf full;
    EXPECT_EQ(-1, at_exit_full_report(&source, 0, &full));
    EXPECT_EQ(out.text, full.text);
}

TEST(Summary, TheShimsEntriesWriteBothForms)
{
    MemoryTrace trace(BuildTrace("1@0 launch s=N1 k=a\n"));
    TextOf summary, full;
    EXPECT_EQ(0, at_exit_summary(trace.source(), 0, &summary));
    EXPECT_EQ(0, at_exit_full_report(trace.source(), 0, &full));
    ExpectFits(summary.text);
    EXPECT_TRUE(Has(full.text, "What was looked at"));
}

TEST(Summary, KeptOperationsHaveTheirReasons)
{
    Built report(BuildTrace("setting policy=guarded\n1@0 launch s=L to=P1 k=a\n1@1 launch s=L k=b kept-excluded\n"));
    EXPECT_TRUE(Has(report.Summary(), "2 default-stream operations: 1 moved; 1 kept (excluded)")) << report.Summary();
}

} // namespace
} // namespace ptds
