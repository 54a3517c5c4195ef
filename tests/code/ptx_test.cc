/* SPDX-License-Identifier: Apache-2.0
 *
 * What instructions of PTX that make values of values become in the form.
 */

#include <gtest/gtest.h>

#include "tests/code/ptx_form.h"

namespace
{
TEST(Ptx, AdditionsAndSubtractionsAreSums)
{
    check({
        {"add.s64 %rd1, %rd2, %rd3;", "sum r0:2 = r2:2 + r4:2\n"},
        {"add.u64 %rd1, %rd2, -8;", "sum r0:2 = r2:2 + -8\n"},
        {"sub.u64 %rd1, %rd2, %rd3;", "sum r0:2 = r2:2 + ~r4:2\n"},
        {"sub.s32 %r1, %r2, 4;", "sum r0:1 = r1:1 + ~4\n"},
        {"add.cc.u32 %r1, %r2, %r3; addc.u32 %r4, %r5, 0;", "sum r0:1 = r1:1 + r2:1\n"
                                                            "sum r3:1 = r4:1 + 0\n"},
        {"subc.u32 %r4, %r5, %r6;", "sum r0:1 = r1:1 + ~r2:1\n"},
        {"neg.s64 %rd1, %rd2;", "sum r0:2 = ~r2:2\n"},
        {"add.s16 %rs1, %rs2, %rs3;", "mix r0:1 = r1:1 + r2:1\n"},
        {"add.s16x2 %r1, %r2, %r3;", "mix r0:1 = r1:1 + r2:1\n"},
        {"add.f32 %f1, %f2, %f3;", "float r0:1\n"},
        {"fma.rn.f64 %d1, %d2, %d3, %d1;", "float r0:2\n"},
        {"@%p1 add.s32 %r1, %r1, 1;", "@p1 sum r0:1 = r0:1 + 1\n"},
        {"@!%p2 add.s32 %r1, %r1, 1;", "@!p1 sum r0:1 = r0:1 + 1\n"},
    });
}

TEST(Ptx, MultiplicationsAreProductsAndMultiplyAddsSumsOfThem)
{
    check({
        {"mul.lo.u32 %r1, %r2, 12;", "product r0:1 = r1:1 + 12\n"},
        {"mul.lo.s64 %rd1, %rd2, %rd3;", "product r0:2 = r2:2 + r4:2\n"},
        {"mul.hi.u32 %r1, %r2, %r3;", "product r0:1 upper = r1:1 + r2:1\n"},
        {"mul.hi.u64 %rd1, %rd2, %rd3;", "product r0:2 upper = r2:2 + r4:2\n"},
        {"mul.wide.s32 %rd1, %r2, 4;", "product r0:2 wide = r2:1 + 4\n"},
        {"mad.lo.s64 %rd1, %rd2, 8, %rd3;", "product r0:2 = r2:2 + 8 + r4:2\n"},
        {"mad.wide.u32 %rd1, %r2, %r3, %rd4;", "product r0:2 wide = r2:1 + r3:1 + r4:2\n"},
        {"mad.hi.cc.u32 %r1, %r2, %r3, %r4;", "product r0:1 upper = r1:1 + r2:1 + r3:1\n"},
        {"mul.wide.u16 %r1, %rs2, %rs3;", "mix r0:1 = r1:1 + r2:1\n"},
        {"mad24.lo.u32 %r1, %r2, %r3, %r4;", "sum r0:1 = r1:1* + r2:1* + r3:1\n"},
        {"mul.f32 %f1, %f2, %f3;", "float r0:1\n"},
        {"div.u32 %r1, %r2, %r3; rem.s64 %rd1, %rd2, %rd3;", "mix r0:1 = r1:1 + r2:1\n"
                                                             "mix r3:2 = r5:2 + r7:2\n"},
    });
}

TEST(Ptx, BitOperationsKeepTheirTruthTable)
{
    check({
        {"and.b64 %rd1, %rd2, -16;", "logic c0 r0:2 = r2:2 + -16\n"},
        {"or.b32 %r1, %r2, %r3;", "logic fc r0:1 = r1:1 + r2:1\n"},
        {"xor.b64 %rd1, %rd2, %rd3;", "logic 3c r0:2 = r2:2 + r4:2\n"},
        {"not.b64 %rd1, %rd2;", "logic 0f r0:2 = r2:2\n"},
        {"lop3.b32 %r1, %r2, %r3, %r4, 0xe2;", "logic e2 r0:1 = r1:1 + r2:1 + r3:1\n"},
        {"lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 1, %p2;", "logic 01 r0:1 = r1:1 + r2:1 + r3:1\n"
                                                        "none sets p1\n"},
        {"and.pred %p1, %p2, %p3;", "none sets p1\n"},
        {"and.b16 %rs1, %rs2, 1;", "mix r0:1 = r1:1 + 1\n"},
        {"shl.b64 %rd1, %rd2, 32;", "move r1:1 = r2:1\n"
                                    "move r0:1 = 0\n"},
        {"shr.u64 %rd1, %rd1, 32;", "move r0:1 = r1:1\n"
                                    "move r1:1 = 0\n"},
        {"shr.s64 %rd1, %rd2, 32;", "move r0:1 = r3:1\n"
                                    "mix r1:1 = r0:1\n"},
        {"shl.b64 %rd1, %rd2, 3;", "mix r0:2 = r2:2 + 3\n"},
        {"shl.b32 %r1, %r2, 0;", "move r0:1 = r1:1\n"},
        {"shl.b64 %rd1, %rd2, %r3;", "mix r0:2 = r2:2 + r4:1\n"},
        {"shf.l.wrap.b32 %r1, %r2, %r3, 8;", "mix r0:1 = r1:1 + r2:1 + 8\n"},
        {"bfi.b64 %rd1, %rd2, %rd3, 8, 8;", "mix r0:2 = r2:2 + r4:2 + 8 + 8\n"},
        {"bfi.b64 %rd1, %rd1, %rd3, 32, 32;", "move r1:1 = r0:1\n"
                                              "move r0:1 = r2:1\n"},
        {"bfi.b64 %rd1, %rd2, %rd3, 0, 32;", "move r1:1 = r5:1\n"
                                             "move r0:1 = r2:1\n"},
        {"bfi.b32 %r1, %r2, %r3, 0, 32;", "mix r0:1 = r1:1 + r2:1 + 0 + 32\n"},
        {"bfe.u64 %rd1, %rd2, 32, 32;", "move r0:1 = r3:1\n"
                                        "move r1:1 = 0\n"},
        {"bfe.s64 %rd1, %rd2, 0, 32;", "move r0:1 = r2:1\n"
                                       "mix r1:1 = r0:1\n"},
        {"bfe.u64 %rd1, %rd2, 31, 32;", "mix r0:2 = r2:2 + 31 + 32\n"},
        {"bfe.u32 %r1, %r2, 3, 4;", "mix r0:1 = r1:1 + 3 + 4\n"},
        {"popc.b64 %r1, %rd2;", "mix r0:1 = r1:2\n"},
        {"prmt.b32 %r1, %r2, %r3, 0x3210;", "move r0:1 = r1:1\n"},
        {"prmt.b32 %r1, %r2, %r3, 0x7654U;", "move r0:1 = r2:1\n"},
        {"prmt.b32 %r1, %r2, %r3, 0x5410;", "mix r0:1 = r1:1 + r2:1 + 21520\n"},
        {"prmt.b32.f4e %r1, %r2, %r3, 0x3210;", "mix r0:1 = r1:1 + r2:1 + 12816\n"},
    });
}

TEST(Ptx, SelectionsMayBeEitherOperand)
{
    check({
        {"selp.b64 %rd1, %rd2, %rd3, %p1;", "join r0:2 = r2:2 + r4:2\n"},
        {"slct.u32.s32 %r1, %r2, %r3, %r4;", "join r0:1 = r1:1 + r2:1\n"},
        {"min.u64 %rd1, %rd2, %rd3;", "join r0:2 = r2:2 + r4:2\n"},
        {"max.s32 %r1, %r2, 0;", "join r0:1 = r1:1 + 0\n"},
        {"max.f32 %f1, %f2, %f3;", "float r0:1\n"},
        {"min.s16x2 %r1, %r2, %r3;", "mix r0:1 = r1:1 + r2:1\n"},
        {"setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;", "none sets p1\n"
                                                     "none sets p2\n"},
        {"set.eq.u32.f32 %r1, %f2, %f3;", "float r0:1\n"},
    });
}

TEST(Ptx, MovesOfRegistersNumbersAndSpecialRegisters)
{
    check({
        {"mov.u32 %r1, %tid.x;", "move r0:1 = other\n"},
        {"mov.u64 %rd1, %globaltimer;", "move r0:2 = other\n"},
        {"mov.f32 %f1, 0f3F800000;", "move r0:1 = 1065353216\n"},
        {"mov.f64 %d1, -1.5e+3;", "move r0:2 = other\n"},
        {"mov.b64 %rd1, {%r2, %r3};", "move r0:1 = r2:1\n"
                                      "move r1:1 = r3:1\n"},
        {"mov.b64 {%r1, %r2}, %rd3;", "move r0:1 = r2:1\n"
                                      "move r1:1 = r3:1\n"},
        {"mov.b64 {_, %r2}, %rd3;", "move r0:1 = r2:1\n"},
        {"mov.b32 %r1, {%rs2, %rs3};", "mix r0:1 = r1:1 + r2:1\n"},
        {"mov.b64 %rd1, {%rs2, %rs3, %rs4, %rs5};", "mix r0:1 = r2:1 + r3:1\n"
                                                    "mix r1:1 = r4:1 + r5:1\n"},
        {"mov.b32 {%rs1, %rs2}, %r3;", "mix r0:1 = r2:1\n"
                                       "mix r1:1 = r2:1\n"},
        {"mov.b128 %q1, {%rd2, %rd3};", "move r0:2 = r4:2\n"
                                        "move r2:2 = r6:2\n"},
        {"mov.b128 {%rd2, %rd3}, %q1;", "move r0:2 = r4:2\n"
                                        "move r2:2 = r6:2\n"},
        {"mov.pred %p1, %p2;", "none sets p1\n"},
        {"mov.u64 %rd1, depot; cvta.local.u64 %rd2, %rd1; mov.u64 %rd3, depot+8;", "move r0:2 = stack+0\n"
                                                                                   "move r2:2 = r0:2\n"
                                                                                   "move r4:2 = stack+8\n"},
        {"mov.u64 %rd1, c; cvta.param.u64 %rd2, %rd1;", "move r0:2 = &param+24\n"
                                                        "move r2:2 = r0:2\n"},
        {"mov.u32 %r1, tile; cvta.shared.u64 %rd2, %rd1; cvta.to.shared.u64 %rd3, %rd2;", "move r0:1 = other\n"
                                                                                          "move r1:2 = other\n"
                                                                                          "move r5:2 = other\n"},
        {"cvta.to.global.u64 %rd1, %rd2; cvta.global.u64 %rd3, %rd1;", "move r0:2 = r2:2\n"
                                                                       "move r4:2 = r0:2\n"},
        {"mapa.shared::cluster.u32 %r1, %r2, %r3;", "move r0:1 = other\n"},
        {".reg .v4 .b32 %v; mov.b32 %r1, %v.y; mov.b32 %v.w, %r1;", "move r0:1 = r1:1\n"
                                                                    "move r2:1 = r0:1\n"},
        {"{ .reg .b64 %rd1; mov.b64 %rd1, 5; } mov.b64 %rd2, %rd1;", "move r0:2 = 5\n"
                                                                     "move r2:2 = r4:2\n"},
    });
}

TEST(Ptx, ConversionsKeepWhatMayBeAnAddress)
{
    check({
        {"cvt.u64.u32 %rd1, %r2;", "move r0:1 = r2:1\n"
                                   "move r1:1 = 0\n"},
        {"cvt.s64.s32 %rd1, %r2;", "move r0:1 = r2:1\n"
                                   "mix r1:1 = r0:1\n"},
        {"cvt.u32.u64 %r1, %rd2;", "move r0:1 = r1:1\n"},
        {"cvt.u64.u16 %rd1, %rs2;", "mix r0:1 = r2:1\n"
                                    "move r1:1 = 0\n"},
        {"cvt.s32.s8 %r1, %r2;", "mix r0:1 = r1:1\n"},
        {"cvt.u16.u32 %rs1, %r2;", "mix r0:1 = r1:1\n"},
        {"cvt.u64.u64 %rd1, %rd2;", "move r0:2 = r2:2\n"},
        {"cvt.s32.u64 %rd1, %rd2;", "move r0:1 = r2:1\n"
                                    "mix r1:1 = r0:1\n"},
        {"cvt.u32.s64 %rd1, %rd2;", "move r0:1 = r2:1\n"
                                    "move r1:1 = 0\n"},
        {"cvt.u8.u32 %rd1, %r2;", "mix r0:1 = r2:1\n"
                                  "move r1:1 = 0\n"},
        {"cvt.sat.u16.s32 %rs1, %r2;", "mix r0:1 = r1:1\n"},
        {"cvt.rn.f32.s32 %f1, %r2;", "float r0:1\n"},
        {"cvt.rzi.s64.f64 %rd1, %d2;", "float r0:2\n"},
        {"cvt.rn.bf16x2.f32 %r1, %f2, %f3;", "float r0:1\n"},
        {"cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4;", "mix r0:1 = r1:1 + r2:1 + r3:1\n"},
    });
}

TEST(Ptx, BetweenThreads)
{
    check({
        {"shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;", "move r0:1 = r1:1\n"
                                                       "none sets p1\n"},
        {"vote.sync.ballot.b32 %r1, %p1, -1;", "float r0:1\n"},
        {"vote.sync.any.pred %p1, %p2, -1;", "none sets p1\n"},
        {"elect.sync _|%p1, -1;", "none sets p1\n"},
        {"match.all.sync.b32 %r1|%p1, %r2, -1;", "float r0:1\n"
                                                 "none sets p1\n"},
        {"redux.sync.add.s32 %r1, %r2, -1;", "mix r0:1 = r1:1 + -1\n"},
        {"activemask.b32 %r1;", "float r0:1\n"},
        {"bar.sync 0; barrier.cluster.arrive; fence.acq_rel.gpu; membar.gl; griddepcontrol.wait;", ""},
        {"bar.red.popc.u32 %r1, 0, %p1;", "float r0:1\n"},
        {"bar.red.and.pred %p1, 0, %p2;", "none sets p1\n"},
        {"isspacep.shared %p1, %rd1;", "none sets p1\n"},
        {"mbarrier.arrive.shared::cta.b64 %rd1, [%r2]; mbarrier.try_wait.parity.shared.b64 %p1, [%r2], %r3; "
         "mbarrier.init.shared.b64 [%r2], 1;",
         "float r0:2\n"
         "none sets p1\n"},
        {"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 64;", ""},
    });
}

TEST(Ptx, MatrixInstructionsMakeNumbersThatAreNoAddresses)
{
    check({
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2}, {%r1,%r2}, {%r3}, {%f1,%f2};", "float r0:1\n"
                                                                                                      "float r1:1\n"},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2}, %rd1, %rd2, %p1, 1, 1, 0, 0; "
         "wgmma.fence.sync.aligned; wgmma.wait_group.sync.aligned 0;",
         "float r0:1\n"
         "float r1:1\n"},
        {"tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3]; tcgen05.wait::ld.sync.aligned; "
         "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 64;",
         "float r0:1\n"
         "float r1:1\n"},
        {"createpolicy.fractional.L2::evict_first.b64 %rd1, 1.0;", "float r0:2\n"},
    });
}

/* A name with a part that the table doesn't have for it is no instruction that is known, whatever it begins with. */
TEST(Ptx, PartsOfNamesThatAreNotKnown)
{
    for (const char *one : {"not.an.instruction %rd1, %rd2;",
                            "not.b64.an %rd1, %rd2;",
                            "not.b6 %rd1, %rd2;",
                            "not.b644 %rd1, %rd2;",
                            "not.b %rd1, %rd2;",
                            "add.relu.u32 %r1, %r2, %r3;",
                            "add.u32x2 %rd1, %rd2, %rd3;",
                            "and.u32 %r1, %r2, %r3;",
                            "mov.b256 %rd1, %rd2;",
                            "ld.global.b256 %r1, [%rd1];",
                            "ld.tensor.u32 %r1, [%rd1];",
                            "exit.now;",
                            "st.global.wide.u32 [%rd1], %r1;",
                            "cvta.to.far.u64 %rd1, %rd2;",
                            "cp.async.commit_groups;",
                            "bra.un A; A: ;",
                            "mma.sync.aligned.m16n8kk.f32 {%f1}, {%r1}, {%r1}, {%f1};",
                            "mma.sync.m16n8k.f32 {%f1}, {%r1}, {%r1}, {%f1};",
                            "mma.sync.m16n8k16x.f32 {%f1}, {%r1}, {%r1}, {%f1};",
                            "tcgen05.ld.sync.aligned.32x32b.x.b32 {%r1}, [%r3];",
                            "fence.acq_rel.gpus;",
                            "add .u32 .relu %r1, %r2, %r3;"}) {
        std::string text = std::string(one).substr(0, std::string(one).find(';'));
        EXPECT_EQ(ptx_steps(one), "unknown 4 8 " + text + "\n");
        EXPECT_EQ(ptx_steps(std::string("not.b64 %rd1, %rd2; ") + one), "unknown 4 8 " + text + "\n");
    }
}

/* The same name again is found by the whole of it, in one piece and in several. */
TEST(Ptx, AnInstructionSeenBeforeIsReadTheSame)
{
    const std::string sum = "sum r0:1 = r1:1 + r2:1\n";
    EXPECT_EQ(ptx_steps("add.u32 %r1, %r2, %r3; add.u32 %r1, %r2, %r3; add .u32 %r1, %r2, %r3;"), sum + sum + sum);
    EXPECT_EQ(ptx_steps("add .u32 %r1, %r2, %r3; add.u32 %r1, %r2, %r3;"), sum + sum);
    EXPECT_EQ(ptx_steps("add.u32 %r1, %r2, %r3; add.u3 %r1, %r2, %r3;"), "unknown 4 8 add.u3 %r1, %r2, %r3\n");
}

/* Where # stands for numbers in the table. */
TEST(Ptx, ShapesOfMatricesArePassedOver)
{
    for (const char *one : {"wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {%f1}, %rd1, %rd2, %p1, 1, 1, 0, 0;",
                            "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r3}, {%f1};",
                            "tcgen05.ld.sync.aligned.32x32b.x128.b32 {%r1}, [%r3];"})
        EXPECT_EQ(ptx_steps(one), "float r0:1\n") << one;
}

} // namespace
