/* SPDX-License-Identifier: Apache-2.0
 *
 * PTDS_LOG on, and calls that a test makes up.
 */
#ifndef PTDS_TESTS_RECORD_LOGGED_H
#define PTDS_TESTS_RECORD_LOGGED_H

#include <gtest/gtest.h>

#include <regex>

#include "tests/support/run_child.h"

extern "C" {
#include "interpose/base/clock.h"
#include "interpose/env/env.h"
#include "interpose/record/log.h"
}

namespace
{

constexpr uint64_t kLong = 1500000, kShort = 0; /* ns */

struct env_output_to *setting()
{
    return &const_cast<struct env *>(env_get())->log;
}

/* Two contexts, and streams of the program's in the first. */
class Log : public testing::Test
{
protected:
    void SetUp() override
    {
        clock_source = PTDS_CLOCK_MONOTONIC;
        path_ = folder_ / "log";
        *setting() = {ENV_OUTPUT_FILE, path_.c_str()};
        log_start();
        ASSERT_TRUE(log_on());
        thread_.uid = 4;
        thread_.tid = 777;
        here_.uid = 1;
        there_.uid = 2;
    }
    void TearDown() override
    {
        call(API_cuCtxSynchronize, PTDS_OP_CTX_SYNC, &here_);
        call(API_cuCtxSynchronize, PTDS_OP_CTX_SYNC, &there_);
        log_after_fork();
        EXPECT_FALSE(log_on());
        *setting() = {ENV_OUTPUT_OFF, nullptr};
    }
    struct call made(uint16_t api, uint8_t op, struct context *context)
    {
        struct call call = {};
        call.api = api;
        call.op = op;
        call.caller = reinterpret_cast<const void *>(site_);
        call.thread = &thread_;
        call.context = context;
        return call;
    }
    void call(uint16_t api, uint8_t op, struct context *context, uint64_t ns = kShort)
    {
        struct call C = made(api, op, context);
        log_call(&C, ns, 0);
    }
    /* A launch on a created stream. */
    void work(uint32_t uid, uint32_t kind = PTDS_STREAM_BLOCKING, struct context *context = nullptr, uint32_t kernel = 0,
              CUresult result = CUDA_SUCCESS)
    {
        struct stream stream = {};
        stream.kind = kind;
        struct call C = made(API_cuLaunchKernel, PTDS_OP_LAUNCH, context ? context : &here_);
        C.stream = &stream;
        C.target_uid = uid;
        C.object = kernel;
        C.result = result;
        log_call(&C, kShort, 0);
    }
    /* A call that waits for a stream. */
    void waits(uint32_t uid, uint8_t op = PTDS_OP_STREAM_SYNC, uint32_t flags = 0, CUresult result = CUDA_SUCCESS,
               uint64_t ns = kShort)
    {
        struct call C = made(API_cuStreamSynchronize, op, &here_);
        C.target_uid = uid;
        C.flags = flags;
        C.result = result;
        log_call(&C, ns, 0);
    }
    /* What a memset on the legacy stream, from a new site, is said to wait for; "" nothing. */
    std::string legacy_waits(uint32_t flags = PTDS_CALL_LEGACY)
    {
        return legacy_waits_in(&here_, flags);
    }
    std::string legacy_waits_in(struct context *context, uint32_t flags = PTDS_CALL_LEGACY)
    {
        struct call C = made(API_cuMemsetD8Async, PTDS_OP_MEMSET, context);
        C.caller = reinterpret_cast<const void *>(++site_);
        C.target_uid = kLegacy;
        C.flags = flags;
        C.result = CUDA_ERROR_INVALID_VALUE; /* it is no work itself then */
        const size_t before = lines().size();
        log_call(&C, kShort, 0);
        const std::string words = " is on the legacy stream and may wait for ";
        std::vector<std::string> now = lines();
        return now.size() == before ? "" : now.back().substr(now.back().find(words) + words.size());
    }
    /* Without the times, which say when it was. */
    std::vector<std::string> lines()
    {
        std::vector<std::string> found = ptds::lines_of(ptds::read_file(path_));
        for (std::string &line : found)
            line = std::regex_replace(line, std::regex("^ptds: \\+[0-9]+\\.[0-9]{6} s "), "");
        return found;
    }
    using Lines = std::vector<std::string>;
    static constexpr uint32_t kLegacy = 900;
    ptds::Folder folder_;
    std::string path_;
    struct thread thread_ = {};
    struct context here_ = {}, there_ = {};
    uintptr_t site_ = 0x10; /* in no object */
};

} // namespace

#endif
