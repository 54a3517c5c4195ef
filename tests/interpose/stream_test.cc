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
                                {"memset:D", "cuMemsetD8Async(shim)"},
                                {"memset:P", "cuMemsetD8Async(shim) cuStreamSynchronize(shim)"},
                                {"htod:H", "cuMemcpyHtoDAsync_v2(shim) cuStreamSynchronize(shim)"},
                                {"htod:P", "cuMemcpyHtoDAsync_v2(shim) cuStreamSynchronize(shim)"},
                                {"dtoh:H", "cuMemcpyDtoHAsync_v2(shim) cuStreamSynchronize(shim)"},
                                {"dtoh:P", "cuMemcpyDtoHAsync_v2(shim) cuStreamSynchronize(shim)"},
                                {"dtod", "cuMemcpyDtoDAsync_v2(shim)"},
                                {"copy:DD", "cuMemcpyAsync(shim)"},
                                {"copy:DH", "cuMemcpyAsync(shim) cuStreamSynchronize(shim)"},
                                {"copy:HD", "cuMemcpyAsync(shim) cuStreamSynchronize(shim)"},
                                {"copy:DP", "cuMemcpyAsync(shim) cuStreamSynchronize(shim)"},
                                {"copy:PD", "cuMemcpyAsync(shim) cuStreamSynchronize(shim)"},
                                {"copy:HH", "cuMemcpyAsync(shim) cuStreamSynchronize(shim)"},
                                {"2d:DD", "cuMemcpy2DAsync_v2(shim)"},
                                {"2d:DH", "cuMemcpy2DAsync_v2(shim) cuStreamSynchronize(shim)"},
                                {"2d:HD", "cuMemcpy2DAsync_v2(shim) cuStreamSynchronize(shim)"},
                                {"3d:DD", "cuMemcpy3DAsync_v2(shim)"},
                                {"3d:DP", "cuMemcpy3DAsync_v2(shim) cuStreamSynchronize(shim)"},
                                {"3d:HD", "cuMemcpy3DAsync_v2(shim) cuStreamSynchronize(shim)"},
                                {"3dpeer:DD", "cuMemcpy3DPeerAsync(shim)"},
                                {"3dpeer:HD", "cuMemcpy3DPeerAsync(shim) cuStreamSynchronize(shim)"},
                                {"peer", "cuMemcpyPeerAsync(shim)"},
                                {"atoh:H", "cuMemcpyAtoHAsync_v2(shim) cuStreamSynchronize(shim)"},
                                {"atoh:P", "cuMemcpyAtoHAsync_v2(shim) cuStreamSynchronize(shim)"},
                                {"htoa:H", "cuMemcpyHtoAAsync_v2(shim) cuStreamSynchronize(shim)"},
                                {"htoa:P", "cuMemcpyHtoAAsync_v2(shim) cuStreamSynchronize(shim)"},
                                {"atod", "cuMemcpy3DAsync_v2(shim)"},
                                {"dtoa", "cuMemcpy3DAsync_v2(shim)"},
                                {"atoa", "cuMemcpy3DAsync_v2(shim)"},
                            });
}

TEST(Stream, DefaultStreamWorkOnly)
{
    expect_policy("stream", {
                                {"stream:a", "cuStreamCreate"},
                                {"event:e", "cuEventCreate"},
                                {"launch@0", "cuLaunchKernel(shim)"},
                                {"launch@1", "cuLaunchKernel(legacy)"},
                                {"launch@2", "cuLaunchKernel(ptds)"},
                                {"twinlaunch@0", "cuLaunchKernel_ptsz(0)"},
                                {"launch@a", "cuLaunchKernel(a)"},
                                {"record:e@0", "cuEventRecord(shim;e)"},
                                {"wait:e@0", "cuStreamWaitEvent(shim;e)"},
                                {"sync@0", "cuStreamSynchronize(shim)"},
                                {"query@0", "cuStreamQuery(shim)"},
                                {"attach@0", "cuStreamAttachMemAsync(shim)"},
                                {"single@0", "cuStreamAttachMemAsync(0)"},
                                {"t:launch@0", "cuLaunchKernel(shim)"},
                            });
}

TEST(Stream, OneForEachContextMadeEarly)
{
    expect_policy("stream", {
                                {"context:second", "cuCtxCreate_v2 cuStreamCreate"},
                                {"shimflags", ""},
                                {"launch@0", "cuLaunchKernel(shim)"},
                                {"use:first", "cuCtxSetCurrent"},
                                {"launch@0", "cuLaunchKernel(shim)"},
                                {"use:second", "cuCtxSetCurrent"},
                                {"gone:second", "cuCtxDestroy_v2"},
                                {"context:third", "cuCtxCreate_v2 cuStreamCreate"},
                                {"launch@0", "cuLaunchKernel(shim)"},
                            });
}

/* A non-blocking one first waits for what the legacy stream holds, once: nothing else would make it. */
TEST(Stream, KindOfStream)
{
    expect_policy("stream",
                  {{"context:second", "cuCtxCreate_v2 cuStreamCreate cuEventCreate cuEventRecord(legacy;E2) "
                                      "cuStreamWaitEvent(shim;E2) cuEventDestroy_v2(;E2)"},
                   {"launch@0", "cuLaunchKernel(shim)"},
                   {"shimflags", "=1"}},
                  {{"PTDS_STREAM", "nonblocking"}});
    expect_policy("stream", {{"context:second", "cuCtxCreate_v2 cuStreamCreateWithPriority"}, {"shimflags", ""}},
                  {{"PTDS_STREAM", "blocking,priority=-1"}});
    expect_policy("stream",
                  {{"context:second", "cuCtxCreate_v2 cuStreamCreateWithPriority cuEventCreate cuEventRecord(legacy;E2) "
                                      "cuStreamWaitEvent(shim;E2) cuEventDestroy_v2(;E2)"},
                   {"launch@0", "cuLaunchKernel(shim)"},
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
                                {"dtoh:H", "cuMemcpyDtoHAsync_v2(n) cuStreamSynchronize(n)"},
                                {"t:launch@0", "cuLaunchKernel(n)"},
                                {"ownthread:a", ""},
                                {"launch@0", "cuLaunchKernel(a)"},
                                {"t:launch@0", "cuLaunchKernel(n)"},
                                {"ownthread:0", ""},
                                {"launch@0", "cuLaunchKernel(n)"},
                                /* It belongs to the first context only. */
                                {"context:second", "cuCtxCreate_v2 cuStreamCreate"},
                                {"launch@0", "cuLaunchKernel(shim)"},
                                {"use:first", "cuCtxSetCurrent"},
                                {"launch@0", "cuLaunchKernel(n)"},
                                {"own:0", ""},
                                {"launch@0", "cuLaunchKernel(shim)"},
                                {"t:launch@0", "cuLaunchKernel(shim)"},
                            });
}

/* Against the rules, but no reason to hand the driver a dead stream. */
TEST(Stream, AStreamOfTheProgramsOwnThatIsGone)
{
    expect_policy("stream", {
                                {"nbstream:n", "cuStreamCreate"},
                                {"own:n", ""},
                                {"destroy:n", "cuStreamDestroy_v2(n)"},
                                {"launch@0", "cuLaunchKernel(shim)"},
                            });
}

TEST(Stream, OtherPoliciesDeclineAStreamOfTheProgramsOwn)
{
    for (const char *policy : {"ordered", "per-thread", "observe", "none"}) {
        SCOPED_TRACE(policy);
        expect_policy(policy, {{"nbstream:n", "cuStreamCreate"}, {"own:n", "=999"}, {"ownthread:n", "=999"}});
    }
}

TEST(Stream, MadeWhenAPrimaryContextBecomesCurrent)
{
    expect_policy("stream", {
                                {"primary:p", "cuDevicePrimaryCtxRetain"},
                                {"use:p", "cuCtxSetCurrent cuStreamCreate"},
                                {"launch@0", "cuLaunchKernel(shim)"},
                                {"use:first", "cuCtxSetCurrent"},
                                {"use:p", "cuCtxSetCurrent"},
                                {"launch@0", "cuLaunchKernel(shim)"},
                            });
}

/* A green context's default stream runs on its own share of the device. */
TEST(GreenContexts, AreNotRemapped)
{
    for (const char *policy : {"stream", "ordered"}) {
        expect_policy(policy, {
                                  {"green:g", "cuCtxFromGreenCtx"},
                                  {"use:g", "cuCtxSetCurrent"},
                                  {"launch@0", "cuLaunchKernel(0)"},
                                  {"memset:D", "cuMemsetD8_v2"},
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
