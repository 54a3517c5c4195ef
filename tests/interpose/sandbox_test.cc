/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that forbids itself system calls after its start lives under the shim where nothing is recorded: the shim then
 * makes none that the program and the driver do not.
 */
#include <csignal>

#include "tests/interpose/shim_test.h"

namespace ptds
{
namespace
{

Command sandboxed(const std::vector<std::string> &arguments = {})
{
    Command command = plain("sandbox_child", arguments);
    std::string driver = data_file("tests/sim/libcuda.so.1");
    command.libraries = {driver.substr(0, driver.rfind('/'))};
    return command;
}

TEST(Sandbox, KillsWhoAsks)
{
    Outcome outcome = run(sandboxed({"asks"}));
    if (outcome.exit == 77)
        GTEST_SKIP() << "no seccomp filters here";
    EXPECT_EQ(outcome.signal, SIGSYS) << outcome;
    EXPECT_EQ(run(sandboxed()).out, "right\n");
}

TEST(Sandbox, LivesUnderEveryPolicy)
{
    if (run(sandboxed({"asks"})).exit == 77)
        GTEST_SKIP() << "no seccomp filters here";
    for (const char *policy : {"guarded", "per-thread", "stream", "observe", "none"}) {
        SCOPED_TRACE(policy);
        Command command = sandboxed();
        command.preload = {shim()};
        command.env = {{"PTDS_POLICY", policy}, {"PTDS_REPORT", "off"}};
        Outcome outcome = run(command);
        EXPECT_EQ(outcome.exit, 0) << outcome;
        EXPECT_EQ(outcome.out, "right\n");
    }
}

} // namespace
} // namespace ptds
