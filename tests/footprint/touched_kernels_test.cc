/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels touch: by their parameters, their names, their modules.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

extern "C" {
#include "interpose/footprint/image.h"
}

#include "tests/footprint/images.h"
#include "tests/footprint/touched.h"
#include "tests/conformance/tables.ptx.h"
#include "tests/conformance/textures.ptx.h"
#include "tests/conformance/variables.ptx.h"
#include "tests/kit/kernels.ptx.h"

namespace
{

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

/* A name that cannot be this kernel's says nothing of any parameter, whichever of them it is that does not fit. */
TEST_F(Touched, KernelsWhoseNamesDoNotFit)
{
    struct Row {
        const char *name, *signature;
        bool fits;
    };
    const Row all[] = {{"_Z5fits1PKj", "p", true},       {"_Z4odd1PKj", "d", false},         {"_Z4odd2PKj", "pd", false},
                       {"_Z5fits2jPKj", "dp", true},     {"_Z4odd3PKjPKj", "dp", false},     {"_Z4odd4PKjPKj", "pd", false},
                       {"_Z5fits3PKjPKjj", "ppd", true}, {"_Z4odd5PKjPKjPKj", "ppd", false}, {"_Z4odd6PKjPKj", "p", false},
                       {"_Z4odd7PKjj", "p", false},      {"_Z4odd8PKj", "pd", false}};
    CUdeviceptr a = device("a");
    for (const Row &row : all) {
        std::string text = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry " + std::string(row.name) + "(";
        for (const char *type = row.signature; *type; type++)
            text += std::string(type == row.signature ? "" : ", ") + ".param ." + (*type == 'p' ? "u64" : "u32") + " p" +
                    std::to_string(type - row.signature);
        CUfunction function = kernel((text + ")\n{\n\tret;\n}\n").c_str(), row.name);
        ASSERT_NE(function, nullptr) << row.name;
        const std::string expected = strchr(row.signature, 'p') ? row.fits ? "r a" : "w a" : "";
        if (row.signature[0] == 'd')
            EXPECT_EQ(launch(function, 7u, a), expected) << row.name;
        else
            EXPECT_EQ(launch(function, a, a, a), expected) << row.name;
    }
}

/* Of a structure by value. */
std::string structure_kernel(const std::string &named, unsigned align, size_t size)
{
    return ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry " + named + "(.param .align " +
           std::to_string(align) + " .b8 p0[" + std::to_string(size) + "])\n{\n\tret;\n}\n";
}

/* Structures by value, as they lie in memory: 'p' is a pointer, a digit so many other bytes. By the way that most launches
 * take, by the long one, and in a buffer. */
TEST_F(Touched, PointersInPackedStructures)
{
    struct Row {
        const char *layout;
        unsigned align, size;
    };
    const Row all[] = {{"p8", 8, 16},
                       {"8p", 8, 16},
                       {"4p", 4, 12},
                       {"4p4", 4, 16},
                       {"p44", 4, 16},
                       {"44p44", 4, 24},
                       {"4444p", 4, 24},
                       {"1p", 1, 9},
                       {"p1", 1, 9},
                       {"5p8", 1, 21},
                       {"2p", 2, 10},
                       {"7p", 1, 15},
                       {"p999", 1, 35},
                       {"9999p1", 1, 45},
                       {"444p99991", 1, 57},
                       {"4p99999994", 1, 79},
                       {"999p", 1, 35},
                       {"8888884p4", 4, 64},
                       {"99999999999999p3", 1, 137},
                       {"1p7", 1, 16},
                       {"1p3", 1, 12},
                       {"2p6", 2, 16},
                       {"7p1", 1, 16},
                       {"9p7", 1, 24},
                       {"999p5", 1, 40},
                       {"99999999999999p2", 1, 136}};
    CUdeviceptr a = device("a");
    for (const Row &row : all) {
        SCOPED_TRACE(row.layout);
        unsigned char bytes[256];
        size_t size = 0;
        memset(bytes, 0xee, sizeof bytes);
        for (const char *part = row.layout; *part != 0; part++) {
            if (*part == 'p')
                memcpy(bytes + size, &a, sizeof a);
            size += *part == 'p' ? sizeof a : static_cast<size_t>(*part - '0');
        }
        ASSERT_EQ(size, row.size);
        for (const std::string named : {"packed", "_Z6packed4Some"}) {
            CUfunction function = kernel(structure_kernel(named, row.align, row.size).c_str(), named.c_str());
            ASSERT_NE(function, nullptr);
            void *params[] = {bytes}, *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                                                  CU_LAUNCH_PARAM_END};
            last = {};
            cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra);
            EXPECT_EQ(text(), "w a") << named << " in a buffer";
            struct touched plainly = {};
            EXPECT_TRUE(watch_plainly(function, params, &plainly)) << named;
            last = {};
            cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr);
            EXPECT_EQ(text(), "w a") << named;
            last = plainly;
            EXPECT_EQ(text(), "w a") << named << " by the short way";
        }
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

/* Structures among other parameters, by both ways. */
TEST_F(Touched, PointersInAndBesideStructures)
{
    struct {
        int n;
        CUdeviceptr first, second;
    } structure = {1, device("a"), device("b")};
    CUfunction function =
        kernel(".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u64 p0, .param .align 8 "
               ".b8 p1[24], .param .u32 p2, .param .align 8 .b8 p3[24], .param .u64 p4)\n{\n\tret;\n}\n",
               "k");
    CUdeviceptr c = device("c"), d = device("d");
    auto other = structure;
    other.first = 0;
    other.second = device("e");
    launch(function, c, structure, 7u, other, d);
    EXPECT_EQ(launch(function, c, structure, 7u, other, d), "w c w a w b w e w d");
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
    struct {
        CUdeviceptr words[500];
    } parameter = {};
    parameter.words[0] = at + 64;
    parameter.words[499] = a;
    EXPECT_EQ(launch(deep, parameter, 1u), "!POINTERS") << "the host stores there without a call";
    parameter.words[0] = 0;
    EXPECT_EQ(launch(deep, parameter, 1u), "w a");
    for (uint64_t pair : {uint64_t{4} << 32 | 5, uint64_t{1000} << 32, at - 8192, at + 16384}) {
        launch(copy, a, CUdeviceptr{pair}, 0u);
        EXPECT_TRUE(short_way) << pair;
    }
    CU(cuCtxSynchronize());
    CU(cuMemHostUnregister(low));
    munmap(low, 8192);
}

/* As many memories as a footprint has room for, of as many pointers: the short way leaves room for the module's variables.
 */
TEST_F(Touched, AsManyMemoriesAsThereIsRoomFor)
{
    const size_t most = 96;
    std::string text = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k(";
    std::vector<CUdeviceptr> words(most);
    std::vector<void *> params;
    for (size_t i = 0; i < most; i++) {
        text += (i != 0 ? ", .param .u64 p" : ".param .u64 p") + std::to_string(i);
        params.push_back(&words[i]);
    }
    CUfunction function = kernel((text + ")\n{\nret;\n}\n").c_str(), "k");
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
}

/* A record has 37 words for a launch's pointers. Of more pointers it names the memories, as long as there are no more. */
TEST_F(Touched, TheRecordOfMorePointersThanWords)
{
    const size_t most = 40;
    std::string text = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry _Z4many", parameters;
    for (size_t i = 0; i < most; i++) {
        text += i == 0 ? "PKj" : "Pj";
        parameters += (i != 0 ? ", .param .u64 p" : "(.param .u64 p") + std::to_string(i);
    }
    const std::string name = text.substr(text.find("_Z4"));
    CUfunction function = kernel((text + parameters + ")\n{\nret;\n}\n").c_str(), name.c_str());
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
    EXPECT_EQ(2, named(38, 37, 0));
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
    EXPECT_EQ(launch(function, a, address, 0u), "w a");
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
        EXPECT_EQ(launch(function, a, CUdeviceptr{at + 12}, 0u), "w a");
    }
    /* Memory that is known begins behind it, but not there. */
    alignas(4096) static char beside[8192];
    CU(cuMemHostRegister(beside + 4096, 4096, 0));
    EXPECT_EQ(launch(function, a, reinterpret_cast<CUdeviceptr>(beside) + 4092, 0u), "!OTHER");
    CU(cuMemHostUnregister(beside + 4096));
    EXPECT_EQ(launch(function, a, CUdeviceptr{1} << 48 | 0x7000, 0u), "w a");
    EXPECT_EQ(launch(function, a, CUdeviceptr{0x7000}, 0u), "w a");
    EXPECT_EQ(launch(function, a, CUdeviceptr{0x7ffffffff000}, 0u), "w a");
    watch_pageable(0);
}

/* Each question costs a system call: at multiples of four, but where an odd size shows that the structure is packed. */
TEST_F(Touched, PageableMemoryInStructures)
{
    static unsigned own[4];
    const auto address = reinterpret_cast<CUdeviceptr>(own);
    device("a");
    watch_pageable(1);
    for (const auto &[at, size] :
         std::vector<std::pair<size_t, size_t>>{{0, 16}, {4, 12}, {8, 16}, {12, 20}, {1, 9}, {5, 21}, {2, 10}}) {
        unsigned char bytes[24];
        memset(bytes, 0xee, sizeof bytes);
        memcpy(bytes + at, &address, sizeof address);
        CUfunction function = kernel(structure_kernel("k", 1, size).c_str(), "k");
        void *params[] = {bytes};
        last = {};
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr);
        EXPECT_EQ(text(), "!OTHER") << at << " of " << size;
    }
    unsigned char none[24] = {};
    void *params[] = {none};
    last = {};
    cuLaunchKernel(kernel(structure_kernel("k", 1, 24).c_str(), "k"), 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr);
    EXPECT_EQ(text(), "");
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

/* The last one is not all there: it is not said that the kernel reads all of it. */
TEST_F(Touched, ParametersInAShortBuffer)
{
    static const char text_of[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                                  ".visible .entry f(.param .u64 to, .param .align 8 .b8 more[64])\n{\n ret;\n}\n";
    struct {
        CUdeviceptr to, first, second;
    } parameters = {device("a"), device("b"), device("c")};
    CUfunction function = kernel(text_of, "f");
    size_t size = sizeof parameters;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    for (const char *expected : {"w a w b w c", "w a w b", "w a w b", "w a", "w a", ""}) {
        last = {};
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra);
        EXPECT_EQ(text(), expected) << size;
        size -= 4;
    }
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

/* Once a module is loaded it is known for which devices code can be. */
TEST_F(Touched, VariablesOfCodeForOtherDevicesDoNotCount)
{
    int major, minor;
    kernel(ptds_variables_ptx, "var_get");
    CU(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    CU(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
    uint8_t here = static_cast<uint8_t>(major * 10 + minor), elsewhere = static_cast<uint8_t>(here + 1);
    EXPECT_EQ(image_variables(of_two_devices(here, elsewhere).data(), SIZE_MAX), unsigned{IMAGE_CONSTANTS});
    EXPECT_EQ(image_variables(of_two_devices(elsewhere, here).data(), SIZE_MAX), unsigned{IMAGE_GLOBALS});
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

} // namespace
