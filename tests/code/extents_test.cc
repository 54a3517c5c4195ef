// SPDX-License-Identifier: Apache-2.0
//
// How far kernels go from their pointers: by hand, and every way that was thought of in which a bound may not be one. The
// kernel k(a, n, m, b, w) is launched with 4 blocks of 256 threads, 4 and 256 in y where a row says so.

#include <gtest/gtest.h>

#include "tests/code/extents_kernel.h"

namespace
{
const char *const kIndex = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
                           "mad.lo.s32 %r10, %r1, %r2, %r3;\n"; // i
const char *const kLoad = "mul.wide.s32 %rd5, %r10, 4;\nadd.s64 %rd6, %rd1, %rd5;\nld.global.u32 %r20, [%rd6];\n";

std::string Text(const std::string &body, const std::string &before)
{
    return ".version 7.7\n.target sm_70\n.address_size 64\n" + before +
           "\n.visible .entry k(.param .u64 a, .param .u32 n, .param .u32 m, .param .u64 b, .param .u64 w)\n{\n"
           ".reg .pred %p<9>;\n.reg .b16 %rs<9>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n.shared .b32 tile[64];\n"
           "ld.param.u64 %rd1, [a];\nld.param.u32 %r4, [n];\nld.param.u32 %r5, [m];\nld.param.u64 %rd2, [b];\n"
           "ld.param.u64 %rd3, [w];\n" +
           body + "\nDONE:\nret;\n}\n";
}

struct Row {
    std::string body;
    uint32_t n, m;
    uint64_t w = 0;
    std::string before = {};
    uint32_t threads_y = 1, blocks_y = 1;
};

std::string One(const ExtentsKernel &kernel, const Row &row, unsigned byte)
{
    std::vector<uint8_t> bytes(32, 0);
    uint64_t a = 0x700000000000, b = 0x700001000000;
    memcpy(&bytes[0], &a, 8), memcpy(&bytes[8], &row.n, 4), memcpy(&bytes[12], &row.m, 4);
    memcpy(&bytes[16], &b, 8), memcpy(&bytes[24], &row.w, 8);
    const uint32_t threads[] = {256, row.threads_y, 1}, blocks[] = {4, row.blocks_y, 1};
    const code_base *base = kernel.Base(byte);
    if (!base)
        return "all";
    extent of = kernel.Of(base, threads, blocks, bytes);
    if (of.low == INT64_MIN)
        return "all";
    return of.low > of.high ? "none" : std::to_string(of.low) + " to " + std::to_string(of.high);
}

// The bytes behind a that are touched.
std::string OfA(const Row &row)
{
    return One(ExtentsKernel(Text(row.body, row.before)), row, 0);
}

std::string Guarded(const std::string &leave, const std::string &access = kLoad)
{
    return kIndex + leave + "@%p1 bra DONE;\n" + access;
}

TEST(Extents, OfTheUsualKernelAreItsElements)
{
    const std::string usual = Guarded("setp.ge.s32 %p1, %r10, %r4;\n");
    EXPECT_EQ("0 to 4000", OfA({usual, 1000, 0}));
    EXPECT_EQ("0 to 4096", OfA({usual, 5000, 0}));
    EXPECT_EQ("0 to 4", OfA({usual, 1, 0}));
    EXPECT_EQ("none", OfA({usual, 0, 0}));
    EXPECT_EQ("none", OfA({usual, 0xfffffffb, 0})); // -5
    EXPECT_EQ("0 to 4096", OfA({usual, 0x7fffffff, 0}));
}

TEST(Extents, NeedNoBoundWhereTheGridIsOne)
{
    EXPECT_EQ("0 to 4096", OfA({std::string(kIndex) + kLoad, 0, 0}));
    EXPECT_EQ("0 to 1024", OfA({"mov.u32 %r10, %tid.x;\n" + std::string(kLoad), 0, 0}));
    EXPECT_EQ("0 to 4", OfA({"ld.global.u32 %r20, [%rd1];\n", 0, 0}));
}

TEST(Extents, FollowTheSizeOfAnAccess)
{
    const std::string at = std::string(kIndex) + "setp.ge.s32 %p1, %r10, %r4;\n@%p1 bra DONE;\ncvt.s64.s32 %rd5, %r10;\n"
                                                 "add.s64 %rd6, %rd1, %rd5;\n";
    EXPECT_EQ("0 to 100", OfA({at + "st.global.u8 [%rd6], %rs1;\n", 100, 0}));
    EXPECT_EQ("0 to 107", OfA({at + "ld.global.u64 %rd7, [%rd6];\n", 100, 0}));
    EXPECT_EQ("-16 to 99", OfA({at + "ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%rd6+-16];\n", 100, 0}));
    EXPECT_EQ("0 to 103", OfA({at + "atom.global.add.u32 %r20, [%rd6], 1;\n", 100, 0}));
    EXPECT_EQ("4 to 107", OfA({at + "red.global.add.u32 [%rd6+4], 1;\n", 100, 0}));
}

TEST(Extents, AreOneOfAllAccessesOfAPointer)
{
    const std::string usual = Guarded("setp.ge.s32 %p1, %r10, %r4;\n");
    EXPECT_EQ("0 to 8000", OfA({usual + "ld.global.u32 %r21, [%rd6+4000];\n", 1000, 0}));
    EXPECT_EQ("all",
              OfA({usual + "cvt.u64.u32 %rd8, %r20;\nadd.s64 %rd9, %rd1, %rd8;\nst.global.u32 [%rd9], %r1;\n", 1000, 0}));
    ExtentsKernel two(Text(usual + "add.s64 %rd7, %rd2, %rd5;\nst.global.u32 [%rd7+8], %r20;\n", ""));
    Row row = {"", 10, 0};
    EXPECT_EQ("0 to 40", One(two, row, 0));
    EXPECT_EQ("8 to 48", One(two, row, 16));
}

TEST(Extents, OfTwoDimensions)
{
    const std::string body = std::string(kIndex) + "mov.u32 %r6, %ctaid.y;\nmov.u32 %r7, %ntid.y;\nmov.u32 %r8, %tid.y;\n"
                                                   "mad.lo.s32 %r11, %r6, %r7, %r8;\nsetp.ge.s32 %p1, %r10, %r4;\n"
                                                   "setp.ge.s32 %p2, %r11, %r5;\nor.pred %p3, %p1, %p2;\n@%p3 bra DONE;\n"
                                                   "mad.lo.s32 %r10, %r11, %r4, %r10;\n";
    EXPECT_EQ("0 to 1200", OfA({body + kLoad, 100, 3, 0, "", 2, 4})); // n columns, m rows
    EXPECT_EQ("0 to 3200", OfA({body + kLoad, 100, 9, 0, "", 2, 4}));
    EXPECT_EQ("none", OfA({body + kLoad, 100, 0, 0, "", 2, 4}));
}

TEST(Extents, OfLoopsOverAGrid)
{
    const std::string begin = std::string(kIndex) + "mov.u32 %r6, %nctaid.x;\nmul.lo.s32 %r7, %r6, %r2;\n";
    const std::string first =
        begin + "NEXT:\nsetp.ge.s32 %p1, %r10, %r4;\n@%p1 bra DONE;\n" + kLoad + "add.s32 %r10, %r10, %r7;\nbra NEXT;\n";
    const std::string last = begin + "setp.ge.s32 %p1, %r10, %r4;\n@%p1 bra DONE;\nNEXT:\n" + kLoad +
                             "add.s32 %r10, %r10, %r7;\nsetp.lt.s32 %p2, %r10, %r4;\n@%p2 bra NEXT;\n";
    for (const std::string &body : {first, last}) {
        EXPECT_EQ("0 to 40000", OfA({body, 10000, 0}));
        EXPECT_EQ("none", OfA({body, 0, 0}));
        EXPECT_EQ("none", OfA({body, 0x80000000, 0}));
    }
    EXPECT_EQ("-8589934592 to 8589934592", OfA({last, 0x7fffffff, 0})); // i + 1024 may pass the end
}

TEST(Extents, OfLoopsDown)
{
    const std::string body = std::string(kIndex) + "setp.ge.s32 %p1, %r10, %r4;\n@%p1 bra DONE;\nNEXT:\n" + kLoad +
                             "sub.s32 %r10, %r10, %r5;\nsetp.ge.s32 %p2, %r10, 0;\n@%p2 bra NEXT;\n";
    EXPECT_EQ("0 to 400", OfA({body, 100, 7}));
    EXPECT_EQ("0 to 400", OfA({body, 100, 0}));
    EXPECT_EQ("0 to 8589934592", OfA({body, 100, 0xffffffff})); // it goes up
}

TEST(Extents, OfLoopsWithoutABoundAreUnknown)
{
    const std::string body = std::string("mov.u32 %r10, 0;\nNEXT:\n") + kLoad +
                             "add.s32 %r10, %r10, 1;\nsetp.ne.u32 %p1, %r20, 0;\n@%p1 bra NEXT;\n";
    EXPECT_EQ("-8589934592 to 8589934592", OfA({body, 100, 0}));
    const std::string pointer = "NEXT:\nld.global.u32 %r20, [%rd1];\nadd.s64 %rd1, %rd1, 4;\nadd.s32 %r10, %r10, 1;\n"
                                "setp.lt.s32 %p1, %r10, %r4;\n@%p1 bra NEXT;\n";
    EXPECT_EQ("all", OfA({"mov.u32 %r10, 0;\n" + pointer, 100, 0}));
}

TEST(Extents, PassTheEndsOf32Bits)
{
    EXPECT_EQ("-8589934592 to 8589934592", // i * 2^28, of 32 bits, widened then
              OfA({std::string(kIndex) + "mul.lo.s32 %r10, %r10, 268435456;\n" + kLoad, 0, 0}));
    EXPECT_EQ("0 to 1098437885956", // i * 2^28, of 64 bits
              OfA({std::string(kIndex) + "mul.wide.s32 %rd5, %r10, 268435456;\nshl.b64 %rd5, %rd5, 2;\n"
                                         "add.s64 %rd6, %rd1, %rd5;\nld.global.u32 %r20, [%rd6];\n",
                   0, 0}));
    EXPECT_EQ("-8589934592 to -8589930496", // n + i from 2^31 on
              OfA({std::string(kIndex) + "add.s32 %r10, %r10, %r4;\n" + kLoad, 0x80000000, 0}));
    EXPECT_EQ("-8589934592 to 8589934592", // from 2^31 - 1 on: both ends
              OfA({std::string(kIndex) + "add.s32 %r10, %r10, %r4;\n" + kLoad, 0x7fffffff, 0}));
    EXPECT_EQ("-8589934592 to 400", // and then below n, which the wrapped ones are, too
              OfA({Guarded("add.s32 %r10, %r10, %r5;\nsetp.ge.s32 %p1, %r10, %r4;\n"), 100, 0x7fffffff}));
    EXPECT_EQ("none", // as unsigned numbers they are above
              OfA({Guarded("add.s32 %r10, %r10, %r5;\nsetp.ge.u32 %p1, %r10, %r4;\n"), 100, 0x7fffffff}));
}

TEST(Extents, TellSignedFromUnsigned)
{
    const std::string down = "sub.s32 %r10, %r10, 5;\n";
    EXPECT_EQ("-20 to 400", OfA({Guarded(down + "setp.ge.s32 %p1, %r10, %r4;\n"), 100, 0}));
    EXPECT_EQ("0 to 400", OfA({Guarded(down + "setp.ge.u32 %p1, %r10, %r4;\n"), 100, 0}));
    EXPECT_EQ("-20 to 4076", OfA({Guarded("setp.ge.u32 %p1, %r10, %r4;\n" + down), 0x80000000, 0}));
    const std::string wide = "mul.wide.u32 %rd5, %r10, 4;\nadd.s64 %rd6, %rd1, %rd5;\nld.global.u32 %r20, [%rd6];\n";
    EXPECT_EQ("0 to 17179869184", OfA({Guarded(down + "setp.ge.s32 %p1, %r10, %r4;\n", wide), 100, 0}));
    EXPECT_EQ("0 to 400", OfA({Guarded(down + "setp.ge.u32 %p1, %r10, %r4;\n", wide), 100, 0}));
}

TEST(Extents, OfABoundThatIsNoSingleNumber)
{
    const std::string body = std::string(kIndex) + "mov.u32 %r10, %r3;\n"; // the thread; its block in %r1
    EXPECT_EQ("0 to 12", OfA({body + "setp.ge.s32 %p1, %r10, %r1;\n@%p1 bra DONE;\n" + kLoad, 0, 0}));
    EXPECT_EQ("0 to 16", OfA({body + "setp.gt.s32 %p1, %r10, %r1;\n@%p1 bra DONE;\n" + kLoad, 0, 0}));
    EXPECT_EQ("0 to 1024", OfA({body + "setp.lt.s32 %p1, %r10, %r1;\n@%p1 bra DONE;\n" + kLoad, 0, 0}));
    EXPECT_EQ("4 to 1024", OfA({body + "setp.le.s32 %p1, %r10, %r1;\n@%p1 bra DONE;\n" + kLoad, 0, 0}));
    EXPECT_EQ("0 to 16", OfA({body + "setp.ne.s32 %p1, %r10, %r1;\n@%p1 bra DONE;\n" + kLoad, 0, 0}));
    EXPECT_EQ("0 to 1024", OfA({body + "setp.eq.s32 %p1, %r10, %r1;\n@%p1 bra DONE;\n" + kLoad, 0, 0}));
    EXPECT_EQ("8 to 12", OfA({body + "setp.ne.s32 %p1, %r10, 2;\n@%p1 bra DONE;\n" + kLoad, 0, 0}));
}

TEST(Extents, OfPredicatesTogether)
{
    const std::string body = std::string(kIndex) + "setp.ge.s32 %p1, %r10, %r4;\nsetp.eq.s32 %p2, %r5, 0;\n";
    EXPECT_EQ("0 to 4096", OfA({body + "and.pred %p3, %p1, %p2;\n@%p3 bra DONE;\n" + kLoad, 10, 1}));
    EXPECT_EQ("0 to 40", OfA({body + "or.pred %p3, %p1, %p2;\n@%p3 bra DONE;\n" + kLoad, 10, 1}));
    EXPECT_EQ("0 to 4096", OfA({body + "not.pred %p1, %p1;\nor.pred %p3, %p1, %p2;\n@!%p3 bra DONE;\n" + kLoad, 10, 1}));
    EXPECT_EQ("0 to 40", OfA({body + "not.pred %p1, %p1;\nand.pred %p3, %p1, %p2;\n@!%p3 bra DONE;\n" + kLoad, 10, 1}));
    EXPECT_EQ("0 to 40", OfA({body + "setp.lt.or.s32 %p3, %r10, -5, %p1;\n@%p3 bra DONE;\n" + kLoad, 10, 1}));
    EXPECT_EQ("0 to 40", OfA({body + "setp.gt.and.s32 %p3, %r10, -5, !%p1;\n@!%p3 bra DONE;\n" + kLoad, 10, 1}));
    EXPECT_EQ("40 to 4096", OfA({body + "setp.gt.and.s32 %p3, %r10, -5, %p1;\n@!%p3 bra DONE;\n" + kLoad, 10, 1}));
    EXPECT_EQ("0 to 40", OfA({body + "mov.pred %p3, %p1;\n@%p3 bra DONE;\n" + kLoad, 10, 1}));
    // xor: one of them holds, and which one is not known
    EXPECT_EQ("0 to 4096", OfA({body + "xor.pred %p1, %p1, %p2;\n@%p1 bra DONE;\n" + kLoad, 10, 1}));
    EXPECT_EQ("0 to 4096", OfA({body + "setp.ge.xor.s32 %p1, %r10, %r4, %p2;\n@%p1 bra DONE;\n" + kLoad, 10, 1}));
    // both results of one comparison
    EXPECT_EQ("0 to 4096", OfA({body + "setp.lt.s32 %p1|%p2, %r10, 5000;\n@!%p1 bra DONE;\n" + kLoad, 10, 1}));
}

TEST(Extents, OfDivisionsBitsAndChoices)
{
    EXPECT_EQ("0 to 1024", OfA({std::string(kIndex) + "div.s32 %r10, %r10, %r4;\n" + kLoad, 4, 0}));
    EXPECT_EQ("0 to 16", OfA({std::string(kIndex) + "rem.s32 %r10, %r10, %r4;\n" + kLoad, 4, 0}));
    for (const char *name : {"div", "rem"}) {
        EXPECT_EQ("-8589934592 to 8589934592", OfA({std::string(kIndex) + name + ".s32 %r10, %r10, %r4;\n" + kLoad, 0, 0}));
        EXPECT_EQ("-8589934592 to 8589934592",
                  OfA({std::string(kIndex) + name + ".s32 %r10, %r10, %r4;\n" + kLoad, 0xffffffff, 0}));
        EXPECT_EQ("-8589934592 to 8589934592",
                  OfA({std::string(kIndex) + "sub.s32 %r10, %r10, 5;\n" + name + ".s32 %r10, %r10, 4;\n" + kLoad, 0, 0}));
    }
    EXPECT_EQ("0 to 64", OfA({std::string(kIndex) + "sub.s32 %r10, %r10, 5;\nand.b32 %r10, %r10, 15;\n" + kLoad, 0, 0}));
    EXPECT_EQ("0 to 4096", OfA({std::string(kIndex) + "and.b32 %r10, %r10, -4;\n" + kLoad, 0, 0}));
    EXPECT_EQ("0 to 4108", OfA({std::string(kIndex) + "or.b32 %r10, %r10, 3;\n" + kLoad, 0, 0}));
    EXPECT_EQ("0 to 2048", OfA({std::string(kIndex) + "shr.u32 %r10, %r10, 1;\n" + kLoad, 0, 0}));
    EXPECT_EQ("-12 to 2040", OfA({std::string(kIndex) + "sub.s32 %r10, %r10, 5;\nshr.s32 %r10, %r10, 1;\n" + kLoad, 0, 0}));
    EXPECT_EQ("-8589934592 to 8589934592", // of 31 bits
              OfA({std::string(kIndex) + "sub.s32 %r10, %r10, 5;\nshr.u32 %r10, %r10, 1;\nshl.b32 %r10, %r10, 2;\n" + kLoad,
                   0, 0}));
    EXPECT_EQ("0 to 80", OfA({std::string(kIndex) + "min.s32 %r10, %r10, 19;\n" + kLoad, 0, 0}));
    EXPECT_EQ("0 to 16", OfA({std::string(kIndex) + "min.s32 %r10, %r10, %r1;\n" + kLoad, 0, 0}));
    EXPECT_EQ("76 to 4096", OfA({std::string(kIndex) + "max.s32 %r10, %r10, 19;\n" + kLoad, 0, 0}));
    EXPECT_EQ("0 to 4096", OfA({std::string(kIndex) + "min.u32 %r10, %r10, -1;\n" + kLoad, 0, 0}));
    EXPECT_EQ("-4092 to 4", OfA({std::string(kIndex) + "neg.s32 %r10, %r10;\n" + kLoad, 0, 0}));
    EXPECT_EQ("0 to 4096",
              OfA({std::string(kIndex) + "setp.eq.s32 %p1, %r4, 0;\nselp.b32 %r10, %r10, 7, %p1;\n" + kLoad, 0, 0}));
    // two choices of the same two numbers by different predicates that nobody knows
    EXPECT_EQ("all", OfA({std::string(kIndex) +
                              "ld.global.u32 %r30, [%rd2];\nld.global.u32 %r31, [%rd2+4];\n"
                              "setp.eq.s32 %p1, %r30, 0;\nsetp.eq.s32 %p2, %r31, 0;\n"
                              "selp.b32 %r11, %r10, 7, %p1;\nselp.b32 %r10, %r10, 7, %p2;\n"
                              "setp.ge.s32 %p3, %r11, %r4;\n@%p3 bra DONE;\n" +
                              kLoad,
                          10, 0}));
    // sums of numbers that nobody knows
    EXPECT_EQ("all", OfA({"ld.global.u32 %r11, [%rd2];\nadd.s32 %r11, %r11, 1;\nld.global.u32 %r10, [%rd2];\n"
                          "add.s32 %r10, %r10, 1;\nsetp.ge.u32 %p3, %r11, %r4;\n@%p3 bra DONE;\n" +
                              std::string(kLoad),
                          10, 0}));
}

TEST(Extents, KnowOnlyWhatHoldsAtTheAccess)
{
    const std::string bound = "setp.ge.s32 %p1, %r10, %r4;\n";
    EXPECT_EQ("0 to 4096", OfA({std::string(kIndex) + kLoad + bound + "@%p1 bra DONE;\n", 10, 0})); // it comes behind
    EXPECT_EQ(
        "0 to 4096", // a return on one of two ways
        OfA({std::string(kIndex) + bound + "setp.eq.s32 %p2, %r5, 0;\n@%p2 bra OTHER;\n@%p1 bra DONE;\nOTHER:\n" + kLoad,
             10, 0}));
    EXPECT_EQ("0 to 40", // a return on both
              OfA({std::string(kIndex) + bound +
                       "setp.eq.s32 %p2, %r5, 0;\n@%p2 bra OTHER;\n@%p1 bra DONE;\nbra ON;\n"
                       "OTHER:\n@%p1 bra DONE;\nON:\n" +
                       kLoad,
                   10, 0}));
    EXPECT_EQ("0 to 4096", // a jump around the return
              OfA({std::string(kIndex) + bound + "@!%p1 bra ON;\nsetp.eq.s32 %p2, %r5, 0;\n@%p2 bra DONE;\nON:\n" + kLoad,
                   10, 0}));
    EXPECT_EQ("40 to 4096", OfA({std::string(kIndex) + bound + "@!%p1 bra DONE;\n" + kLoad, 10, 0}));
    EXPECT_EQ("0 to 40", OfA({std::string(kIndex) + bound +
                                  "mul.wide.s32 %rd5, %r10, 4;\nadd.s64 %rd6, %rd1, %rd5;\n"
                                  "@!%p1 ld.global.u32 %r20, [%rd6];\n",
                              10, 0}));
    EXPECT_EQ("0 to 40", OfA({Guarded("setp.ge.s32 %p1, %r10, %r4;\n", "bar.sync 0;\n" + std::string(kLoad)), 10, 0}));
}

TEST(Extents, DoNotMixUpPredicatesAndRegistersThatChange)
{
    const std::string bound = "setp.ge.s32 %p1, %r10, %r4;\n";
    EXPECT_EQ("4000 to 8096", // i is another one
              OfA({Guarded(bound, "add.s32 %r10, %r10, 1000;\n" + std::string(kLoad)), 5000, 0}));
    EXPECT_EQ("4000 to 4040", OfA({Guarded(bound, "add.s32 %r10, %r10, 1000;\n" + std::string(kLoad)), 10, 0}));
    EXPECT_EQ("0 to 4096", // the predicate is another one
              OfA({std::string(kIndex) + bound + "setp.ge.s32 %p1, %r10, %r5;\n@%p1 bra DONE;\n" + kLoad, 10, 5000}));
    EXPECT_EQ("all", // what is written under a guard
              OfA({Guarded(bound, "setp.eq.s32 %p2, %r5, 0;\n@%p2 mov.u32 %r10, 1000;\n" + std::string(kLoad)), 10, 0}));
    EXPECT_EQ("0 to 4096", // or may be
              OfA({std::string(kIndex) + bound +
                       "setp.eq.s32 %p2, %r5, 0;\n@%p2 setp.ge.s32 %p1, %r10, %r5;\n@%p1 bra DONE;\n" + kLoad,
                   10, 5000}));
    EXPECT_EQ("0 to 4096", // of numbers nobody knows
              OfA({Guarded("ld.global.u32 %r30, [%rd2];\nsetp.ge.s32 %p1, %r10, %r30;\n"), 10, 0}));
    EXPECT_EQ("-8589934592 to 8589934592", // i is another one on one of two ways
              OfA({Guarded(bound, "setp.eq.s32 %p2, %r5, 0;\n@%p2 bra ON;\nld.global.u32 %r10, [%rd2];\nON:\n" +
                                      std::string(kLoad)),
                   10, 0}));
    EXPECT_EQ("0 to 4000", // one of two known ones
              OfA({Guarded(bound, "setp.eq.s32 %p2, %r5, 0;\n@%p2 bra ON;\nmov.u32 %r10, 999;\nON:\n" + std::string(kLoad)),
                   10, 0}));
}

TEST(Extents, DoNotTakeAnotherThreadsBound)
{
    EXPECT_EQ("all", // what another thread put there
              OfA({std::string(kIndex) + "st.shared.u32 [tile], %r10;\nbar.sync 0;\nld.shared.u32 %r11, [tile];\n"
                                         "setp.ge.s32 %p1, %r11, %r4;\n@%p1 bra DONE;\nmul.wide.s32 %rd5, %r11, 4;\n"
                                         "add.s64 %rd6, %rd1, %rd5;\nld.global.u32 %r20, [%rd6];\n",
                   10, 0}));
    EXPECT_EQ("0 to 4096", // i of another thread is below n
              OfA({Guarded("shfl.sync.idx.b32 %r11, %r10, 0, 31, -1;\nsetp.ge.s32 %p1, %r11, %r4;\n"), 10, 0}));
    EXPECT_EQ("0 to 4096", // some thread's is
              OfA({Guarded("setp.ge.s32 %p2, %r10, %r4;\nvote.sync.all.pred %p1, %p2, -1;\n"), 10, 0}));
}

TEST(Extents, AreOfTheLastTimeInALoop)
{
    // Whether the last i was below n says nothing of this one.
    const std::string body = "mov.u32 %r10, 0;\nsetp.ge.s32 %p1, %r10, %r4;\nNEXT:\n@%p1 bra DONE;\n" + std::string(kLoad) +
                             "setp.ge.s32 %p1, %r10, %r4;\nadd.s32 %r10, %r10, 1000;\nbra NEXT;\n";
    EXPECT_EQ("-8589934592 to 8589934592", OfA({body, 10, 0}));
    // The old i is kept, which was below n, and another one is compared.
    const std::string kept = "mov.u32 %r10, 0;\nmov.u32 %r11, 0;\nNEXT:\nsetp.ge.s32 %p1, %r11, %r4;\n@%p1 bra DONE;\n" +
                             std::string(kLoad) + "mov.u32 %r10, %r11;\nld.global.u32 %r11, [%rd2];\nbra NEXT;\n";
    EXPECT_EQ("-8589934592 to 40", OfA({kept, 10, 0}));
    // A number that is loaded, and compared each time from both sides.
    const std::string loaded = "mov.u32 %r10, 0;\nNEXT:\nsetp.ge.u32 %p1, %r10, %r4;\n@%p1 bra DONE;\n" +
                               std::string(kLoad) + "mov.u32 %r10, %r20;\nbra NEXT;\n";
    EXPECT_EQ("0 to 40", OfA({loaded, 10, 0}));
}

TEST(Extents, Of64Bits)
{
    const std::string index = std::string(kIndex) + "cvt.s64.s32 %rd7, %r10;\nadd.s64 %rd8, %rd7, %rd3;\n";
    const std::string access =
        "@%p1 bra DONE;\nshl.b64 %rd5, %rd8, 2;\nadd.s64 %rd6, %rd1, %rd5;\nld.global.u32 %r20, [%rd6];\n";
    EXPECT_EQ("40 to 4136", OfA({index + "setp.ge.s64 %p1, %rd8, 5000;\n" + access, 0, 0, 10}));
    EXPECT_EQ("-40 to 80", OfA({index + "setp.ge.s64 %p1, %rd8, 20;\n" + access, 0, 0, ~UINT64_C(9)}));
    EXPECT_EQ("0 to 80", OfA({index + "setp.ge.u64 %p1, %rd8, 20;\n" + access, 0, 0, ~UINT64_C(9)}));
    EXPECT_EQ("all", OfA({index + "setp.ge.u64 %p1, %rd8, 20;\n@%p1 bra ON;\nON:\n" + access.substr(14), 0, 0, INT64_MAX}));
    EXPECT_EQ("all", OfA({index + "setp.ge.s64 %p1, %rd8, 20;\n" + access, 0, 0, UINT64_C(1) << 63})); // too far down
    EXPECT_EQ("0 to 4096",
              OfA({index + "setp.ge.u64 %p1, %rd7, %rd3;\nmov.u64 %rd8, %rd7;\n" + access, 0, 0, ~UINT64_C(0)}));
    EXPECT_EQ("-40 to 4056", OfA({index + "setp.lt.u64 %p1, %rd8, 5;\n" + access, 0, 0, ~UINT64_C(9)}));
    EXPECT_EQ("20 to 4096", OfA({index + "setp.lt.u64 %p1, %rd8, 5;\n" + access, 0, 0, 0}));
    EXPECT_EQ("0 to 1024", OfA({index + "and.b64 %rd8, %rd3, 255;\n" + access.substr(14), 0, 0, ~UINT64_C(0)}));
    EXPECT_EQ("all", OfA({index + "or.b64 %rd8, %rd3, 255;\n" + access.substr(14), 0, 0, ~UINT64_C(0)}));
    EXPECT_EQ("0 to 1048576", // w >> 46, of 18 bits
              OfA({index + "shr.u64 %rd8, %rd3, 46;\n" + access.substr(14), 0, 0, ~UINT64_C(0)}));
    EXPECT_EQ("-4 to 0", OfA({index + "shr.s64 %rd8, %rd3, 46;\n" + access.substr(14), 0, 0, ~UINT64_C(0)}));
    EXPECT_EQ("all", OfA({index + "div.u64 %rd8, %rd3, 2;\n" + access.substr(14), 0, 0, ~UINT64_C(0)}));
    EXPECT_EQ("0 to 4096", OfA({index + "cvt.u32.u64 %r10, %rd8;\n" + kLoad, 0, 0, UINT64_C(1) << 32})); // w is cut off
}

TEST(Extents, AreNotToldOfOtherWays)
{
    EXPECT_EQ("all", // one pointer or the other
              OfA({"setp.eq.s32 %p1, %r4, 0;\nselp.b64 %rd6, %rd1, %rd2, %p1;\nld.global.u32 %r20, [%rd6];\n", 0, 0}));
    EXPECT_EQ("all", // the distance of two
              OfA({"sub.s64 %rd5, %rd2, %rd1;\nadd.s64 %rd6, %rd1, %rd5;\nld.global.u32 %r20, [%rd6];\n", 0, 0}));
    EXPECT_EQ("all", OfA({"ld.global.u32 %r10, [%rd2];\n" + std::string(kLoad), 0, 0})); // an index from memory
    EXPECT_EQ("all", OfA({"mov.u32 %r10, %laneid;\n" + std::string(kLoad), 0, 0}));
    EXPECT_EQ("all", // a function, which might do anything to registers
              OfA({std::string(kIndex) + "call f, ();\n" + kLoad, 0, 0, 0, ".func f()\n{\nret;\n}\n"}));
    EXPECT_EQ("all", OfA({"and.b64 %rd6, %rd1, -8;\nld.global.u32 %r20, [%rd6];\n", 0, 0}));
}
} // namespace
