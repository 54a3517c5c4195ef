/* SPDX-License-Identifier: Apache-2.0
 *
 * Policy stream as the driver sees it: where work goes, and the host waits that the originals promise (measured): none
 * after device-to-device copies and memsets of device memory, one where host memory is on a side.
 */
#include "tests/interpose/steps_test.h"

namespace ptds
{
namespace
{

TEST(Stream, WaitsLikeTheOriginals)
{
    expect_policy("stream", {
                                {"memset:D", "cuMemsetD8Async(L1)"},
                                {"memset:P", "cuMemsetD8Async(L1) cuStreamSynchronize(L1)"},
                                {"htod:H", "cuMemcpyHtoDAsync_v2(L1) cuStreamSynchronize(L1)"},
                                {"htod:P", "cuMemcpyHtoDAsync_v2(L1) cuStreamSynchronize(L1)"},
                                {"dtoh:H", "cuStreamSynchronize(L1) cuMemcpyDtoHAsync_v2(L1) cuStreamSynchronize(L1)"},
                                {"dtoh:P", "cuMemcpyDtoHAsync_v2(L1) cuStreamSynchronize(L1)"},
                                {"dtod", "cuMemcpyDtoDAsync_v2(L1)"},
                                {"copy:DD", "cuMemcpyAsync(L1)"},
                                {"copy:DH", "cuStreamSynchronize(L1) cuMemcpyAsync(L1) cuStreamSynchronize(L1)"},
                                {"copy:HD", "cuMemcpyAsync(L1) cuStreamSynchronize(L1)"},
                                {"copy:DP", "cuMemcpyAsync(L1) cuStreamSynchronize(L1)"},
                                {"copy:PD", "cuMemcpyAsync(L1) cuStreamSynchronize(L1)"},
                                {"copy:HH", "cuStreamSynchronize(L1) cuMemcpyAsync(L1) cuStreamSynchronize(L1)"},
                                {"2d:DD", "cuMemcpy2DAsync_v2(L1)"},
                                {"2d:DH", "cuStreamSynchronize(L1) cuMemcpy2DAsync_v2(L1) cuStreamSynchronize(L1)"},
                                {"2d:HD", "cuMemcpy2DAsync_v2(L1) cuStreamSynchronize(L1)"},
                                {"3d:DD", "cuMemcpy3DAsync_v2(L1)"},
                                {"3d:DP", "cuMemcpy3DAsync_v2(L1) cuStreamSynchronize(L1)"},
                                {"3d:HD", "cuMemcpy3DAsync_v2(L1) cuStreamSynchronize(L1)"},
                                {"3dpeer:DD", "cuMemcpy3DPeerAsync(L1)"},
                                {"3dpeer:HD", "cuMemcpy3DPeerAsync(L1) cuStreamSynchronize(L1)"},
                                {"peer", "cuMemcpyPeerAsync(L1)"},
                                {"atoh:H", "cuStreamSynchronize(L1) cuMemcpyAtoHAsync_v2(L1) cuStreamSynchronize(L1)"},
                                {"atoh:P", "cuMemcpyAtoHAsync_v2(L1) cuStreamSynchronize(L1)"},
                                {"htoa:H", "cuMemcpyHtoAAsync_v2(L1) cuStreamSynchronize(L1)"},
                                {"htoa:P", "cuMemcpyHtoAAsync_v2(L1) cuStreamSynchronize(L1)"},
                                {"atod", "cuMemcpy3DAsync_v2(L1)"},
                                {"dtoa", "cuMemcpy3DAsync_v2(L1)"},
                                {"atoa", "cuMemcpy3DAsync_v2(L1)"},
                            });
}

TEST(Stream, DefaultStreamWorkOnly)
{
    expect_policy(
        "stream",
        {
            {"stream:a", "cuStreamCreate"},
            {"event:e", "cuEventCreate"},
            {"launch@0", "cuLaunchKernel(L1)"},
            {"launch@1",
             "cuEventRecord(L1;E1) cuStreamWaitEvent(legacy;E1) cuLaunchKernel(legacy) cuEventRecord(legacy;E1)"},
            {"launch@2", "cuStreamWaitEvent(ptds;E1) cuLaunchKernel(ptds) cuEventRecord(ptds;E2)"},
            {"twinlaunch@0", "cuLaunchKernel_ptsz(0) cuEventRecord(ptds;E2)"},
            {"launch@a", "cuStreamWaitEvent(a;E1) cuLaunchKernel(a)"},
            {"record:e@0", "cuEventRecord(L1;E3) cuEventRecord(a;E4) cuStreamWaitEvent(L1;E4) cuStreamWaitEvent(L1;E2) "
                           "cuEventRecord(L1;e)"},
            {"wait:e@0", "cuStreamWaitEvent(L1;e)"},
            {"sync@0", "cuStreamSynchronize(L1)"},
            {"query@0", "cuStreamQuery(0)"},
            {"attach@0", "cuStreamAttachMemAsync(L1)"},
            {"single@0",
             "cuEventRecord(L1;E4) cuStreamWaitEvent(legacy;E4) cuStreamAttachMemAsync(0) cuEventRecord(legacy;E1)"},
            {"t:launch@0", "cuStreamWaitEvent(L1;E1) cuLaunchKernel(L1)"},
        });
}

TEST(Stream, OneForEachContextMadeEarly)
{
    expect_policy("stream", {
                                {"context:second", "cuCtxCreate_v2 lane"},
                                {"shimflags", ""},
                                {"launch@0", "cuLaunchKernel(L1)"},
                                {"use:first", "cuCtxSetCurrent"},
                                {"launch@0", "cuLaunchKernel(L2)"},
                                {"use:second", "cuCtxSetCurrent"},
                                {"gone:second", "cuCtxDestroy_v2"},
                                {"context:third", "cuCtxCreate_v2 lane"},
                                {"launch@0", "cuLaunchKernel(L3)"},
                            });
}

/* A non-blocking one first waits for what the legacy stream holds, once: nothing else would make it. */
TEST(Stream, KindOfStream)
{
    expect_policy("stream",
                  {{"context:second", "cuCtxCreate_v2 lane cuEventRecord(legacy;E2) cuStreamWaitEvent(L2;E2)"},
                   {"launch@0", "cuLaunchKernel(L2)"},
                   {"shimflags", "=1"}},
                  {{"PTDS_STREAM", "nonblocking"}});
    expect_policy("stream", {{"context:second", "cuCtxCreate_v2 events cuStreamCreateWithPriority"}, {"shimflags", ""}},
                  {{"PTDS_STREAM", "blocking,priority=-1"}});
    expect_policy("stream",
                  {{"context:second",
                    "cuCtxCreate_v2 events cuStreamCreateWithPriority cuEventRecord(legacy;E2) cuStreamWaitEvent(L2;E2)"},
                   {"launch@0", "cuLaunchKernel(L2)"},
                   {"shimflags", "=1"}},
                  {{"PTDS_STREAM", "nonblocking,priority=-5"}});
}

TEST(Stream, AStreamOfTheProgramsOwn)
{
    expect_policy("stream", {
                                {"nbstream:n", "cuStreamCreate"},
                                {"stream:a", "cuStreamCreate"},
                                {"own:n", ""},
                                {"launch@0", "cuLaunchKernel(n)"},
                                {"dtoh:H", "cuStreamSynchronize(n) cuMemcpyDtoHAsync_v2(n) cuStreamSynchronize(n)"},
                                {"t:launch@0", "cuLaunchKernel(n)"},
                                {"ownthread:a", ""},
                                {"launch@0", "cuEventRecord(n;E1) cuStreamWaitEvent(a;E1) cuLaunchKernel(a)"},
                                {"t:launch@0", "cuEventRecord(a;E1) cuStreamWaitEvent(n;E1) cuLaunchKernel(n)"},
                                {"ownthread:0", ""},
                                {"launch@0", "cuLaunchKernel(n)"},
                                /* It belongs to the first context only. */
                                {"context:second", "cuCtxCreate_v2 lane"},
                                {"launch@0", "cuLaunchKernel(L1)"},
                                {"use:first", "cuCtxSetCurrent"},
                                {"launch@0", "cuLaunchKernel(n)"},
                                {"own:0", ""},
                                {"launch@0", "cuEventRecord(n;E1) cuStreamWaitEvent(L2;E1) cuLaunchKernel(L2)"},
                                {"t:launch@0", "cuLaunchKernel(L2)"},
                            });
}

/* Against the rules, but no reason to hand the driver a dead stream. */
TEST(Stream, AStreamOfTheProgramsOwnThatIsGone)
{
    expect_policy("stream", {
                                {"nbstream:n", "cuStreamCreate"},
                                {"own:n", ""},
                                {"destroy:n", "cuStreamDestroy_v2(n)"},
                                {"launch@0", "cuLaunchKernel(L1)"},
                            });
}

TEST(Stream, OtherPoliciesDeclineAStreamOfTheProgramsOwn)
{
    for (const char *policy : {"guarded", "per-thread", "observe", "none"}) {
        SCOPED_TRACE(policy);
        expect_policy(policy, {{"nbstream:n", "cuStreamCreate"}, {"own:n", "=999"}, {"ownthread:n", "=999"}});
    }
}

TEST(Stream, MadeWhenAPrimaryContextBecomesCurrent)
{
    expect_policy("stream", {
                                {"primary:p", "cuDevicePrimaryCtxRetain"},
                                {"use:p", "cuCtxSetCurrent lane"},
                                {"launch@0", "cuLaunchKernel(L1)"},
                                {"use:first", "cuCtxSetCurrent"},
                                {"use:p", "cuCtxSetCurrent"},
                                {"launch@0", "cuLaunchKernel(L1)"},
                            });
}

/* A green context's default stream runs on its own share of the device. */
TEST(GreenContexts, AreNotRemapped)
{
    for (const char *policy : {"stream", "guarded"}) {
        expect_policy(policy, {
                                  {"green:g", "cuCtxFromGreenCtx"},
                                  {"use:g", "cuCtxSetCurrent"},
                                  {"launch@0", "cuLaunchKernel(0) cuEventCreate cuEventRecord(legacy;E1)"},
                                  {"memset:D", "cuMemsetD8_v2 cuEventRecord(legacy;E1)"},
                              });
    }
}

TEST(Stream, WithoutAContext)
{
    Outcome outcome = run(shimmed("steps_child", {"nocontext", "launch@0", "memset:D"}, {{"PTDS_POLICY", "stream"}}));
    EXPECT_EQ(outcome.exit, 0) << outcome;
    EXPECT_EQ(outcome.err, "");
    EXPECT_NE(outcome.out.find("cuLaunchKernel(0)"), std::string::npos) << outcome;
}

} // namespace
} // namespace ptds
