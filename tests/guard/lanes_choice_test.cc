// SPDX-License-Identifier: Apache-2.0
//
// PTDS_LANES=auto decides from rounds that it has measured: one lane at first, several where the same work took less time
// with them, one again where that is no longer so. Rounds are made up here, with times for each mode.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

extern "C" {
#include "interpose/guard/decide/lanes_choice.h"
}

namespace ptds
{
namespace
{

struct Round {
    std::vector<uint64_t> work; // what, of each operation
    uint64_t apart;             // the operation at which some are apart; more than there are: none
    uint64_t one, many;         // ticks
    uint64_t between = 0;       // ticks from one operation to the next: the host's own time
};

class Thread
{
public:
    lanes_choice choice = {};
    uint64_t now = 1000;

    // One round; returns the mode in which it was: '1', 'N' or '-' at rest.
    char Run(const Round &round)
    {
        char mode = "1N-"[choice.mode];
        uint64_t begun = now;
        for (size_t i = 0; i < round.work.size() && choice.mode != LANES_REST; i++)
            lanes_choice_operation(&choice, round.work[i], choice.mode == LANES_ONE && i >= round.apart,
                                   now + i * round.between);
        now = begun + (mode == 'N' ? round.many : round.one);
        lanes_choice_waited(&choice, now);
        now += 50; // the host's own work between the rounds counts for nothing
        return mode;
    }
    std::string Run(const std::vector<Round> &rounds, size_t count)
    {
        std::string modes;
        for (size_t i = 0; i < count; i++)
            modes += Run(rounds[i % rounds.size()]);
        return modes;
    }
};

const Round gains = {{1, 2, 3, 4}, 1, 1000, 600};
const Round loses = {{1, 2, 3, 5}, 1, 1000, 1100};
const Round chain = {{7, 7, 7}, 9, 1000, 1200};

std::string Of(char mode, size_t count)
{
    return std::string(count, mode);
}

TEST(LanesChoice, TriesEachWayTwiceAndStaysWithWhatIsFaster)
{
    EXPECT_EQ("11NN" + Of('N', 30), Thread().Run({gains}, 34));
}

/* Each time twice as long after the one before. */
TEST(LanesChoice, ComparesAgainNowAndThen)
{
    EXPECT_EQ("11NN" + Of('N', 32) + "1" + Of('N', 64) + "1" + Of('N', 128) + "1N",
              Thread().Run({gains}, 4 + 33 + 65 + 129 + 1));
}

TEST(LanesChoice, GoesBackToOneLaneWhereSeveralNoLongerPay)
{
    Thread thread;
    EXPECT_EQ("11NN" + Of('N', 10), thread.Run({gains}, 14));
    Round slower = gains;
    slower.many = 1000;
    EXPECT_EQ(Of('N', 22) + "1" + "11NN" + Of('1', 3) + "-", thread.Run({slower}, 22 + 1 + 4 + 4));
}

TEST(LanesChoice, NeedsAGainThatIsMoreThanChance)
{
    Round little = gains;
    little.many = 971;
    EXPECT_EQ("11NN1", Thread().Run({little}, 5));
    little.many = 969;
    EXPECT_EQ("11NNN", Thread().Run({little}, 5));
}

/* The first of each kind loads code, or makes streams. */
TEST(LanesChoice, TakesTheFasterOfTwo)
{
    Round first = gains;
    first.one = 9000;
    Thread thread;
    EXPECT_EQ('1', thread.Run(first));
    EXPECT_EQ('1', thread.Run(gains));
    Round slow = gains;
    slow.many = 5000;
    EXPECT_EQ('N', thread.Run(slow));
    EXPECT_EQ('N', thread.Run(gains));
    EXPECT_EQ('N', thread.Run(gains));
}

TEST(LanesChoice, NeverTriesWhatIsOneChain)
{
    EXPECT_EQ(Of('1', 4) + Of('-', 8) + Of('1', 4) + Of('-', 16) + "1", Thread().Run({chain}, 4 + 8 + 4 + 16 + 1));
}

/* Where several lanes were tried in vain, it rests longer, and asks again after that: four times as long each time. */
TEST(LanesChoice, RestsWhereNothingIsGained)
{
    EXPECT_EQ("11NN" + Of('1', 3) + Of('-', 32) + "11NN" + Of('1', 3) + Of('-', 128) + "1",
              Thread().Run({loses}, 7 + 32 + 7 + 128 + 1));
    Thread thread;
    for (int i = 0; i < 100000; i++)
        thread.Run(loses);
    std::string late = thread.Run({loses}, 8192);
    EXPECT_GE(std::count(late.begin(), late.end(), '-'), 8150) << "hardly anything is tried any more";
}

/* The host takes 900 of 1000 ticks to launch; more lanes would only make it slower. */
TEST(LanesChoice, LeavesProgramsAloneThatTheHostLimits)
{
    Round bound = gains;
    bound.between = 300;
    EXPECT_EQ(Of('1', 4) + Of('-', 8), Thread().Run({bound}, 12));
    bound.between = 260; // 22 % of the time it waits
    EXPECT_EQ("11NNN", Thread().Run({bound}, 5));
}

/* Other threads are at work: that is asked between two rounds. */
TEST(LanesChoice, RestsWhereItIsTold)
{
    Thread thread;
    EXPECT_EQ("11NN", thread.Run({gains}, 4));
    lanes_choice_rest(&thread.choice);
    EXPECT_EQ(Of('-', 8) + "11NN", thread.Run({gains}, 12));
}

/* Rounds of several kinds that take turns: each has its own way. */
TEST(LanesChoice, KnowsKindsApart)
{
    std::string modes = Thread().Run({gains, chain, loses}, 30);
    std::string late = modes.substr(18);
    EXPECT_EQ("N11N11N11N11", late) << modes;
}

/* Rounds that never come again are no reason to look for ever. */
TEST(LanesChoice, DoesNotWatchForEverWhatDiffersEachTime)
{
    Thread thread;
    std::string modes;
    for (uint64_t i = 0; i < 200; i++)
        modes += thread.Run({{i, i + 1}, 1, 1000, 500});
    EXPECT_EQ(Of('1', 64) + Of('-', 8), modes.substr(0, 72)) << modes;
    EXPECT_EQ(std::string::npos, modes.find('N')) << "no kind was known beforehand";
}

/* A long one goes the short way from its 1,025th operation on, and is no basis for anything. */
TEST(LanesChoice, DoesNotMeasureLongRounds)
{
    Thread thread;
    Round endless = {std::vector<uint64_t>(5000, 3), 1, 1000, 10};
    EXPECT_EQ("1", thread.Run({endless}, 1));
    EXPECT_EQ(LANES_REST, thread.choice.mode);
    EXPECT_EQ(7u, thread.choice.rest);
    EXPECT_EQ(Of('-', 7) + "1" + Of('-', 15), thread.Run({endless}, 23));
}

TEST(LanesChoice, ARoundWithoutWorkIsNone)
{
    Thread thread;
    std::string modes;
    for (int i = 0; i < 5; i++) {
        modes += thread.Run(gains);
        thread.Run({{}, 0, 10, 10});
    }
    EXPECT_EQ("11NNN", modes);
}

/* By the seed, and often enough of each. */
TEST(LanesChoice, IsAtRandomInARunThatIsShaken)
{
    auto modes = [](unsigned seed) {
        lanes_choice choice = {};
        std::string said;
        for (int i = 0; i < 64; i++)
            said += "1N-"[lanes_choice_shaken(&choice, seed)];
        return said;
    };
    EXPECT_EQ(modes(7), modes(7));
    EXPECT_NE(modes(7), modes(8));
    for (unsigned seed = 1; seed < 50; seed++) {
        std::string said = modes(seed);
        EXPECT_LT(12, std::count(said.begin(), said.end(), 'N')) << seed;
        EXPECT_LT(12, std::count(said.begin(), said.end(), '1')) << seed;
    }
}

} // namespace
} // namespace ptds
