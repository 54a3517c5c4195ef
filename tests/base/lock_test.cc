/* SPDX-License-Identifier: Apache-2.0
 *
 * Locks, words and gates that somebody waits for: what the kernel is asked to wait for and how long, whom it is to wake,
 * and what is in the word afterwards. The test plays the other threads, while this one sleeps.
 */
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdarg>
#include <functional>
#include <linux/futex.h>
#include <string>
#include <sys/syscall.h>
#include <time.h>
#include <vector>

extern "C" {
#include "interpose/base/word.h"
#include "interpose/base/gate.h"
#include "interpose/base/lock.h"
}

namespace
{

constexpr int kError = 77; /* errno as the program has it */

uint32_t *g_word;
std::vector<std::string> g_asked;
std::function<void()> g_asleep; /* what others do while this thread sleeps */

long futex(const long *a)
{
    const struct timespec *most = reinterpret_cast<const struct timespec *>(a[3]);
    std::string what = a[0] == long(reinterpret_cast<uintptr_t>(g_word)) ? "" : "another's ";
    if (int(a[1]) == FUTEX_WAKE_PRIVATE)
        what += "wake " + std::to_string(int(a[2]));
    else if (int(a[1]) == FUTEX_WAIT_PRIVATE && most != nullptr)
        what += "while " + std::to_string(uint32_t(a[2])) + " for " + std::to_string(most->tv_sec) + "." +
                std::to_string(most->tv_nsec) + (uint32_t(a[2]) == *g_word ? "" : ", which it is not");
    else
        what += "?";
    g_asked.push_back(what);
    errno = EAGAIN;
    if (int(a[1]) == FUTEX_WAIT_PRIVATE && g_asleep)
        g_asleep();
    return -1;
}

} // namespace

/* In the place of libc's. */
extern "C" __attribute__((visibility("default"))) long syscall(long number, ...) noexcept
{
    long a[4];
    va_list values;
    va_start(values, number);
    for (long &one : a)
        one = va_arg(values, long);
    va_end(values);
    if (number == SYS_futex)
        return futex(a);
    errno = ENOSYS; /* nothing here asks by this door */
    return -1;
}

namespace
{

using Asked = std::vector<std::string>;

class Lock : public testing::Test
{
protected:
    void SetUp() override
    {
        g_asked.clear();
        g_asleep = nullptr;
        g_word = &lock_.held;
        errno = kError;
    }
    void TearDown() override
    {
        EXPECT_EQ(kError, errno);
        g_asleep = nullptr;
    }
    /* The word is that, once this thread has slept so often. */
    static void becomes(uint32_t value, int times = 1)
    {
        g_asleep = [value, times] {
            if (int(g_asked.size()) >= times)
                __atomic_store_n(g_word, value, __ATOMIC_SEQ_CST);
        };
    }
    struct lock lock_ = {0};
    uint32_t word_ = 0, waiting_ = 0;
};

TEST_F(Lock, ThatIsFree)
{
    lock_take(&lock_);
    EXPECT_EQ(1u, lock_.held);
    lock_drop(&lock_);
    EXPECT_EQ(0u, lock_.held);
    lock_take_slowly(&lock_);
    EXPECT_EQ(1u, lock_.held) << "nobody waits for it";
    lock_drop(&lock_);
    EXPECT_EQ(Asked{}, g_asked);
}

TEST_F(Lock, ThatIsTried)
{
    EXPECT_EQ(1, lock_try(&lock_));
    EXPECT_EQ(1u, lock_.held);
    EXPECT_EQ(0, lock_try(&lock_));
    EXPECT_EQ(1u, lock_.held) << "nobody waits for it";
    EXPECT_EQ(Asked{}, g_asked);
}

/* Who had to sleep does not know whether others do. */
TEST_F(Lock, ThatSomebodyHas)
{
    for (const uint32_t held : {1u, 2u}) {
        g_asked.clear();
        lock_.held = held;
        becomes(0, 3);
        lock_take(&lock_);
        EXPECT_EQ(Asked(3, "while 2 for 0.100000"), g_asked);
        EXPECT_EQ(2u, lock_.held);
        g_asked.clear();
        lock_drop(&lock_);
        EXPECT_EQ(Asked{"wake 1"}, g_asked);
        EXPECT_EQ(0u, lock_.held);
    }
}

/* Which whoever looked did not take. */
TEST_F(Lock, ThatComesFree)
{
    EXPECT_EQ(1, lock_comes_free(&lock_));
    EXPECT_EQ(0u, lock_.held);
    EXPECT_EQ(Asked{"wake 1"}, g_asked);
    g_asked.clear();
    lock_.held = 1;
    becomes(0, 2);
    EXPECT_EQ(1, lock_comes_free(&lock_));
    EXPECT_EQ(0u, lock_.held);
    EXPECT_EQ((Asked{"while 2 for 0.100000", "while 2 for 0.100000", "wake 1"}), g_asked);
}

/* Ten thousand times a tenth of a millisecond are a second. */
TEST_F(Lock, ThatNobodyGivesBack)
{
    lock_.held = 1;
    EXPECT_EQ(0, lock_comes_free(&lock_));
    EXPECT_EQ(Asked(10000, "while 2 for 0.100000"), g_asked);
    EXPECT_EQ(2u, lock_.held) << "its holder is to wake whoever waits";
}

/* ---- words ---- */

TEST_F(Lock, AWordThatIsThere)
{
    g_word = &word_;
    word_ = 5;
    word_await(&word_, 5, &waiting_);
    for (const uint32_t least : {4u, 0u, 0x80000006u}) {
        word_await_past(&word_, least, &waiting_);
        EXPECT_EQ(Asked{}, g_asked) << least;
    }
    word_ = 0; /* it has gone round */
    word_await_past(&word_, UINT32_MAX, &waiting_);
    EXPECT_EQ(Asked{}, g_asked);
    EXPECT_EQ(0u, waiting_);
}

TEST_F(Lock, AWordThatComes)
{
    g_word = &word_;
    for (const bool past : {false, true}) {
        g_asked.clear();
        word_ = 3;
        g_asleep = [this] {
            EXPECT_EQ(1u, waiting_) << "it says that it waits";
            word_++;
        };
        if (past)
            word_await_past(&word_, 5, &waiting_);
        else
            word_await(&word_, 6, &waiting_);
        EXPECT_EQ((Asked{"while 3 for 0.100000", "while 4 for 0.100000", "while 5 for 0.100000"}), g_asked);
        EXPECT_EQ(6u, word_);
        EXPECT_EQ(0u, waiting_);
    }
}

/* What it must be beyond is not enough. */
TEST_F(Lock, AWordThatIsAlmostThere)
{
    g_word = &word_;
    word_ = 5;
    g_asleep = [this] { word_++; };
    word_await_past(&word_, 5, &waiting_);
    EXPECT_EQ(Asked{"while 5 for 0.100000"}, g_asked);
    EXPECT_EQ(6u, word_);
}

TEST_F(Lock, AWordThatGoesRound)
{
    g_word = &word_;
    word_ = UINT32_MAX - 1;
    g_asleep = [this] { word_++; };
    word_await_past(&word_, UINT32_MAX, &waiting_);
    EXPECT_EQ((Asked{"while 4294967294 for 0.100000", "while 4294967295 for 0.100000"}), g_asked);
    EXPECT_EQ(0u, word_);
}

TEST_F(Lock, WhoeverSetsAWordWakesAllThatWait)
{
    g_word = &word_;
    word_set(&word_, 9, &waiting_);
    EXPECT_EQ(Asked{}, g_asked);
    waiting_ = 1;
    word_set(&word_, 10, &waiting_);
    EXPECT_EQ(Asked{"wake 2147483647"}, g_asked);
    EXPECT_EQ(10u, word_);
}

/* A thousandth of a second at a time. */
TEST_F(Lock, AWordThatLeaves)
{
    g_word = &word_;
    word_ = 4;
    EXPECT_EQ(1, word_leaves(&word_, 5, 3));
    EXPECT_EQ(Asked{}, g_asked);
    EXPECT_EQ(0, word_leaves(&word_, 4, 3));
    EXPECT_EQ(Asked(3, "while 4 for 0.1000000"), g_asked);
    g_asked.clear();
    becomes(5, 3);
    EXPECT_EQ(1, word_leaves(&word_, 4, 3)) << "at the very end";
    EXPECT_EQ(Asked(3, "while 4 for 0.1000000"), g_asked);
}

/* ---- gates ---- */

TEST_F(Lock, AGateThatIsOpen)
{
    g_word = &word_;
    for (const uint32_t how : {uint32_t{GATE_HELD}, uint32_t{GATE_HELD | GATE_QUICK}}) {
        for (const auto take : {gate_take, gate_take_slowly}) {
            take(&word_, how);
            EXPECT_EQ(how, word_);
            EXPECT_EQ(how != GATE_HELD, gate_is_quick(&word_) != 0);
            gate_drop(&word_, 0);
            EXPECT_EQ(0u, word_);
        }
    }
    EXPECT_EQ(Asked{}, g_asked) << "nobody waits, so nobody is woken";
}

/* Whoever sleeps says so in the gate, and whoever has slept leaves it there, since others may sleep still. */
TEST_F(Lock, AGateThatSomebodyHas)
{
    g_word = &word_;
    for (const auto &[held, asked] : {std::pair{uint32_t{GATE_HELD}, "while 5 for 0.500000"},
                                      {GATE_HELD | GATE_QUICK, "while 7 for 0.500000"},
                                      {GATE_HELD | GATE_WAITED, "while 5 for 0.500000"}}) {
        for (const uint32_t how : {uint32_t{GATE_HELD}, uint32_t{GATE_HELD | GATE_QUICK}}) {
            g_asked.clear();
            word_ = held;
            becomes(0, 2);
            gate_take(&word_, how);
            EXPECT_EQ(Asked(2, asked), g_asked);
            EXPECT_EQ(how | GATE_WAITED, word_);
            g_asked.clear();
            gate_drop(&word_, how == GATE_HELD);
            EXPECT_EQ(Asked{"wake 1"}, g_asked);
            EXPECT_EQ(0u, word_);
        }
    }
}

TEST_F(Lock, AGateThatIsQuick)
{
    g_word = &word_;
    for (const uint32_t slow : {0u, uint32_t{GATE_HELD}, uint32_t{GATE_HELD | GATE_WAITED}}) {
        word_ = slow;
        gate_await_quick(&word_);
        gate_await_quick_slowly(&word_);
        EXPECT_EQ(slow, word_);
    }
    EXPECT_EQ(Asked{}, g_asked);
    word_ = GATE_HELD | GATE_QUICK;
    becomes(GATE_HELD, 2);
    gate_await_quick(&word_);
    EXPECT_EQ(Asked(2, "while 3 for 0.100000"), g_asked);
    EXPECT_EQ(uint32_t{GATE_HELD}, word_);
}

} // namespace
