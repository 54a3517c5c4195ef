/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that are cancelled inside a driver call, on the simulated driver: whatever they held, others go on.
 */
#include "tests/interpose/shim_test.h"

namespace ptds
{
namespace
{

Command child(const std::vector<std::string> &arguments, const Settings &settings)
{
    Command command = shimmed("cancel_child", arguments, settings);
    std::string driver = data_file("tests/sim/libcuda.so.1");
    command.libraries = {driver.substr(0, driver.rfind('/'))};
    return command;
}

/* nap: the call in which the thread is when it is cancelled. */
void expect_others_go_on(const std::string &nap, const std::vector<std::string> &arguments, const std::string &policy)
{
    SCOPED_TRACE(policy + " " + nap);
    for (bool recorded : {false, true}) {
        Outcome outcome = run(
            child(arguments, {{"PTDS_POLICY", policy}, {"SIM_NAP", nap}, {"PTDS_REPORT", recorded ? "/dev/null" : "off"}}));
        EXPECT_EQ(outcome.exit, 0) << outcome;
        EXPECT_EQ(outcome.out, "cancelled\n39\n") << outcome;
        EXPECT_EQ(outcome.err, "");
    }
}

class Cancelled : public testing::TestWithParam<const char *>
{
};

/* The thread's second launch is the process's third: its lane's turn. */
TEST_P(Cancelled, InItsOwnWork)
{
    expect_others_go_on("cuLaunchKernel:2:5000000000", {"1"}, GetParam());
    expect_others_go_on("cuLaunchKernel:3:5000000000", {"2"}, GetParam());
}

/* One that is not registered any more has its lane's gate. */
TEST_P(Cancelled, InWorkThatItDidBefore)
{
    expect_others_go_on("cuLaunchKernel:8:5000000000", {"20"}, GetParam());
}

/* It was about to record on the other thread's lane. */
TEST_P(Cancelled, InWorkOfTheShimsOwn)
{
    for (const char *nap : {"cuEventRecord:1:600000000", "cuEventRecord:2:600000000", "cuStreamWaitEvent:1:600000000"})
        expect_others_go_on(nap, {"3"}, GetParam());
}

/* Its own turn is not in the way of what it does as it goes. */
TEST_P(Cancelled, AndWorksOnAsItGoes)
{
    expect_others_go_on("cuLaunchKernel:2:5000000000", {"1", "tls"}, GetParam());
    expect_others_go_on("cuLaunchKernel:8:5000000000", {"20", "tls"}, GetParam());
}

/* Recording, which opens and reads files, begins all the same. */
TEST_P(Cancelled, BeforeTheFirstCall)
{
    Folder folder;
    Command command = child({"first"}, {{"PTDS_POLICY", GetParam()}, {"PTDS_TRACE", folder / "trace"}});
    command.seconds = 20;
    Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit, 0) << outcome;
    EXPECT_EQ(outcome.out, "called\ncancelled\n");
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(folder.files(), std::vector<std::string>{"trace"});
}

INSTANTIATE_TEST_SUITE_P(Policies, Cancelled, testing::Values("guarded", "stream"));

} // namespace
} // namespace ptds
