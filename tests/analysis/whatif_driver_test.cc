/* SPDX-License-Identifier: Apache-2.0
 *
 * What-if: what threads cost each other in the driver and in the device's queues, and what of it a policy takes away. In
 * whole milliseconds, as in whatif_test.cc.
 */
#include <gtest/gtest.h>

#include <string>

#include "tests/analysis/whatif_run.h"

namespace ptds
{
namespace
{

const char *const MEMORY = "1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n";

std::string At(int thread, int microseconds, int duration)
{
    return std::to_string(thread) + "@" + std::to_string(microseconds) + "+" + std::to_string(duration) + " ";
}

std::string Ran(int thread, int microseconds, int begin, int duration)
{
    return "device-run " + std::to_string(thread) + "@" + std::to_string(microseconds) + " " + std::to_string(begin) + "+" +
           std::to_string(duration) + "\n";
}

enum { GUARDED, PER_THREAD, STREAM };

/* 38 launches of two threads, of which 36 take 0.15 ms since the other one's are in the way; two take 2 us. Else the
 * threads work for 50 us at a time. */
TEST(WhatIfDriver, WhatIsNearlyAlwaysHeldUpTakesAloneWhatTheQuickestTake)
{
    std::string calls = At(1, 100, 2) + "launch s=L k=a\n" + At(1, 200, 2) + "launch s=L k=a\n";
    for (int i = 0; i < 18; i++)
        calls += At(1, 1000 + 200 * i, 150) + "launch s=L k=a\n" + At(2, 1001 + 200 * i, 150) + "launch s=L k=a\n";
    WhatIf run(calls + At(1, 4600, 1) + "sync s=L\n" + Ran(1, 100, 105, 2));
    run.Takes(ORDER_STREAM, 4.4, 4.6);
    run.Takes(ORDER_GUARDED, 1.8, 2.1);
    run.Takes(ORDER_PER_THREAD, 1.8, 2.1);
}

/* Its launches take a millisecond each, and nobody else is in the driver: they take that under every policy. */
TEST(WhatIfDriver, WhomNobodyHeldUpIsNoFasterAlone)
{
    std::string calls;
    for (int i = 0; i < 20; i++)
        calls += At(1, 100 + 10 * i, 2) + (i == 1 ? "launch s=N1 k=a\n" : "launch s=L k=a\n");
    for (int i = 0; i < 5; i++)
        calls += At(1, 1000 + 1100 * i, 1000) + "launch s=L k=a\n" + At(2, 2001 + 1100 * i, 50) + "none\n";
    WhatIf run(calls + At(1, 6600, 1) + "sync s=L\n" + Ran(1, 100, 105, 2));
    run.Takes(ORDER_GUARDED, 6.3, 6.7);
    run.Takes(ORDER_PER_THREAD, 6.3, 6.7);
}

/* Launches take 0.1 ms alone. Eight threads make ten each at once, each of which takes 0.8 ms: the driver lets one after
 * another in. On streams of their own a part of that remains: between a quarter of a launch and all of it. */
TEST(WhatIfDriver, CallsOfManyThreadsTakeTurns)
{
    std::string calls;
    for (int i = 0; i < 10; i++)
        calls += At(1, 100 + 100 * i, 100) + "launch s=L k=a\n";
    for (int i = 0; i < 10; i++)
        for (int thread = 1; thread <= 8; thread++)
            calls += At(thread, 2000 + 800 * i + thread, 799) + "launch s=L k=a\n";
    WhatIf run(calls + At(1, 10010, 1) + "sync s=L\n" + Ran(1, 100, 110, 2));
    ASSERT_EQ(WHATIF_SURE, run.found.doubt) << run.said;
    EXPECT_NEAR(1.9 + 2, run.Least(GUARDED), 0.2) << "80 of 25 us, one after another\n" << run.said;
    EXPECT_NEAR(1.9 + 8, run.Most(GUARDED), 0.2) << "80 of 0.1 ms, one after another\n" << run.said;
    run.Takes(ORDER_STREAM, 9.8, 10.1);
}

/* A blocking stream's launches are held up while the legacy stream is joined: not if default-stream work moves away. */
TEST(WhatIfDriver, CallsOnBlockingStreamsAreFreeIfDefaultStreamWorkMoves)
{
    std::string calls;
    for (int i = 0; i < 20; i++)
        calls += At(1, 100 + 10 * i, 2) + "launch s=B1 k=a\n";
    WhatIf run(calls + At(1, 1000, 8000) + "launch s=B1 k=a\n" + At(2, 1001, 8000) + "launch s=L k=a\n" + At(1, 9010, 1) +
               "sync s=B1\n" + Ran(1, 100, 105, 2));
    run.Takes(ORDER_GUARDED, 0.5, 1.1);
    run.Takes(ORDER_PER_THREAD, 0.5, 1.1);
}

/* The second thread uses what the first one has filled, and the first one never again: the first time they may meet, and
 * then it is the second one's. */
TEST(WhatIfDriver, MemoryThatWasHandedOnOnceIsNoReasonToMeet)
{
    auto filled = [](int user) {
        std::string calls = MEMORY;
        calls += At(1, 90, 2) + "launch s=L k=_Z1aPf args=A\n";
        for (int i = 0; i < 20; i++)
            calls += At(user, 100 + 10 * i, 2) + "launch s=L k=_Z1aPf args=" + (user == 1 ? "B" : "A") + "\n";
        return calls + At(2, 1000, 8000) + "launch s=L k=_Z1aPf args=A\n" + At(1, 1001, 8000) +
               "launch s=L k=_Z1aPf args=B\n" + At(2, 9010, 1) + "sync s=L\n" + Ran(1, 90, 95, 2);
    };
    WhatIf later(filled(2)), first(filled(1));
    later.Takes(ORDER_GUARDED, 0.5, 1.2);
    ASSERT_EQ(WHATIF_SURE, first.found.doubt) << first.said;
    EXPECT_GE(1.2, first.Least(GUARDED)) << first.said;
    EXPECT_LE(8.5, first.Most(GUARDED)) << first.said;
}

/* Two threads write the same memory in turn. Under guarded they come to share a lane, and meet in the driver as before: at
 * the end each is held up by the other for 8 ms. */
TEST(WhatIfDriver, ThreadsThatKeepHandingMemoryMeetUnderGuardedAsBefore)
{
    auto handing = [](int times) {
        std::string calls = MEMORY;
        for (int i = 0; i < 40; i++)
            calls += At(i < 2 * times ? 1 + i % 2 : 1, 100 + 10 * i, 2) + "launch s=L k=_Z1aPf args=A\n";
        return calls + At(1, 1000, 8000) + "launch s=L k=_Z1aPf args=A\n" + At(2, 1001, 8000) +
               "launch s=L k=_Z1aPf args=B\n" + At(1, 9010, 1) + "sync s=L\n" + Ran(1, 100, 105, 2);
    };
    WhatIf once(handing(1)), always(handing(10));
    ASSERT_EQ(WHATIF_SURE, once.found.doubt) << once.said;
    EXPECT_GE(1.5, once.Least(GUARDED)) << once.said;
    ASSERT_EQ(WHATIF_SURE, always.found.doubt) << always.said;
    EXPECT_LE(8.5, always.Least(GUARDED)) << always.said;
    always.Takes(ORDER_PER_THREAD, 0.5, 1.5);
}

/* The first thread's second kernel waits for its first one, for 10 ms. Where all streams share a queue, the other thread's
 * kernel stands behind it. */
std::string Three(const std::string &setting)
{
    return setting + MEMORY + "1@100+2 launch s=L k=_Z1aPf args=A\n1@103+2 launch s=L k=_Z1aPf args=A\n" +
           "2@106+2 launch s=L k=_Z1bPf args=B\n1@110+11000 sync s=L\n2@111+21000 sync s=L\n" + Ran(1, 100, 105, 10000) +
           Ran(1, 103, 10106, 1000) + Ran(2, 106, 11107, 10000);
}

TEST(WhatIfDriver, StreamsThatShareAHardwareQueueWaitForEachOther)
{
    WhatIf plenty(Three("")), one(Three("setting CUDA_DEVICE_MAX_CONNECTIONS=1\n"));
    plenty.Takes(ORDER_GUARDED, 10.5, 11.6);
    ASSERT_EQ(WHATIF_SURE, one.found.doubt) << one.said;
    EXPECT_NEAR(11, one.Least(GUARDED), 0.5) << one.said;
    EXPECT_NEAR(20, one.Most(GUARDED), 0.5) << one.said;
    EXPECT_NE(std::string::npos, one.said.find("then kernels 50 %, hardware queues 50 %")) << one.said;
}

/* Of two queues a thread's second stream is taken to get the one that another thread has. */
TEST(WhatIfDriver, AQueueMayBeSharedWithAnotherThread)
{
    WhatIf run("setting CUDA_DEVICE_MAX_CONNECTIONS=2\n" + std::string(MEMORY) +
               "1@100+2 launch s=L k=_Z1aPf args=A\n2@103+2 launch s=L k=_Z1bPf args=B\n"
               "1@106+2 launch s=B1 k=_Z1aPf args=A\n2@109+2 launch s=L k=_Z1bPf args=B\n"
               "1@112+11000 sync s=B1\n2@113+21000 sync s=L\n" +
               Ran(1, 100, 105, 10000) + Ran(2, 103, 10106, 2) + Ran(1, 106, 10109, 1000) + Ran(2, 109, 11110, 10000));
    ASSERT_EQ(WHATIF_SURE, run.found.doubt) << run.said;
    EXPECT_NEAR(11, run.Least(GUARDED), 0.5) << run.said;
    EXPECT_NEAR(20, run.Most(GUARDED), 0.5) << run.said;
}

/* Two threads, each a kernel of 10 ms and a copy to pageable memory that waits for both kernels, so many times. */
std::string Copying(int times)
{
    std::string calls = "3@0+1 alloc ptr=0x100000 bytes=4096 m=A\n3@2+1 alloc ptr=0x200000 bytes=4096 m=B\n", ran;
    for (int i = 0; i < times; i++)
        for (int thread = 1; thread <= 2; thread++) {
            int first = 5010 + 20050 * i, at = first + thread, done = first + 20010 + 10 * thread;
            std::string memory = thread == 1 ? "A" : "B";
            calls += At(thread, at, 2) + "launch s=L k=_Z1aPf args=" + memory + "\n" + At(thread, at + 10, done - at - 10) +
                     "copy s=L implicit src=" + memory + " from=device to=pageable bytes=4\n";
            ran += Ran(thread, at, first + 5 + (thread - 1) * 10001, 10000) + Ran(thread, at + 10, done - 5, 2);
        }
    return calls + ran;
}

/* Apart the kernels take 10 ms. A copy on a per-thread stream may come after another thread's, whose wait for its kernel
 * it stands behind. */
TEST(WhatIfDriver, CopiesOnPerThreadStreamsMayWaitForEachOther)
{
    WhatIf once(Copying(1)), often(Copying(5));
    once.Takes(ORDER_GUARDED, 9.5, 10.6);
    ASSERT_EQ(WHATIF_SURE, once.found.doubt) << once.said;
    EXPECT_NEAR(10, once.Least(PER_THREAD), 0.5) << once.said;
    EXPECT_NEAR(20, once.Most(PER_THREAD), 0.5) << once.said;
    often.Takes(ORDER_GUARDED, 49, 52);
    ASSERT_EQ(WHATIF_SURE, often.found.doubt) << often.said;
    EXPECT_NEAR(50, often.Least(PER_THREAD), 1) << often.said;
    EXPECT_NEAR(150, often.Most(PER_THREAD), 3) << often.said;
}

/* The second thread's copy comes when the first one's has returned: they never met, and won't. */
TEST(WhatIfDriver, CopiesThatNeverMeetDoNotWaitForEachOther)
{
    WhatIf run(std::string(MEMORY) + "1@100+2 launch s=L k=_Z1aPf args=A\n" +
               "1@110+5000 copy s=L implicit src=A from=device to=pageable bytes=4\n" +
               "2@5200+2 launch s=L k=_Z1bPf args=B\n" +
               "2@5210+5000 copy s=L implicit src=B from=device to=pageable bytes=4\n" + Ran(1, 100, 105, 5000) +
               Ran(1, 110, 5106, 2) + Ran(2, 5200, 5205, 5000) + Ran(2, 5210, 10206, 2));
    ASSERT_EQ(WHATIF_SURE, run.found.doubt) << run.said;
    EXPECT_GE(10.6, run.Most(PER_THREAD)) << run.said;
}

/* Under guarded a host's wait is for its own work and for what the host can see. The second thread waits for its kernel of
 * 1 ms, and then works for 10 ms. */
TEST(WhatIfDriver, AHostWaitsForOthersWorkOnlyWhereItCanSeeIt)
{
    std::string alloc = "1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n";
    std::string rest = "1@100+2 launch s=L k=_Z1aPf args=A\n2@103+2 launch s=L k=_Z1bPf args=B\n1@110+10000 sync s=L\n"
                       "2@111+11000 sync s=L\n2@21111+1 none\n" +
                       Ran(1, 100, 105, 10000) + Ran(2, 103, 10106, 1000);
    WhatIf device("1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n" + alloc + rest);
    WhatIf pinned("1@0+1 alloc ptr=0x100000 bytes=4096 kind=pinned m=A\n" + alloc + rest);
    WhatIf any("1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n1@100+2 launch s=L k=_Z1aPf args=A why-pointers\n1@110+10000 sync "
               "s=L\n2@111+10000 sync s=L\n"
               "2@20111+1 none\n" +
               Ran(1, 100, 105, 10000));
    device.Takes(ORDER_GUARDED, 10.5, 11.6);
    ASSERT_EQ(WHATIF_SURE, pinned.found.doubt) << pinned.said;
    EXPECT_NEAR(11, pinned.Least(GUARDED), 0.6) << pinned.said;
    EXPECT_NEAR(20, pinned.Most(GUARDED), 0.6) << pinned.said;
    ASSERT_EQ(WHATIF_SURE, any.found.doubt) << any.said;
    EXPECT_NEAR(20, any.Most(GUARDED), 0.6) << "it may use all memory\n" << any.said;
}

/* ---- what a recording tells of times ---- */

/* 4 KiB do not take 5 ms, whoever waited that long; 16 MiB may. */
TEST(WhatIfDriver, ACopyWithoutATimeIsNotSlowerThanABus)
{
    auto copy = [](const char *bytes) {
        return "1@100+5 copy s=L from=device to=pinned bytes=" + std::string(bytes) +
               "\n1@110+5000 sync s=L\n1@5200+2 launch s=L k=a\n1@5210+5000 sync s=L\n" + Ran(1, 5200, 5205, 5000);
    };
    WhatIf small(copy("4096")), large(copy("16777216"));
    EXPECT_EQ(WHATIF_MISSES, small.found.doubt) << small.said;
    EXPECT_NEAR(5.3, double(small.found.replayed) / 1e6, 0.1) << small.said;
    ASSERT_EQ(WHATIF_SURE, large.found.doubt) << large.said;
    EXPECT_GE(0.02, large.found.error) << large.said;
}

/* The first thread's kernel is over long before the second one's, which it waits for, too: it wakes 0.5 ms after that,
 * whatever ends meanwhile on a stream that it does not wait for. */
TEST(WhatIfDriver, AThreadWakesAfterTheStreamsLastWork)
{
    std::string calls;
    for (int i = 0; i < 4; i++) {
        int at = 100 + 11000 * i;
        calls += At(1, at, 2) + "launch s=L k=a\n" + At(2, at + 3, 2) + "launch s=L k=a\n" + At(2, at + 6, 2) +
                 "launch s=N1 k=a\n" + At(1, at + 10, 10500) + "sync s=L\n" + Ran(1, at, at + 5, 1000) +
                 Ran(2, at + 3, at + 1006, 9004) + Ran(2, at + 6, at + 10400, 100);
    }
    WhatIf run(calls);
    ASSERT_EQ(WHATIF_SURE, run.found.doubt) << run.said;
    EXPECT_GE(0.01, run.found.error) << run.said;
}

/* ---- words ---- */

TEST(WhatIfDriver, GainsAndLossesInWords)
{
    const struct {
        uint64_t least, most;
        const char *said;
    } cases[] = {
        {500, 800, "1.25x to 2.00x faster"},
        {500, 1000, "up to 2.00x faster"},
        {940, 1060, "no faster"},
        {500, 1250, "1.25x slower to 2.00x faster"},
        {1000, 1250, "up to 1.25x slower"},
        {1250, 2000, "1.25x to 2.00x slower"},
    };
    struct whatif whatif = {};
    whatif.recorded = 1000;
    for (const auto &one : cases) {
        struct prediction prediction = {};
        prediction.least = one.least;
        prediction.most = one.most;
        EXPECT_STREQ(one.said, whatif_text_gain(&whatif, &prediction).text);
    }
}

TEST(WhatIfDriver, WhereFewTimesAreMissingItIsNoGuess)
{
    std::string calls, ran;
    for (int i = 0; i < 20; i++) {
        calls += At(1, 100 + 10 * i, 2) + "launch s=L k=a\n";
        ran += i != 0 ? Ran(1, 100 + 10 * i, 105 + 10 * i, 2) : "";
    }
    WhatIf run(calls + "1@300+1 sync s=L\n" + ran);
    ASSERT_EQ(WHATIF_SURE, run.found.doubt) << run.said;
    run.found.no_gain = DEFAULT_UP_TO;
    TextOf out;
    whatif_text(&run.found, &out);
    EXPECT_NE(std::string::npos, out.text.find("  1 of 20 operations have no GPU times; theirs are guessed")) << out.text;
    EXPECT_EQ(std::string::npos, out.text.find("A guess")) << out.text;
}

/* ---- how the shim keeps an order ---- */

/* The second thread's kernel uses what the first one's first kernel wrote, and behind that is another: the shim may wait
 * for all that is on that stream. */
TEST(WhatIfGuard, AWaitMayBeForAllThatIsOnTheOtherStream)
{
    auto text = [](const char *between) {
        return "1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n"
               "1@100+2 launch s=L k=_Z1aPf args=A\n" +
               std::string(between) +
               "1@11000+2 launch s=L k=_Z1bPf args=B\n2@11010+2 launch s=L k=_Z1cPf args=A\n"
               "2@11020+20000 sync s=L\n1@11030+20000 sync s=L\n"
               "device-run 1@100 105+10000\ndevice-run 1@11000 11001+10000\ndevice-run 2@11010 21002+10000\n";
    };
    WhatIf waited(text("1@110+10000 sync s=L\n")); /* the shim knows that it is over */
    waited.Takes(ORDER_GUARDED, 20.4, 21.5);
    WhatIf busy(text("1@110+10000 none\n"));
    ASSERT_EQ(WHATIF_SURE, busy.found.doubt) << busy.said;
    EXPECT_GE(21.5, busy.Least(0)) << busy.said;
    EXPECT_LE(30.4, busy.Most(0)) << busy.said;
    busy.Takes(ORDER_PER_THREAD, 20.4, 21.5);
}

/* Blocking streams have no order with each other, but what the legacy stream gets in between comes after the one and before
 * the other. */
TEST(WhatIfGuard, WhatTheLegacyStreamGetsInBetweenOrdersBlockingStreams)
{
    auto text = [](const char *between, const char *memory, int begins) {
        return "1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n"
               "1@100+2 launch s=B1 k=_Z1aPf args=A\n" +
               std::string(between) + "1@110+2 launch s=B2 k=_Z1bPf args=" + memory + "\n1@120+" +
               std::to_string(begins + 9895) + " ctx-sync\ndevice-run 1@100 105+10000\ndevice-run 1@110 " +
               std::to_string(begins) + "+10000\n";
    };
    WhatIf(text("1@104 record s=L e=E\n", "A", 10106)).Takes(ORDER_GUARDED, 19.5, 20.6);
    WhatIf(text("1@104 record s=L e=E\n", "B", 10106)).Takes(ORDER_GUARDED, 9.5, 10.6);
    WhatIf(text("1@104 record s=N1 e=E\n", "A", 115)).Takes(ORDER_GUARDED, 9.5, 10.6);
}

/* Whoever waits for the event may read what the first thread's kernel wrote for the host to see. */
TEST(WhatIfGuard, AnEventMayComeAfterWhatTheHostCanSee)
{
    auto text = [](const char *memory) {
        return "1@0+1 alloc ptr=0x100000 bytes=4096 kind=pinned m=H\n1@2+1 alloc ptr=0x200000 bytes=4096 m=A\n"
               "1@100+2 launch s=L k=_Z1aPf args=" +
               std::string(memory) +
               "\n2@103+1 record s=L e=E\n2@105+9998 event-sync e=E\n2@10110+2 launch s=N1 k=_Z1bPf args=A\n"
               "2@10115+10000 sync s=N1\ndevice-run 1@100 105+10000\ndevice-run 2@10110 10112+10000\n";
    };
    WhatIf host(text("H"));
    ASSERT_EQ(WHATIF_SURE, host.found.doubt) << host.said;
    EXPECT_GE(10.6, host.Least(0)) << host.said;
    EXPECT_LE(19.5, host.Most(0)) << host.said;
    WhatIf(text("A")).Takes(ORDER_GUARDED, 9.5, 10.6);
}

} // namespace
} // namespace ptds
