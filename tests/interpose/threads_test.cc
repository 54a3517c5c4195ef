/* SPDX-License-Identifier: Apache-2.0
 *
 * libc's functions for threads answer as they do without the shim: results, errno, cancellation, a forked child.
 */
#include "tests/interpose/shim_test.h"

namespace ptds
{
namespace
{

TEST(Threads, FunctionsAnswerAsTheyDoWithoutTheShim)
{
    Outcome bare = run(plain("threads_child"));
    ASSERT_EQ(bare.exit, 0) << bare;
    EXPECT_GT(lines_of(bare.out).size(), 25u);
    for (const char *policy : {"guarded", "per-thread", "stream", "observe", "none"}) {
        SCOPED_TRACE(policy);
        Outcome shimmed_run = run(shimmed("threads_child", {}, {{"PTDS_POLICY", policy}}));
        EXPECT_EQ(shimmed_run.out, bare.out);
        EXPECT_EQ(shimmed_run.err, "");
        EXPECT_EQ(shimmed_run.exit, 0);
    }
}

} // namespace
} // namespace ptds
