/* SPDX-License-Identifier: Apache-2.0
 *
 * Zstandard frames put together by hand, bit by bit, and what becomes of them. What is right is RFC 8878's word; libzstd
 * reads the good ones alike.
 */
#ifndef PTDS_TESTS_FOOTPRINT_FRAMES_H
#define PTDS_TESTS_FOOTPRINT_FRAMES_H

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <zstd.h>

extern "C" {
#include "interpose/code/unpack.h"
}

#include "tests/footprint/at_end.h"

namespace
{

using Bytes = std::vector<uint8_t>;

inline Bytes operator+(Bytes left, const Bytes &right)
{
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

inline Bytes number(uint64_t value, unsigned bytes)
{
    Bytes made;
    for (unsigned i = 0; i < bytes; i++)
        made.push_back(static_cast<uint8_t>(value >> 8 * i));
    return made;
}

struct Field {
    uint64_t value;
    unsigned bits;
};

/* A stream that is read from its end: the first field of the list first. */
inline Bytes backwards(const std::vector<Field> &fields)
{
    Bytes made;
    unsigned used = 0;
    auto put = [&](uint64_t bit) {
        if (used++ % 8 == 0)
            made.push_back(0);
        made.back() = static_cast<uint8_t>(made.back() | bit << (used - 1) % 8);
    };
    for (auto field = fields.rbegin(); field != fields.rend(); ++field)
        for (unsigned i = 0; i < field->bits; i++)
            put(field->value >> i & 1);
    put(1);
    return made;
}

/* No checksum, no size of the content, windows of 16 MiB at most. */
const Bytes begins = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x70};

enum { PLAIN, REPEATED, PACKED };

inline Bytes block(unsigned type, const Bytes &content, size_t size, bool last = true)
{
    return number(size << 3 | type << 1 | (last ? 1 : 0), 3) + content;
}

inline Bytes packed(const Bytes &content, bool last = true)
{
    return block(PACKED, content, content.size(), last);
}

inline Bytes frame(const Bytes &content)
{
    return begins + packed(content);
}

/* Literals: one byte so often. */
inline Bytes repeated(char byte, size_t count)
{
    return number(count << 4 | 3u << 2 | 1, 3) + Bytes{static_cast<uint8_t>(byte)};
}

/* Literals: as they are. */
inline Bytes literals(const std::string &text)
{
    return number(text.size() << 3, 1) + Bytes(text.begin(), text.end());
}

/* So many sequences, all with these codes. */
inline Bytes constant(const Bytes &count, uint8_t literal_code, uint8_t offset_code, uint8_t match_code)
{
    return count + Bytes{0x54, literal_code, offset_code, match_code};
}

inline std::string unpacked(const Bytes &input, size_t size)
{
    std::string text(size + 64, '\xee');
    const AtEnd placed(std::string(input.begin(), input.end())); /* a byte more that is read is a fault */
    const int whole = unpack_zstd(reinterpret_cast<uint8_t *>(&text[0]), size, placed.data(), placed.size());
    EXPECT_EQ(std::string(64, '\xee'), text.substr(size)) << "written past its place";
    return whole ? text.substr(0, size) : "refused";
}

/* To exactly this text, and to none of another length. */
inline void expect_whole(const Bytes &input, const std::string &expected, const std::string &what = "")
{
    std::string other(expected.size(), '\0');
    EXPECT_TRUE(unpacked(input, expected.size()) == expected) << what;
    EXPECT_EQ("refused", unpacked(input, expected.size() + 1)) << what;
    if (!expected.empty()) {
        EXPECT_EQ("refused", unpacked(input, expected.size() - 1)) << what;
    }
    if (expected.size() > 131072)
        return; /* more than libzstd lets a block become */
    EXPECT_EQ(expected.size(), ZSTD_decompress(&other[0], other.size(), input.data(), input.size())) << what;
    EXPECT_TRUE(other == expected) << what;
}

/* Whatever size is asked for, to some more than the one that it would be. */
inline void expect_refused(const Bytes &input, size_t size, const std::string &what = "")
{
    EXPECT_EQ("refused", unpacked(input, size)) << what;
    for (size_t other = 0; other < (size < 1000 ? size + 40 : 0); other++)
        EXPECT_EQ("refused", unpacked(input, other)) << what << " " << other;
}

} // namespace

#endif
