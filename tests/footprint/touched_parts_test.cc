/* SPDX-License-Identifier: Apache-2.0
 *
 * Which parts of memories launches touch, once the guard looks at parts of them: the elements that the kernel's code says,
 * and all of the memory wherever that is not sure.
 */
#include "tests/footprint/touched.h"
#include "tests/conformance/kernels.ptx.h"

namespace
{
constexpr size_t kBytes = 1 << 20;
constexpr CUdeviceptr kHalf = kBytes / 2;

class Parts : public Touched
{
protected:
    void SetUp() override
    {
        a_ = device("a", kBytes), b_ = device("b", kBytes);
        fill_ = kernel(ptds_test_ptx, "fill"), copy_ = kernel(ptds_test_ptx, "copy");
        look(a_, 1), look(b_, 1);
    }
    static void look(CUdeviceptr memory, uint8_t parts)
    {
        watch_find(memory)->parts = parts;
    }
    template <class... Arguments> std::string in(unsigned grid, unsigned block, CUfunction f, Arguments... arguments)
    {
        void *params[] = {&arguments..., nullptr};
        last = {};
        EXPECT_EQ(cuLaunchKernel(f, grid, 1, 1, block, 1, 1, 0, nullptr, params, nullptr), CUDA_SUCCESS);
        return text();
    }
    std::string fill(CUdeviceptr to, uint32_t count)
    {
        return in(1, 1, fill_, to, 7u, count);
    }
    CUdeviceptr a_ = 0, b_ = 0;
    CUfunction fill_ = nullptr, copy_ = nullptr;
};

TEST_F(Parts, AreTheElements)
{
    EXPECT_EQ(fill(a_, 100), "w a[0,400)");
    EXPECT_EQ(fill(a_ + kHalf, 100), "w a[524288,524688)");
    EXPECT_EQ(fill(a_ + kHalf, kHalf / 4), "w a[524288,1048576)") << "to its end";
    EXPECT_EQ(fill(a_, kBytes / 4), "w a") << "all of them";
    EXPECT_EQ(in(3, 32, fill_, a_, 7u, 50u), "w a[0,200)") << "whatever the grid is";
    EXPECT_EQ(fill(a_ + kHalf, 0), "w a[524288,524288)") << "none";
    EXPECT_EQ(in(1, 1, copy_, a_, b_ + kHalf, 10u), "w a[0,40) r b[524288,524328)");
    EXPECT_EQ(in(1, 1, copy_, a_ + 64, a_ + kHalf, 10u), "w a[64,524328)") << "and what lies between";
}

TEST_F(Parts, OfTheMemoriesThatTheGuardLooksAt)
{
    look(a_, 0);
    EXPECT_EQ(fill(a_, 100), "w a");
    EXPECT_EQ(in(1, 1, copy_, a_, b_, 10u), "w a r b[0,40)");
    look(b_, 0);
    EXPECT_EQ(in(1, 1, copy_, a_, b_, 10u), "w a r b");
}

/* The kernels do nothing: they are launched with other grids than those in which they do. */
TEST_F(Parts, AreAllWhereItIsNotSure)
{
    const std::string all = "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\n";
    auto does = [&](const std::string &more) { return kernel(module_of("k", "qq", "", all + more), "k"); };
    CUfunction indirect = does("ld.global.u32 %r2, [%rd2];\nmul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd3, %rd1, %rd3;\n"
                               "st.global.u32 [%rd3], %r1;\n");
    EXPECT_EQ(in(1, 1, indirect, a_, b_), "w a r b[0,4)") << "an index out of memory";
    CUfunction loop = does("L:\nst.global.u32 [%rd1], %r1;\nadd.s64 %rd1, %rd1, 4;\nadd.u32 %r1, %r1, 1;\n"
                           "setp.lt.u32 %p1, %r1, 5;\n@%p1 bra L;\n");
    EXPECT_EQ(in(1, 1, loop, a_, b_), "w a") << "a pointer that is moved on";
    CUfunction behind = does("st.global.u32 [%rd1+1048576], %r1;\n"), before = does("st.global.u32 [%rd1+-4], %r1;\n");
    EXPECT_EQ(in(1, 1, behind, a_, b_), "w a") << "outside of it";
    EXPECT_EQ(in(1, 1, before, a_, b_), "w a");
    EXPECT_EQ(in(1, 1, before, a_ + kHalf, b_), "w a[524284,524288)");
    EXPECT_EQ(in(1, 1, before, a_ + 4, b_), "w a[0,4)");
    CUfunction two = does("st.global.u32 [%rd1], %r1;\nld.global.u32 %r2, [%rd1+8];\nmov.u32 %r3, %laneid;\n"
                          "mul.wide.u32 %rd3, %r3, 4;\nadd.s64 %rd2, %rd2, %rd3;\nld.global.u32 %r2, [%rd2];\n");
    EXPECT_EQ(in(1, 1, two, a_, a_ + kHalf), "w a") << "one of two pointers into it has no bound";
    EXPECT_EQ(in(1, 1, two, a_, b_), "w a[0,12) r b");
}

TEST_F(Parts, OfMemoryOfTheHostAreAll)
{
    CUdeviceptr managed;
    CU(cuMemAllocManaged(&managed, kBytes, CU_MEM_ATTACH_GLOBAL));
    made.push_back(managed);
    name("managed", managed);
    look(managed, 1);
    EXPECT_EQ(fill(managed, 100), "w managed");
}

TEST_F(Parts, OfAPointerThatMayMeanOtherMemoryAreAll)
{
    EXPECT_EQ(fill(a_ + 64, 100).substr(0, 3), "w a");
    CUdeviceptr small = device("small", 4096);
    look(small, 1);
    if (fill(small + 64, 10) == "w small[64,104)")
        GTEST_SKIP() << "nothing lies beside it";
    EXPECT_EQ(fill(small + 64, 10).find('['), std::string::npos);
    EXPECT_EQ(fill(small, 10), "w small[0,40)") << "its beginning means no other";
}

/* The pointers, then two words for each part. */
TEST_F(Parts, AreWordsOfTheRecord)
{
    uint32_t count = 10;
    CUdeviceptr a = a_, b = b_;
    void *params[] = {&a, &b, &count};
    watch_names(copy_, params, 0);
    EXPECT_EQ(2u + 4u, watch_words);
    look(b_, 0);
    watch_names(copy_, params, 0);
    EXPECT_EQ(2u + 2u, watch_words);
    look(a_, 0);
    watch_names(copy_, params, 0);
    EXPECT_EQ(2u, watch_words);
}

/* What the simulated driver holds each access of the kernel against. */
TEST_F(Parts, AreWhatIsClaimed)
{
    struct watch_claim claim = {};
    watch_claims(&claim);
    fill(a_ + kHalf, 100);
    watch_claims(nullptr);
    ASSERT_EQ(1u, claim.count);
    EXPECT_EQ(a_ + kHalf, claim.at[0].begin);
    EXPECT_EQ(a_ + kHalf + 400, claim.at[0].end);
}
} // namespace
