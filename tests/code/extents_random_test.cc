// SPDX-License-Identifier: Apache-2.0
//
// Random kernels: whatever they compute, every address of every thread lies in the extent that the launch was said to have.
// The kernels run in the simulated driver's interpreter, which shares no code with what reads them. They do not access the
// addresses, which may be anything, but write them down; the accesses that are read from the code stand beside that, under
// a predicate that never holds. SEEDS and FIRST_SEED in the environment, for long runs.

#include <cstdlib>

#include "tests/code/extents_kernel.h"
#include "tests/code/extents_random.h"
#include "tests/sim/driver_fixture.h"

namespace
{
constexpr unsigned kEntries = 4096; // that are written down; later ones are not
constexpr unsigned kLogged = 16 + kEntries * 16;

unsigned Setting(const char *name, unsigned otherwise)
{
    const char *value = getenv(name);
    return value ? static_cast<unsigned>(strtoul(value, nullptr, 10)) : otherwise;
}

class Extents : public Driver
{
protected:
    void SetUp() override
    {
        Driver::SetUp();
        ASSERT_EQ(CUDA_SUCCESS, cuMemAlloc_v2(&log_, kLogged));
    }
    void TearDown() override
    {
        EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(log_));
        Driver::TearDown();
    }
    void Run(const RandomKernel &kernel)
    {
        CUmodule module = nullptr;
        CUfunction function = nullptr;
        ASSERT_EQ(CUDA_SUCCESS, cuMemsetD8_v2(log_, 0, kLogged));
        ASSERT_EQ(CUDA_SUCCESS, cuModuleLoadData(&module, kernel.text.c_str())) << kernel.text;
        ASSERT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&function, module, "k")) << kernel.text;
        uint64_t pointer = kernel.pointer, w = kernel.w;
        uint32_t n = kernel.n, m = kernel.m;
        void *parameters[] = {&pointer, &n, &m, &w, &log_};
        const uint32_t *b = kernel.blocks, *t = kernel.threads;
        ASSERT_EQ(CUDA_SUCCESS,
                  cuLaunchKernel(function, b[0], b[1], b[2], t[0], t[1], t[2], 0, nullptr, parameters, nullptr))
            << kernel.text;
        written_.assign(kLogged / 8, 0);
        ASSERT_EQ(CUDA_SUCCESS, cuMemcpyDtoH_v2(written_.data(), log_, kLogged));
        ASSERT_EQ(CUDA_SUCCESS, cuModuleUnload(module));
    }
    // 1: there is an extent and not all of memory.
    int Check(const RandomKernel &kernel)
    {
        ExtentsKernel read(kernel.text);
        const code_base *base = read.Base(0);
        EXPECT_NE(CODE_UNKNOWN, read.facts->verdict) << read.facts->text << kernel.text;
        if (!base)
            return 0;
        std::vector<uint8_t> bytes(32);
        memcpy(&bytes[0], &kernel.pointer, 8), memcpy(&bytes[8], &kernel.n, 4), memcpy(&bytes[12], &kernel.m, 4);
        memcpy(&bytes[16], &kernel.w, 8);
        extent all = read.Of(base, kernel.threads, kernel.blocks, bytes);
        if (all.low == INT64_MIN)
            return 0;
        uint64_t count = written_[0] & UINT32_MAX;
        for (uint64_t i = 0; i < count && i < kEntries; i++) {
            int64_t at = static_cast<int64_t>(written_[2 + 2 * i] - kernel.pointer);
            const RandomAccess &access = kernel.accesses[written_[3 + 2 * i]];
            EXPECT_TRUE(all.low <= at + access.offset && at + access.offset + access.bytes <= all.high)
                << "seed " << kernel.seed << ": " << at << " and " << access.offset << " not in " << all.low << " to "
                << all.high << "\n"
                << kernel.text;
        }
        checked_ += count != 0;
        return 1;
    }
    CUdeviceptr log_ = 0;
    std::vector<uint64_t> written_;
    unsigned checked_ = 0;
};

TEST_F(Extents, HoldEveryAddress)
{
    const unsigned first = Setting("FIRST_SEED", 1), seeds = Setting("SEEDS", 3000);
    unsigned told = 0;
    for (unsigned seed = first; seed < first + seeds && !HasFailure(); seed++) {
        RandomKernel kernel = DrawKernel(seed);
        Run(kernel);
        told += static_cast<unsigned>(Check(kernel));
    }
    printf("%u of %u launches have an extent, %u of these touch something\n", told, seeds, checked_);
    EXPECT_GE(checked_, seeds / 8); // else nothing is shown
}
} // namespace
