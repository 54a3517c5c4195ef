/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels that find pointers in memory touch.
 */
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/footprint/touched.h"
#include "tests/conformance/tables.ptx.h"
#include "tests/conformance/variables.ptx.h"
#include "tests/kit/kernels.ptx.h"

namespace
{

TEST_F(Touched, PointersInDeviceMemory)
{
    CUdeviceptr c = device("c"), other = device("other"), table = device("table"), a = device("a"), b = device("b");
    CUfunction mangled = kernel(ptds_tables_ptx, PTDS_GATHER), plain = kernel(ptds_tables_ptx, "gather");
    CUfunction scatter = kernel(ptds_tables_ptx, "scatter"), copy = kernel(kit_ptx, KIT_COPY);
    CUdeviceptr words[2] = {a, b};
    EXPECT_EQ(launch(mangled, c, table, 0u, 0u), "w c r table") << "nothing has been written there";
    EXPECT_EQ(launch(plain, c, table, 0u, 0u), "w c r table");
    CU(cuMemcpyHtoD(table, words, sizeof words));
    EXPECT_EQ(launch(mangled, c, table, 2u, 4u), "w c r table r a r b");
    EXPECT_EQ(launch(plain, c, table, 2u, 4u), "w c r table r a r b") << "whatever its name";
    EXPECT_EQ(launch(scatter, table, 2u, 0u, 4u), "r table w a w b");
    launch(copy, c, other, 0u);
    EXPECT_EQ(launch(copy, c, table, 0u), "w c r table") << "it follows none";
    EXPECT_TRUE(short_way);
}

TEST_F(Touched, PointersInDeviceMemoryMove)
{
    CUdeviceptr table = device("table"), more = device("more"), again = device("again"), outer = device("outer");
    CUdeviceptr a = device("a"), b = device("b"), c = device("c");
    CUfunction reads = that_does("t"), goes_on = that_does("L");
    CUdeviceptr words[2] = {a, b};
    CU(cuMemcpyHtoD(table, words, sizeof words));
    /* A copy of the table is one, at its place. */
    CU(cuMemcpyDtoD(more + 64, table, sizeof words));
    CU(cuMemcpyDtoD(again + 64, more + 64, sizeof words));
    EXPECT_EQ(launch(reads, again), "r again r a r b");
    /* What is overwritten points at nothing any more. */
    CU(cuMemsetD8(more + 64, 0, 16));
    EXPECT_EQ(launch(reads, more), "r more");
    words[1] = c;
    CU(cuMemcpyHtoD(table, words, sizeof words));
    CU(cuMemcpyHtoD(table + 8, words, 8));
    EXPECT_EQ(launch(reads, table), "r table r a");
    /* A table of tables. */
    words[0] = table;
    CU(cuMemcpyHtoD(outer, words, 8));
    EXPECT_EQ(launch(reads, outer), "r outer r table");
    EXPECT_EQ(launch(goes_on, outer), "r outer r table r a");
    /* In a ring. */
    CU(cuMemcpyHtoD(a, &outer, 8));
    EXPECT_EQ(launch(goes_on, table), "r table r a r outer");
}

/* It may follow what it has just stored, such as pointers that it uses in no other way. */
TEST_F(Touched, PointersThatAKernelWritesAndFollows)
{
    CUdeviceptr table = device("table"), other = device("other"), a = device("a");
    CUfunction both = that_does("tw"), through = that_does("T");
    EXPECT_EQ(launch(both, table, other), "r table w other");
    EXPECT_EQ(launch(both, table, table), "!POINTERS");
    CU(cuMemsetD8(table, 0, 4096));
    CU(cuMemcpyHtoD(table, &a, 8));
    EXPECT_EQ(launch(through, table), "r table w a");
    CU(cuMemcpyHtoD(table, &table, 8));
    EXPECT_EQ(launch(through, table), "!POINTERS") << "through memory, too";
}

/* Structures may be packed: a pointer begins anywhere, whatever the copy begins at. */
TEST_F(Touched, PointersInMemoryMayBePacked)
{
    CUdeviceptr a = device("a");
    CUfunction reads = that_does("t");
    for (size_t at : {0, 1, 2, 4, 7, 8, 12, 35, 52, 55, 56})
        for (size_t begin : {0, 8, 24}) {
            SCOPED_TRACE(std::to_string(at) + " of a copy to " + std::to_string(begin));
            unsigned char bytes[64];
            memset(bytes, 0xee, sizeof bytes);
            memcpy(bytes + at, &a, sizeof a);
            CUdeviceptr table = device("table");
            CU(cuMemcpyHtoD(table + begin, bytes, sizeof bytes));
            EXPECT_EQ(launch(reads, table), "r table r a");
            /* It is there as long as its own bytes are. */
            for (bool stays : {true, false}) {
                CUdeviceptr part = device("part");
                CU(cuMemcpyHtoD(part + begin, bytes, sizeof bytes));
                CU(cuMemsetD8(part, 0, begin + at + (stays ? 0 : 8)));
                CU(cuMemsetD8(part + begin + at + 8, 0, 100));
                EXPECT_EQ(launch(reads, part), stays ? "r part r a" : "r part");
            }
        }
}

/* In whichever order they came, and whichever of them is overwritten then: the other is there still. */
TEST_F(Touched, PointersToOneMemoryMoveTogether)
{
    CUdeviceptr a = device("a");
    CUfunction reads = that_does("t");
    for (bool rising : {true, false})
        for (bool first_stays : {true, false}) {
            CUdeviceptr table = device("table"), more = device("more");
            CU(cuMemcpyHtoD(rising ? table : table + 64, &a, 8));
            CU(cuMemcpyHtoD(rising ? table + 64 : table, &a, 8));
            CU(cuMemcpyDtoD(more, table, 128));
            CU(cuMemsetD8(first_stays ? more + 8 : more, 0, first_stays ? 120 : 64));
            EXPECT_EQ(launch(reads, more), "r more r a") << rising << first_stays;
        }
}

TEST_F(Touched, MorePointersThanAreKept)
{
    CUdeviceptr table = device("table"), words[65];
    CUfunction reads = that_does("t");
    for (CUdeviceptr &word : words)
        word = device("m");
    CU(cuMemcpyHtoD(table, words, 65 * 8));
    EXPECT_EQ(launch(reads, table), "!MANY");
    CU(cuMemsetD8(table, 0, 4096));
    CU(cuMemcpyHtoD(table, words, 63 * 8));
    EXPECT_EQ(launch(reads, table).substr(0, 11), "r table r m");
    CU(cuMemcpyHtoD(table, words, 64 * 8));
    EXPECT_EQ(launch(reads, table), "!MANY") << "with the table itself";
}

/* A memory that was followed once and is then reached as part of a list is followed as that, too. */
TEST_F(Touched, PointersThatAreFollowedFurther)
{
    CUdeviceptr table = device("table"), list = device("list"), a = device("a"), c = device("c");
    CU(cuMemcpyHtoD(table, &a, 8));
    CU(cuMemcpyHtoD(list, &table, 8));
    CU(cuMemcpyHtoD(a, &c, 8));
    EXPECT_EQ(launch(that_does("t"), table), "r table r a");
    EXPECT_EQ(launch(that_does("L"), list), "r list r table r a r c");
    EXPECT_EQ(launch(that_does("tL"), table, list), "r table r list r a r c");
}

/* What looks like an address of memory that is not there means all, where a kernel can load it as one. */
TEST_F(Touched, PointersToNothingMayBePacked)
{
    unsigned char bytes[4096];
    CUdeviceptr table = device("table"), gone;
    CUfunction reads = that_does("t");
    CU(cuMemAlloc(&gone, 1 << 20));
    CU(cuMemFree(gone));
    gone += 1 << 19;
    for (unsigned at : {0, 2, 4, 7, 8, 12, 4088}) {
        memset(bytes, 0, sizeof bytes);
        memcpy(bytes + at, &gone, sizeof gone);
        CU(cuMemcpyHtoD(table, bytes, sizeof bytes));
        EXPECT_EQ(launch(reads, table), at % 4 ? "r table" : "!POINTERS") << at;
    }
    CU(cuCtxSynchronize());
}

/* The memory that it pointed at has gone; whatever lies at its address now, nobody knows what the program means. */
TEST_F(Touched, PointersToMemoryThatIsGone)
{
    CUdeviceptr table = device("table"), gone, words[512] = {}, b = device("b");
    CUfunction reads = that_does("t");
    CU(cuMemAlloc(&gone, 4096));
    CU(cuMemcpyHtoD(table, &gone, 8));
    CU(cuMemFree(gone));
    EXPECT_EQ(launch(reads, table), "!POINTERS");
    CUdeviceptr a = device("a");
    ASSERT_EQ(a, gone);
    CU(cuMemsetD8(table, 0, 4096));
    EXPECT_EQ(launch(reads, table), "r table");
    CU(cuMemcpyHtoD(table, &a, 8));
    EXPECT_EQ(launch(reads, table), "r table r a");
    CU(cuMemFree(a));
    made.pop_back();
    device("again");
    EXPECT_EQ(launch(reads, table), "!POINTERS") << "another one at the same address";
    words[0] = b;
    CU(cuMemcpyHtoD(table, words, sizeof words));
    EXPECT_EQ(launch(reads, table), "r table r b") << "it is overwritten";
    /* One that comes after its memory has gone, beside others. */
    CUdeviceptr before;
    CU(cuMemAlloc(&before, 4096));
    CU(cuMemAlloc(&gone, 4096));
    ASSERT_EQ(before + 4096, gone);
    made.push_back(before);
    name("before", before);
    CU(cuMemFree(gone));
    words[0] = gone;
    CU(cuMemcpyHtoD(table, words, sizeof words));
    EXPECT_NE(launch(reads, table).find(" r before"), std::string::npos) << "an end";
    EXPECT_EQ(device("anew"), gone);
    EXPECT_EQ(launch(reads, table), "r table r anew") << "it has begun to be another one";
    /* A pointer that comes when there is nothing. */
    CUdeviceptr late;
    CU(cuMemAlloc(&late, 1 << 20));
    CU(cuMemFree(late));
    words[0] = late + (1 << 19);
    CU(cuMemcpyHtoD(table, words, sizeof words));
    EXPECT_EQ(launch(reads, table), "!POINTERS");
}

/* Kernels of a module leave pointers for each other, and the host copies them in, by whichever module. */
TEST_F(Touched, PointersInVariables)
{
    const std::string defines = ".visible .global .align 8 .u64 kept;\n.visible .const .align 8 .u64 fixed;\n"
                                ".visible .global .align 4 .u32 counter;\n";
    const std::string kept = "ld.global.u64 %rd1, [kept];\nst.global.u32 [%rd1], %r1;\n";
    const std::string fixed = "ld.const.u64 %rd1, [fixed];\nld.global.u32 %r1, [%rd1];\n";
    const std::string counts = "ld.global.u32 %r1, [counter];\nst.global.u32 [counter], %r1;\n";
    const std::string set = "ld.param.u64 %rd1, [p0];\nst.global.u64 [kept], %rd1;\n";
    const auto entry = [](const std::string &text) { return text.substr(text.find(".visible .entry")); };
    const std::string text = module_of("follow", "", defines, kept) + entry(module_of("follow_fixed", "", "", fixed)) +
                             entry(module_of("count", "", "", counts)) +
                             entry(module_of("count_fixed", "", "", counts + fixed)) +
                             entry(module_of("set", "q", "", set)) + entry(module_of("none", ""));
    CUdeviceptr a = device("a"), b = device("b"), at_kept, at_fixed, variable;
    CUmodule module;
    CUfunction follow, follow_fixed, count, count_fixed, sets, none;
    size_t bytes;
    CU(cuModuleLoadData(&module, text.c_str()));
    modules.push_back(module);
    CU(cuModuleGetFunction(&follow, module, "follow"));
    CU(cuModuleGetFunction(&follow_fixed, module, "follow_fixed"));
    CU(cuModuleGetFunction(&count, module, "count"));
    CU(cuModuleGetFunction(&count_fixed, module, "count_fixed"));
    CU(cuModuleGetFunction(&sets, module, "set"));
    CU(cuModuleGetFunction(&none, module, "none"));
    CU(cuModuleGetGlobal(&at_kept, &bytes, module, "kept"));
    CU(cuModuleGetGlobal(&at_fixed, &bytes, module, "fixed"));
    name("module", at_kept);
    EXPECT_EQ(launch(none), "");
    EXPECT_EQ(launch(follow_fixed), "r module");
    CU(cuMemcpyHtoD(at_fixed, &a, 8));
    EXPECT_EQ(launch(follow_fixed), "r module r a");
    CU(cuMemcpyHtoD(at_fixed, &b, 8));
    EXPECT_EQ(launch(follow_fixed), "r module r b");
    /* Others that kernels count in are no constants. */
    EXPECT_EQ(launch(count), "w module");
    EXPECT_EQ(launch(follow_fixed), "r module r b");
    EXPECT_EQ(launch(count_fixed), "w module r b");
    EXPECT_EQ(launch(follow_fixed), "r module r b");
    EXPECT_EQ(launch(follow), "!POINTERS") << "a kernel has written some";
    EXPECT_EQ(launch(follow_fixed), "!POINTERS") << "and what touches everything may have left pointers anywhere";
    CU(cuModuleLoadData(&module, text.c_str()));
    modules.push_back(module);
    CU(cuModuleGetFunction(&follow, module, "follow"));
    CU(cuModuleGetFunction(&follow_fixed, module, "follow_fixed"));
    CU(cuModuleGetFunction(&sets, module, "set"));
    CU(cuModuleGetGlobal(&at_kept, &bytes, module, "kept"));
    name("other", at_kept);
    CU(cuMemcpyHtoD(at_kept, &a, 8));
    EXPECT_EQ(launch(follow), "r other w a");
    CU(cuModuleLoadData(&module,
                        (text + ".visible .global .u32 one;\n.visible .const .u64 at_one = generic(one);\n").c_str()));
    modules.push_back(module);
    CU(cuModuleGetFunction(&follow, module, "follow"));
    CU(cuModuleGetFunction(&follow_fixed, module, "follow_fixed"));
    CU(cuModuleGetGlobal(&at_kept, &bytes, module, "kept"));
    name("addresses", at_kept);
    EXPECT_EQ(launch(follow_fixed), "r addresses");
    EXPECT_EQ(launch(follow), "!POINTERS") << "it may point at the module's own, which it writes";
    CU(cuModuleLoadData(&module, text.c_str()));
    modules.push_back(module);
    CU(cuModuleGetFunction(&follow_fixed, module, "follow_fixed"));
    CU(cuModuleGetFunction(&sets, module, "set"));
    CU(cuModuleGetGlobal(&at_fixed, &bytes, module, "fixed"));
    name("third", at_fixed);
    /* One that writes its module's variables by a pointer, too, may write constants. */
    CUdeviceptr table = device("table");
    CUfunction also;
    CUmodule more;
    CU(cuModuleLoadData(&more, module_of("also", "T", defines, counts + fixed).c_str()));
    modules.push_back(more);
    CU(cuModuleGetFunction(&also, more, "also"));
    CU(cuModuleGetGlobal(&variable, &bytes, more, "fixed"));
    name("more", variable);
    EXPECT_EQ(launch(also, table), "r table w more");
    CU(cuMemcpyHtoD(table, &variable, 8));
    EXPECT_EQ(launch(also, table), "!POINTERS");
    CU(cuModuleLoadData(&more, module_of("also", "w", defines, fixed).c_str()));
    modules.push_back(more);
    CU(cuModuleGetFunction(&also, more, "also"));
    CU(cuModuleGetGlobal(&variable, &bytes, more, "fixed"));
    name("given", variable);
    EXPECT_EQ(launch(also, a), "w a r given");
    EXPECT_EQ(launch(also, variable), "!POINTERS");
    CU(cuModuleLoadData(&module, text.c_str()));
    modules.push_back(module);
    CU(cuModuleGetFunction(&follow_fixed, module, "follow_fixed"));
    CU(cuModuleGetFunction(&sets, module, "set"));
    CU(cuModuleGetGlobal(&at_fixed, &bytes, module, "fixed"));
    name("third", at_fixed);
    EXPECT_EQ(launch(sets, a), "w third") << "the pointer is a number to it";
    CU(cuMemcpyHtoD(at_fixed, &a, 8));
    EXPECT_EQ(launch(follow_fixed), "r third r a");
    EXPECT_EQ(launch(that_does("w"), at_fixed), "w third") << "by its address";
    EXPECT_EQ(launch(follow_fixed), "!POINTERS");
}

/* Whoever asks for a variable's address may not want to know its size. */
TEST_F(Touched, PointersInVariablesWithoutASize)
{
    CUdeviceptr a = device("a"), variable;
    CUfunction follow = kernel(module_of("k", "", ".visible .const .align 8 .u64 fixed;\n",
                                         "ld.const.u64 %rd1, [fixed];\nld.global.u32 %r1, [%rd1];\n"),
                               "k");
    CU(cuModuleGetGlobal(&variable, nullptr, modules.back(), "fixed"));
    name("module", variable);
    CU(cuMemcpyHtoD(variable, &a, 8));
    EXPECT_EQ(launch(follow), "r module r a");
    CU(cuStreamWriteValue64(nullptr, variable, a, 0));
    EXPECT_EQ(launch(follow), "!POINTERS");
    CU(cuMemcpyHtoD(variable, &a, 8));
    EXPECT_EQ(launch(follow), "!POINTERS") << "there may be more of them";
    CU(cuCtxSynchronize());
}

/* The host stores pointers there itself, and may do so after the launch. */
TEST_F(Touched, PointersInHostMemory)
{
    CUdeviceptr a = device("a"), managed;
    alignas(4096) static char own[4096];
    CUfunction reads = that_does("t"), plain = that_does("r");
    void *pinned;
    CU(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    CU(cuMemAllocHost(&pinned, 4096));
    CU(cuMemHostRegister(own, 4096, 0));
    memset(pinned, 0, 4096);
    for (CUdeviceptr host : {managed, reinterpret_cast<CUdeviceptr>(pinned), reinterpret_cast<CUdeviceptr>(own)}) {
        name("host", host);
        CU(cuMemsetD8(host, 0, 4096));
        EXPECT_EQ(launch(plain, host), "r host");
        EXPECT_EQ(launch(reads, host), "!POINTERS");
        EXPECT_EQ(launch(reads, a), "!POINTERS");
        CU(cuMemsetD8(a, 0, 4096));
        EXPECT_EQ(launch(reads, a), "r a");
    }
    CU(cuCtxSynchronize());
    CU(cuMemHostUnregister(own));
    CU(cuMemFreeHost(pinned));
    CU(cuMemFree(managed));
}

/* Kernels that run from ends downwards say so by their name: the end of one memory may be the beginning of another. */
TEST_F(Touched, KernelsThatRunFromEnds)
{
    alignas(4096) static char own[3 * 4096];
    auto begin = reinterpret_cast<CUdeviceptr>(own);
    const char *const ends = "_Z3runN6thrust16reverse_iteratorIPfEE", *const plain = "_Z3runN6thrust8iteratorIPfEE";
    CU(cuMemHostRegister(own, 4096, 0));
    CU(cuMemHostRegister(own + 4096, 4096, 0));
    name("one", begin);
    name("two", begin + 4096);
    CUfunction down = kernel(module_of(ends, "w"), ends);
    EXPECT_EQ(launch(down, begin + 4096), "w two w one");
    EXPECT_EQ(launch(down, begin + 8192), "w two w one") << "beside both";
    EXPECT_EQ(launch(kernel(module_of(plain, "w"), plain), begin + 4096), "w two");
    CUdeviceptr read = begin, end = begin + 4096;
    const char *const both = "_Z3runPKfN6thrust16reverse_iteratorIPfEE";
    void *params[] = {&read, &end};
    CUfunction reads = kernel(module_of(both, "rw"), both);
    EXPECT_EQ(2, watch_names(reads, params, watch_find(begin)->uid)) << "its word says only that it is read";
    CU(cuCtxSynchronize());
    CU(cuMemHostUnregister(own + 4096));
    CU(cuMemHostUnregister(own));
}

/* To memory of malloc's, which some devices read. */
TEST_F(Touched, PointersToPageableMemory)
{
    static unsigned own[4];
    CUdeviceptr table = device("table"), more = device("more"), a = device("a"), words[512] = {};
    CUfunction reads = that_does("t");
    const auto address = reinterpret_cast<CUdeviceptr>(own);
    words[0] = a;
    watch_pageable(1);
    CU(cuMemcpyHtoD(table, words, sizeof words));
    EXPECT_EQ(launch(reads, table), "r table r a");
    CU(cuMemcpyHtoD(table + 8, &address, 8));
    EXPECT_EQ(launch(reads, table), "!POINTERS");
    CU(cuMemcpyHtoD(table, words, sizeof words));
    EXPECT_EQ(launch(reads, table), "r table r a") << "all of it is known again";
    CU(cuMemcpyHtoDAsync(table, words, sizeof words, nullptr));
    EXPECT_EQ(launch(reads, table), "!POINTERS") << "the device reads it when the copy runs";
    /* More pages than are asked about, where not even a sanitizer has any. */
    for (CUdeviceptr i = 0; i < 300; i++)
        words[i] = 0x30000800 + (i << 16);
    CU(cuMemsetD8(more, 0, 4096));
    CU(cuMemcpyHtoD(more, words, 200 * 8));
    EXPECT_EQ(launch(reads, more), "r more");
    CU(cuMemcpyHtoD(more, words, 300 * 8));
    EXPECT_EQ(launch(reads, more), "!POINTERS");
    watch_pageable(0);
    CU(cuCtxSynchronize());
}

} // namespace
