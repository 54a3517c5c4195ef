// SPDX-License-Identifier: Apache-2.0
//
// Memory that a kernel reaches though no parameter points at it: variables of its module, pointers in device memory,
// or one that is deep in what is passed by value.
#include <string>

#include "tests/conformance/tables.ptx.h"
#include "tests/conformance/variables.ptx.h"
#include "tests/sim/driver_fixture.h"

namespace
{

class Indirect : public Driver
{
protected:
    CUmodule Load(const char *text)
    {
        CUmodule m = nullptr;
        EXPECT_EQ(CUDA_SUCCESS, cuModuleLoadData(&m, text));
        return m;
    }
    CUfunction Of(CUmodule m, const char *name)
    {
        CUfunction f = nullptr;
        EXPECT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&f, m, name)) << name;
        return f;
    }
    CUdeviceptr Global(CUmodule m, const char *name, size_t *size = nullptr)
    {
        CUdeviceptr p = 0;
        EXPECT_EQ(CUDA_SUCCESS, cuModuleGetGlobal_v2(&p, size, m, name)) << name;
        return p;
    }
};

TEST_F(Indirect, EachModuleHasItsOwnVariable)
{
    CUmodule a = Load(ptds_variables_ptx), b = Load(ptds_variables_ptx);
    uint32_t five = 5, seven = 7, n = 2;
    size_t size = 0;
    CUdeviceptr in_a = Global(a, "ptds_var", &size), in_b = Global(b, "ptds_var"), dst = Words(2, 0);
    EXPECT_EQ(1024u, size);
    EXPECT_EQ(CUDA_SUCCESS, Launch(Of(a, "var_set"), nullptr, {&five}));
    EXPECT_EQ(CUDA_SUCCESS, Launch(Of(b, "var_set"), nullptr, {&seven}));
    EXPECT_EQ(CUDA_SUCCESS, Launch(Of(b, "var_add"), nullptr, {&n}));
    EXPECT_EQ(5u, Read(in_a + 1020));
    EXPECT_EQ(8u, Read(in_b + 4));
    EXPECT_EQ(7u, Read(in_b + 8));
    EXPECT_EQ(CUDA_SUCCESS, cuMemsetD32_v2(in_b, 40, 1));
    EXPECT_EQ(CUDA_SUCCESS, Launch(Of(b, "var_get"), nullptr, {&dst, &n}));
    EXPECT_EQ(40u, Read(dst));
    EXPECT_EQ(8u, Read(dst + 4));
    for (CUmodule m : {a, b})
        EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(m));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(in_b, 0, 1)); /* it went with its module */
    EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(dst));
}

TEST_F(Indirect, VariablesAreDeviceMemoryOfTheModule)
{
    CUmodule m = Load(ptds_variables_ptx);
    CUdeviceptr p = Global(m, "ptds_var"), base = 0;
    size_t size = 0;
    CUmemorytype type;
    EXPECT_EQ(CUDA_SUCCESS, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    EXPECT_EQ(CU_MEMORYTYPE_DEVICE, type);
    EXPECT_EQ(CUDA_SUCCESS, cuMemGetAddressRange_v2(&base, &size, p + 1023));
    EXPECT_LE(base, p);
    EXPECT_GE(base + size, p + 1024);
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2(base));
    EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal_v2(&p, nullptr, m, "absent"));
    EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal_v2(&p, nullptr, module_, "ptds_var"));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuModuleGetGlobal_v2(nullptr, nullptr, m, "ptds_var"));
    EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(m));
    EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuModuleGetGlobal_v2(&p, nullptr, m, "ptds_var"));
}

TEST_F(Indirect, DeclarationsOfAllSorts)
{
    CUmodule m = Load(".version 7.0\n.target sm_52\n.address_size 64\n"
                      "// .global .u32 comment;\n"
                      ".global .align 16 .b8 bytes[3][5];\n"
                      ".visible .const .u64 wide = 0x1122334455667788;\n"
                      ".extern .global .align 4 .u32 elsewhere;\n"
                      ".global .f32 half = 0f3F000000;\n"
                      ".global .align 16 .v4 .f32 vectors[2];\n"
                      ".global .u16 open[] = {1, 2, 65535};\n"
                      ".visible .entry uses(.param .u64 .ptr .global .align 8 uses_p)\n"
                      "{\n .reg .b64 %rd<2>;\n ld.global.u64 %rd1, [wide];\n ret;\n}\n");
    size_t size = 0;
    Global(m, "bytes", &size);
    EXPECT_EQ(15u, size);
    EXPECT_EQ(0u, Global(m, "bytes") % 16);
    CUdeviceptr wide = Global(m, "wide", &size);
    EXPECT_EQ(8u, size);
    EXPECT_EQ(0x11223344u, Read(wide + 4));
    EXPECT_EQ(0x3f000000u, Read(Global(m, "half")));
    Global(m, "vectors", &size);
    EXPECT_EQ(32u, size);
    CUdeviceptr open = Global(m, "open", &size);
    EXPECT_EQ(6u, size);
    EXPECT_EQ(0x20001u, Read(open));
    CUdeviceptr p;
    for (const char *absent : {"comment", "elsewhere", "uses_p", "uses"})
        EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal_v2(&p, nullptr, m, absent)) << absent;
    EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(m));
}

TEST_F(Indirect, LibrariesHaveVariablesToo)
{
    CUlibrary library;
    CUkernel kernel;
    CUmodule m;
    CUdeviceptr p = 0;
    size_t size = 0;
    uint32_t nine = 9;
    ASSERT_EQ(CUDA_SUCCESS, cuLibraryLoadData(&library, ptds_variables_ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
    ASSERT_EQ(CUDA_SUCCESS, cuLibraryGetKernel(&kernel, library, "var_set"));
    ASSERT_EQ(CUDA_SUCCESS, cuLibraryGetGlobal(&p, &size, library, "ptds_var"));
    EXPECT_EQ(1024u, size);
    EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuLibraryGetGlobal(&p, &size, library, "absent"));
    EXPECT_EQ(CUDA_SUCCESS, Launch(reinterpret_cast<CUfunction>(kernel), nullptr, {&nine}));
    EXPECT_EQ(9u, Read(p));
    ASSERT_EQ(CUDA_SUCCESS, cuLibraryGetModule(&m, library));
    EXPECT_EQ(p, Global(m, "ptds_var"));
    EXPECT_EQ(1u, Read(Global(m, "ptds_start") + 4));
    EXPECT_EQ(CUDA_SUCCESS, cuLibraryUnload(library));
}

TEST_F(Indirect, TablesOfPointers)
{
    CUmodule m = Load(ptds_tables_ptx);
    const char *const all_names[][2] = {{"scatter", "gather"}, {PTDS_SCATTER, PTDS_GATHER}};
    for (const auto &names : all_names) {
        CUdeviceptr parts[3] = {Words(4, 0), Words(4, 0), Words(4, 0)}, table = Words(6, 0), dst = Words(4, 99);
        uint32_t two = 2, three = 3, value = 10, n = 4;
        EXPECT_EQ(CUDA_SUCCESS, cuMemcpyHtoD_v2(table, parts, sizeof parts));
        EXPECT_EQ(CUDA_SUCCESS, Launch(Of(m, names[0]), nullptr, {&table, &two, &value, &n}));
        EXPECT_EQ(10u, Read(parts[1] + 12));
        EXPECT_EQ(0u, Read(parts[2]));
        EXPECT_EQ(CUDA_SUCCESS, cuMemsetD32_v2(parts[2], 1, 4));
        EXPECT_EQ(CUDA_SUCCESS, Launch(Of(m, names[1]), nullptr, {&dst, &table, &three, &n}));
        EXPECT_EQ(21u, Read(dst));
        EXPECT_EQ(21u, Read(dst + 12));
        for (CUdeviceptr p : {parts[0], parts[1], parts[2], table, dst})
            EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(p));
    }
    EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(m));
}

// Large parameters, and many.
TEST_F(Indirect, APointerDeepInTheParameters)
{
    CUmodule m = Load(ptds_tables_ptx);
    CUdeviceptr p = Words(8, 1);
    uint64_t words[500] = {};
    uint32_t n = 8;
    size_t offset = 0, size = 0;
    words[499] = p;
    EXPECT_EQ(CUDA_SUCCESS, cuFuncGetParamInfo(Of(m, "deep_add"), 1, &offset, &size));
    EXPECT_EQ(4000u, offset);
    EXPECT_EQ(CUDA_SUCCESS, Launch(Of(m, "deep_add"), nullptr, {words, &n}));
    EXPECT_EQ(2u, Read(p + 28));
    EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(m));
    std::string many = ".version 7.0\n.target sm_52\n.visible .entry many(";
    for (int i = 0; i < 100; i++)
        many += (i ? ", .param .u64 p" : ".param .u64 p") + std::to_string(i);
    m = Load((many + ") { ret; }").c_str());
    EXPECT_EQ(CUDA_SUCCESS, cuFuncGetParamInfo(Of(m, "many"), 99, &offset, &size));
    EXPECT_EQ(792u, offset);
    EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(m));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(p));
}

} // namespace
