// SPDX-License-Identifier: Apache-2.0
//
// What does the analysis hold of a run: which rule, call site, verdict, cost and count? Facts as keys and values, whatever
// words the reports have for them, against told/: all of each rule's own bad trace and of short runs; of longer ones, in
// which much goes on at once, what holds for the run, for each rule and each policy, and the sums of all else
// (support/sums.h). Such a file holds what was found when it was written; where a change of the analysis changes it on
// purpose, scripts/renew writes it anew, and the difference is for a reader to judge.
#include <gtest/gtest.h>

#include <set>

#include "tests/analysis/told.h"
#include "tests/analysis/told_many.h"
#include "tests/support/sums.h"

namespace ptds
{
namespace
{

const std::string folder = "tests/analysis/told/";

class ToldOfRule : public testing::TestWithParam<const rule *>
{
};

TEST_P(ToldOfRule, AllOfTheTraceInWhichItFindsSomething)
{
    ExpectAllOf(folder + GetParam()->id + ".txt", Told(GetParam()->bad).text + "\n");
}

std::vector<const rule *> All()
{
    const rule *rules[RULES_MOST];
    size_t count = registry_all(rules);
    return {rules, rules + count};
}

std::string NameOfRule(const testing::TestParamInfo<const rule *> &info)
{
    std::string name = info.param->id;
    for (char &c : name)
        c = c == '-' ? '_' : c;
    return name;
}

INSTANTIATE_TEST_SUITE_P(Every, ToldOfRule, testing::ValuesIn(All()), NameOfRule);

/* A run's file: a trace, a line with "---", and what is told of it. */
std::string TraceOf(const std::string &run)
{
    const std::string text = read_file(folder + run + ".run");
    return text.substr(0, text.find("---\n"));
}

std::string NameOf(const testing::TestParamInfo<const char *> &info)
{
    std::string name = info.param;
    for (char &c : name)
        c = c == '-' ? '_' : c;
    return name;
}

class ToldOfShortRun : public testing::TestWithParam<const char *>
{
};

TEST_P(ToldOfShortRun, EveryFindingOrderAndSum)
{
    const std::string trace = TraceOf(GetParam());
    ExpectAllOf(folder + GetParam() + ".run", trace + "---\n" + Told(trace).text + "\n");
}

INSTANTIATE_TEST_SUITE_P(Every, ToldOfShortRun,
                         testing::Values("any-8", "batches", "cases", "freed", "gain", "held", "mixed-kept", "mixed-one",
                                         "mixed-ticks", "one-queue", "own-streams", "places", "rules-deadlock",
                                         "rules-events", "rules-host", "rules-switches", "rules-wide", "spins"),
                         NameOf);

/* The lines that hold for a whole run, one of its rules or a policy, or all the other lines. */
std::string Lines(const std::string &told, bool of_the_whole)
{
    static const std::set<std::string> whole = {"run", "gpu", "outcome", "sum", "edges", "per-thread", "what-if"};
    std::string lines;
    for (const std::string &line : lines_of(told))
        if ((whole.count(line.substr(0, line.find(' '))) != 0) == of_the_whole)
            lines += line + "\n";
    return lines;
}

const char *const long_runs[] = {
    "any-1",         "any-2",  "any-3",       "any-4",     "any-5",        "any-6",     "any-7",      "any-9",
    "any-10",        "churn",  "crossed",     "crowd",     "gaps",         "given-up",  "guarded",    "hopping",
    "kept",          "kinds",  "mixed-guard", "mixed-own", "mixed-shared", "overtaken", "per-thread", "recycled-guard",
    "rules-capture", "shared", "short",       "slots",     "stream",       "streams",   "threads",    "timed"};

class ToldOfLongRun : public testing::TestWithParam<const char *>
{
};

TEST_P(ToldOfLongRun, WhatHoldsForTheRunItsRulesAndPolicies)
{
    const std::string trace = TraceOf(GetParam());
    ExpectAllOf(folder + GetParam() + ".run", trace + "---\n" + Lines(Told(trace).text, true));
}

INSTANTIATE_TEST_SUITE_P(Every, ToldOfLongRun, testing::ValuesIn(long_runs), NameOf);

TEST(ToldOfLongRuns, SumsOfFindingsOrdersAndRepairs)
{
    Sums sums;
    std::string whole;
    for (const std::string run : long_runs) {
        const std::string told = Lines(Told(TraceOf(run)).text, false);
        sums.Add(told);
        whole += "===== " + run + "\n" + told;
    }
    ExpectSums(folder + "long.sums", sums.Text(), whole);
}

/* What is told of parts of a run: a thread, a stream, a time. */
class ToldOfParts : public testing::TestWithParam<const char *>
{
};

TEST_P(ToldOfParts, OfAThreadAStreamATime)
{
    const std::string trace = TraceOf(GetParam());
    std::string facts, whole;
    Sums sums;
    auto tell = [&](const std::string &name, const struct selection &part) {
        const std::string told = Told(trace, &part).text;
        if (GetParam() == std::string("cases"))
            facts += "===== " + name + "\n" + Lines(told, true);
        else
            sums.Add(Lines(told, true), "all-");
        whole += "===== " + name + "\n" + told + "\n";
        sums.Add(Lines(told, false));
    };
    for (const char *thread : {"1", "2"}) {
        struct selection part = {};
        part.thread = thread;
        tell("thread " + std::string(thread), part);
    }
    for (uint32_t stream : {1, 2}) {
        struct selection part = {};
        part.stream = stream;
        tell("stream " + std::to_string(stream), part);
    }
    struct selection part = {};
    part.has_from = part.has_to = true;
    part.from_ns = 200000;
    part.to_ns = 700000;
    tell("from 200 us to 700 us", part);
    part.has_from = false;
    part.thread = "1";
    tell("thread 1 to 700 us", part);
    ExpectSums("tests/analysis/told_parts/" + std::string(GetParam()) + ".txt",
               facts + "===== sums of all else\n" + sums.Text(), whole);
}

INSTANTIATE_TEST_SUITE_P(Every, ToldOfParts, testing::Values("cases", "gaps", "guarded", "timed"), NameOf);

/* The same of several processes, which "---" keeps apart; what is told of them comes after "====". */
class ToldOfProcesses : public testing::TestWithParam<const char *>
{
};

TEST_P(ToldOfProcesses, WhatTheyHaveAlike)
{
    std::string path = "tests/analysis/told_many/" + std::string(GetParam()) + ".run", traces = read_file(path);
    traces.resize(std::min(traces.size(), traces.find("====\n")));
    std::vector<std::string> all(1);
    for (const std::string &line : lines_of(traces)) {
        if (line == "---")
            all.emplace_back();
        else
            all.back() += line + "\n";
    }
    ExpectAllOf(path, traces + "====\n" + ToldMany(all).text + "\n");
}

INSTANTIATE_TEST_SUITE_P(Every, ToldOfProcesses, testing::Values("hosts", "uneven"), NameOf);

} // namespace
} // namespace ptds
