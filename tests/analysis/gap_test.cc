// SPDX-License-Identifier: Apache-2.0
//
// Records that were lost: nothing definite is concluded across a gap, and what lies on one side of it is judged as ever.
// Kernels as in verdict_test.cc.
#include "tests/analysis/random_reference.h"

namespace ptds
{
namespace
{

class Gap : public testing::TestWithParam<VerdictCase>
{
};

TEST_P(Gap, LeavesNothingDefiniteAcrossIt)
{
    Judged judged(BuildTrace(std::string(verdict_memory) + GetParam().trace), true);
    EXPECT_EQ(GetParam().edges, judged.Text());
    EXPECT_EQ(GetParam().races, judged.totals.races);
}

#define FIRST "1@1 memset s=B1 bytes=64 dst=A\n"
#define NEEDS_IT "1@9 copy s=L bytes=64 src=A\n"
#define NEEDS_IT_NOT "1@9 memset s=L bytes=64 dst=B\n"
#define LAST "1@20+1 ctx-sync\n"

const VerdictCase cases[] = {
    /* Somebody waited in it, perhaps. */
    {"needed", FIRST "lost 1@0 sync s=N1\n" NEEDS_IT, "fan-in 1>9 maybe needed(lost)"},
    {"needed_if_nothing_is_lost", FIRST NEEDS_IT, "fan-in 1>9 needed"},
    {"not_needed", FIRST "lost 1@0 sync s=N1\n" NEEDS_IT_NOT LAST, "fan-in 1>9 maybe needed(lost)"},
    {"not_needed_if_nothing_is_lost", FIRST NEEDS_IT_NOT LAST, "fan-in 1>9 not needed"},
    {"of_another_thread", FIRST "2@2 launch s=N2 k=_Z5emptyv\nlost 2@0 sync s=N2\n2@8 launch s=N2 k=_Z5emptyv\n" NEEDS_IT,
     "fan-in 1>9 maybe needed(lost)"},
    {"that_ends_only_later",
     FIRST "2@0 launch s=N2 k=_Z5emptyv\nlost 2@0 sync s=N2\n" NEEDS_IT "2@15 launch s=N2 k=_Z5emptyv\n",
     "fan-in 1>9 maybe needed(lost)"},
    /* Both on one side. */
    {"needed_before_it", FIRST NEEDS_IT "lost 1@0 sync s=N1\n1@30 launch s=N1 k=_Z5emptyv\n", "fan-in 1>9 needed"},
    {"needed_after_it", "1@0 launch s=N1 k=_Z5emptyv\nlost 1@0 sync s=N1\n1@0 launch s=N1 k=_Z5emptyv\n" FIRST NEEDS_IT,
     "fan-in 1>9 needed"},
    {"not_needed_and_seen_to_be_done_before_it",
     FIRST NEEDS_IT_NOT LAST "1@22 launch s=N1 k=_Z5emptyv\nlost 1@0 sync s=N1\n1@30 launch s=N1 k=_Z5emptyv\n",
     "fan-in 1>9 not needed"},
    /* What comes in the gap may conflict with the first by way of the second. */
    {"not_needed_until_it", FIRST NEEDS_IT_NOT "lost 1@0 sync s=N1\n1@30 launch s=N1 k=_Z5emptyv\n",
     "fan-in 1>9 maybe needed(lost)"},
    /* What came in the gap may be what it is there for. */
    {"not_needed_after_it", "1@0 launch s=N1 k=_Z5emptyv\nlost 1@0 sync s=N1\n" FIRST NEEDS_IT_NOT LAST,
     "fan-in 1>9 maybe needed(lost)"},
    {"not_needed_after_it_and_a_wait",
     "1@0 launch s=N1 k=_Z5emptyv\nlost 1@0 sync s=N1\n1@0+1 ctx-sync\n1@1 launch s=N1 k=_Z5emptyv\n1@2 memset s=B1 "
     "bytes=64 dst=A\n"
     "1@9 memset s=L bytes=64 dst=B\n" LAST,
     "fan-in 2>9 not needed"},
    /* Unordered, as far as can be seen. */
    {"a_conflict", "1@1 memset s=N1 bytes=64 dst=A\nlost 1@0 sync s=N1\n1@9 memset s=N2 bytes=64 dst=A\n", "", 0},
    {"a_conflict_if_nothing_is_lost", "1@1 memset s=N1 bytes=64 dst=A\n1@9 memset s=N2 bytes=64 dst=A\n", "", 1},
    {"a_conflict_before_it",
     "1@1 memset s=N1 bytes=64 dst=A\n1@9 memset s=N2 bytes=64 dst=A\nlost 1@0 sync s=N1\n1@30 launch s=N1 k=_Z5emptyv\n",
     "", 1},
    {"a_conflict_after_it",
     "1@0 launch s=N1 k=_Z5emptyv\nlost 1@0 sync s=N1\n1@0 launch s=N1 k=_Z5emptyv\n1@1 memset s=N1 bytes=64 dst=A\n"
     "1@9 memset s=N2 bytes=64 dst=A\n",
     "", 1},
    {"a_conflict_in_another_threads",
     "1@1 memset s=N1 bytes=64 dst=A\n2@0 launch s=N2 k=_Z5emptyv\nlost 2@0 sync s=N2\n1@9 memset s=N2 bytes=64 dst=A\n"
     "2@30 launch s=N2 k=_Z5emptyv\n",
     "", 0},
    /* Nobody knows where they were. */
    {"records_that_could_not_be_kept", "refused\n" FIRST NEEDS_IT LAST "1@30 memset s=L bytes=64 dst=B\n",
     "fan-in 1>9 maybe needed(lost)"},
    {"of_no_use", "refused\n" FIRST NEEDS_IT_NOT LAST, "fan-in 1>9 maybe needed(lost)"},
    {"a_conflict_nobody_knows_where", "refused\n1@1 memset s=N1 bytes=64 dst=A\n1@9 memset s=N2 bytes=64 dst=A\n", "", 0},
    /* A killed process has lost nothing: what it did not come to is not there. */
    {"killed", "killed\n" FIRST NEEDS_IT, "fan-in 1>9 needed"},
    {"killed_and_a_conflict", "killed\n1@1 memset s=N1 bytes=64 dst=A\n1@9 memset s=N2 bytes=64 dst=A\n", "", 1},
    /* A bounded trace: all of it lies behind the gap, but for threads of which nothing is left. */
    {"overwritten", "recycled\n" FIRST NEEDS_IT_NOT LAST, "fan-in 1>9 maybe needed(lost)"},
    {"overwritten_before_a_wait",
     "recycled\n1@0+1 ctx-sync\n1@1 launch s=N1 k=_Z5emptyv\n1@2 memset s=B1 bytes=64 dst=A\n"
     "1@9 copy s=L bytes=64 src=A\n" LAST,
     "fan-in 2>9 needed"},
    {"overwritten_and_a_thread_that_went_on_until_then", "recycled\nthread-end 2@5\n" FIRST NEEDS_IT,
     "fan-in 1>9 maybe needed(lost)"},
    {"overwritten_and_a_thread_that_had_ended", "recycled\nthread-end 2@0\n1@0 launch s=N1 k=_Z5emptyv\n" FIRST NEEDS_IT,
     "fan-in 1>9 needed"},
    {"overwritten_and_a_thread_that_conflicts_no_more",
     "recycled\nthread-end 2@5\n1@1 memset s=N1 bytes=64 dst=A\n1@9 memset s=N2 bytes=64 dst=A\n", "", 0},
};
INSTANTIATE_TEST_SUITE_P(All, Gap, testing::ValuesIn(cases), VerdictCase::Name);

/* The trace without some calls of a thread: those at its beginning were overwritten, those at its end had no room. */
std::string Without(const Random &trace, std::mt19937 *random)
{
    const uint32_t seen = static_cast<uint32_t>((*random)());
    const int thread = trace.nodes[seen % trace.nodes.size()].thread;
    std::vector<size_t> own;
    for (size_t i = 0; i < trace.nodes.size(); i++)
        if (trace.nodes[i].thread == thread)
            own.push_back(trace.nodes[i].line);
    const size_t from = (*random)() % own.size(), to = from + 1 + (*random)() % (own.size() - from);
    std::string text = trace.text;
    for (size_t i = to; i-- > from;)
        text.insert(own[i], "lost ");
    return (to == own.size() ? "refused\n" : from == 0 ? "recycled\n" : "") + text;
}

bool IsIn(const Judged &judged, const struct edge &edge, int verdict = -1)
{
    return std::any_of(judged.edges.begin(), judged.edges.end(), [&](const struct edge &one) {
        return one.kind == edge.kind && one.from.ticks == edge.from.ticks && one.to.ticks == edge.to.ticks &&
               (verdict < 0 || static_cast<int>(one.verdict) == verdict);
    });
}

/* Whatever is lost of a random trace, what is said for certain of the rest is true of the whole. */
TEST(GapAtRandom, WhatIsCertainIsSoInTheWhole)
{
    const char *only = getenv("SEED"), *more = getenv("SEEDS");
    const uint32_t seeds = more != nullptr ? static_cast<uint32_t>(std::stoul(more)) : 3000;
    uint64_t certain[3] = {};
    for (uint32_t seed = 1; seed <= seeds; seed++) {
        if (only != nullptr && seed != std::stoul(only))
            continue;
        const Random trace(seed);
        std::mt19937 random(seed);
        const std::string text = Without(trace, &random);
        const Judged whole(BuildTrace(trace.text)), rest(BuildTrace(text), seed % 2 == 0, seed % 29, seed % 4);
        const Checked checked(trace, whole);
        auto sure = [&](const edge_pair &pair) {
            return Conflict(trace.nodes[checked.At(pair.first.ticks)], trace.nodes[checked.At(pair.second.ticks)]) == SURE;
        };
        auto before = [&](const Order &order, const edge_pair &pair) {
            return Before(order, checked.At(pair.first.ticks), checked.At(pair.second.ticks));
        };
        for (const struct edge &one : rest.edges) {
            certain[one.verdict]++;
            if (one.verdict == VERDICT_NEEDED) {
                EXPECT_TRUE(sure(one.pair) && before(trace.full_order, one.pair) && !before(trace.explicit_order, one.pair))
                    << one.pair.first.ticks / 1000 << " and " << one.pair.second.ticks / 1000;
            }
            EXPECT_TRUE(one.verdict != VERDICT_NOT_NEEDED || IsIn(whole, one) || checked.Most(one) == NO)
                << one.from.ticks / 1000 << ">" << one.to.ticks / 1000;
        }
        checked.ExpectHeld(checked.With([&](const struct edge &one) { return !IsIn(rest, one, VERDICT_NOT_NEEDED); }));
        for (const edge_pair &race : rest.races)
            if (race.definite) {
                EXPECT_TRUE(sure(race) && !before(trace.full_order, race)) << race.first.ticks << " " << race.second.ticks;
            }
        if (HasFailure()) {
            ADD_FAILURE() << "seed " << seed << "\n" << text << rest.Text() << "\nthe whole: " << whole.Text();
            return;
        }
    }
    for (uint64_t count : certain)
        EXPECT_TRUE(only != nullptr || count > 100) << count;
}

} // namespace
} // namespace ptds
