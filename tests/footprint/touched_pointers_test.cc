/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels that find pointers in memory touch.
 */
#include <cstdlib>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

#include "tests/footprint/touched.h"
#include "tests/conformance/tables.ptx.h"
#include "tests/conformance/variables.ptx.h"
#include "tests/kit/kernels.ptx.h"

namespace
{

TEST_F(Touched, PointersInDeviceMemory)
{
    CUdeviceptr before = device("before"), c = device("c"), other = device("other");
    CUfunction mangled = kernel(ptds_tables_ptx, PTDS_GATHER), plain = kernel(ptds_tables_ptx, "gather");
    launch(plain, c, other, 0u, 0u);
    EXPECT_EQ(launch(mangled, c, before, 0u, 0u), "!POINTERS") << "others were launched that nobody looked after";
    CUdeviceptr table = device("table"), a = device("a"), b = device("b");
    CUdeviceptr words[2] = {a, b + 16};
    EXPECT_EQ(launch(mangled, c, table, 0u, 0u), "w c w table") << "nothing has been written there";
    EXPECT_EQ(launch(plain, c, table, 0u, 0u), "w c w table");
    CU(cuMemcpyHtoD(table, words, sizeof words));
    EXPECT_EQ(launch(mangled, c, table, 2u, 4u), "w c w table w a w b");
    EXPECT_EQ(launch(plain, c, table, 2u, 4u), "w c w table w a w b");
    CUfunction copy = kernel(kit_ptx, KIT_COPY);
    launch(copy, c, other, 0u);
    EXPECT_EQ(launch(copy, c, other, 0u), "w c r other");
    EXPECT_TRUE(short_way);
    EXPECT_EQ(launch(copy, c, table, 0u), "w c w table w a w b") << "its type does not tell of the pointers";
    EXPECT_FALSE(short_way);
}

/* Without kernels between, which may write pointers themselves. */
TEST_F(Touched, PointersInDeviceMemoryMove)
{
    CUdeviceptr table = device("table"), more = device("more"), again = device("again"), outer = device("outer");
    CUdeviceptr a = device("a"), b = device("b"), c = device("c");
    CUfunction plain = kernel(ptds_tables_ptx, "gather");
    CUdeviceptr words[2] = {a, b + 16};
    CU(cuMemcpyHtoD(table, words, sizeof words));
    /* A copy of the table is one, at its place. */
    CU(cuMemcpyDtoD(more + 64, table, sizeof words));
    CU(cuMemcpyDtoD(again + 64, more + 64, sizeof words));
    EXPECT_EQ(launch(plain, c, again, 0u, 0u), "w c w again w a w b");
    /* What is overwritten points at nothing any more. */
    CU(cuMemsetD8(more + 64, 0, 16));
    EXPECT_EQ(launch(plain, c, more, 0u, 0u), "w c w more");
    words[1] = c;
    CU(cuMemcpyHtoD(table, words, sizeof words));
    CU(cuMemcpyHtoD(table + 8, words, 8));
    /* A table of tables. */
    words[0] = table;
    CU(cuMemcpyHtoD(outer, words, 8));
    EXPECT_EQ(launch(plain, c, outer, 0u, 0u), "w c w outer w table w a");
}

/* Structures may be packed: a pointer begins anywhere, whatever the copy begins at. */
TEST_F(Touched, PointersInMemoryMayBePacked)
{
    CUdeviceptr a = device("a"), b = device("b"), c = device("c");
    void *pinned;
    CU(cuMemAllocHost(&pinned, 4096));
    name("pinned", reinterpret_cast<CUdeviceptr>(pinned));
    CUfunction plain = kernel(ptds_tables_ptx, "gather");
    launch(plain, c, c, 0u, 0u);
    for (size_t at : {0, 1, 2, 4, 7, 8, 12, 35, 52, 55, 56})
        for (size_t begin : {0, 1, 4, 6, 8, 20}) {
            SCOPED_TRACE(std::to_string(at) + " of a copy to " + std::to_string(begin));
            unsigned char bytes[64];
            memset(bytes, 0xee, sizeof bytes);
            memcpy(bytes + at, &a, sizeof a);
            CUdeviceptr table = device("table");
            CU(cuMemcpyHtoD(table + begin, bytes, sizeof bytes));
            EXPECT_EQ(launch(plain, c, table, 0u, 0u), "w c w table w a");
            /* It is there as long as its own bytes are. */
            for (bool stays : {true, false}) {
                CUdeviceptr part = device("part");
                CU(cuMemcpyHtoD(part + begin, bytes, sizeof bytes));
                CU(cuMemsetD8(part, 0, begin + at + (stays ? 0 : 8)));
                CU(cuMemsetD8(part + begin + at + 8, 0, 100));
                EXPECT_EQ(launch(plain, c, part, 0u, 0u), stays ? "w c w part w a" : "w c w part");
            }
            memset(pinned, 0xee, 4096);
            memcpy(static_cast<char *>(pinned) + at + begin, &b, sizeof b);
            EXPECT_EQ(launch(plain, c, reinterpret_cast<CUdeviceptr>(pinned), 0u, 0u), "w c w pinned w b");
        }
    CU(cuMemFreeHost(pinned));
}

/* In whichever order they came, and whichever of them is overwritten then: the other is there still. */
TEST_F(Touched, PointersToOneMemoryMoveTogether)
{
    CUdeviceptr a = device("a"), c = device("c");
    CUfunction plain = kernel(ptds_tables_ptx, "gather");
    for (bool rising : {true, false})
        for (bool first_stays : {true, false}) {
            CUdeviceptr table = device("table"), more = device("more");
            CU(cuMemcpyHtoD(rising ? table : table + 64, &a, 8));
            CU(cuMemcpyHtoD(rising ? table + 64 : table, &a, 8));
            CU(cuMemcpyDtoD(more, table, 128));
            CU(cuMemsetD8(first_stays ? more + 8 : more, 0, first_stays ? 120 : 64));
            EXPECT_EQ(launch(plain, c, more, 0u, 0u), "w c w more w a") << rising << first_stays;
        }
}

/* It can make pointers of those that it has. */
TEST_F(Touched, PointersThatAKernelWrites)
{
    CUdeviceptr table = device("table"), from = device("from"), a = device("a"), b = device("b"), c = device("c");
    CUfunction plain = kernel(ptds_tables_ptx, "gather"), mangled = kernel(ptds_tables_ptx, PTDS_GATHER);
    CUfunction copy = kernel(ptds_test_ptx, "copy");
    CU(cuMemcpyHtoD(table, &a, 8));
    CU(cuMemcpyHtoD(from, &b, 8));
    EXPECT_EQ(launch(copy, table, from, 2u), "w table w from w a w b");
    CU(cuMemcpyHtoD(from, &c, 8));
    EXPECT_EQ(launch(mangled, c, table, 0u, 0u), "w c w table w a w from w b");
    /* One that itself follows pointers that nobody knows may write just those. */
    CUdeviceptr unknown = device("unknown");
    launch(kernel(ptds_test_ptx, "fill"), unknown, 0u, 0u);
    EXPECT_EQ(launch(mangled, table, unknown, 0u, 0u), "!POINTERS");
    EXPECT_EQ(launch(plain, c, table, 0u, 0u), "!POINTERS");
    std::vector<CUdeviceptr> all(4096 / 8, a);
    CU(cuMemcpyHtoD(table, all.data(), 4096));
    EXPECT_EQ(launch(plain, c, table, 0u, 0u), "w c w table w a");
}

/* Its module's variables have room for them: another kernel finds them there, and nothing names them. */
TEST_F(Touched, PointersThatAKernelLeavesInAVariable)
{
    CUdeviceptr a = device("a"), b = device("b"), c = device("c");
    CUmodule module;
    CUfunction set, add, get;
    CU(cuModuleLoadData(&module, ptds_kept_ptx));
    modules.push_back(module);
    CU(cuModuleGetFunction(&set, module, "kept_set"));
    CU(cuModuleGetFunction(&add, module, "kept_add"));
    CU(cuModuleGetFunction(&get, module, "kept_get"));
    EXPECT_EQ(launch(add, 0u), "w ?") << "its image has no pointers";
    EXPECT_EQ(launch(set, a), "w a w ?");
    EXPECT_EQ(launch(add, 4u), "w ? w a");
    EXPECT_EQ(launch(set, b), "w b w ? w a");
    EXPECT_EQ(launch(get, c, 4u), "w c w ? w a w b");
    EXPECT_EQ(launch(add, 4u), "w ? w a w b w c") << "or get has left its own there";
    /* The kernels of others have nothing to do with it. */
    EXPECT_EQ(launch(kernel(kit_ptx, KIT_COPY), a, b, 0u), "w a r b");
    /* One that had pointers that nobody saw may have left those. */
    CUdeviceptr table = device("table");
    launch(kernel(ptds_test_ptx, "fill"), table, 0u, 0u);
    EXPECT_EQ(launch(kernel(ptds_tables_ptx, PTDS_GATHER), c, table, 0u, 0u), "!POINTERS") << "not of this module";
    EXPECT_EQ(launch(add, 4u), "w ? w a w b w c");
    void *buffer[] = {CU_LAUNCH_PARAM_END};
    EXPECT_NE(cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, buffer), CUDA_SUCCESS);
    EXPECT_EQ(launch(add, 4u), "!POINTERS") << "parameters that nobody understood";
}

/* After work that nobody saw through, which has no pointer to it; and where a copy has brought what nobody looked at. */
TEST_F(Touched, PointersInAVariableThatWasNotUsedYet)
{
    CUdeviceptr a = device("a"), table = device("table"), variable;
    CUmodule module;
    CUfunction set, add;
    size_t bytes;
    launch(kernel(ptds_test_ptx, "fill"), table, 0u, 0u);
    CU(cuModuleLoadData(&module, ptds_kept_ptx));
    modules.push_back(module);
    CU(cuModuleGetFunction(&set, module, "kept_set"));
    CU(cuModuleGetFunction(&add, module, "kept_add"));
    EXPECT_EQ(launch(kernel(ptds_tables_ptx, PTDS_GATHER), a, table, 0u, 0u), "!POINTERS");
    EXPECT_EQ(launch(set, a), "w a w ?");
    EXPECT_EQ(launch(add, 0u), "w ? w a");
    CU(cuModuleLoadData(&module, ptds_kept_ptx));
    modules.push_back(module);
    CU(cuModuleGetFunction(&add, module, "kept_add"));
    CU(cuModuleGetGlobal(&variable, &bytes, module, "ptds_kept"));
    CU(cuMemcpyDtoD(variable, table, 8));
    launch(add, 0u);
    EXPECT_EQ(launch(add, 0u), "!POINTERS");
    EXPECT_FALSE(short_way);
}

/* Kernels of a class of which only the name is known. */
#define CLASSES(name) ".visible .entry " name "(.param .u64 " name "_p0, .param .u64 " name "_p1)\n{\nret;\n}\n"
const char classes[] = ".version 7.0\n.target sm_52\n.address_size 64\n" CLASSES("_Z4moveP4BodyPf")
    CLASSES("_Z4readPK4BodyPf") CLASSES("_Z4fillPfS_");
const char allocating[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".extern .func (.param .b64 func_retval0) malloc(.param .b64 malloc_param_0);\n" CLASSES("_Z4moveP4BodyPf");

/* What lies in objects of a class: nothing at first, then what kernels had that got them as such. */
TEST_F(Touched, ObjectsOfAClass)
{
    CUdeviceptr bodies = device("bodies"), a = device("a"), b = device("b"), none = 0;
    CUfunction move = kernel(classes, "_Z4moveP4BodyPf"), read = kernel(classes, "_Z4readPK4BodyPf");
    CUfunction fill = kernel(classes, "_Z4fillPfS_");
    EXPECT_EQ(launch(read, bodies, a), "r bodies w a");
    EXPECT_EQ(launch(move, bodies, a), "w bodies w a");
    EXPECT_EQ(launch(read, bodies, b), "w bodies w b w a") << "pointers to a and to itself may lie there";
    /* All of it filled with what holds no pointers. */
    std::vector<char> zeros(4096);
    CU(cuMemcpyHtoD(bodies, zeros.data(), 4096));
    EXPECT_EQ(launch(read, bodies, b), "r bodies w b");
    launch(move, bodies, a);
    CU(cuMemcpyHtoD(bodies, zeros.data(), 4088));
    EXPECT_EQ(launch(read, bodies, b), "w bodies w b w a");
    CU(cuMemsetD8(bodies, 0, 4096));
    EXPECT_EQ(launch(read, bodies, b), "r bodies w b");
    /* A copy of them. */
    launch(move, bodies, a);
    CUdeviceptr more = device("more");
    CU(cuMemcpyDtoD(more, bodies, 4096));
    EXPECT_EQ(launch(read, more, none), "r more w bodies w a");
    /* Kernels that know nothing of the class may put anything there. */
    CU(cuMemsetD8(bodies, 0, 4096));
    launch(fill, bodies, a);
    EXPECT_EQ(launch(read, bodies, b), "w bodies w b w a") << "it has a table, which others fill, too";
    CUdeviceptr plain = device("plain");
    launch(fill, plain, a);
    EXPECT_EQ(launch(read, plain, b), "!POINTERS");
    CU(cuMemsetD8(plain, 0, 4096));
    EXPECT_EQ(launch(read, plain, b), "r plain w b");
    CUdeviceptr source = device("source");
    launch(fill, source, a);
    CU(cuMemcpyDtoD(plain, source, 64));
    EXPECT_EQ(launch(read, plain, b), "!POINTERS");
}

/* Work that nobody sees through may have put pointers anywhere; a kernel that allocates, such as nobody else has. */
TEST_F(Touched, ObjectsThatOthersMayHaveFilled)
{
    CUdeviceptr bodies = device("bodies"), others = device("others"), a = device("a"), unknown = device("unknown");
    CUfunction read = kernel(classes, "_Z4readPK4BodyPf"), fill = kernel(classes, "_Z4fillPfS_");
    CUfunction allocates = kernel(allocating, "_Z4moveP4BodyPf");
    launch(fill, unknown, a);
    EXPECT_EQ(launch(read, bodies, a), "r bodies w a");
    EXPECT_EQ(launch(read, unknown, a), "!POINTERS");
    EXPECT_EQ(launch(read, bodies, a), "!POINTERS");
    CU(cuMemsetD8(bodies, 0, 4096));
    EXPECT_EQ(launch(read, bodies, a), "r bodies w a");
    CU(cuStreamWriteValue32(nullptr, a, 1, 0));
    EXPECT_EQ(launch(read, bodies, a), "r bodies w a") << "where the value is written, everybody sees";
    CU(cuStreamWriteValue32(nullptr, bodies, 1, 0));
    EXPECT_EQ(launch(read, bodies, a), "!POINTERS");
    EXPECT_EQ(launch(read, others, a), "!POINTERS");
    CU(cuMemsetD8(others, 0, 4096));
    EXPECT_EQ(launch(read, others, a), "r others w a");
    EXPECT_EQ(launch(allocates, others, a), "!POINTERS");
    EXPECT_EQ(launch(read, others, a), "!POINTERS");
    /* What a graph copies is not seen when it is launched. */
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    CUDA_MEMCPY3D copy = {};
    CUcontext context;
    CU(cuCtxGetCurrent(&context));
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = unknown, copy.dstDevice = bodies;
    copy.WidthInBytes = 64, copy.Height = copy.Depth = 1;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &copy, context));
    CU(cuGraphInstantiate(&exec, graph, 0));
    CU(cuMemsetD8(bodies, 0, 4096));
    EXPECT_EQ(launch(read, bodies, a), "r bodies w a");
    CU(cuGraphLaunch(exec, nullptr));
    EXPECT_EQ(launch(read, bodies, a), "!POINTERS");
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* What lies in host memory is read by a system call, which emulators of programs lack, and a container may forbid. */
bool host_memory_can_be_read()
{
    int there = 1, seen = 0;
    iovec from = {&there, sizeof there}, to = {&seen, sizeof seen};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof seen;
}

#define NEEDS_A_LOOK_AT_HOST_MEMORY() \
    if (!host_memory_can_be_read()) \
    GTEST_SKIP() << "no process_vm_readv here: what lies in host memory is not known"

/* The host stores pointers there itself. */
TEST_F(Touched, PointersInHostMemory)
{
    NEEDS_A_LOOK_AT_HOST_MEMORY();
    CUdeviceptr a = device("a"), c = device("c"), managed, large_device;
    CUfunction plain = kernel(ptds_tables_ptx, "gather"), mangled = kernel(ptds_tables_ptx, PTDS_GATHER);
    void *pinned, *large;
    CU(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    CU(cuMemcpyHtoD(managed, &a, 8));
    EXPECT_EQ(launch(mangled, c, managed, 0u, 0u), "!POINTERS");
    EXPECT_EQ(launch(plain, c, managed, 0u, 0u), "!POINTERS");
    CU(cuMemAllocHost(&pinned, 4096));
    name("pinned", reinterpret_cast<CUdeviceptr>(pinned));
    static_cast<CUdeviceptr *>(pinned)[511] = a;
    EXPECT_EQ(launch(plain, c, reinterpret_cast<CUdeviceptr>(pinned), 0u, 0u), "w c w pinned w a");
    EXPECT_EQ(launch(mangled, c, reinterpret_cast<CUdeviceptr>(pinned), 0u, 0u), "!POINTERS");
    CU(cuMemAllocHost(&large, 1 << 17));
    large_device = reinterpret_cast<CUdeviceptr>(large);
    EXPECT_EQ(launch(plain, c, large_device, 0u, 0u), "!POINTERS");
    /* Its parameters' types are known. */
    name("large", large_device);
    EXPECT_EQ(launch(kernel(kit_ptx, KIT_COPY), c, large_device, 0u), "w c r large");
    CU(cuCtxSynchronize());
    CU(cuMemFreeHost(pinned));
    CU(cuMemFreeHost(large));
    CU(cuMemFree(managed));
}

/* Arrays that count from 1, and ends. */
TEST_F(Touched, PointersBesideTheirMemory)
{
    NEEDS_A_LOOK_AT_HOST_MEMORY();
    alignas(4096) static char own[1 << 16];
    auto begin = reinterpret_cast<CUdeviceptr>(own) + 8192;
    CUfunction plain = kernel(ptds_test_ptx, "fill"), mangled = kernel(kit_ptx, KIT_COPY);
    CUdeviceptr a = device("a");
    CU(cuMemHostRegister(own + 8192, 4096, 0));
    name("own", begin);
    EXPECT_EQ(launch(plain, begin - 4, 0u, 0u), "w own");
    EXPECT_EQ(launch(mangled, a, begin - 4096, 0u), "w a r own");
    EXPECT_EQ(launch(mangled, a, begin - 4097, 0u), "w a");
    EXPECT_EQ(launch(mangled, a, begin + 4096, 0u), "w a r own");
    CUfunction gather = kernel(ptds_tables_ptx, "gather");
    CUdeviceptr table = device("table");
    for (CUdeviceptr beside : {begin - 4, begin - 4096, begin + 4096}) {
        CU(cuMemcpyHtoD(table + 8, &beside, 8));
        EXPECT_EQ(launch(gather, a, table, 0u, 0u), "w a w table w own") << beside - begin;
    }
    /* Where another one follows, an end is that one's beginning. */
    CU(cuMemHostRegister(own + 12288, 4096, 0));
    name("next", begin + 4096);
    EXPECT_EQ(launch(mangled, a, begin + 4096, 0u), "w a r next");
    CU(cuMemHostUnregister(own + 12288));
    CU(cuMemHostUnregister(own + 8192));
}

/* They may get nothing but an end, which is where the next memory begins. */
TEST_F(Touched, KernelsThatRunFromEnds)
{
    NEEDS_A_LOOK_AT_HOST_MEMORY();
    alignas(4096) static char own[1 << 14];
    auto begin = reinterpret_cast<CUdeviceptr>(own);
    static const char text[] =
        ".version 7.0\n.target sm_52\n.address_size 64\n"
        ".visible .entry _Z3runN6thrust16reverse_iteratorIPfEE(.param .align 8 .b8 p0[8])\n{\nret;\n}\n"
        ".visible .entry _Z3runN6thrust8iteratorIPfEE(.param .align 8 .b8 p0[8])\n{\nret;\n}\n"
        ".visible .entry _Z3runPKfN6thrust16reverse_iteratorIPfEE(.param .u64 p0, .param .align 8 .b8 p1[8])\n{\nret;\n}\n";
    CU(cuMemHostRegister(own, 4096, 0));
    CU(cuMemHostRegister(own + 4096, 4096, 0));
    name("one", begin);
    name("two", begin + 4096);
    CUfunction down = kernel(text, "_Z3runN6thrust16reverse_iteratorIPfEE");
    EXPECT_EQ(launch(down, begin + 4096), "w two w one");
    EXPECT_EQ(launch(down, begin + 4100), "w two");
    CUdeviceptr read = begin, end = begin + 4096;
    void *params[] = {&read, &end};
    CUfunction both = kernel(text, "_Z3runPKfN6thrust16reverse_iteratorIPfEE");
    EXPECT_EQ(2, watch_names(both, params, watch_find(begin)->uid)) << "its word says only that it is read";
    EXPECT_EQ(launch(kernel(text, "_Z3runN6thrust8iteratorIPfEE"), begin + 4096), "w two");
    CU(cuCtxSynchronize());
    CU(cuMemHostUnregister(own + 4096));
    CU(cuMemHostUnregister(own));
}

TEST_F(Touched, PointersThatNobodyLookedAt)
{
    CUdeviceptr table = device("table", 1 << 17), a = device("a"), c = device("c");
    CUfunction mangled = kernel(ptds_tables_ptx, PTDS_GATHER);
    std::vector<CUdeviceptr> words((1 << 16) / 8 + 1, a);
    CU(cuMemcpyHtoD(table, words.data(), 1 << 16));
    EXPECT_EQ(launch(mangled, c, table, 0u, 0u), "w c w table w a");
    CU(cuMemcpyHtoD(table, words.data(), (1 << 16) + 8));
    EXPECT_EQ(launch(mangled, c, table, 0u, 0u), "!POINTERS");
}

/* To memory of malloc's, which some devices read. */
TEST_F(Touched, PointersToPageableMemory)
{
    NEEDS_A_LOOK_AT_HOST_MEMORY();
    static unsigned own[4];
    CUdeviceptr table = device("table"), more = device("more"), a = device("a"), c = device("c"), words[512] = {};
    CUfunction plain = kernel(ptds_tables_ptx, "gather"), mangled = kernel(ptds_tables_ptx, PTDS_GATHER);
    const auto address = reinterpret_cast<CUdeviceptr>(own);
    words[0] = a;
    words[1] = address;
    CU(cuMemcpyHtoD(table, words, 16));
    EXPECT_EQ(launch(plain, c, table, 0u, 0u), "w c w table w a") << "this device does not read it";
    watch_pageable(1);
    CU(cuMemcpyHtoD(table, words, 8));
    EXPECT_EQ(launch(plain, c, table, 0u, 0u), "w c w table w a");
    CU(cuMemcpyHtoD(table + 8, words + 1, 8));
    EXPECT_EQ(launch(plain, c, table, 0u, 0u), "!POINTERS");
    EXPECT_EQ(launch(mangled, c, table, 0u, 0u), "!POINTERS");
    CU(cuMemcpyDtoD(more, table, 16));
    EXPECT_EQ(launch(plain, c, more, 0u, 0u), "!POINTERS");
    CU(cuMemcpyHtoD(table, words, sizeof words));
    EXPECT_EQ(launch(plain, c, table, 0u, 0u), "!POINTERS");
    words[1] = 0x7000;
    CU(cuMemcpyHtoD(table, words, sizeof words));
    EXPECT_EQ(launch(plain, c, table, 0u, 0u), "w c w table w a") << "all of it is known again";
    /* Without another pointer there is no table. */
    words[0] = address;
    CU(cuMemcpyHtoD(more, words, sizeof words));
    EXPECT_EQ(launch(kernel(kit_ptx, KIT_COPY), c, more, 0u), "!POINTERS");
    EXPECT_FALSE(short_way);
    CUfunction copy = kernel(kit_ptx, KIT_COPY);
    CUdeviceptr fresh = device("fresh"), seen = device("seen");
    EXPECT_EQ(launch(copy, c, seen, 0u), "w c r seen");
    CU(cuMemcpyHtoD(fresh, &address, 8));
    EXPECT_EQ(launch(copy, c, fresh, 0u), "!POINTERS");
    EXPECT_FALSE(short_way);
    std::vector<CUdeviceptr> large(65536 / 8 + 1);
    CUdeviceptr wide = device("wide", 1 << 20);
    CU(cuMemcpyHtoD(wide, &address, 8));
    CU(cuMemcpyHtoD(wide + 4096, large.data(), large.size() * 8));
    EXPECT_EQ(launch(copy, c, wide, 0u), "!POINTERS") << "more that nobody looked at makes it no better";
    /* More pages than are asked about, where not even a sanitizer has any. */
    for (CUdeviceptr i = 0; i < 300; i++)
        words[i] = 0x30000800 + (i << 16);
    CU(cuMemcpyHtoD(more, words, 200 * 8));
    CU(cuMemsetD8(more + 1600, 0, 4096 - 1600));
    EXPECT_EQ(launch(kernel(kit_ptx, KIT_COPY), c, more, 0u), "!POINTERS") << "it was not filled at once";
    CU(cuMemsetD8(more, 0, 4096));
    CU(cuMemcpyHtoD(more, words, 200 * 8));
    EXPECT_EQ(launch(kernel(kit_ptx, KIT_COPY), c, more, 0u), "w c r more");
    CU(cuMemcpyHtoD(more, words, 300 * 8));
    EXPECT_EQ(launch(kernel(kit_ptx, KIT_COPY), c, more, 0u), "!POINTERS");
    /* In memory that the host fills. */
    void *pinned;
    CU(cuMemAllocHost(&pinned, 4096));
    name("pinned", reinterpret_cast<CUdeviceptr>(pinned));
    memset(pinned, 0, 4096);
    EXPECT_EQ(launch(plain, c, reinterpret_cast<CUdeviceptr>(pinned), 0u, 0u), "w c w pinned");
    memcpy(pinned, &address, 8);
    EXPECT_EQ(launch(plain, c, reinterpret_cast<CUdeviceptr>(pinned), 0u, 0u), "!POINTERS");
    watch_pageable(0);
    CU(cuMemFreeHost(pinned));
}

/* The memory that it pointed at has gone, another one lies there. */
TEST_F(Touched, PointersToMemoryThatIsGone)
{
    CUdeviceptr table = device("table"), c = device("c"), gone;
    CUfunction plain = kernel(ptds_tables_ptx, "gather");
    CU(cuMemAlloc(&gone, 4096));
    CU(cuMemcpyHtoD(table, &gone, 8));
    CU(cuMemFree(gone));
    device("a");
    EXPECT_EQ(launch(plain, c, table, 0u, 0u), "w c w table");
}

/* Of all kinds of memory of the host that the driver only reads, what comes is seen. */
TEST_F(Touched, PointersThatCopiesBringFromTheHost)
{
    alignas(4096) static CUdeviceptr registered[512];
    CUdeviceptr table = device("table"), a = device("a"), b = device("b"), plain[512];
    CUfunction gather = kernel(ptds_tables_ptx, "gather");
    void *pinned;
    CU(cuMemAllocHost(&pinned, 4096));
    CU(cuMemHostRegister(registered, 4096, 0));
    for (CUdeviceptr *source : {plain, static_cast<CUdeviceptr *>(pinned), registered}) {
        memset(source, 0, 4096);
        CU(cuMemcpyHtoD(table, source, 4096));
        EXPECT_EQ(launch(gather, b, table, 0u, 0u), "w b w table");
        source[7] = a;
        CU(cuMemcpyHtoD(table, source, 4096));
        EXPECT_EQ(launch(gather, b, table, 0u, 0u), "w b w table w a");
    }
    CU(cuCtxSynchronize());
    CU(cuMemHostUnregister(registered));
    CU(cuMemFreeHost(pinned));
}

} // namespace
