/* SPDX-License-Identifier: Apache-2.0
 *
 * Zstandard frames, blocks and literals, and the codes that they are packed with: kinds and sizes that libzstd seldom or
 * never writes, each limit from both sides.
 */
#include "tests/footprint/frames.h"

#include <algorithm>
#include <cstring>

extern "C" {
#include "interpose/code/entropy.h"
}

namespace
{

/* ---- frames and blocks ---- */

TEST(ZstdFrames, EachFormOfHeader)
{
    const Bytes magic = {0x28, 0xb5, 0x2f, 0xfd}, tail = block(PLAIN, {'h', 'i'}, 2);
    expect_whole(magic + Bytes{0x00, 0x70} + tail, "hi");
    expect_whole(magic + Bytes{0x20, 2} + tail, "hi", "one segment: no window, a byte of size");
    expect_whole(magic + Bytes{0x40, 0x70} + number(2, 2) + block(REPEATED, {'x'}, 258), std::string(258, 'x'), "256 more");
    expect_whole(magic + Bytes{0x80, 0x70} + number(2, 4) + tail, "hi");
    expect_whole(magic + Bytes{0xc0, 0x70} + number(2, 8) + tail, "hi");
    expect_whole(magic + Bytes{0xe0} + number(2, 8) + tail, "hi");
    EXPECT_EQ("hi", unpacked(magic + Bytes{0x04, 0x70} + tail + number(0x12345678, 4), 2)) << "a checksum, not looked at";
    expect_refused(magic + Bytes{0x04, 0x70} + tail + number(0x12345678, 3), 2, "three bytes of it");
    expect_refused(magic + Bytes{0x08, 0x70} + tail, 2, "reserved");
    for (uint8_t dictionary : {1, 2, 3})
        expect_refused(magic + Bytes{dictionary, 0x70} + number(7, dictionary == 3 ? 4 : dictionary) + tail, 2);
    for (size_t size = 0; size < 6; size++)
        expect_refused(Bytes(begins.begin(), begins.begin() + static_cast<long>(size)), 0);
    for (size_t at = 0; at < 4; at++) {
        Bytes other = begins + tail;
        other[at] ^= 0x10;
        expect_refused(other, 2, "no magic");
    }
    expect_refused({}, 0);
}

TEST(ZstdFrames, EachKindOfBlock)
{
    const Bytes hi = {'h', 'i'};
    expect_whole(begins + block(PLAIN, hi, 2, false) + block(REPEATED, {'y'}, 3, false) +
                     packed(literals("abc") + Bytes{0}),
                 "hiyyyabc");
    expect_whole(begins + block(PLAIN, {}, 0), "");
    expect_whole(begins + block(PLAIN, hi, 2) + begins + block(REPEATED, {'z'}, 1), "hiz", "two frames");
    expect_refused(begins + block(PLAIN, hi, 2, false), 2, "no last one");
    expect_refused(begins + block(PLAIN, hi, 2) + Bytes{0}, 2, "more behind it");
    expect_refused(begins + block(3, hi, 2), 2, "reserved");
    expect_refused(begins + block(PLAIN, {'h'}, 2), 2);
    expect_refused(begins + block(REPEATED, {}, 2), 2);
    expect_refused(begins + Bytes{1, 0}, 0);
}

/* A block is of 128 KiB at most; so are its literals. */
TEST(ZstdFrames, TheLargestBlock)
{
    const std::string most(131072 - 4, 'l');
    const auto with = [](const std::string &text) {
        return number(text.size() << 4 | 3u << 2, 3) + Bytes(text.begin(), text.end()) + Bytes{0};
    };
    expect_whole(frame(with(most)), most);
    expect_refused(frame(with(most + 'l')), most.size() + 1);
    expect_whole(frame(repeated('r', 131072) + Bytes{0}), std::string(131072, 'r'));
    expect_refused(frame(repeated('r', 131073) + Bytes{0}), 131073);
}

/* ---- literals ---- */

TEST(ZstdLiterals, SizesOfEachFormat)
{
    for (size_t size : {size_t{0}, size_t{1}, size_t{30}, size_t{31}}) {
        const std::string text(size, 'q');
        expect_whole(frame(literals(text) + Bytes{0}), text);
        expect_whole(frame(number(size << 3 | 1, 1) + Bytes{'q', 0}), text);
    }
    for (size_t size : {size_t{32}, size_t{4095}}) {
        const std::string text(size, 'q');
        expect_whole(frame(number(size << 4 | 1u << 2, 2) + Bytes(text.begin(), text.end()) + Bytes{0}), text);
        expect_whole(frame(number(size << 4 | 1u << 2 | 1, 2) + Bytes{'q', 0}), text);
    }
    expect_refused(frame(number(5 << 3, 1) + Bytes{'a', 'b', 'c', 'd'}), 5);
    expect_refused(frame(literals("abc")), 3, "no count of sequences");
    expect_refused(frame({}), 0);
    expect_refused(frame({1u << 2}), 0);
}

/* Two symbols with a bit each, described by the first one's weight: 0 is 'a' of 98, since those before weigh nothing. */
Bytes code_of_two()
{
    Bytes weights(1 + 49, 0);
    weights[0] = 127 + 98;
    weights[49] = 0x01; /* 'a', the 98th; 'b' is what is left */
    return weights;
}

std::vector<Field> bits_of(const std::string &text)
{
    std::vector<Field> fields;
    for (char c : text)
        fields.push_back({c == 'b' ? 1u : 0u, 1});
    return fields;
}

Bytes huffman_header(unsigned type, unsigned format, size_t made, size_t size)
{
    const unsigned width = format < 2 ? 10 : format == 2 ? 14 : 18;
    return number(uint64_t{size} << (4 + width) | made << 4 | format << 2 | type, format < 2 ? 3 : format + 2);
}

/* In four parts of one length, the last is what is left. */
Bytes four_streams(const std::string &text)
{
    const size_t each = (text.size() + 3) / 4;
    Bytes sizes, streams;
    for (size_t i = 0; i < 4; i++) {
        const Bytes stream = backwards(bits_of(text.substr(std::min(i * each, text.size()), each)));
        if (i < 3)
            sizes = sizes + number(stream.size(), 2);
        streams = streams + stream;
    }
    return sizes + streams;
}

Bytes huffman(const Bytes &content, unsigned type, unsigned format, size_t made)
{
    return huffman_header(type, format, made, content.size()) + content;
}

TEST(ZstdLiterals, PackedInOneStreamAndInFour)
{
    const std::string text = "abbabaabbb";
    const Bytes one = code_of_two() + backwards(bits_of(text)), four = code_of_two() + four_streams(text + "ab");
    expect_whole(frame(huffman(one, 2, 0, 10) + Bytes{0}), text);
    for (unsigned format : {1u, 2u, 3u})
        expect_whole(frame(huffman(four, 2, format, 12) + Bytes{0}), text + "ab");
    EXPECT_EQ("abb", unpacked(frame(huffman(code_of_two() + four_streams("abb"), 2, 1, 3) + Bytes{0}), 3)) << "none last";
    for (const char *few : {"a", "ab", "abbab"})
        expect_refused(
            frame(huffman(code_of_two() + four_streams(few + std::string(3, 'a')), 2, 1, strlen(few)) + Bytes{0}),
            strlen(few), few);
    expect_refused(frame(huffman(one, 2, 0, 9) + Bytes{0}), 9, "a bit is left");
    expect_refused(frame(huffman(one, 2, 0, 11) + Bytes{0}), 11, "a bit is missing");
    expect_refused(frame(huffman(one + Bytes{0}, 2, 0, 10) + Bytes{0}), 10, "no end of bits");
    expect_refused(frame(huffman(code_of_two(), 2, 0, 10) + Bytes{0}), 10, "no stream");
    expect_refused(frame(huffman(code_of_two() + Bytes{1, 0, 1}, 2, 1, 12) + Bytes{0}), 12, "no sizes of streams");
    Bytes longer = four;
    longer[50] = 200; /* the first stream's size */
    expect_refused(frame(huffman(longer, 2, 1, 12) + Bytes{0}), 12);
}

/* A code serves until the next one, in its frame. */
TEST(ZstdLiterals, PackedWithTheLastCode)
{
    const Bytes first = huffman(code_of_two() + backwards(bits_of("ab")), 2, 0, 2) + Bytes{0},
                again = huffman(backwards(bits_of("bba")), 3, 0, 3) + Bytes{0};
    expect_whole(begins + packed(first, false) + packed(again), "abbba");
    expect_refused(frame(again), 3);
    expect_refused(frame(first) + frame(again), 5, "of another frame");
}

/* Nor is what was there before taken for them: of the damaged ones' own bytes the rest could be sequences. */
TEST(ZstdLiterals, DamagedLiteralsAreRefused)
{
    const Bytes first = literals("") + constant({1}, 0, 0, 0) + Bytes{1},
                before = block(PLAIN, {'w', 'x', 'y', 'z'}, 4, false);
    expect_whole(begins + before + packed(first, false) + packed(literals("") + Bytes{1, 0xfc, 1}), "wxyzwxyyyy");
    for (const Bytes &second : std::vector<Bytes>{{0x0e, 0xfc, 1}, {0x02, 0xfc}, {0x0e, 0xfc, 1, 0}})
        expect_refused(begins + before + packed(first, false) + packed(second), 100);
    expect_refused(frame(huffman(Bytes{131, 0, 0} + backwards(bits_of("ab")), 2, 0, 2) + Bytes{0}), 2, "no code");
    expect_refused(frame(huffman_header(2, 0, 2, 60) + code_of_two() + backwards(bits_of("ab")) + Bytes{0}), 2, "cut");
}

TEST(ZstdLiterals, AsManyAsABlockMayHave)
{
    for (size_t size : {size_t{131072}, size_t{131073}}) {
        const std::string text(size, 'a');
        const Bytes input = frame(huffman(code_of_two() + four_streams(text), 2, 3, size) + Bytes{0});
        EXPECT_TRUE(unpacked(input, size) == (size == 131072 ? text : "refused")) << size;
    }
}

/* ---- the two codes ---- */

TEST(Bits, FromTheEndToBeforeTheBeginning)
{
    const Bytes bytes = {0xa5, 0x3c, 0x0f, 0xf0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x13};
    struct bits bits;
    ASSERT_TRUE(bits_begin(&bits, bytes.data(), bytes.size()));
    EXPECT_EQ(9 * 8 + 4, bits.position);
    EXPECT_EQ(3u, bits_read(&bits, 4));
    EXPECT_EQ(0x55443322u, bits_read(&bits, 32));
    EXPECT_EQ(0x11f00u, bits_read(&bits, 20));
    EXPECT_EQ(0xf3cu, bits_peek(&bits, 12));
    EXPECT_EQ(0xf3ca5u, bits_read(&bits, 20));
    EXPECT_EQ(0, bits.position);
    EXPECT_EQ(0u, bits_read(&bits, 3));
    EXPECT_EQ(-3, bits.position);
    ASSERT_TRUE(bits_begin(&bits, bytes.data(), 2));
    EXPECT_EQ(13, bits.position);
    EXPECT_EQ(0x1ca5u << 3, bits_peek(&bits, 16)) << "0 before the beginning";
    EXPECT_FALSE(bits_begin(&bits, bytes.data(), 0));
    EXPECT_FALSE(bits_begin(&bits, Bytes{1, 0}.data(), 2));
}

/* The first field in the lowest bits. */
Bytes forwards(const std::vector<Field> &fields)
{
    Bytes made;
    unsigned used = 0;
    for (const Field &field : fields) {
        for (unsigned i = 0; i < field.bits; i++, used++) {
            if (used % 8 == 0)
                made.push_back(0);
            made.back() = static_cast<uint8_t>(made.back() | (field.value >> i & 1) << used % 8);
        }
    }
    return made;
}

/* Counts are one more, in as few bits as what is left allows: 16 of 32 states, and 16 of 16. */
TEST(Fse, TablesAreReadAndDamagedOnesRefused)
{
    static struct fse fse;
    const auto read = [](const Bytes &bytes, unsigned log, unsigned symbol) {
        return fse_read(&fse, bytes.data(), bytes.size(), log, symbol);
    };
    const Bytes halves = forwards({{0, 4}, {17, 5}, {31, 5}});
    EXPECT_EQ(2u, read(halves, 5, 1));
    EXPECT_EQ(5u, fse.log);
    const unsigned firsts[] = {0, 1, 2, 5, 6, 10, 11, 14, 15, 19, 20, 23, 24, 25, 28, 29};
    unsigned next[2] = {};
    for (unsigned i = 0; i < 32; i++) {
        const unsigned symbol = std::find(firsts, firsts + 16, i) == firsts + 16;
        EXPECT_EQ(symbol, fse.state[i].symbol) << i;
        EXPECT_EQ(1u, fse.state[i].bits) << i;
        EXPECT_EQ(2 * next[symbol]++, fse.state[i].base) << i;
    }
    EXPECT_EQ(0u, read(halves, 4, 1)) << "too many states";
    EXPECT_EQ(0u, read(halves, 5, 0)) << "too many symbols";
    EXPECT_EQ(0u, read({halves[0]}, 5, 1)) << "cut";
    EXPECT_EQ(2u, read(forwards({{1, 4}, {33, 6}, {63, 6}}) + Bytes{0xff}, 6, 1)) << "64 states";
    EXPECT_EQ(6u, fse.log);
    /* 0 of some: how many more is told three at a time */
    const Bytes gap = forwards({{0, 4}, {17, 5}, {1, 4}, {3, 2}, {0, 2}, {31, 5}});
    EXPECT_EQ(3u, read(gap, 5, 5));
    EXPECT_EQ(0u, fse.state[0].symbol);
    EXPECT_EQ(5u, fse.state[3].symbol);
    EXPECT_EQ(0u, read(gap, 5, 4));
    EXPECT_EQ(0u, read(forwards({{0, 4}, {17, 5}, {1, 4}, {3, 2}, {3, 2}, {3, 2}}), 5, 5)) << "past the last symbol";
    /* less than one: a state at the end, for which all bits are read */
    const int16_t few[] = {1, 1}, rare[] = {-1, 31};
    EXPECT_EQ(0, fse_make(&fse, few, 2, 5)) << "some states are nobody's";
    EXPECT_EQ(1, fse_make(&fse, rare, 2, 5));
    EXPECT_EQ(0u, fse.state[31].symbol);
    EXPECT_EQ(5u, fse.state[31].bits);
    EXPECT_EQ(0u, fse.state[31].base);
    EXPECT_EQ(1u, fse.state[30].symbol);
    fse_make_constant(&fse, 77);
    EXPECT_EQ(0u, fse.log);
    EXPECT_EQ(77u, fse.state[0].symbol);
    EXPECT_EQ(0u, fse.state[0].bits + fse.state[0].base);
}

/* Weights given as they are, two to a byte: the last symbol's is what is left. */
TEST(Huffman, WeightsAreReadAndDamagedOnesRefused)
{
    static struct huffman huffman;
    const auto read = [](const Bytes &bytes) { return huffman_read(&huffman, bytes.data(), bytes.size()); };
    EXPECT_EQ(3u, read({130, 0x21, 0x10, 0xff})); /* 2, 1, 1: two bits of four, one each, and half is left: 3 */
    EXPECT_EQ(3u, huffman.log);
    const char *const symbols = "\1\2\0\0\3\3\3\3", *const bits = "\3\3\2\2\1\1\1\1";
    for (int i = 0; i < 8; i++) {
        EXPECT_EQ(symbols[i], huffman.code[i].symbol) << i;
        EXPECT_EQ(bits[i], huffman.code[i].bits) << i;
    }
    EXPECT_EQ(2u, read({128, 0xb0})) << "11 is the largest";
    EXPECT_EQ(11u, huffman.log);
    EXPECT_EQ(2u, read({129, 0x11}));
    EXPECT_EQ(2u, huffman.log);
    /* none; cut; all 0; 12; too many codes, of 12 bits; three of eight are left */
    for (const Bytes &bytes :
         std::vector<Bytes>{{}, {128}, {130, 0x11}, {131, 0, 0}, {128, 0xc0}, {129, 0xbb}, {129, 0x31}}) {
        EXPECT_EQ(0u, read(bytes)) << bytes.size();
        EXPECT_EQ(0u, huffman.log) << "there is none";
    }
}

} // namespace
