/* SPDX-License-Identifier: Apache-2.0
 *
 * How much room definitions take, and what a forked child has of them.
 */
#include "tests/record/recording.h"

#include <algorithm>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include "interpose/record/file/define.h"
#include "interpose/record/file/rescue.h"
#include "interpose/record/file/store.h"
#include "interpose/record/recorder.h"
#include "interpose/record/start.h"
}

namespace
{

class Room : public Recording
{
protected:
    static size_t chunks_of_definitions()
    {
        size_t found = 0;
        for (uint64_t i = 0; store_chunk_at(i) != nullptr; i++)
            found += store_chunk_at(i)->kind == PTDS_CHUNK_DEFINITIONS;
        return found;
    }
    static size_t memories()
    {
        return all<ptds_rec_MEMORY>(PTDS_REC_MEMORY).size();
    }
    static void define_one()
    {
        ptds_rec_MEMORY memory = {};
        memory.record = {PTDS_REC_MEMORY, sizeof memory, 0};
        memory.uid = 1;
        define_memories(reinterpret_cast<const uint8_t *>(&memory), sizeof memory);
    }
};

/* Its trace is another one: what its parent had named is named again, from 1 on. */
TEST_F(Room, AForkedChildBeginsAgain)
{
    const uint32_t first = define_string(PTDS_ROLE_REGION, "solve"), second = define_string(PTDS_ROLE_REGION, "step");
    EXPECT_EQ(second, first + 1);
    recorder_after_fork();
    start_recording();
    ASSERT_TRUE(recorder_on());
    EXPECT_EQ(1u, define_string(PTDS_ROLE_REGION, "step"));
    EXPECT_EQ(2u, define_string(PTDS_ROLE_REGION, "solve"));
    EXPECT_EQ((std::vector<std::string>{"step", "solve"}), texts<ptds_rec_STRING>(PTDS_REC_STRING));
}

/* Each takes as little as two of them. */
TEST_F(Room, ClocksOfALongProgram)
{
    size_t old;
    while (struct ptds_chunk *calls = store_chunk(PTDS_CHUNK_CALLS, 1, &old)) {
        store_chunk_full(calls);
        if (store_header()->recycled)
            break;
    }
    ASSERT_NE(0u, store_header()->recycled);
    const uint64_t first = all<ptds_rec_CLOCK>(PTDS_REC_CLOCK).front().ticks;
    for (size_t i = 0; i < 40 * PTDS_CHUNK_SIZE / sizeof(ptds_rec_CLOCK); i++)
        define_clocks();
    EXPECT_LE(chunks_of_definitions(), 13u);
    const std::vector<ptds_rec_CLOCK> left = all<ptds_rec_CLOCK>(PTDS_REC_CLOCK);
    EXPECT_TRUE(std::any_of(left.begin(), left.end(), [=](const ptds_rec_CLOCK &one) { return one.ticks == first; }));
    EXPECT_EQ(0u, store_header()->refused);
}

/* ---- forks in a signal handler, which has interrupted a definition ---- */

std::function<void()> g_interrupts;

class Interrupted : public Room
{
protected:
    /* The next chunk is an old one with an allocation, about which somebody is asked. */
    void SetUp() override
    {
        Room::SetUp();
        size_t old;
        struct call call = made(API_cuMemAlloc_v2, PTDS_OP_ALLOC);
        call.object = 9;
        call.words = 3;
        rescue_allocates(&thread_);
        record(call);
        struct ptds_chunk *calls = thread_.chunk;
        while (store_chunk(PTDS_CHUNK_CALLS, 1, &old)) {
        }
        while (store_chunk(PTDS_CHUNK_DEFINITIONS, 1, &old)) {
        }
        store_chunk_full(calls);
        rescue_memory_is_there = [](const ptds_rec_MEMORY *) {
            if (g_interrupts)
                g_interrupts();
            g_interrupts = nullptr;
            return 1;
        };
    }
    void TearDown() override
    {
        rescue_memory_is_there = nullptr;
        Room::TearDown();
    }
    static void define_until_it_happens()
    {
        for (uint32_t i = 0; i < 4096 && g_interrupts; i++)
            recorder_process(PTDS_PROCESS_EXIT, i);
        EXPECT_FALSE(g_interrupts);
    }
    static size_t forks()
    {
        size_t count = 0;
        for (const ptds_rec_PROCESS &one : all<ptds_rec_PROCESS>(PTDS_REC_PROCESS)) {
            count += one.what == PTDS_PROCESS_FORK;
            EXPECT_NE(0u, one.ticks);
        }
        return count;
    }
};

TEST_F(Interrupted, AForkWaitsForNobody)
{
    recorder_fork();
    EXPECT_EQ(1u, forks());
    g_interrupts = [] {
        recorder_fork();
        recorder_fork();
        EXPECT_EQ(1u, forks());
    };
    define_until_it_happens();
    EXPECT_EQ(3u, forks()) << "with the next definition";
    EXPECT_EQ(1u, memories());
}

/* A new chunk may be what was interrupted. */
TEST_F(Interrupted, AForkTakesNoChunk)
{
    size_t count = 0;
    while (forks() == count) {
        recorder_fork();
        count++;
        ASSERT_LT(count, 4096u);
    }
    EXPECT_EQ(0u, memories());
    recorder_fork();
    EXPECT_EQ(count - 1, forks());
    recorder_process(PTDS_PROCESS_EXIT, 1);
    EXPECT_EQ(count + 1, forks());
}

/* What its parent was at goes on, and comes to nothing. */
TEST_F(Interrupted, TheChildGoesOn)
{
    pid_t child = -1;
    g_interrupts = [&] {
        child = fork();
        if (child == 0)
            recorder_after_fork();
    };
    define_until_it_happens();
    if (child == 0)
        _exit(!recorder_on() && !store_header() ? 0 : 1);
    int status = -1;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
    EXPECT_EQ(1u, memories());
}

/* ---- */

/* Memories that were rescued have half of the trace with all other definitions; what is beyond that is not written, until
 * as much was refused as there may be: then those that are gone make room. */
TEST_F(Room, MemoriesHaveHalfOfTheTrace)
{
    const size_t most = 32;
    size_t written = 0;
    rescue_memory_is_there = [](const ptds_rec_MEMORY *) { return 0; };
    while (chunks_of_definitions() < most) {
        define_one();
        written++;
        ASSERT_LT(written, most * PTDS_CHUNK_SIZE / sizeof(ptds_rec_MEMORY));
    }
    EXPECT_EQ(written, memories());
    EXPECT_EQ(0u, store_header()->refused);
    const size_t refused = most * PTDS_CHUNK_SIZE / sizeof(ptds_rec_MEMORY);
    for (size_t i = 0; i < refused; i++)
        define_one();
    EXPECT_EQ(written, memories()) << "none of them";
    EXPECT_EQ(refused, store_header()->refused);
    EXPECT_EQ(most, chunks_of_definitions());
    define_one();
    EXPECT_LT(memories(), written) << "none of those is there";
    EXPECT_LT(chunks_of_definitions(), most);
    rescue_memory_is_there = nullptr;
}

} // namespace
