// SPDX-License-Identifier: Apache-2.0
//
// Edges added up (report/edges/edge_table.c), against sums that are kept in maps of everything: what is counted, which
// edges are one group, which of them stands for it, in which order groups stand, what a call site's finding is told; and
// what becomes of those that are too many.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "analysis/report/edges/edge_table.h"
#include "tests/analysis/random_choice.h"
#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

using Place = std::tuple<uint32_t, uint32_t, bool>;                         /* stack, function, twin */
using Group = std::tuple<unsigned, uint32_t, uint32_t, uint32_t, uint32_t>; /* kind, stacks, functions */
using Counts = std::array<uint64_t, VERDICTS + 3>;                          /* and timed, given up, perhaps */

struct edge Edge(unsigned kind, uint32_t from, uint32_t to, uint32_t from_api, uint32_t to_api)
{
    struct edge edge = {};
    edge.kind = static_cast<edge_kind>(kind);
    edge.from.stack = from;
    edge.to.stack = to;
    edge.from.api = static_cast<uint16_t>(from_api);
    edge.to.api = static_cast<uint16_t>(to_api);
    return edge;
}

class Table
{
public:
    Table()
    {
        edge_table_begin(&table);
    }
    ~Table()
    {
        edge_table_free(&table);
    }
    Table(const Table &) = delete;
    void Add(const struct edge &edge)
    {
        table.sink.edge(&table.sink, &edge);
    }
    /* What a finding of this place is told. */
    Counts At(const Place &place) const
    {
        struct finding finding = {};
        finding.has_api = true;
        finding.stack = std::get<0>(place);
        finding.api = static_cast<uint16_t>(std::get<1>(place));
        finding.twin = std::get<2>(place);
        edge_table_judge(&table, &finding);
        return {finding.verdicts[0], finding.verdicts[1], finding.verdicts[2],
                finding.timed,       finding.given_up,    finding.may_be_given_up};
    }
    struct edge_table table;
};

/* How much an edge says: an order that is gone and was needed most of all. */
unsigned Says(const struct edge &edge)
{
    if (edge.loss == LOSS_DEFINITE)
        return 4;
    if (edge.verdict == VERDICT_NEEDED)
        return 3;
    if (edge.loss == LOSS_POSSIBLE)
        return 2;
    return edge.verdict == VERDICT_MAYBE_NEEDED ? 1 : 0;
}

class Edges : private RandomChoice
{
public:
    explicit Edges(uint32_t seed) : RandomChoice(seed)
    {
        for (size_t count = Of({3, 40, 600}); count-- > 0;) {
            struct edge edge = Edge(static_cast<unsigned>(Pick(EDGE_KINDS)), Stack(), Stack(), Api(), Api());
            edge.verdict = static_cast<enum verdict>(Pick(VERDICTS));
            edge.reason = edge.verdict == VERDICT_MAYBE_NEEDED ? static_cast<verdict_reason>(1 + Pick(8)) : REASON_NONE;
            edge.loss = Chance(20) ? LOSS_DEFINITE : Chance(20) ? LOSS_POSSIBLE : LOSS_NONE;
            edge.from.twin = Chance(30);
            edge.to.twin = Chance(30);
            edge.from.ticks = Pick(5);
            edge.to.ticks = all.size() + 10;
            all.push_back(edge);
        }
    }
    std::vector<struct edge> all;

private:
    uint32_t Stack()
    {
        return static_cast<uint32_t>(Of({0, 1, 2, 0x80000001, 0xffffffff}));
    }
    uint32_t Api()
    {
        return static_cast<uint32_t>(Of({1, 2, 0x8001, 0xffff}));
    }
};

struct Sums {
    explicit Sums(const std::vector<struct edge> &edges)
    {
        for (const struct edge &edge : edges) {
            counts[edge.kind][edge.verdict]++;
            reasons[edge.reason] += edge.verdict == VERDICT_MAYBE_NEEDED;
            lost[edge.loss]++;
            Add(edge.to, edge);
            if (edge.kind == EDGE_FAN_OUT)
                Add(edge.from, edge);
            Group of = {edge.kind, edge.from.stack, edge.to.stack, edge.from.api, edge.to.api};
            auto found = groups.find(of);
            if (found == groups.end())
                found = groups.insert({of, {edge, {}}}).first;
            if (Says(edge) > Says(found->second.first))
                found->second.first = edge;
            found->second.second[edge.verdict]++;
        }
    }
    void Add(const edge_end &end, const struct edge &edge)
    {
        Counts &at = places[{end.stack, end.api, end.twin != 0}];
        at[edge.verdict]++;
        at[VERDICTS] += edge.verdict == VERDICT_MAYBE_NEEDED && edge.reason == REASON_TIME;
        at[VERDICTS + 1] += edge.loss == LOSS_DEFINITE;
        at[VERDICTS + 2] += edge.loss == LOSS_POSSIBLE;
    }
    /* What tells most first, then what is most, then what came first. */
    std::vector<std::pair<struct edge, Counts>> InOrder() const
    {
        std::vector<std::pair<struct edge, Counts>> list;
        for (const auto &one : groups)
            list.push_back(one.second);
        auto key = [](const std::pair<struct edge, Counts> &one) {
            return std::make_tuple(-static_cast<int>(Says(one.first)),
                                   -static_cast<int64_t>(one.second[0] + one.second[1] + one.second[2]),
                                   one.first.from.ticks, one.first.to.ticks);
        };
        std::sort(list.begin(), list.end(), [&](const auto &one, const auto &two) { return key(one) < key(two); });
        return list;
    }
    uint64_t counts[EDGE_KINDS][VERDICTS] = {}, reasons[VERDICT_REASONS] = {}, lost[3] = {};
    std::map<Place, Counts> places;
    std::map<Group, std::pair<struct edge, Counts>> groups;
};

TEST(EdgeTable, AddsUpWhatItIsGiven)
{
    for (uint32_t seed = 1; seed <= 60; seed++) {
        Edges edges(seed);
        Sums sums(edges.all);
        Table added;
        for (const struct edge &edge : edges.all)
            added.Add(edge);
        edge_table_finish(&added.table);
        EXPECT_EQ(0, memcmp(sums.counts, added.table.counts, sizeof sums.counts));
        EXPECT_EQ(0, memcmp(sums.reasons, added.table.reasons, sizeof sums.reasons));
        EXPECT_EQ(0, memcmp(sums.lost, added.table.lost, sizeof sums.lost));
        EXPECT_EQ(0u, added.table.ungrouped);
        for (unsigned verdict = 0; verdict < VERDICTS; verdict++)
            EXPECT_EQ(sums.counts[0][verdict] + sums.counts[1][verdict] + sums.counts[2][verdict] + sums.counts[3][verdict],
                      edge_table_count(&added.table, static_cast<enum verdict>(verdict)));
        for (const auto &one : sums.places)
            EXPECT_EQ(one.second, added.At(one.first)) << seed;
        EXPECT_EQ(Counts{}, added.At({77, 1, false})) << "no edge ends there";
        auto list = sums.InOrder();
        ASSERT_EQ(list.size(), added.table.groups.count);
        for (size_t i = 0; i < list.size(); i++) {
            const edge_group &group = added.table.groups.items[i];
            ASSERT_EQ(list[i].first.to.ticks, group.example.to.ticks) << seed << ", group " << i;
            for (unsigned verdict = 0; verdict < VERDICTS; verdict++)
                EXPECT_EQ(list[i].second[verdict], group.counts[verdict]) << seed << ", group " << i;
        }
    }
}

/* Those beyond are counted, and have no group. */
TEST(EdgeTable, SoManyGroupsAreKept)
{
    Table table;
    for (uint32_t i = 1; i <= EDGE_GROUPS_MOST + 3; i++)
        table.Add(Edge(EDGE_FIFO, i, 2 * i, 1, 1));
    EXPECT_EQ(size_t{EDGE_GROUPS_MOST}, table.table.groups.count);
    EXPECT_EQ(3u, table.table.ungrouped);
    table.Add(Edge(EDGE_FIFO, EDGE_GROUPS_MOST, 2 * EDGE_GROUPS_MOST, 1, 1));
    EXPECT_EQ(3u, table.table.ungrouped) << "of one that is there";
    EXPECT_EQ(uint64_t{EDGE_GROUPS_MOST} + 4, edge_table_count(&table.table, VERDICT_NOT_NEEDED));
}

TEST(EdgeTable, SoManyPlacesAreKept)
{
    Table table;
    for (uint32_t i = 1; i <= EDGE_SITES_MOST + 1; i++)
        table.Add(Edge(EDGE_FIFO, 1, i, 1, 1));
    EXPECT_EQ(1u, table.At({EDGE_SITES_MOST, 1, false})[VERDICT_NOT_NEEDED]);
    EXPECT_EQ(0u, table.At({EDGE_SITES_MOST + 1, 1, false})[VERDICT_NOT_NEEDED]);
}

/* Two each that the table looks for at one place: each of what makes a group is asked. */
TEST(EdgeTable, GroupsThatLieAtOnePlaceAreTwo)
{
    const struct edge pairs[][2] = {{Edge(1, 5, 6, 7, 8), Edge(1, 2356609029u, 3134096312u, 7, 9)},
                                    {Edge(1, 5, 6, 7, 8), Edge(1, 32978987u, 2106816403u, 9, 8)},
                                    {Edge(1, 5, 6, 7, 8), Edge(2, 5, 3212807405u, 7, 8)},
                                    {Edge(1, 5, 6, 7, 8), Edge(2, 32978987u, 4241420414u, 9, 8)},
                                    {Edge(1, 5, 6, 7, 8), Edge(1, 5, 484580128u, 13222, 53898)}};
    for (const auto &pair : pairs) {
        Table table;
        table.Add(pair[0]);
        table.Add(pair[1]);
        table.Add(pair[1]);
        ASSERT_EQ(2u, table.table.groups.count) << pair[1].to.stack;
        EXPECT_EQ(1u, table.table.groups.items[0].counts[VERDICT_NOT_NEEDED]);
        EXPECT_EQ(2u, table.table.groups.items[1].counts[VERDICT_NOT_NEEDED]);
    }
}

} // namespace
} // namespace ptds
