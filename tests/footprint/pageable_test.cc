/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a word may be an address in memory that no call told the driver of: by its size, by what is mapped there, by how
 * often the kernel may be asked; and whether the device reads such memory at all.
 */
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include "interpose/driver/driver.h"
#include "interpose/footprint/memories/addresses.h"
#include "interpose/footprint/memories/memory_object.h"
#include "interpose/footprint/memories/pageable.h"
}

namespace
{

/* ---- words ---- */

class Pageable : public testing::Test
{
protected:
    void SetUp() override
    {
        void *at = mmap(nullptr, 600 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        ASSERT_NE(MAP_FAILED, at);
        first = reinterpret_cast<uint64_t>(at);
        /* every other page is there, from the second of a hole on */
        ASSERT_EQ(0, munmap(at, page));
        ASSERT_EQ(0, munmap(reinterpret_cast<void *>(first + 2 * page), 598 * page));
        errno = ENOTTY;
    }
    void TearDown() override
    {
        EXPECT_EQ(ENOTTY, errno) << "it is kept";
        munmap(reinterpret_cast<void *>(first + page), page);
    }
    static bool among(const std::vector<uint64_t> &words, size_t at = 0, size_t size = SIZE_MAX)
    {
        const size_t all = words.size() * 8;
        return pageable_among(nullptr, reinterpret_cast<const uint8_t *>(words.data()), at, size < all ? size : all) != 0;
    }
    const uint64_t page = uint64_t(getpagesize());
    uint64_t first = 0;
};

TEST_F(Pageable, Words)
{
    EXPECT_TRUE(pageable_is(first + page));
    errno = ENOMEM; /* somebody else's */
    EXPECT_TRUE(pageable_is(first + 2 * page - 1));
    EXPECT_EQ(ENOMEM, errno);
    EXPECT_FALSE(pageable_is(first + 2 * page));
    EXPECT_FALSE(pageable_is(first + page - 1));
    for (uint64_t word : {uint64_t{0}, uint64_t{1}, uint64_t{4096}, uint64_t{0xffff}, UINT64_MAX, uint64_t{1} << 63})
        EXPECT_FALSE(pageable_is(word)) << word;
#if defined(__x86_64__)
    EXPECT_FALSE(pageable_is((first + page) | uint64_t{1} << 47)) << "no program's";
#endif
    /* the lowest and the highest that a program may have */
    void *low =
        mmap(reinterpret_cast<void *>(0x10000), page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (low == reinterpret_cast<void *>(0x10000)) {
        EXPECT_TRUE(pageable_is(0x10000));
    }
    if (low != MAP_FAILED)
        munmap(low, page);
    errno = ENOTTY;
}

TEST_F(Pageable, AmongOthers)
{
    const uint64_t there = first + page, nowhere = first;
    EXPECT_FALSE(among({}));
    EXPECT_FALSE(among({1, nowhere, UINT64_MAX}));
    EXPECT_TRUE(among({1, nowhere, there}));
    EXPECT_TRUE(among({there, nowhere}));
    EXPECT_FALSE(among({there, nowhere}, 8)) << "from there on";
    EXPECT_FALSE(among({nowhere, there}, 0, 15)) << "not all of it";
    EXPECT_TRUE(among({nowhere, there}, 0, 16));
    EXPECT_FALSE(among({nowhere, nowhere + 8, nowhere + 16}));
    EXPECT_TRUE(among({nowhere, nowhere + 8, there + 8}));
    /* what the driver was told of is not such memory */
    struct memory *known = memory_object_new(PTDS_MEMORY_REGISTERED, there, page);
    addresses_map(known, there, page, there);
    memory_object_drop(known);
    EXPECT_FALSE(among({there, there + 8}));
    memory_object_drop(addresses_unmap(there));
    EXPECT_TRUE(among({there}));
}

/* The kernel is asked of so many pages that follow each other; of more nothing is known. */
TEST_F(Pageable, SoManyQuestions)
{
    std::vector<uint64_t> words;
    for (unsigned i = 0; i < 256; i++)
        for (unsigned k = 0; k < 3; k++)
            words.push_back((uint64_t{1} << 40) + 2 * i * page + k * 8);
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the address sanitizer keeps all low addresses";
#endif
    ASSERT_FALSE(pageable_is(words[0])) << "nothing lies so low";
    EXPECT_FALSE(among(words));
    words.push_back((uint64_t{1} << 40) + 1024 * page);
    EXPECT_TRUE(among(words));
}

/* ---- the device ---- */

CUresult g_has_context, g_answers;
int g_can;
int g_asked;

CUresult device_now(CUdevice *device)
{
    *device = 3;
    return g_has_context;
}

CUresult attribute_of(int *value, CUdevice_attribute attribute, CUdevice device)
{
    g_asked++;
    EXPECT_EQ(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, attribute);
    EXPECT_EQ(3, device);
    *value = g_can;
    return g_answers;
}

TEST(PageableMemory, IsReadByTheDeviceThatSaysSo)
{
    const auto asks = [](CUresult context, CUresult answer, int can) {
        pageable_read = 0;
        g_has_context = context, g_answers = answer, g_can = can;
        pageable_ask();
        return pageable_is_read() != 0;
    };
    driver.cuCtxGetDevice = nullptr, driver.cuDeviceGetAttribute = attribute_of;
    EXPECT_FALSE(asks(CUDA_SUCCESS, CUDA_SUCCESS, 1));
    driver.cuCtxGetDevice = device_now, driver.cuDeviceGetAttribute = nullptr;
    EXPECT_FALSE(asks(CUDA_SUCCESS, CUDA_SUCCESS, 1));
    driver.cuDeviceGetAttribute = attribute_of;
    EXPECT_FALSE(asks(CUDA_ERROR_INVALID_CONTEXT, CUDA_SUCCESS, 1));
    EXPECT_EQ(0, g_asked);
    EXPECT_FALSE(asks(CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE, 1));
    EXPECT_FALSE(asks(CUDA_SUCCESS, CUDA_SUCCESS, 0));
    EXPECT_TRUE(asks(CUDA_SUCCESS, CUDA_SUCCESS, 1));
    EXPECT_EQ(3, g_asked);
    g_can = 0;
    pageable_ask();
    EXPECT_TRUE(pageable_is_read()) << "once there is such a device it stays so";
    EXPECT_EQ(3, g_asked);
    pageable_read = 0;
}

} // namespace
