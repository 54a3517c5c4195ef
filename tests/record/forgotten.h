/* SPDX-License-Identifier: Apache-2.0
 *
 * Chunks that a test writes, record by record, and what is forgotten of them.
 */
#ifndef PTDS_TESTS_RECORD_FORGOTTEN_H
#define PTDS_TESTS_RECORD_FORGOTTEN_H

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include "interpose/record/file/forget.h"
#include "interpose/record/file/rescue.h"
#include "interpose/record/file/store.h"
#include "interpose/state/thread.h"
}

namespace
{

constexpr uint64_t kThen = 100; /* what was gone before may be forgotten */

std::vector<std::string> g_again, g_may_go, g_stay; /* "stream 5" */
std::set<uint32_t> g_memory_there;

template <class Record> const Record *as(const struct ptds_record *record)
{
    return reinterpret_cast<const Record *>(record);
}

std::string described(const struct ptds_record *record)
{
    switch (record->kind) {
    case PTDS_REC_STREAM: return "stream " + std::to_string(as<ptds_rec_STREAM>(record)->uid);
    case PTDS_REC_CONTEXT: return "context " + std::to_string(as<ptds_rec_CONTEXT>(record)->uid);
    case PTDS_REC_THREAD: return "thread " + std::to_string(as<ptds_rec_THREAD>(record)->id);
    case PTDS_REC_STRING: return "string " + std::to_string(as<ptds_rec_STRING>(record)->id);
    case PTDS_REC_MEMORY: return "memory " + std::to_string(as<ptds_rec_MEMORY>(record)->uid);
    case PTDS_REC_DEVICE_BASE: return "base " + std::to_string(as<ptds_rec_DEVICE_BASE>(record)->id);
    case PTDS_REC_CLOCK: return "clock " + std::to_string(as<ptds_rec_CLOCK>(record)->ticks);
    default: return "kind " + std::to_string(record->kind);
    }
}

void again(const struct ptds_record *record)
{
    g_again.push_back(described(record));
}
void may_go(const struct ptds_rec_STRING *name)
{
    g_may_go.push_back(std::to_string(name->id));
}
void stays(const struct ptds_rec_STRING *name)
{
    g_stay.push_back(std::to_string(name->id));
}
int memory_is_there(const struct ptds_rec_MEMORY *memory)
{
    return g_memory_there.count(memory->uid) != 0;
}

class Forget : public testing::Test
{
protected:
    using Texts = std::vector<std::string>;
    void SetUp() override
    {
        ASSERT_TRUE(store_open(nullptr, 0, 64 * PTDS_CHUNK_SIZE));
        rescue_memory_is_there = memory_is_there;
        g_memory_there.clear();
        old_ = chunk(PTDS_CHUNK_DEFINITIONS);
        put(old_, stream(99)); /* stays, and is moved where something goes */
    }
    void TearDown() override
    {
        rescue_memory_is_there = nullptr;
        store_after_fork();
    }
    static struct ptds_chunk *chunk(enum ptds_chunk_kind kind, uint32_t thread = 0)
    {
        size_t old;
        return store_chunk(kind, thread, &old);
    }
    /* With its size said to be less, all of it is there nevertheless. */
    template <class Record> static void put(struct ptds_chunk *to, Record record, size_t size = sizeof(Record))
    {
        record.record.size = uint16_t(size);
        memcpy(reinterpret_cast<uint8_t *>(to + 1) + to->committed, &record, sizeof record);
        to->committed += size;
    }
    static ptds_rec_STREAM stream(uint32_t uid, enum ptds_life state = PTDS_LIFE_SEEN, uint64_t ticks = 1,
                                  uint32_t context = 0, uint32_t kind = PTDS_STREAM_BLOCKING, uint32_t thread = 0)
    {
        ptds_rec_STREAM made = {};
        made.record.kind = PTDS_REC_STREAM;
        made.uid = uid, made.state = state, made.ticks = ticks, made.context = context, made.kind = kind;
        made.thread = thread;
        return made;
    }
    static ptds_rec_CONTEXT context(uint32_t uid, enum ptds_life state = PTDS_LIFE_GONE, uint64_t ticks = 1)
    {
        ptds_rec_CONTEXT made = {};
        made.record.kind = PTDS_REC_CONTEXT;
        made.uid = uid, made.state = state, made.ticks = ticks;
        return made;
    }
    static ptds_rec_THREAD thread(uint32_t id, enum ptds_life state = PTDS_LIFE_GONE, uint64_t ticks = 1)
    {
        ptds_rec_THREAD made = {};
        made.record.kind = PTDS_REC_THREAD;
        made.id = id, made.state = state, made.ticks = ticks;
        return made;
    }
    static ptds_rec_STRING name(uint32_t id, enum ptds_role role = PTDS_ROLE_REGION)
    {
        ptds_rec_STRING made = {};
        made.record.kind = PTDS_REC_STRING;
        made.id = id, made.role = role;
        return made;
    }
    static ptds_rec_MEMORY memory(uint32_t uid, uint32_t in_context = 0)
    {
        ptds_rec_MEMORY made = {};
        made.record.kind = PTDS_REC_MEMORY;
        made.uid = uid, made.context = in_context;
        return made;
    }
    static ptds_rec_CLOCK clock(uint64_t ticks, uint64_t seconds = 0)
    {
        ptds_rec_CLOCK made = {};
        made.record.kind = PTDS_REC_CLOCK;
        made.ticks = ticks, made.monotonic = seconds * 1000000000;
        return made;
    }
    static ptds_rec_DEVICE_BASE base(uint32_t id, uint64_t latest, uint32_t in_context = 0)
    {
        ptds_rec_DEVICE_BASE made = {};
        made.record.kind = PTDS_REC_DEVICE_BASE;
        made.id = id, made.latest = latest, made.context = in_context;
        return made;
    }
    template <class Record> static Record record(uint16_t kind)
    {
        Record made = {};
        made.record.kind = kind;
        return made;
    }
    /* What it does, as one line: how many chunks were given back, and what was moved. */
    std::string forgotten(uint64_t sequence = 0)
    {
        static const struct forget_calls calls = {again, may_go, stays};
        g_again.clear(), g_may_go.clear(), g_stay.clear();
        if (sequence == 0)
            sequence = chunk(PTDS_CHUNK_DEFINITIONS)->sequence;
        std::string text = std::to_string(forget_definitions(sequence, kThen, &calls)) + ":";
        for (const std::string &one : g_again)
            text += " " + one;
        return text;
    }
    /* One of each, which may go if nothing refers to it. */
    void put_candidates()
    {
        put(old_, context(1));
        put(old_, stream(2, PTDS_LIFE_GONE));
        put(old_, thread(3));
        put(old_, name(4));
        put(old_, memory(5));
    }
    struct ptds_chunk *old_ = nullptr;
};

} // namespace

#endif
