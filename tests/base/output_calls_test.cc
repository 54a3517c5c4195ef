/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernel is asked where the shim says something, call by call, and what becomes of each answer that it may give.
 */
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstring>
#include <deque>
#include <map>
#include <poll.h>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include "interpose/base/output.h"
}

namespace
{

constexpr int kError = 77; /* errno as the program has it */

struct Answer {
    long result;
    int error = 0; /* or the events that poll(2) tells of */
};

/* The kernel: what it was asked, and what it says; where a test says nothing, all goes well. */
struct Kernel {
    bool on = false;
    std::vector<std::string> asked;
    std::map<long, std::deque<Answer>> says;
    uint64_t device = 7, inode = 8, blocked = 0, waiting = 0;
    bool next(long number, Answer *answer)
    {
        std::deque<Answer> &left = says[number];
        if (left.empty())
            return false;
        *answer = left.front();
        left.pop_front();
        return true;
    }
    void note(const std::string &what)
    {
        asked.push_back(what);
    }
} g_kernel;

std::string hex(uint64_t bits)
{
    char text[32];
    snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(bits));
    return text;
}

std::string text_of(long address, long size)
{
    const char *text = reinterpret_cast<const char *>(address);
    return size > 16 ? std::to_string(size) + " from " + std::string(1, text[0]) : std::string(text, size_t(size));
}

long stat_of(long address)
{
    struct stat *stat = reinterpret_cast<struct stat *>(address);
    stat->st_dev = g_kernel.device;
    stat->st_ino = g_kernel.inode;
    return 0;
}

long masked(const long *a)
{
    const uint64_t *set = reinterpret_cast<const uint64_t *>(a[1]);
    if (a[2] != 0)
        memcpy(reinterpret_cast<void *>(a[2]), &g_kernel.blocked, sizeof g_kernel.blocked);
    g_kernel.note((int(a[0]) == SIG_BLOCK     ? "block "
                   : int(a[0]) == SIG_SETMASK ? "mask "
                                              : "? ") +
                  hex(*set) + " of " + std::to_string(a[3]));
    return 0;
}

long polled(const long *a)
{
    struct pollfd *file = reinterpret_cast<struct pollfd *>(a[0]);
    const struct timespec *most = reinterpret_cast<const struct timespec *>(a[2]);
    g_kernel.note("poll " + std::to_string(int(a[1])) + ": " + std::to_string(file->fd) + " for " +
                  hex(uint64_t(file->events)) + ", " + std::to_string(most->tv_sec) + "." + std::to_string(most->tv_nsec) +
                  " s" + (a[3] ? " masked" : ""));
    file->revents = POLLOUT;
    return 1;
}

long signal_taken(const long *a)
{
    const struct timespec *most = reinterpret_cast<const struct timespec *>(a[2]);
    g_kernel.note("take " + hex(*reinterpret_cast<const uint64_t *>(a[0])) + " of " + std::to_string(a[3]) + " in " +
                  std::to_string(most->tv_sec + most->tv_nsec) + (a[1] ? " told" : ""));
    return SIGPIPE;
}

long well(long number, const long *a)
{
    const std::string file = std::to_string(int(a[0]));
    switch (number) {
    case SYS_fcntl:
        g_kernel.note("dup " + file + " by " + std::to_string(int(a[1])) + " from " + std::to_string(int(a[2])));
        return 905;
    case SYS_fstat: g_kernel.note("stat " + file); return stat_of(a[1]);
    case SYS_close: g_kernel.note("close " + file); return 0;
    case SYS_openat:
        g_kernel.note("open " + file + " " + reinterpret_cast<const char *>(a[1]) + " " + hex(uint32_t(a[2])) + " " +
                      hex(uint32_t(a[3])));
        return 4;
    case SYS_write: g_kernel.note("write " + file + " " + text_of(a[1], a[2])); return a[2];
    case SYS_ppoll: return polled(a);
    case SYS_rt_sigprocmask: return masked(a);
    case SYS_rt_sigpending:
        g_kernel.note("pending of " + std::to_string(a[1]));
        memcpy(reinterpret_cast<void *>(a[0]), &g_kernel.waiting, sizeof g_kernel.waiting);
        return 0;
    case SYS_rt_sigtimedwait: return signal_taken(a);
    default: g_kernel.note("? " + std::to_string(number)); return 0;
    }
}

long answered(long number, const long *a)
{
    const long result = well(number, a);
    Answer answer = {0};
    errno = 99; /* no call leaves it alone */
    if (!g_kernel.next(number, &answer))
        return result;
    if (number == SYS_ppoll && answer.result > 0)
        reinterpret_cast<struct pollfd *>(a[0])->revents = short(answer.error);
    else
        errno = answer.error;
    return answer.result;
}

} // namespace

/* In the place of libc's. The upper half of what was an int may be anything. */
extern "C" __attribute__((visibility("default"))) long syscall(long number, ...) noexcept
{
    long a[6];
    va_list values;
    va_start(values, number);
    for (long &one : a)
        one = va_arg(values, long);
    va_end(values);
    if (g_kernel.on)
        return answered(number, a);
    errno = ENOSYS; /* nothing here asks by this door */
    return -1;
}

namespace
{

using Asked = std::vector<std::string>;

/* SIGPIPE, SIGTTOU and SIGXFSZ: bits 12, 21 and 24. */
const std::string kBlock = "block 1201000 of 8", kMask = "mask 0 of 8", kPoll = "poll 1: 905 for 4, 1.0 s";

class OutputCalls : public testing::Test
{
protected:
    void SetUp() override
    {
        g_kernel = {};
        errno = kError;
    }
    void TearDown() override
    {
        g_kernel.on = false;
    }
    /* What is asked while a text is written; errno is the program's afterwards. */
    Asked written(const std::string &text, int expected = 1)
    {
        g_kernel.asked.clear();
        g_kernel.on = true;
        errno = kError;
        const int result = output_write(&there_, text.data(), text.size());
        const int error = errno;
        g_kernel.on = false;
        EXPECT_EQ(expected, result);
        EXPECT_EQ(kError, error);
        return g_kernel.asked;
    }
    /* Between what always comes first and last. */
    static Asked framed(const Asked &middle)
    {
        Asked all = {"dup 50 by 1030 from 900", "stat 905", kBlock};
        all.insert(all.end(), middle.begin(), middle.end());
        all.insert(all.end(), {kMask, "close 905"});
        return all;
    }
    struct output there_ = {50, 7, 8};
};

TEST_F(OutputCalls, ALineIsPolledForAndWrittenOnce)
{
    EXPECT_EQ(framed({kPoll, "write 905 hello"}), written("hello"));
    EXPECT_EQ(framed({}), written(""));
    there_.file = -1;
    EXPECT_EQ(Asked{}, written("hello", 0));
}

/* A pipe takes 4096 bytes at once, or none. */
TEST_F(OutputCalls, LongTextsGoInPieces)
{
    const std::string piece(4096, 'a');
    EXPECT_EQ(framed({kPoll, "write 905 4096 from a"}), written(piece));
    EXPECT_EQ(framed({kPoll, "write 905 4096 from a", kPoll, "write 905 b"}), written(piece + "b"));
    EXPECT_EQ(framed({kPoll, "write 905 4096 from a", kPoll, "write 905 4096 from a", kPoll, "write 905 rest"}),
              written(piece + piece + "rest"));
}

TEST_F(OutputCalls, LessThanAllIsTaken)
{
    g_kernel.says[SYS_write] = {{2}, {-1, EINTR}, {1}, {-1, EAGAIN}, {0}, {2}};
    EXPECT_EQ(framed({kPoll, "write 905 hello", kPoll, "write 905 llo", kPoll, "write 905 llo", kPoll, "write 905 lo",
                      kPoll, "write 905 lo", kPoll, "write 905 lo"}),
              written("hello"));
}

TEST_F(OutputCalls, WhatIsNotWritten)
{
    const std::string piece(4096, 'a');
    g_kernel.says[SYS_write] = {{-1, EIO}};
    EXPECT_EQ(framed({kPoll, "write 905 4096 from a"}), written(piece + "more", 0));
    for (const Answer &answer : {Answer{-1, EBADF}, {1, POLLERR}, {1, POLLOUT | POLLHUP}, {1, 0}}) {
        g_kernel.says[SYS_ppoll] = {answer};
        EXPECT_EQ(framed({kPoll}), written("hello", 0));
    }
}

/* The kernel says in what it was given how long is left. */
TEST_F(OutputCalls, InterruptedWhileItWaits)
{
    g_kernel.says[SYS_ppoll] = {{-1, EINTR}, {-1, EINTR}, {1, POLLOUT}};
    EXPECT_EQ(framed({kPoll, kPoll, kPoll, "write 905 hello"}), written("hello"));
}

/* Who has waited for a second once waits no more. In a child, since that is kept. */
TEST_F(OutputCalls, NoRoomForASecond)
{
    const auto in_the_child = [this] {
        const std::string at_once = "poll 1: 905 for 4, 0.0 s";
        g_kernel.says[SYS_ppoll] = {{0, EINTR}}; /* which is from before */
        EXPECT_EQ(framed({kPoll}), written("hello", 0));
        g_kernel.says[SYS_ppoll] = {{0}};
        EXPECT_EQ(framed({at_once}), written("hello", 0));
        EXPECT_EQ(framed({at_once, "write 905 hello"}), written("hello"));
        _exit(HasFailure() ? 1 : 0);
    };
    EXPECT_EXIT(in_the_child(), testing::ExitedWithCode(0), "");
}

/* Signals that writing raised are taken back, but for one that waited before. */
TEST_F(OutputCalls, SignalsThatItRaised)
{
    struct Row {
        int error;
        uint64_t blocked, waiting;
        std::string taken;
    };
    const uint64_t pipe = 0x1000, limit = 0x1000000, terminal = 0x200000, other = 0x4000;
    for (const Row &row : {Row{EPIPE, 0, 0, "take 1000 of 8 in 0"},
                           {EFBIG, 0, 0, "take 1000000 of 8 in 0"},
                           {EIO, 0, 0, ""},
                           {EPIPE, other, pipe, "take 1000 of 8 in 0"},
                           {EPIPE, pipe, 0, "take 1000 of 8 in 0"},
                           {EPIPE, pipe, pipe, ""},
                           {EPIPE, terminal, limit, "take 1000 of 8 in 0"},
                           {EFBIG, limit | other, limit | pipe, ""},
                           {EFBIG, limit, pipe, "take 1000000 of 8 in 0"}}) {
        g_kernel.blocked = row.blocked;
        g_kernel.waiting = row.waiting;
        g_kernel.says[SYS_write] = {{-1, row.error}};
        Asked all = {"dup 50 by 1030 from 900", "stat 905", kBlock};
        if ((row.blocked & (pipe | limit | terminal)) != 0)
            all.push_back("pending of 8");
        all.insert(all.end(), {kPoll, "write 905 hello"});
        if (!row.taken.empty())
            all.push_back(row.taken);
        all.insert(all.end(), {"mask " + hex(row.blocked) + " of 8", "close 905"});
        EXPECT_EQ(all, written("hello", 0)) << row.error << " " << row.blocked << " " << row.waiting;
    }
}

TEST_F(OutputCalls, InterruptedWhileItTakesASignalBack)
{
    g_kernel.says[SYS_write] = {{-1, EPIPE}};
    g_kernel.says[SYS_rt_sigtimedwait] = {{-1, EINTR}, {-1, EAGAIN}};
    const std::string take = "take 1000 of 8 in 0";
    EXPECT_EQ(framed({kPoll, "write 905 hello", take, take}), written("hello", 0));
}

TEST_F(OutputCalls, SignalsThatCannotBeBlocked)
{
    g_kernel.says[SYS_rt_sigprocmask] = {{-1, EINVAL}};
    EXPECT_EQ((Asked{"dup 50 by 1030 from 900", "stat 905", kBlock, "close 905"}), written("hello", 0));
}

TEST_F(OutputCalls, AnotherFileUnderTheNumber)
{
    for (const auto &[device, inode] : {std::pair{7u, 9u}, {6u, 8u}, {8u, 7u}}) {
        g_kernel.device = device, g_kernel.inode = inode;
        EXPECT_EQ((Asked{"dup 50 by 1030 from 900", "stat 905", "close 905"}), written("hello", 0));
    }
    g_kernel.device = 7, g_kernel.inode = 8;
    g_kernel.says[SYS_fstat] = {{-1, EIO}};
    EXPECT_EQ((Asked{"dup 50 by 1030 from 900", "stat 905", "close 905"}), written("hello", 0));
}

/* Where none is left the program's is written to; where it is closed, nothing is. */
TEST_F(OutputCalls, WithoutADescriptorOfItsOwn)
{
    g_kernel.says[SYS_fcntl] = {{-1, EMFILE}, {-1, EBADF}};
    EXPECT_EQ((Asked{"dup 50 by 1030 from 900", "stat 50", kBlock, "poll 1: 50 for 4, 1.0 s", "write 50 hello", kMask}),
              written("hello"));
    EXPECT_EQ(Asked{"dup 50 by 1030 from 900"}, written("hello", 0));
    g_kernel.says[SYS_fcntl] = {{0}};
    EXPECT_EQ(
        (Asked{"dup 50 by 1030 from 900", "stat 0", kBlock, "poll 1: 0 for 4, 1.0 s", "write 0 hello", kMask, "close 0"}),
        written("hello"))
        << "0 is as good as any";
    there_.file = 0;
    EXPECT_EQ((Asked{"dup 0 by 1030 from 900", "stat 905", kBlock, kPoll, "write 905 hello", kMask, "close 905"}),
              written("hello"));
}

TEST_F(OutputCalls, AFileThatBecameAnotherIsNotThere)
{
    const auto there = [&] {
        g_kernel.on = true;
        errno = kError;
        const int result = output_is_there(&there_), error = errno;
        g_kernel.on = false;
        EXPECT_EQ(kError, error);
        return result;
    };
    EXPECT_EQ(1, there());
    EXPECT_EQ(Asked{"stat 50"}, g_kernel.asked);
    g_kernel.inode = 9;
    EXPECT_EQ(0, there());
    there_.file = -1;
    EXPECT_EQ(0, there());
    EXPECT_EQ(2u, g_kernel.asked.size());
}

TEST_F(OutputCalls, AFileThatBecameAnotherIsNotClosed)
{
    for (const bool same : {true, false}) {
        g_kernel.asked.clear();
        g_kernel.device = same ? 7 : 6;
        there_.file = 50;
        g_kernel.on = true;
        errno = kError;
        output_close(&there_);
        const int error = errno;
        g_kernel.on = false;
        EXPECT_EQ(kError, error);
        EXPECT_EQ(-1, there_.file);
        EXPECT_EQ(same ? (Asked{"stat 50", "close 50"}) : Asked{"stat 50"}, g_kernel.asked);
    }
}

/* O_WRONLY, O_CREAT, O_CLOEXEC, O_NOCTTY, O_NONBLOCK and O_TRUNC; for all to read. */
TEST_F(OutputCalls, FilesAreOpenedWithAHighDescriptorIfThereIsOne)
{
    const std::string opened = "open -100 log 80b41 1a4";
    const auto open = [&] {
        g_kernel.asked.clear();
        g_kernel.on = true;
        const int result = output_open(&there_, "log", 01000);
        g_kernel.on = false;
        return result;
    };
    g_kernel.device = 17, g_kernel.inode = 18;
    EXPECT_EQ(1, open());
    EXPECT_EQ((Asked{opened, "dup 4 by 1030 from 900", "close 4", "stat 905"}), g_kernel.asked);
    EXPECT_EQ(905, there_.file);
    EXPECT_EQ(17u, there_.device);
    EXPECT_EQ(18u, there_.inode);
    g_kernel.says[SYS_fcntl] = {{-1, EMFILE}};
    EXPECT_EQ(1, open());
    EXPECT_EQ((Asked{opened, "dup 4 by 1030 from 900", "stat 4"}), g_kernel.asked);
    EXPECT_EQ(4, there_.file);
    g_kernel.says[SYS_fcntl] = {{0}};
    EXPECT_EQ(1, open());
    EXPECT_EQ(0, there_.file) << "0 is as good as any";
    g_kernel.says[SYS_openat] = {{0}};
    EXPECT_EQ(1, open());
    EXPECT_EQ((Asked{"open -100 log 80b41 1a4", "dup 0 by 1030 from 900", "close 0", "stat 905"}), g_kernel.asked);
    g_kernel.says[SYS_openat] = {{2}};
    g_kernel.says[SYS_fcntl] = {{-1, EINVAL}, {6}};
    EXPECT_EQ(1, open());
    EXPECT_EQ((Asked{opened, "dup 2 by 1030 from 900", "dup 2 by 1030 from 3", "close 2", "stat 6"}), g_kernel.asked)
        << "there is no high one";
    g_kernel.says[SYS_fstat] = {{-1, EIO}};
    EXPECT_EQ(0, open());
    g_kernel.says[SYS_openat] = {{-1, EACCES}};
    EXPECT_EQ(0, open());
    EXPECT_EQ(EACCES, errno);
    EXPECT_EQ(Asked{opened}, g_kernel.asked);
    EXPECT_EQ(-1, there_.file);
}

} // namespace
