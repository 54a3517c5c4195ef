// SPDX-License-Identifier: Apache-2.0
//
// What findings say that leaving a wait out saves (findings/aftermath/saving.h), on made-up traces whose true saving is
// plain: the programs of tests/apps/mended are of the same kinds.
#include <gtest/gtest.h>

#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

/* What the rule's findings say in all: "calls: known ns, unknown". */
std::string Said(const std::string &trace, const std::string &rule)
{
    Built report(BuildTrace(trace));
    uint64_t count = 0, ns = 0, known = 0, unknown = 0;
    for (const finding *one : report.Of(rule)) {
        count += one->count;
        ns += one->host_ns;
        known += one->known;
        unknown += one->unknown;
    }
    return std::to_string(count) + ": " + std::to_string(known) + " save " + std::to_string(ns / 1000) + " us, " +
           std::to_string(unknown) + " unknown";
}

/* Rounds of 1 ms, `odd` and `even` by turns: each @ stands for the round. */
std::string Rounds(unsigned rounds, const std::string &odd, const std::string &even)
{
    std::string all;
    for (unsigned i = 0; i < rounds; i++)
        for (char c : i % 2 == 0 ? odd : even)
            all += c == '@' ? "@" + std::to_string(i + 1) : std::string(1, c);
    return all;
}

std::string Rounds(unsigned rounds, const std::string &text)
{
    return Rounds(rounds, text, text);
}

const char free_of_500_us[] = "1@000 launch s=N1 k=long\n"
                              "1@020+500 free ptr=0x1000\n";

/* The GPU takes 520 us of each round whatever the host does, so 480 us are saved where the host works, and 10 where not. */
TEST(Savings, AFreeSavesWhatItsThreadDoesUntilItWaitsAgain)
{
    EXPECT_EQ("4: 3 save 1440 us, 0 unknown", Said(Rounds(4, free_of_500_us), "blocking-free"));
    EXPECT_EQ("4: 3 save 120 us, 1 unknown",
              Said(Rounds(4, "1@000 launch s=N1 k=long\n1@020+960 free ptr=0x1000\n") + "1@5000 launch s=N1 k=long\n",
                   "blocking-free"));
}

/* Without the wait the other stream would have run beside; not where it comes behind anyhow. */
TEST(Savings, WhereAnotherStreamWouldHaveRunBesideAllOfItIsSaved)
{
    const std::string end = "1@1980+900 ctx-sync\n";
    for (const auto &[first, second, says] :
         {std::tuple{"N1", "N2", "1: 1 save 880 us, 0 unknown"}, std::tuple{"B1", "B2", "1: 1 save 880 us, 0 unknown"},
          std::tuple{"B1", "N1", "1: 1 save 880 us, 0 unknown"}, std::tuple{"N1", "L", "1: 1 save 880 us, 0 unknown"},
          std::tuple{"N1", "N1", "1: 1 save 60 us, 0 unknown"}, std::tuple{"B1", "L", "1: 1 save 60 us, 0 unknown"},
          std::tuple{"L", "B1", "1: 1 save 60 us, 0 unknown"}}) {
        std::string work = std::string("1@1000 launch s=") + first + " k=a\n",
                    then = std::string("1@1930 launch s=") + second + " k=b\n";
        EXPECT_EQ(says, Said(work + "1@1020+900 free ptr=0x1000\n" + then + end, "blocking-free")) << first << second;
    }
    EXPECT_EQ("1: 1 save 960 us, 0 unknown",
              Said("1@1000 launch s=N1 k=a\n1@1020+980 copy s=N1 from=device to=pageable bytes=4\n"
                   "1@2010 launch s=N2 k=b\n1@2020+900 ctx-sync\n",
                   "pageable-async-copy"));
    EXPECT_EQ("1: 1 save 20 us, 0 unknown",
              Said("1@1000 launch s=N1 k=a\n1@1020+980 copy s=N1 from=device to=pageable bytes=4\n"
                   "1@2010 launch s=N1 k=b\n1@2020+900 ctx-sync\n",
                   "pageable-async-copy"));
}

/* A thread that waits once more for what it has waited for had meant to wait. */
TEST(Savings, AWaitThatWasMeantHoldsOthersBackAnyhow)
{
    EXPECT_EQ("1: 1 save 30 us, 0 unknown",
              Said("1@1000 launch s=N1 k=a\n1@1020+980 copy s=N1 from=device to=pageable bytes=4\n1@2005+3 sync s=N1\n"
                   "1@2010 launch s=N2 k=b\n1@2030+900 ctx-sync\n",
                   "pageable-async-copy"));
}

/* Of a thread that gives the GPU nothing more nobody knows what it has lost, while others do; at the end nothing is. */
TEST(Savings, OfAThreadThatOnlyFreesTheyAreUnknown)
{
    const std::string free = "2@1000 launch s=N1 k=a\n1@1020+900 free ptr=0x1000\n";
    EXPECT_EQ("1: 0 save 0 us, 1 unknown", Said(free + "2@2000 launch s=N1 k=a\n", "blocking-free"));
    EXPECT_EQ("0: 0 save 0 us, 0 unknown", Said(free, "blocking-free"));
}

/* The host waits so that a second stream may use what a first one has made: an event would do. Not for a copy to the host,
 * not where the first one writes what the host can read. */
TEST(Savings, ADeviceWideWaitForAnotherStreamsSakeIsAFinding)
{
    const std::string memory = "1@0+1 alloc m=A ptr=0x10000 bytes=4096\n1@2+1 alloc m=B ptr=0x20000 bytes=4096\n"
                               "1@4+1 alloc-host m=P ptr=0x7f0000000000 bytes=4096\n";
    const std::string made = "1@000 launch s=N1 k=_Z1aPf args=A\n1@020+500 ctx-sync\n";
    EXPECT_EQ("20: 20 save 7600 us, 0 unknown",
              Said(memory + Rounds(20, made + "1@600 launch s=N2 k=_Z1bPfS_ args=A,B\n1@900+20 sync s=N2\n"),
                   "device-wide-sync"));
    EXPECT_EQ("0: 0 save 0 us, 0 unknown",
              Said(memory + Rounds(20, made + "1@600+20 copy s=N2 implicit from=device to=pageable src=A bytes=4096\n"
                                              "1@900+20 sync s=N2\n"),
                   "device-wide-sync"));
}

/* A time that is read is what the wait was for, whatever another stream does then. */
TEST(Savings, ADeviceWideWaitBeforeATimeIsReadIsNone)
{
    const std::string rest = "1@600 launch s=N2 k=b\n1@900+20 sync s=N2\n";
    EXPECT_EQ(
        "0: 0 save 0 us, 0 unknown",
        Said("1@0 event-create e=E\n" +
                 Rounds(20, "1@000 launch s=N1 k=a\n1@010 record s=N1 e=E\n1@020+500 ctx-sync\n1@530 elapsed e=E\n" + rest),
             "device-wide-sync"));
}

/* Kernels of two streams that the host lets run one after the other. */
TEST(Savings, ADeviceWideWaitBetweenStreamsKeepsThemFromRunningSideBySide)
{
    EXPECT_EQ("39: 39 save 37440 us, 0 unknown",
              Said(Rounds(40, "1@000 launch s=N1 k=a\n1@010+980 ctx-sync\n", "1@000 launch s=N2 k=b\n1@010+980 ctx-sync\n"),
                   "device-wide-sync"));
}

} // namespace
} // namespace ptds
