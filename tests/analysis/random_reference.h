/* SPDX-License-Identifier: Apache-2.0
 *
 * What verdicts about a random trace must agree with: its orders as transitive closures, and all pairs of its operations.
 */
#ifndef PTDS_TESTS_ANALYSIS_RANDOM_REFERENCE_H
#define PTDS_TESTS_ANALYSIS_RANDOM_REFERENCE_H

#include <functional>

#include "tests/analysis/random_trace.h"
#include "tests/analysis/verdicts.h"

namespace ptds
{

class Checked
{
public:
    Checked(const Random &trace, const Judged &judged) : trace_(trace), judged_(judged)
    {
    }

    size_t At(uint64_t ticks) const
    {
        for (size_t i = 0; i < trace_.nodes.size(); i++)
            if (trace_.nodes[i].enter * 1000 == ticks)
                return i;
        ADD_FAILURE() << "no call at " << ticks;
        return 0;
    }

    /* The operations that the edge's end waits for by it. */
    uint64_t Sources(const struct edge &edge) const
    {
        size_t to = At(edge.to.ticks);
        const Node &from = trace_.nodes[At(edge.from.ticks)];
        uint64_t sources = 0;
        for (size_t i = 0; i < to; i++) {
            const Node &one = trace_.nodes[i];
            bool is = !one.host;
            if (edge.kind == EDGE_FAN_OUT)
                is &= one.legacy;
            else if (edge.kind == EDGE_FIFO)
                is &= one.legacy && one.thread != trace_.nodes[to].thread;
            else if (edge.kind == EDGE_FAN_IN || !from.legacy)
                is &= one.lane == from.lane;
            else
                is &= one.legacy;
            sources |= static_cast<uint64_t>(is) << i;
        }
        return sources;
    }

    /* What the program asks for, and these edges. */
    Order With(const std::function<bool(const struct edge &)> &wanted) const
    {
        Order order = trace_.base;
        for (const struct edge &edge : judged_.edges)
            for (size_t i = 0; wanted(edge) && i < order.size(); i++)
                if (Sources(edge) >> i & 1)
                    order[i] |= uint64_t{1} << At(edge.to.ticks);
        Close(&order);
        return order;
    }

    /* A wait tells the host, unless the host knows when it returns: by explicit order, or (surely) by any other's; or what
     * waits for itself in a call that has not returned yet, of which its thread can have told nobody. */
    bool Told(size_t a, size_t b, bool surely) const
    {
        const Node &one = trace_.nodes[a], &wait = trace_.nodes[b];
        bool told = wait.waits && (one.opaque || one.to_host) && !(surely && one.waits);
        for (size_t c = 0; c < trace_.nodes.size(); c++) {
            const Node &other = trace_.nodes[c];
            if (c != b && other.waits && (c == a || Before(surely ? trace_.full_order : trace_.explicit_order, a, c)))
                told &= surely ? other.leave > wait.leave : other.leave >= wait.leave;
        }
        return told;
    }

    /* A host function may have told the program that the first one was done, before the second was submitted; and would
     * have if legacy order were gone. */
    bool ByHostFunction(size_t a, size_t b) const
    {
        bool told = false;
        for (size_t c = a + 1; c < b; c++)
            told |= trace_.nodes[c].tells && Before(trace_.explicit_order, a, c);
        return told;
    }

    Certainty ConflictOf(size_t a, size_t b) const
    {
        Certainty conflict = Conflict(trace_.nodes[a], trace_.nodes[b]);
        return ByHostFunction(a, b) ? std::min(conflict, MAYBE) : conflict;
    }

    /* The memories about which two operations may conflict, a bit each. */
    static uint64_t Contended(const Node &a, const Node &b)
    {
        uint64_t memories = 0;
        for (const Access &one : a.accesses)
            for (const Access &other : b.accesses)
                memories |= static_cast<uint64_t>(Conflict(one, other) != NO) << one.memory;
        return memories;
    }

    /* The memories that the trace has a race about: even full order leaves two of their accesses unordered. Of other
     * memories all holds that holds without a race. Whoever touches unknown memory races about all. */
    uint64_t Raced() const
    {
        uint64_t memories = 0;
        for (size_t b = 0; b < trace_.nodes.size(); b++)
            for (size_t a = 0; a < b; a++) {
                if (Before(trace_.full_order, a, b) || Conflict(trace_.nodes[a], trace_.nodes[b]) == NO)
                    continue;
                memories |= Contended(trace_.nodes[a], trace_.nodes[b]);
                if (trace_.nodes[a].opaque || trace_.nodes[b].opaque)
                    memories = UINT64_MAX;
            }
        return memories;
    }

    void Orders() const
    {
        const Order all = With([](const struct edge &) { return true; }),
                    sure = With([](const struct edge &edge) { return edge.verdict == VERDICT_NEEDED; });
        const uint64_t raced = Raced();
        for (size_t b = 0; b < trace_.nodes.size(); b++)
            for (size_t a = 0; a < b; a++) {
                if (trace_.nodes[a].host)
                    continue;
                EXPECT_EQ(Before(trace_.full_order, a, b), Before(all, a, b)) << a << " before " << b;
                if (!Before(trace_.full_order, a, b))
                    continue;
                Certainty conflict = ConflictOf(a, b);
                if (Told(a, b, true))
                    conflict = std::max(conflict, MAYBE);
                const bool unsure = (raced & Contended(trace_.nodes[a], trace_.nodes[b])) != 0;
                EXPECT_TRUE(conflict != SURE || unsure || Before(sure, a, b)) << a << " before " << b << " is not held";
            }
        ExpectHeld(With([](const struct edge &edge) { return edge.verdict != VERDICT_NOT_NEEDED; }));
    }

    /* All that the full order orders and that may conflict. */
    void ExpectHeld(const Order &order) const
    {
        for (size_t b = 0; b < trace_.nodes.size(); b++)
            for (size_t a = 0; a < b; a++) {
                const bool matters = !trace_.nodes[a].host && Before(trace_.full_order, a, b) &&
                                     (Conflict(trace_.nodes[a], trace_.nodes[b]) != NO || Told(a, b, true));
                EXPECT_TRUE(!matters || Before(order, a, b)) << a << " before " << b << " is not held at all";
            }
    }

    /* What the edge may be there for. */
    Certainty Most(const struct edge &edge) const
    {
        Certainty most = NO;
        for (size_t b = 0; b < trace_.nodes.size(); b++)
            for (size_t a = 0; a < b; a++)
                if (!trace_.nodes[a].host && Carries(edge, a, b))
                    most = std::max({most, ConflictOf(a, b), Told(a, b, false) ? MAYBE : NO});
        return most;
    }

    /* Whether a sure conflict that the edge is there for, or one that nothing orders, may be in order by a host function.
     */
    bool MayBeByHostFunction(const struct edge &edge) const
    {
        bool may = false;
        for (size_t b = 0; b < trace_.nodes.size(); b++)
            for (size_t a = 0; a < b; a++)
                may |= Conflict(trace_.nodes[a], trace_.nodes[b]) == SURE && ByHostFunction(a, b) &&
                       (!Before(trace_.full_order, a, b) || Carries(edge, a, b));
        return may;
    }

    bool Carries(const struct edge &edge, size_t a, size_t b) const
    {
        size_t to = At(edge.to.ticks);
        uint64_t sources = Sources(edge);
        bool into = to == b || Before(trace_.full_order, to, b), from = false;
        for (size_t i = 0; i < trace_.nodes.size(); i++)
            from |= (sources >> i & 1) && (i == a || Before(trace_.full_order, a, i));
        return into && from && !Before(trace_.explicit_order, a, b);
    }

    void Edges() const
    {
        for (const struct edge &edge : judged_.edges) {
            const Certainty most = Most(edge);
            if (edge.verdict == VERDICT_NEEDED) {
                size_t a = At(edge.pair.first.ticks), b = At(edge.pair.second.ticks);
                EXPECT_EQ(SURE, ConflictOf(a, b)) << a << " and " << b;
                EXPECT_TRUE(Carries(edge, a, b)) << a << " before " << b;
            }
            const bool by_race = Raced() != 0 && edge.verdict == VERDICT_MAYBE_NEEDED;
            EXPECT_TRUE(most != NO || by_race || edge.verdict == VERDICT_NOT_NEEDED);
            EXPECT_TRUE(edge.reason != REASON_LOST || MayBeByHostFunction(edge));
            EXPECT_NE(REASON_LIMIT, edge.reason);
        }
    }

private:
    const Random &trace_;
    const Judged &judged_;
};

} // namespace ptds

#endif
