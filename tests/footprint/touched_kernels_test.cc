/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels touch: by their parameters, their names, their modules.
 */
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/footprint/touched.h"
#include "tests/conformance/tables.ptx.h"
#include "tests/conformance/textures.ptx.h"
#include "tests/conformance/variables.ptx.h"
#include "tests/kit/kernels.ptx.h"
#include "tests/sim/sim_test_api.h"

namespace
{

/* Under whatever name. */
TEST_F(Touched, KernelsByTheirCode)
{
    CUdeviceptr a = device("a"), b = device("b"), c = device("c");
    CUfunction plain = kernel(ptds_test_ptx, "add"), mangled = kernel(kit_ptx, KIT_COPY);
    EXPECT_EQ(launch(plain, c, a, b, 0u), "w c r a r b");
    EXPECT_EQ(launch(plain, c, a, c, 0u), "w c r a");
    EXPECT_EQ(launch(mangled, a, b, 0u), "w a r b");
    EXPECT_EQ(launch(mangled, a, a, 0u), "w a");
    EXPECT_EQ(launch(mangled, a, CUdeviceptr{0}, 0u), "w a");
    EXPECT_EQ(launch(kernel(ptds_test_ptx, "spin"), 12345ull), "");
    EXPECT_EQ(launch(kernel(kit_ptx, KIT_EMPTY)), "");
    EXPECT_EQ(launch(that_does("rwbqd"), a, b, c, a, 7u), "r a w b w c") << "what it does not use it does not touch";
    const char *const writes_const = "_Z6writesPKj", *const reads = "_Z5readsPj";
    EXPECT_EQ(launch(kernel(module_of(writes_const, "w"), writes_const), a), "w a") << "whatever its name says";
    EXPECT_EQ(launch(kernel(module_of(reads, "r"), reads), a), "r a");
}

/* Whatever it is: the launch is not known to leave anything alone. */
TEST_F(Touched, KernelsWhoseCodeOrPointersAreNotKnown)
{
    CUdeviceptr a = device("a", 1 << 20), gone;
    CUfunction copy = kernel(kit_ptx, KIT_COPY);
    CU(cuMemAlloc(&gone, 1 << 20));
    CU(cuMemFree(gone));
    EXPECT_EQ(launch(copy, a, a, 0u), "w a");
    EXPECT_EQ(launch(copy, a, CUdeviceptr{16}, 0u), "w a") << "no memory lies in reach of it";
    EXPECT_EQ(launch(that_does("wr"), a, CUdeviceptr{16}), "w a") << "no memory lies in reach of it";
    EXPECT_EQ(launch(that_does("wr"), a, CUdeviceptr{1} << 32), "!BASE");
    EXPECT_EQ(launch(copy, a, CUdeviceptr{1} << 32, 0u), "!BASE");
    const std::string far_away = "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\nmul.lo.u64 %rd2, %rd2, 4;\n"
                                 "add.u64 %rd1, %rd1, %rd2;\nst.global.u32 [%rd1], %r1;\n";
    CUfunction far = kernel(module_of("k", "qq", "", far_away), "k");
    EXPECT_EQ(launch(far, a, CUdeviceptr{5}), "w a");
    EXPECT_EQ(launch(far, CUdeviceptr{16}, a / 4), "!BASE");
    EXPECT_EQ(launch(copy, a, CUdeviceptr{1} << 60 | a, 0u), "!BASE") << "a tag in its high bits";
    EXPECT_EQ(launch(copy, a, a * 3, 0u), "!BASE");
    EXPECT_EQ(launch(copy, a, CUdeviceptr{0x3ff0000000000000}, 0u), "w a") << "1.0";
    EXPECT_EQ(launch(copy, a, CUdeviceptr{0} - 4096, 0u), "w a") << "a negative number";
    EXPECT_EQ(launch(copy, a, a + (1 << 20) + 65537, 0u), "!BASE");
    EXPECT_EQ(launch(that_does("rq"), a, CUdeviceptr{16}), "r a") << "no pointer";
    runnable = false;
    const std::string calls = module_of("k", "r", ".extern .func elsewhere();\n", "call.uni elsewhere, ();\n");
    EXPECT_EQ(launch(kernel(calls, "k"), a), "!CODE");
    const std::string odd = module_of("k", "r", "", "unheard.of.u32 %r1, %r2;\n");
    EXPECT_EQ(launch(kernel(odd, "k"), a), "!CODE");
    const std::string allocates =
        module_of("k", "r", ".extern .func (.param .b64 got) malloc(.param .b64 bytes);\n",
                  "{\n.param .b64 bytes;\n.param .b64 got;\nst.param.b64 [bytes], %rd1;\n"
                  "call.uni (got), malloc, (bytes);\nld.param.b64 %rd2, [got];\nst.global.u32 [%rd2], %r1;\n}\n");
    EXPECT_EQ(launch(kernel(allocates, "k"), a), "!HEAP");
}

/* Two numbers of 64 bits, one of which is the pointer. */
TEST_F(Touched, SumsOfParameters)
{
    CUdeviceptr a = device("a", 1 << 20), b = device("b", 1 << 20), none = 0; /* the one behind the other */
    const std::string sum = "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\nadd.u64 %rd3, %rd1, %rd2;\n"
                            "st.global.u32 [%rd3], %r1;\n";
    CUfunction function = kernel(module_of("k", "qq", "", sum), "k");
    EXPECT_EQ(launch(function, a, none), "w a");
    EXPECT_EQ(launch(function, a, CUdeviceptr{64}), "w a");
    EXPECT_EQ(launch(function, CUdeviceptr{1 << 17}, b), "w b");
    EXPECT_EQ(launch(function, CUdeviceptr{64}, b - 64), "w a w b") << "beside the one, at the beginning of the other";
    EXPECT_EQ(launch(function, a, b), "w a w b") << "whichever it is";
    EXPECT_EQ(launch(function, a, b - a), "w a w b") << "where their sum lies";
    EXPECT_EQ(launch(function, CUdeviceptr{64}, CUdeviceptr{64}), "") << "two numbers";
    EXPECT_EQ(launch(function, CUdeviceptr{64}, CUdeviceptr{1} << 40), "!BASE");
    EXPECT_EQ(launch(function, none, none), "");
}

/* An address in the code itself, as compilers at run time write it: beside a distance nothing says that it is a pointer. */
TEST_F(Touched, AddressesInTheCodeBesideNumbers)
{
    CUdeviceptr a = device("a");
    const std::string sum = "mov.u64 %rd1, " + std::to_string(a) +
                            ";\nld.param.u64 %rd2, [p0];\nadd.s64 %rd3, %rd2, %rd1;\nst.global.u32 [%rd3], %r1;\n";
    CUfunction function = kernel(module_of("k", "q", "", sum), "k");
    EXPECT_EQ(launch(function, CUdeviceptr{0}), "!BASE");
    EXPECT_EQ(launch(function, CUdeviceptr{64}), "!BASE");
}

/* One of many sums, nobody knows which: then no word may be an address of what is not known. */
TEST_F(Touched, SumsOfSomeOfMany)
{
    CUdeviceptr a = device("a", 1 << 20), b = device("b", 1 << 20), gone, none = 0;
    CU(cuMemAlloc(&gone, 1 << 20));
    CU(cuMemFree(gone));
    std::string sums = "setp.eq.u32 %p1, %r1, 0;\nld.param.u64 %rd1, [p0];\n";
    for (int i = 1; i < 5; i++)
        sums += "ld.param.u64 %rd2, [p" + std::to_string(i) +
                "];\nadd.s64 %rd3, %rd1, %rd2;\nselp.b64 %rd1, %rd1, %rd3, %p1;\n";
    CUfunction function = kernel(module_of("k", "qqqqq", "", sums + "st.global.u32 [%rd1], %r1;\n"), "k");
    EXPECT_EQ(launch(function, a, none, none, none, CUdeviceptr{64}), "w a");
    EXPECT_EQ(launch(function, none, none, b, CUdeviceptr{64}, a), "w b w a");
    EXPECT_EQ(launch(function, a, CUdeviceptr{64}, b - a, none, none), "w a w b") << "a distance from one to the other";
    EXPECT_EQ(launch(function, a, none, none, gone + (1 << 19), none), "!BASE");
    EXPECT_EQ(launch(function, none, none, none, none, CUdeviceptr{64}), "");
}

/* Addresses that are set aside for devices are the program's own, but nobody can read there. */
TEST_F(Touched, AddressesThatNobodyReads)
{
    CUdeviceptr a = device("a");
    CUfunction function = kernel(kit_ptx, KIT_COPY);
    const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void *aside = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(MAP_FAILED, aside);
    EXPECT_EQ(launch(function, a, reinterpret_cast<CUdeviceptr>(aside), 0u), "!BASE");
    ASSERT_EQ(0, mprotect(aside, size, PROT_READ));
    EXPECT_EQ(launch(function, a, reinterpret_cast<CUdeviceptr>(aside), 0u), "w a");
    munmap(aside, size);
}

/* What is added to a pointer may be one that was shifted. */
TEST_F(Touched, PointersThatWereShiftedBesideNumbers)
{
    CUdeviceptr a = device("a"), none = 0;
    const std::string sum = "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\nshl.b64 %rd1, %rd1, 4;\n"
                            "add.s64 %rd3, %rd2, %rd1;\nst.global.u32 [%rd3], %r1;\n";
    CUfunction function = kernel(module_of("k", "qq", "", sum), "k");
    EXPECT_EQ(launch(function, a >> 4, none), "!BASE");
    EXPECT_EQ(launch(function, a >> 4, CUdeviceptr{64}), "!BASE");
    EXPECT_EQ(launch(function, CUdeviceptr{3}, none), "");
    EXPECT_EQ(launch(function, CUdeviceptr{3}, CUdeviceptr{64}), "") << "numbers both";
    EXPECT_EQ(launch(function, CUdeviceptr{3}, a), "w a");
}

/* A structure that is indexed when the kernel runs: any of its words may be the pointer. */
TEST_F(Touched, RangesOfParameters)
{
    const std::string indexed = "mov.u32 %r2, %tid.x;\nmul.wide.u32 %rd1, %r2, 8;\nmov.b64 %rd2, p0;\n"
                                "add.s64 %rd3, %rd2, %rd1;\nld.param.u64 %rd4, [%rd3];\nst.global.u32 [%rd4], %r1;\n";
    std::string text = module_of("k", "q", "", indexed);
    text.replace(text.find(".param .u64 p0"), 14, ".param .align 8 .b8 p0[64]");
    CUdeviceptr a = device("a"), b = device("b"), gone;
    CU(cuMemAlloc(&gone, 1 << 20));
    CU(cuMemFree(gone));
    CUfunction function = kernel(text, "k");
    struct {
        CUdeviceptr words[8];
    } parameter = {};
    EXPECT_EQ(launch(function, parameter), "");
    parameter.words[0] = a, parameter.words[7] = b;
    EXPECT_EQ(launch(function, parameter), "w a w b");
    parameter.words[3] = 12345;
    EXPECT_EQ(launch(function, parameter), "w a w b") << "no address";
    parameter.words[3] = gone + (1 << 19);
    EXPECT_EQ(launch(function, parameter), "!BASE") << "like an address, of what is not there";
    for (unsigned i : {0, 2, 7}) {
        parameter = {};
        parameter.words[i] = CUdeviceptr{0x7f} << 40;
        EXPECT_EQ(launch(function, parameter), "!BASE") << i;
    }
}

/* Of a packed one as two halves: the pointer begins at any multiple of four, up to the last of its bytes. */
TEST_F(Touched, RangesOfPackedParameters)
{
    const std::string indexed = "mov.u32 %r2, %tid.x;\nmul.wide.u32 %rd1, %r2, 4;\nmov.b64 %rd2, p0;\n"
                                "add.s64 %rd3, %rd2, %rd1;\nld.param.u32 %r3, [%rd3];\nld.param.u32 %r4, [%rd3+4];\n"
                                "mov.b64 %rd4, {%r3, %r4};\nst.global.u32 [%rd4], %r1;\n";
    std::string text = module_of("k", "q", "", indexed);
    text.replace(text.find(".param .u64 p0"), 14, ".param .align 4 .b8 p0[44]");
    CUdeviceptr a = device("a");
    CUfunction function = kernel(text, "k");
    struct {
        unsigned char bytes[44];
    } parameter = {};
    EXPECT_EQ(launch(function, parameter), "");
    for (unsigned at = 0; at <= 36; at += 4) {
        parameter = {};
        memcpy(parameter.bytes + at, &a, sizeof a);
        EXPECT_EQ(launch(function, parameter), "w a") << at;
    }
}

/* By the way that most launches take, by the long one, and in a buffer: words at multiples of four are loaded as two
 * halves. */
TEST_F(Touched, PointersInPackedStructures)
{
    struct Row {
        unsigned at, size;
    };
    const Row all[] = {{0, 8}, {0, 16}, {8, 16}, {4, 12}, {4, 16}, {12, 24}, {16, 24}, {36, 44}, {52, 64}, {4072, 4080}};
    CUdeviceptr a = device("a");
    for (const Row &row : all) {
        SCOPED_TRACE(std::to_string(row.at) + " of " + std::to_string(row.size));
        std::vector<unsigned char> bytes(row.size, 0xee);
        memcpy(bytes.data() + row.at, &a, sizeof a);
        std::string module =
            module_of("k", "q", "",
                      "ld.param.u32 %r2, [p0+" + std::to_string(row.at) + "];\nld.param.u32 %r3, [p0+" +
                          std::to_string(row.at + 4) + "];\nmov.b64 %rd1, {%r2, %r3};\nst.global.u32 [%rd1], %r1;\n");
        module.replace(module.find(".param .u64 p0"), 14, ".param .align 4 .b8 p0[" + std::to_string(row.size) + "]");
        CUfunction function = kernel(module, "k");
        size_t size = row.size;
        void *params[] = {bytes.data()}, *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes.data(),
                                                     CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
        last = {};
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra);
        EXPECT_EQ(text(), "w a") << "in a buffer";
        struct touched plainly = {};
        EXPECT_TRUE(watch_plainly(function, params, &plainly));
        last = {};
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr);
        EXPECT_EQ(text(), "w a");
        last = plainly;
        EXPECT_EQ(text(), "w a") << "by the short way";
    }
}

/* Halves that lie apart are one pointer all the same. */
TEST_F(Touched, PointersInTwoHalves)
{
    std::string text = module_of("k", "ddd", "",
                                 "ld.param.u32 %r2, [p2];\nld.param.u32 %r3, [p0];\nmov.b64 %rd1, {%r2, %r3};\n"
                                 "st.global.u32 [%rd1], %r1;\n");
    CUdeviceptr a = device("a");
    CUfunction function = kernel(text, "k");
    EXPECT_EQ(launch(function, unsigned(a >> 32), 7u, unsigned(a)), "w a");
    EXPECT_EQ(launch(function, unsigned(a), 7u, unsigned(a >> 32)), "") << "no address";
    EXPECT_EQ(launch(function, unsigned((a >> 32) + 1), 7u, unsigned(a)), "!BASE");
}

/* Arrays that count from one, and ends that are counted down from: as far as 64 KiB. A pointer to where a memory begins
 * means that one. */
TEST_F(Touched, PointersBesideTheirMemory)
{
    const size_t large = 1 << 20;
    CUdeviceptr all[3] = {};
    CUfunction read = that_does("r");
    for (CUdeviceptr &one : all)
        CU(cuMemAlloc(&one, large));
    std::sort(all, all + 3);
    ASSERT_EQ(all[0] + large, all[1]) << "side by side";
    ASSERT_EQ(all[1] + large, all[2]);
    const char *const as[] = {"first", "second", "third"};
    for (int i = 0; i < 3; i++) {
        name(as[i], all[i]);
        made.push_back(all[i]);
    }
    struct Row {
        CUdeviceptr at;
        const char *touches;
        bool plain;
    };
    const Row rows[] = {{all[1], "r second", true},
                        {all[1] - 4, "r first r second", false},
                        {all[1] - 65536, "r first r second", false},
                        {all[1] - 65540, "r first", true},
                        {all[1] + 4, "r second r first", false},
                        {all[1] + 65536, "r second r first", false},
                        {all[1] + 65540, "r second", true},
                        {all[2] - 4, "r second r third", false},
                        {all[0] - 4, "r first", false},
                        {all[0] - 65536, "r first", false}};
    launch(read, all[0]);
    for (const Row &row : rows) {
        SCOPED_TRACE(row.at - all[0]);
        if (row.at < all[0] && watch_find(row.at))
            continue; /* another test's */
        EXPECT_EQ(launch(read, row.at), row.touches);
        EXPECT_EQ(short_way, row.plain);
    }
}

TEST_F(Touched, ShortWayForDeviceMemoryAlone)
{
    CUdeviceptr a = device("a"), b = device("b");
    void *pinned;
    CU(cuMemAllocHost(&pinned, 4096));
    auto host = reinterpret_cast<CUdeviceptr>(pinned);
    name("pinned", host);
    CUfunction copy = kernel(kit_ptx, KIT_COPY), add = kernel(ptds_test_ptx, "add");
    launch(copy, a, b, 0u);
    EXPECT_FALSE(short_way) << "the first launch learns what the kernel is";
    EXPECT_EQ(launch(copy, a, b, 0u), "w a r b");
    EXPECT_TRUE(short_way);
    EXPECT_EQ(launch(copy, a, a, 0u), "w a");
    EXPECT_TRUE(short_way);
    EXPECT_EQ(launch(copy, a, host, 0u), "w a r pinned");
    EXPECT_FALSE(short_way) << "the host can tell by it that all before is done";
    launch(copy, a, CUdeviceptr{16}, 0u);
    EXPECT_FALSE(short_way) << "no address";
    launch(copy, a, CUdeviceptr{0}, 0u);
    EXPECT_TRUE(short_way);
    launch(add, b, a, b, 0u);
    EXPECT_EQ(launch(add, b, a, b, 0u), "w b r a");
    EXPECT_TRUE(short_way);
    CUfunction through = that_does("t");
    launch(through, b);
    launch(through, b);
    EXPECT_FALSE(short_way) << "what it follows changes";
    CU(cuMemFreeHost(pinned));
}

/* Structures among other parameters, by both ways. */
TEST_F(Touched, PointersInAndBesideStructures)
{
    struct {
        int n;
        CUdeviceptr first, second;
    } structure = {1, device("a"), device("b")};
    std::string text = module_of("k", "wqdqw", "",
                                 "ld.param.u64 %rd1, [p1+8];\nst.global.u32 [%rd1], %r1;\nld.param.u64 %rd1, [p1+16];\n"
                                 "ld.global.u32 %r1, [%rd1];\nld.param.u64 %rd1, [p3+8];\nld.global.u32 %r1, [%rd1];\n"
                                 "ld.param.u64 %rd1, [p3+16];\nst.global.u32 [%rd1], %r1;\n");
    for (const char *p : {".param .u64 p1", ".param .u64 p3"})
        text.replace(text.find(p), 14, ".param .align 8 .b8 " + std::string(p + 12) + "[24]");
    CUfunction function = kernel(text, "k");
    CUdeviceptr c = device("c"), d = device("d");
    auto other = structure;
    other.first = 0;
    other.second = device("e");
    launch(function, c, structure, 7u, other, d);
    EXPECT_EQ(launch(function, c, structure, 7u, other, d), "w c w a r b w e w d");
    EXPECT_TRUE(short_way);
}

/* Where pools and large reservations lie on a GPU, far below the rest: numbers in between are no addresses. */
TEST_F(Touched, MemoryBelowOneTebibyte)
{
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the address sanitizer keeps all low addresses";
#endif
    CUdeviceptr a = device("a");
    const auto at = uintptr_t{0x302000000};
    void *low = mmap(reinterpret_cast<void *>(at), 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_EQ(reinterpret_cast<void *>(at), low);
    CU(cuMemHostRegister(low, 8192, 0));
    name("low", at);
    CUfunction copy = kernel(kit_ptx, KIT_COPY), deep = kernel(ptds_tables_ptx, "deep_add");
    launch(copy, a, a, 0u);
    EXPECT_EQ(launch(copy, a, CUdeviceptr{at}, 0u), "w a r low");
    EXPECT_EQ(launch(copy, a, CUdeviceptr{at + 8191}, 0u), "w a r low");
    const std::string sums = "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\nld.param.u64 %rd3, [p2];\n"
                             "add.u64 %rd3, %rd3, %rd1;\nadd.u64 %rd3, %rd3, %rd2;\nst.global.u32 [%rd3], %r1;\n";
    CUfunction sum = kernel(module_of("k", "qqq", "", sums), "k");
    const CUdeviceptr number = 0xf0000000, none = 0;
    EXPECT_EQ(launch(sum, number, number, none), "");
    EXPECT_EQ(launch(sum, number, number, number), "!BASE") << "with 4 GiB more they reach it";
    struct {
        CUdeviceptr words[500];
    } parameter = {};
    parameter.words[0] = at + 64;
    parameter.words[499] = a;
    EXPECT_EQ(launch(deep, parameter, 1u), "w a");
    parameter.words[499] = at + 64;
    EXPECT_EQ(launch(deep, parameter, 0u), "w low");
    CU(cuCtxSynchronize());
    CU(cuMemHostUnregister(low));
    munmap(low, 8192);
}

/* As many memories as a footprint has room for, of as many pointers: the short way leaves room for the module's variables.
 */
TEST_F(Touched, AsManyMemoriesAsThereIsRoomFor)
{
    const size_t most = 96;
    std::vector<CUdeviceptr> words(most);
    std::vector<void *> params;
    for (CUdeviceptr &word : words)
        params.push_back(&word);
    CUfunction function = that_does(std::string(most, 'w'));
    std::vector<CUdeviceptr> memories;
    for (size_t i = 0; i < TOUCHED_MOST + 2; i++)
        memories.push_back(device(std::to_string(i)));
    for (size_t different : {size_t{1}, size_t{62}, size_t{63}, size_t{64}, size_t{65}}) {
        for (size_t i = 0; i < most; i++)
            words[i] = memories[i % different];
        last = {};
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, params.data(), nullptr);
        EXPECT_EQ(last.opaque, different > 64 ? unsigned{OPAQUE_MANY} : 0u) << different;
        struct touched plainly = {};
        EXPECT_EQ(watch_plainly(function, params.data(), &plainly), different < 64) << different;
        if (different < 64) {
            EXPECT_EQ(plainly.count, different);
        }
    }
    EXPECT_FALSE(watch_plainly(that_does(std::string(97, 'w')), params.data(), nullptr)) << "more than are listed";
}

/* A record has 37 words for a launch's pointers. Of more pointers it names the memories, as long as there are no more. */
TEST_F(Touched, TheRecordOfMorePointersThanWords)
{
    const size_t most = 40;
    CUfunction function = that_does("r" + std::string(most - 1, 'w'));
    std::vector<CUdeviceptr> memories, words(most);
    std::vector<void *> params(most);
    for (size_t i = 0; i < most; i++) {
        memories.push_back(device(std::to_string(i)));
        params[i] = &words[i];
    }
    const auto named = [&](size_t pointers, size_t different, size_t which) {
        for (size_t i = 0; i < most; i++)
            words[i] = i < pointers ? memories[i % different] : 0;
        return watch_names(function, params.data(), watch_find(memories[which])->uid);
    };
    EXPECT_EQ(0, named(37, 2, 1));
    EXPECT_EQ(37u, watch_words);
    EXPECT_EQ(0, named(37, 37, 1));
    EXPECT_EQ(37u, watch_words);
    EXPECT_FALSE(watch_is_opaque);
    EXPECT_EQ(2, named(38, 2, 1));
    EXPECT_EQ(2u, watch_words);
    EXPECT_FALSE(watch_is_opaque);
    EXPECT_EQ(2, named(38, 2, 0)) << "read as the first one, written as others";
    EXPECT_EQ(1, named(38, 37, 1) == 2 ? 1 : 0);
    EXPECT_EQ(2, named(38, 37, 36));
    EXPECT_EQ(37u, watch_words);
    EXPECT_FALSE(watch_is_opaque);
    named(38, 38, 0);
    EXPECT_TRUE(watch_is_opaque);
    words[0] = memories[0];
    for (size_t i = 1; i < most; i++)
        words[i] = memories[1];
    EXPECT_EQ(1, watch_names(function, params.data(), watch_find(memories[0])->uid)) << "only read";
    EXPECT_EQ(2u, watch_words);
}

/* A pointer to the program's own memory means something to some devices. */
TEST_F(Touched, PageableMemoryWhereKernelsReadIt)
{
    CUdeviceptr a = device("a");
    static unsigned own[4];
    CUfunction function = kernel(kit_ptx, KIT_COPY);
    auto address = reinterpret_cast<CUdeviceptr>(own);
    EXPECT_EQ(launch(function, a, address, 0u), "w a") << "the device does not read it";
    watch_pageable(1);
    EXPECT_EQ(launch(function, a, address, 0u), "!OTHER");
    /* Wherever it lies: programs that are not position-independent have their heap below 4 GiB. Neither is a sanitizer's.
     */
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    for (uintptr_t at : {uintptr_t{0x20000000}, uintptr_t{0x7e9123450000}}) {
        void *low = mmap(reinterpret_cast<void *>(at), page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_EQ(reinterpret_cast<void *>(at), low);
        EXPECT_EQ(launch(function, a, CUdeviceptr{at + 12}, 0u), "!OTHER");
        munmap(low, page);
        EXPECT_EQ(launch(function, a, CUdeviceptr{at + 12}, 0u), "!BASE");
    }
    /* Memory that is known begins behind it, but not there. */
    alignas(4096) static char beside[8192];
    CU(cuMemHostRegister(beside + 4096, 4096, 0));
    EXPECT_EQ(launch(function, a, reinterpret_cast<CUdeviceptr>(beside) + 4092, 0u), "!OTHER");
    CU(cuMemHostUnregister(beside + 4096));
    EXPECT_EQ(launch(function, a, CUdeviceptr{1} << 48 | 0x7000, 0u), "!BASE");
    EXPECT_EQ(launch(function, a, CUdeviceptr{0x7000}, 0u), "!BASE");
    EXPECT_EQ(launch(function, a, CUdeviceptr{0x7ffffffff000}, 0u), "!BASE");
    watch_pageable(0);
}

TEST_F(Touched, ParametersInABuffer)
{
    struct {
        CUdeviceptr to, from;
        unsigned n;
    } parameters = {device("a"), device("b"), 0};
    size_t size = sizeof parameters;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    TOUCHES(cuLaunchKernel(kernel(kit_ptx, KIT_COPY), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra), "w a r b");
}

/* Those that are not all there. */
TEST_F(Touched, ParametersInAShortBuffer)
{
    struct {
        CUdeviceptr to, first, second;
    } parameters = {device("a"), device("b"), device("c")};
    CUfunction function = that_does("wrq");
    size_t size = sizeof parameters;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    for (const char *expected : {"w a r b", "w a r b", "w a r b", "!PARAMETERS", "!PARAMETERS", "!PARAMETERS"}) {
        last = {};
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra);
        EXPECT_EQ(text(), expected) << size;
        size -= 4;
    }
}

/* Of 4,000 bytes only the one that is used. */
TEST_F(Touched, TheLastOfFiveHundredWords)
{
    struct {
        CUdeviceptr words[500];
    } parameter = {};
    CUdeviceptr a = device("a"), b = device("b");
    parameter.words[499] = a;
    CUfunction function = kernel(ptds_tables_ptx, "deep_add");
    EXPECT_EQ(launch(function, parameter, 1u), "w a");
    parameter.words[0] = b;
    EXPECT_EQ(launch(function, parameter, 1u), "w a");
}

TEST_F(Touched, AModulesVariables)
{
    CUdeviceptr a = device("a"), variable, constant;
    CUmodule module, other;
    CUfunction get, add, others;
    size_t bytes;
    CU(cuModuleLoadData(&module, ptds_variables_ptx));
    CU(cuModuleGetFunction(&get, module, "var_get"));
    CU(cuModuleGetFunction(&add, module, "var_add"));
    CU(cuModuleGetGlobal(&variable, &bytes, module, "ptds_var"));
    CU(cuModuleGetGlobal(&constant, &bytes, module, "ptds_start"));
    name("module", variable);
    EXPECT_EQ(watch_find(constant), watch_find(variable));
    EXPECT_EQ(launch(get, a, 1u), "w a r module");
    EXPECT_EQ(launch(add, 1u), "w module");
    unsigned word = 0;
    last = {};
    CU(cuMemcpyHtoD(variable, &word, 4));
    ASSERT_EQ(last.count, 1u);
    EXPECT_EQ(names[last.at[0].memory], "module");
    /* Loaded once more, it is another memory. */
    CU(cuModuleLoadData(&other, ptds_variables_ptx));
    CU(cuModuleGetFunction(&others, other, "var_add"));
    EXPECT_EQ(launch(others, 1u), "w ?");
    /* Its unloading leaves the first one's kernels. */
    CU(cuModuleUnload(other));
    EXPECT_EQ(launch(add, 1u), "w module");
    CU(cuModuleUnload(module));
    EXPECT_EQ(watch_find(variable), nullptr);
}

TEST_F(Touched, TexturesAndSurfaces)
{
    CUdeviceptr a = device("a"), linear = device("linear");
    CUDA_RESOURCE_DESC resource = {};
    CUDA_TEXTURE_DESC how = {};
    CUtexObject texture;
    CUsurfObject surface;
    CUarray array;
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = linear;
    resource.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT32;
    resource.res.linear.numChannels = 1;
    resource.res.linear.sizeInBytes = 256;
    CU(cuTexObjectCreate(&texture, &resource, &how, nullptr));
    CUfunction tex_copy = kernel(ptds_textures_ptx, "tex_copy"), surf_add = kernel(ptds_textures_ptx, "surf_add");
    EXPECT_EQ(launch(tex_copy, a, texture, 4u), "w a r linear");
    CU(cuCtxSynchronize());
    CU(cuTexObjectDestroy(texture));
    CUDA_ARRAY3D_DESCRIPTOR about = {};
    about.Width = 64, about.Format = CU_AD_FORMAT_UNSIGNED_INT32, about.NumChannels = 1;
    about.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    CU(cuArray3DCreate(&array, &about));
    resource = {};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    CU(cuSurfObjectCreate(&surface, &resource));
    last = {};
    CU(cuMemcpyDtoA(array, 0, a, 64));
    names[last.at[0].memory] = "array";
    EXPECT_EQ(launch(surf_add, surface, 4u), "w array");
    CU(cuCtxSynchronize());
    CU(cuSurfObjectDestroy(surface));
    CU(cuArrayDestroy(array));
}

/* Parameters that nobody says where they are. */
TEST_F(Touched, ParametersThatAreNotThere)
{
    CUfunction function = kernel(kit_ptx, KIT_COPY);
    void *extra[] = {CU_LAUNCH_PARAM_END};
    last = {};
    cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra);
    EXPECT_EQ(text(), "!PARAMETERS");
    last = {};
    cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
    EXPECT_EQ(text(), "!PARAMETERS");
}

/* The address of the memory lies somewhere in the map; one without any that is known may mean all. */
TEST_F(Touched, TensorMapsNameTheMemoryThatTheyDescribe)
{
    std::string text = module_of("k", "q", "",
                                 "mov.b64 %rd1, p0;\ncp.async.bulk.tensor.1d.shared::cluster.global.tile."
                                 "mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2}], [%r3];\n");
    text.replace(text.find(".param .u64 p0"), 14, ".param .align 64 .b8 p0[128]");
    CUdeviceptr a = device("a");
    runnable = false;
    CUfunction function = kernel(text, "k");
    struct {
        CUdeviceptr words[16];
    } map = {};
    map.words[3] = 77;
    EXPECT_EQ(launch(function, map), "!BASE");
    map.words[1] = a;
    EXPECT_EQ(launch(function, map), "w a");
    map.words[1] = 0, map.words[15] = a + 64;
    EXPECT_EQ(launch(function, map), "w a");
}

/* What the driver is told, which compares each access with it: no byte more than there is. */
TEST_F(Touched, WhatAProgramDeclaresOfALaunchIsItsFootprint)
{
    CUdeviceptr a = device("a", 100), b = device("b", 256);
    void *pinned;
    CU(cuMemHostAlloc(&pinned, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    const CUdeviceptr host = CUdeviceptr(pinned);
    CUfunction function = that_does("rw");
    struct watch_claim claim = {};
    const auto ranges = [&](CUdeviceptr read, CUdeviceptr written) {
        std::string line;
        claim = {};
        launch(function, read, written);
        for (unsigned i = 0; i < claim.count && i < 8; i++) {
            const CUdeviceptr of = claim.at[i].begin >= b && claim.at[i].begin < b + 256   ? b
                                   : claim.at[i].begin >= a && claim.at[i].begin < a + 100 ? a
                                                                                           : host;
            line += std::string(claim.at[i].writes ? "w" : "r") +
                    (of == a   ? "a"
                     : of == b ? "b"
                               : "h") +
                    std::to_string(claim.at[i].begin - of) + "-" + std::to_string(claim.at[i].end - of) + " ";
        }
        return line + (claim.everything ? "all" : "");
    };
    watch_claims(&claim);
    EXPECT_EQ(ranges(a, b), "ra0-100 wb0-256 ");
    EXPECT_EQ(ranges(0, a), "wa0-100 ");
    EXPECT_EQ(ranges(a, CUdeviceptr{0x7f} << 40), "all");
    EXPECT_EQ(ranges(host, 0).substr(0, 8), "rh0-64 r") << "and at each address that it has";
    watch_claims(nullptr);
    CU(cuCtxSynchronize());
    CU(cuMemFreeHost(pinned));
}

} // namespace
