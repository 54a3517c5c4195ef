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
#include "tests/footprint/watch.h"
}

#define CU(call) ASSERT_EQ(call, CUDA_SUCCESS)

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
        EXPECT_EQ(result, CUDA_SUCCESS);
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
