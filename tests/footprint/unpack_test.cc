/* SPDX-License-Identifier: Apache-2.0
 *
 * The two decoders: LZ4 blocks by hand, Zstandard against what libzstd makes of texts, noise and repetition, and both with
 * damaged input.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <zstd.h>

extern "C" {
#include "interpose/code/unpack.h"
}

namespace
{

using Bytes = std::vector<uint8_t>;

/* In a buffer of exactly that size, so that a sanitizer sees what goes beyond. */
bool unpack(int (*how)(uint8_t *, size_t, const uint8_t *, size_t), const Bytes &packed, size_t size, std::string *text)
{
    std::unique_ptr<uint8_t[]> made(new uint8_t[size]), input(new uint8_t[packed.size()]);
    std::copy(packed.begin(), packed.end(), input.get());
    bool whole = how(made.get(), size, input.get(), packed.size());
    *text = std::string(made.get(), made.get() + size);
    return whole;
}

TEST(Lz4, BlocksUnpackToTheirText)
{
    std::string text;
    EXPECT_TRUE(unpack(unpack_lz4, {0x30, 'a', 'b', 'c'}, 3, &text));
    EXPECT_EQ(text, "abc");
    EXPECT_TRUE(unpack(unpack_lz4, {0x32, 'a', 'b', 'c', 3, 0, 0x10, 'd'}, 10, &text)); /* three, six of a match, one */
    EXPECT_EQ(text, "abcabcabcd");
    EXPECT_TRUE(unpack(unpack_lz4, {0x1f, 'x', 1, 0, 5, 0x10, 'y'}, 26, &text)); /* a match of 4 + 15 + 5 */
    EXPECT_EQ(text, std::string(25, 'x') + "y");
    Bytes longer = {0xf0, 255, 0};
    longer.resize(3 + 270, 'z');
    EXPECT_TRUE(unpack(unpack_lz4, longer, 270, &text));
    EXPECT_EQ(text, std::string(270, 'z'));
}

TEST(Lz4, DamagedBlocksAreRefused)
{
    std::string text;
    for (const Bytes &packed : std::vector<Bytes>{{},
                                                  {0x40, 'a'},
                                                  {0xf0},
                                                  {0xf0, 255},
                                                  {0x10, 'a', 0, 0, 0},
                                                  {0x10, 'a', 2, 0, 0},
                                                  {0x10, 'a', 1},
                                                  {0x1f, 'a', 1, 0, 255, 255},
                                                  {0x10, 'a', 1, 0},
                                                  {0x10, 'a'}})
        EXPECT_FALSE(unpack(unpack_lz4, packed, 4, &text));
}

/* However much a damaged block claims to hold: nothing is written past the place for it. */
TEST(Lz4, KeepsToItsPlace)
{
    const Bytes literals = {0x30, 'a', 'b', 'c', 1, 0, 0x40, 'd', 'd', 'd', 'd'}; /* 3, a match of 4, 4 more */
    const Bytes match = {0x30, 'a', 'b', 'c', 1, 0, 0x00, 1, 0, 0x10, 'e'};       /* 3, two matches of 4, 1 more */
    for (const Bytes &packed : {literals, match}) {
        for (size_t room = 0; room < 11; room++) {
            Bytes place(32, 0xee);
            EXPECT_EQ(0, unpack_lz4(place.data(), room, packed.data(), packed.size())) << room;
            EXPECT_EQ(Bytes(32 - room, 0xee), Bytes(place.begin() + static_cast<long>(room), place.end())) << room;
        }
    }
}

std::vector<std::string> samples()
{
    std::mt19937 random(7);
    std::vector<std::string> made = {"", "a", "abcabcabcabcabc", std::string(300000, 'x')};
    std::string words, noise, few;
    while (words.size() < 400000)
        words += "ld.param.u64 %rd" + std::to_string(random() % 40) + ", [k_" + std::to_string(random() % 300) + "];\n";
    for (int i = 0; i < 200000; i++) {
        noise += static_cast<char>(random());
        few += static_cast<char>('a' + random() % 5 * (random() % 3));
    }
    made.insert(made.end(), {words, noise, few, words.substr(0, 3000), noise.substr(0, 300), words + noise + few});
    /* Few characters, some rare, in no order: their code lengths are shorter plain than packed. */
    for (int characters : {3, 5, 8, 12}) {
        std::string small;
        while (small.size() < 1500)
            small += static_cast<char>(std::min(random() % static_cast<unsigned>(characters), random() % 16));
        made.push_back(small);
    }
    return made;
}

Bytes packed_by_libzstd(const std::string &text, int level)
{
    Bytes packed(ZSTD_compressBound(text.size()));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), level));
    return packed;
}

TEST(Zstd, WhatLibzstdMakes)
{
    for (const std::string &sample : samples()) {
        for (int level : {-20, -1, 1, 3, 6, 10, 15, 19, 22}) {
            std::string text;
            ASSERT_TRUE(unpack(unpack_zstd, packed_by_libzstd(sample, level), sample.size(), &text))
                << sample.size() << " " << level;
            ASSERT_TRUE(text == sample) << sample.size() << " " << level;
        }
    }
}

/* Of what both take, both make the same; the other sizes are refused. */
TEST(Zstd, DamagedFramesNeverCrash)
{
    std::mt19937 random(11);
    for (const std::string &sample : {samples()[7], samples()[4].substr(0, 20000), samples()[6].substr(0, 20000)}) {
        Bytes good = packed_by_libzstd(sample, 19);
        std::string text, other(sample.size(), 0);
        EXPECT_FALSE(unpack(unpack_zstd, good, sample.size() - 1, &text));
        EXPECT_FALSE(unpack(unpack_zstd, good, sample.size() + 1, &text));
        for (int round = 0; round < 3000; round++) {
            Bytes bad = good;
            for (unsigned i = 0; i < 1 + random() % 3; i++)
                bad[random() % bad.size()] ^= static_cast<uint8_t>(1 << random() % 8);
            bool whole = unpack(unpack_zstd, bad, sample.size(), &text);
            if (whole && ZSTD_decompress(other.data(), other.size(), bad.data(), bad.size()) == other.size()) {
                ASSERT_TRUE(text == other) << round;
            }
            bad.resize(random() % bad.size());
            EXPECT_FALSE(unpack(unpack_zstd, bad, sample.size(), &text));
        }
    }
}

} // namespace
