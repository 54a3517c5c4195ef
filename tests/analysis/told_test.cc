// SPDX-License-Identifier: Apache-2.0
//
// All that the analysis holds of some runs, down to every count, time and id, against told/: of each rule's own bad trace,
// and of longer runs in which much goes on at once. Such a file holds what was found when it was written; where a change of
// the analysis changes it on purpose, scripts/renew writes it anew, and the difference is for a reader to judge.
#include <gtest/gtest.h>

#include "tests/analysis/told.h"
#include "tests/analysis/told_many.h"
#include "tests/support/expected.h"

namespace ptds
{
namespace
{

const std::string folder = "tests/analysis/told/";

class ToldOfRule : public testing::TestWithParam<const rule *>
{
};

TEST_P(ToldOfRule, BadTrace)
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

/* A trace, a line with "---", and what is told of it. */
class ToldOfRun : public testing::TestWithParam<const char *>
{
};

TEST_P(ToldOfRun, All)
{
    std::string path = folder + GetParam() + ".run", trace = read_file(path);
    trace.resize(std::min(trace.size(), trace.find("---\n")));
    ExpectAllOf(path, trace + "---\n" + Told(trace).text + "\n");
}

std::string NameOf(const testing::TestParamInfo<const char *> &info)
{
    std::string name = info.param;
    for (char &c : name)
        c = c == '-' ? '_' : c;
    return name;
}

INSTANTIATE_TEST_SUITE_P(Every, ToldOfRun,
                         testing::Values("any-1", "any-2", "any-3", "any-4", "any-5", "any-6", "any-7", "any-8", "any-9",
                                         "any-10", "batches", "cases", "churn", "crossed", "crowd", "freed", "gain", "gaps",
                                         "given-up", "guarded", "held", "hopping", "kept", "kinds", "mixed-guard",
                                         "mixed-kept", "mixed-one", "mixed-own", "mixed-shared", "mixed-ticks", "one-queue",
                                         "overtaken", "own-streams", "per-thread", "places", "recycled-guard",
                                         "rules-capture", "rules-deadlock", "rules-events", "rules-host", "rules-switches",
                                         "rules-wide", "shared", "short", "slots", "spins", "stream", "streams", "threads",
                                         "timed"),
                         NameOf);

/* What is told of parts of a run: a thread, a stream, a time. */
class ToldOfParts : public testing::TestWithParam<const char *>
{
};

TEST_P(ToldOfParts, All)
{
    std::string trace = read_file(folder + GetParam() + ".run"), all;
    trace.resize(trace.find("---\n"));
    auto tell = [&](const std::string &name, const struct selection &part) {
        all += "===== " + name + "\n" + Told(trace, &part).text + "\n";
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
    ExpectAllOf("tests/analysis/told_parts/" + std::string(GetParam()) + ".txt", all);
}

INSTANTIATE_TEST_SUITE_P(Every, ToldOfParts, testing::Values("cases", "gaps", "guarded", "timed"), NameOf);

/* The same of several processes, which "---" keeps apart; what is told of them comes after "====". */
class ToldOfProcesses : public testing::TestWithParam<const char *>
{
};

TEST_P(ToldOfProcesses, All)
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
