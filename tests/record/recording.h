/* SPDX-License-Identifier: Apache-2.0
 *
 * Recording on, in memory, for a test that plays the wrappers; and what has been written since.
 */
#ifndef PTDS_TESTS_RECORD_RECORDING_H
#define PTDS_TESTS_RECORD_RECORDING_H

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "interpose/base/clock.h"
#include "interpose/env/env.h"
#include "interpose/record/recorder.h"
#include "interpose/record/file/store.h"
#include "interpose/record/start.h"
}

namespace
{

class Recording : public testing::Test
{
protected:
    void SetUp() override
    {
        struct env *env = const_cast<struct env *>(env_get());
        env->recording = 1;
        env->trace = nullptr;
        env->memory_limit = 64 * PTDS_CHUNK_SIZE;
        env->policy = ENV_POLICY_guarded;
        start_recording();
        ASSERT_TRUE(recorder_on());
        thread_.uid = 7;
        thread_.tid = 70;
        thread_.fork_generation = thread_fork_generation;
        context_.uid = 3;
        context_.device = -1;
    }
    void TearDown() override
    {
        recorder_after_fork();
        EXPECT_FALSE(recorder_on());
        const_cast<struct env *>(env_get())->recording = 0;
    }
    struct call made(uint16_t api = API_cuLaunchKernel, uint8_t op = PTDS_OP_LAUNCH)
    {
        struct call call = {};
        call.api = api;
        call.op = op;
        call.caller = reinterpret_cast<const void *>(0x10);
        call.frame = &frame_[1];
        call.thread = &thread_;
        call.context = &context_;
        call.enter = 1000;
        return call;
    }
    static struct call record(struct call call)
    {
        recorder_call(&call);
        return call;
    }
    /* The bytes of all records of a kind, in the order of their chunks. */
    static std::vector<std::string> bytes_of(uint16_t kind)
    {
        std::vector<std::string> found;
        const struct ptds_chunk *chunk;
        for (uint64_t i = 0; (chunk = store_chunk_at(i)) != nullptr; i++) {
            const char *at = reinterpret_cast<const char *>(chunk + 1), *end = at + chunk->committed;
            if (chunk->kind != PTDS_CHUNK_CALLS && chunk->kind != PTDS_CHUNK_DEFINITIONS)
                continue;
            while (at < end) {
                struct ptds_record record;
                memcpy(&record, at, sizeof record);
                EXPECT_TRUE(record.size >= sizeof record && record.size % 8 == 0 && record.size <= end - at);
                if (record.kind == kind)
                    found.emplace_back(at, at + record.size);
                at += record.size < sizeof record ? sizeof record : record.size;
            }
        }
        return found;
    }
    template <class Record> static std::vector<Record> all(uint16_t kind)
    {
        std::vector<Record> found;
        for (const std::string &bytes : bytes_of(kind)) {
            found.emplace_back();
            memcpy(&found.back(), bytes.data(), sizeof(Record));
        }
        return found;
    }
    /* The one that was written last. */
    template <class Record> static Record last(uint16_t kind)
    {
        std::vector<Record> found = all<Record>(kind);
        EXPECT_FALSE(found.empty());
        return found.empty() ? Record{} : found.back();
    }
    template <class Record> static std::vector<std::string> texts(uint16_t kind)
    {
        std::vector<std::string> found;
        for (const std::string &bytes : bytes_of(kind))
            found.push_back(bytes.substr(sizeof(Record)).c_str());
        return found;
    }
    const struct ptds_count &count(uint16_t api, int twin = 0) const
    {
        return thread_.counts[api * 2 + twin];
    }
    const struct ptds_default_count &on_default() const
    {
        return *thread_.defaults;
    }
    struct thread thread_ = {};
    struct context context_ = {};
    const void *frame_[4] = {};
};

} // namespace

#endif
