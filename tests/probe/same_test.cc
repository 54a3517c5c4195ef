// SPDX-License-Identifier: Apache-2.0
//
// What is learnt from bare runs, and what is then the same.
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/probe/outputs/same.h"

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
        same_learn(&what, texts.data(), texts.size());
    }
    ~Learnt()
    {
        same_free(&what);
    }
    Learnt(const Learnt &) = delete;
    difference Against(const std::string &other) const
    {
        return same_differ(&what, Bytes(runs_[0]), Bytes(other));
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
    EXPECT_EQ(0u, Learnt({"12-8820\n", "13-8820\n"}).Against("99-8820\n").outside);
    EXPECT_EQ(1u, Learnt({"12.5ms\n", "13.5ms\n"}).Against("1ms\n").outside);
    EXPECT_EQ(0u, Learnt({"1.5 x\n", "1.6 x\n"}).Against("1.5 x\n").outside);
}

TEST(Same, FarIsWhatNothingThatMovesNothingShows)
{
    Learnt runs({"t 100 ms\n", "t 101 ms\n"});
    EXPECT_NEAR(3e6, runs.Against("t 105 ms\n").far_ns, 1) << "beyond the last digit";
    EXPECT_NEAR(47e6, runs.Against("t 52 ms\n").far_ns, 1);
    EXPECT_NEAR(98.9e6, runs.Against("t 1.0 ms\n").far_ns, 1);
    EXPECT_NEAR(4898e6, runs.Against("t 5 s\n").far_ns, 1e9) << "in another unit";
    EXPECT_EQ(0, runs.Against("t 102 ms\n").far_ns);
    const std::string first = "t 100 ms\n", slow = "t 110 ms\n", other = "u 900 ms\n";
    same_learn_range(&runs.what, Bytes(first), Bytes(slow));
    same_learn_range(&runs.what, Bytes(first), Bytes(other));
    difference found = runs.Against("t 115 ms\n");
    EXPECT_EQ(1u, found.outside) << "of bare's";
    EXPECT_EQ(0, found.far_ns);
    Learnt plain({"a\nloss 1\n", "a\nloss 2\n"});
    found = plain.Against("a\nloss 9\n");
    EXPECT_EQ(HUGE_VAL, found.far_ns) << "nobody knows what it is";
    EXPECT_EQ(2u, found.far_line);
    EXPECT_STREQ("loss 9", found.far_text);
    EXPECT_EQ(0, Learnt({"5 it/s\n", "2 s/it\n"}).Against("900 it/s\n").far_ns) << "two scales";
    EXPECT_EQ(0, Learnt({"5 MB\n", "6 MB\n"}).Against("7 MB\n").far_ns);
}

TEST(Same, AUnitOfTimeGoesWithItsNumber)
{
    Learnt two({"took 1.92 s all\nn 5\n", "took 980.2 ms all\nn 5\n"});
    EXPECT_EQ(VARIES_NOT, two.what.varies);
    EXPECT_EQ(1u, two.what.list.count);
    EXPECT_TRUE(two.Same("took 480.2 us all\nn 5\n"));
    EXPECT_FALSE(two.Same("took 480.2 MB all\nn 5\n"));
    EXPECT_FALSE(two.Same("took 480.2 us in all\nn 5\n"));
    EXPECT_FALSE(two.Same("took 480.2 us all\nn 6\n"));
    Learnt one({"took 1.92 s.\nrate 12.50it/s, 3\n", "took 1.97 s.\nrate 11.00it/s, 3\n"});
    EXPECT_EQ(2u, one.what.list.count);
    EXPECT_TRUE(one.Same("took 480.2 ms.\nrate 1.2s/it, 3\n"));
    EXPECT_FALSE(one.Same("took 480.2 ms\nrate 12.50it/s, 3\n")) << "no end of a sentence";
    EXPECT_FALSE(one.Same("took 480.2 ms.\nrate 12.50it/s, 4\n")) << "what follows is in its place";
    Learnt after({"1 s 7 x\n", "2 s 8 x\n"});
    EXPECT_EQ(2u, after.what.list.count);
    EXPECT_TRUE(after.Same("900 us/it 9 x\n"));
    EXPECT_EQ(VARIES_WORDS, Learnt({"5 MB\n", "6 GB\n"}).what.varies);
    EXPECT_EQ(VARIES_NOT, Learnt({"5 MB/s\n", "6 GB/s\n"}).what.varies);
    EXPECT_EQ(1u, Learnt({"1 s\n", "1 ms\n"}).what.list.count);
}

TEST(Same, WhatDiffersInTimesAloneIsSaid)
{
    Learnt one({"sum 5\ntook 4 s\nn 6\n", "sum 5\ntook 4 s\nn 6\n"});
    difference found = one.Against("sum 5\ntook 1 s\nn 6\n");
    EXPECT_TRUE(found.differs && found.like_time);
    EXPECT_EQ(2u, found.line);
    EXPECT_NEAR(2e9, found.time_ns, 1) << "each may have been cut";
    found = one.Against("sum 5\ntook 480.2 ms\nn 6\n");
    EXPECT_TRUE(found.like_time);
    EXPECT_NEAR(2.5198e9, found.time_ns, 1e6);
    found = one.Against("sum 5\ntook 1 s\nn 7\n");
    EXPECT_FALSE(found.like_time) << "a result, too";
    EXPECT_EQ(3u, found.line);
    found = one.Against("sum 4\ntook 1 s\nn 6\n");
    EXPECT_FALSE(found.like_time);
    EXPECT_EQ(1u, found.line);
    EXPECT_FALSE(one.Against("sum 5\ntook 1 s\nn 6").like_time);
    EXPECT_FALSE(one.Against("sum 5\ntook 1 s\n").like_time);
    EXPECT_FALSE(one.Against("sum 5\ntook nan s\nn 6\n").like_time);
    EXPECT_FALSE(Learnt({"avg 3 min 1 max 9\n"}).Against("avg 4 min 1 max 9\n").like_time);
    EXPECT_TRUE(Learnt({"took 3 min\n"}).Against("took 4 min\n").like_time);
    EXPECT_FALSE(Learnt({"size 3 m\n"}).Against("size 4 m\n").like_time);
    EXPECT_FALSE(Learnt({"at 3 m/s\n"}).Against("at 4 m/s\n").like_time) << "a speed";
    difference rate = Learnt({"at 30 steps/sec\n"}).Against("at 40 steps/sec\n");
    EXPECT_TRUE(rate.like_time);
    EXPECT_EQ(0, rate.time_ns);
}

TEST(Same, LongHexadecimalWordsAreNoTimes)
{
    EXPECT_EQ(VARIES_HASHES, Learnt({"x\nsum 12f8820c\n", "x\nsum 13f8820c\n"}).what.varies);
    EXPECT_EQ(2u, Learnt({"x\nsum 12f8820c\n", "x\nsum 13f8820c\n"}).what.line);
    EXPECT_EQ(VARIES_HASHES, Learnt({"12345678\n", "DEADBEE1\n"}).what.varies);
    EXPECT_EQ(VARIES_HASHES, Learnt({"deadbeef\n", "beefdead\n"}).what.varies) << "without a digit";
    EXPECT_EQ(VARIES_NOT, Learnt({"12f8820\n", "13f8820\n"}).what.varies);
    EXPECT_EQ(VARIES_NOT, Learnt({"12345678\n", "12345679\n"}).what.varies);
    EXPECT_EQ(VARIES_NOT, Learnt({"0x7ffe12f8820c\n", "0x7ffe13f8820c\n"}).what.varies) << "an address";
    EXPECT_TRUE(Learnt({"12f8820c\n", "12f8820c\n"}).Same("12f8820c\n"));
}

TEST(Same, NumbersThatAreComparedAreCounted)
{
    EXPECT_EQ(0u, Learnt({"OK\ntime 1 ms\n", "OK\ntime 2 ms\n"}).what.kept);
    EXPECT_EQ(2u, Learnt({"sum 5\n1 s 7 x\n", "sum 5\n2 s 7 x\n"}).what.kept);
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
        same_learn_but_first(&what, texts.data(), texts.size());
        return what;
    };
    learnt what = learnt_of({"building cache\nt 1\n", "t 2\n", "t 3\n"});
    EXPECT_EQ(VARIES_NOT, what.varies);
    EXPECT_TRUE(what.first_apart);
    EXPECT_EQ(VARIES_LINES, what.first_varies);
    EXPECT_EQ(1u, what.list.count);
    EXPECT_FALSE(same_differ(&what, Bytes("t 2\n"), Bytes("t 9\n")).differs);
    same_free(&what);
    for (const auto &runs : std::vector<std::vector<std::string>>{
             {"a\n", "b\n"}, {"a\n", "b\n", "a\n"}, {"a\n", "a\n", "b\n"}, {"a\n", "b\n", "b\n", "c\n"}}) {
        what = learnt_of(runs);
        EXPECT_EQ(VARIES_WORDS, what.varies) << runs.size();
        EXPECT_FALSE(what.first_apart) << runs.size();
        same_free(&what);
    }
    what = learnt_of({"a 1\n", "a 2\n", "a 2\n"});
    EXPECT_FALSE(what.first_apart) << "a number";
    same_free(&what);
    EXPECT_TRUE(same_but_for_numbers(Bytes("a 1\n"), Bytes("a 2\n")));
    EXPECT_FALSE(same_but_for_numbers(Bytes("a 1\n"), Bytes("b 1\n")));
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
