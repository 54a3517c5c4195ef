/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands in a bounded trace for the call of an allocation (record/rescue.c): all that a reader knows of it from the
 * call, and only where the memory is there still.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

extern "C" {
#include "interpose/record/file/rescue.h"
#include "interpose/state/thread.h"
}

namespace
{

std::set<uint32_t> g_there;

int is_there(const struct ptds_rec_MEMORY *memory)
{
    return g_there.count(memory->uid) != 0;
}

class Rescued : public testing::Test
{
protected:
    void SetUp() override
    {
        before_ = rescue_memory_is_there;
        rescue_memory_is_there = is_there;
        g_there = {11, 12, 13, 14, 15};
    }
    void TearDown() override
    {
        rescue_memory_is_there = before_;
    }
    void add(uint8_t op, uint32_t object, const std::vector<uint64_t> &words, uint32_t result = 0)
    {
        struct ptds_rec_CALL call = {};
        const size_t at = records_.size(), size = sizeof call + words.size() * sizeof(uint64_t);
        call.record = {PTDS_REC_CALL, uint16_t(size), 0};
        call.enter = 5;
        call.op = op;
        call.object = object;
        call.result = uint16_t(result);
        call.context = 3;
        records_.resize(at + size);
        memcpy(records_.data() + at, &call, sizeof call);
        memcpy(records_.data() + at + sizeof call, words.data(), words.size() * sizeof(uint64_t));
    }
    std::vector<struct ptds_rec_MEMORY> packed()
    {
        std::vector<struct ptds_rec_MEMORY> found;
        const size_t bytes = rescue_pack(records_.data(), records_.size());
        found.resize(bytes / sizeof found[0]);
        EXPECT_EQ(0u, bytes % sizeof found[0]);
        memcpy(static_cast<void *>(found.data()), records_.data(), bytes);
        return found;
    }
    int (*before_)(const struct ptds_rec_MEMORY *) = nullptr;
    std::vector<uint8_t> records_;
};

TEST_F(Rescued, AllThatTheCallSaid)
{
    add(PTDS_OP_ALLOC, 11, {0x1000, 64, PTDS_MEMORY_MAPPED, 21, 22});
    add(PTDS_OP_ALLOC_ASYNC, 12, {0x2000, 32, PTDS_MEMORY_POOL});
    add(PTDS_OP_ALLOC, 13, {0x3000, 16, PTDS_MEMORY_DEVICE, 23});
    const auto all = packed();
    ASSERT_EQ(3u, all.size());
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT_EQ(PTDS_REC_MEMORY, all[i].record.kind);
        EXPECT_EQ(sizeof all[i], all[i].record.size);
        EXPECT_EQ(5u, all[i].ticks);
        EXPECT_EQ(3u, all[i].context);
        EXPECT_EQ(11 + i, all[i].uid);
        EXPECT_EQ(0x1000u * (i + 1), all[i].address);
        EXPECT_EQ(64u >> i, all[i].bytes);
        EXPECT_EQ(i == 0 ? 21u : i == 2 ? 23u : 0u, all[i].part_of);
        EXPECT_EQ(i == 0 ? 22u : 0u, all[i].same_as);
    }
    EXPECT_EQ(uint32_t{PTDS_MEMORY_MAPPED}, all[0].kind);
    EXPECT_EQ(uint32_t{PTDS_MEMORY_POOL}, all[1].kind);
}

TEST_F(Rescued, NothingElse)
{
    add(PTDS_OP_ALLOC, 11, {0x1000, 64, PTDS_MEMORY_DEVICE}, 2);
    add(PTDS_OP_ALLOC, 0, {0x1000, 64, PTDS_MEMORY_DEVICE});
    add(PTDS_OP_ALLOC, 12, {0x1000, 64});
    add(PTDS_OP_MEMSET, 13, {0x1000, 64, PTDS_MEMORY_DEVICE});
    add(PTDS_OP_ALLOC, 99, {0x1000, 64, PTDS_MEMORY_DEVICE});
    add(PTDS_OP_ALLOC, 14, {0x4000, 64, PTDS_MEMORY_DEVICE});
    const auto all = packed();
    ASSERT_EQ(1u, all.size());
    EXPECT_EQ(14u, all[0].uid);
}

/* Of a record that says it goes on beyond the end nothing is known. */
TEST_F(Rescued, NotWhatIsCutOff)
{
    add(PTDS_OP_ALLOC, 11, {0x1000, 64, PTDS_MEMORY_DEVICE});
    add(PTDS_OP_ALLOC, 12, {0x2000, 64, PTDS_MEMORY_DEVICE});
    const std::vector<uint8_t> whole = records_;
    for (size_t bytes = whole.size() / 2; bytes < whole.size(); bytes += 8) {
        records_ = whole;
        EXPECT_EQ(sizeof(struct ptds_rec_MEMORY), rescue_pack(records_.data(), bytes)) << bytes;
    }
}

/* The record may come into this chunk or the next. */
TEST_F(Rescued, WhoAllocatesSaysSoForThisChunkAndTheNext)
{
    struct ptds_chunk chunk = {};
    struct thread thread = {};
    thread.chunk = &chunk;
    rescue_allocates(&thread);
    EXPECT_EQ(1u, chunk.holds);
    EXPECT_EQ(1u, thread.allocates);
    thread.chunk = nullptr;
    thread.allocates = 0;
    rescue_allocates(&thread);
    EXPECT_EQ(1u, thread.allocates);
}

} // namespace
