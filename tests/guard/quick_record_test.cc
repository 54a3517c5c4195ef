/* SPDX-License-Identifier: Apache-2.0
 *
 * The record of a launch that goes the short way (record/quick_record.h): when there is one, and what takes its place.
 */
#include <gtest/gtest.h>

#include <vector>

extern "C" {
#include "interpose/record/append.h"
#include "interpose/record/quick_record.h"
#include "interpose/record/recorder.h"
}

namespace
{

class QuickRecord : public testing::Test
{
protected:
    void SetUp() override
    {
        thread_.chunk = reinterpret_cast<struct ptds_chunk *>(chunk_.data());
        thread_.chunk_at = reinterpret_cast<uint8_t *>(thread_.chunk + 1);
        thread_.chunk_end = reinterpret_cast<uint8_t *>(chunk_.data() + chunk_.size());
        thread_.counts = counts_.data();
        thread_.defaults = &defaults_;
        thread_.stacks = stacks_.data();
        *way() = {.caller = kCaller, .frame = &kCaller, .id = 7, .checked = 0, .refused = 0, .outer = {}, .unused = 0};
        recorder_running = 1;
    }
    void TearDown() override
    {
        EXPECT_TRUE(begin()) << "as before";
        recorder_running = 0;
    }
    struct stack_entry *way()
    {
        return stacks_entry(&thread_, kCaller, &kCaller);
    }
    struct ptds_rec_CALL *begin()
    {
        return quick_record_begin(&thread_, kCaller, &kCaller);
    }
    int end(struct ptds_rec_CALL *record, CUresult result = CUDA_SUCCESS)
    {
        return quick_record_end(&thread_, record, {API_cuLaunchKernel, 1, 2, 3, 4, 5}, result);
    }
    /* begin(), while something is otherwise. */
    template <class T> bool begins_with(T *place, T value)
    {
        const T before = *place;
        *place = value;
        const bool begun = begin() != nullptr;
        *place = before;
        return begun;
    }
    uint64_t calls() const
    {
        return counts_[API_cuLaunchKernel * 2].calls;
    }
    static constexpr size_t kMost = sizeof(struct ptds_rec_CALL) + CALL_WORDS * sizeof(uint64_t);
    static constexpr const void *kCaller = nullptr;
    std::vector<uint64_t> chunk_ = std::vector<uint64_t>(PTDS_CHUNK_SIZE / 8);
    std::vector<struct ptds_count> counts_{API_COUNT * 2};
    struct ptds_default_count defaults_ = {};
    std::vector<struct stack_entry> stacks_{STACKS_PLACES};
    struct thread thread_ = {};
};

TEST_F(QuickRecord, IsThereOnceTheLaunchIsMade)
{
    thread_.region = 9;
    struct ptds_rec_CALL *record = begin();
    ASSERT_TRUE(record);
    EXPECT_EQ(0u, thread_.chunk->committed);
    EXPECT_EQ(1, end(record));
    EXPECT_EQ(sizeof *record + 5 * sizeof(uint64_t), thread_.chunk->committed);
    EXPECT_EQ(thread_.chunk->committed, record->record.size);
    EXPECT_EQ(7u, record->stack);
    EXPECT_EQ(9u, record->region);
    EXPECT_EQ(1u, calls());
    EXPECT_EQ(1u, counts_[API_cuLaunchKernel * 2].remapped);
    EXPECT_EQ(1u, defaults_.legacy);
    EXPECT_NE(record, begin());
}

TEST_F(QuickRecord, GivesWayToOneThatComesBetween)
{
    struct ptds_rec_CALL *record = begin();
    ASSERT_TRUE(record);
    auto *other =
        static_cast<struct ptds_rec_EDGE *>(append_reserve(&thread_, PTDS_REC_EDGE, sizeof(struct ptds_rec_EDGE)));
    append_commit(&thread_);
    EXPECT_EQ(0, end(record));
    EXPECT_EQ(0u, calls());
    EXPECT_EQ(sizeof *other, thread_.chunk->committed);
    EXPECT_EQ(PTDS_REC_EDGE, other->record.kind);
}

TEST_F(QuickRecord, IsNotThereWhereTheCallFailsOrACaptureIsOpen)
{
    EXPECT_EQ(0, end(begin(), CUDA_ERROR_LAUNCH_FAILED));
    struct ptds_rec_CALL *record = begin();
    captures_open = 1;
    EXPECT_EQ(0, end(record));
    captures_open = 0;
    EXPECT_EQ(0u, calls());
    EXPECT_EQ(0u, thread_.chunk->committed);
}

TEST_F(QuickRecord, IsNotBegunWhereAnythingIsUnusual)
{
    EXPECT_FALSE(begins_with(&recorder_running, 2u));
    EXPECT_FALSE(begins_with(&log_file, 2));
    EXPECT_FALSE(begins_with(&device_times_on, 1u));
    EXPECT_FALSE(begins_with(&thread_.counts, static_cast<struct ptds_count *>(nullptr)));
    EXPECT_FALSE(begins_with(&thread_.stacks, static_cast<struct stack_entry *>(nullptr)));
    EXPECT_FALSE(begins_with(&way()->refused, uint16_t(5)));
    EXPECT_FALSE(begins_with(&way()->caller, static_cast<const void *>(this)));
    EXPECT_TRUE(begins_with(&thread_.chunk_at, thread_.chunk_end - kMost));
    EXPECT_FALSE(begins_with(&thread_.chunk_at, thread_.chunk_end - kMost + 8));
}

} // namespace
