// SPDX-License-Identifier: Apache-2.0
//
// The facts of whole kernels, from their text: those that other tests run, and small ones for what an address may begin
// with. Each expected line is worked out by hand from the kernel.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "tests/code/facts_text.h"

extern "C" {
#include "tests/conformance/kernels.ptx.h"
#include "tests/conformance/tables.ptx.h"
#include "tests/conformance/textures.ptx.h"
#include "tests/conformance/variables.ptx.h"
}

namespace
{

std::string Facts(const std::string &text, const char *kernel)
{
    std::unique_ptr<code_facts> facts(new code_facts());
    code_image image = {reinterpret_cast<const uint8_t *>(text.data()), text.size(), 80, 1};
    code_read(&image, kernel, facts.get());
    return FactsText(*facts);
}

// Of the last base.
std::string Mixed(const std::string &text)
{
    std::unique_ptr<code_facts> facts(new code_facts());
    code_image image = {reinterpret_cast<const uint8_t *>(text.data()), text.size(), 80, 1};
    code_read(&image, "k", facts.get());
    return FactsText(*facts) + ", " + MixedText(facts->base[facts->bases - 1]);
}

// A kernel k of two pointers a and b, a 64-bit number n and a 32-bit number i, with this body; %rd1 to %rd4 have them.
std::string Text(const std::string &body, const std::string &before = "")
{
    return ".version 8.0\n.target sm_80\n.address_size 64\n" + before +
           ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 n, .param .u32 i)\n{\n"
           ".reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n.reg .f32 %f<4>;\n"
           "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nld.param.u64 %rd3, [n];\n"
           "ld.param.u32 %r1, [i];\ncvt.s64.s32 %rd4, %r1;\n" +
           body + "ret;\n}\n";
}

std::string Body(const std::string &body, const std::string &before = "")
{
    return Facts(Text(body, before), "k");
}

TEST(Facts, OfTheConformanceKernels)
{
    EXPECT_EQ("direct", Facts(ptds_test_ptx, "empty"));
    EXPECT_EQ("direct 0:r", Facts(ptds_test_ptx, "gate"));
    EXPECT_EQ("direct", Facts(ptds_test_ptx, "spin_ns"));
    EXPECT_EQ("direct 0:w", Facts(ptds_test_ptx, "mark"));
    EXPECT_EQ("direct 0:rwa 8:w", Facts(ptds_test_ptx, "ticket"));
    EXPECT_EQ("direct 0:w", Facts(ptds_test_ptx, "fill"));
    EXPECT_EQ("direct 0:rw", Facts(ptds_test_ptx, "add_one"));
    EXPECT_EQ("direct 0:rw", Facts(ptds_test_ptx, "spin_add"));
    EXPECT_EQ("direct 8:r 0:w", Facts(ptds_test_ptx, "copy"));
    EXPECT_EQ("direct 8:r 16:r 0:w", Facts(ptds_test_ptx, "add"));
    EXPECT_EQ("direct 0:rw 8:r", Facts(ptds_test_ptx, "saxpy"));
    EXPECT_EQ("unknown 2", Facts(ptds_test_ptx, "none of these"));
}

TEST(Facts, OfTablesAndVariables)
{
    EXPECT_EQ("indirect 8:r>r 0:w", Facts(ptds_tables_ptx, "gather"));
    EXPECT_EQ("indirect 8:r>r 0:w", Facts(ptds_tables_ptx, PTDS_GATHER));
    EXPECT_EQ("indirect 0:r>w", Facts(ptds_tables_ptx, "scatter"));
    EXPECT_EQ("direct 3992:rw", Facts(ptds_tables_ptx, "deep_add"));
    EXPECT_EQ("direct v(ptds_var):w", Facts(ptds_variables_ptx, "var_set"));
    EXPECT_EQ("direct v(ptds_var):rw", Facts(ptds_variables_ptx, "var_add"));
    EXPECT_EQ("direct v(ptds_kept):w", Facts(ptds_kept_ptx, "kept_set"));
    EXPECT_EQ("indirect v(ptds_kept):r>rw", Facts(ptds_kept_ptx, "kept_add"));
    EXPECT_EQ("indirect v(ptds_kept):r>r 0:w", Facts(ptds_kept_ptx, "kept_get"));
}

TEST(Facts, IndexesOfAllKinds)
{
    EXPECT_EQ("direct 0:w", Body("mul.wide.s32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd1, %rd5;\nst.global.u32 [%rd6], %r1;\n"));
    EXPECT_EQ("direct 0:w", Body("shl.b64 %rd5, %rd3, 2;\nadd.s64 %rd6, %rd1, %rd5;\nst.global.u32 [%rd6], %r1;\n"));
    EXPECT_EQ("direct 0:w", Body("add.s64 %rd6, %rd1, %rd4;\nst.global.u8 [%rd6], %r1;\n"));
    EXPECT_EQ("direct 0+16:w", Body("add.s64 %rd6, %rd1, %rd3;\nst.global.u8 [%rd6], %r1;\n"));
    EXPECT_EQ("direct 8:r 0:w",
              Body("ld.global.u32 %r2, [%rd2];\nmad.wide.u32 %rd6, %r2, 4, %rd1;\nst.global.u32 [%rd6], %r1;\n"));
}

TEST(Facts, ArithmeticOnPointers)
{
    EXPECT_EQ("direct 0+8:w", Body("sub.s64 %rd5, %rd1, %rd2;\nadd.s64 %rd6, %rd2, %rd5;\nst.global.u32 [%rd6], %r1;\n"));
    EXPECT_EQ("unknown 5", Body("xor.b64 %rd5, %rd1, %rd3;\nst.global.u32 [%rd5], %r1;\n"));
    EXPECT_EQ("unknown 5", Body("shr.u64 %rd5, %rd1, 4;\nshl.b64 %rd5, %rd5, 4;\nst.global.u32 [%rd5], %r1;\n"));
    EXPECT_EQ("unknown 5", Body("not.b64 %rd5, %rd1;\nst.global.u32 [%rd5], %r1;\n"));
    EXPECT_EQ("direct 0:w", Body("and.b64 %rd5, %rd1, -16;\nst.global.u32 [%rd5], %r1;\n"));
    EXPECT_EQ("unknown 5", Body("and.b64 %rd5, %rd1, %rd3;\nst.global.u32 [%rd5], %r1;\n"));
    EXPECT_EQ("direct 0:w", Body("shl.b64 %rd5, %rd3, 1;\nsub.s64 %rd6, %rd1, %rd5;\nst.global.u32 [%rd6], %r1;\n"));
    EXPECT_EQ("direct 0:w 8:w",
              Body("setp.eq.u32 %p1, %r1, 0;\nselp.b64 %rd5, %rd1, %rd2, %p1;\nst.global.u32 [%rd5], %r1;\n"));
}

// What is added to a base may be a pointer as well, where the base turns out to be a number.
TEST(Facts, WhatIsAddedToABase)
{
    const std::string store = "add.s64 %rd6, %rd5, %rd3;\nst.global.u32 [%rd6], %r1;\n";
    EXPECT_EQ("direct 16:w, far 0 4", Mixed(Text("shl.b64 %rd5, %rd1, 3;\n" + store)));
    EXPECT_EQ("direct 16:w, far 0 4", Mixed(Text("shl.b64 %rd5, %rd1, 16;\nshr.s64 %rd5, %rd5, 16;\n" + store)));
    EXPECT_EQ("direct 0:r 16:w, far any", Mixed(Text("ld.global.u64 %rd5, [%rd1];\nshl.b64 %rd5, %rd5, 3;\n" + store)));
    EXPECT_EQ("direct 16:w, far any", Mixed(Text("mov.u64 %rd5, 0x7f1234560000;\n" + store)));
    EXPECT_EQ("direct 16:w, near", Mixed(Text("mov.u64 %rd5, 4096;\n" + store)));
    EXPECT_EQ("direct 0:r 16+loaded:w, near", Mixed(Text("ld.global.u64 %rd5, [%rd1];\n" + store)));
}

// More sums than are told one by one.
TEST(Facts, SumsOfSomeOfMany)
{
    std::string text = "ld.param.u64 %rd7, [c];\nld.param.u64 %rd8, [d];\nsetp.eq.u32 %p1, %r1, 0;\n"
                       "selp.b64 %rd5, %rd1, %rd2, %p1;\n";
    for (const char *number : {"%rd3", "%rd7", "%rd8"})
        text += "add.s64 %rd6, %rd5, " + std::string(number) + ";\nselp.b64 %rd5, %rd5, %rd6, %p1;\n";
    text = Text(text + "st.global.u32 [%rd5], %r1;\n");
    text.replace(text.find(".param .u32 i)"), 14, ".param .u32 i, .param .u64 c, .param .u64 d)");
    EXPECT_EQ("direct 0|8|16|32|40:w", Facts(text, "k"));
}

TEST(Facts, PointersFromEverywhere)
{
    EXPECT_EQ("indirect 0:r>w", Body("ld.global.u64 %rd5, [%rd1];\nst.global.u32 [%rd5+4], %r1;\n"));
    EXPECT_EQ("indirect 0:r>w", Body("ld.global.v2.u32 {%r2, %r3}, [%rd1];\nmov.b64 %rd5, {%r2, %r3};\n"
                                     "st.global.u32 [%rd5], %r1;\n"));
    EXPECT_EQ("indirect 0:rwa>w", Body("atom.global.exch.b64 %rd5, [%rd1], 0;\nst.global.u32 [%rd5], %r1;\n"));
    EXPECT_EQ("indirect c(base):r>w",
              Body("ld.const.u64 %rd5, [base];\nst.global.u32 [%rd5], %r1;\n", ".const .align 8 .u64 base;\n"));
    EXPECT_EQ("indirect 0:r>r>>w",
              Body("ld.global.u64 %rd5, [%rd1];\nld.global.u64 %rd6, [%rd5];\nst.global.u32 [%rd6], %r1;\n"));
}

TEST(Facts, OwnMemory)
{
    EXPECT_EQ("direct 0:w", Body("st.shared.u64 [kept], %rd1;\nbar.sync 0;\nld.shared.u64 %rd5, [kept];\n"
                                 "st.global.u32 [%rd5], %r1;\n",
                                 ".shared .align 8 .b8 kept[8];\n"));
    EXPECT_EQ("direct 8:w", Body(".local .align 8 .b8 kept[16];\nst.local.u64 [kept], %rd1;\nst.local.u64 [kept+8], %rd2;\n"
                                 "ld.local.u64 %rd5, [kept+8];\nst.global.u32 [%rd5], %r1;\n"));
    EXPECT_EQ("direct", Body(".local .align 8 .b8 kept[16];\nmov.u64 %rd5, kept;\ncvta.local.u64 %rd6, %rd5;\n"
                             "st.u32 [%rd6], %r1;\n"));
}

TEST(Facts, WhatIsNotKnown)
{
    EXPECT_EQ("unknown 4", Body("frobnicate.u32 %r2, %r1;\n"));
    EXPECT_EQ("unknown 4", Body("not.an.instruction %r2, %r1;\n"));
    EXPECT_EQ("unknown 5", Body("mul.lo.s64 %rd5, %rd1, 3;\nst.global.u32 [%rd5], %r1;\n"));
    EXPECT_EQ("unknown 5", Body("cvt.u64.u32 %rd5, %r1;\nst.global.u32 [%rd5], %r1;\n"));
}

} // namespace
