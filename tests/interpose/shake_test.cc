/* SPDX-License-Identifier: Apache-2.0
 *
 * PTDS_SHAKE: which operations are delayed, and for how long, is a function of the seed; every door leads through the
 * delays, under each policy; nothing else about a call changes; and what leans on luck shows another result, what does not
 * the same.
 */
#include <fstream>

#include "tests/interpose/shim_test.h"

namespace ptds
{
namespace
{

std::string Line(const std::string &door, const std::string &what)
{
    return "addr " + door + " " + what + "\n";
}

/* Work goes through the shim; everything else is as without. */
TEST(Shake, UnderNoneOnlyWorkIsTheShims)
{
    const Outcome with = run(shimmed("doors_child", {}, {{"PTDS_POLICY", "none"}, {"PTDS_SHAKE", "1"}}));
    ASSERT_EQ(0, with.exit) << with;
    for (const char *door : {"elf", "dlsym", "dlvsym", "gpa1", "gpa2"})
        for (const char *what :
             {"cuMemcpyDtoH_v2 wrapper-base", "cuMemcpyDtoHAsync_v2 wrapper-base", "cuLaunchKernel wrapper-base",
              "cuLaunchKernel_ptsz wrapper-twin", "cuMemsetD8_v2_ptds wrapper-twin", "cuGraphLaunch wrapper-base",
              "cuStreamWriteValue32_v2 wrapper-base", "cuLaunchHostFunc wrapper-base"})
            EXPECT_NE(std::string::npos, with.out.find(Line(door, what))) << door << " " << what;
    for (const char *door : {"dlsym", "dlvsym", "gpa1", "gpa2"})
        for (const char *what : {"cuStreamBeginCapture_v2 base", "cuEventRecord base", "cuStreamWaitEvent_ptsz twin",
                                 "cuStreamSynchronize base", "cuMemAllocAsync base"})
            EXPECT_NE(std::string::npos, with.out.find(Line(door, what))) << door << " " << what;
}

Command Lucky(const std::vector<std::string> &words, const Settings &settings)
{
    std::string simulator = data_file("tests/sim/libcuda.so.1");
    Command command;
    command.argv = {data_file("tests/apps/" + words[0])};
    command.argv.insert(command.argv.end(), words.begin() + 1, words.end());
    command.preload = {shim()};
    command.env = settings;
    command.env.insert({"PTDS_REPORT", "off"});
    command.libraries = {simulator.substr(0, simulator.rfind('/'))};
    return command;
}

size_t Calls(const std::string &path, const std::string &symbol)
{
    std::ifstream log(path);
    size_t count = 0;
    for (std::string line; std::getline(log, line);)
        count += line.compare(0, symbol.size() + 1, symbol + " ") == 0;
    return count;
}

class ShakePolicies : public testing::TestWithParam<const char *>
{
};

/* 20 launches, a copy, a memset: of the program's first 22 operations some are delayed, always the same ones. */
TEST_P(ShakePolicies, TheSameSeedDelaysTheSameWork)
{
    Folder folder;
    size_t launches[3], at = 0;
    for (const char *seed : {"", "5", "5"}) {
        std::string log = folder / ("log" + std::to_string(at));
        Outcome ran = run(
            Lucky({"lucky", "ordered", "0", "20"}, {{"PTDS_POLICY", GetParam()}, {"PTDS_SHAKE", seed}, {"SIM_LOG", log}}));
        ASSERT_EQ(0, ran.exit) << ran;
        launches[at++] = Calls(log, "cuLaunchKernel");
    }
    EXPECT_EQ(23u, launches[0]) << "20, and 3 that load the kernels";
    EXPECT_LT(launches[0], launches[1]);
    EXPECT_EQ(launches[1], launches[2]);
}

TEST_P(ShakePolicies, WhatIsOrderedIsTheSame)
{
    for (const char *seed : {"1", "2", "3"}) {
        Outcome ran = run(Lucky({"lucky", "ordered", "0"}, {{"PTDS_POLICY", GetParam()}, {"PTDS_SHAKE", seed}}));
        EXPECT_EQ(0, ran.exit) << ran;
        EXPECT_EQ("", ran.err);
    }
}

TEST_P(ShakePolicies, WhatNothingOrdersShows)
{
    Outcome ran = run(Lucky({"lucky", "streams", "0"}, {{"PTDS_POLICY", GetParam()}, {"PTDS_SHAKE", "1"}}));
    EXPECT_EQ(1, ran.exit) << ran;
}

/* A delay in a capture would be a node of the graph. */
TEST_P(ShakePolicies, GraphsAreCapturedWithoutDelays)
{
    Outcome without = run(Lucky({"capture"}, {{"PTDS_POLICY", GetParam()}}));
    Outcome with = run(Lucky({"capture"}, {{"PTDS_POLICY", GetParam()}, {"PTDS_SHAKE", "2"}}));
    ASSERT_EQ(0, with.exit) << with;
    auto result = [](const std::string &out) { return out.substr(0, out.find("time_ms")); };
    EXPECT_EQ(result(without.out), result(with.out));
}

INSTANTIATE_TEST_SUITE_P(Every, ShakePolicies, testing::Values("none", "observe", "guarded", "stream"),
                         [](const auto &of) { return std::string(of.param); });

/* Legacy order that only a pause stands for under per-thread streams. */
TEST(Shake, ShowsWhatAPolicyTakesAway)
{
    for (const char *policy : {"none", "guarded", "stream"})
        EXPECT_EQ(0, run(Lucky({"lucky", "threads", "0"}, {{"PTDS_POLICY", policy}, {"PTDS_SHAKE", "1"}})).exit) << policy;
    EXPECT_EQ(1, run(Lucky({"lucky", "threads", "0"}, {{"PTDS_POLICY", "per-thread"}, {"PTDS_SHAKE", "1"}})).exit);
}

TEST(Shake, ASeedIsANumberFromOneOn)
{
    for (const char *wrong : {"0", "-1", "x", "1000001"}) {
        Outcome ran = run(Lucky({"lucky", "ordered", "0", "2"}, {{"PTDS_SHAKE", wrong}}));
        EXPECT_EQ(std::string("ptds: PTDS_SHAKE=") + wrong +
                      " is not allowed (a number from 1 to 1000000, or unset); libptds does nothing in this process\n",
                  ran.err);
        EXPECT_EQ(0, ran.exit);
    }
}

/* A driver without a compiler for PTX: nothing is delayed, and that is said once. */
TEST(Shake, ADriverThatTakesNoKernelIsSaid)
{
    Outcome ran = run(Lucky({"lucky", "ordered", "0", "20"},
                            {{"PTDS_SHAKE", "1"}, {"PTDS_POLICY", "none"}, {"SIM_FAIL", "cuModuleLoadData:2:209"}}));
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_EQ("ptds: PTDS_SHAKE: the driver does not take the kernel that delays; nothing is delayed in such a context\n",
              ran.err);
}

} // namespace
} // namespace ptds
