/* SPDX-License-Identifier: Apache-2.0
 *
 * What OpenMP's threads hand over, with libptds_openmp.so beside the shim and without it, and what a program says by
 * ptds.h; on the simulated driver. Without the library the order must be lost, or the tests would show nothing.
 */
#include "tests/interpose/shim_test.h"

namespace ptds
{
namespace
{

std::vector<std::string> simulator()
{
    std::string library = data_file("tests/sim/libcuda.so.1");
    return {library.substr(0, library.rfind('/'))};
}

Outcome run_openmp(const std::string &how, const std::string &policy, bool beside)
{
    Command command = shimmed("openmp_child", {how}, {{"PTDS_POLICY", policy}, {"OMP_DYNAMIC", "false"}});
    command.libraries = simulator();
    if (beside)
        command.preload.push_back(data_file("interpose/libptds_openmp.so"));
    return run(command);
}

class HandedOver : public testing::TestWithParam<const char *>
{
};

TEST_P(HandedOver, RightWithTheLibrary)
{
    for (const char *policy : {"ordered", "observe", "stream", "none"}) {
        Outcome outcome = run_openmp(GetParam(), policy, true);
        EXPECT_EQ("OK\n", outcome.out) << policy << outcome;
        EXPECT_EQ("", outcome.err);
        EXPECT_EQ(0, outcome.exit);
    }
}

TEST_P(HandedOver, LostWithout)
{
    if (std::string(GetParam()) != "flag") {
        EXPECT_EQ("WRONG\n", run_openmp(GetParam(), "ordered", false).out);
    }
    EXPECT_EQ("WRONG\n", run_openmp(GetParam(), "per-thread", true).out);
}

INSTANTIATE_TEST_SUITE_P(OpenMP, HandedOver,
                         testing::Values("region", "loop", "sections", "begin", "barrier", "meeting", "single", "flag"),
                         [](const auto &made) { return std::string(made.param); });

/* As modules of Python's bring one along. */
TEST(OpenMP, AModulesOwnRuntimeIsReached)
{
    Command command = shimmed("openmp_loader", {data_file("tests/interpose/libopenmp_module.so")});
    EXPECT_EQ("3 3\n", run(command).out);
    command.preload.push_back(data_file("interpose/libptds_openmp.so"));
    Outcome outcome = run(command);
    EXPECT_EQ("3 3\n", outcome.out) << outcome;
    EXPECT_EQ("", outcome.err);
}

TEST(OpenMP, TheLibraryAloneChangesNothing)
{
    Command command = shimmed("openmp_child", {"region"});
    command.libraries = simulator();
    command.preload = {data_file("interpose/libptds_openmp.so")};
    EXPECT_EQ("OK\n", run(command).out);
}

} // namespace
} // namespace ptds
