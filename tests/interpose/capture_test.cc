/* SPDX-License-Identifier: Apache-2.0
 *
 * Captures: the shim makes no call of its own that could break one, and what a capture would have refused stays refused.
 */
#include "tests/interpose/steps_test.h"

namespace ptds
{
namespace
{

TEST(CaptureGuarded, NothingInsideAndWhatWasPromisedAfterwards)
{
    expect_policy("guarded",
                  {
                      {"stream:a", "cuStreamCreate"},
                      {"launch@0", "cuLaunchKernel(L1)"},
                      {"begin@a", "cuStreamBeginCapture_v2(a)"},
                      {"launch@a", "cuLaunchKernel(a)"},
                      {"launch@0", "cuLaunchKernel(0)"},
                      {"memset:D", "cuMemsetD8_v2"},
                      {"launch@a", "cuLaunchKernel(a)"},
                      {"end@a", "cuStreamEndCapture(a)"},
                      /* What was promised before is promised still, also to a graph launch. */
                      {"graph@a", "cuEventRecord(L1;E1) cuStreamWaitEvent(a;E1) cuGraphLaunch(a)"},
                      {"launch@0", "cuEventRecord(L1;E1) cuEventRecord(a;E2) cuStreamWaitEvent(L1;E2) cuLaunchKernel(L1)"},
                  });
}

TEST(CaptureGuarded, MarksTheStreamBefore)
{
    expect_policy("guarded",
                  {
                      {"stream:a", "cuStreamCreate"},
                      {"stream:b", "cuStreamCreate"},
                      {"launch@b", "cuLaunchKernel(b)"},
                      {"launch@0", "cuEventRecord(b;E1) cuStreamWaitEvent(L1;E1) cuLaunchKernel(L1)"},
                      {"launch@a", "cuEventRecord(L1;E1) cuStreamWaitEvent(a;E1) cuLaunchKernel(a)"},
                      {"begin@a", "cuEventRecord(a;E1) cuStreamBeginCapture_v2(a)"},
                      {"launch@b", "cuEventRecord(b;E2) cuEventRecord(L1;E3) cuStreamWaitEvent(b;E3) cuLaunchKernel(b)"},
                      {"end@a", "cuStreamEndCapture(a)"},
                      {"launch@0", "cuEventRecord(L1;E3) cuEventRecord(b;E4) cuStreamWaitEvent(L1;E4) "
                                   "cuStreamWaitEvent(L1;E1) cuLaunchKernel(L1)"},
                  });
}

TEST(CaptureGuarded, ANonBlockingCaptureLetsDefaultWorkThrough)
{
    expect_policy("guarded",
                  {
                      {"stream:a", "cuStreamCreate"},
                      {"nbstream:n", "cuStreamCreate"},
                      {"launch@0", "cuLaunchKernel(L1)"},
                      {"begin@n", "cuStreamBeginCapture_v2(n)"},
                      {"launch@n", "cuLaunchKernel(n)"},
                      {"launch@0", "cuLaunchKernel(L1)"},
                      /* a takes no part, so it may wait. */
                      {"launch@a", "cuEventRecord(L1;E1) cuStreamWaitEvent(a;E1) cuLaunchKernel(a)"},
                      {"launch@0", "cuEventRecord(L1;E1) cuEventRecord(a;E2) cuStreamWaitEvent(L1;E2) cuLaunchKernel(L1)"},
                      {"end@n", "cuStreamEndCapture(n)"},
                      {"launch@0", "cuLaunchKernel(L1)"},
                  });
}

/* Nothing is owed, so no event is needed; a copy would need the wait after it. */
TEST(CaptureGuarded, TheFirstDefaultStreamWorkIsInsideACapture)
{
    expect_policy(
        "guarded",
        {
            {"nbstream:n", "cuStreamCreate"},
            {"begin@n", "cuStreamBeginCapture_v2(n)"},
            {"launch@0", "cuLaunchKernel(L1)"},
            {"copy:DH", "cuEventRecord(L1;E1) cuStreamWaitEvent(legacy;E1) cuThreadExchangeStreamCaptureMode "
                        "cuStreamSynchronize(legacy) cuThreadExchangeStreamCaptureMode cuMemcpy cuEventRecord(legacy;E1)"},
            {"end@n", "cuStreamEndCapture(n)"},
            {"launch@0", "cuLaunchKernel(L1)"},
        });
}

TEST(CaptureGuarded, StreamsThatJoinACapture)
{
    expect_policy("guarded", {
                                 {"nbstream:n", "cuStreamCreate"},
                                 {"stream:a", "cuStreamCreate"},
                                 {"event:e", "cuEventCreate"},
                                 {"launch@0", "cuLaunchKernel(L1)"},
                                 {"begin@n", "cuStreamBeginCapture_v2(n)"},
                                 {"record:e@n", "cuEventRecord(n;e)"},
                                 {"wait:e@a", "cuStreamWaitEvent(a;e)"},
                                 /* Blocking, and in the capture now. */
                                 {"launch@a", "cuLaunchKernel(a)"},
                                 {"launch@0", "cuLaunchKernel(0)"},
                                 {"end@n", "cuStreamEndCapture(n)"},
                                 {"launch@0", "cuLaunchKernel(L1)"},
                             });
}

TEST(CaptureGuarded, ACaptureWhoseStreamIsDestroyed)
{
    expect_policy("guarded", {
                                 {"stream:a", "cuStreamCreate"},
                                 {"launch@0", "cuLaunchKernel(L1)"},
                                 {"begin@a", "cuStreamBeginCapture_v2(a)"},
                                 {"launch@0", "cuLaunchKernel(0)"},
                                 {"destroy:a", "cuStreamDestroy_v2(a)"},
                                 {"launch@0", "cuLaunchKernel(L1)"},
                             });
}

/* One that was in a capture before, and is in none now. */
TEST(CaptureGuarded, AStreamThatIsDestroyedWhileAnotherCaptures)
{
    expect_policy("guarded", {
                                 {"stream:a", "cuStreamCreate"},
                                 {"stream:b", "cuStreamCreate"},
                                 {"launch@0", "cuLaunchKernel(L1)"},
                                 {"begin@a", "cuStreamBeginCapture_v2(a)"},
                                 {"end@a", "cuStreamEndCapture(a)"},
                                 {"begin@b", "cuStreamBeginCapture_v2(b)"},
                                 {"destroy:a", "cuStreamDestroy_v2(a)"},
                                 {"launch@0", "cuLaunchKernel(0)"},
                                 {"end@b", "cuStreamEndCapture(b)"},
                                 {"nbstream:n", "cuStreamCreate"},
                                 {"begin@n", "cuStreamBeginCapture_v2(n)"},
                                 {"launch@0", "cuLaunchKernel(L1)"},
                             });
}

/* Streams that the shim has not seen being made are not asked about inside a capture, under no policy. */
TEST(Capture, NoQuestionsInside)
{
    for (const char *policy : {"observe", "per-thread", "guarded", "stream"}) {
        SCOPED_TRACE(policy);
        for (const char *record : {"off", "summary"}) {
            Folder folder;
            std::vector<Does> steps = {
                {"stream:a", "cuStreamCreate"},
                {"nbstream:n", "cuStreamCreate"},
                {"begin@n", "cuStreamBeginCapture_v2(n)"},
                {"launch@n", "cuLaunchKernel(n)"},
                {"launch@a", "cuLaunchKernel(a)"},
                {"attach@a", "cuStreamAttachMemAsync(a)"},
                {"attach@n", "cuStreamAttachMemAsync(n)"},
                {"end@n", "cuStreamEndCapture(n)"},
            };
            bool twins = strcmp(policy, "per-thread") == 0 && strcmp(record, "off") == 0;
            if (twins) {
                steps[3].driver = "cuLaunchKernel_ptsz(n)";
                steps[4].driver = "cuLaunchKernel_ptsz(a)";
            }
            Settings settings = {{"PTDS_POLICY", policy}};
            if (strcmp(record, "off") != 0)
                settings["PTDS_TRACE"] = folder / "trace";
            expect_steps(run(shimmed("steps_child", steps_of(steps), settings)), steps);
        }
    }
}

/* The program keeps its error: 0 and 0x1 can't be captured, and no policy makes them so. */
TEST(Capture, TheLegacyStreamStaysRefused)
{
    for (const char *policy : {"observe", "per-thread", "guarded", "stream"}) {
        SCOPED_TRACE(policy);
        bool guards = strcmp(policy, "guarded") == 0 || strcmp(policy, "stream") == 0;
        expect_policy(
            policy,
            {
                {"begin@0", "cuStreamBeginCapture_v2(0) =900"},
                {"begin@1", "cuStreamBeginCapture_v2(legacy) =900"},
                {"end@0", "cuStreamEndCapture(0) =401"},
                {"begin@2", "cuStreamBeginCapture_v2(ptds)"},
                {"end@2", "cuStreamEndCapture(ptds)"},
                {"twinbegin@0", "cuStreamBeginCapture_v2_ptsz(0)"},
                {"twinend@0", "cuStreamEndCapture_ptsz(0)"},
                {"copybatch@0", guards ? "cuMemcpyBatchAsync_v2(0) cuEventRecord(legacy;E1)" : "cuMemcpyBatchAsync_v2(0)"},
                {"copybatch@1",
                 guards ? "cuMemcpyBatchAsync_v2(legacy) cuEventRecord(legacy;E1)" : "cuMemcpyBatchAsync_v2(legacy)"},
                {"copybatch@2", guards ? "cuStreamWaitEvent(ptds;E1) cuMemcpyBatchAsync_v2(ptds) cuEventRecord(ptds;E2)"
                                       : "cuMemcpyBatchAsync_v2(ptds)"},
                {"single@0", guards ? "cuStreamWaitEvent(legacy;E2) cuStreamAttachMemAsync(0) cuEventRecord(legacy;E3)"
                                    : "cuStreamAttachMemAsync(0)"},
            });
    }
}

/* Legacy work while a blocking stream captures passes through, so that the program keeps its 906. */
void expect_kept(const std::string &policy, const std::string &target, const Settings &settings = {})
{
    SCOPED_TRACE(policy);
    std::string launch = "cuLaunchKernel(" + target + ")";
    std::vector<Does> steps = {
        {"stream:a", "cuStreamCreate"},
        {"nbstream:n", "cuStreamCreate"},
        {"launch@0", launch.c_str()},
        {"begin@a", "cuStreamBeginCapture_v2(a)"},
        {"launch@a", "cuLaunchKernel(a)"},
        {"launch@0", "cuLaunchKernel(0)"},
        {"memset:D", "cuMemsetD8_v2"},
        {"t:launch@0", "cuLaunchKernel(0)"},
        {"end@a", "cuStreamEndCapture(a)"},
        {"launch@0", launch.c_str()},
        {"twinbegin@0", "cuStreamBeginCapture_v2_ptsz(0)"},
        {"launch@0", "cuLaunchKernel(0)"},
        {"twinend@0", "cuStreamEndCapture_ptsz(0)"},
        {"launch@0", launch.c_str()},
        /* A non-blocking capture does not mind. */
        {"begin@n", "cuStreamBeginCapture_v2(n)"},
        {"launch@0", launch.c_str()},
        {"end@n", "cuStreamEndCapture(n)"},
        {"begin@a", "cuStreamBeginCapture_v2(a)"},
        {"begin@n", "cuStreamBeginCapture_v2(n)"},
        {"launch@0", "cuLaunchKernel(0)"},
        {"end@a", "cuStreamEndCapture(a)"},
        {"launch@0", launch.c_str()},
        {"end@n", "cuStreamEndCapture(n)"},
    };
    expect_steps(run(shimmed("steps_child", steps_of(steps), settings)), steps);
}

TEST(Capture, LegacyWorkWhileABlockingStreamCaptures)
{
    Folder folder;
    expect_kept("stream", "L1", {{"PTDS_POLICY", "stream"}});
    expect_kept("stream", "L1", {{"PTDS_POLICY", "stream"}, {"PTDS_TRACE", folder / "stream"}});
    expect_kept("per-thread", "ptds", {{"PTDS_POLICY", "per-thread"}, {"PTDS_TRACE", folder / "per-thread"}});
    expect_kept("observe", "0", {{"PTDS_POLICY", "observe"}, {"PTDS_TRACE", folder / "observe"}});
}

/* A wait of the shim's own would end a capture of the same thread. So meanwhile the synchronous forms stay as they are,
 * on the legacy stream, which the guard orders like any other lane. */
TEST(Capture, SynchronousFormsWhileANonBlockingStreamCaptures)
{
    expect_policy("observe", {{"nbstream:n", "cuStreamCreate"},
                              {"begin@n", "cuStreamBeginCapture_v2(n)"},
                              {"htod:H", "cuMemcpyHtoD_v2"},
                              {"memset:D", "cuMemsetD8_v2"},
                              {"end@n", "cuStreamEndCapture(n)"}});
    const std::vector<Does> kept = {
        {"nbstream:n", "cuStreamCreate"},
        {"begin@n", "cuStreamBeginCapture_v2(n)"},
        {"htod:H", "cuThreadExchangeStreamCaptureMode cuStreamSynchronize(legacy) cuThreadExchangeStreamCaptureMode "
                   "cuMemcpyHtoD_v2 cuEventRecord(legacy;E1)"},
        {"memset:D", "cuMemsetD8_v2 cuEventRecord(legacy;E1)"},
        {"end@n", "cuStreamEndCapture(n)"},
    };
    expect_policy("guarded", kept);
    expect_policy("stream", kept);
    expect_policy("stream",
                  {
                      {"nbstream:n", "cuStreamCreate"},
                      {"begin@n", "cuStreamBeginCapture_v2(n)"},
                      {"htod:H", "cuThreadExchangeStreamCaptureMode cuStreamSynchronize(legacy) "
                                 "cuThreadExchangeStreamCaptureMode cuMemcpyHtoD_v2 cuEventRecord(legacy;E1)"},
                      {"memset:D", "cuMemsetD8_v2 cuEventRecord(legacy;E1)"},
                      {"end@n", "cuStreamEndCapture(n)"},
                      {"memset:D", "cuStreamWaitEvent(L1;E1) cuMemsetD8Async(L1)"},
                  },
                  {{"PTDS_STREAM", "nonblocking"}});
}

/* Policy stream makes its stream early; where it could not, a capture is no time to catch up. */
TEST(Capture, PolicyStreamMakesNoStreamInside)
{
    std::vector<Does> steps = {
        {"context:second", "cuCtxCreate_v2 lane"}, {"launch@0", "cuLaunchKernel(L1)"},
        {"nbstream:n", "cuStreamCreate"},          {"begin@n", "cuStreamBeginCapture_v2(n)"},
        {"context:third", "cuCtxCreate_v2"},       {"launch@0", "cuLaunchKernel(0) cuEventCreate cuEventRecord(legacy;E1)"},
        {"end@n", "cuStreamEndCapture(n)"},        {"launch@0", "lane cuStreamWaitEvent(L2;E1) cuLaunchKernel(L2)"},
        {"launch@0", "cuLaunchKernel(L2)"},
    };
    expect_steps(run(shimmed("steps_child", steps_of(steps), {{"PTDS_POLICY", "stream"}})), steps);
}

} // namespace
} // namespace ptds
