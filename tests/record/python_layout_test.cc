/* SPDX-License-Identifier: Apache-2.0
 *
 * Which interpreters are read: what the one in this program, made by hand, says of itself, and each number that makes it
 * one that is left alone. Once one is known it stays so; so those that are read are a child's.
 */
#include <gtest/gtest.h>

#include <functional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/interpose/fake_python.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* a function with a struct's name is C */
extern "C" {
#include "interpose/base/loaded.h"
#include "interpose/record/stacks/python_layout.h"
}
#pragma GCC diagnostic pop

namespace
{

class Layout : public testing::Test
{
protected:
    void SetUp() override
    {
        ASSERT_TRUE(loaded_containing(_PyRuntime, &program_));
        make(1);
    }
    static void make(size_t which)
    {
        memset(_PyRuntime, 0, sizeof _PyRuntime);
        fake::version = &fake::versions[which];
        Py_Version = fake::version->number;
        if (fake::version->says)
            fake::say_offsets(0);
    }
    /* What it says with one number in the place of another. */
    int with(size_t at, uint64_t said)
    {
        const uint64_t before = _PyRuntime[at];
        _PyRuntime[at] = said;
        const int known = python_layout_of(&program_);
        _PyRuntime[at] = before;
        return known;
    }
    static bool in_child(const std::function<bool()> &holds)
    {
        const pid_t child = fork();
        if (child == 0)
            _exit(holds() ? 0 : 1);
        int status = -1;
        waitpid(child, &status, 0);
        return status == 0;
    }
    struct elf_object program_;
};

struct Said {
    size_t at;
    uint64_t most, too_much; /* the last that is taken, the first that is not */
};

/* 3.13: thread states from 19 on, frames from 28, code from 34, objects from 44, bytes from 64, text from 67. */
const Said of_3_13[] = {
    {2, 0, 1},          /* without its lock */
    {4, 4095, 4096},    /* finalizing */
    {19, 4095, 4096},   /* a thread state's size */
    {19, 153, 152},     /* ... and what is in it */
    {23, 399, 400},     /* current */
    {24, 399, 400},     /* thread_id */
    {28, 80, 79},       /* a frame's size */
    {29, 72, 73},       /* previous */
    {30, 72, 73},       /* executable */
    {31, 72, 73},       /* instr */
    {33, 79, 80},       /* owner */
    {34, 4095, 4096},   /* a code object's size */
    {35, 192, 193},     /* file */
    {37, 192, 193},     /* function */
    {38, 192, 193},     /* lines */
    {39, 172, 173},     /* first, and version behind it */
    {43, 256, 257},     /* start */
    {43, 144, 143},     /* ... behind all of them */
    {44, 16, 17},       /* an object's size */
    {44, 16, 15},       /**/
    {45, 8, 9},         /* its type */
    {65, 16, 24},       /* bytes: length */
    {66, 32, 24},       /* their beginning */
    {68, 65535, 65536}, /* text: state */
    {69, 16, 24},       /* length */
    {70, 40, 48},       /* its beginning */
    {22, 65535, 65536}, /* nothing that is read, but a number of these */
};

TEST_F(Layout, EachNumber)
{
    for (const Said &row : of_3_13) {
        EXPECT_EQ(0, with(row.at, row.too_much)) << row.at;
        EXPECT_EQ(nullptr, python_layout());
        EXPECT_TRUE(in_child([&] { return with(row.at, row.most) == 1 && python_layout() != nullptr; })) << row.at;
    }
    for (size_t other : {3u, 18u, 71u})
        EXPECT_TRUE(in_child([&] { return with(other, 70000) == 1; })) << other;
}

TEST_F(Layout, AnotherKindOfInterpreter)
{
    EXPECT_EQ(0, with(0, 1)) << "not for debuggers";
    EXPECT_EQ(0, with(1, 0x030d01f0)) << "of another version than its own";
    for (unsigned version : {0x030d00c1u, 0x030d00a0u, 0x030b00f0u, 0x030f00f0u, 0x040d00f0u, 0x020700f0u}) {
        Py_Version = version;
        EXPECT_EQ(0, with(1, version)) << std::hex << version;
    }
    Py_Version = 0x030d05f0;
    EXPECT_TRUE(in_child([&] { return with(1, 0x030d05f0) == 1; }));
}

TEST_F(Layout, ItsKeyMustLieWithin)
{
    const uintptr_t end = program_.end;
    program_.end = reinterpret_cast<uintptr_t>(_PyRuntime) + 16383;
    EXPECT_EQ(0, python_layout_of(&program_));
    program_.end++;
    EXPECT_TRUE(in_child([&] { return python_layout_of(&program_) == 1 && python_layout()->runtime_end == program_.end; }));
    program_.end = end;
}

TEST_F(Layout, AnObjectThatIsNone)
{
    struct elf_object libc;
    ASSERT_TRUE(loaded_containing(reinterpret_cast<const void *>(&fork), &libc));
    EXPECT_EQ(0, python_layout_of(&libc));
    EXPECT_TRUE(in_child([&] {
        return python_layout_of(&program_) == 1 && python_layout_of(&program_) == 1 && python_layout_of(&libc) == 0;
    }));
}

/* finalizing current through thread_id, previous executable instr owner, file function lines first version start, text,
 * bytes. */
std::string numbers()
{
    const struct python_layout *from = python_layout();
    std::string text;
    if (from)
        for (unsigned one : {from->finalizing, from->current,    from->through,    from->thread_id,    from->previous,
                             from->executable, from->instr,      from->owner,      from->file,         from->function,
                             from->lines,      from->first,      from->version,    from->start,        from->text_length,
                             from->text_state, from->text_ascii, from->text_other, from->bytes_length, from->bytes_start})
            text += std::to_string(one) + " ";
    return text;
}

TEST_F(Layout, WhereThingsLie)
{
    const char *const expected[] = {
        "24 56 1 136 8 0 56 70 112 128 136 68 92 192 16 32 40 56 16 32 ",
        "608 72 0 152 8 0 56 70 112 128 136 68 92 200 16 32 40 56 16 32 ",
        "760 72 0 152 8 0 56 74 112 128 136 68 92 208 16 32 40 56 16 32 ",
    };
    for (size_t i = 0; i < 3; i++) {
        make(i);
        EXPECT_TRUE(in_child([&] {
            return python_layout_of(&program_) == 1 && numbers() == expected[i] &&
                   python_layout()->runtime == fake::address(_PyRuntime) &&
                   python_layout()->code_type == fake::address(PyCode_Type) &&
                   python_layout()->text_type == fake::address(PyUnicode_Type) &&
                   python_layout()->bytes_type == fake::address(PyBytes_Type);
        })) << i;
    }
}

/* Each from its own place, where others say the same as a rule. */
TEST_F(Layout, WhereTextLies)
{
    EXPECT_TRUE(in_child([&] {
        _PyRuntime[64] = 8;
        return with(68, 36) == 1 && python_layout()->text_state == 36 && python_layout()->text_other == 56;
    }));
}

/* ---- the thread ---- */

bool in_thread(const std::function<bool()> &holds)
{
    bool held = false;
    std::thread([&] { held = holds(); }).join();
    return held;
}

/* Found once, by what names the thread that asks; each thread's own from then on, until the interpreter is at its end. */
TEST_F(Layout, TheThreadsState)
{
    for (size_t i = 0; i < 3; i++) {
        EXPECT_TRUE(in_child([&] {
            make(i);
            fake::make_runtime(fake::versions[i]);
            if (!python_layout_of(&program_))
                return false;
            const struct python_layout *from = python_layout();
            bool right = python_layout_find_thread_state(from) == 0; /* it has none */
            const uint64_t first = fake::address(fake::first_thread());
            right &= python_layout_thread_state(from) == 0; /* nobody has looked yet */
            right &= in_thread([&] { return python_layout_find_thread_state(from) == 0; });
            right &= python_layout_find_thread_state(from) == first && python_layout_thread_state(from) == first;
            right &= python_layout_find_thread_state(from) == first;
            right &= in_thread([&] {
                const bool none = python_layout_thread_state(from) == 0;
                const uint64_t second = fake::address(fake::thread_state(fake::memory(512)));
                return none && python_layout_thread_state(from) == second &&
                       python_layout_find_thread_state(from) == second;
            });
            _PyRuntime[fake::version->finalizing / 8] = 1;
            return right && python_layout_thread_state(from) == 0 && python_layout_find_thread_state(from) == 0;
        })) << i;
    }
}

/* Not before it is known, either. */
TEST_F(Layout, AnInterpreterAtItsEnd)
{
    EXPECT_TRUE(in_child([&] {
        fake::make_runtime(fake::versions[1]);
        fake::first_thread();
        const bool known = python_layout_of(&program_) == 1;
        _PyRuntime[fake::version->finalizing / 8] = 1;
        return known && python_layout_find_thread_state(python_layout()) == 0;
    }));
}

/* A key may be the last there is, but no number beyond, and is none until it says so. */
TEST_F(Layout, WhatIsNoKey)
{
    EXPECT_TRUE(in_child([&] {
        fake::make_runtime(fake::versions[1]);
        const uint64_t state = fake::address(fake::first_thread());
        if (!python_layout_of(&program_))
            return false;
        fake::put<uint32_t>(_PyRuntime, 2160, 0);
        bool right = python_layout_find_thread_state(python_layout()) == 0;
        fake::put<uint32_t>(_PyRuntime, 2160, 2);
        right &= python_layout_find_thread_state(python_layout()) == 0;
        fake::put<uint32_t>(_PyRuntime, 2160, 0);
        fake::put<uint32_t>(_PyRuntime, 16376, 1); /* the last place that is looked at */
        fake::put<uint32_t>(_PyRuntime, 16380, fake::key);
        return right && python_layout_find_thread_state(python_layout()) == state;
    }));
    EXPECT_TRUE(in_child([&] {
        fake::make_runtime(fake::versions[1]);
        fake::first_thread();
        fake::put<uint32_t>(_PyRuntime, 2160, 0);
        fake::put<uint32_t>(_PyRuntime, 16380, 1);
        fake::put<uint32_t>(_PyRuntime, 16384, fake::key);
        return python_layout_of(&program_) == 1 && python_layout_find_thread_state(python_layout()) == 0;
    }));
}

} // namespace
