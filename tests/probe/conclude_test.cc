// SPDX-License-Identifier: Apache-2.0
//
// Of several policies: whose answer comes first, which one is to be used, and the line to copy.
#include <gtest/gtest.h>

#include "analysis/base/sink.h"
#include "analysis/probe/answer/command_to_copy.h"
#include "analysis/probe/answer/conclude.h"
#include "analysis/probe/probe.h"
#include "analysis/probe/runs/rounds.h"

namespace ptds
{
namespace
{

class ConcludeTest : public testing::Test
{
protected:
    ConcludeTest()
    {
        rounds_begin(&probe_);
        for (const char *policy : {"guarded", "per-thread", "stream"})
            rounds_add_policy(&probe_, policy, false);
    }
    static const uint64_t MS = 1000000;
    /* The policies in that order; ms of each round. */
    void Answers(std::vector<word> words, std::vector<uint64_t> ms)
    {
        for (size_t i = 0; i < words.size(); i++) {
            uint64_t rounds[] = {ms[i] * MS, ms[i] * MS, ms[i] * MS};
            probe_.variants[VARIANT_FIRST_POLICY + i].answer.word = words[i];
            probe_.variants[VARIANT_FIRST_POLICY + i].facts.times = times_of(rounds, 3);
        }
    }
    void Ask(const char *policy)
    {
        EXPECT_FALSE(rounds_add_policy(&probe_, policy, true)) << "it is there already";
    }
    std::string Best() const
    {
        const variant *best = conclude_best(&probe_);
        return best != nullptr ? best->name : "none";
    }
    probe probe_ = {};
};

TEST_F(ConcludeTest, TheWorstOfThoseAskedForComesFirst)
{
    EXPECT_EQ(nullptr, conclude_first(&probe_));
    Answers({WORD_RIGHT, WORD_DO_NOT, WORD_CANNOT_TELL}, {1, 1, 1});
    Ask("guarded");
    EXPECT_STREQ("guarded", conclude_first(&probe_)->name);
    Ask("stream");
    EXPECT_STREQ("stream", conclude_first(&probe_)->name);
    Ask("per-thread");
    EXPECT_STREQ("per-thread", conclude_first(&probe_)->name);
    Answers({WORD_RIGHT, WORD_RIGHT, WORD_NOTHING}, {1, 1, 1});
    EXPECT_STREQ("guarded", conclude_first(&probe_)->name) << "all fine: the first";
}

TEST_F(ConcludeTest, GuardedIsTheOneToUseWhereItIsRight)
{
    Answers({WORD_RIGHT, WORD_RIGHT, WORD_RIGHT}, {500, 100, 200});
    EXPECT_EQ("guarded", Best()) << "it gives up nothing";
    Answers({WORD_DO_NOT, WORD_RIGHT, WORD_RIGHT}, {500, 200, 100});
    EXPECT_EQ("stream", Best()) << "the fastest of the others";
    Answers({WORD_DO_NOT, WORD_RIGHT, WORD_RIGHT}, {500, 100, 200});
    EXPECT_EQ("per-thread", Best());
    Answers({WORD_CANNOT_TELL, WORD_DO_NOT, WORD_NOTHING}, {1, 1, 1});
    EXPECT_EQ("none", Best());
}

TEST_F(ConcludeTest, TheFastestIsThatOfTheCudaPartWhereItIsKnown)
{
    Answers({WORD_DO_NOT, WORD_RIGHT, WORD_RIGHT}, {500, 100, 200});
    uint64_t slow[] = {90 * MS, 90 * MS, 90 * MS}, fast[] = {10 * MS, 10 * MS, 10 * MS};
    probe_.variants[VARIANT_FIRST_POLICY + 1].facts.cuda = times_of(slow, 3);
    EXPECT_EQ("per-thread", Best()) << "not of stream";
    probe_.variants[VARIANT_FIRST_POLICY + 2].facts.cuda = times_of(fast, 3);
    EXPECT_EQ("stream", Best());
}

TEST_F(ConcludeTest, MoreLanesAreUsedWhereTheyAreFaster)
{
    variant &four = probe_.variants[probe_.count++] = {};
    four.name = "guarded, 4 lanes";
    four.policy = "guarded";
    four.lanes = 4;
    Answers({WORD_RIGHT, WORD_RIGHT, WORD_RIGHT, WORD_RIGHT}, {500, 100, 200, 300});
    EXPECT_EQ("guarded, 4 lanes", Best()) << "nothing is given up";
    Answers({WORD_RIGHT, WORD_RIGHT, WORD_RIGHT, WORD_RIGHT}, {500, 100, 200, 500});
    EXPECT_EQ("guarded", Best());
    Answers({WORD_RIGHT, WORD_RIGHT, WORD_RIGHT, WORD_DO_NOT}, {500, 100, 200, 300});
    EXPECT_EQ("guarded", Best());
    Answers({WORD_NOTHING, WORD_NOTHING, WORD_NOTHING, WORD_RIGHT}, {500, 500, 500, 300});
    EXPECT_EQ("guarded, 4 lanes", Best()) << "where one lane gains nothing";
    std::string text;
    text_sink sink = {[](text_sink *self, const char *piece, size_t size) {
                          static_cast<std::string *>(self->data)->append(piece, size);
                      },
                      &text};
    char word[] = "./app", *argv[] = {word, nullptr};
    probe_.program = argv;
    probe_.library = "/lib/libptds.so";
    unsetenv("LD_PRELOAD");
    command_to_copy(&probe_, &four, 0, &sink);
    EXPECT_EQ("LD_PRELOAD=/lib/libptds.so PTDS_POLICY=guarded PTDS_LANES=4 PTDS_REPORT=off ./app", text);
}

TEST_F(ConcludeTest, TheLegacyStreamByNameIsMovedWhereThatIsFaster)
{
    variant &moved = probe_.variants[probe_.count++] = {};
    moved.name = "guarded, 0x1 moved";
    moved.policy = "guarded";
    moved.moves_explicit = true;
    Answers({WORD_RIGHT, WORD_RIGHT, WORD_RIGHT, WORD_RIGHT}, {500, 100, 200, 300});
    EXPECT_EQ("guarded, 0x1 moved", Best()) << "nothing is given up";
    Answers({WORD_RIGHT, WORD_RIGHT, WORD_RIGHT, WORD_DO_NOT}, {500, 100, 200, 300});
    EXPECT_EQ("guarded", Best());
    Answers({WORD_RIGHT, WORD_RIGHT, WORD_RIGHT, WORD_RIGHT}, {500, 100, 200, 500});
    EXPECT_EQ("guarded", Best());
    std::string text;
    text_sink sink = {[](text_sink *self, const char *piece, size_t size) {
                          static_cast<std::string *>(self->data)->append(piece, size);
                      },
                      &text};
    char word[] = "./app", *argv[] = {word, nullptr};
    probe_.program = argv;
    probe_.library = "/lib/libptds.so";
    unsetenv("LD_PRELOAD");
    command_to_copy(&probe_, &moved, 3, &sink);
    EXPECT_EQ(
        "LD_PRELOAD=/lib/libptds.so PTDS_POLICY=guarded PTDS_EXPLICIT_LEGACY=remap PTDS_SHAKE=3 PTDS_REPORT=off ./app",
        text);
}

TEST_F(ConcludeTest, TheLineToCopyIsReadBackByAShell)
{
    std::string text;
    text_sink sink = {[](text_sink *self, const char *piece, size_t size) {
                          static_cast<std::string *>(self->data)->append(piece, size);
                      },
                      &text};
    char words[][24] = {"./app", "a b", "it's", "", "$HOME", "x=1,2", "=x", "*", "\n"};
    std::vector<char *> argv;
    for (char *word : words)
        argv.push_back(word);
    argv.push_back(nullptr);
    probe_.program = argv.data();
    probe_.library = "/lib/libptds.so";
    unsetenv("LD_PRELOAD");
    command_to_copy(&probe_, &probe_.variants[VARIANT_FIRST_POLICY], 0, &sink);
    EXPECT_EQ("LD_PRELOAD=/lib/libptds.so PTDS_POLICY=guarded PTDS_REPORT=off ./app 'a b' 'it'\\''s' '' '$HOME' x=1,2 '=x' "
              "'*' '\n'",
              text);
}

} // namespace
} // namespace ptds
