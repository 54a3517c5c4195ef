// SPDX-License-Identifier: Apache-2.0
//
// What each instruction of a kernel's text does, with literals. Loops, calls, threads and errors: ptx_threads_test.cc.
#include <string.h>

#include "tests/sim/ptx_fixture.h"

namespace
{

struct Row {
    const char *text;
    std::vector<uint64_t> in;
    uint64_t expected;
};

uint64_t F(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}
uint64_t D(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

const uint64_t kNan = 0x7fc00000;

#define ALL_OF(rows) \
    for (const Row &row : std::vector<Row> rows) \
    EXPECT_EQ(row.expected, Compute(row.text, row.in)) << row.text

TEST_F(Ptx, IntegerInstructionsHaveTheirResults)
{
    ALL_OF(({
        {"add.u32 %r9, %r1, %r2;", {0xffffffff, 2}, 1},
        {"add.s64 %rd9, %rd1, -2;", {1}, ~0ull},
        {"add.s16 %rs9, %rs1, %rs2;", {0xffff, 2}, 1},
        {"sub.u32 %r9, %r1, %r2;", {1, 2}, 0xffffffff},
        {"sub.u64 %rd9, %rd1, %rd2;", {1, 2}, ~0ull},
        {"mul.lo.s32 %r9, %r1, %r2;", {0xfffffffe, 3}, 0xfffffffa},
        {"mul.lo.u64 %rd9, %rd1, 10;", {1ull << 60}, 10ull << 60},
        {"mul.hi.u32 %r9, %r1, %r2;", {0x80000000, 6}, 3},
        {"mul.hi.s32 %r9, %r1, %r2;", {0x80000000, 6}, 0xfffffffd},
        {"mul.hi.u64 %rd9, %rd1, %rd2;", {1ull << 63, 6}, 3},
        {"mul.hi.s64 %rd9, %rd1, %rd2;", {1ull << 63, 6}, ~0ull - 2},
        {"mul.wide.u32 %rd9, %r1, %r2;", {0xffffffff, 2}, 0x1fffffffe},
        {"mul.wide.s32 %rd9, %r1, %r2;", {0xffffffff, 2}, ~0ull - 1},
        {"mul.wide.u16 %r9, %rs1, %rs2;", {0xffff, 2}, 0x1fffe},
        {"mul.wide.s16 %r9, %rs1, %rs2;", {0xffff, 2}, 0xfffffffe},
        {"mad.lo.u32 %r9, %r1, %r2, %r3;", {3, 4, 5}, 17},
        {"mad.lo.s64 %rd9, %rd1, %rd2, %rd3;", {3, 4, 5}, 17},
        {"mad.hi.u32 %r9, %r1, %r2, %r3;", {0x80000000, 6, 5}, 8},
        {"mad.wide.u32 %rd9, %r1, %r2, %rd3;", {0xffffffff, 2, 1ull << 40}, (1ull << 40) + 0x1fffffffe},
        {"mad.wide.s32 %rd9, %r1, 4, %rd3;", {0xffffffff, 0, 100}, 96},
        {"mad.lo.u32 %r1, %r1, %r2, %r1;\nmov.u32 %r9, %r1;", {3, 4}, 15},
        {"div.u32 %r9, %r1, %r2;", {0xfffffff8, 2}, 0x7ffffffc},
        {"div.s32 %r9, %r1, %r2;", {0xfffffff8, 2}, 0xfffffffc},
        {"div.s32 %r9, %r1, %r2;", {0x80000000, 0xffffffff}, 0x80000000},
        {"div.u32 %r9, %r1, %r2;", {5, 0}, 0xffffffff},
        {"div.s64 %rd9, %rd1, %rd2;", {~0ull - 8, 2}, ~0ull - 3},
        {"rem.u32 %r9, %r1, %r2;", {17, 5}, 2},
        {"rem.s32 %r9, %r1, %r2;", {0xffffffef, 5}, 0xfffffffe},
        {"rem.s32 %r9, %r1, %r2;", {0x80000000, 0xffffffff}, 0},
        {"rem.u64 %rd9, %rd1, %rd2;", {1ull << 40, 1000}, 776},
        {"min.s32 %r9, %r1, %r2;", {0xffffffff, 1}, 0xffffffff},
        {"min.u32 %r9, %r1, %r2;", {0xffffffff, 1}, 1},
        {"max.s64 %rd9, %rd1, %rd2;", {~0ull, 1}, 1},
        {"max.u16 %rs9, %rs1, %rs2;", {0xffff, 1}, 0xffff},
        {"neg.s32 %r9, %r1;", {5}, 0xfffffffb},
        {"abs.s32 %r9, %r1;", {0xfffffffb}, 5},
        {"abs.s64 %rd9, %rd1;", {~0ull}, 1},
    }));
}

TEST_F(Ptx, BitInstructionsHaveTheirResults)
{
    ALL_OF(({
        {"and.b32 %r9, %r1, %r2;", {0xff00, 0x0ff0}, 0x0f00},
        {"or.b64 %rd9, %rd1, %rd2;", {1ull << 63, 1}, 1ull << 63 | 1},
        {"xor.b16 %rs9, %rs1, %rs2;", {0xffff, 0x0f0f}, 0xf0f0},
        {"not.b32 %r9, %r1;", {0}, 0xffffffff},
        {"and.pred %p9, %p1, %p2;", {1, 0}, 0},
        {"or.pred %p9, %p1, %p2;", {1, 0}, 1},
        {"not.pred %p9, %p1;", {0}, 1},
        {"shl.b32 %r9, %r1, %r2;", {3, 31}, 0x80000000},
        {"shl.b32 %r9, %r1, %r2;", {3, 32}, 0},
        {"shl.b64 %rd9, %rd1, 40;", {3}, 3ull << 40},
        {"shr.u32 %r9, %r1, 4;", {0x80000000}, 0x08000000},
        {"shr.s32 %r9, %r1, 4;", {0x80000000}, 0xf8000000},
        {"shr.s32 %r9, %r1, 40;", {0x80000000}, 0xffffffff},
        {"shr.u64 %rd9, %rd1, 63;", {1ull << 63}, 1},
        {"shr.s64 %rd9, %rd1, 64;", {1ull << 63}, ~0ull},
        {"shr.u16 %rs9, %rs1, 15;", {0x8000}, 1},
        {"popc.b32 %r9, %r1;", {0xf0f0f0f0}, 16},
        {"popc.b64 %r9, %rd1;", {~0ull}, 64},
        {"clz.b32 %r9, %r1;", {1}, 31},
        {"clz.b32 %r9, %r1;", {0}, 32},
        {"clz.b64 %r9, %rd1;", {1}, 63},
        {"brev.b32 %r9, %r1;", {1}, 0x80000000},
        {"bfind.u32 %r9, %r1;", {0x100}, 8},
        {"bfind.s32 %r9, %r1;", {0xffffff00}, 7},
        {"bfind.u32 %r9, %r1;", {0}, 0xffffffff},
        {"bfe.u32 %r9, %r1, 4, 8;", {0xabcd}, 0xbc},
        {"bfe.s32 %r9, %r1, 4, 8;", {0xabcd}, 0xffffffbc},
        {"bfe.s32 %r9, %r1, 28, 8;", {0x80000000}, 0xfffffff8},
        {"bfe.u32 %r9, %r1, 0, 0;", {0xabcd}, 0},
        {"bfe.u64 %rd9, %rd1, 32, 16;", {0x1234abcd00000000}, 0xabcd},
        {"bfe.s64 %rd9, %rd1, 0, 64;", {~0ull - 1}, ~0ull - 1},
        {"bfi.b32 %r9, %r1, %r2, 8, 4;", {0xff, 0}, 0xf00},
        {"bfi.b64 %rd9, %rd1, %rd2, 40, 8;", {0xab, ~0ull}, 0xffffabffffffffff},
        {"prmt.b32 %r9, %r1, %r2, 0x5410;", {0x33221100, 0x77665544}, 0x55441100},
        {"prmt.b32 %r9, %r1, %r2, 0xbb3b;", {0x80221100, 0}, 0xffff80ff},
        {"lop3.b32 %r9, %r1, %r2, %r3, 0x96;", {0xf0, 0xcc, 0xaa}, 0xf0 ^ 0xcc ^ 0xaa},
        {"lop3.b32 %r9, %r1, %r2, %r3, 0x80;", {0xf0, 0xcc, 0xaa}, 0x80},
        {"lop3.b32 %r9, %r1, %r2, %r3, 0xf0;", {0xf0, 0xcc, 0xaa}, 0xf0},
        {"shf.l.wrap.b32 %r9, %r1, %r2, 8;", {0x11223344, 0x55667788}, 0x66778811},
        {"shf.r.wrap.b32 %r9, %r1, %r2, 40;", {0x11223344, 0x55667788}, 0x88112233},
        {"shf.r.clamp.b32 %r9, %r1, %r2, 40;", {0x11223344, 0x55667788}, 0x55667788},
    }));
}

TEST_F(Ptx, FloatInstructionsHaveTheirResults)
{
    ALL_OF(({
        {"add.f32 %f9, %f1, %f2;", {F(1.5f), F(2)}, F(3.5f)},
        {"sub.rn.f32 %f9, %f1, 0f3F800000;", {F(1.5f)}, F(0.5f)},
        {"mul.ftz.f32 %f9, %f1, %f2;", {F(1.5f), F(-2)}, F(-3)},
        {"fma.rn.f32 %f9, %f1, %f2, %f3;", {F(16777217.f), F(1), F(1)}, F(16777216.f)},
        {"fma.rn.f64 %fd9, %fd1, %fd2, %fd3;", {D(0.1), D(10), D(-1)}, D(5.5511151231257827e-17)},
        {"mad.rn.f32 %f9, %f1, %f2, %f3;", {F(2), F(3), F(4)}, F(10)},
        {"div.rn.f32 %f9, %f1, %f2;", {F(1), F(3)}, F(1.f / 3)},
        {"div.approx.f32 %f9, %f1, %f2;", {F(1), F(4)}, F(0.25f)},
        {"div.rn.f64 %fd9, %fd1, %fd2;", {D(1), D(3)}, D(1. / 3)},
        {"add.f64 %fd9, %fd1, 0d3FF0000000000000;", {D(0.5)}, D(1.5)},
        {"min.f32 %f9, %f1, %f2;", {kNan, F(2)}, F(2)},
        {"min.f32 %f9, %f1, %f2;", {F(2), kNan}, F(2)},
        {"max.f64 %fd9, %fd1, %fd2;", {D(1), D(-2)}, D(1)},
        {"neg.f32 %f9, %f1;", {F(1)}, F(-1)},
        {"abs.f64 %fd9, %fd1;", {D(-1)}, D(1)},
        {"sqrt.rn.f32 %f9, %f1;", {F(9)}, F(3)},
        {"rcp.rn.f64 %fd9, %fd1;", {D(4)}, D(0.25)},
        {"mov.f32 %f9, 0fBF800000;", {}, F(-1)},
        {"mov.f64 %fd9, 1.5;", {}, D(1.5)},
    }));
}

TEST_F(Ptx, ComparisonsSetPredicates)
{
    ALL_OF(({
        {"setp.eq.s32 %p9, %r1, %r2;", {3, 3}, 1},
        {"setp.ne.b64 %p9, %rd1, %rd2;", {1ull << 40, 0}, 1},
        {"setp.eq.b32 %p9, %r1, %r2;", {1ull << 40, 0}, 1},
        {"setp.lt.s32 %p9, %r1, %r2;", {0xffffffff, 1}, 1},
        {"setp.lt.u32 %p9, %r1, %r2;", {0xffffffff, 1}, 0},
        {"setp.lo.u32 %p9, %r1, %r2;", {1, 2}, 1},
        {"setp.hs.u32 %p9, %r1, %r2;", {2, 2}, 1},
        {"setp.le.s64 %p9, %rd1, -1;", {~0ull}, 1},
        {"setp.gt.u16 %p9, %rs1, %rs2;", {0x1ffff, 1}, 1},
        {"setp.ge.s16 %p9, %rs1, %rs2;", {0xffff, 0}, 0},
        {"setp.lt.and.s32 %p9, %r1, %r2, %p3;", {1, 2, 0}, 0},
        {"setp.lt.and.s32 %p9, %r1, %r2, !%p3;", {1, 2, 0}, 1},
        {"setp.lt.or.s32 %p9, %r1, %r2, %p3;", {2, 1, 1}, 1},
        {"setp.lt.xor.s32 %p9, %r1, %r2, %p3;", {1, 2, 1}, 0},
        {"setp.lt.s32 %p8|%p9, %r1, %r2;", {1, 2}, 0},
        {"setp.lt.or.s32 %p3|%p9, %r1, %r2, %p3;", {1, 2, 0}, 0},
        {"setp.lt.f32 %p9, %f1, %f2;", {F(-1), F(1)}, 1},
        {"setp.lt.f32 %p9, %f1, %f2;", {kNan, F(1)}, 0},
        {"setp.ltu.f32 %p9, %f1, %f2;", {kNan, F(1)}, 1},
        {"setp.ne.f32 %p9, %f1, %f2;", {kNan, F(1)}, 0},
        {"setp.neu.f32 %p9, %f1, %f2;", {kNan, F(1)}, 1},
        {"setp.equ.f64 %p9, %fd1, %fd2;", {D(1), D(2)}, 0},
        {"setp.num.f32 %p9, %f1, %f2;", {kNan, F(1)}, 0},
        {"setp.nan.f32 %p9, %f1, %f2;", {kNan, F(1)}, 1},
        {"setp.geu.f64 %p9, %fd1, %fd2;", {D(2), D(2)}, 1},
        {"selp.b32 %r9, %r1, %r2, %p3;", {1, 2, 0}, 2},
        {"selp.f64 %fd9, %fd1, %fd2, %p3;", {D(1), D(2), 1}, D(1)},
        {"slct.u32.s32 %r9, %r1, %r2, %r3;", {1, 2, 0xffffffff}, 2},
        {"set.lt.u32.s32 %r9, %r1, %r2;", {1, 2}, 0xffffffff},
        {"mov.pred %p9, %p1;", {7}, 1},
    }));
}

TEST_F(Ptx, ConversionsAndMoves)
{
    ALL_OF(({
        {"cvt.u64.u32 %rd9, %r1;", {0xffffffff}, 0xffffffff},
        {"cvt.s64.s32 %rd9, %r1;", {0xffffffff}, ~0ull},
        {"cvt.u32.u64 %r9, %rd1;", {0x1234567890}, 0x34567890},
        {"cvt.s32.s8 %r9, %r1;", {0x180}, 0xffffff80},
        {"cvt.u32.u16 %r9, %rs1;", {0xffff}, 0xffff},
        {"cvt.s16.s8 %rs9, %rs1;", {0x80}, 0xff80},
        {"cvt.sat.u8.s32 %r9, %r1;", {300}, 255},
        {"cvt.sat.u8.s32 %r9, %r1;", {0xffffffff}, 0},
        {"cvt.sat.s8.s32 %r9, %r1;", {0xffff0000}, 0xffffff80},
        {"cvt.rn.f32.s32 %f9, %r1;", {0xffffffff}, F(-1)},
        {"cvt.rn.f32.u32 %f9, %r1;", {0xffffffff}, F(4294967296.f)},
        {"cvt.rn.f64.s64 %fd9, %rd1;", {~0ull}, D(-1)},
        {"cvt.rzi.s32.f32 %r9, %f1;", {F(-1.75f)}, 0xffffffff},
        {"cvt.rni.s32.f32 %r9, %f1;", {F(2.5f)}, 2},
        {"cvt.rmi.s32.f32 %r9, %f1;", {F(-1.25f)}, 0xfffffffe},
        {"cvt.rpi.u32.f32 %r9, %f1;", {F(1.25f)}, 2},
        {"cvt.rzi.u32.f32 %r9, %f1;", {F(-3)}, 0},
        {"cvt.rzi.s32.f32 %r9, %f1;", {F(1e20f)}, 0x7fffffff},
        {"cvt.rzi.s64.f64 %rd9, %fd1;", {D(-1e300)}, 1ull << 63},
        {"cvt.rzi.u64.f64 %rd9, %fd1;", {D(1e19)}, 10000000000000000000ull},
        {"cvt.rzi.s64.f32 %rd9, %f1;", {kNan}, 0},
        {"cvt.f64.f32 %fd9, %f1;", {F(0.1f)}, D(0.1f)},
        {"cvt.rn.f32.f64 %f9, %fd1;", {D(0.1)}, F(0.1f)},
        {"cvt.rni.f32.f32 %f9, %f1;", {F(1.5f)}, F(2)},
        {"mov.b64 %rd9, {%r1, %r2};", {0x11111111, 0x22222222}, 0x2222222211111111},
        {"mov.b32 %r9, {%rs1, %rs2};", {0x11111, 0x22222}, 0x22221111},
        {"mov.b64 {%r8, %r9}, %rd1;", {0x2222222211111111}, 0x22222222},
        {"mov.b64 {%r9, _}, %rd1;", {0x2222222211111111}, 0x11111111},
        {"mov.b32 {%rs8, %rs9}, %r1;", {0x22221111}, 0x2222},
        {"mov.u32 %r9, WARP_SZ;", {}, 32},
        {"mov.u32 %r9, -1;", {}, 0xffffffff},
        {"mov.u64 %rd9, 0xffffffffffffffff;", {}, ~0ull},
    }));
}

TEST_F(Ptx, AGuardedInstructionRunsWhereItsPredicateIsTrue)
{
    ALL_OF(({
        {"mov.u32 %r9, 1;\n@%p1 mov.u32 %r9, 2;", {1}, 2},
        {"mov.u32 %r9, 1;\n@%p1 mov.u32 %r9, 2;", {0}, 1},
        {"mov.u32 %r9, 1;\n@!%p1 mad.wide.u32 %rd9, %r1, 2, 5;\n@!%p1 cvt.u32.u64 %r9, %rd9;", {0}, 5},
        {"mov.u32 %r9, 1;\n@%p1 bra OVER;\nmov.u32 %r9, 2;\nOVER:", {1}, 1},
    }));
}

TEST_F(Ptx, LoadsAndStoresOfAllWidths)
{
    In({0x8877665544332211, 0xffeeddccbbaa9988});
    std::vector<uint32_t> got =
        Run("ld.global.u8 %r1, [%rd21+7];\nst.global.u32 [%rd20], %r1;\n"
            "ld.global.s8 %r1, [%rd21+7];\nst.global.u32 [%rd20+4], %r1;\n"
            "ld.global.s16 %r1, [%rd21+6];\nst.global.u32 [%rd20+8], %r1;\n"
            "ld.global.u16 %rs1, [%rd21+2];\nst.global.u16 [%rd20+12], %rs1;\n"
            "ld.global.s32 %rd1, [%rd21+4];\nst.global.u64 [%rd20+16], %rd1;\n"
            "ld.global.v2.u32 {%r1, %r2}, [%rd21];\nst.global.v2.u32 [%rd20+24], {%r2, %r1};\n"
            "ld.global.nc.v4.u32 {%r1, %r2, _, %r4}, [%rd21];\nst.global.v4.b32 [%rd20+32], {%r4, %r2, 7, %r1};\n"
            "ld.v2.u64 {%rd1, %rd2}, [%rd21];\nst.u64 [%rd20+48], %rd2;\nst.global.u8 [%rd20+48], 1;\n"
            "add.u64 %rd3, %rd21, 16;\nld.global.u32 %r1, [%rd3+-4];\nst.global.cg.u32 [%rd20+56], %r1;\n",
            15);
    EXPECT_EQ((std::vector<uint32_t>{0x88, 0xffffff88, 0xffff8877, 0x4433, 0x88776655, 0xffffffff, 0x88776655, 0x44332211,
                                     0xffeeddcc, 0x88776655, 7, 0x44332211, 0xbbaa9901, 0xffeeddcc, 0xffeeddcc}),
              got);
}

TEST_F(Ptx, SharedLocalAndConstantMemory)
{
    std::vector<uint32_t> got =
        Run(".shared .align 8 .b8 own[16];\n.local .align 8 .b8 stack[32];\n.reg .b64 %SP;\n"
            "st.shared.u32 [own+4], 5;\nmov.u32 %r1, own;\nld.shared.u32 %r2, [%r1+4];\nst.global.u32 [%rd20], %r2;\n"
            "cvta.shared.u64 %rd1, %rd30;\nmov.u64 %rd2, own;\ncvta.shared.u64 %rd2, %rd2;\nld.u32 %r2, [%rd2+4];\n"
            "st.global.u32 [%rd20+4], %r2;\n"
            "mov.u64 %rd3, stack;\nst.local.u32 [%rd3+8], 6;\ncvta.local.u64 %SP, %rd3;\nld.u32 %r2, [%SP+8];\n"
            "st.global.u32 [%rd20+8], %r2;\n"
            "ld.const.u32 %r2, [fixed+4];\nst.global.u32 [%rd20+12], %r2;\n"
            "ld.global.u64 %rd4, [where];\nld.u32 %r2, [%rd4];\nst.global.u32 [%rd20+16], %r2;\n"
            "st.shared.u32 [more+8], 9;\nmov.u32 %r3, more;\nld.shared.u32 %r2, [%r3+8];\nst.global.u32 [%rd20+20], %r2;\n"
            "isspacep.shared %p1, %rd2;\nselp.u32 %r2, 1, 0, %p1;\nst.global.u32 [%rd20+24], %r2;\n"
            "mov.b64 %rd5, k_in;\nld.param.u64 %rd6, [%rd5];\ncvta.param.u64 %rd5, %rd5;\nld.u64 %rd7, [%rd5];\n"
            "setp.eq.u64 %p1, %rd6, %rd7;\nsetp.eq.and.u64 %p1, %rd6, %rd21, %p1;\nselp.u32 %r2, 1, 0, %p1;\n"
            "st.global.u32 [%rd20+28], %r2;\ncvta.to.shared.u64 %rd2, %rd2;\nld.shared.u32 %r2, [%rd2+4];\n"
            "st.global.u32 [%rd20+32], %r2;\n",
            9,
            ".const .align 4 .u32 fixed[2] = {1, 77};\n.global .align 4 .u32 array[4] = {1, 2, 3};\n"
            ".global .align 8 .u64 where = array+8;\n.extern .shared .align 16 .b8 more[];\n",
            1, 1, 16);
    EXPECT_EQ((std::vector<uint32_t>{5, 5, 6, 77, 3, 9, 1, 1, 5}), got);
}

TEST_F(Ptx, FirstValuesOfVariables)
{
    std::vector<uint32_t> got =
        Run("ld.global.u64 %rd1, [table+8];\nld.u16 %rs1, [%rd1+2];\nst.global.u16 [%rd20], %rs1;\n"
            "ld.global.u64 %rd1, [table];\nld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd20+4], %r1;\n"
            "ld.global.u64 %rd1, [table+16];\nst.global.u32 [%rd20+8], %rd1;\n"
            "ld.global.u32 %r1, [bits+4];\nst.global.u32 [%rd20+12], %r1;\n",
            4,
            ".global .align 2 .u16 half[3] = {1, 2, 3};\n.global .s32 minus = -5;\n"
            ".global .align 8 .u64 table[3] = {generic(minus), half, 42};\n"
            ".global .align 4 .f32 bits[2] = {1.5, -2.0};\n");
    EXPECT_EQ((std::vector<uint32_t>{2, 0xfffffffb, 42, 0xc0000000}), got);
}

TEST_F(Ptx, AtomicsReturnTheOldValue)
{
    struct {
        const char *text;
        uint64_t before, with, third, after;
    } const rows[] = {
        {"atom.global.add.u32 %r9, [%rd21], %r1;", 5, 3, 0, 8},
        {"atom.add.s32 %r9, [%rd21], %r1;", 5, 0xffffffff, 0, 4},
        {"atom.global.add.u64 %rd9, [%rd21], %rd1;", 1ull << 40, 3, 0, (1ull << 40) + 3},
        {"atom.global.add.f32 %f9, [%rd21], %f1;", F(1), F(2), 0, F(3)},
        {"atom.global.add.f64 %fd9, [%rd21], %fd1;", D(1), D(2), 0, D(3)},
        {"atom.global.min.s32 %r9, [%rd21], %r1;", 5, 0xffffffff, 0, 0xffffffff},
        {"atom.global.min.u32 %r9, [%rd21], %r1;", 5, 0xffffffff, 0, 5},
        {"atom.global.max.s64 %rd9, [%rd21], %rd1;", 5, ~0ull, 0, 5},
        {"atom.global.max.u64 %rd9, [%rd21], %rd1;", 5, ~0ull, 0, ~0ull},
        {"atom.global.and.b32 %r9, [%rd21], %r1;", 12, 10, 0, 8},
        {"atom.global.or.b64 %rd9, [%rd21], %rd1;", 12, 10, 0, 14},
        {"atom.global.xor.b32 %r9, [%rd21], %r1;", 12, 10, 0, 6},
        {"atom.global.exch.b32 %r9, [%rd21], %r1;", 12, 10, 0, 10},
        {"atom.global.cas.b32 %r9, [%rd21], %r1, %r2;", 12, 12, 7, 7},
        {"atom.global.cas.b64 %rd9, [%rd21], %rd1, %rd2;", 12, 13, 7, 12},
        {"atom.acq_rel.gpu.global.inc.u32 %r9, [%rd21], %r1;", 12, 12, 0, 0},
        {"atom.global.dec.u32 %r9, [%rd21], %r1;", 0, 12, 0, 12},
        {"mov.b64 %rd9, 0;\nred.global.add.u32 [%rd21], %r1;\nld.global.u64 %rd9, [%rd21];", 5, 3, 0, 8},
        {"red.relaxed.sys.global.or.b32 [%rd21], %r1;\nld.global.u64 %rd9, [%rd21];", 4, 3, 0, 7},
    };
    for (const auto &row : rows) {
        std::string text = row.text;
        bool red = text.find("red") != std::string::npos;
        std::string copy = "ld.global.u64 %rd1, [%rd21+8];\nld.global.u64 %rd2, [%rd21+16];\nmov.b64 {%r1, %r50}, %rd1;\n"
                           "mov.b64 {%r2, %r50}, %rd2;\nmov.b32 %f1, %r1;\nmov.b64 %fd1, %rd1;\n";
        EXPECT_EQ(red ? row.after : row.before, Compute(copy + text, {row.before, row.with, row.third})) << text;
        uint64_t after = 0;
        EXPECT_EQ(CUDA_SUCCESS, cuMemcpyDtoH_v2(&after, in_, sizeof after));
        EXPECT_EQ(row.after, after) << text;
    }
    EXPECT_EQ(100u, Run(".shared .align 4 .u32 sum;\natom.shared.add.u32 %r1, [sum], 1;\nbar.sync 0;\n"
                        "ld.shared.u32 %r2, [sum];\nst.global.u32 [%rd20], %r2;",
                        1, "", 1, 100)[0]);
}

} // namespace
