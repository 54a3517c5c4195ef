// SPDX-License-Identifier: Apache-2.0
//
// Kernels as PTX text: threads, loops, calls, waiting; what is refused, what is a fault, and texts that are broken.
#include <time.h>

#include "tests/sim/ptx_fixture.h"

namespace
{

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
    // The inner one of two labels.
    EXPECT_EQ(31u, Run("mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nAGAIN: add.u32 %r1, %r1, 1;\n{\n.reg .pred p;\nmov.u32 %r3, 0;\n"
                       "AGAIN: add.u32 %r3, %r3, 1;\nadd.u32 %r2, %r2, 10;\nsetp.lt.u32 p, %r3, 3;\n@p bra AGAIN;\n}\n"
                       "add.u32 %r2, %r2, %r1;\nst.global.u32 [%rd20], %r2;",
                       1)[0]);
    EXPECT_EQ(1u, Run(".loc 1 2 3\n.pragma \"nounroll\";\nst.global.u32 [%rd20], 1;\n@%p1 bra NOWHERE;\nexit;\nNOWHERE:\n"
                      "st.global.u32 [%rd20], 2;",
                      1)[0]);
}

TEST_F(Ptx, FunctionsCallEachOtherAndReturn)
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
                          ".func middle(.param .b64 where)\n{\n.reg .b64 %rd<4>;\n.reg .b32 %r<2>;\n"
                          ".local .align 8 .b8 own[8];\nmov.u64 %rd1, own;\ncvta.local.u64 %rd1, %rd1;\n"
                          "{\n.param .b64 a;\nst.param.b64 [a], %rd1;\ncall writes, (a);\n}\n"
                          "ld.local.u32 %r1, [own+4];\nld.param.u64 %rd2, [where];\nst.u32 [%rd2], %r1;\nret;\n}\n"
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
            "st.global.u32 [%rd20+16], %r1;\n{\n.param .b64 a;\nadd.u64 %rd3, %rd20, 20;\nst.param.b64 [a], %rd3;\n"
            "st.local.u32 [stack+4], 1;\ncall middle, (a);\n}\nld.local.u32 %r3, [stack+4];\n"
            "st.global.u32 [%rd20+24], %r3;\n",
            7, before + std::string(".global .align 8 .u64 functions[2] = {fib, twice};\n"));
    EXPECT_EQ((std::vector<uint32_t>{55, 60, 9, 42, 14, 9, 1}), got);
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
    EXPECT_EQ(CUDA_SUCCESS, Start(spin, 4, 256));
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    EXPECT_GE(Now() - from, 40000000u);
    EXPECT_LT(Now() - from, 4000000000u) << "not one after the other: that takes 40 s";
    EXPECT_LT(Now(CLOCK_PROCESS_CPUTIME_ID) - used, 20000000u);
    EXPECT_EQ(1024u, Out(1)[0]);
    // Its own stack is nothing that others see.
    spin = Kernel(".local .align 8 .b8 stack[8];\nmov.u64 %rd1, %clock64;\nAGAIN:\nmov.u64 %rd2, %clock64;\n"
                  "st.local.u64 [stack], %rd2;\nsub.u64 %rd3, %rd2, %rd1;\nsetp.gt.u64 %p1, %rd3, 20000000;\n"
                  "@!%p1 bra AGAIN;\nred.global.add.u32 [%rd20], 1;");
    used = Now(CLOCK_PROCESS_CPUTIME_ID);
    EXPECT_EQ(CUDA_SUCCESS, Start(spin, 1, 4));
    EXPECT_EQ(1028u, Out(1)[0]);
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
                             "{\n.param .b32 a;\ncall few, (a);\n}",
                             "ld.global.u32 %r1, [elsewhere];",
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
        EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED,
                  Start(Kernel(text, ".extern .global .u32 elsewhere;\n.func few()\n{\nret;\n}\n")))
            << text;
    CUfunction one = Kernel("{\n.param .b32 a;\nst.param.b32 [a], 1;\ncall other, (a);\n}",
                            ".func other(.param .b32 a)\n{\nfrobnicate;\n}\n");
    EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, Start(one)) << "what it calls is not known";
}

TEST_F(Ptx, AKernelOfManyParametersGetsThemAll)
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

// The process ends, and says where.
TEST_F(Ptx, AFaultEndsTheProcessWithItsReason)
{
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const std::pair<const char *, const char *> all[] = {
        {"st.shared.u32 [own+16], 1;", "kernel k: outside of shared memory: 0x10, line 23: st.shared.u32 .own.16., 1"},
        {"st.shared.u32 [more+4], 1;", "outside of shared memory"},
        {"mov.u64 %rd1, stack;\nld.local.u64 %rd2, [%rd1+4];", "outside of local memory: 0x4, line 24: ld.local"},
        {"st.local.u32 [1099511627776], 1;", "outside of local memory"},
        {"mov.u64 %rd1, k_in;\nld.param.u64 %rd2, [%rd1+4];", "outside of the parameters: 0xc"},
        {"mov.u64 %rd1, k_in;\ncvta.param.u64 %rd1, %rd1;\nst.u64 [%rd1], 1;", "a store to a parameter"},
        {"red.global.add.u32 [%rd20+2], 1;", "not aligned"},
        {"ld.volatile.global.u64 %rd1, [%rd20+4];", "not aligned"},
        {"trap;", "trap: 0x0, line 23: trap"},
        {"mov.u64 %rd1, 7;\nP: .callprototype _ ();\ncall %rd1, (), P;", "no such function"},
        {"call again;", "too many calls"},
        {"tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd20, {%r5}];", "not such an object"}};
    for (const auto &[text, said] : all)
        EXPECT_DEATH(
            {
                Start(Kernel(std::string(".shared .align 8 .b8 own[16];\n.local .align 8 .b8 stack[8];\n") + text,
                             "/* of\ntwo lines */.extern .shared .b8 more[];\n.func again()\n{\ncall again;\n}\n"),
                      1, 1, 4);
                cuCtxSynchronize();
            },
            said)
            << text;
}

// What a pointer points to is aligned, not the pointer.
TEST_F(Ptx, AlignmentOfParameters)
{
    CUmodule m;
    CUfunction f;
    size_t offset = 0, size = 0;
    ASSERT_EQ(CUDA_SUCCESS,
              cuModuleLoadData(&m, ".version 7.0\n.visible .entry k(.param .u32 a, .param .u64 .ptr .global .align 1 b,"
                                   " .param .u8 c, .param .align 32 .b8 d[3])\n{\n}\n"));
    ASSERT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&f, m, "k"));
    for (size_t expected : {0, 8, 16, 32}) {
        static size_t n;
        EXPECT_EQ(CUDA_SUCCESS, cuFuncGetParamInfo(f, n++, &offset, &size));
        EXPECT_EQ(expected, offset);
    }
    EXPECT_EQ(3u, size);
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
