// SPDX-License-Identifier: Apache-2.0
//
// The verdict engine against a reference that looks at everything: small random traces, both orders as transitive closures
// over all calls, all pairs of operations. Not the same edges to the letter, but what makes verdicts right:
//   - explicit order plus the edges found is the full order, no more and no less
//   - explicit order plus the needed edges orders every sure conflict that the full order orders, plus those maybe needed
//     every possible conflict: all that are not needed may go at once
//   - a needed edge's pair is a sure conflict that full order holds, over that edge, and explicit order does not
//   - an edge that carries no conflict is not needed
#include "tests/analysis/random_reference.h"

namespace ptds
{
namespace
{

/* All of an edge in words. */
std::string Words(const edge_end &end)
{
    std::string words;
    for (uint64_t one : {end.ticks, uint64_t{end.thread}, uint64_t{end.stream}, uint64_t{end.stack}, uint64_t{end.object},
                         uint64_t{end.api}, uint64_t{end.op}, uint64_t{end.twin}})
        words += std::to_string(one) + " ";
    return words;
}
std::vector<std::string> Words(const Judged &judged)
{
    std::vector<std::string> words;
    for (const struct edge &one : judged.edges)
        words.push_back(Words(one.from) + "> " + Words(one.to) + Judged::Verdict(one.verdict) + Judged::Reason(one.reason) +
                        (one.verdict == VERDICT_NOT_NEEDED ? "" : " " + Words(one.pair.first) + Words(one.pair.second)));
    std::sort(words.begin(), words.end());
    return words;
}

/* Each end is of the call that it says. */
void ExpectOwnNames(const Judged &judged)
{
    for (const struct edge &one : judged.edges)
        for (const edge_end *end : {&one.from, &one.to, &one.pair.first, &one.pair.second}) {
            bool is_set = one.verdict != VERDICT_NOT_NEEDED || end == &one.from || end == &one.to;
            auto call = judged.calls.find({end->ticks, end->thread});
            EXPECT_TRUE(!is_set || end->ticks == 0 ||
                        (call != judged.calls.end() && call->second == std::make_pair(end->stack, end->object)))
                << Words(*end);
        }
}

TEST(VerdictAgainstReference, SmallRandomTraces)
{
    const char *only = getenv("SEED"), *more = getenv("SEEDS");
    const uint32_t seeds = more != nullptr ? static_cast<uint32_t>(std::stoul(more)) : 5000;
    uint64_t verdicts[VERDICTS] = {};
    for (uint32_t seed = 1; seed <= seeds; seed++) {
        if (only != nullptr && seed != std::stoul(only))
            continue;
        Random trace(seed);
        unsigned few = seed % 4; /* at how many accesses to look at once, and not ask first */
        Judged judged(BuildTrace(trace.text), seed % 2 == 0, seed % 29, few);
        Checked checked(trace, judged);
        checked.Orders();
        checked.Edges();
        ExpectOwnNames(judged);
        EXPECT_EQ(Words(Judged(BuildTrace(trace.text), seed % 2 == 0, 1000, 8)), Words(judged));
        for (const struct edge &edge : judged.edges)
            verdicts[edge.verdict]++;
        if (HasFailure()) {
            ADD_FAILURE() << "seed " << seed << "\n" << trace.text << judged.Text();
            return;
        }
    }
    for (uint64_t count : verdicts)
        EXPECT_TRUE(only != nullptr || count > 1000) << count;
}

} // namespace
} // namespace ptds
