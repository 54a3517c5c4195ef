// SPDX-License-Identifier: Apache-2.0
//
// `ptds diff`: what it calls a change, and what runs differ by anyway.
#include <jansson.h>
#include <sys/stat.h>

#include "tests/analysis/checked.h"

namespace ptds
{
namespace
{

/* Folders of runs. */
class Sides : public Baselines
{
public:
    std::string Of(const std::string &name, const std::vector<Work> &works)
    {
        std::string path = folder / name;
        EXPECT_EQ(0, mkdir(path.c_str(), 0700));
        for (size_t i = 0; i < works.size(); i++)
            EXPECT_EQ(0, rename(Recorded(works[i]).c_str(), (path + "/" + std::to_string(i) + ".ptds").c_str()));
        return path;
    }
};

/* The first line is about the time of the runs, where that is known; what this is about comes next. */
std::string FirstLine(const Outcome &ran)
{
    EXPECT_EQ(0, ran.exit) << ran;
    for (const std::string &line : lines_of(ran.out))
        if (line.find(", was ") == std::string::npos)
            return line;
    return "";
}

TEST(Diff, NothingChangedIsTheAnswer)
{
    Sides sides;
    std::string before = sides.Of("before", {{4, 10000}, {4, 14000}, {4, 12000}}),
                after = sides.Of("after", {{4, 13000}, {4, 11000}, {4, 12500}});
    Outcome ran = sides.Diff({before, after});
    EXPECT_EQ("no call or finding changed beyond the spread (3 runs each)", FirstLine(ran));
    EXPECT_EQ(4u, lines_of(ran.out).size()) << ran.out;
    EXPECT_EQ(0u, ran.out.find("as long (1.00 s, was 1.00 s), 3 runs each\n")) << ran.out;
    EXPECT_EQ("no call or finding changed by more than 10 % (1 run each; below 3 runs their spread is not known)",
              FirstLine(sides.Diff({before + "/0.ptds", before + "/0.ptds"})));
}

TEST(Diff, CallsThatAreMoreAndLess)
{
    Sides sides;
    std::string few = sides.Of("few", {{4}, {4}, {4}}), many = sides.Of("many", {{6}, {6}, {6}});
    Outcome ran = sides.Diff({few, many});
    EXPECT_EQ("3 more (3 runs each)", FirstLine(ran)) << "launches, copies, and their finding";
    EXPECT_NE(std::string::npos, ran.out.find("  more    warning sync-copy [")) << ran.out;
    EXPECT_NE(std::string::npos, ran.out.find("cuLaunchKernel of a in prog\n           6 calls a run, was 4, +50 %\n"))
        << ran.out;
    EXPECT_EQ("3 less (3 runs each)", FirstLine(sides.Diff({many, few})));
    EXPECT_EQ("no call or finding changed beyond the spread (3 runs each)",
              FirstLine(sides.Diff({few, many, "--growth", "60"})));
}

TEST(Diff, WhatIsNewAndGone)
{
    Sides sides;
    Work other = {4, 10000, 4, "other@lib"};
    std::string before = sides.Of("before", {{4}, {4}, {4}}), after = sides.Of("after", {other, other, other});
    Outcome ran = sides.Diff({before, after});
    EXPECT_NE(std::string::npos, FirstLine(ran).find(" new, ")) << ran;
    EXPECT_NE(std::string::npos, ran.out.find("  new     warning sync-copy [")) << ran.out;
    EXPECT_NE(std::string::npos, ran.out.find("  new     cuMemcpyDtoH_v2 in lib\n           4 calls a run\n")) << ran.out;
    ran = sides.Diff({after, before});
    EXPECT_NE(std::string::npos, ran.out.find("  gone    cuMemcpyDtoH_v2 in lib\n           0 calls a run, was 4\n"))
        << ran.out;
}

/* A twentieth more of them: that may be chance, but as many they are not. */
TEST(Diff, CallsThatMovedAreSaidToBeAsManyWhereTheyAre)
{
    Sides sides;
    std::string before = sides.Of("before", {{100, 10}}), moved = sides.Of("moved", {{0, 10, 100, "other@lib"}}),
                more = sides.Of("more", {{0, 10, 105, "other@lib"}});
    EXPECT_NE(std::string::npos,
              sides.Diff({before, moved}).out.find("calls that moved: there are as many as before (--all"));
    Outcome ran = sides.Diff({before, more});
    EXPECT_NE(std::string::npos, ran.out.find("calls that moved (--all shows them)")) << ran;
}

TEST(Diff, TimesBeyondTheSpread)
{
    Sides sides;
    std::string fast = sides.Of("fast", {{4, 10000}, {4, 11000}, {4, 10500}}),
                slow = sides.Of("slow", {{4, 20000}, {4, 21000}, {4, 20500}});
    Outcome ran = sides.Diff({fast, slow});
    EXPECT_NE(std::string::npos, FirstLine(ran).find("slower (3 runs each)")) << ran;
    EXPECT_NE(std::string::npos,
              ran.out.find("  slower  cuMemcpyDtoH_v2 in prog\n           4 calls a run, was 4\n           "
                           "blocked 81.9 ms a run (79.9 ms to 83.9 ms), was 41.9 ms (39.9 ms to 43.9 ms)\n"
                           "           20.5 ms a call, was 10.5 ms\n"))
        << ran.out;
    EXPECT_NE(std::string::npos, FirstLine(sides.Diff({slow, fast})).find("faster (3 runs each)"));
    std::string wide = sides.Of("wide", {{4, 10000}, {4, 10000}, {4, 19000}}),
                above = sides.Of("above", {{4, 15000}, {4, 21000}, {4, 21000}});
    EXPECT_EQ(0u, FirstLine(sides.Diff({wide, above})).find("no call or finding changed beyond the spread"))
        << "they overlap";
    ran = sides.Diff({fast + "/0.ptds", slow + "/0.ptds"});
    EXPECT_EQ(0u, FirstLine(ran).find("no call or finding changed by more than 10 %")) << ran;
    EXPECT_NE(std::string::npos, ran.out.find("may be chance, or calls that moved")) << ran.out;
    ran = sides.Diff({fast + "/0.ptds", slow + "/0.ptds", "--all"});
    EXPECT_NE(std::string::npos, ran.out.find("  slower ? cuMemcpyDtoH_v2 in prog")) << ran.out;
}

TEST(Diff, ProcessesOfARunAreNoRepetitions)
{
    Sides sides;
    std::string one = sides("one.ptds", CallsOf({})), folder = sides.folder / "both";
    ASSERT_EQ(0, mkdir(folder.c_str(), 0700));
    for (const char *name : {"/a.ptds", "/b.ptds"})
        std::ofstream(folder + name) << BuildTrace(CallsOf({}));
    Outcome ran = sides.Diff({one, folder});
    EXPECT_EQ(0u, FirstLine(ran).find("no call or finding changed")) << ran;
    EXPECT_NE(std::string::npos, ran.out.find("1 run of 2 processes")) << ran.out;
    EXPECT_NE(std::string::npos, ran.out.find("all numbers are a process's")) << ran.out;
}

TEST(Diff, ABaselineIsASide)
{
    Sides sides;
    std::string after = sides.Of("after", {{8}}), json = sides.Baselines::Of({{4}, {4}, {4}});
    EXPECT_EQ("3 more (3 runs and 1 run; below 3 runs their spread is not known)", FirstLine(sides.Diff({json, after})));
    std::ofstream(sides.folder / "broken.json") << "{";
    EXPECT_EQ(3, sides.Diff({sides.folder / "broken.json", after}).exit);
}

TEST(Diff, JsonAndMarkdownSayTheSame)
{
    Sides sides;
    std::string few = sides.Of("few", {{4}, {4}, {4}}), many = sides.Of("many", {{6}, {6}, {6}});
    std::string path = sides.folder / "diff.md";
    EXPECT_EQ(0, sides.Diff({few, many, "--format", "markdown", "-o", path}).exit);
    EXPECT_EQ(0u,
              read_file(path).find("### ptds diff: as long (1.00 s, was 1.00 s), 3 runs each\n\n3 more (3 runs each)\n"))
        << read_file(path);
    EXPECT_NE(std::string::npos,
              read_file(path).find("| more | `sync-copy` | `cuMemcpyDtoH_v2 in prog` | 6 calls a run, was 4 |"))
        << read_file(path);
    Outcome ran = sides.Diff({few, many, "--format", "json"});
    json_t *root = json_loads(ran.out.c_str(), 0, nullptr);
    ASSERT_NE(nullptr, root) << ran;
    EXPECT_STREQ("3 more (3 runs each)", json_string_value(json_object_get(root, "answer")));
    EXPECT_EQ(1, json_is_true(json_object_get(root, "changed")));
    EXPECT_EQ(3, json_integer_value(json_object_get(json_object_get(root, "before"), "runs")));
    const json_t *first = json_array_get(json_object_get(root, "changes"), 0),
                 *calls = json_object_get(json_object_get(first, "calls"), "after");
    EXPECT_STREQ("sync-copy", json_string_value(json_object_get(first, "rule")));
    EXPECT_STREQ("more", json_string_value(json_object_get(first, "change")));
    EXPECT_EQ(6, json_real_value(json_object_get(calls, "median")));
    for (const char *side : {"before", "after"}) {
        json_t *saves = json_object_get(json_object_get(json_object_get(first, "saves_ns"), side), "median");
        EXPECT_LT(0, json_number_value(saves)) << side;
    }
    json_decref(root);
}

/* Traces of a program that was rebuilt since have no names for its functions any more: then it is no news that the new
 * one's have. The baseline is as `ptds check --update` wrote it before. */
TEST(Diff, NamesOnOneSideOnlyAreNoChange)
{
    Sides sides;
    std::string json = sides.Baselines::Of({{4}, {4}, {4}}), text = read_file(json),
                after = sides.Of("after", {{4}, {4}, {4}});
    auto named = [&](std::string name) {
        std::string changed = text;
        for (size_t at; (at = changed.find("\"place\":\"prog\"")) != std::string::npos;)
            changed.replace(at, strlen("\"place\":\"prog\""), "\"place\":\"" + name + "\"");
        for (size_t at; (at = changed.find("\"unnamed\":true,")) != std::string::npos;)
            changed.erase(at, strlen("\"unnamed\":true,"));
        std::string path = sides.folder / (name + ".json");
        std::ofstream(path) << changed;
        return path;
    };
    Outcome ran = sides.Diff({named("work"), after});
    EXPECT_EQ("no call or finding changed beyond the spread (3 runs each)", FirstLine(ran)) << ran;
    EXPECT_NE(std::string::npos, ran.out.find("after has functions without names (rebuilt since, or stripped)")) << ran.out;
    EXPECT_EQ("no call or finding changed beyond the spread (3 runs each)", FirstLine(sides.Diff({json, after})))
        << "none has";
    EXPECT_EQ(std::string::npos, sides.Diff({json, after}).out.find("without names"));
    ran = sides.Diff({named("work"), named("works")});
    EXPECT_NE(std::string::npos, ran.out.find("or calls that moved")) << ran;
}

/* The launches have names on one side only; the new place of the copies has none on either, and stays news. */
TEST(Diff, NamesOfOtherCallsSayNothing)
{
    Sides sides;
    Work other = {4, 10000, 4, "other@lib"};
    std::string text = read_file(sides.Baselines::Of({{4}, {4}, {4}})), after = sides.Of("after", {other, other, other}),
                path = sides.folder / "named.json";
    std::ofstream named(path);
    for (std::string line : lines_of(text)) {
        size_t place = line.find("\"place\":\"prog\""), unnamed = line.find("\"unnamed\":true,");
        if (line.find("\"call\":\"cuLaunchKernel\"") != std::string::npos && place != std::string::npos)
            line = line.erase(unnamed, strlen("\"unnamed\":true,"))
                       .replace(place, strlen("\"place\":\"prog\""), "\"place\":\"work\"");
        named << line << "\n";
    }
    named.close();
    Outcome ran = sides.Diff({path, after});
    EXPECT_NE(std::string::npos, ran.out.find("  new     cuMemcpyDtoH_v2 in lib\n")) << ran.out;
}

TEST(Diff, UsageAndWhatCannotBeRead)
{
    Sides sides;
    std::string one = sides.Of("one", {{4}});
    for (const auto &arguments : std::vector<std::vector<std::string>>{{},
                                                                       {one},
                                                                       {one, one, one},
                                                                       {one, one, "--format", "html"},
                                                                       {one, one, "--growth", "x"},
                                                                       {one, one, "--floor", "x"}})
        EXPECT_EQ(2, sides.Diff(arguments).exit);
    Outcome ran = sides.Diff({one, "/nowhere/at/all"});
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_EQ("", ran.out) << "half a comparison is none";
    std::string some = sides.Of("some", {{4}, {4}});
    std::ofstream(some + "/1.ptds") << "PTDS, and no trace";
    EXPECT_EQ(3, sides.Diff({some, one}).exit) << "nor is one with half of a side";
    EXPECT_EQ(3, sides.Diff({one, some}).exit);
}

} // namespace
} // namespace ptds
