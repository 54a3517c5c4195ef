/* SPDX-License-Identifier: Apache-2.0
 *
 * What each kind of call touches, through the shim's own wrappers on the simulated driver. A policy of these tests' own,
 * which leaves every call where it is, looks at the calls on the legacy stream and on blocking streams.
 */
#ifndef PTDS_TESTS_FOOTPRINT_TOUCHED_H
#define PTDS_TESTS_FOOTPRINT_TOUCHED_H

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <cuda.h>

extern "C" {
/* Newer than some headers. */
CUresult cuMemcpyWithAttributesAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUmemcpyAttributes *how,
                                     CUstream stream);
CUresult cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream stream);

#include "tests/footprint/watch.h"
}

#define CU(call) ASSERT_EQ(call, CUDA_SUCCESS)

/* The text of a module with one kernel, which does nothing, as nobody could tell. A letter for each parameter: 'd' a number
 * of 32 bits, 'q' one of 64, which it does not use; 'r' a pointer to what it reads, 'w' to what it writes, 'b' both; 't' to
 * pointers, through which it reads, 'T', through which it writes; 'L' to pointers to pointers and so on. `more`: other
 * definitions of the module, and what the kernel does besides. */
inline std::string module_of(const std::string &named, const std::string &does, const std::string &defines = "",
                             const std::string &more = "")
{
    std::string params, body;
    for (size_t i = 0; i < does.size(); i++) {
        const std::string p = "p" + std::to_string(i), load = "ld.param.u64 %rd1, [" + p + "];\n";
        params += (i != 0 ? ", .param ." : ".param .") + std::string(does[i] == 'd' ? "u32 " : "u64 ") + p;
        switch (does[i]) {
        case 'r': body += load + "ld.global.u32 %r1, [%rd1];\n"; break;
        case 'w': body += load + "st.global.u32 [%rd1], %r1;\n"; break;
        case 'b': body += load + "ld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1], %r1;\n"; break;
        case 't': body += load + "ld.global.u64 %rd2, [%rd1];\nld.global.u32 %r1, [%rd2];\n"; break;
        case 'T': body += load + "ld.global.u64 %rd2, [%rd1];\nst.global.u32 [%rd2], %r1;\n"; break;
        case 'L':
            body += load + "L" + p + ":\nld.global.u64 %rd1, [%rd1];\nld.global.u32 %r1, [%rd1];\n" +
                    "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra L" + p + ";\n";
            break;
        default: break;
        }
    }
    return ".version 7.0\n.target sm_52\n.address_size 64\n" + defines + ".visible .entry " + named + "(" + params +
           ")\n{\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
           "mov.u32 %r1, %nctaid.x;\nsetp.ne.u32 %p2, %r1, 77;\n@%p2 bra NOTHING;\n" +
           body + more + "NOTHING:\nret;\n}\n";
}

inline struct touched &last = watch_last;

inline const char *const reasons[] = {
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
    CUfunction kernel(const std::string &text, const char *kernels_name)
    {
        return kernel(text.c_str(), kernels_name);
    }
    /* As module_of says. */
    CUfunction that_does(const std::string &does)
    {
        return kernel(module_of("k", does), "k");
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

#endif
