// SPDX-License-Identifier: Apache-2.0
//
// Findings by themselves: which calls are one, what is kept of them and how much of it, and in which order findings stand,
// whatever rule they are of.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "analysis/findings/rule.h"
#include "analysis/report/default_cost.h"
#include "analysis/report/many/fold.h"
#include "analysis/report/report.h"
#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

const struct rule &AnyRule()
{
    const rule *rules[RULES_MOST];
    registry_all(rules);
    return *rules[0];
}

class Found
{
public:
    ~Found()
    {
        finding_free_all(&list);
    }
    Found() = default;
    Found(const Found &) = delete;

    struct finding *At(struct call call, uint32_t detail = 0)
    {
        struct call_view view = {};
        view.call = &call;
        return finding_at(&list, &AnyRule(), &view, detail);
    }
    struct finding *OfCause(uint32_t detail, uint32_t cause)
    {
        struct call call = {};
        struct call_view view = {};
        view.call = &call;
        return finding_of_cause(&list, &AnyRule(), &view, detail, cause);
    }

    struct findings list = {};
};

call Call(uint32_t stack, uint16_t api, bool twin = false)
{
    call one = {};
    one.r.stack = stack;
    one.r.api = api;
    one.r.flags = twin ? PTDS_CALL_TWIN : PTDS_CALL_LEGACY;
    return one;
}

TEST(Findings, AreOneAPlaceFunctionFormAndCase)
{
    Found found;
    std::set<const finding *> all;
    for (uint32_t stack : {0u, 1u, 2u, 0x80000000u, 0xffffffffu})
        for (uint16_t api : {0, 1, 2, 255, 256, 0x8000, 0xfffe})
            for (bool twin : {false, true})
                for (uint32_t detail : {0, 1, 2, 3, 63, 64, 126, 127}) {
                    const finding *one = found.At(Call(stack, api, twin), detail);
                    ASSERT_NE(nullptr, one);
                    EXPECT_TRUE(all.insert(one).second) << stack << " " << api << " " << twin << " " << detail;
                    EXPECT_EQ(stack, one->stack);
                    EXPECT_EQ(api, one->api);
                    EXPECT_EQ(twin, one->twin);
                    EXPECT_EQ(detail, one->detail);
                    EXPECT_TRUE(one->has_api);
                    EXPECT_EQ(one, found.At(Call(stack, api, twin), detail));
                    EXPECT_EQ(2u, one->count);
                }
    EXPECT_EQ(5u * 7 * 2 * 8, found.list.list.count);
    for (uint32_t detail : {0, 1, 64, 127})
        for (uint32_t cause : {0u, 1u, 0xffffffffu}) {
            const finding *one = found.OfCause(detail, cause);
            EXPECT_TRUE(all.insert(one).second) << detail << " " << cause;
            EXPECT_EQ(one, found.OfCause(detail, cause));
        }
    EXPECT_EQ(0u, found.list.refused);
}

TEST(Findings, KeepWhatTheirCallsAreAbout)
{
    Found found;
    call one = Call(5, 6);
    one.thread = 7;
    one.r.enter = 100;
    one.r.context = 8;
    one.r.stream = 9;
    one.r.op = PTDS_OP_LAUNCH;
    one.r.object = 11;
    const finding *is = found.At(one);
    one.thread = 17;
    one.r.enter = 90;
    one.r.target = 10;
    one.r.op = PTDS_OP_EVENT_RECORD; /* of an event */
    one.r.object = 12;
    EXPECT_EQ(is, found.At(one));
    one.r.enter = 95;
    one.r.op = PTDS_OP_LAUNCH;
    one.r.object = one.r.stream = one.r.target = 0;
    found.At(one);
    EXPECT_EQ(3u, is->count);
    EXPECT_EQ(90u, is->first);
    EXPECT_EQ(100u, is->last);
    auto ids = [&](enum finding_set set) {
        std::string text;
        for (uint32_t i = 0; i < is->sets[set].count; i++)
            text += std::to_string(is->sets[set].id[i]) + " ";
        return text + (is->sets[set].more ? "..." : "");
    };
    EXPECT_EQ("7 17 ", ids(FINDING_THREADS));
    EXPECT_EQ("8 ", ids(FINDING_CONTEXTS));
    EXPECT_EQ("9 10 ", ids(FINDING_STREAMS));
    EXPECT_EQ("11 ", ids(FINDING_KERNELS));
    EXPECT_EQ("", ids(FINDING_WAITS_FOR));
    for (uint32_t thread = 17; thread < 24; thread++) {
        one.thread = thread;
        EXPECT_EQ(is, found.At(one));
    }
    EXPECT_EQ("7 17 18 19 20 21 22 23 ", ids(FINDING_THREADS));
    found.At(one);
    EXPECT_EQ("7 17 18 19 20 21 22 23 ", ids(FINDING_THREADS)) << "one that is there already";
    one.thread = 24;
    found.At(one);
    EXPECT_EQ("7 17 18 19 20 21 22 23 ...", ids(FINDING_THREADS));
}

TEST(Findings, HaveSomeNumbersByName)
{
    Found found;
    struct finding *one = found.At(Call(1, 1));
    const std::string again = "most", keys[] = {"a", "b", "c", "d", "e"};
    finding_count(one, "calls", 3);
    finding_count(one, "calls", 4);
    finding_most(one, "most", 5);
    finding_most(one, again.c_str(), 9);
    finding_most(one, "most", 8);
    for (const std::string &key : keys)
        finding_count(one, key.c_str(), 1);
    finding_count(nullptr, "calls", 1);
    finding_most(nullptr, "calls", 1);
    std::string all;
    for (const finding_number &number : one->numbers)
        all += std::string(number.key) + "=" + std::to_string(number.value) + " ";
    EXPECT_EQ("calls=7 most=9 a=1 b=1 c=1 d=1 ", all) << "as many as there is room for";
}

TEST(Findings, BeyondTheMostAreRefusedAndCounted)
{
    Found found, other;
    for (uint32_t stack = 1; stack <= FINDING_LIMIT; stack++)
        ASSERT_NE(nullptr, found.At(Call(stack, 1))) << stack;
    EXPECT_EQ(nullptr, found.At(Call(FINDING_LIMIT + 1, 1)));
    EXPECT_NE(nullptr, found.At(Call(FINDING_LIMIT, 1)));
    EXPECT_EQ(nullptr, finding_about(&found.list, &AnyRule(), 3, "text"));
    EXPECT_EQ(2u, found.list.refused);
    const finding *about = finding_about(&other.list, &AnyRule(), 3, "text");
    EXPECT_STREQ("text", about->text);
    EXPECT_EQ(3u, about->detail);
    EXPECT_EQ(0u, about->count);
    EXPECT_FALSE(about->has_api);
    EXPECT_EQ(AnyRule().severity, about->severity);
    EXPECT_EQ(nullptr, finding_about(&other.list, &AnyRule(), 3, nullptr)->text);
    other.list.refused = 5;
    finding_move_all(&found.list, &other.list);
    EXPECT_EQ(7u, found.list.refused);
    EXPECT_EQ(size_t{FINDING_LIMIT} + 2, found.list.list.count);
    EXPECT_EQ(0u, other.list.list.count);
    finding_cost(found.list.list.items[7], 5);
    finding_cost_calls(found.list.list.items[7], 6, 3);
    finding_cost_calls(nullptr, 6, 3);
    finding_cost_unknown(found.list.list.items[9]);
    EXPECT_EQ(11u, found.list.list.items[7]->host_ns);
    EXPECT_EQ(4u, found.list.list.items[7]->known);
    finding_keep_only(&found.list, finding_has_cost);
    ASSERT_EQ(2u, found.list.list.count);
    EXPECT_EQ(8u, found.list.list.items[0]->stack);
    EXPECT_EQ(10u, found.list.list.items[1]->stack);
    const finding *fresh = found.At(Call(10, 1));
    EXPECT_NE(found.list.list.items[1], fresh) << "what was kept is looked for no more";
}

/* Each comes before all that follow. */
TEST(Findings, ByWhatTheyWeigh)
{
    const finding_weight order[] = {{SEVERITY_ERROR, 9, 0, 1},   {SEVERITY_ERROR, 0, 1, 1},   {SEVERITY_ERROR, 0, 0, 1},
                                    {SEVERITY_NOTE, 8, 0, 1},    {SEVERITY_WARNING, 7, 2, 5}, {SEVERITY_NOTE, 7, 1, 4},
                                    {SEVERITY_NOTE, 7, 0, 6},    {SEVERITY_WARNING, 7, 0, 5}, {SEVERITY_NOTE, 0, 3, 1},
                                    {SEVERITY_WARNING, 0, 0, 2}, {SEVERITY_NOTE, 0, 0, 1}};
    const size_t count = sizeof order / sizeof *order;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            int weighed = finding_weigh(order[i], order[j]);
            EXPECT_EQ(i < j ? -1 : i > j ? 1 : 0, (weighed > 0) - (weighed < 0)) << i << " " << j;
        }
    EXPECT_EQ(0, finding_weigh({SEVERITY_NOTE, 1, 2, 3}, {SEVERITY_WARNING, 1, 1, 3})) << "only errors are apart";
}

TEST(Findings, StandByWhatTheySay)
{
    std::string places;
    for (int fold = 0; fold < 2; fold++)
        for (int doubt = 0; doubt < DOUBTS; doubt++)
            for (int severity = 0; severity < SEVERITIES; severity++) {
                struct finding one = {};
                one.fold = fold != 0 ? FOLD_LIBRARY : FOLD_SHOWN;
                one.doubt = static_cast<enum doubt>(doubt);
                one.severity = static_cast<enum severity>(severity);
                places += std::to_string(rank_place(&one));
            }
    EXPECT_EQ("331221000444444444", places);
}

/* Of an order that was given up, and of one that may be gone: by what is known of the orders at the place. */
TEST(Findings, OfOrderAreAsSureAsItsOrders)
{
    auto said = [](const std::vector<uint64_t> &verdicts, uint64_t given_up, uint64_t may_be, bool may_lose,
                   enum doubt doubt) {
        struct finding one = {};
        one.severity = SEVERITY_WARNING;
        one.doubt = doubt;
        for (size_t i = 0; i < verdicts.size(); i++)
            one.verdicts[i] = verdicts[i];
        one.given_up = given_up;
        one.may_be_given_up = may_be;
        may_lose ? finding_may_lose_order(&one) : finding_given_up(&one);
        return severity_names[one.severity] + std::string(" ") + doubt_names[one.doubt];
    };
    const std::vector<uint64_t> none = {0, 0, 0};
    EXPECT_EQ("warning may-be-wrong", said(none, 0, 0, false, DOUBT_NONE)) << "nobody judged them";
    for (size_t verdict = 0; verdict < VERDICTS; verdict++) {
        std::vector<uint64_t> one = none;
        one[verdict] = 1;
        EXPECT_EQ("note right", said(one, 0, 0, false, DOUBT_NONE)) << verdict;
        EXPECT_EQ("warning may-be-wrong", said(one, 0, 1, false, DOUBT_NONE)) << verdict;
        EXPECT_EQ("error wrong", said(one, 1, 0, false, DOUBT_NONE)) << verdict;
        EXPECT_EQ("error wrong", said(one, 1, 1, false, DOUBT_MAY)) << verdict;
        EXPECT_EQ("warning right", said(one, 1, 1, true, DOUBT_NONE)) << verdict;
        EXPECT_EQ("warning may-be-wrong", said(one, 0, 1, true, DOUBT_MAY)) << verdict;
        EXPECT_EQ("error wrong", said(one, 1, 0, true, DOUBT_MAY)) << verdict;
    }
}

/* Groups of edges are by kind, and by the two ends' stacks and functions; sites by stack, function and form. */
TEST(EdgesOfAReport, AreTheirsWhosePlacesTheyAreOf)
{
    struct report report = {};
    edge_table_begin(&report.edges);
    std::vector<struct edge> edges;
    for (unsigned kind = 0; kind < EDGE_KINDS; kind++)
        for (uint32_t from : {1u, 2u, 0x10000u})
            for (uint32_t to : {1u, 2u, 0xffffffffu})
                for (uint16_t api : {1, 2, 0x100}) {
                    struct edge edge = {};
                    edge.kind = static_cast<enum edge_kind>(kind);
                    edge.from.stack = from;
                    edge.to.stack = to;
                    edge.from.api = api;
                    edge.to.api = static_cast<uint16_t>(api + to % 2);
                    edge.from.ticks = edges.size() + 1;
                    edge.verdict = static_cast<enum verdict>(edges.size() % VERDICTS);
                    edges.push_back(edge);
                }
    Judge(&report, edges);
    EXPECT_EQ(edges.size(), report.edges.groups.count);
    uint64_t of_verdict[VERDICTS] = {};
    for (size_t i = 0; i < report.edges.groups.count; i++)
        for (unsigned verdict = 0; verdict < VERDICTS; verdict++)
            of_verdict[verdict] += report.edges.groups.items[i].counts[verdict];
    for (unsigned verdict = 0; verdict < VERDICTS; verdict++) {
        EXPECT_EQ(edges.size() / VERDICTS, of_verdict[verdict]);
        EXPECT_EQ(edges.size() / VERDICTS, edge_table_count(&report.edges, static_cast<enum verdict>(verdict)));
    }
    EXPECT_EQ(0u, report.edges.ungrouped);
    edge_table_free(&report.edges);
}

/* Two groups whose places give the same number are told apart. */
TEST(EdgesOfAReport, WhoseNumbersCollideAreApart)
{
    struct report report = {};
    edge_table_begin(&report.edges);
    const uint64_t factor = 0x9e3779b97f4a7c15u, one_api = uint64_t{1} | uint64_t{1} << 16,
                   other_api = uint64_t{2} | uint64_t{1} << 16;
    const uint64_t stacks = 0x0000000700000005u, others = stacks ^ one_api * factor ^ other_api * factor;
    struct edge one = {}, other = {};
    one.from.stack = static_cast<uint32_t>(stacks);
    one.to.stack = static_cast<uint32_t>(stacks >> 32);
    one.from.api = one.to.api = other.to.api = 1;
    other.from.api = 2;
    other.from.stack = static_cast<uint32_t>(others);
    other.to.stack = static_cast<uint32_t>(others >> 32);
    Judge(&report, {one, other, one});
    ASSERT_EQ(2u, report.edges.groups.count);
    EXPECT_EQ(2u, report.edges.groups.items[0].counts[0]);
    EXPECT_EQ(5u, report.edges.groups.items[0].example.from.stack);
    EXPECT_EQ(1u, report.edges.groups.items[1].counts[0]);
    edge_table_free(&report.edges);
}

/* What a run's default stream costs it: nothing where all its orders, of whatever kind, are needed. */
TEST(DefaultStreamOfARun, CostsNothingWhereAllItsOrdersAreNeeded)
{
    Built built(BuildTrace("1@0 launch s=L k=a\n2@20 launch s=L k=a\n2@40+7000 sync s=L\n"));
    struct report report = *built.get();
    auto cost = [&](std::vector<std::pair<enum edge_kind, enum verdict>> orders, unsigned beside = 0) {
        memset(report.edges.counts, 0, sizeof report.edges.counts);
        report.edges.direct = 0;
        for (const auto &order : orders) {
            report.edges.counts[order.first][order.second]++;
            report.edges.direct += order.second == VERDICT_NEEDED;
        }
        report.edges.direct -= beside;
        return default_cost_names[default_cost_of(&report).cost];
    };
    EXPECT_STREQ("up-to", cost({}));
    const enum edge_kind kinds[] = {EDGE_FAN_IN, EDGE_FAN_OUT, EDGE_FIFO};
    for (enum edge_kind one : kinds) {
        EXPECT_STREQ("needed", cost({{one, VERDICT_NEEDED}})) << one;
        EXPECT_STREQ("up-to", cost({{one, VERDICT_NEEDED}}, 1)) << one << ": other work stands between";
        EXPECT_STREQ("up-to", cost({{one, VERDICT_NOT_NEEDED}})) << one;
        for (enum edge_kind other : kinds) {
            EXPECT_STREQ("needed", cost({{one, VERDICT_NEEDED}, {other, VERDICT_NEEDED}})) << one << other;
            EXPECT_STREQ("up-to", cost({{one, VERDICT_NEEDED}, {other, VERDICT_NOT_NEEDED}})) << one << other;
            EXPECT_STREQ("up-to", cost({{one, VERDICT_NEEDED}, {other, VERDICT_MAYBE_NEEDED}})) << one << other;
        }
    }
    report.edges.analysed = false;
    EXPECT_STREQ("up-to", cost({{EDGE_FIFO, VERDICT_NEEDED}}));
}

} // namespace
} // namespace ptds
