/* SPDX-License-Identifier: Apache-2.0
 *
 * The records of launches, on the simulated driver: their words, the same record by whichever way, and when a thread gets
 * the chunks that they lie in.
 */
#include <unistd.h>

#include <map>
#include <set>

#include "tests/interpose/recorded.h"

namespace ptds
{
namespace
{

Recorded record(const std::vector<std::string> &mode, const std::string &policy = "observe", const Settings &more = {})
{
    return record_of("launch_child", mode, policy, more);
}

TEST(Launches, PointersSayWhereTheyLay)
{
    Recorded recorded = record({"launches"});
    unsigned long long memory = 0;
    ASSERT_EQ(sscanf(recorded.outcome.out.c_str(), "memory %llx", &memory), 1);
    std::vector<std::string> launches = recorded.calls_bytes(PTDS_OP_LAUNCH);
    ASSERT_EQ(launches.size(), 2u);
    for (const std::string &launch : launches) { /* by parameters, then by a buffer */
        std::vector<uint64_t> words = words_of(launch);
        ASSERT_EQ(words.size(), 6u);
        for (uint64_t i = 0; i < 3; i++) {
            EXPECT_EQ(words[3 + i] & PTDS_LAUNCH_ADDRESS_MASK, memory + 1024 * i);
            EXPECT_EQ(words[3 + i] >> PTDS_LAUNCH_ADDRESS_BITS, i);
        }
    }
}

TEST(Launches, MemoryThatNoWordNamesIsNamed)
{
    Recorded recorded = record({"ends"});
    std::vector<std::string> launches = recorded.calls_bytes(PTDS_OP_LAUNCH);
    std::vector<ptds_rec_CALL> made = recorded.calls(PTDS_OP_ALLOC);
    ASSERT_EQ(launches.size(), 3u);
    ASSERT_GE(made.size(), 2u);
    EXPECT_EQ(words_of(launches[0]).size(), 6u) << "a shape and three words";
    const uint64_t one = made[made.size() - 2].object, other = made.back().object;
    const uint64_t writes = PTDS_REACHES_WRITE << PTDS_LAUNCH_ADDRESS_BITS,
                   reads = PTDS_REACHES_READ << PTDS_LAUNCH_ADDRESS_BITS;
    std::vector<uint64_t> words = words_of(launches[1]);
    ASSERT_EQ(words.size(), 7u) << "the end of what another word names, and beside that";
    EXPECT_EQ(words[6], one | writes);
    words = words_of(launches[2]);
    ASSERT_EQ(words.size(), 8u);
    EXPECT_EQ(words[6], one | writes);
    EXPECT_EQ(words[7], other | reads);
}

/* All but when. */
std::string without_time(std::string record)
{
    return record.replace(offsetof(ptds_rec_CALL, enter), sizeof(uint64_t), sizeof(uint64_t), '-');
}

/* Of a stack, where the driver call returns to; 0 unknown. */
uint64_t caller_of(const Recorded &recorded, uint32_t id)
{
    for (const auto &[kind, bytes] : recorded.trace.records) {
        ptds_rec_STACK stack;
        uint64_t pc = 0;
        if (kind != PTDS_REC_STACK)
            continue;
        memcpy(&stack, bytes.data(), sizeof stack);
        memcpy(&pc, bytes.data() + sizeof stack, sizeof pc);
        if (stack.id == id)
            return pc;
    }
    return 0;
}

/* The name of the file that it lies in. */
std::string object_of(const Recorded &recorded, uint64_t pc)
{
    for (const auto &[kind, bytes] : recorded.trace.records) {
        ptds_rec_OBJECT object;
        if (kind != PTDS_REC_OBJECT)
            continue;
        memcpy(&object, bytes.data(), sizeof object);
        std::string path = bytes.substr(sizeof object).c_str();
        if (pc >= object.base && pc < object.end)
            return path.substr(path.rfind('/') + 1);
    }
    return "";
}

/* The first one of each kind is looked at in full, most others go the guard's short way. With one lane: a thread that looks
 * whether more lanes pay also looks at parts of memories. */
TEST(Launches, AreRecordedAlikeByEveryWay)
{
    enum { TIMES = 200 };
    Recorded recorded = record({"again", std::to_string(TIMES)}, "guarded", {{"PTDS_LANES", "1"}});
    EXPECT_EQ(recorded.outcome.out, "failed 0\n");
    std::vector<std::string> launches = recorded.calls_bytes(PTDS_OP_LAUNCH);
    ASSERT_EQ(launches.size(), 2u * TIMES);
    for (size_t i = 0; i < launches.size(); i++)
        ASSERT_EQ(without_time(launches[i]), without_time(launches[i / TIMES * TIMES])) << i;
    std::vector<ptds_rec_CALL> calls = recorded.calls(PTDS_OP_LAUNCH);
    for (size_t i = 1; i < calls.size(); i++)
        EXPECT_GT(calls[i].enter, calls[i - 1].enter) << i;
    EXPECT_NE(calls[0].stack, calls[TIMES].stack);
    EXPECT_EQ(object_of(recorded, caller_of(recorded, calls[0].stack)), "launch_child");
    EXPECT_EQ(object_of(recorded, caller_of(recorded, calls[TIMES].stack)), "launch_child");
    EXPECT_EQ(calls[0].flags, PTDS_CALL_LEGACY | PTDS_CALL_REMAPPED);
    EXPECT_EQ(words_of(launches[0]).size(), 6u);
    EXPECT_EQ(words_of(launches[0])[0], 2u | 3ull << 32);
    EXPECT_EQ(words_of(launches[0])[1], 4u);
    EXPECT_EQ(words_of(launches[0])[2], 5u | 6ull << 16 | 7ull << 32);
    EXPECT_EQ(recorded.trace.counts["cuLaunchKernel"], 1u * TIMES);
    EXPECT_EQ(recorded.trace.counts["cuLaunchKernelEx"], 1u * TIMES);
    ptds_default_count counts = default_counts(recorded.bytes);
    EXPECT_EQ(counts.legacy, 2u * TIMES);
    EXPECT_EQ(counts.kept + counts.failed, 0u);
}

TEST(Launches, AreRecordedAlikeWhereOldRecordsWere)
{
    Recorded recorded = record({"again", "12000"}, "guarded", {{"PTDS_TRACE_LIMIT", "1M"}});
    EXPECT_GT(recorded.trace.header.recycled, 0u);
    std::vector<std::string> launches = recorded.calls_bytes(PTDS_OP_LAUNCH);
    std::map<uint16_t, std::string> first;
    ASSERT_GT(launches.size(), 5000u);
    for (const std::string &launch : launches) {
        ptds_rec_CALL call;
        memcpy(&call, launch.data(), sizeof call);
        ASSERT_EQ(without_time(launch), first.emplace(call.api, without_time(launch)).first->second);
    }
    EXPECT_EQ(recorded.trace.counts["cuLaunchKernel"], 12000u);
    EXPECT_EQ(recorded.trace.counts["cuLaunchKernelEx"], 12000u);
}

TEST(Launches, ThatFailAreRecordedAlikeToo)
{
    enum { TIMES = 100 };
    Recorded recorded = record({"again", std::to_string(TIMES)}, "guarded",
                               {{"PTDS_LANES", "1"}, {"SIM_FAIL", "cuLaunchKernel:60:700,cuLaunchKernelEx:70:701"}});
    EXPECT_EQ(recorded.outcome.out, "failed 2\n");
    std::vector<std::string> launches = recorded.calls_bytes(PTDS_OP_LAUNCH);
    ASSERT_EQ(launches.size(), 2u * TIMES);
    for (size_t i = 0; i < launches.size(); i++) {
        ptds_rec_CALL call;
        std::string record = launches[i];
        memcpy(&call, record.data(), sizeof call);
        EXPECT_EQ(call.result, i == 59 ? 700 : i == TIMES + 69 ? 701 : 0) << i;
        record.replace(offsetof(ptds_rec_CALL, result), sizeof call.result, sizeof call.result, '\0');
        ASSERT_EQ(without_time(record), without_time(launches[i / TIMES * TIMES])) << i;
    }
    ptds_default_count counts = default_counts(recorded.bytes);
    EXPECT_EQ(counts.legacy, 2u * TIMES);
    EXPECT_EQ(counts.failed, 2u);
    EXPECT_EQ(counts.kept, 0u);
}

/* Whichever way they are recorded. */
TEST(Launches, SayWhetherACaptureWasOpen)
{
    for (const char *policy : {"observe", "per-thread", "guarded"}) {
        Recorded recorded = record({"beside-a-capture", "30"}, policy);
        for (uint8_t op : {PTDS_OP_LAUNCH, PTDS_OP_EVENT_CREATE, PTDS_OP_EVENT_DESTROY}) {
            std::vector<ptds_rec_CALL> calls = recorded.calls(op);
            ASSERT_EQ(calls.size(), 30u) << policy;
            for (size_t i = 0; i < calls.size(); i++)
                EXPECT_EQ((calls[i].flags & PTDS_CALL_CAPTURE_OPEN) != 0, i >= 10 && i < 20)
                    << policy << " " << i << " " << int{op};
        }
        EXPECT_EQ(recorded.trace.counts["cuLaunchKernel"], 30u) << policy;
    }
}

/* A place that is reached by ever new ways has the first 47 of them looked at, and later one where their number doubles. */
TEST(Launches, FromWaysWithoutEnd)
{
    Recorded recorded = record({"depths", "300"});
    std::map<uint32_t, uint32_t> frames;
    for (const ptds_rec_STACK &stack : recorded.all<ptds_rec_STACK>(PTDS_REC_STACK))
        frames[stack.id] = stack.count;
    std::vector<ptds_rec_CALL> launches = recorded.calls(PTDS_OP_LAUNCH);
    ASSERT_EQ(launches.size(), 300u);
    std::set<size_t> whole;
    for (size_t i = 0; i < launches.size(); i++)
        if (frames[launches[i].stack] > 1)
            whole.insert(i);
    std::set<size_t> expected = {63, 127, 255};
    for (size_t i = 0; i < 47; i++)
        expected.insert(i);
    EXPECT_EQ(whole, expected);
}

/* What a reader of another version goes by: the layout of records, as text, to its last letter. */
TEST(Header, SaysWhoWroteItAndHow)
{
    Recorded recorded = record({"launches"});
    const ptds_trace_header &header = recorded.trace.header;
    EXPECT_EQ(header.chunk_size, PTDS_CHUNK_SIZE);
    EXPECT_EQ(header.call_size, sizeof(ptds_rec_CALL));
    EXPECT_EQ(header.pid, uint32_t(recorded.outcome.pid));
    EXPECT_EQ(header.parent_pid, uint32_t(getpid()));
    EXPECT_EQ(header.rank, -1);
    EXPECT_EQ(header.ranks, -1);
    EXPECT_EQ(header.clean_end, 1u);
    EXPECT_EQ(header.recycled + header.refused + header.uncounted + header.run, 0u);
    EXPECT_NE(header.born, 0u);
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    EXPECT_STREQ(header.host, host);
    EXPECT_STREQ(strrchr(header.program, '/'), "/launch_child");
    EXPECT_TRUE(isdigit(header.shim[0]) && strchr(header.shim, '.')) << header.shim;
    std::string schema;
#define u64 "u64"
#define REC(NAME, id, doc, fields) schema += std::string(#NAME " " #id " ") + fields + "\n";
#define F(type, name, doc) #name ":" #type " "
#define TAIL(type, name, doc) #name ":" #type "..."
#include "interpose/trace/records.def"
#undef u64
    EXPECT_GT(schema.size(), 1000u);
    ASSERT_LE(header.schema_offset + schema.size(), size_t{PTDS_HEADER_SIZE});
    EXPECT_EQ(header.schema_offset, 4096u);
    EXPECT_EQ(recorded.bytes.substr(header.schema_offset, header.schema_size), schema);
}

/* A thread that waits after it has recorded much has its next chunk when it goes on. */
TEST(Chunks, ComeWhileAThreadWaits)
{
    EXPECT_EQ(record({"rounds", "0"}).trace.empty, 0) << "it did not wait";
    EXPECT_EQ(record({"rounds", "1"}).trace.empty, 1);
    EXPECT_EQ(record({"thread-rounds", "1"}).trace.empty, 0) << "it has ended and given it back";
    Recorded many = record({"rounds", "50"}, "guarded");
    EXPECT_EQ(many.trace.calls("cuLaunchKernel"), 50u * 100u);
    EXPECT_EQ(many.trace.counts["cuLaunchKernel"], 50u * 100u);
}

/* Once chunks go round, none is taken before it is needed: that would only cost detail. */
TEST(Chunks, DoNotComeAheadAtTheLimit)
{
    Recorded full = record({"rounds", "100"}, "observe", {{"PTDS_TRACE_LIMIT", "1M"}});
    EXPECT_GT(full.trace.header.recycled, 0u);
    EXPECT_EQ(full.trace.empty, 0);
    EXPECT_EQ(full.trace.counts["cuLaunchKernel"], 100u * 100u);
}

} // namespace
} // namespace ptds
