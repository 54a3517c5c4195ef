// SPDX-License-Identifier: Apache-2.0
//
// What is in the views of each trace of shown/, as facts: shown/NAME.facts has a line for each finding, edge, wait and
// process, for what the run would take under other policies, and for how much is in the page and in the exports. Words of
// a view are none of it. Of each rule's own bad trace, and of told/'s runs, what is found: shown/rules.facts, runs.facts.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "analysis/findings/rule.h"
#include "tests/analysis/shown_facts.h"
#include "tests/support/expected.h"

namespace ptds
{
namespace
{

/* Of traces with much of everything only the report: the others have the exports' kinds of things. */
std::string FactsOf(const std::string &name)
{
    static const std::set<std::string> large = {"crowd", "full", "many", "mend", "wide"};
    ShownTrace trace(name);
    std::string facts = Facts::OfText(trace.View("json"), "report");
    if (!trace.several())
        facts += Facts::OfText(trace.View("what-if as JSON"), "what-if");
    if (large.count(name) == 0)
        facts += BaselineFacts(trace.View("baseline")) + PageFacts(trace.View("page")) +
                 SarifFacts(TakeFile(trace.Export("sarif"))) + DatabaseFacts(trace.Export("sqlite")) +
                 PerfettoFacts(TakeFile(trace.Export("perfetto")));
    return Anonymous(Folded(facts), trace.opened());
}

class ShownFacts : public testing::TestWithParam<std::string>
{
};

TEST_P(ShownFacts, AreThese)
{
    ExpectAllOf(ExpectedFolder() + GetParam() + ".facts", FactsOf(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Traces, ShownFacts, testing::ValuesIn(ShownTraces()),
                         [](const testing::TestParamInfo<std::string> &trace) { return trace.param; });

/* What a run comes to, and what is found: by rule, and each finding that is worth a line of its own. */
std::string InShort(const std::string &name, const std::string &trace, bool findings)
{
    Opened opened({BuildTrace(trace)});
    Names names(nullptr);
    One one(&opened.traces.list.items[0]->source, &names);
    json_t *root = json_loads(one.Json().c_str(), 0, nullptr), *shown = json_object(), *list = json_array(), *finding;
    for (const char *key : {"groups", "by_kind"})
        json_object_del(json_object_get(root, "edges"), key);
    if (!findings)
        json_object_del(json_object_get(root, "outcome"), "pair");
    for (const char *part : {"outcome", "default_stream", "edges", "by_rule"})
        json_object_set(shown, part, json_object_get(root, part));
    size_t i;
    json_array_foreach(json_object_get(root, "findings"), i,
                       finding) if (findings && !json_is_string(json_object_get(finding, "folded")))
        json_array_append(list, finding);
    json_object_set_new(shown, "findings", list);
    std::string facts = Folded(Facts::Of(shown, name));
    json_decref(root);
    json_decref(shown);
    return Anonymous(facts, opened);
}

TEST(ShownFacts, OfEveryRule)
{
    const rule *rules[RULES_MOST];
    std::string seen;
    for (size_t i = 0, count = registry_all(rules); i < count; i++)
        seen += InShort(rules[i]->id, rules[i]->bad, true);
    ExpectAllOf(ExpectedFolder() + "rules.facts", seen);
}

/* In told/'s runs much goes on at once. */
TEST(ShownFacts, OfRunsOfManyKinds)
{
    std::string folder = ExpectedFolder() + "../told/", seen;
    std::set<std::string> runs;
    for (const auto &file : std::filesystem::directory_iterator(folder))
        if (file.path().extension() == ".run")
            runs.insert(file.path().stem());
    EXPECT_LT(20u, runs.size());
    for (const std::string &run : runs) {
        std::string text = read_file(folder + run + ".run");
        seen += InShort(run, text.substr(0, text.find("\n---\n") + 1), false);
    }
    ExpectAllOf(ExpectedFolder() + "runs.facts", seen);
}

} // namespace
} // namespace ptds
