// SPDX-License-Identifier: Apache-2.0
//
// Which findings are worth a line, and what the rules say whose findings readers took for false or missed: waits that look
// unneeded, slow calls, copies of pageable memory, pools, rings of events, waits in each iteration. Each program that was
// spoken of wrongly stands beside the one that it was taken for.
#include <gtest/gtest.h>

#include "analysis/report/rank.h"
#include "analysis/views/opening.h"
#include "analysis/views/text/report_screen.h"
#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

/* Lines in which T is replaced by `from`, then by `from` and `step` more each time. */
std::string Loop(int times, int from, int step, const std::string &text)
{
    std::string all;
    for (int i = 0; i < times; i++) {
        std::string one = text;
        for (size_t at; (at = one.find('T')) != std::string::npos;) {
            size_t end = one.find_first_not_of("0123456789", at + 1);
            int later = std::stoi("0" + one.substr(at + 1, end - at - 1));
            one.replace(at, end - at, std::to_string(from + i * step + later));
        }
        all += one;
    }
    return all;
}

std::string Screen(const Built &report)
{
    TextOf out;
    report_screen(report.get(), nullptr, 40, &out);
    return out.text;
}

/* "calls: known unknown, ns, fold" of each finding of the rule. */
std::string Said(const Built &report, const std::string &rule)
{
    std::string all;
    for (const finding *finding : report.Of(rule))
        all += std::to_string(finding->count) + ": " + std::to_string(finding->known) + " " +
               std::to_string(finding->unknown) + ", " + std::to_string(finding->host_ns) + ", " +
               (fold_names[finding->fold] != nullptr ? fold_names[finding->fold] : "shown") + "\n";
    return all;
}

/* The floor */

TEST(Floor, IsAShareOfTheTimeFromTheFirstWorkOn)
{
    Built report(BuildTrace("1@0+900000 alloc ptr=0x10000 bytes=4096\n"
                            "1@900000 launch s=N1 k=a\n"
                            "1@905000+95000 sync s=N1\n1@1000000 none\n"));
    EXPECT_EQ(1000000000u, report->totals.run_ns);
    EXPECT_EQ(100000000u, report->totals.gpu_part_ns);
    EXPECT_EQ(1000000u, rank_floor_ns(report.get()));
    EXPECT_EQ(std::string("1.0 ms (1 % of the GPU part)"), opening_floor(report.get()).text);
}

TEST(Floor, IsAShareOfTheRunWhereNothingRan)
{
    Built report(BuildTrace("1@0+900000 alloc ptr=0x10000 bytes=4096\n1@1000000 none\n"));
    EXPECT_EQ(0u, report->totals.gpu_part_ns);
    EXPECT_EQ(10000000u, rank_floor_ns(report.get()));
    EXPECT_EQ(std::string("10.0 ms (1 % of the run)"), opening_floor(report.get()).text);
}

/* A call that happened once: 5 % of the 100 ms from the first work on is the bound. */
std::string Once(const std::string &duration)
{
    return "1@0 launch s=N1 k=a\n1@10+" + duration +
           " config api=cuFuncSetAttribute site=once\n1@90000 launch s=N1 k=a\n1@90010+9990 sync s=N1\n";
}

TEST(Floor, OneCallThatTakesATwentiethHasALine)
{
    EXPECT_EQ("1: 1 0, 5000000, shown\n", Said(Built(BuildTrace(Once("5000"))), "slow-call"));
    EXPECT_EQ("1: 1 0, 4990000, once\n", Said(Built(BuildTrace(Once("4990"))), "slow-call"));
}

TEST(Floor, CallsThatHappenOnceAtManyPlacesAreOneLineWhereTheyTakeATwentieth)
{
    std::string two = "1@0 launch s=N1 k=a\n1@10+2600 config api=cuFuncSetAttribute site=one\n"
                      "1@3000+2600 config api=cuFuncSetAttribute site=two\n",
                end = "1@90000 launch s=N1 k=a\n1@90010+9990 sync s=N1\n";
    Built both(BuildTrace(two + end));
    EXPECT_EQ("1: 1 0, 2600000, shown\n1: 1 0, 2600000, shown\n", Said(both, "slow-call"));
    ASSERT_EQ(1u, both->entries.count);
    EXPECT_EQ(2u, both->entries.items[0].places);
    EXPECT_EQ(5200000u, both->entries.items[0].host_ns);
    Built other(BuildTrace("1@0 launch s=N1 k=a\n1@10+2600 config api=cuFuncSetAttribute site=one\n"
                           "1@3000+2600 config api=cuFuncSetCacheConfig site=two\n" +
                           end));
    EXPECT_EQ("1: 1 0, 2600000, once\n1: 1 0, 2600000, once\n", Said(other, "slow-call"));
}

TEST(Floor, CausesBelowItAreNamesOnly)
{
    Built report(BuildTrace(Once("3000") + "2@40000+500 config api=cuCtxSetCacheConfig site=other\n" +
                            "1@200000 launch s=N1 k=a\n1@210000+3 sync s=N1\n1@210010+3 sync s=N1\n"));
    std::string screen = Screen(report);
    EXPECT_NE(std::string::npos, screen.find("the floor is 2.1 ms (1 % of the GPU part):\n  slow-call: 3.5 ms in 2 calls"))
        << screen;
    EXPECT_NE(std::string::npos, screen.find("\n  and 1 below that: useless-sync\n")) << screen;
}

/* slow-call */

TEST(SlowCall, IsEveryCallThatNoOtherRuleKnows)
{
    std::string loop = Loop(40, 100, 1600,
                            "1@T+1000 stream-create s=B1 site=loop\n1@T1010 launch s=N1 k=a\n"
                            "1@T1020+500 none api=cuStreamDestroy_v2 site=loop\n");
    Built report(BuildTrace("1@0 launch s=N1 k=a\n" + loop + "1@70000 launch s=N1 k=a\n"));
    EXPECT_EQ("40: 40 0, 40000000, shown\n40: 40 0, 20000000, shown\n", Said(report, "slow-call"));
    EXPECT_EQ(std::string("creating or destroying streams"),
              report.Of("slow-call")[0]->rule->details[report.Of("slow-call")[0]->detail]);
}

TEST(SlowCall, LeavesOtherRulesTheirs)
{
    Built report(BuildTrace("1@0 launch s=N1 k=a\n1@10+30000 alloc ptr=0x10000 bytes=4096 site=alloc\n"
                            "1@30100+200 alloc ptr=0x20000 bytes=4096 site=alloc\n1@31000 launch s=N1 k=a\n"));
    EXPECT_EQ("1: 1 0, 29800000, shown\n", Said(report, "blocking-alloc"));
    EXPECT_EQ("1: 1 0, 200000, under-the-floor\n", Said(report, "slow-call"))
        << "of the call that blocking-alloc did not take";
}

TEST(SlowCall, SaysNothingOfWaitsStartUpAndTheEnd)
{
    Built report(BuildTrace("1@0+9000 config api=cuFuncSetAttribute\n1@9100 launch s=N1 k=a\n1@9200+9000 sync s=N1\n"
                            "1@18300 launch s=N1 k=a\n1@18400+9000 none api=cuStreamDestroy_v2\n"));
    EXPECT_EQ("", Said(report, "slow-call"));
}

/* useless-sync: device memory only, so that nothing needs the wait */

const char two_buffers[] = "1@0 alloc ptr=0x10000 bytes=4096\n1@1 alloc ptr=0x20000 bytes=4096\n";
const char unneeded[] = "1@T launch s=N1 k=a args=0x10000\n1@T10+900 sync s=N1 site=loop\n"
                        "1@T920 launch s=N2 k=b args=0x20000\n1@T1400+100 sync s=N2 site=other\n";

TEST(UselessSync, IsOneOfALoop)
{
    EXPECT_EQ("19: 19 0, 9120000, shown\n19: 0 19, 0, no-known-cost\n",
              Said(Built(BuildTrace(two_buffers + Loop(20, 1000, 2000, unneeded))), "useless-sync"));
    EXPECT_EQ("", Said(Built(BuildTrace(two_buffers + Loop(4, 1000, 2000, unneeded))), "useless-sync"))
        << "a few may end what a clock measures";
}

TEST(UselessSync, LeavesOutTheHostsWorkRightBehindIt)
{
    std::string works = "1@T launch s=N1 k=a args=0x10000\n1@T10+900 sync s=N1 site=loop\n"
                        "1@T1800 launch s=N2 k=b args=0x20000\n1@T1810+100 sync s=N2 site=other\n";
    Built report(BuildTrace(two_buffers + Loop(20, 1000, 2000, works)));
    for (const finding *finding : report.Of("useless-sync"))
        EXPECT_LE(finding->host_ns, 20u * 100000) << "it may be what the wait is for: a clock is read, or a result printed";
}

TEST(UselessSync, ItsSavingEndsAtACopyThatWaitsAnyhow)
{
    /* The copy comes at once, has nothing left to wait for, and would have waited for what the wait waited for. */
    std::string copy = "1@T launch s=N1 k=a args=0x10000\n1@T10+900 sync s=N1 site=loop\n"
                       "1@T920+500 copy s=L implicit from=pageable to=device ptr=0x20000 bytes=4\n"
                       "1@T1430 launch s=N2 k=b args=0x20000\n1@T1800+100 sync s=N2 site=other\n";
    EXPECT_EQ("", Said(Built(BuildTrace(two_buffers + Loop(20, 1000, 2000, copy))), "useless-sync"));
}

TEST(UselessSync, IsNoWaitBehindAPageableCopy)
{
    std::string wait = "1@110+3 sync s=N1\n1@200 launch s=N1 k=a\n1@210+900 sync s=N1\n";
    Built pageable(BuildTrace("1@0 launch s=N1 k=a\n1@10+90 copy s=N1 from=device to=pageable bytes=4096\n" + wait));
    EXPECT_EQ("", Said(pageable, "useless-sync"));
    Built none(BuildTrace("1@0 launch s=N1 k=a\n1@10+90 sync s=N1\n" + wait));
    EXPECT_EQ("1: 1 0, 3000, under-the-floor\n", Said(none, "useless-sync"));
}

/* device-wide-sync */

std::string EachTime(const std::string &work)
{
    return Loop(20, 1000, 1000, work + "1@T10+500 ctx-sync site=loop\n1@T510 none\n") +
           "1@21000 launch s=N1 k=a\n1@21010+3 sync s=N1\n";
}

TEST(DeviceWideSync, InEachIterationIsAFinding)
{
    EXPECT_EQ("20: 20 0, 9600000, shown\n",
              Said(Built(BuildTrace(EachTime("1@T launch s=N1 k=a args=0x10000\n"))), "device-wide-sync"));
    EXPECT_EQ("", Said(Built(BuildTrace(EachTime("1@T launch s=N1 k=a args=0x10000\n"
                                                 "1@T5 copy s=N1 from=device to=pinned bytes=4\n"))),
                       "device-wide-sync"))
        << "the host may read that";
}

/* pageable-copy */

TEST(PageableCopy, CostsWhatTheCopyTookWithoutTheWait)
{
    /* 8 MB: 1 ms at 8 bytes a ns, which is what a copy may take before it is said to have waited, 125 us at least. */
    Built report(BuildTrace("1@0 launch s=L k=a\n"
                            "1@10+9000 copy s=L implicit from=device to=pageable bytes=8000000 site=here\n"
                            "1@9500 launch s=L k=a\n1@9510+900 sync s=L\n"));
    EXPECT_EQ("1: 1 0, 895000, shown\n", Said(report, "pageable-copy"));
    Built alone(BuildTrace("1@0+1500 copy s=L implicit from=pageable to=device bytes=8000000 site=here\n"
                           "1@9500 launch s=L k=a\n1@9510+900 sync s=L\n"));
    EXPECT_EQ("1: 1 0, 1375000, shown\n", Said(alone, "pageable-copy"));
}

/* pool-trims */

const char stream_ordered[] = "1@T alloc-async s=N1 ptr=0x10000 bytes=4096 site=loop\n1@T1 launch s=N1 k=a\n"
                              "1@T2 free-async s=N1 ptr=0x10000\n1@T3+90 sync s=N1\n";

TEST(PoolTrims, AreOfAPoolThatKeepsNothingAndOften)
{
    EXPECT_EQ("19: 0 19, 0, shown\n", Said(Built(BuildTrace(Loop(20, 0, 100, stream_ordered))), "pool-trims"));
    EXPECT_EQ("", Said(Built(BuildTrace(Loop(16, 0, 100, stream_ordered))), "pool-trims"));
    EXPECT_EQ("", Said(Built(BuildTrace(Loop(20, 0, 100, stream_ordered) + "1@9000 config api=cuMemPoolSetAttribute\n")),
                       "pool-trims"));
}

/* event-misuse */

TEST(EventMisuse, ARingThatThreadsShareIsRight)
{
    /* Each takes the buffer under a mutex, waits for whoever had it last, and records for the next. */
    Built report(BuildTrace("1@0 event-create e=E flags=2\n1@10 wait s=N1 e=E\n1@11 launch s=N1 k=a\n1@12 record s=N1 e=E\n"
                            "2@20 wait s=N2 e=E\n2@21 launch s=N2 k=a\n2@22 record s=N2 e=E\n"
                            "1@30 wait s=N1 e=E\n1@31 launch s=N1 k=a\n1@32 record s=N1 e=E\n"));
    EXPECT_EQ("1: 0 1, 0, no-known-cost\n", Said(report, "event-misuse")) << "the ring's beginning, a note";
    EXPECT_EQ(DOUBT_NONE, report.Of("event-misuse")[0]->doubt);
}

TEST(EventMisuse, AnothersRecordingThatNobodyHandedOverIsNot)
{
    Built report(
        BuildTrace("1@0 event-create e=E flags=2\n1@12 record s=N1 e=E\n2@22 record s=N2 e=E\n1@30 wait s=N1 e=E\n"));
    ASSERT_EQ("1: 0 1, 0, shown\n", Said(report, "event-misuse"));
    EXPECT_EQ(DOUBT_MAY, report.Of("event-misuse")[0]->doubt);
    Built early(BuildTrace("1@0 event-create e=E flags=2\n1@10 wait s=N1 e=E\n2@22 record s=N2 e=E\n1@30 wait s=N1 e=E\n"));
    ASSERT_EQ("1: 0 1, 0, shown\n", Said(early, "event-misuse")) << "the thread that waited never recorded it";
    EXPECT_EQ(DOUBT_MAY, early.Of("event-misuse")[0]->doubt);
}

/* legacy-barrier */

TEST(LegacyBarrier, AWaitForTheThreadsOwnResultIsAsLongOnAnyStream)
{
    EXPECT_EQ("", Said(Built(BuildTrace("1@0 launch s=B1 k=a\n1@10+5000 sync s=L\n")), "legacy-barrier"));
    EXPECT_EQ("1: 1 0, 4980000, shown\n",
              Said(Built(BuildTrace("2@0 launch s=B1 k=a\n1@10+5000 sync s=L\n")), "legacy-barrier"))
        << "another thread's";
    EXPECT_EQ("1: 1 0, 4980000, shown\n",
              Said(Built(BuildTrace("1@0 launch s=B1 k=a\n1@1 launch s=B2 k=a\n1@10+5000 sync s=L\n")), "legacy-barrier"))
        << "on several streams";
}

/* stream-switching */

TEST(StreamSwitching, AFewWaitsAreEnoughWhereTheyAreTheRun)
{
    std::string hop = "1@T launch s=N1 k=a\n1@T1 record s=N1 e=A\n1@T2 wait s=N2 e=A\n1@T3 launch s=N2 k=b\n"
                      "1@T4 record s=N2 e=B\n1@T5 wait s=N1 e=B\n";
    EXPECT_EQ("40: 0 40, 0, shown\n", Said(Built(BuildTrace(Loop(20, 0, 100, hop))), "stream-switching"));
    EXPECT_EQ("", Said(Built(BuildTrace(Loop(7, 0, 100, hop))), "stream-switching"));
    EXPECT_EQ("", Said(Built(BuildTrace(Loop(20, 0, 100, hop) + "1@90000+3 sync s=N1\n")), "stream-switching"))
        << "a small part of the run";
}

} // namespace
} // namespace ptds
