/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptds kernels` as its users meet it: what it says of whole files, and what of those that it can't read.
 */
#include <gtest/gtest.h>

#include <fstream>
#include <jansson.h>
#include <unistd.h>

#include "tests/footprint/images.h"
#include "tests/support/run_child.h"
#include "tests/support/trace_builder.h"

namespace ptds
{
namespace
{

/* void add(float *to, const float *from, int n); one that follows a pointer; one that calls by address. */
const char *const text = R"(.version 8.0
.target sm_80
.address_size 64
.const .align 4 .f32 factor;
.visible .entry _Z3addPfPKfi(.param .u64 to, .param .u64 from, .param .u32 n)
{
    .reg .f32 %f<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [to];
    ld.param.u64 %rd2, [from];
    ld.global.f32 %f1, [%rd2];
    ld.const.f32 %f2, [factor];
    st.global.f32 [%rd1], %f1;
    ret;
}
.visible .entry gather(.param .u64 table)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [table];
    ld.global.u64 %rd2, [%rd1];
    atom.global.add.u32 %r1, [%rd2], 1;
    ret;
}
.visible .entry odd(.param .u64 function)
{
    .reg .b64 %rd<2>;
    .reg .f32 %f<2>;
    ld.param.u64 %rd1, [function];
    cvt.rn.f32.u64 %f1, %rd1;
    frobnicate.f32 %f1;
    ret;
}
)";

const char *const add_line =
    "direct   add(float*, float const*, int)  compute_80  writes param 0; reads param 1, constant factor\n";
const char *const gather_line = "indirect gather  compute_80  reads param 0, through it reads and writes\n";

class File
{
public:
    explicit File(const std::string &bytes) : path(WriteTemporary(bytes))
    {
    }
    ~File()
    {
        unlink(path.c_str());
    }
    File(const File &) = delete;
    const std::string path;
};

Outcome Kernels(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), {data_file("analysis/ptds_leaks"), "kernels"});
    return run({arguments});
}

TEST(Kernels, LineByLine)
{
    const File file(text);
    const Outcome ran = Kernels({file.path});
    EXPECT_EQ(0, ran.exit);
    EXPECT_EQ("", ran.err);
    EXPECT_EQ(std::string(add_line) + gather_line +
                  "unknown  odd  compute_80  an instruction that is not known: frobnicate.f32 %f1 at line 31\n"
                  "3 kernels: 1 direct, 1 indirect, 1 unknown\n",
              ran.out);
}

TEST(Kernels, SomeOfThem)
{
    const File file(text);
    const std::string one = "1 kernel: 1 direct, 0 indirect, 0 unknown\n",
                      none = "0 kernels: 0 direct, 0 indirect, 0 unknown\n";
    for (const char *glob : {"_Z3add*", "add(*", "*float const*"})
        EXPECT_EQ(add_line + one, Kernels({"--kernel", glob, file.path}).out) << glob;
    EXPECT_EQ(none, Kernels({"--kernel", "add", file.path}).out);
    EXPECT_EQ(add_line + one, Kernels({"--kernel", "add(*", "--arch", "80", file.path}).out);
    EXPECT_EQ(add_line + one, Kernels({"--kernel", "add(*", "--arch", "sm_80", file.path}).out);
    EXPECT_EQ(none, Kernels({"--arch", "90", file.path}).out);
}

/* The PTX of a container that has machine code, too, is not read, but for a device that it has none for. */
TEST(Kernels, PtxBesideMachineCode)
{
    std::string ptx = bytes_of(lz4_ptx), both = bytes_of(zstd_cubin) + ptx.substr(16);
    ptx[16 + 28] = both[16 + bytes_of(zstd_cubin).size() - 16 + 28] = 70;
    const uint64_t size = both.size() - 16;
    memcpy(&both[8], &size, sizeof size);
    const File alone(ptx), beside(both);
    EXPECT_NE(std::string::npos, Kernels({alone.path}).out.find("  compute_75  "));
    EXPECT_EQ(std::string::npos, Kernels({beside.path}).out.find("  compute_75  "));
    EXPECT_NE(std::string::npos, Kernels({"--arch", "70", beside.path}).out.find("  compute_75  "));
}

TEST(Kernels, AsJson)
{
    const File file(text);
    const Outcome ran = Kernels({"--format", "json", file.path});
    EXPECT_EQ(0, ran.exit);
    json_t *all = json_loads(ran.out.c_str(), 0, nullptr), *kernels = json_object_get(all, "kernels");
    ASSERT_EQ(3u, json_array_size(kernels)) << ran.out;
    char *add = json_dumps(json_array_get(kernels, 0), JSON_COMPACT);
    EXPECT_EQ("{\"file\":\"" + file.path +
                  "\",\"name\":\"_Z3addPfPKfi\",\"arch\":\"compute_80\",\"verdict\":\"direct\","
                  "\"parameters\":[{\"offset\":0,\"size\":8,\"use\":\"write\"},{\"offset\":8,\"size\":8,\"use\":\"read\"},"
                  "{\"offset\":16,\"size\":4,\"use\":\"value\"}],"
                  "\"bases\":[{\"terms\":[{\"parameters\":0}],\"use\":\"write\",\"atomic\":false},"
                  "{\"terms\":[{\"parameters\":8}],\"use\":\"read\",\"atomic\":false},"
                  "{\"terms\":[{\"variable\":\"factor\"}],\"use\":\"read\",\"atomic\":false}],"
                  "\"through\":[],\"variables\":[{\"name\":\"factor\",\"constant\":true,\"use\":\"read\"}],"
                  "\"handles\":[],\"flags\":[],\"why\":null}",
              std::string(add));
    free(add);
    json_decref(all);
}

TEST(Kernels, OfSeveralFiles)
{
    const File file(text), none("nothing of the kind"), cut(bytes_of(zstd_cubin).substr(0, 600));
    const Outcome ran = Kernels({"--kernel", "gather", file.path, "nowhere", none.path, cut.path, file.path});
    EXPECT_EQ(1, ran.exit);
    EXPECT_EQ(std::string(gather_line) + gather_line + "2 kernels: 0 direct, 2 indirect, 0 unknown\n", ran.out);
    EXPECT_EQ("ptds kernels: nowhere: No such file or directory\n"
              "ptds kernels: " +
                  none.path +
                  ": no program, library, cubin, fatbin or PTX\n"
                  "ptds kernels: " +
                  cut.path + ": no program, library, cubin, fatbin or PTX\n",
              ran.err);
}

TEST(Kernels, WhatIsDamagedInside)
{
    std::string damaged = bytes_of(zstd_cubin);
    damaged[16 + 64 + 30] ^= 0x55;
    const File bad(damaged), folder("");
    const Outcome ran = Kernels({bad.path});
    EXPECT_EQ(1, ran.exit);
    EXPECT_EQ("ptds kernels: " + bad.path + ": 1 of 1 images of device code could not be read\n", ran.err);
    EXPECT_EQ("ptds kernels: /tmp: Is a directory\n", Kernels({"/tmp"}).err);
    EXPECT_EQ(1, Kernels({folder.path}).exit) << "an empty file";
}

TEST(Kernels, OfAProgramWithoutAny)
{
    const Outcome ran = Kernels({"/proc/self/exe"});
    EXPECT_EQ(0, ran.exit);
    EXPECT_EQ("0 kernels: 0 direct, 0 indirect, 0 unknown\n", ran.out);
}

} // namespace
} // namespace ptds
