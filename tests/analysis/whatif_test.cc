/* SPDX-License-Identifier: Apache-2.0
 *
 * What-if: runs whose length under each policy follows from what they do, in whole milliseconds.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <sstream>
#include <string>

#include "analysis/views/json/whatif_json.h"
#include "tests/analysis/whatif_run.h"

namespace ptds
{
namespace
{

TEST(WhatIf, ApartWorkOverlaps)
{
    WhatIf run(Two("k=_Z1aPf args=A", "k=_Z1bPf args=B"));
    run.Takes(ORDER_GUARDED, 9.5, 10.6);
    run.Takes(ORDER_PER_THREAD, 9.5, 10.6);
    run.Takes(ORDER_STREAM, 19.5, 20.6);
    EXPECT_NE(std::string::npos, run.said.find("From its first work on the run took 20.0 ms")) << run.said;
    EXPECT_NE(std::string::npos, run.said.find("stream      no faster")) << run.said;
    EXPECT_EQ(std::string::npos, run.said.find("A guess")) << run.said;
}

/* Runs of one program differ by some 5 %, so no gain is predicted better than that. */
TEST(WhatIf, NoPredictionIsBetterThanRunsAgree)
{
    WhatIf run(Two("k=_Z1aPf args=A", "k=_Z1bPf args=A"));
    EXPECT_NEAR(20.011 / 1.05, double(run.found.policies[0].least) / 1e6, 0.02) << run.said;
    EXPECT_NEAR(20.011 * 1.05, double(run.found.policies[0].most) / 1e6, 0.02) << run.said;
    EXPECT_NE(std::string::npos, run.said.find("and 5 % on either side")) << run.said;
}

/* As many steps as there is room for at first: whoever looks at one more is seen by the address sanitizer. */
TEST(WhatIf, OnlyWhatWasRecorded)
{
    WhatIf run("1@4+1 alloc ptr=0x300000 bytes=4096 m=C\n1@6+1 alloc ptr=0x400000 bytes=4096 m=D\n" +
               Two("k=_Z1aPf args=A", "k=_Z1bPf args=B"));
    run.Takes(ORDER_GUARDED, 9.5, 10.6);
    EXPECT_EQ(8u, run.steps());
}

TEST(WhatIf, AConflictStaysInOrderUnderGuarded)
{
    WhatIf run(Two("k=_Z1aPf args=A", "k=_Z1bPf args=A"));
    run.Takes(ORDER_GUARDED, 19.5, 20.6);
    run.Takes(ORDER_PER_THREAD, 9.5, 10.6);
    EXPECT_NE(std::string::npos,
              run.said.find("per-thread gives up implicit order: of this run's orders 0 are needed, 1 maybe"))
        << run.said;
}

TEST(WhatIf, ReadersOverlapAndAReaderWaitsForAWriter)
{
    WhatIf readers(Two("k=_Z1aPKf args=A", "k=_Z1bPKf args=A"));
    readers.Takes(ORDER_GUARDED, 9.5, 10.6);
    WhatIf reader(Two("k=_Z1aPf args=A", "k=_Z1bPKf args=A"));
    reader.Takes(ORDER_GUARDED, 19.5, 20.6);
    WhatIf writer(Two("k=_Z1aPKf args=A", "k=_Z1bPf args=A"));
    writer.Takes(ORDER_GUARDED, 19.5, 20.6);
}

TEST(WhatIf, OnlyWhatIsConstIsRead)
{
    WhatIf run(Two("k=_Z1aPKfPf args=A,B", "k=_Z1bPKf args=B"));
    run.Takes(ORDER_GUARDED, 19.5, 20.6);
}

/* As the verdicts have it. */
TEST(WhatIf, ByTheCodeOfKernelsWhereItIsKnown)
{
    WhatIf readers(Two("k=one args=A facts=r0", "k=two args=A facts=r0"));
    readers.Takes(ORDER_GUARDED, 9.5, 10.6);
    WhatIf writer(Two("k=_Z1aPKf args=A facts=w0", "k=two args=A facts=r0"));
    writer.Takes(ORDER_GUARDED, 19.5, 20.6);
    WhatIf value(Two("k=one args=A,B facts=w1", "k=two args=A facts=w0"));
    value.Takes(ORDER_GUARDED, 9.5, 10.6);
    WhatIf maps(Two("k=one args=A,B facts=w1,tensor-map", "k=two args=A facts=w0"));
    maps.Takes(ORDER_GUARDED, 19.5, 20.6);
    WhatIf unknown(Two("k=_Z1aPKf args=A facts=unknown", "k=two args=B facts=r0"));
    unknown.Takes(ORDER_GUARDED, 19.5, 20.6);
    WhatIf unused(Two("k=one args=A vars=B facts=w0", "k=two args=B facts=w0"));
    unused.Takes(ORDER_GUARDED, 9.5, 10.6);
    WhatIf read(Two("k=one args=A vars=B facts=w0,rv", "k=two args=B facts=r0"));
    read.Takes(ORDER_GUARDED, 9.5, 10.6);
    WhatIf written(Two("k=one args=A vars=B facts=w0,wv", "k=two args=B facts=r0"));
    written.Takes(ORDER_GUARDED, 19.5, 20.6);
}

TEST(WhatIf, WhatWasFreedIsNotFoundInWhatLiesThereNow)
{
    WhatIf run("1@0+1 alloc ptr=0x300000 bytes=4096 m=old\n1@4+1 free m=old\n" +
               std::string("1@8+1 alloc ptr=0x2f0000 bytes=1048576 m=C\n") +
               Two("k=_Z1aPf args=C", "k=_Z1bPf args=C+65552")); /* 0x300010 */
    run.Takes(ORDER_GUARDED, 19.5, 20.6);
}

TEST(WhatIf, WhereVariablesAreNotToldKernelsMayShareThem)
{
    WhatIf run(Two("k=_Z1aPf args=A vars=old", "k=_Z1bPf args=B vars=old"));
    run.Takes(ORDER_GUARDED, 19.5, 20.6);
    WhatIf told(Two("k=_Z1aPf args=A vars=B", "k=_Z1bPf args=B"));
    told.Takes(ORDER_GUARDED, 19.5, 20.6);
}

TEST(WhatIf, WhatMayTouchEverythingStaysInOrderUnderGuarded)
{
    WhatIf run(Two("k=_Z1aPf args=A", "k=unknown args=B why-pointers"));
    run.Takes(ORDER_GUARDED, 19.5, 20.6);
    run.Takes(ORDER_PER_THREAD, 9.5, 10.6);
}

/* 3 ms from the call to the kernel's begin, which no policy takes away. */
TEST(WhatIf, TheWayToTheGpuStays)
{
    WhatIf run("1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n"
               "1@100+2 launch s=L k=_Z1aPf args=A\n2@101+2 launch s=L k=_Z1bPf args=B\n"
               "1@110+13000 sync s=L\n2@111+23000 sync s=L\n"
               "device-run 1@100 3100+10000\ndevice-run 2@101 13101+10000\n");
    run.Takes(ORDER_GUARDED, 12.5, 13.6);
    run.Takes(ORDER_PER_THREAD, 12.5, 13.6);
}

TEST(WhatIf, KernelsThatFillTheGpuRunOneAfterAnother)
{
    WhatIf full(Two("k=_Z1aPf args=A blocks=4000", "k=_Z1bPf args=B blocks=4000"));
    full.Takes(ORDER_PER_THREAD, 19.5, 20.6);
    EXPECT_NE(std::string::npos, full.said.find("then kernels 50 %, a full GPU 50 %")) << full.said;
    WhatIf half(Two("k=_Z1aPf args=A blocks=100", "k=_Z1bPf args=B blocks=100")); /* some GPUs hold both, some one */
    EXPECT_GE(10.6, half.Least(1));
    EXPECT_LE(19.5, half.Most(1));
}

/* Whichever they are. */
TEST(WhatIf, TheTwoThatMostTimeGoesIntoAreNamed)
{
    const char *const names[PARTS] = {"host",       "launching",       "kernels",   "copies",
                                      "a full GPU", "hardware queues", "the driver"};
    struct whatif found = WhatIf(Two("k=_Z1aPf args=A", "k=_Z1bPf args=B")).found;
    for (unsigned first = 0; first < PARTS; first++)
        for (unsigned second = 0; second < PARTS; second++) {
            struct moment *spent = &found.policies[0].spent;
            *spent = {1000, {10, 10, 10, 10, 10, 10, 10}};
            spent->part[second] = 330;
            spent->part[first] = 640;
            TextOf out;
            whatif_text(&found, &out);
            std::string both = std::string("then ") + names[first] + " 64 %";
            both += first == second ? "\n" : std::string(", ") + names[second] + " 33 %\n";
            EXPECT_NE(std::string::npos, out.text.find(both)) << both << out.text;
        }
}

/* The first two kernels did run side by side, so this is no small GPU, and the other two can. */
TEST(WhatIf, ARecordingShowsThatTheGpuIsNotSmall)
{
    WhatIf run("1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n"
               "1@100+2 launch s=N1 k=_Z1aPf args=A blocks=100\n1@103+2 launch s=N2 k=_Z1bPf args=B blocks=100\n"
               "1@110+10000 ctx-sync\ndevice-run 1@100 105+10000\ndevice-run 1@103 106+10000\n"
               "1@10200+2 launch s=L k=_Z1aPf args=A blocks=100\n2@10201+2 launch s=L k=_Z1bPf args=B blocks=100\n"
               "1@10210+10000 sync s=L\n2@10211+20000 sync s=L\n"
               "device-run 1@10200 10205+10000\ndevice-run 2@10201 20206+10000\n");
    run.Takes(ORDER_GUARDED, 19.5, 20.9);
}

/* The replay is 6 % too short, since one wait took a millisecond longer than the others to wake: the interval says so. */
TEST(WhatIf, WhatTheReplayMissesWidensTheInterval)
{
    WhatIf run("1@100+2 launch s=L k=a\n1@110+5000 sync s=L\n1@5200+2 launch s=L k=a\n1@5210+5000 sync s=L\n"
               "1@10300+2 launch s=L k=a\n1@10310+5990 sync s=L\n"
               "device-run 1@100 105+5000\ndevice-run 1@5200 5205+5000\ndevice-run 1@10300 10305+5000\n");
    ASSERT_EQ(WHATIF_SURE, run.found.doubt) << run.said;
    EXPECT_NEAR(0.061, run.found.error, 0.002) << run.said;
    EXPECT_LT(run.Least(0), double(run.found.recorded) / 1e6 * (1 - run.found.error * 0.9));
    EXPECT_GT(run.Most(0), double(run.found.recorded) / 1e6 * (1 + run.found.error * 0.9));
}

/* Thread 3 goes on 39 us after the second one's wait, which may be why, or not. */
TEST(WhatIf, WhoGoesOnSoonAfterAnotherMayHaveWaitedForIt)
{
    WhatIf run("3@50+1 none\n" + Two("k=_Z1aPf args=A", "k=_Z1bPf args=B") +
               "3@20150+1 none\n1@20400+1 none\n2@20401+1 none\n");
    ASSERT_EQ(WHATIF_SURE, run.found.doubt) << run.said;
    EXPECT_GE(11.5, run.Least(0)) << run.said;
    EXPECT_LE(19.5, run.Most(0)) << run.said;
}

/* The second thread waits for the first one's event. */
TEST(WhatIf, AnEventKeepsItsOrderUnderEveryPolicy)
{
    WhatIf run("1@100+2 launch s=L k=a\n1@103 record s=L e=E\n2@104 wait s=L e=E\n2@105+2 launch s=L k=b\n"
               "1@110+10000 sync s=L\n2@111+20000 sync s=L\n"
               "device-run 1@100 105+10000\ndevice-run 2@105 10106+10000\n");
    run.Takes(ORDER_GUARDED, 19.5, 20.6);
    run.Takes(ORDER_PER_THREAD, 19.5, 20.6);
}

/* One thread: its blocking stream is held up by stream 0 today. */
TEST(WhatIf, BlockingStreamsAreFreeOfMovedWork)
{
    WhatIf run("1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n"
               "1@100+2 launch s=L k=_Z1aPf args=A\n1@103+2 launch s=B1 k=_Z1bPf args=B\n1@110+20000 ctx-sync\n"
               "device-run 1@100 105+10000\ndevice-run 1@103 10106+10000\n");
    run.Takes(ORDER_GUARDED, 9.5, 10.6);
    run.Takes(ORDER_STREAM, 9.5, 10.6);
}

/* The host's own work, 30 ms before its thread goes on, stays what it was. */
TEST(WhatIf, WhatTheHostDoesIsNotGained)
{
    WhatIf run(Two("k=_Z1aPf args=A", "k=_Z1bPf args=B") + "1@50000+1 sync s=L\n");
    run.Takes(ORDER_GUARDED, 30, 51);
}

/* A thread that made its last call let the one that waited for it go on. */
TEST(WhatIf, WhoJoinsAThreadGoesOnWhenThatIsDone)
{
    WhatIf run("1@90+1 none\n" + Two("k=_Z1aPf args=A", "k=_Z1bPf args=B") + "3@99+1 none\n3@20200+1 none\n");
    run.Takes(ORDER_GUARDED, 9.5, 10.9);
}

/* Thread 1 begins two threads, joins them, begins two more: those come sooner, too. A thread that begins while the first
 * one is in a call was begun by another. */
TEST(WhatIf, ThreadsBegunAfterAJoinBeginSooner)
{
    auto two = [](int thread, int at) {
        std::string one = std::to_string(thread) + "@" + std::to_string(at);
        std::string other = std::to_string(thread + 1) + "@" + std::to_string(at + 1);
        std::string wait = std::to_string(at + 10) + "+10000 sync s=L\n";
        return one + "+2 launch s=L k=_Z1aPf args=A\n" + other + "+2 launch s=L k=_Z1bPf args=B\n" +
               std::to_string(thread) + "@" + wait + std::to_string(thread + 1) + "@" + std::to_string(at + 11) +
               "+20000 sync s=L\ndevice-run " + one + " " + std::to_string(at + 5) + "+10000\ndevice-run " + other + " " +
               std::to_string(at + 10006) + "+10000\n";
    };
    std::string memory = "1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n";
    WhatIf joined(memory + two(2, 100) + two(4, 20300));
    joined.Takes(ORDER_GUARDED, 19.5, 21);
    WhatIf meanwhile(memory + "1@90+25000 none\n" + two(2, 100) + two(4, 20300));
    ASSERT_EQ(WHATIF_SURE, meanwhile.found.doubt) << meanwhile.said;
    EXPECT_NEAR(30, meanwhile.Least(0), 1) << meanwhile.said;
}

TEST(WhatIf, LaunchesThatOthersHeldUpAreNotHeldUpAlone)
{
    std::string calls;
    for (int i = 0; i < 20; i++)
        calls += "1@" + std::to_string(200 + i * 10) + "+2 launch s=L k=a\n";
    WhatIf run("1@100+2 launch s=L k=a\n" + calls +
               "1@1000+8000 launch s=L k=a\n2@1001+8000 launch s=L k=a\n1@9010+1 sync s=L\ndevice-run 1@100 105+10\n");
    run.Takes(ORDER_STREAM, 8.5, 9.2);
    run.Takes(ORDER_GUARDED, 0.5, 1.1);
    WhatIf alone("1@100+2 launch s=L k=a\n" + calls +
                 "1@1000+8000 launch s=L k=a\n1@9010+1 sync s=L\ndevice-run 1@100 105+10\n");
    alone.Takes(ORDER_GUARDED, 8.5, 9.2);
}

/* Where two threads write the same memory, their launches may go on meeting each other in the driver. */
TEST(WhatIf, LaunchesOnHandedMemoryMayBeHeldUpStill)
{
    std::string before = "1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n";
    std::string launch = " launch s=L k=_Z1aPf args=", ran;
    before += "1@90+2" + launch + "A\n2@100+2" + launch;
    for (int i = 0; i < 20; i++)
        ran += "1@" + std::to_string(200 + i * 10) + "+2" + launch + "A\n";
    std::string rest = "1@1000+8000" + launch +
                       "A\n2@1001+7999 launch s=L k=b\n1@9010+1 sync s=L\ndevice-run 1@90 95+2\ndevice-run 2@100 102+2\n";
    WhatIf handed(before + "A\n" + ran + rest), apart(before + "B\n" + ran + rest);
    apart.Takes(ORDER_GUARDED, 0.5, 3.9);
    ASSERT_EQ(WHATIF_SURE, handed.found.doubt) << handed.said;
    EXPECT_LE(8.5, handed.Most(0)) << handed.said;
    EXPECT_NEAR(8.92 + 22 * 0.01, handed.Most(0), 0.06) << "10 us a launch";
    handed.Takes(ORDER_STREAM, 8.5, 9.0);
    EXPECT_GE(3.9, handed.Least(0)) << handed.said;
    handed.Takes(ORDER_PER_THREAD, 0.5, 3.9);
}

/* 20 launches take a millisecond each inside the driver; their kernels begin when they return, which says nothing of how
 * soon the next one of a stream begins. 400 quick ones come after them. */
TEST(WhatIf, HowSoonWorkFollowsIsNotLearntFromLaunchesThatWereHeldUp)
{
    std::string calls, ran;
    for (int i = 0; i < 20; i++) {
        std::string call = std::to_string(1 + i % 2) + "@" + std::to_string(100 + 500 * i);
        calls += call + "+1000 launch s=L k=a\n";
        ran += "device-run " + call + " " + std::to_string(100 + 500 * i + 1000) + "+2\n";
    }
    for (int i = 0; i < 400; i++) {
        std::string call = "1@" + std::to_string(11000 + 5 * i);
        calls += call + "+1 launch s=L k=a\n";
        ran += "device-run " + call + " " + std::to_string(11000 + 5 * i + 2) + "+2\n";
    }
    WhatIf run(calls + "1@13010+1 sync s=L\n" + ran);
    ASSERT_EQ(WHATIF_SURE, run.found.doubt) << run.said;
    EXPECT_GE(0.02, run.found.error) << run.said;
}

/* The kernel fills the wait: the copy before it, whose time is not known, took none of it. */
TEST(WhatIf, WhatHasNoTimeSharesOnlyWhatOthersLeave)
{
    WhatIf run("1@100+5 copy s=L\n1@110+2 launch s=L k=a\n1@120+10000 sync s=L\ndevice-run 1@110 120+9990\n");
    ASSERT_EQ(WHATIF_SURE, run.found.doubt) << run.said;
    EXPECT_GE(0.02, run.found.error) << run.said;
}

/* The same with a blocking stream, which the legacy one joins: under stream nobody knows what of it remains. */
TEST(WhatIf, LaunchesThatABarrierHeldUpMayNotBeUnderStream)
{
    std::string calls = "1@90+2 launch s=B1 k=a\n";
    for (int i = 0; i < 20; i++)
        calls += "1@" + std::to_string(200 + i * 10) + "+2 launch s=L k=a\n";
    std::string rest = "1@1000+8000 launch s=L k=a\n2@1001+7999 launch s=L k=a\n1@9010+1 sync s=L\ndevice-run 1@90 95+10\n";
    WhatIf joined(calls + rest), apart(std::string(calls).replace(calls.find("B1"), 2, "N1") + rest);
    ASSERT_EQ(WHATIF_SURE, joined.found.doubt) << joined.said;
    EXPECT_GE(3.0, joined.Least(2)) << joined.said;
    EXPECT_LE(8.5, joined.Most(2)) << joined.said;
    apart.Takes(ORDER_STREAM, 8.5, 9.2);
}

/* One thread on stream 0: two chains that share no memory, and one of as many kernels. */
TEST(WhatIf, ChainsOfOneThreadMayGainByLanes)
{
    std::string alloc = "1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n", one = alloc;
    std::string two = alloc, ran;
    for (int i = 0; i < 4; i++) {
        std::string at = std::to_string(100 + 2 * i), launch = "1@" + at + "+1 launch s=L k=_Z1aPf args=";
        one += launch + "A\n";
        two += launch + (i % 2 == 0 ? "A\n" : "B\n");
        ran += "device-run 1@" + at + " " + std::to_string(110 + 10001 * i) + "+10000\n";
    }
    WhatIf chain(one + "1@120+40000 ctx-sync\n" + ran), chains(two + "1@120+40000 ctx-sync\n" + ran);
    EXPECT_FALSE(whatif_lanes_limit(&chain.found)) << chain.said;
    EXPECT_TRUE(whatif_lanes_limit(&chains.found)) << chains.said;
    EXPECT_NEAR(20, double(chains.found.spread) * 1.05 / 1e6, 0.7);
    EXPECT_LE(39, chains.Least(0)) << "with one lane a thread's order stays";
}

TEST(WhatIf, WithoutTimesOnTheGpuItIsAGuess)
{
    WhatIf run("1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n"
               "1@100 launch s=L k=_Z1aPf args=A\n2@101 launch s=L k=_Z1bPf args=B\n"
               "1@110+20000 sync s=L\n2@111+20001 sync s=L\n");
    ASSERT_EQ(WHATIF_SURE, run.found.doubt) << run.said;
    EXPECT_NE(std::string::npos, run.said.find("A guess: 2 of 2 operations have no GPU times")) << run.said;
    EXPECT_GE(10.6, run.Least(0));
    EXPECT_LE(19.5, run.Most(0));
}

TEST(WhatIf, TheFirstScreenHasALineOfWhatIsNoGuess)
{
    const WhatIf run(Two("k=_Z1aPf args=A", "k=_Z1bPf args=B"));
    EXPECT_STREQ("Under guarded: 1.90x to 2.10x faster, by a replay (--what-if)", whatif_text_line(&run.found).text);
    const WhatIf guess("1@100 launch s=L k=a\n1@110+20000 sync s=L\n");
    ASSERT_EQ(WHATIF_SURE, guess.found.doubt) << guess.said;
    EXPECT_STREQ("", whatif_text_line(&guess.found).text);
    const WhatIf remapped(Two("k=a", "k=b"), "guarded");
    EXPECT_STREQ("", whatif_text_line(&remapped.found).text);
}

/* The lines of policies, with a blank where there are some, and "; " between them. */
std::string Policies(const struct whatif &whatif)
{
    TextOf out;
    whatif_text(&whatif, &out);
    std::istringstream lines(out.text);
    std::string found, word;
    for (std::string line; std::getline(lines, line);) {
        if (line.find(" then ") == std::string::npos || line.find(" to ") == std::string::npos)
            continue;
        std::istringstream words(line);
        for (found += found.empty() ? "" : ";"; words >> word;)
            found += (found.empty() ? "" : " ") + word;
    }
    return found;
}

/* One for each policy and no more, and what most of its time goes into. */
TEST(WhatIf, ALineForEachPolicy)
{
    struct whatif whatif = {};
    whatif.doubt = WHATIF_SURE;
    whatif.recorded = 10000000;
    whatif.gpu = whatif.gpu_timed = 4;
    whatif.policies[0] = {5000000, 8000000, {1000, {600, 51, 0, 0, 0}}};
    whatif.policies[1] = {4000000, 5000000, {1000, {0, 600, 400, 0, 0}}};
    whatif.policies[2] = {16000000, 20000000, {1000, {0, 0, 0, 0, 1000}}};
    const std::string guarded = "guarded 1.25x to 2.00x faster 5.0 ms to 8.0 ms then host 60 %",
                      rest = "; per-thread 2.00x to 2.50x faster 4.0 ms to 5.0 ms then launching 60 %, kernels 40 %"
                             "; stream 1.60x to 2.00x slower 16.0 ms to 20.0 ms then a full GPU 100 %";
    EXPECT_EQ(guarded + ", launching 5 %" + rest, Policies(whatif));
    whatif.policies[0].spent.part[PART_LAUNCH] = 50;
    EXPECT_EQ(guarded + rest, Policies(whatif)) << "a twentieth is not worth a word";
    whatif.policies[0].spent.part[PART_LAUNCH] = 0;
    whatif.policies[0].spent.part[PART_FULL] = 100;
    EXPECT_EQ(guarded + ", a full GPU 10 %" + rest, Policies(whatif));
    whatif.policies[0].spent.at = 0;
    EXPECT_EQ("guarded 1.25x to 2.00x faster 5.0 ms to 8.0 ms then" + rest, Policies(whatif)) << "nothing is known of it";
}

/* The first screen's next command asks for it. */
TEST(WhatIf, TheReportKnowsWhereNothingIsGained)
{
    auto no_gain = [](const std::string &text) {
        const MemoryTrace trace(BuildTrace("setting policy=observe\n" + text));
        std::unique_ptr<struct report> report(new struct report);
        char message[TRACE_ERROR_SIZE] = "";
        EXPECT_EQ(0, report_build(report.get(), trace.source(), message)) << message;
        whatif_text_opening(report.get());
        bool none = report->no_gain;
        EXPECT_EQ(none, strstr(report->what_if.text, "Under guarded: no faster") != nullptr) << report->what_if.text;
        report_end(report.get());
        return none;
    };
    EXPECT_FALSE(no_gain(Two("k=_Z1aPf args=A", "k=_Z1bPf args=B")));
    EXPECT_TRUE(no_gain(Two("k=_Z1aPf args=A", "k=_Z1bPf args=A")));
    EXPECT_FALSE(no_gain("1@100 launch s=L k=a\n1@110+20000 sync s=L\n")) << "a guess";
}

/* A run is not over before its work is; without a time of its own, that takes what the wait for it took. */
TEST(WhatIf, NoGainIsLongerThanTheWorkThatWasWaitedFor)
{
    WhatIf run("1@1 alloc m=A ptr=0x10000 bytes=4096\n1@5 launch s=B1 k=k1 args=A\n"
               "1@20+900000 sync s=L\n2@30+800000 sync s=L\n");
    for (unsigned policy : whatif_policies)
        run.Takes(policy, 899.9, 900.2);
    EXPECT_NE(std::string::npos, run.said.find("guarded     no faster")) << run.said;
}

/* ---- where nothing is predicted ---- */

TEST(WhatIf, WhereThePolicyIsNotToldNothingIsSaidOfIt)
{
    MemoryTrace trace(BuildTrace(""));
    struct whatif found = whatif_of_source(trace.source());
    TextOf text, json;
    whatif_text(&found, &text);
    EXPECT_EQ("What if: no prediction: the trace does not say which policy the run had\n", text.text);
    ASSERT_EQ(0, whatif_json(&found, &json));
    EXPECT_NE(std::string::npos, json.text.find("\"recorded_ns\": null")) << json.text;
}

TEST(WhatIf, OfARemappedRunNothingIsSaid)
{
    WhatIf run(Two("k=a", "k=b"), "guarded");
    EXPECT_EQ(WHATIF_REMAPPED, run.found.doubt);
    EXPECT_NE(std::string::npos,
              run.said.find("no prediction: the run moved default-stream work; record it with policy observe"));
}

TEST(WhatIf, AReplayThatMissesTheRunIsOwned)
{
    WhatIf run("1@99 launch s=N1 k=b\n1@100+2 launch s=L k=a\n1@110+1000 sync s=L\ndevice-run 1@100 105+90000\n"
               "device-run 1@99 104+1\n");
    EXPECT_EQ(WHATIF_MISSES, run.found.doubt) << run.said;
    EXPECT_NE(std::string::npos, run.said.find("misses it (from its first work on it took 1.0 ms, replayed 90.0 ms: "))
        << run.said;
}

/* No time passes after its first work. */
TEST(WhatIf, ARunWhoseOnlyWorkIsItsLastCallHasNothingToGain)
{
    for (const char *text : {"1@100+2 none\n1@200 launch s=L k=a\n", "1@200 launch s=L k=a\n"}) {
        WhatIf run(text);
        EXPECT_EQ(WHATIF_NO_LENGTH, run.found.doubt) << run.said;
        EXPECT_NE(std::string::npos, run.said.find("Nothing to gain: one thread, one stream"));
    }
    WhatIf longer("1@200+2 launch s=L k=a\n");
    EXPECT_EQ(WHATIF_SURE, longer.found.doubt) << longer.said;
}

TEST(WhatIf, WithoutWorkThereIsNothingToReplay)
{
    WhatIf run("1@100+2 none\n");
    EXPECT_EQ(WHATIF_NO_TIME, run.found.doubt);
}

} // namespace
} // namespace ptds
