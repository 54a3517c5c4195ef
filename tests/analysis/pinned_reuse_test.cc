// SPDX-License-Identifier: Apache-2.0
//
// Pinned memory that the program got back before a wait for its copy: whether results are right, only the host's own reads
// and writes decide. A report says so, and doubts nothing.
#include <gtest/gtest.h>

#include "analysis/report/outcome.h"
#include "analysis/views/opening.h"
#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

const std::string memories = "1@0 alloc m=A ptr=0x10000 bytes=65536\n1@0 alloc-host m=H ptr=0x300000 bytes=65536\n";
const std::string fill = " copy s=N1 src=H from=pinned dst=A to=device bytes=4096\n";
const std::string take = " copy s=N1 src=A from=device dst=H to=pinned bytes=4096\n";

std::string Verdict(const std::string &text)
{
    Built report(BuildTrace(memories + text));
    return opening_outcome(report.get()).text;
}

const char *const right = "Right: no order that a result needs was missing";
const char *const one = "Right, for what the calls show (1 copy nobody waited for: pinned-reuse)";

TEST(PinnedReuse, IsTheHostsBusiness)
{
    EXPECT_EQ(one, Verdict("1@1" + fill + "1@2" + fill + "1@3+9 sync s=N1\n"));
    EXPECT_EQ(one, Verdict("1@1" + take + "1@2" + take + "1@3+9 sync s=N1\n"));
    EXPECT_EQ("Right, for what the calls show (2 copies nobody waited for: pinned-reuse)",
              Verdict("1@1" + fill + "1@2" + fill + "1@3" + fill + "1@4+9 sync s=N1\n"));
    EXPECT_EQ(one, Verdict("1@1" + take)) << "the process ended";
    EXPECT_EQ(one, Verdict("1@1" + take + "1@2 free-host m=H\n"));
    EXPECT_EQ(one, Verdict("1@1" + fill + "1@2+9 sync s=N2\n1@20" + fill + "1@30+9 sync s=N1\n"))
        << "waited for another stream";
}

TEST(PinnedReuse, IsOverOnceTheHostHasWaited)
{
    EXPECT_EQ(right, Verdict("1@1" + fill + "1@2+9 sync s=N1\n1@20" + fill + "1@30+9 sync s=N1\n"));
    EXPECT_EQ(right, Verdict("1@1" + take + "1@2 record s=N1 e=E\n1@3+9 event-sync e=E\n"));
    EXPECT_EQ(right, Verdict("1@1" + take + "1@2 record s=N1 e=E\n1@3 wait s=N2 e=E\n1@4+9 sync s=N2\n"));
    EXPECT_EQ(right, Verdict("1@1" + fill + "1@2+9 ctx-sync\n1@20" + fill));
    EXPECT_EQ(right, Verdict("1@1" + fill)) << "nobody wants it back";
}

/* The device orders a hand-over; and a host function, or a word in host memory, may have told the program. */
TEST(PinnedReuse, IsNotWhatNeedsNoWaitOfTheHost)
{
    EXPECT_EQ(right, Verdict("1@1" + take + "1@2" + fill + "1@3+9 sync s=N1\n"));
    EXPECT_EQ(right, Verdict("1@1" + take + "1@2" + fill)) << "the process ended, and the host wanted nothing";
    EXPECT_EQ(right, Verdict("1@1" + take + "1@2 host-function s=N1\n1@9" + take + "1@30+9 sync s=N1\n"));
    EXPECT_EQ(right,
              Verdict("1@1" + take + "1@2 write-value s=N1 ptr=0x300000 bytes=4\n1@9" + take + "1@30+9 sync s=N1\n"));
    EXPECT_EQ(right, Verdict("1@1 copy s=N1 src=H from=pinned dst=A to=device bytes=2048\n"
                             "1@2 copy s=N1 src=H+2048 from=pinned dst=A to=device bytes=2048\n"));
}

/* Where the end was not seen, nobody knows who would have waited. */
TEST(PinnedReuse, KnowsNothingOfAKilledProcess)
{
    Built report(BuildTrace(memories + "1@1" + take + "killed\n"));
    EXPECT_EQ(0u, outcome_of(report.get()).by_host);
}

TEST(PinnedReuse, NamesTheCopyAndWhoUsedItsMemory)
{
    Built report(BuildTrace(memories + "1@1 copy site=upload s=N1 src=H from=pinned dst=A to=device bytes=4096\n"
                                       "2@2 copy site=again s=N1 src=H from=pinned dst=A to=device bytes=64\n"
                                       "1@3+9 sync s=N1\n"));
    ASSERT_EQ(1u, report.Of("pinned-reuse").size()) << report.Text();
    const finding *found = report.Of("pinned-reuse")[0];
    EXPECT_EQ(SEVERITY_NOTE, found->severity);
    EXPECT_EQ(DOUBT_NONE, found->doubt);
    EXPECT_EQ(found->stack, found->pair.first.stack);
    EXPECT_NE(found->stack, found->pair.second.stack);
    EXPECT_EQ(2u, found->pair.second.thread);
    EXPECT_EQ(ACCESS_READ, found->pair.second_access);
}

} // namespace
} // namespace ptds
