// SPDX-License-Identifier: Apache-2.0
//
// Waits that are watched while the program goes on (analysis/findings/aftermath/aftermath.h): of the many calls that
// follow, those that tell something are looked into, be they ever so plain. Each trace has a call first that tells nothing,
// after which only what such a call uses, and where it works, can matter.
#include <gtest/gtest.h>

#include <sstream>

#include <algorithm>

#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

const std::string two_streams = "1@0+5 alloc ptr=0x10000 bytes=4096\n"
                                "1@10+5 alloc ptr=0x20000 bytes=4096\n"
                                "1@15+3 alloc ptr=0x30000 bytes=4096\n"
                                "1@20 launch s=N1 k=mine args=0x10000\n"
                                "2@25 launch s=N2 k=theirs args=0x20000\n"
                                "1@30+5000 ctx-sync\n"
                                "1@5050 launch s=N3 k=other args=0x30000\n";
const std::string waits_again = "2@5200+3 sync s=N2\n1@5300+3 sync s=N1\n";

/* The streams that the wait need not have waited for. */
std::vector<uint32_t> NotNeeded(const std::string &trace)
{
    Built report(BuildTrace(trace));
    auto findings = report.Of("over-wide-sync");
    if (findings.size() != 1)
        return {};
    const finding_ids &ids = findings[0]->sets[FINDING_WAITS_FOR];
    std::vector<uint32_t> streams(ids.id, ids.id + ids.count);
    std::sort(streams.begin(), streams.end());
    return streams;
}

TEST(WatchedWaits, APlainUseOfAStreamsMemoryCounts)
{
    EXPECT_EQ((std::vector<uint32_t>{2}),
              NotNeeded(two_streams + "1@5100 launch s=N3 k=next args=0x10010\n" + waits_again));
    EXPECT_EQ((std::vector<uint32_t>{1}),
              NotNeeded(two_streams + "1@5100 launch s=N3 k=next args=0x20010\n" + waits_again));
    EXPECT_EQ((std::vector<uint32_t>{1}),
              NotNeeded(two_streams + "2@5100 launch s=N3 k=next args=0x20010\n" + waits_again));
    EXPECT_EQ((std::vector<uint32_t>{}),
              NotNeeded(two_streams + "1@5100 launch s=N3 k=next args=0x20010,0x10000\n" + waits_again));
}

/* Whoever uses what lies there now uses what the wait was for, as far as addresses tell. */
TEST(WatchedWaits, AnAllocationInTheSamePlaceCountsAsTheSame)
{
    EXPECT_EQ((std::vector<uint32_t>{2}), NotNeeded(two_streams + "1@5080+3 alloc ptr=0x10000 bytes=8192\n" +
                                                    "1@5100 launch s=N3 k=next args=0x10010\n" + waits_again));
}

TEST(WatchedWaits, WorkThatMayUseAnythingLeavesThemUnknown)
{
    EXPECT_EQ((std::vector<uint32_t>{}), NotNeeded(two_streams + "1@5100 graph-launch s=N3 opaque\n" + waits_again));
    EXPECT_EQ((std::vector<uint32_t>{}), NotNeeded(two_streams + "1@5100 launch s=N3 k=hides\n" + waits_again));
}

/* Stream 2 is gone, and its place in the model another's, whose wait says nothing about it. */
TEST(WatchedWaits, AStreamWhosePlaceAnotherTakesIsUnknown)
{
    const std::string gone = "stream-gone N2@5060\n", used = "1@5100 launch s=N3 k=next args=0x10010\n",
                      another = "2@5150 launch s=N4 k=other args=0x30000\n2@5160+3 sync s=N4\n",
                      end = "2@9000+3 sync s=N2\n";
    EXPECT_EQ((std::vector<uint32_t>{2}), NotNeeded(two_streams + used + end));
    EXPECT_EQ((std::vector<uint32_t>{}), NotNeeded(two_streams + used + gone + another + end));
}

/* Eight times, as in a loop: what happens a few times is left out. What is allocated is allocated once. */
std::string Loop(const std::string &text)
{
    std::string all;
    for (uint64_t round = 0; round < 8; round++) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            size_t at = line.find('@') + 1, end = line.find_first_of(" +", at);
            if (round == 0 || line.find(" alloc ") == std::string::npos)
                all += line.substr(0, at) + std::to_string(std::stoull(line.substr(at, end - at)) + round * 10000) +
                       line.substr(end) + "\n";
        }
    }
    return all;
}

size_t Useless(const std::string &text)
{
    return Built(BuildTrace(Loop(text))).Of("useless-sync").size();
}

/* The second wait is for more work, so the first one need not have been; without that the second one is in question. */
TEST(WatchedWaits, MoreWorkOfTheStreamIsSeen)
{
    const std::string begin = "1@0+5 alloc ptr=0x10000 bytes=4096\n"
                              "1@8+5 alloc ptr=0x30000 bytes=4096\n"
                              "1@20 launch s=N1 k=a args=0x10000\n"
                              "1@30+900 sync s=N1\n"
                              "1@1000 launch s=N2 k=other args=0x30000\n",
                      more = "1@1010 launch s=N1 k=a args=0x10000\n", others = "2@1010 launch s=N1 k=a args=0x10000\n",
                      wait = "1@1020+900 sync s=N1\n";
    EXPECT_EQ(1u, Useless(begin + more + wait));
    EXPECT_EQ(1u, Useless(begin + others + wait));
    EXPECT_EQ(0u, Useless(begin + wait));
}

/* What leaving the wait out saves: nothing, unless its thread had more to do before it waited again. */
TEST(WatchedWaits, OnlyWorkOfItsOwnThreadMakesLeavingItOutWorthwhile)
{
    const std::string begin = "1@0+5 alloc ptr=0x10000 bytes=4096\n"
                              "1@8+5 alloc ptr=0x30000 bytes=4096\n"
                              "1@20 launch s=N1 k=a args=0x10000\n"
                              "1@30+900 sync s=N1\n"
                              "2@1000 launch s=N2 k=other args=0x30000\n"
                              "2@1005 launch s=N1 k=a args=0x10000\n",
                      more = "1@1010 launch s=N2 k=other args=0x30000\n", wait = "1@1020+900 sync s=N1\n";
    EXPECT_EQ(1u, Useless(begin + more + wait));
    EXPECT_EQ(0u, Useless(begin + wait));
}

/* Another thread's wait shows that nothing needed the first one; what that saves its own thread's next wait shows. */
TEST(WatchedWaits, WhatIsSettledStillAwaitsItsThread)
{
    const std::string begin = "1@0+5 alloc ptr=0x10000 bytes=4096\n"
                              "1@8+5 alloc ptr=0x30000 bytes=4096\n"
                              "1@20 launch s=N1 k=a args=0x10000\n"
                              "1@30+900 sync s=N1\n"
                              "1@1000 launch s=N2 k=other args=0x30000\n"
                              "1@1010 launch s=N1 k=a args=0x10000\n"
                              "2@1020+5 sync s=N1\n";
    EXPECT_EQ(0u, Useless(begin));
    EXPECT_EQ(1u, Useless(begin + "1@1100+900 sync s=N2\n"));
}

} // namespace
} // namespace ptds
