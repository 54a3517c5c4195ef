// SPDX-License-Identifier: Apache-2.0
//
// Every rule against its own two traces and every other rule's good one; then what single rules promise beyond that. A new
// rule file shows up here by itself.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "tests/analysis/support.h"
#include "analysis/report/outcome.h"

namespace ptds
{
namespace
{

std::vector<const rule *> All()
{
    const rule *rules[RULES_MOST];
    size_t count = registry_all(rules);
    return {rules, rules + count};
}

class Rules : public testing::TestWithParam<const rule *>
{
};

TEST_P(Rules, FlagsItsBadTrace)
{
    Built report(BuildTrace(GetParam()->bad));
    ASSERT_EQ(0, report.status) << report.error;
    EXPECT_FALSE(report.Of(GetParam()->id).empty()) << report.Text();
}

TEST_P(Rules, IsSilentOnEveryGoodTrace)
{
    for (const rule *other : All()) {
        Built report(BuildTrace(other->good));
        ASSERT_EQ(0, report.status) << report.error;
        EXPECT_TRUE(report.Of(GetParam()->id).empty()) << "good trace of " << other->id << "\n" << report.Text();
    }
}

TEST_P(Rules, SaysWhatItIs)
{
    for (const char *text : {GetParam()->title, GetParam()->sentence, GetParam()->advice})
        EXPECT_GT(std::string(text).size(), 10u);
    std::string name = GetParam()->class_;
    int number = std::atoi(name.c_str() + 1);
    EXPECT_EQ(name[0] + std::to_string(number), name);
    EXPECT_TRUE(number >= 1 && ((name[0] == 'H' && number <= 17) || (name[0] == 'R' && number <= 8))) << name;
    EXPECT_LT(GetParam()->severity, SEVERITIES);
    EXPECT_EQ(std::string::npos, std::string(GetParam()->id).find_first_not_of("abcdefghijklmnopqrstuvwxyz-"));
}

/* The table is where users look a finding up. */
TEST_P(Rules, IsInTheDocuments)
{
    std::ifstream file("docs/rules.md");
    ASSERT_TRUE(file.good());
    std::string row = std::string("| `") + GetParam()->id + "` |", line;
    bool found = false;
    while (std::getline(file, line))
        found |= line.compare(0, row.size(), row) == 0 &&
                 line.find(std::string("| ") + GetParam()->class_ + " |") != std::string::npos;
    EXPECT_TRUE(found) << "no row " << row << " ... | " << GetParam()->class_ << " |";
}

std::string NameOf(const testing::TestParamInfo<const rule *> &info)
{
    std::string name = info.param->id;
    for (char &c : name)
        if (c == '-')
            c = '_';
    return name;
}

INSTANTIATE_TEST_SUITE_P(Every, Rules, testing::ValuesIn(All()), NameOf);

TEST(RuleList, HoldsTheOnesUsersRelyOn)
{
    std::set<std::string> ids;
    for (const rule *one : All())
        ids.insert(one->id);
    for (const char *id : {"legacy-barrier",
                           "legacy-shared-by-threads",
                           "sync-copy",
                           "pageable-async-copy",
                           "blocking-free",
                           "blocking-module-load",
                           "device-wide-sync",
                           "blocking-stream-created",
                           "capture-conflict",
                           "half-remapped",
                           "over-wide-sync",
                           "useless-sync",
                           "blocking-alloc",
                           "blocking-pin",
                           "lazy-load-holds-others",
                           "lock-contention",
                           "host-function-serialises",
                           "hardware-queues",
                           "process-switch",
                           "deadlock-risk",
                           "event-misuse",
                           "query-spin",
                           "stream-switching",
                           "mixed-build",
                           "thread-relative-handle",
                           "order-given-up"})
        EXPECT_EQ(1u, ids.count(id)) << id;
}

/* Of each rule's own bad trace: calls, how many of them have a cost and how many one that nobody knows, and ns lost. */
TEST(RuleList, WhatEachCosts)
{
    std::string all;
    for (const rule *one : All()) {
        Built report(BuildTrace(one->bad));
        for (const finding *finding : report.Of(one->id))
            all += std::string(one->id) + " " + std::to_string(finding->count) + ": " + std::to_string(finding->known) +
                   " " + std::to_string(finding->unknown) + ", " + std::to_string(finding->host_ns) + "\n";
    }
    EXPECT_EQ("blocking-alloc 1: 1 0, 4800000\n"
              "blocking-free 1: 1 0, 4980000\n"
              "blocking-module-load 1: 1 0, 8800000\n"
              "blocking-pin 1: 1 0, 39800000\n"
              "blocking-pin 1: 1 0, 4800000\n"
              "blocking-stream-created 1: 0 1, 0\n"
              "blocks-of-one-allocation 0: 0 1, 0\n"
              "capture-conflict 1: 0 1, 0\n"
              "deadlock-risk 1: 0 1, 0\n"
              "device-wide-sync 1: 1 0, 890000\n"
              "event-misuse 1: 0 1, 0\n"
              "event-misuse 1: 0 1, 0\n"
              "half-remapped 1: 0 1, 0\n"
              "hardware-queues 1: 0 1, 0\n"
              "host-function-serialises 1: 0 1, 0\n"
              "host-function-serialises 1: 0 1, 0\n"
              "lazy-load-holds-others 1: 1 0, 29898905\n"
              "legacy-barrier 1: 0 1, 0\n"
              "legacy-barrier 1: 0 1, 0\n"
              "legacy-shared-by-threads 1: 0 1, 0\n"
              "lock-contention 2: 2 0, 1399906\n"
              "mixed-build 1: 0 1, 0\n"
              "mixed-build 1: 0 1, 0\n"
              "order-given-up 1: 0 1, 0\n"
              "over-wide-sync 1: 1 0, 4980000\n"
              "pageable-async-copy 1: 1 0, 135980000\n"
              "pageable-copy 1: 1 0, 8737856\n"
              "pinned-reuse 1: 0 1, 0\n"
              "pool-trims 19: 0 19, 0\n"
              "process-switch 0: 0 1, 0\n"
              "query-spin 1: 1 0, 990000\n"
              "slow-call 1: 1 0, 6000000\n"
              "small-copy 1: 0 1, 0\n"
              "stream-switching 200: 0 200, 0\n"
              "sync-copy 1: 1 0, 990000\n"
              "thread-end 1: 0 1, 0\n"
              "thread-relative-handle 1: 0 1, 0\n"
              "unordered-conflict 1: 0 1, 0\n"
              "unordered-conflict 1: 0 1, 0\n"
              "useless-sync 1: 1 0, 3000\n",
              all);
}

TEST(LegacyBarrier, CountsEdgesThatNothingElseHadPut)
{
    Built report(BuildTrace("1@0 launch s=B1 k=long\n"
                            "1@1 record s=B1 e=E\n"
                            "1@2 wait s=L e=E\n"
                            "1@3 launch s=L k=after\n"));
    EXPECT_TRUE(report.Of("legacy-barrier").empty()) << report.Text();
}

TEST(LegacyBarrier, CountsAnEdgeOnceUntilThereIsMoreWorkBehindIt)
{
    Built report(BuildTrace("1@0 launch s=B1 k=long site=a\n"
                            "1@1 launch s=L k=x site=b\n"
                            "1@2 launch s=L k=x site=b\n"
                            "1@3 launch s=L k=x site=b\n"));
    auto findings = report.Of("legacy-barrier");
    ASSERT_EQ(1u, findings.size()) << report.Text();
    EXPECT_EQ(1u, findings[0]->count);
    EXPECT_EQ(1u, findings[0]->unknown);
    EXPECT_EQ(0u, findings[0]->known);
}

TEST(LegacyBarrier, IsSilentWhereTheWorkWasRemapped)
{
    Built report(BuildTrace("1@0 launch s=N1 k=long\n"
                            "1@1 launch s=L to=P1 k=x\n"
                            "2@2 launch s=L to=P2 k=x\n"));
    EXPECT_TRUE(report.Of("legacy-barrier").empty()) << report.Text();
    EXPECT_TRUE(report.Of("legacy-shared-by-threads").empty()) << report.Text();
    EXPECT_EQ(1u, report.Of("order-given-up").size()) << report.Text();
}

TEST(LegacyBarrier, ASyncOfTheIdleLegacyStreamThatWaitsForOthersCosts)
{
    Built report(BuildTrace("1@0 launch s=B1 k=long\n"
                            "2@10+5000 sync s=L site=here\n"));
    auto findings = report.Of("legacy-barrier");
    ASSERT_EQ(1u, findings.size());
    EXPECT_EQ(2u, findings[0]->detail);
    EXPECT_EQ(4980000u, findings[0]->host_ns);
}

TEST(SyncCopy, CostIsWhatTheThreadCouldHaveDoneAndSitesAddUp)
{
    Built report(BuildTrace("1@0 launch s=L k=long\n"
                            "1@10+8000 copy s=L implicit from=device to=pageable bytes=4 site=a\n"
                            "1@9000 launch s=L k=long\n" /* 1000 us after the copy, until the next: */
                            "1@9010+8000 copy s=L implicit from=device to=pageable bytes=4 site=a\n"
                            "1@17500 launch s=L k=long\n"
                            "1@18010+200 copy s=L implicit from=device to=pageable bytes=4 site=b\n"
                            "1@19000 launch s=L k=long\n" /* longer than the copy had waited */
                            "1@19500+2000 sync s=L\n"));
    auto findings = report.Of("sync-copy");
    ASSERT_EQ(2u, findings.size());
    EXPECT_EQ(2u, findings[0]->count);
    EXPECT_EQ(2000000u, findings[0]->host_ns);
    EXPECT_EQ(180000u, findings[1]->host_ns);
    EXPECT_EQ(findings[0], report->findings.items[0]);
}

TEST(SyncCopy, AWaitForTheLastResultIsNone)
{
    Built report(BuildTrace("1@0 launch s=L k=long\n"
                            "1@10+8000 copy s=L implicit from=device to=pageable bytes=4\n"
                            "1@9000+5000 free ptr=0x1000\n"));
    EXPECT_TRUE(report.Of("sync-copy").empty()) << report.Text();
    EXPECT_TRUE(report.Of("blocking-free").empty()) << report.Text();
}

TEST(SyncCopy, ABigCopyIsNotAWait)
{
    Built report(BuildTrace("1@0 launch s=L k=short\n"
                            "1@10+130000 copy s=L implicit from=device to=pageable bytes=1000000000\n"));
    EXPECT_TRUE(report.Of("sync-copy").empty()) << report.Text();
}

TEST(SyncCopy, AnUntimedCallHasAnUnknownCostNotZero)
{
    Built report(BuildTrace("1@0 launch s=L k=long\n"
                            "1@10 copy s=L implicit from=device to=pageable bytes=4\n"));
    auto findings = report.Of("sync-copy");
    ASSERT_EQ(1u, findings.size());
    EXPECT_EQ(1u, findings[0]->unknown);
    EXPECT_NE(std::string::npos, report.Text().find("saves at most         unknown")) << report.Text();
}

TEST(PageableAsyncCopy, RanksByHostTimeHoweverSmallTheCopy)
{
    Built report(BuildTrace("1@0 launch s=N1 k=long\n"
                            "1@10+5000 free ptr=0x1000\n"
                            "1@6000 launch s=N1 k=long\n"
                            "1@6010+136000 copy s=N1 from=device to=pageable bytes=4\n"
                            "1@142100 launch s=N1 k=long\n"
                            "1@190000+900 sync s=N1\n"));
    ASSERT_EQ(2u, report->findings.count);
    EXPECT_STREQ("pageable-async-copy", report->findings.items[0]->rule->id);
}

TEST(BlockingFree, ASecondFreeHasNothingLeftToWaitFor)
{
    Built report(BuildTrace("1@0 launch s=N1 k=long\n"
                            "1@10+5000 free ptr=0x1000\n"
                            "1@5020+5000 free ptr=0x2000\n"
                            "1@10100 launch s=N1 k=next\n"));
    auto findings = report.Of("blocking-free");
    ASSERT_EQ(1u, findings.size());
    EXPECT_EQ(1u, findings[0]->count);
}

/* Twice what fits: 200 us, and the 100 us that any call may take longer; with nothing pending 10 ms. */
TEST(BlockingAlloc, TakesLongFromHalfAMillisecondOn)
{
    for (const auto &[us, pending, found] : std::vector<std::tuple<int, bool, size_t>>{
             {480, true, 0}, {520, true, 1}, {690, true, 1}, {9900, false, 0}, {10100, false, 1}}) {
        Built report(BuildTrace("1@0+1 alloc ptr=0x1000 bytes=4096\n1@20000 launch s=N1 k=first\n1@20100+10 sync s=N1\n" +
                                std::string(pending ? "1@30000 launch s=N1 k=long\n" : "") + "1@30010+" +
                                std::to_string(us) + " alloc ptr=0x2000 bytes=4096\n1@50000 launch s=N1 k=next\n"));
        EXPECT_EQ(found, report.Of("blocking-alloc").size()) << us << report.Text();
    }
}

TEST(BlockingModuleLoad, AStackResizeCountsAndOtherLimitsDoNot)
{
    Built report(BuildTrace("1@0 launch s=N1 k=long\n"
                            "1@10+5000 ctx-limit flags=2\n"
                            "1@6000+5000 ctx-limit flags=0\n"));
    auto findings = report.Of("blocking-module-load");
    ASSERT_EQ(1u, findings.size());
    EXPECT_EQ(1u, findings[0]->count);
}

TEST(CaptureConflict, FailedAndUncapturedAreTwoCases)
{
    Built report(BuildTrace("1@0 capture-begin s=N1\n"
                            "1@1 launch s=L k=a capture-open\n"
                            "2@2 launch s=L k=a capture-open result=906\n"
                            "1@3 capture-end s=N1 result=901\n"));
    EXPECT_EQ(3u, report.Of("capture-conflict").size()) << report.Text();
}

TEST(PageableAsyncCopy, WhatIsWaitedForNextAnywayIsNone)
{
    Built report(BuildTrace("1@0 launch s=N1 k=long\n"
                            "1@10+5000 copy s=N1 from=device to=pageable bytes=4\n"
                            "1@5020+3 sync s=N1\n"
                            "1@5030 launch s=N1 k=long\n"));
    EXPECT_TRUE(report.Of("pageable-async-copy").empty()) << report.Text();
    /* A result that is read in every turn of a loop, in two calls: what the thread does between them could be done
     * meanwhile. */
    std::string loop = "1@0 launch s=N1 k=long\n";
    for (unsigned i = 0; i < 5; i++) {
        std::string at = std::to_string(10 + i * 10000), then = std::to_string(5015 + i * 10000),
                    next = std::to_string(7000 + i * 10000);
        loop += "1@" + at + "+5000 copy s=N1 from=device to=pageable bytes=4 site=item\n1@" + then + "+3 sync s=N1\n1@" +
                next + " launch s=N1 k=long\n";
    }
    Built item(BuildTrace(loop));
    ASSERT_EQ(1u, item.Of("pageable-async-copy").size()) << item.Text();
    EXPECT_EQ(4u, item.Of("pageable-async-copy")[0]->known);
    EXPECT_EQ(4 * 4980000u, item.Of("pageable-async-copy")[0]->host_ns);
    Built from(BuildTrace("1@0 launch s=N1 k=long\n"
                          "1@10+8 copy s=N1 from=pageable to=device bytes=4\n"));
    ASSERT_EQ(1u, from.Of("pageable-async-copy").size()) << "read out of order, though it kept nobody";
    EXPECT_EQ(0u, from.Of("pageable-async-copy")[0]->host_ns);
    EXPECT_EQ(FOLD_FLOOR, from.Of("pageable-async-copy")[0]->fold);
}

/* One call, one rule: whose wait for the legacy stream it is depends on what the streams were needed for. */
TEST(Cost, OfAWaitForTheLegacyStreamIsChargedOnce)
{
    const std::string begin = "1@0+5 alloc ptr=0x10000 bytes=4096\n"
                              "1@10+5 alloc ptr=0x20000 bytes=4096\n"
                              "1@20 launch s=B1 k=mine args=0x10000\n"
                              "2@25 launch s=B2 k=theirs args=0x20000\n"
                              "1@30+5000 sync s=L\n";
    Built wide(BuildTrace(begin + "1@5100 launch s=N3 k=next args=0x10100\n"
                                  "1@5110+900 sync s=N3\n"
                                  "2@5200+3 sync s=B2\n"));
    EXPECT_EQ(1u, wide.Of("over-wide-sync").size()) << wide.Text();
    EXPECT_TRUE(wide.Of("legacy-barrier").empty()) << wide.Text();
    Built unknown(BuildTrace(begin));
    EXPECT_TRUE(unknown.Of("over-wide-sync").empty()) << unknown.Text();
    EXPECT_EQ(1u, unknown.Of("legacy-barrier").size()) << unknown.Text();
}

TEST(Cost, OfAnAllocationBehindAnotherThreadsLoadIsTheLoads)
{
    Built report(BuildTrace("2@0 launch s=N2 k=first\n"
                            "2@1+4 sync s=N2\n"
                            "2@10+4 alloc ptr=0x10000 bytes=4\n"
                            "2@20+4 alloc ptr=0x20000 bytes=4\n"
                            "1@100+30000 module-load\n"
                            "2@200+29903 alloc ptr=0x30000 bytes=4\n"));
    EXPECT_EQ(1u, report.Of("lazy-load-holds-others").size()) << report.Text();
    EXPECT_TRUE(report.Of("blocking-alloc").empty()) << report.Text();
}

/* Pinned memory that a stream wrote the host may have read before the stream was waited for by itself. */
TEST(OverWideSync, AResultInPinnedMemoryMayHaveBeenRead)
{
    const std::string wait = "2@26 copy s=N2 from=device to=pinned src=0x20000 ptr=0x7f0000000000 bytes=64\n"
                             "1@30+5000 ctx-sync\n"
                             "1@5100 launch s=N3 k=next args=0x10100\n"
                             "1@5110+900 sync s=N3\n"
                             "2@6200+3 sync s=N2\n";
    const std::string begin = "1@0+5 alloc ptr=0x10000 bytes=4096\n"
                              "1@10+5 alloc ptr=0x20000 bytes=4096\n"
                              "1@20 launch s=N1 k=mine args=0x10000\n"
                              "2@25 launch s=N2 k=theirs args=0x20000\n";
    Built pinned(BuildTrace(begin + wait));
    EXPECT_TRUE(pinned.Of("over-wide-sync").empty()) << pinned.Text();
    Built device(BuildTrace(begin + wait.substr(wait.find('\n') + 1)));
    EXPECT_EQ(1u, device.Of("over-wide-sync").size()) << device.Text();
}

/* simpleMultiCopy: the wait for all streams before an elapsed time is read is what it should be. */
TEST(DeviceWideSync, IsNoneWhereATimeIsReadOrNothingFollows)
{
    const std::string begin = "1@0 event-create e=E\n"
                              "1@5 launch s=N1 k=a\n"
                              "1@10 launch s=N2 k=b\n"
                              "1@15 record s=N1 e=E\n"
                              "1@20+5000 ctx-sync\n";
    const std::string more = "1@5100 launch s=N1 k=next\n"
                             "1@5900+900 sync s=N1\n";
    EXPECT_EQ(1u, Built(BuildTrace(begin + more)).Of("device-wide-sync").size());
    EXPECT_TRUE(Built(BuildTrace(begin)).Of("device-wide-sync").empty());
    EXPECT_TRUE(Built(BuildTrace(begin + "1@5030 elapsed e=E\n" + more)).Of("device-wide-sync").empty());
}

/* What a program does before its first kernel is one line, and no finding. */
TEST(Startup, IsAddedUpAndNoFinding)
{
    Built report(BuildTrace("1@0+30000 alloc ptr=0x10000 bytes=4096\n"
                            "1@40000+20000 alloc-host ptr=0x7f0000000000 bytes=4096\n"
                            "1@70000 memset s=L ptr=0x10000 to=device bytes=4\n"
                            "1@70010+15000 alloc-host ptr=0x7e0000000000 bytes=4096\n"
                            "1@90000+3000 module-load\n"
                            "1@100000 launch s=L k=first\n"
                            "1@100010+30000 alloc ptr=0x20000 bytes=4096 site=later\n"));
    EXPECT_TRUE(report.Of("blocking-pin").empty()) << report.Text();
    EXPECT_TRUE(report.Of("blocking-module-load").empty()) << report.Text();
    ASSERT_EQ(1u, report.Of("blocking-alloc").size()) << report.Text();
    EXPECT_EQ(30000000u, report->startup.ns[STARTUP_ALLOC]);
    EXPECT_EQ(35000000u, report->startup.ns[STARTUP_PIN]);
    EXPECT_EQ(3000000u, report->startup.ns[STARTUP_LOAD]);
    EXPECT_EQ(2u, report->startup.calls[STARTUP_PIN]);
}

/* How many lines of so many columns a text takes, broken between words. */
unsigned Lines(std::string text, size_t columns)
{
    unsigned lines = 1;
    while (text.size() > columns) {
        size_t end = text.rfind(' ', columns);
        if (end == std::string::npos)
            return 1000;
        text.erase(0, end + 1);
        lines++;
    }
    return lines;
}

/* What the first screen says of a finding is said to its end. */
TEST(Rules, TextsFitTheFirstScreen)
{
    const struct rule *all[RULES_MOST];
    size_t count = registry_all(all);
    for (size_t i = 0; i < count; i++) {
        const struct rule &rule = *all[i];
        EXPECT_GE(2u, Lines(rule.advice, 71)) << rule.id << ": " << rule.advice;
        EXPECT_GE(76u, strlen(rule.title)) << rule.id;
        finding finding = {};
        finding.rule = &rule;
        for (finding.detail = 0; rule.remedies != nullptr && finding.detail < 2; finding.detail++)
            EXPECT_GE(2u, Lines(finding_advice(&finding), 71)) << rule.id;
        if (rule.details != nullptr) {
            EXPECT_GE(2u, Lines(rule.details[0], 74)) << rule.id << ": " << rule.details[0];
        }
    }
}

/* Thrust: it names the legacy stream at every call, which is one thing to change. */
TEST(HalfRemapped, AnObjectThatNamesTheLegacyStreamIsOneCause)
{
    Built report(BuildTrace("1@0 launch s=L to=P1 k=a site=main\n"
                            "1@1 launch s=L explicit k=b site=sort@libsort.so\n"
                            "1@2 memset s=L explicit to=device bytes=4 site=clear@libsort.so\n"
                            "1@3+3 sync s=L explicit site=wait@libsort.so\n"
                            "1@4 launch s=L explicit k=b site=own\n"));
    auto findings = report.Of("half-remapped");
    ASSERT_EQ(2u, findings.size()) << report.Text();
    EXPECT_EQ(4u, findings[0]->count + findings[1]->count);
    const finding *sort = findings[0]->count == 3 ? findings[0] : findings[1];
    EXPECT_EQ(SEVERITY_WARNING, sort->severity);
    EXPECT_NE(std::string::npos, std::string(finding_advice(sort)).find("PTDS_EXPLICIT_LEGACY=remap"));
}

/* simpleStreams: the kernels of its streams share a pointer that they only read, and write parts of one allocation. */
TEST(UnorderedConflict, WithAKernelItIsPossibleAndNamesTheOtherOne)
{
    Built report(BuildTrace("1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                            "1@1 launch s=N1 k=_Z5firstPf args=A\n"
                            "1@2 launch s=N2 k=_Z6secondPf args=A\n"));
    auto findings = report.Of("unordered-conflict");
    ASSERT_EQ(1u, findings.size()) << report.Text();
    EXPECT_EQ(SEVERITY_NOTE, findings[0]->severity);
    ASSERT_TRUE(findings[0]->has_pair);
    EXPECT_EQ(PTDS_OP_LAUNCH, findings[0]->pair.first.op);
    EXPECT_NE(0u, findings[0]->pair.first.object);
    EXPECT_NE(0u, findings[0]->pair.allocation);
}

/* Each detail has a sentence, its own or the rule's. */
TEST(UnorderedConflict, SaysWhatItIs)
{
    const std::string memory = "1@0 alloc m=A ptr=0x10000 bytes=4096\n1@0 alloc m=H ptr=0x30000 bytes=4096 kind=pinned\n",
                      set = "1@1 memset s=N1 dst=A bytes=64\n", read = "1@9 copy s=N2 src=A dst=H to=pinned bytes=64\n",
                      both = "Both touch the same memory, one of them writes it, and neither streams, events nor the host "
                             "order them.";
    const struct {
        std::string calls;
        enum severity severity;
        std::string sentence;
    } cases[] = {
        {set + read, SEVERITY_ERROR, both},
        {set + "2@9 copy s=N2 src=A dst=H to=pinned bytes=64\n", SEVERITY_WARNING, both},
        {set + "1@2 memset s=N1 dst=H+1024 bytes=4\n" + read, SEVERITY_WARNING, both},
        {"1@1 launch s=N1 k=_Z5firstPf args=A\n1@2 launch s=N2 k=_Z6secondPf args=A\n", SEVERITY_NOTE,
         "Both use the same memory, one may write what the other uses, and neither streams, events nor the host order "
         "them."},
        {"1@1 launch s=N1 k=_Z5firstPf args=A\n1@2 launch s=N2 k=_Z5firstPf args=A\n", SEVERITY_NOTE,
         "The kernel uses the same memory on several streams, which nothing orders: right where each only reads, or has a "
         "part of its own."},
    };
    for (const auto &one : cases) {
        Built report(BuildTrace(memory + one.calls));
        auto findings = report.Of("unordered-conflict");
        ASSERT_EQ(1u, findings.size()) << one.calls << report.Text();
        EXPECT_EQ(one.severity, findings[0]->severity) << one.calls;
        EXPECT_EQ(one.sentence, finding_sentence(findings[0])) << one.calls;
    }
}

TEST(HalfRemapped, NamesEachReason)
{
    Built report(BuildTrace("untabled cuNewThingAsync\n"
                            "bypass /opt/other/libcuda.so\n"
                            "1@0 launch s=L to=P1 k=a\n"
                            "1@1 launch s=L k=b kept-excluded\n"
                            "1@2 launch s=L k=b kept-no-way\n"
                            "1@3 launch s=L k=b explicit\n"
                            "1@4 launch s=L k=b kept-refused result=1\n"));
    EXPECT_EQ(5u, report.Of("half-remapped").size()) << report.Text();
    EXPECT_NE(std::string::npos, report.Text().find("cuNewThingAsync"));
}

/* What waits for nothing here is no half of anything, and of what may be nothing is concluded. */
TEST(HalfRemapped, WhatWentPastTheShim)
{
    Built report(BuildTrace("bypass 4:/space/libcuda.so.1\n"
                            "bypass 5:/space/libplugin.so\n"
                            "bypass 6:/deep/libcalls.so\n"
                            "bypass 7:/deep/libasks.so\n"
                            "1@0 launch s=L to=P1 k=a\n"));
    auto findings = report.Of("half-remapped");
    ASSERT_EQ(1u, findings.size()) << report.Text();
    std::string text = report.Text();
    EXPECT_NE(std::string::npos, text.find("libcalls.so")) << text;
    EXPECT_NE(std::string::npos, text.find("Run it by ptds run --audit.")) << text;
    EXPECT_EQ(std::string::npos, text.find("nothing: the records are complete")) << text;
    for (const char *line :
         {"/space/libcuda.so.1: the driver of a dlmopen namespace", "/space/libplugin.so: uses the driver of",
          "/deep/libcalls.so: opened by name with RTLD_DEEPBIND, calls",
          "/deep/libasks.so: opened by name with RTLD_DEEPBIND, may look"})
        EXPECT_NE(std::string::npos, text.find(line)) << text;
}

TEST(HalfRemapped, ObservingIsNotHalfRemapping)
{
    Built report(BuildTrace("setting policy=observe\n"
                            "bypass /opt/other/libcuda.so\n"
                            "1@0 launch s=L k=a\n"));
    EXPECT_TRUE(report.Of("half-remapped").empty());
}

/* What the policy promises to keep is not gone, and of no order is said that it is. */
TEST(OrderGivenUp, NotUnderAPolicyThatKeepsIt)
{
    const std::string calls = "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                              "1@1 memset s=L target=S1 bytes=64 dst=A\n"
                              "2@2 copy s=L target=S2 bytes=64 src=A\n";
    for (const char *keeps : {"setting policy=guarded\n", "setting policy=stream\nsetting guard=1\n"}) {
        Built report(BuildTrace(keeps + calls));
        EXPECT_TRUE(report.Of("order-given-up").empty()) << report.Text();
        EXPECT_EQ(std::string::npos, report.Text().find("!!")) << report.Text();
        EXPECT_EQ(std::string::npos, report.Text().find("which is gone")) << report.Text();
        EXPECT_NE(std::string::npos, report.Text().find("  kept by policy ")) << report.Text();
    }
    for (const char *gives_up : {"", "setting policy=per-thread\n", "setting policy=stream\n"}) {
        Built report(BuildTrace(gives_up + calls));
        EXPECT_EQ(1u, report.Of("order-given-up").size()) << report.Text();
        EXPECT_NE(std::string::npos, report.Text().find("!!")) << report.Text();
        EXPECT_EQ(std::string::npos, report.Text().find("  kept by policy ")) << report.Text();
    }
}

TEST(HalfRemapped, DoubtsOnlyUnderAPolicyThatGivesOrderUp)
{
    for (auto [policy, doubt] : std::map<std::string, std::string>{{"guarded", "right"}, {"per-thread", "may-be-wrong"}}) {
        Built report(BuildTrace("setting policy=" + policy + "\n1@0 launch s=L to=N1 k=a\n1@1 launch s=L k=b explicit\n"));
        auto findings = report.Of("half-remapped");
        ASSERT_EQ(1u, findings.size()) << report.Text();
        EXPECT_STREQ("warning", severity_names[findings[0]->severity]);
        EXPECT_EQ(doubt, doubt_names[findings[0]->doubt]);
        EXPECT_EQ(nullptr, outcome_pair(report.get(), findings[0]));
    }
}

/* Without a pair of operations nothing is an error: who knows whether they share memory? */
TEST(HalfRemapped, IsAnErrorOnlyWhereAPairProvesIt)
{
    for (auto [to, severity] : std::map<std::string, std::string>{{"A", "error"}, {"B", "warning"}}) {
        Built report(BuildTrace("setting policy=stream\n"
                                "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                                "1@1 alloc m=B ptr=0x20000 bytes=4096\n"
                                "1@2 memset s=L target=N1 bytes=64 dst=A\n"
                                "2@3 copy s=L bytes=64 src=" +
                                to + " explicit\n"));
        auto findings = report.Of("half-remapped");
        ASSERT_EQ(1u, findings.size()) << report.Text();
        EXPECT_EQ(severity, severity_names[findings[0]->severity]) << report.Text();
        EXPECT_EQ(severity == "error", outcome_pair(report.get(), findings[0]) != nullptr);
        EXPECT_EQ(severity == "error" ? DOUBT_WRONG : DOUBT_MAY, findings[0]->doubt);
    }
}

TEST(HalfRemapped, DoubtsWhereNothingOrders)
{
    auto severity = [](const std::string &moved, const std::string &kept) {
        Built report(BuildTrace("1@0 launch s=L to=" + moved + " k=a\n" + kept));
        auto findings = report.Of("half-remapped");
        return findings.size() != 1
                   ? std::string("none or several")
                   : severity_names[findings[0]->severity] +
                         (findings[0]->doubt == DOUBT_NONE ? "" : std::string(", ") + doubt_names[findings[0]->doubt]);
    };
    EXPECT_EQ("warning", severity("P1", "1@1 launch s=L k=b explicit\n"));
    EXPECT_EQ("note", severity("P1", "1@1+9 sync s=L explicit\n"));
    EXPECT_EQ("warning, may-be-wrong", severity("N1", "1@1 launch s=L k=b explicit\n"));
    EXPECT_EQ("warning, may-be-wrong", severity("U1", "1@1 launch s=L k=b explicit\n")) << "of the stream nothing is known";
}

/* Thread 1 works beside thread 2, which by legacy order comes before its own next work, and then reads what thread 2 wrote:
 * whether that is wrong says the wait in between. */
TEST(OrderGivenUp, IsNoErrorWhereTheShimOrdersWhatTheResultNeeds)
{
    const std::string beside = "1@0 alloc m=A ptr=4096 bytes=4096\n"
                               "1@1 alloc m=B ptr=8192 bytes=4096\n"
                               "1@10 memset s=L target=P1 bytes=64 dst=B\n"
                               "2@20 memset s=L target=P2 bytes=64 dst=A\n"
                               "1@30 memset s=L target=P1 bytes=64 dst=B site=beside\n",
                      reads = "1@50 copy s=L target=P1 bytes=64 src=A";
    auto severities = [&](const std::string &last) {
        std::string found;
        Built report(BuildTrace(beside + last));
        for (const struct finding *one : report.Of("order-given-up"))
            found += std::string(severity_names[one->severity]) + " ";
        return found;
    };
    EXPECT_NE(std::string::npos, severities(reads + "\n").find("error"));
    EXPECT_EQ(std::string::npos, severities(reads + " behind=P2@40\n").find("error"));
    /* Too early, too late, and for somebody else. */
    EXPECT_NE(std::string::npos, severities(reads + " behind=P2@15\n").find("error"));
    EXPECT_NE(std::string::npos, severities(reads + "\n1@60 copy s=L target=P1 bytes=64 src=B behind=P2\n").find("error"));
    EXPECT_NE(std::string::npos, severities("3@40 launch s=B1 k=other waits=P3 behind=P2\n" + reads + "\n").find("error"));
}

/* The order that thread 1 gets at 30 holds for all that thread 2 wrote before. It waits for a part. */
TEST(OrderGivenUp, IsAnErrorWhereTheShimOrdersNotAllThatResultsNeed)
{
    const std::string beside = "1@0 alloc m=A ptr=4096 bytes=4096\n"
                               "1@1 alloc m=B ptr=8192 bytes=4096\n"
                               "1@2 alloc m=C ptr=12288 bytes=4096\n"
                               "1@10 memset s=L target=P1 bytes=64 dst=B\n"
                               "2@20 memset s=L target=P2 bytes=64 dst=A\n"
                               "2@22 memset s=L target=P2 bytes=64 dst=C\n"
                               "1@30 memset s=L target=P1 bytes=64 dst=B site=beside\n",
                      first = "1@50 copy s=L target=P1 bytes=64 src=A behind=P2@21\n",
                      second = "1@60 copy s=L target=P1 bytes=64 src=C";
    auto worst = [&](const std::string &last) {
        Built report(BuildTrace(beside + last));
        int found = 0;
        for (const struct finding *one : report.Of("order-given-up"))
            found = std::max(found, static_cast<int>(one->severity));
        return severity_names[found];
    };
    EXPECT_STREQ("note", worst(first));
    EXPECT_STREQ("error", worst(first + second + "\n"));
    EXPECT_STREQ("note", worst(first + second + " behind=P2@40\n"));
    EXPECT_STREQ("error", worst(second + "\n" + first)) << "whichever comes first";
}

TEST(OrderGivenUp, IsAnErrorWhereAResultNeedsIt)
{
    const std::string alloc = "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                              "1@1 alloc m=B ptr=0x20000 bytes=4096\n",
                      first = "1@2 memset s=L target=P1 bytes=64 dst=A\n";
    for (auto [second, severity] : {std::pair("A", "error"), std::pair("B", "note")}) {
        Built report(BuildTrace(alloc + first + "2@3 copy s=L target=P2 bytes=64 src=" + second + "\n"));
        auto findings = report.Of("order-given-up");
        ASSERT_EQ(1u, findings.size()) << report.Text();
        EXPECT_STREQ(severity, severity_names[findings[0]->severity]);
    }
    Built kept(BuildTrace(alloc + first + "2@3 memset s=L target=P2 bytes=64 dst=A behind=P1\n"));
    EXPECT_TRUE(kept.Of("order-given-up").empty()) << kept.Text();
    /* What the event was recorded too early for is not kept, and what an earlier call waited for is. */
    const std::string later = alloc + first + "1@20 memset s=L target=P1 bytes=64 dst=A\n";
    Built early(BuildTrace(later + "2@30 memset s=L target=P2 bytes=64 dst=A behind=P1@15\n"));
    EXPECT_EQ(1u, early.Of("order-given-up").size()) << early.Text();
    Built before(BuildTrace(later + "2@30 record s=L to=P2 e=E behind=P1\n2@31 memset s=L target=P2 bytes=64 dst=A\n"));
    EXPECT_TRUE(before.Of("order-given-up").empty()) << before.Text();
    /* Before work of the thread on a stream of its own, and another thread waits in between. */
    const std::string waits = "2@30 launch s=N1 k=other waits=P2 behind=P1\n3@31 launch s=N1 k=other waits=P3 behind=P1\n",
                      then = "2@32 memset s=L target=P2 bytes=64 dst=A\n";
    Built elsewhere(BuildTrace(later + waits + then));
    EXPECT_TRUE(elsewhere.Of("order-given-up").empty()) << elsewhere.Text();
    Built another(BuildTrace(later + "3@31 launch s=N1 k=other waits=P3 behind=P1\n" + then));
    EXPECT_EQ(1u, another.Of("order-given-up").size()) << another.Text();
    /* By way of a stream that waited for it, if it had done so by then: nobody remembers, so nothing is said to be gone. */
    const std::string way = later + "3@31 launch s=N1 k=other waits=P3 behind=P1\n",
                      handed = "2@33 memset s=L target=P2 bytes=64 dst=A behind=P3";
    Built passed_on(BuildTrace(way + handed + "@32\n")), too_early(BuildTrace(way + handed + "@30\n"));
    EXPECT_TRUE(passed_on.Of("order-given-up").empty()) << passed_on.Text();
    EXPECT_TRUE(too_early.Of("order-given-up").empty()) << too_early.Text();
}

/* What a run lost: the worst of the findings, and whether it says "!!". */
std::string Lost(const std::string &calls)
{
    const std::string memory = "1@0 alloc m=A ptr=0x10000 bytes=4096\n1@0 alloc m=B ptr=0x20000 bytes=4096\n"
                               "1@0 alloc m=H ptr=0x30000 bytes=4096 kind=pinned\n";
    Built report(BuildTrace(memory + calls));
    int worst = -1;
    for (const struct finding *one : report.Of("order-given-up"))
        worst = std::max(worst, static_cast<int>(one->severity));
    bool loud = report.Text().find("!!") != std::string::npos;
    EXPECT_EQ(worst == SEVERITY_ERROR, loud) << report.Text();
    return worst < 0 ? "nothing" : severity_names[worst];
}

TEST(OrderGivenUp, WithinOneThread)
{
    for (const char *policy : {"", "setting policy=per-thread\n", "setting policy=stream\n"}) {
        const std::string run = policy;
        EXPECT_EQ("error", Lost(run + "1@2 memset s=L target=P1 dst=A bytes=64\n1@3 copy s=B1 src=A dst=B bytes=64\n"));
        EXPECT_EQ("error", Lost(run + "1@2 copy s=B1 src=A dst=B bytes=64\n1@3 memset s=L target=P1 dst=A bytes=64\n"));
        EXPECT_EQ("error", Lost(run + "1@2 memset s=L target=N1 dst=A bytes=64\n1@3 copy s=B1 src=A dst=B bytes=64\n"));
        EXPECT_EQ("warning", Lost(run + "1@2 launch s=L to=P1 k=_Z5writePf args=A\n1@3 copy s=B1 src=A dst=B bytes=64\n"));
        EXPECT_EQ("note", Lost(run + "1@2 memset s=L target=P1 dst=A bytes=64\n1@3 memset s=B1 dst=B bytes=64\n"));
        /* by way of an empty kernel */
        EXPECT_EQ("error", Lost(run + "1@2 memset s=B2 dst=A bytes=64\n1@3 launch s=L to=P1 k=_Z5emptyv\n"
                                      "1@4 copy s=B1 src=A dst=B bytes=64\n"));
    }
    const std::string kept = "1@2 memset s=L target=P1 dst=A bytes=64\n1@3 copy s=B1 src=A dst=B bytes=64\n";
    EXPECT_EQ("nothing", Lost("setting policy=guarded\n" + kept));
}

TEST(OrderGivenUp, BetweenThreadsOfWhichOneHasABlockingStream)
{
    EXPECT_EQ("error", Lost("1@2 memset s=L target=P1 dst=A bytes=64\n2@3 copy s=B1 src=A dst=B bytes=64\n"));
}

TEST(OrderGivenUp, NotWhereTheRealLegacyStreamKeepsIt)
{
    const std::string first = "1@2 memset s=L target=P1 dst=A bytes=64\n", kept = "1@3 launch s=L explicit k=_Z5emptyv\n",
                      second = "2@4 copy s=L target=P2 src=A dst=B bytes=64\n";
    EXPECT_EQ("error", Lost(first + second));
    EXPECT_EQ("nothing", Lost(first + kept + second));
    EXPECT_EQ("error", Lost(kept + first + second));
}

/* One edge for all legacy work that is new: some of it the call still comes after, some not. */
TEST(OrderGivenUp, OfOneOfTwoThreads)
{
    EXPECT_EQ("error", Lost("2@2 copy s=L target=P2 src=A dst=H to=pinned bytes=64\n1@3 launch s=L to=P1 k=_Z5emptyv\n"
                            "1@4 copy s=P1 twin src=H from=pinned dst=B bytes=64\n"));
}

TEST(OrderGivenUp, ForTheHost)
{
    const std::string fills = "2@2 copy s=L target=P2 src=A dst=H to=pinned bytes=64\n";
    EXPECT_EQ("warning", Lost(fills + "1@3+9 sync s=L to=P1\n"));
    EXPECT_EQ("nothing", Lost(fills + "2@3+9 sync s=L to=P2\n1@20+9 sync s=L to=P1\n"));
    EXPECT_EQ("note", Lost("2@2 memset s=L target=P2 dst=A bytes=64\n1@3+9 sync s=L to=P1\n"));
    /* ... which then puts work on a stream of its own */
    EXPECT_EQ("error", Lost("2@2 memset s=L target=P2 dst=A bytes=64\n1@3+9 sync s=L to=P1\n"
                            "1@20 copy s=N1 src=A dst=B bytes=64\n"));
    EXPECT_EQ("note", Lost("2@2 memset s=L target=P2 dst=A bytes=64\n1@3+9 sync s=L to=P1\n2@15+2 sync s=L to=P2\n"
                           "1@20 copy s=N1 src=A dst=B bytes=64\n"));
}

/* What the call before gave up is not this call's, which is not run now or not at all. */
TEST(OrderGivenUp, NotOfTheCallAfterIt)
{
    for (const char *after : {"1@3 launch s=N1 k=a capturing\n", "1@3 launch s=N1 k=a result=1\n"}) {
        Built report(BuildTrace(std::string("setting policy=per-thread\n"
                                            "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                                            "1@1 memset s=L target=S1 bytes=64 dst=A\n"
                                            "2@2 memset s=L target=S2 bytes=64 dst=A\n") +
                                after));
        auto findings = report.Of("order-given-up");
        ASSERT_EQ(1u, findings.size()) << report.Text();
        EXPECT_EQ(1u, findings[0]->count) << report.Text();
    }
}

/* Eight waits were remembered, of threads modulo 64. */
TEST(OrderGivenUp, NoWaitIsForgotten)
{
    std::string calls = "1@2 memset s=L target=P1 dst=A bytes=64\n";
    for (int i = 0; i < 40; i++)
        calls += "1@" + std::to_string(10 + i) + " memset s=N" + std::to_string(i % 3) + " dst=B bytes=8 waits=P" +
                 std::to_string(i + 2) + " behind=P1\n";
    EXPECT_EQ("nothing", Lost(calls + "2@90 copy s=L target=P2 src=A dst=0x40000 bytes=64\n"));
    EXPECT_EQ("error", Lost(calls + "90@90 copy s=L target=P90 src=A dst=0x40000 bytes=64\n"));
    std::string threads = "1@2 memset s=L target=P1 dst=A bytes=64\n65@3 memset s=L target=P65 dst=B bytes=64 behind=P1\n";
    EXPECT_EQ("nothing", Lost(threads + "66@90 copy s=L target=P66 src=A dst=0x40000 bytes=64 behind=P65\n"));
}

/* By what kind of order the copy comes after what writes its source, and how large it is. */
TEST(SmallCopy, IsKeptBackByWhatWasAskedForOnly)
{
    auto severity = [](const std::string &calls) {
        Built report(BuildTrace("1@0 alloc m=A ptr=0x1000000 bytes=262144\n"
                                "1@0 alloc m=H ptr=0x2000000 bytes=262144 kind=pinned\n" +
                                calls));
        auto found = report.Of("small-copy");
        return found.empty() ? "nothing" : severity_names[found[0]->severity];
    };
    const std::string fills = "1@1 copy s=B1 src=A dst=H to=pinned bytes=64\n",
                      out = "copy s=L src=H from=pinned dst=A bytes=";
    EXPECT_STREQ("error", severity(fills + "1@9 " + out + "64\n"));
    EXPECT_STREQ("nothing", severity(fills + "1@9 " + out + "65536\n"));
    EXPECT_STREQ("nothing", severity(fills + "1@2 record s=B1 e=E\n1@3 wait s=L e=E\n1@9 " + out + "64\n"));
    EXPECT_STREQ("nothing", severity(fills + "1@2+5 sync s=B1\n1@9 " + out + "64\n"));
    /* what the host has waited for is done, by implicit order as well */
    EXPECT_STREQ("nothing", severity(fills + "2@2+5 sync s=L\n1@9 " + out + "64\n"));
    EXPECT_STREQ("nothing",
                 severity(fills + "2@2+5 copy s=L implicit src=A from=device to=pageable bytes=4\n1@9 " + out + "64\n"));
    EXPECT_STREQ("error", severity(fills + "2@2+5 sync s=N1\n1@9 " + out + "64\n"));
    EXPECT_STREQ("warning", severity(fills + "1@2 launch s=L k=a\n1@9 " + out + "64\n")) << "the stream may be busy";
    EXPECT_STREQ("warning", severity("1@1 launch s=B1 k=_Z5writePf args=H\n1@9 " + out + "64\n"));
    EXPECT_STREQ("error",
                 severity("1@1 copy s=L src=A dst=H to=pinned bytes=64\n1@9 copy s=P1 src=H from=pinned dst=A bytes=64\n"));
    /* one legacy stream for all threads; the guard's events */
    EXPECT_STREQ("nothing", severity("1@1 copy s=L src=A dst=H to=pinned bytes=64\n2@9 " + out + "64\n"));
    EXPECT_STREQ("nothing", severity("setting policy=guarded\n" + fills + "1@9 " + out + "64 target=S1 behind=B1\n"));
    EXPECT_STREQ("nothing", severity("1@1 copy s=B1 src=H from=pinned dst=A bytes=64\n1@9 " + out + "64\n"));
}

TEST(ThreadEnd, OnlyWithWorkPendingWhileTheProcessGoesOn)
{
    const std::string uses = "2@10 alloc-async s=P2 ptr=0x10000 bytes=64\n2@20 launch s=P2 k=a\n", later = "1@40 none\n";
    auto count = [](const std::string &calls) { return Built(BuildTrace(calls)).Of("thread-end").size(); };
    EXPECT_EQ(1u, count(uses + "thread-end 2@30\n" + later));
    EXPECT_EQ(1u, count(uses + "thread-end 2@30\n")) << "no call after it";
    EXPECT_EQ(0u, count(uses + later)) << "it goes on";
    EXPECT_EQ(0u, count(uses + "2@21+5 sync s=P2\nthread-end 2@30\n" + later));
    EXPECT_EQ(0u, count(uses + "1@25+90 ctx-sync\nthread-end 2@120\n1@130 none\n"));
    EXPECT_EQ(1u, count(uses + "1@25+90 ctx-sync\nthread-end 2@50\n3@60 none\n"));
    EXPECT_EQ(1u, count("2@10 alloc-async s=L to=P2 ptr=0x10000 bytes=64\nthread-end 2@30\n" + later));
    EXPECT_EQ(0u, count("2@10 alloc-async s=L to=S1 ptr=0x10000 bytes=64\nthread-end 2@30\n" + later));
}

} // namespace
} // namespace ptds
