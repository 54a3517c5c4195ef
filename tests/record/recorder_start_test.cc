/* SPDX-License-Identifier: Apache-2.0
 *
 * How recording begins: the trace's header, what begins with it, and what there is without memory for it.
 */
#include "tests/record/recording.h"
#include "tests/support/run_child.h"

#include <cerrno>
#include <functional>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern "C" {
#include "interpose/env/env.h"
#include "interpose/record/file/store.h"
#include "interpose/record/log.h"
#include "interpose/record/recorder.h"
#include "interpose/record/start.h"
}

namespace
{

std::function<void()> g_meanwhile; /* what others do while the header is written */

uint64_t milliseconds(const std::function<void()> &what)
{
    const uint64_t before = clock_nanoseconds(CLOCK_MONOTONIC);
    what();
    return (clock_nanoseconds(CLOCK_MONOTONIC) - before) / 1000000;
}

} // namespace

/* In the place of libc's. */
extern "C" __attribute__((visibility("default"))) int gethostname(char *name, size_t size) noexcept
{
    struct utsname system;
    if (g_meanwhile)
        g_meanwhile();
    uname(&system);
    strncpy(name, system.nodename, size);
    return 0;
}

namespace
{

/* ---- the header ---- */

class Header : public Recording
{
protected:
    void SetUp() override
    {
        setenv("RANK", "5", 1);
        setenv("WORLD_SIZE", "12", 1);
        setenv("PTDS_RUN", "4711:1:", 1);
        Recording::SetUp();
    }
    void TearDown() override
    {
        for (const char *name : {"RANK", "WORLD_SIZE", "PTDS_RUN"})
            unsetenv(name);
        Recording::TearDown();
    }
};

TEST_F(Header, SaysWhoseTraceItIs)
{
    const struct ptds_trace_header *header = store_header();
    char host[64] = "", program[256] = "";
    gethostname(host, sizeof host - 1);
    ASSERT_GT(readlink("/proc/self/exe", program, sizeof program - 1), 0);
    EXPECT_EQ(0, memcmp(header->magic, "PTDSTRC1", 8));
    EXPECT_EQ(1u, header->version);
    EXPECT_EQ(65536u, header->header_size);
    EXPECT_EQ(32768u, header->chunk_size);
    EXPECT_EQ(64u, header->call_size);
    EXPECT_EQ(uint32_t(getpid()), header->pid);
    EXPECT_EQ(uint32_t(getppid()), header->parent_pid);
    EXPECT_EQ(5, header->rank);
    EXPECT_EQ(12, header->ranks);
    EXPECT_EQ(4711u, header->run);
    EXPECT_EQ(unsigned(clock_source), unsigned(header->clock));
    EXPECT_NE(0u, header->born);
    EXPECT_STREQ(host, header->host);
    EXPECT_STREQ(program, header->program);
    EXPECT_STREQ("1.0.0", header->shim);
    EXPECT_EQ(uint64_t{64} * PTDS_CHUNK_SIZE, header->limit);
    EXPECT_EQ(0u, header->clean_end);
    const std::string schema(reinterpret_cast<const char *>(header) + header->schema_offset, header->schema_size);
    EXPECT_EQ(4096u, header->schema_offset);
    EXPECT_EQ(0u, schema.find("STRING 1 id:u32 role:u32 text:char...\nAPI 2 api:u16 twin:u16 class_:u32 text:char...\n"));
    EXPECT_EQ('\n', schema.back());
}

/* ---- where it begins ---- */

class Beginning : public Recording
{
};

TEST_F(Beginning, NothingIsBegunThatNobodyWants)
{
    recorder_after_fork();
    const_cast<struct env *>(env_get())->recording = 0;
    start_recording();
    EXPECT_EQ(0u, recorder_running);
    EXPECT_EQ(nullptr, store_header());
}

int g_started;

TEST_F(Beginning, WhatBeginsWithIt)
{
    ptds::Folder folder;
    const std::string log = folder / "log";
    struct env *env = const_cast<struct env *>(env_get());
    record(made());
    const struct ptds_trace_header *before = store_header();
    start_recording();
    EXPECT_EQ(before, store_header()) << "once";
    recorder_after_fork();
    env->log = {ENV_OUTPUT_FILE, log.c_str()};
    recorder_started = [] { g_started++; };
    errno = ENOTTY;
    start_recording();
    EXPECT_EQ(ENOTTY, errno);
    EXPECT_EQ(1, g_started);
    EXPECT_TRUE(log_on());
    EXPECT_GE(all<ptds_rec_CLOCK>(PTDS_REC_CLOCK).size(), 1u);
    thread_ = {};
    thread_.uid = 7;
    record(made());
    EXPECT_EQ(1u, all<ptds_rec_STACK>(PTDS_REC_STACK).size()) << "what the parent knows is in the parent's";
    EXPECT_EQ(1u, last<ptds_rec_CALL>(PTDS_REC_CALL).stack);
    recorder_after_fork();
    EXPECT_FALSE(log_on());
    env->log = {ENV_OUTPUT_OFF, nullptr};
    recorder_started = nullptr;
}

/* ---- those that come meanwhile ---- */

/* As in a signal handler: it would wait for itself. */
TEST_F(Beginning, WithinItself)
{
    recorder_after_fork();
    g_meanwhile = [] {
        EXPECT_LT(milliseconds(start_recording), 500u);
        EXPECT_EQ(0u, recorder_running);
    };
    start_recording();
    g_meanwhile = nullptr;
    EXPECT_TRUE(recorder_on());
    EXPECT_EQ(1u, store_header()->refused) << "that call is not recorded";
}

TEST_F(Beginning, OthersWaitForIt)
{
    recorder_after_fork();
    std::thread other;
    uint32_t running = 0;
    g_meanwhile = [&] {
        other = std::thread([&] {
            start_recording();
            running = recorder_running;
        });
        usleep(50000);
    };
    start_recording();
    g_meanwhile = nullptr;
    other.join();
    EXPECT_EQ(1u, running);
    EXPECT_EQ(0u, store_header()->refused);
}

/* It may be waiting for them: after a second they go on, and whoever comes then does not wait. */
TEST_F(Beginning, OthersDoNotWaitForEver)
{
    recorder_after_fork();
    g_meanwhile = [] {
        for (const bool first : {true, false}) {
            uint64_t took = 0;
            std::thread([&] { took = milliseconds(start_recording); }).join();
            EXPECT_EQ(0u, recorder_running);
            EXPECT_TRUE(first ? took >= 900 : took < 500) << took;
        }
    };
    start_recording();
    g_meanwhile = nullptr;
    EXPECT_TRUE(recorder_on());
    EXPECT_EQ(2u, store_header()->refused);
    recorder_after_fork();
    start_recording();
    EXPECT_EQ(0u, store_header()->refused) << "that was the parent's";
}

/* ---- without memory ---- */

/* In a child, which gets no more of it. */
TEST_F(Beginning, WithoutMemoryForTheTrace)
{
    const pid_t child = fork();
    if (child == 0) {
        recorder_after_fork();
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_AS, &none);
        errno = ENOTTY;
        start_recording();
        bool right = errno == ENOTTY && recorder_running == 2;
        record(made());
        start_recording(); /* which does not try again */
        _exit(right && recorder_running == 2 && !thread_.counts && !store_header() ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
}

/* Counted all the same: in memory, or where there is none of that either not at all. */
TEST_F(Beginning, WithoutMemoryForCounts)
{
    const pid_t child = fork();
    if (child == 0) {
        size_t old;
        while (store_chunk(PTDS_CHUNK_DEFINITIONS, 1, &old)) {
        }
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_AS, &none);
        const uint64_t before = store_header()->refused;
        record(made());
        _exit(!thread_.counts && !thread_.chunk && thread_.lost == 1 && store_header()->refused > before ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
}

} // namespace
