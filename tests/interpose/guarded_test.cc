/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy guarded as the driver sees it: which waits it puts in, and that it puts in no others.
 */
#include "tests/interpose/steps_test.h"

namespace ptds
{
namespace
{

TEST(Guarded, ThreadsWaitForEachOtherWhereTheyShareMemory)
{
    expect_policy("guarded", {
                                 {"fill:D@0", "cuMemsetD8Async(L1)"},
                                 {"t:fill:D@0", "cuEventRecord(L1;E1) cuStreamWaitEvent(L2;E1) cuMemsetD8Async(L2)"},
                                 {"t:fill:D@0", "cuMemsetD8Async(L2)"},
                                 {"fill:O@0", "cuMemsetD8Async(L1)"},
                                 {"fill:D@0", "cuEventRecord(L2;E1) cuStreamWaitEvent(L1;E1) cuMemsetD8Async(L1)"},
                             });
}

TEST(Guarded, ThreadsThatShareNoneDoNotWait)
{
    expect_policy("guarded",
                  {
                      {"fill:D@0", "cuMemsetD8Async(L1)"},
                      {"t:fill:O@0", "cuMemsetD8Async(L2)"},
                      {"fill:D@0", "cuMemsetD8Async(L1)"},
                      {"sync@0", "cuStreamSynchronize(L1)"},
                      {"query@0", "cuEventRecord(L2;E1) cuThreadExchangeStreamCaptureMode cuEventSynchronize(;E1) "
                                  "cuThreadExchangeStreamCaptureMode cuStreamQuery(0)"},
                  });
}

/* A kernel of which nothing is known may touch everything. */
TEST(Guarded, WhatIsNotKnownComesAfterAll)
{
    expect_policy("guarded", {
                                 {"stream:a", "cuStreamCreate"},
                                 {"fill:D@0", "cuMemsetD8Async(L1)"},
                                 {"fill:O@a", "cuMemsetD8Async(a)"},
                                 {"t:launch@0", "cuEventRecord(a;E1) cuStreamWaitEvent(L2;E1) cuEventRecord(L1;E1) "
                                                "cuStreamWaitEvent(L2;E1) cuLaunchKernel(L2)"},
                                 {"fill:D@0", "cuEventRecord(L2;E1) cuStreamWaitEvent(L1;E1) cuMemsetD8Async(L1)"},
                             });
}

/* A function of which nothing is known may be on any stream: it comes after all on each that was seen at work, and all
 * comes after it there. The legacy stream stands for the others. */
TEST(Guarded, WhatNobodyKnowsIsOnEveryStream)
{
    expect_policy(
        "guarded",
        {
            {"nbstream:n", "cuStreamCreate"},
            {"stream:b", "cuStreamCreate"},
            {"fill:D@0", "cuMemsetD8Async(L1)"},
            {"future@b", "cuEventRecord(L1;E1) cuStreamWaitEvent(legacy;E1) cuEventRecord(legacy;E1) cuFutureAsync(b) "
                         "cuEventRecord(legacy;E1)"},
            {"fill:D@0", "cuStreamWaitEvent(L1;E1) cuMemsetD8Async(L1)"},
            {"t:sync@0", "cuStreamWaitEvent(L2;E1) cuStreamSynchronize(L2)"},
        });
    expect_policy(
        "guarded",
        {
            {"stream:a", "cuStreamCreate"},
            {"fill:D@a", "cuMemsetD8Async(a)"},
            {"fill:O@2", "cuMemsetD8Async(ptds)"},
            {"t:fill:D@0", "cuEventRecord(a;E1) cuStreamWaitEvent(L1;E1) cuMemsetD8Async(L1)"},
            {"twinfuture@a",
             "cuEventRecord(a;E1) cuEventRecord(L1;E2) cuStreamWaitEvent(a;E2) cuEventRecord(legacy;E2) "
             "cuStreamWaitEvent(a;E2) "
             "cuEventRecord(ptds;E2) cuEventRecord(L1;E3) cuStreamWaitEvent(ptds;E3) cuStreamWaitEvent(ptds;E1) "
             "cuEventRecord(ptds;E3) "
             "cuStreamWaitEvent(legacy;E3) cuEventRecord(a;E4) cuStreamWaitEvent(legacy;E4) cuEventRecord(legacy;E4) "
             "cuFutureAsync_ptsz(a) "
             "cuEventRecord(a;E5) cuStreamWaitEvent(a;E4) cuStreamWaitEvent(ptds;E4) cuStreamWaitEvent(ptds;E5) "
             "cuEventRecord(ptds;E6) "
             "cuStreamWaitEvent(legacy;E6) cuEventRecord(a;E7) cuStreamWaitEvent(legacy;E7) cuEventRecord(legacy;E7)"},
            {"t:fill:D@0", "cuStreamWaitEvent(L1;E7) cuMemsetD8Async(L1)"},
        });
}

/* A list names what it touches. */
TEST(Guarded, BatchesWaitForWhatTheyTouch)
{
    expect_policy(
        "guarded",
        {
            {"stream:a", "cuStreamCreate"},
            {"fill:D@0", "cuMemsetD8Async(L1)"},
            {"batch3d:O@a", "cuMemcpy3DBatchAsync_v2(a)"},
            {"discard:O@a", "cuMemDiscardBatchAsync(a)"},
            {"batch3d:D@a", "cuEventRecord(L1;E1) cuStreamWaitEvent(a;E1) cuMemcpy3DBatchAsync_v2(a)"},
            {"fill:D@0", "cuEventRecord(a;E1) cuStreamWaitEvent(L1;E1) cuMemsetD8Async(L1)"},
            {"discard:D@a", "cuEventRecord(a;E1) cuEventRecord(L1;E2) cuStreamWaitEvent(a;E2) cuMemDiscardBatchAsync(a)"},
        });
}

TEST(Guarded, BlockingStreams)
{
    expect_policy("guarded", {
                                 {"stream:a", "cuStreamCreate"},
                                 {"stream:b", "cuStreamCreate"},
                                 {"fill:D@0", "cuMemsetD8Async(L1)"},
                                 {"fill:D@a", "cuEventRecord(L1;E1) cuStreamWaitEvent(a;E1) cuMemsetD8Async(a)"},
                                 {"fill:D@a", "cuMemsetD8Async(a)"},
                                 {"fill:O@b", "cuMemsetD8Async(b)"},
                                 {"fill:O@0", "cuEventRecord(b;E1) cuStreamWaitEvent(L1;E1) cuMemsetD8Async(L1)"},
                                 {"fill:D@0", "cuEventRecord(a;E1) cuStreamWaitEvent(L1;E1) cuMemsetD8Async(L1)"},
                             });
}

/* What was on the stream when a default operation came is marked before more is: only that much was promised. */
TEST(Guarded, ABlockingStreamIsMarkedAfterADefaultOperation)
{
    expect_policy("guarded",
                  {
                      {"stream:a", "cuStreamCreate"},
                      {"fill:D@a", "cuMemsetD8Async(a)"},
                      {"fill:O@0", "cuMemsetD8Async(L1)"},
                      {"fill:O@a", "cuEventRecord(a;E1) cuEventRecord(L1;E2) cuStreamWaitEvent(a;E2) cuMemsetD8Async(a)"},
                      {"fill:O@a", "cuMemsetD8Async(a)"},
                      {"fill:D@0", "cuEventRecord(a;E2) cuStreamWaitEvent(L1;E2) cuMemsetD8Async(L1)"},
                  });
}

TEST(Guarded, NonBlockingStreamsAreNobodysBusiness)
{
    expect_policy("guarded", {
                                 {"nbstream:n", "cuStreamCreate"},
                                 {"event:e", "cuEventCreate"},
                                 {"fill:D@0", "cuMemsetD8Async(L1)"},
                                 {"fill:D@n", "cuMemsetD8Async(n)"},
                                 {"record:e@0", "cuEventRecord(L1;e)"},
                                 {"wait:e@n", "cuStreamWaitEvent(n;e)"},
                                 {"fill:D@n", "cuMemsetD8Async(n)"},
                                 {"fill:D@0", "cuMemsetD8Async(L1)"},
                             });
}

TEST(Guarded, ThePerThreadStreamIsABlockingOne)
{
    expect_policy(
        "guarded",
        {
            {"fill:D@0", "cuMemsetD8Async(L1)"},
            {"fill:D@2", "cuEventRecord(L1;E1) cuStreamWaitEvent(ptds;E1) cuMemsetD8Async(ptds) cuEventRecord(ptds;E1)"},
            {"fill:D@0", "cuStreamWaitEvent(L1;E1) cuMemsetD8Async(L1)"},
            {"t:fill:D@0", "cuEventRecord(L1;E2) cuStreamWaitEvent(L2;E2) cuMemsetD8Async(L2)"},
            {"t:fill:D@2", "cuEventRecord(L2;E2) cuStreamWaitEvent(ptds;E2) cuMemsetD8Async(ptds) cuEventRecord(ptds;E2)"},
            {"fill:D@0", "cuStreamWaitEvent(L1;E2) cuMemsetD8Async(L1)"},
        });
}

/* The host may read what others' work has put where the host can read. */
TEST(Guarded, TheHostWaitsForItsOwnLaneAndForWhatItCanSee)
{
    expect_policy(
        "guarded",
        {
            {"stream:a", "cuStreamCreate"},
            {"fill:D@0", "cuMemsetD8Async(L1)"},
            {"t:fill:P@0", "cuMemsetD8Async(L2)"},
            {"T:fill:O@0", "cuMemsetD8Async(L3)"},
            {"sync@0", "cuEventRecord(L1;E1) cuEventRecord(L2;E2) cuStreamWaitEvent(L1;E2) cuStreamSynchronize(L1)"},
            {"t:sync@0", "cuStreamSynchronize(L2)"},
            {"sync@0", "cuStreamSynchronize(L1)"},
            {"sync@a", "cuStreamSynchronize(a)"},
        });
}

TEST(Guarded, SynchronousFormsWaitWhereTheOriginalsDo)
{
    expect_policy("guarded", {
                                 {"memset:D", "cuMemsetD8Async(L1)"},
                                 {"memset:P", "cuMemsetD8Async(L1) cuStreamSynchronize(L1)"},
                                 {"htod:H", "cuMemcpyHtoDAsync_v2(L1) cuStreamSynchronize(L1)"},
                                 {"htod:P", "cuMemcpyHtoDAsync_v2(L1) cuStreamSynchronize(L1)"},
                                 {"dtoh:H", "cuStreamSynchronize(L1) cuMemcpyDtoHAsync_v2(L1) cuStreamSynchronize(L1)"},
                                 {"dtoh:P", "cuMemcpyDtoHAsync_v2(L1) cuStreamSynchronize(L1)"},
                                 {"dtod", "cuMemcpyDtoDAsync_v2(L1)"},
                                 {"copy:DD", "cuMemcpyAsync(L1)"},
                                 {"copy:HD", "cuMemcpyAsync(L1) cuStreamSynchronize(L1)"},
                                 {"peer", "cuMemcpyPeerAsync(L1)"},
                             });
}

/* An event with times measures what it would have measured: all that came before. */
TEST(Guarded, EventsOnTheDefaultStream)
{
    expect_policy("guarded", {
                                 {"stream:a", "cuStreamCreate"},
                                 {"event:e", "cuEventCreate"},
                                 {"fill:D@a", "cuMemsetD8Async(a)"},
                                 {"fill:O@0", "cuMemsetD8Async(L1)"},
                                 {"record:e@0", "cuEventRecord(a;E1) cuStreamWaitEvent(L1;E1) cuEventRecord(L1;e)"},
                                 {"esync:e", "cuEventSynchronize(;e)"},
                                 {"wait:e@0", "cuStreamWaitEvent(L1;e)"},
                             });
}

/* Through another stream's wait, and by a thread that did not wait itself: the default stream is one. */
TEST(Guarded, WhatAnEventPassesOn)
{
    expect_policy("guarded", {
                                 {"nbstream:m", "cuStreamCreate"},
                                 {"nbstream:n", "cuStreamCreate"},
                                 {"event:e", "cuEventCreate"},
                                 {"event:f", "cuEventCreate"},
                                 {"fill:D@m", "cuMemsetD8Async(m)"},
                                 {"record:e@m", "cuEventRecord(m;e)"},
                                 {"wait:e@n", "cuStreamWaitEvent(n;e)"},
                                 {"record:f@n", "cuEventRecord(n;f)"},
                                 {"wait:f@0", "cuStreamWaitEvent(L1;f)"},
                                 {"t:fill:D@0", "cuEventRecord(m;E1) cuStreamWaitEvent(L2;E1) cuMemsetD8Async(L2)"},
                                 {"t:fill:O@0", "cuMemsetD8Async(L2)"},
                             });
}

TEST(Guarded, ExplicitLegacyIsKeptAndOrdered)
{
    expect_policy(
        "guarded",
        {
            {"stream:a", "cuStreamCreate"},
            {"fill:D@a", "cuMemsetD8Async(a)"},
            {"fill:D@1",
             "cuEventRecord(a;E1) cuStreamWaitEvent(legacy;E1) cuMemsetD8Async(legacy) cuEventRecord(legacy;E1)"},
            {"fill:D@0", "cuStreamWaitEvent(L1;E1) cuMemsetD8Async(L1)"},
            {"fill:D@1",
             "cuEventRecord(L1;E2) cuStreamWaitEvent(legacy;E2) cuMemsetD8Async(legacy) cuEventRecord(legacy;E1)"},
        });
}

TEST(Guarded, ExplicitLegacyRemappedOnDemand)
{
    expect_policy("guarded",
                  {
                      {"stream:a", "cuStreamCreate"},
                      {"fill:D@1", "cuMemsetD8Async(L1)"},
                      {"fill:D@a", "cuEventRecord(L1;E1) cuStreamWaitEvent(a;E1) cuMemsetD8Async(a)"},
                  },
                  {{"PTDS_EXPLICIT_LEGACY", "remap"}});
}

TEST(Guarded, ExcludedObjectsStayOnTheLegacyStreamInOrder)
{
    expect_policy(
        "guarded",
        {
            {"stream:a", "cuStreamCreate"},
            {"fill:D@a", "cuMemsetD8Async(a)"},
            {"fill:D@0", "cuEventRecord(a;E1) cuStreamWaitEvent(legacy;E1) cuMemsetD8Async(0) cuEventRecord(legacy;E1)"},
            {"fill:O@0", "cuMemsetD8Async(0) cuEventRecord(legacy;E1)"},
            {"fill:D@a", "cuEventRecord(a;E2) cuStreamWaitEvent(a;E1) cuMemsetD8Async(a)"},
        },
        {{"PTDS_EXCLUDE", "steps_child"}});
}

/* One that is longer than any path is in no list, and takes nothing from those behind it. */
TEST(Guarded, AnEndlessNameExcludesNothing)
{
    for (const std::string &list : {std::string(600, 'x') + ",,steps_child", std::string(600, '*')})
        expect_policy(
            "guarded",
            {{"fill:D@0", list.back() == '*' ? "cuMemsetD8Async(L1)" : "cuMemsetD8Async(0) cuEventRecord(legacy;E1)"}},
            {{"PTDS_EXCLUDE", list}});
}

TEST(Guarded, GettersSeeTheDefaultStreamAndAttributesReachTheLanes)
{
    expect_policy("guarded",
                  {{"flags@0", "cuStreamGetFlags(0)"}, {"attr@0", "cuStreamSetAttribute(0) cuStreamSetAttribute(L1)"}});
}

TEST(Guarded, DestroyedStreams)
{
    expect_policy("guarded", {
                                 {"stream:a", "cuStreamCreate"},
                                 {"fill:D@0", "cuMemsetD8Async(L1)"},
                                 {"destroy:a", "cuStreamDestroy_v2(a)"},
                                 {"stream:b", "cuStreamCreate"},
                                 {"fill:D@b", "cuEventRecord(L1;E1) cuStreamWaitEvent(b;E1) cuMemsetD8Async(b)"},
                                 /* What it still holds is promised to others: marked while it may be. */
                                 {"destroy:b", "cuEventRecord(b;E1) cuStreamDestroy_v2(b)"},
                                 {"fill:D@0", "cuStreamWaitEvent(L1;E1) cuMemsetD8Async(L1)"},
                             });
}

/* Without an event there still is the host. */
TEST(Guarded, WithoutEventsTheHostWaits)
{
    expect_policy("guarded",
                  {
                      {"fill:D@0", "cuMemsetD8Async(L1)"},
                      {"t:fill:O@0", "cuMemsetD8Async(L2)"},
                      {"t:fill:D@0", "cuEventCreate cuThreadExchangeStreamCaptureMode cuStreamSynchronize(L1) "
                                     "cuThreadExchangeStreamCaptureMode cuMemsetD8Async(L2)"},
                  },
                  {{"FAKE_NO_EVENTS", "1"}});
}

/* A thread's lane is another's after its end, its work still pending; the one that has rested longest comes first. */
TEST(Guarded, LanesOfEndedThreadsAreUsedAgain)
{
    constexpr int THREADS = 9;
    auto name = [](int thread) { return "L" + std::to_string(2 + thread % 3); };
    std::vector<std::string> entries;
    std::vector<Does> steps = {{"fill:D@0", "cuMemsetD8Async(L1)"}};
    for (int i = 0; i < THREADS; i++) {
        std::string behind = "cuEventRecord(" + name(i + 2) + ";E1) cuStreamWaitEvent(" + name(i) + ";E1) ";
        entries.push_back("cuCtxSetCurrent " + (i ? behind : "cuStreamCreate cuStreamCreate cuStreamCreate ") +
                          "cuMemsetD8Async(" + name(i) + ")");
    }
    for (const std::string &entry : entries)
        steps.push_back({"n:fill:O@0", entry.c_str()});
    expect_policy("guarded", steps);
}

/* Nothing that the parent's work waits for is the child's: not its lanes, nor its captures, nor what touched a memory. */
TEST(Guarded, AForkedChildBeginsAnew)
{
    expect_policy(
        "guarded",
        {
            {"stream:a", "cuStreamCreate"},
            {"nbstream:n", "cuStreamCreate"},
            {"event:e", "cuEventCreate"},
            {"fill:D@a", "cuMemsetD8Async(a)"},
            {"fill:O@0", "cuMemsetD8Async(L1)"},
            {"fill:O@2", "cuEventRecord(L1;E1) cuStreamWaitEvent(ptds;E1) cuMemsetD8Async(ptds) cuEventRecord(ptds;E1)"},
            {"fill:O@1", "cuStreamWaitEvent(legacy;E1) cuMemsetD8Async(legacy) cuEventRecord(legacy;E2)"},
            {"record:e@0", "cuEventRecord(L1;E3) cuStreamWaitEvent(L1;E2) cuEventRecord(a;E4) cuStreamWaitEvent(L1;E4) "
                           "cuEventRecord(L1;e)"},
            {"begin@n", "cuStreamBeginCapture_v2(n)"},
            {"fork", ""},
            {"memset:D", "lane cuMemsetD8Async(L2)"},
            {"fill:D@0", "cuMemsetD8Async(L2)"},
            {"fill:O@a", "cuStreamGetFlags(a) cuMemsetD8Async(a)"},
            {"fill:O@n", "cuStreamGetFlags(n) cuMemsetD8Async(n)"},
            {"fill:O@2", "cuMemsetD8Async(ptds) cuEventRecord(ptds;E5)"},
            {"fill:D@1",
             "cuEventRecord(L2;E6) cuStreamWaitEvent(legacy;E6) cuMemsetD8Async(legacy) cuEventRecord(legacy;E6)"},
            {"wait:e@n", "cuStreamWaitEvent(n;e)"},
            /* Nobody knows here what it stands for. */
            {"wait:e@0", "cuEventRecord(L2;E7) cuStreamWaitEvent(L2;E6) cuStreamWaitEvent(L2;E5) cuEventRecord(a;E8) "
                         "cuStreamWaitEvent(L2;E8) cuStreamWaitEvent(L2;e)"},
            {"record:e@0", "cuEventRecord(L2;e)"},
            {"sync@0", "cuStreamSynchronize(L2)"},
            {"destroy:a", "cuStreamDestroy_v2(a)"},
        });
}

TEST(Lanes, IndependentWorkSpreadsAndAChainStays)
{
    expect_policy("guarded",
                  {
                      {"fill:D@0", "cuMemsetD8Async(L1)"},
                      {"fill:O@0", "cuMemsetD8Async(L2)"},
                      {"fill:D@0", "cuMemsetD8Async(L1)"},
                      {"fill:O@0", "cuMemsetD8Async(L2)"},
                      /* What looks at the whole default stream comes after all of it. */
                      {"launch@0", "cuEventRecord(L1;E1) cuStreamWaitEvent(L2;E1) cuLaunchKernel(L2)"},
                      {"sync@0", "cuStreamSynchronize(L2)"},
                  },
                  {{"PTDS_LANES", "4"}});
}

TEST(Lanes, AProgramThatWaitsAfterEachOperationStaysOnOneStream)
{
    expect_policy("guarded",
                  {
                      {"fill:D@0", "cuMemsetD8Async(L1)"},
                      {"sync@0", "cuStreamSynchronize(L1)"},
                      {"fill:O@0", "cuMemsetD8Async(L1)"},
                      {"sync@0", "cuStreamSynchronize(L1)"},
                      {"fill:D@0", "cuMemsetD8Async(L1)"},
                      {"fill:O@0", "cuMemsetD8Async(L2)"}, /* the first that has work to run beside */
                      {"sync@0", "cuEventRecord(L2;E1) cuEventRecord(L1;E2) cuStreamWaitEvent(L2;E2) cuStreamSynchronize(L2)"},
                      {"fill:D@0", "cuMemsetD8Async(L2)"},
                  },
                  {{"PTDS_LANES", "4"}});
}

/* More streams than there are lanes, each with work on the same memory, which never ends. */
std::vector<std::string> a_crowd(std::vector<std::string> steps, int streams)
{
    for (int i = 0; i < streams; i++) {
        std::string name = "s" + std::to_string(i);
        steps.insert(steps.end(), {"stream:" + name, "fill:D@" + name});
    }
    return steps;
}

Outcome guarded_crowd(const std::vector<std::string> &steps)
{
    return run(shimmed("steps_child", steps, {{"PTDS_POLICY", "guarded"}, {"FAKE_PENDING", "1"}}));
}

TEST(Lanes, WhereAllHaveWorkTheHostWaitsForOneOfThem)
{
    Outcome outcome = guarded_crowd(a_crowd({}, 257));
    std::string last = lines_of(outcome.out).back(),
                end = " cuStreamSynchronize(s0) cuThreadExchangeStreamCaptureMode cuMemsetD8Async(s256)";
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(last.substr(last.size() - std::min(end.size(), last.size())), end);
    EXPECT_EQ(last.find("cuStreamSynchronize"), last.find(end) + 1) << "for one, not for more";
}

/* Nobody may be asked whether it is done, nor all at once: the host waits for each, before the call and behind it. */
TEST(Lanes, WhereNoneIsLeftDuringACaptureTheHostWaitsForAll)
{
    Outcome outcome = guarded_crowd(a_crowd({"fill:D@0", "nbstream:c", "begin@c"}, 256));
    auto waits = [](const std::string &stream) {
        return "cuThreadExchangeStreamCaptureMode cuStreamSynchronize(" + stream + ") cuThreadExchangeStreamCaptureMode";
    };
    std::string expected = waits("L1");
    for (int i = 0; i < 255; i++)
        expected += " " + waits("s" + std::to_string(i));
    EXPECT_EQ(lines_of(outcome.out).back(), expected + " cuMemsetD8Async(s255) " + waits("s255"));
    EXPECT_EQ(outcome.err,
              "ptds: more streams and threads at once than legacy order can be kept for by events: the host waits\n");
    EXPECT_EQ(outcome.exit, 0);
}

/* An event that is recorded where no lane is left stands for nothing that is not done: not for what it stood for before. */
TEST(Lanes, AnEventWhereNoneIsLeft)
{
    std::vector<std::string> steps = a_crowd(
        {"fill:D@0", "t:fill:D@0", "nbstream:n", "fill:O@n", "event:e", "record:e@n", "nbstream:c", "begin@c"}, 254);
    steps.insert(steps.end(), {"record:e@s253", "wait:e@0", "t:fill:O@0"});
    EXPECT_EQ(lines_of(guarded_crowd(steps).out).back(), "cuMemsetD8Async(L1)") << "no wait";
}

TEST(Lanes, OneUnlessMoreAreAskedFor)
{
    expect_policy("guarded", {{"fill:D@0", "cuMemsetD8Async(L1)"}, {"fill:O@0", "cuMemsetD8Async(L1)"}});
}

} // namespace
} // namespace ptds
