/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy ordered as the driver sees it: which waits it puts in, and that it puts in no others.
 */
#include "tests/interpose/steps_test.h"

namespace ptds
{
namespace
{

TEST(Ordered, WaitsOnlyWhereTheThreadChangesSides)
{
    expect_policy(
        "ordered",
        {
            {"stream:a", "cuStreamCreate"},
            {"launch@0", "cuLaunchKernel(ptds)"},
            {"launch@0", "cuLaunchKernel(ptds)"},
            {"launch@a", "cuEventCreate cuEventCreate cuEventRecord(ptds;E1) cuStreamWaitEvent(a;E1) cuLaunchKernel(a)"},
            {"launch@a", "cuLaunchKernel(a)"},
            {"memset:D", "cuEventRecord(a;E2) cuStreamWaitEvent(ptds;E2) cuMemsetD8_v2_ptds cuStreamSynchronize(ptds)"},
            {"launch@0", "cuLaunchKernel(ptds)"},
            {"launch@a", "cuEventRecord(ptds;E1) cuStreamWaitEvent(a;E1) cuLaunchKernel(a)"},
        });
}

TEST(Ordered, ABlockingStreamFirst)
{
    expect_policy(
        "ordered",
        {
            {"stream:a", "cuStreamCreate"},
            {"launch@a", "cuLaunchKernel(a)"},
            {"launch@0", "cuEventCreate cuEventCreate cuEventRecord(a;E1) cuStreamWaitEvent(ptds;E1) cuLaunchKernel(ptds)"},
            {"launch@0", "cuLaunchKernel(ptds)"},
        });
}

TEST(Ordered, SeveralStreams)
{
    expect_policy(
        "ordered",
        {
            {"stream:a", "cuStreamCreate"},
            {"stream:b", "cuStreamCreate"},
            {"launch@0", "cuLaunchKernel(ptds)"},
            {"launch@a", "cuEventCreate cuEventCreate cuEventRecord(ptds;E1) cuStreamWaitEvent(a;E1) cuLaunchKernel(a)"},
            {"launch@b", "cuStreamWaitEvent(b;E1) cuLaunchKernel(b)"},
            {"launch@a", "cuLaunchKernel(a)"},
            {"launch@0", "cuEventRecord(a;E2) cuStreamWaitEvent(ptds;E2) cuEventRecord(b;E2) cuStreamWaitEvent(ptds;E2) "
                         "cuLaunchKernel(ptds)"},
            {"launch@b", "cuEventRecord(ptds;E1) cuStreamWaitEvent(b;E1) cuLaunchKernel(b)"},
            /* Only b has had work since; a still has to wait for the default stream. */
            {"launch@0", "cuEventRecord(b;E2) cuStreamWaitEvent(ptds;E2) cuLaunchKernel(ptds)"},
            {"launch@a", "cuEventRecord(ptds;E1) cuStreamWaitEvent(a;E1) cuLaunchKernel(a)"},
        });
}

TEST(Ordered, ManyStreams)
{
    std::vector<std::string> texts;
    std::vector<Does> steps;
    std::string joined = "cuEventCreate cuEventCreate ";
    for (char name = 'a'; name <= 'z'; name++) {
        texts.push_back(std::string("stream:") + name);
        texts.push_back(std::string("launch@") + name);
        texts.push_back(std::string("cuLaunchKernel(") + name + ")");
        joined += std::string("cuEventRecord(") + name + ";E1) cuStreamWaitEvent(ptds;E1) ";
    }
    for (size_t i = 0; i < texts.size(); i += 3) {
        steps.push_back({texts[i].c_str(), "cuStreamCreate"});
        steps.push_back({texts[i + 1].c_str(), texts[i + 2].c_str()});
    }
    joined += "cuLaunchKernel(ptds)";
    steps.push_back({"launch@0", joined.c_str()});
    expect_policy("ordered", steps);
}

TEST(Ordered, NonBlockingStreamsAreNobodysBusiness)
{
    expect_policy("ordered",
                  {
                      {"nbstream:n", "cuStreamCreate"},
                      {"launch@0", "cuLaunchKernel(ptds)"},
                      {"launch@n", "cuLaunchKernel(n)"},
                      {"launch@0", "cuLaunchKernel(ptds)"},
                      /* The program's own 0x2 work follows on the same stream; what others wait for ends here. */
                      {"launch@2", "cuEventCreate cuEventCreate cuEventRecord(ptds;E1) cuLaunchKernel(ptds)"},
                      {"twinlaunch@0", "cuLaunchKernel_ptsz(0)"},
                      {"launch@n", "cuLaunchKernel(n)"},
                  });
}

TEST(Ordered, AskingACreatedStreamIsNoWork)
{
    expect_policy("ordered", {
                                 {"stream:a", "cuStreamCreate"},
                                 {"launch@0", "cuLaunchKernel(ptds)"},
                                 {"sync@a", "cuStreamSynchronize(a)"},
                                 {"query@a", "cuStreamQuery(a)"},
                                 {"flags@a", "cuStreamGetFlags(a)"},
                                 {"ctxsync", "cuCtxSynchronize"},
                                 {"launch@0", "cuLaunchKernel(ptds)"},
                             });
}

TEST(Ordered, AskingTheDefaultStreamMeansTheBlockingOnesToo)
{
    expect_policy(
        "ordered",
        {
            {"stream:a", "cuStreamCreate"},
            {"launch@a", "cuLaunchKernel(a)"},
            {"query@0", "cuEventCreate cuEventCreate cuEventRecord(a;E1) cuStreamWaitEvent(ptds;E1) cuStreamQuery(ptds)"},
            {"sync@0", "cuStreamSynchronize(ptds)"},
            /* Neither was work: a has nothing to wait for. */
            {"launch@a", "cuLaunchKernel(a)"},
            {"sync@0", "cuEventRecord(a;E1) cuStreamWaitEvent(ptds;E1) cuStreamSynchronize(ptds)"},
            {"flags@0", "cuStreamGetFlags(ptds)"},
        });
}

TEST(Ordered, EventsOnTheDefaultStream)
{
    expect_policy("ordered",
                  {
                      {"stream:a", "cuStreamCreate"},
                      {"event:e", "cuEventCreate"},
                      {"launch@a", "cuLaunchKernel(a)"},
                      {"record:e@0",
                       "cuEventCreate cuEventCreate cuEventRecord(a;E1) cuStreamWaitEvent(ptds;E1) cuEventRecord(ptds;e)"},
                      {"esync:e", "cuEventSynchronize(;e)"},
                      {"wait:e@0", "cuStreamWaitEvent(ptds;e)"},
                      {"launch@a", "cuEventRecord(ptds;E2) cuStreamWaitEvent(a;E2) cuLaunchKernel(a)"},
                      {"graph@0", "cuEventRecord(a;E1) cuStreamWaitEvent(ptds;E1) cuGraphLaunch(ptds)"},
                      {"record:e@a", "cuEventRecord(ptds;E2) cuStreamWaitEvent(a;E2) cuEventRecord(a;e)"},
                  });
}

TEST(Ordered, ExplicitLegacyIsLeftToTheDriver)
{
    expect_policy("ordered", {
                                 {"stream:a", "cuStreamCreate"},
                                 {"launch@a", "cuLaunchKernel(a)"},
                                 {"launch@1", "cuLaunchKernel(legacy)"},
                                 {"launch@a", "cuLaunchKernel(a)"},
                                 {"record:@1", "cuEventRecord(legacy)"},
                             });
}

TEST(Ordered, ExplicitLegacyRemappedOnDemand)
{
    expect_policy(
        "ordered",
        {
            {"stream:a", "cuStreamCreate"},
            {"launch@1", "cuLaunchKernel(ptds)"},
            {"launch@a", "cuEventCreate cuEventCreate cuEventRecord(ptds;E1) cuStreamWaitEvent(a;E1) cuLaunchKernel(a)"},
        },
        {{"PTDS_EXPLICIT_LEGACY", "remap"}});
}

TEST(Ordered, SynchronousFormsAreCompleteOnReturn)
{
    expect_policy("ordered", {
                                 {"memset:D", "cuMemsetD8_v2_ptds cuStreamSynchronize(ptds)"},
                                 {"htod:H", "cuMemcpyHtoD_v2_ptds cuStreamSynchronize(ptds)"},
                                 {"htod:P", "cuMemcpyHtoD_v2_ptds cuStreamSynchronize(ptds)"},
                                 {"dtod", "cuMemcpyDtoD_v2_ptds cuStreamSynchronize(ptds)"},
                                 {"dtoh:H", "cuMemcpyDtoH_v2_ptds"},
                                 {"dtoh:P", "cuMemcpyDtoH_v2_ptds"},
                                 {"atoh:H", "cuMemcpyAtoH_v2_ptds"},
                                 {"copy:DH", "cuMemcpy_ptds cuStreamSynchronize(ptds)"},
                                 {"2d:DH", "cuMemcpy2D_v2_ptds cuStreamSynchronize(ptds)"},
                                 {"peer", "cuMemcpyPeer_ptds cuStreamSynchronize(ptds)"},
                             });
}

TEST(Ordered, DestroyedStreams)
{
    expect_policy(
        "ordered",
        {
            {"stream:a", "cuStreamCreate"},
            {"launch@0", "cuLaunchKernel(ptds)"},
            {"launch@a", "cuEventCreate cuEventCreate cuEventRecord(ptds;E1) cuStreamWaitEvent(a;E1) cuLaunchKernel(a)"},
            /* What it still holds is owed to the default stream. */
            {"destroy:a", "cuEventRecord(a;E2) cuStreamWaitEvent(ptds;E2) cuStreamDestroy_v2(a)"},
            {"launch@0", "cuLaunchKernel(ptds)"},
            /* The driver gives the same handle again: another stream, with no wait behind it. */
            {"stream:b", "cuStreamCreate"},
            {"launch@b", "cuEventRecord(ptds;E1) cuStreamWaitEvent(b;E1) cuLaunchKernel(b)"},
            {"launch@0", "cuEventRecord(b;E2) cuStreamWaitEvent(ptds;E2) cuLaunchKernel(ptds)"},
        });
}

TEST(Ordered, ADestroyedStreamThatOwesNothing)
{
    expect_policy(
        "ordered",
        {
            {"stream:a", "cuStreamCreate"},
            {"launch@a", "cuLaunchKernel(a)"},
            {"launch@0", "cuEventCreate cuEventCreate cuEventRecord(a;E1) cuStreamWaitEvent(ptds;E1) cuLaunchKernel(ptds)"},
            {"destroy:a", "cuStreamDestroy_v2(a)"},
        });
}

TEST(Ordered, AStreamDestroyedBeforeTheFirstDefaultStreamWork)
{
    expect_policy("ordered", {
                                 {"stream:a", "cuStreamCreate"},
                                 {"launch@a", "cuLaunchKernel(a)"},
                                 {"destroy:a", "cuStreamDestroy_v2(a)"},
                                 /* Its work may still run and can't be waited for by an event; the legacy stream does. */
                                 {"launch@0", "cuEventCreate cuEventCreate cuLaunchKernel(0)"},
                                 {"launch@0", "cuLaunchKernel(ptds)"},
                             });
}

TEST(Ordered, AStreamDestroyedByAnotherThread)
{
    expect_policy(
        "ordered",
        {
            {"stream:a", "cuStreamCreate"},
            {"launch@0", "cuLaunchKernel(ptds)"},
            {"launch@a", "cuEventCreate cuEventCreate cuEventRecord(ptds;E1) cuStreamWaitEvent(a;E1) cuLaunchKernel(a)"},
            {"t:destroy:a", "cuStreamDestroy_v2(a)"},
            {"query@0", "cuStreamQuery(0)"},
            {"launch@0", "cuLaunchKernel(0)"},
            {"launch@0", "cuLaunchKernel(ptds)"},
        });
}

TEST(Ordered, ThreadsKeepTheirOwnOrderOnly)
{
    expect_policy(
        "ordered",
        {
            {"stream:a", "cuStreamCreate"},
            {"launch@0", "cuLaunchKernel(ptds)"},
            {"t:launch@a", "cuLaunchKernel(a)"},
            {"t:launch@0",
             "cuEventCreate cuEventCreate cuEventRecord(a;E1) cuStreamWaitEvent(ptds;E1) cuLaunchKernel(ptds)"},
            {"launch@0", "cuLaunchKernel(ptds)"},
            {"launch@a", "cuEventCreate cuEventCreate cuEventRecord(ptds;E2) cuStreamWaitEvent(a;E2) cuLaunchKernel(a)"},
            {"t:launch@a", "cuEventRecord(ptds;E3) cuStreamWaitEvent(a;E3) cuLaunchKernel(a)"},
        });
}

/* The second thread takes over the first one's events, not what its streams have waited for. */
TEST(Ordered, AThreadAfterAnotherWaitsAnew)
{
    expect_policy("ordered",
                  {
                      {"stream:a", "cuStreamCreate"},
                      {"n:launch@0,launch@a",
                       "cuCtxSetCurrent cuLaunchKernel(ptds) cuEventCreate cuEventCreate cuEventRecord(ptds;E1) "
                       "cuStreamWaitEvent(a;E1) cuLaunchKernel(a) cuEventCreate cuEventRecord(ptds;E2) cuEventRecord(a;E3) "
                       "cuStreamWaitEvent(ptds;E3) cuEventCreate cuEventRecord(ptds;E4)"},
                      {"n:launch@0,launch@a",
                       "cuCtxSetCurrent cuEventQuery(;E2) cuEventQuery(;E4) cuLaunchKernel(ptds) cuEventRecord(ptds;E1) "
                       "cuStreamWaitEvent(a;E1) cuLaunchKernel(a) cuStreamWaitEvent(ptds;E2) cuStreamWaitEvent(ptds;E4) "
                       "cuEventRecord(ptds;E2) cuEventRecord(a;E3) cuStreamWaitEvent(ptds;E3) cuEventRecord(ptds;E4)"},
                  });
}

TEST(Ordered, AHandOverTakesTheDefaultStreamsOrderAlong)
{
    expect_policy("ordered",
                  {
                      {"launch@0", "cuLaunchKernel(ptds)"},
                      {"h:launch@0", "cuStreamQuery(ptds) cuEventCreate cuEventRecord(ptds;E1) cuEventQuery(;E1) "
                                     "cuStreamWaitEvent(ptds;E1) cuLaunchKernel(ptds) cuStreamQuery(ptds) cuEventCreate "
                                     "cuEventRecord(ptds;E2)"},
                      {"launch@0", "cuEventQuery(;E2) cuStreamWaitEvent(ptds;E2) cuLaunchKernel(ptds)"},
                      {"launch@0", "cuLaunchKernel(ptds)"},
                      /* Nothing since, nothing to wait for. */
                      {"t:launch@0", "cuLaunchKernel(ptds)"},
                      {"h:flags@0", "cuStreamQuery(ptds) cuEventRecord(ptds;E1) cuStreamGetFlags(ptds) cuStreamQuery(ptds) "
                                    "cuEventRecord(ptds;E2)"},
                      {"h:launch@0", "cuEventQuery(;E1) cuStreamWaitEvent(ptds;E1) cuLaunchKernel(ptds) "
                                     "cuStreamQuery(ptds) cuEventRecord(ptds;E2)"},
                  },
                  {{"FAKE_PENDING", "1"}});
}

TEST(Ordered, WorkThatIsDoneIsNotHandedOver)
{
    expect_policy("ordered", {
                                 {"launch@0", "cuLaunchKernel(ptds)"},
                                 {"h:launch@0", "cuStreamQuery(ptds) cuLaunchKernel(ptds) cuStreamQuery(ptds)"},
                                 {"launch@0", "cuLaunchKernel(ptds)"},
                             });
}

TEST(Ordered, WorkFoundDoneByOneThreadIsNotAskedForByAnother)
{
    expect_policy("ordered",
                  {
                      {"launch@0", "cuLaunchKernel(ptds)"},
                      {"h:launch@0", "cuStreamQuery(ptds) cuEventCreate cuEventRecord(ptds;E1) cuEventQuery(;E1) "
                                     "cuLaunchKernel(ptds) cuStreamQuery(ptds) cuEventCreate cuEventRecord(ptds;E2)"},
                      /* The first thread's: known. The second's: not yet. */
                      {"H:launch@0", "cuEventQuery(;E2) cuLaunchKernel(ptds) cuStreamQuery(ptds) cuEventCreate "
                                     "cuEventRecord(ptds;E3)"},
                      /* New work of the first is another matter. */
                      {"launch@0", "cuEventQuery(;E3) cuLaunchKernel(ptds)"},
                      {"H:launch@0", "cuStreamQuery(ptds) cuEventRecord(ptds;E1) cuEventQuery(;E1) cuLaunchKernel(ptds) "
                                     "cuStreamQuery(ptds) cuEventRecord(ptds;E3)"},
                  },
                  {{"FAKE_PENDING", "streams"}});
}

TEST(Ordered, DuringACaptureNobodyAsksWhetherWorkIsDone)
{
    expect_policy("ordered",
                  {
                      {"nbstream:n", "cuStreamCreate"},
                      {"launch@0", "cuLaunchKernel(ptds)"},
                      {"t:begin@n", "cuStreamBeginCapture_v2(n)"},
                      {"h:launch@0", "cuEventCreate cuEventRecord(ptds;E1) cuStreamWaitEvent(ptds;E1) "
                                     "cuLaunchKernel(ptds) cuEventCreate cuEventRecord(ptds;E2)"},
                  },
                  {{"FAKE_PENDING", "streams"}});
}

TEST(Ordered, AHandOverOfWorkOnABlockingStream)
{
    expect_policy(
        "ordered",
        {
            {"stream:a", "cuStreamCreate"},
            {"stream:b", "cuStreamCreate"},
            {"launch@a", "cuLaunchKernel(a)"},
            /* Joined, for others' default-stream work; other streams' work need not wait for it. */
            {"h:launch@b", "cuEventCreate cuEventCreate cuEventRecord(a;E1) cuStreamWaitEvent(ptds;E1) cuEventCreate "
                           "cuEventRecord(ptds;E2) cuLaunchKernel(b) cuEventCreate cuEventCreate cuEventRecord(b;E3) "
                           "cuStreamWaitEvent(ptds;E3) cuEventCreate cuEventRecord(ptds;E4)"},
            {"t:launch@0", "cuEventQuery(;E2) cuStreamWaitEvent(ptds;E2) cuLaunchKernel(ptds)"},
            {"launch@a", "cuLaunchKernel(a)"},
            {"launch@0", "cuEventQuery(;E4) cuStreamWaitEvent(ptds;E4) cuEventRecord(a;E1) cuStreamWaitEvent(ptds;E1) "
                         "cuLaunchKernel(ptds)"},
        },
        {{"FAKE_PENDING", "1"}});
}

TEST(Ordered, WorkOnABlockingStreamAfterAHandOver)
{
    expect_policy("ordered",
                  {
                      {"stream:a", "cuStreamCreate"},
                      {"launch@0", "cuLaunchKernel(ptds)"},
                      {"h:launch@a", "cuStreamQuery(ptds) cuEventCreate cuEventRecord(ptds;E1) cuEventQuery(;E1) "
                                     "cuStreamWaitEvent(ptds;E1) cuEventCreate cuEventCreate "
                                     "cuEventRecord(ptds;E2) cuStreamWaitEvent(a;E2) cuLaunchKernel(a) "
                                     "cuEventRecord(a;E3) cuStreamWaitEvent(ptds;E3) cuEventCreate "
                                     "cuEventRecord(ptds;E4)"},
                  },
                  {{"FAKE_PENDING", "1"}});
}

TEST(Ordered, FinishedWorkIsNotHandedOver)
{
    expect_policy("ordered",
                  {
                      {"memset:D", "cuMemsetD8_v2_ptds cuStreamSynchronize(ptds)"},
                      {"h:launch@0", "cuLaunchKernel(ptds) cuStreamQuery(ptds) cuEventCreate "
                                     "cuEventRecord(ptds;E1)"},
                  },
                  {{"FAKE_PENDING", "1"}});
}

TEST(Ordered, StreamsOfAnotherContext)
{
    expect_policy("ordered", {
                                 {"stream:a", "cuStreamCreate"},
                                 {"launch@0", "cuLaunchKernel(ptds)"},
                                 {"context:second", "cuCtxCreate_v2"},
                                 /* a belongs to the first context, whose default stream is what it waits for. */
                                 {"launch@a", "cuCtxPushCurrent_v2 cuEventCreate cuEventCreate cuEventRecord(ptds;E1) "
                                              "cuStreamWaitEvent(a;E1) cuCtxPopCurrent_v2 cuLaunchKernel(a)"},
                                 {"launch@a", "cuLaunchKernel(a)"},
                                 /* Another default stream: it owes a nothing. */
                                 {"launch@0", "cuLaunchKernel(ptds)"},
                                 {"use:first", "cuCtxSetCurrent"},
                                 {"launch@0", "cuEventRecord(a;E2) cuStreamWaitEvent(ptds;E2) cuLaunchKernel(ptds)"},
                             });
}

/* A copy between devices is in order with the default streams of both, which events of one context do not reach. */
TEST(Ordered, CopiesBetweenContexts)
{
    expect_policy("ordered", {
                                 {"launch@0", "cuLaunchKernel(ptds)"},
                                 {"peer", "cuMemcpyPeer_ptds cuStreamSynchronize(ptds)"},
                                 {"context:second", "cuCtxCreate_v2"},
                                 {"launch@0", "cuLaunchKernel(ptds)"},
                                 {"use:first", "cuCtxSetCurrent"},
                                 {"peer", "cuCtxPushCurrent_v2 cuStreamSynchronize(ptds) cuCtxPopCurrent_v2 "
                                          "cuMemcpyPeer_ptds cuStreamSynchronize(ptds)"},
                                 {"dtod", "cuMemcpyDtoD_v2_ptds cuStreamSynchronize(ptds)"},
                             });
}

/* The driver refuses the work, whichever stream it is for. */
TEST(Ordered, WithoutAContextNothingIsDone)
{
    expect_policy("ordered", {
                                 {"nocontext", "cuCtxSetCurrent"},
                                 {"launch@0", "cuLaunchKernel(ptds)"},
                                 {"launch@0", "cuLaunchKernel(ptds)"},
                                 {"memset:D", "cuMemsetD8_v2_ptds cuStreamSynchronize(ptds)"},
                             });
}

TEST(Ordered, ExcludedObjectsStayOnTheLegacyStream)
{
    expect_policy("ordered",
                  {
                      {"stream:a", "cuStreamCreate"},
                      {"launch@0", "cuLaunchKernel(0)"},
                      {"launch@a", "cuLaunchKernel(a)"},
                      {"launch@0", "cuLaunchKernel(0)"},
                      {"memset:D", "cuMemsetD8_v2"},
                  },
                  {{"PTDS_EXCLUDE", "libother*,steps_*"}});
}

TEST(Ordered, OnlyIncludedObjectsAreRemapped)
{
    expect_policy("ordered", {{"launch@0", "cuLaunchKernel(0)"}}, {{"PTDS_INCLUDE", "libother*"}});
    expect_policy("ordered", {{"launch@0", "cuLaunchKernel(ptds)"}}, {{"PTDS_INCLUDE", "*/steps_child"}});
}

} // namespace
} // namespace ptds
