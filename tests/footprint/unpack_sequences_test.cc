/* SPDX-License-Identifier: Apache-2.0
 *
 * Sequences of Zstandard blocks: each code of a length and of an offset, counts, tables, and each limit from both sides.
 */
#include "tests/footprint/frames.h"

#include <utility>

namespace
{

/* ---- sequences ---- */

/* RFC 8878, 3.1.1.3.2.1.1: where the values of each code begin, and how many bits there are besides. */
struct Code {
    unsigned base, bits;
};
const Code literal_codes[] = {
    {0, 0},   {1, 0},   {2, 0},     {3, 0},     {4, 0},     {5, 0},     {6, 0},      {7, 0},      {8, 0},
    {9, 0},   {10, 0},  {11, 0},    {12, 0},    {13, 0},    {14, 0},    {15, 0},     {16, 1},     {18, 1},
    {20, 1},  {22, 1},  {24, 2},    {28, 2},    {32, 3},    {40, 3},    {48, 4},     {64, 6},     {128, 7},
    {256, 8}, {512, 9}, {1024, 10}, {2048, 11}, {4096, 12}, {8192, 13}, {16384, 14}, {32768, 15}, {65536, 16}};
const Code match_codes[] = {{35, 1},    {37, 1},    {39, 1},    {41, 1},    {43, 2},     {47, 2},     {51, 3},
                            {59, 3},    {67, 4},    {83, 4},    {99, 5},    {131, 7},    {259, 8},    {515, 9},
                            {1027, 10}, {2051, 11}, {4099, 12}, {8195, 13}, {16387, 14}, {32771, 15}, {65539, 16}};

/* One sequence: literals, and a match that begins with the byte before them, so that it shows where they end. The lowest
 * and the highest of a code. */
TEST(ZstdSequences, EachLengthOfLiterals)
{
    for (unsigned code = 0; code < 36; code++) {
        for (bool high : {false, true}) {
            const unsigned more = high ? (1u << literal_codes[code].bits) - 1 : 0, length = literal_codes[code].base + more;
            unsigned offset_code = 2; /* length + 1, which is told as three more */
            while (length + 4 >= 2u << offset_code)
                offset_code++;
            const Bytes bits =
                backwards({{length + 4 - (1u << offset_code), offset_code}, {more, literal_codes[code].bits}});
            const Bytes codes = constant({1}, static_cast<uint8_t>(code), static_cast<uint8_t>(offset_code), 0);
            const std::string text = "w" + std::string(length, 'x');
            expect_whole(begins + block(PLAIN, {'w'}, 1, false) + packed(repeated('x', length) + codes + bits),
                         text + (text + "ww").substr(0, 3), std::to_string(code));
        }
    }
    for (uint8_t code : {36, 37, 255})
        expect_refused(frame(repeated('x', 4) + constant({1}, code, 0, 0) + Bytes{1}), 7, "no such code");
}

TEST(ZstdSequences, EachLengthOfAMatch)
{
    for (unsigned code = 0; code < 53; code++) {
        const Code row = code < 32 ? Code{code + 3, 0} : match_codes[code - 32];
        for (bool high : {false, true}) {
            const unsigned more = high ? (1u << row.bits) - 1 : 0, length = row.base + more;
            const Bytes input =
                frame(repeated('x', 1) + constant({1}, 1, 0, static_cast<uint8_t>(code)) + backwards({{more, row.bits}}));
            EXPECT_TRUE(unpacked(input, length + 1) == std::string(length + 1, 'x')) << code;
            EXPECT_EQ("refused", unpacked(input, length)) << code;
            EXPECT_EQ("refused", unpacked(input, length + 2)) << code;
        }
    }
    for (uint8_t code : {53, 54, 255})
        expect_refused(frame(repeated('x', 1) + constant({1}, 1, 0, code) + Bytes{1}), 4);
}

/* Far back, as far as there is something, and one too far. */
TEST(ZstdSequences, EachOffset)
{
    std::string text;
    for (unsigned i = 0; text.size() < 90000; i++)
        text += std::to_string(i * 2654435761u) + " ";
    for (unsigned code = 2; code < 17; code++) {
        for (unsigned more : {0u, (1u << code) / 3}) {
            const size_t offset = (1u << code) + more - 3;
            const Bytes content(text.begin(), text.begin() + static_cast<long>(offset)),
                less(content.begin() + 1, content.end());
            const Bytes sequence =
                packed(literals("") + constant({1}, 0, static_cast<uint8_t>(code), 7) + backwards({{more, code}}));
            std::string expected = text.substr(0, offset);
            for (int i = 0; i < 10; i++)
                expected += expected[expected.size() - offset];
            expect_whole(begins + block(PLAIN, content, offset, false) + sequence, expected, std::to_string(code));
            expect_refused(begins + block(PLAIN, less, offset - 1, false) + sequence, offset + 9, std::to_string(code));
        }
    }
    expect_refused(frame(repeated('x', 4) + constant({1}, 4, 32, 0) + backwards({{0, 32}})), 7, "no such code");
    expect_refused(frame(repeated('x', 4) + constant({1}, 4, 31, 0) + backwards({{0, 31}})), 7, "so far there is nothing");
}

/* Values 1 to 3 mean one of the last three, at first 1, 4 and 8; of no literals each means the next one. */
TEST(ZstdSequences, OffsetsUsedAgain)
{
    const Bytes before = begins + block(PLAIN, {'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I'}, 9, false);
    const auto with = [](const std::string &own, uint8_t offset_code, const std::vector<Field> &bits, bool last = true) {
        const Bytes codes = constant({static_cast<uint8_t>(bits.size())}, own.empty() ? 0 : 1, offset_code, 0);
        return packed(literals(own) + codes + backwards(bits), last);
    };
    const Field one = {0, 0}, two = {0, 1}, three = {1, 1};
    expect_whole(before + with("ab", 0, {one, one}), "ABCDEFGHIaaaabbbb");
    expect_whole(before + with("ab", 1, {two, two}), "ABCDEFGHIaGHIbbbb");
    expect_whole(before + with("ab", 1, {three, three}), "ABCDEFGHIaCDEbCDE");
    expect_whole(before + with("ab", 1, {three, two}), "ABCDEFGHIaCDEbbbb");
    expect_whole(before + with("ab", 1, {two, three}), "ABCDEFGHIaGHIbGHI");
    expect_whole(before + with("", 0, {one, one}), "ABCDEFGHIFGHHHH");
    expect_whole(before + with("", 1, {two}), "ABCDEFGHIBCD");
    expect_whole(before + with("a", 1, {two}, false) + with("", 1, {two}), "ABCDEFGHIaGHIFGH");
    expect_whole(before + with("a", 1, {two}, false) + with("", 1, {three, two}), "ABCDEFGHIaGHIGHIIII");
    expect_whole(before + with("a", 3, {{1, 3}}, false) + with("", 0, {one}, false) + with("", 1, {two}),
                 "ABCDEFGHIaEFGGGGGGG");
    const std::string made = "ABCDEFGHIaCDEbCDE";
    expect_whole(before + with("ab", 1, {three, three}) + before + with("ab", 0, {one, one}), made + "ABCDEFGHIaaaabbbb",
                 "the next frame begins anew");
    expect_whole(before + with("ab", 1, {three, three}) + before + with("ab", 1, {three, two}), made + "ABCDEFGHIaCDEbbbb");
    expect_refused(before + with("", 1, {three}), 12, "one less than the last is 0");
}

TEST(ZstdSequences, HowManyThereAre)
{
    const std::vector<std::pair<size_t, Bytes>> rows = {
        {1, {1}},        {127, {127}},         {128, {128, 128}},     {255, {128, 255}},
        {256, {129, 0}}, {0x7eff, {254, 255}}, {0x7f00, {255, 0, 0}}, {0x8001, {255, 1, 1}}};
    for (const auto &row : rows)
        expect_whole(frame(repeated('x', row.first) + constant(row.second, 1, 0, 0) + Bytes{1}),
                     std::string(4 * row.first, 'x'), std::to_string(row.first));
    expect_refused(frame(repeated('x', 1) + Bytes{128}), 1, "half a count");
    expect_refused(frame(repeated('x', 1) + Bytes{255, 0}), 1);
    expect_refused(frame(repeated('x', 1) + Bytes{1}), 4, "no modes");
}

TEST(ZstdSequences, AreOfAllTheirBitsAndLiterals)
{
    const Bytes codes = constant({1}, 1, 0, 0);
    expect_whole(frame(repeated('x', 1) + codes + Bytes{1}), "xxxx");
    expect_whole(frame(literals("xyz") + codes + Bytes{1}), "xxxxyz", "what is left of the literals comes last");
    for (const Bytes &bits : std::vector<Bytes>{{}, {0}, {2}, {3}, {0, 1}})
        expect_refused(frame(repeated('x', 1) + codes + bits), 4);
    expect_refused(frame(literals("") + codes + Bytes{1}), 4, "no literal");
    expect_refused(frame(repeated('x', 3) + constant({1}, 4, 0, 0) + Bytes{1}), 7, "a literal less");
    expect_refused(frame(repeated('x', 3) + constant({2}, 2, 0, 0) + Bytes{1}), 10, "likewise, of the second one's");
    expect_refused(frame(repeated('x', 1) + constant({1}, 1, 0, 32) + Bytes{1}), 36, "a bit less");
    for (uint8_t reserved : {1, 2}) {
        Bytes modes = codes;
        modes[1] |= reserved;
        expect_refused(frame(repeated('x', 1) + modes + Bytes{1}), 4, "reserved");
    }
    for (long missing : {1, 2, 3})
        expect_refused(frame(repeated('x', 1) + Bytes(codes.begin(), codes.end() - missing)), 4, "codes are missing");
}

/* A table serves until the next one, in its frame; at a frame's beginning there is none. */
TEST(ZstdSequences, TheLastTables)
{
    const Bytes first = repeated('x', 1) + constant({1}, 1, 0, 0) + Bytes{1}, again = literals("y") + Bytes{1, 0xfc, 1};
    expect_whole(begins + packed(first, false) + packed(again), "xxxxyyyy");
    expect_refused(frame(first) + frame(again), 8);
    expect_refused(frame(literals("y") + Bytes{1, 0xd4, 0, 0, 1}), 4);
    expect_refused(frame(literals("y") + Bytes{1, 0x74, 1, 0, 1}), 4);
    expect_refused(frame(literals("y") + Bytes{1, 0x5c, 1, 0, 1}), 4);
}

} // namespace
