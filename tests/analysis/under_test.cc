// SPDX-License-Identifier: Apache-2.0
//
// What each policy orders: the whole of implicit_order_under as tables of literals, written down from CUDA's rules and from
// what the policies are said to do; and calls that are replayed under another policy than the one that they were recorded
// under.
#include <gtest/gtest.h>

#include "analysis/model/model_orders.h"
#include "tests/analysis/support.h"
#include "analysis/trace/merge.h"

namespace ptds
{
namespace
{

/* Roles as letters: L legacy, B blocking and per-thread, N non-blocking. */
std::string Letters(unsigned roles)
{
    return std::string(roles & ORDER_OF(ORDER_ROLE_LEGACY) ? "L" : "") +
           (roles & ORDER_OF(ORDER_ROLE_BLOCKING) ? "B" : "") + (roles & ORDER_OF(ORDER_ROLE_NONE) ? "N" : "");
}

enum order_role Role(char letter)
{
    return letter == 'L' ? ORDER_ROLE_LEGACY : letter == 'B' ? ORDER_ROLE_BLOCKING : ORDER_ROLE_NONE;
}

/* "place role after before promised", "-" for nothing. */
std::string Under(unsigned policy, const order_call &call)
{
    static const char *const places[] = {"named", "sent", "own", "per-thread", "shared"};
    auto or_dash = [](const std::string &text) { return text.empty() ? std::string("-") : text; };
    ordered ordered = implicit_order_under(policy, &call);
    return std::string(places[ordered.place]) + " " + Letters(ORDER_OF(ordered.role)) + " " +
           or_dash(Letters(ordered.after)) + " " + or_dash(Letters(ordered.before)) + " " +
           or_dash(Letters(ordered.promised));
}

struct Row {
    const char *what;
    unsigned policy;
    /* A submission on, then a host wait for: the default stream as 0, as 0x1, a blocking and a non-blocking stream. */
    const char *submits[4], *waits[4];
};

const Row rows[] = {
    {"legacy",
     ORDER_LEGACY,
     {"named L LB LB -", "named L LB LB -", "named B L L -", "named N - - -"},
     {"named L LB - -", "named L LB - -", "named B - - -", "named N - - -"}},
    {"explicit",
     ORDER_EXPLICIT,
     {"own N - - -", "own N - - -", "named B - - -", "named N - - -"},
     {"own N - - -", "own N - - -", "named B - - -", "named N - - -"}},
    {"guarded",
     ORDER_GUARDED,
     {"own B L L LB", "named L LB LB LB", "named B L L L", "named N - - -"},
     {"own B - - LB", "named L LB - LB", "named B - - -", "named N - - -"}},
    {"guarded_remapping_explicit",
     ORDER_GUARDED | ORDER_REMAPS_EXPLICIT,
     {"own B L L LB", "own B L L LB", "named B L L L", "named N - - -"},
     {"own B - - LB", "own B - - LB", "named B - - -", "named N - - -"}},
    {"per_thread",
     ORDER_PER_THREAD,
     {"per-thread B L L -", "named L LB LB -", "named B L L -", "named N - - -"},
     {"per-thread B - - -", "named L LB - -", "named B - - -", "named N - - -"}},
    {"per_thread_remapping_explicit",
     ORDER_PER_THREAD | ORDER_REMAPS_EXPLICIT,
     {"per-thread B L L -", "per-thread B L L -", "named B L L -", "named N - - -"},
     {"per-thread B - - -", "per-thread B - - -", "named B - - -", "named N - - -"}},
    {"stream",
     ORDER_STREAM,
     {"shared B L L LB", "named L LB LB LB", "named B L L L", "named N - - -"},
     {"shared B - - LB", "named L LB - LB", "named B - - -", "named N - - -"}},
    {"stream_non_blocking",
     ORDER_STREAM_NON_BLOCKING,
     {"shared N - - LB", "named L LB LB LB", "named B L L L", "named N - - -"},
     {"shared N - - LB", "named L LB - LB", "named B - - -", "named N - - -"}},
};

class OrderUnder : public testing::TestWithParam<Row>
{
};

TEST_P(OrderUnder, IsAsTheTableSays)
{
    const Row &row = GetParam();
    for (unsigned i = 0; i < 4; i++) {
        enum order_role named = Role("LLBN"[i]);
        order_call call = {ORDER_SUBMITS, named, named, i == 1, false};
        EXPECT_EQ(row.submits[i], Under(row.policy, call)) << i;
        call.act = ORDER_WAITS;
        EXPECT_EQ(row.waits[i], Under(row.policy, call)) << i;
        call.act = ORDER_WAITS_FOR_ALL;
        EXPECT_EQ("LBN", Letters(implicit_order_under(row.policy, &call).after)) << i << ": under every policy";
    }
}
INSTANTIATE_TEST_SUITE_P(Policies, OrderUnder, testing::ValuesIn(rows),
                         [](const testing::TestParamInfo<Row> &row) { return std::string(row.param.what); });

TEST(OrderUnderAsRun, GoesByWhereTheWorkWasSent)
{
    for (auto [sent, submits, waits, asked] : {std::tuple("L", "sent L LB LB -", "sent L LB - -", "sent L - - -"),
                                               std::tuple("B", "sent B L L -", "sent B - - -", "sent B - - -"),
                                               std::tuple("N", "sent N - - -", "sent N - - -", "sent N - - -")}) {
        order_call call = {ORDER_SUBMITS, ORDER_ROLE_LEGACY, Role(sent[0]), false, false};
        EXPECT_EQ(submits, Under(ORDER_AS_RUN, call));
        EXPECT_EQ(asked, Under(ORDER_AS_RUN_EXPLICIT, call));
        call.act = ORDER_WAITS;
        EXPECT_EQ(waits, Under(ORDER_AS_RUN, call));
        EXPECT_EQ(asked, Under(ORDER_AS_RUN_EXPLICIT, call));
    }
}

TEST(OrderUnder, WhatNoPolicyMovesStaysWhereItIs)
{
    order_call call = {ORDER_SUBMITS, ORDER_ROLE_LEGACY, ORDER_ROLE_LEGACY, false, true};
    EXPECT_EQ("named L LB LB -", Under(ORDER_PER_THREAD, call));
    EXPECT_EQ("named L LB LB LB", Under(ORDER_GUARDED, call));
    EXPECT_EQ("own N - - -", Under(ORDER_EXPLICIT, call)) << "is no policy of the shim's";
}

TEST(OrderUnder, StreamsHaveTheRoleOfTheirKind)
{
    const std::string roles = "NLBBNBN"; /* by enum ptds_stream_kind */
    for (uint32_t kind = 0; kind < roles.size(); kind++)
        EXPECT_EQ(Role(roles[kind]), implicit_order_role(kind)) << kind;
    EXPECT_EQ(ORDER_ROLE_NONE, implicit_order_role(1000)) << "a kind of a newer trace";
}

unsigned PolicyOf(const std::string &settings)
{
    Built report(BuildTrace(settings + "1@0 launch s=L k=a\n"));
    return implicit_order_policy(&report->trace.defs);
}

TEST(PolicyOfARun, IsWhatItsSettingsSay)
{
    EXPECT_EQ(ORDER_LEGACY, PolicyOf("setting policy=observe\n"));
    EXPECT_EQ(ORDER_LEGACY, PolicyOf("setting policy=none\nsetting PTDS_EXPLICIT_LEGACY=remap\n"));
    EXPECT_EQ(ORDER_GUARDED, PolicyOf("setting policy=guarded\n"));
    EXPECT_EQ(ORDER_PER_THREAD | ORDER_REMAPS_EXPLICIT,
              PolicyOf("setting policy=per-thread\nsetting PTDS_EXPLICIT_LEGACY=remap\n"));
    EXPECT_EQ(ORDER_STREAM, PolicyOf("setting policy=stream\nsetting guard=1\n"));
    EXPECT_EQ(ORDER_STREAM_NON_BLOCKING,
              PolicyOf("setting policy=stream\nsetting guard=1\nsetting PTDS_STREAM=nonblocking,priority=1\n"));
    EXPECT_EQ(ORDER_AS_RUN, PolicyOf("setting policy=stream\n")) << "of an older release";
    EXPECT_EQ(ORDER_AS_RUN, PolicyOf("setting policy=ordered\n")) << "likewise";
    EXPECT_EQ(ORDER_AS_RUN, PolicyOf(""));
    EXPECT_TRUE(implicit_order_promises(ORDER_GUARDED) &&
                implicit_order_promises(ORDER_STREAM_NON_BLOCKING | ORDER_REMAPS_EXPLICIT));
    EXPECT_FALSE(implicit_order_promises(ORDER_PER_THREAD) || implicit_order_promises(ORDER_LEGACY) ||
                 implicit_order_promises(ORDER_AS_RUN));
}

const unsigned replayed[] = {ORDER_LEGACY,     ORDER_GUARDED,
                             ORDER_PER_THREAD, ORDER_PER_THREAD | ORDER_REMAPS_EXPLICIT,
                             ORDER_STREAM,     ORDER_STREAM_NON_BLOCKING,
                             ORDER_EXPLICIT};

/* A letter for each policy of `replayed`: "1" if the first call of the trace comes before the last one under it. */
std::string FirstBeforeLast(const std::string &text)
{
    MemoryTrace memory(BuildTrace(text));
    struct trace trace;
    struct model model;
    merge merged;
    call_view view;
    std::vector<uint32_t> slots;
    std::string found;
    char error[TRACE_ERROR_SIZE];
    EXPECT_EQ(0, trace_read(&trace, memory.source(), error)) << error;
    model_begin(&model, &trace);
    for (unsigned policy : replayed)
        model_orders_replay(&model, policy);
    EXPECT_EQ(0, merge_begin(&merged, &trace));
    while (const call *next = merge_next(&merged)) {
        EXPECT_TRUE(model_enter(&model, next, &view));
        model_leave(&model, &view);
        for (uint32_t i = 0; slots.size() < model.replays.count; i++)
            slots.push_back(model_orders_replay_slot(&model, i, &view));
    }
    for (uint32_t i = 0; i < model.replays.count; i++) {
        uint32_t last = model_orders_replay_slot(&model, i, &view);
        found += order_before(&model.replays.items[i].order, slots[i], 1, last) ? "1" : "0";
    }
    merge_end(&merged);
    model_end(&model);
    trace_close(&trace);
    return found;
}

struct Replayed {
    const char *first, *second, *ordered; /* under: legacy, guarded, per-thread, ... remapping 0x1, stream, ..., explicit */
};
const Replayed pairs[] = {
    {"1@0 launch s=L", "1@10 launch s=L", "1111111"},
    {"1@0 launch s=L", "2@10 launch s=L", "1000110"},
    {"1@0 launch s=L", "1@10 launch s=P1", "1011000"},
    {"1@0 launch s=L", "2@10 launch s=P2", "1000000"},
    {"1@0 launch s=P2", "1@10 launch s=L", "1000000"},
    {"1@0 launch s=L", "1@10 launch s=B1", "1000000"},
    {"1@0 launch s=B1", "1@10 launch s=L", "1000000"},
    {"1@0 launch s=L", "1@10 launch s=N1", "0000000"},
    {"1@0 launch s=N1", "1@10 launch s=L", "0000000"},
    {"1@0 launch s=L explicit", "1@10 launch s=L", "1111101"},
    {"1@0 launch s=L explicit", "2@10 launch s=L", "1110100"},
    {"2@0 launch s=L", "1@10 launch s=L explicit", "1110100"},
    {"1@0 launch s=L explicit", "1@10 launch s=B1", "1110110"},
    {"1@0 launch s=B1", "1@10 launch s=L explicit", "1110110"},
    {"1@0 launch s=B1", "1@10 launch s=B2", "0000000"},
    {"1@0 launch s=B1", "2@10 launch s=B1", "1111111"},
    {"1@0 launch s=L", "2@10 launch s=L kept-refused", "1111100"},
    /* The host waits in between, and so the last one comes after what it waited for. */
    {"1@0 launch s=B1", "1@10+5 sync s=L\n1@20 launch s=N1", "1000000"},
    {"1@0 launch s=L", "1@10+5 sync s=L\n1@20 launch s=N1", "1111111"},
    {"2@0 launch s=L", "1@10+5 sync s=L\n1@20 launch s=N1", "1000110"},
    {"2@0 launch s=L", "1@10+5 sync s=L explicit\n1@20 launch s=N1", "1110100"},
    {"2@0 launch s=L", "1@10+5 sync s=B1\n1@20 launch s=N1", "0000000"},
    {"2@0 launch s=L", "1@10+5 ctx-sync\n1@20 launch s=N1", "1111111"},
    {"1@0 launch s=B1", "1@10+5 copy s=L implicit from=device to=pageable bytes=4\n1@20 launch s=N1", "1000000"},
    /* An event carries what its stream comes after. */
    {"2@0 launch s=L", "1@10 record s=L e=E\n1@20 wait s=N1 e=E", "1000110"},
    {"1@0 launch s=B1", "1@10 record s=L explicit e=E\n1@20 wait s=N1 e=E", "1110110"},
};

TEST(Replayed, UnderEachPolicyAsItsTableSays)
{
    for (const Replayed &pair : pairs)
        EXPECT_EQ(pair.ordered, FirstBeforeLast(std::string(pair.first) + "\n" + pair.second + "\n"))
            << pair.first << ", " << pair.second;
}

/* What was recorded under a policy that moved it, as the program is without one, and under others. */
TEST(Replayed, FromWhereverItWasRecorded)
{
    EXPECT_EQ("1000110", FirstBeforeLast("1@0 launch s=L to=P1\n2@10 launch s=L to=P2\n"));
    EXPECT_EQ("1000000", FirstBeforeLast("1@0 launch s=L to=S1\n1@10 launch s=B1\n"));
    EXPECT_EQ("1000110", FirstBeforeLast("1@0 launch s=L to=P1\n2@10+5 sync s=L to=P2\n2@20 launch s=N1\n"));
    EXPECT_EQ("1000110", FirstBeforeLast("1@0 launch s=L to=S1\n2@10 launch s=L to=S2 behind=S1\n")) << "the shim's own";
}

} // namespace
} // namespace ptds
