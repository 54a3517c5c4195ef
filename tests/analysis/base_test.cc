// SPDX-License-Identifier: Apache-2.0
//
// What all of analysis/ stands on: durations as people write them, the map from ids, the sorted one, what is to happen
// when.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "analysis/base/agenda.h"
#include "analysis/base/duration.h"
#include "analysis/base/id_map.h"
#include "analysis/base/line.h"
#include "analysis/base/sink.h"
#include "analysis/base/sorted.h"
#include "analysis/base/table.h"
#include "analysis/base/text.h"

namespace ptds
{
namespace
{

// Most bytes are plain and are taken eight at a time: wherever the others stand, the text is the same as byte by byte, up
// to its first NUL and as far as there is room for whole characters.
TEST(Text, IsCleanedWhereverItsBytesStand)
{
    const struct {
        const char *in, *out;
    } pieces[] = {{"\x01", "?"}, {"\x7f", "?"}, {"\xff", "?"}, {"\x1f", "?"}, {"\xc3\xa4", "\xc3\xa4"},
                  {" ", " "},    {"~", "~"}};
    std::mt19937 random(1);
    for (int turn = 0; turn < 20000; turn++) {
        std::string in, out;
        size_t room = 1 + random() % 40;
        bool full = false;
        for (unsigned left = random() % 40; left > 0; left--) {
            std::string text(1, static_cast<char>('!' + random() % 90)), clean = text;
            if (random() % 12 == 0) {
                const auto &piece = pieces[random() % (sizeof pieces / sizeof pieces[0])];
                text = piece.in;
                clean = piece.out;
            }
            in += text;
            full |= out.size() + clean.size() >= room;
            out += full ? "" : clean;
        }
        if (random() % 4 == 0)
            in += std::string("\0behind the end", 15);
        char got[64];
        ASSERT_EQ(out.size(), text_clean(got, room, in.data(), in.size())) << in;
        ASSERT_EQ(out, got);
    }
}

TEST(Text, WhatIsNoCharacterIsAQuestionMarkAByte)
{
    const struct {
        std::string in, out;
    } cases[] = {{"\xf9\x81\x80\x80", "????"},
                 {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
                 {"\xf4\x90\x80\x80", "????"},
                 {"\xe2\x82\xac", "\xe2\x82\xac"},
                 {"\xe2\x82 ", "?? "},
                 {"\xe2 \x82", "? ?"},
                 {"\xf0\x9f\x98", "???"},
                 {"\xc1\xbf", "??"},
                 {"\x80", "?"},
                 {"\xc2\x9f\xc2\xa0", "??\xc2\xa0"}};
    for (const auto &one : cases)
        for (const std::string before : {"", "seven..", "eight..."}) {
            std::string in = before + one.in, out = before + one.out;
            char got[64];
            EXPECT_EQ(out.size(), text_clean(got, sizeof got, in.data(), in.size())) << out;
            EXPECT_EQ(out, got);
        }
}

std::string Utf8(uint32_t point, unsigned size)
{
    std::string out;
    for (unsigned i = size - 1; i > 0; i--, point >>= 6)
        out.insert(0, 1, static_cast<char>(0x80 | (point & 0x3f)));
    return static_cast<char>((0xf00 >> size & 0xf0) | point) + out;
}

/* Every character there is, as UTF-8 writes it; neither control characters, nor what turns the direction of writing, nor
 * halves of UTF-16, and none in more bytes than it needs. */
TEST(Text, EveryCharacterStays)
{
    auto cleaned = [](const std::string &in) {
        char out[16];
        return std::string(out, text_clean(out, sizeof out, in.data(), in.size()));
    };
    for (uint32_t point = 0x80; point <= 0x1fffff; point += point < 0x2100 || (point & 0x7ff) > 0x7f0 ? 1 : 13) {
        unsigned size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        bool turns = (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
        bool stays = point >= 0xa0 && !turns && (point < 0xd800 || point > 0xdfff) && point <= 0x10ffff;
        std::string text = Utf8(point, size);
        EXPECT_EQ(stays ? text : std::string(size, '?'), cleaned(text)) << std::hex << point;
        if (size < 4) {
            EXPECT_EQ(std::string(size + 1, '?'), cleaned(Utf8(point, size + 1))) << std::hex << point;
        }
    }
}

/* In pieces, control characters as spaces. */
TEST(Text, IsWrittenUpToAStop)
{
    struct Sink : text_sink {
        std::string text;
    } sink;
    sink.write = [](text_sink *of, const char *piece, size_t size) { static_cast<Sink *>(of)->text.append(piece, size); };
    EXPECT_STREQ(";e", sink_until(&sink, "ab\n\tcd;e", ";"));
    EXPECT_EQ("ab  cd", sink.text);
    EXPECT_STREQ("", sink_until(&sink, "xy\n", ";,"));
    EXPECT_EQ("ab  cdxy ", sink.text);
    EXPECT_STREQ(",z", sink_until(&sink, ",z", ";,"));
    EXPECT_EQ("ab  cdxy ", sink.text);
}

/* What a damaged trace says may be more than a number holds. */
/* At a blank, unless that is too far away; never within a character. */
TEST(Text, ALineIsCutWhereItMayBe)
{
    auto fitted = [](const std::string &text, size_t columns) {
        struct line line = {};
        line_add(&line, "%s", text.c_str());
        line_fit(&line, columns);
        EXPECT_EQ(strlen(line.text), line.used);
        return std::string(line.text);
    };
    std::string umlauts;
    for (int i = 0; i < 20; i++)
        umlauts += "\xc3\xa4";
    EXPECT_EQ("as it is", fitted("as it is", 8));
    EXPECT_EQ("as it is", fitted("as it is", 7)) << "too few to cut anything";
    EXPECT_EQ("as it was ...", fitted("as it was then", 13));
    EXPECT_EQ("as it wa ...", fitted("as it was then", 12)) << "the blank is too far away";
    EXPECT_EQ("as it ...", fitted("as it was then", 9));
    EXPECT_EQ("a_word_of ...", fitted("a_word_of_many_letters", 13));
    EXPECT_EQ("a bc ...", fitted("a bc_word_of_many_letters", 8));
    EXPECT_EQ("a bc_word ...", fitted("a bc_word_of_many_letters", 13));
    EXPECT_EQ(umlauts.substr(0, 10) + " ...", fitted(umlauts, 14));
    EXPECT_EQ(umlauts.substr(0, 10) + " ...", fitted(umlauts, 15));
    EXPECT_EQ(umlauts.substr(0, 12) + " ...", fitted(umlauts, 16));
}

TEST(Text, AShareIsWholePercents)
{
    EXPECT_STREQ("0 %", text_share(0, 0).text);
    EXPECT_STREQ("0 %", text_share(0, 7).text);
    EXPECT_STREQ("under 1 %", text_share(1, 201).text);
    EXPECT_STREQ("1 %", text_share(1, 200).text);
    EXPECT_STREQ("67 %", text_share(2, 3).text);
    EXPECT_STREQ("150 %", text_share(3, 2).text);
    EXPECT_STREQ("4294967295 %", text_share(UINT64_MAX, 1).text);
}

TEST(Duration, IsANumberAndAUnit)
{
    const struct {
        const char *text;
        uint64_t ns;
    } sound[] = {
        {"10ns", 10},          {"30us", 30000},        {"2 ms", 2000000}, {"1.5s", 1500000000},
        {"2m", 120000000000u}, {"0.5m", 30000000000u}, {".25us", 250},
    };
    for (const auto &one : sound) {
        uint64_t ns = 7;
        EXPECT_TRUE(duration_read(one.text, &ns)) << one.text;
        EXPECT_EQ(one.ns, ns) << one.text;
    }
}

TEST(Duration, NothingIsGuessed)
{
    for (const char *text :
         {"", "10", "s", "ms", "-1s", "inf s", "nan s", "1h", "1 s ", "1S", ".", ". s", "1e30s", "soon"}) {
        uint64_t ns = 7;
        EXPECT_FALSE(duration_read(text, &ns)) << text;
        EXPECT_EQ(7u, ns) << text;
    }
}

/* By turns three in and two out, the times in no order and some of them twice. */
TEST(Agenda, HandsOutTheEarliestFirst)
{
    struct Item {
        uint64_t ticks, twice;
    };
    std::vector<Item> agenda;
    std::vector<uint64_t> waiting;
    auto take = [&] {
        agenda_take(agenda.data(), agenda.size(), sizeof(Item));
        auto earliest = std::min_element(waiting.begin(), waiting.end());
        EXPECT_EQ(*earliest, agenda.back().ticks);
        EXPECT_EQ(*earliest * 2, agenda.back().twice) << "all of the item moves";
        waiting.erase(earliest);
        agenda.pop_back();
    };
    for (uint64_t i = 0; i < 300; i++) {
        uint64_t ticks = i * 7919 % 101;
        agenda.push_back({ticks, ticks * 2});
        waiting.push_back(ticks);
        agenda_add(agenda.data(), agenda.size(), sizeof(Item));
        if (i % 3 != 0)
            take();
    }
    EXPECT_EQ(100u, agenda.size());
    while (!agenda.empty())
        take();
}

/* Small ids have another place than others; nobody may notice. */
TEST(IdMap, HoldsIdsOfAllSizes)
{
    const uint64_t keys[] = {0,
                             1,
                             63,
                             ID_MAP_SMALL - 1,
                             ID_MAP_SMALL,
                             ID_MAP_SMALL + 1,
                             2 * ID_MAP_SMALL - 1,
                             1ull << 40,
                             UINT64_MAX - 1,
                             UINT64_MAX};
    struct id_map map = {};
    uint32_t value = 7;
    for (uint64_t key : keys)
        EXPECT_FALSE(id_map_get(&map, key, &value)) << key;
    for (uint64_t key : keys)
        ASSERT_TRUE(id_map_put(&map, key, static_cast<uint32_t>(key * 3 % 1000))) << key;
    for (uint64_t key : keys) {
        ASSERT_TRUE(id_map_get(&map, key, &value)) << key;
        EXPECT_EQ(key * 3 % 1000, value) << key;
        EXPECT_FALSE(id_map_get(&map, key + 100, &value)) << key;
    }
    for (uint64_t key : keys) {
        id_map_remove(&map, key);
        value = 7;
        EXPECT_FALSE(id_map_get(&map, key, &value)) << key;
        EXPECT_EQ(7u, value);
    }
    ASSERT_TRUE(id_map_put(&map, 5, 0));
    ASSERT_TRUE(id_map_put(&map, 5, 9)) << "an existing key gets the new value";
    EXPECT_TRUE(id_map_get(&map, 5, &value));
    EXPECT_EQ(9u, value);
    EXPECT_FALSE(id_map_put(&map, 5, UINT32_MAX));
    id_map_free(&map);
}

/* Against a map that is known to be right; keys come in rising order, at random, and from a few places. */
TEST(Sorted, HoldsWhatAMapHolds)
{
    struct sorted sorted = {};
    std::map<uint64_t, uint32_t> map;
    std::mt19937_64 random(7);
    size_t most = 0;
    for (uint32_t step = 0; step < 60000; step++) {
        uint64_t key = step % 3 == 0 ? step : step % 3 == 1 ? random() % 5000 : random() % 50 << 40;
        bool grows = step % 20000 < 12000;
        if (random() % 4 != 0 ? grows : !grows) {
            ASSERT_TRUE(sorted_put(&sorted, key, step));
            map[key] = step;
        } else {
            auto near = map.lower_bound(key);
            key = near != map.end() ? near->first : key;
            sorted_remove(&sorted, key);
            map.erase(key);
        }
        most = std::max(most, map.size());
        uint64_t asked = random() % 3 != 0 ? key : random() % 70000;
        struct sorted_entry found;
        auto above = map.upper_bound(asked);
        ASSERT_EQ(above != map.end(), sorted_above(&sorted, asked, &found)) << step;
        if (above != map.end()) {
            ASSERT_EQ(above->first, found.key);
            ASSERT_EQ(above->second, found.value);
        }
        ASSERT_EQ(above != map.begin(), sorted_up_to(&sorted, asked, &found)) << step;
        if (above != map.begin()) {
            ASSERT_EQ(std::prev(above)->first, found.key);
            ASSERT_EQ(std::prev(above)->second, found.value);
        }
    }
    EXPECT_GT(most, 1000u);
    while (!map.empty()) {
        sorted_remove(&sorted, map.begin()->first);
        map.erase(map.begin());
        ASSERT_LE(sorted.count, map.size() / 32 + 1) << "what is left of leaves becomes one";
    }
    sorted_free(&sorted);
}

TEST(Text, TheNameOfAFunctionAlone)
{
    EXPECT_STREQ("scale", text_function("void (anonymous namespace)::scale<float>(float*)").text);
    EXPECT_STREQ("scale", text_function("(anonymous namespace)::scale(int)").text);
    EXPECT_STREQ("inner", text_function("a::(anonymous namespace)::b::inner(c::d)").text);
    EXPECT_STREQ("step", text_function("work::step(int, char const*)").text);
    EXPECT_STREQ("plain", text_function("plain").text);
    EXPECT_STREQ("", text_function("").text);
}

} // namespace
} // namespace ptds
