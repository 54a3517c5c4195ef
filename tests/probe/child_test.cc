// SPDX-License-Identifier: Apache-2.0
//
// One run of a program: how it ends, and what it leaves in the background.
#include <gtest/gtest.h>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/probe/runs/child.h"
#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

const uint64_t MS = 1000000;

class ChildTest : public testing::Test
{
protected:
    void SetUp() override
    {
        child_signals_begin();
    }
    void TearDown() override
    {
        child_signals_end();
    }
    ran Run(std::string line)
    {
        char shell[] = "/bin/sh", option[] = "-c";
        char *argv[] = {shell, option, &line[0], nullptr};
        std::string out = folder_ / "out";
        child child = {};
        child.argv = argv;
        child.in = "/dev/null";
        child.out = child.err = out.c_str();
        return child_run(&child);
    }
    int Pid()
    {
        return std::stoi(read_file(folder_ / "out"));
    }
    Folder folder_;
};

TEST_F(ChildTest, EndsByItself)
{
    ran fine = Run("exit 0"), fails = Run("exit 7"), killed = Run("kill -ABRT $$");
    EXPECT_EQ(END_EXITED, fine.ending.end);
    EXPECT_EQ(7, fails.ending.code);
    EXPECT_EQ(END_SIGNALLED, killed.ending.end);
    EXPECT_EQ(SIGABRT, killed.ending.code);
    EXPECT_FALSE(fine.leaves || fails.leaves || killed.leaves);
}

TEST_F(ChildTest, WhatGoesOnForAWhileIsWaitedFor)
{
    ran found = Run("{ sleep 0.3; echo late; } & exit 5");
    EXPECT_EQ(5, found.ending.code);
    EXPECT_FALSE(found.leaves);
    EXPECT_LE(300 * MS, found.ns);
    EXPECT_EQ("late\n", read_file(folder_ / "out"));
}

TEST_F(ChildTest, WhatGoesOnForLongIsSaidAndEnded)
{
    ran found = Run("sleep 60 & echo $!");
    EXPECT_EQ(0, found.ending.code);
    EXPECT_TRUE(found.leaves);
    EXPECT_LE(1000 * MS, found.ns);
    for (int i = 0; i < 200 && kill(Pid(), 0) == 0; i++) {
        waitpid(Pid(), nullptr, WNOHANG); /* it is a child of whoever looks for it */
        usleep(10000);
    }
    EXPECT_NE(0, kill(Pid(), 0));
    EXPECT_FALSE(Run("exit 0").leaves) << "nor is it another run's";
}

TEST_F(ChildTest, WhatIsEndedIsAskedFirst)
{
    EXPECT_TRUE(
        Run("sh -c 'trap \"sleep 0.2; echo asked; exit\" TERM; for i in 1 2 3 4 5 6 7 8 9; do sleep 1 & wait; done' &")
            .leaves);
    EXPECT_EQ("asked\n", read_file(folder_ / "out"));
}

/* It has a session of its own, and may be meant to stay. */
TEST_F(ChildTest, ADaemonIsSaid)
{
    ran found = Run("setsid sh -c 'echo $$; exec sleep 60' & sleep 0.2");
    EXPECT_TRUE(found.leaves);
    int daemon = Pid();
    EXPECT_EQ(0, kill(daemon, 0));
    EXPECT_FALSE(Run("exit 0").leaves) << "it was there before";
    EXPECT_TRUE(Run("sleep 60 &").leaves) << "of the group";
    kill(daemon, SIGKILL);
    waitpid(daemon, nullptr, 0);
}

TEST_F(ChildTest, TheProbesEndIsNotWaitedFor)
{
    ran found = Run("sleep 60 & kill -QUIT $PPID");
    EXPECT_EQ(END_INTERRUPTED, found.ending.end);
    EXPECT_GT(900 * MS, found.ns);
}

} // namespace
} // namespace ptds
