/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries of a table of pointers: which of them stay, go and move with the bytes that they lie in; and what a launch
 * that gets the table touches.
 */
#include <gtest/gtest.h>

#include <string>

extern "C" {
#include "interpose/footprint/pointers/pointer_entries.h"
#include "interpose/footprint/pointers/pointer_tables.h"
}

namespace
{

/* Texts of a table: "a[8,16)" a pointer to `a`, "any[16,24)" one to anything. */
class Entries : public testing::Test
{
protected:
    Entries()
    {
        for (uint32_t i = 0; i < 100; i++)
            memories[i].uid = 100 + i;
    }
    struct pointer_entry to(char name, uint64_t begin, uint64_t end)
    {
        struct memory *memory = &memories[name - 'a'];
        return {begin, end, memory, memory->uid, 0};
    }
    void add(char name, uint64_t begin, uint64_t end, uint32_t fresh = 0)
    {
        pointer_entries_add(&table, fresh, to(name, begin, end));
    }
    std::string text(const struct pointer_table &of) const
    {
        std::string line;
        for (uint32_t i = 0; i < of.count; i++) {
            const struct pointer_entry &one = of.at[i];
            line += (i ? " " : "") + std::string(1, char('a' + (one.memory - memories)));
            line += "[" + std::to_string(one.begin) + "," + std::to_string(one.end) + ")";
        }
        if (of.any_end)
            line += " any[" + std::to_string(of.any_begin) + "," + std::to_string(of.any_end) + ")";
        return line;
    }
    std::string text() const
    {
        return text(table);
    }
    /* "ab", and "everything" before those where there may be others. */
    std::string follow()
    {
        struct pointees pointees = {};
        quiet = pointer_entries_read(&table, &pointees);
        std::string line = pointees.why ? "everything" : "";
        for (unsigned i = 0; i < pointees.count; i++)
            line += std::string(1, char('a' + (pointees.at[i] - memories)));
        return line;
    }
    enum opaque_reason why() const
    {
        struct pointees pointees = {};
        pointer_entries_read(&table, &pointees);
        return pointees.why;
    }
    void fill()
    {
        for (int i = 0; i < TOUCHED_MOST; i++)
            pointer_entries_add(&table, 0,
                                {8u * unsigned(i), 8u * unsigned(i) + 8, &memories[30 + i], memories[30 + i].uid, 0});
    }
    struct memory memories[100] = {};
    struct pointer_table table = {};
    int quiet = -1;
};

TEST_F(Entries, WordsOfOneMemoryAreOne)
{
    add('a', 16, 24);
    add('b', 24, 32);
    add('a', 40, 48);
    EXPECT_EQ("a[16,48) b[24,32)", text());
    add('a', 0, 8);
    EXPECT_EQ("a[0,48) b[24,32)", text());
    add('a', 8, 16);
    EXPECT_EQ("a[0,48) b[24,32)", text());
    add('b', 64, 72, 2);
    EXPECT_EQ("a[0,48) b[24,32) b[64,72)", text()) << "those from before stay apart";
    add('b', 80, 88, 2);
    EXPECT_EQ("a[0,48) b[24,32) b[64,88)", text());
    memories[0].uid = 900;
    add('a', 96, 104);
    EXPECT_EQ("a[0,48) b[24,32) b[64,88) a[96,104)", text()) << "another one, in the same place";
}

TEST_F(Entries, WhatIsOverwrittenGoes)
{
    add('a', 0, 8);
    add('b', 8, 16);
    add('c', 16, 32);
    add('d', 40, 48);
    pointer_entries_clear(&table, 8, 24);
    EXPECT_EQ("a[0,8) c[16,32) d[40,48)", text());
    pointer_entries_clear(&table, 17, 48);
    EXPECT_EQ("a[0,8) c[16,32)", text());
    pointer_entries_clear(&table, 16, 31);
    EXPECT_EQ("a[0,8) c[16,32)", text());
    memories[0].uid = 900;
    pointer_entries_clear(&table, 1000, 1008);
    EXPECT_EQ("c[16,32) any[0,8)", text()) << "what was pointed at is gone, the pointer is there";
    EXPECT_EQ(OPAQUE_POINTERS, why());
    pointer_entries_clear(&table, 0, 8);
    pointer_entries_clear(&table, 16, 32);
    EXPECT_EQ("", text());
    add('c', 64, 72);
    EXPECT_EQ("c[64,72)", text()) << "what it was before is forgotten";
    pointer_entries_clear(&table, 64, 72);
    EXPECT_EQ("", follow());
}

TEST_F(Entries, WhereThereIsNoRoom)
{
    fill();
    EXPECT_EQ(unsigned(TOUCHED_MOST), table.count);
    EXPECT_EQ(0u, table.any_end);
    add('a', 1000, 1008);
    add('b', 1100, 1108);
    add('c', 900, 908);
    EXPECT_EQ(unsigned(TOUCHED_MOST), table.count);
    EXPECT_EQ(900u, table.any_begin);
    EXPECT_EQ(1108u, table.any_end);
    EXPECT_EQ(OPAQUE_MANY, why());
    pointer_entries_clear(&table, 900, 1107);
    EXPECT_EQ(1108u, table.any_end);
    pointer_entries_clear(&table, 901, 1108);
    EXPECT_EQ(1108u, table.any_end);
    pointer_entries_clear(&table, 900, 1108);
    EXPECT_EQ(0u, table.any_end);
    add('e', 3000, 3008);
    EXPECT_EQ(3000u, table.any_begin) << "not from where it was once";
}

TEST_F(Entries, OfWhichNobodyKnowsWhatTheyPointAt)
{
    add('a', 0, 8);
    pointer_entries_add(&table, 0, {8, 16, nullptr, 0, 0});
    EXPECT_EQ("a[0,8) any[8,16)", text());
    EXPECT_EQ("everythinga", follow());
    EXPECT_EQ(OPAQUE_POINTERS, why());
    pointer_entries_clear(&table, 8, 16);
    EXPECT_EQ("a", follow());
}

TEST_F(Entries, MoveWithTheirBytes)
{
    add('a', 0, 8);
    add('b', 8, 16);
    add('c', 16, 32);
    add('d', 32, 40);
    struct pointer_table there = {};
    pointer_entries_add(&there, 0, to('b', 500, 508));
    pointer_entries_spread(&there, 1000, &table, 8, 24, 1);
    EXPECT_EQ("b[500,508) b[1000,1008) c[1008,1024)", text(there));
    there = {};
    pointer_entries_spread(&there, 1000, &table, 20, 14, 1);
    EXPECT_EQ("c[1000,1012) d[1012,1014)", text(there)) << "parts of them";
    there = {};
    pointer_entries_spread(&there, 1000, &table, 8, 24, 0);
    EXPECT_EQ("a[1000,1024) b[1000,1024) c[1000,1024) d[1000,1024)", text(there)) << "rows";
}

TEST_F(Entries, WhatThereWasNoRoomForMovesToo)
{
    table.any_begin = 100, table.any_end = 200, table.why = OPAQUE_MANY;
    const auto moved = [&](uint64_t begin, uint64_t size, int flat) {
        struct pointer_table there = {};
        pointer_entries_spread(&there, 1000, &table, begin, size, flat);
        return text(there);
    };
    EXPECT_EQ(" any[1000,1008)", moved(192, 8, 1));
    EXPECT_EQ("", moved(200, 8, 1));
    EXPECT_EQ("", moved(92, 8, 1));
    EXPECT_EQ(" any[1000,1016)", moved(92, 16, 1));
    EXPECT_EQ(" any[1000,1008)", moved(92, 8, 0));
    EXPECT_EQ(" any[1000,1008)", moved(200, 8, 0)) << "rows";
}

TEST_F(Entries, WhatThereWasNoRoomForStaysBesideWhatMoves)
{
    struct pointer_table there = {};
    const auto move = [&] { pointer_entries_spread(&there, 5000, &table, 100, 100, 1); };
    table.any_begin = 100, table.any_end = 200, table.why = OPAQUE_MANY;
    there.any_begin = 1000, there.any_end = 1008;
    move();
    EXPECT_EQ(" any[1000,5100)", text(there));
    pointer_entries_clear(&there, 5000, 5100);
    EXPECT_EQ(" any[1000,5100)", text(there)) << "the first is there all the same";
    pointer_entries_clear(&there, 1000, 5100);
    EXPECT_EQ("", text(there));
    there.any_begin = 9000, there.any_end = 9008;
    move();
    EXPECT_EQ(" any[5000,9008)", text(there));
    there.any_begin = 7, there.any_end = 0;
    move();
    EXPECT_EQ(" any[5000,5100)", text(there)) << "not from where it was once";
}

TEST_F(Entries, AreFollowed)
{
    EXPECT_EQ("", follow());
    EXPECT_EQ(1, quiet);
    add('a', 0, 8);
    add('b', 8, 16);
    add('c', 16, 24);
    EXPECT_EQ("abc", follow());
    memories[1].uid = 900;
    EXPECT_EQ("everythingac", follow()) << "it is gone, and another one may lie there";
    EXPECT_EQ(OPAQUE_POINTERS, why());
    memories[1].uid = 101;
    EXPECT_EQ("abc", follow());
    pointer_entries_begin(&table);
    EXPECT_EQ("abc", follow());
    EXPECT_EQ(0, quiet) << "it changes";
    pointer_entries_end(&table);
    EXPECT_EQ("abc", follow());
    EXPECT_EQ(1, quiet);
    EXPECT_EQ(2u, table.changes);
    table.count = 4711;
    EXPECT_EQ("everythingabc", follow()) << "never past its end";
}

} // namespace
