/* SPDX-License-Identifier: Apache-2.0
 *
 * A bounded trace of a long program: what was allocated early and is still there can be found in it, in its call or in what
 * stands for it; what is gone leaves it.
 */
#include <sstream>

#include "tests/interpose/recorded.h"

namespace ptds
{
namespace
{

using Memories = std::multiset<std::pair<uint64_t, uint32_t>>; /* addresses and kinds */

struct Told {
    Memories standing_in, called; /* MEMORY records; allocations' calls */
};

Told memories_in(const Walk &trace)
{
    Told found;
    for (const auto &[kind, bytes] : trace.records) {
        if (kind == PTDS_REC_MEMORY) {
            ptds_rec_MEMORY memory;
            memcpy(&memory, bytes.data(), sizeof memory);
            EXPECT_NE(memory.uid, 0u);
            EXPECT_NE(memory.ticks, 0u);
            found.standing_in.insert({memory.address, memory.kind});
        }
        if (kind == PTDS_REC_CALL) {
            ptds_rec_CALL call;
            uint64_t word[3] = {};
            memcpy(&call, bytes.data(), sizeof call);
            memcpy(word, bytes.data() + sizeof call, std::min(sizeof word, bytes.size() - sizeof call));
            if (call.op == PTDS_OP_ALLOC || call.op == PTDS_OP_ALLOC_ASYNC)
                found.called.insert({word[0], static_cast<uint32_t>(word[2])});
        }
    }
    return found;
}

Memories said(const std::string &text)
{
    Memories found;
    std::istringstream lines(text);
    for (std::pair<uint64_t, uint32_t> one; lines >> one.first >> one.second;)
        found.insert(one);
    return found;
}

struct Result {
    Walk trace;
    Memories there;
    Told told;
};

Result record(const std::string &mode, int count)
{
    Recorded recorded = record_of("memories_child", {mode, std::to_string(count)}, "observe", {{"PTDS_TRACE_LIMIT", "1M"}});
    Result result = {recorded.trace, said(recorded.outcome.out), memories_in(recorded.trace)};
    EXPECT_GT(result.trace.header.recycled, 20u);
    return result;
}

size_t missing(const Result &result)
{
    size_t missing = 0;
    for (const auto &one : result.there)
        missing += result.told.standing_in.count(one) + result.told.called.count(one) == 0;
    return missing;
}

TEST(Rescue, EveryKindOfMemoryStaysInTheTrace)
{
    Result result = record("kinds", 30000);
    EXPECT_EQ(result.there.size(), 8u);
    EXPECT_EQ(result.trace.header.refused, 0u);
    EXPECT_EQ(result.told.called, Memories{});
    Memories standing_in;
    for (const auto &one : result.told.standing_in) {
        if (one.second != PTDS_MEMORY_GLOBAL) /* of the kernels' module */
            standing_in.insert(one);
    }
    EXPECT_EQ(standing_in, result.there); /* and not what was freed */
}

TEST(Rescue, TakesRoomByWhatIsThere)
{
    constexpr int COUNT = 6000;
    Result result = record("passing", COUNT);
    EXPECT_EQ(result.there.size(), 600u);
    EXPECT_EQ(missing(result), 0u);
    EXPECT_EQ(result.trace.header.refused, 0u);
    EXPECT_GT(result.told.standing_in.size(), 300u);
    EXPECT_LT(result.told.standing_in.size(), size_t{COUNT} / 2);
    EXPECT_EQ(result.trace.counts["cuMemAlloc_v2"], uint64_t{2 * COUNT});
}

TEST(Rescue, LeavesRoomForCalls)
{
    Result result = record("many", 15000);
    size_t bytes = result.told.standing_in.size() * sizeof(ptds_rec_MEMORY);
    EXPECT_GT(bytes, size_t{400} << 10);
    EXPECT_LT(bytes, size_t{560} << 10);
    EXPECT_GT(missing(result), 0u);
    EXPECT_GE(result.trace.header.refused, missing(result)) << "and that they are is told";
    EXPECT_GT(result.trace.calls("cuMemsetD8Async"), 3000u);
}

} // namespace
} // namespace ptds
