/* SPDX-License-Identifier: Apache-2.0
 *
 * The same with records and chunks that are not whole, since their writers go on meanwhile, and with as many as there are.
 */
#include "tests/record/forgotten.h"

extern "C" {
#include "interpose/record/file/store.h"
}

namespace
{

/* Whoever writes meanwhile may have a record's size wrong for a moment: it and what is behind it is not looked at. */
TEST_F(Forget, RecordsThatAreNotWhole)
{
    for (uint16_t size : {uint16_t{0}, uint16_t{4}, uint16_t{20}, uint16_t{48}}) {
        put(old_, stream(2, PTDS_LIFE_GONE));
        struct ptds_chunk *calls = chunk(PTDS_CHUNK_CALLS);
        auto region = record<ptds_rec_REGION>(PTDS_REC_REGION);
        put(calls, region, 32);
        reinterpret_cast<struct ptds_record *>(calls + 1)->size = size;
        auto edge = record<ptds_rec_EDGE>(PTDS_REC_EDGE);
        edge.waits = 2;
        if (size != 48)
            put(calls, edge);
        EXPECT_EQ("1: stream 99", forgotten()) << size;
        old_ = chunk(PTDS_CHUNK_DEFINITIONS);
        put(old_, stream(99));
    }
}

TEST_F(Forget, ChunksThatAreNotWhole)
{
    put(old_, stream(2, PTDS_LIFE_GONE));
    struct ptds_chunk *calls = chunk(PTDS_CHUNK_CALLS);
    auto edge = record<ptds_rec_EDGE>(PTDS_REC_EDGE);
    edge.waits = 2;
    put(calls, edge);
    const uint64_t room = PTDS_CHUNK_SIZE - sizeof *calls;
    calls->committed = room + 8;
    EXPECT_EQ("1: stream 99", forgotten());
    old_ = chunk(PTDS_CHUNK_DEFINITIONS);
    put(old_, stream(2, PTDS_LIFE_GONE));
    calls->committed = room;
    EXPECT_EQ("0:", forgotten());
}

/* Of an older or a broken writer: too short for what it would have to say. */
TEST_F(Forget, RecordsThatAreTooShort)
{
    struct Short {
        uint16_t kind;
        size_t whole;
    };
    for (const Short &one : {Short{PTDS_REC_CALL, sizeof(ptds_rec_CALL)},
                             {PTDS_REC_REGION, sizeof(ptds_rec_REGION)},
                             {PTDS_REC_HOST_RUN, sizeof(ptds_rec_HOST_RUN)},
                             {PTDS_REC_EDGE, sizeof(ptds_rec_EDGE)},
                             {PTDS_REC_DEVICE_TIME, sizeof(ptds_rec_DEVICE_TIME)}}) {
        struct Filled {
            struct ptds_record record;
            uint32_t all[40];
        } filled = {};
        filled.record.kind = one.kind;
        for (uint32_t &word : filled.all)
            word = 2;
        for (size_t size : {one.whole - 8, one.whole}) {
            put(old_, stream(2, PTDS_LIFE_GONE));
            put(old_, thread(2));
            put(old_, name(2));
            struct ptds_chunk *calls = chunk(PTDS_CHUNK_CALLS);
            put(calls, filled, size);
            const bool named = forgotten() != "1: stream 99";
            EXPECT_EQ(size == one.whole, named) << one.kind;
            store_chunk_back(calls);
            if (old_->kind == PTDS_CHUNK_DEFINITIONS)
                store_chunk_back(old_);
            old_ = chunk(PTDS_CHUNK_DEFINITIONS);
            put(old_, stream(99));
        }
    }
}

TEST_F(Forget, DefinitionsThatAreTooShort)
{
    put(chunk(PTDS_CHUNK_DEFINITIONS), context(1), sizeof(ptds_rec_CONTEXT) - 8);
    put(chunk(PTDS_CHUNK_DEFINITIONS), stream(2, PTDS_LIFE_GONE), sizeof(ptds_rec_STREAM) - 8);
    put(chunk(PTDS_CHUNK_DEFINITIONS), thread(3), sizeof(ptds_rec_THREAD) - 8);
    put(chunk(PTDS_CHUNK_DEFINITIONS), name(4), sizeof(ptds_rec_STRING) - 8);
    put(chunk(PTDS_CHUNK_DEFINITIONS), memory(5), sizeof(ptds_rec_MEMORY) - 8);
    EXPECT_EQ("0:", forgotten());
    EXPECT_EQ(Texts{}, g_may_go);
    put(chunk(PTDS_CHUNK_DEFINITIONS), base(1, 1, 6), sizeof(ptds_rec_DEVICE_BASE) - 8);
    put(old_, context(6));
    EXPECT_EQ("1: stream 99", forgotten());
}

/* A record that is no more than its header is one all the same. */
TEST_F(Forget, TheShortestRecord)
{
    put(old_, record<struct ptds_rec_PROCESS>(200), sizeof(struct ptds_record));
    put(old_, stream(2, PTDS_LIFE_GONE));
    put(old_, record<struct ptds_rec_PROCESS>(201), sizeof(struct ptds_record));
    EXPECT_EQ("1: stream 99 kind 200 kind 201", forgotten());
}

/* Thousands at once, of every kind, and the one among them that is referred to. */
TEST_F(Forget, AsManyAsThereAre)
{
    std::vector<struct ptds_chunk *> chunks = {old_};
    auto next = [&]() -> struct ptds_chunk *
    {
        if (chunks.back()->committed + sizeof(ptds_rec_STREAM) > PTDS_CHUNK_SIZE - sizeof(struct ptds_chunk))
            chunks.push_back(chunk(PTDS_CHUNK_DEFINITIONS));
        return chunks.back();
    };
    for (uint32_t uid = 100; uid < 1700; uid++) {
        put(next(), stream(uid, PTDS_LIFE_GONE));
        put(next(), context(uid));
        put(next(), thread(uid));
        put(next(), name(uid));
        put(next(), memory(uid));
    }
    auto call = record<ptds_rec_CALL>(PTDS_REC_CALL);
    call.stream = call.context = call.region = 1000;
    put(chunk(PTDS_CHUNK_CALLS, 1000), call);
    EXPECT_EQ(std::to_string(chunks.size()) + ": stream 99 stream 1000 context 1000 thread 1000 string 1000", forgotten());
    EXPECT_EQ(1600u, g_may_go.size());
    EXPECT_EQ(Texts{"1000"}, g_stay);
}

/* Each kind alone, so that none of them goes at another's expense. */
TEST_F(Forget, AsManyOfOneKind)
{
    for (int kind = 0; kind < 6; kind++) {
        TearDown();
        SetUp();
        put(chunk(PTDS_CHUNK_DEFINITIONS), clock(10, 100));
        put(chunk(PTDS_CHUNK_DEFINITIONS), clock(20, 110));
        struct ptds_chunk *to = old_;
        size_t chunks = 1;
        for (uint32_t uid = 100; uid < 1800; uid++) {
            if (to->committed + sizeof(ptds_rec_STREAM) > PTDS_CHUNK_SIZE - sizeof(struct ptds_chunk))
                to = chunk(PTDS_CHUNK_DEFINITIONS), chunks++;
            switch (kind) {
            case 0: put(to, stream(uid, PTDS_LIFE_GONE)); break;
            case 1: put(to, context(uid)); break;
            case 2: put(to, thread(uid)); break;
            case 3: put(to, name(uid)); break;
            case 4: put(to, base(uid, 5)); break;
            default: put(to, memory(uid)); break;
            }
        }
        EXPECT_EQ(std::to_string(chunks) + ": stream 99", forgotten()) << kind;
    }
}

/* Old ones behind newer ones, and behind those of threads, in the order of their places. */
TEST_F(Forget, WhereverTheyLie)
{
    chunk(PTDS_CHUNK_CALLS, 3);
    struct ptds_chunk *second = chunk(PTDS_CHUNK_DEFINITIONS);
    chunk(PTDS_CHUNK_COUNTS, 3);
    struct ptds_chunk *third = chunk(PTDS_CHUNK_DEFINITIONS);
    put(second, stream(5));
    put(third, stream(2, PTDS_LIFE_GONE));
    put(third, stream(6));
    const uint64_t sequence = chunk(PTDS_CHUNK_DEFINITIONS)->sequence;
    store_chunk_back(old_);
    old_ = chunk(PTDS_CHUNK_DEFINITIONS); /* in the first place, and newer than all */
    put(old_, stream(7));
    EXPECT_EQ("1: stream 6", forgotten(sequence));
}

} // namespace
