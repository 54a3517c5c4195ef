/* SPDX-License-Identifier: Apache-2.0
 *
 * What a process that `ptds run` became says where no CUDA call was seen, and to whom it says nothing. The test runs
 * itself.
 */
#include <gtest/gtest.h>

#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/run_child.h"

extern "C" {
#include "interpose/record/run_processes.h"
}

namespace
{

const char words[] = "ptds: no CUDA call of this program was seen, so nothing was moved or recorded\n";
const char words_alone[] = "ptds: no CUDA call of this program was seen, so nothing was moved or recorded (of it alone: a "
                           "process that it started speaks for itself)\n";

std::string own_stderr()
{
    char file[4096] = "";
    const ssize_t size = readlink("/proc/self/fd/2", file, sizeof file - 1);
    return std::string(file, size > 0 ? size_t(size) : 0);
}

/* The process that is run: PTDS_RUN is made of MADE_OF, in which @ is its pid and # what its stderr is. */
void speak()
{
    std::string run = getenv("MADE_OF");
    for (size_t at; (at = run.find('@')) != std::string::npos;)
        run.replace(at, 1, std::to_string(getpid()));
    for (size_t at; (at = run.find('#')) != std::string::npos;)
        run.replace(at, 1, own_stderr());
    setenv("PTDS_RUN", run.c_str(), 1);
    if (getenv("CHILDREN")) {
        const pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, nullptr, 0);
    }
    run_processes_say_nothing_seen();
    _exit(int(run_processes_id() % 100));
}

struct Child : testing::Environment {
    void SetUp() override
    {
        if (getenv("MADE_OF"))
            speak();
    }
};
[[maybe_unused]] testing::Environment *const child = testing::AddGlobalTestEnvironment(new Child);

ptds::Outcome outcome_of(const std::string &made_of, const std::map<std::string, std::string> &env = {},
                         const std::function<void()> &before = {})
{
    ptds::Command command;
    char self[4096] = "";
    EXPECT_GT(readlink("/proc/self/exe", self, sizeof self - 1), 0);
    command.argv = {self};
    command.env = env;
    command.env["MADE_OF"] = made_of;
    command.before = before;
    return ptds::run(command);
}

TEST(NothingSeen, AProcessWithoutACudaCallSaysSo)
{
    ptds::Outcome outcome = outcome_of("42:@:#");
    EXPECT_EQ(words, outcome.err);
    EXPECT_EQ(42, outcome.exit) << "the run's number";
    EXPECT_EQ(words_alone, outcome_of("42:@:#", {{"CHILDREN", "1"}}).err);
    EXPECT_EQ(words, outcome_of("42:@:#", {{"PTDS_REPORT", "off"}, {"PTDS_TRACE", "/nowhere/trace"}}).err);
}

TEST(NothingSeen, IsNotSaid)
{
    for (const char *made_of :
         {"42", "42:", "42:@", "42:@#", "42:1:#", "42:x@:#", "42:@x:#", "42:@:", "42:@:#x", "42:@:/dev/null"}) {
        ptds::Outcome outcome = outcome_of(made_of);
        EXPECT_EQ("", outcome.err) << made_of;
        EXPECT_EQ(42, outcome.exit);
    }
    for (const auto &one :
         std::map<std::string, std::string>{{"PTDS_DISABLE", "1"}, {"PTDS_POLICY", "none"}, {"PTDS_REPORT", "off"}})
        EXPECT_EQ("", outcome_of("42:@:#", {one}).err) << one.first;
}

/* Nobody waits for it, or is hurt: a pipe that is full, or without a reader. */
TEST(NothingSeen, WhereItWouldNotBeTaken)
{
    int pipes[2];
    ASSERT_EQ(0, pipe2(pipes, O_NONBLOCK));
    const auto to_pipe = [&] { dup2(pipes[1], 2); };
    char page[4096] = {};
    EXPECT_EQ(42, outcome_of("42:@:#", {}, to_pipe).exit);
    EXPECT_EQ(long(sizeof words - 1), read(pipes[0], page, sizeof page)) << "there is room";
    while (write(pipes[1], page, sizeof page) > 0) {
    }
    ptds::Outcome outcome = outcome_of("42:@:#", {}, to_pipe);
    EXPECT_EQ(42, outcome.exit);
    EXPECT_FALSE(outcome.timed_out);
    close(pipes[0]);
    outcome = outcome_of("42:@:#", {}, to_pipe);
    EXPECT_EQ(42, outcome.exit);
    EXPECT_EQ(0, outcome.signal);
    close(pipes[1]);
    EXPECT_EQ(42, outcome_of("42:@:#", {}, [] { close(2); }).exit);
}

TEST(Run, WithoutARunThereIsNoId)
{
    unsetenv("PTDS_RUN");
    EXPECT_EQ(0u, run_processes_id());
    setenv("PTDS_RUN", "18446744073709551615:1:", 1);
    EXPECT_EQ(UINT64_MAX, run_processes_id());
    unsetenv("PTDS_RUN");
}

} // namespace
