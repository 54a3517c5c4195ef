// SPDX-License-Identifier: Apache-2.0
//
// What a launch was said to touch against what it touches; and what the simulator says of a kernel that it cannot run.
#include <string>

#include "tests/conformance/tables.ptx.h"
#include "tests/conformance/textures.ptx.h"
#include "tests/conformance/variables.ptx.h"
#include "tests/sim/driver_fixture.h"

namespace
{

class Claims : public Driver
{
protected:
    void SetUp() override
    {
        Driver::SetUp();
        sim_reset_unclaimed();
        a_ = Words(64, 1), b_ = Words(64, 2);
    }
    void TearDown() override
    {
        sim_reset_unclaimed();
        for (CUdeviceptr p : {a_, b_})
            EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(p));
        Driver::TearDown();
    }
    unsigned long Copy(const std::vector<sim_range> &ranges, uint32_t n, bool everything = false)
    {
        unsigned long before = sim_unclaimed_accesses();
        sim_claim_next(ranges.data(), static_cast<unsigned>(ranges.size()), everything);
        EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("copy"), nullptr, {&b_, &a_, &n}));
        EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
        return sim_unclaimed_accesses() - before;
    }
    sim_range All(CUdeviceptr p, uint32_t writes)
    {
        return {p, p + 256, writes};
    }
    CUfunction Of(const char *text, const char *name)
    {
        CUfunction f = nullptr;
        EXPECT_EQ(CUDA_SUCCESS, cuModuleLoadData(&last_, text));
        EXPECT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&f, last_, name));
        return f;
    }
    CUdeviceptr a_ = 0, b_ = 0;
    CUmodule last_ = nullptr;
};

TEST_F(Claims, OfALaunch)
{
    EXPECT_EQ(0u, Copy({All(a_, 0), All(b_, 1)}, 64));
    EXPECT_EQ(0u, Copy({All(b_, 1), {a_, a_ + 40, 0}}, 10));
    EXPECT_EQ("", std::string(sim_unclaimed_text()));
    EXPECT_EQ(1u, Copy({All(b_, 1), {a_, a_ + 40, 0}}, 11)) << "the eleventh word";
    std::string text = sim_unclaimed_text();
    char address[32];
    snprintf(address, sizeof address, "0x%llx", a_ + 40);
    for (const std::string &part : {std::string("copy"), std::string("ld.global.u32 %r1, [%rd4]"), std::string(address),
                                    std::string("reads 4 bytes"), std::string("line ")})
        EXPECT_NE(std::string::npos, text.find(part)) << part << " in " << text;
    EXPECT_EQ(3u, Copy({All(a_, 0), All(b_, 0)}, 3)) << "writes what it may only read";
    EXPECT_EQ(text, sim_unclaimed_text()) << "of the first";
    EXPECT_EQ(1u, Copy({{a_, a_ + 3, 0}, All(b_, 1)}, 1)) << "half a word";
    EXPECT_EQ(0u, Copy({}, 0));
    EXPECT_EQ(6u, Copy({}, 3));
    EXPECT_EQ(0u, Copy({}, 3, true)) << "everything";
    uint32_t n = 3;
    unsigned long before = sim_unclaimed_accesses();
    EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("copy"), nullptr, {&b_, &a_, &n}));
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    EXPECT_EQ(before, sim_unclaimed_accesses()) << "a claim is good for one launch";
    EXPECT_EQ(1u, Read(b_));
}

TEST_F(Claims, OfALaunchThatIsRefused)
{
    sim_claim_next(nullptr, 0, 0);
    EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, Launch(nullptr, nullptr, {}));
    uint32_t n = 3;
    EXPECT_EQ(CUDA_SUCCESS, Launch(Kernel("copy"), nullptr, {&b_, &a_, &n}));
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    EXPECT_EQ(0u, sim_unclaimed_accesses());
}

TEST_F(Claims, OfPointersVariablesAndTextures)
{
    CUfunction gather = Of(ptds_tables_ptx, "gather");
    CUmodule tables = last_;
    CUdeviceptr table = Words(2, 0), variable;
    uint32_t one = 1, n = 1, value = 7;
    EXPECT_EQ(CUDA_SUCCESS, cuMemcpyHtoD_v2(table, &a_, sizeof a_));
    for (unsigned count : {2u, 3u}) {
        const sim_range ranges[] = {All(b_, 1), {table, table + 8, 0}, All(a_, 0)};
        sim_claim_next(ranges, count, 0);
        EXPECT_EQ(CUDA_SUCCESS, Launch(gather, nullptr, {&b_, &table, &one, &n}));
        EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
        EXPECT_EQ(1u, sim_unclaimed_accesses()) << count;
    }
    CUfunction set = Of(ptds_variables_ptx, "var_set");
    ASSERT_EQ(CUDA_SUCCESS, cuModuleGetGlobal_v2(&variable, nullptr, last_, "ptds_var"));
    for (unsigned count : {1u, 0u}) {
        const sim_range ranges[] = {{variable, variable + 1024, 1}};
        sim_claim_next(ranges, count, 0);
        EXPECT_EQ(CUDA_SUCCESS, Launch(set, nullptr, {&value}));
        EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
        EXPECT_EQ(count ? 1u : 257u, sim_unclaimed_accesses());
    }
    EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(last_));
    EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(tables));
    EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(table));
}

TEST_F(Claims, OfArraysByTheirHandle)
{
    CUfunction add = Of(ptds_textures_ptx, "surf_add");
    CUarray array;
    CUsurfObject surface;
    CUDA_ARRAY3D_DESCRIPTOR shape = {};
    CUDA_RESOURCE_DESC resource = {};
    shape.Width = 4, shape.Format = CU_AD_FORMAT_UNSIGNED_INT32, shape.NumChannels = 1;
    shape.Flags = CUDA_ARRAY3D_SURFACE_LDST;
    ASSERT_EQ(CUDA_SUCCESS, cuArray3DCreate_v2(&array, &shape));
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    ASSERT_EQ(CUDA_SUCCESS, cuSurfObjectCreate(&surface, &resource));
    uint32_t n = 4;
    uint64_t handle = reinterpret_cast<uint64_t>(array);
    for (uint32_t writes : {1u, 0u}) {
        const sim_range range = {handle, handle + 1, writes};
        sim_claim_next(&range, 1, 0);
        EXPECT_EQ(CUDA_SUCCESS, Launch(add, nullptr, {&surface, &n}));
        EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
        EXPECT_EQ(writes ? 0u : 4u, sim_unclaimed_accesses());
    }
    EXPECT_EQ(CUDA_SUCCESS, cuSurfObjectDestroy(surface));
    EXPECT_EQ(CUDA_SUCCESS, cuArrayDestroy(array));
    EXPECT_EQ(CUDA_SUCCESS, cuModuleUnload(last_));
}

// What was said when a launch was captured counts no more: what is said before the graph's launch is good for each kernel.
TEST_F(Claims, OfAGraph)
{
    CUstream s;
    CUgraph graph;
    CUgraphExec exec;
    uint32_t n = 2;
    ASSERT_EQ(CUDA_SUCCESS, cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    ASSERT_EQ(CUDA_SUCCESS, cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    sim_claim_next(nullptr, 0, 0);
    ASSERT_EQ(CUDA_SUCCESS, Launch(Kernel("add_one"), s, {&a_, &n}));
    ASSERT_EQ(CUDA_SUCCESS, Launch(Kernel("add_one"), s, {&b_, &n}));
    ASSERT_EQ(CUDA_SUCCESS, cuStreamEndCapture(s, &graph));
    ASSERT_EQ(CUDA_SUCCESS, cuGraphInstantiateWithFlags(&exec, graph, 0));
    auto run = [&] {
        EXPECT_EQ(CUDA_SUCCESS, cuGraphLaunch(exec, s));
        EXPECT_EQ(CUDA_SUCCESS, cuStreamSynchronize(s));
        return sim_unclaimed_accesses();
    };
    EXPECT_EQ(0u, run());
    const sim_range ranges[] = {All(a_, 1), All(b_, 1)};
    sim_claim_next(ranges, 2, 0);
    EXPECT_EQ(0u, run());
    sim_claim_next(ranges, 1, 0);
    EXPECT_EQ(4u, run()) << "two words, read and written";
    EXPECT_EQ(CUDA_SUCCESS, cuGraphExecDestroy(exec));
    EXPECT_EQ(CUDA_SUCCESS, cuGraphDestroy(graph));
    EXPECT_EQ(CUDA_SUCCESS, cuStreamDestroy_v2(s));
}

} // namespace
