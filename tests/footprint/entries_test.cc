/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries of a table of pointers: which of them stay, go and move with the bytes that they lie in; and what a launch
 * that gets the table touches.
 */
#include <gtest/gtest.h>

#include <string>

extern "C" {
#include "interpose/footprint/entries.h"
}

namespace
{

/* Texts of a table: "a[8,16)" a pointer to `a` that is read, "A" one that is written. */
class Entries : public testing::Test
{
protected:
    Entries()
    {
        for (uint32_t i = 0; i < 100; i++)
            memories[i].uid = 100 + i;
    }
    struct pointed to(char name, uint64_t begin, uint64_t end)
    {
        const bool writes = name >= 'A' && name <= 'Z';
        struct memory *memory = &memories[(name | 32) - 'a'];
        return {begin, end, memory, memory->uid, writes};
    }
    void add(char name, uint64_t begin, uint64_t end, uint32_t fresh = 0)
    {
        entries_add(&table, fresh, to(name, begin, end));
    }
    std::string text(const struct table &of) const
    {
        std::string line;
        for (uint32_t i = 0; i < of.count; i++) {
            const struct pointed &one = of.at[i];
            line += (i ? " " : "") + std::string(1, char((one.writes ? 'A' : 'a') + (one.memory - memories)));
            line += "[" + std::to_string(one.begin) + "," + std::to_string(one.end) + ")";
        }
        if (of.full_end)
            line += " full[" + std::to_string(of.full_begin) + "," + std::to_string(of.full_end) + ")";
        return line;
    }
    std::string text() const
    {
        return text(table);
    }
    std::string follow()
    {
        struct touched touched = {};
        quiet = entries_follow(&touched, &table);
        std::string line = touched.opaque ? "everything" : "";
        for (unsigned i = 0; i < touched.count; i++)
            line += std::string(1, char((touched.at[i].writes ? 'A' : 'a') + (touched.at[i].memory - memories)));
        return line;
    }
    void fill()
    {
        for (int i = 0; i < TOUCHED_MOST; i++)
            entries_add(&table, 0, {8u * unsigned(i), 8u * unsigned(i) + 8, &memories[30 + i], memories[30 + i].uid, 1});
    }
    struct memory memories[100] = {};
    struct table table = {};
    int quiet = -1;
};

TEST_F(Entries, WordsOfOneMemoryAreOne)
{
    add('a', 16, 24);
    add('b', 24, 32);
    add('a', 40, 48);
    EXPECT_EQ("a[16,48) b[24,32)", text());
    add('A', 0, 8);
    EXPECT_EQ("A[0,48) b[24,32)", text());
    add('a', 8, 16);
    EXPECT_EQ("A[0,48) b[24,32)", text()) << "it is written all the same";
    add('b', 64, 72, 2);
    EXPECT_EQ("A[0,48) b[24,32) b[64,72)", text()) << "those from before stay apart";
    add('b', 80, 88, 2);
    EXPECT_EQ("A[0,48) b[24,32) b[64,88)", text());
    memories[0].uid = 900;
    add('a', 96, 104);
    EXPECT_EQ("A[0,48) b[24,32) b[64,88) a[96,104)", text()) << "another one, in the same place";
}

TEST_F(Entries, WhatIsOverwrittenGoes)
{
    add('a', 0, 8);
    add('b', 8, 16);
    add('c', 16, 32);
    add('d', 40, 48);
    entries_clear(&table, 8, 24);
    EXPECT_EQ("a[0,8) c[16,32) d[40,48)", text());
    entries_clear(&table, 17, 48);
    EXPECT_EQ("a[0,8) c[16,32)", text());
    entries_clear(&table, 16, 31);
    EXPECT_EQ("a[0,8) c[16,32)", text());
    memories[0].uid = 900;
    entries_clear(&table, 1000, 1008);
    EXPECT_EQ("c[16,32)", text()) << "and what points at nothing any more";
    entries_clear(&table, 16, 32);
    EXPECT_EQ("", text());
    add('c', 64, 72);
    EXPECT_EQ("c[64,72)", text()) << "what it was before is forgotten";
    entries_clear(&table, 64, 72);
    EXPECT_EQ("", follow());
}

TEST_F(Entries, WhereThereIsNoRoom)
{
    fill();
    EXPECT_EQ(unsigned(TOUCHED_MOST), table.count);
    EXPECT_EQ(0u, table.full_end);
    add('a', 1000, 1008);
    add('b', 1100, 1108);
    add('c', 900, 908);
    EXPECT_EQ(unsigned(TOUCHED_MOST), table.count);
    EXPECT_EQ(900u, table.full_begin);
    EXPECT_EQ(1108u, table.full_end);
    EXPECT_EQ("everything", follow().substr(0, 10));
    memories[30 + 5].uid = 901;
    add('d', 2000, 2008);
    EXPECT_EQ(unsigned(TOUCHED_MOST), table.count) << "in the place of one that is gone";
    EXPECT_EQ(&memories[3], table.at[TOUCHED_MOST - 1].memory);
    entries_clear(&table, 900, 1107);
    EXPECT_EQ(1108u, table.full_end);
    entries_clear(&table, 901, 1108);
    EXPECT_EQ(1108u, table.full_end);
    entries_clear(&table, 900, 1108);
    EXPECT_EQ(0u, table.full_end);
    add('e', 3000, 3008);
    EXPECT_EQ(3000u, table.full_begin) << "not from where it was once";
}

TEST_F(Entries, OfWhichNobodyKnowsWhatTheyPointAt)
{
    add('a', 0, 8);
    entries_add(&table, 0, {8, 16, nullptr, 0, 1});
    EXPECT_EQ("a[0,8) full[8,16)", text());
    EXPECT_EQ("everything", follow().substr(0, 10));
    entries_clear(&table, 8, 16);
    EXPECT_EQ("a", follow());
}

TEST_F(Entries, MoveWithTheirBytes)
{
    add('a', 0, 8);
    add('b', 8, 16);
    add('C', 16, 32);
    add('d', 32, 40);
    struct table there = {};
    entries_add(&there, 0, to('b', 500, 508));
    entries_spread(&there, 1000, &table, 8, 24, 1);
    EXPECT_EQ("b[500,508) b[1000,1008) C[1008,1024)", text(there));
    there = {};
    entries_spread(&there, 1000, &table, 20, 14, 1);
    EXPECT_EQ("C[1000,1012) d[1012,1014)", text(there)) << "parts of them";
    there = {};
    entries_spread(&there, 1000, &table, 8, 24, 0);
    EXPECT_EQ("a[1000,1024) b[1000,1024) C[1000,1024) d[1000,1024)", text(there)) << "rows";
}

TEST_F(Entries, WhatThereWasNoRoomForMovesToo)
{
    table.full_begin = 100, table.full_end = 200;
    const auto moved = [&](uint64_t begin, uint64_t size, int flat) {
        struct table there = {};
        entries_spread(&there, 1000, &table, begin, size, flat);
        return text(there);
    };
    EXPECT_EQ(" full[1000,1008)", moved(192, 8, 1));
    EXPECT_EQ("", moved(200, 8, 1));
    EXPECT_EQ("", moved(92, 8, 1));
    EXPECT_EQ(" full[1000,1016)", moved(92, 16, 1));
    EXPECT_EQ(" full[1000,1008)", moved(92, 8, 0));
    EXPECT_EQ("", moved(200, 8, 0));
}

TEST_F(Entries, WhatThereWasNoRoomForStaysBesideWhatMoves)
{
    struct table there = {};
    const auto move = [&] { entries_spread(&there, 5000, &table, 100, 100, 1); };
    table.full_begin = 100, table.full_end = 200;
    there.full_begin = 1000, there.full_end = 1008;
    move();
    EXPECT_EQ(" full[1000,5100)", text(there));
    entries_clear(&there, 5000, 5100);
    EXPECT_EQ(" full[1000,5100)", text(there)) << "the first is there all the same";
    entries_clear(&there, 1000, 5100);
    EXPECT_EQ("", text(there));
    there.full_begin = 9000, there.full_end = 9008;
    move();
    EXPECT_EQ(" full[5000,9008)", text(there));
    there.full_begin = 7, there.full_end = 0;
    move();
    EXPECT_EQ(" full[5000,5100)", text(there)) << "not from where it was once";
}

TEST_F(Entries, AreFollowed)
{
    EXPECT_EQ("", follow());
    EXPECT_EQ(1, quiet);
    add('a', 0, 8);
    add('B', 8, 16);
    add('c', 16, 24);
    EXPECT_EQ("aBc", follow());
    memories[1].uid = 900;
    EXPECT_EQ("ac", follow()) << "it is gone";
    table.at[0].memory = nullptr;
    EXPECT_EQ("c", follow()) << "another thread puts one there";
    entries_begin(&table);
    EXPECT_EQ("c", follow());
    EXPECT_EQ(0, quiet) << "it changes";
    entries_end(&table);
    EXPECT_EQ("c", follow());
    EXPECT_EQ(1, quiet);
    EXPECT_EQ(2u, table.changes);
    table.count = 4711;
    EXPECT_EQ("c", follow()) << "never past its end";
}

TEST_F(Entries, ThatSayAsMuch)
{
    const auto has = [&](char name, uint64_t begin, uint64_t end) {
        const struct pointed one = to(name, begin, end);
        return entries_have(&table, &one) != 0;
    };
    add('b', 0, 64);
    add('A', 8, 32);
    EXPECT_TRUE(has('a', 8, 32));
    EXPECT_TRUE(has('A', 16, 24));
    EXPECT_FALSE(has('a', 7, 32));
    table.count = 1;
    EXPECT_FALSE(has('a', 8, 32)) << "it went";
    table.at[0].writes = 1;
    EXPECT_TRUE(has('b', 0, 64));
    table.at[0].writes = 0;
    table.count = 2;
    EXPECT_FALSE(has('a', 8, 33));
    EXPECT_FALSE(has('b', 0, 64)) << "it does not write";
    EXPECT_FALSE(has('c', 8, 32));
    memories[0].uid = 900;
    EXPECT_FALSE(has('a', 8, 32)) << "of another memory in its place";
}

} // namespace
