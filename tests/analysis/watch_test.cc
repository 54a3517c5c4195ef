// SPDX-License-Identifier: Apache-2.0
//
// `ptds watch` and `ptds run --watchdog` on a program that really hangs: a kernel that waits at a gate, on the simulated
// driver, and a cuMemFree of another thread behind it. The test opens the gate, or kills the program.
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/analysis/support.h"
#include "tests/interpose/shim_test.h"

namespace ptds
{
namespace
{

std::string Command_()
{
    return data_file("analysis/ptds_leaks");
}

std::string Simulator()
{
    std::string file = data_file("tests/sim/libcuda.so.1");
    return file.substr(0, file.rfind('/'));
}

/* The program that hangs until `go_on` is there, kept in a trace. */
Command Hanging(const std::string &trace, const std::string &go_on, const std::vector<std::string> &begin = {})
{
    std::vector<std::string> arguments = {"hang", go_on};
    arguments.insert(arguments.end(), begin.begin(), begin.end());
    Command command = shimmed("recorder_child", arguments, {{"PTDS_POLICY", "observe"}, {"PTDS_TRACE", trace}});
    command.libraries = {Simulator()};
    return command;
}

Command Watching(const std::string &trace, const std::string &after)
{
    Command command;
    command.argv = {Command_(), "watch", trace, "--after", after};
    return command;
}

void Open(const std::string &gate)
{
    std::ofstream(gate) << "open";
}

bool WaitUntil(const std::function<bool()> &is_so)
{
    for (int i = 0; i < 2000; i++, usleep(10000))
        if (is_so())
            return true;
    return false;
}

void ExpectTheHang(const std::string &said)
{
    EXPECT_NE(said.find("cuMemFree_v2 of thread "), std::string::npos) << said;
    EXPECT_NE(said.find("\"cleaner\""), std::string::npos) << said;
    EXPECT_NE(said.find("free_one"), std::string::npos) << "its stack\n" << said;
    EXPECT_NE(said.find("it waits for everything in its context"), std::string::npos) << said;
    EXPECT_NE(said.find("(non-blocking), last work: kernel gate, put there by thread "), std::string::npos) << said;
}

/* A second is enough of an idle machine, and nothing of a busy one. */
void WaitUntilItIsTold(const Running &watcher)
{
    EXPECT_TRUE(WaitUntil([&] { return watcher.err().find("last work: kernel gate") != std::string::npos; }))
        << watcher.err();
}

/* Lets the program go on; the watcher has told of the hang while it lasted. */
Outcome EndOfTheHang(Running &program, Running &watcher, const std::string &gate)
{
    Open(gate);
    EXPECT_EQ(program.end().exit, 3);
    Outcome watched = watcher.end();
    EXPECT_EQ(watched.exit, 1) << watched;
    ExpectTheHang(watched.err);
    EXPECT_NE(watched.err.find("has not returned for "), std::string::npos) << watched;
    return watched;
}

TEST(Watch, NamesTheKernelAndTheCallWhileItLasts)
{
    Folder folder;
    Running program(Hanging(folder / "trace", folder / "go"));
    ASSERT_TRUE(program.wait_for("ready"));
    Running watcher(Watching(folder / "trace", "200ms"));
    WaitUntilItIsTold(watcher);
    usleep(500000); /* it looks again */
    Outcome watched = EndOfTheHang(program, watcher, folder / "go");
    EXPECT_EQ(watched.err.find("cuMemFree_v2"), watched.err.rfind("cuMemFree_v2")) << "told once, nothing changed\n"
                                                                                   << watched;
}

/* It looks again, however short the time, and does not only wait for the program's end. */
TEST(Watch, WhatBeginsToHangWhileItWatchesForAMillisecond)
{
    Folder folder;
    Running program(Hanging(folder / "trace", folder / "go", {folder / "begin"}));
    ASSERT_TRUE(program.wait_for("waits"));
    Running watcher(Watching(folder / "trace", "1ms"));
    usleep(500000);
    Open(folder / "begin");
    ASSERT_TRUE(program.wait_for("ready"));
    WaitUntilItIsTold(watcher);
    EndOfTheHang(program, watcher, folder / "go");
}

TEST(Watch, SaysNothingWhereEveryCallReturnsInTime)
{
    Folder folder;
    Running program(Hanging(folder / "trace", folder / "go"));
    ASSERT_TRUE(program.wait_for("ready"));
    Running watcher(Watching(folder / "trace", "5m"));
    usleep(300000);
    Open(folder / "go");
    EXPECT_EQ(program.end().exit, 3);
    Outcome watched = watcher.end();
    EXPECT_EQ(watched.exit, 0) << watched;
    EXPECT_EQ(watched.err, "");
}

TEST(Watch, TellsOfAKilledProgram)
{
    Folder folder;
    Running program(Hanging(folder / "trace", folder / "go"));
    ASSERT_TRUE(program.wait_for("ready"));
    usleep(200000); /* the other thread is in its call */
    program.kill(SIGKILL);
    EXPECT_EQ(program.end().signal, SIGKILL);
    Outcome watched = run(Watching(folder / "trace", "10s"));
    EXPECT_EQ(watched.exit, 1) << watched;
    ExpectTheHang(watched.err);
    EXPECT_NE(watched.err.find("had not returned when the process ended"), std::string::npos) << watched;
}

/* In another container, or on another machine, it may live or not. */
TEST(Watch, OfAnotherHostWhetherItLivesIsNotSaid)
{
    Folder folder;
    TraceBuilder builder;
    strcpy(builder.header.host, "elsewhere");
    builder.header.pid = 4000000; /* nobody's here */
    builder.header.clean_end = 0;
    builder.Count(1, 2, false, {});
    builder.Now(1, {});
    std::ofstream(folder / "trace") << builder.Bytes();
    Outcome watched = run(Watching(folder / "trace", "1s"));
    EXPECT_EQ(watched.exit, 3) << watched;
    const std::string unknown = "ptds watch: " + folder / "trace" +
                                ": written on another machine or in a container: whether its program runs on is seen there "
                                "alone\n";
    EXPECT_EQ(watched.err, unknown);
    ptds_now now = {};
    now.enter = 5000;
    now.op = PTDS_OP_CTX_SYNC;
    builder.Now(1, now);
    std::ofstream(folder / "trace") << builder.Bytes();
    watched = run(Watching(folder / "trace", "1s"));
    EXPECT_EQ(watched.exit, 1) << watched;
    EXPECT_NE(watched.err.find(" had not returned when its file was read\n"), std::string::npos) << watched;
    EXPECT_NE(watched.err.find(unknown), std::string::npos) << watched;
    builder.header.clean_end = 1;
    std::ofstream(folder / "trace") << builder.Bytes();
    EXPECT_EQ(run(Watching(folder / "trace", "1s")).exit, 0) << "it says itself that it ended";
}

TEST(Watch, WrongUse)
{
    Folder folder;
    for (const char *after : {"0", "-1s", "soon", "10", "1e400s", ""})
        EXPECT_EQ(run(Watching(folder / "none", after)).exit, 2) << after;
    std::ofstream(folder / "text") << std::string(100000, 'x');
    EXPECT_EQ(run(Watching(folder / "text", "1s")).exit, 3);
}

/* Nobody can have made its name before, and nobody else looks in. */
void ExpectAFolderOfItsOwn(const Folder &folder, bool there)
{
    struct stat status;
    int found = 0;
    for (const std::string &name : folder.files()) {
        if (name.rfind("ptds-watchdog-", 0) != 0)
            continue;
        found++;
        EXPECT_EQ(name.size(), strlen("ptds-watchdog-XXXXXX"));
        ASSERT_EQ(lstat((folder / name).c_str(), &status), 0);
        EXPECT_EQ(status.st_mode, S_IFDIR | 0700u);
        ASSERT_EQ(lstat((folder / name + "/trace").c_str(), &status), 0);
        EXPECT_EQ(status.st_mode, S_IFREG | 0600u);
    }
    EXPECT_EQ(found, there);
}

TEST(Watchdog, BesideTheProgramItself)
{
    for (bool own_trace : {true, false}) {
        Folder folder;
        Command command;
        command.argv = {Command_(), "run", "--policy", "observe", "--report", "off", "--watchdog", "200ms"};
        if (!own_trace)
            command.argv.insert(command.argv.end(), {"--trace", folder / "t-%p"});
        command.argv.insert(command.argv.end(), {"--", data_file("tests/interpose/recorder_child"), "hang", folder / "go"});
        command.env = {{"PTDS_LIBRARY", shim()}, {"TMPDIR", folder.path()}};
        command.libraries = {Simulator()};
        Running program(command);
        ASSERT_TRUE(program.wait_for("ready"));
        WaitUntilItIsTold(program);
        ExpectAFolderOfItsOwn(folder, own_trace);
        Open(folder / "go");
        Outcome outcome = program.end();
        EXPECT_EQ(outcome.exit, 3) << "the program's own\n" << outcome;
        ExpectTheHang(outcome.err);
        std::vector<std::string> left = {"go"};
        if (!own_trace)
            left.push_back("t-" + std::to_string(outcome.pid));
        EXPECT_TRUE(WaitUntil([&] { return folder.files() == left; })) << "the watchdog's own trace is gone with it";
    }
}

} // namespace
} // namespace ptds
