/* SPDX-License-Identifier: Apache-2.0
 *
 * The shim's own memory, and what is remembered of call sites: with as much memory as the system gives, and with none.
 */
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include "interpose/base/pages.h"
#include "interpose/base/sites.h"
}

namespace
{

constexpr int kError = 77; /* errno as the program has it */

bool g_on, g_none; /* what is asked is noted; there is no memory */
std::vector<std::string> g_asked;

} // namespace

/* In the place of libc's. */
extern "C" __attribute__((visibility("default"))) void *mmap(void *at, size_t size, int protection, int flags, int file,
                                                             off_t offset) noexcept
{
    if (g_on)
        g_asked.push_back("map " + std::to_string(size));
    errno = ENOMEM;
    if (g_on && g_none)
        return MAP_FAILED;
    return reinterpret_cast<void *>(syscall(SYS_mmap, at, size, protection, flags, file, offset));
}

extern "C" __attribute__((visibility("default"))) int munmap(void *at, size_t size) noexcept
{
    if (g_on)
        g_asked.push_back("unmap " + std::to_string(size));
    errno = EINVAL;
    return int(syscall(SYS_munmap, at, size));
}

extern "C" __attribute__((visibility("default"))) int madvise(void *at, size_t size, int advice) noexcept
{
    if (g_on)
        g_asked.push_back("advise " + std::to_string(advice) + " of " + std::to_string(size));
    errno = EINVAL;
    return g_on && g_none ? -1 : int(syscall(SYS_madvise, at, size, advice));
}

namespace
{

using Asked = std::vector<std::string>;

class Memory : public testing::Test
{
protected:
    void SetUp() override
    {
        g_asked.clear();
        g_none = false;
        g_on = true;
        errno = kError;
    }
    void TearDown() override
    {
        EXPECT_EQ(kError, errno);
        g_on = false;
    }
};

TEST_F(Memory, Pages)
{
    char *pages = static_cast<char *>(pages_map(10000));
    ASSERT_TRUE(pages);
    EXPECT_EQ(kError, errno);
    EXPECT_EQ(std::string(10000, '\0'), std::string(pages, 10000));
    pages[9999] = 'x';
    pages_unmap(pages, 10000);
    EXPECT_EQ((Asked{"map 10000", "unmap 10000"}), g_asked);
    g_none = true;
    EXPECT_EQ(nullptr, pages_map(4096));
}

/* Small things share 256 kB, of which the rest is lost where the next thing is too large for it. In multiples of 16 bytes;
 * what would take more than a quarter has pages of its own. */
TEST_F(Memory, Kept)
{
    char *first = static_cast<char *>(pages_keep(1));
    EXPECT_EQ(Asked{"map 262144"}, g_asked);
    EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(first) % 16);
    size_t used = 16;
    for (const size_t size : {16u, 17u, 15u, 1000u, 65536u, 65521u, 32u}) {
        char *next = static_cast<char *>(pages_keep(size));
        EXPECT_EQ(first + used, next) << size;
        EXPECT_EQ(std::string(size, '\0'), std::string(next, size));
        memset(next, 'x', size);
        used += (size + 15) / 16 * 16;
    }
    EXPECT_EQ(1u, g_asked.size());
    EXPECT_TRUE(pages_keep(65537));
    EXPECT_TRUE(pages_keep(100000));
    EXPECT_EQ((Asked{"map 262144", "map 65552", "map 100000"}), g_asked);
    const size_t left = 262144 - used;
    EXPECT_EQ(first + used, pages_keep(65536));
    EXPECT_EQ(first + used + 65536, pages_keep(left - 65536 - 32));
    EXPECT_EQ(first + 262144 - 32, pages_keep(32)) << "the very end";
    EXPECT_EQ(3u, g_asked.size());
    g_none = true;
    EXPECT_EQ(nullptr, pages_keep(16));
    EXPECT_EQ(nullptr, pages_keep(65537));
    g_none = false;
    char *second = static_cast<char *>(pages_keep(262144 / 4));
    EXPECT_TRUE(second);
    EXPECT_EQ(second + 65536, pages_keep(48));
    g_none = true;
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(second + 65536 + 48 + 65536 * i, pages_keep(65536)) << "there is room for it";
    EXPECT_EQ(nullptr, pages_keep(65536));
    EXPECT_EQ(second + 3 * 65536 + 48, pages_keep(65536 - 48)) << "what is left serves smaller things";
    EXPECT_EQ(nullptr, pages_keep(1));
    pages_after_fork();
    g_none = false;
    EXPECT_TRUE(pages_keep(1));
}

/* Whole pages go back to the system, the rest is overwritten; nothing beside it changes. */
TEST_F(Memory, Cleared)
{
    const size_t page = size_t(getpagesize()), all = 6 * page;
    char *pages = static_cast<char *>(pages_map(all));
    struct Row {
        size_t from, to, given_back; /* pages of it */
    };
    for (const bool none : {false, true}) {
        for (const Row &row : {Row{page, 3 * page, 2},
                               {page + 8, 3 * page, 1},
                               {page, 3 * page + 8, 2},
                               {page - 8, 3 * page + 8, 2},
                               {page + 8, 4 * page - 8, 1},
                               {page + 8, 3 * page - 8, 0},
                               {page + 8, 2 * page + 8, 0},
                               {page + 8, 2 * page, 0},
                               {page + 8, page + 16, 0},
                               {page, page, 0}}) {
            memset(pages, 'x', all);
            g_asked.clear();
            g_none = none;
            errno = kError;
            pages_clear(pages + row.from, row.to - row.from);
            EXPECT_EQ(kError, errno);
            EXPECT_EQ(row.given_back ? Asked{"advise 4 of " + std::to_string(row.given_back * page)} : Asked{}, g_asked);
            const std::string expected =
                std::string(row.from, 'x') + std::string(row.to - row.from, '\0') + std::string(all - row.to, 'x');
            EXPECT_TRUE(std::string(pages, all) == expected) << row.from << " to " << row.to;
        }
    }
    pages_unmap(pages, all);
}

/* ---- call sites ---- */

struct sites *g_sites;
std::vector<std::string> g_decided; /* the objects that were asked about */
int g_verdict;
const void *g_again; /* asked about while it is being decided on, as another thread may */

int decide(const struct elf_object *object, const void *caller)
{
    g_decided.push_back(object == nullptr                                                      ? "none"
                        : object->base <= uintptr_t(caller) && uintptr_t(caller) < object->end ? "its object"
                                                                                               : "another object");
    if (const void *again = g_again) {
        g_again = nullptr;
        sites_find(g_sites, again, decide);
    }
    return g_verdict;
}

class Sites : public testing::Test
{
protected:
    void SetUp() override
    {
        sites_.reset(new struct sites());
        g_sites = sites_.get();
        g_decided.clear();
        g_again = nullptr;
        g_verdict = 0;
    }
    int verdict(const void *caller)
    {
        return sites_verdict(g_sites, caller, decide);
    }
    static const char *in_program(size_t offset)
    {
        return reinterpret_cast<const char *>(&decide) + offset;
    }
    std::unique_ptr<struct sites> sites_;
};

/* An object is decided on once, for all callers in it. */
TEST_F(Sites, OfOneObject)
{
    for (const int expected : {0, 1, 3}) {
        SetUp();
        g_verdict = expected;
        EXPECT_EQ(expected, verdict(in_program(0)));
        g_verdict = 2;
        for (size_t offset : {0u, 1u, 16u, 100u, 0u})
            EXPECT_EQ(expected, verdict(in_program(offset)));
        EXPECT_EQ(std::vector<std::string>{"its object"}, g_decided);
        EXPECT_EQ(1u, g_sites->objects);
        EXPECT_EQ(0u, g_sites->keeping);
        EXPECT_EQ(2, verdict(reinterpret_cast<const void *>(&getpid))) << "another one's is its own";
        EXPECT_EQ(2u, g_decided.size());
        EXPECT_EQ(2u, g_sites->objects);
        EXPECT_EQ(expected, verdict(in_program(5)));
    }
}

/* From its first byte on, up to its end. */
TEST_F(Sites, WhereAnObjectEnds)
{
    g_sites->object[0] = {0x1000, 0x2000, 1};
    g_sites->object[1] = {0x2000, 0x3000, 3};
    g_sites->objects = 2;
    g_verdict = 2;
    for (const auto &[address, expected] :
         {std::pair{0xfffu, 2}, {0x1000u, 1}, {0x1fffu, 1}, {0x2000u, 3}, {0x2fffu, 3}, {0x3000u, 2}})
        EXPECT_EQ(expected, verdict(reinterpret_cast<const void *>(uintptr_t{address}))) << address;
    EXPECT_EQ((std::vector<std::string>{"none", "none"}), g_decided);
}

TEST_F(Sites, OfGeneratedCode)
{
    const void *nowhere = reinterpret_cast<const void *>(0x76543210);
    g_verdict = 3;
    EXPECT_EQ(3, verdict(nowhere));
    EXPECT_EQ(3, verdict(nowhere));
    EXPECT_EQ(std::vector<std::string>{"none"}, g_decided) << "the site itself is remembered";
    EXPECT_EQ(0u, g_sites->objects);
}

/* Somebody else decided on the same object meanwhile, or is adding one at this very moment. */
TEST_F(Sites, ByTwoThreads)
{
    for (const int expected : {0, 1}) {
        SetUp();
        g_verdict = expected;
        g_again = in_program(8);
        EXPECT_EQ(expected, verdict(in_program(0)));
        EXPECT_EQ(2u, g_decided.size());
        EXPECT_EQ(1u, g_sites->objects) << "it is there once";
    }
    SetUp();
    g_verdict = 1;
    g_sites->keeping = 1;
    EXPECT_EQ(1, verdict(in_program(0)));
    EXPECT_EQ(0u, g_sites->objects);
    EXPECT_EQ(1u, g_sites->keeping);
    EXPECT_EQ(1, verdict(in_program(1)));
    EXPECT_EQ(2u, g_decided.size());
}

/* 256 of them are remembered. */
TEST_F(Sites, OfManyObjects)
{
    for (const uint32_t there : {255u, 256u}) {
        SetUp();
        g_verdict = 1;
        g_sites->objects = there;
        EXPECT_EQ(1, verdict(in_program(0)));
        EXPECT_EQ(256u, g_sites->objects);
        EXPECT_EQ(1, verdict(in_program(1)));
        EXPECT_EQ(there == 255 ? 1u : 2u, g_decided.size());
        EXPECT_EQ(0u, g_sites->keeping);
    }
}

} // namespace
