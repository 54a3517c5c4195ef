// SPDX-License-Identifier: Apache-2.0
//
// The word, from literals: what was measured on one side, the answer, its line and its exit status on the other.
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "analysis/probe/answer/policy_answer.h"
#include "analysis/probe/answer/policy_answer_words.h"
#include "analysis/probe/runs/environment.h"

namespace ptds
{
namespace
{

const uint64_t MS = 1000000;

times Times(std::vector<uint64_t> ms)
{
    for (uint64_t &one : ms)
        one *= MS;
    return times_of(ms.data(), ms.size());
}

TEST(Times, MedianAndSpread)
{
    times three = Times({30, 10, 20});
    EXPECT_EQ(20 * MS, three.median);
    EXPECT_EQ(20 * MS, three.spread);
    EXPECT_EQ(10 * MS, three.least);
    EXPECT_EQ(30 * MS, three.most);
    EXPECT_EQ(15 * MS, Times({10, 20}).median);
    EXPECT_EQ(2 * MS, Times({10, 11, 12, 9, 500}).spread) << "of five, the fastest and the slowest do not count";
    EXPECT_EQ(0u, Times({}).count);
}

TEST(Times, ThePaceIsSureOnlyBeyondTheNoise)
{
    auto pace = [](std::vector<uint64_t> bare, std::vector<uint64_t> other) {
        times one = Times(bare), two = Times(other);
        return times_pace(&one, &two);
    };
    EXPECT_EQ(PACE_FASTER, pace({100, 101, 102}, {50, 51, 52}));
    EXPECT_EQ(PACE_SLOWER, pace({50, 51, 52}, {100, 101, 102}));
    EXPECT_EQ(PACE_SAME, pace({100, 101, 160}, {50, 51, 52})) << "the medians are no further apart than bare's rounds";
    EXPECT_EQ(PACE_SAME, pace({100, 101, 102}, {50, 90, 130}));
    EXPECT_EQ(PACE_SAME, pace({1000, 1000, 1000}, {995, 995, 995})) << "under 1 %";
    EXPECT_EQ(PACE_SAME, pace({100, 100, 100, 100, 100, 60}, {50, 50, 50, 50, 50, 70})) << "not every round is";
    EXPECT_EQ(PACE_SAME, pace({50, 50, 50, 50, 100}, {100, 100, 100, 100, 100})) << "nor where one is as fast as another";
    EXPECT_EQ(PACE_SAME, pace({100, 100, 100, 100, 100}, {50, 50, 50, 50, 100}));
    EXPECT_EQ(PACE_SLOWER, pace({50, 50, 50, 50, 99}, {100, 100, 100, 100, 100}));
    EXPECT_EQ(PACE_FASTER, pace({100, 100, 100, 100, 100}, {50, 50, 50, 50, 99}));
    EXPECT_EQ(PACE_UNKNOWN, pace({100, 101}, {50, 51, 52})) << "two rounds are alike too often";
    EXPECT_EQ(PACE_FASTER, pace({100, 101, 102, 130, 104}, {50, 51, 52, 20, 52})) << "one outlier is none of the spread";
}

/* One place has the number: what it is, these do not say. */
TEST(Times, ADifferenceUnderTheFloorIsNone)
{
    auto at = [](uint64_t ns) {
        uint64_t rounds[] = {ns - 1, ns, ns + 1};
        return times_of(rounds, 3);
    };
    const uint64_t floor = TIMES_FLOOR_NS;
    times tiny = at(56000), more = at(56000 + floor), over = at(56001 + floor), slow = at(300 * floor);
    EXPECT_EQ(PACE_SAME, times_pace(&tiny, &more));
    EXPECT_EQ(PACE_SAME, times_pace(&more, &tiny));
    EXPECT_FALSE(times_doubtful(&tiny, &more)) << "no more rounds for that";
    EXPECT_TRUE(times_under_floor(&tiny, &more));
    EXPECT_EQ(PACE_SLOWER, times_pace(&tiny, &over));
    EXPECT_EQ(PACE_FASTER, times_pace(&over, &tiny));
    EXPECT_FALSE(times_under_floor(&tiny, &over));
    EXPECT_EQ(floor, times_noise(&tiny, &over));
    EXPECT_EQ(3 * floor, times_noise(&slow, &tiny)) << "1 % of what takes long is more";
    times wide = Times({100, 105, 110});
    EXPECT_EQ(10 * MS, times_noise(&wide, &tiny)) << "and so is what the rounds differ by";
    EXPECT_FALSE(times_under_floor(&wide, &wide)) << "the spread is the reason";
    times below = at(99 * floor + floor / 2), above = at(100 * floor + floor / 4);
    EXPECT_TRUE(times_under_floor(&below, &above)) << "1 % of bare is less than the floor";
    EXPECT_FALSE(times_under_floor(&above, &below)) << "and here it is more";
}

TEST(Times, WhatIsCloseIsSettledByMoreRounds)
{
    auto doubtful = [](std::vector<uint64_t> bare, std::vector<uint64_t> other) {
        times one = Times(bare), two = Times(other);
        return times_doubtful(&one, &two);
    };
    EXPECT_FALSE(doubtful({100, 101, 102}, {50, 51, 52}));
    EXPECT_TRUE(doubtful({50, 51, 52}, {100, 101, 102})) << "slower is a reason not to use it";
    EXPECT_TRUE(doubtful({100, 105, 110}, {80, 85, 90})) << "faster by less than twice the spread";
    EXPECT_FALSE(doubtful({100, 105, 110}, {90, 101, 108})) << "no difference needs no more rounds";
}

/* A program that is right under guarded and twice as fast; tests change what they are about. */
struct Case {
    facts bare = {}, none = {}, observe = {}, policy = {};
    record observed = {}, own = {};
    evidence all = {};
    Case()
    {
        bare.name = "bare";
        policy.name = "guarded";
        none.name = "none";
        observe.name = "observe";
        bare.runs = observe.runs = policy.runs = 4;
        bare.ending = observe.ending = policy.ending = {END_EXITED, 0};
        bare.times = observe.times = Times({100, 101, 102});
        policy.times = Times({50, 51, 52});
        observed.processes = own.processes = 1;
        observed.cost = DEFAULT_UP_TO;
        all.rounds = all.done = 3;
        all.bare_runs = 4;
    }
    Case(const Case &) = delete;
    evidence &Evidence()
    {
        all.bare = &bare;
        all.none = &none;
        all.observe = &observe;
        all.policy = &policy;
        all.observed = &observed;
        all.own = &own;
        return all;
    }
    void Says(word word, why why, int status, const std::string &line)
    {
        answer found = policy_answer_of(&Evidence());
        EXPECT_STREQ(word_names[word], word_names[found.word]);
        EXPECT_STREQ(why_names[why], why_names[found.why]);
        EXPECT_EQ(status, policy_answer_status(&found));
        EXPECT_EQ(line, policy_answer_words_line(&found, &Evidence()).text);
    }
    void Differs(facts &facts)
    {
        facts.thing = "standard output";
        facts.unlike = 2;
        facts.difference.differs = true;
        facts.difference.line = 3;
        strcpy(facts.difference.bare, "sum 5");
        strcpy(facts.difference.other, "sum 1");
    }
};

TEST(Answer, SaysHowMuchFasterIfMoreThanTheNoise)
{
    Case one;
    one.Says(WORD_RIGHT, WHY_FASTER, 0, "right under guarded; 2.0x faster (51.0 ms, bare 101.0 ms)");
    one.all.forecast = {true, 1.8, 2.2};
    one.Says(WORD_RIGHT, WHY_FASTER, 0,
             "right under guarded; 2.0x faster (51.0 ms, bare 101.0 ms; predicted 1.8x to 2.2x)");
}

/* Half a second of start-up, and then the CUDA work. */
TEST(Answer, TheCudaPartComesFirst)
{
    Case one;
    one.bare.times = Times({675, 676, 677});
    one.policy.times = Times({575, 576, 577});
    one.none.cuda = Times({31, 32, 33});
    one.policy.cuda = Times({11, 12, 13});
    one.Says(WORD_RIGHT, WHY_FASTER, 0,
             "right under guarded; the CUDA part 2.7x faster (12.0 ms, bare 32.0 ms), the whole process 1.2x faster (576.0 "
             "ms, bare 676.0 ms)");
    one.all.forecast = {true, 2.4, 2.8};
    one.Says(WORD_RIGHT, WHY_FASTER, 0,
             "right under guarded; the CUDA part 2.7x faster (12.0 ms, bare 32.0 ms; predicted 2.4x to 2.8x), the whole "
             "process 1.2x faster (576.0 ms, bare 676.0 ms)");
    one.all.forecast = {};
    one.observed.cost = DEFAULT_ALONE;
    one.policy.times = Times({570, 676, 690});
    one.Says(WORD_RIGHT, WHY_FASTER, 0,
             "right under guarded; the CUDA part 2.7x faster (12.0 ms, bare 32.0 ms), the whole process with no measurable "
             "difference (676.0 ms, bare 676.0 ms, spread 120.0 ms)");
    one.policy.cuda = Times({31, 32, 34});
    one.Says(
        WORD_NOTHING, WHY_NO_GAIN, 0,
        "nothing to gain: one thread, one stream; right under guarded; no measurable difference (the CUDA part 32.0 ms, "
        "bare 32.0 ms, spread 3.0 ms; the whole process 676.0 ms, bare 676.0 ms, spread 120.0 ms)");
    one.policy.cuda = Times({61, 64, 67});
    one.Says(WORD_NOTHING, WHY_NO_GAIN, 0,
             "nothing to gain: one thread, one stream; right under guarded; the CUDA part 2.0x slower (64.0 ms, bare 32.0 "
             "ms), the whole process with no measurable difference (676.0 ms, bare 676.0 ms, spread 120.0 ms)");
    one.policy.times = Times({875, 876, 877});
    one.Says(WORD_DO_NOT, WHY_SLOWER, 1,
             "do not use guarded: the CUDA part 2.0x slower (64.0 ms, bare 32.0 ms), the whole process 1.3x slower (876.0 "
             "ms, bare 676.0 ms)");
}

TEST(Answer, TheCudaPartIsToldWhereBothSidesHaveIt)
{
    const char *whole = "right under guarded; 2.0x faster (51.0 ms, bare 101.0 ms)";
    Case one, other;
    one.policy.cuda = Times({11, 12, 13});
    one.Says(WORD_RIGHT, WHY_FASTER, 0, whole);
    other.none.cuda = Times({11, 12, 13});
    other.Says(WORD_RIGHT, WHY_FASTER, 0, whole);
    Case none;
    none.policy.times = {};
    none.Says(WORD_RIGHT, WHY_PACE_UNKNOWN, 0, "right under guarded; ");
}

TEST(Answer, TheFloorIsTold)
{
    Case one;
    uint64_t before[] = {55000, 56000, 57000}, after[] = {66000, 67000, 68000};
    one.none.cuda = times_of(before, 3);
    one.policy.cuda = times_of(after, 3);
    one.policy.times = one.bare.times;
    one.Says(WORD_RIGHT, WHY_SAME_TIME, 0,
             "right under guarded; no measurable difference (the CUDA part 67.0 us, bare 56.0 us, less than 1.0 ms apart; "
             "the whole process 101.0 ms, bare 101.0 ms, spread 2.0 ms)");
    std::swap(one.none.cuda, one.policy.cuda);
    EXPECT_EQ(WHY_SAME_TIME, policy_answer_of(&one.Evidence()).why) << "nor is it faster";
    one.bare.times = one.none.cuda;
    one.policy.times = one.policy.cuda;
    EXPECT_EQ(WHY_SAME_TIME, policy_answer_of(&one.Evidence()).why) << "nor the whole process";
}

/* The longest there is. */
TEST(Answer, NoWordIsCutOff)
{
    Case one;
    one.none.cuda = one.policy.cuda = one.bare.times;
    one.policy.times = one.bare.times;
    one.policy.name = "per-thread";
    one.observed.cost = DEFAULT_NO_WAIT;
    one.observed.gpu_busy_ns = 97;
    one.observed.gpu_span_ns = 100;
    one.observed.gpu_busy_at_least = true;
    one.all.comparable.nothing_printed = true;
    one.all.forecast = {true, 100.4, 200.8};
    one.Says(
        WORD_NOTHING, WHY_NO_GAIN, 0,
        "nothing to gain: no call waited longer because of the default stream, the GPU is busy at least 97 %; right under "
        "per-thread, by its exit status alone; no measurable difference (the CUDA part 101.0 ms, bare 101.0 ms, spread "
        "2.0 ms; predicted 100.4x to 200.8x; the whole process 101.0 ms, bare 101.0 ms, spread 2.0 ms)");
}

TEST(Answer, WhatTheReplayGainsIsGainedOfTheWholeProgram)
{
    record observed = {};
    observed.whatif.recorded = 60000000;
    observed.whatif.policies[0].least = 20000000; /* guarded */
    observed.whatif.policies[0].most = 35000000;
    EXPECT_FALSE(policy_answer_forecast(&observed, "guarded", 100000000).known) << "guesses are kept back";
    observed.replayed = true;
    const forecast found = policy_answer_forecast(&observed, "guarded", 100000000);
    EXPECT_TRUE(found.known);
    EXPECT_NEAR(1.333, found.least, 0.001);
    EXPECT_NEAR(1.667, found.most, 0.001);
    EXPECT_FALSE(policy_answer_forecast(&observed, "guarded", 30000000).known)
        << "the record's run took longer than the program";
    EXPECT_FALSE(policy_answer_forecast(&observed, "observe", 100000000).known);
    const forecast part = policy_answer_forecast(&observed, "guarded", 0);
    EXPECT_TRUE(part.known) << "of the CUDA work itself";
    EXPECT_NEAR(1.714, part.least, 0.001);
    EXPECT_NEAR(3.0, part.most, 0.001);
}

TEST(Answer, SaysAsFastWithinTheNoise)
{
    Case one;
    one.policy.times = Times({99, 100, 103});
    one.Says(WORD_RIGHT, WHY_SAME_TIME, 0,
             "right under guarded; no measurable difference (100.0 ms, bare 101.0 ms, spread 4.0 ms)");
    one.observed.cost = DEFAULT_ALONE;
    one.Says(
        WORD_NOTHING, WHY_NO_GAIN, 0,
        "nothing to gain: one thread, one stream; right under guarded; no measurable difference (100.0 ms, bare 101.0 ms, "
        "spread 4.0 ms)");
    one.observed.gpu_busy_ns = 97;
    one.observed.gpu_span_ns = 100;
    one.Says(WORD_NOTHING, WHY_NO_GAIN, 0,
             "nothing to gain: one thread, one stream, the GPU is busy 97 %; right under guarded; no measurable difference "
             "(100.0 ms, bare 101.0 ms, spread 4.0 ms)");
    one.observed.gpu_busy_at_least = true;
    one.Says(WORD_NOTHING, WHY_NO_GAIN, 0,
             "nothing to gain: one thread, one stream, the GPU is busy at least 97 %; right under guarded; no measurable "
             "difference (100.0 ms, bare 101.0 ms, spread 4.0 ms)");
    one.observed.cost = DEFAULT_UNKNOWN;
    one.Says(WORD_RIGHT, WHY_SAME_TIME, 0,
             "right under guarded; no measurable difference (100.0 ms, bare 101.0 ms, spread 4.0 ms)");
}

TEST(Answer, EachReasonForWhichNothingIsToBeGained)
{
    Case one;
    one.policy.times = Times({99, 100, 103});
    for (default_cost cost :
         {DEFAULT_UP_TO, DEFAULT_UNUSED, DEFAULT_ALONE, DEFAULT_NO_WAIT, DEFAULT_NEEDED, DEFAULT_UNKNOWN}) {
        one.observed.cost = cost;
        answer found = policy_answer_of(&one.Evidence());
        bool gains = cost == DEFAULT_UP_TO || cost == DEFAULT_UNKNOWN;
        EXPECT_STREQ(word_names[gains ? WORD_RIGHT : WORD_NOTHING], word_names[found.word]) << cost;
    }
}

TEST(Answer, WhatWasMeasuredStandsAgainstTheRecord)
{
    Case one;
    one.observed.cost = DEFAULT_ALONE;
    one.Says(WORD_RIGHT, WHY_FASTER, 0, "right under guarded; 2.0x faster (51.0 ms, bare 101.0 ms)");
}

TEST(Answer, TwoRoundsTellNoTime)
{
    Case one;
    one.bare.times = Times({100, 100});
    one.policy.times = Times({10, 10});
    one.Says(WORD_RIGHT, WHY_PACE_UNKNOWN, 0,
             "right under guarded; too few rounds to speak of times (10.0 ms, bare 100.0 ms)");
}

TEST(Answer, SaysHowMuchSlower)
{
    Case one;
    std::swap(one.bare.times, one.policy.times);
    one.Says(WORD_DO_NOT, WHY_SLOWER, 1, "do not use guarded: 2.0x slower (101.0 ms, bare 51.0 ms)");
}

TEST(Answer, ByTheExitStatusAlone)
{
    Case one;
    for (bool printed : {false, true}) {
        one.all.comparable.nothing_printed = !printed;
        one.all.comparable.no_number = printed;
        one.Says(WORD_RIGHT, WHY_FASTER, 0,
                 "right under guarded, by its exit status alone; 2.0x faster (51.0 ms, bare 101.0 ms)");
    }
}

TEST(Answer, DoNotUseAPolicyUnderWhichOutputDiffers)
{
    Case one;
    one.Differs(one.policy);
    one.Says(WORD_DO_NOT, WHY_OUTPUT, 1,
             "do not use guarded: output differs in 2 of 4 rounds, because line 3 is \"sum 1\", bare \"sum 5\"");
    one.policy.difference.other_ends = true;
    one.Says(WORD_DO_NOT, WHY_OUTPUT, 1,
             "do not use guarded: output differs in 2 of 4 rounds, because line 3 is missing: \"sum 5\"");
    one.policy.thing = "out.bin";
    one.policy.difference = {};
    one.policy.difference.offset = 17;
    one.Says(WORD_DO_NOT, WHY_OUTPUT, 1,
             "do not use guarded: output differs in 2 of 4 rounds, because byte 17 of out.bin is not the same");
    one.policy.by_command = true;
    one.Says(WORD_DO_NOT, WHY_OUTPUT, 1,
             "do not use guarded: output differs in 2 of 4 rounds, because --compare says so of out.bin");
}

TEST(Answer, OutputThatDiffersUnderObserveTooProvesNothing)
{
    Case one;
    one.Differs(one.policy);
    one.Differs(one.observe);
    one.Says(WORD_CANNOT_TELL, WHY_OBSERVE_TOO, 3,
             "can't tell: standard output differs under guarded, but under observe, too, which moves nothing");
    one.observe.thing = nullptr;
    EXPECT_EQ(WHY_OUTPUT, policy_answer_of(&one.Evidence()).why);
    one.Differs(one.none);
    one.Says(WORD_CANNOT_TELL, WHY_OBSERVE_TOO, 3,
             "can't tell: standard output differs under guarded, but under none, too, which moves nothing");
}

TEST(Answer, ATimeThatChangesIsNoWrongResult)
{
    Case one;
    one.Differs(one.policy);
    strcpy(one.policy.difference.bare, "took 4 s");
    strcpy(one.policy.difference.other, "took 1 s");
    one.policy.difference.like_time = true;
    one.policy.difference.time_ns = 2e9;
    const char *time = "can't tell: line 3 of standard output looks like a time (\"took 1 s\", bare \"took 4 s\"): give "
                       "--compare CMD";
    one.Says(WORD_CANNOT_TELL, WHY_TIME, 3, time);
    one.policy.times = Times({100, 101});
    one.Says(WORD_CANNOT_TELL, WHY_TIME, 3, time);
    one.policy.times = Times({100, 101, 102});
    one.Says(WORD_DO_NOT, WHY_OUTPUT, 1,
             "do not use guarded: output differs in 2 of 4 rounds, because line 3 is \"took 1 s\", bare \"took 4 s\"");
    one.none.cuda = Times({20, 20, 20});
    one.policy.cuda = Times({10, 10, 10});
    one.Says(WORD_CANNOT_TELL, WHY_TIME, 3, time);
    one.policy.cuda = one.none.cuda;
    EXPECT_EQ(WHY_OUTPUT, policy_answer_of(&one.Evidence()).why);
    one.policy.difference.time_ns = 2 * MS;
    one.Says(WORD_CANNOT_TELL, WHY_TIME, 3, time);
    one.Differs(one.observe);
    EXPECT_EQ(WHY_OBSERVE_TOO, policy_answer_of(&one.Evidence()).why);
    one.policy.difference.like_time = false;
    one.observe.difference.like_time = true;
    EXPECT_EQ(WHY_OUTPUT, policy_answer_of(&one.Evidence()).why) << "under observe it was only a time";
}

TEST(Answer, ANumberFarFromBareIsNoTimeWhereThePaceIsTheSame)
{
    Case one;
    one.policy.far_thing = "out.txt";
    one.policy.far.far_ns = 2.5 * MS;
    one.policy.far.far_line = 7;
    strcpy(one.policy.far.far_text, "loss 9");
    EXPECT_EQ(WHY_FASTER, policy_answer_of(&one.Evidence()).why);
    one.policy.times = Times({100, 101, 102});
    one.Says(WORD_CANNOT_TELL, WHY_FAR, 3,
             "can't tell: line 7 of out.txt has a number far from bare's (\"loss 9\"), though the runs took the "
             "same time: give --compare CMD");
    one.none.cuda = Times({20, 20, 20});
    one.policy.cuda = Times({10, 10, 10});
    EXPECT_EQ(WHY_FASTER, policy_answer_of(&one.Evidence()).why);
    one.policy.cuda = one.none.cuda;
    EXPECT_EQ(WHY_FAR, policy_answer_of(&one.Evidence()).why);
    one.policy.far.far_ns = 1.5 * MS;
    EXPECT_EQ(WHY_SAME_TIME, policy_answer_of(&one.Evidence()).why) << "so much a time may differ by";
}

TEST(Answer, DoNotUseAPolicyUnderWhichTheProgramEndsOtherwise)
{
    Case one;
    one.policy.ended_unlike = true;
    one.policy.unlike = 1;
    one.policy.ending = {END_SIGNALLED, SIGSEGV};
    one.Says(WORD_DO_NOT, WHY_ENDING, 1,
             "do not use guarded: it ends by signal 11 (Segmentation fault) in 1 of 4 rounds; bare ends with status 0");
    one.policy.ending = {END_EXITED, 3};
    one.Says(WORD_DO_NOT, WHY_ENDING, 1,
             "do not use guarded: it ends with status 3 in 1 of 4 rounds; bare ends with status 0");
    one.policy.ending = {END_TIMED_OUT, 0};
    one.policy.limit_ns = 12000 * MS;
    one.Says(WORD_DO_NOT, WHY_HANGS, 1, "do not use guarded: it hangs: no end in 12.00 s, bare ended");
    one.observe.ended_unlike = true;
    one.observe.ending = {END_EXITED, 3};
    one.Says(
        WORD_CANNOT_TELL, WHY_OBSERVE_TOO, 3,
        "can't tell: it does not end in 12.00 s under guarded, but it ends with status 3 under observe, too, which moves "
        "nothing");
    std::swap(one.observe, one.none);
    std::swap(one.observe.name, one.none.name);
    one.Says(WORD_CANNOT_TELL, WHY_OBSERVE_TOO, 3,
             "can't tell: it does not end in 12.00 s under guarded, but it ends with status 3 under none, too, which moves "
             "nothing");
    one.none.ended_unlike = false;
    one.Differs(one.none);
    EXPECT_EQ(WHY_HANGS, policy_answer_of(&one.Evidence()).why) << "other output is no hang";
    one.policy.ending = {END_NOT_STARTED, ENOENT};
    one.Says(WORD_CANNOT_TELL, WHY_NOT_STARTED, 2,
             "can't tell: under guarded the program cannot be started: No such file or directory");
}

TEST(Answer, TheRecordProvesItWrong)
{
    Case one;
    one.own.doubt = DOUBT_WRONG;
    one.Says(WORD_DO_NOT, WHY_RECORD, 1,
             "do not use guarded: an order is gone that a result needs, though the output was the same in 4 rounds");
    one.observed.doubt = DOUBT_WRONG;
    one.Says(WORD_RIGHT, WHY_FASTER, 0, "right under guarded; 2.0x faster (51.0 ms, bare 101.0 ms)");
    one.observed.doubt = DOUBT_NONE;
    one.own.doubt = DOUBT_MAY;
    one.Says(WORD_RIGHT, WHY_FASTER, 0, "right under guarded; 2.0x faster (51.0 ms, bare 101.0 ms)");
}

TEST(Answer, WorkThatStartsLateShowsItWrong)
{
    Case one;
    facts shaken = {}, none = {};
    one.all.shaken = &shaken;
    one.all.shaken_none = &none;
    const std::string fine = "right under guarded; 2.0x faster (51.0 ms, bare 101.0 ms)";
    one.Says(WORD_RIGHT, WHY_FASTER, 0, fine);
    shaken.runs = none.runs = 5;
    one.Says(WORD_RIGHT, WHY_FASTER, 0, fine);
    EXPECT_STREQ("as bare in 5 runs", policy_answer_words_shaken(&shaken).text);
    one.Differs(shaken);
    shaken.round = 3;
    one.Says(
        WORD_DO_NOT, WHY_SHAKEN, 1,
        "do not use guarded: when work starts late, 2 of 5 runs differ from bare, and under none 0 of 5; PTDS_SHAKE=3: "
        "line 3 is \"sum 1\", bare \"sum 5\"");
    EXPECT_STREQ("2 of 5 runs differ; PTDS_SHAKE=3: line 3 is \"sum 1\", bare \"sum 5\"",
                 policy_answer_words_shaken(&shaken).text);
    shaken.difference.like_time = true;
    one.Says(WORD_RIGHT, WHY_FASTER, 0, fine);
    shaken.difference.like_time = false;
    one.Differs(none);
    none.round = 1;
    one.Says(WORD_RIGHT, WHY_FASTER, 0, fine); /* the program's own doing */
    none.runs = 0;
    one.Says(WORD_RIGHT, WHY_FASTER, 0, fine); /* nothing to hold it against */
    none = {};
    none.runs = 5;
    shaken.thing = nullptr;
    shaken.ended_unlike = true;
    shaken.ended_round = 2;
    shaken.ending = {END_TIMED_OUT, 0};
    shaken.limit_ns = 12000 * MS;
    one.Says(
        WORD_DO_NOT, WHY_SHAKEN, 1,
        "do not use guarded: when work starts late, 2 of 5 runs differ from bare, and under none 0 of 5; PTDS_SHAKE=2: "
        "the program does not end in 12.00 s");
    one.policy.ended_unlike = true;
    one.policy.ending = {END_EXITED, 3};
    EXPECT_EQ(WHY_ENDING, policy_answer_of(&one.Evidence()).why) << "what is seen without delays comes first";
}

TEST(Answer, CannotTellWhereBareFails)
{
    Case one;
    one.bare.ending = {END_EXITED, 4};
    one.bare.unlike = 1;
    one.Says(WORD_CANNOT_TELL, WHY_BARE_FAILS, 3, "can't tell: the bare program itself ends with status 4 in 1 of 4 runs");
    one.bare.unlike = one.bare.runs;
    one.Says(WORD_CANNOT_TELL, WHY_BARE_FAILS, 3, "can't tell: the bare program itself ends with status 4");
    one.bare.ending = {END_SIGNALLED, SIGABRT};
    one.Says(WORD_CANNOT_TELL, WHY_BARE_FAILS, 3, "can't tell: the bare program itself ends by signal 6 (Aborted)");
    one.bare.ending = {END_TIMED_OUT, 0};
    one.bare.limit_ns = 2000 * MS;
    one.Says(WORD_CANNOT_TELL, WHY_BARE_HANGS, 3, "can't tell: the bare program itself does not end in 2.00 s");
    one.bare.ending = {END_TERMINAL, 0};
    one.Says(WORD_CANNOT_TELL, WHY_TERMINAL, 3, "can't tell: the bare program itself wants the terminal");
    one.bare.ending = {END_NOT_STARTED, ENOENT};
    one.Says(WORD_CANNOT_TELL, WHY_NOT_STARTED, 2,
             "can't tell: the bare program itself cannot be started: No such file or directory");
}

TEST(Answer, CannotTellWhereOutputVaries)
{
    Case one;
    one.all.comparable.thing = "standard output";
    one.all.comparable.varies = VARIES_WORDS;
    one.all.comparable.line = 2;
    one.Says(WORD_CANNOT_TELL, WHY_NOT_COMPARABLE, 3,
             "can't tell: standard output varies in more than numbers bare against bare (line 2): give --compare CMD");
    one.all.comparable.varies = VARIES_HASHES;
    one.Says(
        WORD_CANNOT_TELL, WHY_NOT_COMPARABLE, 3,
        "can't tell: standard output varies in a hexadecimal number, which is no time, bare against bare (line 2): give "
        "--compare CMD");
    one.all.comparable.missing = true;
    one.all.comparable.thing = "out.bin";
    one.Says(WORD_CANNOT_TELL, WHY_NOT_COMPARABLE, 3, "can't tell: out.bin was not written by the bare runs");
    one.all.comparable.broken = true;
    one.all.comparable.ending = {END_EXITED, 127};
    one.Says(WORD_CANNOT_TELL, WHY_NOT_COMPARABLE, 3, "can't tell: --compare ends with status 127");
    one.policy.ended_unlike = true;
    one.policy.ending = {END_EXITED, 3};
    EXPECT_EQ(WORD_DO_NOT, policy_answer_of(&one.Evidence()).word) << "a crash needs no comparing";
}

TEST(Answer, WhatGoesOnInTheBackgroundWasNotCompared)
{
    Case one;
    one.policy.leaves = 1;
    one.Differs(one.policy);
    one.Says(WORD_CANNOT_TELL, WHY_LEAVES, 3,
             "can't tell: under guarded the program leaves processes behind, which were there 1.00 s after its end: give a "
             "command that waits for them");
    one.bare.leaves = 1;
    one.Says(WORD_CANNOT_TELL, WHY_LEAVES, 3,
             "can't tell: the bare program itself leaves processes behind, which were there 1.00 s after its end: give a "
             "command that waits for them");
    one.bare.ending = {END_EXITED, 4};
    EXPECT_EQ(WHY_BARE_FAILS, policy_answer_of(&one.Evidence()).why);
}

TEST(Answer, CannotTellWhereNoCudaCallWasSeen)
{
    Case one;
    one.observed.processes = 0;
    one.Says(WORD_CANNOT_TELL, WHY_NO_CUDA, 3,
             "can't tell: no CUDA call was seen: the program makes none, or a preloaded library does not reach it");
    Case other;
    other.own.processes = 0;
    other.all.said = "ptds: PTDS_LANES=x: a number from 1 to 32";
    other.Says(WORD_CANNOT_TELL, WHY_NOT_IN_FORCE, 3,
               "can't tell: guarded was not in force: ptds: PTDS_LANES=x: a number from 1 to 32");
}

TEST(Answer, CannotTellWhereItWasInterrupted)
{
    Case one;
    one.all.interrupted = true;
    one.all.done = 1;
    one.policy.runs = 2;
    one.Says(WORD_CANNOT_TELL, WHY_INTERRUPTED, 3,
             "can't tell: interrupted after 1 of 3 rounds; so far the same under guarded in 2 runs");
    one.policy.runs = 0;
    one.all.done = 0;
    one.Says(WORD_CANNOT_TELL, WHY_INTERRUPTED, 3, "can't tell: interrupted after 0 of 3 rounds");
    one.policy.runs = 2;
    one.Differs(one.policy);
    EXPECT_EQ(WORD_DO_NOT, policy_answer_of(&one.Evidence()).word) << "what is known is known";
    one.all.bare_runs = 1;
    one.Says(WORD_CANNOT_TELL, WHY_INTERRUPTED, 3, "can't tell: interrupted after 0 of 3 rounds");
    Case none;
    none.all.interrupted = true;
    none.bare.runs = 0;
    none.bare.ending = {};
    EXPECT_EQ(WHY_INTERRUPTED, policy_answer_of(&none.Evidence()).why);
}

TEST(Environment, NoShimIsPreloadedTwice)
{
    char out[100] = "what was there before";
    auto preload = [&](const char *library, const char *there) {
        EXPECT_TRUE(environment_preload(library, there, out, sizeof out));
        return std::string(out);
    };
    EXPECT_EQ("", preload(nullptr, nullptr));
    EXPECT_EQ("/a/libptds.so", preload("/a/libptds.so", nullptr));
    EXPECT_EQ("/b/other.so:/a/libptds.so", preload("/a/libptds.so", "/b/libptds.so:/b/other.so"));
    EXPECT_EQ("/b/other.so:x.so", preload(nullptr, "libptds.so /b/other.so  x.so:/c/libptds.so"));
    EXPECT_EQ("notlibptds.so", preload(nullptr, "notlibptds.so"));
    EXPECT_FALSE(environment_preload("/a/libptds.so", nullptr, out, 5));
}

TEST(Environment, TheAuditorComesLastAndOnce)
{
    char out[100] = "what was there before";
    auto audit = [&](const char *auditor, const char *there) {
        EXPECT_TRUE(environment_audit(auditor, there, out, sizeof out));
        return std::string(out);
    };
    EXPECT_EQ("", audit(nullptr, nullptr));
    EXPECT_EQ("/a/libptds_audit.so", audit("/a/libptds_audit.so", nullptr));
    EXPECT_EQ("/b/o t.so:/a/libptds_audit.so", audit("/a/libptds_audit.so", "/c/libptds_audit.so:/b/o t.so"));
    EXPECT_EQ("/b/other.so", audit(nullptr, "/b/other.so:/c/libptds_audit.so")) << "bare";
    EXPECT_FALSE(environment_audit("/a/libptds_audit.so", nullptr, out, 5));
}

} // namespace
} // namespace ptds
