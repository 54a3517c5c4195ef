// SPDX-License-Identifier: Apache-2.0
//
// Somebody cuts a trace while `ptds` reads it: one line says so, and nothing half is left behind.
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/trace/trace_source.h"
#include "tests/analysis/support.h"
#include "tests/interpose/shim_test.h"

namespace ptds
{
namespace
{

Command Ptds(std::vector<std::string> arguments)
{
    Command command;
    command.argv = {data_file("analysis/ptds_leaks")};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    return command;
}

void Write(const std::string &path, const std::string &bytes)
{
    std::ofstream(path, std::ios::binary) << bytes;
}

/* Many chunks, so that all it has lies behind the first page. */
std::string LongTrace()
{
    std::string text;
    for (int i = 0; i < 20000; i++)
        text += "1@" + std::to_string(i * 100) + " launch s=L k=kernel_with_a_name\n1@" + std::to_string(i * 100 + 20) +
                "+5 copy s=L implicit from=device to=pageable bytes=4\n";
    return BuildTrace(text);
}

bool Maps(int pid, const std::string &path)
{
    return read_file("/proc/" + std::to_string(pid) + "/maps").find(path) != std::string::npos;
}

/* Starts it, and cuts the trace once it is mapped. */
Outcome WhileItReads(const Folder &folder, const Command &command)
{
    const std::string trace = folder / "app.ptds";
    Write(trace, LongTrace());
    Running reader(command);
    for (int i = 0; i < 20000 && !Maps(reader.pid(), trace); i++)
        usleep(50);
    reader.kill(SIGSTOP);
    EXPECT_EQ(0, truncate(trace.c_str(), 4096));
    reader.kill(SIGCONT);
    return reader.end();
}

/* One that had read all of it before the cut is right to go on, and is run again. */
TEST(Cut, AReaderEndsWithALine)
{
    for (std::vector<std::string> verb : std::vector<std::vector<std::string>>{
             {"report", "--format", "json"}, {"report", "--format", "html"}, {"export", "--to", "folded"}}) {
        Folder folder;
        Outcome outcome;
        std::vector<std::string> all = verb;
        all.insert(all.end(), {"--output", folder / "result", folder / "app.ptds"});
        for (int i = 0; i < 50 && outcome.exit != 3; i++) {
            unlink((folder / "result").c_str());
            outcome = WhileItReads(folder, Ptds(all));
            ASSERT_TRUE(outcome.exit == 0 || outcome.exit == 3) << outcome;
        }
        EXPECT_EQ(3, outcome.exit) << verb[0];
        EXPECT_EQ("", outcome.out);
        EXPECT_EQ(1u, lines_of(outcome.err).size()) << outcome;
        EXPECT_EQ(0u, outcome.err.find("ptds " + verb[0] + ": " + folder / "app.ptds" + ": offset ")) << outcome;
        EXPECT_NE(std::string::npos, outcome.err.find(": the file was cut while it was read\n")) << outcome;
        const std::filesystem::directory_iterator there(folder.path()), none;
        EXPECT_EQ(1, std::distance(there, none)) << "no result, and nothing temporary";
    }
}

Command Hanging(const Folder &folder)
{
    const std::string simulator = data_file("tests/sim/libcuda.so.1");
    Command command =
        shimmed("recorder_child", {"hang", folder / "go"}, {{"PTDS_POLICY", "observe"}, {"PTDS_TRACE", folder / "trace"}});
    command.libraries = {simulator.substr(0, simulator.rfind('/'))};
    return command;
}

/* Whether it is just reading the file or between two looks at it. */
TEST(Cut, WatchEndsWithALine)
{
    NEEDS_A_PLAIN_SHIM();
    for (off_t left : {4096, 1 << 16}) {
        Folder folder;
        Running program(Hanging(folder));
        ASSERT_TRUE(program.wait_for("ready"));
        Running watch(Ptds({"watch", folder / "trace", "--after", "5m"}));
        for (int i = 0; i < 20000 && !Maps(watch.pid(), folder / "trace"); i++)
            usleep(100);
        watch.kill(SIGSTOP);
        EXPECT_EQ(0, truncate((folder / "trace").c_str(), left));
        watch.kill(SIGCONT);
        Outcome outcome = watch.end();
        EXPECT_EQ(3, outcome.exit) << outcome;
        EXPECT_EQ(1u, lines_of(outcome.err).size()) << outcome;
        EXPECT_EQ(0u, outcome.err.find("ptds watch: " + folder / "trace")) << outcome;
        EXPECT_NE(std::string::npos, outcome.err.find("the file was cut while it was ")) << outcome;
        Write(folder / "go", "open");
        EXPECT_EQ(3, program.end().exit) << "the program's own";
    }
}

TEST(Cut, TheWatchdogSaysItOnceAndTheProgramGoesOn)
{
    NEEDS_A_PLAIN_SHIM();
    Folder folder;
    Command hanging = Hanging(folder);
    std::vector<std::string> program = hanging.argv;
    Command command = Ptds({"run", "--watchdog", "100ms", "--report", "off", "--policy", "observe", "--trace",
                            folder / "trace", "--", program[0], "hang", folder / "go"});
    command.env = {{"PTDS_LIBRARY", shim()}};
    command.libraries = hanging.libraries;
    Running run(command);
    ASSERT_TRUE(run.wait_for("ready"));
    usleep(500000);
    EXPECT_EQ(0, truncate((folder / "trace").c_str(), 1 << 16));
    usleep(500000);
    Write(folder / "go", "open");
    Outcome outcome = run.end();
    EXPECT_EQ(3, outcome.exit) << "the program's own\n" << outcome;
    const std::string line = folder / "trace" + ": the file was cut while it was written";
    EXPECT_NE(std::string::npos, outcome.err.find(line)) << outcome;
    EXPECT_EQ(outcome.err.find(line), outcome.err.rfind(line)) << outcome;
}

/* Whose command line ends with this argument, but for the program itself; of each, its parent. */
std::map<int, int> Watchers(const std::string &argument, int program)
{
    std::map<int, int> found;
    for (const auto &entry : std::filesystem::directory_iterator("/proc")) {
        const std::string line = read_file(entry.path() / "cmdline"), end = argument + '\0';
        const std::string stat = read_file(entry.path() / "stat");
        const int pid = atoi(entry.path().filename().c_str());
        if (pid != 0 && pid != program && line.size() > end.size() && line.substr(line.size() - end.size()) == end)
            found[pid] = atoi(stat.substr(stat.rfind(')') + 4).c_str());
    }
    return found;
}

/* Its folder is there for the program and its children until the program ends, whatever becomes of the watcher. */
TEST(Cut, TheWatchdogsFolderGoesWithTheProgram)
{
    NEEDS_A_PLAIN_SHIM();
    for (bool ends_at_once : {true, false}) {
        Folder folder;
        Command hanging = Hanging(folder);
        Command command = Ptds({"run", "--watchdog", "100ms", "--report", "off", "--policy", "observe", "--",
                                hanging.argv[0], "hang", folder / "go"});
        command.env = {{"PTDS_LIBRARY", shim()}, {"TMPDIR", folder.path()}};
        command.libraries = hanging.libraries;
        Running run(command);
        ASSERT_TRUE(run.wait_for("ready"));
        const std::vector<std::string> files = folder.files();
        ASSERT_EQ(1u, files.size());
        std::map<int, int> watchers = Watchers(folder / "go", run.pid());
        for (int i = 0; i < 5000 && watchers.size() < 2; i++, usleep(1000)) /* they begin beside the program */
            watchers = Watchers(folder / "go", run.pid());
        ASSERT_EQ(2u, watchers.size());
        for (const auto &[pid, parent] : watchers)
            if (ends_at_once && watchers.count(parent) != 0) {
                EXPECT_EQ(0, kill(pid, SIGKILL)) << "as a look at a file that is cut would";
            }
        if (!ends_at_once) {
            EXPECT_EQ(0, truncate((folder / files[0] + "/trace").c_str(), 1 << 16));
        }
        usleep(600000);
        EXPECT_EQ(files, folder.files());
        Write(folder / "go", "open");
        Outcome outcome = run.end();
        EXPECT_EQ(3, outcome.exit) << "the program's own\n" << outcome;
        for (int i = 0; i < 500 && folder.files().size() > 1; i++)
            usleep(10000);
        EXPECT_EQ(std::vector<std::string>{"go"}, folder.files());
    }
}

/* A process that is no more left a file that ends too early: what is there is told, and that it is not all. */
TEST(Cut, WatchOfAnEndedProcess)
{
    TraceBuilder builder;
    builder.header.pid = 0;
    builder.header.clean_end = 0;
    builder.OfThisHost();
    builder.Count(1, 2, false, {});
    builder.Now(1, {});
    std::string bytes = builder.Bytes();
    ptds_trace_header header;
    memcpy(&header, bytes.data(), sizeof header);
    ASSERT_NE(0u, header.chunks);
    Folder folder;
    for (unsigned more : {0u, 1u}) {
        header.chunks += more;
        memcpy(&bytes[0], &header, sizeof header);
        Write(folder / "trace", bytes);
        Outcome outcome = run(Ptds({"watch", folder / "trace"}));
        EXPECT_EQ(more != 0 ? 3 : 0, outcome.exit) << outcome;
        EXPECT_EQ("ptds watch: " + folder / "trace" +
                      (more != 0 ? ": the file was cut; calls may be missing\n"
                                 : ": its program has ended; every call that may block had returned\n"),
                  outcome.err);
    }
}

/* Somebody else's SIGBUS ends the command as it always would. */
TEST(Cut, AnotherBusErrorIsNone)
{
    Folder folder;
    mkfifo((folder / "fifo").c_str(), 0600);
    Running report(Ptds({"report", folder / "fifo"}));
    for (int i = 0; i < 3000 && read_file("/proc/" + std::to_string(report.pid()) + "/wchan").empty(); i++)
        usleep(1000);
    usleep(200000);
    report.kill(SIGBUS);
    Outcome outcome = report.end();
    EXPECT_EQ(SIGBUS, outcome.signal) << outcome;
    EXPECT_EQ("", outcome.err);
}

TEST(Cut, AddressesOfMappedFiles)
{
    Folder folder;
    const std::string one = folder / "one", two = folder / "two";
    Write(one, LongTrace());
    Write(two, LongTrace());
    char error[TRACE_ERROR_SIZE];
    struct trace_source first, second;
    ASSERT_EQ(0, trace_source_open(&first, one.c_str(), error)) << error;
    ASSERT_EQ(0, trace_source_open(&second, two.c_str(), error)) << error;
    const char *begin = static_cast<const char *>(first.header);
    uint64_t offset = 77;
    EXPECT_STREQ(one.c_str(), trace_source_at(begin, &offset));
    EXPECT_EQ(0u, offset);
    EXPECT_STREQ(one.c_str(), trace_source_at(begin + first.data_bytes - 1, &offset));
    EXPECT_EQ(first.data_bytes - 1, offset);
    EXPECT_STREQ(two.c_str(), trace_source_at(static_cast<const char *>(second.header) + 5, &offset));
    EXPECT_EQ(5u, offset);
    EXPECT_EQ(nullptr, trace_source_at(&offset, &offset));
    trace_source_close(&first);
    EXPECT_EQ(nullptr, trace_source_at(begin, &offset));
    EXPECT_STREQ(two.c_str(), trace_source_at(second.header, &offset));
    trace_source_close(&second);
    EXPECT_EQ(nullptr, trace_source_at(begin, &offset));
}

} // namespace
} // namespace ptds
