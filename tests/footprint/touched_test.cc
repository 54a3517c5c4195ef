/* SPDX-License-Identifier: Apache-2.0
 *
 * What each kind of call touches, through the shim's own wrappers on the simulated driver. A policy of this test's own,
 * which leaves every call where it is, looks at the calls on the legacy stream and on blocking streams.
 */
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <cuda.h>

#include "tests/conformance/tables.ptx.h"
#include "tests/conformance/textures.ptx.h"
#include "tests/conformance/variables.ptx.h"
#include "tests/kit/kernels.ptx.h"

extern "C" {
#include "tests/footprint/watch.h"
}

#define CU(call) ASSERT_EQ(call, CUDA_SUCCESS)

namespace
{

struct touched &last = watch_last;

const char *const reasons[] = {
#define X(name, words) #name,
    OPAQUE_REASONS(X)
#undef X
};

class Touched : public testing::Test
{
protected:
    std::map<const memory *, std::string> names;
    std::vector<CUdeviceptr> made;
    std::vector<CUmodule> modules;
    bool runnable = true;   /* the simulated driver can run the kernels */
    bool short_way = false; /* the last launch could have gone the short way */

    static void SetUpTestSuite()
    {
        setenv("PTDS_POLICY", "observe", 1);
        setenv("PTDS_REPORT", "off", 1);
        CUcontext context;
        CU(cuInit(0));
        CU(cuDevicePrimaryCtxRetain(&context, 0));
        watch_start();
        CU(cuCtxSetCurrent(context));
    }

    void TearDown() override
    {
        cuCtxSynchronize();
        for (CUdeviceptr pointer : made)
            EXPECT_EQ(cuMemFree(pointer), CUDA_SUCCESS);
        for (CUmodule module : modules)
            EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    }

    void name(const std::string &as, CUdeviceptr address)
    {
        const memory *found = watch_find(address);
        ASSERT_NE(found, nullptr) << as;
        names[found] = as;
    }
    CUdeviceptr device(const std::string &as, size_t bytes = 4096)
    {
        CUdeviceptr pointer = 0;
        EXPECT_EQ(cuMemAlloc(&pointer, bytes), CUDA_SUCCESS);
        made.push_back(pointer);
        name(as, pointer);
        return pointer;
    }
    CUfunction kernel(const char *text, const char *kernels_name)
    {
        CUmodule module;
        CUfunction function = nullptr;
        EXPECT_EQ(cuModuleLoadData(&module, text), CUDA_SUCCESS);
        modules.push_back(module);
        EXPECT_EQ(cuModuleGetFunction(&function, module, kernels_name), CUDA_SUCCESS);
        return function;
    }
    /* "w a[0,16) r b": in the order in which they were found; or why everything. */
    std::string text() const
    {
        std::string line = last.opaque ? std::string("!") + reasons[last.opaque] : "";
        for (unsigned i = 0; i < last.count && !last.opaque; i++) {
            const struct access &at = last.at[i];
            auto known = names.find(at.memory);
            line += (line.empty() ? "" : " ") + std::string(at.writes ? "w " : "r ");
            line += known == names.end() ? "?" : known->second;
            if (at.end != UINT64_MAX)
                line +=
                    "[" + std::to_string(at.begin - at.memory->base) + "," + std::to_string(at.end - at.memory->base) + ")";
        }
        return line;
    }
    template <class... Arguments> std::string launch(CUfunction function, Arguments... arguments)
    {
        void *params[] = {&arguments..., nullptr};
        struct touched plainly = {};
        short_way = watch_plainly(function, params, &plainly);
        last = {};
        CUresult result = cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr);
        EXPECT_EQ(result, runnable ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED);
        const std::string line = text();
        if (short_way) {
            last = plainly;
            EXPECT_EQ(text(), line) << "by the short way";
        }
        return line;
    }
};

#define TOUCHES(call, expected) \
    do { \
        last = {}; \
        EXPECT_EQ(call, CUDA_SUCCESS); \
        EXPECT_EQ(text(), expected); \
    } while (0)

TEST_F(Touched, CopiesTheirBytes)
{
    CUdeviceptr a = device("a"), b = device("b");
    char host[256] = {};
    TOUCHES(cuMemcpyHtoD(a + 16, host, 64), "w a[16,80)");
    TOUCHES(cuMemcpyDtoH(host, a + 8, 100), "r a[8,108)");
    TOUCHES(cuMemcpyDtoDAsync(b, a + 32, 32, nullptr), "w b[0,32) r a[32,64)");
    TOUCHES(cuMemcpyDtoD(a, a + 32, 32), "w a[0,32) r a[32,64)");
    TOUCHES(cuMemcpy(a, b + 1, 7), "w a[0,7) r b[1,8)");
    TOUCHES(cuMemcpyAsync(a, reinterpret_cast<CUdeviceptr>(host), 9, nullptr), "w a[0,9)");
    EXPECT_EQ(last.host, 0);
    TOUCHES(cuMemcpyHtoD(a, host, 0), "");
}

TEST_F(Touched, HostMemoryThatTheDriverKnows)
{
    CUdeviceptr a = device("a"), managed;
    void *pinned;
    CU(cuMemAllocHost(&pinned, 4096));
    name("pinned", reinterpret_cast<CUdeviceptr>(pinned));
    TOUCHES(cuMemcpyHtoDAsync(a, static_cast<char *>(pinned) + 8, 16, nullptr), "w a[0,16) r pinned[8,24)");
    EXPECT_EQ(last.host, 1);
    CU(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    name("managed", managed);
    TOUCHES(cuMemcpyDtoDAsync(a, managed, 16, nullptr), "w a[0,16) r managed[0,16)");
    EXPECT_EQ(last.host, 1);
    static char own[8192];
    CU(cuMemHostRegister(own, sizeof own, 0));
    name("registered", reinterpret_cast<CUdeviceptr>(own));
    TOUCHES(cuMemcpyDtoHAsync(own + 100, a, 16, nullptr), "w registered[100,116) r a[0,16)");
    CU(cuMemHostUnregister(own));
    TOUCHES(cuMemcpyDtoH(own + 100, a, 16), "r a[0,16)");
    CU(cuMemFreeHost(pinned));
    CU(cuMemFree(managed));
}

TEST_F(Touched, RowsFromTheFirstByteToTheLast)
{
    CUdeviceptr a = device("a", 1 << 16), b = device("b", 1 << 16);
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = a, copy.srcPitch = 512, copy.srcXInBytes = 16, copy.srcY = 2;
    copy.dstDevice = b, copy.dstPitch = 256;
    copy.WidthInBytes = 100, copy.Height = 3;
    TOUCHES(cuMemcpy2DAsync(&copy, nullptr), "w b[0,612) r a[1040,2164)");
    CUDA_MEMCPY3D solid = {};
    solid.srcMemoryType = solid.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    solid.srcDevice = a, solid.srcPitch = 64, solid.srcHeight = 8, solid.srcZ = 1;
    solid.dstDevice = b, solid.dstPitch = 32, solid.dstHeight = 4;
    solid.WidthInBytes = 32, solid.Height = 4, solid.Depth = 2;
    TOUCHES(cuMemcpy3DAsync(&solid, nullptr), "w b[0,256) r a[512,1248)");
    solid.srcPitch = solid.srcHeight = 0; /* tight */
    TOUCHES(cuMemcpy3DAsync(&solid, nullptr), "w b[0,256) r a[128,384)");
}

TEST_F(Touched, Memsets)
{
    CUdeviceptr a = device("a");
    TOUCHES(cuMemsetD8(a + 1, 0, 7), "w a[1,8)");
    TOUCHES(cuMemsetD16Async(a, 0, 8, nullptr), "w a[0,16)");
    TOUCHES(cuMemsetD32Async(a + 64, 0, 4, nullptr), "w a[64,80)");
    TOUCHES(cuMemsetD2D32Async(a, 512, 0, 4, 3, nullptr), "w a[0,1040)");
}

TEST_F(Touched, ArraysWhole)
{
    CUDA_ARRAY_DESCRIPTOR about = {};
    about.Width = 64, about.Format = CU_AD_FORMAT_UNSIGNED_INT32, about.NumChannels = 1;
    CUarray array;
    CUdeviceptr a = device("a");
    CU(cuArrayCreate(&array, &about));
    last = {};
    CU(cuMemcpyDtoA(array, 16, a, 64));
    ASSERT_EQ(last.count, 2u);
    names[last.at[0].memory] = "array";
    EXPECT_EQ(text(), "w array r a[0,64)");
    TOUCHES(cuMemcpyAtoD(a, array, 0, 8), "w a[0,8) r array");
    CU(cuArrayDestroy(array));
}

TEST_F(Touched, KernelsByTheirNames)
{
    CUdeviceptr a = device("a"), b = device("b"), c = device("c");
    CUfunction plain = kernel(ptds_test_ptx, "add"), mangled = kernel(kit_ptx, KIT_COPY);
    EXPECT_EQ(launch(plain, c, a, b, 0u), "w c w a w b");
    EXPECT_EQ(launch(plain, c, a, c + 128, 0u), "w c w a");
    EXPECT_EQ(launch(mangled, a, b + 4, 0u), "w a r b");
    EXPECT_EQ(launch(mangled, a, a + 64, 0u), "w a");
    EXPECT_EQ(launch(mangled, a, CUdeviceptr{0}, 0u), "w a");
    EXPECT_EQ(launch(mangled, a, b + 4096, 0u).substr(0, 5), "w a r") << "one past the end";
    EXPECT_EQ(launch(kernel(ptds_test_ptx, "spin"), 12345ull), "");
    EXPECT_EQ(launch(kernel(kit_ptx, KIT_EMPTY)), "");
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
    EXPECT_EQ(launch(copy, a + 64, a, 0u), "w a");
    EXPECT_TRUE(short_way);
    EXPECT_EQ(launch(copy, a, host, 0u), "w a r pinned");
    EXPECT_FALSE(short_way) << "the host can tell by it that all before is done";
    EXPECT_EQ(launch(copy, a, b + 4096, 0u).substr(0, 5), "w a r");
    launch(copy, a, CUdeviceptr{16}, 0u);
    EXPECT_TRUE(short_way) << "no address";
    launch(add, b, a, b, 0u);
    EXPECT_EQ(launch(add, b, a, b + 8, 0u), "w b w a");
    EXPECT_TRUE(short_way);
    watch_pageable(1);
    launch(copy, a, b, 0u);
    EXPECT_FALSE(short_way);
    watch_pageable(0);
    CU(cuMemFreeHost(pinned));
}

/* A pointer to the program's own memory means something to some devices. */
TEST_F(Touched, PageableMemoryWhereKernelsReadIt)
{
    CUdeviceptr a = device("a");
    static unsigned own[4];
    CUfunction function = kernel(kit_ptx, KIT_COPY);
    auto address = reinterpret_cast<CUdeviceptr>(own);
    EXPECT_EQ(launch(function, a, address, 0u), "w a");
    watch_pageable(1);
    EXPECT_EQ(launch(function, a, address, 0u), "!OTHER");
    EXPECT_EQ(launch(function, a, CUdeviceptr{0x7000}, 0u), "w a");
    EXPECT_EQ(launch(function, a, CUdeviceptr{0x7ffffffff000}, 0u), "w a");
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

/* All words of 4,000 bytes, the record's forty are not enough. */
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
    EXPECT_EQ(launch(function, parameter, 1u), "w b w a");
    std::vector<CUdeviceptr> many;
    for (int i = 0; i < 65; i++)
        parameter.words[i] = device("m");
    EXPECT_EQ(launch(function, parameter, 1u), "!MANY");
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
    EXPECT_EQ(launch(get, a, 1u), "w a w module");
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
    runnable = false;
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
    runnable = false;
    launch(fill, unknown, a);
    EXPECT_EQ(launch(read, bodies, a), "r bodies w a");
    EXPECT_EQ(launch(read, unknown, a), "!POINTERS");
    EXPECT_EQ(launch(read, bodies, a), "!POINTERS");
    CU(cuMemsetD8(bodies, 0, 4096));
    EXPECT_EQ(launch(read, bodies, a), "r bodies w a");
    CU(cuStreamWriteValue32(nullptr, a, 1, 0));
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

/* The host stores pointers there itself. */
TEST_F(Touched, PointersInHostMemory)
{
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
    alignas(4096) static char own[1 << 14];
    auto begin = reinterpret_cast<CUdeviceptr>(own);
    static const char text[] =
        ".version 7.0\n.target sm_52\n.address_size 64\n"
        ".visible .entry _Z3runN6thrust16reverse_iteratorIPfEE(.param .align 8 .b8 p0[8])\n{\nret;\n}\n"
        ".visible .entry _Z3runN6thrust8iteratorIPfEE(.param .align 8 .b8 p0[8])\n{\nret;\n}\n";
    CU(cuMemHostRegister(own, 4096, 0));
    CU(cuMemHostRegister(own + 4096, 4096, 0));
    name("one", begin);
    name("two", begin + 4096);
    runnable = false;
    CUfunction down = kernel(text, "_Z3runN6thrust16reverse_iteratorIPfEE");
    EXPECT_EQ(launch(down, begin + 4096), "w two w one");
    EXPECT_EQ(launch(down, begin + 4100), "w two");
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

TEST_F(Touched, MappedChunks)
{
    constexpr size_t chunk = 2 << 20;
    CUmemAllocationProp about = {};
    about.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    about.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemAccessDesc access = {about.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle one, two;
    CUdeviceptr range;
    CU(cuMemCreate(&one, chunk, &about, 0));
    CU(cuMemCreate(&two, chunk, &about, 0));
    CU(cuMemAddressReserve(&range, 3 * chunk, 0, 0, 0));
    CU(cuMemMap(range, chunk, 0, one, 0));
    CU(cuMemMap(range + chunk, chunk, 0, two, 0));
    CU(cuMemMap(range + 2 * chunk, chunk, 0, one, 0));
    CU(cuMemSetAccess(range, 3 * chunk, &access, 1));
    name("one", range);
    name("two", range + chunk);
    names[watch_reservation(range)] = "all";
    EXPECT_EQ(watch_reservation(range), watch_reservation(range + chunk));
    TOUCHES(cuMemsetD8Async(range + 8, 0, 8, nullptr), "w one[8,16) w all[8,16)");
    TOUCHES(cuMemsetD8Async(range + 2 * chunk + 8, 0, 8, nullptr), "w one[8,16) w all[4194312,4194320)");
    TOUCHES(cuMemsetD8Async(range + chunk - 8, 0, 24, nullptr),
            "w one[2097144,2097152) w all[2097144,2097168) w two[0,16)");
    EXPECT_EQ(launch(kernel(ptds_test_ptx, "fill"), range + 2 * chunk, 0u, 1u), "w one w all");
    /* A pointer in one chunk is found by who gets a pointer to the other one. */
    CUdeviceptr a = device("a");
    CUfunction gather = kernel(ptds_tables_ptx, PTDS_GATHER);
    CU(cuMemcpyHtoD(range + chunk + 16, &a, 8));
    EXPECT_EQ(launch(gather, a, range, 0u, 0u), "w a w one w all");
    CU(cuCtxSynchronize());
    CU(cuMemUnmap(range, chunk));
    EXPECT_EQ(watch_find(range), nullptr);
    TOUCHES(cuMemsetD8Async(range + 2 * chunk, 0, 8, nullptr), "w one[0,8) w all[4194304,4194312)");
    CU(cuCtxSynchronize());
    CU(cuMemUnmap(range + chunk, 2 * chunk));
    CU(cuMemRelease(one));
    CU(cuMemRelease(two));
    CU(cuMemAddressFree(range, 3 * chunk));
}

/* In two reservations at once: what each reaches, the other may reach, too. After one has gone, nothing is left of it. */
TEST_F(Touched, ChunksInTwoReservations)
{
    constexpr size_t chunk = 2 << 20;
    CUmemAllocationProp about = {};
    about.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    about.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemAccessDesc access = {about.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr first, second;
    CU(cuMemCreate(&handle, chunk, &about, 0));
    CU(cuMemAddressReserve(&first, chunk, 0, 0, 0));
    CU(cuMemAddressReserve(&second, chunk, 0, 0, 0));
    CU(cuMemMap(first, chunk, 0, handle, 0));
    CU(cuMemSetAccess(first, chunk, &access, 1));
    const memory *before = watch_reservation(first);
    CU(cuMemUnmap(first, chunk));
    CU(cuMemMap(second, chunk, 0, handle, 0));
    CU(cuMemSetAccess(second, chunk, &access, 1));
    EXPECT_NE(watch_reservation(second), before);
    name("chunk", second);
    names[watch_reservation(second)] = "second";
    TOUCHES(cuMemsetD8Async(second, 0, 8, nullptr), "w chunk[0,8) w second[0,8)");
    CU(cuMemMap(first, chunk, 0, handle, 0));
    CU(cuMemSetAccess(first, chunk, &access, 1));
    TOUCHES(cuMemsetD8Async(first, 0, 8, nullptr), "!OTHER");
    CU(cuCtxSynchronize());
    CU(cuMemUnmap(first, chunk));
    CU(cuMemUnmap(second, chunk));
    CU(cuMemRelease(handle));
    CU(cuMemAddressFree(first, chunk));
    CU(cuMemAddressFree(second, chunk));
}

TEST_F(Touched, MemoryThatOthersGet)
{
    CUdeviceptr b = device("b");
    CUipcMemHandle handle;
    TOUCHES(cuMemsetD8Async(b, 0, 8, nullptr), "w b[0,8)");
    EXPECT_EQ(last.host, 0);
    CU(cuIpcGetMemHandle(&handle, b));
    TOUCHES(cuMemsetD8Async(b, 0, 8, nullptr), "w b[0,8)");
    EXPECT_EQ(last.host, 1);
}

/* It lives until the graph runs. */
TEST_F(Touched, AFreeInACapture)
{
    CUdeviceptr pointer;
    CUstream stream;
    CUgraph graph;
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CU(cuMemAllocAsync(&pointer, 4096, stream));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CUresult result = cuMemFreeAsync(pointer, stream); /* the simulated driver has no such nodes */
    EXPECT_TRUE(result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_SUPPORTED) << result;
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT_NE(watch_find(pointer), nullptr);
    name("pool", pointer);
    TOUCHES(cuMemsetD8Async(pointer, 0, 8, nullptr), "w pool[0,8)");
    CU(cuGraphDestroy(graph));
    TOUCHES(cuMemFreeAsync(pointer, stream), "w pool");
    EXPECT_EQ(watch_find(pointer), nullptr);
    CU(cuStreamDestroy(stream));
}

TEST_F(Touched, StreamOrderedMemory)
{
    CUdeviceptr pointer;
    CU(cuMemAllocAsync(&pointer, 4096, nullptr));
    name("pool", pointer);
    TOUCHES(cuMemsetD8Async(pointer, 0, 8, nullptr), "w pool[0,8)");
    TOUCHES(cuMemFreeAsync(pointer, nullptr), "w pool");
    EXPECT_EQ(watch_find(pointer), nullptr);
    /* A free that fails leaves it. */
    CUdeviceptr a = device("a");
    EXPECT_NE(cuMemHostUnregister(reinterpret_cast<void *>(a)), CUDA_SUCCESS);
    EXPECT_EQ(watch_find(a), watch_find(a + 1));
    EXPECT_NE(watch_find(a), nullptr);
}

TEST_F(Touched, GraphsAllTheirNodes)
{
    CUdeviceptr a = device("a"), b = device("b"), c = device("c"), d = device("d");
    CUfunction copy = kernel(kit_ptx, KIT_COPY);
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    unsigned n = 0;
    void *params[] = {&a, &b, &n};
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    launch(copy, a, b, 0u); /* kernels are learnt outside of captures */
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuLaunchKernel(copy, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
    CU(cuMemcpyDtoDAsync(c, b, 64, stream));
    CU(cuMemsetD8Async(d, 0, 64, stream));
    CU(cuStreamEndCapture(stream, &graph));
    CU(cuGraphInstantiate(&exec, graph, 0));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a r b w c w d");
    /* A node changed: what it touched before counts, too. */
    CUDA_KERNEL_NODE_PARAMS changed = {};
    CUgraphNode nodes[3];
    size_t count = 3;
    CU(cuGraphGetNodes(graph, nodes, &count));
    for (CUgraphNode node : nodes) {
        CUgraphNodeType type;
        CU(cuGraphNodeGetType(node, &type));
        if (type != CU_GRAPH_NODE_TYPE_KERNEL)
            continue;
        CU(cuGraphKernelNodeGetParams(node, &changed));
        void *swapped[] = {&b, &a, &n};
        changed.kernelParams = swapped;
        CU(cuGraphExecKernelNodeSetParams(exec, node, &changed));
    }
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a w b w c w d");
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuStreamDestroy(stream));
}

void CUDA_CB nothing(void *)
{
}

TEST_F(Touched, GraphsWithOtherNodes)
{
    CUgraph graph, outer;
    CUgraphExec exec;
    CUgraphNode node;
    CUdeviceptr a = device("a");
    CUDA_HOST_NODE_PARAMS host = {nothing, nullptr};
    CUDA_MEMSET_NODE_PARAMS memset = {};
    CUcontext context;
    CU(cuCtxGetCurrent(&context));
    CU(cuGraphCreate(&graph, 0));
    memset.dst = a, memset.elementSize = 4, memset.width = 4, memset.height = 1;
    CU(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &memset, context));
    CU(cuGraphCreate(&outer, 0));
    CU(cuGraphAddChildGraphNode(&node, outer, nullptr, 0, graph));
    CU(cuGraphInstantiate(&exec, outer, 0));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a");
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphAddHostNode(&node, graph, nullptr, 0, &host));
    CU(cuGraphInstantiate(&exec, graph, 0));
    TOUCHES(cuGraphLaunch(exec, nullptr), "!HOST_FUNCTION");
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    CU(cuGraphDestroy(outer));
}

/* Nodes that the simulated driver has not: an empty one answers for each. */
TEST_F(Touched, GraphsThatAllocateOrGate)
{
    CUdeviceptr a = device("a");
    const struct {
        CUgraphNodeType type;
        CUdeviceptr address;
        const char *touches;
    } nodes[] = {
        {CU_GRAPH_NODE_TYPE_EMPTY, 0, ""},
        {CU_GRAPH_NODE_TYPE_MEM_ALLOC, a, "w a"},
        {CU_GRAPH_NODE_TYPE_MEM_FREE, a, "w a"},
        {CU_GRAPH_NODE_TYPE_MEM_FREE, 8, "!GRAPH"},
        {CU_GRAPH_NODE_TYPE_EVENT_RECORD, 0, "!EVENT"},
        {CU_GRAPH_NODE_TYPE_WAIT_EVENT, 0, "!EVENT"},
        {CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, 0, "!SEMAPHORE"},
        {CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, 0, "!WAITS_FOR_VALUE"},
        {CU_GRAPH_NODE_TYPE_CONDITIONAL, 0, "!GRAPH"},
    };
    for (const auto &like : nodes) {
        CUgraph graph;
        CUgraphExec exec;
        CUgraphNode node;
        CU(cuGraphCreate(&graph, 0));
        CU(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
        watch_node(like.type, like.address);
        CU(cuGraphInstantiate(&exec, graph, 0));
        watch_node(CU_GRAPH_NODE_TYPE_EMPTY, 0);
        TOUCHES(cuGraphLaunch(exec, nullptr), like.touches);
        CU(cuCtxSynchronize());
        CU(cuGraphExecDestroy(exec));
        CU(cuGraphDestroy(graph));
    }
}

/* One call for nodes of every kind. */
TEST_F(Touched, NodesSetByTheirParameters)
{
    CUdeviceptr a = device("a"), b = device("b"), c = device("c");
    CUfunction copy = kernel(kit_ptx, KIT_COPY);
    CUcontext context;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode run_node, set;
    CUDA_MEMSET_NODE_PARAMS memset = {};
    unsigned n = 0;
    void *params[] = {&b, &c, &n};
    launch(copy, a, b, 0u);
    CU(cuCtxGetCurrent(&context));
    CU(cuGraphCreate(&graph, 0));
    memset.dst = a, memset.elementSize = 4, memset.width = 4, memset.height = 1;
    CU(cuGraphAddMemsetNode(&set, graph, nullptr, 0, &memset, context));
    CUDA_KERNEL_NODE_PARAMS run = {};
    run.func = copy, run.gridDimX = run.gridDimY = run.gridDimZ = run.blockDimX = run.blockDimY = run.blockDimZ = 1;
    run.kernelParams = params;
    CU(cuGraphAddKernelNode(&run_node, graph, nullptr, 0, &run));
    CU(cuGraphInstantiate(&exec, graph, 0));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a w b r c");
    CUgraphNodeParams to = {};
    to.type = CU_GRAPH_NODE_TYPE_MEMSET;
    to.memset.dst = c, to.memset.elementSize = 4, to.memset.width = 4, to.memset.height = 1, to.memset.ctx = context;
    CU(cuGraphExecNodeSetParams(exec, set, &to));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a w b w c");
    to = {};
    to.type = CU_GRAPH_NODE_TYPE_KERNEL;
    to.kernel.func = copy, to.kernel.gridDimX = to.kernel.gridDimY = to.kernel.gridDimZ = 1;
    to.kernel.blockDimX = to.kernel.blockDimY = to.kernel.blockDimZ = 1;
    void *swapped[] = {&c, &b, &n};
    to.kernel.kernelParams = swapped;
    CU(cuGraphExecNodeSetParams(exec, run_node, &to));
    TOUCHES(cuGraphLaunch(exec, nullptr), "w a w b w c");
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

/* Lists, on a stream that takes them; the simulated driver has most of them not. */
TEST_F(Touched, Batches)
{
    CUdeviceptr a = device("a"), b = device("b"), c = device("c"), managed;
    CUstream stream;
    char own[64];
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CU(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    name("managed", managed);
    auto touches = [&](CUresult, const char *expected) {
        EXPECT_EQ(text(), expected);
        last = {};
    };
    last = {};
    CUdeviceptr at[2] = {managed + 8, a}, from[2] = {b, c};
    size_t sizes[2] = {16, 32};
    CUmemLocation location = {};
    size_t index = 0;
    touches(cuMemPrefetchBatchAsync(at, sizes, 2, &location, &index, 1, 0, stream), "r managed[8,24) r a[0,32)");
    touches(cuMemPrefetchBatchAsync(at, sizes, 1, &location, &index, 1, 0, stream), "r managed[8,24)");
    touches(cuMemDiscardBatchAsync(at, sizes, 1, 0, stream), "w managed[8,24)");
    touches(cuMemDiscardAndPrefetchBatchAsync(at, sizes, 2, &location, &index, 1, 0, stream), "w managed[8,24) w a[0,32)");
    touches(cuMemPrefetchBatchAsync(at, nullptr, 1, &location, &index, 1, 0, stream), "!OTHER");
    CUmemcpyAttributes attributes = {};
    touches(cuMemcpyBatchAsync(at, from, sizes, 2, &attributes, &index, 1, stream),
            "w managed[8,24) r b[0,16) w a[0,32) r c[0,32)");
    from[0] = reinterpret_cast<CUdeviceptr>(own);
    touches(cuMemcpyBatchAsync(at, from, sizes, 1, &attributes, &index, 1, stream), "w managed[8,24)");
    CUDA_MEMCPY3D_BATCH_OP ops[2] = {};
    ops[0].dst.type = ops[0].src.type = ops[1].dst.type = ops[1].src.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    ops[0].dst.op.ptr.ptr = a, ops[0].dst.op.ptr.rowLength = 64, ops[0].dst.op.ptr.layerHeight = 4;
    ops[0].src.op.ptr.ptr = b + 8;
    ops[0].extent = {16, 2, 2};
    ops[1].dst.op.ptr.ptr = c, ops[1].src.op.ptr.ptr = reinterpret_cast<CUdeviceptr>(own), ops[1].extent = {8, 1, 1};
    touches(cuMemcpy3DBatchAsync(2, ops, 0, stream), "w a[0,336) r b[8,72) w c[0,8)");
    CUDA_ARRAY_DESCRIPTOR about = {};
    about.Width = 64, about.Format = CU_AD_FORMAT_UNSIGNED_INT32, about.NumChannels = 1;
    CUarray array;
    CU(cuArrayCreate(&array, &about));
    ops[0].dst.type = CU_MEMCPY_OPERAND_TYPE_ARRAY, ops[0].dst.op.array.array = array;
    ops[0].src.op.ptr.ptr = b + 4000, ops[0].extent = {4, 2, 1};
    last = {};
    CUresult unsupported = cuMemcpy3DBatchAsync(1, ops, 0, stream);
    ASSERT_EQ(last.count, 2u);
    names[last.at[0].memory] = "array";
    touches(unsupported, "w array r b[4000,4096)");
    ops[0].src.op.ptr.ptr = b;
    touches(cuMemcpy3DBatchAsync(1, ops, 0, stream), "w array r b[0,128)");
    CU(cuArrayDestroy(array));
    touches(cuMemcpy3DBatchAsync(1, ops, 0, stream), "!OTHER");
    CUmemDecompressParams unpack = {};
    unpack.src = reinterpret_cast<void *>(a), unpack.srcNumBytes = 100;
    unpack.dst = reinterpret_cast<void *>(b + 16), unpack.dstActBytes = reinterpret_cast<cuuint32_t *>(c);
    touches(cuMemBatchDecompressAsync(&unpack, 1, 0, nullptr, stream), "w b[16,4096) r a[0,100) w c[0,4)");
    CU(cuMemFree(managed));
    CU(cuStreamDestroy(stream));
}

/* Another memory lies where a graph's was. */
TEST_F(Touched, AGraphWhoseMemoryIsGone)
{
    CUdeviceptr a = device("a"), gone;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS memset = {};
    CUcontext context;
    CU(cuCtxGetCurrent(&context));
    CU(cuMemAlloc(&gone, 4096));
    CU(cuGraphCreate(&graph, 0));
    memset.dst = gone, memset.elementSize = 4, memset.width = 4, memset.height = 1;
    CU(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &memset, context));
    CU(cuGraphInstantiate(&exec, graph, 0));
    CU(cuMemFree(gone));
    CUdeviceptr again = device("again");
    ASSERT_EQ(again, gone);
    TOUCHES(cuGraphLaunch(exec, nullptr), "!GRAPH");
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
    (void)a;
}

TEST_F(Touched, WhatGates)
{
    CUdeviceptr a = device("a");
    TOUCHES(cuLaunchHostFunc(nullptr, nothing, nullptr), "!HOST_FUNCTION");
    TOUCHES(cuStreamWriteValue32(nullptr, a, 1, 0), "!WAITS_FOR_VALUE");
    TOUCHES(cuStreamWaitValue32(nullptr, a, 1, CU_STREAM_WAIT_VALUE_GEQ), "!WAITS_FOR_VALUE");
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

/* The last test: from then on kernels may launch what nobody saw. */
TEST_F(Touched, GraphsThatTheDeviceLaunches)
{
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr a = device("a"), b = device("b");
    CUfunction copy = kernel(kit_ptx, KIT_COPY);
    EXPECT_EQ(launch(copy, a, b, 0u), "w a r b");
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphInstantiateWithFlags(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    EXPECT_EQ(launch(copy, a, b, 0u), "!GRAPH");
    CU(cuCtxSynchronize());
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

} // namespace
