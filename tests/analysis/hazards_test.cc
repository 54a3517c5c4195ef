// SPDX-License-Identifier: Apache-2.0
//
// What the rules about waits, locks, events and threads promise beyond their own two traces: the cases next to the hazard
// that must stay silent, the costs, and whom they charge.
#include <gtest/gtest.h>

#include <algorithm>

#include <algorithm>

#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

uint64_t Number(const finding *finding, const std::string &key)
{
    for (const finding_number &number : finding->numbers)
        if (number.key != nullptr && key == number.key)
            return number.value;
    return 0;
}

std::string Case(const finding *finding)
{
    return finding->rule->details != nullptr ? finding->rule->details[finding->detail] : "";
}

bool HasId(const finding *finding, finding_set set, uint32_t id)
{
    const finding_ids &ids = finding->sets[set];
    return std::find(ids.id, ids.id + ids.count, id) != ids.id + ids.count;
}

std::string Repeat(const std::string &text, unsigned times)
{
    std::string all;
    while (times-- != 0)
        all += text;
    return all;
}

const char two_streams[] = "1@0+5 alloc ptr=0x10000 bytes=4096\n"
                           "1@10+5 alloc ptr=0x20000 bytes=4096\n"
                           "1@20 launch s=N1 k=mine args=0x10000\n"
                           "2@25 launch s=N2 k=theirs args=0x20000\n"
                           "1@30+5000 ctx-sync\n";

TEST(OverWideSync, NamesTheStreamThatWasNotNeededAndTakesTheCost)
{
    Built report(BuildTrace(std::string(two_streams) + "1@5100 launch s=N3 k=next args=0x10100\n"
                                                       "2@5200+3 sync s=N2\n"));
    auto findings = report.Of("over-wide-sync");
    ASSERT_EQ(1u, findings.size()) << report.Text();
    EXPECT_EQ(1u, findings[0]->sets[FINDING_WAITS_FOR].count);
    EXPECT_TRUE(HasId(findings[0], FINDING_WAITS_FOR, 2));
    EXPECT_EQ(1u, Number(findings[0], "streams_needed"));
    EXPECT_EQ(1u, Number(findings[0], "streams_not_needed"));
    EXPECT_EQ(4980000u, findings[0]->host_ns) << "5 ms, less what a quick one may take";
    EXPECT_TRUE(report.Of("device-wide-sync").empty()) << "no time is counted twice";
}

TEST(OverWideSync, AStreamWhoseMemoryIsUsedAfterwardsWasNeeded)
{
    for (const char *use : {"1@5100 launch s=N3 k=next args=0x20010\n",
                            "1@5100+30 copy s=L implicit from=device to=pageable src=0x20800 ptr=0x7f0000000000 bytes=4\n",
                            "1@5100+10 free ptr=0x20000\n"}) {
        Built report(BuildTrace(two_streams + std::string(use) + "2@5200+3 sync s=N2\n1@5300+3 sync s=N1\n"));
        auto findings = report.Of("over-wide-sync");
        ASSERT_EQ(1u, findings.size()) << use;
        EXPECT_FALSE(HasId(findings[0], FINDING_WAITS_FOR, 2)) << use;
        EXPECT_EQ(1u, Number(findings[0], "streams_needed")) << use;
    }
}

/* While nobody knows yet what of a wide wait was needed, another wait of that thread on one of its streams may stand for
 * it; one on a stream that had nothing does not. */
TEST(OverWideSync, AWaitOnAnotherStreamIsUselessMeanwhile)
{
    const std::string before = "1@0 launch s=N3 k=old args=0x30000\n1@2+5 sync s=N3\n",
                      later = "1@9000 launch s=N1 k=end args=0x10000\n";
    Built other(BuildTrace(before + two_streams + "1@5100+3 sync s=N3\n" + later));
    EXPECT_EQ(1u, other.Of("useless-sync").size()) << other.Text();
    Built same(BuildTrace(before + two_streams + "1@5100+3 sync s=N2\n" + later));
    EXPECT_TRUE(same.Of("useless-sync").empty()) << same.Text();
}

/* However much is pending, and wherever among it the use is. */
TEST(OverWideSync, MuchPendingWorkIsAllLookedInto)
{
    std::string before = "1@0+5 alloc ptr=0x10000 bytes=4096\n1@10+5 alloc ptr=0x20000 bytes=4096\n"
                         "1@15+3 alloc ptr=0x30000 bytes=4096\n1@20 launch s=N1 k=mine args=0x10000\n",
                it = "2@25 launch s=N2 k=theirs args=0x20000\n", other = "2@25 launch s=N2 k=theirs args=0x30000\n",
                then =
                    "1@30+5000 ctx-sync\n1@5100 launch s=N3 k=next args=0x20010\n2@5200+3 sync s=N2\n1@5300+3 sync s=N1\n";
    for (unsigned many : {0u, 1u, 62u, 63u, 64u, 65u, 127u, 200u})
        for (const std::string &pending : {it + Repeat(other, many), Repeat(other, many) + it}) {
            Built report(BuildTrace(before + pending + then));
            auto findings = report.Of("over-wide-sync");
            ASSERT_EQ(1u, findings.size()) << many;
            EXPECT_TRUE(HasId(findings[0], FINDING_WAITS_FOR, 1)) << many;
            EXPECT_FALSE(HasId(findings[0], FINDING_WAITS_FOR, 2)) << many;
        }
}

TEST(OverWideSync, WhatCannotBeKnownIsNotSaid)
{
    for (const char *unknown : {"", /* the trace ends */
                                "1@5100 graph-launch s=N3 opaque\n2@5200+3 sync s=N2\n1@5400+9 sync s=N3\n",
                                "1@5100 launch s=N3 k=hides\n2@5200+3 sync s=N2\n1@5400+9 sync s=N3\n"}) {
        Built report(BuildTrace(std::string(two_streams) + unknown));
        EXPECT_TRUE(report.Of("over-wide-sync").empty()) << unknown;
        EXPECT_EQ(unknown[0] != 0 ? 1u : 0u, report.Of("device-wide-sync").size()) << unknown;
    }
}

/* Memory that a launch reaches by pointers in memory stands in no word that is an address. */
TEST(OverWideSync, WhatALaunchReachesIsUsed)
{
    const std::string before = "1@0+5 alloc m=A ptr=0x10000 bytes=4096\n1@5+5 alloc m=B ptr=0x20000 bytes=4096\n"
                               "1@10+5 alloc m=C ptr=0x30000 bytes=4096\n"
                               "1@20 launch s=N1 k=mine args=A\n2@25 launch s=N2 k=theirs args=B\n1@30+5000 ctx-sync\n",
                      after = "2@5200+3 sync s=N2\n1@5400+9 sync s=N1\n";
    EXPECT_EQ(1u, Built(BuildTrace(before + "1@5100 launch s=N3 k=next args=A,C\n" + after)).Of("over-wide-sync").size());
    for (const char *reaches : {"B", "=B", "C"}) {
        Built report(BuildTrace(before + "1@5100 launch s=N3 k=next args=A,C reaches=" + reaches + "\n" + after));
        EXPECT_TRUE(report.Of("over-wide-sync").empty()) << report.Text();
    }
}

/* The host may read what a kernel or a copy left in host memory, and no trace shows that. */
TEST(OverWideSync, HostMemoryKeepsAStreamUnknown)
{
    std::string pinned = "1@0+5 alloc-host ptr=0x7f0000000000 bytes=4096\n"
                         "1@20 launch s=N1 k=a args=0x7f0000000000\n"
                         "2@25 launch s=N2 k=b args=0x7f0000000000\n"
                         "1@30+5000 ctx-sync\n";
    Built more(BuildTrace(pinned + "1@5100 launch s=N1 k=a\n1@5110+900 sync s=N1\n"));
    EXPECT_TRUE(more.Of("over-wide-sync").empty()) << more.Text();
    Built again(BuildTrace(pinned + "1@5110+3 sync s=N1\n2@5200+3 sync s=N2\n"));
    EXPECT_TRUE(again.Of("over-wide-sync").empty()) << again.Text();
}

TEST(OverWideSync, AReadTimeIsAUse)
{
    Built report(BuildTrace(std::string(two_streams) + "1@5100 elapsed e=E\n2@5200+3 sync s=N2\n1@5300+3 sync s=N1\n"));
    EXPECT_TRUE(report.Of("over-wide-sync").empty()) << report.Text();
}

TEST(OverWideSync, TheLegacyStreamIsAWaitForOthers)
{
    Built report(BuildTrace("1@0+5 alloc ptr=0x10000 bytes=4096\n"
                            "1@10+5 alloc ptr=0x20000 bytes=4096\n"
                            "1@20 launch s=L k=mine args=0x10000\n"
                            "2@25 launch s=B1 k=theirs args=0x20000\n"
                            "1@30+5000 sync s=L\n"
                            "2@5200+3 sync s=B1\n"));
    auto findings = report.Of("over-wide-sync");
    ASSERT_EQ(1u, findings.size()) << report.Text();
    EXPECT_NE(std::string::npos, Case(findings[0]).find("legacy"));
}

TEST(UselessSync, ASecondWaitCostsWhatItTakes)
{
    Built report(BuildTrace("1@0 launch s=N1 k=a\n"
                            "1@10+900 sync s=N1\n"
                            "1@1000+15 ctx-sync\n"
                            "1@2000+20 sync s=N1\n"));
    auto findings = report.Of("useless-sync");
    ASSERT_EQ(2u, findings.size()) << report.Text();
    EXPECT_EQ(35000u, findings[0]->host_ns + findings[1]->host_ns);
}

TEST(UselessSync, TheFirstWaitOfAnotherThreadIsNotUseless)
{
    Built report(BuildTrace("1@0 launch s=N1 k=a\n"
                            "1@10+900 sync s=N1\n"
                            "2@1000+3 sync s=N1\n"
                            "2@1100+3 sync s=N1\n"));
    auto findings = report.Of("useless-sync");
    ASSERT_EQ(1u, findings.size()) << report.Text();
    EXPECT_EQ(1u, findings[0]->count);
}

TEST(UselessSync, AWaitThatBringsInAnotherStreamIsNotUseless)
{
    Built report(BuildTrace("1@0 launch s=N1 k=a\n"
                            "1@10+900 sync s=N1\n"
                            "1@1000 launch s=N2 k=b\n"
                            "1@1001 record s=N2 e=E\n"
                            "1@1002 wait s=N1 e=E\n"
                            "1@1010+900 sync s=N1\n"));
    EXPECT_TRUE(report.Of("useless-sync").empty()) << report.Text();
}

/* Nine waits of so many us, each of them in a round of 1 ms. */
std::string WaitsInALoop(const std::string &us)
{
    std::string text = "1@0+5 alloc ptr=0x10000 bytes=4096\n";
    for (int i = 0; i < 9; i++)
        text += "1@" + std::to_string(i) + "010 launch s=N1 k=a args=0x10000\n1@" + std::to_string(i) + "020+" + us +
                " sync s=N1\n";
    return text + "1@9010 launch s=N1 k=a args=0x10000\n"
                  "1@9050+900 copy s=N1 to=pageable src=0x10000 ptr=0x7f0000000000 bytes=4096\n";
}

TEST(UselessSync, BetweenKernelsOfOneStreamOnDeviceMemory)
{
    Built report(BuildTrace(WaitsInALoop("985")));
    auto findings = report.Of("useless-sync");
    ASSERT_EQ(1u, findings.size()) << report.Text();
    EXPECT_NE(std::string::npos, Case(findings[0]).find("nothing used"));
    EXPECT_EQ(8u * 10000u + 40000u, findings[0]->host_ns) << "from the thread's next call on to where it had to wait";
    EXPECT_EQ(SEVERITY_NOTE, findings[0]->severity);
}

/* Leaving these out saves 90 us each, unless the wait is for what the host does in the 80 us behind it. */
TEST(UselessSync, WhatTheHostDoesBehindAWaitMakesTheSavingUnknown)
{
    Built report(BuildTrace(WaitsInALoop("900")));
    auto findings = report.Of("useless-sync");
    ASSERT_EQ(1u, findings.size()) << report.Text();
    EXPECT_EQ(9u, findings[0]->unknown);
    EXPECT_EQ(0u, findings[0]->known);
}

/* The host may read its clock after a batch; and a wait before the copy of its result only waits in the copy's place. */
TEST(UselessSync, TheEndOfABatchAndAWaitThatWouldOnlyMoveAreNone)
{
    Built batch(BuildTrace("1@0+5 alloc ptr=0x10000 bytes=4096\n"
                           "1@10 launch s=N1 k=a args=0x10000\n"
                           "1@11 launch s=N1 k=a args=0x10000\n"
                           "1@12 launch s=N1 k=a args=0x10000\n"
                           "1@20+900 sync s=N1\n"
                           "1@1000 launch s=N1 k=a args=0x10000\n"
                           "1@1010+900 sync s=N1\n"));
    EXPECT_TRUE(batch.Of("useless-sync").empty()) << batch.Text();
    Built moved(BuildTrace("1@0+5 alloc ptr=0x10000 bytes=4096\n"
                           "1@10 launch s=N1 k=a args=0x10000\n"
                           "1@20+900 ctx-sync\n"
                           "1@1000+900 copy s=N1 to=pageable src=0x10000 ptr=0x7f0000000000 bytes=4096\n"
                           "1@2000 launch s=N1 k=a args=0x10000\n"));
    EXPECT_TRUE(moved.Of("useless-sync").empty()) << moved.Text();
}

/* It waited for something: the order that a policy added, a staged copy. */
TEST(UselessSync, AWaitThatTookLongHadSomethingToWaitFor)
{
    Built report(BuildTrace("1@0 launch s=N1 k=a\n"
                            "1@10+900 sync s=N1\n"
                            "1@1000+5000 sync s=N1\n"));
    EXPECT_TRUE(report.Of("useless-sync").empty()) << report.Text();
}

TEST(UselessSync, AnElapsedTimeReliesOnTheWaitBeforeIt)
{
    const std::string begin = "1@0 launch s=N1 k=a\n"
                              "1@5 record s=N1 e=E\n"
                              "1@10+900 sync s=N1\n"
                              "1@1000+3 event-sync e=E\n";
    EXPECT_TRUE(Built(BuildTrace(begin + "1@1010 elapsed e=E\n")).Of("useless-sync").empty());
    EXPECT_EQ(1u, Built(BuildTrace(begin + "2@1010 elapsed e=E\n")).Of("useless-sync").size());
}

TEST(UselessSync, StartUpIsNone)
{
    const std::string upload = "1@0+5 alloc ptr=0x10000 bytes=4096\n"
                               "1@10 memset s=N1 ptr=0x10000 to=device bytes=4096\n"
                               "1@20+900 sync s=N1\n"
                               "1@1000 memset s=N1 ptr=0x10000 to=device bytes=4096\n"
                               "1@2000+900 sync s=N1\n"
                               "1@2950+3 sync s=N1\n";
    EXPECT_TRUE(Built(BuildTrace(upload + "1@3000 launch s=N1 k=a args=0x10000\n")).Of("useless-sync").empty());
    EXPECT_EQ(1u, Built(BuildTrace("2@0 launch s=N2 k=a args=0x20000\n" + upload)).Of("useless-sync").size());
}

TEST(UselessSync, SaysNothingOfATraceWithGaps)
{
    TraceBuilder builder;
    builder.Api(1, "cuStreamSynchronize");
    builder.Stream(1, PTDS_STREAM_NON_BLOCKING);
    CallSpec launch, sync;
    launch.op = PTDS_OP_LAUNCH;
    sync.op = PTDS_OP_STREAM_SYNC;
    launch.stream = launch.target = sync.stream = sync.target = 1;
    launch.enter = 1;
    builder.Call(launch);
    for (sync.enter = 2; sync.enter < 4; sync.enter++)
        builder.Call(sync);
    EXPECT_EQ(1u, Built(builder.Bytes()).Of("useless-sync").size());
    builder.Lost(1, 3);
    EXPECT_TRUE(Built(builder.Bytes()).Of("useless-sync").empty());
}

TEST(LazyLoad, ChargesTheLoadWithWhatOthersLost)
{
    Built report(BuildTrace("2@0+4 copy s=N1 from=device to=pinned bytes=4\n"
                            "2@20+4 sync s=N1\n"
                            "3@30+4 memset s=N2 to=device bytes=4\n"
                            "1@100+30000 module-load site=load\n"
                            "2@200+29903 copy s=N1 from=device to=pinned bytes=4 site=victim\n"
                            "3@20100+10004 memset s=N3 to=device bytes=4\n"));
    auto findings = report.Of("lazy-load-holds-others");
    ASSERT_EQ(1u, findings.size()) << report.Text();
    EXPECT_EQ(1u, findings[0]->count) << "one load";
    EXPECT_EQ(2u, Number(findings[0], "held_calls"));
    EXPECT_TRUE(HasId(findings[0], FINDING_HELD, 2));
    EXPECT_TRUE(HasId(findings[0], FINDING_HELD, 3));
    EXPECT_TRUE(HasId(findings[0], FINDING_THREADS, 1));
    const uint64_t usual = 4095; /* of a call of 4 us, as durations are kept */
    EXPECT_EQ((29903000 - usual) + (10004000 - usual), findings[0]->host_ns);
    EXPECT_NE(std::string::npos, report.Text().find("held threads"));
    EXPECT_NE(std::string::npos, report.Text().find(" in 2 calls, those that were held up among them\n")) << report.Text();
}

TEST(LazyLoad, AWaitForTheGpuIsNoVictim)
{
    Built report(BuildTrace("2@0+4 sync s=N1\n"
                            "2@10 launch s=N1 k=long\n"
                            "1@100+30000 module-load\n"
                            "2@200+29903 sync s=N1\n"));
    EXPECT_TRUE(report.Of("lazy-load-holds-others").empty()) << report.Text();
}

TEST(BlockingPin, SizeCountsAndSoDoVictims)
{
    Built report(BuildTrace("2@0 launch s=N1 k=first\n"
                            "2@0+4 copy s=N1 from=device to=pinned bytes=4\n"
                            "2@20+4 sync s=N1\n"
                            "1@100+90000 alloc-host ptr=0x7f0000000000 bytes=80000000 site=pin\n"
                            "2@200+89903 copy s=N1 from=device to=pinned bytes=4\n"));
    auto findings = report.Of("blocking-pin");
    ASSERT_EQ(2u, findings.size()) << report.Text();
    for (const finding *finding : findings) {
        bool held = Case(finding).find("held up") != std::string::npos;
        EXPECT_EQ(held ? 0u : 80000000u, Number(finding, "largest_bytes"));
        EXPECT_EQ(held ? 89903000u - 4095 : 90000000u - 200000, finding->host_ns);
    }
    EXPECT_TRUE(report.Of("lock-contention").empty());
    EXPECT_TRUE(report.Of("blocking-alloc").empty());
}

TEST(BlockingAlloc, LongWithNothingPendingIsANote)
{
    Built report(BuildTrace("1@0 launch s=N1 k=first\n"
                            "1@1+3 sync s=N1\n"
                            "1@10+20000 alloc ptr=0x10000 bytes=4096\n"));
    auto findings = report.Of("blocking-alloc");
    ASSERT_EQ(1u, findings.size());
    EXPECT_EQ(SEVERITY_NOTE, findings[0]->severity);
    EXPECT_NE(std::string::npos, Case(findings[0]).find("nothing pending"));
}

TEST(LockContention, OnceMayBeChance)
{
    std::string once = "1@0+2 copy s=N1 from=device to=pinned bytes=4\n"
                       "2@10+2 memset s=N2 to=device bytes=4\n"
                       "1@20+3 sync s=N1\n"
                       "2@30+3 sync s=N2\n"
                       "1@100+800 copy s=N1 from=device to=pinned bytes=4\n"
                       "2@150+752 memset s=N2 to=device bytes=4\n";
    EXPECT_TRUE(Built(BuildTrace(once)).Of("lock-contention").empty());
    Built twice(BuildTrace(once + "1@1000+800 copy s=N1 from=device to=pinned bytes=4\n"
                                  "2@1150+652 memset s=N2 to=device bytes=4\n"));
    auto findings = twice.Of("lock-contention");
    ASSERT_EQ(1u, findings.size()) << twice.Text();
    EXPECT_EQ((752000u - 2047) + (652000 - 2047), findings[0]->host_ns);
}

TEST(LockContention, WhatIsAlwaysSlowIsNotHeldUp)
{
    Built report(BuildTrace("1@0+800 memset s=N1 to=device bytes=4\n2@50+752 alloc ptr=0x1000 bytes=8\n"
                            "1@1000+800 memset s=N1 to=device bytes=4\n2@1050+752 alloc ptr=0x1000 bytes=8\n"));
    EXPECT_TRUE(report.Of("lock-contention").empty()) << report.Text();
}

TEST(HostFunction, HeldStreamsAreNamedWhereTheRunsShowIt)
{
    const char calls[] = "1@0 host-function s=N1 site=slow\n"
                         "1@20 host-function s=N2 site=quick\n";
    std::string one_thread = "host-run 1@0 5+3000 s=N1 tid=7\nhost-run 1@20 3010+2 s=N2 tid=7\n";
    std::string two_threads = "host-run 1@0 5+3000 s=N1 tid=7\nhost-run 1@20 3010+2 s=N2 tid=8\n";
    Built held(BuildTrace(calls + one_thread));
    auto findings = held.Of("host-function-serialises");
    ASSERT_EQ(1u, findings.size()) << held.Text();
    EXPECT_TRUE(HasId(findings[0], FINDING_STREAMS, 2));
    EXPECT_EQ(3000000u, Number(findings[0], "longest_run_ns"));
    EXPECT_TRUE(Built(BuildTrace(calls + two_threads)).Of("host-function-serialises").empty());
}

TEST(HostFunction, WithoutRunsItIsStructure)
{
    Built report(BuildTrace("1@0 host-function s=N1\n1@10 launch s=N1 k=after\n1@20 launch s=N1 k=after\n"));
    auto findings = report.Of("host-function-serialises");
    ASSERT_EQ(1u, findings.size()) << report.Text();
    EXPECT_EQ(1u, findings[0]->count);
    EXPECT_EQ(1u, Number(findings[0], "not_seen_to_run"));
    EXPECT_EQ(0u, findings[0]->known);
}

/* The third is behind the first on its stream, and held by the second on the thread that runs them all. */
TEST(HostFunction, HeldByEachThatIsPendingOnAnotherStream)
{
    Built report(
        BuildTrace("1@0 host-function s=N1 site=a\n1@20 host-function s=N2 site=b\n1@40 host-function s=N1 site=c\n"));
    uint64_t held = 0;
    for (const finding *finding : report.Of("host-function-serialises"))
        held += Number(finding, "held_host_functions");
    EXPECT_EQ(2u, held) << report.Text();
}

TEST(HardwareQueues, TheSettingDecides)
{
    std::string four;
    for (unsigned i = 1; i <= 4; i++)
        four += "1@" + std::to_string(i) + " launch s=N" + std::to_string(i) + " k=a\n";
    EXPECT_TRUE(Built(BuildTrace(four)).Of("hardware-queues").empty());
    EXPECT_TRUE(Built(BuildTrace("setting CUDA_DEVICE_MAX_CONNECTIONS=4\n" + four)).Of("hardware-queues").empty());
    Built three(BuildTrace("setting CUDA_DEVICE_MAX_CONNECTIONS=3\n" + four));
    auto findings = three.Of("hardware-queues");
    ASSERT_EQ(1u, findings.size());
    EXPECT_EQ(4u, Number(findings[0], "streams_at_once"));
    EXPECT_EQ(3u, Number(findings[0], "queues"));
}

/* A report on a thread is about its calls alone, though what they meet is others', too. */
TEST(HardwareQueues, OfASelectionItsOwnCalls)
{
    const std::string trace = BuildTrace("setting CUDA_DEVICE_MAX_CONNECTIONS=2\n1@1 launch s=N1 k=a\n1@2 launch s=N2 k=a\n"
                                         "1@3 launch s=N3 k=a\n2@4 launch s=N1 k=a\n");
    struct selection selection = {};
    for (const char *thread : {"1", "2"}) {
        selection.thread = thread;
        EXPECT_EQ(thread[0] == '1' ? 1u : 0u, Built(trace, selection).Of("hardware-queues").size()) << thread;
    }
}

/* Thread 3 makes its first call on the stream when thread 2, which is known of before, has long made others. */
TEST(Selection, AThreadLivesFromItsFirstCallOfIt)
{
    const std::string trace = BuildTrace("1@0 launch s=N1 k=a\n2@10 launch s=N1 k=a\n3@20 launch s=N2 k=a\n"
                                         "2@1000 launch s=N2 k=a\n2@1100 launch s=N2 k=a\n3@1200 launch s=N2 k=a\n");
    struct selection selection = {};
    selection.stream = 2;
    EXPECT_EQ(1180000u + 100000u, Built(trace, selection)->totals.threads_ns);
}

const std::string races = "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                          "1@20 launch s=N1 k=_Z5writePf args=A\n"
                          "1@21 copy s=N2 src=A to=pinned dst=0x7f0000000000 bytes=64\n";

/* The program's race is a finding, and the run is right. */
TEST(UnorderedConflict, UnderStrictIsOrdered)
{
    Built report(BuildTrace("setting policy=strict\n" + races));
    ASSERT_EQ(1u, report.Of("unordered-conflict").size()) << report.Text();
    EXPECT_EQ(DOUBT_NONE, report.Of("unordered-conflict")[0]->doubt);
    EXPECT_NE(std::string::npos,
              report.Text().find("Right: strict ordered 1 conflict that the program does not order (unordered-conflict)\n"))
        << report.Text();
    Built guarded(BuildTrace("setting policy=guarded\n" + races));
    EXPECT_EQ(std::string::npos, guarded.Text().find("strict")) << guarded.Text();
    EXPECT_NE(std::string::npos, guarded.Text().find("May be wrong: #1 unordered-conflict")) << guarded.Text();
}

TEST(ProcessSwitch, IsABannerInEveryReport)
{
    Built report(BuildTrace("setting CUDA_LAUNCH_BLOCKING=1\n1@0 launch s=N1 k=a\n"));
    EXPECT_EQ(0u, report.Text().find("!! process-switch: every launch waits for its kernel: CUDA_LAUNCH_BLOCKING=1"));
    EXPECT_EQ(0u, report.Summary().find("ptds: !! all of this run is changed by CUDA_LAUNCH_BLOCKING=1"));
}

TEST(ProcessSwitch, ToolsAndContextFlags)
{
    Built tools(BuildTrace("setting CUDA_INJECTION64_PATH=/opt/tool.so\n"
                           "setting LD_PRELOAD=/opt/nsys/libToolsInjectionProxy64.so\n"));
    EXPECT_EQ(2u, tools.Of("process-switch").size());
    Built flags(BuildTrace("1@0 config flags=0x80\n1@10 config flags=0x88 result=1\n"
                           "1@20 config api=cuPointerSetAttribute flags=6\n"));
    EXPECT_EQ(2u, flags.Of("process-switch").size()) << flags.Text();
}

TEST(DeadlockRisk, OnlyWhatWaitsUnasked)
{
    EXPECT_EQ(1u, Built(BuildTrace("1@0 launch s=B1 k=my_persistent_loop\n"
                                   "1@10+5000 copy s=L implicit from=device to=pageable bytes=4\n"))
                      .Of("deadlock-risk")
                      .size());
    for (const char *silent : {"1@10+5000 sync s=N1\n", "1@10+5000 ctx-sync\n", "1@10+9 free ptr=0x1000\n"})
        EXPECT_TRUE(Built(BuildTrace(std::string("1@0 launch s=N1 k=ncclKernel_x\n") + silent)).Of("deadlock-risk").empty())
            << silent;
}

TEST(DeadlockRisk, AKernelThatMuchLaterWorkHasOvertaken)
{
    std::string others;
    for (unsigned i = 0; i < 300; i++)
        others += "1@" + std::to_string(10 + i) + " launch s=N2 k=short\n";
    Built report(BuildTrace("1@0 launch s=N1 k=unnamed\n" + others + "1@400+30 sync s=N2\n1@500+5000 free ptr=0x1000\n"));
    auto findings = report.Of("deadlock-risk");
    ASSERT_EQ(1u, findings.size()) << report.Text();
    EXPECT_NE(std::string::npos, Case(findings[0]).find("overtaken"));
    Built recent(BuildTrace(others + "1@400+30 sync s=N2\n1@450 launch s=N1 k=unnamed\n1@500+5000 free ptr=0x1000\n"));
    EXPECT_TRUE(recent.Of("deadlock-risk").empty());
}

TEST(DeadlockRisk, ACallThatNeverReturned)
{
    const char hung[] = "1@0 launch s=N1 k=spin\n"
                        "killed\n"
                        "in-flight 1@10 free ptr=0x1000 site=stuck\n";
    Built report(BuildTrace(std::string(hung) + "2@2000000 none\n"));
    auto findings = report.Of("deadlock-risk");
    ASSERT_EQ(1u, findings.size()) << report.Text();
    EXPECT_EQ(SEVERITY_ERROR, findings[0]->severity);
    EXPECT_TRUE(HasId(findings[0], FINDING_WAITS_FOR, 1));
    Built killed(BuildTrace(std::string(hung) + "2@2000 none\n"));
    ASSERT_EQ(1u, killed.Of("deadlock-risk").size());
    EXPECT_EQ(SEVERITY_WARNING, killed.Of("deadlock-risk")[0]->severity) << "two milliseconds are no hang";
}

/* A chunk that is damaged says nothing of calls, however much of it is left. */
TEST(DeadlockRisk, NoCallOfADamagedChunk)
{
    std::string bytes =
        BuildTrace("1@0 launch s=N1 k=spin\nkilled\nin-flight 1@10 free ptr=0x1000 site=stuck\n2@2000000 none\n");
    ptds_trace_header header;
    memcpy(&header, bytes.data(), sizeof header);
    int counts = 0;
    for (size_t at = header.header_size; at + header.chunk_size <= bytes.size(); at += header.chunk_size) {
        auto *chunk = reinterpret_cast<ptds_chunk *>(&bytes[at]);
        counts += chunk->kind == PTDS_CHUNK_COUNTS;
        chunk->magic ^= chunk->kind == PTDS_CHUNK_COUNTS ? 1 : 0;
    }
    EXPECT_LT(0, counts);
    EXPECT_TRUE(Built(bytes).Of("deadlock-risk").empty());
}

/* What the call says of itself decides whether it waits, as it does for one that returned. */
TEST(DeadlockRisk, OnlyACallThatWaitsCanHaveHung)
{
    auto hung = [](const std::string &call) {
        return BuildTrace("1@0 launch s=B1 k=spin\n1@5 record s=B1 e=E\nkilled\nin-flight 1@10 " + call +
                          " site=stuck\n2@2000000 none\n");
    };
    for (const char *waits : {"free ptr=0x1000", "ctx-sync", "sync s=B1", "sync s=L", "event-sync e=E",
                              "copy s=L implicit from=device to=pageable bytes=4"}) {
        Built report(hung(waits));
        auto findings = report.Of("deadlock-risk");
        ASSERT_EQ(1u, findings.size()) << waits << report.Text();
        EXPECT_TRUE(HasId(findings[0], FINDING_WAITS_FOR, 1)) << waits;
    }
    /* A program that polls is killed in a query as a rule. */
    for (const char *silent : {"sync s=N2", "sync s=B2", "query s=B1", "query s=L", "event-query e=E", "launch s=N2 k=next",
                               "free ptr=0", "copy s=L implicit from=device to=device bytes=4"})
        EXPECT_TRUE(Built(hung(silent)).Of("deadlock-risk").empty()) << silent;
}

/* Each is looked at when it ends, not at the end of the trace, when all is done. */
TEST(ThreadEnd, EachOfSeveralThreads)
{
    std::string text;
    for (unsigned thread = 2; thread < 6; thread++) {
        std::string id = std::to_string(thread);
        text += id + "@" + id + "0 alloc-async s=P" + id + " ptr=0x" + id + "0000 bytes=64\n";
    }
    for (unsigned thread : {4, 2, 5, 3})
        text += "thread-end " + std::to_string(thread) + "@" + std::to_string(100 + thread * 10) + "\n";
    for (unsigned i = 0; i < 20; i++)
        text += "1@" + std::to_string(90 + i * 5) + " none\n";
    Built report(BuildTrace(text + "1@200+50 ctx-sync\n1@300 none\n"));
    std::string threads;
    for (const finding *finding : report.Of("thread-end"))
        for (size_t i = 0; i < finding->sets[FINDING_THREADS].count; i++)
            threads += std::to_string(finding->sets[FINDING_THREADS].id[i]);
    std::sort(threads.begin(), threads.end());
    EXPECT_EQ("2345", threads) << report.Text();
}

/* A kernel that never ends is no error where the record of its end may be missing, unless the call hangs for long. */
TEST(DeadlockRisk, ACallThatNeverReturnedAcrossAGap)
{
    const std::string hung = "1@0 launch s=N1 k=persistent\nkilled\nin-flight 1@10 free ptr=0x1000 site=stuck\n";
    auto worst = [&](const std::string &more) {
        Built report(BuildTrace(hung + more));
        auto findings = report.Of("deadlock-risk");
        EXPECT_EQ(1u, findings.size()) << report.Text();
        return findings.empty() ? SEVERITY_NOTE : findings[0]->severity;
    };
    EXPECT_EQ(SEVERITY_ERROR, worst("2@2000 none\n"));
    for (const char *gap : {"recycled\n", "refused\n", "lost 2@1 sync s=N1\n"}) {
        EXPECT_EQ(SEVERITY_WARNING, worst(std::string(gap) + "2@2000 none\n")) << gap;
        EXPECT_EQ(SEVERITY_ERROR, worst(std::string(gap) + "2@2000000 none\n")) << gap;
    }
}

TEST(EventMisuse, NeverRecordedRecordedAgainAndTimedForNothing)
{
    Built report(BuildTrace("1@0 event-create e=E flags=2\n"
                            "1@10 wait s=N1 e=E\n"
                            "1@20 record s=N1 e=E\n"
                            "2@30 record s=N2 e=E\n"
                            "1@40+3 event-sync e=E\n"
                            "1@50 event-create e=T flags=0\n" +
                            Repeat("1@60 record s=N1 e=T\n1@60 wait s=N2 e=T\n", 20)));
    EXPECT_EQ(3u, report.Of("event-misuse").size()) << report.Text();
    for (const struct finding *one : report.Of("event-misuse"))
        EXPECT_NE(SEVERITY_ERROR, one->severity) << "no call shows that the event was not handed over";
}

TEST(EventMisuse, WhoseRecordingAWaitGotIsSaid)
{
    Built report(BuildTrace("1@0 event-create e=E flags=2\n"
                            "1@20 record s=N1 e=E\n"
                            "2@30 record s=N2 e=E\n"
                            "1@40+3 event-sync e=E\n"));
    auto findings = report.Of("event-misuse");
    ASSERT_EQ(1u, findings.size()) << report.Text();
    EXPECT_TRUE(HasId(findings[0], FINDING_THREADS, 2)) << report.Text();
    EXPECT_TRUE(HasId(findings[0], FINDING_WAITS_FOR, 2)) << "N2, the second stream";
    EXPECT_FALSE(HasId(findings[0], FINDING_WAITS_FOR, 1)) << "what it recorded itself is no longer in the event";
}

/* They are judged when they are destroyed, and at the end. */
TEST(EventMisuse, TheFirstAndTheLastOfSeveralAreSoByTime)
{
    std::string text = "1@5 event-create e=Kept flags=0 site=pool\n1@7 event-create e=Gone flags=0 site=pool\n"
                       "1@9 event-create e=Last flags=0 site=pool\n";
    for (const char *event : {"Kept", "Gone", "Last"}) {
        for (int i = 0; i < 16; i++)
            text += std::string("1@10 record s=N1 e=") + event + "\n";
        text += std::string("1@10 wait s=N2 e=") + event + "\n";
    }
    Built report(BuildTrace(text + "1@20 event-destroy e=Gone\n"));
    auto findings = report.Of("event-misuse");
    ASSERT_EQ(1u, findings.size()) << report.Text();
    EXPECT_EQ(3u, findings[0]->count);
    EXPECT_EQ(5000u, findings[0]->first);
    EXPECT_EQ(9000u, findings[0]->last);
}

/* A ring of two buffers: the first round waits for nothing, and the thread comes by again. cuBLASXt does so. */
TEST(EventMisuse, TheFirstRoundOfARingIsNoDoubt)
{
    const std::string make = "1@0 event-create e=E flags=2\n", first = "1@10 wait s=N1 e=E site=ring\n",
                      round = "1@20 launch s=N2 k=a\n1@30 record s=N2 e=E\n", again = "1@40 wait s=N1 e=E site=ring\n";
    Built ring(BuildTrace(make + first + round + again));
    auto findings = ring.Of("event-misuse");
    ASSERT_EQ(1u, findings.size()) << ring.Text();
    EXPECT_EQ(SEVERITY_NOTE, findings[0]->severity);
    EXPECT_EQ(DOUBT_NONE, findings[0]->doubt) << ring.Text();
    EXPECT_EQ(1u, findings[0]->count);

    const std::string doubted[] = {
        make + first + round,                                        /* it never comes by again */
        make + first + "1@30 event-destroy e=E\n",                   /* nor records at all */
        make + first + "2@30 record s=N2 e=E\n1@40 wait s=N1 e=E\n", /* another thread's recording, */
        make + "2@5 wait s=N1 e=E site=ring\n" + round + again,      /* another thread's wait */
        make + first + round + again +
            "1@50 event-create e=F flags=2\n" /* one ring, and at the same place one that is none */
            "1@60 wait s=N1 e=F site=ring\n",
    };
    for (const std::string &text : doubted) {
        Built report(BuildTrace(text));
        ASSERT_EQ(1u, report.Of("event-misuse").size()) << report.Text();
        EXPECT_EQ(DOUBT_MAY, report.Of("event-misuse")[0]->doubt) << text << report.Text();
        EXPECT_EQ(SEVERITY_WARNING, report.Of("event-misuse")[0]->severity) << text;
    }
}

TEST(EventMisuse, RecordedAgainOnTheSameStreamCoversTheFirst)
{
    Built report(BuildTrace("1@20 record s=N1 e=E\n2@30 record s=N1 e=E\n1@40 wait s=N3 e=E\n"));
    EXPECT_TRUE(report.Of("event-misuse").empty()) << report.Text();
}

TEST(EventMisuse, AProgramThatReadsTimesKeepsThem)
{
    Built report(BuildTrace("1@50 event-create e=T flags=0\n" + Repeat("1@60 record s=N1 e=T\n1@60 wait s=N2 e=T\n", 20) +
                            "1@70 elapsed e=Other\n"));
    EXPECT_TRUE(report.Of("event-misuse").empty()) << report.Text();
}

TEST(QuerySpin, CountsAndTimes)
{
    std::string spin = "1@0 launch s=N1 k=a\n";
    for (unsigned i = 0; i < 500; i++)
        spin += "1@" + std::to_string(10 + i * 2) + " query s=N1 result=600\n";
    Built report(BuildTrace(spin + "1@2000 query s=N1\n"));
    auto findings = report.Of("query-spin");
    ASSERT_EQ(1u, findings.size());
    EXPECT_EQ(500u, Number(findings[0], "queries"));
    EXPECT_EQ(1u, Number(findings[0], "spins"));
    EXPECT_EQ(998000u, findings[0]->host_ns);
    EXPECT_EQ("asked about a stream", Case(findings[0]));
}

TEST(QuerySpin, AnEventThatIsAskedOverAndOver)
{
    std::string spin = "1@0 launch s=N1 k=a\n1@1 record s=N1 e=E\n";
    for (unsigned i = 0; i < 200; i++)
        spin += "1@" + std::to_string(10 + i * 2) + " event-query e=E result=600\n";
    Built report(BuildTrace(spin));
    auto findings = report.Of("query-spin");
    ASSERT_EQ(1u, findings.size());
    EXPECT_EQ("asked about an event", Case(findings[0]));
}

TEST(StreamSwitching, OverlapIsAReason)
{
    std::string in_turn = Repeat("1@10 launch s=N1 k=a\n1@10 record s=N1 e=A\n1@10 wait s=N2 e=A\n"
                                 "1@10 launch s=N2 k=b\n1@10 record s=N2 e=B\n1@10 wait s=N1 e=B\n",
                                 60);
    Built report(BuildTrace(in_turn));
    auto findings = report.Of("stream-switching");
    ASSERT_EQ(1u, findings.size()) << report.Text();
    EXPECT_EQ(120u, findings[0]->count);
    EXPECT_EQ(1000u, Number(findings[0], "waits_per_1000"));
    EXPECT_TRUE(Built(BuildTrace("1@0 launch s=N3 k=beside\n" + in_turn)).Of("stream-switching").empty());
    EXPECT_TRUE(Built(BuildTrace(in_turn.substr(0, in_turn.size() / 2))).Of("stream-switching").empty())
        << "too few to say";
}

TEST(MixedBuild, NamesEachObjectAndItsSide)
{
    Built report(BuildTrace("1@0 launch s=L k=a site=a@libplain.so\n"
                            "1@5 launch s=L k=a site=b@libplain.so\n"
                            "1@10 launch s=P1 k=b twin site=c@libtwin.so\n"));
    auto findings = report.Of("mixed-build");
    ASSERT_EQ(2u, findings.size()) << report.Text();
    for (const finding *finding : findings) {
        bool plain = std::string(finding->text) == "/opt/app/libplain.so";
        EXPECT_EQ(plain ? 2u : 1u, finding->count);
        EXPECT_NE(std::string::npos, Case(finding).find(plain ? "legacy" : "per thread"));
    }
}

TEST(MixedBuild, OfASelectionItsOwnObjects)
{
    const std::string trace =
        BuildTrace("1@0 launch s=L k=a site=a@libplain.so\n2@10 launch s=P2 k=b twin site=c@libtwin.so\n");
    struct selection selection = {};
    selection.thread = "1";
    Built one(trace, selection);
    ASSERT_EQ(1u, one.Of("mixed-build").size());
    EXPECT_STREQ("/opt/app/libplain.so", one.Of("mixed-build")[0]->text);
}

/* A context whose legacy stream nobody uses has nothing to gain. */
TEST(BlockingStreamCreated, InTheContextWhoseLegacyStreamIsUsed)
{
    Built report(
        BuildTrace("1@0+10 stream-create s=B1 flags=0 site=first\n1@15+10 stream-create s=B2 flags=0 ctx=2 site=second\n"
                   "1@30 launch s=L k=a\n1@40 launch s=B1 k=b\n1@50 launch s=B2 k=b ctx=2\n"));
    ASSERT_EQ(1u, report.Of("blocking-stream-created").size()) << report.Text();
    EXPECT_TRUE(HasId(report.Of("blocking-stream-created")[0], FINDING_CONTEXTS, 1));
}

TEST(ThreadRelativeHandle, OnlySharedMemoryIsProof)
{
    std::string wrong_wait = "1@0 launch s=P1 k=producer args=0x10000\n2@10+3 sync s=P2\n";
    Built shared(BuildTrace(wrong_wait + "2@20 launch s=N1 k=consumer args=0x10000\n"));
    ASSERT_EQ(1u, shared.Of("thread-relative-handle").size()) << shared.Text();
    EXPECT_TRUE(HasId(shared.Of("thread-relative-handle")[0], FINDING_THREADS, 1));
    for (const char *silent : {"2@20 launch s=N1 k=consumer args=0x90000\n", /* other memory */
                               "2@15+900 ctx-sync\n2@1000 launch s=N1 k=consumer args=0x10000\n",
                               "1@15 record s=P1 e=E\n2@16 wait s=N1 e=E\n2@20 launch s=N1 k=consumer args=0x10000\n",
                               "2@20 launch s=L k=consumer args=0x10000\n"})
        EXPECT_TRUE(Built(BuildTrace(wrong_wait + silent)).Of("thread-relative-handle").empty()) << silent;
}

/* Threads that all read the same weights, each through a stream of its own, have nothing to hand over. */
TEST(ThreadRelativeHandle, WhoOnlyReadsWaitsForNobody)
{
    const std::string alloc = "1@0+1 alloc m=A ptr=0x10000 bytes=4096\n",
                      read = " copy s=P2 src=A to=pinned ptr=0x7f0000001000 bytes=64\n",
                      write = " copy s=P2 from=pinned src=0x7f0000001000 dst=A bytes=64\n";
    auto with = [&](const std::string &first, const std::string &second) {
        std::string own = first;
        own.replace(own.find("P2"), 2, "P1").replace(own.find("1000 "), 4, "0000");
        return Built(BuildTrace(alloc + "1@2" + own + "2@10+3 sync s=P2\n2@20" + second))
            .Of("thread-relative-handle")
            .size();
    };
    EXPECT_EQ(0u, with(read, read));
    EXPECT_EQ(1u, with(read, write));
    EXPECT_EQ(1u, with(write, read));
    EXPECT_EQ(1u, with(write, write));
}

/* What the threads tell each other without CUDA is in no trace. */
TEST(ThreadRelativeHandle, ProvesNoWrongResult)
{
    Built report(BuildTrace("1@0 launch s=P1 k=producer args=0x10000\n2@10+3 sync s=P2\n"
                            "2@20+30 copy s=P2 from=device to=pinned src=0x10000 ptr=0x7f0000000000 bytes=64\n"));
    ASSERT_EQ(1u, report.Of("thread-relative-handle").size());
    EXPECT_EQ(DOUBT_MAY, report.Of("thread-relative-handle")[0]->doubt);
}

TEST(CaptureConflict, WhoCapturedDecides)
{
    Built report(BuildTrace("1@0 capture-begin s=N1\n"
                            "1@10 launch s=L k=mine capture-open site=mine\n"
                            "2@20 launch s=L k=theirs capture-open site=theirs\n"
                            "2@30+3 ctx-sync capture-open result=900 site=sync\n"
                            "1@40 capture-end s=N1 result=901 site=end\n"
                            "2@50 launch s=L k=later\n"));
    auto findings = report.Of("capture-conflict");
    ASSERT_EQ(4u, findings.size()) << report.Text();
    for (const finding *finding : findings) {
        bool others = Case(finding).find("another thread had open") != std::string::npos;
        EXPECT_EQ(others ? SEVERITY_WARNING : SEVERITY_ERROR, finding->severity) << Case(finding);
        EXPECT_TRUE(HasId(finding, FINDING_THREADS, 1)) << "the capturing thread is named: " << Case(finding);
        EXPECT_EQ(finding->count, finding->unknown) << "nobody knows what it costs: " << Case(finding);
        EXPECT_EQ(0u, finding->known + finding->host_ns) << Case(finding);
    }
}

} // namespace
} // namespace ptds
