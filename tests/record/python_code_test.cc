/* SPDX-License-Identifier: Apache-2.0
 *
 * Names, texts and lines of functions of Python, from objects that the test lays out as an interpreter does; and objects
 * that are not what they should be.
 */
#include "tests/record/recording.h"

#include <algorithm>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

/* A struct and a function of one name. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "interpose/record/stacks/python_code.h"
}
#pragma GCC diagnostic pop

namespace
{

using Bytes = std::vector<uint8_t>;

uint64_t address(const void *at)
{
    return reinterpret_cast<uint64_t>(at);
}

/* ---- lines ---- */

/* An entry of so many instructions. */
Bytes entry(int kind, int instructions, const Bytes &more = {})
{
    Bytes made = {static_cast<uint8_t>(0x80 | kind << 3 | (instructions - 1))};
    made.insert(made.end(), more.begin(), more.end());
    return made;
}

Bytes operator+(Bytes left, const Bytes &right)
{
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

int line_of(const Bytes &table, uint64_t offset, int first = 100)
{
    return python_code_line(address(table.data()), table.size(), first, offset);
}

TEST(PythonLines, OfEachKindOfEntry)
{
    const Bytes table = entry(10, 2, {1, 2}) + entry(11, 1, {1, 2}) + entry(12, 8, {1, 2}) + entry(13, 1, {10}) +
                        entry(14, 1, {7, 1, 2, 3}) + entry(15, 1) + entry(0, 1, {5}) + entry(9, 1, {5}) +
                        entry(13, 1, {0x40 | 16, 31}) + entry(13, 1, {0x40 | 13, 2});
    const struct {
        uint64_t from, to;
        int line;
    } rows[] = {{0, 3, 100},   {4, 5, 101},   {6, 21, 103},   {22, 23, 108},  {24, 25, 105}, {26, 27, 0},
                {28, 29, 105}, {30, 31, 105}, {32, 33, 1105}, {34, 35, 1035}, {36, 1000, 0}};
    for (const auto &row : rows)
        for (uint64_t offset = row.from; offset <= row.to; offset++)
            EXPECT_EQ(row.line, line_of(table, offset)) << offset;
    EXPECT_EQ(0, line_of({}, 0));
    EXPECT_EQ(0, line_of({0x50, 1}, 0)) << "no entry begins so";
    EXPECT_EQ(100, line_of(entry(10, 1), 0));
    EXPECT_EQ(0, line_of(entry(13, 1, {9}), 0, 3)) << "before the first line of all";
    EXPECT_EQ(0, line_of(entry(13, 1, {7}), 0, 3));
    EXPECT_EQ(1, line_of(entry(13, 1, {5}), 0, 3));
}

TEST(PythonLines, OfLongTables)
{
    Bytes table;
    for (int i = 0; i < 300; i++)
        table = table + entry(11, 1, {1, 2}); /* 900 bytes, whose parts end within entries */
    for (int i = 0; i < 300; i++)
        EXPECT_EQ(101 + i, line_of(table, 2 * static_cast<uint64_t>(i))) << i;
    EXPECT_EQ(0, line_of(table, 600));
    EXPECT_EQ(0, python_code_line(0x10, 900, 100, 0)) << "it is not there";
}

/* ---- texts ---- */

class PythonCode : public Recording
{
protected:
    PythonCode()
    {
        layout.code_type = 0x1000, layout.text_type = 0x2000, layout.bytes_type = 0x3000;
        layout.text_length = 16, layout.text_state = 32, layout.text_ascii = 40, layout.text_other = 56;
        layout.bytes_length = 16, layout.bytes_start = 32;
        layout.file = 16, layout.function = 24, layout.lines = 32, layout.first = 40, layout.version = 44,
        layout.start = 48;
    }
    void TearDown() override
    {
        python_code_after_fork();
        Recording::TearDown();
    }
    /* An object of that type, with room. */
    uint64_t *object(uint64_t type)
    {
        objects.emplace_back(new uint64_t[256]());
        objects.back()[1] = type;
        return objects.back().get();
    }
    template <class Character>
    uint64_t text(const std::vector<Character> &characters, bool ascii = false, bool newer = false)
    {
        uint64_t *made = object(layout.text_type);
        made[2] = characters.size();
        const unsigned bits = unsigned(sizeof(Character)) | 1u << 3 | (ascii ? 1u << 4 : 0);
        *reinterpret_cast<uint32_t *>(&made[4]) = newer ? bits << 16 | 3 : bits << 2 | 2;
        std::copy(characters.begin(), characters.end(),
                  reinterpret_cast<Character *>(reinterpret_cast<char *>(made) + (ascii ? 40 : 56)));
        return address(made);
    }
    uint64_t ascii(const std::string &words)
    {
        return text(Bytes(words.begin(), words.end()), true);
    }
    std::string read(uint64_t at, size_t room = 1024)
    {
        std::string out(room + 8, '#');
        const int is_text = python_code_text(&layout, at, &out[0], room);
        EXPECT_EQ("########", out.substr(room));
        return is_text ? out.c_str() : "no text";
    }
    uint64_t code(uint64_t file, uint64_t function, const Bytes &table, int first, uint32_t version)
    {
        uint64_t *lines = object(layout.bytes_type), *made = object(layout.code_type);
        lines[2] = table.size();
        std::copy(table.begin(), table.end(), reinterpret_cast<uint8_t *>(&lines[4]));
        made[2] = file, made[3] = function, made[4] = address(lines);
        const int32_t numbers[] = {first, static_cast<int32_t>(version)};
        memcpy(&made[5], numbers, sizeof numbers);
        return address(made);
    }
    struct python_layout layout = {};
    std::vector<std::unique_ptr<uint64_t[]>> objects;
};

TEST_F(PythonCode, Texts)
{
    EXPECT_EQ("hello", read(ascii("hello")));
    EXPECT_EQ("hello", read(text(Bytes{'h', 'e', 'l', 'l', 'o'}, true, true))) << "as 3.14 has it";
    EXPECT_EQ("", read(ascii("")));
    EXPECT_EQ("a\x7f\xc2\x80\xc3\xa9\xc3\xbf", read(text(Bytes{'a', 0x7f, 0x80, 0xe9, 0xff})));
    EXPECT_EQ("\xc4\x80\xdf\xbf\xe0\xa0\x80\xe2\x82\xac\xef\xbf\xbf",
              read(text(std::vector<uint16_t>{0x100, 0x7ff, 0x800, 0x20ac, 0xffff})));
    EXPECT_EQ("\x80\xff\xed\xb1\xbf\xed\xb4\x80", read(text(std::vector<uint16_t>{0xdc80, 0xdcff, 0xdc7f, 0xdd00})))
        << "bytes of names";
    EXPECT_EQ("z\xf0\x90\x80\x80\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf",
              read(text(std::vector<uint32_t>{'z', 0x10000, 0x1f600, 0x10ffff})));
}

TEST_F(PythonCode, LongTexts)
{
    std::string words;
    for (int i = 0; i < 700; i++)
        words += static_cast<char>('a' + i % 23);
    EXPECT_EQ(words, read(ascii(words)));
    EXPECT_EQ(words.substr(0, 16), read(ascii(words), 20)) << "there is room for any one more";
    EXPECT_EQ(words.substr(0, 300), read(ascii(words), 304));
    EXPECT_EQ("", read(ascii(words), 4));
    std::vector<uint32_t> wide(words.begin(), words.begin() + 300);
    EXPECT_EQ(words.substr(0, 300), read(text(wide)));
    std::vector<uint16_t> some(words.begin(), words.begin() + 700);
    EXPECT_EQ(words, read(text(some)));
}

TEST_F(PythonCode, NoTexts)
{
    const uint64_t good = ascii("good");
    uint64_t *words = reinterpret_cast<uint64_t *>(good);
    uint32_t *state = reinterpret_cast<uint32_t *>(&words[4]);
    const uint32_t right = *state;
    EXPECT_EQ("no text", read(0));
    EXPECT_EQ("no text", read(0x10));
    EXPECT_EQ("no text", read(good + 4));
    EXPECT_EQ("no text", read(address(object(layout.bytes_type))));
    for (uint32_t size : {0u, 3u, 5u, 6u, 7u}) {
        *state = (size | 1u << 3 | 1u << 4) << 2;
        EXPECT_EQ("no text", read(good)) << size;
    }
    *state = right & ~(1u << 5); /* its characters lie elsewhere */
    EXPECT_EQ("no text", read(good));
    *state = right;
    words[2] = uint64_t{1} << 31;
    EXPECT_EQ("no text", read(good));
    words[2] = 4;
    EXPECT_EQ("good", read(good));
    layout.text_ascii = 0x8000;
    uint8_t *page =
        static_cast<uint8_t *>(mmap(nullptr, 0x9000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(MAP_FAILED, static_cast<void *>(page));
    memcpy(page, words, 64);
    ASSERT_EQ(0, munmap(page + 0x8000, 0x1000));
    EXPECT_EQ("no text", read(address(page))) << "they are not there";
    munmap(page, 0x8000);
}

/* ---- functions ---- */

TEST_F(PythonCode, APlaceInAFunction)
{
    const Bytes table = entry(10, 2, {1, 2}) + entry(11, 2, {1, 2});
    const uint64_t one = code(ascii("one.py"), ascii("work"), table, 40, 7), start = one + layout.start;
    EXPECT_EQ(PTDS_PC_SOURCE | 1, python_code_source(&layout, one, start));
    EXPECT_EQ(PTDS_PC_SOURCE | 1, python_code_source(&layout, one, start)) << "remembered";
    EXPECT_EQ(PTDS_PC_SOURCE | 1, python_code_source(&layout, one, start + 2)) << "of the same line";
    EXPECT_EQ(PTDS_PC_SOURCE | 2, python_code_source(&layout, one, start + 4));
    EXPECT_EQ(PTDS_PC_SOURCE | 1, python_code_source(&layout, one, start - 2)) << "it has not begun";
    EXPECT_EQ(PTDS_PC_SOURCE | 3, python_code_source(&layout, one, start + 100)) << "past its end";
    const uint64_t other = code(ascii("one.py"), ascii("play"), table, 40, 8);
    EXPECT_EQ(PTDS_PC_SOURCE | 4, python_code_source(&layout, other, other + layout.start));
    std::vector<ptds_rec_SOURCE> all = this->all<ptds_rec_SOURCE>(PTDS_REC_SOURCE);
    ASSERT_EQ(4u, all.size());
    const uint32_t lines[] = {40, 41, 0, 40};
    for (uint32_t i = 0; i < 4; i++) {
        EXPECT_EQ(i + 1, all[i].id);
        EXPECT_EQ(lines[i], all[i].line);
        EXPECT_EQ(40u, all[i].first);
        EXPECT_EQ(all[0].file, all[i].file);
        EXPECT_EQ(i == 3, all[0].function != all[i].function) << i;
    }
    python_code_after_fork();
    EXPECT_EQ(PTDS_PC_SOURCE | 1, python_code_source(&layout, other, other + layout.start)) << "a child's own";
}

/* The interpreter's own code has no lines, or no first one and one name for all. */
/* Every package has an __init__.py, and many a function main. */
TEST_F(PythonCode, TheSameLineOfTheSameNameInAnotherFile)
{
    const Bytes table = entry(10, 2, {1, 2});
    const uint64_t name = ascii("main"), one = code(ascii("a/__init__.py"), name, table, 40, 1),
                   two = code(ascii("b/__init__.py"), name, table, 40, 2),
                   again = code(ascii("a/__init__.py"), name, table, 40, 3);
    EXPECT_EQ(PTDS_PC_SOURCE | 1, python_code_source(&layout, one, one + layout.start));
    EXPECT_EQ(PTDS_PC_SOURCE | 2, python_code_source(&layout, two, two + layout.start));
    EXPECT_EQ(PTDS_PC_SOURCE | 1, python_code_source(&layout, again, again + layout.start));
    std::vector<ptds_rec_SOURCE> all = this->all<ptds_rec_SOURCE>(PTDS_REC_SOURCE);
    ASSERT_EQ(2u, all.size());
    EXPECT_NE(all[0].file, all[1].file);
    EXPECT_EQ(all[0].function, all[1].function);
}

TEST_F(PythonCode, WhatIsNoFunction)
{
    const Bytes table = entry(10, 2, {1, 2});
    const uint64_t file = ascii("one.py"), name = ascii("work");
    const auto of = [&](uint64_t at) { return python_code_source(&layout, at, at + layout.start); };
    EXPECT_EQ(UINT64_MAX, of(code(file, name, {}, 40, 1)));
    EXPECT_EQ(UINT64_MAX, of(code(name, name, table, 0, 2)));
    EXPECT_EQ(UINT64_MAX, of(code(name, name, table, -1, 3)));
    EXPECT_EQ(PTDS_PC_SOURCE | 1, of(code(name, name, table, 1, 4)));
    EXPECT_EQ(PTDS_PC_SOURCE | 2, of(code(file, name, table, 0, 5)));
    EXPECT_EQ(0u, last<ptds_rec_SOURCE>(PTDS_REC_SOURCE).first);
    EXPECT_EQ(0u, of(file)) << "a text";
    EXPECT_EQ(0u, of(0x10));
    EXPECT_EQ(0u, of(code(0, name, table, 40, 6)));
    EXPECT_EQ(0u, of(code(file, 0, table, 40, 7)));
    const uint64_t lineless = code(file, name, table, 40, 8);
    reinterpret_cast<uint64_t *>(lineless)[4] = file;
    EXPECT_EQ(0u, of(lineless)) << "its lines are a text";
    EXPECT_EQ(2u, all<ptds_rec_SOURCE>(PTDS_REC_SOURCE).size());
}

} // namespace
