// SPDX-License-Identifier: Apache-2.0
//
// What is learnt from bare runs, and what is then the same.
#include <gtest/gtest.h>

#include "analysis/probe/same.h"

namespace ptds
{
namespace
{

bytes Bytes(const std::string &text)
{
    return {text.data(), text.size()};
}

class Learnt
{
public:
    explicit Learnt(const std::vector<std::string> &runs) : runs_(runs)
    {
        std::vector<bytes> texts;
        for (const std::string &run : runs_)
            texts.push_back(Bytes(run));
        learn(&what, texts.data(), texts.size());
    }
    ~Learnt()
    {
        learnt_free(&what);
    }
    Learnt(const Learnt &) = delete;
    difference Against(const std::string &other) const
    {
        return differ(&what, Bytes(runs_[0]), Bytes(other));
    }
    bool Same(const std::string &other) const
    {
        return !Against(other).differs;
    }
    learnt what = {};

private:
    std::vector<std::string> runs_;
};

TEST(Same, ByteForByteWhereNothingVaries)
{
    Learnt one({"a 1\nb\n", "a 1\nb\n"});
    EXPECT_EQ(VARIES_NOT, one.what.varies);
    EXPECT_EQ(0u, one.what.list.count);
    EXPECT_TRUE(one.Same("a 1\nb\n"));
    for (const char *other : {"a 2\nb\n", "a  1\nb\n", "a 1\nb", "a 1\n", "a 1\nb\n\n", "", "a 1 \nb\n", "a 1\nB\n"})
        EXPECT_FALSE(one.Same(other)) << other;
}

TEST(Same, NamesTheLine)
{
    Learnt one({"a\nb 1\n"});
    difference found = one.Against("a\nb 2\nc\n");
    EXPECT_EQ(2u, found.line);
    EXPECT_STREQ("b 1", found.bare);
    EXPECT_STREQ("b 2", found.other);
    found = one.Against("a\n");
    EXPECT_EQ(2u, found.line);
    EXPECT_TRUE(found.other_ends);
    EXPECT_FALSE(found.bare_ends);
    found = one.Against("a\nb 1\nmore\n");
    EXPECT_EQ(3u, found.line);
    EXPECT_TRUE(found.bare_ends);
    EXPECT_STREQ("more", found.other);
}

TEST(Same, NumbersThatVaryAreLeftOut)
{
    Learnt times({"OK 42f8 x\ntime=12.5ms, 3 steps\n", "OK 42f8 x\ntime=9.75ms, 3 steps\n"});
    EXPECT_EQ(VARIES_NOT, times.what.varies);
    EXPECT_EQ(1u, times.what.list.count);
    EXPECT_EQ(2u, times.what.first_masked);
    EXPECT_STREQ("time=12.5ms, 3 steps", times.what.first_text);
    EXPECT_TRUE(times.Same("OK 42f8 x\ntime=1e+03ms, 3 steps\n"));
    EXPECT_FALSE(times.Same("OK 42f9 x\ntime=12.5ms, 3 steps\n")) << "what did not vary counts";
    EXPECT_FALSE(times.Same("OK 42f8 x\ntime=12.5ms, 4 steps\n"));
    EXPECT_FALSE(times.Same("OK 42f8 x\ntime=fast, 3 steps\n")) << "a word in place of a number";
    EXPECT_FALSE(times.Same("OK 42f8 x\ntime=nan, 3 steps\n")) << "no bare run had that";
    EXPECT_FALSE(times.Same("OK 42f8 x\nrate=12.5ms, 3 steps\n"));
    EXPECT_FALSE(times.Same("OK 42f8 x\ntime=12.5ms, 3 steps, 4\n"));
}

TEST(Same, ThreeRunsTeachMoreThanTwo)
{
    Learnt runs({"1 1 1\n", "1 2 1\n", "2 1 1\n"});
    EXPECT_EQ(2u, runs.what.list.count);
    EXPECT_TRUE(runs.Same("7 8 1\n"));
    EXPECT_FALSE(runs.Same("1 1 2\n"));
}

TEST(Same, OddNumbersAreLeftOutWhereBareHasThem)
{
    Learnt runs({"loss nan\n", "loss 1.5\n"});
    EXPECT_TRUE(runs.Same("loss 2.5\n"));
    EXPECT_TRUE(runs.Same("loss -nan\n"));
}

TEST(Same, BlanksBesideALeftOutNumber)
{
    Learnt runs({"t   9.5 ms  end\n", "t 112.5 ms  end\n"});
    EXPECT_EQ(VARIES_NOT, runs.what.varies);
    EXPECT_TRUE(runs.Same("t     0.5 ms  end\n"));
    EXPECT_FALSE(runs.Same("t   9.5 ms end\n")) << "these blanks are beside no number that varies";
}

TEST(Same, NumbersFarFromBareAreCounted)
{
    Learnt runs({"t 100.5 ms\nn 7\n", "t 101.5 ms\nn 7\n", "t 102.5 ms\nn 7\n"});
    for (const char *near : {"t 100.5 ms\nn 7\n", "t 99 ms\nn 7\n", "t 104.4 ms\nn 7\n"})
        EXPECT_EQ(0u, runs.Against(near).outside) << near;
    for (const char *far : {"t 98 ms\nn 7\n", "t 105 ms\nn 7\n", "t 2e3 ms\nn 7\n"}) {
        difference found = runs.Against(far);
        EXPECT_FALSE(found.differs) << far;
        EXPECT_EQ(1u, found.outside) << far;
        EXPECT_EQ(1u, found.outside_line);
        EXPECT_EQ(std::string(far).substr(0, std::string(far).find('\n')), found.outside_text);
    }
    EXPECT_EQ(0u, Learnt({"at 0x12\n", "at 0x13\n"}).Against("at 0x99\n").outside) << "an address has no range";
    EXPECT_EQ(0u, Learnt({"12f8820c\n", "13f8820c\n"}).Against("99f8820c\n").outside);
    EXPECT_EQ(1u, Learnt({"12.5ms\n", "13.5ms\n"}).Against("1ms\n").outside);
    EXPECT_EQ(0u, Learnt({"1.5 x\n", "1.6 x\n"}).Against("1.5 x\n").outside);
}

TEST(Same, WhatVariesOtherwiseIsNotComparable)
{
    EXPECT_EQ(VARIES_LINES, Learnt({"a\n", "a\nb\n"}).what.varies);
    EXPECT_EQ(VARIES_LINES, Learnt({"a\n", "a"}).what.varies);
    EXPECT_EQ(VARIES_WORDS, Learnt({"x\nfast\n", "x\nslow\n"}).what.varies);
    EXPECT_EQ(2u, Learnt({"x\nfast\n", "x\nslow\n"}).what.line);
    EXPECT_EQ(VARIES_TOKENS, Learnt({"a 1\n", "a 1 2\n"}).what.varies);
    EXPECT_EQ(VARIES_WORDS, Learnt({"a  b\n", "a b\n"}).what.varies);
    EXPECT_EQ(VARIES_WORDS, Learnt({"a ,5\n", "a ;5\n"}).what.varies) << "a comma beside a number is none";
    EXPECT_EQ(VARIES_BYTES, Learnt({std::string("a\0b", 3), std::string("a\0c", 3)}).what.varies);
    EXPECT_EQ(VARIES_NOT, Learnt({std::string("a\0b", 3), std::string("a\0b", 3)}).what.varies);
}

TEST(Same, TheFirstMayBeApartFromOthersThatAgree)
{
    auto learnt_of = [&](std::vector<std::string> runs) {
        std::vector<bytes> texts;
        for (const std::string &run : runs)
            texts.push_back(Bytes(run));
        learnt what = {};
        learn_but_first(&what, texts.data(), texts.size());
        return what;
    };
    learnt what = learnt_of({"building cache\nt 1\n", "t 2\n", "t 3\n"});
    EXPECT_EQ(VARIES_NOT, what.varies);
    EXPECT_TRUE(what.first_apart);
    EXPECT_EQ(VARIES_LINES, what.first_varies);
    EXPECT_EQ(1u, what.list.count);
    EXPECT_FALSE(differ(&what, Bytes("t 2\n"), Bytes("t 9\n")).differs);
    learnt_free(&what);
    for (const auto &runs : std::vector<std::vector<std::string>>{
             {"a\n", "b\n"}, {"a\n", "b\n", "a\n"}, {"a\n", "a\n", "b\n"}, {"a\n", "b\n", "b\n", "c\n"}}) {
        what = learnt_of(runs);
        EXPECT_EQ(VARIES_WORDS, what.varies) << runs.size();
        EXPECT_FALSE(what.first_apart) << runs.size();
        learnt_free(&what);
    }
    what = learnt_of({"a 1\n", "a 2\n", "a 2\n"});
    EXPECT_FALSE(what.first_apart) << "a number";
    learnt_free(&what);
    EXPECT_TRUE(alike(Bytes("a 1\n"), Bytes("a 2\n")));
    EXPECT_FALSE(alike(Bytes("a 1\n"), Bytes("b 1\n")));
}

TEST(Same, BytesThatAreNoText)
{
    Learnt one({std::string("a\0b1", 4)});
    difference found = one.Against(std::string("a\0b2", 4));
    EXPECT_TRUE(found.differs);
    EXPECT_EQ(0u, found.line);
    EXPECT_EQ(3u, found.offset);
    EXPECT_TRUE(one.Same(std::string("a\0b1", 4)));
    EXPECT_EQ(2u, one.Against(std::string("a\0", 2)).offset) << "the shorter one's end";
    Learnt ends({std::string("a\0b\0", 4)});
    EXPECT_EQ(3u, ends.Against(std::string("a\0b", 3)).offset);
    EXPECT_EQ(4u, ends.Against(std::string("a\0b\0\0", 5)).offset);
    Learnt text({"a 1\nb\n", "a 2\nb\n"});
    found = text.Against(std::string("a 1\nb\0", 6));
    EXPECT_EQ(0u, found.line) << "no line of text that became none";
    EXPECT_EQ(5u, found.offset);
    found = one.Against("a\n");
    EXPECT_EQ(0u, found.line) << "nor the other way round";
    EXPECT_EQ(1u, found.offset);
}

} // namespace
} // namespace ptds
