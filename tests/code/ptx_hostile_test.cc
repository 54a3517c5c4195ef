/* SPDX-License-Identifier: Apache-2.0
 *
 * No text of PTX does harm: it is cut at every byte, changed at random, and made to be long in every way that is bounded.
 */
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "tests/code/ptx_form.h"

namespace
{
const char *const sample =
    ".version 8.7\n.target sm_90a, debug\n.address_size 64\n.file 1 \"a.cu\"\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
    ".global .align 8 .b8 table[16] = {1, 2, 3};\n.const .u32 number = 7; // number\n.extern .shared .b8 tile[];\n"
    ".func (.param .b64 o) f(.param .align 8 .b8 s[12], .param .b32 n) { .reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .pred "
    "%p;\n"
    "ld.param.u64 %rd1, [s]; setp.eq.u32 %p, %r1, 0; @%p mov.u64 %rd1, 0;\n"
    "{ .param .align 8 .b8 x[12]; .param .b32 y; .param .b64 z; st.param.b64 [x], %rd1; st.param.b16 [x+8], %r1;\n"
    "call.uni (z), f, (x, y); ld.param.b64 %rd2, [z+0]; } st.param.b64 [o], %rd2; ret; }\n"
    ".visible .entry k(.param .u64 .ptr .global .align 4 a, .param .align 4 .b8 c[16]) .maxntid 128, 1, 1\n"
    "{ .local .align 8 .b8 depot[24]; .reg .pred %p<4>; .reg .b16 %rs<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 "
    "%f<4>;\n"
    ".reg .b128 %q; .reg .v4 .b32 %v; .loc 1 2 3\nld.param.u64 %rd1, [a]; mov.b64 %rd2, c; add.s64 %rd3, %rd2, 8;\n"
    "ld.param.u32 %r1, [%rd3+4]; cvta.to.global.u64 %rd4, %rd1; mul.wide.s32 %rd5, %r1, 4; add.s64 %rd6, %rd4, %rd5;\n"
    "ld.global.nc.v4.u32 {%r2, %r3, %r4, %r5}, [%rd6+16]; st.local.v2.u32 [depot+8], {%r3, %r2};\n"
    "ld.global.v4.u8 {%rs1, %rs2, %rs3, %rs4}, [%rd6]; st.global.v4.u8 [%rd6], {%rs4, %rs3, %rs2, %rs1};\n"
    "mov.b64 %rd7, {%r2, %r3}; mov.b128 {%rd8, %rd9}, %q; mov.b32 %v.x, %r1; shr.u64 %rd7, %rd7, 32;\n"
    "ld.const.u32 %r6, [number]; ld.global.u64 %rd10, [table+8]; lop3.b32 %r7, %r6, %r5, %r4, 0x96; LOOP: \n"
    "atom.global.add.u32 %r8, [%rd6], -1; red.global.max.s32 [%rd6+-4], %r8; shfl.sync.idx.b32 %r9|%p1, %r8, 0, 31, -1;\n"
    "@!%p1 bra LOOP; T: .branchtargets LOOP, END; brx.idx %r9, T; cvt.s64.s32 %rd11, %r9; selp.b64 %rd12, %rd11, %rd10, "
    "%p1;\n"
    "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2}], [%r3];\n"
    "tex.1d.v4.f32.s32 {%f1, %f2, %f3, _}, [%rd12, {%r1}]; /* a note */ { .param .b64 x; .param .b32 y; call (y), vprintf, "
    "(x, x); }\n"
    "{ .param .align 8 .b8 x[12]; .param .b32 y; .param .b64 z; call (z), f, (x, y); }\nEND: ret; }\n";

int count_name(void *data, const char *kernel)
{
    *static_cast<size_t *>(data) += strlen(kernel) + 1;
    return 0;
}

/* Reads it in every way, and looks at what a solver will trust. */
void harmless(const std::string &text, const char *kernel = "k")
{
    PtxForm form(text, kernel);
    std::vector<uint8_t> bytes(text.begin(), text.end());
    struct code_image image = {bytes.data(), bytes.size(), 90, 1};
    size_t names = 0;
    ptx_kernels(&image, count_name, &names);
    for (uint32_t i = 0; !form.unknown() && i < form.form.steps; i++) {
        const struct step &step = form.form.step[i];
        ASSERT_TRUE(step.result == NO_REGISTER || step.result + step.words <= (int)form.form.registers) << i << text;
        ASSERT_LE(step.sources, STEP_SOURCES);
        ASSERT_LE(step.words, STEP_WORDS);
        if (step.kind == STEP_BRANCH || step.kind == STEP_CALL) {
            ASSERT_LT(step.target, form.form.steps) << i << text;
        }
        if (step.kind == STEP_SWITCH) {
            ASSERT_LE(step.target + step.targets, form.form.target_count);
            for (uint32_t t = 0; t < step.targets; t++)
                ASSERT_LT(form.form.target[step.target + t], form.form.steps);
        }
        for (int s = 0; s < step.sources; s++) {
            if (step.source[s].kind == OPERAND_REGISTER) {
                ASSERT_LT(step.source[s].number, form.form.registers) << i << text;
            }
        }
    }
}

TEST(PtxHostile, TheSampleIsFine)
{
    PtxForm form(sample, "k");
    EXPECT_EQ(form.why(), "");
    harmless(sample);
}

TEST(PtxHostile, CutAnywhere)
{
    std::string text = sample;
    for (size_t size = 0; size < text.size(); size++)
        harmless(text.substr(0, size));
}

TEST(PtxHostile, ChangedAnywhere)
{
    std::mt19937_64 random(32);
    std::string text = sample;
    const std::string signs = "{}[]()<>@!|,;:.+-/*\"%_$ \n\t0129axfZ\0\xff";
    for (int i = 0; i < 6000; i++) {
        std::string changed = text;
        for (uint64_t n = random() % 4 + 1; n; n--) {
            size_t at = random() % changed.size(), size = random() % 24;
            switch (random() % 4) {
            case 0: changed[at] = signs[random() % signs.size()]; break;
            case 1: changed.erase(at, size); break;
            case 2: changed.insert(at, text.substr(random() % text.size(), size)); break;
            default: changed.replace(at, size, text.substr(random() % text.size(), size));
            }
        }
        harmless(changed);
    }
}

std::string repeated(const std::string &text, int count)
{
    std::string all;
    for (int i = 0; i < count; i++)
        all += text;
    return all;
}

TEST(PtxHostile, LittleMemory)
{
    for (size_t limit = 0; limit < 4u << 20; limit += 100 << 10) {
        PtxForm form(sample, "k", limit);
        EXPECT_TRUE(!form.unknown() || form.facts->why == CODE_WHY_MEMORY) << limit << form.why();
    }
    PtxForm form(ptx_kernel(".reg .b64 %x<1000000>; .reg .b64 %y<1000000>;"), "k");
    EXPECT_EQ(form.facts->why, CODE_WHY_MEMORY);
}

TEST(PtxHostile, TooMuchOfIt)
{
    PtxForm scopes(ptx_kernel(repeated("{", 100000)), "k");
    EXPECT_EQ(scopes.facts->why, CODE_WHY_LONG);
    std::string registers;
    for (int i = 0; i < 33000; i++)
        registers += "mov.u64 %x" + std::to_string(i) + ", 1;";
    PtxForm many(ptx_kernel(".reg .b64 %x<33000>;" + registers), "k");
    EXPECT_EQ(many.facts->why, CODE_WHY_MANY);
    PtxForm variables(ptx_kernel(repeated("mov.u64 %rd1, x; mov.u64 %rd1, y;", 9), ".global .u32 x;.const .u32 y;"), "k");
    EXPECT_EQ(variables.facts->variables, 2);
    std::string names, uses;
    for (int i = 0; i <= CODE_VARIABLES; i++) {
        names += ".global .u32 v" + std::to_string(i) + ";";
        uses += "mov.u64 %rd1, v" + std::to_string(i) + ";";
    }
    PtxForm all(ptx_kernel(uses, names), "k");
    EXPECT_EQ(all.facts->why, CODE_WHY_MANY);
    PtxForm large(std::string(ptx_head) + ".entry k(.param .b8 a[70000]) {}", "k");
    EXPECT_EQ(large.facts->why, CODE_WHY_MANY);
    harmless(std::string(ptx_head) + ".entry k(.param .b8 a[99999999999999999999][4294967296][4294967296]) {}");
    harmless(ptx_kernel(".local .b8 x[4294967295]; .local .b8 y[4294967295]; mov.u64 %rd1, y;"));
    harmless(ptx_kernel("mma.sync {" + repeated("%r1,", 5000) + "%r1}, %r2;"));
    harmless(ptx_kernel("ld" + repeated(".u32", 5000) + " %r1, [%rd1];"));
    harmless(ptx_kernel("add.u32 " + repeated("%r1,", 5000) + "%r1;"));
}

/* Time grows with the text, not with its square. */
TEST(PtxHostile, LongTextsEnd)
{
    auto begin = std::chrono::steady_clock::now();
    std::string labels, functions, scoped = repeated("{", 50);
    for (int i = 0; i < 30000; i++) {
        labels += "L" + std::to_string(i) + ": @%p1 bra L" + std::to_string(29999 - i) + ";";
        scoped += "bra FAR;";
        functions += ".func f" + std::to_string(i) + "() { call f" + std::to_string(i + 1) + "; }\n";
    }
    harmless(ptx_kernel(labels));
    harmless(ptx_kernel(scoped + repeated("}", 50) + "FAR:"));
    harmless(functions + ptx_kernel("call f0;"));
    harmless(ptx_kernel("call f0;", functions));
    harmless(ptx_head + repeated(".entry k() {} ", 100000));
    harmless(ptx_kernel(repeated("add.s64 %rd1, %rd1, 8; ld.param.u64 %rd2, [%rd1];", 20000)));
    harmless(ptx_head + repeated(".func f(", 100000));
    harmless(ptx_head + repeated("/* ", 100000));
    harmless(ptx_head + repeated("\"", 100001));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}
} // namespace
