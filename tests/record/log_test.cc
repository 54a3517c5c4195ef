/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines of PTDS_LOG: which calls get one, and each of its words.
 */
#include <cerrno>
#include <cfenv>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/record/logged.h"

extern "C" {
#include "interpose/env/env.h"
#include "interpose/base/loaded.h"
#include "interpose/base/elf.h"
}

namespace
{

uint64_t g_now; /* CLOCK_MONOTONIC; 0: the machine's own */

} // namespace

/* In the place of libc's. */
extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *now) noexcept
{
    if (g_now == 0 || id != CLOCK_MONOTONIC)
        return static_cast<int>(syscall(SYS_clock_gettime, id, now));
    *now = {time_t(g_now / 1000000000), long(g_now % 1000000000)};
    return 0;
}

namespace
{

/* Names are kept as long as there is room for them, which is 256 kB: 2166 of 121 bytes each and 58 more. In a child, since
 * they are kept for good. */
TEST_F(Log, NamesOfKernels)
{
    for (const size_t rest : {57u, 58u}) {
        const pid_t child = fork();
        if (child == 0) {
            const std::string longer(130, 'k'), after = " on blocking stream #5 from thread 4";
            for (uint32_t uid = 1; uid <= 2166; uid++)
                log_kernel(uid, longer.c_str());
            log_kernel(3000, std::string(rest, 'r').c_str());
            log_kernel(3001, "x");
            auto named = [&](uint32_t uid) {
                work(5, PTDS_STREAM_BLOCKING, &here_, uid);
                return legacy_waits();
            };
            const std::string whole = "kernel " + std::string(120, 'k') + after, none = "cuLaunchKernel" + after;
            const std::string last = rest == 57 ? "kernel " + std::string(57, 'r') + after : none;
            _exit(named(1) == whole && named(2166) == whole && named(3000) == last && named(3001) == none ? 0 : 1);
        }
        int status = -1;
        ASSERT_EQ(child, waitpid(child, &status, 0));
        EXPECT_EQ(0, status) << rest;
    }
}

TEST_F(Log, NamesByNumber)
{
    log_kernel(0, "none");
    log_kernel(4095, "last");
    log_kernel(4096, "past the table");
    log_kernel(7, nullptr);
    log_kernel(8, "");
    for (const auto &[uid, name] : {std::pair{0u, "cuLaunchKernel"},
                                    {4095u, "kernel last"},
                                    {4096u, "cuLaunchKernel"},
                                    {7u, "cuLaunchKernel"},
                                    {8u, "cuLaunchKernel"}}) {
        work(5, PTDS_STREAM_BLOCKING, &here_, uid);
        EXPECT_EQ(std::string(name) + " on blocking stream #5 from thread 4", legacy_waits()) << uid;
    }
}

TEST_F(Log, NoNameIsTakenWhereItIsOff)
{
    const int file = log_file;
    log_file = -1;
    log_kernel(9, "unseen");
    log_file = file;
    work(5, PTDS_STREAM_BLOCKING, &here_, 9);
    EXPECT_EQ("cuLaunchKernel on blocking stream #5 from thread 4", legacy_waits());
}

/* ---- calls that blocked ---- */

TEST_F(Log, WhatBlocked)
{
    struct call copy = made(API_cuMemcpyDtoH_v2, PTDS_OP_COPY, &here_), set = made(API_cuMemsetD8, PTDS_OP_MEMSET, &here_);
    copy.flags = PTDS_CALL_LEGACY;
    copy.word[2] = 100, copy.word[3] = 3;
    feclearexcept(FE_ALL_EXCEPT);
    log_call(&copy, 1500000, 0);
    copy.flags = PTDS_CALL_LEGACY | PTDS_CALL_REMAPPED;
    copy.caller = reinterpret_cast<const void *>(0x20);
    log_call(&copy, 2000499, 0);
    set.word[1] = 7, set.word[2] = 5;
    set.caller = reinterpret_cast<const void *>(0x30);
    log_call(&set, 100000, 0);
    call(API_cuCtxSynchronize, PTDS_OP_CTX_SYNC, &here_, 123456789);
    EXPECT_EQ(0, fetestexcept(FE_ALL_EXCEPT)) << "the program's floating-point state stays";
    EXPECT_EQ((Lines{"thread 4 (tid 777): cuMemcpyDtoH_v2 of 300 bytes blocked the host for 1.500 ms at ?+0x10, on the "
                     "legacy stream; last seen pending: nothing that the shim has seen",
                     "thread 4 (tid 777): cuMemcpyDtoH_v2 of 300 bytes blocked the host for 2.000 ms at ?+0x20, on its "
                     "new stream; last seen pending: nothing that the shim has seen",
                     "thread 4 (tid 777): cuMemsetD8 of 35 bytes blocked the host for 0.100 ms at ?+0x30, on its "
                     "stream; last seen pending: nothing that the shim has seen",
                     "thread 4 (tid 777): cuCtxSynchronize blocked the host for 123.457 ms at ?+0x10, on the whole "
                     "context; last seen pending: nothing that the shim has seen"}),
              lines());
}

TEST_F(Log, WhatIsNoBlocking)
{
    waits(5, PTDS_OP_STREAM_SYNC, 0, CUDA_SUCCESS, 99999);
    call(API_cuFuncSetCacheConfig, PTDS_OP_NONE, &here_, kLong);
    call(API_cuCtxCreate_v2, PTDS_OP_CTX_CREATE, &here_, kLong);
    EXPECT_EQ(Lines{}, lines());
    waits(5, PTDS_OP_STREAM_SYNC, 0, CUDA_SUCCESS, 100000);
    EXPECT_EQ(1u, lines().size());
}

/* Whatever is pending may be it, a stream's own work and that of non-blocking streams as well. */
TEST_F(Log, WhatBlockedItMayBe)
{
    log_kernel(21, "mine");
    work(5, PTDS_STREAM_NON_BLOCKING, &here_, 21);
    waits(5, PTDS_OP_EVENT_SYNC, 0, CUDA_SUCCESS, kLong);
    work(6, PTDS_STREAM_BLOCKING, &there_);
    waits(5, PTDS_OP_EVENT_SYNC, 0, CUDA_SUCCESS, kLong);
    EXPECT_EQ((Lines{"thread 4 (tid 777): cuStreamSynchronize blocked the host for 1.500 ms at ?+0x10, on its stream; last "
                     "seen pending: kernel mine on non-blocking stream #5 from thread 4",
                     "thread 4 (tid 777): cuStreamSynchronize blocked the host for 1.500 ms at ?+0x10, on its stream; last "
                     "seen pending: kernel mine on non-blocking stream #5 from thread 4"}),
              lines());
}

TEST_F(Log, ThreeLinesASiteAndKind)
{
    work(5);
    for (int i = 0; i < 5; i++) {
        struct call C = made(API_cuStreamSynchronize, PTDS_OP_STREAM_SYNC, &here_);
        log_entering(&C);
        C.result = CUDA_ERROR_NOT_READY;
        log_call(&C, kLong, 0);
    }
    EXPECT_EQ(6u, lines().size());
    site_ = 0x50;
    waits(5, PTDS_OP_EVENT_SYNC, 0, CUDA_SUCCESS, kLong);
    EXPECT_EQ(7u, lines().size());
    log_finish();
    EXPECT_EQ("thread 0 (tid 0): 4 further lines of sites already shown", lines().back());
    EXPECT_EQ(8u, lines().size());
}

TEST_F(Log, ThreeLinesOfALegacySite)
{
    work(5);
    struct call C = made(API_cuMemsetD8Async, PTDS_OP_MEMSET, &here_);
    C.target_uid = kLegacy;
    C.flags = PTDS_CALL_LEGACY;
    for (int i = 0; i < 4; i++)
        log_call(&C, kShort, 0);
    EXPECT_EQ((Lines(3, "thread 4 (tid 777): cuMemsetD8Async at ?+0x10 is on the legacy stream and may wait for "
                        "cuLaunchKernel on blocking stream #5 from thread 4")),
              lines());
    log_finish();
    EXPECT_EQ("thread 0 (tid 0): 1 further lines of sites already shown", lines().back());
}

/* What was moved away, what never was there, and what is no work of a stream. */
TEST_F(Log, WhatIsNotOnTheLegacyStream)
{
    work(5);
    struct call C = made(API_cuMemsetD8Async, PTDS_OP_MEMSET, &here_);
    C.target_uid = kLegacy;
    C.flags = PTDS_CALL_LEGACY | PTDS_CALL_REMAPPED;
    log_call(&C, kShort, 0);
    C.flags = 0;
    log_call(&C, kShort, 0);
    C.flags = PTDS_CALL_REMAPPED;
    log_call(&C, kShort, 0);
    EXPECT_EQ(Lines{}, lines());
    C.flags = PTDS_CALL_LEGACY;
    log_call(&C, kShort, 0);
    EXPECT_EQ(1u, lines().size());
    C.target_uid = 0;
    log_call(&C, kShort, 0);
    C.op = PTDS_OP_STREAM_QUERY, C.target_uid = kLegacy;
    log_call(&C, kShort, 0);
    EXPECT_EQ(1u, lines().size());
}

/* Neighbours are counted apart, and so are the kinds of lines of one of them. */
TEST_F(Log, ThreeOfEachSite)
{
    constexpr unsigned kSites = 40;
    work(5);
    for (int times = 0; times < 4; times++) {
        for (unsigned i = 0; i < kSites; i++) {
            struct call legacy = made(API_cuMemsetD8Async, PTDS_OP_MEMSET, &here_);
            legacy.caller = reinterpret_cast<const void *>(0x20 + uintptr_t{i});
            legacy.target_uid = kLegacy;
            legacy.flags = PTDS_CALL_LEGACY;
            legacy.result = CUDA_ERROR_INVALID_VALUE;
            log_entering(&legacy);
            log_call(&legacy, kShort, 0);
            log_call(&legacy, kLong, 0);
        }
        EXPECT_EQ(3 * kSites * size_t(std::min(times + 1, 3)), lines().size());
    }
}

TEST_F(Log, NothingFurther)
{
    call(API_cuCtxSynchronize, PTDS_OP_CTX_SYNC, &here_, kLong);
    log_finish();
    EXPECT_EQ(1u, lines().size());
}

/* ---- calls that go in ---- */

TEST_F(Log, WhoGoesIn)
{
    struct call C = made(API_cuStreamSynchronize, PTDS_OP_STREAM_SYNC, &here_);
    C.target_uid = 5;
    log_entering(&C);
    EXPECT_EQ(Lines{}, lines()) << "nothing is pending";
    work(5, PTDS_STREAM_NON_BLOCKING);
    log_entering(&C);
    struct call legacy = made(API_cuMemcpyDtoH_v2, PTDS_OP_COPY, &here_);
    legacy.flags = PTDS_CALL_LEGACY;
    log_entering(&legacy);
    EXPECT_EQ((Lines{"thread 4 (tid 777): cuStreamSynchronize goes in at ?+0x10; it may wait for cuLaunchKernel on "
                     "non-blocking stream #5 from thread 4"}),
              lines())
        << "what is legacy does not wait for non-blocking streams";
    work(6);
    legacy.caller = reinterpret_cast<const void *>(0x11);
    log_entering(&legacy);
    EXPECT_EQ(2u, lines().size());
    legacy.flags = 0;
    log_entering(&legacy);
    EXPECT_EQ(2u, lines().size()) << "its stream is its own";
    EXPECT_EQ("thread 4 (tid 777): cuMemcpyDtoH_v2 goes in at ?+0x11; it may wait for cuLaunchKernel on blocking stream #6 "
              "from thread 4",
              lines().back());
}

/* Those wait for non-blocking streams, too. */
TEST_F(Log, WhatWaitsForTheContext)
{
    work(5, PTDS_STREAM_NON_BLOCKING);
    size_t expected = 0;
    for (unsigned op = PTDS_OP_NONE; op <= PTDS_OP_GRAPH_UPLOAD; op++) {
        struct call C = made(API_cuCtxSynchronize, uint8_t(op), &here_);
        C.caller = reinterpret_cast<const void *>(++site_);
        log_entering(&C);
        switch (op) {
        case PTDS_OP_STREAM_SYNC:
        case PTDS_OP_CTX_SYNC:
        case PTDS_OP_FREE:
        case PTDS_OP_FREE_HOST:
        case PTDS_OP_UNREGISTER:
        case PTDS_OP_ARRAY_DESTROY:
        case PTDS_OP_MODULE_LOAD:
        case PTDS_OP_MODULE_UNLOAD:
        case PTDS_OP_CTX_LIMIT: expected++; break;
        default: break;
        }
        EXPECT_EQ(expected, lines().size()) << op;
    }
}

/* ---- where and when ---- */

TEST_F(Log, TheSiteIsAnObjectAndAnOffset)
{
    struct elf_object program, libc;
    ASSERT_TRUE(loaded_containing(reinterpret_cast<const void *>(&setting), &program));
    ASSERT_TRUE(loaded_containing(reinterpret_cast<const void *>(&getpid), &libc));
    struct call C = made(API_cuCtxSynchronize, PTDS_OP_CTX_SYNC, &here_);
    C.caller = reinterpret_cast<const void *>(program.bias + 0x1234);
    log_call(&C, kLong, 0);
    EXPECT_NE(std::string::npos, lines().back().find(" at program+0x1234, ")) << lines().back();
    C.caller = reinterpret_cast<const void *>(libc.bias + 0x1234);
    log_call(&C, kLong, 0);
    EXPECT_NE(std::string::npos, lines().back().find(" at libc.so.6+0x1234, ")) << lines().back();
}

TEST_F(Log, TheTimeIsSinceTheStart)
{
    g_now = 100000000000;
    log_after_fork();
    log_start();
    std::string expected;
    for (const auto &[at, said] : {std::pair{100000000999u, "0.000000"},
                                   {100000001000u, "0.000001"},
                                   {100999999999u, "0.999999"},
                                   {101000000000u, "1.000000"},
                                   {4711123456789u, "4611.123456"}}) {
        g_now = at;
        call(API_cuCtxSynchronize, PTDS_OP_CTX_SYNC, &here_, kLong);
        expected += std::string("ptds: +") + said +
                    " s thread 4 (tid 777): cuCtxSynchronize blocked the host for 1.500 ms "
                    "at ?+0x1" +
                    std::to_string(site_ - 0x10) +
                    ", on the whole context; last seen pending: nothing that the shim has "
                    "seen\n";
        site_++;
    }
    g_now = 0;
    EXPECT_EQ(expected, ptds::read_file(path_));
}

/* Ticks of the counter, as many nanoseconds as went by meanwhile. */
TEST_F(Log, TicksAreTurnedIntoTime)
{
    clock_start();
    if (clock_source == PTDS_CLOCK_MONOTONIC)
        GTEST_SKIP() << "no counter that can be trusted";
    log_after_fork();
    const struct clock_reading before = clock_read();
    log_start();
    usleep(50000);
    const struct clock_reading now = clock_read();
    feclearexcept(FE_ALL_EXCEPT);
    call(API_cuCtxSynchronize, PTDS_OP_CTX_SYNC, &here_, now.ticks - before.ticks);
    EXPECT_EQ(0, fetestexcept(FE_ALL_EXCEPT));
    double said = 0;
    const std::string line = lines().back();
    ASSERT_EQ(1, sscanf(line.c_str(), "thread 4 (tid 777): cuCtxSynchronize blocked the host for %lf ms", &said)) << line;
    EXPECT_NEAR(double(now.monotonic - before.monotonic) / 1e6, said, 1);
}

/* ---- the file ---- */

TEST_F(Log, TheFileIsBegunAnewAndNoErrorIsLeft)
{
    log_after_fork();
    path_ = folder_ / "other";
    *setting() = {ENV_OUTPUT_FILE, path_.c_str()};
    std::ofstream(path_) << "an earlier run's\n";
    errno = ENOTTY;
    log_start();
    EXPECT_EQ("", ptds::read_file(path_));
    errno = ENOTTY;
    call(API_cuCtxSynchronize, PTDS_OP_CTX_SYNC, &here_, kLong);
    EXPECT_EQ(ENOTTY, errno);
    std::ofstream(path_, std::ios::app) << "another's\n";
    call(API_cuCtxSynchronize, PTDS_OP_CTX_SYNC, &here_, kLong);
    EXPECT_EQ(3u, lines().size()) << "each line goes to the end of the file";
}

TEST_F(Log, AForkedChildHasNone)
{
    const int file = log_file;
    for (int i = 0; i < 4; i++)
        call(API_cuCtxSynchronize, PTDS_OP_CTX_SYNC, &here_, kLong);
    log_after_fork();
    EXPECT_EQ(-1, fcntl(file, F_GETFD)) << "the parent's";
    EXPECT_FALSE(log_on());
    log_finish();
    log_start();
    for (int i = 0; i < 3; i++)
        call(API_cuCtxSynchronize, PTDS_OP_CTX_SYNC, &here_, kLong);
    log_finish();
    EXPECT_EQ(6u, lines().size()) << "beside the parent's: the sites are counted anew, and nothing was left out";
}

/* Another process's. */
TEST_F(Log, AFileThatIsBeingWritten)
{
    for (const bool is_held : {true, false}) {
        path_ = folder_ / (is_held ? "held" : "left");
        std::ofstream(path_) << "before\n";
        const int other = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
        ASSERT_EQ(0, flock(other, LOCK_SH));
        if (!is_held)
            close(other);
        log_after_fork();
        *setting() = {ENV_OUTPUT_FILE, path_.c_str()};
        log_start();
        EXPECT_EQ(is_held ? "before\n" : "", ptds::read_file(path_));
        const int later = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
        EXPECT_NE(0, flock(later, LOCK_EX | LOCK_NB)) << "it says so itself";
        close(later);
        if (is_held)
            close(other);
    }
}

TEST_F(Log, StderrStaysOpen)
{
    log_after_fork();
    *setting() = {ENV_OUTPUT_STDERR, nullptr};
    log_start();
    EXPECT_EQ(STDERR_FILENO, log_file);
    log_after_fork();
    EXPECT_NE(-1, fcntl(STDERR_FILENO, F_GETFD));
    *setting() = {ENV_OUTPUT_OFF, nullptr};
    log_start();
    EXPECT_FALSE(log_on());
}

} // namespace
