/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of the shim's own, memory that may not be there, verdicts on callers, and the lock: where there is nothing more,
 * at the ends of pages, and when they are used again.
 */
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" {
#include "interpose/base/word.h"
#include "interpose/base/clock.h"
#include "interpose/base/lock.h"
#include "interpose/base/pages.h"
#include "interpose/base/peek.h"
#include "interpose/base/retired.h"
#include "interpose/base/sites.h"
#include "interpose/base/specific.h"
}

namespace
{

const size_t page = size_t(getpagesize());

uint64_t address(const void *at)
{
    return reinterpret_cast<uint64_t>(at);
}

/* Two pages with nothing behind them. */
class Pages : public testing::Test
{
protected:
    void SetUp() override
    {
        void *at = mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(MAP_FAILED, at);
        bytes = static_cast<uint8_t *>(at);
        end = bytes + 2 * page;
        ASSERT_EQ(0, mprotect(end, page, PROT_NONE));
        for (size_t i = 0; i < 2 * page; i++)
            bytes[i] = static_cast<uint8_t>(1 + i % 251);
        errno = ENOTTY;
    }
    void TearDown() override
    {
        EXPECT_EQ(ENOTTY, errno) << "it is kept";
        munmap(bytes, 3 * page);
    }
    uint8_t *bytes, *end;
};

using Peek = Pages;

TEST_F(Peek, OnePlace)
{
    uint8_t got[8] = {};
    EXPECT_EQ(1, peek(address(end - 8), got, 8));
    EXPECT_EQ(0, memcmp(end - 8, got, 8));
    EXPECT_EQ(0, peek(address(end - 7), got, 8)) << "a byte is missing";
    EXPECT_EQ(0, peek(address(end), got, 1));
    EXPECT_EQ(0, peek(0, got, 1));
}

TEST_F(Peek, SomePlaces)
{
    uint64_t places[PEEK_PLACES];
    uint8_t got[4 * PEEK_PLACES] = {};
    for (int i = 0; i < PEEK_PLACES; i++)
        places[i] = address(bytes + 100 * i);
    EXPECT_EQ(1, peek_places(places, PEEK_PLACES, got, 4));
    for (int i = 0; i < PEEK_PLACES; i++)
        EXPECT_EQ(0, memcmp(bytes + 100 * i, got + 4 * i, 4)) << i;
    places[1] = address(end - 3);
    EXPECT_EQ(1, peek_places(places, 1, got, 4));
    EXPECT_EQ(0, peek_places(places, 2, got, 4));
}

TEST_F(Peek, AWordAndABlock)
{
    uint64_t word = 0;
    uint8_t block[16] = {};
    EXPECT_EQ(2, peek_word_and(address(bytes), &word, address(end - 16), block, 16));
    EXPECT_EQ(0, memcmp(bytes, &word, 8));
    EXPECT_EQ(0, memcmp(end - 16, block, 16));
    word = 0;
    EXPECT_EQ(1, peek_word_and(address(bytes + 8), &word, address(end), block, 16)) << "the word alone";
    EXPECT_EQ(0, memcmp(bytes + 8, &word, 8));
    EXPECT_EQ(1, peek_word_and(address(bytes), &word, address(end - 15), block, 16)) << "not all of the block";
    EXPECT_EQ(0, peek_word_and(address(end), &word, address(bytes), block, 16));
}

using Memory = Pages;

/* Zeros, and not a byte besides. */
TEST_F(Memory, IsCleared)
{
    struct Row {
        size_t from, to;
    };
    for (const Row &row :
         {Row{0, 2 * page}, Row{0, page}, Row{8, page + 8}, Row{page - 8, 2 * page}, Row{page, 2 * page - 8},
          Row{16, page - 16}, Row{page - 16, page + 16}, Row{16, 2 * page - 16}}) {
        for (size_t i = 0; i < 2 * page; i++)
            bytes[i] = 0xee;
        pages_clear(bytes + row.from, row.to - row.from);
        for (size_t i = 0; i < 2 * page; i++)
            ASSERT_EQ(i >= row.from && i < row.to ? 0 : 0xee, bytes[i]) << row.from << " " << row.to << " " << i;
    }
}

TEST_F(Memory, IsKept)
{
    std::vector<uint8_t *> small;
    for (size_t size : {size_t{1}, size_t{16}, size_t{17}, size_t{65536}, size_t{65537}, size_t{1} << 20})
        for (int i = 0; i < 3; i++) {
            uint8_t *at = static_cast<uint8_t *>(pages_keep(size));
            ASSERT_TRUE(at);
            EXPECT_EQ(0u, address(at) % 16);
            EXPECT_EQ(0, at[0] | at[size - 1]);
            memset(at, 0xee, size);
        }
    /* of the same piece: one behind the other */
    uint8_t *one = static_cast<uint8_t *>(pages_keep(17)), *two = static_cast<uint8_t *>(pages_keep(1)),
            *three = static_cast<uint8_t *>(pages_keep(1));
    EXPECT_EQ(one + 32, two);
    EXPECT_EQ(two + 16, three);
    for (int i = 0; i < 20; i++) { /* more than a piece of 256 KiB */
        uint8_t *at = static_cast<uint8_t *>(pages_keep(40000));
        EXPECT_EQ(0, at[0] | at[39999]) << i;
        memset(at, 0xee, 40000);
    }
    EXPECT_EQ(nullptr, pages_map(size_t{1} << 60));
    EXPECT_EQ(nullptr, pages_keep(size_t{1} << 60));
    void *pages = pages_map(page);
    ASSERT_TRUE(pages);
    pages_unmap(pages, page);
    uint8_t byte;
    EXPECT_EQ(0, peek(address(pages), &byte, 1)) << "it has gone";
}

/* ---- verdicts ---- */

int g_asked;

int decide(const struct elf_object *object, const void *)
{
    g_asked++;
    return object ? (object->path[0] == '\0' ? 2 : 3) : 1;
}

/* An object is asked about once, what lies in none each time that its place was another's meanwhile. */
TEST(Sites, AreAskedOnce)
{
    static struct sites sites;
    static const char here[2] = {};
    int on_stack;
    g_asked = 0;
    EXPECT_EQ(2, sites_verdict(&sites, here, decide));
    EXPECT_EQ(2, sites_verdict(&sites, here, decide));
    EXPECT_EQ(1, g_asked);
    EXPECT_EQ(2, sites_verdict(&sites, here + 1, decide)) << "of the same object";
    EXPECT_EQ(1, g_asked);
    EXPECT_EQ(3, sites_verdict(&sites, reinterpret_cast<const void *>(&strtol), decide));
    EXPECT_EQ(2, g_asked);
    EXPECT_EQ(2, sites_verdict(&sites, &g_asked, decide));
    EXPECT_EQ(2, g_asked);
    EXPECT_EQ(2u, sites.objects);
    EXPECT_EQ(1, sites_verdict(&sites, &on_stack, decide));
    EXPECT_EQ(1, sites_verdict(&sites, &on_stack, decide));
    EXPECT_EQ(3, g_asked);
    EXPECT_EQ(2u, sites.objects) << "it is in none";
    EXPECT_EQ(0u, sites.keeping);
}

/* Where there is no room, or somebody else adds one, it is asked about again. */
TEST(Sites, ThatAreNotKept)
{
    static struct sites sites;
    static const char here[4096 * 16] = {};
    sites.keeping = 1;
    g_asked = 0;
    EXPECT_EQ(2, sites_find(&sites, here, decide));
    EXPECT_EQ(2, sites_find(&sites, here, decide));
    EXPECT_EQ(2, g_asked);
    EXPECT_EQ(1u, sites.keeping);
    sites.keeping = 0;
    sites.objects = SITE_OBJECTS;
    EXPECT_EQ(2, sites_find(&sites, here, decide));
    EXPECT_EQ(3, g_asked);
    EXPECT_EQ(unsigned(SITE_OBJECTS), sites.objects);
    sites.objects = SITE_OBJECTS - 1;
    EXPECT_EQ(2, sites_find(&sites, here, decide));
    EXPECT_EQ(unsigned(SITE_OBJECTS), sites.objects) << "the last one";
    EXPECT_EQ(2, sites_find(&sites, here, decide));
    EXPECT_EQ(4, g_asked);
    /* an object's last byte, and the one behind it */
    const auto kept = sites.object[SITE_OBJECTS - 1];
    EXPECT_EQ(2, sites_find(&sites, reinterpret_cast<const void *>(kept.base), decide));
    EXPECT_EQ(2, sites_find(&sites, reinterpret_cast<const void *>(kept.end - 1), decide));
    EXPECT_EQ(4, g_asked);
    sites_find(&sites, reinterpret_cast<const void *>(kept.end), decide);
    EXPECT_EQ(5, g_asked);
}

/* ---- locks ---- */

/* With a holder that keeps it for longer than anybody spins. */
TEST(Lock, OneAtATime)
{
    struct lock lock = {};
    int inside = 0, most = 0;
    uint64_t turns = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&] {
            for (int turn = 0; turn < 50; turn++) {
                errno = ENOTTY;
                lock_take(&lock);
                most = std::max(most, ++inside);
                turns++;
                if (turn % 10 == 0)
                    std::this_thread::sleep_for(std::chrono::microseconds(300));
                inside--;
                lock_drop(&lock);
                EXPECT_EQ(ENOTTY, errno);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(1, most);
    EXPECT_EQ(200u, turns);
    EXPECT_EQ(0u, lock.held);
}

TEST(Lock, ComesFree)
{
    struct lock lock = {};
    EXPECT_EQ(1, lock_comes_free(&lock));
    EXPECT_EQ(0u, lock.held);
    lock_take(&lock);
    EXPECT_EQ(1u, lock.held);
    std::thread holder([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        lock_drop(&lock);
    });
    EXPECT_EQ(1, lock_comes_free(&lock));
    holder.join();
    EXPECT_EQ(0u, lock.held);
}

/* The word is what it is waited for, or past it: also past the number where it begins anew. */
TEST(Words, AreAwaited)
{
    uint32_t word = 5, waiting = 0;
    word_await(&word, 5, &waiting);
    word_await_past(&word, 4, &waiting);
    word = 3;
    word_await_past(&word, UINT32_MAX - 2, &waiting);
    EXPECT_EQ(0u, waiting);
    std::atomic<int> passed{0};
    std::thread exactly([&] {
        word_await(&word, 8, &waiting);
        passed++;
    });
    std::thread past([&] {
        word_await_past(&word, 7, &waiting);
        passed++;
    });
    while (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST) < 2)
        std::this_thread::yield();
    word_set(&word, 7, &waiting);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(0, passed);
    word_set(&word, 8, &waiting);
    exactly.join();
    past.join();
    EXPECT_EQ(0u, waiting);
}

/* ---- the rest ---- */

struct Gone {
    int number;
    struct retired retired;
};

TEST(Retired, TheOldestOnceEnoughWait)
{
    struct retirees all = {};
    all.kept = 2;
    Gone gone[4] = {{0, {}}, {1, {}}, {2, {}}, {3, {}}};
    const auto take = [&] { return static_cast<Gone *>(retired_take(&all, offsetof(Gone, retired))); };
    EXPECT_EQ(nullptr, take());
    for (Gone &one : gone)
        retired_add(&all, &one.retired);
    EXPECT_EQ(&gone[0], take());
    EXPECT_EQ(&gone[1], take());
    EXPECT_EQ(nullptr, take()) << "two always wait";
    retired_add(&all, &gone[0].retired);
    EXPECT_EQ(&gone[2], take());
    retired_forget(&all);
    EXPECT_EQ(nullptr, take());
    for (int i : {1, 2, 3})
        retired_add(&all, &gone[i].retired);
    EXPECT_EQ(&gone[1], take());
}

TEST(Specific, OfEachThread)
{
    static int ended;
    pthread_key_t key;
    ASSERT_TRUE(specific_there());
    ASSERT_EQ(0, specific_make(&key, [](void *data) { ended += *static_cast<int *>(data); }));
    int mine = 3, its = 4;
    EXPECT_EQ(nullptr, specific_get(key));
    specific_set(key, &mine);
    std::thread([&] {
        EXPECT_EQ(nullptr, specific_get(key));
        specific_set(key, &its);
        EXPECT_EQ(&its, specific_get(key));
    }).join();
    EXPECT_EQ(4, ended);
    EXPECT_EQ(&mine, specific_get(key));
    EXPECT_EQ(&mine, pthread_getspecific(key));
    specific_set(key, nullptr);
    pthread_key_delete(key);
}

/* All three of one moment. */
TEST(Clock, Readings)
{
    const enum ptds_clock before = clock_source;
    clock_source = PTDS_CLOCK_MONOTONIC;
    const uint64_t began = clock_nanoseconds(CLOCK_MONOTONIC), day = clock_nanoseconds(CLOCK_REALTIME);
    const struct clock_reading now = clock_read();
    const uint64_t ended = clock_nanoseconds(CLOCK_MONOTONIC), later = clock_nanoseconds(CLOCK_REALTIME);
    EXPECT_GE(now.monotonic, began);
    EXPECT_LE(now.monotonic, ended);
    EXPECT_GE(now.realtime, day);
    EXPECT_LE(now.realtime, later);
    EXPECT_GE(now.ticks, began) << "nanoseconds, too";
    EXPECT_LE(now.ticks, ended);
    clock_source = before;
}

} // namespace
