/* SPDX-License-Identifier: Apache-2.0
 *
 * What instructions of PTX that touch memory become in the form, and what is said of those that can't be read.
 */

#include <gtest/gtest.h>

#include "tests/code/ptx_form.h"

namespace
{
TEST(PtxMemory, LoadsReadTheirAddress)
{
    check({
        {"ld.global.u32 %r1, [%rd2];", "load r0:1 global r [r1:2]\n"},
        {"ld.global.nc.L1::no_allocate.L2::128B.u64 %rd1, [%rd2+16];", "load r0:2 global r [r2:2 + 16:2]\n"},
        {"ld.u64 %rd1, [%rd1+-8];", "load r0:2 generic r [r0:2 + -8:2]\n"},
        {"ld.volatile.shared.u32 %r1, [%r2+4];", "load r0:1 shared r [r1:1 + 4:1]\n"},
        {"ld.shared.u32 %r1, [tile+8];", "load r0:1 shared r [other:1]\n"},
        {"ld.local.u64 %rd1, [depot+16];", "load r0:2 local r [stack+16:2]\n"},
        {"ld.global.u8 %r1, [%rd2];", "load r0:1 narrow global r [r1:2]\n"},
        {"ld.global.s16 %rd1, [%rd2];", "load r0:1 narrow global r [r2:2]\n"
                                        "mix r1:1 = r0:1\n"},
        {"ld.global.s32 %rd1, [%rd2];", "load r0:1 global r [r2:2]\n"
                                        "mix r1:1 = r0:1\n"},
        {"ld.global.v2.u64 {%rd1, %rd2}, [%rd3];", "load r0:4 global r [r4:2]\n"},
        {"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd5];", "load r0:4 global r [r4:2]\n"},
        {"mov.u32 %r2, %r9; ld.global.v2.u32 {%r1, %r2}, [%rd5+8];", "move r0:1 = r1:1\n"
                                                                     "load r5:2 global r [r3:2 + 8:2]\n"
                                                                     "move r2:1 = r5:1\n"
                                                                     "move r0:1 = r6:1\n"},
        {"ld.global.v2.u32 {%r1, _}, [%rd5];", "load r3:2 global r [r1:2]\n"
                                               "move r0:1 = r3:1\n"},
        {"ld.global.v4.u16 {%rs1, %rs2, %rs3, %rs4}, [%rd5];", "load r6:2 global r [r4:2]\n"
                                                               "mix r0:1 = r6:1\n"
                                                               "mix r1:1 = r6:1\n"
                                                               "mix r2:1 = r7:1\n"
                                                               "mix r3:1 = r7:1\n"},
        {"ld.global.v2.u8 {%rs1, %rs2}, [%rd5];", "load r4:1 narrow global r [r2:2]\n"
                                                  "mix r0:1 = r4:1\n"
                                                  "mix r1:1 = r4:1\n"},
        {"ld.global.b128 %q1, [%rd5];", "load r0:4 global r [r4:2]\n"},
        {"ld.relaxed.gpu.global.L1::no_allocate.v8.b32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%rd1];",
         "load r0:8 global r [r8:2]\n"},
        {"ld.global.u32 %r1, [0x1000];", "load r0:1 global r [4096:2]\n"},
        {"@!%p1 ld.global.u32 %r1, [%rd2];", "@!p1 load r0:1 global r [r1:2]\n"},
    });
}

TEST(PtxMemory, LoadsOfParametersAreMoves)
{
    check({
        {"ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [n]; ld.param.u64 %rd2, [b+0];", "move r0:2 = param[0]:2\n"
                                                                                     "move r2:1 = param[8]:1\n"
                                                                                     "move r3:2 = param[16]:2\n"},
        {"ld.param.u8 %r1, [c+3];", "sum r0:1 = param[27]:1*\n"},
        {"ld.param.v2.u32 {%r1, %r2}, [c+8];", "move r0:1 = param[32]:1\n"
                                               "move r1:1 = param[36]:1\n"},
        {"mov.b64 %rd1, c; ld.param.u32 %r1, [%rd1+4];", "move r0:2 = &param+24\n"
                                                         "move r2:1 = param[28]:1\n"},
        {"mov.b64 %rd1, c; add.s64 %rd2, %rd1, 8; cvta.param.u64 %rd3, %rd2; ld.param.u64 %rd4, [%rd2];",
         "move r0:2 = &param+24\n"
         "sum r2:2 = r0:2 + 8\n"
         "move r4:2 = r2:2\n"
         "move r6:2 = param[32]:2\n"},
        {"mov.b64 %rd1, c; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd2, %rd1; ld.param.u32 %r2, [%rd3+4];",
         "move r0:2 = &param+24\n"
         "product r2:2 wide = r4:1 + 4\n"
         "sum r5:2 = r2:2 + r0:2\n"
         "move r7:1 = param[28+r2]:1\n"},
        {"mov.b64 %rd1, c; ld.param.u32 %r1, [%rd1]; add.s64 %rd1, %rd1, 4;", "move r0:2 = &param+24\n"
                                                                              "load r2:1 generic r [r0:2]\n"
                                                                              "sum r0:2 = r0:2 + 4\n"},
        {"mov.b64 %rd1, c; ld.param.u32 %r1, [%rd1]; ld.global.u64 %rd1, [%rd2];", "move r0:2 = &param+24\n"
                                                                                   "load r2:1 generic r [r0:2]\n"
                                                                                   "load r0:2 global r [r3:2]\n"},
        {"mov.b64 %rd1, c+4; add.s64 %rd2, %rd1, 4; add.s64 %rd3, 4, %rd2; ld.param.u32 %r1, [%rd3+-4];",
         "move r0:2 = &param+28\n"
         "sum r2:2 = r0:2 + 4\n"
         "sum r4:2 = 4 + r2:2\n"
         "move r6:1 = param[32]:1\n"},
        {"mov.b64 %rd1, c; cvta.param.u64 %rd2, %rd1; ld.u32 %r1, [%rd2+4];", "move r0:2 = &param+24\n"
                                                                              "move r2:2 = r0:2\n"
                                                                              "load r4:1 generic r [r2:2 + 4:2]\n"},
    });
}

TEST(PtxMemory, StoresWriteTheirAddress)
{
    check({
        {"st.global.u32 [%rd1], %r2;", "store:1 global w [r0:2] = r2:1\n"},
        {"st.wb.global.u64 [%rd1+8], 0;", "store:2 global w [r0:2 + 8:2] = 0\n"},
        {"st.u8 [%rd1], %r1;", "store:1 narrow generic w [r0:2] = r2:1\n"},
        {"st.local.v2.u32 [depot], {%r1, %r2};", "store:2 local w [stack+0:2] = r0:2\n"},
        {"mov.u32 %r2, 1; st.shared.v2.u32 [%r3], {%r1, %r2};", "move r0:1 = 1\n"
                                                                "move r3:1 = r2:1\n"
                                                                "move r4:1 = r0:1\n"
                                                                "store:2 shared w [r1:1] = r3:2\n"},
        {"st.global.v2.f32 [%rd1], {%f1, 0f00000000};", "move r3:1 = r2:1\n"
                                                        "move r4:1 = 0\n"
                                                        "store:2 global w [r0:2] = r3:2\n"},
        {"st.global.v4.b16 [%rd1], {%rs1, %rs2, %rs3, %rs4};", "mix r6:1 = r2:1 + r3:1\n"
                                                               "mix r7:1 = r4:1 + r5:1\n"
                                                               "store:2 global w [r0:2] = r6:2\n"},
        {"st.global.v2.b8 [%rd1], {%rs1, %rs2};", "mix r4:1 = r2:1 + r3:1\n"
                                                  "store:1 narrow global w [r0:2] = r4:1\n"},
        {"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];",
         "store:1 shared w [r0:1] = r1:1\n"},
        {"st.bulk.weak.shared::cta [%r1], 256, 0;", "store:1 shared w [r0:1] = 0\n"},
        {"@%p1 st.global.u32 [%rd1], 7;", "@p1 store:1 global w [r0:2] = 7\n"},
    });
}

TEST(PtxMemory, AtomicOperations)
{
    check({
        {"atom.global.add.u32 %r1, [%rd1], %r2;", "atomic r0:1 global rwa [r1:2] = r3:1\n"},
        {"atom.global.gpu.acq_rel.cas.b64 %rd1, [%rd2], %rd3, %rd4;", "atomic r0:2 global rwa [r2:2] = r6:2\n"},
        {"atom.exch.b64 %rd1, [%rd2+8], %rd3;", "atomic r0:2 generic rwa [r2:2 + 8:2] = r4:2\n"},
        {"atom.shared.inc.u32 _, [tile], 7;", "atomic:1 shared rwa [other:1] = 7\n"},
        {"atom.global.v4.f32.add {%f1,%f2,%f3,%f4}, [%rd1], {%f5,%f6,%f7,%f8};", "atomic:1 global rwa [r4:2]\n"
                                                                                 "float r0:1\n"
                                                                                 "float r1:1\n"
                                                                                 "float r2:1\n"
                                                                                 "float r3:1\n"},
        {"atom.global.add.f64 %d1, [%rd1], %d2;", "atomic:2 global rwa [r2:2]\n"
                                                  "float r0:2\n"},
        {"atom.global.cas.b16 %rs1, [%rd1], %rs2, %rs3;", "atomic r0:1 narrow global rwa [r1:2] = r4:1\n"},
        {"red.global.add.u32 [%rd1], 1;", "atomic:1 global rwa [r0:2] = 1\n"},
        {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3];",
         "atomic:1 shared rwa [r0:1] = r1:1\n"},
        {"multimem.ld_reduce.relaxed.sys.global.add.u32 %r1, [%rd1];", "load r0:1 global r [r1:2]\n"},
        {"multimem.red.relaxed.sys.global.add.f32 [%rd1], %f1;", "atomic:1 global rwa [r0:2]\n"},
        {"discard.global.L2 [%rd1], 128; prefetch.global.L2 [%rd1]; applypriority.global.L2::evict_normal [%rd1], 128;",
         "store:1 narrow global w [r0:2] = 0\n"},
    });
}

TEST(PtxMemory, AsynchronousCopiesReadAndWriteGlobalMemory)
{
    check({
        {"cp.async.ca.shared.global [%r1], [%rd1], 4; cp.async.commit_group; cp.async.wait_group 0;",
         "stage global r [r1:2]\n"},
        {"cp.async.cg.shared.global.L2::128B [%r1], [%rd1+16], 16, %r2;", "stage global r [r1:2 + 16:2]\n"},
        {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];",
         "stage global r [r1:2]\n"},
        {"cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2;", "stage global w [r0:2]\n"},
        {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r2], %r3, [%r4];", ""},
        {"cp.async.bulk.prefetch.L2.global [%rd1], %r2;", ""},
        {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], %r2;", "stage global rwa [r0:2]\n"},
        {"cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];", ""},
        {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];",
         "tensor generic r [r1:2]\n"},
        {"mov.b64 %rd1, c; cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r2}], [%r1];",
         "move r0:2 = &param+24\n"
         "tensor generic w [r0:2]\n"},
        {"cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%rd1, {%r2}], [%r1];",
         "tensor generic rwa [r0:2]\n"},
        {"tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2;", "store:1 narrow global w [r0:2] = 0\n"},
        {"tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r1], %rd2;",
         "store:1 narrow shared w [r0:1] = 0\n"},
        {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [%r1], 128;",
         "store:1 narrow global w [r0:2] = 0\n"},
    });
}

TEST(PtxMemory, TexturesAndSurfacesAreReadAndWrittenByHandle)
{
    check({
        {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];", "texture r = r4:2\n"
                                                                        "float r0:1\n"
                                                                        "float r1:1\n"
                                                                        "float r2:1\n"
                                                                        "float r3:1\n"},
        {"tex.1d.v4.u32.s32 {%r1, _, _, _}, [a, {%r2}];", "texture r = param[0]:2\n"
                                                          "float r0:1\n"},
        {"suld.b.1d.b32.trap %r1, [%rd1, {%r2}];", "texture r = r1:2\n"
                                                   "float r0:1\n"},
        {"sust.b.2d.b32.trap [%rd1, {%r1, %r2}], {%r3};", "texture w = r0:2\n"},
        {"sured.p.1d.add.u32.trap [%rd1, {%r1}], %r2;", "texture rwa = r0:2\n"},
        {"txq.width.b32 %r1, [%rd1];", "float r0:1\n"},
    });
}

TEST(PtxMemory, MatrixLoadsAndStoresTouchMemory)
{
    check({
        {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2}, [%rd1], %r3;", "load:1 narrow global r [r2:2]\n"
                                                                                       "float r0:1\n"
                                                                                       "float r1:1\n"},
        {"wmma.store.d.sync.aligned.row.m16n16k16.f32 [%rd1+4], {%f1, %f2}, %r3;",
         "store:1 narrow generic w [r0:2 + 4:2] = 0\n"},
        {"wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f1};", "float r0:1\n"},
        {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r3];", "load r0:1 narrow shared r [r2:1]\n"
                                                                        "load r1:1 narrow shared r [r2:1]\n"},
        {"stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r3], {%r1, %r2};", "store:1 narrow shared w [r0:1] = r1:1\n"
                                                                        "store:1 narrow shared w [r0:1] = r2:1\n"},
    });
}

TEST(PtxMemory, UnknownInstructionsAreNamed)
{
    check({
        {"shfl.sync.idx.b32 %r1|%r2, %r3, 0, 31, -1;", "unknown 4 8 shfl.sync.idx.b32 %r1|%r2, %r3, 0, 31, -1; } \n"},
        {"frobnicate.u32 %r1, %r2;", "unknown 4 8 frobnicate.u32 %r1, %r2\n"},
        {"ld.global.u32 %r1, [%r2];", "unknown 5 8 ld.global.u32 %r1, [%r2]\n"},
        {"ld.global.u32 %r1, [nowhere];", "unknown 4 8 ld.global.u32 %r1, [nowhere]\n"},
        {"ld.global.u64 %r1, [%rd1];", "unknown 4 8 ld.global.u64 %r1, [%rd1]\n"},
        {"mov.u32 %r1, %nothing;", "unknown 4 8 mov.u32 %r1, %nothing; } \n"},
        {"add.u32 %r1, %r2", "unknown 4 8 add.u32 %r1, %r2 } \n"},
        {"ld.param.u64 %rd1, [c+12];", "unknown 4 8 ld.param.u64 %rd1, [c+12]\n"},
        {"bra NOWHERE;", "unknown 8 8 NOWHERE\n"},
        {"bra %r1;", "unknown 8 8 bra %r1\n"},
        {"cvta.to.shared.u64", "unknown 4 8 cvta.to.shared.u64 } \n"},
        {".frob 1;", "unknown 4 8 .frob\n"},
    });
}

} // namespace
