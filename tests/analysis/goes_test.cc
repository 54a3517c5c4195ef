// SPDX-License-Identifier: Apache-2.0
//
// By which policies findings go: what each rule declares, as docs/rules.md has it; and what is said of made up traces.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "analysis/views/removal_words.h"
#include "analysis/views/json/report_json.h"
#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

std::vector<const rule *> All()
{
    const rule *rules[RULES_MOST];
    size_t count = registry_all(rules);
    return {rules, rules + count};
}

TEST(Goes, EachRuleDeclaresIt)
{
    const std::map<std::string, enum removed_by> declared = {
        {"legacy-barrier", REMOVED_WITH_BARRIER},
        {"legacy-shared-by-threads", REMOVED_WITH_TURN},
        {"sync-copy", REMOVED_WITH_WAIT},
        {"pageable-async-copy", REMOVED_WITH_PART},
        {"pageable-copy", REMOVED_NEVER},
        {"slow-call", REMOVED_NEVER},
        {"pool-trims", REMOVED_NEVER},
        {"pinned-reuse", REMOVED_NEVER},
        {"blocks-of-one-allocation", REMOVED_NEVER},
        {"blocking-free", REMOVED_STAYS},
        {"blocking-alloc", REMOVED_NEVER},
        {"blocking-pin", REMOVED_NEVER},
        {"device-wide-sync", REMOVED_STAYS},
        {"over-wide-sync", REMOVED_WITH_WAIT},
        {"useless-sync", REMOVED_WITH_PART},
        {"blocking-stream-created", REMOVED_WITH_OTHERS},
        {"blocking-module-load", REMOVED_STAYS},
        {"lazy-load-holds-others", REMOVED_NEVER},
        {"lock-contention", REMOVED_NEVER},
        {"host-function-serialises", REMOVED_WITH_LEGACY},
        {"hardware-queues", REMOVED_WITH_REMAP},
        {"capture-conflict", REMOVED_NEVER},
        {"process-switch", REMOVED_NEVER},
        {"deadlock-risk", REMOVED_WITH_WAIT},
        {"event-misuse", REMOVED_NEVER},
        {"query-spin", REMOVED_WITH_PART},
        {"stream-switching", REMOVED_NEVER},
        {"thread-end", REMOVED_WITH_REMAP},
        {"order-given-up", REMOVED_WITH_PROMISE},
        {"small-copy", REMOVED_NEVER},
        {"unordered-conflict", REMOVED_NEVER},
        {"thread-relative-handle", REMOVED_NEVER},
        {"mixed-build", REMOVED_AS_ONE_BUILD},
        {"half-remapped", REMOVED_WITH_MOVE},
    };
    EXPECT_EQ(declared.size(), All().size());
    for (const rule *one : All()) {
        ASSERT_EQ(1u, declared.count(one->id)) << one->id << " says nothing";
        EXPECT_EQ(declared.at(one->id), one->removed_by) << one->id;
    }
}

/* The row of docs/rules.md ends with what the rule declares. */
TEST(Goes, TheDocumentSaysWhatTheRulesDeclare)
{
    for (const rule *one : All()) {
        std::ifstream file("docs/rules.md");
        ASSERT_TRUE(file.good());
        std::string begin = std::string("| `") + one->id + "` |",
                    end = std::string("| ") + removed_by_words[one->removed_by] + " |";
        std::string line, row;
        while (std::getline(file, line))
            if (line.compare(0, begin.size(), begin) == 0)
                row = line;
        ASSERT_GT(row.size(), end.size()) << one->id;
        EXPECT_EQ(end, row.substr(row.size() - end.size())) << one->id;
    }
}

/* What is said of the first finding of a rule. */
std::string Said(const std::string &rule, const std::string &trace)
{
    Built report(BuildTrace(trace));
    EXPECT_EQ(0, report.status) << report.error;
    for (size_t i = 0; i < report->findings.count; i++)
        if (rule == report->findings.items[i]->rule->id)
            return removal_words_finding(report.get(), report->findings.items[i]).text;
    return "no such finding:\n" + report.Text();
}

const char two_memories[] = "1@0 alloc m=A ptr=0x10000 bytes=4096\n1@1 alloc m=B ptr=0x20000 bytes=4096\n";
const char more_work[] = "2@9000 memset s=L dst=B bytes=64\n2@9010+900 sync s=L\n";

std::string Barrier(const std::string &second)
{
    return two_memories + std::string("1@10 memset s=B1 dst=A bytes=64\n1@20 memset s=L ") + second +
           " bytes=64\n1@30+9 sync s=L\n";
}

TEST(Goes, ABarrierGoesWhereWorkMovesUnlessDataAskForTheOrder)
{
    EXPECT_EQ("disappears with guarded, per-thread and stream", Said("legacy-barrier", Barrier("dst=B")));
    EXPECT_EQ("disappears with per-thread (wrong results)", Said("legacy-barrier", Barrier("dst=A")));
    EXPECT_EQ("disappears with per-thread (maybe wrong results); maybe with guarded and stream",
              Said("legacy-barrier",
                   two_memories +
                       std::string("1@3 launch s=B1 k=long args=A\n1@10 launch s=L k=short args=A\n1@20+9 sync s=L\n")));
    EXPECT_EQ("disappears with guarded, per-thread and stream",
              Said("legacy-barrier",
                   two_memories + std::string("1@10 memset s=L dst=A bytes=64\n1@20 memset s=B1 dst=B bytes=64\n"
                                              "1@30+9 sync s=B1\n")))
        << "of work that waits for the legacy stream";
}

TEST(Goes, WhatNamesTheLegacyStreamItselfGoesWithTheSettingForThat)
{
    EXPECT_EQ("disappears with PTDS_EXPLICIT_LEGACY=remap", Said("legacy-barrier", Barrier("explicit dst=B")));
    EXPECT_EQ("disappears with PTDS_EXPLICIT_LEGACY=remap",
              Said("half-remapped",
                   "setting policy=guarded\nsetting guard=1\n1@0 launch s=L to=S1 k=a\n1@10 launch s=L k=b explicit\n"));
    EXPECT_EQ(
        "no policy removes it",
        Said("half-remapped",
             "setting policy=guarded\nsetting guard=1\n1@0 launch s=L to=S1 k=a\n1@10 launch s=L k=b kept-capture\n"));
}

TEST(Goes, TurnsOfThreadsGoWhereEachHasAStream)
{
    EXPECT_EQ("disappears with guarded and per-thread",
              Said("legacy-shared-by-threads",
                   two_memories +
                       std::string("1@10 memset s=L dst=A bytes=64\n2@20 memset s=L dst=B bytes=64\n2@30+9 sync s=L\n")))
        << "the one stream of policy stream keeps them";
    EXPECT_EQ(
        "disappears with PTDS_EXPLICIT_LEGACY=remap; maybe with guarded and per-thread",
        Said("legacy-shared-by-threads",
             two_memories +
                 std::string("1@10 memset s=L dst=A bytes=64 explicit\n2@20 memset s=L dst=B bytes=64\n2@30+9 sync s=L\n")))
        << "the work that it waits for stays";
    const std::string explicitly = "2@20 memset s=L dst=B bytes=64 explicit\n2@30+9 sync s=L\n";
    EXPECT_EQ("disappears with PTDS_EXPLICIT_LEGACY=remap",
              Said("legacy-shared-by-threads",
                   two_memories + std::string("1@10 memset s=L dst=A bytes=64 explicit\n") + explicitly));
    EXPECT_EQ("may disappear with PTDS_EXPLICIT_LEGACY=remap",
              Said("legacy-shared-by-threads",
                   two_memories + std::string("1@10 memset s=L dst=A bytes=64 kept-refused\n") + explicitly))
        << "the work that it waits for stays whatever the policy";
}

TEST(Goes, AWaitForOnesOwnWorkStays)
{
    EXPECT_EQ("no policy removes it",
              Said("sync-copy", "1@0 launch s=L k=long\n1@10+5000 copy s=L implicit from=device to=pageable bytes=4\n" +
                                    std::string("1@5100 launch s=L k=next\n1@6000+900 sync s=L\n")));
}

TEST(Goes, AWaitForOthersGoesAndOneForBothMay)
{
    const std::string own = "2@5 memset s=L dst=B bytes=64\n";
    const std::string others = two_memories + std::string("1@3 memset s=L dst=A bytes=64\n");
    const std::string copy = "2@10+5000 copy s=L implicit src=B from=device to=pageable bytes=64\n";
    EXPECT_EQ("disappears with guarded and per-thread", Said("sync-copy", others + copy + more_work));
    EXPECT_EQ("may disappear with guarded and per-thread", Said("sync-copy", others + own + copy + more_work));
    EXPECT_EQ(
        "disappears with per-thread (wrong results)",
        Said("sync-copy", others + "2@10+5000 copy s=L implicit src=A from=device to=pageable bytes=64\n" + more_work));
}

TEST(Goes, WaitsForTheWholeContextStay)
{
    EXPECT_EQ("no policy removes it",
              Said("blocking-free", "1@0 launch s=L k=long\n1@10+5000 free ptr=0x1000\n1@5100 launch s=L k=next\n"));
    EXPECT_EQ("no policy removes it; it may get shorter",
              Said("blocking-free",
                   "1@0 launch s=L k=long\n2@5 launch s=L k=long\n1@10+5000 free ptr=0x1000\n1@5100 launch s=L k=next\n"));
}

TEST(Goes, AnOrderThatIsGoneComesBackUnderPoliciesThatPromiseIt)
{
    EXPECT_EQ("disappears with guarded and stream",
              Said("order-given-up", "setting policy=per-thread\n1@0 launch s=L to=P1 k=a\n2@10 launch s=L to=P2 k=b\n"));
}

/* A rule that says "per-thread" is silent where that is the policy. */
TEST(Goes, MixedBuildsAreOneUnderPerThread)
{
    const char *mixed = "1@0 launch s=L k=a site=a\n1@10 launch s=P1 k=b twin site=b@libother.so\n";
    EXPECT_EQ("disappears with per-thread", Said("mixed-build", mixed));
    EXPECT_EQ(0u, Said("mixed-build", "setting policy=per-thread\n1@0 launch s=L to=P1 k=a site=a\n"
                                      "1@10 launch s=P1 k=b twin site=b@libother.so\n")
                      .find("no such finding"));
}

TEST(Goes, TheRunsOwnPolicyIsNotNamed)
{
    const std::string run = "1@0 launch s=L to=S1 k=a\n2@1 launch s=L to=S2 k=b behind=S1\n"
                            "2@10+5000 copy s=L target=S2 implicit from=device to=pageable bytes=4\n"
                            "2@5100 launch s=L to=S2 k=next\n2@6000+900 sync s=L to=S2\n";
    EXPECT_EQ("may disappear with per-thread and stream",
              Said("sync-copy", "setting policy=guarded\nsetting guard=1\n" + run));
    EXPECT_EQ("may disappear with guarded and per-thread",
              Said("sync-copy", "setting policy=stream\nsetting guard=1\n" + run));
}

TEST(Goes, EveryViewSaysTheSame)
{
    Built report(BuildTrace(Barrier("dst=A")));
    ASSERT_NE(0u, report->findings.count);
    TextOf json;
    ASSERT_EQ(0, report_json(report.get(), nullptr, &json));
    for (size_t i = 0; i < report->findings.count; i++) {
        std::string said = removal_words_finding(report.get(), report->findings.items[i]).text;
        EXPECT_NE(std::string::npos, report.Text().find("by policy             " + said)) << said;
        EXPECT_NE(std::string::npos, json.text.find('"' + said + '"')) << said;
    }
    EXPECT_NE(std::string::npos, json.text.find("\"per_thread\": \"yes\"")) << json.text.substr(0, 4000);
}

} // namespace
} // namespace ptds
