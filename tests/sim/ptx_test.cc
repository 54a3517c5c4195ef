// SPDX-License-Identifier: Apache-2.0
//
// Kernels as PTX text: what each instruction does, with literals; loops, calls, blocks and grids; waiting; what is refused.
#include <string.h>
#include <time.h>

#include <string>
#include <vector>

#include "tests/sim/driver_fixture.h"

namespace
{

const char kHead[] = ".version 7.7\n.target sm_70\n.address_size 64\n";
const char kRegisters[] = ".reg .pred %p<16>;\n.reg .b16 %rs<16>;\n.reg .b32 %r<64>;\n.reg .b64 %rd<64>;\n"
                          ".reg .f32 %f<16>;\n.reg .f64 %fd<16>;\n"
                          "ld.param.u64 %rd20, [k_out];\nld.param.u64 %rd21, [k_in];\n";

class Ptx : public Driver
{
protected:
    void SetUp() override
    {
        Driver::SetUp();
        out_ = Words(1024, 0), in_ = Words(1024, 0);
    }
    void TearDown() override
    {
        for (CUmodule m : modules_)
            EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(m));
        for (CUdeviceptr p : {out_, in_})
            EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(p));
        Driver::TearDown();
    }
    // k(out, in), whose registers are declared and whose pointers are in %rd20 and %rd21.
    CUfunction Kernel(const std::string &body, const std::string &before = "")
    {
        CUmodule m = nullptr;
        CUfunction f = nullptr;
        std::string text = kHead + before + "\n.visible .entry k(.param .u64 k_out, .param .u64 k_in)\n{\n" + kRegisters +
                           body + "\nret;\n}\n";
        EXPECT_EQ(CUDA_SUCCESS, cuModuleLoadData(&m, text.c_str()));
        modules_.push_back(m);
        EXPECT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&f, m, "k"));
        return f;
    }
    CUresult Start(CUfunction f, unsigned grid = 1, unsigned block = 1, unsigned shared = 0)
    {
        void *parameters[] = {&out_, &in_};
        return cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, nullptr, parameters, nullptr);
    }
    std::vector<uint32_t> Out(size_t words)
    {
        std::vector<uint32_t> got(words);
        EXPECT_EQ(CUDA_SUCCESS, cuMemcpyDtoH_v2(got.data(), out_, words * 4));
        return got;
    }
    std::vector<uint32_t> Run(const std::string &body, size_t words, const std::string &before = "", unsigned grid = 1,
                              unsigned block = 1, unsigned shared = 0)
    {
        EXPECT_EQ(CUDA_SUCCESS, Start(Kernel(body, before), grid, block, shared)) << body;
        return Out(words);
    }
    void In(const std::vector<uint64_t> &values)
    {
        EXPECT_EQ(CUDA_SUCCESS, cuMemcpyHtoD_v2(in_, values.data(), values.size() * 8));
    }
    // What `text` leaves in one of %p9, %rs9, %r9, %rd9, %f9, %fd9, from the first three of `in` in 1 to 3 of each kind.
    uint64_t Compute(const std::string &text, const std::vector<uint64_t> &in)
    {
        std::string body, n;
        In(in);
        for (size_t i = 0; i < in.size(); i++) {
            n = std::to_string(i + 1);
            body += "ld.global.u64 %rd" + n + ", [%rd21+" + std::to_string(8 * i) + "];\ncvt.u32.u64 %r" + n + ", %rd" + n +
                    ";\ncvt.u16.u64 %rs" + n + ", %rd" + n + ";\nmov.b32 %f" + n + ", %r" + n + ";\nmov.b64 %fd" + n +
                    ", %rd" + n + ";\nsetp.ne.u64 %p" + n + ", %rd" + n + ", 0;\n";
        }
        body += text + "\n";
        auto has = [&](const char *name) { return text.find(name) != std::string::npos; };
        if (has("%p9"))
            body += "selp.u64 %rd9, 1, 0, %p9;\n";
        else if (has("%rs9"))
            body += "cvt.u64.u16 %rd9, %rs9;\n";
        else if (has("%r9"))
            body += "cvt.u64.u32 %rd9, %r9;\n";
        else if (has("%f9"))
            body += "mov.b32 %r9, %f9;\ncvt.u64.u32 %rd9, %r9;\n";
        else if (has("%fd9"))
            body += "mov.b64 %rd9, %fd9;\n";
        std::vector<uint32_t> got = Run(body + "st.global.u64 [%rd20], %rd9;", 2);
        return got[0] | uint64_t{got[1]} << 32;
    }
    CUdeviceptr out_ = 0, in_ = 0;
    std::vector<CUmodule> modules_;
};

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

TEST_F(Ptx, Integers)
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

TEST_F(Ptx, Bits)
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

TEST_F(Ptx, Floats)
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
        {"max.f64 %fd9, %fd1, %fd2;", {D(1), D(-2)}, D(1)},
        {"neg.f32 %f9, %f1;", {F(1)}, F(-1)},
        {"abs.f64 %fd9, %fd1;", {D(-1)}, D(1)},
        {"sqrt.rn.f32 %f9, %f1;", {F(9)}, F(3)},
        {"rcp.rn.f64 %fd9, %fd1;", {D(4)}, D(0.25)},
        {"mov.f32 %f9, 0fBF800000;", {}, F(-1)},
        {"mov.f64 %fd9, 1.5;", {}, D(1.5)},
    }));
}

TEST_F(Ptx, Comparisons)
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
        {"setp.lt.or.s32 %p3|%p9, %r1, %r2, %p3;", {1, 2, 1}, 1},
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
        {"cvt.rzi.s32.f32 %r9, %f1;", {kNan}, 0},
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

TEST_F(Ptx, PredicatesGuard)
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

TEST_F(Ptx, Atomics)
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

TEST_F(Ptx, SpecialRegistersOfEachThread)
{
    const char body[] =
        "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %nctaid.x;\n"
        "mad.lo.u32 %r5, %r3, %r2, %r1;\nmul.wide.u32 %rd1, %r5, 4;\nadd.u64 %rd1, %rd20, %rd1;\n"
        "mul.lo.u32 %r4, %r4, 1000;\nmov.u32 %r6, %laneid;\nmov.u32 %r7, %warpid;\nmad.lo.u32 %r6, %r7, 100, %r6;\n"
        "add.u32 %r6, %r6, %r4;\nst.global.u32 [%rd1], %r6;\n";
    std::vector<uint32_t> got = Run(body, 128, "", 2, 64);
    EXPECT_EQ(2000u, got[0]);
    EXPECT_EQ(2131u, got[63]);
    EXPECT_EQ(2000u, got[64]);
    EXPECT_EQ(2101u, got[97]);
    CUfunction f = Kernel("mov.u32 %r1, %tid.y;\nmov.u32 %r2, %tid.z;\nmad.lo.u32 %r1, %r2, 10, %r1;\n"
                          "mov.u32 %r2, %ctaid.y;\nmad.lo.u32 %r1, %r2, 100, %r1;\nred.global.add.u32 [%rd20], %r1;\n");
    void *parameters[] = {&out_, &in_};
    EXPECT_EQ(CUDA_SUCCESS, cuMemsetD32_v2(out_, 0, 1));
    EXPECT_EQ(CUDA_SUCCESS, cuLaunchKernel(f, 1, 3, 1, 1, 2, 3, 0, nullptr, parameters, nullptr));
    EXPECT_EQ(3u * (3 * 1 + 2 * 10 * (0 + 1 + 2)) + 6 * 100 * (0 + 1 + 2), Out(1)[0]);
}

TEST_F(Ptx, LoopsAndScopes)
{
    EXPECT_EQ(5050u, Run("mov.u32 %r1, 0;\nmov.u32 %r2, 0;\n$L__BB0_1:\nadd.u32 %r1, %r1, 1;\nadd.u32 %r2, %r2, %r1;\n"
                         "setp.lt.u32 %p1, %r1, 100;\n@%p1 bra.uni $L__BB0_1;\nst.global.u32 [%rd20], %r2;",
                         1)[0]);
    EXPECT_EQ(36u, Run("mov.u32 %r1, 0;\nmov.u32 %r2, 0;\n"
                       "{\n.reg .u32 %r1;\n.reg .pred p;\nmov.u32 %r1, 0;\nAGAIN: add.u32 %r1, %r1, 1;\n"
                       "add.u32 %r2, %r2, 2;\nsetp.lt.u32 p, %r1, 3;\n@p bra AGAIN;\n}\n"
                       "{\n.reg .u32 %r1;\n.reg .pred p;\nmov.u32 %r1, 0;\nAGAIN: add.u32 %r1, %r1, 1;\n"
                       "add.u32 %r2, %r2, 10;\nsetp.lt.u32 p, %r1, 3;\n@p bra AGAIN;\n}\n"
                       "add.u32 %r2, %r2, %r1;\nst.global.u32 [%rd20], %r2;",
                       1)[0]);
    EXPECT_EQ(1u, Run(".loc 1 2 3\n.pragma \"nounroll\";\nst.global.u32 [%rd20], 1;\n@%p1 bra NOWHERE;\nexit;\nNOWHERE:\n"
                      "st.global.u32 [%rd20], 2;",
                      1)[0]);
}

TEST_F(Ptx, Calls)
{
    const char before[] = ".func (.param .b32 back) twice(.param .b32 x);\n"
                          ".visible .func (.param .b32 back) fib(.param .b32 x)\n{\n.reg .b32 %r<8>;\n.reg .pred %p<2>;\n"
                          "ld.param.u32 %r1, [x];\nsetp.lt.u32 %p1, %r1, 2;\n@%p1 bra SMALL;\n"
                          "sub.u32 %r2, %r1, 1;\n{\n.param .b32 a;\n.param .b32 r;\nst.param.b32 [a+0], %r2;\n"
                          "call.uni (r), fib, (a);\nld.param.b32 %r3, [r+0];\n}\n"
                          "sub.u32 %r2, %r1, 2;\n{\n.param .b32 a;\n.param .b32 r;\nst.param.b32 [a+0], %r2;\n"
                          "call.uni (r), fib, (a);\nld.param.b32 %r4, [r+0];\n}\nadd.u32 %r1, %r3, %r4;\n"
                          "SMALL:\nst.param.b32 [back+0], %r1;\nret;\n}\n"
                          ".func (.reg .u32 back) sum(.reg .u32 x, .reg .u32 y)\n{\nadd.u32 back, x, y;\nret;\n}\n"
                          ".func writes(.param .b64 where)\n{\n.reg .b64 %rd<2>;\n.local .align 4 .b8 own[8];\n"
                          "ld.param.u64 %rd1, [where];\nst.u32 [%rd1+4], 9;\nret;\n}\n"
                          ".func (.param .b32 back) twice(.param .b32 x)\n{\n.reg .u32 %r<3>;\nld.param.u32 %r1, [x];\n"
                          "add.u32 %r1, %r1, %r1;\nst.param.u32 [back], %r1;\n}\n";
    std::vector<uint32_t> got =
        Run("{\n.param .b32 a;\n.param .b32 r;\nst.param.b32 [a], 10;\ncall (r), fib, (a);\nld.param.u32 %r1, [r];\n}\n"
            "st.global.u32 [%rd20], %r1;\ncall (%r2), sum, (%r1, 5);\nst.global.u32 [%rd20+4], %r2;\n"
            ".local .align 8 .b8 stack[8];\nmov.u64 %rd1, stack;\ncvta.local.u64 %rd1, %rd1;\nst.local.u32 [stack+4], 1;\n"
            "{\n.param .b64 a;\nst.param.b64 [a], %rd1;\ncall writes, (a);\n}\nld.local.u32 %r3, [stack+4];\n"
            "st.global.u32 [%rd20+8], %r3;\nmov.u64 %rd2, twice;\n"
            "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
            "{\n.param .b32 a;\n.param .b32 r;\nst.param.b32 [a], 21;\ncall (r), %rd2, (a), P;\nld.param.u32 %r1, [r];\n}\n"
            "st.global.u32 [%rd20+12], %r1;\nld.global.u64 %rd2, [functions+8];\n"
            "{\n.param .b32 a;\n.param .b32 r;\nst.param.b32 [a], 7;\ncall (r), %rd2, (a), P;\nld.param.u32 %r1, [r];\n}\n"
            "st.global.u32 [%rd20+16], %r1;\n",
            5, before + std::string(".global .align 8 .u64 functions[2] = {fib, twice};\n"));
    EXPECT_EQ((std::vector<uint32_t>{55, 60, 9, 42, 14}), got);
}

TEST_F(Ptx, ABlockMeetsAtItsBarrier)
{
    // Each thread gets what its neighbour wrote, ten times.
    const char body[] =
        ".shared .align 4 .b8 words[512];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %r1;\n"
        "mov.u64 %rd1, words;\nmul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd2, %rd1, %rd2;\nadd.u32 %r4, %r1, 1;\n"
        "rem.u32 %r4, %r4, %r2;\nmul.wide.u32 %rd3, %r4, 4;\nadd.u64 %rd3, %rd1, %rd3;\nmov.u32 %r5, 0;\n"
        "LOOP:\nst.shared.u32 [%rd2], %r3;\nbar.sync 0;\nld.shared.u32 %r3, [%rd3];\nbar.sync 0;\n"
        "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 10;\n@%p1 bra LOOP;\n"
        "mov.u32 %r6, %ctaid.x;\nmad.lo.u32 %r6, %r6, %r2, %r1;\nmul.wide.u32 %rd4, %r6, 4;\n"
        "add.u64 %rd4, %rd20, %rd4;\nst.global.u32 [%rd4], %r3;\n";
    std::vector<uint32_t> got = Run(body, 384, "", 3, 128);
    for (uint32_t i = 0; i < got.size(); i++)
        ASSERT_EQ((i % 128 + 10) % 128, got[i]) << i;
}

// A lock, and a thread that waits for a later one.
TEST_F(Ptx, ThreadsOfAGridWaitForEachOther)
{
    std::vector<uint32_t> got =
        Run("mov.u32 %r1, %ctaid.x;\nsetp.eq.u32 %p1, %r1, 7;\n@%p1 bra LAST;\n"
            "WAIT:\nld.volatile.global.u32 %r2, [%rd21];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra WAIT;\n"
            "LOCK:\natom.global.cas.b32 %r3, [%rd21+4], 0, 1;\nsetp.ne.u32 %p2, %r3, 0;\n"
            "@%p2 bra LOCK;\nld.global.u32 %r4, [%rd20];\nadd.u32 %r4, %r4, 1;\nnanosleep.u32 100;\n"
            "st.global.u32 [%rd20], %r4;\natom.global.exch.b32 %r3, [%rd21+4], 0;\nret;\n"
            "LAST:\nst.release.sys.global.u32 [%rd21], 1;\nfence.acq_rel.sys;\n",
            1, "", 8, 16);
    EXPECT_EQ(7u * 16, got[0]);
}

uint64_t Now(clockid_t clock = CLOCK_MONOTONIC)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return uint64_t(t.tv_sec) * 1000000000 + uint64_t(t.tv_nsec);
}

// All threads spin at once, and nobody burns the processor.
TEST_F(Ptx, TimeThatPasses)
{
    CUfunction spin = Kernel("mov.u64 %rd1, %globaltimer;\nAGAIN:\nmov.u64 %rd2, %globaltimer;\nsub.u64 %rd3, %rd2, %rd1;\n"
                             "setp.lt.u64 %p1, %rd3, 40000000;\n@%p1 bra AGAIN;\nred.global.add.u32 [%rd20], 1;");
    uint64_t from = Now(), used = Now(CLOCK_PROCESS_CPUTIME_ID);
    EXPECT_EQ(CUDA_SUCCESS, Start(spin, 4, 64));
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    EXPECT_GE(Now() - from, 40000000u);
    EXPECT_LT(Now() - from, 4000000000u) << "not one after the other: that takes 10 s";
    EXPECT_LT(Now(CLOCK_PROCESS_CPUTIME_ID) - used, 20000000u);
    EXPECT_EQ(256u, Out(1)[0]);
    // Its own stack is nothing that others see.
    spin = Kernel(".local .align 8 .b8 stack[8];\nmov.u64 %rd1, %clock64;\nAGAIN:\nmov.u64 %rd2, %clock64;\n"
                  "st.local.u64 [stack], %rd2;\nsub.u64 %rd3, %rd2, %rd1;\nsetp.gt.u64 %p1, %rd3, 20000000;\n"
                  "@!%p1 bra AGAIN;\nred.global.add.u32 [%rd20], 1;");
    used = Now(CLOCK_PROCESS_CPUTIME_ID);
    EXPECT_EQ(CUDA_SUCCESS, Start(spin, 1, 4));
    EXPECT_EQ(260u, Out(1)[0]);
    EXPECT_LT(Now(CLOCK_PROCESS_CPUTIME_ID) - used, 15000000u);
    CUfunction sleeps = Kernel("mov.u64 %rd1, %clock64;\nnanosleep.u32 20000000;\nmov.u64 %rd2, %clock64;\n"
                               "sub.u64 %rd1, %rd2, %rd1;\nst.global.u64 [%rd20], %rd1;");
    EXPECT_EQ(CUDA_SUCCESS, Start(sleeps));
    EXPECT_GE(Out(1)[0], 20000000u);
}

TEST_F(Ptx, AKernelSeesWhatTheHostWrites)
{
    for (const char *load : {"ld.volatile.global.u32", "ld.acquire.sys.global.u32", "ld.relaxed.gpu.u32", "atom.or.b32"}) {
        bool atomic = load[0] == 'a';
        uint32_t *flag = nullptr;
        ASSERT_EQ(CUDA_SUCCESS, cuMemHostAlloc(reinterpret_cast<void **>(&flag), 64, 0));
        *flag = 0;
        CUfunction f = Kernel(std::string("WAIT:\n") + load + " %r1, [%rd21]" + (atomic ? ", 0" : "") +
                              ";\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra WAIT;\nst.global.u32 [%rd20], %r1;");
        void *parameters[] = {&out_, &flag};
        uint64_t used = Now(CLOCK_PROCESS_CPUTIME_ID);
        ASSERT_EQ(CUDA_SUCCESS, cuLaunchKernel(f, 1, 1, 1, 4, 1, 1, 0, nullptr, parameters, nullptr));
        struct timespec nap = {0, 100000000};
        nanosleep(&nap, nullptr);
        EXPECT_EQ(CUDA_ERROR_NOT_READY, cuStreamQuery(nullptr)) << load;
        EXPECT_LT(Now(CLOCK_PROCESS_CPUTIME_ID) - used, 60000000u) << load;
        __atomic_store_n(flag, 5, __ATOMIC_RELEASE);
        EXPECT_EQ(5u, Out(1)[0]);
        EXPECT_EQ(CUDA_SUCCESS, cuMemFreeHost(flag));
    }
}

TEST_F(Ptx, WhatIsNotKnownIsRefused)
{
    for (const char *text : {"frobnicate.b32 %r1, %r2;",
                             "add.cc.u32 %r1, %r2, %r3;",
                             "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;",
                             "ld.global.b128 %rd1, [%rd2];",
                             "add.rz.f32 %f1, %f2, %f3;",
                             "mov.u32 %r1, nothing;",
                             "add.u32 %r1, %r2;",
                             "bra NOWHERE;",
                             "bar.red.popc.u32 %r1, 0, %p1;",
                             "call outside, ();",
                             "add.u32 %q1, %r2, %r3;",
                             "ld.shared::cluster.u32 %r1, [%rd1];",
                             "st.const.u32 [%rd1], %r1;",
                             "mul.u32 %r1, %r2, %r3;",
                             "cvt.s32.f32 %r1, %f1;",
                             "ld.global.v2.u32 %r1, [%rd2];",
                             "setp.u32 %p1, %r1, %r2;",
                             "add.u32 %r1, %r2, %r3",
                             "atom.global.add.u16 %rs1, [%rd1], %rs2;",
                             "tex.2d.v4.u32.s32 {%r1,%r2,%r3,%r4}, [%rd1, {%r5,%r6}];"})
        EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, Start(Kernel(text))) << text;
    CUfunction one = Kernel("{\n.param .b32 a;\nst.param.b32 [a], 1;\ncall other, (a);\n}",
                            ".func other(.param .b32 a)\n{\nfrobnicate;\n}\n");
    EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, Start(one)) << "what it calls is not known";
}

TEST_F(Ptx, ManyParameters)
{
    std::string text = std::string(kHead) + ".visible .entry k(.param .u64 k_out";
    for (int n = 0; n < 300; n++)
        text += ", .param .u32 p" + std::to_string(n);
    text += ")\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [k_out];\nld.param.u32 %r1, [p299];\n"
            "st.global.u32 [%rd1], %r1;\n}\n";
    CUmodule m;
    CUfunction f;
    std::vector<uint32_t> values(300);
    std::vector<void *> parameters = {&out_};
    for (uint32_t n = 0; n < 300; n++) {
        values[n] = n;
        parameters.push_back(&values[n]);
    }
    ASSERT_EQ(CUDA_SUCCESS, cuModuleLoadData(&m, text.c_str()));
    ASSERT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&f, m, "k"));
    EXPECT_EQ(CUDA_SUCCESS, Launch(f, nullptr, parameters));
    EXPECT_EQ(299u, Out(1)[0]);
    EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(m));
}

// One text, many modules.
TEST_F(Ptx, ModulesAreApart)
{
    std::string text = std::string(kHead) +
                       ".global .u32 v = 5;\n.visible .entry k(.param .u64 k_out, .param .u64 k_in)\n{\n" + kRegisters +
                       "ld.global.u32 %r1, [v];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [v], %r1;\n"
                       "st.global.u32 [%rd20], %r1;\n}\n";
    CUmodule modules[2];
    for (int n : {0, 1, 0})
        for (CUmodule &m : modules) {
            CUfunction f;
            if (n == 0) {
                ASSERT_EQ(CUDA_SUCCESS, cuModuleLoadData(&m, text.c_str()));
            }
            ASSERT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&f, m, "k"));
            ASSERT_EQ(CUDA_SUCCESS, Start(f));
            EXPECT_EQ(6u + (n == 1), Out(1)[0]);
            if (n == 1) {
                ASSERT_EQ(CUDA_SUCCESS, cuModuleUnload(m));
            }
        }
    for (CUmodule m : modules)
        EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(m));
}

// Whatever is missing in a text: no crash, and what is whole still runs.
TEST_F(Ptx, TextsThatAreCutOrChanged)
{
    std::string text = std::string(kHead) +
                       ".global .align 4 .u32 v[4] = {1, 2};\n.func (.param .b32 r) f(.param .b32 x)\n{\n.reg .b32 %r<4>;\n"
                       "ld.param.u32 %r1, [x];\nst.param.u32 [r], %r1;\nret;\n}\n"
                       ".visible .entry k(.param .u64 k_out, .param .u64 k_in)\n{\n" +
                       kRegisters +
                       "{\n.param .b32 a;\n.param .b32 r;\nst.param.b32 [a], 1;\ncall (r), f, (a);\n}\n"
                       "L: ld.global.v2.u32 {%r1, %r2}, [v+4];\n@!%p1 bra L2;\nL2: mov.b64 %rd1, {%r1, %r2};\n"
                       "setp.lt.and.u32 %p1|%p2, %r1, %r2, !%p3;\ntex.1d.v4.u32.s32 {%r3, %r4, %r5, %r6}, [%rd2, {%r24}];\n"
                       "/* a comment */ st.shared.u32 [%r1], 0f3F800000;\nret;\n}\n";
    std::string changed = text;
    uint32_t random = 1;
    for (size_t n = 0; n < 3 * text.size(); n++) {
        CUmodule m;
        changed = n < text.size() ? text.substr(0, n) : text;
        random = random * 1664525 + 1013904223;
        if (n >= text.size())
            changed[random / 7 % text.size()] = "[]{}()<>,;:.%@!|+-=\"0a /*"[random >> 20 & 15];
        CUresult result = cuModuleLoadData(&m, changed.c_str());
        ASSERT_TRUE(result == CUDA_SUCCESS || result == CUDA_ERROR_INVALID_PTX || result == CUDA_ERROR_OUT_OF_MEMORY);
        if (result == CUDA_SUCCESS) {
            ASSERT_EQ(CUDA_SUCCESS, cuModuleUnload(m));
        }
    }
}

} // namespace
