/* SPDX-License-Identifier: Apache-2.0
 *
 * Where words of a span lie among bytes: as looking at each place, one after the other, finds them.
 */
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

extern "C" {
#include "interpose/footprint/memories/address_span.h"
#include "interpose/footprint/pointers/scan.h"
}

namespace
{

using Places = std::vector<size_t>;

struct address_span span_of_two(uint64_t low, uint64_t high)
{
    return address_span_of(&low, &high);
}

Places each_place(uint64_t low, uint64_t high, const std::vector<uint8_t> &bytes)
{
    Places places;
    for (size_t at = 0; at + 8 <= bytes.size(); at++) {
        uint64_t word = 0;
        for (size_t i = 8; i-- > 0;)
            word = word * 256 + bytes[at + i];
        if (low <= word && word < high)
            places.push_back(at);
    }
    return places;
}

/* The bytes end where the memory does, as a sanitizer knows. */
Places scanned(uint64_t low, uint64_t high, const std::vector<uint8_t> &bytes)
{
    Places places;
    struct scan scan;
    for (scan_begin(&scan, span_of_two(low, high), bytes.data(), bytes.size());
         scan.at != SIZE_MAX && places.size() <= bytes.size(); scan_on(&scan)) {
        uint64_t word;
        memcpy(&word, &bytes[scan.at], sizeof word);
        EXPECT_EQ(word, scan_word(&scan));
        places.push_back(scan.at);
    }
    return places;
}

TEST(Scan, OneWordAtEachPlaceOfEachSize)
{
    const uint64_t low = 0x7f1200000000, high = 0x7f5600000000;
    for (size_t size = 0; size < 48; size++) {
        EXPECT_EQ(Places{}, scanned(low, high, std::vector<uint8_t>(size, 0xee)));
        for (size_t at = 0; at + 8 <= size; at++)
            for (uint64_t word : {low - 1, low, low + 0x1234, high - 1, high}) {
                std::vector<uint8_t> bytes(size, 0xee);
                memcpy(bytes.data() + at, &word, sizeof word);
                EXPECT_EQ((word >= low && word < high ? Places{at} : Places{}), scanned(low, high, bytes))
                    << size << " " << at << " " << word;
            }
    }
}

/* Words of the span, beside it, bytes of it alone and zeros, one over the other. */
std::vector<uint8_t> some_bytes(std::mt19937_64 *random, uint64_t low, uint64_t high)
{
    std::vector<uint8_t> bytes((*random)() % 100, static_cast<uint8_t>((*random)() % 2 * (*random)()));
    for (size_t i = 0; bytes.size() > 8 && i < bytes.size() / 6; i++) {
        const uint64_t near[] = {low,     low - 1,           high - 1,    high,           low + (*random)() % (high - low),
                                 low / 2, low + (high >> 8), (*random)(), (*random)() % 3};
        memcpy(&bytes[(*random)() % (bytes.size() - 8)], &near[(*random)() % 9], 1 + (*random)() % 8);
    }
    return bytes;
}

TEST(Scan, RandomBytesAndSpans)
{
    const std::pair<uint64_t, uint64_t> spans[] = {{0x7f1200000000, 0x7f5600000000},
                                                   {0x302000000, 0x302400000},
                                                   {0x302000000, 0x7f5600000000},
                                                   {0x550000001000, 0x7ffff0000000},
                                                   {1, 100},
                                                   {77, 78},
                                                   {0, 1},
                                                   {0, UINT64_MAX},
                                                   {0xb400007f12000000, 0xb400007f13000000},
                                                   {0x7fffffffffffffff, 0x8000000000000001},
                                                   {UINT64_MAX - 9, UINT64_MAX}};
    std::mt19937_64 random(20261123);
    for (const auto &span : spans) {
        size_t found = 0;
        for (int round = 0; round < 3000; round++) {
            const std::vector<uint8_t> bytes = some_bytes(&random, span.first, span.second);
            const Places expected = each_place(span.first, span.second, bytes);
            ASSERT_EQ(expected, scanned(span.first, span.second, bytes)) << span.first << " " << round;
            found += expected.size();
        }
        EXPECT_GT(found, 300u) << span.first;
    }
}

TEST(Scan, NothingLiesInAnEmptySpan)
{
    for (uint64_t low : {uint64_t{0}, uint64_t{7}, UINT64_MAX})
        EXPECT_EQ(Places{}, scanned(low, low, std::vector<uint8_t>(64, 0)));
}

/* Most places are dismissed at once: by bytes that are none of the span's. */
TEST(Scan, FewPlacesAreLookedAtOneByOne)
{
    std::vector<uint8_t> bytes(64, 0);
    for (const struct address_span &span :
         {span_of_two(0x7f1200000000, 0x7f5600000000), span_of_two(0x302000000, 0x302400000)}) {
        for (int fill : {0, 1, 0xff}) {
            bytes.assign(64, static_cast<uint8_t>(fill));
            struct scan scan;
            scan_begin(&scan, span, bytes.data(), bytes.size());
            EXPECT_EQ(0u, scan_eight(&scan, 0)) << fill;
            EXPECT_EQ(48u, scan_skip(&scan, 0)) << fill;
        }
    }
    bytes[28] = 0x7f;
    bytes[27] = 0x33;
    struct scan scan;
    scan_begin(&scan, span_of_two(0x7f1200000000, 0x7f5600000000), bytes.data(), bytes.size());
    EXPECT_EQ(0x8000000000000000u, scan_eight(&scan, 16)) << "the place of a word whose bytes 4 and 5 these are";
    EXPECT_EQ(0x80u, scan_eight(&scan, 23));
    EXPECT_EQ(16u, scan_skip(&scan, 0));
    EXPECT_EQ(56u, scan_skip(&scan, 24));
}

} // namespace
