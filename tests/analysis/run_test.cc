// SPDX-License-Identifier: Apache-2.0
//
// `ptds run`: the traces of a run of several processes, what it refuses, and what it says of programs without CUDA.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/analysis/support.h"
#include "tests/interpose/shim_test.h"
#include "analysis/trace/merge.h"

namespace ptds
{
namespace
{

/* `ptds run OPTIONS -- PROGRAM...`, quiet but for what the command says. */
Command RunVerb(const std::vector<std::string> &options, const std::vector<std::string> &program)
{
    Command command;
    command.argv = {data_file("analysis/ptds_leaks"), "run"};
    command.argv.insert(command.argv.end(), options.begin(), options.end());
    command.argv.push_back("--");
    command.argv.insert(command.argv.end(), program.begin(), program.end());
    command.env["PTDS_LIBRARY"] = shim();
    command.libraries = {fake_driver()};
    return command;
}

std::string Child()
{
    return data_file("tests/interpose/process_child");
}

/* The launches in a trace; -1: it is none. */
int Launches(const std::string &path)
{
    std::string bytes = read_file(path);
    MemoryTrace memory(bytes);
    char error[TRACE_ERROR_SIZE];
    struct trace trace;
    int launches = 0;
    if (bytes.empty() || trace_read(&trace, memory.source(), error) != 0)
        return -1;
    struct merge merge;
    merge_begin(&merge, &trace);
    while (const struct call *call = merge_next(&merge))
        launches += call->r.op == PTDS_OP_LAUNCH;
    merge_end(&merge);
    trace_close(&trace);
    return launches;
}

/* The launches of all traces in a folder, sorted; F itself first. */
std::vector<int> All(const Folder &folder)
{
    std::vector<int> rest, all = {Launches(folder / "F")};
    for (const std::string &name : folder.files()) {
        EXPECT_EQ(0u, name.find("F")) << name;
        if (name != "F")
            rest.push_back(Launches(folder / name));
    }
    std::sort(rest.begin(), rest.end());
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
}

using Counts = std::vector<int>;

class Traces : public testing::Test
{
public:
    Outcome Shell(const std::string &line)
    {
        return run(RunVerb({"--trace", folder / "F", "--report", "off"}, {"/bin/sh", "-c", "c=" + Child() + "\n" + line}));
    }
    Folder folder;
};

TEST_F(Traces, OneProcessFindsItsTraceAsNamed)
{
    NEEDS_A_PLAIN_SHIM();
    for (int launches : {10, 20}) {
        Outcome ran =
            run(RunVerb({"--trace", folder / "F", "--report", "off"}, {Child(), "work", std::to_string(launches)}));
        EXPECT_EQ(5, ran.exit) << ran;
        EXPECT_EQ(Counts{launches}, All(folder)) << "a later run replaces it";
    }
    EXPECT_EQ(5, Shell("$c work 30").exit);
    EXPECT_EQ(Counts{30}, All(folder)) << "whoever started it";
}

TEST_F(Traces, OneAfterTheOther)
{
    NEEDS_A_PLAIN_SHIM();
    Shell("$c work 10; $c work 20; $c work 30; true");
    EXPECT_EQ((Counts{10, 20, 30}), All(folder));
}

TEST_F(Traces, SideBySide)
{
    NEEDS_A_PLAIN_SHIM();
    Shell("$c work 10 & $c work 20 & $c work 30 & wait");
    Counts all = All(folder);
    std::sort(all.begin(), all.end());
    EXPECT_EQ((Counts{10, 20, 30}), all);
}

TEST_F(Traces, AProgramThatForksAndOneThatBecomesOthers)
{
    NEEDS_A_PLAIN_SHIM();
    Shell("$c fork-after 10; true");
    EXPECT_EQ((Counts{22, 11}), All(folder));
    Shell("rm " + folder.path() + "/*; exec $c exec 10");
    EXPECT_EQ((Counts{10, 10}), All(folder));
}

/* The same process again and again, by exec: each of them keeps its own. */
TEST_F(Traces, ExecInARow)
{
    NEEDS_A_PLAIN_SHIM();
    Shell("$c work 10; exec $c exec 20; true");
    EXPECT_EQ((Counts{10, 20, 20}), All(folder));
}

TEST_F(Traces, AFormerRunsTraceIsReplacedNotItsNeighbours)
{
    NEEDS_A_PLAIN_SHIM();
    Shell("$c work 10; $c work 20; true");
    Shell("$c work 30; true");
    EXPECT_EQ((Counts{30, 20}), All(folder));
}

TEST(RunCommand, AValueThatTheLibraryRefusesIsRefusedBefore)
{
    Folder folder;
    std::string touched = folder / "touched";
    for (const std::vector<std::string> &options : std::vector<std::vector<std::string>>{{"--policy", "no-such"},
                                                                                         {"--policy="},
                                                                                         {"--lanes", "33"},
                                                                                         {"--stream", "red"},
                                                                                         {"--explicit-legacy", "drop"},
                                                                                         {"--report", "sumary"},
                                                                                         {"--log", "loud"},
                                                                                         {"--trace-limit", "10"},
                                                                                         {"--diag", "loud"},
                                                                                         {"--device-times", "always"}}) {
        Outcome ran = run(RunVerb(options, {"/bin/sh", "-c", ": >" + touched}));
        EXPECT_EQ(2, ran.exit) << ran;
        EXPECT_EQ(0u, ran.err.find("ptds run: " + options[0].substr(0, options[0].find('=')))) << ran;
    }
    Command by_environment = RunVerb({}, {"/bin/sh", "-c", ": >" + touched});
    by_environment.env["PTDS_POLICY"] = "no-such";
    Outcome ran = run(by_environment);
    EXPECT_EQ(2, ran.exit) << ran;
    EXPECT_EQ("ptds run: PTDS_POLICY=no-such: not allowed; guarded, per-thread, stream, strict, observe or none\n",
              ran.err);
    EXPECT_TRUE(folder.files().empty()) << "it did not run";
}

/* Else the run is another than was asked for, and nothing says so. */
TEST(RunCommand, SaysWhichVariablesAreMisspelt)
{
    for (const auto &[name, meant] : std::map<std::string, std::string>{{"PTDS_POLCY", "PTDS_POLICY"},
                                                                        {"PTDS_POILCY", "PTDS_POLICY"},
                                                                        {"PTDS_LANE", "PTDS_LANES"},
                                                                        {"PTDS_TRACES", "PTDS_TRACE"},
                                                                        {"PTDS_LOC", "PTDS_LOG"},
                                                                        {"PTDS_TRACE_LIMIT", ""},
                                                                        {"PTDS_LIBRARY", ""},
                                                                        {"PTDS_ANYTHING_ELSE", "-"},
                                                                        {"PTDS", ""}}) {
        Command command = RunVerb({"--report", "off"}, {"/bin/sh", "-c", "exit 7"});
        if (name != "PTDS_LIBRARY")
            command.env[name] = name == "PTDS_TRACE_LIMIT" ? "1M" : "observe";
        Outcome ran = run(command);
        EXPECT_EQ(7, ran.exit) << ran;
        std::string said =
            "ptds run: " + name + " is set, which nothing reads" + (meant == "-" ? "\n" : "; is it " + meant + "?\n");
        EXPECT_EQ(meant.empty() ? std::string::npos : 0u, ran.err.find(meant.empty() ? "is set" : said)) << ran;
    }
}

TEST(RunCommand, ATraceOverSomethingElseIsRefused)
{
    Folder folder;
    std::ofstream(folder / "source.c") << "int main;\n";
    std::ofstream(folder / "empty");
    std::string made = BuildTrace("1@0 launch s=L k=a\n");
    std::ofstream(folder / "made") << made;
    ASSERT_EQ(0, mkfifo((folder / "fifo").c_str(), 0600));
    ASSERT_EQ(0, symlink("source.c", (folder / "link").c_str()));
    const std::vector<std::string> program = {"/bin/true"};
    for (const std::string &file : {folder / "source.c", folder / "link", folder / "fifo", folder.path(),
                                    std::string("/dev/null"), folder / "empty/F"}) {
        Outcome ran = run(RunVerb({"--trace", file}, program));
        EXPECT_EQ(2, ran.exit) << ran;
        EXPECT_EQ(0u, ran.err.find("ptds run: PTDS_TRACE=" + file + ": ")) << ran;
        EXPECT_EQ(1u, lines_of(ran.err).size()) << ran;
    }
    EXPECT_EQ("int main;\n", read_file(folder / "source.c"));
    for (const char *option : {"--report", "--log"}) {
        Outcome ran = run(RunVerb({option, folder / "made"}, program));
        EXPECT_EQ(2, ran.exit) << ran;
        EXPECT_NE(std::string::npos, ran.err.find("is a trace, which is not overwritten")) << ran;
        EXPECT_EQ(2, run(RunVerb({option, folder.path()}, program)).exit);
        EXPECT_EQ(0, run(RunVerb({option, folder / "source.c"}, program)).exit) << "another file may be";
    }
    EXPECT_EQ(made, read_file(folder / "made"));
    NEEDS_A_PLAIN_SHIM();
    for (const std::string &file : {folder / "made", folder / "empty", folder / "new", folder / "%h-%p"})
        EXPECT_EQ(0, run(RunVerb({"--trace", file}, program)).exit) << file;
}

/* What the program's folder is then, nobody who gave the name may know. A % of the folder's own name stands for itself. */
TEST(RunCommand, FilesAreWhereItWasStarted)
{
    NEEDS_A_PLAIN_SHIM();
    Folder folder;
    const std::string here = folder / "100%p", there = folder / "there";
    ASSERT_EQ(0, mkdir(here.c_str(), 0700));
    ASSERT_EQ(0, mkdir(there.c_str(), 0700));
    Command command = RunVerb({"--trace", "t.ptds", "--report", "r.txt", "--log", "l.txt"},
                              {"/bin/sh", "-c", "cd " + there + " && exec " + Child() + " work 10"});
    command.before = [&] { EXPECT_EQ(0, chdir(here.c_str())); };
    Outcome ran = run(command);
    EXPECT_EQ(5, ran.exit) << ran;
    for (const char *file : {"/t.ptds", "/r.txt", "/l.txt"})
        EXPECT_EQ(0, access((here + file).c_str(), F_OK)) << file << ran;
    EXPECT_NE(0, access((there + "/r.txt").c_str(), F_OK));
    command = RunVerb({"--report", "off", "--log", "off"}, {Child(), "work", "10"});
    command.before = [&] { EXPECT_EQ(0, chdir(there.c_str())); };
    EXPECT_EQ("", run(command).err);
    EXPECT_NE(0, access((there + "/off").c_str(), F_OK)) << "a word is no file";
}

/* Then no child's end is told. */
TEST(RunCommand, WhereTheCallerIgnoresItsChildren)
{
    NEEDS_A_PLAIN_SHIM();
    Command command = RunVerb({"--watchdog", "10s", "--report", "off"}, {"/bin/sh", "-c", "trap; exit 7"});
    command.before = [] { signal(SIGCHLD, SIG_IGN); };
    Outcome ran = run(command);
    EXPECT_EQ(7, ran.exit) << ran;
    EXPECT_EQ("", ran.err);
    Command doctor;
    doctor.argv = {data_file("analysis/ptds_leaks"), "doctor"};
    doctor.env["PTDS_LIBRARY"] = shim();
    doctor.libraries = {fake_driver()};
    const int status = run(doctor).exit;
    doctor.before = [] { signal(SIGCHLD, SIG_IGN); };
    EXPECT_EQ(status, run(doctor).exit);
    EXPECT_NE(std::string::npos, run(doctor).out.find("a process without libptds    started and ended"));
}

const char none[] = "ptds: no CUDA call of this program was seen, so nothing was moved or recorded";

TEST(RunCommand, SaysThatNoCudaCallWasMade)
{
    NEEDS_A_PLAIN_SHIM();
    Folder folder;
    EXPECT_EQ(none + std::string("\n"), run(RunVerb({}, {"/bin/true"})).err);
    EXPECT_EQ(none + std::string("\n"), run(RunVerb({"--report", "off", "--trace", folder / "F"}, {"/bin/true"})).err);
    EXPECT_EQ("", run(RunVerb({"--report", "off"}, {"/bin/true"})).err) << "nobody asked for a word";
    EXPECT_EQ("", run(RunVerb({"--diag", "quiet"}, {"/bin/true"})).err);
    EXPECT_EQ(std::string::npos, run(RunVerb({}, {Child(), "work", "10"})).err.find(none));
    EXPECT_EQ("", run(RunVerb({"--policy", "none"}, {Child(), "work", "10"})).err) << "who looks at nothing says nothing";
    /* Unlike sh, bash ends by exit. */
    Outcome ran = run(RunVerb({}, {"/bin/bash", "-c", Child() + " work 10; " + Child() + " work 10; true"}));
    size_t at = ran.err.find(none);
    ASSERT_NE(std::string::npos, at) << ran;
    EXPECT_EQ(std::string::npos, ran.err.find(none, at + 1)) << "the program itself only: " << ran;
    EXPECT_NE(std::string::npos, ran.err.find(" (of it alone: a process that it started speaks for itself)")) << ran;
    EXPECT_TRUE(folder.files().empty());
}

/* Into nobody's file, and without an end by SIGPIPE. */
TEST(RunCommand, SaysItOnlyToItsOwnStderr)
{
    NEEDS_A_PLAIN_SHIM();
    Folder folder;
    std::string file = folder / "data";
    Outcome ran = run(RunVerb({}, {"/bin/bash", "-c", "exec 2>" + file + "; echo data >&2"}));
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_EQ("data\n", read_file(file));
    EXPECT_EQ("", ran.err);
    Command closed = RunVerb({}, {"/bin/true"});
    closed.before = [] {
        int ends[2];
        if (pipe(ends) == 0) {
            dup2(ends[1], STDERR_FILENO);
            close(ends[0]);
            close(ends[1]);
        }
    };
    ran = run(closed);
    EXPECT_EQ(0, ran.exit) << ran;
}

TEST(RunCommand, SaysWhatCannotBePreloaded)
{
    NEEDS_A_PLAIN_SHIM();
    Folder folder;
    std::string bytes = read_file("/bin/true"), program = folder / "static";
    for (size_t at = 0; at + 64 < 0x1000; at += 8) /* no more loader */
        if (uint32_t type; memcpy(&type, &bytes[at], 4), at >= 64 && at < 64 + 56 * 16 && type == 3)
            bytes[at] = 0;
    std::ofstream(program) << bytes;
    chmod(program.c_str(), 0755);
    Outcome ran = run(RunVerb({}, {program}));
    EXPECT_EQ(0u, ran.err.find("ptds run: " + program + " is statically linked: libptds.so can't be preloaded")) << ran;
    EXPECT_EQ(127, run(RunVerb({}, {folder / "none"})).exit);
}

} // namespace
} // namespace ptds
