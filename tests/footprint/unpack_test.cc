/* SPDX-License-Identifier: Apache-2.0
 *
 * Compressed images: what the libraries' own compressors make comes out as it was, damaged input and wrong sizes are
 * refused, nothing is written outside of the place for the result, and malloc is never called.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <vector>

#include <lz4.h>
#include <zstd.h>

extern "C" {
#include "interpose/code/unpack.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void __wrap_free(void *memory);
}

namespace
{

/* Calls that the linker finds in this program and in the archives. */
std::atomic<int> calls_for_memory;

} // namespace

void *__wrap_malloc(size_t size)
{
    calls_for_memory++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    calls_for_memory++;
    return __real_calloc(count, size);
}

void __wrap_free(void *memory)
{
    calls_for_memory++;
    __real_free(memory);
}

namespace
{

using Bytes = std::vector<uint8_t>;
using Unpack = int (*)(uint8_t *, size_t, const uint8_t *, size_t);

/* Unpacks into the front of a place that is larger by `BEHIND` bytes; these must stay as they are. */
bool unpack(Unpack how, const Bytes &packed, size_t size, std::string *text)
{
    const size_t BEHIND = 64;
    Bytes place(size + BEHIND, 0xee);
    const int before = calls_for_memory;
    const int whole = how(place.data(), size, packed.data(), packed.size());
    EXPECT_EQ(before, calls_for_memory);
    EXPECT_EQ(Bytes(BEHIND, 0xee), Bytes(place.begin() + static_cast<long>(size), place.end()));
    *text = std::string(place.begin(), place.begin() + static_cast<long>(size));
    return whole == 1;
}

std::vector<std::string> samples()
{
    std::mt19937 random(7);
    std::vector<std::string> made = {"a", "abcabcabcabcabc", std::string(300000, 'x')};
    std::string words, noise;
    while (words.size() < 400000)
        words += "ld.param.u64 %rd" + std::to_string(random() % 40) + ", [k_" + std::to_string(random() % 300) + "];\n";
    for (int i = 0; i < 200000; i++)
        noise += static_cast<char>(random());
    made.insert(made.end(), {words, noise, words.substr(0, 3000), noise.substr(0, 300), words + noise});
    return made;
}

Bytes packed_by_zstd(const std::string &text, int level)
{
    Bytes packed(ZSTD_compressBound(text.size()));
    packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), level));
    return packed;
}

Bytes packed_by_lz4(const std::string &text)
{
    const int size = static_cast<int>(text.size());
    Bytes packed(static_cast<size_t>(LZ4_compressBound(size)));
    char *to = reinterpret_cast<char *>(packed.data());
    packed.resize(static_cast<size_t>(LZ4_compress_default(text.data(), to, size, static_cast<int>(packed.size()))));
    return packed;
}

TEST(Unpack, WhatTheCompressorsMake)
{
    for (const std::string &sample : samples()) {
        std::string text;
        ASSERT_TRUE(unpack(unpack_lz4, packed_by_lz4(sample), sample.size(), &text)) << sample.size();
        ASSERT_TRUE(text == sample) << sample.size();
        for (int level : {-20, 1, 19}) {
            ASSERT_TRUE(unpack(unpack_zstd, packed_by_zstd(sample, level), sample.size(), &text))
                << sample.size() << " " << level;
            ASSERT_TRUE(text == sample) << sample.size() << " " << level;
        }
    }
}

/* Flips bits and cuts; sizes that are too small or too large by one. What is damaged and taken all the same stays in its
 * place. */
void expect_damage_refused(Unpack how, const std::string &sample, const Bytes &good)
{
    std::mt19937 random(11);
    std::string text;
    EXPECT_FALSE(unpack(how, good, sample.size() - 1, &text));
    EXPECT_FALSE(unpack(how, good, sample.size() + 1, &text));
    EXPECT_FALSE(unpack(how, {}, sample.size(), &text));
    for (int round = 0; round < 300; round++) {
        Bytes bad = good;
        for (unsigned i = 0; i < 1 + random() % 3; i++)
            bad[random() % bad.size()] ^= static_cast<uint8_t>(1 << random() % 8);
        unpack(how, bad, sample.size(), &text);
        bad.resize(random() % bad.size());
        EXPECT_FALSE(unpack(how, bad, sample.size(), &text));
    }
}

TEST(Unpack, Damaged)
{
    for (const std::string &sample : {samples()[5], samples()[3].substr(0, 20000), samples()[4].substr(0, 20000)}) {
        expect_damage_refused(unpack_zstd, sample, packed_by_zstd(sample, 19));
        expect_damage_refused(unpack_lz4, sample, packed_by_lz4(sample));
    }
}

/* However much a damaged block claims to hold. */
TEST(Unpack, Lz4KeepsToItsPlace)
{
    const Bytes literals = {0x30, 'a', 'b', 'c', 1, 0, 0x40, 'd', 'd', 'd', 'd'}; /* 3, a match of 4, 4 more */
    const Bytes match = {0x30, 'a', 'b', 'c', 1, 0, 0x00, 1, 0, 0x10, 'e'};       /* 3, two matches of 4, 1 more */
    std::string text;
    for (const Bytes &packed : {literals, match}) {
        for (size_t room = 0; room < 11; room++)
            EXPECT_FALSE(unpack(unpack_lz4, packed, room, &text)) << room;
    }
}

/* A second frame goes on where the first one ended; a frame of an old format, and what is no frame, are refused. */
TEST(Unpack, ZstdFrames)
{
    const std::string sample(1000, 'y');
    Bytes two = packed_by_zstd(sample, 3), old = two;
    std::string text;
    old[0] = 0x27; /* version 0.7 */
    EXPECT_FALSE(unpack(unpack_zstd, old, sample.size(), &text));
    two.insert(two.end(), two.begin(), two.end());
    EXPECT_TRUE(unpack(unpack_zstd, two, 2 * sample.size(), &text));
    EXPECT_EQ(text, sample + sample);
    two.push_back(0);
    EXPECT_FALSE(unpack(unpack_zstd, two, 2 * sample.size(), &text));
}

} // namespace
