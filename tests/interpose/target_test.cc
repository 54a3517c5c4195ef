/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the trace goes: paths that can't be written, disks that are full, two processes with one path, and the limit. The
 * program never notices.
 */
#include <csignal>
#include <fstream>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/interpose/shim_test.h"
#include "tests/interpose/trace_walk.h"

namespace ptds
{
namespace
{

Command child(const std::string &mode, int times, const Settings &settings, const std::string &argument = "")
{
    std::vector<std::string> arguments = {mode, std::to_string(times)};
    if (!argument.empty())
        arguments.push_back(argument);
    return shimmed("process_child", arguments, settings);
}

/* The program goes on, and one line says what is wrong with the target. */
void expect_one_line(const Outcome &outcome, const std::string &about)
{
    std::vector<std::string> lines = lines_of(outcome.err);
    EXPECT_EQ(outcome.exit, 5) << outcome;
    ASSERT_EQ(lines.size(), 1u) << outcome;
    EXPECT_EQ(lines[0].rfind("ptds: ", 0), 0u);
    EXPECT_NE(lines[0].find(about), std::string::npos) << outcome;
}

TEST(Target, PathsThatCannotBeWritten)
{
    Folder folder;
    for (const std::string &path : {folder / "no/such/folder/trace", folder.path(), std::string("/proc/trace"),
                                    device(folder, "full", 7), device(folder, "null", 3)}) {
        if (path.empty())
            continue;
        SCOPED_TRACE(path);
        expect_one_line(run(child("work", 1000, {{"PTDS_TRACE", path}})), path);
    }
    expect_one_line(run(child("work", 10, {{"PTDS_REPORT", folder / "no/such/folder/report"}})), "PTDS_REPORT");
    expect_one_line(run(child("work", 10, {{"PTDS_LOG", folder / "no/such/folder/log"}})), "PTDS_LOG");
}

TEST(Target, TheSummaryComesAllTheSame)
{
    Outcome outcome = run(child("work", 1000, {{"PTDS_TRACE", "/nonexistent/trace"}, {"PTDS_REPORT", "summary"}}));
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_NE(outcome.err.find("/nonexistent/trace"), std::string::npos) << outcome;
    EXPECT_NE(outcome.err.find("driver calls"), std::string::npos) << outcome;
}

void limit_files(rlim_t bytes)
{
    rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* No room for the header, for the first chunks, and for later ones. */
TEST(Target, FilesMayNotGrow)
{
    for (rlim_t bytes : {rlim_t{1000}, rlim_t{100000}, rlim_t{PTDS_HEADER_SIZE + 32 * PTDS_CHUNK_SIZE + 5000}}) {
        SCOPED_TRACE(bytes);
        Folder folder;
        Command command = child("work", 100000, {{"PTDS_TRACE", folder / "trace"}});
        command.before = [bytes] { limit_files(bytes); };
        Outcome outcome = run(command);
        EXPECT_EQ(outcome.signal, 0) << outcome;
        EXPECT_EQ(outcome.exit, 5) << outcome;
    }
}

/* A file system of 512 KiB of the child's own. */
bool small_disk(const char *folder, const char *size)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           mount("none", folder, "tmpfs", 0, size) == 0;
}

TEST(Target, AFullDisk)
{
    for (const char *size : {"size=32k", "size=512k", "size=1200k"}) {
        SCOPED_TRACE(size);
        Folder folder;
        std::string path = folder.path();
        Command command = child("work", 100000, {{"PTDS_TRACE", folder / "trace"}});
        command.before = [&] {
            if (!small_disk(path.c_str(), size))
                _exit(77);
        };
        Outcome outcome = run(command);
        if (outcome.exit == 77)
            GTEST_SKIP() << "no file system may be mounted here";
        EXPECT_EQ(outcome.exit, 5) << outcome;
        EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome;
        EXPECT_NE(outcome.err.find("no space for "), std::string::npos) << outcome;
        /* Where there is room for a beginning, the oldest detail goes first, as with PTDS_TRACE_LIMIT. */
        EXPECT_EQ(outcome.err.find("oldest detail") != std::string::npos, strcmp(size, "size=1200k") == 0) << outcome;
    }
}

TEST(Target, TwoProcessesWithOnePath)
{
    Folder folder;
    const Settings settings = {{"PTDS_TRACE", folder / "trace"}};
    Running first(child("hold", 100, settings, folder / "go-on"));
    ASSERT_TRUE(first.wait_for("ready"));
    Outcome second = run(child("work", 7, settings));
    EXPECT_EQ(second.exit, 5) << second;
    std::ofstream(folder / "go-on") << "1";
    Outcome outcome = first.end();
    EXPECT_EQ(outcome.exit, 5) << outcome;
    Walk trace = walk(folder / "trace"), other = walk(folder / ("trace." + std::to_string(second.pid)));
    EXPECT_EQ(trace.calls("cuLaunchKernel"), 200u);
    EXPECT_EQ(trace.header.pid, static_cast<uint32_t>(first.pid()));
    EXPECT_EQ(trace.header.clean_end, 1u);
    EXPECT_EQ(other.calls("cuLaunchKernel"), 7u);
    EXPECT_EQ(other.header.clean_end, 1u);
}

TEST(Target, AnOldTraceIsReplaced)
{
    Folder folder;
    run(child("work", 90000, {{"PTDS_TRACE", folder / "trace"}}));
    Outcome outcome = run(child("work", 3, {{"PTDS_TRACE", folder / "trace"}}));
    Walk trace = walk(folder / "trace");
    EXPECT_EQ(trace.calls("cuLaunchKernel"), 3u);
    EXPECT_EQ(trace.header.pid, static_cast<uint32_t>(outcome.pid));
}

TEST(Target, TheLimitDropsOldDetailAndKeepsCounts)
{
    Folder folder;
    Outcome outcome = run(child("work", 200000, {{"PTDS_TRACE", folder / "trace"}, {"PTDS_TRACE_LIMIT", "1M"}}));
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_EQ(outcome.err, "");
    Walk trace = walk(folder / "trace");
    EXPECT_EQ(trace.counts["cuLaunchKernel"], 200000u);
    EXPECT_GT(trace.header.recycled, 0u);
    EXPECT_LT(trace.calls("cuLaunchKernel"), 200000u);
    EXPECT_GT(trace.calls("cuLaunchKernel"), 5000u);
    EXPECT_LE(read_file(folder / "trace").size(), PTDS_HEADER_SIZE + (1u << 20));
}

} // namespace
} // namespace ptds
