/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole modules of PTX: parameters, variables, functions and calls, labels and scopes, and what surrounds them.
 */
#include <gtest/gtest.h>

#include "tests/code/ptx_form.h"
#include "tests/conformance/kernels.ptx.h"
#include "tests/conformance/tables.ptx.h"
#include "tests/conformance/textures.ptx.h"
#include "tests/conformance/variables.ptx.h"
#include "tests/kit/kernels.ptx.h"

namespace
{
std::string steps(const std::string &text, const char *kernel = "k")
{
    PtxForm form(ptx_head + text, kernel);
    return form.unknown() ? "unknown " + form.why() + "\n" : form_text::all(form.form);
}

int add_name(void *data, const char *kernel)
{
    auto *names = static_cast<std::vector<std::string> *>(data);
    names->push_back(kernel);
    return names->size() == 7;
}

std::vector<std::string> kernels(const std::string &text)
{
    std::vector<std::string> names;
    struct code_image image = {reinterpret_cast<const uint8_t *>(text.data()), text.size(), 90, 1};
    ptx_kernels(&image, add_name, &names);
    return names;
}

TEST(PtxModule, FactsOfParameters)
{
    PtxForm form(std::string(ptx_head) +
                     ".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 1 b, .param .align 16 .b8 c[20],\n"
                     "  .param .v2 .f32 d, .param .u16 e[3], .param .f64 f) .maxntid 256, 1, 1 .minnctapersm 2\n{ ret; }\n",
                 "k");
    const struct code_facts &facts = *form.facts;
    ASSERT_FALSE(form.unknown()) << form.why();
    ASSERT_EQ(facts.parameters, 6);
    const uint16_t offsets[] = {0, 8, 16, 40, 48, 56}, sizes[] = {1, 8, 20, 8, 6, 8};
    for (int i = 0; i < 6; i++) {
        EXPECT_EQ(facts.parameter[i].offset, offsets[i]) << i;
        EXPECT_EQ(facts.parameter[i].size, sizes[i]) << i;
    }
    EXPECT_EQ(facts.parameter_bytes, 64);
    EXPECT_EQ(facts.arch, 90);
    EXPECT_EQ(facts.is_ptx, 1);
    EXPECT_EQ(facts.instructions, 1u);
}

TEST(PtxModule, VariablesOfTheModuleAndTheirSizes)
{
    const char *text =
        ".visible .global .align 4 .b8 table[3][8] = {1, 2, {3}};\n.global .align 8 .u64 kept = generic(table);\n"
        ".extern .const .align 8 .b8 outside[];\n.const .v4 .f32 four, eight[2];\n.extern .shared .align 16 .b8 tile[];\n"
        ".global .texref bound;\n"
        ".entry k() { .reg .b64 %rd<9>; .reg .b32 %r<9>;\n"
        "mov.u64 %rd1, table+4;\nld.global.u64 %rd2, [kept];\nld.const.u32 %r1, [outside+12];\nmov.u64 %rd3, eight;\n"
        "ld.const.u16 %r2, [%rd3];\nld.const.s8 %r3, [four+1];\nmov.u32 %r4, tile;\n"
        "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [bound, {%r5}];\n}\n";
    EXPECT_EQ(steps(text), "move r0:2 = &table+4\n"
                           "load r2:2 global r [&kept+0:2]\n"
                           "move r4:1 = bank outside[12]:1\n"
                           "move r5:2 = &eight+0\n"
                           "load r7:1 narrow constant r [r5:2]\n"
                           "sum r8:1 = bank four[1]:1*\n"
                           "move r9:1 = other\n"
                           "float r4:1\nfloat r7:1\nfloat r8:1\nfloat r9:1\n"
                           "exit\n");
    PtxForm form(std::string(ptx_head) + text, "k");
    const struct code_facts &facts = *form.facts;
    ASSERT_EQ(facts.variables, 5);
    EXPECT_EQ(facts.variable[0].size, 24u);
    EXPECT_EQ(facts.variable[0].constant, 0);
    EXPECT_EQ(facts.variable[2].size, 0u);
    EXPECT_EQ(facts.variable[2].constant, 1);
    EXPECT_EQ(facts.variable[3].size, 32u);
    EXPECT_EQ(facts.flags, CODE_BOUND_TEXTURE);
}

TEST(PtxModule, KernelsAreFoundAndFunctionsAndCommentsAreNot)
{
    std::string text =
        ".entry a() { ret; } // .entry no() {}\n.visible .entry b ( .param .u64 x )\n.maxntid 3, 1, 1 { { } }\n"
        "/* .entry no() {} */ .func f() { ret; }\n.entry declared();\n.weak .entry c{ ret; }\n"
        ".section .debug_str { .b8 46 }\n.global .b8 s[9] = \".entry no() {}\";\n.entry d() {}";
    EXPECT_EQ(kernels(ptx_head + text), (std::vector<std::string>{"a", "b", "c", "d"}));
    for (const char *name : {"e", "f", "g", "h"})
        text += ".entry " + std::string(name) + "() {}";
    EXPECT_EQ(kernels(ptx_head + text).size(), 7u);
    EXPECT_EQ(steps(text, "d"), "exit\n");
    EXPECT_EQ(steps(text, "declared"), "unknown 2 0 declared\n");
    EXPECT_EQ(steps(text, "no"), "unknown 2 0 no\n");
}

TEST(PtxModule, WhatIsNoPtxHasNoKernel)
{
    PtxForm empty("", "k"),
        other("\x7f"
              "ELF",
              "k"),
        narrow(".version 6.0\n.target sm_30\n.address_size 32\n.entry k() {}", "k");
    EXPECT_EQ(empty.facts->why, CODE_WHY_NO_IMAGE);
    EXPECT_EQ(other.facts->why, CODE_WHY_NO_IMAGE);
    EXPECT_EQ(narrow.facts->why, CODE_WHY_ARCHITECTURE);
    PtxForm ended(std::string(ptx_head) + ".entry k() { ret;", "k");
    EXPECT_EQ(ended.why(), "1 4 the text ends");
    PtxForm zero(ptx_kernel("ret;") + std::string("\0garbage {", 10), "k");
    EXPECT_EQ(zero.why(), "");
}

TEST(PtxModule, DebuggersLinesAndCommentsArePassedOver)
{
    EXPECT_EQ(
        ptx_steps(".loc 1 3 5\n$L__tmp1:\n.loc 1 3 5, function_name $L__info, inlined_at 1 4 2\n.pragma \"nounroll\";\n"
                  "@@DWARF .word 3\nmov.u32 %r1, 1; // mov.u32 %r1, 2;\n/* } */ ;"),
        "move r0:1 = 1\n");
}

/* Lines are counted in what is passed over, and braces in strings are none. */
TEST(PtxModule, SectionsAndPragmasArePassedOver)
{
    EXPECT_EQ(ptx_steps(".section .debug_str {\n/* }\n */\n.b8 1 }\nfrob;"), "unknown 4 12 frob\n");
    EXPECT_EQ(kernels(std::string(ptx_head) +
                      ".entry a() { .pragma \"a text that is long enough { for it\"; ret; }\n.entry b() { ret; }"),
              (std::vector<std::string>{"a", "b"}));
}

TEST(PtxModule, SizesOfVariables)
{
    PtxForm form(ptx_kernel("mov.u64 %rd1, large; mov.u64 %rd1, larger;",
                            ".global .b8 large[4294967296][3]; .global .b8 larger[4294967297][4294967297];"),
                 "k");
    ASSERT_EQ(form.facts->variables, 2);
    EXPECT_EQ(form.facts->variable[0].size, 12884901888u);
    EXPECT_EQ(form.facts->variable[1].size, 0u);
}

TEST(PtxModule, NamesOfRegisters)
{
    EXPECT_EQ(ptx_steps(".reg .b32 %a<20>, %a1<3>, b;\nmov.u32 %a13, %a12;\nmov.u32 b, %a1;\nmov.u32 %a2, %a0;"),
              "move r0:1 = r1:1\nmove r2:1 = r3:1\nmove r4:1 = r5:1\n");
    for (const char *name : {"%r32", "%r01", "%r", "%r1x", "%rr1", "%r4294967297", "%tid1"})
        EXPECT_EQ(ptx_steps("mov.u32 %r1, " + std::string(name) + ";").substr(0, 9),
                  name[1] == 't' ? "move r0:1" : "unknown 4")
            << name;
}

TEST(PtxLabels, LabelsHoldInTheirBraces)
{
    EXPECT_EQ(ptx_steps("L: exit;\n{ { bra L; } exit; L: }"), "exit\nbranch 3\nexit\n");
    EXPECT_EQ(ptx_steps("bra END;\nL: { L: @%p1 bra L; bra END; }\n{ bra L; L: }\nbra L;\n{ { bra OUT; } OUT: }\nEND:"),
              "branch 6\n@p1 branch 1\nbranch 6\nbranch 4\nbranch 1\nbranch 6\n");
    EXPECT_EQ(ptx_steps("T: .branchtargets A, B, A;\n@%p1 brx.idx %r1, T;\nA: exit;\nB: trap;"),
              "@p1 switch 1 2 1\nexit\nexit\n");
    EXPECT_EQ(ptx_steps("brx.idx %r1, T;\nA: ret;\nT: .branchtargets A;"), "switch 1\nexit\n");
    EXPECT_EQ(ptx_steps("brx.idx %r1, A;\nA: ret;"), "unknown 8 8 A\n");
    EXPECT_EQ(ptx_steps("T: .branchtargets A;\nbrx.idx %r1, T;"), "unknown 8 8 A\n");
    EXPECT_EQ(ptx_steps("{ L: } bra L;"), "unknown 8 8 L\n");
}

const char *const add_function =
    ".func (.param .b64 result) add(.param .b64 p, .param .align 8 .b8 s[12])\n{ .reg .b64 %rd<4>; .reg .b32 %r<3>;\n"
    "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [s+8];\nld.param.u16 %r2, [s+2];\nmov.b64 %rd2, s;\n"
    "ld.param.u64 %rd3, [%rd2];\nst.param.b64 [result], %rd1;\nret;\n}\n";

TEST(PtxCalls, ParametersAndResults)
{
    EXPECT_EQ(ptx_steps("ld.param.u64 %rd1, [a];\n{ .param .b64 x; .param .align 8 .b8 y[12]; .param .b64 z;\n"
                        "st.param.b64 [x+0], %rd1; st.param.v2.b32 [y], {%r1, 7}; st.param.b8 [y+9], %r3;\n"
                        "call.uni (z), second, (x, y); ld.param.b64 %rd2, [z]; }",
                        std::string(".func (.param .b64 r) add(.param .b64 p, .param .align 8 .b8 s[12]);\n") +
                            add_function + ".alias second, add;\n"),
              "move r0:2 = param[0]:2\n"
              "move r2:2 = r0:2\n" /* x */
              "move r4:1 = r9:1\n" /* y */
              "move r5:1 = 7\n"
              "mix r6:1 = r10:1 + r6:1\n"
              "move r13:2 = r2:2\n"
              "move r15:3 = r4:3\n"
              "call 11\n"
              "move r7:2 = r11:2\n" /* z */
              "move r18:2 = r7:2\n"
              "exit\n"
              "move r22:2 = r13:2\n"
              "move r24:1 = r17:1\n"
              "sum r25:1 = r15:1*\n"
              "forget r26:2\n"
              "move r28:2 = r15:2\n"
              "move r20:2 = r22:2\n"
              "move r11:2 = r20:2\n"
              "return\n"
              "move r11:2 = r20:2\n"
              "return\n");
}

TEST(PtxCalls, RegistersAndGuards)
{
    EXPECT_EQ(steps(".func (.reg .u32 o) f(.reg .u32 i, .reg .u64 q) { st.global.u32 [q], i; mov.u32 o, i; @o1 ret; }\n"
                    ".entry k() { .reg .b32 %r<9>; .reg .b64 %rd; .reg .pred %p;\n"
                    "@!%p call (%r1), f, (7, %rd);\ncall (%r2), f, (%r1, %rd); }\n"),
              "unknown 4 4 o1\n");
    EXPECT_EQ(steps(".func (.reg .u32 o) f(.reg .u32 i, .reg .u64 q) { st.global.u32 [q], i; mov.u32 o, i; }\n"
                    ".entry k() { .reg .b32 %r<9>; .reg .b64 %rd; .reg .pred %p;\n"
                    "@!%p call (%r1), f, (7, %rd);\ncall (%r2), f, (%r1, %rd); }\n"),
              "@!p1 move r3:1 = 7\n@!p1 move r4:2 = r1:2\n@!p1 call 9\n@!p1 move r0:1 = r6:1\n"
              "move r3:1 = r0:1\nmove r4:2 = r1:2\ncall 9\nmove r7:1 = r6:1\n"
              "exit\n"
              "store:1 global w [r4:2] = r3:1\nmove r6:1 = r3:1\nreturn\n");
}

/* Behind the call within, what is written at two places and the parameters have what they had before it. */
TEST(PtxCalls, FunctionsThatCallEachOtherComeToAnEnd)
{
    const char *text = ".func f(.param .b64 p);\n"
                       ".func f(.param .b64 p) { .reg .b64 %rd<4>; .reg .pred %q<2>;\n"
                       "mov.u64 %rd1, 1;\n@%q1 mov.u64 %rd1, 2;\nmov.u64 %rd2, 3;\n"
                       "{ .param .b64 x; st.param.b64 [x], %rd2; call f, (x); }\nld.param.u64 %rd3, [p]; }\n"
                       ".entry k() { .param .b64 x; .reg .b64 %rd<4>; st.param.b64 [x], %rd1; call f, (x); }\n";
    EXPECT_EQ(steps(text), "move r0:2 = r2:2\n"
                           "move r4:2 = r0:2\n"
                           "call 4\n"
                           "exit\n"
                           "move r6:2 = 1\n"
                           "@p1 move r6:2 = 2\n"
                           "move r8:2 = 3\n"
                           "move r10:2 = r8:2\n"
                           "move r14:2 = r4:2\n"
                           "move r16:2 = r10:2\n"
                           "move r18:2 = r6:2\n"
                           "move r4:2 = r10:2\n"
                           "call 4\n"
                           "move r4:2 = r14:2\n"
                           "move r10:2 = r16:2\n"
                           "move r6:2 = r18:2\n"
                           "move r12:2 = r4:2\n"
                           "return\n");
    PtxForm form(std::string(ptx_head) + text, "k");
    EXPECT_EQ(form.facts->instructions, 8u);
    EXPECT_EQ(form.form.registers, 20u);
    EXPECT_EQ(form.form.step[4].function, 1u);
    EXPECT_EQ(form.form.step[3].function, 0u);
}

/* A function that is called from a circle is in none. */
TEST(PtxCalls, BesideACircle)
{
    EXPECT_EQ(steps(".func f(); .func g() { .reg .b32 %x; mov.u32 %x, 1; mov.u32 %x, 2; }\n"
                    ".func f() { .reg .b32 %x; mov.u32 %x, 1; mov.u32 %x, 2; call g; call f; }\n.entry k() { call f; }\n"),
              "call 2\nexit\n"
              "move r0:1 = 1\nmove r0:1 = 2\ncall 9\nmove r2:1 = r0:1\ncall 2\nmove r0:1 = r2:1\nreturn\n"
              "move r1:1 = 1\nmove r1:1 = 2\nreturn\n");
}

TEST(PtxCalls, OfTheDriver)
{
    const char *before = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
                         ".extern .func __assertfail(.param .b64 a);\n.extern .func free(.param .b64 a);\n"
                         ".extern .func (.param .b64 r) malloc(.param .b64 a);\n.extern .func other(.param .b64 a);\n"
                         ".extern .func (.param .b32 r) cudaLaunchDeviceV2(.param .b64 a, .param .b64 b);\n";
    EXPECT_EQ(ptx_steps("{ .param .b64 x; .param .b32 y; .param .b64 z; call (y), vprintf, (x, x);\ncall free, (x);\n"
                        "call __assertfail, (x);\ncall (z), malloc, (x); ld.param.u64 %rd1, [z]; }",
                        before),
              "float r2:1\nmove r3:2 = heap\nmove r5:2 = r3:2\n");
    PtxForm form(ptx_kernel("{ .param .b64 x; call (x), malloc, (x); call free, (x); }", before), "k");
    EXPECT_EQ(form.facts->flags, CODE_HEAP | CODE_SYSTEM);
    EXPECT_EQ(ptx_steps("{ .param .b64 x; call other, (x); }", before), "unknown 7 14 other\n");
    EXPECT_EQ(ptx_steps("{ .param .b64 x; .param .b32 y; call (y), cudaLaunchDeviceV2, (x, x); }", before),
              "unknown 10 14 cudaLaunchDeviceV2\n");
    EXPECT_EQ(ptx_steps("call %rd1, (x), proto;\nproto: .callprototype _ (.param .b64 _);"),
              "unknown 7 8 call %rd1, (x), proto\n");
    EXPECT_EQ(ptx_steps("call e;", ".entry e() { ret; }\n"), "unknown 7 9 e\n");
    EXPECT_EQ(ptx_steps("call nowhere;"), "unknown 7 8 nowhere\n");
    EXPECT_EQ(ptx_steps("{ .param .b64 x; call add, (x); }", add_function).substr(0, 9), "unknown 7");
    /* less is handed over than the function takes: no neighbour comes with it */
    EXPECT_EQ(ptx_steps("{ .param .b32 x; .param .b32 y; st.param.b32 [x], 1; st.param.b32 [y], 2; call f, (x); }",
                        ".func f(.param .b64 p) { ret; }\n"),
              "move r0:1 = 1\nmove r1:1 = 2\nmove r2:1 = r0:1\ncall 5\nexit\nreturn\nreturn\n");
}

TEST(PtxStack, FramesLieApart)
{
    EXPECT_EQ(steps(".func f() { .local .b8 depot[20]; .reg .b64 %SP; mov.u64 %SP, depot; }\n"
                    ".entry k() { .local .align 16 .b8 depot[5]; .local .b32 more; .reg .b64 %SP<3>; mov.u64 %SP1, depot;\n"
                    "mov.u64 %SP2, more; call f; }\n"),
              "move r0:2 = stack+0\nmove r2:2 = stack+16\ncall 4\nexit\nmove r4:2 = stack+32\nreturn\n");
}

/* The kernels that the tests of this project launch. */
TEST(PtxKernels, OfTheTests)
{
    for (const char *text :
         {ptds_test_ptx, ptds_tables_ptx, ptds_textures_ptx, ptds_variables_ptx, ptds_kept_ptx, kit_ptx, kit_late_ptx}) {
        struct code_image image = {reinterpret_cast<const uint8_t *>(text), strlen(text) + 1, 52, 1};
        int count = 0;
        auto each = [](void *data, const char *kernel) {
            auto *at = static_cast<std::pair<const char *, int *> *>(data);
            PtxForm form(at->first, kernel);
            EXPECT_EQ(form.why(), "") << kernel;
            EXPECT_EQ(form.facts->arch, 52);
            ++*at->second;
            return 0;
        };
        std::pair<const char *, int *> data(text, &count);
        ptx_kernels(&image, each, &data);
        EXPECT_GT(count, 0);
    }
}
} // namespace
