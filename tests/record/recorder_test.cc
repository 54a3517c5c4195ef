/* SPDX-License-Identifier: Apache-2.0
 *
 * What the recorder writes of calls that a test makes up: each field, the exact counts, and their chunks.
 */
#include "tests/record/recording.h"

extern "C" {
#include "interpose/record/append.h"
#include "interpose/record/file/store.h"
#include "interpose/record/recorder.h"
#include "interpose/state/capture.h"
}

namespace
{

class Calls : public Recording
{
};

TEST_F(Calls, EachFieldOfACallIsWritten)
{
    struct call call = made();
    call.flags = PTDS_CALL_LEGACY | PTDS_CALL_REMAPPED;
    call.kinds = 0x42;
    call.edges = 3;
    call.stream_uid = 11, call.target_uid = 12, call.object = 13, call.generation = 14;
    call.touched.opaque = OPAQUE_TEXTURE;
    call.touched.host = 1;
    call.words = 3;
    call.word[0] = 100, call.word[1] = 101, call.word[2] = 102, call.word[3] = 103;
    thread_.region = 15;
    record(call);
    call.enter++;
    record(call); /* the short way, now that its stack is known */
    std::vector<ptds_rec_CALL> both = all<ptds_rec_CALL>(PTDS_REC_CALL);
    ASSERT_EQ(2u, both.size());
    EXPECT_EQ(both[0].stack, both[1].stack);
    for (const ptds_rec_CALL &written : both) {
        EXPECT_EQ(1000u + (&written - &both[0]), written.enter);
        EXPECT_EQ(0u, written.leave);
        EXPECT_EQ(API_cuLaunchKernel, written.api);
        EXPECT_EQ(0u, written.result);
        EXPECT_EQ(PTDS_CALL_LEGACY | PTDS_CALL_REMAPPED | PTDS_CALL_HOST_MEMORY | 7u << PTDS_CALL_WHY_SHIFT, written.flags);
        EXPECT_EQ(PTDS_OP_LAUNCH, written.op);
        EXPECT_EQ(0x42, written.kinds);
        EXPECT_EQ(3u, written.streams);
        EXPECT_EQ(3u, written.context);
        EXPECT_EQ(11u, written.stream);
        EXPECT_EQ(12u, written.target);
        EXPECT_EQ(13u, written.object);
        EXPECT_EQ(14u, written.generation);
        EXPECT_EQ(15u, written.region);
        EXPECT_NE(0u, written.stack);
    }
    EXPECT_EQ(2u, count(API_cuLaunchKernel).calls);
    EXPECT_EQ(2u, count(API_cuLaunchKernel).remapped);
}

TEST_F(Calls, AsManyWordsAsThereAre)
{
    for (uint8_t words : {uint8_t{0}, uint8_t{1}, uint8_t{2}, uint8_t{3}, uint8_t{CALL_WORDS - 1}, uint8_t{CALL_WORDS}}) {
        struct call call = made();
        call.words = words;
        for (unsigned i = 0; i < CALL_WORDS; i++)
            call.word[i] = 100 + i;
        record(call);
        const std::string bytes = bytes_of(PTDS_REC_CALL).back();
        ASSERT_EQ(sizeof(ptds_rec_CALL) + words * 8u, bytes.size());
        for (unsigned i = 0; i < words; i++) {
            uint64_t word;
            memcpy(&word, bytes.data() + sizeof(ptds_rec_CALL) + i * 8, sizeof word);
            EXPECT_EQ(100u + i, word) << unsigned{words};
        }
    }
}

TEST_F(Calls, ThatAreTimed)
{
    struct call call = made(API_cuMemcpyDtoH_v2, PTDS_OP_COPY);
    call.flags = PTDS_CALL_TIMED;
    call.enter = clock_ticks();
    record(call);
    auto written = last<ptds_rec_CALL>(PTDS_REC_CALL);
    EXPECT_GE(written.leave, written.enter);
    EXPECT_EQ(written.leave - written.enter, count(API_cuMemcpyDtoH_v2).ticks);
    EXPECT_EQ(1u, count(API_cuMemcpyDtoH_v2).calls);
    EXPECT_EQ(0u, thread_.now->enter);
    call.twin = 1;
    record(call);
    EXPECT_LT(0u, count(API_cuMemcpyDtoH_v2, 1).ticks);
    EXPECT_EQ(written.leave - written.enter, count(API_cuMemcpyDtoH_v2).ticks);
}

/* A failure is no answer that something is not ready. */
TEST_F(Calls, CallsAreCountedByFunction)
{
    struct call call = made();
    record(call);
    call.flags = PTDS_CALL_REMAPPED;
    record(call);
    call.result = CUDA_ERROR_LAUNCH_FAILED;
    record(call);
    record(call);
    EXPECT_EQ(unsigned(CUDA_ERROR_LAUNCH_FAILED), last<ptds_rec_CALL>(PTDS_REC_CALL).result);
    call.result = CUDA_ERROR_NOT_READY;
    record(call);
    call.twin = 1;
    record(call);
    EXPECT_EQ(5u, count(API_cuLaunchKernel).calls);
    EXPECT_EQ(4u, count(API_cuLaunchKernel).remapped);
    EXPECT_EQ(2u, count(API_cuLaunchKernel).failed);
    EXPECT_EQ(0u, count(API_cuLaunchKernel).ticks);
    EXPECT_EQ(1u, count(API_cuLaunchKernel, 1).calls);
    EXPECT_EQ(0u, on_default().legacy);
}

TEST_F(Calls, OnTheDefaultStreamAreCounted)
{
    struct call call = made();
    call.flags = PTDS_CALL_LEGACY;
    record(call);
    record(call);
    call.flags |= PTDS_CALL_REMAPPED;
    record(call);
    call.result = CUDA_ERROR_LAUNCH_FAILED;
    record(call);
    EXPECT_EQ(4u, on_default().legacy);
    EXPECT_EQ(2u, on_default().kept);
    EXPECT_EQ(1u, on_default().failed);
    /* of operations only */
    uint64_t expected = 4;
    for (unsigned op = PTDS_OP_NONE; op <= PTDS_OP_GRAPH_UPLOAD; op++) {
        call.op = uint8_t(op);
        record(call);
        expected += op >= PTDS_OP_LAUNCH && op <= PTDS_OP_OPAQUE;
        EXPECT_EQ(expected, on_default().legacy) << op;
    }
}

TEST_F(Calls, WhileACaptureIsOpen)
{
    record(made());
    EXPECT_EQ(0u, last<ptds_rec_CALL>(PTDS_REC_CALL).flags);
    captures_open = 1;
    struct call call = made();
    call.flags = PTDS_CALL_LEGACY;
    record(call);
    captures_open = 0;
    EXPECT_EQ(uint32_t{PTDS_CALL_LEGACY | PTDS_CALL_CAPTURE_OPEN}, last<ptds_rec_CALL>(PTDS_REC_CALL).flags);
}

/* The stack that was taken before the call, unless the call blocked. */
TEST_F(Calls, TheStackTakenBefore)
{
    struct call call = made();
    call.flags = PTDS_CALL_TIMED;
    call.stack = 4711;
    call.enter = clock_ticks();
    record(call);
    EXPECT_EQ(4711u, last<ptds_rec_CALL>(PTDS_REC_CALL).stack);
    call.enter = clock_ticks() - 1000000;
    record(call);
    EXPECT_NE(4711u, last<ptds_rec_CALL>(PTDS_REC_CALL).stack);
}

TEST_F(Calls, NothingWhereItIsOff)
{
    recorder_running = 2;
    record(made());
    struct call call = made();
    recorder_edge(&call, 1, 2, 3, PTDS_EDGE_PROMISED);
    EXPECT_EQ(0u, recorder_stack(&call));
    recorder_running = 1;
    EXPECT_EQ(nullptr, thread_.counts);
    EXPECT_EQ(0u, all<ptds_rec_CALL>(PTDS_REC_CALL).size());
    EXPECT_EQ(0u, all<ptds_rec_EDGE>(PTDS_REC_EDGE).size());
    EXPECT_EQ(uint32_t{PTDS_CALL_SHIM_EDGE}, call.flags);
}

TEST_F(Calls, TheShimsWaitsStandBeforeTheirCall)
{
    struct call call = made();
    call.flags = PTDS_CALL_LEGACY;
    recorder_edge(&call, 21, 22, 23, PTDS_EDGE_PROMISED);
    EXPECT_EQ(uint32_t{PTDS_CALL_LEGACY | PTDS_CALL_SHIM_EDGE}, call.flags);
    auto edge = last<ptds_rec_EDGE>(PTDS_REC_EDGE);
    EXPECT_EQ(21u, edge.waits);
    EXPECT_EQ(22u, edge.behind);
    EXPECT_EQ(23u, edge.until);
    EXPECT_EQ(1u, call.edges);
    call.edges = UINT16_MAX;
    recorder_edge(&call, 21, 22, 23, PTDS_EDGE_PROMISED);
    EXPECT_EQ(UINT16_MAX, call.edges);
    call.enter = call.edges = 0; /* it is not recorded itself */
    recorder_edge(&call, 21, 22, 23, PTDS_EDGE_PROMISED);
    EXPECT_EQ(0u, call.edges);
    EXPECT_EQ(2u, all<ptds_rec_EDGE>(PTDS_REC_EDGE).size());
}

/* ---- chunks ---- */

TEST_F(Calls, ThroughManyChunks)
{
    struct call call = made();
    call.words = CALL_WORDS;
    const size_t each = sizeof(ptds_rec_CALL) + CALL_WORDS * 8,
                 in_one = (PTDS_CHUNK_SIZE - sizeof(struct ptds_chunk)) / each;
    for (size_t i = 0; i < in_one; i++)
        record(call);
    const struct ptds_chunk *first = thread_.chunk;
    EXPECT_EQ(in_one * each, first->committed);
    EXPECT_EQ(1u, first->ordinal);
    EXPECT_EQ(7u, first->thread);
    thread_.allocates = 1;
    record(call);
    EXPECT_NE(first, thread_.chunk);
    EXPECT_EQ(each, thread_.chunk->committed);
    EXPECT_EQ(2u, thread_.chunk->ordinal);
    EXPECT_EQ(0u, thread_.chunk->lost);
    EXPECT_EQ(1u, thread_.chunk->holds);
    EXPECT_EQ(0u, thread_.allocates);
    EXPECT_EQ(0u, first->holds);
    size_t old;
    const struct ptds_chunk *next = first;
    while (next && store_header()->recycled == 0)
        next = store_chunk(PTDS_CHUNK_CALLS, 1, &old);
    EXPECT_EQ(first, next) << "the oldest, once there are no others";
}

/* The next chunk is had while there is time, but not by threads that hardly record. */
TEST_F(Calls, AChunkAhead)
{
    EXPECT_EQ(0, append_chunk_ahead(&thread_)) << "without one";
    record(made());
    const size_t quarter = PTDS_CHUNK_SIZE / 4;
    uint8_t *base = reinterpret_cast<uint8_t *>(thread_.chunk), *at = thread_.chunk_at;
    thread_.chunk_at = base + quarter - 1;
    EXPECT_EQ(0, append_chunk_ahead(&thread_));
    thread_.chunk_at = base + quarter;
    EXPECT_EQ(1, append_chunk_ahead(&thread_));
    EXPECT_EQ(0, append_chunk_ahead(&thread_)) << "it has one";
    struct ptds_chunk *ahead = thread_.ahead;
    ASSERT_TRUE(ahead);
    thread_.chunk_at = at;
    EXPECT_EQ(1, append_next_chunk(&thread_));
    EXPECT_EQ(ahead, thread_.chunk);
    EXPECT_EQ(nullptr, thread_.ahead);
    EXPECT_EQ(reinterpret_cast<uint8_t *>(ahead + 1), thread_.chunk_at);
    EXPECT_EQ(reinterpret_cast<uint8_t *>(ahead) + PTDS_CHUNK_SIZE, thread_.chunk_end);
}

/* Where no chunk is left what is lost is counted, by the thread and for all, and said in its next chunk. */
TEST_F(Calls, ThereIsNoRoomFor)
{
    std::vector<struct ptds_chunk *> taken;
    size_t old;
    while (struct ptds_chunk *chunk = store_chunk(PTDS_CHUNK_CALLS, 1, &old))
        taken.push_back(chunk);
    const uint64_t before = store_header()->refused;
    record(made());
    struct call call = made();
    recorder_edge(&call, 1, 2, 3, PTDS_EDGE_PROMISED);
    EXPECT_EQ(0u, call.edges);
    EXPECT_EQ(2u, thread_.lost);
    EXPECT_EQ(before + 2, store_header()->refused);
    EXPECT_EQ(nullptr, thread_.chunk);
    ASSERT_TRUE(thread_.counts);
    EXPECT_EQ(1u, count(API_cuLaunchKernel).calls);
    store_chunk_full(taken[0]);
    record(made());
    EXPECT_EQ(taken[0], thread_.chunk);
    EXPECT_EQ(2u, thread_.chunk->lost);
    EXPECT_EQ(2u, thread_.lost);
}

/* Where others have taken all chunks, a thread goes on in its own, from its beginning; one that has none loses its calls.
 */
TEST_F(Calls, InTheThreadsOnlyChunk)
{
    size_t old;
    record(made());
    while (store_chunk(PTDS_CHUNK_CALLS, 99, &old)) {
    }
    ASSERT_TRUE(store_is_out());
    const struct ptds_chunk *own = thread_.chunk;
    for (int i = 0; i < 2000; i++)
        record(made());
    EXPECT_EQ(own, thread_.chunk);
    EXPECT_EQ(0u, store_header()->refused);
    EXPECT_GT(store_header()->recycled, 0u);
    while (store_chunk(PTDS_CHUNK_CALLS, 99, &old)) {
    }
    static struct thread other; /* which the recorder knows to the end */
    other.uid = 8;
    other.fork_generation = thread_fork_generation;
    struct call call = made();
    call.thread = &other;
    record(call);
    record(call);
    EXPECT_EQ(nullptr, other.chunk);
    EXPECT_EQ(2u, other.lost);
    EXPECT_EQ(2u, store_header()->refused);
}

} // namespace
