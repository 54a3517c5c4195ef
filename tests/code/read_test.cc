/* SPDX-License-Identifier: Apache-2.0
 *
 * Who is asked for a kernel's facts, and what is left behind: with front ends and a solver of the test's own.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>

extern "C" {
#include "interpose/code/arena.h"
#include "interpose/code/code.h"
#include "interpose/code/form.h"
}

namespace
{
std::string asked;
bool refuses;
struct arena *given;
size_t room;

void front_end(const char *word, const char *kernel, struct form *form)
{
    asked += std::string(word) + " " + kernel + "; ";
    given = form->arena;
    while (arena_get(form->arena, 16 << 20))
        room += 16 << 20;
    if (refuses)
        form_unknown(form, CODE_WHY_INSTRUCTION, 16, "what");
}
} // namespace

extern "C" {
void sass_read(const struct code_image *, const char *kernel, struct form *form)
{
    front_end("sass", kernel, form);
}
void ptx_read(const struct code_image *, const char *kernel, struct form *form)
{
    front_end("ptx", kernel, form);
}
int sass_kernels(const struct code_image *, int (*each)(void *data, const char *kernel), void *data)
{
    return each(data, "of machine code");
}
int ptx_kernels(const struct code_image *, int (*each)(void *data, const char *kernel), void *data)
{
    return each(data, "of text");
}
void solve(struct form *form)
{
    asked += "solve; ";
    form->facts->verdict = CODE_INDIRECT;
}
}

namespace
{

code_facts read_kernel(const code_image &image)
{
    code_facts facts;
    memset(&facts, 0xff, sizeof facts);
    asked.clear();
    room = 0;
    code_read(&image, "f", &facts);
    return facts;
}

/* Of this process's memory, whether touched or not. */
size_t pages()
{
    size_t count = 0;
    std::ifstream("/proc/self/statm") >> count;
    return count;
}

TEST(Read, FrontEndAndSolver)
{
    code_facts facts = read_kernel({nullptr, 0, 90, 0});
    EXPECT_EQ(asked, "sass f; solve; ");
    EXPECT_EQ(facts.verdict, CODE_INDIRECT);
    EXPECT_EQ(facts.arch, 90);
    EXPECT_EQ(facts.is_ptx, 0);
    facts = read_kernel({nullptr, 0, 75, 1});
    EXPECT_EQ(asked, "ptx f; solve; ");
    EXPECT_EQ(facts.arch, 75);
    EXPECT_EQ(facts.is_ptx, 1);
    EXPECT_EQ(facts.why + facts.flags + facts.bases + facts.variables + facts.handles + facts.parameters, 0);
    EXPECT_EQ(facts.parameter_bytes + facts.instructions + facts.at, 0u);
    EXPECT_STREQ(facts.text, "");
}

TEST(Read, WhatIsUnknownIsNotSolved)
{
    refuses = true;
    const code_facts facts = read_kernel({nullptr, 0, 90, 0});
    refuses = false;
    EXPECT_EQ(asked, "sass f; ");
    EXPECT_EQ(facts.verdict, CODE_UNKNOWN);
    EXPECT_EQ(facts.why, CODE_WHY_INSTRUCTION);
    EXPECT_EQ(facts.at, 16u);
    EXPECT_STREQ(facts.text, "what");
}

TEST(Read, ScratchMemoryIsBoundedAndGivenBack)
{
    const size_t before = pages();
    for (int i = 0; i < 20; i++)
        read_kernel({nullptr, 0, 90, 0});
    EXPECT_LT(pages(), before + (size_t{64} << 20) / 4096);
    EXPECT_GE(room, size_t{128} << 20);
    EXPECT_LE(room, size_t{256} << 20);
}

TEST(Read, Kernels)
{
    const auto each = [](void *data, const char *kernel) {
        *static_cast<std::string *>(data) = kernel;
        return 3;
    };
    std::string name;
    const code_image code = {nullptr, 0, 90, 0}, text = {nullptr, 0, 90, 1};
    EXPECT_EQ(code_read_kernels(&code, each, &name), 3);
    EXPECT_EQ(name, "of machine code");
    EXPECT_EQ(code_read_kernels(&text, each, &name), 3);
    EXPECT_EQ(name, "of text");
}

} // namespace
