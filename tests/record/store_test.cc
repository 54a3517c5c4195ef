/* SPDX-License-Identifier: Apache-2.0
 *
 * Which chunk is handed out: fresh ones, ones that were given back, the oldest of calls; how many there are of each kind.
 * In memory.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <vector>

extern "C" {
#include "interpose/base/diag.h"
#include "interpose/env/env.h"
#include "interpose/record/file/chunk_pages.h"
#include "interpose/record/file/store.h"
}

namespace
{

using Chunks = std::vector<struct ptds_chunk *>;

class Store : public testing::Test
{
protected:
    void SetUp() override
    {
        diag_level(ENV_DIAG_QUIET);
        open(32);
    }
    void TearDown() override
    {
        store_after_fork();
        diag_level(ENV_DIAG_ERRORS);
    }
    static void open(uint64_t chunks)
    {
        store_after_fork();
        ASSERT_TRUE(store_open(nullptr, 0, chunks * PTDS_CHUNK_SIZE));
    }
    struct ptds_chunk *take(enum ptds_chunk_kind kind = PTDS_CHUNK_CALLS, uint32_t thread = 1)
    {
        old_ = 12345;
        return store_chunk(kind, thread, &old_);
    }
    /* As many as there are. */
    Chunks take_all(enum ptds_chunk_kind kind = PTDS_CHUNK_CALLS)
    {
        Chunks all;
        while (struct ptds_chunk *one = take(kind))
            all.push_back(one);
        return all;
    }
    size_t old_ = 0;
};

TEST_F(Store, AFreshChunk)
{
    struct ptds_chunk *first = take(PTDS_CHUNK_DEFINITIONS, 0), *second = take(PTDS_CHUNK_CALLS, 7);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(0u, old_);
    EXPECT_EQ(PTDS_CHUNK_MAGIC, second->magic);
    EXPECT_EQ(uint32_t{PTDS_CHUNK_CALLS}, second->kind);
    EXPECT_EQ(7u, second->thread);
    EXPECT_EQ(1u, first->sequence);
    EXPECT_EQ(2u, second->sequence);
    EXPECT_EQ(0u, second->committed);
    EXPECT_EQ(first, store_chunk_at(0));
    EXPECT_EQ(second, store_chunk_at(1));
    EXPECT_EQ(nullptr, store_chunk_at(2));
    EXPECT_EQ(2u, store_header()->chunks);
    EXPECT_EQ(uint64_t{32} * PTDS_CHUNK_SIZE, store_header()->limit);
}

/* Whole extents, one at least. Some of the last are not for calls: a sixteenth, eight at most. */
TEST_F(Store, HowManyThereAre)
{
    struct Row {
        uint64_t limit;
        size_t calls, definitions;
    };
    for (const Row &row :
         {Row{1, 30, 2}, {32, 30, 2}, {63, 30, 2}, {64, 60, 4}, {100, 90, 6}, {128, 120, 8}, {256, 248, 8}}) {
        open(row.limit);
        EXPECT_FALSE(store_is_out());
        EXPECT_EQ(row.calls, take_all().size()) << row.limit;
        EXPECT_TRUE(store_is_out());
        EXPECT_EQ(row.definitions, take_all(PTDS_CHUNK_DEFINITIONS).size()) << row.limit;
        EXPECT_EQ(row.calls + row.definitions, store_header()->chunks);
        EXPECT_EQ(0u, store_header()->recycled);
    }
}

TEST_F(Store, CountsHaveAQuarter)
{
    for (uint64_t limit : {32u, 64u}) {
        open(limit);
        Chunks counts = take_all(PTDS_CHUNK_COUNTS);
        EXPECT_EQ(limit / 4, counts.size());
        EXPECT_FALSE(store_is_out()) << "of calls there are more";
        store_chunk_back(counts[3]);
        EXPECT_EQ(counts[3], take(PTDS_CHUNK_COUNTS));
        EXPECT_EQ(nullptr, take(PTDS_CHUNK_COUNTS));
        EXPECT_TRUE(take());
    }
}

/* In rings: from where the last one was. */
TEST_F(Store, TheOldestOfCallsAgain)
{
    Chunks all = take_all();
    for (int i : {5, 3, 7})
        store_chunk_full(all[size_t(i)]);
    EXPECT_FALSE(store_is_out());
    for (int i : {3, 5}) {
        EXPECT_EQ(all[size_t(i)], take()) << i;
        EXPECT_EQ(0u, old_);
    }
    store_chunk_full(all[4]);
    store_chunk_full(all[29]);
    for (int i : {7, 29, 4})
        EXPECT_EQ(all[size_t(i)], take(PTDS_CHUNK_CALLS, 9)) << i;
    EXPECT_EQ(9u, all[4]->thread);
    EXPECT_EQ(35u, all[4]->sequence);
    EXPECT_FALSE(store_is_out());
    EXPECT_EQ(nullptr, take());
    EXPECT_TRUE(store_is_out());
    EXPECT_EQ(5u, store_header()->recycled);
    EXPECT_EQ(30u, store_header()->chunks);
}

/* Definitions take those too, once there are no others; neither they nor counts are taken. */
TEST_F(Store, OnlyThoseOfCalls)
{
    struct ptds_chunk *definitions = take(PTDS_CHUNK_DEFINITIONS), *counts = take(PTDS_CHUNK_COUNTS);
    Chunks all = take_all();
    take_all(PTDS_CHUNK_DEFINITIONS);
    store_chunk_full(definitions);
    store_chunk_full(counts);
    EXPECT_EQ(nullptr, take());
    store_chunk_full(all[0]);
    EXPECT_EQ(all[0], take(PTDS_CHUNK_DEFINITIONS));
    EXPECT_EQ(uint32_t{PTDS_CHUNK_DEFINITIONS}, all[0]->kind);
}

TEST_F(Store, WhatAnOldOneHolds)
{
    Chunks all = take_all();
    for (size_t i = 0; i < 3; i++) {
        all[i]->committed = 800 + i;
        all[i]->holds = i == 1;
        all[i]->now = all[i]->defaults = 5;
        all[i]->lost = all[i]->ordinal = all[i]->reserved = 5;
        store_chunk_full(all[i]);
        EXPECT_EQ(all[i], take());
        EXPECT_EQ(i == 1 ? 801u : 0u, old_);
        EXPECT_EQ(0u, all[i]->committed + all[i]->holds + all[i]->now + all[i]->defaults + all[i]->lost + all[i]->ordinal +
                          all[i]->reserved);
    }
}

/* Whoever had it. Before any other. */
TEST_F(Store, WhatWasGivenBackIsAnyones)
{
    Chunks some = {take(), take(PTDS_CHUNK_DEFINITIONS), take(), take()};
    some[1]->holds = 1;
    some[1]->committed = 80;
    store_chunk_back(some[2]);
    store_chunk_back(some[1]);
    EXPECT_EQ(uint32_t{PTDS_CHUNK_FREE}, some[1]->kind);
    EXPECT_EQ(some[1], take(PTDS_CHUNK_COUNTS));
    EXPECT_EQ(0u, old_) << "nothing of it is of use";
    EXPECT_EQ(some[2], take());
    EXPECT_EQ(store_chunk_at(3) + PTDS_CHUNK_SIZE / sizeof(struct ptds_chunk), take()) << "a fresh one";
    EXPECT_EQ(0u, store_header()->recycled);
}

TEST_F(Store, ComesFreeAfterAllWereTaken)
{
    Chunks all = take_all();
    store_chunk_back(all[17]);
    EXPECT_FALSE(store_is_out());
    EXPECT_EQ(all[17], take());
    store_chunk_full(nullptr);
    store_chunk_last(nullptr);
    EXPECT_EQ(nullptr, take());
    store_chunk_last(all[11]);
    EXPECT_EQ(all[11], take());
}

/* In the second extent, too. */
TEST_F(Store, InEachExtent)
{
    open(96);
    Chunks all = take_all();
    for (size_t i : {size_t{0}, size_t{31}, size_t{32}, size_t{63}, size_t{64}, size_t{89}}) {
        store_chunk_full(all[i]);
        EXPECT_EQ(all[i], take()) << i;
        store_chunk_back(all[i]);
        EXPECT_EQ(all[i], take()) << i;
        EXPECT_EQ(all[i], store_chunk_at(i));
    }
}

/* A COUNTS chunk is zeros, whatever was there. */
TEST_F(Store, CountsBeginWithZeros)
{
    Chunks all = take_all();
    memset(all[0] + 1, 0xee, PTDS_CHUNK_SIZE - sizeof *all[0]);
    store_chunk_full(all[0]);
    ASSERT_EQ(all[0], take(PTDS_CHUNK_COUNTS));
    const uint8_t *bytes = reinterpret_cast<const uint8_t *>(all[0] + 1);
    EXPECT_EQ(0, std::count_if(bytes, bytes + PTDS_CHUNK_SIZE - sizeof *all[0], [](uint8_t byte) { return byte != 0; }));
    EXPECT_EQ(uint32_t{PTDS_CHUNK_COUNTS}, all[0]->kind);
    EXPECT_EQ(PTDS_CHUNK_MAGIC, all[1]->magic);
}

/* Of a thread's last one what nobody has written is not kept, what is written is. */
TEST_F(Store, TheRestOfALastChunk)
{
    struct ptds_chunk *chunk = take(), *next = take();
    uint8_t *bytes = reinterpret_cast<uint8_t *>(chunk);
    const size_t page = size_t(getpagesize());
    memset(chunk + 1, 0xee, PTDS_CHUNK_SIZE - sizeof *chunk);
    memset(next + 1, 0xee, 8);
    chunk->committed = page + 8 - sizeof *chunk;
    errno = ENOTTY;
    store_chunk_last(chunk);
    EXPECT_EQ(ENOTTY, errno);
    EXPECT_EQ(0xee, bytes[page + 7]);
    EXPECT_EQ(0xee, bytes[2 * page - 1]);
    EXPECT_EQ(0, bytes[2 * page]);
    EXPECT_EQ(0, bytes[PTDS_CHUNK_SIZE - 1]);
    EXPECT_EQ(0xee, *reinterpret_cast<const uint8_t *>(next + 1));
}

/* Of one that was given back nothing but what it is. */
TEST_F(Store, TheRestOfOneThatWasGivenBack)
{
    struct ptds_chunk *before = take(), *chunk = take(), *next = take();
    const uint8_t *bytes = reinterpret_cast<const uint8_t *>(chunk);
    for (struct ptds_chunk *one : {before, chunk, next})
        memset(one + 1, 0xee, PTDS_CHUNK_SIZE - sizeof *one);
    store_chunk_back(chunk);
    EXPECT_EQ(0, bytes[getpagesize()]);
    EXPECT_EQ(0, bytes[PTDS_CHUNK_SIZE - 1]);
    EXPECT_EQ(PTDS_CHUNK_MAGIC, chunk->magic);
    EXPECT_EQ(uint32_t{PTDS_CHUNK_FREE}, chunk->kind);
    EXPECT_EQ(0xee, bytes[-1]);
    EXPECT_EQ(0xee, *reinterpret_cast<const uint8_t *>(next + 1));
}

TEST_F(Store, Ahead)
{
    struct ptds_chunk *first = store_chunk_ahead(4);
    ASSERT_TRUE(first);
    EXPECT_EQ(uint32_t{PTDS_CHUNK_CALLS}, first->kind);
    EXPECT_EQ(4u, first->thread);
    EXPECT_EQ(first, store_chunk_at(0));
    store_chunk_back(first);
    EXPECT_EQ(nullptr, store_chunk_ahead(4)) << "the next one costs no pages";
    EXPECT_EQ(first, take());
    for (int i = 1; i < 30; i++)
        EXPECT_TRUE(store_chunk_ahead(4)) << i;
    EXPECT_EQ(nullptr, store_chunk_ahead(4)) << "those that are left are for definitions";
    EXPECT_FALSE(store_is_out());
    EXPECT_EQ(30u, store_header()->chunks);
    store_chunk_full(first);
    EXPECT_EQ(nullptr, store_chunk_ahead(4));
    EXPECT_EQ(first, take());
}

/* While nothing was refused to calls, and there is room. */
TEST_F(Store, AheadInTheSecondExtent)
{
    open(64);
    for (int i = 0; i < 60; i++)
        ASSERT_TRUE(store_chunk_ahead(4)) << i;
    EXPECT_EQ(nullptr, store_chunk_ahead(4));
    EXPECT_EQ(4u, take_all(PTDS_CHUNK_DEFINITIONS).size());
}

TEST_F(Store, WhatIsRefusedIsCounted)
{
    store_refused();
    store_refused();
    EXPECT_EQ(2u, store_header()->refused);
    EXPECT_EQ(nullptr, store_path());
    EXPECT_FALSE(store_is_torn());
    errno = ENOTTY;
    store_flush();
    take_all();
    EXPECT_TRUE(store_can_go_on());
    EXPECT_EQ(ENOTTY, errno);
}

/* All that begins a chunk's pages is there once it is, so that no record waits for them. */
TEST_F(Store, PagesOfAChunk)
{
    struct ptds_chunk *chunk = take();
    memset(chunk + 1, 0xee, PTDS_CHUNK_SIZE - sizeof *chunk);
    chunk_pages_populate(chunk);
    EXPECT_EQ(0xee, reinterpret_cast<const uint8_t *>(chunk)[PTDS_CHUNK_SIZE - 1]);
    chunk_pages_clear(chunk);
    EXPECT_EQ(0, reinterpret_cast<const uint8_t *>(chunk)[PTDS_CHUNK_SIZE - 1]);
    EXPECT_EQ(0, *reinterpret_cast<const uint8_t *>(chunk + 1));
    EXPECT_EQ(PTDS_CHUNK_MAGIC, chunk->magic);
}

} // namespace
