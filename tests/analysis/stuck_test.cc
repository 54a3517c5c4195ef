// SPDX-License-Identifier: Apache-2.0
//
// Programs that hang: is that the first word, of those alone, and not of what was killed in an ordinary wait?
#include <gtest/gtest.h>

#include "analysis/report/outcome.h"
#include "analysis/views/opening.h"
#include "analysis/views/opening_next.h"
#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

const std::string behind_a_kernel = "1@0 launch s=B1 k=spin\n2@5 launch s=N1 k=other\nkilled\n"
                                    "in-flight 1@10 copy s=L implicit from=device to=pageable bytes=64\n";

struct Said {
    std::string words, verdict, next;
};

/* `now`: microseconds at which the process was still alive; 0: it is not. */
Said Of(const std::string &text, uint64_t now = 0)
{
    const MemoryTrace trace(BuildTrace(text));
    struct trace_source source = *trace.source();
    source.now = now * 1000;
    source.ns_a_tick = 1;
    std::unique_ptr<struct report> report(new struct report);
    char message[TRACE_ERROR_SIZE] = "";
    EXPECT_EQ(0, report_build(report.get(), &source, message)) << message;
    Said said = {opening_outcome(report.get()).text, doubt_names[outcome_verdict(report.get())],
                 opening_next(report.get()).text};
    report_end(report.get());
    return said;
}

/* Another thread went on for 12 s: the copy was not an ordinary wait. */
TEST(Stuck, IsACallThatDidNotReturnWhileOthersWentOn)
{
    Said said = Of(behind_a_kernel + "2@12000010 launch s=N1 k=other\n");
    EXPECT_EQ("Stuck: #1 cuMemcpyDtoH_v2 had not returned for 12.00 s, behind spin on stream 1 (blocking)", said.words);
    EXPECT_EQ("stuck", said.verdict);
    EXPECT_EQ("ptds report --finding 1", said.next.substr(0, 23));
}

/* What the last record tells ends with the hang, where all threads hang: the process that is alive tells how long. */
TEST(Stuck, IsACallOfALivingProcess)
{
    EXPECT_EQ("Stuck: #1 cuMemcpyDtoH_v2 has not returned for 30.00 s, behind spin on stream 1 (blocking)",
              Of(behind_a_kernel, 30000010).words);
    EXPECT_EQ("right", Of(behind_a_kernel, 500000).verdict) << "it has only begun";
}

/* A program that was killed in a wait: nobody knows for how long it waited. */
TEST(Stuck, MayBeACallOfAProcessThatWasKilled)
{
    Said said = Of(behind_a_kernel);
    EXPECT_EQ("Maybe stuck, or killed in a wait: #1 cuMemcpyDtoH_v2, behind spin on stream 1 (blocking)", said.words);
    EXPECT_EQ("maybe-stuck", said.verdict);
    EXPECT_EQ("maybe-stuck", Of(behind_a_kernel + "2@900000 launch s=N1 k=other\n").verdict);
}

/* By the wall clock, which the trace tells. */
TEST(Stuck, IsSaidSinceWhen)
{
    const std::string clocks = "tsc\nrealtime 1700000000000000000 1000000000\n";
    EXPECT_EQ("Maybe stuck, or killed in a wait: #1 cuMemcpyDtoH_v2 since 22:13:20 UTC, behind spin on stream 1 (blocking)",
              Of(clocks + behind_a_kernel).words);
}

TEST(Stuck, IsNoneThatEndedOrWaitedForNothing)
{
    EXPECT_EQ("right",
              Of("1@0 launch s=B1 k=spin\n1@10+50 copy s=L implicit from=device to=pageable bytes=64\nkilled\n").verdict);
    EXPECT_EQ("right", Of("1@0 launch s=B1 k=spin\n1@10+50 sync s=B1\nkilled\nin-flight 1@70 sync s=B1\n").verdict);
}

/* What is wrong with the results stays said. */
TEST(Stuck, HidesNoOtherVerdict)
{
    Said said = Of("1@0 alloc m=A ptr=0x10000 bytes=4096\n1@1+3 copy s=N1 from=pinned src=0x7f0000000000 dst=A bytes=64\n"
                   "1@9+9 copy s=L implicit src=A to=pageable bytes=64\n1@20 launch s=B1 k=spin\nkilled\n"
                   "in-flight 1@30 sync s=B1\n2@12000010 launch s=N1 k=other\n");
    EXPECT_EQ("wrong", said.verdict);
    EXPECT_NE(std::string::npos, said.words.find("Stuck: #")) << said.words;
    EXPECT_NE(std::string::npos, said.words.find("; WRONG: #")) << said.words;
}

} // namespace
} // namespace ptds
