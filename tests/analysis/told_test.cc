// SPDX-License-Identifier: Apache-2.0
//
// All that the analysis holds of some runs, down to every count, time and id, against told/: of each rule's own bad trace,
// and of longer runs in which much goes on at once. Such a file holds what was found when it was written; where a change of
// the analysis changes it on purpose, the new text lies among the test's outputs, and the difference is for a reader to
// judge.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/analysis/told.h"

namespace ptds
{
namespace
{

std::string Read(const std::string &name)
{
    std::ifstream file("tests/analysis/told/" + name);
    EXPECT_TRUE(file.good()) << name;
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

void Expect(const std::string &name, const std::string &now)
{
    EXPECT_EQ(Read(name), now);
    const char *outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
    if (outputs != nullptr && testing::Test::HasFailure())
        std::ofstream(std::string(outputs) + "/" + name) << now;
}

class ToldOfRule : public testing::TestWithParam<const rule *>
{
};

TEST_P(ToldOfRule, BadTrace)
{
    Expect(std::string(GetParam()->id) + ".txt", Told(GetParam()->bad).text + "\n");
}

std::vector<const rule *> All()
{
    const rule *rules[RULES_MOST];
    size_t count = rules_all(rules);
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
    std::string name = std::string(GetParam()) + ".run", trace = Read(name);
    trace.resize(std::min(trace.size(), trace.find("---\n")));
    Expect(name, trace + "---\n" + Told(trace).text + "\n");
}

std::string NameOf(const testing::TestParamInfo<const char *> &info)
{
    std::string name = info.param;
    for (char &c : name)
        c = c == '-' ? '_' : c;
    return name;
}

INSTANTIATE_TEST_SUITE_P(Every, ToldOfRun,
                         testing::Values("crowd", "gaps", "given-up", "guarded", "kept", "kinds", "per-thread", "places",
                                         "shared", "short", "stream", "streams", "threads", "timed"),
                         NameOf);

} // namespace
} // namespace ptds
