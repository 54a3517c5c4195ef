// SPDX-License-Identifier: Apache-2.0
//
// What a report says first: the verdict, what the default stream costs, which findings are worth a line of their own, and
// that all forms of a report say the same of it.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <tuple>

#include "analysis/base/line.h"
#include "analysis/report/default_cost.h"
#include "analysis/report/floor.h"
#include "analysis/report/outcome.h"
#include "analysis/report/rank.h"
#include "analysis/views/html/report_html.h"
#include "analysis/views/json/report_json.h"
#include "analysis/views/opening.h"
#include "analysis/views/text/many_screen.h"
#include "analysis/views/text/many_text.h"
#include "analysis/views/text/report_screen.h"
#include "tests/analysis/exported.h"

namespace ptds
{
namespace
{

bool Has(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

std::string Screen(const Built &report)
{
    TextOf out;
    report_screen(report.get(), nullptr, 40, &out);
    return out.text;
}

/* "Right" is a promise: of less than the run it is said with what it is of. */
TEST(Right, SaysOfWhat)
{
    const std::string run = "1@0 launch s=N1 k=a\n1@10+3 sync s=N1\n";
    std::string lanes = "1@0 alloc m=A ptr=0x10000 bytes=4096\n";
    for (unsigned i = 1; i <= 1100; i++)
        lanes += "1@" + std::to_string(i) + " memset s=B" + std::to_string(i) + " dst=A bytes=0\n";
    const std::vector<std::tuple<std::string, std::string, std::string>> lacks = {
        {"bypass /opt/lib/x.so\n" + run, "\nCalls may have gone past the shim (x.so)\n", "\nRight, of what the shim saw: "},
        {"untabled cuNew\nbypass /opt/lib/x.so\n" + run, "\nCalls may have gone past the shim (x.so and 1 more)\n",
         "\nDefault stream, as seen: "},
        {"1@0 launch s=U1 k=a\n", "\nNot all streams could be followed\n", "\nRight, as far as it was followed: "},
        {lanes, "\nNot all streams could be followed\n", "\nImplicit orders: none on the streams that were followed\n"},
    };
    for (const auto &[text, lack, said] : lacks) {
        Built report(BuildTrace(text));
        EXPECT_FALSE(outcome_of(report.get()).complete) << text;
        for (const std::string &form : {Screen(report), report.Text()})
            EXPECT_TRUE(Has(form, lack)) << form;
        EXPECT_TRUE(Has(Screen(report), said)) << Screen(report);
    }
    EXPECT_TRUE(outcome_of(Built(BuildTrace(run)).get()).complete);
}

/* Where nothing was recorded, nothing is known: not of orders either. */
TEST(Right, IsNothingThatNobodyRecorded)
{
    Built report(BuildTrace("setting policy=observe\n"));
    std::string screen = Screen(report);
    EXPECT_FALSE(outcome_of(report.get()).complete);
    EXPECT_TRUE(Has(screen, "\nNot known whether right: no driver call was recorded\n")) << screen;
    EXPECT_TRUE(Has(screen, "\nImplicit orders: not analysed\n")) << screen;
    Built counted(BuildTrace("setting policy=observe\ncount 1 cuInit 1 0 0 0\n"));
    EXPECT_TRUE(Has(Screen(counted), "\nRight: ")) << "a call that no record is made of: " << Screen(counted);
}

TEST(Floor, IsAPercentageATimeOrBoth)
{
    struct floor floor;
    ASSERT_TRUE(floor_parse("1%,100us", &floor));
    EXPECT_EQ(1.0, floor.percent);
    EXPECT_EQ(100000u, floor.ns);
    EXPECT_EQ(100000u, floor_ns(floor, 1000000)) << "the larger of the two";
    EXPECT_EQ(50000000u, floor_ns(floor, 5000000000));
    ASSERT_TRUE(floor_parse("0", &floor));
    EXPECT_EQ(0u, floor_ns(floor, 1000000));
    ASSERT_TRUE(floor_parse("2.5ms", &floor));
    EXPECT_EQ(2500000u, floor_ns(floor, UINT64_C(1) << 40));
    for (const char *wrong : {"", "1", "1h", "-1%", "101%", "1%,", ",1%", "1%x", "nan%", "us", "1% 2ms"})
        EXPECT_FALSE(floor_parse(wrong, &floor)) << wrong;
}

/* Of 1000 ns: 600, 290, 100 and 10. */
TEST(Cover, IsHowManyFindingsSaveThatShare)
{
    struct finding findings[4] = {};
    struct finding *all[4];
    const uint64_t saves[] = {600, 290, 100, 10};
    for (size_t i = 0; i < 4; i++) {
        findings[i].host_ns = saves[i];
        all[i] = &findings[i];
    }
    struct report report = {};
    report.findings.items = all;
    report.findings.count = 4;
    report.totals.host_ns = 1000;
    const size_t most[][2] = {{1, 1}, {60, 1}, {61, 2}, {89, 2}, {90, 3}, {99, 3}, {100, 4}};
    for (const auto &[percent, count] : most)
        EXPECT_EQ(count, report_cover(&report, static_cast<unsigned>(percent))) << percent;
    report.totals.host_ns = 0;
    EXPECT_EQ(0u, report_cover(&report, 90)) << "nothing is known to be saved";
}

/* Two places that would save 3 ms and 20 us, in a run of a second. */
const char two_places[] = "1@0 launch s=N1 k=a\n"
                          "1@10+5000 copy s=N1 from=device to=pageable bytes=4 site=much\n"
                          "1@5100 launch s=N1 k=a\n"
                          "1@20000+3 sync s=N1\n"
                          "1@30000 launch s=N1 k=a\n"
                          "1@30010+80 copy s=N1 from=device to=pageable bytes=4 site=little\n"
                          "1@30100 launch s=N1 k=a\n"
                          "1@100000+3 sync s=N1\n";

TEST(Fold, WhatSavesTooLittleIsOneLineACause)
{
    Built report(BuildTrace(two_places));
    ASSERT_EQ(2u, report->findings.count) << report.Text();
    EXPECT_EQ(1u, rank_shown(report.get()));
    EXPECT_EQ(FOLD_SHOWN, report->findings.items[0]->fold);
    EXPECT_EQ(FOLD_FLOOR, report->findings.items[1]->fold);
    ASSERT_EQ(1u, report->sums.causes.count);
    EXPECT_STREQ("pageable-async-copy", report->sums.causes.items[0].name);
    EXPECT_EQ(1u, report->sums.causes.items[0].sum.calls);
    std::string screen = Screen(report);
    EXPECT_TRUE(Has(screen, "Findings: 1 of 2, which save up to 5.0 ms")) << screen;
    EXPECT_TRUE(Has(screen, "\nSmall, the floor is 1.0 ms (1 % of the GPU part): pageable-async-copy\n")) << screen;
    EXPECT_FALSE(Has(screen, "#2")) << screen;
}

TEST(Fold, TheFloorIsTheUsers)
{
    MemoryTrace trace(BuildTrace(two_places));
    struct report report;
    char error[TRACE_ERROR_SIZE];
    ASSERT_EQ(0, report_build(&report, trace.source(), error)) << error;
    rank_findings(&report, {0, 0});
    EXPECT_EQ(2u, rank_shown(&report));
    rank_findings(&report, {10, 0});
    EXPECT_EQ(0u, rank_shown(&report));
    rank_findings(&report, FLOOR_DEFAULT);
    EXPECT_EQ(1u, rank_shown(&report));
    report_end(&report);
}

/* An error, and what puts results in doubt, is never folded, however cheap. */
TEST(Fold, NeverHidesADoubt)
{
    Built report(BuildTrace("1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                            "1@1 launch s=N1 k=_Z5writePf args=A\n"
                            "1@2 launch s=N2 k=_Z5otherPf args=A\n"
                            "1@900000+3 sync s=N1\n"));
    ASSERT_EQ(1u, report->findings.count) << report.Text();
    EXPECT_EQ(SEVERITY_NOTE, report->findings.items[0]->severity);
    EXPECT_EQ(FOLD_SHOWN, report->findings.items[0]->fold);
    EXPECT_EQ(DOUBT_MAY, outcome_of(report.get()).doubt);
}

/* simpleStreams: right, and a note says what could not be seen. */
TEST(Fold, OneKernelOnSeveralStreamsIsNoDoubt)
{
    Built report(BuildTrace("1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                            "1@1 launch s=N1 k=_Z5writePf args=A\n"
                            "1@2 launch s=N2 k=_Z5writePf args=A\n"));
    ASSERT_EQ(1u, report->findings.count) << report.Text();
    EXPECT_EQ(FOLD_NO_COST, report->findings.items[0]->fold);
    EXPECT_EQ(DOUBT_NONE, outcome_of(report.get()).doubt);
    EXPECT_TRUE(Has(report.Text(), "the pair              write uses 0x10000")) << report.Text();
    EXPECT_EQ(1u, outcome_of(report.get()).possible);
    EXPECT_TRUE(Has(Screen(report), "\nRight, as far as can be seen (1 possible conflict: unordered-conflict)\n"))
        << Screen(report);
    EXPECT_TRUE(Has(report.Text(), "right where each only reads, or has a part of its own.")) << report.Text();
    EXPECT_FALSE(Has(report.Text(), "one of them writes it")) << report.Text();
}

/* Set-up that happens once is what start-up is, unless it takes much of the run. */
TEST(Fold, WhatHappensOnceIsSetUp)
{
    const std::string begin = "1@0 launch s=N1 k=a\n1@1+3 sync s=N1\n",
                      slow = "+20000 alloc ptr=0x10000 bytes=4096 site=x\n", end = "1@900000 none\n";
    Built once(BuildTrace(begin + "1@1000" + slow + end)),
        again(BuildTrace(begin + "1@1000" + slow + "1@30000" + slow + end)),
        much(BuildTrace(begin + "1@1000" + slow + "1@30000 none\n"));
    ASSERT_EQ(1u, once->findings.count);
    EXPECT_EQ(FOLD_ONCE, once->findings.items[0]->fold);
    EXPECT_EQ(FOLD_SHOWN, again->findings.items[0]->fold);
    EXPECT_EQ(FOLD_SHOWN, much->findings.items[0]->fold);
}

TEST(Fold, WhatALibraryDoesIsNotTheReadersToChange)
{
    const std::string slow = "1@0 launch s=N1 k=a\n"
                             "1@10+50000 free ptr=0x1000 site=inside@libcusolver.so.12\n"
                             "1@50100 launch s=N1 k=b\n"
                             "1@100100+900 sync s=N1\n";
    Built library(BuildTrace(slow));
    ASSERT_EQ(1u, library->findings.count);
    EXPECT_EQ(FOLD_LIBRARY, library->findings.items[0]->fold);
    EXPECT_TRUE(Has(Screen(library), "inside libcusolver.so.12: 50.0 ms in 1 call")) << Screen(library);
    Built own(BuildTrace("1@0 launch s=N1 k=a\n"
                         "1@10+50000 free ptr=0x1000 site=inside@libmine.so\n"
                         "1@50100 launch s=N1 k=b\n"));
    EXPECT_EQ(FOLD_SHOWN, own->findings.items[0]->fold);
    Built unknown(BuildTrace(slow.substr(0, slow.find("1@100100"))));
    ASSERT_EQ(1u, unknown->findings.count);
    EXPECT_EQ(0u, unknown->findings.items[0]->known) << "the thread never waits again";
    EXPECT_EQ(FOLD_LIBRARY, unknown->findings.items[0]->fold);
    /* Loading is the reader's to change, wherever it happens. */
    Built load(BuildTrace("1@0 launch s=N1 k=a\n"
                          "1@10+50000 module-load site=inside@libcusolver.so.12\n"));
    EXPECT_EQ(FOLD_SHOWN, load->findings.items[0]->fold);
}

unsigned CountOf(const Built &report, const std::string &rule)
{
    unsigned count = 0;
    for (size_t i = 0; i < report->findings.count; i++)
        count += report->findings.items[i]->rule->id == rule;
    return count;
}

/* Of the first finding of the rule; FOLDS: it has none. */
enum fold FoldOf(const Built &report, const std::string &rule)
{
    for (size_t i = 0; i < report->findings.count; i++)
        if (report->findings.items[i]->rule->id == rule)
            return report->findings.items[i]->fold;
    return FOLDS;
}

enum default_cost Cost(const std::string &text)
{
    return default_cost_of(Built(BuildTrace(text)).get()).cost;
}

TEST(DefaultStream, SaysWhyThereIsNothingToGain)
{
    EXPECT_EQ(DEFAULT_UNUSED, Cost("1@0 launch s=N1 k=a\n1@10+900 sync s=N1\n"));
    EXPECT_EQ(DEFAULT_ALONE, Cost("1@0 launch s=L k=a\n1@10+900 sync s=L\n"));
    EXPECT_EQ(DEFAULT_NO_WAIT, Cost("1@0 launch s=L k=a\n1@5 launch s=N1 k=b\n1@10+900 sync s=L\n"));
    Built alone(BuildTrace("1@0 launch s=L k=a\n1@10+900 sync s=L\n"));
    EXPECT_TRUE(Has(Screen(alone), "Default stream: nothing to gain: one thread, one stream\n")) << Screen(alone);
}

/* Two threads on data of their own: the second one's wait is for the first one's kernel, too. */
TEST(DefaultStream, CostsAtMostWhatTheThreadThatWaitedLongestWaited)
{
    Built report(BuildTrace("setting policy=observe\n"
                            "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                            "1@1 alloc m=B ptr=0x20000 bytes=4096\n"
                            "1@10 launch s=L k=_Z1aPf args=A\n"
                            "2@20 launch s=L k=_Z1bPf args=B\n"
                            "1@30+3000 sync s=L\n"
                            "2@40+7000 sync s=L\n"
                            "2@10000 none\n"));
    struct default_stream found = default_cost_of(report.get());
    EXPECT_EQ(DEFAULT_UP_TO, found.cost) << report.Text();
    EXPECT_EQ(6990000u, found.most_ns) << "threads gain side by side";
    EXPECT_TRUE(Has(Screen(report), "Default stream: threads waited 7.0 ms (70 %) or more; gain unknown\n"))
        << Screen(report);
    EXPECT_TRUE(Has(Screen(report), "\nNext: ptds probe -- prog ...")) << Screen(report);
}

/* No two of the waits are at the same time: a program that hands over from one thread to the other would gain them all. */
TEST(DefaultStream, CostsOfThreadsThatTakeTurnsAddUp)
{
    std::string turns;
    for (unsigned turn = 0; turn < 100; turn++) {
        std::string at = std::to_string(turn * 1000), then = std::to_string(turn * 1000 + 10),
                    wait = std::to_string(turn * 1000 + 20), one = turn % 2 == 0 ? "1" : "2",
                    other = turn % 2 == 0 ? "2" : "1";
        turns += other + "@" + at + " launch s=L k=a\n" + one + "@" + then + " launch s=L k=b\n" + one + "@" + wait +
                 "+800 sync s=L\n";
    }
    Built report(BuildTrace(turns + "1@200000 none\n"));
    struct default_stream found = default_cost_of(report.get());
    EXPECT_EQ(DEFAULT_UP_TO, found.cost) << report.Text();
    EXPECT_NEAR(79e6, static_cast<double>(found.most_ns), 1.5e6) << "one thread alone waited for 40 ms";
}

/* A thread's own default stream has nothing of what another one put on it. */
TEST(DefaultStream, AThreadThatWaitsForAnothersWorkOnIt)
{
    const std::string end = "1@10000 none\n2@10000 none\n";
    Built report(BuildTrace("1@0 launch s=L k=a\n2@10+3000 sync s=L\n" + end));
    EXPECT_EQ(DEFAULT_UP_TO, default_cost_of(report.get()).cost);
    EXPECT_EQ(2980000u, default_cost_of(report.get()).most_ns);
    EXPECT_EQ(DEFAULT_NO_WAIT, Cost("1@0 launch s=L k=a\n1@10+3000 sync s=L\n" + end)) << "its own";
    EXPECT_EQ(DEFAULT_NO_WAIT, Cost("1@0 launch s=L k=a\n2@10+3000 sync s=P2\n" + end)) << "a stream that is its own";
}

/* What a launch waits inside the driver no record shows, and it does where other threads use it. */
TEST(DefaultStream, ClaimsNoMostWhereSeveralThreadsMeet)
{
    Built one(BuildTrace("1@0 launch s=B1 k=a\n1@5 launch s=L k=b\n1@10+3000 sync s=L\n1@10000 none\n"));
    EXPECT_EQ(DEFAULT_UP_TO, default_cost_of(one.get()).cost);
    EXPECT_TRUE(Has(Screen(one), "Default stream: threads waited up to 3.0 ms (30 %); gain unknown\n")) << Screen(one);
    Built several(BuildTrace("1@0 launch s=B1 k=a\n2@5 launch s=L k=b\n2@10+3000 sync s=L\n1@10000 none\n"));
    EXPECT_TRUE(Has(Screen(several), "Default stream: threads waited 3.0 ms (30 %) or more; gain unknown\n"))
        << Screen(several);
    Built quick(BuildTrace("1@0 launch s=L k=a\n2@5 launch s=L k=b\n2@10+3 sync s=L\n1@10000 none\n"));
    EXPECT_TRUE(Has(Screen(quick), "Default stream: no timed call waited longer because of it\n")) << Screen(quick);
}

/* What the default stream does is one entry, and stands where the most that it costs puts it. */
TEST(DefaultStream, IsOneCauseAndRankedByWhatItCostsTheRun)
{
    std::string text = "1@0 alloc m=A ptr=0x10000 bytes=4096\n1@1 alloc m=B ptr=0x20000 bytes=4096\n";
    for (unsigned i = 0; i < 4; i++) {
        std::string at = std::to_string(10 + i * 10000), then = std::to_string(20 + i * 10000),
                    wait = std::to_string(30 + i * 10000), n = std::to_string(i);
        text += "1@" + at + " launch s=L k=_Z1aPf args=A site=a\n2@" + then + " launch s=L k=_Z1bPf args=B site=b" + n +
                "\n1@" + wait + "+3000 sync s=L\n2@" + wait + "+3000 sync s=L\n";
    }
    text += "3@50000 launch s=N3 k=c\n3@50010+2000 free ptr=0x1000 site=f\n3@52100 launch s=N3 k=c\n"
            "3@53000+2000 free ptr=0x1000 site=f\n3@56000 launch s=N3 k=c\n3@60000 none\n";
    Built report(BuildTrace(text));
    std::string screen = Screen(report);
    EXPECT_TRUE(Has(screen, "\n#1   legacy-shared-by-threads   unknown")) << screen;
    EXPECT_TRUE(Has(screen, " (1 % of the GPU part): legacy-shared-by-threads\n")) << screen;
    EXPECT_TRUE(Has(screen, "   blocking-free ")) << screen;
}

/* Nobody knows of a load whether it waited, and another stream would not have made it shorter. */
TEST(DefaultStream, ALoadBehindItIsNoCost)
{
    std::string text = "1@10 launch s=L k=a\n2@20 launch s=L k=b\n1@30+7000 module-load\n";
    EXPECT_EQ(DEFAULT_NO_WAIT, Cost(text + "1@10000 none\n"));
    EXPECT_EQ(DEFAULT_UP_TO, Cost(text + "1@10000+900 sync s=L\n1@20000 none\n"));
}

/* Nothing was put on it, and the wait for it is a finding about it all the same. */
TEST(DefaultStream, AWaitForItIsAUseOfIt)
{
    const std::string text = "2@5 launch s=B1 k=a site=f1\n1@20+900000 sync s=L site=f2\n"
                             "1@1000000 none\ncount 2 cuLaunchKernel 1 0 0 0\ncount 1 cuStreamSynchronize 1 0 0 900000\n";
    Built report(BuildTrace(text)), unused(BuildTrace("1@5 launch s=B1 k=a\n1@20+900000 sync s=B1\n"));
    std::string screen = Screen(report);
    EXPECT_EQ(0u, report->totals.default_stream);
    EXPECT_EQ(DEFAULT_UP_TO, default_cost_of(report.get()).cost);
    EXPECT_TRUE(Has(screen, "\nDefault stream: threads waited up to 900.0 ms (")) << screen;
    EXPECT_TRUE(Has(screen, "-> Wait for the stream that the work is on instead, ")) << screen;
    EXPECT_FALSE(Has(screen, "a stream of its own")) << screen;
    EXPECT_EQ(DEFAULT_UNUSED, default_cost_of(unused.get()).cost);
}

/* simpleStreams takes the time of all streams by events on the default stream. */
TEST(DefaultStream, OrderThatATimeNeedsIsNotWorthALine)
{
    const std::string text = "1@0 event-create e=E flags=0\n1@1 event-create e=F flags=0\n1@2 record s=L e=E\n"
                             "1@10 launch s=B1 k=a\n1@20 record s=L e=F site=last\n1@30+5000 event-sync e=F\n",
                      end = "1@9000 none\n";
    Built timed(BuildTrace(text + "1@6000 elapsed e=F\n" + end)), not_timed(BuildTrace(text + end));
    ASSERT_EQ(1u, CountOf(timed, "legacy-barrier")) << timed.Text();
    EXPECT_EQ(FOLD_TIMED, FoldOf(timed, "legacy-barrier")) << timed.Text();
    EXPECT_TRUE(Has(Screen(timed), "\nImplicit orders: 2 maybe needed\n")) << Screen(timed);
    EXPECT_TRUE(Has(Screen(timed), "\nSmall, the floor is 100.0 us: legacy-barrier\n")) << Screen(timed);
    EXPECT_NE(FOLD_TIMED, FoldOf(not_timed, "legacy-barrier")) << not_timed.Text();
}

const char two_threads_kept[] = "1@0 launch s=L to=P1 k=a\n"
                                "1@10 launch s=L k=_Z1aPf explicit site=a@libmine.so\n"
                                "2@20 launch s=L k=_Z1bPf explicit site=b@libmine.so\n";

/* One remedy for all that the default stream still does, and nothing where it does nothing. */
TEST(DefaultStream, WhatStayedIsTheCauseWhereAPolicyMovedWork)
{
    Built report(BuildTrace(two_threads_kept + std::string("1@30+3000 sync s=L explicit\n2@40+7000 sync s=L explicit\n"
                                                           "2@10000 none\n")));
    EXPECT_STREQ("half-remapped", report->findings.items[0]->rule->id) << report.Text();
    EXPECT_EQ(FOLD_SHOWN, FoldOf(report, "half-remapped"));
    EXPECT_EQ(FOLD_SAME, FoldOf(report, "legacy-shared-by-threads"));
    Built idle(BuildTrace(two_threads_kept + std::string("2@10000 none\n")));
    EXPECT_EQ(FOLD_NO_GAIN, FoldOf(idle, "half-remapped")) << idle.Text();
}

/* What the shim cannot see may be the default stream's, too. */
TEST(DefaultStream, WhatTheShimCannotSeeIsToldAllTheSame)
{
    Built report(BuildTrace("untabled cuNewThing\n1@0 launch s=L to=P1 k=a\n2@10000 none\n"));
    EXPECT_EQ(FOLD_SHOWN, FoldOf(report, "half-remapped")) << report.Text();
}

TEST(DefaultStream, OrderThatResultsNeedIsNoCost)
{
    EXPECT_EQ(DEFAULT_NEEDED, Cost("1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                                   "1@10 memset s=L dst=A bytes=4\n"
                                   "2@20 copy s=L src=A dst=0x7f0000000000 from=device to=pinned bytes=4\n"
                                   "2@40+7000 sync s=L\n"));
}

/* The needed order holds back work that shares nothing: a kernel behind the memset, or in front of the copy. */
TEST(DefaultStream, OrderThatResultsNeedCostsWhatElseItHoldsBack)
{
    const std::string memory = "1@0 alloc m=A ptr=0x10000 bytes=4096\n1@1 alloc m=B ptr=0x20000 bytes=4096\n",
                      writes = "1@10 memset s=L dst=A bytes=4\n",
                      reads = "2@30 copy s=L src=A dst=0x7f0000000000 from=device to=pinned bytes=4\n",
                      waits = "2@40+7000 sync s=L\n";
    EXPECT_EQ(DEFAULT_UP_TO, Cost(memory + writes + "1@15 launch s=L k=_Z1aPf args=B\n" + reads + waits));
    EXPECT_EQ(DEFAULT_UP_TO, Cost(memory + writes + "2@25 launch s=L k=_Z1aPf args=B\n" + reads + waits));
    EXPECT_EQ(DEFAULT_NEEDED, Cost(memory + "1@5 launch s=L k=_Z1aPf args=B\n" + writes + reads + waits))
        << "in front of the memset it is in its own thread's way";
}

/* The copy waits for work of its own thread, which waits for that work next anyway. */
TEST(DefaultStream, AWaitThatOnlyMovesIsNoCost)
{
    Built report(BuildTrace("1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                            "1@1 alloc m=B ptr=0x20000 bytes=4096\n"
                            "1@10 launch s=B1 k=_Z1aPf args=A\n"
                            "1@20+5000 copy s=L implicit from=pinned to=device src=0x7f0000000000 dst=B bytes=4\n"
                            "1@5030 launch s=B1 k=_Z1aPf args=A\n"
                            "1@5040+900 sync s=B1\n"));
    EXPECT_GT(50000u, default_cost_of(report.get()).most_ns) << report.Text();
}

TEST(Outcome, NamesThePairThatShowsIt)
{
    Built wrong(BuildTrace("1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                           "1@1+3 copy s=N1 from=pinned src=0x7f0000000000 dst=A bytes=64\n"
                           "1@9+9 copy s=N2 implicit src=A dst=0x7f0000001000 to=pinned bytes=64\n"));
    struct outcome outcome = outcome_of(wrong.get());
    EXPECT_EQ(DOUBT_WRONG, outcome.doubt) << wrong.Text();
    ASSERT_NE(nullptr, outcome.pair);
    EXPECT_EQ(0x10000u, outcome.pair->address);
    for (const std::string &text : {Screen(wrong), wrong.Text()}) {
        EXPECT_TRUE(Has(text, "WRONG: #1 unordered-conflict")) << text;
        EXPECT_TRUE(Has(text, "  cuMemcpyHtoDAsync_v2 writes 0x10000 in thread 1, stream ")) << text;
        EXPECT_TRUE(Has(text, "  then cuMemcpyDtoH")) << text;
    }
    Built right(BuildTrace(two_places));
    EXPECT_TRUE(Has(Screen(right), "Right: no order that a result needs was missing\n")) << Screen(right);
}

/* A folder of a hundred traces is one screen, whatever they say. */
/* Orders that are kept show nothing of a capture that came to nothing. */
TEST(Outcome, NamesNoPairThatShowsSomethingElse)
{
    Built report(BuildTrace("1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                            "1@1 memset s=B1 bytes=64 dst=A\n"
                            "1@2 copy s=L bytes=64 src=A result=901\n"
                            "1@3 copy s=L bytes=64 src=A capture-open\n"));
    auto outcome = outcome_of(report.get());
    ASSERT_NE(nullptr, outcome.finding) << report.Text();
    EXPECT_STREQ("capture-conflict", outcome.finding->rule->id);
    EXPECT_NE(0u, outcome.finding->verdicts[VERDICT_NEEDED]) << "there is such an order at the same place";
    EXPECT_EQ(nullptr, outcome.pair);
}

TEST(Outcome, WhatIsWrongComesBeforeWhatOnlyFailed)
{
    Built report(BuildTrace("setting policy=per-thread\n"
                            "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                            "1@1 launch s=L k=a result=901 site=failed\n"
                            "1@2 launch s=L k=a result=901 site=failed\n"
                            "1@3 memset s=L target=P1 bytes=64 dst=A\n"
                            "2@4 copy s=L target=P2 bytes=64 src=A\n"));
    ASSERT_LE(2u, report->findings.count) << report.Text();
    EXPECT_STREQ("order-given-up", report->findings.items[0]->rule->id) << report.Text();
    EXPECT_STREQ("capture-conflict", report->findings.items[1]->rule->id);
    EXPECT_EQ(report->findings.items[0], outcome_of(report.get()).finding);
}

/* A wait for the whole context, of which one stream was needed: with times on the GPU it costs what it went on beyond that
 * stream's work; without them all that it lost. */
TEST(OverWideSync, CostsWhatItWaitedBeyondTheStreamThatWasNeeded)
{
    const std::string calls = "1@0+5 alloc ptr=0x10000 bytes=4096\n"
                              "1@10+5 alloc ptr=0x20000 bytes=4096\n"
                              "1@20 launch s=N1 k=mine args=0x10000\n"
                              "2@25 launch s=N2 k=theirs args=0x20000\n"
                              "1@30+5000 ctx-sync\n"
                              "1@5100 launch s=N3 k=next args=0x10100\n"
                              "1@5110+900 sync s=N3\n"
                              "2@5200+3 sync s=N2\n";
    auto cost = [&](const std::string &times) {
        Built report(BuildTrace(calls + times));
        for (size_t i = 0; i < report->findings.count; i++)
            if (strcmp(report->findings.items[i]->rule->id, "over-wide-sync") == 0)
                return report->findings.items[i]->host_ns / 1000;
        ADD_FAILURE() << report.Text();
        return UINT64_C(0);
    };
    const std::string next = "device-run 1@5100 5101+800\n", theirs = "device-run 2@25 30+4990\n";
    uint64_t all = cost("");
    EXPECT_LT(4900u, all);
    EXPECT_EQ(2000u, cost("device-run 1@20 30+3000\n" + theirs + next)) << "of 5000, 3000 for its own";
    EXPECT_EQ(10u, cost("device-run 1@20 30+4990\n" + theirs + next)) << "both took as long";
    EXPECT_EQ(0u, cost("device-run 1@20 30+6000\n" + theirs + next)) << "never less than nothing";
    EXPECT_EQ(all, cost("device-run 1@20 22+5\n" + theirs + next)) << "never more than it lost";
    EXPECT_EQ(all, cost(theirs + next)) << "the needed one's is not known";
}

TEST(ManyText, NoFindingsCostNoneAndUnknownCostsAreNot)
{
    TraceBuilder timeless;
    timeless.header.clock = PTDS_CLOCK_TSC;
    timeless.Call(CallSpec());
    for (const auto &[bytes, says] : std::vector<std::pair<std::string, std::string>>{
             {BuildTrace("setting policy=observe\n1@0 launch s=N1 k=a\n1@10+3 sync s=N1\n"), "none"},
             {timeless.Bytes(), "unknown"},
             {BuildTrace("1@0 event-create e=E flags=2\n1@10 wait s=N1 e=E\n1@20 record s=N1 e=E\n"), "unknown"}})
        EXPECT_STREQ(says.c_str(), report_words_host_time(Built(bytes).get()).text);
}

TEST(ManyScreen, SaysHowManyFindingsItShows)
{
    std::string places;
    for (unsigned i = 0; i < 9; i++)
        places += "1@" + std::to_string(i * 20000) + " launch s=L k=a\n1@" + std::to_string(i * 20000 + 10) +
                  "+9000 copy s=L implicit from=device to=pageable bytes=4 site=s" + std::to_string(i) + "\n";
    Opened opened(std::vector<std::string>(2, BuildTrace("setting policy=observe\n" + places)));
    ASSERT_EQ("", opened.troubles);
    TextOf out;
    many_screen(&opened.traces, &opened.folds, opened.namer, 40, &out);
    EXPECT_TRUE(Has(out.text, "\nFindings: 5 of 8; all: --all\n"))
        << "the last result is what the program is for: " << out.text;

    /* As of a single trace: of all that was found, be it worth a line or not. */
    std::string two = two_places, one = two.substr(two.find("1@30000 "));
    auto says = [](const std::string &trace, const char *line) {
        Opened many(std::vector<std::string>(2, BuildTrace(trace)));
        TextOf screen;
        many_screen(&many.traces, &many.folds, many.namer, 40, &screen);
        EXPECT_TRUE(Has(screen.text, line)) << screen.text;
    };
    says(two, "\nFindings: 1 of 2; all: --all\n");
    says(one, "\nFindings: none of 1 is worth a line of its own; all: --all\n");
    says("1@100 launch s=N1 k=b\n1@90000+3 sync s=N1\n", "\nNo findings\n");
}

TEST(ManyScreen, AHundredTracesFit)
{
    std::vector<std::string> traces;
    for (unsigned i = 0; i < 100; i++)
        traces.push_back(BuildTrace(i % 10 != 0
                                        ? two_places
                                        : "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                                          "1@1+3 copy s=N1 from=pinned src=0x7f0000000000 dst=A bytes=64\n"
                                          "1@9+9 copy s=N2 implicit src=A dst=0x7f0000001000 to=pinned bytes=64\n"));
    Opened opened(traces);
    for (unsigned rows : {24u, 40u}) {
        TextOf out;
        many_screen(&opened.traces, &opened.folds, opened.namer, rows, &out);
        std::istringstream lines(out.text);
        unsigned count = 0;
        for (std::string line; std::getline(lines, line); count++)
            EXPECT_LE(line.size(), static_cast<size_t>(SCREEN_COLUMNS)) << line;
        EXPECT_LT(count, rows) << out.text;
        for (const char *part :
             {"100 processes, ran ", "Right: 90; May be wrong: 0; WRONG: 10\n", "  WRONG: prog (pid ", "  and 7 more\n",
              "Default stream: ", "Blocked: ", "\n#1   unordered-conflict ", "Next: ptds report "})
            EXPECT_TRUE(Has(out.text, part)) << part << "\n" << out.text;
    }
}

TEST(Outcome, RecordsThatAreMissingAreSaid)
{
    TraceBuilder builder;
    CallSpec call;
    builder.Call(call);
    builder.Lost(1, 12);
    EXPECT_TRUE(Has(opening_outcome(Built(builder.Bytes()).get()).text, "Right, as far as it was recorded"));
}

/* A run of so many calls, of which four were recorded. */
std::string FourOf(uint64_t calls)
{
    TraceBuilder builder;
    for (uint64_t i = 1; i <= 4; i++) {
        CallSpec call;
        call.enter = i * 1000;
        builder.Call(call);
    }
    builder.Count(1, 1, false, {calls, 0, 0, 0});
    if (calls > 4)
        builder.Lost(1, calls - 4);
    return builder.Bytes();
}

TEST(Outcome, OfHardlyAnyCallsTheShareComesFirst)
{
    const std::string missing = " of the calls; in those no order that a result needs was missing";
    EXPECT_EQ("Looked at 4 %" + missing, opening_outcome(Built(FourOf(100)).get()).text);
    EXPECT_EQ("Looked at under 1 %" + missing, opening_outcome(Built(FourOf(10000)).get()).text);
    EXPECT_EQ("Looked at 44 %" + missing, opening_outcome(Built(FourOf(9)).get()).text);
    EXPECT_STREQ("Right, as far as it was recorded: no order that a result needs was missing",
                 opening_outcome(Built(FourOf(8)).get()).text)
        << "half of them";
    EXPECT_STREQ("Right: no order that a result needs was missing", opening_outcome(Built(FourOf(4)).get()).text);
}

TEST(Outcome, WhatIsWrongWithTheFewThatWereSeenIsSaidAsEver)
{
    Built wrong(BuildTrace("1@100 alloc m=A ptr=0x10000 bytes=4096\n1@110 memset s=N1 dst=A bytes=64\n"
                           "1@120 copy s=N2 src=A bytes=64\n"));
    const_cast<struct report *>(wrong.get())->left_out = 2;
    EXPECT_TRUE(outcome_of(wrong.get()).little);
    EXPECT_TRUE(Has(opening_outcome(wrong.get()).text, "WRONG: #1 unordered-conflict"))
        << opening_outcome(wrong.get()).text;
}

TEST(Outcome, EveryViewBeginsWithTheShare)
{
    const std::string said = "Looked at 4 % of the calls; in those no order that a result needs was missing";
    Built report(FourOf(100));
    TextOf json, page, screen, many;
    report_screen(report.get(), nullptr, 24, &screen);
    EXPECT_TRUE(Has(screen.text, '\n' + said + '\n')) << screen.text;
    EXPECT_TRUE(Has(report.Text(), '\n' + said + '\n')) << report.Text();
    EXPECT_TRUE(Has(report.Summary(), "ptds: " + said + '\n')) << report.Summary();
    ASSERT_EQ(0, report_json(report.get(), nullptr, &json));
    EXPECT_TRUE(Has(json.text, "\"text\": \"" + said)) << json.text.substr(0, 3000);
    EXPECT_TRUE(Has(json.text, "\"little\": true")) << json.text.substr(0, 3000);
    static const struct timeline nothing = {};
    static const struct edge_list no_edges = {};
    ASSERT_EQ(0, report_html(report.get(), &nothing, &no_edges, nullptr, &page));
    EXPECT_TRUE(Has(page.text, "\"text\":\"" + said));
    Opened two({FourOf(100), FourOf(4)});
    many_screen(&two.traces, &two.folds, two.namer, 24, &many);
    EXPECT_TRUE(Has(many.text, "Right: 1; May be wrong: 0; WRONG: 0; less than half looked at: 1")) << many.text;
    many.text.clear();
    many_text(&two.traces, &two.folds, two.namer, &many);
    EXPECT_TRUE(Has(many.text, "  hardly seen   ")) << many.text;
}

/* In order of number, whatever was folded into an entry. */
TEST(FirstScreen, FindingsComeInOrderOfNumberAndAtMostFive)
{
    std::string text;
    unsigned at = 0;
    for (unsigned i = 0; i < 9; i++, at += 40000) {
        const char *call = i % 2 != 0 ? "free ptr=0x1000" : "copy s=N1 from=device to=pageable bytes=4";
        text += "1@" + std::to_string(at) + " launch s=N1 k=a\n1@" + std::to_string(at + 10) + "+" +
                std::to_string(20000 - 1000 * i) + " " + call + " site=s" + std::to_string(i) + "\n1@" +
                std::to_string(at + 21000) + " launch s=N1 k=b\n1@" + std::to_string(at + 39000) + "+3 sync s=N1\n";
    }
    Built report(BuildTrace(text));
    ASSERT_EQ(9u, report->findings.count);
    std::istringstream lines(Screen(report));
    unsigned last = 0, entries = 0;
    for (std::string line; std::getline(lines, line);)
        if (line[0] == '#') {
            unsigned number = static_cast<unsigned>(std::stoul(line.substr(1)));
            EXPECT_LT(last, number) << Screen(report);
            last = number;
            entries++;
        }
    EXPECT_GE(5u, entries);
    EXPECT_LE(3u, entries);
}

TEST(FirstScreen, ALongNameStaysWhole)
{
    std::string kernel(60, 'k');
    Built report(
        BuildTrace("1@0 launch s=N1 k=" + kernel + "\n1@10+5000 free ptr=0x1000 site=a\n1@6000 launch s=N1 k=b\n"));
    std::string screen = Screen(report);
    EXPECT_TRUE(Has(screen, "      behind " + kernel + "\n")) << screen;
    struct line line = {};
    line_add(&line, "%s", "several words that do not all fit");
    line_fit(&line, 20);
    EXPECT_STREQ("several words ...", line.text);
}

/* Whatever happens, threads are not blocked for longer than they live, and no call is charged by two rules. */
TEST(Blocked, IsNeverMoreThanTheThreadsTimeAndTheSameInTheStacks)
{
    const rule *rules[RULES_MOST];
    for (size_t i = 0, count = registry_all(rules); i < count; i++)
        for (const char *text : {rules[i]->bad, rules[i]->good}) {
            Opened opened({BuildTrace(text)});
            const struct report *report = &opened.traces.list.items[0]->report;
            EXPECT_LE(report->totals.blocked_ns, report->totals.threads_ns) << text;
            EXPECT_LE(report->totals.host_ns, report->totals.threads_ns) << rules[i]->id << "\n" << text;
            std::istringstream stacks(TakeFile(opened.Export("folded")));
            uint64_t sum = 0;
            for (std::string line; std::getline(stacks, line);)
                sum += std::stoull(line.substr(line.rfind(' ') + 1));
            EXPECT_EQ(report->totals.blocked_ns, sum) << rules[i]->id << "\n" << text;
        }
}

} // namespace
} // namespace ptds
