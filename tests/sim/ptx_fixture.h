// SPDX-License-Identifier: Apache-2.0
//
// For tests of kernels as PTX text: one entry k(out, in), whose body the test gives.
#ifndef PTDS_TESTS_SIM_PTX_FIXTURE_H
#define PTDS_TESTS_SIM_PTX_FIXTURE_H

#include <string>
#include <vector>

#include "tests/sim/driver_fixture.h"

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

#endif
