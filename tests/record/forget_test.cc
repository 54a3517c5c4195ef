/* SPDX-License-Identifier: Apache-2.0
 *
 * Which definitions a bounded trace forgets: those that are of no use, as long as no record refers to them.
 */
#include "tests/record/forgotten.h"

extern "C" {
#include "interpose/record/file/store.h"
}

namespace
{

TEST_F(Forget, WhatIsGone)
{
    put_candidates();
    put(old_, stream(2));
    put(old_, name(6, PTDS_ROLE_KERNEL));
    put(old_, name(7, PTDS_ROLE_DOMAIN));
    put(old_, record<ptds_rec_EDGE>(PTDS_REC_EDGE));
    EXPECT_EQ("1: stream 99 string 6 string 7 kind 17", forgotten());
    EXPECT_EQ(uint32_t{PTDS_CHUNK_FREE}, old_->kind);
    EXPECT_EQ(Texts{"4"}, g_may_go);
    EXPECT_EQ(Texts{}, g_stay);
}

TEST_F(Forget, NothingIsMovedWhereNothingGoes)
{
    put(old_, context(1, PTDS_LIFE_SEEN));
    put(old_, stream(2, PTDS_LIFE_CREATED));
    put(old_, thread(3, PTDS_LIFE_NAMED));
    g_memory_there = {5};
    put(old_, memory(5));
    EXPECT_EQ("0:", forgotten());
    EXPECT_EQ(uint32_t{PTDS_CHUNK_DEFINITIONS}, old_->kind);
}

/* Of several chunks those of which something goes. */
TEST_F(Forget, ChunksOfWhichSomethingGoes)
{
    struct ptds_chunk *second = chunk(PTDS_CHUNK_DEFINITIONS), *third = chunk(PTDS_CHUNK_DEFINITIONS);
    put(old_, stream(2));
    put(second, stream(3));
    put(third, stream(2, PTDS_LIFE_GONE));
    put(third, stream(4));
    EXPECT_EQ("2: stream 99 stream 4", forgotten());
    EXPECT_EQ(uint32_t{PTDS_CHUNK_DEFINITIONS}, second->kind);
    EXPECT_EQ(uint32_t{PTDS_CHUNK_FREE}, third->kind);
}

TEST_F(Forget, NotWhatHasJustGone)
{
    for (uint64_t ticks : {kThen, kThen - 1}) {
        put(old_, context(1, PTDS_LIFE_GONE, ticks));
        put(old_, stream(2, PTDS_LIFE_GONE, ticks));
        put(old_, thread(3, PTDS_LIFE_GONE, ticks));
        EXPECT_EQ(ticks == kThen ? "0:" : "1: stream 99", forgotten()) << ticks;
    }
}

TEST_F(Forget, NotWhatIsInNewerChunks)
{
    put(old_, stream(2, PTDS_LIFE_GONE));
    EXPECT_EQ("0:", forgotten(old_->sequence));
    EXPECT_EQ("1: stream 99", forgotten(old_->sequence + 1));
}

TEST_F(Forget, WhatIsGoneWithOthers)
{
    put(old_, context(1));
    put(old_, thread(3));
    g_memory_there = {10, 11};
    put(old_, memory(10, 1));
    put(old_, memory(11, 8));
    put(old_, stream(20, PTDS_LIFE_SEEN, 1, 1));
    put(old_, stream(21, PTDS_LIFE_SEEN, 1, 8));
    put(old_, stream(22, PTDS_LIFE_SEEN, 1, 0, PTDS_STREAM_PER_THREAD, 3));
    put(old_, stream(23, PTDS_LIFE_SEEN, 1, 0, PTDS_STREAM_PER_THREAD, 8));
    EXPECT_EQ("1: stream 99 memory 11 stream 21 stream 23", forgotten());
}

/* Another thread's stream is its own, and keeps its maker. */
TEST_F(Forget, StreamsStayWhenTheirMakersGo)
{
    put(old_, thread(3));
    put(old_, stream(20, PTDS_LIFE_SEEN, 1, 0, PTDS_STREAM_BLOCKING, 3));
    EXPECT_EQ("0:", forgotten());
}

/* ---- clocks, and moments on the device ---- */

/* A chunk full of them, say: the first is needed and the last, wherever they are. */
TEST_F(Forget, ClocksBetweenTheFirstAndTheLast)
{
    const size_t many = (PTDS_CHUNK_SIZE - sizeof(struct ptds_chunk)) / sizeof(ptds_rec_CLOCK) - 10;
    for (const bool newer : {false, true}) {
        put(old_, clock(20));
        put(old_, clock(10));
        for (size_t i = 0; i < many; i++)
            put(old_, clock(30 + i));
        put(old_, clock(29));
        struct ptds_chunk *next = chunk(PTDS_CHUNK_DEFINITIONS);
        if (newer)
            put(next, clock(90000));
        EXPECT_EQ("1: stream 99 clock 10" + (newer ? "" : " clock " + std::to_string(29 + many)),
                  forgotten(next->sequence));
        TearDown();
        SetUp();
    }
}

/* What is gained is not worth it to move all else. */
TEST_F(Forget, AFewClocksStay)
{
    const size_t few = PTDS_CHUNK_SIZE / 4 / sizeof(ptds_rec_CLOCK);
    for (size_t i = 0; i < few + 1; i++) /* of which two are the first and the last */
        put(old_, clock(30 + i));
    EXPECT_EQ("0:", forgotten());
    put(old_, clock(20));
    EXPECT_EQ("1: stream 99 clock " + std::to_string(30 + few) + " clock 20", forgotten());
}

TEST_F(Forget, AFewClocksGoWithOthers)
{
    for (uint64_t ticks : {10, 20, 30})
        put(old_, clock(ticks));
    put(old_, stream(2, PTDS_LIFE_GONE));
    EXPECT_EQ("1: stream 99 clock 10 clock 30", forgotten());
}

/* A time that is on its way may name one of the last seconds. */
TEST_F(Forget, BasesThatNoTimeNames)
{
    put(old_, clock(10, 100));
    put(old_, clock(20, 105));
    put(old_, clock(30, 115));
    for (uint32_t ticks : {9, 11, 19, 20, 21, 29})
        put(old_, base(ticks, ticks));
    auto time = record<ptds_rec_DEVICE_TIME>(PTDS_REC_DEVICE_TIME);
    time.base = 11;
    put(chunk(PTDS_CHUNK_CALLS), time);
    EXPECT_EQ("1: stream 99 clock 10 clock 30 base 11 base 20 base 21 base 29", forgotten());
}

TEST_F(Forget, BasesWhileAllAreNew)
{
    put(old_, clock(10, 100));
    put(old_, clock(30, 109));
    put(old_, base(5, 5));
    EXPECT_EQ("0:", forgotten());
}

TEST_F(Forget, BasesThatStayNameTheirContexts)
{
    put(old_, clock(10, 100));
    put(old_, clock(30, 110));
    for (uint32_t uid : {1u, 2u, 3u}) {
        put(old_, context(uid));
        put(old_, base(uid, uid == 3 ? 15 : 5, uid));
    }
    auto time = record<ptds_rec_DEVICE_TIME>(PTDS_REC_DEVICE_TIME);
    time.base = 2;
    put(chunk(PTDS_CHUNK_CALLS), time);
    EXPECT_EQ("1: stream 99 clock 10 clock 30 context 2 base 2 context 3 base 3", forgotten());
}

/* ---- what is referred to ---- */

TEST_F(Forget, CallsNameWhatTheyNeed)
{
    put_candidates();
    struct ptds_chunk *calls = chunk(PTDS_CHUNK_CALLS);
    auto call = record<ptds_rec_CALL>(PTDS_REC_CALL);
    call.object = 5;
    put(calls, call);
    call.stream = 2;
    put(calls, call);
    EXPECT_EQ("1: stream 99 stream 2", forgotten());
    EXPECT_EQ(Texts{"4"}, g_may_go);
}

TEST_F(Forget, EachFieldOfACall)
{
    put_candidates();
    struct ptds_chunk *calls = chunk(PTDS_CHUNK_CALLS);
    auto call = record<ptds_rec_CALL>(PTDS_REC_CALL);
    call.target = 2, call.context = 1, call.region = 4;
    put(calls, call);
    EXPECT_EQ("1: stream 99 context 1 stream 2 string 4", forgotten());
    EXPECT_EQ(Texts{"4"}, g_may_go);
    EXPECT_EQ(Texts{"4"}, g_stay);
}

/* What came before a free may still name the memory. */
TEST_F(Forget, CallsThatFree)
{
    struct ptds_chunk *calls = chunk(PTDS_CHUNK_CALLS);
    std::string expected = "1: stream 99";
    for (unsigned op = PTDS_OP_NONE; op <= PTDS_OP_GRAPH_UPLOAD; op++) {
        auto call = record<ptds_rec_CALL>(PTDS_REC_CALL);
        call.op = uint8_t(op);
        call.object = 100 + op;
        put(calls, call);
        put(old_, memory(100 + op));
    }
    EXPECT_EQ("1: stream 99 memory 111 memory 124 memory 125 memory 126 memory 127 memory 128", forgotten())
        << "FREE_ASYNC; FREE, FREE_HOST, UNREGISTER, UNMAP, ARRAY_DESTROY";
}

TEST_F(Forget, OtherRecordsNameWhatTheyNeed)
{
    put_candidates();
    struct ptds_chunk *calls = chunk(PTDS_CHUNK_CALLS);
    auto region = record<ptds_rec_REGION>(PTDS_REC_REGION);
    region.name = 4;
    put(calls, region);
    EXPECT_EQ("1: stream 99 string 4", forgotten());
}

TEST_F(Forget, HostRuns)
{
    put_candidates();
    put(old_, stream(12, PTDS_LIFE_GONE));
    struct ptds_chunk *calls = chunk(PTDS_CHUNK_CALLS);
    auto run = record<ptds_rec_HOST_RUN>(PTDS_REC_HOST_RUN);
    run.stream = 2, run.target = 12, run.thread = 3, run.context = 1;
    put(calls, run);
    EXPECT_EQ("1: stream 99 context 1 stream 2 thread 3 stream 12", forgotten());
}

TEST_F(Forget, EdgesAndDeviceTimes)
{
    put_candidates();
    put(old_, stream(12, PTDS_LIFE_GONE));
    struct ptds_chunk *calls = chunk(PTDS_CHUNK_CALLS);
    auto edge = record<ptds_rec_EDGE>(PTDS_REC_EDGE);
    edge.waits = 2, edge.behind = 12;
    put(calls, edge);
    auto time = record<ptds_rec_DEVICE_TIME>(PTDS_REC_DEVICE_TIME);
    time.thread = 3;
    put(calls, time);
    EXPECT_EQ("1: stream 99 stream 2 thread 3 stream 12", forgotten());
}

TEST_F(Forget, ThreadsOfChunks)
{
    for (uint32_t id : {3u, 13u, 23u, 33u})
        put(old_, thread(id));
    chunk(PTDS_CHUNK_CALLS, 3);
    chunk(PTDS_CHUNK_COUNTS, 13);
    chunk(PTDS_CHUNK_DEFINITIONS, 23);
    store_chunk_back(chunk(PTDS_CHUNK_CALLS, 33));
    EXPECT_EQ("1: stream 99 thread 3 thread 13", forgotten());
}

/* In chunks of counts there are numbers. */
TEST_F(Forget, CountsAreNoRecords)
{
    put_candidates();
    auto region = record<ptds_rec_REGION>(PTDS_REC_REGION);
    region.name = 4;
    put(chunk(PTDS_CHUNK_COUNTS), region);
    EXPECT_EQ("1: stream 99", forgotten());
}

TEST_F(Forget, RegionsThatThreadsAreIn)
{
    struct thread *self = thread_get();
    ASSERT_TRUE(self);
    for (uint32_t id : {40u, 41u, 42u})
        put(old_, name(id));
    self->regions[0] = 40;
    self->regions[THREAD_REGIONS - 1] = 41;
    EXPECT_EQ("1: stream 99 string 40 string 41", forgotten());
    EXPECT_EQ((Texts{"40", "41", "42"}), g_may_go);
    EXPECT_EQ((Texts{"40", "41"}), g_stay);
    self->regions[0] = self->regions[THREAD_REGIONS - 1] = 0;
}

TEST_F(Forget, DefinitionsThatStayNameOthers)
{
    for (uint32_t uid : {1u, 2u, 3u, 4u})
        put(old_, context(uid));
    put(old_, thread(3));
    put(old_, thread(4));
    struct ptds_chunk *calls = chunk(PTDS_CHUNK_CALLS);
    auto edge = record<ptds_rec_EDGE>(PTDS_REC_EDGE);
    edge.waits = 20; /* which so stays, with its context and its thread */
    put(calls, edge);
    put(old_, stream(20, PTDS_LIFE_GONE, 1, 1, PTDS_STREAM_BLOCKING, 3));
    put(old_, stream(21, PTDS_LIFE_GONE, 1, 2, PTDS_STREAM_BLOCKING, 4));
    put(old_, base(8, 1, 3));
    EXPECT_EQ("1: stream 99 context 1 context 3 thread 3 stream 20 base 8", forgotten());
}

TEST_F(Forget, MemoryThatStaysNamesItsContext)
{
    put(old_, context(1));
    put(old_, context(2));
    put(old_, memory(5, 1));
    put(old_, memory(6, 2));
    auto call = record<ptds_rec_CALL>(PTDS_REC_CALL);
    call.op = PTDS_OP_FREE, call.object = 5;
    put(chunk(PTDS_CHUNK_CALLS), call);
    EXPECT_EQ("1: stream 99 context 1 memory 5", forgotten());
}

/* Whatever is in the newer ones stays, what has gone as well. */
TEST_F(Forget, NewerDefinitionsNameOthers)
{
    put(old_, context(1));
    put(old_, context(2));
    put(old_, thread(3));
    put(old_, thread(4));
    struct ptds_chunk *newer = chunk(PTDS_CHUNK_DEFINITIONS);
    put(newer, stream(20, PTDS_LIFE_GONE, 1, 1, PTDS_STREAM_BLOCKING, 3));
    put(newer, memory(6, 2));
    EXPECT_EQ("1: stream 99 context 1 context 2 thread 3", forgotten(newer->sequence));
}

} // namespace
